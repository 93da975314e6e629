/* Activations against libm in double over the whole range, and conversions over every bit pattern. */
#include "kernel_util.h"

#include "kernel/float16.h"

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double exact_act(enum tn_act act, double x)
{
    switch (act) {
    case TN_ACT_RELU:
        return x < 0.0 ? 0.0 : x;
    case TN_ACT_RELU6:
        return x < 0.0 ? 0.0 : x > 6.0 ? 6.0 : x;
    case TN_ACT_LEAKY_RELU:
        return x < 0.0 ? (double)0.01f * x : x;
    case TN_ACT_ELU:
        return x < 0.0 ? expm1(x) : x;
    case TN_ACT_GELU:
        return x * 0.5 * erfc(-x * 0.70710678118654752440);
    case TN_ACT_GELU_TANH:
        return x * sigmoid(2.0 * 0.79788456080286535588 * (x + 0.044715 * x * x * x));
    case TN_ACT_QUICK_GELU:
        return x * sigmoid(1.702 * x);
    case TN_ACT_SILU:
        return x * sigmoid(x);
    case TN_ACT_MISH:
        return x * tanh(log1p(exp(x)));
    case TN_ACT_TANH:
        return tanh(x);
    case TN_ACT_SIGMOID:
        return sigmoid(x);
    default:
        return x;
    }
}

/*
 * What each activation promises: `ulp` units in the last place for x >= from; everywhere an absolute
 * error of at most `part` |x|. Left of `from` lie the tails of x times a probability, where the
 * rounding of the argument is magnified and, below -87, probabilities are subnormal.
 */
static const struct {
    enum tn_act act;
    double ulp, from, part;
} promises[] = {
    {TN_ACT_RELU, 0.0, -1e30, 0.0},
    {TN_ACT_RELU6, 0.0, -1e30, 0.0},
    {TN_ACT_LEAKY_RELU, 0.51, -1e30, 1e-9},
    {TN_ACT_ELU, 2.0, -1e30, 1e-7},
    {TN_ACT_GELU, 2.3, -3.0, 0x1p-23},
    {TN_ACT_GELU_TANH, 3.0, -1.0, 0x1.8p-23},
    {TN_ACT_QUICK_GELU, 3.5, -1.0, 0x1.8p-23},
    {TN_ACT_SILU, 3.2, -87.0, 0x1.8p-23},
    {TN_ACT_MISH, 4.0, -87.0, 0x1.8p-23},
    {TN_ACT_TANH, 2.6, -1e30, 0x1.8p-23},
    {TN_ACT_SIGMOID, 2.2, -1e30, INFINITY},
};

struct worst {
    double ulp, part;
    float at;
};

static void measure(const struct tn_kernels *kernels, size_t row, const float *x, size_t count,
                    struct worst *worst)
{
    static float y[4096];
    enum tn_act act = promises[row].act;
    memcpy(y, x, count * sizeof(float));
    kernels->activate(act, y, count, 1, count, 0, 1);
    for (size_t i = 0; i < count; i++) {
        double exact = exact_act(act, (double)x[i]);
        double part = fabs((double)y[i] - exact) / fmax(fabs((double)x[i]), 0x1p-126);
        double u = ulps(y[i], exact);
        if ((double)x[i] >= promises[row].from) {
            if (isnan(u) || u > worst->ulp) worst->at = x[i];
            note_error(&worst->ulp, u);
        }
        if (fabs((double)x[i]) > 0x1p-100) note_error(&worst->part, part);
    }
}

/* Every 257th float: all exponents, both signs, subnormals and the neighbourhoods of all limits. */
TEST(activations_over_all_floats)
{
    EACH_TABLE(kernels) {
        for (size_t row = 0; row < sizeof(promises) / sizeof(*promises); row++) {
            struct worst worst = {0};
            float x[4096];
            size_t count = 0;
            for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 25703) {
                float v = tn_f32_of_bits((uint32_t)bits);
                if (!isfinite(v)) continue;
                x[count++] = v;
                if (count == 4096) {
                    measure(kernels, row, x, count, &worst);
                    count = 0;
                }
            }
            measure(kernels, row, x, count, &worst);
            for (int i = 0; i < 64 * 4096; i++) { /* densely where activations live */
                x[i % 4096] = (float)(-16.0 + 32.0 * (i + 0.37) / (64 * 4096));
                if (i % 4096 == 4095) measure(kernels, row, x, 4096, &worst);
            }
            if (!(worst.ulp <= promises[row].ulp) || !(worst.part <= promises[row].part)) {
                test_fail(__FILE__, __LINE__, "%s %s: %.3f ulp at %.9g, %.3g |x|", kernels->name,
                          tn_act_name(promises[row].act), worst.ulp, (double)worst.at, worst.part);
            }
        }
    }
}

TEST(activations_at_special_values)
{
    EACH_TABLE(kernels) {
        for (int act = 0; act < TN_ACTS; act++) {
            float v[19];
            for (int i = 0; i < 19; i++) v[i] = NAN;
            kernels->activate((enum tn_act)act, v, 19, 1, 19, 0, 1);
            for (int i = 0; i < 19; i++) CHECK(isnan(v[i]));
            if (act > TN_ACT_SIGMOID) continue; /* the rare ones are held against torch's values, native_activations.c */
            float x[4] = {INFINITY, -INFINITY, 0.0f, -0.0f}, y[4];
            memcpy(y, x, sizeof(y));
            kernels->activate((enum tn_act)act, y, 4, 1, 4, 0, 1);
            for (int i = 0; i < 4; i++) {
                float expected = (float)exact_act((enum tn_act)act, (double)x[i]);
                bool same = isnan(expected) ? isnan(y[i]) : y[i] == expected;
                if (!same) {
                    test_fail(__FILE__, __LINE__, "%s %s(%g): %g for %g", kernels->name,
                              tn_act_name((enum tn_act)act), (double)x[i], (double)y[i],
                              (double)expected);
                }
            }
        }
    }
}

/* Lanes, tails and strides do not matter to an element. */
TEST(activation_bits_do_not_depend_on_place)
{
    EACH_TABLE(kernels) {
        for (int act = 0; act < TN_ACTS; act++) {
            uint64_t seed = 1;
            struct guarded a = random_rows(&seed, 3, 21, 24, 0, 8.0);
            struct guarded b = guarded_new(a.count, 5);
            memcpy(b.p, a.p, a.count * sizeof(float));
            for (unsigned rank = 0; rank < 2; rank++) {
                kernels->activate((enum tn_act)act, a.p, 24, 3, 21, rank, 2);
            }
            for (size_t r = 0; r < 3; r++) {
                for (size_t i = 0; i < 21; i++) {
                    kernels->activate((enum tn_act)act, b.p + r * 24 + i, 1, 1, 1, 0, 1);
                }
            }
            CHECK(rows_equal(a.p, 24, b.p, 24, 3, 21));
            CHECK(gaps_intact(&a, 3, 21, 24));
            guarded_free(&a, "a");
            guarded_free(&b, "b");
        }
    }
}

/* The value of a binary16 by its definition. */
static double value_of_f16(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double sign = h & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

TEST(widening_is_exact_for_every_pattern)
{
    EACH_TABLE(kernels) {
        static uint16_t all[65536 + 1];
        static float wide[65536];
        for (size_t i = 0; i < 65536; i++) all[i] = (uint16_t)i;
        kernels->to_f32(TN_FLOAT_F16, all, wide, 65536);
        for (size_t i = 0; i < 65536; i++) {
            double exact = value_of_f16((uint16_t)i);
            CHECK(isnan(exact) ? isnan(wide[i]) : (double)wide[i] == exact);
            CHECK((signbit(wide[i]) != 0) == (i >= 0x8000));
        }
        kernels->to_f32(TN_FLOAT_BF16, all, wide, 65536);
        for (size_t i = 0; i < 65536; i++) {
            uint32_t bits = tn_f32_bits(wide[i]);
            CHECK(bits >> 16 == i && (bits & 0xffff) == 0);
        }
        /* and back: every pattern that is no signalling NaN survives */
        static uint16_t back[65536];
        kernels->to_f32(TN_FLOAT_F16, all, wide, 65535);
        kernels->from_f32(TN_FLOAT_F16, wide, back, 65535);
        for (size_t i = 0; i < 65535; i++) {
            bool nan = (i & 0x7c00) == 0x7c00 && (i & 0x3ff);
            CHECK(back[i] == (nan ? (i | 0x200) : i));
        }
    }
}

/* Nearest even by exhaustion: among the two neighbours of x the closer one, ties to even. */
TEST(narrowing_rounds_to_nearest_even)
{
    EACH_TABLE(kernels) {
        uint64_t seed = 9;
        for (int round = 0; round < 2000; round++) {
            float x[37];
            uint16_t half[37], brain[37];
            for (int i = 0; i < 37; i++) {
                uint64_t r = test_random(&seed);
                uint16_t h = (uint16_t)(r % 0x7c00);
                double low = value_of_f16(h), high = value_of_f16((uint16_t)(h + 1));
                if (h == 0x7bff) high = 65536.0;
                double pick[4] = {(low + high) / 2, low + (high - low) * 0.49999,
                                  low + (high - low) * 0.50001, low};
                x[i] = (float)pick[(r >> 20) % 4];
                if (r >> 40 & 1) x[i] = -x[i];
            }
            kernels->from_f32(TN_FLOAT_F16, x, half, 37);
            kernels->from_f32(TN_FLOAT_BF16, x, brain, 37);
            for (int i = 0; i < 37; i++) {
                double found = value_of_f16(half[i]), exact = (double)x[i];
                if (isinf(found)) {
                    CHECK(fabs(exact) >= 65520.0);
                } else {
                    uint16_t magnitude = half[i] & 0x7fff;
                    double above = value_of_f16((uint16_t)(magnitude + 1));
                    if (magnitude == 0x7bff) above = 65536.0;
                    double up = (above + fabs(found)) / 2;
                    double down = (fabs(found) + value_of_f16((uint16_t)(magnitude - 1))) / 2;
                    bool even = !(magnitude & 1);
                    CHECK(even ? fabs(exact) <= up : fabs(exact) < up);
                    if (magnitude) CHECK(even ? fabs(exact) >= down : fabs(exact) > down);
                }
                uint32_t bits = tn_f32_bits(x[i]), low = bits & 0xffff, kept = bits >> 16;
                uint32_t expected = kept + (low > 0x8000 || (low == 0x8000 && (kept & 1)));
                CHECK_INT(brain[i], expected);
            }
        }
        float odd[3] = {NAN, INFINITY, 3.4e38f};
        uint16_t h[3], b[3];
        kernels->from_f32(TN_FLOAT_F16, odd, h, 3);
        kernels->from_f32(TN_FLOAT_BF16, odd, b, 3);
        CHECK((h[0] & 0x7fff) > 0x7c00 && h[1] == 0x7c00 && h[2] == 0x7c00);
        CHECK((b[0] & 0x7fff) > 0x7f80 && b[1] == 0x7f80 && b[2] == 0x7f80);
    }
}

TEST(selection_by_name_and_cpu)
{
    struct tn_cpu none = {0}, cpu;
    tn_cpu_detect(&cpu);
    CHECK_STR(tn_kernels_select(NULL, NULL)->name, "ref");
    CHECK_STR(tn_kernels_select(&none, NULL)->name, "ref");
    CHECK(tn_kernels_select(&none, "avx512") == NULL);
    CHECK(tn_kernels_select(&cpu, "sse9") == NULL);
    CHECK(tn_kernels_select(&cpu, NULL) != NULL);
    CHECK(tn_kernels_select(NULL, "ref")->bf16);
#if defined(__x86_64__)
    struct tn_cpu plain = {.avx2 = true, .avx512 = true}, bf16 = plain;
    bf16.avx512_bf16 = bf16.avx512_vnni = true; /* no processor has the first without the second */
    CHECK_STR(tn_kernels_select(&plain, NULL)->isa_class, "x86-64-avx512");
    CHECK(!tn_kernels_select(&plain, "avx512")->bf16);
    CHECK(tn_kernels_select(&bf16, NULL)->bf16);
    CHECK(!tn_kernels_select(&bf16, "avx2")->bf16);
#endif
}
