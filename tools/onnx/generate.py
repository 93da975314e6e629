#!/usr/bin/env python3
"""Writes src/net/schema_table.c: the operators of the onnx package, and ONNX Runtime's contributed ones that we know.

    generate.py > src/net/schema_table.c

Needs the packages onnx and onnxruntime; the versions stand in the first lines of what it writes.
"""
import math
import re
import sys

import onnx
import onnx.defs
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort

# Contributed operators that real exports use. Training and provider-specific ones stay out.
CONTRIBUTED = """
Attention BiasAdd BiasGelu BiasSplitGelu CDist ConvTransposeWithDynamicPads DequantizeLinear DynamicQuantizeLSTM
DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedConv FusedGemm FusedMatMul FusedMatMulActivation GatherND
Gelu GemmFloat8 GridSample GroupNorm GroupQueryAttention Inverse LayerNormalization MatMulBnb4 MatMulInteger16
MatMulIntegerToFloat MatMulNBits MoE MultiHeadAttention MurmurHash3 NGramRepeatBlock NhwcConv NhwcFusedConv NhwcMaxPool
PackedAttention PackedMultiHeadAttention Pad QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool
QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid
QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu Range ReduceSumInteger RelativePositionBias RotaryEmbedding
SimplifiedLayerNormalization SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization SparseAttention
Tokenizer TransposeMatMul Trilu UnfoldTensor Unique WordConvEmbedding GatherBlockQuantized BiasDropout ExpandDims
CropAndResize DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention ReduceMean BifurcationDetector
""".split()
# ONNX Runtime writes these into the standard's own domain.
ADOPTED = {"SimplifiedLayerNormalization"}
TRAINING = {"ai.onnx.preview.training", "ai.onnx.training"}
ELEMENTS = dict(float="F32", uint8="U8", int8="I8", uint16="U16", int16="I16", int32="I32", int64="I64", string="STRING",
                bool="BOOL", float16="F16", double="F64", uint32="U32", uint64="U64", complex64="C64", complex128="C128",
                bfloat16="BF16", float8e4m3fn="F8E4M3FN", float8e4m3fnuz="F8E4M3FNUZ", float8e5m2="F8E5M2",
                float8e5m2fnuz="F8E5M2FNUZ", uint4="U4", int4="I4", float4e2m1="F4E2M1", float8e8m0="F8E8M0",
                uint2="U2", int2="I2", float6e2m3="F6E2M3", float6e3m2="F6E3M2")
NUMBERS = {name: i for i, name in enumerate(
    "NONE F32 U8 I8 U16 I16 I32 I64 STRING BOOL F16 F64 U32 U64 C64 C128 BF16 F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ U4 I4 "
    "F4E2M1 F8E8M0 U2 I2 F6E2M3 F6E3M2".split())}
MAPS = {("string", "int64"): 1, ("string", "float"): 2, ("string", "double"): 2, ("int64", "string"): 4,
        ("int64", "float"): 8, ("int64", "double"): 8}
SHAPES = [("tensor", r"tensor\((\w+)\)"), ("sequence", r"seq\(tensor\((\w+)\)\)"), ("optional", r"optional\(tensor\((\w+)\)\)"),
          ("optional_sequence", r"optional\(seq\(tensor\((\w+)\)\)\)"), ("sparse", r"sparse_tensor\((\w+)\)")]


def number(value):
    """A C literal of a default: exact, and independent of whoever prints it."""
    if isinstance(value, float) and not value.is_integer():
        return float(value).hex() if math.isfinite(value) else ("INFINITY" if value > 0 else "-INFINITY")
    return str(int(value)) if abs(value) < 2**53 else f"{int(value)}.0"


class Pool:
    """Arrays that several rows share, each written once."""

    def __init__(self, prefix, ctype):
        self.prefix, self.ctype, self.known, self.lines = prefix, ctype, {}, []

    def add(self, items):
        if not items:
            return "NULL"
        key = tuple(items)
        if key not in self.known:
            self.known[key] = f"{self.prefix}{len(self.known)}"
            body = "".join(f"    {item},\n" for item in items)
            self.lines.append(f"static const {self.ctype} {self.known[key]}[] = {{\n{body}}};\n")
        return self.known[key]


def types_row(name, allowed):
    masks, maps = {}, 0
    for text in allowed:
        for kind, pattern in SHAPES:
            match = re.fullmatch(pattern, text)
            if match:
                if match[1] not in ELEMENTS:
                    sys.exit(f"{name}: unknown element type {text}")
                masks[kind] = masks.get(kind, 0) | 1 << NUMBERS[ELEMENTS[match[1]]]
                break
        else:
            match = re.fullmatch(r"(seq\()?map\((\w+), ?(?:tensor\()?(\w+)\)?\)\)?", text)
            if not match or (match[2], match[3]) not in MAPS:
                sys.exit(f"{name}: unknown type {text}")
            maps |= MAPS[match[2], match[3]] << (4 if match[1] else 0)
    fields = [f'.name = "{name}"'] + [f".{kind} = {mask:#x}" for kind, mask in sorted(masks.items())] + ([f".maps = {maps:#x}"] if maps else [])
    return "{" + ", ".join(fields) + "}"


def attribute(a, pool):
    fields = [f'.name = "{a.name}", .type = {int(getattr(a.type, "value", a.type))}'] + ([".required = true"] if a.required else [])
    d = getattr(a, "default_value", None)
    if d is None and getattr(a, "_default_value", b""):
        d = onnx.AttributeProto.FromString(a._default_value)
    if d is not None and d.type:
        fields.append(".has_default = true")
        if d.type == onnx.AttributeProto.FLOAT:
            fields.append(f".number = {number(float(d.f))}")
        elif d.type == onnx.AttributeProto.INT:
            fields.append(f".number = {number(d.i)}")
        elif d.type == onnx.AttributeProto.STRING:
            fields.append(f'.text = "{d.s.decode()}"')
        elif d.type == onnx.AttributeProto.INTS:
            name = pool.add([str(i) for i in d.ints])
            fields.append(f".ints = {name}, .int_count = {len(d.ints)}")
        elif d.type == onnx.AttributeProto.STRINGS:
            fields.append('.text = "' + ",".join(t.decode() for t in d.strings) + '"')
        else:
            sys.exit(f"{a.name}: a default of type {d.type}")
    return "{" + ", ".join(fields) + "}"


def main():
    ports, attrs, types, ints = (Pool("ports", "struct tn_schema_port"), Pool("attrs", "struct tn_schema_attr"),
                                 Pool("types", "struct tn_schema_types"), Pool("ints", "int64_t"))
    schemas = [(s.domain or "ai.onnx", s) for s in onnx.defs.get_all_schemas_with_history() if s.domain not in TRAINING]
    for s in ort.get_all_operator_schema():
        if (s.domain == "com.microsoft" and s.name in CONTRIBUTED) or (s.domain == "" and s.name in ADOPTED):
            schemas.append((s.domain or "ai.onnx", s))
    schemas.sort(key=lambda x: (x[0], x[1].name, x[1].since_version))
    rows = []
    for i, (domain, s) in enumerate(schemas):
        following = schemas[i + 1] if i + 1 < len(schemas) else None
        last = following[1].since_version - 1 if following and (following[0], following[1].name) == (domain, s.name) else 0
        names = {c.type_param_str: list(c.allowed_type_strs) for c in s.type_constraints}
        order = list(names)

        def port(p):
            text = getattr(p, "type_str", None) or getattr(p, "typeStr", None)
            if text not in names:
                names[text] = [text]
                order.append(text)
            option = int(getattr(p.option, "value", p.option))
            homogeneous = getattr(p, "is_homogeneous", getattr(p, "isHomogeneous", True))
            return f'{{"{p.name}", {order.index(text)}, {option}, {"true" if homogeneous else "false"}}}'

        ins, outs = [port(p) for p in s.inputs], [port(p) for p in s.outputs]
        attributes = [attribute(a, ints) for _, a in sorted(s.attributes.items())]
        bound = lambda n: min(n, 255)
        fields = [f'"{domain}"', f'"{s.name}"', s.since_version, last, "true" if s.deprecated else "false", bound(s.min_input),
                  bound(s.max_input), bound(s.min_output), bound(s.max_output), len(ins), len(outs), len(attributes), len(order),
                  ports.add(ins), ports.add(outs), attrs.add(attributes),
                  types.add([types_row(name, names[name]) for name in order])]
        rows.append("    {" + ", ".join(str(f) for f in fields) + "},\n")
    print(f"/* Written by tools/onnx/generate.py from onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}. */")
    print('#include "net/schema.h"\n\n#include <math.h>\n')
    for pool in (ints, types, ports, attrs):
        print("\n".join(pool.lines))
    print("const struct tn_op_schema tn_op_schemas[] = {")
    print("".join(rows) + "};\n")
    print("const size_t tn_op_schema_count = sizeof(tn_op_schemas) / sizeof(tn_op_schemas[0]);\n")
    newest = {"ai.onnx": onnx.defs.onnx_opset_version(), "com.microsoft": 1}
    for domain, version in onnx.helper.VERSION_TABLE and [("ai.onnx.ml", max(s.since_version for d, s in schemas if d == "ai.onnx.ml"))]:
        newest[domain] = version
    print("int64_t tn_schema_newest(struct tn_str domain)\n{")
    for domain, version in sorted(newest.items()):
        print(f'    if (tn_str_is(domain, "{domain}")) return {version};')
    print("    return 0;\n}")


if __name__ == "__main__":
    main()
