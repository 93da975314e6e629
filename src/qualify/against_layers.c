/*
 * Values inside a graph: those of the first provider are kept as they are made; then the second one tells those of the same
 * names, and each is held against the other at once. What a provider has rewritten away cannot be compared; how much that
 * is stands in the result.
 *
 * What is kept is bounded by limits.h's ceiling of a comparison; values beyond it are counted and not compared.
 */
#include "qualify/against.h"

#include "provider.h"

#include <string.h>

/* Kept values: intermediate results of the largest graphs that people compare on one machine. */
static const uint64_t KEPT_BYTES = UINT64_C(4) << 30;

struct told {
    struct tn_str value, node, by, patch;
    struct tn_tensor *kept; /* NULL: too large to be kept, or no dense tensor */
    bool compared;
    struct tn_tolerance tolerance;
    struct tn_agreement agreement;
    struct tn_str other_by, other_patch;
};

struct tn_layers {
    struct tn_against *a;
    struct tn_heap heap;
    struct tn_teller teller;
    struct told *told;
    size_t count, cap;
    struct tn_str *names; /* [count] */
    uint64_t bytes;
    size_t unkept, heard; /* values too large; values that the second side told */
    unsigned which;
    bool no_memory, cannot[2];
};

static struct told *find(struct tn_layers *l, struct tn_str name)
{
    for (size_t i = 0; i < l->count; i++)
        if (tn_str_eq(l->told[i].value, name)) return &l->told[i];
    return NULL;
}

static struct tn_str keep_text(struct tn_layers *l, struct tn_str s)
{
    struct tn_str copy = tn_arena_str(&l->a->arena, s);
    l->no_memory |= !copy.s;
    return copy;
}

static void keep(struct tn_layers *l, struct tn_str value, struct tn_str node, struct tn_str by, struct tn_str patch, const struct tn_tensor *t)
{
    if (l->count == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct told *more = tn_realloc(l->a->alloc, l->told, cap * sizeof(*more));
        if (!more) {
            l->no_memory = true;
            return;
        }
        l->told = more;
        l->cap = cap;
    }
    struct told *k = &l->told[l->count++];
    *k = (struct told){keep_text(l, value), keep_text(l, node), keep_text(l, by), keep_text(l, patch), .compared = false};
    if (t->bytes > KEPT_BYTES - l->bytes) {
        l->unkept++;
        return;
    }
    k->kept = tn_tensor_copy(&l->heap, t);
    l->no_memory |= !k->kept;
    l->bytes += t->bytes;
}

static struct tn_operand operand_of(const struct tn_tensor *t)
{
    struct tn_operand o = {.type = t->element, .rank = t->rank, .count = t->count, .data = t->data};
    memcpy(o.dims, t->dims, sizeof(o.dims));
    return o;
}

static void hold_against(struct tn_layers *l, struct told *k, struct tn_str by, struct tn_str patch, const struct tn_tensor *t)
{
    struct tn_operand a = operand_of(k->kept), b = operand_of(t);
    k->tolerance = tn_against_tolerance(l->a, t->element);
    k->other_by = keep_text(l, by);
    k->other_patch = keep_text(l, patch);
    tn_agree(&a, &b, &k->tolerance, &k->agreement);
    k->compared = true;
    l->heard++;
    tn_tensor_drop(k->kept); /* what was compared makes room */
    k->kept = NULL;
}

static void hear(void *user, struct tn_str value, struct tn_str node, struct tn_str by, struct tn_str patch, const struct tn_tensor *t)
{
    struct tn_layers *l = user;
    if (t->kind != TN_KIND_TENSOR || value.n == 0 || l->no_memory) return;
    if (l->which == 0) {
        keep(l, value, node, by, patch, t);
        return;
    }
    struct told *k = find(l, value);
    if (k && k->kept && !k->compared) hold_against(l, k, by, patch, t);
}

enum tn_status tn_layers_listen(struct tn_against *a, unsigned which, struct tn_error *err)
{
    struct tn_party *side = &a->side[which];
    struct tn_layers *l = a->layers;
    if (!l) {
        l = a->layers = tn_calloc(a->alloc, 1, sizeof(*l));
        if (!l) return tn_error_memory(err, TN_PHASE_EXECUTE, "comparing providers");
        l->a = a;
        tn_heap_init(&l->heap, a->alloc);
        l->teller = (struct tn_teller){hear, l};
    }
    const struct tn_survey_row *row = side->plan->row;
    l->which = which;
    l->cannot[which] = !side->plan->survey.route.graph || !row->entry->provider->run_told;
    if (l->cannot[0] || l->cannot[which]) return TN_OK;
    side->teller = &l->teller;
    if (which == 0) return TN_OK;
    l->names = tn_arena_array(&a->arena, l->count + 1, sizeof(*l->names));
    if (!l->names) return tn_error_memory(err, TN_PHASE_EXECUTE, "comparing providers");
    for (size_t i = 0; i < l->count; i++) l->names[i] = l->told[i].value;
    side->plan->row->request.told = l->names;
    side->plan->row->request.told_count = (uint32_t)l->count;
    return TN_OK;
}

enum tn_status tn_layers_heard(struct tn_against *a, unsigned which, struct tn_error *err)
{
    struct tn_layers *l = a->layers;
    a->side[which].teller = NULL;
    return l->no_memory ? tn_error_memory(err, TN_PHASE_EXECUTE, "keeping the values of a graph") : TN_OK;
}

void tn_layers_release(struct tn_against *a)
{
    struct tn_layers *l = a->layers;
    if (!l) return;
    for (size_t i = 0; i < l->count; i++) tn_tensor_drop(l->told[i].kept);
    tn_free(a->alloc, l->told);
    tn_heap_release(&l->heap);
    tn_free(a->alloc, l);
    a->layers = NULL;
}

/* ---- the document --------------------------------------------------------------------------------------------------- */

static void write_maker(struct tn_json_writer *w, const char *key, const struct tn_party *side, struct tn_str by, struct tn_str patch)
{
    tn_jw_key(w, key);
    tn_jw_begin_object(w);
    tn_jw_member_str(w, "provider", side->text);
    tn_jw_member_str(w, "operator", by);
    tn_jw_key(w, "patch");
    if (patch.n) tn_jw_str(w, patch);
    else tn_jw_null(w);
    tn_jw_end_object(w);
}

static void write_told(struct tn_json_writer *w, const struct tn_against *a, const struct told *k, size_t order)
{
    tn_jw_begin_object(w);
    tn_jw_member_u64(w, "order", order);
    tn_jw_member_str(w, "value", k->value);
    tn_jw_member_str(w, "node", k->node);
    write_maker(w, "first", &a->side[0], k->by, k->patch);
    write_maker(w, "second", &a->side[1], k->other_by, k->other_patch);
    tn_agreement_write(w, &k->agreement, &k->tolerance);
    tn_jw_end_object(w);
}

void tn_layers_write(struct tn_json_writer *w, const struct tn_against *a)
{
    const struct tn_layers *l = a->layers;
    const struct told *first = NULL, *worst = NULL;
    size_t beyond = 0;
    tn_jw_key(w, "layers");
    if (!l) {
        tn_jw_null(w);
        return;
    }
    for (size_t i = 0; i < l->count; i++) {
        const struct told *k = &l->told[i];
        if (!k->compared) continue;
        if (!k->agreement.agrees && !first) first = k;
        beyond += !k->agreement.agrees;
        if (!worst || k->agreement.max_abs > worst->agreement.max_abs) worst = k;
    }
    tn_jw_begin_object(w);
    tn_jw_member_cstr(w, "unseen", l->cannot[0] ? "the first provider shows nothing of what is inside" : l->cannot[1] ? "the second provider shows nothing of what is inside" : NULL);
    tn_jw_member_u64(w, "values", l->count);
    tn_jw_member_u64(w, "compared", l->heard);
    tn_jw_member_u64(w, "too_large", l->unkept);
    tn_jw_member_u64(w, "beyond", beyond);
    tn_jw_key(w, "first_difference");
    if (first) write_told(w, a, first, (size_t)(first - l->told));
    else tn_jw_null(w);
    tn_jw_key(w, "furthest");
    if (worst) write_told(w, a, worst, (size_t)(worst - l->told));
    else tn_jw_null(w);
    tn_jw_end_object(w);
}
