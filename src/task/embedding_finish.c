/*
 * What happens to a vector after the provider. The rules are those of sentence-transformers' encode: the module chain
 * first, then truncation, then normalisation on request. Hence a vector that was cut, by the package's truncate_dim or
 * by the request, is no longer of length 1 and says so; whoever wants length 1 asks for it.
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
