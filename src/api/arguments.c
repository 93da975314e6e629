/* Checking what callers hand in: option structs of other versions, and NULL. */
#include "api/api.h"

#include <string.h>

/* No option struct of ours comes near; a size beyond it is not a size. */
enum { LARGEST_STRUCT = 4096 };

enum tn_status tn_null_argument(struct tn_error *err, enum tn_phase phase, const char *name)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, phase, "the argument \"%s\" is NULL", name);
    tn_at_option(f, name);
    return TN_INVALID_REQUEST;
}

static enum tn_status refuse_size(struct tn_error *err, const char *name, size_t found)
{
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "struct_size of %s is not its size", name);
    tn_at_option(f, "struct_size");
    tn_found(f, "%zu", found);
    tn_expected(f, "sizeof the struct, as TN_INIT sets it");
    return TN_INVALID_REQUEST;
}

enum tn_status tn_read_options(void *to, size_t size, const void *options, const char *name, struct tn_error *err)
{
    size_t from_size;
    memset(to, 0, size);
    if (!options) {
        memcpy(to, &size, sizeof(size));
        return TN_OK;
    }
    memcpy(&from_size, options, sizeof(from_size));
    if (from_size < sizeof(size_t) || from_size > LARGEST_STRUCT) return refuse_size(err, name, from_size);
    memcpy(to, options, from_size < size ? from_size : size);
    memcpy(to, &size, sizeof(size));
    const unsigned char *bytes = options;
    for (size_t i = size; i < from_size; i++) {
        if (bytes[i] == 0) continue;
        struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_OPTION, TN_PHASE_REQUEST,
                                            "%s sets an option that this version of the library does not have", name);
        tn_found(f, "a value at byte %zu of the struct", i);
        tn_expected(f, "nothing beyond byte %zu", size);
        return TN_UNSUPPORTED_OPTION;
    }
    return TN_OK;
}
