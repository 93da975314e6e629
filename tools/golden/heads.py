"""Tiny packages with a trained head's shape, and the reference's answers: labels, scores of pairs, tags, filled masks.

    python tools/golden/heads.py [NAME...]

Each package is built from the real configuration and model classes with random weights and saved by
transformers, or by CrossEncoder of sentence-transformers where it is one of its packages. The saved
package is loaded again; what the libraries answer on it is the golden: ids, type ids, logits, and
what their pipelines and CrossEncoder make of the logits. Weights are f32.

Everything is computed one item at a time, so that no padding is involved; a padded batch must agree
(checked here).
"""

import json
import pathlib
import shutil
import sys
import tempfile
import warnings

import common
import families
import numpy as np
import safetensors.numpy

warnings.simplefilter("ignore")
import packages
import torch
import transformers
from sentence_transformers import CrossEncoder
from transformers import AutoConfig, AutoTokenizer, pipeline

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

SEED = "tenon-heads-1"
HEADS = common.GOLDEN / "heads"
LIBRARIES = ("torch", "transformers", "tokenizers", "sentence-transformers", "safetensors", "numpy")

LONG = "the people of the world make water and words for all of them in time as they were there " * 2
QUERY = "how many people were there?"
DOCUMENTS = [
    "the people were there.",
    "",
    "water and words for all of them in time",
    LONG,
    "caf\u00e9 \u4e2d\u56fd [MASK] zq 42%",
    "the people were there.",
    "how many people were there?",
]
LONG_QUERY = "which of these words would make people look at the water " * 3
TEXTS = packages.TEXTS[:-1] + [LONG]
PAIRS = [("the people were there.", "water and words"), ("hello, world", LONG),
         (LONG, "hello"), (LONG, LONG), ("", ""), ("a", "")]

TASKS = {
    "text": "ForSequenceClassification",
    "token": "ForTokenClassification",
    "mask": "ForMaskedLM",
    "pretraining": "ForPreTraining",
}


class Spec:
    """One package: family, head, and what its configuration says of its numbers."""

    def __init__(self, name, family, head, what, *, config=None, labels=None, problem=None, scorer=None,
                 count=None, tokenizer=None, prompts=None, default_prompt=None, own_tokenizer=None, after=None):
        self.__dict__.update(locals())
        del self.__dict__["self"]
        sizes = dict(hidden=16, layers=2, heads=2, intermediate=24, positions=32)
        self.config = {**packages.sized(family, **sizes), **(config or {})}
        self.modules = self.dtype = self.shard = self.model_max_length = self.max_seq_length = None
        self.vocab = None
        self.added = ()


def model_class(spec):
    base = packages.FAMILIES[spec.family][1].__name__.removesuffix("Model")
    return getattr(transformers, base + TASKS[spec.head])


def answering_class(spec):
    """The class that a pipeline would load: weights of pre-training answer for masks, too."""
    if spec.head != "pretraining":
        return model_class(spec)
    return getattr(transformers, model_class(spec).__name__.replace("ForPreTraining", "ForMaskedLM"))


def configured(spec, size):
    """id2label and problem_type as a trainer would set them; nothing where the spec says nothing."""
    changes = {}
    if spec.labels:
        changes["id2label"] = dict(enumerate(spec.labels))
        changes["label2id"] = {label: i for i, label in enumerate(spec.labels)}
    elif spec.count:
        changes["num_labels"] = spec.count
    if spec.problem:
        changes["problem_type"] = spec.problem
    return packages.FAMILIES[spec.family][0](vocab_size=size, **spec.config, **changes)


def save_package(spec):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="tenon-golden-"))
    source, target = scratch / "source", scratch / spec.name
    tokenizer, _ = packages.make_tokenizer(spec)
    model = model_class(spec)(configured(spec, len(tokenizer)))
    common.fill_weights(model, SEED, spec.name)
    model.eval().save_pretrained(source)
    tokenizer.save_pretrained(source)
    if spec.scorer in ("saved", "identity"):
        options = {"activation_fn": torch.nn.Identity()} if spec.scorer == "identity" else {}
        scorer = CrossEncoder(str(source), device="cpu", prompts=spec.prompts,
                              default_prompt_name=spec.default_prompt, **options)
        scorer.save_pretrained(str(target), create_model_card=False)
    else:
        shutil.copytree(source, target)
    for path in target.glob("generation_config.json"):
        path.unlink()
    packages.edit(target / "tokenizer_config.json", is_local=None, local_files_only=None)
    if spec.after:
        spec.after(target)
    (target / "README.md").write_text(
        f"# {spec.name}\n\nRandom weights: a test package without meaning, made by tools/golden/heads.py from the "
        f"real `{model_class(spec).__name__}`.\n\n{spec.what}\n", encoding="utf-8")
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    place = HEADS / spec.name
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(target), place)
    shutil.rmtree(scratch)
    return place


# ---------------------------------------------------------------------------------------------
# The reference's answers


class Reference:
    """A package as the libraries load it."""

    def __init__(self, spec, folder):
        self.spec = spec
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        # One for each side: a tokenizer that has truncated once keeps its side.
        self.sided = {side: AutoTokenizer.from_pretrained(folder, truncation_side=side) for side in ("left", "right")}
        self.model = answering_class(spec).from_pretrained(folder, dtype=torch.float32).eval()
        positions = spec.config["max_position_embeddings"]
        self.limit = min(self.tokenizer.model_max_length, positions)
        self.folder = folder

    def encode(self, text, pair=None, truncation="longest_first", side=None):
        # Lists, because the library takes an empty second text for none when it is not in a list.
        tokenizer = self.sided.get(side, self.tokenizer)
        features = tokenizer([text], None if pair is None else [pair], truncation=truncation, max_length=self.limit,
                                  return_tensors="pt")
        return features

    def logits(self, features):
        with torch.inference_mode():
            return self.model(**features).logits

    def untruncated(self, text, pair=None):
        return len(self.tokenizer([text], None if pair is None else [pair], truncation=False)["input_ids"][0])


def case_of(reference, text, pair, truncation="longest_first", side=None):
    case = {"text": text}
    if pair is not None:
        case["pair"] = pair
    if truncation != "longest_first":
        case["truncation"] = truncation
    if side:
        case["side"] = side
    try:
        features = reference.encode(text, pair, truncation, side)
    except Exception as refusal:  # the library raises the tokenizers' own error
        case["error"] = str(refusal).split("\n")[0]
        return case, None
    if features["input_ids"].shape[1] > reference.limit:
        case["error"] = "too long: the library leaves it as it is and warns"
        return case, None
    types = features.get("token_type_ids")
    case["ids"] = features["input_ids"][0].tolist()
    case["type_ids"] = types[0].tolist() if types is not None else None
    case["tokens_untruncated"] = reference.untruncated(text, pair)
    logits = reference.logits(features)[0]
    case["logits"] = common.f32_list(logits.numpy())
    return case, logits


def check_batch(reference, cases):
    """A padded batch against lone items: how far the reference itself moves."""
    good = [c for c in cases if "logits" in c and "truncation" not in c and "side" not in c]
    worst = 0.0
    for group in ([c for c in good if "pair" in c], [c for c in good if "pair" not in c]):
        if not group:
            continue
        pairs = [c["pair"] for c in group] if "pair" in group[0] else None
        features = reference.tokenizer([c["text"] for c in group], pairs, truncation="longest_first", padding=True,
                                       max_length=reference.limit, return_tensors="pt")
        rows = reference.logits(features).numpy()
        for row, mask, case in zip(rows, features["attention_mask"], group):
            row = row[mask.bool().numpy()] if row.ndim == 2 else row
            alone = np.asarray(case["logits"], dtype=np.float32)
            worst = max(worst, float(np.abs(row - alone).max() / max(1.0, np.abs(alone).max())))
    if worst > 2e-5:
        raise SystemExit(f"{reference.spec.name}: the reference's own batch differs by {worst}")
    return common.f32_list(np.float32(worst))


def pipeline_labels(reference, case, **options):
    """What the text classification pipeline says of one input."""
    pipe = reference.pipe
    given = {"text": case["text"], **({"text_pair": case["pair"]} if "pair" in case else {})}
    out = pipe(given, truncation=True, max_length=reference.limit, **options)
    out = out if isinstance(out, list) else [out]
    return [{"label": row["label"], "score": common.f32_list(np.float32(row["score"]))} for row in out]


def classify_cases(reference):
    cases = []
    reference.pipe = pipeline("text-classification", model=reference.model, tokenizer=reference.tokenizer, device="cpu")
    for text, pair in [(t, None) for t in TEXTS] + PAIRS:
        case, logits = case_of(reference, text, pair)
        if logits is not None and pair != "":
            case["best"] = pipeline_labels(reference, case)
            case["all"] = pipeline_labels(reference, case, top_k=None)
        cases.append(case)
    for text, pair in PAIRS + [("a", LONG)]:
        for truncation in ("longest_first", "only_first", "only_second"):
            for side in ("right", "left"):
                cases.append(case_of(reference, text, pair, truncation, side)[0])
    return cases


def rank_cases(spec, reference):
    """CrossEncoder's own scores and order; for two outputs, which it does not rank, its rows."""
    options = {"max_length": reference.limit} if spec.scorer in (None, "config") else {}
    scorer = CrossEncoder(str(reference.folder), device="cpu", local_files_only=True, **options)
    out = []
    for query in (QUERY, LONG_QUERY):
        pairs = [(query, document) for document in DOCUMENTS]
        scores = np.stack([scorer.predict([pair], batch_size=1, show_progress_bar=False)[0] for pair in pairs])
        case = {"query": query, "documents": DOCUMENTS, "scores": common.f32_list(scores),
                "activation": type(scorer.activation_fn).__name__}
        if scorer.num_labels == 1:
            ranked = scorer.rank(query, DOCUMENTS, batch_size=1, show_progress_bar=False)
            case["order"] = [row["corpus_id"] for row in ranked]
        raw = np.stack([scorer.predict([pair], batch_size=1, show_progress_bar=False,
                                       activation_fn=torch.nn.Identity())[0] for pair in pairs])
        case["logits"] = common.f32_list(raw.reshape(len(DOCUMENTS), -1))
        prompt = (spec.prompts or {}).get(spec.default_prompt, "")
        encoded = [reference.encode(prompt + query, document) for document in DOCUMENTS]
        case["ids"] = [features["input_ids"][0].tolist() for features in encoded]
        out.append(case)
    return out


STRATEGIES = ("none", "simple", "first", "average", "max")


def tag_cases(reference):
    pipe = pipeline("token-classification", model=reference.model, tokenizer=reference.tokenizer, device="cpu")
    cases = []
    for text in TEXTS + ["unknownish people-water waters!", "Hello world hello WORLD caf\u00e9s",
                         "\U0001f600 caf\u00e9 \u4e2d\u56fd wateringly"]:
        case, logits = case_of(reference, text, None)
        case["logits"] = common.f32_list(logits.numpy())
        case["entities"] = {}
        for strategy in STRATEGIES:
            rows = pipe(text, aggregation_strategy=strategy) if case["ids"] else []
            case["entities"][strategy] = [
                {"label": row.get("entity", row.get("entity_group")), "score": common.f32_list(np.float32(row["score"])),
                 "start": int(row["start"]), "end": int(row["end"]), "word": row["word"],
                 **({"token": int(row["index"])} if "index" in row else {})} for row in rows]
        cases.append(case)
    return cases


MASKED = [
    "the people {m} there.",
    "{m} people were there",
    "look at the water {m}",
    "{m}",
    "water {m} and {m} words",
    "{m}{m} {m} people",
    "  the   {m}\tof\nthe world ",
    "caf\u00e9 {m} \u4e2d\u56fd {m}.",
    "it 's {m} , isn 't it ? they 've {m} !",
    "{p} the {m} {p}",
]
UNMASKED = ["", "the people were there.", "[mask] <Mask>"]
TARGETS = [[3, 11, 7], [6], [10, 10, 9]]  # ids; the pipeline gets their tokens


def mask_rows(reference, features):
    places = (features["input_ids"][0] == reference.tokenizer.mask_token_id).nonzero().squeeze(-1)
    return places.tolist(), reference.logits(features)[0, places]


def predictions(pipe, text, **options):
    """What the pipeline says, for one mask as for several."""
    out = pipe(text, **options)
    out = [out] if out and isinstance(out[0], dict) else out
    return [[{**row, "score": common.f32_list(np.float32(row["score"]))} for row in mask] for mask in out]


def one_mask_case(reference, pipe, text, **options):
    case = {"text": text}
    features = reference.tokenizer([text], return_tensors="pt", **options)
    case["ids"] = features["input_ids"][0].tolist()
    case["positions"], logits = mask_rows(reference, features)
    case["logits"] = common.f32_list(logits.numpy())
    kwargs = {"tokenizer_kwargs": options} if options else {}
    case["fills"] = predictions(pipe, text, **kwargs)
    case["best"] = predictions(pipe, text, top_k=1, **kwargs)
    case["targets"] = []
    for ids in TARGETS:
        tokens = reference.tokenizer.convert_ids_to_tokens(ids)
        case["targets"].append({"tokens": tokens, "fills": predictions(pipe, text, targets=tokens, **kwargs)})
    return case


def mask_cases(reference):
    pipe = pipeline("fill-mask", model=reference.model, tokenizer=reference.tokenizer, device="cpu")
    names = {"m": reference.tokenizer.mask_token, "p": reference.tokenizer.pad_token}
    cut = {"truncation": True, "max_length": reference.limit}
    cases = []
    for text in (text.format(**names) for text in MASKED):
        # Bytes and characters make more tokens: the pipeline itself would run past the positions.
        options = cut if reference.untruncated(text) > reference.limit else {}
        if reference.tokenizer.mask_token_id in reference.tokenizer(text, **options)["input_ids"]:
            cases.append(one_mask_case(reference, pipe, text, **options))
    cases.append(one_mask_case(reference, pipe, f"the {names['m']} " + LONG, **cut))
    for text, options in [(text, {}) for text in UNMASKED] + [(LONG + f" {names['m']}", cut)]:
        try:
            pipe(text, tokenizer_kwargs=options)
        except Exception as refusal:
            cases.append({"text": text, "error": str(refusal).split("\n")[0]})
        else:
            raise SystemExit(f"{reference.spec.name}: the pipeline fills {text!r}")
    return cases


def check_mask_batch(reference, cases):
    good = [c for c in cases if "error" not in c]
    features = reference.tokenizer([c["text"] for c in good], padding=True, truncation=True, max_length=reference.limit,
                                   return_tensors="pt")
    rows = reference.logits(features)
    worst = 0.0
    for row, ids, case in zip(rows, features["input_ids"], good):
        batch = row[ids == reference.tokenizer.mask_token_id].numpy()
        alone = np.asarray(case["logits"], dtype=np.float32)
        worst = max(worst, float(np.abs(batch - alone).max() / max(1.0, np.abs(alone).max())))
    if worst > 2e-5:
        raise SystemExit(f"{reference.spec.name}: the reference's own batch differs by {worst}")
    return common.f32_list(np.float32(worst))


def answers(spec, folder):
    reference = Reference(spec, str(folder))
    out = {
        "certificate": common.certificate(__file__, SEED, common.digest_folder(folder), LIBRARIES),
        "package": f"heads/{spec.name}",
        "family": spec.family,
        "what": spec.what,
        "head": TASKS[spec.head],
        "labels": [reference.model.config.id2label[i] for i in range(reference.model.config.num_labels)],
        "problem": reference.model.config.problem_type,
        "max_tokens": reference.limit,
    }
    if spec.head in ("mask", "pretraining"):
        del out["labels"], out["problem"]
        out["mask_token"] = reference.tokenizer.mask_token
        out["cases"] = mask_cases(reference)
        out["reference_batch_difference"] = check_mask_batch(reference, out["cases"])
    elif spec.head == "text":
        cases = classify_cases(reference)
        out["reference_batch_difference"] = check_batch(reference, cases)
        out["cases"] = cases
        if reference.model.config.num_labels <= 2:
            out["rank"] = rank_cases(spec, reference)
    else:
        cases = tag_cases(reference)
        out["reference_batch_difference"] = check_batch(reference, cases)
        out["cases"] = cases
    return out


# ---------------------------------------------------------------------------------------------
# The packages

ENTITIES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def scorer_block(activation, old=False):
    """The blocks that CrossEncoder wrote into config.json: since 4.0, and before it."""
    def after(folder):
        if old:
            packages.edit(folder / "config.json", sbert_ce_default_activation_function=activation)
        else:
            packages.edit(folder / "config.json",
                          sentence_transformers={"activation_fn": activation, "version": "4.1.0"})
    return after


def backwards(folder):
    """The same labels with the members of both maps in reverse: ids are sorted as numbers."""
    config = packages.read(folder / "config.json")
    for name in ("id2label", "label2id"):
        config[name] = dict(reversed(config[name].items()))
    packages.write(folder / "config.json", config)


def renamed(**names):
    """Tensors under other names, as other releases saved them."""
    def after(folder):
        path = folder / "model.safetensors"
        tensors = safetensors.numpy.load_file(path)
        out = {}
        for name, value in tensors.items():
            for old, new in names.items():
                name = name.replace(old, new)
            out[name] = value
        safetensors.numpy.save_file(out, path, {"format": "pt"})
    return after


def both_names(folder):
    """Tied tensors under both names, as releases before 4.30 saved them."""
    path = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(path)
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"]
    tensors["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"]
    safetensors.numpy.save_file(tensors, path, {"format": "pt"})


def without_labels(folder):
    packages.edit(folder / "config.json", id2label=None, label2id=None)


def specs():
    three = ["negative", "neutral", "positive"]
    for family in ("bert", "distilbert", "mpnet", "roberta", "xlm-roberta", "electra"):
        yield Spec(f"{family}_single", family, "text", "Three labels, one of them per text.", labels=three,
                   problem="single_label_classification")
        yield Spec(f"{family}_scorer", family, "text", "A scorer of pairs saved by CrossEncoder 6.2, one output.",
                   count=1, scorer="saved")
        yield Spec(f"{family}_tags", family, "token", "Five tags in BIO form.", labels=ENTITIES)
    # As published: no bias in the dense layer, which looks at the first token or at the mean.
    modern = dict(pad_token_id=0, local_attention=6)
    yield Spec("modernbert_single", "modernbert", "text", "Three labels; classifier_pooling mean.", labels=three,
               problem="single_label_classification", config={**modern, "classifier_pooling": "mean"})
    yield Spec("modernbert_scorer", "modernbert", "text", "A scorer of pairs saved by CrossEncoder 6.2, one output.",
               count=1, scorer="saved", config=modern)
    yield Spec("modernbert_tags", "modernbert", "token", "Five tags in BIO form; the head's dense layer and norm have biases.",
               labels=ENTITIES,
               config={**modern, "classifier_bias": True, "norm_bias": True, "classifier_activation": "silu"})
    deberta = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, share_att_key=True,
                   norm_rel_ebd="layer_norm", position_buckets=8)
    yield Spec("deberta-v2_single", "deberta-v2", "text", "Three labels; pooler_hidden_act gelu.", labels=three,
               problem="single_label_classification", config=deberta)
    yield Spec("deberta-v2_scorer", "deberta-v2", "text",
               "A scorer of pairs saved by CrossEncoder 6.2, one output; token types, pooler_hidden_act tanh.", count=1,
               scorer="saved", config={**deberta, "type_vocab_size": 2, "pooler_hidden_act": "tanh"})
    yield Spec("deberta-v2_tags", "deberta-v2", "token", "Five tags in BIO form.", labels=ENTITIES, config=deberta)
    published = {"modernbert": modern, "deberta-v2": deberta, "electra": {"embedding_size": 8}}
    for family in ("bert", "distilbert", "mpnet", "roberta", "xlm-roberta", "electra", "modernbert", "deberta-v2"):
        yield Spec(f"{family}_masks", family, "mask", "A head over the vocabulary, its decoder tied.", config=published.get(family))
    # Values far from the usual ones, so that a head that takes others is seen.
    yield Spec("bert_masks_act", "bert", "mask", "hidden_act silu and a layer_norm_eps of 0.5 reach the head, too.",
               config=dict(hidden_act="silu", layer_norm_eps=0.5))
    for family in ("roberta", "mpnet"):
        yield Spec(f"{family}_masks_eps", family, "mask", "A layer_norm_eps of 0.5 and hidden_act silu; the head's activation is GELU.",
                   config=dict(hidden_act="silu", layer_norm_eps=0.5))
    untied = {"tie_word_embeddings": False}
    yield Spec("bert_masks_untied", "bert", "mask", "A decoder and a bias of its own; the bias under the head's name is not read.",
               config=untied)
    yield Spec("distilbert_masks_untied", "distilbert", "mask", "A decoder of its own.", config=untied)
    yield Spec("bert_masks_both", "bert", "mask", "Tied tensors under both of their names.", after=both_names)
    yield Spec("bert_masks_older", "bert", "mask", "Norms as the first checkpoints named them.",
               after=renamed(**{"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}))
    yield Spec("bert_pretraining", "bert", "pretraining", "The head over the vocabulary beside a judge of sentence pairs.")
    yield Spec("bert_masks_spaces", "bert", "mask", "clean_up_tokenization_spaces: decoded texts are cleaned once more.",
               tokenizer={"clean_up_tokenization_spaces": True})
    yield Spec("modernbert_masks_biased", "modernbert", "mask", "A dense layer and a norm with biases, a decoder without one.",
               config={**modern, "classifier_bias": True, "norm_bias": True, "decoder_bias": False, "classifier_activation": "silu"})
    yield Spec("deberta-v2_masks_plain", "deberta-v2", "mask", "legacy false: the embedding table is the decoder, tied or not.",
               config={**deberta, "legacy": False, **untied})
    yield Spec("roberta_masks_bytes", "roberta", "mask", "RobertaTokenizer: byte-level pairs.", own_tokenizer=families.byte_pairs)
    yield Spec("xlm-roberta_masks_pieces", "xlm-roberta", "mask", "XLMRobertaTokenizer: Unigram.", own_tokenizer=families.xlm_pieces)
    # Their own tokenizers: tags are joined by what the text has between tokens, as these mark no pieces.
    yield Spec("xlm-roberta_scorer_pieces", "xlm-roberta", "text", "A scorer with XLMRobertaTokenizer.", count=1, scorer="saved",
               own_tokenizer=families.xlm_pieces)
    yield Spec("roberta_tags_bytes", "roberta", "token", "RobertaTokenizer: byte-level pairs.", labels=ENTITIES,
               own_tokenizer=families.byte_pairs)
    yield Spec("deberta-v2_tags_pieces", "deberta-v2", "token", "DebertaV2Tokenizer: Unigram.", labels=ENTITIES, config=deberta,
               own_tokenizer=families.deberta_pieces)
    yield Spec("bert_multi", "bert", "text", "Any of three labels per text.", labels=three,
               problem="multi_label_classification")
    yield Spec("bert_many", "bert", "text", "Twelve labels, written in reverse order of their ids; nothing says which problem.",
               labels=[f"class {i}" for i in range(12)], after=backwards)
    yield Spec("bert_value", "bert", "text", "A regression of one value.", count=1, problem="regression")
    yield Spec("bert_values", "bert", "text", "A regression of two values.", labels=["length", "weight"],
               problem="regression")
    yield Spec("bert_unlabelled", "bert", "text", "No labels in the configuration: the class has two.", count=2,
               after=without_labels)
    yield Spec("bert_left", "bert", "text", "truncation_side left.", labels=three, tokenizer={"truncation_side": "left"})
    yield Spec("bert_scorer_identity", "bert", "text", "A scorer saved by CrossEncoder 6.2 with Identity: its score is the logit.",
               count=1, scorer="identity")
    yield Spec("bert_scorer_block", "bert", "text", "A scorer as CrossEncoder 4 and 5 saved it, with Tanh.", count=1, scorer="config",
               after=scorer_block("torch.nn.modules.activation.Tanh"))
    yield Spec("bert_scorer_older", "bert", "text", "A scorer as CrossEncoder before 4.0 saved it, with Identity.", count=1,
               scorer="config", after=scorer_block("torch.nn.modules.linear.Identity", old=True))
    yield Spec("bert_scorer_bare", "bert", "text", "One output and no word of CrossEncoder: a sigmoid is the library's default.",
               count=1)
    yield Spec("bert_scorer_prompt", "bert", "text", "A scorer whose queries get a prompt.", count=1, scorer="saved",
               prompts={"query": "query: ", "none": ""}, default_prompt="query")
    yield Spec("bert_scorer_two", "bert", "text", "Two outputs named for relevance.", labels=["irrelevant", "relevant"],
               scorer="saved")


def main(names):
    everything = {spec.name: spec for spec in specs()}
    unknown = set(names) - set(everything)
    if unknown:
        sys.exit(f"unknown packages: {sorted(unknown)}")
    for name in names or everything:
        folder = save_package(everything[name])
        common.write_json(HEADS / f"{name}.json", answers(everything[name], folder))
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
