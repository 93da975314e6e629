#!/usr/bin/env python3
"""Contributed operators (com.microsoft) against ONNX Runtime: random shapes and attributes.

    onnx_contrib.py RUNNER FOLDER [--only OPERATOR] [--seed N]

RUNNER is build/tests/onnx-backend; cases are written to FOLDER. Needs the packages numpy, onnx and onnxruntime.
"""
import numpy as np

from onnx_cases import Drawn, run_drawn

f32, f16 = np.float32, np.float16


class Makers(Drawn):
    # ---- products of quantised weights ----

    def MatMulNBits(self):
        for bits in (4, 8, 2):
            for block in (16, 32, 64, 128, 256):
                for form in range(4):
                    k, n = self._pick(32, 64, 96, 100, 384, 17), self._pick(1, 3, 16, 33, 64)
                    blocks = -(-k // block)
                    a = self._real(*self._pick((1, k), (5, k), (2, 3, k), (9, k)))
                    b = self._bytes(n, blocks, block * bits // 8)
                    scales = self._real(n, blocks, scale=0.05)
                    zeros = None
                    if form == 1:
                        zeros = self._bytes(n, -(-blocks * bits // 8))
                    elif form == 2:
                        zeros = self._real(n, blocks, scale=4.0) + 2 ** (bits - 1)
                        zeros = zeros.astype(f32)
                    groups = self._rng.permutation(np.arange(blocks * block) // block).astype(np.int32) if form == 3 and bits == 4 else None
                    bias = self._real(n) if self._pick(True, False) else None
                    constant = (1, 2, 3, 4, 5) if self._pick(True, True, False) else ()
                    level = self._pick(None, 1)
                    self.c.node("MatMulNBits", [a, b, scales, zeros, groups, bias], constant=constant, tolerance=(1e-4, 2e-4), K=k, N=n, bits=bits,
                                block_size=block, accuracy_level=level)
        k, n = 64, 24
        a, b = self._real(7, k, dtype=f16), self._bytes(n, 2, 16)
        self.c.node("MatMulNBits", [a, b, self._real(n, 2, dtype=f16, scale=0.05)], constant=(1, 2), tolerance=(5e-3, 1e-2), K=k, N=n, bits=4, block_size=32)
        # level 4 rounds the rows to 8 bits there, here it does not
        a, b = self._real(7, 384), self._bytes(n, 12, 16)
        self.c.node("MatMulNBits", [a, b, self._real(n, 12, scale=0.05)], constant=(1, 2), tolerance=(0, 0.15), K=384, N=n, bits=4, block_size=32, accuracy_level=4)

    # ---- attention ----

    def rounded_rows(self):
        """accuracy_level 4: both sides round rows to 8 bits by blocks. ONNX Runtime's blocks are those of the weights, ours 32
        wide: of larger ones results are a rounding of each apart."""
        for block in (32, 64, 128):
            for form in range(8):
                k, n = self._pick(32, 100, 384, 17, 256), self._pick(1, 3, 16, 33, 64)
                blocks = -(-k // block)
                zeros = self._bytes(n, -(-blocks // 2)) if form % 2 else None
                inputs = [self._real(*self._pick((1, k), (2, 3, k), (29, k))), self._bytes(n, blocks, block // 2), self._real(n, blocks, scale=0.05), zeros, None,
                          self._real(n) if self._pick(True, False) else None]
                self.c.node("MatMulNBits", inputs, constant=(1, 2, 3, 5), tolerance=(1e-3, 1e-3 if block == 32 else 0.3), K=k, N=n, bits=4, block_size=block,
                            accuracy_level=4)

    def MultiHeadAttention(self):
        for i in range(60):
            batch, rows, n, dim = self._int(1, 4), self._int(1, 9), self._int(1, 5), self._pick(4, 8, 16)
            keys = rows if i % 3 == 0 else self._int(1, 10)
            v_dim = dim if i % 4 else dim + 4
            d, dv = n * dim, n * v_dim
            q, k, v = self._real(batch, rows, d), self._real(batch, keys, d), self._real(batch, keys, dv)
            past_k = past_v = None
            form = i % 5
            if form == 1:
                past = self._int(1, 6)
                past_k, past_v = self._real(batch, n, past, dim), self._real(batch, n, past, v_dim)
                if i % 2:
                    past_k = past_v = None
            elif form == 2:
                k, v = self._real(batch, n, keys, dim), self._real(batch, n, keys, v_dim)
            elif form == 3:
                q, k, v, keys, dv = self._real(batch, rows, n, 3, dim), None, None, rows, d
            total = keys + (past_k.shape[2] if past_k is not None else 0)
            bias = self._real(2 * d + dv) if form in (0, 1, 4) and self._pick(True, False) else None
            mask = self._pick(None, "flat", "ends", "whole")
            if mask == "flat":
                mask = self._rng.integers(0, 2, (batch, total)).astype(np.int32)
            elif mask == "ends":
                mask = self._rng.integers(1, total + 1, (batch,)).astype(np.int32)
            elif mask == "whole":
                mask = self._rng.integers(0, 2, (batch, rows, total)).astype(np.int32)
            addend = self._real(self._pick(1, batch), self._pick(1, n), rows, total) if self._pick(True, False) else None
            outputs = 3 if form in (0, 1) else 1
            self.c.node("MultiHeadAttention", [q, k, v, bias, mask, addend, past_k, past_v], outputs=outputs, num_heads=n, scale=self._pick(None, 0.3),
                        unidirectional=self._pick(None, 1) if keys == rows else None, mask_filter_value=self._pick(None, -1000.0))
        q, k, v = self._real(1, 200, 64), self._real(1, 300, 64), self._real(1, 300, 64)
        self.c.node("MultiHeadAttention", [q, k, v], num_heads=4)

    def Attention(self):
        for i in range(40):
            batch, rows, n, dim, width = self._int(1, 4), self._int(1, 9), self._int(1, 5), self._pick(4, 8, 16), self._int(3, 20)
            v_dim = dim if i % 3 else dim + 4
            past = self._real(2, batch, n, self._int(1, 5), dim) if v_dim == dim and i % 2 else None
            total = rows + (past.shape[3] if past is not None else 0)
            d, dv = n * dim, n * v_dim
            mask = self._pick(None, "flat", "ends", "both", "whole", "square")
            if mask == "flat":
                mask = self._rng.integers(0, 2, (batch, total)).astype(np.int32)
            elif mask == "ends":
                mask = self._rng.integers(1, total + 1, (batch,)).astype(np.int32)
            elif mask == "both":
                mask = np.concatenate([self._rng.integers(1, total + 1, (batch,)), self._rng.integers(0, 2, (batch,))]).astype(np.int32)
            elif mask == "whole":
                mask = self._rng.integers(0, 2, (batch, rows, total)).astype(np.int32)
            elif mask == "square":
                mask = self._rng.integers(0, 2, (batch, 1, total + 2, total + 2)).astype(np.int32)
            addend = self._real(self._pick(1, batch), self._pick(1, n), rows, total) if self._pick(True, False) else None
            self.c.node("Attention", [self._real(batch, rows, width), self._real(width, 2 * d + dv, scale=0.3), self._real(2 * d + dv), mask, past, addend],
                        outputs=2 if past is not None else 1, constant=self._pick((1,), ()), num_heads=n, unidirectional=self._pick(None, 1),
                        scale=self._pick(None, 0.25), qkv_hidden_sizes=[d, d, dv] if v_dim != dim or self._pick(True, False) else None)

    def RotaryEmbedding(self):
        for i in range(24):
            batch, rows, n, dim = self._int(1, 4), self._int(1, 9), self._int(1, 5), self._pick(8, 16)
            turned = dim if i % 3 else dim // 2
            shape = (batch, n, rows, dim) if i % 2 else (batch, rows, n * dim)
            positions = self._rng.integers(0, 20, (batch, rows)) if self._pick(True, False) else np.array([self._int(0, 8)])
            partial = dict(num_heads=n, rotary_embedding_dim=turned) if turned != dim else {}
            self.c.node("RotaryEmbedding", [self._real(*shape), positions, self._real(20, turned // 2), self._real(20, turned // 2)], interleaved=self._pick(0, 1), **partial)

    def GroupQueryAttention(self):
        for i in range(60):
            batch, kv, dim = self._int(1, 4), self._int(1, 4), self._pick(8, 16)
            n = kv * self._int(1, 4)
            rows, past = self._pick((self._int(1, 8), 0), (1, self._int(1, 9)), (1, self._int(1, 9)))
            if i % 10 == 9:
                batch, rows, past = 1, 3, 5
            total = rows + past
            lengths = np.full(batch, total - 1, np.int32)
            if past and rows == 1 and i % 4 == 1:
                lengths[1:] = self._rng.integers(0, total, batch - 1)
            packed = i % 3 == 2
            q = self._real(batch, rows, (n + 2 * kv) * dim if packed else n * dim)
            k, v = (None, None) if packed else (self._real(batch, rows, kv * dim), self._real(batch, rows, kv * dim))
            past_k, past_v = (self._real(batch, kv, past, dim), self._real(batch, kv, past, dim)) if past else (None, None)
            rotary = self._pick(0, 1)
            caches = [self._real(32, dim // 2), self._real(32, dim // 2)] if rotary else [None, None]
            bias = self._real(self._pick(1, batch), self._pick(1, n), rows, total) if i % 5 == 0 else None
            sink = self._real(n) if i % 7 == 3 else None
            self.c.node("GroupQueryAttention", [q, k, v, past_k, past_v, lengths, np.array(total, np.int32), *caches, None, bias, sink], outputs=3,
                        shown=(0, 1, 2) if (lengths == total - 1).all() else (0,), num_heads=n, kv_num_heads=kv, do_rotary=rotary, rotary_interleaved=self._pick(0, 1),
                        softcap=self._pick(None, 3.0), local_window_size=self._pick(None, 3), scale=self._pick(None, 0.4), smooth_softmax=self._pick(None, 1) if sink is None else None)

    # ---- normalisations ----

    def SkipLayerNormalization(self):
        for i in range(24):
            batch, rows, width = self._int(1, 4), self._int(1, 6), self._pick(8, 33, 64, 384)
            dtype, tolerance = (f16, (1e-2, 1e-2)) if i % 8 == 7 else (f32, (1e-4, 1e-5))
            skip = self._real(*self._pick((batch, rows, width), (1, rows, width), (rows, width)), dtype=dtype)
            beta, bias = (self._real(width, dtype=dtype) if self._pick(True, False) else None for _ in range(2))
            self.c.node("SkipLayerNormalization", [self._real(batch, rows, width, dtype=dtype), skip, self._real(width, dtype=dtype), beta, bias], outputs=4, shown=(0, 3),
                        tolerance=tolerance, epsilon=self._pick(None, 1e-3))

    def SkipSimplifiedLayerNormalization(self):
        for i in range(16):
            batch, rows, width = self._int(1, 4), self._int(1, 6), self._pick(8, 33, 64, 384)
            bias = self._real(width) if self._pick(True, False) else None
            shape = (batch * rows, width) if i % 4 == 3 else (batch, rows, width)
            self.c.node("SkipSimplifiedLayerNormalization", [self._real(*shape), self._real(*shape), self._real(width), bias], outputs=4, shown=(0, 3), epsilon=self._pick(None, 1e-3))

    def SimplifiedLayerNormalization(self):
        for i in range(12):
            shape = self._pick((2, 3, 16), (5, 33), (1, 2, 3, 8))
            axis = self._pick(-1, len(shape) - 1, -2)
            width = shape[axis:] if axis < 0 else shape[axis:]
            self.c.node("SimplifiedLayerNormalization", [self._real(*shape), self._real(*width) if axis == -2 else self._real(shape[-1])], domain="", axis=axis, epsilon=self._pick(None, 1e-3))

    def EmbedLayerNormalization(self):
        for i in range(24):
            batch, rows, width = self._int(1, 4), self._int(1, 6), self._pick(8, 64)
            ids = self._rng.integers(0, 20, (batch, rows)).astype(np.int32)
            segments = self._rng.integers(0, 2, (batch, rows)).astype(np.int32) if i % 3 else None
            mask = (np.arange(rows) < self._rng.integers(1, rows + 1, (batch, 1))).astype(np.int32) if i % 2 else None
            positions = self._rng.integers(0, 10, self._pick((batch, rows), (1, rows))).astype(np.int32) if i % 4 == 3 else None
            table = self._real(2, width) if segments is not None else None
            self.c.node("EmbedLayerNormalization", [ids, segments, self._real(20, width), self._real(10, width), table, self._real(width), self._real(width), mask, positions],
                        outputs=3, fixed_shapes=True, epsilon=self._pick(None, 1e-3))

    # ---- activations ----

    def gelus(self):
        for i in range(6):
            shape = self._pick((3, 5, 16), (7, 33), (2050,), (1, 4))
            x, bias = self._real(*shape, scale=2), self._real(shape[-1])
            self.c.node("Gelu", [x])
            self.c.node("BiasGelu", [x, bias])
            self.c.node("FastGelu", [x, self._pick(bias, None)], tolerance=(1e-4, 1e-4))
            self.c.node("QuickGelu", [x], alpha=self._pick(None, 1.3))

    # ---- the standard's operators with something around them ----

    def FusedConv(self):
        for i in range(24):
            n, c, m, group = self._int(1, 3), self._pick(2, 4), self._pick(4, 8), self._pick(1, 2)
            kernel = [self._pick(1, 3), self._pick(1, 3)]
            x, w = self._real(n, c, self._int(4, 9), self._int(4, 9)), self._real(m, c // group, *kernel)
            kind, params = self._pick(("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.4]))
            pads, strides = self._pick(None, [1, 0, 1, 1]), self._pick(None, [2, 1])
            same = i % 4 == 3
            if same:
                pads, strides, w = [kernel[0] // 2, kernel[1] // 2] * 2, None, self._real(m, c // group, *kernel)
            z = self._real(n, m, x.shape[2], x.shape[3]) if same else None
            self.c.node("FusedConv", [x, w, self._pick(self._real(m), None), z], constant=(1, 2), group=group, pads=pads, strides=strides, activation=kind, activation_params=params)

    def NhwcFusedConv(self):
        for i in range(12):
            n, c, m = self._int(1, 3), self._pick(2, 4), self._pick(4, 8)
            x, w = self._real(n, self._int(4, 9), self._int(4, 9), c), self._real(m, c, 3, 3)
            z = self._real(n, x.shape[1], x.shape[2], m) if i % 3 == 2 else None
            self.c.node("NhwcFusedConv", [x, w, self._pick(self._real(m), None), z], constant=(1, 2), pads=[1, 1, 1, 1], activation=self._pick("Relu", None))

    def FusedGemm(self):
        for i in range(24):
            m, k, n, ta, tb = self._int(1, 9), self._int(1, 40), self._int(1, 30), self._pick(0, 1), self._pick(0, 1)
            a, b = self._real(*((k, m) if ta else (m, k))), self._real(*((n, k) if tb else (k, n)))
            c = self._pick(self._real(n), self._real(m, n), self._real(1), None)
            self.c.node("FusedGemm", [a, b, c], constant=self._pick((1,), ()), transA=ta, transB=tb, alpha=self._pick(None, 0.5), beta=self._pick(None, 2.0),
                        **self._pick(dict(activation="Relu"), dict(activation="LeakyRelu", activation_alpha=0.2), dict(activation="Tanh"), dict(activation="Sigmoid")))

    def FusedMatMul(self):
        for i in range(40):
            m, k, n, ta, tb, ba, bb = self._int(1, 9), self._int(1, 40), self._int(1, 30), *(self._pick(0, 1) for _ in range(4))
            batch = [self._int(1, 4) for _ in range(self._pick(0, 1, 2))]

            def shape(rows, columns, last, first):
                dims = list(batch) + ([columns, rows] if last else [rows, columns])
                if first and len(batch):
                    # the dimension that goes behind the others of the batch stands in front
                    dims = [dims[-2]] + list(batch) + [dims[-1]] if not last else [dims[-1]] + list(batch) + [dims[-2]]
                    dims = [rows] + list(batch) + [columns] if not last else [columns] + list(batch) + [rows]
                return dims
            a, b = self._real(*shape(m, k, ta, ba)), self._real(*shape(k, n, tb, bb))
            self.c.node("FusedMatMul", [a, b], constant=self._pick((1,), ()), transA=ta, transB=tb, alpha=self._pick(None, 0.5),
                        transBatchA=ba if batch else None, transBatchB=bb if batch else None)
        for dtype in (f16, np.float64):
            self.c.node("FusedMatMul", [self._real(3, 5, dtype=dtype), self._real(4, 5, dtype=dtype)], transB=1, alpha=0.25, tolerance=(1e-2, 1e-2))

    def integer_products(self):
        for i in range(30):
            batch = [self._int(1, 4) for _ in range(self._pick(0, 1))]
            m, k, n = self._int(1, 9), self._int(1, 60), self._int(1, 30)
            at, bt = self._pick(np.uint8, np.int8), self._pick(np.uint8, np.int8)
            a, b = self._bytes(*batch, m, k, dtype=at), self._bytes(k, n, dtype=bt)
            scale = self._pick((np.abs(self._real(n)) + 0.1), np.array([0.02], f32)).astype(f32)
            zero = self._pick(None, self._bytes(*scale.shape, dtype=bt))
            bias = self._pick(None, self._real(n))
            constant = self._pick((1, 3, 5), ())
            self.c.node("MatMulIntegerToFloat", [a, b, np.array([0.03], f32), scale, self._pick(None, self._bytes(1, dtype=at)), zero, bias], constant=constant)
            self.c.node("DynamicQuantizeMatMul", [self._real(*batch, m, k), b, scale, zero, bias], constant=self._pick((1, 2, 3), ()), tolerance=(1e-3, 1e-3))
            ta, tb, out = self._pick(0, 1), self._pick(0, 1), self._pick(None, at)
            a, b = self._bytes(*((k, m) if ta else (m, k)), dtype=at), self._bytes(*((n, k) if tb else (k, n)), dtype=bt)
            c = self._pick(None, self._rng.integers(-3000, 3000, self._pick((n,), (m, n))).astype(np.int32))
            last = (np.array(0.7, f32), self._bytes(1, dtype=out)[0]) if out else (None, None)
            bz = zero if zero is not None else np.zeros(scale.shape, bt)
            self.c.node("QGemm", [a, np.array(0.03, f32), self._bytes(1, dtype=at)[0], b, scale if scale.size > 1 else scale[0], bz if bz.size > 1 else bz[0], c, *last],
                        transA=ta, transB=tb, alpha=self._pick(None, 0.5), tolerance=(1e-4, 1e-4) if out is None else (0, 1))


if __name__ == "__main__":
    run_drawn(Makers)
