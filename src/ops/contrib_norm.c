/*
 * Normalisations of com.microsoft that add first: SkipLayerNormalization, SkipSimplifiedLayerNormalization,
 * EmbedLayerNormalization; and SimplifiedLayerNormalization, which ONNX Runtime writes into the standard's own domain.
 * Everything is computed in float32.
 */
#include "ops/real.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

#define REAL float
#define TN_BODY(name) name##_f32
#include "ops/norm_rows_body.h"
#undef REAL
#undef TN_BODY

static const struct tn_tensor *operand(const struct tn_run *r, uint32_t i)
{
    return i < r->in_count ? r->in[i] : NULL;
}

static bool is_vector(struct tn_run *r, uint32_t i, int64_t width)
{
    const struct tn_tensor *t = operand(r, i);
    return !t || (t->rank == 1 && t->dims[0] == width) || tn_run_refuse(r, "one number for each column", "operand %u of rank %u", i, t->rank);
}

/* ---- skip --------------------------------------------------------------------------------------------------------- */

enum { INPUT, SKIP, GAMMA };

static bool infer_skip(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, INPUT);
    const struct tn_shape *s;
    if (!t) return true;
    if (tn_in_shape(x, INPUT, &s) && s->rank == 0) return tn_infer_refuse(x, "rows", "a scalar");
    tn_out_type(x, 0, t);
    tn_out_type(x, 3, t);
    struct tn_type each = *t;
    each.element = TN_EL_F32;
    if (each.shape.known) each.shape.dims[each.shape.rank - 1] = 1;
    tn_out_type(x, 1, &each);
    tn_out_type(x, 2, &each);
    return true;
}

struct addition {
    const float *x, *skip, *bias;
    float *sum;
    uint64_t width, skip_rows; /* after which the skip repeats */
};

static void add_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct addition *a = user;
    for (uint64_t i = begin; i < end; i++) {
        const float *x = a->x + i * a->width, *skip = a->skip + i % a->skip_rows * a->width;
        float *sum = a->sum + i * a->width;
        for (uint64_t k = 0; k < a->width; k++) sum[k] = x[k] + skip[k];
        for (uint64_t k = 0; a->bias && k < a->width; k++) sum[k] += a->bias[k];
    }
}

/* The skip is like the input, or one image of it for all of a batch. */
static bool skip_fits(const struct tn_tensor *x, const struct tn_tensor *skip)
{
    if (skip->count == x->count) return true;
    bool tail = x->rank == 3 && (skip->rank == 2 || (skip->rank == 3 && skip->dims[0] == 1));
    return tail && skip->dims[skip->rank - 1] == x->dims[2] && skip->dims[skip->rank - 2] == x->dims[1];
}

static bool run_rows(struct tn_run *r, bool centred)
{
    const struct tn_tensor *x = r->in[INPUT], *skip = r->in[SKIP];
    int64_t width = x->dims[x->rank - 1];
    uint32_t beta = centred ? 3 : UINT32_MAX, bias = centred ? 4 : 3;
    if (x->count == 0) return true;
    if (!skip_fits(x, skip)) return tn_run_refuse(r, "a skip like the input", "%llu elements for %llu", (unsigned long long)skip->count, (unsigned long long)x->count);
    if (!is_vector(r, GAMMA, width) || !is_vector(r, beta, width) || !is_vector(r, bias, width)) return false;
    struct tn_reals reals;
    tn_reals_begin(&reals, r, TN_EL_F32);
    struct addition a = {.x = tn_reals_in(&reals, INPUT), .skip = tn_reals_in(&reals, SKIP), .bias = tn_reals_in(&reals, bias), .width = (uint64_t)width};
    a.skip_rows = skip->count / a.width;
    a.sum = tn_reals_out(&reals, 3);
    if (!a.sum && tn_reals_good(&reals)) a.sum = tn_reals_scratch(&reals, x->count);
    struct rows_f32 k = {.x = a.sum, .scale = tn_reals_in(&reals, GAMMA), .shift = tn_reals_in(&reals, beta), .width = a.width,
                         .epsilon = tn_attr_float(r->node, "epsilon", 1e-5), .centred = centred};
    k.y = tn_reals_out(&reals, 0);
    k.mean = tn_reals_out(&reals, 1);
    k.inverse = tn_reals_out(&reals, 2);
    if (tn_reals_good(&reals)) tn_run_items(r, x->count / a.width, a.width * 2, add_rows, &a);
    if (tn_reals_good(&reals)) tn_run_items(r, x->count / a.width, a.width * 4, norm_rows_f32, &k);
    return tn_reals_end(&reals);
}

static bool run_skip(struct tn_run *r)
{
    return run_rows(r, true);
}

static bool run_skip_simplified(struct tn_run *r)
{
    return run_rows(r, false);
}

/* ---- SimplifiedLayerNormalization --------------------------------------------------------------------------------- */

static bool infer_simplified(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *scale = tn_in_type(x, 1);
    uint32_t axis;
    if (!t) return true;
    struct tn_type y = *t, each = *t;
    if (scale) y.element = scale->element;
    each.element = TN_EL_F32;
    tn_out_type(x, 0, &y);
    if (!t->shape.known) {
        tn_out_type(x, 1, &each);
        return true;
    }
    if (!tn_infer_axis(x, tn_attr_int(x->node, "axis", -1), t->shape.rank, &axis)) return false;
    for (uint32_t i = axis; i < each.shape.rank; i++) each.shape.dims[i] = 1;
    tn_out_type(x, 1, &each);
    return true;
}

static bool run_simplified(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    int64_t axis = tn_attr_int(r->node, "axis", -1);
    uint64_t width = 1;
    struct tn_reals reals;
    if (x->count == 0) return true;
    for (uint32_t i = (uint32_t)(axis < 0 ? axis + x->rank : axis); i < x->rank; i++) width *= (uint64_t)x->dims[i];
    if (r->in[1]->count != width) return tn_run_refuse(r, "a scale for each element of a row", "%llu for %llu", (unsigned long long)r->in[1]->count, (unsigned long long)width);
    tn_reals_begin(&reals, r, TN_EL_F32);
    struct rows_f32 k = {.x = tn_reals_in(&reals, 0), .scale = tn_reals_in(&reals, 1), .width = width, .epsilon = tn_attr_float(r->node, "epsilon", 1e-5)};
    k.y = tn_reals_out(&reals, 0);
    k.inverse = tn_reals_out(&reals, 1);
    if (tn_reals_good(&reals)) tn_run_items(r, x->count / width, width * 4, norm_rows_f32, &k);
    return tn_reals_end(&reals);
}

/* ---- EmbedLayerNormalization -------------------------------------------------------------------------------------- */

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_TABLE, EMBED_GAMMA, EMBED_BETA, EMBED_MASK, POSITION_IDS };

static bool infer_embed(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, WORDS);
    const struct tn_shape *ids, *words;
    enum tn_element e = t ? t->element : TN_EL_NONE;
    tn_out_unknown(x, 0, e);
    tn_out_unknown(x, 1, TN_EL_I32);
    tn_out_unknown(x, 2, e);
    if (!tn_in_shape(x, IDS, &ids) || !tn_in_shape(x, WORDS, &words)) return true;
    if (ids->rank != 2 || words->rank != 2) return tn_infer_refuse(x, "ids and words of rank 2", "ranks %u and %u", ids->rank, words->rank);
    tn_dim_t dims[3] = {ids->dims[0], ids->dims[1], words->dims[1]};
    tn_out_tensor(x, 0, e, 3, dims);
    tn_out_tensor(x, 1, TN_EL_I32, 1, dims);
    tn_out_tensor(x, 2, e, 3, dims);
    return true;
}

struct embedding {
    const float *words, *positions, *segments;
    const int32_t *ids, *segment_ids, *position_ids;
    uint64_t length, width;
    uint64_t position_step; /* of position_ids by batch: 0 when all share them */
    float *sum;
};

static uint64_t position_of(const struct embedding *e, uint64_t i)
{
    uint64_t at = i % e->length;
    return e->position_ids ? (uint64_t)e->position_ids[i / e->length * e->position_step + at] : at;
}

static void embed_rows(void *user, uint64_t begin, uint64_t end)
{
    const struct embedding *e = user;
    for (uint64_t i = begin; i < end; i++) {
        const float *word = e->words + (uint64_t)e->ids[i] * e->width, *position = e->positions + position_of(e, i) * e->width;
        const float *segment = e->segments ? e->segments + (uint64_t)(e->segment_ids ? e->segment_ids[i] : 0) * e->width : NULL;
        float *sum = e->sum + i * e->width;
        for (uint64_t k = 0; k < e->width; k++) sum[k] = word[k] + position[k];
        for (uint64_t k = 0; segment && k < e->width; k++) sum[k] += segment[k];
    }
}

/* All ids are rows of their table. */
static bool ids_fit(struct tn_run *r, uint32_t i, const struct tn_tensor *table)
{
    const struct tn_tensor *t = operand(r, i);
    for (uint64_t k = 0; t && k < t->count; k++) {
        int32_t id = ((const int32_t *)t->data)[k];
        if (id < 0 || id >= table->dims[0]) return tn_run_refuse(r, "ids that are rows of the table", "operand %u: id %d of %lld rows", i, (int)id, (long long)table->dims[0]);
    }
    return true;
}

static bool check_embed(struct tn_run *r)
{
    const struct tn_tensor *ids = r->in[IDS], *words = r->in[WORDS], *positions = r->in[POSITIONS], *segments = operand(r, SEGMENT_TABLE);
    const struct tn_tensor *segment_ids = operand(r, SEGMENTS), *position_ids = operand(r, POSITION_IDS);
    int64_t width = words->dims[1];
    if (positions->rank != 2 || positions->dims[1] != width || (segments && (segments->rank != 2 || segments->dims[1] != width)))
        return tn_run_refuse(r, "tables of one width", "other widths");
    if (!segments != !segment_ids) return tn_run_refuse(r, "segments together with their table", "one of them");
    if (segment_ids && segment_ids->count != ids->count) return tn_run_refuse(r, "a segment for each id", "%llu", (unsigned long long)segment_ids->count);
    if (position_ids && position_ids->count != ids->count && position_ids->count != (uint64_t)ids->dims[1])
        return tn_run_refuse(r, "a position for each id", "%llu", (unsigned long long)position_ids->count);
    if (!position_ids && ids->dims[1] > positions->dims[0])
        return tn_run_refuse(r, "at most as many ids as there are positions", "%lld ids, %lld positions", (long long)ids->dims[1], (long long)positions->dims[0]);
    return ids_fit(r, IDS, words) && (!segments || ids_fit(r, SEGMENTS, segments)) && ids_fit(r, POSITION_IDS, positions) && is_vector(r, EMBED_GAMMA, width) &&
           is_vector(r, EMBED_BETA, width);
}

/* How many ids stand before the first that the mask leaves out. */
static bool count_mask(struct tn_run *r)
{
    const struct tn_tensor *mask = operand(r, EMBED_MASK), *ids = r->in[IDS];
    if (r->out_count < 2 || !r->wanted[1]) return true;
    if (mask && mask->count != ids->count) return tn_run_refuse(r, "a mask for each id", "%llu", (unsigned long long)mask->count);
    for (int64_t b = 0; b < ids->dims[0]; b++) {
        int32_t n = 0;
        for (int64_t i = 0; mask && i < ids->dims[1]; i++) n += ((const int32_t *)mask->data)[b * ids->dims[1] + i] == 1;
        ((int32_t *)r->out[1]->data)[b] = n;
    }
    return true;
}

static bool run_embed(struct tn_run *r)
{
    const struct tn_tensor *ids = r->in[IDS];
    struct tn_reals reals;
    uint64_t width = (uint64_t)r->in[WORDS]->dims[1];
    if (!check_embed(r) || !count_mask(r)) return false;
    if (ids->count == 0 || width == 0) return true;
    tn_reals_begin(&reals, r, TN_EL_F32);
    struct embedding e = {.words = tn_reals_in(&reals, WORDS), .positions = tn_reals_in(&reals, POSITIONS), .segments = tn_reals_in(&reals, SEGMENT_TABLE),
                          .ids = ids->data, .length = (uint64_t)ids->dims[1], .width = width};
    if (operand(r, SEGMENTS)) e.segment_ids = r->in[SEGMENTS]->data;
    if (operand(r, POSITION_IDS)) e.position_ids = r->in[POSITION_IDS]->data;
    if (e.position_ids && r->in[POSITION_IDS]->count == ids->count) e.position_step = e.length;
    e.sum = tn_reals_out(&reals, 2);
    if (!e.sum && tn_reals_good(&reals)) e.sum = tn_reals_scratch(&reals, r->out[0]->count);
    struct rows_f32 k = {.x = e.sum, .scale = tn_reals_in(&reals, EMBED_GAMMA), .shift = tn_reals_in(&reals, EMBED_BETA), .width = width,
                         .epsilon = tn_attr_float(r->node, "epsilon", 1e-12), .centred = true};
    k.y = tn_reals_out(&reals, 0);
    if (tn_reals_good(&reals)) tn_run_items(r, ids->count, width * 3, embed_rows, &e);
    if (tn_reals_good(&reals)) tn_run_items(r, ids->count, width * 4, norm_rows_f32, &k);
    return tn_reals_end(&reals);
}

static const struct tn_operator rows[] = {
    {.domain = "com.microsoft", .name = "SkipLayerNormalization", .since = 1, .infer = infer_skip, .run = run_skip},
    {.domain = "com.microsoft", .name = "SkipSimplifiedLayerNormalization", .since = 1, .infer = infer_skip, .run = run_skip_simplified},
    {.name = "SimplifiedLayerNormalization", .since = 1, .infer = infer_simplified, .run = run_simplified},
    {.domain = "com.microsoft", .name = "EmbedLayerNormalization", .since = 1, .infer = infer_embed, .run = run_embed},
};

const struct tn_operators tn_ops_contrib_norm = {rows, sizeof(rows) / sizeof(rows[0])};
