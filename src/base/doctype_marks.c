/*
 * Which nodes of a document its table refused, for the checks behind it. A sorted list: the documents that matter here
 * have a handful of faults, and hostile ones no more than they have nodes.
 */
#include "base/doctype_text.h"
#include "base/sort.h"

#include <string.h>

void tn_doc_mark(struct tn_doc_marks *marks, struct tn_json v, const char *member)
{
    if (!v.doc || marks->lost) return;
    if (marks->count == marks->cap) {
        size_t cap = marks->cap ? 2 * marks->cap : 16;
        struct tn_doc_mark *items = tn_realloc(v.doc->alloc, marks->items, cap * sizeof(*items));
        marks->lost = !items;
        if (!items) return;
        marks->alloc = v.doc->alloc;
        marks->items = items;
        marks->cap = cap;
    }
    marks->items[marks->count++] = (struct tn_doc_mark){v.node, member};
}

static int by_node(const void *a, const void *b, void *context)
{
    const struct tn_doc_mark *x = a, *y = b;
    (void)context;
    int order = (x->node > y->node) - (x->node < y->node);
    return order ? order : (x->member != NULL) - (y->member != NULL);
}

bool tn_doc_marks_sort(struct tn_doc_marks *marks)
{
    if (marks->count) tn_sort(marks->items, marks->count, sizeof(*marks->items), by_node, NULL);
    return !marks->lost;
}

void tn_doc_marks_whole(struct tn_doc_marks *marks, struct tn_json value)
{
    tn_doc_mark(marks, value, NULL);
    (void)tn_doc_marks_sort(marks);
}

void tn_doc_marks_release(struct tn_doc_marks *marks)
{
    if (marks->items) tn_free(marks->alloc, marks->items);
    memset(marks, 0, sizeof(*marks));
}

/* The first mark at or behind a node. */
static size_t first_from(const struct tn_doc_marks *marks, uint32_t node)
{
    size_t low = 0, high = marks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks->items[middle].node < node) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool tn_doc_is_broken(const struct tn_doc_marks *marks, struct tn_json value)
{
    if (!marks || marks->count == 0) return false;
    for (struct tn_json v = value; tn_json_present(v); v = tn_json_parent(v)) {
        size_t i = first_from(marks, v.node); /* of one node, that of the value comes first */
        if (i < marks->count && marks->items[i].node == v.node && !marks->items[i].member) return true;
    }
    return false;
}

bool tn_doc_is_touched(const struct tn_doc_marks *marks, struct tn_json value)
{
    if (!marks || marks->count == 0 || !value.doc) return false;
    size_t i = first_from(marks, value.node);
    if (i < marks->count && marks->items[i].node < tn_json_end(value)) return true;
    return tn_doc_is_broken(marks, value);
}

bool tn_doc_hides(const struct tn_doc_marks *marks, struct tn_json object, const char *member)
{
    if (!marks || marks->count == 0 || !object.doc) return false;
    if (tn_doc_is_broken(marks, object) || tn_doc_is_touched(marks, tn_json_get(object, member))) return true;
    for (size_t i = first_from(marks, object.node); i < marks->count && marks->items[i].node == object.node; i++)
        if (marks->items[i].member && strcmp(marks->items[i].member, member) == 0) return true;
    return false;
}
