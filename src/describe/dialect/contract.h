/*
 * What a contract says of our own component, against what the package does: its other document and its files. Equal is
 * good, different is a contradiction, and what is neither compared nor obeyed is refused, so that nothing is passed over.
 * Internal to the dialect inference_metadata.
 */
#ifndef TN_DESCRIBE_DIALECT_CONTRACT_H
#define TN_DESCRIBE_DIALECT_CONTRACT_H

#include "describe/builder.h"

/* Whether something at or below a place of our own document was refused: then it is no measure for the other one. */
bool tn_contract_refused_below(const struct tn_builder *b, const char *pointer);
/* A blocker at v with what stands there; NULL where v is absent, broken or has been refused already. */
struct tn_finding *tn_contract_refuse(struct tn_builder *b, struct tn_json v, enum tn_status code, const char *what);
/* The two documents differ at v; the caller says what was expected. NULL where v has been refused already. */
struct tn_finding *tn_contract_contradiction(struct tn_builder *b, struct tn_json v);
/* v is neither compared nor obeyed. NULL as above. */
struct tn_finding *tn_contract_unsupported(struct tn_builder *b, struct tn_json v, const char *what);

enum { TN_CONTRACT_ROWS = 64 };
/*
 * contract_closed.c: refuses every member below the object that says something and is in no row. A row is a path of keys with
 * all below them, "*" for any key; at most TN_CONTRACT_ROWS of them.
 */
void tn_contract_close(struct tn_builder *b, struct tn_json object, const char *const *rows, unsigned count, const char *what);

/* contract_evidence.c: of any contract, its values, roles, identity and dependencies, for people and for caches. */
void tn_contract_evidence(struct tn_builder *b, struct tn_json root);

/* contract_facts.c: sizes, attention and precision. */
void tn_contract_facts(struct tn_builder *b);
/* contract_tokenizer.c */
void tn_contract_tokenizer(struct tn_builder *b);
/* contract_flow.c: what the component is given, gives and keeps; then every member that is nobody's. */
void tn_contract_flow(struct tn_builder *b, struct tn_json component);

#endif
