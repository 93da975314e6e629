/*
 * Positions that count from the padding index, as the RoBERTa families have them: by value for rows that hold padding
 * tokens, alone and in company; and that no row gets further than the table reaches.
 */
#include "native_fixture.h"

#include "provider/native/native.h"

enum { MOST = 6, ROWS = 3, LONGEST = 128, WIDTH = 64 };

struct row {
    int32_t ids[MOST], positions[MOST];
    int32_t count;
};

static enum tn_status invoke(struct fixture *x, int32_t *ids, int32_t *offsets, uint32_t count)
{
    static float flat[ROWS * WIDTH];
    static const struct tn_cancel *cancel[ROWS];
    struct tn_span spans[ROWS];
    uint8_t status[ROWS];
    for (uint32_t s = 0; s < count; s++) spans[s] = (struct tn_span){offsets[s], offsets[s + 1] - offsets[s], 0};
    struct tn_invocation call = {.ids = ids, .offsets = offsets, .spans = spans, .sequences = count,
                                 .cancel = cancel, .out = flat, .status = status};
    enum tn_status st = tn_native_provider.invoke(x->instance, &call, x->err);
    for (uint32_t s = 0; !st && s < count; s++) CHECK_INT(status[s], TN_ITEM_DONE);
    return st;
}

/* What the one worker's last piece was computed with. */
static void check_positions(struct fixture *x, const struct row *rows, uint32_t count, int line)
{
    int32_t ids[ROWS * MOST], offsets[ROWS + 1] = {0};
    for (uint32_t s = 0; s < count; s++) {
        memcpy(ids + offsets[s], rows[s].ids, (size_t)rows[s].count * sizeof(*ids));
        offsets[s + 1] = offsets[s] + rows[s].count;
    }
    REQUIRE(invoke(x, ids, offsets, count) == TN_OK);
    const struct tn_workspace *w = &x->instance->workspaces[0];
    REQUIRE(w->count == count);
    for (uint32_t i = 0; i < count; i++) {
        const struct row *row = &rows[w->sequences[i]];
        REQUIRE(w->offsets[i + 1] - w->offsets[i] == row->count);
        for (int32_t k = 0; k < row->count; k++)
            if (w->positions[w->offsets[i] + k] != row->positions[k])
                test_fail(__FILE__, line, "row %u, token %d: position %d", (unsigned)w->sequences[i], (int)k, (int)w->positions[w->offsets[i] + k]);
    }
}

static void check_package(const char *package, const struct row *rows, int line)
{
    struct fixture x;
    REQUIRE(fixture_open(&x, test_path(package), "f32", 1));
    for (uint32_t s = 0; s < ROWS; s++) check_positions(&x, &rows[s], 1, line);
    check_positions(&x, rows, ROWS, line);
    fixture_close(&x);
}

TEST(positions_count_from_padding)
{
    static const struct row by_one[ROWS] = {
        {{0, 5, 6, 2, 1, 1}, {2, 3, 4, 5, 1, 1}, 6}, {{0, 5, 6, 2}, {2, 3, 4, 5}, 4}, {{1, 1, 0, 7, 1, 2}, {1, 1, 2, 3, 1, 4}, 6}};
    static const struct row by_five[ROWS] = {
        {{0, 7, 6, 2, 5, 5}, {6, 7, 8, 9, 5, 5}, 6}, {{0, 7, 6, 2}, {6, 7, 8, 9}, 4}, {{5, 5, 0, 7, 5, 2}, {5, 5, 6, 7, 5, 8}, 6}};
    check_package("golden/packages/roberta_mean_normalize", by_one, __LINE__);
    check_package("golden/packages/xlm_roberta_mean_normalize", by_one, __LINE__);
    check_package("golden/packages/roberta_pad_elsewhere", by_five, __LINE__);
}

/* The table's rows up to and with the padding's are no positions; one token more than the rest is refused by its length. */
TEST(one_more_than_the_table_holds)
{
    static const char *const packages[] = {"golden/packages/roberta_two_types", "golden/packages/roberta_pad_elsewhere"};
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
        struct fixture x;
        int32_t ids[LONGEST], offsets[2] = {0};
        REQUIRE(fixture_open(&x, test_path(packages[i]), "f32", 1));
        uint64_t rows = tn_component_value(x.request.component, "max_position_embeddings")->u;
        uint64_t pad = tn_component_value(x.request.component, "pad_token_id")->u, usable = rows - (pad + 1);
        REQUIRE(usable < LONGEST);
        CHECK_INT(x.d->max_seq_length, usable);
        for (size_t k = 0; k < LONGEST; k++) ids[k] = pad == 3 ? 4 : 3;
        offsets[1] = (int32_t)usable;
        CHECK_INT(invoke(&x, ids, offsets, 1), TN_OK);
        CHECK_INT(x.instance->workspaces[0].positions[usable - 1], rows - 1);
        offsets[1] = (int32_t)usable + 1;
        CHECK_INT(invoke(&x, ids, offsets, 1), TN_SHAPE_OUTSIDE_ENVELOPE);
        CHECK_CONTAINS(x.err->primary.message, "no admitted length");
        fixture_close(&x);
    }
}
