/*
 * A component whose weights are a graph: what a convention's documents say of texts (architecture, head, modules, tokenizer,
 * prompts) holds, and the graph computes. Its ports are settled by role (roles.h); a graph that wants more than a tokenizer
 * gives, or gives neither rows nor logits, takes no texts. The file is untrusted.
 */
#include "describe/dialect/dialect.h"
#include "describe/roles.h"

/* Numbers of package/onnx_schema.h. */
enum { FLOAT32 = 1, INT32 = 6, INT64 = 7 };

struct settling {
    struct tn_builder *b;
    struct tn_role_question q;
    struct tn_graph_facts *graph;
};

/* Index among the graph's inputs or the view's outputs of the port that has the role; TN_NO_PORT: none has. */
static uint32_t port_of(struct settling *s, enum tn_role role, bool output, bool required)
{
    const struct tn_onnx_view *view = s->graph->view;
    struct tn_role_binding binding = tn_role_settle(&s->q, role, output, required, &s->b->d->findings);
    if (binding.source == TN_ROLE_UNSETTLED) return TN_NO_PORT;
    tn_role_fact(s->b, &s->q, &binding);
    if (output) return binding.port - view->input_count;
    for (uint32_t i = 0; i < s->graph->input_count; i++) {
        if (s->graph->inputs[i] == &view->inputs[binding.port]) return i;
    }
    return TN_NO_PORT;
}

static struct tn_finding *refuse(struct settling *s, enum tn_status code, const char *what, const struct tn_onnx_port *port)
{
    char text[256];
    struct tn_finding *f = tn_blocker(s->b, code, "%s", what);
    tn_at_tensor(f, s->graph->file->path, port->name);
    tn_found(f, "%s", tn_onnx_port_text(port, text, sizeof(text)));
    return f;
}

/* Token by token, for several texts at once. */
static void check_input(struct settling *s, uint32_t i)
{
    const struct tn_onnx_port *p = s->graph->inputs[i];
    bool integers = p->element == INT64 || p->element == INT32;
    if (p->kind == TN_ONNX_PORT_TENSOR && integers && p->rank_known && p->rank == 2) return;
    struct tn_finding *f = refuse(s, TN_UNSUPPORTED_CONFIG, "an input of the graph is no list of texts", p);
    tn_expected(f, "int64 or int32 [batch, sequence]");
}

/* An exported table has the rows that the configuration states: another one is another model's, or misses rows. */
static void check_table(struct settling *s, uint32_t i, uint64_t rows, const char *name)
{
    const struct tn_onnx_port *p = i == TN_NO_PORT ? NULL : s->graph->inputs[i];
    if (!p || !p->table_rows || !rows || p->table_rows == rows) return;
    struct tn_finding *f = refuse(s, TN_TENSOR_MISMATCH,
                                  "a table of the graph has another size than the configuration states", p);
    tn_found(f, "%llu rows", (unsigned long long)p->table_rows);
    tn_expected(f, "%llu, the %s", (unsigned long long)rows, name);
    tn_remedy(f, "the configuration and the graph belong to different models");
}

static bool is_same_size(const struct tn_onnx_dim *a, const struct tn_onnx_dim *b)
{
    return a->kind != TN_ONNX_DIM_VALUE || b->kind != TN_ONNX_DIM_VALUE || a->value == b->value;
}

/* All inputs have a number for each token, so what one fixes cannot be another size in the next. */
static void check_axes(struct settling *s, const struct tn_graph_texts *t)
{
    const uint32_t others[] = {t->mask, t->types, t->positions};
    const struct tn_onnx_port *ids = t->ids == TN_NO_PORT ? NULL : s->graph->inputs[t->ids];
    for (size_t k = 0; ids && ids->rank_known && ids->rank == 2 && k < sizeof(others) / sizeof(others[0]); k++) {
        char text[256];
        const struct tn_onnx_port *p = others[k] == TN_NO_PORT ? NULL : s->graph->inputs[others[k]];
        if (!p || !p->rank_known || p->rank != 2) continue; /* told */
        if (is_same_size(&ids->dims[0], &p->dims[0]) && is_same_size(&ids->dims[1], &p->dims[1])) continue;
        struct tn_finding *f = refuse(s, TN_UNSUPPORTED_CONFIG,
                                      "two inputs of the graph fix different sizes for the same texts", p);
        tn_expected(f, "%s, as %.*s", tn_onnx_port_text(ids, text, sizeof(text)), TN_FMT_ARG(ids->name));
    }
}

static void check_inputs(struct settling *s, const struct tn_graph_texts *t)
{
    const struct tn_component *c = &s->b->d->components[0];
    const struct tn_value *types = tn_schema_value(c->schema, c->values, "type_vocab_size");
    check_table(s, t->ids, tn_component_value(c, "vocab_size")->u, "vocab_size");
    check_table(s, t->types, types && types->present ? types->u : 0, "type_vocab_size");
    check_axes(s, t);
    for (uint32_t i = 0; i < s->graph->input_count; i++) {
        const struct tn_onnx_port *p = s->graph->inputs[i];
        if (i == t->ids || i == t->mask || i == t->types || i == t->positions) {
            check_input(s, i);
        } else if (!p->initialised && p->kind != TN_ONNX_PORT_OPTIONAL) {
            struct tn_finding *f = refuse(s, TN_AMBIGUOUS_ROLE, "the graph wants an input that no tokenizer gives", p);
            tn_expected(f, "token ids, and at most an attention mask, token types and positions");
            tn_remedy(f, "export the encoder alone, or call the graph with tensors: task tensor");
        }
    }
}

static void check_outputs(struct settling *s, const struct tn_graph_texts *t)
{
    const struct tn_onnx_view *view = s->graph->view;
    const uint32_t ports[] = {t->hidden, t->logits};
    for (size_t i = 0; i < 2; i++) {
        const struct tn_onnx_port *p = ports[i] == TN_NO_PORT ? NULL : &view->outputs[ports[i]];
        bool rank = p && (!p->rank_known || p->rank == 3 || (i == 1 && p->rank == 2));
        if (!p || (rank && p->element == FLOAT32)) continue;
        struct tn_finding *f = refuse(s, TN_UNSUPPORTED_CONFIG, "an output of the graph is no row for each token or text", p);
        tn_expected(f, i ? "float32 [batch, sequence, width] or [batch, width]" : "float32 [batch, sequence, width]");
    }
    if (t->hidden != TN_NO_PORT || t->logits != TN_NO_PORT || s->b->d->findings.blockers) return;
    struct tn_finding *f = tn_blocker(s->b, TN_AMBIGUOUS_ROLE, "nothing says which output of the graph has a row for each token");
    tn_at_file(f, s->graph->file->path);
    tn_expected(f, "an output last_hidden_state or logits, or one of rank 3 and the model's width");
    tn_remedy(f, "export the graph with the convention's names");
}

static void settle(struct settling *s)
{
    struct tn_graph_texts *t = tn_builder_array(s->b, 1, sizeof(*t));
    if (!t) return;
    *t = (struct tn_graph_texts){
        .ids = port_of(s, TN_ROLE_OF_TOKEN_IDS, false, true),
        .mask = port_of(s, TN_ROLE_OF_ATTENTION_MASK, false, false),
        .types = port_of(s, TN_ROLE_OF_TOKEN_TYPE_IDS, false, false),
        .positions = port_of(s, TN_ROLE_OF_POSITION_IDS, false, false),
        .hidden = port_of(s, TN_ROLE_OF_HIDDEN_STATES, true, false),
        .logits = port_of(s, TN_ROLE_OF_LOGITS, true, false),
    };
    check_inputs(s, t);
    check_outputs(s, t);
    s->graph->texts = t;
}

void tn_describe_graph_texts(struct tn_builder *b)
{
    const struct tn_variant *variant = b->d->variant;
    if (b->failed || b->d->findings.blockers || !b->d->component_count || !variant || !variant->graph || !variant->file_count) return;
    const struct tn_component *c = &b->d->components[0];
    struct tn_graph_facts *g = tn_describe_graph(b, &b->inv->files[variant->files[0]], true);
    uint32_t count = g ? g->view->input_count + g->view->output_count : 0;
    struct tn_role_port *ports = g ? tn_calloc(b->alloc, (size_t)count + 1, sizeof(*ports)) : NULL;
    if (g && !ports) tn_builder_no_memory(b);
    if (!ports) return;
    struct settling s = {.b = b,
                         .graph = g,
                         .q = {.component = c->name,
                               .graph = g->view->file,
                               .ports = ports,
                               .port_count = tn_role_ports(g->view, NULL, NULL, ports),
                               .vocab_size = tn_component_value(c, "vocab_size")->u,
                               .hidden_size = tn_component_value(c, "hidden_size")->u,
                               .names = true}};
    settle(&s);
    tn_free(b->alloc, ports);
}
