/* Graphs that tests of the executor write by hand, and running them as they are written and rewritten. */
#ifndef TN_EXEC_GRAPHS_H
#define TN_EXEC_GRAPHS_H

#include "onnx_util.h"

#include "exec/patch.h"
#include "net/check.h"

/* ---- graphs by hand ----------------------------------------------------------------------------------------------- */

static struct tn_pool *pool;

/* By spaces; _ is one that is absent. */
static inline void names(struct bytes *b, unsigned field, const char *list)
{
    while (*list) {
        struct bytes inner = {0};
        size_t n = strcspn(list, " ");
        if (n != 1 || *list != '_') put(&inner, list, n);
        message(b, field, inner);
        list += n + (list[n] == ' ');
    }
}

/* Attributes as "alpha=0.5f perm=0,2,1 axis=1 mode=nearest". */
static inline void attributes(struct bytes *n, const char *list)
{
    while (*list) {
        struct bytes a = {0}, name = {0}, ints = {0}, word = {0};
        size_t at = strcspn(list, "="), len = strcspn(list, " ");
        put(&name, list, at);
        message(&a, 1, name);
        if ((list[at + 1] | 32) >= 'a' && (list[at + 1] | 32) <= 'z') {
            put(&word, list + at + 1, len - at - 1);
            message(&a, 4, word);
            number(&a, 20, 3);
        } else if (list[len - 1] == 'f') {
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

static inline void op_of(struct bytes *graph, const char *domain, const char *type, const char *in, const char *out, const char *attrs)
{
    struct bytes n = {0};
    names(&n, 1, in);
    names(&n, 2, out);
    text(&n, 4, type);
    attributes(&n, attrs);
    text(&n, 7, domain);
    message(graph, 1, n);
}

static inline void op(struct bytes *graph, const char *type, const char *in, const char *out, const char *attrs)
{
    op_of(graph, "", type, in, out, attrs);
}

static inline void port(struct bytes *graph, unsigned field, const char *name, unsigned element, const char *dims)
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

static inline void constant(struct bytes *graph, const char *name, unsigned element, const char *dims, const void *data, size_t bytes)
{
    struct bytes t = {0}, raw = {0};
    for (const char *p = dims; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) number(&t, 1, (uint64_t)strtoll(p, NULL, 10));
    number(&t, 2, element);
    text(&t, 8, name);
    put(&raw, data, bytes);
    message(&t, 9, raw);
    message(graph, 5, t);
}

static inline void scalar(struct bytes *graph, const char *name, float value)
{
    constant(graph, name, TN_EL_F32, "", &value, sizeof(value));
}

static inline void reals(struct bytes *graph, const char *name, const char *dims, size_t count, double low, double high, uint64_t *state)
{
    float *values = malloc((count + 1) * sizeof(*values));
    for (size_t i = 0; i < count; i++) values[i] = (float)test_uniform(state, low, high);
    constant(graph, name, TN_EL_F32, dims, values, count * sizeof(*values));
    free(values);
}

static inline void codes(struct bytes *graph, const char *name, unsigned element, const char *dims, size_t count, uint64_t *state)
{
    uint8_t values[256];
    for (size_t i = 0; i < count; i++) values[i] = (uint8_t)test_random(state);
    constant(graph, name, element, dims, values, count);
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

static inline void free_outcome(struct outcome *o)
{
    for (uint32_t k = 0; k < o->count; k++) free(o->values[k]);
}

static inline void note_graph(struct tn_model *model, struct outcome *o)
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

static inline void call(struct tn_program *program, struct tn_model *model, const struct given *in, struct outcome *o)
{
    struct tn_exec_context *c = NULL;
    struct tn_tensor *operands[INPUTS] = {NULL}, *out[OUTPUTS] = {NULL};
    if (tn_exec_context_new(program, 0, &c, err)) return;
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

static inline void run_graph(const struct bytes *graph, const char *without, unsigned threads, const struct given *in, struct outcome *o)
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
    opset(&m, "com.microsoft", 1);
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
static inline bool alike(const struct outcome *a, const struct outcome *b, char *why, size_t cap)
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

static inline void begin(void)
{
    tn_alloc_init(&alloc);
    REQUIRE(tn_pool_new(&alloc, 2, &pool) == TN_OK);
}

/* Runs the graph as written and rewritten: the same results, and these words in the record and among the operators. */
static inline void expect(struct bytes graph, const struct given *in, const char *patches, const char *types)
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

enum { NUMBERS = 1 << 15 }; /* as many as the largest picture has */
static float numbers[NUMBERS];

static inline struct given image(uint64_t state, bool hostile)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        numbers[i] = (float)test_uniform(&state, -5, 5);
        if (hostile && i % 61 == 7) numbers[i] = (float[]){NAN, INFINITY, -INFINITY, -0.0f}[i % 4];
    }
    return (struct given){4, {2, 4, 5, 6}, numbers};
}

#endif
