/*
 * Verdicts over a view: versions, names, stored sizes and external data. All problems in one pass. Operators are not
 * judged here: which of them can run is for whoever runs the graph.
 */
#include "package/onnx_read.h"

#include "base/checked.h"
#include "package/scan.h"

#include <stdio.h>
#include <string.h>

struct check {
    const struct tn_onnx_view *v;
    const struct tn_inventory *inv;
    struct tn_findings *out;
    struct tn_error *problem; /* scratch */
    struct tn_arena arena;    /* scratch */
};

static struct tn_finding *blocker(struct check *c, enum tn_status code, const char *what)
{
    struct tn_finding *f = tn_findings_add(c->out, TN_BLOCKER, code, TN_PHASE_PACKAGE, "%s", what);
    tn_at_file(f, c->v->file);
    return f;
}

/* A finding that there is no memory for. */
static void lose(struct check *c)
{
    c->out->dropped++;
    c->out->starved = true;
}

static void at_element(struct tn_finding *f, const char *list, uint32_t index)
{
    char pointer[64];
    snprintf(pointer, sizeof(pointer), "/%s/%u", list, index);
    tn_at_element(f, TN_ELEMENT_POINTER, tn_str_of(pointer));
}

/* ---- versions ---------------------------------------------------------------------------------------------------- */

/* Of onnx 1.23: what is newer may mean something else (Softmax changed its default axis in opset 13). */
enum { OLDEST_IR = 3, NEWEST_IR = 14 };

static const struct {
    const char *domain;
    int64_t newest;
} domains[] = {
    {"ai.onnx", 28},
    {"ai.onnx.ml", 5},
    {"ai.onnx.training", 1},
    {"ai.onnx.preview", 1},
    {"ai.onnx.preview.training", 1},
    {"com.microsoft", 1},
    {"com.microsoft.nchwc", 1},
    {"com.microsoft.experimental", 1},
};

/* 0: a domain of somebody's own, whose versions are theirs. */
static int64_t newest_of(struct tn_str domain)
{
    for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
        if (tn_str_is(domain, domains[i].domain)) return domains[i].newest;
    }
    return 0;
}

static void check_ir(struct check *c)
{
    int64_t ir = c->v->ir_version;
    if (c->v->has_ir_version && ir >= OLDEST_IR && ir <= NEWEST_IR) return;
    bool newer = ir > NEWEST_IR;
    struct tn_finding *f = blocker(c, newer ? TN_VERSION_UNQUALIFIED : TN_ARTIFACT_MALFORMED,
                                   !c->v->has_ir_version ? "the model states no ir_version"
                                   : newer               ? "the model is of a newer ir_version than is known"
                                   : ir < 1              ? "the model's ir_version is no version"
                                                         : "the model's ir_version is older than operator sets");
    tn_at_element(f, TN_ELEMENT_POINTER, TN_STR("/ir_version"));
    if (c->v->has_ir_version) tn_found(f, "%lld", (long long)ir);
    tn_expected(f, "%d to %d", OLDEST_IR, NEWEST_IR);
    tn_remedy(f, "%s", newer ? "export the model with an older ir_version" : "export the model again");
}

static void check_opset(struct check *c, const struct tn_onnx_opset *opset, const char *list, uint32_t index)
{
    int64_t newest = newest_of(opset->domain), version = opset->version;
    if (version >= 1 && (newest == 0 || version <= newest)) return;
    struct tn_finding *f =
        blocker(c, version < 1 ? TN_ARTIFACT_MALFORMED : TN_VERSION_UNQUALIFIED,
                version < 1 ? "an operator set without a version" : "an operator set newer than is known");
    at_element(f, list, index);
    tn_found(f, "domain %.*s, version %lld", TN_FMT_ARG(opset->domain), (long long)version);
    if (newest) {
        tn_expected(f, "domain %.*s, version 1 to %lld", TN_FMT_ARG(opset->domain), (long long)newest);
    } else {
        tn_expected(f, "domain %.*s, version 1 or later", TN_FMT_ARG(opset->domain));
    }
    tn_remedy(f, "%s", version < 1 ? "export the model again" : "export the model for an older operator set");
}

/* A handful of domains: every pair is looked at, up to a bound that no model reaches. */
static void check_twice(struct check *c, const struct tn_onnx_opset *opsets, uint32_t count, const char *list)
{
    enum { MOST = 512 };
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (!tn_str_eq(opsets[i].domain, opsets[k].domain)) continue;
            struct tn_finding *f = blocker(c, TN_ARTIFACT_MALFORMED, "an operator set is imported twice");
            at_element(f, list, i);
            tn_found(f, "domain %.*s, versions %lld and %lld", TN_FMT_ARG(opsets[i].domain),
                     (long long)opsets[k].version, (long long)opsets[i].version);
            tn_expected(f, "one version per domain");
            break;
        }
    }
    if (count <= MOST) return;
    struct tn_finding *f = blocker(c, TN_RESOURCE_LIMIT, "more operator sets than anybody has");
    tn_found(f, "%u", count);
    tn_expected(f, "at most %u", MOST);
}

static bool defined_here(const struct tn_onnx_view *v, const struct tn_onnx_operator *op)
{
    for (uint32_t i = 0; i < v->function_count; i++) {
        if (tn_str_eq(v->functions[i].domain, op->domain) && tn_str_eq(v->functions[i].name, op->type)) return true;
    }
    return false;
}

/* Nodes say which domain they mean; the import says which version of it. */
static void check_imports(struct check *c)
{
    const struct tn_onnx_view *v = c->v;
    const struct tn_str *last = NULL;
    for (uint32_t i = 0; i < v->operator_count; i++) {
        const struct tn_onnx_operator *op = &v->operators[v->operator_order[i]];
        bool imported = false;
        for (uint32_t k = 0; k < v->opset_count && !imported; k++)
            imported = tn_str_eq(v->opsets[k].domain, op->domain);
        if (imported || op->count == 0 || (last && tn_str_eq(*last, op->domain))) continue;
        if (defined_here(v, op)) continue;
        last = &op->domain;
        struct tn_finding *f =
            blocker(c, TN_ARTIFACT_MALFORMED, "nodes of a domain whose version is not stated");
        tn_at_element(f, TN_ELEMENT_POINTER, TN_STR("/opset_import"));
        tn_found(f, "operator %.*s of domain %.*s, no import", TN_FMT_ARG(op->type), TN_FMT_ARG(op->domain));
        tn_expected(f, "an opset_import for %.*s%s", TN_FMT_ARG(op->domain),
                    newest_of(op->domain) ? " within the known versions" : "");
    }
}

static void check_versions(struct check *c)
{
    const struct tn_onnx_view *v = c->v;
    check_ir(c);
    if (v->opset_count == 0) {
        struct tn_finding *f = blocker(c, TN_ARTIFACT_MALFORMED, "the model imports no operator set");
        tn_at_element(f, TN_ELEMENT_POINTER, TN_STR("/opset_import"));
        tn_expected(f, "domain ai.onnx, version 1 to %lld", (long long)newest_of(TN_STR("ai.onnx")));
    }
    for (uint32_t i = 0; i < v->opset_count; i++) check_opset(c, &v->opsets[i], "opset_import", i);
    check_twice(c, v->opsets, v->opset_count, "opset_import");
    for (uint32_t i = 0; i < v->function_count; i++) {
        const struct tn_onnx_function *f = &v->functions[i];
        char list[64];
        snprintf(list, sizeof(list), "functions/%u/opset_import", i);
        for (uint32_t k = 0; k < f->opset_count; k++) check_opset(c, &f->opsets[k], list, k);
        check_twice(c, f->opsets, f->opset_count, list);
    }
    if (v->opset_count) check_imports(c);
}

/* ---- what newer writers add -------------------------------------------------------------------------------------- */

static void check_unknown(struct check *c)
{
    const struct tn_onnx_view *v = c->v;
    for (uint32_t i = 0; i < v->unknown_count; i++) {
        struct tn_finding *f = blocker(c, TN_VERSION_UNQUALIFIED, "a field that the known format does not have");
        tn_at_offset(f, v->file, v->unknown[i].at);
        tn_found(f, "field %u of %s%s", v->unknown[i].number, tn_onnx_message_name(v->unknown[i].message),
                 i + 1 == v->unknown_count && v->more_unknown ? ", and more" : "");
        tn_expected(f, "the fields of ir_version %d", NEWEST_IR);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void twice(struct check *c, const char *what, const char *list, uint32_t index, struct tn_str name)
{
    struct tn_finding *f = blocker(c, TN_ARTIFACT_MALFORMED, what);
    at_element(f, list, index);
    tn_found(f, "\"%.*s\"", TN_FMT_ARG(name));
    tn_expected(f, "names that occur once");
}

static void check_ports(struct check *c, const struct tn_onnx_port *ports, const uint32_t *order, uint32_t count,
                        const char *list)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tn_onnx_port *port = &ports[order[i]];
        if (i > 0 && tn_str_eq(port->name, ports[order[i - 1]].name))
            twice(c, "a port of the graph stands twice", list, order[i], port->name);
        if (port->name.n == 0) at_element(blocker(c, TN_ARTIFACT_MALFORMED, "a port without a name"), list, order[i]);
        if (!port->element || tn_onnx_element_known(port->element)) continue;
        struct tn_finding *f = blocker(c, TN_VERSION_UNQUALIFIED, "an element type that is not known");
        at_element(f, list, order[i]);
        tn_found(f, "type %u of \"%.*s\"", port->element, TN_FMT_ARG(port->name));
        tn_expected(f, "a type of ir_version %d", NEWEST_IR);
    }
}

static void check_initializers(struct check *c)
{
    const struct tn_onnx_view *v = c->v;
    for (uint32_t i = 0; i < v->initializer_count; i++) {
        uint32_t at = v->initializer_order[i];
        const struct tn_onnx_tensor *t = &v->initializers[at];
        uint64_t bytes, stored = t->raw.end - t->raw.at;
        if (i > 0 && tn_str_eq(t->name, v->initializers[v->initializer_order[i - 1]].name))
            twice(c, "an initializer stands twice", "graph/initializer", at, t->name);
        if (t->data != TN_ONNX_DATA_RAW || v->text_form) continue;
        if (!tn_onnx_tensor_bytes(t->element, t->dims, t->rank, &bytes)) {
            struct tn_finding *f = blocker(c, TN_TENSOR_MISMATCH, "an initializer whose size cannot be told");
            tn_at_tensor(f, v->file, t->name);
            tn_found(f, "type %s (%u), %u dimensions", tn_onnx_element_name(t->element), t->element, t->rank);
        } else if (bytes != stored) {
            struct tn_finding *f =
                blocker(c, TN_TENSOR_MISMATCH, "the values of an initializer do not fit its shape");
            tn_at_tensor(f, v->file, t->name);
            tn_found(f, "%llu bytes", (unsigned long long)stored);
            tn_expected(f, "%llu bytes", (unsigned long long)bytes);
        }
    }
}

/* ---- external data ----------------------------------------------------------------------------------------------- */

void tn_onnx_location_missing(struct tn_finding *f, const struct tn_onnx_location *l, struct tn_str path)
{
    tn_found(f, "no file %.*s; %llu tensor%s, %llu bytes, the first is %.*s", TN_FMT_ARG(path),
             (unsigned long long)l->tensors, l->tensors == 1 ? "" : "s", (unsigned long long)l->bytes,
             TN_FMT_ARG(l->first));
}

/* The file of a location, or NULL when that was reported. */
static const struct tn_package_file *find_file(struct check *c, const struct tn_onnx_location *l)
{
    struct tn_str path;
    tn_error_clear(c->problem);
    if (l->name.n == 0) {
        struct tn_finding *f = blocker(c, TN_ARTIFACT_MALFORMED, "external data without a location");
        tn_at_tensor(f, c->v->file, l->first);
        tn_expected(f, "the name of a file beside the model");
        return NULL;
    }
    enum tn_status status =
        tn_package_reference(&c->arena, tn_package_folder(c->v->file), l->name, &path, c->problem);
    if (status == TN_INSUFFICIENT_MEMORY) {
        lose(c);
        return NULL;
    }
    if (status) {
        struct tn_finding *f = blocker(c, status, "");
        if (!f) return NULL;
        *f = c->problem->primary;
        f->severity = TN_BLOCKER;
        tn_at_tensor(f, c->v->file, l->first);
        return NULL;
    }
    const struct tn_package_file *file = tn_inventory_file(c->inv, path);
    if (file) return file;
    struct tn_finding *f = blocker(c, TN_ARTIFACT_MISSING, "external data of a graph is missing");
    tn_at_tensor(f, c->v->file, l->first);
    tn_onnx_location_missing(f, l, path);
    tn_remedy(f, "fetch the data file into the graph's folder");
    return NULL;
}

static struct tn_finding *external(struct check *c, const struct tn_onnx_external *x, const char *what)
{
    struct tn_finding *f = blocker(c, TN_ARTIFACT_MALFORMED, what);
    tn_at_tensor(f, c->v->file, x->tensor);
    return f;
}

static void check_range(struct check *c, const struct tn_onnx_external *x, const struct tn_package_file *file)
{
    if (x->bad_offset || x->bad_length) {
        struct tn_finding *f = external(c, x, "a place in external data that is no number");
        struct tn_str text = x->bad_offset ? x->offset : x->length;
        tn_found(f, "%s \"%.*s\"", x->bad_offset ? "offset" : "length", TN_FMT_ARG(text));
        tn_expected(f, "decimal digits, 0 or more");
        return;
    }
    uint64_t bytes = x->have_length ? x->length_bytes : x->sized ? x->bytes : 0;
    if (!x->sized || (x->have_length && x->length_bytes != x->bytes)) {
        struct tn_finding *f = external(c, x, "the length of external data does not fit the tensor's shape");
        if (x->have_length) tn_found(f, "%llu bytes", (unsigned long long)x->length_bytes);
        if (x->sized) tn_expected(f, "%llu bytes", (unsigned long long)x->bytes);
        if (f && f->code) f->code = TN_TENSOR_MISMATCH;
    }
    if (!file || tn_range_inside(x->offset_bytes, bytes, file->size)) return;
    struct tn_finding *f = external(c, x, "external data ends before the tensor does");
    tn_found(f, "offset %llu and %llu bytes in %.*s of %llu bytes", (unsigned long long)x->offset_bytes,
             (unsigned long long)bytes, TN_FMT_ARG(file->path), (unsigned long long)file->size);
    tn_expected(f, "a range inside the file");
    tn_remedy(f, "fetch the data file again; it may be cut");
}

static void check_external(struct check *c, const struct tn_onnx_external *x, const struct tn_package_file *file)
{
    if (x->unmarked)
        tn_expected(external(c, x, "external_data beside a data_location that is not EXTERNAL"), "one of the two");
    if (x->inside)
        tn_expected(external(c, x, "values in the model and in external data"), "one of the two");
    check_range(c, x, file);
}

static void check_externals(struct check *c)
{
    const struct tn_onnx_view *v = c->v;
    if (v->external_count == 0) return;
    if (!c->inv) {
        struct tn_finding *f =
            blocker(c, TN_ARTIFACT_MISSING, "external data cannot be found for a model without a place");
        tn_found(f, "%u tensors in %u files, the first is \"%.*s\"", v->external_count, v->location_count,
                 TN_FMT_ARG(v->locations[0].name));
        tn_expected(f, "a model opened from its folder");
        return;
    }
    const struct tn_package_file **files = tn_arena_array(&c->arena, v->location_count, sizeof(*files));
    if (!files) {
        lose(c);
        return;
    }
    for (uint32_t i = 0; i < v->location_count; i++) files[i] = find_file(c, &v->locations[i]);
    for (uint32_t i = 0; i < v->external_count; i++)
        check_external(c, &v->externals[i], files[v->externals[i].file]);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

void tn_onnx_check(const struct tn_onnx_view *view, const struct tn_inventory *inv, struct tn_findings *findings)
{
    struct check c = {.v = view, .inv = inv, .out = findings};
    tn_arena_init(&c.arena, view->alloc);
    c.problem = tn_malloc(view->alloc, sizeof(*c.problem));
    if (!c.problem) {
        lose(&c);
        return;
    }
    check_versions(&c);
    check_unknown(&c);
    if (!view->has_graph) blocker(&c, TN_ARTIFACT_MALFORMED, "the model has no graph");
    check_ports(&c, view->inputs, view->input_order, view->input_count, "graph/input");
    check_ports(&c, view->outputs, view->output_order, view->output_count, "graph/output");
    check_initializers(&c);
    check_externals(&c);
    tn_free(view->alloc, c.problem);
    tn_arena_release(&c.arena);
}
