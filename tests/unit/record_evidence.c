/*
 * What evidence rests on: each fact is changed alone, and exactly what follows from it falls. Withdrawals: what they hide,
 * what they leave, what replaces them.
 */
#include "record_sample.h"

#include <stdio.h>
#include <string.h>

enum { A = 1 << TN_EVIDENCE_AUDIT, T = 1 << TN_EVIDENCE_TOKENS, L = 1 << TN_EVIDENCE_LOADING, I = 1 << TN_EVIDENCE_INVARIANTS,
       R = 1 << TN_EVIDENCE_REFERENCE, D = 1 << TN_EVIDENCE_DEPLOYMENT };

TEST(each_change_ends_exactly_what_rests_on_it)
{
    static const struct {
        enum tn_dependency changed;
        unsigned falls;
        enum tn_level level;
    } cases[] = {
        {TN_DEPENDS_ON_TOKENIZER, T | I | R, TN_LEVEL_LOADS}, /* token goldens and what follows; neither the audit nor loading */
        {TN_DEPENDS_ON_WEIGHTS, A | L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID},
        {TN_DEPENDS_ON_CONFIG, A | L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID},
        {TN_DEPENDS_ON_FAMILY, A | L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID},
        {TN_DEPENDS_ON_PROVIDER, L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID}, /* its version; tokens and tensors are what they were */
        {TN_DEPENDS_ON_NUMERIC, L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID},
        {TN_DEPENDS_ON_ISA_CLASS, L | I | R | D, TN_LEVEL_STRUCTURALLY_VALID}, /* the device's profile */
        {TN_DEPENDS_ON_DESCRIPTION, I | R, TN_LEVEL_LOADS},
        {TN_DEPENDS_ON_RECIPE, I | R, TN_LEVEL_LOADS},
        {TN_DEPENDS_ON_CONTRACT, I | R, TN_LEVEL_LOADS},
    };
    struct tn_record_index record = {.level = TN_LEVEL_REFERENCE_QUALIFIED};
    sample_facts(&record.facts);
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) record.needed[i] = tn_dependency_level((enum tn_dependency)i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_record_facts now;
        uint32_t changed = 0;
        unsigned fell = 0;
        sample_facts(&now);
        now.value[cases[i].changed] = TN_STR("other");
        CHECK_INT(tn_record_holds(&record, &now, false, &changed), cases[i].level);
        CHECK_INT(changed, UINT32_C(1) << cases[i].changed);
        for (unsigned k = 0; k < TN_EVIDENCE_KINDS; k++) fell |= (unsigned)!tn_evidence_holds((enum tn_evidence_kind)k, changed) << k;
        CHECK_INT(fell, cases[i].falls);
    }
    for (unsigned k = 0; k < TN_EVIDENCE_KINDS; k++) CHECK(tn_evidence_holds((enum tn_evidence_kind)k, 0));
}

TEST(checks_belong_to_a_kind_of_evidence)
{
    CHECK_INT(tn_evidence_of_check(TN_STR("golden.ids"), TN_LEVEL_REFERENCE_QUALIFIED), TN_EVIDENCE_TOKENS);
    CHECK_INT(tn_evidence_of_check(TN_STR("golden.embedding"), TN_LEVEL_REFERENCE_QUALIFIED), TN_EVIDENCE_REFERENCE);
    CHECK_INT(tn_evidence_of_check(TN_STR("compare.outputs"), TN_LEVEL_REFERENCE_QUALIFIED), TN_EVIDENCE_REFERENCE);
    CHECK_INT(tn_evidence_of_check(TN_STR("load.same"), TN_LEVEL_LOADS), TN_EVIDENCE_LOADING);
    CHECK_INT(tn_evidence_of_check(TN_STR("company.order"), TN_LEVEL_LOADS), TN_EVIDENCE_INVARIANTS);
    CHECK_INT(tn_evidence_of_check(TN_STR("memory.estimate"), TN_LEVEL_DEPLOYMENT_QUALIFIED), TN_EVIDENCE_DEPLOYMENT);
}

/* ---- withdrawals ---- */

static const char *place(char *folder, size_t cap, const char *name)
{
    snprintf(folder, cap, "%s/%s", test_folder(), name);
    return folder;
}

static enum tn_level level_now(struct sample *s, const char *tokenizer, bool *found)
{
    struct tn_record_facts now;
    struct tn_record_standing standing;
    sample_facts(&now);
    if (tokenizer) now.value[TN_DEPENDS_ON_TOKENIZER] = tn_str_of(tokenizer);
    CHECK_INT(tn_record_level_for(&s->store, &now, &standing, &s->err), TN_OK);
    *found = standing.found;
    return standing.level;
}

static enum tn_status withdraw(struct sample *s, const char *id, const char *reason, int64_t created)
{
    struct tn_buf text;
    tn_buf_init(&text, &s->alloc, 1 << 20);
    tn_error_clear(&s->err);
    enum tn_status st = tn_record_withdraw(&s->store, id, reason, created, &text, &s->err);
    tn_buf_release(&text);
    return st;
}

TEST(a_withdrawn_record_counts_no_more_and_nothing_older_does)
{
    char folder[512], older[TN_RECORD_ID + 1], id[TN_RECORD_ID + 1], again[TN_RECORD_ID + 1];
    bool found;
    struct sample *s = sample_new(place(folder, sizeof(folder), "withdrawn"));
    REQUIRE(sample_put(s, 1000, TN_LEVEL_REFERENCE_QUALIFIED, NULL, older) == TN_OK);
    REQUIRE(sample_put(s, 2000, TN_LEVEL_RECOGNISED, NULL, id) == TN_OK);
    CHECK_INT(level_now(s, NULL, &found), TN_LEVEL_REFERENCE_QUALIFIED);
    CHECK_INT(withdraw(s, id, NULL, 3000), TN_INVALID_REQUEST);
    CHECK_STR(s->err.primary.element, "reason");
    CHECK_INT(withdraw(s, id, "", 3000), TN_INVALID_REQUEST);
    CHECK_INT(withdraw(s, "ffff", "why", 3000), TN_ARTIFACT_MISSING);
    CHECK_INT(level_now(s, NULL, &found), TN_LEVEL_REFERENCE_QUALIFIED);
    CHECK_INT(withdraw(s, id, "the golden was of another revision", 3000), TN_OK);
    CHECK_INT(level_now(s, NULL, &found), TN_LEVEL_WITHDRAWN);
    CHECK(found);
    CHECK_INT(withdraw(s, id, "again", 3001), TN_INVALID_REQUEST);
    /* With another tokenizer the withdrawal says nothing, and the withdrawn record nothing either: the older one does. */
    CHECK_INT(level_now(s, "other", &found), TN_LEVEL_LOADS);
    CHECK(found);
    /* A new qualification replaces it. */
    REQUIRE(sample_put(s, 4000, TN_LEVEL_RECOGNISED, NULL, again) == TN_OK);
    CHECK_INT(level_now(s, NULL, &found), TN_LEVEL_REFERENCE_QUALIFIED);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

static enum tn_status keep_withdrawal(void *user, const struct tn_record_row *row, struct tn_error *err)
{
    struct tn_record_index *out = user;
    (void)err;
    CHECK_INT(row->damage, TN_OK);
    if (!row->index.withdraws.n) return TN_OK;
    out->level = row->index.level;
    out->failures = row->index.withdraws.n == TN_RECORD_ID && tn_str_is(row->index.reason, "a \"reason\"\n with signs") ? 1 : 0;
    memcpy(out->id, row->index.withdraws.s, TN_RECORD_ID);
    return TN_OK;
}

TEST(a_withdrawal_is_a_record_that_says_what_and_why)
{
    char folder[512], id[TN_RECORD_ID + 1];
    struct tn_record_index seen = {.level = TN_LEVEL_RECOGNISED};
    struct tn_buf text;
    struct sample *s = sample_new(place(folder, sizeof(folder), "withdrawal"));
    REQUIRE(sample_put(s, 2000, TN_LEVEL_RECOGNISED, NULL, id) == TN_OK);
    tn_buf_init(&text, &s->alloc, 1 << 20);
    REQUIRE(tn_record_withdraw(&s->store, id, "a \"reason\"\n with signs", 5, &text, &s->err) == TN_OK); /* a clock that runs back */
    CHECK_CONTAINS(text.data, "\"created_seconds\":2000");
    CHECK_CONTAINS(text.data, "\"level\":\"reference_qualified\",\"reason\"");
    CHECK_INT(tn_record_each(&s->store, keep_withdrawal, &seen, &s->err), TN_OK);
    CHECK_INT(seen.level, TN_LEVEL_WITHDRAWN);
    CHECK_INT(seen.failures, 1);
    CHECK(memcmp(seen.id, id, TN_RECORD_ID) == 0);
    struct tn_json_doc doc;
    struct tn_record_index index;
    char withdrawal[TN_RECORD_ID + 1];
    REQUIRE(tn_json_parse(&doc, &s->alloc, &s->ctx.limits, TN_STR("r"), tn_buf_str(&text), &s->err) == TN_OK);
    REQUIRE(tn_record_read(tn_json_root(&doc), &index, &s->err) == TN_OK);
    memcpy(withdrawal, index.id, sizeof(withdrawal));
    tn_json_release(&doc);
    tn_buf_release(&text);
    CHECK_INT(withdraw(s, withdrawal, "no", 6000), TN_INVALID_REQUEST);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}
