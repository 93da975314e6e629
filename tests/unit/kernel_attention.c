/* Attention over ragged rows: against double, and alone against in company. */
#include "kernel_util.h"

struct batch {
    int32_t offsets[16];
    size_t sequences, rows, heads, head_dim, longest;
    size_t stride; /* of the joint q, k, v buffer */
    struct guarded qkv, bias;
    size_t bias_stride, bias_center;
    float scale;
};

static struct batch make_batch(uint64_t *seed, const int *lengths, size_t sequences, size_t heads,
                               size_t head_dim, double spread)
{
    struct batch b = {.sequences = sequences, .heads = heads, .head_dim = head_dim};
    for (size_t n = 0; n < sequences; n++) {
        b.offsets[n + 1] = b.offsets[n] + lengths[n];
        if ((size_t)lengths[n] > b.longest) b.longest = (size_t)lengths[n];
    }
    b.rows = (size_t)b.offsets[sequences];
    b.stride = 3 * heads * head_dim + 1;
    b.qkv = random_rows(seed, b.rows, 3 * heads * head_dim, b.stride, 1, spread);
    b.bias_stride = 2 * b.longest + 3;
    b.bias_center = b.longest;
    b.bias = random_rows(seed, heads, 2 * b.longest, b.bias_stride, 1, 2.0);
    b.scale = (float)(1.0 / sqrt((double)head_dim));
    return b;
}

static void free_batch(struct batch *b)
{
    guarded_free(&b->qkv, "qkv");
    guarded_free(&b->bias, "bias");
}

static struct tn_attention_args args_of(const struct batch *b, bool biased)
{
    size_t width = b->heads * b->head_dim;
    return (struct tn_attention_args){
        .q = b->qkv.p,
        .k = b->qkv.p + width,
        .v = b->qkv.p + 2 * width,
        .q_stride = b->stride,
        .k_stride = b->stride,
        .v_stride = b->stride,
        .offsets = b->offsets,
        .sequences = b->sequences,
        .heads = b->heads,
        .head_dim = b->head_dim,
        .scale = b->scale,
        .bias = biased ? b->bias.p : NULL,
        .bias_stride = b->bias_stride,
        .bias_center = b->bias_center,
    };
}

/* Runs all ranks of a team with scratch of exactly the promised size, so that overruns are seen. */
static void attend(const struct tn_kernels *kernels, struct tn_attention_args *a, size_t longest,
                   unsigned size)
{
    CHECK(kernels->attention_scratch_size(longest, a->head_dim, a->position_key || a->position_query, &a->scratch_bytes));
    CHECK(a->scratch_bytes % 64 == 0);
    struct guarded scratch = guarded_new(a->scratch_bytes / sizeof(float) * size, 0);
    a->scratch = scratch.p;
    for (unsigned rank = 0; rank < size; rank++) kernels->attention(a, rank, size);
    guarded_free(&scratch, "scratch");
}

/* One output row of one head in double. */
static void exact_row(const struct tn_attention_args *a, size_t head, size_t first, size_t length,
                      size_t i, double *weights, double *out)
{
    const float *q = a->q + (first + i) * a->q_stride + head * a->head_dim;
    double max = -INFINITY, sum = 0.0;
    for (size_t j = 0; j < length; j++) {
        const float *k = a->k + (first + j) * a->k_stride + head * a->head_dim;
        double dot = 0.0;
        for (size_t d = 0; d < a->head_dim; d++) dot += (double)q[d] * k[d];
        weights[j] = dot * a->scale;
        if (a->bias) weights[j] += a->bias[head * a->bias_stride + a->bias_center + j - i];
        if (weights[j] > max) max = weights[j];
    }
    for (size_t j = 0; j < length; j++) sum += weights[j] = exp(weights[j] - max);
    for (size_t d = 0; d < a->head_dim; d++) {
        const float *v = a->v + first * a->v_stride + head * a->head_dim + d;
        out[d] = 0.0;
        for (size_t j = 0; j < length; j++) out[d] += weights[j] / sum * v[j * a->v_stride];
    }
}

/* Values are averages of numbers below `spread`; scores carry an error of some 2^-24 of their own
 * size, which is `reach`, and pass it on to the weights. */
static void check_values(const struct tn_kernels *kernels, const struct batch *b, bool biased,
                         unsigned size, double spread)
{
    size_t width = b->heads * b->head_dim, stride = width + 3;
    struct guarded out = guarded_new((b->rows - 1) * stride + width, 3);
    struct tn_attention_args a = args_of(b, biased);
    a.out = out.p;
    a.out_stride = stride;
    attend(kernels, &a, b->longest, size);
    double *weights = malloc(b->longest * sizeof(double)), exact[256], worst = 0.0;
    for (size_t n = 0; n < b->sequences; n++) {
        size_t first = (size_t)b->offsets[n], length = (size_t)b->offsets[n + 1] - first;
        for (size_t item = 0; item < length * b->heads; item++) {
            size_t i = item % length, head = item / length;
            exact_row(&a, head, first, length, i, weights, exact);
            const float *y = out.p + (first + i) * stride + head * b->head_dim;
            for (size_t d = 0; d < b->head_dim; d++) {
                double error = fabs((double)y[d] - exact[d]);
                note_error(&worst, error);
            }
        }
    }
    double reach = spread * spread * (double)b->head_dim * b->scale + 2.0;
    CHECK_NEAR(worst, 0.0, (reach + 8.0) * 0x1p-23 * spread);
    CHECK(gaps_intact(&out, b->rows, width, stride));
    free(weights);
    guarded_free(&out, "out");
}

TEST(values_at_odd_shapes)
{
    static const int lengths[] = {1, 0, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 3, 64};
    static const size_t dims[] = {1, 3, 8, 15, 16, 17, 20, 32, 33, 64, 96, 100, 128};
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
            uint64_t seed = 17 + i;
            struct batch b = make_batch(&seed, lengths, 15, 1 + i % 4, dims[i], 1.5);
            check_values(kernels, &b, false, 1, 1.5);
            check_values(kernels, &b, true, 1 + (unsigned)i % 5, 1.5);
            free_batch(&b);
        }
    }
}

TEST(long_sequence)
{
    static const int lengths[] = {700};
    EACH_TABLE(kernels) {
        uint64_t seed = 23;
        struct batch b = make_batch(&seed, lengths, 1, 2, 32, 2.0);
        check_values(kernels, &b, true, 3, 2.0);
        free_batch(&b);
    }
}

/* Scores of +-2000 must neither overflow nor lose the winner. */
TEST(large_scores_are_safe)
{
    static const int lengths[] = {40, 9};
    EACH_TABLE(kernels) {
        uint64_t seed = 29;
        struct batch b = make_batch(&seed, lengths, 2, 2, 16, 1.0);
        for (size_t t = 0; t < b.rows; t++) {
            for (size_t c = 0; c < 2 * b.heads * b.head_dim; c++) {
                b.qkv.p[t * b.stride + c] = (float)(int)(b.qkv.p[t * b.stride + c] * 20.0f);
            }
        }
        b.scale = 0.5f;
        check_values(kernels, &b, false, 1, 1.0);
        b.scale = -0.5f; /* a negative scale turns the order of the scores around */
        check_values(kernels, &b, false, 1, 1.0);
        free_batch(&b);
    }
}

/* Padding of the last vector scores 0, which must not be taken for the largest score. */
TEST(scores_far_below_zero)
{
    static const int lengths[] = {9, 1, 37};
    EACH_TABLE(kernels) {
        uint64_t seed = 41;
        struct batch b = make_batch(&seed, lengths, 3, 2, 16, 1.0);
        for (size_t t = 0; t < b.rows; t++) {
            for (size_t c = 0; c < 32; c++) {
                b.qkv.p[t * b.stride + c] = 5.0f;
                b.qkv.p[t * b.stride + 32 + c] = -5.0f - (float)(t % 3) * 0.01f;
            }
        }
        check_values(kernels, &b, false, 2, 5.0);
        free_batch(&b);
    }
}

/* Every sequence alone, team of one: the bits that any other way must give. */
TEST(bits_do_not_depend_on_company_or_team)
{
    static const int lengths[] = {5, 70, 1, 0, 33, 16, 45};
    const size_t sequences = 7;
    EACH_TABLE(kernels) {
        for (int biased = 0; biased <= 1; biased++) {
            uint64_t seed = 31;
            struct batch b = make_batch(&seed, lengths, sequences, 3, 20, 1.0);
            size_t width = b.heads * b.head_dim;
            struct guarded alone = guarded_new(b.rows * width, 0);
            struct guarded out = guarded_new(b.rows * width, 1);
            for (size_t n = 0; n < sequences; n++) {
                int32_t own[2] = {b.offsets[n], b.offsets[n + 1]};
                struct tn_attention_args a = args_of(&b, biased);
                a.offsets = own;
                a.sequences = 1;
                a.out = alone.p;
                a.out_stride = width;
                attend(kernels, &a, (size_t)lengths[n] + 1, 1);
            }
            for (unsigned size = 1; size <= 9; size++) {
                guard_fill(out.p, out.count);
                struct tn_attention_args a = args_of(&b, biased);
                a.out = out.p;
                a.out_stride = width;
                attend(kernels, &a, b.longest + 40, size);
                CHECK(rows_equal(alone.p, width, out.p, width, b.rows, width));
            }
            guarded_free(&alone, "alone");
            guarded_free(&out, "out");
            free_batch(&b);
        }
    }
}

/* Rows behind the seen ones attend and are attended by nobody: the same rows against fewer keys, whoever computes them. */
TEST(hidden_rows_are_no_keys)
{
    static const int lengths[] = {32, 5, 70, 1, 33, 16};
    const struct tn_span seen[] = {{.count = 7}, {.count = 5}, {.count = 1}, {.count = 1}, {.count = 17}, {.count = 16}};
    EACH_TABLE(kernels) {
        for (size_t window = 0; window <= 80; window += 80) {
            uint64_t seed = 43;
            double weights[70], exact[20], worst = 0.0;
            struct batch b = make_batch(&seed, lengths, 6, 2, 20, 1.0);
            struct guarded out = guarded_new(b.rows * 40, 0), team = guarded_new(b.rows * 40, 1);
            struct tn_attention_args a = args_of(&b, window > 0);
            a.window = window;
            a.seen = seen;
            a.out = out.p;
            a.out_stride = 40;
            attend(kernels, &a, b.longest, 1);
            for (size_t n = 0; n < b.sequences; n++) {
                for (size_t item = 0; item < 2 * (size_t)lengths[n]; item++) {
                    size_t first = (size_t)b.offsets[n], i = item / 2, head = item % 2;
                    exact_row(&a, head, first, (size_t)seen[n].count, i, weights, exact);
                    for (size_t d = 0; d < 20; d++)
                        note_error(&worst, fabs((double)out.p[(first + i) * 40 + head * 20 + d] - exact[d]));
                }
            }
            CHECK_NEAR(worst, 0.0, 2e-5);
            for (unsigned size = 2; size <= 5; size++) {
                a.out = team.p;
                attend(kernels, &a, b.longest, size);
                CHECK(rows_equal(out.p, 40, team.p, 40, b.rows, 40));
            }
            guarded_free(&out, "out");
            guarded_free(&team, "team");
            free_batch(&b);
        }
    }
}

/* A NaN in a key spoils its own sequence and head, one in a query its own row. */
TEST(nan_stays_in_its_sequence)
{
    static const int lengths[] = {6, 20, 6};
    EACH_TABLE(kernels) {
        uint64_t seed = 37;
        struct batch b = make_batch(&seed, lengths, 3, 2, 8, 1.0);
        b.qkv.p[10 * b.stride + 16 + 3] = NAN; /* key of row 10, head 0 */
        b.qkv.p[28 * b.stride + 8 + 2] = NAN;  /* query of row 28, head 1 */
        struct guarded out = guarded_new(b.rows * 16, 0);
        struct tn_attention_args a = args_of(&b, false);
        a.out = out.p;
        a.out_stride = 16;
        attend(kernels, &a, b.longest, 1);
        for (size_t t = 0; t < b.rows; t++) {
            for (size_t c = 0; c < 16; c++) {
                bool spoiled = (t >= 6 && t < 26 && c < 8) || (t == 28 && c >= 8);
                if ((bool)isnan(out.p[t * 16 + c]) != spoiled) {
                    test_fail(__FILE__, __LINE__, "%s: [%zu, %zu] is %g", kernels->name, t, c,
                              (double)out.p[t * 16 + c]);
                }
            }
        }
        guarded_free(&out, "out");
        free_batch(&b);
    }
}

TEST(sizes_that_do_not_fit_are_refused)
{
    EACH_TABLE(kernels) {
        size_t bytes = 5;
        CHECK(!kernels->attention_scratch_size(SIZE_MAX, 32, false, &bytes));
        CHECK(!kernels->attention_scratch_size(SIZE_MAX / 4, 32, false, &bytes));
        CHECK_INT(bytes, 5);
    }
}
