/* Geometry of sliding windows; see the header. */
#include "ops/window.h"

#include "base/checked.h"

/* Far beyond every real kernel, stride or padding; keeps (kernel - 1) * dilation and its sums inside 64 bits. */
static const int64_t MOST = INT64_C(1) << 30;

static const char *read_ints(const struct tn_node *node, const char *name, uint32_t count, int64_t least, int64_t otherwise, int64_t *out)
{
    size_t n;
    const int64_t *given = tn_attr_ints(node, name, &n);
    if (given && n != count) return "as many numbers in each attribute as there are spatial dimensions (pads: twice as many)";
    for (uint32_t i = 0; i < count; i++) {
        out[i] = given ? given[i] : otherwise;
        if (out[i] < least || out[i] > MOST) return "kernels, strides and dilations from 1, and padding from 0";
    }
    return NULL;
}

static const char *read_auto_pad(const struct tn_node *node, enum tn_auto_pad *out)
{
    static const char *const names[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    struct tn_str text = tn_attr_text(node, "auto_pad");
    *out = TN_PAD_NOTSET;
    if (text.n == 0) return NULL;
    for (unsigned i = 0; i < 4; i++) {
        *out = (enum tn_auto_pad)i;
        if (tn_str_is(text, names[i])) return NULL;
    }
    return "auto_pad NOTSET, SAME_UPPER, SAME_LOWER or VALID";
}

const char *tn_window_read(const struct tn_node *node, uint32_t rank, struct tn_window *w)
{
    int64_t pads[2 * TN_SPATIAL];
    size_t n;
    *w = (struct tn_window){.rank = rank, .ceil = tn_attr_int(node, "ceil_mode", 0) != 0};
    if (rank > TN_SPATIAL) return "at most six spatial dimensions";
    const char *bad = read_ints(node, "strides", rank, 1, 1, w->stride);
    if (!bad) bad = read_ints(node, "dilations", rank, 1, 1, w->dilation);
    if (!bad) bad = read_ints(node, "pads", 2 * rank, 0, 0, pads);
    if (!bad) bad = read_auto_pad(node, &w->automatic);
    w->has_kernel = tn_attr_ints(node, "kernel_shape", &n) != NULL;
    if (!bad && w->has_kernel) bad = read_ints(node, "kernel_shape", rank, 1, 1, w->kernel);
    for (uint32_t i = 0; !bad && w->automatic == TN_PAD_NOTSET && i < rank; i++) {
        w->begin[i] = pads[i];
        w->end[i] = pads[rank + i];
    }
    return bad;
}

const char *tn_window_kernel(struct tn_window *w, const int64_t *kernel)
{
    for (uint32_t i = 0; i < w->rank; i++) {
        if (w->has_kernel && w->kernel[i] != kernel[i]) return "a kernel_shape that is the shape of the weights";
        if (kernel[i] < 1 || kernel[i] > MOST) return "a kernel with elements";
        w->kernel[i] = kernel[i];
    }
    w->has_kernel = true;
    return NULL;
}

static const char *fit_dim(struct tn_window *w, uint32_t i, int64_t in)
{
    int64_t extent = tn_window_extent(w, i), stride = w->stride[i];
    w->in[i] = in;
    if (in < 0 || in > INT64_MAX / 4) return "spatial dimensions that are sizes";
    if (w->automatic == TN_PAD_UPPER || w->automatic == TN_PAD_LOWER) {
        w->out[i] = in / stride + (in % stride != 0);
        int64_t total = w->out[i] == 0 ? 0 : (w->out[i] - 1) * stride + extent - in;
        if (total < 0) total = 0;
        w->begin[i] = w->automatic == TN_PAD_UPPER ? total / 2 : total - total / 2;
        w->end[i] = total - w->begin[i];
        return NULL;
    }
    int64_t room = in + w->begin[i] + w->end[i] - extent;
    if (room < 0) return "a padded operand that is no smaller than the kernel";
    w->out[i] = room / stride + 1;
    /* With ceil_mode a last window may hang over the end, when it begins inside or in the padding before. */
    if (w->ceil && w->automatic == TN_PAD_NOTSET && room % stride != 0 && w->out[i] * stride < in + w->begin[i]) w->out[i]++;
    return NULL;
}

const char *tn_window_fit(struct tn_window *w, const int64_t *in)
{
    for (uint32_t i = 0; i < w->rank; i++) {
        const char *bad = fit_dim(w, i, in[i]);
        if (bad) return bad;
    }
    return NULL;
}

void tn_window_trim(struct tn_window *w)
{
    for (uint32_t last = w->rank - 1; last > 0; last--) {
        if (w->in[last] != 1 || w->out[last] != 1 || w->kernel[last] != 1 || w->begin[last] || w->end[last]) return;
        w->rank = last;
    }
}

tn_dim_t tn_window_dim(const struct tn_window *w, struct tn_symbols *symbols, uint32_t i, tn_dim_t in, const char **why)
{
    if (tn_dim_known(in)) {
        struct tn_window copy = *w;
        *why = fit_dim(&copy, i, in);
        return *why ? tn_dim_unknown(symbols) : copy.out[i];
    }
    if (w->automatic == TN_PAD_UPPER || w->automatic == TN_PAD_LOWER)
        return tn_dim_div(symbols, tn_dim_add(symbols, in, w->stride[i] - 1), w->stride[i]);
    if (w->ceil && w->automatic == TN_PAD_NOTSET && w->stride[i] > 1) return tn_dim_unknown(symbols);
    int64_t less = tn_window_extent(w, i) - w->begin[i] - w->end[i];
    tn_dim_t room = less >= 0 ? tn_dim_sub(symbols, in, less) : tn_dim_add(symbols, in, -less);
    return tn_dim_add(symbols, tn_dim_div(symbols, room, w->stride[i]), 1);
}

void tn_window_tap(const struct tn_window *w, uint64_t index, int64_t *tap)
{
    for (uint32_t i = w->rank; i-- > 0;) {
        tap[i] = (int64_t)(index % (uint64_t)w->kernel[i]);
        index /= (uint64_t)w->kernel[i];
    }
}

bool tn_window_row(const struct tn_window *w, const int64_t *tap, uint64_t row, uint64_t *at)
{
    uint64_t step = (uint64_t)w->in[w->rank - 1], offset = 0;
    for (uint32_t i = w->rank - 1; i-- > 0;) {
        int64_t o = (int64_t)(row % (uint64_t)w->out[i]), x = o * w->stride[i] - w->begin[i] + tap[i] * w->dilation[i];
        row /= (uint64_t)w->out[i];
        if (x < 0 || x >= w->in[i]) return false;
        offset += (uint64_t)x * step;
        step *= (uint64_t)w->in[i];
    }
    *at = offset;
    return true;
}

void tn_window_span(const struct tn_window *w, const int64_t *tap, int64_t *lo, int64_t *hi, int64_t *at)
{
    uint32_t last = w->rank - 1;
    int64_t stride = w->stride[last], first = tap[last] * w->dilation[last] - w->begin[last]; /* met by position 0 */
    *lo = first >= 0 ? 0 : (-first + stride - 1) / stride;
    int64_t left = w->in[last] - 1 - first; /* positions o with o * stride <= left */
    *hi = left < 0 ? 0 : left / stride + 1;
    if (*hi > w->out[last]) *hi = w->out[last];
    if (*lo > *hi) *lo = *hi;
    *at = first + *lo * stride;
}

int64_t tn_window_met(const struct tn_window *w, uint32_t i, int64_t o, bool with_pad)
{
    int64_t at = o * w->stride[i] - w->begin[i], low = with_pad ? -w->begin[i] : 0, high = w->in[i] + (with_pad ? w->end[i] : 0);
    int64_t d = w->dilation[i], first = at >= low ? 0 : (low - at + d - 1) / d;
    int64_t past = at >= high ? 0 : (high - 1 - at) / d + 1;
    if (past > w->kernel[i]) past = w->kernel[i];
    return past > first ? past - first : 0;
}
