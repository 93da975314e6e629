/* Columns of a deformable convolution, for one type: samples between elements, times a mask. REAL, TN_BODY(name). */
struct TN_BODY(deform) {
    const struct tn_conv *c;
    const REAL *x, *offset, *mask; /* of one image; mask NULL: ones */
    uint64_t each_offset;          /* channels that share offsets */
    REAL *columns;                 /* [channels, taps, positions] */
};

/* Linear interpolation in all dimensions; zeros outside. */
static REAL TN_BODY(sample)(const struct tn_window *w, const REAL *plane, const REAL *at)
{
    REAL sum = 0;
    for (uint32_t corner = 0; corner < 1u << w->rank; corner++) {
        REAL weight = 1;
        uint64_t index = 0;
        bool inside = true;
        for (uint32_t d = 0; d < w->rank; d++) {
            REAL low = (REAL)floor((double)at[d]), part = at[d] - low, place = low + (REAL)(corner >> d & 1);
            inside = inside && place >= 0 && place < (REAL)w->in[d];
            if (!inside) break;
            weight *= corner >> d & 1 ? part : 1 - part;
            index = index * (uint64_t)w->in[d] + (uint64_t)place;
        }
        if (inside && weight != 0) sum += weight * plane[index];
    }
    return sum;
}

/* Items are (channel, tap). */
static void TN_BODY(deform_columns)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(deform) *k = user;
    const struct tn_conv *c = k->c;
    const struct tn_window *w = &c->w;
    for (uint64_t item = begin; item < end; item++) {
        uint64_t channel = item / c->taps, group = channel / k->each_offset * c->taps + item % c->taps;
        const REAL *offset = k->offset + group * w->rank * c->out_plane, *mask = k->mask ? k->mask + group * c->out_plane : NULL;
        int64_t tap[TN_SPATIAL];
        tn_window_tap(w, item % c->taps, tap);
        for (uint64_t p = 0; p < c->out_plane; p++) {
            REAL at[TN_SPATIAL];
            uint64_t rest = p;
            for (uint32_t d = w->rank; d-- > 0;) {
                int64_t o = (int64_t)(rest % (uint64_t)w->out[d]);
                rest /= (uint64_t)w->out[d];
                at[d] = (REAL)(o * w->stride[d] - w->begin[d] + tap[d] * w->dilation[d]) + offset[d * c->out_plane + p];
            }
            REAL v = TN_BODY(sample)(w, k->x + channel * c->in_plane, at);
            k->columns[item * c->out_plane + p] = mask ? v * mask[p] : v;
        }
    }
}
