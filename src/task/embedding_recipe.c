/*
 * The recipe of dense embeddings: texts to token sequences, pooled vectors to results. Knows texts and vectors; who runs
 * the sequences, when, and together with whom is the scheduler's business. Texts are untrusted, their content is never
 * quoted.
 *
 * The surprising decision: texts are tokenized when their turn comes and never kept as tokens, so that a request of a
 * million texts holds its texts, its vectors and 24 bytes per item. An atomic request therefore tokenizes twice: once
 * to find what would fail, once to compute.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "task/embedding.h"

#include <math.h>
#include <string.h>

/*
 * ITEMS, BYTES: what one call of advance looks at, so that cancelling is noticed between calls. A text beyond LARGE_TEXT
 * makes the tokenizer's working memory grow by up to LARGE_FACTOR times its bytes (measured: 1.2 to 4.3); that is counted
 * at admission and given back afterwards, while what smaller texts need stays.
 */
enum { ITEMS_PER_STEP = 4096, BYTES_PER_STEP = 4 << 20, LARGE_TEXT = 64 << 10, LARGE_FACTOR = 6, WARM_WORDS = 1024 };

/* ---- the model: what is fixed per session -------------------------------------------------------------------- */

struct prompt {
    struct tn_str name, text;
    uint32_t tokens; /* left out of pooling; 0: none are */
};

struct tn_recipe_model {
    struct tn_alloc *alloc;
    const struct tn_context *ctx;
    const struct tn_text_tokenizer *tokenizer;
    struct tn_text_options encode;
    bool type_ids, normalizes;
    bool pools_max, pools_only_first, pools_first; /* what an empty span would mean */
    uint64_t width, truncate_dim, max_tokens;
    const struct tn_module *pooling;
    const struct tn_module *modules; /* of the description, for the space */
    uint32_t module_count;
    const struct prompt *default_prompt; /* NULL: none */
    uint32_t prompt_count;
    struct prompt prompts[];
};

static bool is_special(const struct tn_recipe_env *env, const struct tn_text_encoding *e, size_t i)
{
    const struct tn_tokenizer_facts *t = &env->d->tokenizer;
    const struct tn_str names[] = {t->unk_token, t->cls_token, t->sep_token, t->pad_token, t->mask_token};
    if (e->special_mask[i]) return true;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        uint32_t id;
        if (names[n].n && tn_text_token_id(env->tokenizer, names[n], &id) && id == e->ids[i]) return true;
    }
    return false;
}

/*
 * Tokens of the prompt as sentence-transformers 6.2 counts them (Transformer._get_prompt_length): those of the prompt
 * alone, cut at the limit, without a special token at its end.
 */
static enum tn_status count_prompt(const struct tn_recipe_env *env, const struct tn_recipe_model *m, struct prompt *p,
                                   struct tn_text_encoding *e, struct tn_error *err)
{
    if (p->text.n == 0) return TN_OK;
    enum tn_status st = tn_text_encode(m->tokenizer, p->text, (struct tn_str){NULL, 0}, &m->encode, e, err);
    if (st || e->count == 0) return st;
    p->tokens = (uint32_t)(e->count - (is_special(env, e, e->count - 1) ? 1 : 0));
    return TN_OK;
}

static void learn_pooling(struct tn_recipe_model *m)
{
    for (uint32_t i = 0; m->pooling && i < m->pooling->pooling_count; i++) {
        m->pools_max |= m->pooling->pooling[i] == TN_POOLING_MAX;
        m->pools_first |= m->pooling->pooling[i] == TN_POOLING_CLS;
    }
    m->pools_only_first = m->pools_first && m->pooling->pooling_count == 1;
}

static enum tn_status learn_prompts(const struct tn_recipe_env *env, struct tn_recipe_model *m, struct tn_error *err)
{
    const struct tn_description *d = env->d;
    struct tn_text_encoding e;
    enum tn_status st = TN_OK;
    tn_text_encoding_init(&e, m->alloc);
    for (uint32_t i = 0; !st && i < d->prompt_count; i++) {
        struct prompt *p = &m->prompts[i];
        p->name = d->prompts[i].name;
        p->text = d->prompts[i].text;
        if (m->pooling && !m->pooling->include_prompt) st = count_prompt(env, m, p, &e, err);
        if (d->default_prompt.n && tn_str_eq(p->name, d->default_prompt)) m->default_prompt = p;
    }
    tn_text_encoding_release(&e);
    return st;
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    const struct tn_description *d = env->d;
    size_t bytes;
    *out = NULL;
    if (!tn_mul(d->prompt_count, sizeof(struct prompt), &bytes) ||
        !tn_add(bytes, sizeof(struct tn_recipe_model), &bytes)) {
        return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    }
    struct tn_recipe_model *m = tn_calloc(env->ctx->alloc, 1, bytes);
    if (!m) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    m->alloc = env->ctx->alloc;
    m->ctx = env->ctx;
    m->tokenizer = env->tokenizer;
    m->encode.truncate_right_set = true;
    m->encode.truncate_left = tn_str_is(d->tokenizer.truncation_side, "left");
    m->encode.max_tokens = (size_t)env->route->max_tokens;
    m->type_ids = d->tokenizer.type_ids;
    m->width = env->output_width;
    m->truncate_dim = d->truncate_dim;
    m->max_tokens = env->route->max_tokens;
    m->normalizes = tn_embedding_normalizes(d);
    m->modules = d->modules;
    m->module_count = d->module_count - (m->normalizes ? 1 : 0);
    m->prompt_count = d->prompt_count;
    m->pooling = tn_embedding_pooling(d);
    learn_pooling(m);
    enum tn_status st = learn_prompts(env, m, err);
    if (st) {
        tn_free(m->alloc, m);
        return st;
    }
    *out = m;
    return TN_OK;
}

static void discard(struct tn_recipe_model *m)
{
    if (m) tn_free(m->alloc, m);
}

static void space(const struct tn_recipe_model *m, struct tn_sha256 *h)
{
    for (uint32_t i = 0; i < m->module_count; i++) {
        const struct tn_module *module = &m->modules[i];
        tn_sha256_update_str(h, tn_str_of(tn_module_kind_name(module->kind)));
        tn_sha256_update_u64(h, module->on_tokens);
        for (uint32_t p = 0; p < module->pooling_count; p++) {
            tn_sha256_update_str(h, tn_str_of(tn_pooling_name(module->pooling[p])));
        }
        tn_sha256_update_u64(h, module->pooling_count ? module->include_prompt : 0);
        tn_sha256_update_str(h, module->activation);
        tn_sha256_update_u64(h, module->residual);
        tn_sha256_update_u64(h, module->out_features);
    }
    tn_sha256_update_u64(h, m->width);
}

/* Two texts as long as the limit: the working memory of the tokenizer is then what it will be. */
static enum tn_status warm_up(const struct tn_recipe_model *m, struct tn_text_encoding *e, struct tn_error *err)
{
    uint64_t limit = m->ctx->limits.text_bytes / 2;
    size_t words = m->max_tokens < WARM_WORDS ? (size_t)m->max_tokens : WARM_WORDS;
    if (words > limit) words = (size_t)limit;
    char *text = tn_malloc(m->alloc, 2 * words);
    if (!text) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the tokenizer");
    for (size_t i = 0; i < words; i++) memcpy(text + 2 * i, "a ", 2);
    enum tn_status st = TN_OK;
    for (int i = 0; !st && i < 2; i++) {
        st = tn_text_encode(m->tokenizer, (struct tn_str){text, 2 * words}, (struct tn_str){NULL, 0}, &m->encode, e, err);
    }
    tn_free(m->alloc, text);
    return st;
}

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    struct tn_text_encoding *e = &scratch->encoding;
    scratch->owner = 0;
    enum tn_status st = warm_up(m, e, err);
    if (!st) st = tn_text_encode(m->tokenizer, TN_STR("a"), (struct tn_str){NULL, 0}, &m->encode, e, err);
    if (st) return st;
    struct tn_span span = {.count = (int32_t)e->count};
    if (e->count == 0 || !tn_batch_add(batch, 0, e->ids, m->type_ids ? e->type_ids : NULL, (uint32_t)e->count, span)) {
        tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_LOAD, "the tokenizer makes no token of a letter");
        return TN_RUNTIME_FAILURE;
    }
    return TN_OK;
}

/* ---- the request ---------------------------------------------------------------------------------------------- */

enum { PENDING, ASKED, FINAL };

struct item {
    uint8_t state;
    bool truncated;
    uint16_t code;   /* enum tn_status of a final item */
    uint32_t tokens;
    uint64_t detail; /* tokens before truncation; for invalid text the byte at fault */
};

struct tn_recipe_run {
    const struct tn_recipe_model *model; /* NULL once finished */
    struct tn_alloc *alloc;
    struct tn_embed_request request; /* texts and role are not used: they were the caller's */
    tn_tristate truncate;
    struct tn_embedding_finish finish;
    const struct prompt *prompt; /* NULL: none */
    char *role;                  /* "" when there is none */
    bool role_asked, role_set;
    bool package_normalizes;
    uint64_t package_dimensions, max_tokens, width;
    struct tn_str default_role;  /* of the package, or ""; lives with the description */
    size_t count, begun, ready, checked;
    uint64_t *text_end;          /* [count] end of each text in `text` */
    char *text;                  /* each one with its prompt */
    struct item *items;          /* [count] */
    float *vectors;              /* [count, finish.dimensions] */
    struct tn_run_counts counts;
};

static const struct prompt *find_prompt(const struct tn_recipe_model *m, const char *role)
{
    for (uint32_t i = 0; i < m->prompt_count; i++) {
        if (tn_str_is(m->prompts[i].name, role)) return &m->prompts[i];
    }
    return NULL;
}

static enum tn_status refuse_role(const struct tn_recipe_model *m, const char *role, struct tn_error *err)
{
    char known[320] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < m->prompt_count && at + 1 < sizeof(known); i++) {
        struct tn_str name = m->prompts[i].name;
        size_t room = sizeof(known) - 1 - at;
        if (i > 0 && room > 2) {
            memcpy(known + at, ", ", 2);
            at += 2;
            room -= 2;
        }
        size_t n = name.n < room ? name.n : room;
        memcpy(known + at, name.s, n);
        at += n;
        known[at] = 0;
    }
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the package has no prompt of this role");
    tn_at_option(f, "role");
    tn_found(f, "%.200s", role);
    tn_expected(f, m->prompt_count ? "one of: %s" : "no role: the package states no prompts%s", known);
    return TN_INVALID_REQUEST;
}

static enum tn_status refuse_option(struct tn_error *err, const char *option, const char *message, const char *expected,
                                    unsigned long long found)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", message);
    tn_at_option(f, option);
    tn_found(f, "%llu", found);
    tn_expected(f, "%s", expected);
    return TN_INVALID_REQUEST;
}

static bool is_tristate(tn_tristate v)
{
    return v == TN_AUTO || v == TN_YES || v == TN_NO;
}

static enum tn_status check_options(const struct tn_recipe_model *m, const struct tn_embed_request *r,
                                    struct tn_error *err)
{
    if (r->role && r->role[0] && !find_prompt(m, r->role)) return refuse_role(m, r->role, err);
    if (!is_tristate(r->normalize)) {
        return refuse_option(err, "normalize", "normalize has no such value", "auto, yes or no",
                             (unsigned long long)r->normalize);
    }
    if (!is_tristate(r->truncate)) {
        return refuse_option(err, "truncate", "truncate has no such value", "auto, yes or no",
                             (unsigned long long)r->truncate);
    }
    if (r->dimensions > m->width) {
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                            "more dimensions are asked for than the vectors have");
        tn_at_option(f, "dimensions");
        tn_found(f, "%u", r->dimensions);
        tn_expected(f, "1..%llu", (unsigned long long)m->width);
        return TN_INVALID_REQUEST;
    }
    return TN_OK;
}

static enum tn_status refuse_limit(struct tn_error *err, const char *name, uint64_t found, uint64_t limit)
{
    struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_REQUEST, "the request passes the limit \"%s\"", name);
    tn_at_option(f, "texts");
    tn_found(f, "%llu", (unsigned long long)found);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "split the request");
    return TN_RESOURCE_LIMIT;
}

static const struct prompt *prompt_of(const struct tn_recipe_model *m, const struct tn_embed_request *r)
{
    return r->role ? find_prompt(m, r->role) : m->default_prompt;
}

/* Bytes of a text that is kept, with its prompt; one beyond the limit is refused by itself and not copied. */
static uint64_t kept_bytes(const struct tn_recipe_model *m, const struct prompt *p, tn_string text)
{
    if (text.length > m->ctx->limits.text_bytes) return 0;
    return (uint64_t)text.length + (p ? p->text.n : 0);
}

/* Bytes of the copies, and what the longest text will need beside them while it is tokenized. */
static enum tn_status measure_texts(const struct tn_recipe_model *m, const struct tn_embed_request *r,
                                    const struct prompt *p, uint64_t *bytes, uint64_t *working, struct tn_error *err)
{
    *bytes = *working = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!r->texts[i].data && r->texts[i].length > 0) {
            struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a text has a length but no data");
            tn_at_option(f, "texts");
            tn_at_item(f, i);
            return TN_INVALID_REQUEST;
        }
        uint64_t kept = kept_bytes(m, p, r->texts[i]);
        if (!tn_add64(*bytes, kept, bytes)) return refuse_limit(err, "text bytes", UINT64_MAX, UINT64_MAX);
        if (kept > LARGE_TEXT && kept * LARGE_FACTOR > *working) *working = kept * LARGE_FACTOR;
    }
    return TN_OK;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    enum tn_status st = check_options(m, r, err);
    if (st) return st;
    if (r->count > 0 && !r->texts) return refuse_option(err, "texts", "texts is NULL", "an array of texts", 0);
    if (r->count > m->ctx->limits.items) return refuse_limit(err, "items", r->count, m->ctx->limits.items);
    struct tn_embedding_finish f = tn_embedding_finish_of(m->normalizes, m->truncate_dim, m->width, r->normalize, r->dimensions);
    const struct prompt *p = prompt_of(m, r);
    uint64_t texts, working, per_item, all;
    st = measure_texts(m, r, p, &texts, &working, err);
    if (st) return st;
    per_item = sizeof(struct item) + sizeof(uint64_t) + (uint64_t)f.dimensions * sizeof(float);
    if (!tn_mul64(per_item, r->count, &all) || !tn_add64(all, texts, &all) || !tn_add64(all, working, &all) ||
        !tn_add64(all, sizeof(struct tn_recipe_run) + (p ? p->name.n : 0) + 1, bytes)) {
        return refuse_limit(err, "items", r->count, m->ctx->limits.items);
    }
    return TN_OK;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_free(run->alloc, run->role);
    tn_free(run->alloc, run->text_end);
    tn_free(run->alloc, run->text);
    tn_free(run->alloc, run->items);
    tn_free(run->alloc, run->vectors);
    tn_free(run->alloc, run);
}

static void settle(struct tn_recipe_run *run, size_t i, enum tn_status code, uint64_t detail)
{
    struct item *item = &run->items[i];
    item->state = FINAL;
    item->code = (uint16_t)code;
    item->detail = detail;
    if (code) run->counts.failed++;
}

static void copy_texts(struct tn_recipe_run *run, const struct tn_embed_request *r)
{
    const struct tn_recipe_model *m = run->model;
    const struct prompt *p = run->prompt;
    char *at = run->text;
    for (size_t i = 0; i < r->count; i++) {
        tn_string text = r->texts[i];
        if (text.length > m->ctx->limits.text_bytes) {
            settle(run, i, TN_RESOURCE_LIMIT, text.length);
        } else {
            if (p && p->text.n) memcpy(at, p->text.s, p->text.n);
            at += p ? p->text.n : 0;
            if (text.length) memcpy(at, text.data, text.length);
            at += text.length;
        }
        run->text_end[i] = (uint64_t)(at - run->text);
    }
}

static bool allocate_run(struct tn_recipe_run *run, const struct tn_embed_request *r, uint64_t text_bytes)
{
    size_t floats;
    struct tn_str role = run->prompt ? run->prompt->name : (struct tn_str){"", 0};
    if (!tn_mul(r->count, run->finish.dimensions, &floats) || !tn_mul(floats, sizeof(float), &floats)) return false;
    run->role = tn_strndup(run->alloc, role.s, role.n);
    run->text_end = tn_calloc(run->alloc, r->count, sizeof(*run->text_end));
    run->text = tn_malloc(run->alloc, (size_t)text_bytes);
    run->items = tn_calloc(run->alloc, r->count, sizeof(*run->items));
    run->vectors = tn_malloc(run->alloc, floats);
    return run->role && run->text_end && run->text && run->items && run->vectors;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    uint64_t text_bytes, working;
    const struct prompt *p = prompt_of(m, r);
    *out = NULL;
    enum tn_status st = measure_texts(m, r, p, &text_bytes, &working, err);
    if (st) return st;
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    run->model = m;
    run->alloc = alloc;
    run->request = *r;
    run->request.texts = NULL;
    run->request.role = NULL;
    run->truncate = r->truncate == TN_NO ? TN_NO : TN_YES;
    run->role_asked = r->role != NULL;
    run->role_set = p != NULL;
    run->prompt = p;
    run->package_normalizes = m->normalizes;
    run->package_dimensions = m->truncate_dim;
    run->max_tokens = m->max_tokens;
    run->width = m->width;
    run->default_role = m->default_prompt ? m->default_prompt->name : TN_STR("");
    run->count = r->count;
    run->counts.items = r->count;
    run->finish = tn_embedding_finish_of(m->normalizes, m->truncate_dim, m->width, r->normalize, r->dimensions);
    if (text_bytes > SIZE_MAX || !allocate_run(run, r, text_bytes)) {
        release(run);
        return tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    }
    copy_texts(run, r);
    *out = run;
    return TN_OK;
}

static void finish(struct tn_recipe_run *run)
{
    tn_free(run->alloc, run->text);
    tn_free(run->alloc, run->text_end);
    run->text = NULL;
    run->text_end = NULL;
    run->model = NULL;
    run->prompt = NULL;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static struct tn_str text_of(const struct tn_recipe_run *run, size_t i)
{
    uint64_t begin = i > 0 ? run->text_end[i - 1] : 0;
    return (struct tn_str){run->text + begin, (size_t)(run->text_end[i] - begin)};
}

/* Tokens of item i in the scratch. A failure that is the item's own is settled; others are returned. */
static enum tn_status encode_item(struct tn_recipe_run *run, size_t i, struct tn_step *step, struct tn_error *err)
{
    const struct tn_recipe_model *m = run->model;
    struct tn_recipe_scratch *scratch = step->scratch;
    struct tn_text_encoding *e = &scratch->encoding;
    if (scratch->owner == step->run_id && scratch->item == i) return TN_OK;
    scratch->owner = 0;
    struct tn_str text = text_of(run, i);
    size_t valid = tn_utf8_valid_prefix(text.s, text.n), prompt = run->prompt ? run->prompt->text.n : 0;
    if (valid < text.n) {
        settle(run, i, TN_INVALID_REQUEST, valid - prompt);
        return TN_OK;
    }
    enum tn_status st = tn_text_encode(m->tokenizer, text, (struct tn_str){NULL, 0}, &m->encode, e, err);
    if (text.n > LARGE_TEXT) scratch->oversize = true;
    if (st == TN_INSUFFICIENT_MEMORY) return st;
    if (st) {
        settle(run, i, st, e->total);
        return TN_OK;
    }
    if (e->truncated && run->truncate == TN_NO) {
        settle(run, i, TN_INPUT_TOO_LONG, e->total);
        return TN_OK;
    }
    scratch->owner = step->run_id;
    scratch->item = i;
    return TN_OK;
}

/*
 * The rows that are pooled. A prompt that the package leaves out can leave nothing: sentence-transformers then answers
 * zeros for sums, the first row for cls and minus infinity for max; what we cannot answer alike fails the item.
 */
static enum tn_status span_of(const struct tn_recipe_run *run, uint32_t count, struct tn_span *span)
{
    const struct tn_recipe_model *m = run->model;
    uint32_t skip = run->prompt ? run->prompt->tokens : 0;
    *span = (struct tn_span){.count = (int32_t)count};
    if (count == 0) return TN_SHAPE_OUTSIDE_ENVELOPE;
    if (skip >= count) {
        if (m->pools_max) return TN_NUMERICAL_FAILURE;
        if (m->pools_only_first) {
            span->count = 1;
            return TN_OK;
        }
        if (m->pools_first) return TN_SHAPE_OUTSIDE_ENVELOPE;
        skip = count;
    }
    *span = (struct tn_span){(int32_t)skip, (int32_t)(count - skip), (int32_t)skip};
    return TN_OK;
}

/* Puts item i into the batch; false when there is no room. */
static bool ask(struct tn_recipe_run *run, size_t i, struct tn_step *step)
{
    struct tn_recipe_scratch *scratch = step->scratch;
    const struct tn_text_encoding *e = &scratch->encoding;
    struct item *item = &run->items[i];
    struct tn_span span;
    enum tn_status st = span_of(run, (uint32_t)e->count, &span);
    if (st) {
        settle(run, i, st, e->total);
        return true;
    }
    if (!tn_batch_add(step->wanted, i, e->ids, run->model->type_ids ? e->type_ids : NULL, (uint32_t)e->count, span)) {
        return false;
    }
    item->state = ASKED;
    item->tokens = (uint32_t)e->count;
    item->detail = e->total;
    item->truncated = e->truncated;
    return true;
}

static bool all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

static void take_result(struct tn_recipe_run *run, const struct tn_batch *batch, uint32_t s)
{
    size_t i = batch->items[s], dims = run->finish.dimensions;
    float *row = batch->out + (size_t)s * batch->width, *to = run->vectors + i * dims;
    struct item *item = &run->items[i];
    if (batch->status[s] == TN_SEQUENCE_STOPPED) {
        item->state = PENDING;
        return;
    }
    if (run->finish.normalize_first) tn_embedding_normalize(row, batch->width);
    memcpy(to, row, dims * sizeof(*to));
    if (run->finish.normalize_last) tn_embedding_normalize(to, dims);
    bool finite = batch->status[s] == TN_SEQUENCE_DONE && all_finite(to, dims);
    settle(run, i, finite ? TN_OK : TN_NUMERICAL_FAILURE, item->detail);
    run->counts.sequences++;
    run->counts.tokens += item->tokens;
    run->counts.truncated += item->truncated;
}

static void explain(const struct tn_recipe_run *run, size_t i, struct tn_error *err)
{
    const struct item *item = &run->items[i];
    unsigned long long detail = item->detail;
    struct tn_finding *f;
    switch ((enum tn_status)item->code) {
    case TN_INPUT_TOO_LONG:
        f = tn_error_set(err, TN_INPUT_TOO_LONG, TN_PHASE_REQUEST, "text %zu has %llu tokens, the model takes %llu", i,
                         detail, (unsigned long long)run->max_tokens);
        tn_found(f, "%llu tokens", detail);
        tn_expected(f, "at most %llu tokens, special tokens included", (unsigned long long)run->max_tokens);
        tn_remedy(f, "shorten or split the text, or allow truncation");
        break;
    case TN_INVALID_REQUEST:
        f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "text %zu is not valid UTF-8 at byte %llu", i, detail);
        tn_found(f, "an invalid byte at offset %llu", detail);
        tn_expected(f, "UTF-8");
        break;
    case TN_NUMERICAL_FAILURE:
        f = tn_error_set(err, TN_NUMERICAL_FAILURE, TN_PHASE_EXECUTE, "the vector of text %zu holds NaN or infinity", i);
        tn_remedy(f, "compare with --numeric f32; with f32 the weights themselves overflow");
        break;
    case TN_RESOURCE_LIMIT:
        f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_REQUEST, "text %zu passes the limit of a single text", i);
        tn_found(f, "%llu", detail);
        tn_remedy(f, "split the text");
        break;
    case TN_SHAPE_OUTSIDE_ENVELOPE:
        f = tn_error_set(err, TN_SHAPE_OUTSIDE_ENVELOPE, TN_PHASE_REQUEST, "text %zu leaves no token that could be pooled", i);
        tn_expected(f, "at least one token behind the prompt");
        break;
    default:
        f = tn_error_set(err, (enum tn_status)item->code, TN_PHASE_EXECUTE, "text %zu could not be encoded", i);
        break;
    }
    tn_at_item(f, i);
}

/* In a request of all or nothing, a failed item is the failure of the request. */
static enum tn_status atomic_verdict(struct tn_recipe_run *run, size_t i, struct tn_error *err)
{
    if (!run->request.atomic || run->items[i].state != FINAL || run->items[i].code == TN_OK) return TN_OK;
    explain(run, i, err);
    return (enum tn_status)run->items[i].code;
}

/* Whether advance has looked at enough for one call. */
struct effort {
    size_t items, bytes;
};

static bool spent(struct effort *effort, size_t bytes)
{
    effort->items++;
    effort->bytes += bytes;
    return effort->items >= ITEMS_PER_STEP || effort->bytes >= BYTES_PER_STEP;
}

/* First pass of an atomic request: finds the first text that would fail. */
static enum tn_status check_ahead(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    struct effort effort = {0, 0};
    while (run->checked < run->count) {
        size_t i = run->checked;
        struct tn_span span;
        enum tn_status st = run->items[i].state == FINAL ? TN_OK : encode_item(run, i, step, err);
        if (st) return st;
        if (run->items[i].state != FINAL) {
            st = span_of(run, (uint32_t)step->scratch->encoding.count, &span);
            if (st) settle(run, i, st, 0);
        }
        st = atomic_verdict(run, i, err);
        if (st) return st;
        run->checked++;
        if (spent(&effort, text_of(run, i).n)) break;
    }
    return TN_OK;
}

static enum tn_status fill_batch(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    struct tn_batch *batch = step->wanted;
    uint32_t first = batch->sequences, rows = batch->rows;
    struct effort effort = {0, 0};
    while (run->begun < run->count && (run->request.atomic || run->begun < step->item_end)) {
        size_t i = run->begun;
        if (run->items[i].state != FINAL) {
            if (batch->rows - rows >= step->row_quota) break;
            if (run->request.batch && batch->sequences - first >= run->request.batch) break;
            enum tn_status st = encode_item(run, i, step, err);
            if (st) return st;
            if (run->items[i].state != FINAL && !ask(run, i, step)) break;
        }
        run->begun++;
        if (spent(&effort, text_of(run, i).n)) break;
    }
    return TN_OK;
}

static enum tn_status take_results(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    for (uint32_t s = step->first; s < step->end; s++) {
        take_result(run, step->results, s);
        enum tn_status st = atomic_verdict(run, step->results->items[s], err);
        if (st) return st;
    }
    return TN_OK;
}

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    bool checking = run->request.atomic && run->checked < run->count;
    if (step->results) st = take_results(run, step, err);
    if (!st && step->wanted) st = checking ? check_ahead(run, step, err) : fill_batch(run, step, err);
    if (st) return st;
    while (run->ready < run->begun && run->items[run->ready].state == FINAL) run->ready++;
    step->done = run->ready == run->count;
    step->ready = run->request.atomic && !step->done ? 0 : run->ready;
    step->more = checking || run->begun < run->count;
    return TN_OK;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct item *item = &run->items[i];
    *out = (tn_event){.kind = TN_EVENT_ITEM, .status = (tn_status)item->code, .index = i};
    if (item->code != TN_OK) {
        explain(run, i, err);
        return;
    }
    out->embedding = run->vectors + i * run->finish.dimensions;
    out->dimensions = run->finish.dimensions;
    out->tokens = item->tokens;
    out->tokens_total = (size_t)item->detail;
    out->truncated = item->truncated;
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->counts;
}

static uint64_t dimensions(const struct tn_recipe_run *run)
{
    return run->finish.dimensions;
}

/* An option as in a plan: {origin, value, overrides: [{origin, value}]}. The caller writes the value between. */
static void begin_option(struct tn_json_writer *w, const char *name, const char *origin)
{
    tn_jw_key(w, name);
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "origin", origin);
    tn_jw_key(w, "value");
}

/* What a request was said against; `over` false: nothing. The caller writes that value between. */
static void begin_overrides(struct tn_json_writer *w, bool over, const char *origin)
{
    tn_jw_key(w, "overrides");
    tn_jw_begin_array(w);
    if (!over) return;
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "origin", origin);
    tn_jw_key(w, "value");
}

static void end_option(struct tn_json_writer *w, bool over)
{
    if (over) tn_jw_end_object(w);
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

static void write_flag(struct tn_json_writer *w, const char *name, const char *origin, bool otherwise, bool asked, bool value)
{
    begin_option(w, name, asked ? "request" : origin);
    tn_jw_bool(w, asked ? value : otherwise);
    begin_overrides(w, asked, origin);
    if (asked) tn_jw_bool(w, otherwise);
    end_option(w, asked);
}

static void write_count(struct tn_json_writer *w, const char *name, const char *origin, uint64_t otherwise, bool asked,
                        uint64_t value)
{
    begin_option(w, name, asked ? "request" : origin);
    tn_jw_u64(w, asked ? value : otherwise);
    begin_overrides(w, asked, origin);
    if (asked) tn_jw_u64(w, otherwise);
    end_option(w, asked);
}

static void write_str_or_null(struct tn_json_writer *w, struct tn_str s)
{
    if (s.n) {
        tn_jw_str(w, s);
    } else {
        tn_jw_null(w);
    }
}

static void write_role(struct tn_json_writer *w, const struct tn_recipe_run *run)
{
    const char *origin = run->default_role.n ? "package" : "default";
    begin_option(w, "role", run->role_asked ? "request" : origin);
    write_str_or_null(w, run->role_set ? tn_str_of(run->role) : TN_STR(""));
    begin_overrides(w, run->role_asked, origin);
    if (run->role_asked) write_str_or_null(w, run->default_role);
    end_option(w, run->role_asked);
}

static void write_batch(struct tn_json_writer *w, unsigned batch)
{
    begin_option(w, "batch", batch ? "request" : "default");
    if (batch) {
        tn_jw_u64(w, batch);
    } else {
        tn_jw_cstr(w, "by tokens");
    }
    begin_overrides(w, batch > 0, "default");
    if (batch) tn_jw_cstr(w, "by tokens");
    end_option(w, batch > 0);
}

static void write_options(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    const struct tn_embed_request *r = &run->request;
    bool cut = run->package_dimensions > 0 && run->package_dimensions < run->width;
    write_role(w, run);
    write_flag(w, "normalize", run->package_normalizes ? "package" : "default", run->package_normalizes,
               r->normalize != TN_AUTO, r->normalize == TN_YES);
    write_count(w, "dimensions", cut ? "package" : "default", cut ? run->package_dimensions : run->width, r->dimensions > 0,
                run->finish.dimensions);
    write_flag(w, "truncate", "default", true, r->truncate != TN_AUTO, run->truncate == TN_YES);
    write_count(w, "max_tokens", "package", run->max_tokens, false, 0);
    write_flag(w, "atomic", "default", false, r->atomic, r->atomic);
    write_batch(w, r->batch);
    write_count(w, "timeout_ms", "default", 0, r->timeout_ms > 0, r->timeout_ms);
}

static void account(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_key(w, "options");
    tn_jw_begin_object(w);
    write_options(run, w);
    tn_jw_end_object(w);
    tn_jw_key(w, "result");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "dimensions", run->finish.dimensions);
    tn_jw_member_bool(w, "normalized", run->finish.normalized);
    tn_jw_key(w, "role");
    if (run->role_set) {
        tn_jw_cstr(w, run->role);
    } else {
        tn_jw_null(w);
    }
    tn_jw_end_object(w);
}

const struct tn_recipe tn_recipe_embedding_dense = {
    .name = "embedding.dense",
    .version = "1",
    .prepare = prepare,
    .discard = discard,
    .space = space,
    .probe = probe,
    .measure = measure,
    .start = start,
    .advance = advance,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = counts,
    .dimensions = dimensions,
    .account = account,
};
