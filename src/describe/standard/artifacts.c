/*
 * The package check of a standard document: files, then graphs, then adapters. Names in a document are hostile; only the
 * inventory's listing decides what is inside the package, nothing is opened by a name of the document.
 */
#include "describe/standard/artifacts_internal.h"

#include <string.h>

/* ---- findings ---------------------------------------------------------------------------------------------------- */

struct tn_finding *tn_std_refuse(struct tn_std_package_check *c, enum tn_status code, struct tn_json v,
                                 const char *format, ...)
{
    if (tn_doc_is_touched(&c->doc->marks, v)) return NULL;
    struct tn_finding *f = tn_findings_add(c->findings, TN_BLOCKER, code, TN_PHASE_DESCRIBE, "%s", "");
    if (!f) return NULL;
    va_list args;
    va_start(args, format);
    tn_finding_begin(f, TN_BLOCKER, code, TN_PHASE_DESCRIBE, format, args);
    va_end(args);
    tn_at_json(f, v);
    return f;
}

void tn_std_lost_memory(struct tn_std_package_check *c)
{
    if (!c->failed) c->failed = tn_error_memory(c->err, TN_PHASE_DESCRIBE, "comparing a document with its package");
}

bool tn_std_spend(struct tn_std_package_check *c, uint64_t n)
{
    enum { MOST = 1 << 28 }; /* a second or so; the largest adapters in use need a few million */
    bool before = c->work <= MOST;
    c->work = n > UINT64_MAX - c->work ? UINT64_MAX : c->work + n;
    if (c->work <= MOST) return true;
    if (before) {
        struct tn_finding *f = tn_std_refuse(c, TN_RESOURCE_LIMIT, c->doc->at,
                                             "comparing the document with its package takes too long");
        tn_found(f, "more than %d comparisons of names", MOST);
        tn_remedy(f, "declare fewer ports, state groups, targets or bindings");
    }
    return false;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* What the inventory said of an entry that it did not list: a link that leaves, a FIFO, a link to nothing. */
static const struct tn_finding *listed_fault(const struct tn_std_package_check *c, struct tn_str path)
{
    const struct tn_findings *list = &c->inv->findings;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].severity == TN_BLOCKER && tn_str_is(path, list->items[i].file)) return &list->items[i];
    }
    return NULL;
}

static bool is_folder(const struct tn_std_package_check *c, struct tn_str path)
{
    for (uint32_t i = 0; i < c->inv->file_count; i++) {
        struct tn_str file = c->inv->files[i].path;
        if (path.n == 0 || (file.n > path.n && file.s[path.n] == '/' && memcmp(file.s, path.s, path.n) == 0))
            return true;
    }
    return false;
}

static void report_missing(struct tn_std_package_check *c, struct tn_str path, struct tn_json at)
{
    const struct tn_finding *fault = listed_fault(c, path);
    if (fault) {
        struct tn_finding *f = tn_std_refuse(c, fault->code, at, "a file that the document names cannot be used");
        tn_found(f, "%.*s: %s", TN_FMT_ARG(path), fault->message);
        tn_expected(f, "a regular file inside the package");
        return;
    }
    bool folder = c->findings->count < c->findings->max && is_folder(c, path);
    struct tn_finding *f = tn_std_refuse(c, TN_ARTIFACT_MISSING, at, "a file that the document names is missing");
    tn_found(f, "%s %.*s", folder ? "a folder" : "no file", TN_FMT_ARG(path));
    tn_expected(f, "a regular file inside the package");
    tn_remedy(f, "fetch the whole package, or correct the name");
}

/* A name that leaves, or that is no file's, is refused by the document's own check too: said once. */
static bool already_refused(const struct tn_std_package_check *c, struct tn_json at)
{
    struct tn_finding place;
    memset(&place, 0, sizeof(place));
    tn_at_json(&place, at);
    for (size_t i = 0; i < c->findings->count; i++) {
        const struct tn_finding *f = &c->findings->items[i];
        if (f->severity == TN_BLOCKER && strcmp(f->file, place.file) == 0 && strcmp(f->element, place.element) == 0)
            return true;
    }
    return false;
}

const struct tn_package_file *tn_std_file(struct tn_std_package_check *c, struct tn_str path, struct tn_json at,
                                          bool report)
{
    struct tn_str inside;
    if (c->failed) return NULL;
    tn_error_clear(c->problem);
    enum tn_status status = tn_package_reference(&c->arena, c->folder, path, &inside, c->problem);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_std_lost_memory(c);
        return NULL;
    }
    if (status) {
        if (!report || already_refused(c, at)) return NULL;
        struct tn_finding *f = tn_std_refuse(c, status, at, "%s", c->problem->primary.message);
        tn_found(f, "%s", c->problem->primary.found);
        tn_expected(f, "%s", c->problem->primary.expected);
        return NULL;
    }
    const struct tn_package_file *file = tn_inventory_file(c->inv, inside);
    if (!file && report && !already_refused(c, at)) report_missing(c, inside, at);
    return file;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static bool visit(void *user, const struct tn_std_artifact *a)
{
    struct tn_std_package_check *c = user;
    const struct tn_package_file *file = tn_std_file(c, a->path, a->at, true);
    if (a->use == TN_STD_USE_COMPONENT && a->component->implementation == TN_STD_ONNX)
        c->graphs[a->component - c->doc->workflow.components].file = file;
    return c->failed == TN_OK;
}

static void open_graph(struct tn_std_package_check *c, size_t index)
{
    const struct tn_std_component *component = &c->doc->workflow.components[index];
    struct tn_std_graph *graph = &c->graphs[index];
    if (!graph->file || c->failed) return;
    uint32_t *user = &c->users[graph->file - c->inv->files];
    if (*user) { /* the same file may serve several components: it is read and judged once */
        graph->view = c->graphs[*user - 1].view;
        graph->shared = true;
        return;
    }
    *user = (uint32_t)index + 1;
    tn_error_clear(c->problem);
    enum tn_status status = tn_inventory_onnx(c->inv, graph->file, &graph->view, c->problem);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_std_lost_memory(c);
    } else if (status) {
        const struct tn_finding *why = &c->problem->primary;
        struct tn_finding *f = tn_std_refuse(c, status, component->artifact.at, "the graph of component %.*s: %s",
                                             TN_FMT_ARG(component->name), why->message);
        tn_found(f, "%.*s: %s", TN_FMT_ARG(graph->file->path), why->found);
        tn_expected(f, "%s", why->expected);
    } else {
        tn_onnx_check(graph->view, c->inv, c->findings);
    }
}

static void release(struct tn_std_package_check *c)
{
    for (size_t i = 0; c->graphs && i < c->doc->workflow.component_count; i++) {
        if (!c->graphs[i].shared) tn_onnx_view_free(c->graphs[i].view);
    }
    tn_arena_release(&c->arena);
    tn_free(c->inv->ctx->alloc, c->problem);
}

enum tn_status tn_standard_check_artifacts(const struct tn_standard *doc, const struct tn_inventory *inv,
                                           struct tn_findings *findings, struct tn_error *err)
{
    struct tn_std_package_check c = {.doc = doc, .inv = inv, .findings = findings, .err = err};
    size_t dropped = findings->dropped, count = doc->workflow.component_count;
    tn_arena_init(&c.arena, inv->ctx->alloc);
    c.folder = tn_json_present(doc->at) ? tn_package_folder(doc->at.doc->file) : TN_STR("");
    c.problem = tn_malloc(inv->ctx->alloc, sizeof(*c.problem));
    c.graphs = tn_arena_array(&c.arena, count + 1, sizeof(*c.graphs));
    c.users = tn_arena_array(&c.arena, (size_t)inv->file_count + 1, sizeof(*c.users));
    if (!c.problem || !c.graphs || !c.users) tn_std_lost_memory(&c);
    if (!c.failed) tn_standard_artifacts(doc, visit, &c);
    for (size_t i = 0; !c.failed && i < count; i++) open_graph(&c, i);
    for (size_t i = 0; !c.failed && i < count; i++) {
        if (c.graphs[i].view) tn_std_check_graph_ports(&c, &doc->workflow.components[i], &c.graphs[i]);
    }
    if (!c.failed) tn_std_check_targets(&c);
    if (!c.failed) tn_std_check_weights(&c);
    /* A finding that was lost although the list had room was lost to memory. */
    if (findings->dropped > dropped && findings->count < findings->max) tn_std_lost_memory(&c);
    release(&c);
    return c.failed;
}
