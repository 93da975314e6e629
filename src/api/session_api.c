/* Sessions and executions over the public interface. */
#include "api/api.h"
#include "session/session.h"
#include "task/sequence.h"

#include <string.h>

static struct tn_package *package_of(const struct tn_plan *plan)
{
    return plan->keep.owner;
}

static struct tn_runtime *runtime_of(const struct tn_plan *plan)
{
    return package_of(plan)->runtime;
}

TN_API tn_status tn_session_load(tn_plan *plan, const tn_load_options *options, tn_session **out, tn_error *err)
{
    tn_load_options o;
    struct tn_cancel own;
    struct tn_load_request request = {0};
    if (out) *out = NULL;
    if (!plan) return tn_null_argument(err, TN_PHASE_LOAD, "plan");
    if (!out) return tn_null_argument(err, TN_PHASE_LOAD, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_load_options", err);
    if (!st) st = tn_runtime_pool(runtime_of(plan), &request.pool, err);
    if (st) return st;
    request.cancel = tn_cancel_begin(&own, o.cancel, o.timeout_ms);
    request.progress = o.progress;
    request.progress_user = o.progress_user;
    st = tn_session_open(plan, &request, out, err);
    if (!st) tn_package_learn_weights(package_of(plan), &(*out)->weights);
    tn_cancel_end(o.cancel);
    return st;
}

TN_API void tn_session_free(tn_session *session)
{
    if (session) tn_session_close(session);
}

/*
 * What the first release took of a request: every later one has it, so that a shorter struct is a mistake and no older
 * caller. All requests of that release end with their deadline.
 */
#define FIRST(type) #type, offsetof(type, timeout_ms) + sizeof(uint32_t)

static enum tn_status check_size(const void *request, const char *type, size_t least, struct tn_error *err)
{
    size_t found;
    memcpy(&found, request, sizeof(found));
    if (found >= least) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "struct_size of %s is not its size", type);
    tn_at_option(f, "struct_size");
    tn_found(f, "%zu", found);
    tn_expected(f, "at least %zu; TN_INIT sets it", least);
    return TN_INVALID_REQUEST;
}

/* The caller's request as ours, when the session serves the task that it is of. */
static tn_status take_request(tn_session *session, const struct tn_task *task, const void *request, const char *type,
                              size_t least, void *own, size_t size, tn_execution **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!session) return tn_null_argument(err, TN_PHASE_REQUEST, "session");
    if (!request) return tn_null_argument(err, TN_PHASE_REQUEST, "request");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    enum tn_status st = check_size(request, type, least, err);
    if (!st) st = tn_read_options(own, size, request, type, err);
    if (st || session->plan->task == task) return st;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "the session serves another task");
    tn_found(f, "%s", session->plan->task->name);
    tn_expected(f, "%s", task->name);
    return TN_INVALID_REQUEST;
}

TN_API tn_status tn_embed_start(tn_session *session, const tn_embed_request *request, tn_execution **out, tn_error *err)
{
    tn_embed_request r;
    tn_status st = take_request(session, &tn_task_embedding_dense, request, FIRST(tn_embed_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_embed_sparse_start(tn_session *session, const tn_sparse_request *request, tn_execution **out, tn_error *err)
{
    tn_sparse_request r;
    tn_status st = take_request(session, &tn_task_embedding_sparse, request, FIRST(tn_sparse_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_embed_multi_start(tn_session *session, const tn_multi_request *request, tn_execution **out, tn_error *err)
{
    tn_multi_request r;
    tn_status st = take_request(session, &tn_task_embedding_multi, request, FIRST(tn_multi_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_classify_start(tn_session *session, const tn_classify_request *request, tn_execution **out, tn_error *err)
{
    tn_classify_request r;
    tn_status st = take_request(session, &tn_task_classify_text, request, FIRST(tn_classify_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_rerank_start(tn_session *session, const tn_rerank_request *request, tn_execution **out, tn_error *err)
{
    tn_rerank_request r;
    tn_status st = take_request(session, &tn_task_rerank, request, FIRST(tn_rerank_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_tag_start(tn_session *session, const tn_tag_request *request, tn_execution **out, tn_error *err)
{
    tn_tag_request r;
    tn_status st = take_request(session, &tn_task_tag, request, FIRST(tn_tag_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_fill_start(tn_session *session, const tn_fill_request *request, tn_execution **out, tn_error *err)
{
    tn_fill_request r;
    tn_status st = take_request(session, &tn_task_fill, request, FIRST(tn_fill_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_answer_start(tn_session *session, const tn_answer_request *request, tn_execution **out, tn_error *err)
{
    tn_answer_request r;
    tn_status st = take_request(session, &tn_task_question_answer, request, FIRST(tn_answer_request), &r, sizeof(r), out, err);
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_tensor_start(tn_session *session, const tn_tensor_request *request, tn_execution **out, tn_error *err)
{
    tn_tensor_request r;
    tn_status st = take_request(session, &tn_task_tensor, request, FIRST(tn_tensor_request), &r, sizeof(r), out, err);
    if (!st && r.sequence && r.sequence->owner != session) {
        st = TN_INVALID_REQUEST;
        struct tn_finding *f = tn_error_set(err, st, TN_PHASE_REQUEST, "the sequence belongs to another session");
        tn_at_option(f, "sequence");
        tn_expected(f, "one that tn_sequence_new made from this session");
    }
    return st ? st : tn_execution_begin(session, &r, r.timeout_ms, out, err);
}

TN_API tn_status tn_request_start(tn_session *session, const char *json, size_t length, tn_execution **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!session) return tn_null_argument(err, TN_PHASE_REQUEST, "session");
    if (!json) return tn_null_argument(err, TN_PHASE_REQUEST, "json");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    return tn_execution_begin_document(session, (struct tn_str){json, length}, out, err);
}

TN_API tn_status tn_execution_next(tn_execution *execution, uint32_t timeout_ms, tn_event *event, tn_error *err)
{
    if (event) *event = (tn_event){.kind = TN_EVENT_NONE};
    if (!execution) return tn_null_argument(err, TN_PHASE_EXECUTE, "execution");
    if (!event) return tn_null_argument(err, TN_PHASE_EXECUTE, "event");
    return tn_execution_pull(execution, timeout_ms, event, err);
}

TN_API void tn_execution_cancel(tn_execution *execution)
{
    if (execution) tn_execution_stop(execution);
}

TN_API tn_status tn_execution_drain(tn_execution *execution, uint32_t timeout_ms, tn_error *err)
{
    if (!execution) return tn_null_argument(err, TN_PHASE_EXECUTE, "execution");
    return tn_execution_wait(execution, timeout_ms, err);
}

TN_API tn_status tn_execution_account(tn_execution *execution, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!execution) return tn_null_argument(err, TN_PHASE_EXECUTE, "execution");
    if (!out) return tn_null_argument(err, TN_PHASE_EXECUTE, "out");
    struct tn_digest closure;
    bool known = tn_package_closure(package_of(execution->plan), &closure);
    tn_document_begin(&b, runtime_of(execution->plan));
    enum tn_status st = tn_execution_account_write(execution, known ? &closure : NULL, &b.w, err);
    return tn_document_finish(&b, st, out, err);
}

TN_API tn_status tn_execution_result(tn_execution *execution, tn_document **out, tn_error *err)
{
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (!execution) return tn_null_argument(err, TN_PHASE_EXECUTE, "execution");
    if (!out) return tn_null_argument(err, TN_PHASE_EXECUTE, "out");
    struct tn_digest closure;
    bool known = tn_package_closure(package_of(execution->plan), &closure);
    tn_document_begin(&b, runtime_of(execution->plan));
    enum tn_status st = tn_execution_result_write(execution, known ? &closure : NULL, &b.w, err);
    return tn_document_finish(&b, st, out, err);
}

TN_API void tn_execution_free(tn_execution *execution)
{
    if (execution) tn_execution_end(execution);
}
