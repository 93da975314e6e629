/*
 * Cast and CastLike. Floats to integers truncate; what does not fit wraps as the conversion through int64 does. Texts are
 * numbers as people write them, "NaN", "INF" and "-INF" included.
 */
#include "ops/typed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cast {
    const struct tn_tensor *x;
    struct tn_tensor *y;
    bool saturate;
    struct tn_str round_mode; /* of float8e8m0 */
    const struct tn_kernels *kernels;
};

static bool infer_cast(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    const tn_dim_t *content;
    uint32_t n;
    const struct tn_attr *to = tn_node_attr(x->node, "to");
    int64_t e = to ? to->as.i : 0;
    if (to && to->type == TN_ATTR_STRING) { /* version 1 names it */
        e = 0;
        for (unsigned k = 1; k < TN_EL_COUNT; k++) {
            const char *name = tn_onnx_element_name(k);
            bool same = strlen(name) == to->as.s.n;
            for (size_t i = 0; same && i < to->as.s.n; i++) same = (name[i] | 32) == (to->as.s.s[i] | 32);
            if (same) e = k;
        }
        if (tn_str_is(to->as.s, "FLOAT")) e = TN_EL_F32;
        if (tn_str_is(to->as.s, "DOUBLE")) e = TN_EL_F64;
    }
    if (e <= 0 || e >= TN_EL_COUNT) return tn_infer_refuse(x, "the number of an element type", "%lld", (long long)e);
    if (!t) return true;
    struct tn_type out = *t;
    out.element = (enum tn_element)e;
    tn_out_type(x, 0, &out);
    if (tn_elements_have(TN_ELS(I32) | TN_ELS(I64), out.element) && !x->running && tn_in_content(x, 0, &content, &n)) tn_out_content(x, 0, content, n);
    return true;
}

static bool infer_cast_like(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *like = tn_in_type(x, 1);
    if (!t || !like) return true;
    struct tn_type out = *t;
    out.element = like->element;
    tn_out_type(x, 0, &out);
    return true;
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

static bool is_word(struct tn_str s, const char *word)
{
    if (s.n != strlen(word)) return false;
    for (size_t i = 0; i < s.n; i++) {
        if ((s.s[i] | 32) != word[i]) return false;
    }
    return true;
}

/* A decimal number, whatever the host's locale: read through the JSON reader's rules would refuse ".5" and "+1". */
static bool number_of(struct tn_str s, double *out)
{
    bool negative = s.n && s.s[0] == '-';
    struct tn_str rest = s.n && (s.s[0] == '-' || s.s[0] == '+') ? (struct tn_str){s.s + 1, s.n - 1} : s;
    if (is_word(rest, "nan")) *out = NAN;
    else if (is_word(rest, "inf") || is_word(rest, "infinity")) *out = negative ? -INFINITY : INFINITY;
    else return tn_parse_f64(s, out);
    return true;
}

static bool text_to_number(struct tn_run *r, const struct cast *c)
{
    for (uint64_t i = 0; i < c->x->count; i++) {
        struct tn_str s = tn_tensor_texts(c->x)[i];
        double value;
        if (!number_of(s, &value)) return tn_run_refuse(r, "a number", "text %llu is none", (unsigned long long)i);
        tn_element_set(c->y->element, c->y->data, i, value, c->saturate);
    }
    return true;
}

static bool number_to_text(struct tn_run *r, const struct cast *c)
{
    char text[40];
    enum tn_element e = c->x->element;
    for (uint64_t i = 0; i < c->x->count; i++) {
        size_t n;
        double value = tn_element_get(e, c->x->data, i);
        if (tn_elements_have(TN_ELS_FLOAT, e) && !isfinite(value)) n = (size_t)snprintf(text, sizeof(text), "%s", isnan(value) ? "NaN" : value > 0 ? "INF" : "-INF");
        else if (tn_elements_have(TN_ELS_FLOAT, e)) n = e == TN_EL_F64 ? tn_format_f64(text, value) : tn_format_f32(text, (float)value);
        else if (e == TN_EL_BOOL) n = (size_t)snprintf(text, sizeof(text), "%d", value != 0);
        else n = (size_t)snprintf(text, sizeof(text), "%lld", (long long)tn_element_get_int(e, c->x->data, i));
        if (!tn_tensor_set_text(c->y, i, (struct tn_str){text, n})) return tn_run_no_memory(r);
    }
    return true;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

#define LOOP(X, Y, expr)                                                                           \
    do {                                                                                           \
        const X *in = c->x->data;                                                                  \
        Y *out = c->y->data;                                                                       \
        for (uint64_t i = begin; i < end; i++) out[i] = (expr);                                    \
    } while (0)

/* The conversions that graphs are full of. */
static bool cast_fast(const struct cast *c, uint64_t begin, uint64_t end)
{
    enum tn_element from = c->x->element, to = c->y->element;
    const bool widens = to == TN_EL_F32 && (from == TN_EL_F16 || from == TN_EL_BF16), narrows = from == TN_EL_F32 && (to == TN_EL_F16 || to == TN_EL_BF16);
    const enum tn_float_type half = from == TN_EL_F16 || to == TN_EL_F16 ? TN_FLOAT_F16 : TN_FLOAT_BF16;
    if (widens) c->kernels->to_f32(half, (const uint16_t *)c->x->data + begin, (float *)c->y->data + begin, (size_t)(end - begin));
    else if (narrows) c->kernels->from_f32(half, (const float *)c->x->data + begin, (uint16_t *)c->y->data + begin, (size_t)(end - begin));
    else if (from == TN_EL_I64 && to == TN_EL_I32) LOOP(int64_t, int32_t, (int32_t)in[i]);
    else if (from == TN_EL_I32 && to == TN_EL_I64) LOOP(int32_t, int64_t, in[i]);
    else if (from == TN_EL_I64 && to == TN_EL_F32) LOOP(int64_t, float, (float)in[i]);
    else if (from == TN_EL_I32 && to == TN_EL_F32) LOOP(int32_t, float, (float)in[i]);
    else if (from == TN_EL_U8 && to == TN_EL_F32) LOOP(uint8_t, float, in[i]);
    else if (from == TN_EL_I8 && to == TN_EL_F32) LOOP(int8_t, float, in[i]);
    else if (from == TN_EL_BOOL && to == TN_EL_F32) LOOP(uint8_t, float, in[i] != 0);
    else return false;
    return true;
}

/* To powers of two the standard rounds as the attribute says; "up" is away from zero. */
static double to_power(double value, struct tn_str mode)
{
    int exponent;
    if (!isfinite(value) || value <= 0) return value;
    double fraction = frexp(value, &exponent), low = ldexp(1, exponent - 1);
    if (fraction == 0.5) return value;
    if (tn_str_is(mode, "up")) return low * 2;
    if (tn_str_is(mode, "down")) return low;
    return fraction >= 0.75 ? low * 2 : low;
}

static void cast_items(void *user, uint64_t begin, uint64_t end)
{
    const struct cast *c = user;
    enum tn_element from = c->x->element, to = c->y->element;
    const tn_elements whole = TN_ELS_INT | TN_ELS(BOOL) | TN_ELS(U4) | TN_ELS(I4) | TN_ELS(U2) | TN_ELS(I2);
    if (cast_fast(c, begin, end)) return;
    for (uint64_t i = begin; i < end; i++) {
        if (tn_elements_have(whole, from) && tn_elements_have(whole, to)) {
            tn_element_set_int(to, c->y->data, i, tn_element_get_int(from, c->x->data, i));
            continue;
        }
        double value = tn_element_get(from, c->x->data, i);
        if (to == TN_EL_F8E8M0) value = to_power(value, c->round_mode);
        tn_element_set(to, c->y->data, i, value, c->saturate);
    }
}

static bool run_cast(struct tn_run *r)
{
    struct cast c = {r->in[0], r->out[0], tn_attr_int(r->node, "saturate", 1) != 0, tn_attr_text(r->node, "round_mode"), r->kernels};
    bool from_text = c.x->element == TN_EL_STRING, to_text = c.y->element == TN_EL_STRING;
    if ((from_text && to_text) || c.x->element == c.y->element) {
        tn_run_pass(r, 0, r->in[0]);
        return true;
    }
    if (from_text) return text_to_number(r, &c);
    if (to_text) return number_to_text(r, &c);
    if (tn_elements_have(TN_ELS_PACKED, c.y->element)) {
        memset(c.y->data, 0, c.y->bytes);
        cast_items(&c, 0, c.x->count); /* neighbours share bytes */
    } else {
        tn_run_items(r, c.x->count, 2, cast_items, &c);
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.name = "Cast", .since = 1, .infer = infer_cast, .run = run_cast},
    {.name = "CastLike", .since = 15, .infer = infer_cast_like, .run = run_cast},
};

const struct tn_operators tn_ops_cast = {rows, sizeof(rows) / sizeof(rows[0])};
