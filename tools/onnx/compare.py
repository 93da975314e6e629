#!/usr/bin/env python3
"""Real graph packages on two providers through `tenon compare`, one command and one line each.

    tools/onnx/compare.py --tenon build/tenon [--providers native,onnxruntime] [--only WORD] [--layers]

Needs numpy, the library of ONNX Runtime (TENON_ONNXRUNTIME) and packages of the model cache; a package that is not there is
named. Inputs are those of bench/graphs.py. Graphs that quantise their activations anew in each layer amplify the last bit
(tests/parity/onnx_real.py says how they are judged): here they are only measured.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import graphs
import numpy as np


def compare(options, file, feeds, folder):
    # A file alone has no external data: that is found inside the package.
    package = [str(file)]
    if list(file.parent.glob(file.name + "_data*")):
        root = next(p for p in file.parents if p.parent == graphs.CACHE)
        package = [str(root), "--variant", str(file.relative_to(root))]
    command = [options.tenon, "compare", *package, "--providers", options.providers, "--json", "--quiet"]
    for i, (name, value) in enumerate(feeds.items()):
        np.save(folder / f"{i}.npy", value)
        command += ["--input", f"{name}={folder / f'{i}.npy'}"]
    done = subprocess.run(command + ["--layers"] * options.layers, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout), done.returncode


def show(name, document):
    if "error" in document:
        print(f"{name:22} {document['error']['code']}: {document['error']['message']}")
        return
    outputs, layers = document["outputs"], document["layers"]
    argmax = [o["argmax"] for o in outputs if o["argmax"]]
    print(f"{name:22} {'agrees' if document['agree'] else 'differs':8} max abs {max(o['max_abs'] for o in outputs):9.2e}  "
          f"1 - cosine {1 - min(o['cosine'] for o in outputs):9.2e}  argmax {sum(a['same'] for a in argmax)} of {sum(a['rows'] for a in argmax)}"
          f"  {' / '.join(format(p['answered_ms'], '.0f') for p in document['providers'])} ms", end="")
    first = layers and layers["first_difference"]
    print(f"  inside {layers['compared']} of {layers['values']}, first at {first['node']} ({first['first']['operator']})" if first else
          f"  inside {layers['compared']} of {layers['values']}, none differs" if layers else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--providers", default="native,onnxruntime")
    parser.add_argument("--only", default="")
    parser.add_argument("--layers", action="store_true")
    options = parser.parse_args()
    for name, file, feeds in graphs.ROWS:
        if options.only not in name:
            continue
        if not (graphs.CACHE / file).exists():
            print(f"{name:22} is not in the cache")
            continue
        with tempfile.TemporaryDirectory() as folder:
            show(name, compare(options, graphs.CACHE / file, feeds(), pathlib.Path(folder))[0])


if __name__ == "__main__":
    main()
