/*
 * From ports to values: an input takes what an earlier graph gives under the same meaning, or, between stages of one
 * pipeline, under the same name; state takes its cell; everything else comes from outside. The links are a constant table
 * of meanings, never of models.
 */
#include "describe/dialect/genai_wiring.h"

#include <stdio.h>
#include <string.h>

/* What one graph gives another, by section and key. */
static const struct {
    const char *from, *output, *to, *input;
} links[] = {
    {"vision", "image_features", "embedding", "image_features"},
    {"speech", "audio_features", "embedding", "audio_features"},
    {"embedding", "inputs_embeds", "decoder", "inputs_embeds"},
    {"embedding", "per_layer_inputs", "decoder", "per_layer_inputs"},
    {"encoder", "encoder_hidden_states", "decoder", "encoder_hidden_states"},
    {"encoder", "cross_present_key_names", "decoder", "cross_past_key_names"},
    {"encoder", "cross_present_value_names", "decoder", "cross_past_value_names"},
    {"encoder", "encoder_outputs", "joiner", "encoder_outputs"},
    {"decoder", "outputs", "joiner", "decoder_outputs"},
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void *grow(struct tn_genai *g, void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap) return items;
    size_t more = *cap ? *cap * 2 : 64;
    void *bigger = tn_realloc(g->b->alloc, items, more * size);
    if (!bigger) {
        tn_builder_no_memory(g->b);
        return NULL;
    }
    *cap = more;
    return bigger;
}

static struct tn_str joined(struct tn_genai *g, const char *prefix, struct tn_str a, struct tn_str b)
{
    size_t p = strlen(prefix), n = p + a.n + 1 + b.n;
    char *text = tn_builder_array(g->b, n + 1, 1);
    if (!text) return TN_STR("");
    memcpy(text, prefix, p);
    memcpy(text + p, a.s, a.n);
    text[p + a.n] = '.';
    memcpy(text + p + a.n + 1, b.s, b.n);
    return (struct tn_str){text, n};
}

/* Index of the new value; 0 after a failure. */
static size_t add_value(struct tn_genai *g, struct tn_genai_wiring *w, const struct tn_genai_graph *graph,
                        const struct tn_genai_binding *port, bool input)
{
    struct tn_genai_value *values = grow(g, w->values, w->value_count, &w->value_cap, sizeof(*values));
    if (!values) return 0;
    w->values = values;
    values[w->value_count] = (struct tn_genai_value){joined(g, input ? "request." : "", graph->name, port->name), graph,
                                                     port, input};
    return w->value_count++;
}

/* ---- who gives it ------------------------------------------------------------------------------------------------ */

static size_t source_at(const struct tn_genai_wiring *w, const struct tn_genai *g, const struct tn_genai_graph *graph,
                        const struct tn_genai_binding *port)
{
    return w->first[graph - g->graphs] + (size_t)(port - graph->bound.items);
}

struct tn_str tn_genai_value_of(const struct tn_genai_wiring *w, const struct tn_genai *g,
                                const struct tn_genai_graph *graph, const struct tn_genai_binding *port)
{
    return w->values[w->sources[source_at(w, g, graph, port)]].name;
}

static bool renamed(const struct tn_genai_graph *stage, struct tn_str output, struct tn_str input)
{
    struct tn_str name;
    struct tn_json v = tn_json_get_str(tn_json_get(stage->at, "output_names_forwarder"), output);
    return tn_json_str(v, &name) && tn_str_eq(name, input);
}

/* An output of an earlier stage with the input's name. */
static const struct tn_genai_binding *from_stage(const struct tn_genai_graph *earlier, struct tn_str name)
{
    for (size_t i = 0; i < earlier->bound.count; i++) {
        const struct tn_genai_binding *x = &earlier->bound.items[i];
        if (x->direction != TN_GENAI_OUTPUT) continue;
        if (tn_str_eq(x->name, name) || renamed(earlier, x->name, name)) return x;
    }
    return NULL;
}

static const struct tn_genai_binding *from_section(const struct tn_genai_graph *earlier,
                                                   const struct tn_genai_graph *graph, const struct tn_genai_binding *in)
{
    for (size_t i = 0; in->port && i < sizeof(links) / sizeof(links[0]); i++) {
        if (strcmp(links[i].to, graph->section) != 0 || strcmp(links[i].input, in->port->key) != 0) continue;
        if (strcmp(links[i].from, earlier->section) != 0) continue;
        const struct tn_genai_binding *out = tn_genai_bound(earlier, TN_GENAI_OUTPUT, links[i].output, in->layer);
        if (out) return out;
    }
    return NULL;
}

static bool is_state(const struct tn_genai_binding *x)
{
    return x->port && x->direction == TN_GENAI_INPUT && x->port->next;
}

static const struct tn_genai_binding *producer(const struct tn_genai *g, size_t graph, const struct tn_genai_binding *in,
                                               const struct tn_genai_graph **from)
{
    const struct tn_genai_graph *self = &g->graphs[graph];
    for (size_t i = graph; i-- > 0;) {
        const struct tn_genai_graph *earlier = &g->graphs[i];
        bool same = self->stage && earlier->stage && strcmp(self->section, earlier->section) == 0;
        const struct tn_genai_binding *out = same ? from_stage(earlier, in->name) : NULL;
        if (!out) out = from_section(earlier, self, in);
        *from = earlier;
        if (out) return out;
    }
    return NULL;
}

static void connect_input(struct tn_genai *g, struct tn_genai_wiring *w, size_t graph, const struct tn_genai_binding *in,
                          size_t *source)
{
    const struct tn_genai_graph *from;
    const struct tn_genai_binding *out = is_state(in) ? NULL : producer(g, graph, in, &from);
    *source = out ? w->sources[source_at(w, g, from, out)] : add_value(g, w, &g->graphs[graph], in, true);
}

static bool connect_graphs(struct tn_genai *g, struct tn_genai_wiring *w)
{
    size_t total = 0;
    for (size_t i = 0; i < g->graph_count; i++) {
        w->first[i] = total;
        total += g->graphs[i].bound.count;
    }
    w->sources = tn_calloc(g->b->alloc, total + 1, sizeof(*w->sources));
    if (!w->sources) {
        tn_builder_no_memory(g->b);
        return false;
    }
    for (size_t i = 0; i < g->graph_count && g->b->failed == TN_OK; i++) {
        const struct tn_genai_graph *graph = &g->graphs[i];
        for (size_t k = 0; k < graph->bound.count && g->b->failed == TN_OK; k++) {
            const struct tn_genai_binding *x = &graph->bound.items[k];
            size_t *source = &w->sources[w->source_count++];
            if (x->direction == TN_GENAI_INPUT) connect_input(g, w, i, x, source);
            else *source = add_value(g, w, graph, x, false);
        }
    }
    return g->b->failed == TN_OK;
}

/* ---- state ------------------------------------------------------------------------------------------------------- */

static bool shares_buffer(const struct tn_genai *g)
{
    bool shared = false;
    (void)tn_json_bool(tn_json_get(g->search, "past_present_share_buffer"), &shared);
    return shared;
}

static const char *recurrent_layout(uint32_t rank)
{
    static const char *const layouts[] = {"scalar", "b", "bc", "bct", "bhkv"};
    return rank < sizeof(layouts) / sizeof(layouts[0]) ? layouts[rank] : "other";
}

static struct tn_genai_group group_of(const struct tn_genai *g, const struct tn_genai_binding *in)
{
    bool combined = in->port->half && strcmp(in->port->half, "combined") == 0;
    struct tn_genai_group group = {.layout = combined ? "2bnsh" : "bnsh", .has_sequence = true};
    group.sequence_axis = combined ? 3 : 2;
    if (in->port->family == TN_GENAI_CROSS) {
        group.name = group.kind = "cross_attention";
        group.read_only = true;
    } else if (in->port->family == TN_GENAI_ATTENTION) {
        group.kind = tn_genai_layer_of(g, in->layer).windowed ? "sliding_attention" : "full_attention";
        group.name = group.kind;
        group.shared_buffer = shares_buffer(g);
    } else {
        group.name = in->port->key;
        group.kind = "recurrent";
        group.layout = recurrent_layout(in->graph_port->rank);
        group.has_sequence = false;
    }
    return group;
}

static const struct tn_genai_group *intern_group(struct tn_genai *g, struct tn_genai_wiring *w,
                                                 const struct tn_genai_binding *in)
{
    struct tn_genai_group group = group_of(g, in);
    for (size_t i = 0; i < w->group_count; i++)
        if (strcmp(w->groups[i].name, group.name) == 0) return &w->groups[i];
    w->groups[w->group_count] = group; /* as many names as the table of ports has, which a test holds */
    return &w->groups[w->group_count++];
}

static void add_state(struct tn_genai *g, struct tn_genai_wiring *w, const struct tn_genai_graph *graph,
                      const struct tn_genai_binding *in)
{
    struct tn_genai_cell *states = grow(g, w->states, w->state_count, &w->state_cap, sizeof(*states));
    if (!states) return;
    w->states = states;
    size_t source = source_at(w, g, graph, in);
    states[w->state_count++] = (struct tn_genai_cell){
        .name = joined(g, "", graph->name, in->name),
        .initial = w->values[w->sources[source]].name,
        .graph = graph,
        .in = in,
        .out = in->port->next ? tn_genai_bound(graph, TN_GENAI_OUTPUT, in->port->next, in->layer) : NULL,
        .group = intern_group(g, w, in),
    };
}

static void collect_states(struct tn_genai *g, struct tn_genai_wiring *w)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        const struct tn_genai_graph *graph = &g->graphs[i];
        for (size_t k = 0; k < graph->bound.count && g->b->failed == TN_OK; k++) {
            const struct tn_genai_binding *x = &graph->bound.items[k];
            bool cross = x->port && x->direction == TN_GENAI_INPUT && x->port->family == TN_GENAI_CROSS;
            if (is_state(x) || cross) add_state(g, w, graph, x);
        }
    }
    w->has_state = w->state_count > 0;
}

/* ---- what a single pass cannot say ------------------------------------------------------------------------------- */

static bool runs_always(struct tn_genai *g, const struct tn_genai_graph *graph)
{
    static const char *const keys[] = {"run_on_prompt", "run_on_token_gen"};
    for (size_t i = 0; i < 2; i++) {
        bool runs = true;
        struct tn_json v = tn_json_get(graph->at, keys[i]);
        if (!tn_json_bool(v, &runs) || runs) continue;
        struct tn_finding *f = tn_blocker(g->b, TN_UNSUPPORTED_CONFIG, "a stage runs for some steps of generation only");
        tn_at_json(f, v);
        tn_found(f, "false");
        tn_expected(f, "stages that run in every step: which one runs when is code of that runtime");
        return false;
    }
    return true;
}

static bool find_logits(struct tn_genai *g, struct tn_genai_wiring *w)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        const struct tn_genai_binding *x = tn_genai_bound(&g->graphs[i], TN_GENAI_OUTPUT, "logits", 0);
        if (!x) continue;
        w->last = &g->graphs[i];
        w->logits = x;
    }
    if (w->logits) return true;
    struct tn_finding *f = tn_blocker(g->b, TN_AMBIGUOUS_ROLE, "no graph gives logits");
    tn_at_json_member(f, tn_json_get(g->model, "decoder"), "outputs");
    tn_expected(f, "an output that \"logits\" names");
    return false;
}

/* A port that is no tensor has no contract in the standard. */
static bool all_tensors(struct tn_genai *g)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        for (size_t k = 0; k < g->graphs[i].bound.count; k++) {
            const struct tn_onnx_port *p = g->graphs[i].bound.items[k].graph_port;
            if (p && p->kind == TN_ONNX_PORT_TENSOR && p->rank_known && tn_onnx_element_known(p->element)) continue;
            struct tn_finding *f = tn_blocker(g->b, TN_UNSUPPORTED_CONFIG, "a port of the graph has no known type and rank");
            tn_at_json(f, g->graphs[i].at);
            tn_found(f, "\"%.*s\" of %.*s", TN_FMT_ARG(g->graphs[i].bound.items[k].name), TN_FMT_ARG(g->graphs[i].path));
            tn_expected(f, "a tensor of stated type and rank");
            return false;
        }
    }
    return true;
}

bool tn_genai_wire(struct tn_genai *g, struct tn_genai_wiring *w)
{
    memset(w, 0, sizeof(*w));
    bool whole = all_tensors(g);
    for (size_t i = 0; i < g->graph_count; i++) whole = runs_always(g, &g->graphs[i]) && whole;
    whole = find_logits(g, w) && whole;
    if (!whole || !connect_graphs(g, w)) return false;
    collect_states(g, w);
    return g->b->failed == TN_OK;
}

void tn_genai_wiring_release(struct tn_genai *g, struct tn_genai_wiring *w)
{
    tn_free(g->b->alloc, w->values);
    tn_free(g->b->alloc, w->sources);
    tn_free(g->b->alloc, w->states);
    memset(w, 0, sizeof(*w));
}
