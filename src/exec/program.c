/*
 * From an inferred model to a program: constants in memory, packed operands, and for each value the node after which it
 * is not needed any more.
 */
#include "exec/program.h"

#include "base/checked.h"
#include "exec/patch.h"

#include <string.h>

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

struct tn_net_program *tn_program_net(const struct tn_program *program, const struct tn_net *net)
{
    return net->number < program->net_count && program->nets[net->number].net == net ? &program->nets[net->number] : NULL;
}

typedef bool tn_each_graph(void *user, struct tn_net *net);

/* Calls for every graph inside a node, not deeper. */
static bool each_inner(const struct tn_node *n, tn_each_graph *fn, void *user)
{
    for (uint32_t k = 0; k < n->attr_count; k++) {
        const struct tn_attr *a = &n->attrs[k];
        bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
        for (size_t g = 0; graphs && g < a->count; g++) {
            if (!fn(user, a->as.graphs[g])) return false;
        }
    }
    return true;
}

/* Appends the graph and those inside it. */
static bool list_nets(void *user, struct tn_net *net)
{
    struct tn_program *p = user;
    struct tn_net_program *moved = tn_grow(p->alloc, p->nets, &p->net_cap, p->net_count, sizeof(*p->nets));
    if (!moved) return false;
    p->nets = moved;
    struct tn_net_program *np = &p->nets[p->net_count++];
    *np = (struct tn_net_program){.net = net};
    np->steps = tn_arena_array(&p->arena, (size_t)net->node_count + 1, sizeof(*np->steps));
    np->held = tn_arena_array(&p->arena, (size_t)net->value_count + 1, sizeof(*np->held));
    if (!np->steps || !np->held) return false;
    for (uint32_t i = 0; i < net->input_count; i++) np->held[net->inputs[i]].input = true;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        np->steps[i].node = n;
        if (n->in_count > p->most_operands) p->most_operands = n->in_count;
        if (n->out_count > p->most_operands) p->most_operands = n->out_count;
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        if (!each_inner(&net->nodes[i], list_nets, p)) return false;
    }
    return true;
}

/* ---- lifetimes ---------------------------------------------------------------------------------------------------- */

struct uses {
    uint32_t *last; /* by value of one graph: 1 + the node that needs it last */
    uint32_t node, level;
};

/* What a graph inside a node reads from `level` graphs outwards counts as read by the node. */
static bool note_inner(void *user, struct tn_net *net)
{
    struct uses *u = user;
    u->level++;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->in_count; k++) {
            if (n->in[k].value != TN_NET_NONE && n->in[k].level == u->level) u->last[n->in[k].value] = u->node + 1;
        }
        if (!each_inner(n, note_inner, u)) return false;
    }
    for (uint32_t k = 0; k < net->output_count; k++) {
        if (net->results[k].value != TN_NET_NONE && net->results[k].level == u->level)
            u->last[net->results[k].value] = u->node + 1;
    }
    u->level--;
    return true;
}

static bool find_lifetimes(struct tn_program *p, struct tn_net_program *np)
{
    const struct tn_net *net = np->net;
    struct uses u = {.last = tn_calloc(p->alloc, (size_t)net->value_count + 1, sizeof(uint32_t))};
    bool good = u.last != NULL;
    for (uint32_t i = 0; good && i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        u.node = i;
        /* An output that nobody reads dies where it is made. */
        for (uint32_t k = 0; k < n->out_count; k++) {
            if (n->out[k] != TN_NET_NONE) u.last[n->out[k]] = i + 1;
        }
        for (uint32_t k = 0; k < n->in_count; k++) {
            if (n->in[k].value != TN_NET_NONE && n->in[k].level == 0) u.last[n->in[k].value] = i + 1;
        }
        each_inner(n, note_inner, &u);
    }
    for (uint32_t k = 0; good && k < net->output_count; k++) {
        if (net->results[k].value != TN_NET_NONE && net->results[k].level == 0) u.last[net->results[k].value] = 0;
    }
    /* by node: how many, then which; what has a constant stays */
    for (uint32_t v = 0; good && v < net->value_count; v++) {
        if (u.last[v]) np->steps[u.last[v] - 1].die_count++;
    }
    for (uint32_t i = 0; good && i < net->node_count; i++) {
        np->steps[i].dies = tn_arena_array(&p->arena, (size_t)np->steps[i].die_count + 1, sizeof(uint32_t));
        good = np->steps[i].dies != NULL;
        np->steps[i].die_count = 0;
    }
    for (uint32_t v = 0; good && v < net->value_count; v++) {
        if (!u.last[v]) continue;
        struct tn_step *s = &np->steps[u.last[v] - 1];
        s->dies[s->die_count++] = v;
    }
    tn_free(p->alloc, u.last);
    return good;
}

/* ---- constants ---------------------------------------------------------------------------------------------------- */

static enum tn_status load_constants(struct tn_program *p, struct tn_net_program *np, const struct tn_program_options *o,
                                     struct tn_error *err)
{
    const struct tn_net *net = np->net;
    for (uint32_t v = 0; v < net->value_count; v++) {
        const struct tn_constant *c = net->values[v].constant;
        struct tn_held *h = &np->held[v];
        enum tn_status st = tn_cancel_fail(o->cancel, TN_PHASE_LOAD, err);
        if (st) return st;
        if (!c) continue;
        h->there = true;
        h->element = c->element;
        h->rank = c->rank;
        h->dims = c->dims;
        h->bytes = c->bytes;
        h->data = c->data;
        if (c->data) continue;
        h->data = tn_malloc_aligned(p->alloc, c->bytes ? c->bytes : 1, 64);
        if (!h->data) return tn_error_memory(err, TN_PHASE_LOAD, "reading the weights of a graph");
        h->owned = true;
        p->bytes += c->bytes;
        st = tn_constant_read(p->model, c, h->data, err);
        if (st) return st;
    }
    return TN_OK;
}

/* ---- packing ------------------------------------------------------------------------------------------------------ */

struct packing {
    struct tn_program *p;
    struct tn_heap heap;
    const struct tn_tensor **in;
    const struct tn_type **types;
};

struct tn_held *tn_program_held(const struct tn_program *p, const struct tn_net *net, struct tn_ref_value ref)
{
    if (ref.value == TN_NET_NONE) return NULL;
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    struct tn_net_program *np = tn_program_net(p, net);
    struct tn_held *h = np ? &np->held[ref.value] : NULL;
    return h && h->there && !h->input ? h : NULL;
}

static enum tn_status prepare_step(struct packing *k, const struct tn_net *net, struct tn_step *s, struct tn_error *err)
{
    const struct tn_node *n = s->node;
    struct tn_program *p = k->p;
    enum tn_status st = TN_OK;
    struct tn_prepare prepare = {.node = n, .in = k->in, .types = k->types, .alloc = p->alloc, .pool = p->pool, .threads = p->threads,
                                 .kernels = p->kernels};
    for (size_t i = 0; i < 16; i++) prepare.keep[i] = true;
    memset(k->in, 0, n->in_count * sizeof(*k->in));
    memset(k->types, 0, n->in_count * sizeof(*k->types));
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, n->in[i]);
        struct tn_held *h = tn_program_held(p, net, n->in[i]);
        k->types[i] = v ? &v->type : NULL;
        if (!h) continue;
        k->in[i] = tn_tensor_foreign(&k->heap, h->element, h->rank, h->dims, h->data);
        if (!k->in[i]) st = TN_INSUFFICIENT_MEMORY;
    }
    if (!st) st = n->op->prepare(&prepare, &s->state);
    for (uint32_t i = 0; i < n->in_count; i++) tn_tensor_drop((struct tn_tensor *)k->in[i]);
    for (uint32_t i = 0; !st && i < n->in_count && i < 16; i++) {
        struct tn_held *h = prepare.keep[i] ? NULL : tn_program_held(p, net, n->in[i]);
        if (h) h->readers--;
    }
    return st ? tn_error_memory(err, TN_PHASE_LOAD, "packing the weights of a graph") : TN_OK;
}

static void count_readers(const struct tn_program *p, const struct tn_net_program *np)
{
    for (uint32_t i = 0; i < np->net->node_count; i++) {
        const struct tn_node *n = &np->net->nodes[i];
        for (uint32_t k = 0; k < n->in_count && !np->steps[i].folded; k++) {
            struct tn_held *h = tn_program_held(p, np->net, n->in[k]);
            if (h) h->readers++;
        }
    }
    for (uint32_t k = 0; k < np->net->output_count; k++) {
        struct tn_held *h = tn_program_held(p, np->net, np->net->results[k]);
        if (h) h->readers++;
    }
}

static void give_back(struct tn_program *p, struct tn_net_program *np)
{
    for (uint32_t v = 0; v < np->net->value_count; v++) {
        struct tn_held *h = &np->held[v];
        if (!h->owned || h->readers || h->input) continue;
        tn_free(p->alloc, h->data);
        h->data = NULL;
        h->owned = false;
        p->bytes -= h->bytes;
    }
}

static enum tn_status prepare_all(struct tn_program *p, const struct tn_program_options *o, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    struct packing k = {.p = p, .in = tn_calloc(p->alloc, p->most_operands + 1, sizeof(*k.in)),
                        .types = tn_calloc(p->alloc, p->most_operands + 1, sizeof(*k.types))};
    tn_heap_init(&k.heap, p->alloc);
    if (!k.in || !k.types) st = tn_error_memory(err, TN_PHASE_LOAD, "packing the weights of a graph");
    for (size_t i = 0; !st && i < p->net_count; i++) count_readers(p, &p->nets[i]);
    for (size_t i = 0; !st && i < p->net_count; i++) {
        for (uint32_t s = 0; !st && s < p->nets[i].net->node_count; s++) {
            st = tn_cancel_fail(o->cancel, TN_PHASE_LOAD, err);
            if (!st && !p->nets[i].steps[s].folded && p->nets[i].steps[s].node->op->prepare) st = prepare_step(&k, p->nets[i].net, &p->nets[i].steps[s], err);
        }
    }
    for (size_t i = 0; !st && i < p->net_count; i++) give_back(p, &p->nets[i]);
    tn_heap_release(&k.heap);
    tn_free(p->alloc, k.in);
    tn_free(p->alloc, k.types);
    return st;
}

/* What small graphs may make of their constants. */
enum { FOLD_BYTES = 1 << 24 };

/* ---- whole -------------------------------------------------------------------------------------------------------- */

enum tn_status tn_program_new(struct tn_model *model, const struct tn_program_options *options, struct tn_program **out,
                              struct tn_error *err)
{
    struct tn_alloc *a = model->ctx->alloc;
    enum tn_status st = tn_net_patch(model, options->without, options->without_count, err);
    *out = NULL;
    if (st) return st;
    struct tn_program *p = tn_calloc(a, 1, sizeof(*p));
    if (!p) return tn_error_memory(err, TN_PHASE_LOAD, "making a program");
    *p = (struct tn_program){.model = model, .alloc = a, .pool = options->pool, .threads = options->threads,
                             .kernels = options->kernels};
    if (!p->kernels) {
        struct tn_cpu cpu;
        tn_cpu_detect(&cpu);
        p->kernels = tn_kernels_select(&cpu, NULL);
    }
    tn_arena_init(&p->arena, a);
    bool good = list_nets(p, model->main);
    for (size_t i = 0; good && i < p->net_count; i++) good = find_lifetimes(p, &p->nets[i]);
    if (!good) st = tn_error_memory(err, TN_PHASE_LOAD, "making a program");
    for (size_t i = 0; !st && i < p->net_count; i++) st = load_constants(p, &p->nets[i], options, err);
    /* Widened and rearranged copies of the weights fit; what would grow without bound is computed in each call. */
    p->fold_budget = p->bytes * 4 + FOLD_BYTES;
    if (!st && tn_net_patch_on(model, "constants")) st = tn_program_fold(p, options->cancel, err);
    if (!st) st = prepare_all(p, options, err);
    if (st) tn_program_free(p);
    else *out = p;
    return st;
}

void tn_program_free(struct tn_program *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->net_count; i++) {
        struct tn_net_program *np = &p->nets[i];
        for (uint32_t v = 0; np->held && v < np->net->value_count; v++) {
            if (np->held[v].owned) tn_free(p->alloc, np->held[v].data);
        }
        for (uint32_t s = 0; np->steps && s < np->net->node_count; s++) {
            const struct tn_node *n = np->steps[s].node;
            if (np->steps[s].state && n->op->release) n->op->release(p->alloc, np->steps[s].state);
        }
    }
    tn_free(p->alloc, p->nets);
    tn_arena_release(&p->arena);
    tn_free(p->alloc, p);
}

uint64_t tn_program_bytes(const struct tn_program *program)
{
    return program->bytes;
}
