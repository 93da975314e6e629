/*
 * Micro benchmarks of the kernels. Every figure stands beside the limit of its own minute: products
 * against the register peak, weight streams against a summing read of the same memory.
 *
 *     bench_kernels [gemm] [small] [attention] [rows] [pool]      (nothing named: all)
 */
#include "base/alloc.h"
#include "base/os_thread.h"
#include "base/pool.h"
#include "kernel/kernel.h"
#include "kernel/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TN_BENCH_ONEDNN
#include "kernel/onednn.h"
#endif

static struct tn_alloc alloc;
static const struct tn_kernels *kernels;

static float *floats(size_t count)
{
    float *p = tn_malloc_aligned(&alloc, count * sizeof(float), 64);
    if (!p) exit(4);
    for (size_t i = 0; i < count; i++) p[i] = (float)(i * 2654435761u % 1000) * 0.001f - 0.5f;
    return p;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of `runs` calls by the clock on the wall, after one that warms up: for teams. Returns the
 * median; *best, too, because on a shared machine the median tells about the neighbours. */
static double median_time(void (*fn)(void *), void *arg, int runs, double *best)
{
    double t[64];
    fn(arg);
    for (int i = 0; i < runs; i++) {
        double start = bench_now();
        fn(arg);
        t[i] = bench_now() - start;
    }
    qsort(t, (size_t)runs, sizeof(t[0]), by_value);
    *best = t[0];
    return t[runs / 2];
}

/* Median seconds of processor time of one call, in 15 samples of a millisecond or more: for one thread,
 * so that other programs on the machine cost cache and bandwidth but not turns. */
static double median_cpu_time(void (*fn)(void *), void *arg)
{
    enum { SAMPLES = 15 };
    double t[SAMPLES];
    fn(arg);
    for (int i = 0; i < SAMPLES; i++) {
        clock_t start = clock(), end;
        int calls = 0;
        do {
            fn(arg);
            calls++;
            end = clock();
        } while (end - start < CLOCKS_PER_SEC / 1000);
        t[i] = (double)(end - start) / CLOCKS_PER_SEC / calls;
    }
    qsort(t, SAMPLES, sizeof(t[0]), by_value);
    return t[SAMPLES / 2];
}

/* A packed layer of arbitrary values; packed memory is the caller's to free. */
static struct tn_linear make_layer(size_t n, size_t k, enum tn_compute compute, void *packed)
{
    struct tn_linear layer = {n, k, compute, packed};
    float *w = floats(n * k);
    struct tn_linear_part part = {.data = w, .rows = n, .row_stride = k, .k_stride = 1};
    kernels->linear_pack(&layer, &part, 1, packed, 0, 1);
    tn_free(&alloc, w);
    return layer;
}

static size_t packed_size(size_t n, size_t k, enum tn_compute compute)
{
    size_t bytes = 0;
    if (!kernels->linear_pack_size(n, k, compute, &bytes)) exit(1);
    return bytes;
}

static void *scratch_for(size_t n, size_t k, enum tn_compute compute, unsigned ranks, size_t *bytes)
{
    if (!kernels->linear_scratch_size(n, k, compute, bytes)) exit(1);
    return tn_malloc_aligned(&alloc, *bytes * ranks + 64, 64);
}

static void call_linear(void *arg)
{
    kernels->linear(arg, 0, 1);
}

static void gemm_shape(size_t m, size_t n, size_t k, enum tn_compute compute, enum tn_act act)
{
    float *x = floats(m * k), *y = floats(m * n);
    void *packed = tn_malloc_aligned(&alloc, packed_size(n, k, compute), 64);
    struct tn_linear layer = make_layer(n, k, compute, packed);
    struct tn_linear_args a = {.layer = &layer, .x = x, .x_stride = k, .y = y, .y_stride = n,
                               .rows = m, .act = act};
    a.scratch = scratch_for(n, k, compute, 1, &a.scratch_bytes);
    double peak = bench_gemm_peak(kernels, compute);
    double rate = 2.0 * (double)(m * n * k) / median_cpu_time(call_linear, &a) * 1e-9;
    printf("  %-4s %4zu x %4zu x %4zu %-8s %7.1f GF/s  %5.1f %% of %.1f", compute ? "bf16" : "f32", m,
           n, k, tn_act_name(act), rate, 100.0 * rate / peak, peak);
#ifdef TN_BENCH_ONEDNN
    double theirs = bench_onednn(m, n, k, compute == TN_COMPUTE_BF16);
    printf("   oneDNN %7.1f, ratio %.2f", theirs, rate / theirs);
#endif
    printf("\n");
    tn_free(&alloc, x);
    tn_free(&alloc, y);
    tn_free(&alloc, packed);
    tn_free(&alloc, a.scratch);
}

static void bench_gemm(void)
{
    static const size_t shapes[][2] = {{1152, 384}, {384, 384}, {1536, 384}, {384, 1536}, {1024, 1024}};
    static const size_t ms[] = {1, 4, 8, 16, 32, 64, 100, 256};
    for (int compute = 0; compute <= (int)kernels->bf16; compute++) {
        printf("linear, one thread\n");
        for (size_t s = 0; s < 5; s++) {
            for (size_t i = 0; i < 8; i++) {
                gemm_shape(ms[i], shapes[s][0], shapes[s][1], (enum tn_compute)compute,
                           TN_ACT_IDENTITY);
            }
        }
        gemm_shape(128, 1536, 384, (enum tn_compute)compute, TN_ACT_GELU);
    }
}

/* All linear layers of a MiniLM-L6 after one another, as a forward pass of few rows meets them. */
enum { LAYERS = 6, PER_LAYER = 4 };

struct stack {
    struct tn_linear layer[LAYERS * PER_LAYER];
    struct tn_linear_args args[LAYERS * PER_LAYER];
    size_t bytes;
};

static void run_layer(void *arg, unsigned rank, unsigned size)
{
    kernels->linear(arg, rank, size);
}

struct team {
    struct tn_pool *pool;
    struct stack *stack;
    unsigned size;
};

static void run_team(void *arg)
{
    struct team *t = arg;
    for (size_t i = 0; i < LAYERS * PER_LAYER; i++) tn_pool_run(t->pool, run_layer, &t->stack->args[i], t->size);
}

static void small_rows(size_t m, enum tn_compute compute, unsigned threads, struct tn_pool *pool)
{
    static const size_t shape[PER_LAYER][2] = {{1152, 384}, {384, 384}, {1536, 384}, {384, 1536}};
    static struct stack s;
    float *x = floats(m * 1536), *y = floats(m * 1536);
    size_t scratch_bytes = 0;
    void *scratch = scratch_for(1536, 1536, compute, threads, &scratch_bytes);
    s.bytes = 0;
    for (int i = 0; i < PER_LAYER; i++) {
        s.bytes += LAYERS * packed_size(shape[i][0], shape[i][1], compute);
    }
    char *packed = tn_malloc_aligned(&alloc, s.bytes, 4096), *at = packed;
    for (int i = 0; i < LAYERS * PER_LAYER; i++) {
        size_t n = shape[i % PER_LAYER][0], k = shape[i % PER_LAYER][1];
        s.layer[i] = make_layer(n, k, compute, at);
        at += packed_size(n, k, compute);
        s.args[i] = (struct tn_linear_args){
            .layer = &s.layer[i], .x = i % 2 ? y : x, .x_stride = 1536, .y = i % 2 ? x : y,
            .y_stride = 1536, .rows = m, .scratch = scratch, .scratch_bytes = scratch_bytes,
            .act = i % PER_LAYER == 2 ? TN_ACT_GELU : TN_ACT_IDENTITY,
        };
    }
    struct team team = {pool, &s, threads};
    double memory = bench_read_rate(packed, s.bytes);
    double best, seconds = median_time(run_team, &team, 61, &best);
    printf("  %-4s M %2zu, %u threads: %6.3f ms, best %6.3f ms, %5.1f GB/s of weights (one thread "
           "reads %.1f)\n",
           compute ? "bf16" : "f32", m, threads, seconds * 1e3, best * 1e3,
           (double)s.bytes / best * 1e-9, memory);
    tn_free(&alloc, packed);
    tn_free(&alloc, scratch);
    tn_free(&alloc, x);
    tn_free(&alloc, y);
}

static void bench_small(void)
{
    static const size_t ms[] = {1, 2, 4, 8, 12, 16, 32};
    struct tn_pool *pool;
    if (tn_pool_new(&alloc, 2, &pool) != TN_OK) exit(4);
    printf("all linear layers of MiniLM-L6, weights from memory\n");
    for (int compute = 0; compute <= (int)kernels->bf16; compute++) {
        for (unsigned threads = 1; threads <= 2; threads++) {
            for (size_t i = 0; i < 7; i++) small_rows(ms[i], (enum tn_compute)compute, threads, pool);
        }
    }
    tn_pool_free(pool);
}

static void call_attention(void *arg)
{
    kernels->attention(arg, 0, 1);
}

enum variant { PLAIN, BIASED, WINDOW, RELATIVE };

/* Products of rows with rows: of all pairs, of those inside the window, or of both terms as well. */
static double products(size_t length, enum variant variant, size_t window)
{
    double pairs = (double)(length * length);
    if (variant == WINDOW && window < length) {
        pairs = 0;
        for (size_t i = 0; i < length; i++) {
            size_t before = i < window ? i : window - 1, after = length - 1 - i < window ? length - 1 - i : window - 1;
            pairs += (double)(before + after + 1);
        }
    }
    return pairs * (variant == RELATIVE ? 4 : 2);
}

static void attention_shape(size_t length, size_t sequences, size_t heads, size_t dim, enum variant variant)
{
    static const char *const names[] = {"", " biased", " window 65", " with relative terms"};
    enum { SPAN = 256, REACH = 65 };
    bool biased = variant == BIASED, relative = variant == RELATIVE;
    size_t width = heads * dim, rows = length * sequences;
    float *qkv = floats(rows * 3 * width), *out = floats(rows * width), *bias = floats(heads * 2 * length);
    float *positions = floats(2 * SPAN * width);
    int32_t *offsets = malloc((sequences + 1) * sizeof(*offsets)), *row_of = malloc(2 * length * sizeof(*row_of));
    for (size_t n = 0; n <= sequences; n++) offsets[n] = (int32_t)(n * length);
    for (size_t n = 0; n < 2 * length; n++) row_of[n] = (int32_t)(n * 2 * SPAN / (2 * length));
    struct tn_attention_args a = {
        .q = qkv, .k = qkv + width, .v = qkv + 2 * width, .q_stride = 3 * width,
        .k_stride = 3 * width, .v_stride = 3 * width, .out = out, .out_stride = width,
        .offsets = offsets, .sequences = sequences, .heads = heads, .head_dim = dim,
        .scale = 1.0f / sqrtf((float)dim), .bias = biased ? bias : NULL, .bias_stride = 2 * length,
        .bias_center = length, .window = variant == WINDOW ? REACH : 0,
        .position_key = relative ? positions : NULL, .position_query = relative ? positions : NULL,
        .position_stride = width, .relative_row = row_of, .relative_center = length,
    };
    if (!kernels->attention_scratch_size(length, dim, relative, &a.scratch_bytes)) exit(1);
    a.scratch = tn_malloc_aligned(&alloc, a.scratch_bytes, 64);
    double peak = bench_gemm_peak(kernels, TN_COMPUTE_F32);
    double seconds = median_cpu_time(call_attention, &a);
    double flops = 2.0 * products(length, variant, REACH) * (double)(dim * heads * sequences);
    printf("  length %4zu dim %3zu%s: %8.2f us per token, %6.1f GF/s, %5.1f %% of peak\n", length, dim,
           names[variant], seconds * 1e6 / (double)rows, flops / seconds * 1e-9,
           100.0 * flops / seconds * 1e-9 / peak);
    tn_free(&alloc, qkv);
    tn_free(&alloc, out);
    tn_free(&alloc, bias);
    tn_free(&alloc, positions);
    tn_free(&alloc, a.scratch);
    free(offsets);
    free(row_of);
}

static void bench_attention(void)
{
    static const size_t lengths[] = {8, 16, 32, 64, 100, 128, 256, 400, 512, 2048};
    static const size_t long_ones[] = {32, 128, 256, 512, 2048};
    printf("attention, 12 heads, one thread; flops of the products alone\n");
    for (size_t i = 0; i < 10; i++) {
        size_t sequences = lengths[i] < 128 ? 256 / lengths[i] : 1;
        attention_shape(lengths[i], sequences, 12, 32, PLAIN);
    }
    attention_shape(128, 2, 12, 32, BIASED);
    attention_shape(128, 2, 12, 64, PLAIN);
    attention_shape(128, 2, 8, 128, PLAIN);
    for (size_t i = 0; i < 5; i++) attention_shape(long_ones[i], 1, 12, 64, WINDOW);
    for (size_t i = 0; i < 4; i++) attention_shape(long_ones[i], 1, 12, 64, RELATIVE);
}

struct rows {
    float *x, *y;
    size_t rows, width;
    enum tn_act act;
};

static void call_act(void *arg)
{
    struct rows *r = arg;
    memcpy(r->y, r->x, r->rows * r->width * sizeof(float));
    kernels->activate(r->act, r->y, r->width, r->rows, r->width, 0, 1);
}

static void call_copy(void *arg)
{
    struct rows *r = arg;
    memcpy(r->y, r->x, r->rows * r->width * sizeof(float));
}

static void call_norm(void *arg)
{
    struct rows *r = arg;
    struct tn_layer_norm_args a = {.x = r->x, .x_stride = r->width, .y = r->y, .y_stride = r->width,
                                   .rows = r->rows, .width = r->width, .gamma = r->x, .beta = r->x,
                                   .eps = 1e-12f};
    kernels->layer_norm(&a, 0, 1);
}

static void bench_rows(void)
{
    struct rows r = {floats(16 * 384), floats(16 * 384), 16, 384, TN_ACT_IDENTITY};
    double elements = (double)(r.rows * r.width), copy = median_cpu_time(call_copy, &r);
    printf("row operators in cache, ns per element\n");
    for (int act = 1; act < TN_ACTS; act++) {
        r.act = (enum tn_act)act;
        printf("  %-12s %.3f\n", tn_act_name(r.act),
               (median_cpu_time(call_act, &r) - copy) * 1e9 / elements);
    }
    printf("  %-12s %.3f\n", "layer_norm", median_cpu_time(call_norm, &r) * 1e9 / elements);
    tn_free(&alloc, r.x);
    tn_free(&alloc, r.y);
}

static void nothing(void *arg, unsigned rank, unsigned size)
{
    (void)arg, (void)rank, (void)size;
}

static void bench_pool(void)
{
    struct tn_pool *pool;
    if (tn_pool_new(&alloc, 2, &pool) != TN_OK) exit(4);
    double hot[64], cold[64];
    for (int i = 0; i < 63; i++) {
        double start = bench_now();
        for (int n = 0; n < 100; n++) tn_pool_run(pool, nothing, NULL, 2);
        hot[i] = (bench_now() - start) / 100;
    }
    for (int i = 0; i < 63; i++) {
        double until = bench_now() + 3e-9 * TN_POOL_SPIN_NS;
        while (bench_now() < until) tn_cpu_relax();
        double start = bench_now();
        tn_pool_run(pool, nothing, NULL, 2);
        cold[i] = bench_now() - start;
    }
    qsort(hot, 63, sizeof(double), by_value);
    qsort(cold, 63, sizeof(double), by_value);
    printf("pool: fork and join of two threads %.2f us while spinning, %.1f us when parked\n",
           hot[31] * 1e6, cold[31] * 1e6);
    tn_pool_free(pool);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"gemm", bench_gemm}, {"small", bench_small}, {"attention", bench_attention},
                 {"rows", bench_rows}, {"pool", bench_pool}};
    struct tn_cpu cpu;
    const char *table = NULL;
    bool named = false;
    tn_alloc_init(&alloc);
    tn_cpu_detect(&cpu);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--table=", 8) == 0) table = argv[i] + 8;
        else named = true;
    }
    kernels = tn_kernels_select(&cpu, table);
    if (!kernels) {
        fprintf(stderr, "no such table on this CPU\n");
        return 2;
    }
    printf("%s, table %s\n", cpu.brand, kernels->name);
    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
        bool wanted = !named;
        for (int i = 1; i < argc; i++) wanted = wanted || strcmp(argv[i], parts[p].name) == 0;
        if (wanted) parts[p].run();
    }
    return 0;
}
