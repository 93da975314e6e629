"""Small graphs that are packages, and what ONNX Runtime makes of them: tests/golden/tensor.

    python tools/golden/tensor_models.py

Each covers a way in which values go through a call: symbols that inputs share, a default, an output that is an input,
texts, sequences, maps, optionals, a state, external data; and what is refused, all at once. `expected.json` holds inputs
and outputs of the cases by name, in the JSON form of requests.
"""

import json

import common
import numpy as np
import onnx
import onnxruntime as ort
import yaml
from onnx import TensorProto, helper

OUT = common.GOLDEN / "tensor"
F32, I64, STR = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING


def value(name, element, shape):
    return helper.make_tensor_value_info(name, element, shape)


def tensor(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, initializers=(), opset=17, domains=(), ir=8):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, v) for d, v in domains]
    m = helper.make_model(graph, producer_name="tenon tests", opset_imports=opsets)
    m.ir_version = ir
    return m


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=attributes.pop("name", ""), **attributes)


def add():
    """Two inputs of one symbol, a default, an output that is an input."""
    return model([node("Mul", ["b", "scale"], ["scaled"]), node("Add", ["a", "scaled"], ["sum"]), node("Identity", ["a"], ["same/a"])],
                 [value("a", F32, ["n", 2]), value("b", F32, ["n", 2]), value("scale", F32, [1])],
                 [value("sum", F32, ["n", 2]), value("same/a", F32, ["n", 2])], [tensor("scale", np.array([2], np.float32))])


def kinds():
    """Texts, truth values, half precision and 64-bit integers."""
    return model([node("Identity", ["text"], ["text_out"]), node("Not", ["flag"], ["flag_out"]), node("Neg", ["half"], ["half_out"]),
                  node("Abs", ["whole"], ["whole_out"])],
                 [value("text", STR, ["n"]), value("flag", TensorProto.BOOL, ["n"]), value("half", TensorProto.FLOAT16, ["n"]),
                  value("whole", I64, [])],
                 [value("text_out", STR, ["n"]), value("flag_out", TensorProto.BOOL, ["n"]), value("half_out", TensorProto.FLOAT16, ["n"]),
                  value("whole_out", I64, [])])


def sequence():
    """A sequence in and out."""
    inner = helper.make_tensor_type_proto(F32, None)
    ports = [helper.make_value_info(n, helper.make_sequence_type_proto(inner)) for n in ("list", "longer")]
    return model([node("SequenceInsert", ["list", "x"], ["longer"]), node("SequenceLength", ["longer"], ["count"])],
                 [ports[0], value("x", F32, ["k"])], [ports[1], value("count", I64, [])])


def state():
    """One input that is the state of the call before."""
    return model([node("Add", ["state", "x"], ["stateN"]), node("Mul", ["stateN", "two"], ["y"])],
                 [value("x", F32, [1, 2]), value("state", F32, [1, 2])], [value("y", F32, [1, 2]), value("stateN", F32, [1, 2])],
                 [tensor("two", np.array(2, np.float32))])


def stateful():
    """Two states, an input that the package gives a value, and a result."""
    return model([node("Mul", ["x", "gain"], ["scaled"]), node("Add", ["scaled", "acc"], ["y"]), node("Mul", ["acc", "half"], ["less"]),
                  node("Add", ["less", "x"], ["acc_next"]), node("Add", ["count", "one"], ["count_next"])],
                 [value("x", F32, ["n", 2]), value("gain", F32, []), value("acc", F32, ["n", 2]), value("count", I64, [1])],
                 [value("y", F32, ["n", 2]), value("acc_next", F32, ["n", 2]), value("count_next", I64, [1])],
                 [tensor("half", np.array(0.5, np.float32)), tensor("one", np.array([1], np.int64))])


def contract(dtype, *shape):
    return {"dtype": dtype, "rank": len(shape), "shape": list(shape)}


def stateful_metadata():
    """The contract of `stateful`: where its states begin, that they outlive a call, and how its ports are called."""
    rows, batched = {"kind": "request_aligned", "axis": 0}, {}
    aligned = dict(contract("float32", "batch", 2), batch_layout=rows)
    flags = dict(contract("bool", "batch"), batch_layout=rows)

    def given(of, name):
        return {"contract": of, "role": {"kind": "opaque"}, "source": {"kind": "application", "name": name}}

    def literal(of, default):
        return {"contract": of, "role": {"kind": "opaque"}, "source": {"kind": "literal"}, "required": False, "default": default}

    def cell(of, initializer, group):
        return {"contract": of, "scope": "session", "initializer": initializer, "recurrence": {"kind": "invariant"}, "management": "runtime",
                "release_boundary": "session", "service_group": group}

    count = dict(contract("int64", 1), batch_layout={"kind": "runtime_sequence_state"})
    batched["inputs"] = {"request.x": given(aligned, "x"), "package.gain": literal(contract("float32"), 2.0),
                         "package.acc": literal(aligned, 0.0), "package.count": literal(contract("int64", 1), [5]),
                         "request.active": literal(flags, True), "request.done": literal(flags, False)}
    batched["outputs"] = {"result": {"contract": aligned, "role": "tensor", "stage": "pre_adapter"}}
    batched["components"] = {"model": {"implementation": {"kind": "onnx", "artifact": "model.onnx"}}}
    batched["state"] = {"acc": cell(aligned, "package.acc", "sums"), "count": cell(count, "package.count", "counts")}
    batched["steps"] = [{"kind": "invoke", "component": "model", "inputs": {"x": "request.x", "gain": "package.gain", "acc": "package.acc", "count": "package.count"},
                         "outputs": {"y": "model.y", "acc_next": "model.acc", "count_next": "model.count"}},
                        {"kind": "emit", "value": "model.y", "output": "result", "mode": "replace"}]
    group = {"kind": "recurrent", "layout": "bc", "update": {"kind": "replace"}}
    batched["serving"] = {"active": "request.active", "done": "request.done", "state_service": {"groups": {
        "sums": dict(group, ports={"model": {"acc": {"input": "acc", "output": "acc_next"}}}),
        "counts": dict(group, ports={"model": {"count": {"input": "count", "output": "count_next"}}})}}}
    batched["manifest"] = {"capabilities": ["workflow_ssa", "typed_emit", "serving_service_contract", "session_state_lease"]}
    return {"schema_version": "v1", "pipeline": {"workflow": batched}}


def stateful_calls(path):
    """Four calls of two rows, the states carried by hand."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    acc, count, calls = np.zeros((2, 2), np.float32), np.array([5], np.int64), []
    for i in range(4):
        x = (np.arange(4, dtype=np.float32).reshape(2, 2) + i) * np.float32(0.25)
        y, acc, count = session.run(None, {"x": x, "gain": np.array(2, np.float32), "acc": acc, "count": count})
        calls.append({"x": x.reshape(-1).tolist(), "y": y.reshape(-1).tolist(), "acc": acc.reshape(-1).tolist(), "count": count.tolist()})
    return calls


def bodies():
    """Graphs inside nodes with constants of their own: a loop around a product and a branch, and a scan; any number of rows."""
    rng = np.random.default_rng(7)
    weight = tensor("w", rng.standard_normal((4, 4)).astype(np.float32))
    then = helper.make_graph([node("Add", ["m", "c"], ["t"])], "then", [], [value("t", F32, None)], [tensor("c", np.float32(0.25))])
    other = helper.make_graph([node("Mul", ["m", "d"], ["e"])], "else", [], [value("e", F32, None)], [tensor("d", np.float32(-2))])
    body = helper.make_graph([node("MatMul", ["h", "w"], ["m"]), node("If", ["flag"], ["b"], then_branch=then, else_branch=other), node("Tanh", ["b"], ["g"]),
                              node("Identity", ["cond"], ["cond_out"]), node("Identity", ["g"], ["row"])], "body",
                             [value("i", I64, []), value("cond", TensorProto.BOOL, []), value("h", F32, None)],
                             [value("cond_out", TensorProto.BOOL, []), value("g", F32, None), value("row", F32, None)], [weight])
    step = helper.make_graph([node("Add", ["s", "x_t"], ["s_out"]), node("Identity", ["s_out"], ["y_t"])], "step", [value("s", F32, [4]), value("x_t", F32, [4])],
                             [value("s_out", F32, [4]), value("y_t", F32, [4])])
    return model([node("Loop", ["trips", "", "x"], ["last", "all"], body=body), node("Scan", ["zero", "last"], ["sum", "sums"], body=step, num_scan_inputs=1)],
                 [value("x", F32, ["n", 4]), value("flag", TensorProto.BOOL, [])],
                 [value("last", F32, ["n", 4]), value("all", F32, [3, "n", 4]), value("sum", F32, [4]), value("sums", F32, ["n", 4])],
                 [tensor("trips", np.array(3, np.int64)), tensor("zero", np.zeros(4, np.float32))])


def long():
    """As many products one after another as the caller asks for: something to stop."""
    body = helper.make_graph([node("MatMul", ["h", "w"], ["g"]), node("Identity", ["cond"], ["cond_out"])], "body",
                             [value("i", I64, []), value("cond", TensorProto.BOOL, []), value("h", F32, [64, 64])],
                             [value("cond_out", TensorProto.BOOL, []), value("g", F32, [64, 64])])
    return model([node("Loop", ["trips", "", "x"], ["y"], body=body)], [value("x", F32, [64, 64]), value("trips", I64, [])], [value("y", F32, [64, 64])],
                 [tensor("w", np.eye(64, dtype=np.float32))])


def lies():
    """An output that is stated narrower than it comes out."""
    return model([node("Add", ["x", "x"], ["y"]), node("NonZero", ["x"], ["z"])], [value("x", F32, [3])], [value("y", F32, [3]), value("z", I64, [1, 2])])


def zipmap(columns="k", **keys):
    """Scores by class as maps, and the same scores dense, of which the maps are made."""
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(STR if "classlabels_strings" in keys else I64, helper.make_tensor_type_proto(F32, [])))
    scores = helper.make_node("Softmax", ["x"], ["dense"], axis=-1)
    return model([scores, helper.make_node("ZipMap", ["dense"], ["maps"], name="zip", domain="ai.onnx.ml", **keys), node("ArgMax", ["dense"], ["best"], axis=-1, keepdims=0)],
                 [value("x", F32, ["n", columns])], [helper.make_value_info("maps", maps), value("dense", F32, ["n", columns]), value("best", I64, ["n"])],
                 domains=[("ai.onnx.ml", 3)])


def all_gaps():
    """What cannot be computed, in the main graph, in a graph inside a node, and in a function."""
    inside = helper.make_graph([helper.make_node("Inner", ["d"], ["i"], name="inner", domain="com.example")], "then", [], [value("i", F32, ["n"])])
    other = helper.make_graph([node("Identity", ["d"], ["j"])], "else", [], [value("j", F32, ["n"])])
    function = helper.make_function("local.test", "Wrapped", ["a"], ["b"], [helper.make_node("Deep", ["a"], ["b"], name="deep", domain="com.example")],
                                    [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)])
    m = model([node("Frobnicate", ["d"], ["f"], name="frob"), helper.make_node("Foo", ["d"], ["g"], name="foo", domain="com.example"),
               node("If", ["flag"], ["k"], name="branch", then_branch=inside, else_branch=other),
               helper.make_node("Wrapped", ["d"], ["w"], name="wrapped", domain="local.test"), node("Tanh", ["whole"], ["t"], name="typed")],
              [value("d", F32, ["n"]), value("flag", TensorProto.BOOL, []), value("whole", TensorProto.INT32, ["n"])],
              [value(n, F32, ["n"]) for n in ("f", "g", "k", "w")] + [value("t", TensorProto.INT32, ["n"])], domains=[("com.example", 1), ("local.test", 1)])
    m.functions.append(function)
    return m


def gaps():
    """Three nodes that cannot be computed: a type, an operator, a domain."""
    return model([node("Cos", ["d"], ["c"], name="cosine"), node("Frobnicate", ["d"], ["f"], name="frob"),
                  helper.make_node("Foo", ["d"], ["g"], name="foo", domain="com.example")],
                 [value("d", TensorProto.DOUBLE, ["n"])],
                 [value("c", TensorProto.DOUBLE, ["n"]), value("f", TensorProto.DOUBLE, ["n"]), value("g", TensorProto.DOUBLE, ["n"])],
                 domains=[("com.example", 1)])


def softmax(opset):
    """Opset 11 flattens from axis 1, opset 13 takes the last axis alone."""
    return model([node("Softmax", ["x"], ["y"])], [value("x", F32, [1, 2, 2])], [value("y", F32, [1, 2, 2])], opset=opset)


def versions():
    """Opset or IR that is newer than known, 0, missing or there twice."""
    cases = {}
    for name, change in (("opset_newer", lambda m: m.opset_import[0].__setattr__("version", 900)),
                         ("opset_zero", lambda m: m.opset_import[0].__setattr__("version", 0)),
                         ("opset_missing", lambda m: m.ClearField("opset_import")),
                         ("opset_twice", lambda m: m.opset_import.append(helper.make_opsetid("", 13))),
                         ("ir_newer", lambda m: m.__setattr__("ir_version", 900)),
                         ("ir_zero", lambda m: m.__setattr__("ir_version", 0))):
        m = softmax(13)
        change(m)
        cases[name] = m
    return cases


CASES = {
    "add": [{"a": np.array([[1, 2], [3, 4]], np.float32), "b": np.array([[10, 20], [30, 40]], np.float32)},
            {"a": np.zeros((0, 2), np.float32), "b": np.zeros((0, 2), np.float32)},
            {"a": np.ones((1, 2), np.float32), "b": np.ones((1, 2), np.float32), "scale": np.array([-3], np.float32)}],
    "kinds": [{"text": np.array(["", "ä €", "tab\t\"quoted\""]), "flag": np.array([True, False, True]),
               "half": np.array([1.5, -2.25, 65504], np.float16), "whole": np.array(-2**62, np.int64)}],
    "state": [{"x": np.array([[1, 2]], np.float32), "state": np.array([[0.5, 0.25]], np.float32)}],
    "bodies": [{"x": np.arange(8, dtype=np.float32).reshape(2, 4) / 8, "flag": np.array(True)},
               {"x": np.arange(12, dtype=np.float32).reshape(3, 4) / -8, "flag": np.array(False)}],
    "softmax11": [{"x": np.array([[[1, 2], [3, 4]]], np.float32)}],
    "softmax13": [{"x": np.array([[[1, 2], [3, 4]]], np.float32)}],
    "external": [{"x": np.array([1, 2, 3], np.float32)}],
}


def stated(a):
    kind = "string" if a.dtype.kind in "OU" else a.dtype.name
    return {"dtype": kind, "shape": list(a.shape), "data": a.reshape(-1).tolist()}


def external(folder):
    m = model([node("Add", ["x", "w"], ["y"])], [value("x", F32, [3])], [value("y", F32, [3])], [tensor("w", np.array([5, 6, 7], np.float32))])
    folder.mkdir(exist_ok=True)
    onnx.save(m, folder / "model.onnx", save_as_external_data=True, location="model.data", size_threshold=0)
    return m


def write_stateful(folder):
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(stateful().SerializeToString())
    (folder / "inference_metadata.yaml").write_text(yaml.safe_dump(stateful_metadata(), sort_keys=False))


def main():
    OUT.mkdir(exist_ok=True)
    write_stateful(OUT / "stateful")
    models = {"add": add(), "kinds": kinds(), "sequence": sequence(), "state": state(), "gaps": gaps(), "all_gaps": all_gaps(), "zipmap_text": zipmap(classlabels_strings=["zebra", "ant"]), "zipmap_int": zipmap(classlabels_int64s=[7, -3]),
              "zipmap_both": zipmap(classlabels_strings=["a", "b"], classlabels_int64s=[1, 2]), "zipmap_neither": zipmap(),
              "zipmap_short": zipmap(columns=2, classlabels_int64s=[1, 2, 3]), "bodies": bodies(), "long": long(), "lies": lies(), "softmax11": softmax(11),
              "softmax13": softmax(13), **versions()}
    for name, m in models.items():
        (OUT / f"{name}.onnx").write_bytes(m.SerializeToString())
    external(OUT / "external")
    expected = {}
    for name, cases in CASES.items():
        path = OUT / name / "model.onnx" if name == "external" else OUT / f"{name}.onnx"
        session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        expected[name] = [{"inputs": {k: stated(v) for k, v in inputs.items()},
                           "outputs": {k: stated(np.asarray(v)) for k, v in zip(names, session.run(None, inputs))}} for inputs in cases]
    birth = {"made_by": "tools/golden/tensor_models.py", "onnx": onnx.__version__, "onnxruntime": ort.__version__}
    (OUT / "expected.json").write_text(json.dumps({"birth": birth, "cases": expected, "stateful": stateful_calls(OUT / "stateful/model.onnx")}, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
