/*
 * What a package requires and wishes of its runtime, gathered while a dialect describes it and judged at the end: needed
 * capabilities, demands on the machine, generation contract, execution hints. Internal to src/describe.
 */
#ifndef TN_DESCRIBE_REQUIREMENTS_H
#define TN_DESCRIBE_REQUIREMENTS_H

#include "describe/builder.h"

/* The package states that it needs a capability, at this value. */
void tn_require_stated(struct tn_builder *b, struct tn_str id, struct tn_json place);
/* The same for every string of an array; anything else in it is passed over. */
void tn_require_stated_list(struct tn_builder *b, struct tn_json list);
/* The need follows from a structure ("a loop"), at this place; both are literals or in the arena. */
void tn_require_derived(struct tn_builder *b, const char *id, const char *structure, struct tn_str file,
                        struct tn_str pointer);

/* Objects of a document whose shape was checked; absent ones are passed over. Problems become findings. */
void tn_take_hardware(struct tn_builder *b, struct tn_json hardware_requirements);
void tn_take_generation(struct tn_builder *b, struct tn_json generation);
/* Checks the shape itself. Hints of the package rank as its metadata, whichever of its documents they stand in. */
void tn_take_hints(struct tn_builder *b, struct tn_json execution_hints);
/* Properties of one of the package's model files. */
void tn_take_model_properties(struct tn_builder *b, const struct tn_hint_property *properties, size_t count,
                              struct tn_str file);

struct tn_standard;
/* What the structure of an inference-metadata document uses, and a blocker for each part that is not executed here. */
void tn_require_uses(struct tn_builder *b, const struct tn_standard *doc);
/* A blocker for each profile and each version of a request's input that is not known here. */
void tn_require_profiles(struct tn_builder *b, const struct tn_standard *doc);

/*
 * The end of a description: execution_hints.json beside the package, capabilities that follow from what was described, and
 * a blocker for each that is not offered.
 */
void tn_describe_requirements(struct tn_builder *b);

#endif
