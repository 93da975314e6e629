#!/usr/bin/env python3
"""The embedding bench's corpus: 5,000 texts of realistic, mixed lengths, the same on every machine.

    python3 bench/corpus/make.py [OUT.jsonl]

Writes one JSON string a line and prints the path. Lengths are heavy-tailed, from about 5 to about
400 WordPiece tokens (half below 40, one in ten above 190), in the order in which a service would
see them, which is none. Two thirds are prose, a sixth Markdown, a sixth code. Needs no package.
"""

import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from prng import SplitMix
from prose import Writer

SEED = 20261129
COUNT = 5000
# Quantiles of the length in tokens; between them the length is interpolated.
QUANTILES = [(0, 5), (10, 9), (25, 17), (50, 38), (75, 88), (90, 185), (97, 290), (100, 400)]
TOKENS_PER_WORD = 1.56
TOKENS_PER_CODE_CHARACTER = 0.40


def length(rng):
    at = rng.below(100_000) / 1000
    for (q0, n0), (q1, n1) in zip(QUANTILES, QUANTILES[1:]):
        if at <= q1:
            return int(n0 + (n1 - n0) * (at - q0) / (q1 - q0))
    return QUANTILES[-1][1]


def prose(writer, tokens):
    words = max(3, int((tokens - 2) / TOKENS_PER_WORD))
    if words <= 6:
        return " ".join(writer.token() for _ in range(words))
    out = []
    while words > 0:
        take = min(words, writer.rng.between(6, 26))
        out.append(writer.sentence(take))
        words -= take
    return " ".join(out)


def grown(piece, tokens):
    """Adds pieces until the characters are about right, then cuts at a blank."""
    limit = max(20, int(tokens / TOKENS_PER_CODE_CHARACTER))
    text = ""
    while len(text) < limit:
        text += ("\n" if text else "") + piece()
    cut = text[:limit].rsplit(" ", 1)[0]
    return cut if len(cut) > limit // 2 else text[:limit]


def texts():
    rng = SplitMix(SEED)
    writer = Writer(rng)
    for _ in range(COUNT):
        tokens, kind = length(rng), rng.below(6)
        if kind == 4 and tokens > 12:
            yield grown(lambda: writer.markdown(1), tokens)
        elif kind == 5 and tokens > 12:
            yield grown(lambda: writer.code(1), tokens)
        else:
            yield prose(writer, tokens)


def default_path():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(cache) / "tenon" / "bench" / "corpus-5000.jsonl"


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default_path()
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.with_name(out.name + f".{os.getpid()}")
    with open(scratch, "w", encoding="utf-8") as file:
        for text in texts():
            file.write(json.dumps(text, ensure_ascii=False) + "\n")
    scratch.replace(out)
    print(out)


if __name__ == "__main__":
    main()
