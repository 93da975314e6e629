/* What an import left out, and who accepted that. Internal to src/describe. */
#ifndef TN_DESCRIBE_LOSSES_H
#define TN_DESCRIBE_LOSSES_H

#include "describe/builder.h"

/* Appends a copy to the description's list; NULL after a failure. */
struct tn_loss *tn_loss_keep(struct tn_builder *b, enum tn_loss_kind kind, struct tn_str file, struct tn_str pointer,
                             struct tn_str reason);
const char *tn_loss_kind_name(enum tn_loss_kind kind);
/* /losses of tenon_package.json: each with a fact. The shape was checked. */
void tn_losses_read(struct tn_builder *b, struct tn_json list);

#endif
