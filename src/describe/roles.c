/*
 * Roles of ports; the order of sources is in the header. The structural signals are few on purpose: a signal counts
 * only when no other meaning has it. An integer matrix may be ids, a mask, positions or types, so its shape alone
 * settles ids only where it is the one thing that could be the sequence; what it indexes settles more.
 */
#include "describe/roles.h"

#include "base/sort.h"
#include "describe/builder.h"

#include <stdio.h>
#include <string.h>

/* ---- names of roles ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned side;
} roles[] = {
#define X(enumerator, text, side) {text, TN_SIDE_##side},
    TN_ROLE_LIST(X)
#undef X
};

enum { STANDARD_ROLES = TN_ROLE_OF_AUDIO_FEATURES + 1 };

const char *tn_role_name(enum tn_role role)
{
    return role < TN_ROLE_NONE ? roles[role].name : "none";
}

enum tn_role tn_role_of_standard(struct tn_str name)
{
    for (unsigned i = 0; i < STANDARD_ROLES; i++) {
        if (tn_str_is(name, roles[i].name)) return (enum tn_role)i;
    }
    return TN_ROLE_NONE;
}

bool tn_role_has_side(enum tn_role role, bool output)
{
    return role < TN_ROLE_NONE && (roles[role].side & (output ? TN_SIDE_OUTPUT : TN_SIDE_INPUT)) != 0;
}

const char *tn_role_rule(enum tn_role_source source)
{
    static const char *const rules[] = {"", "metadata.port_roles/1", "onnx.port_structure/1", TN_PORT_NAMES_RULE};
    return rules[source];
}

/* ---- ports ------------------------------------------------------------------------------------------------------- */

static bool names_port(const struct tn_std_bindings *map, struct tn_str component, struct tn_str port)
{
    for (size_t i = 0; i < map->count; i++) {
        if (tn_str_eq(map->items[i].key, component) && tn_str_eq(map->items[i].value, port)) return true;
    }
    return false;
}

static bool is_state(const struct tn_standard *standard, struct tn_str component, struct tn_str name, bool output)
{
    const struct tn_std_serving *serving = &standard->workflow.serving;
    for (size_t g = 0; g < serving->group_count; g++) {
        const struct tn_std_group *group = &serving->groups[g];
        for (size_t i = 0; i < group->port_count; i++) {
            const struct tn_std_state_port *p = &group->ports[i];
            if (tn_str_eq(p->component, component) && tn_str_eq(output ? p->output.name : p->input.name, name))
                return true;
        }
        if (output) continue;
        if (names_port(&group->write_indices_ports, component, name)) return true;
        if (names_port(&group->kv_length_ports, component, name)) return true;
    }
    return false;
}

static void add_declared(const struct tn_std_component *component, struct tn_role_port *port)
{
    for (size_t i = 0; i < component->roles.count; i++) {
        const struct tn_std_binding *b = &component->roles.items[i];
        if (!tn_str_eq(b->key, port->name)) continue;
        port->declared = tn_role_of_standard(b->value);
        port->declared_at = b->at;
    }
}

static struct tn_role_port port_of(const struct tn_onnx_port *from, bool output)
{
    bool tensor = from->kind == TN_ONNX_PORT_TENSOR;
    return (struct tn_role_port){
        .name = from->name,
        .output = output,
        .element = tensor ? from->element : 0,
        .rank_known = tensor && from->rank_known,
        .rank = from->rank,
        .dims = from->dims,
        .table_rows = from->table_rows,
        .declared = TN_ROLE_NONE,
    };
}

uint32_t tn_role_ports(const struct tn_onnx_view *view, const struct tn_standard *standard,
                       const struct tn_std_component *component, struct tn_role_port *out)
{
    uint32_t count = view->input_count + view->output_count;
    for (uint32_t i = 0; i < count; i++) {
        bool output = i >= view->input_count;
        out[i] = port_of(output ? &view->outputs[i - view->input_count] : &view->inputs[i], output);
        if (standard && component) out[i].state = is_state(standard, component->name, out[i].name, output);
        if (component) add_declared(component, &out[i]);
    }
    return count;
}

/* ---- what a port could be ---------------------------------------------------------------------------------------- */

static bool is_integer(const struct tn_role_port *p)
{
    return p->element == 7 || p->element == 6; /* int64, int32 */
}

static bool is_real(const struct tn_role_port *p)
{
    return p->element == 1 || p->element == 10 || p->element == 16 || p->element == 11; /* f32, f16, bf16, f64 */
}

static bool has_rank(const struct tn_role_port *p, uint32_t low, uint32_t high)
{
    return !p->rank_known || (p->rank >= low && p->rank <= high);
}

/* Whether type and rank allow the role; what is not known allows everything. */
static bool allows(const struct tn_role_port *p, enum tn_role role)
{
    if (!tn_role_has_side(role, p->output)) return false;
    bool unknown = p->element == 0, integer = unknown || is_integer(p), real = unknown || is_real(p);
    switch (role) {
    case TN_ROLE_OF_TOKEN_IDS:
    case TN_ROLE_OF_TOKEN_TYPE_IDS: return integer && has_rank(p, 1, 2);
    case TN_ROLE_OF_POSITION_IDS: return integer && has_rank(p, 1, 3); /* rank 3: one row per axis of the position */
    case TN_ROLE_OF_ATTENTION_MASK:
    case TN_ROLE_OF_ENCODER_ATTENTION_MASK: return (integer || real || p->element == 9) && has_rank(p, 1, 4);
    case TN_ROLE_OF_INPUTS_EMBEDS:
    case TN_ROLE_OF_ENCODER_HIDDEN_STATES:
    case TN_ROLE_OF_AUDIO_FEATURES:
    case TN_ROLE_OF_HIDDEN_STATES: return real && has_rank(p, 2, 3);
    case TN_ROLE_OF_INPUT_FEATURES: return real && has_rank(p, 2, 4);
    case TN_ROLE_OF_INPUT_VALUES: return real && has_rank(p, 1, 3);
    case TN_ROLE_OF_PIXEL_VALUES: return (real || p->element == 2) && has_rank(p, 3, 5); /* uint8 */
    case TN_ROLE_OF_LOGITS:
    case TN_ROLE_OF_POOLED:
    case TN_ROLE_OF_SENTENCE_EMBEDDING: return real && has_rank(p, 1, 3);
    case TN_ROLE_OF_USE_CACHE: return (unknown || p->element == 9) && has_rank(p, 0, 1);
    case TN_ROLE_OF_PAST_KEY:
    case TN_ROLE_OF_PAST_VALUE:
    case TN_ROLE_OF_PRESENT_KEY:
    case TN_ROLE_OF_PRESENT_VALUE:
    case TN_ROLE_OF_CROSS_PAST_KEY:
    case TN_ROLE_OF_CROSS_PAST_VALUE:
    case TN_ROLE_OF_CROSS_PRESENT_KEY:
    case TN_ROLE_OF_CROSS_PRESENT_VALUE: return !is_integer(p) && has_rank(p, 3, 5);
    case TN_ROLE_NONE: break;
    }
    return false;
}

bool tn_role_allows(enum tn_role role, bool output, uint32_t element, bool rank_known, uint32_t rank)
{
    return allows(&(struct tn_role_port){.output = output, .element = element, .rank_known = rank_known, .rank = rank}, role);
}

/* Not taken by a declaration of another role, nor by a state group. */
static bool is_free(const struct tn_role_port *p, enum tn_role role)
{
    bool other = tn_json_present(p->declared_at) && p->declared != role;
    return !p->state && !other;
}

static bool last_extent_is(const struct tn_role_port *p, uint64_t extent)
{
    if (extent == 0 || !p->rank_known || p->rank == 0) return false;
    const struct tn_onnx_dim *d = &p->dims[p->rank - 1];
    return d->kind == TN_ONNX_DIM_VALUE && d->value > 0 && (uint64_t)d->value == extent;
}

/* ---- structure --------------------------------------------------------------------------------------------------- */

/* Signals, the stronger first. Each must hold for one port alone to count. */
enum signal { BY_TABLE, BY_SEQUENCE, BY_VOCABULARY, BY_WIDTH, SIGNALS };

/* Whether the port shows the signal. BY_SEQUENCE: all that could be the sequence a model reads. */
static bool shows(const struct tn_role_question *q, const struct tn_role_port *p, enum signal signal)
{
    switch (signal) {
    case BY_TABLE: return q->vocab_size && p->table_rows == q->vocab_size && is_integer(p);
    case BY_SEQUENCE:
        return !p->output && p->rank_known && ((is_integer(p) && p->rank == 2) || (is_real(p) && p->rank >= 2));
    case BY_VOCABULARY:
        return p->output && is_real(p) && q->vocab_size != q->hidden_size && last_extent_is(p, q->vocab_size);
    case BY_WIDTH:
        return is_real(p) && p->rank_known && p->rank == 3 && q->vocab_size != q->hidden_size &&
               last_extent_is(p, q->hidden_size);
    case SIGNALS: break;
    }
    return false;
}

static bool speaks_for(enum signal signal, enum tn_role role)
{
    switch (signal) {
    case BY_TABLE:
    case BY_SEQUENCE: return role == TN_ROLE_OF_TOKEN_IDS;
    case BY_VOCABULARY: return role == TN_ROLE_OF_LOGITS;
    case BY_WIDTH: return role == TN_ROLE_OF_HIDDEN_STATES;
    case SIGNALS: break;
    }
    return false;
}

static void say_why(const struct tn_role_question *q, enum signal signal, char *out, size_t cap)
{
    unsigned long long vocabulary = q->vocab_size, width = q->hidden_size;
    switch (signal) {
    case BY_TABLE:
        snprintf(out, cap, "the only input that indexes a table of %llu rows, the size of the vocabulary", vocabulary);
        break;
    case BY_SEQUENCE: snprintf(out, cap, "the only input that could be the sequence: integers of rank 2"); break;
    case BY_VOCABULARY:
        snprintf(out, cap, "the only output of %llu numbers a row, the size of the vocabulary", vocabulary);
        break;
    case BY_WIDTH:
        snprintf(out, cap, "the only output of rank 3 and %llu numbers a row, the model's width", width);
        break;
    case SIGNALS: break;
    }
}

static bool by_structure(const struct tn_role_question *q, enum tn_role role, struct tn_role_binding *out)
{
    for (unsigned signal = 0; signal < SIGNALS; signal++) {
        uint32_t count = 0, found = 0;
        if (!speaks_for((enum signal)signal, role)) continue;
        for (uint32_t i = 0; i < q->port_count; i++) {
            const struct tn_role_port *p = &q->ports[i];
            if (p->state || !shows(q, p, (enum signal)signal)) continue;
            if (!tn_role_has_side(role, p->output)) continue;
            count++; /* what is declared to be something else counts too: the signal is then not one port's alone */
            found = i;
        }
        if (count != 1 || !allows(&q->ports[found], role) || !is_free(&q->ports[found], role)) continue;
        out->source = TN_ROLE_BY_STRUCTURE;
        out->port = found;
        say_why(q, (enum signal)signal, out->why, sizeof(out->why));
        return true;
    }
    return false;
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static struct tn_finding *say(const struct tn_role_question *q, struct tn_findings *list, enum tn_severity severity,
                              enum tn_status code, struct tn_json place, const char *what)
{
    struct tn_finding *f = tn_findings_add(list, severity, code, TN_PHASE_DESCRIBE, "%s", what);
    if (tn_json_present(place)) {
        tn_at_json(f, place);
    } else {
        tn_at_file(f, q->graph);
    }
    return f;
}

/* One role on one side, and where its findings go. */
struct ask {
    const struct tn_role_question *q;
    enum tn_role role;
    bool output;
    struct tn_findings *findings;
};

/* "a, b" of the ports of the side that pass, which may be none. */
static uint32_t list_ports(const struct ask *a, bool (*pass)(const struct tn_role_port *p, enum tn_role role),
                           char *out, size_t cap)
{
    const struct tn_role_question *q = a->q;
    uint32_t count = 0;
    size_t n = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < q->port_count; i++) {
        const struct tn_role_port *p = &q->ports[i];
        if (p->output != a->output || !pass(p, a->role)) continue;
        if (n + 8 < cap) {
            int more = snprintf(out + n, cap - n, "%s%.*s", count ? ", " : "", TN_FMT_ARG(p->name));
            n += more > 0 ? (size_t)more : 0;
        }
        count++;
    }
    return count;
}

static bool could_be(const struct tn_role_port *p, enum tn_role role)
{
    return allows(p, role) && is_free(p, role);
}

static void refuse(const struct ask *a)
{
    const struct tn_role_question *q = a->q;
    enum tn_role role = a->role;
    char ports[200];
    uint32_t count = list_ports(a, could_be, ports, sizeof(ports));
    struct tn_finding *f = say(q, a->findings, TN_BLOCKER, TN_AMBIGUOUS_ROLE, q->place,
                               count ? "nothing says which port has a role" : "no port can have a role");
    tn_found(f, "%s of component %.*s: %s%s", tn_role_name(role), TN_FMT_ARG(q->component),
             count ? count > 1 ? "one of " : "perhaps " : "no port of that type and rank", ports);
    if ((unsigned)role < STANDARD_ROLES) {
        tn_expected(f, "pipeline.workflow.components.%.*s.ports.roles: {PORT: %s}", TN_FMT_ARG(q->component),
                    tn_role_name(role));
        tn_remedy(f, "declare the role in inference_metadata.yaml");
    } else {
        tn_expected(f, "a port that one exporter convention names (%s)", TN_PORT_NAMES_RULE);
        tn_remedy(f, "export the graph with the convention's names");
    }
}

/* ---- declared ---------------------------------------------------------------------------------------------------- */

/* Names and declarations that disagree: the declaration holds, and it shows. */
static void note_contradiction(const struct tn_role_question *q, const struct tn_role_port *p,
                               struct tn_findings *findings)
{
    uint32_t layer;
    enum tn_role named = q->names ? tn_port_name_role(p->name, p->output, &layer) : TN_ROLE_NONE;
    if (named == TN_ROLE_NONE || named == p->declared) return;
    struct tn_finding *f =
        say(q, findings, TN_NOTE, TN_OK, p->declared_at, "a declared role is not what the port's name suggests");
    tn_found(f, "port %.*s is declared %s, and %s by " TN_PORT_NAMES_RULE, TN_FMT_ARG(p->name),
             tn_role_name(p->declared), tn_role_name(named));
    tn_expected(f, "the declaration is followed");
}

/* Whether a declaration settled it, or made it impossible to settle (then with findings). */
static bool by_declaration(const struct ask *a, struct tn_role_binding *out)
{
    const struct tn_role_question *q = a->q;
    enum tn_role role = a->role;
    struct tn_findings *findings = a->findings;
    uint32_t count = 0, found = 0;
    for (uint32_t i = 0; i < q->port_count; i++) {
        /* A role that has one side only is refused where it stands on the other. */
        bool side = q->ports[i].output == a->output || !tn_role_has_side(role, q->ports[i].output);
        if (q->ports[i].declared != role || !side) continue;
        count++;
        found = i;
    }
    if (count == 0) return false;
    const struct tn_role_port *p = &q->ports[found];
    if (count > 1) {
        struct tn_finding *f = say(q, findings, TN_BLOCKER, TN_AMBIGUOUS_ROLE, p->declared_at,
                                   "several ports are declared to have one role");
        tn_found(f, "%u ports of component %.*s are %s, the last is %.*s", count, TN_FMT_ARG(q->component),
                 tn_role_name(role), TN_FMT_ARG(p->name));
        tn_expected(f, "one port with this role");
        return true;
    }
    if (!allows(p, role)) {
        struct tn_finding *f =
            say(q, findings, TN_BLOCKER, TN_METADATA_INVALID, p->declared_at, "a port cannot have its declared role");
        if (p->output != a->output) {
            tn_found(f, "%s %.*s is declared %s", p->output ? "output" : "input", TN_FMT_ARG(p->name),
                     tn_role_name(role));
            tn_expected(f, "an %s", p->output ? "input" : "output");
        } else {
            tn_found(f, "%.*s is %s of rank %u in graph %.*s", TN_FMT_ARG(p->name), tn_onnx_element_name(p->element),
                     p->rank, TN_FMT_ARG(q->graph));
            tn_expected(f, "a type and rank of %s", tn_role_name(role));
        }
        return true;
    }
    out->source = TN_ROLE_DECLARED;
    out->port = found;
    snprintf(out->why, sizeof(out->why), "declared");
    note_contradiction(q, p, findings);
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_named(const struct tn_role_port *p, enum tn_role role)
{
    uint32_t layer;
    return tn_port_name_role(p->name, p->output, &layer) == role &&
           !(tn_json_present(p->declared_at) && p->declared != role);
}

/* True also when several ports bear a name for it, which is then a finding: names do not choose. */
static bool by_name(const struct ask *a, struct tn_role_binding *out)
{
    const struct tn_role_question *q = a->q;
    enum tn_role role = a->role;
    char names[200];
    uint32_t count = list_ports(a, is_named, names, sizeof(names)), i = 0;
    if (count == 0) return false;
    if (count > 1) {
        struct tn_finding *f =
            say(q, a->findings, TN_BLOCKER, TN_AMBIGUOUS_ROLE, q->place, "several ports bear a name for one role");
        tn_found(f, "%s of component %.*s: %s", tn_role_name(role), TN_FMT_ARG(q->component), names);
        tn_expected(f, "pipeline.workflow.components.%.*s.ports.roles: {PORT: %s}", TN_FMT_ARG(q->component),
                    tn_role_name(role));
        tn_remedy(f, "declare the role in inference_metadata.yaml");
        return true;
    }
    while (q->ports[i].output != a->output || !is_named(&q->ports[i], role)) i++;
    if (!allows(&q->ports[i], role) || !is_free(&q->ports[i], role)) return false;
    out->source = TN_ROLE_BY_NAME;
    out->port = i;
    snprintf(out->why, sizeof(out->why), "the name \"%.*s\"", q->ports[i].name.n > 100 ? 100 : (int)q->ports[i].name.n,
             q->ports[i].name.s);
    return true;
}

struct tn_role_binding tn_role_settle(const struct tn_role_question *q, enum tn_role role, bool output, bool required,
                                      struct tn_findings *findings)
{
    struct tn_role_binding out = {.role = role};
    struct ask a = {q, role, output, findings};
    if (by_declaration(&a, &out) || by_structure(q, role, &out)) return out;
    if (q->names && by_name(&a, &out)) return out;
    if (required) refuse(&a);
    return out;
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

/* Where a port stands among its side, as a path of the model: "/graph/input/3". */
static struct tn_str place_of(const struct tn_role_question *q, uint32_t port, char *out, size_t cap)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < port; i++) index += q->ports[i].output == q->ports[port].output;
    snprintf(out, cap, "/graph/%s/%u", q->ports[port].output ? "output" : "input", index);
    return tn_str_of(out);
}

void tn_role_fact(struct tn_builder *b, const struct tn_role_question *q, const struct tn_role_binding *binding)
{
    char place[64], pointer[256];
    if (binding->source == TN_ROLE_UNSETTLED) return;
    const struct tn_role_port *p = &q->ports[binding->port];
    bool declared = binding->source == TN_ROLE_DECLARED;
    tn_fact_of_text(b, binding->source == TN_ROLE_BY_STRUCTURE ? TN_FROM_STRUCTURE : TN_FROM_FILE,
                    declared ? p->declared_at.doc->file : q->graph,
                    declared ? tn_json_pointer(p->declared_at, pointer, sizeof(pointer))
                             : place_of(q, binding->port, place, sizeof(place)),
                    tn_json_quoted(b, p->name), tn_role_rule(binding->source), false, "port.%.*s.%s",
                    TN_FMT_ARG(q->component), tn_role_name(binding->role));
}

/* ---- cache pairs ------------------------------------------------------------------------------------------------- */

/* A cache half by its name: past or present of a layer. */
struct half {
    uint32_t port, layer;
    bool value, present;
};

static int by_place(const void *a, const void *b, void *context)
{
    const struct half *x = a, *y = b;
    (void)context;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    if (x->value != y->value) return x->value ? 1 : -1;
    if (x->present != y->present) return x->present ? 1 : -1;
    return x->port < y->port ? -1 : x->port > y->port;
}

static bool half_of(const struct tn_role_port *p, bool cross, struct half *out)
{
    static const enum tn_role own[] = {TN_ROLE_OF_PAST_KEY, TN_ROLE_OF_PAST_VALUE, TN_ROLE_OF_PRESENT_KEY,
                                       TN_ROLE_OF_PRESENT_VALUE};
    static const enum tn_role other[] = {TN_ROLE_OF_CROSS_PAST_KEY, TN_ROLE_OF_CROSS_PAST_VALUE,
                                         TN_ROLE_OF_CROSS_PRESENT_KEY, TN_ROLE_OF_CROSS_PRESENT_VALUE};
    enum tn_role role = tn_port_name_role(p->name, p->output, &out->layer);
    for (unsigned i = 0; i < 4; i++) {
        if (role != (cross ? other : own)[i] || p->state) continue;
        out->value = i % 2;
        out->present = i >= 2;
        return true;
    }
    return false;
}

static void no_partner(const struct tn_role_question *q, const struct half *h, const char *what,
                       struct tn_findings *findings)
{
    const struct tn_role_port *p = &q->ports[h->port];
    struct tn_finding *f =
        say(q, findings, TN_BLOCKER, TN_AMBIGUOUS_ROLE, q->place, "cache ports do not pair up by their names");
    tn_found(f, "%.*s of graph %.*s: %s", TN_FMT_ARG(p->name), TN_FMT_ARG(q->graph), what);
    tn_expected(f, "pipeline.workflow.serving.state_service.groups.GROUP.ports.%.*s with input, output, role and layer",
                TN_FMT_ARG(q->component));
    tn_remedy(f, "declare the state group in inference_metadata.yaml");
}

/* What is wrong with the i-th four of sorted halves (key and value, past and present of layer i), or NULL. */
static const char *fault_at(const struct tn_role_question *q, const struct half *halves, uint32_t i)
{
    uint32_t layer = i / 4;
    bool value = i % 4 >= 2, present = i % 2;
    const struct half *h = &halves[i];
    if (h->layer > layer) return "a layer before it is missing";
    if (h->layer < layer) return "its layer has it twice";
    if (h->value != value || h->present != present)
        return "a key or value, past or present, of its layer is missing or stands twice";
    if (!allows(&q->ports[h->port], present ? (value ? TN_ROLE_OF_PRESENT_VALUE : TN_ROLE_OF_PRESENT_KEY)
                                            : (value ? TN_ROLE_OF_PAST_VALUE : TN_ROLE_OF_PAST_KEY)))
        return "its type or rank is not a cache's";
    if (!present) return NULL;
    const struct tn_role_port *a = &q->ports[halves[i - 1].port], *b = &q->ports[h->port];
    bool ranks = a->rank_known && b->rank_known && a->rank != b->rank;
    return a->element != b->element || ranks ? "past and present differ in type or rank" : NULL;
}

enum tn_status tn_role_cache_pairs(const struct tn_role_question *q, bool cross, struct tn_arena *arena,
                                   struct tn_role_pair **out, uint32_t *count, struct tn_findings *findings,
                                   struct tn_error *err)
{
    uint32_t n = 0;
    *out = NULL;
    *count = 0;
    struct half *halves = tn_arena_array(arena, (size_t)q->port_count + 1, sizeof(*halves));
    struct tn_role_pair *pairs = tn_arena_array(arena, q->port_count / 2 + 1, sizeof(*pairs));
    if (!halves || !pairs) return tn_error_memory(err, TN_PHASE_DESCRIBE, "pairing cache ports");
    for (uint32_t i = 0; i < q->port_count; i++) {
        halves[n].port = i;
        n += half_of(&q->ports[i], cross, &halves[n]);
    }
    if (n == 0) return TN_OK;
    tn_sort(halves, n, sizeof(*halves), by_place, NULL);
    for (uint32_t i = 0; i < n; i++) {
        const char *fault = fault_at(q, halves, i);
        if (!fault && i + 1 == n && n % 4) fault = "a key or value, past or present, of its layer is missing";
        if (!fault) continue;
        no_partner(q, &halves[i], fault, findings);
        return TN_OK;
    }
    for (uint32_t i = 0; i < n; i += 2)
        pairs[i / 2] = (struct tn_role_pair){halves[i].port, halves[i + 1].port, halves[i].layer, halves[i].value};
    *out = pairs;
    *count = n / 2;
    return TN_OK;
}
