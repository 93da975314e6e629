/* What the names of a YAML document stand for. Names are hostile but bounded in number; look-ups are binary searches. */
#include "base/checked.h"
#include "base/yaml_parts.h"

#include <string.h>

bool tn_yaml_make_room(struct tn_alloc *alloc, void **items, size_t *cap, size_t count, size_t size)
{
    if (count <= *cap) return true;
    size_t more = *cap ? *cap : 32, bytes;
    while (more < count) {
        if (!tn_mul(more, 2, &more)) return false;
    }
    void *moved = tn_mul(more, size, &bytes) ? tn_realloc(alloc, *items, bytes) : NULL;
    if (!moved) return false;
    *items = moved;
    *cap = more;
    return true;
}

void tn_yaml_anchors_init(struct tn_yaml_anchors *a, struct tn_alloc *alloc)
{
    *a = (struct tn_yaml_anchors){.alloc = alloc};
    tn_arena_init(&a->names, alloc);
}

void tn_yaml_anchors_release(struct tn_yaml_anchors *a)
{
    tn_free(a->alloc, a->items);
    tn_free(a->alloc, a->sorted);
    tn_arena_release(&a->names);
}

static int compare(struct tn_str a, struct tn_str b)
{
    int order = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Where the name is in `sorted`, or where it belongs. */
static bool find(const struct tn_yaml_anchors *a, struct tn_str name, size_t *at)
{
    size_t low = 0, high = a->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(a->items[a->sorted[middle]].name, name);
        if (order == 0) {
            *at = middle;
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *at = low;
    return false;
}

const struct tn_yaml_anchor *tn_yaml_anchors_find(const struct tn_yaml_anchors *a, struct tn_str name)
{
    size_t at;
    return find(a, name, &at) ? &a->items[a->sorted[at]] : NULL;
}

bool tn_yaml_anchors_add(struct tn_yaml_anchors *a, struct tn_str name, const struct tn_yaml_anchor *anchor)
{
    void *items = a->items, *sorted = a->sorted;
    if (!tn_yaml_make_room(a->alloc, &items, &a->cap, a->count + 1, sizeof(*a->items))) return false;
    a->items = items;
    if (!tn_yaml_make_room(a->alloc, &sorted, &a->sorted_cap, a->sorted_count + 1, sizeof(*a->sorted))) return false;
    a->sorted = sorted;
    struct tn_str copy = tn_arena_str(&a->names, name);
    if (!copy.s) return false;
    size_t at;
    if (!find(a, copy, &at)) {
        memmove(a->sorted + at + 1, a->sorted + at, (a->sorted_count - at) * sizeof(*a->sorted));
        a->sorted_count++;
    }
    a->sorted[at] = (uint32_t)a->count;
    a->items[a->count] = *anchor;
    a->items[a->count++].name = copy;
    return true;
}
