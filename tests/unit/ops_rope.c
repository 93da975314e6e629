/* Rotary frequencies: figures computed from the published definitions (case W1 of scaled rotary positions). */
#include "test.h"

#include "ops/rope.h"

/* The figures are exact; each step here is rounded to float32 as in the published code. */
static void near(float found, double expected)
{
    CHECK_NEAR((double)found / expected, 1.0, 4e-7);
}

TEST(llama3_keeps_fast_pairs_and_slows_the_others)
{
    const struct tn_rope rope = {.kind = TN_ROPE_LLAMA3, .theta = 500000, .factor = 8, .low_freq_factor = 1,
                                 .high_freq_factor = 4, .original_positions = 8192};
    const struct tn_rope plain = {.kind = TN_ROPE_DEFAULT, .theta = 500000};
    float scaled[64], unscaled[64];
    tn_rope_frequencies(&rope, 128, scaled);
    tn_rope_frequencies(&plain, 128, unscaled);
    near(unscaled[28], 0.00321144599);
    near(unscaled[29], 0.00261609925);
    near(unscaled[32], 0.00141421356);
    near(unscaled[36], 0.000622772422);
    CHECK(scaled[28] == unscaled[28]);
    near(scaled[29], 0.00216657076);
    near(scaled[32], 0.000524846161);
    near(scaled[36], 7.78465527e-05);
    CHECK(scaled[36] == unscaled[36] / 8);
}

TEST(linear_divides_every_frequency)
{
    const struct tn_rope rope = {.kind = TN_ROPE_LINEAR, .theta = 10000, .factor = 4};
    float frequency[3];
    tn_rope_frequencies(&rope, 6, frequency);
    near(frequency[0], 0.25);
    near(frequency[1], 0.25 * pow(10000, -1.0 / 3));
    near(frequency[2], 0.25 * pow(10000, -2.0 / 3));
}

TEST(angles_are_products_in_float32)
{
    const float frequency[2] = {1.0f, 0.1f};
    float cosine[6], sine[6];
    tn_rope_angles(frequency, 2, 3, cosine, sine);
    for (int p = 0; p < 3; p++) {
        for (int d = 0; d < 2; d++) {
            double angle = (double)((float)p * frequency[d]);
            CHECK(cosine[p * 2 + d] == (float)cos(angle));
            CHECK(sine[p * 2 + d] == (float)sin(angle));
        }
    }
}
