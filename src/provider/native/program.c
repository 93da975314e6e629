/*
 * Assessment of the native provider: binds tensors, builds the graph, infers shapes, plans memory and adds up sizes. Reads
 * headers that the inventory holds and nothing else. All blockers of the provider are collected.
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

struct sums {
    uint64_t weights, workspace, transient;
    bool overflow;
};

static void add(struct sums *s, uint64_t *total, uint64_t n)
{
    if (!tn_add64(*total, n, total)) s->overflow = true;
}

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

/* The packed layer of one LINEAR operator. */
static bool size_layer(struct tn_native_program *program, uint32_t op, struct tn_native_layer *layer)
{
    const struct tn_graph *g = &program->graph;
    const struct tn_op_linear *l = &g->ops[op].as.linear;
    size_t staging = 0;
    for (uint32_t i = 0; i < l->parts; i++) {
        const struct tn_tensor_info *t = g->weights[l->weight[i]].tensor;
        if (!tn_add(staging, (size_t)t->bytes, &staging)) return false;
        if (l->bias[i] != TN_NO_WEIGHT && !tn_add(staging, (size_t)g->weights[l->bias[i]].tensor->bytes, &staging)) return false;
    }
    *layer = (struct tn_native_layer){
        .op = op,
        .n = g->values[g->ops[op].out].width,
        .k = g->values[g->ops[op].in[0]].width,
        .staging_bytes = staging,
        .fixed = g->values[g->ops[op].out].dim == TN_DIM_FIXED,
    };
    return program->kernels->linear_pack_size((size_t)layer->n, (size_t)layer->k, program->compute, &layer->packed_bytes) &&
           program->kernels->linear_scratch_size((size_t)layer->n, (size_t)layer->k, program->compute,
                                                 &layer->scratch_bytes);
}

static bool size_layers(struct tn_native_program *program, struct sums *s)
{
    const struct tn_graph *g = &program->graph;
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (!tn_op_is_linear(g->ops[op].kind)) continue;
        struct tn_native_layer *layer = &program->layers[program->layer_count];
        if (!size_layer(program, op, layer)) return false;
        program->layer_of[op] = program->layer_count++;
        add(s, layer->fixed ? &s->transient : &s->weights, layer->packed_bytes);
        if (layer->scratch_bytes > program->scratch_bytes) program->scratch_bytes = layer->scratch_bytes;
        if (layer->staging_bytes > program->staging_bytes) program->staging_bytes = layer->staging_bytes;
    }
    return true;
}

bool tn_native_weight_bytes(const struct tn_native_program *program, uint32_t weight, size_t *bytes)
{
    const struct tn_graph_weight *w = &program->graph.weights[weight];
    *bytes = (size_t)w->tensor->bytes;
    if (w->use == TN_USE_LINEAR) *bytes = 0;
    if (w->use != TN_USE_VECTOR) return true;
    return tn_mul((size_t)(w->tensor->bytes / tn_dtype_bytes(w->tensor->dtype)), sizeof(float), bytes);
}

static bool size_weights(struct tn_native_program *program, struct sums *s)
{
    const struct tn_graph *g = &program->graph;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        size_t bytes;
        if (!tn_native_weight_bytes(program, i, &bytes)) return false;
        add(s, &s->weights, bytes);
        size_t stored = (size_t)g->weights[i].tensor->bytes;
        if (g->weights[i].use == TN_USE_VECTOR && stored > program->staging_bytes) program->staging_bytes = stored;
    }
    return true;
}

static bool size_attention(struct tn_native_program *program, struct sums *s)
{
    const struct tn_graph *g = &program->graph;
    uint32_t counted = TN_NO_WEIGHT;
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (g->ops[op].kind != TN_OP_ATTENTION) continue;
        const struct tn_op_attention *a = &g->ops[op].as.attention;
        size_t scratch;
        bool relative = a->relative.of_queries || a->relative.of_keys;
        if (!program->kernels->attention_scratch_size((size_t)program->max_rows, (size_t)a->head_dim, relative, &scratch)) {
            return false;
        }
        if (scratch > program->scratch_bytes) program->scratch_bytes = scratch;
        uint64_t bias = 0;
        if (a->bias == TN_NO_WEIGHT || a->bias == counted) continue; /* layers share the expansion */
        counted = a->bias;
        if (!tn_mul64(a->heads, tn_native_bias_length(program), &bias) || !tn_mul64(bias, sizeof(float), &bias)) {
            return false;
        }
        add(s, &s->weights, bias);
    }
    return true;
}

static void choose_rows(struct tn_native_program *program)
{
    uint64_t widest = 1;
    for (uint32_t i = 0; i < program->layer_count; i++) {
        const struct tn_native_layer *layer = &program->layers[i];
        if (!layer->fixed && layer->n + layer->k > widest) widest = layer->n + layer->k;
    }
    uint64_t rows = TN_PIECE_BYTES / sizeof(float) / widest;
    if (rows > TN_PIECE_ROWS_MOST) rows = TN_PIECE_ROWS_MOST;
    program->usual_rows = rows > TN_PIECE_ROWS ? rows : TN_PIECE_ROWS;
    program->piece_rows = program->max_rows > program->usual_rows ? program->max_rows : program->usual_rows;
}

static bool size_everything(struct tn_native_program *program, struct tn_assessment *a)
{
    struct sums s = {0};
    size_t workspace;
    if (!size_layers(program, &s) || !size_weights(program, &s) || !size_attention(program, &s)) return false;
    if (!tn_native_size_derived(program, &s.weights)) return false;
    choose_rows(program);
    if (!tn_round_up(program->scratch_bytes, 64, &program->scratch_bytes)) return false;
    if (!tn_workspace_bytes(program, &workspace)) return false;
    for (unsigned i = 0; i < program->threads; i++) {
        add(&s, &s.workspace, workspace);
        add(&s, &s.workspace, program->scratch_bytes);
        add(&s, &s.transient, program->staging_bytes);
    }
    a->estimate = (struct tn_estimate){s.weights, s.workspace, s.transient, 0.05};
    return !s.overflow;
}

static enum tn_status allocate_tables(struct tn_native_program *program, struct tn_arena *arena, struct tn_error *err)
{
    program->layers = tn_arena_array(arena, program->graph.op_count, sizeof(*program->layers));
    program->layer_of = tn_arena_array(arena, program->graph.op_count, sizeof(*program->layer_of));
    program->rope_of = tn_arena_array(arena, program->graph.op_count, sizeof(*program->rope_of));
    program->ropes = tn_arena_array(arena, program->graph.op_count, sizeof(*program->ropes));
    program->relative_of = tn_arena_array(arena, program->graph.op_count, sizeof(*program->relative_of));
    program->relatives = tn_arena_array(arena, program->graph.op_count, sizeof(*program->relatives));
    if (program->layers && program->layer_of && program->rope_of && program->ropes && program->relative_of &&
        program->relatives) {
        return TN_OK;
    }
    return tn_error_memory(err, TN_PHASE_ASSESS, "assessing a component");
}

/*
 * Attention that sees only the rows of a span. What a row does that sees none at all nobody has defined, and the later
 * code of disentangled terms treats hidden rows in a way of its own: both are refused.
 */
static void hide_rows(struct tn_graph *g, struct tn_assessment *a, uint64_t hiding_rows)
{
    for (uint32_t i = 0; hiding_rows && i < g->op_count; i++) {
        struct tn_op_attention *attention = &g->ops[i].as.attention;
        if (g->ops[i].kind != TN_OP_ATTENTION) continue;
        attention->keys_of_span = true;
        bool relative = attention->relative.of_queries || attention->relative.of_keys;
        if (!relative && (attention->window == 0 || hiding_rows <= attention->window)) continue;
        struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, TN_UNSUPPORTED_OPERATOR, TN_PHASE_ASSESS,
                                               "operator \"%.*s\" cannot hide the rows of a query's expansion",
                                               TN_FMT_ARG(g->ops[i].name));
        tn_at_element(f, TN_ELEMENT_OPERATOR, g->ops[i].name);
        if (relative) {
            tn_found(f, "disentangled terms");
        } else {
            tn_found(f, "a window of %llu rows, sequences of %llu", (unsigned long long)attention->window,
                     (unsigned long long)hiding_rows);
        }
        tn_expected(f, "attention without such terms, whose every row sees the first row of its sequence");
        return;
    }
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
    tn_graph_init(g, &a->arena);
    const struct tn_family_head *head = program->binding.family_head;
    uint32_t output = program->family->build(g, r->component, &program->binding);
    if (head && r->picked) output = tn_graph_pick(g, "picked tokens", output);
    if (head) output = head->build(g, r->component, &program->binding, output);
    output = tn_modules_build(g, r->d, r->first_module, r->module_end, output);
    if ((status = tn_graph_finish(g, output, err))) return status;
    hide_rows(g, a, r->hiding_rows);
    if (a->findings.blockers) return TN_OK;
    if (output == TN_NO_VALUE) { /* a description with blockers need not make a graph; its own findings say why */
        tn_error_set(err, TN_UNSUPPORTED_CONFIG, TN_PHASE_ASSESS, "the description makes no complete graph");
        return TN_UNSUPPORTED_CONFIG;
    }
    if ((status = tn_memory_plan_make(g, &a->arena, &program->plan, err))) return status;
    if ((status = allocate_tables(program, &a->arena, err))) return status;
    if (!size_everything(program, a)) {
        tn_error_set(err, TN_RESOURCE_LIMIT, TN_PHASE_ASSESS, "the sizes of this model do not fit the machine's words");
        return TN_RESOURCE_LIMIT;
    }
    a->output_width = g->values[output].width;
    a->output_by_row = g->values[output].dim == TN_DIM_ROWS;
    a->output_picked = g->values[output].dim == TN_DIM_PICKS;
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
    if (r->graph) return tn_native_net_assess(program, a, r, err);
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

void tn_assessment_release(struct tn_assessment *a)
{
    tn_findings_release(&a->findings);
    tn_arena_release(&a->arena);
}

const char *tn_decision_name(enum tn_decision decision)
{
    static const char *const names[] = {"eligible", "unsupported", "unqualified", "unknown"};
    return (unsigned)decision < 4 ? names[decision] : "unknown";
}
