/*
 * The answer to a text must not depend on what else is asked: alone, in a batch, in any order, in batches of any size
 * the same bits. The contract of the task promises it, so nothing is tolerated.
 */
#include "qualify/suite.h"

#include <string.h>

/* Compares answers with those of the first request; `at[i]` is the place of text i among the answers. */
static void must_equal(struct tn_suite *s, struct tn_check *c, const struct tn_answers *a, const size_t *at)
{
    double worst = 0;
    if (a->failure || a->failed || a->dimensions != s->base.dimensions) {
        tn_check_fail(c, "%zu of %zu texts failed: %s", a->failed, a->count, a->message);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        struct tn_difference d = tn_compare_rows(a->vectors + at[i] * a->dimensions,
                                                 s->base.vectors + i * a->dimensions, 1, a->dimensions);
        if (d.max_abs > worst) worst = d.max_abs;
        if (!d.equal) tn_check_fail(c, "text %zu differs by %s", i, TN_F64(d.max_abs));
    }
    tn_check_measure(c, "max_abs", worst);
}

static enum tn_status check_alone(struct tn_suite *s)
{
    double worst = 0;
    struct tn_check *c = tn_suite_check(s, "company.alone", TN_LEVEL_LOADS,
                                        "a text alone and among the others gives the same bits", NULL);
    if (!c) return tn_suite_no_memory(s);
    for (size_t i = 0; i < s->count; i++) {
        struct tn_answers a;
        tn_embed_request request = tn_suite_request(&s->texts[i], 1);
        enum tn_status status = tn_suite_ask(s, s->session, &request, &a);
        if (!status && (a.failure || a.failed || a.dimensions != s->base.dimensions)) {
            tn_check_fail(c, "text %zu failed: %s", i, a.message);
        } else if (!status) {
            struct tn_difference d =
                tn_compare_rows(a.vectors, s->base.vectors + i * a.dimensions, 1, a.dimensions);
            if (d.max_abs > worst) worst = d.max_abs;
            if (!d.equal) tn_check_fail(c, "text %zu differs by %s", i, TN_F64(d.max_abs));
        }
        tn_answers_release(&a);
        if (status) return status;
    }
    tn_check_measure(c, "max_abs", worst);
    return TN_OK;
}

/* Asks for the texts in the order of `order` with at most `batch` per step. */
static enum tn_status check_arranged(struct tn_suite *s, const char *id, const char *what, const size_t *order,
                                     unsigned batch)
{
    tn_string texts[TN_SUITE_TEXTS];
    size_t at[TN_SUITE_TEXTS];
    struct tn_answers a;
    struct tn_check *c = tn_suite_check(s, id, TN_LEVEL_LOADS, what, NULL);
    if (!c) return tn_suite_no_memory(s);
    for (size_t i = 0; i < s->count; i++) {
        texts[i] = s->texts[order[i]];
        at[order[i]] = i;
    }
    tn_embed_request request = tn_suite_request(texts, s->count);
    request.batch = batch;
    enum tn_status status = tn_suite_ask(s, s->session, &request, &a);
    if (!status) must_equal(s, c, &a, at);
    tn_answers_release(&a);
    return status;
}

enum tn_status tn_check_company(struct tn_suite *s)
{
    size_t same[TN_SUITE_TEXTS], backwards[TN_SUITE_TEXTS], mixed[TN_SUITE_TEXTS];
    if (!s->base.vectors || s->base.failed) return TN_OK; /* "answers.complete" says why */
    for (size_t i = 0; i < s->count; i++) {
        same[i] = i;
        backwards[i] = s->count - 1 - i;
        mixed[i] = (i * 5 + 3) % s->count;
    }
    /* 5 and the number of texts have no common divisor, so `mixed` is a permutation. */
    if (s->count % 5 == 0) memcpy(mixed, backwards, sizeof(mixed));
    enum tn_status status = check_alone(s);
    if (!status) status = check_arranged(s, "company.order", "the order of texts changes no bit", mixed, 0);
    if (!status) status = check_arranged(s, "company.reversed", "the reverse order changes no bit", backwards, 0);
    if (!status) status = check_arranged(s, "company.batch_1", "one text per step changes no bit", same, 1);
    if (!status) status = check_arranged(s, "company.batch_3", "three texts per step change no bit", mixed, 3);
    return status;
}
