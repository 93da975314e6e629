/* The description as its two documents. */
#include "describe/serial.h"

#include "base/yaml_write.h"
#include "describe/package_document.h"
#include "describe/standard/write.h"

static enum tn_status failed(enum tn_status status, struct tn_error *err)
{
    if (status == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_DESCRIBE, "writing the description");
    if (status) tn_error_set(err, status, TN_PHASE_DESCRIBE, "the description does not fit a document");
    return status;
}

/* The graph of a package that is one; NULL for every other, and for one that does not read. */
static enum tn_status graph_of(const struct tn_description *d, struct tn_onnx_view **out)
{
    *out = NULL;
    bool graph = d->variant && tn_str_is(d->variant->container, "onnx") && d->variant->file_count > 0;
    if (!graph || d->component_count > 0) return TN_OK;
    enum tn_status status = tn_inventory_onnx(d->inv, &d->inv->files[d->variant->files[0]], out, NULL);
    return status == TN_INSUFFICIENT_MEMORY ? status : TN_OK; /* what is wrong with the file is among the findings */
}

static enum tn_status write_metadata(const struct tn_description *d, struct tn_buf *out)
{
    struct tn_json_writer w;
    struct tn_onnx_view *view = NULL;
    bool stated = tn_json_present(tn_json_root(&d->contract));
    enum tn_status status = stated ? TN_OK : graph_of(d, &view);
    if (status) return status;
    tn_jw_init(&w, out, true);
    if (stated) tn_jw_json(&w, tn_json_root(&d->contract));
    else if (view && tn_standard_graph_states(view)) status = tn_standard_graph_write(&w, view);
    else tn_standard_document_write(&w, d);
    tn_onnx_view_free(view);
    return status ? status : tn_buf_status(out);
}

/* YAML is made from the parsed JSON, so that both forms say the same by construction. */
static enum tn_status to_yaml(const struct tn_description *d, struct tn_buf *json, struct tn_buf *out, struct tn_error *err)
{
    struct tn_json_doc doc;
    enum tn_status status =
        tn_json_parse(&doc, json->alloc, &d->inv->ctx->limits, TN_STR("inference_metadata.json"), tn_buf_str(json), err);
    if (status) return status;
    status = failed(tn_yaml_write(tn_json_root(&doc), out), err);
    tn_json_release(&doc);
    return status;
}

/*
 * Broken files are not something left open: documents that were written for them would carry the fault into another form.
 * Nor is what the caller got wrong, or left to choose, or a package that follows no convention: nothing could be said of it.
 * What this build merely does not know stands in the documents as undetermined. An import that stopped short is refused for
 * each reason, too: what could still be written, a contract of the bare graph, would be another one.
 */
static bool refuses(const struct tn_description *d, const struct tn_finding *f)
{
    static const enum tn_status codes[] = {TN_ARTIFACT_MALFORMED, TN_PATH_ESCAPE,     TN_DUPLICATE_TENSOR,  TN_METADATA_INVALID,
                                           TN_INVALID_REQUEST,    TN_UNSUPPORTED_OPTION, TN_AMBIGUOUS_PACKAGE};
    bool stopped = tn_str_is(d->dialect, "genai_config") && !tn_json_present(tn_json_root(&d->contract));
    if (f->severity != TN_BLOCKER) return false;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (f->code == codes[i]) return true;
    return d->dialect.n == 0 || (stopped && f->code != TN_PROVIDER_UNAVAILABLE);
}

/* What refuses the description comes first, then whatever else stands in the package's way: one list for every command. */
enum tn_status tn_description_writable(const struct tn_description *d, struct tn_error *err)
{
    struct tn_findings all, told;
    size_t count = 0;
    tn_findings_init(&all, d->arena.alloc, d->findings.max);
    tn_findings_init(&told, d->arena.alloc, d->findings.max);
    tn_description_findings(d, &all);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < all.count; i++) {
            struct tn_findings one = {.items = &all.items[i], .count = 1};
            bool refused = refuses(d, &all.items[i]);
            count += pass == 0 && refused;
            if (all.items[i].severity == TN_BLOCKER && refused == (pass == 0)) tn_findings_append(&told, &one);
        }
    }
    bool lost = all.starved || told.starved;
    enum tn_status status = lost ? failed(TN_INSUFFICIENT_MEMORY, err) : count ? tn_error_from_findings(err, &told) : TN_OK;
    tn_findings_release(&all);
    tn_findings_release(&told);
    return status;
}

enum tn_status tn_description_documents(const struct tn_description *d, const struct tn_serial_options *options,
                                        struct tn_buf *metadata, struct tn_buf *package, struct tn_error *err)
{
    struct tn_json_writer w;
    struct tn_buf json;
    enum tn_status status = tn_description_writable(d, err);
    if (status) return status;
    tn_jw_init(&w, package, true);
    tn_package_document_write(&w, d, options->provenance);
    status = failed(tn_buf_status(package), err);
    if (status) return status;
    tn_buf_init(&json, metadata->alloc, metadata->max);
    status = failed(write_metadata(d, options->yaml ? &json : metadata), err);
    if (!status && options->yaml) status = to_yaml(d, &json, metadata, err);
    tn_buf_release(&json);
    return status;
}
