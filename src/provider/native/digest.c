/*
 * The weights identity. Chunks of 4 MiB are hashed by whichever thread has read them; the digest of digests does not
 * depend on who did. A finished identity is remembered under the stamps of the files it came from, so that opening the
 * same unchanged package again costs nothing. The remembered value names its key and is checked before use.
 */
#include "provider/native/native.h"

#include "base/sort.h"

#include <stdio.h>
#include <string.h>

static uint64_t chunks_of(const struct tn_tensor_info *t)
{
    return t->bytes / TN_DIGEST_CHUNK + (t->bytes % TN_DIGEST_CHUNK != 0);
}

/* What the identity was computed from: rule, roles with place and shape of their tensors, stamps of the files. */
static struct tn_digest cache_key(const struct tn_weights_digest *d)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("weights/2"));
    const struct tn_graph *g = d->graph;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        const struct tn_tensor_info *t = g->weights[i].tensor;
        const struct tn_file_stamp *s = &d->inv->files[t->file].stamp;
        tn_sha256_update_str(&h, g->weights[i].role);
        tn_sha256_update_u64(&h, t->dtype);
        tn_sha256_update_u64(&h, t->rank);
        for (uint32_t k = 0; k < t->rank; k++) tn_sha256_update_u64(&h, t->shape[k]);
        tn_sha256_update_u64(&h, t->offset);
        tn_sha256_update_u64(&h, s->device);
        tn_sha256_update_u64(&h, s->inode);
        tn_sha256_update_u64(&h, s->size);
        tn_sha256_update_u64(&h, (uint64_t)s->mtime_ns);
        tn_sha256_update_u64(&h, (uint64_t)s->ctime_ns);
    }
    return tn_sha256_finish(&h);
}

enum { PATH_SIZE = 4096, ENTRY_SIZE = 2 * (TN_SHA256_HEX - 1) + 2 };

static bool cache_path(const struct tn_context *ctx, const struct tn_digest *key, char *folder, char *path)
{
    char hex[TN_SHA256_HEX];
    if (!ctx->cache_folder || !ctx->cache_folder[0]) return false;
    int n = snprintf(folder, PATH_SIZE, "%s/weights", ctx->cache_folder);
    if (n < 0 || n >= PATH_SIZE) return false;
    n = snprintf(path, PATH_SIZE, "%s/weights/%s", ctx->cache_folder, tn_digest_hex(key, hex));
    return n > 0 && n < PATH_SIZE;
}

static int nibble(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_digest(const char *s, struct tn_digest *out)
{
    for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
        int high = nibble(s[2 * i]), low = nibble(s[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* An entry is "KEY VALUE\n" in hexadecimal; anything else is as good as absent. */
bool tn_digest_recall(const struct tn_context *ctx, const struct tn_digest *key, struct tn_digest *value)
{
    char folder[PATH_SIZE], path[PATH_SIZE], entry[ENTRY_SIZE];
    struct tn_os_file file;
    struct tn_digest stored;
    if (!cache_path(ctx, key, folder, path) || tn_os_open(path, &file)) return false;
    bool whole = file.stamp.size == ENTRY_SIZE && tn_os_read(&file, 0, entry, ENTRY_SIZE) == 0;
    tn_os_close(&file);
    return whole && entry[64] == ' ' && entry[129] == '\n' && parse_digest(entry, &stored) && tn_digest_eq(&stored, key) &&
           parse_digest(entry + 65, value);
}

void tn_digest_remember(const struct tn_context *ctx, const struct tn_digest *key, const struct tn_digest *value)
{
    char folder[PATH_SIZE], path[PATH_SIZE], entry[ENTRY_SIZE + 1], key_hex[TN_SHA256_HEX], value_hex[TN_SHA256_HEX];
    if (!cache_path(ctx, key, folder, path)) return;
    snprintf(entry, sizeof(entry), "%s %s\n", tn_digest_hex(key, key_hex), tn_digest_hex(value, value_hex));
    int error = tn_os_make_folders(folder);
    if (!error) error = tn_os_write_atomic(path, entry, ENTRY_SIZE);
    if (error) {
        char text[128];
        tn_log(ctx, TN_LOG_WARNING, "the weights identity could not be remembered: %s",
               tn_os_error_text(error, text, sizeof(text)));
    }
}

enum tn_status tn_weights_digest_begin(struct tn_weights_digest *d, const struct tn_graph *g,
                                       const struct tn_inventory *inv, const struct tn_context *ctx,
                                       struct tn_error *err)
{
    *d = (struct tn_weights_digest){.graph = g, .inv = inv, .alloc = ctx->alloc};
    struct tn_digest key = cache_key(d);
    d->cached = tn_digest_recall(ctx, &key, &d->value);
    if (d->cached) return TN_OK;
    d->first_chunk = tn_calloc(d->alloc, (size_t)g->weight_count + 1, sizeof(*d->first_chunk));
    if (!d->first_chunk) return tn_error_memory(err, TN_PHASE_LOAD, "hashing weights");
    for (uint32_t i = 0; i < g->weight_count; i++) {
        d->first_chunk[i + 1] = d->first_chunk[i] + chunks_of(g->weights[i].tensor);
    }
    d->chunks = tn_calloc(d->alloc, (size_t)d->first_chunk[g->weight_count] + 1, sizeof(*d->chunks));
    if (d->chunks) return TN_OK;
    tn_weights_digest_release(d);
    return tn_error_memory(err, TN_PHASE_LOAD, "hashing weights");
}

void tn_weights_digest_add(struct tn_weights_digest *d, uint32_t weight, uint64_t first, const void *p, size_t n)
{
    if (d->cached) return;
    const char *bytes = p;
    uint64_t chunk = d->first_chunk[weight] + first / TN_DIGEST_CHUNK;
    while (n > 0) {
        size_t part = n < TN_DIGEST_CHUNK ? n : TN_DIGEST_CHUNK;
        d->chunks[chunk++] = tn_sha256_of(bytes, part);
        bytes += part;
        n -= part;
    }
}

/* Graph weights in the order of their roles, so that the identity does not depend on the order of building. */
static int by_role(const void *a, const void *b, void *context)
{
    (void)context;
    const struct tn_graph_weight *const *x = a, *const *y = b;
    return strcmp((*x)->role.s, (*y)->role.s);
}

static void hash_weight(struct tn_sha256 *h, const struct tn_weights_digest *d, uint32_t i)
{
    const struct tn_graph_weight *w = &d->graph->weights[i];
    tn_sha256_update_str(h, w->role);
    tn_sha256_update_str(h, tn_str_of(tn_dtype_name(w->tensor->dtype)));
    tn_sha256_update_u64(h, w->tensor->rank);
    for (uint32_t k = 0; k < w->tensor->rank; k++) tn_sha256_update_u64(h, w->tensor->shape[k]);
    for (uint64_t c = d->first_chunk[i]; c < d->first_chunk[i + 1]; c++) {
        tn_sha256_update(h, d->chunks[c].bytes, sizeof(d->chunks[c].bytes));
    }
}

enum tn_status tn_weights_digest_end(struct tn_weights_digest *d, const struct tn_context *ctx, struct tn_error *err)
{
    if (d->cached) return TN_OK;
    const struct tn_graph *g = d->graph;
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.weights/2"));
    const struct tn_graph_weight **order = tn_calloc(d->alloc, (size_t)g->weight_count + 1, sizeof(const void *));
    if (!order) return tn_error_memory(err, TN_PHASE_LOAD, "hashing weights");
    for (uint32_t i = 0; i < g->weight_count; i++) order[i] = &g->weights[i];
    tn_sort(order, g->weight_count, sizeof(const void *), by_role, NULL);
    for (uint32_t i = 0; i < g->weight_count; i++) hash_weight(&h, d, (uint32_t)(order[i] - g->weights));
    tn_free(d->alloc, order);
    d->value = tn_sha256_finish(&h);
    struct tn_digest key = cache_key(d);
    tn_digest_remember(ctx, &key, &d->value);
    return TN_OK;
}

void tn_weights_digest_release(struct tn_weights_digest *d)
{
    tn_free(d->alloc, d->chunks);
    tn_free(d->alloc, d->first_chunk);
    d->chunks = NULL;
    d->first_chunk = NULL;
}
