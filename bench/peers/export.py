"""The package as one ONNX graph, exported once: encoder, masked mean pooling, normalisation.

The graph takes input_ids and attention_mask of shape [texts, tokens] and gives [texts, dim]. It is
kept in the bench cache, keyed by the weights. Only what the bench needs: an encoder with mean
pooling, with or without Normalize.
"""

import json
import os
import pathlib
import warnings

import common


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "tenon" / "bench"


def onnx_path(package):
    """The exported graph, made when it is not there yet."""
    folder = cache_folder()
    path = folder / f"{common.hash_file(package / 'model.safetensors')[:16]}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(f".{os.getpid()}.onnx")
        export(package, scratch)
        scratch.replace(path)
    return path


def export(package, path):
    warnings.simplefilter("ignore")
    import torch
    from transformers import AutoModel

    pooling = json.loads((package / "1_Pooling" / "config.json").read_text(encoding="utf-8"))
    if not (pooling.get("pooling_mode_mean_tokens") or pooling.get("pooling_mode") == "mean"):
        raise ValueError("the export knows mean pooling only")
    modules = json.loads((package / "modules.json").read_text(encoding="utf-8"))
    normalize = any(m["type"].endswith("Normalize") for m in modules)

    class Whole(torch.nn.Module):
        def __init__(self, encoder):
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids, attention_mask):
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, dim=-1) if normalize else pooled

    # Eager attention gives the plain MatMul-Softmax-MatMul pattern, which the runtimes' own fusions know.
    encoder = AutoModel.from_pretrained(package, dtype=torch.float32, attn_implementation="eager",
                                        local_files_only=True).eval()
    ids = torch.ones(2, 7, dtype=torch.long)
    axes = {0: "texts", 1: "tokens"}
    torch.onnx.export(Whole(encoder).eval(), (ids, torch.ones_like(ids)), str(path), dynamo=False, opset_version=17,
                      input_names=["input_ids", "attention_mask"], output_names=["embedding"],
                      dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "texts"}})
