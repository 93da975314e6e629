/* Figures of a comparison against values that follow from their definitions. */
#include "qualify/agree.h"

#include "test.h"

#include <math.h>
#include <string.h>

static struct tn_operand floats(const float *data, int64_t rows, int64_t width)
{
    return (struct tn_operand){.type = TN_EL_F32, .rank = 2, .dims = {rows, width}, .count = (uint64_t)(rows * width), .data = data};
}

TEST(differences_are_those_of_the_definition)
{
    const float a[] = {1, 2, 3, 4.5f, 0, 3}, b[] = {1, 2.5f, 3, 4, 0, 3};
    struct tn_operand x = floats(a, 2, 3), y = floats(b, 2, 3);
    struct tn_tolerance t = {0.1, 0.125, "test"};
    struct tn_agreement g;
    tn_agree(&x, &y, &t, &g);
    CHECK(!g.agrees); /* 0.5 > 0.1 + 0.125 * 2.5 = 0.4125; 0.5 < 0.1 + 0.125 * 4 */
    CHECK_INT(g.beyond, 1);
    CHECK_INT(g.at, 1);
    CHECK(g.a == 2 && g.b == 2.5);
    CHECK(g.max_abs == 0.5);
    CHECK(g.max_rel == 0.2); /* 0.5 / 2.5 */
    CHECK_INT(g.count, 6);
    CHECK_INT(g.rows, 2);
    CHECK_INT(g.same_argmax, 2);
    double dot = 1 + 5 + 9 + 18 + 9, aa = 1 + 4 + 9 + 20.25 + 9, bb = 1 + 6.25 + 9 + 16 + 9;
    CHECK(fabs(g.cosine - dot / sqrt(aa * bb)) < 1e-15);
    t.absolute = 0.5;
    t.relative = 0;
    tn_agree(&x, &y, &t, &g);
    CHECK(g.agrees); /* the border belongs to it */
    tn_agree(&x, &x, &t, &g);
    CHECK(g.same_bits && g.cosine == 1 && g.max_abs == 0);
}

TEST(another_winner_shows_where_differences_are_small)
{
    const float a[] = {0.5001f, 0.5f, 0, 1}, b[] = {0.5f, 0.5001f, 0, 1};
    struct tn_operand x = floats(a, 2, 2), y = floats(b, 2, 2);
    struct tn_tolerance t = {1e-3, 0, "test"};
    struct tn_agreement g;
    tn_agree(&x, &y, &t, &g);
    CHECK(g.agrees);
    CHECK_INT(g.rows, 2);
    CHECK_INT(g.same_argmax, 1);
}

TEST(numbers_that_are_none)
{
    const float a[] = {NAN, INFINITY, INFINITY, 1, 2}, b[] = {NAN, INFINITY, -INFINITY, NAN, 2};
    struct tn_operand x = floats(a, 1, 5), y = floats(b, 1, 5);
    struct tn_tolerance t = {1e30, 0, "test"};
    struct tn_agreement g;
    tn_agree(&x, &y, &t, &g);
    CHECK(!g.agrees);
    CHECK_INT(g.non_finite_a, 3);
    CHECK_INT(g.non_finite_b, 4);
    CHECK_INT(g.non_finite_apart, 2);
    CHECK_INT(g.beyond, 2);
    CHECK_INT(g.at, 2);
    CHECK(g.cosine == 1); /* of what is finite on both sides */
    x.count = y.count = 2;
    x.dims[1] = y.dims[1] = 2;
    tn_agree(&x, &y, &t, &g);
    CHECK(g.agrees);
}

TEST(shapes_types_integers_and_texts)
{
    const int64_t i[] = {INT64_C(9007199254740993), 2}, k[] = {INT64_C(9007199254740992), 2};
    const struct tn_str s[] = {{"ab", 2}, {"", 0}}, u[] = {{"ab", 2}, {"c", 1}};
    const float f[] = {1, 2};
    struct tn_operand x = {.type = TN_EL_I64, .rank = 1, .dims = {2}, .count = 2, .data = i}, y = x, z = x;
    struct tn_tolerance exact = tn_tolerance_of(TN_EL_I64, false);
    struct tn_agreement g;
    y.data = k;
    tn_agree(&x, &y, &exact, &g);
    CHECK(!g.agrees); /* as doubles they would be equal */
    CHECK_INT(g.beyond, 1);
    CHECK(!g.has_rows);
    tn_agree(&x, &x, &exact, &g);
    CHECK(g.agrees && g.same_bits);
    z.rank = 2;
    z.dims[0] = 1;
    z.dims[1] = 2;
    tn_agree(&x, &z, &exact, &g);
    CHECK_STR(g.why, "the shapes differ");
    z = (struct tn_operand){.type = TN_EL_F32, .rank = 1, .dims = {2}, .count = 2, .data = f};
    tn_agree(&x, &z, &exact, &g);
    CHECK_STR(g.why, "the types differ");
    x = (struct tn_operand){.type = TN_EL_STRING, .rank = 1, .dims = {2}, .count = 2, .data = s};
    y = x;
    y.data = u;
    tn_agree(&x, &y, &exact, &g);
    CHECK_STR(g.why, "texts differ");
    CHECK_INT(g.beyond, 1);
    CHECK_INT(g.at, 1);
    tn_agree(&x, &x, &exact, &g);
    CHECK(g.agrees && g.same_bits);
    x.count = y.count = 0;
    x.dims[0] = y.dims[0] = 0;
    tn_agree(&x, &y, &exact, &g);
    CHECK(g.agrees);
}

TEST(tolerances_follow_the_type)
{
    CHECK(tn_tolerance_of(TN_EL_BOOL, false).absolute == 0);
    CHECK(tn_tolerance_of(TN_EL_F32, false).absolute < tn_tolerance_of(TN_EL_F16, false).absolute);
    CHECK(tn_tolerance_of(TN_EL_F32, true).relative == tn_tolerance_of(TN_EL_BF16, false).relative);
}
