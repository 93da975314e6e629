/*
 * The comparison with an independent implementation, in the order of the pipeline: ids first, then vectors, so that the
 * first place where the two part is named.
 */
#include "qualify/suite.h"

#include <math.h>
#include <string.h>

#define COSINE_LIMIT 0.9999
#define COSINE_WHY "bfloat16 keeps 8 bits: single components move, the direction must not; cosine at least .9999"

static enum tn_status case_text(struct tn_suite *s, const struct tn_golden_case *g, struct tn_buf *out)
{
    struct tn_str name = g->prompt_named ? g->prompt_name : s->d->default_prompt;
    const struct tn_prompt *p = name.n ? tn_description_prompt(s->d, name) : NULL;
    if (p) tn_buf_append(out, p->text.s, p->text.n);
    tn_buf_append(out, g->text.s, g->text.n);
    return tn_buf_status(out) ? tn_suite_no_memory(s) : TN_OK;
}

static bool same_numbers(struct tn_json array, const uint32_t *values, size_t count)
{
    size_t i = 0;
    for (struct tn_json v = tn_json_first(array); tn_json_present(v); v = tn_json_next(v), i++) {
        uint64_t number;
        if (i == count || !tn_json_u64(v, &number) || number != values[i]) return false;
    }
    return i == count;
}

static enum tn_status compare_ids(struct tn_suite *s, struct tn_check *c, size_t index, const struct tn_golden_case *g)
{
    struct tn_buf text;
    tn_encoding *encoding = NULL;
    tn_buf_init(&text, s->alloc, SIZE_MAX - 1);
    enum tn_status status = case_text(s, g, &text);
    if (!status) status = tn_suite_encode(s, (tn_string){text.data ? text.data : "", text.len}, s->max_tokens, &encoding);
    if (!status && !encoding) {
        tn_check_fail(c, "case %zu: %s", index, s->scratch->primary.message);
    } else if (!status) {
        tn_tokens tokens = tn_encoding_tokens(encoding);
        bool types = tn_json_is(g->type_ids, TN_JSON_ARRAY) && s->d->tokenizer.type_ids;
        if (!same_numbers(g->ids, tokens.ids, tokens.count)) {
            tn_check_fail(c, "case %zu: other ids (%zu where the golden has %zu)", index, tokens.count,
                          tn_json_count(g->ids));
        } else if (types && !same_numbers(g->type_ids, tokens.type_ids, tokens.count)) {
            tn_check_fail(c, "case %zu: other type ids", index);
        }
    }
    tn_encoding_free(encoding);
    tn_buf_release(&text);
    return status;
}

static tn_embed_request case_request(const struct tn_golden_case *g, const tn_string *text, const char *role)
{
    tn_embed_request request = tn_suite_request(text, 1);
    request.role = g->prompt_named ? role : NULL;
    request.dimensions = g->truncate_dim > UINT32_MAX ? UINT32_MAX : (unsigned)g->truncate_dim;
    if (g->normalize) request.normalize = TN_YES;
    return request;
}

/* The golden's numbers as float32; NULL without memory or when one is no number. */
static float *golden_row(struct tn_suite *s, const struct tn_golden_case *g, size_t *width)
{
    size_t i = 0;
    *width = tn_json_count(g->embedding);
    float *row = tn_calloc(s->alloc, *width + 1, sizeof(*row));
    for (struct tn_json v = tn_json_first(g->embedding); row && tn_json_present(v); v = tn_json_next(v), i++) {
        double value;
        if (tn_json_f64(v, &value)) {
            row[i] = (float)value;
        } else {
            row[i] = NAN;
        }
    }
    return row;
}

static void add_difference(struct tn_difference *sum, const struct tn_difference *d, size_t index)
{
    if (d->max_abs > sum->max_abs) sum->max_abs = d->max_abs;
    if (d->min_cosine < sum->min_cosine) sum->min_cosine = d->min_cosine;
    sum->finite = sum->finite && d->finite;
    sum->equal = sum->equal && d->equal;
    if (d->max_rel > sum->max_rel) {
        sum->max_rel = d->max_rel;
        sum->worst_row = index;
    }
}

static enum tn_status compare_vector(struct tn_suite *s, struct tn_check *c, size_t index,
                                     const struct tn_golden_case *g, struct tn_difference *sum)
{
    char role[256] = "";
    struct tn_answers a = {0};
    size_t width = 0;
    tn_string text = {g->text.s, g->text.n};
    if (g->prompt_name.n >= sizeof(role) || (g->prompt_name.n && memchr(g->prompt_name.s, 0, g->prompt_name.n))) {
        tn_check_fail(c, "case %zu: the name of its prompt is too long", index);
        return TN_OK;
    }
    if (g->prompt_name.n) memcpy(role, g->prompt_name.s, g->prompt_name.n);
    tn_embed_request request = case_request(g, &text, role);
    enum tn_status status = tn_suite_ask(s, s->session, &request, &a);
    float *expected = status ? NULL : golden_row(s, g, &width);
    if (!status && !expected) status = tn_suite_no_memory(s);
    if (!status && (a.failure || a.failed)) {
        tn_check_fail(c, "case %zu: %s", index, a.message);
    } else if (!status && width != a.dimensions) {
        tn_check_fail(c, "case %zu: %zu components where the golden has %zu", index, a.dimensions, width);
    } else if (!status) {
        struct tn_difference d = tn_compare_rows(a.vectors, expected, 1, width);
        if (g->tokens_total && g->tokens_total != a.events->tokens_total) {
            tn_check_fail(c, "case %zu: %zu tokens where the golden counts %llu", index, a.events->tokens_total,
                          (unsigned long long)g->tokens_total);
        }
        add_difference(sum, &d, index);
    }
    tn_free(s->alloc, expected);
    tn_answers_release(&a);
    return status;
}

static void judge(struct tn_check *c, const struct tn_difference *d, bool f32)
{
    tn_check_measure(c, "max_abs", d->max_abs);
    tn_check_measure(c, "max_rel", d->max_rel);
    tn_check_measure(c, "min_cosine", d->min_cosine);
    tn_check_measure(c, "limit", f32 ? TN_SUITE_F32_TOLERANCE : COSINE_LIMIT);
    if (!d->finite) tn_check_fail(c, "a component is not a finite number");
    if (f32 && !(d->max_rel <= TN_SUITE_F32_TOLERANCE)) {
        tn_check_fail(c, "case %zu differs by %s", d->worst_row, TN_F64(d->max_rel));
    }
    if (!f32 && !(d->min_cosine >= COSINE_LIMIT)) {
        tn_check_fail(c, "a cosine of %s, the largest difference in case %zu", TN_F64(d->min_cosine), d->worst_row);
    }
}

static enum tn_status all_cases(struct tn_suite *s, struct tn_check *c, bool ids, struct tn_difference *sum)
{
    size_t index = 0;
    for (struct tn_json v = tn_json_first(s->golden.cases); tn_json_present(v); v = tn_json_next(v), index++) {
        struct tn_golden_case g;
        enum tn_status status = tn_golden_read_case(v, &g, s->err);
        if (!status) {
            status = ids ? compare_ids(s, c, index, &g) : compare_vector(s, c, index, &g, sum);
        }
        if (status) return status;
    }
    tn_check_measure(c, "cases", (double)index);
    return TN_OK;
}

enum tn_status tn_check_golden(struct tn_suite *s)
{
    struct tn_difference sum = {.min_cosine = 1, .finite = true, .equal = true};
    bool f32 = s->plan->row->assessment.numeric.compute == TN_COMPUTE_F32;
    if (!s->golden.present) return TN_OK;
    struct tn_check *c = tn_suite_check(s, "golden.ids", TN_LEVEL_REFERENCE_QUALIFIED,
                                        "token ids and type ids equal the reference's", NULL);
    if (!c) return tn_suite_no_memory(s);
    enum tn_status status = all_cases(s, c, true, NULL);
    if (status) return status;
    c = tn_suite_check(s, "golden.embedding", TN_LEVEL_REFERENCE_QUALIFIED, "vectors equal the reference's",
                       f32 ? TN_SUITE_F32_WHY : COSINE_WHY);
    if (!c) return tn_suite_no_memory(s);
    status = all_cases(s, c, false, &sum);
    if (!status) judge(c, &sum, f32);
    return status;
}
