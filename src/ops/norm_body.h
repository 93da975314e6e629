/* Normalisations of planes, for one type; those of rows are in a file of their own. REAL, TN_BODY(name). */
#include "ops/norm_rows_body.h"

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
