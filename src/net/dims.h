/*
 * Dimensions that may be symbols. A dimension is an int64: from 0 on a number, below 0 the symbol of that number in a
 * table. Symbols are interned expressions, so that two dimensions are equal exactly when their numbers are, and what is
 * computed from them (2 * seq + 1) keeps its relation to others. Unknown dimensions are symbols of their own.
 */
#ifndef TN_NET_DIMS_H
#define TN_NET_DIMS_H

#include "base/arena.h"

typedef int64_t tn_dim_t;

/* A derived symbol is m * a + c over another, a sum, a product, a quotient rounded down, or the least of a and c. */
enum tn_symbol_op { TN_SYMBOL_NAME, TN_SYMBOL_UNKNOWN, TN_SYMBOL_LINEAR, TN_SYMBOL_SUM, TN_SYMBOL_PRODUCT, TN_SYMBOL_QUOTIENT, TN_SYMBOL_LEAST };

struct tn_symbol {
    enum tn_symbol_op op;
    struct tn_str name; /* of NAME */
    tn_dim_t a, b;      /* LINEAR has a alone, which is not linear itself; so has LEAST */
    int64_t m, c;
};

struct tn_symbols {
    struct tn_arena *arena; /* not owned; NULL: no table, every symbol is the same unknown (during an execution) */
    struct tn_symbol *items;
    size_t count, cap;
    bool failed; /* without memory, or more than can be numbered; sticky. Results are then unknown */
};

void tn_symbols_init(struct tn_symbols *s, struct tn_arena *arena);
/* The text must live as long as the table. */
tn_dim_t tn_dim_named(struct tn_symbols *s, struct tn_str name);
tn_dim_t tn_dim_unknown(struct tn_symbols *s);
/* Exact for numbers; a result that overflows or is negative is unknown. */
tn_dim_t tn_dim_add(struct tn_symbols *s, tn_dim_t a, tn_dim_t b);
tn_dim_t tn_dim_mul(struct tn_symbols *s, tn_dim_t a, tn_dim_t b);
/* Rounded down; by 0: unknown. */
tn_dim_t tn_dim_div(struct tn_symbols *s, tn_dim_t a, tn_dim_t b);
/* a - b. */
tn_dim_t tn_dim_sub(struct tn_symbols *s, tn_dim_t a, tn_dim_t b);

/* The least of a and a number. */
tn_dim_t tn_dim_least(struct tn_symbols *s, tn_dim_t a, int64_t n);
/* a is such a least one of b and a number above 1: beside b it can only be b, where they have to be equal or 1. */
bool tn_dim_is_least_of(const struct tn_symbols *s, tn_dim_t a, tn_dim_t b);
/* Whether what a stands for is from 0 on: what is computed from dimensions and numbers without a difference. */
bool tn_dim_not_negative(const struct tn_symbols *s, tn_dim_t a);

static inline bool tn_dim_known(tn_dim_t d)
{
    return d >= 0;
}

/* "batch", "2 * seq + 1", "?"; returns out. */
const char *tn_dim_text(const struct tn_symbols *s, tn_dim_t d, char *out, size_t cap);

#endif
