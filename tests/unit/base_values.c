/* Small parts of the base layer: checked arithmetic, UTF-8, digests, strings, status names, sources and cursor. */
#include "test.h"

#include "base/checked.h"
#include "base/hash.h"
#include "base/source.h"
#include "base/utf8.h"

#include <stdlib.h>

TEST(checked_arithmetic)
{
    size_t n = 77;
    uint64_t v = 77;
    CHECK(tn_mul(3, 4, &n) && n == 12);
    CHECK(tn_mul(0, SIZE_MAX, &n) && n == 0);
    CHECK(tn_mul(SIZE_MAX, 1, &n) && n == SIZE_MAX);
    n = 77;
    CHECK(!tn_mul(SIZE_MAX, 2, &n) && n == 77);
    CHECK(!tn_mul(SIZE_MAX / 2 + 1, 2, &n) && n == 77);
    CHECK(tn_add(SIZE_MAX, 0, &n) && n == SIZE_MAX);
    n = 77;
    CHECK(!tn_add(SIZE_MAX, 1, &n) && n == 77);
    CHECK(!tn_mul64(UINT64_MAX, 2, &v) && !tn_add64(UINT64_MAX, 1, &v) && v == 77);
    CHECK(tn_mul64(UINT64_MAX / 3, 3, &v) && v == UINT64_MAX);
    CHECK(tn_round_up(0, 16, &n) && n == 0);
    CHECK(tn_round_up(17, 16, &n) && n == 32);
    CHECK(!tn_round_up(SIZE_MAX - 3, 16, &n));
    CHECK(tn_range_inside(0, 0, 0) && tn_range_inside(5, 5, 10) && tn_range_inside(10, 0, 10));
    CHECK(!tn_range_inside(5, 6, 10) && !tn_range_inside(11, 0, 10) && !tn_range_inside(1, UINT64_MAX, 10));
    CHECK(!tn_range_inside(UINT64_MAX, UINT64_MAX, 10));
}

/* Every code point encodes and decodes to itself; every surrogate and everything beyond is refused. */
TEST(utf8_round_trip)
{
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4];
        uint32_t found = 0;
        size_t n = tn_utf8_encode(c, bytes);
        bool surrogate = c >= 0xD800 && c < 0xE000;
        size_t used = tn_utf8_decode(bytes, n, &found);
        if (surrogate ? used != 0 : used != n || found != c) test_fail(__FILE__, __LINE__, "U+%04X", (unsigned)c);
        if (!surrogate && n > 1 && tn_utf8_decode(bytes, n - 1, &found) != 0)
            test_fail(__FILE__, __LINE__, "cut U+%04X", (unsigned)c);
    }
}

/* All sequences of two and three bytes against the definition in RFC 3629. */
TEST(utf8_refuses_what_the_standard_refuses)
{
    for (unsigned x = 0; x < 0x1000000; x += x < 0x800000 ? 97 : 1) {
        unsigned char b[3] = {(unsigned char)(x >> 16), (unsigned char)(x >> 8), (unsigned char)x};
        uint32_t c;
        size_t expected = 0;
        bool t1 = (b[1] & 0xC0) == 0x80, t2 = (b[2] & 0xC0) == 0x80;
        if (b[0] < 0x80) expected = 1;
        if (b[0] >= 0xC2 && b[0] <= 0xDF && t1) expected = 2;
        if (b[0] == 0xE0 && b[1] >= 0xA0 && t1 && t2) expected = 3;
        if (b[0] == 0xED && b[1] <= 0x9F && t1 && t2) expected = 3;
        if (b[0] >= 0xE1 && b[0] <= 0xEF && b[0] != 0xED && t1 && t2) expected = 3;
        size_t found = tn_utf8_decode((const char *)b, 3, &c);
        if (found != expected) test_fail(__FILE__, __LINE__, "%06X: %zu, expected %zu", x, found, expected);
    }
}

TEST(utf8_valid_prefix)
{
    char text[64];
    for (size_t at = 0; at < 40; at++) {
        memset(text, 'a', sizeof(text));
        CHECK_INT(tn_utf8_valid_prefix(text, at), at);
        text[at] = (char)0xFF;
        CHECK_INT(tn_utf8_valid_prefix(text, sizeof(text)), at);
        memcpy(text + at, "\xE2\x82\xAC", 3);
        CHECK_INT(tn_utf8_valid_prefix(text, sizeof(text)), sizeof(text));
        CHECK_INT(tn_utf8_valid_prefix(text, at + 2), at);
    }
    CHECK_INT(tn_utf8_valid_prefix("", 0), 0);
}

/* Examples of FIPS 180-4 (NIST's published vectors). */
TEST(sha256_vectors)
{
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[TN_SHA256_HEX];
    for (size_t i = 0; i < 3; i++) {
        struct tn_digest d = tn_sha256_of(cases[i].text, strlen(cases[i].text));
        CHECK_STR(tn_digest_hex(&d, hex), cases[i].hex);
        struct tn_sha256 h;
        tn_sha256_init(&h);
        for (const char *p = cases[i].text; *p; p++) tn_sha256_update(&h, p, 1);
        struct tn_digest again = tn_sha256_finish(&h);
        CHECK(tn_digest_eq(&d, &again));
    }
    struct tn_sha256 million;
    tn_sha256_init(&million);
    for (int i = 0; i < 1000000; i++) tn_sha256_update(&million, "a", 1);
    struct tn_digest d = tn_sha256_finish(&million);
    CHECK_STR(tn_digest_hex(&d, hex), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(fields_of_a_digest_cannot_run_together)
{
    struct tn_sha256 a, b;
    tn_sha256_init(&a);
    tn_sha256_init(&b);
    tn_sha256_update_str(&a, TN_STR("ab"));
    tn_sha256_update_str(&a, TN_STR("c"));
    tn_sha256_update_str(&b, TN_STR("a"));
    tn_sha256_update_str(&b, TN_STR("bc"));
    struct tn_digest x = tn_sha256_finish(&a), y = tn_sha256_finish(&b);
    CHECK(!tn_digest_eq(&x, &y));
}

TEST(string_views)
{
    CHECK(tn_str_eq(TN_STR("a"), TN_STR("a")) && !tn_str_eq(TN_STR("a"), TN_STR("ab")));
    CHECK(tn_str_eq((struct tn_str){0}, TN_STR("")));
    CHECK(tn_str_is((struct tn_str){"abc", 2}, "ab"));
    CHECK(tn_str_starts(TN_STR("abc"), "ab") && !tn_str_starts(TN_STR("a"), "ab") && tn_str_starts(TN_STR(""), ""));
    CHECK(tn_str_ends(TN_STR("abc"), "bc") && !tn_str_ends(TN_STR("c"), "bc"));
    CHECK_INT(tn_str_of(NULL).n, 0);
}

TEST(every_status_has_a_name_and_an_exit_code)
{
    CHECK_STR(tn_status_name(TN_OK), "ok");
    CHECK_STR(tn_status_name(TN_DRAIN_FAILED), "drain_failed");
    CHECK_STR(tn_status_name((enum tn_status)9999), "unknown_status");
    CHECK_INT(tn_status_exit_code(TN_OK), 0);
    CHECK_INT(tn_status_exit_code(TN_INVALID_REQUEST), 2);
    CHECK_INT(tn_status_exit_code(TN_PATH_ESCAPE), 3);
    CHECK_INT(tn_status_exit_code(TN_RESOURCE_LIMIT), 4);
    CHECK_INT(tn_status_exit_code(TN_HINT_CONFLICT), 5);
    CHECK_INT(tn_status_exit_code(TN_CANCELLED), 130);
}

/* ---- sources and cursor ------------------------------------------------------------------------------------------ */

static struct tn_error *err;

TEST(cursor_reads_little_endian)
{
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, sizeof(bytes), TN_STR("f"), &holder);
    struct tn_cursor c;
    err = calloc(1, sizeof(*err));
    tn_cursor_init(&c, &source, 0, UINT64_MAX, err);
    CHECK_INT(tn_cursor_u8(&c), 1);
    CHECK_INT(tn_cursor_u16(&c), 0x0302);
    CHECK_INT(tn_cursor_u32(&c), 0x07060504);
    CHECK_INT(tn_cursor_u64(&c), 0x0F0E0D0C0B0A0908);
    CHECK_INT(tn_cursor_left(&c), 1);
    tn_cursor_skip(&c, 1);
    CHECK_INT(c.failed, TN_OK);
    CHECK_INT(tn_cursor_u8(&c), 0);
    CHECK_INT(c.failed, TN_ARTIFACT_MALFORMED);
    CHECK_INT(err->primary.offset, 16);
    free(err);
}

TEST(cursor_error_is_sticky_and_stays_in_its_window)
{
    static const char bytes[] = "0123456789";
    struct tn_str holder;
    struct tn_source source = tn_source_of_memory(bytes, 10, TN_STR("f"), &holder);
    struct tn_cursor c;
    char out[8] = "zzzzzzz";
    err = calloc(1, sizeof(*err));
    tn_cursor_init(&c, &source, 2, 6, err);
    tn_cursor_bytes(&c, out, 5);
    CHECK_INT(c.failed, TN_ARTIFACT_MALFORMED);
    CHECK_INT(out[0], 0);
    CHECK_INT(err->primary.offset, 2);
    CHECK_CONTAINS(err->primary.expected, "5 bytes from 2 on");
    tn_error_clear(err);
    CHECK_INT(tn_cursor_u8(&c), 0);
    CHECK_INT(err->primary.code, TN_OK); /* the first failure is the one that is told */
    CHECK_INT(tn_cursor_left(&c), 0);
    tn_cursor_init(&c, &source, 2, 6, err);
    tn_cursor_skip(&c, UINT64_MAX);
    CHECK_INT(c.failed, TN_ARTIFACT_MALFORMED);
    tn_cursor_init(&c, &source, 50, 60, err);
    CHECK_INT(tn_cursor_left(&c), 0);
    free(err);
}

TEST(whole_sources)
{
    struct tn_alloc alloc;
    struct tn_str holder, out;
    struct tn_source source = tn_source_of_memory("hello", 5, TN_STR("f"), &holder);
    tn_alloc_init(&alloc);
    err = calloc(1, sizeof(*err));
    CHECK_INT(tn_source_read_all(&source, &alloc, 5, "json_bytes", &out, err), TN_OK);
    CHECK(tn_str_is(out, "hello") && out.s[5] == 0);
    tn_free(&alloc, (void *)(uintptr_t)out.s);
    CHECK_INT(tn_source_read_all(&source, &alloc, 4, "json_bytes", &out, err), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "json_bytes");
    source.size = UINT64_MAX; /* a claim is refused before memory is asked for */
    CHECK_INT(tn_source_read_all(&source, &alloc, UINT64_MAX, "json_bytes", &out, err), TN_RESOURCE_LIMIT);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    free(err);
}
