/*
 * Operators of two operands that broadcast, and of any number of them (Sum, Max ...). Half precision computes in float32
 * and rounds once. Integers wrap; a division by zero of integers is refused, since it has no value.
 *
 * Before version 7 a second operand of fewer dimensions is aligned at `axis` when `broadcast` is set.
 */
#include "ops/broadcast.h"
#include "ops/typed.h"

#include <math.h>
#include <string.h>

/* ---- inference ---------------------------------------------------------------------------------------------------- */

/*
 * Where the second operand of the old alignment stands; false: at the end, as ever. A slope of PRelu for each channel was
 * a list before version 7.
 */
static bool old_axis(const struct tn_node *n, uint32_t rank, uint32_t second, int64_t *out)
{
    const struct tn_attr *axis = tn_node_attr(n, "axis");
    if (!axis && n->version < 7 && second == 1 && rank > 1 && tn_str_is(n->type, "PRelu")) *out = 1;
    else if (axis) *out = axis->as.i < 0 ? axis->as.i + rank : axis->as.i;
    else return false;
    return true;
}

/* The second operand's shape with the ones that the old alignment means. */
static bool aligned(struct tn_infer *x, const struct tn_shape *a, const struct tn_shape *b, struct tn_shape *out)
{
    int64_t at;
    *out = *b;
    if (!a->known || !b->known || !old_axis(x->node, a->rank, b->rank, &at)) return true;
    if (at < 0 || at + b->rank > a->rank) return tn_infer_refuse(x, "an axis at which the second operand fits", "axis %lld", (long long)at);
    if (b->rank == 1 && b->dims[0] == 1) return true;
    while (out->rank + (uint64_t)at < a->rank) out->dims[out->rank++] = 1;
    return true;
}

static bool infer_pair(struct tn_infer *x, bool to_bool)
{
    const struct tn_type *a = tn_in_type(x, 0), *b = tn_in_type(x, 1);
    struct tn_shape second, shape;
    if (!a || !b) return true;
    second = b->shape;
    if (x->node->version < 7 && !aligned(x, &a->shape, &b->shape, &second)) return false;
    if (!tn_infer_broadcast(x, &a->shape, &second, &shape)) return false;
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_TENSOR, .element = to_bool ? TN_EL_BOOL : a->element, .shape = shape});
    return true;
}

/* Sums, differences, products and quotients of dimensions are dimensions. */
static void content_pair(struct tn_infer *x, tn_dim_t (*fn)(struct tn_symbols *, tn_dim_t, tn_dim_t))
{
    const tn_dim_t *a, *b;
    tn_dim_t out[TN_CONTENT];
    uint32_t n, m;
    if (x->running || !tn_in_content(x, 0, &a, &n) || !tn_in_content(x, 1, &b, &m) || n == 0 || m == 0) return;
    if (n != m && n != 1 && m != 1) return;
    uint32_t count = n > m ? n : m;
    for (uint32_t i = 0; i < count; i++) out[i] = fn(x->symbols, a[n == 1 ? 0 : i], b[m == 1 ? 0 : i]);
    tn_out_content(x, 0, out, count);
}

static bool infer_add(struct tn_infer *x)
{
    content_pair(x, tn_dim_add);
    return infer_pair(x, false);
}

static bool infer_sub(struct tn_infer *x)
{
    content_pair(x, tn_dim_sub);
    return infer_pair(x, false);
}

/* The same where -1 may stand among them (TN_DIM_REST): it is known times one alone. */
static tn_dim_t times(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    if (a != TN_DIM_REST && b != TN_DIM_REST) return tn_dim_mul(s, a, b);
    return a == 1 || b == 1 ? TN_DIM_REST : tn_dim_unknown(s);
}

/* 1, 0, or below 0: not known. */
static tn_dim_t equal(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    if (a == b) return 1;
    if (tn_dim_known(a) && tn_dim_known(b)) return 0;
    if (a == TN_DIM_REST && tn_dim_not_negative(s, b)) return 0;
    return b == TN_DIM_REST && tn_dim_not_negative(s, a) ? 0 : -1;
}

static void sizes_pair(struct tn_infer *x, tn_dim_t (*fn)(struct tn_symbols *, tn_dim_t, tn_dim_t), bool truth)
{
    const tn_dim_t *a, *b;
    tn_dim_t out[TN_CONTENT];
    uint32_t n, m;
    if (!tn_in_sizes(x, 0, &a, &n) || !tn_in_sizes(x, 1, &b, &m) || n == 0 || m == 0 || (n != m && n != 1 && m != 1)) return;
    uint32_t count = n > m ? n : m;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = fn(x->symbols, a[n == 1 ? 0 : i], b[m == 1 ? 0 : i]);
        if (truth && out[i] < 0) return;
    }
    tn_out_content(x, 0, out, count);
}

static bool infer_mul(struct tn_infer *x)
{
    sizes_pair(x, times, false);
    return infer_pair(x, false);
}

static bool infer_div(struct tn_infer *x)
{
    content_pair(x, tn_dim_div);
    return infer_pair(x, false);
}

static bool infer_arithmetic(struct tn_infer *x)
{
    return infer_pair(x, false);
}

static bool infer_equal(struct tn_infer *x)
{
    sizes_pair(x, equal, true);
    return infer_pair(x, true);
}

static bool infer_comparison(struct tn_infer *x)
{
    return infer_pair(x, true);
}

static bool infer_variadic(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    return tn_infer_elementwise(x, x->in_count, t ? t->element : TN_EL_NONE);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

typedef void pair_fn(const void *a, const void *b, void *y, size_t n, bool a_moves, bool b_moves);

/* One loop for each way in which operands move: the compiler then knows its strides. */
#define PAIR(name, el, T, C, load, U, store, expr)                                                 \
    static void name##_##el(const void *pa, const void *pb, void *py, size_t n, bool am, bool bm)  \
    {                                                                                              \
        const T *a = pa, *b = pb;                                                                  \
        U *y = py;                                                                                 \
        if (am && bm) {                                                                            \
            for (size_t i = 0; i < n; i++) {                                                       \
                C l = load(a[i]), r = load(b[i]);                                                  \
                y[i] = store(expr);                                                                \
            }                                                                                      \
        } else if (am) {                                                                           \
            C r = load(b[0]);                                                                      \
            for (size_t i = 0; i < n; i++) {                                                       \
                C l = load(a[i]);                                                                  \
                y[i] = store(expr);                                                                \
            }                                                                                      \
        } else {                                                                                   \
            C l = load(a[0]);                                                                      \
            for (size_t i = 0; i < n; i++) {                                                       \
                C r = load(b[bm ? i : 0]);                                                         \
                y[i] = store(expr);                                                                \
            }                                                                                      \
        }                                                                                          \
    }

#define FLOATS(name, f32, f64)                                                                     \
    PAIR(name, F32, float, float, TN_AS_IS, float, (float), f32)                                   \
    PAIR(name, F64, double, double, TN_AS_IS, double, (double), f64)
/* Arithmetic in the unsigned type of the same width wraps, as the hardware does. */
#define INTS(name, expr, wide, natural)                                                            \
    PAIR(name, I8, int8_t, int32_t, TN_AS_IS, int8_t, (int8_t), expr)                              \
    PAIR(name, I16, int16_t, int32_t, TN_AS_IS, int16_t, (int16_t), expr)                          \
    PAIR(name, I32, int32_t, int64_t, TN_AS_IS, int32_t, (int32_t), expr)                          \
    PAIR(name, I64, int64_t, int64_t, TN_AS_IS, int64_t, (int64_t), wide)                         \
    PAIR(name, U8, uint8_t, uint32_t, TN_AS_IS, uint8_t, (uint8_t), natural)                          \
    PAIR(name, U16, uint16_t, uint32_t, TN_AS_IS, uint16_t, (uint16_t), natural)                      \
    PAIR(name, U32, uint32_t, uint64_t, TN_AS_IS, uint32_t, (uint32_t), natural)                      \
    PAIR(name, U64, uint64_t, uint64_t, TN_AS_IS, uint64_t, (uint64_t), natural)
#define TRUTHS(name, expr)                                                                         \
    PAIR(name, F32, float, float, TN_AS_IS, uint8_t, (uint8_t), expr)                              \
    PAIR(name, F64, double, double, TN_AS_IS, uint8_t, (uint8_t), expr)                            \
    PAIR(name, I8, int8_t, int32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                            \
    PAIR(name, I16, int16_t, int32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                          \
    PAIR(name, I32, int32_t, int32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                          \
    PAIR(name, I64, int64_t, int64_t, TN_AS_IS, uint8_t, (uint8_t), expr)                          \
    PAIR(name, U8, uint8_t, uint32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                          \
    PAIR(name, U16, uint16_t, uint32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                        \
    PAIR(name, U32, uint32_t, uint32_t, TN_AS_IS, uint8_t, (uint8_t), expr)                        \
    PAIR(name, U64, uint64_t, uint64_t, TN_AS_IS, uint8_t, (uint8_t), expr)
#define BITS(name, expr)                                                                           \
    PAIR(name, U8, uint8_t, uint8_t, TN_AS_IS, uint8_t, (uint8_t), expr)                           \
    PAIR(name, U16, uint16_t, uint16_t, TN_AS_IS, uint16_t, (uint16_t), expr)                      \
    PAIR(name, U32, uint32_t, uint32_t, TN_AS_IS, uint32_t, (uint32_t), expr)                      \
    PAIR(name, U64, uint64_t, uint64_t, TN_AS_IS, uint64_t, (uint64_t), expr)

#define OF_FLOATS(n) [TN_EL_F32] = n##_F32, [TN_EL_F64] = n##_F64 /* half precision: half_row */
#define OF_INTS(n)                                                                                 \
    [TN_EL_I8] = n##_I8, [TN_EL_I16] = n##_I16, [TN_EL_I32] = n##_I32, [TN_EL_I64] = n##_I64, [TN_EL_U8] = n##_U8,  \
    [TN_EL_U16] = n##_U16, [TN_EL_U32] = n##_U32, [TN_EL_U64] = n##_U64
/* Two's complement: the bits of signed and unsigned are the same. */
#define OF_BITS(n)                                                                                 \
    [TN_EL_U8] = n##_U8, [TN_EL_U16] = n##_U16, [TN_EL_U32] = n##_U32, [TN_EL_U64] = n##_U64, [TN_EL_I8] = n##_U8,  \
    [TN_EL_I16] = n##_U16, [TN_EL_I32] = n##_U32, [TN_EL_I64] = n##_U64

/* NaN wins in Max and Min, as numpy's maximum has it. */
#define MAX_OF(l, r) ((l) > (r) || (l) != (l) ? (l) : (r))
#define MIN_OF(l, r) ((l) < (r) || (l) != (l) ? (l) : (r))

FLOATS(add, l + r, l + r)
INTS(add, l + r, (uint64_t)l + (uint64_t)r, l + r)
FLOATS(sub, l - r, l - r)
INTS(sub, l - r, (uint64_t)l - (uint64_t)r, l - r)
FLOATS(mul, l * r, l * r)
INTS(mul, l * r, (uint64_t)l * (uint64_t)r, l * r)
FLOATS(quotient, l / r, l / r)
INTS(quotient, l / r, r == -1 ? -(uint64_t)l : (uint64_t)(l / r), l / r)
FLOATS(larger, MAX_OF(l, r), MAX_OF(l, r))
INTS(larger, l > r ? l : r, l > r ? l : r, l > r ? l : r)
FLOATS(smaller, MIN_OF(l, r), MIN_OF(l, r))
INTS(smaller, l < r ? l : r, l < r ? l : r, l < r ? l : r)
/* A remainder of 0 has the divisor's sign too. */
static float mod_f32(float l, float r)
{
    float rest = fmodf(l, r);
    return rest == 0 ? copysignf(0, r) : (rest < 0) != (r < 0) ? rest + r : rest;
}

static double mod_f64(double l, double r)
{
    double rest = fmod(l, r);
    return rest == 0 ? copysign(0, r) : (rest < 0) != (r < 0) ? rest + r : rest;
}

/* Mod: the sign of the divisor (Python's %); fmod: of the dividend (C's). */
FLOATS(fmod, fmodf(l, r), fmod(l, r))
INTS(fmod, l % r, r == -1 ? 0 : (uint64_t)(l % r), l % r)
FLOATS(mod, mod_f32(l, r), mod_f64(l, r))
INTS(mod, l % r != 0 && (l % r < 0) != (r < 0) ? l % r + r : l % r,
     r == -1 ? 0 : (uint64_t)(l % r != 0 && (l % r < 0) != (r < 0) ? l % r + r : l % r), l % r)
/* x < 0 ? slope * x : x */
FLOATS(prelu, l < 0 ? l * r : l, l < 0 ? l * r : l)
INTS(prelu, l < 0 ? l * r : l, l < 0 ? (uint64_t)l * (uint64_t)r : (uint64_t)l, r ? l : l)
TRUTHS(equal, l == r)
TRUTHS(less, l < r)
TRUTHS(greater, l > r)
TRUTHS(at_most, l <= r)
TRUTHS(at_least, l >= r)
BITS(bit_and, l & r)
BITS(bit_or, l | r)
BITS(bit_xor, l ^ r)
/* A shift by the width or more has nothing left. */
BITS(shift_left, r >= sizeof(l) * 8 ? 0 : l << r)
BITS(shift_right, r >= sizeof(l) * 8 ? 0 : l >> r)
/* Of signed numbers the sign fills in from the left; a negative shift counts as more than the width. */
#define SHIFT_OF(l, r, bits) ((l) >= 0 ? ((uint64_t)(r) >= (bits) ? 0 : (l) >> (r)) : ~((uint64_t)(r) >= (bits) ? 0 : ~(l) >> (r)))
PAIR(shift_right, I8, int8_t, int64_t, TN_AS_IS, int8_t, (int8_t), SHIFT_OF(l, r, 8))
PAIR(shift_right, I16, int16_t, int64_t, TN_AS_IS, int16_t, (int16_t), SHIFT_OF(l, r, 16))
PAIR(shift_right, I32, int32_t, int64_t, TN_AS_IS, int32_t, (int32_t), SHIFT_OF(l, r, 32))
PAIR(shift_right, I64, int64_t, int64_t, TN_AS_IS, int64_t, (int64_t), SHIFT_OF(l, r, 64))
PAIR(truth_and, BOOL, uint8_t, uint8_t, TN_AS_IS, uint8_t, (uint8_t), l && r)
PAIR(truth_or, BOOL, uint8_t, uint8_t, TN_AS_IS, uint8_t, (uint8_t), l || r)
PAIR(truth_xor, BOOL, uint8_t, uint8_t, TN_AS_IS, uint8_t, (uint8_t), !l != !r)
PAIR(truth_equal, BOOL, uint8_t, uint8_t, TN_AS_IS, uint8_t, (uint8_t), !l == !r)
PAIR(text_equal, STRING, struct tn_str, struct tn_str, TN_AS_IS, uint8_t, (uint8_t), tn_str_eq(l, r))

#define NUMBERS(n) {OF_FLOATS(n), OF_INTS(n)}
#define TABLE(n, ...) static pair_fn *const n[TN_EL_COUNT] = __VA_ARGS__
TABLE(adds, NUMBERS(add));
TABLE(subs, NUMBERS(sub));
TABLE(muls, NUMBERS(mul));
TABLE(quotients, NUMBERS(quotient));
TABLE(largers, NUMBERS(larger));
TABLE(smallers, NUMBERS(smaller));
TABLE(fmods, NUMBERS(fmod));
TABLE(mods, NUMBERS(mod));
TABLE(prelus, NUMBERS(prelu));
TABLE(equals, {OF_FLOATS(equal), OF_INTS(equal), [TN_EL_BOOL] = truth_equal_BOOL, [TN_EL_STRING] = text_equal_STRING});
TABLE(lesses, NUMBERS(less));
TABLE(greaters, NUMBERS(greater));
TABLE(at_mosts, NUMBERS(at_most));
TABLE(at_leasts, NUMBERS(at_least));
TABLE(bit_ands, {OF_BITS(bit_and)});
TABLE(bit_ors, {OF_BITS(bit_or)});
TABLE(bit_xors, {OF_BITS(bit_xor)});
TABLE(shift_lefts, {OF_BITS(shift_left)});
TABLE(shift_rights, {OF_INTS(shift_right)});
TABLE(truth_ands, {[TN_EL_BOOL] = truth_and_BOOL});
TABLE(truth_ors, {[TN_EL_BOOL] = truth_or_BOOL});
TABLE(truth_xors, {[TN_EL_BOOL] = truth_xor_BOOL});

/* ---- execution ---------------------------------------------------------------------------------------------------- */

struct pair {
    pair_fn *fn;
    const char *a, *b;
    char *y;
    size_t in_size, out_size;
    const struct tn_kernels *kernels;
    enum tn_float_type half; /* of the operands, when the function is that of float32 */
    bool narrows;            /* the result is of that type, too */
};

static void pair_row(void *user, const struct tn_broadcast *bc, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct pair *p = user;
    p->fn(p->a + in[0] * p->in_size, p->b + in[1] * p->in_size, p->y + out * p->out_size, n, bc->moves[0], bc->moves[1]);
}

/* Half precision by the kernels, some elements at a time: widened, computed in float32, rounded once. */
static void half_row(void *user, const struct tn_broadcast *bc, const uint64_t *in, uint64_t out, uint64_t n)
{
    enum { PART = 256 };
    const struct pair *p = user;
    float a[PART], b[PART], y[PART];
    const char *from_a = p->a + in[0] * 2, *from_b = p->b + in[1] * 2;
    if (!bc->moves[0]) p->kernels->to_f32(p->half, from_a, a, 1);
    if (!bc->moves[1]) p->kernels->to_f32(p->half, from_b, b, 1);
    for (uint64_t at = 0; at < n; at += PART) {
        size_t count = n - at < PART ? (size_t)(n - at) : PART;
        char *to = p->y + (out + at) * p->out_size;
        if (bc->moves[0]) p->kernels->to_f32(p->half, from_a + at * 2, a, count);
        if (bc->moves[1]) p->kernels->to_f32(p->half, from_b + at * 2, b, count);
        p->fn(a, b, p->narrows ? (void *)y : (void *)to, count, bc->moves[0], bc->moves[1]);
        if (p->narrows) p->kernels->from_f32(p->half, y, to, count);
    }
}

static bool no_kernel(struct tn_run *r, enum tn_element e)
{
    return tn_run_refuse(r, "an element type that the operator has", "%s", tn_onnx_element_name(e));
}

/* The second operand under the dimensions that the old alignment means. */
static struct tn_tensor *align_second(struct tn_run *r)
{
    struct tn_tensor *a = r->in[0], *b = r->in[1];
    int64_t at, dims[TN_RANK];
    uint32_t rank = b->rank;
    if (r->node->version >= 7 || b->count == 1 || !old_axis(r->node, a->rank, rank, &at)) return tn_tensor_keep(b);
    memcpy(dims, b->dims, rank * sizeof(*dims));
    while (rank + (uint64_t)at < a->rank) dims[rank++] = 1;
    return tn_tensor_view(b, rank, dims);
}

static bool is_half(enum tn_element e)
{
    return e == TN_EL_F16 || e == TN_EL_BF16;
}

static bool run_pair_of(struct tn_run *r, pair_fn *const *table, struct tn_tensor *a, struct tn_tensor *b, struct tn_tensor *y)
{
    struct tn_tensor *in[2] = {a, b};
    struct tn_broadcast bc;
    bool half = is_half(a->element);
    struct pair p = {table[half ? TN_EL_F32 : a->element], a->data, b->data, y->data, tn_element_size(a->element), tn_element_size(y->element), r->kernels,
                     a->element == TN_EL_F16 ? TN_FLOAT_F16 : TN_FLOAT_BF16, y->element == a->element};
    if (!p.fn) return no_kernel(r, a->element);
    tn_broadcast_init(&bc, y, in, 2);
    tn_run_rows(r, &bc, 1, half ? half_row : pair_row, &p);
    return true;
}

static bool run_pair(struct tn_run *r, pair_fn *const *table)
{
    struct tn_tensor *b = align_second(r);
    if (!b) return tn_run_no_memory(r);
    bool good = run_pair_of(r, table, r->in[0], b, r->out[0]);
    tn_tensor_drop(b);
    return good;
}

static bool run_add(struct tn_run *r) { return run_pair(r, adds); }
static bool run_sub(struct tn_run *r) { return run_pair(r, subs); }
static bool run_mul(struct tn_run *r) { return run_pair(r, muls); }
static bool run_prelu(struct tn_run *r) { return run_pair(r, prelus); }
static bool run_equal(struct tn_run *r) { return run_pair(r, equals); }
static bool run_less(struct tn_run *r) { return run_pair(r, lesses); }
static bool run_greater(struct tn_run *r) { return run_pair(r, greaters); }
static bool run_at_most(struct tn_run *r) { return run_pair(r, at_mosts); }
static bool run_at_least(struct tn_run *r) { return run_pair(r, at_leasts); }
static bool run_and(struct tn_run *r) { return run_pair(r, truth_ands); }
static bool run_or(struct tn_run *r) { return run_pair(r, truth_ors); }
static bool run_xor(struct tn_run *r) { return run_pair(r, truth_xors); }
static bool run_bit_and(struct tn_run *r) { return run_pair(r, bit_ands); }
static bool run_bit_or(struct tn_run *r) { return run_pair(r, bit_ors); }
static bool run_bit_xor(struct tn_run *r) { return run_pair(r, bit_xors); }

static bool run_shift(struct tn_run *r)
{
    return run_pair(r, tn_str_is(tn_attr_text(r->node, "direction"), "LEFT") ? shift_lefts : shift_rights);
}

/* Integers have no infinity to answer with. */
static bool divisor_is_good(struct tn_run *r)
{
    const struct tn_tensor *b = r->in[1];
    if (!tn_elements_have(TN_ELS_INT, b->element)) return true;
    for (uint64_t i = 0; i < b->count; i++) {
        if (tn_element_get_int(b->element, b->data, i) == 0) return tn_run_refuse(r, "divisors other than 0", "a divisor of 0 at %llu", (unsigned long long)i);
    }
    return true;
}

static bool run_div(struct tn_run *r)
{
    return divisor_is_good(r) && run_pair(r, quotients);
}

static bool run_mod(struct tn_run *r)
{
    return divisor_is_good(r) && run_pair(r, tn_attr_int(r->node, "fmod", 0) ? fmods : mods);
}

/* ---- Pow: the exponent has a type of its own ---------------------------------------------------------------------- */

struct power {
    const struct tn_tensor *a, *b;
    struct tn_tensor *y;
};

static int64_t whole_power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, square = (uint64_t)base;
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, square *= square) {
        if (exponent & 1) result *= square;
    }
    return (int64_t)result;
}

static float power_f32(float x, double e)
{
    if (e == 2) return x * x;
    return e == 0.5 ? sqrtf(x) : powf(x, (float)e);
}

static void power_row(void *user, const struct tn_broadcast *bc, const uint64_t *in, uint64_t out, uint64_t n)
{
    const struct power *p = user;
    bool whole = tn_elements_have(TN_ELS_INT, p->a->element) && tn_elements_have(TN_ELS_INT, p->b->element);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = in[0] + (bc->moves[0] ? i : 0), e = in[1] + (bc->moves[1] ? i : 0);
        if (whole) {
            int64_t value = whole_power(tn_element_get_int(p->a->element, p->a->data, x), tn_element_get_int(p->b->element, p->b->data, e));
            tn_element_set_int(p->y->element, p->y->data, out + i, value);
        } else if (p->a->element == TN_EL_F32) {
            ((float *)p->y->data)[out + i] = power_f32(((const float *)p->a->data)[x], tn_element_get(p->b->element, p->b->data, e));
        } else {
            double value = pow(tn_element_get(p->a->element, p->a->data, x), tn_element_get(p->b->element, p->b->data, e));
            tn_element_set(p->y->element, p->y->data, out + i, value, false);
        }
    }
}

static bool run_pow(struct tn_run *r)
{
    struct tn_tensor *b = align_second(r);
    if (!b) return tn_run_no_memory(r);
    struct tn_tensor *in[2] = {r->in[0], b};
    struct tn_broadcast bc;
    struct power p = {in[0], b, r->out[0]};
    tn_broadcast_init(&bc, r->out[0], in, 2);
    tn_run_rows(r, &bc, 20, power_row, &p);
    tn_tensor_drop(b);
    return true;
}

/* ---- any number of operands --------------------------------------------------------------------------------------- */

/* ((a + b) + c) ...: from left to right into the output, whose shape every partial result may take. */
static bool fold(struct tn_run *r, pair_fn *const *table)
{
    struct tn_tensor *y = r->out[0], *first = r->in[0];
    if (!table[is_half(first->element) ? TN_EL_F32 : first->element]) return no_kernel(r, first->element);
    if (r->in_count == 1) {
        tn_run_pass(r, 0, first);
        return true;
    }
    if (!run_pair_of(r, table, first, r->in[1], y)) return false;
    for (uint32_t i = 2; i < r->in_count; i++) {
        if (!run_pair_of(r, table, y, r->in[i], y)) return false;
    }
    return true;
}

static bool run_sum(struct tn_run *r) { return fold(r, adds); }
static bool run_max(struct tn_run *r) { return fold(r, largers); }
static bool run_min(struct tn_run *r) { return fold(r, smallers); }

static bool run_mean(struct tn_run *r)
{
    if (!fold(r, adds)) return false;
    struct tn_tensor *sum = r->out[0], *y = sum;
    if (r->in_count == 1) return true;
    for (uint64_t i = 0; i < sum->count; i++)
        tn_element_set(y->element, y->data, i, tn_element_get(sum->element, sum->data, i) / r->in_count, false);
    return true;
}

#define BINARY(n, s, l, i, f) {.name = n, .since = s, .last = l, .infer = i, .run = f}

static const struct tn_operator rows[] = {
    BINARY("Add", 1, 0, infer_add, run_add),
    BINARY("Sub", 1, 0, infer_sub, run_sub),
    BINARY("Mul", 1, 0, infer_mul, run_mul),
    BINARY("Div", 1, 0, infer_div, run_div),
    BINARY("Mod", 10, 0, infer_arithmetic, run_mod),
    BINARY("Pow", 1, 0, infer_arithmetic, run_pow),
    BINARY("PRelu", 1, 0, infer_arithmetic, run_prelu),
    BINARY("Equal", 1, 0, infer_equal, run_equal),
    BINARY("Less", 1, 0, infer_comparison, run_less),
    BINARY("Greater", 1, 0, infer_comparison, run_greater),
    BINARY("LessOrEqual", 12, 0, infer_comparison, run_at_most),
    BINARY("GreaterOrEqual", 12, 0, infer_comparison, run_at_least),
    BINARY("And", 1, 0, infer_comparison, run_and),
    BINARY("Or", 1, 0, infer_comparison, run_or),
    BINARY("Xor", 1, 0, infer_comparison, run_xor),
    BINARY("BitShift", 11, 0, infer_arithmetic, run_shift),
    BINARY("BitwiseAnd", 18, 0, infer_arithmetic, run_bit_and),
    BINARY("BitwiseOr", 18, 0, infer_arithmetic, run_bit_or),
    BINARY("BitwiseXor", 18, 0, infer_arithmetic, run_bit_xor),
    BINARY("Sum", 1, 0, infer_variadic, run_sum),
    BINARY("Max", 1, 0, infer_variadic, run_max),
    BINARY("Min", 1, 0, infer_variadic, run_min),
    BINARY("Mean", 1, 0, infer_variadic, run_mean),
};

const struct tn_operators tn_ops_elementwise_binary = {rows, sizeof(rows) / sizeof(rows[0])};
