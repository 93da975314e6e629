/*
 * The messages of onnx.proto as constant tables: number, name and kind of each field. One set of tables serves the wire
 * reader (which wire type a field must have, whether it may stand twice) and the text reader (which names exist). Facts
 * of the format as of onnx 1.23 (IR version 14); a field that is missing here is newer.
 */
#ifndef TN_PACKAGE_ONNX_SCHEMA_H
#define TN_PACKAGE_ONNX_SCHEMA_H

#include "base/status.h"

#define TN_ONNX_MESSAGE_LIST(X)                                                                    \
    X(MODEL, "ModelProto")                                                                         \
    X(GRAPH, "GraphProto")                                                                         \
    X(NODE, "NodeProto")                                                                           \
    X(ATTRIBUTE, "AttributeProto")                                                                 \
    X(TENSOR, "TensorProto")                                                                       \
    X(SEGMENT, "TensorProto.Segment")                                                              \
    X(SPARSE_TENSOR, "SparseTensorProto")                                                          \
    X(VALUE_INFO, "ValueInfoProto")                                                                \
    X(TYPE, "TypeProto")                                                                           \
    X(TYPE_TENSOR, "TypeProto.Tensor")                                                             \
    X(TYPE_SEQUENCE, "TypeProto.Sequence")                                                         \
    X(TYPE_MAP, "TypeProto.Map")                                                                   \
    X(TYPE_OPTIONAL, "TypeProto.Optional")                                                         \
    X(TYPE_SPARSE, "TypeProto.SparseTensor")                                                       \
    X(TYPE_OPAQUE, "TypeProto.Opaque")                                                             \
    X(SHAPE, "TensorShapeProto")                                                                   \
    X(DIMENSION, "TensorShapeProto.Dimension")                                                     \
    X(OPSET, "OperatorSetIdProto")                                                                 \
    X(ENTRY, "StringStringEntryProto")                                                             \
    X(FUNCTION, "FunctionProto")                                                                   \
    X(ANNOTATION, "TensorAnnotation")                                                              \
    X(TRAINING, "TrainingInfoProto")                                                               \
    X(DEVICES, "DeviceConfigurationProto")                                                         \
    X(NODE_DEVICES, "NodeDeviceConfigurationProto")                                                \
    X(SHARDING, "ShardingSpecProto")                                                               \
    X(SHARDED_DIM, "ShardedDimProto")                                                              \
    X(SIMPLE_SHARDED_DIM, "SimpleShardedDimProto")                                                 \
    X(INT_LIST_ENTRY, "IntIntListEntryProto")

enum tn_onnx_message {
#define X(name, text) TN_ONNX_##name,
    TN_ONNX_MESSAGE_LIST(X)
#undef X
    TN_ONNX_MESSAGES
};

enum tn_onnx_field_kind {
    TN_ONNX_INT,  /* signed, 64 bits on the wire */
    TN_ONNX_UINT, /* unsigned */
    TN_ONNX_FLOAT,
    TN_ONNX_DOUBLE,
    TN_ONNX_STRING, /* UTF-8 */
    TN_ONNX_BYTES,
    TN_ONNX_ENUM,   /* `sub` is an enum tn_onnx_enum */
    TN_ONNX_NESTED  /* `sub` is an enum tn_onnx_message */
};

enum tn_onnx_enum { TN_ONNX_ATTRIBUTE_TYPE, TN_ONNX_DATA_LOCATION };

struct tn_onnx_field {
    const char *name;
    uint8_t number, kind, sub;
    bool repeated;
};

const char *tn_onnx_message_name(enum tn_onnx_message message);
/* NULL: no such field. */
const struct tn_onnx_field *tn_onnx_field(enum tn_onnx_message message, uint32_t number);
const struct tn_onnx_field *tn_onnx_field_named(enum tn_onnx_message message, struct tn_str name);
/* Whether values of the field may have this wire type; repeated numbers come packed and one by one. */
bool tn_onnx_field_accepts(const struct tn_onnx_field *field, unsigned wire_type);
/* Number of an enumerator; false: no such name. */
bool tn_onnx_enumerator(enum tn_onnx_enum which, struct tn_str name, uint64_t *out);

/*
 * Element types by the format's own numbers, with the names that the inference-metadata standard uses where it has one
 * ("float32"), and the bits of one element: 0 for strings.
 */
#define TN_ONNX_ELEMENT_LIST(X)                                                                    \
    X(1, "float32", 32)                                                                            \
    X(2, "uint8", 8)                                                                               \
    X(3, "int8", 8)                                                                                \
    X(4, "uint16", 16)                                                                             \
    X(5, "int16", 16)                                                                              \
    X(6, "int32", 32)                                                                              \
    X(7, "int64", 64)                                                                              \
    X(8, "string", 0)                                                                              \
    X(9, "bool", 8)                                                                                \
    X(10, "float16", 16)                                                                           \
    X(11, "float64", 64)                                                                           \
    X(12, "uint32", 32)                                                                            \
    X(13, "uint64", 64)                                                                            \
    X(14, "complex64", 64)                                                                         \
    X(15, "complex128", 128)                                                                       \
    X(16, "bfloat16", 16)                                                                          \
    X(17, "float8_e4m3fn", 8)                                                                      \
    X(18, "float8_e4m3fnuz", 8)                                                                    \
    X(19, "float8_e5m2", 8)                                                                        \
    X(20, "float8_e5m2fnuz", 8)                                                                    \
    X(21, "uint4", 4)                                                                              \
    X(22, "int4", 4)                                                                               \
    X(23, "float4_e2m1", 4)                                                                        \
    X(24, "float8_e8m0", 8)                                                                        \
    X(25, "uint2", 2)                                                                              \
    X(26, "int2", 2)                                                                               \
    X(27, "float6_e2m3", 6)                                                                        \
    X(28, "float6_e3m2", 6)

enum { TN_ONNX_ELEMENT_STRING = 8 };

/* "undefined" for 0, "unknown" for numbers that the format did not have when this was written. */
const char *tn_onnx_element_name(uint32_t type);
bool tn_onnx_element_known(uint32_t type);
unsigned tn_onnx_element_bits(uint32_t type);
/* By that name or the standard's second spelling ("fp16", "half"); 0: none of the format's. */
uint32_t tn_onnx_element_named(struct tn_str name);

#endif
