/*
 * Numbers of heads and what is made of them: known values, orders, and which of two outputs a document is ranked by. All
 * expected values are computed from the definitions.
 */
#include "task/rerank.h"
#include "task/scores.h"
#include "test.h"

static struct tn_str names[4];

static struct tn_head head_of(size_t outputs, const char *first, const char *second)
{
    names[0] = tn_str_of(first);
    names[1] = tn_str_of(second ? second : "");
    return (struct tn_head){.kind = TN_HEAD_SEQUENCE_CLASSIFICATION, .outputs = outputs, .labels = names, .labels_stated = true,
                            .activation = TN_STR("")};
}

TEST(softmax_and_sigmoid_by_problem)
{
    static const float logits[] = {2, 1, 0};
    static const double softmax[] = {0.66524, 0.24473, 0.09003}, sigmoid[] = {0.88080, 0.73106, 0.5};
    struct tn_head h = head_of(3, "a", "b");
    float scores[3];
    h.problem = TN_PROBLEM_SINGLE_LABEL;
    struct tn_scoring s = tn_scoring_of_classifier(&h);
    tn_score_apply(&s, logits, scores, 3);
    for (int i = 0; i < 3; i++) CHECK_NEAR(scores[i], softmax[i], 5e-6);
    h.problem = TN_PROBLEM_MULTI_LABEL;
    s = tn_scoring_of_classifier(&h);
    tn_score_apply(&s, logits, scores, 3);
    for (int i = 0; i < 3; i++) CHECK_NEAR(scores[i], sigmoid[i], 5e-6);
    h.problem = TN_PROBLEM_REGRESSION;
    s = tn_scoring_of_classifier(&h);
    tn_score_apply(&s, logits, scores, 3);
    CHECK(memcmp(scores, logits, sizeof(scores)) == 0);
    CHECK_INT(s.kind, TN_SCORE_VALUE);
    CHECK(!tn_scoring_choose(&s, TN_SCORES_PROBABILITY, &h));
    h.problem = TN_PROBLEM_UNSTATED;
    CHECK_INT(tn_scoring_of_classifier(&h).function, TN_SCORE_SOFTMAX);
    h.outputs = 1;
    CHECK_INT(tn_scoring_of_classifier(&h).function, TN_SCORE_SIGMOID);
}

TEST(extremes_stay_finite)
{
    static const float logits[] = {1000, -1000, 999};
    struct tn_scoring s = {TN_SCORE_SOFTMAX, TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
    float scores[3];
    tn_score_apply(&s, logits, scores, 3);
    CHECK_NEAR(scores[0], 0.7310586, 1e-6);
    CHECK(scores[1] == 0);
    CHECK(tn_score_sigmoid(1000) == 1);
    CHECK(tn_score_sigmoid(-1000) == 0);
    CHECK_NEAR(tn_score_sigmoid(0), 0.5, 0);
}

/* What a doubled activation looks like: sigmoid(sigmoid(x)) of a large x is near 0.73, wherever x came from. */
TEST(one_activation_and_no_second)
{
    struct tn_head h = head_of(1, "LABEL_0", NULL);
    struct tn_rerank_rule rule = tn_rerank_rule_of(&h);
    const float logit = 5.8406f;
    CHECK_NEAR(tn_score_sigmoid(0.9971f), 0.730488, 1e-6);
    CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_AUTO, &logit), 0.9971, 1e-5);
    CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_PROBABILITY, &logit), 0.9971, 1e-5);
    CHECK(tn_rerank_score(&rule, TN_SCORES_LOGIT, &logit) == logit);
    CHECK_INT(tn_rerank_kind(&rule, TN_SCORES_AUTO), TN_SCORE_PROBABILITY);
    h.activation = TN_STR("identity");
    rule = tn_rerank_rule_of(&h);
    CHECK(tn_rerank_score(&rule, TN_SCORES_AUTO, &logit) == logit);
    CHECK_INT(tn_rerank_kind(&rule, TN_SCORES_AUTO), TN_SCORE_LOGIT);
    CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_PROBABILITY, &logit), 0.9971, 1e-5);
    h.activation = TN_STR("tanh");
    rule = tn_rerank_rule_of(&h);
    CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_AUTO, &logit), tanh(5.8406), 1e-6);
    CHECK_INT(tn_rerank_kind(&rule, TN_SCORES_AUTO), TN_SCORE_OTHER);
}

TEST(large_logits_keep_their_order)
{
    struct tn_head h = head_of(1, "LABEL_0", NULL);
    struct tn_rerank_rule rule = tn_rerank_rule_of(&h);
    const float eight = 8, twelve = 12;
    CHECK(tn_rerank_score(&rule, TN_SCORES_AUTO, &twelve) > tn_rerank_score(&rule, TN_SCORES_AUTO, &eight));
    struct tn_scoring softmax = {TN_SCORE_SOFTMAX, TN_SCORE_PROBABILITY, TN_ACT_IDENTITY};
    float low[2], high[2], a[] = {0, 8}, b[] = {0, 12};
    tn_score_apply(&softmax, a, low, 2);
    tn_score_apply(&softmax, b, high, 2);
    CHECK(high[1] > low[1]);
}

TEST(which_of_two_outputs_ranks)
{
    static const struct {
        const char *first, *second;
        bool scorer, stated;
        uint32_t outputs, relevant;
        bool convention;
    } cases[] = {
        {"irrelevant", "relevant", false, true, 2, 1, false},
        {"Relevant", "not relevant", false, true, 2, 0, false},
        {"no", "YES", false, true, 2, 1, false},
        {"LABEL_0", "LABEL_1", false, false, 2, 1, true},
        {"LABEL_0", "LABEL_1", true, false, 2, 1, true},
        {"LABEL_1", "LABEL_0", false, true, 0, 0, false},
        {"LABEL_1", "LABEL_0", true, true, 0, 0, false},
        {"NEGATIVE", "POSITIVE", false, true, 0, 0, false},
        {"NEGATIVE", "POSITIVE", true, true, 2, 1, true},
        {"POSITIVE", "NEGATIVE", true, true, 0, 0, false},
        {"relevant", "yes", false, true, 0, 0, false},
    };
    const float logits[] = {1.5f, -0.5f};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tn_head h = head_of(2, cases[i].first, cases[i].second);
        h.cross_encoder = cases[i].scorer;
        h.labels_stated = cases[i].stated;
        struct tn_rerank_rule rule = tn_rerank_rule_of(&h);
        CHECK_INT(rule.outputs, cases[i].outputs);
        if (!rule.outputs) continue;
        CHECK_INT(rule.by_convention, cases[i].convention);
        CHECK_INT(rule.relevant, cases[i].relevant);
        double odds = cases[i].relevant ? -2 : 2;
        CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_LOGIT, logits), odds, 0);
        CHECK_NEAR(tn_rerank_score(&rule, TN_SCORES_AUTO, logits), 1 / (1 + exp(-odds)), 1e-6);
    }
    struct tn_head many = head_of(3, "a", "b");
    CHECK_INT(tn_rerank_rule_of(&many).outputs, 0);
}

/* A vocabulary's scores go another way than a few: equal ones stand by index there, too, at every place of the list. */
TEST(few_of_many_and_equal_ones_by_index)
{
    enum { MANY = 1000 };
    static float scores[MANY];
    static const size_t at[] = {3, 500, 501, 700, 999, 20};
    static const float high[] = {2, 3, 2, 3, 2, 1};
    static const uint32_t expected[] = {500, 700, 3, 501, 999};
    uint32_t order[5];
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) scores[at[i]] = high[i];
    for (size_t most = 1; most <= 5; most++) {
        CHECK_INT(tn_scores_best(scores, MANY, most, order), most);
        CHECK(memcmp(order, expected, most * sizeof(*order)) == 0);
    }
}

TEST(best_first_and_equal_ones_by_index)
{
    static const float scores[] = {0.5f, 0.75f, 0.5f, -1, 0.75f, 0};
    static const uint32_t expected[] = {1, 4, 0, 2, 5, 3};
    uint32_t order[6];
    CHECK_INT(tn_scores_best(scores, 6, 0, order), 6);
    CHECK(memcmp(order, expected, sizeof(order)) == 0);
    CHECK_INT(tn_scores_best(scores, 6, 3, order), 3);
    CHECK(memcmp(order, expected, 3 * sizeof(*order)) == 0);
    CHECK_INT(tn_scores_best(scores, 6, 9, order), 6);
}
