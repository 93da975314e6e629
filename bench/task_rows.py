"""Rows for other tasks and other families than the first bench: a reranker over 100 documents, a tagger, the later encoders.

One row, one line of ROWS. Packages come from bench/models.py: shapes of published checkpoints, real tokenizers, random
weights. Every round gives each runtime its turn; medians are over rounds; peers sort by length and take their best batch.
The bound is the matrix work of the very texts, no padding, divided by the GEMM peak measured in the same round. In a
window only its pairs count; disentangled attention is four products a pair instead of two.
"""

import dataclasses
import json
import sys

from driver import ROOT, Runtime, has_bf16, median, printed_path, verdict

sys.path.append(str(ROOT / "bench" / "peers"))
GROUP = 101


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    model: str
    task: str
    lines: int  # of the corpus
    peers: tuple
    share: float = 0.80  # of the bound, in f32, where 1.25x the fastest peer is more


HEAD_PEERS = ("onnxruntime", "transformers")
EMBED_PEERS = ("onnxruntime", "sentence_transformers", "openvino")
ROWS = (
    Row("rerank 100 documents, 384x6", "bench-reranker-384x6", "rerank", 3 * GROUP, (*HEAD_PEERS, "cross_encoder"), 0.75),
    Row("rerank 100 documents, 384x12", "bench-reranker-384x12", "rerank", 2 * GROUP, (*HEAD_PEERS, "cross_encoder"), 0.75),
    Row("tag sentences, 768x12", "bench-tagger-768x12", "tag", 240, HEAD_PEERS, 0.75),
    Row("embed roberta, 768x4", "random-roberta-768x4", "embedding.dense", 160, EMBED_PEERS),
    Row("embed xlm-roberta, 384x12", "bench-xlm-roberta-384x12", "embedding.dense", 200, EMBED_PEERS),
    Row("embed electra, 256x12", "bench-electra-256x12", "embedding.dense", 300, EMBED_PEERS),
    Row("embed modernbert, 768x6", "random-modernbert-768x6", "embedding.dense", 120, EMBED_PEERS),
    Row("embed deberta-v2, 768x4", "random-deberta-v3-768x4", "embedding.dense", 140, EMBED_PEERS),
)
CORPUS = {"embedding.dense": ("make.py",), "rerank": ("make_tasks.py", "rerank"), "tag": ("make_tasks.py", "tag")}


def window_pairs(tokens, radius):
    return sum(min(tokens, i + radius + 1) - max(0, i - radius) for i in range(tokens))


def sequence_work(config, n):
    """Multiply-adds times two of one sequence of n tokens in all layers."""
    h, f, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    kinds = config.get("layer_types") or ["full_attention"] * layers
    linear = 4 * h * h + (3 if config["model_type"] == "modernbert" else 2) * h * f
    products = 4 if config.get("relative_attention") else 2
    pairs = {"full_attention": n * n}
    if "sliding_attention" in kinds:
        pairs["sliding_attention"] = window_pairs(n, config["local_attention"] // 2)
    return sum(2 * n * linear + 2 * products * pairs[kind] * h for kind in kinds)


def row_work(row, package, corpus):
    """Work and tokens of the row's texts."""
    import common

    config = json.loads((package / "config.json").read_text(encoding="utf-8"))
    lines = common.read_corpus(corpus)
    if row.task == "rerank":
        texts = [(lines[i - i % GROUP], lines[i]) for i in range(row.lines) if i % GROUP]
    else:
        texts = common.spread(lines, row.lines)
    lengths = [len(e.ids) for e in common.make_tokenizer(package).encode_batch(texts)]
    embed = 2 * config.get("embedding_size", 0) * config["hidden_size"] * sum(lengths) if config["model_type"] == "electra" else 0
    return embed + sum(sequence_work(config, n) for n in lengths), sum(lengths)


def commands(options, row, package, corpus):
    common = ["--package", str(package), "--corpus", str(corpus), "--threads", str(options.threads)]
    embed = [str(ROOT / options.build / "bench" / "embed"), *common, "--task", row.task]
    yield "tenon f32", embed
    if has_bf16(options.build):
        yield "tenon bf16", [*embed, "--precision", "bf16"]
    for peer in () if options.native_only else row.peers:
        folder = ROOT / "bench" / "peers"
        if row.task == "embedding.dense":
            yield peer, [sys.executable, str(folder / f"{peer}_peer.py"), *common, "--serve", "--sweep-rounds", "1", "--texts", "96"]
        else:
            yield peer, [sys.executable, str(folder / "task_peer.py"), "--runtime", peer, "--task", row.task, *common, "--serve"]


def measure(options, row, runtimes, tokens):
    """Rates of each runtime and the peaks, one of each per round."""
    rates, peaks = {name: [] for name in runtimes}, {"f32": [], "bf16": []}
    for _ in range(options.rounds):
        for name, runtime in runtimes.items():
            if name.startswith("tenon"):
                peaks[name.split()[1]].append(runtime.ask("peak"))
            rates[name].append(runtime.ask(f"{'arrival' if name.startswith('tenon') else 'sorted'} {row.lines}"))
            if rates[name][-1]["tokens"] != tokens:
                raise RuntimeError(f"{row.name}: {name} counts {rates[name][-1]['tokens']} tokens where the tokenizer has {tokens}")
    return rates, peaks


def report(row, runtimes, rates, peaks, work, tokens):
    requests = row.lines // GROUP if row.task == "rerank" else 1
    print(f"\n{row.name}: {tokens} tokens, {work / 1e9:.0f} GFLOP")
    for name in rates:
        seconds = [one["seconds"] / requests * 1e3 for one in rates[name]]
        batch = f", batch {runtimes[name].ready['batch']}" if "batch" in runtimes[name].ready else ""
        per_request = f", {sorted(seconds)[len(seconds) // 2]:.0f} ms a request" if row.task == "rerank" else ""
        print(f"  {name:24}{median(rates[name], 'tokens_per_s'):10.0f} tokens/s{per_request}{batch}")
    peers = [name for name in rates if not name.startswith("tenon")]
    fastest = max(peers, key=lambda name: median(rates[name], "tokens_per_s")) if peers else None
    good = []
    for precision in ("f32", "bf16"):
        if f"tenon {precision}" not in rates:
            continue
        bound = median(peaks[precision], "gflops") * 1e9 * tokens / work
        ours = median(rates[f"tenon {precision}"], "tokens_per_s")
        against = f", {ours / median(rates[fastest], 'tokens_per_s'):.2f}x {fastest}, the fastest peer" if fastest else ""
        print(f"  {precision}: {ours / bound:.1%} of the FLOP bound of {bound:.0f} tokens/s{against}")
        if fastest and precision == "f32":
            bar = min(1.25 * median(rates[fastest], "tokens_per_s"), row.share * bound)
            good.append(verdict(f"{row.name}, f32, against min(1.25x the fastest peer, {row.share:.0%} of the bound)", ours, bar))
    return good


def run_row(options, row):
    package = printed_path(sys.executable, ROOT / "bench" / "models.py", row.model)
    if not package:
        print(f"skipped {row.name}: {row.model} cannot be made here")
        return [None]
    script, *words = CORPUS[row.task]
    corpus = printed_path(sys.executable, ROOT / "bench" / "corpus" / script, *words)
    work, tokens = row_work(row, package, corpus)
    runtimes = {name: Runtime(name, command) for name, command in commands(options, row, package, corpus)}
    rates, peaks = measure(options, row, runtimes, tokens)
    good = report(row, runtimes, rates, peaks, work, tokens)
    for runtime in runtimes.values():
        runtime.close()
    return good


def run(options):
    return [result for row in ROWS if options.only in row.name for result in run_row(options, row)]
