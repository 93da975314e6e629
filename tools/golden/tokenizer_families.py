"""Encodings by small tokenizers with the exact stages of the families that packages are made of.

    python tools/golden/tokenizer_families.py

tests/golden/tokenizer_extra/families.json: per family one file with its stages (GPT-2, RoBERTa,
ModernBERT, Llama 3, Qwen, o200k, DeepSeek, SmolLM, Llama 2, Gemma, XLM-RoBERTa, T5, CLIP, and a few
that nobody ships) over a vocabulary made here from WORDS, and what the library makes of TEXTS.
tests/golden/tokenizer_extra/models.json: models, stages and decoders drawn at random. Rows as in
random.json (tokenizer_extra.py). Merges and scores are counted, not trained: the same on every run.
"""

import collections
import json
import math
import random

import charsmap
import common
import tokenizer as usual
import tokenizer_extra as extra
from tokenizers import Tokenizer, pre_tokenizers

SEED = 20261130
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
NEWLINES = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
CL100K = CONTRACTIONS + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" + NEWLINES
QWEN = CL100K.replace("\\p{N}{1,3}", "\\p{N}")
UPPER, LOWER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]", "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
O200K = (f"[^\\r\\n\\p{{L}}\\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\\r\\n\\p{{L}}\\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
         "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" + NEWLINES)
DEEPSEEK = ["\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
            + NEWLINES]
WORDS = ("the the the of and to in a is that for it was on are as with his they at be this from have or by one had not but "
         "what all were when we there can an your which their said if do will each about how up out them then she many some "
         "so these would other into has more her two like him see time could no make than first been its who now people my "
         "made over did down only way find use may water long little very after words called just where most know hello "
         "world can't won't it's we'll they're I'd caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u4e2d\u56fd \u4e2d\u6587 \u65e5\u672c\u8a9e "
         "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 12 123 2024 ... !! == -> // \u00fcber stra\u00dfe HELLO World THE").split()
TEXTS = usual.WIDE + [
    "The quick brown fox can't jump; it's 12345 times over 1,234.56 dogs!", "  leading and   inner  spaces  ", "a\n\n\nb\r\n \r\n  c \t\n",
    "HELLO'LL we'LL It'S 'tis 'S 's'\u017f \u017f'\u017f don\u2019t", "x=1;y==2//comment\n/* z */ foo_bar(){}[]", "caf\u00e9s cafe\u0301s \u0301x ABC\u0301D aB\u0301c",
    "\u4e2d\u56fd12\u65e5\u672c\u8a9e\u30c6\u30b9\u30c8abc \u3042\u3099\u30fb\u3000\u4e2d", "word" * 30, "=" * 70 + " " + "-" * 3, " " * 40 + "x", "\u00a0\u2003 \u3000x", "1\u00bd\u2167\u06f3\u0663 \u00b2\u2460",
    "<s> </s><mask> a <mask> x<unk><|endoftext|>", "\ufb01ne \u2460\u2461 \u2122 \u2026 e\u0301 \u01c4 \u200b|\u00ad| \r\n x", "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1eb\U0001f1f7 \u2764\ufe0f",
    "\u2581the\u2581 \u2581", "\u00a9\u200d\U0001f917 \u0600a \u0600\u1100\u1161", "\ud55c\uad6d\uc5b4 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "AbcDEFghIJ \u01c5x \u02b0A \u00aaB\u00ba", "\x00\x01a\x7f\x85\u2028"]
SMALL_MAP = {"\ufb01": "fi", "\u2460": "1", "\u2461": "2", "\u2122": "TM", "\u2026": "...", "e\u0301": "\u00e9", "\u200b": "", "\u00ad": "", "\r\n": " ", "\n": " ", "\t": " ",
             "\u3000": " ", "\u00a0": " ", "\u0600a": "q", "\u00a9\u200d": "(c)", "\u01c4": "D\u017d", "\u0301": "", "\u00bd": "1\u20442", "\u0958": "\u0915\u093c"}


def byte_word(word):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(word)[0][0]


def merges_of(words, count, prefix="", suffix=""):
    """Byte pair encoding by counting, ties by text."""
    table = collections.Counter(words)
    split = {w: [prefix * (i > 0) + c + (suffix if i + 1 == len(w) else "") for i, c in enumerate(w)] for w in table}
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += table[word]
        if not pairs:
            break
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        joined = best[0] + best[1][len(prefix):]
        for word, parts in split.items():
            out = []
            for part in parts:
                if out and (out[-1], part) == best:
                    out[-1] = joined
                else:
                    out.append(part)
            split[word] = out
    return merges


def bpe(words, specials, alphabet, count=250, prefix="", suffix="", **fields):
    def spelled(word):
        return {prefix * (i > 0) + c + (suffix if i + 1 == len(word) else "") for i, c in enumerate(word)}

    merges = merges_of([w for w in words if spelled(w) <= set(alphabet)], count, prefix, suffix)
    tokens = list(specials) + sorted(alphabet) + [a + b[len(prefix):] for a, b in merges]
    vocab = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": prefix or None,
            "end_of_word_suffix": suffix or None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            **fields, "vocab": vocab, "merges": [list(m) for m in merges]}


BYTES = set(pre_tokenizers.ByteLevel.alphabet())
BYTE_WORDS = [byte_word(w) for w in WORDS] + [byte_word(" " + w) for w in WORDS for _ in range(2)] + [byte_word(" " * n) for n in (2, 4, 8, 8)]


def byte_level(specials, **fields):
    return bpe(BYTE_WORDS, specials, BYTES, **fields)


def unigram(specials, alphabet, **fields):
    counts = collections.Counter()
    for word in WORDS:
        word = "\u2581" + word
        for i in range(len(word)):
            for j in range(i + 1, min(len(word), i + 7) + 1):
                counts[word[i:j]] += 1
    pieces = {c: counts.get(c, 0) + 1 for c in alphabet}
    pieces.update({p: n for p, n in counts.items() if n > 1 or len(p) < 3})
    total = sum(pieces.values())
    rows = [[s, 0.0] for s in specials] + [[p, round(math.log(n / total), 12)] for p, n in sorted(pieces.items(), key=lambda x: (-x[1], x[0]))]
    return {"type": "Unigram", "unk_id": 3, "vocab": rows, "byte_fallback": False, **fields}


def level(prefix=False, trim=True, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": regex}


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def metaspace(scheme="always", split_words=True):
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split_words}


def file(model, specials=(), normalizer=None, pre=None, post=None, decoder=None):
    vocab = model["vocab"] if isinstance(model["vocab"], dict) else {t: i for i, (t, _) in enumerate(model["vocab"])}
    added, following = [], len(model["vocab"])
    for token in specials:
        token = token if isinstance(token, dict) else {"content": token}
        ident = vocab.get(token["content"], following)
        following += ident == following
        added.append({"id": ident, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **token})
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
            "pre_tokenizer": pre, "post_processor": post, "decoder": decoder, "model": model}


def families():
    roberta = ["<s>", "<pad>", "</s>", "<unk>"]
    mask = {"content": "<mask>", "lstrip": True}
    wrap = {"sep": ["</s>", 2], "cls": ["<s>", 0]}
    hexes = [f"<0x{b:02X}>" for b in range(256)]
    chars = set("".join(WORDS)) | set("\u2581 abcdefghijklmnopqrstuvwxyz.,!?'")
    old_words = ["\u2581" + w for w in WORDS]
    tab = charsmap.build(*charsmap.tree(SMALL_MAP))
    precompiled = {"type": "Precompiled", "precompiled_charsmap": tab}
    llama2 = bpe(old_words, ["<unk>", "<s>", "</s>"] + hexes, chars, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    yield "GPT-2", file(byte_level(["<|endoftext|>"]), ["<|endoftext|>"], pre=level(), post=level(), decoder=level())
    yield "GPT-2 with a blank in front", file(byte_level(["<|endoftext|>"]), ["<|endoftext|>"], pre=level(True), post=level(True), decoder=level())
    yield "RoBERTa", file(byte_level(roberta + ["<mask>"]), roberta + [mask], pre=level(), decoder=level(),
                          post={"type": "RobertaProcessing", **wrap, "trim_offsets": True, "add_prefix_space": False})
    runs = [{"content": " " * n, "normalized": True, "special": False} for n in range(8, 1, -1)]
    yield "ModernBERT", file(byte_level(["[CLS]", "[SEP]"]), ["[CLS]", "[SEP]", {"content": "[MASK]", "lstrip": True}] + runs, {"type": "NFC"},
                             level(), usual.template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", {"[CLS]": [0], "[SEP]": [1]}), level())
    yield "Llama 3", file(byte_level([], ignore_merges=True), ["<|begin_of_text|>", "<|end_of_text|>"], pre=sequence(split(CL100K), level(regex=False)),
                          post={"type": "Sequence", "processors": [level(True, False), usual.template(
                              "<|begin_of_text|> $A", "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", {"<|begin_of_text|>": [len(byte_level([])["vocab"])]})]}, decoder=level(True))
    yield "Qwen", file(byte_level([], continuing_subword_prefix="", end_of_word_suffix=""), ["<|im_start|>", "<|im_end|>"], {"type": "NFC"},
                       sequence(split(QWEN), level(trim=False, regex=False)), level(trim=False, regex=False), level(trim=False, regex=False))
    yield "o200k", file(byte_level([]), ["<|endoftext|>"], pre=sequence(split(O200K, "Removed", True), level(regex=False)), decoder=level(True))
    yield "DeepSeek", file(byte_level([]), ["<s>"], {"type": "Sequence", "normalizers": []},
                           sequence(*(split(p) for p in DEEPSEEK), level(regex=False)), level(True, False), level(True))
    yield "SmolLM", file(byte_level(["<|endoftext|>"]), ["<|endoftext|>"], pre=sequence({"type": "Digits", "individual_digits": True}, level()), decoder=level())
    yield "byte-level as a normalizer", file(byte_level([]), ["<s>"], {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "ByteLevel"}]},
                                             split("\u0120[^\u0120]*|[^\u0120]+"), level(), level())
    yield "Llama 2", file(llama2, ["<unk>", "<s>", "</s>"], {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}, None,
        usual.template("<s> $A", "<s> $A <s>:1 $B:1", {"<s>": [1]}), {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})
    yield "Llama 2, newer form", file(llama2, ["<unk>", "<s>", "</s>"], None, metaspace("first", False), None, {"type": "Sequence", "decoders": [
        {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False}]})
    yield "Gemma", file(llama2, ["<unk>", "<s>", "</s>"], {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
                        split(" ", "MergedWithPrevious", kind="String"), None, {"type": "Sequence", "decoders": [
                            {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]})
    xlmr = unigram(roberta, chars)
    yield "XLM-RoBERTa", file(xlmr, roberta + [mask], {"type": "Sequence", "normalizers": [precompiled, {
        "type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}, sequence({"type": "WhitespaceSplit"}, metaspace()),
        usual.template("<s> $A </s>", "<s> $A </s> </s> $B </s>", {"<s>": [0], "</s>": [2]}), metaspace())
    yield "XLM-RoBERTa without splitting", file(xlmr, roberta + [mask], precompiled, metaspace("first", False), None, metaspace("first", False))
    yield "T5", file(unigram(["<pad>", "</s>", "<s>", "<unk>"] + hexes, chars, byte_fallback=True), ["<pad>", "</s>", "<unk>"], precompiled,
                     metaspace("never"), usual.template("$A </s>", "$A </s> $B </s>", {"</s>": [1]}), {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, metaspace("never")]})
    twice = unigram(roberta, chars)
    twice["vocab"] += [["<unk>", -9.5], ["the", -3.25], ["\u2581the", -1.0]]
    yield "pieces that stand twice", file(twice, roberta, None, metaspace(), None, metaspace())
    yield "CLIP", file(bpe([w.lower() for w in WORDS], ["<|startoftext|>", "<|endoftext|>"], {c + s for c in chars for s in ("", "</w>")}, suffix="</w>",
                           unk_token="<|endoftext|>"), ["<|startoftext|>", "<|endoftext|>"], {"type": "Sequence", "normalizers": [
                               {"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Lowercase"}]},
                       split("<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+", "Removed", True),
                       {"type": "BertProcessing", "sep": ["<|endoftext|>", 1], "cls": ["<|startoftext|>", 0]}, {"type": "BPEDecoder", "suffix": "</w>"})
    yield "sub-words with a prefix", file(bpe(WORDS, ["<unk>"], {p + c for c in chars for p in ("", "##")}, prefix="##", unk_token="<unk>", fuse_unk=True), ["<unk>"],
                                          pre={"type": "BertPreTokenizer"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": True})
    yield "unknown characters vanish", file(bpe(WORDS, [], set("abcdefghij th")), pre={"type": "Whitespace"})
    yield "WordLevel", file({"type": "WordLevel", "unk_token": "<unk>", "vocab": {t: i for i, t in enumerate(dict.fromkeys(["<unk>", "'", "."] + WORDS))}},
                            ["<unk>"], pre={"type": "Whitespace"})
    yield "scripts", file(xlmr, roberta, precompiled, sequence({"type": "UnicodeScripts"}, metaspace()))
    yield "speech", file({"type": "WordLevel", "unk_token": "<unk>", "vocab": {t: i for i, t in enumerate(["<pad>", "<unk>", "|", "h", "e", "l", "o", "'", "s", "."])}},
                         ["<pad>", "<unk>"], {"type": "Replace", "pattern": {"String": " "}, "content": "|"}, {"type": "FixedLength", "length": 1}, None,
                         {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True})


def t1():
    """The space beside an added token (four forms), as the first design note of the tokenizer states them."""
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
             "vocab": {"a": 0, "x": 1, "\u0120": 2, "\u0120x": 3, "<mask>": 4}, "merges": ["\u0120 x"]}
    for lstrip in (False, True):
        for rstrip in (False, True):
            for single in (False, True):
                for normalized in (False, True):
                    token = {"content": "<mask>", "lstrip": lstrip, "rstrip": rstrip, "single_word": single, "normalized": normalized}
                    yield f"T1 {lstrip} {rstrip} {single} {normalized}", file(model, [token], pre=level(trim=False), post=level(trim=False), decoder=level())


class Maker(extra.Maker):
    """Draws what extra.Maker does not: the other models, byte-level stages, maps, decoders."""

    def pattern(self):
        if self.chance(0.6):
            return super().pattern()
        return {"Regex": self.one("\\p{L}+|\\p{N}", " ?[^\\s\\p{L}]+", "(?i:the|'s)", "\\s+(?!\\S)|\\s+", "a|b(?=c)|[x-z]{1,2}", "(?<=a).", "\\b\\w", "[^\\r\\n]+",
                                  "\\p{Han}|\\p{Lu}\\p{Ll}*", "(?:a|b)+?c|d", "^\\s|\\S$")}

    def normalizer(self, depth=0):
        if self.chance(0.2):
            return {"type": "Precompiled", "precompiled_charsmap": charsmap.build(*charsmap.tree(
                {k: self.one(v, v, "", "xyz") for k, v in SMALL_MAP.items() if self.chance(0.7)}))}
        return {"type": "ByteLevel"} if self.chance(0.08) else super().normalizer(depth)

    def pre_tokenizer(self, depth=0):
        if self.chance(0.25):
            return level(self.chance(0.4), self.chance(0.5), self.chance(0.6))
        if self.chance(0.25):
            return metaspace(self.one("first", "never", "always"), self.chance(0.6))
        if self.chance(0.1):
            return {"type": "UnicodeScripts"}
        if self.chance(0.15):
            return split(self.one(CL100K, QWEN, O200K, *DEEPSEEK), self.one(*usual.BEHAVIOURS), self.chance(0.3))
        return super().pre_tokenizer(depth)

    def decoder(self, depth=0):
        kind = self.one("ByteLevel", "Metaspace", "BPEDecoder", "ByteFallback", "Fuse", "Replace", "WordPiece", "CTC", "Sequence", "none", "Sequence")
        if kind == "none" or (kind == "Sequence" and depth):
            return None if depth == 0 else {"type": "Fuse"}
        fields = {
            "ByteLevel": lambda: level(), "Metaspace": lambda: metaspace(self.one("first", "never", "always")),
            "BPEDecoder": lambda: {"suffix": self.one("</w>", "e")}, "Replace": lambda: {"pattern": extra.Maker.pattern(self), "content": self.one("", "x", " \u4e2d")},
            "WordPiece": lambda: {"prefix": self.one("##", "a", ""), "cleanup": self.chance(0.5)},
            "CTC": lambda: {"pad_token": self.one("a", "<pad>"), "word_delimiter_token": self.one("|", " "), "cleanup": self.chance(0.5)},
            "Sequence": lambda: {"decoders": [self.decoder(1) for _ in range(self.r.randint(1, 3))]},
        }
        return {"type": kind, **fields.get(kind, dict)()}

    def bpe(self):
        prefix, suffix = self.one("", "", "", "##"), self.one("", "", "", "</w>")
        fallback = not prefix and not suffix and self.chance(0.4)
        alphabet = list("abcdefghinostx 123.-'\u00e9\u4e2d\u0301\u2581") + [chr(0x120), "\u00c3", "\u00a9", "\u010a"]
        tokens = ["<unk>"] + ([f"<0x{b:02X}>" for b in range(256) if self.chance(0.97)] if fallback else [])
        tokens += [p + c + s for c in alphabet if self.chance(0.9) for p in {"", prefix} for s in {"", suffix}]
        merges = []
        for _ in range(self.r.randint(5, 80)):
            a, b = self.one(*tokens), self.one(*tokens)
            if not b.startswith(prefix) or (suffix and a.endswith(suffix)) or len(a + b) > 14:
                continue
            if a + b[len(prefix):] not in tokens:
                tokens.append(a + b[len(prefix):])
            merges.append((a, b))
        vocab = {t: i for i, t in enumerate(tokens)}
        legacy = self.chance(0.3) and not any(" " in a + b for a, b in merges)
        return {"type": "BPE", "dropout": None, "unk_token": self.one(None, "<unk>"), "continuing_subword_prefix": prefix or None,
                "end_of_word_suffix": suffix or None, "fuse_unk": self.chance(0.5), "byte_fallback": fallback, "ignore_merges": self.chance(0.3),
                "vocab": vocab, "merges": [f"{a} {b}" for a, b in merges] if legacy else [list(m) for m in merges]}

    def unigram(self):
        pieces = ["<s>", "<unk>", "</s>"] + [f"<0x{b:02X}>" for b in range(256) if self.chance(0.97)] * self.chance(0.4)
        for piece in list("abcdefghinostx 123.-'\u00e9\u4e2d\u0301\u2581") + ["th", "the", "\u2581the", "\u2581a", "ab", "abc", "bc", "12", "\u2581\u2581", "\u0120", "\u0120x", "aa", "aaa", "aaaa"]:
            if self.chance(0.85):
                pieces.append(piece)
        return {"type": "Unigram", "unk_id": 1, "byte_fallback": self.chance(0.5),
                "vocab": [[p, self.one(0.0, -1.0, -2.5, round(-8 * self.r.random(), self.r.randint(0, 16)))] for p in pieces]}

    def file(self):
        out = super().file()
        model = self.one("bpe", "bpe", "unigram", "wordlevel")
        if model == "wordlevel":
            out["model"] = {"type": "WordLevel", "vocab": out["model"]["vocab"], "unk_token": "[UNK]"}
            return {**out, "decoder": self.decoder()}
        out["model"] = self.bpe() if model == "bpe" else self.unigram()
        vocab = out["model"]["vocab"]
        out["added_tokens"] = self.added_tokens(vocab if model == "bpe" else {t: i for i, (t, _) in enumerate(vocab)})
        if model == "unigram":
            for token in out["added_tokens"]:
                token["id"] = {t: i for i, (t, _) in enumerate(vocab)}.get(token["content"], token["id"])
        out["post_processor"] = self.one(None, level(self.chance(0.5), self.chance(0.7)))
        return {**out, "decoder": self.decoder()}


def compact(case):
    """Without what equals its default."""
    if case.get("offsets_bytes") == case["offsets_chars"]:
        del case["offsets_bytes"]
    for name in ("type_ids", "special_tokens_mask"):
        if not any(case[name]):
            del case[name]
    return case


def family_rows(cases, texts=TEXTS):
    for number, (what, document) in enumerate(cases):
        answers = []
        for i, text in enumerate(texts):
            answers.append(extra.run(Tokenizer.from_str(json.dumps(document)), text, decode=i % 2 == 0))
            if i % 6 == 0:
                answers.append(extra.run(Tokenizer.from_str(json.dumps(document)), text, texts[-1 - i // 2], add_special=i % 12 == 0))
        yield {"seed": number, "what": what, "file": document, "cases": [compact(a) for a in answers if a]}


def model_rows(count):
    seed = SEED
    while count:
        seed += 1
        maker = Maker(seed)
        document = maker.file()
        if extra.vanishes(document) or extra.same_after_normalization(document):
            continue
        cases = []
        for i in range(10):
            case = extra.run(Tokenizer.from_str(json.dumps(document)), maker.text(), maker.text() if i % 4 == 3 else None, maker.chance(0.8),
                             decode=i % 2 == 0)
            if case:
                cases.append(compact(case))
        if cases:
            count -= 1
            yield {"seed": seed, "file": document, "cases": cases}


def main():
    extra.write("families", family_rows(families()), ("tokenizers",), "the stages of families over small vocabularies")
    extra.write("t1", family_rows(t1(), usual.TOKEN_TEXTS), ("tokenizers",), "blanks beside an added token of a byte-level tokenizer")
    extra.write("models", model_rows(160), ("tokenizers",), "models, stages and decoders drawn at random")


if __name__ == "__main__":
    main()
