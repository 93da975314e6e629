/*
 * Assessment: a decision per provider with every blocker, options that cannot be obeyed, evidence that is required, and
 * the choice among providers. Over the obedient provider of session_fake.h.
 */
#include "session_fake.h"

static bool open_package(struct bench *b, const char *name)
{
    char path[256];
    memset(&fake, 0, sizeof(fake));
    snprintf(path, sizeof(path), "golden/packages/%s", name);
    return bench_open(b, test_path(path));
}

/* A plan is refused; the error's first finding has this code and names this option. */
static void expect_refusal(struct bench *b, const tn_plan_options *o, enum tn_status code, const char *option)
{
    CHECK_INT(tn_plan_make(&b->planner, o, NULL, (struct tn_keep){0}, &b->plan, b->err), code);
    CHECK(b->plan == NULL);
    CHECK_STR(b->err->primary.element, option);
    CHECK(b->err->primary.expected[0] != 0 || b->err->primary.remedy[0] != 0);
}

TEST(options_that_cannot_be_obeyed)
{
    struct bench b;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.task = "embedding.nonsense";
    expect_refusal(&b, &o, TN_UNSUPPORTED_TASK, "task");
    CHECK_CONTAINS(b.err->primary.expected, "embedding.dense");
    o.task = NULL;
    expect_refusal(&b, &o, TN_INVALID_REQUEST, "task");
    o = bench_options();
    o.provider = "nobody";
    expect_refusal(&b, &o, TN_PROVIDER_UNAVAILABLE, "provider");
    CHECK_CONTAINS(b.err->primary.expected, "fake, absent (not in this build)");
    o.provider = "absent";
    expect_refusal(&b, &o, TN_PROVIDER_UNAVAILABLE, "provider");
    CHECK_CONTAINS(b.err->primary.message, "not in this build");
    o.provider = "fake,,absent";
    expect_refusal(&b, &o, TN_INVALID_REQUEST, "provider");
    o.provider = "fake,fake";
    expect_refusal(&b, &o, TN_INVALID_REQUEST, "provider");
    o = bench_options();
    o.device = "cuda:0"; /* a vendor's word */
    expect_refusal(&b, &o, TN_PLACEMENT_REFUSED, "device");
    CHECK_CONTAINS(b.err->primary.expected, "cpu, gpu or npu");
    o.device = "any"; /* no choice at all */
    expect_refusal(&b, &o, TN_PLACEMENT_REFUSED, "device");
    o.device = "gpu:1";
    expect_refusal(&b, &o, TN_PLACEMENT_REFUSED, "device");
    CHECK_CONTAINS(b.err->primary.message, "the provider fake does not run on this device");
    CHECK_STR(b.err->primary.expected, "cpu");
    o = bench_options();
    o.placement = "loose";
    expect_refusal(&b, &o, TN_UNSUPPORTED_OPTION, "placement");
    o = bench_options();
    o.numeric = "fp8";
    expect_refusal(&b, &o, TN_UNSUPPORTED_OPTION, "numeric");
    CHECK_STR(b.err->primary.expected, "f32 or bf16");
    o = bench_options();
    o.threads = 65;
    expect_refusal(&b, &o, TN_RESOURCE_LIMIT, "threads");
    o = bench_options();
    o.require_level = "perfect";
    expect_refusal(&b, &o, TN_UNSUPPORTED_OPTION, "require_level");
    CHECK_CONTAINS(b.err->primary.expected, "structurally_valid");
    o.require_level = "withdrawn";
    expect_refusal(&b, &o, TN_UNSUPPORTED_OPTION, "require_level");
    bench_end(&b);
}

TEST(every_wrong_option_is_listed)
{
    struct bench b;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.device = "nowhere";
    o.numeric = "int3";
    o.placement = "anywhere";
    o.provider = "nobody";
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_PLACEMENT_REFUSED);
    CHECK_INT(b.err->count, 4);
    bench_end(&b);
}

TEST(required_evidence)
{
    struct bench b;
    struct tn_survey s;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.require_level = "reference_qualified";
    expect_refusal(&b, &o, TN_VERSION_UNQUALIFIED, "require_level");
    CHECK_STR(b.err->primary.found, "structurally_valid");
    CHECK_STR(b.err->primary.expected, "reference_qualified");
    REQUIRE(tn_survey_make(&s, &b.planner, &o, NULL, true, b.err) == TN_OK);
    CHECK_INT(s.decision, TN_UNQUALIFIED);
    tn_survey_release(&s);
    o.require_level = "structurally_valid";
    CHECK(bench_plan(&b, &o));
    bench_end(&b);
}

TEST(assertions_of_the_caller_are_no_evidence)
{
    struct bench b;
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_str field = TN_STR("config.json#/novelty");
    REQUIRE(open_package(&b, "bert_options"));
    struct tn_description d = *b.d;
    d.descriptive = &field;
    d.descriptive_count = 1;
    b.planner.d = &d;
    tn_plan_options o = bench_options();
    o.require_level = "structurally_valid";
    expect_refusal(&b, &o, TN_VERSION_UNQUALIFIED, "require_level");
    CHECK_STR(b.err->primary.found, "unqualified");
    o.require_level = NULL;
    REQUIRE(bench_plan(&b, &o));
    tn_buf_init(&text, &b.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_plan_write(&w, b.plan);
    CHECK_CONTAINS(text.data, "\"evidence_level\":\"unqualified\"");
    CHECK_CONTAINS(text.data, "\"descriptive\":[\"config.json#/novelty\"]");
    tn_buf_release(&text);
    bench_end(&b);
}

TEST(providers_are_tried_in_the_callers_order)
{
    struct bench b;
    struct tn_buf text;
    struct tn_json_writer w;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.provider = "absent, fake";
    REQUIRE(bench_plan(&b, &o));
    CHECK_STR(b.plan->row->entry->name, "fake");
    CHECK_INT(b.plan->skipped, 1);
    tn_buf_init(&text, &b.alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_plan_write(&w, b.plan);
    REQUIRE(text.data);
    CHECK_CONTAINS(text.data, "\"exclusions\":[{\"provider\":\"absent\"");
    CHECK_CONTAINS(text.data, "\"fallback\":[\"absent\",\"fake\"]");
    tn_buf_release(&text);
    bench_end(&b);
}

TEST(unrequested_providers_are_listed_and_do_not_count)
{
    struct bench b;
    struct tn_survey s;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.provider = "absent";
    REQUIRE(tn_survey_make(&s, &b.planner, &o, NULL, true, b.err) == TN_OK);
    CHECK_INT(s.row_count, 2);
    CHECK_INT(s.decision, TN_UNKNOWN); /* not here, so not inspected; never taken for supported */
    CHECK_INT(s.rows[1].decision, TN_ELIGIBLE);
    CHECK(!s.rows[1].requested);
    tn_survey_release(&s);
    bench_end(&b);
}

TEST(a_broken_package_binds_every_provider)
{
    struct bench b;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    struct tn_description broken = *b.d;
    broken.findings.count = 0;
    tn_findings_init(&broken.findings, &b.alloc, 10);
    tn_findings_add(&broken.findings, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, TN_PHASE_DESCRIBE, "one thing is wrong");
    tn_findings_add(&broken.findings, TN_BLOCKER, TN_MISSING_TENSOR, TN_PHASE_DESCRIBE, "another one");
    broken.tokenizer.present = false;
    b.planner.d = &broken;
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_CONFIG);
    CHECK_INT(b.err->count, 3); /* and the task's: no tokenizer */
    CHECK_INT(b.err->findings[1].code, TN_MISSING_TENSOR);
    CHECK_INT(b.err->findings[2].code, TN_UNSUPPORTED_TASK);
    tn_findings_release(&broken.findings);
    b.planner.d = b.d;
    bench_end(&b);
}

TEST(effective_options_carry_their_origin)
{
    struct bench b;
    REQUIRE(open_package(&b, "bert_options"));
    tn_plan_options o = bench_options();
    o.threads = 3;
    REQUIRE(bench_plan(&b, &o));
    const struct tn_policy *p = &b.plan->survey.policy;
    CHECK_INT(tn_option_effective(&p->option[TN_OPTION_TASK]).origin, TN_CHOICE_REQUEST);
    CHECK_INT(tn_option_effective(&p->option[TN_OPTION_NUMERIC]).origin, TN_CHOICE_DEFAULT);
    CHECK_INT(tn_option_effective(&p->option[TN_OPTION_THREADS]).origin, TN_CHOICE_REQUEST);
    CHECK_INT(p->threads, 3);
    CHECK_STR(p->numeric, "f32");
    CHECK_STR(p->device, "cpu");
    bench_end(&b);
}

/* ---- what the task asks of a package ---- */

static void expect_task(const struct bench *b, const struct tn_description *d, enum tn_status code, const char *part)
{
    struct tn_findings list;
    struct tn_task_route route;
    (void)b;
    tn_findings_init(&list, (struct tn_alloc *)(uintptr_t)&b->alloc, 10);
    tn_task_embedding_dense.assess(d, &list, &route);
    if (code == TN_OK) {
        CHECK_INT(list.blockers, 0);
    } else {
        CHECK(list.blockers >= 1);
        if (list.count > 0) CHECK_INT(list.items[0].code, code);
        if (list.count > 0) CHECK_CONTAINS(list.items[0].message, part);
    }
    tn_findings_release(&list);
}

TEST(what_an_embedding_needs)
{
    struct bench b;
    struct tn_task_route route;
    REQUIRE(open_package(&b, "bert_mean_normalize"));
    struct tn_description d = *b.d;
    struct tn_component c = d.components[0];
    expect_task(&b, &d, TN_OK, "");
    struct tn_findings none;
    tn_findings_init(&none, &b.alloc, 1);
    tn_task_embedding_dense.assess(&d, &none, &route);
    CHECK_INT(route.first_module, 1);
    CHECK_INT(route.module_end, d.module_count - 1); /* the closing Normalize is the recipe's */
    CHECK_INT(route.max_tokens, d.max_seq_length);
    tn_findings_release(&none);

    d.tokenizer.present = false;
    expect_task(&b, &d, TN_UNSUPPORTED_TASK, "no tokenizer");
    d = *b.d;
    d.max_seq_length = 0;
    expect_task(&b, &d, TN_UNSUPPORTED_TASK, "how long");
    d = *b.d;
    d.module_count = 0;
    expect_task(&b, &d, TN_UNSUPPORTED_TASK, "how token states become one vector");
    c.architecture = TN_STR("BertForSequenceClassification");
    d.components = &c;
    expect_task(&b, &d, TN_TASK_HEAD_MISMATCH, "BertForSequenceClassification");
    d.module_count = b.d->module_count; /* a stated Pooling is the stronger word */
    expect_task(&b, &d, TN_OK, "");
    d = *b.d;
    d.component_count = 0;
    expect_task(&b, &d, TN_UNSUPPORTED_TASK, "no encoder");
    bench_end(&b);
}
