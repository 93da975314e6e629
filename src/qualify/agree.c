/* How far two values of one output are apart. See the header. */
#include "qualify/agree.h"

#include <math.h>
#include <string.h>

struct tn_tolerance tn_tolerance_of(enum tn_element type, bool reduced)
{
    static const struct tn_tolerance exact = {0, 0, "integers, truth values and texts are equal or not"};
    static const struct tn_tolerance f32 = {1e-4, 1e-3, "float32: sums in another order round otherwise, more so through many layers"};
    static const struct tn_tolerance half = {1e-2, 1e-2, "float16: 11 bits, rounded after every operator"};
    static const struct tn_tolerance brain = {5e-2, 5e-2, "bfloat16: 8 bits, rounded after every operator or in every product"};
    switch (type) {
    case TN_EL_F32:
    case TN_EL_F64:
    case TN_EL_C64:
    case TN_EL_C128: return reduced ? brain : f32;
    case TN_EL_F16: return reduced ? brain : half;
    case TN_EL_BF16: return brain;
    default: return exact;
    }
}

static bool same_shape(const struct tn_operand *a, const struct tn_operand *b)
{
    if (a->rank != b->rank || a->count != b->count) return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return false;
    return true;
}

static void differ(struct tn_agreement *g, const char *why)
{
    g->agrees = false;
    if (!g->why) g->why = why;
}

static void compare_texts(const struct tn_operand *a, const struct tn_operand *b, struct tn_agreement *g)
{
    const struct tn_str *x = a->data, *y = b->data;
    g->count = a->count;
    for (uint64_t i = 0; i < a->count; i++) {
        if (tn_str_eq(x[i], y[i])) continue;
        if (g->beyond++ == 0) g->at = i;
    }
    g->same_bits = g->beyond == 0;
    if (g->beyond) differ(g, "texts differ");
}

struct sums {
    double dot, aa, bb, worst; /* worst: by how much the tolerance is passed, in its own measure */
};

/* Numbers that are none agree where they are none of the same kind. */
static bool compare_odd(double x, double y, struct tn_agreement *g)
{
    bool odd_x = !isfinite(x), odd_y = !isfinite(y);
    g->non_finite_a += odd_x;
    g->non_finite_b += odd_y;
    if (!odd_x && !odd_y) return false;
    bool alike = (isnan(x) && isnan(y)) || (isinf(x) && isinf(y) && signbit(x) == signbit(y));
    if (alike) return true;
    g->non_finite_apart++;
    if (g->non_finite_apart == 1 && g->beyond == 0) g->at = g->count, g->a = x, g->b = y;
    g->beyond++;
    return true;
}

static void compare_number(double x, double y, const struct tn_tolerance *t, struct sums *s, struct tn_agreement *g)
{
    double d = fabs(x - y), size = fabs(y), limit = t->absolute + t->relative * size;
    s->dot += x * y;
    s->aa += x * x;
    s->bb += y * y;
    if (d > g->max_abs) g->max_abs = d;
    if (size > t->absolute && d / size > g->max_rel) g->max_rel = d / size;
    if (d <= limit) return;
    double past = limit > 0 ? d / limit : d;
    if (g->beyond++ == 0 || past > s->worst) {
        s->worst = past;
        g->at = g->count;
        g->a = x;
        g->b = y;
    }
}

/* The first of the largest; numbers that are none are never it. */
static uint64_t argmax(const struct tn_operand *v, uint64_t from, uint64_t width)
{
    uint64_t best = UINT64_MAX;
    double most = 0;
    for (uint64_t i = 0; i < width; i++) {
        double x = tn_element_get(v->type, v->data, (size_t)(from + i));
        if (isnan(x) || (best != UINT64_MAX && !(x > most))) continue;
        best = i;
        most = x;
    }
    return best;
}

static void compare_rows(const struct tn_operand *a, const struct tn_operand *b, struct tn_agreement *g)
{
    uint64_t width = a->rank ? (uint64_t)a->dims[a->rank - 1] : 0;
    g->has_rows = width > 1 && tn_elements_have(TN_ELS_FLOAT, a->type);
    if (!g->has_rows) return;
    g->rows = a->count / width;
    for (uint64_t r = 0; r < g->rows; r++) g->same_argmax += argmax(a, r * width, width) == argmax(b, r * width, width);
}

static void compare_numbers(const struct tn_operand *a, const struct tn_operand *b, const struct tn_tolerance *t, struct tn_agreement *g)
{
    struct sums s = {0};
    size_t bytes = 0;
    bool whole = !tn_elements_have(TN_ELS_FLOAT | TN_ELS_F8 | TN_ELS(C64) | TN_ELS(C128), a->type);
    for (; g->count < a->count; g->count++) {
        size_t i = (size_t)g->count;
        /* beyond 2^53 doubles do not tell integers apart */
        bool same = whole && tn_element_get_int(a->type, a->data, i) == tn_element_get_int(b->type, b->data, i);
        double x = tn_element_get(a->type, a->data, i), y = tn_element_get(b->type, b->data, i);
        if (whole && !same && x == y) y = nextafter(y, INFINITY);
        if (!compare_odd(x, y, g)) compare_number(x, y, t, &s, g);
    }
    g->cosine = s.aa == 0 && s.bb == 0 ? 1 : s.aa == 0 || s.bb == 0 ? 0 : s.dot / (sqrt(s.aa) * sqrt(s.bb));
    if (fabs(g->cosine) > 1) g->cosine = copysign(1, g->cosine); /* by rounding */
    compare_rows(a, b, g);
    g->same_bits = a->count == 0 || (tn_element_bytes(a->type, a->count, &bytes) && memcmp(a->data, b->data, bytes) == 0);
    if (g->non_finite_apart) differ(g, "numbers that are not finite on one side alone");
    if (g->beyond) differ(g, "numbers beyond the tolerance");
}

void tn_agree(const struct tn_operand *a, const struct tn_operand *b, const struct tn_tolerance *t, struct tn_agreement *g)
{
    *g = (struct tn_agreement){.agrees = true, .cosine = 1};
    if (a->type != b->type) differ(g, "the types differ");
    else if (!same_shape(a, b)) differ(g, "the shapes differ");
    else if (a->type == TN_EL_STRING) compare_texts(a, b, g);
    else compare_numbers(a, b, t, g);
}

static void member_or_null(struct tn_json_writer *w, const char *key, bool has, double value)
{
    tn_jw_key(w, key);
    if (has) tn_jw_f64(w, value);
    else tn_jw_null(w);
}

void tn_agreement_write(struct tn_json_writer *w, const struct tn_agreement *g, const struct tn_tolerance *t)
{
    bool differs = g->beyond > 0;
    tn_jw_member_bool(w, "agrees", g->agrees);
    tn_jw_member_cstr(w, "why", g->why);
    tn_jw_member_u64(w, "compared", g->count);
    tn_jw_member_bool(w, "same_bits", g->same_bits);
    tn_jw_member_f64(w, "max_abs", g->max_abs);
    tn_jw_member_f64(w, "max_rel", g->max_rel);
    tn_jw_member_f64(w, "cosine", g->cosine);
    tn_jw_key(w, "argmax");
    if (g->has_rows) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "rows", g->rows);
        tn_jw_member_u64(w, "same", g->same_argmax);
        tn_jw_end_object(w);
    } else {
        tn_jw_null(w);
    }
    tn_jw_key(w, "non_finite");
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "first", g->non_finite_a);
    tn_jw_member_u64(w, "second", g->non_finite_b);
    tn_jw_member_u64(w, "apart", g->non_finite_apart);
    tn_jw_end_object(w);
    tn_jw_member_u64(w, "beyond", g->beyond);
    tn_jw_key(w, "worst");
    if (differs) {
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "at", g->at);
        member_or_null(w, "first", isfinite(g->a), g->a);
        member_or_null(w, "second", isfinite(g->b), g->b);
        tn_jw_end_object(w);
    } else {
        tn_jw_null(w);
    }
    tn_jw_key(w, "tolerance");
    tn_jw_begin_object(w);
    tn_jw_member_f64(w, "absolute", t->absolute);
    tn_jw_member_f64(w, "relative", t->relative);
    tn_jw_member_cstr(w, "why", t->why);
    tn_jw_end_object(w);
}
