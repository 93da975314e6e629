/*
 * Ports of the graphs: which name of the document is which port of which graph, and whether both sides agree. Every
 * port that the document names must be in the graph, and every input of a graph must be named, since somebody has to
 * feed it. A default name of the convention binds only where the graph has such a port and shows as a fact.
 */
#include "describe/dialect/genai.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 16 }; /* unnamed inputs that are told one by one; the rest is counted */

static const char *const direction_keys[] = {"inputs", "outputs"};

/* ---- the list of bindings ---------------------------------------------------------------------------------------- */

static void append(struct tn_genai *g, struct tn_genai_bindings *list, const struct tn_genai_binding *binding)
{
    if (g->b->failed != TN_OK) return;
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 32;
        struct tn_genai_binding *items = tn_realloc(g->b->alloc, list->items, cap * sizeof(*items));
        if (!items) {
            tn_builder_no_memory(g->b);
            return;
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count++] = *binding;
}

const struct tn_genai_binding *tn_genai_bound(const struct tn_genai_graph *graph, enum tn_genai_direction direction,
                                              const char *key, uint32_t layer)
{
    for (size_t i = 0; i < graph->bound.count; i++) {
        const struct tn_genai_binding *x = &graph->bound.items[i];
        if (x->port && x->direction == direction && x->layer == layer && strcmp(x->port->key, key) == 0) return x;
    }
    return NULL;
}

static const struct tn_onnx_port *port_of(const struct tn_onnx_view *view, enum tn_genai_direction direction,
                                          struct tn_str name)
{
    if (!view) return NULL;
    return direction == TN_GENAI_INPUT ? tn_onnx_input(view, name) : tn_onnx_output(view, name);
}

/* ---- one key ----------------------------------------------------------------------------------------------------- */

/* A key of a section while it becomes bindings of a graph; without a graph, of no graph in particular. */
struct binder {
    struct tn_genai *g;
    struct tn_genai_graph *graph; /* NULL: the section as a whole, whose stages look names up in `list` */
    const struct tn_genai_port *port;
    struct tn_genai_bindings *list;
    struct tn_json at; /* absent: the default */
    struct tn_str name; /* or pattern */
    uint32_t found, missing, first_missing; /* layers */
    struct tn_str missing_name;
};

static void bind_one(struct binder *x, struct tn_str name, uint32_t layer, bool required)
{
    const struct tn_onnx_view *view = x->graph ? x->graph->view : NULL;
    struct tn_genai_binding binding = {x->port, x->port->direction, name, layer, x->at, NULL, false};
    binding.graph_port = port_of(view, x->port->direction, name);
    if (binding.graph_port || !view) {
        x->found++;
        append(x->g, x->list, &binding);
        return;
    }
    if (x->missing == 0) {
        x->first_missing = layer;
        x->missing_name = name;
    }
    x->missing += required;
}

static bool names_family(const struct tn_genai *g, const char *section, enum tn_genai_family family)
{
    struct tn_json inputs = tn_json_get(tn_json_get(g->model, section), "inputs");
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        bool here = strcmp(p->section, section) == 0 && p->direction == TN_GENAI_INPUT && p->family == family;
        if (here && p->per_layer && tn_json_present(tn_json_get(inputs, p->key))) return true;
    }
    return false;
}

/*
 * Whether a layer must have this port. Where nothing says what a layer keeps and the document names both attention and
 * recurrent state, the graph's own ports decide, as they do in the convention's runtime; so they do among the several
 * recurrent states, of which a layer may keep some. That every layer keeps something is checked afterwards.
 */
static bool layer_needs(const struct binder *x, uint32_t layer, bool *wanted)
{
    struct tn_genai_layer l = tn_genai_layer_of(x->g, layer);
    bool attention = x->port->family == TN_GENAI_ATTENTION, recurrent = x->port->family == TN_GENAI_RECURRENT;
    *wanted = !l.stated || (attention ? l.attention : recurrent ? l.recurrent : true);
    if (recurrent) return false;
    return !attention || l.stated || !names_family(x->g, x->port->section, TN_GENAI_RECURRENT);
}

static void bind_layers(struct binder *x)
{
    bool stated = tn_json_present(x->at);
    if (!x->g->layers.present) return;
    for (uint32_t layer = 0; layer < x->g->layers.value && x->g->b->failed == TN_OK; layer++) {
        bool wanted, needed = layer_needs(x, layer, &wanted);
        if (wanted) bind_one(x, tn_genai_expand(x->g, x->name, layer), layer, needed && stated);
    }
    if (stated && x->found == 0 && x->missing == 0) x->missing = x->missing_name.s != NULL;
}

static void report_missing(struct binder *x)
{
    struct tn_genai *g = x->g;
    char pointer[256];
    if (x->missing == 0) return;
    g->hole = true;
    x->graph->doubtful = true;
    struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "%.*s in %.*s names a port that the graph lacks",
                                      TN_FMT_ARG(tn_json_pointer(x->at, pointer, sizeof(pointer))),
                                      TN_FMT_ARG(x->at.doc->file));
    tn_at_json(f, x->at);
    if (x->port->per_layer)
        tn_found(f, "no %s \"%.*s\" of layer %u in %.*s, %u missing in all",
                 x->port->direction == TN_GENAI_INPUT ? "input" : "output", TN_FMT_ARG(x->missing_name), x->first_missing,
                 TN_FMT_ARG(x->graph->path), x->missing);
    else
        tn_found(f, "no %s \"%.*s\" in %.*s", x->port->direction == TN_GENAI_INPUT ? "input" : "output",
                 TN_FMT_ARG(x->missing_name), TN_FMT_ARG(x->graph->path));
    tn_expected(f, "a port of the graph");
}

static void default_facts(struct tn_genai *g, const struct binder *x, size_t before)
{
    if (tn_json_present(x->at) || x->list->count == before) return;
    char text[128];
    int n = snprintf(text, sizeof(text), "\"%s\"", x->port->name);
    tn_fact_of_default(g->b, TN_GENAI_SCHEMA, tn_builder_str(g->b, (struct tn_str){text, (size_t)n}).s, TN_GENAI_RULE,
                       "%s.%s.%s", x->port->section, direction_keys[x->port->direction], x->port->key);
}

static void bind_key(struct tn_genai *g, struct tn_genai_graph *graph, const struct tn_genai_port *port,
                     struct tn_json section, struct tn_genai_bindings *list, bool *doubtful)
{
    struct binder x = {.g = g, .graph = graph, .port = port, .list = list};
    struct tn_json v = tn_json_get(tn_json_get(section, direction_keys[port->direction]), port->key);
    size_t before = list->count;
    if (tn_json_present(v)) {
        bool good = tn_json_str(v, &x.name) && !tn_genai_name_fault(g, x.name, port->per_layer);
        if (!good || (port->per_layer && !g->layers.present)) g->hole = *doubtful = true; /* has its finding */
        if (!good) return;
        x.at = v;
        x.name = tn_builder_str(g->b, x.name); /* the document does not outlive the description */
    } else {
        if (!port->name || !graph || !graph->view) return; /* a default needs a graph that has it */
        x.name = tn_str_of(port->name);
    }
    if (port->per_layer) bind_layers(&x);
    else bind_one(&x, x.name, 0, tn_json_present(v));
    report_missing(&x);
    default_facts(g, &x, before);
}

static void bind_section(struct tn_genai *g, struct tn_genai_graph *graph, const char *section, struct tn_json at,
                         struct tn_genai_bindings *list, bool *doubtful)
{
    for (size_t i = 0; i < tn_genai_port_count() && g->b->failed == TN_OK; i++) {
        const struct tn_genai_port *port = tn_genai_port_at(i);
        if (strcmp(port->section, section) == 0) bind_key(g, graph, port, at, list, doubtful);
    }
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static struct tn_genai_binding *find_name(struct tn_genai_bindings *list, enum tn_genai_direction direction,
                                          struct tn_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].direction == direction && tn_str_eq(list->items[i].name, name)) return &list->items[i];
    return NULL;
}

static void stage_port(struct tn_genai *g, struct tn_genai_graph *graph, enum tn_genai_direction direction,
                       struct tn_json v, struct tn_genai_bindings *meanings)
{
    struct tn_str name;
    if (!tn_json_str(v, &name) || tn_genai_name_fault(g, name, false)) { /* has its finding */
        graph->doubtful = true;
        return;
    }
    struct tn_genai_binding binding = {NULL, direction, tn_builder_str(g->b, name), 0, v, NULL, false};
    struct tn_genai_binding *meaning = find_name(meanings, direction, name);
    if (find_name(&graph->bound, direction, name)) {
        tn_expected(tn_genai_refuse(g, v, "is in the list twice"), "each port once");
        return;
    }
    if (meaning) {
        binding.port = meaning->port;
        binding.layer = meaning->layer;
        meaning->taken = true;
    }
    binding.graph_port = port_of(graph->view, direction, name);
    if (graph->view && !binding.graph_port) {
        struct tn_finding *f = tn_genai_refuse(g, v, "names a port that the graph lacks");
        tn_expected(f, "%s of %.*s", direction == TN_GENAI_INPUT ? "an input" : "an output", TN_FMT_ARG(graph->path));
        graph->doubtful = true;
        return;
    }
    append(g, &graph->bound, &binding);
}

static void too_many(struct tn_genai *g, struct tn_json list)
{
    struct tn_finding *f = tn_blocker(g->b, TN_RESOURCE_LIMIT, "the stages of %.*s list too many ports",
                                      TN_FMT_ARG(list.doc->file));
    tn_at_json(f, list);
    tn_found(f, "%zu up to here", g->named);
    tn_expected(f, "at most %d", TN_GENAI_NAMED);
    g->hole = true;
}

static void bind_stage(struct tn_genai *g, struct tn_genai_graph *graph, struct tn_genai_bindings *meanings)
{
    for (int d = TN_GENAI_INPUT; d <= TN_GENAI_OUTPUT && g->b->failed == TN_OK; d++) {
        struct tn_json list = tn_json_get(graph->at, direction_keys[d]);
        g->named += tn_json_count(list);
        if (g->named > TN_GENAI_NAMED) {
            too_many(g, list);
            return;
        }
        for (struct tn_json v = tn_json_first(list); tn_json_present(v); v = tn_json_next(v))
            stage_port(g, graph, (enum tn_genai_direction)d, v, meanings);
    }
}

/* A name of the section that no stage has means a port that does not exist. */
static void check_meanings(struct tn_genai *g, const struct tn_genai_bindings *meanings)
{
    const char *told = NULL;
    for (size_t i = 0; i < meanings->count; i++) {
        const struct tn_genai_binding *x = &meanings->items[i];
        if (x->taken || x->port->key == told) continue;
        told = x->port->key;
        struct tn_finding *f = tn_genai_refuse(g, x->at, "names a port that no stage has");
        tn_found(f, "\"%.*s\"", TN_FMT_ARG(x->name));
        tn_expected(f, "a name in the lists of a stage");
        g->hole = true;
    }
}

static void bind_stages(struct tn_genai *g, const char *section)
{
    struct tn_genai_bindings meanings = {0};
    bool all = true, any = false, doubtful = false;
    bind_section(g, NULL, section, tn_json_get(g->model, section), &meanings, &doubtful);
    bool twice = tn_genai_named_twice(g, &meanings);
    doubtful = doubtful || twice;
    for (size_t i = 0; i < g->graph_count; i++) {
        struct tn_genai_graph *graph = &g->graphs[i];
        if (!graph->stage || strcmp(graph->section, section) != 0) continue;
        any = true;
        bind_stage(g, graph, &meanings);
        all = all && graph->view && !graph->doubtful;
        graph->doubtful = graph->doubtful || doubtful;
        graph->contested = twice;
    }
    if (any && all && g->b->failed == TN_OK) check_meanings(g, &meanings);
    tn_free(g->b->alloc, meanings.items);
}

/* ---- the other direction ----------------------------------------------------------------------------------------- */

/* Whether the pattern gives this name for some number. */
static bool pattern_gives(struct tn_str pattern, struct tn_str name)
{
    const char *at = tn_genai_pattern(pattern) ? memchr(pattern.s, '%', pattern.n) : NULL;
    if (!at || name.n < pattern.n - 1) return false;
    size_t before = (size_t)(at - pattern.s), after = pattern.n - before - 2, digits = name.n - before - after;
    if (memcmp(name.s, pattern.s, before) != 0 || memcmp(name.s + name.n - after, at + 2, after) != 0) return false;
    for (size_t i = 0; i < digits; i++)
        if (name.s[before + i] < '0' || name.s[before + i] > '9') return false;
    return true;
}

/* Whether a key that was dropped or is unknown names the port; it has its finding, or the caller accepted the loss. */
static bool named_otherwise(const struct tn_genai *g, const char *section, struct tn_str name)
{
    struct tn_json inputs = tn_json_get(tn_json_get(g->model, section), "inputs");
    for (struct tn_json v = tn_json_first(inputs); tn_json_present(v); v = tn_json_next(v)) {
        struct tn_str path[] = {TN_STR("model"), tn_str_of(section), TN_STR("inputs"), tn_json_key(v)}, text;
        const struct tn_genai_key *key = tn_genai_key_of(path, 4);
        if ((key && key->class == TN_GENAI_USED) || !tn_json_str(v, &text)) continue;
        if (tn_str_eq(text, name) || pattern_gives(text, name)) return true;
    }
    return false;
}

static void unnamed(struct tn_genai *g, const struct tn_genai_graph *graph, const struct tn_onnx_port *port)
{
    char text[160];
    struct tn_finding *f = tn_blocker(g->b, TN_AMBIGUOUS_ROLE, "nothing says what goes into an input of the graph");
    tn_at_json_member(f, graph->at, "inputs");
    tn_found(f, "input \"%.*s\", %s, of %.*s", TN_FMT_ARG(port->name), tn_onnx_port_text(port, text, sizeof(text)),
             TN_FMT_ARG(graph->path));
    tn_expected(f, "a key that names it");
    tn_remedy(f, "name the port under \"inputs\"");
}

static void check_inputs(struct tn_genai *g, struct tn_genai_graph *graph)
{
    const struct tn_onnx_view *view = graph->view;
    uint32_t told = 0, more = 0;
    bool *named = tn_calloc(g->b->alloc, view->input_count, sizeof(*named));
    if (!named) {
        tn_builder_no_memory(g->b);
        return;
    }
    for (size_t i = 0; i < graph->bound.count; i++) {
        const struct tn_genai_binding *x = &graph->bound.items[i];
        if (x->direction == TN_GENAI_INPUT && x->graph_port) named[x->graph_port - view->inputs] = true;
    }
    for (uint32_t i = 0; i < view->input_count; i++) {
        const struct tn_onnx_port *port = &view->inputs[i];
        if (named[i] || port->initialised) continue;
        g->hole = true;
        if (graph->doubtful || (told < SHOWN && named_otherwise(g, graph->section, port->name))) continue;
        if (told < SHOWN) unnamed(g, graph, port);
        else more++;
        told++;
    }
    if (more) tn_at_json(tn_note(g->b, TN_AMBIGUOUS_ROLE, "%u more inputs of that graph have no meaning", more), graph->at);
    tn_free(g->b->alloc, named);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static struct tn_json first_pattern(const struct tn_genai *g)
{
    struct tn_json decoder = tn_json_get(g->model, "decoder");
    for (size_t i = 0; i < tn_genai_port_count(); i++) {
        const struct tn_genai_port *p = tn_genai_port_at(i);
        struct tn_json v = tn_json_get(tn_json_get(decoder, direction_keys[p->direction]), p->key);
        if (p->per_layer && strcmp(p->section, "decoder") == 0 && tn_json_present(v)) return v;
    }
    return (struct tn_json){NULL, 0};
}

static void need_layer_count(struct tn_genai *g)
{
    struct tn_json decoder = tn_json_get(g->model, "decoder"), pattern = first_pattern(g);
    if (g->layers.present || !tn_json_present(pattern)) return;
    g->hole = true;
    if (tn_json_present(tn_json_get(decoder, "num_hidden_layers"))) return; /* has its finding */
    struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "num_hidden_layers is missing in %.*s",
                                      TN_FMT_ARG(g->root.doc->file));
    tn_at_json_member(f, decoder, "num_hidden_layers");
    tn_found(f, "nothing, but names per layer: %.*s", TN_FMT_ARG(tn_json_text(pattern)));
    tn_expected(f, "the number of layers");
}

/* Where state per layer is named, every layer keeps some. */
static void check_every_layer(struct tn_genai *g)
{
    unsigned char keeps[TN_GENAI_LAYERS] = {0};
    bool any = false, all = true;
    for (size_t i = 0; i < g->graph_count; i++) {
        const struct tn_genai_graph *graph = &g->graphs[i];
        if (strcmp(graph->section, "decoder") != 0) continue;
        all = all && graph->view;
        for (size_t k = 0; k < graph->bound.count; k++) {
            const struct tn_genai_binding *x = &graph->bound.items[k];
            if (!x->port || !x->port->per_layer || x->port->family == TN_GENAI_PLAIN) continue;
            if (x->port->family == TN_GENAI_CROSS) continue;
            any = true;
            keeps[x->layer] = 1;
        }
    }
    struct tn_json pattern = first_pattern(g);
    for (uint32_t layer = 0; any && all && !g->hole && layer < g->layers.value; layer++) {
        if (keeps[layer]) continue;
        g->hole = true;
        struct tn_finding *f = tn_blocker(g->b, TN_METADATA_INVALID, "a layer keeps no state in the graph");
        tn_at_json(f, tn_json_present(pattern) ? pattern : g->layers.at);
        tn_found(f, "no state port of layer %u", layer);
        tn_expected(f, "state of each of num_hidden_layers %llu", (unsigned long long)g->layers.value);
    }
}

void tn_genai_bind(struct tn_genai *g)
{
    need_layer_count(g);
    for (size_t i = 0; i < g->graph_count && g->b->failed == TN_OK; i++) {
        struct tn_genai_graph *graph = &g->graphs[i];
        bool first = i == 0 || strcmp(g->graphs[i - 1].section, graph->section) != 0;
        if (graph->stage && first) bind_stages(g, graph->section);
        if (graph->stage) continue;
        bind_section(g, graph, graph->section, graph->at, &graph->bound, &graph->doubtful);
        graph->contested = tn_genai_named_twice(g, &graph->bound);
        graph->doubtful = graph->doubtful || graph->contested;
    }
    for (size_t i = 0; i < g->graph_count && g->b->failed == TN_OK; i++)
        if (g->graphs[i].view) check_inputs(g, &g->graphs[i]);
    if (g->b->failed == TN_OK) check_every_layer(g);
}
