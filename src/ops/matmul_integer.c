/*
 * Products of quantised matrices: MatMulInteger and QLinearMatMul. Sums of 8-bit products are 32-bit and wrap, as the
 * standard allows. Scales and zero points stand for a whole matrix, its rows (the first) or its columns (the second).
 */
#include "ops/matmul.h"

#include "base/checked.h"
#include "ops/epilogue.h"
#include "ops/real.h"

#include <math.h>
#include <string.h>

/* ---- zero points and scales --------------------------------------------------------------------------------------- */

/* One number for all, or one for each of `lines`, or one for each line of each matrix. */
struct per_line {
    const struct tn_tensor *t; /* NULL: `otherwise` */
    uint64_t lines;
    bool each_matrix;
};

static bool per_line(struct tn_run *r, uint32_t i, uint64_t lines, struct per_line *out)
{
    *out = (struct per_line){i < r->in_count ? r->in[i] : NULL, lines, false};
    if (!out->t || out->t->count == 1) return true;
    if (lines == 0 || out->t->count == 0 || out->t->count % lines != 0)
        return tn_run_refuse(r, "one number for the matrix, or one for each row (first operand) or column (second)",
                             "operand %u with %llu numbers", i, (unsigned long long)out->t->count);
    out->each_matrix = out->t->count != lines;
    return true;
}

static uint64_t line_at(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t->count == 1 ? 0 : p->each_matrix ? (matrix * p->lines + line) % p->t->count : line;
}

static int32_t zero_of(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t ? (int32_t)tn_element_get_int(p->t->element, p->t->data, line_at(p, matrix, line)) : 0;
}

static float scale_of(const struct per_line *p, uint64_t matrix, uint64_t line)
{
    return p->t ? (float)tn_element_get(p->t->element, p->t->data, line_at(p, matrix, line)) : 1;
}

/* ---- products ----------------------------------------------------------------------------------------------------- */

struct products {
    const struct tn_matmul *s;
    const struct tn_tensor *a, *b;
    struct per_line a_zero, b_zero;
    int32_t *c; /* [batch, m, n] */
};

static void add_signed(int32_t x, const int8_t *b, uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] += (uint32_t)(x * b[i]);
}

static void add_unsigned(int32_t x, const uint8_t *b, uint32_t *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] += (uint32_t)(x * b[i]);
}

/* sum over k of (a - za) (b - zb) = sum of (a - za) b, less zb times the sum of (a - za) */
static void product_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct products *p = user;
    const struct tn_matmul *s = p->s;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m, sum = 0;
        uint32_t *c = (uint32_t *)p->c + i * s->n;
        tn_matmul_at(s, i / s->m, &at, &bt);
        int32_t zero = zero_of(&p->a_zero, at, row);
        memset(c, 0, s->n * sizeof(*c));
        for (size_t k = 0; k < s->k; k++) {
            uint64_t from = (at * s->m + row) * s->k + k, to = (bt * s->k + k) * s->n;
            int32_t x = (p->a->element == TN_EL_I8 ? ((const int8_t *)p->a->data)[from] : ((const uint8_t *)p->a->data)[from]) - zero;
            sum += (uint64_t)(int64_t)x;
            if (p->b->element == TN_EL_I8) add_signed(x, (const int8_t *)p->b->data + to, c, s->n);
            else add_unsigned(x, (const uint8_t *)p->b->data + to, c, s->n);
        }
        for (size_t n = 0; p->b_zero.t && n < s->n; n++) c[n] -= (uint32_t)sum * (uint32_t)zero_of(&p->b_zero, bt, n);
    }
}

/* ---- packed products ---------------------------------------------------------------------------------------------- */

/*
 * The kernels multiply unsigned with signed bytes: a' = a + 128 where a is signed, b' = b - 128 where b is unsigned. With
 * the zero points moved alike, za' and zb',
 *
 *     sum of (a - za) (b - zb) = sum of a' b' - za' (sum of b') - zb' (sum of a') + k za' zb'
 */
struct packed_b {
    bool turned; /* b is unsigned */
    char *data;  /* bytes_pack; its first n numbers are the columns' sums */
};

struct scaling {
    const struct tn_epilogue *e;
    float one;        /* the scale of all columns */
    float *by_column; /* or one for each */
    const float *bias, *residual;
};

struct block {
    const struct products *p;
    const struct tn_kernels *kernels;
    const struct packed_b *b;
    const struct scaling *to_float; /* NULL: sums are the result */
    const uint8_t *a; /* rows of the product, unsigned, readable to a multiple of 4 */
    size_t a_stride;
    uint64_t first, at, bt; /* row of the result where the product begins; which matrices */
    int32_t *zero; /* [n] zb' of this matrix */
    bool any_zero;
};

/* What is folded in behind scales and bias. */
static void finish_rest(const struct scaling *f, const struct tn_kernels *kernels, float *y, uint64_t row, uint64_t rows, size_t n)
{
    if (f->e->after.kind == TN_FINISH_NONE && !f->e->after.line && !f->residual) return;
    struct tn_finish_args a = {.kernels = kernels, .e = f->e, .y = y, .y_stride = n, .rows = rows, .width = n,
                               .residual = f->residual ? f->residual + row * n : NULL, .residual_stride = n};
    tn_finish_rows(&a);
}

static uint32_t row_sum(const uint8_t *a, size_t k)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < k; i++) sum += a[i];
    return sum;
}

/* What the kernels leave out of a row of sums, and the floats that become of it. */
static void finish_row(const struct block *j, uint64_t i)
{
    const struct products *p = j->p;
    const struct scaling *f = j->to_float;
    const size_t n = p->s->n, k = p->s->k;
    const uint64_t row = j->first + i;
    const int32_t *column = (const int32_t *)j->b->data;
    int32_t *c = p->c + row * n;
    uint32_t za = (uint32_t)(zero_of(&p->a_zero, j->at + i / p->s->m, i % p->s->m) + (p->a->element == TN_EL_I8 ? 128 : 0));
    uint32_t rest = j->any_zero ? (uint32_t)k * za - row_sum(j->a + i * j->a_stride, k) : 0;
    if (!f) {
        for (size_t x = 0; x < n; x++) c[x] = (int32_t)((uint32_t)c[x] - za * (uint32_t)column[x] + rest * (uint32_t)j->zero[x]);
        return;
    }
    struct tn_sums_args s = {.sums = c, .y = (float *)c, .count = n, .factor = {0 - za, rest}, .times = {za ? column : NULL, rest ? j->zero : NULL},
                             .scale = f->one, .scales = f->by_column, .biases = f->bias};
    j->kernels->from_sums(&s);
    finish_rest(f, j->kernels, (float *)c, row, 1, n);
}

static void finish_packed(void *user, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++) finish_row(user, i);
}

static struct tn_bytes_args block_args(const struct block *j, uint64_t begin, uint64_t rows)
{
    const struct tn_matmul *s = j->p->s;
    return (struct tn_bytes_args){.a = j->a + begin * j->a_stride, .a_stride = j->a_stride, .packed = j->b->data, .rows = rows, .n = s->n, .k = s->k,
                                  .sums = j->p->c + (j->first + begin) * s->n, .sums_stride = s->n};
}

enum { ROW_BLOCK = 64 };

struct row_blocks {
    const struct block *j;
    size_t rows;
    unsigned blocks;
};

/* Items are blocks of rows, finished while they are near. */
static void multiply_blocks(void *user, uint64_t begin, uint64_t end)
{
    const struct row_blocks *b = user;
    for (uint64_t i = begin; i < end; i++) {
        size_t row, last;
        tn_share(b->rows, (unsigned)i, b->blocks, &row, &last);
        struct tn_bytes_args a = block_args(b->j, row, last - row);
        b->j->kernels->bytes(&a, 0, 1);
        for (uint64_t k = row; k < last; k++) finish_row(b->j, k);
    }
}

struct team {
    const struct tn_kernels *kernels;
    struct tn_bytes_args args;
};

static void team_member(void *user, unsigned rank, unsigned size)
{
    const struct team *t = user;
    t->kernels->bytes(&t->args, rank, size);
}

static void one_product(struct tn_run *r, struct block *j, uint64_t rows)
{
    uint64_t cost = (uint64_t)j->p->s->n * j->p->s->k;
    if (rows >= 2 * ROW_BLOCK && rows <= UINT32_MAX) { /* as many blocks for each thread */
        const uint64_t threads = r->threads ? r->threads : 1, blocks = ((rows + ROW_BLOCK - 1) / ROW_BLOCK + threads - 1) / threads * threads;
        struct row_blocks b = {j, (size_t)rows, (unsigned)blocks};
        tn_run_items(r, blocks, cost * (rows / blocks), multiply_blocks, &b);
        return;
    }
    struct team t = {r->kernels, block_args(j, 0, rows)};
    tn_pool_run(rows * cost < (1 << 20) ? NULL : r->pool, team_member, &t, r->threads);
    tn_run_items(r, rows, (uint64_t)j->p->s->n * 4, finish_packed, j);
}

/* Rows of A as the kernels take them. */
struct turning {
    const struct tn_tensor *a;
    size_t k, stride;
    uint8_t *to;
};

static void turn_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct turning *t = user;
    uint8_t flip = t->a->element == TN_EL_I8 ? 0x80 : 0;
    for (uint64_t i = begin; i < end; i++) {
        const uint8_t *from = (const uint8_t *)t->a->data + i * t->k;
        uint8_t *to = t->to + i * t->stride;
        for (size_t k = 0; k < t->k; k++) to[k] = from[k] ^ flip;
        for (size_t k = t->k; k < t->stride; k++) to[k] = 0;
    }
}

struct packing {
    const struct tn_kernels *kernels;
    const int8_t *b;
    size_t n, k;
    struct packed_b *to;
};

static void pack_member(void *user, unsigned rank, unsigned size)
{
    const struct packing *j = user;
    j->kernels->bytes_pack(j->b, j->n, 1, j->n, j->k, j->to->turned, j->to->data, rank, size);
}

static void read_zeros(struct block *j)
{
    const struct products *p = j->p;
    j->any_zero = false;
    for (size_t n = 0; n < p->s->n; n++) {
        j->zero[n] = zero_of(&p->b_zero, j->bt, n) - (j->b->turned ? 128 : 0);
        j->any_zero = j->any_zero || j->zero[n] != 0;
    }
}

/* Products of all matrices; `own` is where a matrix is packed that was not when the session was made. */
static void all_products(struct tn_run *r, struct block *j, const uint8_t *a, struct packed_b *own)
{
    const struct tn_matmul *s = j->p->s;
    bool whole = s->one_b && s->a_whole;
    uint64_t packed = UINT64_MAX;
    for (uint64_t i = 0; i < (whole ? 1 : s->batch); i++) {
        uint64_t rows = whole ? s->batch * s->m : s->m;
        tn_matmul_at(s, i, &j->at, &j->bt);
        j->a = a + j->at * s->m * j->a_stride;
        j->first = i * s->m;
        if (own && j->bt != packed) {
            struct packing k = {r->kernels, (const int8_t *)j->p->b->data + j->bt * s->k * s->n, s->n, s->k, own};
            tn_pool_run((uint64_t)s->k * s->n < (1 << 16) ? NULL : r->pool, pack_member, &k, r->threads);
            packed = j->bt;
        }
        read_zeros(j);
        one_product(r, j, rows);
    }
}

static bool packed_products(struct tn_run *r, const struct products *p, const struct packed_b *b, const struct scaling *to_float)
{
    const struct tn_matmul *s = p->s;
    size_t stride, bytes = 0;
    struct packed_b own = {.turned = p->b->element == TN_EL_U8};
    bool as_is = p->a->element == TN_EL_U8 && s->k % 4 == 0;
    uint64_t rows = p->a->count / s->k;
    if (!tn_round_up(s->k, 4, &stride) || (!b && !r->kernels->bytes_pack_size(s->n, s->k, &bytes))) return tn_run_no_memory(r);
    struct turning t = {.a = p->a, .k = s->k, .stride = stride};
    struct block j = {.p = p, .kernels = r->kernels, .b = b ? b : &own, .to_float = to_float, .a_stride = stride};
    j.zero = tn_run_scratch(r, s->n, sizeof(*j.zero));
    if (!as_is) t.to = tn_run_scratch(r, rows, stride);
    if (!b) own.data = tn_run_scratch(r, bytes, 1);
    if (!r->failed) {
        if (!as_is) tn_run_items(r, rows, s->k, turn_rows, &t);
        all_products(r, &j, as_is ? p->a->data : t.to, b ? NULL : &own);
    }
    tn_heap_give(r->heap, own.data);
    tn_heap_give(r->heap, t.to);
    tn_heap_give(r->heap, j.zero);
    return !r->failed;
}

static void scale_plain(struct tn_run *r, const struct products *p, const struct scaling *f);

/* Sums into c, or with to_float their floats. */
static bool integer_products(struct tn_run *r, uint32_t a, uint32_t b, uint32_t a_zero, uint32_t b_zero, const struct tn_matmul *s, int32_t *c,
                             const struct scaling *to_float)
{
    enum { FEW_ROWS = 4 };
    struct products p = {.s = s, .a = r->in[a], .b = r->in[b], .c = c};
    if (!per_line(r, a_zero, s->m, &p.a_zero) || !per_line(r, b_zero, s->n, &p.b_zero)) return false;
    bool few = s->m * (s->one_b ? s->batch : 1) < FEW_ROWS;
    if (s->k > 0 && (r->state || !few)) return packed_products(r, &p, r->state, to_float);
    tn_run_items(r, s->batch * s->m, (uint64_t)s->n * s->k, product_rows, &p);
    if (to_float) scale_plain(r, &p, to_float);
    return true;
}

/* Constant matrices are packed when the session is made. */
static enum tn_status prepare_operand(struct tn_prepare *p, uint32_t i, void **state)
{
    const struct tn_tensor *b = i < p->node->in_count ? p->in[i] : NULL;
    size_t bytes, all;
    enum { HEAD = 64 };
    _Static_assert(sizeof(struct packed_b) <= HEAD, "the head stands in front of its packed matrix");
    if (!b || b->rank != 2 || b->count == 0 || (b->element != TN_EL_I8 && b->element != TN_EL_U8)) return TN_OK;
    size_t k = (size_t)b->dims[0], n = (size_t)b->dims[1];
    if (!p->kernels->bytes_pack_size(n, k, &bytes) || !tn_add(bytes, HEAD, &all)) return TN_INSUFFICIENT_MEMORY;
    struct packed_b *to = tn_malloc_aligned(p->alloc, all, 64);
    if (!to) return TN_INSUFFICIENT_MEMORY;
    *to = (struct packed_b){b->element == TN_EL_U8, (char *)to + HEAD};
    struct packing job = {p->kernels, b->data, n, k, to};
    tn_pool_run(p->pool, pack_member, &job, p->threads);
    p->keep[i] = false;
    *state = to;
    return TN_OK;
}

static enum tn_status prepare_integer(struct tn_prepare *p, void **state)
{
    return prepare_operand(p, 1, state);
}

static enum tn_status prepare_qlinear(struct tn_prepare *p, void **state)
{
    return prepare_operand(p, 3, state);
}

static void release_packed(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

/* ---- MatMulInteger ------------------------------------------------------------------------------------------------ */

static bool infer_integer(struct tn_infer *x)
{
    struct tn_epilogue e;
    tn_epilogue_read(x->node, &e);
    return tn_matmul_infer(x, 0, 1, e.scale[0] == TN_NET_NONE ? TN_EL_I32 : TN_EL_F32);
}

/* The same floats as finish_row, of sums that are there. */
static void scale_plain(struct tn_run *r, const struct products *p, const struct scaling *f)
{
    const size_t n = p->s->n;
    for (uint64_t i = 0; i < p->s->batch * p->s->m; i++) {
        struct tn_sums_args s = {.sums = p->c + i * n, .y = (float *)p->c + i * n, .count = n, .scale = f->one, .scales = f->by_column, .biases = f->bias};
        r->kernels->from_sums(&s);
    }
    finish_rest(f, r->kernels, (float *)p->c, 0, p->s->batch * p->s->m, n);
}

/* The first times the second, each one number or one for each column. */
static bool read_scales(struct tn_run *r, const struct tn_epilogue *e, size_t n, struct scaling *f)
{
    const struct tn_tensor *t[2] = {r->in[e->scale[0]], e->scale[1] == TN_NET_NONE ? NULL : r->in[e->scale[1]]};
    const float *a = t[0]->data, *b = t[1] ? t[1]->data : NULL;
    bool a_one = t[0]->count == 1, b_one = !t[1] || t[1]->count == 1;
    f->one = b ? a[0] * b[0] : a[0];
    if (a_one && b_one) return true;
    f->by_column = tn_run_scratch(r, n, sizeof(*f->by_column));
    for (size_t i = 0; f->by_column && i < n; i++) f->by_column[i] = b ? a[a_one ? 0 : i] * b[b_one ? 0 : i] : a[i];
    return f->by_column != NULL;
}

static const void *data_of(const struct tn_run *r, uint32_t i)
{
    return i == TN_NET_NONE ? NULL : r->in[i]->data;
}

static bool run_integer(struct tn_run *r)
{
    struct tn_matmul s;
    struct tn_epilogue e;
    tn_matmul_shape(r->in[0], r->in[1], &s);
    tn_epilogue_read(r->node, &e);
    if (!tn_epilogue_check(r, &e, s.n)) return false;
    if (e.bias != TN_NET_NONE && r->in[e.bias]->element != TN_EL_F32) return tn_run_refuse(r, "a folded bias of float32", "another type");
    if (r->out[0]->count == 0) return true;
    if (e.scale[0] == TN_NET_NONE) return integer_products(r, 0, 1, 2, 3, &s, r->out[0]->data, NULL);
    struct scaling f = {.e = &e, .bias = data_of(r, e.bias), .residual = data_of(r, e.residual)};
    bool good = read_scales(r, &e, s.n, &f) && integer_products(r, 0, 1, 2, 3, &s, r->out[0]->data, &f);
    tn_heap_give(r->heap, f.by_column);
    return good;
}

/* ---- QLinearMatMul ------------------------------------------------------------------------------------------------ */

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };

static bool infer_qlinear(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, Y_ZERO);
    return tn_matmul_infer(x, A, B, t ? t->element : TN_EL_NONE);
}

struct requantize {
    const struct tn_matmul *s;
    const int32_t *sums;
    const float *reals; /* instead of sums, of float8 */
    struct per_line a_scale, b_scale, y_scale, y_zero;
    struct tn_tensor *y;
};

static void store(struct tn_tensor *y, uint64_t at, float v, double zero)
{
    if (y->element != TN_EL_I8 && y->element != TN_EL_U8) {
        tn_element_set(y->element, y->data, at, (double)v + zero, true);
        return;
    }
    double low = y->element == TN_EL_I8 ? -128 : 0, high = low + 255, q = nearbyint((double)v) + zero;
    tn_element_set_int(y->element, y->data, at, isnan(q) ? (int64_t)zero : (int64_t)(q < low ? low : q > high ? high : q));
}

/* y = saturate(round(sum * (a_scale * b_scale / y_scale)) + zero) */
static void requantize_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct requantize *q = user;
    const struct tn_matmul *s = q->s;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m;
        tn_matmul_at(s, i / s->m, &at, &bt);
        float left = scale_of(&q->a_scale, at, row), out = scale_of(&q->y_scale, i / s->m, row);
        const struct tn_tensor *z = q->y_zero.t;
        double zero = z ? tn_element_get(z->element, z->data, line_at(&q->y_zero, i / s->m, row)) : 0;
        for (size_t n = 0; n < s->n; n++) {
            float factor = left * scale_of(&q->b_scale, bt, n) / out;
            float sum = q->reals ? q->reals[i * s->n + n] : (float)q->sums[i * s->n + n];
            store(q->y, i * s->n + n, sum * factor, zero);
        }
    }
}

/* float8: numbers less their zero points, products in float32. */
static void real_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct products *p = user;
    const struct tn_matmul *s = p->s;
    float *c = (float *)p->c;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at, bt, row = i % s->m;
        tn_matmul_at(s, i / s->m, &at, &bt);
        const struct tn_tensor *za = p->a_zero.t, *zb = p->b_zero.t;
        double zero = za ? tn_element_get(za->element, za->data, line_at(&p->a_zero, at, row)) : 0;
        for (size_t n = 0; n < s->n; n++) {
            double zn = zb ? tn_element_get(zb->element, zb->data, line_at(&p->b_zero, bt, n)) : 0;
            float sum = 0;
            for (size_t k = 0; k < s->k; k++) {
                float a = (float)(tn_element_get(p->a->element, p->a->data, (at * s->m + row) * s->k + k) - zero);
                sum += a * (float)(tn_element_get(p->b->element, p->b->data, (bt * s->k + k) * s->n + n) - zn);
            }
            c[i * s->n + n] = sum;
        }
    }
}

static bool is_int8(const struct tn_tensor *t)
{
    return t->element == TN_EL_I8 || t->element == TN_EL_U8;
}

static bool run_qlinear(struct tn_run *r)
{
    struct tn_matmul s;
    struct tn_tensor *y = r->out[0];
    bool integers = is_int8(r->in[A]) && is_int8(r->in[B]), good;
    tn_matmul_shape(r->in[A], r->in[B], &s);
    if (y->count == 0) return true;
    int32_t *sums = tn_run_scratch(r, y->count, sizeof(*sums));
    if (!sums) return false;
    struct requantize q = {.s = &s, .y = y, .sums = sums, .reals = integers ? NULL : (const float *)sums};
    good = per_line(r, A_SCALE, s.m, &q.a_scale) && per_line(r, B_SCALE, s.n, &q.b_scale) && per_line(r, Y_SCALE, s.m, &q.y_scale) &&
           per_line(r, Y_ZERO, s.m, &q.y_zero);
    if (good && integers) {
        good = integer_products(r, A, B, A_ZERO, B_ZERO, &s, sums, NULL);
    } else if (good) {
        struct products p = {.s = &s, .a = r->in[A], .b = r->in[B], .c = sums};
        good = per_line(r, A_ZERO, s.m, &p.a_zero) && per_line(r, B_ZERO, s.n, &p.b_zero);
        if (good) tn_run_items(r, s.batch * s.m, (uint64_t)s.n * s.k * 16, real_rows, &p);
    }
    if (good) tn_run_items(r, s.batch * s.m, s.n * 8, requantize_rows, &q);
    tn_heap_give(r->heap, sums);
    return good;
}

static const struct tn_operator rows[] = {
    {.name = "MatMulInteger", .since = 10, .infer = infer_integer, .run = run_integer, .prepare = prepare_integer, .release = release_packed, .lacks = tn_epilogue_lacks},
    {.name = "QLinearMatMul", .since = 10, .infer = infer_qlinear, .run = run_qlinear, .prepare = prepare_qlinear, .release = release_packed},
};

const struct tn_operators tn_ops_matmul_integer = {rows, sizeof(rows) / sizeof(rows[0])};
