"""Tiny packages of several vectors per text and of sparse vectors, and sentence-transformers' answers on them.

    python tools/golden/vectors.py [NAME...]

Each package is built from the real configuration and model classes and saved by MultiVectorEncoder or
SparseEncoder; for the older forms (PyLate, Stanford's ColBERT) the saved folder is rewritten to the
files that those projects left on disk, and sentence-transformers, which reads them, answers. Texts are
encoded one at a time; a padded batch must agree (checked here).
"""

import pathlib
import shutil
import string
import sys
import tempfile
import warnings

import common
import families
import numpy as np
import packages
import tiny

warnings.simplefilter("ignore")
import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder, SparseEncoder
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sparse_encoder.modules import SpladePooling

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
transformers.utils.logging.disable_progress_bar()

SEED = "tenon-vectors-1"
VECTORS = common.GOLDEN / "vectors"
LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers", "safetensors", "numpy")

LONG = "the people of the world, they make water and words for all of them in time as they were there. " * 6
TEXTS = [
    "",
    "the people were there.",
    "Hello, world! It's 42% of what?",
    "caf\u00e9 CAF\u00c9 \u4e2d\u56fd, \U0001f600 unknownish...",
    LONG,
]


class Spec:
    """One package: family, what stands behind it, and in which form it is on disk."""

    def __init__(self, name, family, what, *, config=None, tokenizer=None, own_tokenizer=None, vocab=None, added=(),
                 prompts=None, after=None, model="Model", chain=None, options=None):
        self.__dict__.update(locals())
        del self.__dict__["self"]
        sizes = dict(hidden=16, layers=2, heads=2, intermediate=24, positions=48)
        self.config = {**packages.sized(family, **sizes), **(config or {})}
        self.model_max_length = self.max_seq_length = None


def filled(module, *names):
    return common.fill_weights(module, SEED, *names)


def bare_folder(spec, scratch):
    """The encoder, or the class with a head, with its tokenizer as transformers saves them."""
    tokenizer, _ = packages.make_tokenizer(spec)
    base = packages.FAMILIES[spec.family][1].__name__.removesuffix("Model")
    model_class = getattr(transformers, base + spec.model)
    model = model_class(packages.FAMILIES[spec.family][0](vocab_size=len(tokenizer), **spec.config))
    filled(model, spec.name).eval().save_pretrained(scratch / "source")
    tokenizer.save_pretrained(scratch / "source")
    return scratch / "source"


def finish(spec, target, class_name):
    for path in target.glob("generation_config.json"):
        path.unlink()
    packages.edit(target / "tokenizer_config.json", is_local=None, local_files_only=None)
    if spec.after:
        spec.after(target)
    (target / "README.md").write_text(
        f"# {spec.name}\n\nRandom weights: a test package without meaning, made by tools/golden/vectors.py from the "
        f"real `{class_name}`.\n\n{spec.what}\n", encoding="utf-8")
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    place = VECTORS / spec.name
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(target), place)
    return place


def save_package(spec):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="tenon-golden-"))
    source, target = bare_folder(spec, scratch), scratch / spec.name
    whole = spec.chain(spec, source)
    whole.save_pretrained(str(target), create_model_card=False)
    place = finish(spec, target, type(whole).__name__)
    shutil.rmtree(scratch)
    return place


# ---------------------------------------------------------------------------------------------
# Several vectors per text


def multi_chain(spec, source):
    options = dict(spec.options or {})
    width, words = options.pop("width", 8), options.pop("skiplist_words", list(string.punctuation))
    more, masked = options.pop("more", False), options.pop("masked", True)
    tasks, activation = options.pop("skiplist_tasks", None), options.pop("activation", torch.nn.Identity())
    transformer = Transformer(str(source), model_kwargs={"dtype": torch.float32}, **options)
    hidden = packages.hidden_of(spec.config)
    chain = [transformer]
    for index, (wide, out) in enumerate([(hidden, 12), (12, width)] if more else [(hidden, width)]):
        dense = Dense(wide, out, bias=more, activation_function=activation, module_input_name="token_embeddings",
                      use_residual=more)
        chain.append(filled(dense, spec.name, str(index)))
    if masked:
        chain.append(MultiVectorMask(skiplist_words=words, skiplist_tasks=tasks))
    chain.append(Normalize(module_input_name="token_embeddings"))
    return MultiVectorEncoder(modules=chain, device="cpu", prompts=spec.prompts)


def multi_cases(encoder, role):
    """Ids as they reach the encoder, and the vectors that are kept."""
    encode = encoder.encode_query if role == "query" else encoder.encode_document
    cases = []
    for text in TEXTS:
        prompt = encoder.prompts.get(role) or ""
        features = encoder.preprocess([text], prompt=prompt, task=role)
        vectors = encode([text], batch_size=1, show_progress_bar=False)[0]
        full = encoder.tokenizer(prompt + text, truncation=False)["input_ids"]
        case = {"text": text, "role": role, "ids": features["input_ids"][0].tolist(),
                "tokens_untruncated": len(full), "vectors": common.f32_list(vectors.numpy())}
        cases.append(case)
    together = encode(TEXTS, batch_size=len(TEXTS), show_progress_bar=False)
    for case, rows in zip(cases, together):
        alone = np.asarray(case["vectors"], dtype=np.float32).reshape(-1, rows.shape[1])
        if rows.shape != alone.shape or (rows.numel() and np.abs(rows.numpy() - alone).max() > 2e-5):
            raise SystemExit(f"the reference's own batch differs for {case['text']!r}")
    return cases


def multi_answers(spec, folder):
    encoder = MultiVectorEncoder(str(folder), device="cpu", local_files_only=True)
    return {
        "certificate": common.certificate(__file__, SEED, common.digest_folder(folder), LIBRARIES),
        "package": f"vectors/{spec.name}",
        "family": spec.family,
        "what": spec.what,
        "task": "embedding.multi",
        "dimensions": encoder.get_embedding_dimension(),
        "similarity": encoder.similarity_fn_name,
        "cases": multi_cases(encoder, "query") + multi_cases(encoder, "document"),
    }


def pylate(**fields):
    """The files of PyLate 1.x: its fields in the one document, its Dense in the list, nothing behind it."""
    def after(folder):
        modules = packages.read(folder / "modules.json")[:2]
        for module in modules[1:]:
            shutil.move(str(folder / module["path"]), str(folder / "1_Dense"))
            module.update(path="1_Dense", type="pylate.models.Dense.Dense")
            packages.write(folder / "1_Dense" / "config.json", {
                key: value for key, value in packages.read(folder / "1_Dense" / "config.json").items()
                if key in ("in_features", "out_features", "bias", "activation_function")})
        modules[0].update(path="", type="sentence_transformers.models.Transformer")
        packages.write(folder / "modules.json", modules)
        for path in folder.iterdir():
            if path.is_dir() and path.name != "1_Dense":
                shutil.rmtree(path)
        packages.write(folder / "sentence_bert_config.json", {"max_seq_length": 47, "do_lower_case": False})
        packages.write(folder / "config_sentence_transformers.json", {
            "__version__": {"sentence_transformers": "4.0.2", "transformers": "4.48.2", "pytorch": "2.6.0"},
            "prompts": {}, "default_prompt_name": None, "similarity_fn_name": "MaxSim", **fields})
    return after


def stanford(**fields):
    """What Stanford's code saves: the encoder under its prefix and the projection in one file, and artifact.metadata."""
    def after(folder):
        tensors = {f"bert.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
        tensors["linear.weight"] = load_file(next(folder.glob("1_*")) / "model.safetensors")["linear.weight"]
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors",
                  metadata={"format": "pt"})
        for path in list(folder.iterdir()):
            if path.is_dir():
                shutil.rmtree(path)
        for name in ("modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"):
            (folder / name).unlink()
        packages.edit(folder / "config.json", architectures=["HF_ColBERT"])
        if fields:
            packages.write(folder / "artifact.metadata", fields)
    return after


BRACKETS = {"query": "[Q] ", "document": "[D] "}
MODERN = dict(pad_token_id=0, local_attention=64)
DEBERTA = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, share_att_key=True,
               norm_rel_ebd="layer_norm", position_buckets=8)
METADATA = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_token": "[Q]", "doc_token": "[D]", "ncells": None,
            "query_maxlen": 20, "doc_maxlen": 30, "attend_to_mask_tokens": False, "mask_punctuation": True, "dim": 8,
            "similarity": "cosine", "bsize": 32, "lr": 1e-05, "checkpoint": "random", "meta": {"hostname": "none"}}


def markers():
    return tiny.vocabulary(last=["[unused0]", "[unused1]"])


def multi_specs():
    fixed = {"strategy": "fixed", "attend": False, "length": 16}
    def spec(name, family, what, **more):
        return Spec(name, family, what, chain=multi_chain, **more)
    yield spec("multi_bert", "bert", "Queries of exactly 16 tokens whose filling nobody sees; documents of 24 without punctuation.",
               prompts=BRACKETS, options=dict(query_expansion=fixed, document_length=24))
    for family in ("distilbert", "mpnet", "roberta", "xlm-roberta", "electra"):
        config = dict(max_position_embeddings=50) if family in ("mpnet", "roberta", "xlm-roberta") else None
        yield spec(f"multi_{family}", family, "The same without prompts.", config=config,
                   options=dict(query_expansion=fixed, document_length=24))
    yield spec("multi_modernbert", "modernbert", "A window that the filled queries fit into.", config=MODERN,
               options=dict(query_expansion=fixed, document_length=24))
    yield spec("multi_deberta-v2", "deberta-v2", "Disentangled terms; the filling is seen by all.", config=DEBERTA,
               options=dict(query_expansion={**fixed, "attend": True}, document_length=24))
    yield spec("multi_bert_seen", "bert", "The filling is seen by all; its token is named; longer queries stay.", prompts={"query": "query: "},
               options=dict(query_expansion={"strategy": "min", "attend": True, "length": 12, "token": "the"}, query_length=20))
    yield spec("multi_bert_min", "bert", "At least 12 tokens, hidden, and no more cut than the model needs; no words are skipped.",
               options=dict(query_expansion={"strategy": "min", "attend": False, "length": 12}, skiplist_words=[]))
    yield spec("multi_bert_plain", "bert", "Nothing is filled up; words of queries are skipped too; lengths of their own.",
               options=dict(query_length=8, document_length=18, skiplist_words=["the", ",", ".", "nonesuch"],
                            skiplist_tasks=["query", "document"]))
    yield spec("multi_bert_two", "bert", "Two projections with biases, residuals and GELU; no mask, so hidden filling is not kept.",
               options=dict(query_expansion=fixed, more=True, masked=False, activation=torch.nn.GELU()))
    yield spec("multi_pylate", "bert", "PyLate's files with model_type ColBERT; the prefixes are text.", prompts=BRACKETS,
               after=pylate(model_type="ColBERT", query_prefix="[Q] ", document_prefix="[D] ", query_length=16, document_length=24,
                            attend_to_expansion_tokens=False, skiplist_words=["!", ",", "."], do_query_expansion=True))
    yield spec("multi_pylate_markers", "bert", "PyLate's first files, no model_type: prefixes are entries of the vocabulary that a "
               "tokenizer would take apart; punctuation is skipped without a word.", vocab=markers(),
               after=pylate(query_prefix="[unused0]", document_prefix="[unused1]", query_length=16, document_length=24,
                            attend_to_expansion_tokens=True))
    yield spec("multi_pylate_added", "bert", "A prefix with a blank that is an added token, which a lower-casing tokenizer never finds.",
               added=["[Q] ", "[D] "],
               after=pylate(query_prefix="[Q] ", document_prefix="[D] ", query_length=16, document_length=24,
                            attend_to_expansion_tokens=False, do_query_expansion=False))
    yield spec("multi_stanford", "bert", "Stanford's files: HF_ColBERT with artifact.metadata.", vocab=markers(),
               after=stanford(**METADATA))
    yield spec("multi_stanford_bare", "bert", "The same without artifact.metadata: values of the code stand in.", vocab=markers(),
               after=stanford())


# ---------------------------------------------------------------------------------------------
# Sparse vectors


def sparse_chain(spec, source):
    options = dict(spec.options or {})
    most = options.pop("max_active_dims", None)
    transformer = Transformer(str(source), transformer_task="fill-mask", model_kwargs={"dtype": torch.float32})
    pooling = SpladePooling(**options)
    return SparseEncoder(modules=[transformer, pooling], device="cpu", prompts=spec.prompts, max_active_dims=most)


def terms(row):
    row = row.numpy()
    indices = np.nonzero(row)[0]
    return {"indices": indices.tolist(), "values": common.f32_list(row[indices])}


def sparse_cases(encoder, spec):
    roles = [None] + list(spec.prompts or {})
    cases = []
    for role in roles:
        for text in TEXTS:
            encode = lambda **more: encoder.encode([text], prompt_name=role, batch_size=1, show_progress_bar=False,
                                                   convert_to_sparse_tensor=False, **more)[0]
            prompt = (spec.prompts or {}).get(role, "")
            full = encoder.tokenizer(prompt + text, truncation=False)["input_ids"]
            cases.append({"text": text, "role": role, "tokens_untruncated": len(full), **terms(encode())})
            if role is None:
                cases.append({"text": text, "role": role, "tokens_untruncated": len(full), "max_active": 7,
                              **terms(encode(max_active_dims=7))})
    together = encoder.encode(TEXTS, batch_size=len(TEXTS), show_progress_bar=False, convert_to_sparse_tensor=False)
    alone = [case for case in cases if case["role"] is None and "max_active" not in case]
    for case, row in zip(alone, together):
        dense = np.zeros(row.shape[0], dtype=np.float32)
        dense[case["indices"]] = case["values"]
        if np.abs(row.numpy() - dense).max() > 2e-5 * max(1, dense.max()):
            raise SystemExit(f"the reference's own batch differs for {case['text']!r}")
    return cases


def sparse_answers(spec, folder):
    encoder = SparseEncoder(str(folder), device="cpu", local_files_only=True)
    return {
        "certificate": common.certificate(__file__, SEED, common.digest_folder(folder), LIBRARIES),
        "package": f"vectors/{spec.name}",
        "family": spec.family,
        "what": spec.what,
        "task": "embedding.sparse",
        "dimensions": encoder.get_embedding_dimension(),
        "cases": sparse_cases(encoder, spec),
    }


def older(folder):
    """The list as sentence-transformers 5.0 wrote it: classes of the older path, no task in the module's own file."""
    modules = packages.read(folder / "modules.json")
    for module, name in zip(modules, ("MLMTransformer", "SpladePooling")):
        module["type"] = f"sentence_transformers.sparse_encoder.models.{name}"
    packages.write(folder / "modules.json", modules)
    packages.write(folder / "sentence_bert_config.json", {"max_seq_length": 40, "do_lower_case": False})
    config = packages.read(folder / "1_SpladePooling" / "config.json")
    config["word_embedding_dimension"] = config.pop("embedding_dimension", None)
    packages.write(folder / "1_SpladePooling" / "config.json", config)


def sparse_specs():
    def spec(name, family, what, **more):
        return Spec(name, family, what, chain=sparse_chain, model="ForMaskedLM", **more)
    for family in ("bert", "distilbert", "mpnet", "roberta", "xlm-roberta", "electra"):
        config = dict(max_position_embeddings=50) if family in ("mpnet", "roberta", "xlm-roberta") else None
        yield spec(f"sparse_{family}", family, "The largest over the tokens.", config=config)
    yield spec("sparse_modernbert", "modernbert", "The largest over the tokens; local attention.", config={**MODERN, "local_attention": 6})
    yield spec("sparse_deberta-v2", "deberta-v2", "The largest over the tokens; disentangled terms.", config=DEBERTA)
    yield spec("sparse_bert_sum", "bert", "The sum over the tokens; prompts.", prompts={"query": "query: ", "passage": ""},
               options=dict(pooling_strategy="sum"))
    yield spec("sparse_bert_twice", "bert", "log1p_relu, and no more than 12 terms.",
               options=dict(activation_function="log1p_relu", max_active_dims=12))
    yield spec("sparse_bert_twice_sum", "bert", "log1p_relu, summed.", options=dict(activation_function="log1p_relu", pooling_strategy="sum"))
    yield spec("sparse_bert_older", "bert", "The files of sentence-transformers 5.0: MLMTransformer.", after=older)


# ---------------------------------------------------------------------------------------------


def main(names):
    everything = {spec.name: (spec, multi_answers) for spec in multi_specs()}
    everything.update({spec.name: (spec, sparse_answers) for spec in sparse_specs()})
    unknown = set(names) - set(everything)
    if unknown:
        sys.exit(f"unknown packages: {sorted(unknown)}")
    for name in names or everything:
        spec, answers = everything[name]
        folder = save_package(spec)
        common.write_json(VECTORS / f"{name}.json", answers(spec, folder))
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
