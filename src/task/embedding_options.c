/*
 * What a request for embeddings means where it says nothing. The package's word stands over the contract's, and where the
 * package says nothing the contract's stands in; both stay visible. What a request itself says is in its account.
 */
#include "task/embedding.h"

struct maker {
    const struct tn_description *d;
    struct tn_arena *arena;
    struct tn_option *out;
    uint32_t count;
    bool no_memory;
};

/* The contract's default; value .s NULL: there is none. */
static struct tn_option *begin(struct maker *m, const char *name, struct tn_str otherwise)
{
    struct tn_option *o = &m->out[m->count++];
    *o = (struct tn_option){.name = name};
    tn_option_state(o, (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = otherwise});
    return o;
}

/* The package's word, placed where the fact of this name was read; NULL: nowhere in particular. */
static void of_package(struct maker *m, struct tn_option *o, struct tn_str value, const char *fact)
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

enum tn_status tn_embedding_options(const struct tn_description *d, const struct tn_task_route *route, uint64_t width,
                                    struct tn_arena *arena, struct tn_option *out, uint32_t *count, struct tn_error *err)
{
    struct maker m = {.d = d, .arena = arena, .out = out};
    struct tn_option *o = begin(&m, "role", TN_STR("null"));
    if (d->default_prompt.n) of_package(&m, o, tn_json_text_of_str(arena, d->default_prompt), "package.default_prompt_name");
    o = begin(&m, "normalize", TN_STR("false"));
    if (tn_embedding_normalizes(d)) of_package(&m, o, TN_STR("true"), NULL);
    o = begin(&m, "dimensions", tn_json_text_of_u64(arena, width));
    if (o->count == 0) m.no_memory = true;
    if (d->truncate_dim && d->truncate_dim < width)
        of_package(&m, o, tn_json_text_of_u64(arena, d->truncate_dim), "package.truncate_dim");
    begin(&m, "truncate", TN_STR("true"));
    o = begin(&m, "max_tokens", (struct tn_str){NULL, 0});
    of_package(&m, o, tn_json_text_of_u64(arena, route->max_tokens), "max_seq_length");
    begin(&m, "atomic", TN_STR("false"));
    *count = m.count;
    return m.no_memory ? tn_error_memory(err, TN_PHASE_PLAN, "stating the options of the task") : TN_OK;
}
