/*
 * Encoding: the fast path against the general one on random texts, long and strange inputs, limits, reuse of the
 * working memory, and the sweep that fails every allocation.
 */
#include "text_util.h"

#include "base/os_thread.h"
#include "base/utf8.h"
#include "text/internal.h"

/* Files of tests/golden/tokenizer/files that the fast path serves. */
static const char *const files[] = {"bert_norm_tttt", "bert_norm_ttnf", "bert_norm_ftft", "bert_norm_tfff", "bert_norm_tttf",
                                    "bert_norm_ttnt", "bert_norm_fftt", "bert_norm_ffff", "added_lstrip_normalized",
                                    "added_rstrip_single_word_normalized", "added_lstrip_rstrip", "added_cased_file"};

static enum tn_status open_file(struct text_fixture *x, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "golden/tokenizer/files/%s.json", name);
    text_init(x);
    return text_open(x, path);
}

static enum tn_status open_flags(struct text_fixture *x, const char *letters)
{
    char name[64];
    snprintf(name, sizeof(name), "bert_norm_%s", letters);
    return open_file(x, name);
}

/* A character that is often near a border: of a class, of a mapping, of UTF-8's lengths. */
static uint32_t random_char(uint64_t *state)
{
    static const uint32_t ranges[][2] = {
        {0x20, 0x7E}, {0x61, 0x7A},       {0x00, 0x20},     {0x80, 0x24F},      {0x300, 0x36F},     {0x370, 0x5FF},
        {0x600, 0xDFF}, {0xE00, 0x11FF},  {0x1AB0, 0x1FFF}, {0x2000, 0x2BFF},   {0x3000, 0x30FF},   {0x3400, 0x9FFF},
        {0xAC00, 0xD7A3}, {0xF900, 0xFFFF}, {0x10000, 0x11FFF}, {0x1D100, 0x1D7FF}, {0x1F300, 0x1FAFF}, {0x20000, 0x2FA1F},
    };
    const uint32_t *range = ranges[test_random(state) % (sizeof(ranges) / sizeof(ranges[0]))];
    return range[0] + (uint32_t)(test_random(state) % (range[1] - range[0] + 1));
}

static size_t random_text(uint64_t *state, char *out, size_t chars)
{
    static const char *const words[] = {"hello", "The CAF\u00c9", " ", "cafe\u0301s", "\u4e2d\u56fd", "don't", "[CLS]", "<mask>", "<MASK> ", " Foo", "foo", "\u00ad",
                                        "\u1100\u1161\u11a8", "\U0001d165", "\u0301", "  ", "x-y_z", "\t\n", "\u0345\u0300"};
    size_t n = 0;
    for (size_t i = 0; i < chars; i++) {
        uint64_t pick = test_random(state);
        if (pick % 3 == 0) {
            const char *word = words[(pick >> 8) % (sizeof(words) / sizeof(words[0]))];
            memcpy(out + n, word, strlen(word));
            n += strlen(word);
        } else {
            n += tn_utf8_encode(random_char(state), out + n);
        }
    }
    return n;
}

static bool same(const struct tn_text_encoding *a, const struct tn_text_encoding *b)
{
    return a->count == b->count && a->total == b->total && memcmp(a->ids, b->ids, a->count * 4) == 0 &&
           memcmp(a->type_ids, b->type_ids, a->count * 4) == 0 &&
           (!a->offsets || memcmp(a->offsets, b->offsets, a->count * 8) == 0);
}

TEST(fast_path_equals_general_path)
{
    static char text[4096];
    for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
        struct text_fixture x;
        struct tn_text_encoding general, bare;
        uint64_t state = 17 + f;
        size_t wrong = 0;
        REQUIRE(open_file(&x, files[f]) == TN_OK);
        REQUIRE(x.t->fast.usable);
        tn_text_encoding_init(&general, &x.alloc);
        tn_text_encoding_init(&bare, &x.alloc);
        for (size_t i = 0; i < 3000; i++) {
            struct tn_str s = {text, random_text(&state, text, test_random(&state) % 40)};
            struct tn_text_options o = {.want_offsets = true}, plain = {0};
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &x.e, x.err) == TN_OK);
            o.general_path = true;
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &general, x.err) == TN_OK);
            REQUIRE(tn_text_encode(x.t, s, (struct tn_str){0}, &plain, &bare, x.err) == TN_OK);
            CHECK(bare.offsets == NULL);
            bool ids = bare.count == general.count && memcmp(bare.ids, general.ids, bare.count * 4) == 0;
            if (same(&x.e, &general) && ids) continue;
            if (wrong++ < 3) test_fail(__FILE__, __LINE__, "%s, text %zu of seed %zu", files[f], i, 17 + f);
        }
        tn_text_encoding_release(&general);
        tn_text_encoding_release(&bare);
        text_close(&x);
    }
}

/* A normalized token may begin with a blank that the normalizer keeps, or with part of what a character becomes. */
TEST(fast_path_beside_normalized_tokens)
{
    static const char *const tokens[] = {"\\n", "\\u3000", "e", "E", "\\u1100", "\\u0301", "=", "\\u00df", "i\\u0307", "-", "\\u4e2d"};
    static const char *const texts[] = {"a\nb \n c", "a\u3000b", "caf\u00e9 \u00c9a", "x \uac01 y", "b \u2260 c", "\u1e9e\u00df \u0130i", "a--b -", "\u4e2d\u56fd"};
    for (size_t i = 0; i < 2 * 2 * 2 * sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct text_fixture x;
        struct tn_text_encoding general;
        struct tn_buf b;
        text_init(&x);
        tn_buf_init(&b, &x.alloc, 4096);
        tn_text_encoding_init(&general, &x.alloc);
        tn_buf_printf(&b, "{\"added_tokens\":[{\"id\":3,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                          "\"normalized\":true,\"special\":false}],", tokens[i / 8]);
        tn_buf_printf(&b, "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":%s,\"handle_chinese_chars\":true,"
                          "\"strip_accents\":%s,\"lowercase\":%s},", i & 1 ? "true" : "false", i & 2 ? "true" : "false",
                      i & 4 ? "true" : "false");
        tn_buf_puts(&b, "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\","
                        "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{\"u\":0,\"a\":1,\"b\":2}}}");
        enum tn_status status = text_load(&x, b.data, b.len); /* some tokens vanish in normalization: refused */
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]) && !status; k++) {
            struct tn_text_options o = {.want_offsets = true};
            CHECK_INT(text_encode(&x, texts[k], &o), TN_OK);
            o.general_path = true;
            CHECK_INT(tn_text_encode(x.t, tn_str_of(texts[k]), (struct tn_str){0}, &o, &general, x.err), TN_OK);
            if (!same(&x.e, &general)) test_fail(__FILE__, __LINE__, "token %s, flags %zu, text %zu", tokens[i / 8], i & 7, k);
        }
        tn_buf_release(&b);
        tn_text_encoding_release(&general);
        text_close(&x);
    }
}

/* Loads the BERT stages with a vocabulary in which every letter of the test below is a piece. */
static enum tn_status open_letters(struct text_fixture *x, bool strip, bool lower)
{
    static const char *const letters[] = {"\u1100", "\u1161", "\u11a8", "\uac01", "\u00e9", "e", "i", "\u0307", "\u0301"};
    struct tn_buf b;
    text_init(x);
    tn_buf_init(&b, &x->alloc, 1 << 16);
    tn_buf_printf(&b, "{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
                      "\"strip_accents\":%s,\"lowercase\":%s},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                      "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"##\","
                      "\"max_input_chars_per_word\":100,\"vocab\":{\"u\":0", strip ? "true" : "false", lower ? "true" : "false");
    for (unsigned i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        tn_buf_printf(&b, ",\"%s\":%u,\"##%s\":%u", letters[i], 2 * i + 1, letters[i], 2 * i + 2);
    }
    tn_buf_puts(&b, "}}}");
    enum tn_status status = text_load(x, b.data, b.len);
    tn_buf_release(&b);
    return status;
}

/* max_input_chars_per_word counts normalized characters: a syllable of three letters is three of the hundred. */
TEST(word_length_after_normalization)
{
    static const struct {
        const char *unit;
        bool strip, lower;
        size_t most; /* units that still are pieces and not one unknown word */
    } rows[] = {{"\uac01", true, true, 33}, {"\uac01", false, true, 100}, {"\u0130", false, true, 50}, {"\u0130", true, true, 100},
                {"e\u0301", false, false, 50}, {"e\u0301", true, false, 100}, {"\u00c9", false, true, 100}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct text_fixture x;
        struct tn_buf b;
        REQUIRE(open_letters(&x, rows[i].strip, rows[i].lower) == TN_OK);
        REQUIRE(x.t->fast.usable);
        tn_buf_init(&b, &x.alloc, 4096);
        for (size_t n = 1; n < 110; n++) {
            tn_buf_puts(&b, rows[i].unit);
            for (int general = 0; general < 2; general++) {
                struct tn_text_options o = {.want_offsets = true, .general_path = general};
                REQUIRE(tn_text_encode(x.t, tn_buf_str(&b), (struct tn_str){0}, &o, &x.e, x.err) == TN_OK);
                bool pieces = x.e.count >= n && x.e.ids[0] != 0, unknown = x.e.count == 1 && x.e.ids[0] == 0;
                if (n <= rows[i].most ? pieces : unknown) continue;
                test_fail(__FILE__, __LINE__, "%zu times %s, general %d", n, rows[i].unit, general);
            }
        }
        tn_buf_release(&b);
        text_close(&x);
    }
}

/* The caches in the working memory belong to one tokenizer; the next one must not see them. */
TEST(working_memory_moves_between_tokenizers)
{
    struct text_fixture lower, cased;
    struct tn_text_options o = {.want_offsets = true};
    static char lower_ids[4096], cased_ids[4096];
    REQUIRE(open_flags(&lower, "tttt") == TN_OK);
    REQUIRE(open_flags(&cased, "ttnf") == TN_OK);
    CHECK_INT(text_encode(&lower, "Caf\u00e9 \u00c9a", &o), TN_OK);
    snprintf(lower_ids, sizeof(lower_ids), "%s", text_ids(&lower));
    CHECK_INT(text_encode(&cased, "Caf\u00e9 \u00c9a", &o), TN_OK);
    snprintf(cased_ids, sizeof(cased_ids), "%s", text_ids(&cased));
    CHECK(strcmp(lower_ids, cased_ids) != 0);
    struct tn_text_encoding shared = lower.e;
    for (int i = 0; i < 4; i++) {
        struct text_fixture *x = i & 1 ? &lower : &cased;
        REQUIRE(tn_text_encode(x->t, TN_STR("Caf\u00e9 \u00c9a"), (struct tn_str){0}, &o, &shared, x->err) == TN_OK);
        lower.e = shared;
        CHECK_STR(text_ids(&lower), i & 1 ? lower_ids : cased_ids);
    }
    text_close(&lower);
    text_close(&cased);
}

struct worker {
    const struct tn_text_tokenizer *t;
    struct tn_alloc *alloc;
    struct tn_thread thread;
    struct tn_digest digest;
    bool failed;
};

/* Ids of 300 texts, always the same ones, into a digest. */
static void *encode_many(void *arg)
{
    struct worker *w = arg;
    struct tn_text_encoding e;
    struct tn_text_options o = {.want_offsets = true};
    struct tn_sha256 h;
    uint64_t state = 99;
    char text[4096];
    tn_sha256_init(&h);
    tn_text_encoding_init(&e, w->alloc);
    for (int i = 0; i < 300; i++) {
        struct tn_str s = {text, random_text(&state, text, 30)};
        w->failed |= tn_text_encode(w->t, s, (struct tn_str){0}, &o, &e, NULL) != TN_OK;
        tn_sha256_update(&h, e.ids, e.count * sizeof(*e.ids));
        tn_sha256_update(&h, e.offsets, e.count * sizeof(*e.offsets));
    }
    w->digest = tn_sha256_finish(&h);
    tn_text_encoding_release(&e);
    return NULL;
}

TEST(threads_share_a_tokenizer)
{
    enum { THREADS = 4 };
    struct text_fixture x;
    struct worker alone, workers[THREADS];
    REQUIRE(open_flags(&x, "tttt") == TN_OK);
    alone = (struct worker){.t = x.t, .alloc = &x.alloc};
    encode_many(&alone);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.t = x.t, .alloc = &x.alloc};
        REQUIRE(tn_thread_start(&workers[i].thread, encode_many, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        tn_thread_join(&workers[i].thread);
        CHECK(!workers[i].failed && tn_digest_eq(&alone.digest, &workers[i].digest));
    }
    text_close(&x);
}

TEST(invalid_utf8_names_its_byte)
{
    static const struct {
        const char *text;
        size_t n, at;
    } rows[] = {
        {"ab\xFF", 3, 2},         {"\x80", 1, 0},         {"a\xC0\x80", 3, 1},        {"ab\xED\xA0\x80", 5, 2},
        {"\xF4\x90\x80\x80", 4, 0}, {"abc\xE2\x82", 5, 3}, {"\xC3\xA9\xC3", 3, 2}, {"12345678\xF8zzzzzzz", 16, 8},
    };
    struct text_fixture x;
    struct tn_text_options o = {0};
    REQUIRE(open_flags(&x, "tttt") == TN_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tn_str s = {rows[i].text, rows[i].n};
        CHECK_INT(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &x.e, x.err), TN_INVALID_REQUEST);
        CHECK_INT(x.err->primary.offset, rows[i].at);
        CHECK_INT(tn_text_encode(x.t, TN_STR("a"), s, &o, &x.e, x.err), TN_INVALID_REQUEST);
        CHECK_INT(x.e.count, 0);
    }
    /* The error never quotes the text, only offset and byte. */
    CHECK_CONTAINS(x.err->primary.found, "0xF8 at offset 8");
    CHECK(!strstr(x.err->primary.message, "12345678"));
    text_close(&x);
}

TEST(limit_of_a_text)
{
    struct text_fixture x;
    struct tn_text_options o = {0};
    text_init(&x);
    x.ctx.limits.text_bytes = 8;
    REQUIRE(text_open(&x, "golden/tokenizer/files/bert_usual.json") == TN_OK);
    CHECK_INT(text_encode(&x, "12345678", &o), TN_OK);
    CHECK_INT(text_encode(&x, "123456789", &o), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(x.err->primary.message, "text_bytes");
    text_close(&x);
}

/* One word of a megabyte, a megabyte of marks in falling order, a megabyte of four-byte characters, of added tokens. */
TEST(large_inputs)
{
    static const struct {
        const char *unit;
        size_t tokens; /* with the two special tokens; 0: any */
    } rows[] = {{"x", 3}, {"\u00e9", 3}, {"\u0301\u0316", 2}, {"\U00020000", 0}, {"[CLS]", 0}, {"\u4e2d", 0}, {"\u1100\u1161\u11a8", 3},
                {" ", 2},  {"-", 0},      {"\ufdfa", 3},       {"\U0001d165\u0316", 3}};
    struct text_fixture x;
    REQUIRE(open_flags(&x, "tttt") == TN_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t unit = strlen(rows[i].unit), n = (size_t)1 << 20;
        char *text = malloc(n);
        size_t filled = 0;
        for (; filled + unit <= n; filled += unit) memcpy(text + filled, rows[i].unit, unit);
        for (int general = 0; general < 2; general++) {
            struct tn_text_options o = {.want_offsets = true, .general_path = general};
            struct tn_str s = {text, filled};
            CHECK_INT(tn_text_encode(x.t, s, (struct tn_str){0}, &o, &x.e, x.err), TN_OK);
            if (rows[i].tokens) {
                CHECK_INT(x.e.count, rows[i].tokens);
            } else {
                CHECK_INT(x.e.count, filled / unit + 2);
            }
            for (size_t k = 0; k < x.e.count; k++) CHECK(x.e.offsets[k][0] <= x.e.offsets[k][1] && x.e.offsets[k][1] <= n);
        }
        free(text);
    }
    text_close(&x);
}

TEST(max_tokens)
{
    struct text_fixture x;
    struct tn_text_options o = {.max_tokens = 1};
    REQUIRE(open_flags(&x, "tttt") == TN_OK);
    CHECK_INT(text_encode(&x, "a b c", &o), TN_INVALID_REQUEST);
    CHECK_STR(x.err->primary.element, "max_tokens");
    CHECK_CONTAINS(x.err->primary.expected, "at least 2");
    o.max_tokens = 2;
    CHECK_INT(text_encode(&x, "a b c", &o), TN_OK);
    CHECK(x.e.count == 2 && x.e.total == 5 && x.e.truncated);
    o.max_tokens = 5;
    CHECK_INT(text_encode(&x, "a b c", &o), TN_OK);
    CHECK(x.e.count == 5 && !x.e.truncated);
    o.max_tokens = 3;
    o.no_special = true;
    CHECK_INT(text_encode(&x, "a b c d", &o), TN_OK);
    CHECK(x.e.count == 3 && x.e.total == 4 && x.e.truncated);
    text_close(&x);
}

/* Steps that each double the text, and a template that repeats it, end in a limit and not in all memory. */
TEST(texts_that_explode)
{
    struct text_fixture x;
    struct tn_text_options o = {0};
    struct tn_buf b;
    text_init(&x);
    x.ctx.limits.tokens = 1000;
    tn_buf_init(&b, &x.alloc, 1 << 20);
    tn_buf_puts(&b, "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}");
    for (int i = 0; i < 200; i++) {
        tn_buf_puts(&b, ",{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}");
    }
    tn_buf_puts(&b, "]},\"post_processor\":{\"type\":\"TemplateProcessing\",\"special_tokens\":{},\"single\":[");
    for (int i = 0; i < 100; i++) tn_buf_printf(&b, "%s{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}", i ? "," : "");
    tn_buf_puts(&b, "],\"pair\":[]},\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{\"type\":\"WordPiece\","
                    "\"unk_token\":\"u\",\"continuing_subword_prefix\":\"\",\"max_input_chars_per_word\":9,\"vocab\":{\"u\":0}}}");
    REQUIRE(tn_buf_status(&b) == TN_OK);
    REQUIRE(text_load(&x, b.data, b.len) == TN_OK);
    CHECK_INT(text_encode(&x, "xa", &o), TN_RESOURCE_LIMIT);
    CHECK(tn_alloc_peak(&x.alloc) < (uint64_t)64 << 20);
    CHECK_INT(text_encode(&x, "x y z", &o), TN_OK);
    CHECK_INT(x.e.count, 300);
    CHECK_INT(text_encode(&x, "1 2 3 4 5 6 7 8 9 10 11", &o), TN_RESOURCE_LIMIT);
    CHECK_CONTAINS(x.err->primary.expected, "1000");
    tn_buf_release(&b);
    text_close(&x);
}

/* ---- every allocation fails once --------------------------------------------------------------------------------- */

/* Loads, encodes by both paths with a pair and offsets, decodes. */
static enum tn_status whole_road(struct text_fixture *x, const char *json, size_t n)
{
    static const char text[] = "Caf\u00e9 \u4e2d\u56fd, the hello <mask> unaffable\u0301 \U0001d165\u0316\u0301 [CLS] wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww";
    enum tn_status status = text_load(x, json, n);
    for (int general = 0; general < 2 && !status; general++) {
        struct tn_text_options o = {.want_offsets = true, .general_path = general, .max_tokens = 20};
        status = tn_text_encode(x->t, tn_str_of(text), TN_STR("the other"), &o, &x->e, x->err);
    }
    if (status) return status;
    struct tn_buf out;
    tn_buf_init(&out, &x->alloc, 1 << 20);
    status = tn_text_decode(x->t, x->e.ids, x->e.count, false, &out);
    tn_buf_release(&out);
    /* Decoding reports by status alone. */
    return status ? tn_error_memory(x->err, TN_PHASE_REQUEST, "decoding") : TN_OK;
}

static void sweep(const char *relative)
{
    size_t n = 0;
    char *json = test_read_file(test_path(relative), &n);
    const char *stride_text = getenv("TN_FAULT_STRIDE");
    uint64_t stride = stride_text ? strtoull(stride_text, NULL, 10) : 3, failures = 0;
    REQUIRE(json);
    for (uint64_t at = 1;; at += stride) {
        struct text_fixture x;
        text_init(&x);
        tn_alloc_fail(&x.alloc, at, at % 2 == 0);
        enum tn_status status = whole_road(&x, json, n);
        bool fired = atomic_load(&x.alloc.calls) >= at;
        CHECK_INT(status, fired ? TN_INSUFFICIENT_MEMORY : TN_OK);
        if (fired) CHECK_INT(x.err->primary.code, TN_INSUFFICIENT_MEMORY);
        tn_alloc_fail(&x.alloc, 0, false);
        text_close(&x);
        failures += fired;
        if (!fired) break;
    }
    CHECK(failures * stride > 30);
    free(json);
}

TEST(allocation_sweep)
{
    sweep("golden/tokenizer/files/bert_usual.json");
    sweep("golden/tokenizer/files/added_lstrip_normalized.json");
    sweep("golden/tokenizer/files/norm_seq_nested.json");
    sweep("golden/tokenizer/files/pre_seq_split_punctuation.json");
    sweep("golden/tokenizer/files/pre_split_regex_word.json");
    sweep("golden/tokenizer/files/post_processing_sequence.json");
    sweep("golden/tokenizer/files/post_roberta_processing.json");
    sweep("golden/tokenizer/files/padding_in_file_fixed.json");
}

TEST(allocation_sweep_vocab_txt)
{
    static const char vocab[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##s\nthe\n";
    for (uint64_t at = 1;; at++) {
        struct text_fixture x;
        struct tn_wordpiece_options o = {.vocab_name = TN_STR("vocab.txt"), .vocab = tn_str_of(vocab), .do_lower_case = true,
                                         .unk_token = TN_STR("[UNK]"), .cls_token = TN_STR("[CLS]"), .mpnet = at % 2,
                                         .sep_token = TN_STR("[SEP]"), .pad_token = TN_STR("[PAD]"),
                                         .mask_token = TN_STR("<new>")};
        text_init(&x);
        tn_alloc_fail(&x.alloc, at, false);
        enum tn_status status = tn_text_tokenizer_from_vocab(&x.ctx, &o, &x.t, x.err);
        bool fired = atomic_load(&x.alloc.calls) >= at;
        CHECK_INT(status, fired ? TN_INSUFFICIENT_MEMORY : TN_OK);
        text_close(&x);
        if (!fired) break;
    }
}
