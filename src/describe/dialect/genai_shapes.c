/*
 * Types and extents of the graphs' ports against what genai_config.json says about them: the vocabulary against the
 * logits, heads against caches, each state against its successor. Only what both sides state is compared; a symbolic
 * extent agrees with every number.
 */
#include "describe/dialect/genai.h"

#include <string.h>

static bool is_float(uint32_t element)
{
    static const char *const names[] = {"float32", "float16", "bfloat16", "float64"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(tn_onnx_element_name(element), names[i]) == 0) return true;
    return false;
}

static bool is_whole(uint32_t element)
{
    const char *name = tn_onnx_element_name(element);
    return strcmp(name, "int64") == 0 || strcmp(name, "int32") == 0;
}

/* ---- one finding ------------------------------------------------------------------------------------------------- */

static struct tn_finding *contradicts(struct tn_genai *g, const struct tn_genai_graph *graph,
                                      const struct tn_genai_binding *x, struct tn_json at, const char *what)
{
    char text[160];
    struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "%s", what);
    if (tn_json_present(at)) tn_at_json(f, at);
    else tn_at_json_member(f, graph->at, x->direction == TN_GENAI_INPUT ? "inputs" : "outputs");
    tn_found(f, "\"%.*s\", %s, of %.*s", TN_FMT_ARG(x->name), tn_onnx_port_text(x->graph_port, text, sizeof(text)),
             TN_FMT_ARG(graph->path));
    g->hole = true;
    return f;
}

/* The extent of an axis counted from the end, when the graph gives it as a number. */
static bool extent(const struct tn_onnx_port *port, uint32_t from_end, uint64_t *out)
{
    if (!port->rank_known || port->rank < from_end) return false;
    const struct tn_onnx_dim *dim = &port->dims[port->rank - from_end];
    if (dim->kind != TN_ONNX_DIM_VALUE || dim->value < 0) return false;
    *out = (uint64_t)dim->value;
    return true;
}

/* A number of the document that the graph denies is told once; it is as if unsaid from then on. */
static bool denies(const struct tn_onnx_port *port, uint32_t from_end, struct tn_genai_size *size)
{
    uint64_t n;
    if (!size->present || !extent(port, from_end, &n) || n == size->value) return false;
    size->present = false;
    return true;
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

static bool has_role(const struct tn_genai_binding *x, const char *role)
{
    return x->port && x->port->role && strcmp(x->port->role, role) == 0;
}

static void check_role(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    const struct tn_onnx_port *port = x->graph_port;
    bool decoder = strcmp(graph->section, "decoder") == 0;
    if (has_role(x, "token_ids") && !is_whole(port->element))
        tn_expected(contradicts(g, graph, x, x->at, "a port of token ids does not take whole numbers"), "int64 or int32");
    if (has_role(x, "logits") && !is_float(port->element))
        tn_expected(contradicts(g, graph, x, x->at, "a port of logits does not give reals"), "float32 or float16");
    if (has_role(x, "inputs_embeds") && !is_float(port->element))
        tn_expected(contradicts(g, graph, x, x->at, "a port of embeddings does not hold reals"), "float32 or float16");
    if (has_role(x, "logits") && denies(port, 1, &g->vocabulary))
        tn_expected(contradicts(g, graph, x, g->vocabulary.at, "the vocabulary is not the width of the logits"),
                    "vocab_size %llu", (unsigned long long)g->vocabulary.value);
    if (has_role(x, "inputs_embeds") && decoder && denies(port, 1, &g->hidden))
        tn_expected(contradicts(g, graph, x, g->hidden.at, "the hidden size is not the width of the embeddings"),
                    "hidden_size %llu", (unsigned long long)g->hidden.value);
    if (has_role(x, "encoder_hidden_states") && denies(port, 1, &g->encoder_hidden))
        tn_expected(contradicts(g, graph, x, g->encoder_hidden.at, "the encoder's hidden size is not the width of what it gives"),
                    "hidden_size %llu", (unsigned long long)g->encoder_hidden.value);
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

/*
 * [batch, heads, positions, head size]; keys and values in one tensor have an axis of two in front. Told once for each
 * key of the document, not for each layer.
 */
static void check_cache(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    const struct tn_onnx_port *port = x->graph_port;
    uint32_t rank = strcmp(x->port->half, "combined") == 0 ? 5 : 4;
    if (port->rank_known && port->rank != rank)
        tn_expected(contradicts(g, graph, x, x->at, "a cache has not the axes of one"), "%u axes", rank);
    else if (denies(port, 3, &g->kv_heads))
        tn_expected(contradicts(g, graph, x, g->kv_heads.at, "the number of heads is not that of the cache"),
                    "num_key_value_heads %llu", (unsigned long long)g->kv_heads.value);
    else if (denies(port, 1, &g->head_size))
        tn_expected(contradicts(g, graph, x, g->head_size.at, "the head size is not that of the cache"),
                    "head_size %llu", (unsigned long long)g->head_size.value);
}

/* [batch, heads, positions, head size] of what the encoder gives to each layer of the decoder. */
static void check_cross(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    const struct tn_onnx_port *port = x->graph_port;
    if (!port->rank_known || port->rank != 4) return;
    if (denies(port, 3, &g->encoder_kv_heads))
        tn_expected(contradicts(g, graph, x, g->encoder_kv_heads.at, "the encoder's number of heads is not that of its cache"),
                    "num_key_value_heads %llu", (unsigned long long)g->encoder_kv_heads.value);
    else if (denies(port, 1, &g->encoder_head_size))
        tn_expected(contradicts(g, graph, x, g->encoder_head_size.at, "the encoder's head size is not that of its cache"),
                    "head_size %llu", (unsigned long long)g->encoder_head_size.value);
}

/* [batch, channels, positions], the last of which the filter still sees. */
static void check_convolved(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    bool convolved = strcmp(x->port->key, "past_conv_names") == 0 || strcmp(x->port->key, "present_conv_names") == 0;
    if (convolved && x->graph_port->rank_known && x->graph_port->rank == 3 && denies(x->graph_port, 1, &g->convolved))
        tn_expected(contradicts(g, graph, x, g->convolved.at, "the length of a convolution's state is not that of its port"),
                    "conv_cache_size %llu", (unsigned long long)g->convolved.value);
}

static bool same_extents(const struct tn_onnx_port *a, const struct tn_onnx_port *b, bool attention)
{
    if (!a->rank_known || !b->rank_known) return true;
    if (a->rank != b->rank) return false;
    for (uint32_t i = 1; i <= a->rank; i++) {
        uint64_t m, n;
        if (attention && i == 2) continue; /* positions grow */
        if (extent(a, i, &m) && extent(b, i, &n) && m != n) return false;
    }
    return true;
}

/* The output that carries a state on. */
static void check_successor(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    char text[160];
    const struct tn_genai_binding *next = tn_genai_bound(graph, TN_GENAI_OUTPUT, x->port->next, x->layer);
    if (!next && graph->doubtful) return;
    if (!next) {
        tn_expected(contradicts(g, graph, x, x->at, "nothing carries a state on to the next step"),
                    "an output that \"%s\" names", x->port->next);
        return;
    }
    bool attention = x->port->family == TN_GENAI_ATTENTION;
    if (!next->graph_port) return;
    if (next->graph_port->element == x->graph_port->element && same_extents(x->graph_port, next->graph_port, attention)) return;
    tn_expected(contradicts(g, graph, x, x->at, "a state is not of the type of its successor"), "\"%.*s\", %s",
                TN_FMT_ARG(next->name), tn_onnx_port_text(next->graph_port, text, sizeof(text)));
}

static void check_halves(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    static const char *const pairs[][2] = {{"past_key_names", "past_value_names"},
                                           {"cross_past_key_names", "cross_past_value_names"}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t half = 0; half < 2; half++) {
            if (strcmp(x->port->key, pairs[i][half]) != 0) continue;
            if (tn_genai_bound(graph, TN_GENAI_INPUT, pairs[i][1 - half], x->layer)) continue;
            tn_expected(contradicts(g, graph, x, x->at, "half of a cache is named"), "an input that \"%s\" names",
                        pairs[i][1 - half]);
        }
    }
}

static void check_state(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_genai_binding *x)
{
    bool input = x->direction == TN_GENAI_INPUT, attention = x->port->family == TN_GENAI_ATTENTION;
    if (attention && !g->dropped_ports) check_cache(g, graph, x);
    if (x->port->family == TN_GENAI_CROSS && !g->dropped_ports) check_cross(g, graph, x);
    if (x->port->family == TN_GENAI_RECURRENT) check_convolved(g, graph, x);
    if (input && x->port->next) check_successor(g, graph, x);
    if (input && x->port->half && !graph->doubtful) check_halves(g, graph, x);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

void tn_genai_check_shapes(struct tn_genai *g)
{
    for (size_t i = 0; i < g->graph_count; i++) {
        const struct tn_genai_graph *graph = &g->graphs[i];
        const struct tn_genai_port *faulty = NULL;
        if (graph->contested) continue; /* what the port is to be is what is refused there */
        for (size_t k = 0; k < graph->bound.count; k++) {
            const struct tn_genai_binding *x = &graph->bound.items[k];
            size_t before = g->b->d->findings.blockers;
            if (!x->port || !x->graph_port || x->port == faulty) continue;
            if (x->graph_port->kind != TN_ONNX_PORT_TENSOR) continue;
            check_role(g, graph, x);
            if (x->port->family != TN_GENAI_PLAIN) check_state(g, graph, x);
            if (g->b->d->findings.blockers > before) faulty = x->port; /* the other layers have the same fault */
        }
    }
}
