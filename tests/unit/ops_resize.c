/* Linear interpolation in half precision against the same in float32, whose rows are widened one by one: any sizes and threads. */
#include "ops_run.h"

#include <math.h>

static struct tn_alloc alloc;
static struct tn_heap heap;

static void resize(struct ops_call *c, enum tn_element e, const int64_t *dims, const double *values, const double *scales, unsigned threads)
{
    *c = (struct ops_call){.name = "Resize", .version = 19, .in_count = 3, .out_count = 1, .threads = threads};
    c->in[0] = ops_tensor(&heap, e, 4, dims, values);
    c->in[2] = ops_tensor(&heap, TN_EL_F32, 1, (int64_t[]){4}, scales);
    ops_text(c, "mode", "linear");
    ops_run(c, &heap, NULL);
    CHECK_INT(c->failed, TN_OK);
}

static void drop(struct ops_call *c)
{
    for (uint32_t i = 0; i < c->in_count; i++) tn_tensor_drop(c->in[i]);
    tn_tensor_drop(c->out[0]);
}

static void compare(enum tn_element e, int64_t height, int64_t width, double down, double across)
{
    struct ops_call half, full;
    double values[2 * 9 * 9];
    const int64_t dims[4] = {1, 2, height, width};
    const double scales[4] = {1, 1, down, across};
    for (int i = 0; i < 2 * 9 * 9; i++) values[i] = (i * 37) % 64;
    resize(&full, TN_EL_F32, dims, values, scales, 1);
    for (unsigned threads = 1; threads <= 2; threads++) {
        resize(&half, e, dims, values, scales, threads);
        REQUIRE(half.out[0] && full.out[0] && half.out[0]->count == full.out[0]->count);
        for (uint64_t i = 0; i < full.out[0]->count; i++) {
            double expected = tn_element_get(TN_EL_F32, full.out[0]->data, i), found = tn_element_get(e, half.out[0]->data, i);
            if (fabs(found - expected) > (e == TN_EL_F16 ? 0.05 : 0.3))
                test_fail(__FILE__, __LINE__, "%lldx%lld by %g, %g: element %llu is %g, expected %g", (long long)height, (long long)width, down, across,
                          (unsigned long long)i, found, expected);
        }
        drop(&half);
    }
    drop(&full);
}

TEST(half_precision_interpolates_like_float32)
{
    static const double scales[] = {2, 1.5, 2.6, 0.6, 3};
    tn_alloc_init(&alloc);
    tn_heap_init(&heap, &alloc);
    for (int64_t height = 2; height <= 9; height++) {
        for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
            compare(TN_EL_F16, height, 3, scales[k], 2);
            compare(TN_EL_BF16, height, 5, scales[k], 1.5);
        }
    }
    tn_heap_release(&heap);
}
