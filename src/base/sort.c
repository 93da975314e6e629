/* Heapsort over items of any size; see the header for why. Trusts `order` to be a total order. */
#include "base/sort.h"

#include <string.h>

int tn_str_order(struct tn_str a, struct tn_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.s, b.s, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

struct heap {
    char *items;
    size_t size;
    tn_order_fn *order;
    void *context;
};

static int compare(const struct heap *h, size_t a, size_t b)
{
    return h->order(h->items + a * h->size, h->items + b * h->size, h->context);
}

static void swap(const struct heap *h, size_t a, size_t b)
{
    char kept[TN_SORT_ITEM];
    memcpy(kept, h->items + a * h->size, h->size);
    memcpy(h->items + a * h->size, h->items + b * h->size, h->size);
    memcpy(h->items + b * h->size, kept, h->size);
}

/* Restores the heap below `root` within the first `count` items. */
static void sift_down(const struct heap *h, size_t root, size_t count)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) return;
        if (child + 1 < count && compare(h, child, child + 1) < 0) child++;
        if (compare(h, root, child) >= 0) return;
        swap(h, root, child);
        root = child;
    }
}

void tn_sort(void *items, size_t count, size_t size, tn_order_fn *order, void *context)
{
    struct heap h = {items, size, order, context};
    size_t sorted = 1;
    while (sorted < count && compare(&h, sorted - 1, sorted) <= 0) sorted++;
    if (sorted >= count) return;
    for (size_t i = count / 2; i-- > 0;) sift_down(&h, i, count);
    for (size_t end = count - 1; end > 0; end--) {
        swap(&h, 0, end);
        sift_down(&h, 0, end);
    }
}
