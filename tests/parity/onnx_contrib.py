#!/usr/bin/env python3
"""Contributed operators (com.microsoft) against ONNX Runtime: random shapes and attributes.

    onnx_contrib.py RUNNER FOLDER [--only OPERATOR] [--seed N]

RUNNER is build/tests/onnx-backend; cases are written to FOLDER. Needs the packages numpy, onnx and onnxruntime.
"""
import argparse
import sys

import numpy as np

from onnx_cases import Cases

f32, f16 = np.float32, np.float16


class Makers:
    def __init__(self, cases, seed):
        self.c, self.rng = cases, np.random.default_rng(seed)

    def real(self, *shape, dtype=f32, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(dtype)

    def pick(self, *options):
        return options[self.rng.integers(len(options))]

    def int(self, low, high):
        return int(self.rng.integers(low, high))

    def bytes(self, *shape, dtype=np.uint8):
        info = np.iinfo(dtype)
        return self.rng.integers(info.min, info.max + 1, shape).astype(dtype)

    # ---- products of quantised weights ----

    def MatMulNBits(self):
        for bits in (4, 8, 2):
            for block in (16, 32, 64, 128, 256):
                for form in range(4):
                    k, n = self.pick(32, 64, 96, 100, 384, 17), self.pick(1, 3, 16, 33, 64)
                    blocks = -(-k // block)
                    a = self.real(*self.pick((1, k), (5, k), (2, 3, k), (9, k)))
                    b = self.bytes(n, blocks, block * bits // 8)
                    scales = self.real(n, blocks, scale=0.05)
                    zeros = None
                    if form == 1:
                        zeros = self.bytes(n, -(-blocks * bits // 8))
                    elif form == 2:
                        zeros = self.real(n, blocks, scale=4.0) + 2 ** (bits - 1)
                        zeros = zeros.astype(f32)
                    groups = self.rng.permutation(np.arange(blocks * block) // block).astype(np.int32) if form == 3 and bits == 4 else None
                    bias = self.real(n) if self.pick(True, False) else None
                    constant = (1, 2, 3, 4, 5) if self.pick(True, True, False) else ()
                    level = self.pick(None, 1)
                    self.c.node("MatMulNBits", [a, b, scales, zeros, groups, bias], constant=constant, tolerance=(1e-4, 2e-4), K=k, N=n, bits=bits,
                                block_size=block, accuracy_level=level)
        k, n = 64, 24
        a, b = self.real(7, k, dtype=f16), self.bytes(n, 2, 16)
        self.c.node("MatMulNBits", [a, b, self.real(n, 2, dtype=f16, scale=0.05)], constant=(1, 2), tolerance=(5e-3, 1e-2), K=k, N=n, bits=4, block_size=32)
        # level 4 rounds the rows to 8 bits there, here it does not
        a, b = self.real(7, 384), self.bytes(n, 12, 16)
        self.c.node("MatMulNBits", [a, b, self.real(n, 12, scale=0.05)], constant=(1, 2), tolerance=(0, 0.15), K=384, N=n, bits=4, block_size=32, accuracy_level=4)

    # ---- attention ----

    def MultiHeadAttention(self):
        for i in range(60):
            batch, rows, n, dim = self.int(1, 4), self.int(1, 9), self.int(1, 5), self.pick(4, 8, 16)
            keys = rows if i % 3 == 0 else self.int(1, 10)
            v_dim = dim if i % 4 else dim + 4
            d, dv = n * dim, n * v_dim
            q, k, v = self.real(batch, rows, d), self.real(batch, keys, d), self.real(batch, keys, dv)
            past_k = past_v = None
            form = i % 5
            if form == 1:
                past = self.int(1, 6)
                past_k, past_v = self.real(batch, n, past, dim), self.real(batch, n, past, v_dim)
                if i % 2:
                    past_k = past_v = None
            elif form == 2:
                k, v = self.real(batch, n, keys, dim), self.real(batch, n, keys, v_dim)
            elif form == 3:
                q, k, v, keys, dv = self.real(batch, rows, n, 3, dim), None, None, rows, d
            total = keys + (past_k.shape[2] if past_k is not None else 0)
            bias = self.real(2 * d + dv) if form in (0, 1, 4) and self.pick(True, False) else None
            mask = self.pick(None, "flat", "ends", "whole")
            if mask == "flat":
                mask = self.rng.integers(0, 2, (batch, total)).astype(np.int32)
            elif mask == "ends":
                mask = self.rng.integers(1, total + 1, (batch,)).astype(np.int32)
            elif mask == "whole":
                mask = self.rng.integers(0, 2, (batch, rows, total)).astype(np.int32)
            addend = self.real(self.pick(1, batch), self.pick(1, n), rows, total) if self.pick(True, False) else None
            outputs = 3 if form in (0, 1) else 1
            self.c.node("MultiHeadAttention", [q, k, v, bias, mask, addend, past_k, past_v], outputs=outputs, num_heads=n, scale=self.pick(None, 0.3),
                        unidirectional=self.pick(None, 1) if keys == rows else None, mask_filter_value=self.pick(None, -1000.0))
        q, k, v = self.real(1, 200, 64), self.real(1, 300, 64), self.real(1, 300, 64)
        self.c.node("MultiHeadAttention", [q, k, v], num_heads=4)

    def Attention(self):
        for i in range(40):
            batch, rows, n, dim, width = self.int(1, 4), self.int(1, 9), self.int(1, 5), self.pick(4, 8, 16), self.int(3, 20)
            v_dim = dim if i % 3 else dim + 4
            past = self.real(2, batch, n, self.int(1, 5), dim) if v_dim == dim and i % 2 else None
            total = rows + (past.shape[3] if past is not None else 0)
            d, dv = n * dim, n * v_dim
            mask = self.pick(None, "flat", "ends", "both", "whole", "square")
            if mask == "flat":
                mask = self.rng.integers(0, 2, (batch, total)).astype(np.int32)
            elif mask == "ends":
                mask = self.rng.integers(1, total + 1, (batch,)).astype(np.int32)
            elif mask == "both":
                mask = np.concatenate([self.rng.integers(1, total + 1, (batch,)), self.rng.integers(0, 2, (batch,))]).astype(np.int32)
            elif mask == "whole":
                mask = self.rng.integers(0, 2, (batch, rows, total)).astype(np.int32)
            elif mask == "square":
                mask = self.rng.integers(0, 2, (batch, 1, total + 2, total + 2)).astype(np.int32)
            addend = self.real(self.pick(1, batch), self.pick(1, n), rows, total) if self.pick(True, False) else None
            self.c.node("Attention", [self.real(batch, rows, width), self.real(width, 2 * d + dv, scale=0.3), self.real(2 * d + dv), mask, past, addend],
                        outputs=2 if past is not None else 1, constant=self.pick((1,), ()), num_heads=n, unidirectional=self.pick(None, 1),
                        scale=self.pick(None, 0.25), qkv_hidden_sizes=[d, d, dv] if v_dim != dim or self.pick(True, False) else None)

    def RotaryEmbedding(self):
        for i in range(24):
            batch, rows, n, dim = self.int(1, 4), self.int(1, 9), self.int(1, 5), self.pick(8, 16)
            turned = dim if i % 3 else dim // 2
            shape = (batch, n, rows, dim) if i % 2 else (batch, rows, n * dim)
            positions = self.rng.integers(0, 20, (batch, rows)) if self.pick(True, False) else np.array([self.int(0, 8)])
            partial = dict(num_heads=n, rotary_embedding_dim=turned) if turned != dim else {}
            self.c.node("RotaryEmbedding", [self.real(*shape), positions, self.real(20, turned // 2), self.real(20, turned // 2)], interleaved=self.pick(0, 1), **partial)

    def GroupQueryAttention(self):
        for i in range(60):
            batch, kv, dim = self.int(1, 4), self.int(1, 4), self.pick(8, 16)
            n = kv * self.int(1, 4)
            rows, past = self.pick((self.int(1, 8), 0), (1, self.int(1, 9)), (1, self.int(1, 9)))
            if i % 10 == 9:
                batch, rows, past = 1, 3, 5
            total = rows + past
            lengths = np.full(batch, total - 1, np.int32)
            if past and rows == 1 and i % 4 == 1:
                lengths[1:] = self.rng.integers(0, total, batch - 1)
            packed = i % 3 == 2
            q = self.real(batch, rows, (n + 2 * kv) * dim if packed else n * dim)
            k, v = (None, None) if packed else (self.real(batch, rows, kv * dim), self.real(batch, rows, kv * dim))
            past_k, past_v = (self.real(batch, kv, past, dim), self.real(batch, kv, past, dim)) if past else (None, None)
            rotary = self.pick(0, 1)
            caches = [self.real(32, dim // 2), self.real(32, dim // 2)] if rotary else [None, None]
            bias = self.real(self.pick(1, batch), self.pick(1, n), rows, total) if i % 5 == 0 else None
            sink = self.real(n) if i % 7 == 3 else None
            self.c.node("GroupQueryAttention", [q, k, v, past_k, past_v, lengths, np.array(total, np.int32), *caches, None, bias, sink], outputs=3,
                        shown=(0, 1, 2) if (lengths == total - 1).all() else (0,), num_heads=n, kv_num_heads=kv, do_rotary=rotary, rotary_interleaved=self.pick(0, 1),
                        softcap=self.pick(None, 3.0), local_window_size=self.pick(None, 3), scale=self.pick(None, 0.4), smooth_softmax=self.pick(None, 1) if sink is None else None)

    # ---- normalisations ----

    def SkipLayerNormalization(self):
        for i in range(24):
            batch, rows, width = self.int(1, 4), self.int(1, 6), self.pick(8, 33, 64, 384)
            dtype, tolerance = (f16, (1e-2, 1e-2)) if i % 8 == 7 else (f32, (1e-4, 1e-5))
            skip = self.real(*self.pick((batch, rows, width), (1, rows, width), (rows, width)), dtype=dtype)
            beta, bias = (self.real(width, dtype=dtype) if self.pick(True, False) else None for _ in range(2))
            self.c.node("SkipLayerNormalization", [self.real(batch, rows, width, dtype=dtype), skip, self.real(width, dtype=dtype), beta, bias], outputs=4, shown=(0, 3),
                        tolerance=tolerance, epsilon=self.pick(None, 1e-3))

    def SkipSimplifiedLayerNormalization(self):
        for i in range(16):
            batch, rows, width = self.int(1, 4), self.int(1, 6), self.pick(8, 33, 64, 384)
            bias = self.real(width) if self.pick(True, False) else None
            shape = (batch * rows, width) if i % 4 == 3 else (batch, rows, width)
            self.c.node("SkipSimplifiedLayerNormalization", [self.real(*shape), self.real(*shape), self.real(width), bias], outputs=4, shown=(0, 3), epsilon=self.pick(None, 1e-3))

    def SimplifiedLayerNormalization(self):
        for i in range(12):
            shape = self.pick((2, 3, 16), (5, 33), (1, 2, 3, 8))
            axis = self.pick(-1, len(shape) - 1, -2)
            width = shape[axis:] if axis < 0 else shape[axis:]
            self.c.node("SimplifiedLayerNormalization", [self.real(*shape), self.real(*width) if axis == -2 else self.real(shape[-1])], domain="", axis=axis, epsilon=self.pick(None, 1e-3))

    def EmbedLayerNormalization(self):
        for i in range(24):
            batch, rows, width = self.int(1, 4), self.int(1, 6), self.pick(8, 64)
            ids = self.rng.integers(0, 20, (batch, rows)).astype(np.int32)
            segments = self.rng.integers(0, 2, (batch, rows)).astype(np.int32) if i % 3 else None
            mask = (np.arange(rows) < self.rng.integers(1, rows + 1, (batch, 1))).astype(np.int32) if i % 2 else None
            positions = self.rng.integers(0, 10, self.pick((batch, rows), (1, rows))).astype(np.int32) if i % 4 == 3 else None
            table = self.real(2, width) if segments is not None else None
            self.c.node("EmbedLayerNormalization", [ids, segments, self.real(20, width), self.real(10, width), table, self.real(width), self.real(width), mask, positions],
                        outputs=3, fixed_shapes=True, epsilon=self.pick(None, 1e-3))

    # ---- activations ----

    def gelus(self):
        for i in range(6):
            shape = self.pick((3, 5, 16), (7, 33), (2050,), (1, 4))
            x, bias = self.real(*shape, scale=2), self.real(shape[-1])
            self.c.node("Gelu", [x])
            self.c.node("BiasGelu", [x, bias])
            self.c.node("FastGelu", [x, self.pick(bias, None)], tolerance=(1e-4, 1e-4))
            self.c.node("QuickGelu", [x], alpha=self.pick(None, 1.3))

    # ---- the standard's operators with something around them ----

    def FusedConv(self):
        for i in range(24):
            n, c, m, group = self.int(1, 3), self.pick(2, 4), self.pick(4, 8), self.pick(1, 2)
            kernel = [self.pick(1, 3), self.pick(1, 3)]
            x, w = self.real(n, c, self.int(4, 9), self.int(4, 9)), self.real(m, c // group, *kernel)
            kind, params = self.pick(("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4]))
            pads, strides = self.pick(None, [1, 0, 1, 1]), self.pick(None, [2, 1])
            same = i % 4 == 3
            if same:
                pads, strides, w = [kernel[0] // 2, kernel[1] // 2] * 2, None, self.real(m, c // group, *kernel)
            z = self.real(n, m, x.shape[2], x.shape[3]) if same else None
            self.c.node("FusedConv", [x, w, self.pick(self.real(m), None), z], constant=(1, 2), group=group, pads=pads, strides=strides, activation=kind, activation_params=params)

    def NhwcFusedConv(self):
        for i in range(12):
            n, c, m = self.int(1, 3), self.pick(2, 4), self.pick(4, 8)
            x, w = self.real(n, self.int(4, 9), self.int(4, 9), c), self.real(m, c, 3, 3)
            z = self.real(n, x.shape[1], x.shape[2], m) if i % 3 == 2 else None
            self.c.node("NhwcFusedConv", [x, w, self.pick(self.real(m), None), z], constant=(1, 2), pads=[1, 1, 1, 1], activation=self.pick("Relu", None))

    def FusedGemm(self):
        for i in range(24):
            m, k, n, ta, tb = self.int(1, 9), self.int(1, 40), self.int(1, 30), self.pick(0, 1), self.pick(0, 1)
            a, b = self.real(*((k, m) if ta else (m, k))), self.real(*((n, k) if tb else (k, n)))
            c = self.pick(self.real(n), self.real(m, n), self.real(1), None)
            self.c.node("FusedGemm", [a, b, c], constant=self.pick((1,), ()), transA=ta, transB=tb, alpha=self.pick(None, 0.5), beta=self.pick(None, 2.0),
                        **self.pick(dict(activation="Relu"), dict(activation="LeakyRelu", activation_alpha=0.2), dict(activation="Tanh"), dict(activation="Sigmoid")))

    def FusedMatMul(self):
        for i in range(40):
            m, k, n, ta, tb, ba, bb = self.int(1, 9), self.int(1, 40), self.int(1, 30), *(self.pick(0, 1) for _ in range(4))
            batch = [self.int(1, 4) for _ in range(self.pick(0, 1, 2))]

            def shape(rows, columns, last, first):
                dims = list(batch) + ([columns, rows] if last else [rows, columns])
                if first and len(batch):
                    # the dimension that goes behind the others of the batch stands in front
                    dims = [dims[-2]] + list(batch) + [dims[-1]] if not last else [dims[-1]] + list(batch) + [dims[-2]]
                    dims = [rows] + list(batch) + [columns] if not last else [columns] + list(batch) + [rows]
                return dims
            a, b = self.real(*shape(m, k, ta, ba)), self.real(*shape(k, n, tb, bb))
            self.c.node("FusedMatMul", [a, b], constant=self.pick((1,), ()), transA=ta, transB=tb, alpha=self.pick(None, 0.5),
                        transBatchA=ba if batch else None, transBatchB=bb if batch else None)
        for dtype in (f16, np.float64):
            self.c.node("FusedMatMul", [self.real(3, 5, dtype=dtype), self.real(4, 5, dtype=dtype)], transB=1, alpha=0.25, tolerance=(1e-2, 1e-2))

    def integer_products(self):
        for i in range(30):
            batch = [self.int(1, 4) for _ in range(self.pick(0, 1))]
            m, k, n = self.int(1, 9), self.int(1, 60), self.int(1, 30)
            at, bt = self.pick(np.uint8, np.int8), self.pick(np.uint8, np.int8)
            a, b = self.bytes(*batch, m, k, dtype=at), self.bytes(k, n, dtype=bt)
            scale = self.pick((np.abs(self.real(n)) + 0.1), np.array([0.02], f32)).astype(f32)
            zero = self.pick(None, self.bytes(*scale.shape, dtype=bt))
            bias = self.pick(None, self.real(n))
            constant = self.pick((1, 3, 5), ())
            self.c.node("MatMulIntegerToFloat", [a, b, np.array([0.03], f32), scale, self.pick(None, self.bytes(1, dtype=at)), zero, bias], constant=constant)
            self.c.node("DynamicQuantizeMatMul", [self.real(*batch, m, k), b, scale, zero, bias], constant=self.pick((1, 2, 3), ()), tolerance=(1e-3, 1e-3))
            ta, tb, out = self.pick(0, 1), self.pick(0, 1), self.pick(None, at)
            a, b = self.bytes(*((k, m) if ta else (m, k)), dtype=at), self.bytes(*((n, k) if tb else (k, n)), dtype=bt)
            c = self.pick(None, self.rng.integers(-3000, 3000, self.pick((n,), (m, n))).astype(np.int32))
            last = (np.array(0.7, f32), self.bytes(1, dtype=out)[0]) if out else (None, None)
            bz = zero if zero is not None else np.zeros(scale.shape, bt)
            self.c.node("QGemm", [a, np.array(0.03, f32), self.bytes(1, dtype=at)[0], b, scale if scale.size > 1 else scale[0], bz if bz.size > 1 else bz[0], c, *last],
                        transA=ta, transB=tb, alpha=self.pick(None, 0.5), tolerance=(1e-4, 1e-4) if out is None else (0, 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    cases = Cases(args.folder)
    makers = Makers(cases, args.seed)
    helpers = {"real", "pick", "int", "bytes"}
    for name in sorted(n for n in vars(Makers) if not n.startswith("_") and n not in helpers):
        if args.only in name:
            getattr(makers, name)()
    print(f"{cases.count} cases")
    sys.exit(cases.run(args.runner, args.threads))


if __name__ == "__main__":
    main()
