/*
 * The order of the semantic check, and what its parts share: findings, names, lookups. Knows no rule of its own except
 * that there is one graph ABI.
 */
#include "describe/standard/check_internal.h"

#include <string.h>

/* ---- what the tables refused ------------------------------------------------------------------------------------- */

bool tn_std_unknown(const struct tn_std_check *c, struct tn_json v)
{
    return tn_doc_is_touched(&c->doc->marks, v);
}

bool tn_std_hides(const struct tn_std_check *c, struct tn_json object, const char *key)
{
    return tn_doc_hides(&c->doc->marks, object, key);
}

/* A map of named things below an object: whether a name may be missing in it. What its entries hold does not matter. */
static bool is_open(const struct tn_std_check *c, struct tn_json object, const char *key)
{
    struct tn_json map = tn_json_get(object, key);
    return tn_json_present(map) ? tn_doc_is_broken(&c->doc->marks, map) : tn_std_hides(c, object, key);
}

static bool is_one_of(struct tn_str key, const char *const *words)
{
    while (*words && !tn_str_is(key, *words)) words++;
    return *words != NULL;
}

/*
 * Whether a mark inside the list of steps can hide the name of a value, or what runs when. Members that only read values
 * cannot: the walk from the list down to the mark ends at one of them, or at what produces, carries or chooses.
 */
static bool hides_steps(struct tn_json mark, struct tn_json steps)
{
    static const char *const readers[] = {"inputs", "value", "predicate", "continue_when", "max_iterations", "valid_length",
                                          "when", "axis", "mode", "output", "termination", NULL};
    static const char *const carried[] = {"next", "initial", NULL};
    enum { DEPTH = 4 * TN_STD_STEP_DEPTH };
    struct tn_json path[DEPTH];
    size_t n = 0;
    for (struct tn_json v = mark; v.node != steps.node && n < DEPTH; v = tn_json_parent(v)) path[n++] = v;
    while (n-- > 1) { /* path[n] is a step, path[n - 1] its member */
        struct tn_str key = tn_json_key(path[--n]);
        if (is_one_of(key, readers)) return false;
        if (tn_str_is(key, "carried") && n > 1) return !is_one_of(tn_json_key(path[n - 2]), carried);
        if (tn_str_is(key, "iteration") && n > 0) return !tn_str_is(tn_json_key(path[n - 1]), "contract");
        if (tn_str_is(key, "default")) n++;
        else if (!tn_str_is(key, "steps") && !tn_str_is(key, "setup") && !tn_str_is(key, "cases")) return true;
    }
    return true;
}

static void open_steps(struct tn_std_check *c)
{
    const struct tn_doc_marks *marks = &c->doc->marks;
    struct tn_json steps = tn_json_get(c->flow->at, "steps");
    c->steps_open = is_open(c, c->flow->at, "steps");
    for (size_t i = 0; i < marks->count && !c->steps_open; i++) {
        uint32_t node = marks->items[i].node;
        if (node < steps.node || node >= tn_json_end(steps)) continue;
        c->steps_open = hides_steps((struct tn_json){steps.doc, node}, steps);
    }
}

/* Flags of presence are names that inputs define inside. */
static bool hides_presence(const struct tn_std_check *c)
{
    for (size_t i = 0; i < c->flow->input_count; i++)
        if (tn_std_hides(c, c->flow->inputs[i].at, "present_as")) return true;
    return false;
}

static void open_spaces(struct tn_std_check *c)
{
    struct tn_json flow = c->flow->at;
    struct tn_json serving = tn_json_get(flow, "serving"), service = tn_json_get(serving, "state_service");
    bool nothing = is_open(c, c->doc->at, "pipeline") || is_open(c, c->doc->pipeline, "workflow"), *open = c->open;
    if (c->doc->marks.count == 0) return;
    open_steps(c);
    c->steps_open = c->steps_open || nothing;
    open[TN_STD_SPACE_INPUT] = nothing || is_open(c, flow, "inputs");
    open[TN_STD_SPACE_OUTPUT] = nothing || is_open(c, flow, "outputs");
    open[TN_STD_SPACE_COMPONENT] = nothing || is_open(c, flow, "components");
    open[TN_STD_SPACE_EFFECT] = nothing || is_open(c, flow, "effects");
    open[TN_STD_SPACE_CELL] = nothing || is_open(c, flow, "state");
    open[TN_STD_SPACE_GROUP] = nothing || is_open(c, flow, "serving") ||
                               is_open(c, serving, "state_service") || is_open(c, service, "groups");
    open[TN_STD_SPACE_VALUE] = open[TN_STD_SPACE_INPUT] || open[TN_STD_SPACE_CELL] || c->steps_open || hides_presence(c);
    open[TN_STD_SPACE_PORT_OR_VALUE] = open[TN_STD_SPACE_VALUE_OR_PORT] = open[TN_STD_SPACE_VALUE];
    open[TN_STD_SPACE_GROUP_OR_CELL] = open[TN_STD_SPACE_GROUP] || open[TN_STD_SPACE_CELL];
    open[TN_STD_SPACE_TARGET] = is_open(c, c->doc->at, "adapters") || tn_std_hides(c, c->doc->adapters.at, "target_manifest");
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

static struct tn_finding *begin(struct tn_std_check *c, enum tn_severity severity, const char *format, va_list args)
{
    struct tn_finding *f = tn_findings_add(c->findings, severity, TN_METADATA_INVALID, TN_PHASE_DESCRIBE, "%s", "");
    if (f) tn_finding_begin(f, severity, TN_METADATA_INVALID, TN_PHASE_DESCRIBE, format, args);
    return f;
}

/* A statement about something whose definition is broken: whether it holds depends on what should stand there. */
static bool names_unknown(const struct tn_std_check *c, struct tn_json v)
{
    struct tn_str name;
    if (c->doc->marks.count == 0 || !tn_json_str(v, &name)) return false;
    const struct tn_std_value *value = tn_std_value(c, name);
    const struct tn_std_component *component = tn_std_component(c, name);
    const struct tn_std_output *output = tn_std_output(c, name);
    const struct tn_std_group *group = tn_std_group(c, name);
    return (value && tn_std_unknown(c, value->at)) || (component && tn_std_unknown(c, component->at)) ||
           (output && tn_std_unknown(c, output->at)) || (group && tn_std_unknown(c, group->at));
}

struct tn_finding *tn_std_say(struct tn_std_check *c, struct tn_json v, const char *format, ...)
{
    va_list args;
    if (tn_std_unknown(c, tn_json_present(v) ? v : c->doc->at) || names_unknown(c, v)) return NULL;
    va_start(args, format);
    struct tn_finding *f = begin(c, TN_BLOCKER, format, args);
    va_end(args);
    tn_at_json(f, tn_json_present(v) ? v : c->doc->at); /* what the tables miss has no place of its own */
    return f;
}

struct tn_finding *tn_std_note(struct tn_std_check *c, struct tn_json v, const char *format, ...)
{
    va_list args;
    if (tn_std_unknown(c, v)) return NULL;
    va_start(args, format);
    struct tn_finding *f = begin(c, TN_NOTE, format, args);
    va_end(args);
    tn_at_json(f, v);
    return f;
}

struct tn_finding *tn_std_say_member(struct tn_std_check *c, struct tn_json object, const char *key,
                                     const char *format, ...)
{
    va_list args;
    if (tn_std_hides(c, tn_json_present(object) ? object : c->doc->at, key)) return NULL;
    va_start(args, format);
    struct tn_finding *f = begin(c, TN_BLOCKER, format, args);
    va_end(args);
    tn_at_json_member(f, tn_json_present(object) ? object : c->doc->at, key);
    return f;
}

struct tn_finding *tn_std_say_unknown(struct tn_std_check *c, const struct tn_std_ref *ref, enum tn_std_space space)
{
    static const char *const words[] = {
#define X(name, text) text,
        TN_STD_SPACE_LIST(X)
#undef X
    };
    const char *what = words[space];
    if (c->open[space]) return NULL;
    struct tn_finding *f = tn_std_say(c, ref->at, "there is no %s of this name", what);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(ref->name));
    tn_expected(f, "the name of a declared %s", what);
    return f;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static size_t hash(struct tn_str key)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < key.n; i++) h = (h ^ (unsigned char)key.s[i]) * UINT64_C(1099511628211);
    return (size_t)(h ^ (h >> 29));
}

bool tn_std_names_init(struct tn_std_names *names, struct tn_arena *arena, size_t most)
{
    size_t cap = 8;
    while (cap < most * 2) cap *= 2;
    names->slots = tn_arena_array(arena, cap, sizeof(*names->slots));
    names->mask = cap - 1;
    return names->slots != NULL;
}

/* The key's slot, or the free one where it would stand. */
static struct tn_std_name_slot *slot_of(const struct tn_std_names *names, struct tn_str key)
{
    size_t i = hash(key) & names->mask;
    while (names->slots[i].key.s && !tn_str_eq(names->slots[i].key, key)) i = (i + 1) & names->mask;
    return &names->slots[i];
}

uint32_t tn_std_names_put(struct tn_std_names *names, struct tn_str key, uint32_t value)
{
    struct tn_std_name_slot *slot = slot_of(names, key);
    if (slot->key.s) return slot->value;
    slot->key = key.s ? key : TN_STR("");
    slot->value = value;
    return TN_STD_NO_NAME;
}

uint32_t tn_std_names_get(const struct tn_std_names *names, struct tn_str key)
{
    if (!names->slots) return TN_STD_NO_NAME;
    const struct tn_std_name_slot *slot = slot_of(names, key);
    return slot->key.s ? slot->value : TN_STD_NO_NAME;
}

/* ---- lookups ---------------------------------------------------------------------------------------------------- */

#define LOOK_UP(names, items, name)                                                                \
    do {                                                                                           \
        uint32_t index_ = tn_std_names_get(&(names), name);                                        \
        return index_ == TN_STD_NO_NAME ? NULL : &(items)[index_];                                 \
    } while (0)

const struct tn_std_component *tn_std_component(const struct tn_std_check *c, struct tn_str name)
{
    LOOK_UP(c->component_names, c->flow->components, name);
}

const struct tn_std_cell *tn_std_cell(const struct tn_std_check *c, struct tn_str name)
{
    LOOK_UP(c->cell_names, c->flow->cells, name);
}

const struct tn_std_output *tn_std_output(const struct tn_std_check *c, struct tn_str name)
{
    LOOK_UP(c->output_names, c->flow->outputs, name);
}

const struct tn_std_group *tn_std_group(const struct tn_std_check *c, struct tn_str name)
{
    LOOK_UP(c->group_names, c->flow->serving.groups, name);
}

struct tn_std_value *tn_std_value(const struct tn_std_check *c, struct tn_str name)
{
    LOOK_UP(c->value_names, c->values, name);
}

#define WANT(find, what)                                                                           \
    do {                                                                                           \
        if (!tn_json_present(ref->at)) return NULL;                                                \
        if (!find(c, ref->name)) tn_std_say_unknown(c, ref, what);                                 \
        return find(c, ref->name);                                                                 \
    } while (0)

const struct tn_std_component *tn_std_want_component(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    WANT(tn_std_component, TN_STD_SPACE_COMPONENT);
}

const struct tn_std_cell *tn_std_want_cell(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    WANT(tn_std_cell, TN_STD_SPACE_CELL);
}

const struct tn_std_group *tn_std_want_group(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    WANT(tn_std_group, TN_STD_SPACE_GROUP);
}

struct tn_std_value *tn_std_want_value(struct tn_std_check *c, const struct tn_std_ref *ref)
{
    struct tn_std_value *value = tn_std_value(c, ref->name);
    if (value) value->read = true;
    WANT(tn_std_value, TN_STD_SPACE_VALUE);
}

bool tn_std_may_have_port(const struct tn_std_check *c, const struct tn_std_component *component, bool output,
                          struct tn_str name)
{
    struct tn_json ports = tn_json_get(component->at, "ports");
    if (tn_std_hides(c, component->at, "implementation")) return true;
    if (is_open(c, component->at, "ports") || is_open(c, ports, output ? "outputs" : "inputs")) return true;
    bool silent = component->inputs.count == 0 && component->outputs.count == 0;
    if (silent && component->implementation == TN_STD_ONNX) return true;
    return tn_standard_port(output ? &component->outputs : &component->inputs, name) != NULL;
}

/* ---- the run ---------------------------------------------------------------------------------------------------- */

#define INDEX(names, items, count)                                                                 \
    do {                                                                                           \
        if (!tn_std_names_init(&(names), &c->arena, count)) return false;                          \
        for (size_t i = 0; i < (count); i++) tn_std_names_put(&(names), (items)[i].name, (uint32_t)i); \
    } while (0)

static bool prepare(struct tn_std_check *c)
{
    const struct tn_std_workflow *f = c->flow;
    INDEX(c->component_names, f->components, f->component_count);
    INDEX(c->cell_names, f->cells, f->cell_count);
    INDEX(c->output_names, f->outputs, f->output_count);
    INDEX(c->group_names, f->serving.groups, f->serving.group_count);
    c->present = tn_arena_array(&c->arena, f->input_count, sizeof(*c->present));
    c->row_wise = tn_arena_array(&c->arena, f->output_count, sizeof(*c->row_wise));
    c->carrier = tn_arena_array(&c->arena, f->cell_count, sizeof(*c->carrier));
    c->told = tn_arena_array(&c->arena, f->cell_count, sizeof(*c->told));
    c->invoked = tn_arena_array(&c->arena, f->component_count, sizeof(*c->invoked));
    return (c->present || !f->input_count) && (c->row_wise || !f->output_count) &&
           ((c->carrier && c->told) || !f->cell_count) && (c->invoked || !f->component_count);
}

/* The workflow is the only serialised graph ABI. */
static void check_one_abi(struct tn_std_check *c)
{
    if (!tn_json_present(c->doc->model.io) || !tn_json_present(c->doc->pipeline)) return;
    struct tn_finding *f = tn_std_say(c, c->doc->model.io, "model.io stands beside a workflow, which already says what "
                                                           "the graph's ports are: two answers to one question");
    tn_expected(f, "roles in components.<name>.ports.roles, state ports in the owning state group");
    tn_remedy(f, "remove model.io");
}

bool tn_std_has_workflow(const struct tn_std_check *c)
{
    return tn_json_present(c->flow->at);
}

/* What names parts of a workflow stands without one: told once, at the first of them. */
static void check_no_workflow(struct tn_std_check *c)
{
    const struct tn_standard *d = c->doc;
    struct tn_json first = d->speculative.at;
    const char *what = "proposer and target are components of a workflow";
    for (size_t i = 0; i < d->profile_count && !tn_json_present(first); i++) {
        if (d->profiles[i].outputs.count > 0) first = d->profiles[i].outputs.at;
        what = "a profile's outputs are those of a workflow";
    }
    if (!tn_json_present(first) && d->generation.override_count > 0) {
        first = tn_json_get(d->generation.at, "overrides");
        what = "overrides are wired to the inputs of a workflow";
    }
    if (!tn_json_present(first) || tn_std_has_workflow(c) || tn_std_hides(c, d->at, "pipeline")) return;
    tn_expected(tn_std_say(c, first, "%s, and there is none", what), "pipeline.workflow");
}

static void check_workflow(struct tn_std_check *c)
{
    tn_std_check_values(c);
    if (c->memory_gone) return;
    tn_std_check_inputs(c);
    tn_std_check_steps(c);
    tn_std_check_cells(c);
    tn_std_check_groups(c);
    tn_std_check_components(c);
    tn_std_check_layouts(c);
    tn_std_check_capabilities(c);
}

enum tn_status tn_standard_check(const struct tn_standard *doc, struct tn_findings *findings, struct tn_error *err)
{
    struct tn_std_check c = {.doc = doc, .flow = &doc->workflow, .findings = findings};
    tn_arena_init(&c.arena, doc->arena.alloc);
    c.memory_gone = !prepare(&c);
    open_spaces(&c);
    if (!c.memory_gone && tn_json_present(doc->workflow.at)) check_workflow(&c);
    if (!c.memory_gone) {
        check_one_abi(&c);
        check_no_workflow(&c);
        tn_std_check_adapters(&c);
        tn_std_check_speculative(&c);
        tn_std_check_programs(&c);
        tn_std_check_profiles(&c);
        tn_std_check_generation(&c);
        tn_std_check_facts(&c);
        tn_std_check_paths(&c);
    }
    tn_arena_release(&c.arena);
    return c.memory_gone ? tn_error_memory(err, TN_PHASE_DESCRIBE, "checking the metadata document") : TN_OK;
}
