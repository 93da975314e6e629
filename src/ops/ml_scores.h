/* What scores of ai.onnx.ml become at the end, and how two classes are told from one score. */
#ifndef TN_OPS_ML_SCORES_H
#define TN_OPS_ML_SCORES_H

#include "ops/op.h"

enum tn_post { TN_POST_NONE, TN_POST_SOFTMAX, TN_POST_LOGISTIC, TN_POST_SOFTMAX_ZERO, TN_POST_PROBIT, TN_POSTS };

/* From the attribute post_transform; false for an unknown name. */
bool tn_post_of(const struct tn_node *node, enum tn_post *out);
/* In place. */
void tn_post_apply(enum tn_post post, float *scores, uint64_t n);

/* Labels of a classifier: classlabels_strings, or classlabels_int64s (older: classlabels_ints). */
struct tn_labels {
    const struct tn_str *texts;
    const int64_t *ints;
    uint64_t count;
};

void tn_labels_of(const struct tn_node *node, struct tn_labels *out);
enum tn_element tn_labels_element(const struct tn_labels *labels);
/* Label k as element i of y; false without memory. An index beyond the labels is 0 or "". */
bool tn_label_set(const struct tn_labels *labels, uint64_t k, struct tn_tensor *y, uint64_t i);

#endif
