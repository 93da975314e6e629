/*
 * Properties `onnx_runtime.*` of an ONNX file as hints, by the convention's published table: a node's properties are about
 * that node, those of the model about everything. Values are texts from strangers. What describes the model without wishing
 * for anything (its architecture's name, how many layers it has) is known and passed by.
 */
#include "describe/hints.h"

#include "base/nearest.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

#define SPACE "onnx_runtime."

enum property {
    P_DEVICE,
    P_STRENGTH,
    P_PIN,
    P_PRIORITY,
    P_CUDA_GRAPH,
    P_OVERLAP,
    P_GROUP,
    P_LAYER,
    P_OFFLOADABLE,
    P_KERNEL,
    P_LAYER_COUNT,
    P_LAYER_PATTERN,
    P_ARCHITECTURE,
    P_ARENA_GPU,
    P_ARENA_CPU,
    P_PREFETCH,
    P_VERSION,
    PROPERTIES
};

static const struct {
    const char *key;      /* behind the name space */
    bool of_node;         /* else of the model or graph */
    const char *expected; /* of its value */
} table[PROPERTIES] = {
    [P_DEVICE] = {"device", true, "cpu, gpu or npu, with :INDEX where one is meant"},
    [P_STRENGTH] = {"device.strength", true, "prefer or force"},
    [P_PIN] = {"memory.pin", true, "true or false"},
    [P_PRIORITY] = {"memory.priority", true, "high, normal or low"},
    [P_CUDA_GRAPH] = {"scheduling.cuda_graph", true, "true or false"},
    [P_OVERLAP] = {"scheduling.overlap", true, "true or false"},
    [P_GROUP] = {"group", true, "a name"},
    [P_LAYER] = {"layer", true, "a number from 0 on"},
    [P_OFFLOADABLE] = {"offloadable", true, "true or false"},
    [P_KERNEL] = {"kernel", true, "a name"},
    [P_LAYER_COUNT] = {"model.num_layers", false, "a number from 0 on"},
    [P_LAYER_PATTERN] = {"model.layer_pattern", false, "a name with {} where the layer's number stands"},
    [P_ARCHITECTURE] = {"model.architecture", false, "a name"},
    [P_ARENA_GPU] = {"memory.arena_gpu_mb", false, "a number from 0 on"},
    [P_ARENA_CPU] = {"memory.arena_cpu_mb", false, "a number from 0 on"},
    [P_PREFETCH] = {"memory.prefetch", false, "names of tensors, separated by commas"},
    [P_VERSION] = {"version", false, "1"},
};

struct reader {
    struct tn_str file;
    struct tn_arena *arena;
    struct tn_findings *findings;
    struct tn_hint_list *list;
    struct tn_hint_layers *layers;
    const struct tn_hint_property *all;
    size_t count;
    size_t full_at; /* list->count at which no more are taken */
    bool told_full, no_memory;
};

/* ---- findings ----------------------------------------------------------------------------------------------------- */

static void at_property(struct reader *r, struct tn_finding *f, const struct tn_hint_property *p)
{
    char text[256];
    bool node = p->node.s != NULL;
    int n = snprintf(text, sizeof(text), "%.*s%s%.*s", node ? (int)(p->node.n < 120 ? p->node.n : 120) : 0,
                     node ? p->node.s : "", node ? ": " : "", (int)(p->key.n < 120 ? p->key.n : 120), p->key.s);
    if (!f) return;
    tn_at_file(f, r->file);
    tn_at_element(f, node ? TN_ELEMENT_OPERATOR : TN_ELEMENT_OPTION, (struct tn_str){text, n > 0 ? (size_t)n : 0});
}

static struct tn_finding *complain(struct reader *r, const struct tn_hint_property *p, enum tn_severity severity,
                                   const char *message)
{
    struct tn_finding *f = tn_findings_add(r->findings, severity, TN_METADATA_INVALID, TN_PHASE_DESCRIBE, "%s", message);
    at_property(r, f, p);
    tn_found(f, "%.*s", TN_FMT_ARG(p->value));
    return f;
}

static void unreadable(struct reader *r, const struct tn_hint_property *p, enum property id)
{
    tn_expected(complain(r, p, TN_WARNING, "the value of a hint cannot be read; the hint is left out"), "%s",
                table[id].expected);
}

static void unknown(struct reader *r, const struct tn_hint_property *p)
{
    struct tn_nearest nearest = {0};
    struct tn_finding *f = complain(r, p, TN_WARNING, "no hint of this name is known; it is left out");
    struct tn_str rest = {p->key.s + sizeof(SPACE) - 1, p->key.n - (sizeof(SPACE) - 1)};
    for (int i = 0; i < PROPERTIES; i++) {
        if (table[i].of_node == (p->node.s != NULL)) tn_nearest_offer(&nearest, rest, table[i].key);
    }
    if (nearest.name) tn_expected(f, "perhaps %s%s", SPACE, nearest.name);
}

/* ---- hints -------------------------------------------------------------------------------------------------------- */

static struct tn_str kept(struct reader *r, struct tn_str s)
{
    struct tn_str copy = tn_arena_str(r->arena, s);
    if (!copy.s) r->no_memory = true;
    return copy;
}

static void select_name(struct reader *r, struct tn_hint *h, struct tn_str name)
{
    struct tn_str *names = tn_arena_array(r->arena, 1, sizeof(*names));
    if (!names) {
        r->no_memory = true;
        return;
    }
    names[0] = kept(r, name);
    h->selector = (struct tn_hint_selector){.names = names, .name_count = 1, .has_names = true};
}

static void add(struct reader *r, const struct tn_hint_property *p, struct tn_hint h)
{
    if (r->no_memory) return;
    if (r->list->count >= r->full_at) {
        if (r->told_full) return;
        r->told_full = true;
        struct tn_finding *f = tn_findings_add(r->findings, TN_WARNING, TN_RESOURCE_LIMIT, TN_PHASE_DESCRIBE,
                                               "the file carries more hints than are taken; the rest is left out");
        at_property(r, f, p);
        tn_expected(f, "at most %d", TN_HINT_PROPERTIES_MOST);
        return;
    }
    h.origin = TN_HINT_FROM_MODEL;
    h.file = kept(r, r->file);
    h.pointer = kept(r, p->key);
    h.text = h.text.s ? kept(r, h.text) : TN_STR("");
    h.reason = TN_STR("");
    if (p->node.s) select_name(r, &h, p->node);
    if (!r->no_memory && !tn_hint_list_add(r->list, r->arena, &h)) r->no_memory = true;
}

static bool read_number(struct tn_str s, uint64_t most, uint64_t *out)
{
    uint64_t v = 0;
    if (s.n == 0 || s.n > 18) return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] < '0' || s.s[i] > '9') return false;
        v = v * 10 + (uint64_t)(s.s[i] - '0');
    }
    *out = v;
    return v <= most;
}

enum { NEAR = 64 }; /* properties of one node that are looked through for the strength of its device */

/* The strength that stands beside a node's device. */
static bool is_forced(const struct reader *r, size_t at)
{
    struct tn_str node = r->all[at].node;
    for (int step = -1; step <= 1; step += 2) {
        size_t i = at;
        for (int left = NEAR; left > 0; left--) {
            i += (size_t)step;
            if (i >= r->count) break; /* also below 0 */
            const struct tn_hint_property *p = &r->all[i];
            if (!p->node.s || !tn_str_eq(p->node, node)) break;
            if (tn_str_is(p->key, SPACE "device.strength")) return tn_str_is(p->value, "force");
        }
    }
    return false;
}

static void read_device(struct reader *r, size_t at)
{
    const struct tn_hint_property *p = &r->all[at];
    struct tn_hint h = {.kind = TN_HINT_PLACE, .has_device = true, .force = is_forced(r, at)};
    if (tn_hint_device_parse(p->value, &h.device)) {
        add(r, p, h);
    } else if (h.force) {
        tn_expected(complain(r, p, TN_BLOCKER, "a device is forced that cannot be read"), "%s", table[P_DEVICE].expected);
    } else {
        unreadable(r, p, P_DEVICE);
    }
}

/* "true" wishes for `yes`, "false" for `no`; TN_HINT_KINDS: for nothing. */
static void read_flag(struct reader *r, const struct tn_hint_property *p, enum property id, enum tn_hint_kind yes,
                      enum tn_hint_kind no)
{
    bool on = tn_str_is(p->value, "true");
    if (!on && !tn_str_is(p->value, "false")) {
        unreadable(r, p, id);
        return;
    }
    enum tn_hint_kind kind = on ? yes : no;
    if (kind < TN_HINT_KINDS) add(r, p, (struct tn_hint){.kind = kind});
}

static void read_priority(struct reader *r, const struct tn_hint_property *p)
{
    if (tn_str_is(p->value, "high")) add(r, p, (struct tn_hint){.kind = TN_HINT_PIN});
    else if (tn_str_is(p->value, "low")) add(r, p, (struct tn_hint){.kind = TN_HINT_LOW_PRIORITY});
    else if (!tn_str_is(p->value, "normal")) unreadable(r, p, P_PRIORITY);
}

static void read_arena(struct reader *r, const struct tn_hint_property *p, enum property id)
{
    uint64_t megabytes;
    struct tn_hint h = {.kind = TN_HINT_ARENA_SIZE, .has_device = true, .has_number = true};
    h.device.type = id == P_ARENA_GPU ? TN_DEVICE_GPU : TN_DEVICE_CPU;
    if (!read_number(p->value, UINT64_MAX >> 20, &megabytes)) {
        unreadable(r, p, id);
        return;
    }
    h.number = megabytes << 20;
    add(r, p, h);
}

static void read_prefetch(struct reader *r, const struct tn_hint_property *p)
{
    size_t count = 1;
    struct tn_hint h = {.kind = TN_HINT_PREFETCH};
    for (size_t i = 0; i < p->value.n; i++) count += p->value.s[i] == ',';
    if (count > TN_HINT_NAMES_MOST) {
        unreadable(r, p, P_PREFETCH);
        return;
    }
    h.selector.has_names = true;
    h.selector.names = tn_arena_array(r->arena, count, sizeof(*h.selector.names));
    if (!h.selector.names) {
        r->no_memory = true;
        return;
    }
    for (size_t at = 0; at <= p->value.n; at++) {
        size_t end = at;
        while (end < p->value.n && p->value.s[end] != ',') end++;
        struct tn_str name = {p->value.s + at, end - at};
        while (name.n && name.s[0] == ' ') name = (struct tn_str){name.s + 1, name.n - 1};
        while (name.n && name.s[name.n - 1] == ' ') name.n--;
        if (name.n) h.selector.names[h.selector.name_count++] = kept(r, name);
        at = end;
    }
    add(r, p, h);
}

static void read_layer(struct reader *r, const struct tn_hint_property *p)
{
    struct tn_hint_layers *l = r->layers;
    uint64_t layer;
    if (!read_number(p->value, UINT32_MAX, &layer)) {
        unreadable(r, p, P_LAYER);
        return;
    }
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        struct tn_hint_node_layer *nodes = tn_arena_array(r->arena, cap, sizeof(*nodes));
        if (!nodes) {
            r->no_memory = true;
            return;
        }
        if (l->count) memcpy(nodes, l->nodes, l->count * sizeof(*nodes));
        l->nodes = nodes;
        l->cap = cap;
    }
    l->nodes[l->count++] = (struct tn_hint_node_layer){kept(r, p->node), layer};
}

static void read_pattern(struct reader *r, const struct tn_hint_property *p)
{
    for (size_t i = 0; i + 1 < p->value.n && p->value.n <= TN_HINT_PATTERN_BYTES; i++) {
        if (p->value.s[i] != '{' || p->value.s[i + 1] != '}') continue;
        r->layers->pattern = kept(r, p->value);
        return;
    }
    unreadable(r, p, P_LAYER_PATTERN);
}

static void read_one(struct reader *r, size_t at, enum property id)
{
    const struct tn_hint_property *p = &r->all[at];
    uint64_t number;
    switch (id) {
    case P_DEVICE: read_device(r, at); break;
    case P_STRENGTH:
        if (!tn_str_is(p->value, "prefer") && !tn_str_is(p->value, "force")) unreadable(r, p, id);
        break;
    case P_PIN: read_flag(r, p, id, TN_HINT_PIN, TN_HINT_KINDS); break;
    case P_PRIORITY: read_priority(r, p); break;
    case P_CUDA_GRAPH: read_flag(r, p, id, TN_HINT_CUDA_GRAPH_REGION, TN_HINT_NO_CUDA_GRAPH); break;
    case P_OVERLAP: read_flag(r, p, id, TN_HINT_OVERLAP, TN_HINT_KINDS); break;
    case P_OFFLOADABLE: read_flag(r, p, id, TN_HINT_OFFLOADABLE, TN_HINT_KINDS); break;
    case P_GROUP: add(r, p, (struct tn_hint){.kind = TN_HINT_GROUP, .text = p->value}); break;
    case P_KERNEL: add(r, p, (struct tn_hint){.kind = TN_HINT_KERNEL, .text = p->value}); break;
    case P_LAYER: read_layer(r, p); break;
    case P_LAYER_COUNT:
        if (!read_number(p->value, UINT32_MAX, &number)) unreadable(r, p, id);
        break;
    case P_LAYER_PATTERN: read_pattern(r, p); break;
    case P_ARENA_GPU:
    case P_ARENA_CPU: read_arena(r, p, id); break;
    case P_PREFETCH: read_prefetch(r, p); break;
    case P_ARCHITECTURE:
    case P_VERSION:
    case PROPERTIES: break;
    }
}

static void read_property(struct reader *r, size_t at)
{
    const struct tn_hint_property *p = &r->all[at];
    if (!tn_str_starts(p->key, SPACE)) return;
    struct tn_str rest = {p->key.s + sizeof(SPACE) - 1, p->key.n - (sizeof(SPACE) - 1)};
    for (int i = 0; i < PROPERTIES; i++) {
        if (!tn_str_is(rest, table[i].key) || table[i].of_node != (p->node.s != NULL)) continue;
        read_one(r, at, (enum property)i);
        return;
    }
    unknown(r, p);
}

/* Another version of the convention may mean something else by the same names: then nothing is read. */
static bool version_is_known(struct reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct tn_hint_property *p = &r->all[i];
        if (p->node.s || !tn_str_is(p->key, SPACE "version") || tn_str_is(p->value, "1")) continue;
        tn_expected(complain(r, p, TN_WARNING, "the file's hints are of another version; all of them are left out"), "1");
        return false;
    }
    return true;
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct tn_hint_node_layer *x = a, *y = b;
    int order = tn_str_order(x->node, y->node);
    (void)context;
    return order ? order : x->layer < y->layer ? -1 : x->layer > y->layer;
}

enum tn_status tn_hints_of_properties(const struct tn_hint_property *properties, size_t count, struct tn_str file,
                                      struct tn_arena *arena, struct tn_findings *findings, struct tn_hint_list *list,
                                      struct tn_hint_layers *layers, struct tn_error *err)
{
    struct reader r = {.file = file, .arena = arena, .findings = findings, .list = list, .layers = layers,
                       .all = properties, .count = count, .full_at = list->count + TN_HINT_PROPERTIES_MOST};
    if (version_is_known(&r)) {
        for (size_t i = 0; i < count && !r.no_memory; i++) read_property(&r, i);
    }
    if (r.no_memory) return tn_error_memory(err, TN_PHASE_DESCRIBE, "reading the hints of a model file");
    tn_sort(layers->nodes, layers->count, sizeof(*layers->nodes), by_name, NULL);
    return TN_OK;
}
