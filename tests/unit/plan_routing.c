/*
 * Routing: who runs a plan when several providers are listed. Providers that fail in every way at every stage; what may be
 * fallen back from, what must not be, and where it shows.
 */
#include "session_fake.h"

enum { PLAYERS = 3 };

/* How a provider behaves, and what was asked of it. */
struct player {
    struct tn_provider provider; /* first: its functions find the rest from here */
    enum tn_status at_assess, at_device, at_load, at_invoke; /* TN_OK: that works */
    enum tn_compute computes;
    bool obeys_numeric; /* computes as it is asked, if it can bf16 */
    bool drifts;        /* fails the probe of a load */
    struct tn_partition part;
    bool tells_parts;
    unsigned assessed, devices_probed, loads, invokes, releases;
    struct tn_instance *instance;
};

static struct player players[PLAYERS];
static struct tn_provider_entry entries[PLAYERS];

static struct player *player_of(const struct tn_provider *p)
{
    return (struct player *)(uintptr_t)p;
}

static struct player *owner_of(const struct tn_instance *instance)
{
    for (int i = 0; i < PLAYERS; i++)
        if (players[i].instance == instance) return &players[i];
    return NULL;
}

static void add(struct tn_findings *list, enum tn_status code, const char *name)
{
    struct tn_finding *f = tn_findings_add(list, TN_BLOCKER, code, TN_PHASE_ASSESS, "%s says %s", name, tn_status_name(code));
    if (code == TN_UNSUPPORTED_OPTION) tn_at_option(f, "numeric");
}

static enum tn_status play_assess(const struct tn_provider *p, const struct tn_component_request *request, struct tn_assessment *out,
                                  struct tn_error *err)
{
    struct player *me = player_of(p);
    enum tn_status st = fake_assess(p, request, out, err);
    me->assessed++;
    out->numeric.compute = me->obeys_numeric && strcmp(request->numeric, "bf16") == 0 ? TN_COMPUTE_BF16 : me->computes;
    if (!me->at_assess) return st;
    if (me->at_assess == TN_UNSUPPORTED_OPTION && strcmp(request->numeric, "f32") == 0) return st; /* lacks bf16 alone */
    add(&out->findings, me->at_assess, p->name);
    out->decision = TN_UNSUPPORTED;
    return st;
}

static enum tn_status play_device(const struct tn_provider *p, const struct tn_component_request *request, struct tn_findings *findings,
                                  struct tn_error *err)
{
    struct player *me = player_of(p);
    (void)request;
    (void)err;
    me->devices_probed++;
    if (me->at_device) tn_findings_add(findings, TN_BLOCKER, me->at_device, TN_PHASE_ASSESS, "the driver of %s says: no such device", p->name);
    return TN_OK;
}

static enum tn_status play_load(const struct tn_assessment *a, const struct tn_component_request *request, const struct tn_load_env *env,
                                struct tn_instance **out, struct tn_error *err)
{
    struct player *me = player_of(a->provider);
    me->loads++;
    *out = NULL;
    if (me->at_load) {
        tn_error_set(err, me->at_load, TN_PHASE_LOAD, "%s cannot load: %s", a->provider->name, tn_status_name(me->at_load));
        return me->at_load;
    }
    enum tn_status st = fake_load(a, request, env, out, err);
    me->instance = *out;
    return st;
}

static enum tn_status play_invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err)
{
    struct player *me = owner_of(instance);
    bool probing = me->invokes++ < 2; /* a load asks twice */
    if (!probing && me->at_invoke) {
        tn_error_set(err, me->at_invoke, TN_PHASE_EXECUTE, "%s cannot go on", me->provider.name);
        return me->at_invoke;
    }
    fake.drifting = me->drifts;
    enum tn_status st = fake_invoke(instance, call, err);
    fake.drifting = false;
    return st;
}

static void play_release(struct tn_instance *instance)
{
    struct player *me = owner_of(instance);
    if (me) me->releases++;
    if (me) me->instance = NULL;
    fake_release(instance);
}

static size_t play_partitions(const struct tn_instance *instance, const struct tn_partition **out)
{
    struct player *me = owner_of(instance);
    *out = &me->part;
    return me->tells_parts ? 1 : 0;
}

static const struct tn_hint_device cpu_and_gpu[] = {{TN_DEVICE_CPU, true, 0}, {TN_DEVICE_GPU, true, 0}};

static bool open_players(struct bench *b, struct tn_counters *counters)
{
    static const char *const names[PLAYERS] = {"first", "second", "third"};
    memset(&fake, 0, sizeof(fake));
    memset(players, 0, sizeof(players));
    memset(counters, 0, sizeof(*counters));
    for (int i = 0; i < PLAYERS; i++) {
        players[i].provider = (struct tn_provider){
            .name = names[i], .version = "1", .scope = "component", .describe = fake_describe, .assess = play_assess, .write = fake_write,
            .fingerprint = fake_fingerprint, .load = play_load, .invoke = play_invoke, .weights = fake_weights, .release = play_release,
            .partitions = play_partitions,
        };
        entries[i] = (struct tn_provider_entry){names[i], &players[i].provider, NULL};
    }
    if (!bench_open(b, test_path("golden/packages/bert_options"))) return false;
    b->ctx.counters = counters;
    b->planner.providers = entries;
    b->planner.provider_count = PLAYERS;
    return true;
}

static tn_plan_options ask(const char *providers, const char *fallback)
{
    tn_plan_options o = bench_options();
    o.provider = providers;
    o.fallback = fallback;
    return o;
}

static bool document_has(struct bench *b, const char *part)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &b->alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    tn_plan_write(&w, b->plan);
    bool has = text.data && strstr(text.data, part);
    tn_buf_release(&text);
    return has;
}

static bool account_has(struct bench *b, const char *part)
{
    tn_string one = bench_text("a");
    struct tn_buf text;
    struct tn_json_writer w;
    size_t items;
    struct tn_execution *x = bench_start(b, &one, 1, 0);
    if (!x || bench_pull_all(x, &items, b->err)) return false;
    tn_execution_wait(x, UINT32_MAX, b->err);
    tn_buf_init(&text, &b->alloc, 1 << 20);
    tn_jw_init(&w, &text, false);
    bool has = tn_execution_account_write(x, NULL, &w, b->err) == TN_OK && text.data && strstr(text.data, part);
    if (!has && text.data) printf("  account: %s\n", text.data);
    tn_buf_release(&text);
    tn_execution_end(x);
    return has;
}

/* ---- planning ---- */

static const enum tn_status inabilities[] = {TN_UNSUPPORTED_OPERATOR, TN_UNSUPPORTED_CONFIG,   TN_UNSUPPORTED_QUANTIZATION, TN_MISSING_CAPABILITY,
                                             TN_PROVIDER_UNAVAILABLE, TN_VERSION_UNQUALIFIED, TN_PLACEMENT_REFUSED};
static const enum tn_status binding[] = {
    TN_ARTIFACT_MISSING, TN_ARTIFACT_STALE, TN_ARTIFACT_MALFORMED, TN_PATH_ESCAPE, TN_METADATA_INVALID, TN_MISSING_TENSOR, TN_UNEXPECTED_TENSOR,
    TN_TENSOR_MISMATCH, TN_DUPLICATE_TENSOR, TN_CUSTOM_CODE_DENIED, TN_NETWORK_DENIED, TN_RESOURCE_LIMIT, TN_INSUFFICIENT_MEMORY,
    TN_RUNTIME_FAILURE, TN_NUMERICAL_FAILURE};

TEST(one_that_cannot_is_followed_by_the_next_in_the_callers_order)
{
    struct bench b;
    struct tn_counters counters;
    for (size_t i = 0; i < sizeof(inabilities) / sizeof(inabilities[0]); i++) {
        REQUIRE(open_players(&b, &counters));
        tn_plan_options o = ask("third, first, second", NULL);
        players[2].at_assess = inabilities[i];
        REQUIRE(bench_plan(&b, &o));
        CHECK_STR(b.plan->row->entry->name, "first");
        CHECK(document_has(&b, "\"exclusions\":[{\"provider\":\"third\",\"decision\":\"unsupported\",\"at\":\"plan\""));
        CHECK(document_has(&b, tn_status_name(inabilities[i])));
        CHECK(document_has(&b, "\"fallback\":[\"third\",\"first\",\"second\"]"));
        CHECK_INT(counters.fallbacks_at_plan, 1);
        CHECK_INT(counters.fallbacks_denied, 0);
        REQUIRE(bench_load(&b, NULL) == TN_OK);
        CHECK(account_has(&b, "\"fallbacks\":1,\"skipped\":[{\"provider\":\"third\",\"at\":\"plan\""));
        CHECK_INT(players[0].loads, 1);
        CHECK_INT(players[1].loads + players[2].loads, 0);
        CHECK_INT(counters.loads, 1);
        bench_end(&b);
    }
}

TEST(what_is_wrong_with_the_package_never_falls_through)
{
    struct bench b;
    struct tn_counters counters;
    for (size_t i = 0; i < sizeof(binding) / sizeof(binding[0]); i++) {
        REQUIRE(open_players(&b, &counters));
        tn_plan_options o = ask("first,second", "load");
        players[0].at_assess = binding[i];
        CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), binding[i]);
        CHECK_CONTAINS(b.err->primary.message, "first says");
        CHECK_INT(counters.fallbacks_at_plan, 0);
        CHECK_INT(counters.fallbacks_denied, 1);
        /* nor over one that cannot in front of it */
        players[0].at_assess = TN_UNSUPPORTED_OPERATOR;
        players[1].at_assess = binding[i];
        o = ask("first,second,third", "load");
        CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), binding[i]);
        CHECK_CONTAINS(b.err->primary.message, "second says");
        struct tn_survey s;
        REQUIRE(tn_survey_make(&s, &b.planner, &o, NULL, true, b.err) == TN_OK);
        CHECK(s.decision != TN_ELIGIBLE);
        tn_survey_release(&s);
        bench_end(&b);
    }
}

TEST(nobody_stands_in_who_is_not_listed)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first", "load");
    players[0].at_assess = TN_UNSUPPORTED_OPERATOR;
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPERATOR);
    CHECK_INT(players[1].assessed + players[2].assessed, 0);
    players[0].at_assess = TN_OK;
    players[0].at_load = TN_UNSUPPORTED_OPERATOR;
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(bench_load(&b, NULL), TN_UNSUPPORTED_OPERATOR);
    CHECK_INT(players[1].loads + players[2].loads, 0);
    bench_end(&b);
}

/* ---- devices, types, placement ---- */

TEST(a_plan_for_the_cpu_never_looks_at_a_device)
{
    struct bench b;
    struct tn_counters counters;
    struct tn_survey s;
    REQUIRE(open_players(&b, &counters));
    for (int i = 0; i < PLAYERS; i++) players[i].provider.probe_device = play_device;
    static const char *const cpus[] = {NULL, "cpu", "cpu:0"};
    for (size_t i = 0; i < 3; i++) {
        tn_plan_options o = ask("first,second,third", "load");
        o.device = cpus[i];
        o.placement = i == 1 ? "split" : NULL;
        REQUIRE(tn_survey_make(&s, &b.planner, &o, NULL, true, b.err) == TN_OK);
        tn_survey_release(&s);
        REQUIRE(bench_plan(&b, &o));
        REQUIRE(bench_load(&b, NULL) == TN_OK);
        bench_close_session(&b);
        tn_plan_drop(b.plan);
        b.plan = NULL;
    }
    CHECK_INT(players[0].devices_probed + players[1].devices_probed + players[2].devices_probed, 0);
    CHECK_INT(players[0].assessed, 6);
    bench_end(&b);
}

TEST(a_device_that_is_not_there_is_refused_with_the_loaders_reason)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    players[0].provider.probe_device = play_device;
    players[0].at_device = TN_PLACEMENT_REFUSED;
    tn_plan_options o = ask("first", NULL);
    o.device = "gpu:0";
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_PLACEMENT_REFUSED);
    CHECK_STR(b.err->primary.message, "the driver of first says: no such device");
    /* Others are asked for the same device, and not for another. */
    o.provider = "first,second";
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_PLACEMENT_REFUSED);
    CHECK_INT(b.err->count, 2);
    CHECK_STR(b.err->findings[1].found, "gpu:0");
    CHECK_STR(b.err->findings[1].expected, "cpu");
    players[1].provider.devices = cpu_and_gpu;
    players[1].provider.device_count = 2;
    REQUIRE(bench_plan(&b, &o));
    CHECK_STR(b.plan->row->entry->name, "second");
    CHECK_INT(b.plan->row->request.device.type, TN_DEVICE_GPU);
    CHECK(document_has(&b, "\"placement\":{\"device\":\"gpu:0\",\"policy\":\"strict\"}"));
    CHECK(document_has(&b, "no such device"));
    bench_end(&b);
}

TEST(a_requested_number_type_is_never_dropped)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first,second", NULL);
    o.numeric = "bf16";
    /* both would quietly compute in f32 */
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPTION);
    CHECK_STR(b.err->primary.found, "f32");
    CHECK_STR(b.err->primary.expected, "bf16");
    players[1].obeys_numeric = true;
    REQUIRE(bench_plan(&b, &o));
    CHECK_STR(b.plan->row->entry->name, "second");
    CHECK(document_has(&b, "\"compute\":\"bf16\""));
    tn_plan_drop(b.plan);
    b.plan = NULL;
    /* and a provider that computes in less than was asked is refused as well */
    o = ask("first", NULL);
    players[0].computes = TN_COMPUTE_BF16;
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPTION);
    CHECK_STR(b.err->primary.expected, "f32");
    bench_end(&b);
}

TEST(precision_changes_only_with_permission_and_in_sight)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first", NULL);
    o.numeric = "bf16";
    players[0].at_assess = TN_UNSUPPORTED_OPTION;
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPTION);
    o.precision = "change";
    REQUIRE(bench_plan(&b, &o));
    CHECK(document_has(&b, "\"compute\":\"f32\""));
    CHECK(document_has(&b, "\"precision_may_change\":true"));
    CHECK_INT(counters.precision_changes, 1);
    size_t at = 0;
    const struct tn_finding *f = tn_plan_next_warning(b.plan, &at);
    REQUIRE(f);
    CHECK_STR(f->found, "f32");
    CHECK_STR(f->expected, "bf16");
    REQUIRE(bench_load(&b, NULL) == TN_OK);
    CHECK(account_has(&b, "another one stands in, as is permitted"));
    bench_end(&b);
    /* another reason beside it is not got round by that */
    REQUIRE(open_players(&b, &counters));
    players[0].at_assess = TN_UNSUPPORTED_OPERATOR;
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPERATOR);
    o.precision = "perhaps";
    CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_UNSUPPORTED_OPTION);
    CHECK_STR(b.err->primary.expected, "keep or change");
    bench_end(&b);
}

TEST(strict_placement_is_held_against_where_parts_really_are)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    for (int i = 0; i < PLAYERS; i++) {
        players[i].provider.devices = cpu_and_gpu;
        players[i].provider.device_count = 2;
        players[i].tells_parts = true;
        players[i].part = (struct tn_partition){{TN_DEVICE_CPU, true, 0}, TN_STR("some CPU code"), 7};
    }
    tn_plan_options o = ask("first", NULL);
    o.device = "gpu";
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(bench_load(&b, NULL), TN_PLACEMENT_REFUSED);
    CHECK_STR(b.err->primary.found, "7 nodes on cpu:0 by some CPU code");
    CHECK_STR(b.err->primary.expected, "gpu");
    CHECK(b.session == NULL);
    CHECK_INT(players[0].releases, 1);
    tn_plan_drop(b.plan);
    b.plan = NULL;
    o.placement = "split";
    REQUIRE(bench_plan(&b, &o));
    REQUIRE(bench_load(&b, NULL) == TN_OK);
    CHECK(account_has(&b, "\"placement\":{\"device\":\"gpu\",\"policy\":\"split\",\"partitions\":[{\"device\":\"cpu:0\",\"by\":\"some CPU code\",\"nodes\":7}]}"));
    bench_end(&b);
    /* another accelerator is no help that was allowed */
    REQUIRE(open_players(&b, &counters));
    players[0].tells_parts = true;
    players[0].part = (struct tn_partition){{TN_DEVICE_GPU, true, 0}, TN_STR("some GPU code"), 1};
    o = ask("first", NULL);
    o.placement = "split";
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(bench_load(&b, NULL), TN_PLACEMENT_REFUSED);
    bench_end(&b);
}

TEST(code_is_permitted_by_digest_alone)
{
    struct bench b;
    struct tn_counters counters;
    char list[160];
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first", NULL);
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(b.plan->row->request.code_count, 0);
    CHECK(document_has(&b, "\"trust\":\"no code of the package runs\",\"code\":[]"));
    tn_plan_drop(b.plan);
    b.plan = NULL;
    static const char *const wrong[] = {"", "yes", "/lib/custom_ops.so", "0123", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        o.allow_code = wrong[i];
        CHECK_INT(tn_plan_make(&b.planner, &o, NULL, (struct tn_keep){0}, &b.plan, b.err), TN_INVALID_REQUEST);
        CHECK_STR(b.err->primary.element, "allow_code");
    }
    const char *hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    struct tn_digest empty = tn_sha256_of("", 0);
    snprintf(list, sizeof(list), "%s, %s", hex, hex);
    o.allow_code = list;
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(b.plan->row->request.code_count, 2);
    CHECK(tn_digest_eq(&b.plan->row->request.code[1], &empty));
    CHECK(document_has(&b, "\"code\":[\"e3b0c442"));
    bench_end(&b);
}

/* ---- loading ---- */

TEST(a_load_falls_back_only_where_the_policy_says_so)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    players[0].at_load = TN_UNSUPPORTED_OPERATOR;
    tn_plan_options o = ask("first,second", NULL);
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(bench_load(&b, NULL), TN_UNSUPPORTED_OPERATOR);
    CHECK(b.session == NULL);
    CHECK_INT(players[1].loads, 0);
    tn_plan_drop(b.plan);
    b.plan = NULL;
    o.fallback = "load";
    REQUIRE(bench_plan(&b, &o));
    CHECK_STR(b.plan->row->entry->name, "first");
    REQUIRE(bench_load(&b, NULL) == TN_OK);
    CHECK_STR(b.session->plan->row->entry->name, "second");
    CHECK(strcmp(b.session->plan->id, b.plan->id) != 0);
    CHECK_INT(players[0].loads, 2);
    CHECK_INT(players[1].loads, 1);
    CHECK_INT(players[0].invokes, 0);
    CHECK_INT(counters.fallbacks_at_load, 1);
    CHECK_INT(counters.loads, 1);
    CHECK(account_has(&b, "\"fallbacks\":1,\"skipped\":[{\"provider\":\"first\",\"at\":\"load\",\"code\":\"unsupported_operator\",\"message\":\"first cannot load"));
    bench_end(&b);
}

TEST(a_load_falls_back_more_than_once)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    players[0].at_load = TN_UNSUPPORTED_OPERATOR;
    players[1].at_load = TN_PROVIDER_UNAVAILABLE;
    tn_plan_options o = ask("first,second,third", "load");
    REQUIRE(bench_plan(&b, &o));
    REQUIRE(bench_load(&b, NULL) == TN_OK);
    CHECK_STR(b.session->plan->row->entry->name, "third");
    CHECK_INT(b.session->plan->skipped, 2);
    CHECK(account_has(&b, "\"fallbacks\":2"));
    CHECK_INT(counters.fallbacks_at_load, 2);
    CHECK_INT(counters.fallbacks_at_plan, 0);
    bench_close_session(&b);
    players[2].at_load = TN_UNSUPPORTED_CONFIG;
    CHECK_INT(bench_load(&b, NULL), TN_UNSUPPORTED_CONFIG); /* all have failed: the last word, and those before it */
    CHECK(b.session == NULL);
    CHECK_INT(b.err->count, 2);
    CHECK_INT(b.err->findings[0].code, TN_UNSUPPORTED_OPERATOR);
    CHECK_INT(b.err->findings[1].code, TN_PROVIDER_UNAVAILABLE);
    bench_end(&b);
}

TEST(a_load_that_finds_the_package_broken_is_the_end)
{
    struct bench b;
    struct tn_counters counters;
    for (size_t i = 0; i < sizeof(binding) / sizeof(binding[0]); i++) {
        REQUIRE(open_players(&b, &counters));
        tn_plan_options o = ask("first,second", "load");
        players[0].at_load = binding[i];
        REQUIRE(bench_plan(&b, &o));
        CHECK_INT(bench_load(&b, NULL), binding[i]);
        CHECK_CONTAINS(b.err->primary.message, "first cannot load");
        CHECK(b.session == NULL);
        CHECK_INT(players[1].loads, 0);
        CHECK_INT(counters.fallbacks_at_load, 0);
        CHECK_INT(counters.fallbacks_denied, 1);
        bench_end(&b);
    }
}

TEST(a_failed_probe_leaves_nobody_ready)
{
    struct bench b;
    struct tn_counters counters;
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first,second", "load");
    players[0].drifts = true; /* other bits each time: found by the probe */
    REQUIRE(bench_plan(&b, &o));
    CHECK_INT(bench_load(&b, NULL), TN_NUMERICAL_FAILURE);
    CHECK(b.session == NULL);
    CHECK(players[0].instance == NULL);
    CHECK_INT(players[0].releases, 1);
    CHECK_INT(players[1].loads, 0); /* wrong numbers are no inability */
    CHECK_INT(counters.loads, 0);
    bench_end(&b);
}

TEST(a_cancelled_load_is_not_tried_elsewhere)
{
    struct bench b;
    struct tn_counters counters;
    struct tn_cancel cancel = {0};
    REQUIRE(open_players(&b, &counters));
    tn_plan_options o = ask("first,second", "load");
    players[0].at_load = TN_UNSUPPORTED_OPERATOR;
    REQUIRE(bench_plan(&b, &o));
    cancel.requested = true;
    CHECK_INT(bench_load(&b, &cancel), TN_CANCELLED);
    CHECK_INT(players[0].loads + players[1].loads, 0);
    bench_end(&b);
}

/* ---- running ---- */

TEST(nothing_falls_back_once_a_session_is_there)
{
    struct bench b;
    struct tn_counters counters;
    static const enum tn_status codes[] = {TN_UNSUPPORTED_OPERATOR, TN_RUNTIME_FAILURE, TN_SHAPE_OUTSIDE_ENVELOPE};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        REQUIRE(open_players(&b, &counters));
        tn_plan_options o = ask("first,second", "load");
        players[0].at_invoke = codes[i];
        REQUIRE(bench_plan(&b, &o));
        REQUIRE(bench_load(&b, NULL) == TN_OK);
        tn_string one = bench_text("a");
        size_t items = 0;
        struct tn_execution *x = bench_start(&b, &one, 1, 0);
        REQUIRE(x);
        CHECK_INT(bench_pull_all(x, &items, b.err), codes[i]);
        CHECK_INT(items, 0);
        tn_execution_end(x);
        CHECK_INT(players[1].loads + players[1].invokes, 0);
        CHECK_INT(counters.fallbacks_at_load, 0);
        bench_end(&b);
    }
}
