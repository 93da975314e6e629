/*
 * The words of the hand-written splitters against the same expressions by the general engine, on texts made to meet every
 * border: blanks and newlines, contractions, marks, numbers, scripts.
 */
#include "test.h"

#include "base/utf8.h"
#include "text/internal.h"

static const struct {
    const char *expression;
    enum tn_word_pattern pattern;
} rows[] = {
    {TN_GPT2_PATTERN, TN_WORDS_GPT2},
    {"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", TN_WORDS_GPT2},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     TN_WORDS_CL100K},
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
     TN_WORDS_CL100K},
    {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     TN_WORDS_QWEN},
    {"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
     "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
     "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     TN_WORDS_O200K},
    {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
     "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
     TN_WORDS_DEEPSEEK},
    {"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
     "\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
     TN_WORDS_DEEPSEEK},
};

static size_t random_text(uint64_t *state, char *out, size_t chars)
{
    static const char *const parts[] = {" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "'", "'s", "'S", "'LL", "'re", "'\u017f", "\u017f", "'v", "a", "B", "Az",
                                        "\u00e9", "\u01c5", "\u02b0", "\u00aa", "\u4e2d", "\u3042", "\u3099", "\u0301", "\u0903", "\u20dd", "1", "23", "\u0663", "\u2167", "\u00bd",
                                        ".", "-", "/", "//", "!?", "$", "\u00a7", "\u2014", "\U0001f917", "\u200d", "\u00ad", "\x01", "\u0378", "\ue000", "_", "\u203f"};
    size_t n = 0;
    for (size_t i = 0; i < chars; i++) {
        uint64_t pick = test_random(state);
        if (pick % 16) {
            const char *part = parts[(pick >> 8) % (sizeof(parts) / sizeof(parts[0]))];
            memcpy(out + n, part, strlen(part));
            n += strlen(part);
            continue;
        }
        uint32_t c = (uint32_t)((pick >> 8) % 0x110000);
        n += tn_utf8_encode(c >= 0xD800 && c < 0xE000 ? 0x41 : c, out + n);
    }
    return n;
}

/* The words by the engine: its matches, and what lies between them. */
static size_t words_by_engine(struct tn_regex_run *run, const struct tn_regex *regex, const struct tn_chars *chars,
                              const char *text, size_t n, size_t *ends)
{
    size_t count = 0, begin, end, last = 0;
    bool found = true;
    (void)text;
    tn_regex_begin(run, regex, chars->at, chars->count);
    while (tn_regex_next(run, &begin, &end, &found) == TN_OK && found) {
        if (begin > last) ends[count++] = begin < chars->count ? chars->at[begin].begin : n;
        if (end > begin) ends[count++] = end < chars->count ? chars->at[end].begin : n;
        last = end;
    }
    if (last < chars->count) ends[count++] = n;
    return count;
}

static void check_pattern(size_t row)
{
    static char text[2048];
    static size_t ends[1024];
    struct tn_alloc alloc;
    struct tn_arena arena;
    struct tn_regex *regex;
    const char *why;
    size_t at, wrong = 0;
    uint64_t state = 5 + row;
    tn_alloc_init(&alloc);
    tn_arena_init(&arena, &alloc);
    struct tn_text_scratch s = {.alloc = &alloc};
    struct tn_regex_run run = {.alloc = &alloc};
    REQUIRE(tn_regex_compile(&arena, tn_str_of(rows[row].expression), &regex, &why, &at) == TN_OK);
    CHECK_INT(tn_word_pattern_of(tn_str_of(rows[row].expression)), rows[row].pattern);
    for (int i = 0; i < 20000; i++) {
        size_t n = random_text(&state, text, 1 + test_random(&state) % 24), word = 0;
        REQUIRE(tn_chars_read(&s, text, 0, n));
        size_t count = words_by_engine(&run, regex, &s.chars, text, n, ends);
        bool same = true;
        for (size_t from = 0; from < n; word++) {
            from = tn_next_word(rows[row].pattern, text, from, n);
            same &= word < count && from == ends[word];
        }
        if (same && word == count) continue;
        if (wrong++ < 3) {
            char clean[256];
            tn_clean_text(clean, sizeof(clean), text, n);
            test_fail(__FILE__, __LINE__, "expression %zu, text %d: \"%s\"", row, i, clean);
        }
    }
    CHECK_INT(wrong, 0);
    tn_regex_run_release(&run);
    tn_text_scratch_release(&s);
    tn_arena_release(&arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(words_equal_the_engines)
{
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) check_pattern(row);
}

/* One character more or less is another expression. */
TEST(only_exact_texts_are_known)
{
    struct tn_str gpt2 = TN_STR(TN_GPT2_PATTERN);
    CHECK_INT(tn_word_pattern_of(gpt2), TN_WORDS_GPT2);
    CHECK_INT(tn_word_pattern_of((struct tn_str){gpt2.s, gpt2.n - 1}), TN_WORDS_NONE);
    CHECK_INT(tn_word_pattern_of(TN_STR("")), TN_WORDS_NONE);
    CHECK(tn_is_deepseek_numbers(TN_STR("\\p{N}{1,3}")) && !tn_is_deepseek_numbers(TN_STR("\\p{N}{1,2}")));
    CHECK(tn_is_deepseek_cjk(TN_STR("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+")));
}
