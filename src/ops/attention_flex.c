/*
 * FlexAttention: attention whose scores and probabilities pass through graphs of the package. With neither graph it is
 * plain attention; otherwise all scores stand in one tensor, of the type that softmax_precision names.
 */
#include "ops/attention.h"
#include "ops/gemm.h"

#include <math.h>

enum { Q, K, V };

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

/* The type of scores: stated, or float32, of float64 operands float64. */
static enum tn_element precision(const struct tn_node *node, enum tn_element e)
{
    return (enum tn_element)tn_attr_int(node, "softmax_precision", e == TN_EL_F64 ? TN_EL_F64 : TN_EL_F32);
}

static const char *lacks_flex(const struct tn_node *node)
{
    int64_t p = tn_attr_int(node, "softmax_precision", TN_EL_F32);
    return p > 0 && p < TN_EL_COUNT && tn_elements_have(TN_ELS_FLOAT, (enum tn_element)p) ? NULL : "softmax_precision";
}

/* A graph takes the scores and gives them back, of the same type and shape. */
static bool check_graph(struct tn_infer *t, const char *name, const struct tn_type *scores)
{
    const struct tn_net *net = tn_attr_graph(t->node, name);
    const struct tn_type *out = NULL;
    if (!net || t->running) return true;
    if (net->input_count != 1 || net->output_count != 1)
        return tn_infer_refuse(t, "graphs of one input and one output", "%u and %u", net->input_count, net->output_count);
    if (!t->graph(t, net, &scores, &out)) return false;
    if (!out || out->kind == TN_KIND_NONE || (out->kind == TN_KIND_TENSOR && (!out->element || out->element == scores->element))) return true;
    return tn_infer_refuse(t, "a graph that keeps the type of the scores", "%s", tn_onnx_element_name(out->element));
}

static bool infer_flex(struct tn_infer *t)
{
    const struct tn_shape *q, *k, *v;
    const struct tn_type *type = tn_in_type(t, Q);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    struct tn_type scores = {.kind = TN_KIND_TENSOR, .element = precision(t->node, e)};
    tn_out_unknown(t, 0, e);
    if (tn_in_shape(t, Q, &q) && tn_in_shape(t, K, &k) && tn_in_shape(t, V, &v)) {
        if (q->rank != 4 || k->rank != 4 || v->rank != 4) return tn_infer_refuse(t, "rank 4", "ranks %u, %u, %u", q->rank, k->rank, v->rank);
        if (differ(q->dims[0], k->dims[0]) || differ(q->dims[0], v->dims[0]) || differ(k->dims[1], v->dims[1]) || differ(k->dims[2], v->dims[2]) ||
            differ(q->dims[3], k->dims[3]))
            return tn_infer_refuse(t, "queries, keys and values that agree", "other batches, heads, rows or sizes");
        if (tn_dim_known(q->dims[1]) && tn_dim_known(k->dims[1]) && (k->dims[1] == 0 || q->dims[1] % k->dims[1] != 0))
            return tn_infer_refuse(t, "key heads that divide the query heads", "%lld of %lld", (long long)k->dims[1], (long long)q->dims[1]);
        tn_out_tensor(t, 0, e, 4, (tn_dim_t[]){q->dims[0], q->dims[1], q->dims[2], v->dims[3]});
        scores.shape = (struct tn_shape){.known = true, .rank = 4, .dims = {q->dims[0], q->dims[1], q->dims[2], k->dims[2]}};
    }
    return check_graph(t, "score_mod", &scores) && check_graph(t, "prob_mod", &scores);
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

/* Runs a graph over *t, which is replaced; nothing without a graph. */
static bool modify(struct tn_run *r, const char *name, struct tn_tensor **t)
{
    const struct tn_net *net = tn_attr_graph(r->node, name);
    struct tn_tensor *out = NULL;
    if (!net) return true;
    bool good = r->graph(r, net, t, 1, &out, 1), same = good && out && out->kind == TN_KIND_TENSOR && out->element == (*t)->element && out->rank == 4;
    for (uint32_t i = 0; same && i < 4; i++) same = out->dims[i] == (*t)->dims[i];
    if (good && !same) good = tn_run_refuse(r, "a graph that keeps the type and shape of the scores", "another");
    tn_tensor_drop(*t);
    *t = out;
    return good;
}

/* Rows of n numbers, in place. */
static void softmax_rows(void *rows, uint64_t count, uint64_t n, bool wide)
{
    enum tn_element e = wide ? TN_EL_F64 : TN_EL_F32;
    for (uint64_t i = 0; i < count; i++) {
        double most = -INFINITY, sum = 0;
        for (uint64_t k = 0; k < n; k++) {
            double v = tn_element_get(e, rows, i * n + k);
            if (!(v <= most)) most = v;
        }
        for (uint64_t k = 0; k < n; k++) {
            double v = exp(tn_element_get(e, rows, i * n + k) - most);
            sum += v;
            tn_element_set(e, rows, i * n + k, v, false);
        }
        for (uint64_t k = 0; k < n; k++) tn_element_set(e, rows, i * n + k, tn_element_get(e, rows, i * n + k) / sum, false);
    }
}

/* A tensor of the scores' type from numbers of the type that computes. */
static struct tn_tensor *tensor_of(struct tn_run *r, const int64_t *dims, enum tn_element e, const void *from, bool wide)
{
    struct tn_tensor *t = tn_tensor_new(r->heap, e, 4, dims);
    for (uint64_t i = 0; t && i < t->count; i++) tn_element_set(e, t->data, i, tn_element_get(wide ? TN_EL_F64 : TN_EL_F32, from, i), false);
    if (!t) tn_run_no_memory(r);
    return t;
}

static void numbers_of(const struct tn_tensor *t, void *to, bool wide)
{
    for (uint64_t i = 0; i < t->count; i++) tn_element_set(wide ? TN_EL_F64 : TN_EL_F32, to, i, tn_element_get(t->element, t->data, i), false);
}

/* y = probabilities times values, head by head. */
static bool weigh(struct tn_run *r, const struct tn_attention *a, const void *p, bool wide)
{
    uint64_t heads = a->batch * a->q_heads, group = a->q_heads / a->kv_heads;
    for (uint64_t h = 0; h < heads; h++) {
        uint64_t from = h * a->q_rows * a->kv_rows, to = h * a->q_rows * a->v_size;
        uint64_t v = (h / a->q_heads * a->kv_heads + h % a->q_heads / group) * a->kv_rows * a->v_size;
        struct tn_gemm g = {.m = a->q_rows, .n = a->v_size, .k = a->kv_rows, .a_row = a->kv_rows, .b_k = a->v_size, .b_n = 1, .c_row = a->v_size};
        if (!wide) {
            g.a = (const float *)p + from;
            g.b = (const float *)a->v + v;
            g.c = (float *)a->y + to;
            if (!tn_gemm_team(r, &g)) return false;
            continue;
        }
        for (uint64_t i = 0; i < g.m * g.n; i++) {
            double sum = 0;
            for (uint64_t k = 0; k < g.k; k++) sum += ((const double *)p)[from + i / g.n * g.k + k] * ((const double *)a->v)[v + k * g.n + i % g.n];
            ((double *)a->y)[to + i] = sum;
        }
    }
    return true;
}

static bool with_graphs(struct tn_run *r, struct tn_attention *a, struct tn_reals *reals, enum tn_element e)
{
    int64_t dims[4] = {(int64_t)a->batch, (int64_t)a->q_heads, (int64_t)a->q_rows, (int64_t)a->kv_rows};
    uint64_t count;
    void *y = a->y;
    if (!tn_shape_count(dims, 4, &count)) return tn_run_no_memory(r);
    a->y = NULL;
    a->scores = tn_reals_scratch(reals, count);
    if (!a->scores || !tn_attention_run(r, a, reals->wide)) return false;
    struct tn_tensor *t = tensor_of(r, dims, e, a->scores, reals->wide);
    bool good = t && modify(r, "score_mod", &t);
    if (good) {
        numbers_of(t, a->scores, reals->wide);
        softmax_rows(a->scores, a->batch * a->q_heads * a->q_rows, a->kv_rows, reals->wide);
        tn_tensor_drop(t);
        t = tensor_of(r, dims, e, a->scores, reals->wide);
        good = t && modify(r, "prob_mod", &t);
    }
    if (good) {
        numbers_of(t, a->scores, reals->wide);
        a->y = y;
        good = weigh(r, a, a->scores, reals->wide);
    }
    tn_tensor_drop(t);
    return good;
}

static bool run_flex(struct tn_run *r)
{
    const struct tn_tensor *q = r->in[Q], *k = r->in[K], *v = r->in[V];
    struct tn_reals reals;
    enum tn_element e = precision(r->node, q->element);
    struct tn_attention a = {.batch = (uint64_t)q->dims[0], .q_heads = (uint64_t)q->dims[1], .kv_heads = (uint64_t)k->dims[1],
                             .q_rows = (uint64_t)q->dims[2], .kv_rows = (uint64_t)k->dims[2], .size = (uint64_t)q->dims[3],
                             .v_size = (uint64_t)v->dims[3], .left = -1, .right = -1};
    if (!tn_run_shaped(r)) return false;
    if (r->out[0]->count == 0) return true;
    a.q_at = (struct tn_heads){a.q_heads * a.q_rows * a.size, a.q_rows * a.size, a.size};
    a.k_at = (struct tn_heads){a.kv_heads * a.kv_rows * a.size, a.kv_rows * a.size, a.size};
    a.v_at = (struct tn_heads){a.kv_heads * a.kv_rows * a.v_size, a.kv_rows * a.v_size, a.v_size};
    a.y_at = (struct tn_heads){a.q_heads * a.q_rows * a.v_size, a.q_rows * a.v_size, a.v_size};
    a.scale = tn_node_attr(r->node, "scale") ? tn_attr_float(r->node, "scale", 1) : 1 / sqrt((double)a.size);
    tn_reals_begin(&reals, r, e == TN_EL_F64 ? e : q->element);
    a.q = tn_reals_in(&reals, Q);
    a.k = tn_reals_in(&reals, K);
    a.v = tn_reals_in(&reals, V);
    a.y = tn_reals_out(&reals, 0);
    bool graphs = tn_attr_graph(r->node, "score_mod") || tn_attr_graph(r->node, "prob_mod");
    bool good = tn_reals_good(&reals) && (graphs ? with_graphs(r, &a, &reals, e) : tn_attention_run(r, &a, reals.wide));
    return tn_reals_end(&reals) && good;
}

static const struct tn_operator rows[] = {
    {.domain = "ai.onnx.preview", .name = "FlexAttention", .since = 1, .infer = infer_flex, .run = run_flex, .lacks = lacks_flex},
};

const struct tn_operators tn_ops_attention_flex = {rows, sizeof(rows) / sizeof(rows[0])};
