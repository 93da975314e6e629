/* The JSON reader: grammar, limits, places, typed reads, hostile documents, failing allocations. */
#define _GNU_SOURCE
#include "test.h"

#include "base/json.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>

static struct tn_alloc alloc;
static struct tn_limits limits;
static struct tn_error *err;
static struct tn_json_doc doc;

__attribute__((constructor)) static void set_up(void)
{
    tn_alloc_init(&alloc);
    limits = tn_limits_default();
    err = calloc(1, sizeof(*err));
}

static enum tn_status parse_n(const char *text, size_t n)
{
    /* A heap copy of exactly n bytes: a read beyond the end is one beyond a block. */
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    tn_error_clear(err);
    enum tn_status status = tn_json_parse_copy(&doc, &alloc, &limits, TN_STR("d.json"), (struct tn_str){copy, n}, err);
    free(copy);
    return status;
}

static enum tn_status parse(const char *text)
{
    return parse_n(text, strlen(text));
}

static void end(void)
{
    tn_json_release(&doc);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

static struct tn_json at(const char *pointer)
{
    return tn_json_find(tn_json_root(&doc), pointer);
}

TEST(documents_that_hold)
{
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-1.5e+3",
        "1E9",
        "\"\"",
        "[]",
        "{}",
        " [ ] ",
        "\t{\r\n}\n",
        "[1,2]",
        "{\"a\":1}",
        "[[[]]]",
        "{\"\":{\"\":[]}}",
        "\"\\u0041\\n\\\"\\\\\\/\\b\\f\\r\\t\"",
        "\"\\uD83D\\uDE00\"",
        "\"\xF0\x9F\x98\x80\"",
        "\"\x7F\"",
        "123456789012345678901234567890",
        "1e-400",
        "0.1",
        "{\"a\":{\"a\":1},\"b\":{\"a\":1}}",
        "[1e5,1E-5,-0.0]",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (parse(texts[i]) != TN_OK) test_fail(__FILE__, __LINE__, "%s: %s", texts[i], err->primary.message);
        end();
    }
}

TEST(documents_that_do_not)
{
    static const struct {
        const char *text;
        int offset;
        const char *message;
    } cases[] = {
        {"", 0, "value is missing"},
        {"  ", 2, "value is missing"},
        {"nul", 0, "unknown word"},
        {"truex", 4, "text after"},
        {"[1,]", 3, "unknown word"},
        {"[1 2]", 3, "not separated"},
        {"[", 1, "value is missing"},
        {"[1", 2, "not separated"},
        {"{\"a\"}", 4, "without a colon"},
        {"{\"a\":}", 5, "unknown word"},
        {"{a:1}", 1, "key is missing"},
        {"{\"a\":1,}", 7, "key is missing"},
        {"{1:2}", 1, "key is missing"},
        {"[1]]", 3, "text after"},
        {"{\"a\":1]", 6, "not separated"},
        {"01", 0, "leading zero"},
        {"-", 1, "without digits"},
        {"1.", 2, "ends in a point"},
        {".5", 0, "unknown word"},
        {"1e", 2, "exponent without"},
        {"1e+", 3, "exponent without"},
        {"+1", 0, "unknown word"},
        {"NaN", 0, "unknown word"},
        {"-Infinity", 1, "without digits"},
        {"\"a", 2, "does not end"},
        {"\"a\\", 3, "does not end"},
        {"\"\\x\"", 1, "bad escape"},
        {"\"\\u12G4\"", 1, "bad escape"},
        {"\"\\uD800\"", 1, "bad escape"},
        {"\"\\uDC00\"", 1, "bad escape"},
        {"\"\\uD800\\u0041\"", 1, "bad escape"},
        {"\"\\u00\"", 1, "bad escape"},
        {"\"a\nb\"", 2, "control character"},
        {"\"a\tb\"", 2, "control character"},
        {"\"\xFF\"", 1, "invalid UTF-8"},
        {"\"\xC0\x80\"", 1, "invalid UTF-8"},
        {"\"\xED\xA0\x80\"", 1, "invalid UTF-8"},
        {"\"\xF4\x90\x80\x80\"", 1, "invalid UTF-8"},
        {"\"\xE2\x82\"", 1, "invalid UTF-8"},
        {"\"\xE2", 1, "invalid UTF-8"},
        {"\xEF\xBB\xBF{}", 0, "unknown word"},
        {"'a'", 0, "unknown word"},
        {"[1]//x", 3, "text after"},
        {"{\"a\":1 \"b\":2}", 7, "not separated"},
        {"\"abcdefgh\x01ijkl\"", 9, "control character"},
        {"\"abcdefgh\xFFijklmnop\"", 9, "invalid UTF-8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum tn_status status = parse(cases[i].text);
        if (status != TN_ARTIFACT_MALFORMED || err->primary.offset != cases[i].offset ||
            !strstr(err->primary.message, cases[i].message) || strcmp(err->primary.file, "d.json") != 0) {
            test_fail(__FILE__, __LINE__, "%s: %s \"%s\" at %lld", cases[i].text, tn_status_name(status),
                      err->primary.message, (long long)err->primary.offset);
        }
        end();
    }
    CHECK_INT(parse_n("\"a\0b\"", 5), TN_ARTIFACT_MALFORMED);
    end();
    CHECK_INT(parse_n("[1]\0", 4), TN_ARTIFACT_MALFORMED);
    end();
}

/* Every byte value after every prefix of the scanner's eight-byte blocks. */
TEST(special_bytes_at_every_place_of_a_block)
{
    for (int place = 0; place < 24; place++) {
        for (int c = 0; c < 256; c++) {
            char text[40] = "\"";
            memset(text + 1, 'x', 30);
            text[1 + place] = (char)c;
            strcpy(text + 31, "\"");
            bool quote = c == '"', plain = c >= 0x20 && c < 0x80 && c != '\\';
            enum tn_status status = parse_n(text, 32);
            struct tn_str value = TN_STR("?");
            if (plain && !quote) {
                CHECK_INT(status, TN_OK);
                CHECK(tn_json_str(tn_json_root(&doc), &value) && value.n == 30 && memcmp(value.s, text + 1, 30) == 0);
            } else {
                CHECK_INT(status, TN_ARTIFACT_MALFORMED);
                CHECK_INT(err->primary.offset, quote ? place + 2 : place + 1);
            }
            end();
        }
    }
}

TEST(runs_of_space)
{
    char text[200];
    for (int n = 0; n < 40; n++) {
        for (int kind = 0; kind < 4; kind++) {
            int length = sprintf(text, "[1,%*s%c%*s2]", n, "", " \n\r\t"[kind], n / 2, "");
            CHECK_INT(parse_n(text, (size_t)length), TN_OK);
            CHECK_INT(tn_json_count(tn_json_root(&doc)), 2);
            end();
            text[length - 2] = '\f';
            CHECK_INT(parse_n(text, (size_t)length), TN_ARTIFACT_MALFORMED);
            CHECK_INT(err->primary.offset, length - 2);
            end();
        }
    }
}

TEST(strings_are_decoded)
{
    static const struct {
        const char *text, *value;
        size_t n;
    } cases[] = {
        {"\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\\\\\\"\\/\\b\\f\\n\\r\\t\"", "\\\"/\b\f\n\r\t", 8},
        {"\"12345678\\n12345678\"", "12345678\n12345678", 17},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_str value = {0};
        REQUIRE(parse(cases[i].text) == TN_OK);
        CHECK(tn_json_str(tn_json_root(&doc), &value));
        CHECK(value.n == cases[i].n && memcmp(value.s, cases[i].value, value.n) == 0);
        CHECK(tn_str_is(tn_json_text(tn_json_root(&doc)), cases[i].text));
        end();
    }
}

TEST(duplicate_keys)
{
    REQUIRE(parse("{\"a\":1,\"b\":{\"x/~\":1,\"y\":2,\"x\\u002f~\":3}}") == TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(err->primary.message, "duplicate key");
    CHECK_STR(err->primary.element, "/b/x~1~0");
    CHECK_CONTAINS(err->primary.found, "x/~");
    end();
    /* Large objects take another path: every pair of places. */
    char text[4096];
    for (int twin = 1; twin < 40; twin++) {
        size_t n = (size_t)sprintf(text, "{");
        for (int i = 0; i < 40; i++)
            n += (size_t)sprintf(text + n, "%s\"key-%d\":[{}]", i ? "," : "", i == twin ? i / 2 : i);
        strcpy(text + n, "}");
        CHECK_INT(parse(text), TN_ARTIFACT_MALFORMED);
        char pointer[32];
        snprintf(pointer, sizeof(pointer), "/key-%d", twin / 2);
        CHECK_STR(err->primary.element, pointer);
        end();
    }
    /* Keys that differ in one place only, of lengths around the hash's blocks. */
    for (int length = 1; length < 30; length++) {
        size_t n = (size_t)sprintf(text, "{");
        for (int i = 0; i < length; i++) {
            char key[32];
            memset(key, 'k', sizeof(key));
            key[i] = 'q';
            n += (size_t)sprintf(text + n, "%s\"%.*s\":0", i ? "," : "", length, key);
        }
        strcpy(text + n, "}");
        CHECK_INT(parse(text), TN_OK);
        CHECK_INT(tn_json_count(tn_json_root(&doc)), length);
        end();
    }
}

TEST(limits)
{
    limits.json_depth = 3;
    CHECK_INT(parse("[[[1]]]"), TN_OK);
    end();
    CHECK_INT(parse("[[[[1]]]]"), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "json_depth");
    CHECK_INT(err->primary.offset, 3);
    end();
    limits = tn_limits_default();
    limits.json_bytes = 6;
    CHECK_INT(parse("[1,2]"), TN_OK);
    end();
    CHECK_INT(parse("[1,2,3]"), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "json_bytes");
    end();
    limits = tn_limits_default();
    limits.json_nodes = 4;
    CHECK_INT(parse("[1,2,3]"), TN_OK);
    end();
    CHECK_INT(parse("[1,2,3,4]"), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(err->primary.message, "json_nodes");
    end();
}

TEST(deep_documents_need_no_stack)
{
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    limits.json_depth = DEPTH;
    CHECK_INT(parse_n(text, 2 * DEPTH), TN_OK);
    char pointer[64];
    struct tn_json v = tn_json_root(&doc);
    for (int i = 1; i < DEPTH; i++) v = tn_json_first(v);
    CHECK(tn_json_is(v, TN_JSON_ARRAY) && tn_json_count(v) == 0);
    tn_json_pointer(v, pointer, sizeof(pointer));
    end();
    limits = tn_limits_default();
    CHECK_INT(parse_n(text, 2 * DEPTH), TN_RESOURCE_LIMIT);
    end();
    free(text);
}

TEST(numbers)
{
    static const struct {
        const char *text;
        double value;
        bool integer, i64, u64;
    } cases[] = {
        {"0", 0, true, true, true},
        {"-0", -0.0, true, true, true},
        {"3", 3, true, true, true},
        {"3.0", 3, false, true, true},
        {"3e0", 3, false, true, true},
        {"30e-1", 3, false, true, true},
        {"3.5", 3.5, false, false, false},
        {"-7", -7, true, true, false},
        {"9007199254740993", 9007199254740992.0, true, true, true},
        {"999999999999999", 999999999999999.0, true, true, true},
        {"1234567890123456", 1234567890123456.0, true, true, true},
        {"9223372036854775807", 9223372036854775807.0, true, true, true},
        {"9223372036854775808", 9223372036854775808.0, true, false, true},
        {"18446744073709551615", 18446744073709551615.0, true, false, true},
        {"18446744073709551616", 18446744073709551616.0, true, false, false},
        {"1000000000000000019884624838656", 1e30, true, false, false},
        {"1e30", 1e30, false, false, false},
        {"0.1", 0.1, false, false, false},
        {"1e-12", 1e-12, false, false, false},
        {"2.2250738585072011e-308", 2.2250738585072011e-308, false, false, false},
        {"1.7976931348623157e308", DBL_MAX, false, false, false},
        {"123456789.123456789123456789", 123456789.12345679, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double f = 99;
        int64_t s = 99;
        uint64_t u = 99;
        REQUIRE(parse(cases[i].text) == TN_OK);
        struct tn_json v = tn_json_root(&doc);
        CHECK(tn_json_f64(v, &f));
        if (f != cases[i].value || signbit(f) != signbit(cases[i].value)) {
            test_fail(__FILE__, __LINE__, "%s read as %.17g", cases[i].text, f);
        }
        CHECK_INT(tn_json_is_integer(v), cases[i].integer);
        CHECK_INT(tn_json_i64(v, &s), cases[i].i64);
        CHECK_INT(tn_json_u64(v, &u), cases[i].u64);
        if (cases[i].i64 && cases[i].value < 9e15) CHECK_INT(s, cases[i].value);
        if (!cases[i].i64) CHECK_INT(s, 99);
        if (!cases[i].u64) CHECK_INT(u, 99);
        end();
    }
    double f = 5;
    REQUIRE(parse("1e400") == TN_OK);
    CHECK(!tn_json_f64(tn_json_root(&doc), &f) && f == 5);
    CHECK(tn_str_is(tn_json_text(tn_json_root(&doc)), "1e400"));
    end();
}

/* Against the C library's reader, which is the oracle for correct rounding. */
TEST(random_numbers_round_correctly)
{
    setlocale(LC_NUMERIC, "C"); /* for the oracle; the test below has a comma */
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        uint64_t bits = test_random(&state);
        double value, found = 0;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value)) continue;
        int digits = 1 + (int)(test_random(&state) % 17);
        snprintf(text, sizeof(text), "%.*e", digits, i % 2 ? value : (double)(int64_t)(bits >> 20) / 1e6);
        CHECK(tn_parse_f64(tn_str_of(text), &found));
        if (found != strtod(text, NULL)) test_fail(__FILE__, __LINE__, "%s read as %.17g", text, found);
    }
}

TEST(numbers_under_a_comma_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < 4; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) test_skip("no locale with a decimal comma is installed");
    double f = 0;
    CHECK(tn_parse_f64(TN_STR("0.30000000000000004"), &f) && f > 0.3 && f < 0.31);
    CHECK(tn_parse_f64(TN_STR("1.5"), &f) && f == 1.5);
}

TEST(navigation)
{
    REQUIRE(parse("{\"a\":[10,{\"b\":true},[]],\"~/\":\"s\",\"\":null}") == TN_OK);
    struct tn_json root = tn_json_root(&doc), a = tn_json_get(root, "a");
    bool b = false;
    struct tn_str s;
    char pointer[64];
    CHECK_INT(tn_json_count(root), 3);
    CHECK_INT(tn_json_count(a), 3);
    CHECK(tn_json_bool(at("/a/1/b"), &b) && b);
    CHECK(tn_json_str(at("/~0~1"), &s) && tn_str_is(s, "s"));
    CHECK(tn_json_present(at("/")) && tn_json_is(at("/"), TN_JSON_NULL));
    CHECK(tn_json_present(at("")));
    static const char *const absent[] = {"/b", "/a/3", "/a/01", "/a/-1", "/a/x", "/a/1/b/c", "a", "/~0", "/a/0/0"};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) CHECK(!tn_json_present(at(absent[i])));
    CHECK_STR(tn_json_pointer(at("/a/1/b"), pointer, sizeof(pointer)).s, "/a/1/b");
    CHECK_STR(tn_json_pointer(at("/~0~1"), pointer, sizeof(pointer)).s, "/~0~1");
    CHECK_STR(tn_json_pointer(root, pointer, sizeof(pointer)).s, "");
    CHECK_INT(tn_json_offset(at("/a/1/b")), 14);
    CHECK(tn_str_is(tn_json_text(at("/a/1")), "{\"b\":true}"));
    CHECK(tn_str_is(tn_json_key(a), "a"));
    CHECK(tn_str_is(tn_json_key(tn_json_first(a)), ""));
    size_t n = 0;
    for (struct tn_json v = tn_json_first(a); tn_json_present(v); v = tn_json_next(v)) n++;
    CHECK_INT(n, 3);
    CHECK(tn_json_present(tn_json_at(a, 2)) && !tn_json_present(tn_json_at(a, 3)) &&
          !tn_json_present(tn_json_at(root, 0)));
    CHECK(!tn_json_present(tn_json_next(root)) && !tn_json_present(tn_json_first(at("/a/2"))));
    struct tn_finding f = {0};
    tn_at_json(&f, at("/a/1/b"));
    CHECK_STR(f.element, "/a/1/b");
    CHECK_STR(f.file, "d.json");
    tn_at_json_member(&f, at("/a/1"), "new");
    CHECK_STR(f.element, "/a/1/new");
    end();
}

TEST(absent_values_answer_nothing)
{
    struct tn_json none = {0};
    bool b = true;
    double f = 1;
    int64_t i = 1;
    uint64_t u = 1;
    struct tn_str s = TN_STR("x");
    CHECK(!tn_json_bool(none, &b) && !tn_json_f64(none, &f) && !tn_json_i64(none, &i) && !tn_json_u64(none, &u) &&
          !tn_json_str(none, &s));
    CHECK(!tn_json_present(tn_json_get(none, "a")) && !tn_json_present(tn_json_first(none)) &&
          !tn_json_present(tn_json_next(none)));
    CHECK_INT(tn_json_count(none), 0);
    CHECK_INT(tn_json_key(none).n, 0);
    CHECK_INT(tn_json_text(none).n, 0);
    tn_at_json(NULL, none);
    tn_at_json_member(NULL, none, "a");
    struct tn_json_doc zero = {0};
    tn_json_release(&zero);
}

TEST(long_pointers_are_cut)
{
    char pointer[8];
    REQUIRE(parse("{\"abcdefghijk\":[1]}") == TN_OK);
    struct tn_str cut = tn_json_pointer(at("/abcdefghijk/0"), pointer, sizeof(pointer));
    CHECK(cut.n < sizeof(pointer) && strlen(pointer) == cut.n);
    end();
}

TEST(text_that_is_taken)
{
    char *text = tn_strndup(&alloc, "[\"abc\"]", 7);
    struct tn_str s;
    REQUIRE(tn_json_parse_take(&doc, &alloc, &limits, TN_STR("t"), (struct tn_str){text, 7}, err) == TN_OK);
    CHECK(tn_json_str(at("/0"), &s) && s.s == text + 2);
    end();
    text = tn_strndup(&alloc, "[", 1);
    CHECK_INT(tn_json_parse_take(&doc, &alloc, &limits, TN_STR("t"), (struct tn_str){text, 1}, err),
              TN_ARTIFACT_MALFORMED);
    CHECK(doc.alloc == NULL);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(allocation_sweep)
{
    char text[6000];
    size_t n = (size_t)sprintf(text, "{\"esc\\u0061pe\":[\"a\\nb\"");
    for (int i = 0; i < 100; i++) n += (size_t)sprintf(text + n, ",%d", i);
    n += (size_t)sprintf(text + n, "],\"o\":{");
    for (int i = 0; i < 100; i++) n += (size_t)sprintf(text + n, "%s\"k%d\":0", i ? "," : "", i);
    strcpy(text + n, "}}");
    for (uint64_t k = 1;; k++) {
        tn_alloc_fail(&alloc, k, k % 2 == 0);
        enum tn_status status = parse(text);
        tn_alloc_fail(&alloc, 0, false);
        if (status == TN_OK) {
            CHECK(k > 5);
            end();
            break;
        }
        CHECK_INT(status, TN_INSUFFICIENT_MEMORY);
        end();
    }
}

/* Memory follows what was read, not what a document seems to promise. */
TEST(memory_is_proportional)
{
    enum { N = 1 << 20 };
    char *text = malloc(N);
    memset(text, ' ', N);
    text[0] = '7';
    tn_alloc_reset_peak(&alloc);
    CHECK_INT(parse_n(text, N), TN_OK);
    CHECK(tn_alloc_peak(&alloc) < 5 * N);
    end();
    for (int i = 0; i < N; i++) text[i] = i % 2 ? ',' : '1';
    text[0] = '[';
    text[N - 1] = ']';
    text[1] = '1';
    CHECK_INT(parse_n(text, N), TN_OK);
    CHECK(tn_alloc_peak(&alloc) < 64 * N);
    end();
    free(text);
}
