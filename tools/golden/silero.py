"""What ONNX Runtime makes of 50 chunks of silero's voice detector with its state carried: tests/golden/tensor/silero.json.

    python tools/golden/silero.py MODELS

Chunk k has the context of the chunk before in front, as the package's own code does it; its samples are of a fixed
sequence of whole numbers, so that both sides have the same bits.
"""

import json
import pathlib
import sys

import common
import numpy as np
import onnxruntime as ort

CHUNKS, SAMPLES, CONTEXT = 50, 512, 64


def samples(count):
    """x' = 1664525 x + 1013904223 mod 2^32; a sample is its upper half about 0, quieter in every other stretch of 8 chunks."""
    x, out = 1, np.empty(count, np.float32)
    for i in range(count):
        x = (1664525 * x + 1013904223) % 2**32
        level = 2**17 if i // (8 * SAMPLES) % 2 == 0 else 2**22
        out[i] = np.float32((x >> 16) - 32768) / np.float32(level)
    return out


def main():
    path = pathlib.Path(sys.argv[1]) / "silero-vad-6.2.3/silero_vad.onnx"
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    sound = np.concatenate([np.zeros(CONTEXT, np.float32), samples(CHUNKS * SAMPLES)])
    state, answers = np.zeros((2, 1, 128), np.float32), []
    for k in range(CHUNKS):
        chunk = sound[k * SAMPLES:k * SAMPLES + SAMPLES + CONTEXT].reshape(1, -1)
        answer, state = session.run(None, {"input": chunk, "state": state, "sr": np.array(16000, np.int64)})
        answers.append(float(answer[0, 0]))
    birth = {"made_by": "tools/golden/silero.py", "onnxruntime": ort.__version__, "package": "silero-vad-6.2.3/silero_vad.onnx"}
    out = {"birth": birth, "answers": answers, "state": [float(x) for x in state.reshape(-1)[::16]]}
    (common.GOLDEN / "tensor/silero.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
