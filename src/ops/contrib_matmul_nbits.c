/*
 * MatMulNBits of com.microsoft: float rows times a matrix of 2, 4 or 8 bits in blocks along k, each with a scale and a
 * zero point. Constant weights are widened and packed when the session is made; accuracy_level allows to round the rows,
 * which is not done here: results are those of level 1. exec/patch_nibbles.c makes use of it.
 */
#include "ops/gemm.h"
#include "ops/nbits.h"
#include "ops/real.h"

#include "base/checked.h"

enum { A = TN_NBITS_A, B = TN_NBITS_B, SCALES = TN_NBITS_SCALES, ZEROS = TN_NBITS_ZEROS, GROUPS = TN_NBITS_GROUPS, BIAS = TN_NBITS_BIAS };

const char *tn_nbits_read(const struct tn_node *node, struct tn_nbits *s)
{
    int64_t n = tn_attr_int(node, "N", 0), k = tn_attr_int(node, "K", 0), block = tn_attr_int(node, "block_size", 0), bits = tn_attr_int(node, "bits", 4);
    if (n < 1 || n > INT32_MAX || k < 1 || k > INT32_MAX) return "N and K from 1";
    if (block < 16 || block > INT32_MAX || (block & (block - 1)) != 0) return "a block size that is a power of two from 16";
    if (bits != 2 && bits != 4 && bits != 8) return "2, 4 or 8 bits";
    *s = (struct tn_nbits){.n = (uint64_t)n, .k = (uint64_t)k, .block = (uint64_t)block, .blocks = (uint64_t)((k + block - 1) / block), .bits = (unsigned)bits};
    s->blob = s->block * s->bits / 8;
    return NULL;
}

uint64_t tn_nbits_zero_bytes(const struct tn_nbits *s)
{
    return (s->blocks * s->bits + 7) / 8;
}

static const char *lacks(const struct tn_node *node)
{
    int64_t bits = tn_attr_int(node, "bits", 4);
    if (bits != 2 && bits != 4 && bits != 8) return "2, 4 or 8 bits";
    return tn_attr_int(node, "weight_prepacked", 0) ? "weights that are not in the layout of a provider (weight_prepacked 0)" : NULL;
}

/* NULL when the operands, of which `zeros`, `groups` and `bias` may be NULL, have the sizes that the attributes ask for. */
static const char *check_operands(const struct tn_nbits *s, const struct tn_tensor *b, const struct tn_tensor *scales,
                                  const struct tn_tensor *zeros, const struct tn_tensor *groups, const struct tn_tensor *bias)
{
    if (bias && bias->count != s->n) return "a bias for each column";
    if (b->count == 0) return NULL; /* a product that is left out */
    if (b->count != s->n * s->blocks * s->blob) return "packed weights [N, blocks, bytes of a block]";
    if (scales->count != s->n * s->blocks) return "scales [N, blocks]";
    if (zeros && zeros->element == TN_EL_U8 && zeros->count != s->n * tn_nbits_zero_bytes(s)) return "packed zero points [N, bytes]";
    if (zeros && zeros->element != TN_EL_U8 && zeros->count != s->n * s->blocks) return "zero points [N, blocks]";
    if (!groups) return NULL;
    if (groups->count != s->k && groups->count != s->blocks * s->block) return "a group for each row of the weights";
    for (uint64_t i = 0; i < groups->count; i++) {
        int64_t g = tn_element_get_int(groups->element, groups->data, i);
        if (g < 0 || g >= (int64_t)s->blocks) return "groups that are blocks";
    }
    return NULL;
}

bool tn_nbits_infer(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, A);
    const struct tn_shape *a;
    struct tn_nbits s;
    const char *wrong = tn_nbits_read(x->node, &s);
    if (wrong) return tn_infer_refuse(x, wrong, "other attributes");
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (!tn_in_shape(x, A, &a)) return true;
    if (a->rank == 0) return tn_infer_refuse(x, "rows", "a scalar");
    tn_dim_t dims[TN_RANK], k = a->dims[a->rank - 1];
    if (tn_dim_known(k) && k != (int64_t)s.k) return tn_infer_refuse(x, "rows of K elements", "rows of %lld", (long long)k);
    for (uint32_t i = 0; i + 1 < a->rank; i++) dims[i] = a->dims[i];
    dims[a->rank - 1] = (tn_dim_t)s.n;
    tn_out_tensor(x, 0, t->element, a->rank, dims);
    return true;
}

/* ---- widening ----------------------------------------------------------------------------------------------------- */

struct widening {
    const struct tn_nbits *s;
    const struct tn_tensor *b, *scales, *zeros, *groups;
    float *out; /* [n, k] */
};

static float zero_at(const struct widening *w, uint64_t column, uint64_t block)
{
    const struct tn_nbits *s = w->s;
    if (!w->zeros) return (float)(1u << (s->bits - 1));
    if (w->zeros->element != TN_EL_U8) return (float)tn_element_get(w->zeros->element, w->zeros->data, column * s->blocks + block);
    uint64_t bit = block * s->bits;
    const uint8_t *row = (const uint8_t *)w->zeros->data + column * tn_nbits_zero_bytes(s);
    return (float)(row[bit / 8] >> bit % 8 & ((1u << s->bits) - 1));
}

static void widen_block(const uint8_t *from, unsigned bits, uint64_t count, float zero, float scale, float *to)
{
    unsigned mask = (1u << bits) - 1;
    if (bits == 4) {
        for (uint64_t i = 0; i + 1 < count; i += 2) {
            to[i] = ((float)(from[i / 2] & 15) - zero) * scale;
            to[i + 1] = ((float)(from[i / 2] >> 4) - zero) * scale;
        }
        if (count % 2) to[count - 1] = ((float)(from[count / 2] & 15) - zero) * scale;
        return;
    }
    for (uint64_t i = 0; i < count; i++) to[i] = ((float)(from[i * bits / 8] >> i * bits % 8 & mask) - zero) * scale;
}

/* Every row of the weights has a block of its own choice. */
static void widen_grouped(const struct widening *w, uint64_t n, float *to)
{
    const struct tn_nbits *s = w->s;
    const uint8_t *from = (const uint8_t *)w->b->data + n * s->blocks * s->blob;
    for (uint64_t k = 0; k < s->k; k++) {
        uint64_t g = (uint64_t)tn_element_get_int(w->groups->element, w->groups->data, k), bit = k * s->bits;
        float scale = (float)tn_element_get(w->scales->element, w->scales->data, n * s->blocks + g);
        to[k] = ((float)(from[bit / 8] >> bit % 8 & ((1u << s->bits) - 1)) - zero_at(w, n, g)) * scale;
    }
}

static void widen_columns(void *user, uint64_t begin, uint64_t end)
{
    const struct widening *w = user;
    const struct tn_nbits *s = w->s;
    for (uint64_t n = begin; n < end; n++) {
        float *to = w->out + n * s->k;
        if (w->groups) {
            widen_grouped(w, n, to);
            continue;
        }
        for (uint64_t i = 0; i < s->blocks; i++) {
            uint64_t left = s->k - i * s->block;
            float scale = (float)tn_element_get(w->scales->element, w->scales->data, n * s->blocks + i);
            widen_block((const uint8_t *)w->b->data + (n * s->blocks + i) * s->blob, s->bits, left < s->block ? left : s->block, zero_at(w, n, i),
                        scale, to + i * s->block);
        }
    }
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct state {
    struct tn_linear *layer;
    bool bias; /* is in it */
};

struct bias_rows {
    const float *bias;
    float *y;
    uint64_t n;
};

static void add_bias(void *user, uint64_t begin, uint64_t end)
{
    const struct bias_rows *b = user;
    for (uint64_t i = begin; i < end; i++) {
        float *y = b->y + i * b->n;
        for (uint64_t n = 0; n < b->n; n++) y[n] += b->bias[n];
    }
}

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

static bool run(struct tn_run *r)
{
    const struct state *state = r->state;
    struct tn_nbits s;
    const char *wrong = tn_nbits_read(r->node, &s);
    if (!wrong && !state) wrong = check_operands(&s, r->in[B], r->in[SCALES], operand(r, ZEROS), operand(r, GROUPS), operand(r, BIAS));
    if (wrong) return tn_run_refuse(r, wrong, "another size");
    uint64_t rows = r->out[0]->count / s.n;
    if (rows == 0) return true;
    struct tn_reals reals;
    tn_reals_begin(&reals, r, TN_EL_F32);
    const float *bias = state && state->bias ? NULL : tn_reals_in(&reals, BIAS);
    struct tn_gemm g = {.m = rows, .n = s.n, .k = s.k, .a_row = s.k, .b_k = 1, .b_n = s.k, .c_row = s.n, .packed = state ? state->layer : NULL};
    g.a = tn_reals_in(&reals, A);
    g.c = tn_reals_out(&reals, 0);
    bool left_out = !state && r->in[B]->count == 0;
    if (!state && !left_out && tn_reals_good(&reals)) {
        size_t count;
        float *wide = tn_mul(s.n, s.k, &count) ? tn_reals_scratch(&reals, count) : NULL;
        struct widening w = {&s, r->in[B], r->in[SCALES], operand(r, ZEROS), operand(r, GROUPS), wide};
        if (!wide) tn_run_no_memory(r);
        else tn_run_items(r, s.n, s.k, widen_columns, &w);
        g.b = wide;
    }
    if (tn_reals_good(&reals) && !left_out) tn_gemm_team(r, &g);
    for (uint64_t i = 0; left_out && tn_reals_good(&reals) && i < rows * s.n; i++) g.c[i] = 0;
    struct bias_rows b = {bias, g.c, s.n};
    if (tn_reals_good(&reals) && bias) tn_run_items(r, rows, s.n, add_bias, &b);
    return tn_reals_end(&reals);
}

/* ---- constants ---------------------------------------------------------------------------------------------------- */

static void release(struct tn_alloc *alloc, void *p)
{
    struct state *s = p;
    tn_free(alloc, s->layer);
    tn_free(alloc, s);
}

static float *widen_bias(struct tn_prepare *p, const struct tn_tensor *bias)
{
    float *to = tn_malloc(p->alloc, bias->count * sizeof(*to));
    for (uint64_t i = 0; to && i < bias->count; i++) to[i] = (float)tn_element_get(bias->element, bias->data, i);
    return to;
}

static enum tn_status pack(struct tn_prepare *p, const struct tn_nbits *s, struct widening *w, const struct tn_tensor *bias, struct state *out)
{
    static const struct tn_tensor like = {.kind = TN_KIND_TENSOR, .element = TN_EL_F32};
    size_t count;
    float *wide = tn_mul(s->n, s->k, &count) && tn_mul(count, sizeof(*wide), &count) ? tn_malloc_aligned(p->alloc, count, 64) : NULL;
    float *added = bias ? widen_bias(p, bias) : NULL;
    if (wide && (added || !bias)) {
        w->out = wide;
        widen_columns(w, 0, s->n);
        out->layer = tn_gemm_pack(p, &like, wide, s->k, s->n, 1, s->k, added);
        out->bias = added != NULL;
    }
    tn_free(p->alloc, wide);
    tn_free(p->alloc, added);
    return out->layer ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static enum tn_status prepare(struct tn_prepare *p, void **out)
{
    const struct tn_tensor *in[BIAS + 1] = {NULL};
    struct tn_nbits s;
    for (uint32_t i = 0; i < p->node->in_count && i <= BIAS; i++) {
        in[i] = p->in[i];
        bool given = p->node->in[i].value != TN_NET_NONE;
        if (i != A && i != BIAS && given && !in[i]) return TN_OK;
    }
    if (tn_nbits_read(p->node, &s) || check_operands(&s, in[B], in[SCALES], in[ZEROS], in[GROUPS], in[BIAS]) || in[B]->count == 0) return TN_OK;
    struct state *state = tn_calloc(p->alloc, 1, sizeof(*state));
    struct widening w = {.s = &s, .b = in[B], .scales = in[SCALES], .zeros = in[ZEROS], .groups = in[GROUPS]};
    if (!state) return TN_INSUFFICIENT_MEMORY;
    enum tn_status st = pack(p, &s, &w, in[BIAS], state);
    if (st) {
        release(p->alloc, state);
        return st;
    }
    for (uint32_t i = B; i <= BIAS; i++) p->keep[i] = i == BIAS && !state->bias;
    *out = state;
    return TN_OK;
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "MatMulNBits", .since = 1, .infer = tn_nbits_infer, .run = run, .prepare = prepare, .release = release, .lacks = lacks},
};

const struct tn_operators tn_ops_contrib_matmul_nbits = {rows, sizeof(rows) / sizeof(rows[0])};
