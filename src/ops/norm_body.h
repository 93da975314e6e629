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

/* [images, channels, inner]: statistics of `each` channels together, or given; y = (x - mean) * inverse * scale + shift. */
struct TN_BODY(planes) {
    const REAL *x, *scale, *shift;
    REAL *y;
    uint64_t channels, each, inner;
    uint64_t scale_each; /* channels that share an element of scale and shift */
    double epsilon;
    const REAL *mean, *variance; /* of each channel: given, not computed */
};

/* Items are (image, group of channels). */
static void TN_BODY(group_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(planes) *k = user;
    uint64_t n = k->each * k->inner, groups = k->channels / k->each;
    for (uint64_t item = begin; item < end; item++) {
        const REAL *x = k->x + item * n;
        REAL *y = k->y + item * n, mean = TN_BODY(sum)(x, n) / (REAL)n;
        REAL inverse = (REAL)(1 / sqrt((double)(TN_BODY(squares)(x, n, mean) / (REAL)n) + k->epsilon));
        for (uint64_t c = 0; c < k->each; c++) {
            uint64_t channel = (item % groups * k->each + c) / k->scale_each;
            REAL scale = k->scale[channel], shift = k->shift[channel];
            for (uint64_t i = c * k->inner; i < (c + 1) * k->inner; i++) y[i] = (x[i] - mean) * inverse * scale + shift;
        }
    }
}

/* Items are (image, channel). */
static void TN_BODY(batch_planes)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(planes) *k = user;
    for (uint64_t item = begin; item < end; item++) {
        uint64_t c = item % k->channels;
        REAL factor = (REAL)((double)k->scale[c] / sqrt((double)k->variance[c] + k->epsilon)), mean = k->mean[c], shift = k->shift[c];
        for (uint64_t i = item * k->inner; i < (item + 1) * k->inner; i++) k->y[i] = (k->x[i] - mean) * factor + shift;
    }
}

/* Over all images: of each channel the mean and the (population) variance. Items are channels. */
struct TN_BODY(statistics) {
    const REAL *x;
    REAL *mean, *variance;
    uint64_t images, channels, inner;
};

static void TN_BODY(channel_statistics)(void *user, uint64_t begin, uint64_t end)
{
    const struct TN_BODY(statistics) *k = user;
    double n = (double)(k->images * k->inner);
    for (uint64_t c = begin; c < end; c++) {
        double sum = 0, squares = 0;
        for (uint64_t i = 0; i < k->images; i++) sum += (double)TN_BODY(sum)(k->x + (i * k->channels + c) * k->inner, k->inner);
        REAL mean = (REAL)(sum / n);
        for (uint64_t i = 0; i < k->images; i++)
            squares += (double)TN_BODY(squares)(k->x + (i * k->channels + c) * k->inner, k->inner, mean);
        k->mean[c] = mean;
        k->variance[c] = (REAL)(squares / n);
    }
}
