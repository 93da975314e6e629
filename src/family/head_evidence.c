/*
 * What in a package says which head its weights have, on one line: class, labels, the convention's word, the module list,
 * tensors of heads. Every refusal that is about heads quotes the same line. Pure.
 */
#include "family/family.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
    char *out;
    size_t n, cap;
    bool cut;
};

static void append(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct line *l, const char *format, ...)
{
    va_list args;
    size_t room = l->cap - l->n;
    va_start(args, format);
    int n = vsnprintf(l->out + l->n, room, format, args);
    va_end(args);
    l->cut = l->cut || (n > 0 && (size_t)n >= room);
    l->n = l->cut ? l->cap - 1 : l->n + (n > 0 ? (size_t)n : 0);
}

/* In front of each piece of evidence. */
static const char *next(const struct line *l)
{
    return l->n > 0 ? "; " : "";
}

const struct tn_fact *tn_fact_named(const struct tn_description *d, const char *name)
{
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (tn_str_is(d->facts[i].name, name)) return &d->facts[i];
    return NULL;
}

bool tn_class_is_stated(const struct tn_description *d)
{
    const struct tn_fact *f = tn_fact_named(d, "encoder.architecture");
    return f && f->origin == TN_FROM_FILE;
}

static void add_place(struct line *l, const struct tn_fact *f)
{
    if (f && f->origin == TN_FROM_FILE) append(l, " (%.*s %.*s)", TN_FMT_ARG(f->file), TN_FMT_ARG(f->pointer));
}

static void add_labels(struct line *l, const struct tn_description *d)
{
    const struct tn_head *h = d->head;
    if (!h || !h->labels) return;
    append(l, "%s%llu label%s", next(l), (unsigned long long)h->outputs, h->outputs == 1 ? "" : "s");
    add_place(l, tn_fact_named(d, "head.outputs") ? tn_fact_named(d, "head.outputs") : tn_fact_named(d, "head.labels"));
}

static void add_scorer(struct line *l, const struct tn_description *d)
{
    if (!d->head || !d->head->cross_encoder) return;
    append(l, "%ssaved as a CrossEncoder", next(l));
    add_place(l, tn_fact_named(d, "head.cross_encoder"));
}

static void add_chain(struct line *l, const struct tn_description *d)
{
    if (d->module_count == 0) append(l, "%sno module list", next(l));
    for (uint32_t i = 0; i < d->module_count; i++) {
        if (i == 0) append(l, "%s%.*s lists", next(l), TN_FMT_ARG(d->chain_document));
        append(l, "%s %s", i ? "," : "", tn_module_kind_name(d->modules[i].kind));
    }
}

/* Tensors under names that the family's heads have: what the weights themselves say. */
static void add_tensors(struct line *l, const struct tn_description *d, const struct tn_component *c)
{
    const struct tn_family *family = tn_family_of(c);
    const struct tn_variant *v = c->variant ? c->variant : d->variant;
    const char *told = NULL;
    bool any = false;
    for (size_t k = 0; family && v && k < family->head_count; k++) {
        const struct tn_family_head *h = &family->heads[k];
        for (size_t r = 0; r < h->tensor_count; r++) {
            const char *name = h->tensors[r].name;
            if (!(h->tensors[r].flags & TN_TENSOR_BARE) || strchr(name, '%')) continue;
            if (!tn_variant_tensor(d->inv, v, tn_str_of(name))) continue;
            if (!told || strcmp(told, name) != 0) append(l, "%stensor %s", next(l), name);
            any = true;
            told = name;
            break; /* one of each head says it */
        }
    }
    if (family && v && family->head_count && !any) append(l, "%sno tensor of a head", next(l));
}

void tn_head_evidence(const struct tn_description *d, char *out, size_t cap)
{
    struct line l = {.out = out, .cap = cap};
    out[0] = 0;
    if (d->component_count == 0) return;
    const struct tn_component *c = &d->components[0];
    append(&l, "class %.*s", TN_FMT_ARG(c->architecture));
    if (tn_class_is_stated(d)) add_place(&l, tn_fact_named(d, "encoder.architecture"));
    else append(&l, ", by default");
    add_labels(&l, d);
    add_scorer(&l, d);
    add_chain(&l, d);
    add_tensors(&l, d, c);
    if (l.cut && cap > 3) memcpy(out + cap - 4, "...", 4);
}
