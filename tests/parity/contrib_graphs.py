#!/usr/bin/env python3
"""Contributed operators over quantised operands, and those of the standard that few exports have, against ONNX Runtime.

    contrib_graphs.py RUNNER FOLDER [--only OPERATOR] [--seed N]

RUNNER is build/tests/onnx-backend; cases are written to FOLDER. Needs the packages numpy, onnx and onnxruntime. Tolerances:
8-bit results may differ by one step, where two roundings of the same number fall apart.
"""
import numpy as np

from onnx_cases import Drawn, run_drawn

f32, f16 = np.float32, np.float16
STEP = (0, 1)


class Makers(Drawn):
    def _level(self, dtype):
        """A scale and a zero point."""
        return [np.array(self._rng.uniform(0.005, 0.1), f32), self._bytes(1, dtype=dtype)[0]]

    def elementwise(self):
        for i in range(40):
            dtype = self._pick(np.uint8, np.int8)
            a, b = self._pick(((3, 4, 5), (5,)), ((7,), (7,)), ((2, 1, 6), (3, 1)), ((1,), (4, 3)), ((2, 33), (1,)), ((), (5,)))
            for op in ("QLinearAdd", "QLinearMul"):
                self.c.node(op, [self._bytes(*a, dtype=dtype), *self._level(dtype), self._bytes(*b, dtype=dtype), *self._level(dtype), *self._level(dtype)], tolerance=STEP,
                            constant=(1, 2, 4, 5, 6, 7))
            x = self._bytes(*a, dtype=dtype)
            self.c.node("QLinearSigmoid", [x, *self._level(dtype), np.array(1 / 256, f32), np.array(0 if dtype is np.uint8 else -128, dtype)], tolerance=STEP, constant=(1, 2, 3, 4))
            self.c.node("QLinearLeakyRelu", [x, *self._level(dtype), *self._level(dtype)], tolerance=STEP, constant=(1, 2, 3, 4), alpha=self._pick(None, 0.2))
            yes = self._rng.integers(0, 2, self._pick(a, (1,))).astype(bool)
            self.c.node("QLinearWhere", [yes, x, *self._level(dtype), self._bytes(*b, dtype=dtype), *self._level(dtype), *self._level(dtype)], tolerance=STEP,
                        constant=(2, 3, 5, 6, 7, 8))

    def QLinearConcat(self):
        for i in range(20):
            dtype, axis = self._pick(np.uint8, np.int8), self._pick(0, 1, -1)
            parts, fixed = [], [0, 1]
            for k in range(int(self._rng.integers(1, 5))):
                shape = [2, 3, 4]
                shape[axis] = int(self._rng.integers(1, 6))
                fixed += [len(parts) + 3, len(parts) + 4]
                parts += [self._bytes(*shape, dtype=dtype), *self._level(dtype)]
            self.c.node("QLinearConcat", [*self._level(dtype), *parts], tolerance=STEP, constant=tuple(fixed), axis=axis)

    def QLinearSoftmax(self):
        for i in range(16):
            dtype, shape = self._pick(np.uint8, np.int8), self._pick((3, 10), (2, 3, 5), (1, 4, 2, 6))
            self.c.node("QLinearSoftmax", [self._bytes(*shape, dtype=dtype), *self._level(dtype), np.array(1 / 256, f32), np.array(0 if dtype is np.uint8 else -128, dtype)], tolerance=STEP,
                        constant=(1, 2, 3, 4), axis=self._pick(-1, 1), attributes={"opset": self._pick(11, 13)})

    def pools(self):
        for i in range(16):
            dtype = self._pick(np.uint8, np.int8)
            x = self._bytes(2, 3, int(self._rng.integers(4, 12)), int(self._rng.integers(4, 12)), dtype=dtype)
            self.c.node("QLinearGlobalAveragePool", [x, *self._level(dtype), *self._level(dtype)], tolerance=STEP, constant=(1, 2, 3, 4))
            self.c.node("QLinearAveragePool", [x, *self._level(dtype), *self._level(dtype)], tolerance=STEP, constant=(1, 2, 3, 4), kernel_shape=[3, 2], strides=self._pick(None, [2, 1]),
                        pads=self._pick(None, [1, 0, 1, 1]), **self._pick({}, dict(count_include_pad=1), dict(ceil_mode=1), dict(count_include_pad=1, ceil_mode=1)))

    def QAttention(self):
        for i in range(24):
            batch, rows, heads, dim, width = *self._rng.integers(1, 5, 3), self._pick(4, 8), int(self._rng.integers(4, 24))
            at, wt, d = np.uint8, self._pick(np.uint8, np.int8), int(heads) * self._pick(4, 8)
            columns = 3 * d
            mask = self._pick(None, self._rng.integers(0, 2, (batch, rows)).astype(np.int32), self._rng.integers(1, rows + 1, (batch,)).astype(np.int32))
            scale = self._pick(np.array(0.01, f32), (np.abs(self._real(columns)) * 0.01 + 0.001).astype(f32))
            zero = self._bytes(*scale.shape, dtype=wt)
            past = self._real(2, batch, heads, 3, d // heads) if i % 3 == 2 and mask is None else None
            self.c.node("QAttention", [self._bytes(batch, rows, width, dtype=at), self._bytes(width, columns, dtype=wt), self._real(columns), np.array(0.02, f32), scale, mask, np.array(120, at), zero, past],
                        outputs=2 if past is not None else 1, constant=self._pick((1, 2, 4, 7), ()), num_heads=int(heads), unidirectional=self._pick(None, 1), tolerance=(1e-3, 1e-3))

    def DynamicQuantizeLSTM(self):
        for i in range(16):
            directions, steps, batch, width, hidden = self._pick(1, 2), *(int(k) for k in self._rng.integers(1, 6, 2)), self._pick(8, 33), self._pick(8, 16)
            wt, per_column = self._pick(np.uint8, np.int8), self._pick(True, False)
            levels = []
            for k in range(2):
                shape = (directions, 4 * hidden) if per_column else (directions,)
                levels += [(np.abs(self._real(*shape)) * 0.002 + 0.001).astype(f32), np.zeros(shape, wt) if wt is np.int8 else np.full(shape, 128, wt)]
            self.c.node("DynamicQuantizeLSTM", [self._real(steps, batch, width), self._bytes(directions, width, 4 * hidden, dtype=wt), self._bytes(directions, hidden, 4 * hidden, dtype=wt),
                        self._real(directions, 8 * hidden, scale=0.1), None, self._pick(None, self._real(directions, batch, hidden)), self._pick(None, self._real(directions, batch, hidden)), None, *levels],
                        outputs=3, constant=(1, 2, 3, 8, 9, 10, 11), hidden_size=hidden, direction="bidirectional" if directions == 2 else "forward", tolerance=(0, 3e-2))

    def MatMulBnb4(self):
        for kind in (0, 1):
            for block in (16, 64, 128):
                k, n = self._pick(64, 96, 128), self._pick(8, 33)
                a = self._real(*self._pick((1, k), (5, k), (2, 3, k)))
                blocks = -(-k * n // block)
                self.c.node("MatMulBnb4", [a, self._bytes((k * n + 1) // 2), np.abs(self._real(blocks))], constant=(1, 2), K=k, N=n, block_size=block, quant_type=kind, tolerance=(1e-4, 2e-4))

    def GatherBlockQuantized(self):
        from onnx import TensorProto
        for i in range(20):
            bits, block = self._pick(4, 8), self._pick(16, 32)
            rows, width = int(self._rng.integers(2, 9)), block * int(self._rng.integers(1, 4))
            data = self._bytes(rows, width * bits // 8)
            scales = self._real(rows, width // block, scale=0.1)
            zeros = self._bytes(rows, -(-width // block * bits // 8)) if self._pick(True, False) else None
            at = self._rng.integers(-rows, rows, self._pick((3,), (2, 2), ())).astype(self._pick(np.int32, np.int64))
            self.c.node("GatherBlockQuantized", [data, at, scales, zeros], constant=(0, 2, 3), gather_axis=0, quantize_axis=1, block_size=block, bits=bits)

    def Inverse(self):
        for shape in ((3, 3), (2, 5, 5), (1, 1), (2, 2, 8, 8)):
            self.c.node("Inverse", [self._real(*shape) + 3 * np.eye(shape[-1], dtype=f32)], tolerance=(1e-3, 1e-4))
            self.c.node("Det", [self._real(*shape)], domain="", tolerance=(1e-3, 1e-4))

    def CenterCropPad(self):
        for i in range(30):
            shape = [int(k) for k in self._rng.integers(1, 8, self._pick(2, 3, 4))]
            axes = self._pick(None, [0], [-1, 0], [1])
            want = self._rng.integers(1, 9, len(axes) if axes else len(shape))
            self.c.node("CenterCropPad", [self._real(*shape), want], domain="", axes=axes, constant=self._pick((1,), ()))

    def RegexFullMatch(self):
        pieces = ["a", "b", ".", "\\d", "\\w", "[ab]", "[^a]", "(a|b)", "(ab|a)", "a*", "b+", "(?:ab)?", "a{2}", "[a-c]{1,2}", "(?i)B", "\\s", "^", "$", "\\b", "x|", "[[:alpha:]]", "\\.", "(?s).", "1"]
        words = ["".join(self._pick("a", "b", "c", "1", " ", ".", "\n", "B") for _ in range(n)) for n in self._rng.integers(0, 7, 400)]
        for i in range(150):
            pattern = "".join(self._pick(*pieces) for _ in range(int(self._rng.integers(1, 6))))
            self.c.node("RegexFullMatch", [np.array(words, object)], domain="", pattern=pattern)
        for pattern, words in ((r"[\w.+-]+@[\w-]+(\.[\w-]+)+", ["a.b@c.de", "a@b", "@c.de"]), (r"(\d{1,3}\.){3}\d{1,3}", ["1.2.3.4", "1.2.3", "1234.1.1.1"]), (r"www[\w.-]+\.\bcom\b", ["www.x.com", "www.com"])):
            self.c.node("RegexFullMatch", [np.array(words, object)], domain="", pattern=pattern)


if __name__ == "__main__":
    run_drawn(Makers)
