/*
 * A request that came as a document: JSON, checked against the task's table, turned into the typed request and started.
 * The document is untrusted. All its problems are reported at once; texts are never quoted.
 */
#include "base/doctype.h"
#include "session/session.h"

/* The typed request, or every reason why there is none. */
static enum tn_status read_request(const struct tn_session *s, struct tn_json root, struct tn_arena *arena,
                                   struct tn_task_request *out, struct tn_error *err)
{
    const struct tn_task *task = s->plan->task;
    struct tn_findings findings;
    tn_findings_init(&findings, arena->alloc, (size_t)s->ctx.limits.findings);
    enum tn_status st = tn_doctype_check(root, task->request, TN_PHASE_REQUEST, &findings);
    if (st == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_REQUEST, "reading the request");
    } else if (st) {
        for (size_t i = 0; i < findings.count; i++)
            if (findings.items[i].code == TN_METADATA_INVALID) findings.items[i].code = TN_INVALID_REQUEST;
        st = tn_error_from_findings(err, &findings);
    }
    tn_findings_release(&findings);
    return st ? st : task->read(root, arena, out, err);
}

/* The ids outlive the document: they come back in the result. */
static enum tn_status keep_ids(struct tn_execution *x, const struct tn_task_request *request, struct tn_error *err)
{
    if (!request->ids) return TN_OK;
    struct tn_str *ids = tn_arena_array(&x->arena, request->count, sizeof(*ids));
    for (size_t i = 0; ids && i < request->count; i++) {
        if (!request->ids[i].s) continue;
        ids[i] = tn_arena_str(&x->arena, request->ids[i]);
        if (!ids[i].s) ids = NULL;
    }
    if (!ids) return tn_error_memory(err, TN_PHASE_REQUEST, "keeping the ids of the request");
    x->ids = ids;
    x->id_count = request->count;
    return TN_OK;
}

/* What would be a broken artifact in a package is a wrong request here. */
static enum tn_status of_request(enum tn_status st, struct tn_error *err)
{
    if (st == TN_ARTIFACT_MALFORMED) st = TN_INVALID_REQUEST;
    if (err) {
        err->primary.code = st;
        err->primary.phase = TN_PHASE_REQUEST;
    }
    return st;
}

enum tn_status tn_execution_begin_document(struct tn_session *s, struct tn_str text, struct tn_execution **out, struct tn_error *err)
{
    struct tn_json_doc doc;
    struct tn_arena arena;
    struct tn_task_request request;
    *out = NULL;
    enum tn_status st = tn_json_parse(&doc, &s->lease, &s->ctx.limits, TN_STR("request"), text, err);
    if (st) return of_request(st, err);
    tn_arena_init(&arena, &s->lease);
    st = read_request(s, tn_json_root(&doc), &arena, &request, err);
    if (!st) st = tn_execution_begin(s, request.typed, request.timeout_ms, out, err);
    if (!st) st = keep_ids(*out, &request, err);
    if (st && *out) {
        tn_execution_end(*out);
        *out = NULL;
    }
    tn_arena_release(&arena);
    tn_json_release(&doc);
    return st;
}
