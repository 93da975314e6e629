/* Tables of element types and file roles: names and sizes made from the lists in package.h. */
#include "package/package.h"

static const struct {
    const char *name, *spelling;
    unsigned bits;
} dtypes[] = {
#define X(name, text, spelling, bits) {text, spelling, bits},
    TN_DTYPE_LIST(X)
#undef X
};
_Static_assert(sizeof(dtypes) / sizeof(dtypes[0]) == TN_DTYPE_COUNT, "one row per element type");

const char *tn_dtype_name(enum tn_dtype dtype)
{
    return (unsigned)dtype < TN_DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}

unsigned tn_dtype_bits(enum tn_dtype dtype)
{
    return (unsigned)dtype < TN_DTYPE_COUNT ? dtypes[dtype].bits : 0;
}

size_t tn_dtype_bytes(enum tn_dtype dtype)
{
    return tn_dtype_bits(dtype) / 8;
}

enum tn_dtype tn_dtype_of_safetensors(struct tn_str spelling)
{
    for (unsigned i = 0; i < TN_DTYPE_UNKNOWN; i++) {
        if (tn_str_is(spelling, dtypes[i].spelling)) return (enum tn_dtype)i;
    }
    return TN_DTYPE_UNKNOWN;
}

const char *tn_file_role_name(enum tn_file_role role)
{
    switch (role) {
#define X(name, text)                                                                              \
    case TN_ROLE_##name:                                                                           \
        return text;
        TN_FILE_ROLE_LIST(X)
#undef X
    }
    return "unknown";
}
