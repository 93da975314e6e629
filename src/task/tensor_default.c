/*
 * What a declared contract adds to the ports of a graph: relations between sizes that the graph leaves open, and values for
 * inputs that nobody gives. The contract has passed its checks; sizes come from requests.
 */
#include "task/tensor.h"

#include <stdlib.h>

#define ROWS "the number of rows"

/* ---- relations ---------------------------------------------------------------------------------------------------- */

static bool find(const struct tn_tensor_symbols *s, struct tn_str symbol, size_t *at)
{
    for (*at = 0; *at < s->count; ++*at)
        if (tn_str_eq(s->name[*at], symbol)) return true;
    return false;
}

/* The size that the contract wants of a dimension, and who says so; false when the first to have it may choose. */
static bool wanted_size(const struct tn_std_contract *contract, uint32_t i, struct tn_str name, int64_t size,
                        struct tn_tensor_symbols *declared, int64_t *want, struct tn_str *symbol, struct tn_str *by)
{
    const struct tn_std_layout *layout = &contract->layout;
    const struct tn_std_dim *d = contract->has_shape ? &contract->dims[i] : NULL;
    bool rows = layout->kind == TN_STD_REQUEST_ALIGNED && layout->axis == i;
    size_t at = 0;
    *symbol = *by = TN_STR("");
    if (d && d->fixed && d->extent != size) {
        *want = d->extent;
        return true;
    }
    if (d && !d->fixed && find(declared, d->symbol, &at)) {
        *want = declared->value[at];
        *symbol = d->symbol;
        *by = declared->by[at];
        if (*want != size) return true;
    } else if (d && !d->fixed && at < sizeof(declared->value) / sizeof(declared->value[0])) {
        declared->name[at] = d->symbol;
        declared->value[at] = size;
        declared->by[at] = name;
        declared->count++;
    }
    if (!rows) return false;
    if (!declared->has_rows) {
        declared->has_rows = true;
        declared->rows = size;
        declared->rows_by = name;
    }
    *want = declared->rows;
    *symbol = TN_STR(ROWS);
    *by = declared->rows_by;
    return *want != size;
}

static bool has_sizes(const struct tn_std_contract *contract, const struct tn_tensor *t)
{
    return contract && t->kind == TN_KIND_TENSOR && (!contract->has_shape || contract->dim_count == t->rank);
}

static void say_size(struct tn_finding *f, struct tn_str name, uint32_t i, int64_t size, int64_t want, struct tn_str symbol,
                     struct tn_str by)
{
    tn_at_element(f, TN_ELEMENT_TENSOR, name);
    tn_found(f, "dimension %u is %lld", i, (long long)size);
    if (symbol.n == 0) tn_expected(f, "%lld", (long long)want);
    else tn_expected(f, "%.*s is %lld, by %.*s", TN_FMT_ARG(symbol), (long long)want, TN_FMT_ARG(by));
}

void tn_tensor_declared(const struct tn_onnx_port *port, const struct tn_std_contract *contract, const struct tn_tensor *t,
                        struct tn_tensor_symbols *declared, struct tn_findings *findings)
{
    struct tn_str symbol, by;
    int64_t want;
    for (uint32_t i = 0; has_sizes(contract, t) && i < t->rank; i++) {
        if (!wanted_size(contract, i, port->name, t->dims[i], declared, &want, &symbol, &by)) continue;
        struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                               "input %.*s has another size than the package's contract declares", TN_FMT_ARG(port->name));
        say_size(f, port->name, i, t->dims[i], want, symbol, by);
    }
}

/*
 * Element type and rank that the graph's file leaves open are held here as well. Symbols of results are not: exporters give them
 * to outputs that a branch of the graph leaves empty, and a contract that was written from the file says the same.
 */
enum tn_status tn_tensor_published(const struct tn_graph_result *result, const struct tn_tensor *t,
                                   struct tn_tensor_symbols *declared,
                                   struct tn_error *err)
{
    const struct tn_std_contract *contract = result->contract;
    struct tn_str symbol, by;
    int64_t want;
    bool tensor = t->kind == TN_KIND_TENSOR;
    if (contract && (!tensor || (contract->rank.present && contract->rank.value != t->rank))) {
        struct tn_finding *f = tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE,
                                            "output %.*s came out as another value than the package's contract declares", TN_FMT_ARG(result->name));
        tn_at_element(f, TN_ELEMENT_TENSOR, result->name);
        if (tensor) tn_found(f, "rank %u", t->rank);
        tn_expected(f, "%.*s", TN_FMT_ARG(tn_json_text(contract->at)));
        return TN_RUNTIME_FAILURE;
    }
    for (uint32_t i = 0; has_sizes(contract, t) && i < t->rank; i++) {
        if (!wanted_size(contract, i, result->name, t->dims[i], declared, &want, &symbol, &by)) continue;
        if (symbol.n && !tn_str_is(symbol, ROWS)) continue;
        struct tn_finding *f = tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE,
                                            "output %.*s came out in another size than the package's contract declares", TN_FMT_ARG(result->name));
        say_size(f, result->name, i, t->dims[i], want, symbol, by);
        return TN_RUNTIME_FAILURE;
    }
    return TN_OK;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------- */

static void refuse_value(const struct tn_graph_input *said, double value, struct tn_findings *findings)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_UNSUPPORTED_OPTION, TN_PHASE_REQUEST,
                                           "input %.*s is out of the bounds that the package's contract states", TN_FMT_ARG(said->name));
    tn_at_element(f, TN_ELEMENT_TENSOR, said->name);
    tn_found(f, "%s", TN_F64(value));
    if (said->has_minimum && said->has_maximum) tn_expected(f, "%s to %s", TN_F64(said->minimum), TN_F64(said->maximum));
    else if (said->has_minimum) tn_expected(f, "at least %s", TN_F64(said->minimum));
    else tn_expected(f, "at most %s", TN_F64(said->maximum));
}

/* What is no number lies in no bounds. */
void tn_tensor_bounded(const struct tn_graph_input *said, const struct tn_tensor *t, struct tn_findings *findings)
{
    bool bounded = said->has_minimum || said->has_maximum;
    bool numbers = t->kind == TN_KIND_TENSOR && t->element != TN_EL_STRING;
    for (uint64_t i = 0; bounded && numbers && i < t->count; i++) {
        double v = tn_element_get(t->element, t->data, (size_t)i);
        if ((!said->has_minimum || v >= said->minimum) && (!said->has_maximum || v <= said->maximum)) continue;
        refuse_value(said, v, findings);
        break;
    }
    if (!said->most_tokens || !numbers || t->rank == 0 || (uint64_t)t->dims[t->rank - 1] <= said->most_tokens) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                           "input %.*s has more tokens than the package's contract allows", TN_FMT_ARG(said->name));
    tn_at_element(f, TN_ELEMENT_TENSOR, said->name);
    tn_found(f, "%lld", (long long)t->dims[t->rank - 1]);
    tn_expected(f, "at most %llu, its max_sequence_length", (unsigned long long)said->most_tokens);
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
    if (contract && contract->layout.kind == TN_STD_REQUEST_ALIGNED && contract->layout.axis == i && declared->has_rows) return declared->rows;
    if (g && g->kind == TN_ONNX_DIM_VALUE) return g->value;
    if (g && g->kind == TN_ONNX_DIM_SYMBOL && g->symbol.n && find(graph, g->symbol, &at)) return graph->value[at];
    return -1;
}

static struct tn_tensor *refuse(const struct tn_onnx_port *port, struct tn_findings *findings, const char *what, int64_t axis)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s: %s",
                                           TN_FMT_ARG(port->name), what);
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
    bool sound = tn_shape_count(dims, rank, &count) && tn_element_bytes((enum tn_element)port->element, count,
                                                                        &bytes) && bytes <= limits->tensor_bytes;
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
