#!/usr/bin/env python3
"""Forests on our kernels against ONNX Runtime and XGBoost, one row for each, in the same run, same threads.

    bench/forests.py BUILD [--threads N] [--seconds S] [--only WORD] [--native-only]

Trained by XGBoost on drawn data (28 features, an answer that needs them together, a little noise), exported by onnxmltools,
kept in the model cache. XGBoost answers by inplace_predict from the same array: a DMatrix would answer the second call from
its memory. Every peer gives its best of two medians. A row: see graphs.py; "diff" is to ONNX Runtime. Needs the packages of
tools/ref/requirements-ml.txt.
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np

import graphs

FEATURES = 28
FOLDER = graphs.CACHE / "forests"
# name, trees, depth, rows
ROWS = [
    ("500 x depth 6, 100k rows", 500, 6, 100_000),
    ("1000 x depth 8, 100k rows", 1000, 8, 100_000),
    ("500 x depth 6, 1 row", 500, 6, 1),
    ("1000 x depth 8, 1 row", 1000, 8, 1),
]


def draw(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, FEATURES)).astype(np.float32)
    y = np.sin(x[:, 0] * x[:, 1]) + np.abs(x[:, 2:9]).sum(1) * (x[:, 9] > 0) + x[:, 10:].sum(1) / 8 + 0.1 * rng.standard_normal(rows)
    return x, y.astype(np.float32)


def forest(trees, depth):
    """The model's file in both forms, trained on first use."""
    import xgboost
    own, onnx = (FOLDER / f"xgboost-{trees}x{depth}.{end}" for end in ("json", "onnx"))
    if not (own.exists() and onnx.exists()):
        from onnxmltools import convert_xgboost
        from onnxmltools.convert.common.data_types import FloatTensorType
        FOLDER.mkdir(parents=True, exist_ok=True)
        model = xgboost.XGBRegressor(n_estimators=trees, max_depth=depth, learning_rate=0.05, tree_method="hist", random_state=1)
        model.fit(*draw(20_000, 1))
        model.save_model(own)
        onnx.write_bytes(convert_xgboost(model, initial_types=[("X", FloatTensorType([None, FEATURES]))], target_opset=15).SerializeToString())
    return own, onnx


def xgboost_peer(path, x, threads, seconds):
    import xgboost
    booster = xgboost.Booster({"nthread": threads}, model_file=path)
    booster.set_param({"nthread": threads})
    return graphs.time_calls(lambda: booster.inplace_predict(x), seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=graphs.os.cpu_count())
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--native-only", action="store_true")
    options = parser.parse_args()
    options.profile = False
    print(f"{'forest':28}{'ours ms':>10}{'ORT ms':>10}{'XGB ms':>10}{'vs best':>9}{'diff':>10}{'ready ms':>10}{'ORT':>8}{'peak MB':>9}")
    slow = 0
    for name, trees, depth, rows in ROWS:
        if options.only not in name:
            continue
        own, onnx = forest(trees, depth)
        feeds = {"X": draw(rows, 2)[0]}
        with tempfile.TemporaryDirectory() as folder:
            mine, out = graphs.ours(options.build, onnx, feeds, options, pathlib.Path(folder))
        if not mine:
            sys.exit(f"{name}: does not run")
        if options.native_only:
            print(f"{name:28}{mine['median_ms']:10.4f}{'':39}{mine['ready_ms']:10.1f}{'':8}{mine['peak_mb']:9.1f}", flush=True)
            continue
        ort, ready, theirs = graphs.onnxruntime_peer(onnx, feeds, options.threads, options.seconds)
        xgb = min(xgboost_peer(own, feeds["X"], options.threads, options.seconds / 2) for _ in range(2))
        ort = min(ort, graphs.onnxruntime_peer(onnx, feeds, options.threads, options.seconds / 2)[0])
        ratio = min(ort, xgb) / mine["median_ms"]
        slow += ratio < 4
        print(f"{name:28}{mine['median_ms']:10.4f}{ort:10.4f}{xgb:10.4f}{ratio:9.2f}{graphs.difference(out, theirs):10.1e}{mine['ready_ms']:10.1f}{ready:8.1f}{mine['peak_mb']:9.1f}", flush=True)
    if not options.native_only:
        print(f"at least four times the better peer: all but {slow}")


if __name__ == "__main__":
    main()
