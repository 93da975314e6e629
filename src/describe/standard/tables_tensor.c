/* Types of values at the borders of graphs: element type, shape, and what an axis has to do with the batch.
   Constants; see tables.h for what they decide. */
#include "describe/standard/tables_types.h"
#include "package/onnx_schema.h"

TN_DOC_OBJECT_TYPE(tn_std_tensor_contract, "TensorContract", "Type of a value at a border.",
    TN_DOC_MAY("batch_layout", &tn_std_batch_layout, NULL, "What the value has to do with the rows of a batch."),
    TN_DOC_MUST("dtype", &tn_std_tensor_d_type, "Element type."),
    TN_DOC_MAY("optional", TN_DOC_BOOLEAN, "false", "Whether it may be missing."),
    TN_DOC_MUST("rank", TN_DOC_UINT, "Number of axes."),
    TN_DOC_NULL("shape", TN_DOC_LIST_OF(&tn_std_tensor_dimension), "Size of each axis."));

/*
 * The published schema takes any text here, for extensions. What cannot be an element of any graph is refused all the
 * same: a value whose type nobody knows is connected to nothing, and a misspelt name would pass as a type of its own.
 */
#define X(number, name, bits) name,
#define SPELLINGS "fp32", "fp64", "double", "fp16", "half", "bf16", "fp8_e4m3fn", "float8_e4m3", "fp8_e4m3", "fp8_e5m2"
const struct tn_doctype tn_std_tensor_d_type = {
    .kind = TN_DOC_ENUM,
    .name = "TensorDType",
    .note = "Element types at borders, text included: those that graphs have, with their common spellings.",
    .values = TN_DOC_VALUES(TN_ONNX_ELEMENT_LIST(X) SPELLINGS),
};

const struct tn_doctype tn_std_d_type = {
    .kind = TN_DOC_ENUM,
    .name = "DType",
    .note = "A stored or computed element type, with its common spellings.",
    .values = TN_DOC_VALUES(TN_ONNX_ELEMENT_LIST(X) SPELLINGS),
};
#undef X
#undef SPELLINGS

TN_DOC_CHOICE_TYPE(tn_std_tensor_dimension, "TensorDimension",
                   "A size, or the name of a size that is known at run time.",
                   TN_DOC_INTEGER_TYPE("int64", 0, INT64_MAX), TN_DOC_NAME);

TN_DOC_UNION_TYPE(tn_std_batch_layout, "BatchLayout", "How a value moves when rows of a batch are moved.",
    TN_DOC_BARE_VARIANT("shared", "One value for all requests."),
    TN_DOC_VARIANT("request_aligned", "One entry per request.",
                   TN_DOC_MUST("axis", TN_DOC_UINT, "Axis of the requests.")),
    TN_DOC_VARIANT("request_expanded", "A fixed number of neighbouring entries per request.",
                   TN_DOC_MUST("axis", TN_DOC_UINT, "Axis of the requests."),
                   TN_DOC_MUST("factor", TN_DOC_UINT, "Entries per request.")),
    TN_DOC_VARIANT("token_packed", "All requests' items one after another.",
                   TN_DOC_MUST("axis", TN_DOC_UINT, "Axis of the items."),
                   TN_DOC_MUST("offsets", TN_DOC_NAME, "Value that says where each request's items begin."),
                   TN_DOC_MUST("owner", TN_DOC_NAME, "Value that says whose each item is.")),
    TN_DOC_BARE_VARIANT("runtime_sequence_state", "State that the runtime keeps per sequence."));

TN_DOC_CHOICE_TYPE(tn_std_scalar_value, "ScalarValue", "A truth value, a number or a text.", TN_DOC_BOOLEAN,
                   TN_DOC_INT64, TN_DOC_DOUBLE, TN_DOC_TEXT);

TN_DOC_CHOICE_TYPE(tn_std_literal_value, "LiteralValue", "A scalar for every element, or one per element.",
                   &tn_std_scalar_value, TN_DOC_LIST_OF(&tn_std_scalar_value));
