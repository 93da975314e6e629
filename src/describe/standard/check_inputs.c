/*
 * The borders of a workflow: a literal has its value, a default fits its contract, what may be absent can be noticed, what
 * an output says about pictures or sound stands on a picture or sound, and what is declared to come out does.
 */
#include "describe/standard/check_internal.h"

#include <inttypes.h>

static bool fits(struct tn_json v, const struct tn_std_contract *contract)
{
    switch (contract->dtype) {
    case TN_STD_BOOL: return tn_json_is(v, TN_JSON_BOOL);
    case TN_STD_STRING: return tn_json_is(v, TN_JSON_STRING);
    case TN_STD_I64:
    case TN_STD_I32:
    case TN_STD_I8:
    case TN_STD_U8: {
        int64_t whole;
        return tn_json_i64(v, &whole) && !(contract->dtype == TN_STD_U8 && (whole < 0 || whole > 255)) &&
               !(contract->dtype == TN_STD_I8 && (whole < -128 || whole > 127)) &&
               !(contract->dtype == TN_STD_I32 && (whole < INT32_MIN || whole > INT32_MAX));
    }
    case TN_STD_DTYPE_OTHER: return true;
    default: return tn_json_is(v, TN_JSON_NUMBER);
    }
}

/* The number of elements of a contract whose extents are all fixed. */
static bool element_count(const struct tn_std_contract *contract, uint64_t *count)
{
    *count = 1;
    if (!contract->has_shape) return false;
    for (size_t i = 0; i < contract->dim_count; i++) {
        const struct tn_std_dim *d = &contract->dims[i];
        if (!d->fixed || d->extent < 0 || (d->extent > 0 && *count > UINT32_MAX)) return false;
        *count *= (uint64_t)d->extent;
    }
    return true;
}

static void check_default(struct tn_std_check *c, const struct tn_std_input *in)
{
    struct tn_json v = in->default_at;
    uint64_t wanted;
    if (!tn_json_present(in->contract.at)) return;
    if (tn_json_is(v, TN_JSON_ARRAY)) {
        if (element_count(&in->contract, &wanted) && wanted != tn_json_count(v)) {
            struct tn_finding *f = tn_std_say(c, v, "the default does not fill its tensor");
            tn_found(f, "%zu elements", tn_json_count(v));
            tn_expected(f, "%" PRIu64 ", or one scalar for all", wanted);
        }
        v = tn_json_first(v);
    }
    for (; tn_json_present(v); v = tn_json_is(in->default_at, TN_JSON_ARRAY) ? tn_json_next(v) : (struct tn_json){0}) {
        if (fits(v, &in->contract)) continue;
        struct tn_finding *f = tn_std_say(c, v, "the default is no value of its contract");
        tn_found(f, "a %s", tn_json_type_name(tn_json_type(v)));
        tn_expected(f, "%s", tn_std_dtype_name(in->contract.dtype));
        return;
    }
}

bool tn_std_literal(const struct tn_std_check *c, const struct tn_std_value *v, int64_t *number)
{
    if (!v || v->origin != TN_STD_FROM_INPUT || c->flow->inputs[v->index].source != TN_STD_LITERAL) return false;
    struct tn_json at = c->flow->inputs[v->index].default_at;
    if (tn_json_is(at, TN_JSON_ARRAY) && tn_json_count(at) == 1) at = tn_json_first(at);
    return tn_json_i64(at, number);
}

/* What bounds the state and has a number has one above 0: told where the number stands, whoever uses it. */
static void check_bound(struct tn_std_check *c, const struct tn_std_input *in)
{
    const struct tn_std_value *v = tn_std_value(c, in->name);
    const char *of = NULL;
    int64_t number;
    if (!tn_std_literal(c, v, &number) || number > 0) return;
    for (size_t i = 0; i < c->flow->cell_count && !of; i++)
        if (tn_str_eq(c->flow->cells[i].max.name, in->name)) of = "the bound of a recurrence";
    for (size_t i = 0; i < c->flow->serving.group_count && !of; i++)
        if (tn_str_eq(c->flow->serving.groups[i].capacity.name, in->name)) of = "the capacity of a state group";
    if (!of) return;
    struct tn_finding *f = tn_std_say(c, in->default_at, "%s leaves room for nothing", of);
    tn_found(f, "%lld", (long long)number);
    tn_expected(f, "1 or more");
}

static void check_input(struct tn_std_check *c, const struct tn_std_input *in)
{
    struct tn_finding *f;
    if (tn_json_present(in->default_at)) {
        check_default(c, in);
        check_bound(c, in);
        return;
    }
    if (in->source == TN_STD_LITERAL) {
        f = tn_std_say_member(c, in->at, "default", "a literal input has no value");
        tn_expected(f, "a default");
    } else if (!tn_std_hides(c, in->at, "default") && !in->required && in->source != TN_STD_ARTIFACT &&
               !tn_json_present(in->present_as.at)) {
        f = tn_std_say_member(c, in->at, "present_as", "the input may be absent, and nobody could notice");
        tn_expected(f, "present_as, a default, or required true");
    }
}

static void check_output(struct tn_std_check *c, const struct tn_std_output *out)
{
    struct tn_finding *f;
    if (tn_std_hides(c, out->at, "role")) return;
    if (tn_json_present(out->value_range.at) && !tn_str_is(out->role, "image") && !tn_str_is(out->role, "video")) {
        f = tn_std_say(c, out->value_range.at, "a value range says how pixels are coded, and this output has none");
        tn_expected(f, "role image or video");
    }
    if (tn_json_present(out->media) && !tn_str_is(out->role, "audio")) {
        f = tn_std_say(c, out->media, "a media contract describes sound, and this output is none");
        tn_expected(f, "role audio");
    }
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

/* Which outputs are emitted, by any step however deep; what else the steps do. */
struct emits {
    bool *of; /* per output */
    bool any, unknown, produces;
};

static void find_emits(const struct tn_std_check *c, const struct tn_std_steps *steps, struct emits *e)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        e->produces = e->produces || (s->kind == TN_STD_INVOKE && s->outputs.count > 0);
        if (s->kind == TN_STD_EMIT) {
            const struct tn_std_output *out = tn_std_output(c, s->output.name);
            if (out) e->of[out - c->flow->outputs] = true;
            e->any = true;
            e->unknown = e->unknown || !out; /* told where it stands; it hides the output that it means */
        }
        find_emits(c, &s->setup, e);
        find_emits(c, &s->body, e);
        find_emits(c, &s->cases, e);
        if (s->otherwise) find_emits(c, &(struct tn_std_steps){.items = s->otherwise, .count = 1}, e);
    }
}

/* Whether running it changes something that outlives the run. */
static bool acts(const struct tn_std_check *c)
{
    bool found = c->flow->serving.group_count > 0;
    for (size_t i = 0; i < c->flow->component_count; i++) found = found || c->flow->components[i].effects.count > 0;
    for (size_t i = 0; i < c->flow->cell_count; i++) found = found || c->flow->cells[i].session_scope;
    return found;
}

static void check_emits(struct tn_std_check *c)
{
    const struct tn_std_workflow *w = c->flow;
    struct emits e = {.of = tn_arena_array(&c->arena, w->output_count + 1, sizeof(*e.of))};
    struct tn_finding *f;
    if (!e.of) {
        c->memory_gone = true;
        return;
    }
    if (c->steps_open) return;
    find_emits(c, &w->steps, &e);
    for (size_t i = 0; i < w->output_count && !e.unknown; i++) {
        if (e.of[i]) continue;
        f = tn_std_say(c, w->outputs[i].at, "the output is declared, and no step emits it");
        tn_found(f, "no emit of \"%.*s\"", TN_FMT_ARG(w->outputs[i].name));
        tn_expected(f, "an emit step with this output");
    }
    if (e.any || w->output_count > 0 || !e.produces || c->open[TN_STD_SPACE_OUTPUT] || acts(c)) return;
    f = tn_std_say_member(c, w->at, "steps", "the workflow computes values, and none of them comes out");
    tn_found(f, "no emit step");
    tn_expected(f, "an emit of each result, and an output for it");
}

void tn_std_check_inputs(struct tn_std_check *c)
{
    check_emits(c);
    for (size_t i = 0; i < c->flow->input_count; i++) check_input(c, &c->flow->inputs[i]);
    for (size_t i = 0; i < c->flow->output_count; i++) check_output(c, &c->flow->outputs[i]);
}
