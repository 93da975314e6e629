/* Reading the generation contract and holding a request against it. Contract and request are both untrusted. */
#include "describe/generation.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum tn_generation_type type;
} known[] = {
#define X(name, type) {#name, TN_GENERATION_##type},
    TN_GENERATION_FIELD_LIST(X)
#undef X
};

static enum tn_generation_type type_of(struct tn_str name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (tn_str_is(name, known[i].name)) return known[i].type;
    }
    return TN_GENERATION_ANY;
}

/* ---- the contract --------------------------------------------------------------------------------------------------- */

struct reader {
    struct tn_arena *arena;
    struct tn_findings *findings;
    struct tn_generation *out;
    bool no_memory;
};

static struct tn_str kept(struct reader *r, struct tn_str s)
{
    struct tn_str copy = tn_arena_str(r->arena, s);
    if (!copy.s) r->no_memory = true;
    return copy;
}

static struct tn_str place_of(struct reader *r, struct tn_json v)
{
    char pointer[256];
    return kept(r, tn_json_pointer(v, pointer, sizeof(pointer)));
}

static struct tn_generation_field *find(const struct tn_generation *g, struct tn_str name)
{
    for (size_t i = 0; i < g->count; i++) {
        if (tn_str_eq(g->fields[i].name, name)) return &g->fields[i];
    }
    return NULL;
}

static struct tn_generation_field *field_named(struct reader *r, struct tn_json v)
{
    struct tn_generation *g = r->out;
    struct tn_str name = tn_json_key(v);
    struct tn_generation_field *field = find(g, name);
    if (field) return field;
    if (g->count == TN_GENERATION_FIELDS_MOST) {
        struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, TN_RESOURCE_LIMIT, TN_PHASE_DESCRIBE,
                                               "there are more generation fields than are taken");
        tn_at_json(f, v);
        tn_expected(f, "at most %d", TN_GENERATION_FIELDS_MOST);
        return NULL;
    }
    if (g->count == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 16;
        struct tn_generation_field *fields = tn_arena_array(r->arena, cap, sizeof(*fields));
        if (!fields) {
            r->no_memory = true;
            return NULL;
        }
        if (g->count) memcpy(fields, g->fields, g->count * sizeof(*fields));
        g->fields = fields;
        g->cap = cap;
    }
    field = &g->fields[g->count++];
    *field = (struct tn_generation_field){.name = kept(r, name), .type = type_of(name)};
    return field;
}

static void read_default(struct reader *r, struct tn_json v)
{
    struct tn_generation_field *field = tn_json_is(v, TN_JSON_NULL) ? NULL : field_named(r, v);
    if (!field) return;
    field->stated = (struct tn_statement){
        .origin = TN_CHOICE_PACKAGE,
        .value = kept(r, tn_json_text(v)),
        .file = kept(r, v.doc->file),
        .pointer = place_of(r, v),
    };
}

static bool inside(const struct tn_generation_field *field, double v)
{
    return (!field->has_minimum || v >= field->minimum) && (!field->has_maximum || v <= field->maximum);
}

static void check_bounds(struct reader *r, const struct tn_generation_field *field, struct tn_json constraint)
{
    double stated;
    if (field->has_minimum && field->has_maximum && field->minimum > field->maximum) {
        struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, TN_METADATA_INVALID, TN_PHASE_DESCRIBE,
                                               "the bounds of generation field %.*s exclude every value",
                                               TN_FMT_ARG(field->name));
        tn_at_json(f, constraint);
        tn_found(f, "minimum %s, maximum %s", TN_F64(field->minimum), TN_F64(field->maximum));
        tn_expected(f, "a minimum that is not above the maximum");
        return;
    }
    if (!field->stated.value.s || !tn_parse_f64(field->stated.value, &stated) || inside(field, stated)) return;
    struct tn_finding *f = tn_findings_add(r->findings, TN_WARNING, TN_METADATA_INVALID, TN_PHASE_DESCRIBE,
                                           "the default of generation field %.*s lies outside the bounds of its override",
                                           TN_FMT_ARG(field->name));
    tn_at_pointer(f, field->stated.file, field->stated.pointer);
    tn_found(f, "%.*s", TN_FMT_ARG(field->stated.value));
}

static void read_override(struct reader *r, struct tn_json v)
{
    struct tn_str input = {"", 0};
    struct tn_generation_field *field = tn_json_is(v, TN_JSON_OBJECT) ? field_named(r, v) : NULL;
    if (!field) return;
    struct tn_json constraint = tn_json_get(v, "constraint");
    tn_json_str(tn_json_get(v, "input"), &input);
    field->exposed = true;
    field->input = kept(r, input);
    field->file = kept(r, v.doc->file);
    field->pointer = place_of(r, v);
    field->has_minimum = tn_json_f64(tn_json_get(constraint, "minimum"), &field->minimum);
    field->has_maximum = tn_json_f64(tn_json_get(constraint, "maximum"), &field->maximum);
    check_bounds(r, field, constraint);
}

enum tn_status tn_generation_read(struct tn_json contract, struct tn_arena *arena, struct tn_findings *findings,
                                  struct tn_generation *out, struct tn_error *err)
{
    struct reader r = {.arena = arena, .findings = findings, .out = out};
    struct tn_json v;
    *out = (struct tn_generation){0};
    for (v = tn_json_first(tn_json_get(contract, "defaults")); tn_json_present(v) && !r.no_memory; v = tn_json_next(v))
        read_default(&r, v);
    for (v = tn_json_first(tn_json_get(contract, "overrides")); tn_json_present(v) && !r.no_memory; v = tn_json_next(v))
        read_override(&r, v);
    return r.no_memory ? tn_error_memory(err, TN_PHASE_DESCRIBE, "reading generation defaults") : TN_OK;
}

/* ---- a request against it -------------------------------------------------------------------------------------------- */

struct resolver {
    const struct tn_generation *g;
    struct tn_arena *arena;
    struct tn_findings *findings;
    struct tn_generation_options *out;
    bool no_memory;
};

static struct tn_finding *refuse(struct resolver *r, struct tn_json v, enum tn_status code, const char *message)
{
    struct tn_str name = tn_json_key(v);
    struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, code, TN_PHASE_REQUEST, "generation option %.*s: %s",
                                           (int)(name.n < 64 ? name.n : 64), name.s, message);
    tn_at_element(f, TN_ELEMENT_OPTION, name);
    return f;
}

static void refuse_hidden(struct resolver *r, struct tn_json v)
{
    struct tn_nearest nearest = {0};
    struct tn_finding *f = refuse(r, v, TN_UNSUPPORTED_OPTION, "the package does not let a request set it");
    char names[320] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->g->count; i++) {
        const struct tn_generation_field *field = &r->g->fields[i];
        char name[64];
        if (!field->exposed) continue;
        snprintf(name, sizeof(name), "%.*s", (int)(field->name.n < 63 ? field->name.n : 63), field->name.s);
        if (used < sizeof(names)) {
            int n = snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", name);
            if (n > 0) used += (size_t)n;
        }
    }
    if (used) {
        tn_expected(f, "one of: %s", names);
    } else {
        tn_expected(f, "no generation option: the package exposes none");
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) tn_nearest_offer(&nearest, tn_json_key(v), known[i].name);
    tn_found(f, "an override of a field that is not listed");
    if (nearest.name && !tn_str_is(tn_json_key(v), nearest.name)) tn_remedy(f, "perhaps %s was meant", nearest.name);
    else tn_remedy(f, "leave it out: the package's own value then counts");
}

static bool fits_type(enum tn_generation_type type, struct tn_json v)
{
    bool flag;
    uint64_t count;
    double number;
    switch (type) {
    case TN_GENERATION_BOOL: return tn_json_bool(v, &flag);
    case TN_GENERATION_COUNT: return tn_json_u64(v, &count);
    case TN_GENERATION_NUMBER: return tn_json_f64(v, &number);
    case TN_GENERATION_ANY: return !tn_json_is(v, TN_JSON_ARRAY) && !tn_json_is(v, TN_JSON_OBJECT);
    }
    return false;
}

static const char *type_text(enum tn_generation_type type)
{
    switch (type) {
    case TN_GENERATION_BOOL: return "true or false";
    case TN_GENERATION_COUNT: return "a whole number from 0 on";
    case TN_GENERATION_NUMBER: return "a number";
    case TN_GENERATION_ANY: break;
    }
    return "a single value";
}

static void refuse_bounds(struct resolver *r, struct tn_json v, const struct tn_generation_field *field, double number)
{
    struct tn_finding *f = refuse(r, v, TN_UNSUPPORTED_OPTION, "the value is out of the package's bounds");
    tn_found(f, "%s", TN_F64(number));
    if (field->has_minimum && field->has_maximum) {
        tn_expected(f, "%s to %s, by %.*s#%.*s", TN_F64(field->minimum), TN_F64(field->maximum), TN_FMT_ARG(field->file),
                    TN_FMT_ARG(field->pointer));
    } else {
        tn_expected(f, "%s %s, by %.*s#%.*s", field->has_minimum ? "at least" : "at most",
                    TN_F64(field->has_minimum ? field->minimum : field->maximum), TN_FMT_ARG(field->file),
                    TN_FMT_ARG(field->pointer));
    }
}

static void take_request(struct resolver *r, const struct tn_generation_field *field, struct tn_json v,
                         struct tn_option *option)
{
    double number;
    if (!fits_type(field->type, v)) {
        struct tn_finding *f = refuse(r, v, TN_INVALID_REQUEST, "the value is of another type");
        tn_found(f, "%s", tn_json_type_name(tn_json_type(v)));
        tn_expected(f, "%s", type_text(field->type));
        return;
    }
    bool bounded = field->has_minimum || field->has_maximum;
    if (bounded && !tn_json_f64(v, &number)) {
        struct tn_finding *f = refuse(r, v, TN_INVALID_REQUEST, "a value with bounds is a number");
        tn_found(f, "%s", tn_json_type_name(tn_json_type(v)));
        tn_expected(f, "a number");
        return;
    }
    if (bounded && !inside(field, number)) {
        refuse_bounds(r, v, field, number);
        return;
    }
    struct tn_statement s = {.origin = TN_CHOICE_REQUEST, .value = tn_arena_str(r->arena, tn_json_text(v))};
    if (!s.value.s) r->no_memory = true;
    tn_option_state(option, s);
}

static const char *default_of(const struct tn_generation_default *defaults, size_t count, struct tn_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (tn_str_is(name, defaults[i].name)) return defaults[i].value;
    }
    return NULL;
}

static struct tn_option *begin(struct resolver *r, struct tn_str name, const char *application)
{
    struct tn_option *o = &r->out->items[r->out->count++];
    o->name = tn_arena_strndup(r->arena, name.s, name.n);
    if (!o->name) {
        o->name = "";
        r->no_memory = true;
    }
    if (application) tn_option_state(o, (struct tn_statement){.origin = TN_CHOICE_DEFAULT, .value = tn_str_of(application)});
    return o;
}

static void refuse_unlisted(struct resolver *r, struct tn_json request)
{
    for (struct tn_json v = tn_json_first(request); tn_json_present(v); v = tn_json_next(v)) {
        const struct tn_generation_field *field = find(r->g, tn_json_key(v));
        if (!tn_json_is(v, TN_JSON_NULL) && !(field && field->exposed)) refuse_hidden(r, v);
    }
}

enum tn_status tn_generation_resolve(const struct tn_generation *g, const struct tn_generation_default *defaults,
                                     size_t default_count, struct tn_json request, struct tn_arena *arena,
                                     struct tn_findings *findings, struct tn_generation_options *out, struct tn_error *err)
{
    struct resolver r = {.g = g, .arena = arena, .findings = findings, .out = out};
    *out = (struct tn_generation_options){.items = tn_arena_array(arena, g->count + default_count, sizeof(*out->items))};
    if (!out->items) return tn_error_memory(err, TN_PHASE_REQUEST, "resolving generation options");
    for (size_t i = 0; i < g->count; i++) {
        const struct tn_generation_field *field = &g->fields[i];
        struct tn_option *o = begin(&r, field->name, default_of(defaults, default_count, field->name));
        tn_option_state(o, field->stated);
        struct tn_json v = tn_json_get_str(request, field->name);
        if (field->exposed && tn_json_present(v) && !tn_json_is(v, TN_JSON_NULL)) take_request(&r, field, v, o);
    }
    for (size_t i = 0; i < default_count; i++) {
        struct tn_str name = tn_str_of(defaults[i].name);
        if (!find(g, name)) begin(&r, name, defaults[i].value);
    }
    refuse_unlisted(&r, request);
    return r.no_memory ? tn_error_memory(err, TN_PHASE_REQUEST, "resolving generation options") : TN_OK;
}
