/*
 * The recipe of tagging: rows of logits per token to spans of the text. A text is tokenized once more when its result
 * comes in: where a token stands in the text is needed then and nowhere before, and tokens are never kept.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "task/tag.h"
#include "task/text_recipe.h"

#include <math.h>
#include <string.h>

/* MOST_SPECIAL: tokens of a sequence that are none of its text. */
enum { MOST_SPECIAL = 8 };

struct tn_recipe_model {
    struct tn_text_session session;
    bool continuing_prefix, has_unknown;
    uint32_t unknown; /* id of the unknown token */
};

struct found {
    tn_tag *tags;    /* [count], owned */
    size_t count;
    float *logits;   /* [tokens, width] when wanted, owned */
    size_t logit_count;
};

struct tn_recipe_run {
    struct tn_text_run base;
    struct tn_tag_rule rule;
    bool want_logits;
    struct found *found; /* [count of texts] */
};

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_tag_options, out, err);
    if (st) return st;
    struct tn_recipe_model *m = *out;
    struct tn_str unknown = env->d->tokenizer.unk_token;
    m->continuing_prefix = tn_text_tokenizer_facts(env->tokenizer).continuing_prefix;
    m->has_unknown = unknown.n && tn_text_token_id(env->tokenizer, unknown, &m->unknown);
    return TN_OK;
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const tn_tag_request *r)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = TN_STR(""), .noun = "text", .option = "texts"};
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_tag_request *r, struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, "");
    const struct tn_prompt *prompt;
    if (!tn_aggregation_name(r->aggregation)) {
        return tn_request_refuse(err, "aggregation", "aggregation has no such value", "none, simple, first, average or max",
                                 (unsigned long long)r->aggregation);
    }
    return tn_text_choices_check(m->session.d, &choices, &prompt, err);
}

/* Tokens that a text of so many bytes can have: never more than bytes, and no more than the model takes. */
static uint64_t most_tokens(const struct tn_recipe_model *m, size_t bytes)
{
    uint64_t most = (uint64_t)bytes + MOST_SPECIAL;
    return most < m->session.text.max_tokens ? most : m->session.text.max_tokens;
}

static uint64_t bytes_per_token(const struct tn_recipe_model *m, const tn_tag_request *r)
{
    return sizeof(tn_tag) + (r->want_logits ? (uint64_t)m->session.width * sizeof(float) : 0);
}

/* What the work on one text needs beside its results: tokens with their probabilities. */
static uint64_t working_bytes(const struct tn_recipe_model *m)
{
    uint64_t row = (uint64_t)m->session.width * sizeof(float);
    return m->session.text.max_tokens * (sizeof(struct tn_tag_token) + row) + row;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_tag_request *r = request;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    struct tn_text_needs needs = {.each = sizeof(struct found), .once = sizeof(struct tn_recipe_run) + working_bytes(m)};
    for (size_t i = 0; r->texts && i < r->count; i++) {
        uint64_t one;
        bool fits = tn_mul64(most_tokens(m, r->texts[i].length), bytes_per_token(m, r), &one) && tn_add64(needs.once, one, &needs.once);
        if (!fits) needs.once = UINT64_MAX;
    }
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->base.texts.count; i++) {
        tn_free(run->base.alloc, run->found[i].tags);
        tn_free(run->base.alloc, run->found[i].logits);
    }
    tn_free(run->base.alloc, run->found);
    tn_text_release(run);
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_tag_request *r = request;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, "");
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->rule = (struct tn_tag_rule){m->session.head, r->aggregation, r->keep_outside};
    run->want_logits = r->want_logits;
    run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    if (r->aggregation) tn_stated_request_word(&run->base.stated, "aggregation", tn_aggregation_name(r->aggregation));
    if (r->keep_outside) tn_stated_request(&run->base.stated, "keep_outside", TN_STR("true"));
    return tn_text_begun(run, run->found != NULL, release, out, err);
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

/* No blank at the character's own place or just before it: without marked tokens that is taken for the inside of a word. */
static bool joins(struct tn_str text, size_t begin)
{
    if (begin == 0) return false;
    size_t before = begin - 1;
    return text.s[before] != ' ' && (begin >= text.n || text.s[begin] != ' ');
}

/*
 * Whether a token belongs to the word before it. Where tokens inside words carry a prefix, a token that is as long as its
 * part of the text begins a word; the unknown token always does.
 */
static bool is_subword(const struct tn_recipe_model *m, struct tn_str text, uint32_t id, const struct tn_tag_token *t)
{
    if (m->has_unknown && id == m->unknown) return false;
    if (!m->continuing_prefix) return joins(text, t->begin);
    struct tn_str token = tn_text_token(m->session.text.tokenizer, id);
    return tn_utf8_count(token.s, token.n) != t->end_char - t->begin_char;
}

/* Tokens of the text, without the special ones, each with the probabilities of its row. */
static size_t collect(const struct tn_recipe_run *run, struct tn_str text, const struct tn_text_encoding *e, const float *probabilities,
                      struct tn_tag_token *out)
{
    const struct tn_recipe_model *m = run->base.model;
    struct tn_utf8_ruler ruler = {.text = text.s};
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (e->special_mask[i]) continue;
        struct tn_tag_token *t = &out[n++];
        *t = (struct tn_tag_token){.begin = e->offsets[i][0], .end = e->offsets[i][1], .place = i, .probabilities = probabilities + i * m->session.width};
        t->begin_char = tn_utf8_chars_at(&ruler, t->begin);
        t->end_char = tn_utf8_chars_at(&ruler, t->end);
        t->subword = is_subword(m, text, e->ids[i], t);
    }
    return n;
}

static bool keep_logits(struct tn_recipe_run *run, struct found *f, const float *result, size_t count)
{
    if (!run->want_logits) return true;
    f->logits = tn_malloc(run->base.alloc, count * sizeof(*f->logits));
    if (!f->logits) return false;
    memcpy(f->logits, result, count * sizeof(*f->logits));
    f->logit_count = count;
    return true;
}

static bool find_spans(struct tn_recipe_run *run, size_t i, const struct tn_text_encoding *e, float *probabilities, float *mean)
{
    struct found *f = &run->found[i];
    struct tn_str text, pair;
    struct tn_tag_token *tokens = tn_malloc(run->base.alloc, (e->count + 1) * sizeof(*tokens));
    if (!tokens) return false;
    tn_text_items_text(&run->base.texts, i, &text, &pair);
    size_t count = collect(run, text, e, probabilities, tokens);
    f->tags = tn_malloc(run->base.alloc, (count + 1) * sizeof(*f->tags));
    if (f->tags) f->count = tn_tag_spans(&run->rule, tokens, count, mean, f->tags);
    tn_free(run->base.alloc, tokens);
    return f->tags != NULL;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    static const struct tn_scoring softmax = {TN_SCORE_SOFTMAX, TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
    const struct tn_text_encoding *e = &step->scratch->encoding;
    enum tn_status st = tn_text_items_encode(&run->base.texts, i, true, step->scratch, NULL);
    if (!st && e->count != rows) st = TN_RUNTIME_FAILURE;
    if (!st && !keep_logits(run, &run->found[i], result, rows * width)) st = TN_INSUFFICIENT_MEMORY;
    float *mean = st ? NULL : tn_malloc(run->base.alloc, width * sizeof(*mean));
    if (!st && !mean) st = TN_INSUFFICIENT_MEMORY;
    for (uint32_t r = 0; !st && r < rows; r++) tn_score_apply(&softmax, result + r * width, result + r * width, width);
    if (!st && !find_spans(run, i, e, result, mean)) st = TN_INSUFFICIENT_MEMORY;
    tn_free(run->base.alloc, mean);
    return st;
}

static const struct tn_text_hooks hooks = {.take = take};

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->score_kind = TN_SCORE_PROBABILITY;
    out->tags = f->tags;
    out->tag_count = f->count;
    out->logits = f->logits;
    out->logit_count = f->logit_count;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_cstr(w, "aggregation", tn_aggregation_name(run->rule.aggregation));
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(TN_SCORE_PROBABILITY));
}

static void write_tag(const tn_tag *t, struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "label", (struct tn_str){t->label.data, t->label.length});
    tn_jw_key(w, "score");
    tn_jw_f32(w, t->score);
    tn_text_write_part(w, t->begin_char, t->end_char, t->begin, t->end);
    tn_jw_member_u64(w, "token", t->token);
    tn_jw_member_u64(w, "tokens", t->token_count);
    tn_jw_end_object(w);
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    size_t width = (size_t)run->rule.head->outputs;
    tn_jw_key(w, "tags");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) write_tag(&f->tags[k], w);
    tn_jw_end_array(w);
    if (f->logits) {
        tn_jw_key(w, "logits");
        tn_jw_begin_array(w);
        for (size_t k = 0; k < f->logit_count; k += width) tn_jw_f32s(w, f->logits + k, width);
        tn_jw_end_array(w);
    }
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_tag = {
    .name = "tag",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .probe = tn_text_probe_one,
    .measure = measure,
    .start = start,
    .advance = tn_text_advance,
    .finish = tn_text_finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
