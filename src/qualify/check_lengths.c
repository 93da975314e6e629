/*
 * Texts at and beyond the length limit: one that is too long answers like the same text cut at the limit by tokens, and
 * is refused by name where the caller does not want it cut.
 */
#include "qualify/suite.h"

#include <string.h>

/* Tokens up to which the limit itself is tried; attention over more is too slow for a check. */
enum { LIMIT_TRIED = 8192, BEYOND = 7 };

/*
 * `count` letters with blanks between them: each is one token or one unknown token in every vocabulary, so that any cut
 * between two tokens leaves the others as they are.
 */
static char *letters(struct tn_alloc *alloc, size_t count)
{
    char *text = tn_malloc(alloc, 2 * count);
    for (size_t i = 0; text && i < count; i++) {
        text[2 * i] = (char)('a' + i % 26);
        text[2 * i + 1] = i + 1 < count ? ' ' : 0;
    }
    return text;
}

/* The default prompt stands before every text that is asked for without a role. */
static struct tn_str default_prompt(const struct tn_suite *s)
{
    const struct tn_prompt *p = s->d->default_prompt.n ? tn_description_prompt(s->d, s->d->default_prompt) : NULL;
    return p ? p->text : (struct tn_str){"", 0};
}

struct cut {
    size_t from, to; /* bytes of the text that are left */
    bool possible;
};

/* Which bytes of the text the tokens within the limit cover. */
static enum tn_status find_cut(struct tn_suite *s, const char *text, size_t length, struct cut *out)
{
    struct tn_str prompt = default_prompt(s);
    struct tn_buf whole;
    tn_encoding *encoding = NULL;
    *out = (struct cut){.to = length};
    tn_buf_init(&whole, s->alloc, SIZE_MAX - 1);
    tn_buf_append(&whole, prompt.s, prompt.n);
    tn_buf_append(&whole, text, length);
    if (tn_buf_status(&whole)) {
        tn_buf_release(&whole);
        return tn_suite_no_memory(s);
    }
    enum tn_status status = tn_suite_encode(s, (tn_string){whole.data, whole.len}, s->max_tokens, &encoding);
    if (!status && encoding) {
        tn_tokens tokens = tn_encoding_tokens(encoding);
        size_t first = SIZE_MAX, last = 0;
        for (size_t i = 0; i < tokens.count; i++) {
            size_t from = tokens.offsets[i][0], to = tokens.offsets[i][1];
            if (to == 0) continue;
            if (from < first) first = from;
            if (to > last) last = to;
        }
        bool left = tn_str_is(s->d->tokenizer.truncation_side, "left");
        out->possible = tokens.truncated && last > prompt.n && (!left || prompt.n == 0);
        out->from = left ? first : 0;
        out->to = left ? length : last - prompt.n;
    }
    tn_encoding_free(encoding);
    tn_buf_release(&whole);
    return status;
}

/* The long text against the cut one; both alone. */
static enum tn_status compare_cut(struct tn_suite *s, struct tn_check *c, const char *text, size_t length,
                                  const struct cut *cut)
{
    struct tn_answers whole = {0}, part = {0};
    tn_string texts[2] = {{text, length}, {text + cut->from, cut->to - cut->from}};
    tn_embed_request request = tn_suite_request(&texts[0], 1);
    enum tn_status status = tn_suite_ask(s, s->session, &request, &whole);
    request = tn_suite_request(&texts[1], 1);
    request.truncation = TN_TRUNCATE_NO;
    if (!status) status = tn_suite_ask(s, s->session, &request, &part);
    if (!status && (whole.failure || whole.failed || part.failure || part.failed)) {
        tn_check_fail(c, "refused: %s", whole.message[0] ? whole.message : part.message);
    } else if (!status) {
        const tn_event *e = whole.events;
        tn_check_measure(c, "tokens", (double)e->tokens);
        tn_check_measure(c, "tokens_total", (double)e->tokens_total);
        if (!e->truncated || e->tokens != s->max_tokens || e->tokens_total <= e->tokens) {
            tn_check_fail(c, "%zu tokens of %zu were used, truncated: %s", e->tokens, e->tokens_total,
                          e->truncated ? "yes" : "no");
        }
        if (part.events->truncated) tn_check_fail(c, "the cut text was cut again");
        struct tn_difference d = tn_compare_rows(whole.vectors, part.vectors, 1, whole.dimensions);
        tn_check_measure(c, "max_abs", d.max_abs);
        if (!d.equal) tn_check_fail(c, "the vectors differ by %s", TN_F64(d.max_abs));
    }
    tn_answers_release(&whole);
    tn_answers_release(&part);
    return status;
}

static enum tn_status check_cut(struct tn_suite *s, const char *text, size_t length)
{
    struct cut cut;
    struct tn_check *c = tn_suite_check(s, "length.cut", TN_LEVEL_LOADS,
                                        "a text beyond the limit equals the same text cut at the limit by tokens", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "limit_tokens", (double)s->max_tokens);
    enum tn_status status = find_cut(s, text, length, &cut);
    if (status) return status;
    if (!cut.possible) {
        tn_check_skip(c, "no text of the caller's can stand for the cut one here");
        return TN_OK;
    }
    return compare_cut(s, c, text, length, &cut);
}

/* [short, too long, short]: the offender fails by itself, and with `atomic` the request does. */
static enum tn_status check_refusal(struct tn_suite *s, const char *text, size_t length)
{
    struct tn_answers each = {0}, atomic = {0};
    tn_string texts[3] = {s->texts[3], {text, length}, s->texts[3]};
    struct tn_check *c = tn_suite_check(s, "length.refused", TN_LEVEL_LOADS,
                                        "where nothing may be cut a text beyond the limit is refused, by item or as a "
                                        "whole",
                                        NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_embed_request request = tn_suite_request(texts, 3);
    request.truncation = TN_TRUNCATE_NO;
    enum tn_status status = tn_suite_ask(s, s->session, &request, &each);
    request.atomic = true;
    if (!status) status = tn_suite_ask(s, s->session, &request, &atomic);
    if (!status) {
        if (each.failure || each.failed != 1 || each.events[1].status != TN_INPUT_TOO_LONG) {
            tn_check_fail(c, "%zu items failed, the second one with %s", each.failed,
                          tn_status_name(each.events[1].status));
        } else if (memcmp(each.vectors, each.vectors + 2 * each.dimensions, each.dimensions * sizeof(float)) != 0) {
            tn_check_fail(c, "the items beside it differ");
        }
        if (atomic.failure != TN_INPUT_TOO_LONG) {
            tn_check_fail(c, "an atomic request ended with %s", tn_status_name(atomic.failure));
        }
    }
    tn_answers_release(&each);
    tn_answers_release(&atomic);
    return status;
}

enum tn_status tn_check_lengths(struct tn_suite *s)
{
    if (s->max_tokens > LIMIT_TRIED) {
        struct tn_check *c = tn_suite_check(s, "length.cut", TN_LEVEL_LOADS,
                                            "a text beyond the limit equals the same text cut at the limit by tokens", NULL);
        tn_check_skip(c, "the limit of %zu tokens is too long to try", s->max_tokens);
        return c ? TN_OK : tn_suite_no_memory(s);
    }
    size_t count = s->max_tokens + BEYOND;
    char *text = letters(s->alloc, count);
    if (!text) return tn_suite_no_memory(s);
    enum tn_status status = check_cut(s, text, 2 * count - 1);
    if (!status) status = check_refusal(s, text, 2 * count - 1);
    tn_free(s->alloc, text);
    return status;
}
