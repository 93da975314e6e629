/* The option table as a parser: what is accepted, what is refused, and with which words. */
#include "../../cli/options.h"
#include "test.h"

#include <stdlib.h>

enum { WORDS = 16 };

static struct cli_values values;
static struct cli_problem problem;

/* Splits at single blanks; "''" is an empty word. */
static bool parse(const char *line)
{
    static char copy[512];
    static const char *argv[WORDS];
    int argc = 0;
    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word && argc < WORDS; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? "" : word;
    return cli_parse(argc, argv, &values, &problem);
}

static void end(void)
{
    cli_values_release(&values);
}

TEST(operands_and_options_in_any_order)
{
    REQUIRE(parse("--json embed --role query pkg one --threads=3 two"));
    CHECK_INT(values.verb, CLI_EMBED);
    CHECK(values.json);
    CHECK_STR(values.role, "query");
    CHECK_INT(values.threads, 3);
    CHECK_INT(values.operand_count, 3);
    CHECK_STR(values.operands[0], "pkg");
    CHECK_STR(values.operands[2], "two");
    CHECK(cli_given(&values, "role"));
    CHECK(!cli_given(&values, "batch"));
    end();
}

TEST(two_dashes_end_options)
{
    REQUIRE(parse("embed pkg -- --json -x --"));
    CHECK(!values.json);
    CHECK_INT(values.operand_count, 4);
    CHECK_STR(values.operands[1], "--json");
    CHECK_STR(values.operands[3], "--");
    end();
}

TEST(a_single_dash_and_nothing_are_operands)
{
    REQUIRE(parse("embed pkg - ''"));
    CHECK_INT(values.operand_count, 3);
    CHECK_STR(values.operands[1], "-");
    CHECK_STR(values.operands[2], "");
    end();
}

TEST(an_option_may_have_an_empty_or_dashed_value)
{
    REQUIRE(parse("embed pkg x --cache-dir= --role --json"));
    CHECK_STR(values.cache_dir, "");
    CHECK_STR(values.role, "--json");
    CHECK(!values.json);
    end();
}

TEST(descriptive_is_a_list)
{
    REQUIRE(parse("inspect pkg --descriptive /a --descriptive=/b"));
    REQUIRE(values.descriptive_count == 2);
    CHECK_STR(values.descriptive[0], "/a");
    CHECK_STR(values.descriptive[1], "/b");
    end();
}

TEST(misspelt_options_and_verbs_suggest_the_nearest)
{
    static const struct {
        const char *line, *near;
    } cases[] = {{"embed pkg x --jsn", "perhaps --json"},      {"embed pkg x --treads 2", "perhaps --threads"},
                 {"embed pkg x --normalise", "perhaps --normalize"}, {"embed pkg x --numreic f32", "perhaps --numeric"},
                 {"embde pkg x", "perhaps embed"},             {"inspct pkg", "perhaps inspect"},
                 {"token pkg x", "perhaps tokenize"},          {"embed pkg x --require", "perhaps --require-level"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(!parse(cases[i].line));
        CHECK_INT(problem.code, TN_UNSUPPORTED_OPTION);
        CHECK_STR(problem.expected, cases[i].near);
        end();
    }
}

TEST(words_that_are_far_from_everything_suggest_nothing)
{
    CHECK(!parse("embed pkg x --zzzzzz"));
    CHECK_STR(problem.expected, "");
    CHECK_CONTAINS(problem.remedy, "tenon help");
    end();
    CHECK(!parse("q"));
    CHECK_CONTAINS(problem.expected, "one of inspect, ");
    end();
}

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"", "a verb is missing"},
        {"inspect", "operand is missing"},
        {"inspect a b", "too many operands"},
        {"doctor x", "too many operands"},
        {"help a b", "too many operands"},
        {"embed pkg x --threads", "needs a value"},
        {"embed pkg x --threads 0", "does not take this value"},
        {"embed pkg x --threads 1025", "does not take this value"},
        {"embed pkg x --threads -1", "does not take this value"},
        {"embed pkg x --threads 2x", "does not take this value"},
        {"embed pkg x --threads ''", "does not take this value"},
        {"embed pkg x --threads 18446744073709551617", "does not take this value"},
        {"embed pkg x --dimensions 1e3", "does not take this value"},
        {"embed pkg x --numeric F32", "does not take this value"},
        {"embed pkg x --numeric f", "does not take this value"},
        {"embed pkg x --numeric f32|bf16", "does not take this value"},
        {"embed pkg x --truncate auto", "does not take this value"},
        {"embed pkg x --truncation yes", "does not take this value"},
        {"embed pkg x --memory-limit 5MX", "does not take this value"},
        {"embed pkg x --role a --role a", "given twice"},
        {"embed pkg x --json=yes", "takes no value"},
        {"inspect pkg --role x", "does not belong to inspect"},
        {"check pkg --npy x", "does not belong to check"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK(!parse(cases[i].line));
        CHECK_INT(problem.code, TN_INVALID_REQUEST);
        CHECK_CONTAINS(problem.message, cases[i].message);
        end();
    }
}

TEST(a_failing_line_still_tells_whether_json_was_asked_for)
{
    CHECK(!parse("embed pkg --nope x --json"));
    CHECK(values.json);
    end();
    CHECK(!parse("embed pkg --nope -- --json"));
    CHECK(!values.json);
    end();
}

TEST(help_needs_no_operands)
{
    CHECK(parse("embed --help"));
    CHECK(values.help);
    end();
    CHECK(parse("-h"));
    CHECK(values.help);
    end();
    CHECK(parse("--version"));
    CHECK(values.version);
    end();
}

TEST(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},          {"1", 1},
                {"7B", 7},         {"3kB", 3000},
                {"3KiB", 3072},    {"512MiB", UINT64_C(512) << 20},
                {"2GB", 2000000000}, {"1TiB", UINT64_C(1) << 40},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"", "B", "1.5GB", "1 GB", "+1", "-1", "0x10", "1gb", "1G", "18446744073709551616",
                                      "18446744073709552kB", "99999999999999999999999999", "16777216TiB"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t bytes = 99;
        CHECK(cli_read_size(good[i].text, &bytes));
        CHECK(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t bytes;
        CHECK(!cli_read_size(bad[i], &bytes));
    }
}

TEST(every_option_belongs_somewhere_and_has_its_words)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *o = &cli_options[i];
        CHECK(o->verbs != 0);
        CHECK(o->help && *o->help);
        CHECK((o->kind == CLI_FLAG) == (o->value == NULL));
        CHECK((o->kind == CLI_CHOICE) == (o->choices != NULL));
        for (size_t k = 0; k < i; k++) CHECK(strcmp(o->name, cli_options[k].name) != 0);
    }
    for (int v = 0; v < CLI_VERB_COUNT; v++) {
        CHECK(cli_verbs[v].name && *cli_verbs[v].summary && *cli_verbs[v].description && *cli_verbs[v].examples);
        CHECK_INT(cli_verb_of(cli_verbs[v].name), v);
    }
}
