/* Softmax of rows, and dot products of a few rows with many, in every table: against double, NaN and infinities included. */
#include "kernel_util.h"

static const size_t widths[] = {1, 2, 7, 8, 15, 16, 17, 33, 64, 100, 384};
enum { WIDTHS = sizeof(widths) / sizeof(*widths), ROWS = 5, MOST = 384 };

static void exact_softmax(const struct tn_softmax_args *a, size_t t, double *y)
{
    double most = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < a->width; i++) {
        y[i] = (double)a->x[t * a->x_stride + i] * (double)a->scale;
        if (a->first) y[i] += (double)a->first[t * a->first_stride + i];
        if (a->second) y[i] += (double)a->second[t * a->second_stride + i];
        if (y[i] > most) most = y[i];
    }
    for (size_t i = 0; i < a->width; i++) sum += exp(y[i] - most);
    for (size_t i = 0; i < a->width; i++) y[i] = exp(y[i] - most) / sum;
}

static void check_softmax(const struct tn_kernels *kernels, size_t width, unsigned addends)
{
    const size_t stride = width + 3;
    uint64_t seed = width + addends;
    struct guarded x = random_rows(&seed, ROWS, width, stride, 1, 20.0), first = random_rows(&seed, 1, width, width, 3, 2.0);
    struct guarded second = random_rows(&seed, ROWS, width, stride, 2, 2.0), y = guarded_new((ROWS - 1) * stride + width, 5);
    struct tn_softmax_args a = {.x = x.p, .x_stride = stride, .rows = ROWS, .width = width, .scale = 0.37f, .first = addends & 1 ? first.p : NULL,
                                .second = addends & 2 ? second.p : NULL, .second_stride = stride, .y = y.p, .y_stride = stride};
    double exact[MOST], worst = 0;
    for (unsigned rank = 0; rank < 3; rank++) kernels->softmax(&a, rank, 3);
    CHECK(gaps_intact(&y, ROWS, width, stride));
    for (size_t t = 0; t < ROWS; t++) {
        exact_softmax(&a, t, exact);
        for (size_t i = 0; i < width; i++) note_error(&worst, fabs((double)y.p[t * stride + i] - exact[i]));
    }
    CHECK_NEAR(worst, 0.0, 1e-6);
    a.y = x.p; /* in place gives the same bits */
    kernels->softmax(&a, 0, 1);
    CHECK(rows_equal(x.p, stride, y.p, stride, ROWS, width));
    guarded_free(&x, "x");
    guarded_free(&first, "first");
    guarded_free(&second, "second");
    guarded_free(&y, "y");
}

TEST(softmax_is_exact_to_the_last_digits)
{
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < WIDTHS; i++) {
            for (unsigned addends = 0; addends < 4; addends++) check_softmax(kernels, widths[i], addends);
        }
    }
}

TEST(softmax_of_what_is_not_finite_is_what_the_formula_gives)
{
    EACH_TABLE(kernels) {
        for (size_t width = 1; width < 40; width++) {
            float x[4][40], y[40];
            for (size_t i = 0; i < width; i++) {
                x[0][i] = x[1][i] = x[2][i] = x[3][i] = (float)i * 0.1f;
                x[0][i] = -INFINITY;
            }
            x[1][width / 2] = NAN;
            x[2][width / 2] = INFINITY;
            x[3][width / 2] = -INFINITY;
            for (int form = 0; form < 4; form++) {
                struct tn_softmax_args a = {.x = x[form], .x_stride = width, .rows = 1, .width = width, .scale = 1, .y = y, .y_stride = width};
                kernels->softmax(&a, 0, 1);
                bool nan = form < 3 || width == 1;
                for (size_t i = 0; i < width; i++) CHECK(nan ? isnan(y[i]) != 0 : y[i] >= 0);
                if (!nan) CHECK(y[width / 2] == 0);
                if (form) continue;
                a.quiet = true;
                kernels->softmax(&a, 0, 1);
                for (size_t i = 0; i < width; i++) CHECK(y[i] == 0);
            }
        }
    }
}

static double exact_dot(const struct tn_dots_args *a, size_t m, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < a->k; k++) {
        size_t at = n * a->w_stride + k;
        double w = a->type == TN_DOTS_F32 ? (double)((const float *)a->w)[at]
                                          : (double)(a->type == TN_DOTS_U8 ? ((const uint8_t *)a->w)[at] : ((const int8_t *)a->w)[at]);
        if (a->zero) w -= a->zero[a->zeros == 1 ? 0 : n];
        sum += (double)a->x[m * a->x_stride + k] * w;
    }
    return sum * (double)(a->scale ? a->scale[a->scales == 1 ? 0 : n] : 1.0f);
}

static void check_dots(const struct tn_kernels *kernels, enum tn_dots_type type, size_t rows, size_t n, size_t k)
{
    const size_t stride = k + 2, w_stride = k + 1;
    uint64_t seed = n * 31 + k;
    struct guarded x = random_rows(&seed, rows, k, stride, 1, 2.0), w = random_rows(&seed, n, k, w_stride, 3, 2.0);
    struct guarded scale = random_rows(&seed, 1, n, n, 0, 0.1), y = guarded_new((rows - 1) * (n + 3) + n, 5), z = guarded_new((rows - 1) * (n + 3) + n, 5);
    int32_t *zero = malloc(n * sizeof(*zero));
    unsigned char *bytes = malloc(n * w_stride - 1); /* not a byte behind the last row may be read */
    for (size_t i = 0; i < n * w_stride - 1; i++) bytes[i] = (unsigned char)test_random(&seed);
    for (size_t i = 0; i < n; i++) zero[i] = (int32_t)(test_random(&seed) % 256) - (type == TN_DOTS_I8 ? 128 : 0);
    struct tn_dots_args a = {.x = x.p, .x_stride = stride, .rows = rows, .w = type == TN_DOTS_F32 ? (void *)w.p : bytes, .type = type, .w_stride = w_stride,
                             .n = n, .k = k, .y = y.p, .y_stride = n + 3};
    if (type != TN_DOTS_F32) {
        a.zero = zero;
        a.zeros = n % 2 ? n : 1;
        a.scale = scale.p;
        a.scales = n;
    }
    double worst = 0;
    for (unsigned rank = 0; rank < 3; rank++) kernels->dots(&a, rank, 3);
    CHECK(gaps_intact(&y, rows, n, n + 3));
    for (size_t m = 0; m < rows; m++) {
        for (size_t i = 0; i < n; i++) note_error(&worst, fabs((double)y.p[m * (n + 3) + i] - exact_dot(&a, m, i)) / (1 + (double)k));
    }
    CHECK_NEAR(worst, 0.0, 2e-6);
    a.y = z.p; /* the same bits for any team, and one row alone */
    for (size_t m = 0; m < rows; m++) {
        struct tn_dots_args one = a;
        one.x += m * stride;
        one.y += m * (n + 3);
        one.rows = 1;
        kernels->dots(&one, 0, 1);
    }
    CHECK(rows_equal(y.p, n + 3, z.p, n + 3, rows, n));
    free(zero);
    free(bytes);
    guarded_free(&x, "x");
    guarded_free(&w, "w");
    guarded_free(&scale, "scale");
    guarded_free(&y, "y");
    guarded_free(&z, "z");
}

TEST(dot_products_with_rows_as_they_lie)
{
    EACH_TABLE(kernels) {
        for (size_t i = 0; i < WIDTHS; i++) {
            for (size_t n = 1; n < 14; n += 3) {
                for (size_t rows = 1; rows < 10; rows += 2) {
                    for (int type = TN_DOTS_F32; type <= TN_DOTS_I8; type++) check_dots(kernels, (enum tn_dots_type)type, rows, n, widths[i]);
                }
            }
        }
    }
}
