#!/usr/bin/env python3
"""Holds embedding.sparse and embedding.multi of the built command against SparseEncoder and MultiVectorEncoder at usual sizes.

    tests/parity/vector_tasks.py --tenon build/tenon [--only WORD]

Runs under the reference environment (tools/ref/env). Random weights in the shapes of small published
models; a few hundred texts from none to beyond the limit in one request, which the reference encodes one
at a time and in batches of 16. Which tokens keep a vector is exact; which terms are kept is exact but for
values that are as near to nothing, or where a number of terms is asked for to each other, as the tolerance.
Values agree within 2e-5 * max(1, max|x|).

Ends with `N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import pathlib
import random
import string
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
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]
sys.path.append(str(HERE.parents[1] / "tools" / "golden"))

import numpy as np
import packages
import torch
import vectors

TOLERANCE = 2e-5
SIZES = dict(hidden=96, layers=3, heads=4, intermediate=192, positions=130)
# Beside the sizes: as published, but smaller.
FAMILIES = {
    "bert": {},
    "roberta": {},
    "modernbert": dict(pad_token_id=0, local_attention=16),
    "deberta-v2": dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, share_att_key=True,
                       norm_rel_ebd="layer_norm", position_buckets=32),
}
HIDDEN = {"strategy": "fixed", "attend": False, "length": 32}
SEEN = {"strategy": "min", "attend": True, "length": 24}
# A window that the filled queries fit into: in a narrower one some row would see hidden rows alone, which is refused.
WIDER = {"modernbert.multi.hidden": dict(local_attention=64)}
# Disentangled terms of hidden rows are refused: there the filling is seen.
ALL_SEEN = {"deberta-v2.multi.hidden"}
# What stands behind the encoder, and which prompts the package has.
MULTI = {
    "hidden": (dict(query_expansion=HIDDEN, document_length=100, width=32), vectors.BRACKETS),
    "seen": (dict(query_expansion=SEEN, document_length=64, width=32, skiplist_words=["the", ",", ".", "people"],
                  skiplist_tasks=["query", "document"]), {"query": "query: ", "document": ""}),
    "plain": (dict(width=24, skiplist_words=[], more=True), None),
}
SPARSE = {
    "max": (dict(), None),
    "sum": (dict(pooling_strategy="sum"), {"query": "query: ", "passage": ""}),
    "twice": (dict(activation_function="log1p_relu", max_active_dims=40), None),
}


def texts(count, seed):
    words = " ".join(packages.TEXTS).split() + "the of to people water look see time # 42 ! , .".split()
    rng = random.Random(seed)
    return [" ".join(rng.choices(words, k=rng.choice((0, 1, 2, 3, 5, 8, 13, 21, 40, 90, 160)))) for _ in range(count)]


def make(folder, scratch, family, name, kind, options, prompts):
    chain = vectors.multi_chain if kind == "multi" else vectors.sparse_chain
    spec = vectors.Spec(f"parity-{family}-{name}", family, "", chain=chain, prompts=prompts, options=options,
                        model="Model" if kind == "multi" else "ForMaskedLM", config={**packages.sized(family, **SIZES), **FAMILIES[family], **WIDER.get(name, {})})
    chain(spec, vectors.bare_folder(spec, scratch)).save_pretrained(str(folder), create_model_card=False)
    library = vectors.MultiVectorEncoder if kind == "multi" else vectors.SparseEncoder
    return library(str(folder), device="cpu", local_files_only=True)


def run(tenon, folder, task, request):
    done = subprocess.run([tenon, "run", str(folder), "--task", task, "--input", "-", "--json"],
                          input=json.dumps(request).encode(), capture_output=True)
    if done.returncode:
        raise SystemExit(f"{task}: exit {done.returncode}: {done.stdout.decode()[:600]}{done.stderr.decode()[:600]}")
    return json.loads(done.stdout)["data"]


def difference(ours, theirs):
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.abs(ours - theirs).max(initial=0) / max(1.0, np.abs(theirs).max(initial=0)))


def kept_ids(encoder, text, role):
    """Ids of the tokens whose vectors are kept, as the library's own mask says it."""
    features = encoder.preprocess([text], prompt=encoder.prompts.get(role) or "", task=role)
    with torch.inference_mode():
        out = encoder.forward(features, task=role)
    return out["input_ids"][0][out["attention_mask"][0].bool()].tolist()


def multi(tenon, folder, encoder):
    worst = 0.0
    for role in ("query", "document"):
        items = texts(120, 1 if role == "query" else 2)
        encode = encoder.encode_query if role == "query" else encoder.encode_document
        together = encode(items, batch_size=16, show_progress_bar=False)
        data = run(tenon, folder, "embedding.multi", {"texts": items, "role": role})
        for text, row, batched in zip(items, data, together):
            alone = encode([text], batch_size=1, show_progress_bar=False)[0].numpy()
            width = alone.shape[1]
            ours = np.asarray(row["vectors"], np.float64).reshape(-1, width)
            if ours.shape != alone.shape:
                return worst, f"{role}: {ours.shape[0]} vectors where there are {alone.shape[0]}"
            if kept_ids(encoder, text, role) != row["token_ids"]:
                return worst, f"{role}: vectors of other tokens"
            worst = max(worst, difference(ours, alone), difference(ours, batched.numpy()))
    return worst, None


def dense(indices, values, width):
    row = np.zeros(width)
    row[np.asarray(indices, np.int64)] = values
    return row


def compare_terms(row, theirs, most):
    """The largest difference, and whether a term is kept on one side only that is not a draw within the tolerance."""
    theirs = np.asarray(theirs, np.float64)
    ours = dense(row["indices"], row["values"], len(theirs))
    scale = TOLERANCE * max(1.0, np.abs(theirs).max(initial=0))
    one_side = (ours != 0) != (theirs != 0)
    last = min(ours[ours != 0].min(initial=np.inf), theirs[theirs != 0].min(initial=np.inf)) if most else 0.0
    draws = one_side & (np.abs(np.maximum(ours, theirs) - last) <= scale)
    both = ~draws
    if row["indices"] != sorted(row["indices"]) or (one_side & ~draws).any():
        return float("inf"), 0
    return float(np.abs(ours - theirs)[both].max(initial=0) / max(1.0, np.abs(theirs).max(initial=0))), int(draws.sum())


def sparse(tenon, folder, encoder):
    worst, own = 0.0, encoder.max_active_dims
    for role, most in [(None, None), (None, 9)] + [(name, None) for name in (encoder.prompts or {}) if encoder.prompts[name]]:
        items = texts(150, 3)
        request = {"texts": items, **({"role": role} if role else {}), **({"max_active": most} if most else {})}
        options = dict(prompt_name=role, show_progress_bar=False, convert_to_sparse_tensor=False, **({"max_active_dims": most} if most else {}))
        together = encoder.encode(items, batch_size=16, **options)
        data = run(tenon, folder, "embedding.sparse", request)
        for text, row, batched in zip(items, data, together):
            alone = encoder.encode([text], batch_size=1, **options)[0].numpy()
            for theirs in (alone, batched.numpy()):
                gap, _ = compare_terms(row, theirs, most or own)
                worst = max(worst, gap)
        if not np.isfinite(worst):
            return worst, "other terms"
    return worst, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    passed = failed = 0
    cases = [(family, kind, name) for family in FAMILIES for kind, rows in (("multi", MULTI), ("sparse", SPARSE)) for name in rows]
    for family, kind, name in cases:
        title = f"{family}.{kind}.{name}"
        if args.only not in title:
            continue
        options, prompts = (MULTI if kind == "multi" else SPARSE)[name]
        if title in ALL_SEEN:
            options = {**options, "query_expansion": {**options["query_expansion"], "attend": True}}
        with tempfile.TemporaryDirectory(prefix="tenon-parity-") as scratch:
            folder = pathlib.Path(scratch) / "package"
            encoder = make(folder, pathlib.Path(scratch), family, title, kind, options, prompts)
            worst, wrong = (multi if kind == "multi" else sparse)(str(pathlib.Path(args.tenon).resolve()), folder, encoder)
        good = wrong is None and worst <= TOLERANCE
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok   ' if good else 'FAIL '} {title}  values differ by {worst:.2g}{'' if wrong is None else ', ' + wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
