/*
 * Scaled dot-product attention (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.1) with masks, windows and soft caps:
 * products on the packed kernels, scores of a block of query rows at a time.
 */
#include "ops/attention.h"
#include "ops/exp.h"
#include "ops/gemm.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* Scores of a block stay in the cache; enough rows share a packed head. */
enum { BLOCK = 64 };

struct attention_job {
    const struct tn_attention *a;
    const struct tn_kernels *kernels;
    uint64_t block, blocks; /* rows of one; how many for a head */
    size_t scores_bytes, share_bytes;
    char *room;
    bool wide;
};

/* Element (k, n) of b is b[k * b_k + n * b_n]. */
static void multiply_f32(const struct attention_job *j, const float *a, uint64_t a_row, const float *b, uint64_t b_k, uint64_t b_n, float *c,
                         uint64_t c_row, uint64_t m, uint64_t n, uint64_t k, void *pack)
{
    struct tn_gemm g = {.m = m, .n = n, .k = k, .a = a, .a_row = a_row, .b = b, .b_k = b_k, .b_n = b_n, .c = c, .c_row = c_row};
    /* A few queries against many keys: dot products, in eight lanes. */
    for (uint64_t i = 0; m < 4 && b_k == 1 && i < m; i++) {
        for (uint64_t o = 0; o < n; o++) {
            const float *x = a + i * a_row, *y = b + o * b_n;
            float lane[8] = {0}, tail = 0;
            uint64_t p = 0;
            for (; p + 8 <= k; p += 8) {
                for (int q = 0; q < 8; q++) lane[q] += x[p + q] * y[p + q];
            }
            for (; p < k; p++) tail += x[p] * y[p];
            c[i * c_row + o] = (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))) + tail;
        }
    }
    if (m >= 4 || b_k != 1) tn_gemm_alone(j->kernels, &g, pack);
}

static void multiply_f64(const struct attention_job *j, const double *a, uint64_t a_row, const double *b, uint64_t b_k, uint64_t b_n, double *c,
                         uint64_t c_row, uint64_t m, uint64_t n, uint64_t k, void *pack)
{
    (void)j;
    (void)pack;
    for (uint64_t i = 0; i < m; i++) {
        for (uint64_t o = 0; o < n; o++) {
            double sum = 0;
            for (uint64_t p = 0; p < k; p++) sum += a[i * a_row + p] * b[p * b_k + o * b_n];
            c[i * c_row + o] = sum;
        }
    }
}

#define REAL float
#define TN_BODY(name) name##_f32
#define EXP(x) tn_exp_f32(x)
#define MULTIPLY multiply_f32
#include "ops/attention_body.h"
#undef REAL
#undef TN_BODY
#undef EXP
#undef MULTIPLY
#define REAL double
#define TN_BODY(name) name##_f64
#define EXP(x) exp(x)
#define MULTIPLY multiply_f64
#include "ops/attention_body.h"

static void job_member(void *arg, unsigned rank, unsigned size)
{
    const struct attention_job *j = arg;
    size_t begin, end;
    tn_share((size_t)(j->a->batch * j->a->q_heads * j->blocks), rank, size, &begin, &end);
    for (size_t i = begin; i < end; i++) (j->wide ? block_f64 : block_f32)(j, i, j->room + rank * j->share_bytes);
}

/* Scratch of one thread: scores of a block, and the larger of the two packed matrices. */
static bool plan_room(struct tn_run *r, struct attention_job *j)
{
    const struct tn_attention *a = j->a;
    size_t keys = 0, values = 0, scores;
    bool fits = j->wide || (r->kernels->linear_pack_size(a->kv_rows, a->size ? a->size : 1, TN_COMPUTE_F32, &keys) &&
                            r->kernels->linear_pack_size(a->v_size ? a->v_size : 1, a->kv_rows, TN_COMPUTE_F32, &values));
    fits = fits && tn_mul((size_t)j->block, (size_t)a->kv_rows, &scores) && tn_mul(scores, sizeof(double), &scores) &&
           tn_round_up(scores, 64, &j->scores_bytes) && tn_add(j->scores_bytes, keys > values ? keys : values, &j->share_bytes) &&
           tn_round_up(j->share_bytes, 64, &j->share_bytes);
    return fits || tn_run_no_memory(r);
}

bool tn_attention_run(struct tn_run *r, const struct tn_attention *a, bool wide)
{
    struct attention_job j = {.a = a, .kernels = r->kernels, .block = a->q_rows < BLOCK ? a->q_rows : BLOCK, .wide = wide};
    if (a->batch == 0 || a->q_heads == 0 || a->q_rows == 0) return true;
    if (a->kv_rows == 0) { /* no keys: nothing is seen */
        size_t each = wide ? sizeof(double) : sizeof(float);
        for (uint64_t i = 0; a->y && i < a->batch * a->q_heads * a->q_rows; i++) {
            uint64_t row = i % a->q_rows, head = i / a->q_rows % a->q_heads, batch = i / a->q_rows / a->q_heads;
            uint64_t at = batch * a->y_at.batch + head * a->y_at.head + row * a->y_at.row;
            memset((char *)a->y + at * each, 0, a->v_size * each);
        }
        return true;
    }
    j.blocks = (a->q_rows + j.block - 1) / j.block;
    uint64_t items = a->batch * a->q_heads * j.blocks;
    unsigned want = r->threads < items ? r->threads : (unsigned)items;
    if (!plan_room(r, &j)) return false;
    j.room = tn_run_scratch(r, j.share_bytes, want ? want : 1);
    if (!j.room) return false;
    bool little = a->batch * a->q_heads * a->q_rows * (a->size + a->v_size) < (1 << 18) / a->kv_rows;
    tn_pool_run(little ? NULL : r->pool, job_member, &j, want);
    tn_heap_give(r->heap, j.room);
    return true;
}
