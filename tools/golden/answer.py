"""Tiny packages with a head for question answering, and the pipeline's answers.

    python tools/golden/answer.py make [NAME...]      with the pinned libraries of the other goldens
    OLDER  tools/golden/answer.py ask [NAME...]       with transformers 4.57.6

transformers 5 has no question-answering pipeline any more; 4.57.6 is the last release with one, and its
rules are the ones that are followed. So the packages are built and saved by the libraries of the other
goldens, and asked by the older one: OLDER is a Python with transformers 4.57.6, tokenizers 0.22.1, torch
and NumPy, and nothing else of this folder's needs. `make` also writes the logits of the newer classes for
one input, and `ask` compares: both releases must compute the same.

Windows are the library's own overflow; where they are few the golden has their ids and logits. Spans to which the pipeline gives
the score 0 are left out: it has them in no particular order, and none of them answers anything.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

os.environ["RUST_BACKTRACE"] = "0"  # one case makes the older tokenizers panic, and a trace takes it minutes

import common
import numpy as np
import torch
import transformers

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)

SEED = "tenon-answer-1"
ANSWERS = common.GOLDEN / "answers"
LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy")
WHOLE = 5  # windows of which everything is kept

QUESTION = "how many people were there?"
SHORT = "In the world there were 42 people, and more water than words; HELLO."
LONG = ("the people of the world make water and words for all of them in time as they were there. "
        "There were 42 people; some had been in the water, others had no time! Hello, world: " * 2)
CASES = [
    # question, context, options of the pipeline
    (QUESTION, SHORT, {}),
    (QUESTION, SHORT, {"top_k": 5}),
    (QUESTION, SHORT, {"top_k": 3, "handle_impossible_answer": True}),
    (QUESTION, SHORT, {"top_k": 4, "align_to_words": False}),
    (QUESTION, SHORT, {"top_k": 4, "max_answer_len": 1}),
    (QUESTION, SHORT, {"top_k": 4, "max_answer_len": 60}),
    (QUESTION, LONG, {}),
    (QUESTION, LONG, {"top_k": 6, "handle_impossible_answer": True}),
    (QUESTION, LONG, {"top_k": 6, "doc_stride": 3}),
    (QUESTION, LONG, {"top_k": 6, "doc_stride": 0, "max_answer_len": 4}),
    (QUESTION, LONG, {"top_k": 6, "max_seq_len": 32, "doc_stride": 7, "align_to_words": False}),
    ("what?", "a", {"top_k": 3, "handle_impossible_answer": True}),
    ("what?", "   \t ", {"top_k": 3, "handle_impossible_answer": True}),
    ("  ?", "unknownish people-water waters! People-Water", {"top_k": 8}),
    ("who's there", "caf\u00e9 CAF\u00c9 cafe\u0301 nai\u0308ve \u4e2d\u56fd\u65e5\u672c\u8a9e \u043f\u0440\u0438\u0432\u0435\u0442 "
     "\u041f\u0420\u0418\u0412\u0415\u0422 \u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2 \U0001f600 zq \u2665", {"top_k": 12}),
    ("the", "the [SEP] people [CLS] were there. [MASK] </s> <mask> the", {"top_k": 5, "handle_impossible_answer": True}),
    (LONG, SHORT, {}),
    (LONG[:120], SHORT * 2, {"top_k": 2}),
    (LONG[:75], LONG, {}),
]


# ---------------------------------------------------------------------------------------------
# Packages


class Spec:
    def __init__(self, name, family, what, *, config=None, tokenizer=None, own_tokenizer=None):
        import packages

        self.name, self.family, self.what, self.tokenizer = name, family, what, tokenizer
        self.own_tokenizer = own_tokenizer
        self.config = {**packages.sized(family, hidden=16, layers=2, heads=2, intermediate=24, positions=64), **(config or {})}
        self.vocab = self.model_max_length = self.max_seq_length = None
        self.added = ()


def specs():
    import families

    for family in ("bert", "distilbert", "mpnet", "roberta", "xlm-roberta", "electra"):
        yield Spec(family, family, "As published.")
    modern = dict(pad_token_id=0, local_attention=6)
    yield Spec("modernbert", "modernbert", "A layer and a norm in front of the two outputs, as published.", config=modern)
    yield Spec("modernbert_biases", "modernbert", "The head's layer and norms have biases.",
               config={**modern, "classifier_bias": True, "norm_bias": True, "classifier_activation": "silu"})
    deberta = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, share_att_key=True,
                   norm_rel_ebd="layer_norm", position_buckets=8)
    yield Spec("deberta-v2", "deberta-v2", "As published.", config=deberta)
    yield Spec("bert_left", "bert", "truncation_side left: windows from the end of the context.", tokenizer={"truncation_side": "left"})
    yield Spec("bert_context_first", "bert", "padding_side left: the context stands before the question.", tokenizer={"padding_side": "left"})
    yield Spec("roberta_bytes", "roberta", "RobertaTokenizer: byte-level pairs, words with their blanks.", own_tokenizer=families.byte_pairs)
    yield Spec("xlm-roberta_pieces", "xlm-roberta", "XLMRobertaTokenizer: Unigram pieces.", own_tokenizer=families.xlm_pieces)
    yield Spec("deberta-v2_pieces", "deberta-v2", "DebertaV2Tokenizer: Unigram pieces.", config=deberta,
               own_tokenizer=families.deberta_pieces)


def model_class(family):
    import packages

    return getattr(transformers, packages.FAMILIES[family][1].__name__.removesuffix("Model") + "ForQuestionAnswering")


def save_package(spec):
    import packages

    target = pathlib.Path(tempfile.mkdtemp(prefix="tenon-golden-")) / spec.name
    tokenizer, _ = packages.make_tokenizer(spec)
    model = model_class(spec.family)(packages.FAMILIES[spec.family][0](vocab_size=len(tokenizer), **spec.config))
    common.fill_weights(model, SEED, spec.name)
    model.eval().save_pretrained(target)
    tokenizer.save_pretrained(target)
    for path in target.glob("generation_config.json"):
        path.unlink()
    packages.edit(target / "tokenizer_config.json", is_local=None, local_files_only=None)
    (target / "README.md").write_text(
        f"# {spec.name}\n\nRandom weights: a test package without meaning, made by tools/golden/answer.py from the "
        f"real `{model_class(spec.family).__name__}`.\n\n{spec.what}\n", encoding="utf-8")
    for path in target.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    place = ANSWERS / spec.name
    if place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(target), place)
    return place


def probe_ids(model):
    return torch.arange(5, 25)[None] % model.config.vocab_size


def make(names):
    for spec in specs():
        if names and spec.name not in names:
            continue
        folder = save_package(spec)
        model = model_class(spec.family).from_pretrained(folder, dtype=torch.float32).eval()
        with torch.inference_mode():
            out = model(input_ids=probe_ids(model))
        common.write_json(ANSWERS / f"{spec.name}.json", {
            "package": f"answers/{spec.name}", "family": spec.family, "what": spec.what,
            "saved_by": common.versions("torch", "transformers", "tokenizers"),
            "inputs": transformers.AutoTokenizer.from_pretrained(folder).model_input_names,
            "newer": common.f32_list(torch.stack([out.start_logits[0], out.end_logits[0]], -1).numpy())})
        print(spec.name, file=sys.stderr)


# ---------------------------------------------------------------------------------------------
# Answers


def load(folder, inputs):
    """The package's own tokenizer.json with what its class and tokenizer_config.json say: the class has another name here."""
    said = json.loads((folder / "tokenizer_config.json").read_text())
    keep = {k: v for k, v in said.items() if k.endswith("_token") or k in ("model_max_length", "padding_side", "truncation_side")}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), model_input_names=inputs, **keep)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder, dtype=torch.float32).eval()
    return tokenizer, model


class Pipeline(transformers.QuestionAnsweringPipeline if hasattr(transformers, "QuestionAnsweringPipeline") else object):
    """
    The library's, which also keeps what each window was. Where the context comes first its mask lets every token of the
    question answer (an expression that binds otherwise than it reads); here the mask is that of the other case.
    """

    windows = ()

    def preprocess(self, example, **options):
        context = 1 if self.tokenizer.padding_side == "right" else 0
        for features in super().preprocess(example, **options):
            if context == 0:
                enc = features["encoding"]
                cls = features["input_ids"][0] == self.tokenizer.cls_token_id
                own = torch.tensor([s == 0 for s in enc.sequence_ids])
                features["p_mask"] = (~(own | cls)).long()[None]
            yield features

    def postprocess(self, outputs, **options):
        self.windows = [(o["input_ids"][0].tolist(), torch.stack([o["start"][0], o["end"][0]], -1).numpy()) for o in outputs]
        return super().postprocess(outputs, **options)


def ask_one(pipe, question, context, options):
    case = {"question": question, "context": context, "options": options}
    limit = pipe.tokenizer.model_max_length
    try:
        out = pipe(question=question, context=context, **{"max_seq_len": limit, **options})
    except BaseException as refusal:  # the library's exception for a panic is no Exception
        if isinstance(refusal, KeyboardInterrupt):
            raise
        case["error"] = str(refusal).split("\n")[0]
        return case
    rows = out if isinstance(out, list) else [out]
    case["windows"] = [len(ids) for ids, _ in pipe.windows]
    if len(pipe.windows) <= WHOLE:
        case["ids"] = [ids for ids, _ in pipe.windows]
        case["logits"] = [common.f32_list(logits) for _, logits in pipe.windows]
    case["answers"] = [{"answer": r["answer"], "score": float(f"{r['score']:.9g}"), "start": int(r["start"]), "end": int(r["end"])}
                       for r in rows if r["score"] > 0]
    return case


def ask(names):
    if not transformers.__version__.startswith("4.57."):
        sys.exit("the pipeline of transformers 4.57 is asked")
    for path in sorted(ANSWERS.glob("*.json")):
        if names and path.stem not in names:
            continue
        document = json.loads(path.read_text())
        folder = common.GOLDEN / document["package"]
        tokenizer, model = load(folder, document["inputs"])
        with torch.inference_mode():
            out = model(input_ids=probe_ids(model))
        older = torch.stack([out.start_logits[0], out.end_logits[0]], -1).numpy()
        newer = np.asarray(document["newer"], dtype=np.float32)
        if np.abs(older - newer).max() > 2e-5 * max(1, np.abs(newer).max()):
            sys.exit(f"{path.stem}: the two releases differ by {np.abs(older - newer).max()}")
        pipe = Pipeline(model=model, tokenizer=tokenizer, device="cpu")
        document["certificate"] = common.certificate(__file__, SEED, common.digest_folder(folder), LIBRARIES)
        document["max_tokens"] = tokenizer.model_max_length
        document["cases"] = [ask_one(pipe, *case) for case in CASES]
        common.write_json(path, document)
        print(path.stem, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("make", "ask"):
        sys.exit(__doc__)
    (make if sys.argv[1] == "make" else ask)(sys.argv[2:])
