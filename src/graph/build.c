/*
 * Building a graph: nodes that are appended to a model, one function per operator, and a sticky failure. Operands come from
 * families and recipes, tensors from packages: shapes are checked when the graph is finished, by the operators' own rows.
 */
#include "graph/graph.h"

#include "ops/rows.h"

#include <stdio.h>
#include <string.h>

static void out_of_memory(struct tn_graph *g)
{
    if (!g->failed) g->failed = TN_INSUFFICIENT_MEMORY;
}

/* Makes room for one more item; items live in the arena, so old arrays are simply left behind. */
static void *grown(struct tn_graph *g, void *items, uint32_t count, uint32_t *cap, size_t item_size)
{
    if (count < *cap) return items;
    uint32_t wider = *cap ? *cap * 2 : 32;
    void *copy = tn_arena_array(g->arena, wider, item_size);
    if (!copy) {
        out_of_memory(g);
        return NULL;
    }
    if (count) memcpy(copy, items, count * item_size);
    *cap = wider;
    return copy;
}

/* The part that operators are added to. */
static uint32_t part_of(const struct tn_graph *g)
{
    return g->part[TN_GRAPH_PICKS] ? TN_GRAPH_PICKS : TN_GRAPH_TOKENS;
}

static struct tn_net *net_of(const struct tn_graph *g)
{
    return g->part[part_of(g)]->main;
}

/* ---- ports -------------------------------------------------------------------------------------------------------- */

static void set_type(struct tn_net *net, uint32_t value, enum tn_element element, uint32_t rank, const tn_dim_t *dims)
{
    struct tn_type *t = &net->values[value].type;
    *t = (struct tn_type){.kind = TN_KIND_TENSOR, .element = element, .shape = {.known = true, .rank = rank}};
    memcpy(t->shape.dims, dims, rank * sizeof(*dims));
}

static bool add_inputs(struct tn_net *net, uint32_t count)
{
    net->inputs = tn_arena_array(&net->model->arena, count, sizeof(*net->inputs));
    net->outputs = tn_arena_array(&net->model->arena, 1, sizeof(*net->outputs));
    net->results = tn_arena_array(&net->model->arena, 1, sizeof(*net->results));
    return net->inputs && net->outputs && net->results;
}

static bool add_input(struct tn_net *net, const char *name, enum tn_element element, uint32_t rank, const tn_dim_t *dims)
{
    uint32_t value = tn_net_add_value(net, tn_str_of(name));
    if (value == TN_NET_NONE) return false;
    set_type(net, value, element, rank, dims);
    net->inputs[net->input_count++] = value;
    return true;
}

static bool add_token_inputs(struct tn_graph *g)
{
    struct tn_model *m = g->part[TN_GRAPH_TOKENS];
    struct tn_net *net = m->main;
    g->rows = tn_dim_named(&m->symbols, TN_STR("T"));
    g->sequences = tn_dim_named(&m->symbols, TN_STR("S"));
    tn_dim_t ends = tn_dim_add(&m->symbols, g->sequences, 1), spans[2] = {g->sequences, 3};
    return add_inputs(net, TN_GRAPH_INPUTS + 1) && add_input(net, "ids", TN_EL_I32, 1, &g->rows) && add_input(net, "types", TN_EL_I32, 1, &g->rows) &&
           add_input(net, "positions", TN_EL_I32, 1, &g->rows) && add_input(net, "offsets", TN_EL_I32, 1, &ends) &&
           add_input(net, "spans", TN_EL_I32, 2, spans) && !m->symbols.failed;
}

bool tn_graph_init(struct tn_graph *g, const struct tn_context *ctx, struct tn_arena *arena, uint64_t max_rows, enum tn_compute compute)
{
    *g = (struct tn_graph){.ctx = ctx, .arena = arena, .max_rows = max_rows, .compute = compute, .layer = TN_NO_LAYER};
    g->part[TN_GRAPH_TOKENS] = tn_model_new(ctx);
    if (!g->part[TN_GRAPH_TOKENS] || !add_token_inputs(g)) out_of_memory(g);
    return !g->failed;
}

void tn_graph_release(struct tn_graph *g)
{
    for (uint32_t i = 0; i < TN_GRAPH_PARTS; i++) {
        tn_model_free(g->part[i]);
        g->part[i] = NULL;
    }
}

/* ---- values and weights ------------------------------------------------------------------------------------------- */

/* A value of the part in hand as others call it. */
static uint32_t add_value(struct tn_graph *g, uint32_t value)
{
    struct tn_graph_value *values = grown(g, g->values, g->value_count, &g->value_cap, sizeof(*values));
    if (!values) return TN_NO_VALUE;
    g->values = values;
    values[g->value_count] = (struct tn_graph_value){part_of(g), value};
    return g->value_count++;
}

uint32_t tn_graph_weight(struct tn_graph *g, struct tn_str role, const struct tn_tensor_info *tensor)
{
    for (uint32_t i = 0; i < g->weight_count; i++) {
        if (g->weights[i].tensor == tensor) return i;
    }
    struct tn_graph_weight *weights = grown(g, g->weights, g->weight_count, &g->weight_cap, sizeof(*weights));
    if (!weights) return TN_NO_WEIGHT;
    g->weights = weights;
    weights[g->weight_count] = (struct tn_graph_weight){tn_arena_str(g->arena, role), tensor, {TN_NET_NONE, TN_NET_NONE}};
    if (!weights[g->weight_count].role.s) {
        out_of_memory(g);
        return TN_NO_WEIGHT;
    }
    return g->weight_count++;
}

static enum tn_element element_of(enum tn_dtype dtype)
{
    return dtype == TN_DTYPE_F16 ? TN_EL_F16 : dtype == TN_DTYPE_BF16 ? TN_EL_BF16 : TN_EL_F32; /* binding has admitted no others */
}

static uint32_t add_constant(struct tn_graph *g, struct tn_str name, enum tn_element element, uint32_t rank, const uint64_t *shape,
                             struct tn_constant **out)
{
    struct tn_net *net = net_of(g);
    struct tn_constant *c = tn_arena_alloc(&net->model->arena, sizeof(*c));
    int64_t *dims = tn_arena_array(&net->model->arena, (size_t)rank + 1, sizeof(*dims));
    struct tn_str own = tn_arena_str(&net->model->arena, name);
    uint32_t value = c && dims && own.s ? tn_net_add_value(net, own) : TN_NET_NONE;
    uint64_t count;
    if (value == TN_NET_NONE) {
        out_of_memory(g);
        return TN_NET_NONE;
    }
    for (uint32_t i = 0; i < rank; i++) dims[i] = (int64_t)shape[i];
    *c = (struct tn_constant){.element = element, .rank = rank, .dims = dims};
    if (!tn_shape_count(dims, rank, &count) || !tn_element_bytes(element, count, &c->bytes)) out_of_memory(g);
    set_type(net, value, element, rank, dims);
    net->values[value].constant = c;
    *out = c;
    return value;
}

/* The weight as an operand of the part in hand; TN_NO_WEIGHT: absent. */
static struct tn_ref_value weight_ref(struct tn_graph *g, uint32_t index)
{
    const struct tn_ref_value none = {TN_NET_NONE, 0};
    if (index >= g->weight_count || g->failed) return none;
    struct tn_graph_weight *w = &g->weights[index];
    uint32_t *value = &w->value[part_of(g)];
    struct tn_constant *c;
    if (*value == TN_NET_NONE) {
        *value = add_constant(g, w->role, element_of(w->tensor->dtype), w->tensor->rank, w->tensor->shape, &c);
        if (*value != TN_NET_NONE) c->tensor = w->tensor;
    }
    return (struct tn_ref_value){*value, 0};
}

/* A value as an operand; what lies in another part is none, which the operator then refuses. */
static struct tn_ref_value value_ref(const struct tn_graph *g, uint32_t index)
{
    bool here = index < g->value_count && g->values[index].part == part_of(g);
    return (struct tn_ref_value){here ? g->values[index].value : TN_NET_NONE, 0};
}

static struct tn_ref_value input_ref(const struct tn_graph *g, enum tn_token_input input)
{
    return (struct tn_ref_value){part_of(g) == TN_GRAPH_TOKENS ? net_of(g)->inputs[input] : TN_NET_NONE, 0};
}

/* ---- nodes -------------------------------------------------------------------------------------------------------- */

enum { OPERANDS = 12, ATTRIBUTES = 12, OUTPUTS = 2 };

/* What a node is made of; attributes that are 0 by nature are left out. */
struct recipe {
    struct tn_ref_value in[OPERANDS];
    struct tn_attr attrs[ATTRIBUTES];
    uint32_t in_count, attr_count;
};

static void put_in(struct recipe *r, struct tn_ref_value ref)
{
    r->in[r->in_count++] = ref;
}

static void put_int(struct recipe *r, const char *name, uint64_t value)
{
    int64_t i = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    if (value) r->attrs[r->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_INT, .count = 1, .as.i = i};
}

static void put_real(struct recipe *r, const char *name, double value)
{
    r->attrs[r->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_FLOAT, .count = 1, .as.f = (float)value};
}

static void put_text(struct recipe *r, const char *name, const char *value)
{
    r->attrs[r->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_STRING, .count = 1, .as.s = tn_str_of(value)};
}

static void put_act(struct recipe *r, enum tn_act act)
{
    if (act != TN_ACT_IDENTITY) put_text(r, "activation", tn_act_name(act));
}

static void *copied(struct tn_model *model, const void *items, size_t count, size_t each)
{
    void *copy = tn_arena_array(&model->arena, count + 1, each);
    if (copy && count) memcpy(copy, items, count * each);
    return copy;
}

/* Appends a node with fresh outputs. NULL after any failure. */
static struct tn_node *add_node(struct tn_graph *g, const char *type, const char *name, const struct recipe *r, uint32_t outputs)
{
    if (g->failed) return NULL;
    struct tn_net *net = net_of(g);
    struct tn_model *model = net->model;
    uint32_t out[OUTPUTS] = {TN_NET_NONE, TN_NET_NONE};
    struct tn_str own = tn_arena_str(&model->arena, tn_str_of(name));
    for (uint32_t k = 0; k < outputs; k++) out[k] = tn_net_add_value(net, k ? TN_STR("") : own);
    struct tn_node *n = tn_net_add_node(net);
    if (n) {
        *n = (struct tn_node){.name = own, .domain = TN_STR("tenon"), .type = tn_str_of(type), .version = 1,
                              .in = copied(model, r->in, r->in_count, sizeof(*r->in)), .in_count = r->in_count,
                              .attrs = copied(model, r->attrs, r->attr_count, sizeof(*r->attrs)), .attr_count = r->attr_count,
                              .out = copied(model, out, outputs, sizeof(*out)), .out_count = outputs, .layer = (uint32_t)(g->layer + 1)};
        n->op = tn_operator_find(n->domain, n->type, n->version);
    }
    if (!n || model->failed || !own.s || !n->in || !n->attrs || !n->out) {
        out_of_memory(g);
        return NULL;
    }
    for (uint32_t k = 0; k < outputs; k++) net->values[out[k]].producer = net->node_count - 1;
    return n;
}

static uint32_t add_op(struct tn_graph *g, const char *type, const char *name, const struct recipe *r)
{
    struct tn_node *n = add_node(g, type, name, r, 1);
    return n ? add_value(g, n->out[0]) : TN_NO_VALUE;
}

/* The node that makes the same of the same, so that layers share one table. */
static struct tn_node *find_node(const struct tn_graph *g, const char *type, const struct recipe *r)
{
    struct tn_net *net = net_of(g);
    for (uint32_t i = 0; i < net->node_count; i++) {
        struct tn_node *n = &net->nodes[i];
        bool same = tn_str_is(n->type, type) && n->in_count == r->in_count && n->attr_count == r->attr_count;
        for (uint32_t k = 0; same && k < r->in_count; k++) same = n->in[k].value == r->in[k].value;
        for (uint32_t k = 0; same && k < r->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k], *b = &r->attrs[k];
            same = tn_str_eq(a->name, b->name) && a->type == b->type;
            if (same && a->type == TN_ATTR_INT) same = a->as.i == b->as.i;
            if (same && a->type == TN_ATTR_FLOAT) same = a->as.f == b->as.f;
            if (same && a->type == TN_ATTR_STRING) same = tn_str_eq(a->as.s, b->as.s);
        }
        if (same) return n;
    }
    return NULL;
}

static struct tn_ref_value table_of(struct tn_graph *g, const char *type, const char *name, const struct recipe *r)
{
    struct tn_node *n = g->failed ? NULL : find_node(g, type, r);
    if (!n) n = add_node(g, type, name, r, 1);
    return (struct tn_ref_value){n ? n->out[0] : TN_NET_NONE, 0};
}

/* ---- operators ---------------------------------------------------------------------------------------------------- */

static void note_table(struct tn_graph *g, enum tn_index_kind kind, uint32_t weight)
{
    const struct tn_tensor_info *t = weight < g->weight_count ? g->weights[weight].tensor : NULL;
    uint64_t rows = t && t->rank ? t->shape[0] : 0;
    if (kind == TN_INDEX_TOKEN) g->vocab_size = rows;
    if (kind == TN_INDEX_TYPE) g->type_count = rows;
}

uint32_t tn_graph_embed(struct tn_graph *g, const char *name, const struct tn_op_embed *embed)
{
    static const int64_t numbers[] = {[TN_INDEX_TOKEN] = 0, [TN_INDEX_POSITION] = 1, [TN_INDEX_TYPE] = 2};
    struct recipe r = {.in_count = 0};
    int64_t *index = tn_arena_array(g->arena, TN_GRAPH_TABLES, sizeof(*index));
    if (g->failed || !index) {
        out_of_memory(g);
        return TN_NO_VALUE;
    }
    put_in(&r, input_ref(g, TN_IN_IDS));
    put_in(&r, input_ref(g, TN_IN_TYPES));
    put_in(&r, input_ref(g, TN_IN_POSITIONS));
    put_in(&r, weight_ref(g, embed->gamma));
    put_in(&r, weight_ref(g, embed->beta));
    for (uint32_t i = 0; i < embed->tables; i++) {
        put_in(&r, weight_ref(g, embed->table[i]));
        note_table(g, embed->index[i], embed->table[i]);
        index[i] = numbers[embed->index[i]];
    }
    r.attrs[r.attr_count++] = (struct tn_attr){.name = TN_STR("index"), .type = TN_ATTR_INTS, .count = embed->tables, .as.ints = index};
    put_real(&r, "eps", embed->eps);
    return add_op(g, "Embed", name, &r);
}

uint32_t tn_graph_given(struct tn_graph *g, uint64_t width)
{
    if (g->failed || g->given_width || width == 0 || width > INT64_MAX) return TN_NO_VALUE;
    tn_dim_t dims[2] = {g->rows, (tn_dim_t)width};
    if (!add_input(g->part[TN_GRAPH_TOKENS]->main, "rows", TN_EL_F32, 2, dims)) {
        out_of_memory(g);
        return TN_NO_VALUE;
    }
    g->given_width = width;
    return add_value(g, g->part[TN_GRAPH_TOKENS]->main->inputs[TN_IN_GIVEN]);
}

/* Rows are float32: what is stored otherwise is cast, once, when a program is made. */
uint32_t tn_graph_table(struct tn_graph *g, const char *name, uint32_t weight)
{
    struct recipe r = {.in_count = 0};
    bool known;
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, weight_ref(g, weight));
    if (weight < g->weight_count && g->weights[weight].tensor->dtype == TN_DTYPE_F32) return add_value(g, r.in[0].value);
    put_int(&r, "to", TN_EL_F32);
    struct tn_node *n = add_node(g, "Cast", name, &r, 1);
    if (!n) return TN_NO_VALUE;
    n->domain = TN_STR("ai.onnx");
    n->version = 13;
    n->schema = tn_op_schema_find(n->domain, n->type, n->version, &known);
    return add_value(g, n->out[0]);
}

uint32_t tn_graph_linear(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                         const struct tn_op_linear *linear)
{
    struct recipe r = {.in_count = 0};
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, value_ref(g, x));
    put_in(&r, value_ref(g, residual));
    for (uint32_t i = 0; i < linear->parts; i++) {
        put_in(&r, weight_ref(g, linear->weight[i]));
        put_in(&r, weight_ref(g, linear->bias[i]));
    }
    put_act(&r, linear->act);
    if (g->compute == TN_COMPUTE_BF16) put_text(&r, "compute", "bf16");
    return add_op(g, "Linear", name, &r);
}

static bool same_rope(const struct tn_rope *a, const struct tn_rope *b)
{
    return a->kind == b->kind && a->theta == b->theta && a->factor == b->factor && a->low_freq_factor == b->low_freq_factor &&
           a->high_freq_factor == b->high_freq_factor && a->original_positions == b->original_positions;
}

/* Frequencies as a constant, in float32 as published: attributes would round what they follow from. */
static struct tn_ref_value frequencies(struct tn_graph *g, const struct tn_op_rotary *rotary)
{
    uint64_t half = rotary->head_dim / 2;
    struct tn_constant *c;
    uint32_t value = add_constant(g, TN_STR("rotary frequencies"), TN_EL_F32, 1, &half, &c);
    float *data = value == TN_NET_NONE ? NULL : tn_arena_array(&net_of(g)->model->arena, (size_t)half + 1, sizeof(*data));
    if (!data) {
        out_of_memory(g);
        return (struct tn_ref_value){TN_NET_NONE, 0};
    }
    if (half) tn_rope_frequencies(&rotary->rope, 2 * half, data);
    c->data = data;
    return (struct tn_ref_value){value, 0};
}

static const struct tn_graph_angles *angles_of(struct tn_graph *g, const struct tn_op_rotary *rotary)
{
    struct recipe r = {.in_count = 0};
    for (uint32_t i = 0; i < g->angle_count; i++) {
        if (g->angles[i].head_dim == rotary->head_dim && same_rope(&g->angles[i].rope, &rotary->rope)) return &g->angles[i];
    }
    struct tn_graph_angles *angles = grown(g, g->angles, g->angle_count, &g->angle_cap, sizeof(*angles));
    if (!angles) return NULL;
    g->angles = angles;
    put_in(&r, frequencies(g, rotary));
    put_text(&r, "rope", tn_rope_kind_name(rotary->rope.kind));
    put_real(&r, "theta", rotary->rope.theta);
    put_int(&r, "head_dim", rotary->head_dim);
    put_int(&r, "positions", g->max_rows);
    struct tn_node *n = add_node(g, "RotaryAngles", "rotary angles", &r, 2);
    if (!n) return NULL;
    angles[g->angle_count] = (struct tn_graph_angles){rotary->rope, rotary->head_dim, n->out[0], n->out[1]};
    return &angles[g->angle_count++];
}

uint32_t tn_graph_rotary(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_rotary *rotary)
{
    struct recipe r = {.in_count = 0};
    const struct tn_graph_angles *angles = g->failed ? NULL : angles_of(g, rotary);
    if (!angles) return TN_NO_VALUE;
    put_in(&r, value_ref(g, x));
    put_in(&r, input_ref(g, TN_IN_POSITIONS));
    put_in(&r, (struct tn_ref_value){angles->cosine, 0});
    put_in(&r, (struct tn_ref_value){angles->sine, 0});
    put_int(&r, "heads", rotary->heads);
    return add_op(g, "Rotary", name, &r);
}

uint32_t tn_graph_gate(struct tn_graph *g, const char *name, uint32_t x, enum tn_act act)
{
    struct recipe r = {.in_count = 0};
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, value_ref(g, x));
    put_act(&r, act);
    return add_op(g, "Gate", name, &r);
}

static struct tn_ref_value bias_of(struct tn_graph *g, const struct tn_op_attention *a)
{
    struct recipe r = {.in_count = 0};
    if (a->bias == TN_NO_WEIGHT) return (struct tn_ref_value){TN_NET_NONE, 0};
    put_in(&r, weight_ref(g, a->bias));
    put_int(&r, "length", g->max_rows);
    put_int(&r, "buckets", a->bias_buckets);
    put_int(&r, "max_distance", a->bias_max_distance);
    return table_of(g, "DistanceBias", "bias by distance", &r);
}

static struct tn_ref_value rows_of(struct tn_graph *g, const struct tn_relative_terms *terms)
{
    struct recipe r = {.in_count = 0};
    if (!terms->of_queries && !terms->of_keys) return (struct tn_ref_value){TN_NET_NONE, 0};
    put_int(&r, "length", g->max_rows);
    put_int(&r, "span", terms->span);
    put_int(&r, "buckets", terms->buckets);
    put_int(&r, "max_distance", terms->max_distance);
    return table_of(g, "DistanceRows", "rows by distance", &r);
}

uint32_t tn_graph_attention(struct tn_graph *g, const char *name, uint32_t qkv, const struct tn_op_attention *attention)
{
    const struct tn_relative_terms *terms = &attention->relative;
    struct recipe r = {.in_count = 0};
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, value_ref(g, qkv));
    put_in(&r, input_ref(g, TN_IN_OFFSETS));
    put_in(&r, (struct tn_ref_value){TN_NET_NONE, 0}); /* spans: tn_graph_hide_rows */
    put_in(&r, bias_of(g, attention));
    put_in(&r, value_ref(g, terms->of_queries ? terms->position_key : TN_NO_VALUE));
    put_in(&r, value_ref(g, terms->of_keys ? terms->position_query : TN_NO_VALUE));
    put_in(&r, rows_of(g, terms));
    put_int(&r, "heads", attention->heads);
    put_int(&r, "head_dim", attention->head_dim);
    put_real(&r, "scale", attention->scale);
    put_int(&r, "window", attention->window);
    put_int(&r, "span", terms->of_queries || terms->of_keys ? terms->span : 0);
    put_int(&r, "length", g->max_rows);
    return add_op(g, "Attention", name, &r);
}

uint32_t tn_graph_layer_norm(struct tn_graph *g, const char *name, uint32_t x, uint32_t residual,
                             const struct tn_op_layer_norm *norm)
{
    struct recipe r = {.in_count = 0};
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, value_ref(g, x));
    put_in(&r, value_ref(g, residual));
    put_in(&r, weight_ref(g, norm->gamma));
    put_in(&r, weight_ref(g, norm->beta));
    put_real(&r, "eps", norm->eps);
    return add_op(g, "Norm", name, &r);
}

uint32_t tn_graph_linear_pool(struct tn_graph *g, const char *name, uint32_t x, bool sum, bool twice)
{
    struct tn_net *net = g->failed ? NULL : net_of(g);
    struct tn_node *n = net && net->node_count ? &net->nodes[net->node_count - 1] : NULL;
    struct recipe r = {.in_count = 0};
    bool last = n && x < g->value_count && value_ref(g, x).value == n->out[0] && part_of(g) == TN_GRAPH_TOKENS;
    if (!last || !tn_str_is(n->type, "Linear")) return TN_NO_VALUE;
    for (uint32_t i = 0; i < n->in_count; i++) put_in(&r, i == 1 ? input_ref(g, TN_IN_SPANS) : n->in[i]);
    for (uint32_t i = 0; i < n->attr_count; i++) r.attrs[r.attr_count++] = n->attrs[i];
    put_int(&r, "sum", sum);
    put_int(&r, "twice", twice);
    n->type = TN_STR("LinearPool");
    n->op = tn_operator_find(n->domain, n->type, n->version);
    n->in = copied(net->model, r.in, r.in_count, sizeof(*r.in));
    n->attrs = copied(net->model, r.attrs, r.attr_count, sizeof(*r.attrs));
    n->attr_count = r.attr_count;
    n->name = tn_arena_str(&net->model->arena, tn_str_of(name));
    if (!n->in || !n->attrs || !n->name.s) out_of_memory(g);
    return x;
}

uint32_t tn_graph_pool(struct tn_graph *g, const char *name, uint32_t x, const struct tn_op_pool *pool)
{
    struct recipe r = {.in_count = 0};
    struct tn_str *modes = tn_arena_array(g->arena, TN_POOLINGS, sizeof(*modes));
    if (g->failed || !modes) {
        out_of_memory(g);
        return TN_NO_VALUE;
    }
    for (uint32_t i = 0; i < pool->modes; i++) modes[i] = tn_str_of(tn_pooling_name(pool->mode[i]));
    put_in(&r, value_ref(g, x));
    put_in(&r, input_ref(g, TN_IN_SPANS));
    r.attrs[r.attr_count++] = (struct tn_attr){.name = TN_STR("modes"), .type = TN_ATTR_STRINGS, .count = pool->modes, .as.strings = modes};
    return add_op(g, "Pool", name, &r);
}

uint32_t tn_graph_normalize(struct tn_graph *g, const char *name, uint32_t x)
{
    struct recipe r = {.in_count = 0};
    if (g->failed) return TN_NO_VALUE;
    put_in(&r, value_ref(g, x));
    return add_op(g, "Unit", name, &r);
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static enum tn_status not_fit(struct tn_error *err, struct tn_str name, const char *what)
{
    struct tn_finding *f = tn_error_set(err, TN_TENSOR_MISMATCH, TN_PHASE_ASSESS, "%s", what);
    tn_at_element(f, TN_ELEMENT_OPERATOR, name);
    tn_remedy(f, "the configuration and the weights belong to different models");
    return TN_TENSOR_MISMATCH;
}

static enum tn_status type_part(struct tn_graph *g, uint32_t part, struct tn_error *err)
{
    struct tn_findings findings;
    if (!g->part[part]) return TN_OK;
    tn_findings_init(&findings, g->ctx->alloc, (size_t)g->ctx->limits.findings);
    enum tn_status st = tn_net_infer(g->part[part], &findings, err);
    if (!st) st = tn_error_from_findings(err, &findings);
    tn_findings_release(&findings);
    return st;
}

static void set_result(struct tn_model *model, uint32_t value)
{
    struct tn_net *net = model->main;
    net->outputs[0] = value;
    net->results[0] = (struct tn_ref_value){value, 0};
    net->output_count = 1;
    net->values[value].output = true;
}

/* The second part's rows are as wide as the value that is picked from. */
static enum tn_status begin_picks(struct tn_graph *g, struct tn_error *err)
{
    struct tn_net *from = g->part[TN_GRAPH_TOKENS]->main, *to = g->part[TN_GRAPH_PICKS] ? g->part[TN_GRAPH_PICKS]->main : NULL;
    if (!to) return TN_OK;
    const struct tn_type *t = &from->values[from->results[0].value].type;
    if (t->shape.rank != 2 || t->shape.dims[0] != g->rows) return not_fit(err, TN_STR("picked tokens"), "rows are picked where there are none");
    tn_dim_t dims[2] = {g->picks, t->shape.dims[1]};
    set_type(to, to->inputs[0], TN_EL_F32, 2, dims);
    return TN_OK;
}

/* Of the rows of x: a part of its own from here on, whose only operand they are. Its width is known when x has a type. */
uint32_t tn_graph_pick(struct tn_graph *g, uint32_t x)
{
    if (g->failed || g->part[TN_GRAPH_PICKS] || x >= g->value_count) return TN_NO_VALUE;
    struct tn_model *model = tn_model_new(g->ctx);
    if (!model) {
        out_of_memory(g);
        return TN_NO_VALUE;
    }
    set_result(g->part[TN_GRAPH_TOKENS], g->values[x].value);
    g->part[TN_GRAPH_PICKS] = model;
    g->picks = tn_dim_named(&model->symbols, TN_STR("P"));
    tn_dim_t dims[2] = {g->picks, 0};
    if (!add_inputs(model->main, 1) || !add_input(model->main, "picked tokens", TN_EL_F32, 2, dims) || model->symbols.failed) {
        out_of_memory(g);
        return TN_NO_VALUE;
    }
    return add_value(g, model->main->inputs[0]);
}

void tn_graph_hide_rows(struct tn_graph *g)
{
    struct tn_net *net = g->part[TN_GRAPH_TOKENS]->main;
    for (uint32_t i = 0; i < net->node_count; i++) {
        struct tn_node *n = &net->nodes[i];
        if (tn_str_is(n->type, "Attention")) n->in[TN_ATTENTION_SPANS] = (struct tn_ref_value){net->inputs[TN_IN_SPANS], 0};
    }
}

static enum tn_status describe_output(struct tn_graph *g, struct tn_error *err)
{
    const struct tn_net *net = g->part[g->output.part]->main;
    const struct tn_net_value *v = &net->values[g->output.value];
    const struct tn_shape *s = &v->type.shape;
    bool rows = v->type.kind == TN_KIND_TENSOR && s->known && s->rank == 2 && tn_dim_known(s->dims[1]) && v->producer != TN_NET_NONE;
    if (!rows || tn_dim_known(s->dims[0])) return not_fit(err, v->name, "an output that reads no input");
    g->output_width = (uint64_t)s->dims[1];
    g->output_dim = g->output.part == TN_GRAPH_PICKS ? TN_DIM_PICKS : s->dims[0] == g->rows ? TN_DIM_ROWS : TN_DIM_SEQUENCES;
    return TN_OK;
}

enum tn_status tn_graph_finish(struct tn_graph *g, uint32_t output, struct tn_error *err)
{
    if (g->failed) return tn_error_memory(err, TN_PHASE_ASSESS, "building the graph");
    if (output < g->value_count) {
        g->output = g->values[output];
        set_result(g->part[g->output.part], g->output.value);
    }
    enum tn_status st = type_part(g, TN_GRAPH_TOKENS, err);
    if (!st) st = begin_picks(g, err);
    if (!st) st = type_part(g, TN_GRAPH_PICKS, err);
    return st || output >= g->value_count ? st : describe_output(g, err);
}

const char *tn_graph_name(struct tn_graph *g, const char *format, unsigned long long layer)
{
    char text[128];
    int n = snprintf(text, sizeof(text), format, layer);
    char *copy = n > 0 ? tn_arena_strndup(g->arena, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) : NULL;
    if (!copy) out_of_memory(g);
    return copy ? copy : "";
}
