/* Heap and values; see the header. Sizes that are made from untrusted shapes are checked here, once for all kernels. */
#include "tensor/tensor.h"

#include "base/checked.h"

#include <string.h>

/* ---- heap --------------------------------------------------------------------------------------------------------- */

/* In front of what the caller gets, so that it stays aligned to 64. */
struct tn_heap_block {
    _Alignas(64) struct tn_heap_block *next;
    size_t bytes; /* behind the header */
    unsigned size_class;
};

void tn_heap_init(struct tn_heap *heap, struct tn_alloc *alloc)
{
    *heap = (struct tn_heap){.alloc = alloc};
}

void tn_heap_trim(struct tn_heap *heap)
{
    for (size_t i = 0; i < TN_HEAP_CLASSES; i++) {
        while (heap->free[i]) {
            struct tn_heap_block *b = heap->free[i];
            heap->free[i] = b->next;
            heap->held -= b->bytes;
            tn_free(heap->alloc, b);
        }
    }
}

void tn_heap_release(struct tn_heap *heap)
{
    if (heap->alloc) tn_heap_trim(heap);
}

/* The smallest of 64 * {4, 5, 6, 7} * 2^n that holds the bytes: at most a quarter is lost. */
static bool size_class(size_t bytes, unsigned *index, size_t *rounded)
{
    size_t units = bytes / 64 + (bytes % 64 != 0), quarter = 1;
    unsigned n = 0;
    while (quarter * 7 < units) {
        if (quarter > SIZE_MAX / 1024) return false;
        quarter *= 2;
        n++;
    }
    size_t steps = (units + quarter - 1) / quarter;
    if (steps < 4) steps = n ? 4 : steps ? steps : 1;
    *index = n * 8 + (unsigned)steps;
    *rounded = steps * quarter * 64;
    return *index < TN_HEAP_CLASSES;
}

uint64_t tn_heap_cost(size_t bytes)
{
    unsigned index;
    size_t rounded;
    return size_class(bytes, &index, &rounded) ? (uint64_t)rounded + sizeof(struct tn_heap_block) : UINT64_MAX / 4;
}

void *tn_heap_take(struct tn_heap *heap, size_t bytes)
{
    unsigned index;
    size_t rounded, whole;
    if (!size_class(bytes, &index, &rounded) || !tn_add(rounded, sizeof(struct tn_heap_block), &whole)) return NULL;
    struct tn_heap_block *b = heap->free[index];
    if (b) {
        heap->free[index] = b->next;
    } else {
        b = tn_malloc_aligned(heap->alloc, whole, 64);
        if (!b) return NULL;
        b->bytes = rounded;
        b->size_class = index;
        heap->held += rounded;
    }
    heap->live += b->bytes;
    return b + 1;
}

void tn_heap_give(struct tn_heap *heap, void *p)
{
    if (!p) return;
    struct tn_heap_block *b = (struct tn_heap_block *)p - 1;
    heap->live -= b->bytes;
    b->next = heap->free[b->size_class];
    heap->free[b->size_class] = b;
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

/* Copied text, newest block first. */
struct tn_heap_texts {
    struct tn_heap_texts *next;
    size_t used, cap;
};

bool tn_shape_count(const int64_t *dims, uint32_t rank, uint64_t *out)
{
    /* Of an empty tensor the other dimensions count too: loops run over them, and their products must not overflow. */
    const uint64_t most_empty = UINT64_C(1) << 31;
    uint64_t count = 1;
    bool empty = false;
    for (uint32_t i = 0; i < rank; i++) {
        empty = empty || dims[i] == 0;
        if (dims[i] < 0 || (dims[i] && !tn_mul64(count, (uint64_t)dims[i], &count))) return false;
    }
    *out = empty ? 0 : count;
    return !empty || count <= most_empty;
}

static struct tn_tensor *begin_at(struct tn_tensor *t, struct tn_heap *heap, enum tn_tensor_kind kind)
{
    memset(t, 0, sizeof(*t));
    t->refs = 1;
    t->kind = kind;
    t->heap = heap;
    t->data = (char *)t + TN_TENSOR_HEAD;
    return t;
}

static struct tn_tensor *begin(struct tn_heap *heap, enum tn_tensor_kind kind, size_t extra)
{
    size_t whole;
    struct tn_tensor *t = tn_add(TN_TENSOR_HEAD, extra, &whole) ? tn_heap_take(heap, whole) : NULL;
    return t ? begin_at(t, heap, kind) : NULL;
}

static bool shape_it(struct tn_tensor *t, enum tn_element element, uint32_t rank, const int64_t *dims)
{
    t->element = element;
    t->rank = rank;
    if (rank) memcpy(t->dims, dims, rank * sizeof(*dims));
    return tn_shape_count(dims, rank, &t->count) && tn_element_bytes(element, t->count, &t->bytes);
}

struct tn_tensor *tn_tensor_new(struct tn_heap *heap, enum tn_element element, uint32_t rank, const int64_t *dims)
{
    struct tn_tensor shape = {0};
    if (rank > TN_RANK || !shape_it(&shape, element, rank, dims)) return NULL;
    struct tn_tensor *t = begin(heap, TN_KIND_TENSOR, shape.bytes);
    if (!t) return NULL;
    shape_it(t, element, rank, dims);
    if (element == TN_EL_STRING) memset(t->data, 0, t->bytes);
    return t;
}

bool tn_tensor_room(size_t bytes, size_t *out)
{
    return tn_add(TN_TENSOR_HEAD, bytes, out) && tn_round_up(*out, 64, out);
}

struct tn_tensor *tn_tensor_place(struct tn_heap *heap, void *memory, enum tn_element element, uint32_t rank, const int64_t *dims)
{
    struct tn_tensor *t = begin_at(memory, heap, TN_KIND_TENSOR);
    t->placed = true;
    return rank <= TN_RANK && element != TN_EL_STRING && shape_it(t, element, rank, dims) ? t : NULL;
}

struct tn_tensor *tn_tensor_view(struct tn_tensor *base, uint32_t rank, const int64_t *dims)
{
    struct tn_tensor *t = begin(base->heap, TN_KIND_TENSOR, 0);
    if (!t) return NULL;
    shape_it(t, base->element, rank, dims);
    t->data = base->data;
    t->base = tn_tensor_keep(base->base ? base->base : base);
    return t;
}

struct tn_tensor *tn_tensor_foreign(struct tn_heap *heap, enum tn_element element, uint32_t rank, const int64_t *dims,
                                    void *data)
{
    struct tn_tensor *t = begin(heap, TN_KIND_TENSOR, 0);
    if (!t) return NULL;
    if (!shape_it(t, element, rank, dims)) {
        tn_heap_give(heap, t);
        return NULL;
    }
    t->data = data;
    return t;
}

struct tn_tensor *tn_tensor_group(struct tn_heap *heap, enum tn_tensor_kind kind, struct tn_tensor *const *items,
                                  uint64_t count)
{
    size_t bytes;
    struct tn_tensor *t = count <= SIZE_MAX && tn_mul((size_t)count, sizeof(*items), &bytes) ? begin(heap, kind, bytes) : NULL;
    if (!t) return NULL;
    t->items = t->data;
    t->data = NULL;
    t->count = count;
    for (uint64_t i = 0; i < count; i++) t->items[i] = tn_tensor_keep(items[i]);
    return t;
}

static struct tn_tensor *copy_tensor(struct tn_heap *heap, const struct tn_tensor *t)
{
    struct tn_tensor *copy = tn_tensor_new(heap, t->element, t->rank, t->dims);
    if (!copy) return NULL;
    if (t->element != TN_EL_STRING) {
        if (t->bytes) memcpy(copy->data, t->data, t->bytes);
        return copy;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (tn_tensor_set_text(copy, i, tn_tensor_texts(t)[i])) continue;
        tn_tensor_drop(copy);
        return NULL;
    }
    return copy;
}

struct tn_tensor *tn_tensor_copy(struct tn_heap *heap, const struct tn_tensor *t)
{
    if (t->kind == TN_KIND_TENSOR) return copy_tensor(heap, t);
    struct tn_tensor *whole = NULL, **items = tn_heap_take(heap, ((size_t)t->count + 1) * sizeof(*items));
    uint64_t made = 0;
    while (items && made < t->count && (items[made] = tn_tensor_copy(heap, t->items[made]))) made++;
    if (items && made == t->count) whole = tn_tensor_group(heap, t->kind, items, t->count);
    if (whole) whole->element = t->element;
    for (uint64_t i = 0; i < made; i++) tn_tensor_drop(items[i]); /* the group has its own references */
    tn_heap_give(heap, items);
    return whole;
}

/* Numbers in memory of its own that one reference keeps. */
static bool is_sole(const struct tn_tensor *t)
{
    const char *own = (const char *)t + TN_TENSOR_HEAD;
    return t->refs == 1 && t->kind == TN_KIND_TENSOR && !t->texts && !t->base && !t->placed && t->data == own;
}

static void change_heap(struct tn_heap *to, struct tn_tensor *t)
{
    size_t bytes = ((struct tn_heap_block *)(void *)t - 1)->bytes;
    t->heap->held -= bytes;
    t->heap->live -= bytes;
    to->held += bytes;
    to->live += bytes;
    t->heap = to;
}

struct tn_tensor *tn_tensor_move(struct tn_heap *heap, struct tn_tensor *t)
{
    bool same = t->heap->alloc == heap->alloc, whole = is_sole(t);
    bool view = t->refs == 1 && t->kind == TN_KIND_TENSOR && !t->texts && t->base && t->base->heap == t->heap && is_sole(t->base);
    if (!same || (!whole && !view)) {
        struct tn_tensor *copy = tn_tensor_copy(heap, t);
        tn_tensor_drop(t);
        return copy;
    }
    if (view) change_heap(heap, t->base);
    change_heap(heap, t);
    return t;
}

struct tn_tensor *tn_tensor_keep(struct tn_tensor *t)
{
    if (t) t->refs++;
    return t;
}

void tn_tensor_drop(struct tn_tensor *t)
{
    if (!t || --t->refs) return;
    for (uint64_t i = 0; t->items && i < t->count; i++) tn_tensor_drop(t->items[i]);
    while (t->texts) {
        struct tn_heap_texts *texts = t->texts;
        t->texts = texts->next;
        tn_heap_give(t->heap, texts);
    }
    tn_tensor_drop(t->base);
    if (!t->placed) tn_heap_give(t->heap, t);
}

bool tn_tensor_set_text(struct tn_tensor *t, size_t i, struct tn_str text)
{
    struct tn_heap_texts *texts = t->texts;
    if (!texts || texts->cap - texts->used < text.n) {
        size_t cap = text.n > 4000 ? text.n : 4000, whole;
        texts = tn_add(cap, sizeof(*texts), &whole) ? tn_heap_take(t->heap, whole) : NULL;
        if (!texts) return false;
        *texts = (struct tn_heap_texts){.next = t->texts, .cap = cap};
        t->texts = texts;
    }
    char *at = (char *)(texts + 1) + texts->used;
    if (text.n) memcpy(at, text.s, text.n);
    texts->used += text.n;
    ((struct tn_str *)t->data)[i] = (struct tn_str){at, text.n};
    return true;
}
