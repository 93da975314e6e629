/*
 * The recipe of tagging: rows of logits per token to spans of the text. A text is tokenized once more when its result
 * comes in: where a token stands in the text is needed then and nowhere before, and tokens are never kept.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "task/tag.h"

#include <math.h>
#include <string.h>

/* MOST_SPECIAL: tokens of a sequence that are none of its text. */
enum { MOST_SPECIAL = 8 };

struct tn_recipe_model {
    struct tn_text_model text;
    const struct tn_description *d;
    const struct tn_head *head;
    size_t width;
    bool continuing_prefix, has_unknown;
    uint32_t unknown; /* id of the unknown token */
    struct tn_stated stated;
};

struct found {
    tn_tag *tags;    /* [count], owned */
    size_t count;
    float *logits;   /* [tokens, width] when wanted, owned */
    size_t logit_count;
};

struct tn_recipe_run {
    struct tn_text_items texts;
    const struct tn_recipe_model *model; /* NULL once finished */
    struct tn_alloc *alloc;
    struct tn_tag_rule rule;
    bool want_logits;
    struct found *found; /* [count] */
    size_t count;
    struct tn_stated stated;
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static void discard(struct tn_recipe_model *m)
{
    if (!m) return;
    tn_stated_release(&m->stated);
    tn_free(m->text.alloc, m);
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    struct tn_recipe_model *m = tn_calloc(env->ctx->alloc, 1, sizeof(*m));
    *out = NULL;
    if (!m) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    m->text = tn_text_model_of(env);
    m->d = env->d;
    m->head = env->route->head;
    m->width = (size_t)env->output_width;
    m->continuing_prefix = tn_text_tokenizer_facts(env->tokenizer).continuing_prefix;
    m->has_unknown = env->d->tokenizer.unk_token.n && tn_text_token_id(env->tokenizer, env->d->tokenizer.unk_token, &m->unknown);
    enum tn_status st = tn_stated_begin(&m->stated, env, tn_tag_options, err);
    if (st) {
        discard(m);
        return st;
    }
    *out = m;
    return TN_OK;
}

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    return tn_text_probe(&m->text, false, batch, scratch, err);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_choices choices_of(const tn_tag_request *r)
{
    return (struct tn_text_choices){"", r->truncation, r->side, r->atomic, r->batch, r->timeout_ms};
}

static struct tn_text_source source_of(const tn_tag_request *r)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = TN_STR(""), .noun = "text", .option = "texts"};
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_tag_request *r, struct tn_error *err)
{
    struct tn_text_choices choices = choices_of(r);
    const struct tn_prompt *prompt;
    if (!tn_aggregation_name(r->aggregation)) {
        return tn_request_refuse(err, "aggregation", "aggregation has no such value", "none, simple, first, average or max",
                                 (unsigned long long)r->aggregation);
    }
    return tn_text_choices_check(m->d, &choices, &prompt, err);
}

/* Tokens that a text of so many bytes can have: never more than bytes, and no more than the model takes. */
static uint64_t most_tokens(const struct tn_recipe_model *m, size_t bytes)
{
    uint64_t most = (uint64_t)bytes + MOST_SPECIAL;
    return most < m->text.max_tokens ? most : m->text.max_tokens;
}

static uint64_t bytes_per_token(const struct tn_recipe_model *m, const tn_tag_request *r)
{
    return sizeof(tn_tag) + (r->want_logits ? (uint64_t)m->width * sizeof(float) : 0);
}

/* What the work on one text needs beside its results: tokens with their probabilities. */
static uint64_t working_bytes(const struct tn_recipe_model *m)
{
    return m->text.max_tokens * (sizeof(struct tn_tag_token) + (uint64_t)m->width * sizeof(float)) + m->width * sizeof(float);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_tag_request *r = request;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    st = tn_text_items_measure(&m->text, &source, bytes, err);
    if (st) return st;
    uint64_t all = sizeof(struct tn_recipe_run) + tn_stated_bytes(&m->stated, 0) + working_bytes(m), one;
    bool fits = true;
    for (size_t i = 0; fits && i < r->count; i++) {
        fits = tn_mul64(most_tokens(m, r->texts[i].length), bytes_per_token(m, r), &one) && tn_add64(all, one, &all) &&
               tn_add64(all, sizeof(struct found), &all);
    }
    if (!fits || !tn_add64(*bytes, all, bytes)) return tn_request_refuse_limit(err, "texts", "items", r->count, m->text.ctx->limits.items);
    return TN_OK;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->count; i++) {
        tn_free(run->alloc, run->found[i].tags);
        tn_free(run->alloc, run->found[i].logits);
    }
    tn_text_items_release(&run->texts);
    tn_stated_release(&run->stated);
    tn_free(run->alloc, run->found);
    tn_free(run->alloc, run);
}

static bool state_options(struct tn_recipe_run *run, const tn_tag_request *r)
{
    struct tn_text_choices choices = choices_of(r);
    choices.role = NULL;
    if (r->aggregation)
        tn_stated_request_word(&run->stated, "aggregation", tn_aggregation_name(r->aggregation));
    if (r->keep_outside) tn_stated_request(&run->stated, "keep_outside", TN_STR("true"));
    tn_text_choices_state(&choices, &run->stated);
    return !run->stated.no_memory;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_tag_request *r = request;
    *out = NULL;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    struct tn_text_source source = source_of(r);
    struct tn_text_choices choices = choices_of(r);
    run->model = m;
    run->alloc = alloc;
    run->rule = (struct tn_tag_rule){m->head, r->aggregation, r->keep_outside};
    run->want_logits = r->want_logits;
    run->count = r->count;
    tn_stated_over(&run->stated, &m->stated, alloc);
    st = tn_text_items_start(&run->texts, &m->text, &source, alloc, err);
    if (!st) run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    if (!st && (!run->found || !state_options(run, r)))
        st = tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    if (st) {
        release(run);
        return st;
    }
    tn_text_choices_apply(&choices, &run->texts);
    *out = run;
    return TN_OK;
}

static void finish(struct tn_recipe_run *run)
{
    tn_text_items_finish(&run->texts);
    run->model = NULL;
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static size_t code_points(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

/* Counts code points up to byte offsets that mostly rise. */
struct ruler {
    const char *text;
    size_t byte, chars;
};

static size_t chars_at(struct ruler *r, size_t byte)
{
    if (byte < r->byte) r->byte = r->chars = 0;
    r->chars += code_points(r->text + r->byte, byte - r->byte);
    r->byte = byte;
    return r->chars;
}

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
    struct tn_str token = tn_text_token(m->text.tokenizer, id);
    return code_points(token.s, token.n) != t->end_char - t->begin_char;
}

/* Tokens of the text, without the special ones, each with the probabilities of its row. */
static size_t collect(const struct tn_recipe_run *run, struct tn_str text, const struct tn_text_encoding *e, const float *probabilities,
                      struct tn_tag_token *out)
{
    const struct tn_recipe_model *m = run->model;
    struct ruler ruler = {.text = text.s};
    size_t n = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (e->special_mask[i]) continue;
        struct tn_tag_token *t = &out[n++];
        *t = (struct tn_tag_token){.begin = e->offsets[i][0], .end = e->offsets[i][1], .place = i, .probabilities = probabilities + i * m->width};
        t->begin_char = chars_at(&ruler, t->begin);
        t->end_char = chars_at(&ruler, t->end);
        t->subword = is_subword(m, text, e->ids[i], t);
    }
    return n;
}

static bool keep_logits(struct tn_recipe_run *run, struct found *f, const float *result, size_t count)
{
    if (!run->want_logits) return true;
    f->logits = tn_malloc(run->alloc, count * sizeof(*f->logits));
    if (!f->logits) return false;
    memcpy(f->logits, result, count * sizeof(*f->logits));
    f->logit_count = count;
    return true;
}

static bool find_spans(struct tn_recipe_run *run, size_t i, const struct tn_text_encoding *e, float *probabilities, float *mean)
{
    struct found *f = &run->found[i];
    struct tn_str text, pair;
    struct tn_tag_token *tokens = tn_malloc(run->alloc, (e->count + 1) * sizeof(*tokens));
    if (!tokens) return false;
    tn_text_items_text(&run->texts, i, &text, &pair);
    size_t count = collect(run, text, e, probabilities, tokens);
    f->tags = tn_malloc(run->alloc, (count + 1) * sizeof(*f->tags));
    if (f->tags) f->count = tn_tag_spans(&run->rule, tokens, count, mean, f->tags);
    tn_free(run->alloc, tokens);
    return f->tags != NULL;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    static const struct tn_scoring softmax = {TN_SCORE_SOFTMAX, TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
    const struct tn_text_encoding *e = &step->scratch->encoding;
    enum tn_status st = tn_text_items_encode(&run->texts, i, true, step->scratch, NULL);
    if (!st && e->count != rows) st = TN_RUNTIME_FAILURE;
    if (!st && !keep_logits(run, &run->found[i], result, rows * width)) st = TN_INSUFFICIENT_MEMORY;
    float *mean = st ? NULL : tn_malloc(run->alloc, width * sizeof(*mean));
    if (!st && !mean) st = TN_INSUFFICIENT_MEMORY;
    for (uint32_t r = 0; !st && r < rows; r++) tn_score_apply(&softmax, result + r * width, result + r * width, width);
    if (!st && !find_spans(run, i, e, result, mean)) st = TN_INSUFFICIENT_MEMORY;
    tn_free(run->alloc, mean);
    return st;
}

static const struct tn_text_hooks hooks = {.take = take};

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    return tn_text_items_advance(&run->texts, run, &hooks, step, err);
}

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->texts, run, &hooks, i, out, err)) return;
    out->score_kind = TN_SCORE_PROBABILITY;
    out->tags = f->tags;
    out->tag_count = f->count;
    out->logits = f->logits;
    out->logit_count = f->logit_count;
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->texts.counts;
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
    tn_jw_member_u64(w, "start", t->begin_char);
    tn_jw_member_u64(w, "end", t->end_char);
    tn_jw_key(w, "bytes");
    tn_jw_begin_array(w);
    tn_jw_u64(w, t->begin);
    tn_jw_u64(w, t->end);
    tn_jw_end_array(w);
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
        for (size_t k = 0; k < f->logit_count; k++) {
            if (k % width == 0) tn_jw_begin_array(w);
            tn_jw_f32(w, f->logits[k]);
            if (k % width == width - 1) tn_jw_end_array(w);
        }
        tn_jw_end_array(w);
    }
    tn_text_item_write(w, &run->texts.items[i]);
}

static void account(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_stated_account(&run->stated, run, write_result, w);
}

const struct tn_recipe tn_recipe_tag = {
    .name = "tag",
    .version = "1",
    .prepare = prepare,
    .discard = discard,
    .probe = probe,
    .measure = measure,
    .start = start,
    .advance = advance,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = counts,
    .write_result = write_result,
    .write_item = write_item,
    .account = account,
};
