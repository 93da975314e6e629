/* Names of hints, their devices, and lists of them. What hints mean to one another is in hints_resolve.c. */
#include "describe/hints.h"

#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

const char *tn_hint_origin_name(enum tn_hint_origin origin)
{
    static const char *const names[TN_HINT_ORIGINS] = {
#define X(name, text, people) text,
        TN_HINT_ORIGIN_LIST(X)
#undef X
    };
    return (unsigned)origin < TN_HINT_ORIGINS ? names[origin] : "unknown";
}

const char *tn_hint_origin_for_people(enum tn_hint_origin origin)
{
    static const char *const names[TN_HINT_ORIGINS] = {
#define X(name, text, people) people,
        TN_HINT_ORIGIN_LIST(X)
#undef X
    };
    return (unsigned)origin < TN_HINT_ORIGINS ? names[origin] : "unknown";
}

const char *tn_hint_kind_name(enum tn_hint_kind kind)
{
    static const char *const names[TN_HINT_KINDS] = {
#define X(name, text, topic) text,
        TN_HINT_KIND_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_HINT_KINDS ? names[kind] : "unknown";
}

enum tn_hint_topic tn_hint_topic_of(enum tn_hint_kind kind)
{
    static const enum tn_hint_topic topics[TN_HINT_KINDS] = {
#define X(name, text, topic) TN_HINT_ON_##topic,
        TN_HINT_KIND_LIST(X)
#undef X
    };
    return (unsigned)kind < TN_HINT_KINDS ? topics[kind] : TN_HINT_TOPICS;
}

const char *tn_hint_outcome_name(enum tn_hint_outcome outcome)
{
    static const char *const names[TN_HINT_OUTCOMES] = {
#define X(name, text) text,
        TN_HINT_OUTCOME_LIST(X)
#undef X
    };
    return (unsigned)outcome < TN_HINT_OUTCOMES ? names[outcome] : "unknown";
}

/* ---- devices ------------------------------------------------------------------------------------------------------ */

static const char *const device_names[TN_DEVICE_TYPES] = {
#define X(name, text) text,
    TN_DEVICE_TYPE_LIST(X)
#undef X
};

const char *tn_hint_device_text(const struct tn_hint_device *device, char *buf, size_t cap)
{
    const char *type = (unsigned)device->type < TN_DEVICE_TYPES ? device_names[device->type] : "unknown";
    if (device->has_index) {
        snprintf(buf, cap, "%s:%llu", type, (unsigned long long)device->index);
    } else {
        snprintf(buf, cap, "%s", type);
    }
    return buf;
}

static bool parse_index(struct tn_str digits, uint64_t *out)
{
    uint64_t v = 0;
    if (digits.n == 0 || digits.n > 18) return false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.s[i] < '0' || digits.s[i] > '9') return false;
        v = v * 10 + (uint64_t)(digits.s[i] - '0');
    }
    *out = v;
    return true;
}

bool tn_hint_device_parse(struct tn_str text, struct tn_hint_device *out)
{
    const char *colon = text.n ? memchr(text.s, ':', text.n) : NULL;
    size_t n = colon ? (size_t)(colon - text.s) : text.n;
    struct tn_hint_device d = {.has_index = colon != NULL};
    if (colon && !parse_index((struct tn_str){colon + 1, text.n - n - 1}, &d.index)) return false;
    for (int i = 0; i < TN_DEVICE_TYPES; i++) {
        if (!tn_str_is((struct tn_str){text.s, n}, device_names[i])) continue;
        d.type = (enum tn_device_type)i;
        *out = d;
        return true;
    }
    return false;
}

const struct tn_hint_device tn_hint_cpu = {TN_DEVICE_CPU, true, 0};

bool tn_hint_device_among(const struct tn_hint_device *device, const struct tn_hint_device *devices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool type = device->type == TN_DEVICE_ANY || device->type == devices[i].type;
        if (type && (!device->has_index || device->index == devices[i].index)) return true;
    }
    return false;
}

/* ---- lists -------------------------------------------------------------------------------------------------------- */

struct tn_hint *tn_hint_list_add(struct tn_hint_list *list, struct tn_arena *arena, const struct tn_hint *hint)
{
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 8;
        struct tn_hint *items = tn_arena_array(arena, cap, sizeof(*items));
        if (!items) return NULL;
        if (list->count) memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count] = *hint;
    return &list->items[list->count++];
}

/* ---- documents ---------------------------------------------------------------------------------------------------- */

static void write_place(struct tn_json_writer *w, const struct tn_hint *h)
{
    tn_jw_member_cstr(w, "hint", tn_hint_kind_name(h->kind));
    tn_jw_member_cstr(w, "origin", tn_hint_origin_name(h->origin));
    tn_jw_member_cstr(w, "strength", h->force ? "force" : "prefer");
    tn_jw_member_str(w, "file", h->file);
    tn_jw_member_str(w, "pointer", h->pointer);
}

static void write_names(struct tn_json_writer *w, const char *key, const struct tn_str *names, size_t count)
{
    tn_jw_key(w, key);
    tn_jw_begin_array(w);
    for (size_t i = 0; i < count; i++) tn_jw_str(w, names[i]);
    tn_jw_end_array(w);
}

static void write_selector(struct tn_json_writer *w, const struct tn_hint_selector *s)
{
    tn_jw_key(w, "selector");
    tn_jw_begin_object(w);
    if (s->has_names) write_names(w, "names", s->names, s->name_count);
    if (s->pattern.s) tn_jw_member_str(w, "pattern", s->pattern);
    if (s->has_op_types) write_names(w, "op_types", s->op_types, s->op_type_count);
    if (s->has_layers) {
        tn_jw_key(w, "layer_range");
        tn_jw_begin_object(w);
        tn_jw_member_u64(w, "start", s->first_layer);
        tn_jw_member_u64(w, "end", s->last_layer);
        tn_jw_end_object(w);
    }
    tn_jw_end_object(w);
}

void tn_hint_list_write(struct tn_json_writer *w, const struct tn_hint_list *list)
{
    char device[32];
    tn_jw_begin_array(w);
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_hint *h = &list->items[i];
        tn_jw_begin_object(w);
        write_place(w, h);
        write_selector(w, &h->selector);
        if (h->has_device) tn_jw_member_cstr(w, "device", tn_hint_device_text(&h->device, device, sizeof(device)));
        if (h->has_number) tn_jw_member_u64(w, "number", h->number);
        if (h->text.n) tn_jw_member_str(w, "name", h->text);
        if (h->reason.n) tn_jw_member_str(w, "reason", h->reason);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

void tn_hint_results_write(struct tn_json_writer *w, const struct tn_hint_results *results)
{
    tn_jw_begin_array(w);
    for (size_t i = 0; i < results->count; i++) {
        const struct tn_hint_result *r = &results->items[i];
        tn_jw_begin_object(w);
        write_place(w, r->hint);
        tn_jw_member_cstr(w, "outcome", tn_hint_outcome_name(r->outcome));
        tn_jw_member_u64(w, "selected", r->selected);
        tn_jw_member_u64(w, "lost", r->lost);
        tn_jw_key(w, "by");
        if (r->by) {
            tn_jw_begin_object(w);
            write_place(w, r->by);
            tn_jw_end_object(w);
        } else {
            tn_jw_null(w);
        }
        tn_jw_member_cstr(w, "why", r->why);
        tn_jw_end_object(w);
    }
    tn_jw_end_array(w);
}

/* ---- the form of execution_hints.json ------------------------------------------------------------------------------ */

bool tn_hints_are_from(const struct tn_hint_list *list, enum tn_hint_origin origin)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].origin == origin) return true;
    }
    return false;
}

static bool says_something(const struct tn_hint_selector *s)
{
    return s->has_names || s->pattern.s || s->has_op_types || s->has_layers;
}

static void write_device(struct tn_json_writer *w, const struct tn_hint_device *device)
{
    tn_jw_key(w, "device");
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "type", device_names[device->type]);
    if (device->has_index) tn_jw_member_u64(w, "index", device->index);
    tn_jw_end_object(w);
}

static void write_hint(struct tn_json_writer *w, const struct tn_hint *h)
{
    tn_jw_begin_object(w);
    if (h->kind != TN_HINT_PLACE) tn_jw_member_cstr(w, "action", tn_hint_kind_name(h->kind));
    if (says_something(&h->selector)) write_selector(w, &h->selector);
    if (h->has_device) write_device(w, &h->device);
    if (h->kind == TN_HINT_PLACE) tn_jw_member_cstr(w, "strength", h->force ? "force" : "prefer");
    if (h->has_number) tn_jw_member_u64(w, h->kind == TN_HINT_ARENA_SIZE ? "bytes" : "chunk_size", h->number);
    if (h->reason.n) tn_jw_member_str(w, "reason", h->reason);
    tn_jw_end_object(w);
}

void tn_hints_write(struct tn_json_writer *w, const struct tn_hint_list *list, enum tn_hint_origin origin)
{
    static const struct {
        const char *name;
        enum tn_hint_kind first, last;
    } sections[] = {{"placement", TN_HINT_PLACE, TN_HINT_PLACE},
                    {"memory", TN_HINT_PIN, TN_HINT_PREFETCH},
                    {"scheduling", TN_HINT_OVERLAP, TN_HINT_CHUNK_SIZE}};
    tn_jw_begin_object(w);
    for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++) {
        bool begun = false;
        for (size_t i = 0; i < list->count; i++) {
            const struct tn_hint *h = &list->items[i];
            if (h->origin != origin || h->kind < sections[s].first || h->kind > sections[s].last) continue;
            if (!begun) {
                tn_jw_key(w, sections[s].name);
                tn_jw_begin_array(w);
                begun = true;
            }
            write_hint(w, h);
        }
        if (begun) tn_jw_end_array(w);
    }
    tn_jw_end_object(w);
}
