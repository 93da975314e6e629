/*
 * What the ONNX standard says of its operators: one row for each operator and version, made by tools/onnx/generate.py
 * from the onnx package (and from ONNX Runtime's list for the contributed ones). Facts alone: whether we can compute a
 * node is for ops/op.h.
 */
#ifndef TN_NET_SCHEMA_H
#define TN_NET_SCHEMA_H

#include "net/net.h"

/* What a port may carry, by what stands around the element type. */
struct tn_schema_types {
    const char *name; /* "T"; of a port with a type of its own: the type as text */
    tn_elements tensor, sequence, optional, optional_sequence, sparse;
    uint8_t maps; /* enum tn_schema_map */
};

/* The maps of ai.onnx.ml, as bits; those of sequences of maps are shifted by 4. */
enum tn_schema_map {
    TN_MAP_TEXT_INT = 1 << 0,  /* map(string, int64) */
    TN_MAP_TEXT_REAL = 1 << 1, /* map(string, float or double) */
    TN_MAP_INT_TEXT = 1 << 2,  /* map(int64, string) */
    TN_MAP_INT_REAL = 1 << 3   /* map(int64, float or double) */
};

enum tn_schema_option { TN_PORT_SINGLE, TN_PORT_OPTIONAL, TN_PORT_VARIADIC };

struct tn_schema_port {
    const char *name;
    uint8_t types; /* index in the row's types */
    uint8_t option;
    bool same; /* a variadic port's values are all of one type */
};

struct tn_schema_attr {
    const char *name;
    uint8_t type; /* enum tn_attr_type */
    bool required, has_default;
    double number; /* default of a float or int */
    const char *text; /* of a string; of strings, joined by commas */
    const int64_t *ints;
    uint8_t int_count;
};

struct tn_op_schema {
    const char *domain, *name;
    int16_t since, last; /* versions of the domain; last 0: still in force */
    bool deprecated;
    uint8_t min_in, max_in, min_out, max_out; /* 255: any number */
    uint8_t in_count, out_count, attr_count, type_count;
    const struct tn_schema_port *in, *out;
    const struct tn_schema_attr *attrs;
    const struct tn_schema_types *types;
};

/* Sorted by domain, name, since. */
extern const struct tn_op_schema tn_op_schemas[];
extern const size_t tn_op_schema_count;
/* The newest opset of the standard when the table was made; of a domain that it does not have: 0. */
int64_t tn_schema_newest(struct tn_str domain);

/* NULL: no such operator in this version; *known then tells whether the operator exists in another one. */
const struct tn_op_schema *tn_op_schema_find(struct tn_str domain, struct tn_str name, int64_t version, bool *known);
const struct tn_schema_attr *tn_schema_attr_find(const struct tn_op_schema *schema, struct tn_str name);
/* The port of operand i, variadic ones included; NULL beyond the last. */
const struct tn_schema_port *tn_schema_in(const struct tn_op_schema *schema, uint32_t i);
const struct tn_schema_port *tn_schema_out(const struct tn_op_schema *schema, uint32_t i);
/* Whether a value of the type may stand there. An unknown type may. */
bool tn_schema_admits(const struct tn_schema_types *types, const struct tn_type *type);

#endif
