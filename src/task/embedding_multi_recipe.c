/*
 * The recipe of several vectors per text: which rows of the provider's result are kept. A query is filled up to its length
 * with one token, which the provider may be told to hide from all others; a document loses the rows of the tokens that the
 * package skips. The ids by which rows are kept are those of the batch: texts are tokenized once.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/embedding_multi.h"
#include "task/text_recipe.h"

#include <string.h>

/* MOST_SPECIAL: tokens of a sequence that are none of its text. */
enum { MOST_SPECIAL = 8 };

struct tn_recipe_model {
    struct tn_text_session session;
    bool normalizes;
    uint32_t filler;   /* id of the token that fills queries up */
    uint32_t *skip;    /* [skip_count] ids of tokens of which no vector is kept */
    size_t skip_count;
};

struct found {
    float *vectors; /* [count, width], owned */
    uint32_t *ids;  /* [count], owned */
    size_t count;
};

struct tn_recipe_run {
    struct tn_text_run base;
    enum tn_text_role role;
    size_t width;
    bool normalizes, keeps_filling;
    struct tn_str similarity; /* lives with the description */
    struct found *found; /* [count of texts] */
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static enum tn_status find_filler(const struct tn_recipe_env *env, struct tn_recipe_model *m, struct tn_error *err)
{
    const struct tn_expansion *x = &env->d->multi->expansion;
    if (x->length == 0 || tn_text_token_id(env->tokenizer, x->token, &m->filler)) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_CONFIG, TN_PHASE_LOAD, "the token that fills queries up is not in the vocabulary");
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(x->token));
    return TN_UNSUPPORTED_CONFIG;
}

/*
 * Words that are no token of the vocabulary are left out, as in the library: they would stand for the unknown token, and
 * that one may be an ordinary word of a text.
 */
static enum tn_status find_skipped(const struct tn_recipe_env *env, struct tn_recipe_model *m, struct tn_error *err)
{
    const struct tn_multi_vector *multi = env->d->multi;
    m->skip = tn_arena_array(&m->session.stated.arena, multi->skip_count, sizeof(*m->skip));
    if (!m->skip) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    for (uint32_t i = 0; i < multi->skip_count; i++)
        m->skip_count += tn_text_token_id(env->tokenizer, multi->skip[i], &m->skip[m->skip_count]);
    size_t missing = multi->skip_count - m->skip_count;
    /* They cannot occur, so nothing is missed. */
    if (missing) tn_log(env->ctx, TN_LOG_INFO, "%zu of %u words that are to be skipped are no tokens of the vocabulary", missing, multi->skip_count);
    return TN_OK;
}

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    enum tn_status st = tn_text_prepare(env, sizeof(**out), tn_multi_options, out, err);
    if (!st) st = find_filler(env, *out, err);
    if (!st) st = find_skipped(env, *out, err);
    if (!st) (*out)->normalizes = tn_multi_normalizes(env->d);
    if (st) {
        tn_text_discard(*out);
        *out = NULL;
    }
    return st;
}

static void space(const struct tn_recipe_model *m, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, TN_STR("embedding.multi"));
    for (uint32_t i = 0; i < m->session.d->module_count; i++) {
        const struct tn_module *module = &m->session.d->modules[i];
        tn_sha256_update_str(h, tn_str_of(tn_module_kind_name(module->kind)));
        tn_sha256_update_str(h, module->activation);
        tn_sha256_update_u64(h, module->residual);
        tn_sha256_update_u64(h, module->out_features);
    }
    tn_sha256_update_u64(h, m->session.width);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const struct tn_recipe_model *m, const tn_multi_request *r)
{
    const struct tn_prompt *prompt = tn_description_prompt(m->session.d, tn_str_of(r->role));
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = prompt ? prompt->text : TN_STR(""),
                                   .noun = "text", .option = "texts"};
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_multi_request *r, enum tn_text_role *role, struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, "");
    const struct tn_prompt *prompt;
    if (tn_multi_role_of(r->role, role)) return tn_text_choices_check(m->session.d, &choices, &prompt, err);
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                        r->role ? "there is no such role" : "a role is needed: the package treats queries and documents differently");
    tn_at_option(f, "role");
    tn_found(f, "%.200s", r->role ? r->role : "nothing");
    tn_expected(f, "query or document");
    return TN_INVALID_REQUEST;
}

/* Rows that a text of so many bytes can have: never more than bytes, and no more than the role allows. */
static uint64_t most_rows(const struct tn_multi_lengths *l, size_t bytes)
{
    uint64_t most = (uint64_t)bytes + MOST_SPECIAL;
    if (most > l->most) most = l->most;
    return most < l->fill ? l->fill : most;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_multi_request *r = request;
    enum tn_text_role role;
    enum tn_status st = check(m, r, &role, err);
    if (st) return st;
    struct tn_multi_lengths lengths = tn_multi_lengths_of(m->session.d, role);
    struct tn_text_source source = source_of(m, r);
    struct tn_text_needs needs = {.each = sizeof(struct found), .once = sizeof(struct tn_recipe_run)};
    uint64_t row = (uint64_t)m->session.width * sizeof(float) + sizeof(uint32_t);
    for (size_t i = 0; r->texts && i < r->count; i++) {
        uint64_t one;
        bool fits = tn_mul64(most_rows(&lengths, r->texts[i].length + source.prompt.n), row, &one) && tn_add64(needs.once, one, &needs.once);
        if (!fits) needs.once = UINT64_MAX;
    }
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->base.texts.count; i++) {
        tn_free(run->base.alloc, run->found[i].vectors);
        tn_free(run->base.alloc, run->found[i].ids);
    }
    tn_free(run->base.alloc, run->found);
    tn_text_release(run);
}

/* Length and filling of the role over what the package has for all texts. */
static void apply_role(struct tn_recipe_run *run, const struct tn_recipe_model *m)
{
    struct tn_multi_lengths lengths = tn_multi_lengths_of(m->session.d, run->role);
    run->base.texts.max_tokens = lengths.most;
    run->base.texts.encode.max_tokens = (size_t)lengths.most;
    run->base.texts.fill_to = lengths.fill;
    run->base.texts.filler = m->filler;
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_multi_request *r = request;
    struct tn_recipe_run *run;
    enum tn_text_role role;
    *out = NULL;
    enum tn_status st = check(m, r, &role, err);
    if (st) return st;
    struct tn_text_source source = source_of(m, r);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->role = role;
    run->width = m->session.width;
    run->normalizes = m->normalizes;
    run->keeps_filling = m->session.d->multi->expansion.kept;
    run->similarity = m->session.d->similarity;
    run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    apply_role(run, m);
    return tn_text_begun(run, run->found != NULL, release, out, err);
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static bool is_skipped(const struct tn_recipe_run *run, uint32_t id)
{
    const struct tn_recipe_model *m = run->base.model;
    if (!m->session.d->multi->skips[run->role]) return false;
    for (size_t i = 0; i < m->skip_count; i++)
        if (m->skip[i] == id) return true;
    return false;
}

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    const struct tn_batch *batch = step->results;
    const int32_t *ids = batch->ids + (size_t)(result - batch->out) / width;
    struct found *f = &run->found[i];
    uint32_t tokens = run->base.texts.items[i].tokens, end = run->keeps_filling ? rows : tokens;
    size_t kept = 0;
    for (uint32_t r = 0; r < end; r++) kept += !is_skipped(run, (uint32_t)ids[r]);
    f->vectors = tn_malloc(run->base.alloc, kept * width * sizeof(*f->vectors));
    f->ids = tn_malloc(run->base.alloc, kept * sizeof(*f->ids));
    if (!f->vectors || !f->ids) return TN_INSUFFICIENT_MEMORY;
    for (uint32_t r = 0; r < end; r++) {
        if (is_skipped(run, (uint32_t)ids[r])) continue;
        memcpy(f->vectors + f->count * width, result + r * width, width * sizeof(*result));
        f->ids[f->count++] = (uint32_t)ids[r];
    }
    return tn_scores_finite(f->vectors, f->count * width) ? TN_OK : TN_NUMERICAL_FAILURE;
}

static const struct tn_text_hooks hooks = {.take = take};

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->embedding = f->vectors;
    out->dimensions = run->width;
    out->vectors = f->count;
    out->token_ids = f->ids;
}

static uint64_t dimensions(const struct tn_recipe_run *run)
{
    return run->width;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_u64(w, "dimensions", run->width);
    tn_jw_member_bool(w, "normalized", run->normalizes);
    tn_jw_member_cstr(w, "role", tn_text_role_name(run->role));
    tn_jw_member_str(w, "similarity", run->similarity);
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    tn_jw_key(w, "vectors");
    tn_jw_begin_array(w);
    for (size_t v = 0; v < f->count; v++) tn_jw_f32s(w, f->vectors + v * run->width, run->width);
    tn_jw_end_array(w);
    tn_jw_key(w, "token_ids");
    tn_jw_begin_array(w);
    for (size_t v = 0; v < f->count; v++) tn_jw_u64(w, f->ids[v]);
    tn_jw_end_array(w);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_embedding_multi = {
    .name = "embedding.multi",
    .version = "1",
    .prepare = prepare,
    .discard = tn_text_discard,
    .space = space,
    .probe = tn_text_probe_one,
    .measure = measure,
    .start = start,
    .advance = tn_text_advance,
    .finish = tn_text_finish,
    .release = release,
    .event = event,
    .counts = tn_text_counts,
    .dimensions = dimensions,
    .write_result = write_result,
    .write_item = write_item,
    .account = tn_text_account,
};
