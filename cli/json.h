/*
 * A small JSON reader for what the program shows to people and for --jsonl lines. It accepts exactly RFC 8259, refuses
 * duplicate keys, unpaired surrogates and more than CLI_JSON_DEPTH levels, and gives the byte where a text is wrong.
 * Values are a tree of nodes with lengths: a string may hold NUL. Looking up what is not there gives NULL, and every
 * getter takes NULL, so that a view of a document needs no checks.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_JSON_DEPTH = 128 };

enum cli_json_type {
    CLI_JSON_NULL,
    CLI_JSON_FALSE,
    CLI_JSON_TRUE,
    CLI_JSON_NUMBER,
    CLI_JSON_STRING,
    CLI_JSON_ARRAY,
    CLI_JSON_OBJECT
};

struct cli_json {
    enum cli_json_type type;
    size_t count;            /* of members or elements */
    const char *key;         /* of a member, decoded */
    size_t key_length;
    const char *text;        /* decoded string, or the number as written; NUL-terminated */
    size_t length;
    struct cli_json *first, *next;
};

struct cli_json_doc {
    const struct cli_json *root;
    size_t fault_at;   /* byte offset of what is wrong */
    const char *fault; /* what is wrong; NULL: nothing */
    void *blocks;      /* memory */
};

/* The whole text is one value. false: `fault` says why, root is NULL. Release the document in either case. */
bool cli_json_parse(struct cli_json_doc *doc, const char *text, size_t n);
void cli_json_release(struct cli_json_doc *doc);

/* Member of an object by name; NULL when it is not there or node is no object. */
const struct cli_json *cli_json_get(const struct cli_json *node, const char *key);
/* Member of a member: "a.b.c". */
const struct cli_json *cli_json_path(const struct cli_json *node, const char *path);
const struct cli_json *cli_json_first(const struct cli_json *node);
size_t cli_json_count(const struct cli_json *node);
bool cli_json_is(const struct cli_json *node, enum cli_json_type type);
bool cli_json_true(const struct cli_json *node);
/* Text of a string, the number as written, "true", "false"; "" for everything else. Valid as long as the document. */
const char *cli_json_text(const struct cli_json *node);
bool cli_json_text_is(const struct cli_json *node, const char *text);
/* false: not a number that fits */
bool cli_json_u64(const struct cli_json *node, uint64_t *out);
double cli_json_double(const struct cli_json *node, double otherwise);

/* The value as JSON again, on one line, numbers as they were written. */
void cli_json_write(struct cli_out *o, const struct cli_json *node);

#endif
