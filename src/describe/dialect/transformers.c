/*
 * transformers: config.json, weights and a tokenizer in one folder. Recognised by a config.json in the root, or by one
 * that names an architecture in the folder of the weights.
 *
 * The surprising decision: no pooling is recorded. sentence-transformers would put a mean pooling behind such a package
 * and warn; nothing in the package says so, and an embedding recipe must not guess.
 */
#include "describe/dialect/dialect.h"

static bool recognises(const struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    struct tn_str config = variant ? variant->folder : TN_STR("");
    for (uint32_t i = 0; i < b->inv->evidence_count; i++) {
        const struct tn_evidence *e = &b->inv->evidence[i];
        if (tn_str_is(e->dialect, "transformers") && tn_str_eq(tn_package_folder(e->file), config)) return true;
    }
    return tn_builder_has(b, TN_STR("config.json"));
}

static void describe(struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_variant(b, TN_STR(""), false);
    struct tn_tokenizer_hints hints = {.folder = variant ? variant->folder : TN_STR("")};
    if (b->failed != TN_OK) return;
    b->d->variant = variant;
    hints.component = tn_describe_encoder(b, hints.folder, variant, true, &hints.config_class);
    tn_describe_tokenizer(b, &hints);
    struct tn_length_sources length = {.component = hints.component};
    tn_describe_length(b, &length);
    if (hints.component && tn_str_is(hints.component->architecture, TN_CLASS_STANFORD))
        tn_describe_stanford(b, hints.component);
}

const struct tn_dialect tn_dialect_transformers = {"transformers", "1", recognises, describe, false};
