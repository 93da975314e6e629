/* What one set of answers must be like: finite, of the stated width and length, and consistent under the options. */
#include "qualify/suite.h"

#include "task/embedding.h"

#include <math.h>
#include <string.h>

/*
 * Rounding each of n components to float32 moves the length by at most 2^-24 relative, and the length itself was
 * computed in float32 over at most some thousand terms: together below 3e-7.
 */
#define UNIT_TOLERANCE 1e-6
#define UNIT_WHY "float32 rounding of components and of the sum of squares stays below 3e-7"
/* Two ways to the same vector that round once more: two units in the last place of a component near 1. */
#define ROUND_TOLERANCE 2.5e-7
#define ROUND_WHY "two roundings to float32 of components of at most 1"

static double length_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* The largest distance of a row's length from 1. */
static double worst_length(const struct tn_answers *a)
{
    double worst = 0;
    for (size_t r = 0; r < a->count; r++) {
        double off = fabs(length_of(a->vectors + r * a->dimensions, a->dimensions) - 1);
        if (off > worst) worst = off;
    }
    return worst;
}

/* Whether a request that must succeed did; otherwise the check says why not. */
static bool answered(struct tn_check *c, const struct tn_answers *a)
{
    if (!a->failure && a->failed == 0 && a->vectors) return true;
    tn_check_fail(c, "%zu of %zu texts failed: %s", a->failed, a->count, a->message);
    return false;
}

static enum tn_status check_base(struct tn_suite *s)
{
    struct tn_check *c =
        tn_suite_check(s, "answers.complete", TN_LEVEL_LOADS, "every text has a finite vector of the same width", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "texts", (double)s->base.count);
    tn_check_measure(c, "dimensions", (double)s->base.dimensions);
    if (!answered(c, &s->base)) return TN_OK;
    struct tn_difference d = tn_compare_rows(s->base.vectors, s->base.vectors, s->base.count, s->base.dimensions);
    if (!d.finite) tn_check_fail(c, "a component is not finite");
    for (size_t i = 0; i < s->base.count; i++) {
        if (s->base.events[i].dimensions != s->base.dimensions) tn_check_fail(c, "text %zu has another width", i);
    }
    return TN_OK;
}

static enum tn_status check_unit(struct tn_suite *s)
{
    struct tn_check *c = tn_suite_check(s, "norm.unit", TN_LEVEL_LOADS,
                                        "vectors have length 1 where the package normalises", UNIT_WHY);
    if (!c) return tn_suite_no_memory(s);
    if (!s->normalizes) {
        tn_check_skip(c, "the package does not normalise");
    } else if (s->base.vectors && s->d->truncate_dim) {
        tn_check_skip(c, "the package shortens its vectors after normalising");
    } else if (answered(c, &s->base)) {
        double worst = worst_length(&s->base);
        tn_check_measure(c, "max_abs", worst);
        tn_check_measure(c, "limit", UNIT_TOLERANCE);
        if (!(worst <= UNIT_TOLERANCE)) tn_check_fail(c, "a length is off by %s", TN_F64(worst));
    }
    return TN_OK;
}

/* x / max(|x|, eps) of zeros is zeros and never NaN: by the recipe, and by the kernels that a provider may use. */
static enum tn_status check_zero(struct tn_suite *s)
{
    float zeros[33] = {0}, rows[2 * 33] = {0};
    struct tn_cpu cpu;
    struct tn_check *c = tn_suite_check(s, "norm.zero", TN_LEVEL_LOADS, "a zero vector stays zero", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_embedding_normalize(zeros, 33);
    tn_cpu_detect(&cpu);
    const struct tn_kernels *kernels = tn_kernels_select(&cpu, NULL);
    kernels->normalize(rows, 33, rows, 33, 2, 33, 0, 1);
    for (size_t i = 0; i < 33; i++) {
        if (zeros[i] != 0 || rows[i] != 0 || rows[33 + i] != 0) tn_check_fail(c, "component %zu became another value", i);
    }
    return TN_OK;
}

/* Scales the rows of b to length 1 in double; compares a with them. */
static void compare_normalized(struct tn_check *c, const struct tn_answers *a, struct tn_answers *b)
{
    for (size_t r = 0; r < b->count; r++) tn_embedding_normalize(b->vectors + r * b->dimensions, b->dimensions);
    struct tn_difference d = tn_compare_rows(a->vectors, b->vectors, a->count, a->dimensions);
    tn_check_measure(c, "max_abs", d.max_abs);
    tn_check_measure(c, "limit", ROUND_TOLERANCE);
    if (!(d.max_abs <= ROUND_TOLERANCE) || !d.finite) {
        tn_check_fail(c, "text %zu differs by %s", d.worst_row, TN_F64(d.max_abs));
    }
}

static enum tn_status check_on_request(struct tn_suite *s)
{
    struct tn_answers yes = {0}, no = {0};
    struct tn_check *c = tn_suite_check(s, "norm.on_request", TN_LEVEL_LOADS,
                                        "normalising on request is the raw vector divided by its length", ROUND_WHY);
    if (!c) return tn_suite_no_memory(s);
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    request.normalize = TN_YES;
    enum tn_status status = tn_suite_ask(s, s->session, &request, &yes);
    request.normalize = TN_NO;
    if (!status) status = tn_suite_ask(s, s->session, &request, &no);
    if (!status && answered(c, &yes) && answered(c, &no)) compare_normalized(c, &yes, &no);
    tn_answers_release(&yes);
    tn_answers_release(&no);
    return status;
}

/* Fewer dimensions: the first ones, as they are. */
static enum tn_status check_dimensions(struct tn_suite *s)
{
    struct tn_answers cut = {0}, first = {0};
    struct tn_check *c = tn_suite_check(s, "dimensions.first", TN_LEVEL_LOADS,
                                        "fewer dimensions are the first ones", ROUND_WHY);
    if (!c) return tn_suite_no_memory(s);
    size_t width = s->base.dimensions;
    if (width < 2 || !s->base.vectors || s->d->truncate_dim) {
        tn_check_skip(c, "the package's own vectors are too short or shortened already");
        return TN_OK;
    }
    tn_embed_request request = tn_suite_request(s->texts, s->count);
    request.dimensions = (unsigned)(width / 2);
    enum tn_status status = tn_suite_ask(s, s->session, &request, &cut);
    if (!status && answered(c, &cut) && cut.dimensions == width / 2) {
        first = (struct tn_answers){.alloc = s->alloc, .count = cut.count, .dimensions = cut.dimensions};
        first.vectors = tn_malloc(s->alloc, cut.count * cut.dimensions * sizeof(float));
        if (!first.vectors) status = tn_suite_no_memory(s);
        for (size_t r = 0; first.vectors && r < cut.count; r++) {
            memcpy(first.vectors + r * cut.dimensions, s->base.vectors + r * width, cut.dimensions * sizeof(float));
        }
        if (first.vectors && !tn_compare_rows(cut.vectors, first.vectors, cut.count, cut.dimensions).equal) {
            tn_check_fail(c, "they are other numbers");
        }
    } else if (!status) {
        tn_check_fail(c, "%zu dimensions were answered where %zu were asked for", cut.dimensions, width / 2);
    }
    tn_answers_release(&cut);
    tn_answers_release(&first);
    return status;
}

enum tn_status tn_check_vectors(struct tn_suite *s)
{
    enum tn_status status = check_base(s);
    if (!status) status = check_unit(s);
    if (!status) status = check_zero(s);
    if (!status) status = check_on_request(s);
    if (!status) status = check_dimensions(s);
    return status;
}
