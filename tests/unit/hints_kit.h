/* What the tests of execution hints share: a small graph, what a provider answers, and hints of each origin before it. */
#ifndef TN_HINTS_KIT_H
#define TN_HINTS_KIT_H

#include "describe/hints.h"
#include "test.h"

#include "base/json_write.h"

#include <stdlib.h>

/* ---- a small world ---- */

#define NODE(name, alias, type, layer) {TN_STR(name), TN_STR(alias), TN_STR(type), (layer)}

static const struct tn_hint_node nodes[] = {
    NODE("embeddings", "", "embed", TN_HINT_NO_LAYER),
    NODE("layer 0 attention", "", "attention", 0),
    NODE("layer 0 output", "", "linear", 0),
    NODE("layer 1 attention", "", "attention", 1),
    NODE("layer 1 output", "", "linear", 1),
    NODE("encoder.layer.0.attention.self.query.weight", "layer.0.attention.query.weight", "", 0),
    NODE("encoder.layer.1.attention.self.query.weight", "layer.1.attention.query.weight", "", 1),
};
enum { NODES = sizeof(nodes) / sizeof(nodes[0]) };

static const struct tn_hint_device both[] = {{TN_DEVICE_CPU, true, 0}, {TN_DEVICE_GPU, true, 0}, {TN_DEVICE_GPU, true, 1}};
static const struct tn_hint_answer answers[TN_HINT_KINDS] = {
    [TN_HINT_PIN] = {true, "it stays"},
    [TN_HINT_CUDA_GRAPH_REGION] = {false, "no such thing"},
};

struct court {
    struct tn_alloc alloc;
    struct tn_limits limits;
    struct tn_arena arena;
    struct tn_findings findings;
    struct tn_hint_list lists[TN_HINT_ORIGINS];
    struct tn_hint_world world;
    struct tn_hint_results results;
    struct tn_error *err;
};

static inline void begin(struct court *c)
{
    memset(c, 0, sizeof(*c));
    tn_alloc_init(&c->alloc);
    c->limits = tn_limits_default();
    tn_arena_init(&c->arena, &c->alloc);
    tn_findings_init(&c->findings, &c->alloc, 1000);
    c->world = (struct tn_hint_world){nodes, NODES, both, 1, answers};
    c->err = calloc(1, sizeof(*c->err));
}

static inline void end(struct court *c)
{
    tn_findings_release(&c->findings);
    tn_arena_release(&c->arena);
    CHECK_INT(tn_alloc_current(&c->alloc), 0);
    free(c->err);
}

static inline enum tn_status give(struct court *c, enum tn_hint_origin origin, const char *text)
{
    static const char *const files[TN_HINT_ORIGINS] = {"hints", "my_hints.json", "tenon_package.json", "model.onnx"};
    return tn_hints_parse(tn_str_of(text), tn_str_of(files[origin]), origin, &c->limits, &c->arena, &c->findings,
                          &c->lists[origin], c->err);
}

static inline enum tn_status judge(struct court *c)
{
    const struct tn_hint_list *lists[TN_HINT_ORIGINS];
    for (int i = 0; i < TN_HINT_ORIGINS; i++) lists[i] = &c->lists[TN_HINT_ORIGINS - 1 - i]; /* any order will do */
    return tn_hints_resolve(lists, TN_HINT_ORIGINS, &c->world, TN_PHASE_ASSESS, &c->arena, &c->findings, &c->results, c->err);
}

static inline enum tn_hint_outcome outcome(const struct court *c, size_t i)
{
    return i < c->results.count ? c->results.items[i].outcome : TN_HINT_OUTCOMES;
}

static inline const struct tn_finding *with_code(const struct court *c, enum tn_severity severity, enum tn_status code)
{
    for (size_t i = 0; i < c->findings.count; i++) {
        if (c->findings.items[i].severity == severity && c->findings.items[i].code == code) return &c->findings.items[i];
    }
    return NULL;
}

#define PLACE(selector, device, strength)                                                          \
    "{\"selector\": " selector ", \"device\": " device ", \"strength\": \"" strength "\"}"
#define ON(type) "{\"type\": \"" type "\"}"
#define ALL "{\"pattern\": \"*\"}"
#define PROPERTY(key, value, node) {TN_STR(key), TN_STR(value), TN_STR(node)}
#define OF_MODEL(key, value) {TN_STR(key), TN_STR(value), {NULL, 0}}
#define PLACEMENT(list) "{\"placement\": [" list "]}"

#endif
