/*
 * The capabilities that a standard document's structure uses, wherever they are declared. One row per capability: adding
 * one is adding a row. What a document must declare (check_capabilities.c) and what it asks of the runtime that executes
 * it (requirements) are both read from here.
 */
#ifndef TN_DESCRIBE_STANDARD_USES_H
#define TN_DESCRIBE_STANDARD_USES_H

#include "describe/standard/standard.h"

struct tn_standard_use {
    const char *id;
    const char *structure; /* "a loop": for people */
    struct tn_json place;  /* the first of it */
};

enum { TN_STANDARD_USES = 17 };

/* Fills out[TN_STANDARD_USES] and returns how many there are. */
size_t tn_standard_uses(const struct tn_standard *doc, struct tn_standard_use *out);

#endif
