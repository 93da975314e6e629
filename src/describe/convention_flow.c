/*
 * The workflow of a declared contract against that of a convention's import. Components and values may be called otherwise in
 * the two, and work may be divided otherwise, so components are matched by the graph that they execute, and everything else by
 * ports of matched components: types and shapes, the state that ports carry and what their groups say of it, and where the
 * inputs of an invocation come from. What only one side states is no difference; symbols of shapes are free names.
 */
#include "describe/convention.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 320 };

/* Comparisons of names; a quarter of a second or so. */
#define MOST_WORK ((uint64_t)1 << 26)

/* ---- components -------------------------------------------------------------------------------------------------- */

/* The only component of a document that executes the graph; NULL: there is none, or several. */
static const struct tn_std_component *only_with(const struct tn_standard *doc, struct tn_str artifact)
{
    const struct tn_std_component *found = NULL;
    for (size_t i = 0; i < doc->workflow.component_count; i++) {
        const struct tn_std_component *c = &doc->workflow.components[i];
        if (c->implementation != TN_STD_ONNX || artifact.n == 0 || !tn_str_eq(c->artifact.name, artifact)) continue;
        if (found) return NULL;
        found = c;
    }
    return found;
}

/* The component of `to` for one of `from`, which has to be the only one there. */
static const struct tn_std_component *twin_of(const struct tn_standard *from, const struct tn_std_component *c, const struct tn_standard *to)
{
    if (!c || c->implementation != TN_STD_ONNX || only_with(from, c->artifact.name) != c) return NULL;
    return only_with(to, c->artifact.name);
}

static const struct tn_standard *declared_of(const struct tn_contract_pair *p)
{
    return &p->b->d->standard;
}

static const struct tn_standard *imported_of(const struct tn_contract_pair *p)
{
    return &p->other->d->standard;
}

static struct tn_str member_text(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_present(v) ? tn_json_text(v) : TN_STR("nothing");
}

/* At the member where it is stated, else at the object that leaves it out. */
static void member_differs(const struct tn_contract_pair *p, struct tn_json declared, struct tn_json other, const char *key)
{
    struct tn_json at = tn_json_get(declared, key);
    tn_contract_differs(p, tn_json_present(at) ? at : declared, member_text(declared, key), member_text(other, key));
}

/* ---- types and shapes -------------------------------------------------------------------------------------------- */

static bool same_dtype(const struct tn_std_contract *a, const struct tn_std_contract *b)
{
    return a->dtype == b->dtype && (a->dtype != TN_STD_DTYPE_OTHER || tn_str_eq(a->dtype_text, b->dtype_text));
}

static bool same_dim(const struct tn_std_dim *a, const struct tn_std_dim *b)
{
    return a->fixed == b->fixed && (!a->fixed || a->extent == b->extent);
}

static void compare_shape(const struct tn_contract_pair *p, const struct tn_std_contract *declared, const struct tn_std_contract *other)
{
    for (size_t i = 0; i < declared->dim_count && i < other->dim_count; i++)
        if (!same_dim(&declared->dims[i], &other->dims[i]))
            tn_contract_differs(p, declared->dims[i].at, tn_json_text(declared->dims[i].at), tn_json_text(other->dims[i].at));
}

/* Which axis the requests lie along. */
static void compare_layout(const struct tn_contract_pair *p, const struct tn_std_layout *declared, const struct tn_std_layout *other)
{
    if (!tn_json_present(declared->at) || !tn_json_present(other->at)) return;
    if (declared->kind != other->kind) member_differs(p, declared->at, other->at, "kind");
    else if (declared->axis != other->axis) member_differs(p, declared->at, other->at, "axis");
}

static void compare_ports(const struct tn_contract_pair *p, const struct tn_std_ports *declared, const struct tn_std_ports *other)
{
    for (size_t i = 0; i < declared->count; i++) {
        const struct tn_std_contract *a = &declared->items[i].contract;
        const struct tn_std_port *port = tn_standard_port(other, declared->items[i].name);
        if (!port || !tn_json_present(a->at) || !tn_json_present(port->contract.at)) continue;
        if (!same_dtype(a, &port->contract)) member_differs(p, a->at, port->contract.at, "dtype");
        if (a->rank.present && port->contract.rank.present && a->rank.value != port->contract.rank.value)
            member_differs(p, a->at, port->contract.at, "rank");
        else if (a->has_shape && port->contract.has_shape)
            compare_shape(p, a, &port->contract);
        compare_layout(p, &a->layout, &port->contract.layout);
    }
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

struct place {
    const struct tn_std_group *group;
    const struct tn_std_state_port *pair;
};

/* The pair that an input of a component is in; zeroed: it carries no state. */
static struct place state_at(const struct tn_standard *doc, const struct tn_std_component *c, struct tn_str input)
{
    const struct tn_std_serving *s = &doc->workflow.serving;
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->groups[i].port_count; k++) {
            const struct tn_std_state_port *pair = &s->groups[i].ports[k];
            if (tn_str_eq(pair->component, c->name) && tn_str_eq(pair->input.name, input)) return (struct place){&s->groups[i], pair};
        }
    return (struct place){NULL, NULL};
}

static void compare_pair(const struct tn_contract_pair *p, const struct tn_std_state_port *declared, const struct tn_std_state_port *other)
{
    if (declared->read_only != other->read_only) member_differs(p, declared->at, other->at, "access");
    else if (!tn_str_eq(declared->output.name, other->output.name)) member_differs(p, declared->at, other->at, "output");
    if (declared->half != TN_STD_NO_HALF && other->half != TN_STD_NO_HALF && declared->half != other->half)
        member_differs(p, declared->at, other->at, "role");
    if (declared->layer.present && other->layer.present && declared->layer.value != other->layer.value)
        member_differs(p, declared->at, other->at, "layer");
}

/* What the group says of its ports; of another kind the rest is a consequence. */
static void compare_group(const struct tn_contract_pair *p, const struct place *declared, const struct place *other)
{
    const struct tn_std_group *a = declared->group, *b = other->group;
    if (a->kind != b->kind) {
        tn_contract_differs(p, declared->pair->at, member_text(a->at, "kind"), member_text(b->at, "kind"));
        return;
    }
    if (a->sequence_axis.present && b->sequence_axis.present && a->sequence_axis.value != b->sequence_axis.value)
        member_differs(p, a->at, b->at, "sequence_axis");
    if (a->aliasing != b->aliasing) member_differs(p, a->at, b->at, "aliasing");
    if (a->has_update && b->has_update && a->update != b->update) member_differs(p, a->update_at, b->update_at, "kind");
}

/* Groups of the other side that a group has been compared with; an import has few, and what is beyond is compared again. */
struct met {
    const struct tn_std_group *groups[16];
    size_t count;
};

static bool is_met(struct met *m, const struct tn_std_group *group)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->groups[i] == group) return true;
    if (m->count < sizeof(m->groups) / sizeof(m->groups[0])) m->groups[m->count++] = group;
    return false;
}

static void compare_declared_state(const struct tn_contract_pair *p, const struct tn_std_group *group)
{
    struct met met = {.count = 0};
    for (size_t i = 0; i < group->port_count; i++) {
        const struct tn_std_state_port *pair = &group->ports[i];
        struct place declared = {group, pair};
        const struct tn_std_component *c = tn_standard_component(declared_of(p), pair->component);
        const struct tn_std_component *twin = twin_of(declared_of(p), c, imported_of(p));
        if (!twin || !tn_standard_port(&twin->inputs, pair->input.name)) continue;
        struct place other = state_at(imported_of(p), twin, pair->input.name);
        if (!other.pair) {
            tn_contract_differs(p, pair->at, member_text(group->at, "kind"), TN_STR("no state"));
            continue;
        }
        if (!is_met(&met, other.group)) compare_group(p, &declared, &other);
        compare_pair(p, pair, other.pair);
    }
}

/* Whether the declared contract states any state of the component: then it states all. */
static bool has_state(const struct tn_standard *doc, const struct tn_std_component *c)
{
    const struct tn_std_serving *s = &doc->workflow.serving;
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->groups[i].port_count; k++)
            if (tn_str_eq(s->groups[i].ports[k].component, c->name)) return true;
    return false;
}

static void compare_imported_state(const struct tn_contract_pair *p, const struct tn_std_group *group)
{
    for (size_t i = 0; i < group->port_count; i++) {
        const struct tn_std_state_port *pair = &group->ports[i];
        const struct tn_std_component *c = tn_standard_component(imported_of(p), pair->component);
        const struct tn_std_component *twin = twin_of(imported_of(p), c, declared_of(p));
        if (!twin || !has_state(declared_of(p), twin) || state_at(declared_of(p), twin, pair->input.name).pair) continue;
        char text[TEXT_BYTES];
        int n = snprintf(text, sizeof(text), "%.*s of %.*s", TN_FMT_ARG(member_text(group->at, "kind")), TN_FMT_ARG(pair->input.name));
        tn_contract_differs(p, twin->at, TN_STR("no such state"), (struct tn_str){text, n < TEXT_BYTES ? (size_t)n : TEXT_BYTES - 1});
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Where a value comes from: an output of a component, else an input of the workflow. */
struct origin {
    const struct tn_std_component *component;
    struct tn_str port; /* of the component; of an input its name */
};

struct walk {
    struct tn_str wanted;              /* a value, or the name of a component */
    const struct tn_std_step *invoke;  /* the step that gives the value, or that invokes the component */
    const struct tn_std_binding *gives;
    size_t count;
};

static void walk_steps(struct walk *w, const struct tn_std_steps *steps, bool value)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        for (size_t k = 0; value && s->kind == TN_STD_INVOKE && k < s->outputs.count; k++)
            if (tn_str_eq(s->outputs.items[k].value, w->wanted)) w->invoke = s, w->gives = &s->outputs.items[k], w->count++;
        if (!value && s->kind == TN_STD_INVOKE && tn_str_eq(s->component.name, w->wanted)) w->invoke = s, w->count++;
        walk_steps(w, &s->setup, value);
        walk_steps(w, &s->body, value);
        walk_steps(w, &s->cases, value);
        if (s->otherwise) walk_steps(w, &(struct tn_std_steps){.items = s->otherwise, .count = 1}, value);
    }
}

/* False: it is merged, carried or counted, which has no one origin. */
static bool find_origin(const struct tn_standard *doc, struct tn_str value, struct origin *out)
{
    struct walk w = {.wanted = value};
    const struct tn_std_input *in = tn_standard_input(doc, value);
    walk_steps(&w, &doc->workflow.steps, true);
    *out = (struct origin){.component = w.count == 1 ? tn_standard_component(doc, w.invoke->component.name) : NULL,
                           .port = w.count == 1 ? w.gives->key : value};
    return w.count == 1 ? out->component != NULL : in != NULL;
}

/* The only invocation of a component; NULL: none, or several. */
static const struct tn_std_step *invocation_of(const struct tn_standard *doc, const struct tn_std_component *c)
{
    struct walk w = {.wanted = c->name};
    walk_steps(&w, &doc->workflow.steps, false);
    return w.count == 1 ? w.invoke : NULL;
}

static struct tn_str origin_text(const struct origin *o, char *out)
{
    int n = o->component ? snprintf(out, TEXT_BYTES, "%.*s of %.*s", TN_FMT_ARG(o->port), TN_FMT_ARG(o->component->artifact.name))
                         : snprintf(out, TEXT_BYTES, "an input of the workflow");
    return (struct tn_str){out, n < TEXT_BYTES ? (size_t)n : TEXT_BYTES - 1};
}

/*
 * A component that the other side does not have may make what the other side asks of its caller, or stand between two of
 * its components: that is another division of the work.
 */
static bool is_other_source(const struct tn_contract_pair *p, const struct origin *declared, const struct origin *other)
{
    if (!declared->component) return other->component != NULL && twin_of(imported_of(p), other->component, declared_of(p));
    const struct tn_std_component *twin = twin_of(declared_of(p), declared->component, imported_of(p));
    return twin && (twin != other->component || !tn_str_eq(declared->port, other->port));
}

static void compare_invocation(const struct tn_contract_pair *p, const struct tn_std_step *declared, const struct tn_std_step *other)
{
    char ours[TEXT_BYTES], theirs[TEXT_BYTES];
    for (size_t i = 0; i < declared->inputs.count; i++) {
        const struct tn_std_binding *a = &declared->inputs.items[i];
        for (size_t k = 0; k < other->inputs.count; k++) {
            struct origin from, want;
            if (!tn_str_eq(a->key, other->inputs.items[k].key)) continue;
            if (!find_origin(declared_of(p), a->value, &from) || !find_origin(imported_of(p), other->inputs.items[k].value, &want)) continue;
            if (is_other_source(p, &from, &want)) tn_contract_differs(p, a->at, origin_text(&from, ours), origin_text(&want, theirs));
        }
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static uint64_t measure_steps(const struct tn_std_steps *steps)
{
    uint64_t n = steps->count;
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        n += s->inputs.count + s->outputs.count + measure_steps(&s->setup) + measure_steps(&s->body) + measure_steps(&s->cases);
        if (s->otherwise) n += measure_steps(&(struct tn_std_steps){.items = s->otherwise, .count = 1});
    }
    return n;
}

/* Names that a comparison may meet. Counts are of parts of a document: no sum of them overflows. */
static uint64_t measure(const struct tn_std_workflow *w)
{
    uint64_t n = w->component_count + w->input_count + measure_steps(&w->steps);
    for (size_t i = 0; i < w->component_count; i++) n += w->components[i].inputs.count + w->components[i].outputs.count;
    for (size_t i = 0; i < w->serving.group_count; i++) n += w->serving.groups[i].port_count;
    return n;
}

/* What nobody would read is not compared, and that is told. */
static bool is_readable(const struct tn_contract_pair *p)
{
    const struct tn_std_workflow *ours = &declared_of(p)->workflow, *theirs = &imported_of(p)->workflow;
    uint64_t n = measure(ours), m = measure(theirs), most = UINT32_MAX;
    if (n < most && m < most && n * (m + ours->component_count) <= MOST_WORK && m * m <= MOST_WORK) return true;
    tn_at_json(tn_note(p->b, TN_RESOURCE_LIMIT, "the workflow is too large to compare with the convention's files"), ours->at);
    return false;
}

void tn_compare_flows(const struct tn_contract_pair *p)
{
    const struct tn_std_workflow *ours = &declared_of(p)->workflow, *theirs = &imported_of(p)->workflow;
    if (!is_readable(p)) return;
    for (size_t i = 0; i < ours->component_count; i++) {
        const struct tn_std_component *c = &ours->components[i], *twin = twin_of(declared_of(p), c, imported_of(p));
        if (!twin) continue;
        compare_ports(p, &c->inputs, &twin->inputs);
        compare_ports(p, &c->outputs, &twin->outputs);
        const struct tn_std_step *invoke = invocation_of(declared_of(p), c), *other = invocation_of(imported_of(p), twin);
        if (invoke && other) compare_invocation(p, invoke, other);
    }
    for (size_t i = 0; i < ours->serving.group_count; i++) compare_declared_state(p, &ours->serving.groups[i]);
    for (size_t i = 0; i < theirs->serving.group_count; i++) compare_imported_state(p, &theirs->serving.groups[i]);
}
