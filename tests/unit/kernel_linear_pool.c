/* The pooled linear layer: against double, alone against in company, by any team. */
#include "kernel_util.h"

enum { WIDE = 83, DEEP = 37, SEQUENCES = 6 };

static const struct tn_span spans[SEQUENCES] = {{0, 5, 0}, {5, 1, 0}, {6, 0, 0}, {6, 40, 0}, {48, 9, 0}, {57, 130, 0}};
enum { ROWS = 187 };

struct layer {
    struct guarded w, bias, x;
    struct tn_linear linear;
    void *block, *scratch;
    size_t scratch_bytes;
};

static void *aligned(void *block)
{
    return (void *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
}

static struct layer make_layer(const struct tn_kernels *k, enum tn_compute compute, unsigned size)
{
    uint64_t seed = 77;
    size_t bytes;
    struct layer l = {.w = random_rows(&seed, WIDE, DEEP, DEEP, 0, 0.5), .bias = random_rows(&seed, 1, WIDE, WIDE, 0, 0.5),
                      .x = random_rows(&seed, ROWS, DEEP, DEEP + 3, 1, 1.0)};
    struct tn_linear_part part = {.data = l.w.p, .type = TN_FLOAT_F32, .rows = WIDE, .row_stride = DEEP, .k_stride = 1,
                                  .bias = l.bias.p, .bias_type = TN_FLOAT_F32};
    CHECK(k->linear_pack_size(WIDE, DEEP, compute, &bytes));
    CHECK(k->linear_scratch_size(WIDE, DEEP, compute, &l.scratch_bytes));
    l.block = malloc(bytes + l.scratch_bytes * size + 128);
    l.linear = (struct tn_linear){.n = WIDE, .k = DEEP, .compute = compute, .packed = aligned(l.block)};
    l.scratch = aligned((char *)aligned(l.block) + bytes);
    k->linear_pack(&l.linear, &part, 1, aligned(l.block), 0, 1);
    return l;
}

static void free_layer(struct layer *l)
{
    guarded_free(&l->w, "w");
    guarded_free(&l->bias, "bias");
    guarded_free(&l->x, "x");
    free(l->block);
}

static void pool(const struct tn_kernels *k, const struct layer *l, const struct tn_span *s, const uint32_t *to, size_t sequences, float *y,
                 bool sum, bool twice, unsigned size)
{
    struct tn_linear_pool_args a = {.layer = &l->linear, .x = l->x.p, .x_stride = DEEP + 3, .rows = ROWS, .spans = s, .to = to,
                                    .sequences = sequences, .y = y, .y_stride = WIDE + 2, .sum = sum, .twice = twice,
                                    .scratch = l->scratch, .scratch_bytes = l->scratch_bytes};
    for (unsigned rank = 0; rank < size; rank++) k->linear_pool(&a, rank, size);
}

static double exact(const struct layer *l, const struct tn_span *span, size_t n, bool sum, bool twice)
{
    double result = 0;
    for (int32_t r = 0; r < span->count; r++) {
        double z = l->bias.p[n];
        for (size_t k = 0; k < DEEP; k++) z += (double)l->x.p[(size_t)(span->first + r) * (DEEP + 3) + k] * l->w.p[n * DEEP + k];
        z = log1p(z > 0 ? z : 0);
        if (twice) z = log1p(z);
        result = sum ? result + z : z > result ? z : result;
    }
    return result;
}

static const uint32_t turned[SEQUENCES] = {3, 0, 5, 1, 4, 2};

TEST(values)
{
    EACH_TABLE(k) {
        struct layer l = make_layer(k, TN_COMPUTE_F32, 1);
        for (unsigned kind = 0; kind < 4; kind++) {
            bool sum = kind & 1, twice = kind & 2;
            double worst = 0;
            struct guarded y = guarded_new((SEQUENCES - 1) * (WIDE + 2) + WIDE, 0);
            pool(k, &l, spans, turned, SEQUENCES, y.p, sum, twice, 1);
            for (size_t s = 0; s < SEQUENCES; s++)
                for (size_t n = 0; n < WIDE; n++) {
                    double expected = exact(&l, &spans[s], n, sum, twice);
                    note_error(&worst, fabs((double)y.p[turned[s] * (WIDE + 2) + n] - expected) / (expected > 1 ? expected : 1));
                }
            CHECK_NEAR(worst, 0.0, 5e-6);
            CHECK(gaps_intact(&y, SEQUENCES, WIDE, WIDE + 2));
            guarded_free(&y, "y");
        }
        free_layer(&l);
    }
}

/* Each sequence alone by one: the bits that company, teams and bf16 by blocks must give. */
TEST(bits_do_not_depend_on_company_or_team)
{
    EACH_TABLE(k) {
        for (unsigned kind = 0; kind < 4; kind++) {
            bool sum = kind & 1;
            enum tn_compute compute = kind & 2 ? TN_COMPUTE_BF16 : TN_COMPUTE_F32;
            if (compute == TN_COMPUTE_BF16 && !k->bf16) continue;
            struct layer l = make_layer(k, compute, 7);
            struct guarded alone = guarded_new((SEQUENCES - 1) * (WIDE + 2) + WIDE, 0), y = guarded_new((SEQUENCES - 1) * (WIDE + 2) + WIDE, 1);
            for (size_t s = 0; s < SEQUENCES; s++) pool(k, &l, &spans[s], &turned[s], 1, alone.p, sum, false, 1);
            for (unsigned size = 1; size <= 7; size++) {
                guard_fill(y.p, y.count);
                pool(k, &l, spans, turned, SEQUENCES, y.p, sum, false, size);
                CHECK(rows_equal(alone.p, WIDE + 2, y.p, WIDE + 2, SEQUENCES, WIDE));
            }
            guarded_free(&alone, "alone");
            guarded_free(&y, "y");
            free_layer(&l);
        }
    }
}

/* A NaN in a row spoils its own sequence, and nothing hides it. */
TEST(nan_stays_in_its_sequence)
{
    EACH_TABLE(k) {
        for (unsigned sum = 0; sum < 2; sum++) {
            struct layer l = make_layer(k, TN_COMPUTE_F32, 1);
            struct guarded y = guarded_new((SEQUENCES - 1) * (WIDE + 2) + WIDE, 0);
            l.x.p[50 * (DEEP + 3) + 4] = NAN;
            pool(k, &l, spans, turned, SEQUENCES, y.p, sum, false, 1);
            for (size_t s = 0; s < SEQUENCES; s++)
                for (size_t n = 0; n < WIDE; n++) CHECK_INT(isnan(y.p[turned[s] * (WIDE + 2) + n]) != 0, s == 4);
            guarded_free(&y, "y");
            free_layer(&l);
        }
    }
}
