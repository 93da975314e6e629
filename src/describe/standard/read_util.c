/*
 * Tolerant reads of a standard document's members. Knows nothing about what the members mean. Inputs are untrusted; a
 * wrong type is absence, because the closed tables have refused it already and one mistake deserves one finding.
 */
#include "describe/standard/read.h"

#include <string.h>

struct tn_json tn_std_get(struct tn_json object, const char *key)
{
    struct tn_json v = tn_json_get(object, key);
    return tn_json_is(v, TN_JSON_NULL) ? (struct tn_json){0} : v;
}

struct tn_std_ref tn_std_ref_at(struct tn_json v)
{
    struct tn_std_ref ref = {0};
    if (tn_json_str(v, &ref.name)) ref.at = v;
    return ref;
}

struct tn_std_ref tn_std_ref_of(struct tn_json object, const char *key)
{
    return tn_std_ref_at(tn_json_get(object, key));
}

struct tn_str tn_std_str_of(struct tn_json object, const char *key)
{
    return tn_std_ref_of(object, key).name;
}

struct tn_std_count tn_std_count_of(struct tn_json object, const char *key)
{
    struct tn_std_count count = {0};
    struct tn_json v = tn_json_get(object, key);
    if (tn_json_u64(v, &count.value)) {
        count.present = true;
        count.at = v;
    }
    return count;
}

struct tn_std_real tn_std_real_of(struct tn_json object, const char *key)
{
    struct tn_std_real real = {0};
    struct tn_json v = tn_json_get(object, key);
    if (tn_json_f64(v, &real.value)) {
        real.present = true;
        real.at = v;
    }
    return real;
}

bool tn_std_bool_of(struct tn_json object, const char *key, bool otherwise)
{
    bool value = otherwise;
    return tn_json_bool(tn_json_get(object, key), &value) ? value : otherwise;
}

int tn_std_word_of(struct tn_json object, const char *key, const struct tn_std_word *words)
{
    struct tn_str text;
    if (!tn_json_str(tn_json_get(object, key), &text)) return 0;
    for (; words->text; words++)
        if (tn_str_is(text, words->text)) return words->value;
    return 0;
}

void *tn_std_array(struct tn_std_reader *r, size_t count, size_t size, size_t *n)
{
    *n = 0;
    if (count == 0) return NULL;
    void *items = tn_arena_array(r->arena, count, size);
    if (!items) r->memory_gone = true;
    else *n = count;
    return items;
}

struct tn_std_refs tn_std_refs_of(struct tn_std_reader *r, struct tn_json object, const char *key)
{
    struct tn_std_refs refs = {.at = tn_json_get(object, key)};
    size_t room, n = 0;
    if (!tn_json_is(refs.at, TN_JSON_ARRAY)) return (struct tn_std_refs){0};
    refs.items = tn_std_array(r, tn_json_count(refs.at), sizeof(*refs.items), &room);
    for (struct tn_json v = tn_json_first(refs.at); room && tn_json_present(v); v = tn_json_next(v)) {
        refs.items[n] = tn_std_ref_at(v);
        if (tn_json_present(refs.items[n].at)) n++;
    }
    refs.count = n;
    return refs;
}

struct tn_std_bindings tn_std_bindings_of(struct tn_std_reader *r, struct tn_json object, const char *key)
{
    struct tn_std_bindings list = {.at = tn_json_get(object, key)};
    size_t room, n = 0;
    if (!tn_json_is(list.at, TN_JSON_OBJECT)) return (struct tn_std_bindings){0};
    list.items = tn_std_array(r, tn_json_count(list.at), sizeof(*list.items), &room);
    for (struct tn_json v = tn_json_first(list.at); room && tn_json_present(v); v = tn_json_next(v)) {
        struct tn_std_binding *b = &list.items[n];
        if (!tn_json_str(v, &b->value)) continue;
        b->key = tn_json_key(v);
        b->at = v;
        n++;
    }
    list.count = n;
    return list;
}

/* ---- tensor contracts ------------------------------------------------------------------------------------------- */

static const struct tn_std_word dtypes[] = {
    {"float32", TN_STD_F32},
    {"fp32", TN_STD_F32},
    {"float16", TN_STD_F16},
    {"fp16", TN_STD_F16},
    {"half", TN_STD_F16},
    {"bfloat16", TN_STD_BF16},
    {"bf16", TN_STD_BF16},
    {"float8_e4m3fn", TN_STD_F8_E4M3FN},
    {"fp8_e4m3fn", TN_STD_F8_E4M3FN},
    {"float8_e4m3", TN_STD_F8_E4M3FN},
    {"fp8_e4m3", TN_STD_F8_E4M3FN},
    {"float8_e5m2", TN_STD_F8_E5M2},
    {"fp8_e5m2", TN_STD_F8_E5M2},
    {"int64", TN_STD_I64},
    {"int32", TN_STD_I32},
    {"int8", TN_STD_I8},
    {"uint8", TN_STD_U8},
    {"bool", TN_STD_BOOL},
    {"string", TN_STD_STRING},
    {NULL, 0},
};

enum tn_std_dtype tn_std_dtype_of(struct tn_str text)
{
    for (const struct tn_std_word *w = dtypes; w->text; w++)
        if (tn_str_is(text, w->text)) return (enum tn_std_dtype)w->value;
    return TN_STD_DTYPE_OTHER;
}

const char *tn_std_dtype_name(enum tn_std_dtype dtype)
{
    for (const struct tn_std_word *w = dtypes; w->text; w++)
        if (w->value == (int)dtype) return w->text;
    return "other";
}

static const struct tn_std_word layouts[] = {
    {"shared", TN_STD_SHARED},
    {"request_aligned", TN_STD_REQUEST_ALIGNED},
    {"request_expanded", TN_STD_REQUEST_EXPANDED},
    {"token_packed", TN_STD_TOKEN_PACKED},
    {"runtime_sequence_state", TN_STD_RUNTIME_SEQUENCE_STATE},
    {NULL, 0},
};

const char *tn_std_layout_name(enum tn_std_layout_kind kind)
{
    return layouts[kind].text;
}

static void read_layout(struct tn_json v, struct tn_std_layout *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->at = v;
    out->kind = (enum tn_std_layout_kind)tn_std_word_of(v, "kind", layouts);
    out->axis = tn_std_count_of(v, "axis").value;
    out->factor = tn_std_count_of(v, "factor");
    out->offsets = tn_std_ref_of(v, "offsets");
    out->owner = tn_std_ref_of(v, "owner");
}

static void read_shape(struct tn_std_reader *r, struct tn_json v, struct tn_std_contract *out)
{
    if (!tn_json_is(v, TN_JSON_ARRAY)) return;
    out->has_shape = true;
    out->dims = tn_std_array(r, tn_json_count(v), sizeof(*out->dims), &out->dim_count);
    size_t i = 0;
    for (struct tn_json d = tn_json_first(v); i < out->dim_count; d = tn_json_next(d), i++) {
        out->dims[i].at = d;
        out->dims[i].fixed = tn_json_i64(d, &out->dims[i].extent);
        if (!out->dims[i].fixed) tn_json_str(d, &out->dims[i].symbol);
    }
}

void tn_std_contract_at(struct tn_std_reader *r, struct tn_json v, struct tn_std_contract *out)
{
    if (!tn_json_is(v, TN_JSON_OBJECT)) return;
    out->at = v;
    out->dtype_text = tn_std_str_of(v, "dtype");
    out->dtype = tn_std_dtype_of(out->dtype_text);
    out->rank = tn_std_count_of(v, "rank");
    out->optional = tn_std_bool_of(v, "optional", false);
    read_shape(r, tn_json_get(v, "shape"), out);
    read_layout(tn_json_get(v, "batch_layout"), &out->layout);
}
