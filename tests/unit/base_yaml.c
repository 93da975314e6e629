/*
 * The YAML reader: documents against what other people's readers made of them (tests/golden/yaml), every refusal by code and
 * place, typed reads, limits, hostile documents of 1 MB, places, failing allocations.
 */
#define _GNU_SOURCE
#include "test.h"

#include "base/yaml.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

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

/* The text is a heap copy of exactly n bytes that is gone afterwards: the document must not refer to it. */
static enum tn_status parse_n(const char *text, size_t n)
{
    char *copy = malloc(n ? n : 1);
    memcpy(copy, text, n);
    tn_error_clear(err);
    enum tn_status status = tn_yaml_parse(&doc, &alloc, &limits, TN_STR("d.yaml"), (struct tn_str){copy, n}, err);
    memset(copy, 'X', n);
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

/* ---- against other readers -------------------------------------------------------------------------------------- */

/* One node, without what is below it: same type, text of a string, value and kind of a number. */
static bool same_node(struct tn_json a, struct tn_json b)
{
    struct tn_str x = {0}, y = {0};
    double p = 0, q = 0;
    bool u = false, v = false;
    if (tn_json_type(a) != tn_json_type(b)) return false;
    switch (tn_json_type(a)) {
    case TN_JSON_NULL: return true;
    case TN_JSON_BOOL: return tn_json_bool(a, &u) && tn_json_bool(b, &v) && u == v;
    case TN_JSON_STRING: return tn_json_str(a, &x) && tn_json_str(b, &y) && tn_str_eq(x, y);
    case TN_JSON_NUMBER:
        if (tn_json_is_integer(a) != tn_json_is_integer(b)) return false;
        if (tn_json_is_integer(a)) {
            /* Python has no negative integer zero. */
            return tn_str_eq(tn_json_text(a), tn_json_text(b)) || tn_str_is(tn_json_text(a), "-0");
        }
        return tn_json_f64(a, &p) && tn_json_f64(b, &q) && p == q && signbit(p) == signbit(q);
    case TN_JSON_ARRAY:
    case TN_JSON_OBJECT: break;
    }
    return tn_json_count(a) == tn_json_count(b);
}

static void compare(const char *name, struct tn_json found, struct tn_json expected)
{
    char pointer[256];
    if (!same_node(found, expected)) {
        struct tn_str text = tn_json_text(found), wanted = tn_json_text(expected);
        test_fail(__FILE__, __LINE__, "%s: at \"%s\" found %.*s, expected %.*s", name,
                  tn_json_pointer(found, pointer, sizeof(pointer)).s, (int)(text.n < 200 ? text.n : 200), text.s,
                  (int)(wanted.n < 200 ? wanted.n : 200), wanted.s);
        return;
    }
    struct tn_json a = tn_json_first(found), b = tn_json_first(expected);
    for (; tn_json_present(a) && tn_json_present(b); a = tn_json_next(a), b = tn_json_next(b)) {
        if (!tn_str_eq(tn_json_key(a), tn_json_key(b))) {
            test_fail(__FILE__, __LINE__, "%s: key %.*s, expected %.*s", name, TN_FMT_ARG(tn_json_key(a)),
                      TN_FMT_ARG(tn_json_key(b)));
        }
        compare(name, a, b);
    }
}

static bool open_golden(const char *name, struct tn_json_doc *golden)
{
    size_t n = 0;
    char *text = test_read_file(test_path(name), &n);
    bool there = text && tn_json_parse_copy(golden, &alloc, &limits, tn_str_of(name), (struct tn_str){text, n}, err) == TN_OK;
    if (!there) test_fail(__FILE__, __LINE__, "cannot read %s", name);
    free(text);
    return there;
}

TEST(small_documents_read_as_elsewhere)
{
    struct tn_json_doc golden;
    if (!open_golden("golden/yaml/cases.json", &golden)) return;
    size_t count = 0;
    struct tn_json cases = tn_json_get(tn_json_root(&golden), "cases");
    for (struct tn_json c = tn_json_first(cases); tn_json_present(c); c = tn_json_next(c), count++) {
        struct tn_str name = {0}, text = {0};
        tn_json_str(tn_json_get(c, "name"), &name);
        tn_json_str(tn_json_get(c, "text"), &text);
        char label[128];
        snprintf(label, sizeof(label), "%.*s", (int)name.n, name.s);
        if (parse_n(text.s, text.n) != TN_OK) {
            test_fail(__FILE__, __LINE__, "%s: %s (%s)", label, err->primary.message, err->primary.found);
            continue;
        }
        compare(label, tn_json_root(&doc), tn_json_get(c, "value"));
        tn_json_release(&doc);
    }
    CHECK(count >= 100);
    tn_json_release(&golden);
    end();
}

TEST(documents_of_the_standard_read_as_elsewhere)
{
    struct tn_json_doc golden;
    if (!open_golden("golden/yaml/standard.json", &golden)) return;
    size_t count = 0;
    struct tn_json documents = tn_json_get(tn_json_root(&golden), "documents");
    for (struct tn_json d = tn_json_first(documents); tn_json_present(d); d = tn_json_next(d), count++) {
        char path[256];
        size_t n = 0;
        snprintf(path, sizeof(path), "golden/standard/%.*s", TN_FMT_ARG(tn_json_key(d)));
        char *text = test_read_file(test_path(path), &n);
        if (!text || parse_n(text, n) != TN_OK) {
            test_fail(__FILE__, __LINE__, "%s: %s", path, text ? err->primary.message : "is not there");
        } else {
            compare(path, tn_json_root(&doc), d);
            tn_json_release(&doc);
        }
        free(text);
    }
    CHECK(count >= 19);
    tn_json_release(&golden);
    end();
}

/* JSON is YAML, but for surrogates in escapes and repeated keys. */
TEST(json_documents_read_the_same)
{
    static const char *const texts[] = {
        "null", "true", "-1.5e+3", "\"\"", "[]", "{}", " [ ] ", "[1,2]", "{\"a\":1}", "[[[]]]", "{\"\":{\"\":[]}}",
        "{\"a\":{\"a\":1},\"b\":{\"a\":1}}", "[1e5,1E-5,-0.0]", "{\"x\" : [ true , null ] , \"y\":\"a\\u00e9\\n\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct tn_json_doc json;
        REQUIRE(tn_json_parse(&json, &alloc, &limits, TN_STR("d.json"), tn_str_of(texts[i]), err) == TN_OK);
        CHECK_INT(parse(texts[i]), TN_OK);
        compare(texts[i], tn_json_root(&doc), tn_json_root(&json));
        CHECK_INT(doc.count, json.count);
        tn_json_release(&json);
        end();
    }
}

/* What the readers behind the goldens do differently from one another, by the text of YAML 1.2.2. */
TEST(where_readers_differ)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"a: |\n  one", "{\"a\":\"one\"}"}, /* 8.1.1.2: the end of the file is no line break */
        {"- !!float 3\n- !!float -0\n", "[3.0,-0.0]"},
        {"- &a 1\n- *a\n- &a two\n- *a\n", "[1,1,\"two\",\"two\"]"}, /* 3.2.2.2: the latest anchor counts */
        {"a: 1\t# c\nb:\t2\n", "{\"a\":1,\"b\":2}"},
        {"- 1e400\n- -1e400\n", "[1e400,-1e400]"},
        {"a: &x\n!!str b: c", "{\"a\":null,\"b\":\"c\"}"},
        {"{\"a\":&x, !!str b: c}", "{\"a\":null,\"b\":\"c\"}"},
        {"- &x # c\n  !!str 1\n", "[\"1\"]"},
        {"- &x # c !\n  1\n", "[1]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum tn_status status = parse(cases[i].text);
        if (status != TN_OK || !tn_str_is(tn_json_text(tn_json_root(&doc)), cases[i].json)) {
            test_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, status ? err->primary.message : doc.text.s);
        }
        end();
    }
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

TEST(numbers)
{
    static const struct {
        const char *text, *json;
        bool integer, i64, u64;
    } cases[] = {
        {"0", "0", true, true, true},
        {"+7", "7", true, true, true},
        {"-0007", "-7", true, true, false},
        {"00", "0", true, true, true},
        {"0o17", "15", true, true, true},
        {"0x1aF", "431", true, true, true},
        {"0xFFFFFFFFFFFFFFFF", "18446744073709551615", true, false, true},
        {"0x00000000000000000000001", "1", true, true, true},
        {"0o1777777777777777777777", "18446744073709551615", true, false, true},
        {"9223372036854775807", "9223372036854775807", true, true, true},
        {"-9223372036854775807", "-9223372036854775807", true, true, false},
        {"18446744073709551616", "18446744073709551616", true, false, false},
        {"1000000000000000019884624838656", "1000000000000000019884624838656", true, false, false},
        {"1.", "1.0", false, true, true},
        {".5", "0.5", false, false, false},
        {"-.5", "-0.5", false, false, false},
        {"+.5e3", "0.5e3", false, true, true},
        {"01.50", "1.50", false, false, false},
        {"1e3", "1e3", false, true, true},
        {"1.E+03", "1.0E+03", false, true, true},
        {"9007199254740993", "9007199254740993", true, true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        struct tn_json_doc json;
        double f = 99, g = 98;
        int64_t s, t;
        uint64_t u, v;
        snprintf(text, sizeof(text), "a: %s\n", cases[i].text);
        REQUIRE(parse(text) == TN_OK);
        struct tn_json n = at("/a");
        REQUIRE(tn_json_is(n, TN_JSON_NUMBER));
        if (!tn_str_is(tn_json_text(n), cases[i].json)) {
            test_fail(__FILE__, __LINE__, "%s has the text %.*s", cases[i].text, TN_FMT_ARG(tn_json_text(n)));
        }
        CHECK_INT(tn_json_is_integer(n), cases[i].integer);
        CHECK_INT(tn_json_i64(n, &s), cases[i].i64);
        CHECK_INT(tn_json_u64(n, &u), cases[i].u64);
        REQUIRE(tn_json_parse(&json, &alloc, &limits, TN_STR("j"), tn_str_of(cases[i].json), err) == TN_OK);
        CHECK(tn_json_f64(n, &f) && tn_json_f64(tn_json_root(&json), &g) && f == g);
        if (cases[i].i64) CHECK(tn_json_i64(tn_json_root(&json), &t) && s == t);
        if (cases[i].u64) CHECK(tn_json_u64(tn_json_root(&json), &v) && u == v);
        tn_json_release(&json);
        end();
    }
}

TEST(numbers_under_a_comma_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < 4; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) test_skip("no locale with a decimal comma is installed");
    double f = 0;
    struct tn_str s;
    REQUIRE(parse("a: 0.30000000000000004\nb: 1,5\n") == TN_OK);
    CHECK(tn_json_f64(at("/a"), &f) && f > 0.3 && f < 0.31);
    CHECK(tn_json_str(at("/b"), &s) && tn_str_is(s, "1,5"));
    end();
}

TEST(strings)
{
    struct tn_str s;
    REQUIRE(parse("- \"a\\0b\"\n- 'null'\n- |\n  x\n   y\n- >-\n  x\n  y\n- !!str 12\n- \"\\u2028\\x85\"\n") == TN_OK);
    CHECK(tn_json_str(at("/0"), &s) && s.n == 3 && memcmp(s.s, "a\0b", 3) == 0);
    CHECK(tn_json_str(at("/1"), &s) && tn_str_is(s, "null"));
    CHECK(tn_json_str(at("/2"), &s) && tn_str_is(s, "x\n y\n"));
    CHECK(tn_json_str(at("/3"), &s) && tn_str_is(s, "x y"));
    CHECK(tn_json_str(at("/4"), &s) && tn_str_is(s, "12"));
    CHECK(tn_json_str(at("/5"), &s) && tn_str_is(s, "\xE2\x80\xA8\xC2\x85"));
    CHECK(tn_str_is(tn_json_text(at("/2")), "\"x\\n y\\n\""));
    end();
}

/* Offsets are bytes of the YAML text; what an alias copies keeps the place where it was written. */
TEST(places)
{
    const char *text = "\xEF\xBB\xBF# é\nä: &x [ü, {b: 1}]\r\nc:\r\n  d: *x\r\n  e: 'z'\r\n";
    char pointer[64];
    REQUIRE(parse(text) == TN_OK);
    CHECK_INT(tn_json_offset(at("")), strstr(text, "ä") - text);
    CHECK_INT(tn_json_offset(at("/ä")), strstr(text, "&x") - text);
    CHECK_INT(tn_json_offset(at("/ä/0")), strstr(text, "ü") - text);
    CHECK_INT(tn_json_offset(at("/ä/1/b")), strstr(text, "1}") - text);
    CHECK_INT(tn_json_offset(at("/c")), strstr(text, "d:") - text);
    CHECK_INT(tn_json_offset(at("/c/d")), strstr(text, "*x") - text);
    CHECK_INT(tn_json_offset(at("/c/d/1/b")), strstr(text, "1}") - text);
    CHECK_INT(tn_json_offset(at("/c/e")), strstr(text, "'z'") - text);
    CHECK_STR(tn_json_pointer(at("/c/d/1/b"), pointer, sizeof(pointer)).s, "/c/d/1/b");
    CHECK(tn_str_is(tn_json_text(at("/c/d")), "[\"ü\",{\"b\":1}]"));
    CHECK(tn_str_is(doc.file, "d.yaml"));
    end();
}

TEST(names_of_files)
{
    CHECK(tn_yaml_named(TN_STR("inference_metadata.yaml")) && tn_yaml_named(TN_STR("a/b.yml")));
    CHECK(!tn_yaml_named(TN_STR("a.json")) && !tn_yaml_named(TN_STR("yaml")) && !tn_yaml_named(TN_STR("a.yaml.bak")));
    CHECK(!tn_yaml_named(TN_STR("")));
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

static const struct refusal {
    const char *text;
    int offset;
    const char *pointer, *message, *found; /* found NULL: anything */
} refusals[] = {
    {"", 0, "", "there is no document", "an empty file"},
    {"# x\n\n", 5, "", "line 3, column 1: there is no document", "nothing but"},
    {"--- a\n--- b\n", 6, "", "line 2, column 1: a second document", NULL},
    {"a: 1\n...\nb: 2\n", 9, "", "line 3, column 1: ", NULL},
    {"%YAML 1.1\n--- yes\n", 0, "", "another version of YAML", "%YAML 1.1"},
    {"%YAML 2.0\n--- yes\n", 0, "", "incompatible YAML document", NULL},
    {"%FOO bar\n--- yes\n", 4, "", "unknown directive", NULL},
    /* syntax */
    {"a: [1, 2", 8, "", "line 1, column 9: did not find expected ',' or ']'", "the end of the document after 8 bytes"},
    {"a: {b: 1", 8, "", "did not find expected ',' or '}'", NULL},
    {"a: 'b", 5, "", "found unexpected end of stream", NULL},
    {"a: \"b\\q\"", 5, "", "found unknown escape character", NULL},
    {"a: \"\\uD83D\\uDE00\"", 6, "", "invalid Unicode character escape", NULL},
    {"a: b: c", 4, "", "mapping values are not allowed", "byte 0x3A"},
    {"a: 1\n  b: 2\n", 8, "", "line 2, column 4: mapping values are not allowed", NULL},
    {"a: 1\n b\nc", 9, "", "could not find expected ':'", NULL},
    {"a:\n\t- b\n", 3, "", "cannot start any token", "byte 0x09"},
    {"- a\nb: c\n", 4, "", "did not find expected '-' indicator", NULL},
    {"a: @b", 3, "", "cannot start any token", "byte 0x40"},
    {"a: `b`", 3, "", "cannot start any token", NULL},
    {"a: !x!y z", 3, "", "undefined tag handle", NULL},
    {"ä: [ü,\n  ö: [", 16, "", "line 2, column 7: did not find expected node content", NULL},
    /* the raw text */
    {"\xFF\xFE" "a", 0, "", "UTF-16", "byte 0xFF"},
    {"\xFE\xFF" "a", 0, "", "UTF-16", "byte 0xFE"},
    {"a: \xFF", 3, "", "line 1, column 4: invalid UTF-8", "byte 0xFF"},
    {"a: \xC0\x80", 3, "", "invalid UTF-8", NULL},
    {"a: \xED\xA0\x80", 3, "", "invalid UTF-8", NULL},
    {"é: x\nb: \xE2\x82", 9, "", "line 2, column 4: invalid UTF-8", NULL},
    {"a: \x01", 3, "", "a control character", "byte 0x01"},
    {"a: \"\x1B\"", 4, "", "a control character", NULL},
    {"a: \x7F", 3, "", "a control character", NULL},
    {"a: \xC2\x9F", 3, "", "a control character", NULL},
    {"a: b\xC2\x85" "c: d", 4, "", "only YAML 1.1 knows", NULL},
    {"# a\xE2\x80\xA8" "b: c", 3, "", "only YAML 1.1 knows", NULL},
    {"a: 'b\xE2\x80\xA9'", 5, "", "only YAML 1.1 knows", NULL},
    {"a: 1\r\nb: 2\rc: 3\r", 10, "", "line 2, column 5: a carriage return without", NULL},
    {"a: 'x\r'", 5, "", "a carriage return without", NULL},
    {"a: 1\r", 4, "", "a carriage return without", "byte 0x0D"},
    {"a: \xEF\xBB\xBF", 3, "", "a byte order mark inside", NULL},
    {"a: \xEF\xBF\xBE", 3, "", "no character", NULL},
    /* keys */
    {"a: 1\nb: 2\na: 3\n", 10, "/a", "line 3, column 1: duplicate key in a mapping", "the key \"a\" twice"},
    {"x:\n  - a: 1\n    \"a\": 2\n", 16, "/x/0/a", "line 3, column 5: duplicate key", NULL},
    {"12: a\n'12': b\n", 6, "/12", "duplicate key", NULL},
    {"true: a\n\"true\": b\n", 8, "/true", "duplicate key", NULL},
    {"a: &k b\nc:\n  *k : 1\n  b: 2\n", 22, "/c/b", "line 4, column 3: duplicate key", NULL},
    {"a: &k {b: 1}\nc:\n  d: *k\n  d: *k\n", 26, "/c/d", "line 4, column 3: duplicate key", NULL},
    {"a:\n  <<: {b: 1}\n", 5, "/a", "a merge key", "<<"},
    {"a: &x {b: 1}\nc:\n  <<: *x\n", 18, "/c", "a merge key", NULL},
    {"? [a]\n: b\n", 2, "", "a key that is a list", NULL},
    {"x:\n  {a: b}: c\n", 5, "/x", "a key that is a mapping", NULL},
    {"0x10: a", 0, "", "several spellings", "0x10"},
    {"+1: a", 0, "", "several spellings", "+1"},
    {"01: a", 0, "", "several spellings", NULL},
    {"-0: a", 0, "", "several spellings", NULL},
    {"1.0: a", 0, "", "several spellings", NULL},
    {"1e3: a", 0, "", "several spellings", NULL},
    {".inf: a", 0, "", "several spellings", NULL},
    {"~: a", 0, "", "several spellings", NULL},
    {"Null: a", 0, "", "several spellings", NULL},
    {"True: a", 0, "", "several spellings", NULL},
    {"!!int 0x1: a", 0, "", "several spellings", NULL},
    {"? \n: a", 1, "", "an empty key", NULL},
    {"&x 12: a", 0, "", "an anchor at a key that is no string", NULL},
    {"a: &x 12\nb: {*x : c}\n", 13, "/b", "an alias to something else than a string", "*x"},
    {"a: &x [b]\n*x : c\n", 10, "", "an alias to something else than a string", NULL},
    /* values */
    {"a: [1, .inf]", 7, "/a/1", "not finite", ".inf"},
    {"a: -.INF", 3, "/a", "not finite", NULL},
    {"a: {b: +.Inf}", 7, "/a/b", "not finite", NULL},
    {"- .nan", 2, "/0", "not finite", ".nan"},
    {"- a\n- !!float .NaN", 6, "/1", "not finite", NULL},
    {"a: 0x10000000000000000", 3, "/a", "more than 64 bits", NULL},
    {"a: 0o2000000000000000000000", 3, "/a", "more than 64 bits", NULL},
    /* tags */
    {"a: !foo 1", 3, "/a", "not of the core schema", "the tag !foo"},
    {"a: !!binary aGk=", 3, "/a", "does not agree", "2002:binary"},
    {"a: !!timestamp 2026-01-01", 3, "/a", "does not agree", NULL},
    {"a: !!set {b}", 3, "/a", "does not agree", NULL},
    {"a: !!omap [b: 1]", 3, "/a", "does not agree", NULL},
    {"a: !!python/object:os.system x", 3, "/a", "does not agree", NULL},
    {"!<tag:example.com,2026:x> {a: 1}", 0, "", "not of the core schema", NULL},
    {"%TAG !! tag:example.com:\n--- !!str a", 29, "", "not of the core schema", NULL},
    {"- !!int x", 2, "/0", "does not agree", NULL},
    {"- !!int 1.5", 2, "/0", "does not agree", NULL},
    {"- !!int", 2, "/0", "does not agree", NULL},
    {"- !!float x", 2, "/0", "does not agree", NULL},
    {"- !!float 0x1", 2, "/0", "does not agree", NULL},
    {"- !!bool yes", 2, "/0", "does not agree", NULL},
    {"- !!null x", 2, "/0", "does not agree", NULL},
    {"- !!null null\n- !!seq {a: 1}", 16, "/1", "does not agree", NULL},
    {"- !!map [a]", 2, "/0", "does not agree", NULL},
    {"- !!str [a]", 2, "/0", "does not agree", NULL},
    {"- !!seq a", 2, "/0", "does not agree", NULL},
    {"- ! a", 2, "/0", "not of the core schema", "the tag !"},
    {"- ! 12", 2, "/0", "not of the core schema", NULL},
    {"- &x ! 12", 2, "/0", "not of the core schema", NULL},
    {"- &x # c\n  ! 12", 2, "/0", "not of the core schema", NULL},
    {"- ! &x 12", 2, "/0", "not of the core schema", NULL},
    {"- ! 'a'", 2, "/0", "not of the core schema", NULL},
    {"- ! [a]", 2, "/0", "not of the core schema", NULL},
    {"! a: b", 0, "", "not of the core schema", NULL},
    /* aliases */
    {"a: *b", 3, "/a", "an anchor that is not there", "*b"},
    {"a: *b\nc: &b 1", 3, "/a", "an anchor that is not there", NULL},
    {"a: &b [*b]", 7, "/a/0", "an alias inside its own anchor", "*b"},
    {"&b\na: {c: *b}", 10, "/a/c", "an alias inside its own anchor", NULL},
    {"a: &b {c: &d [1, *b]}", 17, "/a/c/1", "an alias inside its own anchor", NULL},
    /* pointers are escaped */
    {"a/b~c:\n  \"d\\\"\\\\\\n\": [.inf]\n", 21, "/a~1b~0c/d\"\\\\x0A/0", "not finite", NULL},
};

TEST(refusals_by_code_and_place)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        enum tn_status status = parse(r->text);
        const struct tn_finding *f = &err->primary;
        bool good = status == TN_ARTIFACT_MALFORMED && f->code == status && f->offset == r->offset &&
                    strcmp(f->element, r->pointer) == 0 && strstr(f->message, r->message) &&
                    strncmp(f->message, "YAML, line ", 11) == 0 && (!r->found || strstr(f->found, r->found)) &&
                    strcmp(f->file, "d.yaml") == 0 && f->expected[0] && f->remedy[0] && doc.alloc == NULL;
        if (!good) {
            test_fail(__FILE__, __LINE__, "%s: %s \"%s\" at %lld \"%s\", found \"%s\"", r->text, tn_status_name(status),
                      f->message, (long long)f->offset, f->element, f->found);
        }
        end();
    }
    CHECK_INT(parse_n("a: \0b", 5), TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(err->primary.message, "a NUL byte");
    CHECK_INT(err->primary.offset, 3);
    end();
    CHECK_INT(parse_n("a\0:\0 \0b\0", 8), TN_ARTIFACT_MALFORMED);
    CHECK_CONTAINS(err->primary.message, "UTF-16");
    end();
}

/* Without an error to fill, and without a text. */
TEST(nothing_given)
{
    CHECK_INT(tn_yaml_parse(&doc, &alloc, &limits, TN_STR("d"), (struct tn_str){0}, NULL), TN_ARTIFACT_MALFORMED);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        CHECK_INT(tn_yaml_parse(&doc, &alloc, &limits, TN_STR("d"), tn_str_of(refusals[i].text), NULL),
                  TN_ARTIFACT_MALFORMED);
    }
    end();
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

static void refused_by(const char *limit, const char *text, const char *found, const char *most)
{
    const struct tn_finding *f = &err->primary;
    if (parse(text) != TN_RESOURCE_LIMIT || !strstr(f->message, limit) || strcmp(f->found, found) != 0 ||
        strcmp(f->expected, most) != 0 || !strstr(f->remedy, limit) || f->offset < 0) {
        test_fail(__FILE__, __LINE__, "%s: \"%s\", found %s, expected %s", text, f->message, f->found, f->expected);
    }
    end();
}

TEST(limits_are_exact)
{
    limits.yaml_bytes = 6;
    CHECK_INT(parse("a: 123"), TN_OK);
    end();
    refused_by("yaml_bytes", "a: 1234", "7", "at most 6");
    CHECK_INT(tn_yaml_check_size(&limits, TN_STR("f"), 6, err), TN_OK);
    CHECK_INT(tn_yaml_check_size(&limits, TN_STR("f"), 7, err), TN_RESOURCE_LIMIT);
    CHECK_STR(err->primary.file, "f");
    limits = tn_limits_default();
    limits.json_depth = 3;
    CHECK_INT(parse("[[[1]]]"), TN_OK);
    end();
    refused_by("json_depth", "[[[[1]]]]", "4", "at most 3");
    CHECK_STR(err->primary.element, "/0/0/0");
    refused_by("json_depth", "a:\n  b:\n    c:\n      d: 1\n", "4", "at most 3");
    CHECK_INT(parse("a: &x [1]\nb: [*x]\n"), TN_OK);
    end();
    refused_by("json_depth", "a: &x [1]\nb: [[*x]]\n", "4", "at most 3");
    refused_by("json_depth", "a: &x [[1], 2]\nb: [*x]\n", "4", "at most 3");
    limits = tn_limits_default();
    limits.json_nodes = 5;
    CHECK_INT(parse("a: 1\nb: 2\n"), TN_OK);
    end();
    refused_by("json_nodes", "a: 1\nb: 2\nc: 3\n", "6", "at most 5");
    refused_by("json_nodes", "- &x [1, 2]\n- *x\n", "7", "at most 5");
    limits = tn_limits_default();
    limits.json_bytes = 9;
    CHECK_INT(parse("- abc\n- 1"), TN_OK);
    end();
    refused_by("json_bytes", "- abcd\n- 1", "10", "at most 9");
    limits = tn_limits_default();
    limits.yaml_scalar_bytes = 4;
    CHECK_INT(parse("- abcd\n"), TN_OK);
    end();
    refused_by("yaml_scalar_bytes", "- ab cd\n", "5", "at most 4");
    limits = tn_limits_default();
    limits.name_bytes = 3;
    CHECK_INT(parse("abc: abcd\n"), TN_OK);
    end();
    refused_by("name_bytes", "abcd: 1\n", "4", "at most 3");
    refused_by("name_bytes", "a: &x abcd\nb: {*x : 1}\n", "4", "at most 3");
    refused_by("name_bytes", "a: &long 1\n", "4", "at most 3");
    limits = tn_limits_default();
    limits.yaml_anchors = 2;
    CHECK_INT(parse("[&a 1, &b 2, *a, *b]"), TN_OK);
    end();
    refused_by("yaml_anchors", "[&a 1, &b 2, &a 3]", "3", "at most 2");
    limits = tn_limits_default();
    limits.yaml_expansion = 6;
    CHECK_INT(parse("[&a abcd, *a]"), TN_OK);
    end();
    refused_by("yaml_expansion", "[&a abcd, *a, *a]", "12", "at most 6");
    limits = tn_limits_default();
    limits.yaml_directives = 1;
    CHECK_INT(parse("%YAML 1.2\n---\na: 1\n"), TN_OK);
    end();
    refused_by("yaml_directives", "\xEF\xBB\xBF%YAML 1.2\n%TAG !a! b\n---\na: 1\n", "2", "at most 1");
    limits = tn_limits_default();
}

/* ---- hostile documents of 1 MB ---------------------------------------------------------------------------------- */

enum { MEGABYTE = 1 << 20 };
static char *big;
static size_t big_n;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    big_n += (size_t)vsnprintf(big + big_n, 4096, format, args);
    va_end(args);
}

static void fill(const char *unit, size_t tail)
{
    size_t n = strlen(unit);
    for (; big_n + n + tail <= MEGABYTE; big_n += n) memcpy(big + big_n, unit, n);
}

/* Parses `big`: the code, a word of the message, memory of ours by the account, and time. */
static void hostile(const char *name, enum tn_status code, const char *message)
{
    tn_alloc_reset_peak(&alloc);
    clock_t start = clock();
    enum tn_status status = parse_n(big, big_n);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status != code || (message && !strstr(err->primary.message, message))) {
        test_fail(__FILE__, __LINE__, "%s: %s \"%s\"", name, tn_status_name(status), err->primary.message);
    }
    /* 0.2 s for the slowest on a machine of today; sanitizers and busy neighbours cost a factor. */
    if (seconds > 5) test_fail(__FILE__, __LINE__, "%s took %.1f s", name, seconds);
    if (tn_alloc_peak(&alloc) > 64 * (uint64_t)MEGABYTE) {
        test_fail(__FILE__, __LINE__, "%s took %llu bytes", name, (unsigned long long)tn_alloc_peak(&alloc));
    }
    end();
    big_n = 0;
}

static void hostile_unit(const char *head, const char *unit, enum tn_status code, const char *message)
{
    put("%s", head);
    fill(unit, 0);
    hostile(unit, code, message);
}

static void start_big(void)
{
    big = malloc(MEGABYTE + 8192);
    big_n = 0;
}

TEST(hostile_nesting)
{
    start_big();
    hostile_unit("", "[", TN_RESOURCE_LIMIT, "json_depth");
    hostile_unit("", "{a: ", TN_RESOURCE_LIMIT, "json_depth");
    hostile_unit("", "- ", TN_RESOURCE_LIMIT, "json_depth");
    hostile_unit("", "[{", TN_ARTIFACT_MALFORMED, "a key that is");
    hostile_unit("", "? ", TN_ARTIFACT_MALFORMED, "a key that is a mapping");
    for (int i = 0; big_n < MEGABYTE - 4096; i++) put("%*sa:\n", i, "");
    hostile("block mappings", TN_RESOURCE_LIMIT, "json_depth");
    put("[");
    while (big_n < MEGABYTE - 4096) {
        for (int i = 0; i < 120; i++) put("[");
        for (int i = 0; i < 120; i++) put("]");
        put(",");
    }
    put("]");
    hostile("many deep lists", TN_OK, NULL);
    free(big);
}

TEST(hostile_aliases)
{
    start_big();
    put("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 30; i++) {
        put("a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) put("%s*a%d", k ? "," : "", i - 1);
        put("]\n");
    }
    hostile("ten to the thirty", TN_RESOURCE_LIMIT, "yaml_expansion");
    put("a: &a \"");
    for (int i = 0; i < 200000; i++) big[big_n++] = 'x';
    put("\"\nb: [");
    fill("*a,", 2);
    put("]\n");
    hostile("a large string again and again", TN_RESOURCE_LIMIT, "yaml_expansion");
    hostile_unit("- &a [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n", "- *a\n", TN_RESOURCE_LIMIT, "yaml_expansion");
    hostile_unit("- &a 1\n", "- *a\n", TN_OK, NULL);
    hostile_unit("[", "&a 1,", TN_RESOURCE_LIMIT, "yaml_anchors");
    for (int i = 0; big_n < MEGABYTE - 64; i++) put("- &a%d %d\n", i, i);
    hostile("many anchors", TN_RESOURCE_LIMIT, "yaml_anchors");
    hostile_unit("&", "a", TN_RESOURCE_LIMIT, "name_bytes");
    hostile_unit("*", "a", TN_ARTIFACT_MALFORMED, "not there");
    hostile_unit("&a [", "*a,", TN_ARTIFACT_MALFORMED, "inside its own anchor");
    free(big);
}

TEST(hostile_keys)
{
    start_big();
    for (int i = 0; big_n < MEGABYTE - 64; i++) put("k%d: %d\n", i, i);
    hostile("many keys", TN_OK, NULL);
    for (int i = 0; big_n < MEGABYTE - 64; i++) put("k%d: %d\n", i, i);
    put("k7: 1\n");
    hostile("a duplicate among many keys", TN_ARTIFACT_MALFORMED, "duplicate key");
    hostile_unit("", "a: 1\n", TN_ARTIFACT_MALFORMED, "line 2, column 1: duplicate key");
    hostile_unit("", "<<: 1\n", TN_ARTIFACT_MALFORMED, "a merge key");
    put("? ");
    for (int i = 0; i < 5000; i++) big[big_n++] = 'k';
    put("\n: 1\n");
    hostile("a long key", TN_RESOURCE_LIMIT, "name_bytes");
    hostile_unit("? ", "k", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("", "?\n", TN_ARTIFACT_MALFORMED, "an empty key");
    hostile_unit("", ":\n", TN_ARTIFACT_MALFORMED, NULL);
    free(big);
}

TEST(hostile_scalars)
{
    start_big();
    hostile_unit("", "x", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("", "x ", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("", "x\n", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("|\n", " x\n", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit(">\n", " x\n\n", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("", "9", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    put("\"");
    fill("\\0", 1);
    put("\"");
    hostile("half a million NULs", TN_RESOURCE_LIMIT, "yaml_scalar_bytes");
    hostile_unit("\"", "x", TN_ARTIFACT_MALFORMED, "unexpected end of stream");
    hostile_unit("'", "\n", TN_ARTIFACT_MALFORMED, "unexpected end of stream");
    put("[");
    fill("1,", 1);
    put("]");
    hostile("half a million numbers", TN_OK, NULL);
    hostile_unit("", "-\n", TN_OK, NULL);
    for (int i = 0; i < 250000; i++) big[big_n++] = '9';
    hostile("a number of 250,000 digits", TN_OK, NULL);
    for (int i = 0; i < 250000; i++) big[big_n++] = '0';
    put("x1");
    hostile("no number", TN_OK, NULL);
    free(big);
}

TEST(hostile_texts)
{
    start_big();
    hostile_unit("[", "!!str a,", TN_ARTIFACT_MALFORMED, NULL);
    hostile_unit("[", "!a b,", TN_ARTIFACT_MALFORMED, "not of the core schema");
    hostile_unit("!", "a", TN_ARTIFACT_MALFORMED, "not of the core schema");
    hostile_unit("", "--- a\n", TN_ARTIFACT_MALFORMED, "a second document");
    hostile_unit("a\n", "...\n", TN_OK, NULL);
    hostile_unit("", "#\n", TN_ARTIFACT_MALFORMED, "there is no document");
    hostile_unit("#", "x", TN_ARTIFACT_MALFORMED, "there is no document");
    hostile_unit("", " ", TN_ARTIFACT_MALFORMED, "there is no document");
    hostile_unit("", "\t", TN_ARTIFACT_MALFORMED, NULL);
    hostile_unit("%TAG !", "a", TN_ARTIFACT_MALFORMED, NULL);
    for (int i = 0; big_n < MEGABYTE - 64; i++) put("%%TAG !a%d! x\n", i);
    put("--- a\n");
    hostile("tag directives", TN_RESOURCE_LIMIT, "yaml_directives");
    put("--- a\n");
    for (int i = 0; big_n < MEGABYTE - 64; i++) put("%%TAG !a%d! x\n", i);
    put("--- a\n");
    hostile("tag directives of a second document", TN_RESOURCE_LIMIT, "yaml_directives");
    fill("x", 0);
    put("y");
    hostile("one byte too many", TN_RESOURCE_LIMIT, "yaml_bytes");
    free(big);
}

/* ---- failing allocations ---------------------------------------------------------------------------------------- */

/* Parses with the n-th allocation failing, alone or with all later ones. False when n was beyond the last. */
static bool parse_with_fault(const char *text, uint64_t n, bool after, enum tn_status whole)
{
    tn_alloc_fail(&alloc, n, after);
    enum tn_status status = parse(text);
    bool hit = atomic_load(&alloc.calls) >= atomic_load(&alloc.fail_at);
    tn_alloc_fail(&alloc, 0, false);
    CHECK_INT(status, hit ? TN_INSUFFICIENT_MEMORY : whole);
    if (hit) CHECK(err->retryable && err->primary.code == TN_INSUFFICIENT_MEMORY && doc.alloc == NULL);
    end();
    return hit;
}

static void sweep(const char *text, enum tn_status whole)
{
    uint64_t n = 1;
    for (; parse_with_fault(text, n, false, whole); n++) parse_with_fault(text, n, true, whole);
    CHECK(n > 3);
}

TEST(sweep_of_failing_allocations)
{
    start_big();
    put("a: &x [1, {b: 'c'}]\nd: *x\n\"e\\n\": |\n  text\n");
    for (int i = 0; i < 100; i++) put("k%d: {l: &a%d [%d, *x, \"\\x01\"], m: *x}\n", i, i, i);
    for (int i = 0; i < 40; i++) put("%*sn:\n", i, "");
    big[big_n] = 0;
    sweep(big, TN_OK);
    put("a: 1\n");
    big[big_n] = 0;
    sweep(big, TN_ARTIFACT_MALFORMED); /* a duplicate key, seen by the second pass */
    sweep("a: [1, 2", TN_ARTIFACT_MALFORMED);
    sweep("a: &a [{b: [1, *a]}]", TN_ARTIFACT_MALFORMED);
    free(big);
}
