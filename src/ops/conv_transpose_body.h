/*
 * Transposed convolution by rows, for one type: each element of the kernel adds its multiple of an input row to an output
 * row. REAL, TN_BODY(name).
 */
struct TN_BODY(transpose) {
    const struct tn_conv *c; /* the window slides over the result: its `in` is the result's shape */
    const REAL *x, *weights, *bias;
    REAL *y;
};

/* Items are output planes. */
static void TN_BODY(transpose_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(transpose) *k = user;
    const struct tn_conv *c = k->c;
    const struct tn_window *w = &c->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1], rows = width ? c->out_plane / width : 0;
    int64_t stride = w->stride[w->rank - 1];
    for (uint64_t i = begin; i < end; i++) {
        uint64_t image = i / c->maps, map = i % c->maps, group = map / c->each_maps;
        REAL *y = k->y + i * c->in_plane, bias = k->bias ? k->bias[map] : 0;
        for (uint64_t p = 0; p < c->in_plane; p++) y[p] = bias;
        for (uint64_t d = 0; d < c->each_channels * c->taps; d++) {
            uint64_t channel = group * c->each_channels + d / c->taps;
            const REAL *x = k->x + (image * c->channels + channel) * c->out_plane;
            REAL weight = k->weights[(channel * c->each_maps + map % c->each_maps) * c->taps + d % c->taps];
            int64_t tap[TN_SPATIAL], lo, hi, first;
            tn_window_tap(w, d % c->taps, tap);
            tn_window_span(w, tap, &lo, &hi, &first);
            for (uint64_t row = 0; lo < hi && row < rows; row++) {
                uint64_t at;
                if (!tn_window_row(w, tap, row, &at)) continue;
                REAL *to = y + at + first;
                const REAL *from = x + row * width;
                for (int64_t o = lo; o < hi; o++) to[(o - lo) * stride] += weight * from[o];
            }
        }
    }
}
