/* How the command puts values on its output. */
#include "../../cli/out.h"
#include "../../cli/view.h"
#include "test.h"

#include <locale.h>
#include <stdlib.h>

/* The command sets LC_CTYPE and nothing else (main.c; tests/cli/locale.test); the runner of these tests sets all. */
static void numbers_as_in_the_command(void)
{
    setlocale(LC_NUMERIC, "C");
}

TEST(floats_are_short_and_read_back)
{
    numbers_as_in_the_command();
    static const struct {
        float v;
        const char *text;
    } exact[] = {{0.0f, "0.0"},   {-0.0f, "-0.0"}, {1.0f, "1.0"},      {0.1f, "0.1"},       {-0.5f, "-0.5"},
                 {0.3f, "0.3"},   {1234.5f, "1234.5"}, {1e-5f, "0.00001"}, {1.5e-7f, "1.5e-07"}, {16777216.0f, "16777216.0"},
                 {NAN, "null"},   {INFINITY, "null"}, {0.02115f, "0.02115"}};
    char buf[32];
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        CHECK_INT(cli_format_f32(buf, exact[i].v), strlen(exact[i].text));
        CHECK_STR(buf, exact[i].text);
    }
    uint64_t state = 7;
    for (int i = 0; i < 300000; i++) {
        uint32_t bits = (uint32_t)test_random(&state);
        float v, back;
        if (i % 3 == 0) bits = (bits & 0x807FFFFF) | (uint32_t)(100 + (bits >> 23 & 31)) << 23; /* the usual size of a component */
        memcpy(&v, &bits, sizeof(v));
        if (!isfinite(v)) continue;
        size_t n = cli_format_f32(buf, v);
        back = strtof(buf, NULL);
        if (n != strlen(buf) || n > 17 || memcmp(&v, &back, sizeof(v)) != 0) {
            test_fail(__FILE__, __LINE__, "%a became %s", (double)v, buf);
            return;
        }
    }
}

/* Never longer than the shortest that the C library finds by trying. */
TEST(floats_are_the_shortest)
{
    numbers_as_in_the_command();
    uint64_t state = 11;
    char buf[32], tried[32];
    for (int i = 0; i < 20000; i++) {
        float v = (float)test_uniform(&state, -1, 1);
        int digits = 1;
        while (snprintf(tried, sizeof(tried), "%.*e", digits - 1, (double)v), strtof(tried, NULL) != v) digits++;
        cli_format_f32(buf, v);
        size_t ours = 0;
        for (const char *c = buf + strspn(buf, "-0."); *c && *c != 'e'; c++) ours += *c != '.';
        if (ours > (size_t)digits) test_fail(__FILE__, __LINE__, "%s has %zu digits, %s has %d", buf, ours, tried, digits);
    }
}

TEST(utf8_is_read_strictly)
{
    static const struct {
        const char *s;
        size_t n, length;
    } cases[] = {{"a", 1, 1}, {"\xC3\xA9", 2, 2}, {"\xE2\x82\xAC", 3, 3}, {"\xF0\x9F\x98\x80", 4, 4},
                 {"\xC3", 1, 0}, {"\xC0\x80", 2, 0}, {"\xE0\x80\x80", 3, 0}, {"\xED\xA0\x80", 3, 0},
                 {"\xF4\x90\x80\x80", 4, 0}, {"\xF8\x88\x80\x80\x80", 5, 0}, {"\x80", 1, 0}, {"\xE2\x82", 2, 0}};
    uint32_t code;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) CHECK_INT(cli_utf8(cases[i].s, cases[i].n, &code), cases[i].length);
    cli_utf8("\xF0\x9F\x98\x80", 4, &code);
    CHECK_INT(code, 0x1F600);
}

TEST(text_for_people_cannot_move_the_cursor)
{
    static const char hostile[] = "a\033[2J\r\nb\x7F\xC2\x9B\xE2\x80\xAE\xFFz";
    char *safe = cli_safe_copy(hostile, sizeof(hostile) - 1);
    CHECK_STR(safe, "a\\x1b[2J\\x0d\\x0ab\\x7f\\u{9b}\\u{202e}\\xffz");
    free(safe);
}

static char *json_of(const char *s, size_t n)
{
    static struct cli_out out;
    cli_out_init(&out, -1);
    cli_out_json(&out, s, n);
    out.buf[out.used] = 0;
    return out.buf;
}

TEST(json_strings)
{
    CHECK_STR(json_of("a\"\\\n\t\001\x7F", 7), "\"a\\\"\\\\\\n\\t\\u0001\\u007f\"");
    CHECK_STR(json_of("\xC3\xA9\xFF", 3), "\"\xC3\xA9\xEF\xBF\xBD\"");
    CHECK_STR(json_of("", 0), "\"\"");
    CHECK_STR(json_of("\0", 1), "\"\\u0000\"");
}

TEST(size_texts)
{
    char buf[32];
    numbers_as_in_the_command();
    CHECK_STR(cli_size_text(buf, 999), "999 bytes");
    CHECK_STR(cli_size_text(buf, 1000), "1.0 kB");
    CHECK_STR(cli_size_text(buf, 90868376), "90.9 MB");
    CHECK_STR(cli_size_text(buf, 999999), "1.0 MB");
    CHECK_STR(cli_size_text(buf, UINT64_C(1000000000000)), "1.0 TB");
}

TEST(excerpts_never_cut_a_character)
{
    CHECK_INT(cli_excerpt("abc", 10), 3);
    CHECK_INT(cli_excerpt("ab\xC3\xA9" "c", 3), 2);
    CHECK_INT(cli_excerpt("ab\xC3\xA9" "c", 4), 4);
    CHECK_INT(cli_excerpt("", 3), 0);
}
