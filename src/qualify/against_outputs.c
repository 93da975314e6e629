/*
 * Answers as numbers under names: what of an item's event is compared, task by task, and which answer of one side belongs to
 * which of the other. Views of events; nothing is copied but what has no array of its own.
 */
#include "qualify/against.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(tn_string) == sizeof(struct tn_str), "texts of a port are read as our own");

struct listing {
    struct tn_against *a;
    unsigned which;
    bool no_memory;
};

static struct tn_answered *find(struct tn_against *a, struct tn_str name)
{
    for (size_t i = 0; i < a->output_count; i++)
        if (tn_str_eq(a->outputs[i].name, name)) return &a->outputs[i];
    return NULL;
}

static struct tn_answered *append(struct tn_against *a, struct tn_str name)
{
    if (a->output_count == a->output_cap) {
        size_t cap = a->output_cap ? 2 * a->output_cap : 16;
        struct tn_answered *more = tn_realloc(a->alloc, a->outputs, cap * sizeof(*more));
        if (!more) return NULL;
        a->outputs = more;
        a->output_cap = cap;
    }
    struct tn_answered *o = &a->outputs[a->output_count];
    *o = (struct tn_answered){.name = tn_arena_str(&a->arena, name)};
    if (!o->name.s) return NULL;
    a->output_count++;
    return o;
}

/* The first side makes the list; what the second has beside it, or lacks, is a mismatch. */
static void list(struct listing *l, const char *name, const struct tn_operand *value)
{
    struct tn_str text = tn_str_of(name);
    struct tn_answered *o = find(l->a, text);
    if (!o && l->which == 1) l->a->mismatch = "the second provider has an output that the first has not";
    if (!o) o = append(l->a, text);
    if (o) o->value[l->which] = *value;
    else l->no_memory = true;
}

static void list_numbers(struct listing *l, const char *name, const float *data, size_t rows, size_t width)
{
    struct tn_operand v = {.type = TN_EL_F32, .count = (uint64_t)rows * width, .data = data};
    if (rows != 1) v.dims[v.rank++] = (int64_t)rows;
    v.dims[v.rank++] = (int64_t)width;
    list(l, name, &v);
}

static void list_value(struct listing *l, const char *name, const tn_port_value *v, unsigned depth)
{
    char inner[320];
    if (v->kind != TN_VALUE_TENSOR) {
        for (size_t i = 0; depth < 8 && i < v->item_count; i++) {
            snprintf(inner, sizeof(inner), "%.250s/%s", name, v->kind == TN_VALUE_MAP ? i ? "values" : "keys" : "");
            if (v->kind != TN_VALUE_MAP) snprintf(inner, sizeof(inner), "%.250s/%zu", name, i);
            list_value(l, inner, &v->items[i], depth + 1);
        }
        return;
    }
    struct tn_operand o = {.type = (enum tn_element)tn_onnx_element_named(tn_str_of(v->element)), .rank = (uint32_t)v->rank, .count = 1, .data = v->data};
    for (size_t i = 0; i < v->rank; i++) {
        o.dims[i] = v->dims[i];
        o.count *= (uint64_t)v->dims[i];
    }
    list(l, name, &o);
}

/* A vector of so many zeros that lives as long as the comparison. */
static float *zeros(struct listing *l, size_t count)
{
    float *v = tn_arena_array(&l->a->arena, count + 1, sizeof(*v));
    l->no_memory |= !v;
    return v;
}

static void list_terms(struct listing *l, const char *name, const tn_event *e)
{
    float *row = zeros(l, e->dimensions);
    for (size_t i = 0; row && i < e->active; i++) row[e->indices[i]] = e->values[i];
    if (row) list_numbers(l, name, row, 1, e->dimensions);
}

/* By label and not by rank: two that swap places would otherwise be compared with each other. */
static void list_labels(struct listing *l, const char *name, const tn_event *e)
{
    size_t most = 0;
    for (size_t i = 0; i < e->label_count; i++) most = e->labels[i].id + 1 > most ? e->labels[i].id + 1 : most;
    float *row = zeros(l, most);
    for (size_t i = 0; row && i < e->label_count; i++) row[e->labels[i].id] = e->labels[i].score;
    if (row) list_numbers(l, name, row, 1, most);
}

static void list_scores(struct listing *l, const char *name, const tn_event *e)
{
    size_t n = e->tag_count + e->answer_count;
    for (size_t m = 0; m < e->mask_count; m++) n += e->masks[m].fill_count;
    float *row = zeros(l, n);
    size_t k = 0;
    for (size_t i = 0; row && i < e->tag_count; i++) row[k++] = e->tags[i].score;
    for (size_t i = 0; row && i < e->answer_count; i++) row[k++] = e->answers[i].score;
    for (size_t m = 0; row && m < e->mask_count; m++)
        for (size_t i = 0; i < e->masks[m].fill_count; i++) row[k++] = e->masks[m].fills[i].score;
    if (row) list_numbers(l, name, row, 1, n);
}

static void list_event(struct listing *l, const tn_event *e)
{
    char name[320];
    snprintf(name, sizeof(name), "item %zu", e->index);
    for (size_t i = 0; i < e->tensor_count; i++) {
        const tn_string *n = &e->tensors[i].name;
        snprintf(name, sizeof(name), "%.*s", (int)(n->length < 250 ? n->length : 250), n->data);
        list_value(l, name, &e->tensors[i], 0);
    }
    if (e->tensor_count) return;
    if (e->logit_count) list_numbers(l, name, e->logits, 1, e->logit_count);
    else if (e->indices || e->active) list_terms(l, name, e);
    else if (e->embedding && e->vectors) list_numbers(l, name, e->embedding, e->vectors, e->dimensions);
    else if (e->embedding) list_numbers(l, name, e->embedding, 1, e->dimensions);
    else if (e->label_count) list_labels(l, name, e);
    else if (e->tag_count + e->answer_count + e->mask_count) list_scores(l, name, e);
    else list_numbers(l, name, &e->score, 1, 1);
}

struct tn_tolerance tn_against_tolerance(const struct tn_against *a, enum tn_element type)
{
    const tn_compare_options *o = a->env->options;
    bool reduced = false;
    for (unsigned i = 0; i < 2; i++) reduced |= a->side[i].plan->row->assessment.numeric.compute == TN_COMPUTE_BF16;
    if (o->absolute > 0 || o->relative > 0) return (struct tn_tolerance){o->absolute, o->relative, "as the caller said"};
    return tn_tolerance_of(type, reduced);
}

enum tn_status tn_against_pair(struct tn_against *a, struct tn_error *err)
{
    bool no_memory = false;
    for (unsigned which = 0; which < 2; which++) {
        struct listing l = {a, which, false};
        for (size_t i = 0; i < a->side[which].event_count; i++) list_event(&l, &a->side[which].events[i]);
        no_memory |= l.no_memory;
    }
    a->agrees = !a->mismatch;
    for (size_t i = 0; i < a->output_count; i++) {
        struct tn_answered *o = &a->outputs[i];
        if (o->value[1].type == TN_EL_NONE && !a->mismatch) a->mismatch = "the second provider lacks an output that the first has";
        o->tolerance = tn_against_tolerance(a, o->value[1].type);
        tn_agree(&o->value[0], &o->value[1], &o->tolerance, &o->agreement);
        a->agrees &= o->agreement.agrees;
    }
    if (a->mismatch) a->agrees = false;
    return no_memory ? tn_error_memory(err, TN_PHASE_EXECUTE, "comparing providers") : TN_OK;
}
