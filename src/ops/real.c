/* Widening and rounding around computations in float or double; see the header. */
#include "ops/real.h"

void tn_reals_begin(struct tn_reals *s, struct tn_run *r, enum tn_element like)
{
    *s = (struct tn_reals){.r = r, .wide = like == TN_EL_F64};
}

static enum tn_element computed(const struct tn_reals *s)
{
    return s->wide ? TN_EL_F64 : TN_EL_F32;
}

void *tn_reals_scratch(struct tn_reals *s, size_t count)
{
    if (s->count == sizeof(s->owned) / sizeof(s->owned[0])) {
        tn_run_no_memory(s->r);
        return NULL;
    }
    void *p = tn_run_scratch(s->r, count ? count : 1, s->wide ? sizeof(double) : sizeof(float));
    if (p) s->owned[s->count++] = p;
    return p;
}

/* ---- conversion --------------------------------------------------------------------------------------------------- */

struct convert {
    const struct tn_kernels *kernels;
    enum tn_element from, to;
    const void *src;
    void *dst;
};

static enum tn_float_type half_type(enum tn_element e)
{
    return e == TN_EL_F16 ? TN_FLOAT_F16 : TN_FLOAT_BF16;
}

static bool is_half(enum tn_element e)
{
    return e == TN_EL_F16 || e == TN_EL_BF16;
}

static void convert_items(void *user, uint64_t begin, uint64_t end)
{
    const struct convert *c = user;
    size_t n = (size_t)(end - begin);
    if (is_half(c->from) && c->to == TN_EL_F32) {
        c->kernels->to_f32(half_type(c->from), (const uint16_t *)c->src + begin, (float *)c->dst + begin, n);
    } else if (is_half(c->to) && c->from == TN_EL_F32) {
        c->kernels->from_f32(half_type(c->to), (const float *)c->src + begin, (uint16_t *)c->dst + begin, n);
    } else if (c->from == TN_EL_F32 && c->to == TN_EL_F64) {
        for (uint64_t i = begin; i < end; i++) ((double *)c->dst)[i] = (double)((const float *)c->src)[i];
    } else if (c->from == TN_EL_F64 && c->to == TN_EL_F32) {
        for (uint64_t i = begin; i < end; i++) ((float *)c->dst)[i] = (float)((const double *)c->src)[i];
    } else if (tn_elements_have(TN_ELS_INT, c->from) && tn_elements_have(TN_ELS_INT, c->to)) {
        for (uint64_t i = begin; i < end; i++) tn_element_set_int(c->to, c->dst, i, tn_element_get_int(c->from, c->src, i));
    } else {
        for (uint64_t i = begin; i < end; i++) tn_element_set(c->to, c->dst, i, tn_element_get(c->from, c->src, i), true);
    }
}

static void convert(struct tn_run *r, enum tn_element from, const void *src, enum tn_element to, void *dst, uint64_t count)
{
    struct convert c = {r->kernels, from, to, src, dst};
    /* Elements below a byte share one with their neighbours: one thread. */
    bool packed = tn_elements_have(TN_ELS_PACKED, to);
    if (packed) convert_items(&c, 0, count);
    else tn_run_items(r, count, 1, convert_items, &c);
}

/* ---- operands ----------------------------------------------------------------------------------------------------- */

const void *tn_reals_of(struct tn_reals *s, const struct tn_tensor *t)
{
    if (!t || !tn_reals_good(s)) return NULL;
    if (t->element == computed(s)) return t->data;
    void *p = tn_reals_scratch(s, t->count);
    if (p) convert(s->r, t->element, t->data, computed(s), p, t->count);
    return p;
}

const void *tn_reals_in(struct tn_reals *s, uint32_t i)
{
    return i < s->r->in_count ? tn_reals_of(s, s->r->in[i]) : NULL;
}

void *tn_reals_out(struct tn_reals *s, uint32_t k)
{
    struct tn_tensor *t = k < s->r->out_count && s->r->wanted[k] ? s->r->out[k] : NULL;
    if (!t || !tn_reals_good(s)) return NULL;
    if (t->element == computed(s)) return t->data;
    return s->out[k] = tn_reals_scratch(s, t->count);
}

bool tn_reals_end(struct tn_reals *s)
{
    for (uint32_t k = 0; tn_reals_good(s) && k < sizeof(s->out) / sizeof(s->out[0]); k++) {
        if (!s->out[k]) continue;
        struct tn_tensor *t = s->r->out[k];
        convert(s->r, computed(s), s->out[k], t->element, t->data, t->count);
    }
    for (unsigned i = 0; i < s->count; i++) tn_heap_give(s->r->heap, s->owned[i]);
    return tn_reals_good(s);
}

struct tn_rows tn_rows_of(const struct tn_tensor *t, uint32_t axis)
{
    struct tn_rows rows = {1, 1, 1};
    if (t->count == 0) rows.outer = 0; /* the other dimensions may be anything */
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i < axis) rows.outer *= (uint64_t)t->dims[i];
        else if (i == axis) rows.axis = (uint64_t)t->dims[i];
        else rows.inner *= (uint64_t)t->dims[i];
    }
    return rows;
}
