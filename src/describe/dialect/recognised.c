/*
 * Packages that are told apart and that no provider of this build executes: GGUF, OpenVINO, Diffusers, adapters, pickles.
 * The description says what the package is and carries one blocker. Nothing is called broken here: what is broken was
 * reported by the inventory.
 */
#include "describe/dialect/dialect.h"

static const struct {
    const char *container, *dialect, *what, *remedy;
} kinds[] = {
    {"gguf", "gguf", "GGUF", "use the safetensors package from which it was converted"},
    {"onnx", "onnx", "an ONNX graph", "use the safetensors package from which it was exported, or the task tensor with the graph alone"}, /* where a document
         says that it is the weights of an architecture */
    {"openvino_ir", "openvino_ir", "an OpenVINO IR", "use the safetensors package from which it was exported"},
    {"diffusers", "diffusers", "a Diffusers pipeline of several components", NULL},
    {"peft_adapter", "peft", "an adapter without its base", "merge the adapter into its base and save that"},
    {"pytorch_pickle", "pytorch_pickle", "pickled weights, which are never opened",
     "save the package again with safe_serialization=True"},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static size_t kind_of(const struct tn_variant *variant)
{
    size_t i = 0;
    while (i < KINDS && !tn_str_is(variant->container, kinds[i].container)) i++;
    return i;
}

void tn_refuse_container(struct tn_builder *b, const struct tn_variant *variant)
{
    size_t kind = kind_of(variant);
    bool has_files = variant->file_count > 0;
    struct tn_finding *f =
        tn_blocker(b, TN_PROVIDER_UNAVAILABLE, "the weights are %s; no provider of this build executes them%s",
                   kind < KINDS ? kinds[kind].what : "in a container that is only known by name",
                   variant->graph ? " as the weights of an architecture" : "");
    tn_at_file(f, has_files ? b->inv->files[variant->files[0]].path : variant->place);
    tn_found(f, "%.*s: %.*s", TN_FMT_ARG(variant->container), TN_FMT_ARG(variant->what));
    tn_expected(f, "safetensors weights of a family that is implemented");
    if (kind < KINDS && kinds[kind].remedy) tn_remedy(f, "%s", kinds[kind].remedy);
}

/* Where nothing can be executed there is nothing to choose, so the first variant speaks for all. */
static void describe(struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    if (!variant) return;
    size_t kind = kind_of(variant);
    b->d->variant = variant;
    b->d->dialect = kind < KINDS ? tn_str_of(kinds[kind].dialect) : variant->container;
    tn_refuse_container(b, variant);
}

static bool recognises(const struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    return variant && !variant->executable && !tn_str_is(variant->container, "pytorch_pickle");
}

const struct tn_dialect tn_dialect_recognised = {"recognised", "1", recognises, describe, true};
