/*
 * The recipe of sparse embeddings: a row over the vocabulary per text to its terms that are not zero. Rows are as wide as
 * the vocabulary only in the batch; what a request keeps is its terms.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/embedding_sparse.h"
#include "task/text_recipe.h"

#include <string.h>

/* USUAL_TERMS: what a text is admitted with; trained models keep fewer. */
enum { USUAL_TERMS = 512 };

struct tn_recipe_model {
    struct tn_text_session session;
};

struct found {
    uint32_t *indices; /* [count], owned */
    float *values;     /* [count], owned */
    size_t count;
};

struct tn_recipe_run {
    struct tn_text_run base;
    size_t width, most;  /* most: terms that are kept; 0: all */
    struct found *found; /* [count of texts] */
};

/* ---- per session ------------------------------------------------------------------------------------------------------- */

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    return tn_text_prepare(env, sizeof(**out), tn_sparse_options, out, err);
}

static void space(const struct tn_recipe_model *m, struct tn_sha256 *h)
{
    const struct tn_module *pooling = tn_sparse_pooling(m->session.d);
    tn_sha256_update_str(h, TN_STR("embedding.sparse"));
    tn_sha256_update_u64(h, pooling->sum);
    tn_sha256_update_u64(h, pooling->twice);
    tn_sha256_update_u64(h, m->session.width);
}

/* ---- the request ------------------------------------------------------------------------------------------------------- */

static struct tn_text_source source_of(const tn_sparse_request *r, const struct tn_prompt *prompt)
{
    return (struct tn_text_source){.texts = r->texts, .count = r->count, .prompt = prompt ? prompt->text : TN_STR(""),
                                   .noun = "text", .option = "texts"};
}

static enum tn_status check(const struct tn_recipe_model *m, const tn_sparse_request *r, const struct tn_prompt **prompt, struct tn_error *err)
{
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    return tn_text_choices_check(m->session.d, &choices, prompt, err);
}

static size_t most_terms(const struct tn_recipe_model *m, const tn_sparse_request *r)
{
    return r->max_active ? r->max_active : (size_t)m->session.d->max_active_dims;
}

/* How many terms a text will have cannot be known; one with more than usual asks for the rest when it is there. */
static uint64_t usual_terms(const struct tn_recipe_model *m, const tn_sparse_request *r)
{
    uint64_t most = most_terms(m, r), usual = m->session.width < USUAL_TERMS ? m->session.width : USUAL_TERMS;
    return most && most < usual ? most : usual;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_sparse_request *r = request;
    const struct tn_prompt *prompt;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_needs needs = {.each = sizeof(struct found) + usual_terms(m, r) * (sizeof(float) + sizeof(uint32_t)),
                                  .once = sizeof(struct tn_recipe_run), .words = prompt ? prompt->name.n : 0};
    return tn_text_measure(m, &source, needs, bytes, err);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    for (size_t i = 0; run->found && i < run->base.texts.count; i++) {
        tn_free(run->base.alloc, run->found[i].indices);
        tn_free(run->base.alloc, run->found[i].values);
    }
    tn_free(run->base.alloc, run->found);
    tn_text_release(run);
}

static const struct tn_text_hooks hooks;

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    const tn_sparse_request *r = request;
    const struct tn_prompt *prompt;
    struct tn_recipe_run *run;
    *out = NULL;
    enum tn_status st = check(m, r, &prompt, err);
    if (st) return st;
    struct tn_text_source source = source_of(r, prompt);
    struct tn_text_choices choices = TN_TEXT_CHOICES(r, r->role);
    st = tn_text_begin(m, &source, &choices, &hooks, sizeof(*run), alloc, &run, err);
    if (st) return st;
    run->width = m->session.width;
    run->most = most_terms(m, r);
    run->found = tn_calloc(alloc, r->count, sizeof(*run->found));
    if (r->max_active) tn_stated_request_u64(&run->base.stated, "max_active", r->max_active);
    return tn_text_begun(run, run->found != NULL, release, out, err);
}

/* ---- results ------------------------------------------------------------------------------------------------------------ */

static enum tn_status take(struct tn_recipe_run *run, size_t i, float *result, uint32_t rows, size_t width, struct tn_step *step)
{
    struct found *f = &run->found[i];
    (void)rows;
    (void)step;
    if (!tn_scores_finite(result, width)) return TN_NUMERICAL_FAILURE;
    size_t count = tn_sparse_count(result, width, run->most);
    f->indices = tn_malloc(run->base.alloc, count * sizeof(*f->indices));
    f->values = tn_malloc(run->base.alloc, count * sizeof(*f->values));
    if (!f->indices || !f->values) return TN_INSUFFICIENT_MEMORY;
    f->count = tn_sparse_terms(result, width, run->most, f->indices, f->values);
    return TN_OK;
}

static const struct tn_text_hooks hooks = {.take = take};

static void event(const struct tn_recipe_run *run, size_t i, tn_event *out, struct tn_error *err)
{
    const struct found *f = &run->found[i];
    if (!tn_text_items_event(&run->base.texts, i, out, err)) return;
    out->dimensions = run->width;
    out->active = f->count;
    out->indices = f->indices;
    out->values = f->values;
}

static uint64_t dimensions(const struct tn_recipe_run *run)
{
    return run->width;
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

static void write_result(const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_jw_member_u64(w, "dimensions", run->width);
    tn_jw_key(w, "role");
    tn_jw_raw(w, tn_stated_value(&run->base.stated, "role"));
}

static void write_item(const struct tn_recipe_run *run, size_t i, struct tn_json_writer *w)
{
    const struct found *f = &run->found[i];
    tn_jw_key(w, "indices");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < f->count; k++) tn_jw_u64(w, f->indices[k]);
    tn_jw_end_array(w);
    tn_jw_key(w, "values");
    tn_jw_f32s(w, f->values, f->count);
    tn_jw_member_u64(w, "active", f->count);
    tn_text_write_tokens(w, run, i);
}

const struct tn_recipe tn_recipe_embedding_sparse = {
    .name = "embedding.sparse",
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
