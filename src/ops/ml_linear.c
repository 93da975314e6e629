/*
 * LinearRegressor, LinearClassifier, SVMRegressor and SVMClassifier of ai.onnx.ml. Rows of any type are computed in float32,
 * as runtimes do; one row by one, since coefficients are few.
 */
#include "ops/ml_scores.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

static const char domain[] = "ai.onnx.ml";

struct floats {
    const float *p;
    size_t n;
};

static struct floats floats_of(const struct tn_node *node, const char *name)
{
    struct floats f;
    f.p = tn_attr_floats(node, name, &f.n);
    return f;
}

static uint64_t rows_of(const struct tn_tensor *x)
{
    return x->rank == 1 ? 1 : (uint64_t)x->dims[0];
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

/* A row as floats in `to`, which has room for width. */
static void load_row(const struct tn_tensor *x, uint64_t row, uint64_t width, float *to)
{
    for (uint64_t k = 0; k < width; k++) to[k] = (float)tn_element_get(x->element, x->data, row * width + k);
}

static float dot(const float *a, const float *b, uint64_t n)
{
    float sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* What a row becomes: scores[outputs], and the index of its class. */
typedef uint64_t row_fn(const void *user, const float *x, uint64_t width, float *scores);

static bool each_row(struct tn_run *r, const void *user, row_fn *fn, uint64_t scores, struct tn_tensor *y, const struct tn_labels *labels, struct tn_tensor *label)
{
    const struct tn_tensor *x = r->in[0];
    uint64_t width = (uint64_t)x->dims[x->rank - 1];
    float *row = tn_run_scratch(r, width + scores + 1, sizeof(*row));
    bool good = row != NULL;
    for (uint64_t i = 0; good && i < rows_of(x); i++) {
        load_row(x, i, width, row);
        uint64_t k = fn(user, row, width, row + width);
        if (y) memcpy((float *)y->data + i * scores, row + width, scores * sizeof(*row));
        if (label && !tn_label_set(labels, k, label, i)) good = tn_run_no_memory(r);
    }
    tn_heap_give(r->heap, row);
    return good;
}

static struct tn_tensor *wanted(const struct tn_run *r, uint32_t k)
{
    return k < r->out_count && r->wanted[k] ? r->out[k] : NULL;
}

static uint64_t largest(const float *s, uint64_t n)
{
    uint64_t best = 0;
    for (uint64_t i = 1; i < n; i++) best = s[i] > s[best] ? i : best;
    return best;
}

/* ---- linear models ------------------------------------------------------------------------------------------------ */

struct linear {
    struct floats w, b;
    enum tn_post post;
    uint64_t targets;
    bool second; /* two classes from one score */
};

static uint64_t linear_row(const void *user, const float *x, uint64_t width, float *y)
{
    const struct linear *l = user;
    for (uint64_t t = 0; t < l->targets; t++) y[t] = dot(x, l->w.p + t * width, width) + (l->b.n ? l->b.p[t] : 0);
    uint64_t best = l->second ? y[0] > 0 : largest(y, l->targets);
    if (l->second && l->post == TN_POST_LOGISTIC) {
        y[1] = y[0];
        y[0] = -y[1];
    } else if (l->second) {
        y[1] = y[0];
        y[0] = 1 - y[1];
        return best;
    }
    if (l->targets == 1 && !l->second && l->post != TN_POST_PROBIT) return best; /* of one number runtimes take no other */
    tn_post_apply(l->post, y, l->targets + l->second);
    return best;
}

static bool read_linear(struct tn_run *r, struct linear *l, uint64_t targets)
{
    uint64_t width = (uint64_t)r->in[0]->dims[r->in[0]->rank - 1], all;
    *l = (struct linear){.w = floats_of(r->node, "coefficients"), .b = floats_of(r->node, "intercepts"), .targets = targets};
    if (!tn_post_of(r->node, &l->post)) return tn_run_refuse(r, "a post transform of the standard", "another one");
    if (!tn_mul64(targets, width, &all) || l->w.n != all || (l->b.n && l->b.n != targets))
        return tn_run_refuse(r, "coefficients [targets, features] and an intercept for each target", "%zu and %zu for %llu targets of %llu features", l->w.n, l->b.n,
                             (unsigned long long)targets, (unsigned long long)width);
    return true;
}

static bool infer_linear_regressor(struct tn_infer *x)
{
    int64_t targets = tn_attr_int(x->node, "targets", 1);
    if (targets < 1 || targets > INT32_MAX) return tn_infer_refuse(x, "a number of targets from 1", "%lld", (long long)targets);
    return infer_rows(x, 0, TN_EL_F32, targets);
}

static bool run_linear_regressor(struct tn_run *r)
{
    struct linear l;
    return read_linear(r, &l, (uint64_t)tn_attr_int(r->node, "targets", 1)) && each_row(r, &l, linear_row, l.targets, r->out[0], NULL, NULL);
}

/* Scores of a classifier, from its intercepts; 0: as many as labels. */
static uint64_t scores_of(const struct tn_node *node, const struct tn_labels *labels)
{
    size_t n = floats_of(node, "intercepts").n;
    return n ? n : labels->count;
}

static bool infer_linear_classifier(struct tn_infer *x)
{
    struct tn_labels labels;
    tn_labels_of(x->node, &labels);
    uint64_t scores = scores_of(x->node, &labels);
    if (labels.count == 0) return tn_infer_refuse(x, "labels of classes", "none");
    if (scores != labels.count && scores != 1) return tn_infer_refuse(x, "a score for each label, or one for two", "%llu scores, %llu labels", (unsigned long long)scores, (unsigned long long)labels.count);
    return infer_rows(x, 0, tn_labels_element(&labels), -1) && infer_rows(x, 1, TN_EL_F32, (int64_t)(scores == 1 && labels.count == 2 ? 2 : scores));
}

static bool run_linear_classifier(struct tn_run *r)
{
    struct linear l;
    struct tn_labels labels;
    tn_labels_of(r->node, &labels);
    if (!read_linear(r, &l, scores_of(r->node, &labels))) return false;
    l.second = l.targets == 1 && labels.count == 2;
    return each_row(r, &l, linear_row, l.targets + l.second, wanted(r, 1), &labels, wanted(r, 0));
}

/* ---- support vectors ---------------------------------------------------------------------------------------------- */

struct svm {
    struct floats w, rho, vectors, prob_a, prob_b;
    enum { LINEAR, POLY, RBF, SIGMOID } kernel;
    float gamma, coef0, degree;
    enum tn_post post;
    uint64_t supports, classes, scores;
    const int64_t *per_class; /* [classes] */
    bool by_vectors, one_class, positive;
    float *room; /* [supports + 3 classes * classes + 3 classes] */
};

static bool read_kernel(struct tn_run *r, struct svm *s)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    struct floats p = floats_of(r->node, "kernel_params");
    struct tn_str name = tn_attr_text(r->node, "kernel_type");
    unsigned k = 0;
    while (k < 4 && !tn_str_is(name, names[k])) k++;
    if (k == 4 && name.n) return tn_run_refuse(r, "a kernel LINEAR, POLY, RBF or SIGMOID", "another one");
    s->kernel = k == 4 ? LINEAR : k;
    if (p.n != 0 && p.n != 3) return tn_run_refuse(r, "gamma, coef0 and degree", "%zu numbers", p.n);
    s->gamma = p.n ? p.p[0] : 0;
    s->coef0 = p.n ? p.p[1] : 0;
    s->degree = p.n ? p.p[2] : 0;
    s->w = floats_of(r->node, "coefficients");
    s->rho = floats_of(r->node, "rho");
    s->vectors = floats_of(r->node, "support_vectors");
    return tn_post_of(r->node, &s->post) || tn_run_refuse(r, "a post transform of the standard", "another one");
}

static float kernel_of(const struct svm *s, const float *a, const float *b, uint64_t n)
{
    if (s->kernel == RBF) {
        float sum = 0;
        for (uint64_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return expf(-s->gamma * sum);
    }
    float d = dot(a, b, n);
    if (s->kernel == POLY) return powf(s->gamma * d + s->coef0, s->degree);
    return s->kernel == SIGMOID ? tanhf(s->gamma * d + s->coef0) : d;
}

static bool infer_svm_regressor(struct tn_infer *x)
{
    return infer_rows(x, 0, TN_EL_F32, 1);
}

static uint64_t svm_regression(const void *user, const float *x, uint64_t width, float *y)
{
    const struct svm *s = user;
    float sum = 0;
    for (uint64_t k = 0; s->by_vectors && k < s->supports; k++) sum += s->w.p[k] * kernel_of(s, x, s->vectors.p + k * width, width);
    if (!s->by_vectors) sum = kernel_of(s, x, s->w.p, width);
    sum += s->rho.p[0];
    y[0] = s->one_class ? (sum > 0 ? 1.0f : -1.0f) : sum;
    if (!s->one_class) tn_post_apply(s->post, y, 1);
    return 0;
}

static bool run_svm_regressor(struct tn_run *r)
{
    struct svm s = {.supports = 0};
    uint64_t width = (uint64_t)r->in[0]->dims[r->in[0]->rank - 1], all;
    int64_t n = tn_attr_int(r->node, "n_supports", 0);
    if (!read_kernel(r, &s)) return false;
    s.by_vectors = n > 0;
    s.supports = n > 0 ? (uint64_t)n : 0;
    s.one_class = tn_attr_int(r->node, "one_class", 0) != 0;
    bool fits = tn_mul64(s.supports, width, &all) && s.rho.n >= 1 && (s.by_vectors ? s.vectors.n == all && s.w.n == s.supports : s.w.n == width);
    if (!fits) return tn_run_refuse(r, "coefficients and support vectors of the features' width, and a rho", "others, for %llu features", (unsigned long long)width);
    return each_row(r, &s, svm_regression, 1, r->out[0], NULL, NULL);
}

/*
 * Probabilities of classes from those of pairs (Wu, Lin and Weng 2004, "Probability estimates for multi-class classification by
 * pairwise coupling", algorithm 2). pair[i][j] is the probability of i against j; q has room for n * n, qp for n.
 */
static void couple(uint64_t n, const float *pair, float *q, float *qp, float *p)
{
    float eps = 0.005f / (float)n;
    for (uint64_t t = 0; t < n; t++) {
        p[t] = 1 / (float)n;
        q[t * n + t] = 0;
        for (uint64_t j = 0; j < n; j++) {
            if (j == t) continue;
            q[t * n + t] += pair[j * n + t] * pair[j * n + t];
            q[t * n + j] = -pair[j * n + t] * pair[t * n + j];
        }
    }
    for (unsigned round = 0; round < 100; round++) {
        float all = 0, worst = 0;
        for (uint64_t t = 0; t < n; t++) {
            qp[t] = dot(q + t * n, p, n);
            all += p[t] * qp[t];
        }
        for (uint64_t t = 0; t < n; t++) worst = fabsf(qp[t] - all) > worst ? fabsf(qp[t] - all) : worst;
        if (worst < eps) return;
        for (uint64_t t = 0; t < n; t++) {
            float d = (all - qp[t]) / q[t * n + t];
            p[t] += d;
            all = (all + d * (d * q[t * n + t] + 2 * qp[t])) / (1 + d) / (1 + d);
            for (uint64_t j = 0; j < n; j++) {
                qp[j] = (qp[j] + d * q[t * n + j]) / (1 + d);
                p[j] /= 1 + d;
            }
        }
    }
}

/* Coefficients of support vectors may be millions that cancel: their sum is kept in double. */
static double dot_wide(const float *a, const float *b, uint64_t n)
{
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Decisions of all pairs of classes; who wins most. */
static uint64_t decide(const struct svm *s, const float *x, uint64_t width, float *scores)
{
    float *k = s->room, *votes = k + s->supports;
    uint64_t n = s->classes, pair = 0, first = 0;
    for (uint64_t v = 0; v < s->supports; v++) k[v] = kernel_of(s, x, s->vectors.p + v * width, width);
    for (uint64_t i = 0; i < n; i++) votes[i] = 0;
    for (uint64_t i = 0; i < n; first += (uint64_t)s->per_class[i++]) {
        uint64_t second = first + (uint64_t)s->per_class[i];
        for (uint64_t j = i + 1; j < n; second += (uint64_t)s->per_class[j++], pair++) {
            float sum = (float)(dot_wide(s->w.p + (j - 1) * s->supports + first, k + first, (uint64_t)s->per_class[i]) +
                                dot_wide(s->w.p + i * s->supports + second, k + second, (uint64_t)s->per_class[j]) + (double)s->rho.p[pair]);
            scores[pair] = sum;
            votes[sum > 0 ? i : j]++;
        }
    }
    return largest(votes, n);
}

static void probabilities(const struct svm *s, const float *scores, float *out)
{
    uint64_t n = s->classes, pair = 0;
    float *p = s->room + s->supports + n, *q = p + n * n, *qp = q + n * n;
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t j = i + 1; j < n; j++, pair++) {
            float v = 1 / (1 + expf(scores[pair] * s->prob_a.p[pair] + s->prob_b.p[pair]));
            v = v < 1e-7f ? 1e-7f : v > 1 - 1e-7f ? 1 - 1e-7f : v;
            p[i * n + j] = v;
            p[j * n + i] = 1 - v;
        }
    }
    couple(n, p, q, qp, out);
}

static uint64_t svm_classification(const void *user, const float *x, uint64_t width, float *y)
{
    const struct svm *s = user;
    uint64_t best = 0, n = s->scores;
    if (s->by_vectors) {
        float *pairs = s->room + s->supports + 2 * s->classes * s->classes + 3 * s->classes;
        best = decide(s, x, width, pairs);
        if (s->prob_a.n) probabilities(s, pairs, y);
        else memcpy(y, pairs, s->classes * (s->classes - 1) / 2 * sizeof(*y));
    } else {
        for (uint64_t c = 0; c < s->classes; c++) y[c] = kernel_of(s, x, s->w.p + c * width, width) + s->rho.p[0];
        best = largest(y, s->classes);
    }
    bool one = s->by_vectors && !s->prob_a.n && s->classes == 2;
    if (one) { /* a decision between two */
        float v = y[0];
        y[0] = s->post == TN_POST_LOGISTIC || !s->positive ? -v : 1 - v;
        y[1] = v;
    }
    tn_post_apply(s->post, y, n);
    return best;
}

static uint64_t svm_scores(const struct tn_node *node, uint64_t labels)
{
    size_t per_class;
    tn_attr_ints(node, "vectors_per_class", &per_class);
    bool pairs = per_class && floats_of(node, "prob_a").n == 0 && labels > 2;
    return pairs ? labels * (labels - 1) / 2 : labels;
}

static bool infer_svm_classifier(struct tn_infer *x)
{
    struct tn_labels labels;
    tn_labels_of(x->node, &labels);
    if (labels.count == 0 || labels.count > (1 << 12)) return tn_infer_refuse(x, "labels of classes", "%llu", (unsigned long long)labels.count);
    return infer_rows(x, 0, tn_labels_element(&labels), -1) && infer_rows(x, 1, TN_EL_F32, (int64_t)svm_scores(x->node, labels.count));
}

static bool check_classifier(struct tn_run *r, struct svm *s)
{
    size_t count;
    uint64_t width = (uint64_t)r->in[0]->dims[r->in[0]->rank - 1], all, pairs = s->classes * (s->classes - 1) / 2;
    s->per_class = tn_attr_ints(r->node, "vectors_per_class", &count);
    s->prob_a = floats_of(r->node, "prob_a");
    s->prob_b = floats_of(r->node, "prob_b");
    s->by_vectors = count > 0;
    for (size_t i = 0; i < count; i++) {
        if (s->per_class[i] < 0 || s->per_class[i] > INT32_MAX) return tn_run_refuse(r, "numbers of vectors from 0", "%lld", (long long)s->per_class[i]);
        s->supports += (uint64_t)s->per_class[i];
    }
    bool fits = tn_mul64(s->supports, width, &all) && s->rho.n >= 1;
    if (s->by_vectors)
        fits = fits && count == s->classes && s->classes > 1 && s->vectors.n == all && s->w.n == (s->classes - 1) * s->supports && s->rho.n == pairs &&
               (s->prob_a.n == 0 || (s->prob_a.n == pairs && s->prob_b.n == pairs));
    else
        fits = fits && s->w.n / s->classes == width && s->w.n % s->classes == 0;
    return fits || tn_run_refuse(r, "coefficients, vectors, rho and probabilities that agree with each other", "others, for %llu features", (unsigned long long)width);
}

static bool run_svm_classifier(struct tn_run *r)
{
    struct tn_labels labels;
    struct svm s = {.supports = 0};
    tn_labels_of(r->node, &labels);
    s.classes = labels.count;
    s.scores = svm_scores(r->node, labels.count);
    if (!read_kernel(r, &s) || !check_classifier(r, &s)) return false;
    s.positive = true;
    for (size_t i = 0; i < s.w.n; i++) s.positive = s.positive && s.w.p[i] >= 0;
    s.room = tn_run_scratch(r, s.supports + 3 * s.classes * s.classes + 3 * s.classes + 8, sizeof(float));
    bool good = s.room && each_row(r, &s, svm_classification, s.scores, wanted(r, 1), &labels, wanted(r, 0));
    tn_heap_give(r->heap, s.room);
    return good;
}

static const struct tn_operator rows[] = {
    {.domain = domain, .name = "LinearRegressor", .since = 1, .infer = infer_linear_regressor, .run = run_linear_regressor},
    {.domain = domain, .name = "LinearClassifier", .since = 1, .infer = infer_linear_classifier, .run = run_linear_classifier},
    {.domain = domain, .name = "SVMRegressor", .since = 1, .infer = infer_svm_regressor, .run = run_svm_regressor},
    {.domain = domain, .name = "SVMClassifier", .since = 1, .infer = infer_svm_classifier, .run = run_svm_classifier},
};

const struct tn_operators tn_ops_ml_linear = {rows, sizeof(rows) / sizeof(rows[0])};
