/*
 * From the bytes of a ModelProto to a graph of nodes. The view (package/onnx.h) has walked the same bytes before; here
 * nodes, attributes and the graphs inside them are read whole. Functions of the model are inlined: a call becomes the
 * function's nodes, with names in a scope of their own.
 *
 * A node sees the graph's inputs and initialisers, the outputs of nodes before it (onnx_order.c puts them in order), and
 * what graphs around it see. An unknown name, a second definition, a function that calls itself are findings; reading goes
 * on.
 */
#include "net/net.h"

#include "net/names.h"
#include "net/onnx_attr.h"

#include <stdio.h>
#include <string.h>

/* Where names are looked up: the graph's own, then outwards. A function's body sees nothing around it. */
struct scope {
    struct tn_names names;
    struct scope *around;
    struct tn_net *net;
};

enum { GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE = 13, GRAPH_SPARSE = 15 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_TYPE = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7, NODE_OVERLOAD = 8 };
enum { FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5, FUNCTION_ATTRIBUTE = 6, FUNCTION_NODE = 7, FUNCTION_DEFAULT = 11 };

/* ---- findings ----------------------------------------------------------------------------------------------------- */

static struct tn_finding *blocker(struct tn_import *im, struct tn_str element, uint64_t at, const char *message)
{
    struct tn_finding *f = tn_findings_add(im->findings, TN_BLOCKER, TN_ARTIFACT_MALFORMED, TN_PHASE_ASSESS, "%s", message);
    tn_at_offset(f, im->model->view->file, at);
    tn_at_element(f, TN_ELEMENT_OPERATOR, element);
    tn_remedy(f, "export the model again");
    im->wrong = true;
    return f;
}

/* ---- values and names --------------------------------------------------------------------------------------------- */

static void *room(struct tn_import *im, void *items, uint32_t count, uint32_t *cap, size_t each)
{
    if (count < *cap) return items;
    uint32_t more = *cap ? *cap * 2 : 16;
    if (count >= im->model->ctx->limits.tensors || more < *cap) {
        tn_onnx_over_limit(im->r, 0, "tensors", im->model->ctx->limits.tensors);
        return NULL;
    }
    void *moved = tn_arena_array(&im->model->arena, more, each);
    if (!moved) {
        tn_onnx_no_memory(im->r);
        return NULL;
    }
    if (count) memcpy(moved, items, count * each);
    *cap = more;
    return moved;
}

static uint32_t new_value(struct tn_import *im, struct tn_net *net, struct tn_str name)
{
    if (net->value_count >= im->model->ctx->limits.tensors) {
        tn_onnx_over_limit(im->r, 0, "tensors", im->model->ctx->limits.tensors);
        return TN_NET_NONE;
    }
    uint32_t value = tn_net_add_value(net, name);
    if (value == TN_NET_NONE) tn_onnx_no_memory(im->r);
    return value;
}

/* Defines a name of the scope's graph; a second definition is a finding and gets a value of its own. */
static uint32_t define(struct tn_import *im, struct scope *s, struct tn_str name, uint64_t at)
{
    uint32_t value = new_value(im, s->net, name);
    bool added = true;
    if (value == TN_NET_NONE || name.n == 0) return value;
    struct tn_name *entry = tn_names_add(&s->names, name, &added);
    if (!entry) {
        tn_onnx_no_memory(im->r);
        return TN_NET_NONE;
    }
    if (!added) {
        struct tn_finding *f = blocker(im, name, at, "a value is defined twice");
        tn_found(f, "a second definition of %.*s", TN_FMT_ARG(name));
        tn_expected(f, "every value once: by an input, an initialiser or one node");
        return value;
    }
    entry->value = value;
    entry->level = 0;
    return value;
}

static struct tn_ref_value look_up(struct tn_import *im, struct scope *s, struct tn_str name, struct tn_str node, uint64_t at)
{
    uint32_t level = 0;
    if (name.n == 0) return (struct tn_ref_value){TN_NET_NONE, 0};
    for (struct scope *in = s; in; in = in->around) {
        const struct tn_name *entry = tn_names_find(&in->names, name);
        if (entry) return (struct tn_ref_value){entry->value, level + entry->level};
        if (in->around && in->around->net != in->net) level++;
    }
    struct tn_finding *f = blocker(im, node, at, "a node reads a value that nothing before it makes");
    tn_found(f, "%.*s", TN_FMT_ARG(name));
    tn_expected(f, "an input, an initialiser, or an output of an earlier node: nodes stand in order, without cycles");
    return (struct tn_ref_value){TN_NET_NONE, 0};
}

/* ---- nodes -------------------------------------------------------------------------------------------------------- */

struct node_parts {
    struct tn_str *in, *out;
    struct tn_wire_range *attrs;
    uint32_t in_count, out_count, attr_count, in_cap, out_cap, attr_cap;
    struct tn_str name, type, domain, overload;
    uint64_t at;
};

static bool read_parts(struct tn_import *im, struct tn_wire_range range, struct node_parts *p)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_NODE, .range = range};
    struct tn_wire_field f;
    *p = (struct node_parts){.name = TN_STR(""), .type = TN_STR(""), .domain = TN_STR(""), .overload = TN_STR(""), .at = range.at};
    while (tn_onnx_next(im->r, &m, &f)) {
        switch (f.number) {
        case NODE_INPUT:
            p->in = room(im, p->in, p->in_count, &p->in_cap, sizeof(*p->in));
            if (p->in) p->in[p->in_count++] = tn_onnx_string(im->r, f.bytes);
            break;
        case NODE_OUTPUT:
            p->out = room(im, p->out, p->out_count, &p->out_cap, sizeof(*p->out));
            if (p->out) p->out[p->out_count++] = tn_onnx_string(im->r, f.bytes);
            break;
        case NODE_ATTRIBUTE:
            p->attrs = room(im, p->attrs, p->attr_count, &p->attr_cap, sizeof(*p->attrs));
            if (p->attrs) p->attrs[p->attr_count++] = f.bytes;
            break;
        case NODE_NAME: p->name = tn_onnx_string(im->r, f.bytes); break;
        case NODE_TYPE: p->type = tn_onnx_string(im->r, f.bytes); break;
        case NODE_DOMAIN: p->domain = tn_onnx_string(im->r, f.bytes); break;
        case NODE_OVERLOAD: p->overload = tn_onnx_string(im->r, f.bytes); break;
        default: break;
        }
        if (im->r->failed) return false;
    }
    p->domain = tn_onnx_domain(p->domain);
    /* What people call it: exporters leave names out. */
    if (p->name.n == 0 && p->out_count) p->name = p->out[0];
    return !im->r->failed;
}

static struct tn_net *read_graph(struct tn_import *im, struct tn_wire_range range, struct scope *around, unsigned depth,
                                 struct tn_net *net);

struct graph_context {
    struct tn_import *im;
    struct scope *scope;
    unsigned depth;
};

static struct tn_net *inner_graph(void *context, struct tn_wire_range range)
{
    struct graph_context *g = context;
    struct tn_net *net = tn_arena_alloc(&g->im->model->arena, sizeof(*net));
    if (!net) {
        tn_onnx_no_memory(g->im->r);
        return NULL;
    }
    net->model = g->im->model;
    net->around = g->scope->net;
    return read_graph(g->im, range, g->scope, g->depth + 1, net);
}

static void read_attrs(struct tn_import *im, const struct node_parts *p, struct scope *s, unsigned depth,
                       struct tn_attr **out, uint32_t *count)
{
    struct graph_context g = {im, s, depth};
    *count = 0;
    *out = p->attr_count ? tn_arena_array(&im->model->arena, p->attr_count, sizeof(**out)) : NULL;
    if (p->attr_count && !*out) tn_onnx_no_memory(im->r);
    for (uint32_t i = 0; i < p->attr_count && !im->r->failed; i++) {
        struct tn_attr *a = &(*out)[*count];
        if (!tn_onnx_read_attr(im, p->attrs[i], inner_graph, &g, a)) continue;
        for (uint32_t k = 0; k < *count; k++) {
            if (!tn_str_eq((*out)[k].name, a->name)) continue;
            struct tn_finding *f = blocker(im, p->name, p->at, "a node has an attribute twice");
            tn_found(f, "%.*s of %.*s", TN_FMT_ARG(a->name), TN_FMT_ARG(p->type));
        }
        (*count)++;
    }
}

static int64_t imported(const struct tn_import *im, struct tn_str domain)
{
    for (uint32_t i = 0; i < im->opset_count; i++) {
        if (tn_str_eq(im->opsets[i].domain, domain)) return im->opsets[i].version;
    }
    return 0;
}

static bool inline_call(struct tn_import *im, const struct node_parts *p, const struct tn_onnx_function *function,
                        struct scope *s, unsigned depth);

static const struct tn_onnx_function *function_of(const struct tn_import *im, const struct node_parts *p)
{
    const struct tn_onnx_view *v = im->model->view;
    for (uint32_t i = 0; i < v->function_count; i++) {
        const struct tn_onnx_function *f = &v->functions[i];
        if (tn_str_eq(f->name, p->type) && tn_str_eq(tn_onnx_domain(f->domain), p->domain) && tn_str_eq(f->overload, p->overload))
            return f;
    }
    return NULL;
}

/* A Constant of a tensor is no work: its output is the tensor, read when the weights are. */
static bool is_constant(const struct tn_node *n, const struct node_parts *p)
{
    return tn_str_is(n->type, "Constant") && tn_str_is(n->domain, "ai.onnx") && p->out_count == 1 && p->out[0].n && p->in_count == 0 &&
           n->attr_count == 1 && tn_str_is(n->attrs[0].name, "value") && n->attrs[0].type == TN_ATTR_TENSOR;
}

static void define_constant(struct tn_import *im, struct scope *s, const struct node_parts *p, struct tn_constant *c)
{
    uint32_t value = define(im, s, p->out[0], p->at);
    if (value == TN_NET_NONE) return;
    struct tn_net_value *v = &s->net->values[value];
    v->constant = c;
    v->type = (struct tn_type){.kind = TN_KIND_TENSOR, .element = c->element, .shape = {.known = true, .rank = c->rank}};
    for (uint32_t i = 0; i < c->rank; i++) v->type.shape.dims[i] = c->dims[i];
}

/* Tensors among the attributes are what an operator is made from: they are read, whatever their size. */
static void read_attr_tensors(struct tn_import *im, const struct tn_node *n)
{
    for (uint32_t i = 0; i < n->attr_count; i++) {
        const struct tn_attr *a = &n->attrs[i];
        bool tensors = a->type == TN_ATTR_TENSOR || a->type == TN_ATTR_TENSORS;
        for (size_t k = 0; tensors && k < a->count && !im->r->failed; k++) {
            struct tn_constant *c = &a->as.tensors[k];
            void *data = c->data ? NULL : tn_arena_alloc(&im->model->arena, c->bytes + 1);
            if (c->data) continue;
            if (!data) tn_onnx_no_memory(im->r);
            else im->r->failed = tn_constant_read(im->model, c, data, im->r->err);
            c->data = data;
        }
    }
}

static void read_node(struct tn_import *im, struct tn_wire_range range, struct scope *s, unsigned depth)
{
    struct node_parts p;
    struct tn_arena *arena = &im->model->arena;
    if (!read_parts(im, range, &p)) return;
    const struct tn_onnx_function *function = function_of(im, &p);
    if (function) {
        inline_call(im, &p, function, s, depth);
        return;
    }
    struct tn_node n = {.name = p.name, .type = p.type, .domain = p.domain, .version = imported(im, p.domain), .at = p.at};
    n.in = p.in_count ? tn_arena_array(arena, p.in_count, sizeof(*n.in)) : NULL;
    n.out = p.out_count ? tn_arena_array(arena, p.out_count, sizeof(*n.out)) : NULL;
    if ((p.in_count && !n.in) || (p.out_count && !n.out)) {
        tn_onnx_no_memory(im->r);
        return;
    }
    for (n.in_count = 0; n.in_count < p.in_count; n.in_count++)
        n.in[n.in_count] = look_up(im, s, p.in[n.in_count], p.name, p.at);
    /* Trailing operands that are absent are as if they were not written. */
    while (n.in_count && n.in[n.in_count - 1].value == TN_NET_NONE && p.in[n.in_count - 1].n == 0) n.in_count--;
    read_attrs(im, &p, s, depth, &n.attrs, &n.attr_count);
    if (im->r->failed) return;
    if (is_constant(&n, &p)) {
        define_constant(im, s, &p, n.attrs[0].as.tensors);
        return;
    }
    read_attr_tensors(im, &n);
    for (; n.out_count < p.out_count && !im->r->failed; n.out_count++) {
        bool wanted = p.out[n.out_count].n > 0;
        uint32_t value = wanted ? define(im, s, p.out[n.out_count], p.at) : TN_NET_NONE;
        n.out[n.out_count] = value;
        if (value != TN_NET_NONE) s->net->values[value].producer = s->net->node_count;
    }
    if (im->r->failed) return;
    struct tn_node *slot = tn_net_add_node(s->net);
    if (!slot) tn_onnx_no_memory(im->r);
    else *slot = n;
}

/* ---- functions ---------------------------------------------------------------------------------------------------- */

static bool calls_itself(const struct tn_call *outer, const struct tn_onnx_function *function)
{
    for (; outer; outer = outer->outer) {
        if (outer->function == function) return true;
    }
    return false;
}

/* Names that a function's body uses for its operands: the call's own values. An operand that is not given is absent. */
static void bind_operands(struct tn_import *im, const struct node_parts *p, struct scope *from, struct scope *body,
                          struct tn_str *names, uint32_t count)
{
    for (uint32_t i = 0; i < count && !im->r->failed; i++) {
        struct tn_ref_value ref = i < p->in_count ? look_up(im, from, p->in[i], p->name, p->at)
                                                  : (struct tn_ref_value){TN_NET_NONE, 0};
        bool added;
        struct tn_name *entry = tn_names_add(&body->names, names[i], &added);
        if (!entry) tn_onnx_no_memory(im->r);
        else *entry = (struct tn_name){.name = names[i], .value = ref.value, .level = ref.level, .used = true};
    }
}

static bool inline_call(struct tn_import *im, const struct node_parts *p, const struct tn_onnx_function *function,
                        struct scope *s, unsigned depth)
{
    const struct tn_call *outer = im->call;
    struct scope body = {.names = {.arena = &im->model->arena}, .net = s->net};
    struct tn_call call = {.outer = outer, .function = function};
    struct tn_onnx_at m = {.kind = TN_ONNX_FUNCTION, .range = function->message};
    struct tn_str *ins = NULL, *outs = NULL;
    uint32_t in_count = 0, in_cap = 0, out_count = 0, out_cap = 0;
    struct tn_wire_field f;
    if (calls_itself(outer, function) || depth >= im->model->ctx->limits.json_depth) {
        struct tn_finding *w = blocker(im, p->name, p->at, "a function of the model calls itself");
        tn_found(w, "%.*s of %.*s", TN_FMT_ARG(function->name), TN_FMT_ARG(p->domain));
        return false;
    }
    const struct tn_onnx_opset *opsets = im->opsets;
    uint32_t opset_count = im->opset_count;
    read_attrs(im, p, s, depth, &call.attrs, &call.attr_count);
    if (!tn_onnx_call_defaults(im, &call)) return false;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == FUNCTION_INPUT) {
            ins = room(im, ins, in_count, &in_cap, sizeof(*ins));
            if (ins) ins[in_count++] = tn_onnx_string(im->r, f.bytes);
        } else if (f.number == FUNCTION_OUTPUT) {
            outs = room(im, outs, out_count, &out_cap, sizeof(*outs));
            if (outs) outs[out_count++] = tn_onnx_string(im->r, f.bytes);
        }
    }
    if (p->in_count > in_count || p->out_count > out_count) {
        struct tn_finding *w = blocker(im, p->name, p->at, "a call of a function has more operands than the function");
        tn_found(w, "%u inputs and %u outputs", p->in_count, p->out_count);
        tn_expected(w, "at most %u and %u", in_count, out_count);
        return false;
    }
    bind_operands(im, p, s, &body, ins, in_count);
    im->opsets = function->opsets;
    im->opset_count = function->opset_count;
    im->call = &call;
    m = (struct tn_onnx_at){.kind = TN_ONNX_FUNCTION, .range = function->message};
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == FUNCTION_NODE) read_node(im, f.bytes, &body, depth + 1);
    }
    im->opsets = opsets;
    im->opset_count = opset_count;
    im->call = outer;
    for (uint32_t i = 0; i < p->out_count && !im->r->failed; i++) {
        bool added;
        if (p->out[i].n == 0) continue;
        struct tn_ref_value ref = look_up(im, &body, outs[i], p->name, p->at);
        struct tn_name *entry = tn_names_add(&s->names, p->out[i], &added);
        if (!entry) {
            tn_onnx_no_memory(im->r);
        } else if (!added) {
            blocker(im, p->out[i], p->at, "a value is defined twice");
        } else {
            entry->value = ref.value;
            entry->level = ref.level;
        }
    }
    return !im->r->failed;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

/* Only of an input the type must be stated: all others follow from it. */
static void set_type(struct tn_import *im, struct tn_wire_range range, uint64_t at, bool input, struct tn_str *name,
                     struct tn_type *type)
{
    bool good = true;
    struct tn_onnx_at m = {.kind = TN_ONNX_VALUE_INFO, .range = range};
    struct tn_wire_field f;
    *name = TN_STR("");
    *type = (struct tn_type){.kind = TN_KIND_NONE};
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == 1) *name = tn_onnx_string(im->r, f.bytes);
        if (f.number == 2) good = tn_onnx_read_type(im, f.bytes, type);
    }
    if (good) return;
    *type = (struct tn_type){.kind = TN_KIND_NONE};
    if (!input || im->r->failed) return;
    struct tn_finding *w = blocker(im, *name, at, "an input of a type that cannot be computed with");
    tn_expected(w, "tensors, and sequences, optionals and maps of them");
}

static void read_input(struct tn_import *im, const struct tn_wire_field *f, struct scope *s, uint32_t *cap)
{
    struct tn_str name;
    struct tn_type type;
    struct tn_net *net = s->net;
    set_type(im, f->bytes, f->at, true, &name, &type);
    uint32_t value = im->r->failed ? TN_NET_NONE : define(im, s, name, f->at);
    net->inputs = room(im, net->inputs, net->input_count, cap, sizeof(*net->inputs));
    if (value == TN_NET_NONE || !net->inputs) return;
    net->values[value].type = type;
    net->inputs[net->input_count++] = value;
}

/* An initialiser: a constant, or the default of an input of the same name. */
static void read_initializer(struct tn_import *im, struct tn_wire_range range, bool sparse, struct scope *s)
{
    struct tn_constant *c = tn_arena_alloc(&im->model->arena, sizeof(*c));
    struct tn_str name;
    if (!c) tn_onnx_no_memory(im->r);
    if (!c || !(sparse ? tn_onnx_read_sparse(im, range, &name, c) : tn_onnx_read_constant(im, range, &name, c))) return;
    const struct tn_name *entry = tn_names_find(&s->names, name);
    bool of_input = entry && !s->net->values[entry->value].constant && im->reading_defaults;
    uint32_t value = of_input ? entry->value : define(im, s, name, range.at);
    if (value == TN_NET_NONE) return;
    struct tn_net_value *v = &s->net->values[value];
    v->constant = c;
    if (v->type.kind != TN_KIND_NONE) return;
    v->type = (struct tn_type){.kind = TN_KIND_TENSOR, .element = c->element, .shape = {.known = true, .rank = c->rank}};
    for (uint32_t i = 0; i < c->rank; i++) v->type.shape.dims[i] = c->dims[i];
}

static void read_output(struct tn_import *im, const struct tn_wire_field *f, struct scope *s, uint32_t *cap)
{
    struct tn_str name;
    struct tn_type type;
    struct tn_net *net = s->net;
    set_type(im, f->bytes, f->at, false, &name, &type);
    if (im->r->failed) return;
    struct tn_ref_value ref = look_up(im, s, name, name, f->at);
    uint32_t before = *cap;
    net->outputs = room(im, net->outputs, net->output_count, cap, sizeof(*net->outputs));
    if (*cap != before) {
        struct tn_ref_value *results = tn_arena_array(&im->model->arena, *cap, sizeof(*results));
        if (results && net->output_count) memcpy(results, net->results, net->output_count * sizeof(*results));
        net->results = results;
    }
    if (!net->outputs || !net->results) {
        tn_onnx_no_memory(im->r);
        return;
    }
    if (ref.level == 0 && ref.value != TN_NET_NONE) {
        struct tn_net_value *v = &net->values[ref.value];
        v->output = true;
        if (v->type.kind == TN_KIND_NONE) v->type = type;
    }
    net->results[net->output_count] = ref;
    net->outputs[net->output_count++] = ref.value;
}

static void read_value_info(struct tn_import *im, const struct tn_wire_field *f, struct scope *s)
{
    struct tn_str name;
    struct tn_type type;
    set_type(im, f->bytes, f->at, false, &name, &type);
    const struct tn_name *entry = im->r->failed ? NULL : tn_names_find(&s->names, name);
    if (!entry || entry->level || entry->value == TN_NET_NONE) return;
    struct tn_net_value *v = &s->net->values[entry->value];
    if (v->type.kind == TN_KIND_NONE) v->type = type;
}

/* Fields come in any order: what others refer to is read first. */
static void read_fields(struct tn_import *im, struct tn_wire_range range, unsigned numbers, struct scope *s, uint32_t *cap)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_GRAPH, .range = range};
    struct tn_wire_field f;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (!(numbers >> f.number & 1)) continue;
        switch (f.number) {
        case GRAPH_NAME: s->net->name = tn_onnx_string(im->r, f.bytes); break;
        case GRAPH_INPUT: read_input(im, &f, s, cap); break;
        case GRAPH_INITIALIZER: read_initializer(im, f.bytes, false, s); break;
        case GRAPH_SPARSE: read_initializer(im, f.bytes, true, s); break;
        case GRAPH_OUTPUT: read_output(im, &f, s, cap); break;
        case GRAPH_VALUE: read_value_info(im, &f, s); break;
        default: break;
        }
    }
}

static struct tn_net *read_graph(struct tn_import *im, struct tn_wire_range range, struct scope *around, unsigned depth,
                                 struct tn_net *net)
{
    struct scope s = {.names = {.arena = &im->model->arena}, .around = around, .net = net};
    uint32_t input_cap = 0, output_cap = 0;
    if (depth > im->model->ctx->limits.json_depth) {
        tn_onnx_over_limit(im->r, range.at, "json_depth", im->model->ctx->limits.json_depth);
        return net;
    }
    read_fields(im, range, 1u << GRAPH_INPUT | 1u << GRAPH_NAME, &s, &input_cap);
    im->reading_defaults = true;
    read_fields(im, range, 1u << GRAPH_INITIALIZER | 1u << GRAPH_SPARSE, &s, NULL);
    im->reading_defaults = false;
    struct tn_wire_range *nodes = NULL;
    size_t count = 0;
    if (!im->r->failed) tn_onnx_node_order(im, range, &nodes, &count);
    for (size_t i = 0; i < count && !im->r->failed; i++) read_node(im, nodes[i], &s, depth);
    tn_free(im->model->ctx->alloc, nodes);
    read_fields(im, range, 1u << GRAPH_OUTPUT, &s, &output_cap);
    read_fields(im, range, 1u << GRAPH_VALUE, &s, NULL);
    return net;
}

/* Before IR version 4 every initialiser had to be listed among the inputs; it is a constant all the same. */
static void drop_constant_inputs(struct tn_net *net)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < net->input_count; i++) {
        if (!net->values[net->inputs[i]].constant) net->inputs[kept++] = net->inputs[i];
    }
    net->input_count = kept;
}

static bool read_model(struct tn_import *im)
{
    struct tn_onnx_at m = {.kind = TN_ONNX_MODEL, .range = {0, im->model->source.size}};
    struct tn_wire_field f;
    struct tn_net *net = im->model->main;
    while (tn_onnx_next(im->r, &m, &f)) {
        if (f.number == 7) read_graph(im, f.bytes, NULL, 0, net);
    }
    if (im->model->view->ir_version < 4) drop_constant_inputs(net);
    return !im->r->failed;
}

static enum tn_status import(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                             struct tn_onnx_view *view, bool lent, struct tn_findings *findings, struct tn_model **out, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    struct tn_import im = {.findings = findings, .opsets = view->opsets, .opset_count = view->opset_count};
    struct tn_model *model = tn_model_new(ctx);
    *out = NULL;
    if (!model) {
        if (!lent) tn_onnx_view_free(view);
        return tn_error_memory(err, TN_PHASE_ASSESS, "reading a graph");
    }
    model->view = view;
    model->view_lent = lent;
    model->inv = inv;
    model->source = *source;
    im.model = model;
    im.r = tn_onnx_reader_new(ctx, view->file, false, err);
    if (!im.r) {
        st = TN_INSUFFICIENT_MEMORY;
        goto done;
    }
    tn_wire_init(&im.r->wire, source);
    model->read = im.r->view;
    read_model(&im);
    st = im.r->failed;
    im.r->view = NULL;
    if (!st && (model->failed || model->symbols.failed)) st = tn_error_memory(err, TN_PHASE_ASSESS, "reading a graph");
    if (!st && !im.wrong) {
        *out = model;
        model = NULL;
    }
done:
    tn_onnx_reader_free(im.r);
    tn_model_free(model);
    return st;
}

enum tn_status tn_model_import(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                               struct tn_onnx_view *view, struct tn_findings *findings, struct tn_model **out,
                               struct tn_error *err)
{
    return import(ctx, inv, source, view, false, findings, out, err);
}

enum tn_status tn_model_import_lent(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                                    struct tn_onnx_view *view, struct tn_findings *findings, struct tn_model **out,
                                    struct tn_error *err)
{
    return import(ctx, inv, source, view, true, findings, out, err);
}
