/*
 * Weights as they come in: every bound tensor is read once for whoever asks, hashed and looked at while it is warm, large ones
 * by all threads. Programs pack or keep what they get.
 *
 * The surprising decision: files are read, not mapped. A map would let somebody else's edit change our answers later, and
 * turn a shrinking file into a signal; a read either has the bytes or is an error. The file's stamp is compared after
 * the last read, so a change meanwhile is TN_ARTIFACT_STALE.
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <string.h>

enum { BLOCK = 64 }; /* bytes that are looked at together */

/* Exponent bits all ones mean NaN or infinite: adding one to the exponent then carries into the sign's place. */
static bool is_finite_block(bool wide, uint16_t exponent, const char *at)
{
    if (wide) {
        uint32_t x[BLOCK / 4], carry = 0;
        memcpy(x, at, BLOCK);
        for (size_t i = 0; i < BLOCK / 4; i++) carry |= (x[i] & 0x7F800000u) + 0x00800000u;
        return (carry & 0x80000000u) == 0;
    }
    uint16_t x[BLOCK / 2], carry = 0, one = (uint16_t)(0x8000u - exponent);
    memcpy(x, at, BLOCK);
    for (size_t i = 0; i < BLOCK / 2; i++) carry |= (uint16_t)((x[i] & exponent) + one);
    return (carry & 0x8000u) == 0;
}

static bool is_finite_at(bool wide, uint16_t exponent, const char *at)
{
    uint32_t bits = 0;
    uint16_t half;
    if (wide) {
        memcpy(&bits, at, 4);
        return (bits & 0x7F800000u) != 0x7F800000u;
    }
    memcpy(&half, at, 2);
    return (half & exponent) != exponent;
}

/* *first gets the index of the first element that is not finite. Floats of four and two bytes; no others are bound. */
static size_t count_non_finite(enum tn_dtype dtype, const void *p, size_t n, size_t *first)
{
    const char *at = p;
    bool wide = dtype == TN_DTYPE_F32;
    uint16_t exponent = dtype == TN_DTYPE_F16 ? 0x7C00u : 0x7F80u;
    size_t found = 0, size = wide ? 4 : 2;
    for (size_t i = 0; i + size <= n;) {
        if (n - i >= BLOCK && is_finite_block(wide, exponent, at + i)) {
            i += BLOCK;
            continue;
        }
        size_t end = n - i >= BLOCK ? i + BLOCK : n;
        for (; i + size <= end; i += size) {
            if (!is_finite_at(wide, exponent, at + i) && found++ == 0) *first = i / size;
        }
    }
    return found;
}

/* Looks at what was read while it is warm. The load goes on: all such tensors are named at its end. */
static void note_flaws(struct tn_weights *w, uint32_t weight, uint64_t offset, const void *p, size_t n)
{
    enum tn_dtype dtype = w->graph->weights[weight].tensor->dtype;
    size_t first = 0, count = count_non_finite(dtype, p, n, &first);
    if (count == 0) return;
    struct tn_weight_flaw *flaw = &w->flaws[weight];
    uint64_t index = offset / tn_dtype_bytes(dtype) + first;
    atomic_fetch_add_explicit(&flaw->count, count, memory_order_relaxed);
    uint64_t known = atomic_load_explicit(&flaw->first, memory_order_relaxed);
    while (index < known && !atomic_compare_exchange_weak(&flaw->first, &known, index)) {
    }
}

static void report_flaw(struct tn_findings *list, const struct tn_weights *w, uint32_t weight)
{
    const struct tn_tensor_info *t = w->graph->weights[weight].tensor;
    uint64_t first = w->flaws[weight].first, columns = t->rank > 1 ? t->shape[t->rank - 1] : 0;
    struct tn_finding *f = tn_findings_add(list, TN_BLOCKER, TN_NUMERICAL_FAILURE, TN_PHASE_LOAD,
                                           "a weight holds numbers that are not finite");
    tn_at_tensor(f, w->inv->files[t->file].path, t->name);
    if (columns > 0) {
        tn_found(f, "%llu that are NaN or infinite, the first in row %llu, column %llu",
                 (unsigned long long)w->flaws[weight].count, (unsigned long long)(first / columns),
                 (unsigned long long)(first % columns));
    } else {
        tn_found(f, "%llu that are NaN or infinite, the first is element %llu",
                 (unsigned long long)w->flaws[weight].count, (unsigned long long)first);
    }
    tn_expected(f, "finite numbers: one other spoils every answer that it takes part in");
    tn_remedy(f, "fetch the file again, or ask who made it; it was damaged or training diverged");
}

/* One finding per tensor, in the order of the graph. */
static enum tn_status check_finite(const struct tn_weights *w, struct tn_error *err)
{
    struct tn_findings flaws;
    tn_findings_init(&flaws, w->ctx->alloc, TN_ERROR_FINDINGS);
    for (uint32_t i = 0; i < w->graph->weight_count; i++) {
        if (w->flaws[i].count > 0) report_flaw(&flaws, w, i);
    }
    enum tn_status status = tn_error_from_findings(err, &flaws);
    tn_findings_release(&flaws);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static enum tn_status fail_read(const struct tn_weights *w, const struct tn_tensor_info *t, uint64_t offset, int error, struct tn_error *err)
{
    char text[128];
    struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_LOAD, "cannot read a tensor that the header declares");
    tn_at_tensor(f, w->inv->files[t->file].path, t->name);
    if (f) f->offset = (int64_t)offset;
    tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_expected(f, "%llu bytes, as when the package was opened", (unsigned long long)t->bytes);
    tn_remedy(f, "the file has changed meanwhile: open the package again");
    return TN_ARTIFACT_STALE;
}

/* One tensor by several threads, a chunk each. */
struct reading {
    struct tn_weights *w;
    uint32_t weight;
    bool again; /* it has been accounted for */
    char *to;
    _Atomic uint64_t next;
    _Atomic int error;      /* of the first failure, and where */
    _Atomic uint64_t where;
};

static int read_chunk(struct reading *r, uint64_t at)
{
    struct tn_weights *w = r->w;
    const struct tn_tensor_info *t = w->graph->weights[r->weight].tensor;
    size_t n = t->bytes - at < TN_DIGEST_CHUNK ? (size_t)(t->bytes - at) : TN_DIGEST_CHUNK;
    int error = tn_os_read(&w->files[t->file], t->offset + at, r->to + at, n);
    if (error || r->again) return error;
    tn_weights_digest_add(&w->digest, r->weight, at, r->to + at, n);
    note_flaws(w, r->weight, at, r->to + at, n);
    return 0;
}

static void read_member(void *arg, unsigned rank, unsigned size)
{
    struct reading *r = arg;
    uint64_t bytes = r->w->graph->weights[r->weight].tensor->bytes, at;
    (void)rank, (void)size;
    while (!r->error && (at = atomic_fetch_add(&r->next, TN_DIGEST_CHUNK)) < bytes) {
        int none = 0, error = tn_cancel_check(r->w->cancel) ? 0 : read_chunk(r, at);
        if (error && atomic_compare_exchange_strong(&r->error, &none, error)) r->where = at;
    }
}

static uint32_t weight_of(const struct tn_graph *g, const struct tn_tensor_info *t)
{
    uint32_t i = 0;
    while (g->weights[i].tensor != t) i++; /* whoever reads a constant has it from the graph */
    return i;
}

enum tn_status tn_weights_read(void *user, const struct tn_constant *c, void *out, struct tn_error *err)
{
    struct tn_weights *w = user;
    struct reading r = {.w = w, .weight = weight_of(w->graph, c->tensor), .to = out};
    bool large = c->bytes >= 2 * TN_DIGEST_CHUNK;
    r.again = atomic_exchange(&w->flaws[r.weight].seen, true);
    tn_pool_run(large ? w->pool : NULL, read_member, &r, large ? w->threads : 1);
    if (tn_cancel_check(w->cancel)) return tn_cancel_fail(w->cancel, TN_PHASE_LOAD, err);
    return r.error ? fail_read(w, c->tensor, c->tensor->offset + r.where, r.error, err) : TN_OK;
}

/* ---- before and after --------------------------------------------------------------------------------------------- */

static enum tn_status open_files(struct tn_weights *w, struct tn_error *err)
{
    const struct tn_graph *g = w->graph;
    w->files = tn_malloc(w->ctx->alloc, ((size_t)w->inv->file_count + 1) * sizeof(*w->files));
    if (!w->files) return tn_error_memory(err, TN_PHASE_LOAD, "opening weights");
    for (uint32_t i = 0; i < w->inv->file_count; i++) w->files[i].fd = -1;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        uint32_t file = g->weights[i].tensor->file;
        if (w->files[file].fd >= 0) continue;
        enum tn_status status = tn_inventory_open_file(w->inv, &w->inv->files[file], &w->files[file], err);
        if (status) return status;
    }
    return TN_OK;
}

/* What was read is what was inventoried only if no file has changed until now. */
static enum tn_status check_files(const struct tn_weights *w, struct tn_error *err)
{
    for (uint32_t i = 0; i < w->inv->file_count; i++) {
        struct tn_file_stamp now;
        if (w->files[i].fd < 0) continue;
        if (tn_os_stamp(&w->files[i], &now) == 0 && tn_file_stamp_eq(&now, &w->inv->files[i].stamp)) continue;
        struct tn_finding *f = tn_error_set(err, TN_ARTIFACT_STALE, TN_PHASE_LOAD, "a weight file has changed while it was loaded");
        tn_at_file(f, w->inv->files[i].path);
        tn_remedy(f, "open the package again when nobody writes to it");
        return TN_ARTIFACT_STALE;
    }
    return TN_OK;
}

enum tn_status tn_weights_begin(struct tn_weights *w, const struct tn_graph *graph, const struct tn_inventory *inv, const struct tn_load_env *env,
                                unsigned threads, struct tn_error *err)
{
    *w = (struct tn_weights){.graph = graph, .inv = inv, .ctx = env->ctx, .pool = env->pool, .threads = threads, .cancel = env->cancel};
    enum tn_status st = open_files(w, err);
    if (!st) st = tn_weights_digest_begin(&w->digest, graph, inv, env->ctx, err);
    if (st) return st;
    w->flaws = tn_calloc(env->ctx->alloc, (size_t)graph->weight_count + 1, sizeof(*w->flaws));
    if (!w->flaws) return tn_error_memory(err, TN_PHASE_LOAD, "loading weights");
    for (uint32_t i = 0; i < graph->weight_count; i++) atomic_init(&w->flaws[i].first, UINT64_MAX);
    return TN_OK;
}

/* A weight that no operator had to read after all belongs to the identity as well. */
static enum tn_status read_unread(struct tn_weights *w, uint32_t i, struct tn_error *err)
{
    const struct tn_tensor_info *t = w->graph->weights[i].tensor;
    struct tn_constant c = {.bytes = (size_t)t->bytes, .tensor = t};
    void *data = tn_malloc(w->ctx->alloc, c.bytes + 1);
    enum tn_status st = data ? tn_weights_read(w, &c, data, err) : tn_error_memory(err, TN_PHASE_LOAD, "loading weights");
    tn_free(w->ctx->alloc, data);
    return st;
}

enum tn_status tn_weights_end(struct tn_weights *w, struct tn_digest *out, struct tn_error *err)
{
    enum tn_status st = TN_OK;
    for (uint32_t i = 0; !st && i < w->graph->weight_count; i++) {
        if (!w->flaws[i].seen) st = read_unread(w, i, err);
    }
    if (!st) st = check_files(w, err);
    if (!st) st = check_finite(w, err);
    if (!st) st = tn_weights_digest_end(&w->digest, w->ctx, err);
    *out = w->digest.value;
    return st;
}

void tn_weights_release(struct tn_weights *w)
{
    if (!w->ctx) return;
    for (uint32_t i = 0; w->files && i < w->inv->file_count; i++) tn_os_close(&w->files[i]);
    tn_free(w->ctx->alloc, w->files);
    tn_free(w->ctx->alloc, w->flaws);
    if (w->digest.alloc) tn_weights_digest_release(&w->digest);
    *w = (struct tn_weights){0};
}
