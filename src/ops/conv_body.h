/*
 * Convolution by rows, for one type: each element of the kernel adds its multiple of an input row to an output row. The
 * road of depthwise kernels, whose sums are too short for products of matrices, and of float64. REAL, TN_BODY(name).
 */
struct TN_BODY(conv) {
    const struct tn_conv *c;
    const REAL *x, *weights, *bias;
    REAL *y;
};

/* Items are output planes. */
static void TN_BODY(conv_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(conv) *k = user;
    const struct tn_conv *c = k->c;
    const struct tn_window *w = &c->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1], rows = width ? c->out_plane / width : 0;
    int64_t stride = w->stride[w->rank - 1];
    for (uint64_t i = begin; i < end; i++) {
        uint64_t image = i / c->maps, map = i % c->maps, group = map / c->each_maps;
        REAL *y = k->y + i * c->out_plane, bias = k->bias ? k->bias[map] : 0;
        for (uint64_t p = 0; p < c->out_plane; p++) y[p] = bias;
        for (uint64_t d = 0; d < c->depth; d++) {
            const REAL *x = k->x + (image * c->channels + group * c->each_channels + d / c->taps) * c->in_plane;
            REAL weight = k->weights[map * c->depth + d];
            int64_t tap[TN_SPATIAL], lo, hi, first;
            tn_window_tap(w, d % c->taps, tap);
            tn_window_span(w, tap, &lo, &hi, &first);
            for (uint64_t row = 0; lo < hi && row < rows; row++) {
                uint64_t at;
                if (!tn_window_row(w, tap, row, &at)) continue;
                const REAL *from = x + at + first;
                REAL *to = y + row * width;
                if (stride == 1) {
                    for (int64_t o = lo; o < hi; o++) to[o] += weight * from[o - lo];
                } else {
                    for (int64_t o = lo; o < hi; o++) to[o] += weight * from[(o - lo) * stride];
                }
            }
        }
    }
}
