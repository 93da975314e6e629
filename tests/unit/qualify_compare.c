/* The figures of a comparison, against values worked out by hand. */
#include "test.h"

#include "qualify/suite.h"

TEST(figures_are_those_of_the_definition)
{
    static const float a[] = {3, 4, 0, 1, 1, 1};
    static const float b[] = {3, 4.5f, 0, 1, 1, 1};
    struct tn_difference d = tn_compare_rows(a, b, 2, 3);
    CHECK(!d.equal);
    CHECK(d.finite);
    CHECK_NEAR(d.max_abs, 0.5, 0);
    CHECK_NEAR(d.max_rel, 0.5 / 4.5, 1e-15); /* by the reference's largest component */
    CHECK_INT(d.worst_row, 0);
    CHECK_NEAR(d.min_cosine, 27.0 / (5.0 * 5.408326913195984), 1e-12);
}

TEST(small_vectors_are_judged_absolutely)
{
    static const float a[] = {1e-3f, 0}, b[] = {2e-3f, 0};
    struct tn_difference d = tn_compare_rows(a, b, 1, 2);
    CHECK_NEAR(d.max_rel, 1e-3, 1e-9);
    CHECK_NEAR(d.min_cosine, 1, 0);
}

TEST(equal_means_the_same_bits)
{
    static const float a[] = {0.0f, 1}, b[] = {-0.0f, 1};
    CHECK(tn_compare_rows(a, a, 1, 2).equal);
    CHECK(!tn_compare_rows(a, b, 1, 2).equal);
    CHECK_NEAR(tn_compare_rows(a, b, 1, 2).max_abs, 0, 0);
}

TEST(zeros_and_numbers_that_are_none)
{
    static const float zero[] = {0, 0}, one[] = {1, 0}, bad[] = {NAN, 0};
    CHECK_NEAR(tn_compare_rows(zero, zero, 1, 2).min_cosine, 1, 0);
    CHECK_NEAR(tn_compare_rows(zero, one, 1, 2).min_cosine, 0, 0);
    CHECK(!tn_compare_rows(bad, one, 1, 2).finite);
    CHECK(!tn_compare_rows(one, bad, 1, 2).finite);
}
