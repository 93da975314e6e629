/*
 * Values inside a graph, for comparisons. The library gives outputs and nothing else, so a session that shall tell more is made
 * of a graph that has those values as outputs: messages of the format merge, and a second piece behind the file's bytes that
 * holds nothing but a graph's outputs adds them to the first one's. What the library would have fused over such a value it
 * then does not: the answers of such a session are not those that are compared.
 */
#include "provider/onnxruntime/ort.h"

#include <string.h>

enum { GRAPH_OF_MODEL = 7, OUTPUT_OF_GRAPH = 12, NAME_OF_VALUE = 1, LENGTH_DELIMITED = 2 };

static const struct tn_net_value *find(const struct tn_net *net, struct tn_str name)
{
    for (uint32_t v = 0; v < net->value_count; v++)
        if (tn_str_eq(net->values[v].name, name)) return &net->values[v];
    return NULL;
}

bool tn_ort_told_choose(struct tn_instance *x, const struct tn_component_request *request, const struct tn_net *net)
{
    struct tn_ort_told *told = tn_arena_array(&x->arena, (size_t)request->told_count + 1, sizeof(*told));
    if (!told) return false;
    x->told = told;
    for (uint32_t i = 0; i < request->told_count; i++) {
        const struct tn_net_value *v = find(net, request->told[i]);
        if (!v || v->producer == TN_NET_NONE || v->name.n == 0) continue;
        const struct tn_node *node = &net->nodes[v->producer];
        struct tn_ort_told *t = &told[x->told_count];
        *t = (struct tn_ort_told){.name = tn_arena_strndup(&x->arena, v->name.s, v->name.n),
                                  .node = tn_arena_str(&x->arena, node->name),
                                  .by = tn_arena_str(&x->arena, node->type),
                                  .output = v->output};
        if (!t->name || !t->node.s || !t->by.s) return false;
        x->told_count++;
        x->told_added += !t->output;
    }
    return true;
}

/* ---- the second piece --------------------------------------------------------------------------------------------- */

static size_t varint_size(uint64_t v)
{
    size_t n = 1;
    while (v >>= 7) n++;
    return n;
}

static char *put_varint(char *at, uint64_t v)
{
    for (; v > 127; v >>= 7) *at++ = (char)(v | 128);
    *at++ = (char)v;
    return at;
}

/* Tag and length of a field of which the content follows. */
static char *put_head(char *at, unsigned field, uint64_t size)
{
    return put_varint(put_varint(at, field << 3 | LENGTH_DELIMITED), size);
}

static size_t head_size(unsigned field, uint64_t size)
{
    return varint_size(field << 3 | LENGTH_DELIMITED) + varint_size(size);
}

static size_t value_size(const struct tn_ort_told *t)
{
    size_t n = strlen(t->name);
    return head_size(NAME_OF_VALUE, n) + n;
}

static size_t graph_size(const struct tn_instance *x)
{
    size_t all = 0;
    for (uint32_t i = 0; i < x->told_count; i++)
        if (!x->told[i].output) all += head_size(OUTPUT_OF_GRAPH, value_size(&x->told[i])) + value_size(&x->told[i]);
    return all;
}

bool tn_ort_told_append(const struct tn_instance *x, struct tn_alloc *alloc, char **model, size_t *size)
{
    size_t graph = graph_size(x), more = head_size(GRAPH_OF_MODEL, graph) + graph;
    if (x->told_added == 0) return true;
    char *whole = more < SIZE_MAX - *size ? tn_malloc_aligned(alloc, *size + more, 64) : NULL;
    if (!whole) return false;
    memcpy(whole, *model, *size);
    char *at = put_head(whole + *size, GRAPH_OF_MODEL, graph);
    for (uint32_t i = 0; i < x->told_count; i++) {
        const struct tn_ort_told *t = &x->told[i];
        size_t n = strlen(t->name);
        if (t->output) continue;
        at = put_head(put_head(at, OUTPUT_OF_GRAPH, value_size(t)), NAME_OF_VALUE, n);
        memcpy(at, t->name, n);
        at += n;
    }
    tn_free(alloc, *model);
    *model = whole;
    *size += more;
    return true;
}

/* ---- a call ------------------------------------------------------------------------------------------------------- */

static enum tn_status tell(struct tn_instance *x, struct tn_ort_value *const *values, const struct tn_teller *teller, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; !st && i < x->told_count; i++) {
        const struct tn_ort_told *t = &x->told[i];
        struct tn_tensor *v = NULL;
        st = tn_ort_value_read(x, values[i], true, &v, err); /* as an optional: whatever it is, it is not demanded */
        if (!st && v->count == 1) teller->tell(teller->user, tn_str_of(t->name), t->node, t->by, TN_STR(""), v->items[0]);
        tn_tensor_drop(v);
    }
    return st;
}

/* The same inputs once more, for the values inside alone. */
static enum tn_status ask(struct tn_instance *x, const struct tn_tensor_call *call, const char **names, struct tn_ort_value **values, struct tn_error *err)
{
    size_t in = 0;
    enum tn_status st = TN_OK;
    tn_ort_enter(x->ort, &x->memory);
    for (uint32_t i = 0; !st && i < x->input_count; i++) {
        if (!call->in[i]) continue;
        x->in_names[in] = x->inputs[i].name;
        st = tn_ort_value_of(x, call->in[i], &x->in_values[in], err);
        in++;
    }
    for (uint32_t i = 0; i < x->told_count; i++) names[i] = x->told[i].name;
    if (!st) {
        x->memory.refused = false;
        tn_ort_ignore(x->api, x->api->terminate_not(x->run_options));
        tn_ort_watch_begin_call(&x->watch, call->cancel, x->run_options, NULL);
        struct tn_ort_status *status = x->api->run(x->session, x->run_options, x->in_names, (const struct tn_ort_value *const *)x->in_values, in,
                                                   names, x->told_count, values);
        bool fired = tn_ort_watch_end_call(&x->watch);
        if (fired) st = tn_cancel_fail(call->cancel, TN_PHASE_EXECUTE, err);
        if (st) tn_ort_ignore(x->api, status);
        else st = tn_ort_fail(x->api, status, TN_PHASE_EXECUTE, x->program->texts, err);
    }
    tn_ort_leave(x->ort);
    for (size_t i = 0; i < in; i++) {
        x->api->value_release(x->in_values[i]);
        x->in_values[i] = NULL;
    }
    return st;
}

enum tn_status tn_ort_run_told(struct tn_instance *x, const struct tn_tensor_call *call, const struct tn_teller *teller, struct tn_error *err)
{
    enum tn_status st = tn_ort_run(x, call, err);
    if (st || x->told_count == 0) return st;
    struct tn_alloc *alloc = x->ctx->alloc;
    const char **names = tn_calloc(alloc, x->told_count, sizeof(*names));
    struct tn_ort_value **values = tn_calloc(alloc, x->told_count, sizeof(*values));
    if (!names || !values) st = tn_error_memory(err, TN_PHASE_EXECUTE, "asking for the values inside a graph");
    if (!st) st = ask(x, call, names, values, err);
    if (!st) st = tell(x, values, teller, err);
    for (uint32_t i = 0; values && i < x->told_count; i++) x->api->value_release(values[i]);
    tn_free(alloc, names);
    tn_free(alloc, values);
    return st;
}
