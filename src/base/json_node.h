/* The node of a JSON document, shared by parser (json.c), accessors (json_value.c) and yaml.c; private to the three. */
#ifndef TN_BASE_JSON_NODE_H
#define TN_BASE_JSON_NODE_H

#include "base/json.h"

struct tn_json_node {
    uint32_t offset; /* of the first byte in the text */
    uint32_t next;   /* index just past this value and all below it */
    uint32_t parent; /* index of the container, TN_JSON_NO_NODE for the root */
    uint32_t length; /* string: bytes of `s`; others: bytes in the text */
    union {
        const char *s; /* string: its bytes, in the text or unescaped in the arena */
        uint32_t members;
        double number;
    } as;
    uint8_t type;  /* enum tn_json_type */
    uint8_t flags; /* of the enum below */
    uint32_t place; /* of a value: its position among the members of its container */
};
_Static_assert(sizeof(struct tn_json_node) <= 32, "limits.h counts on the size of a node");

#define TN_JSON_NO_NODE UINT32_MAX
enum { TN_JSON_KEY = 1, TN_JSON_TRUE = 2, TN_JSON_INTEGER = 4, TN_JSON_OVERFLOW = 8 };

/*
 * For text that was made from another format: places[i] is the byte in the file of what became node i (keys are nodes
 * too). Text and places are memory of `alloc` and leave the caller, on failure too.
 */
enum tn_status tn_json_parse_places(struct tn_json_doc *doc, struct tn_alloc *alloc, const struct tn_limits *limits,
                                    struct tn_str file, struct tn_str text, uint32_t *places, struct tn_error *err);

static inline struct tn_str tn_json_node_str(const struct tn_json_node *node)
{
    return (struct tn_str){node->as.s, node->length};
}

#endif
