/* Bytes of a file as they are asked for; see the header. */
#include "tensor/pages.h"

#include "base/os_thread.h"

enum { PAGE = 4096 };

struct tn_pages {
    struct tn_alloc *alloc;
    struct tn_os_file file;
    uint64_t offset;
    size_t bytes;
    char *data;     /* from an allocation that asks for no huge pages */
    uint8_t *there; /* a bit for each page of data */
    struct tn_mutex mutex;
    enum tn_status failed; /* sticky: pages that others read are not read over */
};

struct tn_pages *tn_pages_new(struct tn_alloc *alloc, struct tn_os_file *file, uint64_t offset, size_t bytes)
{
    struct tn_pages *p = tn_calloc(alloc, 1, sizeof(*p));
    if (p) {
        p->data = tn_malloc(alloc, bytes);
        p->there = tn_calloc(alloc, bytes / PAGE / 8 + 1, 1);
    }
    if (!p || !p->data || !p->there || !tn_mutex_init(&p->mutex)) {
        if (p) {
            tn_free(alloc, p->data);
            tn_free(alloc, p->there);
        }
        tn_free(alloc, p);
        tn_os_close(file);
        return NULL;
    }
    tn_os_advise_small(p->data, bytes);
    p->alloc = alloc;
    p->file = *file;
    p->offset = offset;
    p->bytes = bytes;
    return p;
}

void tn_pages_free(struct tn_pages *p)
{
    if (!p) return;
    tn_mutex_release(&p->mutex);
    tn_os_close(&p->file);
    tn_free(p->alloc, p->data);
    tn_free(p->alloc, p->there);
    tn_free(p->alloc, p);
}

void *tn_pages_data(const struct tn_pages *p)
{
    return p->data;
}

static bool is_there(const struct tn_pages *p, size_t page)
{
    return p->there[page / 8] >> page % 8 & 1;
}

/* Pages [first, last) at once. */
static bool read_pages(struct tn_pages *p, size_t first, size_t last)
{
    size_t begin = first * PAGE, end = last * PAGE < p->bytes ? last * PAGE : p->bytes;
    if (tn_os_read(&p->file, p->offset + begin, p->data + begin, end - begin)) return false;
    for (size_t i = first; i < last; i++) p->there[i / 8] |= (uint8_t)(1u << i % 8);
    return true;
}

/* What is missing of [begin, end). */
static bool read_range(struct tn_pages *p, size_t begin, size_t end, bool *any)
{
    size_t last = end / PAGE + (end % PAGE != 0);
    for (size_t i = begin / PAGE; i < last; i++) {
        size_t n = i;
        while (n < last && !is_there(p, n)) n++;
        if (n == i) continue;
        *any = true;
        if (!read_pages(p, i, n)) return false;
        i = n;
    }
    return true;
}

static bool unchanged(const struct tn_pages *p)
{
    struct tn_file_stamp now;
    return tn_os_stamp(&p->file, &now) == 0 && now.size == p->file.stamp.size && now.mtime_ns == p->file.stamp.mtime_ns;
}

enum tn_status tn_pages_need(struct tn_pages *p, const int64_t *index, size_t count, size_t each)
{
    bool any = false, good = true;
    tn_mutex_lock(&p->mutex);
    for (size_t i = 0; i < count && each && good && !p->failed; i++) good = read_range(p, (size_t)index[i] * each, ((size_t)index[i] + 1) * each, &any);
    if (any && !unchanged(p)) p->failed = TN_ARTIFACT_STALE;
    else if (!good) p->failed = TN_ARTIFACT_MALFORMED;
    enum tn_status st = p->failed;
    tn_mutex_unlock(&p->mutex);
    return st;
}
