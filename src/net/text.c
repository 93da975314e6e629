/* Types as people write them. */
#include "net/net.h"

#include <stdio.h>
#include <string.h>

static size_t put(char *out, size_t cap, size_t at, const char *text)
{
    size_t n = strlen(text);
    if (at + n >= cap) n = cap > at ? cap - at - 1 : 0;
    memcpy(out + at, text, n);
    return at + n;
}

const char *tn_type_text(const struct tn_model *model, const struct tn_type *type, char *out, size_t cap)
{
    static const char *const groups[] = {[TN_KIND_SEQUENCE] = "sequence of ", [TN_KIND_OPTIONAL] = "optional ", [TN_KIND_MAP] = "map to "};
    size_t at = 0;
    char dim[256];
    if (cap == 0) return out;
    while (type && (type->kind == TN_KIND_SEQUENCE || type->kind == TN_KIND_OPTIONAL || type->kind == TN_KIND_MAP)) {
        at = put(out, cap, at, groups[type->kind]);
        type = type->of;
    }
    at = put(out, cap, at, type && type->kind == TN_KIND_TENSOR ? tn_onnx_element_name(type->element) : "unknown");
    if (type && type->kind == TN_KIND_TENSOR && type->shape.known) {
        at = put(out, cap, at, " [");
        for (uint32_t i = 0; i < type->shape.rank; i++) {
            if (i) at = put(out, cap, at, ", ");
            at = put(out, cap, at, tn_dim_text(&model->symbols, type->shape.dims[i], dim, sizeof(dim)));
        }
        at = put(out, cap, at, "]");
    }
    out[at] = 0;
    return out;
}
