/*
 * What the structure of a package's own inference metadata requires, and the bounds of what this runtime makes of it. A
 * workflow runs here when it invokes one component once and emits what comes out; every other structure is refused at its
 * place, because a step that is passed over would change answers.
 */
#include "describe/requirements.h"

#include "describe/standard/uses.h"

static void refuse(struct tn_builder *b, struct tn_json at, const char *what)
{
    if (tn_doc_is_touched(&b->d->standard.marks, at)) return; /* what is broken is told, and what it means not known */
    struct tn_finding *f = tn_blocker(b, TN_UNSUPPORTED_CONFIG, "%s, which this runtime does not execute", what);
    tn_at_json(f, at);
    tn_expected(f, "a workflow that invokes one component once and emits its outputs");
}

/* Loops and branches are capabilities that nobody offers here, so only straight lines are walked. */
static void count_invocations(struct tn_builder *b, const struct tn_std_steps *steps, unsigned *count)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_INVOKE && ++*count > 1) refuse(b, s->at, "the workflow invokes more than once");
        if (s->kind == TN_STD_SEQUENCE) count_invocations(b, &s->body, count);
    }
}

/* The emits of an output along a straight line. */
static void count_emits(struct tn_builder *b, const struct tn_std_steps *steps, const struct tn_std_output *output,
                        unsigned *count)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct tn_std_step *s = &steps->items[i];
        if (s->kind == TN_STD_SEQUENCE) count_emits(b, &s->body, output, count);
        if (s->kind != TN_STD_EMIT || !tn_str_eq(s->output.name, output->name)) continue;
        if (++*count > 1) refuse(b, s->at, "an output is emitted more than once");
        if (s->mode != TN_STD_EMIT_REPLACE) refuse(b, s->at, "an output is emitted piece by piece");
        if (s->when.name.n > 0 || s->valid_length.name.n > 0) refuse(b, s->at, "an output is emitted in part");
    }
}

/* That every declared output comes out at all is said of the document alone; here: whole and once. */
static void check_outputs(struct tn_builder *b, const struct tn_standard *doc)
{
    const struct tn_std_workflow *w = &doc->workflow;
    for (size_t i = 0; i < w->output_count; i++) {
        unsigned emits = 0;
        count_emits(b, &w->steps, &w->outputs[i], &emits);
    }
}

static void check_bounds(struct tn_builder *b, const struct tn_standard *doc)
{
    unsigned invocations = 0;
    count_invocations(b, &doc->workflow.steps, &invocations);
    bool known = !tn_doc_hides(&doc->marks, doc->workflow.at, "steps");
    if (invocations == 0 && doc->workflow.component_count > 0 && known)
        refuse(b, tn_json_get(doc->workflow.at, "steps"), "the workflow invokes nothing");
    check_outputs(b, doc);
    /* A graph that is called once has its state handed on from call to call, or takes it with each request. */
    bool graph = doc->workflow.component_count == 1 && doc->workflow.components[0].implementation == TN_STD_ONNX;
    if (doc->workflow.cell_count > 0 && !graph) refuse(b, doc->workflow.cells[0].at, "the workflow keeps state");
    if (tn_json_present(doc->image.at)) refuse(b, doc->image.at, "the document has an image program");
    if (tn_json_present(doc->audio.at)) refuse(b, doc->audio.at, "the document has an audio program");
    if (tn_json_present(doc->speculative.at)) refuse(b, doc->speculative.at, "the document describes speculation");
}

static void require_uses(struct tn_builder *b, const struct tn_standard *doc)
{
    struct tn_standard_use uses[TN_STANDARD_USES];
    size_t count = tn_standard_uses(doc, uses);
    for (size_t i = 0; i < count; i++) {
        char pointer[256];
        struct tn_str where = tn_builder_str(b, tn_json_pointer(uses[i].place, pointer, sizeof(pointer)));
        tn_require_derived(b, uses[i].id, uses[i].structure, tn_builder_str(b, uses[i].place.doc->file), where);
    }
}

void tn_require_uses(struct tn_builder *b, const struct tn_standard *doc)
{
    if (b->failed != TN_OK) return;
    require_uses(b, doc);
    check_bounds(b, doc);
    tn_require_profiles(b, doc);
}
