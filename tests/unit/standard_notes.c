/*
 * Notes about open vocabularies: a document may use operations and generation fields of its own, and a misspelt one of the
 * standard's is one of those to whoever reads it. Nothing is refused; what was probably meant is told, once, at its place.
 */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/judge.h"
#include "standard_util.h"

#define FLOW_SAMPLE "samples/21-shared-prefix-pixel-flow"
#define MASKED "packages/masked"
#define RESIZE "/preprocessing/image/transforms/1/op"
/* The only override: an input has one at most. */
#define OVERRIDE(name) "/generation/overrides", STANDARD_REPLACE, "{\"" name "\": {\"input\":\"request.max_iterations\"}}"

struct noted {
    const char *document;
    struct standard_change change;
    const char *place; /* of the one note; NULL: nothing is told */
    const char *message, *remedy;
};

/* Every finding of one pass over the edited document, which is the expected note or nothing. */
static void expect(const struct noted *row, int line)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0}, edited = {0};
    struct tn_standard standard;
    struct tn_findings all;
    struct tn_error *err = calloc(1, sizeof(*err));
    tn_alloc_init(&alloc);
    tn_findings_init(&all, &alloc, 20);
    bool ready = err && standard_open(&doc, &alloc, row->document) &&
                 standard_edit(&edited, &alloc, tn_json_root(&doc), &row->change);
    if (!ready) test_fail(__FILE__, line, "%s at %s changes nothing", row->document, row->change.pointer);
    if (ready) {
        CHECK_INT(tn_standard_judge(tn_json_root(&edited), &alloc, NULL, &standard, &all, err), TN_OK);
        size_t wanted = row->place != NULL;
        if (all.count != wanted)
            test_fail(__FILE__, line, "%s = %s: %zu findings, expected %zu; the last is \"%s\" at %s", row->change.pointer,
                      row->change.value, all.count, wanted, all.count ? all.items[all.count - 1].message : "",
                      all.count ? all.items[all.count - 1].element : "");
        if (all.count == 1 && wanted) {
            CHECK_INT(all.items[0].severity, TN_NOTE);
            CHECK_STR(all.items[0].element, row->place);
            CHECK_CONTAINS(all.items[0].message, row->message);
            if (*row->remedy) CHECK_CONTAINS(all.items[0].remedy, row->remedy);
            else CHECK_STR(all.items[0].remedy, "");
            CHECK(all.items[0].found[0]);
        }
        tn_standard_release(&standard);
    }
    tn_findings_release(&all);
    tn_json_release(&edited);
    tn_json_release(&doc);
    free(err);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static void run(const struct noted *rows, size_t count, int line)
{
    for (size_t i = 0; i < count; i++) expect(&rows[i], line);
}
#define RUN(rows) run((rows), sizeof(rows) / sizeof((rows)[0]), __LINE__)

/* The tables tell a near name, the check behind them one that is near to none: never both. */
TEST(an_operation_of_nobody_is_noted_once)
{
    static const struct noted rows[] = {
        {FLOW_SAMPLE, {RESIZE, STANDARD_REPLACE, "\"resize\""}, NULL, "", ""},
        {FLOW_SAMPLE, {RESIZE, STANDARD_REPLACE, "\"rezise\""}, RESIZE, "", "\"resize\""},
        {FLOW_SAMPLE, {RESIZE, STANDARD_REPLACE, "\"com.example.warp\""}, RESIZE, "none of the standard's", ""},
    };
    RUN(rows);
}

TEST(an_override_that_is_nearly_a_usual_one_is_noted)
{
    static const struct noted rows[] = {
        {MASKED, {OVERRIDE("max_length")}, NULL, "", ""},
        {MASKED, {OVERRIDE("guidance_interval")}, NULL, "", ""},
        {MASKED, {OVERRIDE("max_lenght")}, "/generation/overrides/max_lenght", "nearly one of the usual ones", "\"max_length\""},
        {MASKED, {OVERRIDE("temprature")}, "/generation/overrides/temprature", "nearly one of the usual ones", "\"temperature\""},
    };
    RUN(rows);
}
