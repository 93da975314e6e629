/*
 * tenon_package.json into a description. The document is untrusted; its closed shape was checked before
 * (package_tables.c), so what is read here is typed, and what is checked here is what a shape cannot say: values by the
 * family's table, tensors of modules by name and shape, and that the chain fits together.
 *
 * The surprising decision: nothing takes a default. A document that leaves a value of its family out is refused, since
 * the default of a later version would be another model.
 */
#include "base/nearest.h"
#include "describe/dialect/contract.h"
#include "describe/dialect/modules.h"
#include "describe/losses.h"
#include "describe/package_parts.h"
#include "describe/requirements.h"

#include <stdio.h>
#include <string.h>

#define RULE TN_PACKAGE_RULE

struct tn_str tn_package_text(struct tn_builder *b, struct tn_json object, const char *key)
{
    struct tn_str s = TN_STR("");
    (void)tn_json_str(tn_json_get(object, key), &s);
    return s.n ? tn_builder_str(b, s) : TN_STR("");
}

bool tn_package_flag(struct tn_json object, const char *key)
{
    bool v = false;
    (void)tn_json_bool(tn_json_get(object, key), &v);
    return v;
}

uint64_t tn_package_size(struct tn_json object, const char *key)
{
    uint64_t v = 0;
    (void)tn_json_u64(tn_json_get(object, key), &v);
    return v;
}

struct tn_finding *tn_package_refuse(struct tn_builder *b, struct tn_json v, enum tn_status code, const char *what)
{
    char pointer[256];
    if (!tn_json_present(v) || tn_doc_is_touched(b->marks, v)) return NULL;
    struct tn_finding *f = tn_blocker(b, code, "%.*s in %.*s %s",
                                      TN_FMT_ARG(tn_json_pointer(v, pointer, sizeof(pointer))),
                                      TN_FMT_ARG(v.doc->file), what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    return f;
}

/* A file or folder that the document names, as the inventory spells it; "" after a finding. */
struct tn_str tn_package_path(struct tn_builder *b, struct tn_json object, const char *key, bool *good)
{
    struct tn_json v = tn_json_get(object, key);
    struct tn_str stated, path = TN_STR("");
    *good = false;
    if (!tn_json_str(v, &stated)) return path;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), stated, &path, b->scratch);
    *good = status == TN_OK;
    if (*good && !tn_str_eq(stated, path)) {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "is not spelled as the package spells it"), "\"%.*s\"",
                    TN_FMT_ARG(path));
        *good = false;
        return TN_STR("");
    }
    if (*good) return path;
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    else tn_expected(tn_package_refuse(b, v, status, "leaves the package"), "a path inside the package");
    return TN_STR("");
}

/* ---- components -------------------------------------------------------------------------------------------------- */

static const struct tn_schema *schema_of(struct tn_builder *b, struct tn_json v)
{
    struct tn_str id = TN_STR("");
    struct tn_nearest best = {NULL, 0};
    char known[256];
    int n = 0;
    (void)tn_json_str(v, &id);
    known[0] = 0;
    for (size_t i = 0; i < b->options->schema_count; i++) {
        const struct tn_schema *schema = b->options->schemas[i];
        if (tn_str_is(id, schema->id)) return schema;
        tn_nearest_offer(&best, id, schema->id);
        if ((size_t)n < sizeof(known))
            n += snprintf(known + n, sizeof(known) - (size_t)n, "%s%s", n ? ", " : "", schema->id);
    }
    struct tn_finding *f = tn_package_refuse(b, v, TN_UNKNOWN_FAMILY, "is no family of this build");
    tn_expected(f, "one of %s", known);
    if (best.name) tn_remedy(f, "the nearest name is \"%s\"", best.name);
    else tn_remedy(f, "describe the package again from its own files");
    return NULL;
}

static bool is_stated_name(const struct tn_schema *schema, struct tn_str name)
{
    for (size_t i = 0; i < schema->field_count; i++)
        if (tn_schema_states(schema, i) && tn_str_is(name, schema->fields[i].name)) return true;
    return false;
}

static const char *nearest_name(const struct tn_schema *schema, struct tn_str name)
{
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t distance = tn_edit_distance(name, tn_str_of(schema->fields[i].name));
        if (!tn_schema_states(schema, i) || distance >= best) continue;
        best = distance;
        nearest = schema->fields[i].name;
    }
    return nearest;
}

static void read_value(struct tn_builder *b, struct tn_json config, const struct tn_schema *schema, size_t i,
                       struct tn_value *values)
{
    const struct tn_schema_field *row = &schema->fields[i];
    struct tn_json v = tn_json_get(config, row->name);
    struct tn_value value = {.type = row->type};
    if (!tn_json_present(v)) {
        struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the value %s of the family %s is missing", row->name,
                                          schema->id);
        tn_at_json_member(f, config, row->name);
        tn_found(f, "nothing");
        tn_expected(f, "%s", row->accepted ? row->accepted : "a value: the document takes no defaults");
        return;
    }
    bool absent = tn_json_type(v) == TN_JSON_NULL && row->absent && strcmp(row->absent, "null") == 0;
    if (!absent && !tn_config_check(b, row, v, &value)) return;
    tn_fact_of_json(b, v, RULE, false, "encoder.%s", row->name);
    for (size_t k = i; k < schema->field_count; k++)
        if (strcmp(schema->fields[k].name, row->name) == 0) values[k] = value;
}

static void read_config(struct tn_builder *b, struct tn_json config, struct tn_component *c)
{
    c->values = tn_builder_array(b, c->schema->field_count, sizeof(*c->values));
    if (!c->values) return;
    for (size_t i = 0; i < c->schema->field_count; i++)
        if (tn_schema_states(c->schema, i)) read_value(b, config, c->schema, i, c->values);
    for (struct tn_json v = tn_json_first(config); tn_json_present(v); v = tn_json_next(v)) {
        char pointer[256];
        if (is_stated_name(c->schema, tn_json_key(v))) continue;
        struct tn_finding *f =
            tn_unknown_field(b, v, tn_json_pointer(v, pointer, sizeof(pointer)), nearest_name(c->schema, tn_json_key(v)));
        tn_remedy(f, "remove it: the document has the values of the family's table and no others");
    }
    if (b->failed == TN_OK) tn_component_check(b, c);
}

static void refuse_folder(struct tn_builder *b, struct tn_json entry, const struct tn_variant *variant)
{
    struct tn_finding *f = tn_package_refuse(b, tn_json_get(entry, "folder"), TN_METADATA_INVALID,
                                             "is not the folder of the weights");
    tn_expected(f, "\"%.*s\", where %.*s is", TN_FMT_ARG(variant->folder), TN_FMT_ARG(variant->id));
}

/* A graph stands in the component's folder or below it, commonly in "onnx"; other weights in the folder itself. */
static bool belongs(const struct tn_variant *v, struct tn_str folder)
{
    if (!v->graph) return tn_str_eq(v->folder, folder);
    bool below = v->place.n > folder.n && memcmp(v->place.s, folder.s, folder.n) == 0 && v->place.s[folder.n] == '/';
    return folder.n == 0 || tn_str_eq(v->place, folder) || below;
}

/* The document's variant, unless the caller asks for another one of the same folder. */
static const struct tn_variant *variant_of(struct tn_builder *b, struct tn_json entry, struct tn_str folder)
{
    struct tn_json v = tn_json_get(entry, "variant");
    struct tn_str id = TN_STR("");
    const struct tn_inventory *inv = b->inv;
    b->over_graph = true;
    if (b->alone) return NULL;
    if (b->options->variant || !tn_json_str(v, &id)) {
        const struct tn_variant *chosen = tn_describe_variant(b, folder, false);
        if (chosen && chosen->executable && !belongs(chosen, folder)) refuse_folder(b, entry, chosen);
        return chosen;
    }
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *variant = &inv->variants[i];
        if (!tn_str_eq(variant->id, id)) continue;
        if (!variant->executable) tn_refuse_container(b, variant);
        else if (!belongs(variant, folder)) refuse_folder(b, entry, variant);
        return variant;
    }
    struct tn_finding *f = tn_package_refuse(b, v, TN_ARTIFACT_MISSING, "names weights that the package does not hold");
    tn_expected(f, "%s%.*s", inv->variant_count ? "a variant of the package, such as " : "safetensors weights",
                TN_FMT_ARG(inv->variant_count ? inv->variants[0].id : TN_STR("")));
    return NULL;
}

static void add_names(char *out, size_t cap, const char *const *names)
{
    size_t n = 0;
    for (out[0] = 0; *names && n < cap; names++) {
        int more = snprintf(out + n, cap - n, "%s%s", n ? ", " : "", *names);
        n += more > 0 ? (size_t)more : 0;
    }
}

static bool is_listed(const char *const *names, struct tn_str name)
{
    for (; *names; names++)
        if (tn_str_is(name, *names)) return true;
    return false;
}

/* The family that has the name among the classes or the model types of its table; NULL: none. */
static const struct tn_schema *owner_of(const struct tn_builder *b, struct tn_str name, bool class)
{
    for (size_t i = 0; i < b->options->schema_count; i++) {
        const struct tn_schema *schema = b->options->schemas[i];
        if (is_listed(class ? schema->architectures : schema->model_types, name)) return schema;
    }
    return NULL;
}

/* A name of the convention's that the table knows: it says which model this is, and which head its weights have. */
static void check_listed(struct tn_builder *b, struct tn_json v, const struct tn_schema *schema, bool class)
{
    const char *const *names = class ? schema->architectures : schema->model_types;
    struct tn_nearest best = {NULL, 0};
    char known[384];
    struct tn_str name;
    if (!tn_json_str(v, &name) || is_listed(names, name)) return;
    for (const char *const *at = names; *at; at++) tn_nearest_offer(&best, name, *at);
    const struct tn_schema *owner = owner_of(b, name, class);
    struct tn_finding *f = tn_package_refuse(b, v, TN_METADATA_INVALID,
                                             owner ? "belongs to another family than the component's schema"
                                             : class ? "is no class of the component's family"
                                                     : "is no model type of the component's family");
    add_names(known, sizeof(known), names);
    tn_expected(f, "one of %s, by the schema %s", known, schema->id);
    if (owner) tn_remedy(f, "it is of the family %s: correct it, or the schema", owner->id);
    else if (best.name) tn_remedy(f, "the nearest name is \"%s\"", best.name);
    else tn_remedy(f, "write what the package's config.json says, or describe the package again");
}

/* The class says which head the weights have; one class holds the projection of several vectors among them. */
static void check_class(struct tn_builder *b, struct tn_json v, const struct tn_schema *schema)
{
    struct tn_str name;
    struct tn_json root = tn_json_root(v.doc);
    if (!tn_json_str(v, &name) || !tn_str_is(name, TN_CLASS_STANFORD)) {
        check_listed(b, v, schema, true);
    } else if (!tn_json_is(tn_json_get(root, "multi_vector"), TN_JSON_OBJECT) &&
               !tn_doc_hides(b->marks, root, "multi_vector")) {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "gives several vectors per text, and the document does not"),
                    "/multi_vector");
    }
}

/* There is one component, and this is what recipes and messages call it. */
static void check_name(struct tn_builder *b, struct tn_json v)
{
    struct tn_str name;
    if (!tn_json_str(v, &name) || tn_str_is(name, "encoder")) return;
    tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "is no component that a recipe asks for"), "encoder");
}

static void read_component(struct tn_builder *b, struct tn_json entry, struct tn_component *c)
{
    bool good;
    char pointer[128];
    c->name = tn_package_text(b, entry, "name");
    c->model_type = tn_package_text(b, entry, "model_type");
    c->architecture = tn_package_text(b, entry, "architecture");
    c->folder = tn_package_path(b, entry, "folder", &good);
    c->schema = schema_of(b, tn_json_get(entry, "schema"));
    c->document = tn_builder_str(b, entry.doc->file);
    c->values_at = tn_builder_str(b, tn_json_pointer(tn_json_get(entry, "config"), pointer, sizeof(pointer)));
    check_name(b, tn_json_get(entry, "name"));
    if (good && !tn_doc_hides(b->marks, entry, "variant")) c->variant = b->d->variant = variant_of(b, entry, c->folder);
    tn_fact_of_json(b, tn_json_get(entry, "architecture"), RULE, false, "encoder.architecture");
    if (!c->schema || b->failed != TN_OK) return;
    check_listed(b, tn_json_get(entry, "model_type"), c->schema, false);
    check_class(b, tn_json_get(entry, "architecture"), c->schema);
    if (!tn_doc_hides(b->marks, entry, "config")) read_config(b, tn_json_get(entry, "config"), c);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static bool kind_of(struct tn_str name, enum tn_module_kind *out)
{
    for (unsigned kind = TN_MODULE_TRANSFORMER; kind <= TN_MODULE_SPLADE; kind++) {
        if (!tn_str_is(name, tn_module_kind_name((enum tn_module_kind)kind))) continue;
        *out = (enum tn_module_kind)kind;
        return true;
    }
    return false;
}

static void read_pooling(struct tn_builder *b, struct tn_json entry, struct tn_module *module)
{
    struct tn_json list = tn_json_get(entry, "pooling");
    struct tn_str name;
    module->include_prompt = tn_package_flag(entry, "include_prompt");
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        unsigned mode = 0;
        bool twice = false;
        (void)tn_json_str(v, &name);
        while (mode < TN_POOLINGS && !tn_str_is(name, tn_pooling_name((enum tn_pooling)mode))) mode++;
        for (uint32_t i = 0; i < module->pooling_count; i++) twice |= module->pooling[i] == (enum tn_pooling)mode;
        if (mode == TN_POOLINGS || twice) {
            tn_package_refuse(b, v, TN_METADATA_INVALID, twice ? "names one pooling mode twice" : "is no pooling mode");
            continue;
        }
        module->pooling[module->pooling_count++] = (enum tn_pooling)mode;
    }
    if (module->pooling_count == 0) tn_package_refuse(b, list, TN_METADATA_INVALID, "names no pooling mode");
}

/* The rows of an encoder are those of its head over the vocabulary where the module behind it takes those. */
static bool gives_vocabulary(const struct tn_module_source *m)
{
    struct tn_str kind = TN_STR("");
    (void)tn_json_str(tn_json_get(tn_json_next(m->entry), "kind"), &kind);
    return tn_str_is(kind, tn_module_kind_name(TN_MODULE_SPLADE));
}

/* What comes in when the rows are not the module's: the next one starts from nothing known, and repeats no fault. */
static void break_chain(struct tn_chain *chain)
{
    chain->state = TN_CHAIN_UNKNOWN;
    chain->width = 0;
}

static bool takes(enum tn_module_kind kind, enum tn_chain_state state)
{
    switch (kind) {
    case TN_MODULE_TRANSFORMER: return state == TN_CHAIN_TEXT;
    case TN_MODULE_POOLING: return state == TN_CHAIN_TOKENS;
    case TN_MODULE_SPLADE: return state == TN_CHAIN_VOCABULARY;
    case TN_MODULE_DENSE:
    case TN_MODULE_LAYER_NORM:
    case TN_MODULE_NORMALIZE: break;
    }
    return state == TN_CHAIN_TOKENS || state == TN_CHAIN_SENTENCE;
}

/* Rows in, rows out: what the module before gives is what this one takes. */
static bool stands_well(const struct tn_module_source *m, const struct tn_module *module)
{
    enum tn_chain_state state = m->chain->state;
    bool encoder = module->kind == TN_MODULE_TRANSFORMER;
    bool pooling = module->kind == TN_MODULE_POOLING || module->kind == TN_MODULE_SPLADE;
    if (state != TN_CHAIN_UNKNOWN && !takes(module->kind, state)) {
        tn_module_blocker(m, TN_METADATA_INVALID, "does not stand where its kind of rows comes in");
        return false;
    }
    bool on_tokens = encoder || (state == TN_CHAIN_TOKENS && !pooling);
    if (module->on_tokens == on_tokens || (state == TN_CHAIN_UNKNOWN && !encoder && !pooling)) return true;
    struct tn_finding *f = tn_module_blocker(m, TN_METADATA_INVALID, "does not stand where its kind of rows comes in");
    tn_at_json_member(f, m->root, "on_tokens");
    tn_found(f, module->on_tokens ? "true" : "false");
    tn_expected(f, on_tokens ? "true: it gives or takes the row of each token" : "false: it gives one row for a text");
    return false;
}

static const char *encoder_width(const struct tn_module_source *m)
{
    return gives_vocabulary(m) ? "vocab_size" : "hidden_size";
}

/* Width of the rows that a module gives, by all that is known of it; 0: not known. */
static uint64_t width_of(const struct tn_module_source *m, const struct tn_module *module)
{
    const struct tn_description *d = m->chain->b->d;
    switch (module->kind) {
    case TN_MODULE_TRANSFORMER: return d->component_count ? tn_component_value(d->components, encoder_width(m))->u : 0;
    case TN_MODULE_POOLING: return module->in_features * module->pooling_count;
    case TN_MODULE_DENSE: return module->out_features;
    case TN_MODULE_LAYER_NORM:
    case TN_MODULE_SPLADE:
    case TN_MODULE_NORMALIZE: break;
    }
    return module->in_features;
}

/*
 * Of the rows that come in and of those that go out. A module whose input alone is misstated gives what it would give to
 * the rows that do come, and one that misstates what it gives hands on what it must: each number is one fault.
 */
static void check_width(const struct tn_module_source *m, const struct tn_module *module)
{
    bool encoder = module->kind == TN_MODULE_TRANSFORMER, dense = module->kind == TN_MODULE_DENSE;
    struct tn_chain *chain = m->chain;
    struct tn_module fed = *module;
    if (!encoder && !tn_module_width(m, module->in_features, "in_features")) fed.in_features = chain->width;
    uint64_t expected = width_of(m, module), by_rows = width_of(m, &fed);
    chain->width = module->out_features;
    if (encoder && (expected == 0 || tn_doc_hides(chain->b->marks, tn_json_next(m->entry), "kind")))
        return; /* another finding says why it is not known */
    if (dense || (expected > 0 && (module->out_features == expected || module->out_features == by_rows))) return;
    struct tn_finding *f = tn_module_blocker(m, TN_METADATA_INVALID, encoder ? "states another width than its component has"
                                                                             : "states a width that its input does not give");
    tn_at_json_member(f, m->root, "out_features");
    tn_found(f, "%llu", (unsigned long long)module->out_features);
    tn_expected(f, "%llu%s%s", (unsigned long long)expected, encoder ? ", by " : "", encoder ? encoder_width(m) : "");
    chain->width = by_rows;
}

static bool check_place(const struct tn_module_source *m, struct tn_module *module)
{
    struct tn_chain *chain = m->chain;
    if (!stands_well(m, module)) {
        break_chain(chain);
        return false;
    }
    if (module->kind == TN_MODULE_TRANSFORMER) chain->state = gives_vocabulary(m) ? TN_CHAIN_VOCABULARY : TN_CHAIN_TOKENS;
    if (module->kind == TN_MODULE_POOLING) chain->state = TN_CHAIN_SENTENCE;
    if (module->kind == TN_MODULE_SPLADE) chain->state = TN_CHAIN_SCORES;
    return true;
}

static void refuse_folder_of(const struct tn_module_source *m, enum tn_status code, const char *what, const char *expected)
{
    struct tn_finding *f = tn_module_blocker(m, code, what);
    tn_at_json_member(f, m->root, "path");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(m->path));
    tn_expected(f, "%s", expected);
}

/*
 * The folder of the weights, which the encoder shares with its component; where there are none, no folder. One class of
 * encoders holds the tensors of the module behind it. False: there is nothing to bind.
 */
static bool check_folder(const struct tn_module_source *m, const struct tn_module *module)
{
    const struct tn_description *d = m->chain->b->d;
    struct tn_json component = tn_json_find(tn_json_root(m->entry.doc), "/components/0");
    bool encoder = module->kind == TN_MODULE_TRANSFORMER, weights = !encoder && tn_module_has_weights(module->kind);
    /* without weights the component's folder was refused, and without a class it is not known which form this is */
    bool alone = m->chain->b->alone;
    bool known = d->component_count > 0 && (alone || d->components[0].variant) && !tn_doc_hides(m->chain->b->marks, component, "architecture");
    bool same = known && tn_str_eq(m->path, d->components[0].folder);
    bool shared = known && tn_str_is(d->components[0].architecture, TN_CLASS_STANFORD);
    size_t before = d->findings.blockers;
    if (encoder && known && !same)
        refuse_folder_of(m, TN_METADATA_INVALID, "has another folder than its component", "the component's folder");
    else if (!encoder && !weights && m->path.n > 0)
        refuse_folder_of(m, TN_METADATA_INVALID, "has a folder, and no weights to find there", "\"\"");
    else if (weights && shared && !same)
        refuse_folder_of(m, TN_METADATA_INVALID, "has another folder than the encoder, which holds its tensors",
                         "the encoder's folder");
    else if (weights && same && !shared)
        refuse_folder_of(m, TN_METADATA_INVALID, "has the encoder's folder", "a folder with weights of its own");
    else if (!alone && weights && !shared && m->path.n > 0 && !tn_inventory_part(m->chain->b->inv, m->path))
        refuse_folder_of(m, TN_ARTIFACT_MISSING, "has a folder without weights", "a folder that holds model.safetensors");
    return !alone && d->findings.blockers == before && (known || m->path.n > 0);
}

/* Modules that did nothing leave gaps; but one follows the other. */
static void check_index(const struct tn_module_source *m)
{
    const struct tn_description *d = m->chain->b->d;
    uint32_t before = d->module_count ? d->modules[d->module_count - 1].index : 0;
    if (d->module_count == 0 || m->index > before) return;
    struct tn_finding *f = tn_module_blocker(m, TN_METADATA_INVALID, "does not follow the module before it");
    tn_at_json_member(f, m->root, "index");
    tn_found(f, "%u", (unsigned)m->index);
    tn_expected(f, "more than %u, the index of the module before", (unsigned)before);
}

/*
 * What the module is and does, by the names that the convention's facts have where the values are the same; a list of
 * pooling modes is none of theirs.
 */
static void keep_facts(struct tn_builder *b, struct tn_json entry, uint32_t index)
{
    static const struct {
        const char *key, *name;
    } rows[] = {
        {"kind", "kind"},         {"pooling", "pooling"}, {"strategy", "pooling_strategy"}, {"in_features", "in_features"},
        {"out_features", "out_features"}, {"bias", "bias"}, {"activation", "activation"},   {"residual", "residual"},
        {"include_prompt", "include_prompt"}, {"log_twice", "log_twice"}, {"eps", "eps"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_json v = tn_json_get(entry, rows[i].key);
        if (tn_json_present(v)) tn_fact_of_json(b, v, RULE, false, "module.%u.%s", (unsigned)index, rows[i].name);
    }
}

static void read_module(struct tn_chain *chain, struct tn_json entry, uint32_t position)
{
    struct tn_builder *b = chain->b;
    struct tn_module_source m = {.chain = chain, .index = position, .entry = entry, .root = entry};
    struct tn_module module = {.activation = TN_STR("")};
    bool good;
    m.type = tn_package_text(b, entry, "kind");
    m.path = tn_package_path(b, entry, "path", &good);
    if (!kind_of(m.type, &module.kind)) good = false;
    if (!good || tn_doc_is_touched(b->marks, entry)) {
        break_chain(chain);
        return;
    }
    m.index = (uint32_t)tn_package_size(entry, "index");
    keep_facts(b, entry, m.index);
    module.on_tokens = tn_package_flag(entry, "on_tokens");
    module.in_features = tn_package_size(entry, "in_features");
    module.out_features = tn_package_size(entry, "out_features");
    if (module.kind == TN_MODULE_POOLING) read_pooling(b, entry, &module);
    check_index(&m);
    bool there = check_folder(&m, &module), stands = check_place(&m, &module), sure = true;
    if (module.kind == TN_MODULE_DENSE) {
        module.bias = tn_package_flag(entry, "bias");
        module.residual = tn_package_flag(entry, "residual");
        module.activation = tn_package_text(b, entry, "activation");
        if (there) sure = tn_bind_dense(&m, &module);
    }
    struct tn_str strategy = tn_package_text(b, entry, "strategy");
    module.sum = tn_str_is(strategy, "sum");
    module.twice = tn_package_flag(entry, "log_twice");
    if (module.kind == TN_MODULE_LAYER_NORM) {
        module.bias = true;
        (void)tn_json_f64(tn_json_get(entry, "eps"), &module.eps);
        if (there) tn_bind_layer_norm(&m, &module);
    }
    if (stands) check_width(&m, &module);
    if (!sure) chain->width = 0;
    tn_module_keep(&m, &module);
}

static void read_modules(struct tn_builder *b, struct tn_json list)
{
    struct tn_chain chain = {.b = b, .state = TN_CHAIN_TEXT};
    size_t count = tn_json_count(list), most = b->inv->ctx->limits.modules;
    uint32_t position = 0;
    if (!tn_json_is(list, TN_JSON_ARRAY)) return;
    if (count > most) {
        tn_expected(tn_package_refuse(b, list, TN_RESOURCE_LIMIT, "has more modules than the limit allows"),
                    "at most %zu", most);
        return;
    }
    b->d->modules = tn_builder_array(b, count, sizeof(*b->d->modules));
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && b->failed == TN_OK; v = tn_json_next(v))
        read_module(&chain, v, position++);
}

/* ---- what was asserted, and what was left open -------------------------------------------------------------------- */

/* "/x" or "DOCUMENT#/x"; of a configuration no field that is known to matter, or known not to. */
static void check_assertion(struct tn_builder *b, struct tn_json v, struct tn_str s)
{
    const struct tn_schema *schema = b->d->component_count ? b->d->components[0].schema : NULL;
    const char *mark = s.n ? memchr(s.s, '#', s.n) : NULL;
    struct tn_str pointer = s, file = TN_STR("config.json");
    if (mark) {
        file.s = s.s, file.n = (size_t)(mark - s.s);
        pointer.s = mark + 1, pointer.n = s.n - file.n - 1;
    }
    if (pointer.n == 0 || pointer.s[0] != '/') {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "names no field"),
                    "a JSON pointer, or a document, # and a pointer");
    } else if (tn_str_ends(file, "config.json") && schema && tn_config_knows(schema, pointer)) {
        tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "asserts a field that is known"),
                    "a field of config.json that the family %s has never heard of", schema->id);
    }
}

static void read_assertions(struct tn_builder *b, struct tn_json list)
{
    struct tn_description *d = b->d;
    d->descriptive = tn_builder_array(b, tn_json_count(list), sizeof(*d->descriptive));
    for (struct tn_json v = tn_json_first(list); d->descriptive && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str s = TN_STR("");
        (void)tn_json_str(v, &s);
        check_assertion(b, v, s);
        d->descriptive[d->descriptive_count++] = tn_builder_str(b, s);
    }
}

/* TN_OK: there is no such code. */
static enum tn_status code_of(struct tn_str name)
{
    static const enum tn_status codes[] = {
#define X(code, text, exit_code) TN_##code,
        TN_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] != TN_OK && tn_str_is(name, tn_status_name(codes[i]))) return codes[i];
    return TN_OK;
}

static void repeat_undetermined(struct tn_builder *b, struct tn_json entry)
{
    struct tn_str reason = tn_package_text(b, entry, "reason"), found = tn_package_text(b, entry, "found");
    struct tn_str expected = tn_package_text(b, entry, "expected"), remedy = tn_package_text(b, entry, "remedy");
    enum tn_status code = code_of(tn_package_text(b, entry, "code"));
    if (!code && b->failed == TN_OK)
        tn_expected(tn_package_refuse(b, tn_json_get(entry, "code"), TN_METADATA_INVALID, "is no code of a refusal"),
                    "a code as `tenon schema error` lists them, such as unsupported_config");
    if (b->alone) return; /* what is open keeps the package from running, and makes no document wrong */
    struct tn_finding *f = tn_blocker(b, code ? code : TN_METADATA_INVALID, "left undetermined: %.*s", TN_FMT_ARG(reason));
    tn_at_json(f, entry);
    if (found.n) tn_found(f, "%.*s", TN_FMT_ARG(found));
    if (expected.n) tn_expected(f, "%.*s", TN_FMT_ARG(expected));
    if (remedy.n) tn_remedy(f, "%.*s", TN_FMT_ARG(remedy));
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void read_components(struct tn_builder *b, struct tn_json list)
{
    size_t count = tn_json_count(list);
    if (!tn_json_is(list, TN_JSON_ARRAY) || count == 0) return;
    if (count == 1 && !tn_json_is(tn_json_first(list), TN_JSON_OBJECT)) return;
    if (count > 1) {
        tn_expected(tn_package_refuse(b, list, TN_UNSUPPORTED_CONFIG, "has several components"), "one: the encoder");
        return;
    }
    struct tn_component *kept = tn_builder_array(b, 1, sizeof(*kept));
    if (!kept) return;
    read_component(b, tn_json_first(list), kept);
    if (!kept->schema || !kept->values) return;
    b->d->components = kept;
    b->d->component_count = 1;
}

static void read_prompts(struct tn_builder *b, struct tn_json object)
{
    struct tn_description *d = b->d;
    if (!tn_json_is(object, TN_JSON_OBJECT)) return; /* refused as such: its items have no names */
    d->prompts = tn_builder_array(b, tn_json_count(object), sizeof(*d->prompts));
    for (struct tn_json v = tn_json_first(object); d->prompts && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str text = TN_STR("");
        (void)tn_json_str(v, &text);
        if (tn_json_key(v).n && memchr(tn_json_key(v).s, 0, tn_json_key(v).n))
            tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "has a name that nobody can ask for"),
                        "a name without NUL");
        d->prompts[d->prompt_count++] =
            (struct tn_prompt){.name = tn_builder_str(b, tn_json_key(v)), .text = tn_builder_str(b, text)};
    }
}

static void check_default_prompt(struct tn_builder *b, struct tn_json v)
{
    if (tn_doc_hides(b->marks, tn_json_root(v.doc), "prompts")) return;
    if (b->d->default_prompt.n == 0 || b->failed != TN_OK || tn_description_prompt(b->d, b->d->default_prompt)) return;
    tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "names a prompt that is not there"),
                "a name of /prompts, or \"\"");
}

/* No length beyond the encoder's position table, where the forward pass would read past its end. */
static void check_length(struct tn_builder *b, struct tn_json v)
{
    if (b->d->component_count == 0 || b->d->max_seq_length == 0) return;
    const struct tn_component *c = b->d->components;
    bool hard;
    uint64_t most = tn_component_positions(c, &hard);
    if (most == 0 || !hard || b->d->max_seq_length <= most) return;
    tn_expected(tn_package_refuse(b, v, TN_METADATA_INVALID, "is more than the position table holds"), "at most %llu",
                (unsigned long long)most);
}

/* A row of numbers over the vocabulary comes from a head that gives them, and only such a row is cut to its largest. */
static void check_sparse(struct tn_builder *b, struct tn_json root)
{
    const struct tn_description *d = b->d;
    struct tn_json list = tn_json_get(root, "modules");
    size_t count = tn_json_count(list);
    struct tn_json last = tn_json_at(list, count ? count - 1 : 0);
    bool sparse = d->module_count && d->modules[d->module_count - 1].kind == TN_MODULE_SPLADE;
    bool headed = d->head && tn_head_kind_is_vocabulary(d->head->kind);
    if (sparse && !headed && !tn_doc_hides(b->marks, root, "head"))
        tn_expected(tn_package_refuse(b, tn_json_get(last, "kind"), TN_METADATA_INVALID,
                                      "stands behind no head over the vocabulary"),
                    "/head of kind masked_lm or pretraining");
    if (d->max_active_dims && !sparse && !tn_doc_hides(b->marks, root, "modules"))
        tn_expected(tn_package_refuse(b, tn_json_get(root, "max_active_dims"), TN_METADATA_INVALID,
                                      "belongs to sparse vectors"),
                    "null, or splade_pooling as the last of /modules");
}

/* A vector is cut to fewer numbers, and only behind modules that make one. */
static void check_cut(struct tn_builder *b, struct tn_json v)
{
    const struct tn_description *d = b->d;
    bool pooled = false;
    if (d->truncate_dim == 0 || d->component_count == 0 || tn_doc_hides(b->marks, tn_json_root(v.doc), "modules")) return;
    if (tn_contract_refused_below(b, "/modules")) return; /* how wide the rows are is what is refused there */
    for (uint32_t i = 0; i < d->module_count; i++) pooled |= d->modules[i].kind == TN_MODULE_POOLING;
    uint64_t width = pooled && d->module_count ? d->modules[d->module_count - 1].out_features : 0;
    if (d->truncate_dim <= width) return;
    struct tn_finding *f = tn_package_refuse(b, v, TN_METADATA_INVALID,
                                             pooled ? "is more than there is to cut" : "cuts a vector that nothing makes");
    if (pooled) tn_expected(f, "at most %llu, the width of the last module; 0: nothing is cut", (unsigned long long)width);
    else tn_expected(f, "0, without a pooling among /modules");
}

void tn_package_document_read(struct tn_builder *b, struct tn_json root)
{
    struct tn_description *d = b->d;
    d->default_prompt = tn_package_text(b, root, "default_prompt");
    d->similarity = tn_package_text(b, root, "similarity");
    d->max_seq_length = tn_package_size(root, "max_seq_length");
    d->truncate_dim = tn_package_size(root, "truncate_dim");
    d->max_active_dims = tn_package_size(root, "max_active_dims");
    d->chain_document = tn_builder_str(b, root.doc->file);
    read_components(b, tn_json_get(root, "components"));
    read_modules(b, tn_json_get(root, "modules"));
    if (tn_json_is(tn_json_get(root, "head"), TN_JSON_OBJECT)) tn_package_read_head(b, tn_json_get(root, "head"));
    else tn_package_read_headless(b, root);
    tn_package_read_multi_vector(b, root);
    read_prompts(b, tn_json_get(root, "prompts"));
    check_default_prompt(b, tn_json_get(root, "default_prompt"));
    tn_package_check_similarity(b, root);
    check_length(b, tn_json_get(root, "max_seq_length"));
    check_sparse(b, root);
    check_cut(b, tn_json_get(root, "truncate_dim"));
    if (tn_json_is(tn_json_get(root, "tokenizer"), TN_JSON_OBJECT))
        tn_package_read_tokenizer(b, tn_json_get(root, "tokenizer"));
    read_assertions(b, tn_json_get(root, "descriptive"));
    tn_losses_read(b, tn_json_get(root, "losses"));
    tn_require_stated_list(b, tn_json_get(root, "required_capabilities"));
    if (!b->alone && !tn_doc_hides(b->marks, root, "execution_hints")) tn_take_hints(b, tn_json_get(root, "execution_hints"));
    struct tn_json open = tn_json_get(root, "undetermined");
    for (struct tn_json v = tn_json_first(open); tn_json_present(v); v = tn_json_next(v))
        if (!tn_doc_is_touched(b->marks, v)) repeat_undetermined(b, v);
}
