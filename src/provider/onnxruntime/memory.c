/*
 * Memory that the library takes through us. The interface knows one allocator for a whole environment, while we count by
 * session: so each thread says for which session it is about to call, and a block remembers whose it is. Threads of the
 * library's own, which hardly ever allocate, are charged to the only session that is being called, else to the runtime.
 */
#include "provider/onnxruntime/ort.h"

#include <string.h>

/* In front of each block. */
struct head {
    struct tn_ort_memory *memory; /* NULL: of the runtime */
    bool kept;                 /* from the heap */
};
enum { HEAD = 64 };
_Static_assert(sizeof(struct head) <= HEAD, "what is in front of a block keeps it aligned");

bool tn_ort_memory_init(struct tn_ort_memory *m, struct tn_alloc *alloc)
{
    *m = (struct tn_ort_memory){.alloc = alloc, .loading = true};
    tn_heap_init(&m->heap, alloc);
    return tn_mutex_init(&m->lock);
}

void tn_ort_memory_release(struct tn_ort_memory *m)
{
    tn_heap_release(&m->heap);
    tn_mutex_release(&m->lock);
}

/* ---- whose ------------------------------------------------------------------------------------------------------------ */

void tn_ort_enter(struct tn_ort *ort, struct tn_ort_memory *m)
{
    tn_mutex_lock(&ort->callers_lock);
    if (ort->caller_count < TN_ORT_CALLERS) ort->callers[ort->caller_count++] = (struct tn_ort_caller){tn_thread_self(), m};
    tn_mutex_unlock(&ort->callers_lock);
}

void tn_ort_leave(struct tn_ort *ort)
{
    uint64_t self = tn_thread_self();
    tn_mutex_lock(&ort->callers_lock);
    for (unsigned i = ort->caller_count; i-- > 0;) {
        if (ort->callers[i].thread != self) continue;
        ort->callers[i] = ort->callers[--ort->caller_count];
        break;
    }
    tn_mutex_unlock(&ort->callers_lock);
}

static struct tn_ort_memory *whose(struct tn_ort *ort)
{
    uint64_t self = tn_thread_self();
    struct tn_ort_memory *found = NULL;
    tn_mutex_lock(&ort->callers_lock);
    for (unsigned i = 0; !found && i < ort->caller_count; i++)
        if (ort->callers[i].thread == self) found = ort->callers[i].memory;
    if (!found && ort->caller_count == 1) found = ort->callers[0].memory;
    tn_mutex_unlock(&ort->callers_lock);
    return found;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------------- */

static void *host_alloc(struct tn_ort_allocator *self, size_t size)
{
    struct tn_ort *ort = ((struct tn_ort_host *)self)->ort;
    struct tn_ort_memory *m = whose(ort);
    struct head head = {m, false};
    char *p = NULL;
    if (size == 0 || size > SIZE_MAX - HEAD) return NULL;
    if (!m) {
        p = tn_malloc_aligned(ort->ctx->alloc, size + HEAD, HEAD);
    } else {
        tn_mutex_lock(&m->lock);
        head.kept = !m->loading;
        p = m->loading ? tn_malloc_aligned(m->alloc, size + HEAD, HEAD) : tn_heap_take(&m->heap, size + HEAD);
        if (p) m->blocks++;
        else m->refused = true;
        tn_mutex_unlock(&m->lock);
    }
    if (!p) return NULL;
    memcpy(p, &head, sizeof(head));
    return p + HEAD;
}

static void host_free(struct tn_ort_allocator *self, void *p)
{
    struct tn_ort *ort = ((struct tn_ort_host *)self)->ort;
    struct head head;
    if (!p) return;
    char *block = (char *)p - HEAD;
    memcpy(&head, block, sizeof(head));
    struct tn_ort_memory *m = head.memory;
    if (!m) {
        tn_free(ort->ctx->alloc, block);
        return;
    }
    tn_mutex_lock(&m->lock);
    m->blocks--;
    if (head.kept) tn_heap_give(&m->heap, block);
    else tn_free(m->alloc, block);
    tn_mutex_unlock(&m->lock);
}

static const struct tn_ort_memory_info *host_info(const struct tn_ort_allocator *self)
{
    return ((const struct tn_ort_host *)self)->ort->info;
}

void tn_ort_host_init(struct tn_ort *ort)
{
    ort->host = (struct tn_ort_host){{TN_ORT_ALLOCATOR_VERSION, host_alloc, host_free, host_info}, ort};
}
