/*
 * From an inferred model to a program: constants in memory, packed operands, and for each value the node after which it
 * is not needed any more.
 */
#include "exec/program.h"

#include "base/checked.h"
#include "exec/patch.h"

#include <stdatomic.h>
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

/* ---- by all threads ----------------------------------------------------------------------------------------------- */

struct making {
    struct tn_program *p;
    tn_making_fn *fn;
    size_t count;
    const struct tn_cancel *cancel;
    struct tn_error *err;
    _Atomic size_t next;
    _Atomic int failed; /* enum tn_status of the first failure, whose thread alone writes *err */
};

static void fail_making(struct making *m, enum tn_status st, const struct tn_error *own)
{
    int none = TN_OK;
    if (!st || !atomic_compare_exchange_strong(&m->failed, &none, (int)st)) return;
    if (own && m->err) *m->err = *own;
    if (!own) tn_error_memory(m->err, TN_PHASE_LOAD, "making a program");
}

static void making_member(void *arg, unsigned rank, unsigned size)
{
    struct making *m = arg;
    struct tn_program *p = m->p;
    struct tn_heap heap;
    struct tn_error *own = tn_calloc(p->alloc, 1, sizeof(*own));
    (void)size;
    tn_heap_init(&heap, p->alloc);
    if (!own) fail_making(m, TN_INSUFFICIENT_MEMORY, NULL);
    for (size_t i; own && !m->failed && (i = m->next++) < m->count;) {
        enum tn_status st = tn_cancel_fail(m->cancel, TN_PHASE_LOAD, own);
        fail_making(m, st ? st : m->fn(p, i, &heap, own), own);
        if (rank || !p->progress) continue;
        tn_mutex_lock(&p->mutex);
        uint64_t done = p->read;
        tn_mutex_unlock(&p->mutex);
        p->progress(p->progress_user, done, p->all);
    }
    tn_heap_release(&heap);
    tn_free(p->alloc, own);
}

enum tn_status tn_program_each(struct tn_program *p, size_t count, tn_making_fn *fn, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct making m = {.p = p, .fn = fn, .count = count, .cancel = cancel, .err = err};
    tn_pool_run(p->pool, making_member, &m, p->threads < count ? p->threads : (unsigned)count);
    return (enum tn_status)m.failed;
}

/* ---- packing ------------------------------------------------------------------------------------------------------ */

static enum tn_status refuse_operands(const struct tn_node *n, const char *wrong, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_LOAD, "a node of the graph holds what cannot be");
    tn_at_element(f, TN_ELEMENT_OPERATOR, n->name.n ? n->name : n->type);
    tn_expected(f, "%s", wrong ? wrong : "other attributes");
    return TN_ARTIFACT_MALFORMED;
}

/* Constant operands with their values, types of all. */
static enum tn_status gather_constants(struct tn_program *p, const struct tn_net *net, const struct tn_node *n, struct tn_heap *heap,
                                       const struct tn_tensor **in, const struct tn_type **types, struct tn_error *err)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, n->in[i]);
        struct tn_held *h = tn_program_held(p, net, n->in[i]);
        types[i] = v ? &v->type : NULL;
        if (!h) continue;
        enum tn_status st = tn_constant_need(p, h, err);
        if (st) return st;
        in[i] = tn_tensor_foreign(heap, h->element, h->rank, h->dims, h->data);
        if (!in[i]) return tn_error_memory(err, TN_PHASE_LOAD, "packing the weights of a graph");
    }
    return TN_OK;
}

enum tn_status tn_program_prepare(struct tn_program *p, const struct tn_net *net, struct tn_step *s, struct tn_heap *heap, bool last,
                                  struct tn_error *err)
{
    const struct tn_node *n = s->node;
    const struct tn_tensor **in = tn_calloc(p->alloc, (size_t)n->in_count + 1, sizeof(*in));
    const struct tn_type **types = tn_calloc(p->alloc, (size_t)n->in_count + 1, sizeof(*types));
    struct tn_prepare prepare = {.node = n, .in = in, .types = types, .alloc = p->alloc, .pool = p->pool, .threads = p->threads, .kernels = p->kernels};
    enum tn_status st = TN_OK;
    for (size_t i = 0; i < 16; i++) prepare.keep[i] = true;
    if (in && types) st = gather_constants(p, net, n, heap, in, types, err);
    else st = tn_error_memory(err, TN_PHASE_LOAD, "packing the weights of a graph");
    if (!st) {
        st = n->op->prepare(&prepare, &s->state);
        if (st == TN_ARTIFACT_MALFORMED) refuse_operands(n, prepare.wrong, err);
        else if (st) tn_error_memory(err, TN_PHASE_LOAD, "packing the weights of a graph");
    }
    for (uint32_t i = 0; in && i < n->in_count; i++) tn_tensor_drop((struct tn_tensor *)in[i]);
    for (uint32_t i = 0; !st && last && i < n->in_count && i < 16; i++) {
        struct tn_held *h = prepare.keep[i] ? NULL : tn_program_held(p, net, n->in[i]);
        if (h) tn_constant_done(p, h);
    }
    tn_free(p->alloc, in);
    tn_free(p->alloc, types);
    return st;
}

void tn_program_unprepare(struct tn_program *p, struct tn_step *s)
{
    if (s->state && s->node->op->release) s->node->op->release(p->alloc, s->state);
    s->state = NULL;
}

/* The i-th step of all graphs. */
static enum tn_status prepare_one(struct tn_program *p, size_t i, struct tn_heap *heap, struct tn_error *err)
{
    size_t net = 0;
    for (; i >= p->nets[net].net->node_count; net++) i -= p->nets[net].net->node_count;
    struct tn_step *s = &p->nets[net].steps[i];
    return s->folded || !s->node->op->prepare ? TN_OK : tn_program_prepare(p, p->nets[net].net, s, heap, true, err);
}

static enum tn_status prepare_all(struct tn_program *p, const struct tn_cancel *cancel, struct tn_error *err)
{
    size_t steps = 0;
    for (size_t i = 0; i < p->net_count; i++) steps += p->nets[i].net->node_count;
    return tn_program_each(p, steps, prepare_one, cancel, err);
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

static enum tn_status place_all(struct tn_program *p, const struct tn_program_options *options)
{
    const struct tn_net_program *np = &p->nets[0];
    bool *folded = tn_calloc(p->alloc, (size_t)np->net->node_count + 1, sizeof(*folded));
    for (uint32_t i = 0; folded && i < np->net->node_count; i++) folded[i] = np->steps[i].folded;
    enum tn_status st = TN_INSUFFICIENT_MEMORY;
    if (folded) st = tn_places_make(np->net, folded, options->bounds, options->bound_count, &p->arena, &p->places);
    tn_free(p->alloc, folded);
    return st;
}

static bool find_scratch(struct tn_program *p)
{
    struct tn_kept kept;
    for (size_t i = 0; i < p->net_count; i++) {
        const struct tn_net *net = p->nets[i].net;
        for (uint32_t s = 0; s < net->node_count; s++) {
            if (!tn_node_kept(net, &net->nodes[s], p->kernels, &kept) || !tn_round_up(kept.scratch, 64, &kept.scratch)) return false;
            p->nets[i].steps[s].scratch = kept.scratch > 0;
            if (kept.scratch > p->scratch) p->scratch = kept.scratch;
        }
    }
    return true;
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
                             .kernels = options->kernels, .progress = options->progress, .progress_user = options->progress_user,
                             .read_tensor = options->read, .read_user = options->read_user};
    if (!p->kernels) {
        struct tn_cpu cpu;
        tn_cpu_detect(&cpu);
        p->kernels = tn_kernels_select(&cpu, NULL);
    }
    tn_arena_init(&p->arena, a);
    p->locks = tn_mutex_init(&p->mutex) && (tn_cond_init(&p->ready) || (tn_mutex_release(&p->mutex), false));
    bool good = p->locks && list_nets(p, model->main);
    for (size_t i = 0; good && i < p->net_count; i++) good = find_lifetimes(p, &p->nets[i]);
    good = good && find_scratch(p);
    if (!good) st = tn_error_memory(err, TN_PHASE_LOAD, "making a program");
    if (!st) tn_constants_list(p);
    /* Widened and rearranged copies of the weights fit; what would grow without bound is computed in each call. */
    p->fold_budget = p->all * 4 + FOLD_BYTES;
    if (!st && tn_net_patch_on(model, "constants")) st = tn_program_fold(p, options->cancel, err);
    if (!st) st = prepare_all(p, options->cancel, err);
    if (!st && options->bound_count) st = place_all(p, options);
    if (st == TN_RESOURCE_LIMIT || st == TN_INSUFFICIENT_MEMORY) tn_error_memory(err, TN_PHASE_LOAD, "making a program");
    if (!st) st = tn_constants_rest(p, options->cancel, err);
    if (st) tn_program_free(p);
    else *out = p;
    return st;
}

void tn_program_free(struct tn_program *p)
{
    if (!p) return;
    tn_constants_free(p);
    for (size_t i = 0; i < p->net_count; i++) {
        struct tn_net_program *np = &p->nets[i];
        for (uint32_t s = 0; np->steps && s < np->net->node_count; s++) tn_program_unprepare(p, &np->steps[s]);
    }
    tn_free(p->alloc, p->nets);
    tn_arena_release(&p->arena);
    if (p->locks) {
        tn_cond_release(&p->ready);
        tn_mutex_release(&p->mutex);
    }
    tn_free(p->alloc, p);
}

uint64_t tn_program_own_bytes(const struct tn_net *net)
{
    return sizeof(struct tn_program) + sizeof(struct tn_net_program) + ((uint64_t)net->node_count + 1) * (sizeof(struct tn_step) + 2 * sizeof(uint32_t) + 1) +
           ((uint64_t)net->value_count + 1) * (sizeof(struct tn_held) + 2 * sizeof(size_t) + sizeof(uint32_t));
}

uint64_t tn_program_bytes(const struct tn_program *program)
{
    return program->bytes;
}
