#!/usr/bin/env python3
"""MobileNetV3-Large at 224 x 224 with random weights (Howard et al. 2019, arXiv 1905.02244, table 1), batch norms folded as
exporters do: a row of bench/graphs.py.

    bench/mobilenet.py OUT.onnx
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# kernel, expanded channels, channels, squeeze and excite, hard swish, stride
BLOCKS = [(3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
          (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
          (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)]


class Writer:
    def __init__(self):
        self.rng = np.random.default_rng(224)
        self.nodes, self.weights = [], []

    def op(self, kind, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def conv(self, x, channels, maps, kernel=1, stride=1, groups=1, act=None):
        fan = channels // groups * kernel * kernel
        w = self.weight(self.rng.standard_normal((maps, channels // groups, kernel, kernel)) * np.sqrt(2 / fan))
        b = self.weight(0.1 * self.rng.standard_normal(maps))
        y = self.op("Conv", [x, w, b], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=groups)
        return self.op(act, [y]) if act else y

    def excite(self, x, channels):
        inner = (channels // 4 + 4) // 8 * 8
        s = self.conv(self.op("GlobalAveragePool", [x]), channels, inner, act="Relu")
        s = self.op("HardSigmoid", [self.conv(s, inner, channels)], alpha=1 / 6, beta=0.5)
        return self.op("Mul", [x, s])


def build():
    g = Writer()
    x, channels = g.conv("input", 3, 16, 3, 2, act="HardSwish"), 16
    for kernel, wide, maps, squeeze, swish, stride in BLOCKS:
        act = "HardSwish" if swish else "Relu"
        y = x if wide == channels else g.conv(x, channels, wide, act=act)
        y = g.conv(y, wide, wide, kernel, stride, wide, act=act)
        if squeeze:
            y = g.excite(y, wide)
        y = g.conv(y, wide, maps)
        x, channels = (g.op("Add", [x, y]) if stride == 1 and channels == maps else y), maps
    x = g.op("Flatten", [g.op("GlobalAveragePool", [g.conv(x, 160, 960, act="HardSwish")])])
    for k, n, act in ((960, 1280, True), (1280, 1000, False)):
        w = g.weight(g.rng.standard_normal((n, k)) / np.sqrt(k))
        x = g.op("Gemm", [x, w, g.weight(np.zeros(n))], transB=1)
        x = g.op("HardSwish", [x]) if act else x
    ports = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s)] for n, s in (("input", [1, 3, 224, 224]), (x, [1, 1000]))]
    graph = helper.make_graph(g.nodes, "mobilenet_v3_large", *ports, g.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main():
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    part.write_bytes(build().SerializeToString())
    part.rename(out)


if __name__ == "__main__":
    main()
