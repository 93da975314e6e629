/*
 * tenon_package.json into a description. The document is untrusted; its closed shape was checked before
 * (package_tables.c), so what is read here is typed, and what is checked here is what a shape cannot say: values by the
 * family's table, tensors of modules by name and shape, and that the chain fits together.
 *
 * The surprising decision: nothing takes a default. A document that leaves a value of its family out is refused, since
 * the default of a later version would be another model.
 */
#include "describe/dialect/modules.h"
#include "describe/package_document.h"
#include "describe/requirements.h"

#include <stdio.h>
#include <string.h>

#define RULE "tenon.package/1"

static struct tn_str text_of(struct tn_builder *b, struct tn_json object, const char *key)
{
    struct tn_str s = TN_STR("");
    (void)tn_json_str(tn_json_get(object, key), &s);
    return s.n ? tn_builder_str(b, s) : TN_STR("");
}

static bool flag_of(struct tn_json object, const char *key)
{
    bool v = false;
    (void)tn_json_bool(tn_json_get(object, key), &v);
    return v;
}

static uint64_t size_of(struct tn_json object, const char *key)
{
    uint64_t v = 0;
    (void)tn_json_u64(tn_json_get(object, key), &v);
    return v;
}

static struct tn_finding *refuse(struct tn_builder *b, struct tn_json v, enum tn_status code, const char *what)
{
    char pointer[256];
    struct tn_finding *f = tn_blocker(b, code, "%.*s in %.*s %s",
                                      TN_FMT_ARG(tn_json_pointer(v, pointer, sizeof(pointer))),
                                      TN_FMT_ARG(v.doc->file), what);
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    return f;
}

/* A file or folder that the document names, as the inventory spells it; "" after a finding. */
static struct tn_str path_of(struct tn_builder *b, struct tn_json object, const char *key, bool *good)
{
    struct tn_json v = tn_json_get(object, key);
    struct tn_str stated, path = TN_STR("");
    *good = false;
    if (!tn_json_str(v, &stated)) return path;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), stated, &path, b->scratch);
    *good = status == TN_OK;
    if (*good) return path;
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    else tn_expected(refuse(b, v, status, "leaves the package"), "a path inside the package");
    return TN_STR("");
}

/* ---- components -------------------------------------------------------------------------------------------------- */

static const struct tn_schema *schema_of(struct tn_builder *b, struct tn_json v)
{
    struct tn_str id = TN_STR("");
    char known[256];
    int n = 0;
    (void)tn_json_str(v, &id);
    known[0] = 0;
    for (size_t i = 0; i < b->options->schema_count; i++) {
        const struct tn_schema *schema = b->options->schemas[i];
        if (tn_str_is(id, schema->id)) return schema;
        if ((size_t)n < sizeof(known))
            n += snprintf(known + n, sizeof(known) - (size_t)n, "%s%s", n ? ", " : "", schema->id);
    }
    tn_expected(refuse(b, v, TN_UNKNOWN_FAMILY, "is no family of this build"), "%s", known);
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
        tn_unknown_field(b, v, tn_json_pointer(v, pointer, sizeof(pointer)), nearest_name(c->schema, tn_json_key(v)));
    }
    if (c->schema->check) c->schema->check(b, c, config.doc ? config.doc->file : TN_STR(""));
}

/* The document's variant, unless the caller asks for another one of the same folder. */
static const struct tn_variant *variant_of(struct tn_builder *b, struct tn_json entry, struct tn_str folder)
{
    struct tn_json v = tn_json_get(entry, "variant");
    struct tn_str id = TN_STR("");
    const struct tn_inventory *inv = b->inv;
    if (b->options->variant || !tn_json_str(v, &id)) return tn_describe_variant(b, folder, true);
    for (uint32_t i = 0; i < inv->variant_count; i++) {
        const struct tn_variant *variant = &inv->variants[i];
        if (!tn_str_eq(variant->id, id)) continue;
        if (!variant->executable || variant->graph) tn_refuse_container(b, variant);
        return variant;
    }
    struct tn_finding *f = refuse(b, v, TN_ARTIFACT_MISSING, "names weights that the package does not hold");
    tn_expected(f, "%s%.*s", inv->variant_count ? "a variant of the package, such as " : "safetensors weights",
                TN_FMT_ARG(inv->variant_count ? inv->variants[0].id : TN_STR("")));
    return NULL;
}

static void read_component(struct tn_builder *b, struct tn_json entry, struct tn_component *c)
{
    bool good;
    c->name = text_of(b, entry, "name");
    c->model_type = text_of(b, entry, "model_type");
    c->architecture = text_of(b, entry, "architecture");
    c->folder = path_of(b, entry, "folder", &good);
    c->schema = schema_of(b, tn_json_get(entry, "schema"));
    if (good) c->variant = b->d->variant = variant_of(b, entry, c->folder);
    tn_fact_of_json(b, tn_json_get(entry, "architecture"), RULE, false, "encoder.architecture");
    if (c->schema) read_config(b, tn_json_get(entry, "config"), c);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static bool kind_of(struct tn_str name, enum tn_module_kind *out)
{
    for (unsigned kind = TN_MODULE_TRANSFORMER; kind <= TN_MODULE_NORMALIZE; kind++) {
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
    module->include_prompt = flag_of(entry, "include_prompt");
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        unsigned mode = 0;
        bool twice = false;
        (void)tn_json_str(v, &name);
        while (mode < TN_POOLINGS && !tn_str_is(name, tn_pooling_name((enum tn_pooling)mode))) mode++;
        for (uint32_t i = 0; i < module->pooling_count; i++) twice |= module->pooling[i] == (enum tn_pooling)mode;
        if (mode == TN_POOLINGS || twice) {
            refuse(b, v, TN_METADATA_INVALID, twice ? "names one pooling mode twice" : "is no pooling mode");
            continue;
        }
        module->pooling[module->pooling_count++] = (enum tn_pooling)mode;
    }
    if (module->pooling_count == 0) refuse(b, list, TN_METADATA_INVALID, "names no pooling mode");
}

/* Rows in, rows out: what the module before gives is what this one takes. */
static void check_place(const struct tn_module_source *m, struct tn_module *module)
{
    struct tn_chain *chain = m->chain;
    bool encoder = module->kind == TN_MODULE_TRANSFORMER, pooling = module->kind == TN_MODULE_POOLING;
    bool tokens = chain->state == TN_CHAIN_TOKENS;
    bool fits = encoder ? chain->state == TN_CHAIN_TEXT : pooling ? tokens : chain->state != TN_CHAIN_TEXT &&
                                                                                 module->on_tokens == tokens;
    if (!fits) {
        tn_module_blocker(m, TN_METADATA_INVALID, "does not stand where its kind of rows comes in");
        return;
    }
    uint64_t expected = pooling ? module->in_features * module->pooling_count
                                : module->kind == TN_MODULE_DENSE || encoder ? module->out_features : module->in_features;
    if (!encoder) tn_module_width(m, module->in_features, "in_features");
    if (module->out_features != expected || expected == 0) {
        struct tn_finding *f = tn_module_blocker(m, TN_METADATA_INVALID, "states a width that its input does not give");
        tn_at_json_member(f, m->root, "out_features");
        tn_found(f, "%llu", (unsigned long long)module->out_features);
        tn_expected(f, "%llu", (unsigned long long)expected);
    }
    if (encoder) chain->state = TN_CHAIN_TOKENS;
    if (pooling) chain->state = TN_CHAIN_SENTENCE;
    chain->width = module->out_features;
}

static void read_module(struct tn_chain *chain, struct tn_json entry, uint32_t position)
{
    struct tn_builder *b = chain->b;
    struct tn_module_source m = {.chain = chain, .index = position, .entry = entry, .root = entry};
    struct tn_module module = {.activation = TN_STR("")};
    bool good;
    m.type = text_of(b, entry, "kind");
    m.path = path_of(b, entry, "path", &good);
    if (!good || !kind_of(m.type, &module.kind)) return;
    m.index = (uint32_t)size_of(entry, "index");
    module.on_tokens = flag_of(entry, "on_tokens");
    module.in_features = size_of(entry, "in_features");
    module.out_features = size_of(entry, "out_features");
    if (module.kind == TN_MODULE_POOLING) read_pooling(b, entry, &module);
    check_place(&m, &module);
    if (module.kind == TN_MODULE_DENSE) {
        module.bias = flag_of(entry, "bias");
        module.residual = flag_of(entry, "residual");
        module.activation = text_of(b, entry, "activation");
        tn_bind_dense(&m, &module);
    }
    if (module.kind == TN_MODULE_LAYER_NORM) {
        module.bias = true;
        (void)tn_json_f64(tn_json_get(entry, "eps"), &module.eps);
        tn_bind_layer_norm(&m, &module);
    }
    tn_module_keep(&m, &module);
}

static void read_modules(struct tn_builder *b, struct tn_json list)
{
    struct tn_chain chain = {.b = b, .state = TN_CHAIN_TEXT};
    size_t count = tn_json_count(list), most = b->inv->ctx->limits.modules;
    uint32_t position = 0;
    if (count > most) {
        tn_expected(refuse(b, list, TN_RESOURCE_LIMIT, "has more modules than the limit allows"), "at most %zu", most);
        return;
    }
    b->d->modules = tn_builder_array(b, count, sizeof(*b->d->modules));
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && b->failed == TN_OK; v = tn_json_next(v))
        read_module(&chain, v, position++);
}

/* ---- head -------------------------------------------------------------------------------------------------------- */

/* The class that wrote the weights says which head they have; the document says it in two places. */
static void check_class(struct tn_builder *b, struct tn_json object, const struct tn_head *head)
{
    enum tn_head_kind kind;
    if (b->d->component_count == 0) return;
    struct tn_str class = b->d->components[0].architecture;
    if (tn_head_of_class(class, &kind) && kind == head->kind) return;
    tn_expected(refuse(b, tn_json_get(object, "kind"), TN_METADATA_INVALID, "is not the head of the component's class"),
                "the head of %.*s", TN_FMT_ARG(class));
}

static void read_labels(struct tn_builder *b, struct tn_json list, struct tn_head *head)
{
    size_t count = tn_json_count(list);
    bool labelled = tn_head_kind_is_labelled(head->kind);
    if (labelled != (count > 0)) {
        tn_expected(refuse(b, list, TN_METADATA_INVALID, "does not go with the kind of the head"),
                    labelled ? "a label for each output" : "null: outputs of this kind have no labels");
        return;
    }
    if (!labelled) return;
    head->labels = tn_builder_array(b, count, sizeof(*head->labels));
    for (struct tn_json v = tn_json_first(list); head->labels && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name = TN_STR("");
        (void)tn_json_str(v, &name);
        head->labels[head->outputs++] = tn_builder_str(b, name);
    }
}

static void read_head(struct tn_builder *b, struct tn_json object)
{
    struct tn_head *head = tn_builder_array(b, 1, sizeof(*head));
    if (!head || !tn_head_kind_of(text_of(b, object, "kind"), &head->kind)) return;
    struct tn_str problem = text_of(b, object, "problem");
    for (unsigned p = 0; p < TN_PROBLEMS; p++)
        if (tn_str_is(problem, tn_problem_name((enum tn_problem)p))) head->problem = (enum tn_problem)p;
    head->outputs = tn_head_kind_outputs(head->kind);
    head->labels_stated = flag_of(object, "labels_stated");
    head->cross_encoder = flag_of(object, "cross_encoder");
    head->activation = text_of(b, object, "activation");
    head->no_answer = flag_of(object, "no_answer");
    read_labels(b, tn_json_get(object, "labels"), head);
    if (head->no_answer && head->kind != TN_HEAD_QUESTION_ANSWERING)
        refuse(b, tn_json_get(object, "no_answer"), TN_METADATA_INVALID, "does not go with the kind of the head");
    check_class(b, object, head);
    tn_fact_of_json(b, tn_json_get(object, "kind"), RULE, false, "head.kind");
    if (head->labels) tn_fact_of_json(b, tn_json_get(object, "labels"), RULE, false, "head.labels");
    if (head->no_answer) tn_fact_of_json(b, tn_json_get(object, "no_answer"), RULE, false, "head.no_answer");
    if (head->problem) tn_fact_of_json(b, tn_json_get(object, "problem"), RULE, false, "head.problem");
    if (head->cross_encoder) tn_fact_of_json(b, tn_json_get(object, "cross_encoder"), RULE, false, "head.cross_encoder");
    if (head->activation.n) tn_fact_of_json(b, tn_json_get(object, "activation"), RULE, false, "head.activation");
    b->d->head = head;
}

/* ---- several vectors per text -------------------------------------------------------------------------------------- */

static struct tn_str *read_texts(struct tn_builder *b, struct tn_json list, uint32_t *count)
{
    struct tn_str *out = tn_builder_array(b, tn_json_count(list), sizeof(*out)), text;
    for (struct tn_json v = tn_json_first(list); out && tn_json_present(v); v = tn_json_next(v))
        if (tn_json_str(v, &text)) out[(*count)++] = tn_builder_str(b, text);
    return out;
}

static void check_role_length(struct tn_builder *b, struct tn_json v)
{
    bool hard = false;
    uint64_t stated = 0, most = b->d->component_count ? tn_component_positions(b->d->components, &hard) : 0;
    if (!hard || most == 0 || !tn_json_u64(v, &stated) || stated <= most) return;
    tn_expected(refuse(b, v, TN_METADATA_INVALID, "is more than the position table holds"), "at most %llu", (unsigned long long)most);
}

static void read_multi_vector(struct tn_builder *b, struct tn_json object)
{
    struct tn_multi_vector *m = tn_describe_multi_vector(b);
    struct tn_json expansion = tn_json_get(object, "expansion");
    if (!m) return;
    m->length[TN_OF_QUERY] = size_of(object, "query_length");
    m->length[TN_OF_DOCUMENT] = size_of(object, "document_length");
    m->expansion = (struct tn_expansion){
        .length = size_of(expansion, "length"), .fixed = flag_of(expansion, "fixed"), .attended = flag_of(expansion, "attended"),
        .kept = flag_of(expansion, "kept"), .token = text_of(b, expansion, "token")};
    m->skip = read_texts(b, tn_json_get(object, "skip"), &m->skip_count);
    m->skips[TN_OF_QUERY] = flag_of(object, "skips_in_queries");
    m->skips[TN_OF_DOCUMENT] = flag_of(object, "skips_in_documents");
    m->markers = read_texts(b, tn_json_get(object, "markers"), &m->marker_count);
    tn_fact_of_json(b, object, RULE, false, "multi_vector.stated");
    check_role_length(b, tn_json_get(object, "query_length"));
    check_role_length(b, tn_json_get(object, "document_length"));
    check_role_length(b, tn_json_get(expansion, "length"));
}

/* ---- tokenizer --------------------------------------------------------------------------------------------------- */

static void check_file(struct tn_builder *b, struct tn_json object, const char *key, struct tn_str path)
{
    if (path.n == 0 || b->failed != TN_OK || tn_builder_has(b, path)) return;
    refuse(b, tn_json_get(object, key), TN_ARTIFACT_MISSING, "names a file that the package does not hold");
}

/* The file that the source needs is named. */
static void check_source(struct tn_builder *b, struct tn_json object, const struct tn_tokenizer_facts *t)
{
    bool lines = t->source == TN_TOKENIZER_VOCAB;
    const char *key = lines ? "vocab_txt" : "tokenizer_json";
    if ((lines ? t->vocab_txt : t->tokenizer_json).n > 0) return;
    tn_expected(refuse(b, tn_json_get(object, key), TN_METADATA_INVALID, "names no file, which its source needs"), "a path");
}

static void read_tokenizer(struct tn_builder *b, struct tn_json object)
{
    struct tn_tokenizer_facts *t = &b->d->tokenizer;
    struct tn_str source = text_of(b, object, "source"), template = text_of(b, object, "pair_template");
    size_t before = b->d->findings.blockers;
    t->present = true;
    for (unsigned i = TN_TOKENIZER_FILE; i <= TN_TOKENIZER_VOCAB; i++)
        if (tn_str_is(source, tn_tokenizer_source_name((enum tn_tokenizer_source)i))) t->source = (enum tn_tokenizer_source)i;
    if (tn_str_is(template, tn_tokenizer_template_name(TN_TEMPLATE_TWO_SEPARATORS))) t->pair_template = TN_TEMPLATE_TWO_SEPARATORS;
    for (size_t i = 0; i < tn_tokenizer_member_count; i++) {
        const struct tn_tokenizer_member *m = &tn_tokenizer_members[i];
        void *field = (char *)t + m->offset;
        bool good;
        if (m->kind == TN_TOKENIZER_BOOL) *(bool *)field = flag_of(object, m->name);
        else if (m->kind != TN_TOKENIZER_PATH) *(struct tn_str *)field = text_of(b, object, m->name);
        else {
            *(struct tn_str *)field = path_of(b, object, m->name, &good);
            check_file(b, object, m->name, *(struct tn_str *)field);
        }
    }
    t->strip_accents_set = tn_json_bool(tn_json_get(object, "strip_accents"), &t->strip_accents);
    t->model_max_length_set = tn_json_u64(tn_json_get(object, "model_max_length"), &t->model_max_length);
    check_source(b, object, t);
    t->refused = b->d->findings.blockers > before;
}

/* ---- what was asserted, and what was left open -------------------------------------------------------------------- */

static void read_assertions(struct tn_builder *b, struct tn_json list)
{
    struct tn_description *d = b->d;
    d->descriptive = tn_builder_array(b, tn_json_count(list), sizeof(*d->descriptive));
    for (struct tn_json v = tn_json_first(list); d->descriptive && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str s = TN_STR("");
        (void)tn_json_str(v, &s);
        d->descriptive[d->descriptive_count++] = tn_builder_str(b, s);
    }
}

static enum tn_status code_of(struct tn_str name)
{
    static const enum tn_status codes[] = {
#define X(code, text, exit_code) TN_##code,
        TN_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i] != TN_OK && tn_str_is(name, tn_status_name(codes[i]))) return codes[i];
    return TN_METADATA_INVALID;
}

static void repeat_undetermined(struct tn_builder *b, struct tn_json entry)
{
    struct tn_str reason = text_of(b, entry, "reason"), found = text_of(b, entry, "found");
    struct tn_str expected = text_of(b, entry, "expected"), remedy = text_of(b, entry, "remedy");
    struct tn_finding *f = tn_blocker(b, code_of(text_of(b, entry, "code")), "left undetermined: %.*s", TN_FMT_ARG(reason));
    tn_at_json(f, entry);
    if (found.n) tn_found(f, "%.*s", TN_FMT_ARG(found));
    if (expected.n) tn_expected(f, "%.*s", TN_FMT_ARG(expected));
    if (remedy.n) tn_remedy(f, "%.*s", TN_FMT_ARG(remedy));
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void read_components(struct tn_builder *b, struct tn_json list)
{
    size_t count = tn_json_count(list);
    if (count == 0) return;
    if (count > 1) {
        tn_expected(refuse(b, list, TN_UNSUPPORTED_CONFIG, "has several components"), "one: the encoder");
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
    d->prompts = tn_builder_array(b, tn_json_count(object), sizeof(*d->prompts));
    for (struct tn_json v = tn_json_first(object); d->prompts && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str text = TN_STR("");
        (void)tn_json_str(v, &text);
        d->prompts[d->prompt_count++] =
            (struct tn_prompt){.name = tn_builder_str(b, tn_json_key(v)), .text = tn_builder_str(b, text)};
    }
}

static void check_default_prompt(struct tn_builder *b, struct tn_json v)
{
    if (b->d->default_prompt.n == 0 || b->failed != TN_OK || tn_description_prompt(b->d, b->d->default_prompt)) return;
    tn_expected(refuse(b, v, TN_METADATA_INVALID, "names a prompt that is not there"), "a name of /prompts, or \"\"");
}

/* The row that stands for padding is one of the table. */
static void check_pad(struct tn_builder *b, struct tn_json v)
{
    if (b->d->component_count == 0 || !tn_json_present(v)) return;
    const struct tn_value *pad = tn_component_value(b->d->components, "pad_token_id");
    const struct tn_value *rows = tn_component_value(b->d->components, "vocab_size");
    if (!pad->present || !rows->present || pad->u < rows->u) return;
    tn_expected(refuse(b, v, TN_METADATA_INVALID, "is outside the vocabulary"), "less than %llu", (unsigned long long)rows->u);
}

/* No length beyond the encoder's position table, where the forward pass would read past its end. */
static void check_length(struct tn_builder *b, struct tn_json v)
{
    if (b->d->component_count == 0 || b->d->max_seq_length == 0) return;
    const struct tn_component *c = b->d->components;
    bool hard;
    uint64_t most = tn_component_positions(c, &hard);
    if (most == 0 || !hard || b->d->max_seq_length <= most) return;
    tn_expected(refuse(b, v, TN_METADATA_INVALID, "is more than the position table holds"), "at most %llu",
                (unsigned long long)most);
}

void tn_package_document_read(struct tn_builder *b, struct tn_json root)
{
    struct tn_description *d = b->d;
    d->default_prompt = text_of(b, root, "default_prompt");
    d->similarity = text_of(b, root, "similarity");
    d->max_seq_length = size_of(root, "max_seq_length");
    d->truncate_dim = size_of(root, "truncate_dim");
    d->chain_document = tn_builder_str(b, root.doc->file);
    read_components(b, tn_json_get(root, "components"));
    read_modules(b, tn_json_get(root, "modules"));
    if (tn_json_is(tn_json_get(root, "head"), TN_JSON_OBJECT)) read_head(b, tn_json_get(root, "head"));
    if (tn_json_is(tn_json_get(root, "multi_vector"), TN_JSON_OBJECT)) read_multi_vector(b, tn_json_get(root, "multi_vector"));
    read_prompts(b, tn_json_get(root, "prompts"));
    check_default_prompt(b, tn_json_get(root, "default_prompt"));
    check_length(b, tn_json_get(root, "max_seq_length"));
    check_pad(b, tn_json_find(root, "/components/0/config/pad_token_id"));
    if (tn_json_is(tn_json_get(root, "tokenizer"), TN_JSON_OBJECT)) read_tokenizer(b, tn_json_get(root, "tokenizer"));
    read_assertions(b, tn_json_get(root, "descriptive"));
    tn_require_stated_list(b, tn_json_get(root, "required_capabilities"));
    tn_take_hints(b, tn_json_get(root, "execution_hints"));
    struct tn_json open = tn_json_get(root, "undetermined");
    for (struct tn_json v = tn_json_first(open); tn_json_present(v); v = tn_json_next(v)) repeat_undetermined(b, v);
}
