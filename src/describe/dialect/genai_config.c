/*
 * genai_config: graphs in ONNX beside a genai_config.json, the packages of onnxruntime-genai. Recognised by that document
 * in the folder of the weights, or in the root. The description holds the facts, the standard's contract and every gap.
 * Generation is executed by nobody in this build; where the package is one graph, that graph is called with tensors.
 *
 * A repository may hold several such folders, each a whole package: they are alternatives, and the variant that was
 * asked for decides.
 */
#include "describe/dialect/dialect.h"
#include "describe/dialect/genai.h"

#include <stdio.h>

/* ---- which document ---------------------------------------------------------------------------------------------- */

static struct tn_str document_in(const struct tn_builder *b, struct tn_str folder, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%.*s%s%s", TN_FMT_ARG(folder), folder.n ? "/" : "", TN_GENAI_FILE);
    struct tn_str path = {buf, n > 0 && (size_t)n < cap ? (size_t)n : 0};
    return path.n && tn_builder_has(b, path) ? path : TN_STR("");
}

/* Beside the weights to use, else in a folder above them, else the root's. Empty: none. */
static struct tn_str find_document(const struct tn_builder *b, char *buf, size_t cap)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    struct tn_str place = variant ? variant->place : TN_STR("");
    for (;;) {
        struct tn_str path = document_in(b, place, buf, cap);
        if (path.n || place.n == 0) return path;
        place = tn_package_folder(place);
    }
}

static bool recognises(const struct tn_builder *b)
{
    char buf[4200];
    const struct tn_variant *variant = tn_describe_candidate(b);
    if (variant && !tn_str_is(variant->container, "onnx")) return false;
    return find_document(b, buf, sizeof(buf)).n > 0;
}

/* ---- alternatives ------------------------------------------------------------------------------------------------ */

/* Several folders with a document of their own and nobody who said which. */
static bool ambiguous(struct tn_builder *b)
{
    size_t count = 0;
    struct tn_finding *f = NULL;
    if (b->options->variant) return false;
    for (uint32_t i = 0; i < b->inv->file_count; i++) {
        struct tn_str path = b->inv->files[i].path;
        if (tn_str_is(path, TN_GENAI_FILE) || tn_str_ends(path, "/" TN_GENAI_FILE)) count++;
    }
    if (count < 2 || tn_builder_has(b, TN_STR(TN_GENAI_FILE))) return false;
    f = tn_blocker(b, TN_AMBIGUOUS_PACKAGE, "the package holds several alternatives");
    tn_at_element(f, TN_ELEMENT_OPTION, TN_STR("variant"));
    tn_found(f, "%zu folders with a %s", count, TN_GENAI_FILE);
    tn_expected(f, "the id of one of the variants that inspect lists");
    tn_remedy(f, "choose one with --variant ID");
    return true;
}

/* ---- the dialect ------------------------------------------------------------------------------------------------- */

static void refuse_to_run(struct tn_builder *b, struct tn_str path)
{
    struct tn_finding *f = tn_blocker(b, TN_PROVIDER_UNAVAILABLE,
                                      "no provider of this build generates with the graphs of a %s", TN_GENAI_FILE);
    tn_at_file(f, path);
    tn_found(f, "ONNX graphs for onnxruntime-genai");
    tn_expected(f, "safetensors weights of a family that is implemented");
    tn_remedy(f, "use the safetensors package from which it was exported");
}

/* One graph is called with tensors, and what the package is for is refused by the tasks that would do it. */
static void refuse_to_generate(struct tn_builder *b, struct tn_str path)
{
    struct tn_finding *f = tn_note(b, TN_PROVIDER_UNAVAILABLE, "no provider of this build generates; the package's graph is called with tensors");
    tn_at_file(f, path);
    tn_found(f, "one ONNX graph for onnxruntime-genai, %.*s", TN_FMT_ARG(b->d->graph->file->path));
    tn_expected(f, "the task tensor");
    f = tn_findings_add(&b->d->texts, TN_BLOCKER, TN_PROVIDER_UNAVAILABLE, TN_PHASE_DESCRIBE, "no provider of this build generates with the graph of %.*s", TN_FMT_ARG(path));
    if (!f && b->d->texts.count < b->d->texts.max) tn_builder_no_memory(b);
    tn_at_file(f, path);
    tn_found(f, "%.*s, a graph for generation", TN_FMT_ARG(b->d->graph->file->path));
    tn_expected(f, "safetensors weights of a family that is implemented");
    tn_remedy(f, "call the graph with tensors: the task tensor; or use the safetensors package from which it was exported");
}

/* The contract of one graph says how it is called, like one that a package declares. */
static void describe_graph(struct tn_builder *b)
{
    struct tn_json components = tn_json_find(tn_json_root(&b->d->contract), "/pipeline/workflow/components");
    if (b->failed != TN_OK || tn_json_count(components) != 1) return;
    tn_describe_graph_contract(b, tn_json_first(components));
    if (b->failed == TN_OK && b->d->graph) tn_onnx_check(b->d->graph->view, b->inv, &b->d->findings);
}

/* The folder of the tokenizer; false after a finding. */
static bool tokenizer_folder(struct tn_genai *g, struct tn_str *folder)
{
    struct tn_builder *b = g->b;
    struct tn_str stated;
    *folder = g->folder;
    if (!tn_json_str(tn_json_get(g->model, "tokenizer_dir"), &stated) || b->failed != TN_OK) return true;
    tn_error_clear(b->scratch);
    return tn_package_reference(&b->d->arena, g->folder, stated, folder, b->scratch) == TN_OK;
}

static void describe_tokenizer(struct tn_genai *g)
{
    struct tn_builder *b = g->b;
    struct tn_tokenizer_hints hints = {.config_class = TN_STR("")};
    if (!tokenizer_folder(g, &hints.folder)) return;
    if (tn_builder_has(b, tn_builder_join(b, hints.folder, "tokenizer.json"))) tn_describe_tokenizer(b, &hints);
    tn_genai_take_unsaid(g, hints.folder);
}

static void read_document(struct tn_genai *g)
{
    tn_genai_read(g);
    tn_genai_check_paths(g);
    tn_genai_check_type(g);
    tn_genai_cross_check(g);
    tn_genai_open_graphs(g);
    tn_genai_bind(g);
    tn_genai_check_shapes(g);
    describe_tokenizer(g);
    tn_genai_document(g);
    describe_graph(g->b);
    if (g->context.present) g->b->d->max_seq_length = g->context.value;
    tn_genai_release(g);
}

static void describe(struct tn_builder *b)
{
    char buf[4200];
    struct tn_json_doc doc;
    struct tn_str path = find_document(b, buf, sizeof(buf));
    b->d->variant = tn_describe_candidate(b);
    if (ambiguous(b)) return;
    if (tn_builder_json(b, path, TN_JSON_OBJECT, &doc)) {
        struct tn_genai *g = tn_calloc(b->alloc, 1, sizeof(*g));
        if (g) {
            g->b = b;
            g->root = tn_json_root(&doc);
            g->folder = tn_package_folder(path);
            read_document(g);
        } else {
            tn_builder_no_memory(b);
        }
        tn_free(b->alloc, g);
        tn_json_release(&doc);
    }
    if (b->d->graph) refuse_to_generate(b, path);
    else refuse_to_run(b, path);
}

const struct tn_dialect tn_dialect_genai_config = {"genai_config", "3", recognises, describe, false};
