/*
 * Entry of the description: chooses the dialect by evidence, runs it, and owns the result. Knows conventions only as
 * rows of one table. Inputs are an inventory, whose documents are untrusted.
 */
#include "describe/convention.h"
#include "describe/dialect/dialect.h"
#include "describe/requirements.h"

#include <string.h>

/* The first that recognises the package describes it: a declared contract before every convention. */
static const struct tn_dialect *const dialects[] = {
    &tn_dialect_inference_metadata,
    &tn_dialect_genai_config,
    &tn_dialect_onnx,
    &tn_dialect_recognised,
    &tn_dialect_sentence_transformers,
    &tn_dialect_transformers,
};

/* A folder that holds a tokenizer and nothing else can still tokenize. */
static void describe_tokenizer_alone(struct tn_builder *b)
{
    struct tn_tokenizer_hints hints = {.folder = TN_STR(""), .config_class = TN_STR("")};
    if (tn_builder_has(b, TN_STR("tokenizer.json")) || tn_builder_has(b, TN_STR("vocab.txt")))
        tn_describe_tokenizer(b, &hints);
}

static void refuse_unknown(struct tn_builder *b)
{
    const struct tn_variant *variant = tn_describe_candidate(b);
    struct tn_finding *f;
    if (b->options->variant || b->inv->variant_count == 0) {
        /* A variant that is not there, or no weights at all: the choice has the words for it. */
        (void)tn_describe_variant(b, TN_STR(""), false);
        describe_tokenizer_alone(b);
        return;
    }
    f = tn_blocker(b, TN_UNKNOWN_DIALECT, "nothing says what the weights are: the package follows no known convention");
    tn_at_file(f, variant && variant->file_count ? b->inv->files[variant->files[0]].path : b->inv->shown);
    tn_found(f, "%u file%s, no config.json beside the weights", b->inv->file_count, b->inv->file_count == 1 ? "" : "s");
    tn_expected(f, "config.json, or modules.json of sentence-transformers");
    tn_remedy(f, "fetch the whole package");
}

static bool run_dialect(struct tn_builder *b, bool by_convention)
{
    for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        if (by_convention && dialects[i] == &tn_dialect_inference_metadata) continue;
        if (b->over_graph && dialects[i]->bare) continue;
        if (!dialects[i]->recognises(b)) continue;
        if (by_convention && dialects[i]->bare) return false;
        b->d->dialect = tn_str_of(dialects[i]->name);
        b->d->dialect_version = tn_str_of(dialects[i]->version);
        dialects[i]->describe(b);
        return true;
    }
    return false;
}

/* Everything unset, as a dialect finds it. */
static void begin(struct tn_builder *b)
{
    struct tn_description *d = b->d;
    d->dialect = d->dialect_version = d->default_prompt = d->similarity = d->chain_document = d->contract_identity = TN_STR("");
    tn_describe_tokenizer(b, NULL);
}

bool tn_describe_by_convention(struct tn_builder *b)
{
    begin(b);
    return run_dialect(b, true);
}

static enum tn_status describe_once(const struct tn_inventory *inv, const struct tn_describe_options *options, bool over_graph,
                                    struct tn_description **out, struct tn_error *err)
{
    struct tn_builder b;
    *out = NULL;
    if (tn_builder_init(&b, inv, options, err) == TN_OK) {
        b.over_graph = over_graph;
        begin(&b);
        if (!run_dialect(&b, false)) refuse_unknown(&b);
        if (b.over_graph) tn_describe_graph_texts(&b);
        tn_judge_description(&b);
        tn_describe_requirements(&b);
        tn_builder_finish(&b);
    }
    tn_builder_release(&b);
    if (b.failed == TN_OK) *out = b.d;
    else tn_description_free(b.d);
    return b.failed;
}

/* A graph that stands among the documents of a convention for texts. */
static bool may_take_texts(const struct tn_description *d)
{
    const struct tn_inventory *inv = d->inv;
    if (!tn_str_is(d->dialect, tn_dialect_onnx.name) || !d->graph || d->findings.blockers) return false;
    for (uint32_t i = 0; i < inv->evidence_count; i++) {
        const struct tn_evidence *e = &inv->evidence[i];
        bool texts = tn_str_is(e->dialect, tn_dialect_transformers.name) || tn_str_is(e->dialect, tn_dialect_sentence_transformers.name);
        if (texts && tn_str_eq(tn_package_folder(e->file), d->variant->folder)) return true;
    }
    return false;
}

/*
 * A graph whose documents describe an encoder of texts is that encoder. Where they do not hold together it is a graph like
 * any other, and what is wrong with them is what stands in the way of tasks for texts.
 */
enum tn_status tn_describe(const struct tn_inventory *inv, const struct tn_describe_options *options,
                           struct tn_description **out, struct tn_error *err)
{
    static const struct tn_describe_options none;
    struct tn_description *texts;
    const struct tn_describe_options *given = options ? options : &none;
    enum tn_status st = describe_once(inv, given, false, out, err);
    if (st || !may_take_texts(*out)) return st;
    st = describe_once(inv, given, true, &texts, err);
    if (st) {
        tn_description_free(*out);
        *out = NULL;
        return st;
    }
    if (texts->findings.blockers) {
        tn_findings_append(&(*out)->texts, &texts->findings);
        tn_description_free(texts);
    } else {
        tn_description_free(*out);
        *out = texts;
    }
    return TN_OK;
}

void tn_description_free(struct tn_description *d)
{
    if (!d) return;
    struct tn_alloc *alloc = d->arena.alloc;
    if (d->graph) tn_onnx_view_free(d->graph->view);
    tn_standard_release(&d->standard);
    tn_json_release(&d->contract);
    tn_json_release(&d->content);
    tn_findings_release(&d->findings);
    tn_findings_release(&d->texts);
    tn_arena_release(&d->arena);
    tn_free(alloc, d);
}

/* The same fault at the same field; or "PATH: MESSAGE" stands in what a finding at the naming field found. */
static bool is_quoted(const struct tn_description *d, const struct tn_finding *f)
{
    size_t file = strlen(f->file), message = strlen(f->message);
    if (file == 0 || f->severity == TN_NOTE) return false;
    for (size_t i = 0; i < d->findings.count && f->element[0]; i++) {
        const struct tn_finding *other = &d->findings.items[i];
        bool alike = other->code == f->code && other->severity == f->severity && other->element_kind == f->element_kind;
        if (alike && strcmp(other->file, f->file) == 0 && strcmp(other->element, f->element) == 0) return true;
    }
    for (size_t i = 0; i < d->findings.count; i++) {
        const struct tn_finding *other = &d->findings.items[i];
        size_t room = sizeof(other->found) - 4;
        if (other->code != f->code || other->severity != f->severity || strncmp(other->found, f->file, file) != 0) continue;
        if (other->found[file] != ':' || other->found[file + 1] != ' ' || file + 2 >= room) continue;
        if (message > room - file - 2) message = room - file - 2;
        if (strncmp(other->found + file + 2, f->message, message) == 0) return true;
    }
    return false;
}

/*
 * Of the inventory's findings about a variant, or about all of them, what the description does not tell itself. `bytes`: as
 * the files are, whoever reads them; else as they matter to this description.
 */
static void append_findings(const struct tn_description *d, const struct tn_variant *variant, bool bytes, struct tn_findings *out)
{
    struct tn_findings all;
    size_t listed = 0;
    tn_findings_init(&all, d->arena.alloc, out->max);
    tn_inventory_findings(d->inv, variant, &all);
    for (size_t i = 0; i < all.count; i++) {
        struct tn_finding f = all.items[i];
        listed += f.severity == TN_BLOCKER;
        if (f.severity == TN_BLOCKER && tn_is_beside_contract(d, tn_str_of(f.file))) f.severity = TN_WARNING;
        struct tn_findings one = {.items = bytes ? &all.items[i] : &f, .count = 1};
        if (!is_quoted(d, &f)) tn_findings_append(out, &one);
    }
    struct tn_findings lost = {.dropped = all.dropped, .starved = all.starved, .blockers = all.blockers - listed};
    tn_findings_append(out, &lost);
    tn_findings_release(&all);
    tn_findings_append(out, &d->findings);
}

void tn_description_findings(const struct tn_description *d, struct tn_findings *out)
{
    append_findings(d, d->variant, false, out);
}

void tn_description_all_findings(const struct tn_description *d, struct tn_findings *out)
{
    append_findings(d, NULL, true, out);
}

uint64_t tn_token_types(const struct tn_description *d)
{
    uint64_t stated = d->component_count ? tn_component_value(&d->components[0], "type_vocab_size")->u : 0;
    bool none = d->graph && d->graph->texts && d->graph->texts->types == TN_NO_PORT;
    return none && stated > 1 ? 1 : stated;
}

const struct tn_prompt *tn_description_prompt(const struct tn_description *d, struct tn_str name)
{
    for (uint32_t i = 0; i < d->prompt_count; i++)
        if (tn_str_eq(d->prompts[i].name, name)) return &d->prompts[i];
    return NULL;
}

const char *tn_module_kind_name(enum tn_module_kind kind)
{
    switch (kind) {
    case TN_MODULE_TRANSFORMER: return "transformer";
    case TN_MODULE_POOLING: return "pooling";
    case TN_MODULE_DENSE: return "dense";
    case TN_MODULE_LAYER_NORM: return "layer_norm";
    case TN_MODULE_NORMALIZE: return "normalize";
    case TN_MODULE_SPLADE: return "splade_pooling";
    }
    return "unknown";
}

bool tn_module_has_weights(enum tn_module_kind kind)
{
    return kind == TN_MODULE_TRANSFORMER || kind == TN_MODULE_DENSE || kind == TN_MODULE_LAYER_NORM;
}
