/* The providers that have a name. Those that this build lacks are listed with the reason, so that refusals can say it. */
#include "api/api.h"

static const struct tn_provider_entry entries[] = {
    {"native", &tn_native_provider, NULL},
    {"onnxruntime", NULL, "not in this build"},
    {"openvino", NULL, "not in this build"},
    {"llamacpp", NULL, "not in this build"},
    {"python", NULL, "not in this build"},
};

const struct tn_provider_entry *tn_provider_entries(size_t *count)
{
    *count = sizeof(entries) / sizeof(entries[0]);
    return entries;
}
