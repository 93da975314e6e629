/* JSON documents as handles. */
#include "api/api.h"

#include <string.h>

void tn_document_begin(struct tn_document_builder *b, struct tn_runtime *runtime)
{
    b->runtime = runtime;
    tn_buf_init(&b->buf, &runtime->alloc, (size_t)runtime->ctx.limits.json_bytes);
    tn_jw_init(&b->w, &b->buf, true);
}

static enum tn_status refuse(const struct tn_document_builder *b, struct tn_error *err)
{
    if (tn_buf_status(&b->buf) != TN_RESOURCE_LIMIT) return tn_error_memory(err, TN_PHASE_RUNTIME, "writing a document");
    struct tn_finding *f = tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_RUNTIME, "the document passes the limit \"json_bytes\"");
    tn_expected(f, "at most %llu bytes", (unsigned long long)b->runtime->ctx.limits.json_bytes);
    return TN_RESOURCE_LIMIT;
}

enum tn_status tn_document_finish(struct tn_document_builder *b, enum tn_status st, struct tn_document **out,
                                  struct tn_error *err)
{
    struct tn_document *d = NULL;
    *out = NULL;
    if (!st && tn_buf_status(&b->buf)) st = refuse(b, err);
    if (!st) {
        d = tn_calloc(&b->runtime->alloc, 1, sizeof(*d));
        if (d) d->text = tn_buf_take(&b->buf, &d->length);
        if (!d || !d->text) st = tn_error_memory(err, TN_PHASE_RUNTIME, "writing a document");
    }
    tn_buf_release(&b->buf);
    if (st) {
        tn_free(&b->runtime->alloc, d);
        return tn_short_of_memory(&b->runtime->alloc, st, err);
    }
    d->runtime = b->runtime;
    tn_runtime_ref(d->runtime);
    *out = d;
    return TN_OK;
}

enum tn_status tn_document_of(struct tn_runtime *runtime, struct tn_str text, struct tn_document **out, struct tn_error *err)
{
    struct tn_document_builder b;
    tn_document_begin(&b, runtime);
    tn_buf_append(&b.buf, text.s, text.n);
    return tn_document_finish(&b, TN_OK, out, err);
}

TN_API const char *tn_document_text(const tn_document *document, size_t *length)
{
    if (length) *length = document ? document->length : 0;
    return document ? document->text : "";
}

TN_API void tn_document_free(tn_document *document)
{
    if (!document) return;
    struct tn_runtime *runtime = document->runtime;
    tn_free(&runtime->alloc, document->text);
    tn_free(&runtime->alloc, document);
    tn_runtime_unref(runtime);
}
