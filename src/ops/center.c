/*
 * CenterCropPad: the middle of a box, or the box in the middle of a larger one that is zero (or empty text) elsewhere. What
 * cannot be halved goes to the right.
 */
#include "ops/op.h"

#include <string.h>

static bool infer_center(struct tn_infer *x)
{
    const struct tn_shape *s;
    const struct tn_type *t = tn_in_type(x, 0);
    size_t axis_count;
    const int64_t *axes = tn_attr_ints(x->node, "axes", &axis_count);
    bool listed = tn_node_attr(x->node, "axes") != NULL;
    const tn_dim_t *want = NULL;
    uint32_t count = 0, at, seen = 0;
    tn_dim_t dims[TN_RANK];
    tn_out_unknown(x, 0, t ? t->element : TN_EL_NONE);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (!listed) axis_count = s->rank;
    bool known = tn_in_content(x, 1, &want, &count);
    if (known && count != axis_count) return tn_infer_refuse(x, "a size for each axis", "%u for %zu", count, axis_count);
    memcpy(dims, s->dims, sizeof(dims));
    for (size_t i = 0; i < axis_count; i++) {
        if (!tn_infer_axis(x, listed ? axes[i] : (int64_t)i, s->rank, &at)) return false;
        if (seen >> at & 1) return tn_infer_refuse(x, "each axis once", "axis %u twice", at);
        seen |= 1u << at;
        dims[at] = known ? want[i] : tn_dim_unknown(x->symbols);
    }
    if (x->running && !known) return tn_infer_refuse(x, "sizes from 0, at most 64 of them", "others");
    tn_out_tensor(x, 0, t->element, s->rank, dims);
    return true;
}

static bool run_center(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_tensor *y = r->out[0];
    if (!y) return tn_run_refuse(r, "sizes from 0 that fit memory", "others");
    size_t each = tn_element_size(y->element);
    bool text = y->element == TN_EL_STRING;
    if (!text) memset(y->data, 0, y->bytes);
    if (x->count == 0 || y->count == 0) return true;
    if (y->rank == 0) {
        if (text) return tn_tensor_set_text(y, 0, tn_tensor_texts(x)[0]) || tn_run_no_memory(r);
        memcpy(y->data, x->data, each);
        return true;
    }
    uint32_t last = y->rank - 1;
    uint64_t from[TN_RANK], to[TN_RANK], n[TN_RANK], rows = 1;
    for (uint32_t d = 0; d < y->rank; d++) {
        int64_t in = x->dims[d], out = y->dims[d];
        n[d] = (uint64_t)(in < out ? in : out);
        from[d] = in > out ? (uint64_t)(in - out) / 2 : 0;
        to[d] = out > in ? (uint64_t)(out - in) / 2 : 0;
        if (d < last) rows *= n[d];
    }
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t rest = row, a = 0, b = 0, a_step = 1, b_step = 1;
        for (uint32_t d = y->rank; d-- > 0;) {
            uint64_t i = d == last ? 0 : rest % n[d];
            if (d < last) rest /= n[d];
            a += (from[d] + i) * a_step;
            b += (to[d] + i) * b_step;
            a_step *= (uint64_t)x->dims[d];
            b_step *= (uint64_t)y->dims[d];
        }
        if (!text) memcpy((char *)y->data + b * each, (const char *)x->data + a * each, n[last] * each);
        for (uint64_t i = 0; text && i < n[last]; i++) {
            if (!tn_tensor_set_text(y, b + i, tn_tensor_texts(x)[a + i])) return tn_run_no_memory(r);
        }
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "CenterCropPad", .since = 18, .types = {{"T", TN_ELS_ALL & ~TN_ELS_PACKED}}, .infer = infer_center, .run = run_center},
};

const struct tn_operators tn_ops_center = {rows, sizeof(rows) / sizeof(rows[0])};
