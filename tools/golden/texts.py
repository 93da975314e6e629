"""Graphs of tiny packages, for tests of texts through a graph.

    python tools/golden/texts.py [NAME...]

Each package below is one of tests/golden whose answers the reference has given (embed/NAME.json, heads/NAME.json). Its model
goes through torch's tracing exporter, as users export it: integers [batch, sequence] in, last_hidden_state or logits out. The
graph alone is kept; a test puts it beside the package's other documents, in the place of its weights, and holds it against
the same answers. Before it is kept, ONNX Runtime must give the model's numbers on a padded batch.
"""

import inspect
import json
import pathlib
import sys
import warnings

import common
import numpy as np

warnings.simplefilter("ignore")
import onnxruntime
import torch
import transformers

torch.set_num_threads(1)

# name of the golden: folder of the golden, class of the model
PACKAGES = {
    "bert_mean_normalize": ("embed", "Model"),
    "bert_dense_chain": ("embed", "Model"),
    "bert_pool_cls": ("embed", "Model"),
    "bert_prompt_excluded": ("embed", "Model"),
    "distilbert_cls": ("embed", "Model"),
    "mpnet_mean_normalize": ("embed", "Model"),
    "bert_single": ("heads", "ForSequenceClassification"),
    "bert_scorer": ("heads", "ForSequenceClassification"),
    "roberta_scorer": ("heads", "ForSequenceClassification"),
    "bert_tags": ("heads", "ForTokenClassification"),
    "electra_tags": ("heads", "ForTokenClassification"),
    "bert_masks": ("heads", "ForMaskedLM"),
    "roberta_masks": ("heads", "ForMaskedLM"),
    "bert_scorer_untyped": ("heads", "ForSequenceClassification"),  # as some exporters leave token types out
}


class Exported(torch.nn.Module):
    """Positional inputs and one output, as the exporter wants them."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        return self.model(**dict(zip(self.names, values)))[0]


def load(name):
    folder, task = PACKAGES[name]
    golden = json.loads((common.GOLDEN / folder / f"{name.removesuffix('_untyped')}.json").read_text(encoding="utf-8"))
    package = common.GOLDEN / golden["package"]
    config = next(p for p in sorted(package.rglob("config.json")) if "model_type" in json.loads(p.read_text(encoding="utf-8")))
    loader = "AutoModel" + ("" if task == "Model" else task)
    model = getattr(transformers, loader).from_pretrained(config.parent, attn_implementation="eager").eval()
    return golden, model


def export(name):
    golden, model = load(name)
    names = ["input_ids", "attention_mask"]
    if not name.endswith("_untyped") and "token_type_ids" in inspect.signature(model.forward).parameters and getattr(model.config, "type_vocab_size", 0) > 1:
        names.append("token_type_ids")
    cases = [(c["ids"], c.get("type_ids") or [0] * len(c["ids"])) for c in golden["cases"] if c.get("ids")]
    longest = max(len(ids) for ids, _ in cases)
    ids = torch.full((len(cases), longest), model.config.pad_token_id or 0)
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    for i, (row, kinds) in enumerate(cases):
        ids[i, :len(row)] = torch.tensor(row)
        types[i, :len(row)] = torch.tensor(kinds)
        mask[i, :len(row)] = 1
    values = dict(input_ids=ids, attention_mask=mask, token_type_ids=types)
    output = "logits" if PACKAGES[name][1] != "Model" else "last_hidden_state"
    axes = {n: {0: "batch_size", 1: "sequence_length"} for n in names}
    axes[output] = {0: "batch_size"} if PACKAGES[name][1] == "ForSequenceClassification" else {0: "batch_size", 1: "sequence_length"}
    target = common.GOLDEN / "texts" / f"{name}.onnx"
    target.parent.mkdir(exist_ok=True)
    exported = Exported(model, names).eval()  # the exporter puts back whatever mode it found
    with torch.no_grad():
        torch.onnx.export(exported, tuple(values[n][:2, :7] for n in names), str(target), input_names=names,
                          output_names=[output], dynamic_axes=axes, opset_version=17, dynamo=False)
        expected = exported(*(values[n] for n in names)).numpy()
    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    found = session.run(None, {n: values[n].numpy() for n in names})[0]
    kept = mask.numpy().astype(bool) if found.ndim == 3 else slice(None)
    worst = np.abs(found[kept] - expected[kept]).max() / max(1, np.abs(expected).max())
    if worst > 1e-5:
        sys.exit(f"{name}: the graph differs from its model by {worst}")
    print(f"{name}: {target.stat().st_size} bytes, {len(cases)} texts, differs by {worst:.1e}")


if __name__ == "__main__":
    for each in sys.argv[1:] or PACKAGES:
        export(each)
