/*
 * Element types of tensors, numbered as the ONNX format numbers them (package/onnx_schema.h has the names and bits), and
 * sets of them. Loads and stores of single elements are for reference kernels and for people; fast kernels know their type.
 */
#ifndef TN_TENSOR_ELEMENT_H
#define TN_TENSOR_ELEMENT_H

#include "package/onnx_schema.h"

/* X(enumerator, number in the format, C type of one element in memory; types below a byte are stored packed) */
#define TN_ELEMENT_TYPE_LIST(X)                                                                    \
    X(F32, 1, float)                                                                               \
    X(U8, 2, uint8_t)                                                                              \
    X(I8, 3, int8_t)                                                                               \
    X(U16, 4, uint16_t)                                                                            \
    X(I16, 5, int16_t)                                                                             \
    X(I32, 6, int32_t)                                                                             \
    X(I64, 7, int64_t)                                                                             \
    X(STRING, 8, struct tn_str)                                                                    \
    X(BOOL, 9, uint8_t)                                                                            \
    X(F16, 10, uint16_t)                                                                           \
    X(F64, 11, double)                                                                             \
    X(U32, 12, uint32_t)                                                                           \
    X(U64, 13, uint64_t)                                                                           \
    X(C64, 14, float)                                                                              \
    X(C128, 15, double)                                                                            \
    X(BF16, 16, uint16_t)                                                                          \
    X(F8E4M3FN, 17, uint8_t)                                                                       \
    X(F8E4M3FNUZ, 18, uint8_t)                                                                     \
    X(F8E5M2, 19, uint8_t)                                                                         \
    X(F8E5M2FNUZ, 20, uint8_t)                                                                     \
    X(U4, 21, uint8_t)                                                                             \
    X(I4, 22, uint8_t)                                                                             \
    X(F4E2M1, 23, uint8_t)                                                                         \
    X(F8E8M0, 24, uint8_t)                                                                         \
    X(U2, 25, uint8_t)                                                                             \
    X(I2, 26, uint8_t)                                                                             \
    X(F6E2M3, 27, uint8_t)                                                                         \
    X(F6E3M2, 28, uint8_t)

enum tn_element {
    TN_EL_NONE = 0,
#define X(name, number, type) TN_EL_##name = number,
    TN_ELEMENT_TYPE_LIST(X)
#undef X
    TN_EL_COUNT
};

/* A set of element types: bit n is type n. */
typedef uint64_t tn_elements;
#define TN_ELS(name) (UINT64_C(1) << TN_EL_##name)
#define TN_ELS_SIGNED (TN_ELS(I8) | TN_ELS(I16) | TN_ELS(I32) | TN_ELS(I64))
#define TN_ELS_UNSIGNED (TN_ELS(U8) | TN_ELS(U16) | TN_ELS(U32) | TN_ELS(U64))
#define TN_ELS_INT (TN_ELS_SIGNED | TN_ELS_UNSIGNED)
#define TN_ELS_FLOAT (TN_ELS(F32) | TN_ELS(F64) | TN_ELS(F16) | TN_ELS(BF16))
#define TN_ELS_NUMBER (TN_ELS_INT | TN_ELS_FLOAT)
#define TN_ELS_F8 (TN_ELS(F8E4M3FN) | TN_ELS(F8E4M3FNUZ) | TN_ELS(F8E5M2) | TN_ELS(F8E5M2FNUZ) | TN_ELS(F8E8M0))
#define TN_ELS_PACKED (TN_ELS(U4) | TN_ELS(I4) | TN_ELS(F4E2M1) | TN_ELS(U2) | TN_ELS(I2))
#define TN_ELS_ALL (~UINT64_C(1))

static inline bool tn_elements_have(tn_elements set, enum tn_element e)
{
    return set >> e & 1;
}

/* Bytes of one element in memory; 0 for types below a byte (TN_ELS_PACKED). A string's is that of struct tn_str. */
size_t tn_element_size(enum tn_element e);
/* Bytes of `count` elements, the last byte of packed types included; false on overflow or for no type. */
bool tn_element_bytes(enum tn_element e, uint64_t count, size_t *out);

/* Element i as a double: exact but for integers beyond 2^53; the real part of complex numbers; not for strings. */
double tn_element_get(enum tn_element e, const void *data, size_t i);
/* The same as an integer: exact for integers and bool; floats are truncated towards zero, saturated, NaN is 0. */
int64_t tn_element_get_int(enum tn_element e, const void *data, size_t i);
/*
 * Floats round to nearest even (float8 and float4: tn_small_float_of). Integers truncate towards zero and wrap, NaN is 0;
 * bool is value != 0.
 */
void tn_element_set(enum tn_element e, void *data, size_t i, double value, bool saturate);
void tn_element_set_int(enum tn_element e, void *data, size_t i, int64_t value);

/* ---- small formats ------------------------------------------------------------------------------------------------ */

/* The number that the low bits of `code` stand for. */
float tn_small_float(enum tn_element e, uint8_t code);
/*
 * To a float8 or float4 format, nearest even. Out of range: `saturate` gives the largest finite value, otherwise
 * infinity where the format has one and NaN where it has none (ONNX, "Cast", the table of float8 conversions).
 */
uint8_t tn_small_float_of(enum tn_element e, float value, bool saturate);

#endif
