/*
 * What happens to a vector after the provider. The rules are those of sentence-transformers' encode: the module chain
 * first, then truncation, then normalisation on request. Hence a truncation that the package itself states
 * (truncate_dim) leaves vectors that are no longer of length 1, while one that the request asks for keeps the promise
 * that the package makes about its vectors.
 */
#include "task/embedding.h"

#include <math.h>

struct tn_embedding_finish tn_embedding_finish_of(bool package_normalizes, uint64_t package_dimensions, uint64_t width,
                                                  tn_tristate normalize, unsigned dimensions)
{
    uint64_t dims = dimensions ? dimensions : package_dimensions;
    if (dims == 0 || dims > width) dims = width;
    bool cut = dims < width;
    struct tn_embedding_finish f = {.dimensions = (uint32_t)dims};
    f.normalize_first = package_normalizes && normalize != TN_NO;
    if (normalize == TN_YES) f.normalize_last = cut || !f.normalize_first;
    if (normalize == TN_AUTO) f.normalize_last = f.normalize_first && cut && dimensions > 0;
    f.normalized = f.normalize_last || (f.normalize_first && !cut);
    return f;
}

void tn_embedding_normalize(float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    double norm = sqrt(sum);
    double scale = norm > 1e-12 ? norm : 1e-12;
    for (size_t i = 0; i < n; i++) x[i] = (float)((double)x[i] / scale);
}
