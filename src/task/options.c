/* Layers of statements about one option; see the header. */
#include "task/options.h"

#include <string.h>

struct tn_option *tn_option_begin(struct tn_option_maker *m, const char *name, struct tn_str otherwise)
{
    struct tn_option *o = &m->out[m->count++];
    *o = (struct tn_option){.name = name};
    tn_option_state(o, (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = otherwise});
    return o;
}

void tn_option_of_package(struct tn_option_maker *m, struct tn_option *o, struct tn_str value, const char *fact)
{
    struct tn_statement s = {.origin = TN_CHOICE_PACKAGE, .value = value};
    for (uint32_t i = 0; fact && i < m->d->fact_count; i++) {
        if (!tn_str_is(m->d->facts[i].name, fact)) continue;
        s.file = m->d->facts[i].file;
        s.pointer = m->d->facts[i].pointer;
    }
    if (!value.s) m->no_memory = true;
    tn_option_state(o, s);
}

enum tn_status tn_options_end(const struct tn_option_maker *m, uint32_t *count, struct tn_error *err)
{
    *count = m->count;
    return m->no_memory ? tn_error_memory(err, TN_PHASE_PLAN, "stating the options of the task") : TN_OK;
}

enum tn_status tn_stated_begin(struct tn_stated *s, const struct tn_recipe_env *env, tn_options_of *options, struct tn_error *err)
{
    tn_arena_init(&s->arena, env->ctx->alloc);
    return options(env->d, env->route, env->output_width, &s->arena, s->options, &s->count, err);
}

static void keep_text(struct tn_stated *s, struct tn_str *text)
{
    if (!text->s) return;
    *text = tn_arena_str(&s->arena, *text);
    if (!text->s) s->no_memory = true;
}

void tn_stated_over(struct tn_stated *s, const struct tn_stated *session, struct tn_alloc *alloc)
{
    tn_arena_init(&s->arena, alloc);
    s->count = session->count;
    for (uint32_t i = 0; i < s->count; i++) {
        s->options[i] = session->options[i];
        for (uint32_t k = 0; k < s->options[i].count; k++) {
            struct tn_statement *stated = &s->options[i].stated[k];
            keep_text(s, &stated->value);
            keep_text(s, &stated->file);
            keep_text(s, &stated->pointer);
        }
    }
}

void tn_stated_request(struct tn_stated *s, const char *name, struct tn_str value)
{
    if (!value.s) s->no_memory = true;
    for (uint32_t i = 0; i < s->count; i++) {
        if (strcmp(s->options[i].name, name) != 0) continue;
        tn_option_state(&s->options[i], (struct tn_statement){.origin = TN_CHOICE_REQUEST, .value = value});
    }
}

void tn_stated_request_u64(struct tn_stated *s, const char *name, uint64_t value)
{
    tn_stated_request(s, name, tn_json_text_of_u64(&s->arena, value));
}

void tn_stated_request_word(struct tn_stated *s, const char *name, const char *word)
{
    tn_stated_request(s, name, tn_json_text_of_str(&s->arena, tn_str_of(word)));
}

/* NUMBERS: what TN_TASK_OPTIONS numbers and words take. GROWTH: an arena's chunks double, and the last may be empty. */
enum { NUMBERS = TN_TASK_OPTIONS * 64, FIRST = 4096 + 16, GROWTH = 4 };

static uint64_t kept(struct tn_str text)
{
    return text.s ? ((uint64_t)text.n + 16) & ~UINT64_C(15) : 0;
}

uint64_t tn_stated_bytes(const struct tn_stated *session, uint64_t texts)
{
    uint64_t all = NUMBERS + texts * 6; /* a byte may take six in JSON */
    for (uint32_t i = 0; i < session->count; i++)
        for (uint32_t k = 0; k < session->options[i].count; k++) {
            const struct tn_statement *s = &session->options[i].stated[k];
            all += kept(s->value) + kept(s->file) + kept(s->pointer);
        }
    return all < 4096 ? FIRST : GROWTH * all;
}

void tn_stated_release(struct tn_stated *s)
{
    tn_arena_release(&s->arena);
}

void tn_stated_write(const struct tn_stated *s, struct tn_json_writer *w)
{
    tn_jw_key(w, "options");
    tn_jw_begin_object(w);
    for (uint32_t i = 0; i < s->count; i++) tn_option_write(w, &s->options[i]);
    tn_jw_end_object(w);
}

struct tn_str tn_stated_value(const struct tn_stated *s, const char *name)
{
    uint32_t i = 0;
    while (i < s->count && strcmp(s->options[i].name, name) != 0) i++;
    return i < s->count ? tn_option_effective(&s->options[i]).value : TN_STR("null");
}
