/* One dimension of a resize, for one type: each output element is a weighted sum of a few input elements. REAL, TN_BODY(name). */
struct TN_BODY(resize) {
    const REAL *x; /* [outer, in, inner] */
    REAL *y;       /* [outer, out, inner] */
    uint64_t in, out, inner;
    uint32_t taps;
    const uint32_t *index;  /* [out, taps] */
    const REAL *weight;     /* [out, taps] */
    const uint8_t *outside; /* [out]: the extrapolation value stands there; NULL: nowhere */
    REAL extrapolation;
};

/* Items are (outer, out). */
static void TN_BODY(resize_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(resize) *k = user;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t o = i % k->out;
        const REAL *x = k->x + i / k->out * k->in * k->inner, *weight = k->weight + o * k->taps;
        const uint32_t *index = k->index + o * k->taps;
        REAL *y = k->y + i * k->inner;
        if (k->outside && k->outside[o]) {
            for (uint64_t n = 0; n < k->inner; n++) y[n] = k->extrapolation;
        } else if (k->inner == 1) {
            REAL sum = 0;
            for (uint32_t t = 0; t < k->taps; t++) sum += weight[t] * x[index[t]];
            y[0] = sum;
        } else {
            for (uint64_t n = 0; n < k->inner; n++) y[n] = weight[0] * x[index[0] * k->inner + n];
            for (uint32_t t = 1; t < k->taps; t++) {
                const REAL *from = x + index[t] * k->inner, w = weight[t];
                for (uint64_t n = 0; n < k->inner; n++) y[n] += w * from[n];
            }
        }
    }
}
