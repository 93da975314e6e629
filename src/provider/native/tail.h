/*
 * What follows rows that somebody else made of the ids: the modules of a package behind a component, as a program of the native
 * provider. For any provider that runs graphs (provider/texts).
 */
#ifndef TN_PROVIDER_NATIVE_TAIL_H
#define TN_PROVIDER_NATIVE_TAIL_H

#include "provider.h"

struct tn_native_program;

/*
 * A program of the modules [first, end) of the request behind rows [T, width]; sets a->output_*, adds its sizes to
 * a->estimate. Lives in a's arena; a refusal becomes a finding and *out NULL, as where there are no modules: then the rows are
 * the result. Release it in any case.
 */
enum tn_status tn_native_tail_assess(const struct tn_component_request *r, uint64_t width, struct tn_assessment *a,
                                     struct tn_native_program **out, struct tn_error *err);
void tn_native_tail_release(struct tn_native_program *tail);
/* What of it belongs in a fingerprint, and its nodes as elements of the caller's array. */
void tn_native_tail_fingerprint(const struct tn_native_program *tail, struct tn_sha256 *h);
void tn_native_tail_write(struct tn_json_writer *w, const struct tn_native_program *tail);

/* Loaded. tn_native_invoke runs it, of an invocation with given rows; *weights is its weights identity. */
enum tn_status tn_native_tail_load(const struct tn_assessment *a, const struct tn_native_program *tail, const struct tn_component_request *r,
                                   const struct tn_load_env *env, struct tn_instance **out, struct tn_digest *weights, struct tn_error *err);
enum tn_status tn_native_invoke(struct tn_instance *instance, const struct tn_invocation *call, struct tn_error *err);
void tn_native_release(struct tn_instance *instance);

#endif
