/*
 * Maps of ai.onnx.ml: ZipMap makes them from rows of scores, CastMap and DictVectorizer make tensors of them. A map is two
 * tensors, keys and values (tensor/tensor.h); all maps of a ZipMap share their keys.
 */
#include "ops/ml_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char domain[] = "ai.onnx.ml";

/* ---- ZipMap ------------------------------------------------------------------------------------------------------- */

static bool infer_zip(struct tn_infer *x)
{
    const struct tn_shape *s;
    size_t texts, ints;
    tn_attr_texts(x->node, "classlabels_strings", &texts);
    tn_attr_ints(x->node, "classlabels_int64s", &ints);
    if (!texts == !ints) return tn_infer_refuse(x, "keys that are texts or integers", texts ? "both" : "none");
    if (tn_in_shape(x, 0, &s)) {
        if (s->rank != 1 && s->rank != 2) return tn_infer_refuse(x, "rows of values", "rank %u", s->rank);
        tn_dim_t width = s->dims[s->rank - 1];
        if (tn_dim_known(width) && (uint64_t)width != texts + ints)
            return tn_infer_refuse(x, "as many columns as keys", "%lld columns, %zu keys", (long long)width, texts + ints);
    }
    if (x->running || !x->arena) return true;
    struct tn_type *of = tn_arena_array(x->arena, 2, sizeof(*of));
    if (!of) {
        x->symbols->failed = true;
        return true;
    }
    of[0] = (struct tn_type){.kind = TN_KIND_TENSOR, .element = TN_EL_F32, .shape = {.known = true}};
    of[1] = (struct tn_type){.kind = TN_KIND_MAP, .element = texts ? TN_EL_STRING : TN_EL_I64, .of = &of[0]};
    tn_out_type(x, 0, &(struct tn_type){.kind = TN_KIND_SEQUENCE, .of = &of[1]});
    return true;
}

static struct tn_tensor *keys_of(struct tn_run *r, const struct tn_labels *labels)
{
    int64_t n = (int64_t)labels->count;
    struct tn_tensor *keys = tn_tensor_new(r->heap, tn_labels_element(labels), 1, &n);
    for (uint64_t i = 0; keys && i < labels->count; i++) {
        if (tn_label_set(labels, i, keys, i)) continue;
        tn_tensor_drop(keys);
        return NULL;
    }
    return keys;
}

static struct tn_tensor *map_of(struct tn_run *r, struct tn_tensor *keys, const float *values)
{
    struct tn_tensor *pair[2] = {keys, tn_tensor_new(r->heap, TN_EL_F32, 1, keys->dims)}, *map;
    if (!pair[1]) return NULL;
    if (keys->count) memcpy(pair[1]->data, values, keys->count * sizeof(*values));
    map = tn_tensor_group(r->heap, TN_KIND_MAP, pair, 2);
    tn_tensor_drop(pair[1]);
    return map;
}

static bool run_zip(struct tn_run *r)
{
    const struct tn_tensor *x = r->in[0];
    struct tn_labels labels;
    tn_labels_of(r->node, &labels);
    uint64_t rows = x->rank == 2 ? (uint64_t)x->dims[0] : 1, made = 0;
    struct tn_tensor *keys = keys_of(r, &labels), **maps = tn_run_scratch(r, rows + 1, sizeof(struct tn_tensor *)), *all = NULL;
    bool good = keys && maps;
    for (; good && made < rows; made++) {
        maps[made] = map_of(r, keys, (const float *)x->data + made * labels.count);
        good = maps[made] != NULL;
        if (!good) break;
    }
    if (good) all = tn_tensor_group(r->heap, TN_KIND_SEQUENCE, maps, rows);
    for (uint64_t i = 0; i < made; i++) tn_tensor_drop(maps[i]);
    tn_heap_give(r->heap, maps);
    tn_tensor_drop(keys);
    if (!all) return tn_run_no_memory(r);
    tn_tensor_drop(r->out[0]);
    r->out[0] = all;
    return true;
}

/* ---- values of a map as elements ---------------------------------------------------------------------------------- */

/* The k-th value of a map: its values are a tensor, or a sequence of scalars. */
static bool value_of(const struct tn_tensor *map, uint64_t k, const struct tn_tensor **out, uint64_t *at)
{
    const struct tn_tensor *values = map->items[1];
    *out = values;
    *at = k;
    if (values->kind == TN_KIND_TENSOR) return k < values->count;
    if (k >= values->count || values->items[k]->kind != TN_KIND_TENSOR || values->items[k]->count < 1) return false;
    *out = values->items[k];
    *at = 0;
    return true;
}

/* As C++ writes a float without being told how, whatever the locale's point; what does not fit so is written shortest. */
static size_t six_decimals(char *text, size_t cap, double value)
{
    if (!(fabs(value) < 1e12)) return tn_format_f64(text, value);
    long long micro = llrint(fabs(value) * 1e6);
    return (size_t)snprintf(text, cap, "%s%lld.%06lld", signbit(value) ? "-" : "", micro / 1000000, micro % 1000000);
}

/* Whatever was there becomes what the result holds; texts that are no number are 0. */
static bool put(struct tn_run *r, struct tn_tensor *y, uint64_t i, const struct tn_tensor *x, uint64_t k)
{
    char text[64];
    if (y->element == TN_EL_STRING && x->element == TN_EL_STRING) return tn_tensor_set_text(y, i, tn_tensor_texts(x)[k]) || tn_run_no_memory(r);
    if (y->element == TN_EL_STRING) {
        size_t n = x->element == TN_EL_I64 ? (size_t)snprintf(text, sizeof(text), "%lld", (long long)((const int64_t *)x->data)[k])
                                           : six_decimals(text, sizeof(text), tn_element_get(x->element, x->data, k));
        return tn_tensor_set_text(y, i, (struct tn_str){text, n}) || tn_run_no_memory(r);
    }
    if (x->element == TN_EL_STRING) {
        double value;
        if (!tn_parse_f64(tn_tensor_texts(x)[k], &value)) value = 0;
        tn_element_set(y->element, y->data, i, value, false);
        return true;
    }
    if (y->element == TN_EL_I64) tn_element_set_int(y->element, y->data, i, tn_element_get_int(x->element, x->data, k));
    else tn_element_set(y->element, y->data, i, tn_element_get(x->element, x->data, k), false);
    return true;
}

static bool clear(struct tn_tensor *y)
{
    if (y->element == TN_EL_STRING) return true; /* texts begin empty */
    memset(y->data, 0, y->bytes);
    return true;
}

/* ---- CastMap ------------------------------------------------------------------------------------------------------ */

static enum tn_element cast_to(const struct tn_node *node)
{
    struct tn_str to = tn_attr_text(node, "cast_to");
    return tn_str_is(to, "TO_STRING") ? TN_EL_STRING : tn_str_is(to, "TO_INT64") ? TN_EL_I64 : TN_EL_F32;
}

static bool is_sparse(const struct tn_node *node)
{
    return tn_str_is(tn_attr_text(node, "map_form"), "SPARSE");
}

static bool infer_cast(struct tn_infer *x)
{
    int64_t most = tn_attr_int(x->node, "max_map", 1);
    if (is_sparse(x->node) && (most < 1 || most > INT32_MAX)) return tn_infer_refuse(x, "a length from 1 (max_map)", "%lld", (long long)most);
    tn_out_tensor(x, 0, cast_to(x->node), 2, (tn_dim_t[]){1, is_sparse(x->node) ? most : tn_dim_unknown(x->symbols)});
    return true;
}

/* Where value k of the map goes: the rank of its key among all, or the key itself. */
static uint64_t place_of(const int64_t *keys, uint64_t n, uint64_t k)
{
    uint64_t place = 0;
    for (uint64_t i = 0; i < n; i++) place += keys[i] < keys[k] || (keys[i] == keys[k] && i < k);
    return place;
}

static bool run_cast(struct tn_run *r)
{
    const struct tn_tensor *map = r->in[0], *value;
    const int64_t *keys = map->items[0]->data;
    uint64_t n = map->items[0]->count, at;
    bool sparse = is_sparse(r->node);
    int64_t dims[2] = {1, sparse ? tn_attr_int(r->node, "max_map", 1) : (int64_t)n};
    struct tn_tensor *y = tn_run_output(r, 0, cast_to(r->node), 2, dims);
    if (!y || !clear(y)) return false;
    if (map->items[0]->element != TN_EL_I64) return tn_run_refuse(r, "a map of integers", "other keys");
    for (uint64_t i = 0; sparse && y->element == TN_EL_STRING && i < y->count; i++) { /* what runtimes write where no key is */
        if (!tn_tensor_set_text(y, i, TN_STR("0.f"))) return tn_run_no_memory(r);
    }
    for (uint64_t k = 0; k < n; k++) {
        if (sparse && (keys[k] < 0 || keys[k] >= dims[1])) return tn_run_refuse(r, "keys below max_map", "%lld", (long long)keys[k]);
        if (!value_of(map, k, &value, &at)) return tn_run_refuse(r, "a value for each key", "fewer");
        if (!put(r, y, sparse ? (uint64_t)keys[k] : place_of(keys, n, k), value, at)) return false;
    }
    return true;
}

/* ---- DictVectorizer ----------------------------------------------------------------------------------------------- */

static bool infer_dict(struct tn_infer *x)
{
    const struct tn_type *t = tn_in_type(x, 0);
    size_t texts, ints;
    tn_attr_texts(x->node, "string_vocabulary", &texts);
    tn_attr_ints(x->node, "int64_vocabulary", &ints);
    if (!texts == !ints) return tn_infer_refuse(x, "one vocabulary", texts ? "two" : "none");
    if (x->running) return true; /* the value tells its element; see run_dict */
    tn_dim_t dims[2] = {1, (tn_dim_t)(texts + ints)};
    tn_out_tensor(x, 0, t && t->of ? t->of->element : TN_EL_NONE, 2, dims);
    return true;
}

static bool run_dict(struct tn_run *r)
{
    const struct tn_tensor *map = r->in[0], *keys = map->items[0], *values = map->items[1], *value;
    size_t texts, ints;
    const struct tn_str *words = tn_attr_texts(r->node, "string_vocabulary", &texts);
    const int64_t *numbers = tn_attr_ints(r->node, "int64_vocabulary", &ints);
    uint64_t n = texts + ints, at;
    enum tn_element e = values->kind == TN_KIND_TENSOR ? values->element : values->count ? values->items[0]->element : TN_EL_F32;
    if (keys->element != (texts ? TN_EL_STRING : TN_EL_I64)) return tn_run_refuse(r, "keys like the vocabulary", "others");
    struct tn_tensor *y = tn_run_output(r, 0, e, 2, (int64_t[]){1, (int64_t)n});
    if (!y || !clear(y)) return false;
    for (uint64_t k = 0; k < keys->count; k++) {
        uint64_t place = 0;
        while (place < n && (texts ? !tn_str_eq(words[place], tn_tensor_texts(keys)[k]) : numbers[place] != ((const int64_t *)keys->data)[k])) place++;
        if (place == n) continue;
        if (!value_of(map, k, &value, &at)) return tn_run_refuse(r, "a value for each key", "fewer");
        if (!put(r, y, place, value, at)) return false;
    }
    return true;
}

static const struct tn_operator rows[] = {
    {.domain = domain, .name = "ZipMap", .since = 1, .infer = infer_zip, .run = run_zip},
    {.domain = domain, .name = "CastMap", .since = 1, .infer = infer_cast, .run = run_cast},
    {.domain = domain, .name = "DictVectorizer", .since = 1, .infer = infer_dict, .run = run_dict},
};

const struct tn_operators tn_ops_ml_map = {rows, sizeof(rows) / sizeof(rows[0])};
