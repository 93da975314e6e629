#!/usr/bin/env python3
"""Writes the backend cases of the onnx package as folders: model.onnx, test_data_set_N/{input,output}_K.pb, tolerance.

    backend_cases.py OUT

Kinds: node and model cases are made by the package's own generators; simple, pytorch-*, and light are copied from its
data. A second run over the same version does nothing.
"""
import pathlib
import shutil
import sys
import warnings

import numpy as np
import onnx
import onnx.backend.test.data
from onnx import numpy_helper

warnings.simplefilter("ignore")
DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"


def serialize(value, type_proto):
    kind = type_proto.WhichOneof("value")
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto, onnx.SparseTensorProto, onnx.MapProto)):
        return value.SerializeToString()
    if kind == "map_type":
        return numpy_helper.from_dict(value, "").SerializeToString()
    if kind == "sequence_type":
        return numpy_helper.from_list(value, "").SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, "").SerializeToString()
    return numpy_helper.from_array(np.asarray(value), "").SerializeToString()


def write(folder, case):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "tolerance").write_text(f"{case.rtol} {case.atol}\n")
    for i, (inputs, outputs) in enumerate(case.data_sets):
        one = folder / f"test_data_set_{i}"
        one.mkdir(exist_ok=True)
        for name, values, ports in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for k, value in enumerate(values):
                (one / f"{name}_{k}.pb").write_bytes(serialize(value, ports[k].type))


def light(folder, out):
    """Models of whole networks with weights made by ConstantOfShape; their input is the package's own convention."""
    for path in sorted(folder.glob("*.onnx")):
        case = out / path.stem
        data = case / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, case / "model.onnx")
        shutil.copy(path.with_name(path.stem + "_output_0.pb"), data / "output_0.pb")
        (case / "tolerance").write_text("0.001 1e-07\n")
        model = onnx.load(path)
        constant = {i.name for i in model.graph.initializer}
        for k, port in enumerate(p for p in model.graph.input if p.name not in constant):
            shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            value = (np.arange(count).reshape(shape) / count).astype(np.float32)
            (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value, port.name).SerializeToString())


def main():
    out = pathlib.Path(sys.argv[1])
    stamp = out / "version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    from onnx.backend.test.case.model import collect_testcases as models
    from onnx.backend.test.case.node import collect_testcases as nodes
    for case in nodes(None) if nodes.__code__.co_argcount else nodes():
        write(out / "node" / case.name, case)
    for case in models():
        if case.model is not None:
            write(out / "model" / case.name, case)
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for folder in sorted((DATA / kind).iterdir()):
            if (folder / "model.onnx").exists():
                shutil.copytree(folder, out / kind / folder.name)
                (out / kind / folder.name / "tolerance").write_text("0.001 1e-07\n")
    light(DATA / "light", out / "light")
    stamp.write_text(onnx.__version__)


if __name__ == "__main__":
    main()
