/*
 * The recipe of dense embeddings: texts to token sequences, pooled vectors to results. What becomes of texts before and
 * between is in text_items.c; here is what a prompt, a pooled row and a vector are.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/embedding.h"
#include "task/text_items.h"

#include <math.h>
#include <string.h>

/* ---- the model: what is fixed per session -------------------------------------------------------------------- */

struct prompt {
    struct tn_str name, text;
    uint32_t tokens; /* left out of pooling; 0: none are */
};

struct tn_recipe_model {
    struct tn_text_model text;
    bool normalizes;
    bool pools_max, pools_only_first, pools_first; /* what an empty span would mean */
    uint64_t width, truncate_dim;
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
    enum tn_status st = tn_text_encode(m->text.tokenizer, p->text, (struct tn_str){NULL, 0}, &m->text.encode, e, err);
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
    tn_text_encoding_init(&e, m->text.alloc);
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
    m->text = tn_text_model_of(env);
    m->width = env->output_width;
    m->truncate_dim = d->truncate_dim;
    m->normalizes = tn_embedding_normalizes(d);
    m->modules = d->modules;
    m->module_count = d->module_count - (m->normalizes ? 1 : 0);
    m->prompt_count = d->prompt_count;
    m->pooling = tn_embedding_pooling(d);
    learn_pooling(m);
    enum tn_status st = learn_prompts(env, m, err);
    if (st) {
        tn_free(m->text.alloc, m);
        return st;
    }
    *out = m;
    return TN_OK;
}

static void discard(struct tn_recipe_model *m)
{
    if (m) tn_free(m->text.alloc, m);
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

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    return tn_text_probe(&m->text, false, batch, scratch, err);
}

/* ---- the request ---------------------------------------------------------------------------------------------- */

struct tn_recipe_run {
    struct tn_text_items texts;
    const struct tn_recipe_model *model; /* NULL once finished */
    struct tn_alloc *alloc;
    struct tn_embed_request request; /* texts and role are not used: they were the caller's */
    struct tn_embedding_finish finish;
    const struct prompt *prompt; /* NULL: none */
    char *role;                  /* "" when there is none */
    bool role_asked, role_set;
    bool package_normalizes;
    uint64_t package_dimensions, width;
    struct tn_str default_role;  /* of the package, or ""; lives with the description */
    float *vectors;              /* [count, finish.dimensions] */
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

static bool is_tristate(tn_tristate v)
{
    return v == TN_AUTO || v == TN_YES || v == TN_NO;
}

static enum tn_status check_options(const struct tn_recipe_model *m, const struct tn_embed_request *r,
                                    struct tn_error *err)
{
    if (r->role && r->role[0] && !find_prompt(m, r->role)) return refuse_role(m, r->role, err);
    if (!is_tristate(r->normalize)) {
        return tn_request_refuse(err, "normalize", "normalize has no such value", "auto, yes or no",
                                 (unsigned long long)r->normalize);
    }
    if (!is_tristate(r->truncate)) {
        return tn_request_refuse(err, "truncate", "truncate has no such value", "auto, yes or no",
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

static const struct prompt *prompt_of(const struct tn_recipe_model *m, const struct tn_embed_request *r)
{
    return r->role ? find_prompt(m, r->role) : m->default_prompt;
}

static struct tn_text_source source_of(const struct tn_embed_request *r, const struct prompt *p)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = p ? p->text : TN_STR(""),
                                   .noun = "text", .option = "texts"};
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    enum tn_status st = check_options(m, r, err);
    if (st) return st;
    struct tn_embedding_finish f = tn_embedding_finish_of(m->normalizes, m->truncate_dim, m->width, r->normalize, r->dimensions);
    const struct prompt *p = prompt_of(m, r);
    struct tn_text_source source = source_of(r, p);
    uint64_t texts, vectors;
    st = tn_text_items_measure(&m->text, &source, &texts, err);
    if (st) return st;
    if (!tn_mul64((uint64_t)f.dimensions * sizeof(float), r->count, &vectors) || !tn_add64(texts, vectors, &texts) ||
        !tn_add64(texts, sizeof(struct tn_recipe_run) + (p ? p->name.n : 0) + 1, bytes)) {
        return tn_request_refuse_limit(err, "texts", "items", r->count, m->text.ctx->limits.items);
    }
    return TN_OK;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_text_items_release(&run->texts);
    tn_free(run->alloc, run->role);
    tn_free(run->alloc, run->vectors);
    tn_free(run->alloc, run);
}

static bool allocate_results(struct tn_recipe_run *run, size_t count)
{
    size_t floats;
    struct tn_str role = run->prompt ? run->prompt->name : (struct tn_str){"", 0};
    if (!tn_mul(count, run->finish.dimensions, &floats) || !tn_mul(floats, sizeof(float), &floats)) return false;
    run->role = tn_strndup(run->alloc, role.s, role.n);
    run->vectors = tn_malloc(run->alloc, floats);
    return run->role && run->vectors;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    const struct prompt *p = prompt_of(m, r);
    struct tn_text_source source = source_of(r, p);
    *out = NULL;
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    run->model = m;
    run->alloc = alloc;
    run->request = *r;
    run->request.texts = NULL;
    run->request.role = NULL;
    run->role_asked = r->role != NULL;
    run->role_set = p != NULL;
    run->prompt = p;
    run->package_normalizes = m->normalizes;
    run->package_dimensions = m->truncate_dim;
    run->width = m->width;
    run->default_role = m->default_prompt ? m->default_prompt->name : TN_STR("");
    run->finish = tn_embedding_finish_of(m->normalizes, m->truncate_dim, m->width, r->normalize, r->dimensions);
    enum tn_status st = tn_text_items_start(&run->texts, &m->text, &source, alloc, err);
    if (!st && !allocate_results(run, r->count))
        st = tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    if (st) {
        release(run);
        return st;
    }
    run->texts.truncate = r->truncate != TN_NO;
    run->texts.atomic = r->atomic;
    run->texts.batch = r->batch;
    *out = run;
    return TN_OK;
}

static void finish(struct tn_recipe_run *run)
{
    tn_text_items_finish(&run->texts);
    run->model = NULL;
    run->prompt = NULL;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/*
 * The rows that are pooled. A prompt that the package leaves out can leave nothing: sentence-transformers then answers
 * zeros for sums, the first row for cls and minus infinity for max; what we cannot answer alike fails the item.
 */
static enum tn_status span_of(const struct tn_recipe_run *run, size_t item, const struct tn_text_encoding *e, struct tn_span *span)
{
    uint32_t count = (uint32_t)e->count, skip = run->prompt ? run->prompt->tokens : 0;
    const struct tn_recipe_model *m = run->model;
    (void)item;
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

static bool all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    size_t dims = run->finish.dimensions;
    float *to = run->vectors + i * dims;
    (void)rows;
    (void)step;
    if (run->finish.normalize_first) tn_embedding_normalize(result, width);
    memcpy(to, result, dims * sizeof(*to));
    if (run->finish.normalize_last) tn_embedding_normalize(to, dims);
    return all_finite(to, dims) ? TN_OK : TN_NUMERICAL_FAILURE;
}

static bool explain(const struct tn_recipe_run *run, size_t i, enum tn_status code, struct tn_error *err)
{
    struct tn_finding *f;
    switch (code) {
    case TN_NUMERICAL_FAILURE:
        f = tn_error_set(err, code, TN_PHASE_EXECUTE, "the vector of text %zu holds NaN or infinity", i);
        tn_remedy(f, "%s", tn_text_remedy_of_numbers(run->texts.reduced));
        break;
    case TN_SHAPE_OUTSIDE_ENVELOPE:
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "text %zu leaves no token that could be pooled", i);
        tn_expected(f, "at least one token behind the prompt");
        break;
    default:
        return false;
    }
    tn_at_item(f, i);
    return true;
}

static const struct tn_text_hooks hooks = {.span = span_of, .take = take, .explain = explain};

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    return tn_text_items_advance(&run->texts, run, &hooks, step, err);
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    if (!tn_text_items_event(&run->texts, run, &hooks, i, out, err)) return;
    out->embedding = run->vectors + i * run->finish.dimensions;
    out->dimensions = run->finish.dimensions;
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->texts.counts;
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
    write_flag(w, "truncate", "default", true, r->truncate != TN_AUTO, run->texts.truncate);
    write_count(w, "max_tokens", "package", run->texts.max_tokens, false, 0);
    write_flag(w, "atomic", "default", false, r->atomic, r->atomic);
    write_batch(w, r->batch);
    write_count(w, "timeout_ms", "default", 0, r->timeout_ms > 0, r->timeout_ms);
}

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_u64(w, "dimensions", run->finish.dimensions);
    tn_jw_member_bool(w, "normalized", run->finish.normalized);
    tn_jw_key(w, "role");
    if (run->role_set) {
        tn_jw_cstr(w, run->role);
    } else {
        tn_jw_null(w);
    }
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    tn_jw_key(w, "embedding");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < run->finish.dimensions; k++) tn_jw_f32(w, run->vectors[i * run->finish.dimensions + k]);
    tn_jw_end_array(w);
    tn_text_item_write(w, &run->texts.items[i]);
}

static void account(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_key(w, "options");
    tn_jw_begin_object(w);
    write_options(run, w);
    tn_jw_end_object(w);
    tn_jw_key(w, "result");
    tn_jw_begin_object(w);
    write_result(run, w);
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
    .write_result = write_result,
    .write_item = write_item,
    .account = account,
};
