/*
 * The encoder component: config.json of a folder, read by the schema of its family, with the checks that relate several
 * fields. Also chooses the weight variant of the folder. Inputs are untrusted.
 */
#include "describe/builder.h"

#include "base/checked.h"

#include <stdio.h>

#define RULE "transformers.config/1"

const struct tn_value *tn_component_value(const struct tn_component *c, const char *name)
{
    static const struct tn_value absent;
    const struct tn_value *value = tn_schema_value(c->schema, c->values, name);
    return value ? value : &absent;
}

uint64_t tn_component_positions(const struct tn_component *c, bool *hard)
{
    const struct tn_value *rows = tn_component_value(c, "max_position_embeddings");
    const struct tn_schema *schema = c->schema;
    uint64_t reserved = schema->reserved_positions;
    *hard = !schema->position_table || (*schema->position_table && tn_component_value(c, schema->position_table)->b);
    if (schema->reserved_by && !tn_add64(reserved, tn_component_value(c, schema->reserved_by)->u + 1, &reserved)) return 0;
    return rows->present && rows->u > reserved ? rows->u - reserved : 0;
}

/* ---- what only other code could run ----------------------------------------------------------------------------- */

static void refuse_custom_code(struct tn_builder *b, struct tn_json root)
{
    struct tn_json v = tn_json_get(root, "auto_map");
    if (tn_json_type(v) == TN_JSON_NULL || tn_json_count(v) == 0) return;
    struct tn_finding *f = tn_blocker(b, TN_CUSTOM_CODE_DENIED, "auto_map in %.*s names code of the package",
                                      TN_FMT_ARG(root.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "a package whose classes are part of transformers");
    tn_remedy(f, "remove auto_map if the published class computes the same");
}

/* "4" or "\"nf4\"" under one of several names, for the message. */
static struct tn_json first_of(struct tn_json object, const char *const *names)
{
    struct tn_json v = {NULL, 0};
    for (; *names && !tn_json_present(v); names++) v = tn_json_get(object, *names);
    return v;
}

static void refuse_quantization(struct tn_builder *b, struct tn_json root, const char *key)
{
    static const char *const methods[] = {"quant_method", "quantization_method", "quant_type", NULL};
    static const char *const widths[] = {
        "bits", "num_bits", "w_bit", "nbits", "bnb_4bit_quant_type", "weight_dtype", NULL};
    static const char *const groups[] = {"group_size", "q_group_size", "weight_block_size", NULL};
    struct tn_json v = tn_json_get(root, key);
    if (tn_json_type(v) == TN_JSON_NULL) return;
    struct tn_json method = first_of(v, methods), width = first_of(v, widths), group = first_of(v, groups);
    bool four = false, eight = false;
    (void)tn_json_bool(tn_json_get(v, "load_in_4bit"), &four);
    (void)tn_json_bool(tn_json_get(v, "load_in_8bit"), &eight);
    struct tn_str unknown = TN_STR("not stated");
    struct tn_str bits = four ? TN_STR("4") : eight ? TN_STR("8") : unknown;
    if (tn_json_present(width)) bits = tn_json_text(width);
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_QUANTIZATION, "%s in %.*s: the weights are quantised", key,
                                      TN_FMT_ARG(root.doc->file));
    tn_at_json(f, v);
    tn_found(f, "method %.*s, bits %.*s, group %.*s",
             TN_FMT_ARG(tn_json_present(method) ? tn_json_text(method) : unknown), TN_FMT_ARG(bits),
             TN_FMT_ARG(tn_json_present(group) ? tn_json_text(group) : unknown));
    tn_expected(f, "weights stored as f32, f16 or bf16");
    tn_remedy(f, "use the checkpoint from which this one was quantised");
}

/* ---- the component ---------------------------------------------------------------------------------------------- */

static void read_config(struct tn_builder *b, struct tn_json root, struct tn_component *c)
{
    refuse_custom_code(b, root);
    refuse_quantization(b, root, "quantization_config");
    refuse_quantization(b, root, "compression_config");
    const struct tn_schema *schema = tn_choose_schema(b, root, c);
    if (!schema) return;
    c->values = tn_builder_array(b, schema->field_count, sizeof(*c->values));
    if (!c->values) return;
    c->schema = schema;
    struct tn_config_source source = {.root = root,
                                      .schema = schema,
                                      .common = tn_transformers_common_fields,
                                      .common_count = tn_transformers_common_field_count,
                                      .prefix = "encoder",
                                      .rule = RULE};
    tn_config_read(b, &source, c->values);
    tn_component_check(b, c);
}

static void missing_config(struct tn_builder *b, struct tn_str path)
{
    struct tn_finding *f = tn_blocker(b, TN_ARTIFACT_MISSING, "%.*s is missing: nothing says what the weights are",
                                      TN_FMT_ARG(path));
    tn_at_file(f, path);
    tn_remedy(f, "download the package again");
}

struct tn_component *tn_describe_encoder(struct tn_builder *b, struct tn_str folder, const struct tn_variant *variant,
                                         bool headed, struct tn_str *tokenizer_class)
{
    struct tn_json_doc doc;
    struct tn_str path = tn_builder_join(b, folder, "config.json"), class;
    *tokenizer_class = TN_STR("");
    if (b->failed == TN_OK && !tn_builder_has(b, path)) missing_config(b, path);
    if (!tn_builder_json(b, path, TN_JSON_OBJECT, &doc)) return NULL;
    struct tn_component c = {.name = TN_STR("encoder"), .variant = variant, .folder = tn_builder_str(b, folder)};
    c.document = tn_builder_str(b, path);
    c.values_at = TN_STR("");
    read_config(b, tn_json_root(&doc), &c);
    if (c.schema && headed) tn_describe_head(b, tn_json_root(&doc), &c);
    if (tn_json_str(tn_json_get(tn_json_root(&doc), "tokenizer_class"), &class))
        *tokenizer_class = tn_builder_str(b, class);
    tn_json_release(&doc);
    if (!c.schema || b->failed != TN_OK) return NULL;
    struct tn_component *kept = tn_builder_array(b, 1, sizeof(*kept));
    if (!kept) return NULL;
    *kept = c;
    b->d->components = kept;
    b->d->component_count = 1;
    return kept;
}

/* ---- weights ---------------------------------------------------------------------------------------------------- */

const struct tn_variant *tn_describe_candidate(const struct tn_builder *b)
{
    const struct tn_inventory *inv = b->inv;
    const char *id = b->options->variant;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *variant = &inv->variants[i];
        if (id ? tn_str_is(variant->id, id) : variant->executable) return variant;
    }
    return inv->variant_count > 0 && !id ? &inv->variants[0] : NULL;
}

/* The only executable one whose configuration is in this folder. */
static const struct tn_variant *only_in_folder(const struct tn_inventory *inv, struct tn_str folder)
{
    const struct tn_variant *found = NULL;
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *variant = &inv->variants[i];
        if (!variant->executable || variant->graph || !tn_str_eq(variant->folder, folder)) continue;
        if (found) return NULL;
        found = variant;
    }
    return found;
}

static void refuse_folder(struct tn_builder *b, const struct tn_variant *variant, struct tn_str folder)
{
    struct tn_finding *f = tn_blocker(b, TN_ARTIFACT_MISSING, "the variant does not belong to the encoder's folder");
    tn_at_element(f, TN_ELEMENT_OPTION, TN_STR("variant"));
    tn_found(f, "%.*s in \"%.*s\"", TN_FMT_ARG(variant->id), TN_FMT_ARG(variant->folder));
    tn_expected(f, "weights in \"%.*s\"", TN_FMT_ARG(folder));
}

const struct tn_variant *tn_describe_variant(struct tn_builder *b, struct tn_str folder, bool strict)
{
    const struct tn_variant *chosen = NULL;
    if (b->failed != TN_OK) return NULL;
    if (!b->options->variant) chosen = only_in_folder(b->inv, folder);
    if (chosen) return chosen;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_variant(b->inv, b->options->variant, &chosen, b->scratch);
    if (status != TN_OK) {
        tn_builder_report(b, status);
        return NULL;
    }
    if (!chosen->executable || (chosen->graph && !b->over_graph)) tn_refuse_container(b, chosen);
    else if (strict && !tn_str_eq(chosen->folder, folder)) refuse_folder(b, chosen, folder);
    return chosen;
}
