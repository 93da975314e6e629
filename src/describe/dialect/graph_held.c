/*
 * What a contract says of its graph as a whole: sizes of the model, precision of the weights, rows of the component, steps. And
 * the closed list of the contract's members that somebody compares or obeys when the graph runs; lists of what lies deeper stand
 * with their readers (graph_values.c, graph_state.c). A member that the standard gains is refused until somebody reads it.
 *
 * The surprising decision: a statement that no port of the graph shows, such as the heads of attention without a cache that has
 * them, is refused, too. Nobody would notice that it is wrong.
 */
#include "describe/dialect/graph_contract.h"

#include "describe/roles.h"

/* Some are refused elsewhere, with more to say: programs, speculation, adapters. What a server may switch and where a model may
 * be cut changes no answer; which texts its tokens are is no matter of tensors. */
static const char *const understood[] = {
    "schema_version",
    "required_capabilities",
    "hardware_requirements",
    "generation",
    "profiles",
    "preprocessing",
    "speculative",
    "adapters",
    "quantization",
    "model/max_sequence_length",
    "model/vocab_size",
    "model/io",
    "model/runtime_configurable",
    "model/sharding/tensor_parallel",
    "model/sharding/pipeline_parallel",
    "model/attention/type",
    "model/attention/fallback_behavior",
    "model/attention/num_attention_heads",
    "model/attention/num_kv_heads",
    "model/attention/head_dim",
    "model/attention/sliding_window",
    "package/tokenizer",
    "pipeline/workflow/manifest/capabilities",
    "pipeline/workflow/effects",
    "pipeline/workflow/state",
    "pipeline/workflow/serving/active",
    "pipeline/workflow/serving/done",
    "pipeline/workflow/serving/accepted_len",
    "pipeline/workflow/serving/state_service/groups",
    "pipeline/workflow/steps",
    "pipeline/workflow/inputs",
    "pipeline/workflow/outputs",
    "pipeline/workflow/components/*/implementation",
    "pipeline/workflow/components/*/ports",
    "pipeline/workflow/components/*/effects",
    "pipeline/workflow/components/*/row_scope",
    "pipeline/workflow/components/*/cache_affects_state",
    "pipeline/workflow/components/*/application_overridable",
};

static void refuse(struct tn_graph_reading *c, struct tn_json at, enum tn_status code, const char *what, const char *expected)
{
    tn_expected(tn_contract_refuse(c->b, at, code, what), "%s", expected);
}

static struct tn_json member_of(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_present(v) ? v : object;
}

/* ---- precision --------------------------------------------------------------------------------------------------- */

enum { INT32 = 6, INT64 = 7, BOOL = 9 }; /* of onnx_schema.h */

/* The one type of the graph's constants, lists of indices aside; 0: there are several, or none. */
static uint32_t weights_of(const struct tn_onnx_view *view)
{
    uint32_t one = 0;
    for (uint32_t i = 0; i < view->initializer_count; i++) {
        uint32_t e = view->initializers[i].element;
        if (e == INT64 || e == INT32 || e == BOOL || e == one) continue;
        if (one) return 0;
        one = e;
    }
    return one;
}

static uint32_t element_of(struct tn_str precision)
{
    enum tn_std_dtype dtype = tn_std_dtype_of(precision);
    return tn_onnx_element_named(dtype == TN_STD_DTYPE_OTHER ? precision : tn_str_of(tn_std_dtype_name(dtype)));
}

static void check_precision(struct tn_graph_reading *c, const struct tn_std_ref *stated, uint32_t weights)
{
    if (!tn_json_present(stated->at) || (weights && element_of(stated->name) == weights)) return;
    if (weights)
        tn_expected(tn_contract_refuse(c->b, stated->at, TN_METADATA_INVALID,
                                       "the contract and the weights of the graph contradict each other"),
                    "the type of the weights, which is %s", tn_onnx_element_name(weights));
    else
        refuse(c, stated->at, TN_UNSUPPORTED_CONFIG,
               "the graph has weights of several types, or none, which nothing here compares with a precision that is stated", "nothing");
}

static void check_precisions(struct tn_graph_reading *c)
{
    uint32_t weights = weights_of(c->graph->view);
    check_precision(c, &c->doc->quantization, weights);
    for (size_t i = 0; i < c->doc->quantization_override_count; i++)
        check_precision(c, &c->doc->quantization_overrides[i].precision, weights);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Of the view's inputs, then its outputs, the port with this role, whoever settles it; TN_NO_PORT: nobody does. */
static uint32_t settled(struct tn_graph_reading *c, enum tn_role role, bool output)
{
    const struct tn_onnx_view *view = c->graph->view;
    struct tn_findings unsaid; /* told with the evidence */
    struct tn_role_port *ports = tn_calloc(c->b->alloc, (size_t)view->input_count + view->output_count + 1, sizeof(*ports));
    if (!ports) {
        tn_builder_no_memory(c->b);
        return TN_NO_PORT;
    }
    const struct tn_std_count *vocabulary = &c->doc->model.vocab_size;
    struct tn_role_question q = {.component = c->component->name,
                                 .graph = view->file,
                                 .place = c->component->at,
                                 .ports = ports,
                                 .port_count = tn_role_ports(view, c->doc, c->component, ports),
                                 .vocab_size = vocabulary->present ? vocabulary->value : 0,
                                 .names = true};
    tn_findings_init(&unsaid, c->b->alloc, c->b->d->findings.max);
    struct tn_role_binding binding = tn_role_settle(&q, role, output, false, &unsaid);
    tn_findings_release(&unsaid);
    tn_free(c->b->alloc, ports);
    return binding.source == TN_ROLE_UNSETTLED ? TN_NO_PORT : binding.port;
}

/* The input of token ids, by the role of the value that feeds it or of its port. */
static uint32_t tokens_of(struct tn_graph_reading *c)
{
    const struct tn_graph_facts *g = c->graph;
    for (uint32_t i = 0; i < g->input_count; i++) {
        const struct tn_std_input *in = tn_standard_input(c->doc, g->said_in[i].name);
        if (in && in->runtime_role && tn_str_is(in->role.name, "prompt_tokens")) return i;
    }
    uint32_t port = settled(c, TN_ROLE_OF_TOKEN_IDS, false);
    return port == TN_NO_PORT ? TN_NO_PORT : tn_graph_input_named(g, g->view->inputs[port].name);
}

static const struct tn_onnx_port *logits_of(struct tn_graph_reading *c)
{
    const struct tn_onnx_view *view = c->graph->view;
    uint32_t port = settled(c, TN_ROLE_OF_LOGITS, true);
    return port == TN_NO_PORT ? NULL : &view->outputs[port - view->input_count];
}

static void contradict(struct tn_graph_reading *c, struct tn_json at, uint64_t other, struct tn_str port)
{
    tn_expected(tn_contract_refuse(c->b, at, TN_METADATA_INVALID,
                                   "the contract and the ports of the graph contradict each other"),
                "%llu, by %.*s", (unsigned long long)other, TN_FMT_ARG(port));
}

/* A table may have rows beyond the vocabulary, and never fewer. */
static void check_vocabulary(struct tn_graph_reading *c, uint32_t tokens)
{
    const struct tn_std_count *size = &c->doc->model.vocab_size;
    if (!size->present) return;
    const struct tn_onnx_port *in = tokens == TN_NO_PORT ? NULL : c->graph->inputs[tokens], *out = logits_of(c);
    if (!in && !out) {
        refuse(c, size->at, TN_UNSUPPORTED_CONFIG, "no port of the graph has a role that shows the vocabulary",
               "nothing, or the role token_ids or logits of a port");
        return;
    }
    if (in && in->table_rows && in->table_rows < size->value) contradict(c, size->at, in->table_rows, in->name);
    bool known = out && out->rank_known && out->rank > 0 && out->dims[out->rank - 1].kind == TN_ONNX_DIM_VALUE;
    if (known && (uint64_t)out->dims[out->rank - 1].value != size->value) contradict(c, size->at,
                                                                                     (uint64_t)out->dims[out->rank - 1].value, out->name);
}

/* Held against each request. */
static void check_length(struct tn_graph_reading *c, uint32_t tokens)
{
    const struct tn_std_count *most = &c->doc->model.max_sequence_length;
    if (!most->present) return;
    if (tokens != TN_NO_PORT) c->graph->said_in[tokens].most_tokens = most->value;
    else refuse(c, most->at, TN_UNSUPPORTED_CONFIG, "no port of the graph has a role that shows a sequence's length",
                "nothing, or the role token_ids of a port");
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

static void compare_axis(struct tn_graph_reading *c, const struct tn_std_count *stated, const struct tn_onnx_port *port,
                         uint32_t axis)
{
    bool known = stated->present && port->dims[axis].kind == TN_ONNX_DIM_VALUE && port->dims[axis].value >= 0;
    if (known && (uint64_t)port->dims[axis].value != stated->value) contradict(c, stated->at,
                                                                               (uint64_t)port->dims[axis].value, port->name);
}

/* Caches of keys and values, [batch, heads, positions, width], show the heads that they are of. */
static bool compare_caches(struct tn_graph_reading *c, const struct tn_std_group *group)
{
    const struct tn_std_model *m = &c->doc->model;
    bool met = false;
    for (size_t i = 0; i < group->port_count && tn_str_is(group->layout, "bnsh"); i++) {
        const struct tn_onnx_port *port = tn_onnx_input(c->graph->view, group->ports[i].input.name);
        if (!port || !port->rank_known || port->rank != 4) continue;
        compare_axis(c, m->kv_heads.present ? &m->kv_heads : &m->heads, port, 1);
        compare_axis(c, &m->head_dim, port, 3);
        met = true;
    }
    return met;
}

static void check_attention(struct tn_graph_reading *c)
{
    const struct tn_std_model *m = &c->doc->model;
    bool met = false, windowed = false;
    if (!tn_json_present(m->attention) || tn_json_is(m->attention, TN_JSON_NULL)) return;
    for (size_t i = 0; i < c->flow->serving.group_count; i++) {
        met |= compare_caches(c, &c->flow->serving.groups[i]);
        windowed |= c->flow->serving.groups[i].kind == TN_STD_SLIDING_ATTENTION;
    }
    if (!met) refuse(c, m->attention, TN_UNSUPPORTED_CONFIG, "no port of the graph shows its attention",
                     "nothing, or a state group of layout bnsh");
    if (m->sliding_window.present && !windowed)
        refuse(c, m->sliding_window.at, TN_UNSUPPORTED_CONFIG, "no state of the graph is that of a window",
               "nothing, or a state group of kind sliding_attention");
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const struct tn_std_layout *layout_fed(const struct tn_graph_reading *c, uint32_t input)
{
    const struct tn_std_contract *contract = c->graph->said_in[input].contract;
    return contract && contract->layout.kind == TN_STD_REQUEST_ALIGNED ? &contract->layout : NULL;
}

/* Rows that are kept apart, on the axis on which they come in and go out. */
static void check_rows(struct tn_graph_reading *c)
{
    const struct tn_std_component *k = c->component;
    bool aligned = false, other = false;
    if (!k->has_row_scope) return;
    for (uint32_t i = 0; i < c->graph->input_count; i++) {
        const struct tn_std_layout *l = layout_fed(c, i);
        aligned |= l != NULL;
        other |= l && k->row_axis.present && l->axis != k->row_axis.value;
    }
    for (uint32_t i = 0; i < c->graph->result_count; i++) {
        const struct tn_std_layout *l = &c->graph->results[i].contract->layout;
        other |= l->kind == TN_STD_REQUEST_ALIGNED && k->row_axis.present && l->axis != k->row_axis.value;
    }
    if (other || !aligned)
        refuse(c, member_of(k->row_scope_at, "axis"), TN_METADATA_INVALID, "the rows of the graph lie on another axis",
               "the axis of the batch_layout of what goes in and out");
    if (k->stateful && c->graph->state_count == 0)
        refuse(c, member_of(k->row_scope_at, "stateful"), TN_UNSUPPORTED_CONFIG,
               "nothing of the graph stays from call to call", "false, or state of session scope");
}

/* ---- steps, profiles --------------------------------------------------------------------------------------------- */

static const char *const step_rows[] = {
    "kind", "component", "inputs", "outputs", "steps", "value", "output", "mode",
    "valid_length", "when", /* refused where the structure of all contracts is looked at */
};

static void check_steps(struct tn_graph_reading *c, const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind != TN_STD_SEQUENCE && s->kind != TN_STD_INVOKE && s->kind != TN_STD_EMIT) continue; /* a capability */
        tn_contract_close(c->b, s->at, step_rows, sizeof(step_rows) / sizeof(step_rows[0]),
                          "the contract states of a step what this build does not execute");
        check_steps(c, &s->body);
    }
}

/* The task of a graph is `tensor`, and a profile promises another one. */
static void check_profiles(struct tn_graph_reading *c)
{
    for (size_t i = 0; i < c->doc->profile_count; i++) {
        const struct tn_std_profile *p = &c->doc->profiles[i];
        if (!p->ignorable) refuse(c, p->at, TN_UNSUPPORTED_CONFIG,
                                  "the contract promises a task that this build does not serve with a graph alone", "no profile, or one whose requirement is ignorable");
    }
}

void tn_graph_held(struct tn_graph_reading *c)
{
    const struct tn_std_model *m = &c->doc->model;
    uint32_t tokens = m->vocab_size.present || m->max_sequence_length.present ? tokens_of(c) : TN_NO_PORT;
    check_precisions(c);
    check_vocabulary(c, tokens);
    check_length(c, tokens);
    check_attention(c);
    check_rows(c);
    check_steps(c, &c->flow->steps);
    check_profiles(c);
    tn_contract_close(c->b, c->doc->at, understood, sizeof(understood) / sizeof(understood[0]),
                      "the contract states what this build does not understand of a graph");
}
