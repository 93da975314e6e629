/*
 * The load transaction. Stages in order: files unchanged since the inventory, memory admitted against both budgets,
 * tokenizer, weights, recipe, probe, files still unchanged, driver thread; only then is the session handed out. Between
 * stages, and inside the provider, a cancel or a deadline is noticed. Whatever fails releases all that came before.
 *
 * The lease is an allocator inside the runtime's: everything that belongs to the session, executions included, comes
 * from it, so that one number says what the session holds and one limit binds it.
 */
#include "session/session.h"

#include "base/checked.h"
#include "base/json_write.h"
#include "base/os.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the lease --------------------------------------------------------------------------------------------------- */

static void *lease_allocate(void *host, size_t size)
{
    return tn_malloc(host, size);
}

static void lease_release(void *host, void *p)
{
    tn_free(host, p);
}

static void open_lease(struct tn_session *s, uint64_t limit)
{
    tn_alloc_init(&s->lease);
    s->lease.allocate = lease_allocate;
    s->lease.release = lease_release;
    s->lease.context = s->host;
    if (limit) s->lease.budget = limit;
}

/*
 * Refused before anything is read: the estimate against what either budget still allows. Without a budget the machine's
 * memory is one: a system that promises more than it has would end the process later.
 */
static enum tn_status admit(const struct tn_session *s, struct tn_error *err)
{
    const struct tn_survey_row *row = s->plan->row;
    uint64_t used = tn_alloc_current(s->host), host = s->host->budget, machine = tn_os_memory_total();
    if (machine > 0 && machine < host) host = machine;
    uint64_t available = used < host ? host - used : 0, limit = host;
    if (s->lease.budget < available) available = s->lease.budget;
    if (s->lease.budget < limit) limit = s->lease.budget;
    if (row->memory.peak <= available) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INSUFFICIENT_MEMORY, TN_PHASE_LOAD,
                                        "the session needs more memory than it may take");
    tn_at_option(f, tn_plan_option_name(TN_OPTION_MEMORY_LIMIT));
    tn_found(f, "needed %llu bytes (within %.0f %%), limit %llu, available %llu", (unsigned long long)row->memory.peak,
             row->memory.uncertainty * 100, (unsigned long long)limit, (unsigned long long)available);
    tn_remedy(f, "raise the memory limit, free other sessions, or use fewer threads");
    if (err) err->retryable = row->memory.peak <= limit;
    return TN_INSUFFICIENT_MEMORY;
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

static bool decides_answers(const struct tn_inventory *inv, const struct tn_variant *v, uint32_t i)
{
    enum tn_file_role role = inv->files[i].role;
    if (role == TN_ROLE_CONFIG || role == TN_ROLE_TOKENIZER || role == TN_ROLE_SAFETENSORS_INDEX || role == TN_ROLE_METADATA) {
        return true;
    }
    for (uint32_t k = 0; v && k < v->file_count; k++) {
        if (v->files[k] == i) return true;
    }
    for (uint32_t p = 0; p < inv->part_count; p++) { /* weights of single modules */
        for (uint32_t k = 0; k < inv->parts[p].file_count; k++) {
            if (inv->parts[p].files[k] == i) return true;
        }
    }
    return false;
}

/* Every file that the plan rests on is still the one of the inventory. */
static enum tn_status check_files(const struct tn_session *s, struct tn_error *err)
{
    const struct tn_description *d = s->plan->survey.planner->d;
    for (uint32_t i = 0; i < d->inv->file_count; i++) {
        struct tn_os_file file;
        if (!decides_answers(d->inv, d->variant, i)) continue;
        enum tn_status st = tn_inventory_open_file(d->inv, &d->inv->files[i], &file, err);
        if (st) return st;
        tn_os_close(&file);
    }
    return TN_OK;
}

/* ---- parts --------------------------------------------------------------------------------------------------------- */

static enum tn_status make_batch(struct tn_session *s, struct tn_error *err)
{
    struct tn_batch *b = &s->batch;
    size_t rows = (size_t)s->request.batch_rows, sequences = (size_t)s->request.batch_sequences, floats;
    size_t picks = (size_t)s->request.batch_picks, results = picks ? picks : s->plan->row->assessment.output_by_row ? rows : sequences;
    b->width = (size_t)s->plan->row->assessment.output_width;
    b->by_row = s->plan->row->assessment.output_by_row;
    b->max_rows = (uint32_t)rows;
    b->max_sequences = (uint32_t)sequences;
    b->max_picks = (uint32_t)picks;
    s->error = tn_calloc(&s->lease, 1, sizeof(*s->error));
    if (!s->error) goto no_memory;
    s->queue_items = TN_EVENT_QUEUE;
    if (!s->request.component) { /* its calls carry their own tensors */
        b->offsets = tn_calloc(&s->lease, 1, sizeof(*b->offsets));
        if (b->offsets) return TN_OK;
        goto no_memory;
    }
    s->queue_items = 2 * sequences > TN_EVENT_QUEUE ? 2 * sequences : TN_EVENT_QUEUE;
    if (rows > INT32_MAX || sequences > INT32_MAX || !tn_mul(results, b->width, &floats)) goto no_memory;
    b->ids = tn_calloc(&s->lease, rows, sizeof(*b->ids));
    b->type_ids = tn_calloc(&s->lease, rows, sizeof(*b->type_ids));
    b->offsets = tn_calloc(&s->lease, sequences + 1, sizeof(*b->offsets));
    b->spans = tn_calloc(&s->lease, sequences, sizeof(*b->spans));
    b->items = tn_calloc(&s->lease, sequences, sizeof(*b->items));
    b->status = tn_calloc(&s->lease, sequences, sizeof(*b->status));
    b->out = tn_calloc(&s->lease, floats, sizeof(*b->out));
    if (picks) b->picks = tn_calloc(&s->lease, picks, sizeof(*b->picks));
    if (picks) b->pick_offsets = tn_calloc(&s->lease, sequences + 1, sizeof(*b->pick_offsets));
    if (picks && (!b->picks || !b->pick_offsets)) goto no_memory;
    s->cancels = tn_calloc(&s->lease, sequences, sizeof(*s->cancels));
    if (b->ids && b->type_ids && b->offsets && b->spans && b->items && b->status && b->out && s->cancels) return TN_OK;
no_memory:
    return tn_error_memory(err, TN_PHASE_LOAD, "preparing the batch");
}

static void free_batch(struct tn_session *s)
{
    struct tn_batch *b = &s->batch;
    tn_free(&s->lease, b->ids);
    tn_free(&s->lease, b->type_ids);
    tn_free(&s->lease, b->offsets);
    tn_free(&s->lease, b->spans);
    tn_free(&s->lease, b->items);
    tn_free(&s->lease, b->status);
    tn_free(&s->lease, b->out);
    tn_free(&s->lease, b->picks);
    tn_free(&s->lease, b->pick_offsets);
    tn_free(&s->lease, s->cancels);
    tn_free(&s->lease, s->error);
    *b = (struct tn_batch){0};
    s->cancels = NULL;
    s->error = NULL;
}

static enum tn_status load_tokenizer(struct tn_session *s, struct tn_error *err)
{
    struct tn_sha256 h;
    if (!s->request.component) return TN_OK; /* tensors are no texts */
    enum tn_status st = tn_tokenizer_build(&s->ctx, s->plan->survey.planner->d, &s->tokenizer, err);
    if (st) return st;
    tn_sha256_init(&h);
    tn_text_fingerprint(s->tokenizer, &h);
    s->tokenizer_id = tn_sha256_finish(&h);
    return TN_OK;
}

/* "This device only" is held against where the parts really are; the CPU may help where the plan lets it. */
static enum tn_status check_placement(struct tn_session *s, struct tn_error *err)
{
    const struct tn_partition *parts = NULL;
    const struct tn_hint_device *asked = &s->request.device;
    size_t count = s->provider->partitions ? s->provider->partitions(s->instance, &parts) : 0;
    for (size_t i = 0; i < count; i++) {
        bool there = tn_hint_device_among(asked, &parts[i].device, 1);
        if (there || (s->request.split && parts[i].device.type == TN_DEVICE_CPU)) continue;
        char text[32];
        struct tn_finding *f = tn_error_set(err, TN_PLACEMENT_REFUSED, TN_PHASE_LOAD, "a part of the component runs on another device than is asked for");
        tn_at_option(f, tn_plan_option_name(TN_OPTION_DEVICE));
        tn_found(f, "%llu nodes on %s by %.*s", (unsigned long long)parts[i].nodes, tn_hint_device_text(&parts[i].device, text, sizeof(text)),
                 TN_FMT_ARG(parts[i].by));
        tn_expected(f, "%s", s->plan->survey.policy.device);
        tn_remedy(f, "let parts run on the CPU with --placement split, or ask for another device");
        s->unable = true;
        return TN_PLACEMENT_REFUSED;
    }
    return TN_OK;
}

/* The same for accounts. */
static enum tn_status note_placement(struct tn_session *s, struct tn_error *err)
{
    const struct tn_partition *parts = NULL;
    size_t count = s->provider->partitions ? s->provider->partitions(s->instance, &parts) : 0;
    struct tn_json_writer w;
    char text[32];
    if (count == 0) return TN_OK;
    tn_jw_init(&w, &s->partitions, false);
    tn_jw_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        tn_jw_begin_object(&w);
        tn_jw_member_cstr(&w, "device", tn_hint_device_text(&parts[i].device, text, sizeof(text)));
        tn_jw_member_str(&w, "by", parts[i].by);
        tn_jw_member_u64(&w, "nodes", parts[i].nodes);
        tn_jw_end_object(&w);
    }
    tn_jw_end_array(&w);
    return tn_buf_status(&s->partitions) ? tn_error_memory(err, TN_PHASE_LOAD, "noting where the component runs") : TN_OK;
}

static enum tn_status load_component(struct tn_session *s, const struct tn_load_request *request, struct tn_error *err)
{
    struct tn_load_env env = {&s->ctx, request->pool, request->cancel, request->progress, request->progress_user};
    enum tn_status st = s->provider->load(&s->plan->row->assessment, &s->request, &env, &s->instance, err);
    s->unable = st && tn_status_is_inability(st);
    if (!st) st = check_placement(s, err);
    if (!st) st = note_placement(s, err);
    if (st) return st;
    s->weights = s->provider->weights(s->instance);
    return tn_plan_confirm(s->plan, &s->weights, &s->level, err);
}

static enum tn_status load_recipe(struct tn_session *s, struct tn_error *err)
{
    const struct tn_plan *plan = s->plan;
    struct tn_recipe_env env = {&s->ctx, plan->survey.planner->d, &plan->survey.route, s->tokenizer,
                                plan->row->assessment.output_width, s->request.batch_picks,
                                !tn_str_is(plan->row->record_route.compute, "f32")};
    struct tn_sha256 h;
    enum tn_status st = plan->task->recipe->prepare(&env, &s->model, err);
    if (st) return st;
    tn_sha256_init(&h);
    tn_sha256_update(&h, s->weights.bytes, sizeof(s->weights.bytes));
    tn_sha256_update(&h, s->tokenizer_id.bytes, sizeof(s->tokenizer_id.bytes));
    if (plan->task->recipe->space) plan->task->recipe->space(s->model, &h);
    s->space = tn_sha256_finish(&h);
    return TN_OK;
}

/* ---- probe ----------------------------------------------------------------------------------------------------------- */

static enum tn_status probe_failed(const struct tn_session *s, struct tn_error *err, enum tn_status st, const char *what)
{
    const struct tn_component *c = s->plan->survey.route.component;
    struct tn_finding *f = tn_error_set(err, st, TN_PHASE_LOAD, "the probe of the loaded component \"%.*s\" failed: %s",
                                        TN_FMT_ARG(c ? c->name : TN_STR("graph")), what);
    tn_remedy(f, "the session was not published; report this with the plan's id");
    return st;
}

static enum tn_status probe_once(struct tn_session *s, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_batch *b = &s->batch;
    struct tn_invocation call = {.ids = b->ids, .type_ids = b->type_ids, .offsets = b->offsets, .spans = b->spans,
                                 .picks = b->max_picks ? b->picks : NULL, .pick_offsets = b->pick_offsets,
                                 .sequences = b->sequences, .cancel = s->cancels, .out = b->out, .status = b->status};
    s->cancels[0] = cancel;
    b->status[0] = TN_ITEM_DONE;
    enum tn_status st = s->provider->invoke(s->instance, &call, err);
    if (!st) st = tn_cancel_fail(cancel, TN_PHASE_LOAD, err);
    if (!st && b->status[0] == TN_ITEM_STOPPED) st = probe_failed(s, err, TN_RUNTIME_FAILURE, "it stopped without being asked to");
    if (!st && b->status[0] == TN_ITEM_NOT_FINITE) st = probe_failed(s, err, TN_NUMERICAL_FAILURE, "the result is not finite");
    return st;
}

/* One letter through everything: a finite vector, of its width and no wider, and the same bits when asked again. */
static enum tn_status probe(struct tn_session *s, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_batch *b = &s->batch;
    const float guard = -12345.5f;
    if (!s->plan->task->recipe->probe) return TN_OK;
    tn_batch_clear(b);
    enum tn_status st = s->plan->task->recipe->probe(s->model, b, &s->scratch, err);
    if (st) return st;
    uint32_t rows, most = b->max_picks ? b->max_picks : b->by_row ? b->max_rows : b->max_sequences;
    (void)tn_batch_result(b, 0, &rows); /* the probe is one sequence */
    size_t width = b->width * rows;
    bool guarded = most > rows;
    if (guarded) b->out[width] = guard;
    st = probe_once(s, cancel, err);
    if (st) return st;
    for (size_t i = 0; i < width; i++) {
        if (!isfinite(b->out[i])) return probe_failed(s, err, TN_NUMERICAL_FAILURE, "the result is not finite");
    }
    if (guarded && b->out[width] != guard) return probe_failed(s, err, TN_RUNTIME_FAILURE, "the result is wider than planned");
    float *first = tn_malloc(&s->lease, width * sizeof(*first));
    if (!first) return tn_error_memory(err, TN_PHASE_LOAD, "probing the component");
    memcpy(first, b->out, width * sizeof(*first));
    st = probe_once(s, cancel, err);
    if (!st && memcmp(first, b->out, width * sizeof(*first)) != 0) {
        st = probe_failed(s, err, TN_NUMERICAL_FAILURE, "the same input gave other bits");
    }
    tn_free(&s->lease, first);
    return st;
}

/* ---- the transaction --------------------------------------------------------------------------------------------------- */

void tn_session_unload(struct tn_session *s)
{
    if (s->model) s->plan->task->recipe->discard(s->model);
    if (s->instance) s->provider->release(s->instance);
    tn_text_encoding_release(&s->scratch.encoding);
    tn_text_tokenizer_free(s->tokenizer);
    free_batch(s);
    s->model = NULL;
    s->instance = NULL;
    s->tokenizer = NULL;
}

static void destroy(struct tn_session *s)
{
    struct tn_alloc *host = s->host;
    struct tn_plan *plan = s->plan;
    if (s->have_driver) tn_thread_join(&s->driver);
    if (s->have_wake) tn_cond_release(&s->wake);
    if (s->have_lock) tn_mutex_release(&s->lock);
    tn_buf_release(&s->partitions);
    tn_free(host, s);
    tn_plan_drop(plan);
}

static enum tn_status start_driver(struct tn_session *s, struct tn_error *err)
{
    s->have_driver = tn_thread_start(&s->driver, tn_scheduler_thread, s);
    return s->have_driver ? TN_OK : tn_error_memory(err, TN_PHASE_LOAD, "starting the session's thread");
}

static enum tn_status init(struct tn_session *s, struct tn_plan *plan, const struct tn_load_request *request)
{
    const struct tn_planner *planner = plan->survey.planner;
    tn_ref_init(&s->ref);
    tn_ref_take(&plan->ref);
    s->plan = plan;
    s->pool = request->pool;
    s->host = planner->ctx->alloc;
    s->provider = plan->row->entry->provider;
    open_lease(s, plan->survey.policy.memory_limit);
    s->ctx = *planner->ctx;
    s->ctx.alloc = &s->lease;
    s->request = plan->row->request;
    s->request.ctx = &s->ctx;
    tn_text_encoding_init(&s->scratch.encoding, &s->lease);
    tn_buf_init(&s->partitions, s->host, 1 << 20);
    s->have_lock = tn_mutex_init(&s->lock);
    s->have_wake = s->have_lock && tn_cond_init(&s->wake);
    return s->have_wake ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

static size_t add_part(char *text, size_t n, size_t cap, const char *lead, const char *part)
{
    if (!part[0]) return n;
    int added = snprintf(text + n, cap - n, "%s%s", lead, part);
    return added < 0 ? n : (size_t)added < cap - n ? n + (size_t)added : cap - 1;
}

/* "MESSAGE (FILE ELEMENT; found X; expected Y)", of which only the message is always there. */
static void say_warning(const struct tn_session *s, const struct tn_finding *f)
{
    char place[sizeof(f->file) + sizeof(f->element) + sizeof(f->found) + sizeof(f->expected) + 32] = "";
    size_t n = add_part(place, 0, sizeof(place), "", f->file);
    n = add_part(place, n, sizeof(place), n ? " " : "", f->element);
    n = add_part(place, n, sizeof(place), n ? "; found " : "found ", f->found);
    n = add_part(place, n, sizeof(place), n ? "; expected " : "expected ", f->expected);
    tn_log(&s->ctx, TN_LOG_WARNING, "%s%s%s%s", f->message, n ? " (" : "", place, n ? ")" : "");
}

/* What planning noticed and could not decide for the caller is said once more when it takes effect. */
static void say_warnings(const struct tn_session *s)
{
    const struct tn_finding *f;
    size_t at = 0;
    while ((f = tn_plan_next_warning(s->plan, &at))) say_warning(s, f);
}

static enum tn_status run_stages(struct tn_session *s, const struct tn_load_request *request, struct tn_error *err)
{
    enum tn_status st = tn_cancel_fail(request->cancel, TN_PHASE_LOAD, err);
    if (!st) st = check_files(s, err);
    if (!st) st = admit(s, err);
    if (!st) st = load_tokenizer(s, err);
    if (!st) st = tn_cancel_fail(request->cancel, TN_PHASE_LOAD, err);
    if (!st) st = load_component(s, request, err);
    if (!st) st = tn_cancel_fail(request->cancel, TN_PHASE_LOAD, err);
    if (!st) st = load_recipe(s, err);
    if (!st) st = make_batch(s, err);
    if (!st) st = probe(s, request->cancel, err);
    if (!st) st = check_files(s, err);
    if (!st) st = tn_cancel_fail(request->cancel, TN_PHASE_LOAD, err);
    if (!st) st = start_driver(s, err);
    return st;
}

/* *unable: it failed because the provider cannot run this, and for no other reason. */
static enum tn_status open_one(struct tn_plan *plan, const struct tn_load_request *request, struct tn_session **out, bool *unable,
                               struct tn_error *err)
{
    *out = NULL;
    *unable = false;
    struct tn_session *s = tn_calloc(plan->survey.planner->ctx->alloc, 1, sizeof(*s));
    if (!s) return tn_error_memory(err, TN_PHASE_LOAD, "opening the session");
    enum tn_status st = init(s, plan, request);
    if (st) tn_error_memory(err, TN_PHASE_LOAD, "opening the session");
    if (!st) st = run_stages(s, request, err);
    if (st) {
        if (err) {
            err->primary.phase = TN_PHASE_LOAD; /* whoever noticed it: it was the load that failed */
            memcpy(err->plan_id, plan->id, sizeof(plan->id));
        }
        *unable = s->unable;
        tn_session_unload(s);
        destroy(s);
        return st;
    }
    say_warnings(s);
    tn_log(&s->ctx, TN_LOG_INFO, "plan %.16s loaded: %llu bytes held", plan->id,
           (unsigned long long)tn_alloc_current(&s->lease));
    if (s->ctx.counters) s->ctx.counters->loads++;
    *out = s;
    return TN_OK;
}

/* ---- falling back --------------------------------------------------------------------------------------------------- */

/*
 * Every provider that failed has given back all it had before the next one begins; the caller sees one load that succeeded or
 * failed. The plan that was loaded says who failed and why.
 */
static enum tn_status next_plan(struct tn_plan **plan, const struct tn_error *failure, enum tn_status failed, struct tn_error *err)
{
    struct tn_plan *next = NULL;
    const struct tn_context *ctx = (*plan)->survey.planner->ctx;
    enum tn_status st = tn_plan_next(*plan, &failure->primary, &next, err);
    if (st || !next) return st ? st : failed;
    tn_log(ctx, TN_LOG_WARNING, "provider %s cannot load plan %.16s (%s); provider %s is tried", (*plan)->row->entry->name, (*plan)->id,
           failure->primary.message, next->row->entry->name);
    if (ctx->counters) ctx->counters->fallbacks_at_load++;
    tn_plan_drop(*plan);
    *plan = next;
    return TN_OK;
}

/* Another provider is listed, and this failure is none that it may be tried after. */
static void note_denied(const struct tn_plan *plan, enum tn_status st)
{
    struct tn_counters *counters = plan->survey.planner->ctx->counters;
    if (counters && st != TN_CANCELLED && st != TN_DEADLINE_EXCEEDED && tn_plan_has_next(plan)) counters->fallbacks_denied++;
}

/* What earlier providers said stands behind the last word. */
static void add_failures(struct tn_error *err, const struct tn_plan *plan)
{
    for (uint32_t i = 0; err && i < plan->made_of->failed_count && err->count < TN_ERROR_FINDINGS; i++)
        err->findings[err->count++] = plan->made_of->failed[i].why;
}

static enum tn_status try_all(struct tn_plan **plan, const struct tn_load_request *request, struct tn_session **out,
                              struct tn_error *failure, struct tn_error *err)
{
    for (;;) {
        bool unable;
        tn_error_clear(failure);
        enum tn_status st = open_one(*plan, request, out, &unable, failure);
        if (st && unable) st = next_plan(plan, failure, st, err);
        else if (st) note_denied(*plan, st);
        if (*out || st) {
            if (st && err && !err->primary.code) *err = *failure;
            if (st) add_failures(err, *plan);
            return st;
        }
    }
}

enum tn_status tn_session_open(struct tn_plan *plan, const struct tn_load_request *request, struct tn_session **out,
                               struct tn_error *err)
{
    struct tn_alloc *alloc = plan->survey.planner->ctx->alloc;
    bool unable;
    if (!plan->survey.policy.falls_at_load) return open_one(plan, request, out, &unable, err);
    *out = NULL;
    struct tn_error *failure = tn_calloc(alloc, 1, sizeof(*failure));
    if (!failure) return tn_error_memory(err, TN_PHASE_LOAD, "opening the session");
    tn_error_clear(err);
    tn_ref_take(&plan->ref);
    enum tn_status st = try_all(&plan, request, out, failure, err);
    tn_plan_drop(plan);
    tn_free(alloc, failure);
    return st;
}

void tn_session_close(struct tn_session *s)
{
    tn_mutex_lock(&s->lock);
    s->handle_gone = true;
    tn_scheduler_leave(s);
    tn_session_drop(s);
}

void tn_session_drop(struct tn_session *s)
{
    if (tn_ref_drop(&s->ref)) destroy(s);
}
