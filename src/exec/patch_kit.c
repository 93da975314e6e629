/* Looking at a graph and rewriting it, node by node; see the header. */
#include "exec/patch_kit.h"

#include <string.h>

/* ---- looking ------------------------------------------------------------------------------------------------------ */

bool tn_is(const struct tn_node *n, const char *type)
{
    return n && tn_str_is(n->type, type) && tn_str_is(n->domain, "ai.onnx");
}

uint32_t tn_rewrite_number(const struct tn_rewrite *w, const struct tn_node *n)
{
    return (uint32_t)(n - w->net->nodes);
}

const struct tn_net_value *tn_rewrite_operand(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    return k < n->in_count ? tn_net_at(w->net, n->in[k]) : NULL;
}

struct tn_node *tn_rewrite_source(struct tn_rewrite *w, const struct tn_node *n, uint32_t k, uint32_t times)
{
    if (k >= n->in_count || n->in[k].value == TN_NET_NONE || n->in[k].level) return NULL;
    uint32_t value = n->in[k].value;
    const struct tn_net_value *v = &w->net->values[value];
    if (v->producer == TN_NET_NONE || w->alias[value] != value) return NULL;
    struct tn_node *made = &w->net->nodes[v->producer];
    if (times && (w->readers[value] != times || v->output)) return NULL;
    for (uint32_t i = 1; times && i < made->out_count; i++) {
        if (made->out[i] != TN_NET_NONE) return NULL;
    }
    return made->out_count && made->out[0] == value ? made : NULL;
}

/* Of any graph: its value is an initialiser that no call replaces. */
static bool is_initialiser(const struct tn_net *net, struct tn_ref_value ref)
{
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    if (!net->values[ref.value].constant) return false;
    for (uint32_t i = 0; i < net->input_count; i++) {
        if (net->inputs[i] == ref.value) return false;
    }
    return true;
}

enum { CONSTANT_DEPTH = 8 };

static bool constant_value(const struct tn_rewrite *w, struct tn_ref_value ref, unsigned depth)
{
    if (ref.value == TN_NET_NONE) return true;
    if (ref.level) return is_initialiser(w->net, ref);
    const struct tn_net_value *v = &w->net->values[ref.value];
    if (w->input[ref.value]) return false;
    if (v->constant) return true;
    if (v->producer == TN_NET_NONE || depth == CONSTANT_DEPTH) return false;
    const struct tn_node *n = &w->net->nodes[v->producer];
    if (!n->op || n->op->not_pure || n->in_count == 0) return false;
    for (uint32_t k = 0; k < n->attr_count; k++) {
        if (n->attrs[k].type == TN_ATTR_GRAPH || n->attrs[k].type == TN_ATTR_GRAPHS) return false;
    }
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (!constant_value(w, n->in[k], depth + 1)) return false;
    }
    return true;
}

bool tn_rewrite_constant(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    return k < n->in_count && n->in[k].value != TN_NET_NONE && constant_value(w, n->in[k], 0);
}

static const struct tn_constant *read_constant(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k)
{
    if (k >= n->in_count || n->in[k].value == TN_NET_NONE || !is_initialiser(w->net, n->in[k])) return NULL;
    const struct tn_constant *c = tn_net_at(w->net, n->in[k])->constant;
    return c->data && c->element != TN_EL_STRING ? c : NULL;
}

bool tn_rewrite_number_of(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, double *out)
{
    const struct tn_constant *c = read_constant(w, n, k);
    uint64_t count;
    if (!c || !tn_shape_count(c->dims, c->rank, &count) || count != 1) return false;
    *out = tn_element_get(c->element, c->data, 0);
    return true;
}

bool tn_rewrite_numbers_of(const struct tn_rewrite *w, const struct tn_node *n, uint32_t k, int64_t *out, uint32_t cap, uint32_t *count)
{
    const struct tn_constant *c = read_constant(w, n, k);
    uint64_t all;
    if (!c || !tn_elements_have(TN_ELS_INT, c->element) || !tn_shape_count(c->dims, c->rank, &all) || all > cap) return false;
    for (uint64_t i = 0; i < all; i++) out[i] = tn_element_get_int(c->element, c->data, i);
    *count = (uint32_t)all;
    return true;
}

/* ---- room --------------------------------------------------------------------------------------------------------- */

static bool grow(struct tn_rewrite *w, void **items, size_t room, size_t wider, size_t each)
{
    void *moved = tn_calloc(w->model->ctx->alloc, wider, each);
    if (!moved) {
        w->no_memory = true;
        return false;
    }
    if (room) memcpy(moved, *items, room * each);
    tn_free(w->model->ctx->alloc, *items);
    *items = moved;
    return true;
}

static uint32_t new_value(struct tn_rewrite *w)
{
    uint32_t v = tn_net_add_value(w->net, TN_STR(""));
    size_t wider = w->value_room * 2 + 16;
    if (v == TN_NET_NONE) {
        w->no_memory = true;
        return v;
    }
    if (v >= w->value_room) {
        if (!grow(w, (void **)&w->readers, w->value_room, wider, sizeof(*w->readers)) ||
            !grow(w, (void **)&w->alias, w->value_room, wider, sizeof(*w->alias)) ||
            !grow(w, (void **)&w->input, w->value_room, wider, sizeof(*w->input)))
            return TN_NET_NONE;
        w->value_room = wider;
    }
    w->alias[v] = v;
    return v;
}

/* ---- rewriting ---------------------------------------------------------------------------------------------------- */

static void count_reads(struct tn_rewrite *w, const struct tn_node *n, bool more)
{
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (n->in[k].value == TN_NET_NONE || n->in[k].level) continue;
        w->readers[n->in[k].value] += more ? 1 : UINT32_MAX;
    }
}

static void *copied(struct tn_rewrite *w, const void *a, size_t na, const void *b, size_t nb, size_t each)
{
    char *p = tn_arena_array(&w->model->arena, na + nb + 1, each);
    if (!p) {
        w->no_memory = true;
        return NULL;
    }
    if (na) memcpy(p, a, na * each);
    if (nb) memcpy(p + na * each, b, nb * each);
    return p;
}

static bool fill_node(struct tn_rewrite *w, struct tn_node *n, const struct tn_new_node *new_node)
{
    bool known;
    n->domain = tn_str_of(new_node->domain ? new_node->domain : "ai.onnx");
    n->type = tn_str_of(new_node->type);
    n->version = new_node->version;
    n->schema = tn_op_schema_find(n->domain, n->type, n->version, &known);
    n->op = tn_operator_find(n->domain, n->type, n->version);
    n->in = copied(w, new_node->in, new_node->in_count, NULL, 0, sizeof(*n->in));
    n->attrs = copied(w, new_node->attrs, new_node->attr_count, NULL, 0, sizeof(*n->attrs));
    n->in_count = n->in ? new_node->in_count : 0;
    n->attr_count = n->attrs ? new_node->attr_count : 0;
    return n->op && n->in && n->attrs;
}

static bool take_output(struct tn_rewrite *w, uint32_t i, struct tn_node *made, uint32_t from)
{
    struct tn_node *n = &w->net->nodes[from];
    uint32_t *out = tn_arena_array(&w->model->arena, 2, sizeof(*out));
    if (!out) {
        w->no_memory = true;
        return false;
    }
    out[0] = made->out[0];
    out[1] = n->out[n->out_count - 1];
    made->out = out;
    made->out_count = 2;
    n->out_count--;
    w->net->values[out[1]].producer = i;
    w->reordered = true;
    return true;
}

bool tn_rewrite_turn(struct tn_rewrite *w, uint32_t i, const struct tn_new_node *new_node)
{
    struct tn_node made = w->net->nodes[i];
    for (uint32_t k = 1; k < made.out_count; k++) {
        if (made.out[k] != TN_NET_NONE) return false;
    }
    if (!fill_node(w, &made, new_node)) return false;
    made.out_count = 1;
    if (new_node->second && !take_output(w, i, &made, new_node->second_of)) return false;
    count_reads(w, &w->net->nodes[i], false);
    w->net->nodes[i] = made;
    count_reads(w, &made, true);
    return true;
}

bool tn_rewrite_extend(struct tn_rewrite *w, uint32_t i, uint32_t last, const struct tn_ref_value *in, uint32_t in_count,
                       const struct tn_attr *attrs, uint32_t attr_count)
{
    struct tn_node made = w->net->nodes[i];
    uint32_t own = made.schema && made.schema->in_count > made.in_count && in_count ? made.schema->in_count : made.in_count;
    struct tn_ref_value *all = copied(w, NULL, 0, NULL, 0, sizeof(*all) * (own + in_count + 1));
    made.attrs = copied(w, made.attrs, made.attr_count, attrs, attr_count, sizeof(*attrs));
    if (!all || !made.attrs) return false;
    for (uint32_t k = 0; k < own; k++) all[k] = k < made.in_count ? made.in[k] : (struct tn_ref_value){TN_NET_NONE, 0};
    for (uint32_t k = 0; k < in_count; k++) all[own + k] = in[k];
    made.in = all;
    made.in_count = own + in_count;
    made.attr_count += attr_count;
    made.out = w->net->nodes[last].out;
    made.out_count = 1;
    count_reads(w, &w->net->nodes[last], false);
    w->net->nodes[last] = made;
    count_reads(w, &made, true);
    return true;
}

struct tn_ref_value tn_rewrite_put(struct tn_rewrite *w, uint32_t i, const struct tn_new_node *new_node)
{
    const struct tn_ref_value none = {TN_NET_NONE, 0};
    for (uint32_t k = 0; k < new_node->in_count; k++) {
        if (w->no_memory) return none;
    }
    uint32_t value = new_value(w);
    uint32_t *out = tn_arena_array(&w->model->arena, 1, sizeof(*out));
    struct tn_node *n = value != TN_NET_NONE && out ? tn_net_add_node(w->net) : NULL;
    if (!n) {
        w->no_memory = true;
        return none;
    }
    uint32_t number = w->net->node_count - 1;
    if (number >= w->node_room) {
        if (!grow(w, (void **)&w->front, w->node_room, w->node_room * 2 + 16, sizeof(*w->front))) return none;
        w->node_room = w->node_room * 2 + 16;
    }
    *n = (struct tn_node){.name = w->net->nodes[i].name, .at = w->net->nodes[i].at, .out = out, .out_count = 1};
    *out = value;
    w->front[number] = i;
    w->net->values[value].producer = number;
    if (!fill_node(w, n, new_node)) return none;
    count_reads(w, n, true);
    enum tn_status st = tn_net_infer_node(w->model, w->net, n);
    w->no_memory |= st == TN_INSUFFICIENT_MEMORY;
    return st ? none : (struct tn_ref_value){value, 0};
}

static struct tn_ref_value constant_of(struct tn_rewrite *w, enum tn_element e, uint32_t rank, int64_t count, void **data)
{
    uint32_t value = new_value(w);
    struct tn_constant *c = tn_arena_alloc(&w->model->arena, sizeof(*c));
    int64_t *dims = tn_arena_array(&w->model->arena, 1, sizeof(*dims));
    *data = tn_arena_array(&w->model->arena, (size_t)count + 1, 8);
    if (value == TN_NET_NONE || !c || !dims || !*data) {
        w->no_memory = true;
        *data = NULL;
        return (struct tn_ref_value){TN_NET_NONE, 0};
    }
    *dims = count;
    *c = (struct tn_constant){.element = e, .rank = rank, .dims = dims, .data = *data};
    tn_element_bytes(e, (uint64_t)count, &c->bytes);
    struct tn_net_value *v = &w->net->values[value];
    v->constant = c;
    v->type = (struct tn_type){.kind = TN_KIND_TENSOR, .element = e, .shape = {.known = true, .rank = rank}};
    if (rank) v->type.shape.dims[0] = count;
    return (struct tn_ref_value){value, 0};
}

struct tn_ref_value tn_rewrite_real(struct tn_rewrite *w, enum tn_element e, double value)
{
    void *data;
    struct tn_ref_value ref = constant_of(w, e, 0, 1, &data);
    if (data) tn_element_set(e, data, 0, value, true);
    return ref;
}

struct tn_ref_value tn_rewrite_ints(struct tn_rewrite *w, const int64_t *values, uint32_t count)
{
    void *data;
    struct tn_ref_value ref = constant_of(w, TN_EL_I64, 1, count, &data);
    if (data && count) memcpy(data, values, count * sizeof(*values));
    return ref;
}

bool tn_rewrite_pass(struct tn_rewrite *w, uint32_t i)
{
    const struct tn_node *n = &w->net->nodes[i];
    if (n->out_count == 0 || n->in[0].level || n->in[0].value == TN_NET_NONE || n->out[0] == TN_NET_NONE) return false;
    uint32_t from = n->in[0].value, to = n->out[0];
    /* What is read here may have been replaced itself in this pass. */
    if (w->alias[from] != from) return false;
    w->alias[to] = from;
    w->readers[from] += w->readers[to];
    w->readers[to] = 0;
    if (w->net->values[to].output) w->net->values[from].output = true;
    w->aliased = true;
    return true;
}
