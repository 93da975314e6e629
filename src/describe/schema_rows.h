/*
 * Shorthand for rows of a configuration table, so that a table reads as a table. Ranges are inclusive; a default that
 * is NULL makes the field required. Only files that define tables include this.
 */
#ifndef TN_DESCRIBE_SCHEMA_ROWS_H
#define TN_DESCRIBE_SCHEMA_ROWS_H

#include "describe/schema.h"

/* understood */
#define TN_ROW_SIZE(pointer, name, absent, low, high)                                              \
    {(pointer), (name), TN_FIELD_UNDERSTOOD, TN_TYPE_UINT, (absent), NULL, (low), (high)}
#define TN_ROW_NUMBER(pointer, name, absent, low, high)                                            \
    {(pointer), (name), TN_FIELD_UNDERSTOOD, TN_TYPE_NUMBER, (absent), NULL, (low), (high)}
#define TN_ROW_CHOICE(pointer, name, absent, accepted)                                             \
    {(pointer), (name), TN_FIELD_UNDERSTOOD, TN_TYPE_STRING, (absent), (accepted), 0, 0}
#define TN_ROW_FLAG(pointer, name, absent)                                                         \
    {(pointer), (name), TN_FIELD_UNDERSTOOD, TN_TYPE_BOOL, (absent), NULL, 0, 0}
/* kept for people */
#define TN_ROW_DESCRIPTIVE(pointer)                                                                \
    {(pointer), (pointer) + 1, TN_FIELD_DESCRIPTIVE, TN_TYPE_ANY, "null", NULL, 0, 0}
/* refused unless off */
#define TN_ROW_OFF(pointer, off)                                                                   \
    {(pointer), (pointer) + 1, TN_FIELD_SEMANTIC, TN_TYPE_ANY, "null", (off), 0, 0}

/* The spellings of ACT2FN (transformers 4.57 and 5.24) whose formula the native kernels have. */
#define TN_HIDDEN_ACTS                                                                             \
    "\"gelu\" | \"gelu_python\" | \"gelu_new\" | \"gelu_fast\" | \"gelu_pytorch_tanh\" | "         \
    "\"gelu_python_tanh\" | \"gelu_accurate\" | \"quick_gelu\" | \"relu\" | \"relu6\" | "          \
    "\"leaky_relu\" | \"silu\" | \"swish\" | \"mish\" | \"tanh\" | \"sigmoid\" | \"linear\" | "           \
    "\"gelu_10\" | \"hardswish\" | \"laplace\" | \"relu2\" | \"sqrtsoftplus\""

#endif
