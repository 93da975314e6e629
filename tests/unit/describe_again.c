/*
 * What tenon_package.json says is left open, entry by entry: findings that the documents themselves lead to are not listed,
 * because reading them back finds them again; every other blocker is, with its texts, and once. And what is handed on with the
 * origins of values.
 */
#include "documents_kit.h"

#include "describe/package_document.h"
#include "onnx_ports.h"

/* ---- what is written --------------------------------------------------------------------------------------------------- */

/* tenon_package.json of the description, parsed; released by the caller when true. */
static bool written(const struct tn_description *d, bool provenance, struct tn_json_doc *doc)
{
    struct tn_buf metadata, content;
    struct tn_serial_options serial = {.yaml = false, .provenance = provenance};
    tn_buf_init(&metadata, &alloc, 1 << 22);
    tn_buf_init(&content, &alloc, 1 << 22);
    tn_error_clear(err);
    bool ok = tn_description_documents(d, &serial, &metadata, &content, err) == TN_OK;
    if (!ok) test_fail(__FILE__, __LINE__, "no documents: %s", err->primary.message);
    ok = ok && tn_json_parse_copy(doc, &alloc, &ctx.limits, TN_STR("written"), tn_buf_str(&content), err) == TN_OK;
    tn_buf_release(&metadata);
    tn_buf_release(&content);
    return ok;
}

static size_t entries(const struct tn_description *d)
{
    struct tn_json_doc doc;
    if (!written(d, false, &doc)) return 99;
    size_t count = tn_json_count(tn_json_find(tn_json_root(&doc), "/undetermined"));
    tn_json_release(&doc);
    return count;
}

static struct tn_finding *add(struct tn_description *d, const char *file, const char *pointer)
{
    struct tn_finding *f = tn_findings_add(&d->findings, TN_BLOCKER, TN_UNSUPPORTED_CONFIG, TN_PHASE_DESCRIBE, "%s", "not here");
    tn_at_pointer(f, tn_str_of(file), tn_str_of(pointer));
    return f;
}

/* The finding at this place of the file is listed, or it is not. */
static void expect_listed(struct tn_description *d, const char *file, const char *pointer, size_t listed, int line)
{
    size_t before = entries(d);
    add(d, file, pointer);
    size_t after = entries(d);
    if (after - before != listed)
        test_fail(__FILE__, line, "%s %s: %zu entries, expected %zu", file, pointer, after - before, listed);
    tn_findings_release(&d->findings);
    tn_findings_init(&d->findings, &alloc, 100);
}
#define LISTED(d, file, pointer) expect_listed((d), (file), (pointer), 1, __LINE__)
#define NOT_LISTED(d, file, pointer) expect_listed((d), (file), (pointer), 0, __LINE__)

static const char *const places[] = {"/components/0/config/hidden_act", "/components/0/config", "/components", "/modules",
                                     "/modules/1", "/modules/2/activation", "/modules/1/pooling", "/prompts", "/tokenizer",
                                     "/truncate_dim", "/nowhere"};

TEST(what_stands_in_the_documents_is_found_again)
{
    REQUIRE(documents_alone());
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        NOT_LISTED(d, DOCUMENT, places[i]);
        NOT_LISTED(d, CONTRACT, places[i]);
        LISTED(d, "elsewhere.json", places[i]);
    }
    NOT_LISTED(d, DOCUMENT, "/undetermined/7");
    kit_close(d);
    /* Of a convention nothing stands in documents yet. */
    kit_new();
    d = kit_describe();
    REQUIRE(d);
    LISTED(d, "config.json", "/hidden_act");
    LISTED(d, DOCUMENT, "/modules");
    LISTED(d, CONTRACT, "/pipeline");
    kit_close(d);
}

/* Where the description does not give the value back that stands in the document, nobody would find the fault again. */
TEST(what_is_not_written_again_is_listed)
{
    REQUIRE(documents_alone());
    struct tn_description *d = kit_describe();
    REQUIRE(d && d->module_count == 4 && d->prompt_count >= 2);
    d->modules[2].activation = TN_STR("relu");
    LISTED(d, DOCUMENT, "/modules/2/activation"); /* another value */
    LISTED(d, DOCUMENT, "/modules/2");            /* of an object */
    LISTED(d, DOCUMENT, "/modules");              /* of an object in a list */
    LISTED(d, DOCUMENT, "");
    NOT_LISTED(d, DOCUMENT, "/modules/1");
    NOT_LISTED(d, DOCUMENT, "/modules/2/kind");
    d->modules[1].pooling[0] = TN_POOLING_CLS;
    LISTED(d, DOCUMENT, "/modules/1/pooling"); /* an element of a list */
    d->prompts[0].name = TN_STR("question");
    LISTED(d, DOCUMENT, "/prompts"); /* another name */
    LISTED(d, DOCUMENT, "/prompts/query");
    NOT_LISTED(d, DOCUMENT, "/prompts/passage");
    d->prompt_count = 0;
    LISTED(d, DOCUMENT, "/prompts"); /* fewer members */
    LISTED(d, DOCUMENT, "/prompts/passage");
    d->module_count = 3;
    LISTED(d, DOCUMENT, "/modules/3"); /* nothing at all */
    d->head = NULL;
    NOT_LISTED(d, DOCUMENT, "/head");
    d->max_seq_length++;
    LISTED(d, DOCUMENT, "/max_seq_length");
    kit_close(d);
}

/* ---- entries that are there ------------------------------------------------------------------------------------------- */

#define ENTRY(code, reason, file, found)                                                                              \
    "\"undetermined\": [{\"code\": \"" code "\", \"reason\": \"" reason "\", \"file\": \"" file "\", \"found\": \"" found "\", " \
    "\"expected\": \"x\", \"remedy\": \"y\"}]"

TEST(an_entry_is_handed_on_once)
{
    static const struct {
        const char *entry;
        size_t more;
    } rows[] = {
        {ENTRY("unsupported_config", "not here", "weights.bin", "a"), 0},
        {ENTRY("unsupported_processor", "not here", "weights.bin", "a"), 1},
        {ENTRY("unsupported_config", "not there", "weights.bin", "a"), 1},
        {ENTRY("unsupported_config", "not here", "weights", "a"), 1},
        {ENTRY("unsupported_config", "not here", "weights.bin", "b"), 1},
        {ENTRY("unsupported_config", "not here", "", "a"), 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REQUIRE(documents_alone());
        kit_edit(DOCUMENT, "\"undetermined\": []", rows[i].entry);
        struct tn_description *d = kit_describe();
        REQUIRE(d);
        CHECK_INT(entries(d), 1);
        tn_found(add(d, "weights.bin", "/x"), "a");
        if (entries(d) != 1 + rows[i].more)
            test_fail(__FILE__, __LINE__, "row %zu: %zu entries, expected %zu", i, entries(d), 1 + rows[i].more);
        kit_close(d);
    }
}

/* All of it, and of files only their place in the package: documents name no folder of this machine. */
TEST(an_entry_says_what_the_finding_says)
{
    struct tn_json_doc doc;
    struct tn_str s;
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    struct tn_finding *f = add(d, "config.json", "/x");
    tn_found(f, "seven");
    tn_expected(f, "eight");
    tn_remedy(f, "count again");
    struct tn_str roots[] = {d->inv->shown, d->inv->root};
    for (size_t i = 0; i < 2; i++) tn_at_file(add(d, "", ""), roots[i]);
    tn_findings_add(&d->findings, TN_WARNING, TN_UNSUPPORTED_CONFIG, TN_PHASE_DESCRIBE, "%s", "merely a warning");
    REQUIRE(written(d, false, &doc));
    struct tn_json list = tn_json_find(tn_json_root(&doc), "/undetermined"), first = tn_json_first(list);
    CHECK_INT(tn_json_count(list), tn_str_eq(roots[0], roots[1]) ? 2 : 3); /* the same twice is one finding */
    static const char *const members[][2] = {{"code", "unsupported_config"}, {"reason", "not here"}, {"file", "config.json"},
                                             {"pointer", "/x"}, {"found", "seven"}, {"expected", "eight"}, {"remedy", "count again"}};
    CHECK_INT(tn_json_count(first), 7);
    for (size_t i = 0; i < 7; i++)
        CHECK(tn_json_str(tn_json_get(first, members[i][0]), &s) && tn_str_is(s, members[i][1]));
    for (struct tn_json v = tn_json_next(first); tn_json_present(v); v = tn_json_next(v))
        CHECK(tn_json_str(tn_json_get(v, "file"), &s) && s.n == 0);
    tn_json_release(&doc);
    kit_close(d);
}

/* A package is opened by one spelling of its place and known by another. */
TEST(a_package_behind_a_link_is_named_by_no_folder)
{
    struct tn_json_doc doc;
    struct tn_str s;
    char link[600], folder[600];
    kit_new();
    snprintf(folder, sizeof(folder), "%s", in_folder("%s", kit_root));
    snprintf(link, sizeof(link), "%s", in_folder("%s-link", kit_root));
    CHECK_INT(symlink(folder, link), 0);
    struct tn_description *d = kit_describe_at(link);
    REQUIRE(d);
    CHECK(!tn_str_eq(d->inv->shown, d->inv->root));
    struct tn_str roots[] = {d->inv->shown, d->inv->root};
    for (size_t i = 0; i < 2; i++) tn_at_file(add(d, "", ""), roots[i]);
    REQUIRE(written(d, false, &doc));
    struct tn_json list = tn_json_find(tn_json_root(&doc), "/undetermined");
    CHECK_INT(tn_json_count(list), 2);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
        CHECK(tn_json_str(tn_json_get(v, "file"), &s) && s.n == 0);
    tn_json_release(&doc);
    kit_close(d);
}

TEST(a_graph_that_a_contract_cannot_state)
{
    static const char *const lines[] = {"<x:1:a,b", ">y:1:a,b", NULL};
    static const char *const untyped[] = {"<x:0:a,b", ">y:1:a,b", NULL};
    static const char *const members[][2] = {{"code", "unsupported_config"}, {"file", "model.onnx"}};
    struct ports_buf *model = calloc(1, sizeof(*model));
    struct tn_json_doc doc;
    struct tn_str s;
    for (int stated = 0; stated < 2; stated++) {
        kit_empty();
        ports_model(model, stated ? lines : untyped);
        put_bytes(kit_name("model.onnx"), model->data, model->n);
        struct tn_description *d = kit_describe();
        REQUIRE(d && d->graph);
        size_t blockers = d->findings.blockers;
        REQUIRE(written(d, false, &doc));
        struct tn_json list = tn_json_find(tn_json_root(&doc), "/undetermined");
        CHECK_INT(tn_json_count(list), blockers + !stated);
        struct tn_json last = tn_json_at(list, tn_json_count(list) - 1);
        for (size_t i = 0; i < 2 && !stated; i++)
            CHECK(tn_json_str(tn_json_get(last, members[i][0]), &s) && tn_str_is(s, members[i][1]));
        for (size_t i = 0; i < 4 && !stated; i++) {
            static const char *const texts[][2] = {{"reason", "port"}, {"found", "rank"}, {"expected", "tensors"}, {"remedy", "export"}};
            char text[512] = "";
            if (tn_json_str(tn_json_get(last, texts[i][0]), &s)) snprintf(text, sizeof(text), "%.*s", TN_FMT_ARG(s));
            CHECK_CONTAINS(text, texts[i][1]);
        }
        tn_json_release(&doc);
        kit_close(d);
    }
    free(model);
}

/* ---- origins ----------------------------------------------------------------------------------------------------------- */

/* The digest is that of the content as a compact document, so that others can check it. */
TEST(the_digest_beside_the_origins_is_that_of_the_content)
{
    struct tn_json_doc doc, content;
    struct tn_str s;
    char hex[TN_SHA256_HEX];
    kit_new();
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    REQUIRE(written(d, true, &doc));
    REQUIRE(tn_package_content(d, 1 << 22, &content, err) == TN_OK);
    struct tn_str text = tn_json_text(tn_json_root(&content));
    struct tn_digest digest = tn_sha256_of(text.s, text.n);
    tn_digest_hex(&digest, hex);
    CHECK(text.n > 0 && text.s[0] == '{' && text.s[text.n - 1] == '}');
    CHECK(tn_json_str(tn_json_find(tn_json_root(&doc), "/provenance/content_sha256"), &s) && tn_str_is(s, hex));
    tn_json_release(&content);
    tn_json_release(&doc);
    kit_close(d);
}

/* Of an edited document: each name once, the document's own where the value is another, and what it never listed behind. */
TEST(origins_of_an_edited_document_name_each_value_once)
{
    struct tn_json_doc doc;
    struct tn_str name, other, file;
    size_t edited = 0, kept = 0, behind = 0;
    kit_new();
    REQUIRE(documents_beside(true));
    remove_conventions();
    kit_edit(DOCUMENT, "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"");
    kit_edit(DOCUMENT, "\"name\": \"encoder.pad_token_id\"", "\"name\": \"encoder.nobody\"");
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    REQUIRE(written(d, true, &doc));
    struct tn_json list = tn_json_find(tn_json_root(&doc), "/provenance/facts");
    CHECK(tn_json_count(list) > d->fact_count / 2);
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v)) {
        REQUIRE(tn_json_str(tn_json_get(v, "name"), &name));
        if (!tn_json_str(tn_json_get(v, "file"), &file)) file = TN_STR("");
        for (struct tn_json w = tn_json_next(v); tn_json_present(w); w = tn_json_next(w))
            if (tn_json_str(tn_json_get(w, "name"), &other) && tn_str_eq(name, other))
                test_fail(__FILE__, __LINE__, "%.*s stands there twice", TN_FMT_ARG(name));
        edited += tn_str_is(name, "encoder.hidden_act") && tn_str_is(file, DOCUMENT);
        kept += tn_str_is(name, "encoder.hidden_size") && tn_str_is(file, "config.json");
        behind += tn_str_is(name, "encoder.pad_token_id") && tn_str_is(file, DOCUMENT);
    }
    CHECK_INT(edited, 1);
    CHECK_INT(kept, 1);
    CHECK_INT(behind, 1);
    tn_json_release(&doc);
    kit_close(d);
}

/* ---- without memory ----------------------------------------------------------------------------------------------------- */

/* The document is whole or there is none: an entry that could not be compared is neither dropped nor made up. */
TEST(a_document_is_never_written_in_part)
{
    struct tn_buf metadata, content, whole;
    struct tn_serial_options serial = {.yaml = false, .provenance = true};
    kit_new();
    REQUIRE(documents_beside(true));
    remove_conventions();
    kit_edit(DOCUMENT, "\"undetermined\": []", ENTRY("unsupported_config", "not here", "weights.bin", "a"));
    struct tn_description *d = kit_describe();
    REQUIRE(d);
    add(d, DOCUMENT, "/modules/1");
    tn_found(add(d, "other.bin", "/x"), "a");
    tn_buf_init(&whole, &alloc, 1 << 22);
    tn_buf_init(&metadata, &alloc, 1 << 22);
    REQUIRE(tn_description_documents(d, &serial, &metadata, &whole, err) == TN_OK);
    tn_buf_release(&metadata);
    uint64_t before = tn_alloc_current(&alloc);
    for (uint64_t n = 1; n < 100000; n++) {
        tn_buf_init(&metadata, &alloc, 1 << 22);
        tn_buf_init(&content, &alloc, 1 << 22);
        tn_error_clear(err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_description_documents(d, &serial, &metadata, &content, err);
        bool reached = alloc.calls >= alloc.fail_at;
        tn_alloc_fail(&alloc, 0, false);
        if (reached && status != TN_INSUFFICIENT_MEMORY)
            test_fail(__FILE__, __LINE__, "allocation %llu: %s", (unsigned long long)n, tn_status_name(status));
        if (status == TN_OK) CHECK(tn_str_eq(tn_buf_str(&whole), tn_buf_str(&content)));
        tn_buf_release(&metadata);
        tn_buf_release(&content);
        CHECK_INT(tn_alloc_current(&alloc), before);
        if (!reached) break;
    }
    tn_buf_release(&whole);
    kit_close(d);
}
