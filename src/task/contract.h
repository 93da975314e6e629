/* What `tenon tasks` says of a task. */
#ifndef TN_TASK_CONTRACT_H
#define TN_TASK_CONTRACT_H

#include "base/doctype.h"

/* Member "request": {name, type, required, absent, meaning} of each member that a request may have, by its table. */
void tn_contract_request(struct tn_json_writer *w, const struct tn_doctype *request);
/* One member of a contract's "result". */
void tn_contract_field(struct tn_json_writer *w, const char *name, const char *type, const char *meaning);
/* Member "invariants" of a task whose answers do not depend on company; `items` says what an item gets. */
void tn_contract_invariants(struct tn_json_writer *w, const char *items);

#endif
