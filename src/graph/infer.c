/*
 * Shape inference: walks the operators once, computes the output of each from its operands and weights, and checks all
 * relations. What passes here can be executed without another look at a shape.
 */
#include "graph/graph.h"

#include "base/checked.h"

struct inference {
    struct tn_graph *g;
    const struct tn_op *op;
    struct tn_error *err;
};

static enum tn_status mismatch(const struct inference *in, const char *what, uint64_t found, uint64_t expected)
{
    struct tn_finding *f = tn_error_set(in->err, TN_TENSOR_MISMATCH, TN_PHASE_ASSESS, "%s of operator \"%.*s\" does not fit",
                                        what, TN_FMT_ARG(in->op->name));
    tn_at_element(f, TN_ELEMENT_OPERATOR, in->op->name);
    tn_found(f, "%llu", (unsigned long long)found);
    tn_expected(f, "%llu", (unsigned long long)expected);
    tn_remedy(f, "the configuration and the weights belong to different models");
    return TN_TENSOR_MISMATCH;
}

static const struct tn_graph_value *operand(const struct inference *in, unsigned i)
{
    uint32_t v = in->op->in[i];
    return v < in->g->value_count ? &in->g->values[v] : NULL;
}

static const struct tn_tensor_info *weight(const struct inference *in, uint32_t index)
{
    return index < in->g->weight_count ? in->g->weights[index].tensor : NULL;
}

static enum tn_status set_output(const struct inference *in, enum tn_dim dim, uint64_t width)
{
    in->g->values[in->op->out] = (struct tn_graph_value){.dim = dim, .width = width};
    return width ? TN_OK : mismatch(in, "the width", 0, 1);
}

/* As many rows as x, whatever counts them. */
static enum tn_status set_like(const struct inference *in, const struct tn_graph_value *x, uint64_t width)
{
    uint64_t rows = x->rows;
    enum tn_status status = set_output(in, x->dim, width);
    in->g->values[in->op->out].rows = rows;
    return status;
}

static bool same_rows(const struct tn_graph_value *a, const struct tn_graph_value *b)
{
    return a->dim == b->dim && a->rows == b->rows;
}

/* A vector operand of the given length; absent ones (TN_NO_WEIGHT) are fine. */
static enum tn_status check_vector(const struct inference *in, uint32_t index, uint64_t length, const char *what)
{
    const struct tn_tensor_info *t = weight(in, index);
    if (!t) return TN_OK;
    if (t->rank != 1) return mismatch(in, what, t->rank, 1);
    return t->shape[0] == length ? TN_OK : mismatch(in, what, t->shape[0], length);
}

static enum tn_status infer_embed(const struct inference *in)
{
    const struct tn_op_embed *e = &in->op->as.embed;
    uint64_t width = 0;
    for (uint32_t i = 0; i < e->tables; i++) {
        const struct tn_tensor_info *t = weight(in, e->table[i]);
        if (!t || t->rank != 2) return mismatch(in, "the rank of a table", t ? t->rank : 0, 2);
        if (i > 0 && t->shape[1] != width) return mismatch(in, "the width of a table", t->shape[1], width);
        width = t->shape[1];
        uint64_t *rows = e->index[i] == TN_INDEX_TOKEN  ? &in->g->vocab_size
                         : e->index[i] == TN_INDEX_TYPE ? &in->g->type_count
                                                        : &in->g->position_count;
        *rows = t->shape[0];
    }
    enum tn_status status = check_vector(in, e->gamma, width, "the norm's weight");
    if (!status) status = check_vector(in, e->beta, width, "the norm's bias");
    return status ? status : set_output(in, TN_DIM_ROWS, width);
}

static enum tn_status infer_table(const struct inference *in)
{
    const struct tn_tensor_info *t = weight(in, in->op->as.table.weight);
    if (!t || t->rank != 2) return mismatch(in, "the rank of a table", t ? t->rank : 0, 2);
    enum tn_status status = set_output(in, TN_DIM_FIXED, t->shape[1]);
    in->g->values[in->op->out].rows = t->shape[0];
    return status;
}

static enum tn_status infer_linear(const struct inference *in)
{
    const struct tn_op_linear *l = &in->op->as.linear;
    const struct tn_graph_value *x = operand(in, 0), *residual = operand(in, 1);
    if (!x) return mismatch(in, "the input", 0, 1);
    uint64_t out = 0;
    for (uint32_t i = 0; i < l->parts; i++) {
        const struct tn_tensor_info *t = weight(in, l->weight[i]);
        if (!t || t->rank != 2) return mismatch(in, "the rank of a weight", t ? t->rank : 0, 2);
        if (t->shape[1] != x->width) return mismatch(in, "the input width", t->shape[1], x->width);
        enum tn_status status = check_vector(in, l->bias[i], t->shape[0], "the bias");
        if (status) return status;
        if (!tn_add64(out, t->shape[0], &out)) return mismatch(in, "the output width", t->shape[0], 0);
    }
    if (residual && (residual->width != out || !same_rows(residual, x))) {
        return mismatch(in, "the residual", residual->width, out);
    }
    return set_like(in, x, out);
}

static enum tn_status infer_linear_pool(const struct inference *in)
{
    const struct tn_graph_value *x = operand(in, 0);
    if (!x || x->dim != TN_DIM_ROWS) return mismatch(in, "the input", 0, 1);
    enum tn_status status = infer_linear(in);
    return status ? status : set_output(in, TN_DIM_SEQUENCES, in->g->values[in->op->out].width);
}

/* A fixed value with a row for each distance and the columns of all heads. */
static enum tn_status check_positions(const struct inference *in, uint32_t index, uint64_t width)
{
    const struct tn_relative_terms *terms = &in->op->as.attention.relative;
    const struct tn_graph_value *v = index < in->g->value_count ? &in->g->values[index] : NULL;
    if (!v || v->dim != TN_DIM_FIXED) return mismatch(in, "the table of positions", 0, 1);
    if (v->width != width) return mismatch(in, "the width of the positions", v->width, width);
    if (terms->span == 0 || v->rows / 2 != terms->span || v->rows % 2) {
        return mismatch(in, "the number of positions", v->rows, 2 * terms->span);
    }
    return in->op->as.attention.window ? mismatch(in, "a window beside relative terms", 1, 0) : TN_OK;
}

static enum tn_status infer_attention(const struct inference *in)
{
    const struct tn_op_attention *a = &in->op->as.attention;
    const struct tn_graph_value *x = operand(in, 0);
    uint64_t width = 0;
    if (!x || x->dim != TN_DIM_ROWS) return mismatch(in, "the input", 0, 1);
    if (!tn_mul64(a->heads, a->head_dim, &width) || width > UINT64_MAX / 3 || x->width != 3 * width) {
        return mismatch(in, "q, k and v side by side", x->width, 3 * width);
    }
    const struct tn_tensor_info *bias = weight(in, a->bias);
    if (bias && (bias->rank != 2 || bias->shape[1] != a->heads || bias->shape[0] != a->bias_buckets)) {
        return mismatch(in, "the relative bias", bias->shape[0], a->bias_buckets);
    }
    enum tn_status status = TN_OK;
    if (a->relative.of_queries) status = check_positions(in, a->relative.position_key, width);
    if (!status && a->relative.of_keys) status = check_positions(in, a->relative.position_query, width);
    return status ? status : set_output(in, TN_DIM_ROWS, width);
}

static enum tn_status infer_rotary(const struct inference *in)
{
    const struct tn_op_rotary *r = &in->op->as.rotary;
    const struct tn_graph_value *x = operand(in, 0);
    uint64_t width = 0;
    if (!x || x->dim != TN_DIM_ROWS) return mismatch(in, "the input", 0, 1);
    if (r->head_dim == 0 || r->head_dim % 2) return mismatch(in, "an odd head, whose dimensions make no pairs,", r->head_dim, r->head_dim + 1);
    if (!tn_mul64(r->heads, r->head_dim, &width) || width > x->width) return mismatch(in, "the heads", x->width, width);
    return set_output(in, TN_DIM_ROWS, x->width);
}

static enum tn_status infer_gate(const struct inference *in)
{
    const struct tn_graph_value *x = operand(in, 0);
    if (!x) return mismatch(in, "the input", 0, 1);
    if (x->width % 2) return mismatch(in, "the two halves", x->width, x->width + 1);
    return set_like(in, x, x->width / 2);
}

static enum tn_status infer_layer_norm(const struct inference *in)
{
    const struct tn_op_layer_norm *n = &in->op->as.layer_norm;
    const struct tn_graph_value *x = operand(in, 0), *residual = operand(in, 1);
    if (!x) return mismatch(in, "the input", 0, 1);
    if (residual && (residual->width != x->width || !same_rows(residual, x))) {
        return mismatch(in, "the residual", residual->width, x->width);
    }
    enum tn_status status = check_vector(in, n->gamma, x->width, "the norm's weight");
    if (!status) status = check_vector(in, n->beta, x->width, "the norm's bias");
    return status ? status : set_like(in, x, x->width);
}

static enum tn_status infer_pool(const struct inference *in)
{
    const struct tn_graph_value *x = operand(in, 0);
    if (!x || x->dim != TN_DIM_ROWS) return mismatch(in, "the input", 0, 1);
    uint64_t width;
    if (!tn_mul64(x->width, in->op->as.pool.modes, &width)) return mismatch(in, "the width", x->width, 0);
    return set_output(in, TN_DIM_SEQUENCES, width);
}

static enum tn_status infer_pick(const struct inference *in)
{
    const struct tn_graph_value *x = operand(in, 0);
    if (!x || x->dim != TN_DIM_ROWS) return mismatch(in, "the input", 0, 1);
    return set_output(in, TN_DIM_PICKS, x->width);
}

static enum tn_status infer_normalize(const struct inference *in)
{
    const struct tn_graph_value *x = operand(in, 0);
    return x ? set_like(in, x, x->width) : mismatch(in, "the input", 0, 1);
}

typedef enum tn_status infer_fn(const struct inference *in);

static infer_fn *const rules[TN_OP_KINDS] = {
    [TN_OP_EMBED] = infer_embed,           [TN_OP_LINEAR] = infer_linear, [TN_OP_ATTENTION] = infer_attention,
    [TN_OP_LAYER_NORM] = infer_layer_norm, [TN_OP_POOL] = infer_pool,     [TN_OP_NORMALIZE] = infer_normalize,
    [TN_OP_ROTARY] = infer_rotary,         [TN_OP_GATE] = infer_gate,     [TN_OP_TABLE] = infer_table,
    [TN_OP_LINEAR_POOL] = infer_linear_pool, [TN_OP_PICK] = infer_pick,
};

enum tn_status tn_graph_finish(struct tn_graph *g, uint32_t output, struct tn_error *err)
{
    if (g->failed) return tn_error_memory(err, TN_PHASE_ASSESS, "building the graph");
    for (uint32_t i = 0; i < g->op_count; i++) {
        struct inference in = {g, &g->ops[i], err};
        enum tn_status status = rules[in.op->kind](&in);
        if (status) return status;
    }
    if (output < g->value_count && g->values[output].dim == TN_DIM_FIXED) {
        struct inference in = {g, &g->ops[g->op_count - 1], err};
        return mismatch(&in, "an output that reads no input", 0, 1);
    }
    g->output = output;
    return TN_OK;
}
