/* What one tile computes; see tile.h. Also the geometry of panels that linear and attention share. */
#ifndef TN_KERNEL_X86_TILE_ARGS_H
#define TN_KERNEL_X86_TILE_ARGS_H

enum { PANEL = 2 * VEC }; /* columns of a full panel; the last one may be VEC wide */

struct tile {
    const float *x; /* [rows, k] units */
    size_t x_stride;
    const float *panel; /* [k][vectors * VEC] units */
    size_t k;
    float *y; /* [rows, columns] */
    size_t y_stride;
    size_t columns;         /* written; more than (vectors - 1) * VEC */
    const float *bias;      /* added to every row, or NULL: [vectors * VEC] */
    const float *row_scale; /* then multiplies row i, or NULL: [rows] */
    ptrdiff_t prefetch;     /* bytes between a weight that is used and the one that is asked for */
};

typedef void tile_fn(const struct tile *t);

static inline size_t panel_count(size_t columns)
{
    return columns / PANEL + (columns % PANEL != 0);
}

/* Vectors of panel p: 2, or 1 for a last panel of at most VEC columns. */
static inline int panel_vectors(size_t columns, size_t p)
{
    return columns - p * PANEL > VEC ? 2 : 1;
}

static inline size_t panel_columns(size_t columns, size_t p)
{
    return columns - p * PANEL < PANEL ? columns - p * PANEL : PANEL;
}

#endif
