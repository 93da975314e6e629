/* Windows on the kernels of kernel.h ("Filtered windows"): which take this road, packed weights, tiles shared out to threads. */
#ifndef TN_OPS_FILTER_H
#define TN_OPS_FILTER_H

#include "ops/op.h"
#include "ops/window.h"

/* Whether filtering pays for a convolution with these constant weights of float32: stride 1, no groups, all numbers finite. */
bool tn_filter_pays(const struct tn_node *node, const struct tn_tensor *w, enum tn_filter *form);
/* Bytes of packed weights; false when the size does not fit. */
bool tn_filter_bytes(const struct tn_kernels *k, enum tn_filter form, const struct tn_tensor *w, size_t *bytes);
void tn_filter_pack(struct tn_prepare *p, enum tn_filter form, const struct tn_tensor *w, void *packed);

/* Images one behind the other. */
struct tn_filter_job {
    struct tn_filter_args a; /* of the first image; without tiles and scratch */
    size_t images;
    size_t x_pixels, y_pixels; /* of an image */
};

/* Sizes and borders of `a` from a window over an image whose pixels stand row by row. Windows down an image lie in lines. */
void tn_filter_place(const struct tn_window *w, enum tn_filter form, struct tn_filter_args *a);
/* False with the failure set. */
bool tn_filter_run(struct tn_run *r, const struct tn_filter_job *j);

#endif
