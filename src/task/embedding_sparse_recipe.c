/*
 * The recipe of sparse embeddings: a row over the vocabulary per text to its terms that are not zero. Rows are as wide as
 * the vocabulary only in the batch; what a request keeps is its terms.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/embedding_sparse.h"

#include <string.h>

/* USUAL_TERMS: what a text is admitted with; trained models keep fewer. */
enum { USUAL_TERMS = 512 };

struct tn_recipe_model {
    struct tn_text_model text;
    const struct tn_description *d;
    size_t width, most; /* most: terms that the package keeps; 0: all */
    struct tn_stated stated;
};

struct found {
    uint32_t *indices; /* [count], owned */
    float *values;     /* [count], owned */
    size_t count;
};

struct tn_recipe_run {
    struct tn_text_items texts;
    struct tn_alloc *alloc;
    size_t width, count, most;
    char *role;          /* "" when there is none */
    struct found *found; /* [count] */
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
    m->width = (size_t)env->output_width;
    m->most = (size_t)env->d->max_active_dims;
    enum tn_status st = tn_stated_begin(&m->stated, env, tn_sparse_options, err);
    if (st) {
        discard(m);
        return st;
    }
    *out = m;
    return TN_OK;
}

static void space(const struct tn_recipe_model *m, struct tn_sha256 *h)
{
    const struct tn_module *pooling = tn_sparse_pooling(m->d);
    tn_sha256_update_str(h, TN_STR("embedding.sparse"));
    tn_sha256_update_u64(h, pooling->sum);
    tn_sha256_update_u64(h, pooling->twice);
    tn_sha256_update_u64(h, m->width);
}

static enum tn_status probe(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                            struct tn_error *err)
{
    return tn_text_probe(&m->text, false, batch, scratch, err);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_choices choices_of(const tn_sparse_request *r)
{
    return (struct tn_text_choices){r->role, r->truncation, r->side, r->atomic, r->batch, r->timeout_ms};
}

static struct tn_text_source source_of(const tn_sparse_request *r, const struct tn_prompt *prompt)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = prompt ? prompt->text : TN_STR(""),
                                   .noun = "text", .option = "texts"};
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_sparse_request *r, const struct tn_prompt **prompt, struct tn_error *err)
{
    struct tn_text_choices choices = choices_of(r);
    return tn_text_choices_check(m->d, &choices, prompt, err);
}

static size_t most_terms(const struct tn_recipe_model *m, const tn_sparse_request *r)
{
    return r->max_active ? r->max_active : m->most;
}

/* How many terms a text will have cannot be known; one with more than usual asks for the rest when it is there. */
static uint64_t usual_terms(const struct tn_recipe_model *m, const tn_sparse_request *r)
{
    uint64_t most = most_terms(m, r), usual = m->width < USUAL_TERMS ? m->width : USUAL_TERMS;
    return most && most < usual ? most : usual;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_sparse_request *r = request;
    const struct tn_prompt *prompt;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    st = tn_text_items_measure(&m->text, &source, bytes, err);
    if (st) return st;
    uint64_t each = sizeof(struct found) + usual_terms(m, r) * (sizeof(float) + sizeof(uint32_t)), all;
    if (!tn_mul64(each, r->count, &all) || !tn_add64(*bytes, all, bytes) ||
        !tn_add64(*bytes, sizeof(struct tn_recipe_run) + tn_stated_bytes(&m->stated, prompt ? prompt->name.n : 0) + (prompt ? prompt->name.n : 0) + 1, bytes)) {
        return tn_request_refuse_limit(err, "texts", "items", r->count, m->text.ctx->limits.items);
    }
    return TN_OK;
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->count; i++) {
        tn_free(run->alloc, run->found[i].indices);
        tn_free(run->alloc, run->found[i].values);
    }
    tn_text_items_release(&run->texts);
    tn_stated_release(&run->stated);
    tn_free(run->alloc, run->role);
    tn_free(run->alloc, run->found);
    tn_free(run->alloc, run);
}

static bool state_options(struct tn_recipe_run *run, const tn_sparse_request *r)
{
    struct tn_text_choices choices = choices_of(r);
    if (r->max_active)
        tn_stated_request_u64(&run->stated, "max_active", r->max_active);
    tn_text_choices_state(&choices, &run->stated);
    return !run->stated.no_memory;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_sparse_request *r = request;
    const struct tn_prompt *prompt;
    *out = NULL;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_choices choices = choices_of(r);
    run->alloc = alloc;
    run->width = m->width;
    run->count = r->count;
    run->most = most_terms(m, r);
    tn_stated_over(&run->stated, &m->stated, alloc);
    st = tn_text_items_start(&run->texts, &m->text, &source, alloc, err);
    if (!st) run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    if (!st) run->role = prompt ? tn_strndup(alloc, prompt->name.s, prompt->name.n) : tn_strndup(alloc, "", 0);
    if (!st && (!run->found || !run->role || !state_options(run, r)))
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
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    struct found *f = &run->found[i];
    (void)rows;
    (void)step;
    if (!tn_scores_finite(result, width)) return TN_NUMERICAL_FAILURE;
    size_t count = tn_sparse_count(result, width, run->most);
    f->indices = tn_malloc(run->alloc, count * sizeof(*f->indices));
    f->values = tn_malloc(run->alloc, count * sizeof(*f->values));
    if (!f->indices || !f->values) return TN_INSUFFICIENT_MEMORY;
    f->count = tn_sparse_terms(result, width, run->most, f->indices, f->values);
    return TN_OK;
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
    out->dimensions = run->width;
    out->active = f->count;
    out->indices = f->indices;
    out->values = f->values;
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->texts.counts;
}

static uint64_t dimensions(const struct tn_recipe_run *run)
{
    return run->width;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_u64(w, "dimensions", run->width);
    if (run->role[0]) tn_jw_member_cstr(w, "role", run->role);
    else tn_jw_member_null(w, "role");
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    tn_jw_key(w, "indices");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) tn_jw_u64(w, f->indices[k]);
    tn_jw_end_array(w);
    tn_jw_key(w, "values");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) tn_jw_f32(w, f->values[k]);
    tn_jw_end_array(w);
    tn_jw_member_u64(w, "active", f->count);
    tn_text_item_write(w, &run->texts.items[i]);
}

static void account(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_stated_account(&run->stated, run, write_result, w);
}

const struct tn_recipe tn_recipe_embedding_sparse = {
    .name = "embedding.sparse",
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
