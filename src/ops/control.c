/*
 * If, Loop and Scan: nodes with graphs inside. What varies from one turn to the next has no fixed shape before it runs;
 * its element type must stay.
 */
#include "ops/move.h"

#include <string.h>

/* More ports than any published graph's loop has. */
enum { PORTS = 1024 };

/* ---- If ----------------------------------------------------------------------------------------------------------- */

/* What two branches give in common: dimensions that differ are unknown. */
static void join(struct tn_infer *x, const struct tn_type *a, const struct tn_type *b, struct tn_type *out)
{
    *out = a ? *a : (struct tn_type){.kind = TN_KIND_NONE};
    if (!a || !b || a->kind != b->kind || a->kind != TN_KIND_TENSOR) return;
    if (!a->shape.known || !b->shape.known || a->shape.rank != b->shape.rank) {
        out->shape.known = false;
        return;
    }
    for (uint32_t i = 0; i < a->shape.rank; i++) {
        if (a->shape.dims[i] != b->shape.dims[i]) out->shape.dims[i] = tn_dim_unknown(x->symbols);
    }
}

static bool infer_if(struct tn_infer *x)
{
    const struct tn_net *then_net = tn_attr_graph(x->node, "then_branch"), *else_net = tn_attr_graph(x->node, "else_branch");
    const struct tn_type *a[PORTS] = {0}, *b[PORTS] = {0};
    if (x->running) return true;
    if (then_net->input_count || else_net->input_count) return tn_infer_refuse(x, "branches without inputs", "%u and %u", then_net->input_count, else_net->input_count);
    if (then_net->output_count != x->out_count || else_net->output_count != x->out_count || x->out_count > PORTS)
        return tn_infer_refuse(x, "branches with as many outputs as the node", "%u and %u for %u", then_net->output_count, else_net->output_count, x->out_count);
    if (!x->graph(x, then_net, NULL, a) || !x->graph(x, else_net, NULL, b)) return false;
    for (uint32_t k = 0; k < x->out_count; k++) {
        struct tn_type joined;
        if (a[k] && b[k] && a[k]->kind == TN_KIND_TENSOR && b[k]->kind == TN_KIND_TENSOR && a[k]->element != b[k]->element && a[k]->element && b[k]->element)
            return tn_infer_refuse(x, "branches whose outputs are of one type", "%s and %s", tn_onnx_element_name(a[k]->element), tn_onnx_element_name(b[k]->element));
        join(x, a[k], b[k], &joined);
        tn_out_type(x, k, &joined);
    }
    return true;
}

static bool run_if(struct tn_run *r)
{
    const struct tn_tensor *c = r->in[0];
    if (c->count != 1) return tn_run_refuse(r, "a condition of one element", "%llu", (unsigned long long)c->count);
    bool yes = ((const uint8_t *)c->data)[0] != 0;
    return r->graph(r, tn_attr_graph(r->node, yes ? "then_branch" : "else_branch"), NULL, 0, r->out, r->out_count);
}

/* ---- Loop --------------------------------------------------------------------------------------------------------- */

/* A value that the turns change: its rank and element stay, its dimensions may not. */
static void varying(const struct tn_type *t, struct tn_type *out)
{
    *out = t ? *t : (struct tn_type){.kind = TN_KIND_NONE};
    out->shape.known = false;
}

static bool infer_loop(struct tn_infer *x)
{
    const struct tn_net *body = tn_attr_graph(x->node, "body");
    const struct tn_type *in[PORTS], *out[PORTS] = {0};
    struct tn_type types[PORTS], counter = {.kind = TN_KIND_TENSOR, .element = TN_EL_I64, .shape = {.known = true}};
    struct tn_type condition = {.kind = TN_KIND_TENSOR, .element = TN_EL_BOOL, .shape = {.known = true}};
    if (x->running) return true;
    uint32_t carried = x->in_count > 2 ? x->in_count - 2 : 0;
    if (body->input_count != carried + 2 || body->output_count < carried + 1 || body->output_count != x->out_count + 1 || x->out_count > PORTS - 2 || carried > PORTS - 2)
        return tn_infer_refuse(x, "a body with iteration, condition and each carried value, which gives the condition first", "%u inputs and %u outputs for %u carried values", body->input_count, body->output_count, carried);
    in[0] = &counter;
    in[1] = &condition;
    for (uint32_t i = 0; i < carried; i++) {
        varying(tn_in_type(x, i + 2), &types[i]);
        in[i + 2] = &types[i];
    }
    if (!x->graph(x, body, in, out)) return false;
    for (uint32_t k = 0; k < x->out_count; k++) {
        const struct tn_type *t = out[k + 1];
        if (k < carried) {
            /* a body may begin with an optional and give what it holds */
            struct tn_type given = types[k];
            if (t && t->kind != TN_KIND_NONE) varying(t, &given);
            tn_out_type(x, k, &given);
        } else if (t && t->kind == TN_KIND_TENSOR) {
            tn_out_unknown(x, k, t->element);
        }
    }
    return true;
}

/* Values of every turn side by side: [turns, ...]. */
struct gathering {
    struct tn_tensor **items;
    size_t count, cap;
};

static bool gather(struct tn_run *r, struct gathering *g, struct tn_tensor *t)
{
    if (g->count == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 16;
        struct tn_tensor **items = tn_run_scratch(r, cap, sizeof(*items));
        if (!items) return false;
        if (g->count) memcpy(items, g->items, g->count * sizeof(*items));
        tn_heap_give(r->heap, g->items);
        g->items = items;
        g->cap = cap;
    }
    g->items[g->count++] = tn_tensor_keep(t);
    return true;
}

static void forget(struct tn_run *r, struct gathering *g)
{
    for (size_t i = 0; i < g->count; i++) tn_tensor_drop(g->items[i]);
    tn_heap_give(r->heap, g->items);
}

/* Stacks along a new dimension `axis`; `reversed`: the last turn first. No turn at all: [0] of the type, of rank 1. */
static bool stack(struct tn_run *r, uint32_t k, const struct gathering *g, enum tn_element e, int64_t axis, bool reversed)
{
    int64_t dims[TN_RANK] = {0}, strides[TN_RANK], from[TN_RANK];
    const struct tn_tensor *first = g->count ? g->items[0] : NULL;
    uint32_t rank = first ? first->rank + 1 : 1, at = 0;
    size_t size;
    if (rank > TN_RANK) return tn_run_refuse(r, "at most 8 dimensions", "%u", rank);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank) return tn_run_refuse(r, "an axis of the result", "%lld", (long long)axis);
    for (uint32_t i = 0; i < rank; i++) dims[i] = i == axis ? (int64_t)g->count : first ? first->dims[at++] : 0;
    struct tn_tensor *y = tn_run_output(r, k, first ? first->element : e, rank, dims);
    if (!y || !first) return y != NULL;
    if (!tn_move_size(r, y->element, &size)) return false;
    tn_strides(y->dims, rank, strides);
    for (size_t i = 0; i < g->count; i++) {
        const struct tn_tensor *t = g->items[reversed ? g->count - 1 - i : i];
        struct tn_move m = {.x = t->data, .y = y->data, .rank = first->rank, .y_begin = (int64_t)i * strides[axis]};
        if (t->rank != first->rank || memcmp(t->dims, first->dims, t->rank * sizeof(t->dims[0])) || t->element != first->element)
            return tn_run_refuse(r, "turns that give values of one shape", "another shape at turn %zu", i);
        tn_strides(t->dims, t->rank, from);
        for (uint32_t d = 0, to = 0; d < rank; d++) {
            if (d == axis) continue;
            m.dims[to] = t->dims[to];
            m.x_stride[to] = from[to];
            m.y_stride[to++] = strides[d];
        }
        tn_move(r, m, size);
    }
    return tn_move_done(r, y);
}

struct looping {
    const struct tn_net *body;
    struct tn_tensor *in[PORTS], *out[PORTS];
    struct gathering scans[PORTS];
    uint32_t carried, scanned;
};

static struct tn_tensor *scalar(struct tn_run *r, enum tn_element e, int64_t value)
{
    struct tn_tensor *t = tn_tensor_new(r->heap, e, 0, NULL);
    if (t) tn_element_set_int(e, t->data, 0, value);
    else tn_run_no_memory(r);
    return t;
}

/* One turn: carried values are replaced, scanned ones kept. *go: the body's condition. */
static bool turn(struct tn_run *r, struct looping *l, int64_t i, bool *go)
{
    bool good;
    tn_tensor_drop(l->in[0]);
    tn_tensor_drop(l->in[1]);
    l->in[0] = scalar(r, TN_EL_I64, i);
    l->in[1] = scalar(r, TN_EL_BOOL, 1);
    if (r->failed || tn_cancel_check(r->cancel)) {
        if (!r->failed) r->failed = tn_cancel_check(r->cancel);
        return false;
    }
    good = r->graph(r, l->body, l->in, l->carried + 2, l->out, l->body->output_count);
    if (good && (!l->out[0] || l->out[0]->kind != TN_KIND_TENSOR || l->out[0]->count != 1 || l->out[0]->element != TN_EL_BOOL))
        good = tn_run_refuse(r, "a condition of one bool", "another value");
    if (good) *go = ((const uint8_t *)l->out[0]->data)[0] != 0;
    for (uint32_t k = 0; good && k < l->carried; k++) {
        tn_tensor_drop(l->in[k + 2]);
        l->in[k + 2] = tn_tensor_keep(l->out[k + 1]);
    }
    for (uint32_t k = 0; good && k < l->scanned; k++) good = gather(r, &l->scans[k], l->out[l->carried + 1 + k]);
    for (uint32_t k = 0; k < l->body->output_count; k++) {
        tn_tensor_drop(l->out[k]);
        l->out[k] = NULL;
    }
    return good;
}

static enum tn_element scan_element(const struct tn_net *body, uint32_t output)
{
    const struct tn_net_value *v = tn_net_at(body, body->results[output]);
    return v && v->type.kind == TN_KIND_TENSOR && v->type.element ? v->type.element : TN_EL_F32;
}

static bool run_loop(struct tn_run *r)
{
    struct looping *l = tn_run_scratch(r, 1, sizeof(*l));
    if (!l) return false;
    memset(l, 0, sizeof(*l));
    l->body = tn_attr_graph(r->node, "body");
    l->carried = r->in_count > 2 ? r->in_count - 2 : 0;
    l->scanned = l->body->output_count - 1 - l->carried;
    bool limited = r->in_count > 0 && r->in[0], go = !(r->in_count > 1 && r->in[1]) || ((const uint8_t *)r->in[1]->data)[0] != 0, good = true;
    int64_t most = limited ? tn_run_int(r, 0, 0) : INT64_MAX;
    for (uint32_t k = 0; k < l->carried; k++) l->in[k + 2] = tn_tensor_keep(r->in[k + 2]);
    for (int64_t i = 0; good && go && i < most; i++) good = turn(r, l, i, &go);
    for (uint32_t k = 0; good && k < l->carried && k < r->out_count; k++) tn_run_pass(r, k, l->in[k + 2]);
    for (uint32_t k = 0; good && k < l->scanned; k++) {
        if (r->wanted[l->carried + k]) good = stack(r, l->carried + k, &l->scans[k], scan_element(l->body, l->carried + 1 + k), 0, false);
    }
    for (uint32_t k = 0; k < l->carried + 2; k++) tn_tensor_drop(l->in[k]);
    for (uint32_t k = 0; k < l->scanned; k++) forget(r, &l->scans[k]);
    tn_heap_give(r->heap, l);
    return good;
}

/* ---- Scan --------------------------------------------------------------------------------------------------------- */

/* Version 8 scans each row of a batch, its sequences' lengths stated apart; since version 9 there is no batch. */
struct scan_shape {
    uint32_t first, states, inputs, outputs; /* first: index of the first state among the operands */
    bool batched;
};

static struct scan_shape scan_shape_of(const struct tn_node *n, uint32_t in_count, uint32_t out_count)
{
    struct scan_shape s = {.batched = n->version < 9};
    s.first = s.batched ? 1 : 0;
    s.inputs = (uint32_t)tn_attr_int(n, "num_scan_inputs", 1);
    s.states = in_count - s.first - s.inputs;
    s.outputs = out_count - s.states;
    return s;
}

/* The k-th number of a list attribute, or what is meant when the list is not given. */
static int64_t listed(const struct tn_node *n, const char *name, uint32_t k, int64_t otherwise)
{
    size_t count;
    const int64_t *list = tn_attr_ints(n, name, &count);
    return list && k < count ? list[k] : otherwise;
}

static bool infer_scan(struct tn_infer *x)
{
    const struct tn_net *body = tn_attr_graph(x->node, "body");
    int64_t asked = tn_attr_int(x->node, "num_scan_inputs", 1);
    const struct tn_type *in[PORTS], *out[PORTS] = {0};
    struct tn_type types[PORTS];
    if (x->running) return true;
    uint32_t first = x->node->version < 9 ? 1 : 0;
    if (asked < 1 || asked + first > x->in_count || x->in_count > PORTS || x->out_count > PORTS)
        return tn_infer_refuse(x, "num_scan_inputs among the operands", "%lld of %u", (long long)asked, x->in_count);
    struct scan_shape s = scan_shape_of(x->node, x->in_count, x->out_count);
    if (s.states > x->out_count || body->input_count != s.states + s.inputs || body->output_count != x->out_count)
        return tn_infer_refuse(x, "a body with a port for each state and scanned value", "%u inputs and %u outputs", body->input_count, body->output_count);
    for (uint32_t i = 0; i < s.states + s.inputs; i++) {
        varying(tn_in_type(x, s.first + i), &types[i]);
        in[i] = &types[i];
    }
    if (!x->graph(x, body, in, out)) return false;
    for (uint32_t k = 0; k < x->out_count; k++) {
        if (k < s.states) tn_out_type(x, k, &types[k]);
        else if (out[k] && out[k]->kind == TN_KIND_TENSOR) tn_out_unknown(x, k, out[k]->element);
    }
    return true;
}

/* Slice `i` of dimension `axis`, without that dimension. */
static struct tn_tensor *slice_of(struct tn_run *r, struct tn_tensor *t, int64_t axis, int64_t i)
{
    int64_t dims[TN_RANK], strides[TN_RANK];
    struct tn_move m = {.x = t->data, .rank = t->rank - 1};
    size_t size;
    if (!tn_move_size(r, t->element, &size)) return NULL;
    tn_strides(t->dims, t->rank, strides);
    for (uint32_t d = 0, to = 0; d < t->rank; d++) {
        if (d == axis) continue;
        dims[to] = m.dims[to] = t->dims[d];
        m.x_stride[to++] = strides[d];
    }
    m.x_begin = i * strides[axis];
    struct tn_tensor *y = tn_tensor_new(r->heap, t->element, t->rank - 1, dims);
    if (!y) {
        tn_run_no_memory(r);
        return NULL;
    }
    m.y = y->data;
    tn_strides(dims, t->rank - 1, m.y_stride);
    tn_move(r, m, size);
    if (tn_move_done(r, y)) return y;
    tn_tensor_drop(y);
    return NULL;
}

/* How many steps the scanned operands have; they must agree. False with a refusal. */
static bool steps_of(struct tn_run *r, struct tn_tensor *const *in, const struct scan_shape *s, int64_t *axes, int64_t *out)
{
    *out = -1;
    for (uint32_t k = 0; k < s->inputs; k++) {
        const struct tn_tensor *t = in[s->states + k];
        int64_t axis = s->batched ? 0 : listed(r->node, "scan_input_axes", k, 0);
        axis = axis < 0 ? axis + t->rank : axis;
        if (axis < 0 || axis >= t->rank) return tn_run_refuse(r, "an axis of the scanned operand", "axis %lld of rank %u", (long long)axis, t->rank);
        if (*out >= 0 && *out != t->dims[axis]) return tn_run_refuse(r, "scanned operands of one length", "%lld beside %lld", (long long)t->dims[axis], (long long)*out);
        *out = t->dims[axis];
        axes[k] = axis;
    }
    return true;
}

/* Runs over one batch's operands: states in `in`, replaced by the last ones; scanned results in `scans`. */
static bool scan_once(struct tn_run *r, const struct tn_net *body, const struct scan_shape *s, struct tn_tensor **in, int64_t length,
                      const int64_t *axes, struct gathering *scans)
{
    struct tn_tensor *step[PORTS], *out[PORTS];
    bool good = true;
    for (int64_t i = 0; good && i < length; i++) {
        uint32_t made = 0;
        for (uint32_t k = 0; k < s->states; k++) step[k] = in[k];
        for (; good && made < s->inputs; made++) {
            const char *name = s->batched ? "directions" : "scan_input_directions";
            bool reversed = listed(r->node, name, made, 0) != 0;
            step[s->states + made] = slice_of(r, in[s->states + made], axes[made], reversed ? length - 1 - i : i);
            good = step[s->states + made] != NULL;
        }
        if (good) good = r->graph(r, body, step, s->states + s->inputs, out, body->output_count);
        for (uint32_t k = 0; k < made; k++) tn_tensor_drop(step[s->states + k]);
        if (!good) break;
        for (uint32_t k = 0; k < s->states; k++) {
            tn_tensor_drop(in[k]);
            in[k] = out[k];
        }
        for (uint32_t k = s->states; k < body->output_count; k++) {
            good = good && gather(r, &scans[k - s->states], out[k]);
            tn_tensor_drop(out[k]);
        }
    }
    return good;
}

static bool scan_whole(struct tn_run *r, const struct tn_net *body, const struct scan_shape *s)
{
    struct tn_tensor *in[PORTS];
    struct gathering scans[PORTS];
    int64_t axes[PORTS], length;
    memset(scans, 0, s->outputs * sizeof(scans[0]));
    if (!steps_of(r, r->in, s, axes, &length)) return false;
    for (uint32_t k = 0; k < s->states + s->inputs; k++) in[k] = tn_tensor_keep(r->in[k]);
    bool good = scan_once(r, body, s, in, length, axes, scans);
    for (uint32_t k = 0; good && k < s->states; k++) tn_run_pass(r, k, in[k]);
    for (uint32_t k = 0; good && k < s->outputs; k++)
        good = stack(r, s->states + k, &scans[k], scan_element(body, s->states + k), listed(r->node, "scan_output_axes", k, 0),
                     listed(r->node, "scan_output_directions", k, 0) != 0);
    for (uint32_t k = 0; k < s->states + s->inputs; k++) tn_tensor_drop(in[k]);
    for (uint32_t k = 0; k < s->outputs; k++) forget(r, &scans[k]);
    return good;
}

/* Version 8: every operand has a batch in front, and each row may be shorter than the others. */
static bool scan_batches(struct tn_run *r, const struct tn_net *body, const struct scan_shape *s)
{
    struct gathering batches[PORTS], scans[PORTS];
    int64_t rows = r->in[s->first]->rank ? r->in[s->first]->dims[0] : 0;
    bool good = true;
    memset(batches, 0, r->out_count * sizeof(batches[0]));
    for (int64_t b = 0; good && b < rows; b++) {
        struct tn_tensor *in[PORTS] = {0};
        int64_t axes[PORTS], length;
        uint32_t count = s->states + s->inputs;
        memset(scans, 0, s->outputs * sizeof(scans[0]));
        for (uint32_t k = 0; good && k < count; k++) {
            struct tn_tensor *t = r->in[s->first + k];
            if (t->rank == 0 || t->dims[0] != rows) good = tn_run_refuse(r, "operands of one batch", "another batch");
            else good = (in[k] = slice_of(r, t, 0, b)) != NULL;
        }
        if (good) good = steps_of(r, in, s, axes, &length);
        if (good && r->in[0]) {
            int64_t stated = (uint64_t)b < r->in[0]->count ? tn_run_int(r, 0, (uint64_t)b) : -1;
            if (stated < 0 || stated > length) good = tn_run_refuse(r, "lengths inside the sequences", "%lld of %lld", (long long)stated, (long long)length);
            length = stated;
        }
        if (good) good = scan_once(r, body, s, in, length, axes, scans);
        for (uint32_t k = 0; good && k < s->states; k++) good = gather(r, &batches[k], in[k]);
        for (uint32_t k = 0; good && k < s->outputs; k++) {
            good = stack(r, s->states + k, &scans[k], scan_element(body, s->states + k), 0, false) && gather(r, &batches[s->states + k], r->out[s->states + k]);
        }
        for (uint32_t k = 0; k < count; k++) tn_tensor_drop(in[k]);
        for (uint32_t k = 0; k < s->outputs; k++) forget(r, &scans[k]);
    }
    for (uint32_t k = 0; good && k < r->out_count; k++) good = stack(r, k, &batches[k], scan_element(body, k), 0, false);
    for (uint32_t k = 0; k < r->out_count; k++) forget(r, &batches[k]);
    return good;
}

static bool run_scan(struct tn_run *r)
{
    const struct tn_net *body = tn_attr_graph(r->node, "body");
    struct scan_shape s = scan_shape_of(r->node, r->in_count, r->out_count);
    return s.batched ? scan_batches(r, body, &s) : scan_whole(r, body, &s);
}

static const struct tn_operator rows[] = {
    {.name = "If", .since = 1, .infer = infer_if, .run = run_if},
    {.name = "Loop", .since = 1, .infer = infer_loop, .run = run_loop},
    {.name = "Scan", .since = 8, .infer = infer_scan, .run = run_scan},
};

const struct tn_operators tn_ops_control = {rows, sizeof(rows) / sizeof(rows[0])};
