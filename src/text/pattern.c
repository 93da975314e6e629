/*
 * Patterns of Replace and Split: a literal, or a regular expression (regex.h), which is refused with its text when it is
 * outside the part of the language that is offered.
 */
#include "text/internal.h"

#include "base/utf8.h"

static enum tn_status refuse_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex,
                                   enum tn_status status, const char *why, size_t at)
{
    if (status == TN_INSUFFICIENT_MEMORY) return tn_load_memory(ld);
    struct tn_finding *f = tn_error_set(ld->err, status, TN_PHASE_LOAD,
                                        "tokenizer: the regular expression \"%.*s\" is not supported",
                                        (int)(regex.n < 160 ? regex.n : 160), regex.s);
    tn_at_json(f, place);
    tn_found(f, "%s, at byte %zu of the expression", why, at);
    tn_expected(f, "alternatives, groups, classes, categories, quantifiers, assertions (docs/TOKENIZER.md)");
    tn_remedy(f, "use a package whose tokenizer consists of the listed stages");
    return status;
}

static enum tn_status load_regex(struct tn_text_loader *ld, struct tn_json place, struct tn_str regex,
                                 struct tn_pattern *out)
{
    struct tn_regex *compiled;
    const char *why;
    size_t at;
    enum tn_status status = tn_regex_compile(&ld->t->arena, regex, &compiled, &why, &at);
    if (status) return refuse_regex(ld, place, regex, status, why, at);
    out->regex = compiled;
    out->text = tn_arena_str(&ld->t->arena, regex);
    return out->text.s ? TN_OK : tn_load_memory(ld);
}

/* Where nothing is replaced, the library has no character to align with. */
enum tn_status tn_pattern_not_empty(struct tn_text_loader *ld, struct tn_json stage, const struct tn_pattern *p)
{
    if (!p->regex || !tn_regex_can_be_empty(p->regex)) return TN_OK;
    return refuse_regex(ld, tn_json_find(stage, "/pattern/Regex"), p->text, TN_UNSUPPORTED_PROCESSOR,
                        "Replace by an expression that matches nothing", 0);
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

void tn_pattern_begin(struct tn_pattern_search *search, struct tn_text_scratch *s, const struct tn_pattern *p,
                      const struct tn_char *chars, size_t n)
{
    *search = (struct tn_pattern_search){.pattern = p, .run = &s->regex, .chars = chars, .n = n};
    s->regex.alloc = s->alloc;
    if (p->regex) tn_regex_begin(&s->regex, p->regex, chars, n);
}

static bool literal_at(const struct tn_pattern_search *search, size_t at)
{
    const struct tn_pattern *p = search->pattern;
    for (size_t i = 0; i < p->length; i++) {
        if (search->chars[at + i].c != p->literal[i]) return false;
    }
    return true;
}

enum tn_status tn_pattern_next(struct tn_pattern_search *search, size_t *begin, size_t *end, bool *found)
{
    size_t length = search->pattern->length;
    if (search->pattern->regex) return tn_regex_next(search->run, begin, end, found);
    *found = false;
    for (size_t at = search->from; length <= search->n && at <= search->n - length; at++) {
        if (!literal_at(search, at)) continue;
        *begin = at;
        *end = search->from = at + length;
        *found = true;
        return TN_OK;
    }
    search->from = search->n + 1;
    return TN_OK;
}
