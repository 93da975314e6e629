/*
 * Shape and meaning in one pass. A fault of shape has no followers: whatever one value of a good document becomes, the
 * tables tell it and the check behind them adds nothing. And it hides nothing: an edit of semantic.txt and a mutation of
 * mutations.txt in one document are both told, except where the mutation takes away what the edit is about.
 */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/judge.h"
#include "describe/standard/tables.h"
#include "standard_util.h"

static const char *const documents[] = {
    "samples/01-gemma4-text-decoder", "samples/05-wav2vec2-ctc", "samples/10-lora-adapter-selection",
    "samples/15-windowed-attention", "samples/16-linear-attention-recurrent", "samples/21-shared-prefix-pixel-flow",
    "samples/24-gemma4-e2b-assistant-speculative", "packages/codec", "packages/decoder", "packages/masked",
    "packages/static_cache",
};

static struct tn_error err;

/* All findings of one pass, and how many of them the tables told. */
static size_t judge(const struct tn_json_doc *doc, struct tn_findings *all)
{
    struct tn_standard standard;
    struct tn_findings shape;
    tn_findings_init(&shape, doc->alloc, 100);
    tn_findings_init(all, doc->alloc, 100);
    tn_error_clear(&err);
    (void)tn_standard_check_tables(tn_json_root(doc), &shape);
    CHECK_INT(tn_standard_judge(tn_json_root(doc), doc->alloc, NULL, &standard, all, &err), TN_OK);
    tn_standard_release(&standard);
    size_t told = shape.blockers;
    tn_findings_release(&shape);
    return told;
}

static size_t list_pointers(struct tn_json v, char (*out)[256], size_t max)
{
    size_t n = 0, depth = 0;
    struct tn_json stack[64];
    for (stack[depth++] = v; depth > 0 && n < max;) {
        struct tn_json at = stack[--depth];
        if (tn_json_present(tn_json_next(at)) && at.node != v.node) stack[depth++] = tn_json_next(at);
        tn_json_pointer(at, out[n++], 256);
        if (tn_json_present(tn_json_first(at)) && depth < 63) stack[depth++] = tn_json_first(at);
    }
    return n;
}

/* ---- no followers ---------------------------------------------------------------------------------------------------- */

static void expect_no_followers(const struct tn_json_doc *doc, const char *name, const char *pointer, const char *value)
{
    struct tn_findings all;
    size_t shape = judge(doc, &all);
    if (shape > 0 && all.blockers != shape) {
        const struct tn_finding *f = &all.items[all.count - 1];
        test_fail(__FILE__, __LINE__, "%s with %s at %s: also \"%s\" at %s", name, value, pointer, f->message, f->element);
    }
    tn_findings_release(&all);
}

/* Under a name that is nearly its own. */
static void misspell(struct tn_alloc *alloc, const struct tn_json_doc *doc, const char *name, const char *pointer)
{
    struct tn_json v = tn_json_find(tn_json_root(doc), pointer);
    struct tn_json_doc without = {0}, edited = {0};
    struct standard_change change = {pointer, STANDARD_REMOVE, ""};
    char to[300];
    if (!tn_json_key(v).s) return;
    char *text = strndup(tn_json_text(v).s, tn_json_text(v).n);
    snprintf(to, sizeof(to), "%sz", pointer);
    struct standard_change other = {to, STANDARD_ADD, text};
    if (standard_edit(&without, alloc, tn_json_root(doc), &change) &&
        standard_edit(&edited, alloc, tn_json_root(&without), &other))
        expect_no_followers(&edited, name, to, "a misspelt name");
    tn_json_release(&without);
    tn_json_release(&edited);
    free(text);
}

TEST(a_fault_of_shape_has_no_followers)
{
    static const char *const values[] = {"null", "true", "-1", "7", "\"\"", "\"nothing\"", "[]", "{}"};
    static char pointers[4000][256];
    struct tn_alloc alloc;
    uint64_t seed = 11;
    tn_alloc_init(&alloc);
    for (size_t d = 0; d < sizeof(documents) / sizeof(documents[0]); d++) {
        struct tn_json_doc doc = {0};
        REQUIRE(standard_open(&doc, &alloc, documents[d]));
        size_t count = list_pointers(tn_json_root(&doc), pointers, 4000);
        for (size_t i = 1; i < count; i++) {
            size_t v = (size_t)(test_random(&seed) % 10);
            struct tn_json_doc edited = {0};
            struct standard_change change = {pointers[i], v < 8 ? STANDARD_REPLACE : STANDARD_REMOVE, v < 8 ? values[v] : ""};
            if (v == 9) {
                misspell(&alloc, &doc, documents[d], pointers[i]);
                continue;
            }
            REQUIRE(standard_edit(&edited, &alloc, tn_json_root(&doc), &change));
            expect_no_followers(&edited, documents[d], pointers[i], v < 8 ? values[v] : "nothing");
            tn_json_release(&edited);
        }
        tn_json_release(&doc);
    }
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* ---- nothing hidden -------------------------------------------------------------------------------------------------- */

static struct standard_change change_of(char *edit)
{
    struct standard_change change = {.pointer = edit};
    char *blank = strchr(edit, ' ');
    if (!blank) return change;
    *blank = 0;
    change.edit = (enum standard_edit)blank[1];
    change.value = blank[2] ? blank + 3 : "";
    return change;
}

/* Carries out "EDIT && EDIT ..."; cuts it in place. */
static bool edit_all(struct tn_json_doc *doc, struct tn_alloc *alloc, char *edits)
{
    for (char *edit = edits, *next; edit; edit = next) {
        struct tn_json_doc edited = {0};
        next = strstr(edit, " && ");
        if (next) {
            *next = 0;
            next += 4;
        }
        struct standard_change change = change_of(edit);
        bool done = standard_edit(&edited, alloc, tn_json_root(doc), &change);
        tn_json_release(doc);
        *doc = edited;
        if (!done) return false;
    }
    return true;
}

struct tally {
    size_t pairs, hidden;
};

static bool is_told(const struct tn_findings *all, const char *place)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].element, place) == 0) return true;
    return false;
}

/* `line` of semantic.txt beside `other` of mutations.txt; their documents are the same. */
static void one_pair(struct tn_alloc *alloc, const char *line, const char *other, struct tally *tally)
{
    char edits[4096], mutation[1024];
    struct tn_json_doc doc = {0}, twice = {0};
    struct tn_findings all;
    snprintf(edits, sizeof(edits), "%s", line);
    snprintf(mutation, sizeof(mutation), "%s", other);
    char *arrow = strstr(edits, " -> "), *first = strchr(edits, ' '), *second = strchr(mutation, ' ');
    *arrow = *first++ = *second++ = 0;
    char *place = arrow + 4;
    if (*place == '<') {
        place++;
        place[strlen(place) - 1] = 0;
    }
    struct standard_change change = change_of(second);
    REQUIRE(standard_open(&doc, alloc, edits));
    bool done = edit_all(&doc, alloc, first) && standard_edit(&twice, alloc, tn_json_root(&doc), &change);
    tn_json_release(&doc);
    done = done && (change.edit != STANDARD_ADD || tn_json_present(tn_json_find(tn_json_root(&twice), change.pointer)));
    if (!done) tn_json_release(&twice);
    if (!done) return; /* one takes away what the other edits */
    judge(&twice, &all);
    bool seen = is_told(&all, place);
    tally->pairs++;
    tally->hidden += !seen;
    if (!is_told(&all, change.pointer))
        test_fail(__FILE__, __LINE__, "%s: the fault of shape at %s is not told beside %s", edits, change.pointer, place);
    if (all.blockers > 1 + (size_t)seen)
        test_fail(__FILE__, __LINE__, "%s: %zu findings for %s and %s", edits, all.blockers, place, change.pointer);
    /* What nobody reads hides nothing. */
    if (!seen && change.edit == STANDARD_ADD)
        test_fail(__FILE__, __LINE__, "%s: %s is hidden by an unknown member at %s", edits, place, change.pointer);
    tn_findings_release(&all);
    tn_json_release(&twice);
}

static size_t split(char *text, char **lines, size_t max)
{
    size_t n = 0;
    for (char *line = strtok(text, "\n"); line && n < max; line = strtok(NULL, "\n"))
        if (*line != '#') lines[n++] = line;
    return n;
}

TEST(a_fault_of_shape_hides_no_other)
{
    static char *edits[400], *mutations[400];
    struct tn_alloc alloc;
    struct tally tally = {0};
    size_t size;
    char *a = test_read_file(test_path("golden/standard/semantic.txt"), &size);
    char *b = test_read_file(test_path("golden/standard/mutations.txt"), &size);
    REQUIRE(a && b);
    tn_alloc_init(&alloc);
    size_t edit_count = split(a, edits, 400), mutation_count = split(b, mutations, 400);
    for (size_t i = 0; i < edit_count; i++) {
        for (size_t k = i % 4; k < mutation_count; k += 4) {
            size_t n = strcspn(edits[i], " ");
            if (strncmp(edits[i], mutations[k], n + 1) == 0) one_pair(&alloc, edits[i], mutations[k], &tally);
        }
    }
    CHECK(tally.pairs > 400);
    CHECK(tally.hidden * 16 < tally.pairs);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    free(a);
    free(b);
}

/* ---- many of them ------------------------------------------------------------------------------------------------------ */

/* A document of another version is told so, and nothing else. */
TEST(another_version_is_refused_alone)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_findings all;
    char edits[] = "/schema_version = \"v2\" && /pipeline/workflow/steps/2/value = \"nothing\"";
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "samples/04-whisper-encoder-decoder") && edit_all(&doc, &alloc, edits));
    judge(&doc, &all);
    CHECK_INT(all.count, 1);
    CHECK(is_told(&all, "/schema_version"));
    tn_findings_release(&all);
    tn_json_release(&doc);
}

/* The marks are memory like any other. */
TEST(every_allocation_can_fail)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    char edits[] = "/pipeline/workflow/steps/2/value = \"nothing\" && /package/colour + 1 && /model + 7";
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "samples/01-gemma4-text-decoder"));
    char *more = strstr(edits, " && /model");
    if (tn_json_present(tn_json_find(tn_json_root(&doc), "/model")) && more) *more = 0;
    if (!tn_json_present(tn_json_find(tn_json_root(&doc), "/pipeline/workflow/steps/2/value"))) strcpy(edits, "/colour + 1");
    REQUIRE(edit_all(&doc, &alloc, edits));
    uint64_t held = tn_alloc_current(&alloc);
    for (uint64_t n = 1; n < 10000; n++) {
        struct tn_standard standard;
        struct tn_findings all;
        tn_findings_init(&all, &alloc, 100);
        tn_error_clear(&err);
        tn_alloc_fail(&alloc, n, true);
        enum tn_status status = tn_standard_judge(tn_json_root(&doc), &alloc, NULL, &standard, &all, &err);
        bool hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
        tn_alloc_fail(&alloc, 0, false);
        CHECK(status == TN_OK || status == TN_INSUFFICIENT_MEMORY);
        CHECK(all.blockers > 0 || status == TN_INSUFFICIENT_MEMORY);
        tn_standard_release(&standard);
        tn_findings_release(&all);
        CHECK_INT(tn_alloc_current(&alloc), held);
        if (!hit) break;
    }
    tn_json_release(&doc);
}
