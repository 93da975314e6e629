/* Spans of a window and the pool of answers against values computed from the definitions. */
#include "test.h"

#include "task/answer.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 4 };

/* Words 0 0 1 2 over "ab cd ef"-like bytes; the context is tokens 2..5 of a sequence of 7. */
static const struct tn_answer_token words[TOKENS] = {{0, 1, 0}, {1, 2, 0}, {3, 5, 1}, {6, 8, 2}};
static const float numbers[7][2] = {{1, 2}, {9, 9}, {0, 1}, {2, 0}, {1, 1}, {0, 3}, {9, 9}};

static double part(int which, size_t token, bool null)
{
    double sum = null ? exp((double)numbers[0][which]) : 0;
    for (size_t i = 2; i < 6; i++) sum += exp((double)numbers[i][which]);
    return exp((double)numbers[token][which]) / sum;
}

static struct tn_answer_rule rule_of(size_t top_k, size_t most, bool words_wanted)
{
    return (struct tn_answer_rule){.top_k = top_k, .most_tokens = most, .max_tokens = 64, .align_words = words_wanted};
}

TEST(all_spans_and_no_others)
{
    struct tn_answer_rule rule = rule_of(20, 3, false);
    struct tn_answer_span spans[20];
    float work[2 * (TOKENS + 1)], null;
    for (int has_null = 0; has_null < 2; has_null++) {
        struct tn_answer_window w = {numbers, 2, TOKENS, words, has_null};
        size_t n = tn_answer_spans(&rule, &w, work, spans, &null);
        CHECK_INT(n, 9); /* of 4 tokens, at most 3 long */
        CHECK_NEAR(null, has_null ? part(0, 0, true) * part(1, 0, true) : 0, 1e-7);
        for (size_t i = 0; i < n; i++) {
            CHECK(spans[i].first <= spans[i].last && spans[i].last - spans[i].first < 3);
            CHECK_NEAR(spans[i].score, part(0, 2 + spans[i].first, has_null) * part(1, 2 + spans[i].last, has_null), 1e-7);
            if (i > 0) CHECK(spans[i].score <= spans[i - 1].score);
        }
    }
}

TEST(the_best_of_many)
{
    struct tn_answer_rule rule = rule_of(2, 15, false);
    struct tn_answer_span spans[2];
    float work[2 * (TOKENS + 1)], null;
    struct tn_answer_window w = {numbers, 2, TOKENS, words, true};
    CHECK_INT(tn_answer_candidates(&rule), 2);
    CHECK_INT(tn_answer_spans(&rule, &w, work, spans, &null), 2);
    CHECK_INT(spans[0].first, 1);
    CHECK_INT(spans[0].last, 3);
    CHECK_INT(spans[1].first, 2);
    CHECK_INT(spans[1].last, 3);
    w.count = 0;
    CHECK_INT(tn_answer_spans(&rule, &w, work, spans, &null), 0);
    CHECK_NEAR(null, 1, 0);
    w.has_null = false;
    CHECK_INT(tn_answer_spans(&rule, &w, work, spans, &null), 0);
    CHECK_NEAR(null, 0, 0);
}

/* Equal scores stand in the order of the text: by beginning, then by end, whichever of them a short list keeps. */
TEST(equal_spans_stand_in_the_order_of_the_text)
{
    static const float level[7][2] = {{0, 0}};
    static const uint32_t order[9][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    struct tn_answer_span spans[9];
    float work[2 * (TOKENS + 1)], null;
    struct tn_answer_window w = {level, 2, TOKENS, words, false};
    for (size_t k = 1; k <= 9; k++) {
        struct tn_answer_rule rule = rule_of(k, 3, false);
        REQUIRE(tn_answer_spans(&rule, &w, work, spans, &null) == k);
        for (size_t i = 0; i < k; i++) {
            CHECK_INT(spans[i].first, order[i][0]);
            CHECK_INT(spans[i].last, order[i][1]);
        }
    }
}

/* No window has more spans than beginnings times lengths, whatever is asked for. */
TEST(candidates_are_no_more_than_there_are_spans)
{
    struct tn_answer_rule rule = rule_of(UINT32_MAX, 15, true);
    CHECK_INT(tn_answer_candidates(&rule), 64 * 15);
    rule.most_tokens = UINT32_MAX;
    CHECK_INT(tn_answer_candidates(&rule), 64 * 64);
}

TEST(spans_grow_to_words)
{
    struct tn_answer_rule rule = rule_of(1, 15, true);
    struct tn_answer_window w = {numbers, 2, TOKENS, words, true};
    uint32_t begin, end;
    CHECK_INT(tn_answer_candidates(&rule), 12);
    tn_answer_bytes(&rule, &w, &(struct tn_answer_span){0, 1, 2}, &begin, &end);
    CHECK_INT(begin, 0);
    CHECK_INT(end, 5);
    tn_answer_bytes(&rule, &w, &(struct tn_answer_span){0, 0, 0}, &begin, &end);
    CHECK_INT(end, 2);
    rule.align_words = false;
    tn_answer_bytes(&rule, &w, &(struct tn_answer_span){0, 1, 2}, &begin, &end);
    CHECK_INT(begin, 1);
}

static bool same(const char *a, const char *b)
{
    return tn_answer_same_text(tn_str_of(a), tn_str_of(b));
}

/* What Python's str.lower makes equal. */
TEST(texts_whatever_their_case)
{
    CHECK(same("", "") && same("Paris", "pARIS") && !same("Paris", "Pari") && !same("a", "") && !same("", "a"));
    CHECK(same("\xC3\x89T\xC3\x89", "\xC3\xA9t\xC3\xA9"));                                 /* E acute */
    CHECK(same("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3", "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x82"));     /* sigma at the end of a word */
    CHECK(!same("\xCE\x9F\xCE\x94\xCE\x9F\xCE\xA3", "\xCE\xBF\xCE\xB4\xCE\xBF\xCF\x83"));
    CHECK(same("\xCE\xA3\xCE\x9F", "\xCF\x83\xCE\xBF") && same("\xCE\xA3", "\xCF\x83"));     /* elsewhere, alone */
    CHECK(same("\xCE\x9F\xCE\xA3.", "\xCE\xBF\xCF\x82."));
    CHECK(same("\xC4\xB0", "i\xCC\x87") && !same("\xC3\x9F", "ss"));                        /* I with a dot; sharp s stays */
}

TEST(equal_texts_are_one_answer)
{
    struct tn_alloc alloc;
    struct tn_answer_pool pool;
    struct tn_str context = TN_STR("Paris in paris, PARIS");
    tn_alloc_init(&alloc);
    tn_answer_pool_init(&pool, &alloc);
    CHECK(tn_answer_pool_add(&pool, context, 6, 8, 0.25) && tn_answer_pool_add(&pool, context, 9, 14, 0.125));
    CHECK(tn_answer_pool_add(&pool, context, 0, 5, 0.125) && tn_answer_pool_add(&pool, context, 16, 21, 0.125));
    CHECK(tn_answer_pool_add_none(&pool, 0.375));
    tn_answer_pool_sort(&pool);
    REQUIRE(pool.count == 3);
    CHECK_INT(pool.entries[0].begin, 9); /* where it was found first */
    CHECK_NEAR(pool.entries[0].score, 0.375, 0);
    CHECK_INT(pool.entries[1].order, UINT32_MAX); /* behind its equal */
    CHECK_INT(pool.entries[2].begin, 6);
    tn_answer_pool_clear(&pool);
    for (uint32_t i = 0; i < 2000; i++) CHECK(tn_answer_pool_add(&pool, context, i % 21, 21, 1));
    CHECK_INT(pool.count, 21);
    tn_answer_pool_release(&pool);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}
