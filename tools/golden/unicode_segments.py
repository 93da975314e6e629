"""How the `tokenizers` library joins characters: grapheme clusters and scripts, code point by code point.

    python tools/golden/unicode_segments.py

Clusters show only in the Precompiled normalizer, which looks up clusters of at most five bytes as
one. So each class is asked for with maps (charsmap.py) that replace a sequence exactly when the
library takes it as a cluster of its own. Distinctions that no cluster of five bytes can show
(regional indicators, Indic conjuncts) are not made. Scripts are those of the UnicodeScripts
pre-tokenizer: a number per group of characters that it does not separate, 0 where it never cuts.

tests/golden/tokenizer/unicode_segments.json: per class and per script a list of inclusive ranges.
"""

import json

import charsmap
import common
from tokenizers import Tokenizer, pre_tokenizers

LIMIT = 0x110000
POINTS = [c for c in range(1, LIMIT) if not 0xD800 <= c <= 0xDFFF]  # a NUL ends a look-up
MARK = "\ufffc"


def normalizer(root, blob=MARK.encode() + b"\0"):
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "pre_tokenizer": None,
            "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap.build(root, blob)},
            "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "vocab": {"u": 0}, "unk_token": "u"}}
    return Tokenizer.from_str(json.dumps(file)).normalizer.normalize_str


def exact(text):
    root = charsmap.Node()
    charsmap.walk(root, text).value = 0
    return normalizer(root)


def before_any(prefix):
    """Replaces `prefix` and one more character."""
    root = charsmap.Node()
    charsmap.walk(root, prefix).children.update(charsmap.any_char(charsmap.Node(0)))
    return normalizer(root)


def after_any(suffix):
    root, rest = charsmap.Node(), charsmap.Node()
    charsmap.walk(rest, suffix).value = 0
    root.children.update(charsmap.any_char(rest))
    return normalizer(root)


def with_three_bytes(prefix):
    """Replaces `prefix` and one character of three bytes."""
    root, last, middle, end = charsmap.Node(), charsmap.Node(), charsmap.Node(), charsmap.Node(0)
    for byte in range(0x80, 0xC0):
        middle.children[byte] = end
        last.children[byte] = middle
    charsmap.walk(root, prefix).children.update({byte: last for byte in range(0xE0, 0xF0)})
    return normalizer(root)




def ranges(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def graphemes():
    joins = before_any("a")
    extend = {c for c in POINTS if joins("a" + chr(c)) == MARK}
    joins = after_any("a")
    prepend = {c for c in POINTS if joins(chr(c) + "a") == MARK}
    lone = exact("\u0308\u0301")
    control = {c for c in POINTS if lone(chr(c) + "\u0308\u0301").endswith(MARK)} - extend
    lone = exact("\u00a9\u200d")
    picture = {c for c in POINTS if not lone("\u00a9\u200d" + chr(c)).startswith(MARK)} - extend
    lone = with_three_bytes("\u0600")
    three = [c for c in POINTS if 0x800 <= c < 0x10000]

    def joined(c, after):
        return not lone("\u0600" + chr(c) + after).startswith(MARK)

    before_l = {c for c in three if joined(c, "\u1100")} - extend - control
    before_v = {c for c in three if joined(c, "\u1161")} - extend - control
    before_t = {c for c in three if joined(c, "\u11a8")} - extend - control
    lead = exact("\u0600\u1100")
    after_l = {c for c in POINTS if not lead("\u0600\u1100" + chr(c)).startswith(MARK)} - extend
    vowel = exact("\u0600\u1161")
    after_v = {c for c in POINTS if not vowel("\u0600\u1161" + chr(c)).startswith(MARK)} - extend
    found = {"extend": extend, "prepend": prepend, "control": control, "picture": picture,
             "before L": before_l, "before V": before_v, "before T": before_t, "after L": after_l, "after V": after_v}
    assert exact("\r\n")("a\r\nb") == f"a{MARK}b"
    return {name: ranges(points) for name, points in found.items()}


def scripts():
    split = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    never = {c for c in [0] + POINTS if not split(chr(c))}
    groups = []
    for c in [0] + POINTS:
        if c in never:
            continue
        if groups and len(split(chr(groups[-1][-1]) + chr(c))) == 1:
            groups[-1].append(c)
            continue
        for i, group in enumerate(groups):
            if len(split(chr(group[0]) + chr(c))) == 1:
                groups.append(groups.pop(i))
                groups[-1].append(c)
                break
        else:
            groups.append([c])
    return [ranges(never)] + sorted(ranges(group) for group in groups)


def main():
    common.write_json(common.GOLDEN / "tokenizer" / "unicode_segments.json", {
        "certificate": common.certificate(__file__, 0, common.digest_json(LIMIT), ("tokenizers",)),
        "graphemes": graphemes(),
        "scripts": scripts(),
    })


if __name__ == "__main__":
    main()
