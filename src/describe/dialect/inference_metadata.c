/*
 * inference_metadata: a package that states its own contract, in inference_metadata.yaml|json at the root. Executed from it:
 * what the documents of other conventions say is compared and never used. Documents are untrusted.
 *
 * Our own document without a contract that reaches it is half a pair: somebody meant it to decide, so no convention is
 * followed in its place, and both halves are needed.
 *
 * A component is understood when its implementation is an adapter of the ABI "tenon.package" 1, whose artifact is our own
 * document, or when it is an ONNX graph and the only one (graph_contract.c). Every other implementation is named with what
 * would be needed.
 */
#include "describe/convention.h"
#include "describe/dialect/contract.h"
#include "describe/dialect/dialect.h"
#include "describe/package_document.h"
#include "describe/requirements.h"
#include "describe/standard/judge.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"inference_metadata.yaml", "inference_metadata.yml", "inference_metadata.json"};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static size_t count_documents(const struct tn_builder *b, struct tn_str *first)
{
    size_t count = 0;
    for (size_t i = 0; i < NAMES; i++) {
        if (!tn_builder_has(b, tn_str_of(names[i]))) continue;
        if (count++ == 0) *first = tn_str_of(names[i]);
    }
    return count;
}

static void refuse_several(struct tn_builder *b, struct tn_str first)
{
    struct tn_finding *f = tn_blocker(b, TN_AMBIGUOUS_PACKAGE, "the package states its contract in several documents");
    tn_at_file(f, first);
    for (size_t i = 0; i < NAMES; i++) {
        if (!tn_builder_has(b, tn_str_of(names[i])) || tn_str_is(first, names[i])) continue;
        tn_found(f, "%.*s and %s", TN_FMT_ARG(first), names[i]);
    }
    tn_expected(f, "one of %s, %s, %s", names[0], names[1], names[2]);
    tn_remedy(f, "remove all but the one that holds");
}

static void refuse_half(struct tn_builder *b)
{
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, TN_PACKAGE_FILE " is half of a pair: the contract that leads to it is not there");
    tn_at_file(f, TN_STR(TN_PACKAGE_FILE));
    tn_found(f, TN_PACKAGE_FILE ", and none of %s, %s, %s beside it", names[0], names[1], names[2]);
    tn_expected(f, "both documents, or neither");
    tn_remedy(f, "put the contract that `tenon describe` wrote with it beside it, or remove " TN_PACKAGE_FILE);
}

/* An entry that has the name of a document and is none (a FIFO, a folder, a link that leaves): the inventory said so. */
static bool is_spoiled(const struct tn_builder *b, const char *name)
{
    const struct tn_findings *list = &b->inv->findings;
    for (size_t i = 0; i < list->count && !tn_builder_has(b, tn_str_of(name)); i++)
        if (list->items[i].severity == TN_BLOCKER && strcmp(list->items[i].file, name) == 0) return true;
    return false;
}

static bool is_contract_spoiled(const struct tn_builder *b)
{
    for (size_t i = 0; i < NAMES; i++)
        if (is_spoiled(b, names[i])) return true;
    return false;
}

/* ---- our own document -------------------------------------------------------------------------------------------- */

/* tenon_package.json while both documents are compared. */
struct content {
    struct tn_doc_marks marks;
    struct tn_str path; /* that was tried */
    bool read;
};

static void release_content(struct tn_builder *b, struct content *content)
{
    tn_doc_marks_release(&content->marks);
    b->marks = NULL;
}

static bool states_schema(struct tn_json root)
{
    struct tn_str schema;
    return tn_json_str(tn_json_get(root, "schema"), &schema) && tn_str_starts(schema, "tenon.package/");
}

static void refuse_artifact(struct tn_builder *b, struct tn_json artifact, const struct tn_package_file *file, const char *why)
{
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the component's artifact is no document of its ABI");
    tn_at_json(f, artifact);
    if (why) tn_found(f, "%.*s: %s", TN_FMT_ARG(file->path), why);
    else tn_found(f, "%.*s, a file of the role %s", TN_FMT_ARG(file->path), tn_file_role_name(file->role));
    tn_expected(f, "a document of the schema " TN_PACKAGE_SCHEMA);
    tn_remedy(f, "correct the name: `tenon describe` calls the document " TN_PACKAGE_FILE);
}

/*
 * Whether the file is such a document, by its name or by what it says of itself. A wrong name is the contract's fault: what
 * another file holds is not judged as if it were meant.
 */
static bool is_meant(struct tn_builder *b, struct tn_json artifact, struct tn_str path)
{
    const struct tn_package_file *file = tn_inventory_file(b->inv, path);
    struct tn_json_doc doc = {0};
    if (!file || tn_str_is(path, TN_PACKAGE_FILE) || tn_str_ends(path, "/" TN_PACKAGE_FILE)) return true;
    if (file->role != TN_ROLE_CONFIG) {
        refuse_artifact(b, artifact, file, NULL);
        return false;
    }
    tn_error_clear(b->scratch);
    enum tn_status status = tn_inventory_json(b->inv, path, &doc, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    else if (status) refuse_artifact(b, artifact, file, b->scratch->primary.message);
    bool meant = !status && states_schema(tn_json_root(&doc));
    if (!status && !meant) refuse_artifact(b, artifact, file, NULL);
    if (!status) tn_json_release(&doc);
    return meant;
}

/* All of it that holds, whatever else is wrong; false when there is no such document, or none that parses. */
static bool read_content(struct tn_builder *b, struct tn_str path, struct content *content)
{
    struct tn_str schema;
    if (content->read || tn_str_eq(content->path, path)) return content->read;
    content->path = path;
    content->read = tn_builder_json(b, path, TN_JSON_OBJECT, &b->d->content);
    if (!content->read) return false;
    struct tn_json root = tn_json_root(&b->d->content);
    b->marks = &content->marks;
    enum tn_status status = tn_package_document_check(root, &b->d->findings, &content->marks);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
    /* Of another version nothing is known; what nests too deep is not walked. */
    bool other = tn_json_str(tn_json_get(root, "schema"), &schema) && !tn_str_is(schema, TN_PACKAGE_SCHEMA);
    if (status == TN_RESOURCE_LIMIT || other) tn_json_release(&b->d->content);
    else if (b->failed == TN_OK) tn_package_document_read(b, root);
    return true;
}

/* A contract that leads to the document wants a component of it, or the reason why there is none. */
static void refuse_empty(struct tn_builder *b)
{
    struct tn_json root = tn_json_root(&b->d->content);
    struct tn_json list = tn_json_get(root, "components"), left_open = tn_json_get(root, "undetermined");
    if (!tn_json_is(list, TN_JSON_ARRAY) || tn_json_count(list) > 0) return;
    if (!tn_json_is(left_open, TN_JSON_ARRAY) || tn_json_count(left_open) > 0) return;
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the document names no component, and does not say why");
    tn_at_json(f, list);
    tn_found(f, "[]");
    tn_expected(f, "the encoder, or what keeps it from being named in /undetermined");
}

/* The other half of the pair: what the contract's check said of any file is said of this one in its own words. */
static void tell_half(struct tn_builder *b, struct tn_json artifact, struct tn_str path)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(artifact, pointer, sizeof(pointer));
    for (size_t i = 0; i < b->d->findings.count && !tn_builder_has(b, path); i++) {
        struct tn_finding *f = &b->d->findings.items[i];
        if (f->code != TN_ARTIFACT_MISSING || !tn_str_is(at, f->element)) continue;
        snprintf(f->message, sizeof(f->message), "the contract is half of a pair: the document that it leads to is not there");
        tn_expected(f, "both documents, or neither");
        tn_remedy(f, "put the %.*s that `tenon describe` wrote with it beside it, or remove the contract", TN_FMT_ARG(path));
    }
}

/* The document that a component names. */
static void read_package_document(struct tn_builder *b, struct tn_json implementation, struct content *content)
{
    struct tn_json artifact = tn_json_get(implementation, "artifact");
    struct tn_str stated, path;
    if (!tn_json_str(artifact, &stated)) {
        if (tn_doc_hides(&b->d->standard.marks, implementation, "artifact")) return;
        struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the component names no artifact");
        tn_at_json_member(f, implementation, "artifact");
        tn_found(f, "nothing");
        tn_expected(f, "the path of %s", TN_PACKAGE_FILE);
        return;
    }
    tn_error_clear(b->scratch);
    enum tn_status status = tn_package_reference(&b->d->arena, TN_STR(""), stated, &path, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_builder_no_memory(b);
        return;
    }
    /* That it stands inside the package, and is there, was checked with the contract. */
    if (status) return;
    tell_half(b, artifact, path);
    if (is_meant(b, artifact, path) && read_content(b, path, content)) refuse_empty(b);
}

/* ---- components -------------------------------------------------------------------------------------------------- */

static void refuse_abi(struct tn_builder *b, struct tn_json implementation, struct tn_str abi, struct tn_str version)
{
    struct tn_finding *f = tn_blocker(b, TN_MISSING_CAPABILITY, "a component needs an adapter that this build lacks");
    tn_at_json(f, implementation);
    tn_found(f, "%.*s, version %.*s", TN_FMT_ARG(abi), TN_FMT_ARG(version));
    tn_expected(f, "%s, version %s", TN_PACKAGE_ABI, TN_PACKAGE_ABI_VERSION);
}

static void refuse_implementation(struct tn_builder *b, struct tn_json implementation, struct tn_str kind)
{
    struct tn_finding *f = tn_blocker(b, TN_PROVIDER_UNAVAILABLE, "no provider of this build executes the component");
    tn_at_json(f, implementation);
    tn_found(f, "an implementation of kind %.*s", TN_FMT_ARG(kind));
    tn_expected(f, "an adapter of the ABI %s, or an ONNX graph that is the workflow's only component", TN_PACKAGE_ABI);
}

/* True when it is ours; its document has been read then. One whose implementation is broken is nobody's. */
static bool read_component(struct tn_builder *b, struct tn_json component, struct content *content)
{
    struct tn_json implementation = tn_json_get(component, "implementation");
    if (tn_doc_hides(&b->d->standard.marks, component, "implementation")) return false;
    struct tn_str kind = TN_STR(""), abi = TN_STR(""), version = TN_STR("");
    (void)tn_json_str(tn_json_get(implementation, "kind"), &kind);
    (void)tn_json_str(tn_json_get(implementation, "abi"), &abi);
    (void)tn_json_str(tn_json_get(implementation, "version"), &version);
    if (!tn_str_is(kind, "adapter")) {
        refuse_implementation(b, implementation, kind);
    } else if (!tn_str_is(abi, TN_PACKAGE_ABI) || !tn_str_is(version, TN_PACKAGE_ABI_VERSION)) {
        refuse_abi(b, implementation, abi, version);
    } else {
        read_package_document(b, implementation, content);
        return true;
    }
    return false;
}

/* ---- what both documents say ------------------------------------------------------------------------------------- */

static struct tn_finding *refuse_axis(struct tn_builder *b, struct tn_json at, const char *what)
{
    if (tn_doc_is_touched(&b->d->standard.marks, at)) return NULL;
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "%s", what);
    tn_at_json(f, at);
    tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(at)));
    return f;
}

/* Whether the axis is a number that is known when a request comes; a fixed one is refused. */
static bool is_open_axis(struct tn_builder *b, struct tn_json axis, const char *of, struct tn_str *symbol)
{
    if (tn_json_str(axis, symbol)) return true;
    struct tn_finding *f = refuse_axis(b, axis, "an axis has one size, and each request brings its own");
    tn_expected(f, "a symbol for the number of %s", of);
    return false;
}

/*
 * Axis 0 is the requests' in whatever goes in or out, and no other axis is; `rows` is its symbol at the component's input,
 * which is one with that of the outputs. NULL: at the border of the workflow, where symbols are nobody else's.
 */
static void check_axes(struct tn_builder *b, struct tn_json contract, uint64_t rank, struct tn_str *rows)
{
    struct tn_json shape = tn_json_get(contract, "shape"), first = tn_json_first(shape);
    struct tn_json layout = tn_json_get(contract, "batch_layout");
    struct tn_str own = TN_STR(""), symbol, kind;
    uint64_t axis = 0;
    if (tn_json_str(tn_json_get(layout, "kind"), &kind) && (!tn_str_is(kind, "request_aligned") ||
                                                            (tn_json_u64(tn_json_get(layout, "axis"), &axis) && axis != 0))) {
        struct tn_finding *f = refuse_axis(b, layout, "the component has a row per request on axis 0");
        tn_expected(f, "kind request_aligned, axis 0");
    }
    if (tn_json_count(shape) != rank || !is_open_axis(b, first, "texts", &own)) return;
    if (rows && rows->n > 0 && !tn_str_eq(*rows, own)) {
        struct tn_finding *f = refuse_axis(b, first, "the rows that come out are not those of the texts that go in");
        tn_expected(f, "\"%.*s\", the axis of the texts", TN_FMT_ARG(*rows));
        return;
    }
    if (rows) *rows = own;
    for (size_t i = 1; i < rank; i++) {
        struct tn_json other = tn_json_at(shape, i);
        if (rank == 3 && i == 1 && !is_open_axis(b, other, "tokens", &symbol)) continue;
        if (!tn_json_str(other, &symbol) || !tn_str_eq(symbol, own)) continue;
        struct tn_finding *f = refuse_axis(b, other, "two axes have one symbol");
        tn_expected(f, "another symbol than that of axis 0");
    }
}

/* What enters and leaves the workflow is what the component takes and gives. */
static void check_borders(struct tn_builder *b, uint64_t rank)
{
    const struct tn_std_workflow *w = &b->d->standard.workflow;
    for (size_t i = 0; i < w->input_count; i++)
        if (w->inputs[i].contract.rank.value == 1) check_axes(b, w->inputs[i].contract.at, 1, NULL);
    for (size_t i = 0; i < w->output_count; i++)
        if (w->outputs[i].contract.rank.value == rank) check_axes(b, w->outputs[i].contract.at, rank, NULL);
}

/* Strings go in, float32 rows come out: one for each text behind a pooling, else one for each token. */
static void check_ports(struct tn_builder *b, struct tn_json component)
{
    const struct tn_description *d = b->d;
    struct tn_str rows = TN_STR("");
    bool pooled = false;
    if (tn_contract_refused_below(b, "/modules") || tn_contract_refused_below(b, "/head")) return;
    for (uint32_t i = 0; i < d->module_count; i++)
        pooled |= d->modules[i].kind == TN_MODULE_POOLING || d->modules[i].kind == TN_MODULE_SPLADE;
    pooled |= d->head && d->head->kind == TN_HEAD_SEQUENCE_CLASSIFICATION;
    static const struct {
        const char *list, *dtype;
    } sides[] = {{"/ports/inputs", "string"}, {"/ports/outputs", "float32"}};
    for (size_t i = 0; i < 2; i++) {
        uint64_t want = i == 0 ? 1 : pooled ? 2 : 3, rank;
        struct tn_json list = tn_json_find(component, sides[i].list);
        for (struct tn_json port = tn_json_first(list); tn_json_present(port); port = tn_json_next(port)) {
            struct tn_str dtype = TN_STR("");
            (void)tn_json_str(tn_json_get(port, "dtype"), &dtype);
            bool same = tn_str_is(dtype, sides[i].dtype) || (i == 1 && tn_str_is(dtype, "fp32"));
            if (same && tn_json_u64(tn_json_get(port, "rank"), &rank) && rank == want) {
                check_axes(b, port, want, &rows);
                continue;
            }
            if (tn_doc_is_touched(&d->standard.marks, port)) continue;
            struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID,
                                              "a port is declared as another value than the component has");
            tn_at_json(f, port);
            tn_found(f, "%.*s", TN_FMT_ARG(tn_json_text(port)));
            tn_expected(f, "dtype %s and rank %llu", sides[i].dtype, (unsigned long long)want);
        }
    }
    check_borders(b, pooled ? 2 : 3);
}

/* Whether the tensors of some module have another shape than it states: what comes out is then not known. */
static bool is_misshapen(const struct tn_builder *b)
{
    for (size_t i = 0; i < b->d->findings.count; i++)
        if (b->d->findings.items[i].code == TN_TENSOR_MISMATCH) return true;
    return false;
}

/* The last dimension of the only output is the width of the chain, or of the head behind it. */
static void check_width(struct tn_builder *b, struct tn_json component)
{
    struct tn_json outputs = tn_json_find(component, "/ports/outputs");
    struct tn_json shape = tn_json_get(tn_json_first(outputs), "shape");
    size_t rank = tn_json_count(shape);
    uint64_t stated, width = b->d->module_count ? b->d->modules[b->d->module_count - 1].out_features : 0;
    const char *by = b->d->truncate_dim ? "/modules" : "/modules, without /truncate_dim";
    if (tn_contract_refused_below(b, "/modules") || tn_contract_refused_below(b, "/head") || tn_contract_refused_below(b, "/truncate_dim")) return;
    if (is_misshapen(b)) return;
    if (b->d->head && b->d->head->outputs) {
        width = b->d->head->outputs;
        by = b->d->head->labels ? "/head/labels" : "/head/kind";
    } else if (b->d->truncate_dim && b->d->truncate_dim < width) {
        width = b->d->truncate_dim;
        by = "/truncate_dim";
    }
    if (tn_json_count(outputs) != 1 || rank == 0 || width == 0) return;
    if (!tn_json_u64(tn_json_at(shape, rank - 1), &stated) || stated == width) return;
    tn_expected(tn_contract_contradiction(b, tn_json_at(shape, rank - 1)), "%llu, by %s#%s", (unsigned long long)width,
                TN_PACKAGE_FILE, by);
}

static bool emits(const struct tn_std_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_EMIT || emits(&s->setup) || emits(&s->body) || emits(&s->cases)) return true;
        if (s->otherwise && emits(&(struct tn_std_steps){.items = s->otherwise, .count = 1})) return true;
    }
    return false;
}

/* What our document computes has to come out of the workflow that runs it; with outputs declared that was checked. */
static void check_result(struct tn_builder *b)
{
    const struct tn_standard *doc = &b->d->standard;
    const struct tn_std_workflow *w = &doc->workflow;
    if (b->d->component_count == 0 || tn_doc_hides(&doc->marks, w->at, "steps")) return;
    if (tn_doc_hides(&doc->marks, w->at, "outputs") || w->output_count > 0 || emits(&w->steps)) return;
    for (size_t i = 0; i < b->d->findings.count; i++) /* the document alone may have shown it */
        if (strcmp(b->d->findings.items[i].element, "/pipeline/workflow/steps") == 0) return;
    struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "nothing of what the package computes comes out");
    tn_at_json_member(f, w->at, "steps");
    tn_found(f, "no emit step");
    tn_expected(f, "an output of the workflow, and a step that emits it");
}

/* ---- the dialect ------------------------------------------------------------------------------------------------- */

/* The package's own component, or absent; what stands beside it is refused. */
static struct tn_json find_own(struct tn_builder *b, struct tn_json components, struct content *content)
{
    struct tn_json ours = {NULL, 0};
    for (struct tn_json c = tn_json_first(components); tn_json_present(c) && b->failed == TN_OK; c = tn_json_next(c)) {
        if (tn_json_present(ours)) {
            struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG,
                                              "the workflow has a component beside the package's own");
            tn_at_json(f, c);
            tn_expected(f, "one component of the ABI %s", TN_PACKAGE_ABI);
        } else if (read_component(b, c, content)) {
            ours = c;
        }
    }
    return ours;
}

/* The workflow is one graph. */
static bool is_graph(const struct tn_builder *b, struct tn_json components)
{
    struct tn_json only = tn_json_first(components);
    struct tn_str kind = TN_STR("");
    (void)tn_json_str(tn_json_find(only, "/implementation/kind"), &kind);
    return tn_json_count(components) == 1 && tn_str_is(kind, "onnx") && !tn_doc_hides(&b->d->standard.marks, only, "implementation");
}

static void read_components(struct tn_builder *b, struct tn_json root)
{
    const struct tn_doc_marks *marks = &b->d->standard.marks;
    struct tn_json workflow = tn_json_find(root, "/pipeline/workflow"), components = tn_json_get(workflow, "components");
    struct content content = {.path = TN_STR("")};
    bool hidden = tn_doc_hides(marks, root, "pipeline") &&
                  (!tn_json_present(workflow) || tn_doc_hides(marks, workflow, "components"));
    if (tn_json_count(components) == 0 && !hidden && tn_json_present(root)) {
        struct tn_finding *f = tn_blocker(b, TN_METADATA_INVALID, "the document has no component to execute");
        tn_at_json(f, root);
        tn_expected(f, "/pipeline/workflow/components");
    }
    struct tn_json ours = {NULL, 0};
    if (is_graph(b, components)) tn_describe_graph_contract(b, tn_json_first(components));
    else ours = find_own(b, components, &content);
    /* Where the contract does not lead there, the document is judged all the same: its faults are its own. */
    if (b->failed == TN_OK) (void)read_content(b, TN_STR(TN_PACKAGE_FILE), &content);
    if (tn_json_present(ours) && b->failed == TN_OK && b->d->chain_document.n > 0) { /* it was read */
        tn_contract_facts(b);
        tn_contract_tokenizer(b);
        check_width(b, ours);
        check_ports(b, ours);
        tn_contract_flow(b, ours);
        check_result(b);
    }
    release_content(b, &content);
}

/* Shape, meaning and files of the contract. */
static void judge(struct tn_builder *b, struct tn_json root)
{
    tn_error_clear(b->scratch);
    enum tn_status status = tn_standard_judge(root, b->alloc, b->inv, &b->d->standard, &b->d->findings, b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(b);
}

static void take_requirements(struct tn_builder *b, struct tn_json root)
{
    tn_require_stated_list(b, tn_json_get(root, "required_capabilities"));
    tn_require_stated_list(b, tn_json_find(root, "/pipeline/workflow/manifest/capabilities"));
    const struct tn_doc_marks *marks = &b->d->standard.marks;
    tn_require_uses(b, &b->d->standard);
    if (!tn_doc_hides(marks, root, "hardware_requirements")) tn_take_hardware(b, tn_json_get(root, "hardware_requirements"));
    if (!tn_doc_hides(marks, root, "generation")) tn_take_generation(b, tn_json_get(root, "generation"));
}

static void describe(struct tn_builder *b)
{
    struct tn_str path = TN_STR("");
    struct tn_json_doc *doc = &b->d->contract;
    struct tn_json root = {NULL, 0};
    size_t count = count_documents(b, &path);
    if (count == 0 && !is_contract_spoiled(b) && tn_builder_has(b, TN_STR(TN_PACKAGE_FILE))) refuse_half(b);
    else if (count > 1) refuse_several(b, path);
    else if (count == 1 && tn_builder_document(b, path, TN_JSON_OBJECT, doc)) root = tn_json_root(doc);
    if (tn_json_present(root)) judge(b, root);
    if (tn_json_present(root) && b->failed == TN_OK) take_requirements(b, root);
    if (tn_json_present(root)) tn_contract_evidence(b, root);
    if (b->failed == TN_OK) read_components(b, root);
    if (tn_json_present(root)) tn_compare_with_convention(b);
}

static bool recognises(const struct tn_builder *b)
{
    struct tn_str first;
    return count_documents(b, &first) > 0 || tn_builder_has(b, TN_STR(TN_PACKAGE_FILE)) || is_contract_spoiled(b) ||
           is_spoiled(b, TN_PACKAGE_FILE);
}

const struct tn_dialect tn_dialect_inference_metadata = {"inference_metadata", "1", recognises, describe, false};
