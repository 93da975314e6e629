/*
 * Which tokens see which: in an encoder the last token changes what the first one becomes, alone and among others, and a
 * token of another sequence never does. A mask of the wrong kind leaves such values plausible, so it is asked directly.
 */
#include "native_fixture.h"

enum { TOKENS = 9, WIDTH = 64, MOST = 3 };

/* What is pooled is the first row of each sequence alone. */
static bool first_rows(struct fixture *x, int32_t sequences[][TOKENS], uint32_t count, float out[][WIDTH])
{
    static float flat[MOST * WIDTH];
    int32_t ids[MOST * TOKENS], offsets[MOST + 1] = {0};
    struct tn_span spans[MOST];
    const struct tn_cancel *cancel[MOST] = {NULL};
    uint8_t status[MOST];
    size_t width = (size_t)x->assessment.output_width;
    for (uint32_t s = 0; s < count; s++) {
        memcpy(ids + s * TOKENS, sequences[s], sizeof(sequences[s]));
        spans[s] = (struct tn_span){offsets[s], 1, 0};
        offsets[s + 1] = offsets[s] + TOKENS;
    }
    struct tn_invocation call = {.ids = ids, .offsets = offsets, .spans = spans, .sequences = count, .cancel = cancel, .out = flat, .status = status};
    if (width > WIDTH || tn_native_provider.invoke(x->instance, &call, x->err)) return false;
    for (uint32_t s = 0; s < count; s++) memcpy(out[s], flat + s * width, width * sizeof(float));
    return true;
}

static double farthest(const float *a, const float *b, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

static void check_direction(const char *package)
{
    static float base[MOST][WIDTH], last[MOST][WIDTH], among[MOST][WIDTH], other[MOST][WIDTH];
    int32_t one[MOST][TOKENS], changed[MOST][TOKENS], three[MOST][TOKENS], three_changed[MOST][TOKENS];
    char path[120];
    struct fixture x;
    snprintf(path, sizeof(path), "golden/packages/%s", package);
    REQUIRE(fixture_open(&x, test_path(path), "f32", 2));
    size_t n = (size_t)x.assessment.output_width;
    for (int32_t s = 0; s < MOST; s++)
        for (int32_t i = 0; i < TOKENS; i++) three[s][i] = 5 + (s * 5 + i * 3) % 13;
    memcpy(one[0], three[0], sizeof(one[0]));
    memcpy(changed[0], one[0], sizeof(changed[0]));
    changed[0][TOKENS - 1]++;
    memcpy(three_changed, three, sizeof(three_changed));
    three_changed[1][TOKENS - 1]++;
    CHECK(first_rows(&x, one, 1, base) && first_rows(&x, changed, 1, last) && first_rows(&x, three, MOST, among) && first_rows(&x, three_changed, MOST, other));
    if (!(farthest(base[0], last[0], n) > 1e-4)) test_fail(__FILE__, __LINE__, "%s: the first token does not see the last one", package);
    CHECK(memcmp(base[0], among[0], n * sizeof(float)) == 0);
    if (!(farthest(among[1], other[1], n) > 1e-4)) test_fail(__FILE__, __LINE__, "%s: among others the first token does not see the last one", package);
    CHECK(memcmp(among[0], other[0], n * sizeof(float)) == 0 && memcmp(among[2], other[2], n * sizeof(float)) == 0);
    fixture_close(&x);
}

TEST(the_last_token_reaches_the_first)
{
    static const char *const packages[] = {"bert_mean_normalize", "distilbert_cls", "mpnet_mean_normalize", "roberta_mean_normalize",
                                           "electra_mean_normalize", "modernbert_mean_normalize", "deberta_v2_mean_normalize"};
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) check_direction(packages[i]);
}
