/* Cancel tokens: one request to stop that any number of calls may poll. */
#include "api/api.h"

#include "base/os.h"

TN_API tn_status tn_cancel_token_new(tn_runtime *runtime, tn_cancel_token **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!runtime) return tn_null_argument(err, TN_PHASE_RUNTIME, "runtime");
    if (!out) return tn_null_argument(err, TN_PHASE_RUNTIME, "out");
    struct tn_cancel_token *token = tn_calloc(&runtime->alloc, 1, sizeof(*token));
    if (!token) return tn_error_memory(err, TN_PHASE_RUNTIME, "making a cancel token");
    tn_ref_init(&token->ref);
    tn_runtime_ref(runtime);
    token->runtime = runtime;
    *out = token;
    return TN_OK;
}

TN_API void tn_cancel_token_request(tn_cancel_token *token)
{
    if (token) atomic_store_explicit(&token->cancel.requested, true, memory_order_release);
}

static void drop(struct tn_cancel_token *token)
{
    if (!token || !tn_ref_drop(&token->ref)) return;
    struct tn_runtime *runtime = token->runtime;
    tn_free(&runtime->alloc, token);
    tn_runtime_unref(runtime);
}

TN_API void tn_cancel_token_free(tn_cancel_token *token)
{
    drop(token);
}

const struct tn_cancel *tn_cancel_begin(struct tn_cancel *own, struct tn_cancel_token *token, uint32_t timeout_ms)
{
    *own = (struct tn_cancel){0};
    if (timeout_ms) own->deadline_ns = tn_os_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
    if (token) tn_ref_take(&token->ref);
    own->also = token ? &token->cancel : NULL;
    return own;
}

void tn_cancel_end(struct tn_cancel_token *token)
{
    drop(token);
}
