/*
 * Loading weights: every bound tensor is read once, hashed while it is warm, and brought into the form that kernels want.
 * All threads of the pool pull tasks from one list: a packed layer, a vector, or 4 MiB of a table.
 *
 * The surprising decision: files are read, not mapped. A map would let somebody else's edit change our answers later, and
 * turn a shrinking file into a signal; a read either has the bytes or is an error. The file's stamp is compared after
 * the last read, so a change meanwhile is TN_ARTIFACT_STALE.
 */
#include "provider/native/native.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

enum task_kind { TASK_LAYER, TASK_VECTOR, TASK_TABLE };

struct task {
    enum task_kind kind;
    uint32_t index; /* of the layer or of the graph weight */
    uint64_t first; /* table: byte offset inside the tensor */
};

/* Numbers of one weight that are NaN or infinite; found by whichever threads have read it. */
struct flaw {
    _Atomic uint64_t count, first; /* index of the first element */
};

struct loader {
    const struct tn_native_program *program;
    const struct tn_inventory *inv;
    const struct tn_load_env *env;
    struct tn_weights *out;
    struct tn_weights_digest digest;
    struct tn_os_file *files; /* by file of the inventory; fd -1: not needed */
    struct flaw *flaws;       /* by graph weight */
    uint32_t *first_layer;    /* by graph weight: the layer that accounts for it; others read it without a word */
    struct task *tasks;
    size_t task_count;
    char *staging; /* one region per thread */
    unsigned threads;
    uint64_t total_bytes;
    _Atomic size_t next;
    _Atomic uint64_t done_bytes;
    _Atomic int failed; /* enum tn_status of the first failure */
    struct tn_error *err;
};

/* The first thread that fails writes the error; others only see that there is one. */
static bool claim_failure(struct loader *l, enum tn_status status)
{
    int none = TN_OK;
    return atomic_compare_exchange_strong(&l->failed, &none, (int)status);
}

static void fail_read(struct loader *l, const struct tn_graph_weight *w, uint64_t offset, int error)
{
    if (!claim_failure(l, TN_ARTIFACT_STALE)) return;
    char text[128];
    struct tn_finding *f = tn_error_set(l->err, TN_ARTIFACT_STALE, TN_PHASE_LOAD, "cannot read a tensor that the header declares");
    tn_at_tensor(f, l->inv->files[w->tensor->file].path, w->tensor->name);
    if (f) f->offset = (int64_t)offset;
    tn_found(f, "%s", tn_os_error_text(error, text, sizeof(text)));
    tn_expected(f, "%llu bytes, as when the package was opened", (unsigned long long)w->tensor->bytes);
    tn_remedy(f, "the file has changed meanwhile: open the package again");
}

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
static void note_flaws(struct loader *l, uint32_t weight, uint64_t offset, const void *p, size_t n)
{
    enum tn_dtype dtype = l->program->graph.weights[weight].tensor->dtype;
    size_t first = 0, count = count_non_finite(dtype, p, n, &first);
    if (count == 0) return;
    struct flaw *flaw = &l->flaws[weight];
    uint64_t index = offset / tn_dtype_bytes(dtype) + first;
    atomic_fetch_add_explicit(&flaw->count, count, memory_order_relaxed);
    uint64_t known = atomic_load_explicit(&flaw->first, memory_order_relaxed);
    while (index < known && !atomic_compare_exchange_weak(&flaw->first, &known, index)) {
    }
}

/*
 * The one way by which weights come in: hashed and looked at, whatever is made of them. `again`: a weight that somebody
 * else accounts for.
 */
static bool read_part(struct loader *l, uint32_t weight, uint64_t first, void *dst, size_t n, bool again)
{
    const struct tn_graph_weight *w = &l->program->graph.weights[weight];
    int error = n ? tn_os_read(&l->files[w->tensor->file], w->tensor->offset + first, dst, n) : 0;
    if (error) {
        fail_read(l, w, w->tensor->offset + first, error);
        return false;
    }
    if (again) return true;
    tn_weights_digest_add(&l->digest, weight, first, dst, n);
    note_flaws(l, weight, first, dst, n);
    atomic_fetch_add_explicit(&l->done_bytes, n, memory_order_relaxed);
    return true;
}

static void report_flaw(struct tn_findings *list, const struct loader *l, uint32_t weight)
{
    const struct tn_tensor_info *t = l->program->graph.weights[weight].tensor;
    uint64_t first = l->flaws[weight].first, columns = t->rank > 1 ? t->shape[t->rank - 1] : 0;
    struct tn_finding *f = tn_findings_add(list, TN_BLOCKER, TN_NUMERICAL_FAILURE, TN_PHASE_LOAD,
                                           "a weight holds numbers that are not finite");
    tn_at_tensor(f, l->inv->files[t->file].path, t->name);
    if (columns > 0) {
        tn_found(f, "%llu that are NaN or infinite, the first in row %llu, column %llu",
                 (unsigned long long)l->flaws[weight].count, (unsigned long long)(first / columns),
                 (unsigned long long)(first % columns));
    } else {
        tn_found(f, "%llu that are NaN or infinite, the first is element %llu",
                 (unsigned long long)l->flaws[weight].count, (unsigned long long)first);
    }
    tn_expected(f, "finite numbers: one other spoils every answer that it takes part in");
    tn_remedy(f, "fetch the file again, or ask who made it; it was damaged or training diverged");
}

/* One finding per tensor, in the order of the graph. A tied tensor stands in it twice and is one. */
static enum tn_status check_finite(struct loader *l)
{
    const struct tn_graph *g = &l->program->graph;
    struct tn_findings flaws;
    tn_findings_init(&flaws, l->env->ctx->alloc, TN_ERROR_FINDINGS);
    for (uint32_t i = 0; i < g->weight_count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i && !again; k++) again = l->flaws[k].count > 0 && g->weights[k].tensor == g->weights[i].tensor;
        if (l->flaws[i].count > 0 && !again) report_flaw(&flaws, l, i);
    }
    enum tn_status status = tn_error_from_findings(l->err, &flaws);
    tn_findings_release(&flaws);
    return status;
}

/* Reads a whole tensor for a layer to *at and moves on behind it. */
static const void *stage(struct loader *l, uint32_t layer, uint32_t weight, char **at)
{
    size_t n = (size_t)l->program->graph.weights[weight].tensor->bytes;
    char *here = *at;
    if (!read_part(l, weight, 0, here, n, l->first_layer[weight] != layer)) return NULL;
    *at = here + n;
    return here;
}

static bool load_layer(struct loader *l, uint32_t index, char *staging)
{
    const struct tn_native_program *p = l->program;
    const struct tn_op_linear *op = &p->graph.ops[p->layers[index].op].as.linear;
    struct tn_linear_part parts[TN_LINEAR_PARTS] = {{0}};
    for (uint32_t i = 0; i < op->parts; i++) {
        const struct tn_tensor_info *t = p->graph.weights[op->weight[i]].tensor;
        parts[i] = (struct tn_linear_part){
            .data = stage(l, index, op->weight[i], &staging),
            .type = tn_native_float_type(t->dtype),
            .rows = (size_t)t->shape[0],
            .row_stride = (size_t)t->shape[1],
            .k_stride = 1,
        };
        if (!parts[i].data) return false;
        if (op->bias[i] == TN_NO_WEIGHT) continue;
        parts[i].bias_type = tn_native_float_type(p->graph.weights[op->bias[i]].tensor->dtype);
        parts[i].bias = stage(l, index, op->bias[i], &staging);
        if (!parts[i].bias) return false;
    }
    p->kernels->linear_pack(&l->out->layers[index], parts, op->parts, l->out->packed[index], 0, 1);
    return true;
}

static bool load_vector(struct loader *l, uint32_t weight, char *staging)
{
    const struct tn_tensor_info *t = l->program->graph.weights[weight].tensor;
    if (!read_part(l, weight, 0, staging, (size_t)t->bytes, false)) return false;
    l->program->kernels->to_f32(tn_native_float_type(t->dtype), staging, l->out->data[weight],
                                (size_t)(t->bytes / tn_dtype_bytes(t->dtype)));
    return true;
}

static bool load_table(struct loader *l, uint32_t weight, uint64_t first)
{
    uint64_t left = l->program->graph.weights[weight].tensor->bytes - first;
    size_t n = left < TN_DIGEST_CHUNK ? (size_t)left : TN_DIGEST_CHUNK;
    return read_part(l, weight, first, (char *)l->out->data[weight] + first, n, false);
}

static bool run_task(struct loader *l, const struct task *task, char *staging)
{
    switch (task->kind) {
    case TASK_LAYER: return load_layer(l, task->index, staging);
    case TASK_VECTOR: return load_vector(l, task->index, staging);
    case TASK_TABLE: return load_table(l, task->index, task->first);
    }
    return false;
}

static void run_tasks(void *arg, unsigned rank, unsigned size)
{
    struct loader *l = arg;
    char *staging = l->staging + rank * l->program->staging_bytes;
    (void)size;
    for (;;) {
        if (atomic_load_explicit(&l->failed, memory_order_relaxed)) return;
        enum tn_status stop = tn_cancel_check(l->env->cancel);
        if (stop) {
            if (claim_failure(l, stop)) tn_cancel_fail(l->env->cancel, TN_PHASE_LOAD, l->err);
            return;
        }
        size_t i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (i >= l->task_count || !run_task(l, &l->tasks[i], staging)) return;
        if (rank == 0 && l->env->progress) {
            l->env->progress(l->env->progress_user, atomic_load_explicit(&l->done_bytes, memory_order_relaxed),
                             l->total_bytes);
        }
    }
}

/* ---- preparation ------------------------------------------------------------------------------------------------ */

static void claim(struct loader *l, uint32_t weight, uint32_t layer)
{
    if (weight < l->program->graph.weight_count && l->first_layer[weight] > layer) l->first_layer[weight] = layer;
}

/* A weight may be part of two layers: DeBERTa projects its positions with the matrices of its tokens. */
static bool assign_weights(struct loader *l)
{
    const struct tn_graph *g = &l->program->graph;
    l->first_layer = tn_malloc(l->env->ctx->alloc, ((size_t)g->weight_count + 1) * sizeof(*l->first_layer));
    if (!l->first_layer) return false;
    for (uint32_t i = 0; i < g->weight_count; i++) l->first_layer[i] = UINT32_MAX;
    for (uint32_t layer = 0; layer < l->program->layer_count; layer++) {
        const struct tn_op_linear *op = &g->ops[l->program->layers[layer].op].as.linear;
        for (uint32_t i = 0; i < op->parts; i++) {
            claim(l, op->weight[i], layer);
            claim(l, op->bias[i], layer);
        }
    }
    return true;
}

static bool list_tasks(struct loader *l)
{
    const struct tn_graph *g = &l->program->graph;
    size_t most = l->program->layer_count;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        l->total_bytes += g->weights[i].tensor->bytes;
        most += 1 + (size_t)(g->weights[i].tensor->bytes / TN_DIGEST_CHUNK);
    }
    l->tasks = tn_calloc(l->env->ctx->alloc, most + 1, sizeof(*l->tasks));
    if (!l->tasks) return false;
    for (uint32_t i = 0; i < l->program->layer_count; i++) l->tasks[l->task_count++] = (struct task){TASK_LAYER, i, 0};
    for (uint32_t i = 0; i < g->weight_count; i++) {
        if (g->weights[i].use == TN_USE_VECTOR) l->tasks[l->task_count++] = (struct task){TASK_VECTOR, i, 0};
        if (g->weights[i].use != TN_USE_TABLE) continue;
        for (uint64_t at = 0; at < g->weights[i].tensor->bytes; at += TN_DIGEST_CHUNK) {
            l->tasks[l->task_count++] = (struct task){TASK_TABLE, i, at};
        }
    }
    return true;
}

static bool begin_flaws(struct loader *l)
{
    uint32_t count = l->program->graph.weight_count;
    l->flaws = tn_calloc(l->env->ctx->alloc, (size_t)count + 1, sizeof(*l->flaws));
    for (uint32_t i = 0; l->flaws && i < count; i++) atomic_init(&l->flaws[i].first, UINT64_MAX);
    return l->flaws != NULL;
}

static enum tn_status open_files(struct loader *l)
{
    const struct tn_graph *g = &l->program->graph;
    l->files = tn_malloc(l->env->ctx->alloc, ((size_t)l->inv->file_count + 1) * sizeof(*l->files));
    if (!l->files) return tn_error_memory(l->err, TN_PHASE_LOAD, "opening weights");
    for (uint32_t i = 0; i < l->inv->file_count; i++) l->files[i].fd = -1;
    for (uint32_t i = 0; i < g->weight_count; i++) {
        uint32_t file = g->weights[i].tensor->file;
        if (l->files[file].fd >= 0) continue;
        enum tn_status status = tn_inventory_open_file(l->inv, &l->inv->files[file], &l->files[file], l->err);
        if (status) return status;
    }
    return TN_OK;
}

/* What was read is what was inventoried only if no file has changed until now. */
static enum tn_status check_files(struct loader *l)
{
    for (uint32_t i = 0; i < l->inv->file_count; i++) {
        struct tn_file_stamp now;
        if (l->files[i].fd < 0) continue;
        if (tn_os_stamp(&l->files[i], &now) == 0 && tn_file_stamp_eq(&now, &l->inv->files[i].stamp)) continue;
        struct tn_finding *f = tn_error_set(l->err, TN_ARTIFACT_STALE, TN_PHASE_LOAD, "a weight file has changed while it was loaded");
        tn_at_file(f, l->inv->files[i].path);
        tn_remedy(f, "open the package again when nobody writes to it");
        return TN_ARTIFACT_STALE;
    }
    return TN_OK;
}

static void close_files(struct loader *l)
{
    for (uint32_t i = 0; l->files && i < l->inv->file_count; i++) tn_os_close(&l->files[i]);
    tn_free(l->env->ctx->alloc, l->files);
}

static bool allocate_weights(const struct tn_native_program *program, struct tn_alloc *alloc, struct tn_weights *out)
{
    const struct tn_graph *g = &program->graph;
    *out = (struct tn_weights){.alloc = alloc};
    out->layers = tn_calloc(alloc, (size_t)program->layer_count + 1, sizeof(*out->layers));
    out->packed = tn_calloc(alloc, (size_t)program->layer_count + 1, sizeof(*out->packed));
    out->data = tn_calloc(alloc, (size_t)g->weight_count + 1, sizeof(*out->data));
    out->bias = tn_calloc(alloc, (size_t)g->weight_count + 1, sizeof(*out->bias));
    if (!out->layers || !out->packed || !out->data || !out->bias) return false;
    out->layer_count = program->layer_count;
    out->weight_count = g->weight_count;
    for (uint32_t i = 0; i < program->layer_count; i++) {
        const struct tn_native_layer *layer = &program->layers[i];
        out->packed[i] = tn_malloc_aligned(alloc, layer->packed_bytes, 64);
        if (!out->packed[i]) return false;
        out->layers[i] = (struct tn_linear){(size_t)layer->n, (size_t)layer->k, program->compute, out->packed[i]};
    }
    for (uint32_t i = 0; i < g->weight_count; i++) {
        size_t bytes;
        if (g->weights[i].use == TN_USE_LINEAR) continue;
        if (!tn_native_weight_bytes(program, i, &bytes)) return false;
        out->data[i] = tn_malloc_aligned(alloc, bytes, 64);
        if (!out->data[i]) return false;
    }
    return true;
}

/* ---- relative attention bias ------------------------------------------------------------------------------------- */

/*
 * T5's bucket of a distance (Raffel et al. 2020, section 2.1; Hugging Face's bidirectional form): half of the buckets
 * for each direction; of these, the first half exact, the rest logarithmic up to max_distance. In float32 as there.
 */
static uint64_t bias_bucket(int64_t distance, uint64_t buckets, uint64_t max_distance)
{
    uint64_t half = buckets / 2, exact = half / 2, bucket = 0;
    uint64_t n = (uint64_t)(distance < 0 ? -distance : distance);
    if (distance > 0) bucket += half;
    if (n < exact) return bucket + n;
    float scaled = logf((float)n / (float)exact) / (float)log((double)max_distance / (double)exact) * (float)(half - exact);
    uint64_t large = exact + (uint64_t)scaled;
    return bucket + (large < half - 1 ? large : half - 1);
}

/* bias[h][center + (j - i)] from the stored [buckets][heads]. */
static bool expand_bias(const struct tn_native_program *program, struct tn_weights *w, uint32_t op)
{
    const struct tn_op_attention *a = &program->graph.ops[op].as.attention;
    uint64_t length = tn_native_bias_length(program), center = program->max_rows - 1;
    size_t floats;
    if (!tn_mul((size_t)a->heads, (size_t)length, &floats) || !tn_mul(floats, sizeof(float), &floats)) return false;
    float *out = tn_malloc_aligned(w->alloc, floats, 64);
    if (!out) return false;
    const float *table = w->data[a->bias];
    for (uint64_t at = 0; at < length; at++) {
        uint64_t bucket = bias_bucket((int64_t)at - (int64_t)center, a->bias_buckets, a->bias_max_distance);
        for (uint64_t h = 0; h < a->heads; h++) out[h * length + at] = table[bucket * a->heads + h];
    }
    w->bias[a->bias] = out;
    return true;
}

/* Once per stored table, however many layers share it. */
static bool expand_biases(const struct tn_native_program *program, struct tn_weights *w)
{
    const struct tn_graph *g = &program->graph;
    for (uint32_t op = 0; op < g->op_count; op++) {
        if (g->ops[op].kind != TN_OP_ATTENTION || g->ops[op].as.attention.bias == TN_NO_WEIGHT) continue;
        if (!w->bias[g->ops[op].as.attention.bias] && !expand_bias(program, w, op)) return false;
    }
    return true;
}

/* ---- the whole ---------------------------------------------------------------------------------------------------- */

static enum tn_status load(struct loader *l)
{
    struct tn_alloc *alloc = l->env->ctx->alloc;
    enum tn_status status = open_files(l);
    if (status) return status;
    if ((status = tn_weights_digest_begin(&l->digest, l->program, l->inv, l->env->ctx, l->err))) return status;
    size_t staging;
    if (!tn_mul(l->program->staging_bytes, l->threads, &staging)) return TN_RESOURCE_LIMIT;
    l->staging = tn_malloc_aligned(alloc, staging, 64);
    if (!assign_weights(l) || !list_tasks(l) || !begin_flaws(l) || !l->staging || !allocate_weights(l->program, alloc, l->out)) {
        return tn_error_memory(l->err, TN_PHASE_LOAD, "loading weights");
    }
    tn_pool_run(l->env->pool, run_tasks, l, l->threads);
    status = (enum tn_status)atomic_load(&l->failed);
    if (status) return status;
    if (!expand_biases(l->program, l->out)) return tn_error_memory(l->err, TN_PHASE_LOAD, "loading weights");
    if ((status = tn_derived_make(l->program, l->out, l->err))) return status;
    if ((status = check_files(l))) return status;
    if ((status = check_finite(l))) return status;
    if ((status = tn_weights_digest_end(&l->digest, l->env->ctx, l->err))) return status;
    l->out->digest = l->digest.value;
    return TN_OK;
}

enum tn_status tn_weights_load(const struct tn_native_program *program, const struct tn_inventory *inv,
                               const struct tn_load_env *env, struct tn_weights *out, struct tn_error *err)
{
    struct loader l = {.program = program, .inv = inv, .env = env, .out = out, .err = err, .threads = program->threads};
    struct tn_alloc *alloc = env->ctx->alloc;
    *out = (struct tn_weights){.alloc = alloc};
    enum tn_status status = load(&l);
    tn_free(alloc, l.staging);
    tn_free(alloc, l.first_layer);
    tn_free(alloc, l.tasks);
    tn_free(alloc, l.flaws);
    if (l.digest.alloc) tn_weights_digest_release(&l.digest);
    close_files(&l);
    if (status) tn_weights_release(out);
    return status;
}

void tn_weights_release(struct tn_weights *w)
{
    tn_derived_release(w);
    for (uint32_t i = 0; i < w->layer_count; i++) tn_free(w->alloc, w->packed[i]);
    for (uint32_t i = 0; i < w->weight_count; i++) tn_free(w->alloc, w->data[i]);
    for (uint32_t i = 0; i < w->weight_count; i++) tn_free(w->alloc, w->bias[i]);
    tn_free(w->alloc, w->layers);
    tn_free(w->alloc, w->packed);
    tn_free(w->alloc, w->data);
    tn_free(w->alloc, w->bias);
    *w = (struct tn_weights){0};
}
