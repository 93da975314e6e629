"""Published vocabularies as tokenizer files: GPT-2's, GPT-NeoX's with the stages of ModernBERT, XLM-RoBERTa's.

The numbers (tokens, merges, scores, the character map) come from vocabulary files in GGUF form that the entry
`llama-vocabularies` of tools/models.list brings inside a git bundle; the stages are those that the published
tokenizer.json files of these models state. The library builds and writes the files, so that nothing of ours is in them.
"""

import base64
import json
import struct
import subprocess
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, ARRAY = 8, 9
# Kinds of tokens.
CONTROL, USER, UNUSED = 3, 4, 5


def header(data):
    """The key-value part of a GGUF file, version 3, texts as bytes."""
    at = 4

    def take(form, count=1):
        nonlocal at
        values = struct.unpack_from(f"<{count}{form}", data, at)
        at += struct.calcsize(f"<{count}{form}")
        return values

    def text():
        nonlocal at
        (size,) = take("Q")
        at += size
        return data[at - size:at]

    def value(kind):
        if kind == TEXT:
            return text()
        if kind != ARRAY:
            return take(SCALARS[kind])[0]
        (inner,), (count,) = take("I"), take("Q")
        return [text() for _ in range(count)] if inner == TEXT else list(take(SCALARS[inner], count))

    if data[:4] != b"GGUF" or take("I") != (3,):
        raise ValueError("not a GGUF file of version 3")
    take("Q")
    (count,) = take("Q")
    return {text().decode(): value(take("I")[0]) for _ in range(count)}


def read(bundle, name):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", "--bare", str(bundle), folder], check=True, capture_output=True)
        done = subprocess.run(["git", "-C", folder, "show", f"HEAD:models/ggml-vocab-{name}.gguf"], check=True, capture_output=True)
    fields = header(done.stdout)
    part = {key.removeprefix("tokenizer.ggml."): value for key, value in fields.items() if key.startswith("tokenizer.ggml.")}
    part["tokens"] = [token.decode() for token in part["tokens"]]
    return part


def bytes_bpe(part):
    kinds = dict(zip(part["tokens"], part["token_type"]))
    user = [token for token, kind in kinds.items() if kind == USER and not token.startswith("[PAD")]
    vocab = {token: i for i, token in enumerate(part["tokens"]) if kinds[token] not in (USER, UNUSED)}
    t = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(m.decode().split(" ")) for m in part["merges"]]))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.add_special_tokens([token for token, kind in kinds.items() if kind == CONTROL])
    t.add_tokens([AddedToken(token, normalized=True) for token in user])
    return t


def gpt2(bundle):
    t = bytes_bpe(read(bundle, "gpt-2"))
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    return json.loads(t.to_str())


def modernbert(bundle):
    """ModernBERT's vocabulary is GPT-NeoX's by way of OLMo, with five tokens more; NFC before it."""
    t = bytes_bpe(read(bundle, "gpt-neox"))
    t.normalizer = normalizers.NFC()
    t.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", AddedToken("[MASK]", lstrip=True, normalized=False)])
    ends = [(token, t.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    return json.loads(t.to_str())


def xlm_roberta(bundle):
    part = read(bundle, "nomic-bert-moe")
    pieces = [(t, s) for t, s, kind in zip(part["tokens"], part["scores"], part["token_type"]) if kind != UNUSED]
    t = Tokenizer(models.Unigram(pieces, part["unknown_token_id"], False))
    charsmap = bytes(b & 255 for b in part["precompiled_charsmap"])
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                     special_tokens=[("<s>", 0), ("</s>", 2)])
    t.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True, normalized=False)])
    file = json.loads(t.to_str())
    assert base64.b64decode(file["normalizer"]["normalizers"][0]["precompiled_charsmap"]) == charsmap
    return file


FILES = {"GPT-2": gpt2, "ModernBERT": modernbert, "XLM-RoBERTa": xlm_roberta}
