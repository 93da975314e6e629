/*
 * Regular expressions of RegexFullMatch: what the syntax of RE2 says of whole texts, what is refused, and that no expression
 * takes more time than its length times the text's.
 */
#include "ops/pattern.h"
#include "test.h"

#include <stdlib.h>

static struct tn_alloc alloc;
static struct tn_arena arena;

/* 1, 0, or -1: refused. */
static int match(const char *pattern, struct tn_str text)
{
    const char *why;
    tn_alloc_init(&alloc);
    tn_arena_init(&arena, &alloc);
    struct tn_pattern *p = tn_pattern_compile(&arena, tn_str_of(pattern), &why);
    int result = -1;
    if (p) {
        void *room = malloc(tn_pattern_room(p));
        result = tn_pattern_matches(p, text, room);
        free(room);
    } else {
        CHECK(why != NULL);
    }
    tn_arena_release(&arena);
    CHECK_INT(tn_alloc_current(&alloc), 0);
    return result;
}

TEST(ops_pattern_syntax)
{
    static const struct {
        const char *pattern, *text;
        int result;
    } rows[] = {
        {"", "", 1}, {"", "a", 0}, {"abc", "abc", 1}, {"abc", "abcd", 0}, {"abc", "xabc", 0}, {"a|b|", "", 1}, {"a|bc|d", "bc", 1}, {"a|bc|d", "bd", 0},
        {"(a|ab)(c|bcd)(d*)", "abcd", 1}, {"a*", "aaaa", 1}, {"a+", "", 0}, {"a?b", "b", 1}, {"(?:ab){2,3}", "abab", 1}, {"(?:ab){2,3}", "ab", 0},
        {"(?:ab){2,3}", "abababab", 0}, {"a{2,}", "aaaaa", 1}, {"a{0}", "", 1}, {"a{,2}", "a{,2}", 1}, {"a{", "a{", 1}, {"a*?b+?", "aab", 1},
        {".", "\n", 0}, {"(?s).", "\n", 1}, {"(?s:.).", "\n\n", 0}, {".", "\xc3\xa4", 1}, {"..", "\xff\xfe", 1}, {"[a-c]+", "abcabc", 1}, {"[^a-c]", "d", 1},
        {"[^a-c]", "b", 0}, {"[]a]+", "]a", 1}, {"[a\\]]", "]", 1}, {"[a-]", "-", 1}, {"[-a]", "-", 1}, {"[\\d-]+", "3-4", 1}, {"[[:alpha:]_]+", "ab_C", 1},
        {"[[:^digit:]]", "4", 0}, {"[^\\D]", "4", 1}, {"\\w+@\\w+\\.com", "me@x.com", 1}, {"\\W", "\xc3\xa4", 1}, {"\\S\\s\\d", "a 1", 1}, {"\\x41\\x{42}\\103", "ABC", 1},
        {"\\Qa.b*\\E+", "a.b**", 1}, {"a.\\Qb", "axb", 1}, {"\\t\\n\\r\\f\\v\\a", "\t\n\r\f\v\a", 1}, {"\\.\\*\\-\\/", ".*-/", 1}, {"^a$", "a", 1}, {"a^b", "ab", 0}, {"(?m)a$\n^b", "a\nb", 1},
        {"a$\n^b", "a\nb", 0}, {"\\Aa\\z", "a", 1}, {"a\\b b", "a b", 1}, {"a\\Bb", "ab", 1}, {"a\\bb", "ab", 0}, {"(?i)HeLLo", "hEllO", 1}, {"(?i:a)b", "AB", 0}, {"(?i)[x-z]", "Y", 1},
        {"(?i-i)a", "A", 0}, {"a(?i)b", "aB", 1}, {"(a(?i)b)c", "aBC", 0}, {"(?P<n>a)(?<m>b)", "ab", 1}, {"(?U)a+", "aaa", 1}, {"()*", "", 1}, {"(a*)*", "aaa", 1}, {"(a*)+b", "aab", 1},
        {"(|a)+", "aa", 1}, {"(a|b|c){3}", "cab", 1}, {"[\xc3\xa4-\xc3\xb6]", "\xc3\xa5", 1}, {"(x(y|z){2}|w)*", "xyzwxzz", 1},
        {"(", "", -1}, {")", "", -1}, {"a**", "", -1}, {"*a", "", -1}, {"[b-a]", "", -1}, {"[a", "", -1}, {"a{1001}", "", -1}, {"a{3,2}", "", -1}, {"\\", "", -1}, {"\\1", "", -1},
        {"\\pN", "", -1}, {"\\C", "", -1}, {"(?=a)", "", -1}, {"(?<n", "", -1}, {"(?i)\xc3\xa4", "", -1}, {"((((a{100}){100}){100}){100})", "", -1}, {"[[:nonsense:]]", "", -1}, {"\xff", "", -1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int found = match(rows[i].pattern, tn_str_of(rows[i].text));
        if (found != rows[i].result) test_fail(__FILE__, __LINE__, "%s on \"%s\": %d", rows[i].pattern, rows[i].text, found);
    }
}

TEST(ops_pattern_many_alternatives)
{
    char text[4000];
    size_t n = 0;
    for (int i = 0; i < 500; i++) n += (size_t)snprintf(text + n, sizeof(text) - n, "%sw%d", i ? "|" : "", i);
    CHECK_INT(match(text, TN_STR("w0")), 1);
    CHECK_INT(match(text, TN_STR("w499")), 1);
    CHECK_INT(match(text, TN_STR("w500")), 0);
}

/* An engine that goes back would take 2^10000 steps. */
TEST(ops_pattern_takes_linear_time)
{
    static char text[10000];
    memset(text, 'a', sizeof(text));
    CHECK_INT(match("(a|a|aa)*(a*)*b", (struct tn_str){text, sizeof(text)}), 0);
    CHECK_INT(match("(a|a|aa)*(a*)*", (struct tn_str){text, sizeof(text)}), 1);
}

TEST(ops_pattern_nesting_is_bounded)
{
    static char text[2000];
    memset(text, '(', 1000);
    memset(text + 1000, ')', 999);
    CHECK_INT(match(text, TN_STR("")), -1);
}
