/* Attention and rotary positions for the contributed operators; see the header. Shapes have been checked. */
#include "ops/contrib_attend.h"

#include "ops/exp.h"
#include "ops/gemm.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- scores ------------------------------------------------------------------------------------------------------- */

/* Scores of one block of rows stay in the cache. */
enum { SCORES = 1 << 17, LEAST_ROWS = 32 };

struct team {
    const struct tn_attend *a;
    const struct tn_kernels *kernels;
    uint64_t block; /* rows of one piece of work */
    char *room;
    size_t pack_bytes, share_bytes;
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

static void finish_scores(const struct tn_attend *a, uint64_t batch, uint64_t head, uint64_t row, float *s, uint64_t lo, uint64_t hi)
{
    const float *bias = a->bias.p ? a->bias.p + batch * a->bias.batch + head * a->bias.head + row * a->bias.row : NULL;
    const float *mask = a->mask.p ? a->mask.p + batch * a->mask.batch + head * a->mask.head + row * a->mask.row : NULL;
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

static void attend_block(const struct team *t, uint64_t item, char *room)
{
    const struct tn_attend *a = t->a;
    uint64_t blocks = (a->rows + t->block - 1) / t->block, head = item / blocks % a->heads, batch = item / blocks / a->heads;
    uint64_t from = item % blocks * t->block, rows = from + t->block < a->rows ? t->block : a->rows - from;
    uint64_t key_head = head / (a->heads / a->key_heads);
    float *s = (float *)(room + t->pack_bytes);
    struct tn_gemm g = {.m = rows, .n = a->keys, .k = a->dim, .a = a->q.p + batch * a->q.batch + head * a->q.head + from * a->q.row,
                        .a_row = a->q.row, .b = a->k.p + batch * a->k.batch + key_head * a->k.head, .b_k = 1, .b_n = a->k.row,
                        .c = s, .c_row = a->keys};
    tn_gemm_alone(t->kernels, &g, room);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t lo, hi;
        float *row = s + i * a->keys;
        seen(a, batch, from + i, &lo, &hi);
        finish_scores(a, batch, head, from + i, row, lo, hi);
        for (uint64_t j = 0; a->weights && a->raw_weights && j < a->keys; j++) {
            if (j < lo || j >= hi) row[j] = -3.4028234663852886e38f;
        }
        if (a->weights && a->raw_weights) keep_weights(a, batch, head, from + i, row);
        softmax_row(a, head, row, lo, hi);
        if (a->weights && !a->raw_weights) keep_weights(a, batch, head, from + i, row);
    }
    struct tn_gemm p = {.m = rows, .n = a->v_dim, .k = a->keys, .a = s, .a_row = a->keys, .b = a->v.p + batch * a->v.batch + key_head * a->v.head,
                        .b_k = a->v.row, .b_n = 1, .c = a->out + ((batch * a->rows + from) * a->heads + head) * a->v_dim, .c_row = a->heads * a->v_dim};
    tn_gemm_alone(t->kernels, &p, room);
}

static void attend_member(void *arg, unsigned rank, unsigned size)
{
    const struct team *t = arg;
    const struct tn_attend *a = t->a;
    size_t begin, end;
    tn_share((size_t)(a->batch * a->heads * ((a->rows + t->block - 1) / t->block)), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) attend_block(t, i, t->room + rank * t->share_bytes);
}

static bool room_of(struct tn_run *r, struct team *t, unsigned want)
{
    const struct tn_attend *a = t->a;
    size_t first, second, scores;
    struct tn_gemm g = {.m = t->block, .n = a->keys, .k = a->dim, .b_k = 1, .b_n = a->k.row}, p = {.m = t->block, .n = a->v_dim, .k = a->keys, .b_n = 1};
    /* The last block may be smaller and take the other road, which needs less or as much as linear_pack_size says. */
    if (!r->kernels->linear_pack_size(g.n ? g.n : 1, g.k ? g.k : 1, TN_COMPUTE_F32, &first) ||
        !r->kernels->linear_pack_size(p.n ? p.n : 1, p.k ? p.k : 1, TN_COMPUTE_F32, &second) || !tn_mul(t->block, a->keys, &scores) ||
        !tn_mul(scores, sizeof(float), &scores))
        return tn_run_no_memory(r);
    t->pack_bytes = first > second ? first : second;
    if (!tn_add(t->pack_bytes, scores, &t->share_bytes) || !tn_add(t->share_bytes, 63, &t->share_bytes)) return tn_run_no_memory(r);
    t->share_bytes -= t->share_bytes % 64;
    t->room = tn_run_scratch(r, t->share_bytes ? t->share_bytes : 64, want ? want : 1);
    return t->room != NULL;
}

bool tn_attend(struct tn_run *r, const struct tn_attend *a)
{
    struct team t = {.a = a, .kernels = r->kernels};
    if (a->batch == 0 || a->heads == 0 || a->rows == 0 || a->v_dim == 0) return true;
    if (a->keys == 0) {
        memset(a->out, 0, a->batch * a->rows * a->heads * a->v_dim * sizeof(*a->out));
        return true;
    }
    t.block = SCORES / a->keys;
    if (t.block < LEAST_ROWS) t.block = LEAST_ROWS;
    if (t.block > a->rows) t.block = a->rows;
    uint64_t items = a->batch * a->heads * ((a->rows + t.block - 1) / t.block);
    unsigned want = r->threads < items ? r->threads : (unsigned)items;
    if (!room_of(r, &t, want)) return false;
    bool little = a->batch * a->heads * a->rows * a->keys < ((uint64_t)1 << 18) / (a->dim + 1);
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
