/*
 * Square matrices: Det, and Inverse of com.microsoft. Elimination with the largest pivot of a column, in double whatever the
 * type is; results are rounded once.
 */
#include "ops/op.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

static bool infer_square(struct tn_infer *x, bool det)
{
    const struct tn_shape *s;
    const struct tn_type *t = tn_in_type(x, 0);
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (!tn_in_shape(x, 0, &s)) return true;
    tn_dim_t m = s->rank > 1 ? s->dims[s->rank - 2] : 1, n = s->rank > 1 ? s->dims[s->rank - 1] : 1;
    if (s->rank < 2 || (tn_dim_known(m) && tn_dim_known(n) && m != n))
        return tn_infer_refuse(x, "square matrices", "rank %u, %lld x %lld", s->rank, (long long)m, (long long)n);
    tn_out_tensor(x, 0, t->element, det ? s->rank - 2 : s->rank, s->dims);
    return true;
}

static bool infer_det(struct tn_infer *x)
{
    return infer_square(x, true);
}

static bool infer_inverse(struct tn_infer *x)
{
    return infer_square(x, false);
}

static void swap_rows(double *a, size_t width, size_t i, size_t k)
{
    for (size_t c = 0; i != k && c < width; c++) {
        double t = a[i * width + c];
        a[i * width + c] = a[k * width + c];
        a[k * width + c] = t;
    }
}

/* a[n][width], width >= n: the left part becomes triangular, or with `whole` the unit matrix. The determinant. */
static double eliminate(double *a, size_t n, size_t width, bool whole)
{
    double det = 1;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++) best = fabs(a[i * width + k]) > fabs(a[best * width + k]) ? i : best;
        if (best != k) det = -det;
        swap_rows(a, width, k, best);
        double pivot = a[k * width + k];
        det *= pivot;
        if (pivot == 0) return 0;
        for (size_t c = k; whole && c < width; c++) a[k * width + c] /= pivot;
        for (size_t i = whole ? 0 : k + 1; i < n; i++) {
            double f = a[i * width + k] / (whole ? 1 : pivot);
            for (size_t c = k; i != k && f != 0 && c < width; c++) a[i * width + c] -= f * a[k * width + c];
        }
    }
    return det;
}

static bool run_square(struct tn_run *r, bool det)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    size_t n = (size_t)x->dims[x->rank - 1], width = det ? n : 2 * n;
    uint64_t count = det ? y->count : n ? x->count / (n * n) : 0;
    double *a = tn_run_scratch(r, n * n + 1, det ? sizeof(*a) : 2 * sizeof(*a));
    bool good = a != NULL;
    for (uint64_t m = 0; good && m < count; m++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n; k++) a[i * width + k] = tn_element_get(x->element, x->data, (m * n + i) * n + k);
            for (size_t k = n; k < width; k++) a[i * width + k] = k - n == i;
        }
        double d = eliminate(a, n, width, !det);
        if (det) tn_element_set(y->element, y->data, m, d, false);
        else if (!(d != 0)) good = tn_run_refuse(r, "a matrix that has an inverse", "determinant %s", TN_F64(d));
        for (size_t i = 0; good && !det && i < n * n; i++) tn_element_set(y->element, y->data, m * n * n + i, a[i / n * width + n + i % n], false);
    }
    tn_heap_give(r->heap, a);
    return good;
}

static bool run_det(struct tn_run *r)
{
    return run_square(r, true);
}

static bool run_inverse(struct tn_run *r)
{
    return run_square(r, false);
}

static const struct tn_operator rows[] = {
    {.name = "Det", .since = 11, .infer = infer_det, .run = run_det},
    {.domain = "com.microsoft", .name = "Inverse", .since = 1, .infer = infer_inverse, .run = run_inverse},
};

const struct tn_operators tn_ops_square = {rows, sizeof(rows) / sizeof(rows[0])};
