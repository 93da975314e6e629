/*
 * vocab.txt beside tokenizer.json: two statements of one vocabulary. tokenizer.json counts, as in the reference, which
 * does not open the other file; where they differ that is a warning that names both. Inputs are untrusted; the file is
 * read once, lines are met by the ids of the entries, and only lines that were not met are sorted.
 */
#include "describe/builder.h"

#include "base/sort.h"

#include <string.h>

enum state { UNSEEN, SAME, OTHER };

struct line {
    struct tn_str text; /* without its end and blanks before it */
    struct tn_str raw;
    uint64_t id;
    enum state state;
};

struct comparison {
    struct tn_tokenizer_reader *r;
    struct line *lines;
    size_t count, met;
    uint64_t differences, first; /* id of the first difference */
    struct tn_str here, there;   /* what has that id in vocab.txt and in tokenizer.json; .s NULL: nothing */
};

/* ---- lines -------------------------------------------------------------------------------------------------------- */

static size_t count_lines(struct tn_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) n += text.s[i] == '\n';
    return n + (text.n > 0 && text.s[text.n - 1] != '\n');
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void cut_lines(struct comparison *c, struct tn_str text)
{
    size_t at = 0;
    for (size_t i = 0; i < c->count; i++) {
        const char *end = memchr(text.s + at, '\n', text.n - at);
        size_t n = end ? (size_t)(end - text.s) - at : text.n - at, used = n + 1;
        if (n > 0 && text.s[at + n - 1] == '\r') n--;
        struct tn_str raw = {text.s + at, n};
        while (n > 0 && is_blank(text.s[at + n - 1])) n--;
        c->lines[i] = (struct line){.text = {text.s + at, n}, .raw = raw, .id = i};
        at += used;
    }
}

/* Readers of the file cut its blanks or keep them; a token means the line in either way. */
static bool is_token(const struct line *line, struct tn_str token)
{
    return tn_str_eq(line->text, token) || tn_str_eq(line->raw, token);
}

/* ---- comparing ---------------------------------------------------------------------------------------------------- */

static void differs(struct comparison *c, uint64_t id, struct tn_str here, struct tn_str there)
{
    if (c->differences++ > 0 && id >= c->first) return;
    c->first = id;
    c->here = here;
    c->there = there;
}

static void meet_entry(struct comparison *c, struct tn_json entry)
{
    struct tn_str token = tn_json_key(entry);
    uint64_t id;
    if (!tn_json_u64(entry, &id)) return; /* src/text refuses it */
    struct line *line = id < c->count ? &c->lines[id] : NULL;
    if (line && line->state == UNSEEN) {
        line->state = is_token(line, token) ? SAME : OTHER;
        c->met++;
    }
    if (!line || line->state != SAME) differs(c, id, line ? line->text : (struct tn_str){NULL, 0}, token);
}

/* Added tokens usually stand behind the file's last line; those that have a line of their own are met. */
static void meet_added(struct comparison *c, struct tn_json token)
{
    struct tn_str text;
    uint64_t id;
    if (!tn_json_u64(tn_json_get(token, "id"), &id) || id >= c->count || c->lines[id].state != UNSEEN) return;
    if (!tn_json_str(tn_json_get(token, "content"), &text) || !is_token(&c->lines[id], text)) return;
    c->lines[id].state = SAME;
    c->met++;
}

static int by_text(const void *a, const void *b, void *context)
{
    const struct line *x = a, *y = b;
    (void)context;
    int order = tn_str_order(x->text, y->text);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* Of a token that stands there twice the later line counts; the others mean nothing. */
static void meet_rest(struct comparison *c)
{
    if (c->met == c->count) return;
    tn_sort(c->lines, c->count, sizeof(*c->lines), by_text, NULL);
    for (size_t i = 0; i < c->count; i++) {
        bool last = i + 1 == c->count || !tn_str_eq(c->lines[i].text, c->lines[i + 1].text);
        if (last && c->lines[i].state == UNSEEN) differs(c, c->lines[i].id, c->lines[i].text, (struct tn_str){NULL, 0});
    }
}

static const char *quote(struct tn_str text)
{
    return text.s ? "\"" : "";
}

static struct tn_str shown(struct tn_str text)
{
    return text.s ? text : TN_STR("nothing");
}

static void warn(const struct comparison *c)
{
    const struct tn_tokenizer_facts *t = c->r->facts;
    struct tn_str a = shown(c->here), b = shown(c->there);
    struct tn_finding *f = tn_warning(c->r->b, TN_UNSUPPORTED_PROCESSOR,
                                      "%.*s and /model/vocab of %.*s are not the same vocabulary; the latter is used",
                                      TN_FMT_ARG(t->vocab_txt), TN_FMT_ARG(t->tokenizer_json));
    tn_at_file(f, t->vocab_txt);
    tn_found(f, "%llu difference(s), the first at id %llu: %s%.*s%s, and in %.*s %s%.*s%s",
             (unsigned long long)c->differences, (unsigned long long)c->first, quote(c->here), TN_FMT_ARG(a),
             quote(c->here), TN_FMT_ARG(t->tokenizer_json), quote(c->there), TN_FMT_ARG(b), quote(c->there));
    tn_expected(f, "the tokens of %.*s, one a line in the order of their ids", TN_FMT_ARG(t->tokenizer_json));
    tn_remedy(f, "remove %.*s, or save the tokenizer again, so that both files are of one state", TN_FMT_ARG(t->vocab_txt));
}

static void compare(struct comparison *c, struct tn_json root)
{
    struct tn_json vocabulary = tn_json_find(root, "/model/vocab"), added = tn_json_get(root, "added_tokens");
    for (struct tn_json v = tn_json_first(vocabulary); tn_json_present(v); v = tn_json_next(v)) meet_entry(c, v);
    for (struct tn_json v = tn_json_first(added); tn_json_present(v); v = tn_json_next(v)) meet_added(c, v);
    meet_rest(c);
    if (c->differences > 0) warn(c);
}

void tn_tokenizer_compare_vocab_txt(struct tn_tokenizer_reader *r)
{
    struct tn_builder *b = r->b;
    const struct tn_tokenizer_facts *t = r->facts;
    struct comparison c = {.r = r};
    struct tn_str text;
    struct tn_json root = r->file;
    const struct tn_package_file *file = b->failed == TN_OK ? tn_inventory_file(b->inv, t->vocab_txt) : NULL;
    if (!file || file->malformed || !tn_json_is(tn_json_find(root, "/model/vocab"), TN_JSON_OBJECT)) return;
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_read(b->inv, t->vocab_txt, &text, b->scratch);
    if (status != TN_OK) {
        tn_builder_report(b, status);
        return;
    }
    c.count = count_lines(text);
    /* More lines than any vocabulary may have are not kept: the first of them is a difference already. */
    if (c.count > b->inv->ctx->limits.vocab_entries) c.count = (size_t)b->inv->ctx->limits.vocab_entries;
    c.lines = tn_calloc(b->alloc, c.count, sizeof(*c.lines));
    if (c.lines) {
        cut_lines(&c, text);
        compare(&c, root);
        tn_free(b->alloc, c.lines);
    } else {
        tn_builder_no_memory(b);
    }
    tn_free(b->inv->ctx->alloc, (void *)(uintptr_t)text.s);
}
