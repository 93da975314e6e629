/*
 * NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: the loss of each sample, or their sum or (weighted) mean. Computed
 * in double. A label outside the classes that is not the ignored one is a refusal.
 */
#include "ops/op.h"

#include <math.h>

/* ---- inference ---------------------------------------------------------------------------------------------------- */

static bool differ(tn_dim_t a, tn_dim_t b)
{
    return tn_dim_known(a) && tn_dim_known(b) && a != b;
}

static bool check_shapes(struct tn_infer *t, const struct tn_shape *x)
{
    const struct tn_shape *labels, *weights;
    if (x->rank < 2) return tn_infer_refuse(t, "scores of rank 2 at least", "rank %u", x->rank);
    if (tn_in_shape(t, 1, &labels)) {
        bool same = labels->rank + 1 == x->rank && !differ(labels->dims[0], x->dims[0]);
        for (uint32_t i = 2; same && i < x->rank; i++) same = !differ(labels->dims[i - 1], x->dims[i]);
        if (!same) return tn_infer_refuse(t, "a label for each sample", "labels of rank %u, or of another shape", labels->rank);
    }
    if (tn_in_shape(t, 2, &weights) && (weights->rank != 1 || differ(weights->dims[0], x->dims[1])))
        return tn_infer_refuse(t, "a weight for each class", "weights of rank %u, or of another count", weights->rank);
    return true;
}

static bool infer_loss(struct tn_infer *t)
{
    const struct tn_shape *x;
    const struct tn_type *type = tn_in_type(t, 0);
    enum tn_element e = type ? type->element : TN_EL_NONE;
    struct tn_str reduction = tn_attr_text(t->node, "reduction");
    bool none = tn_str_is(reduction, "none");
    tn_dim_t out[TN_RANK];
    if (!none && !tn_str_is(reduction, "sum") && !tn_str_is(reduction, "mean"))
        return tn_infer_refuse(t, "reduction none, sum or mean", "%.*s", TN_FMT_ARG(reduction));
    if (none) tn_out_unknown(t, 0, e);
    else tn_out_tensor(t, 0, e, 0, NULL);
    tn_out_unknown(t, 1, e);
    if (!tn_in_shape(t, 0, &x)) return true;
    if (!check_shapes(t, x)) return false;
    for (uint32_t i = 0; i + 1 < x->rank; i++) out[i] = x->dims[i == 0 ? 0 : i + 1];
    if (none) tn_out_tensor(t, 0, e, x->rank - 1, out);
    tn_out_tensor(t, 1, e, x->rank, x->dims);
    return true;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct loss {
    const struct tn_tensor *x, *labels, *weights;
    struct tn_tensor *log_prob; /* or NULL */
    bool softmax, has_ignored;
    int64_t ignored;
    uint64_t classes, inner;
};

/* Where class 0 of sample i is; classes are `inner` apart. */
static uint64_t sample_at(const struct loss *l, uint64_t i)
{
    return i / l->inner * l->classes * l->inner + i % l->inner;
}

static double at(const struct tn_tensor *t, uint64_t i)
{
    return tn_element_get(t->element, t->data, i);
}

/* log(sum(e^x)) over the classes of a sample. */
static double log_sum(const struct loss *l, uint64_t from)
{
    double most = -INFINITY, sum = 0;
    for (uint64_t c = 0; c < l->classes; c++) {
        double v = at(l->x, from + c * l->inner);
        if (!(v <= most)) most = v;
    }
    for (uint64_t c = 0; c < l->classes; c++) sum += exp(at(l->x, from + c * l->inner) - most);
    return most + log(sum);
}

/* The loss of sample i and the weight that counts in a mean; false: a label that is no class. */
static bool sample_loss(const struct loss *l, uint64_t i, double *value, double *weight)
{
    uint64_t from = sample_at(l, i);
    int64_t label = tn_element_get_int(l->labels->element, l->labels->data, i);
    double less = l->softmax ? log_sum(l, from) : 0;
    *value = *weight = 0;
    for (uint64_t c = 0; l->log_prob && c < l->classes; c++)
        tn_element_set(l->log_prob->element, l->log_prob->data, from + c * l->inner, at(l->x, from + c * l->inner) - less, false);
    if (l->has_ignored && label == l->ignored) return true;
    if (label < 0 || (uint64_t)label >= l->classes) return false;
    *weight = l->weights ? at(l->weights, (uint64_t)label) : 1;
    *value = -(at(l->x, from + (uint64_t)label * l->inner) - less) * *weight;
    return true;
}

static bool run_loss(struct tn_run *r, bool softmax)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    struct tn_str reduction = tn_attr_text(r->node, "reduction");
    bool none = tn_str_is(reduction, "none"), mean = tn_str_is(reduction, "mean");
    struct loss l = {.x = x, .labels = r->in[1], .weights = r->in_count > 2 ? r->in[2] : NULL, .softmax = softmax,
                     .log_prob = r->out_count > 1 && r->wanted[1] ? r->out[1] : NULL, .has_ignored = tn_node_attr(r->node, "ignore_index") != NULL,
                     .ignored = tn_attr_int(r->node, "ignore_index", 0), .classes = (uint64_t)x->dims[1], .inner = 1};
    double sum = 0, weights = 0, value, weight;
    for (uint32_t i = 2; i < x->rank; i++) l.inner *= (uint64_t)x->dims[i];
    for (uint64_t i = 0; i < l.labels->count; i++) {
        if (!sample_loss(&l, i, &value, &weight))
            return tn_run_refuse(r, "labels that are classes", "%lld of %llu classes", (long long)tn_run_int(r, 1, i), (unsigned long long)l.classes);
        sum += value;
        weights += weight;
        if (none) tn_element_set(y->element, y->data, i, value, false);
    }
    if (!none) tn_element_set(y->element, y->data, 0, mean ? sum / weights : sum, false);
    return true;
}

static bool run_likelihood(struct tn_run *r)
{
    return run_loss(r, false);
}

static bool run_entropy(struct tn_run *r)
{
    return run_loss(r, true);
}

static const struct tn_operator rows[] = {
    {.name = "NegativeLogLikelihoodLoss", .since = 12, .infer = infer_loss, .run = run_likelihood},
    {.name = "SoftmaxCrossEntropyLoss", .since = 12, .infer = infer_loss, .run = run_entropy},
};

const struct tn_operators tn_ops_loss = {rows, sizeof(rows) / sizeof(rows[0])};
