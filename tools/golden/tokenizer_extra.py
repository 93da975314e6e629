"""Encodings for tokenizer files that nobody would think of, and for vocab.txt without tokenizer.json.

    python tools/golden/tokenizer_extra.py

tests/golden/tokenizer_extra/random.json: stages, added tokens and post-processors drawn at random
within what a tokenizer.json can say, each with texts drawn at random; cases as in
tests/golden/tokenizer. tests/golden/tokenizer_extra/regex.json: the regular expressions. tests/golden/tokenizer_extra/vocab_txt.json: a vocabulary file, flags, and
what transformers' classes make of the two.
"""

import json
import os
import pathlib
import random
import tempfile

import common
import tokenizer as usual
from tokenizers import Tokenizer

SEED = 20261129
FOLDER = common.GOLDEN / "tokenizer_extra"
BEHAVIOURS = usual.BEHAVIOURS
WORDS = ("the quick brown fox naïve café Ångström ﬁne 中国 人工智能 Привет мир שלום नमस्ते สวัสดี こんにちは 안녕하세요 𝒜lpha 🤗 "
         "👩‍👩‍👧 don't e-mail foo_bar(x)->y; [CLS] [SEP] [MASK] [UNK] [cls] İstanbul ǅ ß ΑΣ foo <x> ab abc 1 12 12a -- - ... "
         "a--b").split() + ["  x", " sp", "a b", "\n\n", " the ", "\t", "[MASK].", "fox-fox", "e\u0301", "\u0301", "\u200b",
                    "x\u00b2", ".\u00bd.", "-\u200d-"]
RANGES = [(0x20, 0x7E), (0, 0x1F), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xFFF),
          (0x1000, 0x11FF), (0x1AB0, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3),
          (0xF900, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x2FA1F), (0x1D100, 0x1D1FF), (0x11000, 0x11FFF)]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def chance(self, p):
        return self.r.random() < p

    def one(self, *options):
        return self.r.choice(options)

    def pattern(self):
        if self.chance(0.6):
            return {"String": self.one("a", " ", "-", "ab", "\u0301", "the", "中", "--", " a", "é", "e\u0301", ".", "\n")}
        return {"Regex": self.one("\\s+", " {2,}", "\\s", "a", "[ ]+", "\\n+", "\\.+", "b+", "\\s{2,}", "中+", "é",
                                  "[0-9]+|\\s", "\\w+|[^\\w\\s]+", "[a-fé中]+", "[^a-z]{2,}", "[\\.\\-]|a+|\\w", "[ -]+",
                                  "[.,!?]", "[^ ]+")}

    def normalizer(self, depth=0):
        kind = self.one("BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Replace",
                        "Prepend", "Nmt", *(["Sequence"] * 3 if depth < 2 else []))
        if kind == "BertNormalizer":
            return usual.bert_normalizer(self.chance(0.7), self.chance(0.7), self.one(None, True, False), self.chance(0.6))
        if kind == "Strip":
            return {"type": kind, "strip_left": self.chance(0.6), "strip_right": self.chance(0.6)}
        if kind == "Replace":
            return {"type": kind, "pattern": self.pattern(), "content": self.one("", " ", "x", "--", "é", "ab", "##中")}
        if kind == "Prepend":
            return {"type": kind, "prepend": self.one("_", "▁", "ab", "é ")}
        if kind == "Sequence":
            return {"type": kind, "normalizers": [self.normalizer(depth + 1) for _ in range(self.r.randint(0, 3))]}
        return {"type": kind}

    def pre_tokenizer(self, depth=0):
        kind = self.one("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "Digits",
                        "CharDelimiterSplit", "Split", "Split", "FixedLength", *(["Sequence"] * 2 if depth < 2 else []))
        fields = {
            "Punctuation": lambda: {"behavior": self.one(*BEHAVIOURS)},
            "Digits": lambda: {"individual_digits": self.chance(0.5)},
            "CharDelimiterSplit": lambda: {"delimiter": self.one(*"- aé中\n")},
            "Split": lambda: {"pattern": self.pattern(), "behavior": self.one(*BEHAVIOURS), "invert": self.chance(0.4)},
            "FixedLength": lambda: {"length": self.r.randint(1, 7)},
            "Sequence": lambda: {"pretokenizers": [self.pre_tokenizer(depth + 1) for _ in range(self.r.randint(0, 3))]},
        }
        return {"type": kind, **fields.get(kind, dict)()}

    def vocabulary(self, prefix):
        vocab = {t: i for i, t in enumerate(("[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]"))}
        pieces = ["é", "the", "th", "he", "ab", "ba", "中", "国", "-", "--", ".", "12", "_", "▁", "is", "on", "\u0301",
                  "e\u0301", " ", "  ", "Ġ", "Ġx", " a", "a ", "quick", "brown", "fox", "naive", "naïve", "cafe"]
        for piece in pieces + list("abcdefghijklmnopqrstuvwxyz0123456789"):
            for text in (piece, prefix + piece):
                if text not in vocab and self.chance(0.88):
                    vocab[text] = len(vocab)
        return vocab

    def template(self):
        names = {"[CLS]": [1], "[SEP]": [2], "many": [1, 2, 5]}

        def words(pair):
            out = []
            for sequence in "AB" if pair else "A":
                out += [f"{self.one(*names)}:{self.r.randint(0, 3)}" for _ in range(self.r.randint(0, 2))]
                out.append(f"${sequence}:{self.r.randint(0, 2)}")
            return " ".join(out + (["[SEP]:1"] if self.chance(0.8) else []))

        return usual.template(words(False), words(True), names)

    def post_processor(self, depth=0):
        pair = {"sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}
        kind = self.one("none", "template", "template", "bert", "roberta", "sequence") if depth == 0 else "bert"
        if kind == "none":
            return None
        if kind == "template":
            return self.template()
        if kind == "bert":
            return {"type": "BertProcessing", **pair}
        if kind == "roberta":
            return {"type": "RobertaProcessing", **pair, "trim_offsets": self.chance(0.8), "add_prefix_space": self.chance(0.5)}
        steps = [s for s in (self.post_processor(0 if self.chance(0.3) else 1),) if s]
        return {"type": "Sequence", "processors": steps + ([self.post_processor(1)] if self.chance(0.4) else [])}

    def added_tokens(self, vocab):
        out, following = [], len(vocab)
        choice = ["[CLS]", "[MASK]", "[SEP]", "foo", "the", "<x>", "a b", " sp", "ab", "abc", "b", "中", "[MASK", "\u0301e",
                  "Fox", "  x", "é"]
        for content in self.r.sample(choice, self.r.randint(0, 6)):
            ident = vocab.get(content, following)
            following += ident == following
            out.append({"id": ident, "content": content,
                        **{flag: self.chance(p) for flag, p in (("single_word", 0.3), ("lstrip", 0.3), ("rstrip", 0.3),
                                                                ("normalized", 0.5), ("special", 0.5))}})
        return out

    def file(self):
        prefix = self.one("##", "##", "", "@@", "_")
        vocab = self.vocabulary(prefix)
        return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": self.added_tokens(vocab),
                "normalizer": self.normalizer() if self.chance(0.8) else None,
                "pre_tokenizer": self.pre_tokenizer() if self.chance(0.85) else None,
                "post_processor": self.post_processor(), "decoder": {"type": "WordPiece", "prefix": prefix, "cleanup": True},
                "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": prefix,
                          "max_input_chars_per_word": self.one(100, 100, 5, 20), "vocab": vocab}}

    def text(self):
        if self.chance(0.3):
            return "".join(chr(self.r.randint(*self.one(*RANGES))) for _ in range(self.r.randint(0, 20)))
        return self.one("", " ", "  ", " \n").join(self.one(*WORDS) for _ in range(self.r.randint(0, 9)))

    def truncation(self):
        if self.chance(0.6):
            return "file"
        return {"max_length": self.r.randint(12, 24), "direction": self.one("left", "right"), "stride": 0,
                "strategy": self.one("longest_first", "longest_first", "only_first")}


def run(tokenizer, text, pair=None, add_special=True, truncation="file", decode=False):
    """As tokenizer.run, but sure of the text that offsets belong to: nested processors confuse the library's own ids."""
    case = {"text": text, **({"pair": pair} if pair is not None else {}), "add_special": add_special}
    if truncation != "file":
        case["truncation"] = truncation
        tokenizer.enable_truncation(**truncation)
    try:
        encoding = tokenizer.encode(text, pair, add_special_tokens=add_special)
    except BaseException as error:  # the library panics on some added tokens that share blanks
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None
    case["ids"] = encoding.ids
    case["type_ids"] = encoding.type_ids
    case["special_tokens_mask"] = encoding.special_tokens_mask
    case["offsets_chars"] = [o for pair_ in encoding.offsets for o in pair_]
    if pair is None:
        case["offsets_bytes"] = usual.byte_offsets(text, encoding.offsets)
    elif None not in (s for s, m in zip(encoding.sequence_ids, encoding.special_tokens_mask) if not m):
        case["offsets_bytes"] = [o for s, offsets in zip(encoding.sequence_ids, encoding.offsets)
                                 for o in usual.byte_offsets(pair if s == 1 else text if s == 0 else "", [offsets])]
    if decode:
        case["decoded"] = tokenizer.decode(encoding.ids, skip_special_tokens=True)
        case["decoded_with_special"] = tokenizer.decode(encoding.ids, skip_special_tokens=False)
    return case


def vanishes(file):
    """The library cuts between any two characters when a normalized token becomes nothing; not a golden."""
    loaded = Tokenizer.from_str(json.dumps(file))
    return any(t["normalized"] and loaded.normalizer and loaded.normalizer.normalize_str(t["content"]) == ""
               for t in file["added_tokens"])


def same_after_normalization(file):
    """Which of two such tokens wins is an accident of a hash table."""
    loaded = Tokenizer.from_str(json.dumps(file))
    texts = [loaded.normalizer.normalize_str(t["content"]) if loaded.normalizer else t["content"]
             for t in file["added_tokens"] if t["normalized"]]
    return len(set(texts)) < len(texts)


def random_rows(count):
    seed = SEED
    while count:
        seed += 1
        maker = Maker(seed)
        file = maker.file()
        if vanishes(file) or same_after_normalization(file):
            continue
        cases = []
        for i in range(12):
            case = run(Tokenizer.from_str(json.dumps(file)), maker.text(), maker.text() if i % 3 == 2 else None,
                       maker.chance(0.8), maker.truncation(), decode=i % 4 == 0)
            if case:
                cases.append(case)
        if cases:
            count -= 1
            yield {"seed": seed, "file": file, "cases": cases}


REGEXES = ("\\s", "\\s+", "\\s{2,}", "\\w", "\\w+", "[\\w]", "[^\\w\\s]+", "\\w+|[^\\w\\s]+", "[\\w\\s]{2,}", "[^\\s]+",
           "[0-9]+|\\s", "[a-z\u00e9-\u00fc]+", "[\\.\\-]", "\\.+", " {2,}", "[ ]+", "[ -]+", "[.,!?]", "\\n+|\\t", "\u4e2d+", "a",
           "[^a-z]{3,}", "\\[", "[\\]x]+", "b{12,}")
REGEX_TEXTS = ("the x\u00b2.\u00bd. -\u200d- \u00b9\u203f a_b a1 12.5,x! ?\u0663 \u2167 \u24b6", "a\u00a0\u2003b  c\n\n\td\u3000\u200be\u0085f\u001cg",
               "caf\u00e9 cafe\u0301 \u4e2d\u4e2d\u56fd [x]] --.. b" + "b" * 12 + " \u00fc\u00fd", "\U0001d7ce\U00010400\ufe0f\u20e3\u00aa\u02bc\u0345x")


def regex_rows():
    """Each expression that is understood, as a pre-tokenizer and as a normalizer."""
    vocab = {t: i for i, t in enumerate(["[UNK]"] + sorted(set("".join(REGEX_TEXTS))))}
    for i, regex in enumerate(REGEXES):
        split = {"type": "Split", "pattern": {"Regex": regex}, "behavior": BEHAVIOURS[i % 5], "invert": i % 2 == 1}
        replace = {"type": "Replace", "pattern": {"Regex": regex}, "content": ("", "_", "\u4e2dx")[i % 3]}
        for normalizer, pre_tokenizer in ((None, split), (replace, {"type": "FixedLength", "length": 1})):
            file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": normalizer,
                    "pre_tokenizer": pre_tokenizer, "post_processor": None, "decoder": None,
                    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "",
                              "max_input_chars_per_word": 100, "vocab": vocab}}
            yield {"seed": i, "file": file, "cases": [run(Tokenizer.from_str(json.dumps(file)), t) for t in REGEX_TEXTS]}


def vocab_rows():
    from transformers import BertTokenizer, MPNetTokenizer, logging

    logging.set_verbosity_error()
    base = list(usual.vocabulary())
    mpnet = ["<s>", "<pad>", "</s>", "[UNK]"] + base[5:]
    lower, cased = {"do_lower_case": True}, {"do_lower_case": False}
    rows = [
        ("usual", BertTokenizer, "\n".join(base) + "\n", lower),
        ("cased", BertTokenizer, "\n".join(base) + "\n", cased),
        ("cased but stripped", BertTokenizer, "\n".join(base) + "\n", {**cased, "strip_accents": True}),
        ("accents kept, no Chinese", BertTokenizer, "\n".join(base) + "\n",
         {**lower, "strip_accents": False, "tokenize_chinese_chars": False}),
        ("carriage returns, no last newline", BertTokenizer, "\r\n".join(base), lower),
        ("no [MASK] and [PAD]", BertTokenizer, "\n".join(base[1:4] + base[5:]) + "\n", lower),
        ("no special token but [UNK]", BertTokenizer, "\n".join(base[1:2] + base[5:]) + "\n", lower),
        ("a token twice, blanks at the end, empty lines", BertTokenizer,
         "\n".join(base + ["the", "dog  ", "cat\u3000", ""]) + "\n\n", lower),
        ("MPNet", MPNetTokenizer, "\n".join(mpnet + ["<mask>"]) + "\n", lower),
        ("MPNet without its mask", MPNetTokenizer, "\n".join(mpnet) + "\n", lower),
    ]
    texts = usual.SHORT + ["Caf\u00e9 \u4e2d\u56fd hello [MASK] x <mask> y </s> <s>a <pad>", "dog cat the  dogs", " hello\u3000",
                           "\u0130 \u00df [CLS][SEP] [PAD]z"]
    for what, kind, text, flags in rows:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "vocab.txt").write_text(text, encoding="utf-8", newline="")
            pathlib.Path(folder, "tokenizer_config.json").write_text(json.dumps(flags))
            loaded = kind.from_pretrained(folder)._tokenizer
        loaded.no_padding()
        loaded.no_truncation()
        cases = [usual.run(loaded, t) for t in texts] + [usual.run(loaded, a, b) for a, b in usual.PAIRS]
        yield {"what": what, "mpnet": kind is MPNetTokenizer, "vocab": text, **flags, "cases": cases}


def write(name, rows, libraries, what):
    rows = list(rows)
    inputs = [{k: v for k, v in row.items() if k != "cases"} for row in rows]
    common.write_json(FOLDER / f"{name}.json", {
        "certificate": common.certificate(__file__, SEED, common.digest_json(inputs), libraries),
        "what": what,
        "rows": rows,
    })
    print(f"{name}: {len(rows)} tokenizers, {sum(len(r['cases']) for r in rows)} cases")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["RUST_BACKTRACE"] = "0"
    write("random", random_rows(90), ("tokenizers",), "stages drawn at random")
    write("regex", regex_rows(), ("tokenizers",), "every form of regular expression that is understood")
    write("vocab_txt", vocab_rows(), ("tokenizers", "transformers"), "vocab.txt and flags, as transformers reads them")


if __name__ == "__main__":
    main()
