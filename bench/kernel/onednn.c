/* See onednn.h. */
#include "kernel/onednn.h"

#include <dnnl.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 15 };

struct product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[3]; /* x, w, y */
};

static bool make(struct product *p, size_t m, size_t n, size_t k, dnnl_data_type_t type)
{
    const dnnl_dims_t xs = {(dnnl_dim_t)m, (dnnl_dim_t)k}, ws = {(dnnl_dim_t)k, (dnnl_dim_t)n};
    const dnnl_dims_t ys = {(dnnl_dim_t)m, (dnnl_dim_t)n};
    dnnl_memory_desc_t x, w, y;
    dnnl_matmul_desc_t matmul;
    if (dnnl_engine_create(&p->engine, dnnl_cpu, 0) != dnnl_success) return false;
    if (dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) != dnnl_success) return false;
    dnnl_memory_desc_init_by_tag(&x, 2, xs, type, dnnl_ab);
    dnnl_memory_desc_init_by_tag(&w, 2, ws, type, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&y, 2, ys, dnnl_f32, dnnl_ab);
    if (dnnl_matmul_desc_init(&matmul, &x, &w, NULL, &y) != dnnl_success) return false;
    if (dnnl_primitive_desc_create(&p->description, &matmul, NULL, p->engine, NULL) != dnnl_success) {
        return false;
    }
    if (dnnl_primitive_create(&p->primitive, p->description) != dnnl_success) return false;
    static const dnnl_query_t queries[3] = {dnnl_query_src_md, dnnl_query_weights_md,
                                            dnnl_query_dst_md};
    for (int i = 0; i < 3; i++) {
        const dnnl_memory_desc_t *md =
            dnnl_primitive_desc_query_md(p->description, queries[i], 0);
        if (dnnl_memory_create(&p->memory[i], md, p->engine, DNNL_MEMORY_ALLOCATE) != dnnl_success) {
            return false;
        }
    }
    return true;
}

static void release(struct product *p)
{
    for (int i = 0; i < 3; i++) {
        if (p->memory[i]) dnnl_memory_destroy(p->memory[i]);
    }
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    if (p->description) dnnl_primitive_desc_destroy(p->description);
    if (p->stream) dnnl_stream_destroy(p->stream);
    if (p->engine) dnnl_engine_destroy(p->engine);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_onednn(size_t m, size_t n, size_t k, bool bf16)
{
    struct product p = {0};
    double rate = 0.0, t[RUNS + 1];
    if (make(&p, m, n, k, bf16 ? dnnl_bf16 : dnnl_f32)) {
        const dnnl_exec_arg_t args[3] = {{DNNL_ARG_SRC, p.memory[0]},
                                         {DNNL_ARG_WEIGHTS, p.memory[1]},
                                         {DNNL_ARG_DST, p.memory[2]}};
        for (int i = 0; i <= RUNS; i++) {
            clock_t start = clock(), end;
            int calls = 0;
            do {
                dnnl_primitive_execute(p.primitive, p.stream, 3, args);
                dnnl_stream_wait(p.stream);
                calls++;
                end = clock();
            } while (end - start < CLOCKS_PER_SEC / 1000);
            t[i] = (double)(end - start) / CLOCKS_PER_SEC / calls;
        }
        qsort(t + 1, RUNS, sizeof(t[0]), by_value);
        rate = 2.0 * (double)(m * n * k) / t[1 + RUNS / 2] * 1e-9;
    }
    release(&p);
    return rate;
}
