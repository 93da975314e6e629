"""What every golden maker shares: the birth certificate, number formatting, deterministic weights.

A golden is written by other people's libraries and never by tenon. Its certificate names the
script, the seed, the library versions and the digest of what went in, so that it can be made again
and so that a changed pin shows as a changed certificate.
"""

import hashlib
import json
import math
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
CACHE = pathlib.Path(
    os.environ.get("TENON_MODELS")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tenon" / "models"
)


def versions(*names):
    """The versions of the named libraries, without a build suffix such as +cpu."""
    from importlib.metadata import version

    out = {"python": ".".join(map(str, sys.version_info[:3]))}
    for name in names:
        out[name] = version(name).split("+")[0]
    return out


def digest_files(paths, base):
    """SHA-256 over the relative names and contents of files, in name order."""
    total = hashlib.sha256()
    for path in sorted(paths):
        data = path.read_bytes()
        total.update(f"{path.relative_to(base).as_posix()}\0{len(data)}\0".encode())
        total.update(data)
    return total.hexdigest()


def digest_folder(folder):
    return digest_files([p for p in folder.rglob("*") if p.is_file()], folder)


def digest_json(value):
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, sort_keys=True).encode()).hexdigest()


def certificate(script, seed, input_sha256, libraries, note=None):
    out = {
        "script": f"tools/golden/{pathlib.Path(script).name}",
        "seed": seed,
        "versions": versions(*libraries),
        "input_sha256": input_sha256,
    }
    if note:
        out["note"] = note
    return out


def f32_list(array):
    """Nested lists whose decimal texts have 9 significant digits, which identify a float32."""
    array = np.asarray(array, dtype=np.float32)
    if array.ndim == 0:
        value = float(array)
        if not math.isfinite(value):
            raise ValueError("a golden holds a non-finite number")
        return float(f"{value:.9g}")
    return [f32_list(row) for row in array]


def write_json(path, document):
    """One line per list element of the upper levels: small, and a diff still says what moved."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def flat(value):
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))

    def rows(value, depth):
        pad = "  " * depth
        if isinstance(value, dict) and depth < 3 and value:
            body = ",\n".join(f"{pad}  {flat(k)}: {rows(v, depth + 1)}" for k, v in value.items())
            return "{\n" + body + "\n" + pad + "}"
        if isinstance(value, list) and depth < 3 and value and isinstance(value[0], (dict, list)):
            return "[\n" + ",\n".join(f"{pad}  {flat(v)}" for v in value) + "\n" + pad + "]"
        return flat(value)

    path.write_text(rows(document, 0) + "\n", encoding="utf-8")


def generator(*names):
    """A NumPy generator keyed by names alone, so that tensors do not depend on their order."""
    key = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(key[:16], "little")))


def fill_weights(module, *seed):
    """Random weights that let every part of the model show in the answer.

    The classes' own initialisation (normal with deviation 0.02) leaves attention nearly uniform and
    biases zero, and a wrong mask, bias or norm would then hide inside the tolerance. Matrices get
    deviation 1.2/sqrt(fan-in), norms 1 +- 0.1, biases 0.1, embedding tables 1.
    """
    import torch

    with torch.no_grad():
        for name, tensor in list(module.named_parameters()):
            rng = generator(*seed, name)
            values = rng.standard_normal(tuple(tensor.shape))
            owner = name.rsplit(".", 2)[-2].lower() if "." in name else ""
            if name.endswith(".bias") or name == "bias":
                values = 0.1 * values
            elif "norm" in owner:
                values = 1.0 + 0.1 * values
            elif "embedding" in owner or "relative_attention_bias" in owner:
                pass
            elif tensor.ndim >= 2:
                values = values * (1.2 / math.sqrt(math.prod(tensor.shape[1:])))
            tensor.copy_(torch.from_numpy(values.astype(np.float32)).to(tensor.dtype))
    return module
