/*
 * One port, one meaning: no two keys of a section name the same input or output, names of layers written out. The key that
 * stands later in the document is refused and the earlier one named; a default was there before every key.
 */
#include "describe/dialect/genai.h"

#include "base/sort.h"

#include <string.h>

static const char *const direction_keys[] = {"inputs", "outputs"};

static uint32_t place_of(const struct tn_genai_binding *x)
{
    return tn_json_present(x->at) ? x->at.node : 0;
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct tn_genai_binding *x = *(const struct tn_genai_binding *const *)a, *y = *(const struct tn_genai_binding *const *)b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    (void)context;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    int order = n ? memcmp(x->name.s, y->name.s, n) : 0;
    if (order != 0) return order;
    if (x->name.n != y->name.n) return x->name.n < y->name.n ? -1 : 1;
    if (place_of(x) != place_of(y)) return place_of(x) < place_of(y) ? -1 : 1;
    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

static bool same_port(const struct tn_genai_binding *x, const struct tn_genai_binding *y)
{
    return x->direction == y->direction && tn_str_eq(x->name, y->name);
}

static void refuse(struct tn_genai *g, const struct tn_genai_binding *first, const struct tn_genai_binding *second)
{
    char text[256];
    struct tn_finding *f = tn_genai_refuse(g, second->at, "names a port that another key names");
    tn_found(f, "%s \"%.*s\", which is %s of /model/%s/%s", second->direction == TN_GENAI_INPUT ? "input" : "output",
             TN_FMT_ARG(second->name), first->port->key, first->port->section, direction_keys[first->direction]);
    if (tn_json_present(first->at))
        tn_expected(f, "another port than that of %.*s", TN_FMT_ARG(tn_json_pointer(first->at, text, sizeof(text))));
    else tn_expected(f, "another port than \"%s\", the default of %s", first->port->name, first->port->key);
}

static bool is_told(const struct tn_genai_binding *const *told, size_t count, const struct tn_genai_binding *x)
{
    for (size_t i = 0; i < count; i++)
        if (told[i]->at.node == x->at.node) return true;
    return false;
}

/* A pattern is refused once, at its first name. */
static bool compare(struct tn_genai *g, const struct tn_genai_binding **sorted, size_t count)
{
    enum { MOST = 32 }; /* keys told one by one: a section has no more of one direction */
    const struct tn_genai_binding *told[MOST];
    size_t told_count = 0, first = 0;
    bool twice = false;
    for (size_t i = 1; i < count; i++) {
        if (!same_port(sorted[first], sorted[i])) {
            first = i;
            continue;
        }
        twice = true;
        if (!tn_json_present(sorted[i]->at) || is_told(told, told_count, sorted[i])) continue;
        refuse(g, sorted[first], sorted[i]);
        if (told_count < MOST) told[told_count++] = sorted[i];
    }
    return twice;
}

bool tn_genai_named_twice(struct tn_genai *g, const struct tn_genai_bindings *list)
{
    size_t count = 0;
    if (list->count < 2 || g->b->failed != TN_OK) return false;
    const struct tn_genai_binding **sorted = tn_calloc(g->b->alloc, list->count, sizeof(*sorted));
    if (!sorted) {
        tn_builder_no_memory(g->b);
        return false;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].port) sorted[count++] = &list->items[i];
    tn_sort(sorted, count, sizeof(*sorted), by_name, NULL);
    bool twice = compare(g, sorted, count);
    tn_free(g->b->alloc, sorted);
    return twice;
}
