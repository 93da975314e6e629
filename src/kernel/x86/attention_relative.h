/*
 * The disentangled terms of attention (see kernel.h) for one head of one sequence: products of queries with the rows of
 * one table and of keys with the rows of another, which row depending on the distance alone.
 *
 * Both tables are first laid out by distance as panels, one column for each of the 2 length - 1 distances. A tile of
 * query rows then needs length + rows - 1 neighbouring columns, and a score finds its term one column further left in
 * each further row. Terms of keys come the other way round (a tile of keys against the distances to a block of queries)
 * and are turned over in registers when they are added. A term's own sum runs over the head's dimensions in order, so
 * where tiles and blocks begin does not show in it.
 */
#ifndef TN_KERNEL_X86_ATTENTION_RELATIVE_H
#define TN_KERNEL_X86_ATTENTION_RELATIVE_H

enum { RELATIVE_TILES = 10, RELATIVE_ROWS = RELATIVE_TILES * TILE_ROWS }; /* of a block of queries */

struct relative {
    float *key_panels;   /* column n: position_key at j - i = n - (length - 1) */
    float *query_panels; /* column n: position_query at i - j = n - (length - 1) */
    float *of_queries;   /* [TILE_ROWS][stride]: q_i . position_key */
    float *of_keys;      /* [length][key_stride]: k_j . position_query, for queries block .. block + RELATIVE_ROWS - 1 */
    size_t stride, key_stride;
    size_t block;
};

/* Floats of one set of panels, and the strides. */
static bool measure_relative(size_t length, size_t head_dim, size_t *panels, size_t *stride, size_t *key_stride)
{
    size_t columns;
    if (!tn_mul(length, 2, &columns) || !tn_round_up(columns, PANEL, &columns)) return false;
    *key_stride = RELATIVE_ROWS + TILE_ROWS + 2 * PANEL;
    return tn_mul(columns, head_dim, panels) && tn_round_up(*panels, 16, panels) &&
           tn_add(length, TILE_ROWS + 2 * PANEL, stride) && tn_round_up(*stride, 16, stride);
}

static bool relative_floats(size_t length, size_t head_dim, size_t *floats)
{
    size_t panels, stride, key_stride, tile, keys;
    if (!measure_relative(length, head_dim, &panels, &stride, &key_stride)) return false;
    if (!tn_mul(panels, 2, floats) || !tn_mul(stride, TILE_ROWS, &tile) || !tn_mul(length, key_stride, &keys)) return false;
    return tn_add(*floats, tile, floats) && tn_add(*floats, keys, floats);
}

/* Areas for a sequence of `length` rows, from `at` on. */
static void place_relative(struct relative *r, float *at, size_t length, size_t head_dim)
{
    size_t panels = 0;
    if (!measure_relative(length, head_dim, &panels, &r->stride, &r->key_stride)) return;
    r->key_panels = at;
    r->query_panels = at + panels;
    r->of_queries = r->query_panels + panels;
    r->of_keys = r->of_queries + r->stride * TILE_ROWS;
}

/* Panels of the rows that belong to distances -(length - 1) .. length - 1, ascending or descending. */
static void pack_distances(const struct head *h, const float *table, bool ascending, float *panels)
{
    const struct tn_attention_args *a = h->a;
    const size_t columns = 2 * h->length - 1, dim = a->head_dim;
    const int32_t *row_of = a->relative_row + a->relative_center;
    for (size_t n = 0; n < columns; n += VEC) {
        const size_t p = n / PANEL;
        const float *row[VEC];
        for (size_t i = 0; i < VEC; i++) {
            ptrdiff_t distance = (ptrdiff_t)(n + i) - (ptrdiff_t)(h->length - 1);
            row[i] = NULL;
            if (n + i >= columns) continue;
            row[i] = table + (size_t)row_of[ascending ? distance : -distance] * a->position_stride + h->column;
        }
        pack_rows(row, dim, panels + p * PANEL * dim + n % PANEL,
                  (size_t)panel_vectors(columns, p) * VEC);
    }
}

static void pack_relative(const struct head *h)
{
    if (h->a->position_key) pack_distances(h, h->a->position_key, true, h->relative->key_panels);
    if (h->a->position_query) pack_distances(h, h->a->position_query, false, h->relative->query_panels);
}

/* Products of `rows` rows of x with the columns from `first` (a panel's first) to `last`. */
static void distance_products(const struct head *h, const float *x, size_t x_stride, size_t rows, const float *panels,
                              size_t first, size_t last, float *y, size_t y_stride)
{
    const size_t columns = 2 * h->length - 1, dim = h->a->head_dim;
    struct tile tile = {.x = x, .x_stride = x_stride, .k = dim, .y_stride = y_stride};
    for (size_t p = first / PANEL; p * PANEL <= last; p++) {
        int vectors = panel_vectors(columns, p);
        tile.panel = panels + p * PANEL * dim;
        tile.y = y + p * PANEL - first;
        tile.columns = (size_t)vectors * VEC;
        tiles[vectors - 1][rows - 1](&tile);
    }
}

/* The first column that the tile with key j computes for the block of queries; a panel's first. */
static size_t first_of_keys(const struct head *h, size_t j)
{
    size_t last = j / TILE_ROWS * TILE_ROWS + TILE_ROWS - 1;
    if (last >= h->length) last = h->length - 1;
    return (h->relative->block + h->length - 1 - last) / PANEL * PANEL;
}

/* Terms of all keys for the queries i .. i + rows - 1; rows <= RELATIVE_ROWS. */
static void begin_relative(const struct head *h, size_t i, size_t rows)
{
    const struct tn_attention_args *a = h->a;
    struct relative *r = h->relative;
    r->block = i;
    if (!a->position_query) return;
    for (size_t j = 0; j < h->length; j += TILE_ROWS) {
        size_t count = h->length - j < TILE_ROWS ? h->length - j : TILE_ROWS;
        distance_products(h, a->k + (h->first + j) * a->k_stride + h->column, a->k_stride, count, r->query_panels,
                          first_of_keys(h, j), i + rows - 1 + h->length - 1 - j, r->of_keys + j * r->key_stride,
                          r->key_stride);
    }
}

/* scores[i][j] += q_i . position_key: a row's terms are neighbours. */
static void add_query_terms(const struct head *h, size_t i, size_t rows)
{
    const struct tn_attention_args *a = h->a;
    const struct relative *r = h->relative;
    const size_t first = (h->length - (i + rows)) / PANEL * PANEL;
    distance_products(h, a->q + (h->first + i) * a->q_stride + h->column, a->q_stride, rows, r->key_panels, first,
                      2 * (h->length - 1) - i, r->of_queries, r->stride);
    for (size_t k = 0; k < rows; k++) {
        float *s = h->scores + k * h->score_stride;
        const float *terms = r->of_queries + k * r->stride + (h->length - 1 - (i + k)) - first;
        for (size_t j = 0; j < h->length; j += VEC) {
            v_store(s + j, v_add(v_load(s + j), v_load_tail(terms + j, v_tail(h->length - j))));
        }
    }
}

/* scores[i][j] += k_j . position_query: VEC keys at a time, turned over. */
static void add_key_terms(const struct head *h, size_t i, size_t rows)
{
    const struct relative *r = h->relative;
    for (size_t j = 0; j < h->length; j += VEC) {
        vec term[VEC];
        for (size_t n = 0; n < VEC; n++) {
            if (j + n >= h->length) {
                term[n] = v_zero();
                continue;
            }
            size_t column = i + h->length - 1 - (j + n);
            term[n] = v_load_tail(r->of_keys + (j + n) * r->key_stride + column - first_of_keys(h, j + n), v_tail(rows));
        }
        v_transpose(term);
        for (size_t k = 0; k < rows && k < VEC; k++) {
            float *s = h->scores + k * h->score_stride + j;
            v_store(s, v_add(v_load(s), term[k]));
        }
    }
}

static void add_relative(const struct head *h, size_t i, size_t rows)
{
    if (h->a->position_key) add_query_terms(h, i, rows);
    if (h->a->position_query) add_key_terms(h, i, rows);
}

#endif
