/*
 * Runtime values: dense tensors, and what ONNX builds from them: sequences, maps and optionals. Reference-counted and
 * immutable once published; all memory comes from a heap that keeps freed blocks, so that a call which repeats the shapes
 * of the last one asks the system for nothing.
 *
 * A heap and the values of it belong to one thread at a time (kernels' teams only read and write through the pointers
 * they are given). Values may be handed to another thread together with their heap.
 */
#ifndef TN_TENSOR_TENSOR_H
#define TN_TENSOR_TENSOR_H

#include "base/alloc.h"
#include "package/package.h"
#include "tensor/element.h"

enum { TN_RANK = TN_MAX_RANK };

/* ---- heap --------------------------------------------------------------------------------------------------------- */

enum { TN_HEAP_CLASSES = 256 };

struct tn_heap_block;

struct tn_heap {
    struct tn_alloc *alloc;
    struct tn_heap_block *free[TN_HEAP_CLASSES]; /* by size class: four to a doubling */
    uint64_t held, live; /* bytes taken from alloc, and of them in use */
};

void tn_heap_init(struct tn_heap *heap, struct tn_alloc *alloc);
/* All values of the heap must be gone. */
void tn_heap_release(struct tn_heap *heap);
/* Gives kept blocks back to the allocator. */
void tn_heap_trim(struct tn_heap *heap);
/* Uninitialised, aligned to 64; NULL without memory. */
void *tn_heap_take(struct tn_heap *heap, size_t bytes);
void tn_heap_give(struct tn_heap *heap, void *p);
/* What a block of so many bytes takes from the allocator, once. */
uint64_t tn_heap_cost(size_t bytes);

/* ---- values ------------------------------------------------------------------------------------------------------- */

enum tn_tensor_kind {
    TN_KIND_NONE, /* not known, or absent */
    TN_KIND_TENSOR,
    TN_KIND_SEQUENCE, /* items of one type */
    TN_KIND_OPTIONAL, /* one item or none */
    TN_KIND_MAP       /* keys: items[0], a tensor [n]; values: items[1], a tensor [n] or a sequence */
};

struct tn_tensor {
    uint32_t refs;
    enum tn_tensor_kind kind;
    enum tn_element element; /* of a tensor; of an empty sequence of tensors, that of its items */
    uint32_t rank;
    int64_t dims[TN_RANK];
    uint64_t count; /* elements of a tensor, items of the others */
    size_t bytes;
    void *data; /* aligned to 64 where the value owns it */
    struct tn_tensor **items;
    struct tn_tensor *base; /* whose memory `data` is: a view keeps it alive; NULL: own or foreign memory */
    struct tn_heap *heap;
    struct tn_heap_texts *texts; /* bytes of a string tensor's elements */
    struct tn_pages *pages; /* of foreign memory that is not all there (pages.h); NULL: it is */
    bool placed; /* in memory that somebody else plans */
};

/* In front of a value's own elements. */
enum { TN_TENSOR_HEAD = (sizeof(struct tn_tensor) + 63) & ~63 };

/* Uninitialised elements (strings: empty). NULL without memory or when the size overflows. dims are not negative. */
struct tn_tensor *tn_tensor_new(struct tn_heap *heap, enum tn_element element, uint32_t rank, const int64_t *dims);
/* The same elements under other dimensions of the same count; shares the memory. */
struct tn_tensor *tn_tensor_view(struct tn_tensor *t, uint32_t rank, const int64_t *dims);
/* Elements that somebody else keeps alive for as long as the value: an initialiser, a request. */
struct tn_tensor *tn_tensor_foreign(struct tn_heap *heap, enum tn_element element, uint32_t rank, const int64_t *dims,
                                    void *data);
/*
 * Uninitialised elements of numbers in `memory`, value and all: tn_tensor_room bytes, aligned to 64, which is the caller's
 * again once the value has been dropped. NULL when the size overflows.
 */
struct tn_tensor *tn_tensor_place(struct tn_heap *heap, void *memory, enum tn_element element, uint32_t rank, const int64_t *dims);
/* Bytes for a value of so many bytes of elements; false on overflow. */
bool tn_tensor_room(size_t bytes, size_t *out);
/* A sequence, optional or map over `count` items, each of which gains a reference. */
struct tn_tensor *tn_tensor_group(struct tn_heap *heap, enum tn_tensor_kind kind, struct tn_tensor *const *items,
                                  uint64_t count);
/* Everything below a value, in memory of another heap. NULL without memory. */
struct tn_tensor *tn_tensor_copy(struct tn_heap *heap, const struct tn_tensor *t);
/*
 * The same for a value that its owner gives away, whose reference goes over: without copying where nobody else has it and the
 * heaps take from one allocator. NULL without memory; the reference is gone in either case.
 */
struct tn_tensor *tn_tensor_move(struct tn_heap *heap, struct tn_tensor *t);
/* Both take NULL. */
struct tn_tensor *tn_tensor_keep(struct tn_tensor *t);
void tn_tensor_drop(struct tn_tensor *t);

/* Sets element i of a string tensor that is not published yet, to a copy of the text. False without memory. */
bool tn_tensor_set_text(struct tn_tensor *t, size_t i, struct tn_str text);
/* Elements of a shape; false on overflow or a negative dimension. */
bool tn_shape_count(const int64_t *dims, uint32_t rank, uint64_t *out);

static inline const struct tn_str *tn_tensor_texts(const struct tn_tensor *t)
{
    return t->data;
}

#endif
