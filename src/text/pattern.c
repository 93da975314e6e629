/*
 * Patterns of Replace and Split: a literal, or a regular expression of one repeated class. There is no regular
 * expression engine here on purpose: anything beyond the listed forms is refused with the pattern in the message.
 */
#include "text/internal.h"

#include "base/utf8.h"

#include <string.h>

static const char known_forms[] = "a literal {\"String\": ...}, or {\"Regex\": ...} of one character or \\s, then nothing, "
                                  "+ or {n,} with n from 1 to 99";

static enum tn_status refuse_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex)
{
    struct tn_finding *f = tn_error_set(ld->err, TN_UNSUPPORTED_PROCESSOR, TN_PHASE_LOAD,
                                        "tokenizer: the regular expression \"%.*s\" is not supported",
                                        (int)(regex.n < 160 ? regex.n : 160), regex.s);
    tn_at_json(f, place);
    tn_found(f, "%.*s", TN_FMT_ARG(regex));
    tn_expected(f, "%s", known_forms);
    return TN_UNSUPPORTED_PROCESSOR;
}

/* The class at the front: \s, an escaped character, [ ] around one, or a plain character. Bytes used; 0: not one. */
static size_t read_class(struct tn_str r, struct tn_pattern *out, uint32_t *c)
{
    static const char letters[] = "ntr", values[] = "\n\t\r";
    if (r.n >= 2 && r.s[0] == '\\') {
        if (r.s[1] == 's') {
            out->white = true;
            return 2;
        }
        for (size_t i = 0; letters[i]; i++) {
            if (r.s[1] == letters[i]) return *c = (unsigned char)values[i], 2;
        }
        return r.s[1] && strchr(".*+?()[]{}^$|\\/-", r.s[1]) ? (*c = (unsigned char)r.s[1], 2) : 0;
    }
    if (r.n >= 3 && r.s[0] == '[' && r.s[2] == ']' && r.s[1] == ' ') return *c = ' ', 3;
    size_t n = tn_utf8_decode(r.s, r.n, c);
    /* Unescaped ASCII punctuation may be an operator; only these few never are. */
    bool plain = *c >= 0x80 || !(tn_uc_flags(*c) & TN_UC_PUNCT) || *c == '_' || *c == ',' || *c == ';';
    return n && plain ? n : 0;
}

/* What follows the class, to the end. */
static bool read_repetition(struct tn_str r, struct tn_pattern *out)
{
    out->at_least = 1;
    if (r.n == 0) return true;
    out->greedy = true;
    if (r.n == 1 && r.s[0] == '+') return true;
    if (r.n < 4 || r.n > 5 || r.s[0] != '{' || r.s[r.n - 2] != ',' || r.s[r.n - 1] != '}') return false;
    out->at_least = 0;
    for (size_t i = 1; i < r.n - 2; i++) {
        if (r.s[i] < '0' || r.s[i] > '9') return false;
        out->at_least = out->at_least * 10 + (size_t)(r.s[i] - '0');
    }
    return out->at_least > 0;
}

static enum tn_status load_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex,
                                 struct tn_pattern *out)
{
    uint32_t c = 0;
    size_t used = regex.n ? read_class(regex, out, &c) : 0;
    struct tn_str rest = {regex.s + used, regex.n - used};
    if (used == 0 || !read_repetition(rest, out)) return refuse_regex(ld, place, regex);
    out->regex = true;
    out->length = 1;
    out->literal = tn_arena_alloc(&ld->t->arena, sizeof(*out->literal));
    if (!out->literal) return tn_load_memory(ld);
    out->literal[0] = c;
    return TN_OK;
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

size_t tn_pattern_match(const struct tn_pattern *p, const struct tn_char *chars, size_t n)
{
    size_t matched = 0;
    if (!p->regex) {
        while (matched < p->length && matched < n && chars[matched].c == p->literal[matched]) matched++;
        return matched == p->length ? matched : 0;
    }
    size_t most = p->greedy ? n : p->at_least;
    while (matched < most && matched < n) {
        uint32_t c = chars[matched].c;
        if (p->white ? !(tn_uc_flags(c) & TN_UC_WHITE) : c != p->literal[0]) break;
        matched++;
    }
    return matched >= p->at_least ? matched : 0;
}
