/* How far two sets of vectors are apart, in more than one number: each hides what another shows. Sums in double. */
#include "qualify/suite.h"

#include <math.h>
#include <string.h>

static double cosine(double dot, double aa, double bb)
{
    if (aa == 0 && bb == 0) return 1;
    return aa == 0 || bb == 0 ? 0 : dot / sqrt(aa * bb);
}

/* max |a - b|, and the largest |b|. */
static double row_max_abs(const float *a, const float *b, size_t width, double *largest)
{
    double worst = 0;
    *largest = 0;
    for (size_t i = 0; i < width; i++) {
        double difference = fabs((double)a[i] - (double)b[i]), size = fabs((double)b[i]);
        if (difference > worst) worst = difference;
        if (size > *largest) *largest = size;
    }
    return worst;
}

static double row_cosine(const float *a, const float *b, size_t width)
{
    double dot = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < width; i++) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return cosine(dot, aa, bb);
}

static bool all_finite(const float *a, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i])) return false;
    }
    return true;
}

struct tn_difference tn_compare_rows(const float *a, const float *b, size_t rows, size_t width)
{
    struct tn_difference d = {.min_cosine = 1, .finite = true, .equal = true};
    for (size_t r = 0; r < rows; r++) {
        const float *x = a + r * width, *y = b + r * width;
        double largest, difference = row_max_abs(x, y, width, &largest), angle = row_cosine(x, y, width);
        double relative = difference / (largest > 1 ? largest : 1);
        if (memcmp(x, y, width * sizeof(float)) != 0) d.equal = false;
        if (!all_finite(x, width) || !all_finite(y, width)) d.finite = false;
        if (difference > d.max_abs) d.max_abs = difference;
        if (angle < d.min_cosine) d.min_cosine = angle;
        if (relative > d.max_rel) {
            d.max_rel = relative;
            d.worst_row = r;
        }
    }
    return d;
}
