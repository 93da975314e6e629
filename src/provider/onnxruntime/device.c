/*
 * Devices are execution providers of the library. Whether one is there is answered by the library's own attempt to make it,
 * whose reason is handed on; it is asked for nothing but a device that the caller has named. Where nodes really went is read
 * from the loaded session.
 */
#include "provider/onnxruntime/ort.h"

#include <stdio.h>
#include <string.h>

#define CPU "CPUExecutionProvider"
#define SUFFIX "ExecutionProvider"

/* By preference among those of a kind. */
static const struct {
    const char *name;
    enum tn_device_type type;
} known[] = {
    {"CUDAExecutionProvider", TN_DEVICE_GPU},   {"MIGraphXExecutionProvider", TN_DEVICE_GPU}, {"WebGpuExecutionProvider", TN_DEVICE_GPU},
    {"DmlExecutionProvider", TN_DEVICE_GPU},    {"QNNExecutionProvider", TN_DEVICE_NPU},      {"VitisAIExecutionProvider", TN_DEVICE_NPU},
    {"CoreMLExecutionProvider", TN_DEVICE_NPU},
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

const char *tn_ort_device_of(const struct tn_ort *ort, const struct tn_hint_device *device)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].type == device->type && tn_ort_has_device(ort, known[i].name)) return known[i].name;
    return NULL;
}

static struct tn_ort_status *add_cuda(const struct tn_ort_api *api, struct tn_ort_session_options *o, const struct tn_hint_device *device)
{
    struct tn_ort_cuda_options *cuda = NULL;
    char index[24];
    const char *keys[] = {"device_id"}, *values[] = {index};
    snprintf(index, sizeof(index), "%llu", (unsigned long long)device->index);
    struct tn_ort_status *status = api->cuda_options_new(&cuda);
    if (!status && device->has_index) status = api->cuda_options_set(cuda, keys, values, 1);
    if (!status) status = api->options_cuda(o, cuda);
    if (cuda) api->cuda_options_release(cuda);
    return status;
}

struct tn_ort_status *tn_ort_add_device(const struct tn_ort_api *api, struct tn_ort_session_options *o, const char *name,
                                        const struct tn_hint_device *device)
{
    char shortened[64];
    if (strcmp(name, "CUDAExecutionProvider") == 0) return add_cuda(api, o, device);
    size_t n = strlen(name), end = strlen(SUFFIX);
    snprintf(shortened, sizeof(shortened), "%.*s", (int)(n > end ? n - end : n), name);
    return api->options_device(o, shortened, NULL, NULL, 0);
}

/* ---- asking for one --------------------------------------------------------------------------------------------------- */

static void list_devices(struct tn_finding *f, const struct tn_ort *ort)
{
    char text[384] = "";
    size_t at = 0;
    for (unsigned i = 0; i < ort->device_count && at < sizeof(text); i++) {
        int n = snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : "", ort->devices[i]);
        if (n > 0) at += (size_t)n;
    }
    tn_found(f, "a build with %s", text);
}

static struct tn_finding *refuse(struct tn_findings *findings, const struct tn_hint_device *device)
{
    char text[32];
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_PLACEMENT_REFUSED, TN_PHASE_ASSESS, "ONNX Runtime has no device %s here",
                                           tn_hint_device_text(device, text, sizeof(text)));
    tn_at_option(f, "device");
    tn_remedy(f, "ask for the CPU, or name a build of the library that has the device");
    return f;
}

enum tn_status tn_ort_probe_device(const struct tn_provider *p, const struct tn_component_request *request, struct tn_findings *findings,
                                   struct tn_error *err)
{
    struct tn_ort *ort = (struct tn_ort *)(uintptr_t)(const void *)p;
    const struct tn_ort_api *api = tn_ort_library(ort, NULL);
    struct tn_ort_session_options *o = NULL;
    (void)err;
    if (!api) return TN_OK; /* assessment says it */
    const char *name = tn_ort_device_of(ort, &request->device);
    if (!name) {
        list_devices(refuse(findings, &request->device), ort);
        return TN_OK;
    }
    struct tn_ort_status *status = api->options_new(&o);
    if (!status) status = tn_ort_add_device(api, o, name, &request->device);
    if (status) tn_found(refuse(findings, &request->device), "%s: %.400s", name, api->text_of(status));
    tn_ort_ignore(api, status);
    if (o) api->options_release(o);
    return TN_OK;
}

/* ---- where nodes went ------------------------------------------------------------------------------------------------- */

static enum tn_device_type type_of(const char *name, enum tn_device_type otherwise)
{
    if (strcmp(name, CPU) == 0) return TN_DEVICE_CPU;
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].type;
    return otherwise;
}

static bool add_nodes(struct tn_instance *x, const char *name, uint64_t nodes, const struct tn_hint_device *asked)
{
    uint32_t i = 0;
    while (i < x->partition_count && !tn_str_is(x->partitions[i].by, name)) i++;
    if (i == TN_ORT_DEVICES) return true;
    struct tn_partition *part = &x->partitions[i];
    if (i == x->partition_count) {
        part->by = tn_arena_str(&x->arena, tn_str_of(name));
        if (!part->by.s) return false;
        part->device = (struct tn_hint_device){.type = type_of(name, asked->type), .has_index = true};
        if (part->device.type == asked->type) part->device.index = asked->index;
        x->partition_count++;
    }
    part->nodes += nodes;
    return true;
}

/* Recorded by versions from 1.24 on. Before, what is certain: that without another device all nodes are on the CPU. */
bool tn_ort_see_partitions(struct tn_instance *x, const struct tn_component_request *request)
{
    const struct tn_ort_api *api = x->api;
    const struct tn_ort_subgraph *const *graphs = NULL;
    size_t count = 0;
    x->partitions = tn_arena_array(&x->arena, TN_ORT_DEVICES, sizeof(*x->partitions));
    if (!x->partitions) return false;
    struct tn_ort_status *status = api->assignment ? api->assignment(x->session, &graphs, &count) : NULL;
    for (size_t i = 0; !status && i < count; i++) {
        const char *name = NULL;
        const struct tn_ort_node *const *nodes = NULL;
        size_t n = 0;
        status = api->subgraph_device(graphs[i], &name);
        if (!status) status = api->subgraph_nodes(graphs[i], &nodes, &n);
        if (!status && !add_nodes(x, name ? name : "unnamed", n, &request->device)) return false;
    }
    bool told = api->assignment && !status;
    tn_ort_ignore(api, status);
    if (!told && !x->program->device) return add_nodes(x, CPU, request->graph->view->node_count, &request->device);
    if (!told) tn_log(x->ctx, TN_LOG_WARNING, "ONNX Runtime %s does not tell which nodes its devices have taken", x->ort->version);
    return true;
}

size_t tn_ort_partitions(const struct tn_instance *x, const struct tn_partition **out)
{
    *out = x->partitions;
    return x->partition_count;
}
