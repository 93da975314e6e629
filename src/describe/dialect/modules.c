/*
 * modules.json: the chain of a sentence-transformers package, read in its order. Each class has a reader of its own;
 * what has none is refused by index, type and path. Inputs are untrusted.
 *
 * The order of the list decides, as in the library; "idx" is only compared with it. A name that occurs twice is refused:
 * the library keeps the modules in a dictionary, where the later one would silently take the earlier one's place.
 */
#include "describe/dialect/modules.h"
#include "describe/schema_rows.h"

#include <stdio.h>
#include <string.h>

#define RULE "st.modules/1"

/* ---- classes ---------------------------------------------------------------------------------------------------- */

struct module_class {
    const char *name;
    const char *file; /* the module file since 5.4; before, it had the class's name */
    void (*read)(const struct tn_module_source *m); /* NULL: known and not implemented */
    const char *missing;
};

static const struct module_class classes[] = {
    {"Transformer", "transformer", tn_read_transformer_module, NULL},
    {"Pooling", "pooling", tn_read_pooling_module, NULL},
    {"Dense", "dense", tn_read_dense_module, NULL},
    {"LayerNorm", "layer_norm", tn_read_layer_norm_module, NULL},
    {"Normalize", "normalize", tn_read_normalize_module, NULL},
    {"Dropout", "dropout", tn_read_dropout_module, NULL},
    {"CLIPModel", "clip_model", NULL, "two towers for text and pictures"},
    {"CNN", "cnn", NULL, "convolutions over token rows"},
    {"LSTM", "lstm", NULL, "a recurrent layer over token rows"},
    {"BoW", "bow", NULL, "bag-of-words vectors"},
    {"WordEmbeddings", "word_embeddings", NULL, "word vectors with a tokenizer of their own"},
    {"WordWeights", "word_weights", NULL, "weights per word"},
    {"WeightedLayerPooling", "weighted_layer_pooling", NULL, "a weighted sum over all layers"},
    {"StaticEmbedding", "static_embedding", NULL, "an embedding bag without an encoder"},
    {"Router", "router", NULL, "several routes chosen by the request"},
    {"Asym", "router", NULL, "several routes chosen by the request"},
    {"MLMTransformer", "mlm_transformer", tn_read_transformer_module, NULL},
    {"SpladePooling", "splade_pooling", tn_read_splade_module, NULL},
    {"SparseAutoEncoder", "sparse_auto_encoder", NULL, "sparse vectors of an autoencoder"},
    {"SparseStaticEmbedding", "sparse_static_embedding", NULL, "sparse vectors by a table"},
    {"MultiVectorMask", "multi_vector_mask", tn_read_mask_module, NULL},
    {"HierarchicalTokenPooling", "token_pooling", tn_read_token_pooling_module, NULL},
    {"LambdaTokenPooling", "token_pooling", tn_read_token_pooling_module, NULL},
    {"LogitScore", "logit_score", NULL, "a score of a pair and no vector"},
};

static const char *const packages[] = {
    "sentence_transformers.models",
    "sentence_transformers.base.modules",
    "sentence_transformers.sentence_transformer.modules",
    "sentence_transformers.sparse_encoder.models",
    "sentence_transformers.sparse_encoder.modules",
    "sentence_transformers.multi_vector_encoder.modules",
    "sentence_transformers.cross_encoder.modules",
};

static bool in_package(struct tn_str path)
{
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (tn_str_is(path, packages[i])) return true;
    return false;
}

/* Cuts the last segment off a dotted path. */
static struct tn_str last_segment(struct tn_str *path)
{
    size_t dot = path->n;
    while (dot > 0 && path->s[dot - 1] != '.') dot--;
    struct tn_str last = {path->s + dot, path->n - dot};
    path->n = dot > 0 ? dot - 1 : 0;
    return last;
}

/* A class of another library that computes what one of these does and reads the same files. */
#define PYLATE_DENSE "pylate.models.Dense.Dense"

/* "PACKAGE.Class", "PACKAGE.Class.Class" and "PACKAGE.file.Class" are the three spellings of one class. */
static const struct module_class *find_class(struct tn_str type)
{
    if (tn_str_is(type, PYLATE_DENSE)) type = TN_STR("sentence_transformers.models.Dense");
    struct tn_str rest = type, name = last_segment(&rest);
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (!tn_str_is(name, classes[i].name)) continue;
        if (in_package(rest)) return &classes[i];
        struct tn_str package = rest, file = last_segment(&package);
        if ((tn_str_is(file, classes[i].file) || tn_str_is(file, classes[i].name)) && in_package(package))
            return &classes[i];
    }
    return NULL;
}

/* ---- what the readers share ------------------------------------------------------------------------------------- */

struct tn_finding *tn_module_blocker(const struct tn_module_source *m, enum tn_status code, const char *what)
{
    struct tn_str path = m->path.n ? m->path : TN_STR("the package's root");
    struct tn_finding *f = tn_blocker(m->chain->b, code, "module %u (%.*s in %.*s) %s", m->index, TN_FMT_ARG(m->type),
                                      TN_FMT_ARG(path), what);
    tn_at_json(f, m->entry);
    return f;
}

void tn_module_at_file(struct tn_finding *f, const struct tn_module_source *m, struct tn_str file)
{
    char index[16];
    int n = snprintf(index, sizeof(index), "%u", m->index);
    tn_at_file(f, file);
    tn_at_element(f, TN_ELEMENT_MODULE, (struct tn_str){index, (size_t)n});
}

void tn_module_keep(const struct tn_module_source *m, const struct tn_module *module)
{
    struct tn_description *d = m->chain->b->d;
    struct tn_module *slot = d->modules ? &d->modules[d->module_count] : NULL;
    if (!slot || m->chain->b->failed != TN_OK) return;
    *slot = *module;
    slot->index = m->index;
    slot->path = m->path;
    if (!slot->activation.s) slot->activation = TN_STR("");
    d->module_count++;
}

bool tn_module_width(const struct tn_module_source *m, uint64_t stated, const char *field)
{
    if (m->chain->width == 0 || stated == m->chain->width) return true;
    struct tn_finding *f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "does not fit the module before it");
    if (tn_json_present(m->root)) tn_at_json_member(f, m->root, field);
    tn_found(f, "%s %llu", field, (unsigned long long)stated);
    tn_expected(f, "%llu, the width of the rows that come in", (unsigned long long)m->chain->width);
    return false;
}

/* ---- one entry -------------------------------------------------------------------------------------------------- */

/*
 * Goes on behind a module that was refused or could not be read: the width of its rows is not known, their kind only
 * where its class tells.
 */
static void pass_over(struct tn_chain *chain, const struct module_class *class)
{
    chain->width = 0;
    if (!class || !class->read) chain->state = TN_CHAIN_UNKNOWN;
    else if (class->read == tn_read_transformer_module) chain->state = TN_CHAIN_TOKENS;
    else if (class->read == tn_read_pooling_module || class->read == tn_read_splade_module) chain->state = TN_CHAIN_SENTENCE;
}

static void refuse_type(const struct tn_module_source *m, const struct module_class *class)
{
    struct tn_finding *f;
    if (class) {
        f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "is a class that this build does not implement");
        tn_remedy(f, "missing: %s", class->missing);
    } else if (tn_str_starts(m->type, "sentence_transformers.")) {
        f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "is a class that this build has never heard of");
    } else {
        f = tn_module_blocker(m, TN_CUSTOM_CODE_DENIED, "is code from outside sentence_transformers");
        tn_remedy(f, "use a package whose modules are classes of sentence_transformers");
    }
    tn_found(f, "%.*s", TN_FMT_ARG(m->type));
    tn_expected(f, "Transformer, Pooling, SpladePooling, MultiVectorMask, Dense, LayerNorm, Normalize or Dropout of sentence_transformers");
}

/* "type", "path" and "name" as the tables want them; "idx" and "kwargs" have rows of their own below. */
static const struct tn_schema_field entry_fields[] = {
    {"/type", "type", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, NULL, NULL, 0, 0},
    {"/path", "path", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, NULL, NULL, 0, 0},
    {"/name", "name", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, NULL, NULL, 0, 0},
    {"/idx", "idx", TN_FIELD_UNDERSTOOD, TN_TYPE_ANY, "null", NULL, 0, 0},
    /* names of encode() arguments that the module wants: the implemented classes take none */
    TN_ROW_OFF("/kwargs", "[] | null"),
};

static const struct tn_schema entry_schema = {
    .id = "st.modules_entry/1",
    .fields = entry_fields,
    .field_count = sizeof(entry_fields) / sizeof(entry_fields[0]),
};

static void check_index(const struct tn_module_source *m)
{
    struct tn_json v = tn_json_get(m->entry, "idx");
    uint64_t idx;
    if (tn_json_type(v) == TN_JSON_NULL || (tn_json_u64(v, &idx) && idx == m->index)) return;
    struct tn_finding *f = tn_warning(m->chain->b, TN_UNSUPPORTED_CONFIG,
                                      "idx in modules.json is not the module's place in the list, which decides");
    tn_at_json(f, v);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
    tn_expected(f, "%u", m->index);
}

/* The inventory looks at the same names, in order to tell weights of modules from variants. */
static bool is_told(const struct tn_builder *b, struct tn_json place)
{
    char pointer[128];
    struct tn_str at = tn_json_pointer(place, pointer, sizeof(pointer));
    const struct tn_findings *list = &b->inv->findings;
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        if (f->code == TN_PATH_ESCAPE && tn_str_is(place.doc->file, f->file) && tn_str_is(at, f->element)) return true;
    }
    return false;
}

static bool resolve_path(struct tn_module_source *m, struct tn_str stated)
{
    struct tn_builder *b = m->chain->b;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), stated, &m->path, b->scratch);
    if (status == TN_OK) return true;
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_builder_no_memory(b);
        return false;
    }
    m->path = stated;
    if (is_told(b, tn_json_get(m->entry, "path"))) return false;
    struct tn_finding *f = tn_module_blocker(m, status, "has a path that leaves the package");
    tn_at_json_member(f, m->entry, "path");
    tn_found(f, "%.*s", TN_FMT_ARG(stated));
    tn_expected(f, "a folder inside the package");
    return false;
}

static void read_with_config(struct tn_module_source *m, const struct module_class *class)
{
    struct tn_builder *b = m->chain->b;
    struct tn_json_doc doc = {0};
    m->config = tn_builder_join(b, m->path, "config.json");
    if (b->failed != TN_OK) return;
    /* The encoder reads its files itself, all of them, whatever is wrong with one. */
    bool there = class->read != tn_read_transformer_module && tn_builder_has(b, m->config);
    if (there && tn_builder_json(b, m->config, TN_JSON_OBJECT, &doc)) m->root = tn_json_root(&doc);
    if (there && !tn_json_present(m->root)) pass_over(m->chain, class); /* said already */
    else class->read(m);
    tn_json_release(&doc);
}

static void read_entry(struct tn_chain *chain, struct tn_json entry, uint32_t index)
{
    struct tn_builder *b = chain->b;
    struct tn_module_source m = {.chain = chain, .index = index, .entry = entry};
    struct tn_value values[sizeof(entry_fields) / sizeof(entry_fields[0])] = {0};
    snprintf(m.prefix, sizeof(m.prefix), "module.%u", index);
    size_t before = b->d->findings.blockers;
    struct tn_config_source source = {.root = entry, .schema = &entry_schema, .prefix = m.prefix, .rule = RULE};
    tn_config_read(b, &source, values);
    const struct module_class *class = values[0].s.s ? find_class(values[0].s) : NULL;
    if (b->d->findings.blockers > before && (!values[0].s.s || !values[1].s.s)) {
        pass_over(chain, class);
        return;
    }
    m.type = values[0].s;
    check_index(&m);
    if (!resolve_path(&m, values[1].s)) {
        pass_over(chain, class);
    } else if (!class || !class->read) {
        refuse_type(&m, class);
        pass_over(chain, class);
    } else if (chain->state == TN_CHAIN_SCORES) {
        tn_expected(tn_module_blocker(&m, TN_UNSUPPORTED_CONFIG, "works on the numbers of a head, or on sparse vectors"),
                    "no module behind them");
        pass_over(chain, class);
    } else if (chain->state == TN_CHAIN_VOCABULARY && class->read != tn_read_splade_module) {
        tn_expected(tn_module_blocker(&m, TN_UNSUPPORTED_CONFIG, "works on the numbers of a head over the vocabulary"),
                    "SpladePooling behind such a head");
        pass_over(chain, class);
    } else {
        read_with_config(&m, class);
    }
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static void refuse_duplicate_names(struct tn_builder *b, struct tn_json list)
{
    struct tn_str a, c;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_str(tn_json_get(v, "name"), &a)) continue;
        for (struct tn_json w = tn_json_next(v); tn_json_present(w); w = tn_json_next(w)) {
            if (!tn_json_str(tn_json_get(w, "name"), &c) || !tn_str_eq(a, c)) continue;
            struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "two modules in modules.json have one name");
            tn_at_json(f, tn_json_get(w, "name"));
            tn_found(f, "\"%.*s\" twice", TN_FMT_ARG(c));
            tn_expected(f, "a name of its own for each module");
        }
    }
}

static bool check_list(struct tn_builder *b, struct tn_json list)
{
    size_t count = tn_json_count(list), most = b->inv->ctx->limits.modules;
    struct tn_finding *f;
    if (count > 0 && count <= most) return true;
    f = tn_blocker(b, count == 0 ? TN_UNSUPPORTED_CONFIG : TN_RESOURCE_LIMIT, "modules.json has %s",
                   count == 0 ? "no modules" : "more modules than the limit allows");
    tn_at_json(f, list);
    tn_found(f, "%zu modules", count);
    tn_expected(f, "1 to %zu", most);
    return false;
}

/* The library cuts nothing off a vector that is no longer than this; a description states what is done. */
static void drop_wide_cut(struct tn_builder *b, uint64_t width)
{
    if (width == 0 || b->d->truncate_dim <= width) return;
    struct tn_finding *f = tn_note(b, TN_UNSUPPORTED_CONFIG, "truncate_dim cuts nothing: the vectors are shorter");
    tn_at_pointer(f, TN_STR("config_sentence_transformers.json"), TN_STR("/truncate_dim"));
    tn_found(f, "%llu", (unsigned long long)b->d->truncate_dim);
    tn_expected(f, "less than %llu", (unsigned long long)width);
    b->d->truncate_dim = 0;
}

void tn_describe_modules(struct tn_builder *b, struct tn_json list, enum tn_sentence_kind kind)
{
    struct tn_chain chain = {.b = b, .state = TN_CHAIN_TEXT};
    uint32_t index = 0;
    if (!check_list(b, list)) return;
    refuse_duplicate_names(b, list);
    b->d->modules = tn_builder_array(b, tn_json_count(list) + 1, sizeof(*b->d->modules));
    for (struct tn_json v = tn_json_first(list); tn_json_present(v) && b->failed == TN_OK; v = tn_json_next(v), index++) {
        if (tn_json_is(v, TN_JSON_OBJECT)) {
            read_entry(&chain, v, index);
            continue;
        }
        struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "module %u in modules.json is no object", index);
        tn_at_json(f, v);
        tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(v)));
        pass_over(&chain, NULL);
    }
    tn_describe_length(b, &chain.length);
    drop_wide_cut(b, chain.width);
    tn_finish_multi_vector(&chain, kind == TN_SENTENCE_MULTI_OLDER, index);
}
