/*
 * Assessment of the native provider: binds tensors, builds the graph, infers shapes, plans memory and adds up sizes. Reads
 * headers that the inventory holds and nothing else. All blockers of the provider are collected.
 */
#include "provider/native/native.h"

#include "base/checked.h"
#include "exec/patch.h"

#include <stdio.h>
#include <string.h>

static void refuse_numeric(struct tn_assessment *a, const struct tn_component_request *r, const char *found,
                           const char *remedy)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNSUPPORTED_OPTION, TN_PHASE_ASSESS,
                                           "numeric policy \"%s\" cannot be had", r->numeric);
    tn_at_option(f, "--numeric");
    tn_found(f, "%s", found);
    tn_expected(f, "f32, or bf16 on a CPU with AVX512_BF16");
    tn_remedy(f, "%s", remedy);
}

static void choose_numeric(struct tn_native_program *program, struct tn_assessment *a,
                           const struct tn_component_request *r)
{
    program->compute = TN_COMPUTE_F32;
    if (!r->numeric || strcmp(r->numeric, "f32") == 0) return;
    if (strcmp(r->numeric, "bf16") != 0) {
        refuse_numeric(a, r, "a policy that is not known", "use f32");
    } else if (!program->kernels->bf16) {
        refuse_numeric(a, r, "a CPU without AVX512_BF16", "use f32, or a machine that has it");
    } else {
        program->compute = TN_COMPUTE_BF16;
    }
}

static void state_numeric(struct tn_assessment *a, const struct tn_native_program *program)
{
    const struct tn_graph *g = &program->graph;
    enum tn_float_type first = TN_FLOAT_F32;
    bool mixed = false;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        enum tn_float_type type = tn_native_float_type(g->weights[i].tensor->dtype);
        if (i == 0) first = type;
        mixed = mixed || type != first;
    }
    a->numeric = (struct tn_numeric){
        .stored = mixed ? TN_STR("mixed") : tn_str_of(tn_float_type_name(first)),
        .compute = program->compute,
        .accumulate = "f32",
        .kv = "none",
    };
}

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

struct sums {
    uint64_t weights, workspace, transient;
    bool overflow;
};

static void add(struct sums *s, uint64_t *total, uint64_t n, uint64_t times)
{
    uint64_t all;
    if (!tn_mul64(n, times, &all) || !tn_add64(*total, all, total)) s->overflow = true;
}

/* Columns that a linear layer of tokens reads and writes; 0: it is none. */
static uint64_t layer_width(const struct tn_net *net, const struct tn_node *n)
{
    if (!tn_str_is(n->type, "Linear")) return 0;
    const struct tn_shape *x = &tn_net_at(net, n->in[0])->type.shape, *y = &net->values[n->out[0]].type.shape;
    return tn_dim_known(y->dims[0]) ? 0 : (uint64_t)x->dims[1] + (uint64_t)y->dims[1];
}

static void choose_rows(struct tn_native_program *program)
{
    const struct tn_graph *g = &program->graph;
    const struct tn_net *net = g->part[TN_GRAPH_TOKENS]->main;
    uint64_t widest = 1, most;
    for (uint32_t i = 0; i < net->node_count; i++) {
        uint64_t width = layer_width(net, &net->nodes[i]);
        widest = width > widest ? width : widest;
    }
    uint64_t rows = TN_PIECE_BYTES / sizeof(float) / widest;
    if (rows > TN_PIECE_ROWS_MOST) rows = TN_PIECE_ROWS_MOST;
    program->usual_rows = rows > TN_PIECE_ROWS ? rows : TN_PIECE_ROWS;
    program->piece_rows = program->max_rows > program->usual_rows ? program->max_rows : program->usual_rows;
    most = g->output_dim == TN_DIM_SEQUENCES ? TN_POOLED_BYTES / sizeof(float) / g->output_width : program->piece_rows;
    program->piece_sequences = most < 1 ? 1 : most < program->piece_rows ? most : program->piece_rows;
    program->bounds[0] = (struct tn_bound){g->rows, program->piece_rows};
    program->bounds[1] = (struct tn_bound){g->sequences, program->piece_sequences};
    program->pick_bound = (struct tn_bound){g->picks, TN_PICK_ROWS};
}

/* Contexts of all threads; those of the first one serve a team, too. */
static enum tn_status size_part(struct tn_native_program *program, uint32_t part, struct sums *s)
{
    struct tn_program_size size;
    bool picks = part == TN_GRAPH_PICKS;
    struct tn_model *model = program->graph.part[part];
    if (!model) return TN_OK;
    enum tn_status st = tn_program_measure(model, program->kernels, picks ? &program->pick_bound : program->bounds, picks ? 1 : 2, &size);
    if (st) return st;
    add(s, &s->weights, size.constants, 1);
    add(s, &s->workspace, size.values, program->threads);
    add(s, &s->workspace, size.fixed, program->threads);
    add(s, &s->workspace, size.scratch, 2 * (uint64_t)program->threads - 1);
    uint64_t loading;
    if (!tn_mul64(size.loading, program->threads, &loading)) s->overflow = true;
    else if (loading > s->transient) s->transient = loading;
    return TN_OK;
}

static enum tn_status size_everything(struct tn_native_program *program, struct tn_assessment *a, struct tn_error *err)
{
    struct sums s = {0};
    size_t workspace = 0;
    choose_rows(program);
    if (!tn_workspace_bytes(program, &workspace)) s.overflow = true;
    add(&s, &s.workspace, workspace, program->threads);
    enum tn_status st = size_part(program, TN_GRAPH_TOKENS, &s);
    if (!st) st = size_part(program, TN_GRAPH_PICKS, &s);
    if (st == TN_INSUFFICIENT_MEMORY) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    a->estimate = (struct tn_estimate){s.weights, s.workspace, s.transient, 0.05};
    if (!st && !s.overflow) return TN_OK;
    tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_ASSESS, "the sizes of this model do not fit the machine's words");
    return TN_RESOURCE_LIMIT;
}

/* ---- graph -------------------------------------------------------------------------------------------------------- */

/*
 * Attention that sees only the rows of a span. What a row does that sees none at all nobody has defined, and the later
 * code of disentangled terms treats hidden rows in a way of its own: both are refused.
 */
static void hide_rows(struct tn_graph *g, struct tn_assessment *a, uint64_t hiding_rows)
{
    const struct tn_net *net = g->part[TN_GRAPH_TOKENS]->main;
    if (hiding_rows) tn_graph_hide_rows(g);
    for (uint32_t i = 0; hiding_rows && i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        uint64_t window = (uint64_t)tn_attr_int(n, "window", 0);
        bool relative = tn_attr_int(n, "span", 0) > 0;
        if (!tn_str_is(n->type, "Attention") || (!relative && (window == 0 || hiding_rows <= window))) continue;
        struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNSUPPORTED_OPERATOR, TN_PHASE_ASSESS,
                                               "operator \"%.*s\" cannot hide the rows of a query's expansion",
                                               TN_FMT_ARG(n->name));
        tn_at_element(f, TN_ELEMENT_OPERATOR, n->name);
        if (relative) {
            tn_found(f, "disentangled terms");
        } else {
            tn_found(f, "a window of %llu rows, sequences of %llu", (unsigned long long)window, (unsigned long long)hiding_rows);
        }
        tn_expected(f, "attention without such terms, whose every row sees the first row of its sequence");
        return;
    }
}

static enum tn_status patch_parts(struct tn_graph *g, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; !st && i < TN_GRAPH_PARTS; i++) {
        if (g->part[i]) st = tn_net_patch(g->part[i], NULL, 0, err);
    }
    return st;
}

enum tn_status tn_native_program_finish(struct tn_native_program *program, struct tn_assessment *a, struct tn_error *err)
{
    const struct tn_graph *g = &program->graph;
    enum tn_status st = patch_parts(&program->graph, err);
    if (!st) st = size_everything(program, a, err);
    a->output_width = g->output_width;
    a->output_by_row = g->output_dim == TN_DIM_ROWS;
    a->output_picked = g->output_dim == TN_DIM_PICKS;
    return st;
}

/* Whether inventory found the weight files to be what they say; if not, their tensors are a consequence, no evidence. */
static bool weights_are_whole(const struct tn_component_request *r)
{
    struct tn_findings found;
    tn_findings_init(&found, r->ctx->alloc, (size_t)r->ctx->limits.findings);
    tn_inventory_findings(r->d->inv, r->d->variant, &found);
    bool whole = found.blockers == 0;
    tn_findings_release(&found);
    return whole;
}

static void refuse_head(struct tn_assessment *a, const struct tn_component_request *r, const struct tn_family *family)
{
    char known[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < family->head_count && n < sizeof(known); i++) {
        int added = snprintf(known + n, sizeof(known) - n, "%s%s", i ? ", " : "", tn_head_kind_name(family->heads[i].kind));
        n += added > 0 ? (size_t)added : 0;
    }
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_TASK_HEAD_MISMATCH, TN_PHASE_ASSESS,
                                           "family %s does not implement this head", family->name);
    tn_found(f, "%s, of class %.*s", tn_head_kind_name(r->head->kind), TN_FMT_ARG(r->component->architecture));
    tn_expected(f, "%s", n ? known : "no head");
    tn_remedy(f, "`tenon families` lists the heads of each family");
}

/*
 * Binding, graph, memory plan, sizes. A refusal becomes a finding of the assessment. What an earlier stage has refused is
 * not looked at further: its consequences would be findings that mislead.
 */
static enum tn_status build_program(struct tn_native_program *program, struct tn_assessment *a,
                                    const struct tn_component_request *r, struct tn_error *err)
{
    if (r->head && !tn_family_head_of(program->family, r->head->kind)) {
        refuse_head(a, r, program->family);
        return TN_OK;
    }
    if (!weights_are_whole(r) || tn_component_value(r->component, program->family->layer_count)->u == 0) return TN_OK;
    enum tn_status status =
        tn_bind(r->d, r->component, program->family, r->head, &a->arena, &a->findings, &program->binding, err);
    if (status || a->findings.blockers || r->d->findings.blockers) return status;
    struct tn_graph *g = &program->graph;
    if (!tn_graph_init(g, r->ctx, &a->arena, r->max_rows, program->compute)) return tn_error_memory(err, TN_PHASE_ASSESS, "building the graph");
    const struct tn_family_head *head = program->binding.family_head;
    uint32_t output = program->family->build(g, r->component, &program->binding);
    if (head && r->picked) output = tn_graph_pick(g, output);
    if (head) output = head->build(g, r->component, &program->binding, output);
    output = tn_modules_build(g, r->d, r->first_module, r->module_end, output);
    if ((status = tn_graph_finish(g, output, err))) return status;
    hide_rows(g, a, r->hiding_rows);
    if (a->findings.blockers) return TN_OK;
    if (output == TN_NO_VALUE) { /* a description with blockers need not make a graph; its own findings say why */
        tn_error_set(err, TN_UNSUPPORTED_CONFIG, TN_PHASE_ASSESS, "the description makes no complete graph");
        return TN_UNSUPPORTED_CONFIG;
    }
    if ((status = tn_native_program_finish(program, a, err))) return status;
    a->decision = TN_ELIGIBLE;
    return TN_OK;
}

/* A refusal that came as an error joins the findings, so that it is listed with the others. */
static void adopt(struct tn_assessment *a, const struct tn_error *err, enum tn_status status)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, status, TN_PHASE_ASSESS, "%s", err->primary.message);
    if (f) *f = err->primary;
}

static void refuse_family(struct tn_assessment *a, const struct tn_component *c)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNKNOWN_FAMILY, TN_PHASE_ASSESS,
                                           "no native family for component %.*s", TN_FMT_ARG(c->name));
    tn_found(f, "model_type \"%.*s\"", TN_FMT_ARG(c->model_type));
    tn_remedy(f, "`tenon families` lists what is implemented");
}

/* Everything that assess keeps is charged to the assessment's arena; a temporary error object is too big for the stack. */
static enum tn_status assess_into(struct tn_native_program *program, struct tn_assessment *a,
                                  const struct tn_component_request *r, struct tn_error *err)
{
    struct tn_error *own = tn_calloc(r->ctx->alloc, 1, sizeof(*own));
    if (!own) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    enum tn_status status = build_program(program, a, r, own);
    if (status == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    } else if (status) {
        adopt(a, own, status);
        status = TN_OK;
    }
    tn_free(r->ctx->alloc, own);
    return status;
}

enum tn_status tn_native_assess(const struct tn_provider *p, const struct tn_component_request *r,
                                struct tn_assessment *a, struct tn_error *err)
{
    *a = (struct tn_assessment){.decision = TN_UNSUPPORTED, .provider = p};
    tn_arena_init(&a->arena, r->ctx->alloc);
    tn_findings_init(&a->findings, r->ctx->alloc, (size_t)r->ctx->limits.findings);
    struct tn_native_program *program = tn_arena_alloc(&a->arena, sizeof(*program));
    if (!program) return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
    struct tn_cpu cpu;
    tn_cpu_detect(&cpu);
    a->state = program;
    program->kernels = tn_kernels_select(&cpu, NULL);
    program->threads = r->threads ? r->threads : 1;
    program->max_rows = r->max_rows;
    choose_numeric(program, a, r);
    if (r->graph && !r->component) return tn_native_net_assess(program, a, r, err);
    if (r->graph) return tn_native_texts_assess(program, a, r, err);
    if (r->without) {
        struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNSUPPORTED_OPTION, TN_PHASE_ASSESS,
                                               "rewritings are left out of a graph, and the package is none");
        tn_at_option(f, "without");
        tn_found(f, "%s", r->without);
    }
    program->family = tn_family_of(r->component);
    if (!program->family) {
        refuse_family(a, r->component);
        return TN_OK;
    }
    if (!r->component->variant) return TN_OK; /* no weights to bind: a blocker of the description, which says why */
    enum tn_status status = assess_into(program, a, r, err);
    if (status) return status;
    if (a->findings.blockers > 0) a->decision = TN_UNSUPPORTED;
    if (a->decision == TN_ELIGIBLE) state_numeric(a, program);
    return TN_OK;
}

enum tn_status tn_native_texts_assess(struct tn_native_program *program, struct tn_assessment *a, const struct tn_component_request *r,
                                      struct tn_error *err)
{
    enum tn_status st = tn_native_net_assess(program, a, r, err);
    return st || a->decision != TN_ELIGIBLE ? st : tn_texts_assess(r, a, &program->texts, err);
}

void tn_native_forget(struct tn_assessment *a)
{
    struct tn_native_program *program = a->state;
    tn_texts_forget(program->texts);
    if (program->net) tn_model_free(program->net->model);
    else tn_graph_release(&program->graph);
}

void tn_assessment_release(struct tn_assessment *a)
{
    if (a->state && a->provider->forget) a->provider->forget(a);
    a->state = NULL;
    tn_findings_release(&a->findings);
    tn_arena_release(&a->arena);
}

const char *tn_decision_name(enum tn_decision decision)
{
    static const char *const names[] = {"eligible", "unsupported", "unqualified", "unknown"};
    return (unsigned)decision < 4 ? names[decision] : "unknown";
}
