"""What the peers of the embedding bench share: the corpus, batching, the sweep, timing, the protocol.

A peer is one process. It loads, finds its best batch size by a short sweep, prints a line

    {"peer": ..., "event": "ready", "batch": 32, "threads": 2, "versions": {...}, ...}

and then, with --serve, takes one command a line on stdin and answers each with one JSON line on
stdout, so that a driver can interleave the peers' passes within one run:

    sorted [N]          N texts (0: all), tokenized, sorted by length, run, put back in order
    model [N]           the same batches, tokenized and sorted beforehand: the model alone
    arrival [N [BATCH]] N texts in batches as they come, no sorting; BATCH 0: the best for that
    latency [COUNT]     one text of 8 tokens: median and 90 % quantile in milliseconds
    quit

Without --serve it does sorted, model, arrival and latency once. Tokens are real ones: special
tokens count, padding does not, and truncation at the package's length does.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
LATENCY_TEXT = "the cat sat on the mat"
LATENCY_TOKENS = 8
SWEEP = (4, 8, 16, 32, 64)
SWEEP_BLOCK = 64
SWEEP_BLOCKS = 5
ARRIVAL_SWEEP = (1, 2, 4, 8, 32)
ARRIVAL_TEXTS = 96


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--package", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", required=True, type=pathlib.Path, help="one JSON string a line")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=int, default=0, help="passes without a number take so many (0: all)")
    parser.add_argument("--sweep-rounds", type=int, default=2)
    parser.add_argument("--batch", type=int, default=0, help="no sweep: this batch size")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--precision", default="f32", choices=("f32", "bf16"))
    options = parser.parse_args()
    # Before any library starts its pools.
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if options.threads > 1 else "false"
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    return options


def read_corpus(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def package_limit(package):
    """The truncation length, by the library's own rule for packages of this kind."""
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        path = package / name
        if path.exists():
            value = json.loads(path.read_text(encoding="utf-8")).get(key)
            if value is not None and value < 10**9:
                return value
    return json.loads((package / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"]


def make_tokenizer(package):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(package_limit(package))
    return tokenizer


def say(**line):
    print(json.dumps(line), flush=True)


class Peer:
    """A runtime that takes padded arrays. Subclasses give `run(ids, mask) -> [texts, dim] array`."""

    name = "peer"
    libraries = ()
    settings = {}

    def __init__(self, options):
        self.options = options
        self.tokenizer = make_tokenizer(options.package)
        self.texts = read_corpus(options.corpus)

    # -- what a subclass may override

    def run(self, ids, mask):
        raise NotImplementedError

    def tokenize(self, texts):
        return [e.ids for e in self.tokenizer.encode_batch(texts)]

    def run_batches(self, batches):
        """Batches of id lists to a list of arrays; a subclass with a queue of its own overrides it."""
        return [self.run(*self.pad(batch)) for batch in batches]

    # -- shared

    def pad(self, rows):
        import numpy as np

        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        return ids, mask

    def embed_sorted(self, texts, batch):
        import numpy as np

        rows = self.tokenize(texts)
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
        parts = self.run_batches([[rows[i] for i in order[s : s + batch]] for s in range(0, len(order), batch)])
        out = np.empty((len(texts), parts[0].shape[1]), dtype=np.float32)
        out[order] = np.concatenate(parts)
        return out

    def embed_arrival(self, texts, batch):
        import numpy as np

        return np.concatenate([self.run(*self.pad(self.tokenize(texts[s : s + batch])))
                               for s in range(0, len(texts), batch)])

    def prepare_model_only(self, texts, batch):
        rows = sorted(self.tokenize(texts), key=lambda row: -len(row))
        batches = [rows[s : s + batch] for s in range(0, len(rows), batch)]
        return lambda: self.run_batches(batches)

    def token_count(self, texts):
        return sum(len(e.ids) for e in self.tokenizer.encode_batch(texts))


def spread(texts, count):
    """`count` texts taken evenly over the corpus, in its order."""
    if not count or count >= len(texts):
        return texts
    return [texts[i * len(texts) // count] for i in range(count)]


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def sweep_sample(peer):
    """Blocks of neighbours out of the whole corpus sorted by length: batches there hold texts of
    nearly one length, as they do in a full pass, and a small random sample would not."""
    order = sorted(peer.texts, key=len)
    out = []
    for k in range(SWEEP_BLOCKS):
        start = (2 * k + 1) * (len(order) - SWEEP_BLOCK) // (2 * SWEEP_BLOCKS)
        out += order[max(0, start) :][:SWEEP_BLOCK]
    return out


def sweep(peer, texts, sizes, embed):
    """The best batch size: the sizes take turns, and each one's fastest pass counts."""
    embed(texts[:16], 8)
    seconds = {}
    for _ in range(peer.options.sweep_rounds):
        for size in sizes:
            now = timed(lambda: embed(texts, size))
            seconds[size] = min(now, seconds.get(size, now))
    tokens = peer.token_count(texts)
    return min(seconds, key=seconds.get), {size: round(tokens / s) for size, s in seconds.items()}


def quantiles(samples):
    samples = sorted(samples)
    return statistics.median(samples), samples[int(len(samples) * 0.9)]


def rate(peer, kind, texts, function, **more):
    """Times one pass. The processor seconds of the process tell a disturbed pass from a quiet one."""
    before = time.process_time()
    seconds = timed(function)
    cpu = time.process_time() - before
    tokens = peer.token_count(texts)
    say(peer=peer.name, event=kind, precision=peer.options.precision, threads=peer.options.threads, texts=len(texts),
        tokens=tokens, seconds=round(seconds, 4), cpu_seconds=round(cpu, 4), texts_per_s=round(len(texts) / seconds, 2),
        tokens_per_s=round(tokens / seconds, 1), **more)


def latency(peer, count):
    rows = peer.tokenize([LATENCY_TEXT])
    if len(rows[0]) != LATENCY_TOKENS:
        raise ValueError(f"the latency text has {len(rows[0])} tokens")
    ids, mask = peer.pad(rows)
    whole, model = [], []
    for i in range(count + 20):
        a = timed(lambda: peer.embed_arrival([LATENCY_TEXT], 1))
        b = timed(lambda: peer.run(ids, mask))
        if i >= 20:
            whole.append(a * 1e3)
            model.append(b * 1e3)
    (median, p90), (model_median, model_p90) = quantiles(whole), quantiles(model)
    say(peer=peer.name, event="latency", precision=peer.options.precision, threads=peer.options.threads,
        tokens=LATENCY_TOKENS, count=count, median_ms=round(median, 4), p90_ms=round(p90, 4),
        model_median_ms=round(model_median, 4), model_p90_ms=round(model_p90, 4))


def verify(peer):
    """The peer must embed what the package means: its answers against the committed reference."""
    import numpy as np

    golden = ROOT / "tests" / "golden" / "real"
    document = json.loads((golden / "minilm_300.json").read_text(encoding="utf-8"))
    weights = hash_file(peer.options.package / "model.safetensors")
    if weights != document["model_safetensors_sha256"]:
        return None
    want = np.fromfile(golden / "minilm_300.bin", dtype="<f4").reshape(len(document["texts"]), -1)
    some = range(0, len(want), 5)
    got = peer.embed_sorted([document["texts"][i]["text"] for i in some], 16)
    return float(np.abs(got - want[list(some)]).max())


def hash_file(path):
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def serve(peer):
    from importlib.metadata import version

    difference = verify(peer)
    limit = 1e-5 if peer.options.precision == "f32" else 0.02
    if difference is not None and difference > limit:
        say(peer=peer.name, event="error", message=f"differs from the reference by {difference:.2e}")
        return 1
    if peer.options.batch:
        batch, table, arrival_batch, arrival_table = peer.options.batch, {}, peer.options.batch, {}
    else:
        batch, table = sweep(peer, sweep_sample(peer), SWEEP, peer.embed_sorted)
        arrival_batch, arrival_table = sweep(peer, spread(peer.texts, ARRIVAL_TEXTS), ARRIVAL_SWEEP,
                                             peer.embed_arrival)
    say(peer=peer.name, event="ready", precision=peer.options.precision, threads=peer.options.threads, batch=batch,
        sweep=table, arrival_batch=arrival_batch, arrival_sweep=arrival_table, settings=peer.settings,
        versions={name: version(name).split("+")[0] for name in peer.libraries},
        difference_from_reference=difference)

    def do(words):
        kind, numbers = words[0], [int(w) for w in words[1:]]
        count = numbers[0] if numbers else peer.options.texts
        texts = spread(peer.texts, count)
        if kind == "sorted":
            rate(peer, kind, texts, lambda: peer.embed_sorted(texts, batch), batch=batch)
        elif kind == "model":
            call = peer.prepare_model_only(texts, batch)
            rate(peer, kind, texts, call, batch=batch)
        elif kind == "arrival":
            size = numbers[1] if len(numbers) > 1 and numbers[1] else arrival_batch
            rate(peer, kind, texts, lambda: peer.embed_arrival(texts, size), batch=size)
        elif kind == "latency":
            latency(peer, numbers[0] if numbers else 300)
        else:
            say(peer=peer.name, event="error", message=f"unknown command {kind!r}")

    if not peer.options.serve:
        for words in (["sorted"], ["model"], ["arrival"], ["latency"]):
            do(words)
        return 0
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        if words:
            do(words)
    return 0
