/* The compiled form of a regular expression: what regex_parse.c writes and regex_run.c executes. */
#ifndef TN_TEXT_REGEX_PROGRAM_H
#define TN_TEXT_REGEX_PROGRAM_H

#include "text/regex.h"
#include "text/unicode_regex.h"

enum tn_regex_op {
    TN_RX_CHAR,     /* x: code point */
    TN_RX_SET,      /* x: set */
    TN_RX_SPLIT,    /* x: first choice, y: second choice, z: number of the choice */
    TN_RX_JUMP,     /* x */
    TN_RX_LOOP_SET, /* set x as often as it goes, then y; z: number of the choice; LAZY: as rarely */
    TN_RX_MATCH,
    TN_RX_ASSERT,   /* x: enum tn_regex_assert */
    TN_RX_LOOK,     /* program at pc + 1 up to its MATCH; x: where to go on; y: negated */
    TN_RX_BEHIND,   /* set x before the position; y: negated */
    TN_RX_ATOMIC    /* program at pc + 1 up to its MATCH; x: where to go on */
};

enum tn_regex_assert { TN_RX_TEXT_BEGIN, TN_RX_TEXT_END, TN_RX_LINE_BEGIN, TN_RX_LINE_END, TN_RX_WORD_EDGE, TN_RX_WORD_INSIDE };

struct tn_regex_code {
    enum tn_regex_op op;
    uint32_t x, y, z;
};

/* One part of a class: a range, or a property. */
struct tn_regex_item {
    uint32_t low, high;    /* a range when high >= low and script is 0 */
    uint32_t categories;   /* else categories, when not 0 */
    uint8_t bits;          /* else bits of tn_uc_regex() */
    uint8_t script;        /* else 1 + a script */
    bool outside;          /* \w outside brackets has a few more */
    bool negated;
};

struct tn_regex_set {
    struct tn_regex_item *items;
    size_t count;
    bool negated;
    uint32_t ascii[4]; /* the answer for the first 128, negation applied */
};

struct tn_regex {
    struct tn_regex_code *code;
    size_t count;
    struct tn_regex_set *sets;
    size_t set_count;
    size_t choices;    /* of the main program and all inner ones */
    bool can_be_empty; /* a match may be */
};

/* Whether a class has a character, by looking at every part: the compiler fills `ascii` by it. */
bool tn_regex_set_search(const struct tn_regex_set *set, uint32_t c);

#endif
