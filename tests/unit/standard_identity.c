/* Semantic identity of documents: the proposal's own digests, and what must not and must change one. */
#define _GNU_SOURCE
#include "test.h"

#include "describe/standard/identity.h"
#include "standard_util.h"

static struct tn_error err;

static bool identity_of(const struct tn_json_doc *doc, char *hex)
{
    struct tn_digest digest;
    if (tn_standard_identity(tn_json_root(doc), doc->alloc, &digest, &err)) return false;
    tn_digest_hex(&digest, hex);
    return true;
}

static void of_text(const char *text, char *hex)
{
    const struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    tn_alloc_init(&alloc);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), tn_str_of(text), &err) == TN_OK);
    REQUIRE(identity_of(&doc, hex));
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static void of_document(const char *name, char *hex)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, name));
    REQUIRE(identity_of(&doc, hex));
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(the_proposals_own_digests)
{
    size_t size, lines = 0;
    char *text = test_read_file(test_path("golden/standard/identity.txt"), &size);
    REQUIRE(text);
    for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
        char found[TN_SHA256_HEX] = "";
        end = strchr(line, '\n');
        if (end) *end = 0;
        if (*line == '#' || !*line) continue;
        char *json = strstr(line, " = "), *blank = strchr(line, ' ');
        REQUIRE(blank);
        *blank = 0;
        if (json) of_text(json + 3, found);
        else of_document(line, found);
        const char *expected = json ? line : blank + 1;
        if (strcmp(found, expected) != 0) test_fail(__FILE__, __LINE__, "%s: %s, expected %s", json ? json + 3 : line,
                                                    found, expected);
        lines++;
    }
    CHECK(lines >= 50);
    free(text);
}

static void same(const char *a, const char *b, bool expected)
{
    char x[TN_SHA256_HEX] = "a", y[TN_SHA256_HEX] = "b";
    of_text(a, x);
    of_text(b, y);
    if ((strcmp(x, y) == 0) != expected)
        test_fail(__FILE__, __LINE__, "%s and %s are %s", a, b, expected ? "not one" : "one");
}

TEST(what_changes_an_identity)
{
    same("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true);
    same("{\"a\":128}", "{\"a\":1.28e2}", true);
    same("{\"a\":1,\"b\":null,\"c\":{},\"d\":[]}", "{\"a\":1}", true);
    same("{\"profiles\":{\"x\":{\"requirement\":\"ignorable\"}}}", "{}", true);
    same("{\"profiles\":{\"x\":{\"requirement\":\"required\"}}}", "{}", false);
    same("{\"model\":{\"profiles\":{\"x\":{\"requirement\":\"ignorable\"}}}}", "{}", false);
    same("{\"a\":[1,2]}", "{\"a\":[2,1]}", false);
    same("{\"a\":1}", "{\"a\":\"1\"}", false);
    same("{\"a\":true}", "{\"a\":\"true\"}", false);
    same("{\"a\":0.1}", "{\"a\":0.10000000000000001}", true);
    same("{\"a\":0.1}", "{\"a\":0.10000000000000002}", false);
    /* Beyond a double's whole numbers: two documents, whatever a reader that rounds would say. */
    same("{\"a\":9007199254740993}", "{\"a\":9007199254740992}", false);
    same("{\"a\":18446744073709551615}", "{\"a\":18446744073709551614}", false);
    same("{\"a\":\"b\"}", "{\"a\":\"\\u0062\"}", true);
}

TEST(text_of_an_identity)
{
    struct tn_digest digest = tn_sha256_of("{}", 2);
    char text[TN_STANDARD_IDENTITY_TEXT];
    CHECK_STR(tn_standard_identity_text(&digest, text),
              "onnx-genai-metadata-identity-v1:sha256:44136fa355b3678a1146ad16"
                                                        "f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

TEST(too_deep)
{
    struct tn_limits limits = tn_limits_default();
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_digest digest;
    char text[2048];
    memset(text, '[', 400);
    memset(text + 400, ']', 400);
    limits.json_depth = 1000;
    tn_alloc_init(&alloc);
    REQUIRE(tn_json_parse(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){text, 800}, &err) == TN_OK);
    tn_error_clear(&err);
    CHECK_INT(tn_standard_identity(tn_json_root(&doc), &alloc, &digest, &err), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err.primary.expected, "256");
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(sweep_of_failing_allocations)
{
    struct tn_alloc alloc;
    struct tn_json_doc doc = {0};
    struct tn_digest whole, digest;
    tn_alloc_init(&alloc);
    REQUIRE(standard_open(&doc, &alloc, "samples/05-wav2vec2-ctc"));
    REQUIRE(tn_standard_identity(tn_json_root(&doc), &alloc, &whole, &err) == TN_OK);
    uint64_t held = tn_alloc_current(&alloc), n = 1;
    for (bool hit = true; hit; n++) {
        tn_error_clear(&err);
        tn_alloc_fail(&alloc, n, n % 2 == 0);
        enum tn_status status = tn_standard_identity(tn_json_root(&doc), &alloc, &digest, &err);
        hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
        tn_alloc_fail(&alloc, 0, false);
        CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : TN_OK);
        if (!hit) CHECK(tn_digest_eq(&whole, &digest));
        CHECK_INT(tn_alloc_current(&alloc), held);
    }
    CHECK(n > 20);
    tn_json_release(&doc);
}

/* One version for whoever reads; three texts for the digest, which the standard defines over what is written. */
TEST(spellings_of_a_version_are_told_apart)
{
    char v1[TN_SHA256_HEX], one[TN_SHA256_HEX], none[TN_SHA256_HEX], null[TN_SHA256_HEX];
    of_text("{\"schema_version\":\"v1\"}", v1);
    of_text("{\"schema_version\":\"1.0\"}", one);
    of_text("{}", none);
    of_text("{\"schema_version\":null}", null);
    CHECK(strcmp(v1, one) != 0 && strcmp(v1, none) != 0 && strcmp(one, none) != 0);
    CHECK_STR(null, none);
}
