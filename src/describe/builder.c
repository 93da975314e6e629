/*
 * The builder's memory, reading of documents, and the last step in which facts become part of the description. Knows no
 * convention. Documents are untrusted; their readers report what is wrong with them here.
 */
#include "describe/builder.h"

#include "base/yaml.h"

#include <string.h>

void tn_builder_no_memory(struct tn_builder *b)
{
    if (b->failed == TN_OK) b->failed = tn_error_memory(b->err, TN_PHASE_DESCRIBE, "describing the package");
}

enum tn_status tn_builder_init(struct tn_builder *b, const struct tn_inventory *inv,
                               const struct tn_describe_options *options, struct tn_error *err)
{
    struct tn_alloc *alloc = inv->ctx->alloc;
    *b = (struct tn_builder){.inv = inv, .options = options, .alloc = alloc, .err = err, .failed = TN_OK};
    b->tokenizer = &b->own_tokenizer;
    b->d = tn_calloc(alloc, 1, sizeof(*b->d));
    b->scratch = tn_calloc(alloc, 1, sizeof(*b->scratch));
    b->assertions = tn_calloc(alloc, options->descriptive_count, sizeof(*b->assertions));
    if (b->d) {
        b->d->inv = inv;
        tn_arena_init(&b->d->arena, alloc);
        tn_findings_init(&b->d->findings, alloc, inv->ctx->limits.findings);
        tn_findings_init(&b->d->texts, alloc, inv->ctx->limits.findings);
    }
    if (!b->d || !b->scratch || !b->assertions) tn_builder_no_memory(b);
    return b->failed;
}

/* Those of the caller, behind those that the package's own document holds. */
static void keep_assertions(struct tn_builder *b)
{
    struct tn_description *d = b->d;
    size_t used = d->descriptive_count;
    for (size_t i = 0; i < b->options->descriptive_count; i++) used += b->assertions[i] == TN_ASSERTION_USED;
    struct tn_str *all = tn_builder_array(b, used, sizeof(*all));
    if (all && d->descriptive_count) memcpy(all, d->descriptive, d->descriptive_count * sizeof(*all));
    d->descriptive = all;
    if (!all) d->descriptive_count = 0;
    for (size_t i = 0; all && i < b->options->descriptive_count; i++) {
        if (b->assertions[i] != TN_ASSERTION_USED) continue;
        all[d->descriptive_count++] = tn_builder_str(b, tn_str_of(b->options->descriptive[i]));
    }
}

void tn_builder_finish(struct tn_builder *b)
{
    tn_assertions_check(b);
    keep_assertions(b);
    struct tn_fact *facts = tn_builder_array(b, b->fact_count, sizeof(*facts));
    if (facts && b->fact_count > 0) memcpy(facts, b->facts, b->fact_count * sizeof(*facts));
    b->d->facts = facts;
    b->d->fact_count = (uint32_t)(facts ? b->fact_count : 0);
    /* A finding that was lost for want of memory, and not because the list is full, must not pass unseen. */
    if (b->d->findings.starved) tn_builder_no_memory(b);
}

void tn_builder_release(struct tn_builder *b)
{
    tn_free(b->alloc, b->facts);
    tn_free(b->alloc, b->assertions);
    tn_free(b->alloc, b->scratch);
    tn_json_release(&b->own_tokenizer.doc);
    b->facts = NULL;
    b->assertions = NULL;
    b->scratch = NULL;
}

struct tn_str tn_builder_str(struct tn_builder *b, struct tn_str s)
{
    struct tn_str copy = {NULL, 0};
    if (b->failed == TN_OK) copy = tn_arena_str(&b->d->arena, s);
    if (copy.s) return copy;
    tn_builder_no_memory(b);
    return TN_STR("");
}

struct tn_str tn_builder_join(struct tn_builder *b, struct tn_str folder, const char *name)
{
    struct tn_str path = {NULL, 0};
    if (b->failed == TN_OK) path = tn_package_join(&b->d->arena, folder, tn_str_of(name));
    if (path.s) return path;
    tn_builder_no_memory(b);
    return TN_STR("");
}

void *tn_builder_array(struct tn_builder *b, size_t count, size_t size)
{
    void *p = b->failed == TN_OK ? tn_arena_array(&b->d->arena, count, size) : NULL;
    if (!p) tn_builder_no_memory(b);
    return p;
}

bool tn_builder_has(const struct tn_builder *b, struct tn_str path)
{
    return tn_inventory_file(b->inv, path) != NULL;
}

/* Failures that say nothing about the package end the description; all others are its problems, a file over a limit too. */
void tn_builder_report(struct tn_builder *b, enum tn_status status)
{
    switch (status) {
    case TN_INSUFFICIENT_MEMORY:
    case TN_CANCELLED:
    case TN_DEADLINE_EXCEEDED:
        if (b->failed == TN_OK) {
            b->failed = status;
            if (b->err) *b->err = *b->scratch;
        }
        return;
    default:
        break;
    }
    struct tn_finding *f = tn_blocker(b, status, "%s", b->scratch->primary.message);
    if (!f) return;
    *f = b->scratch->primary;
    f->severity = TN_BLOCKER;
    f->phase = TN_PHASE_DESCRIBE;
    /* What the error lists beside its cause, e.g. the variants to choose from. */
    for (size_t i = 0; i < b->scratch->count; i++) {
        const struct tn_finding *beside = &b->scratch->findings[i];
        if (beside->severity == TN_BLOCKER) continue;
        struct tn_finding *copy = tn_note(b, beside->code, "%s", beside->message);
        if (copy) *copy = *beside;
    }
}

static enum tn_status read_yaml(struct tn_builder *b, const struct tn_package_file *file, struct tn_json_doc *doc)
{
    const struct tn_limits *limits = &b->inv->ctx->limits;
    struct tn_str text;
    enum tn_status status = tn_yaml_check_size(limits, file->path, file->size, b->scratch);
    if (!status) status = tn_inventory_read(b->inv, file->path, &text, b->scratch);
    if (status) return status;
    status = tn_yaml_parse(doc, b->alloc, limits, file->path, text, b->scratch);
    tn_free(b->alloc, (char *)(uintptr_t)text.s);
    return status;
}

static bool is_own(struct tn_str path)
{
    static const char *const names[] = {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json",
                                        "tenon_package.json", "execution_hints.json"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (tn_str_ends(path, names[i])) return true;
    return false;
}

static bool read_document(struct tn_builder *b, struct tn_str path, bool yaml, enum tn_json_type root,
                          struct tn_json_doc *doc)
{
    const struct tn_package_file *file = b->failed == TN_OK ? tn_inventory_file(b->inv, path) : NULL;
    if (!file || file->malformed) return false; /* the inventory said what is wrong with it */
    tn_error_clear(b->scratch);
    enum tn_status status = yaml ? read_yaml(b, file, doc) : tn_inventory_json(b->inv, path, doc, b->scratch);
    if (status != TN_OK) {
        tn_builder_report(b, status);
        return false;
    }
    if (tn_json_is(tn_json_root(doc), root)) return true;
    /* A document of the runtime's own forms says nothing at all then; one of a convention is what it does not understand. */
    struct tn_finding *f = tn_blocker(b, is_own(path) ? TN_METADATA_INVALID : TN_UNSUPPORTED_CONFIG, "%.*s is not a %s %s",
                                      TN_FMT_ARG(path), yaml ? "YAML" : "JSON", tn_json_type_name(root));
    tn_at_file(f, path);
    tn_found(f, "%s", tn_json_type_name(tn_json_type(tn_json_root(doc))));
    tn_expected(f, "%s", tn_json_type_name(root));
    tn_remedy(f, "correct the document, or fetch it again");
    tn_json_release(doc);
    return false;
}

bool tn_builder_json(struct tn_builder *b, struct tn_str path, enum tn_json_type root, struct tn_json_doc *doc)
{
    return read_document(b, path, false, root, doc);
}

bool tn_builder_tokenizer(struct tn_builder *b, struct tn_str path, struct tn_json *root)
{
    const struct tn_package_file *file = b->failed == TN_OK ? tn_inventory_file(b->inv, path) : NULL;
    struct tn_tokenizer_file *kept = b->tokenizer;
    *root = (struct tn_json){NULL, 0};
    if (!file) return false;
    if (kept->file != file) {
        tn_json_release(&kept->doc);
        kept->file = tn_builder_json(b, path, TN_JSON_OBJECT, &kept->doc) ? file : NULL;
        if (!kept->file) return false;
    }
    *root = tn_json_root(&kept->doc);
    return true;
}

bool tn_builder_document(struct tn_builder *b, struct tn_str path, enum tn_json_type root, struct tn_json_doc *doc)
{
    return read_document(b, path, tn_yaml_named(path), root, doc);
}
