/* A comparison of two providers from its options to its document. */
#include "qualify/against.h"

#include "base/json_write.h"
#include "qualify/suite.h"

#include <string.h>

#define TN_COMPARE_SCHEMA "tenon.compare/1"

static enum tn_status plan_both(struct tn_against *a, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (unsigned i = 0; !st && i < 2; i++) st = tn_plan_new(a->env->package, &a->side[i].options, &a->side[i].plan, err);
    return st;
}

static enum tn_status answer_both(struct tn_against *a, struct tn_error *err)
{
    bool layers = a->env->options->layers != 0;
    enum tn_status st = TN_OK;
    for (unsigned i = 0; !st && i < 2; i++) {
        st = tn_cancel_fail(a->env->stop, TN_PHASE_EXECUTE, err);
        if (!st && layers) st = tn_layers_listen(a, i, err);
        if (!st) st = tn_party_answer(a, &a->side[i], err);
        if (!st && layers) st = tn_layers_heard(a, i, err);
    }
    return st;
}

enum tn_status tn_against_run(struct tn_against *a, const struct tn_against_env *env, struct tn_error *err)
{
    *a = (struct tn_against){.env = env, .alloc = env->ctx->alloc};
    tn_arena_init(&a->arena, a->alloc);
    enum tn_status st = tn_against_read_sides(a, err);
    if (!st) st = plan_both(a, err);
    if (!st) st = answer_both(a, err);
    return st ? st : tn_against_pair(a, err);
}

void tn_against_release(struct tn_against *a)
{
    tn_layers_release(a);
    for (unsigned i = 0; i < 2; i++) tn_party_release(a, &a->side[i]);
    tn_free(a->alloc, a->outputs);
    tn_arena_release(&a->arena);
}

/* ---- the document --------------------------------------------------------------------------------------------------- */

static void write_side(struct tn_json_writer *w, const struct tn_party *side)
{
    const struct tn_survey_row *row = side->plan->row;
    char hex[TN_SHA256_HEX];
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "as", side->text);
    tn_jw_member_cstr(w, "name", row->entry->name);
    tn_jw_member_cstr(w, "version", row->entry->provider->version);
    tn_jw_member_cstr(w, "plan", side->plan->id);
    tn_jw_member_str(w, "isa_class", row->record_route.isa_class);
    tn_jw_member_str(w, "stored", row->record_route.stored);
    tn_jw_member_str(w, "compute", row->record_route.compute);
    tn_jw_member_cstr(w, "device", side->plan->survey.policy.device);
    tn_jw_member_cstr(w, "weights", tn_digest_hex(&side->weights, hex));
    tn_jw_member_f64(w, "answered_ms", (double)side->answer_ns / 1e6);
    tn_jw_end_object(w);
}

static void write_shape(struct tn_json_writer *w, const char *key, const struct tn_operand *v)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < v->rank; i++) tn_jw_i64(w, v->dims[i]);
    tn_jw_end_array(w);
}

static void write_output(struct tn_json_writer *w, const struct tn_answered *o)
{
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "name", o->name);
    tn_jw_member_cstr(w, "element", tn_onnx_element_name(o->value[0].type));
    write_shape(w, "shape", &o->value[0]);
    if (o->value[0].type != o->value[1].type) tn_jw_member_cstr(w, "second_element", tn_onnx_element_name(o->value[1].type));
    if (o->value[0].rank != o->value[1].rank || memcmp(o->value[0].dims, o->value[1].dims, sizeof(o->value[0].dims)) != 0)
        write_shape(w, "second_shape", &o->value[1]);
    tn_agreement_write(w, &o->agreement, &o->tolerance);
    tn_jw_end_object(w);
}

void tn_against_write(struct tn_json_writer *w, const struct tn_against *a)
{
    const struct tn_plan *plan = a->side[0].plan;
    const struct tn_description *d = plan->survey.planner->d;
    char hex[TN_SHA256_HEX];
    tn_jw_member_cstr(w, "schema", TN_COMPARE_SCHEMA);
    tn_jw_member_bool(w, "agree", a->agrees);
    tn_jw_member_cstr(w, "why", a->mismatch);
    tn_jw_member_cstr(w, "task", plan->task->name);
    tn_jw_key(w, "package");
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "dialect", d->dialect);
    tn_jw_member_cstr(w, "manifest", tn_digest_hex(&d->inv->manifest, hex));
    tn_jw_end_object(w);
    tn_jw_key(w, "providers");
    tn_jw_begin_array(w);
    for (unsigned i = 0; i < 2; i++) write_side(w, &a->side[i]);
    tn_jw_end_array(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < a->output_count; i++) write_output(w, &a->outputs[i]);
    tn_jw_end_array(w);
    tn_layers_write(w, a);
}

/* ---- the record ------------------------------------------------------------------------------------------------------- */

static const char *const exclusions[] = {
    "the reference is another provider and not the model's own implementation",
    "one request was tried, with the shapes that it has",
    "only this machine's CPU class and this build were tried",
    "the quality of the model for any purpose was not judged, only that it computes what it should",
    NULL,
};

static enum tn_status refuse_record(const struct tn_against *a, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_RECORD, "a provider is no reference for itself");
    tn_at_option(f, "record");
    tn_found(f, "%.*s and %.*s", TN_FMT_ARG(a->side[0].text), TN_FMT_ARG(a->side[1].text));
    tn_expected(f, "another provider as the second one");
    return TN_INVALID_REQUEST;
}

static bool add_checks(const struct tn_against *a, struct tn_record *r)
{
    struct tn_check *loads = tn_record_check(r, "load.answers", TN_LEVEL_LOADS, "it loads and answers the request with finite numbers", NULL);
    uint64_t odd = 0;
    for (size_t i = 0; i < a->output_count; i++) odd += a->outputs[i].agreement.non_finite_apart;
    if (loads && odd) tn_check_fail(loads, "%llu numbers are not finite on one side alone", (unsigned long long)odd);
    struct tn_check *c = tn_record_check(r, "compare.outputs", TN_LEVEL_REFERENCE_QUALIFIED, "every output equals another provider's",
                                         a->output_count ? a->outputs[0].tolerance.why : NULL);
    if (!loads || !c) return false;
    struct tn_agreement all = {.cosine = 1};
    const struct tn_answered *first = NULL;
    for (size_t i = 0; i < a->output_count; i++) {
        const struct tn_agreement *g = &a->outputs[i].agreement;
        if (g->max_abs > all.max_abs) all.max_abs = g->max_abs;
        if (g->max_rel > all.max_rel) all.max_rel = g->max_rel;
        if (g->cosine < all.cosine) all.cosine = g->cosine;
        all.count += g->count;
        all.beyond += g->beyond;
        if (!g->agrees && !first) first = &a->outputs[i];
    }
    tn_check_measure(c, "numbers", (double)all.count);
    tn_check_measure(c, "max_abs", all.max_abs);
    tn_check_measure(c, "max_rel", all.max_rel);
    tn_check_measure(c, "min_cosine", all.cosine);
    tn_check_measure(c, "beyond", (double)all.beyond);
    if (a->mismatch) tn_check_fail(c, "%s", a->mismatch);
    else if (first) tn_check_fail(c, "%.*s: %s", TN_FMT_ARG(first->name), first->agreement.why);
    return true;
}

enum tn_status tn_against_record(const struct tn_against *a, struct tn_record *r, struct tn_error *err)
{
    static const struct tn_suite_kind kind = {.task = "", .revision = "compare/1"};
    const struct tn_party *one = &a->side[0], *other = &a->side[1];
    const struct tn_provider *reference = other->plan->row->entry->provider;
    char hex[TN_SHA256_HEX];
    struct tn_suite s = {.alloc = a->alloc, .r = r, .plan = one->plan, .d = one->plan->survey.planner->d, .kind = &kind, .err = err,
                         .max_tokens = (size_t)one->plan->survey.route.max_tokens};
    if (strcmp(one->plan->row->entry->name, other->plan->row->entry->name) == 0) return refuse_record(a, err);
    enum tn_status st = tn_suite_describe(&s);
    if (st) return st;
    r->weights = tn_arena_str(&r->arena, tn_str_of(tn_digest_hex(&one->weights, hex)));
    r->facts.value[TN_DEPENDS_ON_WEIGHTS] = r->weights;
    r->other = tn_arena_str(&r->arena, tn_str_of(reference->name));
    r->other_version = tn_arena_str(&r->arena, tn_str_of(reference->version));
    r->outputs = a->output_count;
    r->exclusions = exclusions;
    r->ceiling = s.d->descriptive_count ? TN_LEVEL_LOADS : TN_LEVEL_REFERENCE_QUALIFIED;
    bool complete = r->weights.s && r->other.s && r->other_version.s && add_checks(a, r);
    return complete ? TN_OK : tn_error_memory(err, TN_PHASE_RECORD, "writing a record");
}
