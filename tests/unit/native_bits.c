/*
 * The promise of the native provider: the bits of a sequence's result do not depend on its company, on the order, on the
 * number of threads, or on whether threads worked as a team or alone. And the contract of an invocation: bad indices,
 * lengths out of range, owners who stop.
 */
#include "native_fixture.h"

enum { SEQUENCES = 70, MOST_ROWS = 48, WIDTH = 64 };

struct batch {
    int32_t ids[SEQUENCES * MOST_ROWS], offsets[SEQUENCES + 1];
    struct tn_span spans[SEQUENCES];
    const struct tn_cancel *cancel[SEQUENCES];
    uint32_t count;
    float out[SEQUENCES][WIDTH];
    uint8_t status[SEQUENCES];
};

/* Sequence s of the seed, whatever batch it stands in. */
static uint32_t make_sequence(uint64_t s, uint64_t vocab, uint64_t most, int32_t *ids)
{
    uint64_t state = 77 + s * 1000003;
    uint32_t n = 1 + (uint32_t)(test_random(&state) % most);
    if (s % 9 == 0) n = (uint32_t)most;
    for (uint32_t i = 0; i < n; i++) ids[i] = (int32_t)(test_random(&state) % vocab);
    return n;
}

static void append(struct batch *b, uint64_t s, uint64_t vocab, uint64_t most)
{
    int32_t at = b->offsets[b->count];
    uint32_t n = make_sequence(s, vocab, most, b->ids + at);
    b->spans[b->count] = (struct tn_span){at, (int32_t)n, 0};
    b->offsets[++b->count] = at + (int32_t)n;
}

static enum tn_status invoke(struct fixture *x, struct batch *b, float *flat)
{
    struct tn_invocation call = {
        .ids = b->ids, .offsets = b->offsets, .spans = b->spans, .sequences = b->count,
        .cancel = b->cancel, .out = flat, .status = b->status,
    };
    enum tn_status status = tn_native_provider.invoke(x->instance, &call, x->err);
    uint64_t width = x->assessment.output_width;
    for (uint32_t s = 0; s < b->count; s++) memcpy(b->out[s], flat + s * width, width * sizeof(float));
    return status;
}

static void check_bits(const char *package, const char *numeric)
{
    static struct batch alone, together;
    static float flat[SEQUENCES * WIDTH];
    static float expected[SEQUENCES][WIDTH];
    struct fixture x;
    for (unsigned threads = 1; threads <= 4; threads++) {
        if (!fixture_open(&x, test_path(package), numeric, threads)) {
            if (x.err->primary.code == TN_UNSUPPORTED_OPTION) {
                fixture_close(&x);
                test_skip("this CPU has no %s", numeric);
            }
            test_fail(__FILE__, __LINE__, "%s: %s", package, x.err->primary.message);
            fixture_close(&x);
            return;
        }
        uint64_t vocab = tn_component_value(&x.d->components[0], "vocab_size")->u;
        uint64_t most = x.d->max_seq_length < MOST_ROWS ? x.d->max_seq_length : MOST_ROWS;
        size_t bytes = (size_t)x.assessment.output_width * sizeof(float);
        for (uint64_t s = 0; s < SEQUENCES && threads == 1; s++) {
            memset(&alone, 0, sizeof(alone));
            append(&alone, s, vocab, most);
            CHECK_INT(invoke(&x, &alone, flat), TN_OK);
            CHECK_INT(alone.status[0], TN_ITEM_DONE);
            memcpy(expected[s], alone.out[0], bytes);
        }
        /* stride 1 keeps the order, 27 mixes it; small counts run as teams, large ones as pieces */
        for (uint32_t count = 1; count <= SEQUENCES; count += count < 8 ? 1 : 31) {
            for (uint32_t stride = 1; stride <= 27; stride += 26) {
                memset(&together, 0, sizeof(together));
                for (uint32_t i = 0; i < count; i++) append(&together, (uint64_t)i * stride % SEQUENCES, vocab, most);
                CHECK_INT(invoke(&x, &together, flat), TN_OK);
                for (uint32_t i = 0; i < count; i++) {
                    if (memcmp(together.out[i], expected[(uint64_t)i * stride % SEQUENCES], bytes) == 0) continue;
                    test_fail(__FILE__, __LINE__, "%s, %s: %u of %u with %u threads differs", package, numeric, i, count, threads);
                }
            }
        }
        fixture_close(&x);
    }
}

TEST(bits_bert)
{
    check_bits("golden/packages/bert_mean_normalize", "f32");
}

TEST(bits_distilbert)
{
    check_bits("golden/packages/distilbert_cls", "f32");
}

TEST(bits_mpnet)
{
    check_bits("golden/packages/mpnet_mean_normalize", "f32");
}

TEST(bits_roberta)
{
    check_bits("golden/packages/roberta_mean_normalize", "f32");
}

TEST(bits_electra)
{
    check_bits("golden/packages/electra_mean_normalize", "f32");
}

TEST(bits_modernbert)
{
    check_bits("golden/packages/modernbert_mean_normalize", "f32");
    check_bits("golden/packages/modernbert_biases", "f32");
    check_bits("golden/packages/modernbert_mean_normalize", "bf16");
}

TEST(bits_deberta_v2)
{
    check_bits("golden/packages/deberta_v2_mean_normalize", "f32");
    check_bits("golden/packages/deberta_v2_own_projections", "f32");
    check_bits("golden/packages/deberta_v2_mean_normalize", "bf16");
}

TEST(bits_bf16_policy)
{
    check_bits("golden/packages/bert_mean_normalize", "bf16");
}

TEST(indices_and_lengths_are_checked)
{
    static struct batch b;
    static float flat[SEQUENCES * WIDTH];
    struct fixture x;
    REQUIRE(fixture_open(&x, test_path("golden/packages/bert_mean_normalize"), "f32", 2));
    uint64_t vocab = tn_component_value(&x.d->components[0], "vocab_size")->u;
    for (uint64_t s = 0; s < 5; s++) append(&b, s, vocab, 20);
    b.ids[b.offsets[2]] = (int32_t)vocab;
    b.ids[b.offsets[4]] = -1;
    CHECK_INT(invoke(&x, &b, flat), TN_OK);
    for (uint32_t s = 0; s < 5; s++) CHECK_INT(b.status[s], s == 2 || s == 4 ? TN_ITEM_BAD_INDEX : TN_ITEM_DONE);
    b.offsets[1] = 0;
    CHECK_INT(invoke(&x, &b, flat), TN_SHAPE_OUTSIDE_ENVELOPE);
    CHECK_INT(x.err->primary.item, 0);
    fixture_close(&x);
}

TEST(who_stops_gets_no_result)
{
    static struct batch b;
    static float flat[SEQUENCES * WIDTH];
    struct fixture x;
    struct tn_cancel stopped = {0};
    atomic_store(&stopped.requested, true);
    REQUIRE(fixture_open(&x, test_path("golden/packages/bert_mean_normalize"), "f32", 2));
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        append(&b, s, tn_component_value(&x.d->components[0], "vocab_size")->u, 40);
        b.cancel[s] = &stopped;
    }
    CHECK_INT(invoke(&x, &b, flat), TN_OK);
    for (uint32_t s = 0; s < SEQUENCES; s++) CHECK_INT(b.status[s], TN_ITEM_STOPPED);
    /* one who still waits keeps its piece alive */
    b.cancel[7] = NULL;
    CHECK_INT(invoke(&x, &b, flat), TN_OK);
    CHECK_INT(b.status[7], TN_ITEM_DONE);
    fixture_close(&x);
}
