/*
 * The plan document: fingerprint, printing, and using a printed plan. Whatever changed since is named with both values;
 * what is no plan of ours is refused.
 */
#include "session_fake.h"

struct printed {
    char *text;
    size_t length;
};

static struct printed print_plan(struct bench *b, const struct tn_plan *plan)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct printed p = {NULL, 0};
    tn_buf_init(&text, &b->alloc, 1 << 20);
    tn_jw_init(&w, &text, true);
    tn_plan_write(&w, plan);
    CHECK_INT(tn_buf_status(&text), TN_OK);
    p.text = malloc(text.len + 1);
    memcpy(p.text, text.data, text.len + 1);
    p.length = text.len;
    tn_buf_release(&text);
    return p;
}

/* The text with the first `from` replaced. */
static struct printed replaced(const struct printed *p, const char *from, const char *to)
{
    char *at = strstr(p->text, from);
    struct printed out = {NULL, 0};
    if (!at) {
        test_fail(__FILE__, __LINE__, "the plan holds no %s", from);
        return out;
    }
    out.length = p->length - strlen(from) + strlen(to);
    out.text = malloc(out.length + 1);
    size_t before = (size_t)(at - p->text);
    memcpy(out.text, p->text, before);
    memcpy(out.text + before, to, strlen(to));
    strcpy(out.text + before + strlen(to), at + strlen(from));
    return out;
}

static enum tn_status again(struct bench *b, const struct printed *p, struct tn_plan **out)
{
    return tn_plan_again(&b->planner, (struct tn_str){p->text, p->length}, (struct tn_keep){0}, out, b->err);
}

static void expect_again(struct bench *b, const struct printed *p, const char *from, const char *to, enum tn_status code,
                         const char *pointer)
{
    struct tn_plan *plan;
    struct printed changed = replaced(p, from, to);
    if (!changed.text) return;
    CHECK_INT(again(b, &changed, &plan), code);
    CHECK(plan == NULL);
    if (strcmp(b->err->primary.element, pointer) != 0) {
        test_fail(__FILE__, __LINE__, "%s -> %s: at \"%s\" instead of \"%s\": %s", from, to, b->err->primary.element,
                  pointer, b->err->primary.message);
    }
    free(changed.text);
}

static bool begin(struct bench *b, const char *name)
{
    char path[256];
    tn_plan_options o = bench_options();
    memset(&fake, 0, sizeof(fake));
    snprintf(path, sizeof(path), "golden/packages/%s", name);
    return bench_open(b, test_path(path)) && bench_plan(b, &o);
}

TEST(a_printed_plan_can_be_used)
{
    struct bench b;
    struct tn_plan *second;
    REQUIRE(begin(&b, "bert_options"));
    struct printed p = print_plan(&b, b.plan);
    REQUIRE(again(&b, &p, &second) == TN_OK);
    CHECK_STR(second->id, b.plan->id);
    struct printed q = print_plan(&b, second);
    CHECK_STR(q.text, p.text); /* origins and all */
    tn_plan_drop(second);
    free(q.text);
    free(p.text);
    bench_end(&b);
}

TEST(what_changed_is_named_with_both_values)
{
    struct bench b;
    REQUIRE(begin(&b, "bert_options"));
    struct printed p = print_plan(&b, b.plan);
    char manifest[64];
    char hex[TN_SHA256_HEX];
    tn_digest_hex(&b.inv->manifest, hex);
    snprintf(manifest, sizeof(manifest), "\"manifest\": \"%.8s", hex);
    expect_again(&b, &p, manifest, "\"manifest\": \"00000000", TN_ARTIFACT_STALE, "/package/manifest");
    CHECK_CONTAINS(b.err->primary.message, "the package's files changed");
    CHECK_CONTAINS(b.err->primary.found, hex);
    CHECK_CONTAINS(b.err->primary.expected, "00000000");
    expect_again(&b, &p, "\"build\": {\n    \"version\": \"", "\"build\": {\n    \"version\": \"9", TN_ARTIFACT_STALE,
                 "/build/version");
    expect_again(&b, &p, "\"isa_class\": \"fake-isa\"", "\"isa_class\": \"other-isa\"", TN_ARTIFACT_STALE,
                 "/machine/isa_class");
    CHECK_CONTAINS(b.err->primary.message, "machine class");
    CHECK_CONTAINS(b.err->primary.found, "fake-isa");
    CHECK_CONTAINS(b.err->primary.expected, "other-isa");
    expect_again(&b, &p, "\"id\": \"", "\"id\": \"f", TN_ARTIFACT_STALE, "/id");
    expect_again(&b, &p, "\"compute\": \"f32\"", "\"compute\": \"bf16\"", TN_ARTIFACT_STALE, "/numeric/compute");
    expect_again(&b, &p, "\"max_tokens\": 32", "\"max_tokens\": 33", TN_ARTIFACT_STALE, "/recipe/max_tokens");
    free(p.text);
    bench_end(&b);
}

TEST(options_of_the_document_bind_the_plan)
{
    struct bench b;
    struct tn_plan *plan;
    REQUIRE(begin(&b, "bert_options"));
    struct printed p = print_plan(&b, b.plan);
    /* The machine has other defaults now; a plan keeps what it says. */
    b.planner.defaults.threads = 7;
    b.planner.defaults.memory_limit = 123456789;
    REQUIRE(again(&b, &p, &plan) == TN_OK);
    CHECK_INT(plan->survey.policy.threads, 2);
    CHECK_INT(plan->survey.policy.memory_limit, 0);
    tn_plan_drop(plan);
    /* An option that planning refuses is refused here as well. */
    expect_again(&b, &p, "\"value\": \"cpu\"", "\"value\": \"gpu\"", TN_PLACEMENT_REFUSED, "device");
    expect_again(&b, &p, "\"value\": \"embedding.dense\"", "\"value\": \"embedding.none\"", TN_UNSUPPORTED_TASK, "task");
    free(p.text);
    bench_end(&b);
}

TEST(what_is_no_plan_is_refused)
{
    struct bench b;
    struct tn_plan *plan;
    REQUIRE(begin(&b, "bert_options"));
    struct printed p = print_plan(&b, b.plan);
    expect_again(&b, &p, "{\n", "{\n  \"run\": \"rm\",\n", TN_METADATA_INVALID, "/run");
    expect_again(&b, &p, "\"placement\": {\n    \"device\"", "\"placement\": {\n    \"speed\": 1,\n    \"device\"", TN_METADATA_INVALID,
                 "/placement/speed");
    expect_again(&b, &p, "\"contract\"", "\"contrast\"", TN_METADATA_INVALID, "/contrast");
    expect_again(&b, &p, TN_PLAN_SCHEMA, "tenon.plan/9", TN_METADATA_INVALID, "/schema");
    expect_again(&b, &p, "\"value\": 2", "\"value\": -2", TN_METADATA_INVALID, "/options/threads/value");
    expect_again(&b, &p, "\"value\": 2", "\"value\": 18446744073709551616", TN_METADATA_INVALID, "/options/threads/value");
    expect_again(&b, &p, "\"origin\": \"request\"", "\"origin\": \"heaven\"", TN_METADATA_INVALID, "/options/task/origin");
    static const char *const hostile[] = {
        "", "null", "[]", "\"tenon.plan/1\"", "{}", "{\"schema\":\"tenon.plan/1\"}", "{\"schema\":1}",
        "{\"schema\":\"tenon.plan/1\",\"schema\":\"tenon.plan/1\"}", "{\"schema\":\"tenon.plan/1\",\"options\":[]}",
        "{\"schema\":\"tenon.plan/1\",\"package\":{\"manifest\":0},\"build\":{}}", "{\"schema\":\"tenon.plan/1\"",
    };
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        struct printed h = {(char *)(uintptr_t)hostile[i], strlen(hostile[i])};
        enum tn_status st = again(&b, &h, &plan);
        CHECK(st == TN_METADATA_INVALID || st == TN_ARTIFACT_MALFORMED);
        CHECK(plan == NULL);
    }
    /* Deep nesting where a scalar stands. */
    struct printed deep = {malloc(70000), 0};
    deep.length = (size_t)sprintf(deep.text, "{\"schema\":\"tenon.plan/1\",\"id\":");
    for (int i = 0; i < 30000; i++) deep.text[deep.length++] = '[';
    deep.text[deep.length] = 0;
    CHECK(again(&b, &deep, &plan) != TN_OK);
    free(deep.text);
    free(p.text);
    bench_end(&b);
}

/* Every prefix and many single-byte changes: never a crash, never accepted unless it is the same plan. */
TEST(damaged_plans_are_never_accepted_as_another)
{
    struct bench b;
    uint64_t seed = 7;
    REQUIRE(begin(&b, "bert_options"));
    struct printed p = print_plan(&b, b.plan);
    for (int i = 0; i < 400; i++) {
        struct tn_plan *plan;
        struct printed c = {malloc(p.length + 1), p.length};
        memcpy(c.text, p.text, p.length + 1);
        size_t at = (size_t)(test_random(&seed) % p.length);
        if (i % 4 == 0) c.length = at;
        c.text[at] = (char)test_random(&seed);
        if (again(&b, &c, &plan) == TN_OK) {
            CHECK_STR(plan->id, b.plan->id);
            tn_plan_drop(plan);
        }
        free(c.text);
    }
    free(p.text);
    bench_end(&b);
}

/* ---- fingerprint ---- */

static void id_of(struct bench *b, const char *name, char *out)
{
    if (begin(b, name)) strcpy(out, b->plan->id);
    else strcpy(out, "none");
}

TEST(the_fingerprint_follows_what_decides_answers)
{
    struct bench a, b;
    char one[80], two[80];
    id_of(&a, "bert_options", one);
    id_of(&b, "bert_options", two);
    CHECK_STR(two, one);
    bench_end(&b);
    id_of(&b, "bert_pool_max", two);
    CHECK(strcmp(one, two) != 0);
    bench_end(&b);
    /* Threads and memory do not decide answers. */
    tn_plan_options o = bench_options();
    o.threads = 1;
    o.memory_limit = UINT64_C(1) << 40;
    tn_plan_drop(a.plan);
    REQUIRE(bench_plan(&a, &o));
    CHECK_STR(a.plan->id, one);
    bench_end(&a);
}
