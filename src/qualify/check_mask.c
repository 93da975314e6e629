/*
 * What only the provider shows: the hidden state of one token. An encoder must let the last token change the first
 * one's state, alone and in company; a decoder's mask in its place gives vectors that look right and are not. The same
 * instance also tells the identity of the weights.
 */
#include "qualify/suite.h"

#include <string.h>

/*
 * A last token that only touches how sums are rounded, by way of the softmax's maximum say, moves a component by some
 * 1e-7 (tried with a kernel that drops the last key); one that is seen moved the first state by 9e-3 and more, relative
 * to its largest component, in the six packages looked at.
 */
#define SEEN 1e-5
#define SEEN_WHY "more than 1e-5 max(1, max|x|): rounding alone stays below"

/* The first row of the last operator that works on every token. */
struct first_row {
    struct tn_alloc *alloc;
    size_t rows; /* of the packed sequences */
    size_t width;
    float *values; /* owned */
    bool failed;
};

static void tap(void *user, struct tn_str op, const float *rows, size_t count, size_t width)
{
    struct first_row *first = user;
    (void)op;
    if (count != first->rows || first->failed) return;
    if (width != first->width) {
        float *values = tn_realloc(first->alloc, first->values, width * sizeof(float));
        if (!values) {
            first->failed = true;
            return;
        }
        first->values = values;
        first->width = width;
    }
    memcpy(first->values, rows, width * sizeof(float));
}

enum { COMPANY = 5 }; /* tokens of the second sequence */

/* Runs ids, with or without a second sequence behind them. */
static enum tn_status run(struct tn_suite *s, struct tn_instance *instance, const int32_t *ids, uint32_t count,
                          bool company, struct first_row *out)
{
    const struct tn_survey_row *row = s->plan->row;
    uint32_t total = count + (company ? COMPANY : 0), sequences = company ? 2 : 1;
    *out = (struct first_row){.alloc = s->alloc, .rows = total};
    int32_t offsets[3] = {0, (int32_t)count, (int32_t)total};
    struct tn_span spans[2] = {{.count = (int32_t)count}, {.first = (int32_t)count, .count = COMPANY}};
    uint8_t status[2];
    int32_t *all = tn_malloc(s->alloc, total * sizeof(*all));
    float *vectors = tn_malloc(s->alloc, sequences * (size_t)row->assessment.output_width * sizeof(float));
    enum tn_status st = all && vectors ? TN_OK : tn_suite_no_memory(s);
    if (!st) {
        memcpy(all, ids, count * sizeof(*all));
        for (uint32_t i = count; i < total; i++) all[i] = ids[(i - count) % count];
        struct tn_invocation call = {.ids = all,
                                     .offsets = offsets,
                                     .spans = spans,
                                     .sequences = sequences,
                                     .out = vectors,
                                     .status = status,
                                     .tap = tap,
                                     .tap_user = out};
        st = row->entry->provider->invoke(instance, &call, s->err);
    }
    if (!st && out->failed) st = tn_suite_no_memory(s);
    tn_free(s->alloc, all);
    tn_free(s->alloc, vectors);
    return st;
}

/* The ids of a text of the suite, and behind them the same ones with another id in the last place. */
static enum tn_status make_ids(struct tn_suite *s, int32_t **out, uint32_t *count)
{
    tn_encoding *encoding = NULL;
    *out = NULL;
    *count = 0;
    enum tn_status st = tn_suite_encode(s, s->texts[4], s->max_tokens, &encoding);
    if (st || !encoding) return st;
    tn_tokens tokens = tn_encoding_tokens(encoding);
    if (tokens.count >= 2) {
        int32_t *ids = tn_malloc(s->alloc, 2 * tokens.count * sizeof(*ids));
        if (!ids) {
            tn_encoding_free(encoding);
            return tn_suite_no_memory(s);
        }
        for (size_t i = 0; i < tokens.count; i++) ids[i] = ids[tokens.count + i] = (int32_t)tokens.ids[i];
        int32_t *last = &ids[2 * tokens.count - 1];
        for (size_t i = 1; i < tokens.count && *last == ids[tokens.count - 1]; i++) *last = ids[i];
        *out = ids;
        *count = (uint32_t)tokens.count;
    }
    tn_encoding_free(encoding);
    return TN_OK;
}

static enum tn_status compare(struct tn_suite *s, struct tn_instance *instance, const int32_t *ids, uint32_t count)
{
    struct first_row alone = {0}, other = {0}, company = {0};
    struct tn_check *c;
    enum tn_status st = run(s, instance, ids, count, false, &alone);
    if (!st) st = run(s, instance, ids + count, count, false, &other);
    if (!st) st = run(s, instance, ids, count, true, &company);
    if (st) goto out;
    st = TN_OK;
    c = tn_suite_check(s, "mask.last_token", TN_LEVEL_LOADS, "another last token changes the state of the first one",
                       SEEN_WHY);
    if (!c) goto no_memory;
    if (!alone.width || alone.width != other.width) {
        tn_check_skip(c, "the provider shows no operator with a row per token");
    } else {
        struct tn_difference d = tn_compare_rows(alone.values, other.values, 1, alone.width);
        tn_check_measure(c, "max_abs", d.max_abs);
        tn_check_measure(c, "max_rel", d.max_rel);
        tn_check_measure(c, "limit", SEEN);
        if (!(d.max_rel > SEEN)) tn_check_fail(c, "the first token does not see the last: a decoder's mask in an encoder");
    }
    c = tn_suite_check(s, "mask.company", TN_LEVEL_LOADS,
                       "the state of a token is the same bits whatever stands in the same batch", NULL);
    if (!c) goto no_memory;
    if (!alone.width || alone.width != company.width) {
        tn_check_skip(c, "the provider shows no operator with a row per token");
    } else {
        struct tn_difference d = tn_compare_rows(company.values, alone.values, 1, alone.width);
        tn_check_measure(c, "max_abs", d.max_abs);
        if (!d.equal) tn_check_fail(c, "a token's state differs by %s beside another sequence", TN_F64(d.max_abs));
    }
out:
    tn_free(s->alloc, alone.values);
    tn_free(s->alloc, other.values);
    tn_free(s->alloc, company.values);
    return st;
no_memory:
    st = tn_suite_no_memory(s);
    goto out;
}

static enum tn_status keep_weights(struct tn_suite *s, struct tn_instance *instance)
{
    char hex[TN_SHA256_HEX];
    struct tn_digest digest = s->plan->row->entry->provider->weights(instance);
    s->r->weights = tn_arena_str(&s->r->arena, tn_str_of(tn_digest_hex(&digest, hex)));
    s->r->facts.value[TN_DEPENDS_ON_WEIGHTS] = s->r->weights;
    return s->r->weights.s ? TN_OK : tn_suite_no_memory(s);
}

enum tn_status tn_check_mask(struct tn_suite *s)
{
    const struct tn_survey_row *row = s->plan->row;
    struct tn_load_env env = {.ctx = s->env->ctx, .pool = s->env->pool, .cancel = s->env->stop};
    struct tn_instance *instance = NULL;
    int32_t *ids = NULL;
    uint32_t count = 0;
    enum tn_status st = row->entry->provider->load(&row->assessment, &row->request, &env, &instance, s->err);
    if (st) return st;
    st = keep_weights(s, instance);
    if (!st) st = make_ids(s, &ids, &count);
    if (!st && ids && ids[count - 1] != ids[2 * count - 1]) {
        st = compare(s, instance, ids, count);
    } else if (!st) {
        struct tn_check *c = tn_suite_check(s, "mask.last_token", TN_LEVEL_LOADS,
                                            "another last token changes the state of the first one", NULL);
        tn_check_skip(c, "the tokenizer makes fewer than two different tokens of a sentence");
        if (!c) st = tn_suite_no_memory(s);
    }
    tn_free(s->alloc, ids);
    row->entry->provider->release(instance);
    return st;
}
