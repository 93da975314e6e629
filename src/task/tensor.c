/*
 * Tensors: the contract, and whether a description can serve it. A package that carries its own computation is called
 * with named typed values and gives named typed values back; nothing is claimed about what they mean.
 */
#include "task/tensor.h"

#include "base/doctype_rows.h"
#include "base/json_write.h"
#include "task/forms.h"

/* ---- assessment --------------------------------------------------------------------------------------------------- */

static void assess(const struct tn_description *d, struct tn_findings *findings, struct tn_task_route *out)
{
    *out = (struct tn_task_route){.graph = d->graph};
    if (d->graph) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_TASK, TN_PHASE_ASSESS,
                                           "the package carries no computation of its own that could be called with tensors");
    if (d->variant) tn_at_element(f, TN_ELEMENT_OPTION, TN_STR("variant"));
    if (d->variant) tn_found(f, "%.*s: %.*s", TN_FMT_ARG(d->variant->id), TN_FMT_ARG(d->variant->container));
    tn_expected(f, "a graph: an ONNX file");
    for (uint32_t i = 0; i < d->inv->variant_count; i++) {
        if (!d->inv->variants[i].graph) continue;
        tn_remedy(f, "the package holds graphs as well: choose one, e.g. --variant %.*s", TN_FMT_ARG(d->inv->variants[i].id));
        break;
    }
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

static void write_route(struct tn_json_writer *w, const struct tn_description *d, const struct tn_task_route *route)
{
    (void)d;
    tn_jw_member_cstr(w, "probe", "none: nobody knows an input that the graph takes");
    tn_jw_key(w, "states");
    tn_jw_begin_array(w);
    for (uint32_t i = 0; i < route->graph->state_count; i++) {
        tn_jw_begin_object(w);
        tn_jw_member_str(w, "name", route->graph->states[i].name);
        tn_jw_member_str(w, "input", route->graph->states[i].input);
        tn_jw_member_str(w, "output", route->graph->states[i].output);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

static void write_contract(struct tn_json_writer *w)
{
    tn_jw_key(w, "result");
    tn_jw_begin_array(w);
    tn_contract_field(w, "outputs", "{name: value}", "tensors {dtype, shape, data} with data in row-major order, sequences, maps and "
                      "optionals as in requests");
    tn_jw_end_array(w);
    tn_jw_key(w, "invariants");
    tn_jw_begin_object(w);
    tn_jw_member_bool(w, "batch_invariant", false);
    tn_jw_member_cstr(w, "items", "one result for the call");
    tn_jw_end_object(w);
}

/* ---- the request as a document ------------------------------------------------------------------------------------ */

TN_DOC_OBJECT_TYPE(tn_tensor_request_type, "TensorRequest", "Values for the inputs of a graph.",
    TN_DOC_MUST("inputs", TN_DOC_MAP_OF(TN_DOC_ANYTHING), "Of every input of the graph that has no default; a value is a list nested to "
                "the input's rank, or {dtype, shape, data}; of a sequence {sequence: [values]}; of a map {keys, values}; null for an optional "
                "without a value. NaN and infinities are strings."),
    TN_DOC_NULL("outputs", TN_DOC_LIST_OF(TN_DOC_TEXT), "Names of the outputs that are wanted; absent: all."),
    TN_FORM_DEADLINE);

static enum tn_status read(struct tn_json root, struct tn_arena *arena, struct tn_task_request *out, struct tn_error *err)
{
    struct tn_json inputs = tn_json_get(root, "inputs"), outputs = tn_json_get(root, "outputs");
    size_t count = tn_json_count(inputs), names = tn_json_count(outputs), i = 0;
    uint64_t number = 0;
    tn_tensor_request *r = tn_arena_alloc(arena, sizeof(*r));
    tn_port_value *values = tn_arena_array(arena, count + 1, sizeof(*values));
    tn_string *wanted = tn_arena_array(arena, names + 1, sizeof(*wanted));
    if (!r || !values || !wanted) return tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
    for (struct tn_json v = tn_json_first(inputs); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str key = tn_json_key(v), text = tn_json_text(v);
        values[i++] = (tn_port_value){.name = {key.s, key.n}, .kind = TN_VALUE_JSON, .data = text.s, .size = text.n};
    }
    i = 0;
    for (struct tn_json v = tn_json_first(outputs); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str name = TN_STR("");
        (void)tn_json_str(v, &name);
        wanted[i++] = (tn_string){name.s, name.n};
    }
    *r = TN_INIT(tn_tensor_request);
    r->inputs = values;
    r->count = count;
    r->outputs = tn_json_is(outputs, TN_JSON_ARRAY) ? wanted : NULL;
    r->output_count = names;
    if (tn_json_u64(tn_json_get(root, "timeout_ms"), &number)) r->timeout_ms = (uint32_t)number;
    *out = (struct tn_task_request){r, r->timeout_ms, NULL, 0};
    return TN_OK;
}

static const char *const evidence[] = {"graph.input", "graph.output", NULL};

const struct tn_task tn_task_tensor = {
    .name = "tensor",
    .contract = "tenon.tensor/v1",
    .recipe = &tn_recipe_tensor,
    .what = "named typed tensors in, named typed tensors out, by the graph that the package is",
    .write = write_contract,
    .assess = assess,
    .write_route = write_route,
    .evidence = evidence,
    .request = &tn_tensor_request_type,
    .read = read,
};
