/* Layers of statements about one option. Knows neither which options exist nor what their values mean. */
#include "describe/effective.h"

#include "base/json_write.h"

#include <stdio.h>

const char *tn_choice_origin_name(enum tn_choice_origin origin)
{
    static const char *const names[TN_CHOICE_ORIGINS] = {
#define X(name, text) text,
        TN_CHOICE_ORIGIN_LIST(X)
#undef X
    };
    return (unsigned)origin < TN_CHOICE_ORIGINS ? names[origin] : "unknown";
}

void tn_option_state(struct tn_option *o, struct tn_statement statement)
{
    if (!statement.value.s) return;
    if (o->count > 0 && o->stated[o->count - 1].origin == statement.origin) o->count--;
    if (o->count == TN_OPTION_LAYERS) return; /* as many as there are origins: cannot happen in their order */
    o->stated[o->count++] = statement;
}

struct tn_statement tn_option_effective(const struct tn_option *o)
{
    if (o->count == 0) return (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = TN_STR("null")};
    return o->stated[o->count - 1];
}

struct tn_str tn_json_text_of_str(struct tn_arena *arena, struct tn_str s)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, arena->alloc, SIZE_MAX);
    tn_jw_init(&w, &text, false);
    tn_jw_str(&w, s);
    struct tn_str out = {NULL, 0};
    if (!tn_buf_status(&text)) out = tn_arena_str(arena, tn_buf_str(&text));
    tn_buf_release(&text);
    return out;
}

struct tn_str tn_json_text_of_u64(struct tn_arena *arena, uint64_t v)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    return tn_arena_str(arena, (struct tn_str){text, (size_t)n});
}

struct tn_str tn_json_text_of_bool(bool v)
{
    return v ? TN_STR("true") : TN_STR("false");
}

static void write_statement(struct tn_json_writer *w, const struct tn_statement *s)
{
    tn_jw_member_cstr(w, "origin", tn_choice_origin_name(s->origin));
    tn_jw_key(w, "value");
    tn_jw_raw(w, s->value);
    if (s->by) tn_jw_member_cstr(w, "by", s->by);
    if (s->file.n) tn_jw_member_str(w, "file", s->file);
    if (s->pointer.n) tn_jw_member_str(w, "pointer", s->pointer);
}

void tn_option_write(struct tn_json_writer *w, const struct tn_option *o)
{
    struct tn_statement effective = tn_option_effective(o);
    tn_jw_key(w, o->name);
    tn_jw_begin_object(w);
    write_statement(w, &effective);
    tn_jw_key(w, "overrides");
    tn_jw_begin_array(w);
    for (uint32_t i = o->count; i-- > 1;) {
        tn_jw_begin_object(w);
        write_statement(w, &o->stated[i - 1]);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}
