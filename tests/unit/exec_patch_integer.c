/* The optimiser on quantised products: what becomes one node, and what must stay as it is written. */
#define _GNU_SOURCE
#include "exec_graphs.h"

/* As tools for quantisation write it: x to codes, their product, and back. */
static void quantised_product(struct bytes *g, bool conv, const char *x, const char *y, uint64_t *state)
{
    codes(g, "qw", TN_EL_U8, conv ? "3,4,3,3" : "6,5", conv ? 108 : 30, state);
    codes(g, "qz", TN_EL_U8, "", 1, state);
    scalar(g, "qs", 0.017f);
    reals(g, "qb", conv ? "1,3,1,1" : "5", conv ? 3 : 5, -1, 1, state);
    op(g, "DynamicQuantizeLinear", x, "q s z", "");
    op(g, conv ? "ConvInteger" : "MatMulInteger", "q qw z qz", "sums", conv ? "pads=1,1,1,1" : "");
    op(g, "Cast", "sums", "floats", "to=1");
    op(g, "Mul", "s qs", "scale", "");
    op(g, "Mul", "floats scale", "scaled", "");
    op(g, "Add", "scaled qb", y, "");
}

TEST(a_quantised_convolution_is_one_node_behind_its_codes)
{
    struct bytes g = {0};
    uint64_t state = 21;
    begin();
    quantised_product(&g, true, "x", "c", &state);
    op(&g, "Relu", "c", "y", "");
    port(&g, 11, "x", TN_EL_F32, "n,4,h,w");
    port(&g, 12, "y", TN_EL_F32, "n,3,h,w");
    struct given in = image(2, false);
    expect(g, &in, "\"integer\":2,\"activation\":1", "DynamicQuantizeLinear ConvInteger ");
}

TEST(a_quantised_product_takes_bias_and_residual)
{
    struct bytes g = {0};
    uint64_t state = 22;
    begin();
    quantised_product(&g, false, "x", "c", &state);
    op(&g, "Slice", "x from to axes", "r", "");
    op(&g, "Add", "c r", "y", "");
    constant(&g, "from", TN_EL_I64, "1", (int64_t[]){0}, 8);
    constant(&g, "to", TN_EL_I64, "1", (int64_t[]){5}, 8);
    constant(&g, "axes", TN_EL_I64, "1", (int64_t[]){3}, 8);
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,5");
    struct given in = image(2, false);
    expect(g, &in, "\"integer\":2,\"activation\":1", "DynamicQuantizeLinear Slice MatMulInteger ");
}

TEST(sums_that_are_read_elsewhere_stay_sums)
{
    struct bytes g = {0};
    uint64_t state = 23;
    begin();
    quantised_product(&g, false, "x", "y", &state);
    op(&g, "Cast", "sums", "other", "to=1");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,5");
    port(&g, 12, "other", TN_EL_F32, "2,4,5,5");
    struct given in = image(2, false);
    expect(g, &in, "{}", "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add Cast ");
}

TEST(a_scale_for_each_row_is_not_folded)
{
    struct bytes g = {0};
    uint64_t state = 24;
    begin();
    codes(&g, "qw", TN_EL_I8, "6,5", 30, &state);
    reals(&g, "rows", "5,1", 5, 0.5, 2, &state);
    op(&g, "DynamicQuantizeLinear", "x", "q s z", "");
    op(&g, "MatMulInteger", "q qw z", "sums", "");
    op(&g, "Cast", "sums", "floats", "to=1");
    op(&g, "Mul", "floats rows", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,4,5,5");
    struct given in = image(2, false);
    expect(g, &in, "{}", "DynamicQuantizeLinear MatMulInteger Cast Mul ");
}

TEST(products_of_dequantised_operands_go_back_to_the_codes)
{
    struct bytes g = {0};
    uint64_t state = 25;
    begin();
    codes(&g, "qw", TN_EL_I8, "3,4,3,3", 108, &state);
    reals(&g, "ws", "3", 3, 0.01, 0.02, &state);
    reals(&g, "b", "3", 3, -1, 1, &state);
    scalar(&g, "xs", 0.04f);
    constant(&g, "xz", TN_EL_U8, "", (uint8_t[]){121}, 1);
    op(&g, "QuantizeLinear", "x xs xz", "q", "");
    op(&g, "DequantizeLinear", "q xs xz", "d", "");
    op(&g, "DequantizeLinear", "qw ws", "w", "axis=0");
    op(&g, "Conv", "d w b", "c", "strides=2,2");
    op(&g, "Relu", "c", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,5,6");
    port(&g, 12, "y", TN_EL_F32, "2,3,2,2");
    struct given in = image(2, true);
    expect(g, &in, "\"integer\":1,\"activation\":1", "QuantizeLinear ConvInteger ");
}

/* x times a matrix of 4 bits [3 groups of 32 or one of 128], as exporters of small models write it */
static void nibble_product(struct bytes *g, int block, const char *more, const char *attrs, uint64_t *state)
{
    char in[64], text_of[96];
    snprintf(in, sizeof(in), "x w s%s", more);
    snprintf(text_of, sizeof(text_of), "K=70 N=5 bits=4 block_size=%d%s", block, attrs);
    int groups = (70 + block - 1) / block, bytes = 5 * groups * block / 2;
    uint8_t *values = malloc((size_t)bytes);
    for (int i = 0; i < bytes; i++) values[i] = (uint8_t)test_random(state);
    snprintf(in + 32, 32, "5,%d,%d", groups, block / 2);
    constant(g, "w", TN_EL_U8, in + 32, values, (size_t)bytes);
    snprintf(in + 32, 32, "%d", 5 * groups);
    reals(g, "s", in + 32, (size_t)(5 * groups), -0.02, 0.05, state);
    codes(g, "z", TN_EL_U8, "5,2", 10, state);
    reals(g, "b", "5", 5, -1, 1, state);
    op_of(g, "com.microsoft", "MatMulNBits", in, "c", text_of);
    free(values);
}

/* Rows that 8 bits hold exactly: whole numbers, the largest of each block 127. */
static struct given coded_rows(uint64_t state)
{
    for (int i = 0; i < 2 * 3 * 70; i++) numbers[i] = i % 70 % 32 == 3 ? 127.0f : (float)(int)test_uniform(&state, -127, 127);
    return (struct given){3, {2, 3, 70}, numbers};
}

TEST(rows_are_rounded_where_the_file_permits_it)
{
    static const char *const found = "\"nibbles\":1,\"activation\":2";
    for (int form = 0; form < 3; form++) {
        struct bytes g = {0};
        uint64_t state = (uint64_t)form + 31;
        begin();
        nibble_product(&g, form == 2 ? 128 : 32, form == 1 ? " z" : "", " accuracy_level=4", &state);
        op(&g, "Add", "c b", "d", "");
        op(&g, "Gelu", "d", "y", "");
        port(&g, 11, "x", TN_EL_F32, "n,3,70");
        port(&g, 12, "y", TN_EL_F32, "n,3,5");
        struct given in = coded_rows(state);
        in.dims[0] = 2;
        if (form == 1) numbers[80] = INFINITY;
        expect(g, &in, found, "NibbleProduct ");
    }
}

TEST(rows_of_another_accuracy_stay_as_they_are)
{
    static const char *const attrs[] = {"", " accuracy_level=1", " accuracy_level=4"};
    for (int form = 0; form < 3; form++) {
        struct bytes g = {0};
        uint64_t state = 3;
        begin();
        nibble_product(&g, form == 2 ? 16 : 32, "", attrs[form], &state);
        port(&g, 11, "x", TN_EL_F32, "2,3,70");
        port(&g, 12, "c", TN_EL_F32, "2,3,5");
        struct given in = coded_rows(state);
        expect(g, &in, "{}", "MatMulNBits ");
    }
}

/* Half a step of each block is what rounding may move a row by. */
TEST(rounded_rows_stay_within_their_steps)
{
    struct bytes g = {0};
    struct outcome as_written, rounded;
    uint64_t state = 17;
    begin();
    nibble_product(&g, 32, "", " accuracy_level=4", &state);
    port(&g, 11, "x", TN_EL_F32, "2,3,70");
    port(&g, 12, "c", TN_EL_F32, "2,3,5");
    for (int i = 0; i < 2 * 3 * 70; i++) numbers[i] = (float)test_uniform(&state, -1, 1);
    struct given in = {3, {2, 3, 70}, numbers};
    run_graph(&g, "nibbles", 1, &in, &as_written);
    run_graph(&g, NULL, 1, &in, &rounded);
    double largest = 0;
    for (size_t i = 0; i < 30; i++) largest = fmax(largest, fabs((double)as_written.values[0][i] - (double)rounded.values[0][i]));
    CHECK(largest > 0 && largest < 70 * 8 * 0.05 / 254);
    free_outcome(&as_written);
    free_outcome(&rounded);
    free(g.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
