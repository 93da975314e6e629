/*
 * Where values lie, and what a program takes, before it runs. Each value of the main graph that its operator makes as memory
 * of its own, and whose size is bounded, gets a place in one block: the lowest that is free from the node that makes it to the
 * last that reads it. A node that may write over its first operand takes that operand's place.
 */
#include "exec/program.h"

#include "base/checked.h"

#include <string.h>

enum { NEVER = UINT32_MAX };

struct planning {
    const struct tn_net *net;
    const bool *folded;
    struct tn_places *to;
    uint32_t *last;  /* by value: the last node that reads it, or the node behind all for a result */
    bool *readable;  /* by value: whoever reads it leaves no view of it */
    uint32_t *live;  /* values that have a place now, by offset */
    uint32_t count;
};

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

static bool most_of(tn_dim_t d, const struct tn_bound *bounds, size_t count, uint64_t *out)
{
    if (tn_dim_known(d)) *out = (uint64_t)d;
    for (size_t i = 0; i < count && !tn_dim_known(d); i++) {
        if (bounds[i].symbol != d) continue;
        *out = bounds[i].most;
        return true;
    }
    return tn_dim_known(d);
}

/* Most bytes of a tensor of numbers; false: not bounded. */
static bool bytes_of(const struct tn_type *t, const struct tn_bound *bounds, size_t count, size_t *bytes)
{
    uint64_t n = 1, dim;
    if (t->kind != TN_KIND_TENSOR || !t->shape.known || t->element == TN_EL_STRING || t->element == TN_EL_NONE) return false;
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        if (!most_of(t->shape.dims[i], bounds, count, &dim) || !tn_mul64(n, dim, &n)) return false;
    }
    return tn_element_bytes(t->element, n, bytes);
}

static bool room_of(const struct planning *p, uint32_t v, const struct tn_bound *bounds, size_t count, size_t *room)
{
    size_t bytes;
    return bytes_of(&p->net->values[v].type, bounds, count, &bytes) && tn_tensor_room(bytes, room);
}

/* ---- who reads what ----------------------------------------------------------------------------------------------- */

static void find_readers(struct planning *p)
{
    const struct tn_net *net = p->net;
    for (uint32_t v = 0; v < net->value_count; v++) {
        p->last[v] = NEVER;
        p->readable[v] = true;
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->in_count; k++) {
            uint32_t v = n->in[k].value;
            if (v == TN_NET_NONE || n->in[k].level) continue;
            p->last[v] = i;
            p->readable[v] = p->readable[v] && n->op->fresh;
        }
        /* What nobody reads is there while its node runs. */
        for (uint32_t k = 0; k < n->out_count; k++) {
            if (n->out[k] != TN_NET_NONE) p->last[n->out[k]] = i;
        }
    }
    for (uint32_t k = 0; k < net->output_count; k++) {
        if (net->results[k].value != TN_NET_NONE && !net->results[k].level) p->last[net->results[k].value] = net->node_count;
    }
}

/* Graphs inside nodes may read anything around them. */
static bool has_inner(const struct tn_net *net)
{
    for (uint32_t i = 0; i < net->node_count; i++) {
        for (uint32_t k = 0; k < net->nodes[i].attr_count; k++) {
            enum tn_attr_type type = net->nodes[i].attrs[k].type;
            if (type == TN_ATTR_GRAPH || type == TN_ATTR_GRAPHS) return true;
        }
    }
    return false;
}

/* ---- placing ------------------------------------------------------------------------------------------------------ */

static void forget(struct planning *p, uint32_t node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->last[p->live[i]] >= node) p->live[kept++] = p->live[i];
    }
    p->count = kept;
}

/* The lowest gap between live values that holds the room. */
static bool put(struct planning *p, uint32_t v, size_t room)
{
    size_t at = 0, end;
    uint32_t i = 0;
    for (; i < p->count; i++) {
        uint32_t other = p->live[i];
        if (p->to->at[other] >= at && p->to->at[other] - at >= room) break;
        end = p->to->at[other] + p->to->room[other];
        at = end > at ? end : at;
    }
    if (!tn_add(at, room, &end)) return false;
    memmove(p->live + i + 1, p->live + i, (p->count - i) * sizeof(*p->live));
    p->live[i] = v;
    p->count++;
    p->to->at[v] = at;
    p->to->room[v] = room;
    if (end > p->to->bytes) p->to->bytes = end;
    return true;
}

static bool same_type(const struct tn_type *a, const struct tn_type *b)
{
    return a->element == b->element && a->shape.rank == b->shape.rank &&
           memcmp(a->shape.dims, b->shape.dims, a->shape.rank * sizeof(*a->shape.dims)) == 0;
}

/* Output 0 takes the place of operand 0, which nobody else reads any more. */
static bool take_over(struct planning *p, uint32_t node, uint32_t v)
{
    const struct tn_node *n = &p->net->nodes[node];
    if (!n->op->in_place || n->in_count == 0 || n->in[0].value == TN_NET_NONE || n->in[0].level) return false;
    uint32_t x = n->in[0].value;
    if (p->to->at[x] == TN_NOWHERE || p->last[x] != node || !same_type(&p->net->values[x].type, &p->net->values[v].type)) return false;
    for (uint32_t k = 1; k < n->in_count; k++) {
        if (n->in[k].value == x && !n->in[k].level) return false;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->live[i] == x) p->live[i] = v;
    }
    p->to->at[v] = p->to->at[x];
    p->to->room[v] = p->to->room[x];
    p->to->over[node] = true;
    return true;
}

static bool plan(struct planning *p, const struct tn_bound *bounds, size_t bound_count)
{
    find_readers(p);
    for (uint32_t i = 0; i < p->net->node_count; i++) {
        const struct tn_node *n = &p->net->nodes[i];
        if (p->folded[i] || !n->op->fresh) continue;
        forget(p, i);
        for (uint32_t k = 0; k < n->out_count; k++) {
            uint32_t v = n->out[k];
            size_t room;
            if (v == TN_NET_NONE || !p->readable[v] || !room_of(p, v, bounds, bound_count, &room)) continue;
            if ((k || !take_over(p, i, v)) && !put(p, v, room)) return false;
        }
    }
    return true;
}

enum tn_status tn_places_make(const struct tn_net *net, const bool *folded, const struct tn_bound *bounds, size_t bound_count, struct tn_arena *arena,
                    struct tn_places *out)
{
    struct tn_alloc *a = net->model->ctx->alloc;
    size_t values = (size_t)net->value_count + 1;
    struct planning p = {.net = net, .folded = folded, .to = out, .last = tn_calloc(a, values, sizeof(*p.last)),
                         .readable = tn_calloc(a, values, sizeof(*p.readable)), .live = tn_calloc(a, values, sizeof(*p.live))};
    *out = (struct tn_places){.at = tn_arena_array(arena, values, sizeof(*out->at)),
                              .room = tn_arena_array(arena, values, sizeof(*out->room)),
                              .over = tn_arena_array(arena, (size_t)net->node_count + 1, sizeof(*out->over))};
    bool there = p.last && p.readable && p.live && out->at && out->room && out->over;
    enum tn_status st = there ? TN_OK : TN_INSUFFICIENT_MEMORY;
    for (size_t v = 0; there && v < values; v++) out->at[v] = TN_NOWHERE;
    if (there && !has_inner(net) && !plan(&p, bounds, bound_count)) st = TN_RESOURCE_LIMIT;
    tn_free(a, p.last);
    tn_free(a, p.readable);
    tn_free(a, p.live);
    return st;
}

/* ---- what a program takes ----------------------------------------------------------------------------------------- */

bool tn_node_kept(const struct tn_net *net, const struct tn_node *node, const struct tn_kernels *kernels, struct tn_kept *out)
{
    *out = (struct tn_kept){.state = 0};
    for (uint32_t k = 0; k < 16; k++) out->keep[k] = true;
    return !node->op->kept || node->op->kept(net, node, kernels, out);
}

struct measuring {
    const struct tn_net *net;
    const struct tn_kernels *kernels;
    bool *folded;   /* by node */
    bool *constant; /* by value */
    bool *wanted;   /* by value: read by a node that runs, and not only packed by it */
};

/* Whether the node's results are the same in every call (run.c, may_fold: of a family's graph nothing is beyond its budget). */
static bool folds(const struct measuring *m, const struct tn_node *n)
{
    if (n->op->not_pure || (n->in_count == 0 && !n->op->table)) return false;
    for (uint32_t k = 0; k < n->in_count; k++) {
        if (n->in[k].value != TN_NET_NONE && !m->constant[n->in[k].value]) return false;
    }
    return true;
}

static bool add_bytes(uint64_t *sum, const struct tn_type *t)
{
    size_t bytes;
    return bytes_of(t, NULL, 0, &bytes) && tn_add64(*sum, bytes, sum);
}

/* Constants that the node has in hand while it is packed or folded, and what it makes of them. */
static bool add_node(struct measuring *m, uint32_t i, struct tn_program_size *out)
{
    const struct tn_node *n = &m->net->nodes[i];
    struct tn_kept kept;
    uint64_t now = 0;
    m->folded[i] = folds(m, n);
    if (!tn_node_kept(m->net, n, m->kernels, &kept)) return false;
    for (uint32_t k = 0; k < n->in_count; k++) {
        uint32_t v = n->in[k].value;
        if (v == TN_NET_NONE) continue;
        bool stays = !m->folded[i] && (k >= 16 || kept.keep[k]);
        m->wanted[v] = m->wanted[v] || stays;
        if (m->constant[v] && !stays && !add_bytes(&now, &m->net->values[v].type)) return false;
    }
    for (uint32_t k = 0; m->folded[i] && k < n->out_count; k++) {
        if (n->out[k] != TN_NET_NONE) m->constant[n->out[k]] = true;
    }
    if (m->folded[i] ? !tn_add64(now, kept.state, &now) : !tn_add64(out->constants, kept.state, &out->constants)) return false;
    if (now > out->loading) out->loading = now;
    if (!m->folded[i] && kept.scratch > out->scratch) out->scratch = kept.scratch;
    return true;
}

static bool measure(struct measuring *m, struct tn_program_size *out)
{
    for (uint32_t v = 0; v < m->net->value_count; v++) m->constant[v] = m->net->values[v].constant != NULL;
    for (uint32_t i = 0; i < m->net->node_count; i++) {
        if (!add_node(m, i, out)) return false;
    }
    for (uint32_t v = 0; v < m->net->value_count; v++) {
        if (m->constant[v] && m->wanted[v] && !add_bytes(&out->constants, &m->net->values[v].type)) return false;
    }
    out->fixed = tn_context_bytes(m->net, m->folded, m->constant);
    return tn_add64(out->constants, tn_program_own_bytes(m->net), &out->constants);
}

enum tn_status tn_program_measure(struct tn_model *model, const struct tn_kernels *kernels, const struct tn_bound *bounds, size_t bound_count,
                        struct tn_program_size *out)
{
    struct tn_alloc *a = model->ctx->alloc;
    const struct tn_net *net = model->main;
    struct measuring m = {.net = net, .kernels = kernels, .folded = tn_calloc(a, (size_t)net->node_count + 1, sizeof(bool)),
                          .constant = tn_calloc(a, (size_t)net->value_count + 1, sizeof(bool)),
                          .wanted = tn_calloc(a, (size_t)net->value_count + 1, sizeof(bool))};
    struct tn_arena arena;
    struct tn_places places;
    *out = (struct tn_program_size){0};
    tn_arena_init(&arena, a);
    enum tn_status st = m.folded && m.constant && m.wanted ? TN_OK : TN_INSUFFICIENT_MEMORY;
    if (!st && !measure(&m, out)) st = TN_RESOURCE_LIMIT;
    if (!st) st = tn_places_make(net, m.folded, bounds, bound_count, &arena, &places);
    if (!st) out->values = places.bytes;
    tn_free(a, m.folded);
    tn_free(a, m.constant);
    tn_free(a, m.wanted);
    tn_arena_release(&arena);
    return st;
}
