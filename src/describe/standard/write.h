/* Descriptions in the inference-metadata form. Internal to src/describe. */
#ifndef TN_DESCRIBE_STANDARD_WRITE_H
#define TN_DESCRIBE_STANDARD_WRITE_H

#include "base/json_write.h"
#include "describe/describe.h"
#include "package/onnx.h"

/* One object: the document that goes beside tenon_package.json. */
void tn_standard_document_write(struct tn_json_writer *w, const struct tn_description *d);

/* Whether the form can state this graph: all ports are tensors of known type and rank. (write_graph.c) */
bool tn_standard_graph_states(const struct tn_onnx_view *view);
/* The first port that it cannot state; NULL: none. */
const struct tn_onnx_port *tn_standard_unstated_port(const struct tn_onnx_view *view);
/* One object for a package that is this graph. TN_INSUFFICIENT_MEMORY, before anything is written, or TN_OK. */
enum tn_status tn_standard_graph_write(struct tn_json_writer *w, const struct tn_onnx_view *view);

#endif
