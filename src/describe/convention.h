/* A declared contract beside the documents of a convention. Internal to src/describe. */
#ifndef TN_DESCRIBE_CONVENTION_H
#define TN_DESCRIBE_CONVENTION_H

#include "describe/builder.h"

/*
 * Describes the package once more as if it had no declared contract, and warns of every value that differs: the contract
 * decides, and nobody should be surprised.
 */
void tn_compare_with_convention(struct tn_builder *b);

/* Runs the first dialect that recognises the package without its contract; false when none does. (describe.c) */
bool tn_describe_by_convention(struct tn_builder *b);

#endif
