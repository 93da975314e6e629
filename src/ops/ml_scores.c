/* Post transforms and labels of ai.onnx.ml; see the header. */
#include "ops/ml_scores.h"

#include <math.h>

bool tn_post_of(const struct tn_node *node, enum tn_post *out)
{
    static const char *const names[TN_POSTS] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    struct tn_str name = tn_attr_text(node, "post_transform");
    *out = TN_POST_NONE;
    if (name.n == 0) return true;
    for (unsigned i = 0; i < TN_POSTS; i++) {
        if (!tn_str_is(name, names[i])) continue;
        *out = (enum tn_post)i;
        return true;
    }
    return false;
}

static float logistic(float x)
{
    float v = 1 / (1 + expf(-fabsf(x)));
    return x < 0 ? 1 - v : v;
}

/*
 * The quantile of the normal distribution, sqrt(2) erfinv(2 x - 1), with Winitzki's approximation of erfinv (2008, "A handy
 * approximation for the error function and its inverse", a = 0.147), which is what runtimes of ONNX compute.
 */
static float probit(float x)
{
    float y = 2 * x - 1, l = logf((1 - y) * (1 + y)), a = 2 / (3.14159f * 0.147f) + 0.5f * l;
    return 1.41421356f * (y < 0 ? -1.0f : 1.0f) * sqrtf(sqrtf(a * a - l / 0.147f) - a);
}

/* Softmax; with `zero` what is 0 stays out of the sum (and is scaled alike). */
static void softmax(float *s, uint64_t n, bool zero)
{
    float most = -INFINITY, sum = 0;
    for (uint64_t i = 0; i < n; i++) most = s[i] > most ? s[i] : most;
    float least = expf(-most);
    for (uint64_t i = 0; i < n; i++) {
        if (zero && !(s[i] > 1e-7f || s[i] < -1e-7f)) {
            s[i] *= least;
            continue;
        }
        s[i] = expf(s[i] - most);
        sum += s[i];
    }
    for (uint64_t i = 0; i < n; i++) s[i] /= sum;
}

void tn_post_apply(enum tn_post post, float *scores, uint64_t n)
{
    if (post == TN_POST_SOFTMAX || post == TN_POST_SOFTMAX_ZERO) softmax(scores, n, post == TN_POST_SOFTMAX_ZERO);
    for (uint64_t i = 0; post == TN_POST_LOGISTIC && i < n; i++) scores[i] = logistic(scores[i]);
    for (uint64_t i = 0; post == TN_POST_PROBIT && i < n; i++) scores[i] = probit(scores[i]);
}

void tn_labels_of(const struct tn_node *node, struct tn_labels *out)
{
    size_t texts, ints;
    *out = (struct tn_labels){.texts = tn_attr_texts(node, "classlabels_strings", &texts)};
    out->ints = tn_attr_ints(node, "classlabels_int64s", &ints);
    if (!ints) out->ints = tn_attr_ints(node, "classlabels_ints", &ints);
    if (!texts) out->texts = NULL;
    out->count = texts ? texts : ints;
}

enum tn_element tn_labels_element(const struct tn_labels *labels)
{
    return labels->texts ? TN_EL_STRING : TN_EL_I64;
}

bool tn_label_set(const struct tn_labels *labels, uint64_t k, struct tn_tensor *y, uint64_t i)
{
    if (labels->texts) return tn_tensor_set_text(y, i, k < labels->count ? labels->texts[k] : TN_STR(""));
    ((int64_t *)y->data)[i] = k < labels->count ? labels->ints[k] : 0;
    return true;
}
