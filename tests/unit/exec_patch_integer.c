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
