/*
 * Constants of a program: read from the file when a node first asks, shared by all that read them, and given back when the
 * last reader has packed or folded what it needs. So a load holds a weight twice only while it is packed, and a weight
 * that several threads want is read once. A large table of which nodes read some rows stays in its file (tensor/pages.h).
 */
#include "exec/program.h"

#include "tensor/pages.h"

#include <string.h>

struct tn_held *tn_program_held(const struct tn_program *p, const struct tn_net *net, struct tn_ref_value ref)
{
    if (ref.value == TN_NET_NONE) return NULL;
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    struct tn_net_program *np = tn_program_net(p, net);
    struct tn_held *h = np ? &np->held[ref.value] : NULL;
    return h && h->there && !h->input ? h : NULL;
}

/* ---- who reads what ----------------------------------------------------------------------------------------------- */

static void count(const struct tn_program *p, const struct tn_net *net, struct tn_ref_value ref)
{
    if (ref.value == TN_NET_NONE) return;
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    tn_program_net(p, net)->held[ref.value].readers++;
}

static void count_rows(const struct tn_program *p, const struct tn_net *net, const struct tn_node *n)
{
    if (!n->op->by_rows || !n->op->by_rows(n) || n->in_count == 0 || n->in[0].value == TN_NET_NONE) return;
    struct tn_ref_value ref = n->in[0];
    for (uint32_t i = 0; i < ref.level; i++) net = net->around;
    tn_program_net(p, net)->held[ref.value].by_rows++;
}

static void list_constant(struct tn_program *p, struct tn_held *h, const struct tn_constant *c)
{
    h->from = c;
    h->there = true;
    h->element = c->element;
    h->rank = c->rank;
    h->dims = c->dims;
    h->bytes = c->bytes;
    h->data = c->data;
    if (!c->data) p->all += c->bytes;
}

void tn_constants_list(struct tn_program *p)
{
    for (size_t i = 0; i < p->net_count; i++) {
        const struct tn_net *net = p->nets[i].net;
        for (uint32_t v = 0; v < net->value_count; v++) {
            struct tn_held *h = &p->nets[i].held[v];
            if (net->values[v].constant) list_constant(p, h, net->values[v].constant);
            if (h->input) h->readers++; /* a call that gives no other value */
        }
        for (uint32_t n = 0; n < net->node_count; n++) {
            for (uint32_t k = 0; k < net->nodes[n].in_count; k++) count(p, net, net->nodes[n].in[k]);
            count_rows(p, net, &net->nodes[n]);
        }
        for (uint32_t k = 0; k < net->output_count; k++) count(p, net, net->results[k]);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* Texts go into the model's arena, which is of one thread at a time. */
static enum tn_status read_into(struct tn_program *p, const struct tn_held *h, void *data, struct tn_error *err)
{
    if (h->from->tensor) return p->read_tensor(p->read_user, h->from, data, err);
    if (h->element != TN_EL_STRING) return tn_constant_read(p->model, h->from, data, err);
    tn_mutex_lock(&p->mutex);
    enum tn_status st = tn_constant_read(p->model, h->from, data, err);
    tn_mutex_unlock(&p->mutex);
    return st;
}

static enum tn_status read_constant(struct tn_program *p, struct tn_held *h, struct tn_error *err)
{
    void *data = tn_malloc_aligned(p->alloc, h->bytes ? h->bytes : 1, 64);
    enum tn_status st = data ? read_into(p, h, data, err) : tn_error_memory(err, TN_PHASE_LOAD, "reading the weights of a graph");
    if (st) tn_free(p->alloc, data);
    tn_mutex_lock(&p->mutex);
    h->coming = false;
    if (!st) {
        h->data = data;
        h->owned = true;
        p->bytes += h->bytes;
        p->read += h->bytes;
    }
    tn_cond_broadcast(&p->ready);
    tn_mutex_unlock(&p->mutex);
    return st;
}

enum tn_status tn_constant_need(struct tn_program *p, struct tn_held *h, struct tn_error *err)
{
    tn_mutex_lock(&p->mutex);
    while (!h->data && h->coming) tn_cond_wait(&p->ready, &p->mutex);
    bool mine = !h->data && h->from;
    h->coming = mine;
    tn_mutex_unlock(&p->mutex);
    return mine ? read_constant(p, h, err) : TN_OK;
}

static void free_data(struct tn_program *p, struct tn_held *h)
{
    if (h->pages) tn_pages_free(h->pages);
    else tn_free(p->alloc, h->data);
    h->pages = NULL;
}

static void give_back(struct tn_program *p, struct tn_held *h)
{
    if (!h->owned || h->readers) return;
    free_data(p, h);
    h->data = NULL;
    h->owned = false;
    p->bytes -= h->bytes;
}

void tn_constant_done(struct tn_program *p, struct tn_held *h)
{
    tn_mutex_lock(&p->mutex);
    if (h->readers) h->readers--;
    give_back(p, h);
    tn_mutex_unlock(&p->mutex);
}

bool tn_constant_hold(struct tn_program *p, struct tn_held *h, const struct tn_tensor *t)
{
    int64_t *dims = tn_arena_array(&p->arena, (size_t)t->rank + 1, sizeof(*dims));
    void *data = dims ? tn_malloc_aligned(p->alloc, t->bytes ? t->bytes : 1, 64) : NULL;
    if (!data) return false;
    if (t->bytes) memcpy(data, t->data, t->bytes);
    if (t->rank) memcpy(dims, t->dims, t->rank * sizeof(*dims));
    uint32_t readers = h->readers;
    *h = (struct tn_held){.data = data, .there = true, .owned = true, .element = t->element, .rank = t->rank, .dims = dims,
                          .bytes = t->bytes, .readers = readers};
    p->bytes += t->bytes;
    give_back(p, h);
    return true;
}

/* ---- the rest ----------------------------------------------------------------------------------------------------- */

/* Smaller ones are read at once. */
enum { LARGE = 4 << 20 };

/* A large table that calls read by rows stays in its file. */
static bool leave_in_file(struct tn_program *p, struct tn_held *h)
{
    struct tn_os_file file;
    uint64_t offset;
    if (h->by_rows != h->readers || h->bytes < LARGE || !h->from || !tn_constant_open(p->model, h->from, &file, &offset)) return false;
    h->pages = tn_pages_new(p->alloc, &file, offset, h->bytes);
    if (!h->pages) return false;
    h->data = tn_pages_data(h->pages);
    h->owned = true;
    tn_mutex_lock(&p->mutex);
    p->bytes += h->bytes;
    tn_mutex_unlock(&p->mutex);
    return true;
}

/* The n-th value of all graphs. */
static struct tn_held *held_at(const struct tn_program *p, size_t n)
{
    size_t i = 0;
    for (; n >= p->nets[i].net->value_count; i++) n -= p->nets[i].net->value_count;
    return &p->nets[i].held[n];
}

static enum tn_status rest_of(struct tn_program *p, size_t n, struct tn_heap *heap, struct tn_error *err)
{
    struct tn_held *h = held_at(p, n);
    (void)heap;
    if (!h->there || h->data || !h->readers || leave_in_file(p, h)) return TN_OK;
    return tn_constant_need(p, h, err);
}

/* From here on whoever reads a tensor of the package does so with all threads. */
enum { TOGETHER = 8 << 20 };

enum tn_status tn_constants_rest(struct tn_program *p, const struct tn_cancel *cancel, struct tn_error *err)
{
    size_t values = 0;
    for (size_t i = 0; i < p->net_count; i++) values += p->nets[i].net->value_count;
    for (size_t n = 0; n < values; n++) {
        struct tn_held *h = held_at(p, n);
        if (!h->from || !h->from->tensor || h->bytes < TOGETHER) continue;
        enum tn_status st = tn_cancel_fail(cancel, TN_PHASE_LOAD, err);
        if (!st) st = rest_of(p, n, NULL, err);
        if (st) return st;
    }
    return tn_program_each(p, values, rest_of, cancel, err);
}

void tn_constants_free(struct tn_program *p)
{
    for (size_t i = 0; i < p->net_count; i++) {
        for (uint32_t v = 0; p->nets[i].held && v < p->nets[i].net->value_count; v++) {
            if (p->nets[i].held[v].owned) free_data(p, &p->nets[i].held[v]);
        }
    }
}
