/* The provider ONNX Runtime, as the composition root makes it: one for each runtime, since each may name a library. */
#ifndef TN_PROVIDER_ONNXRUNTIME_ONNXRUNTIME_H
#define TN_PROVIDER_ONNXRUNTIME_ONNXRUNTIME_H

#include "provider.h"

struct tn_ort;

/*
 * `path` of the shared library; NULL: the loader's usual places. Nothing is opened before the first question. The context
 * outlives it. NULL without memory.
 */
struct tn_ort *tn_ort_new(const struct tn_context *ctx, const char *path);
/* All its assessments and instances are gone. */
void tn_ort_free(struct tn_ort *ort);
/* Lives as long as `ort`. */
const struct tn_provider *tn_ort_provider(struct tn_ort *ort);

#endif
