/*
 * Operators of networks against their definitions, written here as plain sums; the same bits for any number of threads;
 * what is refused; and every allocation failed once.
 */
#include "ops_run.h"

static struct tn_alloc alloc;
static struct tn_heap heap;

static void begin(void)
{
    tn_alloc_init(&alloc);
    tn_heap_init(&heap, &alloc);
}

static void end(struct ops_call *c)
{
    ops_drop(c);
    for (uint32_t i = 0; i < c->in_count; i++) tn_tensor_drop(c->in[i]);
    tn_heap_release(&heap);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

/* By one thread and by two: the same bits. Leaves the result of the second run. */
static void run_twice(struct ops_call *c)
{
    struct tn_pool *pool;
    REQUIRE(tn_pool_new(&alloc, 2, &pool) == TN_OK);
    struct ops_call alone = *c;
    ops_run(&alone, &heap, NULL);
    c->threads = 2;
    ops_run(c, &heap, pool);
    CHECK_INT(alone.failed, TN_OK);
    CHECK_INT(c->failed, TN_OK);
    for (uint32_t k = 0; k < c->out_count && c->out[k] && alone.out[k]; k++) {
        CHECK_INT(c->out[k]->bytes, alone.out[k]->bytes);
        CHECK(memcmp(c->out[k]->data, alone.out[k]->data, c->out[k]->bytes) == 0);
    }
    ops_drop(&alone);
    tn_pool_free(pool);
}

static double value(const struct tn_tensor *t, int64_t i)
{
    return tn_element_get(t->element, t->data, (size_t)i);
}

/* ---- convolution -------------------------------------------------------------------------------------------------- */

struct plane {
    int64_t n, c, m, groups, h, w, kh, kw, stride, dilation, pad;
};

static double conv_at(const struct plane *p, const struct ops_call *c, int64_t n, int64_t m, int64_t y, int64_t x)
{
    int64_t each = p->c / p->groups, group = m / (p->m / p->groups);
    double sum = c->in[2] ? value(c->in[2], m) : 0;
    for (int64_t k = 0; k < each; k++) {
        for (int64_t i = 0; i < p->kh; i++) {
            for (int64_t j = 0; j < p->kw; j++) {
                int64_t yy = y * p->stride + i * p->dilation - p->pad, xx = x * p->stride + j * p->dilation - p->pad;
                if (yy < 0 || yy >= p->h || xx < 0 || xx >= p->w) continue;
                sum += value(c->in[0], ((n * p->c + group * each + k) * p->h + yy) * p->w + xx) *
                       value(c->in[1], ((m * each + k) * p->kh + i) * p->kw + j);
            }
        }
    }
    return sum;
}

static void check_conv(const struct plane *p, enum tn_element e, bool bias)
{
    uint64_t state = 7;
    int64_t strides[2] = {p->stride, p->stride}, dilations[2] = {p->dilation, p->dilation}, pads[4] = {p->pad, p->pad, p->pad, p->pad};
    struct ops_call c = {.name = "Conv", .version = 22, .in_count = 3, .out_count = 1};
    begin();
    c.in[0] = ops_random(&heap, e, 4, (int64_t[]){p->n, p->c, p->h, p->w}, &state);
    c.in[1] = ops_random(&heap, e, 4, (int64_t[]){p->m, p->c / p->groups, p->kh, p->kw}, &state);
    c.in[2] = bias ? ops_random(&heap, e, 1, &p->m, &state) : NULL;
    ops_int(&c, "group", p->groups);
    ops_ints(&c, "strides", strides, 2);
    ops_ints(&c, "dilations", dilations, 2);
    ops_ints(&c, "pads", pads, 4);
    run_twice(&c);
    if (c.out[0]) {
        int64_t oh = (p->h + 2 * p->pad - (p->kh - 1) * p->dilation - 1) / p->stride + 1, ow = (p->w + 2 * p->pad - (p->kw - 1) * p->dilation - 1) / p->stride + 1;
        CHECK_INT(c.out[0]->count, p->n * p->m * oh * ow);
        double tolerance = e == TN_EL_F16 ? 0.02 : e == TN_EL_F32 ? 1e-4 : 1e-12;
        for (int64_t i = 0; i < (int64_t)c.out[0]->count; i++)
            CHECK_NEAR(value(c.out[0], i), conv_at(p, &c, i / (p->m * oh * ow), i / (oh * ow) % p->m, i / ow % oh, i % ow), tolerance);
    }
    end(&c);
}

TEST(convolutions_are_their_sums)
{
    static const struct plane planes[] = {
        {1, 3, 8, 1, 9, 11, 3, 3, 1, 1, 1}, {2, 8, 8, 8, 10, 7, 3, 3, 2, 1, 1}, {2, 6, 9, 3, 8, 8, 3, 2, 1, 2, 2}, {1, 16, 24, 1, 40, 37, 3, 3, 1, 1, 1},
        {1, 5, 7, 1, 1, 1, 1, 1, 1, 1, 0}, {3, 4, 2, 2, 6, 5, 1, 1, 1, 1, 0},    {1, 32, 5, 1, 17, 16, 5, 5, 3, 1, 2}, {1, 12, 24, 12, 33, 31, 5, 3, 2, 1, 2},
    };
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++) {
        check_conv(&planes[i], TN_EL_F32, i % 2);
        check_conv(&planes[i], TN_EL_F16, i % 2 == 0);
        if (i < 3) check_conv(&planes[i], TN_EL_F64, true);
    }
}

/* ---- matrix products ---------------------------------------------------------------------------------------------- */

static void check_matmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool shared)
{
    uint64_t state = 11;
    struct ops_call c = {.name = "MatMul", .version = 13, .in_count = 2, .out_count = 1};
    begin();
    c.in[0] = ops_random(&heap, TN_EL_F32, 3, (int64_t[]){batch, m, k}, &state);
    c.in[1] = ops_random(&heap, TN_EL_F32, 3, (int64_t[]){shared ? 1 : batch, k, n}, &state);
    run_twice(&c);
    for (int64_t i = 0; c.out[0] && i < (int64_t)c.out[0]->count; i++) {
        double sum = 0;
        for (int64_t p = 0; p < k; p++) sum += value(c.in[0], i / n * k + p) * value(c.in[1], ((shared ? 0 : i / (m * n)) * k + p) * n + i % n);
        CHECK_NEAR(value(c.out[0], i), sum, 1e-4);
    }
    end(&c);
}

TEST(products_are_their_sums)
{
    check_matmul(1, 1, 1, 1, false);
    check_matmul(3, 5, 7, 9, false);
    check_matmul(2, 33, 65, 40, true);
    check_matmul(4, 1, 300, 50, true);
    check_matmul(5, 64, 31, 0, false);
    check_matmul(2, 70, 100, 129, false);
}

TEST(quantised_products_wrap_nowhere_else)
{
    uint64_t state = 3;
    const int64_t k = 700; /* more than float32 could add up at once */
    struct ops_call c = {.name = "ConvInteger", .version = 10, .in_count = 4, .out_count = 1};
    begin();
    c.in[0] = tn_tensor_new(&heap, TN_EL_U8, 3, (int64_t[]){1, k, 5});
    c.in[1] = tn_tensor_new(&heap, TN_EL_I8, 3, (int64_t[]){2, k, 1});
    c.in[2] = ops_tensor(&heap, TN_EL_U8, 0, NULL, (double[]){3});
    c.in[3] = ops_tensor(&heap, TN_EL_I8, 1, (int64_t[]){2}, (double[]){-128, 5});
    for (uint64_t i = 0; i < c.in[0]->count; i++) ((uint8_t *)c.in[0]->data)[i] = i % 3 ? 255 : (uint8_t)test_random(&state);
    for (uint64_t i = 0; i < c.in[1]->count; i++) ((int8_t *)c.in[1]->data)[i] = i % 3 ? 127 : (int8_t)test_random(&state);
    run_twice(&c);
    for (int64_t i = 0; c.out[0] && i < 10; i++) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; p++) sum += ((int64_t)value(c.in[0], p * 5 + i % 5) - 3) * ((int64_t)value(c.in[1], i / 5 * k + p) - (i < 5 ? -128 : 5));
        CHECK_INT(value(c.out[0], i), sum);
    }
    end(&c);
}

/* ---- attention ---------------------------------------------------------------------------------------------------- */

TEST(attention_is_a_weighted_mean)
{
    enum { B = 2, H = 4, S = 70, T = 90, D = 9 };
    uint64_t state = 5;
    struct ops_call c = {.name = "Attention", .version = 23, .in_count = 3, .out_count = 1};
    begin();
    c.in[0] = ops_random(&heap, TN_EL_F32, 4, (int64_t[]){B, H, S, D}, &state);
    c.in[1] = ops_random(&heap, TN_EL_F32, 4, (int64_t[]){B, H / 2, T, D}, &state);
    c.in[2] = ops_random(&heap, TN_EL_F32, 4, (int64_t[]){B, H / 2, T, D}, &state);
    run_twice(&c);
    for (int64_t row = 0; c.out[0] && row < B * H * S; row += 37) {
        int64_t kv = (row / S / H * (H / 2) + row / S % H / 2) * T;
        double weight[T], sum = 0;
        for (int64_t t = 0; t < T; t++) {
            double dot = 0;
            for (int64_t d = 0; d < D; d++) dot += value(c.in[0], row * D + d) * value(c.in[1], (kv + t) * D + d);
            sum += weight[t] = exp(dot / 3);
        }
        for (int64_t d = 0; d < D; d++) {
            double mean = 0;
            for (int64_t t = 0; t < T; t++) mean += weight[t] / sum * value(c.in[2], (kv + t) * D + d);
            CHECK_NEAR(value(c.out[0], row * D + d), mean, 1e-5);
        }
    }
    end(&c);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------- */

static void expect_refusal(struct ops_call *c)
{
    ops_run(c, &heap, NULL);
    CHECK_INT(c->failed, TN_INVALID_REQUEST);
    CHECK(c->why.found[0] && c->why.expected[0]);
    end(c);
}

TEST(values_out_of_range_are_refused)
{
    struct ops_call rotary = {.name = "RotaryEmbedding", .version = 23, .in_count = 4, .out_count = 1};
    begin();
    rotary.in[0] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){1, 1, 2, 4}, NULL);
    rotary.in[1] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){3, 2}, NULL);
    rotary.in[2] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){3, 2}, NULL);
    rotary.in[3] = ops_tensor(&heap, TN_EL_I64, 2, (int64_t[]){1, 2}, (double[]){0, 3});
    expect_refusal(&rotary);

    struct ops_call roi = {.name = "RoiAlign", .version = 16, .in_count = 3, .out_count = 1};
    begin();
    roi.in[0] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){2, 1, 4, 4}, NULL);
    roi.in[1] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){1, 4}, (double[]){0, 0, 3, 3});
    roi.in[2] = ops_tensor(&heap, TN_EL_I64, 1, (int64_t[]){1}, (double[]){2});
    expect_refusal(&roi);

    struct ops_call unpool = {.name = "MaxUnpool", .version = 11, .in_count = 2, .out_count = 1};
    begin();
    unpool.in[0] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){1, 1, 1, 1}, NULL);
    unpool.in[1] = ops_tensor(&heap, TN_EL_I64, 4, (int64_t[]){1, 1, 1, 1}, (double[]){4});
    ops_ints(&unpool, "kernel_shape", (int64_t[]){2, 2}, 2);
    expect_refusal(&unpool);

    struct ops_call loss = {.name = "NegativeLogLikelihoodLoss", .version = 13, .in_count = 2, .out_count = 1};
    begin();
    loss.in[0] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){1, 3}, NULL);
    loss.in[1] = ops_tensor(&heap, TN_EL_I64, 1, (int64_t[]){1}, (double[]){3});
    expect_refusal(&loss);

    struct ops_call lstm = {.name = "LSTM", .version = 14, .in_count = 5, .out_count = 1};
    begin();
    lstm.in[0] = ops_tensor(&heap, TN_EL_F32, 3, (int64_t[]){2, 1, 1}, NULL);
    lstm.in[1] = ops_tensor(&heap, TN_EL_F32, 3, (int64_t[]){1, 4, 1}, NULL);
    lstm.in[2] = ops_tensor(&heap, TN_EL_F32, 3, (int64_t[]){1, 4, 1}, NULL);
    lstm.in[4] = ops_tensor(&heap, TN_EL_I32, 1, (int64_t[]){1}, (double[]){3});
    expect_refusal(&lstm);
}

TEST(geometry_that_does_not_fit_is_refused)
{
    struct ops_call pool = {.name = "MaxPool", .version = 12, .in_count = 1, .out_count = 1};
    begin();
    pool.in[0] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){1, 1, 2, 2}, NULL);
    ops_ints(&pool, "kernel_shape", (int64_t[]){3, 3}, 2);
    expect_refusal(&pool);

    struct ops_call strides = {.name = "Conv", .version = 11, .in_count = 2, .out_count = 1};
    begin();
    strides.in[0] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){1, 1, 2, 2}, NULL);
    strides.in[1] = ops_tensor(&heap, TN_EL_F32, 4, (int64_t[]){1, 1, 1, 1}, NULL);
    ops_ints(&strides, "strides", (int64_t[]){0, 1}, 2);
    expect_refusal(&strides);

    struct ops_call scales = {.name = "Resize", .version = 13, .in_count = 3, .out_count = 1};
    begin();
    scales.in[0] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){2, 2}, NULL);
    scales.in[2] = ops_tensor(&heap, TN_EL_F32, 1, (int64_t[]){2}, (double[]){1, -2});
    expect_refusal(&scales);

    struct ops_call einsum = {.name = "Einsum", .version = 12, .in_count = 2, .out_count = 1};
    begin();
    einsum.in[0] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){2, 3}, NULL);
    einsum.in[1] = ops_tensor(&heap, TN_EL_F32, 2, (int64_t[]){2, 3}, NULL);
    ops_text(&einsum, "equation", "ij,jk->ik");
    expect_refusal(&einsum);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* Fails each allocation of a run once: the code is right and nothing stays. */
static void sweep(struct ops_call *c)
{
    uint64_t held = 0;
    for (uint64_t n = 1; n < 200; n++) {
        tn_heap_trim(&heap);
        held = tn_alloc_current(&alloc);
        tn_alloc_fail(&alloc, n, true);
        ops_run(c, &heap, NULL);
        bool failed = c->failed != TN_OK;
        tn_alloc_fail(&alloc, 0, false);
        alloc.fail_at = 0;
        ops_drop(c);
        tn_heap_trim(&heap);
        CHECK_INT(tn_alloc_current(&alloc), held);
        if (!failed) break;
        CHECK_INT(c->failed, TN_INSUFFICIENT_MEMORY);
    }
    CHECK_INT(c->failed, TN_OK);
    end(c);
}

TEST(every_allocation_may_fail)
{
    uint64_t state = 1;
    struct ops_call conv = {.name = "Conv", .version = 22, .in_count = 3, .out_count = 1};
    begin();
    conv.in[0] = ops_random(&heap, TN_EL_F16, 4, (int64_t[]){1, 4, 9, 9}, &state);
    conv.in[1] = ops_random(&heap, TN_EL_F16, 4, (int64_t[]){8, 4, 3, 3}, &state);
    conv.in[2] = ops_random(&heap, TN_EL_F16, 1, (int64_t[]){8}, &state);
    sweep(&conv);

    struct ops_call attention = {.name = "Attention", .version = 23, .in_count = 6, .out_count = 4};
    begin();
    for (uint32_t i = 0; i < 3; i++) attention.in[i] = ops_random(&heap, TN_EL_BF16, 4, (int64_t[]){1, 2, 5, 4}, &state);
    for (uint32_t i = 4; i < 6; i++) attention.in[i] = ops_random(&heap, TN_EL_BF16, 4, (int64_t[]){1, 2, 3, 4}, &state);
    sweep(&attention);

    struct ops_call lstm = {.name = "LSTM", .version = 22, .in_count = 3, .out_count = 3};
    begin();
    lstm.in[0] = ops_random(&heap, TN_EL_F16, 3, (int64_t[]){3, 2, 4}, &state);
    lstm.in[1] = ops_random(&heap, TN_EL_F16, 3, (int64_t[]){1, 20, 4}, &state);
    lstm.in[2] = ops_random(&heap, TN_EL_F16, 3, (int64_t[]){1, 20, 5}, &state);
    sweep(&lstm);

    struct ops_call resize = {.name = "Resize", .version = 19, .in_count = 3, .out_count = 1};
    begin();
    resize.in[0] = ops_random(&heap, TN_EL_U8, 4, (int64_t[]){1, 2, 5, 6}, &state);
    resize.in[2] = ops_tensor(&heap, TN_EL_F32, 1, (int64_t[]){4}, (double[]){1, 1, 2, 2.5});
    ops_text(&resize, "mode", "cubic");
    sweep(&resize);

    struct ops_call einsum = {.name = "Einsum", .version = 12, .in_count = 2, .out_count = 1};
    begin();
    einsum.in[0] = ops_random(&heap, TN_EL_F16, 3, (int64_t[]){2, 3, 4}, &state);
    einsum.in[1] = ops_random(&heap, TN_EL_F16, 3, (int64_t[]){2, 4, 5}, &state);
    ops_text(&einsum, "equation", "bij,bjk->kbi");
    sweep(&einsum);
}
