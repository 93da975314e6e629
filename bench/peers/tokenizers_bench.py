#!/usr/bin/env python3
"""The `tokenizers` library on one core: MB/s over a text file of one text a line.

    RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false python bench/peers/tokenizers_bench.py \\
        --package PKG --corpus CORPUS.txt [--passes 3]

Prints a JSON line per way of calling it (one by one, a batch, a batch without offsets) and one with
the best. No truncation, no padding; each way is timed several times and its fastest pass counts.
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import argparse
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", required=True, type=pathlib.Path)
    parser.add_argument("--corpus", required=True, type=pathlib.Path)
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()

    from importlib.metadata import version
    from tokenizers import Tokenizer

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    tokenizer = Tokenizer.from_file(str(options.package / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    data = options.corpus.read_bytes()
    lines = data.decode().splitlines()
    tokens = 0

    def one_by_one():
        return sum(len(tokenizer.encode(line).ids) for line in lines)

    def batch():
        return sum(len(e.ids) for e in tokenizer.encode_batch(lines))

    def batch_fast():
        return sum(len(e.ids) for e in tokenizer.encode_batch_fast(lines))

    best = {}
    for _ in range(options.passes):
        for way in (one_by_one, batch, batch_fast):
            start = time.perf_counter()
            tokens = way()
            seconds = time.perf_counter() - start
            best[way.__name__] = min(seconds, best.get(way.__name__, seconds))
    common = {"peer": "tokenizers", "version": version("tokenizers"), "threads": 1, "bytes": len(data),
              "lines": len(lines), "tokens": tokens}
    for way, seconds in best.items():
        print(json.dumps({**common, "event": way, "seconds": round(seconds, 4),
                          "mb_per_s": round(len(data) / seconds / 1e6, 3)}))
    way = min(best, key=best.get)
    print(json.dumps({**common, "event": "best", "way": way, "seconds": round(best[way], 4),
                      "mb_per_s": round(len(data) / best[way] / 1e6, 3)}))


if __name__ == "__main__":
    main()
