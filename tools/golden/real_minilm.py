"""The reference's answers on the real package all-MiniLM-L6-v2 (weights not committed).

    python tools/golden/real_minilm.py [PACKAGE]

Writes tests/golden/real/:
  minilm_300.json  300 texts with token counts and digests of their ids
  minilm_300.bin   their embeddings by sentence-transformers, float32 little-endian, 300 x 384
  lines.txt        10,000 lines (tests/parity/lines.py)
  lines.bin        two digests of 8 bytes per line: over the ids, and over the byte offsets

A digest is the first 8 bytes of SHA-256 over the values as 32-bit little-endian integers: ids with
special tokens and without truncation for the lines, as the model sees them for the texts; offsets
as start, end, start, end ... in bytes of the line.
"""

import hashlib
import pathlib
import subprocess
import sys

import common
import numpy as np

sys.path.insert(0, str(common.ROOT / "tests" / "parity"))
import lines as parity

REAL = common.GOLDEN / "real"


def digest8(values):
    return hashlib.sha256(np.asarray(values, dtype="<i4").tobytes()).digest()[:8]


def byte_offsets(text, offsets):
    table = np.zeros(len(text) + 1, dtype=np.int64)
    np.cumsum([len(c.encode()) for c in text], out=table[1:])
    return [int(table[o]) for pair in offsets for o in pair]


def package(argv):
    if argv:
        return pathlib.Path(argv[0])
    out = subprocess.run([str(common.ROOT / "tools" / "fetch-models"), "all-minilm-l6-v2"],
                         stdout=subprocess.PIPE, check=True, text=True)
    return pathlib.Path(out.stdout.strip())


def write_lines(folder):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = parity.lines()
    (REAL / "lines.txt").write_bytes(("\n".join(lines) + "\n").encode())
    out = bytearray()
    for text in lines:
        encoding = tokenizer.encode(text)
        assert set(encoding.attention_mask) == {1} and not any(encoding.type_ids)
        out += digest8(encoding.ids) + digest8(byte_offsets(text, encoding.offsets))
    (REAL / "lines.bin").write_bytes(bytes(out))


def write_texts(folder):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True,
                                model_kwargs={"dtype": torch.float32})
    texts = parity.texts()
    rows, vectors = [], []
    for text in texts:
        ids = model.preprocess([text])["input_ids"][0].tolist()
        full = model.tokenizer(text, truncation=False)["input_ids"]
        vectors.append(model.encode([text], batch_size=1, show_progress_bar=False)[0])
        rows.append({"text": text, "tokens": len(ids), "tokens_untruncated": len(full),
                     "ids_sha256": digest8(ids).hex()})
    vectors = np.stack(vectors).astype("<f4")
    together = model.encode(texts, batch_size=32, show_progress_bar=False)
    difference = float(np.abs(together - vectors).max())
    (REAL / "minilm_300.bin").write_bytes(vectors.tobytes())
    weights = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    tokenizer = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    common.write_json(REAL / "minilm_300.json", {
        "certificate": common.certificate(
            __file__, parity.SEED, common.digest_json(texts),
            ("torch", "transformers", "tokenizers", "sentence-transformers", "numpy")),
        "model_safetensors_sha256": weights,
        "tokenizer_json_sha256": tokenizer,
        "max_seq_length": model.max_seq_length,
        "dimensions": int(vectors.shape[1]),
        "embeddings": "real/minilm_300.bin",
        "reference_batch_difference": float(f"{difference:.3g}"),
        "texts": rows,
    })
    print(f"{len(rows)} texts; longest {max(r['tokens_untruncated'] for r in rows)} tokens; "
          f"batch differs by {difference:.2e}")


def main():
    folder = package(sys.argv[1:])
    REAL.mkdir(parents=True, exist_ok=True)
    write_lines(folder)
    write_texts(folder)


if __name__ == "__main__":
    main()
