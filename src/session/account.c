/* The account of an execution: what ran, with which identities, versions and options, and what it took. */
#include "base/json_write.h"
#include "session/session.h"

static void write_digest(struct tn_json_writer *w, const char *key, const struct tn_digest *digest)
{
    char hex[TN_SHA256_HEX];
    tn_jw_member_cstr(w, key, tn_digest_hex(digest, hex));
}

/* Vectors of one session and one length share a space; role, numeric policy and normalisation stand beside it. */
static struct tn_digest space_of(const struct tn_execution *x)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update(&h, x->session->space.bytes, sizeof(x->session->space.bytes));
    if (x->recipe->dimensions) tn_sha256_update_u64(&h, x->recipe->dimensions(x->run));
    return tn_sha256_finish(&h);
}

static void write_identity(const struct tn_execution *x, const struct tn_digest *closure, struct tn_json_writer *w)
{
    struct tn_digest space = space_of(x);
    tn_jw_key(w, "identity");
    tn_jw_begin_object(w);
    write_digest(w, "manifest", &x->plan->survey.planner->d->inv->manifest);
    write_digest(w, "weights", &x->session->weights);
    if (x->plan->survey.route.graph) tn_jw_member_null(w, "tokenizer");
    else write_digest(w, "tokenizer", &x->session->tokenizer_id);
    if (closure) {
        write_digest(w, "closure", closure);
    } else {
        tn_jw_member_null(w, "closure");
    }
    tn_jw_member_cstr(w, "plan", x->plan->id);
    if (x->recipe->space) write_digest(w, "space", &space);
    else tn_jw_member_null(w, "space");
    tn_jw_end_object(w);
}

/* Where the parts of the component are, by the provider's word as it was when the session was loaded. */
static void write_placement(const struct tn_execution *x, struct tn_json_writer *w)
{
    const struct tn_policy *p = &x->plan->survey.policy;
    tn_jw_key(w, "placement");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "device", p->device);
    tn_jw_member_cstr(w, "policy", p->placement);
    tn_jw_key(w, "partitions");
    if (x->session->partitions.len) tn_jw_raw(w, tn_buf_str(&x->session->partitions));
    else tn_jw_null(w);
    tn_jw_end_object(w);
}

static void write_versions(const struct tn_execution *x, struct tn_json_writer *w)
{
    const struct tn_survey_row *row = x->plan->row;
    const struct tn_recipe *recipe = x->recipe;
    tn_jw_member_cstr(w, "task", x->plan->task->name);
    tn_jw_member_cstr(w, "contract", x->plan->task->contract);
    tn_jw_key(w, "recipe");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", recipe->name);
    tn_jw_member_cstr(w, "version", recipe->version);
    tn_jw_end_object(w);
    tn_jw_key(w, "provider");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "name", row->entry->provider->name);
    tn_jw_member_cstr(w, "version", row->entry->provider->version);
    tn_jw_member_str(w, "isa_class", row->record_route.isa_class);
    tn_jw_member_u64(w, "fallbacks", x->plan->skipped);
    tn_plan_write_skipped(w, x->plan);
    tn_jw_end_object(w);
    write_placement(x, w);
    tn_jw_key(w, "family");
    const struct tn_component *component = row->request.graph ? NULL : row->request.component; /* a graph computes by itself */
    const struct tn_family *family = component ? tn_family_of(component) : NULL;
    if (family) {
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "name", family->name);
        tn_jw_member_cstr(w, "version", family->version);
        tn_jw_end_object(w);
    } else {
        tn_jw_null(w);
    }
    tn_jw_member_cstr(w, "build", tn_version());
}

static void write_numeric(const struct tn_execution *x, struct tn_json_writer *w)
{
    const struct tn_record_route *r = &x->plan->row->record_route;
    tn_jw_key(w, "numeric");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "stored", r->stored);
    tn_jw_member_str(w, "compute", r->compute);
    tn_jw_member_str(w, "accumulate", r->accumulate);
    tn_jw_member_str(w, "kv", r->kv);
    tn_jw_end_object(w);
}

static void write_counts(const struct tn_execution *x, struct tn_json_writer *w)
{
    struct tn_run_counts c = x->recipe->counts(x->run);
    tn_jw_key(w, "counts");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "items", c.items);
    tn_jw_member_u64(w, "failed", c.failed);
    tn_jw_member_u64(w, "truncated", c.truncated);
    tn_jw_member_u64(w, "sequences", c.sequences);
    tn_jw_member_u64(w, "tokens", c.tokens);
    tn_jw_member_u64(w, "steps", x->steps);
    tn_jw_end_object(w);
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void write_times(const struct tn_execution *x, struct tn_json_writer *w)
{
    tn_jw_key(w, "timings_ms");
    tn_jw_begin_object(w);
    tn_jw_member_f64(w, "total", ms(x->end_ns - x->start_ns));
    tn_jw_member_f64(w, "queue", x->first_ns ? ms(x->first_ns - x->start_ns) : ms(x->end_ns - x->start_ns));
    tn_jw_member_f64(w, "tokenize", ms(x->prepare_ns));
    tn_jw_member_f64(w, "compute", ms(x->invoke_ns));
    tn_jw_end_object(w);
}

/* The plan's choices; those of the request follow as "options", from the recipe. */
static void write_plan_choices(const struct tn_execution *x, struct tn_json_writer *w)
{
    const struct tn_description *d = x->plan->survey.planner->d;
    tn_jw_key(w, "plan");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "id", x->plan->id);
    tn_policy_write(w, &x->plan->survey.policy);
    tn_jw_key(w, "descriptive");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < d->descriptive_count; i++) tn_jw_str(w, d->descriptive[i]);
    tn_jw_end_array(w);
    if (d->loss_count > 0) tn_description_write_losses(w, d);
    tn_jw_end_object(w);
}

/* What the package says twice and differently, and which word counted. */
static void write_warnings(const struct tn_execution *x, struct tn_json_writer *w)
{
    const struct tn_finding *f;
    size_t at = 0;
    tn_jw_key(w, "warnings");
    tn_jw_begin_array(w);
    while ((f = tn_plan_next_warning(x->plan, &at))) tn_finding_write(w, f);
    tn_jw_end_array(w);
}

/* Results and account stand still once the work has stopped. */
static enum tn_status check_finished(struct tn_execution *x, struct tn_error *err)
{
    tn_mutex_lock(&x->session->lock);
    bool finished = x->finished;
    tn_mutex_unlock(&x->session->lock);
    if (finished) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_BUSY, TN_PHASE_EXECUTE, "the work of this execution has not stopped yet");
    tn_remedy(f, "pull events up to the terminal one, then drain");
    return TN_BUSY;
}

/* One item of the result document; `scratch` takes the words of a failure. */
static void write_item(struct tn_execution *x, size_t k, struct tn_error *scratch, struct tn_json_writer *w)
{
    tn_event e;
    tn_error_clear(scratch);
    x->recipe->event(x->run, k, &e, scratch);
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "index", e.index);
    if (x->ids && e.index < x->id_count && x->ids[e.index].s) {
        tn_jw_key(w, "id");
        tn_jw_raw(w, x->ids[e.index]);
    }
    if (e.status) {
        tn_jw_key(w, "error");
        tn_error_write(w, scratch);
    } else {
        x->recipe->write_item(x->run, k, w);
    }
    tn_jw_end_object(w);
}

enum tn_status tn_execution_result_write(struct tn_execution *x, const struct tn_digest *closure, struct tn_json_writer *w,
                                         struct tn_error *err)
{
    struct tn_alloc *alloc = x->plan->survey.planner->ctx->alloc;
    enum tn_status st = check_finished(x, err);
    struct tn_error *scratch = st ? NULL : tn_calloc(alloc, 1, sizeof(*scratch));
    if (st) return st;
    if (!scratch) return tn_error_memory(err, TN_PHASE_EXECUTE, "writing the result");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "task", x->plan->task->name);
    tn_jw_member_cstr(w, "contract", x->plan->task->contract);
    if (x->recipe->write_result) x->recipe->write_result(x->run, w);
    tn_jw_key(w, "data");
    tn_jw_begin_array(w);
    for (size_t k = 0; k < x->ready; k++) write_item(x, k, scratch, w);
    tn_jw_end_array(w);
    tn_jw_key(w, "account");
    st = tn_execution_account_write(x, closure, w, err);
    tn_jw_end_object(w);
    tn_free(alloc, scratch);
    return st;
}

enum tn_status tn_execution_account_write(struct tn_execution *x, const struct tn_digest *closure,
                                          struct tn_json_writer *w, struct tn_error *err)
{
    enum tn_status st = check_finished(x, err);
    if (st) return st;
    tn_jw_begin_object(w);
    write_versions(x, w);
    tn_jw_member_cstr(w, "outcome", x->outcome ? tn_status_name(x->outcome) : "completed");
    bool asserted = x->plan->row->asserted;
    tn_jw_member_cstr(w, "evidence_level", asserted ? "unqualified" : tn_level_name(x->session->level));
    write_identity(x, closure, w);
    write_numeric(x, w);
    write_plan_choices(x, w);
    write_warnings(x, w);
    x->recipe->account(x->recipe, x->run, w);
    write_counts(x, w);
    write_times(x, w);
    tn_jw_end_object(w);
    return TN_OK;
}
