/*
 * BPE, Unigram and WordLevel beyond the goldens: hostile files are refused with code and place, the fast path equals the
 * general one, long words take steps in proportion, every allocation fails once.
 */
#include "text_util.h"

#include "base/utf8.h"
#include "text/internal.h"

/* ---- hostile files ------------------------------------------------------------------------------------------------ */

#define BPE(vocab, merges, rest) "{\"model\":{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges rest "}}"
#define UNIGRAM(vocab, rest) "{\"model\":{\"type\":\"Unigram\",\"vocab\":" vocab rest "}}"

static const struct {
    const char *what, *file;
    enum tn_status code;
    const char *place, *message;
} hostile[] = {
    {"left part missing", BPE("{\"a\":0,\"ab\":1}", "[[\"x\",\"a\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "a part of a merge"},
    {"right part missing", BPE("{\"a\":0,\"ab\":1}", "[\"a b\"]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "a part of a merge"},
    {"result missing", BPE("{\"a\":0,\"b\":1}", "[[\"a\",\"b\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "the result of a merge"},
    {"result longer than every token", BPE("{\"aa\":0,\"bb\":1}", "[\"aa bb\"]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "the result of a merge"},
    {"prefix longer than the right part", BPE("{\"a\":0,\"b\":1,\"ab\":2}", "[\"a b\"]", ",\"continuing_subword_prefix\":\"####\""),
     TN_ARTIFACT_MALFORMED, "/model/merges/0", "shorter than the continuing prefix"},
    {"prefix cuts a character", BPE("{\"a\":0,\"\\u00e9\":1,\"ab\":2}", "[[\"a\",\"\\u00e9\"]]", ",\"continuing_subword_prefix\":\"#\""),
     TN_ARTIFACT_MALFORMED, "/model/merges/0", "the result of a merge"},
    {"id 2^32", BPE("{\"a\":4294967296}", "[]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/a", "not an id"},
    {"id -1", BPE("{\"a\":-1}", "[]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/a", "not an id"},
    {"one id for two", BPE("{\"a\":7,\"b\":7}", "[]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/b", "have the id"},
    {"merge of three", BPE("{\"a\":0}", "[[\"a\",\"a\",\"a\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "two parts"},
    {"merge line of three", BPE("{\"a\":0,\"aa\":1}", "[\"a a\",\"a a a\"]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/1", "two parts"},
    {"merge line of one", BPE("{\"a\":0}", "[\"a\"]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "two parts"},
    {"both forms of merges", BPE("{\"a\":0,\"aa\":1}", "[\"a a\",[\"a\",\"a\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/1", "two parts"},
    {"merge of numbers", BPE("{\"a\":0}", "[[1,2]]", ""), TN_ARTIFACT_MALFORMED, "/model/merges/0", "two parts"},
    {"merges are an object", BPE("{\"a\":0}", "{}", ""), TN_ARTIFACT_MALFORMED, "/model/merges", "merges"},
    {"no merges", "{\"model\":{\"type\":\"BPE\",\"vocab\":{}}}", TN_ARTIFACT_MALFORMED, "/model/merges", "merges"},
    {"vocabulary is a list", BPE("[]", "[]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab", "vocab"},
    {"dropout", BPE("{\"a\":0}", "[]", ",\"dropout\":0.1"), TN_UNSUPPORTED_PROCESSOR, "/model/dropout", "dropout"},
    {"dropout is a text", BPE("{\"a\":0}", "[]", ",\"dropout\":\"0\""), TN_ARTIFACT_MALFORMED, "/model/dropout", "dropout"},
    {"unknown token missing", BPE("{\"a\":0}", "[]", ",\"unk_token\":\"<unk>\""), TN_ARTIFACT_MALFORMED, "/model/unk_token", "unknown token"},
    {"bytes and a prefix", BPE("{\"a\":0}", "[]", ",\"byte_fallback\":true,\"end_of_word_suffix\":\"</w>\""), TN_ARTIFACT_MALFORMED,
     "/model/byte_fallback", "byte_fallback"},
    {"unknown member", BPE("{\"a\":0}", "[]", ",\"legacy\":true"), TN_UNSUPPORTED_PROCESSOR, "/model/legacy", "legacy"},
    {"piece without score", UNIGRAM("[[\"a\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/0", "a text and a score"},
    {"score is a text", UNIGRAM("[[\"a\",\"-1\"]]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/0", "a text and a score"},
    {"score out of range", UNIGRAM("[[\"a\",-1e999]]", ""), TN_ARTIFACT_MALFORMED, "/model/vocab/0", "a text and a score"},
    {"unk_id beyond the pieces", UNIGRAM("[[\"a\",-1]]", ",\"unk_id\":1"), TN_ARTIFACT_MALFORMED, "/model/unk_id", "unk_id"},
    {"unk_id without pieces", UNIGRAM("[]", ",\"unk_id\":0"), TN_ARTIFACT_MALFORMED, "/model/unk_id", "unk_id"},
    {"unigram sampling", UNIGRAM("[[\"a\",-1]]", ",\"alpha\":0.1"), TN_UNSUPPORTED_PROCESSOR, "/model/alpha", "alpha"},
    {"word level without its unknown token", "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"u\"}}", TN_ARTIFACT_MALFORMED,
     "/model/unk_token", "unknown token"},
};

/* Refused by code and place; nothing is left. */
static void refused(const char *what, const char *file, enum tn_status code, const char *place, const char *message)
{
    struct text_fixture x;
    text_init(&x);
    enum tn_status status = text_load(&x, file, strlen(file));
    if (status != code) test_fail(__FILE__, __LINE__, "%s: status %d", what, (int)status);
    CHECK(x.t == NULL);
    CHECK_STR(x.err->primary.element, place);
    CHECK_CONTAINS(x.err->primary.message, message);
    text_close(&x);
}

TEST(hostile_models)
{
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        refused(hostile[i].what, hostile[i].file, hostile[i].code, hostile[i].place, hostile[i].message);
    }
}

TEST(hostile_maps)
{
    static const struct {
        const char *map, *expected;
    } rows[] = {
        {"", "base64"},          {"AAA", "base64"},       {"AAAA", "a size"},       {"AAAAAA==", "a size"},        {"A*==", "base64"},
        {"AAAAAB==", "base64"},  {"/////w==", "a size"},  {"BAAAAAAAAAA=", "double array"}, {"BAAAAP////8=", "double array"},
        {"BAAAAAAEAAD/", "texts"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text_fixture x;
        char file[512];
        text_init(&x);
        snprintf(file, sizeof(file), "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"%s\"},"
                                     "\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}", rows[i].map);
        CHECK_INT(text_load(&x, file, strlen(file)), TN_ARTIFACT_MALFORMED);
        CHECK_STR(x.err->primary.element, "/normalizer/precompiled_charsmap");
        CHECK_CONTAINS(x.err->primary.expected, rows[i].expected);
        text_close(&x);
    }
}

/* ---- forms of a file ---------------------------------------------------------------------------------------------- */

static void ids_of(const char *file, const char *text, const char *ids)
{
    struct text_fixture x;
    struct tn_text_options o = {.want_offsets = true};
    text_init(&x);
    REQUIRE(text_load(&x, file, strlen(file)) == TN_OK);
    CHECK_INT(text_encode(&x, text, &o), TN_OK);
    CHECK_STR(text_ids(&x), ids);
    text_close(&x);
}

#define ABC "{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"bc\":4,\"abc\":5}"

TEST(merges_in_both_forms)
{
    ids_of(BPE(ABC, "[\"a b\",\"ab c\"]", ""), "abcab", "5,3");
    ids_of(BPE(ABC, "[[\"a\",\"b\"],[\"ab\",\"c\"]]", ",\"dropout\":0,\"unk_token\":null,\"fuse_unk\":null"), "abcab", "5,3");
    ids_of(BPE(ABC, "[\"#version: 0.2\",\"b c\",\"a b\"]", ",\"dropout\":0.0"), "abcab", "0,4,3");
    /* Of a pair that stands there twice the later rank counts. */
    ids_of(BPE(ABC, "[\"a b\",\"b c\",\"a b\"]", ""), "abc", "0,4");
    ids_of(BPE(ABC, "[\"b c\"]", ",\"ignore_merges\":true"), "ab", "3");
    ids_of(BPE(ABC, "[\"b c\"]", ",\"ignore_merges\":false"), "ab", "0,1");
    ids_of("{\"model\":{\"vocab\":" ABC ",\"merges\":[\"a b\"]}}", "xaxb", "3"); /* no type, no unknown token */
}

/* What the design says of the space beside an added token, spelled out. */
TEST(space_beside_a_mask)
{
    static const char *const ids[] = {"0,2,4,3", "0,4,3", "0,2,4,1", "0,4,1"};
    for (int i = 0; i < 4; i++) {
        char file[1024];
        snprintf(file, sizeof(file),
                 "{\"added_tokens\":[{\"id\":4,\"content\":\"<mask>\",\"single_word\":false,\"lstrip\":%s,\"rstrip\":%s,\"normalized\":false,"
                 "\"special\":true}],\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
                 "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"x\":1,\"\u0120\":2,\"\u0120x\":3,\"<mask>\":4},\"merges\":[\"\u0120 x\"]}}",
                 i & 1 ? "true" : "false", i & 2 ? "true" : "false");
        ids_of(file, "a <mask> x", ids[i]);
    }
}

/* The library fails at such a text as well. */
TEST(unigram_without_unknown)
{
    static const char file[] = UNIGRAM("[[\"a\",-1],[\"ab\",-0.5]]", "");
    struct text_fixture x;
    struct tn_text_options o = {0};
    text_init(&x);
    REQUIRE(text_load(&x, file, sizeof(file) - 1) == TN_OK);
    CHECK_INT(text_encode(&x, "aab", &o), TN_OK);
    CHECK_STR(text_ids(&x), "0,1");
    CHECK_INT(text_encode(&x, "aax", &o), TN_INVALID_REQUEST);
    CHECK_CONTAINS(x.err->primary.message, "without a token");
    CHECK_INT(text_encode(&x, "ab", &o), TN_OK);
    text_close(&x);
}

/* ---- the fast path ------------------------------------------------------------------------------------------------ */

static size_t random_text(uint64_t *state, char *out, size_t parts)
{
    static const char *const words[] = {"the", " the", " hello", "  ", " ", "\n", "\r\n", "\t", "caf\u00e9", "e\u0301", "\u4e2d\u56fd", " 123", "4", "'s", "'S", "we'll", "WORLD",
                                        " World", "!!", " ==", "//", "\u00a0", "\u3000", "\U0001f917", "\u0301", "\u1100\u1161", "<|endoftext|>", "<mask>", " <mask> ",
                                        "[MASK]", "<s>", "naive", "x", "\x01", "\u0660", "\u30fb", "\uff76\uff9e", "antidisestablishmentarianism", "        "};
    size_t n = 0;
    for (size_t i = 0; i < parts; i++) {
        uint64_t pick = test_random(state);
        const char *word = words[(pick >> 8) % (sizeof(words) / sizeof(words[0]))];
        if (pick % 8 == 0) {
            uint32_t c = (uint32_t)((pick >> 8) % 0x110000);
            n += tn_utf8_encode(c >= 0xD800 && c < 0xE000 ? 'y' : c, out + n);
        } else {
            memcpy(out + n, word, strlen(word));
            n += strlen(word);
        }
    }
    return n;
}

static bool same(const struct tn_text_encoding *a, const struct tn_text_encoding *b)
{
    return a->count == b->count && memcmp(a->ids, b->ids, a->count * 4) == 0 &&
           (!a->offsets || !b->offsets || memcmp(a->offsets, b->offsets, a->count * 8) == 0);
}

TEST(fast_path_equals_general_path)
{
    static const char *const families[] = {"GPT-2", "RoBERTa", "ModernBERT", "Llama 3", "Qwen", "o200k", "DeepSeek", "SmolLM"};
    static char text[4096];
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        struct text_fixture x;
        struct tn_text_encoding general, bare;
        uint64_t state = 31 + f;
        size_t wrong = 0;
        text_init(&x);
        REQUIRE(text_open_family(&x, families[f]) == TN_OK);
        CHECK(x.t->fast_bytes.words != TN_WORDS_NONE);
        tn_text_encoding_init(&general, &x.alloc);
        tn_text_encoding_init(&bare, &x.alloc);
        for (size_t i = 0; i < 2000; i++) {
            struct tn_str s = {text, random_text(&state, text, test_random(&state) % 30)};
            struct tn_text_options o = {.want_offsets = true}, plain = {0};
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &x.e, x.err) == TN_OK);
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &plain, &bare, x.err) == TN_OK);
            o.general_path = true;
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &general, x.err) == TN_OK);
            if (same(&x.e, &general) && same(&bare, &general)) continue;
            if (wrong++ < 3) test_fail(__FILE__, __LINE__, "%s, text %zu", families[f], i);
        }
        tn_text_encoding_release(&general);
        tn_text_encoding_release(&bare);
        text_close(&x);
    }
}

/* ---- long words --------------------------------------------------------------------------------------------------- */

/* Steps of merging for one word of n letters. */
static uint64_t merge_steps(struct text_fixture *x, const char *unit, size_t n, bool general)
{
    struct tn_text_options o = {.want_offsets = true, .general_path = general};
    char *text = malloc(n);
    size_t length = strlen(unit);
    for (size_t i = 0; i < n; i++) text[i] = unit[i % length];
    if (x->e.scratch) x->e.scratch->bpe.steps = 0;
    CHECK_INT(tn_text_encode(x->t, (struct tn_str){text, n}, (struct tn_str){0}, &o, &x->e, x->err), TN_OK);
    CHECK_INT(x->e.offsets[x->e.count - 1][1], n);
    free(text);
    return x->e.scratch->bpe.steps;
}

/* Sixteen times the word, at most twenty times the steps, and never more than three for a letter. */
TEST(long_words_take_steps_in_proportion)
{
    static const char *const units[] = {"a", "the", "thethether", "ab"};
    struct text_fixture x;
    text_init(&x);
    REQUIRE(text_open_family(&x, "Qwen") == TN_OK);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        for (int general = 0; general < 2; general++) {
            uint64_t small = merge_steps(&x, units[i], 65536, general), large = merge_steps(&x, units[i], 1048576, general);
            CHECK(large <= 20 * small + 100);
            CHECK(large <= 3 * 1048576);
        }
    }
    text_close(&x);
}

/* The definition: of all neighbours the pair of the lowest rank, the leftmost of equals, until there is none. */
static size_t merge_naively(const struct tn_bpe *m, uint32_t *ids, size_t n)
{
    for (;;) {
        const struct tn_bpe_pair *best = NULL;
        size_t at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            const struct tn_bpe_pair *pair = tn_bpe_find(m, ids[i], ids[i + 1]);
            if (pair && (!best || pair->rank < best->rank)) best = pair, at = i;
        }
        if (!best) return n;
        ids[at] = best->id;
        memmove(ids + at + 1, ids + at + 2, (n - at - 2) * sizeof(*ids));
        n--;
    }
}

/* A word of n letters against the definition; every letter alone is one token. */
static void check_long_word(struct text_fixture *x, const char *letters, size_t n, uint64_t seed)
{
    struct tn_text_options o = {.no_special = true};
    size_t choices = strlen(letters);
    char *text = malloc(n);
    uint32_t *want = malloc(n * sizeof(*want));
    for (size_t i = 0; i < n; i++) {
        text[i] = letters[test_random(&seed) % choices];
        REQUIRE(tn_text_encode(x->t, (struct tn_str){text + i, 1}, (struct tn_str){0}, &o, &x->e, x->err) == TN_OK && x->e.count == 1);
        want[i] = x->e.ids[0];
    }
    size_t count = merge_naively(&x->t->bpe, want, n);
    CHECK_INT(tn_text_encode(x->t, (struct tn_str){text, n}, (struct tn_str){0}, &o, &x->e, x->err), TN_OK);
    CHECK_INT(x->e.count, count);
    CHECK(x->e.count == count && memcmp(x->e.ids, want, count * sizeof(*want)) == 0);
    free(text);
    free(want);
}

/* Both sides of the length from which candidates are kept in another way. */
TEST(long_words_are_merged_as_defined)
{
    static const char *const families[] = {"Qwen", "GPT-2", "DeepSeek"}, *const letters[] = {"a", "ab", "etaoinshr", "abcdefghijklmnopqrstuvwxyz"};
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        struct text_fixture x;
        text_init(&x);
        REQUIRE(text_open_family(&x, families[f]) == TN_OK);
        for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
            check_long_word(&x, letters[i], 4096, i);
            check_long_word(&x, letters[i], 4097, i);
            check_long_word(&x, letters[i], 6000, i);
        }
        text_close(&x);
    }
}

/* abc comes about by the last merge and then makes the pair of the first: the next rank is lower than the last. */
TEST(ranks_that_fall_in_long_words)
{
    static const char file[] = BPE("{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"abcd\":4,\"abc\":5,\"bc\":6,\"ab\":7,\"ad\":8,\"dabc\":9}",
                                   "[\"d abc\",\"abc d\",\"b c\",\"a bc\",\"a b\",\"ab c\",\"a d\"]", "");
    struct text_fixture x;
    text_init(&x);
    REQUIRE(text_load(&x, file, sizeof(file) - 1) == TN_OK);
    for (uint64_t seed = 0; seed < 6; seed++) check_long_word(&x, "abcd", 5000, seed);
    check_long_word(&x, "abcabcd", 5000, 7);
    text_close(&x);
}

/* A megabyte of one character, blank, newline, mark, byte token. */
TEST(large_inputs)
{
    static const char *const families[] = {"Qwen", "DeepSeek", "o200k", "Llama 2", "XLM-RoBERTa without splitting", "CLIP", "scripts"};
    static const char *const units[] = {"x", " ", "\n", "1", "\u0301", "\u4e2d", "'s", " \n", "\U0001f917", "\u1100\u1161\u11a8"};
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        struct text_fixture x;
        text_init(&x);
        REQUIRE(text_open_family(&x, families[f]) == TN_OK);
        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
            size_t unit = strlen(units[i]), n = ((size_t)1 << 18) / unit * unit;
            struct tn_text_options o = {.want_offsets = true};
            char *text = malloc(n);
            for (size_t at = 0; at < n; at += unit) memcpy(text + at, units[i], unit);
            CHECK_INT(tn_text_encode(x.t, (struct tn_str){text, n}, (struct tn_str){0}, &o, &x.e, x.err), TN_OK);
            for (size_t k = 0; k < x.e.count; k++) CHECK(x.e.offsets[k][0] <= x.e.offsets[k][1] && x.e.offsets[k][1] <= n);
            free(text);
        }
        text_close(&x);
    }
}

/* ---- every allocation fails once ---------------------------------------------------------------------------------- */

static enum tn_status whole_road(struct text_fixture *x, const struct tn_json_doc *doc, const char *family)
{
    static const char text[] = "Caf\u00e9 \u4e2d\u56fd, the hello <mask> don't e\u0301 12345 \ufb01ne  x wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
    struct tn_str name;
    struct tn_json row = tn_json_first(tn_json_get(tn_json_root(doc), "rows"));
    while (row.doc && !(tn_json_str(tn_json_get(row, "what"), &name) && tn_str_is(name, family))) row = tn_json_next(row);
    enum tn_status status = tn_text_tokenizer_from_json(&x->ctx, tn_json_get(row, "file"), &x->t, x->err);
    for (int general = 0; general < 2 && !status; general++) {
        struct tn_text_options o = {.want_offsets = true, .general_path = general};
        status = tn_text_encode(x->t, tn_str_of(text), TN_STR("the other"), &o, &x->e, x->err);
    }
    if (status) return status;
    struct tn_buf out;
    tn_buf_init(&out, &x->alloc, 1 << 20);
    status = tn_text_decode(x->t, x->e.ids, x->e.count, false, &out);
    tn_buf_release(&out);
    return status ? tn_error_memory(x->err, TN_PHASE_REQUEST, "decoding") : TN_OK;
}

static void sweep(const struct tn_json_doc *doc, const char *family)
{
    const char *stride_text = getenv("TN_FAULT_STRIDE");
    uint64_t stride = stride_text ? strtoull(stride_text, NULL, 10) : 3, failures = 0;
    for (uint64_t at = 1;; at += stride) {
        struct text_fixture x;
        text_init(&x);
        tn_alloc_fail(&x.alloc, at, at % 2 == 0);
        enum tn_status status = whole_road(&x, doc, family);
        bool fired = atomic_load(&x.alloc.calls) >= at;
        if (status != (fired ? TN_INSUFFICIENT_MEMORY : TN_OK)) {
            test_fail(__FILE__, __LINE__, "%s, allocation %llu: status %d", family, (unsigned long long)at, (int)status);
        }
        tn_alloc_fail(&x.alloc, 0, false);
        text_close(&x);
        failures += fired;
        if (!fired) break;
    }
    CHECK(failures > 0);
}

TEST(allocation_sweep)
{
    static const char *const families[] = {"Qwen", "DeepSeek", "Llama 3", "Llama 2", "XLM-RoBERTa", "T5", "CLIP", "scripts", "speech", "WordLevel",
                                           "sub-words with a prefix", "byte-level as a normalizer"};
    struct tn_alloc alloc;
    struct tn_limits limits = tn_limits_default();
    struct tn_json_doc doc;
    size_t n = 0;
    char *json = test_read_file(test_path("golden/tokenizer_extra/families.json"), &n);
    tn_alloc_init(&alloc);
    REQUIRE(json && tn_json_parse(&doc, &alloc, &limits, TN_STR("rows"), (struct tn_str){json, n}, NULL) == TN_OK);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) sweep(&doc, families[i]);
    tn_json_release(&doc);
    free(json);
}
