/* Sequences over the public interface: arguments, and which session they belong to. */
#include "api/api.h"
#include "session/session.h"
#include "task/sequence.h"

static void drop_session(void *session)
{
    tn_session_drop(session);
}

static enum tn_status make(struct tn_session *s, struct tn_sequence **out, struct tn_error *err)
{
    enum tn_status st = tn_sequence_make(s->plan->survey.route.graph, &s->lease, &s->ctx.limits, out, err);
    if (st) return st;
    tn_ref_take(&s->ref);
    (*out)->owner = s;
    (*out)->session = (struct tn_keep){.drop = drop_session, .owner = s};
    return TN_OK;
}

TN_API tn_status tn_sequence_new(tn_session *session, tn_sequence **out, tn_error *err)
{
    if (out) *out = NULL;
    if (!session) return tn_null_argument(err, TN_PHASE_REQUEST, "session");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    return make(session, out, err);
}

TN_API void tn_sequence_free(tn_sequence *sequence)
{
    tn_sequence_unref(sequence);
}

TN_API tn_status tn_sequence_reset(tn_sequence *sequence, tn_error *err)
{
    if (!sequence) return tn_null_argument(err, TN_PHASE_REQUEST, "sequence");
    enum tn_status st = tn_sequence_borrow(sequence, err);
    if (st) return st;
    tn_sequence_clear(sequence);
    tn_sequence_return(sequence);
    return TN_OK;
}

TN_API tn_status tn_sequence_fork(tn_sequence *sequence, tn_sequence **out, tn_error *err)
{
    struct tn_sequence *made = NULL;
    if (out) *out = NULL;
    if (!sequence) return tn_null_argument(err, TN_PHASE_REQUEST, "sequence");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    enum tn_status st = tn_sequence_borrow(sequence, err);
    if (st) return st;
    st = make(sequence->session.owner, &made, err);
    if (!st) st = tn_sequence_copy(made, sequence, err);
    tn_sequence_return(sequence);
    if (st) tn_sequence_unref(made);
    else *out = made;
    return st;
}

TN_API tn_status tn_sequence_get(tn_sequence *sequence, const tn_port_value **values, size_t *count, tn_error *err)
{
    if (values) *values = NULL;
    if (count) *count = 0;
    if (!sequence) return tn_null_argument(err, TN_PHASE_REQUEST, "sequence");
    if (!values) return tn_null_argument(err, TN_PHASE_REQUEST, "values");
    if (!count) return tn_null_argument(err, TN_PHASE_REQUEST, "count");
    enum tn_status st = tn_sequence_borrow(sequence, err);
    if (st) return st;
    tn_sequence_view(sequence);
    *values = sequence->values;
    *count = sequence->graph->state_count;
    tn_sequence_return(sequence);
    return TN_OK;
}

TN_API tn_status tn_sequence_set(tn_sequence *sequence, const tn_port_value *values, size_t count, tn_error *err)
{
    if (!sequence) return tn_null_argument(err, TN_PHASE_REQUEST, "sequence");
    if (!values) return tn_null_argument(err, TN_PHASE_REQUEST, "values");
    enum tn_status st = tn_sequence_borrow(sequence, err);
    if (st) return st;
    st = tn_sequence_fill(sequence, values, count, err);
    tn_sequence_return(sequence);
    return st;
}
