/*
 * Patterns of Replace and Split: a literal, or a small set of regular expressions. There is no regular-expression engine
 * here on purpose, so that no file can make one backtrack for ever: an expression is a list of alternatives, each one
 * class of characters that repeats. Everything else is refused with the expression in the message.
 *
 *     expression  = branch { "|" branch }
 *     branch      = class [ "+" | "{" n ",}" ]
 *     class       = "\s" | "\w" | "\" sign | "\n" | "\t" | "\r" | character | "[" ["^"] item { item } "]"
 *     item        = class without brackets | character "-" character
 *
 * A branch repeats greedily and nothing follows it, so there is never a reason to give characters back.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

enum { MAX_BRANCHES = 16, MAX_RANGES = 64, MAX_REPEAT = 99 };

static const char known_forms[] = "a literal {\"String\": ...}, or {\"Regex\": ...} of alternatives such as \\s+, [0-9]+, "
                                  "[^\\w\\s]+, \" {2,}\"";

/* ---- reading -------------------------------------------------------------------------------------------------- */

struct reader {
    struct tn_str s;
    size_t at;
    struct tn_pattern_class class;
    uint32_t ranges[MAX_RANGES][2];
};

static int peek(const struct reader *r, size_t ahead)
{
    return r->at + ahead < r->s.n ? (unsigned char)r->s.s[r->at + ahead] : -1;
}

static bool add_range(struct reader *r, uint32_t low, uint32_t high)
{
    if (low > high || r->class.count == MAX_RANGES) return false;
    r->ranges[r->class.count][0] = low;
    r->ranges[r->class.count++][1] = high;
    return true;
}

/* What follows a backslash. *single is false for the classes \s and \w. */
static bool read_escape(struct reader *r, uint32_t *c, bool *single)
{
    int next = peek(r, 1);
    r->at += 2;
    *single = true;
    switch (next) {
    case 'n': *c = '\n'; return true;
    case 't': *c = '\t'; return true;
    case 'r': *c = '\r'; return true;
    case 's':
    case 'w':
        *single = false;
        r->class.white |= next == 's';
        r->class.word |= next == 'w';
        return true;
    default: *c = (uint32_t)next; return next > 0 && strchr(".*+?()[]{}^$|\\/-", next) != NULL;
    }
}

/* One character that stands for itself, or an escape. ASCII signs may be operators, so only a few pass bare. */
static bool read_single(struct reader *r, const char *bare, uint32_t *c, bool *single)
{
    if (peek(r, 0) == '\\') return read_escape(r, c, single);
    size_t n = tn_utf8_decode(r->s.s + r->at, r->s.n - r->at, c);
    r->at += n;
    *single = true;
    return n && (*c >= 0x80 || !(tn_uc_flags(*c) & TN_UC_PUNCT) || strchr(bare, (int)*c));
}

static bool read_item(struct reader *r)
{
    static const char bare[] = "_,;.*+?(){}$|/!\"#%'<=>@`~:";
    uint32_t low = 0, high = 0;
    bool single;
    if (!read_single(r, bare, &low, &single)) return false;
    if (!single) return true;
    if (peek(r, 0) != '-' || peek(r, 1) == ']') return add_range(r, low, low);
    r->at++;
    return read_single(r, "", &high, &single) && single && add_range(r, low, high);
}

static bool read_brackets(struct reader *r)
{
    r->at++;
    r->class.bracketed = true;
    r->class.negated = peek(r, 0) == '^';
    r->at += r->class.negated;
    if (peek(r, 0) == ']') return false;
    while (peek(r, 0) >= 0 && peek(r, 0) != ']') {
        if (peek(r, 0) == '-' && peek(r, 1) == ']') {
            if (!add_range(r, '-', '-')) return false;
            r->at++;
        } else if (!read_item(r)) {
            return false;
        }
    }
    return peek(r, 0) == ']' && (r->at++, true);
}

static bool read_class(struct reader *r)
{
    uint32_t c = 0;
    bool single;
    r->class = (struct tn_pattern_class){0};
    if (peek(r, 0) == '[') return read_brackets(r);
    if (!read_single(r, "_,;", &c, &single)) return false;
    return !single || add_range(r, c, c);
}

static bool read_repetition(struct reader *r)
{
    size_t n = 0;
    r->class.at_least = 1;
    if (peek(r, 0) == '+') {
        r->class.repeats = true;
        r->at++;
        return true;
    }
    if (peek(r, 0) != '{') return true;
    for (r->at++; peek(r, 0) >= '0' && peek(r, 0) <= '9' && n <= MAX_REPEAT; r->at++) {
        n = n * 10 + (size_t)(peek(r, 0) - '0');
    }
    r->class.repeats = true;
    r->class.at_least = n;
    if (n == 0 || n > MAX_REPEAT || peek(r, 0) != ',' || peek(r, 1) != '}') return false;
    r->at += 2;
    return true;
}

static enum tn_status refuse_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                        "tokenizer: the regular expression \"%.*s\" is not supported",
                                        (int)(regex.n < 160 ? regex.n : 160), regex.s);
    tn_at_json(f, place);
    tn_found(f, "%.*s", TN_FMT_ARG(regex));
    tn_expected(f, "%s", known_forms);
    tn_remedy(f, "use a package whose tokenizer consists of the listed stages");
    return TN_UNSUPPORTED_PROCESSOR;
}

static enum tn_status keep_class(struct tn_text_loader *ld, const struct reader *r, struct tn_pattern *out)
{
    struct tn_pattern_class *class = &out->branches[out->branch_count++];
    *class = r->class;
    class->ranges = tn_arena_array(&ld->t->arena, class->count, sizeof(*class->ranges));
    if (!class->ranges) return tn_load_memory(ld);
    memcpy(class->ranges, r->ranges, class->count * sizeof(*class->ranges));
    return TN_OK;
}

static enum tn_status load_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex,
                                 struct tn_pattern *out)
{
    struct reader r = {.s = regex};
    out->branches = tn_arena_array(&ld->t->arena, MAX_BRANCHES, sizeof(*out->branches));
    if (!out->branches) return tn_load_memory(ld);
    do {
        r.at += out->branch_count > 0; /* the bar */
        if (out->branch_count == MAX_BRANCHES || !read_class(&r) || !read_repetition(&r)) {
            return refuse_regex(ld, place, regex);
        }
        enum tn_status status = keep_class(ld, &r, out);
        if (status) return status;
    } while (peek(&r, 0) == '|');
    return r.at == regex.n ? TN_OK : refuse_regex(ld, place, regex);
}

enum tn_status tn_pattern_load(struct tn_text_loader *ld, struct tn_json stage, struct tn_pattern *out)
{
    struct tn_json pattern = tn_json_get(stage, "pattern");
    struct tn_json literal = tn_json_get(pattern, "String"), regex = tn_json_get(pattern, "Regex");
    struct tn_str s;
    if (tn_json_count(pattern) == 1 && tn_json_str(regex, &s)) return load_regex(ld, regex, s, out);
    if (tn_json_count(pattern) != 1 || !tn_json_str(literal, &s)) {
        return tn_load_malformed(ld, stage, "pattern", "{\"String\": text} or {\"Regex\": expression}");
    }
    if (s.n == 0) return tn_load_malformed(ld, stage, "pattern", "a pattern that is not empty");
    return tn_load_points(ld, s, &out->literal, &out->length);
}

/* ---- matching ------------------------------------------------------------------------------------------------- */

/* \w of the library's second engine: joiners are no part of it; superscripts and fractions are, outside brackets. */
static bool is_word(uint32_t c, bool bracketed)
{
    if (c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE)) return !bracketed;
    return tn_uc_flags(c) & TN_UC_WORD && c != 0x200C && c != 0x200D;
}

static bool in_class(const struct tn_pattern_class *class, uint32_t c)
{
    bool in = (class->white && tn_uc_flags(c) & TN_UC_WHITE) || (class->word && is_word(c, class->bracketed));
    for (size_t i = 0; !in && i < class->count; i++) in = c >= class->ranges[i][0] && c <= class->ranges[i][1];
    return in != class->negated;
}

static size_t match_branch(const struct tn_pattern_class *class, const struct tn_char *chars, size_t n)
{
    size_t most = class->repeats ? n : 1, matched = 0;
    while (matched < most && matched < n && in_class(class, chars[matched].c)) matched++;
    return matched >= class->at_least ? matched : 0;
}

size_t tn_pattern_match(const struct tn_pattern *p, const struct tn_char *chars, size_t n)
{
    size_t matched = 0;
    for (size_t i = 0; i < p->branch_count && !matched; i++) matched = match_branch(&p->branches[i], chars, n);
    if (p->branch_count) return matched;
    while (matched < p->length && matched < n && chars[matched].c == p->literal[matched]) matched++;
    return matched == p->length ? matched : 0;
}
