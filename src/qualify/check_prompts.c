/*
 * Prompts: asking for a role puts that prompt before the text, an unknown role is an error that names the known ones,
 * and tokens of the prompt are left out of the pooling where the package says so.
 */
#include "qualify/suite.h"

#include "task/embedding.h"

#include <string.h>

static enum tn_status tokens_of(struct tn_suite *s, struct tn_str prompt, tn_string text, size_t *out)
{
    struct tn_buf whole;
    tn_encoding *encoding = NULL;
    tn_buf_init(&whole, s->alloc, SIZE_MAX - 1);
    tn_buf_append(&whole, prompt.s, prompt.n);
    tn_buf_append(&whole, text.data, text.length);
    *out = 0;
    enum tn_status status = tn_buf_status(&whole) ? tn_suite_no_memory(s) : TN_OK;
    if (!status) status = tn_suite_encode(s, (tn_string){whole.data, whole.len}, 0, &encoding);
    if (encoding) *out = tn_encoding_tokens(encoding).count;
    tn_encoding_free(encoding);
    tn_buf_release(&whole);
    return status;
}

/* One prompt: the number of tokens is that of the prompt and the text together. */
static enum tn_status try_prompt(struct tn_suite *s, struct tn_check *c, const struct tn_prompt *p)
{
    char name[256];
    size_t together = 0, alone = 0;
    struct tn_answers a;
    tn_string text = s->texts[3];
    if (p->name.n >= sizeof(name) || memchr(p->name.s, 0, p->name.n)) return TN_OK;
    memcpy(name, p->name.s, p->name.n);
    name[p->name.n] = 0;
    enum tn_status status = tokens_of(s, p->text, text, &together);
    if (!status) status = tokens_of(s, (struct tn_str){"", 0}, text, &alone);
    if (status) return status;
    tn_embed_request request = tn_suite_request(&text, 1);
    request.role = name;
    status = tn_suite_ask(s, s->session, &request, &a);
    if (!status && (a.failure || a.failed)) {
        tn_check_fail(c, "role %.60s was refused: %s", name, a.message);
    } else if (!status && a.events->tokens_total != together) {
        tn_check_fail(c, "role %.60s used %zu tokens, prompt and text have %zu", name, a.events->tokens_total, together);
    } else if (!status && p->text.n && together == alone) {
        tn_check_fail(c, "the prompt of role %.60s has no tokens", name);
    }
    tn_answers_release(&a);
    return status;
}

static enum tn_status check_roles(struct tn_suite *s)
{
    struct tn_check *c = tn_suite_check(s, "prompts.tokens", TN_LEVEL_LOADS,
                                        "a role's text is tokenized with its prompt before it", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_check_measure(c, "prompts", (double)s->d->prompt_count);
    if (s->d->prompt_count == 0) tn_check_skip(c, "the package declares no prompts");
    enum tn_status status = TN_OK;
    for (uint32_t i = 0; !status && i < s->d->prompt_count; i++) status = try_prompt(s, c, &s->d->prompts[i]);
    return status;
}

/* The first prompt that fits a NUL-terminated name and changes tokens. */
static const struct tn_prompt *some_prompt(const struct tn_suite *s)
{
    for (uint32_t i = 0; i < s->d->prompt_count; i++) {
        const struct tn_prompt *p = &s->d->prompts[i];
        if (p->text.n && p->name.n < 256 && !memchr(p->name.s, 0, p->name.n)) return p;
    }
    return NULL;
}

/*
 * Where prompt tokens are pooled, a role is nothing but its prompt written before the text; where they are left out, it
 * must not be.
 */
static enum tn_status check_written(struct tn_suite *s)
{
    char name[256] = "";
    struct tn_buf whole;
    struct tn_answers role = {0}, written = {0};
    const struct tn_module *pooling = tn_embedding_pooling(s->d);
    const struct tn_prompt *p = some_prompt(s);
    bool pooled = !pooling || pooling->include_prompt;
    struct tn_check *c = tn_suite_check(s, "prompts.pooled", TN_LEVEL_LOADS,
                                        "a role equals its prompt written before the text exactly where the prompt is "
                                        "pooled",
                                        NULL);
    if (!c) return tn_suite_no_memory(s);
    if (!p || s->d->default_prompt.n) {
        tn_check_skip(c, p ? "the default prompt stands before every text" : "the package declares no prompt with a text");
        return TN_OK;
    }
    if (!pooled && pooling->pooling_count == 1 &&
        (pooling->pooling[0] == TN_POOLING_CLS || pooling->pooling[0] == TN_POOLING_LAST_TOKEN)) {
        tn_check_skip(c, "this pooling takes one token, which the prompt may not be");
        return TN_OK;
    }
    memcpy(name, p->name.s, p->name.n);
    tn_buf_init(&whole, s->alloc, SIZE_MAX - 1);
    tn_buf_append(&whole, p->text.s, p->text.n);
    tn_buf_append(&whole, s->texts[3].data, s->texts[3].length);
    enum tn_status status = tn_buf_status(&whole) ? tn_suite_no_memory(s) : TN_OK;
    tn_string texts[2] = {s->texts[3], {whole.data, whole.len}};
    tn_embed_request request = tn_suite_request(&texts[0], 1);
    request.role = name;
    if (!status) status = tn_suite_ask(s, s->session, &request, &role);
    request = tn_suite_request(&texts[1], 1);
    if (!status) status = tn_suite_ask(s, s->session, &request, &written);
    if (!status && (role.failure || role.failed || written.failure || written.failed)) {
        tn_check_fail(c, "refused: %s", role.message[0] ? role.message : written.message);
    } else if (!status) {
        bool equal = tn_compare_rows(role.vectors, written.vectors, 1, role.dimensions).equal;
        if (pooled && !equal) tn_check_fail(c, "they differ although the prompt is pooled");
        if (!pooled && equal && role.events->tokens < s->max_tokens) {
            tn_check_fail(c, "they are equal although the prompt's tokens are to be left out");
        }
    }
    tn_answers_release(&role);
    tn_answers_release(&written);
    tn_buf_release(&whole);
    return status;
}

static enum tn_status check_unknown(struct tn_suite *s)
{
    struct tn_answers a;
    static const char nobody[] = "no package has a prompt of this name";
    struct tn_check *c = tn_suite_check(s, "prompts.unknown", TN_LEVEL_LOADS, "an unknown role is refused", NULL);
    if (!c) return tn_suite_no_memory(s);
    tn_embed_request request = tn_suite_request(s->texts, 1);
    request.role = nobody;
    enum tn_status status = tn_suite_ask(s, s->session, &request, &a);
    if (!status && a.failure != TN_INVALID_REQUEST) {
        tn_check_fail(c, "it ended with %s", tn_status_name(a.failure));
    }
    tn_answers_release(&a);
    return status;
}

enum tn_status tn_check_prompts(struct tn_suite *s)
{
    enum tn_status status = check_roles(s);
    if (!status) status = check_written(s);
    if (!status) status = check_unknown(s);
    return status;
}
