/* Findings, errors and the JSON writer: bounds, cleaned texts, places, nesting, escapes. */
#include "test.h"

#include "base/context.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/os.h"

#include <stdlib.h>

static struct tn_alloc alloc;
static struct tn_error *err;

__attribute__((constructor)) static void set_up(void)
{
    tn_alloc_init(&alloc);
    err = calloc(1, sizeof(*err));
}

TEST(texts_are_cleaned)
{
    static const struct {
        const char *raw, *clean;
    } cases[] = {
        {"plain \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80", "plain \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80"},
        {"a\nb\tc\033[0m", "a\\x0Ab\\x09c\\x1B[0m"},
        {"\xFF\xC0\x80", "\\xFF\\xC0\\x80"},
        {"x\xE2\x80\xAEy", "x\\xE2\\x80\\xAEy"},
        {"\x7F\xC2\x85", "\\x7F\\xC2\\x85"},
        {"\xEF\xBB\xBF", "\\xEF\\xBB\\xBF"},
        {"\xE2\x80\xA8", "\\xE2\\x80\\xA8"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tn_clean_text(out, sizeof(out), cases[i].raw, strlen(cases[i].raw));
        CHECK_STR(out, cases[i].clean);
    }
}

/* At every size: terminated, whole characters, the same whatever the memory held before. */
TEST(texts_are_cut_at_characters)
{
    static const char raw[] = "ab\xC3\xA9\xE4\xB8\xAD\x01z\xF0\x9F\x98\x80 end";
    for (size_t cap = 4; cap < 40; cap++) {
        char out[48], again[48];
        memset(out, 0x80, sizeof(out));
        memset(again, 'x', sizeof(again));
        tn_clean_text(out, cap, raw, sizeof(raw) - 1);
        tn_clean_text(again, cap, raw, sizeof(raw) - 1);
        CHECK_STR(out, again);
        CHECK(strlen(out) < cap);
        for (size_t i = 0; out[i];) {
            size_t n = 1;
            if ((unsigned char)out[i] >= 0x80)
                n = (unsigned char)out[i] >= 0xF0 ? 4 : (unsigned char)out[i] >= 0xE0 ? 3 : 2;
            for (size_t k = 1; k < n; k++) CHECK(((unsigned char)out[i + k] & 0xC0) == 0x80);
            i += n;
        }
        bool whole = strlen(out) == sizeof(raw) - 1 + 3;
        CHECK(whole || strcmp(out + strlen(out) - 3, "...") == 0);
    }
}

TEST(lists_are_bounded_and_count_the_rest)
{
    struct tn_findings list, other;
    tn_findings_init(&list, &alloc, 3);
    for (int i = 0; i < 5; i++) {
        struct tn_finding *f = tn_findings_add(&list, i % 2 ? TN_BLOCKER : TN_NOTE, TN_ARTIFACT_MALFORMED,
                                               TN_PHASE_PACKAGE, "number %d", i);
        CHECK((f != NULL) == (i < 3));
        tn_at_file(f, TN_STR("x"));
        tn_found(f, "%d", i);
    }
    CHECK_INT(list.count, 3);
    CHECK_INT(list.dropped, 2);
    CHECK_INT(list.blockers, 2);
    CHECK_STR(tn_findings_first_blocker(&list)->message, "number 1");
    tn_findings_init(&other, &alloc, 10);
    tn_findings_append(&other, &list);
    CHECK_INT(other.count, 3);
    CHECK_INT(other.dropped, 2);
    CHECK_INT(other.blockers, 2);
    CHECK(!tn_findings_add(NULL, TN_BLOCKER, TN_OK, TN_PHASE_NONE, "x"));
    tn_findings_release(&list);
    tn_findings_release(&other);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* What two stages notice is listed once; what differs in any part that tells two faults apart is listed twice. */
TEST(the_same_fault_is_listed_once)
{
    static const struct {
        enum tn_severity severity;
        enum tn_status code;
        const char *message, *file, *element, *found;
        int64_t offset, item;
    } others[] = {
        {TN_WARNING, TN_MISSING_TENSOR, "m", "f", "/e", "x", 7, 1},
        {TN_BLOCKER, TN_TENSOR_MISMATCH, "m", "f", "/e", "x", 7, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "n", "f", "/e", "x", 7, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "g", "/e", "x", 7, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "f", "/e2", "x", 7, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "f", "/e", "y", 7, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "f", "/e", "x", 8, 1},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "f", "/e", "x", 7, 2},
        {TN_BLOCKER, TN_MISSING_TENSOR, "m", "f", "/e", "x", 7, 1}, /* the first one */
    };
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    struct tn_findings list, stage;
    tn_findings_init(&list, &alloc, 100);
    tn_findings_init(&stage, &alloc, 100);
    for (int round = 0; round < 2; round++) {
        for (int i = OTHERS; i-- > 0;) {
            struct tn_finding *f =
                tn_findings_add(&stage, others[i].severity, others[i].code, TN_PHASE_PACKAGE, "%s", others[i].message);
            REQUIRE(f);
            tn_at_pointer(f, tn_str_of(others[i].file), tn_str_of(others[i].element));
            tn_found(f, "%s", others[i].found);
            f->offset = others[i].offset;
            f->item = others[i].item;
        }
    }
    tn_findings_append(&list, &stage); /* each stands in it twice */
    CHECK_INT(list.count, OTHERS);
    CHECK_INT(list.blockers, OTHERS - 1);
    CHECK_INT(list.dropped, 0);
    tn_findings_append(&list, &stage);
    CHECK_INT(list.count, OTHERS);
    CHECK_INT(list.blockers, OTHERS - 1);
    CHECK_STR(list.items[0].message, "m");
    tn_findings_release(&stage);

    /* What the other stage could not keep still blocks, and is counted. */
    tn_findings_init(&stage, &alloc, 1);
    tn_findings_add(&stage, TN_NOTE, TN_OK, TN_PHASE_PACKAGE, "kept");
    tn_findings_add(&stage, TN_BLOCKER, TN_BUSY, TN_PHASE_PACKAGE, "lost");
    tn_findings_append(&list, &stage);
    CHECK_INT(list.count, OTHERS + 1);
    CHECK_INT(list.blockers, OTHERS);
    CHECK_INT(list.dropped, 1);
    tn_findings_release(&stage);
    tn_findings_release(&list);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(errors_from_findings)
{
    struct tn_findings list;
    tn_findings_init(&list, &alloc, 100);
    CHECK_INT(tn_error_from_findings(err, &list), TN_OK);
    tn_findings_add(&list, TN_NOTE, TN_OK, TN_PHASE_PACKAGE, "a note");
    CHECK_INT(tn_error_from_findings(err, &list), TN_OK);
    for (int i = 0; i < 70; i++) tn_findings_add(&list, TN_BLOCKER, TN_BUSY, TN_PHASE_LOAD, "blocker %d", i);
    CHECK_INT(tn_error_from_findings(err, &list), TN_BUSY);
    CHECK_STR(err->primary.message, "blocker 0");
    CHECK(err->retryable);
    CHECK_INT(err->count, TN_ERROR_FINDINGS);
    CHECK_INT(err->dropped, 71 - TN_ERROR_FINDINGS);
    CHECK_STR(err->findings[1].message, "blocker 1");
    CHECK_INT(tn_error_from_findings(NULL, &list), TN_BUSY);
    tn_findings_release(&list);
}

TEST(findings_lost_to_memory_are_an_error_of_memory)
{
    struct tn_findings list;
    tn_findings_init(&list, &alloc, 100);
    tn_alloc_fail(&alloc, 1, true);
    CHECK(!tn_findings_add(&list, TN_BLOCKER, TN_PATH_ESCAPE, TN_PHASE_PACKAGE, "lost"));
    tn_alloc_fail(&alloc, 0, false);
    CHECK_INT(list.blockers, 1);
    CHECK(list.starved);
    CHECK_INT(tn_error_from_findings(err, &list), TN_INSUFFICIENT_MEMORY);
    tn_findings_release(&list);
}

/* What stands behind a full list is not known, and no memory is short. It stays so when the list is gone through. */
TEST(a_full_list_is_no_lack_of_memory)
{
    struct tn_findings list, part;
    tn_findings_init(&list, &alloc, 2);
    for (int i = 0; i < 2; i++) tn_findings_add(&list, TN_NOTE, TN_OK, TN_PHASE_PACKAGE, "note %d", i);
    CHECK(!tn_findings_add(&list, TN_BLOCKER, TN_PATH_ESCAPE, TN_PHASE_PACKAGE, "one more"));
    CHECK(!list.starved && list.dropped == 1);
    CHECK_INT(tn_error_from_findings(err, &list), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "more findings than are listed");
    tn_findings_init(&part, &alloc, 10);
    tn_findings_append(&part, &list);
    CHECK(!part.starved && part.dropped == 1 && part.count < part.max);
    tn_findings_release(&part);
    tn_findings_init(&part, &alloc, 10);
    tn_alloc_fail(&alloc, 1, true);
    tn_findings_append(&part, &list);
    tn_alloc_fail(&alloc, 0, false);
    CHECK(part.starved);
    tn_findings_release(&list);
    tn_findings_init(&list, &alloc, 10);
    tn_findings_append(&list, &part);
    CHECK(list.starved); /* who reads the copy must know, too */
    tn_findings_release(&part);
    tn_findings_release(&list);
}

TEST(error_as_json)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_json_doc doc;
    struct tn_limits limits = tn_limits_default();
    struct tn_str s;
    uint64_t offset = 0;
    struct tn_finding *f = tn_error_set(err, TN_MISSING_TENSOR, TN_PHASE_LOAD, "no \"%s\"", "x\ny");
    tn_at_tensor(f, TN_STR("dir/file"), TN_STR("a.b"));
    tn_at_offset(f, TN_STR("dir/file"), 99);
    tn_buf_init(&text, &alloc, 100000);
    tn_jw_init(&w, &text, true);
    tn_error_write(&w, err);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("e"), tn_buf_str(&text), err) == TN_OK);
    struct tn_json root = tn_json_root(&doc);
    CHECK(tn_json_str(tn_json_get(root, "code"), &s) && tn_str_is(s, "missing_tensor"));
    CHECK(tn_json_str(tn_json_get(root, "message"), &s) && tn_str_is(s, "no \"x\\x0Ay\""));
    CHECK(tn_json_str(tn_json_find(root, "/where/tensor"), &s) && tn_str_is(s, "a.b"));
    CHECK(tn_json_u64(tn_json_find(root, "/where/offset"), &offset) && offset == 99);
    CHECK(tn_json_is(tn_json_get(root, "found"), TN_JSON_NULL));
    tn_json_release(&doc);
    tn_buf_release(&text);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* ---- writer ------------------------------------------------------------------------------------------------------ */

TEST(writer_nests_and_escapes)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &alloc, 10000);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_object(&w);
    tn_jw_member_str(&w, "q\"\\\n", (struct tn_str){"a\001\x7F\xFF\xC3\xA9", 6});
    tn_jw_key(&w, "list");
    tn_jw_begin_array(&w);
    tn_jw_u64(&w, UINT64_MAX);
    tn_jw_i64(&w, INT64_MIN);
    tn_jw_f64(&w, 0.1);
    tn_jw_f32(&w, 0.5f);
    tn_jw_f64(&w, INFINITY);
    tn_jw_bool(&w, true);
    tn_jw_cstr(&w, NULL);
    tn_jw_begin_object(&w);
    tn_jw_end_object(&w);
    tn_jw_begin_array(&w);
    tn_jw_end_array(&w);
    tn_jw_raw(&w, TN_STR("[1]"));
    tn_jw_end_array(&w);
    tn_jw_end_object(&w);
    CHECK_STR(
        text.data,
        "{\"q\\\"\\\\\\n\":\"a\\u0001\\u007f\xEF\xBF\xBD\xC3\xA9\",\"list\":[18446744073709551615,-9223372036854775808,"
        "0.1,0.5,null,true,null,{},[],[1]]}");
    tn_buf_release(&text);
}

TEST(writer_pretty)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &alloc, 10000);
    tn_jw_init(&w, &text, true);
    tn_jw_begin_object(&w);
    tn_jw_member_u64(&w, "a", 1);
    tn_jw_key(&w, "b");
    tn_jw_begin_array(&w);
    tn_jw_bool(&w, false);
    tn_jw_end_array(&w);
    tn_jw_key(&w, "c");
    tn_jw_begin_object(&w);
    tn_jw_end_object(&w);
    tn_jw_end_object(&w);
    CHECK_STR(text.data, "{\n  \"a\": 1,\n  \"b\": [\n    false\n  ],\n  \"c\": {}\n}");
    tn_buf_release(&text);
}

TEST(writer_depth_and_size_are_bounded)
{
    struct tn_buf text;
    struct tn_json_writer w;
    tn_buf_init(&text, &alloc, 10000);
    tn_jw_init(&w, &text, false);
    for (int i = 0; i < TN_JW_DEPTH; i++) tn_jw_begin_array(&w);
    CHECK_INT(tn_buf_status(&text), TN_OK);
    tn_jw_begin_array(&w);
    CHECK_INT(tn_buf_status(&text), TN_RESOURCE_LIMIT);
    for (int i = 0; i < TN_JW_DEPTH + 2; i++) tn_jw_end_array(&w);
    tn_buf_release(&text);
    tn_buf_init(&text, &alloc, 5);
    tn_jw_init(&w, &text, false);
    tn_jw_cstr(&w, "a long text");
    CHECK_INT(tn_buf_status(&text), TN_RESOURCE_LIMIT);
    tn_buf_release(&text);
}

/* Whatever bytes a string holds, the reader takes what the writer made, and gives the valid ones back. */
TEST(writer_and_reader_agree)
{
    uint64_t state = 11;
    struct tn_limits limits = tn_limits_default();
    for (int i = 0; i < 3000; i++) {
        char raw[32];
        size_t n = test_random(&state) % sizeof(raw);
        bool ascii = i % 2;
        for (size_t k = 0; k < n; k++) raw[k] = (char)(test_random(&state) & (ascii ? 0x7F : 0xFF));
        struct tn_buf text;
        struct tn_json_writer w;
        struct tn_json_doc doc;
        struct tn_str s = {0};
        tn_buf_init(&text, &alloc, 10000);
        tn_jw_init(&w, &text, false);
        tn_jw_str(&w, (struct tn_str){raw, n});
        CHECK_INT(tn_json_parse(&doc, &alloc, &limits, TN_STR("w"), tn_buf_str(&text), err), TN_OK);
        CHECK(tn_json_str(tn_json_root(&doc), &s));
        if (ascii) CHECK(s.n == n && (n == 0 || memcmp(s.s, raw, n) == 0));
        tn_json_release(&doc);
        tn_buf_release(&text);
    }
}

/* ---- context ----------------------------------------------------------------------------------------------------- */

static char logged[256];

static void listen(void *user, enum tn_log_level level, const char *text, size_t length)
{
    snprintf(logged, sizeof(logged), "%s %d %.*s", (const char *)user, (int)level, (int)length, text);
}

TEST(log_lines_are_cleaned)
{
    struct tn_context ctx = {.log = listen, .log_user = (void *)(uintptr_t) "me"};
    tn_log(&ctx, TN_LOG_WARNING, "a%sb", "\n");
    CHECK_STR(logged, "me 2 a\\x0Ab");
    tn_log(NULL, TN_LOG_WARNING, "x");
    ctx.log = NULL;
    tn_log(&ctx, TN_LOG_WARNING, "x");
}

TEST(cancel_and_deadline)
{
    struct tn_cancel cancel = {.requested = false};
    CHECK_INT(tn_cancel_check(NULL), TN_OK);
    CHECK_INT(tn_cancel_check(&cancel), TN_OK);
    cancel.deadline_ns = tn_os_monotonic_ns() + UINT64_C(3600000000000);
    CHECK_INT(tn_cancel_check(&cancel), TN_OK);
    cancel.deadline_ns = 1;
    CHECK_INT(tn_cancel_fail(&cancel, TN_PHASE_LOAD, err), TN_DEADLINE_EXCEEDED);
    CHECK(err->retryable);
    cancel.requested = true;
    CHECK_INT(tn_cancel_fail(&cancel, TN_PHASE_LOAD, err), TN_CANCELLED);
    CHECK_INT(err->primary.phase, TN_PHASE_LOAD);
}
