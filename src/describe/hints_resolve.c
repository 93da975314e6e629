/*
 * Which hint counts where, and what becomes of each. Hints are taken from the weakest to the strongest; on every node
 * that one selects it replaces what stood there in its topic, if they contradict each other. What was replaced has lost
 * that node; two forced ones that contradict each other are a conflict instead.
 */
#include "describe/hints.h"

#include "base/checked.h"
#include "base/sort.h"

#include <stdio.h>

enum {
    PAIRS = 64, /* conflicts told apart; an error lists no more findings */
    TOLD = 20   /* findings of one kind that are told one by one; the rest is one finding that counts them */
};

/* What is told of hints; findings of one kind differ in their hint alone. */
enum told { TOLD_EMPTY_OURS, TOLD_EMPTY, TOLD_NAME_OURS, TOLD_NAME, TOLD_REFUSED, TOLD_UNMET, TOLD_IDLE, TOLD_LOST, TOLD_KINDS };

struct pair {
    uint32_t strong, weak;
    const struct tn_hint_node *first;
    uint64_t nodes;
};

struct resolver {
    const struct tn_hint_world *world;
    struct tn_arena *arena;
    struct tn_findings *findings;
    enum tn_phase phase;
    struct tn_hint_result *results; /* in the order of the documents, strongest origin first */
    size_t count;
    uint32_t *order;   /* indices of results, weakest first */
    uint32_t *holders; /* [TN_HINT_TOPICS][nodes]: index + 1 of the result that counts there */
    struct pair *pairs; /* [PAIRS] */
    size_t pair_count;
    uint64_t untold_nodes; /* of conflicts beyond these */
    size_t told[TOLD_KINDS];
};

/* ---- contradiction -------------------------------------------------------------------------------------------------- */

static bool devices_exclude(const struct tn_hint_device *a, const struct tn_hint_device *b)
{
    if (a->type != TN_DEVICE_ANY && b->type != TN_DEVICE_ANY && a->type != b->type) return true;
    return a->has_index && b->has_index && a->index != b->index;
}

/* Of one topic. */
static bool contradict(const struct tn_hint *a, const struct tn_hint *b)
{
    switch (tn_hint_topic_of(a->kind)) {
    case TN_HINT_ON_PLACE: return devices_exclude(&a->device, &b->device);
    case TN_HINT_ON_RESIDENCE:
    case TN_HINT_ON_CAPTURE: return a->kind != b->kind;
    case TN_HINT_ON_CHUNKS:
    case TN_HINT_ON_OVERLAP: return a->has_number && b->has_number && a->number != b->number;
    case TN_HINT_ON_ARENA: return !devices_exclude(&a->device, &b->device) && a->number != b->number;
    case TN_HINT_ON_KERNEL: return !tn_str_eq(a->text, b->text);
    default: return false;
    }
}

/* ---- order ---------------------------------------------------------------------------------------------------------- */

/* Weakest first: prefer before force, weaker origins before stronger ones, earlier before later. */
static int by_strength(const void *a, const void *b, void *context)
{
    const struct tn_hint_result *results = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct tn_hint *x = results[i].hint, *y = results[k].hint;
    if (x->force != y->force) return x->force ? 1 : -1;
    if (x->origin != y->origin) return x->origin > y->origin ? -1 : 1;
    return i < k ? -1 : i > k;
}

static bool gather(struct resolver *r, const struct tn_hint_list *const *lists, size_t list_count)
{
    size_t count = 0, cells;
    for (size_t i = 0; i < list_count; i++) count += lists[i]->count;
    if (count >= UINT32_MAX || !tn_mul(r->world->node_count, TN_HINT_TOPICS, &cells)) return false;
    r->results = tn_arena_array(r->arena, count, sizeof(*r->results));
    r->order = tn_arena_array(r->arena, count, sizeof(*r->order));
    r->pairs = tn_arena_array(r->arena, PAIRS, sizeof(*r->pairs));
    r->holders = tn_arena_array(r->arena, cells, sizeof(*r->holders));
    if (!r->results || !r->order || !r->pairs || !r->holders) return false;
    for (int origin = 0; origin < TN_HINT_ORIGINS; origin++) {
        for (size_t i = 0; i < list_count; i++) {
            for (size_t k = 0; k < lists[i]->count; k++) {
                const struct tn_hint *h = &lists[i]->items[k];
                if (h->origin != (enum tn_hint_origin)origin) continue;
                r->order[r->count] = (uint32_t)r->count;
                r->results[r->count++].hint = h;
            }
        }
    }
    tn_sort(r->order, r->count, sizeof(*r->order), by_strength, r->results);
    return true;
}

/* ---- who counts where ------------------------------------------------------------------------------------------------ */

static void note_conflict(struct resolver *r, uint32_t strong, uint32_t weak, const struct tn_hint_node *node)
{
    size_t i = 0;
    while (i < r->pair_count && (r->pairs[i].strong != strong || r->pairs[i].weak != weak)) i++;
    if (i == PAIRS) {
        r->untold_nodes++;
        return;
    }
    if (i == r->pair_count) r->pairs[r->pair_count++] = (struct pair){strong, weak, node, 0};
    r->pairs[i].nodes++;
}

/* A stronger hint comes to a node that a weaker one held, and they contradict each other. */
static void meet(struct resolver *r, uint32_t strong, uint32_t weak, const struct tn_hint_node *node)
{
    struct tn_hint_result *s = &r->results[strong], *w = &r->results[weak];
    if (!s->hint->force || !w->hint->force) {
        w->lost++;
        w->by = s->hint;
        return;
    }
    note_conflict(r, strong, weak, node);
    s->outcome = w->outcome = TN_HINT_IS_CONFLICT;
    s->by = w->hint;
    w->by = s->hint;
}

static bool is_here(const struct resolver *r, const struct tn_hint *h)
{
    return tn_hint_device_among(&h->device, r->world->devices, r->world->device_count);
}

/* A preference for what is not here stands against nobody. */
static bool counts(const struct resolver *r, const struct tn_hint *h)
{
    return h->kind != TN_HINT_PLACE || h->force || is_here(r, h);
}

static void apply(struct resolver *r, uint32_t index)
{
    const struct tn_hint *h = r->results[index].hint;
    bool holds = counts(r, h);
    uint32_t *holders = r->holders + (size_t)tn_hint_topic_of(h->kind) * r->world->node_count;
    for (size_t n = 0; n < r->world->node_count; n++) {
        if (!tn_hint_selects(&h->selector, &r->world->nodes[n])) continue;
        r->results[index].selected++;
        if (!holds) continue;
        if (holders[n] && contradict(h, r->results[holders[n] - 1].hint)) meet(r, index, holders[n] - 1, &r->world->nodes[n]);
        holders[n] = index + 1;
    }
}

/* Sizes of arenas are about devices, not about nodes. */
static void apply_arena(struct resolver *r, size_t at)
{
    uint32_t index = r->order[at];
    r->results[index].selected = 1;
    for (size_t k = 0; k < at; k++) {
        struct tn_hint_result *other = &r->results[r->order[k]];
        if (other->hint->kind != TN_HINT_ARENA_SIZE || !contradict(r->results[index].hint, other->hint)) continue;
        other->lost = 1;
        other->by = r->results[index].hint;
    }
}

static void apply_all(struct resolver *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->results[r->order[i]].hint->kind == TN_HINT_ARENA_SIZE) apply_arena(r, i);
        else if (r->world->nodes) apply(r, r->order[i]);
    }
}

/* ---- verdicts --------------------------------------------------------------------------------------------------------- */

static enum tn_hint_outcome judge_placement(const struct resolver *r, struct tn_hint_result *result)
{
    if (is_here(r, result->hint)) return TN_HINT_IS_SATISFIED;
    result->why = "no such device can be used here";
    return result->hint->force ? TN_HINT_IS_REFUSED : TN_HINT_IS_UNMET;
}

static enum tn_hint_outcome judge_group(const struct resolver *r, struct tn_hint_result *result)
{
    bool one = r->world->device_count == 1;
    result->why = one ? "everything runs on one device" : "nothing here keeps groups together";
    return one ? TN_HINT_IS_SATISFIED : TN_HINT_IS_NO_USE;
}

static enum tn_hint_outcome judge_other(const struct resolver *r, struct tn_hint_result *result)
{
    const struct tn_hint_answer *answer = r->world->answers ? &r->world->answers[result->hint->kind] : NULL;
    result->why = answer && answer->why ? answer->why : "nothing that runs the package has a use for it";
    return answer && answer->satisfied ? TN_HINT_IS_SATISFIED : TN_HINT_IS_NO_USE;
}

static enum tn_hint_outcome judge(const struct resolver *r, struct tn_hint_result *result)
{
    enum tn_hint_kind kind = result->hint->kind;
    bool arena = kind == TN_HINT_ARENA_SIZE;
    if (result->outcome == TN_HINT_IS_CONFLICT) return TN_HINT_IS_CONFLICT;
    if (!arena && r->world->nodes && result->selected == 0) return TN_HINT_IS_EMPTY;
    if (result->selected > 0 && result->lost == result->selected) return TN_HINT_IS_OVERRIDDEN;
    if (kind == TN_HINT_PLACE) {
        enum tn_hint_outcome outcome = judge_placement(r, result);
        if (r->world->nodes || outcome == TN_HINT_IS_REFUSED) return outcome;
    }
    if (!arena && !r->world->nodes) {
        result->why = "there is no graph to look at";
        return TN_HINT_IS_UNJUDGED;
    }
    if (arena && !is_here(r, result->hint)) {
        result->why = "no such device can be used here";
        return TN_HINT_IS_NO_USE;
    }
    return kind == TN_HINT_GROUP ? judge_group(r, result) : judge_other(r, result);
}

/* ---- findings ----------------------------------------------------------------------------------------------------------- */

enum { PHRASE = 160 };

/* "gpu:0 by the package (tenon_package.json#/execution_hints/placement/0)" */
static const char *phrase(const struct tn_hint *h, char *buf)
{
    char device[32];
    const char *what = h->has_device && h->kind == TN_HINT_PLACE ? tn_hint_device_text(&h->device, device, sizeof(device))
                                                                 : tn_hint_kind_name(h->kind);
    snprintf(buf, PHRASE, "%s by %s (%.*s#%.*s)", what, tn_hint_origin_for_people(h->origin),
             (int)(h->file.n < 48 ? h->file.n : 48), h->file.s, (int)(h->pointer.n < 48 ? h->pointer.n : 48), h->pointer.s);
    return buf;
}

static struct tn_finding *add(const struct resolver *r, const struct tn_hint *h, enum tn_severity severity,
                              enum tn_status code, const char *message)
{
    struct tn_finding *f = tn_findings_add(r->findings, severity, code, r->phase, "%s", message);
    tn_at_pointer(f, h->file, h->pointer);
    return f;
}

static void report_conflict(const struct resolver *r, const struct pair *pair)
{
    const struct tn_hint *strong = r->results[pair->strong].hint, *weak = r->results[pair->weak].hint;
    char text[PHRASE];
    struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, TN_HINT_CONFLICT, r->phase,
                                           "two forced placements exclude each other on \"%.*s\", %llu node(s) in all",
                                           TN_FMT_ARG(pair->first->name), (unsigned long long)pair->nodes);
    tn_at_pointer(f, strong->file, strong->pointer);
    tn_found(f, "%s", phrase(strong, text));
    tn_expected(f, "the same device as %s", phrase(weak, text));
    tn_remedy(f, "drop one of the two, or make it a preference");
}

static void list_devices(const struct resolver *r, struct tn_finding *f)
{
    char text[128] = "", one[32];
    size_t used = 0;
    for (size_t i = 0; i < r->world->device_count && used < sizeof(text); i++) {
        const char *name = tn_hint_device_text(&r->world->devices[i], one, sizeof(one));
        int n = snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", name);
        if (n > 0) used += (size_t)n;
    }
    tn_expected(f, "one of: %s", text);
}

static void report_device(const struct resolver *r, const struct tn_hint_result *result)
{
    bool force = result->hint->force;
    char text[PHRASE];
    struct tn_finding *f = add(r, result->hint, force ? TN_BLOCKER : TN_NOTE, TN_PLACEMENT_REFUSED,
                               force ? "a forced placement cannot be had: no such device can be used here"
                                     : "a preferred placement is not followed: no such device can be used here");
    tn_found(f, "%s", phrase(result->hint, text));
    list_devices(r, f);
    if (force) tn_remedy(f, "make it a preference, or run where this device is");
}

static void report_lost(const struct resolver *r, const struct tn_hint_result *result)
{
    char text[PHRASE];
    struct tn_finding *f = tn_findings_add(r->findings, TN_NOTE, TN_HINT_CONFLICT, r->phase,
                                           "a preference does not count on %llu of the %llu node(s) that it selects",
                                           (unsigned long long)result->lost, (unsigned long long)result->selected);
    tn_at_pointer(f, result->hint->file, result->hint->pointer);
    tn_found(f, "%s", phrase(result->hint, text));
    tn_expected(f, "%s counts", phrase(result->by, text));
}

static bool is_ours(const struct tn_hint *h)
{
    return h->origin == TN_HINT_FROM_CALLER || h->origin == TN_HINT_FROM_USER;
}

static void report_empty(const struct resolver *r, const struct tn_hint *h)
{
    bool ours = is_ours(h);
    char text[PHRASE];
    struct tn_finding *f = add(r, h, ours ? TN_WARNING : TN_NOTE, ours ? TN_INVALID_REQUEST : TN_METADATA_INVALID,
                               "a hint selects nothing");
    tn_found(f, "%s", phrase(h, text));
    tn_expected(f, "names, operators or layers of the graph, as `tenon plan --json` lists them");
}

/* Thousands of hints may share one fate: whether this one is still told by itself. */
static bool tells(struct resolver *r, enum told kind)
{
    return r->told[kind]++ < TOLD;
}

/* The first name of a list that is in no graph; the hint holds for the others. */
static struct tn_str lost_name(const struct resolver *r, const struct tn_hint_selector *s, size_t *count)
{
    struct tn_str first = {0};
    *count = 0;
    for (size_t i = 0; i < s->name_count; i++) {
        bool found = false;
        for (size_t n = 0; n < r->world->node_count && !found; n++)
            found = tn_str_eq(r->world->nodes[n].name, s->names[i]) || tn_str_eq(r->world->nodes[n].alias, s->names[i]);
        if (found) continue;
        if ((*count)++ == 0) first = s->names[i];
    }
    return first;
}

static void report_name(struct resolver *r, const struct tn_hint *h)
{
    bool ours = is_ours(h);
    size_t count;
    struct tn_str name = lost_name(r, &h->selector, &count);
    if (count == 0 || !tells(r, ours ? TOLD_NAME_OURS : TOLD_NAME)) return;
    struct tn_finding *f = add(r, h, ours ? TN_WARNING : TN_NOTE, ours ? TN_INVALID_REQUEST : TN_METADATA_INVALID,
                               "a name in a hint's list selects nothing");
    if (count == 1) tn_found(f, "\"%.*s\"", TN_FMT_ARG(name));
    else tn_found(f, "\"%.*s\" and %zu more", TN_FMT_ARG(name), count - 1);
    tn_expected(f, "names of the graph, as `tenon plan --json` lists them");
}

static void report_idle(const struct resolver *r, const struct tn_hint_result *result)
{
    char text[PHRASE];
    struct tn_finding *f = tn_findings_add(r->findings, TN_NOTE, TN_UNSUPPORTED_OPTION, r->phase,
                                           "a hint is not followed: %s", result->why);
    tn_at_pointer(f, result->hint->file, result->hint->pointer);
    tn_found(f, "%s", phrase(result->hint, text));
}

static void report(struct resolver *r, const struct tn_hint_result *result)
{
    switch (result->outcome) {
    case TN_HINT_IS_EMPTY:
        if (tells(r, is_ours(result->hint) ? TOLD_EMPTY_OURS : TOLD_EMPTY)) report_empty(r, result->hint);
        break;
    case TN_HINT_IS_CONFLICT: /* one that could not be had anyway is no way out of the conflict */
        if (result->hint->kind == TN_HINT_PLACE && result->hint->force && !is_here(r, result->hint) && tells(r, TOLD_REFUSED))
            report_device(r, result);
        break;
    case TN_HINT_IS_REFUSED:
        if (tells(r, TOLD_REFUSED)) report_device(r, result);
        break;
    case TN_HINT_IS_UNMET:
        if (tells(r, TOLD_UNMET)) report_device(r, result);
        break;
    case TN_HINT_IS_NO_USE:
        if (tells(r, TOLD_IDLE)) report_idle(r, result);
        break;
    default: break;
    }
    bool judged = result->outcome != TN_HINT_IS_EMPTY && result->hint->kind != TN_HINT_ARENA_SIZE;
    if (judged && r->world->nodes) report_name(r, result->hint);
    if (result->lost > 0 && tells(r, TOLD_LOST)) report_lost(r, result);
}

/* What was not told one by one is counted, as gravely as what was. */
static void report_rest(const struct resolver *r)
{
    static const struct {
        enum tn_severity severity;
        enum tn_status code;
        const char *message;
    } rest[TOLD_KINDS] = {
        [TOLD_EMPTY_OURS] = {TN_WARNING, TN_INVALID_REQUEST, "more hints select nothing"},
        [TOLD_EMPTY] = {TN_NOTE, TN_METADATA_INVALID, "more hints select nothing"},
        [TOLD_NAME_OURS] = {TN_WARNING, TN_INVALID_REQUEST, "more hints list names that select nothing"},
        [TOLD_NAME] = {TN_NOTE, TN_METADATA_INVALID, "more hints list names that select nothing"},
        [TOLD_REFUSED] = {TN_BLOCKER, TN_PLACEMENT_REFUSED, "more forced placements cannot be had"},
        [TOLD_UNMET] = {TN_NOTE, TN_PLACEMENT_REFUSED, "more preferred placements are not followed"},
        [TOLD_IDLE] = {TN_NOTE, TN_UNSUPPORTED_OPTION, "more hints are not followed"},
        [TOLD_LOST] = {TN_NOTE, TN_HINT_CONFLICT, "more preferences do not count everywhere"},
    };
    for (int i = 0; i < TOLD_KINDS; i++) {
        if (r->told[i] <= TOLD) continue;
        struct tn_finding *f = tn_findings_add(r->findings, rest[i].severity, rest[i].code, r->phase, "%s", rest[i].message);
        tn_found(f, "%zu more, beside the %d that are told one by one", r->told[i] - TOLD, TOLD);
        tn_remedy(f, "`tenon check --json` lists what became of each hint");
    }
    if (r->untold_nodes == 0) return;
    struct tn_finding *f = tn_findings_add(r->findings, TN_BLOCKER, TN_HINT_CONFLICT, r->phase,
                                           "more pairs of forced placements exclude each other");
    tn_found(f, "more than %d pairs, with %llu further conflicts on nodes", PAIRS, (unsigned long long)r->untold_nodes);
    tn_remedy(f, "`tenon check --json` lists what became of each hint");
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

enum tn_status tn_hints_resolve(const struct tn_hint_list *const *lists, size_t list_count,
                                const struct tn_hint_world *world, enum tn_phase phase, struct tn_arena *arena,
                                struct tn_findings *findings, struct tn_hint_results *out, struct tn_error *err)
{
    struct resolver r = {.world = world, .arena = arena, .findings = findings, .phase = phase};
    *out = (struct tn_hint_results){0};
    if (!gather(&r, lists, list_count)) return tn_error_memory(err, phase, "resolving execution hints");
    apply_all(&r);
    for (size_t i = 0; i < r.count; i++) r.results[i].outcome = judge(&r, &r.results[i]);
    for (size_t i = 0; i < r.pair_count; i++) report_conflict(&r, &r.pairs[i]);
    for (size_t i = 0; i < r.count; i++) report(&r, &r.results[i]);
    report_rest(&r);
    *out = (struct tn_hint_results){r.results, r.count};
    return TN_OK;
}

const struct tn_hint *tn_hints_device(const struct tn_hint_list *const *lists, size_t list_count,
                                      const struct tn_hint_device *devices, size_t device_count)
{
    const struct tn_hint *best = NULL;
    for (size_t i = 0; i < list_count; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            const struct tn_hint *h = &lists[i]->items[k];
            if (h->kind != TN_HINT_PLACE || !tn_hint_selects_all(&h->selector)) continue;
            if (!h->force && !tn_hint_device_among(&h->device, devices, device_count)) continue;
            bool better = !best || (h->force != best->force ? h->force : h->origin <= best->origin);
            if (better) best = h;
        }
    }
    return best;
}
