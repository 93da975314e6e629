/*
 * Fourier transforms, windows and mel filters. Transforms run in double: powers of two by Cooley and Tukey, other lengths
 * by Bluestein's convolution; so no length is slow.
 */
#include "ops/real.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- transforms --------------------------------------------------------------------------------------------------- */

/* A plan for one length and direction. Complex numbers are pairs. */
struct transform {
    size_t n, padded;  /* padded: a power of two; n itself where that is one */
    double sign;       /* of the exponent */
    double *roots;     /* [padded / 2] e^(-2 pi i k / padded) */
    double *chirp;     /* [n] e^(sign pi i k^2 / n); NULL for powers of two */
    double *filter;    /* [padded] the transformed conjugate chirp */
    double *work;      /* [padded] */
    void *memory;
};

static size_t power_above(size_t n)
{
    size_t p = 1;
    while (p < n) p *= 2;
    return p;
}

/* In place, of a power of two, with e^(-...). Cooley and Tukey (1965), decimation in time. */
static void radix_two(const double *roots, size_t whole, double *x, size_t n)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i >= j) continue;
        double re = x[2 * i], im = x[2 * i + 1];
        x[2 * i] = x[2 * j];
        x[2 * i + 1] = x[2 * j + 1];
        x[2 * j] = re;
        x[2 * j + 1] = im;
    }
    for (size_t half = 1; half < n; half *= 2) {
        size_t step = whole / (2 * half);
        for (size_t i = 0; i < n; i += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                double *a = x + 2 * (i + k), *b = x + 2 * (i + k + half), wr = roots[2 * k * step], wi = roots[2 * k * step + 1];
                double re = b[0] * wr - b[1] * wi, im = b[0] * wi + b[1] * wr;
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
        }
    }
}

static void conjugate(double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[2 * i + 1] = -x[2 * i + 1];
}

static void fill_chirp(struct transform *t)
{
    memset(t->filter, 0, 2 * t->padded * sizeof(double));
    for (size_t k = 0; k < t->n; k++) {
        /* k^2 modulo 2 n keeps the angle small */
        size_t square = (size_t)((unsigned long long)k * k % (2 * (unsigned long long)t->n));
        double angle = t->sign * PI * (double)square / (double)t->n;
        t->chirp[2 * k] = cos(angle);
        t->chirp[2 * k + 1] = sin(angle);
        for (int twice = 0; twice < (k ? 2 : 1); twice++) {
            size_t at = twice ? t->padded - k : k;
            t->filter[2 * at] = t->chirp[2 * k];
            t->filter[2 * at + 1] = -t->chirp[2 * k + 1];
        }
    }
    radix_two(t->roots, t->padded, t->filter, t->padded);
}

static bool open_transform(struct tn_run *r, size_t n, bool inverse, struct transform *t)
{
    size_t most = (size_t)1 << 31;
    *t = (struct transform){.n = n, .sign = inverse ? 1 : -1};
    if (n > most / 4) return tn_run_refuse(r, "a transform below 2^29", "%zu", n);
    t->padded = power_above(n);
    bool bluestein = t->padded != n;
    if (bluestein) t->padded = power_above(2 * n - 1);
    t->memory = tn_run_scratch(r, t->padded + (bluestein ? 2 * n + 4 * t->padded : 0), sizeof(double));
    if (!t->memory) return false;
    t->roots = t->memory;
    for (size_t k = 0; k < t->padded / 2; k++) {
        double angle = -2 * PI * (double)k / (double)t->padded;
        t->roots[2 * k] = cos(angle);
        t->roots[2 * k + 1] = sin(angle);
    }
    if (!bluestein) return true;
    t->chirp = t->roots + t->padded;
    t->filter = t->chirp + 2 * n;
    t->work = t->filter + 2 * t->padded;
    fill_chirp(t);
    return true;
}

/* x[n], in place, without a factor. */
static void run_transform(const struct transform *t, double *x)
{
    if (!t->chirp) {
        if (t->sign > 0) conjugate(x, t->n);
        radix_two(t->roots, t->padded, x, t->n);
        if (t->sign > 0) conjugate(x, t->n);
        return;
    }
    double *w = t->work, factor = 1 / (double)t->padded;
    memset(w, 0, 2 * t->padded * sizeof(double));
    for (size_t k = 0; k < t->n; k++) {
        const double *c = t->chirp + 2 * k;
        w[2 * k] = x[2 * k] * c[0] - x[2 * k + 1] * c[1];
        w[2 * k + 1] = x[2 * k] * c[1] + x[2 * k + 1] * c[0];
    }
    radix_two(t->roots, t->padded, w, t->padded);
    for (size_t k = 0; k < t->padded; k++) {
        double re = w[2 * k] * t->filter[2 * k] - w[2 * k + 1] * t->filter[2 * k + 1];
        double im = w[2 * k] * t->filter[2 * k + 1] + w[2 * k + 1] * t->filter[2 * k];
        w[2 * k] = re;
        w[2 * k + 1] = -im; /* the inverse transform, as a conjugated one */
    }
    radix_two(t->roots, t->padded, w, t->padded);
    for (size_t k = 0; k < t->n; k++) {
        double re = w[2 * k] * factor, im = -w[2 * k + 1] * factor;
        const double *c = t->chirp + 2 * k;
        x[2 * k] = re * c[0] - im * c[1];
        x[2 * k + 1] = re * c[1] + im * c[0];
    }
}

/* ---- DFT ---------------------------------------------------------------------------------------------------------- */

static bool infer_dft(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    int64_t axis = t->node->version < 20 ? tn_attr_int(t->node, "axis", 1) : -2, length;
    bool inverse = tn_attr_int(t->node, "inverse", 0) != 0, one_sided = tn_attr_int(t->node, "onesided", 0) != 0;
    uint32_t count, at;
    tn_dim_t out[TN_RANK];
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank < 2) return tn_infer_refuse(t, "a signal of rank 2 at least", "rank %u", x->rank);
    if (tn_in_given(t, 2) && !tn_in_numbers(t, 2, &axis, 1, &count)) return !t->failed;
    if (tn_in_given(t, 2) && count != 1) return tn_infer_refuse(t, "one axis", "%u", count);
    if (!tn_infer_axis(t, axis, x->rank, &at)) return false;
    if (at + 1 == x->rank) return tn_infer_refuse(t, "an axis in front of the complex one", "axis %lld", (long long)axis);
    for (uint32_t i = 0; i < x->rank; i++) out[i] = x->dims[i];
    tn_dim_t parts = x->dims[x->rank - 1];
    if (tn_dim_known(parts) && parts != 1 && parts != 2) return tn_infer_refuse(t, "real numbers or pairs in the last dimension", "%lld", (long long)parts);
    bool back = inverse && one_sided;
    if (tn_in_given(t, 1)) {
        if (!tn_in_numbers(t, 1, &length, 1, &count)) {
            if (t->failed) return false;
            out[at] = tn_dim_unknown(t->symbols);
        } else {
            if (count != 1 || length < 1 || length > INT32_MAX) return tn_infer_refuse(t, "a length from 1", "%lld", count ? (long long)length : 0LL);
            out[at] = length;
        }
    } else if (back) {
        out[at] = tn_dim_mul(t->symbols, tn_dim_sub(t->symbols, out[at], 1), 2);
    }
    if (one_sided && !inverse) out[at] = tn_dim_add(t->symbols, tn_dim_div(t->symbols, out[at], 2), 1);
    out[x->rank - 1] = back ? 1 : 2;
    tn_out_tensor(t, 0, type->element, x->rank, out);
    return true;
}

/* Lines along an axis of tensors whose last dimension is 1 or 2 numbers. */
struct line {
    const struct tn_tensor *x;
    uint64_t begin, step, count, parts;
};

static void read_line(const struct line *l, size_t n, bool mirror, double *to)
{
    memset(to, 0, 2 * n * sizeof(*to));
    for (uint64_t k = 0; k < l->count && k < n; k++) {
        uint64_t at = l->begin + k * l->step;
        to[2 * k] = tn_element_get(l->x->element, l->x->data, at);
        to[2 * k + 1] = l->parts == 2 ? tn_element_get(l->x->element, l->x->data, at + 1) : 0;
    }
    /* One side of a spectrum of real numbers; what is stated beyond the middle does not count. */
    for (size_t k = n / 2 + 1; mirror && k < n; k++) {
        to[2 * k] = to[2 * (n - k)];
        to[2 * k + 1] = -to[2 * (n - k) + 1];
    }
    if (mirror && n > 0) to[1] = 0;
    if (mirror && n % 2 == 0 && n > 0) to[n + 1] = 0;
}

static bool run_dft(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    bool inverse = tn_attr_int(r->node, "inverse", 0) != 0, one_sided = tn_attr_int(r->node, "onesided", 0) != 0, back = inverse && one_sided;
    int64_t axis = r->node->version < 20 ? tn_attr_int(r->node, "axis", 1) : r->in_count > 2 && r->in[2] ? tn_run_int(r, 2, 0) : -2;
    uint32_t at = (uint32_t)(axis < 0 ? axis + x->rank : axis);
    uint64_t outer = 1, inner = 1;
    struct transform t;
    if (!tn_run_shaped(r)) return false;
    if (y->count == 0) return true;
    for (uint32_t i = 0; i < at; i++) outer *= (uint64_t)x->dims[i];
    for (uint32_t i = at + 1; i + 1 < x->rank; i++) inner *= (uint64_t)x->dims[i];
    uint64_t parts = (uint64_t)x->dims[x->rank - 1], in = (uint64_t)x->dims[at], out = (uint64_t)y->dims[at], to_parts = (uint64_t)y->dims[y->rank - 1];
    size_t n = r->in_count > 1 && r->in[1] ? (size_t)tn_run_int(r, 1, 0) : back ? (size_t)out : (size_t)in;
    if (one_sided && !inverse && parts == 2) return tn_run_refuse(r, "real numbers for a one-sided transform", "pairs");
    bool good = open_transform(r, n, inverse, &t);
    double *one = good ? tn_run_scratch(r, 2 * n, sizeof(*one)) : NULL, factor = inverse ? 1 / (double)n : 1;
    for (uint64_t i = 0; one && i < outer * inner; i++) {
        struct line l = {x, (i / inner * in * inner + i % inner) * parts, inner * parts, in, parts};
        read_line(&l, n, back, one);
        run_transform(&t, one);
        for (uint64_t k = 0; k < out; k++) {
            uint64_t to = (i / inner * out * inner + k * inner + i % inner) * to_parts;
            for (uint64_t p = 0; p < to_parts; p++) tn_element_set(y->element, y->data, to + p, one[2 * k + p] * factor, false);
        }
    }
    tn_heap_give(r->heap, one);
    tn_heap_give(r->heap, t.memory);
    return !r->failed;
}

/* ---- STFT --------------------------------------------------------------------------------------------------------- */

/* The length of a frame: stated, the window's, or the signal's. */
static bool frame_length(struct tn_infer *t, const struct tn_shape *x, tn_dim_t *out)
{
    const struct tn_shape *window;
    int64_t stated;
    uint32_t count;
    bool with_window = tn_in_shape(t, 2, &window);
    if (with_window && window->rank != 1) return tn_infer_refuse(t, "a window of rank 1", "rank %u", window->rank);
    *out = with_window ? window->dims[0] : tn_in_given(t, 2) ? tn_dim_unknown(t->symbols) : x->dims[1];
    if (!tn_in_given(t, 3)) return true;
    if (!tn_in_numbers(t, 3, &stated, 1, &count)) {
        *out = tn_dim_unknown(t->symbols);
        return !t->failed;
    }
    if (count != 1 || stated < 1 || (with_window && tn_dim_known(*out) && *out != stated))
        return tn_infer_refuse(t, "a frame_length from 1, the window's if there is one", "%lld", count ? (long long)stated : 0LL);
    *out = stated;
    return true;
}

static bool infer_stft(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    bool one_sided = tn_attr_int(t->node, "onesided", 1) != 0;
    int64_t step;
    uint32_t count;
    tn_dim_t length = 0;
    tn_out_unknown(t, 0, type ? type->element : TN_EL_NONE);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (x->rank != 3) return tn_infer_refuse(t, "a signal of rank 3", "rank %u", x->rank);
    if (tn_dim_known(x->dims[2]) && x->dims[2] != 1 && x->dims[2] != 2) return tn_infer_refuse(t, "real numbers or pairs", "%lld parts", (long long)x->dims[2]);
    if (one_sided && x->dims[2] == 2) return tn_infer_refuse(t, "real numbers for a one-sided transform", "pairs");
    if (!frame_length(t, x, &length)) return false;
    tn_dim_t frames = tn_dim_unknown(t->symbols);
    if (tn_in_numbers(t, 1, &step, 1, &count)) {
        if (count != 1 || step < 1) return tn_infer_refuse(t, "a frame_step from 1", "%lld", count ? (long long)step : 0LL);
        bool known = tn_dim_known(x->dims[1]) && tn_dim_known(length);
        if (known && (length > x->dims[1] || length < 1)) return tn_infer_refuse(t, "a frame inside the signal", "%lld of %lld", (long long)length, (long long)x->dims[1]);
        frames = known ? (x->dims[1] - length) / step + 1 : tn_dim_add(t->symbols, tn_dim_div(t->symbols, tn_dim_sub(t->symbols, x->dims[1], length), step), 1);
    } else if (t->failed) {
        return false;
    }
    tn_dim_t bins = one_sided ? tn_dim_add(t->symbols, tn_dim_div(t->symbols, length, 2), 1) : length;
    tn_out_tensor(t, 0, type->element, 4, (tn_dim_t[]){x->dims[0], frames, bins, 2});
    return true;
}

static bool run_stft(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *window = r->in_count > 2 ? r->in[2] : NULL;
    struct tn_tensor *y = r->out[0];
    struct transform t;
    if (!tn_run_shaped(r)) return false;
    if (y->count == 0) return true;
    size_t n = r->in_count > 3 && r->in[3] ? (size_t)tn_run_int(r, 3, 0) : window ? (size_t)window->count : (size_t)x->dims[1];
    uint64_t step = (uint64_t)tn_run_int(r, 1, 0), frames = (uint64_t)y->dims[1], bins = (uint64_t)y->dims[2], parts = (uint64_t)x->dims[2];
    bool good = open_transform(r, n, false, &t);
    double *one = good ? tn_run_scratch(r, 2 * n, sizeof(*one)) : NULL;
    for (uint64_t i = 0; one && i < (uint64_t)x->dims[0] * frames; i++) {
        struct line l = {x, (i / frames * (uint64_t)x->dims[1] + i % frames * step) * parts, parts, n, parts};
        read_line(&l, n, false, one);
        for (size_t k = 0; window && k < n; k++) {
            double w = tn_element_get(window->element, window->data, k);
            one[2 * k] *= w;
            one[2 * k + 1] *= w;
        }
        run_transform(&t, one);
        for (uint64_t k = 0; k < 2 * bins; k++) tn_element_set(y->element, y->data, i * 2 * bins + k, one[k], false);
    }
    tn_heap_give(r->heap, one);
    tn_heap_give(r->heap, t.memory);
    return !r->failed;
}

/* ---- windows ------------------------------------------------------------------------------------------------------ */

static bool is_output_type(struct tn_infer *t, enum tn_element *e)
{
    int64_t stated = tn_attr_int(t->node, "output_datatype", TN_EL_F32);
    if (stated <= 0 || stated >= TN_EL_COUNT || !tn_elements_have(TN_ELS_NUMBER, (enum tn_element)stated))
        return tn_infer_refuse(t, "an output_datatype of numbers", "%lld", (long long)stated);
    *e = (enum tn_element)stated;
    return true;
}

static bool infer_window(struct tn_infer *t)
{
    enum tn_element e = TN_EL_NONE;
    int64_t size;
    uint32_t count;
    if (!is_output_type(t, &e)) return false;
    tn_dim_t dim = tn_dim_unknown(t->symbols);
    if (tn_in_numbers(t, 0, &size, 1, &count)) {
        if (count != 1 || size < 0) return tn_infer_refuse(t, "a size from 0", "%lld", count ? (long long)size : 0LL);
        dim = size;
    } else if (t->failed) {
        return false;
    }
    tn_out_tensor(t, 0, e, 1, &dim);
    return true;
}

/* a - b cos(2 pi k / n) + c cos(4 pi k / n), n one less unless periodic. */
static bool run_window(struct tn_run *r, double a, double b, double c)
{
    struct tn_tensor *y = r->out[0];
    bool periodic = tn_attr_int(r->node, "periodic", 1) != 0;
    double n = (double)y->count - (periodic ? 0 : 1);
    for (uint64_t k = 0; k < y->count; k++) {
        double angle = n > 0 ? 2 * PI * (double)k / n : PI;
        tn_element_set(y->element, y->data, k, a - b * cos(angle) + c * cos(2 * angle), false);
    }
    return true;
}

static bool run_hann(struct tn_run *r)
{
    return run_window(r, 0.5, 0.5, 0);
}

static bool run_hamming(struct tn_run *r)
{
    return run_window(r, 25.0 / 46, 21.0 / 46, 0);
}

static bool run_blackman(struct tn_run *r)
{
    return run_window(r, 0.42, 0.5, 0.08);
}

/* ---- MelWeightMatrix ---------------------------------------------------------------------------------------------- */

static bool infer_mel(struct tn_infer *t)
{
    enum tn_element e = TN_EL_NONE;
    int64_t bins, length;
    uint32_t count, again;
    if (!is_output_type(t, &e)) return false;
    tn_dim_t out[2] = {tn_dim_unknown(t->symbols), tn_dim_unknown(t->symbols)};
    if (tn_in_numbers(t, 0, &bins, 1, &count) && tn_in_numbers(t, 1, &length, 1, &again)) {
        if (count != 1 || again != 1 || bins < 0 || length < 0 || bins > INT32_MAX || length > INT32_MAX)
            return tn_infer_refuse(t, "numbers of bins and a length below 2^31", "others");
        out[0] = length / 2 + 1;
        out[1] = bins;
    } else if (t->failed) {
        return false;
    }
    tn_out_tensor(t, 0, e, 2, out);
    return true;
}

static double scalar(const struct tn_run *r, uint32_t i)
{
    return r->in[i]->count ? tn_element_get(r->in[i]->element, r->in[i]->data, 0) : NAN;
}

/* The spectrum's bin at edge i of the bands, which are even on the mel scale (O'Shaughnessy 1987). */
static double edge(const struct tn_run *r, uint64_t bands, uint64_t i)
{
    double low = 2595 * log10(1 + scalar(r, 3) / 700), high = 2595 * log10(1 + scalar(r, 4) / 700);
    double mel = low + (double)i * (high - low) / (double)(bands + 2);
    return floor((scalar(r, 1) + 1) * (700 * (pow(10, mel / 2595) - 1)) / scalar(r, 2));
}

static bool run_mel(struct tn_run *r)
{
    struct tn_tensor *y = r->out[0];
    uint64_t rows = (uint64_t)y->dims[0], bands = (uint64_t)y->dims[1];
    memset(y->data, 0, y->bytes);
    for (uint64_t i = 0; i < bands; i++) {
        double at[3];
        for (unsigned k = 0; k < 3; k++) {
            at[k] = edge(r, bands, i + k);
            if (!(at[k] >= 0 && at[k] <= (double)rows)) return tn_run_refuse(r, "edges inside the spectrum", "band %llu", (unsigned long long)i);
        }
        if (at[1] >= (double)rows) return tn_run_refuse(r, "edges inside the spectrum", "band %llu", (unsigned long long)i);
        for (double k = at[0]; at[1] > at[0] && k <= at[1]; k++) tn_element_set(y->element, y->data, (uint64_t)k * bands + i, (k - at[0]) / (at[1] - at[0]), false);
        if (at[1] == at[0]) tn_element_set(y->element, y->data, (uint64_t)at[1] * bands + i, 1, false);
        for (double k = at[1]; k < at[2]; k++) tn_element_set(y->element, y->data, (uint64_t)k * bands + i, (at[2] - k) / (at[2] - at[1]), false);
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "DFT", .since = 17, .infer = infer_dft, .run = run_dft},
    {.name = "STFT", .since = 17, .infer = infer_stft, .run = run_stft},
    {.name = "HannWindow", .since = 17, .infer = infer_window, .run = run_hann},
    {.name = "HammingWindow", .since = 17, .infer = infer_window, .run = run_hamming},
    {.name = "BlackmanWindow", .since = 17, .infer = infer_window, .run = run_blackman},
    {.name = "MelWeightMatrix", .since = 17, .infer = infer_mel, .run = run_mel},
};

const struct tn_operators tn_ops_signal = {rows, sizeof(rows) / sizeof(rows[0])};
