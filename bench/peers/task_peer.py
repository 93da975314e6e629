#!/usr/bin/env python3
"""Rerankers and taggers on other runtimes, in f32, under the line protocol of common.py.

    task_peer.py --runtime transformers|cross_encoder|onnxruntime --task rerank|tag --package DIR --corpus FILE --serve

    sorted [N]          N lines of the corpus, tokenized, in batches of like lengths
    arrival [N BATCH]   the same in batches as they come
    quit

Of the corpus of rerank each 101 lines are a query and its documents; each such group is one call, as a service would make
it. transformers and ONNX Runtime get the logits and nothing behind them is counted; cross_encoder is the library's predict.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

GROUP = 101
SIZES = (1, 4, 8, 16, 32, 100)


def options():
    mine = argparse.ArgumentParser(add_help=False)
    mine.add_argument("--runtime", required=True, choices=("transformers", "cross_encoder", "onnxruntime"))
    mine.add_argument("--task", required=True, choices=("rerank", "tag"))
    chosen, rest = mine.parse_known_args()
    sys.argv[1:] = rest
    return argparse.Namespace(**vars(common.arguments(__doc__)), **vars(chosen))


OPTIONS = options()

import numpy as np


def model_class():
    import transformers

    return {"rerank": transformers.AutoModelForSequenceClassification, "tag": transformers.AutoModelForTokenClassification}[OPTIONS.task]


class Task:
    """Calls of one request: a list of texts, or of pairs for rerank."""

    name = OPTIONS.runtime
    libraries = ("transformers", "torch", "tokenizers")

    def __init__(self):
        self.options = OPTIONS
        lines = common.read_corpus(OPTIONS.corpus)
        self.tokenizer = common.make_tokenizer(OPTIONS.package)
        self.requests = [lines]
        if OPTIONS.task == "rerank":
            groups = [lines[i : i + GROUP] for i in range(0, len(lines), GROUP)]
            self.requests = [[(group[0], passage) for passage in group[1:]] for group in groups]

    def some(self, count):
        """What `count` lines of the corpus are: whole groups, or sentences taken evenly."""
        if OPTIONS.task == "tag":
            return [common.spread(self.requests[0], count)]
        return self.requests[: count // GROUP if count else None]

    def run(self, ids, mask, types):
        raise NotImplementedError

    def answer(self, texts, batch, in_order):
        rows = self.tokenizer.encode_batch(texts)
        order = range(len(rows)) if in_order else sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
        out = [None] * len(rows)
        for start in range(0, len(rows), batch):
            some = order[start : start + batch]
            arrays = np.zeros((3, len(some), max(len(rows[i].ids) for i in some)), dtype=np.int64)
            for k, i in enumerate(some):
                n = len(rows[i].ids)
                arrays[0, k, :n], arrays[1, k, :n], arrays[2, k, :n] = rows[i].ids, 1, rows[i].type_ids
            for i, logits in zip(some, self.run(*arrays)):
                out[i] = logits
        return out


class Transformers(Task):
    def __init__(self):
        super().__init__()
        import torch

        torch.set_num_threads(OPTIONS.threads)
        self.torch = torch
        self.model = model_class().from_pretrained(OPTIONS.package, dtype=torch.float32, local_files_only=True).eval()

    def run(self, ids, mask, types):
        tensor = self.torch.from_numpy
        with self.torch.inference_mode():
            return self.model(input_ids=tensor(ids), attention_mask=tensor(mask), token_type_ids=tensor(types)).logits.numpy()


class CrossEncoder(Task):
    libraries = ("sentence-transformers", "transformers", "torch", "tokenizers")

    def __init__(self):
        super().__init__()
        import torch
        from sentence_transformers import CrossEncoder as Library

        torch.set_num_threads(OPTIONS.threads)
        self.model = Library(str(OPTIONS.package), device="cpu", local_files_only=True)

    def answer(self, texts, batch, in_order):
        """The library sorts by length itself."""
        return self.model.predict(texts, batch_size=batch, show_progress_bar=False)


class OnnxRuntime(Task):
    libraries = ("onnxruntime", "tokenizers")

    def __init__(self):
        super().__init__()
        import onnxruntime

        session = onnxruntime.SessionOptions()
        session.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session.intra_op_num_threads = OPTIONS.threads
        session.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(exported()), session, providers=["CPUExecutionProvider"])

    def run(self, ids, mask, types):
        return self.session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})[0]


def exported():
    """The model with its head as one ONNX graph, made once, beside the graphs of export.py."""
    import os
    import warnings

    import export

    path = export.cache_folder() / f"{common.hash_file(OPTIONS.package / 'model.safetensors')[:16]}-{OPTIONS.task}.onnx"
    if path.exists():
        return path
    warnings.simplefilter("ignore")
    import torch

    model = model_class().from_pretrained(OPTIONS.package, dtype=torch.float32, attn_implementation="eager", local_files_only=True)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model.eval()

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    names = ["input_ids", "attention_mask", "token_type_ids"]
    ids = torch.ones(2, 7, dtype=torch.long)
    scratch = path.with_suffix(f".{os.getpid()}.onnx")
    path.parent.mkdir(parents=True, exist_ok=True)
    axes = {name: {0: "texts", 1: "tokens"} for name in names} | {"logits": {0: "texts"} | ({1: "tokens"} if OPTIONS.task == "tag" else {})}
    torch.onnx.export(Logits(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), str(scratch), dynamo=False, opset_version=17,
                      input_names=names, output_names=["logits"], dynamic_axes=axes)
    scratch.replace(path)
    return path


def best_batch(task):
    """The sizes take turns; each one's fastest pass counts."""
    sample = task.some(GROUP)[0][:100]
    task.answer(sample[:16], 8, False)
    seconds = {}
    for _ in range(OPTIONS.sweep_rounds):
        for size in SIZES:
            now = common.timed(lambda: task.answer(sample, size, False))
            seconds[size] = min(now, seconds.get(size, now))
    return min(seconds, key=seconds.get)


def main():
    from importlib.metadata import version

    task = {"transformers": Transformers, "cross_encoder": CrossEncoder, "onnxruntime": OnnxRuntime}[OPTIONS.runtime]()
    batch = OPTIONS.batch or best_batch(task)
    common.say(peer=task.name, event="ready", batch=batch, threads=OPTIONS.threads,
               versions={name: version(name).split("+")[0] for name in task.libraries})
    for line in sys.stdin if OPTIONS.serve else ["sorted"]:
        kind, *numbers = line.split()
        if kind == "quit":
            break
        requests = task.some(int(numbers[0]) if numbers else OPTIONS.texts)
        size = int(numbers[1]) if len(numbers) > 1 else batch
        seconds = common.timed(lambda: [task.answer(texts, size, kind == "arrival") for texts in requests])
        texts = [text for request in requests for text in request]
        tokens = sum(len(e.ids) for e in task.tokenizer.encode_batch(texts))
        common.say(peer=task.name, event=kind, threads=OPTIONS.threads, texts=len(texts), requests=len(requests), tokens=tokens,
                   seconds=round(seconds, 4), tokens_per_s=round(tokens / seconds, 1), batch=size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
