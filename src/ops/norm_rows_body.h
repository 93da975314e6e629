/*
 * Normalisations of rows, for one type. Sums run in eight lanes that are added at the end: the order does not depend on
 * how the compiler vectorises. REAL, TN_BODY(name).
 */
static REAL TN_BODY(sum)(const REAL *x, uint64_t n)
{
    REAL lane[8] = {0}, tail = 0;
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) lane[k] += x[i + k];
    }
    for (; i < n; i++) tail += x[i];
    return (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))) + tail;
}

/* Sum of (x - mean)^2. */
static REAL TN_BODY(squares)(const REAL *x, uint64_t n, REAL mean)
{
    REAL lane[8] = {0}, tail = 0;
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) lane[k] += (x[i + k] - mean) * (x[i + k] - mean);
    }
    for (; i < n; i++) tail += (x[i] - mean) * (x[i] - mean);
    return (((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))) + tail;
}

/* Rows of `width`, scaled by vectors that repeat. */
struct TN_BODY(rows) {
    const REAL *x, *scale, *shift; /* NULL: one, zero */
    REAL *y, *mean, *inverse;      /* of each row; NULL: not wanted */
    uint64_t width;
    uint64_t scale_step, shift_step; /* elements of scale and shift between rows */
    double epsilon;
    bool centred; /* false: the mean stays (RMS) */
};

static void TN_BODY(norm_rows)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(rows) *k = user;
    uint64_t n = k->width;
    for (uint64_t row = begin; row < end; row++) {
        const REAL *x = k->x + row * n, *scale = k->scale ? k->scale + row * k->scale_step : NULL;
        const REAL *shift = k->shift ? k->shift + row * k->shift_step : NULL;
        REAL *y = k->y ? k->y + row * n : NULL, mean = k->centred ? TN_BODY(sum)(x, n) / (REAL)n : 0;
        REAL inverse = (REAL)(1 / sqrt((double)(TN_BODY(squares)(x, n, mean) / (REAL)n) + k->epsilon));
        if (k->mean) k->mean[row] = mean;
        if (k->inverse) k->inverse[row] = inverse;
        for (uint64_t i = 0; y && i < n; i++) y[i] = (x[i] - mean) * inverse;
        for (uint64_t i = 0; y && scale && i < n; i++) y[i] *= scale[i];
        for (uint64_t i = 0; y && shift && i < n; i++) y[i] += shift[i];
    }
}
