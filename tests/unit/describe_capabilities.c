/*
 * Capabilities: the table against the proposal's published vocabulary, requirements that are stated and derived, and the
 * refusal of a package with everything that is missing.
 */
#define _GNU_SOURCE
#include "describe_kit.h"

#include "base/json_write.h"

/* The identifiers of the inference-metadata proposal, section 4.3a of its specification: facts, counted there as 30. */
static const char *const published[] = {
    "kv_cache", "grouped_query_attention", "multi_head_attention", "prefix_cache", "continuous_batching",
    "control_flow_loop", "image_preprocessing_program", "packed_image_outputs", "position_program",
    "multi_axis_positions", "loop_carried_state", "dual_sequence_inputs", "workflow_ssa", "linear_effects",
    "serving_service_contract", "parameter_adapters", "heterogeneous_adapter_batching", "session_state_lease",
    "bounded_state_recurrence", "advisory_state", "adaptive_proposal_budget", "grammar_guidance_adapter",
    "telemetry_adapter", "nested_control_flow", "loop_induction_values", "typed_emit", "streaming_emit",
    "emit_valid_length", "input_presence", "explicit_transfer",
};

TEST(every_published_identifier_has_a_row)
{
    CHECK_INT(sizeof(published) / sizeof(published[0]), 30);
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        const struct tn_capability *c = tn_capability_find(tn_str_of(published[i]));
        if (!c) test_fail(__FILE__, __LINE__, "no row for %s", published[i]);
        else CHECK(c->means[0] != 0);
    }
}

TEST(rows_are_different_and_ours_are_offered)
{
    size_t own = 0;
    for (size_t i = 0; tn_capability_at(i); i++) {
        const struct tn_capability *c = tn_capability_at(i);
        CHECK(tn_capability_find(tn_str_of(c->id)) == c);
        CHECK(strcmp(tn_capability_category_name(c->category), "unknown") != 0);
        if (strncmp(c->id, "tenon.", 6) != 0) continue;
        own++;
        CHECK(c->version > 0);
    }
    CHECK(own > 0);
    CHECK(tn_capability_find(TN_STR("")) == NULL);
    CHECK(tn_capability_find(TN_STR("KV_CACHE")) == NULL); /* identifiers are exact */
}

/* No state, no loop, no adapter runs in this build: its list must not say so. */
TEST(what_nothing_executes_is_not_offered)
{
    static const char *const none[] = {"kv_cache", "continuous_batching", "nested_control_flow", "parameter_adapters",
                                       "image_preprocessing_program", "streaming_emit", "explicit_transfer"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        CHECK_INT(tn_capability_find(tn_str_of(none[i]))->version, 0);
    }
}

static struct tn_alloc alloc;
static struct tn_findings found;

static void check(const struct tn_capability_need *needs, size_t count)
{
    tn_alloc_init(&alloc);
    tn_findings_init(&found, &alloc, 100);
    tn_capabilities_check(needs, count, TN_PHASE_DESCRIBE, &found);
}

static void end(void)
{
    tn_findings_release(&found);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(nothing_required_and_everything_offered)
{
    const struct tn_capability_need needs[] = {
        {TN_STR("multi_head_attention"), TN_STR("a.yaml"), TN_STR("/required_capabilities/0"), NULL},
        {TN_STR("tenon.prompts"), TN_STR("description"), TN_STR("/prompts"), "the package's prompts"},
    };
    check(NULL, 0);
    CHECK_INT(found.count, 0);
    end();
    check(needs, 2);
    CHECK_INT(found.count, 0);
    end();
}

TEST(all_missing_ones_are_listed_once_with_who_requires_them)
{
    const struct tn_capability_need needs[] = {
        {TN_STR("kv_cache"), TN_STR("a.yaml"), TN_STR("/required_capabilities/0"), NULL},
        {TN_STR("multi_head_attention"), TN_STR("a.yaml"), TN_STR("/required_capabilities/1"), NULL},
        {TN_STR("nested_control_flow"), TN_STR("a.yaml"), TN_STR("/pipeline/workflow/steps/3"), "a loop or branch"},
        {TN_STR("kv_cache"), TN_STR("a.yaml"), TN_STR("/pipeline/workflow/manifest/capabilities/7"), NULL},
        {TN_STR("com.example.dream"), TN_STR("tenon_package.json"), TN_STR("/required_capabilities/0"), NULL},
    };
    check(needs, 5);
    REQUIRE(found.count == 3);
    CHECK_INT(found.blockers, 3);
    for (size_t i = 0; i < 3; i++) CHECK_INT(found.items[i].code, TN_MISSING_CAPABILITY);
    CHECK_STR(found.items[0].file, "a.yaml");
    CHECK_STR(found.items[0].element, "/required_capabilities/0");
    CHECK_CONTAINS(found.items[0].message, "kv_cache");
    CHECK_CONTAINS(found.items[0].message, "not offered");
    CHECK_CONTAINS(found.items[0].found, "stated at a.yaml#/required_capabilities/0");
    CHECK_CONTAINS(found.items[0].found, "/required_capabilities/0; stated at a.yaml#/pipeline/workflow/manifest/capabilities/7");
    CHECK_CONTAINS(found.items[0].expected, tn_capability_find(TN_STR("kv_cache"))->means);
    CHECK_STR(found.items[1].element, "/pipeline/workflow/steps/3");
    CHECK_CONTAINS(found.items[1].found, "follows from a loop or branch at a.yaml#/pipeline/workflow/steps/3");
    CHECK_CONTAINS(found.items[2].message, "com.example.dream");
    CHECK_CONTAINS(found.items[2].message, "not known");
    CHECK_STR(found.items[2].file, "tenon_package.json");
    end();
}

TEST(a_misspelt_identifier_is_answered_with_the_near_one)
{
    const struct tn_capability_need need = {TN_STR("kv_cach"), TN_STR("a.yaml"), TN_STR("/required_capabilities/0"), NULL};
    check(&need, 1);
    REQUIRE(found.count == 1);
    CHECK_CONTAINS(found.items[0].expected, "kv_cache");
    end();
}

TEST(the_list_as_a_document)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    struct tn_limits limits = tn_limits_default();
    tn_alloc_init(&alloc);
    tn_buf_init(&text, &alloc, 1 << 20);
    tn_jw_init(&w, &text, true);
    tn_capabilities_write(&w);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("list"), tn_buf_str(&text), NULL) == TN_OK);
    size_t offered = 0;
    for (struct tn_json v = tn_json_first(tn_json_root(&doc)); tn_json_present(v); v = tn_json_next(v)) {
        bool is_offered = false;
        uint64_t version;
        CHECK(tn_json_bool(tn_json_get(v, "offered"), &is_offered));
        CHECK(is_offered == tn_json_u64(tn_json_get(v, "version"), &version));
        CHECK(tn_json_is(tn_json_get(v, "version"), is_offered ? TN_JSON_NUMBER : TN_JSON_NULL));
        offered += is_offered;
    }
    CHECK(offered > 0 && offered < tn_json_count(tn_json_root(&doc)));
    tn_json_release(&doc);
    tn_buf_release(&text);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* ---- in a package ---- */

static bool requires(const struct tn_description *d, const char *id)
{
    for (uint32_t i = 0; i < d->capability_count; i++) {
        if (tn_str_is(d->capabilities[i].id, id)) return d->capabilities[i].derived != NULL;
    }
    return false;
}

TEST(a_package_that_states_nothing_still_says_what_it_needs)
{
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 0);
    CHECK(requires(d, "tenon.native_family"));
    CHECK(requires(d, "tenon.module_chain"));
    CHECK(requires(d, "tenon.prompts"));
    CHECK(requires(d, "tenon.tokenizer"));
    kit_close(d);
    kit_bare();
    d = kit_describe();
    REQUIRE(d);
    CHECK(requires(d, "tenon.native_family"));
    CHECK(!requires(d, "tenon.module_chain"));
    CHECK(!requires(d, "tenon.prompts"));
    kit_close(d);
}

static void kit_put_hints(const char *text)
{
    kit_new();
    kit_put("execution_hints.json", text);
}

TEST(hints_beside_a_package_are_the_packages)
{
    kit_put_hints("{\"placement\": [{\"selector\": {\"pattern\": \"*\"}, \"device\": {\"type\": \"cpu\"}}]}");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 0);
    REQUIRE(d->hints.count == 1);
    CHECK_INT(d->hints.items[0].origin, TN_HINT_FROM_METADATA);
    CHECK(tn_str_is(d->hints.items[0].file, "execution_hints.json"));
    CHECK(tn_str_is(d->hints.items[0].pointer, "/placement/0"));
    kit_close(d);
    kit_put_hints("{\"placement\": [{\"selector\": {\"pattern\": \"*\"}, \"device\": {\"type\": \"tpu\"}}]}");
    d = kit_describe();
    REQUIRE(d);
    CHECK_INT(d->findings.blockers, 1);
    CHECK_INT(d->hints.count, 0);
    const struct tn_finding *f = tn_findings_first_blocker(&d->findings);
    REQUIRE(f);
    CHECK_INT(f->code, TN_METADATA_INVALID);
    CHECK_STR(f->file, "execution_hints.json");
    CHECK_STR(f->element, "/placement/0/device/type");
    kit_close(d);
}
