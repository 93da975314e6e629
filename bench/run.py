#!/usr/bin/env python3
"""The embedding bench: tenon and its peers on one package, one corpus, the same threads, interleaved in one run.

    bench/run.py BUILD [--native-only] [--rounds N] [--texts N] [--arrival-texts N] [--threads N] [--only WORD]

Every round gives each runtime its turn, so that a noisy minute hits all of them; medians are over rounds. Peers sort by
length and use their best batch size; "arrival" is the same peers fed in the order of the corpus in batches of 32, "its best"
in the batch that suits them best there. tenon always takes the corpus as it comes. Rates count real tokens and include tokenization.

The FLOP bound is the matrix work of the corpus (linear layers and attention, two per multiply-add, no padding) divided
by the GEMM peak that is measured in the same round.

Then the rows of task_rows.py (other tasks and families) and of tokenizer_rows.py.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import task_rows
import tokenizer_rows
from driver import ROOT, Runtime, has_bf16, median, printed_path, verdict

# Batch of the peers in arrival order: the default of sentence-transformers' encode. Their best one there is 1, which pads
# nothing and batches nothing; it stands beside it.
ARRIVAL_BATCH = 32
PEERS = ("onnxruntime", "openvino", "sentence_transformers")


def corpus_flops(package, corpus, texts):
    """Matrix work of the texts: 2 T (4 h^2 + 2 h f) + 4 T^2 h for each layer."""
    sys.path.insert(0, str(ROOT / "bench" / "peers"))
    import common

    config = json.loads((package / "config.json").read_text(encoding="utf-8"))
    h, f, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    tokenizer = common.make_tokenizer(package)
    lengths = [len(e.ids) for e in tokenizer.encode_batch(common.spread(common.read_corpus(corpus), texts))]
    return sum(layers * (2 * n * (4 * h * h + 2 * h * f) + 4 * n * n * h) for n in lengths), sum(lengths), len(lengths)


def start(options, package, corpus):
    common = ["--package", str(package), "--corpus", str(corpus), "--threads", str(options.threads)]
    build = ROOT / options.build / "bench"
    tenon = {"tenon f32": [str(build / "embed"), *common]}
    if has_bf16(options.build):
        tenon["tenon bf16"] = [str(build / "embed"), *common, "--precision", "bf16"]
    else:
        print("skipped: bf16, the CPU has no AVX512_BF16")
    runtimes = {name: Runtime(name, command) for name, command in tenon.items()}
    if not options.native_only:
        for name in PEERS:
            script = ROOT / "bench" / "peers" / f"{name}_peer.py"
            runtimes[name] = Runtime(name, [sys.executable, str(script), *common, "--serve"])
            print(f"{name}: batch {runtimes[name].ready['batch']} sorted, {runtimes[name].ready['arrival_batch']} as they come, "
                  f"{runtimes[name].ready['versions']}")
    return runtimes


def spread(rows, key):
    values = [row[key] for row in rows]
    return f"{min(values):.0f}..{max(values):.0f}"


def run_rounds(options, runtimes):
    rates = {name: [] for name in runtimes}
    arrivals = {name: [] for name in runtimes}
    best_arrivals = {name: [] for name in runtimes}
    latencies = {name: [] for name in runtimes}
    peaks = {"f32": [], "bf16": []}
    for turn in range(options.rounds):
        for name, runtime in runtimes.items():
            if name.startswith("tenon"):
                precision = name.split()[1]
                peaks[precision].append(runtime.ask("peak"))
                rates[name].append(runtime.ask(f"arrival {options.texts}"))
                arrivals[name].append(runtime.ask(f"arrival {options.arrival_texts}"))
                best_arrivals[name].append(arrivals[name][-1])
            else:
                rates[name].append(runtime.ask(f"sorted {options.texts}"))
                arrivals[name].append(runtime.ask(f"arrival {options.arrival_texts} {ARRIVAL_BATCH}"))
                best_arrivals[name].append(runtime.ask(f"arrival {options.arrival_texts}"))
            latencies[name].append(runtime.ask("latency 300"))
        print(f"round {turn + 1} of {options.rounds} done", flush=True)
    return rates, arrivals, best_arrivals, latencies, peaks


def report(options, results, flops, tokens):
    rates, arrivals, best_arrivals, latencies, peaks = results
    print(f"\n{'runtime':24}{'tokens/s':>10}{'range':>16}{'arrival':>10}{'its best':>10}{'8 tokens ms':>13}{'p90':>8}")
    for name in rates:
        print(f"{name:24}{median(rates[name], 'tokens_per_s'):10.0f}{spread(rates[name], 'tokens_per_s'):>16}"
              f"{median(arrivals[name], 'tokens_per_s'):10.0f}{median(best_arrivals[name], 'tokens_per_s'):10.0f}"
              f"{median(latencies[name], 'median_ms'):13.3f}"
              f"{median(latencies[name], 'p90_ms'):8.3f}")
    good = []
    peers = [name for name in rates if not name.startswith("tenon")]
    fastest = max(peers, key=lambda name: median(rates[name], "tokens_per_s")) if peers else None
    for precision, times, share in (("f32", 1.25, 0.80), ("bf16", 2.0, 0.65)):
        name = f"tenon {precision}"
        if name not in rates:
            continue
        peak = median(peaks[precision], "gflops")
        bound = peak * 1e9 / (flops / tokens)
        ours = median(rates[name], "tokens_per_s")
        print(f"\n{name}: GEMM peak {peak:.0f} GF/s on {options.threads} threads, FLOP bound {bound:.0f} tokens/s, "
              f"reached {ours / bound:.1%}")
        if not fastest:
            continue
        peer = median(rates[fastest], "tokens_per_s")
        print(f"  {ours / peer:.2f}x {fastest}, the fastest peer")
        good.append(verdict(f"against min({times}x fastest f32 peer, {share:.0%} of the bound)", ours, min(times * peer, share * bound)))
        for other in peers:
            late = median(arrivals[other], "tokens_per_s")
            best = median(best_arrivals[other], "tokens_per_s")
            own = median(arrivals[name], "tokens_per_s")
            note = f"; 5x would be {5 * late:.0f} tokens/s, above the FLOP bound" if 5 * late > bound else ""
            good.append(verdict(f"{other} in arrival order by {ARRIVAL_BATCH} ({own / best:.2f}x at the batch that suits it best{note})",
                                own / late, 5.0))
    if fastest:
        ort = median(latencies["onnxruntime"], "median_ms")
        for name in [n for n in rates if n.startswith("tenon")]:
            good.append(verdict(f"{name}: 8 tokens against ONNX Runtime", median(latencies[name], "median_ms") / ort, 0.75, False))
    return good


def tokenizer_bench(options, package):
    """One core each, the same 3 MB; both report the fastest of their passes."""
    corpus = subprocess.run([sys.executable, ROOT / "bench" / "corpus" / "make3mb.py"], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL, check=True).stdout.strip()
    common = ["--package", str(package), "--corpus", corpus]
    ours = subprocess.run([ROOT / options.build / "bench" / "tokenizer", *common], stdout=subprocess.PIPE, text=True, check=True)
    rows = [json.loads(line) for line in ours.stdout.splitlines() if line.startswith("{")]
    own = {row["event"]: row["mb_per_s"] for row in rows if "mb_per_s" in row}
    print(f"\ntokenizer, one core: {own['ids']:.1f} MB/s, with offsets {own['ids_and_offsets']:.1f}")
    if options.native_only:
        return []
    script = ROOT / "bench" / "peers" / "tokenizers_bench.py"
    peer = subprocess.run([sys.executable, script, *common, "--passes", "2"], stdout=subprocess.PIPE, text=True, check=True)
    best = max(json.loads(line)["mb_per_s"] for line in peer.stdout.splitlines() if line.startswith("{") and "mb_per_s" in line)
    print(f"  the tokenizers library at its best: {best:.2f} MB/s")
    return [verdict("ids against the tokenizers library", own["ids"] / best, 10.0)]


def close(good):
    print(f"{good.count(True)} passed, {good.count(False)} failed, {good.count(None)} skipped")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--native-only", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=0, help="0: all 5,000")
    parser.add_argument("--arrival-texts", type=int, default=600)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only the rows of task_rows.py and tokenizer_rows.py whose name has it")
    options = parser.parse_args()
    if options.only:
        close(task_rows.run(options) + tokenizer_rows.run(options))
        return
    package = printed_path(ROOT / "tools" / "fetch-models", "all-minilm-l6-v2")
    if not package:
        print("skipped: the package is not available\n0 passed, 0 failed, 1 skipped")
        return
    corpus = printed_path(sys.executable, ROOT / "bench" / "corpus" / "make.py")
    flops, tokens, count = corpus_flops(package, corpus, options.texts)
    print(f"{count} texts, {tokens} tokens, {flops / 1e9:.0f} GFLOP, {options.threads} threads")
    runtimes = start(options, package, corpus)
    good = report(options, run_rounds(options, runtimes), flops, tokens)
    for runtime in runtimes.values():
        runtime.close()
    good += tokenizer_bench(options, package)
    good += task_rows.run(options)
    good += tokenizer_rows.run(options)
    close(good)


if __name__ == "__main__":
    main()
