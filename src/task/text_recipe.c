/* The beginnings and ends of recipes over texts; see the header. Memory was admitted by whoever called measure. */
#include "task/text_recipe.h"

#include "base/checked.h"

/* The first members of what a recipe has. */
static struct tn_text_session *session_of(struct tn_recipe_model *m)
{
    return (struct tn_text_session *)(void *)m;
}

static const struct tn_text_session *session_in(const struct tn_recipe_model *m)
{
    return (const struct tn_text_session *)(const void *)m;
}

static struct tn_text_run *base_of(struct tn_recipe_run *run)
{
    return (struct tn_text_run *)(void *)run;
}

static const struct tn_text_run *base_in(const struct tn_recipe_run *run)
{
    return (const struct tn_text_run *)(const void *)run;
}

/* ---- per session ---------------------------------------------------------------------------------------------------- */

enum tn_status tn_text_prepare(const struct tn_recipe_env *env, size_t size, tn_options_of *options, struct tn_recipe_model **out,
                               struct tn_error *err)
{
    struct tn_recipe_model *m = tn_calloc(env->ctx->alloc, 1, size);
    *out = NULL;
    if (!m) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    struct tn_text_session *s = session_of(m);
    s->text = tn_text_model_of(env);
    s->d = env->d;
    s->head = env->route->head;
    s->width = (size_t)env->output_width;
    enum tn_status st = tn_stated_begin(&s->stated, env, options, err);
    if (st) {
        tn_text_discard(m);
        return st;
    }
    *out = m;
    return TN_OK;
}

void tn_text_discard(struct tn_recipe_model *m)
{
    if (!m) return;
    tn_stated_release(&session_of(m)->stated);
    tn_free(session_of(m)->text.alloc, m);
}

enum tn_status tn_text_probe_one(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                                 struct tn_error *err)
{
    return tn_text_probe(&session_in(m)->text, false, batch, scratch, err);
}

enum tn_status tn_text_probe_pair(const struct tn_recipe_model *m, struct tn_batch *batch, struct tn_recipe_scratch *scratch,
                                  struct tn_error *err)
{
    return tn_text_probe(&session_in(m)->text, true, batch, scratch, err);
}

/* ---- per request ------------------------------------------------------------------------------------------------------ */

enum tn_status tn_text_measure(const struct tn_recipe_model *m, const struct tn_text_source *source, struct tn_text_needs needs,
                               uint64_t *bytes, struct tn_error *err)
{
    const struct tn_text_session *s = session_in(m);
    uint64_t all;
    enum tn_status st = tn_text_items_measure(&s->text, source, bytes, err);
    if (st) return st;
    bool fits = tn_mul64(needs.each, source->count, &all) && tn_add64(all, needs.once, &all) && tn_add64(all, *bytes, &all) &&
                tn_add64(all, tn_stated_bytes(&s->stated, needs.words), bytes);
    return fits ? TN_OK : tn_request_refuse_limit(err, source->option, "items", source->count, s->text.ctx->limits.items);
}

enum tn_status tn_text_begin(const struct tn_recipe_model *m, const struct tn_text_source *source, const struct tn_text_choices *choices,
                             const struct tn_text_hooks *hooks, size_t size, struct tn_alloc *alloc, struct tn_recipe_run **out,
                             struct tn_error *err)
{
    struct tn_recipe_run *run = tn_calloc(alloc, 1, size);
    *out = NULL;
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    struct tn_text_run *base = base_of(run);
    base->model = m;
    base->alloc = alloc;
    enum tn_status st = tn_text_items_start(&base->texts, &session_in(m)->text, source, alloc, err);
    base->texts.hooks = hooks;
    base->texts.run = run;
    tn_stated_over(&base->stated, &session_in(m)->stated, alloc);
    tn_text_choices_apply(choices, &base->texts);
    tn_text_choices_state(choices, &base->stated);
    if (st) {
        tn_text_release(run);
        return st;
    }
    *out = run;
    return TN_OK;
}

enum tn_status tn_text_begun(struct tn_recipe_run *run, bool kept, void (*release)(struct tn_recipe_run *run),
                             struct tn_recipe_run **out, struct tn_error *err)
{
    *out = NULL;
    if (!kept || base_of(run)->stated.no_memory) {
        release(run);
        return tn_error_memory(err, TN_PHASE_REQUEST, "keeping the texts and results of the request");
    }
    *out = run;
    return TN_OK;
}

enum tn_status tn_text_advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    return tn_text_items_advance(&base_of(run)->texts, step, err);
}

void tn_text_finish(struct tn_recipe_run *run)
{
    tn_text_items_finish(&base_of(run)->texts);
    base_of(run)->model = NULL;
}

void tn_text_release(struct tn_recipe_run *run)
{
    if (!run) return;
    tn_text_items_release(&base_of(run)->texts);
    tn_stated_release(&base_of(run)->stated);
    tn_free(base_of(run)->alloc, run);
}

struct tn_run_counts tn_text_counts(const struct tn_recipe_run *run)
{
    return base_in(run)->texts.counts;
}

void tn_text_account(const struct tn_recipe *recipe, const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    tn_stated_write(&base_in(run)->stated, w);
    tn_jw_key(w, "result");
    tn_jw_begin_object(w);
    recipe->write_result(run, w);
    tn_jw_end_object(w);
}

/* ---- documents ----------------------------------------------------------------------------------------------------------- */

void tn_text_write_part(struct tn_json_writer *w, size_t begin_char, size_t end_char, size_t begin, size_t end)
{
    tn_jw_member_u64(w, "start", begin_char);
    tn_jw_member_u64(w, "end", end_char);
    tn_jw_key(w, "bytes");
    tn_jw_begin_array(w);
    tn_jw_u64(w, begin);
    tn_jw_u64(w, end);
    tn_jw_end_array(w);
}

void tn_text_write_tokens(struct tn_json_writer *w, const struct tn_recipe_run *run, size_t item)
{
    const struct tn_text_item *i = &base_in(run)->texts.items[item];
    tn_jw_member_u64(w, "tokens", i->tokens);
    if (i->truncated) tn_jw_member_u64(w, "tokens_total", i->detail);
    tn_jw_member_bool(w, "truncated", i->truncated);
}
