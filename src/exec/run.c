/*
 * A call: nodes in order, each with its operands' types looked at anew. Values die after their last reader, and their
 * memory serves the next ones. A graph inside a node runs in a frame of its own that sees the frames around it.
 */
#include "exec/program.h"

#include "base/checked.h"
#include "base/os.h"

#include <string.h>

struct frame {
    struct tn_net_program *np;
    struct frame *around;
    struct tn_tensor **values; /* by value; constants included */
};

/*
 * What a step's inference said the last time, and for which operands. Inference reads types, and of contents short lists of
 * numbers alone (ops/op.h: tn_in_content and tn_in_numbers): when these are as they were, so is what follows.
 */
enum { MEMO_BYTES = 64 };

struct memo_in {
    const struct tn_tensor *fixed; /* a constant of the context: the same pointer is the same value */
    enum tn_element element;
    uint32_t rank; /* NO_VALUE: the operand is absent */
    uint32_t bytes; /* of content; 0: none is read */
    int64_t dims[TN_RANK];
    unsigned char content[MEMO_BYTES];
};
enum { NO_VALUE = TN_RANK + 1 };

struct memo {
    bool good;
    struct memo_in *in;    /* [in_count] */
    struct tn_type *out;   /* [out_count], behind it in one block */
};

struct tn_exec_context {
    struct tn_program *program;
    struct memo **memos; /* by graph, then step */
    struct tn_heap heap;
    struct tn_tensor ***constants; /* by graph, then value: NULL where there is none */
    const struct tn_cancel *cancel;
    struct tn_error *err;
    enum tn_status failed;
    tn_dim_t scratch[TN_INFER_SCRATCH][TN_CONTENT];
    struct tn_symbols symbols; /* without a table */
    char *block, *regions;     /* one piece of memory: planned values first */
    unsigned threads, most_threads;
    tn_watch_fn *watch;
    void *watch_user;
    uint64_t *node_ns;         /* by node of the main graph, while it is profiled; NULL: not */
};

/* What one node needs; of graphs inside nodes there are several at once. */
struct step_room {
    struct tn_type *in_types;
    const struct tn_type **types;
    const struct tn_tensor **data;
    struct tn_tensor **in;
    struct tn_tensor **out;
    struct tn_type *out_types;
    const tn_dim_t **content;
    uint32_t *content_count;
    bool *wanted;
};

/* ---- room for a node ---------------------------------------------------------------------------------------------- */

/* The next part of a block; base NULL: only how much it takes. */
static void *carve(char *base, size_t *at, size_t count, size_t each)
{
    void *p = base ? base + *at : NULL;
    *at += (count * each + 15) & ~(size_t)15;
    return p;
}

/* Room for any node of up to so many operands. */
static void carve_room(char *base, size_t *at, uint32_t most_operands, struct step_room *r)
{
    size_t n = (size_t)most_operands + 1;
    r->in_types = carve(base, at, n, sizeof(*r->in_types));
    r->types = carve(base, at, n, sizeof(*r->types));
    r->data = carve(base, at, n, sizeof(*r->data));
    r->in = carve(base, at, n, sizeof(*r->in));
    r->out = carve(base, at, n, sizeof(*r->out));
    r->out_types = carve(base, at, n, sizeof(*r->out_types));
    r->content = carve(base, at, n, sizeof(*r->content));
    r->content_count = carve(base, at, n, sizeof(*r->content_count));
    r->wanted = carve(base, at, n, sizeof(*r->wanted));
}

static bool make_room(struct tn_exec_context *c, struct step_room *r, void **block)
{
    size_t at = 0;
    carve_room(NULL, &at, c->program->most_operands, r);
    *block = tn_heap_take(&c->heap, at);
    at = 0;
    if (*block) carve_room(*block, &at, c->program->most_operands, r);
    return *block != NULL;
}

/* ---- contexts ----------------------------------------------------------------------------------------------------- */

static bool wrap_constants(struct tn_exec_context *c)
{
    struct tn_program *p = c->program;
    c->constants = tn_calloc(p->alloc, p->net_count, sizeof(*c->constants));
    for (size_t i = 0; c->constants && i < p->net_count; i++) {
        const struct tn_net *net = p->nets[i].net;
        c->constants[i] = tn_calloc(p->alloc, (size_t)net->value_count + 1, sizeof(**c->constants));
        if (!c->constants[i]) return false;
        for (uint32_t v = 0; v < net->value_count; v++) {
            const struct tn_held *h = &p->nets[i].held[v];
            if (!h->there) continue;
            c->constants[i][v] = tn_tensor_foreign(&c->heap, h->element, h->rank, h->dims, h->data);
            if (!c->constants[i][v]) return false;
            c->constants[i][v]->pages = h->pages;
        }
    }
    return c->constants != NULL;
}

static bool make_memos(struct tn_exec_context *c)
{
    struct tn_program *p = c->program;
    c->memos = tn_calloc(p->alloc, p->net_count, sizeof(*c->memos));
    for (size_t i = 0; c->memos && i < p->net_count; i++) {
        c->memos[i] = tn_calloc(p->alloc, (size_t)p->nets[i].net->node_count + 1, sizeof(**c->memos));
        if (!c->memos[i]) return false;
    }
    return c->memos != NULL;
}

static void free_memos(struct tn_exec_context *c)
{
    struct tn_program *p = c->program;
    for (size_t i = 0; c->memos && i < p->net_count; i++) {
        for (uint32_t s = 0; c->memos[i] && s < p->nets[i].net->node_count; s++) tn_free(p->alloc, c->memos[i][s].in);
        tn_free(p->alloc, c->memos[i]);
    }
    tn_free(p->alloc, c->memos);
}

/* What memos are made of. NULL without memory. */
static struct memo_in *new_memo(struct tn_alloc *alloc, const struct tn_node *n)
{
    return tn_calloc(alloc, 1, (n->in_count + 1) * sizeof(struct memo_in) + n->out_count * sizeof(struct tn_type));
}

static size_t room_bytes(uint32_t most_operands)
{
    struct step_room r;
    size_t at = 0;
    carve_room(NULL, &at, most_operands, &r);
    return at;
}

uint64_t tn_context_bytes(const struct tn_net *net, const bool *folded, const bool *constant)
{
    uint32_t most = 0;
    uint64_t bytes = sizeof(struct tn_exec_context) + 64, tensor = tn_heap_cost(TN_TENSOR_HEAD);
    bytes += tn_heap_cost(((size_t)net->value_count + 1) * sizeof(struct tn_tensor *)) + net->input_count * tensor;
    bytes += ((size_t)net->value_count + 1) * sizeof(struct tn_tensor *) + ((size_t)net->node_count + 1) * sizeof(struct memo);
    for (uint32_t v = 0; v < net->value_count; v++) bytes += constant[v] ? tensor : 0;
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        most = n->in_count > most ? n->in_count : most;
        most = n->out_count > most ? n->out_count : most;
        if (!folded[i]) bytes += (n->in_count + 1) * sizeof(struct memo_in) + n->out_count * sizeof(struct tn_type);
    }
    return bytes + tn_heap_cost(room_bytes(most));
}

/* Where values are planned, calls find everything there: what the first one would take is taken once and kept by the heap. */
static bool take_once(struct tn_exec_context *c)
{
    struct tn_net_program *np = &c->program->nets[0];
    struct step_room room;
    void *block = NULL, *values = tn_heap_take(&c->heap, ((size_t)np->net->value_count + 1) * sizeof(struct tn_tensor *)), *last = NULL;
    bool good = make_room(c, &room, &block) && values;
    for (uint32_t i = 0; good && i < np->net->node_count; i++) {
        if (!np->steps[i].folded) good = (c->memos[0][i].in = new_memo(c->program->alloc, &np->net->nodes[i])) != NULL;
    }
    for (uint32_t i = 0; good && i < np->net->input_count; i++) { /* as operands of a call are wrapped, chained by their first word */
        struct tn_tensor *t = tn_tensor_foreign(&c->heap, TN_EL_I32, 0, NULL, last);
        good = t != NULL;
        last = t ? t : last;
    }
    while (last) {
        struct tn_tensor *t = last;
        last = t->data;
        tn_tensor_drop(t);
    }
    tn_heap_give(&c->heap, values);
    tn_heap_give(&c->heap, block);
    return good;
}

/* Planned values, and the scratch that rows tell of. */
static bool make_block(struct tn_exec_context *c)
{
    const struct tn_program *p = c->program;
    size_t values, scratch, all;
    if (!tn_round_up(p->places.bytes, 64, &values) || !tn_mul(p->scratch, c->most_threads, &scratch) || !tn_add(values, scratch, &all)) return false;
    c->block = tn_malloc_aligned(p->alloc, all + 64, 64);
    c->regions = c->block ? c->block + values : NULL;
    return c->block != NULL;
}

enum tn_status tn_exec_context_new(struct tn_program *program, unsigned threads, struct tn_exec_context **out, struct tn_error *err)
{
    struct tn_exec_context *c = tn_calloc(program->alloc, 1, sizeof(*c));
    *out = NULL;
    if (!c) return tn_error_memory(err, TN_PHASE_LOAD, "making a context");
    c->program = program;
    c->threads = c->most_threads = threads && threads < program->threads ? threads : program->threads;
    tn_heap_init(&c->heap, program->alloc);
    if (!wrap_constants(c) || !make_memos(c) || !make_block(c) || (program->places.at && !take_once(c))) {
        tn_exec_context_free(c);
        return tn_error_memory(err, TN_PHASE_LOAD, "making a context");
    }
    *out = c;
    return TN_OK;
}

void tn_exec_context_free(struct tn_exec_context *c)
{
    if (!c) return;
    struct tn_program *p = c->program;
    for (size_t i = 0; c->constants && i < p->net_count; i++) {
        for (uint32_t v = 0; c->constants[i] && v < p->nets[i].net->value_count; v++) tn_tensor_drop(c->constants[i][v]);
        tn_free(p->alloc, c->constants[i]);
    }
    tn_free(p->alloc, c->constants);
    free_memos(c);
    tn_free(p->alloc, c->node_ns);
    tn_free(p->alloc, c->block);
    tn_heap_release(&c->heap);
    tn_free(p->alloc, c);
}

const uint64_t *tn_exec_profile(struct tn_exec_context *context)
{
    struct tn_program *p = context->program;
    if (!context->node_ns) context->node_ns = tn_calloc(p->alloc, (size_t)p->nets[0].net->node_count + 1, sizeof(*context->node_ns));
    return context->node_ns;
}

void tn_exec_threads(struct tn_exec_context *context, unsigned threads)
{
    context->threads = threads < context->most_threads ? threads : context->most_threads;
}

void tn_exec_watch(struct tn_exec_context *context, tn_watch_fn *fn, void *user)
{
    context->watch = fn;
    context->watch_user = user;
}

struct tn_heap *tn_exec_heap(struct tn_exec_context *context)
{
    return &context->heap;
}

/* Whatever its operands, a result of this many bytes may be made of constants. */
enum { FOLD_SMALL = 1 << 20 };

/* ---- one node ----------------------------------------------------------------------------------------------------- */

static struct tn_tensor **slot_of(struct frame *f, struct tn_ref_value ref)
{
    for (uint32_t i = 0; i < ref.level; i++) f = f->around;
    return &f->values[ref.value];
}

static void type_of(const struct tn_tensor *t, struct tn_type *out)
{
    out->kind = t->kind;
    out->element = t->element;
    out->of = NULL;
    out->shape.known = t->kind == TN_KIND_TENSOR;
    out->shape.rank = t->rank;
    for (uint32_t i = 0; i < t->rank; i++) out->shape.dims[i] = t->dims[i];
}

static void fail_step(struct tn_exec_context *c, const struct tn_node *n, enum tn_status status, const struct tn_finding *why)
{
    if (c->failed) return;
    c->failed = status;
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(c->err, TN_PHASE_EXECUTE, "running a graph");
        return;
    }
    bool file = status == TN_ARTIFACT_STALE || status == TN_ARTIFACT_MALFORMED;
    struct tn_finding *f = tn_error_set(c->err, status, TN_PHASE_EXECUTE, file ? "the weights of an operator cannot be read: %.*s" : "an operator refuses its operands: %.*s", TN_FMT_ARG(n->type));
    tn_at_element(f, TN_ELEMENT_OPERATOR, n->name);
    tn_found(f, "%s", why->found);
    tn_expected(f, "%s", why->expected);
    tn_remedy(f, file ? "load the package again" : "give inputs that the graph was made for");
}

static bool gather(struct tn_exec_context *c, struct frame *f, const struct tn_node *n, struct step_room *r)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        r->in[i] = n->in[i].value == TN_NET_NONE ? NULL : *slot_of(f, n->in[i]);
        if (r->in[i] || n->in[i].value == TN_NET_NONE) continue;
        struct tn_finding why = {0};
        tn_found(&why, "operand %u has no value", i);
        fail_step(c, n, TN_RUNTIME_FAILURE, &why);
        return false;
    }
    return true;
}

static void gather_types(const struct tn_node *n, struct step_room *r)
{
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_tensor *t = r->in[i];
        r->types[i] = t ? &r->in_types[i] : NULL;
        r->data[i] = t && t->data ? t : NULL;
        if (t) type_of(t, &r->in_types[i]);
    }
}

/* ---- what was inferred before ------------------------------------------------------------------------------------- */

static bool is_list(const struct tn_tensor *t)
{
    return t->rank <= 1 && t->count <= TN_CONTENT;
}

static bool as_before(const struct memo_in *m, const struct tn_tensor *t)
{
    if (!t) return m->rank == NO_VALUE;
    if (m->fixed == t) return true;
    if (m->fixed || t->kind != TN_KIND_TENSOR || t->element != m->element || t->rank != m->rank) return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] != m->dims[i]) return false;
    }
    return !m->bytes || memcmp(t->data, m->content, m->bytes) == 0;
}

static bool remembered(const struct memo *m, const struct tn_node *n, const struct step_room *r)
{
    if (!m->good) return false;
    for (uint32_t i = 0; i < n->in_count; i++) {
        if (!as_before(&m->in[i], r->in[i])) return false;
    }
    return true;
}

static const struct tn_tensor *constant_of(const struct tn_exec_context *c, const struct frame *f, struct tn_ref_value ref)
{
    for (uint32_t i = 0; i < ref.level; i++) f = f->around;
    return ref.value == TN_NET_NONE ? NULL : c->constants[f->np - c->program->nets][ref.value];
}

/* Nothing is remembered of values that are not tensors, and of long lists. False without memory. */
static bool remember(struct tn_exec_context *c, const struct frame *f, struct memo *m, const struct tn_node *n, const struct step_room *r)
{
    m->good = false;
    if (!m->in && !(m->in = new_memo(c->program->alloc, n))) return false;
    m->out = (struct tn_type *)(m->in + n->in_count + 1);
    for (uint32_t i = 0; i < n->in_count; i++) {
        const struct tn_tensor *t = r->in[i];
        struct memo_in *to = &m->in[i];
        *to = (struct memo_in){.rank = NO_VALUE};
        if (!t) continue;
        if (t == constant_of(c, f, n->in[i])) to->fixed = t;
        if (t->kind != TN_KIND_TENSOR || (is_list(t) && !to->fixed && (t->bytes > MEMO_BYTES || t->element == TN_EL_STRING))) return true;
        to->element = t->element;
        to->rank = t->rank;
        memcpy(to->dims, t->dims, t->rank * sizeof(*t->dims));
        to->bytes = is_list(t) && !to->fixed ? (uint32_t)t->bytes : 0;
        if (to->bytes) memcpy(to->content, t->data, to->bytes);
    }
    for (uint32_t k = 0; k < n->out_count; k++) {
        if (r->out_types[k].kind != TN_KIND_TENSOR && r->out_types[k].kind != TN_KIND_NONE) return true;
        m->out[k] = r->out_types[k];
    }
    m->good = true;
    return true;
}

/* Whether the node may write its result over operand 0. */
static bool may_reuse(const struct tn_step *s, const struct tn_node *n, const struct tn_tensor *t, const struct tn_type *out)
{
    if (!n->op->in_place || !t || t->refs != 1 || t->placed || t->base || t->kind != TN_KIND_TENSOR || n->in[0].level) return false;
    if ((char *)t->data != (char *)t + ((sizeof(*t) + 63) & ~(size_t)63)) return false; /* somebody else's memory */
    if (t->element != out->element || t->rank != out->shape.rank) return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] != out->shape.dims[i]) return false;
    }
    for (uint32_t k = 1; k < n->in_count; k++) {
        if (n->in[k].value == n->in[0].value && n->in[k].level == 0) return false;
    }
    for (uint32_t k = 0; k < s->die_count; k++) {
        if (s->dies[k] == n->in[0].value) return true;
    }
    return false;
}

/* Output k where the plan puts it; NULL: the heap has to hold it. */
static struct tn_tensor *place_output(struct tn_exec_context *c, const struct frame *f, const struct tn_step *s, struct step_room *r, uint32_t k,
                                      const struct tn_type *t)
{
    const struct tn_places *places = &c->program->places;
    size_t room;
    if (f->around || !places->at || s->node->out[k] == TN_NET_NONE || places->at[s->node->out[k]] == TN_NOWHERE) return NULL;
    uint32_t v = s->node->out[k];
    if (k == 0 && places->over[s - f->np->steps]) return tn_tensor_keep(r->in[0]);
    struct tn_tensor *out = tn_tensor_place(&c->heap, c->block + places->at[v], t->element, t->shape.rank, t->shape.dims);
    return out && tn_tensor_room(out->bytes, &room) && room <= places->room[v] ? out : NULL;
}

static bool make_outputs(struct tn_exec_context *c, const struct frame *f, const struct tn_step *s, struct step_room *r, const struct tn_type *types)
{
    const struct tn_node *n = s->node;
    for (uint32_t k = 0; k < n->out_count; k++) {
        const struct tn_type *t = &types[k];
        bool whole = t->kind == TN_KIND_TENSOR && t->shape.known && t->element != TN_EL_NONE;
        r->wanted[k] = n->out[k] != TN_NET_NONE;
        for (uint32_t i = 0; whole && i < t->shape.rank; i++) whole = tn_dim_known(t->shape.dims[i]);
        if (!whole || (r->out[k] = place_output(c, f, s, r, k, t))) continue;
        if (k == 0 && may_reuse(s, n, r->in[0], t)) {
            r->out[0] = tn_tensor_keep(r->in[0]);
            continue;
        }
        r->out[k] = tn_tensor_new(&c->heap, t->element, t->shape.rank, t->shape.dims);
        if (!r->out[k]) {
            fail_step(c, n, TN_INSUFFICIENT_MEMORY, NULL);
            return false;
        }
    }
    return true;
}

/* Constants belong to the context: frames hold them without a reference. */
static void drop_value(struct frame *f, uint32_t v, struct tn_tensor *const *constants)
{
    if (f->values[v] != constants[v]) tn_tensor_drop(f->values[v]);
    f->values[v] = NULL;
}

static void drop_values(struct frame *f, struct tn_tensor *const *constants)
{
    for (uint32_t v = 0; v < f->np->net->value_count; v++) drop_value(f, v, constants);
}

static bool run_net(struct tn_exec_context *c, struct frame *f);

struct running {
    struct tn_run r; /* first: what the operator sees */
    struct tn_exec_context *c;
    struct frame *f;
};

static bool run_inner(struct tn_run *r, const struct tn_net *inner, struct tn_tensor *const *in, uint32_t in_count,
                      struct tn_tensor **out, uint32_t out_count)
{
    struct running *w = (struct running *)r;
    struct tn_exec_context *c = w->c;
    struct frame f = {.np = tn_program_net(c->program, inner), .around = w->f};
    size_t index = (size_t)(f.np - c->program->nets), count = inner->value_count + 1;
    bool good = in_count == inner->input_count && out_count == inner->output_count;
    memset(out, 0, out_count * sizeof(*out));
    if (!good) return tn_run_refuse(r, "as many values as the graph has ports", "%u inputs and %u outputs", in_count, out_count);
    f.values = tn_heap_take(&c->heap, count * sizeof(*f.values));
    if (!f.values) return tn_run_no_memory(r);
    memcpy(f.values, c->constants[index], count * sizeof(*f.values));
    for (uint32_t i = 0; i < in_count; i++) {
        if (in[i]) f.values[inner->inputs[i]] = tn_tensor_keep(in[i]);
    }
    good = run_net(c, &f);
    for (uint32_t k = 0; good && k < out_count; k++) {
        if (inner->results[k].value != TN_NET_NONE) out[k] = tn_tensor_keep(*slot_of(&f, inner->results[k]));
    }
    drop_values(&f, c->constants[index]);
    tn_heap_give(&c->heap, f.values);
    if (!good && !r->failed) r->failed = c->failed;
    return good;
}

static bool infer_step(struct tn_exec_context *c, const struct frame *f, const struct tn_node *n, struct step_room *room, struct tn_finding *why)
{
    gather_types(n, room);
    for (uint32_t k = 0; k < n->out_count; k++) room->out_types[k].kind = TN_KIND_NONE;
    struct tn_infer x = {.net = f->np->net, .node = n, .symbols = &c->symbols, .scratch = c->scratch, .types = room->types,
                         .data = room->data, .in_count = n->in_count, .out_count = n->out_count, .out = room->out_types,
                         .content = room->content, .content_count = room->content_count, .running = true, .why = why};
    if (n->op->infer(&x)) return true;
    fail_step(c, n, TN_INVALID_REQUEST, why);
    return false;
}

static bool run_step(struct tn_exec_context *c, struct frame *f, const struct tn_step *s, struct step_room *room)
{
    const struct tn_node *n = s->node;
    struct tn_finding why;
    why.found[0] = why.expected[0] = 0;
    if (!gather(c, f, n, room)) return false;
    memset(room->out, 0, n->out_count * sizeof(*room->out));
    size_t graph = (size_t)(f->np - c->program->nets);
    struct memo *memo = &c->memos[graph][s - f->np->steps];
    const struct tn_type *types = memo->out;
    if (!remembered(memo, n, room)) {
        if (!infer_step(c, f, n, room, &why)) return false;
        if (!remember(c, f, memo, n, room)) {
            fail_step(c, n, TN_INSUFFICIENT_MEMORY, NULL);
            return false;
        }
        types = room->out_types;
    }
    struct running w = {.r = {.node = n, .state = s->state, .in = room->in, .in_count = n->in_count, .out_count = n->out_count,
                              .out = room->out, .wanted = room->wanted, .scratch = s->scratch ? c->regions : NULL,
                              .scratch_bytes = c->program->scratch, .heap = &c->heap, .pool = c->program->pool,
                              .threads = c->threads, .kernels = c->program->kernels, .cancel = c->cancel, .graph = run_inner, .why = &why},
                        .c = c,
                        .f = f};
    bool good = make_outputs(c, f, s, room, types);
    if (good && !n->op->run(&w.r)) {
        fail_step(c, n, w.r.failed ? w.r.failed : TN_RUNTIME_FAILURE, &why);
        good = false;
    }
    for (uint32_t k = 0; k < n->out_count; k++) {
        if (good && n->out[k] != TN_NET_NONE) f->values[n->out[k]] = room->out[k];
        else tn_tensor_drop(room->out[k]);
    }
    return good;
}

static bool run_net(struct tn_exec_context *c, struct frame *f)
{
    struct step_room room;
    void *block;
    const struct tn_net *net = f->np->net;
    if (!make_room(c, &room, &block)) {
        fail_step(c, net->nodes, TN_INSUFFICIENT_MEMORY, NULL);
        return false;
    }
    bool good = true;
    struct tn_tensor **constants = c->constants[f->np - c->program->nets];
    for (uint32_t i = 0; good && i < net->node_count; i++) {
        const struct tn_step *s = &f->np->steps[i];
        if (s->folded) continue;
        enum tn_status st = tn_cancel_fail(c->cancel, TN_PHASE_EXECUTE, c->err);
        if (st) {
            c->failed = st;
            good = false;
            break;
        }
        uint64_t begin = c->node_ns ? tn_os_monotonic_ns() : 0;
        good = run_step(c, f, s, &room);
        if (c->node_ns && !f->around) c->node_ns[i] += tn_os_monotonic_ns() - begin;
        if (good && c->watch && !f->around && !c->watch(c->watch_user, s->node, room.out)) {
            c->failed = TN_CANCELLED;
            good = false;
        }
        for (uint32_t k = 0; good && k < s->die_count; k++) {
            drop_value(f, s->dies[k], constants);
        }
    }
    tn_heap_give(&c->heap, block);
    return good;
}

/* ---- folding ------------------------------------------------------------------------------------------------------ */

/* Operands that are held, one at least, and outputs of known size that the budget allows. */
static bool may_fold(const struct tn_program *p, const struct tn_net_program *np, const struct tn_node *n, uint64_t *bytes)
{
    uint64_t read = 0, made = 0;
    if (n->op->not_pure || (n->in_count == 0 && !n->op->table)) return false;
    for (uint32_t k = 0; k < n->attr_count; k++) {
        if (n->attrs[k].type == TN_ATTR_GRAPH || n->attrs[k].type == TN_ATTR_GRAPHS) return false;
    }
    for (uint32_t k = 0; k < n->in_count; k++) {
        const struct tn_held *h = tn_program_held(p, np->net, n->in[k]);
        if (n->in[k].value != TN_NET_NONE && (!h || h->element == TN_EL_STRING)) return false;
        read += h ? h->bytes : 0;
    }
    for (uint32_t k = 0; k < n->out_count; k++) {
        if (n->out[k] == TN_NET_NONE) continue;
        const struct tn_type *t = &np->net->values[n->out[k]].type;
        uint64_t count;
        size_t each;
        if (t->kind != TN_KIND_TENSOR || t->element == TN_EL_STRING || !t->shape.known) return false;
        if (!tn_shape_count(t->shape.dims, t->shape.rank, &count) || !tn_element_bytes(t->element, count, &each)) return false;
        made += each;
    }
    *bytes = n->op->table ? 0 : made;
    return n->op->table || (made <= p->fold_budget && (made <= FOLD_SMALL || made <= read * 4));
}

/* Reads the node's constants into the context. */
static enum tn_status fetch(struct tn_exec_context *c, struct frame *f, const struct tn_node *n, struct tn_error *err)
{
    for (uint32_t k = 0; k < n->in_count; k++) {
        struct tn_held *h = tn_program_held(c->program, f->np->net, n->in[k]);
        enum tn_status st = h ? tn_constant_need(c->program, h, err) : TN_OK;
        if (st) return st;
        if (h) (*slot_of(f, n->in[k]))->data = h->data;
    }
    return TN_OK;
}

/* The node's results become constants; those that only it has read are given back. */
static bool settle(struct tn_exec_context *c, struct frame *f, const struct tn_node *n)
{
    struct tn_program *p = c->program;
    for (uint32_t k = 0; k < n->out_count; k++) {
        if (n->out[k] == TN_NET_NONE) continue;
        struct tn_held *h = &f->np->held[n->out[k]];
        struct tn_tensor **slot = &f->values[n->out[k]], *t;
        if (!tn_constant_hold(p, h, *slot)) return false;
        t = tn_tensor_foreign(&c->heap, h->element, h->rank, h->dims, h->data);
        if (!t) return false;
        tn_tensor_drop(*slot);
        *slot = t;
    }
    for (uint32_t k = 0; k < n->in_count; k++) {
        struct tn_held *h = tn_program_held(p, f->np->net, n->in[k]);
        if (!h) continue;
        tn_constant_done(p, h);
        (*slot_of(f, n->in[k]))->data = h->data;
    }
    return true;
}

static enum tn_status fold_step(struct tn_exec_context *c, struct frame *f, struct tn_step *s, struct step_room *room, struct tn_error *err)
{
    const struct tn_node *n = s->node;
    uint64_t bytes;
    if (!may_fold(c->program, f->np, n, &bytes)) return TN_OK;
    enum tn_status st = fetch(c, f, n, err);
    if (st) return st;
    if (n->op->prepare) st = tn_program_prepare(c->program, f->np->net, s, &c->heap, false, err);
    if (st) return st;
    bool made = run_step(c, f, s, room);
    tn_program_unprepare(c->program, s);
    /* What is refused now is refused in each call, too, with its reason: there it belongs. */
    if (!made) {
        bool no_memory = c->failed == TN_INSUFFICIENT_MEMORY;
        c->failed = TN_OK;
        return no_memory ? tn_error_memory(err, TN_PHASE_LOAD, "computing constants") : TN_OK;
    }
    c->program->fold_budget -= bytes;
    s->folded = settle(c, f, n);
    return s->folded ? TN_OK : tn_error_memory(err, TN_PHASE_LOAD, "computing constants");
}

static enum tn_status fold_net(struct tn_exec_context *c, struct frame *f, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct step_room room;
    void *block;
    enum tn_status st = make_room(c, &room, &block) ? TN_OK : tn_error_memory(err, TN_PHASE_LOAD, "computing constants");
    for (uint32_t i = 0; !st && i < f->np->net->node_count; i++) {
        st = tn_cancel_fail(cancel, TN_PHASE_LOAD, err);
        if (!st) st = fold_step(c, f, &f->np->steps[i], &room, err);
    }
    tn_heap_give(&c->heap, block);
    return st;
}

enum tn_status tn_program_fold(struct tn_program *p, const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_exec_context *c;
    enum tn_status st = tn_exec_context_new(p, 0, &c, err);
    if (st) return st;
    struct frame *frames = tn_calloc(p->alloc, p->net_count, sizeof(*frames));
    if (!frames) st = tn_error_memory(err, TN_PHASE_LOAD, "computing constants");
    for (size_t i = 0; !st && i < p->net_count; i++) { /* outer graphs come first */
        const struct tn_net *net = p->nets[i].net;
        frames[i] = (struct frame){.np = &p->nets[i], .around = net->around ? &frames[net->around->number] : NULL, .values = c->constants[i]};
        st = fold_net(c, &frames[i], cancel, err);
    }
    tn_free(p->alloc, frames);
    tn_exec_context_free(c);
    return st;
}

/* ---- operands of a call ------------------------------------------------------------------------------------------- */

/* Symbols that inputs share must be given the same number. */
struct bindings {
    tn_dim_t symbol[64];
    int64_t value[64];
    size_t count;
};

static bool bind(struct bindings *b, tn_dim_t symbol, int64_t value, int64_t *bound)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->symbol[i] != symbol) continue;
        *bound = b->value[i];
        return *bound == value;
    }
    if (b->count < sizeof(b->value) / sizeof(b->value[0])) {
        b->symbol[b->count] = symbol;
        b->value[b->count++] = value;
    }
    return true;
}

static void check_operand(const struct tn_exec_context *c, const struct tn_net_value *v, const struct tn_tensor *t, struct bindings *b,
                          struct tn_findings *findings)
{
    const struct tn_model *model = c->program->model;
    char text[160], dim[128];
    struct tn_type is = {.kind = TN_KIND_NONE};
    int64_t bound = 0;
    type_of(t, &is);
    bool good = v->type.kind == TN_KIND_NONE || v->type.kind == t->kind;
    if (good && t->kind == TN_KIND_TENSOR) good = v->type.element == t->element && (!v->type.shape.known || v->type.shape.rank == t->rank);
    for (uint32_t i = 0; good && t->kind == TN_KIND_TENSOR && v->type.shape.known && i < t->rank; i++) {
        tn_dim_t d = v->type.shape.dims[i];
        if (tn_dim_known(d) ? d == t->dims[i] : bind(b, d, t->dims[i], &bound)) continue;
        struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                               "input %.*s has another dimension %u", TN_FMT_ARG(v->name), i);
        tn_at_tensor(f, tn_model_file(model), v->name);
        tn_found(f, "%lld", (long long)t->dims[i]);
        if (tn_dim_known(d)) tn_expected(f, "%lld", (long long)d);
        else tn_expected(f, "%lld: %s has been given already", (long long)bound, tn_dim_text(&model->symbols, d, dim, sizeof(dim)));
    }
    if (good) return;
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s is of another type",
                                           TN_FMT_ARG(v->name));
    tn_at_tensor(f, tn_model_file(model), v->name);
    tn_found(f, "%s", tn_type_text(model, &is, text, sizeof(text)));
    tn_expected(f, "%s", tn_type_text(model, &v->type, dim, sizeof(dim)));
}

static enum tn_status check_operands(struct tn_exec_context *c, struct tn_tensor *const *in, struct tn_error *err)
{
    const struct tn_net *net = c->program->nets[0].net;
    struct tn_findings findings;
    struct bindings b = {.count = 0};
    tn_findings_init(&findings, c->program->alloc, 256);
    for (uint32_t i = 0; i < net->input_count; i++) {
        const struct tn_net_value *v = &net->values[net->inputs[i]];
        if (in[i]) {
            check_operand(c, v, in[i], &b, &findings);
        } else if (!v->constant && !(v->type.kind == TN_KIND_OPTIONAL)) {
            char text[160];
            struct tn_finding *f = tn_findings_add(&findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s is missing", TN_FMT_ARG(v->name));
            tn_at_tensor(f, tn_model_file(c->program->model), v->name);
            tn_expected(f, "%s", tn_type_text(c->program->model, &v->type, text, sizeof(text)));
        }
    }
    enum tn_status st = tn_error_from_findings(err, &findings);
    tn_findings_release(&findings);
    return st;
}

enum tn_status tn_exec_run(struct tn_exec_context *c, struct tn_tensor *const *in, struct tn_tensor **out, const bool *wanted,
                           const struct tn_cancel *cancel, struct tn_error *err)
{
    struct tn_net_program *np = &c->program->nets[0];
    const struct tn_net *net = np->net;
    struct frame f = {.np = np};
    enum tn_status st = check_operands(c, in, err);
    memset(out, 0, net->output_count * sizeof(*out));
    if (st) return st;
    c->cancel = cancel;
    c->err = err;
    c->failed = TN_OK;
    f.values = tn_heap_take(&c->heap, ((size_t)net->value_count + 1) * sizeof(*f.values));
    if (!f.values) return tn_error_memory(err, TN_PHASE_EXECUTE, "running a graph");
    memcpy(f.values, c->constants[0], ((size_t)net->value_count + 1) * sizeof(*f.values));
    for (uint32_t i = 0; i < net->input_count; i++) {
        if (in[i]) f.values[net->inputs[i]] = tn_tensor_keep(in[i]);
    }
    bool good = run_net(c, &f);
    for (uint32_t k = 0; good && k < net->output_count; k++) {
        if ((!wanted || wanted[k]) && net->results[k].value != TN_NET_NONE) out[k] = tn_tensor_keep(f.values[net->results[k].value]);
    }
    drop_values(&f, c->constants[0]);
    tn_heap_give(&c->heap, f.values);
    return c->failed;
}
