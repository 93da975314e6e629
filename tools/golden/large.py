"""Checkpoints of real sizes with random weights, for the parity run only; never committed.

    python tools/golden/large.py [NAME...]

Built from the real configuration classes with the real package's vocabulary into the model cache
(TENON_MODELS), once; prints the folders. The weights are those of fill_weights: deterministic, and
strong enough for every part to matter.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

import common
import families

warnings.simplefilter("ignore")

SEED = "tenon-large-1"

# Name: family, configuration, pooling mode, Normalize at the end, max_seq_length.
MODELS = {
    "random-bert-768x3": ("bert", dict(hidden_size=768, num_hidden_layers=3, num_attention_heads=12,
                                       intermediate_size=3072), "mean", False, 512),
    "random-mpnet-384x12": ("mpnet", dict(hidden_size=384, num_hidden_layers=12, num_attention_heads=12,
                                          intermediate_size=1536, max_position_embeddings=514),
                            "mean", True, 384),
    "random-distilbert-768x2": ("distilbert", dict(dim=768, n_layers=2, n_heads=12, hidden_dim=3072),
                                "cls", False, 256),
    "random-roberta-768x4": ("roberta", dict(hidden_size=768, num_hidden_layers=4, num_attention_heads=12,
                                             intermediate_size=3072, max_position_embeddings=514, type_vocab_size=1,
                                             layer_norm_eps=1e-5), "mean", False, 512),
    "random-electra-256x6": ("electra", dict(embedding_size=128, hidden_size=256, num_hidden_layers=6,
                                             num_attention_heads=4, intermediate_size=1024), "cls", False, 512),
    "random-modernbert-768x6": ("modernbert", dict(hidden_size=768, num_hidden_layers=6, num_attention_heads=12,
                                                   intermediate_size=1152, pad_token_id=0), "mean", False, 2048),
    "random-deberta-v3-768x4": ("deberta-v2", dict(
        hidden_size=768, num_hidden_layers=4, num_attention_heads=12, intermediate_size=3072, relative_attention=True,
        pos_att_type=["p2c", "c2p"], share_att_key=True, norm_rel_ebd="layer_norm", position_buckets=256,
        position_biased_input=False), "mean", False, 512),
}


def real_vocabulary():
    import json

    out = subprocess.run([str(common.ROOT / "tools" / "fetch-models"), "all-minilm-l6-v2"],
                         stdout=subprocess.PIPE, text=True)
    if out.returncode:
        sys.exit(out.returncode)
    file = pathlib.Path(out.stdout.strip()) / "tokenizer.json"
    return json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]


def build(name, target):
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as st

    transformers.utils.logging.disable_progress_bar()
    family, config, mode, normalize, limit = MODELS[name]
    vocab = real_vocabulary()
    if family == "mpnet":
        words = ["<s>", "<pad>", "</s>", "<unk>"] + sorted(vocab, key=vocab.get) + ["<mask>"]
        vocab = {word: index for index, word in enumerate(words)}
    if family == "roberta":
        vocab = {word: index for index, word in enumerate(families.ROBERTA_SPECIALS + sorted(vocab, key=vocab.get)
                                                          + ["<mask>"])}
    if family in families.FAMILIES:
        config_class, model_class, make_tokenizer = families.FAMILIES[family][:3]
        tokenizer = make_tokenizer(vocab, model_max_length=limit)
    else:
        prefix = {"bert": "Bert", "mpnet": "MPNet", "distilbert": "DistilBert"}[family]
        config_class, model_class = (getattr(transformers, prefix + kind) for kind in ("Config", "Model"))
        tokenizer = getattr(transformers, prefix + "Tokenizer")(vocab=vocab, model_max_length=limit)
    model = model_class(config_class(vocab_size=len(vocab), **config))
    common.fill_weights(model, SEED, name)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=".random.", dir=target.parent))
    model.save_pretrained(scratch / "encoder")
    tokenizer.save_pretrained(scratch / "encoder")
    width = config.get("hidden_size", config.get("dim"))
    chain = [st.Transformer(str(scratch / "encoder"), model_kwargs={"dtype": torch.float32}), st.Pooling(width, mode)]
    if normalize:
        chain.append(st.Normalize())
    whole = SentenceTransformer(modules=chain, device="cpu")
    whole.save(str(scratch / "whole"), create_model_card=False)
    (scratch / "whole" / "README.md").write_text(f"# {name}\n\nRandom weights: for parity runs only.\n")
    try:
        (scratch / "whole").rename(target)
    except OSError:
        if not target.is_dir():
            raise
    shutil.rmtree(scratch)


def main(names):
    for name in names or MODELS:
        target = common.CACHE / name
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            print(f"large: building {name}", file=sys.stderr)
            build(name, target)
        print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
