/*
 * What a package says about texts that become several vectors, one for each token: how queries and documents are cut, how
 * a query is filled up, and which tokens have no vector in the result. Filled by dialects, read by the task.
 */
#ifndef TN_DESCRIBE_MULTI_VECTOR_H
#define TN_DESCRIBE_MULTI_VECTOR_H

#include "base/status.h"

/* The two roles that such a package tells apart; their names are those of the prompts in front. */
enum tn_text_role { TN_OF_QUERY, TN_OF_DOCUMENT, TN_TEXT_ROLES };

const char *tn_text_role_name(enum tn_text_role role);

struct tn_expansion {
    uint64_t length;     /* a query has at least so many tokens, special ones included; 0: it is not filled up */
    bool fixed;          /* and no more */
    bool attended;       /* the tokens that fill it up are seen by the others */
    bool kept;           /* their vectors belong to the result */
    struct tn_str token; /* that fills it up, by the vocabulary's name */
};

struct tn_multi_vector {
    uint64_t length[TN_TEXT_ROLES]; /* longest text of the role in tokens, special ones included; 0: max_seq_length */
    struct tn_expansion expansion;
    struct tn_str *skip;            /* tokens of which no vector is kept */
    uint32_t skip_count;
    bool skips[TN_TEXT_ROLES];      /* in texts of this role */
    /*
     * Beginnings of prompts that the tokenizer has to keep whole: where the vocabulary has such a text, or its first word,
     * and the tokenizer would take it apart, it becomes a special token that no normaliser touches.
     */
    struct tn_str *markers;
    uint32_t marker_count;
};

#endif
