#!/usr/bin/env python3
"""Holds question-answer of the built command against transformers' pipeline at usual sizes.

    tests/parity/answer_tasks.py --tenon build/tenon [--only WORD]

Runs under the environment of the last transformers release that has the pipeline (tools/ref/env answers).
Tokenizers and kinds of configurations are those of the committed packages; sizes and random weights are
made here. Contexts of one word to several windows go through in one request, with a question each or one
for all; the reference answers them one at a time. Logits and scores agree within 2e-5 * max(1, max|x|);
windows, spans, texts and their order are the library's. Spans whose scores are as near as that tolerance
may change places.

Ends with `N passed, N failed, N skipped`.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.simplefilter("ignore")
sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]
sys.path.append(str(HERE.parents[1] / "tools" / "golden"))

import answer
import common
import numpy as np
import transformers

TOLERANCE = 2e-5
LIMIT = 512
SIZES = {"bert": dict(hidden_size=96, num_hidden_layers=3, num_attention_heads=4, intermediate_size=192),
         "distilbert": dict(dim=96, n_layers=3, n_heads=4, hidden_dim=192)}
EXTRA_ROWS = {"mpnet": 2, "roberta": 2, "xlm-roberta": 2}  # positions that no token can have
CONFIGS = {"modernbert": dict(local_attention=32), "deberta-v2": dict(position_buckets=64)}
WORDS = ("the of to people water look see time 42 ! hello world, caf\u00e9 CAF\u00c9 make words time. zq unknownish "
         "\u4e2d\u56fd people-water \U0001f600 cafe\u0301").split()
# options of the pipeline, and ours for the same
VARIANTS = (
    ({"top_k": 5}, {"top_k": 5}),
    ({"top_k": 5, "handle_impossible_answer": True}, {"top_k": 5, "no_answer": True}),
    ({"top_k": 8, "align_to_words": False, "max_answer_len": 40}, {"top_k": 8, "align_words": False, "max_answer_tokens": 40}),
    ({"top_k": 3, "max_seq_len": 96, "doc_stride": 17, "handle_impossible_answer": True},
     {"top_k": 3, "max_tokens": 96, "stride": 17, "no_answer": True}),
    ({"top_k": 20, "max_seq_len": 64, "doc_stride": 0}, {"top_k": 20, "max_tokens": 64, "stride": 0, "batch": 3}),
)


def texts(count, seed, lengths):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.choice(lengths))) for _ in range(count)]


def make(source, folder):
    """The committed package again with more and wider layers and a longer table of positions."""
    config = transformers.AutoConfig.from_pretrained(source)
    family = config.model_type
    changes = {**SIZES.get(family, SIZES["bert"]), **CONFIGS.get(family, {}), "max_position_embeddings": LIMIT + EXTRA_ROWS.get(family, 0)}
    said = json.loads((source / "config.json").read_text())
    if "embedding_size" in said:
        changes["embedding_size"] = 48
    for name, value in changes.items():
        setattr(config, name, value)
    if getattr(config, "layer_types", None):  # one kind per layer; the class knows the rule
        said = {key: value for key, value in config.to_dict().items() if key != "layer_types"}
        config = type(config)(**said)
    model = transformers.AutoModelForQuestionAnswering.from_config(config)
    common.fill_weights(model, "parity", source.name)
    model.eval().save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    said = json.loads((source / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**said, "model_max_length": LIMIT}))
    inputs = json.loads(source.with_suffix(".json").read_text())["inputs"]
    tokenizer, model = answer.load(folder, inputs)
    return answer.Pipeline(model=model, tokenizer=tokenizer, device="cpu")


def run(tenon, folder, request):
    done = subprocess.run([tenon, "run", str(folder), "--task", "question-answer", "--input", "-", "--json"],
                          input=json.dumps(request).encode(), capture_output=True)
    if done.returncode:
        raise SystemExit(f"exit {done.returncode}: {done.stdout.decode()[:600]}{done.stderr.decode()[:600]}")
    return json.loads(done.stdout)["data"]


def difference(ours, theirs):
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())) if ours.shape == theirs.shape else float("inf")


def spans(rows):
    return [(row["start"], row["end"], row["answer"]) for row in rows]


def other_order(ours, theirs):
    """Whether anything but the order of equal scores differs. The last one may be another of those that are as good."""
    if len(ours) != len(theirs):
        return f"{len(ours)} answers where there are {len(theirs)}"
    for a, b in zip(ours, theirs):
        if spans([a]) != spans([b]) and abs(a["score"] - b["score"]) > TOLERANCE * max(abs(b["score"]), 1e-3):
            return f"other answer: {spans([a])} {a['score']:.6g} for {spans([b])} {b['score']:.6g}"
    return None


def ask(pipe, tenon, folder, tally):
    question = "how many people were there?"
    contexts = texts(14, 1, (1, 3, 9, 40, 150, 400, 700))
    own = texts(len(contexts), 2, (1, 2, 5, 12))
    for i, (options, ours) in enumerate(VARIANTS):
        asked = own if i % 2 else [question] * len(contexts)
        items = [{"text": c, "question": q} for c, q in zip(contexts, asked)] if i % 2 else contexts
        data = run(tenon, folder, {"question": question, "contexts": items, "want_logits": True, **ours})
        for q, context, item in zip(asked, contexts, data):
            theirs = pipe(question=q, context=context, **{"max_seq_len": min(LIMIT, 384), **options})
            theirs = [r for r in (theirs if isinstance(theirs, list) else [theirs]) if r["score"] > 0]
            if item["windows"] != [len(ids) for ids, _ in pipe.windows]:
                return f"{options}: other windows for {len(context)} characters"
            for mine, (_, logits) in zip(item["logits"], pipe.windows):
                tally["logits"] = max(tally["logits"], difference(mine, logits))
            wrong = other_order(item["answers"], theirs)
            if wrong:
                return f"{options}: {wrong}"
            same = [(a, b) for a, b in zip(item["answers"], theirs) if spans([a]) == spans([b])]
            tally["swapped"] += len(theirs) - len(same)
            tally["scores"] = max([tally["scores"]] + [difference([a["score"]], [b["score"]]) for a, b in same])
            tally["windows"] += len(item["windows"])
            tally["answers"] += len(theirs)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    passed = failed = 0
    for document in sorted(answer.ANSWERS.glob("*.json")):
        if args.only not in document.stem:
            continue
        tally = {"logits": 0.0, "scores": 0.0, "windows": 0, "answers": 0, "swapped": 0}
        with tempfile.TemporaryDirectory(prefix="tenon-parity-") as scratch:
            folder = pathlib.Path(scratch) / "package"
            wrong = ask(make(document.with_suffix(""), folder), str(pathlib.Path(args.tenon).resolve()), folder, tally)
        good = wrong is None and max(tally["logits"], tally["scores"]) <= TOLERANCE
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok   ' if good else 'FAIL '} {document.stem}  logits differ by {tally['logits']:.2g}, scores by {tally['scores']:.2g}; "
              f"{tally['answers']} answers of {tally['windows']} windows, {tally['swapped']} in places of equals"
              f"{'' if wrong is None else '; ' + wrong}", flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
