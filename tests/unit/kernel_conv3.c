/*
 * 3 x 3 windows: every table against sums in double; bits that do not depend on how tiles are cut. The tolerance is relative
 * to the sum of |x w|: filtering adds and subtracts numbers up to about a hundred times larger than the inputs.
 */
#include "kernel_util.h"

#include "kernel/float16.h"

static const struct tn_after relu = {.kind = TN_FINISH_ACT, .act = TN_ACT_RELU};

struct shape {
    size_t maps, channels, height, width;
    ptrdiff_t top, left;
    size_t out_height, out_width;
};

struct problem {
    struct shape s;
    struct guarded x, w, bias, residual;
    void *packed, *scratch;
};

static struct problem setup(const struct tn_kernels *k, uint64_t *seed, struct shape s)
{
    struct problem p = {.s = s};
    size_t bytes, plane = s.out_height * s.out_width;
    p.x = random_rows(seed, 1, s.channels * s.height * s.width, s.channels * s.height * s.width, 1, 2.0);
    p.w = random_rows(seed, 1, s.maps * s.channels * 9, s.maps * s.channels * 9, 3, 1.0);
    p.bias = random_rows(seed, 1, s.maps, s.maps, 0, 1.0);
    p.residual = random_rows(seed, 1, s.maps * plane, s.maps * plane, 2, 1.0);
    CHECK(k->conv3_pack_size(s.maps, s.channels, &bytes));
    p.packed = aligned_alloc(64, bytes);
    for (unsigned r = 0; r < 3; r++) k->conv3_pack(p.w.p, TN_FLOAT_F32, s.maps, s.channels, p.packed, r, 3);
    CHECK(k->conv3_scratch_size(s.maps, s.channels, &bytes));
    p.scratch = aligned_alloc(64, bytes + 64);
    memset(p.scratch, 0xff, bytes + 64);
    return p;
}

static void teardown(struct problem *p)
{
    guarded_free(&p->x, "x");
    guarded_free(&p->w, "w");
    guarded_free(&p->bias, "bias");
    guarded_free(&p->residual, "residual");
    free(p->packed);
    free(p->scratch);
}

static struct tn_conv3_args args_of(const struct problem *p, float *y)
{
    struct shape s = p->s;
    return (struct tn_conv3_args){.x = p->x.p, .channels = s.channels, .height = s.height, .width = s.width, .top = s.top, .left = s.left,
                                  .packed = p->packed, .bias = p->bias.p, .residual = p->residual.p, .after = &relu, .y = y, .maps = s.maps,
                                  .out_height = s.out_height, .out_width = s.out_width, .scratch = p->scratch,
                                  .count = (s.out_height + 3) / 4 * ((s.out_width + 3) / 4)};
}

/* A result in double, and the sum of the absolute values. */
static double exact(const struct problem *p, size_t map, size_t row, size_t column, double *magnitude)
{
    struct shape s = p->s;
    size_t at = (map * s.out_height + row) * s.out_width + column;
    double sum = (double)p->bias.p[map] + (double)p->residual.p[at];
    *magnitude = fabs(sum);
    for (size_t c = 0; c < s.channels; c++) {
        for (size_t t = 0; t < 9; t++) {
            ptrdiff_t y = (ptrdiff_t)(row + t / 3) - s.top, x = (ptrdiff_t)(column + t % 3) - s.left;
            if (y < 0 || x < 0 || y >= (ptrdiff_t)s.height || x >= (ptrdiff_t)s.width) continue;
            double v = (double)p->x.p[(c * s.height + (size_t)y) * s.width + (size_t)x] * (double)p->w.p[(map * s.channels + c) * 9 + t];
            sum += v;
            *magnitude += fabs(v);
        }
    }
    return sum > 0 ? sum : 0;
}

static void check_shape(const struct tn_kernels *k, uint64_t *seed, struct shape s)
{
    struct problem p = setup(k, seed, s);
    size_t count = s.maps * s.out_height * s.out_width;
    struct guarded y = guarded_new(count, 1), parts = guarded_new(count, 2);
    struct tn_conv3_args whole = args_of(&p, y.p), a = args_of(&p, parts.p);
    k->conv3(&whole);
    double worst = 0, magnitude;
    for (size_t i = 0; i < count; i++) {
        double want = exact(&p, i / (s.out_height * s.out_width), i / s.out_width % s.out_height, i % s.out_width, &magnitude);
        note_error(&worst, fabs((double)y.p[i] - want) / magnitude);
    }
    if (!(worst < 2e-5)) test_fail(__FILE__, __LINE__, "%s: %zu maps %zu channels %zux%zu: error %.2g", k->name, s.maps, s.channels, s.height, s.width, worst);
    for (a.first = 0; a.first < whole.count; a.first += TN_CONV3_BLOCK) {
        a.count = whole.count - a.first < TN_CONV3_BLOCK ? whole.count - a.first : TN_CONV3_BLOCK;
        memset(p.scratch, 0xee, 64);
        k->conv3(&a);
    }
    CHECK(memcmp(parts.p, y.p, count * sizeof(float)) == 0);
    guarded_free(&y, "y");
    guarded_free(&parts, "parts");
    teardown(&p);
}

TEST(kernel_conv3_against_double)
{
    EACH_TABLE(k) {
        uint64_t seed = 5;
        check_shape(k, &seed, (struct shape){8, 8, 4, 4, 1, 1, 4, 4});
        check_shape(k, &seed, (struct shape){9, 8, 7, 5, 1, 1, 7, 5});
        check_shape(k, &seed, (struct shape){13, 11, 20, 37, 1, 1, 20, 37});
        check_shape(k, &seed, (struct shape){12, 10, 9, 150, 0, 0, 7, 148});
        check_shape(k, &seed, (struct shape){8, 200, 10, 12, 2, 0, 11, 10});
        check_shape(k, &seed, (struct shape){25, 8, 3, 1, 1, 1, 3, 1});
    }
}

/* Half precision is widened, computed as float32 and rounded once. */
TEST(kernel_conv3_half)
{
    EACH_TABLE(k) {
        uint64_t seed = 9;
        struct problem p = setup(k, &seed, (struct shape){8, 9, 12, 21, 1, 1, 12, 21});
        size_t in = 9 * 12 * 21, out = 8 * 12 * 21;
        uint16_t *x = malloc(in * 2), *residual = malloc(out * 2), *y = malloc(out * 2);
        for (size_t i = 0; i < in; i++) {
            x[i] = tn_f32_to_f16(p.x.p[i]);
            p.x.p[i] = tn_f16_to_f32(x[i]);
        }
        for (size_t i = 0; i < out; i++) {
            residual[i] = tn_f32_to_f16(p.residual.p[i]);
            p.residual.p[i] = tn_f16_to_f32(residual[i]);
        }
        struct guarded wide = guarded_new(out, 0);
        struct tn_conv3_args a = args_of(&p, wide.p);
        k->conv3(&a);
        a.x = x;
        a.residual = residual;
        a.y = y;
        a.type = TN_FLOAT_F16;
        k->conv3(&a);
        bool same = true;
        for (size_t i = 0; i < out; i++) same = same && y[i] == tn_f32_to_f16(wide.p[i]);
        CHECK(same);
        guarded_free(&wide, "y");
        teardown(&p);
        free(x);
        free(residual);
        free(y);
    }
}

/* What is not finite in a plain sum is not finite here, and nothing else. */
TEST(kernel_conv3_not_finite)
{
    EACH_TABLE(k) {
        uint64_t seed = 11;
        struct shape s = {10, 9, 13, 30, 1, 1, 13, 30};
        struct problem p = setup(k, &seed, s);
        size_t plane = s.out_height * s.out_width, count = s.maps * plane;
        p.x.p[2 * 13 * 30 + 5 * 30 + 7] = INFINITY;
        p.x.p[12 * 30 + 29] = NAN;
        p.x.p[4 * 13 * 30 + 9 * 30 + 20] = 1e38f;
        struct guarded y = guarded_new(count, 1);
        struct tn_conv3_args a = args_of(&p, y.p);
        a.after = NULL;
        k->conv3(&a);
        for (size_t i = 0; i < count; i++) {
            size_t row = i % plane / 30, column = i % 30;
            bool near = (row + 1 >= 5 && row <= 6 && column + 1 >= 7 && column <= 8) || (row >= 11 && column >= 28);
            double magnitude, want;
            CHECK((bool)isfinite(y.p[i]) == !near);
            if (near || row < 7) continue;
            want = exact(&p, i / plane, row, column, &magnitude);
            if (want > 0) CHECK(fabs((double)y.p[i] - want) < 2e-5 * magnitude);
        }
        guarded_free(&y, "y");
        teardown(&p);
    }
}
