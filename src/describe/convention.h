/* A declared contract beside the documents of a convention. Internal to src/describe. */
#ifndef TN_DESCRIBE_CONVENTION_H
#define TN_DESCRIBE_CONVENTION_H

#include "describe/builder.h"

/*
 * Describes the package once more as if it had no declared contract, and warns of every value that differs: the contract
 * decides, and nobody should be surprised.
 */
void tn_compare_with_convention(struct tn_builder *b);

/*
 * The same for what a convention's import says in the standard's form: facts of model, tokenizer and generation, roles of
 * ports, and what is listed as lost; of an import that stopped short, the facts that it read. (convention_contract.c)
 */
void tn_compare_contracts(struct tn_builder *b, const struct tn_builder *other);

/* A declared contract and what the import makes of the same package. */
struct tn_contract_pair {
    struct tn_builder *b;
    const struct tn_builder *other;
};

/* A warning at a place of the declared contract: what either side says of it, in a few words or as JSON text. */
void tn_contract_differs(const struct tn_contract_pair *p, struct tn_json at, struct tn_str declared, struct tn_str other);

/* Of the components of one file: types and shapes of ports, state, where their inputs come from. (convention_flow.c) */
void tn_compare_flows(const struct tn_contract_pair *p);

/*
 * Whether a listed file is a document of some convention that a declared contract neither is nor names: what is wrong with
 * it cannot refuse the package.
 */
bool tn_is_beside_contract(const struct tn_description *d, struct tn_str path);

/*
 * Runs the first dialect that recognises the package without its contract; false when none does, or one that goes by the
 * weights alone. (describe.c)
 */
bool tn_describe_by_convention(struct tn_builder *b);

#endif
