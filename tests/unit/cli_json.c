/* The command's own JSON reader: exactly RFC 8259, and the place of what is wrong. */
#include "../../cli/json.h"
#include "test.h"

#include <locale.h>
#include <stdlib.h>

static struct cli_json_doc doc;

static bool parse(const char *text)
{
    cli_json_release(&doc);
    return cli_json_parse(&doc, text, strlen(text));
}

TEST(values_and_places)
{
    setlocale(LC_NUMERIC, "C"); /* as in the command, which sets LC_CTYPE only */
    REQUIRE(parse(" {\"a\": {\"b\": [1, -2.5e3, true, null, \"x\"]}, \"n\": 18446744073709551615} "));
    const struct cli_json *list = cli_json_path(doc.root, "a.b");
    CHECK_INT(cli_json_count(list), 5);
    CHECK_NEAR(cli_json_double(cli_json_first(list)->next, 0), -2500, 0);
    CHECK(cli_json_true(cli_json_first(list)->next->next));
    uint64_t n;
    CHECK(cli_json_u64(cli_json_get(doc.root, "n"), &n) && n == UINT64_MAX);
    CHECK(!cli_json_u64(cli_json_first(list)->next, &n));
    CHECK(!cli_json_path(doc.root, "a.c.d"));
    CHECK(!cli_json_get(list, "a"));
    CHECK_STR(cli_json_text(cli_json_path(doc.root, "nothing.here")), "");
    cli_json_release(&doc);
}

TEST(strings_are_decoded_and_may_hold_nul)
{
    REQUIRE(parse("[\"a\\u0000b\", \"\\ud83d\\ude00\\n\\/\", \"\\u00e9\xC3\xA9\"]"));
    const struct cli_json *s = cli_json_first(doc.root);
    CHECK_INT(s->length, 3);
    CHECK(memcmp(s->text, "a\0b", 3) == 0);
    CHECK_STR(s->next->text, "\xF0\x9F\x98\x80\n/");
    CHECK_STR(s->next->next->text, "\xC3\xA9\xC3\xA9");
    cli_json_release(&doc);
}

TEST(what_is_no_json)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {{"", 0},          {"{", 1},        {"[1,]", 3},      {"[1 2]", 3},     {"{\"a\" 1}", 5},
                 {"{a:1}", 1},     {"01", 2},       {"1.", 2},        {"1e", 2},        {"-", 1},
                 {"nul", 0},       {"\"a", 1},      {"\"\\x\"", 3},   {"\"\\u12g4\"", 5}, {"1 2", 2},
                 {"\"\\ud800\"", 7}, {"\"\\udc00\"", 7}, {"\"\xFF\"", 1}, {"\"\xC0\x80\"", 1}, {"\"\n\"", 1},
                 {"{\"a\":1,\"a\":2}", 7}, {"[1]]", 3}, {"'a'", 0}, {"+1", 0}, {"NaN", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(!parse(cases[i].text));
        CHECK(doc.fault != NULL && doc.root == NULL);
        if (doc.fault_at != cases[i].at)
            test_fail(__FILE__, __LINE__, "%s: fault at %zu (%s), expected %zu", cases[i].text, doc.fault_at, doc.fault, cases[i].at);
    }
    cli_json_release(&doc);
}

TEST(depth_is_bounded)
{
    char text[2 * CLI_JSON_DEPTH + 4];
    for (int extra = 0; extra < 2; extra++) {
        int depth = CLI_JSON_DEPTH + extra;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = 0;
        CHECK(parse(text) == (extra == 0));
    }
    cli_json_release(&doc);
}

/* Every prefix of a document is refused without reading past it: the sanitizers watch the exact allocation. */
TEST(cut_documents)
{
    static const char text[] = "{\"k\\u00e9y\": [\"\\ud83d\\ude00\", -1.5e+10, {\"t\": true, \"f\": false}, null]}";
    for (size_t n = 0; n < sizeof(text) - 1; n++) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, text, n);
        cli_json_release(&doc);
        CHECK(!cli_json_parse(&doc, cut, n));
        free(cut);
    }
    cli_json_release(&doc);
}
