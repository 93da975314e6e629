/*
 * What the library says: statuses into codes and findings, its log into ours. Its texts quote names and shapes of the graph;
 * where a graph reads strings they may also quote a request, and are then left out.
 */
#include "provider/onnxruntime/ort.h"

#include <string.h>

void tn_ort_ignore(const struct tn_ort_api *api, struct tn_ort_status *status)
{
    if (status) api->status_release(status);
}

static const char *code_name(int code)
{
    static const char *const names[TN_ORT_CODES] = {
        "ok",          "fail",         "invalid argument", "no such file", "no model",         "engine error",
        "runtime exception", "invalid protobuf", "model loaded", "not implemented", "invalid graph", "execution provider failed",
        "load cancelled",    "needs compilation", "not found",   "device was reset"};
    return code >= 0 && code < TN_ORT_CODES ? names[code] : "of a code that we do not know";
}

/* Of a load that failed: an operator that it does not know, or that does not take the attributes it is given. */
static bool is_inability(const char *text)
{
    return text && (strstr(text, "is not a registered function/op") || strstr(text, "Exception during initialization"));
}

static enum tn_status status_of(int code, enum tn_phase phase, const char *text)
{
    if (phase == TN_PHASE_LOAD && text && strstr(text, "fallback to CPU EP has been explicitly disabled")) return TN_PLACEMENT_REFUSED;
    if (phase == TN_PHASE_LOAD && is_inability(text)) return TN_UNSUPPORTED_OPERATOR;
    switch (code) {
    case TN_ORT_NOT_IMPLEMENTED:
    case TN_ORT_INVALID_GRAPH:
    case TN_ORT_NEEDS_COMPILATION: return phase == TN_PHASE_LOAD ? TN_UNSUPPORTED_OPERATOR : TN_RUNTIME_FAILURE;
    case TN_ORT_INVALID_ARGUMENT: return phase == TN_PHASE_LOAD ? TN_RUNTIME_FAILURE : TN_INVALID_REQUEST;
    case TN_ORT_LOAD_CANCELED: return TN_CANCELLED;
    default: return TN_RUNTIME_FAILURE;
    }
}

/* "... while running Conv node. Name:'c1' Status Message: ..." has a place: the node and its operator. */
static void place(struct tn_finding *f, const char *text)
{
    static const char before[] = "while running ", between[] = " node. Name:'";
    const char *op = strstr(text, before), *name = op ? strstr(op, between) : NULL;
    const char *end = name ? strchr(name + sizeof(between) - 1, '\'') : NULL;
    if (!end) return;
    op += sizeof(before) - 1;
    struct tn_str node = {name + sizeof(between) - 1, 0};
    node.n = (size_t)(end - node.s);
    if (node.n == 0) node = (struct tn_str){op, (size_t)(name - op)};
    tn_at_element(f, TN_ELEMENT_OPERATOR, node);
}

enum tn_status tn_ort_fail(const struct tn_ort_api *api, struct tn_ort_status *status, enum tn_phase phase, bool quiet, struct tn_error *err)
{
    if (!status) return TN_OK;
    int code = api->code_of(status);
    const char *text = api->text_of(status);
    enum tn_status st = status_of(code, phase, text);
    struct tn_finding *f = tn_error_set(err, st, phase, "ONNX Runtime %s: %s", phase == TN_PHASE_LOAD ? "does not load the graph" : "failed", code_name(code));
    if (text) place(f, text);
    if (text && !quiet) tn_found(f, "%.480s", text);
    else tn_found(f, "code %d; its words may quote the request, whose port carries strings", code);
    api->status_release(status);
    return st;
}

void tn_ort_log(void *user, int level, const char *category, const char *id, const char *where, const char *text)
{
    /* Its warnings are about tidiness of the graph; what changes an answer or a place comes as a status or is looked at by us. */
    static const enum tn_log_level levels[] = {TN_LOG_DEBUG, TN_LOG_DEBUG, TN_LOG_INFO, TN_LOG_ERROR, TN_LOG_ERROR};
    (void)category;
    (void)id;
    (void)where;
    if (level < 0 || level > TN_ORT_LOG_FATAL || !text) return;
    tn_log(user, levels[level], "onnxruntime: %s", text);
}

void tn_ort_log_nothing(void *user, int level, const char *category, const char *id, const char *where, const char *text)
{
    (void)user;
    (void)level;
    (void)category;
    (void)id;
    (void)where;
    (void)text;
}
