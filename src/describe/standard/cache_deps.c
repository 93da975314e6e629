/*
 * The backward walk over a workflow. Values are nodes; an invocation's output leads to all its inputs, a merge to its
 * cases and its predicate, a cell to its initial value and to every value that a loop carries into it. What encloses a
 * producer (a branch's predicate, a loop's bounds) is control: it is followed too, and marked.
 *
 * A component that shares an effect domain with one that is reached is reached: what it did to the domain is read there.
 */
#include "describe/standard/cache_deps.h"
#include "base/sort.h"
#include "describe/standard/check_internal.h"

#include <string.h>

#define NONE UINT32_MAX

struct control {
    const struct tn_std_ref *names[2];
    uint32_t outer;
};

struct node {
    struct tn_str name;
    const struct tn_std_step *step; /* producer: invoke, branch; NULL for inputs, cells, induction values */
    const struct tn_std_phi *merged;
    const struct tn_std_input *input;
    const struct tn_std_cell *cell;
    uint32_t control; /* of the producer */
    bool data, seen;  /* reached as a value; reached at all */
};

/* One value that may become a cell's. */
struct write {
    struct tn_str cell;
    const struct tn_std_ref *value;
    uint32_t control;
};

struct walk {
    const struct tn_standard *doc;
    const struct tn_std_workflow *flow;
    struct tn_arena arena;
    struct tn_std_names names;
    struct node *nodes;
    size_t node_count;
    struct control *controls;
    size_t control_count;
    struct write *writes;
    size_t write_count;
    uint32_t *stack; /* each node is pushed at most twice: as control, then as a value */
    size_t stack_top;
    bool *component_data, *component_seen;
};

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

struct sizes {
    size_t nodes, controls, writes;
};

static void measure(const struct tn_std_steps *steps, struct sizes *n)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        n->nodes += s->outputs.count + s->merged_count + 1;
        n->writes += 2 * s->carried_count;
        n->controls++;
        measure(&s->setup, n);
        measure(&s->body, n);
        measure(&s->cases, n);
        if (s->otherwise) measure(&(struct tn_std_steps){.items = s->otherwise, .count = 1}, n);
    }
}

/* ---- the graph -------------------------------------------------------------------------------------------------- */

static struct node *add(struct walk *w, struct tn_str name, uint32_t control)
{
    if (tn_std_names_put(&w->names, name, (uint32_t)w->node_count) != TN_STD_NO_NAME) return NULL;
    struct node *n = &w->nodes[w->node_count++];
    n->name = name;
    n->control = control;
    return n;
}

static uint32_t enclose(struct walk *w, uint32_t outer, const struct tn_std_ref *a, const struct tn_std_ref *b)
{
    w->controls[w->control_count] = (struct control){.names = {a, b}, .outer = outer};
    return (uint32_t)w->control_count++;
}

static void add_steps(struct walk *w, const struct tn_std_steps *steps, uint32_t control);

static void add_loop(struct walk *w, const struct tn_std_step *s, uint32_t control)
{
    uint32_t inside = enclose(w, control, &s->continue_when, &s->max_iterations);
    if (tn_json_present(s->iteration.at)) add(w, s->iteration.name, inside);
    for (size_t i = 0; i < s->carried_count; i++) {
        w->writes[w->write_count++] = (struct write){s->carried[i].cell.name, &s->carried[i].next, inside};
        w->writes[w->write_count++] = (struct write){s->carried[i].cell.name, &s->carried[i].initial, control};
    }
    add_steps(w, &s->setup, control);
    add_steps(w, &s->body, inside);
}

static void add_branch(struct walk *w, const struct tn_std_step *s, uint32_t control)
{
    uint32_t inside = enclose(w, control, &s->predicate, NULL);
    for (size_t i = 0; i < s->merged_count; i++) {
        struct node *n = add(w, s->merged[i].name, inside);
        if (!n) continue;
        n->step = s;
        n->merged = &s->merged[i];
    }
    add_steps(w, &s->cases, inside);
    if (s->otherwise) add_steps(w, &(struct tn_std_steps){.items = s->otherwise, .count = 1}, inside);
}

static void add_steps(struct walk *w, const struct tn_std_steps *steps, uint32_t control)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        for (size_t k = 0; k < s->outputs.count; k++) {
            struct node *n = add(w, s->outputs.items[k].value, control);
            if (n) n->step = s;
        }
        if (s->kind == TN_STD_LOOP) add_loop(w, s, control);
        else if (s->kind == TN_STD_BRANCH) add_branch(w, s, control);
        else add_steps(w, &s->body, control);
    }
}

static void add_roots(struct walk *w)
{
    for (size_t i = 0; i < w->flow->input_count; i++) {
        const struct tn_std_input *in = &w->flow->inputs[i];
        struct node *n = add(w, in->name, NONE);
        if (n) n->input = in;
        n = tn_json_present(in->present_as.at) ? add(w, in->present_as.name, NONE) : NULL;
        if (n) n->input = in;
    }
    for (size_t i = 0; i < w->flow->cell_count; i++) {
        struct node *n = add(w, w->flow->cells[i].name, NONE);
        if (n) n->cell = &w->flow->cells[i];
    }
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static void push(struct walk *w, struct tn_str name, bool data)
{
    uint32_t index = tn_std_names_get(&w->names, name);
    if (index == TN_STD_NO_NAME) return;
    struct node *n = &w->nodes[index];
    if (n->seen && (n->data || !data)) return;
    n->seen = true;
    n->data = n->data || data;
    w->stack[w->stack_top++] = index;
}

static void push_ref(struct walk *w, const struct tn_std_ref *ref, bool data)
{
    if (ref && tn_json_present(ref->at)) push(w, ref->name, data);
}

static void push_control(struct walk *w, uint32_t control)
{
    for (; control != NONE; control = w->controls[control].outer) {
        push_ref(w, w->controls[control].names[0], false);
        push_ref(w, w->controls[control].names[1], false);
    }
}

static void reach_component(struct walk *w, struct tn_str name, bool data)
{
    const struct tn_std_component *component = tn_standard_component(w->doc, name);
    if (!component) return;
    size_t i = (size_t)(component - w->flow->components);
    if (w->component_seen[i] && (w->component_data[i] || !data)) return;
    w->component_seen[i] = true;
    w->component_data[i] = w->component_data[i] || data;
    /* A component that overlays another's parameter works on that one's weights. */
    struct tn_str overlaid;
    if (tn_json_str(tn_json_get(component->contract_parameters, "component"), &overlaid)) reach_component(w, overlaid,
            data);
}

static void expand(struct walk *w, const struct node *n)
{
    bool data = n->data;
    push_control(w, n->control);
    if (n->cell) {
        push_ref(w, &n->cell->initializer, data);
        push_ref(w, &n->cell->increment, false);
        push_ref(w, &n->cell->max, false);
        for (size_t i = 0; i < w->write_count; i++) {
            if (!tn_str_eq(w->writes[i].cell, n->cell->name)) continue;
            push_ref(w, w->writes[i].value, data);
            push_control(w, w->writes[i].control);
        }
    }
    if (!n->step) return;
    if (n->merged) {
        for (size_t i = 0; i < n->merged->cases.count; i++) push(w, n->merged->cases.items[i].value, data);
        push_ref(w, &n->merged->otherwise, data);
        return;
    }
    reach_component(w, n->step->component.name, data);
    for (size_t i = 0; i < n->step->inputs.count; i++) push(w, n->step->inputs.items[i].value, data);
}

static void drain(struct walk *w)
{
    while (w->stack_top > 0) expand(w, &w->nodes[w->stack[--w->stack_top]]);
}

/* Whether an output port carries the next value of a state group. */
static bool writes_state(const struct walk *w, struct tn_str component, struct tn_str port)
{
    for (size_t g = 0; g < w->flow->serving.group_count; g++) {
        const struct tn_std_group *group = &w->flow->serving.groups[g];
        for (size_t i = 0; i < group->port_count; i++)
            if (!group->ports[i].read_only && tn_str_eq(group->ports[i].component, component) &&
                tn_str_eq(group->ports[i].output.name, port))
                return true;
    }
    return false;
}

/* Emitted values and writes of state. */
static void push_sinks(struct walk *w, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        push_ref(w, &s->value, true);
        push_ref(w, &s->valid_length, false);
        push_ref(w, &s->when, false);
        for (size_t k = 0; k < s->carried_count; k++) push_ref(w, &s->carried[k].next, true);
        for (size_t k = 0; s->kind == TN_STD_INVOKE && k < s->outputs.count; k++)
            if (writes_state(w, s->component.name, s->outputs.items[k].key)) push(w, s->outputs.items[k].value, true);
        push_sinks(w, &s->setup);
        push_sinks(w, &s->body);
        push_sinks(w, &s->cases);
        if (s->otherwise) push_sinks(w, &(struct tn_std_steps){.items = s->otherwise, .count = 1});
    }
}

static bool shares_domain(const struct tn_std_component *a, const struct tn_std_component *b)
{
    for (size_t i = 0; i < a->effects.count; i++)
        for (size_t k = 0; k < b->effects.count; k++)
            if (tn_str_eq(a->effects.items[i].name, b->effects.items[k].name)) return true;
    return false;
}

/* Follows effect domains until nothing new is reached. */
static void follow_effects(struct walk *w)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < w->flow->component_count; i++) {
            const struct tn_std_component *component = &w->flow->components[i];
            for (size_t k = 0; !w->component_data[i] && component->effects.count > 0 &&
                 k < w->flow->component_count; k++) {
                if (!w->component_data[k] || !shares_domain(component, &w->flow->components[k])) continue;
                for (size_t n = 0; n < w->node_count; n++)
                    if (w->nodes[n].step && !w->nodes[n].merged && tn_str_eq(w->nodes[n].step->component.name,
                                                                             component->name))
                        push(w, w->nodes[n].name, true);
                w->component_data[i] = w->component_seen[i] = true;
                drain(w);
                again = true;
            }
        }
    }
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

static void put(struct tn_std_dependencies *out, enum tn_std_dependency_kind kind, struct tn_str name,
                bool control_only)
{
    if (out->items) out->items[out->count] = (struct tn_std_dependency){kind, name, control_only};
    out->count++;
}

/* An adapter reaches the result when a component that it adapts does. */
static bool adapts_something(const struct walk *w, const struct tn_std_adapter *a)
{
    const struct tn_std_adapters *all = &w->doc->adapters;
    for (size_t i = 0; i < a->binding_count; i++) {
        for (size_t t = 0; t < all->target_count; t++) {
            const struct tn_std_target *target = &all->targets[t];
            const struct tn_std_component *component = tn_standard_component(w->doc, target->component.name);
            if (!component || !tn_str_eq(target->id.name, a->bindings[i].target.name)) continue;
            if (w->component_seen[component - w->flow->components]) return true;
        }
    }
    return false;
}

static void put_components(const struct walk *w, struct tn_std_dependencies *out)
{
    for (size_t i = 0; i < w->flow->component_count; i++) {
        const struct tn_std_component *component = &w->flow->components[i];
        bool control = !w->component_data[i];
        if (!w->component_seen[i]) continue;
        put(out, TN_STD_DEPENDS_COMPONENT, component->name, control);
        for (size_t k = 0; k < component->cache_affects_state.count; k++)
            put(out, TN_STD_DEPENDS_EXTERNAL, component->cache_affects_state.items[k].name, control);
        for (size_t k = 0; k < w->doc->language_count; k++)
            if (tn_str_eq(w->doc->languages[k].component.name, component->name))
                put(out, TN_STD_DEPENDS_LANGUAGE, w->doc->languages[k].dialect.name, control);
    }
}

static void put_all(const struct walk *w, struct tn_std_dependencies *out)
{
    out->count = 0;
    put_components(w, out);
    bool some_adapter = false;
    for (size_t i = 0; i < w->doc->adapters.artifact_count; i++) {
        if (!adapts_something(w, &w->doc->adapters.artifacts[i])) continue;
        put(out, TN_STD_DEPENDS_ADAPTER, w->doc->adapters.artifacts[i].name, false);
        some_adapter = true;
    }
    const struct tn_std_ref *selection[] = {&w->doc->adapters.segments, &w->doc->adapters.counts,
                                            &w->doc->adapters.scales, &w->doc->adapters.active};
    for (size_t i = 0; some_adapter && i < sizeof(selection) / sizeof(selection[0]); i++)
        if (tn_json_present(selection[i]->at)) put(out, TN_STD_DEPENDS_INPUT, selection[i]->name, false);
    for (size_t i = 0; i < w->node_count; i++) {
        const struct node *n = &w->nodes[i];
        if (!n->seen) continue;
        /* A literal is part of the document, whose identity stands beside this list. */
        if (n->input && n->input->source != TN_STD_LITERAL) put(out, TN_STD_DEPENDS_INPUT, n->input->name, !n->data);
        if (n->cell && n->cell->management == TN_STD_EXTERNAL) put(out, TN_STD_DEPENDS_EXTERNAL, n->cell->name,
                                                                   !n->data);
    }
    for (size_t i = 0; i < w->doc->profile_count; i++)
        if (w->doc->profiles[i].generation_affecting) put(out, TN_STD_DEPENDS_PROFILE, w->doc->profiles[i].name, false);
}

/* Values before control, so that of two alike the stronger one stays. */
static int by_kind_and_name(const void *a, const void *b, void *context)
{
    const struct tn_std_dependency *x = a, *y = b;
    (void)context;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = tn_str_order(x->name, y->name);
    return order ? order : (int)x->control_only - (int)y->control_only;
}

static void sort_and_merge(struct tn_std_dependencies *out)
{
    size_t kept = 0;
    tn_sort(out->items, out->count, sizeof(*out->items), by_kind_and_name, NULL);
    for (size_t i = 0; i < out->count; i++) {
        const struct tn_std_dependency *d = &out->items[i], *last = kept ? &out->items[kept - 1] : NULL;
        if (last && last->kind == d->kind && tn_str_eq(last->name, d->name)) continue;
        out->items[kept++] = *d;
    }
    out->count = kept;
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

static bool prepare(struct walk *w)
{
    struct sizes n = {.nodes = 2 * w->flow->input_count + w->flow->cell_count, .controls = 0, .writes = 0};
    measure(&w->flow->steps, &n);
    w->nodes = tn_arena_array(&w->arena, n.nodes + 1, sizeof(*w->nodes));
    w->controls = tn_arena_array(&w->arena, n.controls + 1, sizeof(*w->controls));
    w->writes = tn_arena_array(&w->arena, n.writes + 1, sizeof(*w->writes));
    w->stack = tn_arena_array(&w->arena, 2 * n.nodes + 1, sizeof(*w->stack));
    w->component_data = tn_arena_array(&w->arena, w->flow->component_count + 1, sizeof(bool));
    w->component_seen = tn_arena_array(&w->arena, w->flow->component_count + 1, sizeof(bool));
    return w->nodes && w->controls && w->writes && w->stack && w->component_data && w->component_seen &&
           tn_std_names_init(&w->names, &w->arena, n.nodes);
}

enum tn_status tn_standard_dependencies(const struct tn_standard *doc, struct tn_std_dependencies *out,
                                        struct tn_error *err)
{
    struct walk w = {.doc = doc, .flow = &doc->workflow};
    memset(out, 0, sizeof(*out));
    tn_arena_init(&out->arena, doc->arena.alloc);
    tn_arena_init(&w.arena, doc->arena.alloc);
    bool fine = prepare(&w);
    if (fine) {
        add_roots(&w);
        add_steps(&w, &w.flow->steps, NONE);
        push_sinks(&w, &w.flow->steps);
        drain(&w);
        follow_effects(&w);
        put_all(&w, out); /* counts */
        out->items = tn_arena_array(&out->arena, out->count + 1, sizeof(*out->items));
        fine = out->items != NULL;
    }
    if (fine) {
        put_all(&w, out);
        sort_and_merge(out);
    }
    tn_arena_release(&w.arena);
    if (fine) return TN_OK;
    tn_std_dependencies_release(out);
    return tn_error_memory(err, TN_PHASE_DESCRIBE, "the dependencies of a cache");
}

void tn_std_dependencies_release(struct tn_std_dependencies *deps)
{
    if (deps->arena.alloc) tn_arena_release(&deps->arena);
    memset(deps, 0, sizeof(*deps));
}

const char *tn_std_dependency_kind_name(enum tn_std_dependency_kind kind)
{
    static const char *const names[] = {"component", "adapter", "input", "external_state", "constraint_language",
                                        "profile"};
    return names[kind];
}
