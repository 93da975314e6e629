/*
 * TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble of ai.onnx.ml. Where the standard leaves open what two
 * classes with one score are, this follows ONNX Runtime: models are made to its measure.
 */
#include "ops/ml_forest.h"
#include "ops/ml_scores.h"

#include <string.h>

static const char domain[] = "ai.onnx.ml";

struct state {
    struct tn_forest *forest;
    double *base;
    uint64_t base_count;
    bool binary, positive; /* two classes of which one is voted for; all votes are positive */
};

static void release(struct tn_alloc *alloc, void *p)
{
    struct state *s = p;
    tn_forest_free(s->forest);
    tn_free(alloc, s->base);
    tn_free(alloc, s);
}

static bool read_base(struct tn_prepare *p, struct state *s)
{
    size_t n;
    const float *floats = tn_attr_floats(p->node, "base_values", &n);
    const struct tn_attr *t = tn_node_attr(p->node, "base_values_as_tensor");
    uint64_t count = n;
    if (t && t->as.tensors->data && !tn_shape_count(t->as.tensors->dims, t->as.tensors->rank, &count)) return false;
    s->base = tn_calloc(p->alloc, count + 1, sizeof(*s->base));
    if (!s->base) return false;
    for (uint64_t i = 0; i < count; i++) s->base[i] = t && t->as.tensors->data ? tn_element_get(t->as.tensors->element, t->as.tensors->data, i) : (double)floats[i];
    s->base_count = count;
    return true;
}

static enum tn_status make(struct tn_prepare *p, const char *votes, uint64_t targets, void **out)
{
    struct state *s = tn_calloc(p->alloc, 1, sizeof(*s));
    const char *wrong = NULL;
    if (!s) return TN_INSUFFICIENT_MEMORY;
    s->forest = tn_forest_new(p->alloc, p->node, votes, p->types[0] ? p->types[0]->element : TN_EL_F32, targets, &wrong);
    if (s->forest && read_base(p, s)) {
        *out = s;
        return TN_OK;
    }
    release(p->alloc, s);
    if (wrong) p->wrong = wrong;
    return wrong ? TN_ARTIFACT_MALFORMED : TN_INSUFFICIENT_MEMORY;
}

static bool infer_rows(struct tn_infer *x, uint32_t k, enum tn_element e, int64_t columns)
{
    const struct tn_shape *s;
    tn_out_unknown(x, k, e);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (s->rank != 1 && s->rank != 2) return tn_infer_refuse(x, "rows of features", "rank %u", s->rank);
    tn_out_tensor(x, k, e, columns < 0 ? 1 : 2, (tn_dim_t[]){s->rank == 1 ? 1 : s->dims[0], columns});
    return true;
}

static uint64_t rows_of(const struct tn_tensor *x)
{
    return x->rank == 1 ? 1 : (uint64_t)x->dims[0];
}

/* ---- regressors --------------------------------------------------------------------------------------------------- */

static int64_t targets_of(const struct tn_node *node)
{
    int64_t n = tn_attr_int(node, "n_targets", 1);
    return n < 1 || n > (1 << 20) ? 0 : n;
}

static bool infer_regressor(struct tn_infer *x)
{
    if (!targets_of(x->node)) return tn_infer_refuse(x, "a number of targets from 1", "%lld", (long long)tn_attr_int(x->node, "n_targets", 1));
    return infer_rows(x, 0, TN_EL_F32, targets_of(x->node));
}

static enum tn_forest_sum sum_of(const struct tn_node *node)
{
    static const char *const names[] = {"SUM", "AVERAGE", "MIN", "MAX"};
    for (unsigned i = 0; i < 4; i++) {
        if (tn_str_is(tn_attr_text(node, "aggregate_function"), names[i])) return (enum tn_forest_sum)i;
    }
    return TN_FOREST_SUM;
}

static enum tn_status prepare_regressor(struct tn_prepare *p, void **state)
{
    return make(p, "target", (uint64_t)targets_of(p->node), state);
}

/* Bases, the post transform, and the result rounded to its type. Of several targets one without a vote stays 0. */
static void finish_rows(const struct state *s, enum tn_post post, const void *sums, const uint8_t *voted, uint64_t rows, uint64_t targets, struct tn_tensor *y)
{
    for (uint64_t i = 0; i < rows * targets; i++) {
        double base = s->base_count == targets ? s->base[i % targets] : s->base_count == 1 ? s->base[0] : 0;
        if (targets > 1 && !voted[i]) base = 0;
        if (s->forest->wide) tn_element_set(y->element, y->data, i, ((const double *)sums)[i] + base, false);
        else tn_element_set(y->element, y->data, i, (double)(((const float *)sums)[i] + (float)base), false);
    }
    if (targets == 1 && post != TN_POST_PROBIT) return; /* of one number runtimes take none of the others */
    for (uint64_t i = 0; post != TN_POST_NONE && y->element == TN_EL_F32 && i < rows; i++) tn_post_apply(post, (float *)y->data + i * targets, targets);
    for (uint64_t i = 0; post != TN_POST_NONE && y->element != TN_EL_F32 && i < rows; i++) {
        float one[64];
        if (targets > 64) break;
        for (uint64_t t = 0; t < targets; t++) one[t] = (float)tn_element_get(y->element, y->data, i * targets + t);
        tn_post_apply(post, one, targets);
        for (uint64_t t = 0; t < targets; t++) tn_element_set(y->element, y->data, i * targets + t, (double)one[t], false);
    }
}

static bool regress(struct tn_run *r, enum tn_forest_sum sum, enum tn_post post)
{
    const struct state *s = r->state;
    uint64_t rows = rows_of(r->in[0]), targets = (uint64_t)targets_of(r->node);
    if (!s) return tn_run_refuse(r, "a forest", "none");
    void *sums = tn_run_scratch(r, rows * targets + 1, s->forest->wide ? sizeof(double) : sizeof(float));
    uint8_t *voted = tn_run_scratch(r, rows * targets + 1, 1);
    bool good = sums && voted && tn_forest_run(r, s->forest, r->in[0], sum, targets, sums, voted);
    if (good) finish_rows(s, post, sums, voted, rows, targets, r->out[0]);
    tn_heap_give(r->heap, sums);
    tn_heap_give(r->heap, voted);
    return good;
}

static bool run_regressor(struct tn_run *r)
{
    enum tn_post post;
    if (!tn_post_of(r->node, &post)) return tn_run_refuse(r, "a post transform of the standard", "another one");
    return regress(r, sum_of(r->node), post);
}

/* ---- TreeEnsemble ------------------------------------------------------------------------------------------------- */

static bool infer_ensemble(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    int64_t sum = tn_attr_int(x->node, "aggregate_function", 1), post = tn_attr_int(x->node, "post_transform", 0);
    if (!targets_of(x->node)) return tn_infer_refuse(x, "a number of targets from 1", "%lld", (long long)tn_attr_int(x->node, "n_targets", 1));
    if (sum < 0 || sum > 3 || post < 0 || post >= TN_POSTS) return tn_infer_refuse(x, "an aggregate function 0 to 3 and a post transform 0 to 4", "%lld and %lld", (long long)sum, (long long)post);
    return infer_rows(x, 0, t ? t->element : TN_EL_NONE, targets_of(x->node));
}

static enum tn_status prepare_ensemble(struct tn_prepare *p, void **state)
{
    return make(p, NULL, (uint64_t)targets_of(p->node), state);
}

static bool run_ensemble(struct tn_run *r)
{
    static const enum tn_forest_sum sums[] = {TN_FOREST_AVERAGE, TN_FOREST_SUM, TN_FOREST_MIN, TN_FOREST_MAX};
    return regress(r, sums[tn_attr_int(r->node, "aggregate_function", 1)], (enum tn_post)tn_attr_int(r->node, "post_transform", 0));
}

/* ---- classifier --------------------------------------------------------------------------------------------------- */

static bool infer_classifier(struct tn_infer *x)
{
    struct tn_labels labels;
    tn_labels_of(x->node, &labels);
    if (labels.count == 0) return tn_infer_refuse(x, "labels of classes", "none");
    return infer_rows(x, 0, tn_labels_element(&labels), -1) && infer_rows(x, 1, TN_EL_F32, (int64_t)(labels.count == 1 ? 2 : labels.count));
}

static enum tn_status prepare_classifier(struct tn_prepare *p, void **state)
{
    struct tn_labels labels;
    tn_labels_of(p->node, &labels);
    enum tn_status st = make(p, "class", labels.count, state);
    struct state *s = *state;
    if (st || !s) return st;
    const struct tn_forest *f = s->forest;
    s->binary = labels.count == 2 && f->vote_count > 0;
    s->positive = true;
    for (uint32_t i = 0; i < f->vote_count; i++) {
        if (f->votes[i].target != f->votes[0].target) s->binary = false;
        if (f->votes[i].weight < 0) s->positive = false;
    }
    return TN_OK;
}

/* The scores of a row as two, from the one that was voted for. */
static void two_of_one(const struct state *s, enum tn_post post, float score, float *z)
{
    bool whole = s->binary && s->positive && post != TN_POST_LOGISTIC;
    z[0] = whole ? 1 - score : -score;
    z[1] = score;
    if (post == TN_POST_LOGISTIC || post == TN_POST_PROBIT) tn_post_apply(post, z, 2);
}

/*
 * Two classes: a class that nobody votes for scores 0. With two bases the second and the votes of the first make one score
 * where the second has votes. Votes that are all positive are probabilities: one half decides; otherwise the sign does.
 */
static uint64_t choose_of_two(const struct state *s, enum tn_post post, const float *sums, const uint8_t *voted, float *z)
{
    z[0] = voted[0] ? sums[0] : 0;
    z[1] = voted[1] ? sums[1] : 0;
    if (s->base_count == 2 && voted[1]) {
        z[1] = (float)s->base[1] + sums[0];
        z[0] = voted[0] ? -z[1] : 0;
    } else if (s->base_count == 2 || (s->base_count == 1 && voted[0])) {
        z[0] += (float)s->base[0];
    }
    bool yes = z[voted[1] ? 1 : 0] > (s->binary && s->positive ? 0.5f : 0);
    if (s->base_count < 2 && !voted[1]) two_of_one(s, post, z[0], z);
    else tn_post_apply(post, z, 2);
    return yes;
}

static uint64_t choose(const struct state *s, enum tn_post post, const float *sums, const uint8_t *voted, uint64_t classes, float *z)
{
    uint64_t best = classes;
    if (classes == 1) { /* the class and what is not it */
        two_of_one(s, post, sums[0] + (float)(s->base_count ? s->base[0] : 0), z);
        return 0;
    }
    if (classes == 2) return choose_of_two(s, post, sums, voted, z);
    for (uint64_t i = 0; i < classes; i++) {
        bool based = s->base_count == classes, counts = voted[i] || based;
        z[i] = counts ? sums[i] + (float)(based ? s->base[i] : 0) : 0;
        if (counts && (best == classes || z[i] > z[best])) best = i;
    }
    tn_post_apply(post, z, classes);
    return best == classes ? 0 : best;
}

static bool run_classifier(struct tn_run *r)
{
    const struct state *s = r->state;
    struct tn_labels labels;
    enum tn_post post;
    tn_labels_of(r->node, &labels);
    if (!s) return tn_run_refuse(r, "a forest", "none");
    if (!tn_post_of(r->node, &post)) return tn_run_refuse(r, "a post transform of the standard", "another one");
    uint64_t rows = rows_of(r->in[0]), classes = labels.count, width = classes == 1 ? 2 : classes, all = rows * classes + 1;
    void *sums = tn_run_scratch(r, all, s->forest->wide ? sizeof(double) : sizeof(float));
    uint8_t *voted = tn_run_scratch(r, all, 1);
    float *row = tn_run_scratch(r, 2 * width, sizeof(*row));
    bool good = sums && voted && row && tn_forest_run(r, s->forest, r->in[0], TN_FOREST_SUM, classes, sums, voted);
    for (uint64_t i = 0; good && i < rows; i++) {
        for (uint64_t k = 0; k < classes; k++) row[width + k] = s->forest->wide ? (float)((double *)sums)[i * classes + k] : ((float *)sums)[i * classes + k];
        uint64_t best = choose(s, post, row + width, voted + i * classes, classes, row);
        if (r->wanted[0] && !tn_label_set(&labels, best, r->out[0], i)) good = tn_run_no_memory(r);
        if (r->out_count > 1 && r->wanted[1]) memcpy((float *)r->out[1]->data + i * width, row, width * sizeof(*row));
    }
    tn_heap_give(r->heap, sums);
    tn_heap_give(r->heap, voted);
    tn_heap_give(r->heap, row);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = domain, .name = "TreeEnsembleRegressor", .since = 1, .infer = infer_regressor, .run = run_regressor, .prepare = prepare_regressor, .release = release},
    {.domain = domain, .name = "TreeEnsembleClassifier", .since = 1, .infer = infer_classifier, .run = run_classifier, .prepare = prepare_classifier, .release = release},
    {.domain = domain, .name = "TreeEnsemble", .since = 5, .infer = infer_ensemble, .run = run_ensemble, .prepare = prepare_ensemble, .release = release},
};

const struct tn_operators tn_ops_ml_tree = {rows, sizeof(rows) / sizeof(rows[0])};
