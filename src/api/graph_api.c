/* The graph of a package, shown. Reads it anew: what a plan keeps of it is a summary. */
#include "api/api.h"
#include "exec/exec.h"
#include "exec/patch.h"
#include "net/check.h"
#include "net/write.h"

#include <string.h>

static enum tn_status read_format(const char *format, bool *dot, struct tn_error *err)
{
    *dot = format && strcmp(format, "dot") == 0;
    if (!format || *dot || strcmp(format, "json") == 0) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_DESCRIBE, "the option \"format\" has an unknown value");
    tn_at_option(f, "format");
    tn_found(f, "%s", format);
    tn_expected(f, "json or dot");
    return TN_INVALID_REQUEST;
}

static enum tn_status refuse_other(const struct tn_description *d, struct tn_error *err)
{
    struct tn_finding *f = tn_error_set(err, TN_UNSUPPORTED_TASK, TN_PHASE_DESCRIBE, "the package is no graph");
    tn_found(f, "a package of the convention %.*s", TN_FMT_ARG(d->dialect));
    tn_expected(f, "an ONNX file, or a package of which --variant chooses one");
    return TN_UNSUPPORTED_TASK;
}

/* How the graph is to be shown. */
struct view {
    bool dot, optimized;
    const char *without[32];
    size_t without_count;
};

static enum tn_status read_without(struct view *v, struct tn_arena *arena, const char *list, struct tn_error *err)
{
    char *at = list ? tn_arena_strndup(arena, list, strlen(list)) : NULL;
    if (list && !at) return tn_error_memory(err, TN_PHASE_DESCRIBE, "reading the options");
    while (at && v->without_count < sizeof(v->without) / sizeof(v->without[0])) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        while (*at == ' ') at++;
        v->without[v->without_count++] = at;
        at = comma ? comma + 1 : NULL;
    }
    if (!at) return TN_OK;
    struct tn_finding *f = tn_error_set(err, TN_INVALID_REQUEST, TN_PHASE_DESCRIBE, "the list of rewritings to leave out is too long");
    tn_at_option(f, "without");
    return TN_INVALID_REQUEST;
}

/*
 * Types as far as they follow: an operator that cannot be computed here leaves its results open, and is shown all the same.
 * What is run must be computable, or there is nothing to rewrite.
 */
static enum tn_status import(const struct tn_context *ctx, const struct tn_inventory *inv, const struct tn_source *source,
                             const struct view *v, struct tn_model **model, struct tn_error *err)
{
    struct tn_findings findings;
    struct tn_onnx_view *view = NULL;
    *model = NULL;
    tn_findings_init(&findings, ctx->alloc, (size_t)ctx->limits.findings);
    enum tn_status st = tn_onnx_view_open(ctx, source, &view, err);
    if (!st) st = tn_model_import(ctx, inv, source, view, &findings, model, err);
    if (!st && *model) tn_net_check(*model, &findings);
    if (!st) st = tn_error_from_findings(err, &findings);
    if (!st) st = tn_net_infer(*model, &findings, err);
    if (!st && v->optimized) st = tn_error_from_findings(err, &findings);
    if (!st && v->optimized) st = tn_net_patch(*model, v->without, v->without_count, err);
    if (st) {
        tn_model_free(*model);
        *model = NULL;
    }
    tn_findings_release(&findings);
    return st;
}

static enum tn_status show(struct tn_package *package, const struct view *v, struct tn_document_builder *b, struct tn_error *err)
{
    const struct tn_description *d = package->description;
    struct tn_os_file file;
    struct tn_model *model;
    enum tn_status st = tn_error_from_findings(err, &d->findings);
    if (!st) st = tn_inventory_open_file(d->inv, d->graph->file, &file, err);
    if (st) return st;
    struct tn_source source = tn_source_of_file(&file, d->graph->file->path);
    st = import(d->inv->ctx, d->inv, &source, v, &model, err);
    if (!st && v->dot) tn_net_write_dot(&b->buf, model);
    else if (!st) tn_net_write(&b->w, model, v->optimized ? tn_net_patches_write : NULL);
    if (!st) tn_model_free(model);
    tn_os_close(&file);
    return st;
}

TN_API tn_status tn_package_graph(tn_package *package, const tn_graph_options *options, tn_document **out, tn_error *err)
{
    tn_graph_options o;
    struct tn_document_builder b;
    struct view v = {.dot = false};
    struct tn_arena arena;
    if (out) *out = NULL;
    if (!package) return tn_null_argument(err, TN_PHASE_DESCRIBE, "package");
    if (!out) return tn_null_argument(err, TN_PHASE_DESCRIBE, "out");
    enum tn_status st = tn_read_options(&o, sizeof(o), options, "tn_graph_options", err);
    if (!st) st = read_format(o.format, &v.dot, err);
    if (!st && !package->description->graph) {
        st = tn_error_from_findings(err, &package->description->findings);
        if (!st) st = refuse_other(package->description, err);
    }
    if (st) return st;
    v.optimized = o.optimized != 0 || o.without != NULL;
    tn_document_begin(&b, package->runtime);
    tn_arena_init(&arena, &package->runtime->alloc);
    st = read_without(&v, &arena, o.without, err);
    if (!st) st = show(package, &v, &b, err);
    tn_arena_release(&arena);
    return tn_document_finish(&b, st, out, err);
}
