/*
 * Pools for one element type, by rows: each element of the window takes its part of an output row at once. REAL,
 * TN_BODY(name), LOWEST; AVERAGE when the type has averages. Items are planes.
 */
struct TN_BODY(pool) {
    const struct tn_window *w;
    const REAL *x;
    REAL *y;
    int64_t *index; /* of the maxima in the plane, row-major; NULL: not wanted */
    uint64_t in_plane, out_plane, taps;
    bool with_pad; /* padding counts in an average */
    double p;
};

static void TN_BODY(max_row)(const REAL *x, int64_t stride, int64_t count, REAL *y, int64_t *index, int64_t at)
{
    if (!index && stride == 1) {
        for (int64_t i = 0; i < count; i++) y[i] = x[i] > y[i] ? x[i] : y[i];
        return;
    }
    if (!index && stride == 2) {
        for (int64_t i = 0; i < count; i++) y[i] = x[2 * i] > y[i] ? x[2 * i] : y[i];
        return;
    }
    if (!index) {
        for (int64_t i = 0; i < count; i++) y[i] = x[i * stride] > y[i] ? x[i * stride] : y[i];
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (!(x[i * stride] > y[i]) && index[i] >= 0) continue;
        y[i] = x[i * stride];
        index[i] = at + i * stride;
    }
}

static void TN_BODY(max_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(pool) *k = user;
    const struct tn_window *w = k->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1], rows = k->out_plane / width;
    for (uint64_t i = begin; i < end; i++) {
        const REAL *x = k->x + i * k->in_plane;
        REAL *y = k->y + i * k->out_plane;
        int64_t *index = k->index ? k->index + i * k->out_plane : NULL;
        for (uint64_t p = 0; p < k->out_plane; p++) y[p] = LOWEST;
        for (uint64_t p = 0; index && p < k->out_plane; p++) index[p] = -1;
        for (uint64_t t = 0; t < k->taps; t++) {
            int64_t tap[TN_SPATIAL], lo, hi, first;
            tn_window_tap(w, t, tap);
            tn_window_span(w, tap, &lo, &hi, &first);
            for (uint64_t row = 0; lo < hi && row < rows; row++) {
                uint64_t at, to = row * width + (uint64_t)lo;
                if (!tn_window_row(w, tap, row, &at)) continue;
                int64_t from = (int64_t)at + first;
                TN_BODY(max_row)(x + from, w->stride[w->rank - 1], hi - lo, y + to, index ? index + to : NULL, from);
            }
        }
    }
}

#ifdef AVERAGE
/* Adds to a row: the elements, or the p-th powers of their sizes. */
static void TN_BODY(sum_row)(const REAL *x, int64_t stride, int64_t count, double p, REAL *y)
{
    if (p == 0) {
        for (int64_t i = 0; i < count; i++) y[i] += x[i * stride];
    } else if (p == 1) {
        for (int64_t i = 0; i < count; i++) y[i] += x[i * stride] < 0 ? -x[i * stride] : x[i * stride];
    } else if (p == 2) {
        for (int64_t i = 0; i < count; i++) y[i] += x[i * stride] * x[i * stride];
    } else {
        for (int64_t i = 0; i < count; i++) y[i] += (REAL)pow(fabs((double)x[i * stride]), p);
    }
}

static void TN_BODY(finish_plane)(const struct TN_BODY(pool) *k, REAL *y)
{
    const struct tn_window *w = k->w;
    uint32_t last = w->rank - 1;
    uint64_t width = (uint64_t)w->out[last];
    for (uint64_t at = 0; at < k->out_plane; at++) {
        if (k->p != 0) {
            y[at] = k->p == 1 ? y[at] : k->p == 2 ? (REAL)sqrt(y[at]) : (REAL)pow((double)y[at], 1 / k->p);
            continue;
        }
        int64_t count = tn_window_met(w, last, (int64_t)(at % width), k->with_pad);
        uint64_t rest = at / width;
        for (uint32_t i = last; i-- > 0;) {
            count *= tn_window_met(w, i, (int64_t)(rest % (uint64_t)w->out[i]), k->with_pad);
            rest /= (uint64_t)w->out[i];
        }
        y[at] /= (REAL)count;
    }
}

/* Averages (p 0) and Lp norms. */
static void TN_BODY(sum_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(pool) *k = user;
    const struct tn_window *w = k->w;
    uint64_t width = (uint64_t)w->out[w->rank - 1], rows = k->out_plane / width;
    for (uint64_t i = begin; i < end; i++) {
        REAL *y = k->y + i * k->out_plane;
        for (uint64_t p = 0; p < k->out_plane; p++) y[p] = 0;
        for (uint64_t t = 0; t < k->taps; t++) {
            int64_t tap[TN_SPATIAL], lo, hi, first;
            tn_window_tap(w, t, tap);
            tn_window_span(w, tap, &lo, &hi, &first);
            for (uint64_t row = 0; lo < hi && row < rows; row++) {
                uint64_t at;
                if (!tn_window_row(w, tap, row, &at)) continue;
                TN_BODY(sum_row)(k->x + i * k->in_plane + at + first, w->stride[w->rank - 1], hi - lo, k->p, y + row * width + lo);
            }
        }
        TN_BODY(finish_plane)(k, y);
    }
}

/* Over whole planes: average (p 0) or Lp norm. Sixteen sums side by side, then their sum. */
static void TN_BODY(global_sum)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(pool) *k = user;
    for (uint64_t i = begin; i < end; i++) {
        const REAL *x = k->x + i * k->in_plane;
        REAL part[16] = {0};
        double sum = 0;
        uint64_t at = 0;
        for (; at + 16 <= k->in_plane; at += 16) TN_BODY(sum_row)(x + at, 1, 16, k->p, part);
        TN_BODY(sum_row)(x + at, 1, (int64_t)(k->in_plane - at), k->p, part);
        for (int n = 0; n < 16; n++) sum += (double)part[n];
        k->y[i] = (REAL)(k->p == 0 ? sum / (double)k->in_plane : k->p == 1 ? sum : k->p == 2 ? sqrt(sum) : pow(sum, 1 / k->p));
    }
}

static void TN_BODY(global_max)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(pool) *k = user;
    for (uint64_t i = begin; i < end; i++) {
        REAL best = LOWEST;
        for (uint64_t at = i * k->in_plane; at < (i + 1) * k->in_plane; at++) best = k->x[at] > best ? k->x[at] : best;
        k->y[i] = best;
    }
}
#endif
