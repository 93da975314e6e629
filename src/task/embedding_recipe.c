/*
 * The recipe of dense embeddings: texts to token sequences, pooled vectors to results. What becomes of texts before and
 * between is in text_items.c; here is what a prompt, a pooled row and a vector are.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/embedding.h"
#include "task/text_recipe.h"

#include <string.h>

/* ---- the model: what is fixed per session -------------------------------------------------------------------- */

struct prompt {
    struct tn_str name, text;
    uint32_t tokens; /* left out of pooling; 0: none are */
};

struct tn_recipe_model {
    struct tn_text_session session;
    bool normalizes;
    bool pools_max, pools_only_first, pools_first; /* what an empty span would mean */
    const struct tn_module *pooling;
    uint32_t module_count; /* of the chain, without the Normalize that the recipe applies */
    struct prompt *prompts; /* [prompt_count of the description] */
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
    enum tn_status st = tn_text_encode(m->session.text.tokenizer, p->text, (struct tn_str){NULL, 0}, &m->session.text.encode, e, err);
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
    m->prompts = tn_arena_array(&m->session.stated.arena, d->prompt_count, sizeof(*m->prompts));
    if (!m->prompts) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    tn_text_encoding_init(&e, m->session.text.alloc);
    for (uint32_t i = 0; !st && i < d->prompt_count; i++) {
        struct prompt *p = &m->prompts[i];
        p->name = d->prompts[i].name;
        p->text = d->prompts[i].text;
        if (m->pooling && !m->pooling->include_prompt) st = count_prompt(env, m, p, &e, err);
    }
    tn_text_encoding_release(&e);
    return st;
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_embedding_options, out, err);
    if (st) return st;
    struct tn_recipe_model *m = *out;
    m->normalizes = tn_embedding_normalizes(env->d);
    m->module_count = env->d->module_count - (m->normalizes ? 1 : 0);
    m->pooling = tn_embedding_pooling(env->d);
    learn_pooling(m);
    st = learn_prompts(env, m, err);
    if (st) {
        tn_text_discard(m);
        *out = NULL;
    }
    return st;
}

static void space(const struct tn_recipe_model *m, struct tn_sha256 *h)
{
    for (uint32_t i = 0; i < m->module_count; i++) {
        const struct tn_module *module = &m->session.d->modules[i];
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
    tn_sha256_update_u64(h, m->session.width);
}

/* ---- the request ---------------------------------------------------------------------------------------------- */

struct tn_recipe_run {
    struct tn_text_run base;
    struct tn_embedding_finish finish;
    const struct prompt *prompt; /* NULL: none, or finished */
    float *vectors;              /* [count, finish.dimensions] */
};

static const struct prompt *find_prompt(const struct tn_recipe_model *m, const struct tn_prompt *p)
{
    for (uint32_t i = 0; p && i < m->session.d->prompt_count; i++)
        if (tn_str_eq(m->prompts[i].name, p->name)) return &m->prompts[i];
    return NULL;
}

static bool is_tristate(tn_tristate v)
{
    return v == TN_AUTO || v == TN_YES || v == TN_NO;
}

static enum tn_status check(const struct tn_recipe_model *m, const struct tn_embed_request *r, const struct prompt **prompt,
                            struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    const struct tn_prompt *stated;
    if (!is_tristate(r->normalize)) {
        return tn_request_refuse(err, "normalize", "normalize has no such value", "auto, yes or no",
                                 (unsigned long long)r->normalize);
    }
    if (r->dimensions > m->session.width) {
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                            "more dimensions are asked for than the vectors have");
        tn_at_option(f, "dimensions");
        tn_found(f, "%u", r->dimensions);
        tn_expected(f, "1..%llu", (unsigned long long)m->session.width);
        return TN_INVALID_REQUEST;
    }
    enum tn_status st = tn_text_choices_check(m->session.d, &choices, &stated, err);
    *prompt = st ? NULL : find_prompt(m, stated);
    return st;
}

static struct tn_text_source source_of(const struct tn_embed_request *r, const struct prompt *p)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = p ? p->text : TN_STR(""),
                                   .noun = "text", .option = "texts"};
}

static struct tn_embedding_finish finish_of(const struct tn_recipe_model *m, const struct tn_embed_request *r)
{
    return tn_embedding_finish_of(m->normalizes, m->session.d->truncate_dim, m->session.width, r->normalize, r->dimensions);
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    const struct prompt *p;
    enum tn_status st = check(m, r, &p, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, p);
    struct tn_text_needs needs = {.each = (uint64_t)finish_of(m, r).dimensions * sizeof(float), .once = sizeof(struct tn_recipe_run),
                                  .words = p ? p->name.n : 0};
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_free(run->base.alloc, run->vectors);
    tn_text_release(run);
}

static bool allocate(struct tn_recipe_run *run, size_t count)
{
    size_t floats;
    if (!tn_mul(count, run->finish.dimensions, &floats) || !tn_mul(floats, sizeof(float), &floats)) return false;
    run->vectors = tn_malloc(run->base.alloc, floats);
    return run->vectors != NULL;
}

static void state_options(struct tn_recipe_run *run, const struct tn_embed_request *r)
{
    if (r->normalize) tn_stated_request(&run->base.stated, "normalize", tn_json_text_of_bool(r->normalize == TN_YES));
    if (r->dimensions) tn_stated_request_u64(&run->base.stated, "dimensions", r->dimensions);
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const struct tn_embed_request *r = request;
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    struct tn_recipe_run *run;
    const struct prompt *p;
    *out = NULL;
    enum tn_status st = check(m, r, &p, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, p);
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->prompt = p;
    run->finish = finish_of(m, r);
    state_options(run, r);
    return tn_text_begun(run, allocate(run, r->count), release, out, err);
}

static void finish(struct tn_recipe_run *run)
{
    tn_text_finish(run);
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
    const struct tn_recipe_model *m = run->base.model;
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

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    size_t dims = run->finish.dimensions;
    float *to = run->vectors + i * dims;
    (void)rows;
    (void)step;
    if (run->finish.normalize_first) tn_embedding_normalize(result, width);
    memcpy(to, result, dims * sizeof(*to));
    if (run->finish.normalize_last) tn_embedding_normalize(to, dims);
    return tn_scores_finite(to, dims) ? TN_OK : TN_NUMERICAL_FAILURE;
}

static bool explain(const struct tn_recipe_run *run, size_t i, enum tn_status code, struct tn_error *err)
{
    struct tn_finding *f;
    switch (code) {
    case TN_NUMERICAL_FAILURE:
        f = tn_error_set(err, code, TN_PHASE_EXECUTE, "the vector of the text holds NaN or infinity");
        tn_remedy(f, "%s", tn_text_remedy_of_numbers(run->base.texts.reduced));
        break;
    case TN_SHAPE_OUTSIDE_ENVELOPE:
        f = tn_error_set(err, code, TN_PHASE_REQUEST, "the text leaves no token that could be pooled");
        tn_expected(f, "at least one token behind the prompt");
        break;
    default:
        return false;
    }
    tn_at_item(f, i);
    return true;
}

static const struct tn_text_hooks hooks = {.span = span_of, .take = take, .explain = explain};

/* ---- results ---------------------------------------------------------------------------------------------------- */

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->embedding = run->vectors + i * run->finish.dimensions;
    out->dimensions = run->finish.dimensions;
}

static uint64_t dimensions(const struct tn_recipe_run *run)
{
    return run->finish.dimensions;
}

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_u64(w, "dimensions", run->finish.dimensions);
    tn_jw_member_bool(w, "normalized", run->finish.normalized);
    tn_jw_key(w, "role");
    tn_jw_raw(w, tn_stated_value(&run->base.stated, "role"));
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    tn_jw_key(w, "embedding");
    tn_jw_f32s(w, run->vectors + i * run->finish.dimensions, run->finish.dimensions);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_embedding_dense = {
    .name = "embedding.dense",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .space = space,
    .probe = tn_text_probe_one,
    .measure = measure,
    .start = start,
    .advance = tn_text_advance,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .dimensions = dimensions,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
