/*
 * Operators of ai.onnx.ml over rows of features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer,
 * Scaler.
 */
#include "ops/op.h"

#include <math.h>
#include <string.h>

static const char domain[] = "ai.onnx.ml";

static uint64_t width_of(const struct tn_tensor *x)
{
    return x->rank ? (uint64_t)x->dims[x->rank - 1] : 1;
}

/* ---- ArrayFeatureExtractor ---------------------------------------------------------------------------------------- */

static bool infer_extract(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0), *indices = tn_in_type(x, 1);
    if (!t || !indices) return true;
    tn_out_unknown(x, 0, t->element);
    if (!t->shape.known || !indices->shape.known) return true;
    if (t->shape.rank == 0) return tn_infer_refuse(x, "rows of features", "a scalar");
    tn_dim_t n = 1, dims[TN_RANK];
    uint32_t rank = t->shape.rank < 2 ? 2 : t->shape.rank;
    for (uint32_t i = 0; i < indices->shape.rank; i++) n = tn_dim_mul(x->symbols, n, indices->shape.dims[i]);
    dims[0] = 1; /* a vector is one row */
    for (uint32_t i = 0; t->shape.rank > 1 && i + 1 < rank; i++) dims[i] = t->shape.dims[i];
    dims[rank - 1] = n;
    tn_out_tensor(x, 0, t->element, rank, dims);
    return true;
}

static bool run_extract(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0], *indices = r->in[1];
    struct tn_tensor *y = r->out[0];
    uint64_t width = width_of(x), n = indices->count, rows = n ? y->count / n : 0;
    size_t size = tn_element_size(x->element);
    const int64_t *at = indices->data;
    for (uint64_t k = 0; k < n; k++) {
        if (at[k] < 0 || (uint64_t)at[k] >= width) return tn_run_refuse(r, "indices of features", "%lld of %llu", (long long)at[k], (unsigned long long)width);
    }
    for (uint64_t i = 0; i < rows * n; i++) {
        uint64_t from = i / n * width + (uint64_t)at[i % n];
        if (x->element != TN_EL_STRING) memcpy((char *)y->data + i * size, (const char *)x->data + from * size, size);
        else if (!tn_tensor_set_text(y, i, tn_tensor_texts(x)[from])) return tn_run_no_memory(r);
    }
    return true;
}

/* ---- element by element ------------------------------------------------------------------------------------------- */

static bool run_binarize(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    double threshold = tn_attr_float(r->node, "threshold", 0);
    for (uint64_t i = 0; i < x->count; i++) tn_element_set_int(x->element, r->out[0]->data, i, tn_element_get(x->element, x->data, i) > threshold);
    if (x->element != TN_EL_F32 && x->element != TN_EL_F64) return true;
    for (uint64_t i = 0; i < x->count; i++) tn_element_set(x->element, r->out[0]->data, i, tn_element_get(x->element, x->data, i) > threshold, false);
    return true;
}

static bool run_impute(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    size_t nf, ni;
    const float *floats = tn_attr_floats(r->node, "imputed_value_floats", &nf);
    const int64_t *ints = tn_attr_ints(r->node, "imputed_value_int64s", &ni);
    bool real = x->element == TN_EL_F32 || x->element == TN_EL_F64;
    size_t n = real ? nf : ni;
    uint64_t width = width_of(x);
    double from = tn_attr_float(r->node, "replaced_value_float", 0);
    int64_t from_int = tn_attr_int(r->node, "replaced_value_int64", 0);
    if (n != 1 && n != width) return tn_run_refuse(r, "one value to put in, or one for each feature", "%zu for %llu", n, (unsigned long long)width);
    memcpy(r->out[0]->data, x->data, x->bytes);
    for (uint64_t i = 0; i < x->count; i++) {
        uint64_t k = n == 1 ? 0 : i % width;
        double v = real ? tn_element_get(x->element, x->data, i) : 0;
        if (real && (v == from || (isnan(v) && isnan(from)))) tn_element_set(x->element, r->out[0]->data, i, (double)floats[k], false);
        else if (!real && tn_element_get_int(x->element, x->data, i) == from_int) tn_element_set_int(x->element, r->out[0]->data, i, ints[k]);
    }
    return true;
}

static bool infer_float(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    if (!t) return true;
    struct tn_type y = *t;
    y.element = TN_EL_F32;
    tn_out_type(x, 0, &y);
    return true;
}

/* (x - offset) * scale */
static bool run_scale(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    size_t ns, no;
    const float *scale = tn_attr_floats(r->node, "scale", &ns), *offset = tn_attr_floats(r->node, "offset", &no);
    uint64_t width = width_of(x);
    float *y = r->out[0]->data;
    if ((ns != 1 && ns != width) || (no != 1 && no != width))
        return tn_run_refuse(r, "one scale and offset, or one for each feature", "%zu and %zu for %llu", ns, no, (unsigned long long)width);
    for (uint64_t i = 0; i < x->count; i++) {
        float v = (float)tn_element_get(x->element, x->data, i);
        y[i] = (v - offset[no == 1 ? 0 : i % width]) * scale[ns == 1 ? 0 : i % width];
    }
    return true;
}

/* ---- Normalizer --------------------------------------------------------------------------------------------------- */

static const char *lacks_norm(const struct tn_node *node)
{
    struct tn_str norm = tn_attr_text(node, "norm");
    return tn_str_is(norm, "MAX") || tn_str_is(norm, "L1") || tn_str_is(norm, "L2") ? NULL : "norm MAX, L1 or L2";
}

/* A row by its largest number, the sum of its magnitudes, or its length; by nothing when that is 0. L2 keeps signs. */
static bool run_norm(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_str norm = tn_attr_text(r->node, "norm");
    uint64_t width = width_of(x);
    float *y = r->out[0]->data;
    for (uint64_t i = 0; width && i < x->count; i += width) {
        float by = tn_str_is(norm, "MAX") ? -INFINITY : 0;
        for (uint64_t k = i; k < i + width; k++) {
            y[k] = (float)tn_element_get(x->element, x->data, k);
            if (tn_str_is(norm, "MAX")) by = y[k] > by ? y[k] : by;
            else by += tn_str_is(norm, "L1") ? fabsf(y[k]) : y[k] * y[k];
        }
        if (tn_str_is(norm, "L2")) by = sqrtf(by);
        for (uint64_t k = i; by != 0 && k < i + width; k++) y[k] /= by;
    }
    return true;
}

/* ---- FeatureVectorizer -------------------------------------------------------------------------------------------- */

static bool infer_vectorize(struct tn_infer *x)
{
    size_t n;
    const int64_t *sizes = tn_attr_ints(x->node, "inputdimensions", &n);
    const struct tn_shape *s;
    tn_dim_t dims[2] = {1, 0};
    if (n != x->in_count) return tn_infer_refuse(x, "a size for each operand", "%zu for %u", n, x->in_count);
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] < 0 || sizes[i] > INT32_MAX) return tn_infer_refuse(x, "sizes from 0", "%lld", (long long)sizes[i]);
        dims[1] += sizes[i];
    }
    tn_out_unknown(x, 0, TN_EL_F32);
    if (!tn_in_shape(x, 0, &s)) return true;
    if (s->rank != 1 && s->rank != 2) return tn_infer_refuse(x, "rows of features", "rank %u", s->rank);
    dims[0] = s->rank == 2 ? s->dims[0] : 1;
    tn_out_tensor(x, 0, TN_EL_F32, 2, dims);
    return true;
}

/* Of each operand as many features as its size says; what it has not is 0. */
static bool run_vectorize(struct tn_run *r)
{
    size_t n;
    const int64_t *sizes = tn_attr_ints(r->node, "inputdimensions", &n);
    uint64_t rows = (uint64_t)r->out[0]->dims[0], width = (uint64_t)r->out[0]->dims[1], column = 0;
    float *y = r->out[0]->data;
    for (uint32_t i = 0; i < r->in_count; i++) {
        const struct tn_tensor *x = r->in[i];
        uint64_t have = width_of(x), want = (uint64_t)sizes[i];
        if (x->rank < 1 || x->rank > 2 || (x->rank == 2 ? (uint64_t)x->dims[0] : 1) != rows) return tn_run_refuse(r, "operands of as many rows", "operand %u of rank %u", i, x->rank);
        for (uint64_t k = 0; k < rows * want; k++) {
            uint64_t row = k / want, at = k % want;
            y[row * width + column + at] = at < have ? (float)tn_element_get(x->element, x->data, row * have + at) : 0;
        }
        column += want;
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.domain = domain, .name = "ArrayFeatureExtractor", .since = 1, .infer = infer_extract, .run = run_extract},
    {.domain = domain, .name = "Binarizer", .since = 1, .infer = tn_infer_same, .run = run_binarize},
    {.domain = domain, .name = "FeatureVectorizer", .since = 1, .infer = infer_vectorize, .run = run_vectorize},
    {.domain = domain, .name = "Imputer", .since = 1, .infer = tn_infer_same, .run = run_impute},
    {.domain = domain, .name = "Normalizer", .since = 1, .infer = infer_float, .run = run_norm, .lacks = lacks_norm},
    {.domain = domain, .name = "Scaler", .since = 1, .infer = infer_float, .run = run_scale},
};

const struct tn_operators tn_ops_ml_features = {rows, sizeof(rows) / sizeof(rows[0])};
