/*
 * The engine of regular expressions by itself: how many steps it takes on texts that make others backtrack for ever, what
 * it refuses and why. That its answers are the library's is in the goldens of text_golden.c.
 */
#include "test.h"

#include "text/internal.h"

#include <stdlib.h>

struct engine {
    struct tn_alloc alloc;
    struct tn_arena arena;
    struct tn_regex *regex;
    struct tn_regex_run run;
    struct tn_char *chars;
    const char *why;
    size_t at;
};

static enum tn_status engine_open(struct engine *e, const char *expression)
{
    memset(e, 0, sizeof(*e));
    tn_alloc_init(&e->alloc);
    tn_arena_init(&e->arena, &e->alloc);
    e->run.alloc = &e->alloc;
    return tn_regex_compile(&e->arena, tn_str_of(expression), &e->regex, &e->why, &e->at);
}

static void engine_close(struct engine *e)
{
    tn_regex_run_release(&e->run);
    tn_arena_release(&e->arena);
    free(e->chars);
    CHECK_INT(tn_alloc_current(&e->alloc), 0);
}

/* n characters: the unit again and again, then `last`. */
static void engine_text(struct engine *e, const char *unit, size_t n, char last)
{
    free(e->chars);
    e->chars = malloc((n ? n : 1) * sizeof(*e->chars));
    for (size_t i = 0; i < n; i++) e->chars[i] = (struct tn_char){(unsigned char)unit[i % strlen(unit)], (uint32_t)i, (uint32_t)i + 1};
    if (n) e->chars[n - 1].c = (unsigned char)last;
    tn_regex_begin(&e->run, e->regex, e->chars, n);
}

/* All matches; the status and the steps it took. */
static enum tn_status engine_all(struct engine *e, size_t *matches)
{
    size_t begin, end;
    bool found = true;
    *matches = 0;
    for (;;) {
        enum tn_status status = tn_regex_next(&e->run, &begin, &end, &found);
        if (status || !found) return status;
        (*matches)++;
    }
}

/* Four times the text takes at most a little more than four times the steps. */
TEST(steps_grow_with_the_text)
{
    static const struct {
        const char *expression, *unit;
        char last;
    } rows[] = {
        {"(a+)+$", "a", 'b'},          {"(a|aa)+$", "a", 'b'},       {"(a|a)*b|c", "a", 'a'},   {"(?:a*)(?:a*)(?:a*)b", "a", 'c'},
        {"([a-z]+)*!", "ab", '.'},     {"(x+x+)+y", "x", 'x'},       {"a.*b|a", "a", 'a'},      {"(.*)(.*)(.*)(.*)[z]", "abc", 'a'},
        {"\\s*[\\r\\n]", " ", 'x'},    {"(a?){60}a{60}", "a", 'b'},  {"(?:a|b|ab)*?c", "ab", 'a'}, {"(a+b?)+c", "aab", 'a'},
        {"(?<=a)a+b", "a", 'a'},    {"\\p{L}+?\\d|\\w+!", "a", 'a'},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct engine e;
        uint64_t steps[2];
        size_t matches;
        if (engine_open(&e, rows[i].expression)) {
            CHECK_CONTAINS(e.why, "can be empty"); /* two rows repeat what can be empty */
            engine_close(&e);
            continue;
        }
        for (int k = 0; k < 2; k++) {
            size_t n = k ? 40000 : 10000;
            engine_text(&e, rows[i].unit, n, rows[i].last);
            enum tn_status status = engine_all(&e, &matches);
            if (status) test_fail(__FILE__, __LINE__, "%s: status %d", rows[i].expression, (int)status);
            steps[k] = tn_regex_steps(&e.run);
            if (steps[k] > 2000 * (uint64_t)n) {
                test_fail(__FILE__, __LINE__, "%s takes %llu steps for %zu characters", rows[i].expression, (unsigned long long)steps[k], n);
            }
        }
        if (steps[1] > 6 * steps[0]) {
            test_fail(__FILE__, __LINE__, "%s takes %llu steps, then %llu", rows[i].expression, (unsigned long long)steps[0],
                      (unsigned long long)steps[1]);
        }
        engine_close(&e);
    }
}

/* What looks to the end from everywhere, and is right each time, is stopped and not waited for. */
TEST(assertions_are_bounded)
{
    static const char *const expressions[] = {"a(?=.*z)", "a*+b", "(?>a+)b", "(?:a++|z)b"};
    for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
        struct engine e;
        size_t matches;
        REQUIRE(engine_open(&e, expressions[i]) == TN_OK);
        engine_text(&e, "a", 2000, 'z');
        CHECK_INT(engine_all(&e, &matches), TN_OK);
        CHECK_INT(matches, i == 0 ? 1999 : 0);
        engine_text(&e, "a", 100000, 'z');
        CHECK_INT(engine_all(&e, &matches), TN_RESOURCE_LIMIT);
        CHECK(tn_regex_steps(&e.run) < (uint64_t)2000 * 100000);
        engine_close(&e);
    }
}

/* A match may be empty, but not where the one before ended. */
TEST(empty_matches)
{
    static const struct {
        const char *expression, *text;
        size_t matches;
    } rows[] = {{"b*", "abba", 3}, {"\\b", "ab cd", 4}, {"(?=a)", "aab", 2}, {"$", "a\nb\n", 3}, {"^", "a\nb\n", 2}, {"a?", "", 1}, {"x|", "axa", 3}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct engine e;
        size_t matches, n = strlen(rows[i].text);
        REQUIRE(engine_open(&e, rows[i].expression) == TN_OK);
        CHECK(tn_regex_can_be_empty(e.regex));
        engine_text(&e, n ? rows[i].text : "x", n, n ? rows[i].text[n - 1] : 'x');
        CHECK_INT(engine_all(&e, &matches), TN_OK);
        if (matches != rows[i].matches) test_fail(__FILE__, __LINE__, "%s on \"%s\": %zu matches", rows[i].expression, rows[i].text, matches);
        engine_close(&e);
    }
}

TEST(refusals_say_why)
{
    static const struct {
        const char *expression, *why;
        size_t at;
    } rows[] = {{"ab[c", "without its end", 4},      {"a(b", "without its end", 3},          {"ab)c", "closes nothing", 2},
                {"a\\1", "escape", 2},               {"(?<name>a)", "not known here", 1},    {"(?<=ab)c", "more than one character", 6},
                {"\\p{Nope}", "property", 8},        {"[[:alpha:]]", "class inside", 1},     {"(?i:stra\xC3\x9F" "e)", "folds to", 6},
                {"a{2}{3}", "repetition of a repetition", 4}, {"+a", "without an atom", 0},  {"(a*)+", "can be empty", 5}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct engine e;
        CHECK_INT(engine_open(&e, rows[i].expression), TN_UNSUPPORTED_PROCESSOR);
        CHECK(e.regex == NULL);
        CHECK_CONTAINS(e.why, rows[i].why);
        CHECK_INT(e.at, rows[i].at);
        engine_close(&e);
    }
}

/* Counted repetitions of counted repetitions, alternatives without end, depth: a limit, not memory. */
TEST(large_expressions_end_in_a_limit)
{
    static char text[400000];
    static const char *const small[] = {"((a{1000}){1000}){1000}", "(?:(?:(?:[ab]{99}){99}){99}){99}", "a{999,1000}b{1000}c{1000}d{1000}e{1000}"};
    struct engine e;
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
        CHECK_INT(engine_open(&e, small[i]), TN_RESOURCE_LIMIT);
        CHECK(tn_alloc_peak(&e.alloc) < (uint64_t)4 << 20);
        engine_close(&e);
    }
    for (int kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < sizeof(text) - 1; i++) text[i] = kind == 0 ? '(' : kind == 1 ? "a|"[i & 1] : "[a]"[i % 3];
        CHECK_INT(engine_open(&e, text), TN_RESOURCE_LIMIT);
        CHECK(tn_alloc_peak(&e.alloc) < (uint64_t)4 << 20);
        engine_close(&e);
    }
}
