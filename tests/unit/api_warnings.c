/*
 * What a package says twice and differently: said through the log when it takes effect, and listed in every account. A
 * package without contradictions is silent.
 */
#include "api_util.h"

#include "base/json.h"

#include <sys/stat.h>

enum { MOST_LINES = 16 };

struct lines {
    struct api_host host;
    char text[MOST_LINES][1024];
    _Atomic unsigned count;
};

static struct lines lines;

static void listen(void *user, tn_log_level level, const char *text, size_t length)
{
    struct lines *l = user;
    if (level != TN_LOG_WARNING) return;
    unsigned i = atomic_fetch_add(&l->count, 1);
    if (i < MOST_LINES) snprintf(l->text[i], sizeof(l->text[i]), "%.*s", (int)length, text);
}

static const char *line_with(const char *part)
{
    for (unsigned i = 0; i < lines.count && i < MOST_LINES; i++) {
        if (strstr(lines.text[i], part)) return lines.text[i];
    }
    return NULL;
}

static const char *const files[] = {"config.json", "config_sentence_transformers.json", "model.safetensors", "modules.json",
                                    "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json",
                                    "1_Pooling/config.json"};

/* A copy of a tiny package in which `from` of one file is replaced by `to`; every `from` must be there. */
struct edit {
    const char *file, *from, *to;
};

static bool copy_package(const struct edit *edits, size_t count, char *folder, size_t cap)
{
    char from[512], path[1024];
    snprintf(folder, cap, "%s/package", test_folder());
    snprintf(path, sizeof(path), "%s/1_Pooling", folder);
    mkdir(folder, 0700);
    mkdir(path, 0700);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t size;
        snprintf(from, sizeof(from), "golden/packages/bert_options/%s", files[i]);
        char *text = test_read_file(test_path(from), &size);
        if (!text) return false;
        for (size_t e = 0; e < count; e++) {
            if (strcmp(edits[e].file, files[i]) != 0) continue;
            char *at = strstr(text, edits[e].from);
            if (!at) return false;
            size_t n = strlen(edits[e].from), head = (size_t)(at - text), tail = size - head - n;
            char *longer = malloc(size + strlen(edits[e].to) + 1);
            memcpy(longer, text, head);
            strcpy(longer + head, edits[e].to);
            memcpy(longer + head + strlen(edits[e].to), at + n, tail + 1);
            size = head + strlen(edits[e].to) + tail;
            free(text);
            text = longer;
        }
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        test_write_file(path, text, size);
        free(text);
    }
    return true;
}

static bool begin(struct api *a)
{
    memset(&lines, 0, sizeof(lines));
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    a->host.blocks = a->host.bytes = 0;
    o.allocate = api_allocate;
    o.release = api_release;
    o.allocator_user = &a->host;
    o.threads = 1;
    o.log = listen;
    o.log_user = &lines;
    a->err = tn_error_new();
    return a->err && tn_runtime_new(&o, &a->runtime, a->err) == TN_OK;
}

/* The account of one request, parsed; the caller releases doc. */
static bool account(struct api *a, tn_session *session, struct tn_json_doc *doc, struct tn_alloc *alloc)
{
    tn_string text = api_string("the people were there.");
    tn_embed_request r = api_request(&text, 1);
    tn_execution *x = NULL;
    tn_document *d = NULL;
    struct tn_limits limits = tn_limits_default();
    size_t length;
    tn_alloc_init(alloc);
    if (tn_embed_start(session, &r, &x, a->err)) return false;
    bool ok = api_collect(x, NULL, 0, a->err) == TN_OK && tn_execution_drain(x, UINT32_MAX, a->err) == TN_OK &&
              tn_execution_account(x, &d, a->err) == TN_OK;
    tn_execution_free(x);
    if (!ok) return false;
    const char *json = tn_document_text(d, &length);
    ok = tn_json_parse_copy(doc, alloc, &limits, TN_STR("account"), (struct tn_str){json, length}, NULL) == TN_OK;
    tn_document_free(d);
    return ok;
}

static void check_warning(struct tn_json warnings, const char *file, const char *pointer, const char *found)
{
    struct tn_str s;
    for (struct tn_json v = tn_json_first(warnings); tn_json_present(v); v = tn_json_next(v)) {
        if (!tn_json_str(tn_json_find(v, "/where/file"), &s) || !tn_str_is(s, file)) continue;
        if (!tn_json_str(tn_json_find(v, "/where/pointer"), &s) || !tn_str_is(s, pointer)) continue;
        CHECK(tn_json_str(tn_json_get(v, "severity"), &s) && tn_str_is(s, "warning"));
        CHECK(tn_json_str(tn_json_get(v, "found"), &s) && tn_str_is(s, found));
        return;
    }
    test_fail(__FILE__, __LINE__, "no warning at %s %s in the account", file, pointer);
}

TEST(warnings_are_said_at_load_and_stand_in_the_account)
{
    static const struct edit edits[] = {
        {"tokenizer.json", "\"lowercase\": true", "\"lowercase\": false"},
        {"modules.json", "\"idx\": 1", "\"idx\": 4"},
        {"sentence_bert_config.json", "{", "{\"max_seq_length\": 500, "},
    };
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    char folder[512];
    REQUIRE(copy_package(edits, 3, folder, sizeof(folder)));
    REQUIRE(begin(&a));
    tn_package *package = api_open(&a, folder);
    tn_plan *plan = package ? api_plan(&a, package) : NULL;
    REQUIRE(plan);
    CHECK_INT(lines.count, 0); /* planning reports in its document and takes no effect */
    tn_session *session = api_load(&a, plan);
    REQUIRE(session);
    CHECK_INT(lines.count, 3);
    const char *line = line_with("do_lower_case");
    CHECK_CONTAINS(line, "tokenizer.json /normalizer/lowercase; found false; expected true, by do_lower_case)");
    CHECK_CONTAINS(line_with("the module's place"), "(modules.json /1/idx; found 4; expected 1)");
    CHECK_CONTAINS(line_with("max_seq_length"), "sentence_bert_config.json /max_seq_length; found 500");
    for (int i = 0; i < 2; i++) { /* each request's account has them; the log says nothing more */
        REQUIRE(account(&a, session, &doc, &alloc));
        struct tn_json warnings = tn_json_get(tn_json_root(&doc), "warnings");
        CHECK_INT(tn_json_count(warnings), 3);
        check_warning(warnings, "tokenizer.json", "/normalizer/lowercase", "false");
        check_warning(warnings, "modules.json", "/1/idx", "4");
        check_warning(warnings, "sentence_bert_config.json", "/max_seq_length", "500");
        tn_json_release(&doc);
    }
    CHECK_INT(lines.count, 3);
    tn_session *second = api_load(&a, plan); /* another load takes effect again */
    CHECK_INT(lines.count, 6);
    tn_session_free(second);
    tn_session_free(session);
    tn_plan_free(plan);
    tn_package_free(package);
    api_end(&a);
}

/* A store of records that cannot be read is the route's warning, not the package's. */
TEST(warnings_of_the_route_count_as_well)
{
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    char folder[512], state[512];
    struct tn_str s;
    REQUIRE(copy_package(NULL, 0, folder, sizeof(folder)));
    snprintf(state, sizeof(state), "%s/records.db", test_folder());
    test_write_file(state, "not a database, but long enough to be looked at as one by anybody who would", 74);
    memset(&lines, 0, sizeof(lines));
    tn_runtime_options o = TN_INIT(tn_runtime_options);
    o.threads = 1;
    o.log = listen;
    o.log_user = &lines;
    o.state_folder = test_folder();
    a.err = tn_error_new();
    REQUIRE(tn_runtime_new(&o, &a.runtime, a.err) == TN_OK);
    tn_session *session = api_session(&a, folder);
    REQUIRE(session && account(&a, session, &doc, &alloc));
    struct tn_json warnings = tn_json_get(tn_json_root(&doc), "warnings");
    CHECK_INT(tn_json_count(warnings), 1);
    CHECK(tn_json_str(tn_json_find(warnings, "/0/message"), &s) && tn_str_starts(s, "the store of records cannot be read"));
    CHECK_INT(lines.count, 1);
    /* a message without a place stands alone */
    if (line_with("the store of records")) CHECK(!strchr(line_with("the store of records"), '('));
    else test_fail(__FILE__, __LINE__, "nothing was said about the store");
    tn_json_release(&doc);
    tn_session_free(session);
    tn_runtime_free(a.runtime);
    tn_error_free(a.err);
}

TEST(a_package_without_contradictions_is_silent)
{
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    REQUIRE(begin(&a));
    tn_session *session = api_session(&a, test_path("golden/packages/bert_options"));
    REQUIRE(session && account(&a, session, &doc, &alloc));
    struct tn_json warnings = tn_json_get(tn_json_root(&doc), "warnings");
    CHECK(tn_json_is(warnings, TN_JSON_ARRAY));
    CHECK_INT(tn_json_count(warnings), 0);
    CHECK_INT(lines.count, 0);
    tn_json_release(&doc);
    tn_session_free(session);
    api_end(&a);
}
