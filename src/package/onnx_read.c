/* Walking messages; see the header. What is judged here is only what would let two readers see two models. */
#include "package/onnx_read.h"

#include "base/utf8.h"
#include "package/scan.h"

#include <stdio.h>
#include <string.h>

/* ---- failures ---------------------------------------------------------------------------------------------------- */

bool tn_onnx_no_memory(struct tn_onnx_reader *r)
{
    if (!r->failed) r->failed = tn_error_memory(r->err, TN_PHASE_PACKAGE, "reading an ONNX model");
    return false;
}

bool tn_onnx_malformed(struct tn_onnx_reader *r, uint64_t at, const char *format, ...)
{
    char found[256];
    if (r->failed) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(found, sizeof(found), format, args);
    va_end(args);
    r->failed = TN_ARTIFACT_MALFORMED;
    struct tn_finding *f = tn_error_set(r->err, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE, "the model cannot be read");
    tn_at_offset(f, r->view->file, at);
    tn_found(f, "%s", found);
    tn_expected(f, "the bytes of an ONNX ModelProto");
    tn_remedy(f, "fetch or export the model again");
    return false;
}

bool tn_onnx_over_limit(struct tn_onnx_reader *r, uint64_t at, const char *name, uint64_t limit)
{
    if (r->failed) return false;
    r->failed = TN_RESOURCE_LIMIT;
    struct tn_finding *f =
        tn_error_set(r->err, TN_RESOURCE_LIMIT, TN_PHASE_PACKAGE, "the model exceeds the limit %s", name);
    tn_at_offset(f, r->view->file, at);
    tn_found(f, "more than %llu", (unsigned long long)limit);
    tn_expected(f, "at most %llu", (unsigned long long)limit);
    tn_remedy(f, "raise the limit %s if the model is trusted", name);
    return false;
}

static void wire_failed(struct tn_onnx_reader *r, enum tn_onnx_message kind)
{
    if (r->wire.fields > TN_WIRE_FIELDS) {
        tn_onnx_over_limit(r, r->wire.failed_at, "fields", TN_WIRE_FIELDS);
    } else {
        tn_onnx_malformed(r, r->wire.failed_at, "in %s: %s", tn_onnx_message_name(kind), r->wire.why);
    }
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static void note_unknown(struct tn_onnx_reader *r, const struct tn_onnx_at *m, const struct tn_wire_field *f)
{
    struct tn_onnx_view *v = r->view;
    for (uint32_t i = 0; i < v->unknown_count; i++) {
        if (v->unknown[i].at == f->at) return; /* some messages are walked twice */
    }
    if (v->unknown_count == TN_ONNX_UNKNOWN) {
        v->more_unknown = true;
    } else {
        v->unknown[v->unknown_count++] = (struct tn_onnx_unknown){m->kind, f->number, f->at};
    }
}

const struct tn_onnx_field *tn_onnx_next(struct tn_onnx_reader *r, struct tn_onnx_at *m, struct tn_wire_field *f)
{
    while (!r->failed && tn_wire_next(&r->wire, &m->range, f)) {
        const struct tn_onnx_field *field = tn_onnx_field(m->kind, f->number);
        if (!field) {
            note_unknown(r, m, f);
            continue;
        }
        if (!tn_onnx_field_accepts(field, f->type)) {
            tn_onnx_malformed(r, f->at, "%s.%s has wire type %u", tn_onnx_message_name(m->kind), field->name, f->type);
            return NULL;
        }
        /* Other readers merge or take the last; nothing that an exporter writes needs either. */
        if (!field->repeated && (m->seen >> f->number & 1)) {
            tn_onnx_malformed(r, f->at, "%s.%s stands twice", tn_onnx_message_name(m->kind), field->name);
            return NULL;
        }
        m->seen |= UINT32_C(1) << f->number; /* the largest number of a known field is 26 */
        return field;
    }
    if (r->wire.failed) wire_failed(r, m->kind);
    return NULL;
}

struct tn_str tn_onnx_string(struct tn_onnx_reader *r, struct tn_wire_range range)
{
    uint64_t n = range.end - range.at, limit = r->ctx->limits.name_bytes;
    if (!r->failed && n > limit) tn_onnx_over_limit(r, range.at, "name_bytes", limit);
    if (r->failed || n == 0) return TN_STR("");
    char *text = tn_arena_alloc(&r->view->arena, (size_t)n + 1);
    if (!text) {
        tn_onnx_no_memory(r);
        return TN_STR("");
    }
    if (!tn_wire_copy(&r->wire, range, text, (size_t)n)) {
        tn_onnx_malformed(r, r->wire.failed_at, "in a string: %s", r->wire.why);
        return TN_STR("");
    }
    if (tn_utf8_valid_prefix(text, (size_t)n) < n) {
        tn_onnx_malformed(r, range.at, "a string that is not UTF-8");
        return TN_STR("");
    }
    return (struct tn_str){text, (size_t)n};
}

struct tn_str tn_onnx_domain(struct tn_str domain)
{
    return domain.n ? domain : TN_STR("ai.onnx");
}

void *tn_onnx_room(struct tn_onnx_reader *r, void *items, size_t *cap, size_t count, size_t size, uint64_t at)
{
    if (r->failed) return NULL;
    if (count >= r->ctx->limits.tensors || count >= UINT32_MAX - 1) {
        tn_onnx_over_limit(r, at, "tensors", r->ctx->limits.tensors);
        return NULL;
    }
    void *moved = tn_grow(r->view->alloc, items, cap, count, size);
    if (!moved) tn_onnx_no_memory(r);
    return moved;
}

struct tn_onnx_reader *tn_onnx_reader_new(const struct tn_context *ctx, struct tn_str file, bool light,
                                          struct tn_error *err)
{
    struct tn_onnx_reader *r = tn_calloc(ctx->alloc, 1, sizeof(*r));
    struct tn_onnx_view *view = tn_calloc(ctx->alloc, 1, sizeof(*view));
    if (!r || !view) goto failed;
    *r = (struct tn_onnx_reader){.ctx = ctx, .view = view, .light = light, .err = err};
    view->alloc = ctx->alloc;
    tn_arena_init(&view->arena, ctx->alloc);
    view->producer_name = view->producer_version = view->domain = view->graph_name = TN_STR("");
    view->file = tn_arena_str(&view->arena, file);
    if (!view->file.s) {
        tn_onnx_reader_free(r);
        r = NULL;
        view = NULL;
        goto failed;
    }
    return r;
failed:
    tn_free(ctx->alloc, r);
    tn_free(ctx->alloc, view);
    tn_error_memory(err, TN_PHASE_PACKAGE, "reading an ONNX model");
    return NULL;
}

void tn_onnx_reader_free(struct tn_onnx_reader *r)
{
    if (!r) return;
    tn_onnx_view_free(r->view);
    tn_free(r->ctx->alloc, r->waiting);
    tn_free(r->ctx->alloc, r->gathers);
    tn_free(r->ctx->alloc, r);
}
