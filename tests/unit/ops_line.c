/*
 * Windows along one direction: constant weights, which are filtered, against the same weights as an operand of the call, which
 * go the general road; with one thread and two bit by bit.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

struct line {
    const char *x, *w, *attrs;
    int64_t x_dims[4], w_dims[4];
    uint32_t rank;
};

static size_t count_of(const int64_t *dims, uint32_t rank)
{
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= (size_t)dims[i];
    return n;
}

static void check_line(const struct line *c, const char *activation, bool odd)
{
    struct bytes fixed = {0}, free_ones = {0};
    struct outcome one, two, general;
    uint64_t state = 21;
    size_t x_count = count_of(c->x_dims, c->rank), w_count = count_of(c->w_dims, c->rank);
    float *x = malloc(x_count * sizeof(*x)), *w = malloc(w_count * sizeof(*w));
    for (size_t i = 0; i < x_count; i++) x[i] = (float)test_uniform(&state, -2, 2);
    for (size_t i = 0; i < w_count; i++) w[i] = (float)test_uniform(&state, -0.2, 0.2);
    if (odd) x[x_count / 3] = INFINITY;
    if (odd) x[x_count / 2] = NAN;
    begin();
    for (int k = 0; k < 2; k++) {
        struct bytes *g = k ? &free_ones : &fixed;
        uint64_t again = 5;
        if (k == 0) constant(g, "w", TN_EL_F32, c->w, w, w_count * sizeof(*w));
        reals(g, "b", "40", 40, -1, 1, &again);
        op(g, "Conv", "x w b", "a", c->attrs);
        op(g, activation, "a", "y", "");
        port(g, 11, "x", TN_EL_F32, c->x);
        if (k == 1) port(g, 11, "w", TN_EL_F32, c->w);
        port(g, 12, "y", TN_EL_F32, c->rank == 3 ? "n,40,l" : "n,40,h,w");
    }
    struct given in[2] = {{.rank = c->rank, .values = x}, {.rank = c->rank, .values = w}};
    memcpy(in[0].dims, c->x_dims, sizeof(in[0].dims));
    memcpy(in[1].dims, c->w_dims, sizeof(in[1].dims));
    run_graph(&fixed, NULL, 1, in, &one);
    run_graph(&fixed, NULL, 2, in, &two);
    run_graph(&free_ones, NULL, 1, in, &general);
    CHECK(one.good && two.good && general.good);
    for (size_t i = 0; general.good && one.good && i < general.sizes[0]; i++) {
        float a = one.values[0][i], b = general.values[0][i];
        bool same = isnan(b) ? isnan(a) : isinf(b) ? a == b : fabsf(a - b) < 1e-4f;
        if (!same) test_fail(__FILE__, __LINE__, "%s %s: element %zu is %g, not %g", c->w, activation, i, (double)a, (double)b);
        if (!same) break;
    }
    if (two.good) CHECK(memcmp(one.values[0], two.values[0], one.sizes[0] * sizeof(float)) == 0);
    free_outcome(&one);
    free_outcome(&two);
    free_outcome(&general);
    free(x);
    free(w);
    free(fixed.data);
    free(free_ones.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(windows_along_a_line_are_filtered)
{
    static const struct line lines[] = {
        {"n,32,l", "40,32,5", "pads=2,2", {2, 32, 131}, {40, 32, 5}, 3},
        {"n,48,l", "40,48,3", "auto_pad=SAME_LOWER", {1, 48, 30}, {40, 48, 3}, 3},
        {"n,32,h,w", "40,32,5,1", "pads=0,0,0,0", {2, 32, 64, 1}, {40, 32, 5, 1}, 4},
        {"n,32,h,w", "40,32,1,3", "pads=0,1,0,1", {2, 32, 6, 17}, {40, 32, 1, 3}, 4},
        {"n,33,h,w", "40,33,3,1", "pads=2,1,1,0", {1, 33, 9, 7}, {40, 33, 3, 1}, 4},
        {"n,35,h,w", "40,35,1,5", "pads=0,4,0,0", {1, 35, 3, 3}, {40, 35, 1, 5}, 4},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        check_line(&lines[i], "Relu", false);
        check_line(&lines[i], i % 2 ? "Sigmoid" : "HardSwish", i % 3 == 0);
    }
}
