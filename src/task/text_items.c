/* Texts of a request on their way into batches. See the header; memory was admitted by whoever called measure. */
#include "task/text_items.h"

#include "base/checked.h"
#include "base/json_write.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/*
 * ITEMS, BYTES: what one call of advance looks at, so that cancelling is noticed between calls. A text beyond LARGE_TEXT
 * makes the tokenizer's working memory grow by up to LARGE_FACTOR times its bytes (measured: 1.2 to 4.3); that is counted
 * at admission and given back afterwards, while what smaller texts need stays.
 */
enum { ITEMS_PER_STEP = 4096, BYTES_PER_STEP = 4 << 20, LARGE_TEXT = 64 << 10, LARGE_FACTOR = 6, WARM_WORDS = 1024 };

static const struct tn_str no_text = {NULL, 0};

/* ---- per session ---------------------------------------------------------------------------------------------------- */

struct tn_text_model tn_text_model_of(const struct tn_recipe_env *env)
{
    return (struct tn_text_model){
        .alloc = env->ctx->alloc,
        .ctx = env->ctx,
        .tokenizer = env->tokenizer,
        .encode = {.truncate_right_set = true,
                   .truncate_left = tn_str_is(env->d->tokenizer.truncation_side, "left"),
                   .max_tokens = (size_t)env->route->max_tokens},
        .type_ids = env->d->tokenizer.type_ids,
        .max_tokens = env->route->max_tokens,
        .reduced = env->reduced,
    };
}

/* With words the general path: two arrays of characters and two of splits of 12 bytes, and 20 bytes per token, grown by half. */
enum { WORDS_FACTOR = 104 };

/* Two texts as long as the limit: the working memory of the tokenizer is then what it will be. */
static enum tn_status warm_up(const struct tn_text_model *m, struct tn_text_encoding *e, struct tn_error *err)
{
    uint64_t limit = m->ctx->limits.text_bytes / 2;
    size_t words = m->max_tokens < WARM_WORDS ? (size_t)m->max_tokens : WARM_WORDS;
    if (words > limit) words = (size_t)limit;
    char *text = tn_malloc(m->alloc, 2 * words);
    if (!text) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the tokenizer");
    for (size_t i = 0; i < words; i++) memcpy(text + 2 * i, "a ", 2);
    enum tn_status st = TN_OK;
    for (int i = 0; !st && i < 2; i++) {
        st = tn_text_encode(m->tokenizer, (struct tn_str){text, 2 * words}, no_text, &m->encode, e, err);
    }
    tn_free(m->alloc, text);
    return st;
}

enum tn_status tn_text_probe(const struct tn_text_model *m, bool pair, struct tn_batch *batch,
                             struct tn_recipe_scratch *scratch, struct tn_error *err)
{
    struct tn_text_encoding *e = &scratch->encoding;
    scratch->owner = 0;
    enum tn_status st = warm_up(m, e, err);
    if (!st) st = tn_text_encode(m->tokenizer, TN_STR("a"), pair ? TN_STR("a") : no_text, &m->encode, e, err);
    if (st) return st;
    struct tn_span span = {.count = (int32_t)e->count};
    if (e->count == 0 || !tn_batch_add(batch, 0, e->ids, m->type_ids ? e->type_ids : NULL, (uint32_t)e->count, span)) {
        tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_LOAD, "the tokenizer makes no token of a letter");
        return TN_RUNTIME_FAILURE;
    }
    return TN_OK;
}

const char *tn_text_remedy_of_numbers(bool reduced)
{
    return reduced ? "compare with --numeric f32" : "the weights overflow float32 with this text: compare with the framework that made them";
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------- */

enum tn_status tn_request_refuse_limit(struct tn_error *err, const char *option, const char *name, uint64_t found, uint64_t limit)
{
    struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_REQUEST, "the request passes the limit \"%s\"", name);
    tn_at_option(f, option);
    tn_found(f, "%llu", (unsigned long long)found);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "split the request");
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_request_refuse(struct tn_error *err, const char *option, const char *message, const char *expected,
                                 unsigned long long found)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", message);
    tn_at_option(f, option);
    tn_found(f, "%llu", found);
    tn_expected(f, "%s", expected);
    return TN_INVALID_REQUEST;
}

/* The names of all prompts, for a message. */
static void list_prompts(const struct tn_description *d, char *out, size_t cap)
{
    size_t at = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < d->prompt_count && at + 1 < cap; i++) {
        struct tn_str name = d->prompts[i].name;
        size_t room = cap - 1 - at;
        if (i > 0 && room > 2) {
            memcpy(out + at, ", ", 2);
            at += 2;
            room -= 2;
        }
        size_t n = name.n < room ? name.n : room;
        memcpy(out + at, name.s, n);
        at += n;
        out[at] = 0;
    }
}

enum tn_status tn_request_prompt(const struct tn_description *d, const char *role, const struct tn_prompt **out,
                                 struct tn_error *err)
{
    char known[320];
    *out = role ? tn_description_prompt(d, tn_str_of(role)) : d->default_prompt.n ? tn_description_prompt(d, d->default_prompt) : NULL;
    if (!role || !role[0] || *out) return TN_OK;
    list_prompts(d, known, sizeof(known));
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the package has no prompt of this role");
    tn_at_option(f, "role");
    tn_found(f, "%.200s", role);
    tn_expected(f, d->prompt_count ? "one of: %s" : "no role: the package states no prompts%s", known);
    return TN_INVALID_REQUEST;
}

/* ---- the request ---------------------------------------------------------------------------------------------------------- */

static enum tn_status check_text(tn_string text, const struct tn_text_source *source, const char *option, size_t i,
                                 struct tn_error *err)
{
    if (text.data || text.length == 0) return TN_OK;
    struct tn_finding *f =
        tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a %s has a length but no data", source->noun);
    tn_at_option(f, option);
    tn_at_item(f, i);
    return TN_INVALID_REQUEST;
}

static bool has_pair(const struct tn_text_source *source, size_t i)
{
    return source->pairs && source->pairs[i].data;
}

/* Bytes of an item that are kept; one with a text beyond the limit is refused by itself and not copied. */
static uint64_t kept_bytes(const struct tn_text_model *m, const struct tn_text_source *source, size_t i)
{
    uint64_t limit = m->ctx->limits.text_bytes;
    size_t second = has_pair(source, i) ? source->pairs[i].length : 0;
    if (source->texts[i].length > limit || second > limit) return 0;
    return (uint64_t)source->texts[i].length + second + (source->lead.data ? 0 : source->prompt.n);
}

static enum tn_status measure_bytes(const struct tn_text_model *m, const struct tn_text_source *source, uint64_t *bytes,
                                    uint64_t *working, struct tn_error *err)
{
    uint64_t lead = source->lead.data ? (uint64_t)source->lead.length + source->prompt.n : 0;
    *bytes = lead;
    *working = 0;
    for (size_t i = 0; i < source->count; i++) {
        enum tn_status st = check_text(source->texts[i], source, source->option, i, err);
        if (!st && source->pairs) st = check_text(source->pairs[i], source, "pairs", i, err);
        if (st) return st;
        uint64_t kept = kept_bytes(m, source, i);
        if (!tn_add64(*bytes, kept, bytes)) return tn_request_refuse_limit(err, source->option, "text bytes", UINT64_MAX, UINT64_MAX);
        uint64_t factor = source->windows ? WORDS_FACTOR : LARGE_FACTOR;
        if (kept + lead > LARGE_TEXT && (kept + lead) * factor > *working) *working = (kept + lead) * factor;
    }
    return TN_OK;
}

static uint64_t bytes_per_item(const struct tn_text_source *source)
{
    return sizeof(struct tn_text_item) + sizeof(uint64_t) * (source->pairs ? 2 : 1);
}

enum tn_status tn_text_items_measure(const struct tn_text_model *m, const struct tn_text_source *source, uint64_t *bytes,
                                     struct tn_error *err)
{
    uint64_t texts, working, all, limit = m->ctx->limits.text_bytes;
    if (source->count > 0 && !source->texts) {
        char message[64];
        snprintf(message, sizeof(message), "%s is NULL", source->option);
        return tn_request_refuse(err, source->option, message, "an array of texts", 0);
    }
    if (source->count > m->ctx->limits.items) return tn_request_refuse_limit(err, source->option, "items", source->count, m->ctx->limits.items);
    if (source->lead.length > limit) return tn_request_refuse_limit(err, "query", "text_bytes", source->lead.length, limit);
    enum tn_status st = measure_bytes(m, source, &texts, &working, err);
    if (st) return st;
    if (!tn_mul64(bytes_per_item(source), source->count, &all) || !tn_add64(all, texts, &all) || !tn_add64(all, working, bytes)) {
        return tn_request_refuse_limit(err, source->option, "items", source->count, m->ctx->limits.items);
    }
    return TN_OK;
}

static void settle(struct tn_text_items *t, size_t i, enum tn_status code, uint64_t detail)
{
    struct tn_text_item *item = &t->items[i];
    item->state = TN_TEXT_FINAL;
    item->code = (uint16_t)code;
    item->detail = detail;
    if (code) t->counts.failed++;
}

void tn_text_items_fail(struct tn_text_items *t, size_t i, enum tn_status code, uint64_t detail)
{
    if (t->items[i].state != TN_TEXT_FINAL) settle(t, i, code, detail);
}

static char *put(char *at, const char *s, size_t n)
{
    if (n) memcpy(at, s, n);
    return at + n;
}

static void copy_texts(struct tn_text_items *t, const struct tn_text_source *source)
{
    uint64_t limit = t->model->ctx->limits.text_bytes;
    char *at = t->text;
    if (t->has_lead) at = put(put(at, source->prompt.s, source->prompt.n), source->lead.data, source->lead.length);
    for (size_t i = 0; i < source->count; i++) {
        tn_string first = source->texts[i], second = has_pair(source, i) ? source->pairs[i] : (tn_string){NULL, 0};
        if (t->split) t->split[i] = UINT64_MAX;
        if (first.length > limit || second.length > limit) {
            settle(t, i, TN_RESOURCE_LIMIT, first.length > limit ? first.length : second.length);
        } else {
            if (!t->has_lead) at = put(at, source->prompt.s, source->prompt.n);
            at = put(at, first.data, first.length);
            if (second.data) {
                t->split[i] = (uint64_t)(at - t->text);
                at = put(at, second.data, second.length);
            }
        }
        t->end[i] = (uint64_t)(at - t->text);
    }
}

enum tn_status tn_text_items_start(struct tn_text_items *t, const struct tn_text_model *m,
                                   const struct tn_text_source *source, struct tn_alloc *alloc, struct tn_error *err)
{
    uint64_t bytes, working;
    *t = (struct tn_text_items){.model = m, .alloc = alloc, .noun = source->noun, .encode = m->encode,
                                .max_tokens = m->max_tokens, .reduced = m->reduced, .truncate = true, .has_lead = source->lead.data != NULL,
                                .count = source->count, .prompt_bytes = source->prompt.n};
    t->counts.items = source->count;
    tn_text_encoding_init(&t->own.encoding, alloc);
    enum tn_status st = measure_bytes(m, source, &bytes, &working, err);
    if (st) return st;
    if (t->has_lead) t->lead_bytes = source->lead.length + source->prompt.n;
    if (bytes <= SIZE_MAX) t->text = tn_malloc(alloc, (size_t)bytes);
    t->end = tn_calloc(alloc, source->count, sizeof(*t->end));
    if (source->pairs) t->split = tn_calloc(alloc, source->count, sizeof(*t->split));
    t->items = tn_calloc(alloc, source->count, sizeof(*t->items));
    if (!t->text || !t->end || (source->pairs && !t->split) || !t->items) {
        tn_text_items_release(t);
        return tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    }
    copy_texts(t, source);
    return TN_OK;
}

static void forget_own(struct tn_text_items *t)
{
    tn_text_encoding_release(&t->own.encoding);
    t->own.owner = 0;
}

void tn_text_items_finish(struct tn_text_items *t)
{
    forget_own(t);
    tn_free(t->alloc, t->text);
    tn_free(t->alloc, t->end);
    tn_free(t->alloc, t->split);
    t->text = NULL;
    t->end = t->split = NULL;
    t->model = NULL;
}

void tn_text_items_release(struct tn_text_items *t)
{
    if (!t->alloc) return;
    tn_text_items_finish(t);
    tn_free(t->alloc, t->items);
    t->items = NULL;
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------ */

void tn_text_items_text(const struct tn_text_items *t, size_t i, struct tn_str *text, struct tn_str *pair)
{
    uint64_t begin = i > 0 ? t->end[i - 1] : t->lead_bytes, split = t->split ? t->split[i] : UINT64_MAX;
    uint64_t end = split == UINT64_MAX ? t->end[i] : split;
    struct tn_str first = {t->text + begin, (size_t)(end - begin)};
    *text = t->has_lead ? (struct tn_str){t->text, t->lead_bytes} : first;
    *pair = t->has_lead ? first : split == UINT64_MAX ? no_text : (struct tn_str){t->text + split, (size_t)(t->end[i] - split)};
}

/* Byte of the caller's text at which it stops being UTF-8; false: it does not. */
static bool invalid_at(const struct tn_text_items *t, struct tn_str text, struct tn_str pair, uint64_t *at)
{
    size_t valid = tn_utf8_valid_prefix(text.s, text.n);
    if (valid < text.n) {
        *at = valid - t->prompt_bytes;
        return true;
    }
    if (pair.s && (valid = tn_utf8_valid_prefix(pair.s, pair.n)) < pair.n) {
        *at = valid;
        return true;
    }
    return false;
}

/* The texts in the order in which they stand in the sequence. */
static void sequence_texts(const struct tn_text_items *t, size_t i, struct tn_str *text, struct tn_str *pair)
{
    struct tn_str first, second;
    tn_text_items_text(t, i, &first, &second);
    *text = t->swapped ? second : first;
    *pair = t->swapped ? first : second;
}

static struct tn_text_options options_of(const struct tn_text_items *t, bool offsets)
{
    struct tn_text_options options = t->encode;
    options.want_offsets = offsets;
    options.windows = options.want_words = t->windows;
    return options;
}

enum tn_status tn_text_items_encode(const struct tn_text_items *t, size_t i, bool offsets, struct tn_recipe_scratch *scratch,
                                    struct tn_error *err)
{
    struct tn_str text, pair;
    struct tn_text_options options = options_of(t, offsets);
    sequence_texts(t, i, &text, &pair);
    scratch->owner = 0;
    enum tn_status st = tn_text_encode(t->model->tokenizer, text, pair, &options, &scratch->encoding, err);
    if (text.n + pair.n > LARGE_TEXT) scratch->oversize = true;
    return st;
}

/* Where the tokens of item i are kept: those of a long text over several steps, which the shared place does not last. */
static struct tn_recipe_scratch *scratch_of(struct tn_text_items *t, size_t i, struct tn_step *step)
{
    struct tn_str text, pair;
    tn_text_items_text(t, i, &text, &pair);
    return t->windows && text.n + pair.n > LARGE_TEXT ? &t->own : step->scratch;
}

/* Tokens of item i in its scratch. A failure that is the item's own is settled; others are returned. */
static enum tn_status encode_item(struct tn_text_items *t, size_t i, struct tn_step *step, struct tn_error *err)
{
    struct tn_recipe_scratch *scratch = scratch_of(t, i, step);
    struct tn_text_encoding *e = &scratch->encoding;
    struct tn_str text, pair;
    uint64_t at;
    if (scratch->owner == step->run_id && scratch->item == i) return TN_OK;
    tn_text_items_text(t, i, &text, &pair);
    if (invalid_at(t, text, pair, &at)) {
        settle(t, i, TN_INVALID_REQUEST, at);
        return TN_OK;
    }
    enum tn_status st = tn_text_items_encode(t, i, t->windows, scratch, err);
    if (st == TN_INSUFFICIENT_MEMORY) return st;
    if (st || (e->truncated && !t->truncate)) {
        /* The text itself is well-formed, so what the tokenizer refuses is the length that it is given. */
        settle(t, i, st && st != TN_INVALID_REQUEST ? st : TN_INPUT_TOO_LONG, e->total);
        return TN_OK;
    }
    scratch->owner = step->run_id;
    scratch->item = i;
    return TN_OK;
}

static enum tn_status span_of(const struct tn_text_items *t, size_t i, const struct tn_text_encoding *e, struct tn_span *span)
{
    *span = (struct tn_span){.count = (int32_t)e->count};
    if (e->count == 0) return TN_SHAPE_OUTSIDE_ENVELOPE;
    return t->hooks->span ? t->hooks->span(t->run, i, e, span) : TN_OK;
}

/* Puts item i, or its next window, into the batch; false when there is no room. */
static bool ask(struct tn_text_items *t, size_t i, const struct tn_text_encoding *e, struct tn_step *step)
{
    struct tn_text_item *item = &t->items[i];
    struct tn_span span;
    enum tn_status st = span_of(t, i, e, &span);
    if (st) {
        settle(t, i, st, e->total);
        return true;
    }
    uint32_t count = (uint32_t)e->count, total = count < t->fill_to ? t->fill_to : count;
    const uint32_t *types = t->model->type_ids ? e->type_ids : NULL;
    if (!tn_batch_add_filled(step->wanted, i, e->ids, types, count, t->filler, total, span)) return false;
    if (t->hooks->pick && !t->hooks->pick(t->run, e, step->wanted)) {
        tn_batch_cut(step->wanted, step->wanted->sequences - 1);
        return false;
    }
    item->tokens = (uint32_t)e->count + (item->state == TN_TEXT_ASKED && t->windows ? item->tokens : 0);
    item->state = TN_TEXT_ASKED;
    item->detail = e->total;
    item->truncated = e->truncated;
    return true;
}

static void explain(const struct tn_text_items *t, size_t i, struct tn_error *err)
{
    const struct tn_text_item *item = &t->items[i];
    enum tn_status code = (enum tn_status)item->code;
    unsigned long long detail = item->detail;
    struct tn_finding *f;
    if (t->hooks->explain && t->hooks->explain(t->run, i, code, err)) return;
    switch (code) {
    case TN_INPUT_TOO_LONG:
        if (t->truncate) {
            f = tn_error_set(err, code, TN_PHASE_REQUEST, "the %s does not fit: the side that may be cut is not long enough", t->noun);
        } else {
            f = tn_error_set(err, code, TN_PHASE_REQUEST, "the %s has %llu tokens, the model takes %llu", t->noun, detail,
                             (unsigned long long)t->max_tokens);
            tn_found(f, "%llu tokens", detail);
        }
        tn_expected(f, "at most %llu tokens, special tokens included", (unsigned long long)t->max_tokens);
        tn_remedy(f, t->truncate ? "shorten the other text, or cut the longest first"
                                 : "shorten or split the text, or allow truncation");
        break;
    case TN_INVALID_REQUEST:
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "the %s is not valid UTF-8 at byte %llu", t->noun, detail);
        tn_found(f, "an invalid byte at offset %llu", detail);
        tn_expected(f, "UTF-8");
        break;
    case TN_NUMERICAL_FAILURE:
        f = tn_error_set(err, code, TN_PHASE_EXECUTE, "the result of the %s holds NaN or infinity", t->noun);
        tn_remedy(f, "%s", tn_text_remedy_of_numbers(t->reduced));
        break;
    case TN_RESOURCE_LIMIT:
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "the %s passes the limit of a single text", t->noun);
        tn_found(f, "%llu", detail);
        tn_remedy(f, "split the text");
        break;
    case TN_SHAPE_OUTSIDE_ENVELOPE:
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "the %s becomes no token", t->noun);
        tn_expected(f, "at least one token");
        break;
    default:
        f = tn_error_set(err, code, TN_PHASE_EXECUTE, "the %s could not be encoded", t->noun);
        break;
    }
    tn_at_item(f, i);
}

/* In a request of all or nothing, a failed item is the failure of the request. */
static enum tn_status atomic_verdict(const struct tn_text_items *t, size_t i, struct tn_error *err)
{
    if (!t->atomic || t->items[i].state != TN_TEXT_FINAL || t->items[i].code == TN_OK) return TN_OK;
    explain(t, i, err);
    return (enum tn_status)t->items[i].code;
}

/* Whether advance has looked at enough for one call. */
struct effort {
    size_t items, bytes;
};

static bool spent(const struct tn_text_items *t, size_t i, struct effort *effort)
{
    struct tn_str text, pair;
    tn_text_items_text(t, i, &text, &pair);
    effort->items++;
    effort->bytes += text.n + pair.n;
    return effort->items >= ITEMS_PER_STEP || effort->bytes >= BYTES_PER_STEP;
}

/* First pass of an atomic request: finds the first text that would fail. */
static enum tn_status check_ahead(struct tn_text_items *t, struct tn_step *step, struct tn_error *err)
{
    struct effort effort = {0, 0};
    while (t->checked < t->count) {
        size_t i = t->checked;
        struct tn_span span;
        enum tn_status st = t->items[i].state == TN_TEXT_FINAL ? TN_OK : encode_item(t, i, step, err);
        if (st) return st;
        if (t->items[i].state != TN_TEXT_FINAL) {
            st = span_of(t, i, &scratch_of(t, i, step)->encoding, &span);
            if (st) settle(t, i, st, 0);
        }
        forget_own(t);
        st = atomic_verdict(t, i, err);
        if (st) return st;
        t->checked++;
        if (spent(t, i, &effort)) break;
    }
    return TN_OK;
}

/* What a run has put into the batch in this step, and whether that is its share. */
struct share {
    uint32_t first, rows;
};

static bool has_share(const struct tn_text_items *t, const struct share *share, const struct tn_step *step)
{
    if (step->wanted->rows - share->rows >= step->row_quota) return true;
    return t->batch && step->wanted->sequences - share->first >= t->batch;
}

/* The windows of item i from the next one on; *all: none is left. */
static enum tn_status ask_windows(struct tn_text_items *t, size_t i, const struct share *share, struct tn_step *step, bool *all,
                                  struct tn_error *err)
{
    struct tn_text_encoding *e = &scratch_of(t, i, step)->encoding;
    struct tn_text_options options = options_of(t, true);
    struct tn_str text, pair;
    *all = false;
    sequence_texts(t, i, &text, &pair);
    for (; t->window < e->windows; t->window++) {
        if (has_share(t, share, step)) return TN_OK;
        enum tn_status st = e->window == t->window ? TN_OK : tn_text_window(t->model->tokenizer, text, pair, &options, t->window, e, err);
        if (st) return st;
        if (!ask(t, i, e, step)) return TN_OK;
        if (t->items[i].state == TN_TEXT_FINAL) break;
        if (t->hooks->asked(t->run, i, e)) return tn_error_memory(err, TN_PHASE_EXECUTE, "keeping the tokens of a window");
    }
    *all = true;
    return TN_OK;
}

static void begin_next(struct tn_text_items *t)
{
    if (t->own.owner && t->own.item == t->begun) forget_own(t);
    t->begun++;
    t->window = 0;
}

static enum tn_status fill_batch(struct tn_text_items *t, struct tn_step *step, struct tn_error *err)
{
    struct share share = {step->wanted->sequences, step->wanted->rows};
    struct effort effort = {0, 0};
    while (t->begun < t->count && (t->atomic || t->whole || t->begun < step->item_end)) {
        size_t i = t->begun;
        if (t->items[i].state != TN_TEXT_FINAL) {
            bool all = true;
            if (has_share(t, &share, step)) break;
            enum tn_status st = encode_item(t, i, step, err);
            if (!st && t->items[i].state != TN_TEXT_FINAL && t->windows) st = ask_windows(t, i, &share, step, &all, err);
            else if (!st && t->items[i].state != TN_TEXT_FINAL) all = ask(t, i, &step->scratch->encoding, step);
            if (st) return st;
            if (!all) break;
        }
        begin_next(t);
        if (spent(t, i, &effort)) break;
    }
    return TN_OK;
}

/* Whether no further sequence of item i is on its way: they come in their order, and all that were asked for come at once. */
static bool is_last(const struct tn_text_items *t, const struct tn_step *step, uint32_t s, size_t i)
{
    return !t->windows || (i < t->begun && (s + 1 == step->end || step->results->items[s + 1] != i));
}

static enum tn_status take_result(struct tn_text_items *t, struct tn_step *step, uint32_t s, struct tn_error *err)
{
    const struct tn_batch *batch = step->results;
    size_t i = batch->items[s];
    struct tn_text_item *item = &t->items[i];
    if (batch->status[s] == TN_SEQUENCE_STOPPED) {
        item->state = TN_TEXT_PENDING;
        return TN_OK;
    }
    if (item->state == TN_TEXT_FINAL) return TN_OK; /* an earlier window has failed */
    uint32_t rows;
    float *result = tn_batch_result(batch, s, &rows);
    t->place = s - step->first;
    enum tn_status code = batch->status[s] == TN_SEQUENCE_DONE ? t->hooks->take(t->run, i, result, rows, batch->width, step)
                                                               : TN_NUMERICAL_FAILURE;
    bool last = is_last(t, step, s, i);
    if (!code && last && t->hooks->complete) code = t->hooks->complete(t->run, i);
    if (code == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_EXECUTE, "keeping a result");
    t->counts.sequences++;
    if (!code && !last) return TN_OK;
    settle(t, i, code, item->detail);
    t->counts.tokens += item->tokens;
    t->counts.truncated += item->truncated;
    return atomic_verdict(t, i, err);
}

enum tn_status tn_text_items_advance(struct tn_text_items *t, struct tn_step *step, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    bool checking = t->atomic && t->checked < t->count;
    for (uint32_t s = step->first; !st && step->results && s < step->end; s++) st = take_result(t, step, s, err);
    if (!st && step->wanted) st = checking ? check_ahead(t, step, err) : fill_batch(t, step, err);
    if (st) return st;
    while (t->ready < t->begun && t->items[t->ready].state == TN_TEXT_FINAL) t->ready++;
    step->done = t->ready == t->count;
    step->ready = (t->atomic || t->whole) && !step->done ? 0 : t->ready;
    step->more = checking || t->begun < t->count;
    return TN_OK;
}

bool tn_text_items_event(const struct tn_text_items *t, size_t i, tn_event *out, struct tn_error *err)
{
    const struct tn_text_item *item = &t->items[i];
    *out = (tn_event){.kind = TN_EVENT_ITEM, .status = (tn_status)item->code, .index = i};
    if (item->code != TN_OK) {
        explain(t, i, err);
        return false;
    }
    out->tokens = item->tokens;
    out->tokens_total = (size_t)item->detail;
    out->truncated = item->truncated;
    return true;
}
