"""Small genai_config packages, and what onnxruntime-genai makes of them.

    python tools/golden/genai_packages.py        makes tests/golden/genai/packages and opened.json again

Each package is a genai_config.json as the library's model builder writes it and ONNX graphs with the ports
that it names; the graphs compute nothing of use. `opened.json` says of each whether the library takes the
document, and whether it opens the graphs by it. The packages cover the shapes of the convention: one
decoder, an encoder with a decoder, pictures spliced into embeddings, stages of a pipeline, windows,
recurrent layers beside attention, keys and values in one tensor, two alternatives in two folders.
"""

import json
import pathlib
import shutil

import common
import onnx
import onnxruntime_genai as library
from onnx import TensorProto, helper

SEED = "tenon-genai-1"
OUT = common.GOLDEN / "genai"
PACKAGES = OUT / "packages"

I64, F32 = TensorProto.INT64, TensorProto.FLOAT
HEADS, KV_HEADS, HEAD, HIDDEN, VOCAB, LAYERS = 4, 2, 8, 32, 100, 2


def port(name, element, *shape):
    return helper.make_tensor_value_info(name, element, list(shape))


def graph(folder, name, inputs, outputs):
    """Every output is made of constants of its extents, symbols being one: valid, loadable, meaningless."""
    nodes, initialisers = [], []
    for value in outputs:
        dims = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
        initialisers.append(helper.make_tensor(f"{value.name}_shape", I64, [len(dims)], dims))
        nodes.append(
            helper.make_node(
                "ConstantOfShape",
                [f"{value.name}_shape"],
                [value.name],
                value=helper.make_tensor("zero", value.type.tensor_type.elem_type, [1], [0]),
            )
        )
    model = helper.make_model(
        helper.make_graph(nodes, "main", inputs, outputs, initialisers),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        producer_name="tenon fixtures",
    )
    onnx.checker.check_model(model)
    (folder / name).write_bytes(model.SerializeToString())


def write(folder, config):
    (folder / "genai_config.json").write_text(json.dumps(config, indent=4) + "\n", encoding="utf-8")


def fresh(name):
    folder = PACKAGES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# ---- pieces --------------------------------------------------------------------------------------------------------------


def cache(past, present, layers=range(LAYERS), kv_heads=KV_HEADS, head=HEAD, length="past"):
    """Key and value ports of some layers, as inputs and outputs."""
    inputs, outputs = [], []
    for layer in layers:
        for half in past:
            inputs.append(port(half % layer, F32, "batch", kv_heads, length, head))
        for half in present:
            outputs.append(port(half % layer, F32, "batch", kv_heads, "total", head))
    return inputs, outputs


PAST = ["past_key_values.%d.key", "past_key_values.%d.value"]
PRESENT = ["present.%d.key", "present.%d.value"]


def search(**changes):
    out = {
        "diversity_penalty": 0.0,
        "do_sample": False,
        "early_stopping": True,
        "length_penalty": 1.0,
        "max_length": 64,
        "min_length": 0,
        "no_repeat_ngram_size": 0,
        "num_beams": 1,
        "num_return_sequences": 1,
        "past_present_share_buffer": False,
        "repetition_penalty": 1.0,
        "temperature": 1.0,
        "top_k": 50,
        "top_p": 1.0,
    }
    out.update(changes)
    return out


def decoder_section(**changes):
    out = {
        "filename": "model.onnx",
        "head_size": HEAD,
        "hidden_size": HIDDEN,
        "inputs": {
            "input_ids": "input_ids",
            "attention_mask": "attention_mask",
            "past_key_names": PAST[0],
            "past_value_names": PAST[1],
        },
        "outputs": {"logits": "logits", "present_key_names": PRESENT[0], "present_value_names": PRESENT[1]},
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": KV_HEADS,
    }
    out.update(changes)
    return out


def model_section(kind, decoder, **changes):
    out = {
        "bos_token_id": 1,
        "context_length": 64,
        "decoder": decoder,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "type": kind,
        "vocab_size": VOCAB,
    }
    out.update(changes)
    return out


def ids(name="input_ids"):
    return port(name, I64, "batch", "sequence")


def mask():
    return port("attention_mask", I64, "batch", "total")


def logits():
    return port("logits", F32, "batch", "sequence", VOCAB)


# ---- packages ------------------------------------------------------------------------------------------------------------


def plain(name="plain", buffer=False):
    folder = fresh(name)
    past, present = cache(PAST, PRESENT)
    graph(folder, "model.onnx", [ids(), mask(), *past], [logits(), *present])
    write(folder, {"model": model_section("llama", decoder_section()), "search": search(past_present_share_buffer=buffer)})


def as_built():
    """With what the builder always writes beside: session options and a list of end tokens."""
    folder = fresh("as_built")
    past, present = cache(PAST, PRESENT)
    decoder = decoder_section(session_options={"log_id": "onnxruntime-genai", "provider_options": []})
    decoder["inputs"]["position_ids"] = "position_ids"
    graph(folder, "model.onnx", [ids(), mask(), ids("position_ids"), *past], [logits(), *present])
    write(
        folder,
        {
            "model": model_section("qwen2", decoder, eos_token_id=[2, 3]),
            "search": search(do_sample=True, temperature=0.6, top_k=20, top_p=0.95, past_present_share_buffer=True),
        },
    )


def defaults():
    """Names that the document leaves out and the library takes for granted."""
    folder = fresh("defaults")
    past, present = cache(PAST, PRESENT)
    decoder = decoder_section()
    del decoder["inputs"], decoder["outputs"]
    graph(folder, "model.onnx", [ids(), mask(), *past], [logits(), *present])
    write(folder, {"model": model_section("llama", decoder), "search": search()})


def windows():
    folder = fresh("windows")
    past, present = cache(PAST, PRESENT, range(4))
    decoder = decoder_section(
        num_hidden_layers=4,
        sliding_window={
            "window_size": 16, "slide_key_value_cache": False, "slide_inputs": False, "layers": [0, 2], "cache_slack": 0,
        },
    )
    graph(folder, "model.onnx", [ids(), mask(), *past], [logits(), *present])
    write(folder, {"model": model_section("gemma3_text", decoder), "search": search()})


def hybrid():
    """Convolution state in layers 0 and 2, attention in 1 and 3."""
    folder = fresh("hybrid")
    past, present = cache(PAST, PRESENT, (1, 3))
    for layer in (0, 2):
        past.append(port(f"past.{layer}.conv", F32, "batch", HIDDEN, 3))
        present.append(port(f"present.{layer}.conv", F32, "batch", HIDDEN, 3))
    decoder = decoder_section(
        num_hidden_layers=4,
        layer_types=["conv", "full_attention", "conv", "full_attention"],
        conv_cache_size=3,
    )
    decoder["inputs"]["past_conv_names"] = "past.%d.conv"
    decoder["outputs"]["present_conv_names"] = "present.%d.conv"
    graph(folder, "model.onnx", [ids(), mask(), *past], [logits(), *present])
    write(folder, {"model": model_section("lfm2", decoder), "search": search()})


def combined():
    folder = fresh("combined")
    past = [port(f"past_{i}", F32, 2, "batch", HEADS, "past", HEAD) for i in range(LAYERS)]
    present = [port(f"present_{i}", F32, 2, "batch", HEADS, "total", HEAD) for i in range(LAYERS)]
    decoder = decoder_section(num_key_value_heads=HEADS)
    decoder["inputs"] = {"input_ids": "input_ids", "attention_mask": "attention_mask", "past_names": "past_%d"}
    decoder["outputs"] = {"logits": "logits", "present_names": "present_%d"}
    graph(folder, "model.onnx", [ids(), mask(), *past], [logits(), *present])
    write(folder, {"model": model_section("gpt2", decoder), "search": search()})


def speech_to_text():
    folder = fresh("speech_to_text")
    own, after = cache(["past_key_self_%d", "past_value_self_%d"], ["present_key_self_%d", "present_value_self_%d"],
                       kv_heads=HEADS)
    across, given = cache(["past_key_cross_%d", "past_value_cross_%d"], ["present_key_cross_%d", "present_value_cross_%d"],
                          kv_heads=HEADS, length="frames")
    given = [port(v.name, F32, "batch", HEADS, "frames", HEAD) for v in given]
    graph(folder, "encoder.onnx", [port("audio_features", F32, "batch", 80, "frames2")],
          [port("hidden_states", F32, "batch", "frames", HIDDEN), *given])
    graph(folder, "decoder.onnx", [ids(), *own, *across], [logits(), *after])
    decoder = decoder_section(filename="decoder.onnx", num_key_value_heads=HEADS)
    decoder["inputs"] = {
        "input_ids": "input_ids",
        "past_key_names": "past_key_self_%d",
        "past_value_names": "past_value_self_%d",
        "cross_past_key_names": "past_key_cross_%d",
        "cross_past_value_names": "past_value_cross_%d",
    }
    decoder["outputs"] = {
        "logits": "logits",
        "present_key_names": "present_key_self_%d",
        "present_value_names": "present_value_self_%d",
    }
    encoder = {
        "filename": "encoder.onnx",
        "head_size": HEAD,
        "hidden_size": HIDDEN,
        "inputs": {"audio_features": "audio_features"},
        "outputs": {
            "encoder_hidden_states": "hidden_states",
            "cross_present_key_names": "present_key_cross_%d",
            "cross_present_value_names": "present_value_cross_%d",
        },
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": HEADS,
    }
    write(folder, {"model": model_section("whisper", decoder, encoder=encoder), "search": search(top_k=1)})


def pictures():
    folder = fresh("pictures")
    past, present = cache(PAST, PRESENT)
    graph(folder, "vision.onnx",
          [port("pixel_values", F32, "pictures", 3, 14, 14), port("image_sizes", I64, "pictures", 2)],
          [port("image_features", F32, "patches", HIDDEN)])
    graph(folder, "embedding.onnx", [ids(), port("image_features", F32, "patches", HIDDEN)],
          [port("inputs_embeds", F32, "batch", "sequence", HIDDEN)])
    graph(folder, "text.onnx", [port("inputs_embeds", F32, "batch", "sequence", HIDDEN), mask(), *past],
          [logits(), *present])
    decoder = decoder_section(filename="text.onnx")
    decoder["inputs"] = {"inputs_embeds": "inputs_embeds", **decoder["inputs"]}
    del decoder["inputs"]["input_ids"]
    write(
        folder,
        {
            "model": model_section(
                "phi3v",
                decoder,
                embedding={
                    "filename": "embedding.onnx",
                    "inputs": {"input_ids": "input_ids", "image_features": "image_features"},
                    "outputs": {"inputs_embeds": "inputs_embeds"},
                },
                vision={
                    "filename": "vision.onnx",
                    "config_filename": "processor_config.json",
                    "inputs": {"pixel_values": "pixel_values", "image_sizes": "image_sizes"},
                    "outputs": {"image_features": "image_features"},
                },
                image_token_id=7,
            ),
            "search": search(),
        },
    )
    (folder / "processor_config.json").write_text('{"processor": {"name": "image_processing", "transforms": []}}\n')


def stages(name="stages", **flags):
    """Embedding, two blocks of layers, head: each a file of its own."""
    folder = fresh(name)
    hidden = ("batch", "sequence", HIDDEN)
    pipeline = {"embedding": {"filename": "embedding.onnx", "inputs": ["input_ids"], "outputs": ["hidden_0"]}}
    graph(folder, "embedding.onnx", [ids()], [port("hidden_0", F32, *hidden)])
    for layer in range(LAYERS):
        past, present = cache(PAST, PRESENT, [layer])
        graph(folder, f"block{layer}.onnx", [port(f"hidden_{layer}", F32, *hidden), mask(), *past],
              [port(f"hidden_{layer + 1}", F32, *hidden), *present])
        pipeline[f"block{layer}"] = {
            "filename": f"block{layer}.onnx",
            "inputs": [f"hidden_{layer}", "attention_mask", *(p % layer for p in PAST)],
            "outputs": [f"hidden_{layer + 1}", *(p % layer for p in PRESENT)],
        }
    graph(folder, "head.onnx", [port("states", F32, *hidden)], [logits()])
    pipeline["head"] = {"filename": "head.onnx", "inputs": ["states"], "outputs": ["logits"], "is_lm_head": True}
    pipeline[f"block{LAYERS - 1}"]["output_names_forwarder"] = {f"hidden_{LAYERS}": "states"}
    pipeline["head"].update(flags)
    decoder = decoder_section(pipeline=[{k: v} for k, v in pipeline.items()])
    del decoder["filename"]
    write(folder, {"model": model_section("decoder-pipeline", decoder), "search": search()})


def two_folders():
    """Two exports of one model in one repository: alternatives."""
    fresh("two_folders")
    for name in ("two_folders/cpu", "two_folders/gpu"):
        plain(name)


# ---- what the library says -----------------------------------------------------------------------------------------------


def opened(folder):
    out = {"document": True, "package": True}
    try:
        config = library.Config(str(folder))
    except Exception as error:
        return {"document": False, "package": False, "error": str(error).replace(str(folder), "FOLDER")}
    try:
        library.Model(config)
    except Exception as error:
        out = {"document": True, "package": False, "error": str(error).replace(str(folder), "FOLDER")}
    return out


def main():
    shutil.rmtree(PACKAGES, ignore_errors=True)
    plain()
    plain("shared_buffer", True)
    as_built()
    defaults()
    windows()
    hybrid()
    combined()
    speech_to_text()
    pictures()
    stages()
    stages("stages_apart", run_on_prompt=False)
    two_folders()
    folders = sorted(p.parent for p in PACKAGES.rglob("genai_config.json"))
    packages = {f.relative_to(PACKAGES).as_posix(): opened(f) for f in folders}
    common.write_json(
        OUT / "opened.json",
        {
            **common.certificate(__file__, SEED, common.digest_folder(PACKAGES), ["onnxruntime-genai", "onnx"]),
            "packages": packages,
        },
    )


if __name__ == "__main__":
    main()
