"""Tiny sentence-transformers packages with random weights, and the reference's answers on them.

    python tools/golden/packages.py [NAME...]

Each package is built from the real configuration and model classes, saved by the library itself,
then (for the older file generation) rewritten to the files that older releases of the library left
on disk. The saved package is loaded again by sentence-transformers and that model's answers are the
golden: ids, type ids, prompt length, embedding per text, and for one package per family every
stage of one text. Weights that are stored as f16 or bf16 are computed in f32 by the reference.

Texts are encoded one at a time, so that no padding is involved; a batch must agree (checked here).
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import warnings

import common
import families
import numpy as np
import tiny

warnings.simplefilter("ignore")
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as st
from tokenizers import AddedToken, Tokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertModel,
    BertTokenizer,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertModel,
    DistilBertTokenizer,
    MPNetConfig,
    MPNetForMaskedLM,
    MPNetModel,
    MPNetTokenizer,
)

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
transformers.utils.logging.disable_progress_bar()

SEED = "tenon-tiny-1"
PACKAGES = common.GOLDEN / "packages"
LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers", "safetensors", "numpy")
UNSET_LENGTH = 1000000000000000019884624838656

LONG = "the people of the world make water and words for all of them in time as they were there " * 12
TEXTS = [
    "",
    "   \t ",
    "the people were there.",
    "Hello, world! It's 42% of [MASK] what?",
    "caf\u00e9 CAF\u00c9 cafe\u0301 nai\u0308ve \u4e2d\u56fd\u65e5\u672c\u8a9e \u043f\u0440\u0438\u0432\u0435\u0442",
    "zq unknownish \u2665 \U0001f600 a",
    LONG,
]
FEW = [TEXTS[0], TEXTS[2], TEXTS[3], TEXTS[6]]

OLD_MODULE_PATH = "sentence_transformers.models."
OLD_POOLING_FLAGS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def edit(path, **changes):
    """Sets keys of a JSON object file; a value of None removes the key."""
    value = read(path)
    for key, new in changes.items():
        if new is None:
            value.pop(key, None)
        else:
            value[key] = new
    write(path, value)


# ---------------------------------------------------------------------------------------------
# Models and tokenizers

FAMILIES = {
    "bert": (BertConfig, BertModel, BertTokenizer),
    "distilbert": (DistilBertConfig, DistilBertModel, DistilBertTokenizer),
    "mpnet": (MPNetConfig, MPNetModel, MPNetTokenizer),
    **{name: row[:3] for name, row in families.FAMILIES.items()},
}


def small(family, **changes):
    """One layer of width 16: enough where only what follows the encoder is under test."""
    return sized(family, hidden=16, layers=1, heads=2, intermediate=32, positions=32, **changes)


def sized(family, hidden, layers, heads, intermediate, positions, **changes):
    if family == "distilbert":
        base = dict(dim=hidden, n_layers=layers, n_heads=heads, hidden_dim=intermediate)
    else:
        base = dict(
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=intermediate,
        )
    return {**base, "max_position_embeddings": positions, **changes}


def hidden_of(config):
    return config.get("dim", config.get("hidden_size"))


class Spec:
    """One package: what it is made of and which of its branches the texts must reach."""

    def __init__(self, name, family, config, what, *, modules=None, head=None, tokenizer=None,
                 vocab=None, prompts=None, default_prompt=None, similarity=None, truncate_dim=None,
                 old=False, max_seq_length=None, model_max_length=None, after=None, texts=FEW,
                 cases=None, stages=False, dtype=None, shard=None, plain=False, vocab_only=False,
                 tensors=None, added=(), encodings=False, own_tokenizer=None):
        self.__dict__.update(locals())
        del self.__dict__["self"]


def make_tokenizer(spec):
    _, _, cls = FAMILIES[spec.family]
    vocab = spec.vocab
    later = families.FAMILIES.get(spec.family)
    if vocab is None and later:
        vocab = later[3]()
    if vocab is None:
        vocab = tiny.mpnet_vocabulary(24) if spec.family == "mpnet" else tiny.vocabulary(words=24)
    positions = spec.config["max_position_embeddings"]
    limit = later[4](spec.config) if later else positions - 2 if spec.family == "mpnet" else positions
    options = {"model_max_length": spec.model_max_length or spec.max_seq_length or limit}
    options.update(spec.tokenizer or {})
    if spec.own_tokenizer:
        return spec.own_tokenizer(**options), None
    tokenizer = cls(vocab=vocab, **options)
    tokenizer.add_tokens(list(spec.added))
    return tokenizer, vocab


def make_model(spec, vocab_size):
    config_class, model_class, _ = FAMILIES[spec.family]
    config = config_class(vocab_size=vocab_size, **spec.config)
    model = (spec.head or model_class)(config)
    common.fill_weights(model, SEED, spec.name)
    return model.eval()


def make_modules(spec, folder):
    """The chain after the encoder, with its own random weights."""
    chain = [st.Transformer(str(folder), model_kwargs={"dtype": torch.float32})]
    for index, module in enumerate(spec.modules or [st.Pooling(hidden_of(spec.config), "mean")]):
        module = module() if callable(module) and not isinstance(module, torch.nn.Module) else module
        common.fill_weights(module, SEED, spec.name, str(index + 1))
        chain.append(module)
    return chain


def to_old_generation(folder, spec):
    """Rewrites a freshly saved package to the files that releases 0.4 to 2.x left on disk."""
    modules = read(folder / "modules.json")
    for module in modules:
        module["type"] = OLD_MODULE_PATH + module["type"].rsplit(".", 1)[1]
        sub = folder / module["path"]
        if module["type"].endswith(".Pooling"):
            new = read(sub / "config.json")
            active = new["pooling_mode"]
            active = [active] if isinstance(active, str) else active
            flags = {"word_embedding_dimension": new["embedding_dimension"]}
            flags.update({flag: mode in active for mode, flag in OLD_POOLING_FLAGS.items()})
            if not new.get("include_prompt", True):
                flags["include_prompt"] = False
            write(sub / "config.json", flags)
        elif module["type"].endswith(".Dense"):
            new = read(sub / "config.json")
            write(sub / "config.json", {k: new[k] for k in
                                        ("in_features", "out_features", "bias", "activation_function")})
        elif module["type"].endswith(".Normalize"):
            shutil.rmtree(sub)
    write(folder / "modules.json", modules)
    (folder / "sentence_bert_config.json").unlink()
    write(folder / "sentence_bert_config.json",
          {"max_seq_length": spec.max_seq_length, "do_lower_case": False})
    edit(folder / "config.json", dtype=None, torch_dtype="float32", transformers_version="4.8.2",
         _name_or_path=f"random/{spec.name}")
    versions = {"sentence_transformers": "2.0.0", "transformers": "4.6.1", "pytorch": "1.8.1"}
    config = read(folder / "config_sentence_transformers.json")
    old = {"__version__": versions}
    if spec.prompts:
        old.update(prompts=config["prompts"], default_prompt_name=config["default_prompt_name"])
    write(folder / "config_sentence_transformers.json", old)
    edit(folder / "tokenizer_config.json", backend=None, is_local=None, local_files_only=None,
         name_or_path=f"random/{spec.name}")


def save_package(spec):
    """Builds the package in a scratch folder and moves it to its place."""
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="tenon-golden-"))
    source, target = scratch / "source", scratch / spec.name
    tokenizer, vocab = make_tokenizer(spec)
    model = make_model(spec, len(tokenizer))
    if spec.dtype is not None:
        model = model.to(spec.dtype)
    model.save_pretrained(source)
    tokenizer.save_pretrained(source)

    chain = make_modules(spec, source)
    whole = SentenceTransformer(modules=chain, device="cpu", prompts=spec.prompts,
                                default_prompt_name=spec.default_prompt,
                                similarity_fn_name=spec.similarity, truncate_dim=spec.truncate_dim)
    whole.save(str(target), create_model_card=False)
    if not spec.prompts:
        edit(target / "config_sentence_transformers.json", prompts={})
    # The chain was built on the bare encoder in f32. The checkpoint keeps its own tensors, heads,
    # element type and configuration.
    (target / "model.safetensors").unlink()
    if spec.shard:
        model.save_pretrained(target, max_shard_size=spec.shard)
    else:
        model.save_pretrained(target)
    if spec.tensors:
        tensors = spec.tensors(load_file(target / "model.safetensors"))
        save_file({k: v.contiguous() for k, v in tensors.items()}, target / "model.safetensors",
                  metadata={"format": "pt"})
    for path in target.glob("generation_config.json"):
        path.unlink()
    edit(target / "tokenizer_config.json", is_local=None, local_files_only=None)
    if spec.plain:
        for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
            (target / name).unlink()
        for sub in [p for p in target.iterdir() if p.is_dir()]:
            shutil.rmtree(sub)
    if spec.old:
        to_old_generation(target, spec)
    if spec.vocab_only:
        (target / "tokenizer.json").unlink()
        lines = sorted(vocab, key=vocab.get)
        (target / "vocab.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if spec.after:
        spec.after(target)
    (target / "README.md").write_text(
        f"# {spec.name}\n\nRandom weights: a test package without meaning, made by "
        f"tools/golden/packages.py from the real `{FAMILIES[spec.family][0].__name__}`.\n\n"
        f"{spec.what}\n", encoding="utf-8")
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)

    place = PACKAGES / spec.name
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(target), place)
    shutil.rmtree(scratch)
    return place


# ---------------------------------------------------------------------------------------------
# The reference's answers


def load(folder):
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True,
                               model_kwargs={"dtype": torch.float32})


def prompt_of(model, prompt_name):
    return model._resolve_prompt(None, prompt_name)


def features_of(model, text, prompt_name):
    return model.preprocess([text], prompt=prompt_of(model, prompt_name))


def untruncated_count(model, text, prompt_name):
    prompt = prompt_of(model, prompt_name) or ""
    tokenizer = model.tokenizer
    return len(tokenizer(prompt + text, truncation=False)["input_ids"])


def run_case(model, case):
    text, prompt_name = case["text"], case.get("prompt_name")
    options = {k: case[k] for k in ("normalize_embeddings", "truncate_dim") if k in case}
    features = features_of(model, text, prompt_name)
    vector = model.encode([text], prompt_name=prompt_name, batch_size=1, show_progress_bar=False,
                          **options)[0]
    assert vector.dtype == np.float32
    ids = features["input_ids"][0].tolist()
    assert features["attention_mask"][0].tolist() == [1] * len(ids)
    out = dict(case)
    out["ids"] = ids
    types = features.get("token_type_ids")
    out["type_ids"] = types[0].tolist() if types is not None else None
    out["tokens_untruncated"] = untruncated_count(model, text, prompt_name)
    out["prompt_tokens"] = features.get("prompt_length")
    out["embedding"] = common.f32_list(vector)
    return out, vector


def check_batch(model, cases, vectors, name):
    """A padded batch must agree with the lone texts; if the reference itself does not, say so."""
    worst = 0.0
    groups = {}
    for case, vector in zip(cases, vectors):
        key = (case.get("prompt_name"), case.get("normalize_embeddings", False), case.get("truncate_dim"))
        groups.setdefault(key, []).append((case["text"], vector))
    for (prompt_name, normalize, dim), rows in groups.items():
        batch = model.encode([t for t, _ in rows], prompt_name=prompt_name, batch_size=8,
                             normalize_embeddings=normalize, truncate_dim=dim, show_progress_bar=False)
        for got, (_, alone) in zip(batch, rows):
            scale = max(1.0, float(np.abs(alone).max()))
            worst = max(worst, float(np.abs(got - alone).max()) / scale)
    if worst > 2e-6:
        print(f"  note: {name}: the reference's own batch differs from lone texts by {worst:.2e}")
    return worst


def run_stages(model, text, prompt_name=None):
    """Every stage of one text, in pipeline order, so that a test can name the first that differs."""
    encoder = model[0].model
    seen = {}
    hooks = [encoder.embeddings.register_forward_hook(
        lambda _m, _i, out: seen.__setitem__("embeddings", out[0].clone()))]
    inner = getattr(encoder, "transformer", None) or getattr(encoder, "encoder", None)
    blocks = inner.layer if inner is not None else encoder.layers
    for index, block in enumerate(blocks):
        def keep(_m, _i, out, index=index):
            seen[f"layer{index}"] = (out[0] if isinstance(out, tuple) else out)[0].clone()
        hooks.append(block.register_forward_hook(keep))
    features = features_of(model, text, prompt_name)
    ids = features["input_ids"][0].tolist()
    modules = []
    with torch.inference_mode():
        for index, module in enumerate(model):
            features = module(features)
            if index:
                modules.append({"index": index, "type": type(module).__name__,
                                "output": common.f32_list(features["sentence_embedding"][0])})
    for hook in hooks:
        hook.remove()
    return {
        "text": text,
        "ids": ids,
        "embeddings": common.f32_list(seen["embeddings"]),
        "layers": [common.f32_list(seen[f"layer{i}"]) for i in range(len(blocks))],
        "modules": modules,
    }


ENCODED = [
    (TEXTS[0], None), (TEXTS[1], None), (TEXTS[3], None), (TEXTS[4], None), (TEXTS[5], None),
    ("The PEOPLE were-There", "caf\u00e9 \u4e2d\u56fd, it's"), ("water", ""), ("", "one or two"),
    ("longlonglonglonglonglonglonglong word", None), ("a [MASK] b <mask> c [SEP] d </s>", "[CLS] <s>"),
]


def run_encodings(model, folder):
    """Texts and pairs through the tokenizer that the library builds, and that the file would give others."""
    rows, alone = [], Tokenizer.from_file(str(folder / "tokenizer.json"))
    alone.no_padding()
    alone.no_truncation()
    different = 0
    for text, pair in ENCODED:
        for special in (True, False):
            encoding = model.tokenizer([text], None if pair is None else [pair], add_special_tokens=special,
                                       truncation=False).encodings[0]
            sides = {0: text, 1: pair}
            offsets = []
            for (start, end), side in zip(encoding.offsets, encoding.sequence_ids):
                own = sides.get(side) or ""
                offsets += [len(own[:start].encode()), len(own[:end].encode())]
            rows.append({"text": text, "pair": pair, "add_special": special, "ids": encoding.ids,
                         "type_ids": encoding.type_ids, "offsets_bytes": offsets})
            different += alone.encode(text, pair, add_special_tokens=special).ids != encoding.ids
    assert different > len(rows) // 2, f"{folder.name}: tokenizer.json gives the same ids"
    return rows


def write_golden(spec, folder):
    model = load(folder)
    cases = spec.cases or [{"text": text} for text in spec.texts]
    answers, vectors = [], []
    for case in cases:
        answer, vector = run_case(model, case)
        answers.append(answer)
        vectors.append(vector)
    if not spec.vocab_only:
        check_tokenizer_file(model, folder, spec, answers)
    golden = {
        "certificate": common.certificate(__file__, SEED, common.digest_folder(folder), LIBRARIES),
        "package": f"packages/{spec.name}",
        "what": spec.what,
        "family": spec.family,
        "max_seq_length": model.max_seq_length,
        "dimensions": int(vectors[0].shape[0]),
        "prompts": file_prompts(folder),
        "default_prompt_name": model.default_prompt_name,
        "similarity": str(model.similarity_fn_name),
        "cases": answers,
    }
    worst = check_batch(model, cases, vectors, spec.name)
    golden["reference_batch_difference"] = float(f"{worst:.3g}")
    if spec.stages:
        golden["stages"] = run_stages(model, TEXTS[3])
    if spec.encodings:
        golden["encodings"] = run_encodings(model, folder)
    common.write_json(common.GOLDEN / "embed" / f"{spec.name}.json", golden)


def file_prompts(folder):
    """The prompts that the package declares; the library adds empty `query` and `document` to them."""
    path = folder / "config_sentence_transformers.json"
    return read(path).get("prompts", {}) if path.exists() else {}


def check_tokenizer_file(model, folder, spec, answers):
    """The model's tokenizer is rebuilt by transformers; tokenizer.json must mean the same."""
    tokenizer = Tokenizer.from_file(str(next(folder.rglob("tokenizer.json"))))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    for answer in answers:
        if answer["tokens_untruncated"] != len(answer["ids"]):
            continue
        prompt = prompt_of(model, answer.get("prompt_name")) or ""
        ids = tokenizer.encode(prompt + answer["text"]).ids
        if ids != answer["ids"]:
            print(f"  note: {spec.name}: tokenizer.json alone gives other ids for {answer['text']!r}")


# ---------------------------------------------------------------------------------------------
# The list


def pooling(dim, mode, **options):
    return st.Pooling(dim, mode, **options)


def dense(i, o, activation, **options):
    return st.Dense(i, o, activation_function=activation, **options)


def with_position_ids(tensors):
    rows = tensors["embeddings.position_embeddings.weight"].shape[0]
    return {**tensors, "embeddings.position_ids": torch.arange(rows).unsqueeze(0)}


def with_gamma_beta(tensors):
    rename = {".LayerNorm.weight": ".LayerNorm.gamma", ".LayerNorm.bias": ".LayerNorm.beta"}
    out = {}
    for name, tensor in tensors.items():
        for new, old in rename.items():
            name = name.replace(new, old)
        out[name] = tensor
    return out


def in_subfolder(folder):
    """The oldest layout: every module, the encoder too, in a folder of its own."""
    sub = folder / "0_Transformer"
    sub.mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(sub / path.name)
    modules = read(folder / "modules.json")
    modules[0]["path"] = "0_Transformer"
    write(folder / "modules.json", modules)


def rename_module_config(folder):
    (folder / "sentence_bert_config.json").rename(folder / "sentence_distilbert_config.json")


def lower_case_in_module(folder):
    edit(folder / "sentence_bert_config.json", do_lower_case=True)


def all_flags_off(folder):
    path = folder / "1_Pooling" / "config.json"
    write(path, {k: (False if k.startswith("pooling_mode") else v) for k, v in read(path).items()})


def few_flags(folder):
    """The first releases wrote four flags; the later two are absent."""
    edit(folder / "1_Pooling" / "config.json", pooling_mode_weightedmean_tokens=None,
         pooling_mode_lasttoken=None)


def mixed_pooling_keys(folder):
    """Both generations in one file: `pooling_mode` stands and the flags are dropped."""
    edit(folder / "1_Pooling" / "config.json", pooling_mode_mean_tokens=True,
         pooling_mode_cls_token=False)


def template_with_type_one(folder, hide):
    """Text tokens of type 1, which the generic tokenizer class takes from the file as it stands."""
    path = folder / "tokenizer.json"
    value = read(path)
    value["post_processor"]["single"][1]["Sequence"]["type_id"] = 1
    write(path, value)
    edit(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast",
         model_input_names=["input_ids", "attention_mask"] if hide else
         ["input_ids", "token_type_ids", "attention_mask"])


def contradict(folder, **stages):
    """Stages in tokenizer.json that are not those of the class; the library rebuilds the class's own."""
    path = folder / "tokenizer.json"
    value = read(path)
    model = stages.pop("model", {})
    value.update(stages)
    value["model"].update(model)
    write(path, value)


def template(first, last, pair_type, tokens):
    """TemplateProcessing with the special tokens in other places than the class has them."""
    def piece(kind, name, type_id):
        return {kind: {"id": name, "type_id": type_id}}
    single = [piece("Sequence", "A", 0)] + [piece("SpecialToken", first, 0), piece("SpecialToken", last, 0)]
    return {"type": "TemplateProcessing", "single": single,
            "pair": single + [piece("Sequence", "B", pair_type), piece("SpecialToken", last, pair_type)],
            "special_tokens": {t: {"id": t, "ids": [i], "tokens": [t]} for t, i in tokens.items()}}


def fixed_padding_in_file(folder):
    """Settings that real packages carry; the library's own length and padding override them."""
    path = folder / "tokenizer.json"
    value = read(path)
    value["truncation"] = {"direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0}
    value["padding"] = {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None,
                        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    write(path, value)


def vocab_txt_beside(folder):
    vocab = read(folder / "tokenizer.json")["model"]["vocab"]
    (folder / "vocab.txt").write_text("\n".join(sorted(vocab, key=vocab.get)) + "\n", encoding="utf-8")


def both(*steps):
    def run(folder):
        for step in steps:
            step(folder)
    return run


def prompt_cases(texts, names, **extra):
    return [{"text": t, "prompt_name": n, **extra} for n in names for t in texts]


EXTRA_TOKENS = [
    AddedToken("new york", normalized=True, special=False),
    AddedToken("<ent>", lstrip=True, rstrip=True, normalized=False, special=False),
    AddedToken("qux", single_word=True, normalized=True, special=False),
]
EXTRA_TEXTS = ["in New York city", "see <ent> there", "a qux quxx", "the  <ent>  people", FEW[1]]

FULL_BERT = sized("bert", 32, 2, 4, 64, 64)
FULL_DISTILBERT = sized("distilbert", 36, 2, 3, 72, 64)
FULL_MPNET = sized("mpnet", 40, 2, 5, 60, 66)


def specs():
    big = tiny.vocabulary()
    cased = tiny.vocabulary(words=24, cased=True)
    mp = tiny.mpnet_vocabulary()
    modes = list(OLD_POOLING_FLAGS)

    yield Spec("bert_mean_normalize", "bert", FULL_BERT,
               "Older files, mean pooling, Normalize; every stage of one text is recorded.",
               modules=[pooling(32, "mean"), st.Normalize()], old=True, max_seq_length=48, vocab=big,
               after=both(few_flags, vocab_txt_beside, fixed_padding_in_file), texts=TEXTS, stages=True)
    yield Spec("distilbert_cls", "distilbert", FULL_DISTILBERT,
               "Older files with sentence_distilbert_config.json, cls pooling, no Normalize.",
               modules=[pooling(36, "cls")], old=True, max_seq_length=40, vocab=big,
               after=rename_module_config, texts=TEXTS, stages=True)
    yield Spec("mpnet_mean_normalize", "mpnet", FULL_MPNET,
               "Newer files, mean pooling, Normalize; positions count from 2 and a literal <pad> in "
               "the text takes position 1 without advancing the count.",
               modules=[pooling(40, "mean"), st.Normalize()], vocab=mp, stages=True,
               texts=TEXTS + ["a <pad> b <mask> c </s> d <pad>", "<pad>"])
    yield Spec("mpnet_far_positions", "mpnet", sized("mpnet", 16, 1, 2, 24, 180),
               "Distances beyond 128, where the relative buckets saturate.",
               modules=[pooling(16, ["mean", "cls", "lasttoken"])], vocab=tiny.mpnet_vocabulary(24),
               texts=[FEW[1], LONG])

    for mode in modes:
        yield Spec(f"bert_pool_{mode}", "bert", small("bert"), f"Pooling {mode} alone, newer files.",
                   modules=[pooling(16, mode)])
    yield Spec("bert_pool_all_list", "bert", small("bert"),
               "All six modes as a list in an order that differs from the flags' order.",
               modules=[pooling(16, ["lasttoken", "mean", "cls", "max", "weightedmean",
                                     "mean_sqrt_len_tokens"])])
    yield Spec("bert_pool_all_flags", "bert", small("bert"),
               "All six boolean flags on: concatenated in the library's own order.",
               modules=[pooling(16, modes)], old=True, max_seq_length=32)
    yield Spec("bert_pool_two_flags", "bert", small("bert"),
               "cls and max by flags; a concatenation whose file lacks the two later flags.",
               modules=[pooling(16, ["cls", "max"])], old=True, max_seq_length=32, after=few_flags)
    yield Spec("bert_pool_no_flags", "bert", small("bert"), "All flags off: the library takes the mean.",
               modules=[pooling(16, "mean")], old=True, max_seq_length=32, after=all_flags_off)
    yield Spec("bert_pool_both_keys", "bert", small("bert"),
               "`pooling_mode` and flags in one file: `pooling_mode` stands.",
               modules=[pooling(16, "cls")], after=mixed_pooling_keys)

    prompts = {"query": "query: ", "document": "passage: ", "empty": ""}
    yield Spec("bert_prompt_excluded", "bert", small("bert", max_position_embeddings=24),
               "include_prompt is false, for every pooling mode; a default prompt; a text that is cut.",
               modules=[pooling(16, modes, include_prompt=False)], prompts={**prompts, "long": LONG},
               default_prompt="query", similarity="dot",
               cases=prompt_cases(FEW, [None, "query", "document", "empty"]) +
               prompt_cases(FEW[:2], ["long"]))
    yield Spec("bert_prompt_excluded_flags", "bert", small("bert"),
               "include_prompt false in the older file shape, mean pooling and Normalize.",
               modules=[pooling(16, "mean", include_prompt=False), st.Normalize()], old=True,
               max_seq_length=32, prompts=prompts, cases=prompt_cases(FEW, [None, "query"]))
    yield Spec("mpnet_prompt_excluded", "mpnet", small("mpnet"),
               "include_prompt is false where the closing special token is </s>.",
               modules=[pooling(16, ["mean", "weightedmean", "cls"], include_prompt=False)],
               prompts=prompts, cases=prompt_cases(FEW, [None, "query", "document"]))
    yield Spec("bert_prompt_included", "bert", small("bert"), "Prompts that are part of the mean.",
               modules=[pooling(16, "mean"), st.Normalize()], prompts=prompts,
               cases=prompt_cases(FEW, [None, "query", "document", "empty"]))

    yield Spec("bert_options", "bert", small("bert"),
               "No Normalize in the package: normalisation and truncation of the vector on request.",
               modules=[pooling(16, "mean")],
               cases=[{"text": t, **o} for t in FEW[:3] for o in
                      ({}, {"normalize_embeddings": True}, {"truncate_dim": 5},
                       {"truncate_dim": 5, "normalize_embeddings": True})])
    yield Spec("bert_options_normalized", "bert", small("bert"),
               "Normalize in the package: a truncated vector is not normalised again unless asked.",
               modules=[pooling(16, "mean"), st.Normalize()],
               cases=[{"text": t, **o} for t in FEW[:3] for o in
                      ({}, {"normalize_embeddings": True}, {"truncate_dim": 5},
                       {"truncate_dim": 5, "normalize_embeddings": True})])
    yield Spec("bert_truncate_dim", "bert", small("bert"),
               "`truncate_dim` in config_sentence_transformers.json shortens every answer.",
               modules=[pooling(16, "mean"), st.Normalize()], truncate_dim=6)

    yield Spec("bert_dense_tanh", "bert", small("bert"), "Older files: Pooling, Dense with Tanh, Normalize.",
               modules=[pooling(16, "mean"), dense(16, 12, torch.nn.Tanh()), st.Normalize()], old=True,
               max_seq_length=32)
    yield Spec("bert_dense_default", "bert", small("bert"),
               "Dense whose file names no activation: the class's default is Tanh.",
               modules=[pooling(16, "mean"), dense(16, 12, torch.nn.Tanh())],
               after=lambda folder: edit(folder / "2_Dense" / "config.json", activation_function=None,
                                         module_input_name=None, module_output_name=None))
    yield Spec("bert_dense_identity", "bert", small("bert"), "Dense without bias and activation.",
               modules=[pooling(16, "cls"), dense(16, 24, None, bias=False)])
    chain = [torch.nn.Tanh(), torch.nn.ReLU(), torch.nn.Identity(), torch.nn.GELU(), torch.nn.SiLU(),
             torch.nn.Sigmoid(), torch.nn.LeakyReLU(), torch.nn.ELU(), torch.nn.Mish(),
             torch.nn.Softplus(), torch.nn.Hardtanh(), torch.nn.ReLU6()]
    yield Spec("bert_dense_chain", "bert", small("bert"),
               "Twelve Dense modules, each with another activation; stages name the first that differs.",
               modules=[pooling(16, "mean")] + [dense(16, 16, a) for a in chain], stages=True,
               texts=FEW)
    yield Spec("bert_dense_residual", "bert", small("bert"),
               "use_residual with equal widths (plain sum) and unequal ones (projected).",
               modules=[pooling(16, "mean"), dense(16, 16, torch.nn.Tanh(), use_residual=True),
                        dense(16, 10, torch.nn.GELU(), use_residual=True)])
    yield Spec("bert_dense_tokens", "bert", small("bert"),
               "Dense on token embeddings, before Pooling.",
               modules=[dense(16, 12, torch.nn.Tanh(), module_input_name="token_embeddings"),
                        pooling(12, ["mean", "max"])])
    yield Spec("bert_layernorm", "bert", small("bert"),
               "Pooling, LayerNorm, Dropout, Dense, Normalize, LayerNorm again after it.",
               modules=[pooling(16, "mean"), st.LayerNorm(16), st.Dropout(0.3),
                        dense(16, 16, torch.nn.Tanh()), st.Normalize(), st.LayerNorm(16)], stages=True)

    for act in ("gelu_new", "relu", "silu", "swish", "tanh", "gelu_fast", "quick_gelu",
                "gelu_pytorch_tanh", "gelu_python", "mish"):
        yield Spec(f"bert_act_{act}", "bert", small("bert", hidden_act=act),
                   f"hidden_act {act}.", texts=FEW[:3])
    yield Spec("distilbert_act_relu", "distilbert", small("distilbert", activation="relu"),
               "activation relu.", texts=FEW[:3])
    yield Spec("mpnet_act_gelu_new", "mpnet", small("mpnet", hidden_act="gelu_new"),
               "hidden_act gelu_new.", texts=FEW[:3])
    yield Spec("bert_eps", "bert", small("bert", layer_norm_eps=0.05),
               "A layer_norm_eps that shows.", texts=FEW[:3])
    yield Spec("mpnet_eps", "mpnet", small("mpnet", layer_norm_eps=0.05),
               "A layer_norm_eps that shows.", texts=FEW[:3])
    yield Spec("bert_odd_width", "bert", sized("bert", 33, 1, 3, 41, 32),
               "Widths and head sizes that no vector length divides.", texts=FEW)

    yield Spec("bert_f16", "bert", small("bert"), "Weights stored as f16, computed in f32.",
               dtype=torch.float16)
    yield Spec("bert_bf16", "bert", small("bert"), "Weights stored as bf16, computed in f32.",
               dtype=torch.bfloat16)
    yield Spec("bert_sharded", "bert", sized("bert", 16, 2, 2, 32, 32),
               "Three or more shards with an index.", shard="8KB")
    yield Spec("bert_mlm_head", "bert", small("bert"),
               "Saved from BertForMaskedLM: prefix bert., a tied head, no pooler.", head=BertForMaskedLM)
    yield Spec("bert_pretraining_head", "bert", small("bert"),
               "Saved from BertForPreTraining: prefix bert., pooler, two heads.", head=BertForPreTraining)
    yield Spec("distilbert_mlm_head", "distilbert", small("distilbert"),
               "Saved from DistilBertForMaskedLM: prefix distilbert., vocab_* head.",
               head=DistilBertForMaskedLM)
    yield Spec("mpnet_mlm_head", "mpnet", small("mpnet"),
               "Saved from MPNetForMaskedLM: prefix mpnet., lm_head.", head=MPNetForMaskedLM)
    yield Spec("bert_position_ids", "bert", small("bert"),
               "An embeddings.position_ids buffer among the tensors, as older checkpoints have.",
               tensors=with_position_ids)
    yield Spec("bert_gamma_beta", "bert", small("bert"),
               "LayerNorm.gamma and LayerNorm.beta, the names of converted checkpoints.",
               tensors=with_gamma_beta)
    yield Spec("distilbert_sinusoidal", "distilbert", small("distilbert", sinusoidal_pos_embds=True),
               "sinusoidal_pos_embds is true; the stored table is what counts.")

    yield Spec("bert_vocab_txt_cased", "bert", small("bert"),
               "vocab.txt and tokenizer_config.json only; case and accents kept.", vocab=cased,
               tokenizer={"do_lower_case": False}, vocab_only=True, texts=TEXTS)
    yield Spec("bert_vocab_txt_uncased", "bert", small("bert"),
               "vocab.txt only; lower case, accents kept, Chinese characters not split.",
               tokenizer={"strip_accents": False, "tokenize_chinese_chars": False}, vocab_only=True,
               texts=TEXTS)
    yield Spec("bert_lower_in_module", "bert", small("bert"),
               "A cased tokenizer under do_lower_case of sentence_bert_config.json: the text is "
               "lower-cased before the tokenizer's own normaliser.", vocab=cased, old=True,
               max_seq_length=32, tokenizer={"do_lower_case": False}, after=lower_case_in_module,
               texts=TEXTS)
    yield Spec("bert_class_tokenizer", "bert", small("bert"),
               "Every stage of tokenizer.json differs from what BertTokenizer builds, which is what counts: "
               "case, accents, Chinese characters, words, prefix, longest word, template.",
               encodings=True, texts=TEXTS, after=lambda folder: contradict(
                   folder, normalizer={"type": "BertNormalizer", "clean_text": True, "lowercase": False,
                                       "handle_chinese_chars": False, "strip_accents": False},
                   pre_tokenizer={"type": "WhitespaceSplit"},
                   model={"max_input_chars_per_word": 5, "continuing_subword_prefix": "@@"},
                   post_processor=template("[SEP]", "[CLS]", 0, {"[CLS]": 2, "[SEP]": 3})))
    yield Spec("distilbert_class_tokenizer", "distilbert", small("distilbert"),
               "tokenizer.json keeps case and accents, which DistilBertTokenizer does not, and adds no special "
               "tokens; the class's options say no Chinese characters.",
               encodings=True, texts=TEXTS, tokenizer={"tokenize_chinese_chars": False},
               after=lambda folder: contradict(
                   folder, normalizer={"type": "NFC"}, post_processor=None))
    yield Spec("mpnet_class_tokenizer", "mpnet", small("mpnet"),
               "tokenizer.json has a BERT template and no normaliser; MPNetTokenizer builds <s> A </s> </s> B </s> "
               "and keeps the case, as its options say.",
               encodings=True, texts=TEXTS, tokenizer={"do_lower_case": False, "strip_accents": True},
               after=lambda folder: contradict(
                   folder, normalizer=None, pre_tokenizer={"type": "Whitespace"},
                   post_processor=template("</s>", "<s>", 1, {"<s>": 0, "</s>": 2})))
    yield Spec("bert_cased", "bert", small("bert"), "A cased tokenizer.", vocab=cased,
               tokenizer={"do_lower_case": False}, texts=TEXTS)
    yield Spec("bert_no_max_seq", "bert", small("bert", max_position_embeddings=24),
               "No max_seq_length and a model_max_length that means unset: the position table limits.",
               model_max_length=UNSET_LENGTH)
    yield Spec("bert_truncate_left", "bert", small("bert", max_position_embeddings=24),
               "truncation_side left: the end of a long text is what stays.",
               tokenizer={"truncation_side": "left"})
    yield Spec("bert_type_ids", "bert", small("bert"),
               "The post-processor gives text tokens type 1 and the model is told.",
               after=lambda folder: template_with_type_one(folder, False))
    yield Spec("bert_type_ids_hidden", "bert", small("bert"),
               "The same template, but model_input_names leaves token_type_ids out: type 0 everywhere.",
               after=lambda folder: template_with_type_one(folder, True))
    yield Spec("bert_added_tokens", "bert", small("bert"),
               "Tokens added beyond the vocabulary, with lstrip, rstrip, single_word and normalized.",
               added=EXTRA_TOKENS, texts=EXTRA_TEXTS)
    yield Spec("bert_plain", "bert", small("bert"),
               "No modules.json: a bare transformers package. The library then adds mean pooling.",
               plain=True)
    yield Spec("bert_subfolder", "bert", small("bert"),
               "The oldest layout: the encoder in 0_Transformer.", old=True, max_seq_length=32,
               modules=[pooling(16, "mean")], after=in_subfolder)
    yield from families.specs(Spec, sized, pooling, TEXTS, FEW, edit)


def main(names):
    everything = {spec.name: spec for spec in specs()}
    unknown = set(names) - set(everything)
    if unknown:
        sys.exit(f"unknown packages: {sorted(unknown)}")
    for name in names or everything:
        folder = save_package(everything[name])
        write_golden(everything[name], folder)
        size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
        print(f"{name}: {size / 1024:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
