/*
 * Fuzz target: execution hints. The input is a document of hints, or, behind a first byte of 1, properties of a model file
 * as lines KEY=VALUE and NODE<tab>KEY=VALUE. What is accepted is used: resolved against a small graph, written in both
 * forms, and read again from its own writing. A trap is a finding.
 */
#include "base/json_write.h"
#include "describe/hints.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) __builtin_trap();
}

#define NODE(name, alias, type, layer) {TN_STR(name), TN_STR(alias), TN_STR(type), (layer)}

static const struct tn_hint_node graph[] = {
    NODE("embeddings", "", "embed", TN_HINT_NO_LAYER),
    NODE("layer 0 attention", "", "attention", 0),
    NODE("layer 1 output", "", "linear", 1),
    NODE("encoder.layer.1.output.dense.weight", "layer.1.output.weight", "", 1),
    NODE("caf\xC3\xA9.\xFF", "", "", TN_HINT_NO_LAYER),
};
enum { NODES = sizeof(graph) / sizeof(graph[0]), PROPERTIES = 64 };

static const struct tn_hint_device devices[] = {{TN_DEVICE_CPU, true, 0}, {TN_DEVICE_GPU, true, 1}};

struct lab {
    struct tn_alloc alloc;
    struct tn_arena arena;
    struct tn_findings findings;
    struct tn_limits limits;
};

static void check_results(const struct tn_hint_results *results, size_t blockers)
{
    size_t refused = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct tn_hint_result *r = &results->items[i];
        require(r->lost <= r->selected && r->selected <= NODES);
        require((r->outcome == TN_HINT_IS_OVERRIDDEN) <= (r->by != NULL));
        require(i == 0 || results->items[i - 1].hint->origin <= r->hint->origin);
        refused += r->outcome == TN_HINT_IS_REFUSED || r->outcome == TN_HINT_IS_CONFLICT;
    }
    require((refused > 0) == (blockers > 0));
}

static void use(struct lab *l, const struct tn_hint_list *list, size_t count)
{
    struct tn_hint_node nodes[NODES];
    const struct tn_hint_list *lists[1] = {list};
    struct tn_hint_results results;
    struct tn_hint_world world = {nodes, NODES, devices, 1 + count % 2, NULL};
    struct tn_buf text;
    struct tn_json_writer w;
    memcpy(nodes, graph, sizeof(nodes));
    size_t before = l->findings.blockers;
    require(tn_hints_resolve(lists, 1, &world, TN_PHASE_ASSESS, &l->arena, &l->findings, &results, NULL) == TN_OK);
    require(results.count == list->count);
    check_results(&results, l->findings.blockers - before);
    (void)tn_hints_device(lists, 1, devices, 2);
    tn_buf_init(&text, &l->alloc, 16 << 20);
    tn_jw_init(&w, &text, false);
    tn_jw_begin_array(&w);
    tn_hint_results_write(&w, &results);
    tn_hint_list_write(&w, list);
    tn_jw_end_array(&w);
    require(tn_buf_status(&text) == TN_OK);
    tn_buf_release(&text);
}

/* What was read, written in its own form, reads as the same hints. */
static void write_and_read(struct lab *l, const struct tn_hint_list *list)
{
    struct tn_buf text;
    struct tn_json_writer w;
    struct tn_hint_list again = {0};
    size_t before = l->findings.blockers;
    tn_buf_init(&text, &l->alloc, 64 << 20);
    tn_jw_init(&w, &text, false);
    tn_hints_write(&w, list, TN_HINT_FROM_USER);
    require(tn_buf_status(&text) == TN_OK);
    require(tn_hints_parse(tn_buf_str(&text), TN_STR("again"), TN_HINT_FROM_USER, &l->limits, &l->arena, &l->findings, &again,
                           NULL) == TN_OK);
    require(l->findings.blockers == before && again.count == list->count);
    for (size_t i = 0; i < again.count; i++) {
        const struct tn_hint *a = &list->items[i], *b = &again.items[i];
        require(a->kind == b->kind && a->force == b->force && a->number == b->number && a->has_device == b->has_device);
        for (size_t n = 0; n < NODES; n++) require(tn_hint_selects(&a->selector, &graph[n]) == tn_hint_selects(&b->selector, &graph[n]));
    }
    tn_buf_release(&text);
}

static void read_document(struct lab *l, struct tn_str text)
{
    struct tn_hint_list list = {0};
    require(tn_hints_parse(text, TN_STR("fuzz"), TN_HINT_FROM_USER, &l->limits, &l->arena, &l->findings, &list, NULL) == TN_OK);
    require(l->findings.blockers == 0 || list.count == 0);
    if (l->findings.blockers > 0) return;
    use(l, &list, text.n);
    write_and_read(l, &list);
}

static struct tn_str until(struct tn_str *rest, char end)
{
    const char *at = rest->n ? memchr(rest->s, end, rest->n) : NULL;
    struct tn_str part = {rest->s, at ? (size_t)(at - rest->s) : rest->n};
    size_t used = at ? part.n + 1 : part.n;
    *rest = (struct tn_str){rest->s + used, rest->n - used};
    return part;
}

static void read_properties(struct lab *l, struct tn_str text)
{
    struct tn_hint_property p[PROPERTIES];
    struct tn_hint_list list = {0};
    struct tn_hint_layers layers = {0};
    struct tn_hint_node nodes[NODES];
    size_t count = 0;
    while (text.n && count < PROPERTIES) {
        struct tn_str line = until(&text, '\n'), node = {NULL, 0};
        if (line.n && memchr(line.s, '\t', line.n)) node = until(&line, '\t');
        struct tn_str key = until(&line, '=');
        p[count++] = (struct tn_hint_property){key, line, node};
    }
    require(tn_hints_of_properties(p, count, TN_STR("model.onnx"), &l->arena, &l->findings, &list, &layers, NULL) == TN_OK);
    memcpy(nodes, graph, sizeof(nodes));
    tn_hint_layers_apply(&layers, nodes, NODES);
    for (size_t i = 0; i < NODES; i++) require(nodes[i].layer >= graph[i].layer && nodes[i].layer <= (int64_t)UINT32_MAX);
    use(l, &list, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab l;
    tn_alloc_init(&l.alloc);
    tn_arena_init(&l.arena, &l.alloc);
    tn_findings_init(&l.findings, &l.alloc, 100);
    l.limits = tn_limits_default();
    if (size > 0 && data[0] == 1) {
        read_properties(&l, (struct tn_str){(const char *)data + 1, size - 1});
    } else {
        read_document(&l, (struct tn_str){(const char *)data, size});
    }
    tn_findings_release(&l.findings);
    tn_arena_release(&l.arena);
    require(tn_alloc_current(&l.alloc) == 0);
    return 0;
}
