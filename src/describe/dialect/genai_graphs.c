/*
 * The graphs that genai_config.json names: one for each section, or one for each stage of a section's pipeline. Resolves
 * their files and reads their views; what their ports mean is for genai_bind.c. Files and document are untrusted; the
 * file names were checked when the document was read, so a bad one has its finding already.
 */
#include "describe/dialect/genai.h"

#include <stdio.h>

static const char *const sections[] = {"encoder", "speech", "vision", "embedding", "decoder", "joiner"};

enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static void not_a_graph(struct tn_genai *g, struct tn_json v, const struct tn_package_file *file)
{
    char pointer[256];
    struct tn_str at = tn_json_pointer(v, pointer, sizeof(pointer));
    struct tn_finding *f = tn_blocker(g->b, TN_ARTIFACT_MALFORMED, "%.*s in %.*s names a file that is no ONNX graph",
                                      TN_FMT_ARG(at), TN_FMT_ARG(v.doc->file));
    tn_at_json(f, v);
    tn_found(f, "%.*s, %s", TN_FMT_ARG(file->path), tn_file_role_name(file->role));
    tn_expected(f, "an ONNX graph");
    tn_remedy(f, "fetch the file again");
}

static const struct tn_package_file *graph_file(struct tn_genai *g, struct tn_json filename, struct tn_str *path)
{
    struct tn_str stated;
    if (!tn_json_str(filename, &stated)) return NULL;
    tn_error_clear(g->b->scratch);
    enum tn_status status = tn_package_reference(&g->b->d->arena, g->folder, stated, path, g->b->scratch);
    if (status == TN_INSUFFICIENT_MEMORY) tn_builder_no_memory(g->b);
    return status ? NULL : tn_inventory_file(g->b->inv, *path);
}

static void read_view(struct tn_genai *g, struct tn_genai_graph *graph)
{
    struct tn_json filename = tn_json_get(graph->at, "filename");
    struct tn_str path = TN_STR("");
    const struct tn_package_file *file = graph_file(g, filename, &path);
    if (!file || g->b->failed != TN_OK) return;
    graph->path = path;
    if (file->malformed) return; /* the inventory said why */
    if (file->role != TN_ROLE_ONNX) {
        not_a_graph(g, filename, file);
        return;
    }
    tn_error_clear(g->b->scratch);
    enum tn_status status = tn_inventory_onnx(g->b->inv, file, &graph->view, g->b->scratch);
    if (status) tn_builder_report(g->b, status);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static struct tn_genai_graph *add(struct tn_genai *g, const char *section, struct tn_json at)
{
    if (g->graph_count < TN_GENAI_GRAPHS) {
        struct tn_genai_graph *graph = &g->graphs[g->graph_count++];
        *graph = (struct tn_genai_graph){.name = tn_str_of(section), .section = section, .at = at, .path = TN_STR("")};
        return graph;
    }
    struct tn_finding *f = tn_blocker(g->b, TN_RESOURCE_LIMIT, "%.*s names too many graphs", TN_FMT_ARG(at.doc->file));
    tn_at_json(f, at);
    tn_expected(f, "at most %d", TN_GENAI_GRAPHS);
    g->hole = true;
    return NULL;
}

static bool add_stage(struct tn_genai *g, const char *section, struct tn_json stage)
{
    char text[256], clean[256];
    struct tn_str key = tn_json_key(stage);
    if (!tn_json_is(stage, TN_JSON_OBJECT)) return true; /* has its finding */
    struct tn_genai_graph *graph = add(g, section, stage);
    if (!graph) return false;
    tn_clean_text(clean, sizeof(clean), key.s, key.n);
    int n = snprintf(text, sizeof(text), "%s.%.200s", section, clean);
    graph->stage = true;
    graph->name = tn_builder_str(g->b, (struct tn_str){text, (size_t)n});
    return true;
}

/* A list of objects of stages, or one such object. */
static void add_pipeline(struct tn_genai *g, const char *section, struct tn_json pipeline)
{
    bool list = tn_json_is(pipeline, TN_JSON_ARRAY);
    if (list && tn_json_count(pipeline) > TN_GENAI_GRAPHS) return; /* has its finding */
    struct tn_json object = list ? tn_json_first(pipeline) : pipeline;
    while (tn_json_present(object)) {
        for (struct tn_json s = tn_json_first(object); tn_json_present(s); s = tn_json_next(s))
            if (!add_stage(g, section, s)) return;
        if (!list) return;
        object = tn_json_next(object);
    }
}

static void check_names(struct tn_genai *g)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!tn_str_eq(g->graphs[i].name, g->graphs[k].name)) continue;
            tn_expected(tn_genai_refuse(g, g->graphs[i].at, "has the name of another stage"), "names that differ");
            g->hole = true;
            break;
        }
    }
}

void tn_genai_open_graphs(struct tn_genai *g)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        struct tn_json at = tn_json_get(g->model, sections[i]), pipeline = tn_json_get(at, "pipeline");
        if (!tn_json_is(at, TN_JSON_OBJECT)) continue;
        if (tn_json_count(pipeline) > 0) add_pipeline(g, sections[i], pipeline);
        else (void)add(g, sections[i], at);
    }
    check_names(g);
    for (size_t i = 0; i < g->graph_count && g->b->failed == TN_OK; i++) {
        read_view(g, &g->graphs[i]);
        if (!g->graphs[i].view) g->hole = true;
    }
}

void tn_genai_release(struct tn_genai *g)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        tn_onnx_view_free(g->graphs[i].view);
        tn_free(g->b->alloc, g->graphs[i].bound.items);
    }
    g->graph_count = 0;
}
