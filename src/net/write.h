/* A graph for people and programs. */
#ifndef TN_NET_WRITE_H
#define TN_NET_WRITE_H

#include "base/json_write.h"
#include "net/net.h"

/* One object: file, versions, ports, constants, nodes with their attributes; graphs inside nodes below their node. */
void tn_net_write(struct tn_json_writer *w, const struct tn_model *model);
/* The same for Graphviz: nodes and ports, edges labelled with types; constants of several elements are left out. */
void tn_net_write_dot(struct tn_buf *out, const struct tn_model *model);

#endif
