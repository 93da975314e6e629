/*
 * What the kernel tests share: float buffers between guard zones, at a chosen misalignment, and the
 * walk over all tables that this CPU can run. A buffer's guards hold a NaN of a known pattern: a
 * stray write changes it, a stray read that matters turns results into NaN.
 */
#ifndef TN_KERNEL_UTIL_H
#define TN_KERNEL_UTIL_H

#include "test.h"

#include "kernel/kernel.h"

#include <stdlib.h>

enum { GUARD = 64, GUARD_PATTERN = 0x7fedbeef };

struct guarded {
    float *whole;
    float *p; /* `count` floats, `offset` floats after a 64-byte boundary */
    size_t count;
};

static inline void guard_fill(float *p, size_t count)
{
    const uint32_t pattern = GUARD_PATTERN;
    for (size_t i = 0; i < count; i++) memcpy(p + i, &pattern, sizeof(pattern));
}

static inline struct guarded guarded_new(size_t count, size_t offset)
{
    struct guarded g = {.count = count};
    size_t total = (count + 2 * GUARD + 32) / 16 * 16;
    g.whole = aligned_alloc(64, total * sizeof(float));
    g.p = g.whole + GUARD + offset;
    guard_fill(g.whole, total);
    return g;
}

static inline bool guard_intact(const float *p, size_t count)
{
    const uint32_t pattern = GUARD_PATTERN;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(p + i, &pattern, sizeof(pattern)) != 0) return false;
    }
    return true;
}

/* Checks the guards and frees. */
static inline void guarded_free(struct guarded *g, const char *what)
{
    bool before = guard_intact(g->p - GUARD, GUARD), after = guard_intact(g->p + g->count, 16);
    if (!before || !after) {
        test_fail(__FILE__, __LINE__, "%s: write %s the buffer", what, before ? "after" : "before");
    }
    free(g->whole);
}

/* [rows, width] with values in -scale .. scale; the gaps between the rows keep the guard pattern. */
static inline struct guarded random_rows(uint64_t *seed, size_t rows, size_t width, size_t stride,
                                         size_t offset, double scale)
{
    struct guarded g = guarded_new(rows ? (rows - 1) * stride + width : 0, offset);
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < width; i++) {
            g.p[r * stride + i] = (float)test_uniform(seed, -scale, scale);
        }
    }
    return g;
}

static inline bool gaps_intact(const struct guarded *g, size_t rows, size_t width, size_t stride)
{
    for (size_t r = 0; r + 1 < rows; r++) {
        if (!guard_intact(g->p + r * stride + width, stride - width)) return false;
    }
    return true;
}

static inline bool rows_equal(const float *a, size_t a_stride, const float *b, size_t b_stride,
                              size_t rows, size_t width)
{
    for (size_t r = 0; r < rows; r++) {
        if (memcmp(a + r * a_stride, b + r * b_stride, width * sizeof(float)) != 0) return false;
    }
    return true;
}

/* The i-th table that this CPU runs, slowest first; NULL past the end. */
static inline const struct tn_kernels *runnable(size_t i)
{
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    for (size_t n = 0; tn_kernels_name(n); n++) {
        const struct tn_kernels *k = tn_kernels_select(&cpu, tn_kernels_name(n));
        if (k && i-- == 0) return k;
    }
    return NULL;
}

#define EACH_TABLE(k)                                                                              \
    const struct tn_kernels *k = runnable(0);                                                      \
    for (size_t k##_index = 0; k; k = runnable(++k##_index))

/* *worst = max(*worst, error), where a NaN stays for good. */
static inline void note_error(double *worst, double error)
{
    if (isnan(error) || error > *worst) *worst = error;
}

/* Distance in units of the last place of the exact value; subnormals count in units of 2^-149. */
static inline double ulps(float found, double exact)
{
    if (isnan(exact) && isnan(found)) return 0.0;
    if (isinf(exact) || isinf((double)found)) return (double)found == exact ? 0.0 : 1e30;
    int exponent;
    frexp(exact, &exponent);
    if (exponent < -125) exponent = -125;
    return fabs((double)found - exact) / ldexp(1.0, exponent - 24);
}

#endif
