/*
 * Images whose channels are neighbours: every table gives the reference's bits, however the work is cut, and the reference is
 * held against sums in double.
 */
#include "kernel_util.h"

static const struct tn_after afters[] = {
    {.kind = TN_FINISH_NONE},
    {.kind = TN_FINISH_CLIP, .a = -0.5f, .b = 1.5f},
    {.kind = TN_FINISH_LEAKY_RELU, .a = 0.1f, .line = true, .scale = 0.7f, .shift = -0.3f},
    {.kind = TN_FINISH_HARD_SIGMOID, .a = 0.2f, .b = 0.5f},
    {.kind = TN_FINISH_HARD_SWISH, .a = 1.0f / 6, .b = 0.5f, .line = true, .scale = 1.3f, .shift = 0.1f},
    {.kind = TN_FINISH_ACT, .act = TN_ACT_RELU, .line = true, .scale = -2, .shift = 1},
};
enum { AFTERS = sizeof(afters) / sizeof(afters[0]) };

/* ---- pixels ------------------------------------------------------------------------------------------------------- */

static void run_pixels(const struct tn_kernels *k, struct tn_pixels_args a, const float *w, size_t piece, unsigned parts)
{
    const struct tn_pixels_args all = a;
    size_t bytes;
    CHECK(k->pixels_pack_size(a.maps, a.k, &bytes));
    void *packed = aligned_alloc(64, bytes + 64);
    for (unsigned r = 0; r < 3; r++) k->pixels_pack(w, TN_FLOAT_F32, a.maps, a.k, packed, r, 3);
    a.packed = packed;
    a.parts = parts;
    for (size_t at = 0; at < all.rows; at += piece) {
        a.x = all.x + at * a.x_stride;
        a.y = all.y + at * a.y_stride;
        a.residual = all.residual ? all.residual + at * a.residual_stride : NULL;
        a.rows = all.rows - at < piece ? all.rows - at : piece;
        for (a.part = 0; a.part < parts; a.part++) k->pixels(&a);
    }
    free(packed);
}

struct product {
    size_t rows, k, maps, residual_maps;
};

static double exact_error(const struct tn_pixels_args *a, const float *w)
{
    double worst = 0;
    for (size_t i = 0; i < a->rows * a->maps; i++) {
        size_t row = i / a->maps, map = i % a->maps;
        double sum = (double)a->bias[map] + (map < a->residual_maps ? (double)a->residual[row * a->residual_stride + map] : 0), magnitude = fabs(sum);
        for (size_t c = 0; c < a->k; c++) {
            double v = (double)w[map * a->k + c] * (double)a->x[row * a->x_stride + c];
            sum += v;
            magnitude += fabs(v);
        }
        note_error(&worst, fabs((double)a->y[row * a->y_stride + map] - sum) / (magnitude + 1e-30));
    }
    return worst;
}

static void check_pixels(const struct tn_kernels *k, uint64_t *seed, struct product p, const struct tn_after *after)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    struct guarded x = random_rows(seed, p.rows, p.k, p.k + 5, 1, 2.0), w = random_rows(seed, 1, p.maps * p.k, p.maps * p.k, 3, 1.0);
    struct guarded bias = random_rows(seed, 1, p.maps, p.maps, 0, 1.0), residual = random_rows(seed, p.rows, p.residual_maps, p.maps + 3, 2, 1.0);
    struct guarded want = guarded_new(p.rows * (p.maps + 7), 1), got = guarded_new(p.rows * (p.maps + 7), 3);
    struct tn_pixels_args a = {.x = x.p, .x_stride = p.k + 5, .rows = p.rows, .k = p.k, .bias = bias.p, .after = after, .residual = residual.p,
                               .residual_stride = p.maps + 3, .residual_maps = p.residual_maps, .y = want.p, .y_stride = p.maps + 7, .maps = p.maps};
    run_pixels(ref, a, w.p, p.rows, 1);
    double worst = after == afters ? exact_error(&a, w.p) : 0;
    if (!(worst < 3e-6)) test_fail(__FILE__, __LINE__, "%zu maps, %zu steps: error %.2g", p.maps, p.k, worst);
    static const size_t pieces[] = {1000, 12, 17};
    for (unsigned i = 0; i < 3; i++) {
        guard_fill(got.p, got.count);
        a.y = got.p;
        run_pixels(k, a, w.p, pieces[i], i + 1);
        if (!rows_equal(want.p, p.maps + 7, got.p, p.maps + 7, p.rows, p.maps) || !gaps_intact(&got, p.rows, p.maps, p.maps + 7))
            test_fail(__FILE__, __LINE__, "%s: other bits: %zu rows, %zu steps, %zu maps, cut %u", k->name, p.rows, p.k, p.maps, i);
    }
    guarded_free(&x, "x");
    guarded_free(&w, "w");
    guarded_free(&bias, "bias");
    guarded_free(&residual, "residual");
    guarded_free(&want, "want");
    guarded_free(&got, "got");
}

TEST(kernel_pixels_bits)
{
    static const struct product products[] = {{1, 1, 1, 1},     {12, 7, 32, 32},  {13, 24, 100, 80}, {25, 193, 33, 32}, {8, 400, 16, 0},
                                              {40, 17, 257, 3}, {49, 385, 24, 8}, {31, 6, 40, 40},   {30, 50, 88, 72}};
    EACH_TABLE(k) {
        uint64_t seed = 3;
        for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
            for (size_t f = 0; f < AFTERS; f++) check_pixels(k, &seed, products[i], &afters[f]);
        }
    }
}

/* ---- depth -------------------------------------------------------------------------------------------------------- */

struct image {
    size_t channels, height, width;
    ptrdiff_t top, left;
    size_t window_height, window_width, down, across, spread, out_height, out_width;
    bool zeros, plain;
};

static void run_depth(const struct tn_kernels *k, struct tn_depth_args a, size_t results, size_t piece)
{
    const float *residual = a.residual;
    float *y = a.y;
    for (a.first = 0; a.first < results; a.first += piece) {
        a.count = results - a.first < piece ? results - a.first : piece;
        a.y = y + a.first * a.channels;
        a.residual = residual ? residual + a.first * a.channels : NULL;
        k->depth(&a);
    }
}

static double depth_error(const struct tn_depth_args *a, size_t results)
{
    double worst = 0;
    for (size_t i = 0; i < results * a->channels; i++) {
        size_t p = i / a->channels, c = i % a->channels;
        double sum = (a->bias ? (double)a->bias[c] : 0) + (a->residual ? (double)a->residual[i] : 0), magnitude = fabs(sum);
        for (size_t t = 0; t < a->kernel_height * a->kernel_width; t++) {
            ptrdiff_t y = (ptrdiff_t)(p / a->out_width * a->stride_down + t / a->kernel_width * a->dilation_down) - a->top;
            ptrdiff_t x = (ptrdiff_t)(p % a->out_width * a->stride_across + t % a->kernel_width * a->dilation_across) - a->left;
            if (y < 0 || x < 0 || y >= (ptrdiff_t)a->height || x >= (ptrdiff_t)a->width) continue;
            double v = (double)a->w[t * a->channels + c] * (double)a->x[((size_t)y * a->width + (size_t)x) * a->channels + c];
            sum += v;
            magnitude += fabs(v);
        }
        note_error(&worst, fabs((double)a->y[i] - sum) / (magnitude + 1e-30));
    }
    return worst;
}

static void check_depth(const struct tn_kernels *k, uint64_t *seed, struct image s, const struct tn_after *after)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    size_t in = s.channels * s.height * s.width, taps = s.window_height * s.window_width, results = s.out_height * s.out_width, out = results * s.channels;
    struct guarded x = random_rows(seed, 1, in, in, 1, 2.0), w = random_rows(seed, 1, s.channels * taps, s.channels * taps, 3, 1.0);
    struct guarded bias = random_rows(seed, 1, s.channels, s.channels, 0, 1.0), residual = random_rows(seed, 1, out, out, 2, 1.0);
    struct guarded want = guarded_new(out, 1), got = guarded_new(out, 3);
    struct tn_depth_args a = {.x = x.p, .height = s.height, .width = s.width, .channels = s.channels, .top = s.top, .left = s.left,
                              .kernel_height = s.window_height, .kernel_width = s.window_width, .stride_down = s.down, .stride_across = s.across,
                              .dilation_down = s.spread, .dilation_across = s.spread, .w = w.p, .bias = s.plain ? NULL : bias.p, .after = after,
                              .residual = s.plain ? NULL : residual.p, .y = want.p, .out_width = s.out_width, .zeros = s.zeros};
    run_depth(ref, a, results, results);
    double worst = after == afters ? depth_error(&a, results) : 0;
    if (!(worst < 3e-6)) test_fail(__FILE__, __LINE__, "%zu channels, %zux%zu: error %.2g", s.channels, s.window_height, s.window_width, worst);
    const size_t pieces[] = {100000, 1, 5, s.out_width, s.out_width * 2 + 1};
    for (unsigned i = 0; i < 5; i++) {
        guard_fill(got.p, got.count);
        a.y = got.p;
        run_depth(k, a, results, pieces[i]);
        if (memcmp(want.p, got.p, out * sizeof(float)) != 0)
            test_fail(__FILE__, __LINE__, "%s: other bits: %zu channels %zux%zu, window %zux%zu, strides %zu %zu, cut %u", k->name, s.channels, s.height,
                      s.width, s.window_height, s.window_width, s.down, s.across, i);
    }
    guarded_free(&x, "x");
    guarded_free(&w, "w");
    guarded_free(&bias, "bias");
    guarded_free(&residual, "residual");
    guarded_free(&want, "want");
    guarded_free(&got, "got");
}

TEST(kernel_depth_bits)
{
    static const struct image images[] = {
        {16, 12, 20, 1, 1, 3, 3, 1, 1, 1, 12, 20, 0, 0}, {24, 13, 37, 1, 1, 3, 3, 2, 2, 1, 7, 19, 0, 1},  {40, 9, 30, 2, 2, 5, 5, 1, 1, 1, 9, 30, 0, 0},
        {72, 16, 17, 2, 2, 5, 5, 2, 2, 1, 8, 9, 0, 0},   {3, 11, 21, 1, 1, 3, 3, 1, 1, 1, 11, 21, 0, 1},  {130, 7, 7, 2, 2, 5, 5, 1, 1, 1, 7, 7, 0, 0},
        {20, 6, 10, 0, 0, 3, 3, 2, 1, 1, 2, 8, 0, 0},    {8, 7, 7, 3, 3, 7, 7, 1, 1, 1, 7, 7, 0, 0},      {17, 14, 15, 2, 2, 3, 3, 1, 1, 2, 14, 15, 0, 0},
        {5, 9, 9, 1, 1, 3, 3, 3, 3, 1, 3, 3, 0, 0},      {33, 2, 2, 2, 2, 5, 5, 1, 1, 1, 2, 2, 0, 0},     {9, 1, 1, 4, 4, 3, 3, 1, 2, 1, 7, 4, 0, 0},
        {19, 5, 8, 1, 1, 3, 3, 1, 1, 1, 5, 8, 1, 0},     {12, 8, 9, 0, 1, 3, 3, 2, 2, 1, 4, 5, 0, 0},     {6, 4, 12, 0, 0, 1, 5, 1, 1, 1, 4, 8, 0, 0}};
    EACH_TABLE(k) {
        uint64_t seed = 7;
        for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
            for (size_t f = 0; f < AFTERS; f++) check_depth(k, &seed, images[i], &afters[f]);
        }
    }
}

/* Taps beside the image: left out, or zeros that an infinite weight turns into NaN. */
TEST(kernel_depth_outside)
{
    EACH_TABLE(k) {
        float x[20], w[9 * 20], y[20];
        for (int i = 0; i < 20; i++) x[i] = 1;
        for (int i = 0; i < 9 * 20; i++) w[i] = i / 20 == 4 ? 2 : INFINITY;
        struct tn_depth_args a = {.x = x, .height = 1, .width = 1, .channels = 20, .top = 1, .left = 1, .kernel_height = 3, .kernel_width = 3,
                                  .stride_down = 1, .stride_across = 1, .dilation_down = 1, .dilation_across = 1, .w = w, .y = y, .out_width = 1, .count = 1};
        k->depth(&a);
        for (int i = 0; i < 20; i++) CHECK(y[i] == 2);
        a.zeros = true;
        k->depth(&a);
        for (int i = 0; i < 20; i++) CHECK(isnan(y[i]));
    }
}

/* Activations that tables may compute differently are applied to the same sums. */
TEST(kernel_last_late)
{
    EACH_TABLE(k) {
        float x[40], y[40], want[40], w[40], one = 1;
        struct tn_after after = {.kind = TN_FINISH_ACT, .act = TN_ACT_SILU, .line = true, .scale = 2, .shift = 0.5f};
        for (int i = 0; i < 40; i++) {
            want[i] = x[i] = 0.3f * (float)(i - 20);
            w[i] = 1;
        }
        k->activate(TN_ACT_SILU, want, 40, 1, 40, 0, 1);
        k->depth(&(struct tn_depth_args){.x = x, .height = 1, .width = 1, .channels = 40, .kernel_height = 1, .kernel_width = 1, .stride_down = 1,
                                         .stride_across = 1, .dilation_down = 1, .dilation_across = 1, .w = w, .after = &after, .y = y, .out_width = 1,
                                         .count = 1});
        for (int i = 0; i < 40; i++) CHECK(y[i] == 2 * want[i] + 0.5f);
        struct tn_pixels_args p = {.x = x, .x_stride = 1, .rows = 40, .k = 1, .after = &after, .y = y, .y_stride = 1, .maps = 1};
        run_pixels(k, p, &one, 40, 1);
        for (int i = 0; i < 40; i++) CHECK(y[i] == 2 * want[i] + 0.5f);
    }
}
