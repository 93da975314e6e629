/*
 * Effective options in plans: who said what and against whom, hints of each origin on their way into a plan, round trips
 * of the printed plan, and what may never change the fingerprint.
 */
#include "session_fake.h"

static struct tn_hint_node fake_nodes[] = {
    {{"layer 0 attention", 17}, {"", 0}, {"attention", 9}, 0},
    {{"layer 1 attention", 17}, {"", 0}, {"attention", 9}, 1},
};

static enum tn_status give_nodes(const struct tn_assessment *a, struct tn_arena *arena, struct tn_hint_node **out,
                                 size_t *count, struct tn_error *err)
{
    (void)a;
    (void)arena;
    (void)err;
    *out = fake_nodes;
    *count = 2;
    return TN_OK;
}

static const char *const fake_types[] = {"float32", NULL};
static struct tn_provider wishful;
static struct tn_provider_entry entries[] = {{"fake", &wishful, NULL}};

struct desk {
    struct bench b;
    struct tn_description d;
    struct tn_plan *plan;
    char *text;
};

static bool begin(struct desk *k)
{
    memset(&fake, 0, sizeof(fake));
    k->plan = NULL;
    k->text = NULL;
    if (!bench_open(&k->b, test_path("golden/packages/bert_options"))) return false;
    wishful = fake_provider;
    wishful.nodes = give_nodes;
    wishful.dtypes = fake_types;
    k->d = *k->b.d; /* a copy that tests may give hints and demands */
    k->b.planner.d = &k->d;
    k->b.planner.providers = entries;
    k->b.planner.provider_count = 1;
    return true;
}

static void end(struct desk *k)
{
    tn_plan_drop(k->plan);
    free(k->text);
    bench_end(&k->b);
}

static enum tn_status plan(struct desk *k, const tn_plan_options *o)
{
    tn_plan_drop(k->plan);
    return tn_plan_make(&k->b.planner, o, NULL, (struct tn_keep){0}, &k->plan, k->b.err);
}

static void print(struct desk *k, const struct tn_plan *p)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &k->b.alloc, 1 << 20);
    tn_jw_init(&w, &text, true);
    tn_plan_write(&w, p);
    CHECK_INT(tn_buf_status(&text), TN_OK);
    free(k->text);
    k->text = malloc(text.len + 1);
    memcpy(k->text, text.data ? text.data : "", text.len + 1);
    tn_buf_release(&text);
}

/* The plan again from its document, equal in every byte. */
static void expect_round_trip(struct desk *k)
{
    struct tn_plan *second;
    print(k, k->plan);
    char *first = k->text;
    k->text = NULL;
    CHECK_INT(tn_plan_again(&k->b.planner, tn_str_of(first), (struct tn_keep){0}, &second, k->b.err), TN_OK);
    if (second) {
        print(k, second);
        CHECK_STR(k->text, first);
        CHECK_STR(second->id, k->plan->id);
        tn_plan_drop(second);
    } else {
        test_fail(__FILE__, __LINE__, "%s at %s", k->b.err->primary.message, k->b.err->primary.element);
    }
    free(first);
}

static struct tn_statement effective(const struct desk *k, enum tn_plan_option option)
{
    return tn_option_effective(&k->plan->survey.policy.option[option]);
}

#define EVERYTHING_ON(device, strength)                                                            \
    "{\"placement\": [{\"selector\": {\"pattern\": \"*\"}, \"device\": {\"type\": \"" device "\"}, \"strength\": \"" strength "\"}]}"

TEST(defaults_and_requests)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.threads = 1;
    REQUIRE(plan(&k, &o) == TN_OK);
    struct tn_statement s = effective(&k, TN_OPTION_THREADS);
    CHECK_INT(s.origin, TN_CHOICE_REQUEST);
    CHECK(tn_str_is(s.value, "1"));
    CHECK_INT(k.plan->survey.policy.option[TN_OPTION_THREADS].count, 2);
    CHECK(tn_str_is(k.plan->survey.policy.option[TN_OPTION_THREADS].stated[0].value, "2"));
    CHECK_INT(effective(&k, TN_OPTION_NUMERIC).origin, TN_CHOICE_DEFAULT);
    CHECK(tn_str_is(effective(&k, TN_OPTION_NUMERIC).value, "\"f32\""));
    CHECK(tn_str_is(effective(&k, TN_OPTION_REQUIRE_LEVEL).value, "null"));
    expect_round_trip(&k);
    CHECK_CONTAINS(k.text, "\"overrides\": [\n        {\n          \"origin\": \"default\",\n          \"value\": 2\n        }\n      ]");
    end(&k);
}

TEST(what_an_option_was_said_against_does_not_bind)
{
    struct desk k;
    struct tn_plan *second;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.threads = 1;
    REQUIRE(plan(&k, &o) == TN_OK);
    print(&k, k.plan);
    k.b.planner.defaults.threads = 9;
    k.b.planner.defaults.memory_limit = 1000;
    REQUIRE(tn_plan_again(&k.b.planner, tn_str_of(k.text), (struct tn_keep){0}, &second, k.b.err) == TN_OK);
    CHECK_INT(second->survey.policy.threads, 1);
    tn_plan_drop(second);
    end(&k);
}

TEST(a_hint_of_each_origin_places_everything)
{
    static const char *const by[] = {"caller", "user_file", "metadata"};
    for (int origin = TN_HINT_FROM_CALLER; origin <= TN_HINT_FROM_METADATA; origin++) {
        struct desk k;
        REQUIRE(begin(&k));
        tn_plan_options o = bench_options();
        if (origin == TN_HINT_FROM_CALLER) o.hints = EVERYTHING_ON("cpu", "prefer");
        if (origin == TN_HINT_FROM_USER) o.user_hints = EVERYTHING_ON("cpu", "prefer");
        if (origin == TN_HINT_FROM_METADATA) {
            struct tn_arena *arena = &k.b.d->arena;
            CHECK_INT(tn_hints_parse(tn_str_of(EVERYTHING_ON("cpu", "prefer")), TN_STR("tenon_package.json"), TN_HINT_FROM_METADATA,
                                     &k.b.ctx.limits, arena, &k.d.findings, &k.d.hints, k.b.err), TN_OK);
        }
        REQUIRE(plan(&k, &o) == TN_OK);
        struct tn_statement s = effective(&k, TN_OPTION_DEVICE);
        CHECK_INT(s.origin, TN_CHOICE_HINT);
        CHECK_STR(s.by, by[origin]);
        CHECK(tn_str_is(s.pointer, "/placement/0"));
        CHECK_INT(k.plan->survey.policy.option[TN_OPTION_DEVICE].count, 2);
        CHECK_STR(k.plan->survey.policy.device, "cpu");
        REQUIRE(k.plan->row->hints.count == 1);
        CHECK_INT(k.plan->row->hints.items[0].outcome, TN_HINT_IS_SATISFIED);
        expect_round_trip(&k);
        /* A request for the same device is policy and stands above it. */
        o.device = "cpu";
        REQUIRE(plan(&k, &o) == TN_OK);
        CHECK_INT(effective(&k, TN_OPTION_DEVICE).origin, TN_CHOICE_REQUEST);
        CHECK_INT(k.plan->survey.policy.option[TN_OPTION_DEVICE].count, 3);
        CHECK_INT(k.plan->survey.policy.option[TN_OPTION_DEVICE].stated[1].origin, TN_CHOICE_HINT);
        expect_round_trip(&k);
        end(&k);
    }
}

TEST(the_fingerprint_does_not_follow_origins)
{
    struct desk k;
    char id[80];
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    REQUIRE(plan(&k, &o) == TN_OK);
    strcpy(id, k.plan->id);
    o.device = "cpu";
    o.numeric = "f32";
    o.hints = EVERYTHING_ON("cpu", "force");
    o.user_hints = "{\"memory\": [{\"action\": \"pin\"}]}";
    REQUIRE(plan(&k, &o) == TN_OK);
    CHECK_STR(k.plan->id, id);
    end(&k);
}

TEST(a_forced_device_that_is_not_here_refuses_the_plan)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.user_hints = EVERYTHING_ON("gpu", "force");
    o.user_hints_name = "mine.json";
    CHECK_INT(plan(&k, &o), TN_PLACEMENT_REFUSED);
    CHECK_STR(k.b.err->primary.file, "mine.json");
    CHECK_STR(k.b.err->primary.element, "/placement/0");
    /* Preferred, it is a note and the plan stands. */
    o.user_hints = EVERYTHING_ON("gpu", "prefer");
    REQUIRE(plan(&k, &o) == TN_OK);
    CHECK_INT(k.plan->row->hints.items[0].outcome, TN_HINT_IS_UNMET);
    CHECK_INT(effective(&k, TN_OPTION_DEVICE).origin, TN_CHOICE_DEFAULT);
    expect_round_trip(&k);
    end(&k);
}

TEST(forces_of_two_origins_that_conflict_refuse_the_plan)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.hints = EVERYTHING_ON("cpu", "force");
    o.user_hints = "{\"placement\": [{\"selector\": {\"layer_range\": {\"start\": 1, \"end\": 5}}, \"device\": {\"type\": \"npu\"}, "
                   "\"strength\": \"force\"}]}";
    CHECK_INT(plan(&k, &o), TN_HINT_CONFLICT);
    CHECK_CONTAINS(k.b.err->primary.message, "layer 1 attention");
    CHECK_CONTAINS(k.b.err->primary.message, "1 node(s)");
    CHECK_CONTAINS(k.b.err->primary.found, "the caller");
    CHECK_CONTAINS(k.b.err->primary.expected, "npu by the user's file of hints (execution_hints.json#/placement/0)");
    end(&k);
}

TEST(hints_that_cannot_be_read_refuse_the_plan)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.hints = "{\"placement\": [{\"selector\": {\"pattern\": \"*\"}, \"device\": {\"type\": \"moon\"}}]}";
    o.user_hints = "not json";
    CHECK_INT(plan(&k, &o), TN_METADATA_INVALID);
    CHECK_STR(k.b.err->primary.file, "hints");
    CHECK_STR(k.b.err->primary.element, "/placement/0/device/type");
    CHECK_INT(k.b.err->count, 2); /* and the other text */
    CHECK_INT(k.b.err->findings[1].code, TN_ARTIFACT_MALFORMED);
    end(&k);
}

TEST(a_users_hint_that_selects_nothing_is_a_warning_of_the_plan)
{
    struct desk k;
    size_t at = 0;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.hints = "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [\"nobody\"]}}]}";
    REQUIRE(plan(&k, &o) == TN_OK);
    const struct tn_finding *f = tn_plan_next_warning(k.plan, &at);
    while (f && f->code != TN_INVALID_REQUEST) f = tn_plan_next_warning(k.plan, &at);
    REQUIRE(f);
    CHECK_STR(f->element, "/memory/0");
    print(&k, k.plan);
    CHECK_CONTAINS(k.text, "\"a hint selects nothing\"");
    end(&k);
}

TEST(changed_hints_make_a_plan_stale_or_another)
{
    struct desk k;
    struct tn_plan *second;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.hints = EVERYTHING_ON("gpu", "prefer");
    REQUIRE(plan(&k, &o) == TN_OK);
    print(&k, k.plan);
    char *at = strstr(k.text, "\\\"gpu\\\"");
    REQUIRE(at);
    memcpy(at, "\\\"cpu\\\"", 7); /* the text now asks for something that has another outcome */
    CHECK_INT(tn_plan_again(&k.b.planner, tn_str_of(k.text), (struct tn_keep){0}, &second, k.b.err), TN_ARTIFACT_STALE);
    CHECK(second == NULL);
    end(&k);
}

TEST(demands_of_the_package_block_a_plan)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    struct tn_str int4 = TN_STR("int4");
    k.d.hardware = (struct tn_hardware){.file = TN_STR("a.yaml"), .pointer = TN_STR("/hardware_requirements"), .has_memory = true,
                                        .memory_gib = 4, .has_degree = true, .tp_degree = 1};
    k.b.planner.defaults.machine_memory = UINT64_C(8) << 30;
    REQUIRE(plan(&k, &o) == TN_OK);
    o.memory_limit = UINT64_C(1) << 30;
    CHECK_INT(plan(&k, &o), TN_RESOURCE_LIMIT);
    CHECK_STR(k.b.err->primary.element, "/hardware_requirements/min_memory_gb");
    o.memory_limit = 0;
    k.b.planner.defaults.machine_memory = UINT64_C(2) << 30;
    k.d.hardware.tp_degree = 2;
    k.d.hardware.required = &int4;
    k.d.hardware.required_count = 1;
    CHECK_INT(plan(&k, &o), TN_RESOURCE_LIMIT);
    CHECK_INT(k.b.err->count, 3);
    end(&k);
}

static struct tn_statement task_option(const struct desk *k, const char *name)
{
    for (uint32_t i = 0; i < k->plan->task_option_count; i++) {
        if (strcmp(k->plan->task_options[i].name, name) == 0) return tn_option_effective(&k->plan->task_options[i]);
    }
    test_fail(__FILE__, __LINE__, "no option %s", name);
    return (struct tn_statement){0};
}

TEST(options_of_the_task_say_who_decided)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    k.d.default_prompt = TN_STR("query");
    k.d.truncate_dim = 4;
    REQUIRE(plan(&k, &o) == TN_OK);
    CHECK_INT(task_option(&k, "role").origin, TN_CHOICE_PACKAGE);
    CHECK(tn_str_is(task_option(&k, "role").value, "\"query\""));
    CHECK_INT(task_option(&k, "dimensions").origin, TN_CHOICE_PACKAGE);
    CHECK(tn_str_is(task_option(&k, "dimensions").value, "4"));
    CHECK_INT(task_option(&k, "max_tokens").origin, TN_CHOICE_PACKAGE);
    CHECK(task_option(&k, "max_tokens").file.n > 0);
    CHECK_INT(task_option(&k, "truncation").origin, TN_CHOICE_DEFAULT);
    CHECK_INT(task_option(&k, "normalize").origin, TN_CHOICE_DEFAULT);
    expect_round_trip(&k);
    CHECK_CONTAINS(k.text, "\"task_options\": {");
    k.d.default_prompt = TN_STR("");
    k.d.truncate_dim = 0;
    REQUIRE(plan(&k, &o) == TN_OK);
    CHECK(tn_str_is(task_option(&k, "role").value, "null"));
    CHECK_INT(task_option(&k, "dimensions").origin, TN_CHOICE_DEFAULT);
    CHECK(tn_str_is(task_option(&k, "dimensions").value, "8"));
    end(&k);
}

/* The n-th allocation fails: a code for it, nothing half made, nothing kept. */
TEST(sweep_of_a_plan_with_hints)
{
    struct desk k;
    REQUIRE(begin(&k));
    tn_plan_options o = bench_options();
    o.hints = EVERYTHING_ON("cpu", "prefer");
    o.user_hints = "{\"memory\": [{\"action\": \"pin\", \"selector\": {\"names\": [\"nobody\"]}}]}";
    bool whole = false;
    uint64_t held = tn_alloc_current(&k.b.alloc);
    for (uint64_t n = 1; !whole && n < 2000; n++) {
        tn_alloc_fail(&k.b.alloc, n, true);
        enum tn_status st = plan(&k, &o);
        whole = k.b.alloc.calls < k.b.alloc.fail_at;
        k.b.alloc.fail_at = 0;
        CHECK_INT(st, whole ? TN_OK : TN_INSUFFICIENT_MEMORY);
        if (!whole) CHECK_INT(tn_alloc_current(&k.b.alloc), held);
        tn_error_clear(k.b.err);
    }
    CHECK(whole);
    end(&k);
}
