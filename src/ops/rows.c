/* What operators over packed rows share; see the header. */
#include "ops/rows.h"

#include <string.h>

bool tn_rows_in(struct tn_infer *x, uint32_t i, tn_dim_t *rows, int64_t *width)
{
    const struct tn_shape *s;
    const struct tn_type *t = tn_in_type(x, i);
    if (!tn_in_shape(x, i, &s)) return false; /* whatever made it has been refused */
    if (t->element != TN_EL_F32 || s->rank != 2 || !tn_dim_known(s->dims[1]))
        return tn_infer_refuse(x, "float32 rows of known width", "operand %u of another type", i);
    *rows = s->dims[0];
    *width = s->dims[1];
    return true;
}

bool tn_rows_vector(struct tn_infer *x, uint32_t i, int64_t length, const char *what)
{
    const struct tn_shape *s;
    if (!tn_in_given(x, i)) return true;
    if (!tn_in_shape(x, i, &s) || s->rank != 1 || s->dims[0] != length || !tn_rows_stored(tn_in_type(x, i)->element))
        return tn_infer_refuse(x, "a vector as long as the rows are wide", "%s beside %lld columns", what, (long long)length);
    return true;
}

bool tn_rows_out(struct tn_infer *x, tn_dim_t rows, int64_t width)
{
    tn_dim_t dims[2] = {rows, width};
    if (width < 1) return tn_infer_refuse(x, "rows of one column at least", "%lld", (long long)width);
    tn_out_tensor(x, 0, TN_EL_F32, 2, dims);
    return true;
}

bool tn_rows_activation(const struct tn_node *node, enum tn_act *out)
{
    struct tn_str name = tn_attr_text(node, "activation");
    *out = TN_ACT_IDENTITY;
    for (unsigned i = 0; i < TN_ACTS; i++) {
        if (!tn_str_is(name, tn_act_name((enum tn_act)i))) continue;
        *out = (enum tn_act)i;
        return true;
    }
    return name.n == 0;
}

/* In front of the vectors. */
enum { HEAD = 64 };
_Static_assert(sizeof(struct tn_rows_vectors) <= HEAD, "what points to the vectors stands in front of them");

enum tn_status tn_rows_widen(struct tn_prepare *p, uint32_t first, uint32_t count, void **state)
{
    size_t floats = 0;
    for (uint32_t k = 0; k < count; k++) {
        const struct tn_tensor *t = first + k < p->node->in_count ? p->in[first + k] : NULL;
        floats += t ? (size_t)t->count : 0;
    }
    if (floats == 0) return TN_OK;
    struct tn_rows_vectors *v = tn_malloc_aligned(p->alloc, HEAD + floats * sizeof(float), 64);
    if (!v) return TN_INSUFFICIENT_MEMORY;
    *v = (struct tn_rows_vectors){{NULL}};
    float *at = (float *)(void *)((char *)v + HEAD);
    for (uint32_t k = 0; k < count; k++) {
        const struct tn_tensor *t = first + k < p->node->in_count ? p->in[first + k] : NULL;
        if (!t) continue;
        p->kernels->to_f32(tn_rows_type(t->element), t->data, at, (size_t)t->count);
        v->of[k] = at;
        at += t->count;
        p->keep[first + k] = false;
    }
    *state = v;
    return TN_OK;
}

bool tn_rows_kept(const struct tn_net *net, const struct tn_node *node, uint32_t first, uint32_t count, struct tn_kept *out)
{
    size_t floats = 0;
    for (uint32_t i = first; i < first + count && i < node->in_count; i++) {
        const struct tn_net_value *v = tn_net_at(net, node->in[i]);
        out->keep[i] = v == NULL;
        floats += v ? (size_t)v->type.shape.dims[0] : 0;
    }
    out->state = floats ? HEAD + floats * sizeof(float) : 0;
    return floats < SIZE_MAX / 8;
}

void tn_rows_release_vectors(struct tn_alloc *alloc, void *state)
{
    tn_free(alloc, state);
}

const float *tn_rows_vector_of(const struct tn_run *r, uint32_t k)
{
    const struct tn_rows_vectors *v = r->state;
    return v ? v->of[k] : NULL;
}
