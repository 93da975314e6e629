/*
 * Two identities of a graph. Its structure: nodes, attributes, types and the values of small constants, hashed in the
 * order of the file; names of values do not matter, only which value is meant. Its weights: the constants by graph and
 * name as the file has them, before anything is rewritten, hashed from their values by chunks and so independent of how they
 * are stored and of the threads that hash; remembered under the stamps of the files.
 */
#include "provider/native/native.h"

#include "base/os_thread.h"

#include <stdatomic.h>
#include <string.h>

/* ---- structure ---------------------------------------------------------------------------------------------------- */

static void hash_net(struct tn_sha256 *h, const struct tn_net *net);

static void hash_type(struct tn_sha256 *h, const struct tn_model *model, const struct tn_type *type)
{
    char text[512];
    tn_sha256_update_str(h, tn_str_of(tn_type_text(model, type, text, sizeof(text))));
}

static void hash_constant(struct tn_sha256 *h, const struct tn_constant *c)
{
    tn_sha256_update_u64(h, c->element);
    tn_sha256_update_u64(h, c->rank);
    for (uint32_t i = 0; i < c->rank; i++) tn_sha256_update_u64(h, (uint64_t)c->dims[i]);
    tn_sha256_update_u64(h, c->data != NULL);
    if (!c->data) return;
    if (c->element != TN_EL_STRING) {
        tn_sha256_update(h, c->data, c->bytes);
        return;
    }
    for (size_t i = 0; i < c->bytes / sizeof(struct tn_str); i++) tn_sha256_update_str(h, ((const struct tn_str *)c->data)[i]);
}

/* The bytes of many small updates, some thousand at once. */
struct gathered {
    struct tn_sha256 *h;
    size_t n;
    unsigned char bytes[4096];
};

static inline void gather(struct gathered *g, const void *p, size_t n)
{
    if (n > sizeof(g->bytes) - g->n) {
        tn_sha256_update(g->h, g->bytes, g->n);
        g->n = 0;
    }
    if (n > sizeof(g->bytes)) tn_sha256_update(g->h, p, n);
    else if (n) memcpy(g->bytes + g->n, p, n);
    g->n += n > sizeof(g->bytes) ? 0 : n;
}

/* Whole numbers in as few bytes as the list's largest takes: lists of trees have some million. */
static unsigned width_of(const int64_t *ints, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all |= (uint64_t)ints[i] ^ (uint64_t)(ints[i] >> 63); /* -1 as 0, -2 as 1 */
    return all < 1u << 7 ? 1 : all < 1u << 15 ? 2 : all < 1u << 31 ? 4 : 8;
}

enum { AT_ONCE = 512 };

static void hash_ints(struct tn_sha256 *h, const int64_t *ints, size_t count)
{
    unsigned char bytes[8 * AT_ONCE];
    unsigned width = width_of(ints, count);
    tn_sha256_update_u64(h, width);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        size_t n = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            uint64_t v = (uint64_t)ints[first + i];
            if (width == 1) bytes[i] = (unsigned char)v;
            for (unsigned k = 0; width > 1 && k < width; k++) bytes[width * i + k] = (unsigned char)(v >> (8 * k));
        }
        tn_sha256_update(h, bytes, width * n);
    }
}

enum { RECENT = 4 };

/* Texts as they come first; one of those that came last is one byte. */
static void hash_texts(struct tn_sha256 *h, const struct tn_str *texts, size_t count)
{
    struct gathered g;
    struct tn_str recent[RECENT] = {TN_STR("")};
    unsigned known = 0, next = 0;
    g.h = h;
    g.n = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char at = 0;
        while (at < known && !(recent[at].n == texts[i].n && (recent[at].s == texts[i].s || memcmp(recent[at].s, texts[i].s, texts[i].n) == 0))) at++;
        gather(&g, &at, 1);
        if (at < known) continue;
        recent[next] = texts[i];
        next = (next + 1) % RECENT;
        known += known < RECENT;
        uint64_t n = texts[i].n;
        unsigned char bytes[8];
        for (unsigned k = 0; k < 8; k++) bytes[k] = (unsigned char)(n >> (8 * k));
        gather(&g, bytes, sizeof(bytes));
        gather(&g, texts[i].s, texts[i].n);
    }
    tn_sha256_update(h, g.bytes, g.n);
}

static void hash_attr(struct tn_sha256 *h, const struct tn_model *model, const struct tn_attr *a)
{
    tn_sha256_update_str(h, a->name);
    tn_sha256_update_u64(h, a->type);
    tn_sha256_update_u64(h, a->count);
    switch (a->type) {
    case TN_ATTR_FLOAT: tn_sha256_update(h, &a->as.f, sizeof(a->as.f)); break;
    case TN_ATTR_INT: tn_sha256_update_u64(h, (uint64_t)a->as.i); break;
    case TN_ATTR_STRING: tn_sha256_update_str(h, a->as.s); break;
    case TN_ATTR_FLOATS: tn_sha256_update(h, a->as.floats, a->count * sizeof(*a->as.floats)); break;
    case TN_ATTR_INTS: hash_ints(h, a->as.ints, a->count); break;
    case TN_ATTR_STRINGS: hash_texts(h, a->as.strings, a->count); break;
    case TN_ATTR_TENSOR:
    case TN_ATTR_TENSORS:
    case TN_ATTR_SPARSE_TENSOR:
    case TN_ATTR_SPARSE_TENSORS:
        for (size_t i = 0; i < a->count; i++) hash_constant(h, &a->as.tensors[i]);
        break;
    case TN_ATTR_GRAPH:
    case TN_ATTR_GRAPHS:
        for (size_t i = 0; i < a->count; i++) hash_net(h, a->as.graphs[i]);
        break;
    case TN_ATTR_TYPE:
    case TN_ATTR_TYPES:
        for (size_t i = 0; i < a->count; i++) hash_type(h, model, &a->as.types[i]);
        break;
    case TN_ATTR_UNDEFINED:
    case TN_ATTR_COUNT: break;
    }
}

static void hash_node(struct tn_sha256 *h, const struct tn_model *model, const struct tn_node *n)
{
    tn_sha256_update_str(h, n->domain);
    tn_sha256_update_str(h, n->type);
    tn_sha256_update_u64(h, (uint64_t)n->version);
    tn_sha256_update_u64(h, n->in_count);
    for (uint32_t i = 0; i < n->in_count; i++) {
        tn_sha256_update_u64(h, n->in[i].value);
        tn_sha256_update_u64(h, n->in[i].level);
    }
    tn_sha256_update_u64(h, n->out_count);
    for (uint32_t i = 0; i < n->out_count; i++) tn_sha256_update_u64(h, n->out[i]);
    tn_sha256_update_u64(h, n->attr_count);
    for (uint32_t i = 0; i < n->attr_count; i++) hash_attr(h, model, &n->attrs[i]);
}

static void hash_net(struct tn_sha256 *h, const struct tn_net *net)
{
    tn_sha256_update_u64(h, net->value_count);
    for (uint32_t i = 0; i < net->value_count; i++) {
        const struct tn_constant *c = net->values[i].constant;
        tn_sha256_update_u64(h, c != NULL);
        if (c) hash_constant(h, c);
    }
    tn_sha256_update_u64(h, net->input_count);
    for (uint32_t i = 0; i < net->input_count; i++) {
        tn_sha256_update_u64(h, net->inputs[i]);
        hash_type(h, net->model, &net->values[net->inputs[i]].type);
    }
    tn_sha256_update_u64(h, net->node_count);
    for (uint32_t i = 0; i < net->node_count; i++) hash_node(h, net->model, &net->nodes[i]);
    tn_sha256_update_u64(h, net->output_count);
    for (uint32_t i = 0; i < net->output_count; i++) {
        tn_sha256_update_u64(h, net->results[i].value);
        tn_sha256_update_u64(h, net->results[i].level);
    }
}

struct tn_digest tn_native_net_structure(const struct tn_model *model)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.graph/2"));
    hash_net(&h, model->main);
    return tn_sha256_finish(&h);
}

/* ---- weights: which ----------------------------------------------------------------------------------------------- */

static bool list_constant(struct tn_native_constants *list, struct tn_arena *arena, struct tn_native_constant item)
{
    if (list->count == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 64;
        struct tn_native_constant *moved = tn_arena_array(arena, cap, sizeof(*moved));
        if (!moved) return false;
        if (list->count) memcpy(moved, list->items, list->count * sizeof(*moved));
        list->items = moved;
        list->cap = cap;
    }
    list->items[list->count++] = item;
    return true;
}

bool tn_native_net_constants(const struct tn_net *net, struct tn_arena *arena, struct tn_native_constants *list)
{
    for (uint32_t i = 0; i < net->value_count; i++) {
        const struct tn_net_value *v = &net->values[i];
        if (v->constant && !list_constant(list, arena, (struct tn_native_constant){v->name, 0, v->constant})) return false;
    }
    for (uint32_t i = 0; i < net->node_count; i++) {
        const struct tn_node *n = &net->nodes[i];
        for (uint32_t k = 0; k < n->attr_count; k++) {
            const struct tn_attr *a = &n->attrs[k];
            bool graphs = a->type == TN_ATTR_GRAPH || a->type == TN_ATTR_GRAPHS;
            bool tensors = a->type == TN_ATTR_TENSOR || a->type == TN_ATTR_TENSORS;
            for (size_t j = 0; j < a->count && (graphs || tensors); j++) {
                struct tn_native_constant item = {a->name, (uint64_t)i + 1, tensors ? &a->as.tensors[j] : NULL};
                if (!list_constant(list, arena, item) || (graphs && !tn_native_net_constants(a->as.graphs[j], arena, list))) return false;
            }
        }
    }
    return true;
}

/* ---- weights: their values ---------------------------------------------------------------------------------------- */

struct weights {
    struct tn_model *model;
    const struct tn_native_constants *list;
    const struct tn_context *ctx;
    const struct tn_cancel *cancel;
    uint64_t *first; /* [list->count + 1] chunk of each constant */
    struct tn_digest *chunks;
    struct tn_error *err;
    struct tn_mutex mutex; /* of texts, which are read into the model's memory, and of *err */
    _Atomic uint64_t next;
    _Atomic int failed; /* enum tn_status of the first failure */
};

/* How much is read at once: what stays in a core's own cache until it has been hashed. */
enum { READ_BYTES = 256 << 10 };

static uint64_t chunks_of(const struct tn_constant *c)
{
    if (c->element == TN_EL_STRING) return 1;
    return c->bytes / TN_DIGEST_CHUNK + (c->bytes % TN_DIGEST_CHUNK != 0);
}

static void fail_weights(struct weights *w, enum tn_status st, const struct tn_error *own)
{
    int none = TN_OK;
    if (!st || !atomic_compare_exchange_strong(&w->failed, &none, (int)st)) return;
    if (own && w->err) *w->err = *own;
    if (!own) tn_error_memory(w->err, TN_PHASE_LOAD, "hashing weights");
}

static void hash_chunks(struct weights *w, uint64_t chunk, const char *bytes, size_t n)
{
    for (size_t part; n > 0; bytes += part, n -= part) {
        part = n < TN_DIGEST_CHUNK ? n : TN_DIGEST_CHUNK;
        w->chunks[chunk++] = tn_sha256_of(bytes, part);
    }
}

/* Texts, and numbers that are written one by one, are read whole. */
static enum tn_status hash_whole(struct weights *w, const struct tn_constant *c, uint64_t chunk, struct tn_error *err)
{
    void *own = c->data ? NULL : tn_malloc(w->ctx->alloc, c->bytes + 1);
    if (!c->data && !own) return tn_error_memory(err, TN_PHASE_LOAD, "hashing weights");
    bool texts = c->element == TN_EL_STRING;
    if (texts) tn_mutex_lock(&w->mutex);
    enum tn_status st = own ? tn_constant_read(w->model, c, own, err) : TN_OK;
    if (texts) tn_mutex_unlock(&w->mutex);
    const void *data = own ? own : c->data;
    if (!st && texts) {
        struct tn_sha256 h;
        tn_sha256_init(&h);
        for (size_t i = 0; i < c->bytes / sizeof(struct tn_str); i++) tn_sha256_update_str(&h, ((const struct tn_str *)data)[i]);
        w->chunks[chunk] = tn_sha256_finish(&h);
    } else if (!st) {
        hash_chunks(w, chunk, data, c->bytes);
    }
    tn_free(w->ctx->alloc, own);
    return st;
}

/* One chunk of what lies in a file as it will in memory. */
static enum tn_status hash_part(struct weights *w, const struct tn_constant *c, const struct tn_source *source, uint64_t offset, uint64_t chunk,
                                uint64_t part, char *room, struct tn_error *err)
{
    struct tn_sha256 h;
    enum tn_status st = TN_OK;
    uint64_t at = part * TN_DIGEST_CHUNK, end = c->bytes - at < TN_DIGEST_CHUNK ? c->bytes : at + TN_DIGEST_CHUNK;
    tn_sha256_init(&h);
    for (size_t n; !st && at < end; at += n) {
        n = end - at < READ_BYTES ? (size_t)(end - at) : READ_BYTES;
        st = tn_source_read(source, offset + at, room, n, TN_PHASE_LOAD, err);
        if (!st) tn_sha256_update(&h, room, n);
    }
    if (!st) w->chunks[chunk] = tn_sha256_finish(&h);
    return st;
}

static enum tn_status hash_one(struct weights *w, uint64_t chunk, char *room, struct tn_error *err)
{
    size_t low = 0, high = w->list->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (w->first[middle] <= chunk) low = middle;
        else high = middle;
    }
    const struct tn_constant *c = w->list->items[low].constant;
    struct tn_os_file file;
    uint64_t offset, part = chunk - w->first[low];
    bool there = c->data || c->element == TN_EL_STRING || c->stored == TN_ONNX_DATA_TYPED;
    if (!there && c->stored == TN_ONNX_DATA_RAW) return hash_part(w, c, &w->model->source, c->range.at, chunk, part, room, err);
    if (there || !tn_constant_open(w->model, c, &file, &offset)) return part ? TN_OK : hash_whole(w, c, chunk, err);
    struct tn_source source = tn_source_of_file(&file, TN_STR(""));
    enum tn_status st = hash_part(w, c, &source, offset, chunk, part, room, err);
    tn_os_close(&file);
    return st;
}

static void hash_member(void *arg, unsigned rank, unsigned size)
{
    struct weights *w = arg;
    uint64_t all = w->first[w->list->count];
    char *room = tn_malloc(w->ctx->alloc, READ_BYTES);
    struct tn_error *own = tn_calloc(w->ctx->alloc, 1, sizeof(*own));
    (void)rank;
    (void)size;
    if (!room || !own) fail_weights(w, TN_INSUFFICIENT_MEMORY, NULL);
    for (uint64_t i; room && own && !w->failed && (i = w->next++) < all;) {
        enum tn_status st = tn_cancel_fail(w->cancel, TN_PHASE_LOAD, own);
        fail_weights(w, st ? st : hash_one(w, i, room, own), own);
    }
    tn_free(w->ctx->alloc, room);
    tn_free(w->ctx->alloc, own);
}

static struct tn_digest put_together(const struct weights *w)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("tenon.graph weights/2"));
    for (size_t i = 0; i < w->list->count; i++) {
        const struct tn_native_constant *item = &w->list->items[i];
        const struct tn_constant *c = item->constant;
        tn_sha256_update_str(&h, item->name);
        tn_sha256_update_u64(&h, item->node);
        tn_sha256_update_u64(&h, c != NULL);
        if (!c) continue;
        tn_sha256_update_u64(&h, c->element);
        tn_sha256_update_u64(&h, c->rank);
        for (uint32_t k = 0; k < c->rank; k++) tn_sha256_update_u64(&h, (uint64_t)c->dims[k]);
        tn_sha256_update(&h, w->chunks[w->first[i]].bytes, (size_t)(w->first[i + 1] - w->first[i]) * sizeof(*w->chunks));
    }
    return tn_sha256_finish(&h);
}

_Static_assert(sizeof(struct tn_digest) == TN_SHA256_BYTES, "digests lie one behind the other");

static enum tn_status hash_all(struct weights *w, struct tn_pool *pool, unsigned threads, struct tn_digest *out)
{
    const struct tn_native_constants *list = w->list;
    struct tn_alloc *alloc = w->ctx->alloc;
    w->first = tn_calloc(alloc, list->count + 1, sizeof(*w->first));
    for (size_t i = 0; w->first && i < list->count; i++) w->first[i + 1] = w->first[i] + (list->items[i].constant ? chunks_of(list->items[i].constant) : 0);
    w->chunks = w->first ? tn_calloc(alloc, (size_t)w->first[list->count] + 1, sizeof(*w->chunks)) : NULL;
    if (!w->chunks || !tn_mutex_init(&w->mutex)) {
        fail_weights(w, TN_INSUFFICIENT_MEMORY, NULL);
    } else {
        uint64_t all = w->first[list->count];
        tn_pool_run(pool, hash_member, w, all < threads ? (unsigned)all : threads);
        tn_mutex_release(&w->mutex);
    }
    if (!w->failed) *out = put_together(w);
    tn_free(alloc, w->chunks);
    tn_free(alloc, w->first);
    return (enum tn_status)w->failed;
}

static struct tn_digest cache_key(const struct tn_model *model, const struct tn_digest *structure, const struct tn_variant *variant)
{
    struct tn_sha256 h;
    tn_sha256_init(&h);
    tn_sha256_update_str(&h, TN_STR("graph weights/2"));
    tn_sha256_update(&h, structure->bytes, sizeof(structure->bytes));
    for (uint32_t i = 0; i < variant->file_count; i++) {
        const struct tn_package_file *file = &model->inv->files[variant->files[i]];
        tn_sha256_update_str(&h, file->path);
        tn_sha256_update_u64(&h, file->stamp.device);
        tn_sha256_update_u64(&h, file->stamp.inode);
        tn_sha256_update_u64(&h, file->stamp.size);
        tn_sha256_update_u64(&h, (uint64_t)file->stamp.mtime_ns);
        tn_sha256_update_u64(&h, (uint64_t)file->stamp.ctime_ns);
    }
    return tn_sha256_finish(&h);
}

enum tn_status tn_native_net_weights(struct tn_model *model, const struct tn_digest *structure, const struct tn_native_constants *constants,
                                     const struct tn_variant *variant, unsigned threads, const struct tn_load_env *env, struct tn_digest *out,
                                     struct tn_error *err)
{
    struct tn_digest key = cache_key(model, structure, variant);
    struct weights w = {.model = model, .list = constants, .ctx = env->ctx, .cancel = env->cancel, .err = err};
    if (tn_digest_recall(env->ctx, &key, out)) return TN_OK;
    enum tn_status st = hash_all(&w, env->pool, threads, out);
    if (!st) tn_digest_remember(env->ctx, &key, out);
    return st;
}
