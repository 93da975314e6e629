/*
 * What relates several values of a component, whichever document states them: a convention's config.json and our own
 * document go through the same checks, and each finding names the document and the place that it speaks of.
 */
#include "describe/builder.h"

#include <stdio.h>

void tn_at_value(struct tn_finding *f, const struct tn_component *c, const char *pointer, const char *name)
{
    char place[256];
    if (c->values_at.n == 0) {
        tn_at_pointer(f, c->document, tn_str_of(pointer));
        return;
    }
    int n = snprintf(place, sizeof(place), "%.*s/%s", TN_FMT_ARG(c->values_at), name);
    tn_at_pointer(f, c->document, (struct tn_str){place, n > 0 && (size_t)n < sizeof(place) ? (size_t)n : 0});
}

struct tn_finding *tn_refuse_value(struct tn_builder *b, const struct tn_component *c, const char *pointer,
                                   const char *name, const char *what)
{
    enum tn_status code = c->values_at.n ? TN_METADATA_INVALID : TN_UNSUPPORTED_CONFIG;
    struct tn_finding *f = tn_blocker(b, code, "%s in %.*s %s", name, TN_FMT_ARG(c->document), what);
    tn_at_value(f, c, pointer, name);
    return f;
}

static void check_heads(struct tn_builder *b, const struct tn_component *c)
{
    const struct tn_value *hidden = tn_component_value(c, "hidden_size");
    const struct tn_value *heads = tn_component_value(c, "num_attention_heads");
    if (!hidden->present || !heads->present || heads->u == 0 || hidden->u % heads->u == 0) return;
    struct tn_finding *f = tn_refuse_value(b, c, "/hidden_size", "hidden_size", "is no multiple of the heads");
    tn_found(f, "hidden_size %llu, num_attention_heads %llu", (unsigned long long)hidden->u,
             (unsigned long long)heads->u);
    tn_expected(f, "a multiple of %llu", (unsigned long long)heads->u);
    tn_remedy(f, "correct hidden_size or num_attention_heads: one of them is another model's");
}

/* The row that stands for padding is one of the table. */
static void check_pad(struct tn_builder *b, const struct tn_component *c)
{
    const struct tn_value *pad = tn_component_value(c, "pad_token_id");
    const struct tn_value *vocab = tn_component_value(c, "vocab_size");
    if (!pad->present || !vocab->present || vocab->u == 0 || pad->u < vocab->u) return;
    struct tn_finding *f = tn_refuse_value(b, c, "/pad_token_id", "pad_token_id", "is outside the vocabulary");
    tn_found(f, "%llu", (unsigned long long)pad->u);
    tn_expected(f, "less than vocab_size %llu", (unsigned long long)vocab->u);
}

void tn_component_check(struct tn_builder *b, const struct tn_component *c)
{
    check_heads(b, c);
    check_pad(b, c);
    if (c->schema->check) c->schema->check(b, c);
}
