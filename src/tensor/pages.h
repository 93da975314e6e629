/*
 * Bytes of a file that are read when they are asked for: a table of which calls need some rows, as embeddings are. They lie in
 * memory of their own (no map: a file that shrinks must become an error, never a signal), and what has been read stays.
 *
 * The file is held open. Its size and the time of its last change are looked at after each reading: once it was written to and
 * something is asked for that is not there yet, nothing can be had any more (TN_ARTIFACT_STALE). That it was renamed or
 * unlinked does not matter.
 * Any number of threads may ask at once.
 */
#ifndef TN_TENSOR_PAGES_H
#define TN_TENSOR_PAGES_H

#include "base/alloc.h"
#include "base/os.h"

struct tn_pages;

/* `bytes` of the file from `offset` on, which lie inside it. Takes the file over, also on failure. NULL without memory. */
struct tn_pages *tn_pages_new(struct tn_alloc *alloc, struct tn_os_file *file, uint64_t offset, size_t bytes);
void tn_pages_free(struct tn_pages *pages);
/* Where the bytes are: those that were asked for can be read. */
void *tn_pages_data(const struct tn_pages *pages);
/*
 * Parts `index[i]`, each of `each` bytes, all inside. Fails with TN_ARTIFACT_STALE, or TN_ARTIFACT_MALFORMED where the system
 * cannot read.
 */
enum tn_status tn_pages_need(struct tn_pages *pages, const int64_t *index, size_t count, size_t each);

#endif
