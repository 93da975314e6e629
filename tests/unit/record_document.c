/* Record documents: levels from failed checks, ids that notice a change, what still holds when something has changed. */
#include "record_sample.h"

#include "record/digest.h"

#include <stdlib.h>

static char *written(struct sample *s, const struct tn_record *r)
{
    struct tn_buf text;
    tn_buf_init(&text, &s->alloc, 1 << 20);
    if (tn_record_write(r, &text, &s->err)) return NULL;
    return tn_buf_take(&text, NULL);
}

static enum tn_status read_text(struct sample *s, const char *text, struct tn_record_index *index)
{
    struct tn_json_doc doc;
    enum tn_status status =
        tn_json_parse_copy(&doc, &s->alloc, &s->ctx.limits, TN_STR("record"), tn_str_of(text), &s->err);
    if (status) return status;
    status = tn_record_read(tn_json_root(&doc), index, &s->err);
    tn_json_release(&doc);
    return status;
}

TEST(level_is_below_the_lowest_failed_check)
{
    struct sample *s = sample_new(NULL);
    static const struct {
        enum tn_level failing, level;
        bool passed;
    } cases[] = {{TN_LEVEL_RECOGNISED, TN_LEVEL_REFERENCE_QUALIFIED, true},
                 {TN_LEVEL_REFERENCE_QUALIFIED, TN_LEVEL_LOADS, false},
                 {TN_LEVEL_LOADS, TN_LEVEL_STRUCTURALLY_VALID, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_record r;
        sample_record(&r, s, 1);
        sample_checks(&r, cases[i].failing);
        CHECK_INT(tn_record_level(&r), cases[i].level);
        CHECK_INT(tn_record_passed(&r), cases[i].passed);
        tn_record_release(&r);
    }
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

TEST(a_failure_is_never_hidden_by_a_later_skip)
{
    struct sample *s = sample_new(NULL);
    struct tn_record r;
    sample_record(&r, s, 1);
    struct tn_check *c = tn_record_check(&r, "x", TN_LEVEL_LOADS, "it holds", NULL);
    tn_check_fail(c, "first %s", "reason");
    tn_check_skip(c, "second reason");
    tn_check_fail(c, "third reason");
    CHECK_INT(c->outcome, TN_CHECK_FAILED);
    CHECK_STR(c->detail, "first reason");
    tn_record_release(&r);
}

TEST(times_are_civil_utc)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } cases[] = {{0, "\"created\":\"1970-01-01T00:00:00Z\""},
                 {951782399, "\"created\":\"2000-02-28T23:59:59Z\""},
                 {951782400, "\"created\":\"2000-02-29T00:00:00Z\""},
                 {4107542400, "\"created\":\"2100-03-01T00:00:00Z\""},
                 {1795981440, "\"created\":\"2026-11-29T19:44:00Z\""},
                 {-1, "\"created\":\"1969-12-31T23:59:59Z\""}};
    struct sample *s = sample_new(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_record r;
        sample_record(&r, s, cases[i].seconds);
        char *text = written(s, &r);
        CHECK_CONTAINS(text, cases[i].text);
        tn_free(&s->alloc, text);
        tn_record_release(&r);
    }
}

TEST(a_document_reads_back)
{
    struct sample *s = sample_new(NULL);
    struct tn_record r;
    struct tn_record_index index;
    struct tn_json_doc doc;
    sample_record(&r, s, 1795981440);
    sample_checks(&r, TN_LEVEL_REFERENCE_QUALIFIED);
    char *text = written(s, &r), *again = written(s, &r);
    CHECK_STR(text, again);
    REQUIRE(tn_json_parse(&doc, &s->alloc, &s->ctx.limits, TN_STR("r"), tn_str_of(text), &s->err) == TN_OK);
    REQUIRE(tn_record_read(tn_json_root(&doc), &index, &s->err) == TN_OK);
    CHECK_INT(strlen(index.id), TN_RECORD_ID);
    CHECK_INT(index.level, TN_LEVEL_LOADS);
    CHECK(!index.passed);
    CHECK_INT(index.created, 1795981440);
    CHECK_INT(index.failures, 1);
    CHECK(tn_str_is(index.package, "sample"));
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) {
        CHECK(tn_str_eq(index.facts.value[i], r.facts.value[i]));
        CHECK_INT(index.needed[i], tn_dependency_level((enum tn_dependency)i));
    }
    /* What was skipped is an exclusion beside those of the suite. */
    CHECK_CONTAINS(text, "\"exclusions\":[\"only the CPU was tried\",\"third: no prompts\"]");
    CHECK_CONTAINS(text, "\"failures\":[{\"id\":\"second\",\"detail\":\"0.5 is not 0.25\"}]");
    tn_json_release(&doc);
    tn_free(&s->alloc, text);
    tn_free(&s->alloc, again);
    tn_record_release(&r);
    CHECK_INT(tn_alloc_current(&s->alloc), 0);
}

/* The text with one part replaced; malloc'd. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *out = at ? malloc(strlen(text) + strlen(to) + 64) : NULL;
    if (!out) return NULL;
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), to);
    strcat(out, at + strlen(from));
    return out;
}

TEST(an_edited_document_is_refused)
{
    static const char *const edits[][2] = {{"\"level\":\"loads\"", "\"level\":\"reference_qualified\""},
                                           {"\"passed\":false", "\"passed\":true"},
                                           {"0.5 is not 0.25", "0.5 is not 0.26"},
                                           {"\"max_abs\":0.25", "\"max_abs\":0.125"},
                                           {"\"aa11\"", "\"aa12\""},
                                           {"\"cpu\"", "null"}};
    struct sample *s = sample_new(NULL);
    struct tn_record r;
    struct tn_record_index index;
    sample_record(&r, s, 5);
    sample_checks(&r, TN_LEVEL_REFERENCE_QUALIFIED);
    char *text = written(s, &r);
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        char *edited = replaced(text, edits[i][0], edits[i][1]);
        REQUIRE(edited);
        CHECK_INT(read_text(s, edited, &index), TN_ARTIFACT_MALFORMED);
        CHECK_STR(s->err.primary.element, "/id");
        free(edited);
    }
    tn_free(&s->alloc, text);
    tn_record_release(&r);
}

TEST(white_space_and_number_spelling_do_not_matter)
{
    struct sample *s = sample_new(NULL);
    struct tn_record r;
    struct tn_record_index index;
    sample_record(&r, s, 5);
    sample_checks(&r, TN_LEVEL_RECOGNISED);
    char *text = written(s, &r);
    char *spaced = replaced(text, "\"passed\":true", "\n  \"passed\" :\ttrue");
    REQUIRE(spaced);
    char *spelled = replaced(spaced, "\"max_abs\":0.25", "\"max_abs\":2.5e-1");
    REQUIRE(spelled);
    strcpy(strrchr(spelled, '}'), ",\"stored\":{\"done\":true}}"); /* no part of the record; `replaced` left room */
    CHECK_INT(read_text(s, spelled, &index), TN_OK);
    free(spaced);
    free(spelled);
    tn_free(&s->alloc, text);
    tn_record_release(&r);
}

TEST(what_is_not_a_record_is_refused_by_place)
{
    static const struct {
        const char *text, *element;
        enum tn_status status;
    } cases[] = {
        {"[]", "/schema", TN_ARTIFACT_MALFORMED},
        {"{}", "/schema", TN_ARTIFACT_MALFORMED},
        {"{\"schema\":\"tenon.record/v2\"}", "/schema", TN_VERSION_UNQUALIFIED},
        {"{\"schema\":\"tenon.record/v1\"}", "/id", TN_ARTIFACT_MALFORMED},
        {"{\"schema\":\"tenon.record/v1\",\"id\":7}", "/id", TN_ARTIFACT_MALFORMED},
    };
    struct sample *s = sample_new(NULL);
    struct tn_record_index index;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(read_text(s, cases[i].text, &index), cases[i].status);
        CHECK_STR(s->err.primary.element, cases[i].element);
    }
}

/* Documents with a right id and a wrong member, as a buggy or hostile writer might make them. */
TEST(members_of_the_wrong_kind_are_named)
{
    static const struct {
        const char *members, *element;
    } cases[] = {
        {"\"level\":\"good\"", "/level"},
        {"\"level\":\"loads\"", "/passed"},
        {"\"level\":\"loads\",\"passed\":true,\"created_seconds\":1.5", "/created_seconds"},
        {"\"level\":\"loads\",\"passed\":true,\"created_seconds\":1", "/created"},
        {"\"level\":\"loads\",\"passed\":true,\"created_seconds\":1,\"created\":\"x\",\"task\":\"t\",\"suite\":\"s\"",
         "/package"},
        {"\"level\":\"loads\",\"passed\":true,\"created_seconds\":1,\"created\":\"x\",\"task\":\"t\",\"suite\":\"s\","
         "\"package\":{\"name\":\"p\",\"manifest\":\"m\"},\"failures\":[],\"dependencies\":[{\"kind\":\"moon\"}]",
         "/dependencies/0/kind"},
        {"\"level\":\"loads\",\"passed\":true,\"created_seconds\":1,\"created\":\"x\",\"task\":\"t\",\"suite\":\"s\","
         "\"package\":{\"name\":\"p\",\"manifest\":\"m\"},\"failures\":[],"
         "\"dependencies\":[{\"kind\":\"weights\",\"value\":\"v\",\"needed_for\":\"dinner\"}]",
         "/dependencies/0/needed_for"},
    };
    struct sample *s = sample_new(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024], id[TN_RECORD_ID + 1] = "";
        struct tn_record_index index;
        struct tn_json_doc doc;
        snprintf(text, sizeof(text), "{\"schema\":\"tenon.record/v1\",\"id\":\"%s\",%s}", id, cases[i].members);
        REQUIRE(tn_json_parse(&doc, &s->alloc, &s->ctx.limits, TN_STR("r"), tn_str_of(text), &s->err) == TN_OK);
        tn_record_digest(tn_json_root(&doc), id);
        tn_json_release(&doc);
        snprintf(text, sizeof(text), "{\"schema\":\"tenon.record/v1\",\"id\":\"%s\",%s}", id, cases[i].members);
        CHECK_INT(read_text(s, text, &index), TN_ARTIFACT_MALFORMED);
        CHECK_STR(s->err.primary.element, cases[i].element);
    }
}

TEST(a_changed_dependency_ends_only_what_rests_on_it)
{
    static const struct {
        enum tn_dependency changed;
        enum tn_level level;
    } cases[] = {{TN_DEPENDS_ON_TOKENIZER, TN_LEVEL_LOADS},
                 {TN_DEPENDS_ON_DESCRIPTION, TN_LEVEL_LOADS},
                 {TN_DEPENDS_ON_RECIPE, TN_LEVEL_LOADS},
                 {TN_DEPENDS_ON_WEIGHTS, TN_LEVEL_STRUCTURALLY_VALID},
                 {TN_DEPENDS_ON_CONFIG, TN_LEVEL_STRUCTURALLY_VALID},
                 {TN_DEPENDS_ON_ISA_CLASS, TN_LEVEL_STRUCTURALLY_VALID},
                 {TN_DEPENDS_ON_WEIGHT_HEADERS, TN_LEVEL_REFERENCE_QUALIFIED}}; /* other shards, the same weights */
    struct tn_record_index record = {.level = TN_LEVEL_REFERENCE_QUALIFIED};
    sample_facts(&record.facts);
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) record.needed[i] = tn_dependency_level((enum tn_dependency)i);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_record_facts now;
        uint32_t changed = 0;
        sample_facts(&now);
        CHECK_INT(tn_record_holds(&record, &now, false, &changed), TN_LEVEL_REFERENCE_QUALIFIED);
        CHECK_INT(changed, 0);
        now.value[cases[i].changed] = TN_STR("other");
        CHECK_INT(tn_record_holds(&record, &now, false, &changed), cases[i].level);
    }
    /* Before the weights are read their headers stand in for them. */
    struct tn_record_facts planned;
    sample_facts(&planned);
    planned.value[TN_DEPENDS_ON_WEIGHTS] = (struct tn_str){0};
    CHECK_INT(tn_record_holds(&record, &planned, false, NULL), TN_LEVEL_REFERENCE_QUALIFIED);
    planned.value[TN_DEPENDS_ON_WEIGHT_HEADERS] = TN_STR("other");
    CHECK_INT(tn_record_holds(&record, &planned, false, NULL), TN_LEVEL_STRUCTURALLY_VALID);
    /* What is not known is no evidence, unless the caller only asks about what it knows. */
    struct tn_record_facts build = {0};
    build.value[TN_DEPENDS_ON_PROVIDER] = TN_STR("native/1");
    CHECK_INT(tn_record_holds(&record, &build, false, NULL), TN_LEVEL_STRUCTURALLY_VALID);
    CHECK_INT(tn_record_holds(&record, &build, true, NULL), TN_LEVEL_REFERENCE_QUALIFIED);
}

TEST(levels_have_an_order_and_withdrawn_is_outside)
{
    enum tn_level level;
    CHECK(tn_level_satisfies(TN_LEVEL_REFERENCE_QUALIFIED, TN_LEVEL_LOADS));
    CHECK(!tn_level_satisfies(TN_LEVEL_LOADS, TN_LEVEL_REFERENCE_QUALIFIED));
    CHECK(!tn_level_satisfies(TN_LEVEL_WITHDRAWN, TN_LEVEL_RECOGNISED));
    CHECK(tn_level_parse(TN_STR("structurally_valid"), &level) && level == TN_LEVEL_STRUCTURALLY_VALID);
    CHECK(!tn_level_parse(TN_STR("Loads"), &level));
    for (unsigned i = 0; i < TN_LEVELS; i++) {
        CHECK(tn_level_parse(tn_str_of(tn_level_name((enum tn_level)i)), &level) && (unsigned)level == i);
    }
    for (unsigned i = 0; i < TN_DEPENDENCIES; i++) {
        enum tn_dependency kind;
        CHECK(tn_dependency_parse(tn_str_of(tn_dependency_name((enum tn_dependency)i)), &kind) && (unsigned)kind == i);
    }
}
