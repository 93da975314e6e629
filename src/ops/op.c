/* What operators' infer and run functions are written with; see the header. */
#include "ops/op.h"

#include "base/checked.h"
#include "tensor/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- rows --------------------------------------------------------------------------------------------------------- */

const struct tn_operator *tn_operator_find(struct tn_str domain, struct tn_str name, int64_t version)
{
    for (size_t g = 0; g < tn_operator_group_count; g++) {
        for (size_t i = 0; i < tn_operator_groups[g]->count; i++) {
            const struct tn_operator *op = &tn_operator_groups[g]->rows[i];
            if (tn_str_is(name, op->name) && tn_str_is(domain, op->domain ? op->domain : "ai.onnx") && version >= op->since &&
                (op->last == 0 || version <= op->last))
                return op;
        }
    }
    return NULL;
}

tn_elements tn_operator_elements(const struct tn_operator *op, const char *type_name)
{
    for (size_t i = 0; i < sizeof(op->types) / sizeof(op->types[0]) && op->types[i].name; i++) {
        if (strcmp(op->types[i].name, type_name) == 0) return op->types[i].elements;
    }
    return TN_ELS_ALL;
}

/* ---- operands ----------------------------------------------------------------------------------------------------- */

bool tn_infer_refuse(struct tn_infer *x, const char *expected, const char *format, ...)
{
    char found[256];
    va_list args;
    if (x->failed) return false;
    va_start(args, format);
    vsnprintf(found, sizeof(found), format, args);
    va_end(args);
    x->failed = true;
    tn_found(x->why, "%s", found);
    tn_expected(x->why, "%s", expected);
    return false;
}

bool tn_in_given(const struct tn_infer *x, uint32_t i)
{
    return i < x->in_count && x->types[i];
}

const struct tn_type *tn_in_type(const struct tn_infer *x, uint32_t i)
{
    return i < x->in_count ? x->types[i] : NULL;
}

bool tn_in_shape(const struct tn_infer *x, uint32_t i, const struct tn_shape **out)
{
    const struct tn_type *t = tn_in_type(x, i);
    *out = t ? &t->shape : NULL;
    return t && t->kind == TN_KIND_TENSOR && t->shape.known;
}

const struct tn_tensor *tn_in_data(const struct tn_infer *x, uint32_t i)
{
    return i < x->in_count && x->data ? x->data[i] : NULL;
}

static bool is_integer(enum tn_element e)
{
    return tn_elements_have(TN_ELS_INT | TN_ELS(BOOL), e);
}

/* What is known of a value's integers; `rest`: -1 in them is TN_DIM_REST. */
static bool content_of(struct tn_infer *x, uint32_t i, bool rest, const tn_dim_t **out, uint32_t *count)
{
    const struct tn_tensor *t = tn_in_data(x, i);
    *out = NULL;
    *count = 0;
    if (!t) {
        const struct tn_net_value *v = i < x->in_count && x->values ? x->values[i] : NULL;
        if (!v || !v->content) return false;
        for (uint32_t k = 0; k < v->content_count; k++) {
            if (v->content[k] == TN_DIM_REST && !rest) return false;
        }
        *out = v->content;
        *count = v->content_count;
        return true;
    }
    if (t->kind != TN_KIND_TENSOR || t->rank > 1 || t->count > TN_CONTENT || !is_integer(t->element)) return false;
    tn_dim_t *numbers = x->running ? x->scratch[x->scratch_used++ % TN_INFER_SCRATCH]
                                   : tn_arena_array(x->arena, (size_t)t->count + 1, sizeof(*numbers));
    if (!numbers) {
        x->symbols->failed = true;
        return false;
    }
    for (uint64_t k = 0; k < t->count; k++) {
        numbers[k] = tn_element_get_int(t->element, t->data, k);
        if (rest && numbers[k] == -1) numbers[k] = TN_DIM_REST;
        else if (numbers[k] < 0) return false; /* a negative number would read as a symbol */
    }
    *out = numbers;
    *count = (uint32_t)t->count;
    return true;
}

bool tn_in_content(struct tn_infer *x, uint32_t i, const tn_dim_t **out, uint32_t *count)
{
    return content_of(x, i, false, out, count);
}

bool tn_in_sizes(struct tn_infer *x, uint32_t i, const tn_dim_t **out, uint32_t *count)
{
    return !x->running && content_of(x, i, true, out, count);
}

bool tn_in_numbers(struct tn_infer *x, uint32_t i, int64_t *out, uint32_t cap, uint32_t *count)
{
    const struct tn_tensor *t = tn_in_data(x, i);
    const tn_dim_t *content;
    *count = 0;
    if (!t) {
        uint32_t n;
        if (!tn_in_content(x, i, &content, &n) || n > cap) return false;
        for (uint32_t k = 0; k < n; k++) {
            if (!tn_dim_known(content[k])) return false;
            out[k] = content[k];
        }
        *count = n;
        return true;
    }
    if (t->kind != TN_KIND_TENSOR || t->rank > 1 || t->count > cap || t->element == TN_EL_STRING)
        return tn_infer_refuse(x, "a short list of numbers", "operand %u of rank %u with %llu values", i, t->rank, (unsigned long long)t->count);
    for (uint64_t k = 0; k < t->count; k++) out[k] = tn_element_get_int(t->element, t->data, k);
    *count = (uint32_t)t->count;
    return true;
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

void tn_out_tensor(struct tn_infer *x, uint32_t k, enum tn_element element, uint32_t rank, const tn_dim_t *dims)
{
    if (k >= x->out_count || rank > TN_RANK) return;
    x->out[k] = (struct tn_type){.kind = TN_KIND_TENSOR, .element = element, .shape = {.known = true, .rank = rank}};
    if (rank) memcpy(x->out[k].shape.dims, dims, rank * sizeof(*dims));
}

void tn_out_unknown(struct tn_infer *x, uint32_t k, enum tn_element element)
{
    if (k < x->out_count) x->out[k] = (struct tn_type){.kind = TN_KIND_TENSOR, .element = element};
}

void tn_out_type(struct tn_infer *x, uint32_t k, const struct tn_type *type)
{
    if (k < x->out_count) x->out[k] = *type;
}

void tn_out_content(struct tn_infer *x, uint32_t k, const tn_dim_t *content, uint32_t count)
{
    if (k >= x->out_count || x->running || count > TN_CONTENT) return;
    tn_dim_t *copy = tn_arena_array(x->arena, (size_t)count + 1, sizeof(*copy));
    if (!copy) {
        x->symbols->failed = true;
        return;
    }
    if (count) memcpy(copy, content, count * sizeof(*copy));
    x->content[k] = copy;
    x->content_count[k] = count;
}

bool tn_infer_same(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (t) tn_out_type(x, 0, t);
    return true;
}

static bool broadcast_dim(struct tn_infer *x, tn_dim_t a, tn_dim_t b, tn_dim_t *out)
{
    if (a == b || b == 1) *out = a;
    else if (a == 1) *out = b;
    else if (tn_dim_known(a) && tn_dim_known(b))
        return tn_infer_refuse(x, "dimensions that are equal, or 1", "%lld beside %lld", (long long)a, (long long)b);
    /* One of them is a symbol: it can only be 1 or the number beside it. */
    else if (tn_dim_known(a) || tn_dim_known(b)) *out = tn_dim_known(a) ? a : b;
    else if (tn_dim_is_least_of(x->symbols, b, a)) *out = a;
    else if (tn_dim_is_least_of(x->symbols, a, b)) *out = b;
    else *out = tn_dim_unknown(x->symbols);
    return true;
}

bool tn_infer_broadcast(struct tn_infer *x, const struct tn_shape *a, const struct tn_shape *b, struct tn_shape *out)
{
    if (!a->known || !b->known) {
        *out = (struct tn_shape){.known = false};
        return true;
    }
    struct tn_shape result = {.known = true, .rank = a->rank > b->rank ? a->rank : b->rank};
    for (uint32_t i = 0; i < result.rank; i++) {
        uint32_t from_end = result.rank - i;
        tn_dim_t x1 = from_end <= a->rank ? a->dims[a->rank - from_end] : 1, x2 = from_end <= b->rank ? b->dims[b->rank - from_end] : 1;
        if (!broadcast_dim(x, x1, x2, &result.dims[i])) return false;
    }
    *out = result;
    return true;
}

bool tn_infer_elementwise(struct tn_infer *x, uint32_t count, enum tn_element e)
{
    struct tn_shape shape = {.known = true};
    for (uint32_t i = 0; i < count; i++) {
        const struct tn_type *t = tn_in_type(x, i);
        if (t && !tn_infer_broadcast(x, &shape, &t->shape, &shape)) return false;
    }
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = e, .shape = shape});
    return true;
}

bool tn_infer_axis(struct tn_infer *x, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return tn_infer_refuse(x, "an axis of the operand", "axis %lld of rank %u", (long long)axis, rank);
    *out = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
    return true;
}

/* ---- attributes --------------------------------------------------------------------------------------------------- */

static const struct tn_schema_attr *default_of(const struct tn_node *node, const char *name)
{
    const struct tn_schema_attr *a = node->schema ? tn_schema_attr_find(node->schema, tn_str_of(name)) : NULL;
    return a && a->has_default ? a : NULL;
}

int64_t tn_attr_int(const struct tn_node *node, const char *name, int64_t otherwise)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    const struct tn_schema_attr *d = a ? NULL : default_of(node, name);
    return a ? a->as.i : d ? (int64_t)d->number : otherwise;
}

double tn_attr_float(const struct tn_node *node, const char *name, double otherwise)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    const struct tn_schema_attr *d = a ? NULL : default_of(node, name);
    return a ? a->as.f : d ? d->number : otherwise;
}

struct tn_str tn_attr_text(const struct tn_node *node, const char *name)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    const struct tn_schema_attr *d = a ? NULL : default_of(node, name);
    return a ? a->as.s : d && d->text ? tn_str_of(d->text) : TN_STR("");
}

const int64_t *tn_attr_ints(const struct tn_node *node, const char *name, size_t *count)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    const struct tn_schema_attr *d = a ? NULL : default_of(node, name);
    *count = a ? a->count : d ? d->int_count : 0;
    return a ? a->as.ints : d ? d->ints : NULL;
}

const float *tn_attr_floats(const struct tn_node *node, const char *name, size_t *count)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    *count = a ? a->count : 0;
    return a ? a->as.floats : NULL;
}

const struct tn_str *tn_attr_texts(const struct tn_node *node, const char *name, size_t *count)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    *count = a ? a->count : 0;
    return a ? a->as.strings : NULL;
}

struct tn_net *tn_attr_graph(const struct tn_node *node, const char *name)
{
    const struct tn_attr *a = tn_node_attr(node, name);
    return a && a->type == TN_ATTR_GRAPH && a->count ? a->as.graphs[0] : NULL;
}

/* ---- execution ---------------------------------------------------------------------------------------------------- */

bool tn_run_refuse(struct tn_run *r, const char *expected, const char *format, ...)
{
    char found[256];
    va_list args;
    if (r->failed) return false;
    va_start(args, format);
    vsnprintf(found, sizeof(found), format, args);
    va_end(args);
    r->failed = TN_INVALID_REQUEST;
    tn_found(r->why, "%s", found);
    tn_expected(r->why, "%s", expected);
    return false;
}

bool tn_run_no_memory(struct tn_run *r)
{
    if (!r->failed) r->failed = TN_INSUFFICIENT_MEMORY;
    return false;
}

struct tn_tensor *tn_run_output(struct tn_run *r, uint32_t k, enum tn_element element, uint32_t rank, const int64_t *dims)
{
    struct tn_tensor *t = tn_tensor_new(r->heap, element, rank, dims);
    if (!t) {
        tn_run_no_memory(r);
        return NULL;
    }
    tn_tensor_drop(r->out[k]);
    r->out[k] = t;
    return t;
}

void tn_run_pass(struct tn_run *r, uint32_t k, struct tn_tensor *t)
{
    tn_tensor_keep(t);
    tn_tensor_drop(r->out[k]);
    r->out[k] = t;
}

void *tn_run_scratch(struct tn_run *r, size_t count, size_t each)
{
    size_t bytes;
    void *p = tn_mul(count, each, &bytes) ? tn_heap_take(r->heap, bytes) : NULL;
    if (!p) tn_run_no_memory(r);
    return p;
}

bool tn_run_need_rows(struct tn_run *r, uint32_t i, const int64_t *index, size_t count)
{
    const struct tn_tensor *t = r->in[i];
    if (!t->pages || t->dims[0] == 0) return true;
    enum tn_status st = tn_pages_need(t->pages, index, count, t->bytes / (size_t)t->dims[0]);
    if (!st) return true;
    if (!r->failed) r->failed = st;
    tn_found(r->why, st == TN_ARTIFACT_STALE ? "a file of the package that has changed since it was loaded" : "a file of the package that cannot be read");
    tn_expected(r->why, "the file as it was");
    return false;
}

/* ---- threads ------------------------------------------------------------------------------------------------------ */

/* Below this many simple operations a second thread costs more than it brings (waking it takes tens of microseconds). */
enum { ALONE = 1 << 16 };

struct items {
    tn_items_fn *fn;
    void *user;
    uint64_t count;
};

static void run_share(void *user, unsigned rank, unsigned size)
{
    struct items *w = user;
    uint64_t each = w->count / size, rest = w->count % size;
    uint64_t begin = each * rank + (rank < rest ? rank : rest), end = begin + each + (rank < rest);
    if (begin < end) w->fn(w->user, begin, end);
}

void tn_run_items(struct tn_run *r, uint64_t count, uint64_t cost, tn_items_fn *fn, void *user)
{
    uint64_t work;
    if (count == 0) return;
    if (!tn_mul64(count, cost ? cost : 1, &work)) work = UINT64_MAX;
    if (r->threads < 2 || count < 2 || work < ALONE) {
        fn(user, 0, count);
        return;
    }
    struct items w = {fn, user, count};
    tn_pool_run(r->pool, run_share, &w, r->threads < count ? r->threads : (unsigned)count);
}

void tn_run_team(struct tn_run *r, uint64_t work, tn_pool_fn *fn, void *user)
{
    tn_pool_run(work < ALONE ? NULL : r->pool, fn, user, r->threads);
}
