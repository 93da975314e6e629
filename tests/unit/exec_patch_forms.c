/*
 * What exporters write out: layer normalisation, GELU, attention, tables of bytes, and the shapes around them. Each where it
 * is found, and where something else only looks like it.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

/* x - mean, over the root of its mean square, by a division or by a reciprocal; one or two differences. */
static void put_norm(struct bytes *g, bool reciprocal, bool twice)
{
    op(g, "ReduceMean", "x last", "m", "keepdims=1");
    op(g, "Sub", "x m", "d", "");
    if (twice) op(g, "Sub", "x m", "e", "");
    op(g, "Pow", twice ? "e two" : "d two", "p", "");
    op(g, "ReduceMean", "p last", "v", "");
    op(g, "Add", "v tiny", "t", "");
    op(g, "Sqrt", "t", "r", "");
    if (reciprocal) op(g, "Reciprocal", "r", "i", "");
    op(g, reciprocal ? "Mul" : "Div", reciprocal ? "i d" : "d r", "n", "");
    op(g, "Mul", "n s", "c", "");
    op(g, "Add", "b c", "y", "");
}

static void norm_constants(struct bytes *g, uint64_t *state)
{
    constant(g, "last", TN_EL_I64, "1", &(int64_t){-1}, 8);
    scalar(g, "two", 2);
    scalar(g, "tiny", 1e-5f);
    reals(g, "s", "6", 6, -1, 1, state);
    reals(g, "b", "6", 6, -1, 1, state);
    port(g, 11, "x", TN_EL_F32, "batch,4,h,6");
    port(g, 12, "y", TN_EL_F32, "batch,4,h,6");
}

TEST(a_written_normalisation_is_one_operator)
{
    for (int form = 0; form < 4; form++) {
        struct bytes g = {0};
        uint64_t state = 1;
        begin();
        put_norm(&g, form & 1, form & 2);
        norm_constants(&g, &state);
        struct given in = image(3, form == 3);
        expect(g, &in, "\"norm\":2", "LayerNormalization ");
    }
}

TEST(a_normalisation_whose_difference_is_read_elsewhere_keeps_it)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    put_norm(&g, false, false);
    norm_constants(&g, &state);
    port(&g, 12, "d", TN_EL_F32, "batch,4,h,6");
    struct given in = image(3, false);
    expect(g, &in, "\"norm\":2", "ReduceMean Sub LayerNormalization ");
}

TEST(the_square_of_another_difference_is_no_normalisation)
{
    struct bytes g = {0};
    uint64_t state = 1;
    begin();
    op(&g, "ReduceMean", "x last", "m", "keepdims=1");
    op(&g, "Sub", "x m", "d", "");
    op(&g, "Pow", "x two", "p", "");
    op(&g, "ReduceMean", "p last", "v", "");
    op(&g, "Add", "v tiny", "t", "");
    op(&g, "Sqrt", "t", "r", "");
    op(&g, "Div", "d r", "n", "");
    op(&g, "Mul", "n s", "c", "");
    op(&g, "Add", "b c", "y", "");
    norm_constants(&g, &state);
    struct given in = image(3, false);
    expect(g, &in, "{}", "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add ");
}

TEST(written_gelu_is_found_in_any_order_of_products)
{
    static const char *const forms[] = {"erf", "cube", "square"};
    for (int form = 0; form < 3; form++) {
        struct bytes g = {0};
        begin();
        scalar(&g, "half", 0.5f);
        scalar(&g, "one", 1);
        scalar(&g, "root", 1.41421354f);
        scalar(&g, "three", 3);
        scalar(&g, "little", 0.044715f);
        scalar(&g, "slope", 0.797884583f);
        if (strcmp(forms[form], "erf") == 0) {
            op(&g, "Div", "x root", "u", "");
            op(&g, "Erf", "u", "f", "");
            op(&g, "Add", "f one", "a", "");
            op(&g, "Mul", "half a", "h", "");
            op(&g, "Mul", "h x", "y", "");
        } else if (strcmp(forms[form], "cube") == 0) {
            op(&g, "Pow", "x three", "c", "");
            op(&g, "Mul", "little c", "l", "");
            op(&g, "Add", "x l", "s", "");
            op(&g, "Mul", "s slope", "u", "");
            op(&g, "Tanh", "u", "f", "");
            op(&g, "Add", "one f", "a", "");
            op(&g, "Mul", "x a", "h", "");
            op(&g, "Mul", "h half", "y", "");
        } else {
            op(&g, "Mul", "x x", "q", "");
            op(&g, "Mul", "q little", "l", "");
            op(&g, "Add", "l one", "s", "");
            op(&g, "Mul", "x slope", "t", "");
            op(&g, "Mul", "t s", "u", "");
            op(&g, "Tanh", "u", "f", "");
            op(&g, "Add", "one f", "a", "");
            op(&g, "Mul", "x half", "h", "");
            op(&g, "Mul", "h a", "y", "");
        }
        port(&g, 11, "x", TN_EL_F32, "batch,4,h,w");
        port(&g, 12, "y", TN_EL_F32, "batch,4,h,w");
        struct given in = image(3, true);
        expect(g, &in, "\"gelu\":1", "Gelu ");
    }
}

/* Queries x, keys and values x too, heads of which lie side by side in each row. */
TEST(written_attention_is_one_operator_without_transpositions)
{
    struct bytes g = {0};
    begin();
    scalar(&g, "factor", 0.3f);
    op(&g, "Transpose", "x", "q", "perm=0,2,1,3");
    op(&g, "Transpose", "x", "k", "perm=0,2,3,1");
    op(&g, "Transpose", "x", "v", "perm=0,2,1,3");
    op(&g, "MatMul", "q k", "s", "");
    op(&g, "Mul", "s factor", "f", "");
    op(&g, "Add", "f m", "a", "");
    op(&g, "Softmax", "a", "p", "axis=-1");
    op(&g, "MatMul", "p v", "o", "");
    op(&g, "Transpose", "o", "y", "perm=0,2,1,3");
    port(&g, 11, "x", TN_EL_F32, "batch,rows,5,6");
    port(&g, 11, "m", TN_EL_F32, "batch,1,1,rows");
    port(&g, 12, "y", TN_EL_F32, "batch,rows,5,6");
    static const float mask[] = {0, -1, -INFINITY, 0.5f, 0, 0, 2, -3e38f};
    for (int hostile = 0; hostile < 2; hostile++) {
        struct given in[2] = {image(5, hostile), {4, {2, 1, 1, 4}, mask}};
        struct bytes copy = {0};
        put(&copy, g.data, g.n);
        if (hostile) begin();
        expect(copy, in, "\"attend\":2", "Attend ");
    }
    free(g.data);
}

TEST(attention_over_batches_and_heads_in_one_dimension_gives_its_probabilities_too)
{
    struct bytes g = {0};
    begin();
    constant(&g, "merged", TN_EL_I64, "3", (int64_t[]){8, 5, 6}, 24);
    constant(&g, "weights", TN_EL_I64, "4", (int64_t[]){2, 4, 5, 5}, 32);
    constant(&g, "again", TN_EL_I64, "3", (int64_t[]){8, 5, 5}, 24);
    constant(&g, "parted", TN_EL_I64, "4", (int64_t[]){2, 4, 5, 6}, 32);
    op(&g, "Reshape", "x merged", "q", "");
    op(&g, "Reshape", "x merged", "k", "");
    op(&g, "Transpose", "k", "t", "perm=0,2,1");
    op(&g, "MatMul", "q t", "s", "");
    op(&g, "Softmax", "s", "p", "axis=2");
    op(&g, "Reshape", "p weights", "w", "");
    op(&g, "Relu", "w", "z", "");
    op(&g, "Reshape", "w again", "p2", "");
    op(&g, "Reshape", "x merged", "v", "");
    op(&g, "MatMul", "p2 v", "o", "");
    op(&g, "Reshape", "o parted", "h", "");
    op(&g, "Transpose", "h", "y", "perm=0,2,1,3");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,5,4,6");
    port(&g, 12, "w", TN_EL_F32, "2,4,5,5");
    port(&g, 12, "z", TN_EL_F32, "2,4,5,5");
    struct given in = image(5, false);
    expect(g, &in, "\"attend\":3", "Attend Reshape Relu ");
}

TEST(scores_that_are_read_elsewhere_are_no_attention)
{
    struct bytes g = {0};
    begin();
    op(&g, "Transpose", "x", "k", "perm=0,1,3,2");
    op(&g, "MatMul", "x k", "s", "");
    op(&g, "Softmax", "s", "p", "axis=-1");
    op(&g, "MatMul", "p x", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "s", TN_EL_F32, "2,4,5,5");
    struct given in = image(5, false);
    expect(g, &in, "{}", "Transpose MatMul Softmax MatMul ");
}

TEST(a_large_table_of_bytes_is_read_as_it_lies)
{
    enum { ROWS = 4096, WIDTH = 257 };
    static uint8_t table[ROWS * WIDTH];
    static float each[ROWS];
    static float rows[20 * WIDTH];
    uint64_t state = 9;
    for (size_t i = 0; i < sizeof(table); i++) table[i] = (uint8_t)test_random(&state);
    for (size_t i = 0; i < ROWS; i++) each[i] = (float)test_uniform(&state, 0.001, 0.01);
    for (size_t i = 0; i < 20 * WIDTH; i++) rows[i] = (float)test_uniform(&state, -1, 1);
    for (int form = 0; form < 4; form++) {
        struct bytes g = {0};
        begin();
        constant(&g, "t", TN_EL_U8, "4096,257", table, sizeof(table));
        if (form & 1) {
            constant(&g, "z", TN_EL_U8, "", &(uint8_t){127}, 1);
            scalar(&g, "s", 0.01f);
            op(&g, "Transpose", "t", "u", "perm=1,0");
            op(&g, "DequantizeLinear", "u s z", "w", "");
        } else {
            constant(&g, "s", TN_EL_F32, "4096", each, sizeof(each));
            op(&g, "DequantizeLinear", "t s", "u", "axis=0");
            op(&g, "Transpose", "u", "w", "perm=1,0");
        }
        op(&g, "MatMul", "x w", "y", "");
        port(&g, 11, "x", TN_EL_F32, "rows,257");
        port(&g, 12, "y", TN_EL_F32, "rows,4096");
        struct given in = {2, {form & 2 ? 20 : 1, WIDTH}, rows};
        expect(g, &in, "\"table\":1", "TableProduct ");
    }
}

TEST(a_slice_of_everything_is_passed_by_and_one_backwards_is_not)
{
    struct bytes g = {0};
    begin();
    constant(&g, "zeros", TN_EL_I64, "2", (int64_t[]){0, 0}, 16);
    constant(&g, "ends", TN_EL_I64, "2", (int64_t[]){INT64_MAX, 1000}, 16);
    constant(&g, "axes", TN_EL_I64, "2", (int64_t[]){2, 3}, 16);
    constant(&g, "last", TN_EL_I64, "1", &(int64_t){-1}, 8);
    constant(&g, "least", TN_EL_I64, "1", &(int64_t){INT64_MIN}, 8);
    op(&g, "Slice", "x zeros ends axes", "a", "");
    op(&g, "Relu", "a", "b", "");
    op(&g, "Slice", "b last least last last", "y", "");
    port(&g, 11, "x", TN_EL_F32, "batch,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "batch,4,5,6");
    struct given in = image(5, true);
    expect(g, &in, "\"identity\":1", "Relu Slice ");
}

/* What torch writes around a mask and the first rows of a table: shapes with -1 that are filled in, slices up to a length. */
TEST(shapes_are_followed_through_what_exporters_write)
{
    struct bytes g = {0};
    begin();
    constant(&g, "axis0", TN_EL_I64, "1", &(int64_t){0}, 8);
    constant(&g, "axis1", TN_EL_I64, "1", &(int64_t){1}, 8);
    constant(&g, "first", TN_EL_I64, "", &(int64_t){0}, 8);
    constant(&g, "second", TN_EL_I64, "", &(int64_t){1}, 8);
    constant(&g, "open", TN_EL_I64, "1", &(int64_t){-1}, 8);
    constant(&g, "less", TN_EL_I64, "", &(int64_t){-1}, 8);
    constant(&g, "ones", TN_EL_I64, "4", (int64_t[]){1, 1, 1, 1}, 32);
    constant(&g, "flat", TN_EL_I64, "1", &(int64_t){-1}, 8);
    constant(&g, "heads", TN_EL_I64, "2", (int64_t[]){2, 3}, 16);
    static float rows[64 * 6];
    for (int i = 0; i < 64 * 6; i++) rows[i] = (float)(i % 7) * 0.1f;
    constant(&g, "table", TN_EL_F32, "1,64,6", rows, sizeof(rows));
    op(&g, "Shape", "x", "shape", "");
    op(&g, "Gather", "shape first", "b", "axis=0");
    op(&g, "Gather", "shape second", "n", "axis=0");
    op(&g, "Unsqueeze", "b axis0", "b1", "");
    op(&g, "Unsqueeze", "n axis0", "n1", "");
    op(&g, "Slice", "table axis0 n1 axis1", "t", "");
    op(&g, "Add", "x t", "e", "");
    op(&g, "Concat", "b1 n1 heads", "parted", "axis=0");
    op(&g, "Concat", "b1 open n1 n1", "wanted", "axis=0");
    op(&g, "Reshape", "wanted flat", "list", "");
    op(&g, "Mul", "ones less", "minus", "");
    op(&g, "Equal", "list minus", "same", "");
    op(&g, "Where", "same ones list", "dims", "");
    op(&g, "Expand", "m dims", "mask", "");
    op(&g, "Reshape", "e parted", "h", "");
    op(&g, "Transpose", "h", "q", "perm=0,2,1,3");
    op(&g, "Transpose", "h", "k", "perm=0,2,3,1");
    op(&g, "Transpose", "h", "v", "perm=0,2,1,3");
    op(&g, "MatMul", "q k", "s", "");
    op(&g, "Add", "s mask", "a", "");
    op(&g, "Softmax", "a", "p", "axis=-1");
    op(&g, "MatMul", "p v", "o", "");
    op(&g, "Transpose", "o", "y", "perm=0,2,1,3");
    port(&g, 11, "x", TN_EL_F32, "batch,rows,6");
    port(&g, 11, "m", TN_EL_F32, "batch,1,1,rows");
    port(&g, 12, "y", TN_EL_F32, "batch,rows,2,3");
    static const float mask[] = {0, -1, 0.5f, 0, 2, -3e38f};
    struct given in[2] = {{3, {2, 3, 6}, image(5, false).values}, {4, {2, 1, 1, 3}, mask}};
    struct outcome as_written, rewritten;
    char why[160] = "";
    run_graph(&g, "all", 1, in, &as_written);
    run_graph(&g, NULL, 1, in, &rewritten);
    if (!alike(&as_written, &rewritten, why, sizeof(why))) test_fail(__FILE__, __LINE__, "%s", why);
    CHECK_CONTAINS(rewritten.patches, "\"attend\":2");
    free_outcome(&as_written);
    free_outcome(&rewritten);
    free(g.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* The contributed product computes by the standard's, whose packed matrix it makes. */
TEST(a_contributed_product_reads_its_packed_matrix)
{
    struct bytes g = {0};
    struct outcome o;
    float w[2][30];
    uint64_t state = 41;
    begin();
    for (int i = 0; i < 30; i++) w[1][i % 5 * 6 + i / 5] = w[0][i] = (float)test_uniform(&state, -1, 1);
    constant(&g, "w", TN_EL_F32, "6,5", w[0], sizeof(w[0]));
    constant(&g, "t", TN_EL_F32, "5,6", w[1], sizeof(w[1]));
    op(&g, "MatMul", "x w", "y", "");
    op_of(&g, "com.microsoft", "FusedMatMul", "x w", "z", "");
    op_of(&g, "com.microsoft", "FusedMatMul", "x t", "u", "transB=1");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    for (const char *p = "yzu"; *p; p++) port(&g, 12, (char[]){*p, 0}, TN_EL_F32, "2,4,5,5");
    struct given in = image(5, false);
    run_graph(&g, NULL, 2, &in, &o);
    CHECK_INT(o.count, 3);
    for (uint32_t k = 1; k < o.count; k++) CHECK(memcmp(o.values[0], o.values[k], o.sizes[0] * sizeof(float)) == 0);
    free_outcome(&o);
    free(g.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
