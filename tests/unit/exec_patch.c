/*
 * The optimiser: each patch where it applies and where it must not, and 2,000 generated graphs whose results are the same
 * with all patches, with each left out, and as they are written; with one thread and with two bit by bit.
 */
#define _GNU_SOURCE
#include "onnx_util.h"

#include "exec/patch.h"
#include "net/check.h"

/* ---- graphs by hand ----------------------------------------------------------------------------------------------- */

static struct tn_pool *pool;

static void names(struct bytes *b, unsigned field, const char *list)
{
    while (*list) {
        struct bytes inner = {0};
        size_t n = strcspn(list, " ");
        put(&inner, list, n);
        message(b, field, inner);
        list += n + (list[n] == ' ');
    }
}

/* Attributes as "alpha=0.5f perm=0,2,1 axis=1". */
static void attributes(struct bytes *n, const char *list)
{
    while (*list) {
        struct bytes a = {0}, name = {0}, ints = {0};
        size_t at = strcspn(list, "="), len = strcspn(list, " ");
        put(&name, list, at);
        message(&a, 1, name);
        if (list[len - 1] == 'f') {
            float f = strtof(list + at + 1, NULL);
            varint(&a, 2 << 3 | 5);
            put(&a, &f, 4);
            number(&a, 20, 1);
        } else if (memchr(list, ',', len)) {
            for (const char *p = list + at + 1; p < list + len; p += strcspn(p, ", ") + 1) varint(&ints, (uint64_t)strtoll(p, NULL, 10));
            message(&a, 8, ints);
            number(&a, 20, 7);
        } else {
            number(&a, 3, (uint64_t)strtoll(list + at + 1, NULL, 10));
            number(&a, 20, 2);
        }
        message(n, 5, a);
        list += len + (list[len] == ' ');
    }
}

static void op(struct bytes *graph, const char *type, const char *in, const char *out, const char *attrs)
{
    struct bytes n = {0};
    names(&n, 1, in);
    names(&n, 2, out);
    text(&n, 4, type);
    attributes(&n, attrs);
    message(graph, 1, n);
}

static void port(struct bytes *graph, unsigned field, const char *name, unsigned element, const char *dims)
{
    struct bytes info = {0}, type = {0}, tensor = {0}, shape = {0};
    for (const char *p = dims; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
        struct bytes dim = {0}, symbol = {0};
        if (*p >= '0' && *p <= '9') {
            number(&dim, 1, (uint64_t)strtoll(p, NULL, 10));
        } else {
            put(&symbol, p, strcspn(p, ","));
            message(&dim, 2, symbol);
        }
        message(&shape, 1, dim);
    }
    number(&tensor, 1, element);
    message(&tensor, 2, shape);
    message(&type, 1, tensor);
    text(&info, 1, name);
    message(&info, 2, type);
    message(graph, field, info);
}

static void constant(struct bytes *graph, const char *name, unsigned element, const char *dims, const void *data, size_t bytes)
{
    struct bytes t = {0}, raw = {0};
    for (const char *p = dims; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) number(&t, 1, (uint64_t)strtoll(p, NULL, 10));
    number(&t, 2, element);
    text(&t, 8, name);
    put(&raw, data, bytes);
    message(&t, 9, raw);
    message(graph, 5, t);
}

static void scalar(struct bytes *graph, const char *name, float value)
{
    constant(graph, name, TN_EL_F32, "", &value, sizeof(value));
}

static void reals(struct bytes *graph, const char *name, const char *dims, size_t count, double low, double high, uint64_t *state)
{
    float *values = malloc((count + 1) * sizeof(*values));
    for (size_t i = 0; i < count; i++) values[i] = (float)test_uniform(state, low, high);
    constant(graph, name, TN_EL_F32, dims, values, count * sizeof(*values));
    free(values);
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

enum { OUTPUTS = 16, INPUTS = 2 };

struct given {
    uint32_t rank;
    int64_t dims[4];
    const float *values;
};

struct outcome {
    bool good;
    uint32_t nodes, count;
    char patches[512];
    size_t sizes[OUTPUTS];
    float *values[OUTPUTS];
    char types[512]; /* of the nodes that are left */
};

static void free_outcome(struct outcome *o)
{
    for (uint32_t k = 0; k < o->count; k++) free(o->values[k]);
}

static void note_graph(struct tn_model *model, struct outcome *o)
{
    struct tn_buf text_of;
    struct tn_json_writer w;
    tn_buf_init(&text_of, &alloc, 1 << 16);
    tn_jw_init(&w, &text_of, false);
    tn_net_patch_counts(model, &w);
    snprintf(o->patches, sizeof(o->patches), "%.*s", (int)text_of.len, text_of.data);
    tn_buf_release(&text_of);
    o->nodes = model->main->node_count;
    for (uint32_t i = 0; i < o->nodes; i++) {
        size_t at = strlen(o->types);
        snprintf(o->types + at, sizeof(o->types) - at, "%.*s ", TN_FMT_ARG(model->main->nodes[i].type));
    }
}

static void call(struct tn_program *program, struct tn_model *model, const struct given *in, struct outcome *o)
{
    struct tn_exec_context *c = NULL;
    struct tn_tensor *operands[INPUTS] = {NULL}, *out[OUTPUTS] = {NULL};
    if (tn_exec_context_new(program, &c, err)) return;
    for (uint32_t i = 0; i < model->main->input_count && i < INPUTS; i++) {
        operands[i] = tn_tensor_new(tn_exec_heap(c), TN_EL_F32, in[i].rank, in[i].dims);
        memcpy(operands[i]->data, in[i].values, operands[i]->bytes);
    }
    o->good = true;
    for (int again = 0; again < 2 && o->good; again++) { /* the second call remembers what the first has inferred */
        o->good = tn_exec_run(c, operands, out, NULL, NULL, err) == TN_OK;
        for (uint32_t k = 0; k < model->main->output_count && o->good; k++) {
            if (again) {
                CHECK(memcmp(o->values[k], out[k]->data, out[k]->bytes) == 0);
            } else {
                o->sizes[k] = (size_t)out[k]->count;
                o->values[k] = malloc(out[k]->bytes + 1);
                memcpy(o->values[k], out[k]->data, out[k]->bytes);
                o->count = k + 1;
            }
            tn_tensor_drop(out[k]);
        }
    }
    for (uint32_t i = 0; i < INPUTS; i++) tn_tensor_drop(operands[i]);
    tn_exec_context_free(c);
}

static void run_graph(const struct bytes *graph, const char *without, unsigned threads, const struct given *in, struct outcome *o)
{
    struct bytes m = {0}, inner = {0};
    struct tn_str holder;
    struct tn_onnx_view *view = NULL;
    struct tn_model *model = NULL;
    struct tn_program *program = NULL;
    struct tn_findings findings;
    *o = (struct outcome){.good = false};
    put(&inner, graph->data, graph->n);
    number(&m, 1, 9);
    opset(&m, "", 21);
    message(&m, 7, inner);
    struct tn_source source = tn_source_of_memory(m.data, m.n, TN_STR("m.onnx"), &holder);
    tn_findings_init(&findings, &alloc, 16);
    tn_error_clear(err);
    struct tn_program_options options = {.pool = pool, .threads = threads, .without = &without, .without_count = without != NULL};
    if (tn_onnx_view_open(&ctx, &source, &view, err) == TN_OK) tn_model_import(&ctx, NULL, &source, view, &findings, &model, err);
    if (model) tn_net_check(model, &findings);
    if (model && !findings.blockers && tn_net_infer(model, &findings, err) == TN_OK && !findings.blockers &&
        tn_program_new(model, &options, &program, err) == TN_OK) {
        note_graph(model, o);
        call(program, model, in, o);
    }
    if (!o->good) test_fail(__FILE__, __LINE__, "%s / %s", findings.count ? findings.items[0].message : "", err->primary.message);
    tn_program_free(program);
    tn_model_free(model);
    tn_findings_release(&findings);
    free(m.data);
}

/* Within the tolerance of a product in float32; what is not finite is the same kind of not finite. */
static bool alike(const struct outcome *a, const struct outcome *b, char *why, size_t cap)
{
    if (!a->good || !b->good || a->count != b->count) return false;
    for (uint32_t k = 0; k < a->count; k++) {
        double scale = 1;
        if (a->sizes[k] != b->sizes[k]) return false;
        for (size_t i = 0; i < a->sizes[k]; i++) {
            if (isfinite(a->values[k][i]) && fabs(a->values[k][i]) > scale) scale = fabs(a->values[k][i]);
        }
        for (size_t i = 0; i < a->sizes[k]; i++) {
            float x = a->values[k][i], y = b->values[k][i];
            if ((isnan(x) && isnan(y)) || x == y || fabs((double)x - y) <= 2e-5 * scale) continue;
            snprintf(why, cap, "output %u, element %zu: %.9g and %.9g", k, i, (double)x, (double)y);
            return false;
        }
    }
    return true;
}

static void begin(void)
{
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, 2, &pool) == TN_OK);
}

/* Runs the graph as written and rewritten: the same results, and these words in the record and among the operators. */
static void expect(struct bytes graph, const struct given *in, const char *patches, const char *types)
{
    struct outcome as_written, rewritten;
    char why[160] = "";
    run_graph(&graph, "all", 1, in, &as_written);
    run_graph(&graph, NULL, 1, in, &rewritten);
    if (!alike(&as_written, &rewritten, why, sizeof(why))) test_fail(__FILE__, __LINE__, "%s", why);
    CHECK_CONTAINS(rewritten.patches, patches);
    CHECK_STR(rewritten.types, types);
    CHECK_STR(as_written.patches, "{}");
    free_outcome(&as_written);
    free_outcome(&rewritten);
    free(graph.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static float numbers[4096];

static struct given image(uint64_t state, bool hostile)
{
    for (size_t i = 0; i < 4096; i++) {
        numbers[i] = (float)test_uniform(&state, -5, 5);
        if (hostile && i % 61 == 7) numbers[i] = (float[]){NAN, INFINITY, -INFINITY, -0.0f}[i % 4];
    }
    return (struct given){4, {2, 4, 5, 6}, numbers};
}

/* ---- one patch each ----------------------------------------------------------------------------------------------- */

TEST(a_batch_normalisation_goes_into_the_convolution)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,3,3", 108, -1, 1, &state);
    for (const char *p = "sbm"; *p; p++) reals(&g, (char[]){*p, 0}, "3", 3, -1, 1, &state);
    reals(&g, "v", "3", 3, 0.5, 2, &state);
    op(&g, "Conv", "x w", "c", "pads=1,1,1,1");
    op(&g, "BatchNormalization", "c s b m v", "n", "epsilon=0.01f");
    op(&g, "Relu", "n", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    /* What is computed once stays among the nodes; a call runs the convolution alone. */
    expect(g, &in, "\"affine\":1", "Add Sqrt Div Mul Sub Reshape Mul Conv ");
}

TEST(a_convolution_whose_result_is_read_elsewhere_stays)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,1,1", 12, -1, 1, &state);
    scalar(&g, "two", 2);
    op(&g, "Conv", "x w", "c", "");
    op(&g, "Mul", "c two", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    port(&g, 12, "c", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    expect(g, &in, "{}", "Conv Mul ");
}

TEST(an_addend_along_another_axis_is_no_bias)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    reals(&g, "w", "3,4,1,1", 12, -1, 1, &state);
    reals(&g, "a", "6", 6, -1, 1, &state);
    op(&g, "Conv", "x w", "c", "");
    op(&g, "Add", "c a", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,5,6");
    struct given in = image(2, false);
    expect(g, &in, "{}", "Conv Add ");
}

TEST(written_activations_are_found_in_symbolic_shapes)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "zero", 0);
    scalar(&g, "six", 6);
    op(&g, "Add", "x three", "a", "");
    op(&g, "Clip", "a zero six", "b", "");
    op(&g, "Mul", "x b", "c", "");
    op(&g, "Div", "c six", "d", "");
    op(&g, "Sigmoid", "d", "e", "");
    op(&g, "Mul", "d e", "y", "");
    port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
    port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
    struct given in = image(3, true);
    expect(g, &in, "\"written\":2", "HardSwish Swish ");
}

TEST(a_factor_and_an_addend_are_one_pass_when_they_are_numbers)
{
    struct bytes g = {0};
    uint64_t state = 4;
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "six", 6);
    reals(&g, "many", "5,1", 5, -1, 1, &state);
    op(&g, "Mul", "three x", "a", "");
    op(&g, "Add", "a six", "b", "");
    op(&g, "Mul", "b many", "c", "");
    op(&g, "Add", "c six", "y", "");
    port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
    port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
    struct given in = image(3, true);
    expect(g, &in, "\"written\":1", "Affine Mul Add ");
}

TEST(a_gate_with_other_bounds_is_none)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "three", 3);
    scalar(&g, "zero", 0);
    scalar(&g, "five", 5);
    scalar(&g, "six", 6);
    op(&g, "Add", "x three", "a", "");
    op(&g, "Clip", "a zero five", "b", "");
    op(&g, "Mul", "x b", "c", "");
    op(&g, "Div", "c six", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    struct given in = image(3, true);
    expect(g, &in, "{}", "Add Clip Mul Div ");
}

/* x - mean, over the root of its mean square, by a division or by a reciprocal; one or two differences. */
static void put_norm(struct bytes *g, bool reciprocal, bool twice)
{
    op(g, "ReduceMean", "x last", "m", "keepdims=1");
    op(g, "Sub", "x m", "d", "");
    if (twice) op(g, "Sub", "x m", "e", "");
    op(g, "Pow", twice ? "e two" : "d two", "p", "");
    op(g, "ReduceMean", "p last", "v", "");
    op(g, "Add", "v tiny", "t", "");
    op(g, "Sqrt", "t", "r", "");
    if (reciprocal) op(g, "Reciprocal", "r", "i", "");
    op(g, reciprocal ? "Mul" : "Div", reciprocal ? "i d" : "d r", "n", "");
    op(g, "Mul", "n s", "c", "");
    op(g, "Add", "b c", "y", "");
}

static void norm_constants(struct bytes *g, uint64_t *state)
{
    constant(g, "last", TN_EL_I64, "1", &(int64_t){-1}, 8);
    scalar(g, "two", 2);
    scalar(g, "tiny", 1e-5f);
    reals(g, "s", "6", 6, -1, 1, state);
    reals(g, "b", "6", 6, -1, 1, state);
    port(g, 11, "x", TN_EL_F32, "batch,4,h,6");
    port(g, 12, "y", TN_EL_F32, "batch,4,h,6");
}

TEST(a_written_normalisation_is_one_operator)
{
    for (int form = 0; form < 4; form++) {
        struct bytes g = {0};
        uint64_t state = 1;
        begin();
        put_norm(&g, form & 1, form & 2);
        norm_constants(&g, &state);
        struct given in = image(3, form == 3);
        expect(g, &in, "\"norm\":2", "LayerNormalization ");
    }
}

TEST(a_normalisation_whose_difference_is_read_elsewhere_keeps_it)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    put_norm(&g, false, false);
    norm_constants(&g, &state);
    port(&g, 12, "d", TN_EL_F32, "batch,4,h,6");
    struct given in = image(3, false);
    expect(g, &in, "\"norm\":2", "ReduceMean Sub LayerNormalization ");
}

TEST(the_square_of_another_difference_is_no_normalisation)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    op(&g, "ReduceMean", "x last", "m", "keepdims=1");
    op(&g, "Sub", "x m", "d", "");
    op(&g, "Pow", "x two", "p", "");
    op(&g, "ReduceMean", "p last", "v", "");
    op(&g, "Add", "v tiny", "t", "");
    op(&g, "Sqrt", "t", "r", "");
    op(&g, "Div", "d r", "n", "");
    op(&g, "Mul", "n s", "c", "");
    op(&g, "Add", "b c", "y", "");
    norm_constants(&g, &state);
    struct given in = image(3, false);
    expect(g, &in, "{}", "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add ");
}

TEST(written_gelu_is_found_in_any_order_of_products)
{
    static const char *const forms[] = {"erf", "cube", "square"};
    for (int form = 0; form < 3; form++) {
        struct bytes g = {0};
        begin();
        scalar(&g, "half", 0.5f);
        scalar(&g, "one", 1);
        scalar(&g, "root", 1.41421354f);
        scalar(&g, "three", 3);
        scalar(&g, "little", 0.044715f);
        scalar(&g, "slope", 0.797884583f);
        if (strcmp(forms[form], "erf") == 0) {
            op(&g, "Div", "x root", "u", "");
            op(&g, "Erf", "u", "f", "");
            op(&g, "Add", "f one", "a", "");
            op(&g, "Mul", "half a", "h", "");
            op(&g, "Mul", "h x", "y", "");
        } else if (strcmp(forms[form], "cube") == 0) {
            op(&g, "Pow", "x three", "c", "");
            op(&g, "Mul", "little c", "l", "");
            op(&g, "Add", "x l", "s", "");
            op(&g, "Mul", "s slope", "u", "");
            op(&g, "Tanh", "u", "f", "");
            op(&g, "Add", "one f", "a", "");
            op(&g, "Mul", "x a", "h", "");
            op(&g, "Mul", "h half", "y", "");
        } else {
            op(&g, "Mul", "x x", "q", "");
            op(&g, "Mul", "q little", "l", "");
            op(&g, "Add", "l one", "s", "");
            op(&g, "Mul", "x slope", "t", "");
            op(&g, "Mul", "t s", "u", "");
            op(&g, "Tanh", "u", "f", "");
            op(&g, "Add", "one f", "a", "");
            op(&g, "Mul", "x half", "h", "");
            op(&g, "Mul", "h a", "y", "");
        }
        port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
        port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
        struct given in = image(3, true);
        expect(g, &in, "\"gelu\":1", "Gelu ");
    }
}

/* Queries x, keys and values x too, heads of which lie side by side in each row. */
TEST(written_attention_is_one_operator_without_transpositions)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "factor", 0.3f);
    op(&g, "Transpose", "x", "q", "perm=0,2,1,3");
    op(&g, "Transpose", "x", "k", "perm=0,2,3,1");
    op(&g, "Transpose", "x", "v", "perm=0,2,1,3");
    op(&g, "MatMul", "q k", "s", "");
    op(&g, "Mul", "s factor", "f", "");
    op(&g, "Add", "f m", "a", "");
    op(&g, "Softmax", "a", "p", "axis=-1");
    op(&g, "MatMul", "p v", "o", "");
    op(&g, "Transpose", "o", "y", "perm=0,2,1,3");
    port(&g, 11, "x", TN_EL_F32, "batch,rows,5,6");
    port(&g, 11, "m", TN_EL_F32, "batch,1,1,rows");
    port(&g, 12, "y", TN_EL_F32, "batch,rows,5,6");
    static const float mask[] = {0, -1, -INFINITY, 0.5f, 0, 0, 2, -3e38f};
    for (int hostile = 0; hostile < 2; hostile++) {
        struct given in[2] = {image(5, hostile), {4, {2, 1, 1, 4}, mask}};
        struct bytes copy = {0};
        put(&copy, g.data, g.n);
        if (hostile) begin();
        expect(copy, in, "\"attend\":2", "Attend ");
    }
    free(g.data);
}

TEST(attention_over_batches_and_heads_in_one_dimension_gives_its_probabilities_too)
{
    struct bytes g = {0};
    begin();
    constant(&g, "merged", TN_EL_I64, "3", (int64_t[]){8, 5, 6}, 24);
    constant(&g, "weights", TN_EL_I64, "4", (int64_t[]){2, 4, 5, 5}, 32);
    constant(&g, "again", TN_EL_I64, "3", (int64_t[]){8, 5, 5}, 24);
    constant(&g, "parted", TN_EL_I64, "4", (int64_t[]){2, 4, 5, 6}, 32);
    op(&g, "Reshape", "x merged", "q", "");
    op(&g, "Reshape", "x merged", "k", "");
    op(&g, "Transpose", "k", "t", "perm=0,2,1");
    op(&g, "MatMul", "q t", "s", "");
    op(&g, "Softmax", "s", "p", "axis=2");
    op(&g, "Reshape", "p weights", "w", "");
    op(&g, "Relu", "w", "z", "");
    op(&g, "Reshape", "w again", "p2", "");
    op(&g, "Reshape", "x merged", "v", "");
    op(&g, "MatMul", "p2 v", "o", "");
    op(&g, "Reshape", "o parted", "h", "");
    op(&g, "Transpose", "h", "y", "perm=0,2,1,3");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,5,4,6");
    port(&g, 12, "w", TN_EL_F32, "2,4,5,5");
    port(&g, 12, "z", TN_EL_F32, "2,4,5,5");
    struct given in = image(5, false);
    expect(g, &in, "\"attend\":3", "Attend Reshape Relu ");
}

TEST(scores_that_are_read_elsewhere_are_no_attention)
{
    struct bytes g = {0};
    begin();
    op(&g, "Transpose", "x", "k", "perm=0,1,3,2");
    op(&g, "MatMul", "x k", "s", "");
    op(&g, "Softmax", "s", "p", "axis=-1");
    op(&g, "MatMul", "p x", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "s", TN_EL_F32, "2,4,5,5");
    struct given in = image(5, false);
    expect(g, &in, "{}", "Transpose MatMul Softmax MatMul ");
}

TEST(a_large_table_of_bytes_is_read_as_it_lies)
{
    enum { ROWS = 4096, WIDTH = 257 };
    static uint8_t table[ROWS * WIDTH];
    static float each[ROWS];
    static float rows[20 * WIDTH];
    uint64_t state = 9;
    for (size_t i = 0; i < sizeof(table); i++) table[i] = (uint8_t)test_random(&state);
    for (size_t i = 0; i < ROWS; i++) each[i] = (float)test_uniform(&state, 0.001, 0.01);
    for (size_t i = 0; i < 20 * WIDTH; i++) rows[i] = (float)test_uniform(&state, -1, 1);
    for (int form = 0; form < 4; form++) {
        struct bytes g = {0};
        begin();
        constant(&g, "t", TN_EL_U8, "4096,257", table, sizeof(table));
        if (form & 1) {
            constant(&g, "z", TN_EL_U8, "", &(uint8_t){127}, 1);
            scalar(&g, "s", 0.01f);
            op(&g, "Transpose", "t", "u", "perm=1,0");
            op(&g, "DequantizeLinear", "u s z", "w", "");
        } else {
            constant(&g, "s", TN_EL_F32, "4096", each, sizeof(each));
            op(&g, "DequantizeLinear", "t s", "u", "axis=0");
            op(&g, "Transpose", "u", "w", "perm=1,0");
        }
        op(&g, "MatMul", "x w", "y", "");
        port(&g, 11, "x", TN_EL_F32, "rows,257");
        port(&g, 12, "y", TN_EL_F32, "rows,4096");
        struct given in = {2, {form & 2 ? 20 : 1, WIDTH}, rows};
        expect(g, &in, "\"table\":1", "TableProduct ");
    }
}

TEST(an_identity_between_input_and_output_keeps_both)
{
    struct bytes g = {0};
    begin();
    op(&g, "Identity", "x", "y", "");
    op(&g, "Transpose", "x", "t", "perm=0,1,3,2");
    op(&g, "Transpose", "t", "z", "perm=0,1,3,2");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "z", TN_EL_F32, "2,4,5,6");
    struct given in = image(3, true);
    expect(g, &in, "\"identity\":2,\"pairs\":1", "");
}

TEST(an_unknown_patch_is_refused)
{
    struct tn_model model = {.ctx = &ctx};
    const char *name = "nothing of this name";
    tn_alloc_init(&alloc);
    tn_arena_init(&model.arena, &alloc);
    CHECK_INT(tn_net_patch(&model, &name, 1, err), TN_INVALID_REQUEST);
    CHECK_STR(err->primary.found, name);
    tn_arena_release(&model.arena);
}

/* ---- generated ---------------------------------------------------------------------------------------------------- */

enum { GRAPHS = 2000, CHANNELS = 4 };

struct generating {
    struct bytes g;
    uint64_t state;
    int values; /* v0 is the input; all of one shape */
    int constants, rows;
};

static int below(struct generating *s, int n)
{
    return (int)(test_random(&s->state) % (uint64_t)n);
}

/* A value made before, recent ones rather. */
static int pick(struct generating *s)
{
    int back = below(s, 2) ? 1 : 1 + below(s, s->values);
    return s->values - back;
}

static void emit(struct generating *s, const char *type, const char *in, const char *attrs)
{
    char out[16];
    snprintf(out, sizeof(out), "v%d", s->values++);
    op(&s->g, type, in, out, attrs);
}

/* A value of another shape, w0, w1 ... */
static void emit_row(struct generating *s, const char *type, const char *in, const char *attrs)
{
    char out[16];
    snprintf(out, sizeof(out), "w%d", s->rows++);
    op(&s->g, type, in, out, attrs);
}

static void emit_product(struct generating *s)
{
    char in[64], bias[16] = "", weights[16];
    bool wide = below(s, 2);
    snprintf(weights, sizeof(weights), "k%d", s->constants++);
    reals(&s->g, weights, wide ? "4,4,3,3" : "4,4,1,1", wide ? 144 : 16, -0.4, 0.4, &s->state);
    if (below(s, 2)) {
        snprintf(bias, sizeof(bias), " k%d", s->constants++);
        reals(&s->g, bias + 1, "4", 4, -1, 1, &s->state);
    }
    snprintf(in, sizeof(in), "v%d %s%s", pick(s), weights, bias);
    emit(s, "Conv", in, wide ? "pads=1,1,1,1" : "");
}

static void emit_normalisation(struct generating *s)
{
    char in[64];
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof(name), "k%d", s->constants + i);
        reals(&s->g, name, "4", CHANNELS, i == 3 ? 0.5 : -1, i == 3 ? 2 : 1, &s->state);
    }
    snprintf(in, sizeof(in), "v%d k%d k%d k%d k%d", s->values - 1, s->constants, s->constants + 1, s->constants + 2, s->constants + 3);
    s->constants += 4;
    emit(s, "BatchNormalization", in, "");
}

static void emit_constant_pair(struct generating *s, const char *type)
{
    static const char *const dims[] = {"", "1", "1,4,1,1", "4,1,1", "6", "6,1"};
    static const int counts[] = {1, 1, 4, 4, 6, 6};
    char name[16], in[64];
    int which = below(s, 6), x = pick(s);
    snprintf(name, sizeof(name), "k%d", s->constants++);
    reals(&s->g, name, dims[which], (size_t)counts[which], 0.5, 2, &s->state);
    if (below(s, 2) && strcmp(type, "Div") != 0) snprintf(in, sizeof(in), "%s v%d", name, x);
    else snprintf(in, sizeof(in), "v%d %s", x, name);
    emit(s, type, in, "");
}

static void emit_gate(struct generating *s)
{
    char in[64];
    int x = pick(s);
    snprintf(in, sizeof(in), "v%d three", x);
    emit(s, "Add", in, "");
    snprintf(in, sizeof(in), "v%d zero six", s->values - 1);
    emit(s, "Clip", in, "");
    bool late = below(s, 2);
    snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
    if (late) emit(s, "Mul", in, "");
    snprintf(in, sizeof(in), "v%d six", s->values - 1);
    emit(s, "Div", in, "");
    snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
    if (!late) emit(s, "Mul", in, "");
}

/* One of the values is read twice and a shape of one element more than the norm needs may come in between. */
static void emit_norm(struct generating *s)
{
    char in[64];
    int x = pick(s), difference;
    snprintf(in, sizeof(in), "v%d last", x);
    emit_row(s, "ReduceMean", in, "");
    snprintf(in, sizeof(in), "v%d w%d", x, s->rows - 1);
    difference = s->values;
    emit(s, "Sub", in, "");
    snprintf(in, sizeof(in), below(s, 2) ? "v%d two" : "v%d v%d", difference, difference);
    emit(s, strstr(in, "two") ? "Pow" : "Mul", in, "");
    snprintf(in, sizeof(in), "v%d last", s->values - 1);
    emit_row(s, "ReduceMean", in, "");
    snprintf(in, sizeof(in), "w%d tiny", s->rows - 1);
    emit_row(s, "Add", in, "");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit_row(s, "Sqrt", in, "");
    snprintf(in, sizeof(in), "v%d w%d", difference, s->rows - 1);
    emit(s, "Div", in, "");
    for (int i = 0; i < 2; i++) {
        snprintf(in, sizeof(in), "v%d k%d", s->values - 1, s->constants);
        reals(&s->g, in + strcspn(in, "k"), below(s, 4) ? "6" : "6,1", 6, -1, 1, &s->state);
        s->constants++;
        emit(s, i ? "Add" : "Mul", in, "");
    }
}

/* A value through other heads and back, so that patches that cancel pairs leave both transpositions. */
static int emit_turned(struct generating *s, int x)
{
    char in[64];
    snprintf(in, sizeof(in), "v%d", x);
    emit_row(s, "Transpose", in, "perm=0,2,1,3");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit_row(s, "Relu", in, "");
    snprintf(in, sizeof(in), "w%d", s->rows - 1);
    emit(s, "Transpose", in, "perm=0,2,1,3");
    return s->values - 1;
}

static void emit_attention(struct generating *s)
{
    char in[64];
    int q = pick(s), k = pick(s), v = pick(s), mask = pick(s);
    if (below(s, 2)) q = emit_turned(s, q);
    if (below(s, 2)) v = emit_turned(s, v);
    snprintf(in, sizeof(in), "v%d half", q);
    if (below(s, 3) == 0) emit(s, "Mul", in, "");
    if (below(s, 3) == 0) q = s->values - 1;
    snprintf(in, sizeof(in), "v%d", k);
    emit(s, "Transpose", in, "perm=0,1,3,2");
    snprintf(in, sizeof(in), "v%d v%d", q, s->values - 1);
    emit(s, "MatMul", in, "");
    snprintf(in, sizeof(in), "v%d three", s->values - 1);
    if (below(s, 2)) emit(s, "Div", in, "");
    snprintf(in, sizeof(in), "v%d v%d", s->values - 1, mask);
    if (below(s, 3) == 0) emit(s, "Add", in, "");
    snprintf(in, sizeof(in), "v%d", s->values - 1);
    emit(s, "Softmax", in, "axis=3");
    snprintf(in, sizeof(in), "v%d v%d", s->values - 1, v);
    emit(s, "MatMul", in, "");
    if (below(s, 2)) emit_turned(s, s->values - 1);
}

static void emit_gelu(struct generating *s)
{
    char in[64];
    int x = pick(s);
    bool by_tanh = below(s, 2), early = below(s, 2);
    snprintf(in, sizeof(in), by_tanh ? "v%d three" : "v%d root", x);
    emit(s, by_tanh ? "Pow" : "Div", in, "");
    if (by_tanh) {
        snprintf(in, sizeof(in), "v%d little", s->values - 1);
        emit(s, "Mul", in, "");
        snprintf(in, sizeof(in), "v%d v%d", x, s->values - 1);
        emit(s, "Add", in, "");
        snprintf(in, sizeof(in), "slope v%d", s->values - 1);
        emit(s, "Mul", in, "");
    }
    snprintf(in, sizeof(in), "v%d", s->values - 1);
    emit(s, by_tanh ? "Tanh" : "Erf", in, "");
    snprintf(in, sizeof(in), "one v%d", s->values - 1);
    emit(s, "Add", in, "");
    snprintf(in, sizeof(in), early ? "v%d half" : "v%d v%d", s->values - 1, x);
    emit(s, "Mul", in, "");
    snprintf(in, sizeof(in), early ? "v%d v%d" : "v%d half", s->values - 1, x);
    emit(s, "Mul", in, "");
}

static void emit_any(struct generating *s)
{
    static const struct {
        const char *type, *attrs;
    } unary[] = {{"Relu", ""}, {"Tanh", ""}, {"HardSigmoid", "alpha=0.3f"}, {"LeakyRelu", "alpha=0.2f"}, {"Identity", ""}, {"Dropout", ""},
                 {"HardSwish", ""}, {"Abs", ""}, {"Neg", ""}, {"Sigmoid", ""}};
    static const char *const binary[] = {"Add", "Mul", "Sub", "Max"};
    char in[64];
    snprintf(in, sizeof(in), "v%d", pick(s));
    switch (below(s, 13)) {
    case 0:
    case 1: emit_product(s); return;
    case 2: emit_normalisation(s); return;
    case 3: emit_constant_pair(s, (const char *[]){"Add", "Mul", "Div", "Sub"}[below(s, 4)]); return;
    case 4: emit_gate(s); return;
    case 9: emit_norm(s); return;
    case 10: emit_gelu(s); return;
    case 11:
    case 12: emit_attention(s); return;
    case 5:
        emit(s, "Transpose", in, "perm=0,1,3,2");
        snprintf(in, sizeof(in), "v%d", s->values - 1);
        emit(s, "Transpose", in, "perm=0,1,3,2");
        return;
    case 6:
        snprintf(in, sizeof(in), "v%d v%d", pick(s), s->values - 1);
        emit(s, binary[below(s, 4)], in, "");
        return;
    default: {
        int which = below(s, 10);
        emit(s, unary[which].type, in, unary[which].attrs);
    }
    }
}

/* Squares: a transposition keeps the shape, and values of one shape fit everywhere. */
static struct bytes generate(uint64_t seed)
{
    struct generating s = {.state = seed * 7919 + 1, .values = 1};
    int wanted = 3 + below(&s, 12), outputs = 1;
    scalar(&s.g, "zero", 0);
    scalar(&s.g, "three", 3);
    scalar(&s.g, "six", 6);
    scalar(&s.g, "one", 1);
    scalar(&s.g, "two", 2);
    scalar(&s.g, "half", 0.5f);
    scalar(&s.g, "tiny", 1e-3f);
    scalar(&s.g, "root", 1.41421354f);
    scalar(&s.g, "little", 0.044715f);
    scalar(&s.g, "slope", 0.797884583f);
    constant(&s.g, "last", TN_EL_I64, "1", &(int64_t){-1}, 8);
    port(&s.g, 11, "v0", TN_EL_F32, seed % 2 ? "2,4,6,6" : "n,4,s,s");
    while (s.values < wanted) emit_any(&s);
    for (int v = 1; v < s.values && outputs < OUTPUTS; v++) {
        char name[16];
        snprintf(name, sizeof(name), "v%d", v);
        if (v + 1 < s.values && below(&s, 5)) continue;
        port(&s.g, 12, name, TN_EL_F32, "a,b,c,d");
        outputs++;
    }
    return s.g;
}

TEST(generated_graphs_compute_the_same_with_and_without_patches)
{
    size_t patches;
    const struct tn_patch *list = tn_patches(&patches);
    static const char *const forms[] = {"\"norm\"", "\"gelu\"", "\"attend\"", "\"affine\"", "\"activation\""};
    enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
    unsigned applied = 0, failures = 0, found[FORMS] = {0};
    begin();
    for (uint64_t seed = 0; seed < GRAPHS && failures < 5; seed++) {
        struct bytes g = generate(seed);
        struct outcome plain, whole, two, one;
        char why[160] = "";
        struct given in = image(seed, seed % 4 == 3);
        in.dims[2] = in.dims[3] = 6;
        run_graph(&g, "all", 1, &in, &plain);
        run_graph(&g, NULL, 1, &in, &whole);
        run_graph(&g, NULL, 2, &in, &two);
        run_graph(&g, list[seed % patches].name, 1, &in, &one);
        applied += strcmp(whole.patches, "{}") != 0;
        for (int k = 0; k < FORMS; k++) found[k] += strstr(whole.patches, forms[k]) != NULL;
        bool good = alike(&plain, &whole, why, sizeof(why)) && alike(&plain, &one, why, sizeof(why));
        for (uint32_t k = 0; k < whole.count && good; k++) good = memcmp(whole.values[k], two.values[k], whole.sizes[k] * sizeof(float)) == 0;
        if (!good) {
            failures++;
            test_fail(__FILE__, __LINE__, "graph %d: %s %s: %s -> %s", (int)seed, whole.patches, why, plain.types, whole.types);
        }
        free_outcome(&plain);
        free_outcome(&whole);
        free_outcome(&two);
        free_outcome(&one);
        free(g.data);
    }
    CHECK(applied > GRAPHS / 2);
    for (int k = 0; k < FORMS; k++) CHECK(found[k] > GRAPHS / 40); /* each form has been there */
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
