/* Runs one operator on tensors, as the executor does: inference over the operands, outputs, run. For tests of operators. */
#ifndef TN_TESTS_OPS_RUN_H
#define TN_TESTS_OPS_RUN_H

#include "ops/op.h"
#include "test.h"

#include <stdlib.h>

enum { OPS_OUT = 4, OPS_ATTRS = 8 };

struct ops_call {
    const char *name;
    int64_t version;
    struct tn_attr attrs[OPS_ATTRS];
    uint32_t attr_count;
    struct tn_tensor *in[10];
    uint32_t in_count, out_count;
    unsigned threads;
    struct tn_tensor *out[OPS_OUT];
    struct tn_finding why;
    enum tn_status failed; /* TN_OK, TN_INVALID_REQUEST or TN_INSUFFICIENT_MEMORY */
};

static inline struct tn_tensor *ops_tensor(struct tn_heap *heap, enum tn_element e, uint32_t rank, const int64_t *dims, const double *values)
{
    struct tn_tensor *t = tn_tensor_new(heap, e, rank, dims);
    for (uint64_t i = 0; t && i < t->count; i++) tn_element_set(e, t->data, i, values ? values[i] : 0, true);
    return t;
}

static inline struct tn_tensor *ops_random(struct tn_heap *heap, enum tn_element e, uint32_t rank, const int64_t *dims, uint64_t *state)
{
    struct tn_tensor *t = tn_tensor_new(heap, e, rank, dims);
    for (uint64_t i = 0; t && i < t->count; i++) tn_element_set(e, t->data, i, test_uniform(state, -1, 1), true);
    return t;
}

static inline void ops_int(struct ops_call *c, const char *name, int64_t value)
{
    c->attrs[c->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_INT, .as.i = value};
}

static inline void ops_ints(struct ops_call *c, const char *name, const int64_t *values, size_t count)
{
    c->attrs[c->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_INTS, .count = count, .as.ints = values};
}

static inline void ops_text(struct ops_call *c, const char *name, const char *text)
{
    c->attrs[c->attr_count++] = (struct tn_attr){.name = tn_str_of(name), .type = TN_ATTR_STRING, .as.s = tn_str_of(text)};
}

static inline void ops_make_outputs(struct ops_call *c, struct tn_heap *heap, const struct tn_type *types)
{
    for (uint32_t k = 0; k < c->out_count && !c->failed; k++) {
        const struct tn_type *t = &types[k];
        bool whole = t->kind == TN_KIND_TENSOR && t->shape.known && t->element;
        for (uint32_t i = 0; whole && i < t->shape.rank; i++) whole = tn_dim_known(t->shape.dims[i]);
        if (whole && !(c->out[k] = tn_tensor_new(heap, t->element, t->shape.rank, t->shape.dims))) c->failed = TN_INSUFFICIENT_MEMORY;
    }
}

/* The results are the caller's; c->failed says how it went. */
static inline void ops_run(struct ops_call *c, struct tn_heap *heap, struct tn_pool *pool)
{
    bool known;
    uint32_t outs[OPS_OUT] = {0, 1, 2, 3};
    struct tn_node node = {.domain = TN_STR("ai.onnx"), .type = tn_str_of(c->name), .version = c->version, .attrs = c->attrs,
                           .attr_count = c->attr_count, .in_count = c->in_count, .out_count = c->out_count, .out = outs};
    struct tn_type in[10], out[OPS_OUT] = {{.kind = TN_KIND_NONE}};
    const struct tn_type *types[10] = {NULL};
    const tn_dim_t *content[OPS_OUT] = {NULL};
    uint32_t content_count[OPS_OUT] = {0};
    static tn_dim_t scratch[TN_INFER_SCRATCH][TN_CONTENT];
    struct tn_symbols symbols = {0};
    bool wanted[OPS_OUT] = {true, true, true, true};
    struct tn_cpu cpu;
    node.schema = tn_op_schema_find(node.domain, node.type, node.version, &known);
    node.op = tn_operator_find(node.domain, node.type, node.version);
    c->failed = TN_OK;
    memset(c->out, 0, sizeof(c->out));
    REQUIRE(node.schema && node.op);
    for (uint32_t i = 0; i < c->in_count; i++) {
        if (!c->in[i]) continue;
        in[i] = (struct tn_type){.kind = TN_KIND_TENSOR, .element = c->in[i]->element, .shape = {.known = true, .rank = c->in[i]->rank}};
        memcpy(in[i].shape.dims, c->in[i]->dims, sizeof(in[i].shape.dims));
        types[i] = &in[i];
    }
    struct tn_infer x = {.node = &node, .symbols = &symbols, .scratch = scratch, .types = types, .data = (const struct tn_tensor *const *)c->in,
                         .in_count = c->in_count, .out_count = c->out_count, .out = out, .content = content, .content_count = content_count,
                         .running = true, .why = &c->why};
    if (!node.op->infer(&x)) {
        c->failed = TN_INVALID_REQUEST;
        return;
    }
    ops_make_outputs(c, heap, out);
    tn_cpu_detect(&cpu);
    struct tn_run r = {.node = &node, .in = c->in, .in_count = c->in_count, .out_count = c->out_count, .out = c->out, .wanted = wanted,
                       .heap = heap, .pool = pool, .threads = c->threads ? c->threads : 1, .kernels = tn_kernels_select(&cpu, NULL), .why = &c->why};
    if (!c->failed && !node.op->run(&r)) c->failed = r.failed;
}

static inline void ops_drop(struct ops_call *c)
{
    for (uint32_t k = 0; k < OPS_OUT; k++) tn_tensor_drop(c->out[k]);
    memset(c->out, 0, sizeof(c->out));
}

#endif
