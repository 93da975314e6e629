/*
 * The list of patches and how they are run: each over all nodes of each graph, in order, again until none finds anything.
 * What was rewritten is recorded in the model.
 */
#include "exec/patch.h"

#include "exec/patch_kit.h"

#include <stdio.h>
#include <string.h>

/* Rewriting settles in two or three rounds; the bound is for graphs that are made to feed patches for ever. */
enum { ROUNDS = 8, NAMES = 64 };

/* X(name, function tried at each node; NULL: done elsewhere under this name, what) */
#define PATCHES(X)                                                                                    \
    X("unused", tn_patch_unused, "nodes whose results nobody reads are dropped")                      \
    X("identity", tn_patch_identity, "nodes that return their operand unchanged are passed by")       \
    X("pairs", tn_patch_pairs, "reshapings, transpositions and casts that follow each other become one or none") \
    X("affine", tn_patch_affine, "normalisations of batches, constant factors and addends go into the weights before them") \
    X("gelu", tn_patch_gelu, "GELU that is written out, by erf or tanh, becomes the operator")        \
    X("norm", tn_patch_norm, "layer normalisations that are written out become the operator")         \
    X("attend", tn_patch_attend, "attention that is written out becomes one operator, with the transpositions around it") \
    X("table", tn_patch_table, "products with large matrices of bytes that are widened before read the bytes") \
    X("nibbles", tn_patch_nibbles, "products of 4-bit weights round their rows to 8 bits where the file permits it") \
    X("written", tn_patch_written, "activations that are written out become the operator that they are") \
    X("integer", tn_patch_integer, "products of quantised numbers give floats, with their scales and biases") \
    X("activation", tn_patch_activation, "biases, residuals and activations behind products are computed with them") \
    X("last", tn_patch_last, "chains around depthwise convolutions are computed with channels last") \
    X("pair", tn_patch_pair, "depthwise windows and factors of channels go into the products behind them") \
    X("constants", NULL, "what follows from constants alone is computed when a program is made")

static const struct tn_patch patches[] = {
#define X(name, at, what) {name, what},
    PATCHES(X)
#undef X
};
static tn_patch_fn *const tries[] = {
#define X(name, at, what) at,
    PATCHES(X)
#undef X
};
enum { ROWS = sizeof(patches) / sizeof(patches[0]) };

struct tn_patched {
    bool on[ROWS];
    struct {
        uint32_t count, named;
        struct tn_str names[NAMES];
    } done[ROWS];
};

const struct tn_patch *tn_patches(size_t *count)
{
    *count = ROWS;
    return patches;
}

/* ---- one graph ---------------------------------------------------------------------------------------------------- */

/* Readers in a graph inside, of values `level` graphs outwards; with `alias`, what they read is replaced. */
static void inner_reads(struct tn_rewrite *w, struct tn_net *net, uint32_t level, bool replace);

static void read_ref(struct tn_rewrite *w, struct tn_ref_value *ref, uint32_t level, bool replace)
{
    if (ref->value == TN_NET_NONE || ref->level != level) return;
    if (!replace) {
        w->readers[ref->value]++;
        return;
    }
    for (uint32_t steps = 0; w->alias[ref->value] != ref->value && steps < w->net->value_count; steps++) ref->value = w->alias[ref->value];
}

static void node_reads(struct tn_rewrite *w, struct tn_node *n, uint32_t level, bool replace)
{
    for (uint32_t k = 0; k < n->in_count; k++) read_ref(w, &n->in[k], level, replace);
    for (uint32_t k = 0; k < n->attr_count; k++) {
        const struct tn_attr *a = &n->attrs[k];
        bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
        for (size_t g = 0; graphs && g < a->count; g++) inner_reads(w, a->as.graphs[g], level + 1, replace);
    }
}

static void inner_reads(struct tn_rewrite *w, struct tn_net *net, uint32_t level, bool replace)
{
    for (uint32_t i = 0; i < net->node_count; i++) node_reads(w, &net->nodes[i], level, replace);
    for (uint32_t k = 0; k < net->output_count; k++) read_ref(w, &net->results[k], level, replace);
}

static bool begin(struct tn_rewrite *w)
{
    struct tn_alloc *a = w->model->ctx->alloc;
    struct tn_net *net = w->net;
    w->value_room = (size_t)net->value_count + 64;
    w->node_room = (size_t)net->node_count + 64;
    w->readers = tn_calloc(a, w->value_room, sizeof(*w->readers));
    w->alias = tn_calloc(a, w->value_room, sizeof(*w->alias));
    w->input = tn_calloc(a, w->value_room, sizeof(*w->input));
    w->front = tn_calloc(a, w->node_room, sizeof(*w->front));
    if (!w->readers || !w->alias || !w->input || !w->front) return false;
    for (uint32_t v = 0; v < net->value_count; v++) w->alias[v] = v;
    for (uint32_t k = 0; k < net->input_count; k++) w->input[net->inputs[k]] = true;
    inner_reads(w, net, 0, false);
    return true;
}

static void end(struct tn_rewrite *w)
{
    struct tn_alloc *a = w->model->ctx->alloc;
    tn_last_free(w);
    tn_free(a, w->readers);
    tn_free(a, w->alias);
    tn_free(a, w->input);
    tn_free(a, w->front);
}

static bool unread(const struct tn_rewrite *w, const struct tn_node *n)
{
    for (uint32_t k = 0; k < n->out_count; k++) {
        if (n->out[k] != TN_NET_NONE && w->readers[n->out[k]]) return false;
    }
    return true;
}

bool tn_patch_unused(struct tn_rewrite *w, uint32_t i)
{
    return unread(w, &w->net->nodes[i]);
}

/* ---- order -------------------------------------------------------------------------------------------------------- */

struct order {
    uint32_t *made_by; /* by value: 1 + its node; 0: none */
    bool *placed;
    uint32_t *stack;
    size_t depth, cap;
    struct tn_alloc *alloc;
    bool failed; /* without memory */
};

static void push(struct order *o, uint32_t node)
{
    uint32_t *moved = tn_grow(o->alloc, o->stack, &o->cap, o->depth, sizeof(*moved));
    o->failed |= !moved;
    if (!moved) return;
    o->stack = moved;
    o->stack[o->depth++] = node;
}

/* What the value needs that is not placed yet goes first. */
static void want(struct order *o, struct tn_ref_value ref, uint32_t level)
{
    uint32_t by = ref.value == TN_NET_NONE || ref.level != level ? 0 : o->made_by[ref.value];
    if (by && !o->placed[by - 1]) push(o, by - 1);
}

static void want_net(struct order *o, const struct tn_net *net, uint32_t level);

static void want_node(struct order *o, const struct tn_node *n, uint32_t level)
{
    for (uint32_t k = 0; k < n->in_count; k++) want(o, n->in[k], level);
    for (uint32_t k = 0; k < n->attr_count; k++) {
        const struct tn_attr *a = &n->attrs[k];
        bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
        for (size_t g = 0; graphs && g < a->count; g++) want_net(o, a->as.graphs[g], level + 1);
    }
}

static void want_net(struct order *o, const struct tn_net *net, uint32_t level)
{
    for (uint32_t i = 0; i < net->node_count; i++) want_node(o, &net->nodes[i], level);
    for (uint32_t k = 0; k < net->output_count; k++) want(o, net->results[k], level);
}

/* Nodes into an order in which each comes behind what it reads; as they stand where that is so. False without memory. */
static bool put_in_order(struct tn_rewrite *w, struct tn_node *nodes, uint32_t count)
{
    struct tn_alloc *a = w->model->ctx->alloc;
    struct order o = {.alloc = a};
    struct tn_node *sorted = tn_calloc(a, (size_t)count + 1, sizeof(*sorted));
    uint32_t kept = 0;
    o.made_by = tn_calloc(a, (size_t)w->net->value_count + 1, sizeof(*o.made_by));
    o.placed = tn_calloc(a, (size_t)count + 1, sizeof(*o.placed));
    bool good = sorted && o.made_by && o.placed;
    for (uint32_t i = 0; good && i < count; i++) {
        for (uint32_t k = 0; k < nodes[i].out_count; k++) {
            if (nodes[i].out[k] != TN_NET_NONE) o.made_by[nodes[i].out[k]] = i + 1;
        }
    }
    for (uint32_t i = 0; good && !o.failed && i < count; i++) {
        push(&o, i);
        while (o.depth && !o.failed) {
            uint32_t at = o.stack[o.depth - 1];
            size_t before = o.depth;
            if (!o.placed[at]) want_node(&o, &nodes[at], 0);
            if (o.depth > before) continue;
            if (!o.placed[at]) sorted[kept++] = nodes[at];
            o.placed[at] = true;
            o.depth--;
        }
    }
    good = good && !o.failed;
    if (good && count) memcpy(nodes, sorted, count * sizeof(*nodes));
    tn_free(a, sorted);
    tn_free(a, o.made_by);
    tn_free(a, o.placed);
    tn_free(a, o.stack);
    return good;
}

/* Drops what nobody reads, puts new nodes in their places and numbers producers again. False without memory. */
static bool settle(struct tn_rewrite *w, uint32_t old_count)
{
    struct tn_net *net = w->net;
    uint32_t count = net->node_count, kept = 0;
    struct tn_node *moved = tn_arena_array(&w->model->arena, (size_t)count + 1, sizeof(*moved));
    /* by node of old: the first new one in front of it; by new node: the next */
    struct tn_alloc *a = w->model->ctx->alloc;
    uint32_t *first = tn_calloc(a, (size_t)count + 1, sizeof(*first)), *next = tn_calloc(a, (size_t)count + 1, sizeof(*next));
    bool *dead = tn_calloc(a, (size_t)count + 1, sizeof(*dead)), good = moved && first && next && dead;
    if (good && w->aliased) inner_reads(w, net, 0, true);
    for (uint32_t i = count; good && i-- > old_count;) { /* backwards, so that lists ascend */
        next[i] = first[w->front[i]];
        first[w->front[i]] = i;
    }
    if (good) memset(w->readers, 0, w->value_room * sizeof(*w->readers));
    if (good) inner_reads(w, net, 0, false);
    /* New nodes read each other and constants, old ones both: new ones go last in this direction. */
    for (uint32_t pass = 0; good && pass < 2; pass++) {
        for (uint32_t i = pass ? count : old_count; i-- > (pass ? old_count : 0);) {
            dead[i] = unread(w, &net->nodes[i]);
            for (uint32_t k = 0; dead[i] && k < net->nodes[i].in_count; k++) {
                if (net->nodes[i].in[k].value != TN_NET_NONE && net->nodes[i].in[k].level == 0) w->readers[net->nodes[i].in[k].value]--;
            }
        }
    }
    for (uint32_t i = 0; good && i < old_count; i++) {
        for (uint32_t j = first[i]; j; j = next[j]) {
            if (!dead[j]) moved[kept++] = net->nodes[j];
        }
        if (!dead[i]) moved[kept++] = net->nodes[i];
    }
    good = good && (!w->reordered || put_in_order(w, moved, kept));
    for (uint32_t v = 0; good && v < net->value_count; v++) net->values[v].producer = TN_NET_NONE;
    for (uint32_t i = 0; good && i < kept; i++) {
        for (uint32_t k = 0; k < moved[i].out_count; k++) {
            if (moved[i].out[k] != TN_NET_NONE) net->values[moved[i].out[k]].producer = i;
        }
    }
    if (good) {
        net->nodes = moved;
        net->node_cap = count + 1;
        net->node_count = kept;
    }
    tn_free(a, first);
    tn_free(a, next);
    tn_free(a, dead);
    return good;
}

static void record(struct tn_patched *p, size_t row, struct tn_str name)
{
    p->done[row].count++;
    if (p->done[row].named < NAMES) p->done[row].names[p->done[row].named++] = name;
}

static bool apply(struct tn_model *model, struct tn_net *net, size_t row, bool *changed)
{
    struct tn_rewrite w = {.model = model, .net = net};
    uint32_t count = net->node_count, found = 0;
    bool good = begin(&w);
    for (uint32_t i = 0; good && i < count; i++) {
        if (tries[row] != tn_patch_unused && unread(&w, &net->nodes[i])) continue;
        if (!tries[row](&w, i)) continue;
        record(model->patched, row, net->nodes[i].name);
        found++;
    }
    good = good && !w.no_memory;
    /* A patch that gave up may have left nodes that nobody reads. */
    if (good && (found || net->node_count != count)) good = settle(&w, count);
    *changed |= found > 0;
    end(&w);
    return good;
}

/* ---- all graphs --------------------------------------------------------------------------------------------------- */

struct graphs {
    struct tn_model *model;
    uint32_t number;
    bool changed;
};

static bool patch_net(struct graphs *g, struct tn_net *net, size_t row)
{
    bool good = true;
    if (row < ROWS) good = apply(g->model, net, row, &g->changed);
    else net->number = g->number++;
    for (uint32_t i = 0; good && i < net->node_count; i++) {
        for (uint32_t k = 0; k < net->nodes[i].attr_count; k++) {
            const struct tn_attr *a = &net->nodes[i].attrs[k];
            bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
            for (size_t at = 0; good && graphs && at < a->count; at++) good = patch_net(g, a->as.graphs[at], row);
        }
    }
    return good;
}

static enum tn_status leave_out(struct tn_patched *p, const char *const *without, size_t count, struct tn_error *err)
{
    for (size_t k = 0; k < ROWS; k++) p->on[k] = true;
    for (size_t i = 0; i < count; i++) {
        bool known = strcmp(without[i], "all") == 0;
        for (size_t k = 0; k < ROWS; k++) {
            if (strcmp(without[i], "all") != 0 && strcmp(without[i], patches[k].name) != 0) continue;
            p->on[k] = false;
            known = true;
        }
        if (known) continue;
        struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_ASSESS, "there is no patch of this name");
        tn_found(f, "%s", without[i]);
        char text[256] = "all";
        for (size_t k = 0, at = 3; k < ROWS && at < sizeof(text); k++) at += (size_t)snprintf(text + at, sizeof(text) - at, ", %s", patches[k].name);
        tn_expected(f, "some of %s", text);
        return TN_INVALID_REQUEST;
    }
    return TN_OK;
}

enum tn_status tn_net_patch(struct tn_model *model, const char *const *without, size_t without_count, struct tn_error *err)
{
    if (model->patched) return TN_OK;
    struct tn_patched *p = tn_arena_alloc(&model->arena, sizeof(*p));
    if (!p) return tn_error_memory(err, TN_PHASE_ASSESS, "rewriting a graph");
    enum tn_status st = leave_out(p, without, without_count, err);
    if (st) return st;
    model->patched = p;
    struct graphs g = {.model = model};
    bool good = true;
    /* Layouts are chosen when all else is settled, for what then stands side by side. */
    for (unsigned phase = 0; phase < 2; phase++) {
        g.changed = true;
        for (unsigned round = 0; good && g.changed && round < ROUNDS; round++) {
            g.changed = false;
            for (size_t k = 0; good && k < ROWS; k++) {
                if (p->on[k] && tries[k] && (phase || tries[k] != tn_patch_last)) good = patch_net(&g, model->main, k);
            }
        }
    }
    patch_net(&g, model->main, ROWS);
    if (good && !model->failed && !model->symbols.failed) return TN_OK;
    model->failed = TN_INSUFFICIENT_MEMORY;
    return tn_error_memory(err, TN_PHASE_ASSESS, "rewriting a graph");
}

bool tn_net_patch_on(const struct tn_model *model, const char *name)
{
    for (size_t k = 0; model->patched && k < ROWS; k++) {
        if (strcmp(patches[k].name, name) == 0) return model->patched->on[k];
    }
    return false;
}

void tn_net_patches_write(const struct tn_model *model, struct tn_json_writer *w)
{
    const struct tn_patched *p = model->patched;
    tn_jw_begin_array(w);
    for (size_t k = 0; p && k < ROWS; k++) {
        if (!p->done[k].count) continue;
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "patch", patches[k].name);
        tn_jw_member_cstr(w, "what", patches[k].what);
        tn_jw_member_u64(w, "count", p->done[k].count);
        tn_jw_key(w, "nodes");
        tn_jw_begin_array(w);
        for (uint32_t i = 0; i < p->done[k].named; i++) tn_jw_str(w, p->done[k].names[i]);
        tn_jw_end_array(w);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_net_patch_counts(const struct tn_model *model, struct tn_json_writer *w)
{
    const struct tn_patched *p = model->patched;
    tn_jw_begin_object(w);
    for (size_t k = 0; p && k < ROWS; k++) {
        if (p->done[k].count) tn_jw_member_u64(w, patches[k].name, p->done[k].count);
    }
    tn_jw_end_object(w);
}

const char *tn_net_patch_at(const struct tn_model *model, struct tn_str node)
{
    const struct tn_patched *p = model->patched;
    const char *found = NULL;
    for (size_t k = 0; p && node.n && k < ROWS; k++) {
        for (uint32_t i = 0; i < p->done[k].named; i++)
            if (tn_str_eq(p->done[k].names[i], node)) found = patches[k].name;
    }
    return found;
}
