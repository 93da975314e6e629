/* Windows along one direction with constant weights: images are turned to have their channels side by side, and filtered. */
#ifndef TN_OPS_CONV_LINE_H
#define TN_OPS_CONV_LINE_H

#include "ops/conv.h"
#include "ops/epilogue.h"
#include "ops/filter.h"

struct tn_line; /* packed weights */

/* Whether it pays for a node with these weights. */
bool tn_line_pays(const struct tn_node *node, const struct tn_tensor *w);
/* Packs; free with tn_free. NULL without memory. */
struct tn_line *tn_line_pack(struct tn_prepare *p, const struct tn_tensor *w);

/* y [images][maps][plane] = after(x * w + bias). False with the failure set. */
bool tn_line_run(struct tn_run *r, const struct tn_line *w, const struct tn_conv *c, const float *x, const float *bias, const struct tn_after *after, float *y);

#endif
