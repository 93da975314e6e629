/*
 * 1 x 1 windows and planes under small windows: every table gives the reference's bits, however the work is cut, and the
 * reference is held against sums in double.
 */
#include "kernel_util.h"

#include "kernel/float16.h"

static const struct tn_after afters[] = {
    {.kind = TN_FINISH_NONE},
    {.kind = TN_FINISH_CLIP, .a = -0.5f, .b = 1.5f},
    {.kind = TN_FINISH_LEAKY_RELU, .a = 0.1f, .line = true, .scale = 0.7f, .shift = -0.3f},
    {.kind = TN_FINISH_HARD_SIGMOID, .a = 0.2f, .b = 0.5f},
    {.kind = TN_FINISH_HARD_SWISH, .a = 1.0f / 6, .b = 0.5f, .line = true, .scale = 1.3f, .shift = 0.1f},
    {.kind = TN_FINISH_ACT, .act = TN_ACT_RELU, .line = true, .scale = -2, .shift = 1},
};
enum { AFTERS = sizeof(afters) / sizeof(afters[0]) };

/* Elements of a buffer as `type`, in place: what was rounded away is gone from both sides of a comparison. */
static void narrow(enum tn_float_type type, float *p, size_t count)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    if (type != TN_FLOAT_F32) ref->from_f32(type, p, p, count);
}

/* ---- conv1 -------------------------------------------------------------------------------------------------------- */

struct product {
    size_t maps, k, count;
    enum tn_float_type type;
};

static void run_product(const struct tn_kernels *k, struct tn_conv1_args a, const float *w, size_t piece, unsigned parts)
{
    const struct tn_conv1_args all = a;
    size_t bytes, size = tn_float_type_size(a.type);
    CHECK(k->conv1_pack_size(a.maps, a.k, &bytes));
    void *packed = aligned_alloc(64, bytes + 64);
    for (unsigned r = 0; r < 3; r++) k->conv1_pack(w, TN_FLOAT_F32, a.maps, a.k, packed, r, 3);
    CHECK(k->conv1_scratch_size(a.k, &bytes));
    void *scratch = aligned_alloc(64, (bytes + 127) / 64 * 64);
    memset(scratch, 0xff, bytes);
    for (size_t at = 0; at < all.count; at += piece) {
        a.x = (const char *)all.x + at * size;
        a.y = (char *)all.y + at * size;
        a.residual = (const char *)all.residual + at * size;
        a.count = all.count - at < piece ? all.count - at : piece;
        a.packed = packed;
        a.scratch = scratch;
        a.parts = parts;
        for (a.part = 0; a.part < parts; a.part++) k->conv1(&a);
    }
    free(packed);
    free(scratch);
}

static void check_product(const struct tn_kernels *k, uint64_t *seed, struct product p, const struct tn_after *after)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    struct guarded x = random_rows(seed, p.k, p.count, p.count + 5, 1, 2.0), w = random_rows(seed, 1, p.maps * p.k, p.maps * p.k, 3, 1.0);
    struct guarded bias = random_rows(seed, 1, p.maps, p.maps, 0, 1.0), residual = random_rows(seed, p.maps, p.count, p.count + 3, 2, 1.0);
    struct guarded want = guarded_new(p.maps * (p.count + 7), 1), got = guarded_new(p.maps * (p.count + 7), 3);
    narrow(p.type, x.p, x.count);
    narrow(p.type, residual.p, residual.count);
    struct tn_conv1_args a = {.x = x.p, .x_type = p.type, .x_stride = p.count + 5, .k = p.k, .bias = bias.p, .after = after, .type = p.type,
                              .residual = residual.p, .residual_stride = p.count + 3, .y = want.p, .y_stride = p.count + 7, .maps = p.maps, .count = p.count};
    run_product(ref, a, w.p, p.count, 1);
    double worst = 0;
    for (size_t i = 0; after == afters && p.type == TN_FLOAT_F32 && i < p.maps * p.count; i++) {
        size_t map = i / p.count, at = i % p.count;
        double sum = (double)bias.p[map] + (double)residual.p[map * (p.count + 3) + at], magnitude = fabs(sum);
        for (size_t c = 0; c < p.k; c++) {
            double v = (double)w.p[map * p.k + c] * (double)x.p[c * (p.count + 5) + at];
            sum += v;
            magnitude += fabs(v);
        }
        note_error(&worst, fabs((double)want.p[map * (p.count + 7) + at] - sum) / (magnitude + 1e-30));
    }
    if (!(worst < 3e-6)) test_fail(__FILE__, __LINE__, "%zu maps, %zu steps: error %.2g", p.maps, p.k, worst);
    static const size_t pieces[] = {1000, 32, 37};
    for (unsigned i = 0; i < 3; i++) {
        guard_fill(got.p, got.count);
        a.y = got.p;
        run_product(k, a, w.p, pieces[i], i + 1);
        if (p.type == TN_FLOAT_F32 ? !rows_equal(want.p, p.count + 7, got.p, p.count + 7, p.maps, p.count) : memcmp(want.p, got.p, want.count * 2) != 0)
            test_fail(__FILE__, __LINE__, "%s: other bits: %zu maps, %zu steps, %zu positions, cut %u", k->name, p.maps, p.k, p.count, i);
    }
    guarded_free(&x, "x");
    guarded_free(&w, "w");
    guarded_free(&bias, "bias");
    guarded_free(&residual, "residual");
    guarded_free(&want, "want");
    guarded_free(&got, "got");
}

TEST(kernel_conv1_bits)
{
    static const struct product products[] = {{1, 1, 1, 0},    {12, 7, 32, 0},   {13, 24, 100, 0}, {25, 193, 33, 0},
                                              {8, 400, 16, 0}, {40, 17, 257, 0}, {3, 0, 20, 0},    {30, 385, 49, 0}};
    EACH_TABLE(k) {
        uint64_t seed = 3;
        for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
            for (size_t f = 0; f < AFTERS; f++) check_product(k, &seed, products[i], &afters[f]);
        }
    }
}

TEST(kernel_conv1_half)
{
    EACH_TABLE(k) {
        uint64_t seed = 4;
        for (enum tn_float_type t = TN_FLOAT_F16; t < TN_FLOAT_TYPES; t++) check_product(k, &seed, (struct product){14, 50, 90, t}, &afters[t]);
    }
}

/* ---- planes ------------------------------------------------------------------------------------------------------- */

struct image {
    size_t channels, height, width;
    ptrdiff_t top, left;
    size_t window_height, window_width, down, across, out_height, out_width;
    enum tn_float_type type;
};

static void run_planes(const struct tn_kernels *k, struct tn_planes_args a, size_t rows, size_t piece)
{
    size_t bytes, size = tn_float_type_size(a.type);
    const char *residual = a.residual;
    char *y = a.y;
    CHECK(k->planes_scratch_size(&a, &bytes));
    void *scratch = aligned_alloc(64, (bytes + 127) / 64 * 64);
    memset(scratch, 0xff, bytes);
    a.scratch = scratch;
    for (a.first = 0; a.first < rows; a.first += piece) {
        a.count = rows - a.first < piece ? rows - a.first : piece;
        a.y = y + a.first * a.out_width * size;
        a.residual = residual ? residual + a.first * a.out_width * size : NULL;
        k->planes(&a);
    }
    free(scratch);
}

static void check_planes(const struct tn_kernels *k, uint64_t *seed, struct image s, const struct tn_after *after)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    size_t in = s.channels * s.height * s.width, taps = s.window_height * s.window_width, out = s.out_height * s.out_width;
    struct guarded x = random_rows(seed, 1, in, in, 1, 2.0), w = random_rows(seed, 1, s.channels * taps, s.channels * taps, 3, 1.0);
    struct guarded residual = random_rows(seed, 1, out, out, 2, 1.0), want = guarded_new(out, 1), got = guarded_new(out, 3);
    narrow(s.type, x.p, in);
    narrow(s.type, residual.p, out);
    struct tn_planes_args a = {.x = x.p, .type = s.type, .channels = s.channels, .height = s.height, .width = s.width, .top = s.top, .left = s.left,
                               .kernel_height = s.window_height, .kernel_width = s.window_width, .stride_down = s.down, .stride_across = s.across,
                               .w = w.p, .bias = 0.25f, .after = after, .residual = residual.p, .y = want.p, .out_width = s.out_width};
    run_planes(ref, a, s.out_height, s.out_height);
    double worst = 0;
    for (size_t i = 0; after == afters && s.type == TN_FLOAT_F32 && i < out; i++) {
        double sum = 0.25 + (double)residual.p[i], magnitude = fabs(sum);
        for (size_t t = 0; t < s.channels * taps; t++) {
            ptrdiff_t y = (ptrdiff_t)(i / s.out_width * s.down + t % taps / s.window_width) - s.top;
            ptrdiff_t column = (ptrdiff_t)(i % s.out_width * s.across + t % s.window_width) - s.left;
            if (y < 0 || column < 0 || y >= (ptrdiff_t)s.height || column >= (ptrdiff_t)s.width) continue;
            double v = (double)w.p[t] * (double)x.p[(t / taps * s.height + (size_t)y) * s.width + (size_t)column];
            sum += v;
            magnitude += fabs(v);
        }
        note_error(&worst, fabs((double)want.p[i] - sum) / magnitude);
    }
    if (!(worst < 3e-6)) test_fail(__FILE__, __LINE__, "%zu channels, %zux%zu: error %.2g", s.channels, s.window_height, s.window_width, worst);
    static const size_t pieces[] = {1000, 1, 5};
    for (unsigned i = 0; i < 3; i++) {
        guard_fill(got.p, got.count);
        a.y = got.p;
        run_planes(k, a, s.out_height, pieces[i]);
        if (memcmp(want.p, got.p, out * tn_float_type_size(s.type)) != 0)
            test_fail(__FILE__, __LINE__, "%s: other bits: %zu channels %zux%zu, window %zux%zu, strides %zu %zu, cut %u", k->name, s.channels, s.height,
                      s.width, s.window_height, s.window_width, s.down, s.across, i);
    }
    guarded_free(&x, "x");
    guarded_free(&w, "w");
    guarded_free(&residual, "residual");
    guarded_free(&want, "want");
    guarded_free(&got, "got");
}

TEST(kernel_planes_bits)
{
    static const struct image images[] = {
        {1, 12, 20, 1, 1, 3, 3, 1, 1, 12, 20, 0},  {1, 13, 37, 1, 1, 3, 3, 2, 2, 7, 19, 0},   {1, 9, 70, 2, 2, 5, 5, 1, 1, 9, 70, 0},
        {1, 16, 33, 2, 2, 5, 5, 2, 2, 8, 17, 0},   {3, 11, 21, 1, 1, 3, 3, 1, 1, 11, 21, 0},  {5, 6, 300, 1, 0, 3, 3, 2, 1, 3, 298, 0},
        {2, 1, 50, 0, 1, 1, 3, 1, 1, 1, 50, 0},    {1, 7, 7, 3, 3, 7, 7, 1, 1, 7, 7, 0},      {2, 20, 9, 0, 4, 4, 9, 3, 2, 6, 5, 0},
        {1, 5, 5, -2, -1, 3, 3, 1, 1, 2, 3, 0},    {1, 3, 3, 5, 9, 3, 3, 1, 1, 9, 17, 0},     {1, 2, 1, 1, 1, 3, 3, 2, 2, 1, 1, 0},
        {1, 40, 370, 1, 1, 3, 3, 1, 1, 40, 370, 0}, {1, 41, 369, 0, 0, 5, 5, 2, 2, 19, 183, 0}, {4, 10, 30, 1, 1, 3, 3, 1, 1, 10, 30, TN_FLOAT_F16}, {3, 10, 200, 1, 3, 3, 3, 1, 1, 10, 20, 0}, {2, 12, 200, 1, 1, 5, 5, 2, 2, 6, 13, 0},
        {1, 10, 600, 1, 1, 3, 3, 1, 1, 10, 600, TN_FLOAT_BF16}, {1, 1, 1, 40, 40, 3, 3, 1, 2, 60, 35, 0}};
    EACH_TABLE(k) {
        uint64_t seed = 7;
        for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
            for (size_t f = 0; f < AFTERS; f++) check_planes(k, &seed, images[i], &afters[f]);
        }
    }
}

/* The activations that tables may compute differently are applied to the same sums. */
TEST(kernel_after_late)
{
    EACH_TABLE(k) {
        float x[40], y[40], want[40], w = 1;
        struct tn_after after = {.kind = TN_FINISH_ACT, .act = TN_ACT_SILU, .line = true, .scale = 2, .shift = 0.5f};
        for (int i = 0; i < 40; i++) want[i] = x[i] = 0.3f * (float)(i - 20);
        k->activate(TN_ACT_SILU, want, 40, 1, 40, 0, 1);
        run_planes(k, (struct tn_planes_args){.x = x, .channels = 1, .height = 1, .width = 40, .kernel_height = 1, .kernel_width = 1, .stride_down = 1,
                                              .stride_across = 1, .w = &w, .after = &after, .y = y, .out_width = 40}, 1, 1);
        for (int i = 0; i < 40; i++) CHECK(y[i] == 2 * want[i] + 0.5f);
    }
}
