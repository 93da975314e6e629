/*
 * The recipe of mask filling: a row over the vocabulary for each mask, to tokens and the sequences that they make. A text is
 * tokenized once more when its result comes in, as its tokens are what a sequence is decoded from and are never kept.
 *
 * The rules are those of transformers' FillMaskPipeline (5.24). Two of them are refused instead: a target that is no token
 * of the vocabulary, which it replaces by the beginning of its pieces, and targets of which none is left.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "task/fill.h"
#include "task/text_recipe.h"

#include <stdio.h>
#include <string.h>

/* DECODED_SLACK: what a decoded text may have beyond its bytes. */
enum { DECODED_SLACK = 64, MOST_TARGET_BYTES = 4096 };

struct tn_recipe_model {
    struct tn_text_session session;
    size_t max_picks;
    uint32_t mask, pad;
    bool has_pad, clean_up; /* clean_up: decoded texts once more, as the package asks; never those of BPE */
};

struct found {
    bool bare;       /* the text holds no mask */
    size_t asked;    /* how many it holds */
    tn_mask *masks;  /* [count], owned */
    size_t count;
    tn_fill *fills;  /* [count * most], owned */
    char *text;      /* of all predictions, owned */
    float *logits;   /* [count, width] when wanted, owned */
};

struct tn_recipe_run {
    struct tn_text_run base;
    struct tn_scoring scoring;
    bool want_logits;
    size_t width, most;  /* predictions per mask */
    uint32_t *targets;   /* [target_count] ids, rising, owned; NULL: the whole vocabulary */
    size_t target_count;
    float *scores;       /* [width] of the row at hand */
    uint32_t *order;     /* [width] */
    struct found *found; /* [count of texts] */
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static enum tn_status refuse_mask(struct tn_str mask, size_t width, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_TASK, TN_PHASE_LOAD, "the mask token is not in the vocabulary of the head");
    tn_found(f, "%.*s", TN_FMT_ARG(mask));
    tn_expected(f, "a token with an id below %zu", width);
    return TN_UNSUPPORTED_TASK;
}

static enum tn_status learn(struct tn_recipe_model *m, const struct tn_recipe_env *env, struct tn_error *err)
{
    const struct tn_tokenizer_facts *t = &env->d->tokenizer;
    size_t width = m->session.width;
    m->max_picks = (size_t)env->max_picks;
    if (!tn_text_token_id(env->tokenizer, t->mask_token, &m->mask) || m->mask >= width) return refuse_mask(t->mask_token, width, err);
    m->has_pad = t->pad_token.n && tn_text_token_id(env->tokenizer, t->pad_token, &m->pad);
    m->clean_up = t->clean_up_spaces && !tn_text_tokenizer_facts(env->tokenizer).byte_pairs;
    return TN_OK;
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_fill_options, out, err);
    if (!st) st = learn(*out, env, err);
    if (st) {
        tn_text_discard(*out);
        *out = NULL;
    }
    return st;
}

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    enum tn_status st = tn_text_probe_one(m, batch, scratch, err);
    if (!st && !tn_batch_pick(batch, 0)) {
        st = TN_RUNTIME_FAILURE;
        tn_error_set(err, st, TN_PHASE_LOAD, "the batch has no room for a token that is asked about");
    }
    return st;
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const tn_fill_request *r)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = TN_STR(""), .noun = "text", .option = "texts"};
}

static enum tn_status refuse_target(struct tn_error *err, size_t i, const char *message, const char *found)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", message);
    tn_at_option(f, "targets");
    tn_at_item(f, i);
    if (found) tn_found(f, "%s", found);
    tn_expected(f, "tokens as the vocabulary has them; `tenon tokenize` shows the tokens of a text");
    return TN_INVALID_REQUEST;
}

/* `ids` NULL: only looks. */
static enum tn_status find_targets(const struct tn_recipe_model *m, const tn_fill_request *r, uint32_t *ids, struct tn_error *err)
{
    if (r->targets && r->target_count == 0) return refuse_target(err, 0, "targets holds no token", "nothing");
    if (!r->targets && r->target_count) return tn_request_refuse(err, "targets", "targets is NULL", "an array of tokens", 0);
    for (size_t i = 0; i < r->target_count; i++) {
        tn_string t = r->targets[i];
        uint32_t id;
        if (!t.data || t.length == 0 || t.length > MOST_TARGET_BYTES) return refuse_target(err, i, "a target is no text of a token", NULL);
        if (!tn_text_token_id(m->session.text.tokenizer, (struct tn_str){t.data, t.length}, &id) || id >= m->session.width) {
            char length[64];
            snprintf(length, sizeof(length), "target %zu, a text of %zu bytes", i, t.length);
            return refuse_target(err, i, "a target is no token of the vocabulary", length);
        }
        if (ids) ids[i] = id;
    }
    return TN_OK;
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_fill_request *r, struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, "");
    const struct tn_prompt *prompt;
    if ((unsigned)r->scores > TN_SCORES_PROBABILITY) {
        return tn_request_refuse(err, "scores", "scores has no such value", "auto, logit or probability", (unsigned long long)r->scores);
    }
    enum tn_status st = find_targets(m, r, NULL, err);
    return st ? st : tn_text_choices_check(m->session.d, &choices, &prompt, err);
}

static size_t most_fills(const struct tn_recipe_model *m, const tn_fill_request *r)
{
    size_t most = r->top_k ? r->top_k : TN_FILL_TOP_K, all = r->target_count ? r->target_count : m->session.width;
    return most < all ? most : all;
}

/* Masks as they are written in the text. */
static uint64_t count_masks(const struct tn_recipe_model *m, tn_string text)
{
    struct tn_str mask = m->session.d->tokenizer.mask_token;
    uint64_t n = 0;
    for (size_t i = 0; text.data && i + mask.n <= text.length;) {
        bool here = memcmp(text.data + i, mask.s, mask.n) == 0;
        n += here;
        i += here ? mask.n : 1;
    }
    return n < m->max_picks ? n : m->max_picks;
}

/* What the results of a text may take: for each mask its predictions, each with the text around it. */
static bool bytes_of_text(const struct tn_recipe_model *m, const tn_fill_request *r, size_t i, uint64_t *bytes)
{
    uint64_t fill = sizeof(tn_fill) + 2 * (uint64_t)r->texts[i].length + DECODED_SLACK, mask = sizeof(tn_mask), masks = count_masks(m, r->texts[i]);
    if (!tn_mul64(fill, most_fills(m, r), &fill) || !tn_add64(mask, fill, &mask)) return false;
    if (r->want_logits && !tn_add64(mask, (uint64_t)m->session.width * sizeof(float), &mask)) return false;
    return tn_mul64(mask, masks, bytes) && tn_add64(*bytes, sizeof(struct found), bytes);
}

static uint64_t bytes_of_targets(const tn_fill_request *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->target_count; i++) n += (uint64_t)r->targets[i].length + 4;
    return n;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_fill_request *r = request;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    uint64_t row = (uint64_t)m->session.width * (sizeof(float) + sizeof(uint32_t));
    struct tn_text_needs needs = {.once = sizeof(struct tn_recipe_run) + row, .words = bytes_of_targets(r)};
    bool fits = tn_add64(needs.once, r->target_count * sizeof(uint32_t), &needs.once);
    for (size_t i = 0; r->texts && i < r->count; i++) {
        uint64_t one;
        fits = fits && bytes_of_text(m, r, i, &one) && tn_add64(needs.once, one, &needs.once);
    }
    if (!fits) needs.once = UINT64_MAX;
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    struct tn_alloc *alloc = run->base.alloc;
    for (size_t i = 0; run->found && i < run->base.texts.count; i++) {
        tn_free(alloc, run->found[i].masks);
        tn_free(alloc, run->found[i].fills);
        tn_free(alloc, run->found[i].text);
        tn_free(alloc, run->found[i].logits);
    }
    tn_free(alloc, run->targets);
    tn_free(alloc, run->scores);
    tn_free(alloc, run->order);
    tn_free(alloc, run->found);
    tn_text_release(run);
}

static int by_id(const void *a, const void *b, void *context)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    (void)context;
    return x < y ? -1 : x > y;
}

/* Ids of the targets, rising and each once. They were found when the request was checked. False without memory. */
static bool keep_targets(struct tn_recipe_run *run, const tn_fill_request *r)
{
    size_t n = 0;
    if (r->target_count == 0) return true;
    run->targets = tn_calloc(run->base.alloc, r->target_count, sizeof(*run->targets));
    if (!run->targets || find_targets(run->base.model, r, run->targets, NULL)) return false;
    tn_sort(run->targets, r->target_count, sizeof(*run->targets), by_id, NULL);
    for (size_t i = 0; i < r->target_count; i++)
        if (i == 0 || run->targets[i] != run->targets[n - 1]) run->targets[n++] = run->targets[i];
    run->target_count = n;
    if (run->most > n) run->most = n;
    return true;
}

static struct tn_str text_of_targets(const tn_fill_request *r, struct tn_arena *arena)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_str copy = {NULL, 0};
    tn_buf_init(&text, arena->alloc, SIZE_MAX);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_array(&w);
    for (size_t i = 0; i < r->target_count; i++) tn_jw_str(&w, (struct tn_str){r->targets[i].data, r->targets[i].length});
    tn_jw_end_array(&w);
    if (!tn_buf_status(&text)) copy = tn_arena_str(arena, tn_buf_str(&text));
    tn_buf_release(&text);
    return copy;
}

static void state_options(struct tn_recipe_run *run, const tn_fill_request *r)
{
    struct tn_stated *s = &run->base.stated;
    if (r->scores) tn_stated_request_word(s, "scores", tn_score_kind_name(run->scoring.kind));
    if (r->top_k) tn_stated_request_u64(s, "top_k", r->top_k);
    if (r->target_count) tn_stated_request(s, "targets", text_of_targets(r, &s->arena));
}

static bool allocate(struct tn_recipe_run *run)
{
    struct tn_alloc *alloc = run->base.alloc;
    run->scores = tn_calloc(alloc, run->width, sizeof(*run->scores));
    run->order = tn_calloc(alloc, run->width, sizeof(*run->order));
    run->found = tn_calloc(alloc, run->base.texts.count, sizeof(*run->found));
    return run->scores && run->order && run->found;
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_fill_request *r = request;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, err);
    if (st) return st;
    struct tn_text_source source = source_of(r);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, "");
    bool logit = r->scores == TN_SCORES_LOGIT;
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->scoring = (struct tn_scoring){logit ? TN_SCORE_AS_IS : TN_SCORE_SOFTMAX, logit ? TN_SCORE_LOGIT : TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
    run->want_logits = r->want_logits;
    run->width = m->session.width;
    run->most = most_fills(m, r);
    state_options(run, r);
    return tn_text_begun(run, keep_targets(run, r) && allocate(run), release, out, err);
}

/* ---- masks of a text ----------------------------------------------------------------------------------------------------- */

static enum tn_status look(const struct tn_recipe_run *run, size_t i, const struct tn_text_encoding *e, struct tn_span *span)
{
    struct found *f = &run->found[i];
    (void)span;
    f->asked = 0;
    for (size_t k = 0; k < e->count; k++) f->asked += e->ids[k] == run->base.model->mask;
    f->bare = f->asked == 0;
    return f->bare ? TN_INVALID_REQUEST : f->asked > run->base.model->max_picks ? TN_RESOURCE_LIMIT : TN_OK;
}

static bool pick(const struct tn_recipe_run *run, const struct tn_text_encoding *e, struct tn_batch *batch)
{
    for (size_t k = 0; k < e->count; k++)
        if (e->ids[k] == run->base.model->mask && !tn_batch_pick(batch, (uint32_t)k)) return false;
    return true;
}

static bool explain(const struct tn_recipe_run *run, size_t i, enum tn_status code, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    struct tn_finding *at;
    if (code == TN_INVALID_REQUEST && f->bare) {
        at = tn_error_set(err, code, TN_PHASE_REQUEST, "the text holds no mask%s",
                          run->base.texts.items[i].detail > run->base.texts.max_tokens ? " among the tokens that are left of it" : "");
        tn_expected(at, "at least one mask token; the plan names it (mask_token)");
    } else if (code == TN_RESOURCE_LIMIT && f->asked) {
        at = tn_error_set(err, code, TN_PHASE_REQUEST, "the text holds more masks than a step has room for");
        tn_found(at, "%zu masks", f->asked);
        tn_remedy(at, "split the text");
    } else {
        return false;
    }
    tn_at_item(at, i);
    return true;
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

/* What is being made of one text. */
struct filling {
    struct tn_recipe_run *run;
    struct found *out;
    const struct tn_text_encoding *e;
    struct tn_buf text;    /* predictions point into it once it is whole; until then they hold offsets */
    uint32_t *ids;         /* the sequence with a prediction in it, without padding */
    size_t count;
};

/* The sequence's tokens with `id` in place of the mask; padding is left out, also where it is what was predicted. */
static void copy_ids(struct filling *f, size_t place, uint32_t id)
{
    const struct tn_recipe_model *m = f->run->base.model;
    f->count = 0;
    for (size_t i = 0; i < f->e->count; i++) {
        uint32_t own = i == place ? id : f->e->ids[i];
        if (m->has_pad && own == m->pad) continue;
        f->ids[f->count++] = own;
    }
}

static tn_string decoded(struct filling *f, const uint32_t *ids, size_t count, bool skip_special)
{
    size_t begin = f->text.len;
    tn_text_decode(f->run->base.model->session.text.tokenizer, ids, count, skip_special, &f->text);
    if (f->run->base.model->clean_up) tn_text_clean_up(&f->text, begin);
    return (tn_string){NULL, f->text.len - begin};
}

static void predict(struct filling *f, size_t place, uint32_t id, tn_fill *out)
{
    out->id = id;
    out->score = f->run->scores[id];
    out->token = decoded(f, &id, 1, false);
    copy_ids(f, place, id);
    out->sequence = decoded(f, f->ids, f->count, f->out->asked == 1);
}

/* The best ids of the row of scores into run->order. */
static size_t best_ids(struct tn_recipe_run *run)
{
    if (!run->targets) return tn_scores_best(run->scores, run->width, run->most, run->order);
    tn_scores_best_of(run->scores, run->targets, run->target_count, run->order);
    return run->most;
}

static bool fill_mask(struct filling *f, size_t place, const float *logits)
{
    struct tn_recipe_run *run = f->run;
    tn_mask *mask = &f->out->masks[f->out->count];
    tn_score_apply(&run->scoring, logits, run->scores, run->width);
    size_t n = best_ids(run);
    *mask = (tn_mask){.position = place, .begin = f->e->offsets[place][0], .end = f->e->offsets[place][1],
                      .fills = f->out->fills + f->out->count * run->most, .fill_count = n};
    for (size_t k = 0; k < n; k++) {
        if (!tn_scores_finite(&run->scores[run->order[k]], 1)) return false;
        predict(f, place, run->order[k], &f->out->fills[f->out->count * run->most + k]);
    }
    f->out->count++;
    return true;
}

/* Places in code points. */
static void count_characters(struct filling *f, struct tn_str text)
{
    struct tn_utf8_ruler ruler = {.text = text.s};
    for (size_t k = 0; k < f->out->count; k++) {
        tn_mask *mask = &f->out->masks[k];
        mask->begin_char = tn_utf8_chars_at(&ruler, mask->begin);
        mask->end_char = tn_utf8_chars_at(&ruler, mask->end);
    }
}

/* The texts of all predictions lie one behind the other. */
static enum tn_status settle_texts(struct filling *f)
{
    size_t at = 0;
    if (tn_buf_status(&f->text)) return tn_buf_status(&f->text);
    f->out->text = tn_buf_take(&f->text, &at);
    if (!f->out->text) return TN_INSUFFICIENT_MEMORY;
    at = 0;
    for (size_t m = 0; m < f->out->count; m++) {
        for (size_t k = 0; k < f->out->masks[m].fill_count; k++) {
            tn_fill *fill = &f->out->fills[m * f->run->most + k];
            fill->token.data = f->out->text + at;
            fill->sequence.data = f->out->text + at + fill->token.length;
            at += fill->token.length + fill->sequence.length;
        }
    }
    return TN_OK;
}

static bool make_room(struct filling *f, uint32_t masks, const float *result)
{
    struct tn_recipe_run *run = f->run;
    size_t fills, floats;
    if (!tn_mul(masks, run->most, &fills) || !tn_mul(masks, run->width, &floats)) return false;
    f->out->masks = tn_calloc(run->base.alloc, masks, sizeof(*f->out->masks));
    f->out->fills = tn_calloc(run->base.alloc, fills, sizeof(*f->out->fills));
    f->ids = tn_calloc(run->base.alloc, f->e->count, sizeof(*f->ids));
    if (run->want_logits) f->out->logits = tn_calloc(run->base.alloc, floats, sizeof(*f->out->logits));
    if (f->out->logits) memcpy(f->out->logits, result, floats * sizeof(*result));
    return f->out->masks && f->out->fills && f->ids && (!run->want_logits || f->out->logits);
}

static enum tn_status fill_all(struct filling *f, size_t i, const float *result, uint32_t rows)
{
    struct tn_str text, pair;
    uint32_t row = 0;
    if (!make_room(f, rows, result)) return TN_INSUFFICIENT_MEMORY;
    for (size_t k = 0; k < f->e->count && row < rows; k++) {
        if (f->e->ids[k] != f->run->base.model->mask) continue;
        if (!fill_mask(f, k, result + (size_t)row++ * f->run->width)) return TN_NUMERICAL_FAILURE;
    }
    tn_text_items_text(&f->run->base.texts, i, &text, &pair);
    count_characters(f, text);
    return f->out->count == rows ? settle_texts(f) : TN_RUNTIME_FAILURE;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    struct filling f = {.run = run, .out = &run->found[i], .e = &step->scratch->encoding};
    (void)width;
    enum tn_status st = tn_text_items_encode(&run->base.texts, i, true, step->scratch, NULL);
    if (st) return st;
    tn_buf_init(&f.text, run->base.alloc, SIZE_MAX);
    st = fill_all(&f, i, result, rows);
    tn_buf_release(&f.text);
    tn_free(run->base.alloc, f.ids);
    return st;
}

static const struct tn_text_hooks hooks = {.span = look, .pick = pick, .take = take, .explain = explain};

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->score_kind = run->scoring.kind;
    out->masks = f->masks;
    out->mask_count = f->count;
    out->logits = f->logits;
    out->logit_count = f->logits ? f->count * run->width : 0;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_cstr(w, "score_kind", tn_score_kind_name(run->scoring.kind));
}

static void write_fill(const tn_fill *fill, struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "token", fill->id);
    tn_jw_member_str(w, "token_str", (struct tn_str){fill->token.data, fill->token.length});
    tn_jw_key(w, "score");
    tn_jw_f32(w, fill->score);
    tn_jw_member_str(w, "sequence", (struct tn_str){fill->sequence.data, fill->sequence.length});
    tn_jw_end_object(w);
}

static void write_mask(const tn_mask *mask, struct tn_json_writer *w)
{
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "position", mask->position);
    tn_text_write_part(w, mask->begin_char, mask->end_char, mask->begin, mask->end);
    tn_jw_key(w, "predictions");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < mask->fill_count; k++) write_fill(&mask->fills[k], w);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_logits(const float *logits, size_t rows, size_t width, struct tn_json_writer *w)
{
    tn_jw_key(w, "logits");
    tn_jw_begin_array(w);
    for (size_t r = 0; r < rows; r++) tn_jw_f32s(w, logits + r * width, width);
    tn_jw_end_array(w);
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    tn_jw_key(w, "masks");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) write_mask(&f->masks[k], w);
    tn_jw_end_array(w);
    if (f->logits) write_logits(f->logits, f->count, run->width, w);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_fill = {
    .name = "fill-mask",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .probe = probe,
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
