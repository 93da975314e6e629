/*
 * Preprocessing programs: every value that a transform consumes was produced before, once; every output binds such a
 * value to a workflow value; and exactly one invocation of the pinned adapter makes the whole program's outputs.
 */
#include "base/nearest.h"
#include "describe/standard/check_internal.h"
#include "describe/standard/tables_types.h"

struct program {
    const struct tn_std_program *p;
    const char *word;
    const char *abi;
};

/* ---- values of the program -------------------------------------------------------------------------------------- */

static bool hides_transforms(const struct tn_std_check *c, const struct program *g)
{
    return tn_std_hides(c, g->p->at, "transforms");
}

static bool check_flow(struct tn_std_check *c, const struct program *g, struct tn_std_names *made)
{
    size_t most = 0;
    for (size_t i = 0; i < g->p->transform_count; i++) most += g->p->transforms[i].outputs.count;
    if (!tn_std_names_init(made, &c->arena, most)) {
        c->memory_gone = true;
        return false;
    }
    for (size_t i = 0; i < g->p->transform_count; i++) {
        const struct tn_std_transform *t = &g->p->transforms[i];
        struct tn_finding *f;
        for (size_t k = 0; k < t->inputs.count; k++) {
            const struct tn_std_ref *ref = &t->inputs.items[k];
            if (tn_std_names_get(made, ref->name) != TN_STD_NO_NAME || hides_transforms(c, g)) continue;
            f = tn_std_say(c, ref->at, "the transform consumes a value that none before it has produced");
            tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
            tn_expected(f, "an output of an earlier transform");
        }
        for (size_t k = 0; k < t->outputs.count; k++) {
            const struct tn_std_ref *ref = &t->outputs.items[k];
            if (tn_std_names_put(made, ref->name, (uint32_t)i) == TN_STD_NO_NAME) continue;
            f = tn_std_say(c, ref->at, "two transforms produce this value");
            tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
            tn_expected(f, "one producer for each value");
        }
    }
    return true;
}

/* What the parameters of one operation owe each other. */
static void want_positive(struct tn_std_check *c, struct tn_json v, const char *message)
{
    double value;
    if (!tn_json_f64(v, &value) || value > 0) return;
    struct tn_finding *f = tn_std_say(c, v, "%s", message);
    tn_found(f, "%s", TN_F64(value));
    tn_expected(f, "more than 0");
}

/* Operations are an open vocabulary. One that is spelled nearly as a known one has been told with its spelling. */
static void note_operation(struct tn_std_check *c, const struct tn_std_transform *t, const struct tn_doctype *known)
{
    struct tn_nearest near = {0};
    if (!tn_json_present(t->op.at) || t->op.name.n == 0) return;
    for (const char *const *value = known->values; *value; value++) tn_nearest_offer(&near, t->op.name, *value);
    if (near.name) return;
    tn_found(tn_std_note(c, t->op.at, "the operation is none of the standard's, so only a runtime that knows it can run the program"),
             "\"%.*s\"", TN_FMT_ARG(t->op.name));
}

static void check_parameters(struct tn_std_check *c, const struct tn_std_transform *t)
{
    struct tn_json scale = tn_json_get(t->at, "scale"), list = tn_json_get(t->at, "std");
    want_positive(c, scale, "a scale is a factor above 0");
    for (struct tn_json v = tn_json_first(list); tn_json_is(list, TN_JSON_ARRAY) && tn_json_present(v); v = tn_json_next(v))
        want_positive(c, v, "values are divided by their std");
    struct tn_json mean = tn_json_get(t->at, "mean"), std = tn_json_get(t->at, "std");
    uint64_t low, high;
    if (tn_json_is(mean, TN_JSON_ARRAY) && tn_json_is(std, TN_JSON_ARRAY) &&
        tn_json_count(mean) != tn_json_count(std)) {
        struct tn_finding *f = tn_std_say(c, std, "mean and std have different numbers of channels");
        tn_found(f, "%zu", tn_json_count(std));
        tn_expected(f, "%zu, as many as mean", tn_json_count(mean));
    }
    if (!tn_json_u64(tn_json_get(t->at, "min_pixels"), &low) || !tn_json_u64(tn_json_get(t->at, "max_pixels"),
                                                                             &high)) return;
    if (low <= high) return;
    struct tn_finding *f = tn_std_say(c, tn_json_get(t->at, "min_pixels"),
                                      "the smallest area is larger than the largest");
    tn_found(f, "%llu", (unsigned long long)low);
    tn_expected(f, "at most %llu", (unsigned long long)high);
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

static void check_output_contract(struct tn_std_check *c, const struct tn_std_program_output *o)
{
    struct tn_finding *f;
    if (!tn_json_present(o->contract.at)) {
        if (!tn_json_present(c->flow->at)) return;
        f = tn_std_say_member(c, o->at, "contract", "an output that enters a workflow has a tensor contract");
        tn_expected(f, "the contract of the value that the adapter produces");
        return;
    }
    if (tn_std_unknown(c, o->contract.at)) return;
    tn_std_check_layout(c, &o->contract);
    if (o->dtype != o->contract.dtype) {
        f = tn_std_say(c, o->dtype_ref.at, "the output states two element types");
        tn_found(f, "%.*s", TN_FMT_ARG(o->dtype_ref.name));
        tn_expected(f, "%.*s, as its contract says", TN_FMT_ARG(o->contract.dtype_text));
    }
    if (!o->rank.present || !o->contract.rank.present || o->rank.value == o->contract.rank.value) return;
    f = tn_std_say(c, o->rank.at, "the output states two ranks");
    tn_found(f, "%llu", (unsigned long long)o->rank.value);
    tn_expected(f, "%llu, as its contract says", (unsigned long long)o->contract.rank.value);
}

static void check_binding(struct tn_std_check *c, const struct program *g, const struct tn_std_program_output *o)
{
    const struct tn_std_value *v = tn_std_value(c, o->name.name);
    char text[TN_STD_TYPE_TEXT];
    struct tn_finding *f;
    if (!tn_json_present(o->name.at) || !tn_json_present(c->flow->at)) return;
    if (!v) {
        if (!o->optional) tn_std_say_unknown(c, &o->name, TN_STD_SPACE_VALUE);
        return;
    }
    if (v->producer ? tn_std_hides(c, v->producer->at, "implementation") : c->open[TN_STD_SPACE_COMPONENT]) return;
    if (v->origin != TN_STD_FROM_INVOKE || (v->producer && !tn_str_is(v->producer->abi.name, g->abi))) {
        f = tn_std_say(c, o->name.at, "the value is not made by the adapter that carries out the %s program", g->word);
        tn_expected(f, "an output of the component with the ABI %s", g->abi);
        return;
    }
    struct tn_std_type said = tn_std_type_of(c->doc, &o->contract);
    const char *clash = tn_std_type_clash(&said, &v->type, NULL, TN_STD_NO_AXIS);
    if (!clash) return;
    f = tn_std_say(c, o->contract.at, "the adapter's port does not deliver this output: %s", clash);
    tn_found(f, "%s", tn_std_type_text(&said, text));
    tn_expected(f, "%s", tn_std_type_text(&v->type, text));
}

static void check_outputs(struct tn_std_check *c, const struct program *g, const struct tn_std_names *made)
{
    for (size_t i = 0; i < g->p->output_count; i++) {
        const struct tn_std_program_output *o = &g->p->outputs[i];
        struct tn_finding *f;
        if (tn_json_present(o->source.at) && tn_std_names_get(made, o->source.name) == TN_STD_NO_NAME &&
            !hides_transforms(c, g)) {
            f = tn_std_say(c, o->source.at, "no transform produces this value");
            tn_found(f, "\"%.*s\"", TN_FMT_ARG(o->source.name));
            tn_expected(f, "an output of a transform");
        }
        for (size_t k = 0; k < i; k++) {
            if (!tn_str_eq(g->p->outputs[k].name.name, o->name.name)) continue;
            f = tn_std_say(c, o->name.at, "two outputs bind this workflow value");
            tn_found(f, "\"%.*s\"", TN_FMT_ARG(o->name.name));
            tn_expected(f, "one output for each value");
            break;
        }
        check_output_contract(c, o);
        check_binding(c, g, o);
    }
}

/* ---- the adapter ------------------------------------------------------------------------------------------------ */

static void check_encoded(struct tn_std_check *c, const struct tn_std_component *component)
{
    const struct tn_std_port *port = tn_standard_port(&component->inputs, TN_STR("encoded"));
    char text[TN_STD_TYPE_TEXT];
    struct tn_finding *f;
    if (!port) {
        f = tn_std_say_member(c, component->inputs.at.doc ? component->inputs.at : component->at,
                              component->inputs.at.doc ? "encoded" : "ports",
                                  "the adapter has no input for the encoded media");
        tn_expected(f, "an input port \"encoded\", uint8 of rank 1");
        return;
    }
    struct tn_std_type type = tn_std_type_of(c->doc, &port->contract);
    if (type.dtype == TN_STD_U8 && type.has_rank && type.rank == 1) return;
    f = tn_std_say(c, port->contract.at, "encoded media are bytes");
    tn_found(f, "%s", tn_std_type_text(&type, text));
    tn_expected(f, "uint8 of rank 1");
}

static void check_adapter(struct tn_std_check *c, const struct program *g)
{
    const struct tn_std_component *adapter = NULL;
    unsigned invocations = 0;
    for (size_t i = 0; i < c->flow->component_count; i++) {
        const struct tn_std_component *component = &c->flow->components[i];
        if (component->implementation != TN_STD_ADAPTER || !tn_str_is(component->abi.name, g->abi)) continue;
        invocations += c->invoked[i];
        adapter = component;
    }
    if (adapter) check_encoded(c, adapter);
    if (invocations == 1 || c->steps_open || tn_std_hides(c, c->flow->at, "components")) return;
    struct tn_finding *f = tn_std_say(c, g->p->at, "the %s program is carried out by one invocation of its adapter",
                                      g->word);
    tn_found(f, "%u invocations of %s", invocations, g->abi);
    tn_expected(f, "exactly one");
}

void tn_std_check_programs(struct tn_std_check *c)
{
    const struct program programs[] = {
        {&c->doc->image, "image", "onnx-genai.image-preprocess"},
        {&c->doc->audio, "audio", "onnx-genai.audio-preprocess"},
    };
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program *g = &programs[i];
        struct tn_std_names made = {0};
        if (!tn_json_present(g->p->at) || !check_flow(c, g, &made)) continue;
        for (size_t k = 0; k < g->p->transform_count; k++) {
            note_operation(c, &g->p->transforms[k], i == 0 ? &tn_std_image_transform_op : &tn_std_audio_transform_op);
            check_parameters(c, &g->p->transforms[k]);
        }
        check_outputs(c, g, &made);
        if (tn_json_present(c->flow->at)) check_adapter(c, g);
    }
}
