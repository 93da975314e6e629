/* Embedding: gather and add, optionally normalise; reference. */
#include "kernel/float16.h"
#include "kernel/ref/ref.h"

void tn_ref_embed(const struct tn_embed_args *a, unsigned rank, unsigned size)
{
    size_t begin, end;
    tn_share(a->rows, rank, size, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        float *y = a->y + t * a->y_stride;
        for (size_t n = 0; n < a->tables; n++) {
            const struct tn_embed_table *table = &a->table[n];
            size_t row = table->index ? (size_t)table->index[t] : 0;
            for (size_t i = 0; i < a->width; i++) {
                float e = tn_load_element(table->type, table->data, row * a->width + i);
                y[i] = n == 0 ? e : y[i] + e;
            }
        }
        if (a->norm) tn_ref_layer_norm_row(y, y, a->width, a->gamma, a->beta, a->eps);
    }
}
