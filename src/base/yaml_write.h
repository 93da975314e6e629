/* YAML text of a parsed document. */
#ifndef TN_BASE_YAML_WRITE_H
#define TN_BASE_YAML_WRITE_H

#include "base/buf.h"
#include "base/json.h"

enum { TN_YAML_WRITE_DEPTH = 128 };

/*
 * Appends one document in block style, keys in the document's order, strings quoted wherever a reader might take them for
 * something else. TN_RESOURCE_LIMIT when the buffer is full, TN_INSUFFICIENT_MEMORY, TN_RUNTIME_FAILURE when the value
 * nests deeper than TN_YAML_WRITE_DEPTH.
 */
enum tn_status tn_yaml_write(struct tn_json root, struct tn_buf *out);

#endif
