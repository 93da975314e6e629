/*
 * Tensor types of a standard document: what a contract says, as text, and whether two of them contradict each other.
 *
 * Symbols are local to one component's ports. Inside one invocation a symbol has one size, so a number that enters
 * through one port is held against every other port and substituted in the outputs; between components symbols of equal
 * spelling mean nothing. Sizes 0 and 1 are never taken as a symbol's size: an empty cache and a broadcast row are legal
 * beside larger ones.
 */
#include "describe/standard/check_internal.h"
#include "package/onnx_schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct tn_std_type tn_std_type_of(const struct tn_standard *doc, const struct tn_std_contract *contract)
{
    struct tn_std_type type = {0};
    if (!tn_json_present(contract->at) || tn_doc_is_touched(&doc->marks, contract->at)) return type;
    type.known = true;
    type.dtype = contract->dtype;
    type.dtype_text = contract->dtype_text;
    /* A shape of another rank is refused where it stands; then neither is believed. */
    type.has_rank = contract->rank.present && (!contract->has_shape || contract->dim_count == contract->rank.value);
    type.rank = type.has_rank ? contract->rank.value : 0;
    type.has_shape = contract->has_shape && type.has_rank;
    type.dims = contract->dims;
    type.layout = &contract->layout;
    return type;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static size_t put(char *text, size_t at, const char *part, size_t n)
{
    size_t room = TN_STD_TYPE_TEXT - 1 - at;
    if (n > room) n = room;
    memcpy(text + at, part, n);
    text[at + n] = 0;
    return at + n;
}

/* Rows on axis 0 are what one expects, so only others are told. */
static void put_layout(char *text, size_t at, const struct tn_std_layout *l)
{
    char words[64] = "";
    if (l && l->axis > 0 && (l->kind == TN_STD_REQUEST_ALIGNED || l->kind == TN_STD_REQUEST_EXPANDED))
        snprintf(words, sizeof(words), ", rows on axis %" PRIu64, l->axis);
    else if (l && l->kind == TN_STD_TOKEN_PACKED) snprintf(words, sizeof(words), ", packed on axis %" PRIu64, l->axis);
    put(text, at, words, strlen(words));
}

const char *tn_std_type_text(const struct tn_std_type *type, char *text)
{
    char number[32];
    const char *dtype = tn_std_dtype_name(type->dtype);
    size_t at = 0;
    if (type->dtype == TN_STD_DTYPE_OTHER) at = put(text, 0, type->dtype_text.s ? type->dtype_text.s : "?",
                                                    type->dtype_text.s ? type->dtype_text.n : 1);
    else at = put(text, 0, dtype, strlen(dtype));
    if (!type->has_shape) {
        if (type->has_rank) snprintf(number, sizeof(number), " rank %" PRIu64, type->rank);
        else number[0] = 0;
        at = put(text, at, number, strlen(number));
        put_layout(text, at, type->layout);
        return text;
    }
    at = put(text, at, " [", 2);
    for (uint64_t i = 0; i < type->rank; i++) {
        const struct tn_std_dim *d = &type->dims[i];
        if (i > 0) at = put(text, at, ", ", 2);
        snprintf(number, sizeof(number), "%" PRId64, d->extent);
        at = d->fixed ? put(text, at, number, strlen(number)) : put(text, at, d->symbol.s ? d->symbol.s : "?",
                                                                    d->symbol.s ? d->symbol.n : 1);
    }
    at = put(text, at, "]", 1);
    put_layout(text, at, type->layout);
    return text;
}

/* ---- properties ------------------------------------------------------------------------------------------------- */

bool tn_std_type_is_integer(const struct tn_std_type *type)
{
    return !type->known || type->dtype == TN_STD_I64 || type->dtype == TN_STD_I32;
}

bool tn_std_type_is_scalar(const struct tn_std_type *type)
{
    if (!type->known || !type->has_rank || type->rank == 0) return true;
    return type->rank == 1 && type->has_shape && type->dims[0].fixed && type->dims[0].extent == 1;
}

/* ---- agreement -------------------------------------------------------------------------------------------------- */

static int64_t *symbol_size(struct tn_std_symbols *symbols, struct tn_str name)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (tn_str_eq(symbols->name[i], name)) return &symbols->extent[i];
    return NULL;
}

/* Holds one extent against a port's symbol; false when the symbol already has another size. */
static bool bind_symbol(struct tn_std_symbols *symbols, struct tn_str name, int64_t extent)
{
    if (extent <= 1) return true;
    int64_t *known = symbol_size(symbols, name);
    if (known) return *known == extent;
    if (symbols->count < TN_STD_SYMBOLS) {
        symbols->name[symbols->count] = name;
        symbols->extent[symbols->count++] = extent;
    }
    return true;
}

static const char *shape_clash(const struct tn_std_type *value, const struct tn_std_type *port,
                               struct tn_std_symbols *symbols, uint64_t free_axis)
{
    if (!value->has_shape || !port->has_shape) return NULL;
    for (uint64_t i = 0; i < port->rank; i++) {
        const struct tn_std_dim *v = &value->dims[i], *p = &port->dims[i];
        if (i == free_axis || !v->fixed) continue;
        if (p->fixed && v->extent != p->extent) return "the extents differ";
        if (!p->fixed && symbols && !bind_symbol(symbols, p->symbol, v->extent))
            return "one symbol of the component has two sizes in this invocation";
    }
    return NULL;
}

static bool has_rows(const struct tn_std_layout *l)
{
    return l->kind == TN_STD_REQUEST_ALIGNED || l->kind == TN_STD_REQUEST_EXPANDED;
}

/* A shared value serves every row, and a port that says nothing takes rows: only two different claims contradict. */
static const char *layout_clash(const struct tn_std_layout *value, const struct tn_std_layout *port)
{
    if (!value || !port) return NULL;
    if (has_rows(value) && has_rows(port) && value->axis != port->axis) return "the request axes differ";
    if ((value->kind == TN_STD_TOKEN_PACKED && has_rows(port)) ||
        (has_rows(value) && port->kind == TN_STD_TOKEN_PACKED))
        return "one is packed and the other has a row per request";
    if (value->kind == TN_STD_TOKEN_PACKED && port->kind == TN_STD_TOKEN_PACKED && value->axis != port->axis)
        return "the packed axes differ";
    return NULL;
}

const char *tn_std_type_clash(const struct tn_std_type *value, const struct tn_std_type *port,
                              struct tn_std_symbols *symbols, uint64_t free_axis)
{
    if (!value->known || !port->known) return NULL;
    bool same = value->dtype == port->dtype;
    if (same && value->dtype == TN_STD_DTYPE_OTHER)
        same = tn_onnx_element_named(value->dtype_text) == tn_onnx_element_named(port->dtype_text);
    if (!same) return "the element types differ";
    if (value->has_rank && port->has_rank && value->rank != port->rank) return "the ranks differ";
    const char *clash = shape_clash(value, port, symbols, free_axis);
    return clash ? clash : layout_clash(value->layout, port->layout);
}
