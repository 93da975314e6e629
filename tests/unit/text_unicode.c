/*
 * The Unicode tables over all code points: every mapping against the digest of the library's own answers per block of
 * 4096, every class against the ranges that the library was asked for. The order of marks and composition across
 * characters are covered by the encodings of text_golden.c.
 */
#include "test.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/internal.h"
#include "text/unicode_segments.h"

#include <stdlib.h>

enum { LIMIT = 0x110000, BLOCK = 4096 };

static bool is_surrogate(uint32_t c)
{
    return c >= 0xD800 && c < 0xE000;
}

struct oracle {
    struct tn_alloc alloc;
    struct tn_json_doc doc;
    char *text;
};

static bool open_oracle(struct oracle *o, const char *relative)
{
    struct tn_limits limits = tn_limits_default();
    size_t n = 0;
    tn_alloc_init(&o->alloc);
    o->text = test_read_file(test_path(relative), &n);
    return o->text && tn_json_parse(&o->doc, &o->alloc, &limits, TN_STR("oracle"), (struct tn_str){o->text, n}, NULL) == TN_OK;
}

static void close_oracle(struct oracle *o)
{
    tn_json_release(&o->doc);
    free(o->text);
}

/* The normalizer's image of one character, as UTF-8 and a line feed, into the digest. */
static void hash_image(struct tn_text_scratch *s, const struct tn_text_tokenizer *t, uint32_t c, struct tn_sha256 *h)
{
    char bytes[4];
    size_t n = tn_utf8_encode(c, bytes);
    REQUIRE(tn_chars_read(s, bytes, 0, n));
    REQUIRE(tn_normalize(t, s) == TN_OK);
    for (size_t i = 0; i < s->chars.count; i++) tn_sha256_update(h, bytes, tn_utf8_encode(s->chars.at[i].c, bytes));
    tn_sha256_update(h, "\n", 1);
}

static void check_image(const struct oracle *o, const char *name, struct tn_normalizer step)
{
    struct tn_alloc alloc;
    struct tn_text_tokenizer t = {.normalizers = {&step, 1, 1}};
    struct tn_text_scratch s = {.alloc = &alloc};
    struct tn_json images = tn_json_get(tn_json_root(&o->doc), "images");
    struct tn_json digest = tn_json_first(tn_json_get(tn_json_get(images, name), "digests"));
    tn_alloc_init(&alloc);
    for (uint32_t block = 0; block < LIMIT; block += BLOCK, digest = tn_json_next(digest)) {
        struct tn_sha256 h;
        struct tn_str want = {0};
        char hex[TN_SHA256_HEX];
        tn_sha256_init(&h);
        for (uint32_t c = block; c < block + BLOCK; c++) {
            if (!is_surrogate(c)) hash_image(&s, &t, c, &h);
        }
        struct tn_digest found = tn_sha256_finish(&h);
        tn_digest_hex(&found, hex);
        REQUIRE(tn_json_str(digest, &want));
        if (strncmp(hex, want.s, want.n) != 0) test_fail(__FILE__, __LINE__, "%s differs in U+%04X..", name, (unsigned)block);
    }
    tn_text_scratch_release(&s);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(images)
{
    struct oracle o;
    REQUIRE(open_oracle(&o, "golden/tokenizer/unicode_images.json"));
    check_image(&o, "lowercase", (struct tn_normalizer){.kind = TN_NORM_LOWERCASE});
    check_image(&o, "nfd", (struct tn_normalizer){.kind = TN_NORM_NFD});
    check_image(&o, "nfc", (struct tn_normalizer){.kind = TN_NORM_NFC});
    check_image(&o, "nfkd", (struct tn_normalizer){.kind = TN_NORM_NFKD});
    check_image(&o, "nfkc", (struct tn_normalizer){.kind = TN_NORM_NFKC});
    check_image(&o, "strip_accents", (struct tn_normalizer){.kind = TN_NORM_STRIP_ACCENTS});
    check_image(&o, "bert_lowercase", (struct tn_normalizer){.kind = TN_NORM_BERT, .lowercase = true});
    check_image(&o, "bert_strip_accents", (struct tn_normalizer){.kind = TN_NORM_BERT, .strip_accents = true});
    check_image(&o, "bert_uncased", (struct tn_normalizer){.kind = TN_NORM_BERT, .clean_text = true, .chinese = true,
                                                            .strip_accents = true, .lowercase = true});
    close_oracle(&o);
}

/* Sets member[c] for the code points that the library gave this answer for. */
static void read_class(const struct oracle *o, const char *name, const char *value, uint8_t *member)
{
    struct tn_json class = tn_json_get(tn_json_get(tn_json_root(&o->doc), "classes"), name);
    struct tn_json ranges = tn_json_get(class, "ranges");
    struct tn_str rest = {0};
    tn_json_str(tn_json_get(class, "rest"), &rest);
    bool is_rest = tn_str_is(rest, value);
    REQUIRE(is_rest || tn_json_get(ranges, value).doc);
    memset(member, is_rest, LIMIT);
    for (struct tn_json list = tn_json_first(ranges); list.doc; list = tn_json_next(list)) {
        bool wanted = tn_str_is(tn_json_key(list), value);
        if (!wanted && !is_rest) continue;
        for (struct tn_json range = tn_json_first(list); range.doc; range = tn_json_next(range)) {
            uint64_t low = 0, high = 0;
            tn_json_u64(tn_json_at(range, 0), &low);
            tn_json_u64(tn_json_at(range, 1), &high);
            memset(member + low, wanted, high - low + 1);
        }
    }
}

TEST(classes)
{
    static const struct {
        const char *name, *value;
        unsigned flag;
    } rows[] = {
        {"clean_text", "dropped", TN_UC_CLEAN_DROP},     {"clean_text", "space", TN_UC_CLEAN_SPACE},
        {"chinese", "spaced", TN_UC_CHINESE},            {"bert_mark", "dropped", TN_UC_MARK_NONSPACING},
        {"strip_accents_mark", "dropped", TN_UC_MARK},   {"strip_space", "space", TN_UC_WHITE},
        {"nmt", "dropped", TN_UC_NMT_DROP},              {"nmt", "space", TN_UC_NMT_SPACE},
        {"bert_pre_tokenizer", "removed", TN_UC_WHITE},  {"bert_pre_tokenizer", "isolated", TN_UC_PUNCT},
        {"whitespace", "removed", TN_UC_WHITE},          {"whitespace", "joined", TN_UC_WORD},
        {"whitespace_split", "removed", TN_UC_WHITE},    {"punctuation", "isolated", TN_UC_PUNCT},
        {"digits", "isolated", TN_UC_NUMERIC},           {"added_token_word", "word", TN_UC_WORD},
        {"added_token_space", "space", TN_UC_WHITE},
    };
    static uint8_t member[LIMIT];
    struct oracle o;
    REQUIRE(open_oracle(&o, "golden/tokenizer/unicode_classes.json"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned wrong = 0;
        read_class(&o, rows[i].name, rows[i].value, member);
        for (uint32_t c = 0; c < LIMIT; c++) {
            if (is_surrogate(c) || ((tn_uc_flags(c) & rows[i].flag) != 0) == member[c]) continue;
            if (!wrong++) test_fail(__FILE__, __LINE__, "%s %s: U+%04X", rows[i].name, rows[i].value, (unsigned)c);
        }
        CHECK_INT(wrong, 0);
    }
    close_oracle(&o);
}

TEST(combining_classes)
{
    static uint8_t want[LIMIT];
    struct oracle o;
    unsigned wrong = 0;
    REQUIRE(open_oracle(&o, "golden/tokenizer/unicode_classes.json"));
    struct tn_json classes = tn_json_get(tn_json_root(&o.doc), "combining_class");
    for (struct tn_json list = tn_json_first(classes); list.doc; list = tn_json_next(list)) {
        for (struct tn_json v = tn_json_first(list); v.doc; v = tn_json_next(v)) {
            uint64_t c = 0;
            tn_json_u64(v, &c);
            want[c] = (uint8_t)strtoul(tn_json_key(list).s, NULL, 10);
        }
    }
    for (uint32_t c = 0; c < LIMIT; c++) wrong += tn_uc_ccc(c) != want[c];
    CHECK_INT(wrong, 0);
    close_oracle(&o);
}

/* ---- what regular expressions, clusters and scripts know --------------------------------------------------------- */

/* Sets member[c] for the code points of a list of inclusive ranges. */
static void read_ranges(struct tn_json ranges, uint8_t *member)
{
    memset(member, 0, LIMIT);
    for (struct tn_json range = tn_json_first(ranges); range.doc; range = tn_json_next(range)) {
        uint64_t low = 0, high = 0;
        tn_json_u64(tn_json_at(range, 0), &low);
        tn_json_u64(tn_json_at(range, 1), &high);
        memset(member + low, 1, high - low + 1);
    }
}

/* A class by a compiled expression of one class. */
static void check_expression(struct tn_json ranges, const char *expression)
{
    static uint8_t member[LIMIT];
    struct tn_alloc alloc;
    struct tn_arena arena;
    struct tn_regex *regex;
    struct tn_regex_run run = {.alloc = &alloc};
    const char *why;
    size_t at;
    unsigned wrong = 0;
    tn_alloc_init(&alloc);
    tn_arena_init(&arena, &alloc);
    read_ranges(ranges, member);
    REQUIRE(tn_regex_compile(&arena, tn_str_of(expression), &regex, &why, &at) == TN_OK);
    for (uint32_t c = 0; c < LIMIT; c++) {
        struct tn_char text = {c, 0, 1};
        size_t begin, end;
        bool found = false;
        if (is_surrogate(c)) continue;
        tn_regex_begin(&run, regex, &text, 1);
        REQUIRE(tn_regex_next(&run, &begin, &end, &found) == TN_OK);
        if (found != member[c] && !wrong++) test_fail(__FILE__, __LINE__, "%s: U+%04X", expression, (unsigned)c);
    }
    CHECK_INT(wrong, 0);
    tn_regex_run_release(&run);
    tn_arena_release(&arena);
}

TEST(properties_of_expressions)
{
    static const char *const escapes[][2] = {{"space", "\\s"}, {"word", "\\w"}, {"word in brackets", "[\\w]"}, {"digit", "\\d"}, {"dot", "."}};
    struct oracle o;
    char expression[64];
    size_t names = 0;
    REQUIRE(open_oracle(&o, "golden/tokenizer/unicode_regex.json"));
    struct tn_json root = tn_json_root(&o.doc);
    for (int k = 0; k < 2; k++) {
        struct tn_json list = tn_json_get(root, k ? "scripts" : "categories");
        for (struct tn_json v = tn_json_first(list); v.doc; v = tn_json_next(v), names++) {
            snprintf(expression, sizeof(expression), "\\p{%.*s}", (int)tn_json_key(v).n, tn_json_key(v).s);
            check_expression(v, expression);
        }
    }
    CHECK(names > 45);
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        check_expression(tn_json_get(tn_json_get(root, "escapes"), escapes[i][0]), escapes[i][1]);
    }
    /* Beyond the letters themselves: the long s and the Kelvin sign. */
    struct tn_json folded = tn_json_get(root, "folded");
    CHECK_INT(tn_json_count(folded), 2);
    close_oracle(&o);
}

TEST(clusters_and_scripts)
{
    static const struct {
        const char *name;
        enum tn_uc_grapheme class;
    } rows[] = {{"control", TN_UC_CONTROL}, {"extend", TN_UC_EXTEND}, {"prepend", TN_UC_PREPEND}, {"picture", TN_UC_PICTURE}};
    static uint8_t member[LIMIT];
    struct oracle o;
    REQUIRE(open_oracle(&o, "golden/tokenizer/unicode_segments.json"));
    struct tn_json root = tn_json_root(&o.doc);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned wrong = 0;
        read_ranges(tn_json_get(tn_json_get(root, "graphemes"), rows[i].name), member);
        for (uint32_t c = 1; c < LIMIT; c++) wrong += !is_surrogate(c) && (tn_uc_grapheme_of(c) == rows[i].class) != member[c];
        CHECK_INT(wrong, 0);
    }
    unsigned number = 0;
    struct tn_json scripts = tn_json_get(root, "scripts");
    for (struct tn_json v = tn_json_first(scripts); v.doc; v = tn_json_next(v), number++) {
        unsigned wrong = 0;
        read_ranges(v, member);
        for (uint32_t c = 0; c < LIMIT; c++) wrong += !is_surrogate(c) && (tn_uc_script_of(c) == number) != member[c];
        CHECK_INT(wrong, 0);
    }
    CHECK(number > 100);
    close_oracle(&o);
}
