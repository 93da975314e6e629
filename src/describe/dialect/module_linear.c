/*
 * The small modules: Dense, LayerNorm, Normalize, Dropout. Dense and LayerNorm bring weights of their own
 * (model.safetensors in their folder), which are bound and shape-checked here. Inputs are untrusted.
 *
 * Pickles beside them are named and never opened.
 */
#include "describe/dialect/modules.h"
#include "describe/schema_rows.h"

#include <string.h>

#define RULE_DENSE "st.dense/1"
#define RULE_NORM "st.layer_norm/1"
#define RULE_NORMALIZE "st.normalize/1"
#define RULE_DROPOUT "st.dropout/1"

/* nn.LayerNorm's default; the module never passes another */
#define LAYER_NORM_EPS 1e-5

/* ---- weights ---------------------------------------------------------------------------------------------------- */

static bool is_float(enum tn_dtype dtype)
{
    return dtype == TN_DTYPE_F32 || dtype == TN_DTYPE_F16 || dtype == TN_DTYPE_BF16;
}

static void missing_weights(const struct tn_module_source *m)
{
    struct tn_builder *b = m->chain->b;
    struct tn_str file = tn_builder_join(b, m->path, "model.safetensors");
    struct tn_str pickle = tn_builder_join(b, m->path, "pytorch_model.bin");
    if (b->failed != TN_OK) return;
    bool only_pickle = tn_builder_has(b, pickle);
    struct tn_finding *f =
        tn_module_blocker(m, TN_ARTIFACT_MISSING,
                          only_pickle ? "has its weights only as a pickle, which is never opened" : "has no weights");
    tn_module_at_file(f, m, file);
    tn_found(f, "%.*s", TN_FMT_ARG(only_pickle ? pickle : TN_STR("nothing")));
    tn_expected(f, "%.*s", TN_FMT_ARG(file));
    tn_remedy(f, only_pickle ? "save the package again with safe_serialization=True" : "download the package again");
}

/* A module in the encoder's folder has its tensors among the encoder's. */
static bool shares_weights(const struct tn_module_source *m)
{
    const struct tn_description *d = m->chain->b->d;
    return d->component_count > 0 && tn_str_eq(d->components[0].folder, m->path);
}

static const struct tn_variant *find_weights(const struct tn_module_source *m)
{
    const struct tn_description *d = m->chain->b->d;
    const struct tn_variant *part = shares_weights(m) ? d->variant : tn_inventory_part(m->chain->b->inv, m->path);
    if (part && (!part->executable || part->graph) && shares_weights(m)) return NULL; /* said already */
    if (!part || !part->executable || part->graph) {
        missing_weights(m);
        return NULL;
    }
    for (uint32_t i = 0; i < part->file_count; i++) {
        if (m->chain->b->inv->files[part->files[i]].malformed) return NULL; /* the inventory said what is wrong with it */
    }
    return part;
}

/* One tensor by name and exact shape; columns 0: a vector. */
static const struct tn_tensor_info *bind(const struct tn_module_source *m, const struct tn_variant *part,
                                         const char *name, uint64_t rows, uint64_t columns)
{
    struct tn_builder *b = m->chain->b;
    struct tn_str file = b->inv->files[part->files[0]].path;
    const struct tn_tensor_info *t = tn_variant_tensor(b->inv, part, tn_str_of(name));
    struct tn_finding *f;
    if (!t) {
        f = tn_module_blocker(m, TN_MISSING_TENSOR, "lacks a tensor");
        tn_at_tensor(f, file, tn_str_of(name));
        tn_found(f, "nothing");
        tn_expected(f, "a tensor %s", name);
        return NULL;
    }
    bool fits = t->rank == (columns ? 2u : 1u) && t->shape[0] == rows && (!columns || t->shape[1] == columns);
    if (fits && is_float(t->dtype)) return t;
    f = tn_module_blocker(m, TN_TENSOR_MISMATCH, fits ? "has a tensor of another type" : "has a tensor of another shape");
    tn_at_tensor(f, file, t->name);
    if (!fits && t->rank == 2)
        tn_found(f, "[%llu, %llu]", (unsigned long long)t->shape[0], (unsigned long long)t->shape[1]);
    else if (!fits)
        tn_found(f, "rank %u, first dimension %llu", t->rank, (unsigned long long)(t->rank ? t->shape[0] : 0));
    else tn_found(f, "%s", tn_dtype_name(t->dtype));
    if (fits) tn_expected(f, "f32, f16 or bf16");
    else if (columns)
        tn_expected(f, "[%llu, %llu], by out_features and in_features", (unsigned long long)rows,
                    (unsigned long long)columns);
    else tn_expected(f, "[%llu], by the module's width", (unsigned long long)rows);
    return NULL;
}

/* Tensors beyond the bound ones: an unread tensor is a wrong forward pass. */
static void refuse_rest(const struct tn_module_source *m, const struct tn_variant *part,
                        const struct tn_tensor_info *const *bound, size_t count)
{
    const struct tn_inventory *inv = m->chain->b->inv;
    if (shares_weights(m)) return; /* the audit of the encoder's tensors knows these */
    for (uint32_t i = 0; i < part->tensor_count; i++) {
        const struct tn_tensor_info *t = &inv->tensors[part->first_tensor + i];
        bool known = false;
        for (size_t k = 0; k < count; k++) known |= bound[k] == t;
        if (known) continue;
        struct tn_finding *f = tn_module_blocker(m, TN_UNEXPECTED_TENSOR, "has a tensor that nothing reads");
        tn_at_tensor(f, inv->files[t->file].path, t->name);
        tn_found(f, "%.*s", TN_FMT_ARG(t->name));
        bool bias = tn_str_is(t->name, "linear.bias");
        tn_expected(f, bias ? "no linear.bias, or a module that states a bias" : "the tensors of the module and no others");
        tn_remedy(f, bias ? "state the bias in the module's document, or take its weights from the same package"
                          : "take the weights and the module's document from the same package");
    }
}

/* ---- names of what a module reads and writes -------------------------------------------------------------------- */

/* Feature names of both sides; a module writes where it reads. False after a finding. */
static bool resolve_side(const struct tn_module_source *m, struct tn_str input, struct tn_str output, bool *on_tokens)
{
    bool tokens = tn_str_is(input, "token_embeddings");
    bool before_pooling = m->chain->state == TN_CHAIN_TOKENS;
    *on_tokens = tokens;
    struct tn_finding *f;
    if (output.n > 0 && !tn_str_eq(input, output)) {
        f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG, "writes another feature than it reads");
        tn_at_json_member(f, m->root, "module_output_name");
        tn_found(f, "%.*s", TN_FMT_ARG(output));
        tn_expected(f, "%.*s", TN_FMT_ARG(input));
        return false;
    }
    if (m->chain->state == TN_CHAIN_UNKNOWN) return true;
    if (m->chain->state != TN_CHAIN_TEXT && tokens == before_pooling) return true;
    f = tn_module_blocker(m, TN_UNSUPPORTED_CONFIG,
                          tokens ? "reads token rows behind the pooling"
                                 : "needs a pooled row and stands before the pooling");
    if (tn_json_present(m->root)) tn_at_json_member(f, m->root, "module_input_name");
    tn_found(f, "%.*s", TN_FMT_ARG(input));
    tn_expected(f, before_pooling ? "token_embeddings" : "sentence_embedding");
    /* Where the encoder or the pooling is missing, every module behind would say so once more. */
    if (m->chain->state != TN_CHAIN_SENTENCE) m->chain->state = TN_CHAIN_UNKNOWN;
    return false;
}

#define NAME_ROWS                                                                                  \
    TN_ROW_CHOICE("/module_input_name", "module_input_name", "\"sentence_embedding\"",             \
                  "\"sentence_embedding\" | \"token_embeddings\""),                                \
        {"/module_output_name", "module_output_name", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, "null", \
         "\"sentence_embedding\" | \"token_embeddings\" | null", 0, 0}

/* ---- Dense ------------------------------------------------------------------------------------------------------ */

static const struct tn_schema_field dense_fields[] = {
    TN_ROW_SIZE("/in_features", "in_features", NULL, 1, 1048576),
    TN_ROW_SIZE("/out_features", "out_features", NULL, 1, 1048576),
    TN_ROW_FLAG("/bias", "bias", "true"),
    {"/activation_function", "activation_function", TN_FIELD_UNDERSTOOD, TN_TYPE_STRING,
     "\"torch.nn.modules.activation.Tanh\"", NULL, 0, 0},
    NAME_ROWS,
    TN_ROW_FLAG("/use_residual", "use_residual", "false"),
};

static const struct tn_schema dense_schema = {
    .id = "st.dense/1",
    .fields = dense_fields,
    .field_count = sizeof(dense_fields) / sizeof(dense_fields[0]),
};

/* Classes of torch.nn with their default arguments: the file can carry no others. */
static const struct {
    const char *class, *normalised;
} activations[] = {
    {"Identity", "identity"}, {"Tanh", "tanh"},         {"ReLU", "relu"},   {"ReLU6", "relu6"},
    {"LeakyReLU", "leaky_relu"}, {"ELU", "elu"},        {"GELU", "gelu"},   {"SiLU", "silu"},
    {"Mish", "mish"},         {"Sigmoid", "sigmoid"},   {"CELU", "elu"}, /* both with alpha 1 */
    {"SELU", "selu"},         {"Softplus", "softplus"}, {"Softsign", "softsign"},
    {"LogSigmoid", "log_sigmoid"}, {"Tanhshrink", "tanh_shrink"}, {"Hardtanh", "hard_tanh"},
    {"Hardsigmoid", "hard_sigmoid"}, {"Hardswish", "hard_swish"}, {"Hardshrink", "hard_shrink"},
    {"Softshrink", "soft_shrink"}, {"RReLU", "rrelu"},
};

static const char *const activation_packages[] = {"torch.nn.modules.activation.", "torch.nn.modules.linear.",
                                                  "torch.nn."};

const char *tn_torch_activation(struct tn_str path)
{
    for (size_t p = 0; p < sizeof(activation_packages) / sizeof(activation_packages[0]); p++) {
        size_t n = strlen(activation_packages[p]);
        if (!tn_str_starts(path, activation_packages[p])) continue;
        for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++)
            if (tn_str_is((struct tn_str){path.s + n, path.n - n}, activations[i].class))
                return activations[i].normalised;
    }
    return NULL;
}

static bool read_activation(const struct tn_module_source *m, struct tn_str path, struct tn_module *module)
{
    const char *name = tn_torch_activation(path);
    if (name) {
        module->activation = tn_str_of(name);
        return true;
    }
    bool foreign = !tn_str_starts(path, "torch.");
    struct tn_finding *f = tn_module_blocker(m, foreign ? TN_CUSTOM_CODE_DENIED : TN_UNSUPPORTED_CONFIG,
                                             foreign ? "has an activation from outside torch.nn"
                                                     : "has an activation that this build does not implement");
    tn_at_json_member(f, m->root, "activation_function");
    tn_found(f, "%.*s", TN_FMT_ARG(path));
    tn_expected(f, "an element-wise class of torch.nn without parameters of its own (Tanh, ReLU, GELU, SiLU ...), or "
                   "torch.nn.modules.linear.Identity");
    return false;
}

/* linear.weight as it is stored, whatever the module states of it; NULL: it is not there, or no matrix. */
static const struct tn_tensor_info *matrix_of(const struct tn_module_source *m, const struct tn_variant *part)
{
    const struct tn_tensor_info *t = tn_variant_tensor(m->chain->b->inv, part, TN_STR("linear.weight"));
    return t && t->rank == 2 ? t : NULL;
}

/*
 * The width that comes in, by which the tensors are judged. Where the stated one was refused, and the matrix takes the rows
 * that do come, the number is the one fault.
 */
static uint64_t input_of(const struct tn_module_source *m, const struct tn_variant *part, uint64_t stated)
{
    const struct tn_tensor_info *matrix = matrix_of(m, part);
    uint64_t width = m->chain->width;
    return width && matrix && stated != width && matrix->shape[1] == width ? width : stated;
}

bool tn_bind_dense(const struct tn_module_source *m, struct tn_module *module)
{
    const struct tn_variant *part = find_weights(m);
    if (!part) return true;
    uint64_t in = input_of(m, part, module->in_features), out = module->out_features;
    size_t before = m->chain->b->d->findings.blockers;
    module->weight = bind(m, part, "linear.weight", out, in);
    /* The vectors follow the matrix: where that has other rows than stated, they are as wrong as it is. */
    const struct tn_tensor_info *matrix = matrix_of(m, part);
    bool doubtful = m->chain->b->d->findings.blockers > before;
    if (doubtful && matrix) in = matrix->shape[1], out = matrix->shape[0];
    if (module->bias) module->bias_tensor = bind(m, part, "linear.bias", out, 0);
    if (module->residual && in != out) module->residual_weight = bind(m, part, "residual.weight", out, in);
    const struct tn_tensor_info *bound[] = {module->weight, module->bias_tensor, module->residual_weight};
    if (module->weight && (module->bias_tensor || !module->bias)) refuse_rest(m, part, bound, 3);
    return !doubtful;
}

static bool config_there(const struct tn_module_source *m)
{
    if (tn_json_present(m->root)) return true;
    struct tn_finding *f = tn_module_blocker(m, TN_ARTIFACT_MISSING, "has no config.json");
    tn_module_at_file(f, m, m->config);
    tn_remedy(f, "download the package again");
    m->chain->width = 0;
    return false;
}

void tn_read_dense_module(const struct tn_module_source *m)
{
    struct tn_builder *b = m->chain->b;
    struct tn_value values[sizeof(dense_fields) / sizeof(dense_fields[0])] = {0};
    struct tn_module module = {.kind = TN_MODULE_DENSE};
    struct tn_config_source source = {.root = m->root, .schema = &dense_schema, .prefix = m->prefix, .rule = RULE_DENSE};
    if (!config_there(m)) return;
    tn_config_read(b, &source, values);
    const struct tn_value *activation = tn_schema_value(&dense_schema, values, "activation_function");
    module.in_features = tn_schema_value(&dense_schema, values, "in_features")->u;
    module.out_features = tn_schema_value(&dense_schema, values, "out_features")->u;
    module.bias = tn_schema_value(&dense_schema, values, "bias")->b;
    module.residual = tn_schema_value(&dense_schema, values, "use_residual")->b;
    if (activation->present) read_activation(m, activation->s, &module);
    struct tn_str input = tn_schema_value(&dense_schema, values, "module_input_name")->s;
    /* Files that are older than the names belong to the rows that such a package has. */
    if (b->d->multi && !tn_json_present(tn_json_get(m->root, "module_input_name"))) input = TN_STR("token_embeddings");
    resolve_side(m, input,
                 tn_schema_value(&dense_schema, values, "module_output_name")->s, &module.on_tokens);
    if (module.in_features > 0) tn_module_width(m, module.in_features, "in_features");
    bool sure = module.in_features == 0 || module.out_features == 0 || tn_bind_dense(m, &module);
    m->chain->width = sure ? module.out_features : 0;
    tn_module_keep(m, &module);
}

/* ---- LayerNorm -------------------------------------------------------------------------------------------------- */

static const struct tn_schema_field norm_fields[] = {
    TN_ROW_SIZE("/dimension", "dimension", NULL, 1, 1048576),
};

static const struct tn_schema norm_schema = {
    .id = "st.layer_norm/1",
    .fields = norm_fields,
    .field_count = sizeof(norm_fields) / sizeof(norm_fields[0]),
};

/* As with a matrix: where the tensor takes the rows that do come, the stated number is the one fault. */
void tn_bind_layer_norm(const struct tn_module_source *m, struct tn_module *module)
{
    const struct tn_variant *part = find_weights(m);
    if (!part) return;
    const struct tn_tensor_info *t = tn_variant_tensor(m->chain->b->inv, part, TN_STR("norm.weight"));
    uint64_t width = module->in_features, comes = m->chain->width;
    if (comes && t && t->rank == 1 && t->shape[0] == comes) width = comes;
    module->weight = bind(m, part, "norm.weight", width, 0);
    if (!module->weight && t && t->rank == 1) width = t->shape[0];
    module->bias_tensor = bind(m, part, "norm.bias", width, 0);
    const struct tn_tensor_info *bound[] = {module->weight, module->bias_tensor};
    if (module->weight && module->bias_tensor) refuse_rest(m, part, bound, 2);
}

void tn_read_layer_norm_module(const struct tn_module_source *m)
{
    struct tn_value values[sizeof(norm_fields) / sizeof(norm_fields[0])] = {0};
    struct tn_module module = {.kind = TN_MODULE_LAYER_NORM, .eps = LAYER_NORM_EPS, .bias = true};
    struct tn_config_source source = {.root = m->root, .schema = &norm_schema, .prefix = m->prefix, .rule = RULE_NORM};
    if (!config_there(m)) return;
    tn_config_read(m->chain->b, &source, values);
    tn_fact_of_default(m->chain->b, norm_schema.id, "1e-5", RULE_NORM, "%s.eps", m->prefix);
    resolve_side(m, TN_STR("sentence_embedding"), TN_STR(""), &module.on_tokens);
    module.in_features = module.out_features = values[0].u;
    if (module.in_features > 0 && tn_module_width(m, module.in_features, "dimension")) tn_bind_layer_norm(m, &module);
    m->chain->width = module.out_features;
    tn_module_keep(m, &module);
}

/* ---- Normalize, Dropout ----------------------------------------------------------------------------------------- */

static const struct tn_schema_field normalize_fields[] = {
    NAME_ROWS,
};

static const struct tn_schema normalize_schema = {
    .id = "st.normalize/1",
    .fields = normalize_fields,
    .field_count = sizeof(normalize_fields) / sizeof(normalize_fields[0]),
};

/*
 * The file exists since 5.5; before, the class had no options, and some packages give it the encoder's folder. The
 * library reads its own two keys out of whatever stands there; a configuration of the encoder is not this module's.
 */
static bool has_own_config(const struct tn_module_source *m)
{
    const struct tn_description *d = m->chain->b->d;
    bool shared = d->module_count > 0 && tn_str_eq(d->modules[0].path, m->path);
    return !shared || tn_json_present(tn_json_get(m->root, "module_input_name")) ||
           tn_json_present(tn_json_get(m->root, "module_output_name"));
}

void tn_read_normalize_module(const struct tn_module_source *m)
{
    struct tn_value values[sizeof(normalize_fields) / sizeof(normalize_fields[0])] = {0};
    uint64_t width = m->chain->width;
    struct tn_module module = {.kind = TN_MODULE_NORMALIZE, .in_features = width, .out_features = width};
    struct tn_config_source source = {
        .root = m->root, .schema = &normalize_schema, .prefix = m->prefix, .rule = RULE_NORMALIZE};
    if (!has_own_config(m)) source.root = (struct tn_json){NULL, 0};
    tn_config_read(m->chain->b, &source, values);
    resolve_side(m, values[0].s, values[1].s, &module.on_tokens);
    tn_module_keep(m, &module);
}

static const struct tn_schema_field dropout_fields[] = {
    TN_ROW_DESCRIPTIVE("/dropout"),
};

static const struct tn_schema dropout_schema = {
    .id = "st.dropout/1",
    .fields = dropout_fields,
    .field_count = sizeof(dropout_fields) / sizeof(dropout_fields[0]),
};

/* The identity outside training: a fact, and no step of the chain. */
void tn_read_dropout_module(const struct tn_module_source *m)
{
    struct tn_value values[sizeof(dropout_fields) / sizeof(dropout_fields[0])] = {0};
    struct tn_config_source source = {.root = m->root, .schema = &dropout_schema, .prefix = m->prefix, .rule = RULE_DROPOUT};
    bool on_tokens;
    tn_config_read(m->chain->b, &source, values);
    resolve_side(m, TN_STR("sentence_embedding"), TN_STR(""), &on_tokens);
    tn_fact_of_text(m->chain->b, TN_FROM_STRUCTURE, TN_STR("modules.json"), TN_STR(""), TN_STR("\"none at inference\""),
                    RULE_DROPOUT, true, "%s.effect", m->prefix);
}
