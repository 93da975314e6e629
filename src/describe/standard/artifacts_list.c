/*
 * Every field of a standard document that names a file, in one place: the path rule, the package check and whoever
 * copies a package walk this list and no other.
 */
#include "describe/standard/standard.h"

struct walk {
    bool (*visit)(void *user, const struct tn_std_artifact *a);
    void *user;
    bool going;
};

static void visit(struct walk *w, enum tn_std_artifact_use use, const struct tn_std_ref *path,
                  const struct tn_std_component *component)
{
    if (!w->going || !tn_json_present(path->at)) return;
    struct tn_std_artifact a = {.use = use, .path = path->name, .at = path->at, .component = component};
    w->going = w->visit(w->user, &a);
}

static void visit_adapters(struct walk *w, const struct tn_std_adapters *adapters)
{
    for (size_t i = 0; i < adapters->artifact_count; i++) {
        const struct tn_std_adapter *a = &adapters->artifacts[i];
        for (size_t k = 0; k < a->weight_count; k++) {
            visit(w, TN_STD_USE_ADAPTER, &a->weights[k].location, NULL);
            visit(w, TN_STD_USE_ADAPTER_CONFIG, &a->weights[k].config_location, NULL);
        }
    }
}

void tn_standard_artifacts(const struct tn_standard *doc, bool (*callback)(void *user, const struct tn_std_artifact *a),
                           void *user)
{
    struct walk w = {.visit = callback, .user = user, .going = true};
    const struct tn_std_workflow *f = &doc->workflow;
    for (size_t i = 0; i < f->input_count; i++) visit(&w, TN_STD_USE_INPUT, &f->inputs[i].source_path, NULL);
    for (size_t i = 0; i < f->component_count; i++)
        visit(&w, TN_STD_USE_COMPONENT, &f->components[i].artifact, &f->components[i]);
    visit_adapters(&w, &doc->adapters);
    for (size_t i = 0; i < doc->tokenizer.artifacts.count; i++)
        visit(&w, TN_STD_USE_TOKENIZER, &doc->tokenizer.artifacts.items[i], NULL);
    visit(&w, TN_STD_USE_VOCABULARY_MAP, &doc->speculative.vocabulary_map, NULL);
}
