/*
 * Packages whose tokenizer.json is not what its class builds: the class counts, as in transformers 5. Texts and pairs,
 * with and without special tokens, against what the library's own classes gave (tests/golden/embed/NAME.json,
 * `encodings`); their embeddings are compared with all others' by api_golden.c.
 */
#include "api_util.h"

#include "base/json.h"

static bool parse(const char *json, size_t length, struct tn_json_doc *doc, struct tn_alloc *alloc)
{
    struct tn_limits limits = tn_limits_default();
    tn_alloc_init(alloc);
    return tn_json_parse_copy(doc, alloc, &limits, TN_STR("golden"), (struct tn_str){json, length}, NULL) == TN_OK;
}

/* The description says where the stages come from, and every stage that differs is a warning. */
static void check_source(struct api *a, tn_package *package, const char *name, size_t least_warnings)
{
    tn_document *document;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    struct tn_str s;
    size_t length, warnings = 0;
    if (tn_package_inspect(package, &document, a->err)) {
        test_fail(__FILE__, __LINE__, "%s: %s", name, tn_error_message(a->err));
        return;
    }
    const char *text = tn_document_text(document, &length);
    REQUIRE(parse(text, length, &doc, &alloc));
    struct tn_json root = tn_json_root(&doc);
    CHECK(tn_json_str(tn_json_find(root, "/tokenizer/source"), &s) && tn_str_is(s, "class"));
    for (struct tn_json f = tn_json_first(tn_json_get(root, "findings")); tn_json_present(f); f = tn_json_next(f)) {
        CHECK(tn_json_str(tn_json_get(f, "severity"), &s) && !tn_str_is(s, "blocker"));
        warnings += tn_str_is(s, "warning");
    }
    if (warnings < least_warnings) test_fail(__FILE__, __LINE__, "%s: %zu warnings, expected %zu", name, warnings, least_warnings);
    tn_json_release(&doc);
    tn_document_free(document);
}

static bool same(struct tn_json list, const uint32_t *values, size_t stride, size_t count)
{
    size_t i = 0;
    for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v), i++) {
        uint64_t n;
        if (i == count || !tn_json_u64(v, &n) || n != values[i * stride]) return false;
    }
    return i == count;
}

static void check_encoding(struct api *a, tn_tokenizer *tokenizer, struct tn_json row, const char *name, unsigned index)
{
    struct tn_str text = {"", 0}, pair = {NULL, 0};
    bool special = true;
    tn_encode_request r = TN_INIT(tn_encode_request);
    tn_encoding *encoding;
    (void)tn_json_str(tn_json_get(row, "text"), &text);
    bool paired = tn_json_str(tn_json_get(row, "pair"), &pair);
    (void)tn_json_bool(tn_json_get(row, "add_special"), &special);
    r.text = (tn_string){text.s, text.n};
    if (paired) r.pair = (tn_string){pair.n ? pair.s : "", pair.n};
    r.no_special = !special;
    if (tn_tokenizer_encode(tokenizer, &r, &encoding, a->err)) {
        test_fail(__FILE__, __LINE__, "%s %u: %s", name, index, tn_error_message(a->err));
        return;
    }
    tn_tokens t = tn_encoding_tokens(encoding);
    if (!same(tn_json_get(row, "ids"), t.ids, 1, t.count)) test_fail(__FILE__, __LINE__, "%s %u: other ids", name, index);
    if (!same(tn_json_get(row, "type_ids"), t.type_ids, 1, t.count)) test_fail(__FILE__, __LINE__, "%s %u: other type ids", name, index);
    if (!same(tn_json_get(row, "offsets_bytes"), &t.offsets[0][0], 1, 2 * t.count)) test_fail(__FILE__, __LINE__, "%s %u: other offsets", name, index);
    tn_encoding_free(encoding);
}

static void check_package(const char *name, size_t least_warnings)
{
    char path[256];
    size_t size;
    unsigned index = 0;
    struct api a;
    struct tn_json_doc doc;
    struct tn_alloc alloc;
    tn_tokenizer *tokenizer;
    snprintf(path, sizeof(path), "golden/embed/%s.json", name);
    char *text = test_read_file(test_path(path), &size);
    REQUIRE(text && parse(text, size, &doc, &alloc));
    snprintf(path, sizeof(path), "golden/packages/%s", name);
    REQUIRE(api_begin(&a, 1));
    tn_package *package = api_open(&a, test_path(path));
    REQUIRE(package);
    check_source(&a, package, name, least_warnings);
    REQUIRE(tn_tokenizer_open(package, &tokenizer, a.err) == TN_OK);
    struct tn_json rows = tn_json_get(tn_json_root(&doc), "encodings");
    CHECK_INT(tn_json_count(rows), 20);
    for (struct tn_json v = tn_json_first(rows); tn_json_present(v); v = tn_json_next(v)) check_encoding(&a, tokenizer, v, name, index++);
    tn_tokenizer_free(tokenizer);
    tn_package_free(package);
    api_end(&a);
    tn_json_release(&doc);
    free(text);
}

TEST(bert)
{
    check_package("bert_class_tokenizer", 7); /* case, Chinese, accents, words, prefix, longest word, template */
}

TEST(distilbert)
{
    check_package("distilbert_class_tokenizer", 2);
}

TEST(mpnet)
{
    check_package("mpnet_class_tokenizer", 3);
}
