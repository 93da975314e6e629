/* A graph for people and programs. */
#ifndef TN_NET_WRITE_H
#define TN_NET_WRITE_H

#include "base/json_write.h"
#include "net/net.h"

/* What was rewritten, as a value; the layer that rewrites has it. */
typedef void tn_write_patches(const struct tn_model *model, struct tn_json_writer *w);

/*
 * One object: file, versions, ports, constants, nodes with their attributes; graphs inside nodes below their node. `patches`
 * NULL: the graph is as it stands in the file.
 */
void tn_net_write(struct tn_json_writer *w, const struct tn_model *model, tn_write_patches *patches);
/*
 * The nodes of a graph, one object after another into an array of the caller's: operator, name, layer, operands and results with
 * their types, attributes. Operands that are weights go by their names.
 */
void tn_net_write_nodes(struct tn_json_writer *w, const struct tn_net *net);
/* The same for Graphviz: nodes and ports, edges labelled with types; constants of several elements are left out. */
void tn_net_write_dot(struct tn_buf *out, const struct tn_model *model);

#endif
