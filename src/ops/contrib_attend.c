/* Attention and rotary positions for the contributed operators; see the header. Shapes have been checked. */
#include "ops/contrib_attend.h"

#include "ops/exp.h"
#include "ops/gemm.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- scores ------------------------------------------------------------------------------------------------------- */

/* Scores of one block of rows stay in the cache beside the packed head; a few rows are not worth packing a head for. */
enum { SCORES = 1 << 16, LEAST_ROWS = 24, FEW_ROWS = 4 };

struct team {
    const struct tn_attend *a;
    const struct tn_kernels *kernels;
    uint64_t parts, block; /* of the rows of a head; rows whose scores are held at once */
    char *room;
    size_t key_bytes, value_bytes, share_bytes; /* packed keys, packed values, and scores behind them */
    bool few;
};

/* The keys [*lo, *hi) that row i of a batch sees. */
static void seen(const struct tn_attend *a, uint64_t batch, uint64_t row, uint64_t *lo, uint64_t *hi)
{
    int64_t all = a->lengths ? a->lengths[batch] : (int64_t)a->keys, end = all, begin = 0;
    int64_t at = (int64_t)row + (a->past ? a->past[batch] : (int64_t)a->keys - (int64_t)a->rows);
    if (a->causal && at + 1 < end) end = at + 1;
    if (a->window > 0 && at + 1 - a->window > 0) begin = at + 1 - a->window;
    if (end < 0) end = 0;
    *hi = (uint64_t)end;
    *lo = (uint64_t)(begin < end ? begin : end);
}

static const float *addend_at(const struct tn_addend *t, uint64_t batch, uint64_t head, uint64_t row)
{
    return t->p ? t->p + batch * t->batch + head * t->head + row * t->row : NULL;
}

static void finish_scores(const struct tn_attend *a, uint64_t batch, uint64_t head, uint64_t row, float *s, uint64_t lo, uint64_t hi)
{
    const float *bias = addend_at(&a->bias, batch, head, row), *mask = addend_at(&a->mask, batch, head, row);
    for (uint64_t j = lo; j < hi; j++) s[j] *= a->scale;
    for (uint64_t j = lo; a->cap > 0 && j < hi; j++) s[j] = a->cap * tanhf(s[j] / a->cap);
    for (uint64_t j = lo; bias && j < hi; j++) s[j] += bias[j];
    for (uint64_t j = lo; mask && j < hi; j++) s[j] += mask[j];
}

/* The sum of e^(s - most), which s becomes; eight lanes, whatever the compiler makes of them. */
static float exponentials(float *s, uint64_t n, float most)
{
    float lane[8] = {0};
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            s[i + k] = tn_exp_f32(s[i + k] - most);
            lane[k] += s[i + k];
        }
    }
    for (; i < n; i++) {
        s[i] = tn_exp_f32(s[i] - most);
        lane[0] += s[i];
    }
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

static void softmax_row(const struct tn_attend *a, uint64_t head, float *s, uint64_t lo, uint64_t hi)
{
    float most = a->sink ? a->sink[head] : a->smooth ? 0 : -INFINITY;
    for (uint64_t j = lo; j < hi; j++) most = s[j] > most ? s[j] : most;
    if (most == -INFINITY) { /* nothing is seen */
        memset(s, 0, a->keys * sizeof(*s));
        return;
    }
    float sum = exponentials(s + lo, hi - lo, most);
    if (a->sink) sum += expf(a->sink[head] - most);
    else if (a->smooth) sum += expf(-most);
    float factor = 1 / sum;
    for (uint64_t j = lo; j < hi; j++) s[j] *= factor;
    memset(s, 0, lo * sizeof(*s));
    memset(s + hi, 0, (a->keys - hi) * sizeof(*s));
}

static void keep_weights(const struct tn_attend *a, uint64_t batch, uint64_t head, uint64_t row, const float *s)
{
    memcpy(a->weights + ((batch * a->heads + head) * a->rows + row) * a->keys, s, a->keys * sizeof(*s));
}

/* What the dispatched kernel does not know: caps, sinks, scores that are kept before the softmax. */
static void rare_row(const struct tn_attend *a, uint64_t batch, uint64_t head, uint64_t row, float *s, uint64_t lo, uint64_t hi)
{
    finish_scores(a, batch, head, row, s, lo, hi);
    for (uint64_t j = 0; a->weights && a->raw_weights && j < a->keys; j++) {
        if (j < lo || j >= hi) s[j] = -3.4028234663852886e38f;
    }
    if (a->weights && a->raw_weights) keep_weights(a, batch, head, row, s);
    softmax_row(a, head, s, lo, hi);
}

static void score_row(const struct team *t, uint64_t batch, uint64_t head, uint64_t row, float *s)
{
    const struct tn_attend *a = t->a;
    uint64_t lo, hi;
    seen(a, batch, row, &lo, &hi);
    if (a->cap > 0 || a->sink || a->smooth || (a->weights && a->raw_weights)) {
        rare_row(a, batch, head, row, s, lo, hi);
        return;
    }
    const float *bias = addend_at(&a->bias, batch, head, row), *mask = addend_at(&a->mask, batch, head, row);
    struct tn_softmax_args k = {.x = s + lo, .rows = 1, .width = hi - lo, .scale = a->scale, .first = bias ? bias + lo : NULL,
                                .second = mask ? mask + lo : NULL, .y = s + lo, .quiet = !a->strict};
    t->kernels->softmax(&k, 0, 1);
    memset(s, 0, lo * sizeof(*s));
    memset(s + hi, 0, (a->keys - hi) * sizeof(*s));
}

/* Where a head's keys and values are, packed once for all of its rows. */
struct head {
    uint64_t batch, head;
    struct tn_linear keys, values;
    const float *k, *v;
    float *s;
};

static void pack(const struct tn_kernels *kernels, struct tn_linear *layer, const float *p, size_t n, size_t k, size_t n_step, size_t k_step, void *room)
{
    struct tn_linear_part part = {.data = p, .type = TN_FLOAT_F32, .rows = n, .row_stride = n_step, .k_stride = k_step};
    *layer = (struct tn_linear){.n = n, .k = k, .compute = TN_COMPUTE_F32, .packed = room};
    kernels->linear_pack(layer, &part, 1, room, 0, 1);
}

/* y[rows, n] = x W: by the packed matrix. */
static void multiply(const struct tn_kernels *kernels, const struct tn_linear *layer, const float *x, size_t x_row, float *y, size_t y_row, size_t rows)
{
    struct tn_linear_args args = {.layer = layer, .x = x, .x_stride = x_row, .y = y, .y_stride = y_row, .rows = rows, .act = TN_ACT_IDENTITY};
    kernels->linear(&args, 0, 1);
}

static void attend_rows(const struct team *t, const struct head *h, uint64_t from, uint64_t rows)
{
    const struct tn_attend *a = t->a;
    const float *q = a->q.p + h->batch * a->q.batch + h->head * a->q.head + from * a->q.row;
    float *out = a->out + h->batch * a->out_at.batch + h->head * a->out_at.head + from * a->out_at.row;
    bool keep = a->weights && !a->raw_weights;
    float *s = keep ? a->weights + ((h->batch * a->heads + h->head) * a->rows + from) * a->keys : h->s;
    if (t->few) {
        struct tn_dots_args d = {.x = q, .x_stride = a->q.row, .rows = rows, .w = h->k, .w_stride = a->k.row, .n = a->keys, .k = a->dim,
                                 .y = s, .y_stride = a->keys};
        t->kernels->dots(&d, 0, 1);
    } else {
        multiply(t->kernels, &h->keys, q, a->q.row, s, a->keys, rows);
    }
    for (uint64_t i = 0; i < rows; i++) score_row(t, h->batch, h->head, from + i, s + i * a->keys);
    if (!t->few) {
        multiply(t->kernels, &h->values, s, a->keys, out, a->out_at.row, rows);
        return;
    }
    struct tn_gemm p = {.m = rows, .n = a->v_dim, .k = a->keys, .a = s, .a_row = a->keys, .b = h->v, .b_k = a->v.row, .b_n = 1,
                        .c = out, .c_row = a->out_at.row};
    tn_gemm_alone(t->kernels, &p, NULL); /* plain loops: few rows, b_n is 1 */
}

static void attend_unit(const struct team *t, uint64_t unit, char *room)
{
    const struct tn_attend *a = t->a;
    struct head h = {.head = unit / t->parts % a->heads, .batch = unit / t->parts / a->heads};
    uint64_t key_head = h.head / (a->heads / a->key_heads);
    size_t begin, end;
    tn_share((size_t)a->rows, (unsigned)(unit % t->parts), (unsigned)t->parts, &begin, &end);
    h.k = a->k.p + h.batch * a->k.batch + key_head * a->k.head;
    h.v = a->v.p + h.batch * a->v.batch + key_head * a->v.head;
    h.s = (float *)(void *)(room + t->key_bytes + t->value_bytes);
    if (!t->few) {
        pack(t->kernels, &h.keys, h.k, a->keys, a->dim, a->k.row, 1, room);
        pack(t->kernels, &h.values, h.v, a->v_dim, a->keys, 1, a->v.row, room + t->key_bytes);
    }
    for (size_t i = begin; i < end; i += t->block) attend_rows(t, &h, i, end - i < t->block ? end - i : t->block);
}

static void attend_member(void *arg, unsigned rank, unsigned size)
{
    const struct team *t = arg;
    size_t begin, end;
    tn_share((size_t)(t->a->batch * t->a->heads * t->parts), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) attend_unit(t, i, t->room + rank * t->share_bytes);
}

static bool room_of(struct tn_run *r, struct team *t, unsigned want)
{
    const struct tn_attend *a = t->a;
    size_t scores;
    bool fits = t->few || (r->kernels->linear_pack_size(a->keys, a->dim ? a->dim : 1, TN_COMPUTE_F32, &t->key_bytes) &&
                           r->kernels->linear_pack_size(a->v_dim, a->keys, TN_COMPUTE_F32, &t->value_bytes));
    fits = fits && tn_mul(t->block, a->keys, &scores) && tn_mul(scores, sizeof(float), &scores) && tn_add(t->key_bytes, t->value_bytes, &t->share_bytes) &&
           tn_add(t->share_bytes, scores, &t->share_bytes) && tn_round_up(t->share_bytes, 64, &t->share_bytes);
    if (!fits) return tn_run_no_memory(r);
    t->room = tn_run_scratch(r, t->share_bytes, want ? want : 1);
    return t->room != NULL;
}

/* Heads are shared out whole where that is even; otherwise each is cut into a few parts, which all pack it. */
static uint64_t parts_of(const struct tn_attend *a, unsigned threads)
{
    uint64_t heads = a->batch * a->heads, parts = 1;
    if (threads < 2 || heads % threads == 0 || heads >= 8 * (uint64_t)threads) return 1;
    while (parts < threads && heads * parts % threads != 0) parts++;
    return parts < a->rows / LEAST_ROWS ? parts : a->rows / LEAST_ROWS + 1;
}

/* No keys: nothing is seen. */
static bool clear(const struct tn_attend *a)
{
    for (uint64_t i = 0; i < a->batch * a->heads * a->rows; i++) {
        uint64_t row = i % a->rows, head = i / a->rows % a->heads, batch = i / a->rows / a->heads;
        memset(a->out + batch * a->out_at.batch + head * a->out_at.head + row * a->out_at.row, 0, a->v_dim * sizeof(*a->out));
    }
    return true;
}

bool tn_attend(struct tn_run *r, const struct tn_attend *given)
{
    struct tn_attend a = *given;
    struct team t = {.a = &a, .kernels = r->kernels, .few = a.rows < FEW_ROWS || a.dim == 0};
    if (a.batch == 0 || a.heads == 0 || a.rows == 0 || a.v_dim == 0) return true;
    if (a.out_at.row == 0) a.out_at = (struct tn_heads){.batch = a.rows * a.heads * a.v_dim, .head = a.v_dim, .row = a.heads * a.v_dim};
    if (a.keys == 0) return clear(&a);
    t.block = SCORES / a.keys / LEAST_ROWS * LEAST_ROWS;
    if (t.block < LEAST_ROWS) t.block = LEAST_ROWS;
    if (t.few) t.block = FEW_ROWS - 1;
    if (t.block > a.rows) t.block = a.rows;
    t.parts = parts_of(&a, r->threads);
    uint64_t units = a.batch * a.heads * t.parts;
    unsigned want = r->threads < units ? r->threads : (unsigned)units;
    if (!room_of(r, &t, want)) return false;
    bool little = a.batch * a.heads * a.rows * a.keys < ((uint64_t)1 << 18) / (a.dim + 1);
    tn_pool_run(little ? NULL : r->pool, attend_member, &t, want);
    tn_heap_give(r->heap, t.room);
    return true;
}

/* ---- rotary positions --------------------------------------------------------------------------------------------- */

/* (a, b) -> (a c - b s, b c + a s) (Su et al. 2021, arXiv 2104.09864, section 3.4.2) */
static void rotate_items(void *user, uint64_t begin, uint64_t end)
{
    const struct tn_rotation *a = user;
    uint64_t half = a->turned / 2;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t head = i % a->heads, row = i / a->heads % a->rows, batch = i / a->heads / a->rows;
        const float *x = a->from.p + batch * a->from.batch + head * a->from.head + row * a->from.row;
        float *y = a->to + batch * a->to_batch + head * a->to_head + row * a->to_row;
        const float *c = a->cosine + (uint64_t)a->positions[batch * a->rows + row] * half;
        const float *s = a->sine + (uint64_t)a->positions[batch * a->rows + row] * half;
        uint64_t step = a->interleaved ? 2 : 1, apart = a->interleaved ? 1 : half;
        for (uint64_t d = 0; d < half; d++) {
            float p = x[d * step], q = x[d * step + apart];
            y[d * step] = (p * c[d] - q * s[d]) * a->scale;
            y[d * step + apart] = (q * c[d] + p * s[d]) * a->scale;
        }
        if (y != x && a->dim > a->turned) memcpy(y + a->turned, x + a->turned, (a->dim - a->turned) * sizeof(*y));
    }
}

void tn_rotate(struct tn_run *r, const struct tn_rotation *a)
{
    tn_run_items(r, a->batch * a->rows * a->heads, a->dim * 4, rotate_items, (void *)a);
}
