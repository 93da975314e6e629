/*
 * From the bytes of a ModelProto to the view of onnx.h: the model, its graphs, nodes and functions. Knows the messages
 * and nothing about what they compute. Nothing recurses: graphs inside nodes wait in a list with their depth. Memory
 * grows with bytes that were read, never with a number that a file claims.
 */
#include "package/onnx_read.h"

#include "base/sort.h"
#include "base/utf8.h"
#include "package/scan.h"

#include <string.h>

/* Published graphs have some hundred; each costs a place in a sorted list. */
enum { DISTINCT_OPERATORS = 16384 };

/* ---- small messages ---------------------------------------------------------------------------------------------- */

static struct tn_onnx_opset read_opset(struct tn_onnx_reader *r, struct tn_wire_range range)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_OPSET, .range = range};
    struct tn_onnx_opset opset = {.domain = TN_STR("")};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) opset.domain = tn_onnx_string(r, f.bytes);
        if (f.number == 2) opset.version = (int64_t)f.value;
    }
    opset.domain = tn_onnx_domain(opset.domain);
    return opset;
}

static void add_opset(struct tn_onnx_reader *r, const struct tn_wire_field *f)
{
    struct tn_onnx_view *v = r->view;
    void *items = tn_onnx_room(r, v->opsets, &r->opset_cap, v->opset_count, sizeof(*v->opsets), f->at);
    if (!items) return;
    v->opsets = items;
    v->opsets[v->opset_count++] = read_opset(r, f->bytes);
}

/* Keys are identifiers; a value may be a page of JSON, and a longer one is only measured. */
static struct tn_onnx_property read_property(struct tn_onnx_reader *r, struct tn_wire_range range)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_ENTRY, .range = range};
    struct tn_onnx_property p = {.key = TN_STR(""), .value = TN_STR("")};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) p.key = tn_onnx_string(r, f.bytes);
        if (f.number != 2) continue;
        p.bytes = f.bytes.end - f.bytes.at;
        p.cut = p.bytes > TN_ONNX_PROPERTY_BYTES;
        if (p.cut || p.bytes == 0) continue;
        char *text = tn_arena_alloc(&r->view->arena, (size_t)p.bytes + 1);
        if (!text) {
            tn_onnx_no_memory(r);
        } else if (!tn_wire_copy(&r->wire, f.bytes, text, (size_t)p.bytes)) {
            tn_onnx_malformed(r, r->wire.failed_at, "in metadata_props: %s", r->wire.why);
        } else {
            p.value = (struct tn_str){text, (size_t)p.bytes};
        }
    }
    return p;
}

static void add_property(struct tn_onnx_reader *r, const struct tn_wire_field *f)
{
    struct tn_onnx_view *v = r->view;
    if (r->light) return;
    void *items = tn_onnx_room(r, v->properties, &r->property_cap, v->property_count, sizeof(*v->properties), f->at);
    if (!items) return;
    v->properties = items;
    v->properties[v->property_count++] = read_property(r, f->bytes);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static int operator_order(const struct tn_onnx_operator *a, struct tn_str domain, struct tn_str type)
{
    int order = tn_str_order(a->domain, domain);
    return order ? order : tn_str_order(a->type, type);
}

/* Index of the operator in the view, made when it is new; UINT32_MAX after a failure. */
static uint32_t find_operator(struct tn_onnx_reader *r, struct tn_str domain, struct tn_str type, uint64_t at)
{
    struct tn_onnx_view *v = r->view;
    uint32_t low = 0, high = v->operator_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = operator_order(&v->operators[v->operator_order[middle]], domain, type);
        if (order == 0) return v->operator_order[middle];
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (v->operator_count == DISTINCT_OPERATORS) {
        tn_onnx_over_limit(r, at, "operators", DISTINCT_OPERATORS);
        return UINT32_MAX;
    }
    void *items = tn_onnx_room(r, v->operators, &r->operator_cap, v->operator_count, sizeof(*v->operators), at);
    if (items) v->operators = items;
    void *order = tn_onnx_room(r, v->operator_order, &r->order_cap, v->operator_count, sizeof(uint32_t), at);
    if (order) v->operator_order = order;
    struct tn_onnx_operator made = {.domain = tn_arena_str(&v->arena, domain), .type = tn_arena_str(&v->arena, type)};
    if (!items || !order || !made.domain.s || !made.type.s) {
        tn_onnx_no_memory(r);
        return UINT32_MAX;
    }
    memmove(v->operator_order + low + 1, v->operator_order + low, (v->operator_count - low) * sizeof(uint32_t));
    v->operators[v->operator_count] = made;
    v->operator_order[low] = v->operator_count;
    return v->operator_count++;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void wait_for(struct tn_onnx_reader *r, struct tn_onnx_waiting item)
{
    uint64_t limit = r->ctx->limits.json_depth;
    if (item.depth > limit) {
        tn_onnx_over_limit(r, item.range.at, "json_depth", limit);
        return;
    }
    void *items =
        tn_onnx_room(r, r->waiting, &r->waiting_cap, r->waiting_count, sizeof(*r->waiting), item.range.at);
    if (!items) return;
    r->waiting = items;
    r->waiting[r->waiting_count++] = item;
}

/* Values and indices of a sparse tensor may stand in files like any other's. */
static void read_sparse(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_str name,
                        struct tn_onnx_tensor *out)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_SPARSE_TENSOR, .range = range};
    struct tn_onnx_tensor indices;
    struct tn_wire_field f;
    *out = (struct tn_onnx_tensor){.name = name, .external = UINT32_MAX};
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == 1) tn_onnx_read_tensor(r, f.bytes, name, out);
        if (f.number == 2) tn_onnx_read_tensor(r, f.bytes, out->name, &indices);
    }
    out->sparse = true;
    out->message = range;
}

enum { ATTRIBUTE_INT = 3, LONG_LIST = 4096 };

static void read_attribute(struct tn_onnx_reader *r, struct tn_wire_range range, struct tn_str owner,
                           const struct tn_onnx_waiting *graph)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_ATTRIBUTE, .range = range};
    const struct tn_onnx_field *field;
    struct tn_onnx_tensor tensor;
    struct tn_wire_field f;
    while ((field = tn_onnx_next(r, &m, &f))) {
        if (f.number == ATTRIBUTE_INT) r->other_axis = r->other_axis || f.value != 0;
        if (field->kind != TN_ONNX_NESTED) {
            if (field->repeated && r->walked && m.range.end - m.range.at > LONG_LIST) m.range.at = m.range.end;
            else if (field->repeated) tn_wire_skip(&r->wire, &m.range, &f);
            continue;
        }
        if (field->sub == TN_ONNX_TENSOR) tn_onnx_read_tensor(r, f.bytes, owner, &tensor);
        if (field->sub == TN_ONNX_SPARSE_TENSOR) read_sparse(r, f.bytes, owner, &tensor);
        if (field->sub != TN_ONNX_GRAPH) continue;
        r->view->inner_graphs = true;
        wait_for(r, (struct tn_onnx_waiting){TN_ONNX_GRAPH, f.bytes, graph->depth + 1, graph->in_function});
    }
}

/* Operator and domain into memory of the reader: most nodes repeat one that is known. No NUL, since it would end it. */
static void node_text(struct tn_onnx_reader *r, const struct tn_wire_field *f, char *out, size_t cap)
{
    if (f->bytes.end - f->bytes.at >= cap) {
        tn_onnx_over_limit(r, f->at, "name_bytes", cap - 1);
        return;
    }
    size_t n = tn_wire_text(&r->wire, f->bytes, out, cap);
    if (strlen(out) < n || tn_utf8_valid_prefix(out, n) < n)
        tn_onnx_malformed(r, f->at, "an operator's name or domain that is no text");
}

enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };

/* The strings of a node as ranges: most of them are never needed. */
struct node_strings {
    struct tn_wire_range name, output, inputs[2];
    uint32_t outputs, inputs_count;
};

static void keep_gather(struct tn_onnx_reader *r, const struct node_strings *s, uint64_t at)
{
    bool standard = tn_str_is(tn_onnx_domain(tn_str_of(r->domain)), "ai.onnx");
    if (s->inputs_count != 2 || r->other_axis || !standard || strcmp(r->type, "Gather") != 0) return;
    void *items = tn_onnx_room(r, r->gathers, &r->gather_cap, r->gather_count, sizeof(*r->gathers), at);
    if (!items) return;
    r->gathers = items;
    r->gathers[r->gather_count++] =
        (struct tn_onnx_gather){tn_onnx_string(r, s->inputs[0]), tn_onnx_string(r, s->inputs[1])};
}

static void keep_node(struct tn_onnx_reader *r, const struct tn_wire_field *node, const struct node_strings *strings,
                      const struct tn_onnx_waiting *graph)
{
    struct tn_onnx_view *v = r->view;
    if (r->light) return;
    struct tn_str domain = tn_onnx_domain(tn_str_of(r->domain));
    uint32_t op = find_operator(r, domain, tn_str_of(r->type), node->at);
    if (op == UINT32_MAX) return;
    if (graph->in_function) {
        v->operators[op].in_functions++;
    } else {
        v->operators[op].count++;
    }
    if (graph->depth > 0 || graph->in_function) {
        v->nested_nodes += !graph->in_function;
        return;
    }
    void *items = tn_onnx_room(r, v->nodes, &r->node_cap, v->node_count, sizeof(*v->nodes), node->at);
    if (!items) return;
    v->nodes = items;
    v->nodes[v->node_count++] = (struct tn_onnx_node){tn_onnx_string(r, strings->name),
                                                      tn_onnx_string(r, strings->output), op, node->bytes};
    keep_gather(r, strings, node->at);
}

static void read_node(struct tn_onnx_reader *r, const struct tn_wire_field *node, const struct tn_onnx_waiting *graph)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_NODE, .range = node->bytes};
    struct node_strings s = {.outputs = 0};
    struct tn_wire_field f;
    r->domain[0] = r->type[0] = 0;
    r->other_axis = false;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == NODE_NAME) s.name = f.bytes;
        if (f.number == NODE_OUTPUT && s.outputs++ == 0) s.output = f.bytes;
        if (f.number == NODE_INPUT && s.inputs_count++ < 2) s.inputs[s.inputs_count - 1] = f.bytes;
        if (f.number == NODE_TYPE) node_text(r, &f, r->type, sizeof(r->type));
        if (f.number == NODE_DOMAIN) node_text(r, &f, r->domain, sizeof(r->domain));
        if (f.number == NODE_ATTRIBUTE) read_attribute(r, f.bytes, TN_STR(""), graph);
    }
    r->nodes += graph->depth == 0 && !graph->in_function;
    keep_node(r, node, &s, graph);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_SPARSE = 15 };

static void add_initializer(struct tn_onnx_reader *r, const struct tn_wire_field *f, bool keep)
{
    struct tn_onnx_view *v = r->view;
    struct tn_onnx_tensor tensor;
    if (f->number == GRAPH_SPARSE) {
        read_sparse(r, f->bytes, TN_STR(""), &tensor);
    } else {
        tn_onnx_read_tensor(r, f->bytes, TN_STR(""), &tensor);
    }
    r->initializers += keep;
    if (!keep || r->light) return;
    void *items =
        tn_onnx_room(r, v->initializers, &r->initializer_cap, v->initializer_count, sizeof(*v->initializers), f->at);
    if (!items) return;
    v->initializers = items;
    v->initializers[v->initializer_count++] = tensor;
}

static void add_port(struct tn_onnx_reader *r, const struct tn_wire_field *f)
{
    struct tn_onnx_view *v = r->view;
    bool input = f->number == GRAPH_INPUT;
    struct tn_onnx_port **list = input ? &v->inputs : &v->outputs;
    uint32_t *count = input ? &v->input_count : &v->output_count;
    *(input ? &r->inputs : &r->outputs) += 1;
    if (r->light) return;
    void *items = tn_onnx_room(r, *list, input ? &r->input_cap : &r->output_cap, *count, sizeof(**list), f->at);
    if (!items) return;
    *list = items;
    tn_onnx_read_port(r, f->bytes, f->at, &(*list)[*count]);
    (*count)++;
}

static void read_graph(struct tn_onnx_reader *r, const struct tn_onnx_waiting *graph)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_GRAPH, .range = graph->range};
    bool main_graph = graph->depth == 0;
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        switch (f.number) {
        case GRAPH_NODE: read_node(r, &f, graph); break;
        case GRAPH_INITIALIZER:
        case GRAPH_SPARSE: add_initializer(r, &f, main_graph); break;
        case GRAPH_INPUT:
        case GRAPH_OUTPUT:
            if (main_graph) add_port(r, &f);
            break;
        case GRAPH_NAME:
            if (main_graph) r->view->graph_name = tn_onnx_string(r, f.bytes);
            break;
        default: break;
        }
    }
}

enum { FUNCTION_NAME = 1, FUNCTION_NODE = 7, FUNCTION_OPSET = 9, FUNCTION_DOMAIN = 10, FUNCTION_OVERLOAD = 13 };

/* Name, domain and how many imports there are room for; the nodes wait until the main graph has been read. */
static void add_function(struct tn_onnx_reader *r, const struct tn_wire_field *function)
{
    struct tn_onnx_view *v = r->view;
    wait_for(r, (struct tn_onnx_waiting){TN_ONNX_FUNCTION, function->bytes, 0, true});
    if (r->light) return;
    void *items =
        tn_onnx_room(r, v->functions, &r->function_cap, v->function_count, sizeof(*v->functions), function->at);
    if (!items) return;
    v->functions = items;
    struct tn_onnx_function *out = &v->functions[v->function_count];
    *out = (struct tn_onnx_function){TN_STR(""), TN_STR(""), TN_STR(""), NULL, 0, 0, function->bytes};
    struct tn_onnx_at m = {.kind = TN_ONNX_FUNCTION, .range = function->bytes};
    struct tn_wire_field f;
    uint32_t opsets = 0;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == FUNCTION_NAME) out->name = tn_onnx_string(r, f.bytes);
        if (f.number == FUNCTION_DOMAIN) out->domain = tn_onnx_string(r, f.bytes);
        if (f.number == FUNCTION_OVERLOAD) out->overload = tn_onnx_string(r, f.bytes);
        out->nodes += f.number == FUNCTION_NODE;
        opsets += f.number == FUNCTION_OPSET;
    }
    out->domain = tn_onnx_domain(out->domain);
    v->function_count++;
    if (opsets == 0 || r->failed) return;
    out->opsets = tn_arena_array(&v->arena, opsets, sizeof(*out->opsets));
    if (!out->opsets) {
        tn_onnx_no_memory(r);
        return;
    }
    m = (struct tn_onnx_at){.kind = TN_ONNX_FUNCTION, .range = function->bytes};
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == FUNCTION_OPSET && out->opset_count < opsets)
            out->opsets[out->opset_count++] = read_opset(r, f.bytes);
    }
}

static void read_function(struct tn_onnx_reader *r, const struct tn_onnx_waiting *function)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_FUNCTION, .range = function->range};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == FUNCTION_NODE) read_node(r, &f, function);
        if (f.number == 11) read_attribute(r, f.bytes, TN_STR(""), function); /* defaults of attributes */
    }
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

enum {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_DOMAIN = 4,
    MODEL_VERSION = 5,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_PROPERTY = 14,
    MODEL_TRAINING = 20,
    MODEL_FUNCTION = 25
};

static void read_model_field(struct tn_onnx_reader *r, const struct tn_wire_field *f, struct tn_wire_range *graph)
{
    struct tn_onnx_view *v = r->view;
    switch (f->number) {
    case MODEL_IR_VERSION:
        v->has_ir_version = true;
        v->ir_version = (int64_t)f->value;
        break;
    case MODEL_PRODUCER: v->producer_name = tn_onnx_string(r, f->bytes); break;
    case MODEL_PRODUCER_VERSION: v->producer_version = tn_onnx_string(r, f->bytes); break;
    case MODEL_DOMAIN: v->domain = tn_onnx_string(r, f->bytes); break;
    case MODEL_VERSION: v->model_version = (int64_t)f->value; break;
    case MODEL_GRAPH:
        v->has_graph = true;
        *graph = f->bytes;
        break;
    case MODEL_OPSET: add_opset(r, f); break;
    case MODEL_PROPERTY: add_property(r, f); break;
    case MODEL_TRAINING: v->training_count++; break;
    default: break;
    }
}

/* Functions come last: a source that turns out to be something else has then cost nothing. */
static void read_functions(struct tn_onnx_reader *r, struct tn_wire_range all)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_MODEL, .range = all};
    struct tn_wire_field f;
    while (tn_onnx_next(r, &m, &f)) {
        if (f.number == MODEL_FUNCTION) add_function(r, &f);
    }
}

static int by_name_of_port(const void *a, const void *b, void *context)
{
    const struct tn_onnx_port *ports = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = tn_str_order(ports[x].name, ports[y].name);
    return order ? order : (x > y) - (x < y);
}

static int by_name_of_tensor(const void *a, const void *b, void *context)
{
    const struct tn_onnx_tensor *tensors = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = tn_str_order(tensors[x].name, tensors[y].name);
    return order ? order : (x > y) - (x < y);
}

static uint32_t *sorted(struct tn_onnx_reader *r, uint32_t count, tn_order_fn *order, void *items)
{
    if (r->failed || count == 0) return NULL;
    uint32_t *indices = tn_arena_array(&r->view->arena, count, sizeof(*indices));
    if (!indices) {
        tn_onnx_no_memory(r);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) indices[i] = i;
    tn_sort(indices, count, sizeof(*indices), order, items);
    return indices;
}

/* A Gather over the first axis takes rows, as the look-up of embeddings does. */
static void mark_tables(struct tn_onnx_reader *r)
{
    struct tn_onnx_view *v = r->view;
    for (size_t i = 0; i < r->gather_count; i++) {
        const struct tn_onnx_port *found = tn_onnx_input(v, r->gathers[i].index);
        const struct tn_onnx_tensor *table = found ? tn_onnx_initializer(v, r->gathers[i].table) : NULL;
        if (!table || table->rank != 2 || table->dims[0] < 1) continue;
        struct tn_onnx_port *port = &v->inputs[found - v->inputs];
        uint64_t rows = (uint64_t)table->dims[0];
        port->table_rows = port->table_rows == 0 || port->table_rows == rows ? rows : UINT64_MAX;
    }
    for (uint32_t i = 0; i < v->input_count; i++) {
        if (v->inputs[i].table_rows == UINT64_MAX) v->inputs[i].table_rows = 0;
    }
}

static void finish(struct tn_onnx_reader *r)
{
    struct tn_onnx_view *v = r->view;
    tn_onnx_collect_locations(r);
    v->input_order = sorted(r, v->input_count, by_name_of_port, v->inputs);
    v->output_order = sorted(r, v->output_count, by_name_of_port, v->outputs);
    v->initializer_order = sorted(r, v->initializer_count, by_name_of_tensor, v->initializers);
    for (uint32_t i = 0; !r->failed && i < v->input_count; i++)
        v->inputs[i].initialised = tn_onnx_initializer(v, v->inputs[i].name) != NULL;
    if (!r->failed) mark_tables(r);
}

enum tn_status tn_onnx_read_model(struct tn_onnx_reader *r, const struct tn_source *source, bool *top)
{
    struct tn_wire_range all = {0, source->size}, graph = {0, 0};
    struct tn_onnx_at m = {.kind = TN_ONNX_MODEL, .range = all};
    struct tn_onnx_view *v = r->view;
    struct tn_wire_field f;
    tn_wire_init(&r->wire, source);
    while (tn_onnx_next(r, &m, &f)) read_model_field(r, &f, &graph);
    *top = !r->failed && v->has_graph && v->has_ir_version && v->ir_version != 0 && v->unknown_count == 0;
    if (r->light && !*top) return r->failed;
    if (v->has_graph) read_graph(r, &(struct tn_onnx_waiting){TN_ONNX_GRAPH, graph, 0, false});
    read_functions(r, all);
    for (size_t i = 0; !r->failed && i < r->waiting_count; i++) {
        struct tn_onnx_waiting next = r->waiting[i]; /* the list moves while it grows */
        if (next.kind == TN_ONNX_GRAPH) {
            read_graph(r, &next);
        } else {
            read_function(r, &next);
        }
    }
    finish(r);
    return r->failed;
}

static enum tn_status open_view(const struct tn_context *ctx, const struct tn_source *source, bool walked, struct tn_onnx_view **out, struct tn_error *err)
{
    bool top;
    *out = NULL;
    struct tn_onnx_reader *r = tn_onnx_reader_new(ctx, source->name, false, err);
    if (!r) return TN_INSUFFICIENT_MEMORY;
    r->walked = walked;
    enum tn_status status = tn_onnx_read_model(r, source, &top);
    if (!status) {
        *out = r->view;
        r->view = NULL;
    }
    tn_onnx_reader_free(r);
    return status;
}

enum tn_status tn_onnx_view_open(const struct tn_context *ctx, const struct tn_source *source,
                                 struct tn_onnx_view **out, struct tn_error *err)
{
    return open_view(ctx, source, false, out, err);
}

enum tn_status tn_onnx_view_open_again(const struct tn_context *ctx, const struct tn_source *source, struct tn_onnx_view **out,
                                       struct tn_error *err)
{
    return open_view(ctx, source, true, out, err);
}

void tn_onnx_view_free(struct tn_onnx_view *view)
{
    if (!view) return;
    struct tn_alloc *alloc = view->alloc;
    tn_free(alloc, view->opsets);
    tn_free(alloc, view->properties);
    tn_free(alloc, view->inputs);
    tn_free(alloc, view->outputs);
    tn_free(alloc, view->initializers);
    tn_free(alloc, view->externals);
    tn_free(alloc, view->nodes);
    tn_free(alloc, view->operators);
    tn_free(alloc, view->operator_order);
    tn_free(alloc, view->functions);
    tn_arena_release(&view->arena);
    tn_free(alloc, view);
}

/* ---- look-ups ---------------------------------------------------------------------------------------------------- */

static const struct tn_onnx_port *find_port(const struct tn_onnx_port *ports, const uint32_t *order, uint32_t count,
                                            struct tn_str name)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tn_str_order(ports[order[middle]].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && tn_str_eq(ports[order[low]].name, name) ? &ports[order[low]] : NULL;
}

const struct tn_onnx_port *tn_onnx_input(const struct tn_onnx_view *view, struct tn_str name)
{
    return find_port(view->inputs, view->input_order, view->input_count, name);
}

const struct tn_onnx_port *tn_onnx_output(const struct tn_onnx_view *view, struct tn_str name)
{
    return find_port(view->outputs, view->output_order, view->output_count, name);
}

const struct tn_onnx_tensor *tn_onnx_initializer(const struct tn_onnx_view *view, struct tn_str name)
{
    uint32_t low = 0, high = view->initializer_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tn_str_order(view->initializers[view->initializer_order[middle]].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == view->initializer_count) return NULL;
    const struct tn_onnx_tensor *found = &view->initializers[view->initializer_order[low]];
    return tn_str_eq(found->name, name) ? found : NULL;
}

const struct tn_onnx_node *tn_onnx_node(const struct tn_onnx_view *view, struct tn_str name)
{
    for (uint32_t i = 0; i < view->node_count; i++) {
        if (tn_str_eq(view->nodes[i].name, name)) return &view->nodes[i];
    }
    return NULL;
}

int64_t tn_onnx_opset(const struct tn_onnx_view *view, struct tn_str domain)
{
    domain = tn_onnx_domain(domain);
    for (uint32_t i = 0; i < view->opset_count; i++) {
        if (tn_str_eq(view->opsets[i].domain, domain)) return view->opsets[i].version;
    }
    return 0;
}
