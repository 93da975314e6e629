/* Which limits bind a graph's parts: tensors, nodes and values by `tensors`; numbers of an attribute by what a file can hold. */
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
