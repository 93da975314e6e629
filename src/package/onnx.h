/* The surface of an ONNX file: facts for the inventory, no verdict. Input is hostile. */
#ifndef TN_PACKAGE_ONNX_H
#define TN_PACKAGE_ONNX_H

#include "base/arena.h"
#include "base/source.h"

enum { TN_ONNX_LOCATIONS = 1024 };

struct tn_onnx_surface {
    uint64_t ir_version;
    char producer[64];
    char opsets[256]; /* "ai.onnx 17, com.microsoft 1" */
    uint64_t nodes, inputs, outputs, initializers;
    bool whole; /* the graph could be walked to its end */
    /* Distinct names of external data files as written, unchecked; in the arena. */
    struct tn_str *locations;
    uint32_t location_count;
    bool more_locations; /* than TN_ONNX_LOCATIONS */
};

/*
 * *is_onnx: every field is one of ModelProto's, to the last byte of the source, with a version and a graph. Reads
 * the source in small blocks. TN_INSUFFICIENT_MEMORY is the only failure; unreadable bytes are not ONNX.
 */
enum tn_status tn_onnx_surface(const struct tn_source *source, struct tn_alloc *alloc, struct tn_arena *arena,
                               struct tn_onnx_surface *out, bool *is_onnx);

#endif
