#!/usr/bin/env python3
"""How soon graphs are ready and what memory they take, ours through the public interface against ONNX Runtime.

    bench/ready.py BUILD [--threads N] [--only WORD] [--runs N]

Each figure from a process of its own, warm files, least of the runs: milliseconds until the session is ready (ONNX Runtime
with its default optimisation; ours with the weights' identity known from an earlier load, and in brackets without), and the
most resident memory over what was there before the model, through the load and four calls.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import forests
import graphs

PEER = """
import json, sys, time, numpy as np, onnxruntime
path, threads, feeds = sys.argv[1], int(sys.argv[2]), np.load(sys.argv[3])
def memory(key):
    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith(key + ':')) / 1024
o = onnxruntime.SessionOptions()
o.intra_op_num_threads, o.log_severity_level = threads, 3
feeds = {k: feeds[k] for k in feeds}
before = memory('VmRSS')
begin = time.perf_counter()
s = onnxruntime.InferenceSession(path, o, providers=['CPUExecutionProvider'])
ready = (time.perf_counter() - begin) * 1e3
names = {i.name for i in s.get_inputs()}
feeds = {k: v for k, v in feeds.items() if k in names}
held = memory('VmRSS') - before
for _ in range(4):
    s.run(None, feeds)
print(json.dumps({'ready_ms': ready, 'ready_mb': held, 'peak_mb': memory('VmHWM') - before}))
"""


def run(args):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr[-2000:])
        return None
    return json.loads(done.stdout)


def best(rows, key):
    rows = [r for r in rows if r]
    return min(r[key] for r in rows) if rows else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    graphs.join_chunks()
    print(f"{'graph':24}{'ready ms':>10}{'(cold id)':>11}{'open':>7}{'plan':>7}{'load':>8}{'ORT':>9}{'ORT/ours':>9}{'peak MB':>9}{'ORT':>8}{'ours/ORT':>9}")
    forest_rows = [(name, f"forests/xgboost-{trees}x{depth}.onnx", lambda: {"X": forests.draw(1000, 2)[0]}) for name, trees, depth in
                   (("forest 500 x depth 6", 500, 6), ("forest 1000 x depth 8", 1000, 8))]
    for name, file, make in graphs.ROWS + forest_rows:
        path = graphs.CACHE / file
        if options.only not in name or not path.exists():
            continue
        feeds = make()
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            outside = pathlib.Path(str(path) + "_data").exists()  # then the package is the folder
            args = [str(options.build / "bench/ready"), str(path.parent if outside else path), "--threads", str(options.threads)]
            args += ["--variant", path.name] if outside else []
            for i, (port, value) in enumerate(feeds.items()):
                (folder / f"in{i}").write_bytes(np.ascontiguousarray(value).tobytes())
                args.append(f"{port}={value.dtype.name}:{'x'.join(map(str, value.shape)) or '-'}:{folder / f'in{i}'}")
            np.savez(folder / "in.npz", **feeds)
            cold = run(args)
            if not cold:
                print(f"{name:24}  does not run", flush=True)
                continue
            warm = [run(args + ["--cache", str(folder / "cache")]) for _ in range(options.runs + 1)][1:]
            peer = [run([sys.executable, "-c", PEER, str(path), str(options.threads), str(folder / "in.npz")]) for _ in range(options.runs)]
        mine, theirs, peak, other = best(warm, "ready_ms"), best(peer, "ready_ms"), best(warm, "peak_mb"), best(peer, "peak_mb")
        print(f"{name:24}{mine:10.1f}{cold['ready_ms']:11.1f}{best(warm, 'open_ms'):7.1f}{best(warm, 'plan_ms'):7.1f}{best(warm, 'load_ms'):8.1f}{theirs:9.1f}"
              f"{theirs / mine:9.2f}{peak:9.1f}{other:8.1f}{peak / other:9.2f}", flush=True)


if __name__ == "__main__":
    main()
