/* Which checks a document gets; the checks themselves stand in package_tables.c and standard/. */
#include "describe/validate.h"

#include "base/yaml.h"
#include "describe/hints.h"
#include "describe/package_document.h"
#include "describe/serial.h"
#include "describe/standard/identity.h"
#include "describe/standard/judge.h"
#include "describe/standard/tables.h"

#include <string.h>

const char *tn_document_kind_name(enum tn_document_kind kind)
{
    switch (kind) {
    case TN_DOCUMENT_METADATA: return "inference_metadata";
    case TN_DOCUMENT_PACKAGE: return "tenon_package";
    case TN_DOCUMENT_HINTS: return "execution_hints";
    }
    return "unknown";
}

void tn_validation_release(struct tn_validation *v)
{
    tn_findings_release(&v->findings);
}

static void begin(struct tn_validation *v, const struct tn_context *ctx)
{
    *v = (struct tn_validation){0};
    tn_findings_init(&v->findings, ctx->alloc, ctx->limits.findings);
}

/* Findings that were lost for want of memory, and not because the list is full. */
static enum tn_status finish(struct tn_validation *v, enum tn_status status, struct tn_error *err)
{
    if (v->findings.starved || status == TN_INSUFFICIENT_MEMORY) {
        tn_validation_release(v);
        return tn_error_memory(err, TN_PHASE_DESCRIBE, "validating a document");
    }
    return TN_OK;
}

/* By its own name; a text under another name by what it holds. */
static enum tn_document_kind kind_of(struct tn_str name, struct tn_json root)
{
    static const char *const metadata[] = {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json"};
    if (tn_str_ends(name, TN_PACKAGE_FILE)) return TN_DOCUMENT_PACKAGE;
    if (tn_str_ends(name, "execution_hints.json")) return TN_DOCUMENT_HINTS;
    for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++)
        if (tn_str_ends(name, metadata[i])) return TN_DOCUMENT_METADATA;
    if (tn_json_present(tn_json_get(root, "schema"))) return TN_DOCUMENT_PACKAGE;
    bool hints = tn_json_present(tn_json_get(root, "placement")) || tn_json_present(tn_json_get(root, "memory")) ||
                 tn_json_present(tn_json_get(root, "scheduling"));
    return hints ? TN_DOCUMENT_HINTS : TN_DOCUMENT_METADATA;
}

/* A text that does not parse is the one fault of the document. */
static enum tn_status unreadable(struct tn_validation *v, enum tn_status status, const struct tn_error *problem)
{
    if (status == TN_INSUFFICIENT_MEMORY) return status;
    struct tn_finding *f = tn_findings_add(&v->findings, TN_BLOCKER, status, TN_PHASE_DESCRIBE, "%s", problem->primary.message);
    if (!f) return TN_INSUFFICIENT_MEMORY;
    *f = problem->primary;
    f->severity = TN_BLOCKER;
    f->phase = TN_PHASE_DESCRIBE;
    return TN_OK;
}

/* Only a document that holds says the same as another one. */
static enum tn_status identify(const struct tn_context *ctx, struct tn_json root, struct tn_validation *v,
                               struct tn_error *problem)
{
    if (v->findings.blockers > 0 || !tn_json_present(root)) return TN_OK;
    enum tn_status status = tn_standard_identity(root, ctx->alloc, &v->identity, problem);
    v->have_identity = status == TN_OK;
    return status;
}

static enum tn_status check_metadata(const struct tn_context *ctx, struct tn_json root, struct tn_validation *v,
                                     struct tn_error *problem)
{
    struct tn_standard standard;
    enum tn_status status = tn_standard_judge(root, ctx->alloc, NULL, &standard, &v->findings, problem);
    if (!status) tn_standard_release(&standard);
    return status;
}

static enum tn_status check_content(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_json root,
                                    struct tn_validation *v, struct tn_error *problem)
{
    enum tn_status status = tn_package_document_judge(ctx, options, root, &v->findings, problem);
    if (status != TN_INSUFFICIENT_MEMORY) tn_hints_check_meaning(tn_json_get(root, "execution_hints"), &v->findings);
    return status;
}

static enum tn_status check(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_json root,
                            struct tn_validation *v, struct tn_error *problem)
{
    switch (v->kind) {
    case TN_DOCUMENT_METADATA: return check_metadata(ctx, root, v, problem);
    case TN_DOCUMENT_PACKAGE: return check_content(ctx, options, root, v, problem);
    case TN_DOCUMENT_HINTS: return tn_hints_check(root, &v->findings);
    }
    return TN_OK;
}

/* The first byte of the text that says something; its length when none does. */
static size_t beginning(struct tn_str text)
{
    size_t i = text.n >= 3 && memcmp(text.s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < text.n && (text.s[i] == ' ' || text.s[i] == '\t' || text.s[i] == '\r' || text.s[i] == '\n')) i++;
    return i;
}

static enum tn_status refuse_empty(struct tn_str name, struct tn_error *problem)
{
    struct tn_finding *f = tn_error_set(problem, TN_ARTIFACT_MALFORMED, TN_PHASE_DESCRIBE, "the document is empty");
    tn_at_file(f, name);
    tn_found(f, "nothing but space");
    tn_expected(f, "a document in JSON or YAML");
    return TN_ARTIFACT_MALFORMED;
}

/*
 * In the form that its name tells. A text under no telling name, as from standard input, is JSON when it begins as JSON
 * documents do and holds as such; YAML begins so too ("{a: 1}"), and what is neither is told as JSON.
 */
static enum tn_status parse(const struct tn_context *ctx, struct tn_str name, struct tn_str text, struct tn_json_doc *doc,
                            struct tn_error *problem)
{
    size_t start = beginning(text);
    bool telling = tn_yaml_named(name) || tn_str_ends(name, ".json");
    if (start == text.n) return refuse_empty(name, problem);
    bool yaml = telling ? tn_yaml_named(name) : text.s[start] != '{' && text.s[start] != '[';
    if (yaml) return tn_yaml_parse(doc, ctx->alloc, &ctx->limits, name, text, problem);
    enum tn_status status = tn_json_parse(doc, ctx->alloc, &ctx->limits, name, text, problem);
    if (telling || status != TN_ARTIFACT_MALFORMED) return status;
    enum tn_status other = tn_yaml_parse(doc, ctx->alloc, &ctx->limits, name, text, NULL);
    return other == TN_OK || other == TN_INSUFFICIENT_MEMORY ? other : status;
}

enum tn_status tn_validate_text(const struct tn_context *ctx, const struct tn_describe_options *options, struct tn_str name,
                                struct tn_str text, struct tn_validation *out, struct tn_error *err)
{
    struct tn_json_doc doc;
    begin(out, ctx);
    struct tn_error *problem = tn_calloc(ctx->alloc, 1, sizeof(*problem));
    if (!problem) return finish(out, TN_INSUFFICIENT_MEMORY, err);
    enum tn_status status = parse(ctx, name, text, &doc, problem);
    if (status) {
        out->kind = kind_of(name, (struct tn_json){0});
        status = unreadable(out, status, problem);
    } else {
        out->kind = kind_of(name, tn_json_root(&doc));
        status = check(ctx, options, tn_json_root(&doc), out, problem);
        if (!status && out->kind == TN_DOCUMENT_METADATA) status = identify(ctx, tn_json_root(&doc), out, problem);
        tn_json_release(&doc);
    }
    tn_free(ctx->alloc, problem);
    return finish(out, status, err);
}

/* Against our own document, or against both and their files; what this build merely cannot run is no fault of them. */
static bool concerns_documents(const struct tn_finding *f)
{
    static const enum tn_status codes[] = {TN_METADATA_INVALID, TN_ARTIFACT_MALFORMED, TN_ARTIFACT_MISSING,
                                           TN_AMBIGUOUS_PACKAGE, TN_RESOURCE_LIMIT, TN_PATH_ESCAPE,
                                           TN_MISSING_TENSOR, TN_UNEXPECTED_TENSOR, TN_DUPLICATE_TENSOR,
                                           TN_TENSOR_MISMATCH, TN_VERSION_UNQUALIFIED};
    if (strcmp(f->file, TN_PACKAGE_FILE) == 0) return true;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (f->code == codes[i]) return true;
    return false;
}

/* Blockers behind a full list may be of the documents or of this build: whether the documents hold, nobody looked. */
static void tell_unlisted(struct tn_validation *v, const struct tn_findings *all)
{
    struct tn_finding *f = tn_findings_add(&v->findings, TN_BLOCKER, TN_RESOURCE_LIMIT, TN_PHASE_DESCRIBE,
                                           "more findings than are listed: whether the documents hold is not known");
    tn_found(f, "%zu findings, and %zu more", all->count, all->dropped);
    tn_expected(f, "at most %zu, the limit \"findings\"", v->findings.max);
    tn_remedy(f, "correct what `tenon check` lists, then validate again");
}

/*
 * Of all that was noticed what is wrong with the documents or with the files that they name, and every warning. What this
 * build lacks to run the package is listed too, from whichever document or structure it follows, and makes no document wrong.
 */
static void take_findings(const struct tn_description *d, struct tn_validation *v)
{
    struct tn_findings all;
    tn_findings_init(&all, d->arena.alloc, v->findings.max);
    tn_description_findings(d, &all);
    for (size_t i = 0; i < all.count; i++) {
        const struct tn_finding *from = &all.items[i];
        bool lacks = from->code == TN_MISSING_CAPABILITY;
        if (!lacks && from->severity != TN_WARNING && !concerns_documents(from)) continue;
        enum tn_severity severity = lacks && from->severity == TN_BLOCKER ? TN_WARNING : from->severity;
        struct tn_finding *f = tn_findings_add(&v->findings, severity, from->code, TN_PHASE_DESCRIBE, "%s", from->message);
        if (f) *f = *from;
        if (f) f->severity = severity;
    }
    size_t listed = 0;
    for (size_t i = 0; i < all.count; i++) listed += all.items[i].severity == TN_BLOCKER;
    if (all.blockers > listed && v->findings.blockers == 0) tell_unlisted(v, &all);
    v->findings.dropped += all.dropped;
    v->findings.starved |= all.starved;
    v->findings.blockers += all.blockers - listed;
    tn_findings_release(&all);
}

/* What the error says of its cause, and how one comes to a contract where there is a way. */
static void tell_way(struct tn_error *err, const struct tn_description *d, size_t open)
{
    struct tn_finding *f = &err->primary;
    if (d->dialect.n == 0) {
        tn_found(f, "files of no convention that is known here");
        tn_remedy(f, "name the folder that holds the document, or write one by hand; `tenon inspect` shows what is there");
    } else if (open) {
        tn_found(f, "a package of the convention %.*s", TN_FMT_ARG(d->dialect));
        tn_remedy(f, "`tenon describe` writes one, with %zu open point%s that keep%s the package from running", open,
                  open == 1 ? "" : "s", open == 1 ? "s" : "");
    } else {
        tn_found(f, "a package of the convention %.*s", TN_FMT_ARG(d->dialect));
        tn_remedy(f, "`tenon describe` writes one");
    }
}

/* The reasons for which `describe` writes none, behind the error's own cause. */
static void tell_obstacles(struct tn_error *err, const struct tn_description *d, const struct tn_error *obstacles)
{
    struct tn_finding *f = &err->primary;
    if (d->dialect.n) tn_found(f, "a package of the convention %.*s, of which `tenon describe` writes none", TN_FMT_ARG(d->dialect));
    else tn_found(f, "files of no convention that is known here");
    tn_remedy(f, "`tenon describe` writes one when what is listed with this is settled: %s",
              obstacles->primary.remedy[0] ? obstacles->primary.remedy : obstacles->primary.message);
    memcpy(err->findings, obstacles->findings, obstacles->count * sizeof(*err->findings));
    err->count = obstacles->count;
    err->dropped = obstacles->dropped;
}

/* As many as stand in the document then; beyond the list's bound they are only counted. */
static size_t count_open(const struct tn_description *d)
{
    struct tn_findings all;
    tn_findings_init(&all, d->arena.alloc, d->findings.max);
    tn_description_findings(d, &all);
    size_t count = all.blockers;
    for (size_t i = 0; i < all.count; i++)
        count -= all.items[i].severity == TN_BLOCKER && tn_finding_is_of_build(d, &all.items[i]);
    tn_findings_release(&all);
    return count;
}

/* A document can be written for whatever has a convention, as far as its files hold. */
static enum tn_status no_contract(const struct tn_description *d, struct tn_error *err)
{
    struct tn_error *obstacles = tn_calloc(d->arena.alloc, 1, sizeof(*obstacles));
    if (!obstacles) return tn_error_memory(err, TN_PHASE_DESCRIBE, "validating a package");
    enum tn_status status = tn_description_writable(d, obstacles);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_DESCRIBE, "validating a package");
    } else {
        struct tn_finding *f = tn_error_set(err, TN_METADATA_INVALID, TN_PHASE_DESCRIBE, "the package states no contract");
        tn_expected(f, "inference_metadata.yaml or inference_metadata.json at its root");
        if (err && status) tell_obstacles(err, d, obstacles);
        else if (err) tell_way(err, d, count_open(d));
        status = TN_METADATA_INVALID;
    }
    tn_free(d->arena.alloc, obstacles);
    return status;
}

enum tn_status tn_validate_package(const struct tn_description *d, struct tn_validation *out, struct tn_error *err)
{
    const struct tn_context *ctx = d->inv->ctx;
    begin(out, ctx);
    if (!tn_str_is(d->dialect, "inference_metadata")) {
        tn_validation_release(out);
        return no_contract(d, err);
    }
    struct tn_error *problem = tn_calloc(ctx->alloc, 1, sizeof(*problem));
    enum tn_status status = problem ? TN_OK : TN_INSUFFICIENT_MEMORY;
    struct tn_json root = tn_json_root(&d->contract);
    if (!status) take_findings(d, out);
    if (!status) status = identify(ctx, root, out, problem);
    tn_free(ctx->alloc, problem);
    return finish(out, status, err);
}
