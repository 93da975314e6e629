/* Symbolic dimensions; see the header. */
#include "net/dims.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

enum { SYMBOLS = 1 << 24, LOOK_BACK = 4096 };

void tn_symbols_init(struct tn_symbols *s, struct tn_arena *arena)
{
    *s = (struct tn_symbols){.arena = arena};
}

static tn_dim_t add_symbol(struct tn_symbols *s, const struct tn_symbol *symbol)
{
    if (!s->arena) return -1;
    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        struct tn_symbol *items = cap <= SYMBOLS ? tn_arena_array(s->arena, cap, sizeof(*items)) : NULL;
        if (!items) {
            s->failed = true;
            return -1; /* whatever symbol 0 is: the failure is asked for before anything is used */
        }
        if (s->count) memcpy(items, s->items, s->count * sizeof(*items));
        s->items = items;
        s->cap = cap;
    }
    s->items[s->count++] = *symbol;
    return -(tn_dim_t)s->count;
}

static const struct tn_symbol *symbol_at(const struct tn_symbols *s, tn_dim_t d)
{
    return &s->items[-(d + 1)];
}

tn_dim_t tn_dim_named(struct tn_symbols *s, struct tn_str name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i].op == TN_SYMBOL_NAME && tn_str_eq(s->items[i].name, name)) return -(tn_dim_t)i - 1;
    }
    return add_symbol(s, &(struct tn_symbol){.op = TN_SYMBOL_NAME, .name = name});
}

tn_dim_t tn_dim_unknown(struct tn_symbols *s)
{
    return add_symbol(s, &(struct tn_symbol){.op = TN_SYMBOL_UNKNOWN});
}

/* Looked for among the newest: shapes that belong together are made together. */
static tn_dim_t intern(struct tn_symbols *s, struct tn_symbol x)
{
    size_t end = s->count > LOOK_BACK ? s->count - LOOK_BACK : 0;
    if (s->failed || !s->arena) return -1;
    for (size_t i = s->count; i-- > end;) {
        const struct tn_symbol *y = &s->items[i];
        if (y->op == x.op && y->a == x.a && y->b == x.b && y->m == x.m && y->c == x.c) return -(tn_dim_t)i - 1;
    }
    return add_symbol(s, &x);
}

/* d as m * base + c. */
struct linear {
    tn_dim_t base; /* 0: none, d is the number c */
    int64_t m, c;
};

static struct linear linear_of(const struct tn_symbols *s, tn_dim_t d)
{
    if (d >= 0) return (struct linear){0, 0, d};
    if (s->count == 0) return (struct linear){d, 1, 0};
    const struct tn_symbol *x = symbol_at(s, d);
    if (x->op == TN_SYMBOL_LINEAR) return (struct linear){x->a, x->m, x->c};
    return (struct linear){d, 1, 0};
}

static tn_dim_t dim_of(struct tn_symbols *s, struct linear l)
{
    if (l.base == 0 || l.m == 0) return l.c >= 0 ? l.c : tn_dim_unknown(s);
    if (l.m == 1 && l.c == 0) return l.base;
    return intern(s, (struct tn_symbol){.op = TN_SYMBOL_LINEAR, .a = l.base, .m = l.m, .c = l.c});
}

static tn_dim_t combine(struct tn_symbols *s, tn_dim_t a, tn_dim_t b, int64_t sign)
{
    struct linear x, y, sum;
    if (s->failed) return -1;
    x = linear_of(s, a);
    y = linear_of(s, b);
    sum.base = x.base ? x.base : y.base;
    if (__builtin_mul_overflow(y.m, sign, &y.m) || __builtin_mul_overflow(y.c, sign, &y.c) ||
        __builtin_add_overflow(x.m, y.m, &sum.m) || __builtin_add_overflow(x.c, y.c, &sum.c))
        return tn_dim_unknown(s);
    if (!x.base || !y.base || x.base == y.base) return dim_of(s, sum);
    y.c = sum.c;
    tn_dim_t left = dim_of(s, (struct linear){x.base, x.m, 0}), right = dim_of(s, (struct linear){y.base, y.m, 0});
    tn_dim_t both = intern(s, (struct tn_symbol){.op = TN_SYMBOL_SUM, .a = left > right ? left : right,
                                                 .b = left > right ? right : left});
    return dim_of(s, (struct linear){both, 1, sum.c});
}

tn_dim_t tn_dim_add(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    return combine(s, a, b, 1);
}

tn_dim_t tn_dim_sub(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    return combine(s, a, b, -1);
}

tn_dim_t tn_dim_mul(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    if (s->failed) return -1;
    if (a >= 0 || b >= 0) {
        struct linear l = linear_of(s, a >= 0 ? b : a);
        int64_t n = a >= 0 ? a : b;
        if (__builtin_mul_overflow(l.m, n, &l.m) || __builtin_mul_overflow(l.c, n, &l.c)) return tn_dim_unknown(s);
        return dim_of(s, l);
    }
    return intern(s, (struct tn_symbol){.op = TN_SYMBOL_PRODUCT, .a = a > b ? a : b, .b = a > b ? b : a});
}

tn_dim_t tn_dim_div(struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    if (s->failed) return -1;
    if (b == 0) return tn_dim_unknown(s);
    if (a >= 0 && b > 0) return a / b;
    if (a == b) return 1;
    struct linear l = linear_of(s, a);
    if (b > 0 && l.m % b == 0 && l.c % b == 0) return dim_of(s, (struct linear){l.base, l.m / b, l.c / b});
    struct linear r = linear_of(s, b);
    if (l.base && l.base == r.base && l.c == 0 && r.c == 0 && r.m > 0 && l.m >= 0 && l.m % r.m == 0) return l.m / r.m;
    if (l.base && l.c == 0 && s->count) { /* m * (x * y) / y */
        const struct tn_symbol *x = symbol_at(s, l.base);
        if (x->op == TN_SYMBOL_PRODUCT && x->a == b) return tn_dim_mul(s, x->b, l.m >= 0 ? l.m : 0);
        if (x->op == TN_SYMBOL_PRODUCT && x->b == b) return tn_dim_mul(s, x->a, l.m >= 0 ? l.m : 0);
        if (l.base == b && l.m >= 0) return l.m;
    }
    return intern(s, (struct tn_symbol){.op = TN_SYMBOL_QUOTIENT, .a = a, .b = b});
}

tn_dim_t tn_dim_least(struct tn_symbols *s, tn_dim_t a, int64_t n)
{
    if (s->failed) return -1;
    if (a >= 0) return a < n ? a : n;
    return intern(s, (struct tn_symbol){.op = TN_SYMBOL_LEAST, .a = a, .c = n});
}

bool tn_dim_is_least_of(const struct tn_symbols *s, tn_dim_t a, tn_dim_t b)
{
    if (a >= 0 || b >= 0 || s->count == 0) return false;
    const struct tn_symbol *x = symbol_at(s, a);
    return x->op == TN_SYMBOL_LEAST && x->a == b && x->c > 1;
}

static bool not_negative(const struct tn_symbols *s, tn_dim_t a, int depth)
{
    if (a >= 0) return true;
    if (s->count == 0 || depth == 8) return false;
    const struct tn_symbol *x = symbol_at(s, a);
    if (x->op == TN_SYMBOL_NAME) return true;
    if (x->op == TN_SYMBOL_UNKNOWN || x->m < 0 || x->c < 0) return false;
    return not_negative(s, x->a, depth + 1) && not_negative(s, x->b, depth + 1);
}

bool tn_dim_not_negative(const struct tn_symbols *s, tn_dim_t a)
{
    return not_negative(s, a, 0);
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static size_t put(char *out, size_t cap, size_t at, const char *text, size_t n)
{
    for (size_t i = 0; i < n && at + 1 < cap; i++) out[at++] = text[i];
    return at;
}

static size_t put_number(char *out, size_t cap, size_t at, int64_t n)
{
    char text[24];
    return put(out, cap, at, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)n));
}

static size_t put_dim(const struct tn_symbols *s, tn_dim_t d, char *out, size_t cap, size_t at, int depth)
{
    if (d >= 0) return put_number(out, cap, at, d);
    const struct tn_symbol *x = symbol_at(s, d);
    if (x->op == TN_SYMBOL_NAME) return put(out, cap, at, x->name.s, x->name.n);
    if (x->op == TN_SYMBOL_UNKNOWN || depth == 8) return put(out, cap, at, "?", 1);
    if (x->op == TN_SYMBOL_LINEAR) {
        if (x->m != 1) at = put(out, cap, put_number(out, cap, at, x->m), " * ", 3);
        at = put_dim(s, x->a, out, cap, at, depth + 1);
        if (x->c) at = put(out, cap, at, x->c < 0 ? " - " : " + ", 3);
        return x->c ? put_number(out, cap, at, x->c < 0 ? -x->c : x->c) : at;
    }
    if (x->op == TN_SYMBOL_LEAST) {
        at = put_dim(s, x->a, out, cap, put(out, cap, at, "min(", 4), depth + 1);
        return put(out, cap, put_number(out, cap, put(out, cap, at, ", ", 2), x->c), ")", 1);
    }
    at = put_dim(s, x->a, out, cap, put(out, cap, at, "(", 1), depth + 1);
    at = put(out, cap, at, x->op == TN_SYMBOL_SUM ? " + " : x->op == TN_SYMBOL_PRODUCT ? " * " : " / ", 3);
    return put(out, cap, put_dim(s, x->b, out, cap, at, depth + 1), ")", 1);
}

const char *tn_dim_text(const struct tn_symbols *s, tn_dim_t d, char *out, size_t cap)
{
    if (cap == 0) return out;
    out[put_dim(s, d, out, cap, 0, 0)] = 0;
    return out;
}
