/*
 * Reads the workflow's steps as a tree, its state cells and its state groups. Nesting is bounded here, once, so that
 * everybody who walks the tree may recurse. Inputs are untrusted.
 */
#include "describe/standard/read.h"

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static const struct tn_std_word kinds[] = {
    {"sequence", TN_STD_SEQUENCE},
    {"invoke", TN_STD_INVOKE},
    {"loop", TN_STD_LOOP},
    {"branch", TN_STD_BRANCH},
    {"emit", TN_STD_EMIT},
    {NULL, 0},
};

static const struct tn_std_word modes[] = {
    {"replace", TN_STD_EMIT_REPLACE},
    {"append", TN_STD_EMIT_APPEND},
    {"event", TN_STD_EMIT_EVENT},
    {NULL, 0},
};

static void read_step(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_step *out);

static void read_loop(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_step *out)
{
    struct tn_json carried = tn_json_get(v, "carried"), iteration = tn_std_get(v, "iteration");
    tn_std_read_steps(r, tn_json_get(v, "setup"), depth, &out->setup);
    out->continue_when = tn_std_ref_of(v, "continue_when");
    out->max_iterations = tn_std_ref_of(v, "max_iterations");
    out->generation_eos = tn_str_is(tn_std_str_of(v, "termination"), "generation_eos");
    out->iteration = tn_std_ref_of(iteration, "value");
    tn_std_contract_at(r, tn_json_get(iteration, "contract"), &out->iteration_contract);
    if (!tn_json_is(carried, TN_JSON_ARRAY)) return;
    out->carried = tn_std_array(r, tn_json_count(carried), sizeof(*out->carried), &out->carried_count);
    size_t i = 0;
    for (struct tn_json c = tn_json_first(carried); i < out->carried_count; c = tn_json_next(c), i++) {
        out->carried[i].at = c;
        out->carried[i].cell = tn_std_ref_of(c, "cell");
        out->carried[i].initial = tn_std_ref_of(c, "initial");
        out->carried[i].next = tn_std_ref_of(c, "next");
    }
}

static void read_merged(struct tn_std_reader *r, struct tn_json v, struct tn_std_step *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->merged = tn_std_array(r, tn_json_count(v), sizeof(*out->merged), &out->merged_count);
    size_t i = 0;
    for (struct tn_json m = tn_json_first(v); i < out->merged_count; m = tn_json_next(m), i++) {
        out->merged[i].name = tn_json_key(m);
        out->merged[i].at = m;
        out->merged[i].cases = tn_std_bindings_of(r, m, "cases");
        out->merged[i].otherwise = tn_std_ref_of(m, "default");
    }
}

static void read_branch(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_step *out)
{
    struct tn_json cases = tn_json_get(v, "cases"), otherwise = tn_std_get(v, "default");
    size_t names, one;
    out->predicate = tn_std_ref_of(v, "predicate");
    read_merged(r, tn_json_get(v, "outputs"), out);
    if (tn_json_is(cases, TN_JSON_OBJECT)) {
        out->cases.at = cases;
        out->case_names = tn_std_array(r, tn_json_count(cases), sizeof(*out->case_names), &names);
        out->cases.items = tn_std_array(r, names, sizeof(*out->cases.items), &out->cases.count);
        size_t i = 0;
        for (struct tn_json c = tn_json_first(cases); i < out->cases.count; c = tn_json_next(c), i++) {
            out->case_names[i] = tn_json_key(c);
            read_step(r, c, depth, &out->cases.items[i]);
        }
    }
    if (!tn_json_present(otherwise)) return;
    out->otherwise = tn_std_array(r, 1, sizeof(*out->otherwise), &one);
    if (out->otherwise) read_step(r, otherwise, depth, out->otherwise);
}

static void read_emit(struct tn_json v, struct tn_std_step *out)
{
    out->value = tn_std_ref_of(v, "value");
    out->output = tn_std_ref_of(v, "output");
    out->valid_length = tn_std_ref_of(v, "valid_length");
    out->when = tn_std_ref_of(v, "when");
    out->axis = tn_std_count_of(v, "axis");
    out->mode = (enum tn_std_emit_mode)tn_std_word_of(v, "mode", modes);
}

static void read_step(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_step *out)
{
    out->at = v;
    out->kind = (enum tn_std_step_kind)tn_std_word_of(v, "kind", kinds);
    if (depth >= TN_STD_STEP_DEPTH) {
        r->too_deep = true;
        r->deep_at = v;
        return;
    }
    switch (out->kind) {
    case TN_STD_LOOP:
        read_loop(r, v, depth + 1, out);
        tn_std_read_steps(r, tn_json_get(v, "steps"), depth + 1, &out->body);
        break;
    case TN_STD_SEQUENCE: tn_std_read_steps(r, tn_json_get(v, "steps"), depth + 1, &out->body); break;
    case TN_STD_BRANCH: read_branch(r, v, depth + 1, out); break;
    case TN_STD_EMIT: read_emit(v, out); break;
    case TN_STD_INVOKE:
        out->component = tn_std_ref_of(v, "component");
        out->inputs = tn_std_bindings_of(r, v, "inputs");
        out->outputs = tn_std_bindings_of(r, v, "outputs");
        break;
    case TN_STD_STEP_OTHER: break;
    }
}

void tn_std_read_steps(struct tn_std_reader *r, struct tn_json v, unsigned depth, struct tn_std_steps *out)
{
    if (!tn_json_is(v, TN_JSON_ARRAY)) return;
    out->at = v;
    out->items = tn_std_array(r, tn_json_count(v), sizeof(*out->items), &out->count);
    size_t i = 0;
    for (struct tn_json s = tn_json_first(v); i < out->count; s = tn_json_next(s), i++)
        read_step(r, s, depth, &out->items[i]);
}

/* ---- state cells ------------------------------------------------------------------------------------------------ */

static const struct tn_std_word recurrences[] = {
    {"invariant", TN_STD_INVARIANT},
    {"growing", TN_STD_GROWING},
    {"bounded", TN_STD_BOUNDED},
    {NULL, 0},
};

static const struct tn_std_word managements[] = {
    {"workflow", TN_STD_WORKFLOW},
    {"runtime", TN_STD_RUNTIME},
    {"external", TN_STD_EXTERNAL},
    {NULL, 0},
};

static const struct tn_std_word boundaries[] = {
    {"invocation", TN_STD_END_OF_INVOCATION},
    {"session", TN_STD_END_OF_SESSION},
    {"row", TN_STD_END_OF_ROW},
    {NULL, 0},
};

static void read_cell(struct tn_std_reader *r, struct tn_json v, struct tn_std_cell *out)
{
    struct tn_json recurrence = tn_std_get(v, "recurrence");
    out->name = tn_json_key(v);
    out->at = v;
    tn_std_contract_at(r, tn_json_get(v, "contract"), &out->contract);
    out->advisory = tn_str_is(tn_std_str_of(v, "class"), "advisory");
    out->session_scope = tn_str_is(tn_std_str_of(v, "scope"), "session");
    out->initializer = tn_std_ref_of(v, "initializer");
    out->recurrence = (enum tn_std_recurrence)tn_std_word_of(recurrence, "kind", recurrences);
    out->axis = tn_std_count_of(recurrence, "axis");
    out->increment = tn_std_ref_of(recurrence, "increment");
    out->max = tn_std_ref_of(recurrence, "max");
    out->recurrence_at = recurrence;
    out->management = (enum tn_std_management)tn_std_word_of(v, "management", managements);
    out->boundary_at = tn_std_get(v, "release_boundary");
    out->boundary = (enum tn_std_boundary)tn_std_word_of(v, "release_boundary", boundaries);
    out->group = tn_std_ref_of(v, "service_group");
    out->session = tn_std_get(v, "session");
}

/* ---- state groups ----------------------------------------------------------------------------------------------- */

static const struct tn_std_word state_kinds[] = {
    {"full_attention", TN_STD_FULL_ATTENTION},
    {"sliding_attention", TN_STD_SLIDING_ATTENTION},
    {"multi_latent_attention", TN_STD_LATENT_ATTENTION},
    {"recurrent", TN_STD_RECURRENT},
    {"cross_attention", TN_STD_CROSS_ATTENTION},
    {"encoder", TN_STD_ENCODER},
    {NULL, 0},
};

static const struct tn_std_word aliasings[] = {
    {"forbidden", TN_STD_ALIASING_FORBIDDEN},
    {"permitted", TN_STD_ALIASING_PERMITTED},
    {"required", TN_STD_ALIASING_REQUIRED},
    {NULL, 0},
};

static const struct tn_std_word updates[] = {
    {"append", TN_STD_APPEND},
    {"replace", TN_STD_REPLACE},
    {"indexed_scatter", TN_STD_INDEXED_SCATTER},
    {NULL, 0},
};

static const struct tn_std_word halves[] = {
    {"key", TN_STD_KEY},
    {"value", TN_STD_VALUE},
    {"combined", TN_STD_COMBINED},
    {NULL, 0},
};

/* {component: {label: pair}} becomes one list, which is what everybody walks. */
static void read_state_ports(struct tn_std_reader *r, struct tn_json v, struct tn_std_group *out)
{
    size_t total = 0, n = 0;
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->ports_at = v;
    for (struct tn_json c = tn_json_first(v); tn_json_present(c); c = tn_json_next(c))
        if (tn_json_is(c, TN_JSON_OBJECT)) total += tn_json_count(c);
    out->ports = tn_std_array(r, total, sizeof(*out->ports), &out->port_count);
    for (struct tn_json c = tn_json_first(v); n < out->port_count && tn_json_present(c); c = tn_json_next(c)) {
        if (!tn_json_is(c, TN_JSON_OBJECT)) continue;
        for (struct tn_json p = tn_json_first(c); tn_json_present(p); p = tn_json_next(p)) {
            struct tn_std_state_port *port = &out->ports[n++];
            port->at = p;
            port->component = tn_json_key(c);
            port->component_at = c;
            port->label = tn_json_key(p);
            port->input = tn_std_ref_of(p, "input");
            port->output = tn_std_ref_of(p, "output");
            port->read_only = tn_str_is(tn_std_str_of(p, "access"), "read_only");
            port->half_at = tn_std_get(p, "role");
            port->half = (enum tn_std_half)tn_std_word_of(p, "role", halves);
            port->layer = tn_std_count_of(p, "layer");
        }
    }
}

static void read_update(struct tn_std_reader *r, struct tn_json v, struct tn_std_group *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->has_update = true;
    out->update_at = v;
    out->update = (enum tn_std_update)tn_std_word_of(v, "kind", updates);
    out->write_indices = tn_std_ref_of(v, "write_indices");
    out->capacity = tn_std_ref_of(v, "capacity");
    out->write_indices_ports = tn_std_bindings_of(r, v, "write_indices_ports");
    out->kv_length_ports = tn_std_bindings_of(r, v, "kv_length_ports");
}

static void read_group(struct tn_std_reader *r, struct tn_json v, struct tn_std_group *out)
{
    struct tn_json reuse = tn_std_get(v, "reuse"), bounds = tn_std_get(v, "capabilities");
    struct tn_json checkpoint = tn_std_get(v, "checkpoint");
    out->name = tn_json_key(v);
    out->at = v;
    out->kind_at = tn_std_get(v, "kind");
    out->kind = (enum tn_std_state_kind)tn_std_word_of(v, "kind", state_kinds);
    out->layout = tn_std_str_of(v, "layout");
    out->sequence_axis = tn_std_count_of(v, "sequence_axis");
    out->aliasing = (enum tn_std_aliasing)tn_std_word_of(v, "aliasing", aliasings);
    out->logical_lengths = tn_std_ref_of(v, "logical_lengths");
    out->total_length = tn_std_ref_of(v, "total_length");
    read_update(r, tn_json_get(v, "update"), out);
    out->prefix_reusable = tn_std_bool_of(reuse, "prefix_reusable", false);
    out->evictable_prefix = tn_std_bool_of(reuse, "evictable_prefix", false);
    out->capabilities_at = bounds;
    out->rollback_positions = tn_std_count_of(bounds, "rollback_positions");
    out->snapshot = tn_std_bool_of(bounds, "snapshot", false);
    out->fork = tn_std_bool_of(bounds, "fork", false);
    out->cascade = tn_std_refs_of(r, bounds, "cascade");
    out->checkpoint = tn_std_ref_of(checkpoint, "adapter");
    out->checkpoint_version = tn_std_ref_of(checkpoint, "version");
    read_state_ports(r, tn_json_get(v, "ports"), out);
}

void tn_std_read_state(struct tn_std_reader *r, struct tn_json workflow, struct tn_std_workflow *out)
{
    struct tn_json cells = tn_json_get(workflow, "state"), serving = tn_std_get(workflow, "serving");
    struct tn_json groups = tn_json_get(tn_std_get(serving, "state_service"), "groups");
    size_t i = 0;
    if (tn_json_is(cells, TN_JSON_OBJECT))
        out->cells = tn_std_array(r, tn_json_count(cells), sizeof(*out->cells), &out->cell_count);
    for (struct tn_json v = tn_json_first(cells); i < out->cell_count; v = tn_json_next(v), i++)
        read_cell(r, v, &out->cells[i]);
    out->serving.at = serving;
    out->serving.active = tn_std_ref_of(serving, "active");
    out->serving.done = tn_std_ref_of(serving, "done");
    out->serving.accepted_len = tn_std_ref_of(serving, "accepted_len");
    if (!tn_json_is(groups, TN_JSON_OBJECT)) return;
    struct tn_std_serving *s = &out->serving;
    s->groups = tn_std_array(r, tn_json_count(groups), sizeof(*s->groups), &s->group_count);
    i = 0;
    for (struct tn_json v = tn_json_first(groups); i < s->group_count; v = tn_json_next(v), i++)
        read_group(r, v, &s->groups[i]);
}
