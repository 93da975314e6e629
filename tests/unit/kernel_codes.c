/* Floats to codes and sums back to floats: every table gives the reference's bits, at odd sizes, inside its memory. */
#include "kernel_util.h"

#include "kernel/ref/ref.h"

enum { MOST = 133 };

static float hostile(uint64_t *seed, size_t i)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 3e38f, -3e38f, 0.5f, -2.5f};
    return i % 11 == 3 ? odd[i / 11 % 8] : (float)test_uniform(seed, -300, 300);
}

TEST(kernel_codes_of_floats)
{
    static const float bounds[][3] = {{0, 0, 255}, {128, 0, 255}, {-3, -128, 127}, {17, -128, 127}};
    EACH_TABLE(k) {
        uint64_t seed = 3;
        for (size_t n = 0; n < MOST; n += 1 + n / 5) {
            float x[MOST];
            uint8_t want[MOST], got[MOST + 8];
            const float *b = bounds[n % 4];
            for (size_t i = 0; i < n; i++) x[i] = hostile(&seed, i);
            struct tn_codes_args a = {x, want, n, n % 3 ? 0.5f : 1.7f, b[0], b[1], b[2]};
            tn_ref_to_codes(&a);
            memset(got, 0x5a, sizeof(got));
            a.y = got;
            k->to_codes(&a);
            CHECK(memcmp(got, want, n) == 0);
            for (size_t i = 0; i < 8; i++) CHECK(got[n + i] == 0x5a);
        }
    }
}

TEST(kernel_codes_halves_go_to_even)
{
    const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, NAN, 1000, -1000};
    const uint8_t want[] = {0, 2, 2, 0, (uint8_t)-2, 0, 127, (uint8_t)-128};
    EACH_TABLE(k) {
        uint8_t got[8];
        struct tn_codes_args a = {x, got, 8, 1, 0, -128, 127};
        k->to_codes(&a);
        CHECK(memcmp(got, want, 8) == 0);
    }
}

TEST(kernel_codes_range)
{
    EACH_TABLE(k) {
        uint64_t seed = 5;
        for (size_t n = 0; n < MOST; n += 1 + n / 7) {
            float x[MOST], low = -1, high = 1, want_low = -1, want_high = 1;
            for (size_t i = 0; i < n; i++) {
                x[i] = i % 5 == 2 ? NAN : (float)test_uniform(&seed, -300, 300);
                if (x[i] < want_low) want_low = x[i];
                if (x[i] > want_high) want_high = x[i];
            }
            k->range(x, n, &low, &high);
            CHECK(low == want_low && high == want_high);
        }
    }
}

TEST(kernel_codes_sums_to_floats)
{
    EACH_TABLE(k) {
        uint64_t seed = 9;
        for (size_t n = 0; n < MOST; n += 1 + n / 5) {
            int32_t sums[MOST], times[2][MOST];
            float scales[MOST], biases[MOST], want[MOST];
            struct guarded got = guarded_new(n, 1);
            for (size_t i = 0; i < n; i++) {
                sums[i] = (int32_t)test_random(&seed);
                times[0][i] = (int32_t)test_random(&seed);
                times[1][i] = (int32_t)test_random(&seed);
                scales[i] = (float)test_uniform(&seed, -2, 2);
                biases[i] = (float)test_uniform(&seed, -2, 2);
            }
            struct tn_sums_args a = {.sums = sums, .y = want, .count = n, .add = 77, .factor = {3, 0xfffffff0u}, .scale = 0.013f, .bias = n % 2 ? 4.5f : 0,
                                     .times = {n % 3 ? times[0] : NULL, n % 3 == 1 ? times[1] : NULL},
                                     .scales = n % 5 > 1 ? scales : NULL, .biases = n % 5 > 2 ? biases : NULL};
            tn_ref_from_sums(&a);
            a.y = got.p;
            k->from_sums(&a);
            CHECK(memcmp(got.p, want, n * sizeof(*want)) == 0);
            guarded_free(&got, "floats");
        }
    }
}
