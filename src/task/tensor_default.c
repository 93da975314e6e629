/*
 * What a declared contract adds to the ports of a graph: relations between sizes that the graph leaves open, and values for
 * inputs that nobody gives. The contract has passed its checks; sizes come from requests.
 */
#include "task/tensor.h"

#include <stdlib.h>

/* ---- relations ---------------------------------------------------------------------------------------------------- */

static bool find(const struct tn_tensor_symbols *s, struct tn_str symbol, size_t *at)
{
    for (*at = 0; *at < s->count; ++*at)
        if (tn_str_eq(s->name[*at], symbol)) return true;
    return false;
}

void tn_tensor_declared(const struct tn_onnx_port *port, const struct tn_std_contract *contract, const struct tn_tensor *t,
                        struct tn_tensor_symbols *declared, struct tn_findings *findings)
{
    bool sized = contract && contract->has_shape && t->kind == TN_KIND_TENSOR && contract->dim_count == t->rank;
    for (uint32_t i = 0; sized && i < t->rank; i++) {
        const struct tn_std_dim *d = &contract->dims[i];
        size_t at = 0;
        if (!d->fixed && !find(declared, d->symbol, &at)) {
            if (at == sizeof(declared->value) / sizeof(declared->value[0])) continue;
            declared->name[at] = d->symbol;
            declared->value[at] = t->dims[i];
            declared->by[at] = port->name;
            declared->count++;
            continue;
        }
        if (t->dims[i] == (d->fixed ? d->extent : declared->value[at])) continue;
        struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                               "input %.*s has another size than the package's contract declares", TN_FMT_ARG(port->name));
        tn_at_element(f, TN_ELEMENT_TENSOR, port->name);
        tn_found(f, "dimension %u is %lld", i, (long long)t->dims[i]);
        if (d->fixed) tn_expected(f, "%lld", (long long)d->extent);
        else tn_expected(f, "%.*s is %lld, by input %.*s", TN_FMT_ARG(d->symbol), (long long)declared->value[at], TN_FMT_ARG(declared->by[at]));
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* The number of a dimension, by whoever says it; -1: nobody does. */
static int64_t size_of(const struct tn_onnx_port *port, const struct tn_std_contract *contract, uint32_t i,
                       const struct tn_tensor_symbols *graph, const struct tn_tensor_symbols *declared)
{
    const struct tn_std_dim *d = contract && contract->has_shape && i < contract->dim_count ? &contract->dims[i] : NULL;
    const struct tn_onnx_dim *g = port->rank_known && i < port->rank ? &port->dims[i] : NULL;
    size_t at;
    if (d && d->fixed) return d->extent;
    if (d && find(declared, d->symbol, &at)) return declared->value[at];
    if (g && g->kind == TN_ONNX_DIM_VALUE) return g->value;
    if (g && g->kind == TN_ONNX_DIM_SYMBOL && g->symbol.n && find(graph, g->symbol, &at)) return graph->value[at];
    return -1;
}

static struct tn_tensor *refuse(const struct tn_onnx_port *port, struct tn_findings *findings, const char *what, int64_t axis)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s: %s", TN_FMT_ARG(port->name), what);
    tn_at_element(f, TN_ELEMENT_TENSOR, port->name);
    if (axis >= 0) tn_found(f, "dimension %lld is open", (long long)axis);
    tn_remedy(f, "give the input itself");
    return NULL;
}

/* "0.25", "true", "NaN" in quotes: one element. */
static bool set_element(struct tn_tensor *t, uint64_t i, struct tn_json v)
{
    bool truth;
    int64_t whole;
    double real;
    struct tn_str text;
    if (tn_json_str(v, &text)) return t->element == TN_EL_STRING && tn_tensor_set_text(t, (size_t)i, text);
    if (tn_json_bool(v, &truth)) whole = truth;
    else if (!tn_json_i64(v, &whole)) {
        if (!tn_json_f64(v, &real) || !tn_elements_have(TN_ELS_FLOAT | TN_ELS_F8, t->element)) return false;
        tn_element_set(t->element, t->data, i, real, false);
        return true;
    }
    if (tn_elements_have(TN_ELS_FLOAT | TN_ELS_F8, t->element)) tn_element_set(t->element, t->data, i, (double)whole, false);
    else if (t->element == TN_EL_BOOL) ((uint8_t *)t->data)[i] = whole != 0;
    else tn_element_set_int(t->element, t->data, i, whole);
    return t->element != TN_EL_STRING;
}

struct tn_tensor *tn_tensor_of_default(const struct tn_onnx_port *port, const struct tn_graph_input *said, struct tn_heap *heap,
                                       const struct tn_limits *limits, const struct tn_tensor_symbols *graph,
                                       const struct tn_tensor_symbols *declared, struct tn_findings *findings, bool *no_memory)
{
    const struct tn_std_contract *contract = said->contract;
    bool list = tn_json_is(said->value, TN_JSON_ARRAY);
    uint32_t rank = contract && contract->has_shape ? (uint32_t)contract->dim_count : port->rank;
    int64_t dims[TN_RANK];
    uint64_t count;
    size_t bytes;
    if (port->kind != TN_ONNX_PORT_TENSOR || rank > TN_RANK || (!port->rank_known && !(contract && contract->has_shape)))
        return refuse(port, findings, "its declared default has no shape that follows", -1);
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = size_of(port, contract, i, graph, declared);
        if (dims[i] < 0 && list && rank == 1) dims[i] = (int64_t)tn_json_count(said->value);
        if (dims[i] < 0) return refuse(port, findings, "its declared default has a size that nothing tells", i);
    }
    bool sound = tn_shape_count(dims, rank, &count) && tn_element_bytes((enum tn_element)port->element, count, &bytes) && bytes <= limits->tensor_bytes;
    if (!sound || (list && tn_json_count(said->value) != count))
        return refuse(port, findings, "its declared default does not have as many elements as its shape", -1);
    struct tn_tensor *t = tn_tensor_new(heap, (enum tn_element)port->element, rank, dims);
    if (!t) *no_memory = true;
    struct tn_json v = list ? tn_json_first(said->value) : said->value;
    for (uint64_t i = 0; t && i < count; i++, v = list ? tn_json_next(v) : v) {
        if (set_element(t, i, v)) continue;
        tn_tensor_drop(t);
        return refuse(port, findings, "its declared default is no value of its type", -1);
    }
    return t;
}
