/*
 * The recipe of tensor calls: named values of a request to the graph's ports, one call, and what comes out under the
 * names of the outputs. Results are copied out of the component, whose memory serves the next call, so that they live as
 * long as the execution and longer than the session's weights.
 */
#include "base/checked.h"
#include "base/json_write.h"
#include "task/sequence.h"
#include "task/tensor.h"
#include "task/text_items.h"

#include <string.h>

struct tn_recipe_model {
    const struct tn_context *ctx;
    struct tn_alloc *alloc;
    const struct tn_graph_facts *graph;
};

struct tn_recipe_run {
    struct tn_alloc *alloc;
    const struct tn_graph_facts *graph; /* lives with the description */
    struct tn_heap heap;
    struct tn_arena arena;
    struct tn_graph_call call;
    bool *wanted;               /* [output_count] */
    struct tn_graph_result *picks; /* what comes out, in this order; an output may come out under several names */
    size_t pick_count;
    struct tn_tensor_symbols declared; /* sizes by the contract */
    struct tn_tensor **results; /* [value_count], in memory of `heap` */
    tn_port_value *values;      /* [value_count] views of them */
    size_t value_count;
    struct tn_run_counts counts;
    struct tn_sequence *sequence; /* referenced; NULL: the call stands alone */
    bool borrowed, good;          /* the sequence is this run's; the call has completed */
    bool done;
};

/* ---- per session -------------------------------------------------------------------------------------------------- */

static enum tn_status prepare(const struct tn_recipe_env *env, struct tn_recipe_model **out, struct tn_error *err)
{
    struct tn_recipe_model *m = tn_calloc(env->ctx->alloc, 1, sizeof(*m));
    *out = m;
    if (!m) return tn_error_memory(err, TN_PHASE_LOAD, "preparing the recipe");
    *m = (struct tn_recipe_model){.ctx = env->ctx, .alloc = env->ctx->alloc, .graph = env->route->graph};
    return TN_OK;
}

static void discard(struct tn_recipe_model *m)
{
    tn_free(m->alloc, m);
}

/* ---- the request -------------------------------------------------------------------------------------------------- */

/* A value of JSON takes most where it is a list of one-digit numbers: nodes of the document, then elements. */
enum { BYTES_PER_JSON_BYTE = 24, GROUP_DEPTH = 8 };

static bool add_value(const tn_port_value *v, unsigned depth, uint64_t *bytes)
{
    uint64_t own = v->size;
    if (v->kind == TN_VALUE_JSON && !tn_mul64(own, BYTES_PER_JSON_BYTE, &own)) return false;
    /* rounded up to a size class of the heap, a quarter at most */
    if (!tn_add64(own, own / 4 + sizeof(struct tn_tensor) + 256, &own) || !tn_add64(*bytes, own, bytes)) return false;
    for (size_t i = 0; depth < GROUP_DEPTH && v->items && i < v->item_count; i++)
        if (!add_value(&v->items[i], depth + 1, bytes)) return false;
    return true;
}

static enum tn_status measure(const struct tn_recipe_model *m, const void *request, uint64_t *bytes, struct tn_error *err)
{
    const tn_tensor_request *r = request;
    const struct tn_graph_facts *g = m->graph;
    if (r->count && !r->inputs) return tn_request_refuse(err, "inputs", "inputs is NULL", "an array of values", 0);
    if (r->output_count && !r->outputs) return tn_request_refuse(err, "outputs", "outputs is NULL", "an array of names", 0);
    if (r->count > m->ctx->limits.items) return tn_request_refuse_limit(err, "inputs", "items", r->count, m->ctx->limits.items);
    *bytes = sizeof(struct tn_recipe_run) + 4096;
    *bytes += ((uint64_t)g->input_count + 4 * (uint64_t)g->view->output_count + 2 * (uint64_t)g->result_count) * (sizeof(tn_port_value) + sizeof(void *) + sizeof(struct tn_graph_result));
    for (size_t i = 0; i < r->count; i++) {
        if (!add_value(&r->inputs[i], 0, bytes)) return tn_request_refuse_limit(err, "inputs", "bytes", UINT64_MAX, UINT64_MAX);
    }
    return TN_OK;
}

static struct tn_str name_of(tn_string s)
{
    return (struct tn_str){s.data ? s.data : "", s.data ? s.length : 0};
}

/* The name that the contract knows the input by, else the port's own. */
static struct tn_str name_of_input(const struct tn_graph_facts *g, uint32_t i)
{
    return g->said_in && g->said_in[i].name.n ? g->said_in[i].name : g->inputs[i]->name;
}

static bool is_repeated(const struct tn_graph_facts *g, uint32_t i)
{
    bool repeated = false;
    for (uint32_t k = 0; !repeated && k < i; k++) repeated = tn_str_eq(name_of_input(g, k), name_of_input(g, i));
    return repeated;
}

/* ---- names ---- */

static bool append(char *text, size_t cap, size_t *at, struct tn_str name)
{
    size_t comma = *at ? 2 : 0;
    if (*at + comma + 1 >= cap) return false;
    if (comma) memcpy(text + *at, ", ", 2);
    *at += comma;
    size_t n = name.n < cap - 1 - *at ? name.n : cap - 1 - *at;
    memcpy(text + *at, name.s, n);
    *at += n;
    text[*at] = 0;
    return true;
}

/* The names that a caller may use: the contract's, where there is one. */
static void list_names(struct tn_finding *f, const struct tn_graph_facts *g, bool outputs)
{
    char text[320] = "";
    size_t at = 0, count = !outputs ? g->input_count : g->results ? g->result_count : g->view->output_count;
    for (size_t i = 0; i < count; i++) {
        if (!outputs && g->said_in && (g->said_in[i].closed || g->said_in[i].name.n == 0 || is_repeated(g, (uint32_t)i))) continue;
        struct tn_str name = !outputs ? name_of_input(g, (uint32_t)i) : g->results ? g->results[i].name : g->view->outputs[i].name;
        if (!append(text, sizeof(text), &at, name)) break;
    }
    if (text[0]) tn_expected(f, "one of: %s", text);
    else tn_expected(f, "none: the graph has no %s", outputs ? "outputs" : "inputs");
}

static void blame_name(struct tn_findings *findings, const struct tn_graph_facts *g, const char *what, struct tn_str name, bool outputs)
{
    struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "%s", what);
    tn_at_element(f, TN_ELEMENT_TENSOR, name);
    tn_found(f, "%.*s", TN_FMT_ARG(name));
    list_names(f, g, outputs);
}

/* The contract's names come first: where it gives a port's name to another value, that value is meant. */
static uint32_t input_of(const struct tn_graph_facts *g, struct tn_str name)
{
    uint32_t i = 0;
    for (uint32_t k = 0; g->said_in && name.n && k < g->input_count; k++)
        if (tn_str_eq(g->said_in[k].name, name)) return k;
    while (i < g->input_count && !tn_str_eq(g->inputs[i]->name, name)) i++;
    return i;
}

static uint32_t output_of(const struct tn_graph_facts *g, struct tn_str name)
{
    const struct tn_onnx_view *view = g->view;
    uint32_t i = 0;
    while (i < view->output_count && !tn_str_eq(view->outputs[i].name, name)) i++;
    return i;
}

/* The state that an output carries on, or NULL. */
static const struct tn_graph_state *state_of(const struct tn_recipe_run *run, uint32_t output)
{
    const struct tn_graph_facts *g = run->graph;
    for (uint32_t k = 0; run->sequence && k < g->state_count; k++)
        if (g->states[k].out == output) return &g->states[k];
    return NULL;
}

/* What is collected while the values of a request go to their ports. */
struct intake {
    struct tn_recipe_run *run;
    const struct tn_recipe_model *m;
    struct tn_tensor_symbols graph;
    struct tn_findings findings;
    bool *given; /* [input_count] by the request */
    bool no_memory;
};

static const struct tn_std_contract *contract_of(const struct intake *k, uint32_t i)
{
    const struct tn_graph_facts *g = k->m->graph;
    return g->said_in ? g->said_in[i].contract : NULL;
}

/* Values to ports, each once. */
static bool is_state(const struct tn_graph_facts *g, uint32_t input)
{
    bool found = false;
    for (uint32_t n = 0; !found && n < g->state_count; n++) found = g->states[n].in == input;
    return found;
}

/* Why a caller may not give an input, or NULL. What a sequence says of its states is said there. */
static const char *closed_to(const struct tn_recipe_run *run, uint32_t i)
{
    const struct tn_graph_input *said = run->graph->said_in ? &run->graph->said_in[i] : NULL;
    if (!said || (run->sequence && is_state(run->graph, i))) return NULL;
    if (said->name.n == 0) return "the package's contract leaves this input to the graph";
    return said->closed ? "the package's contract does not let a caller give this input" : NULL;
}

static void give(struct intake *k, uint32_t i, const tn_port_value *v)
{
    const struct tn_graph_facts *g = k->m->graph;
    struct tn_recipe_run *run = k->run;
    k->given[i] = true;
    run->call.in[i] = tn_tensor_of_request(g->inputs[i], v, &run->heap, &k->m->ctx->limits, &k->graph, &k->findings, &k->no_memory);
    if (!run->call.in[i]) return;
    tn_tensor_declared(g->inputs[i], contract_of(k, i), run->call.in[i], &run->declared, &k->findings);
    if (g->said_in) tn_tensor_bounded(&g->said_in[i], run->call.in[i], &k->findings);
}

/* One value of a contract may feed several ports. */
static void take_given(struct intake *k, const tn_tensor_request *r)
{
    const struct tn_graph_facts *g = k->m->graph;
    for (size_t n = 0; n < r->count; n++) {
        struct tn_str name = name_of(r->inputs[n].name);
        uint32_t first = input_of(g, name);
        const char *closed = first == g->input_count ? "the graph has no input of this name" : closed_to(k->run, first);
        if (!closed && k->given[first]) closed = "an input is given twice";
        if (closed) blame_name(&k->findings, g, closed, name, false);
        for (uint32_t i = 0; !closed && i < g->input_count; i++)
            if (i == first || (g->said_in && tn_str_eq(name_of_input(g, i), name_of_input(g, first)))) give(k, i, &r->inputs[n]);
    }
}

static struct tn_tensor *default_of(struct intake *k, uint32_t i, struct tn_heap *heap)
{
    const struct tn_graph_facts *g = k->m->graph;
    return tn_tensor_of_default(g->inputs[i], &g->said_in[i], heap, &k->m->ctx->limits, &k->graph, &k->run->declared, &k->findings, &k->no_memory);
}

static bool has_default(const struct tn_graph_facts *g, uint32_t i)
{
    return g->said_in && tn_json_present(g->said_in[i].value);
}

/* States: as the sequence has them; at its beginning as the package declares, or else as the request gives them. */
static void take_states(struct intake *k)
{
    struct tn_recipe_run *run = k->run;
    const struct tn_graph_facts *g = k->m->graph;
    struct tn_sequence *q = run->sequence;
    for (uint32_t n = 0; q && n < g->state_count; n++) {
        uint32_t i = g->states[n].in;
        bool begun = tn_sequence_begun(q);
        if (k->given[i] && (begun || has_default(g, i))) {
            struct tn_finding *f = tn_findings_add(&k->findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST,
                                                   "input %.*s is state of the sequence and cannot be given as well", TN_FMT_ARG(g->inputs[i]->name));
            tn_at_element(f, TN_ELEMENT_TENSOR, g->inputs[i]->name);
            tn_remedy(f, "leave the input out, set the state of the sequence, or call without a sequence");
            continue;
        }
        if (begun) {
            run->call.in[i] = tn_tensor_keep(q->now[n]);
            tn_tensor_declared(g->inputs[i], contract_of(k, i), q->now[n], &k->run->declared, &k->findings);
        } else if (!k->given[i] && has_default(g, i)) {
            run->call.in[i] = default_of(k, i, &q->heap);
        }
        k->given[i] = k->given[i] || run->call.in[i];
        /* What is only read stays what it was in the first call. */
        if (!begun && g->states[n].out == TN_NO_PORT && run->call.in[i]) {
            q->next[n] = tn_tensor_copy(&q->heap, run->call.in[i]);
            k->no_memory |= !q->next[n];
        }
    }
}

static void take_inputs(struct intake *k, const tn_tensor_request *r)
{
    const struct tn_graph_facts *g = k->m->graph;
    k->given = tn_arena_array(&k->run->arena, (size_t)g->input_count + 1, sizeof(*k->given));
    if (!k->given) {
        k->no_memory = true;
        return;
    }
    take_given(k, r);
    take_states(k);
    for (uint32_t i = 0; i < g->input_count; i++) {
        char text[320];
        if (k->given[i]) continue;
        if (has_default(g, i)) {
            k->run->call.in[i] = default_of(k, i, &k->run->heap);
            continue;
        }
        if (g->inputs[i]->initialised || (g->said_in && is_repeated(g, i))) continue;
        struct tn_str name = name_of_input(g, i);
        struct tn_finding *f = tn_findings_add(&k->findings, TN_BLOCKER, TN_INVALID_REQUEST, TN_PHASE_REQUEST, "input %.*s is missing",
                                               TN_FMT_ARG(name));
        tn_at_element(f, TN_ELEMENT_TENSOR, name);
        tn_expected(f, "%s", tn_onnx_port_text(g->inputs[i], text, sizeof(text)));
    }
}

/* Once under each name. */
static void pick(struct tn_recipe_run *run, struct tn_graph_result result)
{
    run->wanted[result.out] = true;
    for (size_t i = 0; i < run->pick_count; i++)
        if (run->picks[i].out == result.out && tn_str_eq(run->picks[i].name, result.name)) return;
    run->picks[run->pick_count++] = result;
}

static struct tn_graph_result plain_result(const struct tn_graph_facts *g, uint32_t i)
{
    return (struct tn_graph_result){.name = g->view->outputs[i].name, .out = i};
}

static void pick_named(struct intake *k, struct tn_str name)
{
    const struct tn_graph_facts *g = k->m->graph;
    for (uint32_t i = 0; i < g->result_count; i++) {
        if (!tn_str_eq(g->results[i].name, name)) continue;
        pick(k->run, g->results[i]);
        return;
    }
    uint32_t i = output_of(g, name);
    if (i == g->view->output_count) blame_name(&k->findings, g, "the graph has no output of this name", name, true);
    else if (state_of(k->run, i)) blame_name(&k->findings, g, "an output is state of the sequence and no result", name, true);
    else pick(k->run, plain_result(g, i));
}

static void take_outputs(struct intake *k, const tn_tensor_request *r)
{
    const struct tn_graph_facts *g = k->m->graph;
    struct tn_recipe_run *run = k->run;
    for (uint32_t i = 0; i < g->view->output_count; i++) {
        run->wanted[i] = state_of(run, i) != NULL;
        if (!r->outputs && !g->results) pick(run, plain_result(g, i));
    }
    for (uint32_t i = 0; !r->outputs && i < g->result_count; i++) pick(run, g->results[i]);
    for (size_t n = 0; r->outputs && n < r->output_count; n++) pick_named(k, name_of(r->outputs[n]));
}

static bool allocate(struct tn_recipe_run *run)
{
    size_t inputs = (size_t)run->graph->input_count + 1, outputs = (size_t)run->graph->view->output_count + 1;
    run->call.in = tn_arena_array(&run->arena, inputs, sizeof(*run->call.in));
    run->call.out = tn_arena_array(&run->arena, outputs, sizeof(*run->call.out));
    run->wanted = tn_arena_array(&run->arena, outputs, sizeof(*run->wanted));
    run->picks = tn_arena_array(&run->arena, outputs + run->graph->result_count, sizeof(*run->picks));
    run->results = tn_arena_array(&run->arena, outputs + run->graph->result_count, sizeof(*run->results));
    run->values = tn_arena_array(&run->arena, outputs + run->graph->result_count, sizeof(*run->values));
    run->call.wanted = run->wanted;
    return run->call.in && run->call.out && run->wanted && run->picks && run->results && run->values;
}

static void drop_inputs(struct tn_recipe_run *run)
{
    for (uint32_t i = 0; run->call.in && i < run->graph->input_count; i++) {
        tn_tensor_drop(run->call.in[i]);
        run->call.in[i] = NULL;
    }
    if (run->call.in) tn_heap_trim(&run->heap);
}

/* The sequence goes on from what the call has made, or stays as it was. */
static void give_back(struct tn_recipe_run *run)
{
    if (!run->borrowed) return;
    tn_sequence_settle(run->sequence, run->good);
    tn_sequence_return(run->sequence);
    run->borrowed = false;
}

static void settle(struct tn_recipe_run *run, bool good)
{
    run->good = good && run->done;
}

static void finish(struct tn_recipe_run *run)
{
    drop_inputs(run);
    give_back(run);
}

static void release(struct tn_recipe_run *run)
{
    if (!run) return;
    finish(run);
    for (size_t i = 0; i < run->value_count; i++) tn_tensor_drop(run->results[i]);
    tn_heap_release(&run->heap);
    tn_arena_release(&run->arena);
    tn_sequence_unref(run->sequence);
    tn_free(run->alloc, run);
}

static enum tn_status take_sequence(struct tn_recipe_run *run, struct tn_sequence *q, struct tn_error *err)
{
    if (!q) return TN_OK;
    enum tn_status st = tn_sequence_borrow(q, err);
    if (st) return st;
    tn_ref_take(&q->ref);
    run->sequence = q;
    run->borrowed = true;
    return TN_OK;
}

static enum tn_status start(const struct tn_recipe_model *m, const void *request, struct tn_alloc *alloc,
                            struct tn_recipe_run **out, struct tn_error *err)
{
    struct tn_recipe_run *run = tn_calloc(alloc, 1, sizeof(*run));
    const tn_tensor_request *r = request;
    struct intake k = {.run = run, .m = m};
    *out = NULL;
    if (!run) return tn_error_memory(err, TN_PHASE_REQUEST, "starting the request");
    run->alloc = alloc;
    run->graph = m->graph;
    run->counts.items = 1;
    tn_heap_init(&run->heap, alloc);
    tn_arena_init(&run->arena, alloc);
    tn_findings_init(&k.findings, alloc, (size_t)m->ctx->limits.findings);
    enum tn_status st = take_sequence(run, r->sequence, err);
    if (!st && allocate(run)) {
        take_inputs(&k, r);
        take_outputs(&k, r);
    } else {
        k.no_memory = true;
    }
    if (!st) st = k.no_memory ? tn_error_memory(err, TN_PHASE_REQUEST, "keeping the tensors of the request")
                              : tn_error_from_findings(err, &k.findings);
    tn_findings_release(&k.findings);
    if (st) release(run);
    else *out = run;
    return st;
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static bool view_of(struct tn_recipe_run *run, const struct tn_tensor *t, tn_port_value *out);

static bool view_strings(struct tn_recipe_run *run, const struct tn_tensor *t, tn_port_value *out)
{
    tn_string *texts = tn_arena_array(&run->arena, (size_t)t->count + 1, sizeof(*texts));
    if (!texts) return false;
    for (size_t i = 0; i < t->count; i++) texts[i] = (tn_string){tn_tensor_texts(t)[i].s, tn_tensor_texts(t)[i].n};
    out->data = texts;
    out->size = (size_t)t->count * sizeof(*texts);
    return true;
}

static bool view_items(struct tn_recipe_run *run, const struct tn_tensor *t, tn_port_value *out)
{
    tn_port_value *items = tn_arena_array(&run->arena, (size_t)t->count + 1, sizeof(*items));
    if (!items) return false;
    for (size_t i = 0; i < t->count; i++)
        if (!view_of(run, t->items[i], &items[i])) return false;
    out->items = items;
    out->item_count = (size_t)t->count;
    return true;
}

static bool view_of(struct tn_recipe_run *run, const struct tn_tensor *t, tn_port_value *out)
{
    *out = (tn_port_value){.name = {"", 0}, .kind = TN_VALUE_TENSOR, .element = tn_onnx_element_name(t->element)};
    switch (t->kind) {
    case TN_KIND_SEQUENCE: out->kind = TN_VALUE_SEQUENCE; return view_items(run, t, out);
    case TN_KIND_MAP: out->kind = TN_VALUE_MAP; return view_items(run, t, out);
    case TN_KIND_OPTIONAL: out->kind = TN_VALUE_OPTIONAL; return view_items(run, t, out);
    case TN_KIND_NONE:
    case TN_KIND_TENSOR: break;
    }
    out->rank = t->rank;
    out->dims = t->dims;
    if (t->element == TN_EL_STRING) return view_strings(run, t, out);
    out->data = t->data;
    out->size = t->bytes;
    return true;
}

static bool same_shape(const struct tn_tensor *a, const struct tn_tensor *b)
{
    bool same = a->kind == TN_KIND_TENSOR && b->kind == TN_KIND_TENSOR && a->element == b->element && a->rank == b->rank;
    for (uint32_t i = 0; same && i < a->rank; i++) same = a->dims[i] == b->dims[i];
    return same;
}

/* The next state, whose shape is that of the one before. */
static enum tn_status take_state(struct tn_recipe_run *run, const struct tn_graph_state *state, const struct tn_tensor *t, struct tn_error *err)
{
    struct tn_sequence *q = run->sequence;
    if (!same_shape(t, run->call.in[state->in])) {
        struct tn_finding *f = tn_error_set(err, TN_RUNTIME_FAILURE, TN_PHASE_EXECUTE, "the state came out of the graph as another value than it went in");
        tn_at_element(f, TN_ELEMENT_TENSOR, state->output);
        tn_expected(f, "the type and shape of %.*s", TN_FMT_ARG(state->input));
        return TN_RUNTIME_FAILURE;
    }
    q->next[state - run->graph->states] = tn_tensor_copy(&q->heap, t);
    return q->next[state - run->graph->states] ? TN_OK : TN_INSUFFICIENT_MEMORY;
}

/* The value itself, which goes over to the run when no other name waits for it. */
static enum tn_status take_result(struct tn_recipe_run *run, const struct tn_graph_result *pick, struct tn_tensor **t, bool last)
{
    struct tn_tensor *taken = last ? tn_tensor_move(&run->heap, *t) : tn_tensor_copy(&run->heap, *t);
    tn_port_value *v = &run->values[run->value_count];
    if (last) *t = NULL;
    run->results[run->value_count] = taken;
    run->value_count += taken != NULL;
    if (!taken || !view_of(run, taken, v)) return TN_INSUFFICIENT_MEMORY;
    v->name = (tn_string){pick->name.s, pick->name.n};
    return TN_OK;
}

static bool is_last(const struct tn_recipe_run *run, size_t i)
{
    for (size_t k = i + 1; k < run->pick_count; k++)
        if (run->picks[k].out == run->picks[i].out) return false;
    return true;
}

/* Results go over to the run and so outlive the component; states are copied, their memory serves the next call. */
static enum tn_status take_results(struct tn_recipe_run *run, struct tn_graph_call *call, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; i < run->graph->view->output_count; i++) {
        const struct tn_graph_state *state = state_of(run, i);
        if (!st && call->out[i] && state) st = take_state(run, state, call->out[i], err);
    }
    for (size_t i = 0; !st && i < run->pick_count; i++) {
        struct tn_tensor **t = &call->out[run->picks[i].out];
        if (*t) st = tn_tensor_published(&run->picks[i], *t, &run->declared, err);
        if (!st && *t) st = take_result(run, &run->picks[i], t, is_last(run, i));
    }
    for (uint32_t i = 0; i < run->graph->view->output_count; i++) {
        tn_tensor_drop(call->out[i]);
        call->out[i] = NULL;
    }
    return st == TN_INSUFFICIENT_MEMORY ? tn_error_memory(err, TN_PHASE_EXECUTE, "keeping the results of a graph") : st;
}

static enum tn_status advance(struct tn_recipe_run *run, struct tn_step *step, struct tn_error *err)
{
    if (step->answered) {
        enum tn_status st = take_results(run, step->answered, err);
        if (st) return st;
        run->done = true;
    } else if (step->wanted && !run->done) {
        step->call = &run->call;
    }
    step->ready = step->done = run->done;
    step->more = !run->done;
    return TN_OK;
}

static void event(const struct tn_recipe_run *run, size_t item, tn_event *out, struct tn_error *err)
{
    (void)err;
    *out = (tn_event){.kind = TN_EVENT_ITEM, .index = item, .tensors = run->values, .tensor_count = run->value_count};
}

static struct tn_run_counts counts(const struct tn_recipe_run *run)
{
    return run->counts;
}

static void write_item(const struct tn_recipe_run *run, size_t item, struct tn_json_writer *w)
{
    (void)item;
    tn_jw_key(w, "outputs");
    tn_jw_begin_object(w);
    for (size_t i = 0; i < run->value_count; i++) {
        tn_jw_key_str(w, name_of(run->values[i].name));
        tn_tensor_write(w, run->results[i]);
    }
    tn_jw_end_object(w);
}

static void account(const struct tn_recipe *recipe, const struct tn_recipe_run *run, struct tn_json_writer *w)
{
    (void)recipe;
    tn_jw_key(w, "options");
    tn_jw_begin_object(w);
    tn_jw_end_object(w);
    tn_jw_key(w, "result");
    tn_jw_begin_object(w);
    tn_jw_key(w, "outputs");
    tn_jw_begin_array(w);
    for (size_t i = 0; i < run->value_count; i++) tn_jw_str(w, name_of(run->values[i].name));
    tn_jw_end_array(w);
    tn_jw_end_object(w);
}

const struct tn_recipe tn_recipe_tensor = {
    .name = "tensor",
    .version = "1",
    .prepare = prepare,
    .discard = discard,
    .measure = measure,
    .start = start,
    .advance = advance,
    .settle = settle,
    .finish = finish,
    .release = release,
    .event = event,
    .counts = counts,
    .write_item = write_item,
    .account = account,
};
