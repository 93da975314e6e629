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

static void keep_text(struct tn_str *text, struct tn_arena *arena, bool *no_memory)
{
    if (!text->s) return;
    *text = tn_arena_str(arena, *text);
    if (!text->s) *no_memory = true;
}

uint32_t tn_options_keep(struct tn_option *to, const struct tn_option *from, uint32_t count, struct tn_arena *arena, bool *no_memory)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        for (uint32_t k = 0; k < to[i].count; k++) {
            keep_text(&to[i].stated[k].value, arena, no_memory);
            keep_text(&to[i].stated[k].file, arena, no_memory);
            keep_text(&to[i].stated[k].pointer, arena, no_memory);
        }
    }
    return count;
}

void tn_option_of_request(struct tn_option *options, uint32_t count, const char *name, struct tn_str value, bool *no_memory)
{
    if (!value.s) *no_memory = true;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) != 0) continue;
        tn_option_state(&options[i], (struct tn_statement){.origin = TN_CHOICE_REQUEST, .value = value});
    }
}
