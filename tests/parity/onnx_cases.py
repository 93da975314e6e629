"""Cases of our own in the form of the onnx package's backend cases, with what ONNX Runtime computes as the expected output."""
import argparse
import collections
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float16): TensorProto.FLOAT16, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int16): TensorProto.INT16,
         np.dtype(np.uint16): TensorProto.UINT16, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(np.uint32): TensorProto.UINT32, np.dtype(np.uint64): TensorProto.UINT64, np.dtype(np.bool_): TensorProto.BOOL,
         np.dtype(object): TensorProto.STRING}


def map_proto(value, name):
    """A map with all its values in one tensor."""
    proto, keys = onnx.MapProto(name=name), list(value)
    texts = isinstance(keys[0], str)
    proto.key_type = TensorProto.STRING if texts else TensorProto.INT64
    if texts:
        proto.string_keys.extend(k.encode() for k in keys)
    else:
        proto.keys.extend(int(k) for k in keys)
    values = list(value.values())
    array = np.array(values, object) if isinstance(values[0], str) else np.array(values, np.int64 if isinstance(values[0], int) else np.float32)
    proto.values.elem_type = onnx.SequenceProto.TENSOR
    proto.values.tensor_values.append(numpy_helper.from_array(array))
    return proto


def serialize(value, name):
    if isinstance(value, dict):
        return map_proto(value, name).SerializeToString()
    if isinstance(value, list) and value and isinstance(value[0], dict):
        proto = onnx.SequenceProto(name=name, elem_type=onnx.SequenceProto.MAP)
        proto.map_values.extend(map_proto(v, "") for v in value)
        return proto.SerializeToString()
    if isinstance(value, list):
        return numpy_helper.from_list(value, name).SerializeToString()
    value = np.asarray(value)
    if value.dtype.kind in "US":
        value = value.astype(object)
    return numpy_helper.from_array(value, name).SerializeToString()


class Cases:
    def __init__(self, out):
        self.out = pathlib.Path(out)
        shutil.rmtree(self.out, ignore_errors=True)
        self.count = 0
        self.refused = []

    def model(self, kind, name, model, inputs, tolerance=(1e-4, 1e-5), expected=None, wanted=None):
        """inputs: name to value. False: ONNX Runtime refuses the model or the values."""
        data = model if isinstance(model, bytes) else model.SerializeToString()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        parsed = onnx.ModelProto.FromString(data)
        if expected is None:
            try:
                session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
                expected = session.run(None, inputs)
            except Exception as e:  # what it refuses cannot be compared
                self.refused.append((kind, name, str(e).splitlines()[0][:300]))
                return False
        folder = self.out / kind / name
        one = folder / "test_data_set_0"
        one.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(data)
        (folder / "tolerance").write_text(f"{tolerance[0]} {tolerance[1]}\n")
        constant = {i.name for i in parsed.graph.initializer}
        for k, port in enumerate(p for p in parsed.graph.input if p.name not in constant):
            (one / f"input_{k}.pb").write_bytes(serialize(inputs[port.name], port.name))
        for k, (port, value) in enumerate(zip(parsed.graph.output, expected)):
            (one / f"output_{k}.pb").write_bytes(serialize(value, port.name))
        self.count += 1
        return True

    def node(self, op, inputs, outputs=1, constant=(), domain="com.microsoft", tolerance=(1e-4, 1e-5), kind=None, opset=21, ml=None, shown=None, fixed_shapes=False, attributes=None, **more):
        """inputs: values in order, None absent; indices in `constant` become initialisers. shown: outputs of the graph.
        Attributes by name, or as a dictionary where a name is taken."""
        names = ["" if v is None else f"i{k}" for k, v in enumerate(inputs)]
        outs = [f"o{k}" for k in range(outputs)]
        attributes = {k: v for k, v in {**(attributes or {}), **more}.items() if v is not None}
        node = helper.make_node(op, names, outs, domain=domain, **attributes)
        ports, fixed, feeds = [], [], {}
        for k, value in enumerate(inputs):
            if value is None:
                continue
            if isinstance(value, dict):
                kinds = [TensorProto.STRING if isinstance(v, str) else TensorProto.INT64 if isinstance(v, int) else TensorProto.FLOAT for v in (next(iter(value)), next(iter(value.values())))]
                port_type = helper.make_map_type_proto(kinds[0], helper.make_tensor_type_proto(kinds[1], []))
                ports.append(helper.make_value_info(names[k], port_type))
                feeds[names[k]] = value
                continue
            value = np.asarray(value)
            if k in constant:
                fixed.append(numpy_helper.from_array(value, names[k]))
            else:
                ports.append(helper.make_tensor_value_info(names[k], TYPES[value.dtype], value.shape if fixed_shapes else [f"d{k}_{d}" for d in range(value.ndim)]))
                feeds[names[k]] = value
        results = [helper.make_empty_tensor_value_info(outs[k]) for k in (range(outputs) if shown is None else shown)]
        graph = helper.make_graph([node], "g", ports, results, fixed)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", ml or 3)],
                                  ir_version=10)
        return self.model(kind or op, f"{self.count:05}", model, feeds, tolerance)

    def run(self, binary, threads=1):
        """Our runner over what was written; its exit code."""
        for (kind, why), n in sorted(collections.Counter((kind, why.split("Status Message: ")[-1]) for kind, _, why in self.refused).items()):
            print(f"ONNX Runtime refuses {n} of {kind}: {why[:160]}")
        return subprocess.run([binary, str(self.out), "--threads", str(threads)]).returncode


class Drawn:
    """What makers of random cases draw with. Their methods without an underscore make cases."""

    def __init__(self, cases, seed):
        self.c, self._rng = cases, np.random.default_rng(seed)

    def _real(self, *shape, dtype=np.float32, scale=1.0):
        return (self._rng.standard_normal(shape) * scale).astype(dtype)

    def _pick(self, *options):
        return options[self._rng.integers(len(options))]

    def _int(self, low, high):
        return int(self._rng.integers(low, high))

    def _bytes(self, *shape, dtype=np.uint8):
        info = np.iinfo(dtype)
        return self._rng.integers(info.min, info.max + 1, shape).astype(dtype)


def run_drawn(makers):
    """The command line of a script whose cases are a class of makers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    cases = Cases(args.folder)
    drawn = makers(cases, args.seed)
    for name in sorted(n for n in vars(makers) if not n.startswith("_")):
        if args.only in name:
            getattr(drawn, name)()
    print(f"{cases.count} cases")
    sys.exit(cases.run(args.runner, args.threads))
