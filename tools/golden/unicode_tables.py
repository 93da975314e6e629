"""What the `tokenizers` library does with every Unicode code point.

    python tools/golden/unicode_tables.py

The library mixes Unicode versions: its letters' case comes from the standard library of the Rust
release it was built with, its normal forms from a pinned crate, its categories from a much older
one, its regular expressions from another. No table of one Unicode version equals it, so each
property is asked of the library itself, code point by code point (surrogates left out).

Two files come out. unicode_classes.json holds a list of ranges per property. unicode_images.json
holds, per mapping, the code points that do not map to themselves (Hangul syllables left out of the
canonical decompositions: they follow the arithmetic of the standard) and a digest per block of
4096 code points over "image\\n" in UTF-8, so that another implementation can prove itself equal
everywhere and name the block where it is not.
"""

import hashlib
import unicodedata

import common
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

LIMIT = 0x110000
HANGUL = range(0xAC00, 0xD7A4)


def points():
    for cp in range(LIMIT):
        if not 0xD800 <= cp <= 0xDFFF:
            yield cp


def bert(clean=False, chinese=False, strip=False, lower=False):
    return normalizers.BertNormalizer(clean_text=clean, handle_chinese_chars=chinese,
                                      strip_accents=strip, lowercase=lower).normalize_str


def pieces(pre_tokenizer):
    """How a pre-tokenizer takes `a`, the character, `a`: together, apart, isolated or removed."""

    def of(c):
        got = [p for p, _ in pre_tokenizer.pre_tokenize_str(f"a{c}a")]
        if got == [f"a{c}a"]:
            return "joined"
        if got == ["a", c, "a"]:
            return "isolated"
        if got == ["a", "a"]:
            return "removed"
        return f"other {len(got)}"

    return of


def clean_class(c, clean=bert(clean=True)):
    got = clean(c)
    return "kept" if got == c else "dropped" if got == "" else "space" if got == " " else "other"


def nmt_class(c, nmt=normalizers.Nmt().normalize_str):
    got = nmt(c)
    return "kept" if got == c else "dropped" if got == "" else "space" if got == " " else "other"


def chinese_class(c, chinese=bert(chinese=True)):
    got = chinese(c)
    return "kept" if got == c else "spaced" if got == f" {c} " else "other"


def strip_class(c, strip=normalizers.Strip().normalize_str):
    return "space" if strip(c) == "" else "kept"


def bert_mark_class(c, strip=bert(strip=True)):
    """Whether BertNormalizer(strip_accents) drops the character itself, after decomposition."""
    return "dropped" if strip(c) == "" else "kept"


def mark_class(c, strip=normalizers.StripAccents().normalize_str):
    return "dropped" if strip(c) == "" else "kept"


def added_token_probe():
    """The classes that added-token matching uses beside a token: word characters and blanks."""

    def make(**flags):
        tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
        tokenizer.add_tokens([AddedToken("<t>", normalized=False, **flags)])
        return tokenizer

    single, strip = make(single_word=True), make(rstrip=True)

    def word(c):
        return "word" if "<t>" not in single.encode(f"<t>{c}").tokens else "other"

    def blank(c):
        encoding = strip.encode(f"<t>{c}")
        return "space" if encoding.offsets[0][1] == 4 else "other"

    return word, blank


def ranges(function):
    """Class to list of inclusive ranges; the commonest class is left out and named."""
    runs = {}
    previous, start, last = None, None, None
    for cp in points():
        now = function(chr(cp))
        if now != previous or cp != last + 1:
            if previous is not None:
                runs.setdefault(previous, []).append([start, last])
            previous, start = now, cp
        last = cp
    runs.setdefault(previous, []).append([start, last])
    rest = max(runs, key=lambda k: sum(b - a for a, b in runs[k]))
    del runs[rest]
    return {"rest": rest, "ranges": runs}


def combining_classes(nfd):
    """The canonical combining class the library orders by, found by sorting against known marks.

    Python's table only says which marks represent a class (a class never changes once assigned).
    """
    low, high = chr(0x0334), chr(0x0345)
    ordered = [c for c in map(chr, points())
               if nfd(c) == c and (nfd(c + low) != c + low or nfd(high + c) != high + c
                                   or c in (low, high))]
    known = {unicodedata.combining(c): c for c in reversed(ordered) if unicodedata.combining(c)}
    out = {}
    for c in ordered:
        same = [ccc for ccc, r in known.items() if nfd(c + r) == c + r and nfd(r + c) == r + c]
        if len(same) != 1:
            raise ValueError(f"U+{ord(c):04X}: combining class is one of {same}")
        out.setdefault(same[0], []).append(ord(c))
    return {str(ccc): out[ccc] for ccc in sorted(out)}


def image(function, skip=()):
    changed, digests, counts = [], [], []
    block, count = hashlib.sha256(), 0
    for cp in range(LIMIT):
        if not 0xD800 <= cp <= 0xDFFF:
            c = chr(cp)
            got = function(c)
            block.update(got.encode() + b"\n")
            if got != c:
                count += 1
                if cp not in skip:
                    changed.append([cp, [ord(g) for g in got]])
        if cp % 4096 == 4095:
            digests.append(block.hexdigest()[:16])
            counts.append(count)
            block, count = hashlib.sha256(), 0
    return {"digests": digests, "changed_per_block": counts, "changed": changed}


EVIDENCE = {
    "lowercase": "U+16EA0 has a lower case (Unicode 17): the standard library of the Rust release",
    "normal forms": "U+114BB decomposes (7.0), U+11938 does not (13.0); combining marks likewise: "
                    "crate unicode-normalization-alignments 0.1.12",
    "nonspacing marks and punctuation of the BERT stages": "U+08E3 is a mark (8.0), U+1DFB is not (9.0): "
                                                           "crate unicode_categories",
    "word characters of regular expressions": "U+105C0 is a word character (16.0), U+16EA0 is not (17.0): "
                                              "crates regex-syntax 0.8",
    "numbers of Digits": "U+11DE0 is numeric (17.0): the standard library of the Rust release",
}


def main():
    nfd = normalizers.NFD().normalize_str
    word, blank = added_token_probe()

    classes = {
        "clean_text": ranges(clean_class),
        "chinese": ranges(chinese_class),
        "bert_mark": ranges(bert_mark_class),
        "strip_accents_mark": ranges(mark_class),
        "strip_space": ranges(strip_class),
        "nmt": ranges(nmt_class),
        "bert_pre_tokenizer": ranges(pieces(pre_tokenizers.BertPreTokenizer())),
        "whitespace": ranges(pieces(pre_tokenizers.Whitespace())),
        "whitespace_split": ranges(pieces(pre_tokenizers.WhitespaceSplit())),
        "punctuation": ranges(pieces(pre_tokenizers.Punctuation("isolated"))),
        "digits": ranges(pieces(pre_tokenizers.Digits(individual_digits=True))),
        "added_token_word": ranges(word),
        "added_token_space": ranges(blank),
    }
    certificate = common.certificate(__file__, 0, common.digest_json(LIMIT), ("tokenizers",))
    common.write_json(common.GOLDEN / "tokenizer" / "unicode_classes.json", {
        "certificate": certificate,
        "evidence_of_versions": EVIDENCE,
        "combining_class": combining_classes(nfd),
        "classes": classes,
    })
    nfkd = normalizers.NFKD().normalize_str
    common.write_json(common.GOLDEN / "tokenizer" / "unicode_images.json", {
        "certificate": certificate,
        "images": {
            "lowercase": image(normalizers.Lowercase().normalize_str),
            "bert_lowercase": image(bert(lower=True, strip=False)),
            "nfd": image(nfd, HANGUL),
            "nfc": image(normalizers.NFC().normalize_str),
            "nfkd": image(nfkd, {cp for cp in points() if nfkd(chr(cp)) == nfd(chr(cp))}),
            "nfkc": image(normalizers.NFKC().normalize_str, range(LIMIT)),
            "bert_strip_accents": image(bert(strip=True), range(LIMIT)),
            "strip_accents": image(normalizers.StripAccents().normalize_str, range(LIMIT)),
            "bert_uncased": image(bert(True, True, True, True), range(LIMIT)),
        },
    })


if __name__ == "__main__":
    main()
