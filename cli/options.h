/*
 * The command line as data. One table of verbs and one table of options drive parsing, the help texts, the manual page
 * and shell completion. Parsing is pure: it reads argv and fills a struct; it opens nothing and prints nothing.
 *
 * Rules: options and operands in any order; `--name value` and `--name=value`; `--` ends options; an option is given at
 * most once unless it is a list; numbers are read strictly.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/tenon.h>

enum cli_verb_id {
    CLI_INSPECT,
    CLI_DESCRIBE,
    CLI_VALIDATE,
    CLI_CHECK,
    CLI_PLAN,
    CLI_EMBED,
    CLI_RERANK,
    CLI_CLASSIFY,
    CLI_TAG,
    CLI_FILL,
    CLI_ANSWER,
    CLI_TENSOR,
    CLI_GRAPH,
    CLI_RUN,
    CLI_TOKENIZE,
    CLI_COMPARE,
    CLI_QUALIFY,
    CLI_RECORDS,
    CLI_DOCTOR,
    CLI_FAMILIES,
    CLI_TASKS,
    CLI_SCHEMA,
    CLI_HELP,
    CLI_VERB_COUNT
};

enum { CLI_OPTIONS_MOST = 96 };

struct cli_verb {
    const char *name;
    const char *operands;    /* as the usage line shows them */
    size_t least, most;      /* how many operands */
    const char *summary;     /* one line */
    const char *description; /* paragraphs separated by an empty line */
    const char *examples;    /* commands, one a line */
};

enum cli_kind { CLI_FLAG, CLI_STRING, CLI_CHOICE, CLI_COUNT, CLI_SIZE, CLI_NUMBER, CLI_LIST };

struct cli_option {
    const char *name;    /* without the dashes */
    enum cli_kind kind;
    const char *value;   /* what stands for the value in help texts; NULL for a flag */
    const char *choices; /* "a|b|c" of CLI_CHOICE; what completion offers for others, or NULL */
    uint64_t least, most;
    uint32_t verbs;      /* bit per verb */
    size_t field;        /* offset in struct cli_values */
    const char *help;
};

/* What was asked for; strings are views of argv. */
struct cli_values {
    enum cli_verb_id verb;
    bool json, quiet, help, version;
    const char *variant, *provider, *device, *placement, *numeric, *require_level, *without, *plan, *cache_dir, *state_dir;
    const char *providers, *reason;
    bool layers, record;
    double absolute, relative;
    const char *hint, *hints, *fallback, *precision, *allow_code;
    uint64_t threads, memory_limit, timeout_ms; /* 0: not given */
    const char **descriptive;
    size_t descriptive_count;
    bool accept_loss;
    const char *task, *golden;
    bool verify, provenance, capabilities;
    const char *output, *format;
    const char *file, *role, *normalize, *truncate, *truncation, *side, *npy, *pair, *completion;
    bool jsonl, atomic, no_special, man;
    uint64_t dimensions, batch, max_tokens, top_k; /* 0: not given */
    const char *query, *scores, *aggregate, *question, *context;
    const char **inputs; /* [input_count] */
    size_t input_count;
    const char *output_dir, *state;
    bool text, image, no_answer, dot, optimized;
    double threshold;
    const char **operands;
    size_t operand_count;
    bool given[CLI_OPTIONS_MOST]; /* by the row of the option table */
};

/* A command line that cannot be run. */
struct cli_problem {
    tn_status code; /* TN_UNSUPPORTED_OPTION for what does not exist, TN_INVALID_REQUEST for what does not fit */
    const char *option; /* argument at fault or "" */
    char message[256], found[128], expected[384], remedy[256];
};

extern const struct cli_verb cli_verbs[CLI_VERB_COUNT];
extern const struct cli_option cli_options[];
extern const size_t cli_option_count;

/*
 * argv without the program's name. false: problem is filled; values->verb, json and quiet are what could be understood,
 * so that the problem can be reported in the right form. Release values in either case.
 */
bool cli_parse(int argc, const char *const *argv, struct cli_values *values, struct cli_problem *problem);
void cli_values_release(struct cli_values *values);
/* Whether an option was on the command line. */
bool cli_given(const struct cli_values *values, const char *option);

bool cli_option_takes(const struct cli_option *option, int verb);
/* Whether every verb takes it. */
bool cli_option_is_common(const struct cli_option *option);

/* Decimal digits only; false: something else, or it does not fit. */
bool cli_read_count(const char *text, uint64_t *out);
/* Bytes: digits with an optional unit B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024). */
bool cli_read_size(const char *text, uint64_t *out);
/* A decimal number with "." as the decimal point, in the range of a float. */
bool cli_read_number(const char *text, double *out);
/* Verb by name, or CLI_VERB_COUNT. */
enum cli_verb_id cli_verb_of(const char *name);
/* The nearest of `count` names to a misspelt one, or NULL when none is near. */
const char *cli_nearest(const char *name, const char *const *names, size_t count);

#endif
