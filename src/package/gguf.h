/* The surface of a GGUF file: facts for the inventory, no verdict. Input is hostile. */
#ifndef TN_PACKAGE_GGUF_H
#define TN_PACKAGE_GGUF_H

#include "base/source.h"

struct tn_gguf_surface {
    uint32_t version;
    bool big_endian;           /* then nothing but the version was read */
    uint64_t tensors, entries; /* as claimed */
    char architecture[64];     /* "" when it is not the first entry */
};

/* The source begins with the magic. Fails (with place) when it ends inside the fixed part. */
enum tn_status tn_gguf_surface(const struct tn_source *source, struct tn_gguf_surface *out, struct tn_error *err);

#endif
