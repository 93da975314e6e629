/* Products of bytes: every table against sums in 64 bits, at odd sizes, by any number of ranks, inside their memory. */
#include "kernel_util.h"

static int random_byte(uint64_t *seed)
{
    return (int)(test_uniform(seed, 0, 256)) & 0xff;
}

/* Extremes are frequent: they are what saturates. */
static uint8_t a_byte(uint64_t *seed)
{
    int v = random_byte(seed);
    return (uint8_t)(v < 64 ? 255 : v < 96 ? 0 : random_byte(seed));
}

static void check_product(const struct tn_kernels *k, uint64_t *seed, size_t rows, size_t n, size_t depth, bool turn, unsigned size)
{
    size_t bytes, stride = (depth + 3) / 4 * 4 + 4;
    CHECK(k->bytes_pack_size(n, depth, &bytes) && bytes % 64 == 0);
    uint8_t *a = malloc(rows * stride + 1), *b = malloc(n * depth + 1);
    void *packed = aligned_alloc(64, bytes + 64);
    struct guarded sums = guarded_new(rows * n, 3);
    memset(packed, 0x55, bytes + 64);
    for (size_t i = 0; i < rows * stride; i++) a[i] = a_byte(seed);
    for (size_t i = 0; i < n * depth; i++) b[i] = (uint8_t)(a_byte(seed) ^ 0x80);
    for (unsigned r = 0; r < size; r++) k->bytes_pack((const int8_t *)b, n, 1, n, depth, turn, packed, r, size);
    for (size_t i = 0; i < 64; i++) CHECK(((uint8_t *)packed)[bytes + i] == 0x55);
    struct tn_bytes_args args = {.a = a, .a_stride = stride, .packed = packed, .rows = rows, .n = n, .k = depth, .sums = (int32_t *)(void *)sums.p, .sums_stride = n};
    for (unsigned r = 0; r < size; r++) k->bytes(&args, r, size);
    bool good = true;
    for (size_t j = 0; j < n && good; j++) {
        int64_t column = 0;
        for (size_t i = 0; i < depth; i++) column += turn ? (int)b[i * n + j] - 128 : (int8_t)b[i * n + j];
        good = ((const int32_t *)packed)[j] == column;
        for (size_t m = 0; m < rows && good; m++) {
            int64_t sum = 0;
            for (size_t i = 0; i < depth; i++) sum += a[m * stride + i] * (turn ? (int)b[i * n + j] - 128 : (int8_t)b[i * n + j]);
            good = args.sums[m * n + j] == sum;
        }
    }
    if (!good) test_fail(__FILE__, __LINE__, "%s: %zu x %zu x %zu, %u ranks", k->name, rows, n, depth, size);
    guarded_free(&sums, "sums");
    free(packed);
    free(b);
    free(a);
}

TEST(kernel_bytes_products_are_exact)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {1, 33, 7}, {3, 16, 4}, {5, 17, 9}, {13, 31, 64}, {12, 32, 65}, {25, 70, 130}, {49, 8, 3}, {100, 40, 33}};
    EACH_TABLE(k) {
        uint64_t seed = 7;
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (unsigned size = 1; size <= 3; size++) check_product(k, &seed, sizes[i][0], sizes[i][1], sizes[i][2], size == 2, size);
        }
    }
}

/* The table for CPUs without VNNI has a name in common with the others: it is asked for by what such a CPU would say. */
static const struct tn_kernels *without_vnni(void)
{
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    if (!cpu.avx512) test_skip("no AVX-512 here");
    cpu.avx512_vnni = cpu.avx512_bf16 = false;
    return tn_kernels_select(&cpu, "avx512");
}

static void check_window(const struct tn_kernels *k, uint64_t *seed, size_t maps, size_t quads, size_t taps, size_t count)
{
    size_t bytes, plane = count + 50, words = quads * plane + TN_BYTES_SLACK;
    size_t offset[9];
    CHECK(k->bytes_window_pack_size(maps, quads, taps, &bytes));
    uint8_t *x = malloc(words * 4);
    int8_t *w = malloc(maps * quads * 4 * taps);
    void *packed = aligned_alloc(64, bytes);
    struct guarded sums = guarded_new(maps * count, 1);
    for (size_t i = 0; i < words * 4; i++) x[i] = a_byte(seed);
    for (size_t i = 0; i < maps * quads * 4 * taps; i++) w[i] = (int8_t)(a_byte(seed) ^ 0x80);
    for (size_t t = 0; t < taps; t++) offset[t] = t / 3 * 20 + t % 3;
    k->bytes_window_pack(w, maps, quads, taps, packed);
    struct tn_bytes_window_args a = {.x = x, .plane = plane, .quads = quads, .taps = taps, .offset = offset, .packed = packed, .maps = maps,
                                     .count = count, .sums = (int32_t *)(void *)sums.p, .sums_stride = count};
    k->bytes_window(&a);
    bool good = true;
    for (size_t m = 0; m < maps; m++) {
        for (size_t p = 0; p < count; p++) {
            int64_t sum = 0;
            for (size_t c = 0; c < quads * 4; c++) {
                for (size_t t = 0; t < taps; t++) sum += x[(c / 4 * plane + p + offset[t]) * 4 + c % 4] * w[(m * quads * 4 + c) * taps + t];
            }
            good = good && a.sums[m * count + p] == sum;
        }
    }
    if (!good) test_fail(__FILE__, __LINE__, "%s: %zu maps, %zu quads, %zu taps, %zu positions", k->name, maps, quads, taps, count);
    guarded_free(&sums, "sums");
    free(packed);
    free(w);
    free(x);
}

TEST(kernel_bytes_windows_are_exact)
{
    EACH_TABLE(k) {
        uint64_t seed = 11;
        check_window(k, &seed, 1, 1, 1, 1);
        check_window(k, &seed, 2, 3, 9, 33);
        check_window(k, &seed, 13, 2, 9, 31);
        check_window(k, &seed, 33, 5, 3, 65);
        check_window(k, &seed, 24, 1, 9, 16);
    }
}

TEST(kernel_bytes_without_vnni)
{
    uint64_t seed = 13;
    const struct tn_kernels *k = without_vnni();
    check_product(k, &seed, 25, 70, 130, false, 2);
    check_product(k, &seed, 5, 17, 9, true, 1);
    check_window(k, &seed, 13, 2, 9, 31);
    check_window(k, &seed, 24, 3, 9, 40);
}
