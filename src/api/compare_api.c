/* tn_compare: two providers, one question; the record of it, where one is wanted, goes where qualification's go. */
#include "api/api.h"

#include "api/records.h"
#include "qualify/against.h"

/* Member "record": {id, level, stored} or null. Failing to store is told and no failure of the comparison. */
static enum tn_status write_record(struct tn_json_writer *w, struct tn_runtime *runtime, const struct tn_against *a, struct tn_error *err)
{
    struct tn_record record;
    struct tn_record_index index;
    struct tn_buf text;
    struct tn_json_doc doc = {0};
    struct tn_error *why = tn_calloc(&runtime->alloc, 1, sizeof(*why));
    if (!why) return tn_error_memory(err, TN_PHASE_RECORD, "keeping a record");
    tn_record_init(&record, &runtime->alloc);
    tn_buf_init(&text, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    enum tn_status st = tn_against_record(a, &record, err);
    if (!st) st = tn_record_write(&record, &text, err);
    if (!st) st = tn_json_parse(&doc, &runtime->alloc, &runtime->ctx.limits, TN_STR("record"), tn_buf_str(&text), err);
    if (!st) st = tn_record_read(tn_json_root(&doc), &index, err);
    if (!st) {
        bool stored = tn_record_put(&runtime->records, tn_buf_str(&text), why) == TN_OK;
        tn_jw_key(w, "record");
        tn_jw_begin_object(w);
        tn_jw_member_cstr(w, "id", index.id);
        tn_jw_member_cstr(w, "level", tn_level_name(index.level));
        tn_jw_member_bool(w, "stored", stored);
        tn_jw_key(w, "error");
        if (stored) tn_jw_null(w);
        else tn_error_write(w, why);
        tn_jw_end_object(w);
    }
    tn_json_release(&doc);
    tn_buf_release(&text);
    tn_record_release(&record);
    tn_free(&runtime->alloc, why);
    return st;
}

static enum tn_status check(const tn_compare_options *o, struct tn_error *err)
{
    struct tn_finding *f;
    if (!o->tensors == !o->request) {
        f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a comparison needs one request");
        tn_at_option(f, "request");
        tn_expected(f, "tensors, or a request as JSON");
        return TN_INVALID_REQUEST;
    }
    if (o->absolute >= 0 && o->relative >= 0) return TN_OK;
    f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "a tolerance is not negative");
    tn_at_option(f, o->absolute >= 0 ? "relative" : "absolute");
    return TN_INVALID_REQUEST;
}

TN_API tn_status tn_compare(tn_package *package, const tn_compare_options *options, int *agree, tn_document **out, tn_error *err)
{
    tn_compare_options o;
    struct tn_cancel own;
    struct tn_against a;
    struct tn_document_builder b;
    if (out) *out = NULL;
    if (agree) *agree = 0;
    if (!package) return tn_null_argument(err, TN_PHASE_REQUEST, "package");
    if (!options) return tn_null_argument(err, TN_PHASE_REQUEST, "options");
    if (!out) return tn_null_argument(err, TN_PHASE_REQUEST, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_compare_options", err);
    if (!st) st = check(&o, err);
    if (st) return st;
    struct tn_against_env env = {&package->runtime->ctx, package, &o, tn_cancel_begin(&own, o.cancel, 0)};
    st = tn_against_run(&a, &env, err);
    tn_document_begin(&b, package->runtime);
    tn_jw_begin_object(&b.w);
    if (!st) tn_against_write(&b.w, &a);
    if (!st && o.record) st = write_record(&b.w, package->runtime, &a, err);
    else if (!st) tn_jw_member_null(&b.w, "record");
    tn_jw_end_object(&b.w);
    if (!st && agree) *agree = a.agrees;
    tn_against_release(&a);
    tn_cancel_end(o.cancel);
    st = tn_document_finish(&b, st, out, err);
    if (st && agree) *agree = 0;
    return st;
}
