/*
 * Checked arithmetic on sizes. Every size that is made from an untrusted number goes through here:
 * the operands are checked, never the product. All return false on overflow and leave *out untouched.
 */
#ifndef TN_BASE_CHECKED_H
#define TN_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool tn_mul(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    *out = a * b;
    return true;
}

static inline bool tn_add(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) return false;
    *out = a + b;
    return true;
}

static inline bool tn_mul64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b != 0 && a > UINT64_MAX / b) return false;
    *out = a * b;
    return true;
}

static inline bool tn_add64(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b) return false;
    *out = a + b;
    return true;
}

/* Rounds up to a multiple of `align`, which is a power of two. */
static inline bool tn_round_up(size_t n, size_t align, size_t *out)
{
    size_t sum;
    if (!tn_add(n, align - 1, &sum)) return false;
    *out = sum & ~(align - 1);
    return true;
}

/* Whether [offset, offset + length) lies inside [0, size); the subtraction form cannot overflow. */
static inline bool tn_range_inside(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

#endif
