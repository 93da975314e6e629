/* Linear layers over packed rows, with and without pooling; operands and attributes in ops/rows.h. */
#include "ops/rows.h"

#include "base/checked.h"

#include <string.h>

enum { X = 0, RESIDUAL = 1, PARTS = 2, MOST_PARTS = 3 };

/* ---- shapes ------------------------------------------------------------------------------------------------------- */

static bool infer_part(struct tn_infer *x, uint32_t i, int64_t k, int64_t *n)
{
    const struct tn_shape *w;
    const struct tn_type *t = tn_in_type(x, i);
    if (!tn_in_shape(x, i, &w) || w->rank != 2 || !tn_rows_stored(t->element))
        return tn_infer_refuse(x, "weights of float32, float16 or bfloat16 of rank 2", "operand %u", i);
    if (w->dims[1] != k)
        return tn_infer_refuse(x, "as many columns as the rows of x have", "weights of %lld columns beside %lld", (long long)w->dims[1],
                               (long long)k);
    *n += w->dims[0];
    return tn_rows_vector(x, i + 1, w->dims[0], "the bias");
}

static bool infer_parts(struct tn_infer *x, uint32_t first, int64_t k, int64_t *n)
{
    *n = 0;
    if (x->in_count <= first || x->in_count > first + 2 * MOST_PARTS)
        return tn_infer_refuse(x, "one to three weights with their biases", "%u operands", x->in_count);
    for (uint32_t i = first; i < x->in_count; i += 2) {
        if (!infer_part(x, i, k, n)) return false;
    }
    return true;
}

static bool infer_linear(struct tn_infer *x)
{
    tn_dim_t rows, residual_rows;
    int64_t k, n, residual;
    if (!tn_rows_in(x, X, &rows, &k) || !infer_parts(x, PARTS, k, &n)) return false;
    if (tn_in_given(x, RESIDUAL)) {
        if (!tn_rows_in(x, RESIDUAL, &residual_rows, &residual)) return false;
        if (residual != n || residual_rows != rows)
            return tn_infer_refuse(x, "a residual of the result's shape", "%lld columns beside %lld", (long long)residual, (long long)n);
    }
    return tn_rows_out(x, rows, n);
}

static bool infer_pooled(struct tn_infer *x)
{
    const struct tn_shape *spans;
    tn_dim_t rows;
    int64_t k, n;
    if (!tn_rows_in(x, X, &rows, &k) || !infer_parts(x, PARTS, k, &n)) return false;
    if (!tn_in_shape(x, 1, &spans) || spans->rank != 2 || spans->dims[1] != 3)
        return tn_infer_refuse(x, "spans [S, 3]", "operand 1 of another shape");
    return tn_rows_out(x, spans->dims[0], n);
}

static const char *lacks(const struct tn_node *node)
{
    enum tn_act act;
    struct tn_str compute = tn_attr_text(node, "compute");
    if (!tn_rows_activation(node, &act)) return "an activation of describe/activation.h";
    return tn_str_is(compute, "f32") || tn_str_is(compute, "bf16") || compute.n == 0 ? NULL : "a computation in f32 or bf16";
}

/* ---- packing ------------------------------------------------------------------------------------------------------ */

enum { HEAD = 64 };

_Static_assert(sizeof(struct tn_linear) <= HEAD, "the layer stands in front of its packed weights");

static enum tn_compute compute_of(const struct tn_node *node)
{
    return tn_str_is(tn_attr_text(node, "compute"), "bf16") ? TN_COMPUTE_BF16 : TN_COMPUTE_F32;
}

static bool layer_bytes(const struct tn_kernels *kernels, const struct tn_linear *l, size_t *all, size_t *scratch)
{
    return kernels->linear_pack_size(l->n, l->k, l->compute, all) && tn_add(*all, HEAD, all) &&
           kernels->linear_scratch_size(l->n, l->k, l->compute, scratch) && tn_round_up(*scratch, 64, scratch);
}

static bool kept(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out)
{
    struct tn_linear l = {.compute = compute_of(node)};
    for (uint32_t i = PARTS; i < node->in_count; i++) out->keep[i] = false;
    for (uint32_t i = PARTS; i < node->in_count; i += 2) {
        const struct tn_shape *w = &tn_net_at(net, node->in[i])->type.shape;
        l.n += (size_t)w->dims[0];
        l.k = (size_t)w->dims[1];
    }
    return layer_bytes(kernels, &l, &out->state, &out->scratch);
}

struct packing {
    const struct tn_kernels *kernels;
    const struct tn_linear *layer;
    struct tn_linear_part parts[MOST_PARTS];
    uint32_t count;
    void *room;
};

static void pack_member(void *arg, unsigned rank, unsigned size)
{
    const struct packing *k = arg;
    k->kernels->linear_pack(k->layer, k->parts, k->count, k->room, rank, size);
}

/* False: a part is not constant. */
static bool read_parts(const struct tn_prepare *p, struct packing *k, struct tn_linear *layer)
{
    uint32_t in_count = p->node->in_count;
    for (uint32_t i = PARTS; i < in_count; i += 2, k->count++) {
        const struct tn_tensor *w = p->in[i], *b = i + 1 < in_count ? p->in[i + 1] : NULL;
        if (!w) return false;
        layer->k = (size_t)w->dims[1];
        layer->n += (size_t)w->dims[0];
        k->parts[k->count] = (struct tn_linear_part){.data = w->data, .type = tn_rows_type(w->element), .rows = (size_t)w->dims[0],
                                                     .row_stride = layer->k, .k_stride = 1, .bias = b ? b->data : NULL,
                                                     .bias_type = b ? tn_rows_type(b->element) : TN_FLOAT_F32};
    }
    return true;
}

static enum tn_status prepare(struct tn_prepare *p, void **state)
{
    struct packing k = {.kernels = p->kernels};
    struct tn_linear made = {.compute = compute_of(p->node)};
    size_t all, scratch;
    if (!read_parts(p, &k, &made)) {
        p->wrong = "weights that are the same in every call";
        return TN_ARTIFACT_MALFORMED;
    }
    struct tn_linear *out = layer_bytes(p->kernels, &made, &all, &scratch) ? tn_malloc_aligned(p->alloc, all, 64) : NULL;
    if (!out) return TN_INSUFFICIENT_MEMORY;
    made.packed = k.room = (char *)out + HEAD;
    *out = made;
    k.layer = out;
    tn_pool_run(p->pool, pack_member, &k, p->threads);
    for (uint32_t i = PARTS; i < p->node->in_count; i++) p->keep[i] = false;
    *state = out;
    return TN_OK;
}

static void release(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

struct job {
    const struct tn_kernels *kernels;
    struct tn_linear_args linear;
    struct tn_linear_pool_args pooled;
};

static void linear_member(void *arg, unsigned rank, unsigned size)
{
    struct job *j = arg;
    j->kernels->linear(&j->linear, rank, size);
}

static void pooled_member(void *arg, unsigned rank, unsigned size)
{
    struct job *j = arg;
    j->kernels->linear_pool(&j->pooled, rank, size);
}

static bool run_linear(struct tn_run *r)
{
    const struct tn_linear *layer = r->state;
    struct job j = {.kernels = r->kernels};
    const struct tn_tensor *x = r->in[X], *residual = r->in[RESIDUAL];
    tn_rows_activation(r->node, &j.linear.act);
    j.linear.layer = layer;
    j.linear.x = x->data;
    j.linear.x_stride = layer->k;
    j.linear.y = r->out[0]->data;
    j.linear.y_stride = j.linear.residual_stride = layer->n;
    j.linear.residual = residual ? residual->data : NULL;
    j.linear.rows = (size_t)x->dims[0];
    j.linear.scratch = r->scratch;
    j.linear.scratch_bytes = r->scratch_bytes;
    tn_run_team(r, x->count * layer->n, linear_member, &j);
    return true;
}

static bool run_pooled(struct tn_run *r)
{
    const struct tn_linear *layer = r->state;
    struct job j = {.kernels = r->kernels};
    const struct tn_tensor *x = r->in[X], *spans = r->in[1];
    size_t sequences = (size_t)spans->dims[0];
    uint32_t *to = tn_run_scratch(r, sequences + 1, sizeof(*to));
    for (size_t s = 0; to && s < sequences; s++) to[s] = (uint32_t)s;
    j.pooled = (struct tn_linear_pool_args){.layer = layer, .x = x->data, .x_stride = layer->k, .rows = (size_t)x->dims[0],
                                            .spans = spans->data, .to = to, .sequences = sequences, .y = r->out[0]->data,
                                            .y_stride = layer->n, .sum = tn_attr_int(r->node, "sum", 0) != 0,
                                            .twice = tn_attr_int(r->node, "twice", 0) != 0, .scratch = r->scratch, .scratch_bytes = r->scratch_bytes};
    if (!r->failed) tn_run_team(r, x->count * layer->n, pooled_member, &j);
    tn_heap_give(r->heap, to);
    return !r->failed;
}

static const struct tn_operator rows[] = {
    {.domain = "tenon", .name = "Linear", .since = 1, .infer = infer_linear, .run = run_linear, .prepare = prepare, .release = release, .lacks = lacks, .kept = kept, .fresh = true},
    {.domain = "tenon", .name = "LinearPool", .since = 1, .infer = infer_pooled, .run = run_pooled, .prepare = prepare, .release = release, .lacks = lacks, .kept = kept, .fresh = true},
};

const struct tn_operators tn_ops_rows_linear = {rows, sizeof(rows) / sizeof(rows[0])};
