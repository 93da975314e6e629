"""What the regular expressions of the `tokenizers` library make of every Unicode code point.

    python tools/golden/unicode_regex.py

Split and Replace use another engine than the rest of the library, with a Unicode version of its
own. Each property is asked of it over all code points at once: a Split that keeps the matches of
`X+` in a text of every scalar value. tests/golden/tokenizer/unicode_regex.json holds a list of
inclusive ranges for each general category, for the escapes, for some scripts, and for what
`(?i:[a-z])` matches beyond the letters themselves.
"""

import common
from tokenizers import Regex, pre_tokenizers

LIMIT = 0x110000
TEXT = "".join(chr(c) for c in range(LIMIT) if not 0xD800 <= c <= 0xDFFF)
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn").split()
SCRIPTS = ("Han Hiragana Katakana Hangul Bopomofo Latin Greek Cyrillic Armenian Hebrew Arabic Devanagari Bengali "
           "Tamil Telugu Thai Lao Khmer Georgian Ethiopic Common Inherited").split()
ESCAPES = {"space": r"\s", "word": r"\w", "word in brackets": r"[\w]", "digit": r"\d", "dot": "."}


def code_point(index):
    return index if index < 0xD800 else index + 0x800


def ranges(pattern):
    """Of the code points that `pattern` matches alone."""
    keep = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed", invert=True)
    out = []
    for _, (begin, end) in keep.pre_tokenize_str(TEXT):
        low, high = code_point(begin), code_point(end - 1)
        out += [[low, high]] if not low < 0xD800 <= high else [[low, 0xD7FF], [0xE000, high]]
    return out


def folded():
    """Beyond its two cases, what a letter matches without regard to case."""
    out = {}
    for letter in "abcdefghijklmnopqrstuvwxyz":
        found = [c for low, high in ranges(f"(?i:{letter})") for c in range(low, high + 1)]
        others = [c for c in found if c not in (ord(letter), ord(letter.upper()))]
        if others:
            out[letter] = others
    return out


def main():
    common.write_json(common.GOLDEN / "tokenizer" / "unicode_regex.json", {
        "certificate": common.certificate(__file__, 0, common.digest_json(LIMIT), ("tokenizers",)),
        "categories": {name: ranges(rf"\p{{{name}}}") for name in CATEGORIES},
        "scripts": {name: ranges(rf"\p{{{name}}}") for name in SCRIPTS},
        "escapes": {name: ranges(pattern) for name, pattern in ESCAPES.items()},
        "folded": folded(),
    })


if __name__ == "__main__":
    main()
