/*
 * The Pooling module in both of its file shapes: one boolean per mode (to 5.3), and `pooling_mode` as a string or list
 * (since 5.4), which wins where both are given. Inputs are untrusted.
 *
 * The surprising decision: a file with flags that leaves pooling_mode_mean_tokens out while another flag is on is
 * refused. Releases to 5.3 took the absent flag as true and concatenated the mean, later ones take it as false.
 */
#include "describe/dialect/modules.h"
#include "describe/schema_rows.h"

#include <string.h>

#define RULE_FLAGS "st.pooling.flags/1"
#define RULE_MODES "st.pooling.modes/1"

#define FLAG(name) {"/" name, name, TN_FIELD_UNDERSTOOD, TN_TYPE_BOOL, "false", NULL, 0, 0}

static const struct tn_schema_field fields[] = {
    TN_ROW_SIZE("/embedding_dimension", "embedding_dimension", NULL, 1, 1048576),
    TN_ROW_SIZE("/word_embedding_dimension", "embedding_dimension", NULL, 1, 1048576),
    TN_ROW_FLAG("/include_prompt", "include_prompt", "true"),
    {"/pooling_mode", "pooling_mode", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    FLAG("pooling_mode_cls_token"),
    FLAG("pooling_mode_max_tokens"),
    FLAG("pooling_mode_mean_tokens"),
    FLAG("pooling_mode_mean_sqrt_len_tokens"),
    FLAG("pooling_mode_weightedmean_tokens"),
    FLAG("pooling_mode_lasttoken"),
};

static const struct tn_schema schema = {
    .id = "st.pooling/1",
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
};

/* The flag of each mode, in the order of the enumeration, which is the library's order of concatenation. */
static const char *const flags[TN_POOLINGS] = {
    "pooling_mode_cls_token",           "pooling_mode_max_tokens",
    "pooling_mode_mean_tokens",         "pooling_mode_mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken",
};

#define MODES "\"cls\" | \"max\" | \"mean\" | \"mean_sqrt_len_tokens\" | \"weightedmean\" | \"lasttoken\""

static struct tn_finding *refuse_mode(const struct tn_module_source *m, struct tn_json v, const char *what)
{
    struct tn_finding *f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "%s", MODES);
    return f;
}

static void add_mode(const struct tn_module_source *m, struct tn_json v, struct tn_module *module)
{
    struct tn_str name;
    if (!tn_json_str(v, &name)) {
        refuse_mode(m, v, "has a pooling mode that is no string");
        return;
    }
    for (unsigned mode = 0; mode < TN_POOLINGS; mode++) {
        if (!tn_str_is(name, tn_pooling_name((enum tn_pooling)mode))) continue;
        for (uint32_t i = 0; i < module->pooling_count; i++) {
            if (module->pooling[i] != (enum tn_pooling)mode) continue;
            refuse_mode(m, v, "names one pooling mode twice");
            return;
        }
        module->pooling[module->pooling_count++] = (enum tn_pooling)mode;
        return;
    }
    refuse_mode(m, v, "has a pooling mode that is not known");
}

static void read_modes(const struct tn_module_source *m, struct tn_json v, struct tn_module *module)
{
    tn_fact_of_json(m->chain->b, v, RULE_MODES, false, "%s.pooling_mode", m->prefix);
    if (!tn_json_is(v, TN_JSON_ARRAY)) {
        add_mode(m, v, module);
        return;
    }
    if (tn_json_count(v) == 0) refuse_mode(m, v, "names no pooling mode");
    for (struct tn_json mode = tn_json_first(v); tn_json_present(mode); mode = tn_json_next(mode))
        add_mode(m, mode, module);
}

static void check_mean_flag(const struct tn_module_source *m, const struct tn_module *module)
{
    if (module->pooling_count == 0 || tn_json_present(tn_json_get(m->root, flags[TN_POOLING_MEAN]))) return;
    struct tn_finding *f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG,
                                             "does not say whether the mean is part of the concatenation");
    tn_at_json_member(f, m->root, flags[TN_POOLING_MEAN]);
    tn_found(f, "nothing");
    tn_expected(f, "true (sentence-transformers to 5.3 took it so) or false (since 5.4)");
    tn_remedy(f, "add \"%s\" to the file", flags[TN_POOLING_MEAN]);
}

static void read_flags(const struct tn_module_source *m, const struct tn_value *values, struct tn_module *module)
{
    for (unsigned mode = 0; mode < TN_POOLINGS; mode++) {
        if (!tn_schema_value(&schema, values, flags[mode])->b) continue;
        module->pooling[module->pooling_count++] = (enum tn_pooling)mode;
    }
    check_mean_flag(m, module);
    if (module->pooling_count > 0) return;
    /* All flags off or absent: the library pools by the mean. */
    module->pooling[module->pooling_count++] = TN_POOLING_MEAN;
    tn_fact_of_default(m->chain->b, schema.id, "\"mean\"", RULE_FLAGS, "%s.pooling_mode", m->prefix);
}

void tn_read_pooling_module(const struct tn_module_source *m)
{
    struct tn_chain *chain = m->chain;
    struct tn_value values[sizeof(fields) / sizeof(fields[0])] = {0};
    struct tn_module module = {.kind = TN_MODULE_POOLING};
    struct tn_config_source source = {.root = m->root, .schema = &schema, .prefix = m->prefix, .rule = RULE_FLAGS};
    if (chain->state != TN_CHAIN_TOKENS && chain->state != TN_CHAIN_UNKNOWN) {
        tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "does not stand directly behind token rows");
        chain->state = TN_CHAIN_SENTENCE;
        chain->width = 0;
        return;
    }
    if (!tn_json_present(m->root)) {
        struct tn_finding *f = tn_module_blocker(m, TN_ARTIFACT_MISSING, "has no config.json");
        tn_module_at_file(f, m, m->config);
        tn_remedy(f, "download the package again");
        chain->state = TN_CHAIN_SENTENCE;
        chain->width = 0;
        return;
    }
    size_t before = chain->b->d->findings.blockers;
    tn_config_read(chain->b, &source, values);
    struct tn_json modes = tn_json_get(m->root, "pooling_mode");
    if (tn_json_present(modes)) read_modes(m, modes, &module);
    else read_flags(m, values, &module);
    module.in_features = tn_schema_value(&schema, values, "embedding_dimension")->u;
    module.include_prompt = tn_schema_value(&schema, values, "include_prompt")->b;
    if (module.in_features > 0) tn_module_width(m, module.in_features, "embedding_dimension");
    module.out_features = module.in_features * module.pooling_count;
    chain->state = TN_CHAIN_SENTENCE;
    chain->width = chain->b->d->findings.blockers > before ? 0 : module.out_features;
    tn_module_keep(m, &module);
}

/* ---- sparse vectors -------------------------------------------------------------------------------------------------- */

#define RULE_SPLADE "st.splade_pooling/1"

static const struct tn_schema_field splade_fields[] = {
    TN_ROW_CHOICE("/pooling_strategy", "pooling_strategy", "\"max\"", "\"max\" | \"sum\""),
    TN_ROW_CHOICE("/activation_function", "activation_function", "\"relu\"", "\"relu\" | \"log1p_relu\""),
    /* what the library saw on its first text */
    TN_ROW_DESCRIPTIVE("/embedding_dimension"),
    TN_ROW_DESCRIPTIVE("/word_embedding_dimension"),
    TN_ROW_DESCRIPTIVE("/chunk_size"),
};

static const struct tn_schema splade_schema = {
    .id = RULE_SPLADE,
    .fields = splade_fields,
    .field_count = sizeof(splade_fields) / sizeof(splade_fields[0]),
};

void tn_read_splade_module(const struct tn_module_source *m)
{
    struct tn_chain *chain = m->chain;
    struct tn_value values[sizeof(splade_fields) / sizeof(splade_fields[0])] = {0};
    struct tn_module module = {.kind = TN_MODULE_SPLADE, .in_features = chain->width, .out_features = chain->width};
    struct tn_config_source source = {.root = m->root, .schema = &splade_schema, .prefix = m->prefix, .rule = RULE_SPLADE};
    if (chain->state != TN_CHAIN_VOCABULARY && chain->state != TN_CHAIN_UNKNOWN) {
        tn_expected(tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "does not stand behind the numbers of a head over the vocabulary"),
                    "MLMTransformer, or Transformer with transformer_task \"fill-mask\", before it");
    }
    tn_config_read(chain->b, &source, values);
    const struct tn_value *strategy = tn_schema_value(&splade_schema, values, "pooling_strategy");
    const struct tn_value *activation = tn_schema_value(&splade_schema, values, "activation_function");
    module.sum = strategy->present && tn_str_is(strategy->s, "sum");
    module.twice = activation->present && tn_str_is(activation->s, "log1p_relu");
    chain->state = TN_CHAIN_SCORES;
    tn_module_keep(m, &module);
}
