#!/usr/bin/env python3
"""The texts of the task rows, the same on every machine: queries with their passages, and sentences to tag.

    python3 bench/corpus/make_tasks.py rerank|tag [OUT.jsonl]

Writes one JSON string a line and prints the path. `rerank`: groups of 101 lines, a query and 100 passages whose lengths in
tokens are spread as those of MS MARCO's passages are. `tag`: 2,000 sentences spread as CoNLL-2003's. The words are those
of make.py.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make
from prng import SplitMix
from prose import Writer

SEED = 20261130
GROUPS, PASSAGES, SENTENCES = 6, 100, 2000
# Quantiles of the length in WordPiece tokens.
QUERY = [(0, 3), (25, 6), (50, 8), (75, 10), (100, 24)]
PASSAGE = [(0, 12), (5, 33), (25, 53), (50, 69), (75, 95), (95, 150), (100, 260)]
SENTENCE = [(0, 3), (10, 5), (25, 9), (50, 14), (75, 29), (95, 47), (99, 62), (100, 130)]


def length(rng, quantiles):
    at = rng.below(100_000) / 1000
    for (q0, n0), (q1, n1) in zip(quantiles, quantiles[1:]):
        if at <= q1:
            return int(n0 + (n1 - n0) * (at - q0) / (q1 - q0))
    return quantiles[-1][1]


def texts(kind):
    rng = SplitMix(SEED)
    writer = Writer(rng)
    if kind == "tag":
        for _ in range(SENTENCES):
            yield make.prose(writer, length(rng, SENTENCE) + 2)
        return
    for _ in range(GROUPS):
        yield make.prose(writer, length(rng, QUERY) + 2)
        for _ in range(PASSAGES):
            yield make.prose(writer, length(rng, PASSAGE) + 2)


def main():
    kind = sys.argv[1]
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else make.default_path().with_name(f"corpus-{kind}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.with_suffix(".scratch")
    scratch.write_text("".join(json.dumps(text, ensure_ascii=False) + "\n" for text in texts(kind)), encoding="utf-8")
    scratch.replace(out)
    print(out)


if __name__ == "__main__":
    main()
