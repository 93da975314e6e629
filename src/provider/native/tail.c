/*
 * What follows rows that somebody else made of the ids: the modules of the package behind a component, as a program like a
 * family's that begins with rows.
 */
#include "provider/native/native.h"

#include "base/checked.h"
#include "net/write.h"

static void refuse(struct tn_assessment *a, const struct tn_error *err, enum tn_status st)
{
    struct tn_finding *f = tn_findings_add(&a->findings, TN_BLOCKER, st, TN_PHASE_ASSESS, "%s", err->primary.message);
    if (f) *f = err->primary;
}

static enum tn_status build(struct tn_native_program *p, const struct tn_component_request *r, uint64_t width, struct tn_assessment *a,
                            struct tn_error *err)
{
    struct tn_graph *g = &p->graph;
    if (!tn_graph_init(g, r->ctx, &a->arena, r->max_rows, TN_COMPUTE_F32)) return tn_error_memory(err, TN_PHASE_ASSESS, "building the graph");
    uint32_t rows = tn_graph_given(g, width);
    uint32_t output = tn_modules_build(g, r->d, r->first_module, r->module_end, rows);
    enum tn_status st = tn_graph_finish(g, output, err);
    if (!st && output == TN_NO_VALUE) {
        st = TN_UNSUPPORTED_CONFIG;
        tn_error_set(err, st, TN_PHASE_ASSESS, "the modules make no complete graph behind rows that come from elsewhere");
    }
    return st ? st : tn_native_program_finish(p, a, err);
}

enum tn_status tn_native_tail_assess(const struct tn_component_request *r, uint64_t width, struct tn_assessment *a,
                                     struct tn_native_program **out, struct tn_error *err)
{
    struct tn_estimate before = a->estimate;
    struct tn_cpu cpu;
    *out = NULL;
    if (r->first_module >= r->module_end) return TN_OK;
    struct tn_native_program *p = tn_arena_alloc(&a->arena, sizeof(*p));
    struct tn_error *own = tn_calloc(r->ctx->alloc, 1, sizeof(*own));
    if (!p || !own) {
        tn_free(r->ctx->alloc, own);
        return tn_error_memory(err, TN_PHASE_ASSESS, "assessing modules");
    }
    tn_cpu_detect(&cpu);
    *p = (struct tn_native_program){.kernels = tn_kernels_select(&cpu, NULL), .compute = TN_COMPUTE_F32, .max_rows = r->max_rows,
                                    .threads = r->threads ? r->threads : 1};
    enum tn_status st = build(p, r, width, a, own);
    if (st == TN_INSUFFICIENT_MEMORY) {
        tn_error_memory(err, TN_PHASE_ASSESS, "assessing modules");
    } else if (st) {
        refuse(a, own, st);
        st = TN_OK;
    }
    tn_free(r->ctx->alloc, own);
    if (st || a->findings.blockers) {
        tn_native_tail_release(p);
        return st;
    }
    a->estimate.weights_bytes += before.weights_bytes;
    a->estimate.workspace_bytes += before.workspace_bytes;
    if (before.transient_bytes > a->estimate.transient_bytes) a->estimate.transient_bytes = before.transient_bytes;
    if (before.uncertainty > a->estimate.uncertainty) a->estimate.uncertainty = before.uncertainty;
    *out = p;
    return TN_OK;
}

void tn_native_tail_release(struct tn_native_program *tail)
{
    tn_graph_release(&tail->graph);
}

enum tn_status tn_native_tail_load(const struct tn_assessment *a, const struct tn_native_program *tail, const struct tn_component_request *r,
                                   const struct tn_load_env *env, struct tn_instance **out, struct tn_digest *weights, struct tn_error *err)
{
    struct tn_instance *instance = tn_calloc(env->ctx->alloc, 1, sizeof(*instance));
    *out = NULL;
    if (!instance) return tn_error_memory(err, TN_PHASE_LOAD, "loading modules");
    *instance = (struct tn_instance){.assessment = a, .program = tail, .alloc = env->ctx->alloc, .pool = env->pool, .threads = tail->threads};
    enum tn_status st = tn_native_program_load(instance, r, env, err);
    *weights = instance->digest;
    if (st) tn_native_release(instance);
    else *out = instance;
    return st;
}

void tn_native_tail_fingerprint(const struct tn_native_program *tail, struct tn_sha256 *h)
{
    tn_sha256_update_str(h, tn_str_of(tail->kernels->isa_class));
    tn_native_graph_fingerprint(&tail->graph, h);
}

void tn_native_tail_write(struct tn_json_writer *w, const struct tn_native_program *tail)
{
    tn_net_write_nodes(w, tail->graph.part[TN_GRAPH_TOKENS]->main);
}
