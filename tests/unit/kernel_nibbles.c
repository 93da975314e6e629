/*
 * Products of 4-bit blocks: every table gives the reference's bits, by any number of ranks, at odd sizes, inside its memory; the
 * reference is held to sums in double of what rows and weights stand for.
 */
#include "kernel_util.h"

#include <float.h>

struct weights {
    struct tn_nibbles layer;
    struct tn_nibbles_source from;
    uint8_t *codes, *zeros;
    float *scales;
    size_t groups;
};

static struct weights weights_new(uint64_t *seed, size_t n, size_t k, size_t group, bool zeros)
{
    struct weights w = {.layer = {.n = n, .k = k, .group = group, .zeros = zeros}, .groups = (k + group - 1) / group};
    size_t codes = n * w.groups * group / 2, half = n * ((w.groups + 1) / 2);
    w.codes = malloc(codes);
    w.zeros = malloc(half);
    w.scales = malloc(n * w.groups * sizeof(float));
    for (size_t i = 0; i < codes; i++) w.codes[i] = (uint8_t)(test_random(seed) % 4 ? test_random(seed) : 0xff);
    for (size_t i = 0; i < half; i++) w.zeros[i] = (uint8_t)test_random(seed);
    for (size_t i = 0; i < n * w.groups; i++) w.scales[i] = (float)test_uniform(seed, -0.02, 0.05);
    w.from = (struct tn_nibbles_source){w.codes, w.scales, zeros ? w.zeros : NULL};
    return w;
}

static void weights_free(struct weights *w)
{
    free(w->codes);
    free(w->zeros);
    free(w->scales);
}

static double weight_at(const struct weights *w, size_t n, size_t k)
{
    size_t g = k / w->layer.group, half = (w->groups + 1) / 2;
    int code = w->codes[(n * w->groups * w->layer.group + k) / 2] >> k % 2 * 4 & 15;
    int zero = w->layer.zeros ? w->zeros[n * half + g / 2] >> g % 2 * 4 & 15 : 8;
    return (double)(code - zero) * (double)w->scales[n * w->groups + g];
}

struct rows {
    size_t rows, k, blocks;
    float *x;
    int8_t *codes;
    struct tn_row_block *scaling;
};

/* Blocks of zeros, of tiny numbers, of large ones. */
static struct rows rows_new(uint64_t *seed, const struct tn_kernels *kernels, size_t rows, size_t k)
{
    struct rows r = {.rows = rows, .k = k, .blocks = tn_nibble_blocks(k)};
    r.x = malloc(rows * k * sizeof(float));
    r.codes = malloc(rows * r.blocks * TN_NIBBLE_BLOCK);
    r.scaling = malloc(rows * r.blocks * sizeof(*r.scaling));
    for (size_t i = 0; i < rows * k; i++) {
        static const double scale[] = {1, 0, 1e-37, 1e20, 3};
        r.x[i] = (float)test_uniform(seed, -1, 1) * (float)scale[i / 32 % 5];
    }
    for (size_t i = 0; i < rows; i++)
        CHECK(kernels->code_row(r.x + i * k, k, r.codes + i * r.blocks * TN_NIBBLE_BLOCK, r.scaling + i * r.blocks));
    return r;
}

static void rows_free(struct rows *r)
{
    free(r->x);
    free(r->codes);
    free(r->scaling);
}

static struct guarded multiply(const struct tn_kernels *k, const struct weights *w, const struct rows *r, const float *bias, size_t stride, unsigned size)
{
    size_t bytes;
    CHECK(k->nibbles_pack_size(&w->layer, &bytes) && bytes % 64 == 0);
    uint8_t *packed = aligned_alloc(64, bytes + 64);
    memset(packed, 0x55, bytes + 64);
    for (unsigned i = 0; i < size; i++) k->nibbles_pack(&w->layer, &w->from, packed, i, size);
    for (size_t i = 0; i < 64; i++) CHECK(packed[bytes + i] == 0x55);
    struct tn_nibbles layer = w->layer;
    layer.packed = packed;
    struct guarded y = guarded_new((r->rows - 1) * stride + layer.n, 5);
    struct tn_nibbles_args a = {.layer = &layer, .codes = r->codes, .blocks = r->scaling, .rows = r->rows, .bias = bias, .y = y.p, .y_stride = stride};
    for (unsigned i = 0; i < size; i++) k->nibbles(&a, i, size);
    CHECK(gaps_intact(&y, r->rows, layer.n, stride));
    float *column = malloc(layer.k * sizeof(float));
    for (size_t n = 0; n < layer.n; n += 7) {
        k->nibbles_column(&layer, n, column);
        for (size_t i = 0; i < layer.k; i++) CHECK(column[i] == (float)weight_at(w, n, i));
    }
    free(column);
    free(packed);
    return y;
}

/* What is left to round: a product of scales and a sum for each block. */
static void check_sums(const struct weights *w, const struct rows *r, const float *bias, const float *y, size_t stride)
{
    for (size_t m = 0; m < r->rows; m++) {
        for (size_t n = 0; n < w->layer.n; n++) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < r->k; k++) {
                size_t b = m * r->blocks + k / TN_NIBBLE_BLOCK;
                double v = (double)r->scaling[b].scale * r->codes[b * TN_NIBBLE_BLOCK + k % TN_NIBBLE_BLOCK] * weight_at(w, n, k);
                sum += v;
                size += fabs(v);
            }
            double exact = sum + (double)bias[n], bound = (size + fabs(exact)) * ((double)r->blocks + 3) * 0x1p-24;
            if (fabs(y[m * stride + n] - exact) > bound) test_fail(__FILE__, __LINE__, "row %zu, column %zu: %.9g for %.9g", m, n, (double)y[m * stride + n], exact);
        }
    }
}

static void check_size(const size_t *s, size_t group, bool zeros)
{
    uint64_t seed = s[0] * 31 + s[2];
    const size_t rows = s[0], n = s[1], k = s[2], stride = n + 3;
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    struct weights w = weights_new(&seed, n, k, group, zeros);
    struct rows r = rows_new(&seed, ref, rows, k);
    struct guarded bias = random_rows(&seed, 1, n, n, 1, 1), exact = multiply(ref, &w, &r, bias.p, stride, 1);
    check_sums(&w, &r, bias.p, exact.p, stride);
    EACH_TABLE(table) {
        for (unsigned size = 1; size <= 3; size++) {
            struct guarded y = multiply(table, &w, &r, bias.p, stride, size);
            if (!rows_equal(y.p, stride, exact.p, stride, rows, n)) test_fail(__FILE__, __LINE__, "%s: %zu x %zu x %zu, %u ranks", table->name, rows, n, k, size);
            guarded_free(&y, "y");
        }
    }
    guarded_free(&exact, "y");
    guarded_free(&bias, "bias");
    rows_free(&r);
    weights_free(&w);
}

static const size_t sizes[][3] = {{1, 1, 1}, {1, 33, 31}, {3, 16, 32}, {5, 17, 65}, {6, 31, 64}, {7, 32, 128}, {13, 70, 257}, {25, 8, 384}, {2, 96, 1536}};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

TEST(kernel_nibbles_have_the_bits_of_the_reference)
{
    for (size_t i = 0; i < SIZES; i++) {
        check_size(sizes[i], i % 3 == 2 ? 128 : 32, false);
        check_size(sizes[i], i % 3 == 1 ? 64 : 32, true);
    }
}

/* The table for CPUs without VNNI has a name in common with the others: it is asked for by what such a CPU would say. */
TEST(kernel_nibbles_without_vnni)
{
    struct tn_cpu cpu;
    uint64_t seed = 5;
    tn_cpu_detect(&cpu);
    if (!cpu.avx512) test_skip("no AVX-512 here");
    cpu.avx512_vnni = cpu.avx512_bf16 = false;
    const struct tn_kernels *k = tn_kernels_select(&cpu, "avx512"), *ref = tn_kernels_select(NULL, "ref");
    for (unsigned zeros = 0; zeros < 2; zeros++) {
        struct weights w = weights_new(&seed, 70, 129, 64, zeros);
        struct rows r = rows_new(&seed, k, 13, 129);
        struct guarded bias = random_rows(&seed, 1, 70, 70, 0, 1), a = multiply(k, &w, &r, bias.p, 70, 2), b = multiply(ref, &w, &r, bias.p, 70, 1);
        CHECK(rows_equal(a.p, 70, b.p, 70, 13, 70));
        guarded_free(&a, "y");
        guarded_free(&b, "y");
        guarded_free(&bias, "bias");
        rows_free(&r);
        weights_free(&w);
    }
}

TEST(kernel_nibbles_largest_sums_fit)
{
    float x[64], scale[2 * 17], bias[17] = {0}, y[17];
    uint8_t codes[17 * 32];
    int8_t coded[64];
    struct tn_row_block blocks[2];
    for (int i = 0; i < 64; i++) x[i] = i < 32 ? 127 : -127;
    for (int i = 0; i < 34; i++) scale[i] = i % 2 ? -1 : 1;
    memset(codes, 0xff, sizeof(codes));
    EACH_TABLE(k) {
        struct tn_nibbles layer = {.n = 17, .k = 64, .group = 32};
        struct tn_nibbles_source from = {codes, scale, NULL};
        size_t bytes;
        CHECK(k->nibbles_pack_size(&layer, &bytes));
        void *packed = aligned_alloc(64, bytes);
        k->nibbles_pack(&layer, &from, packed, 0, 1);
        layer.packed = packed;
        CHECK(k->code_row(x, 64, coded, blocks));
        k->nibbles(&(struct tn_nibbles_args){.layer = &layer, .codes = coded, .blocks = blocks, .rows = 1, .bias = bias, .y = y, .y_stride = 17}, 0, 1);
        for (int n = 0; n < 17; n++) CHECK(y[n] == 2 * 32 * 127 * 7);
        free(packed);
    }
}

static bool same_codes(const struct rows *a, const struct rows *b)
{
    size_t blocks = a->rows * a->blocks;
    return memcmp(a->codes, b->codes, blocks * TN_NIBBLE_BLOCK) == 0 && memcmp(a->scaling, b->scaling, blocks * sizeof(*a->scaling)) == 0;
}

TEST(kernel_nibbles_codes_of_rows)
{
    const struct tn_kernels *ref = tn_kernels_select(NULL, "ref");
    for (size_t i = 0; i < SIZES; i++) {
        uint64_t seed = 9;
        struct rows exact = rows_new(&seed, ref, 11, sizes[i][2]);
        for (size_t b = 0; b < 11 * exact.blocks; b++) {
            int sum = 0;
            for (size_t k = 0; k < TN_NIBBLE_BLOCK; k++) {
                size_t at = b % exact.blocks * TN_NIBBLE_BLOCK + k;
                int code = exact.codes[b * TN_NIBBLE_BLOCK + k];
                double v = at < exact.k ? exact.x[b / exact.blocks * exact.k + at] : 0, step = exact.scaling[b].scale;
                sum += code;
                CHECK(fabs(v - code * step) <= (step > 0 ? 0.5001 * step : 0x1p-100));
            }
            CHECK_INT(exact.scaling[b].least, -8 * sum);
        }
        EACH_TABLE(k) {
            seed = 9;
            struct rows r = rows_new(&seed, k, 11, sizes[i][2]);
            CHECK(same_codes(&r, &exact));
            rows_free(&r);
        }
        rows_free(&exact);
    }
}

TEST(kernel_nibbles_rows_that_are_not_finite_have_no_codes)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    float x[70];
    int8_t codes[96];
    struct tn_row_block blocks[3];
    EACH_TABLE(k) {
        for (size_t i = 0; i < 70; i++) x[i] = i % 2 ? -FLT_MAX : FLT_MAX;
        CHECK(k->code_row(x, 70, codes, blocks));
        for (size_t i = 0; i < 70; i++) {
            float kept = x[i];
            x[i] = odd[i % 3];
            CHECK(!k->code_row(x, 70, codes, blocks));
            x[i] = kept;
        }
    }
}
