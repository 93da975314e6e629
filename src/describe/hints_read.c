/*
 * execution_hints.json into hints. What may be wrong with it is for hints_check.c, which comes first; a document with a
 * problem gives no hints at all.
 */
#include "describe/hints.h"

#include <string.h>

struct reader {
    enum tn_hint_origin origin;
    struct tn_arena *arena;
    struct tn_hint_list *list;
    bool no_memory;
};

/* Absent and null are the same. */
static struct tn_json member(struct tn_json object, const char *name)
{
    struct tn_json v = tn_json_get(object, name);
    return tn_json_is(v, TN_JSON_NULL) ? (struct tn_json){0} : v;
}

static struct tn_str kept(struct reader *r, struct tn_str s)
{
    struct tn_str copy = tn_arena_str(r->arena, s);
    if (!copy.s) r->no_memory = true;
    return copy;
}

static struct tn_str text_of(struct reader *r, struct tn_json v)
{
    struct tn_str s;
    return tn_json_str(v, &s) ? kept(r, s) : (struct tn_str){NULL, 0};
}

/* ---- selectors ---------------------------------------------------------------------------------------------------- */

static struct tn_str *read_list(struct reader *r, struct tn_json v, size_t *count)
{
    struct tn_str *list = tn_arena_array(r->arena, tn_json_count(v), sizeof(*list));
    *count = 0;
    if (!list) r->no_memory = true;
    for (struct tn_json e = tn_json_first(v); list && tn_json_present(e); e = tn_json_next(e)) list[(*count)++] = text_of(r, e);
    return list;
}

static void read_selector(struct reader *r, struct tn_json v, struct tn_hint_selector *s)
{
    struct tn_json names = member(v, "names"), types = member(v, "op_types"), range = member(v, "layer_range");
    struct tn_json pattern = member(v, "pattern");
    if (tn_json_present(names)) {
        s->has_names = true;
        s->names = read_list(r, names, &s->name_count);
    }
    if (tn_json_present(types)) {
        s->has_op_types = true;
        s->op_types = read_list(r, types, &s->op_type_count);
    }
    if (tn_json_present(pattern)) s->pattern = text_of(r, pattern);
    if (tn_json_present(range)) {
        s->has_layers = tn_json_u64(tn_json_get(range, "start"), &s->first_layer) &&
                        tn_json_u64(tn_json_get(range, "end"), &s->last_layer);
    }
}

/* ---- one hint ----------------------------------------------------------------------------------------------------- */

static struct tn_hint begin(struct reader *r, struct tn_json v, enum tn_hint_kind kind)
{
    char pointer[256];
    struct tn_str reason = text_of(r, member(v, "reason"));
    struct tn_hint h = {
        .kind = kind,
        .origin = r->origin,
        .file = kept(r, v.doc->file),
        .pointer = kept(r, tn_json_pointer(v, pointer, sizeof(pointer))),
        .reason = reason.s ? reason : TN_STR(""),
        .text = TN_STR(""),
    };
    read_selector(r, member(v, "selector"), &h.selector);
    return h;
}

static void read_device(struct tn_json v, struct tn_hint *h)
{
    struct tn_str type;
    struct tn_json index = member(v, "index");
    if (!tn_json_present(v) || !tn_json_str(member(v, "type"), &type)) return;
    h->has_device = tn_hint_device_parse(type, &h->device);
    h->device.has_index = h->has_device && tn_json_u64(index, &h->device.index);
}

static void add(struct reader *r, const struct tn_hint *h)
{
    if (!r->no_memory && !tn_hint_list_add(r->list, r->arena, h)) r->no_memory = true;
}

static void read_placement(struct reader *r, struct tn_json v)
{
    struct tn_hint h = begin(r, v, TN_HINT_PLACE);
    struct tn_str strength;
    read_device(member(v, "device"), &h);
    h.force = tn_json_str(member(v, "strength"), &strength) && tn_str_is(strength, "force");
    if (h.has_device) add(r, &h);
}

/* The kind that an action names; the table of the standard has refused all others. */
static bool kind_of(struct tn_json v, enum tn_hint_kind *kind)
{
    struct tn_str action;
    if (!tn_json_str(member(v, "action"), &action)) return false;
    for (int k = TN_HINT_PIN; k <= TN_HINT_CHUNK_SIZE; k++) {
        if (!tn_str_is(action, tn_hint_kind_name((enum tn_hint_kind)k))) continue;
        *kind = (enum tn_hint_kind)k;
        return true;
    }
    return false;
}

static void read_action(struct reader *r, struct tn_json v)
{
    enum tn_hint_kind kind;
    if (!kind_of(v, &kind)) return;
    struct tn_hint h = begin(r, v, kind);
    if (kind == TN_HINT_ARENA_SIZE) {
        read_device(member(v, "device"), &h);
        h.has_number = tn_json_u64(member(v, "bytes"), &h.number);
        h.selector = (struct tn_hint_selector){0};
    }
    if (kind == TN_HINT_CHUNK_SIZE || kind == TN_HINT_OVERLAP) {
        h.has_number = tn_json_u64(member(v, "chunk_size"), &h.number);
    }
    add(r, &h);
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

static void read_all(struct reader *r, struct tn_json root)
{
    struct tn_json v;
    for (v = tn_json_first(member(root, "placement")); tn_json_present(v); v = tn_json_next(v)) read_placement(r, v);
    for (v = tn_json_first(member(root, "memory")); tn_json_present(v); v = tn_json_next(v)) read_action(r, v);
    for (v = tn_json_first(member(root, "scheduling")); tn_json_present(v); v = tn_json_next(v)) read_action(r, v);
}

enum tn_status tn_hints_read(struct tn_json hints, enum tn_hint_origin origin, struct tn_arena *arena,
                             struct tn_findings *findings, struct tn_hint_list *list, struct tn_error *err)
{
    struct reader r = {.origin = origin, .arena = arena, .list = list};
    size_t count = list->count;
    enum tn_status st = tn_hints_check(hints, findings);
    r.no_memory = st == TN_INSUFFICIENT_MEMORY;
    if (st == TN_OK) read_all(&r, hints);
    if (r.no_memory) list->count = count;
    return r.no_memory ? tn_error_memory(err, TN_PHASE_DESCRIBE, "reading execution hints") : TN_OK;
}

enum tn_status tn_hints_parse(struct tn_str text, struct tn_str name, enum tn_hint_origin origin,
                              const struct tn_limits *limits, struct tn_arena *arena, struct tn_findings *findings,
                              struct tn_hint_list *list, struct tn_error *err)
{
    struct tn_json_doc doc = {0};
    struct tn_error *own = tn_calloc(arena->alloc, 1, sizeof(*own)); /* too large for the stack */
    if (!own) return tn_error_memory(err, TN_PHASE_DESCRIBE, "reading execution hints");
    enum tn_status st = tn_json_parse(&doc, arena->alloc, limits, name, text, own);
    if (st == TN_OK) {
        st = tn_hints_read(tn_json_root(&doc), origin, arena, findings, list, err);
        tn_json_release(&doc);
    } else if (st == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_DESCRIBE, "reading execution hints");
    } else {
        struct tn_finding *f = tn_findings_add(findings, TN_BLOCKER, st, TN_PHASE_DESCRIBE, "%s", own->primary.message);
        if (f) {
            *f = own->primary;
            f->severity = TN_BLOCKER;
            if (origin == TN_HINT_FROM_CALLER) f->code = TN_INVALID_REQUEST; /* an argument, not an artifact */
        }
        st = TN_OK;
    }
    tn_free(arena->alloc, own);
    return st;
}
