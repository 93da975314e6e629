/*
 * Words by hand. Every function follows its expression alternative by alternative; where an expression would give
 * characters back, the comment says how that ends. A character is a set of bits: its classes in the expressions.
 */
#include "text/splitter.h"

#include "text/unicode.h"
#include "text/unicode_regex.h"

#include <stdint.h>
#include <string.h>

enum class {
    LETTER = 1 << 0,  /* \p{L} */
    NUMBER = 1 << 1,  /* \p{N} */
    SPACE = 1 << 2,   /* \s */
    NEWLINE = 1 << 3, /* [\r\n] */
    MARK = 1 << 4,    /* \p{M} */
    SIGN = 1 << 5,    /* [\p{P}\p{S}] */
    UPPER = 1 << 6,   /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] */
    LOWER = 1 << 7,   /* [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
    ASCII_SIGN = 1 << 8,
    ASCII_LETTER = 1 << 9
};

/* The classes of each general category, in the order of enum tn_uc_category. */
static const uint16_t of_category[TN_UC_CATEGORIES] = {
    LETTER | UPPER, LETTER | LOWER, LETTER | UPPER, LETTER | UPPER | LOWER, LETTER | UPPER | LOWER, /* Lu Ll Lt Lm Lo */
    MARK | UPPER | LOWER, MARK | UPPER | LOWER, MARK | UPPER | LOWER,                               /* Mn Mc Me */
    NUMBER, NUMBER, NUMBER,                                                                         /* Nd Nl No */
    SIGN, SIGN, SIGN, SIGN, SIGN, SIGN, SIGN,                                                       /* Pc .. Po */
    SIGN, SIGN, SIGN, SIGN,                                                                         /* Sm Sc Sk So */
    0, 0, 0, 0, 0, 0, 0,                                                                            /* Z, C */
};

#define SIGNS_4 SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGN | ASCII_SIGN
#define CAPITALS_2 LETTER | UPPER | ASCII_LETTER, LETTER | UPPER | ASCII_LETTER
#define SMALLS_2 LETTER | LOWER | ASCII_LETTER, LETTER | LOWER | ASCII_LETTER

static const uint16_t of_ascii[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, SPACE, SPACE | NEWLINE, SPACE, SPACE, SPACE | NEWLINE, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    SPACE, SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGNS_4, SIGNS_4, SIGNS_4,
    NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER,
    SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGNS_4, SIGN | ASCII_SIGN,
    CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2,
    CAPITALS_2, CAPITALS_2, CAPITALS_2, CAPITALS_2, SIGN | ASCII_SIGN, SIGN | ASCII_SIGN, SIGNS_4,
    SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2, SMALLS_2,
    SMALLS_2, SMALLS_2, SIGNS_4, 0,
};

/* ---- characters --------------------------------------------------------------------------------------------------- */

/* A character of valid UTF-8 that is not ASCII. */
static size_t decode_high(const unsigned char *p, uint32_t *c)
{
    if (p[0] < 0xE0) {
        *c = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if (p[0] < 0xF0) {
        *c = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        return 3;
    }
    *c = (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    return 4;
}

static unsigned classes_high(const char *s, size_t *length)
{
    uint32_t c;
    *length = decode_high((const unsigned char *)s, &c);
    unsigned known = tn_uc_regex(c);
    return of_category[known & TN_UC_REGEX_CATEGORY] | (known & TN_UC_REGEX_SPACE ? SPACE : 0);
}

/* Classes of the character at s[at] and its bytes; nothing and 0 at the end. */
static inline unsigned classes(const char *s, size_t at, size_t n, size_t *length)
{
    *length = 0;
    if (at >= n) return 0;
    unsigned char c = (unsigned char)s[at];
    if (c >= 0x80) return classes_high(s + at, length);
    *length = 1;
    return of_ascii[c];
}

/* The end of the run of characters with one of the classes `any`. */
static inline size_t run_of(const char *s, size_t at, size_t n, unsigned any)
{
    size_t length;
    for (;;) {
        while (at < n && (unsigned char)s[at] < 0x80 && of_ascii[(unsigned char)s[at]] & any) at++;
        if (at >= n || (unsigned char)s[at] < 0x80 || !(classes_high(s + at, &length) & any)) return at;
        at += length;
    }
}

/* The end of the run of characters with none of the classes `none`. */
static inline size_t run_without(const char *s, size_t at, size_t n, unsigned none)
{
    size_t length;
    for (;;) {
        while (at < n && (unsigned char)s[at] < 0x80 && !(of_ascii[(unsigned char)s[at]] & none)) at++;
        if (at >= n || (unsigned char)s[at] < 0x80 || classes_high(s + at, &length) & none) return at;
        at += length;
    }
}

/* ---- parts that the expressions share ----------------------------------------------------------------------------- */

/* 's 't 're 've 'm 'll 'd at the apostrophe; 0: none. Without regard to case the long s is an s. */
static size_t contraction(const char *s, size_t at, size_t n, bool fold)
{
    unsigned char fold_bit = fold ? 0x20 : 0;
    if (at + 1 >= n) return 0;
    unsigned char a = (unsigned char)s[at + 1] | fold_bit;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if (at + 2 >= n) return 0;
    if (fold && (unsigned char)s[at + 1] == 0xC5 && (unsigned char)s[at + 2] == 0xBF) return at + 3;
    unsigned char b = (unsigned char)s[at + 2] | fold_bit;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? at + 3 : 0;
}

/* Start of the character before s[at]. */
static size_t step_back(const char *s, size_t at)
{
    for (at--; ((unsigned char)s[at] & 0xC0) == 0x80; at--) continue;
    return at;
}

/* \s+(?!\S)|\s+ over the blanks s[at, end): before a character that is none, the last blank is given back. */
static size_t blanks(const char *s, size_t at, size_t end, size_t n)
{
    if (end == n) return end;
    size_t last = step_back(s, end);
    return last > at ? last : end;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last newline among the blanks, if there is one. */
static size_t blanks_and_newlines(const char *s, size_t at, size_t n)
{
    size_t end = run_of(s, at, n, SPACE);
    for (size_t i = end; i > at; i--) {
        if (s[i - 1] == '\n' || s[i - 1] == '\r') return i;
    }
    return blanks(s, at, end, n);
}

/* ---- GPT-2 -------------------------------------------------------------------------------------------------------- */

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2_word(const char *s, size_t at, size_t n)
{
    size_t length, first = at + (s[at] == ' '), end;
    if (s[at] == '\'' && (end = contraction(s, at, n, false))) return end;
    unsigned c = classes(s, first, n, &length);
    if (length && c & LETTER) return run_of(s, first + length, n, LETTER);
    if (length && c & NUMBER) return run_of(s, first + length, n, NUMBER);
    if (length && !(c & SPACE)) return run_without(s, first + length, n, SPACE | LETTER | NUMBER);
    return blanks(s, at, run_of(s, at, n, SPACE), n);
}

/* ---- cl100k, Llama 3, Qwen ---------------------------------------------------------------------------------------- */

/* ` ?[^\s\p{L}\p{N}]+[\r\n]*`, or with the slash in its last class; 0: it does not match. */
static size_t signs(const char *s, size_t at, size_t n, bool slash)
{
    size_t length, first = at + (s[at] == ' ');
    unsigned c = classes(s, first, n, &length);
    if (length == 0 || c & (SPACE | LETTER | NUMBER)) return 0;
    size_t end = run_without(s, first + length, n, SPACE | LETTER | NUMBER);
    while (end < n && (s[end] == '\r' || s[end] == '\n' || (slash && s[end] == '/'))) end++;
    return end;
}

/* \p{N}{1,most}, at a number that is `length` bytes long. */
static size_t numbers(const char *s, size_t at, size_t n, size_t length, unsigned most)
{
    at += length;
    for (unsigned i = 1; i < most && classes(s, at, n, &length) & NUMBER; i++) at += length;
    return at;
}

/* (?i:'s|..)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static size_t cl100k_word(const char *s, size_t at, size_t n, unsigned most_numbers)
{
    size_t length, next_length, end;
    unsigned c = classes(s, at, n, &length);
    if (c & LETTER) return run_of(s, at + length, n, LETTER);
    if (s[at] == '\'' && (end = contraction(s, at, n, true))) return end;
    if (c & NUMBER) return numbers(s, at, n, length, most_numbers);
    if (!(c & NEWLINE) && classes(s, at + length, n, &next_length) & LETTER) {
        return run_of(s, at + length + next_length, n, LETTER);
    }
    if ((end = signs(s, at, n, false))) return end;
    return blanks_and_newlines(s, at, n);
}

/* ---- o200k -------------------------------------------------------------------------------------------------------- */

/*
 * [UPPER]*[LOWER]+ at `at`. The first class takes all it can; then either a small letter follows, or the last of those
 * taken that are in both classes is given back and is all that the second class gets. 0: no match.
 */
static size_t upper_lower(const char *s, size_t at, size_t n)
{
    size_t length, given_back = 0;
    unsigned c;
    while ((c = classes(s, at, n, &length)) & UPPER) {
        at += length;
        if (c & LOWER) given_back = at;
    }
    return c & LOWER ? run_of(s, at + length, n, LOWER) : given_back;
}

static size_t with_contraction(const char *s, size_t end, size_t n)
{
    size_t longer = end < n && s[end] == '\'' ? contraction(s, end, n, true) : 0;
    return longer ? longer : end;
}

/* The two alternatives of letters; 0: neither. A mark is both a possible prefix and a letter of either class. */
static size_t o200k_letters(const char *s, size_t at, size_t n)
{
    size_t length, end = 0;
    unsigned c = classes(s, at, n, &length);
    bool prefix = !(c & (NEWLINE | LETTER | NUMBER));
    if (prefix) end = upper_lower(s, at + length, n);
    if (!end && c & (LETTER | MARK)) end = upper_lower(s, at, n);
    if (!end) {
        size_t from = prefix ? at + length : at, to = run_of(s, from, n, UPPER);
        if (to > from) end = to;
    }
    return end ? with_contraction(s, end, n) : 0;
}

static size_t o200k_word(const char *s, size_t at, size_t n)
{
    size_t length, end;
    unsigned c = classes(s, at, n, &length);
    if ((end = o200k_letters(s, at, n))) return end;
    if (c & NUMBER) return numbers(s, at, n, length, 3);
    if ((end = signs(s, at, n, true))) return end;
    return blanks_and_newlines(s, at, n);
}

/* ---- DeepSeek ----------------------------------------------------------------------------------------------------- */

/*
 * [ASCII sign][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * 0: nothing matches here.
 */
static size_t deepseek_match(const char *s, size_t at, size_t n)
{
    size_t length, next_length, first = at + (s[at] == ' ');
    unsigned c = classes(s, at, n, &length), next = classes(s, at + length, n, &next_length);
    if (c & ASCII_SIGN && next & ASCII_LETTER) return run_of(s, at + 1, n, ASCII_LETTER);
    if (!(c & (NEWLINE | LETTER | SIGN)) && next & (LETTER | MARK)) return run_of(s, at + length, n, LETTER | MARK);
    if (c & (LETTER | MARK)) return run_of(s, at, n, LETTER | MARK);
    if (classes(s, first, n, &next_length) & SIGN) {
        size_t end = run_of(s, first, n, SIGN);
        while (end < n && (s[end] == '\r' || s[end] == '\n')) end++;
        return end;
    }
    return c & SPACE ? blanks_and_newlines(s, at, n) : 0;
}

/* What does not match is a word of its own, up to the next match. */
static size_t deepseek_word(const char *s, size_t at, size_t n)
{
    size_t length, end = deepseek_match(s, at, n);
    while (!end) {
        classes(s, at, n, &length);
        at += length;
        if (at == n || deepseek_match(s, at, n)) return at;
    }
    return end;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------- */

static size_t code_point(const char *s, size_t at, uint32_t *c)
{
    *c = (unsigned char)s[at];
    return *c < 0x80 ? 1 : decode_high((const unsigned char *)s + at, c);
}

static size_t digits_piece(const char *s, size_t at, size_t n)
{
    uint32_t c;
    for (size_t from = at, length; at < n; at += length) {
        length = code_point(s, at, &c);
        if (tn_uc_flags(c) & TN_UC_NUMERIC) return at > from ? at : at + length;
    }
    return at;
}

static bool in_deepseek_cjk(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

/* Three numbers, a run of Han and kana, or what lies between. */
static size_t deepseek_piece(const char *s, size_t at, size_t n)
{
    uint32_t c;
    size_t length = code_point(s, at, &c);
    if (tn_uc_in(c, TN_UC_N)) return numbers(s, at, n, length, 3);
    bool cjk = in_deepseek_cjk(c);
    for (at += length; at < n; at += length) {
        length = code_point(s, at, &c);
        if (in_deepseek_cjk(c) != cjk || (!cjk && tn_uc_in(c, TN_UC_N))) break;
    }
    return at;
}

size_t tn_next_piece(enum tn_piece_pattern pattern, const char *s, size_t at, size_t n)
{
    if (pattern == TN_PIECES_DIGITS) return digits_piece(s, at, n);
    return pattern == TN_PIECES_DEEPSEEK ? deepseek_piece(s, at, n) : n;
}

size_t tn_next_word(enum tn_word_pattern pattern, const char *s, size_t at, size_t n)
{
    switch (pattern) {
    case TN_WORDS_GPT2: return gpt2_word(s, at, n);
    case TN_WORDS_CL100K: return cl100k_word(s, at, n, 3);
    case TN_WORDS_QWEN: return cl100k_word(s, at, n, 1);
    case TN_WORDS_O200K: return o200k_word(s, at, n);
    case TN_WORDS_DEEPSEEK: return deepseek_word(s, at, n);
    case TN_WORDS_NONE: break;
    }
    return n;
}

/* ---- recognising -------------------------------------------------------------------------------------------------- */

#define END_NEWLINE "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define O200K_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K_PREFIX "[^\\r\\n\\p{L}\\p{N}]?"

static const struct {
    struct tn_str text;
    enum tn_word_pattern pattern;
} known[] = {
    {TN_STR("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"), TN_WORDS_GPT2},
    {TN_STR("'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"), TN_WORDS_GPT2},
    {TN_STR(CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" END_NEWLINE), TN_WORDS_CL100K},
    {TN_STR("'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]"
            "|\\s+(?!\\S)|\\s+"), TN_WORDS_CL100K},
    {TN_STR(CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" END_NEWLINE), TN_WORDS_QWEN},
    {TN_STR(O200K_PREFIX O200K_UPPER "*" O200K_LOWER "+" CONTRACTIONS "?|" O200K_PREFIX O200K_UPPER "+" O200K_LOWER "*" CONTRACTIONS
            "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" END_NEWLINE), TN_WORDS_O200K},
    {TN_STR("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
            END_NEWLINE), TN_WORDS_DEEPSEEK},
    /* the same, all line ends as characters */
    {TN_STR("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
            "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"), TN_WORDS_DEEPSEEK},
};

enum tn_word_pattern tn_word_pattern_of(struct tn_str expression)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (tn_str_eq(expression, known[i].text)) return known[i].pattern;
    }
    return TN_WORDS_NONE;
}

bool tn_is_deepseek_numbers(struct tn_str expression)
{
    return tn_str_is(expression, "\\p{N}{1,3}");
}

bool tn_is_deepseek_cjk(struct tn_str expression)
{
    return tn_str_is(expression, "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+");
}
