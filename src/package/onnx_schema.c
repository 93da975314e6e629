/* The tables of onnx_schema.h: constants and look-ups, nothing that reads a file. */
#include "package/onnx_schema.h"

#include "package/wire.h"

#define ONE(number, name, kind) {name, number, TN_ONNX_##kind, 0, false}
#define MANY(number, name, kind) {name, number, TN_ONNX_##kind, 0, true}
#define SUB(number, name, message) {name, number, TN_ONNX_NESTED, TN_ONNX_##message, false}
#define SUBS(number, name, message) {name, number, TN_ONNX_NESTED, TN_ONNX_##message, true}
#define ENUM(number, name, which) {name, number, TN_ONNX_ENUM, TN_ONNX_##which, false}
#define END {NULL, 0, 0, 0, false}

static const struct tn_onnx_field model[] = {
    ONE(1, "ir_version", INT),
    ONE(2, "producer_name", STRING),
    ONE(3, "producer_version", STRING),
    ONE(4, "domain", STRING),
    ONE(5, "model_version", INT),
    ONE(6, "doc_string", STRING),
    SUB(7, "graph", GRAPH),
    SUBS(8, "opset_import", OPSET),
    SUBS(14, "metadata_props", ENTRY),
    SUBS(20, "training_info", TRAINING),
    SUBS(25, "functions", FUNCTION),
    SUBS(26, "configuration", DEVICES),
    END,
};

static const struct tn_onnx_field graph[] = {
    SUBS(1, "node", NODE),
    ONE(2, "name", STRING),
    SUBS(5, "initializer", TENSOR),
    ONE(10, "doc_string", STRING),
    SUBS(11, "input", VALUE_INFO),
    SUBS(12, "output", VALUE_INFO),
    SUBS(13, "value_info", VALUE_INFO),
    SUBS(14, "quantization_annotation", ANNOTATION),
    SUBS(15, "sparse_initializer", SPARSE_TENSOR),
    SUBS(16, "metadata_props", ENTRY),
    END,
};

static const struct tn_onnx_field node[] = {
    MANY(1, "input", STRING),
    MANY(2, "output", STRING),
    ONE(3, "name", STRING),
    ONE(4, "op_type", STRING),
    SUBS(5, "attribute", ATTRIBUTE),
    ONE(6, "doc_string", STRING),
    ONE(7, "domain", STRING),
    ONE(8, "overload", STRING),
    SUBS(9, "metadata_props", ENTRY),
    SUBS(10, "device_configurations", NODE_DEVICES),
    END,
};

static const struct tn_onnx_field attribute[] = {
    ONE(1, "name", STRING),
    ONE(2, "f", FLOAT),
    ONE(3, "i", INT),
    ONE(4, "s", BYTES),
    SUB(5, "t", TENSOR),
    SUB(6, "g", GRAPH),
    MANY(7, "floats", FLOAT),
    MANY(8, "ints", INT),
    MANY(9, "strings", BYTES),
    SUBS(10, "tensors", TENSOR),
    SUBS(11, "graphs", GRAPH),
    ONE(13, "doc_string", STRING),
    SUB(14, "tp", TYPE),
    SUBS(15, "type_protos", TYPE),
    ENUM(20, "type", ATTRIBUTE_TYPE),
    ONE(21, "ref_attr_name", STRING),
    SUB(22, "sparse_tensor", SPARSE_TENSOR),
    SUBS(23, "sparse_tensors", SPARSE_TENSOR),
    END,
};

static const struct tn_onnx_field tensor[] = {
    MANY(1, "dims", INT),
    ONE(2, "data_type", INT),
    SUB(3, "segment", SEGMENT),
    MANY(4, "float_data", FLOAT),
    MANY(5, "int32_data", INT),
    MANY(6, "string_data", BYTES),
    MANY(7, "int64_data", INT),
    ONE(8, "name", STRING),
    ONE(9, "raw_data", BYTES),
    MANY(10, "double_data", DOUBLE),
    MANY(11, "uint64_data", UINT),
    ONE(12, "doc_string", STRING),
    SUBS(13, "external_data", ENTRY),
    ENUM(14, "data_location", DATA_LOCATION),
    SUBS(16, "metadata_props", ENTRY),
    END,
};

static const struct tn_onnx_field segment[] = {ONE(1, "begin", INT), ONE(2, "end", INT), END};

static const struct tn_onnx_field sparse_tensor[] = {
    SUB(1, "values", TENSOR),
    SUB(2, "indices", TENSOR),
    MANY(3, "dims", INT),
    END,
};

static const struct tn_onnx_field value_info[] = {
    ONE(1, "name", STRING),
    SUB(2, "type", TYPE),
    ONE(3, "doc_string", STRING),
    SUBS(4, "metadata_props", ENTRY),
    END,
};

static const struct tn_onnx_field type[] = {
    SUB(1, "tensor_type", TYPE_TENSOR),
    SUB(4, "sequence_type", TYPE_SEQUENCE),
    SUB(5, "map_type", TYPE_MAP),
    ONE(6, "denotation", STRING),
    SUB(7, "opaque_type", TYPE_OPAQUE),
    SUB(8, "sparse_tensor_type", TYPE_SPARSE),
    SUB(9, "optional_type", TYPE_OPTIONAL),
    END,
};

static const struct tn_onnx_field type_tensor[] = {ONE(1, "elem_type", INT), SUB(2, "shape", SHAPE), END};
static const struct tn_onnx_field type_sequence[] = {SUB(1, "elem_type", TYPE), END};
static const struct tn_onnx_field type_map[] = {ONE(1, "key_type", INT), SUB(2, "value_type", TYPE), END};
static const struct tn_onnx_field type_opaque[] = {ONE(1, "domain", STRING), ONE(2, "name", STRING), END};
static const struct tn_onnx_field shape[] = {SUBS(1, "dim", DIMENSION), END};

static const struct tn_onnx_field dimension[] = {
    ONE(1, "dim_value", INT),
    ONE(2, "dim_param", STRING),
    ONE(3, "denotation", STRING),
    END,
};

static const struct tn_onnx_field opset[] = {ONE(1, "domain", STRING), ONE(2, "version", INT), END};
static const struct tn_onnx_field entry[] = {ONE(1, "key", STRING), ONE(2, "value", STRING), END};

static const struct tn_onnx_field function[] = {
    ONE(1, "name", STRING),
    MANY(4, "input", STRING),
    MANY(5, "output", STRING),
    MANY(6, "attribute", STRING),
    SUBS(7, "node", NODE),
    ONE(8, "doc_string", STRING),
    SUBS(9, "opset_import", OPSET),
    ONE(10, "domain", STRING),
    SUBS(11, "attribute_proto", ATTRIBUTE),
    SUBS(12, "value_info", VALUE_INFO),
    ONE(13, "overload", STRING),
    SUBS(14, "metadata_props", ENTRY),
    END,
};

static const struct tn_onnx_field annotation[] = {
    ONE(1, "tensor_name", STRING),
    SUBS(2, "quant_parameter_tensor_names", ENTRY),
    END,
};

static const struct tn_onnx_field training[] = {
    SUB(1, "initialization", GRAPH),
    SUB(2, "algorithm", GRAPH),
    SUBS(3, "initialization_binding", ENTRY),
    SUBS(4, "update_binding", ENTRY),
    END,
};

static const struct tn_onnx_field devices[] = {
    ONE(1, "name", STRING),
    ONE(2, "num_devices", INT),
    MANY(3, "device", STRING),
    END,
};

static const struct tn_onnx_field node_devices[] = {
    ONE(1, "configuration_id", STRING),
    SUBS(2, "sharding_spec", SHARDING),
    ONE(3, "pipeline_stage", INT),
    END,
};

static const struct tn_onnx_field sharding[] = {
    ONE(1, "tensor_name", STRING),
    MANY(2, "device", INT),
    SUBS(3, "index_to_device_group_map", INT_LIST_ENTRY),
    SUBS(4, "sharded_dim", SHARDED_DIM),
    END,
};

static const struct tn_onnx_field sharded_dim[] = {
    ONE(1, "axis", INT),
    SUBS(2, "simple_sharding", SIMPLE_SHARDED_DIM),
    END,
};

static const struct tn_onnx_field simple_sharded_dim[] = {
    ONE(1, "dim_value", INT),
    ONE(2, "dim_param", STRING),
    ONE(3, "num_shards", INT),
    END,
};

static const struct tn_onnx_field int_list_entry[] = {ONE(1, "key", INT), MANY(2, "value", INT), END};

static const char *const names[] = {
#define X(name, text) text,
    TN_ONNX_MESSAGE_LIST(X)
#undef X
};

static const struct tn_onnx_field *const fields[TN_ONNX_MESSAGES] = {
    [TN_ONNX_MODEL] = model,
    [TN_ONNX_GRAPH] = graph,
    [TN_ONNX_NODE] = node,
    [TN_ONNX_ATTRIBUTE] = attribute,
    [TN_ONNX_TENSOR] = tensor,
    [TN_ONNX_SEGMENT] = segment,
    [TN_ONNX_SPARSE_TENSOR] = sparse_tensor,
    [TN_ONNX_VALUE_INFO] = value_info,
    [TN_ONNX_TYPE] = type,
    [TN_ONNX_TYPE_TENSOR] = type_tensor,
    [TN_ONNX_TYPE_SEQUENCE] = type_sequence,
    [TN_ONNX_TYPE_MAP] = type_map,
    [TN_ONNX_TYPE_OPTIONAL] = type_sequence,
    [TN_ONNX_TYPE_SPARSE] = type_tensor,
    [TN_ONNX_TYPE_OPAQUE] = type_opaque,
    [TN_ONNX_SHAPE] = shape,
    [TN_ONNX_DIMENSION] = dimension,
    [TN_ONNX_OPSET] = opset,
    [TN_ONNX_ENTRY] = entry,
    [TN_ONNX_FUNCTION] = function,
    [TN_ONNX_ANNOTATION] = annotation,
    [TN_ONNX_TRAINING] = training,
    [TN_ONNX_DEVICES] = devices,
    [TN_ONNX_NODE_DEVICES] = node_devices,
    [TN_ONNX_SHARDING] = sharding,
    [TN_ONNX_SHARDED_DIM] = sharded_dim,
    [TN_ONNX_SIMPLE_SHARDED_DIM] = simple_sharded_dim,
    [TN_ONNX_INT_LIST_ENTRY] = int_list_entry,
};

const char *tn_onnx_message_name(enum tn_onnx_message message)
{
    return names[message];
}

const struct tn_onnx_field *tn_onnx_field(enum tn_onnx_message message, uint32_t number)
{
    const struct tn_onnx_field *f = fields[message];
    while (f->name && f->number != number) f++;
    return f->name ? f : NULL;
}

const struct tn_onnx_field *tn_onnx_field_named(enum tn_onnx_message message, struct tn_str name)
{
    const struct tn_onnx_field *f = fields[message];
    while (f->name && !tn_str_is(name, f->name)) f++;
    return f->name ? f : NULL;
}

bool tn_onnx_field_accepts(const struct tn_onnx_field *field, unsigned wire_type)
{
    unsigned own = TN_WIRE_BYTES;
    switch ((enum tn_onnx_field_kind)field->kind) {
    case TN_ONNX_INT:
    case TN_ONNX_UINT:
    case TN_ONNX_ENUM: own = TN_WIRE_VARINT; break;
    case TN_ONNX_FLOAT: own = TN_WIRE_FIXED32; break;
    case TN_ONNX_DOUBLE: own = TN_WIRE_FIXED64; break;
    case TN_ONNX_STRING:
    case TN_ONNX_BYTES:
    case TN_ONNX_NESTED: break;
    }
    return wire_type == own || (field->repeated && wire_type == TN_WIRE_BYTES);
}

/* ---- enumerations ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint8_t which, value;
} enumerators[] = {
    {"UNDEFINED", TN_ONNX_ATTRIBUTE_TYPE, 0},     {"FLOAT", TN_ONNX_ATTRIBUTE_TYPE, 1},
    {"INT", TN_ONNX_ATTRIBUTE_TYPE, 2},           {"STRING", TN_ONNX_ATTRIBUTE_TYPE, 3},
    {"TENSOR", TN_ONNX_ATTRIBUTE_TYPE, 4},        {"GRAPH", TN_ONNX_ATTRIBUTE_TYPE, 5},
    {"FLOATS", TN_ONNX_ATTRIBUTE_TYPE, 6},        {"INTS", TN_ONNX_ATTRIBUTE_TYPE, 7},
    {"STRINGS", TN_ONNX_ATTRIBUTE_TYPE, 8},       {"TENSORS", TN_ONNX_ATTRIBUTE_TYPE, 9},
    {"GRAPHS", TN_ONNX_ATTRIBUTE_TYPE, 10},       {"SPARSE_TENSOR", TN_ONNX_ATTRIBUTE_TYPE, 11},
    {"SPARSE_TENSORS", TN_ONNX_ATTRIBUTE_TYPE, 12}, {"TYPE_PROTO", TN_ONNX_ATTRIBUTE_TYPE, 13},
    {"TYPE_PROTOS", TN_ONNX_ATTRIBUTE_TYPE, 14},  {"DEFAULT", TN_ONNX_DATA_LOCATION, 0},
    {"EXTERNAL", TN_ONNX_DATA_LOCATION, 1},
};

bool tn_onnx_enumerator(enum tn_onnx_enum which, struct tn_str name, uint64_t *out)
{
    for (size_t i = 0; i < sizeof(enumerators) / sizeof(enumerators[0]); i++) {
        if (enumerators[i].which != (uint8_t)which || !tn_str_is(name, enumerators[i].name)) continue;
        *out = enumerators[i].value;
        return true;
    }
    return false;
}

/* ---- element types ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bits;
} elements[] = {
    [0] = {"undefined", 0},
#define X(number, text, width) [number] = {text, width},
    TN_ONNX_ELEMENT_LIST(X)
#undef X
};

enum { ELEMENTS = sizeof(elements) / sizeof(elements[0]) };

const char *tn_onnx_element_name(uint32_t element)
{
    return element < ELEMENTS ? elements[element].name : "unknown";
}

bool tn_onnx_element_known(uint32_t element)
{
    return element > 0 && element < ELEMENTS;
}

unsigned tn_onnx_element_bits(uint32_t element)
{
    return element < ELEMENTS ? elements[element].bits : 0;
}

uint32_t tn_onnx_element_named(struct tn_str name)
{
    static const struct {
        const char *also;
        uint32_t number;
    } spellings[] = {{"fp32", 1}, {"fp16", 10}, {"half", 10}, {"bf16", 16}, {"fp64", 11}, {"double", 11},
                     {"fp8_e4m3fn", 17}, {"float8_e4m3", 17}, {"fp8_e4m3", 17}, {"fp8_e5m2", 19}};
    for (uint32_t i = 1; i < ELEMENTS; i++) {
        if (tn_str_is(name, elements[i].name)) return i;
    }
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        if (tn_str_is(name, spellings[i].also)) return spellings[i].number;
    }
    return 0;
}
