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

void tn_option_of_request(struct tn_option *options, uint32_t count, const char *name, struct tn_str value, bool *no_memory)
{
    if (!value.s) *no_memory = true;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(options[i].name, name) != 0) continue;
        tn_option_state(&options[i], (struct tn_statement){.origin = TN_CHOICE_REQUEST, .value = value});
    }
}
