/*
 * The providers that have a name. Those that this build lacks are listed with the reason, so that refusals can say it. One that
 * is found at run time belongs to a runtime, which may name its library.
 */
#include "api/api.h"

#include "provider/onnxruntime/onnxruntime.h"

#include <string.h>

bool tn_providers_init(struct tn_runtime *runtime, const char *onnxruntime_library)
{
    runtime->ort = tn_ort_new(&runtime->ctx, onnxruntime_library);
    if (!runtime->ort) return false;
    const struct tn_provider_entry entries[TN_PROVIDERS] = {
        {"native", &tn_native_provider, NULL},
        {"onnxruntime", tn_ort_provider(runtime->ort), NULL},
        {"openvino", NULL, "not in this build"},
        {"llamacpp", NULL, "not in this build"},
        {"python", NULL, "not in this build"},
    };
    memcpy(runtime->providers, entries, sizeof(entries));
    return true;
}

void tn_providers_release(struct tn_runtime *runtime)
{
    tn_ort_free(runtime->ort);
    runtime->ort = NULL;
}

const struct tn_provider_entry *tn_provider_entries(const struct tn_runtime *runtime, size_t *count)
{
    *count = TN_PROVIDERS;
    return runtime->providers;
}
