/* Row operators of every table: layer norm, embedding, pooling, normalisation, check. */
#include "kernel_util.h"

#include "kernel/float16.h"

static const size_t widths[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 128, 384};
enum { WIDTHS = sizeof(widths) / sizeof(*widths) };

static void exact_norm(const double *v, double *y, size_t width, const float *gamma,
                       const float *beta, double eps)
{
    double mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < width; i++) mean += v[i] / (double)width;
    for (size_t i = 0; i < width; i++) variance += (v[i] - mean) * (v[i] - mean) / (double)width;
    for (size_t i = 0; i < width; i++) {
        y[i] = (v[i] - mean) / sqrt(variance + eps);
        y[i] = y[i] * (gamma ? gamma[i] : 1.0) + (beta ? beta[i] : 0.0);
    }
}

/* Normed values are of order 1..20; an error of a few 2^-24 of the largest operand is expected. */
static void check_norm(const struct tn_kernels *kernels, size_t width, bool affine, bool residual)
{
    const size_t rows = 5, stride = width + 2;
    uint64_t seed = width;
    struct guarded x = random_rows(&seed, rows, width, stride, 1, 3.0);
    struct guarded r = random_rows(&seed, rows, width, width, 2, 3.0);
    struct guarded g = random_rows(&seed, 1, width, width, 3, 2.0);
    struct guarded b = random_rows(&seed, 1, width, width, 1, 2.0);
    struct guarded y = guarded_new((rows - 1) * stride + width, 5);
    struct tn_layer_norm_args a = {
        .x = x.p, .x_stride = stride, .residual = residual ? r.p : NULL, .residual_stride = width,
        .y = y.p, .y_stride = stride, .rows = rows, .width = width,
        .gamma = affine ? g.p : NULL, .beta = affine ? b.p : NULL, .eps = 1e-5f,
    };
    for (unsigned rank = 0; rank < 3; rank++) kernels->layer_norm(&a, rank, 3);
    CHECK(gaps_intact(&y, rows, width, stride));
    double v[384], exact[384], worst = 0.0;
    for (size_t t = 0; t < rows; t++) {
        for (size_t i = 0; i < width; i++) {
            v[i] = residual ? x.p[t * stride + i] + r.p[t * width + i] : x.p[t * stride + i];
        }
        exact_norm(v, exact, width, a.gamma, a.beta, 1e-5);
        for (size_t i = 0; i < width; i++) {
            double error = fabs((double)y.p[t * stride + i] - exact[i]);
            note_error(&worst, error);
        }
    }
    /* with one or two columns the variance is a difference of nearly equal numbers */
    CHECK_NEAR(worst, 0.0, width <= 2 ? 1e-4 : 3e-6);
    /* in place gives the same bits */
    a.y = x.p;
    if (residual) {
        kernels->layer_norm(&a, 0, 1);
        CHECK(rows_equal(x.p, stride, y.p, stride, rows, width));
    }
    guarded_free(&x, "x");
    guarded_free(&r, "residual");
    guarded_free(&g, "gamma");
    guarded_free(&b, "beta");
    guarded_free(&y, "y");
}

TEST(layer_norm_values)
{
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < WIDTHS; i++) {
            check_norm(kernels, widths[i], true, true);
            check_norm(kernels, widths[i], true, false);
            check_norm(kernels, widths[i], false, false);
        }
    }
}

/* A large common offset must not eat the variance, as it would in a one-pass formula. */
TEST(layer_norm_with_large_mean)
{
    EACH_TABLE(kernels) {
        float x[64], y[64];
        for (int i = 0; i < 64; i++) x[i] = 4096.0f + (float)(i % 2);
        struct tn_layer_norm_args a = {.x = x, .x_stride = 64, .y = y, .y_stride = 64, .rows = 1,
                                       .width = 64, .eps = 0.0f};
        kernels->layer_norm(&a, 0, 1);
        for (int i = 0; i < 64; i++) CHECK_NEAR(y[i], i % 2 ? 1.0 : -1.0, 1e-6);
    }
}

/* The embedding: exact sums in order, from tables of every type at odd addresses. */
TEST(embed_sums_in_order)
{
    EACH_TABLE(kernels) {
        for (size_t w = 0; w < WIDTHS; w++) {
            const size_t width = widths[w], rows = 6, vocabulary = 9;
            uint64_t seed = 3 + w;
            float table[9 * 384];
            char *stored[TN_FLOAT_TYPES];
            for (size_t i = 0; i < vocabulary * width; i++) {
                table[i] = (float)test_uniform(&seed, -1.0, 1.0);
            }
            for (int type = 0; type < TN_FLOAT_TYPES; type++) {
                stored[type] = malloc(vocabulary * width * tn_float_type_size(type) + 1);
                kernels->from_f32((enum tn_float_type)type, table, stored[type] + 1,
                                  vocabulary * width);
            }
            const int32_t ids[6] = {8, 0, 3, 3, 7, 1}, positions[6] = {0, 1, 2, 3, 4, 5};
            struct guarded y = guarded_new((rows - 1) * (width + 1) + width, 1);
            struct tn_embed_args a = {
                .table = {{stored[TN_FLOAT_F32] + 1, TN_FLOAT_F32, ids},
                          {stored[TN_FLOAT_F16] + 1, TN_FLOAT_F16, positions},
                          {stored[TN_FLOAT_BF16] + 1, TN_FLOAT_BF16, NULL}},
                .tables = 3, .y = y.p, .y_stride = width + 1, .rows = rows, .width = width,
            };
            kernels->embed(&a, 0, 2);
            kernels->embed(&a, 1, 2);
            bool equal = true;
            for (size_t t = 0; t < rows; t++) {
                for (size_t i = 0; i < width; i++) {
                    float position = tn_f16_to_f32(
                        tn_f32_to_f16(table[(size_t)positions[t] * width + i]));
                    float type = tn_bf16_to_f32(tn_f32_to_bf16(table[i]));
                    float sum = table[(size_t)ids[t] * width + i] + position;
                    sum += type;
                    equal = equal && y.p[t * (width + 1) + i] == sum;
                }
            }
            CHECK(equal);
            CHECK(gaps_intact(&y, rows, width, width + 1));
            /* with the norm: the same bits as the separate operator */
            struct guarded z = guarded_new(y.count, 2);
            a.y = z.p;
            a.norm = true;
            a.eps = 1e-12f;
            a.gamma = table;
            kernels->embed(&a, 0, 1);
            struct tn_layer_norm_args norm = {.x = y.p, .x_stride = width + 1, .y = y.p,
                                              .y_stride = width + 1, .rows = rows, .width = width,
                                              .gamma = table, .eps = 1e-12f};
            kernels->layer_norm(&norm, 0, 1);
            CHECK(rows_equal(y.p, width + 1, z.p, width + 1, rows, width));
            guarded_free(&y, "y");
            guarded_free(&z, "z");
            for (int type = 0; type < TN_FLOAT_TYPES; type++) free(stored[type]);
        }
    }
}

static void pool(const struct tn_kernels *kernels, enum tn_pooling mode, const float *x,
                 size_t stride, size_t width, const struct tn_span *spans, size_t sequences,
                 float *y, unsigned size)
{
    struct tn_pooling_args a = {.mode = mode, .x = x, .x_stride = stride, .width = width,
                                .spans = spans, .sequences = sequences, .y = y, .y_stride = width};
    for (unsigned rank = 0; rank < size; rank++) kernels->pooling(&a, rank, size);
}

/* Worked by hand: rows [3, 0], [1, 4] of a sequence whose third row is left out. */
TEST(pooling_by_hand)
{
    static const float x[] = {3, 0, 1, 4, 100, 100};
    static const struct tn_span span = {0, 2, 0}, after_prompt = {1, 2, 1};
    static const double expected[TN_POOLINGS][2] = {
        [TN_POOLING_CLS] = {3, 0},
        [TN_POOLING_MAX] = {3, 4},
        [TN_POOLING_MEAN] = {2, 2},
        [TN_POOLING_MEAN_SQRT_LEN] = {2.8284271247461903, 2.8284271247461903},
        [TN_POOLING_WEIGHTED_MEAN] = {5.0 / 3.0, 8.0 / 3.0},
        [TN_POOLING_LAST_TOKEN] = {1, 4},
    };
    EACH_TABLE(kernels) {
        float y[2];
        for (int mode = 0; mode < TN_POOLINGS; mode++) {
            pool(kernels, (enum tn_pooling)mode, x, 2, 2, &span, 1, y, 1);
            CHECK_NEAR(y[0], expected[mode][0], 3e-7);
            CHECK_NEAR(y[1], expected[mode][1], 3e-7);
        }
        pool(kernels, TN_POOLING_WEIGHTED_MEAN, x, 2, 2, &after_prompt, 1, y, 1);
        CHECK_NEAR(y[0], (2.0 * 1 + 3.0 * 100) / 5.0, 1e-5);
        CHECK_NEAR(y[1], (2.0 * 4 + 3.0 * 100) / 5.0, 1e-5);
    }
}

/* Sums run over rows in order in every table, so all of them agree bit for bit. */
TEST(pooling_agrees_with_reference)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    static const struct tn_span spans[] = {{0, 1, 0}, {1, 0, 0}, {1, 30, 0}, {40, 17, 5}, {57, 3, 2}};
    EACH_TABLE(kernels) {
        for (size_t w = 0; w < WIDTHS; w++) {
            const size_t width = widths[w], stride = width + 3;
            uint64_t seed = w;
            struct guarded x = random_rows(&seed, 60, width, stride, 1, 1.0);
            struct guarded y = guarded_new(5 * width, 1), expected = guarded_new(5 * width, 0);
            for (int mode = 0; mode < TN_POOLINGS; mode++) {
                pool(ref, (enum tn_pooling)mode, x.p, stride, width, spans, 5, expected.p, 1);
                pool(kernels, (enum tn_pooling)mode, x.p, stride, width, spans, 5, y.p,
                     1 + (unsigned)mode);
                CHECK(memcmp(y.p, expected.p, 5 * width * sizeof(float)) == 0);
                CHECK(y.p[width] == 0.0f && y.p[2 * width - 1] == 0.0f); /* the empty span */
            }
            guarded_free(&x, "x");
            guarded_free(&y, "y");
            guarded_free(&expected, "expected");
        }
    }
}

TEST(pooling_max_keeps_nan)
{
    EACH_TABLE(kernels) {
        float x[] = {1, 1, NAN, 2, 3, INFINITY, 2, -5}, y[2];
        static const struct tn_span span = {0, 4, 0};
        pool(kernels, TN_POOLING_MAX, x, 2, 2, &span, 1, y, 1);
        CHECK(isnan(y[0]));
        CHECK(y[1] == INFINITY);
    }
}

TEST(normalize_rows)
{
    EACH_TABLE(kernels) {
        for (size_t w = 0; w < WIDTHS; w++) {
            const size_t width = widths[w], rows = 4, stride = width + 1;
            uint64_t seed = w;
            struct guarded x = random_rows(&seed, rows, width, stride, 1, 2.0);
            struct guarded y = guarded_new(x.count, 3);
            for (size_t i = 0; i < width; i++) x.p[2 * stride + i] = 0.0f;
            kernels->normalize(x.p, stride, y.p, stride, rows, width, 0, 2);
            kernels->normalize(x.p, stride, y.p, stride, rows, width, 1, 2);
            for (size_t t = 0; t < rows; t++) {
                double squares = 0.0;
                for (size_t i = 0; i < width; i++) {
                    squares += (double)x.p[t * stride + i] * x.p[t * stride + i];
                }
                double norm = fmax(sqrt(squares), 1e-12), worst = 0.0;
                for (size_t i = 0; i < width; i++) {
                    double u = ulps(y.p[t * stride + i], x.p[t * stride + i] / norm);
                    note_error(&worst, u);
                }
                CHECK_NEAR(worst, 0.0, 3.0);
            }
            CHECK(gaps_intact(&y, rows, width, stride));
            kernels->normalize(x.p, stride, x.p, stride, rows, width, 0, 1);
            CHECK(rows_equal(x.p, stride, y.p, stride, rows, width));
            guarded_free(&x, "x");
            guarded_free(&y, "y");
        }
    }
}

TEST(normalize_follows_torch_at_the_edges)
{
    EACH_TABLE(kernels) {
        /* a norm below 1e-12 divides by 1e-12 instead */
        float tiny[2] = {3e-13f, 4e-13f}, bad[2] = {NAN, 1.0f};
        kernels->normalize(tiny, 2, tiny, 2, 1, 2, 0, 1);
        CHECK_NEAR(tiny[0], 0.3, 1e-6);
        CHECK_NEAR(tiny[1], 0.4, 1e-6);
        kernels->normalize(bad, 2, bad, 2, 1, 2, 0, 1);
        CHECK(isnan(bad[0]) && isnan(bad[1]));
    }
}

TEST(finite_finds_every_place)
{
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    EACH_TABLE(kernels) {
        for (size_t w = 0; w < WIDTHS; w++) {
            const size_t width = widths[w];
            uint64_t seed = w;
            struct guarded x = random_rows(&seed, 3, width, width + 1, 1, 3e38);
            uint8_t finite[3];
            kernels->rows_finite(x.p, width + 1, 3, width, finite, 0, 1);
            CHECK(finite[0] == 1 && finite[1] == 1 && finite[2] == 1);
            for (size_t i = 0; i < width; i++) {
                float old = x.p[width + 1 + i];
                x.p[width + 1 + i] = bad[i % 4];
                for (unsigned rank = 0; rank < 2; rank++) {
                    kernels->rows_finite(x.p, width + 1, 3, width, finite, rank, 2);
                }
                CHECK(finite[0] == 1 && finite[1] == 0 && finite[2] == 1);
                x.p[width + 1 + i] = old;
            }
            guarded_free(&x, "x");
        }
    }
}
