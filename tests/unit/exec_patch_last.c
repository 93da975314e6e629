/*
 * Chains around depthwise convolutions: which nodes become which, and the same results as written, with one thread and two.
 */
#define _GNU_SOURCE
#include "exec_graphs.h"

/* The first input's image of this shape, some of whose numbers are not finite. */
static struct given picture(int64_t images, int64_t channels, int64_t height, int64_t width)
{
    struct given in = image(5, true);
    CHECK(images * channels * height * width <= (int64_t)(sizeof(numbers) / sizeof(*numbers)));
    in.dims[0] = images;
    in.dims[1] = channels;
    in.dims[2] = height;
    in.dims[3] = width;
    return in;
}

/* As expect, and bit by bit with two threads. */
static void expect_both(struct bytes g, const struct given *in, const char *patches, const char *types)
{
    struct outcome one, two;
    run_graph(&g, NULL, 1, in, &one);
    run_graph(&g, NULL, 2, in, &two);
    for (uint32_t k = 0; k < one.count && two.good; k++) CHECK(memcmp(one.values[k], two.values[k], one.sizes[k] * sizeof(float)) == 0);
    free_outcome(&one);
    free_outcome(&two);
    expect(g, in, patches, types);
}

struct widening {
    const char *dims, *weights, *attrs;
    int64_t images, height, width;
    size_t taps;
};

/* 1 x 1 from 4 to 20, depthwise, 1 x 1 to 4. */
static void widen(const struct widening *c, bool residual)
{
    struct bytes g = {0};
    uint64_t state = 9;
    begin();
    reals(&g, "e", "20,4,1,1", 80, -1, 1, &state);
    reals(&g, "eb", "20", 20, -1, 1, &state);
    reals(&g, "v", c->weights, 20 * c->taps, -1, 1, &state);
    reals(&g, "vb", "20", 20, -1, 1, &state);
    reals(&g, "w", "4,20,1,1", 80, -1, 1, &state);
    op(&g, "Conv", "x e eb", "a", "");
    op(&g, "HardSwish", "a", "b", "");
    op(&g, "Conv", "b v vb", "c", c->attrs);
    op(&g, "Relu", "c", "d", "");
    op(&g, "Conv", "d w", residual ? "f" : "y", "");
    if (residual) op(&g, "Add", "x f", "y", "");
    port(&g, 11, "x", TN_EL_F32, c->dims);
    port(&g, 12, "y", TN_EL_F32, "a,4,h,w");
    struct given in = picture(c->images, 4, c->height, c->width);
    expect_both(g, &in, "\"pair\":2", "Transpose LastPair Transpose ");
}

TEST(images_that_are_widened_in_front_of_a_pair_stay_in_the_cache)
{
    static const struct widening cases[] = {
        {"1,4,40,9", "20,1,3,3", "group=20 pads=1,1,1,1", 1, 40, 9, 9},
        {"2,4,33,7", "20,1,3,3", "group=20 pads=1,1,1,1 strides=2,2", 2, 33, 7, 9},
        {"1,4,120,5", "20,1,5,5", "group=20 pads=2,2,2,2 strides=2,2", 1, 120, 5, 25},
        {"2,4,64,3", "20,1,3,3", "group=20 pads=2,2,2,2 dilations=2,1", 2, 64, 3, 9},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) widen(&cases[i], i == 0);
}

/* Few rows: two threads would make most of the wide image twice. */
TEST(a_small_image_is_widened_for_itself)
{
    struct bytes g = {0};
    uint64_t state = 9;
    begin();
    reals(&g, "e", "20,4,1,1", 80, -1, 1, &state);
    reals(&g, "v", "20,1,3,3", 180, -1, 1, &state);
    reals(&g, "w", "5,20,1,1", 100, -1, 1, &state);
    op(&g, "Conv", "x e", "a", "");
    op(&g, "Conv", "a v", "b", "group=20 pads=1,1,1,1");
    op(&g, "Conv", "b w", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,4,8,9");
    port(&g, 12, "y", TN_EL_F32, "2,5,8,9");
    struct given in = picture(2, 4, 8, 9);
    expect_both(g, &in, "\"last\":3,\"pair\":1", "Transpose LastConv LastPair Transpose ");
}

/* Large windows over few channels stand in front; symbols are no hindrance. */
TEST(a_stem_is_read_as_it_lies)
{
    struct bytes g = {0};
    uint64_t state = 3;
    begin();
    reals(&g, "s", "24,3,5,5", 1800, -1, 1, &state);
    reals(&g, "v", "24,1,3,3", 216, -1, 1, &state);
    op(&g, "Conv", "x s", "a", "strides=2,2 pads=1,2,2,1");
    op(&g, "Relu", "a", "b", "");
    op(&g, "Conv", "b v", "y", "group=24 pads=1,1,1,1");
    port(&g, 11, "x", TN_EL_F32, "n,3,h,w");
    port(&g, 12, "y", TN_EL_F32, "n,24,oh,ow");
    struct given in = picture(2, 3, 24, 28);
    expect_both(g, &in, "\"activation\":1,\"last\":2", "Transpose LastConv LastConv Transpose ");
}

/* Zeros beside an addend are left out, other numbers not. */
static void widen_residual(bool zeros)
{
    struct bytes g = {0};
    uint64_t state = 4;
    begin();
    reals(&g, "v", "4,1,3,3", 36, -1, 1, &state);
    reals(&g, "w", "6,4,1,1", 24, -1, 1, &state);
    if (zeros) {
        constant(&g, "shape", TN_EL_I64, "4", (int64_t[]){1, 2, 9, 8}, 32);
        op(&g, "ConstantOfShape", "shape", "z", "");
    } else {
        reals(&g, "z", "1,2,9,8", 144, 0.5, 1, &state);
    }
    op(&g, "Conv", "x v", "a", "group=4 pads=1,1,1,1");
    op(&g, "Conv", "a w", "b", "");
    op(&g, "Concat", "x z", "c", "axis=1");
    op(&g, "Add", "c b", "d", "");
    op(&g, "Relu", "d", "y", "");
    port(&g, 11, "x", TN_EL_F32, "1,4,9,8");
    port(&g, 12, "y", TN_EL_F32, "1,6,9,8");
    struct given in = picture(1, 4, 9, 8);
    if (zeros) expect_both(g, &in, "\"pair\":2", "Transpose LastPair Transpose ");
    else expect_both(g, &in, "\"pair\":1", "Transpose Transpose Concat LastPair Transpose ");
}

TEST(a_residual_that_is_widened_by_zeros_is_read_narrow)
{
    widen_residual(true);
    widen_residual(false);
}

/* Plain windows, strided or not, are computed either way: nothing is turned between two of them. */
TEST(chains_go_through_plain_windows)
{
    struct bytes g = {0};
    uint64_t state = 4;
    begin();
    reals(&g, "p", "8,8,3,3", 576, -1, 1, &state);
    reals(&g, "q", "40,8,3,1", 960, -0.3, 0.3, &state);
    reals(&g, "r", "8,40,1,5", 1600, -0.3, 0.3, &state);
    reals(&g, "v", "8,1,3,3", 72, -1, 1, &state);
    op(&g, "Conv", "x v", "a", "group=8 pads=1,1,1,1");
    op(&g, "MaxPool", "a", "b", "kernel_shape=2,2 strides=2,2");
    op(&g, "Conv", "b p", "c", "pads=1,1,1,1");
    op(&g, "Conv", "c q", "d", "pads=1,0,1,0");
    op(&g, "Conv", "d r", "e", "pads=0,2,0,2");
    op(&g, "Add", "e c", "f", "");
    op(&g, "MaxPool", "f", "h", "kernel_shape=2,2 strides=2,2");
    op(&g, "Conv", "h p", "y", "pads=1,1,1,1 strides=2,2");
    port(&g, 11, "x", TN_EL_F32, "2,8,16,14");
    port(&g, 12, "y", TN_EL_F32, "2,8,oh,ow");
    struct given in = picture(2, 8, 16, 14);
    expect_both(g, &in, "\"activation\":1,\"last\":7", "Transpose LastConv LastMaxPool LastConv LastConv LastConv LastMaxPool LastConv Transpose ");
}

/* Means of windows, whose padding counts or not. */
static void average(const char *attrs)
{
    struct bytes g = {0};
    uint64_t state = 8;
    begin();
    reals(&g, "v", "17,1,3,3", 153, -1, 1, &state);
    reals(&g, "w", "9,17,1,1", 153, -1, 1, &state);
    op(&g, "Conv", "x v", "a", "group=17 pads=1,1,1,1");
    op(&g, "AveragePool", "a", "b", attrs);
    op(&g, "Conv", "b w", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,17,h,w");
    port(&g, 12, "y", TN_EL_F32, "2,9,oh,ow");
    struct given in = picture(2, 17, 11, 9);
    expect_both(g, &in, "\"last\":3", "Transpose LastConv LastAveragePool LastConv Transpose ");
}

TEST(chains_go_through_means_of_windows)
{
    average("kernel_shape=3,2 strides=3,2");
    average("kernel_shape=3,3 pads=1,1,1,1");
    average("kernel_shape=3,4 pads=1,2,0,1 strides=2,2 count_include_pad=1 ceil_mode=1");
    average("kernel_shape=2,2 auto_pad=SAME_UPPER");
}

/* Blocks of a transposed convolution, few maps of them and many; nearest neighbours by scales and by sizes. */
static void grow(const char *up, const char *attrs, const char *maps, size_t count, const char *resize, const char *y)
{
    struct bytes g = {0};
    uint64_t state = 6;
    const float scales[4] = {1, 1, 2, 3};
    const int64_t sizes[4] = {2, 16, 9, 20};
    begin();
    reals(&g, "v", "16,1,3,3", 144, -1, 1, &state);
    reals(&g, "u", up, count, -1, 1, &state);
    reals(&g, "b", maps, (size_t)atoi(maps), -1, 1, &state);
    constant(&g, "scales", TN_EL_F32, "4", scales, sizeof(scales));
    constant(&g, "sizes", TN_EL_I64, "4", sizes, sizeof(sizes));
    op(&g, "Conv", "x v", "a", "group=16 pads=1,1,1,1");
    op(&g, "Resize", resize, "r", "mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor");
    op(&g, "ConvTranspose", "r u b", "t", attrs);
    op(&g, "Sigmoid", "t", "y", "");
    port(&g, 11, "x", TN_EL_F32, "2,16,h,w");
    port(&g, 12, "y", TN_EL_F32, y);
    struct given in = picture(2, 16, 5, 7);
    expect_both(g, &in, "\"activation\":1,\"last\":3", "Transpose LastConv Resize LastUp Transpose ");
}

TEST(chains_go_through_what_makes_images_larger)
{
    grow("16,12,2,2", "strides=2,2", "12", 768, "a _ scales", "2,12,oh,ow");
    grow("16,1,2,2", "strides=2,2", "1", 64, "a _ _ sizes", "2,1,oh,ow");
    grow("16,5,3,2", "strides=3,2 pads=0,0,0,0", "5", 480, "a _ scales", "2,5,oh,ow");
    grow("16,5,3,1", "strides=3,1", "5", 240, "a _ _ sizes", "2,5,oh,ow");
}

/* Windows that overlap, or leave gaps, are added up as ever. */
TEST(windows_that_overlap_are_no_blocks)
{
    struct bytes g = {0};
    uint64_t state = 6;
    begin();
    reals(&g, "v", "8,1,3,3", 72, -1, 1, &state);
    reals(&g, "u", "8,4,3,3", 288, -1, 1, &state);
    op(&g, "Conv", "x v", "a", "group=8 pads=1,1,1,1");
    op(&g, "ConvTranspose", "a u", "y", "strides=2,2");
    port(&g, 11, "x", TN_EL_F32, "1,8,6,5");
    port(&g, 12, "y", TN_EL_F32, "1,4,13,11");
    struct given in = picture(1, 8, 6, 5);
    expect_both(g, &in, "\"last\":1", "Transpose LastConv Transpose ConvTranspose ");
}

/* Three channels of a wide image would leave most of each vector empty. */
TEST(few_channels_of_wide_images_stay_planes)
{
    struct bytes g = {0};
    uint64_t state = 4;
    begin();
    reals(&g, "v", "3,1,3,3", 27, -1, 1, &state);
    op(&g, "Conv", "x v", "y", "group=3 pads=1,1,1,1");
    port(&g, 11, "x", TN_EL_F32, "1,3,8,64");
    port(&g, 12, "y", TN_EL_F32, "1,3,8,64");
    struct given in = picture(1, 3, 8, 64);
    expect_both(g, &in, "{}", "Conv ");
}

/* One depthwise convolution among convolutions in groups, which stay planes, does not turn what lies between them. */
TEST(a_graph_of_other_windows_is_left_as_it_is)
{
    struct bytes g = {0};
    uint64_t state = 4;
    char in[32], out[32];
    begin();
    reals(&g, "v", "16,1,3,3", 144, -1, 1, &state);
    reals(&g, "p", "8,4,3,3", 288, -0.2, 0.2, &state);
    reals(&g, "up", "16,8,1,1", 128, -0.4, 0.4, &state);
    reals(&g, "down", "8,16,1,1", 128, -0.4, 0.4, &state);
    op(&g, "Conv", "x v", "y0", "group=16 pads=1,1,1,1");
    for (int i = 0; i < 5; i++) {
        snprintf(in, sizeof(in), "y%d down", i);
        snprintf(out, sizeof(out), "a%d", i);
        op(&g, "Conv", in, out, "");
        snprintf(in, sizeof(in), "a%d p", i);
        snprintf(out, sizeof(out), "b%d", i);
        op(&g, "Conv", in, out, "pads=1,1,1,1 group=2");
        snprintf(in, sizeof(in), "b%d up", i);
        snprintf(out, sizeof(out), "c%d", i);
        op(&g, "Conv", in, out, "");
        snprintf(in, sizeof(in), "y%d c%d", i, i);
        snprintf(out, sizeof(out), "y%d", i + 1);
        op(&g, "Add", in, out, "");
    }
    port(&g, 11, "x", TN_EL_F32, "1,16,8,8");
    port(&g, 12, "y5", TN_EL_F32, "1,16,8,8");
    struct given given = picture(1, 16, 8, 8);
    expect_both(g, &given, "{\"activation\":5}",
                "Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv Conv ");
}

/* ---- without memory ----------------------------------------------------------------------------------------------- */

/* From the file to two calls. */
static enum tn_status road(const struct bytes *file, const struct given *given)
{
    struct tn_str holder;
    struct tn_onnx_view *view = NULL;
    struct tn_model *model = NULL;
    struct tn_program *program = NULL;
    struct tn_exec_context *c = NULL;
    struct tn_tensor *in = NULL, *out = NULL;
    struct tn_findings findings;
    struct tn_program_options options = {.pool = pool, .threads = 2};
    struct tn_source source = tn_source_of_memory(file->data, file->n, TN_STR("m.onnx"), &holder);
    tn_findings_init(&findings, &alloc, 16);
    tn_error_clear(err);
    enum tn_status st = tn_onnx_view_open(&ctx, &source, &view, err);
    if (!st) st = tn_model_import(&ctx, NULL, &source, view, &findings, &model, err);
    if (!st && model) tn_net_check(model, &findings);
    if (!st && model) st = tn_net_infer(model, &findings, err);
    if (!st && model && findings.count == 0) st = tn_program_new(model, &options, &program, err);
    if (program) st = tn_exec_context_new(program, 2, &c, err);
    if (c) in = tn_tensor_new(tn_exec_heap(c), TN_EL_F32, given->rank, given->dims);
    if (c && !in) st = TN_INSUFFICIENT_MEMORY;
    if (in) memcpy(in->data, given->values, in->bytes);
    for (int i = 0; in && !st && i < 2; i++) {
        st = tn_exec_run(c, &in, &out, NULL, NULL, err);
        tn_tensor_drop(out);
        out = NULL;
    }
    tn_tensor_drop(in);
    tn_exec_context_free(c);
    tn_program_free(program);
    tn_model_free(model);
    if (findings.dropped) st = TN_INSUFFICIENT_MEMORY;
    tn_findings_release(&findings);
    return st;
}

TEST(each_allocation_of_a_chain_fails_once)
{
    struct bytes g = {0}, m = {0};
    uint64_t state = 9;
    begin();
    reals(&g, "s", "8,3,3,3", 216, -1, 1, &state);
    reals(&g, "e", "20,8,1,1", 160, -1, 1, &state);
    reals(&g, "v", "20,1,3,3", 180, -1, 1, &state);
    reals(&g, "w", "8,20,1,1", 160, -1, 1, &state);
    reals(&g, "q", "8,8,1,1", 64, -1, 1, &state);
    op(&g, "Conv", "x s", "a", "pads=1,1,1,1");
    op(&g, "Conv", "a e", "b", "");
    op(&g, "Conv", "b v", "c", "group=20 pads=1,1,1,1");
    op(&g, "Conv", "c w", "d", "");
    op(&g, "GlobalAveragePool", "d", "f", "");
    op(&g, "HardSigmoid", "f", "h", "");
    op(&g, "Mul", "d h", "i", "");
    op(&g, "Conv", "i q", "j", "");
    reals(&g, "p", "8,8,3,3", 576, -0.2, 0.2, &state);
    reals(&g, "u", "8,8,2,2", 256, -0.2, 0.2, &state);
    constant(&g, "scales", TN_EL_F32, "4", (float[]){1, 1, 2, 2}, 16);
    op(&g, "MaxPool", "j", "k", "kernel_shape=2,2 strides=2,2");
    op(&g, "Conv", "k p", "l", "pads=1,1,1,1");
    op(&g, "Resize", "l _ scales", "m", "mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor");
    op(&g, "ConvTranspose", "m u", "y", "strides=2,2");
    port(&g, 11, "x", TN_EL_F32, "1,3,34,6");
    port(&g, 12, "y", TN_EL_F32, "1,8,68,12");
    number(&m, 1, 9);
    opset(&m, "", 21);
    message(&m, 7, g);
    struct given in = picture(1, 3, 34, 6);
    CHECK_INT(road(&m, &in), TN_OK);
    uint64_t before = tn_alloc_current(&alloc);
    for (unsigned n = 1;; n++) {
        REQUIRE(n < 20000);
        tn_alloc_fail(&alloc, n, n % 2);
        enum tn_status st = road(&m, &in);
        bool hit = alloc.fail_at != 0 && alloc.calls >= alloc.fail_at;
        tn_alloc_fail(&alloc, 0, false);
        /* also where the types of a node that a patch puts are what fails: nothing is left as it was without a word */
        if (hit && st != TN_INSUFFICIENT_MEMORY) test_fail(__FILE__, __LINE__, "allocation %u: %s", n, tn_status_name(st));
        CHECK_INT(tn_alloc_current(&alloc), before);
        if (hit) continue;
        CHECK_INT(st, TN_OK);
        break;
    }
    free(m.data);
    tn_pool_free(pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
