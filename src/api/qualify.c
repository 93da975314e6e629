/*
 * tn_qualify: runs the suite, stores the record where the runtime keeps records, returns the record. A record that could
 * not be stored is still returned: the document says so in "stored", and the log says it once.
 */
#include "api/api.h"

#include "api/records.h"
#include "qualify/qualify.h"

#include <string.h>

static enum tn_status keep_closure(struct tn_package *package, struct tn_record *record, struct tn_error *err)
{
    char hex[TN_SHA256_HEX] = "";
    tn_mutex_lock(&package->lock);
    if (package->have_closure) tn_digest_hex(&package->closure, hex);
    tn_mutex_unlock(&package->lock);
    record->closure = tn_arena_str(&record->arena, tn_str_of(hex));
    return record->closure.s ? TN_OK : tn_error_memory(err, TN_PHASE_RECORD, "writing a record");
}

/* The record as a document with the member "stored". `why` is filled when it could not be stored. */
static enum tn_status make_document(struct tn_runtime *runtime, struct tn_str text, const struct tn_error *why,
                                    bool stored, struct tn_document **out, struct tn_error *err)
{
    struct tn_document_builder b;
    struct tn_json_doc doc;
    enum tn_status status =
        tn_json_parse(&doc, &runtime->alloc, &runtime->ctx.limits, TN_STR("record"), text, err);
    if (status) return status;
    tn_document_begin(&b, runtime);
    tn_jw_begin_object(&b.w);
    tn_records_copy_members(&b.w, tn_json_root(&doc));
    tn_jw_key(&b.w, "stored");
    tn_jw_begin_object(&b.w);
    tn_jw_member_bool(&b.w, "done", stored);
    tn_jw_key(&b.w, "error");
    if (stored) {
        tn_jw_null(&b.w);
    } else {
        tn_error_write(&b.w, why);
    }
    tn_jw_end_object(&b.w);
    tn_jw_end_object(&b.w);
    tn_json_release(&doc);
    return tn_document_finish(&b, TN_OK, out, err);
}

/* Stores when there is a store; `scratch` then says why it failed. */
static enum tn_status publish(struct tn_runtime *runtime, const struct tn_record *record, struct tn_error *scratch,
                              struct tn_document **out, struct tn_error *err)
{
    struct tn_buf text;
    tn_buf_init(&text, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    enum tn_status status = tn_record_write(record, &text, err);
    if (!status) {
        bool stored = tn_record_put(&runtime->records, tn_buf_str(&text), scratch) == TN_OK;
        if (!stored && runtime->records.folder) {
            tn_log(&runtime->ctx, TN_LOG_WARNING, "the record was not stored: %s", scratch->primary.message);
        }
        status = make_document(runtime, tn_buf_str(&text), scratch, stored, out, err);
    }
    tn_buf_release(&text);
    return status;
}

static enum tn_status run(struct tn_package *package, const tn_qualify_options *options, const struct tn_cancel *stop,
                          struct tn_document **out, struct tn_error *err)
{
    struct tn_runtime *runtime = package->runtime;
    struct tn_record record;
    struct tn_qualify_env env = {.ctx = &runtime->ctx,
                                 .runtime = runtime,
                                 .package = package,
                                 .plan = options->plan,
                                 .cancel = options->cancel,
                                 .stop = stop,
                                 .golden = options->golden,
                                 .threads = runtime->threads};
    enum tn_status status = tn_runtime_pool(runtime, &env.pool, err);
    if (status) return status;
    struct tn_error *scratch = tn_calloc(&runtime->alloc, 1, sizeof(*scratch));
    if (!scratch) return tn_error_memory(err, TN_PHASE_RECORD, "qualifying");
    tn_record_init(&record, &runtime->alloc);
    status = tn_qualify_run(&env, &record, err);
    if (!status) status = keep_closure(package, &record, err);
    if (!status) status = publish(runtime, &record, scratch, out, err);
    tn_record_release(&record);
    tn_free(&runtime->alloc, scratch);
    return status;
}

TN_API tn_status tn_qualify(tn_package *package, const tn_qualify_options *options, tn_document **out, tn_error *err)
{
    tn_qualify_options o;
    struct tn_cancel own;
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_RECORD, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_RECORD, "out");
    enum tn_status status = tn_read_options(&o, sizeof(o), options, "tn_qualify_options", err);
    if (status) return status;
    const struct tn_cancel *stop = tn_cancel_begin(&own, o.cancel, 0);
    status = run(package, &o, stop, out, err);
    tn_cancel_end(o.cancel);
    return status;
}
