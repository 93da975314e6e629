/*
 * Calls that repeat shapes ask the allocator for nothing: of one shape, of two that alternate, with graphs inside nodes. The
 * memory is the context's; results come from it too and are given back here as a caller does.
 */
#include "api_util.h"

#include "exec/exec.h"
#include "net/check.h"
#include "real_models.h"

#include <pthread.h>

struct loaded {
    struct tn_alloc alloc;
    struct tn_context ctx;
    struct tn_pool *pool;
    struct tn_inventory *inv;
    struct tn_os_file file;
    struct tn_source source;
    struct tn_model *model;
    struct tn_program *program;
    struct tn_exec_context *context;
    struct tn_findings findings;
    struct tn_error *err;
};

static bool load(struct loaded *l, const char *path, unsigned threads)
{
    struct tn_onnx_view *view;
    memset(l, 0, sizeof(*l));
    tn_alloc_init(&l->alloc);
    l->ctx = (struct tn_context){.alloc = &l->alloc, .limits = tn_limits_default()};
    l->err = tn_calloc(&l->alloc, 1, sizeof(*l->err));
    tn_findings_init(&l->findings, &l->alloc, 100);
    if (!l->err || tn_pool_new(&l->alloc, threads, &l->pool) || tn_inventory_open(&l->ctx, path, &l->inv, l->err)) return false;
    if (tn_inventory_open_file(l->inv, &l->inv->files[0], &l->file, l->err)) return false;
    l->source = tn_source_of_file(&l->file, l->inv->files[0].path);
    if (tn_onnx_view_open(&l->ctx, &l->source, &view, l->err)) return false;
    if (tn_model_import(&l->ctx, l->inv, &l->source, view, &l->findings, &l->model, l->err) || !l->model) return false;
    tn_net_check(l->model, &l->findings);
    if (l->findings.blockers || tn_net_infer(l->model, &l->findings, l->err) || l->findings.blockers) return false;
    struct tn_program_options o = {.pool = l->pool, .threads = threads};
    return tn_program_new(l->model, &o, &l->program, l->err) == TN_OK && tn_exec_context_new(l->program, 0, &l->context, l->err) == TN_OK;
}

static void unload(struct loaded *l)
{
    tn_exec_context_free(l->context);
    tn_program_free(l->program);
    tn_model_free(l->model);
    tn_os_close(&l->file);
    tn_inventory_free(l->inv);
    tn_pool_free(l->pool);
    tn_findings_release(&l->findings);
    tn_free(&l->alloc, l->err);
    CHECK_INT(tn_alloc_current(&l->alloc), 0);
}

enum { PORTS = 32 };

/* Zeros, or ones of truth values, with `size` where a dimension is open. */
static void make_inputs(struct loaded *l, int64_t size, struct tn_tensor **in)
{
    const struct tn_net *net = l->model->main;
    for (uint32_t i = 0; i < net->input_count; i++) {
        const struct tn_net_value *v = &net->values[net->inputs[i]];
        int64_t dims[TN_RANK];
        in[i] = NULL;
        if (v->constant) continue;
        for (uint32_t k = 0; k < v->type.shape.rank; k++) dims[k] = tn_dim_known(v->type.shape.dims[k]) ? v->type.shape.dims[k] : size;
        in[i] = tn_tensor_new(tn_exec_heap(l->context), v->type.element, v->type.shape.rank, dims);
        REQUIRE(in[i]);
        memset(in[i]->data, v->type.element == TN_EL_BOOL, in[i]->bytes);
    }
}

static void call(struct loaded *l, struct tn_tensor **in)
{
    struct tn_tensor *out[PORTS];
    enum tn_status st = tn_exec_run(l->context, in, out, NULL, NULL, l->err);
    if (st) test_fail(__FILE__, __LINE__, "%s: %s: %s", tn_status_name(st), l->err->primary.message, l->err->primary.found);
    for (uint32_t k = 0; k < l->model->main->output_count; k++) tn_tensor_drop(out[k]);
}

static void check_steady(const char *path, int64_t one, int64_t two)
{
    struct loaded l;
    struct tn_tensor *a[PORTS], *b[PORTS];
    if (!load(&l, path, 2)) {
        test_fail(__FILE__, __LINE__, "%s: %s", path, l.err ? l.err->primary.message : "no memory");
        return;
    }
    REQUIRE(l.model->main->input_count <= PORTS && l.model->main->output_count <= PORTS);
    make_inputs(&l, one, a);
    make_inputs(&l, two, b);
    call(&l, a);
    uint64_t first = l.alloc.calls;
    call(&l, a);
    call(&l, a);
    if (l.alloc.calls != first) test_fail(__FILE__, __LINE__, "%s: %llu allocations in two calls of one shape", path, (unsigned long long)(l.alloc.calls - first));
    call(&l, b);
    call(&l, a);
    first = l.alloc.calls;
    for (int i = 0; i < 3; i++) {
        call(&l, b);
        call(&l, a);
    }
    if (l.alloc.calls != first) test_fail(__FILE__, __LINE__, "%s: %llu allocations in calls of two shapes", path, (unsigned long long)(l.alloc.calls - first));
    for (uint32_t i = 0; i < l.model->main->input_count; i++) {
        tn_tensor_drop(a[i]);
        tn_tensor_drop(b[i]);
    }
    unload(&l);
}

struct worker {
    struct loaded *l;
    struct tn_exec_context *context;
    float last[24];
    bool good;
};

static void *work(void *user)
{
    struct worker *w = user;
    const struct tn_net *net = w->l->model->main;
    struct tn_error *err = malloc(sizeof(*err));
    struct tn_tensor *in[PORTS], *out[PORTS];
    static const int64_t dims[] = {6, 4};
    struct tn_heap *heap = tn_exec_heap(w->context);
    in[0] = tn_tensor_new(heap, TN_EL_F32, 2, dims);
    in[1] = tn_tensor_new(heap, TN_EL_BOOL, 0, NULL);
    w->good = err && in[0] && in[1];
    for (int i = 0; w->good && i < 24; i++) ((float *)in[0]->data)[i] = (float)i / 24;
    if (w->good) *(uint8_t *)in[1]->data = 1;
    for (int i = 0; w->good && i < 200; i++) {
        w->good = tn_exec_run(w->context, in, out, NULL, NULL, err) == TN_OK;
        if (w->good) memcpy(w->last, out[0]->data, sizeof(w->last));
        for (uint32_t k = 0; w->good && k < net->output_count; k++) tn_tensor_drop(out[k]);
    }
    tn_tensor_drop(in[0]);
    tn_tensor_drop(in[1]);
    free(err);
    return NULL;
}

/* Two contexts of one program at once: what they share is read only. */
TEST(contexts_in_parallel)
{
    struct loaded l;
    struct worker w[2];
    pthread_t threads[2];
    REQUIRE(load(&l, test_path("golden/tensor/bodies.onnx"), 1));
    for (int i = 0; i < 2; i++) {
        w[i] = (struct worker){.l = &l};
        REQUIRE(tn_exec_context_new(l.program, 0, &w[i].context, l.err) == TN_OK);
    }
    for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&threads[i], NULL, work, &w[i]) == 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK(w[0].good && w[1].good && memcmp(w[0].last, w[1].last, sizeof(w[0].last)) == 0);
    for (int i = 0; i < 2; i++) tn_exec_context_free(w[i].context);
    unload(&l);
}

TEST(small_graphs)
{
    static const char *const names[] = {"add.onnx", "bodies.onnx", "state.onnx", "softmax13.onnx"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "golden/tensor/%s", names[i]);
        check_steady(test_path(path), 3, 5);
    }
}

TEST(real_graphs)
{
    static const struct {
        const char *name;
        int64_t one, two;
    } rows[] = {{"pp-ocr-v4-1.4.2/ch_ppocr_mobile_v2.0_cls_infer.onnx", 48, 96}, {"magika-1.0.3/model.onnx", 1, 2},
                {"blazeface-1.2.0/face_detection_front_128x128_barracuda.onnx", 1, 1}};
    size_t there = 0;
    char path[600];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!real_model(path, sizeof(path), rows[i].name)) continue;
        there++;
        check_steady(path, rows[i].one, rows[i].two);
    }
    if (!there) test_skip("no real graph is in the cache (make fetch-models)");
}
