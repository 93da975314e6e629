/*
 * Protobuf's text form of an ONNX model, turned into its bytes: the view then reads both forms by one code. Grammar:
 * protobuf.dev, "Text Format Language". Hostile input; not recursive.
 */
#ifndef TN_PACKAGE_ONNX_TEXT_H
#define TN_PACKAGE_ONNX_TEXT_H

#include "package/onnx_schema.h"
#include "package/package.h"

/*
 * Appends the bytes of the ModelProto to `out` (initialised by the caller; its maximum bounds the memory). Fields by
 * their names in onnx.proto; extensions, Any and groups are not part of ONNX. TN_ARTIFACT_MALFORMED with line and
 * column, TN_RESOURCE_LIMIT at json_depth or when `out` is full, TN_INSUFFICIENT_MEMORY.
 */
enum tn_status tn_onnx_text_to_bytes(const struct tn_context *ctx, struct tn_str file, struct tn_str text,
                                     struct tn_buf *out, struct tn_error *err);

#endif
