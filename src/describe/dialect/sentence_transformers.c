/*
 * sentence_transformers: a chain of modules that modules.json lists, with prompts and defaults in
 * config_sentence_transformers.json. Recognised by modules.json in the root.
 */
#include "describe/dialect/dialect.h"

static bool recognises(const struct tn_builder *b)
{
    return tn_builder_has(b, TN_STR("modules.json"));
}

static void describe(struct tn_builder *b)
{
    struct tn_json_doc doc;
    b->d->chain_document = TN_STR("modules.json");
    enum tn_sentence_kind kind = tn_describe_sentence_config(b);
    if (!tn_builder_json(b, TN_STR("modules.json"), TN_JSON_ARRAY, &doc)) return;
    tn_describe_modules(b, tn_json_root(&doc), kind);
    tn_json_release(&doc);
    tn_describe_sentence_scorer(b, kind);
}

const struct tn_dialect tn_dialect_sentence_transformers = {"sentence_transformers", "1", recognises, describe, false};
