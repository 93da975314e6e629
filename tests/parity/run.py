#!/usr/bin/env python3
"""Holds the built command against the reference libraries.

    tests/parity/run.py --tenon build/tenon [--only WORD] [--quick]

Runs under the reference environment (tools/ref/env) and drives the command line alone, as a user
would: tokenizer parity on 10,000 lines, embeddings of 300 texts on the real package, every golden
package, checkpoints of other sizes with random weights, and bit-equality over batches, order and
threads. Embeddings agree when |a - b| <= 2e-6 * max(1, max|reference|) for every component.

An oracle or a model that cannot be had is a counted skip. Ends with `N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
warnings.simplefilter("ignore")
sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GOLDEN = ROOT / "tests" / "golden"
# Behind the libraries: a neighbour of this file has the name of one.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE] + [str(HERE)]

import lines as parity
import numpy as np

TOLERANCE = 2e-6
BF16_COSINE = 0.9999
# One row (cls) behind six layers is not a mean of many: on texts of a few tokens the library itself is 2.0e-6 from double
# precision, and we are 3.1e-6 (rms over all texts 3.2e-7 and 4.1e-7).
CHECKPOINT_TOLERANCE = {"random-electra-256x6": 5e-6}
# The library answers these although the package leaves a choice open; refusing is right as well.
MAY_REFUSE = {"bert_plain"}


class Report:
    def __init__(self, only):
        self.only = only
        self.passed = self.failed = self.skipped = 0

    def wanted(self, name):
        return not self.only or self.only in name

    def ok(self, name, detail=""):
        self.passed += 1
        print(f"ok    {name}  {detail}".rstrip(), flush=True)

    def fail(self, name, detail):
        self.failed += 1
        print(f"FAIL  {name}  {detail}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip  {name}  ({why})", flush=True)

    def check(self, name, good, detail):
        (self.ok if good else self.fail)(name, detail)


class Tenon:
    """The command. Its standard output is one JSON document with --json."""

    def __init__(self, path):
        self.path = str(path)

    def run(self, *words, data=None):
        return subprocess.run([self.path, *map(str, words)], input=data, capture_output=True)

    def document(self, *words, data=None, codes=(0,)):
        result = self.run(*words, "--json", data=data)
        if result.returncode not in codes:
            raise Refused(result)
        return json.loads(result.stdout)

    def embed(self, package, texts, *options):
        document = self.document("embed", package, "--file", "-", "--jsonl", *options, data=jsonl(texts))
        rows = document["data"]
        errors = [row for row in rows if "error" in row]
        if errors or [row["index"] for row in rows] != list(range(len(texts))):
            raise ValueError(f"{len(errors)} items failed or are out of order: {errors[:1]}")
        return document, np.array([row["embedding"] for row in rows], dtype=np.float32)

    def npy(self, package, texts, *options):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.npy")
            result = self.run("embed", package, "--file", "-", "--jsonl", "--npy", out, *options,
                              data=jsonl(texts))
            if result.returncode:
                raise Refused(result)
            return np.load(out)


class Refused(Exception):
    def __init__(self, result):
        self.code = result.returncode
        text = (result.stdout or result.stderr).decode(errors="replace").strip()
        try:
            error = json.loads(text)["error"]
            text = f"{error.get('code')}: {error.get('message')}"
        except (ValueError, KeyError, TypeError):
            text = text[-300:]
        super().__init__(f"exit {self.code}: {text}")


def jsonl(texts):
    return "".join(json.dumps(text) + "\n" for text in texts).encode()


def worst_of(got, want):
    """The largest difference relative to max(1, max|want|) of its row, and where it is."""
    if got.shape != want.shape:
        return float("inf"), f"shape {got.shape} where the reference has {want.shape}"
    if not got.size:
        return 0.0, "nothing"
    scale = np.maximum(1.0, np.abs(want).max(axis=1, keepdims=True))
    error = np.abs(got.astype(np.float64) - want.astype(np.float64)) / scale
    row, column = np.unravel_index(np.argmax(error), error.shape)
    return float(error[row, column]), f"text {row} component {column}"


def reference(folder):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(os.cpu_count() or 1)
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True,
                               model_kwargs={"dtype": torch.float32})


def byte_offsets(text, offsets):
    table = [0]
    for c in text:
        table.append(table[-1] + len(c.encode()))
    return [[table[a], table[b]] for a, b in offsets]


def fetch(script, *words):
    """The folder that a script prints, or None with the reason when it cannot be had."""
    result = subprocess.run([str(ROOT / script), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        return None, result.stderr.strip().splitlines()[-1] if result.stderr.strip() else f"exit {result.returncode}"
    return pathlib.Path(result.stdout.strip()), ""


# ---------------------------------------------------------------------------------------------
# Tokenizers


def compare_encodings(report, name, rows, texts, encodings, pairs=None):
    if len(rows) != len(texts):
        report.fail(name, f"{len(rows)} encodings for {len(texts)} lines")
        return
    wrong = {}
    for index, (row, text, encoding) in enumerate(zip(rows, texts, encodings)):
        offsets = byte_offsets(text, encoding.offsets) if pairs is None else [
            byte_offsets(pairs if s == 1 else text, [o])[0] if s is not None else [0, 0]
            for s, o in zip(encoding.sequence_ids, encoding.offsets)]
        want = {"ids": encoding.ids, "type_ids": encoding.type_ids, "attention_mask": encoding.attention_mask,
                "offsets": offsets, "tokens": encoding.tokens}
        for field, value in want.items():
            if row[field] != value:
                wrong.setdefault(field, []).append(index)
    if not wrong:
        report.ok(name, f"{len(rows)} lines: ids, type ids, masks, offsets and tokens equal")
        return
    field, indexes = next(iter(wrong.items()))
    i = indexes[0]
    counts = {f: len(v) for f, v in wrong.items()}
    report.fail(name, f"{counts}; first {field} of line {i} {texts[i]!r}: {rows[i][field]} where the library has "
                      f"{getattr(encodings[i], field)}")


def check_tokenizer(report, tenon, package):
    name = "tokenize all-minilm-l6-v2"
    if not report.wanted(name):
        return
    if not (package / "tokenizer.json").exists():
        report.skip(name, "no tokenizer.json")
        return
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = parity.lines()
    data = ("\n".join(texts) + "\n").encode()
    committed = (GOLDEN / "real" / "lines.txt").read_bytes()
    report.check(f"{name}: lines as committed", data == committed, "tests/golden/real/lines.txt")
    try:
        rows = tenon.document("tokenize", package, "--file", "-", data=data)["data"]
        compare_encodings(report, name, rows, texts, tokenizer.encode_batch(texts))
        rows = tenon.document("tokenize", package, "--file", "-", "--no-special", data=data)["data"]
        compare_encodings(report, f"{name} --no-special", rows, texts,
                          tokenizer.encode_batch(texts, add_special_tokens=False))
        pair, some = "the second text, caf\u00e9 \u4e2d\u56fd", texts[::20]
        rows = tenon.document("tokenize", package, "--file", "-", "--jsonl", "--pair", pair, data=jsonl(some))["data"]
        compare_encodings(report, f"{name} --pair", rows, some, tokenizer.encode_batch([(t, pair) for t in some]), pair)
    except (Refused, ValueError, KeyError) as error:
        report.fail(name, str(error))


# ---------------------------------------------------------------------------------------------
# Embeddings


def check_real(report, tenon, package):
    name = "embed all-minilm-l6-v2"
    if not report.wanted(name):
        return
    texts = parity.texts()
    golden = json.loads((GOLDEN / "real" / "minilm_300.json").read_text(encoding="utf-8"))
    want = np.fromfile(GOLDEN / "real" / "minilm_300.bin", dtype="<f4").reshape(len(texts), -1)
    try:
        document, got = tenon.embed(package, texts)
    except (Refused, ValueError, KeyError) as error:
        report.fail(name, str(error))
        return
    counts = [row["tokens"] for row in document["data"]]
    cut = [bool(row["truncated"]) for row in document["data"]]
    report.check(f"{name}: token counts", counts == [r["tokens"] for r in golden["texts"]], f"{len(counts)} texts")
    report.check(f"{name}: truncated", cut == [r["tokens"] < r["tokens_untruncated"] for r in golden["texts"]],
                 f"{sum(cut)} texts cut")
    worst, where = worst_of(got, want)
    report.check(f"{name}: committed golden", worst <= TOLERANCE, f"worst {worst:.2e} at {where}")
    live = reference(package).encode(texts, batch_size=32, show_progress_bar=False)
    worst, where = worst_of(got, live)
    report.check(f"{name}: live reference", worst <= TOLERANCE, f"worst {worst:.2e} at {where}")
    check_bf16(report, tenon, package, name, texts, want)


def check_bf16(report, tenon, package, name, texts, want):
    name += " --numeric bf16"
    try:
        _, got = tenon.embed(package, texts, "--numeric", "bf16")
    except Refused as error:
        report.skip(name, str(error))
        return
    cosine = (got * want).sum(1) / np.maximum(np.linalg.norm(got, axis=1) * np.linalg.norm(want, axis=1), 1e-30)
    report.check(name, float(cosine.min()) >= BF16_COSINE, f"lowest cosine {cosine.min():.6f} (text {cosine.argmin()})")


def options_of(case):
    words = []
    if case.get("prompt_name") is not None:
        words += ["--role", case["prompt_name"]]
    if case.get("normalize_embeddings"):
        words += ["--normalize", "yes"]
    if case.get("truncate_dim"):
        words += ["--dimensions", str(case["truncate_dim"])]
    return words


def live_vectors(model, cases):
    return [model.encode([case["text"]], prompt_name=case.get("prompt_name"), batch_size=1, show_progress_bar=False,
                         normalize_embeddings=case.get("normalize_embeddings", False),
                         truncate_dim=case.get("truncate_dim"))[0] for case in cases]


def check_package(report, tenon, golden):
    """One golden package: its cases grouped by options, against the committed and the live answers."""
    name = f"package {golden['package'].rsplit('/', 1)[1]}"
    if not report.wanted(name):
        return
    folder = GOLDEN / golden["package"]
    groups = {}
    for case in golden["cases"]:
        groups.setdefault(tuple(options_of(case)), []).append(case)
    model = reference(folder)
    worst, stale = (0.0, ""), 0.0
    try:
        for options, cases in groups.items():
            texts = [case["text"] for case in cases]
            document, got = tenon.embed(folder, texts, *options)
            counts = [row["tokens"] for row in document["data"]]
            if counts != [len(case["ids"]) for case in cases]:
                report.fail(name, f"token counts {counts} {options} where the library has "
                                  f"{[len(case['ids']) for case in cases]}")
                return
            want = np.array([case["embedding"] for case in cases], dtype=np.float32)
            live = np.stack(live_vectors(model, cases))
            worst = max(worst, worst_of(got, want), worst_of(got, live), key=lambda w: w[0])
            stale = max(stale, worst_of(live, want)[0])
    except (Refused, ValueError, KeyError) as error:
        if isinstance(error, Refused) and error.code == 3 and golden["package"].rsplit("/", 1)[1] in MAY_REFUSE:
            report.skip(name, f"refused: {error}")
        else:
            report.fail(name, str(error))
        return
    report.check(name, worst[0] <= TOLERANCE, f"worst {worst[0]:.2e} at {worst[1]}")
    if stale > TOLERANCE:
        report.fail(f"{name}: golden", f"the installed reference differs from the golden by {stale:.2e}")


def check_large(report, tenon, name):
    label = f"checkpoint {name}"
    if not report.wanted(label):
        return
    result = subprocess.run([sys.executable, str(ROOT / "tools" / "golden" / "large.py"), name],
                            stdout=subprocess.PIPE, text=True)
    if result.returncode:
        report.skip(label, "its vocabulary cannot be had" if result.returncode in (75, 77) else
                    f"could not be built (exit {result.returncode})")
        return
    folder = pathlib.Path(result.stdout.strip().splitlines()[-1])
    texts = parity.texts()[::5] + parity.ragged()
    try:
        _, got = tenon.embed(folder, texts)
    except (Refused, ValueError, KeyError) as error:
        report.fail(label, str(error))
        return
    want = reference(folder).encode(texts, batch_size=8, show_progress_bar=False)
    worst, where = worst_of(got, want)
    report.check(label, worst <= CHECKPOINT_TOLERANCE.get(name, TOLERANCE),
                 f"{len(texts)} texts, worst {worst:.2e} at {where}")
    check_bits(report, tenon, folder, label, texts)


def check_bits(report, tenon, package, label, texts):
    """Alone, in a batch, in any order, with one thread or several: the same bits."""
    name = f"bits of {label}"
    if not report.wanted(name):
        return
    order = list(range(len(texts)))
    mixed = sorted(order, key=lambda i: (i * 7919) % 10007)
    try:
        base = tenon.npy(package, texts)
        runs = {
            "1 thread": (order, tenon.npy(package, texts, "--threads", "1")),
            "2 threads": (order, tenon.npy(package, texts, "--threads", "2")),
            "4 threads": (order, tenon.npy(package, texts, "--threads", "4")),
            "batch 1": (order, tenon.npy(package, texts, "--batch", "1")),
            "batch 7, 1 thread": (order, tenon.npy(package, texts, "--batch", "7", "--threads", "1")),
            "reversed": (order[::-1], tenon.npy(package, texts[::-1])),
            "mixed order, batch 5": (mixed, tenon.npy(package, [texts[i] for i in mixed], "--batch", "5")),
        }
        for i in order[:: max(1, len(order) // 6)]:
            runs[f"text {i} alone"] = ([i], tenon.npy(package, [texts[i]]))
    except (Refused, ValueError, OSError) as error:
        report.fail(name, str(error))
        return
    wrong = []
    for what, (indexes, got) in runs.items():
        if got.dtype != np.float32 or got.shape != (len(indexes), base.shape[1]):
            wrong.append(f"{what}: {got.dtype} {got.shape}")
        elif got.tobytes() != base[indexes].tobytes():
            rows = [i for i, g in zip(indexes, got) if g.tobytes() != base[i].tobytes()]
            wrong.append(f"{what}: {len(rows)} texts differ, first {rows[0]}")
    report.check(name, not wrong, "; ".join(wrong) or f"{len(runs)} ways, {len(texts)} texts")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tenon", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="run the checks whose names contain this")
    parser.add_argument("--quick", action="store_true", help="leave the large random checkpoints out")
    arguments = parser.parse_args()
    report, tenon = Report(arguments.only), Tenon(arguments.tenon.resolve())

    package, why = fetch("tools/fetch-models", "all-minilm-l6-v2")
    if package is None:
        report.skip("tokenize all-minilm-l6-v2", why)
        report.skip("embed all-minilm-l6-v2", why)
    else:
        check_tokenizer(report, tenon, package)
        check_real(report, tenon, package)
        check_bits(report, tenon, package, "embed all-minilm-l6-v2", parity.texts()[:60] + parity.texts()[-60:])

    for path in sorted((GOLDEN / "embed").glob("*.json")):
        golden = json.loads(path.read_text(encoding="utf-8"))
        if "package" in golden:
            check_package(report, tenon, golden)
    for name in ("bert_mean_normalize", "distilbert_cls", "mpnet_mean_normalize", "roberta_mean_normalize",
                 "xlm_roberta_mean_normalize", "electra_mean_normalize", "modernbert_mean_normalize",
                 "deberta_v2_mean_normalize"):
        check_bits(report, tenon, GOLDEN / "packages" / name, f"package {name}", parity.texts()[::6])
    if not arguments.quick:
        for name in ("random-bert-768x3", "random-mpnet-384x12", "random-distilbert-768x2", "random-roberta-768x4",
                     "random-electra-256x6", "random-modernbert-768x6", "random-deberta-v3-768x4"):
            check_large(report, tenon, name)

    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    return 1 if report.failed or not report.passed else 0


if __name__ == "__main__":
    sys.exit(main())
