/*
 * Planes under small windows, for one instruction set. Rows of the input that a band of results needs are copied into lines
 * with zeros around them; with stride 2 across a line has two phases, even and odd columns, so that every tap reads
 * neighbouring elements. A vector of a line serves all rows of results that need it while it is in a register.
 */
#include "base/checked.h"
#include "kernel/x86/after.h"

#include <string.h>

enum {
    ROWS = 4,                /* of results at a time */
    BAND_FLOATS = 5 << 10,   /* lines of a band: two thirds of a small L1 cache */
};

struct band {
    size_t phase;  /* floats from phase to phase of a line */
    size_t line;   /* from line to line */
    size_t rows;   /* of results, a multiple of ROWS, or 1 */
    size_t lines;  /* that they need */
    size_t across; /* of results, whole vectors */
    size_t offset[TN_PLANES_WINDOW]; /* of a tap's column in a line */
};

static size_t whole_vectors(size_t n)
{
    return (n + VEC - 1) / VEC * VEC;
}

/* False when the numbers do not fit. */
static bool band_of(const struct tn_planes_args *a, struct band *b)
{
    size_t s = a->stride_across, reach = (a->kernel_width - 1) / s, rows, line;
    if (a->out_width > SIZE_MAX / 64 || a->stride_down > SIZE_MAX / 1024) return false;
    b->across = whole_vectors(a->out_width);
    b->phase = whole_vectors(b->across + reach) + VEC;
    b->line = line = b->phase * s;
    for (size_t k = 0; k < a->kernel_width; k++) b->offset[k] = k % s * b->phase + k / s;
    rows = BAND_FLOATS / line;
    rows = rows > a->kernel_height ? (rows - a->kernel_height) / a->stride_down + 1 : 1;
    b->rows = rows < ROWS ? ROWS : rows / ROWS * ROWS;
    b->lines = (b->rows - 1) * a->stride_down + a->kernel_height;
    return true;
}

/* Lines, a line as it stands in the image, sums [rows][across]. */
bool TN_ISA(planes_scratch_size)(const struct tn_planes_args *a, size_t *bytes)
{
    struct band b;
    size_t lines, sums;
    if (!band_of(a, &b) || !tn_mul(b.line, b.lines + 1, &lines) || !tn_mul(b.across, b.rows, &sums)) return false;
    return tn_add(lines, sums, &lines) && tn_add(lines, 4 * VEC, &lines) && tn_mul(lines, sizeof(float), bytes);
}

TN_INLINE void split2(const float *p, float *even, float *odd)
{
    vec out[2];
    v_split2(p, out);
    v_store(even, out[0]);
    v_store(odd, out[1]);
}

/* The last vector ends with zeros, which stand behind the row already. */
static void copy_row(enum tn_float_type type, const char *x, float *to, size_t count)
{
    const float *from = (const float *)(const void *)x;
    size_t i = 0;
    if (type != TN_FLOAT_F32) {
        TN_ISA(to_f32)(type, x, to, count);
        return;
    }
    for (; i + VEC <= count; i += VEC) v_store(to + i, v_load(from + i));
    if (i < count) v_store(to + i, v_load_tail(from + i, v_tail(count - i)));
}

/* Row `row` of a channel between zeros. `flat` has room for a line and two vectors. */
static void load_line(const struct tn_planes_args *a, const struct band *b, size_t channel, ptrdiff_t row, float *flat, float *line)
{
    const bool split = a->stride_across == 2;
    float *to = split ? flat : line;
    if (row < 0 || row >= (ptrdiff_t)a->height) {
        memset(line, 0, b->line * sizeof(*line));
        return;
    }
    ptrdiff_t lo = a->left, hi = (ptrdiff_t)a->width + a->left, from = 0, end = (ptrdiff_t)b->line;
    if (lo < 0) {
        from = -lo;
        lo = 0;
    }
    if (lo > end) lo = end;
    if (hi > end - VEC) hi = end - VEC; /* no result needs what stands in the last vector */
    if (hi < lo) hi = lo;
    for (ptrdiff_t i = 0; i < end; i += VEC) v_store(to + i, v_zero());
    if (hi > lo) {
        size_t at = (channel * a->height + (size_t)row) * a->width + (size_t)from;
        copy_row(a->type, (const char *)a->x + at * tn_float_type_size(a->type), to + lo, (size_t)(hi - lo));
    }
    for (size_t i = 0; split && i < b->phase; i += VEC) split2(flat + 2 * i, line + i, line + b->phase + i);
}

/* ROWS rows of sums over the taps of one channel; `add` them to what is there. */
TN_INLINE void sum_rows(const float *lines, const struct band *b, const float *w, float *sums, const bool add, const int kh, const int kw, const int down)
{
    const size_t line = b->line, across = b->across;
    const size_t *offset = b->offset;
    for (size_t at = 0; at < across; at += VEC) {
        vec sum[ROWS];
#pragma GCC unroll 4
        for (int i = 0; i < ROWS; i++) sum[i] = v_zero();
#pragma GCC unroll 16
        for (int y = 0; y < (ROWS - 1) * down + kh; y++) {
#pragma GCC unroll 8
            for (int k = 0; k < kw; k++) {
                vec v = v_load(lines + (size_t)y * line + offset[k] + at);
#pragma GCC unroll 4
                for (int i = 0; i < ROWS; i++) {
                    if (y >= i * down && y < i * down + kh) sum[i] = v_fma(v_set(w[(y - i * down) * kw + k]), v, sum[i]);
                }
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < ROWS; i++) {
            float *to = sums + (size_t)i * across + at;
            v_store(to, add ? v_add(v_load(to), sum[i]) : sum[i]);
        }
    }
}

typedef void sum_fn(const float *lines, const struct band *b, const float *w, float *sums, bool add);
#define WINDOW(kh, kw, down)                                                                       \
    static void sum_##kh##x##kw##_##down(const float *lines, const struct band *b, const float *w, float *sums, bool add) \
    {                                                                                              \
        if (add) sum_rows(lines, b, w, sums, true, kh, kw, down);                                  \
        else sum_rows(lines, b, w, sums, false, kh, kw, down);                                     \
    }
WINDOW(3, 3, 1)
WINDOW(3, 3, 2)
WINDOW(5, 5, 1)
WINDOW(5, 5, 2)
#undef WINDOW

static sum_fn *special(const struct tn_planes_args *a)
{
    if (a->stride_down > 2 || a->kernel_height != a->kernel_width) return NULL;
    if (a->kernel_width == 3) return a->stride_down == 1 ? sum_3x3_1 : sum_3x3_2;
    if (a->kernel_width == 5) return a->stride_down == 1 ? sum_5x5_1 : sum_5x5_2;
    return NULL;
}

/* One row of sums under any window. */
static void sum_row(const struct tn_planes_args *a, const float *lines, const struct band *b, const float *w, float *sums, bool add)
{
    for (size_t at = 0; at < b->across; at += VEC) {
        vec sum = v_zero();
        for (size_t y = 0; y < a->kernel_height; y++) {
            for (size_t k = 0; k < a->kernel_width; k++) sum = v_fma(v_set(w[y * a->kernel_width + k]), v_load(lines + y * b->line + b->offset[k] + at), sum);
        }
        v_store(sums + at, add ? v_add(v_load(sums + at), sum) : sum);
    }
}

/* Rows first .. first + rows - 1 of the results. */
static void run_band(const struct tn_planes_args *a, const struct band *b, size_t first, size_t rows, sum_fn *fast)
{
    float *flat = a->scratch, *lines = flat + b->line + 2 * VEC, *sums = lines + b->line * b->lines;
    const size_t taps = a->kernel_height * a->kernel_width, size = tn_float_type_size(a->type);
    size_t whole = fast ? (rows + ROWS - 1) / ROWS * ROWS : rows;
    for (size_t c = 0; c < a->channels; c++) {
        for (size_t i = 0; i < (whole - 1) * a->stride_down + a->kernel_height; i++)
            load_line(a, b, c, (ptrdiff_t)(first * a->stride_down + i) - a->top, flat, lines + i * b->line);
        for (size_t row = 0; row < rows; row += fast ? ROWS : 1) {
            const float *from = lines + row * a->stride_down * b->line, *w = a->w + c * taps;
            if (fast) fast(from, b, w, sums + row * b->across, c > 0);
            else sum_row(a, from, b, w, sums + row * b->across, c > 0);
        }
    }
    /* results of neighbouring rows are neighbours, sums stand apart by whole vectors */
    for (size_t row = 1; b->across != a->out_width && row < rows; row++) {
        for (size_t i = 0; i < b->across; i += VEC) v_store(sums + row * a->out_width + i, v_load(sums + row * b->across + i));
    }
    size_t at = (first - a->first) * a->out_width * size;
    struct leaving r = {.sums = sums, .width = rows * a->out_width, .bias = a->bias, .after = a->after ? a->after : &after_nothing,
                        .type = a->type, .residual = a->residual ? (const char *)a->residual + at : NULL, .y = (char *)a->y + at};
    leave_row(&r);
}

void TN_ISA(planes)(const struct tn_planes_args *a)
{
    struct band b;
    if (!band_of(a, &b)) return;
    sum_fn *fast = special(a);
    for (size_t at = 0; at < a->count; at += b.rows)
        run_band(a, &b, a->first + at, a->count - at < b.rows ? a->count - at : b.rows, fast);
}
