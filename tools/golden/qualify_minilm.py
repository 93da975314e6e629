"""The golden that `tenon qualify --golden` and the demo hold the real all-MiniLM-L6-v2 against.

    python tools/golden/qualify_minilm.py [PACKAGE]

Writes tests/golden/qualify/minilm.json: the cases of tests/golden/embed (text, ids, embedding by
sentence-transformers, one text at a time, float32 with 9 significant digits), and in `package_files`
the SHA-256 of every file of the package that can change an answer, so that a golden of another
package is refused.
"""

import hashlib
import pathlib
import subprocess
import sys

import common
import numpy as np

OUT = common.GOLDEN / "qualify" / "minilm.json"
SEED = "tenon-qualify-1"
FILES = (
    "1_Pooling/config.json",
    "config.json",
    "config_sentence_transformers.json",
    "model.safetensors",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
)

LEGEND = (
    "On the third day the ferry did not come, and the harbour master wrote the tide, the wind and the number of "
    "waiting carts into his book, as he had done every evening for thirty years. "
)
TEXTS = [
    "",
    " \t \n ",
    "harbour",
    "The ferry leaves at half past six.",
    "the FERRY leaves at HALF past six",
    "Is there a later boat, or must we stay the night?",
    "A recipe for bread: 500 g flour, 340 ml water, 10 g salt, 2 g yeast; rest overnight.",
    "for (size_t i = 0; i < n; i++) sum += x[i] * y[i]; // dot product",
    "Ticket 4711-B: payment of \u20ac 1.234,56 was declined (code 05).",
    "Stra\u00dfe, na\u00efve, \u0130stanbul, cafe\u0301, Ti\u1ebfng Vi\u1ec7t, \u0141\u00f3d\u017a",
    "\u0421\u0435\u0433\u043e\u0434\u043d\u044f \u043f\u0430\u0440\u043e\u043c \u043d\u0435 \u043f\u0440\u0438\u0448\u0451\u043b.",
    "\u03a4\u03bf \u03c0\u03bb\u03bf\u03af\u03bf \u03c6\u03b5\u03cd\u03b3\u03b5\u03b9 \u03c3\u03c4\u03b9\u03c2 \u03ad\u03be\u03b9.",
    "\u4eca\u5929\u6ca1\u6709\u8239\u3002\u6211\u4eec\u660e\u5929\u518d\u6765\u3002",
    "\u4eca\u65e5\u306f\u8239\u304c\u3042\u308a\u307e\u305b\u3093\u3002",
    "\uc624\ub298\uc740 \ubc30\uac00 \uc5c6\uc2b5\ub2c8\ub2e4.",
    "\u0644\u0627 \u0642\u0627\u0631\u0628 \u0627\u0644\u064a\u0648\u0645.",
    "\u05d0\u05d9\u05df \u05e1\u05d9\u05e8\u05d4 \u05d4\u05d9\u05d5\u05dd.",
    "\u0906\u091c \u0928\u093e\u0935 \u0928\u0939\u0940\u0902 \u0906\u0908\u0964",
    "two boats \u26f5\U0001f6a4 and a family \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "zero\u200bwidth \x00 bell\x07 soft\u00adhyphen \ufffd",
    "[MASK] and [SEP] written by hand, a word of many letters: " + "a" * 101,
    LEGEND.strip(),
    LEGEND * 5,
    LEGEND * 20,
]


def package(argv):
    if argv:
        return pathlib.Path(argv[0])
    out = subprocess.run([str(common.ROOT / "tools" / "fetch-models"), "all-minilm-l6-v2"],
                         stdout=subprocess.PIPE, check=True, text=True)
    return pathlib.Path(out.stdout.strip())


def main():
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    folder = package(sys.argv[1:])
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True,
                                model_kwargs={"dtype": torch.float32})
    cases, vectors = [], []
    for text in TEXTS:
        features = model.preprocess([text])
        vector = model.encode([text], batch_size=1, show_progress_bar=False)[0]
        assert vector.dtype == np.float32
        types = features.get("token_type_ids")
        vectors.append(vector)
        cases.append({
            "text": text,
            "ids": features["input_ids"][0].tolist(),
            "type_ids": types[0].tolist() if types is not None else None,
            "tokens_untruncated": len(model.tokenizer(text, truncation=False)["input_ids"]),
            "embedding": common.f32_list(vector),
        })
    together = model.encode(TEXTS, batch_size=8, show_progress_bar=False)
    worst = float(np.abs(together - np.stack(vectors)).max())
    common.write_json(OUT, {
        "certificate": common.certificate(
            __file__, SEED, common.digest_json(TEXTS),
            ("torch", "transformers", "tokenizers", "sentence-transformers", "numpy")),
        "what": "The real all-MiniLM-L6-v2 by sentence-transformers, one text at a time.",
        "package_files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FILES},
        "max_seq_length": model.max_seq_length,
        "dimensions": int(vectors[0].shape[0]),
        "cases": cases,
        "reference_batch_difference": float(f"{worst:.3g}"),
    })
    print(f"{len(cases)} texts, longest {max(c['tokens_untruncated'] for c in cases)} tokens, "
          f"{OUT.stat().st_size / 1024:.0f} KB; the reference's own batch differs by {worst:.2e}")


if __name__ == "__main__":
    main()
