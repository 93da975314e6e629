/*
 * The doors to the ONNX reader: the surface that the inventory looks at while it walks, a listed file in either form,
 * and the text form. What the bytes mean is read in onnx_view.c.
 */
#include "package/onnx_read.h"

#include "package/onnx_text.h"

#include <stdio.h>
#include <string.h>

/* ---- the surface ------------------------------------------------------------------------------------------------- */

/* "ai.onnx 17, com.microsoft 1", cut where there is no more room. */
static void list_opsets(const struct tn_onnx_view *v, char *out, size_t cap)
{
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < v->opset_count && n < cap; i++) {
        n += (size_t)snprintf(out + n, cap - n, "%s%.*s %lld", i ? ", " : "", TN_FMT_ARG(v->opsets[i].domain),
                              (long long)v->opsets[i].version);
    }
}

/* Locations outlive the reader: copies into the caller's arena. */
static bool copy_locations(const struct tn_onnx_view *v, struct tn_arena *arena, struct tn_onnx_surface *out)
{
    if (v->location_count == 0) return true;
    out->locations = tn_arena_array(arena, v->location_count, sizeof(*out->locations));
    if (!out->locations) return false;
    for (uint32_t i = 0; i < v->location_count; i++) {
        struct tn_onnx_location *to = &out->locations[i];
        *to = v->locations[i];
        to->name = tn_arena_str(arena, to->name);
        to->first = tn_arena_str(arena, to->first);
        if (!to->name.s || !to->first.s) return false;
    }
    out->location_count = v->location_count;
    return true;
}

enum tn_status tn_onnx_surface(const struct tn_context *ctx, const struct tn_source *source, struct tn_arena *arena,
                               struct tn_onnx_surface *out, bool *is_onnx)
{
    *out = (struct tn_onnx_surface){0};
    *is_onnx = false;
    struct tn_onnx_reader *r = tn_onnx_reader_new(ctx, source->name, true, NULL);
    if (!r) return TN_INSUFFICIENT_MEMORY;
    enum tn_status status = tn_onnx_read_model(r, source, is_onnx);
    const struct tn_onnx_view *v = r->view;
    out->whole = status == TN_OK;
    out->ir_version = (uint64_t)v->ir_version;
    out->nodes = r->nodes;
    out->inputs = r->inputs;
    out->outputs = r->outputs;
    out->initializers = r->initializers;
    snprintf(out->producer, sizeof(out->producer), "%.*s", TN_FMT_ARG(v->producer_name));
    list_opsets(v, out->opsets, sizeof(out->opsets));
    if (status != TN_INSUFFICIENT_MEMORY && *is_onnx && !copy_locations(v, arena, out)) status = TN_INSUFFICIENT_MEMORY;
    tn_onnx_reader_free(r);
    return status == TN_INSUFFICIENT_MEMORY ? status : TN_OK;
}

/* ---- the text form ----------------------------------------------------------------------------------------------- */

/* The transcript ends with the call, so nothing may point into it. */
static void forget_ranges(struct tn_onnx_view *v)
{
    static const struct tn_wire_range none = {0, 0};
    v->text_form = true;
    for (uint32_t i = 0; i < v->input_count; i++) v->inputs[i].at = 0;
    for (uint32_t i = 0; i < v->output_count; i++) v->outputs[i].at = 0;
    for (uint32_t i = 0; i < v->initializer_count; i++) v->initializers[i].message = v->initializers[i].raw = none;
    for (uint32_t i = 0; i < v->external_count; i++) v->externals[i].at = 0;
    for (uint32_t i = 0; i < v->node_count; i++) v->nodes[i].message = none;
    for (uint32_t i = 0; i < v->function_count; i++) v->functions[i].message = none;
}

enum tn_status tn_onnx_view_open_text(const struct tn_context *ctx, struct tn_str file, struct tn_str text,
                                      struct tn_onnx_view **out, struct tn_error *err)
{
    struct tn_buf bytes;
    struct tn_str holder;
    *out = NULL;
    /* The dearest text is a list of doubles: nine bytes for the two of "1,". */
    tn_buf_init(&bytes, ctx->alloc, text.n < SIZE_MAX / 8 ? 6 * text.n + 64 : SIZE_MAX);
    enum tn_status status = tn_onnx_text_to_bytes(ctx, file, text, &bytes, err);
    if (!status) {
        struct tn_str all = tn_buf_str(&bytes);
        struct tn_source source = tn_source_of_memory(all.s, all.n, file, &holder);
        status = tn_onnx_view_open(ctx, &source, out, err);
    }
    if (!status) forget_ranges(*out);
    tn_buf_release(&bytes);
    return status;
}

/* ---- a file of a package ----------------------------------------------------------------------------------------- */

static enum tn_status not_a_graph(const struct tn_package_file *file, struct tn_error *err)
{
    struct tn_finding *f =
        tn_error_set(err, TN_ARTIFACT_MALFORMED, TN_PHASE_PACKAGE, "the file is not a graph in ONNX");
    tn_at_file(f, file->path);
    tn_found(f, "%s", file->role == TN_ROLE_UNKNOWN ? "nothing that was recognised" : tn_file_role_name(file->role));
    tn_expected(f, "an ONNX model, or one in protobuf's text form");
    return TN_ARTIFACT_MALFORMED;
}

enum tn_status tn_inventory_onnx(const struct tn_inventory *inv, const struct tn_package_file *file,
                                 struct tn_onnx_view **out, struct tn_error *err)
{
    struct tn_os_file open;
    struct tn_str text;
    *out = NULL;
    if (file->role == TN_ROLE_ONNX_TEXT) {
        enum tn_status read = tn_inventory_read(inv, file->path, &text, err);
        if (read) return read;
        read = tn_onnx_view_open_text(inv->ctx, file->path, text, out, err);
        tn_free(inv->ctx->alloc, (char *)(uintptr_t)text.s);
        return read;
    }
    if (file->role != TN_ROLE_ONNX) return not_a_graph(file, err);
    enum tn_status status = tn_inventory_open_file(inv, file, &open, err);
    if (status) return status;
    struct tn_source source = tn_source_of_file(&open, file->path);
    status = tn_onnx_view_open(inv->ctx, &source, out, err);
    tn_os_close(&open);
    return status;
}
