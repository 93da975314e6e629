"""Encodings by the `tokenizers` library over the stages that WordPiece packages are made of.

    python tools/golden/tokenizer.py [NAME...]

For each tokenizer a file tests/golden/tokenizer/files/<name>.json (a tokenizer.json as packages
carry it) and a golden tests/golden/tokenizer/<name>.json with the encodings. See
tests/golden/README.md for the fields. Python's offsets count code points; byte offsets are derived
from them over the same text, and both are kept where they differ.
"""

import itertools
import json
import os
import shutil
import string
import sys

import common

os.environ["RUST_BACKTRACE"] = "0"
from tokenizers import Tokenizer

SEED = "tenon-tokenizer-1"
FOLDER = common.GOLDEN / "tokenizer"

# ---------------------------------------------------------------------------------------------
# Texts

NFD_CAFE = "Cafe\u0301 \u4e2d\u56fd"
SPACES = "a\u00a0b\u1680c\u2003d\u2028e\u2029f\u202fg\u205fh\u3000i\u0085j\u000bk\u000cl\u001cm\u001fn\u200bo\u180ep"
CONTROLS = "\x00a\x01b\x7fc\x80d\u00ade\u200df\u200eg\u202eh\u2060i\ufeffj\ufffdk\ue000l\u0378m\uffffn\U000e0001o\U0010ffffp"
PUNCTUATION = "\u201cq\u201d \u2014 \u2026 \u2039a\u203a \u00abb\u00bb \u00bfc? \u203d \u2e18d \u3001\u3002\u300ae\u300b \u00b7 \u2e45 \u066a \u0964"
LETTERS = ["caf\u00e9", "cafe", "Caf\u00e9", "Cafe", "\u4e2d", "\u56fd", "\u4e2d\u56fd", "cafe\u0301"]

WIDE = [
    "",
    " ",
    "\t\n\r \n",
    "hello world",
    "Caf\u00e9 \u4e2d\u56fd",
    NFD_CAFE,
    "The CAF\u00c9 caf\u00e9 CAFE\u0301 cafe\u0301",
    "na\u00efve \u00dcn\u00efc\u00f6de \u00c0\u00c9\u00ce \u00f1\u00d1 \u00e5\u212b \u1e9b\u0323",
    "\u0130stanbul I \u0131 \u1e9e\u00df \u0149 \u01c5 \ufb01\ufb00 \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u039f\u0394\u039f\u03a3",
    "\u0450 \u0419 \u0439 \u0438\u0306 \u041f\u0440\u0438\u0432\u0435\u0442",
    "\ud55c\uad6d\uc5b4 \uac01 \u1100\u1161\u11a8 \u1112\u1161\u11ab",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \u30ac \u30ab\u3099 \uff76\uff9e \u3400\u4dbf\u4e00\u9fff\U00020000\U0002a6df\U0002b820\uf900\U0002f800",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7 \U0001f44d\U0001f3fd 1\ufe0f\u20e3 \u2764\ufe0f",
    "a\u0300\u0316b\u0316\u0300c\u0345\u0300 \u0301x",
    CONTROLS,
    SPACES,
    string.punctuation,
    PUNCTUATION,
    "don't it's word_with_under-score $5 + <b>=^`|~",
    "3.14 1,000 \u0663\u0664 \u2167 \u00bd \u00b2 \uff11\uff12 \U0001d7ce",
    "a" * 100 + " " + "a" * 101,
    "\u00e9" * 100 + " " + "\u00e9" * 101,
    "e\u0301" * 50 + " " + "e\u0301" * 51 + " " + "b" * 99 + "\u0301\u0301",
    "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093c \u0958 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e01\u0e33 \u0ba4\u0bae\u0bbf\u0bb4\u0bcd",
    "Ti\u1ebfng Vi\u1ec7t \ufdfa \u2126 \u1fb3 \u0344 \U00011938 \U000114bb \U0001d15e",
    "\U00016ea0 \ua7ce\ua7cb \u1e9e \u10d0\u1c90 \U0001e900 \u13a0\uab70 \u08e3\u1dfb\u1abf",
    "[CLS] hello [SEP] [MASK][PAD] [UNK]",
    "a[MASK]b [mask] [ MASK ] [MAS [MASK",
    "x" * 30 + "hello" + "\u4e2d" * 5 + "!!!" + "Caf\u00e9s",
]
SOME = [WIDE[i] for i in (0, 2, 3, 4, 5, 8, 13, 15, 18, 19, 20, 27, 29)]
SHORT = ["", "hello world", "Caf\u00e9 \u4e2d\u56fd, hello!", "the hello  world [MASK] xyz\u0301"]
PAIRS = [("hello world", "the caf\u00e9"), ("", "hello"), ("hello", ""), ("", ""),
         ("a b c d e f g h", "hello world the"), ("hello", "a b c d e f g h [SEP] \u4e2d\u56fd"),
         (" hello ", "  Caf\u00e9 ")]

# ---------------------------------------------------------------------------------------------
# Tokenizer files

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def vocabulary(letters=True):
    tokens = SPECIALS + LETTERS
    if letters:
        for c in string.ascii_lowercase + string.digits + "\u00e9\u0301":
            tokens += [c, "##" + c]
        tokens += list("ABCDEFGH") + list(".,!?'\"-[]_$+") + ["the", "hello", "world", "##ello", "##orld", "##s"]
        tokens += ["\u65e5", "\u672c", "\u8a9e", "##\u56fd", "\u03c3", "##\u03c3", "##\u03c2", "\u0438", "##\u0438",
                   "\u0439", "\u1100", "##\u1161", "##\u11a8", "\u2581the", "X"]
    return {token: index for index, token in enumerate(dict.fromkeys(tokens))}


def special(content, ident, **flags):
    return {"id": ident, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True, **flags}


def bert_normalizer(clean=True, chinese=True, strip=None, lower=True):
    return {"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese,
            "strip_accents": strip, "lowercase": lower}


def template(single, pair, ids):
    """`[CLS]:0 $A:0 ...` in the file's own form; ids maps a special token to its ids."""

    def piece(word):
        name, _, kind = word.partition(":")
        kind = int(kind or 0)
        if name in ("$A", "$B"):
            return {"Sequence": {"id": name[1], "type_id": kind}}
        return {"SpecialToken": {"id": name, "type_id": kind}}

    table = {k: {"id": k, "ids": v, "tokens": [k] if len(v) == 1 else [f"{k}{i}" for i in range(len(v))]}
             for k, v in ids.items()}
    return {"type": "TemplateProcessing", "single": [piece(w) for w in single.split()],
            "pair": [piece(w) for w in pair.split()], "special_tokens": table}


BERT_TEMPLATE = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", {"[CLS]": [2], "[SEP]": [3]})


def document(**parts):
    vocab = parts.pop("vocab", None) or vocabulary()
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": vocab}
    model.update(parts.pop("model", {}))
    out = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(t, vocab[t]) for t in SPECIALS if t in vocab],
        "normalizer": bert_normalizer(),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": BERT_TEMPLATE,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": model,
    }
    out.update(parts)
    return out


# ---------------------------------------------------------------------------------------------
# Encodings


def byte_offsets(text, offsets):
    table = [0]
    for c in text:
        table.append(table[-1] + len(c.encode()))
    return [table[o] for pair in offsets for o in pair]


def describe(encoding, text, pair):
    """One encoding as a dict; what equals its default is left out (see tests/golden/README.md)."""
    flat = [o for pair_ in encoding.offsets for o in pair_]
    out = {"ids": encoding.ids, "tokens": encoding.tokens, "offsets_chars": flat}
    in_bytes = []
    for sequence, offsets in zip(encoding.sequence_ids, encoding.offsets):
        source = pair if sequence == 1 else text
        in_bytes += byte_offsets(source, [offsets]) if sequence is not None else list(offsets)
    if in_bytes != flat:
        out["offsets_bytes"] = in_bytes
    if any(encoding.type_ids):
        out["type_ids"] = encoding.type_ids
    if not all(encoding.attention_mask):
        out["attention_mask"] = encoding.attention_mask
    if any(encoding.special_tokens_mask):
        out["special_tokens_mask"] = encoding.special_tokens_mask
    if pair is not None:
        out["sequence_ids"] = [-1 if s is None else s for s in encoding.sequence_ids]
    return out


def run(tokenizer, text, pair=None, add_special=True, truncation="file", padding="file", decode=False):
    """`truncation` and `padding`: "file" leaves what the file sets, None switches off, a dict sets."""
    case = {"text": text}
    if pair is not None:
        case["pair"] = pair
    case["add_special"] = add_special
    if truncation != "file":
        case["truncation"] = truncation
        tokenizer.no_truncation()
        if truncation:
            tokenizer.enable_truncation(**truncation)
    if padding != "file":
        case["padding"] = padding
        tokenizer.no_padding()
        if padding:
            tokenizer.enable_padding(**padding)
    try:
        encoding = tokenizer.encode(text, pair, add_special_tokens=add_special)
    except BaseException as error:  # the library panics where a stride does not fit
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        case["error"] = str(error).splitlines()[0]
        return case
    case.update(describe(encoding, text, pair))
    if encoding.overflowing:
        case["overflowing"] = [describe(o, text, pair) for o in encoding.overflowing]
    if decode:
        case["decoded"] = tokenizer.decode(encoding.ids, skip_special_tokens=True)
        case["decoded_with_special"] = tokenizer.decode(encoding.ids, skip_special_tokens=False)
    return case


class Golden:
    """One tokenizer file and its cases. `cases` takes a fresh tokenizer factory."""

    def __init__(self, name, what, file, cases):
        self.name, self.what, self.file, self.cases = name, what, file, cases

    def write(self):
        path = FOLDER / "files" / f"{self.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.file, ensure_ascii=False, separators=(",", ":"))
        path.write_text(text + "\n", encoding="utf-8")
        Tokenizer.from_file(str(path))
        cases = self.cases(lambda: Tokenizer.from_file(str(path)))
        common.write_json(FOLDER / f"{self.name}.json", {
            "certificate": common.certificate(__file__, SEED, common.digest_files([path], path.parent),
                                              ("tokenizers",)),
            "what": self.what,
            "tokenizer": f"tokenizer/files/{self.name}.json",
            "cases": cases,
        })
        return len(cases)


def plain(texts, pairs=(), bare=(), decode=False):
    """Cases as the file stands: texts, pairs, and `bare` without special tokens."""

    def cases(make):
        out = [run(make(), t, decode=decode) for t in texts]
        out += [run(make(), a, b) for a, b in pairs]
        out += [run(make(), t, add_special=False) for t in bare]
        return out

    return cases


# ---------------------------------------------------------------------------------------------
# The list


def letter(value):
    return {None: "n", True: "t", False: "f"}[value]


def bert_normalizers():
    for clean, chinese, strip, lower in itertools.product((True, False), (True, False),
                                                          (None, True, False), (True, False)):
        name = "bert_norm_" + "".join(map(letter, (clean, chinese, strip, lower)))
        usual = (clean, chinese) == (True, True)
        yield Golden(name, f"BertNormalizer clean_text={clean} handle_chinese_chars={chinese} "
                     f"strip_accents={strip} lowercase={lower}",
                     document(normalizer=bert_normalizer(clean, chinese, strip, lower)),
                     plain(WIDE if usual else SOME))
    vocab = {"[UNK]": 0, "cafe": 1, "caf\u00e9": 2, "Cafe": 3, "Caf\u00e9": 4, "\u4e2d": 5, "\u56fd": 6, "\u4e2d\u56fd": 7}
    for strip, lower in itertools.product((None, True, False), (True, False)):
        yield Golden(f"bert_norm_small_{letter(strip)}{letter(lower)}",
                     f"Eight tokens, strip_accents={strip} lowercase={lower}; NFC and NFD input",
                     document(vocab=vocab, added_tokens=[], post_processor=None,
                              normalizer=bert_normalizer(strip=strip, lower=lower)),
                     plain(["Caf\u00e9 \u4e2d\u56fd", NFD_CAFE]))


def models():
    yield Golden("bert_usual", "The usual BERT file, pairs, bare texts and decoding", document(),
                 plain(WIDE, PAIRS, SHORT, decode=True))
    yield Golden("wordpiece_max_chars", "max_input_chars_per_word 5, counted after normalisation",
                 document(model={"max_input_chars_per_word": 5}),
                 plain(["hello hellos", "cafe\u0301s caf\u00e9s", "\u4e2d\u56fd", "abcde abcdef", "\u00e9\u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"]))
    yield Golden("wordpiece_max_chars_cased", "max_input_chars_per_word 5 with accents kept: characters, not bytes",
                 document(model={"max_input_chars_per_word": 5}, normalizer=None),
                 plain(["hello hellos", "cafe\u0301 cafe\u0301s", "\u4e2d\u56fd", "\u00e9\u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"]))
    vocab = vocabulary()
    at = {t.replace("##", "@@") if t.startswith("##") else t: i for t, i in vocab.items()}
    yield Golden("wordpiece_prefix", "continuing_subword_prefix @@",
                 document(vocab=at, model={"continuing_subword_prefix": "@@"},
                          decoder={"type": "WordPiece", "prefix": "@@", "cleanup": False}),
                 plain(SHORT + ["hellos worlds xyz"], decode=True))
    bare = dict(vocab)
    yield Golden("wordpiece_empty_prefix", "an empty continuing_subword_prefix",
                 document(vocab=bare, model={"continuing_subword_prefix": ""}), plain(SHORT + ["hellothe cafecafe"]))
    no_type = document()
    del no_type["model"]["type"]
    yield Golden("wordpiece_no_type", "a model object without its type, as older files have", no_type,
                 plain(SHORT))
    old = document()
    for key in ("truncation", "padding"):
        del old[key]
    yield Golden("file_without_optional_keys", "no truncation and padding keys at all", old, plain(SHORT))
    yield Golden("no_stages", "no normaliser, pre-tokenizer, post-processor or decoder: the text is one word",
                 document(normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None),
                 plain(["hello", "hello world", "", "cafe", " hello", "X"], decode=True))
    other = dict(vocab)
    other["<unk>"] = len(other)
    yield Golden("unk_elsewhere", "unk_token <unk>", document(vocab=other, model={"unk_token": "<unk>"}),
                 plain(["hello \u2665 [UNK] <unk>"]))
    lost = document(model={"unk_token": "[NONE]"})
    yield Golden("unk_missing", "unk_token is not in the vocabulary: an unknown word is an error of the text",
                 lost, plain(["hello world", "hello \u2665"]))


def decoders():
    texts = ["hello world. don't do, not? yes! he's we've i'm they're", "hello , world .", "a n't b",
             "[CLS] hello [SEP]", "caf\u00e9s \u4e2d\u56fd"]
    for cleanup in (True, False):
        yield Golden(f"decoder_wordpiece_{letter(cleanup)}", f"WordPiece decoder, cleanup={cleanup}",
                     document(decoder={"type": "WordPiece", "prefix": "##", "cleanup": cleanup}),
                     plain(texts, decode=True))
    yield Golden("decoder_none", "no decoder: tokens joined by a blank", document(decoder=None),
                 plain(texts, decode=True))


TOKEN_TEXTS = ["a <mask> x", "a<mask>x", "<mask>", " <mask> ", "<mask><mask>", "<mask> <mask>", "a  <mask>\t\nx",
               "x<mask>", "<mask>x", "_<mask>_", "\u00e9<mask>\u00e9", "\u4e2d<mask>\u56fd", "-<mask>-", "<MASK>", "a <MaSk> x",
               "\u3000<mask>\u00a0", "\u0301<mask>\u0301", "1<mask>\u0663", "", "<mas k>"]


def added_tokens():
    vocab = vocabulary()
    base = [special(t, vocab[t]) for t in SPECIALS]
    flags = ("lstrip", "rstrip", "single_word", "normalized")
    for values in itertools.product((False, True), repeat=4):
        chosen = dict(zip(flags, values))
        name = "added_" + ("_".join(k for k, v in chosen.items() if v) or "plain")
        yield Golden(name, f"an added token <mask> with {chosen}",
                     document(added_tokens=base + [special("<mask>", len(vocab), **chosen)]),
                     plain(TOKEN_TEXTS))
    yield Golden("added_not_special", "the same token, not special, decoded with and without specials",
                 document(added_tokens=base + [special("<mask>", len(vocab), special=False)]),
                 plain(TOKEN_TEXTS[:6], decode=True))
    many = ["new york", "york", "new", "New York City", "caf\u00e9", "CAF\u00c9 X", "ab", "abc", "bcd", "\u4e2d\u56fd\u4e2d", " sp ", "e\u0301e",
            "[X]", "[XY]", "hello"]
    texts = ["new york", "New York City", "newyork", "a new  york", "caf\u00e9 cafe\u0301 CAF\u00c9 CAF\u00c9 X", "abcd abc ab bcd xabcdx",
             "\u4e2d\u56fd\u4e2d\u56fd\u4e2d", "x sp y", "e\u0301e ee \u00e9e", "[X][XY][XYZ]", "hello hellos", "NEW YORK CITY", ""]
    for normalized in (True, False):
        tokens = [special(t, len(vocab) + i, normalized=normalized, special=False) for i, t in enumerate(many)]
        yield Golden(f"added_many_{letter(normalized)}",
                     f"overlapping added tokens, normalized={normalized}: leftmost longest, accents, blanks",
                     document(added_tokens=base + tokens), plain(texts))
    mixed = [special("hello", len(vocab), normalized=True, special=False),
             special("hello world", len(vocab) + 1, normalized=False, special=False),
             special("HELLO", len(vocab) + 2, normalized=False, special=True),
             special("world", vocab["world"], normalized=True, special=False, single_word=True)]
    yield Golden("added_mixed", "normalised and raw tokens that overlap; one is in the vocabulary already",
                 document(added_tokens=base + mixed),
                 plain(["hello world", "HELLO WORLD", "Hello World", "hello worlds", "HELLO hello", "the world"]))
    yield Golden("added_cased_file", "a normalised token where the normaliser keeps case",
                 document(normalizer=bert_normalizer(lower=False),
                          added_tokens=base + [special("Foo", len(vocab), normalized=True, special=False)]),
                 plain(["Foo foo FOO", "aFoob", "Foo\u0301"]))


def truncations():
    words = "a b c d e f g h"
    file = document()

    def cases(make):
        out = []
        for strategy, direction, stride in itertools.product(
                ("longest_first", "only_first", "only_second"), ("right", "left"), (0, 2)):
            for limit in (8, 5):
                setting = {"max_length": limit, "strategy": strategy, "direction": direction, "stride": stride}
                for pair in (None, "hello world the hello"):
                    if strategy == "only_second" and pair is None:
                        continue
                    out.append(run(make(), words, pair, truncation=setting))
                out.append(run(make(), words, truncation=setting, add_special=False)
                           if strategy != "only_second" else run(make(), "a", words, truncation=setting))
        for limit in (0, 1, 2, 3, 4, 10, 11):
            setting = {"max_length": limit, "strategy": "longest_first", "direction": "right", "stride": 0}
            out.append(run(make(), words, truncation=setting))
            out.append(run(make(), words, "hello world", truncation=setting))
            out.append(run(make(), "", truncation=setting))
            out.append(run(make(), words, truncation=setting, add_special=False))
        for a, b in (("a b c d e f", "a b"), ("a b", "a b c d e f"), ("a b c d", "e f g h"), ("a b c d e", "f g h"),
                     ("a b c", "d e f g h"), ("a", "b"), ("", words), (words, "")):
            for limit in (5, 6, 7, 8):
                for direction in ("right", "left"):
                    out.append(run(make(), a, b, truncation={"max_length": limit, "strategy": "longest_first",
                                                             "direction": direction, "stride": 0}))
        out.append(run(make(), words, truncation={"max_length": 6, "strategy": "only_second",
                                                  "direction": "right", "stride": 0}))
        out.append(run(make(), "caf\u00e9 \u4e2d\u56fd hello", truncation={"max_length": 5, "strategy": "longest_first",
                                                              "direction": "right", "stride": 1}))
        return out

    yield Golden("truncation", "truncation as an argument: strategies, sides, strides, limits below the specials",
                 file, cases)
    for direction, strategy in (("Right", "LongestFirst"), ("Left", "OnlyFirst")):
        setting = {"direction": direction, "max_length": 6, "strategy": strategy, "stride": 0}
        yield Golden(f"truncation_in_file_{direction.lower()}", f"the file sets truncation {setting}",
                     document(truncation=setting), plain([words, "hello", ""], PAIRS[:1] + [(words, words)]))


def paddings():
    def cases(make):
        out = []
        for setting in ({"length": 8}, {"length": 8, "direction": "left"},
                        {"length": 8, "pad_id": 7, "pad_type_id": 1, "pad_token": "[X]"},
                        {"length": 5, "pad_to_multiple_of": 4}, {"pad_to_multiple_of": 4},
                        {"length": None}, {"length": 3}):
            for text, pair in (("hello", None), ("hello world the caf\u00e9 x", None), ("a", "b")):
                out.append(run(make(), text, pair, padding=setting))
        return out

    yield Golden("padding", "padding as an argument", document(), cases)
    setting = {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
               "pad_type_id": 0, "pad_token": "[PAD]"}
    yield Golden("padding_in_file_fixed", "the file pads to 8", document(padding=setting), plain(SHORT, PAIRS[:2]))
    longest = {**setting, "strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": 4}
    yield Golden("padding_in_file_longest", "the file pads to the longest, in fours, on the left",
                 document(padding=longest), plain(SHORT, PAIRS[:2]))


def post_processors():
    ids = {"[CLS]": [2], "[SEP]": [3]}
    rows = {
        "template_types": template("[CLS]:1 $A:2 [SEP]:3", "[CLS]:4 $A:5 [SEP]:6 $B:7 [SEP]:8", ids),
        "template_reversed_pair": template("$A [SEP]", "[CLS] $B:1 [SEP] $A [SEP]:1", ids),
        "template_twice": template("$A [SEP] $A:1", "$A $B:1 $A:2", ids),
        "template_multi": template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", {"[CLS]": [2, 4], "[SEP]": [3, 3, 5]}),
        "template_bare": template("$A", "$A $B:1", {}),
        "bert_processing": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "roberta_processing": {"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
                               "trim_offsets": True, "add_prefix_space": False},
        "roberta_no_trim": {"type": "RobertaProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2],
                            "trim_offsets": False, "add_prefix_space": True},
        "processing_sequence": {"type": "Sequence", "processors": [
            {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            template("$A:1 [MASK]", "$A $B [MASK]", {"[MASK]": [4]})]},
        "processing_none": None,
    }
    for name, processor in rows.items():
        yield Golden(f"post_{name}", f"post-processor {name.replace('_', ' ')}", document(post_processor=processor),
                     plain(["", "hello world", " Caf\u00e9  \u4e2d\u56fd ", "a [MASK] b"], PAIRS, ["hello"]))


def normalizer_of(kind, **fields):
    return {"type": kind, **fields}


def normalizers():
    one = {
        "nfc": normalizer_of("NFC"), "nfd": normalizer_of("NFD"), "nfkc": normalizer_of("NFKC"),
        "nfkd": normalizer_of("NFKD"), "lowercase": normalizer_of("Lowercase"), "nmt": normalizer_of("Nmt"),
        "strip": normalizer_of("Strip", strip_left=True, strip_right=True),
        "strip_left": normalizer_of("Strip", strip_left=True, strip_right=False),
        "strip_right": normalizer_of("Strip", strip_left=False, strip_right=True),
        "strip_accents": normalizer_of("StripAccents"),
        "replace_string": normalizer_of("Replace", pattern={"String": "ll"}, content="L"),
        "replace_longer": normalizer_of("Replace", pattern={"String": "o"}, content=" the "),
        "replace_empty": normalizer_of("Replace", pattern={"String": " "}, content=""),
        "replace_regex_spaces": normalizer_of("Replace", pattern={"Regex": "\\s+"}, content=" "),
        "replace_regex_digits": normalizer_of("Replace", pattern={"Regex": "[0-9]+"}, content="9"),
        "replace_regex_runs": normalizer_of("Replace", pattern={"Regex": " {2,}"}, content="\u2581"),
        "prepend": normalizer_of("Prepend", prepend="\u2581"),
    }
    for name, normalizer in one.items():
        yield Golden(f"norm_{name}", f"normaliser {name.replace('_', ' ')} alone",
                     document(normalizer=normalizer, pre_tokenizer={"type": "WhitespaceSplit"}),
                     plain(SOME + ["  hello   world 123 45 ", "hello\u00a0\u2003world\u3000"]))
    sequences = {
        "nfd_lower_strip": [one["nfd"], one["lowercase"], one["strip_accents"]],
        "strip_accents_without_nfd": [one["lowercase"], one["strip_accents"]],
        "nfkc_lower": [one["nfkc"], one["lowercase"]],
        "lower_nfkd_strip": [one["lowercase"], one["nfkd"], one["strip_accents"], one["strip"]],
        "replace_then_bert": [normalizer_of("Replace", pattern={"String": "``"}, content='"'), bert_normalizer()],
        "nested": [normalizer_of("Sequence", normalizers=[one["nfd"], normalizer_of("Sequence", normalizers=[])]),
                   one["strip_accents"], one["replace_longer"]],
        "prepend_replace": [one["prepend"], normalizer_of("Replace", pattern={"String": " "}, content="\u2581")],
        "empty": [],
    }
    for name, steps in sequences.items():
        yield Golden(f"norm_seq_{name}", f"normaliser sequence {name.replace('_', ' ')}",
                     document(normalizer=normalizer_of("Sequence", normalizers=steps)),
                     plain(SOME + ["  hello   world 123 ``x`` "]))


BEHAVIOURS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
SPLIT_TEXTS = ["hello, world!! the-end...", "--hello--", "...", "a--b", "", "hello world", "Caf\u00e9\u2014\u4e2d\u3002\u56fd",
               "a1b22c333", "  a  b ", "x-y_z -a- b"]


def pre_tokenizers():
    one = {
        "whitespace": {"type": "Whitespace"},
        "whitespace_split": {"type": "WhitespaceSplit"},
        "bert": {"type": "BertPreTokenizer"},
        "digits": {"type": "Digits", "individual_digits": False},
        "digits_individual": {"type": "Digits", "individual_digits": True},
        "char_delimiter": {"type": "CharDelimiterSplit", "delimiter": "-"},
        "char_delimiter_wide": {"type": "CharDelimiterSplit", "delimiter": "\u4e2d"},
        "fixed_length": {"type": "FixedLength", "length": 3},
    }
    for behaviour in BEHAVIOURS:
        one[f"punctuation_{behaviour.lower()}"] = {"type": "Punctuation", "behavior": behaviour}
        for invert in (False, True):
            suffix = f"{behaviour.lower()}{'_invert' if invert else ''}"
            one[f"split_string_{suffix}"] = {"type": "Split", "pattern": {"String": "-"}, "behavior": behaviour,
                                             "invert": invert}
            one[f"split_regex_{suffix}"] = {"type": "Split", "pattern": {"Regex": "[0-9]+|\\s"},
                                            "behavior": behaviour, "invert": invert}
    one["split_string_long"] = {"type": "Split", "pattern": {"String": "he"}, "behavior": "Isolated", "invert": False}
    one["split_regex_word"] = {"type": "Split", "pattern": {"Regex": "\\w+|[^\\w\\s]+"}, "behavior": "Removed",
                               "invert": True}
    for name, pre_tokenizer in one.items():
        yield Golden(f"pre_{name}", f"pre-tokenizer {name.replace('_', ' ')} alone",
                     document(pre_tokenizer=pre_tokenizer), plain(SPLIT_TEXTS + SOME[3:5]))
    sequences = {
        "split_punctuation": ["whitespace_split", "punctuation_isolated"],
        "whitespace_digits": ["whitespace", "digits_individual"],
        "bert_digits": ["bert", "digits"],
        "digits_bert": ["digits_individual", "bert"],
        "delimiter_bert": ["char_delimiter", "bert"],
        "empty": [],
    }
    for name, steps in sequences.items():
        yield Golden(f"pre_seq_{name}", f"pre-tokenizer sequence {steps}",
                     document(pre_tokenizer={"type": "Sequence", "pretokenizers": [one[s] for s in steps]}),
                     plain(SPLIT_TEXTS + SOME[3:]))
    for name in ("whitespace", "whitespace_split", "punctuation_isolated", "digits_individual"):
        yield Golden(f"pre_raw_{name}", f"pre-tokenizer {name.replace('_', ' ')} on text that nothing has normalised",
                     document(normalizer=None, pre_tokenizer=one[name]), plain(WIDE))


def rejects():
    """What the library itself does not load; not goldens of encodings but of refusal."""
    vocab = {"[UNK]": 0, "a": 1}
    rows = {
        "unknown normalizer": document(normalizer={"type": "Frobnicate"}),
        "unknown pre-tokenizer": document(pre_tokenizer={"type": "Frobnicate"}),
        "unknown post-processor": document(post_processor={"type": "Frobnicate"}),
        "unknown decoder": document(decoder={"type": "Frobnicate"}),
        "unknown model": document(model={"type": "Frobnicate"}),
        "template names a special token it does not list": document(post_processor=template("[CLS] $A", "$A $B", {})),
        "id 2^32": document(vocab={**vocab, "b": 2**32, **{t: i + 5 for i, t in enumerate(SPECIALS)}}),
        "negative id": document(vocab={**vocab, "b": -1, **{t: i + 5 for i, t in enumerate(SPECIALS)}}),
        "fractional id": document(vocab={**vocab, "b": 1.5, **{t: i + 5 for i, t in enumerate(SPECIALS)}}),
        "two tokens of one id": document(vocab={**vocab, "b": 1, **{t: i + 5 for i, t in enumerate(SPECIALS)}}),
        "no model": {k: v for k, v in document().items() if k != "model"},
        "version 2.0": {**document(), "version": "2.0"},
        "strip_accents is a string": document(normalizer=bert_normalizer(strip="yes")),
        "punctuation behaviour unknown": document(pre_tokenizer={"type": "Punctuation", "behavior": "Sometimes"}),
        "regex that does not parse": document(pre_tokenizer={"type": "Split", "pattern": {"Regex": "(["},
                                                             "behavior": "Isolated", "invert": False}),
    }
    out = []
    for what, file in rows.items():
        try:
            Tokenizer.from_str(json.dumps(file))
            answer = {"loads": True}
        except BaseException as error:
            answer = {"loads": False, "error": str(error)[:200]}
        out.append({"what": what, **answer, "file": file})
    common.write_json(FOLDER / "library_refusals.json", {
        "certificate": common.certificate(__file__, SEED, common.digest_json(rows), ("tokenizers",)),
        "what": "files that a reader might be handed, and whether the library itself loads them",
        "rows": out,
    })


def goldens():
    for group in (bert_normalizers, models, decoders, added_tokens, truncations, paddings, post_processors,
                  normalizers, pre_tokenizers):
        yield from group()


def main(names):
    everything = {golden.name: golden for golden in goldens()}
    unknown = set(names) - set(everything)
    if unknown:
        sys.exit(f"unknown goldens: {sorted(unknown)}")
    if not names:
        shutil.rmtree(FOLDER / "files", ignore_errors=True)
        rejects()
    total = sum(everything[name].write() for name in names or everything)
    print(f"{len(names or everything)} tokenizers, {total} cases")


if __name__ == "__main__":
    main(sys.argv[1:])
