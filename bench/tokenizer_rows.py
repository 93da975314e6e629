"""Tokenizers of the models list on one core: loading, prose, and inputs that are the worst for a merging model.

Each file is held against the `tokenizers` library: megabytes a second over the 3 MB of make3mb.py, both sides at their
best. The worst cases are single texts of n, 2n and 4n bytes; their times must grow in proportion.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

from driver import ROOT, printed_path, verdict

# Name, entry of the models list, times the library's speed on prose (None: shown, not judged).
FILES = (
    ("byte-level BPE, Qwen 3, 11 MB", "tokenizer-qwen3", 8),
    ("byte-level BPE, Llama 3", "tokenizer-llama3", 8),
    ("byte-level BPE, o200k", "tokenizer-gpt4o", 8),
    ("byte-level BPE, DeepSeek V3", "tokenizer-deepseek-v3", 8),
    ("byte-level BPE, GPT-2", "GPT-2", 8),
    ("byte-level BPE, ModernBERT", "ModernBERT", 8),
    ("Unigram, XLM-RoBERTa", "XLM-RoBERTa", None),
)
LOAD_BAR_MS = 150
STEP = 262_144
# Four times the input may take so many times as long: 4, and room for caches that no longer hold it.
GROWTH = 6.0


def worst_texts():
    """Name and a function from a size to a text without a place to cut it."""
    letters = random.Random(5)
    yield "random letters, no blank", lambda n: "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=n))
    yield "one letter repeated", lambda n: "a" * n
    yield "one sign repeated", lambda n: "=" * n
    yield "blanks", lambda n: " " * n
    yield "all merges apply", lambda n: ("international" * (n // 13 + 1))[:n]
    yield "two letters in turn", lambda n: "ab" * (n // 2)


def tokenizer_folder(entry, folder):
    """A folder with tokenizer.json, or None."""
    if entry.startswith("tokenizer-"):
        return printed_path(ROOT / "tools" / "fetch-models", entry)
    bundle = printed_path(ROOT / "tools" / "fetch-models", "llama-vocabularies")
    if not bundle:
        return None
    sys.path.append(str(ROOT / "tests" / "parity"))
    import vocabularies

    made = pathlib.Path(folder) / entry
    made.mkdir()
    (made / "tokenizer.json").write_text(json.dumps(vocabularies.FILES[entry](bundle / "gitRelease.bundle"), ensure_ascii=False))
    return made


def ask(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    return {row["event"]: row for row in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines()))}


def ours(options, package, corpus, passes=3):
    return ask([ROOT / options.build / "bench" / "tokenizer", "--package", package, "--corpus", corpus, "--passes", passes, "--way", "ids"])


def run_worst(options, package, folder):
    good, file = [], pathlib.Path(folder) / "worst.txt"
    print(f"  {'one text, ms at KiB of':30}{STEP // 1024:8}{STEP // 512:8}{STEP // 256:8}")
    for name, text in worst_texts():
        times = []
        for size in (STEP, 2 * STEP, 4 * STEP):
            file.write_text(text(size))
            times.append(ours(options, package, file)["ids"]["seconds"] * 1e3)
        print(f"  {name:30}" + "".join(f"{ms:8.1f}" for ms in times))
        good.append(verdict(f"growth of {name} from n to 4n", times[2] / max(times[0], 0.1), GROWTH, False))
    return good


def run_file(options, row, corpus, folder):
    name, entry, factor = row
    package = tokenizer_folder(entry, folder)
    if not package:
        print(f"skipped {name}: cannot be had here")
        return [None]
    own = ours(options, package, corpus, 5)
    load = own["load"]["parse_ms"] + own["load"]["build_ms"]
    print(f"\n{name}: {own['load']['bytes'] / 1e6:.1f} MB loaded in {load:.0f} ms, {own['ids']['mb_per_s']:.1f} MB/s")
    good = [verdict(f"{name}: load, ms", load, LOAD_BAR_MS, False)] if own["load"]["bytes"] > 10e6 else []
    if not options.native_only:
        script = ROOT / "bench" / "peers" / "tokenizers_bench.py"
        peer = ask([sys.executable, script, "--package", package, "--corpus", corpus, "--passes", "1"])["best"]["mb_per_s"]
        print(f"  {own['ids']['mb_per_s'] / peer:.1f}x the tokenizers library at its best, {peer:.2f} MB/s")
        if factor:
            good.append(verdict(f"{name} against the tokenizers library", own["ids"]["mb_per_s"] / peer, factor))
    return good + (run_worst(options, package, folder) if factor else [])


def run(options):
    good = []
    rows = [row for row in FILES if options.only in row[0]]
    if not rows:
        return good
    corpus = printed_path(sys.executable, ROOT / "bench" / "corpus" / "make3mb.py")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            good += run_file(options, row, corpus, folder)
    return good
