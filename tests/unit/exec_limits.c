/*
 * What a file states and what binds: tensors, nodes and values by the limit `tensors`, numbers of an attribute by what a file
 * can hold; the type of a value by its node.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

TEST(long_lists_of_numbers_are_no_tensors)
{
    struct bytes g = {0};
    struct outcome o;
    float x[24];
    struct given in = {.rank = 4, .dims = {1, 2, 3, 4}, .values = x};
    for (int i = 0; i < 24; i++) x[i] = (float)i;
    begin();
    op(&g, "Transpose", "x", "y", "perm=0,3,1,2");
    port(&g, 11, "x", TN_EL_F32, "1,2,3,4");
    port(&g, 12, "y", TN_EL_F32, "1,4,2,3");
    const uint64_t before = ctx.limits.tensors;
    ctx.limits.tensors = 3;
    run_graph(&g, NULL, 1, &in, &o);
    ctx.limits.tensors = before;
    CHECK(o.good);
    free_outcome(&o);
    free(g.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* Converters state one column where there are two; runtimes compute two. Another rank or type is another graph. */
static void stated(const char *dims, unsigned element, struct outcome *o, size_t blockers)
{
    struct bytes g = {0}, m = {0};
    struct tn_str holder;
    struct tn_onnx_view *view = NULL;
    struct tn_model *model = NULL;
    struct tn_findings findings;
    float x[6] = {1, 2, 3, 4, 5, 6};
    struct given in = {.rank = 2, .dims = {3, 2}, .values = x};
    op(&g, "Transpose", "x", "y", "");
    port(&g, 11, "x", TN_EL_F32, "3,2");
    port(&g, 12, "y", element, dims);
    if (o) run_graph(&g, NULL, 1, &in, o);
    number(&m, 1, 9);
    opset(&m, "", 21);
    message(&m, 7, g);
    struct tn_source source = tn_source_of_memory(m.data, m.n, TN_STR("m.onnx"), &holder);
    tn_findings_init(&findings, &alloc, 16);
    REQUIRE(tn_onnx_view_open(&ctx, &source, &view, err) == TN_OK && tn_model_import(&ctx, NULL, &source, view, &findings, &model, err) == TN_OK && model);
    tn_net_check(model, &findings);
    CHECK_INT(tn_net_infer(model, &findings, err), TN_OK);
    CHECK_INT(findings.blockers, blockers);
    CHECK_INT(findings.count, 1);
    for (size_t i = 0; i < findings.count; i++) CHECK_CONTAINS(findings.items[i].message, "states another type");
    tn_model_free(model);
    tn_findings_release(&findings);
    free(m.data);
}

TEST(columns_that_are_stated_wrongly_are_told)
{
    struct outcome o;
    begin();
    stated("2,1", TN_EL_F32, &o, 0);
    CHECK(o.good);
    CHECK_INT(o.sizes[0], 6);
    free_outcome(&o);
    stated("2,3,1", TN_EL_F32, NULL, 1);
    stated("2,3", TN_EL_F64, NULL, 1);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
