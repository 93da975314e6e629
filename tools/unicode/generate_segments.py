"""Writes src/text/unicode_segments.c: how the pinned `tokenizers` library joins characters.

    python3 tools/unicode/generate_segments.py [--check]

The source is tests/golden/tokenizer/unicode_segments.json (tools/golden/unicode_segments.py), the
library's own answers.
"""

import json
import sys

from generate import GOLDEN, LIMIT, ROOT, rows, two_stage

OUT = ROOT / "src" / "text" / "unicode_segments.c"
# As in enum tn_uc_grapheme; Hangul syllables follow the arithmetic of the standard.
CLASSES = ["any", "control", "extend", "prepend", "picture", "L", "V", "T"]
SYLLABLES = set(range(0xAC00, 0xD7A4))


def points(ranges):
    return {c for low, high in ranges for c in range(low, high + 1)}


def main():
    golden = json.loads((GOLDEN / "unicode_segments.json").read_text())
    found = {name: points(ranges) for name, ranges in golden["graphemes"].items()}
    lead = found["before L"] - found["prepend"]
    vowel = found["after L"] - lead - SYLLABLES
    classes = {"control": found["control"] | {0}, "extend": found["extend"], "prepend": found["prepend"],
               "picture": found["picture"], "L": lead, "V": vowel, "T": found["after V"] - vowel}
    # Hangul joins as the standard says: L before L, V and syllables, V before V and T, T before T.
    syllables_with_vowel = {c for c in SYLLABLES if (c - 0xAC00) % 28 == 0}
    assert found["before V"] - found["prepend"] == lead | {c for c in vowel if c < 0x10000} | syllables_with_vowel
    assert found["before T"] - found["prepend"] == SYLLABLES | {c for c in vowel | classes["T"] if c < 0x10000}
    values, scripts = [0] * LIMIT, [0] * LIMIT
    for name, members in classes.items():
        for c in members:
            assert values[c] == 0, (name, hex(c))
            values[c] = CLASSES.index(name)
    for number, spans in enumerate(golden["scripts"]):
        for c in points(spans):
            scripts[c] = number
    assert len(golden["scripts"]) < 256
    out = ["/* Made by tools/unicode/generate_segments.py from the recorded behaviour of tokenizers "
           f"{golden['certificate']['versions']['tokenizers']}; do not edit. */\n"
           '#include "text/unicode_segments.h"\n']
    size = 0
    for name, table in (("grapheme", values), ("script", scripts)):
        stage, data = two_stage(table)
        out.append(rows("uint16_t", f"tn_uc_{name}_stage", stage))
        out.append(rows("uint8_t", f"tn_uc_{name}_data", data))
        size += 2 * len(stage) + len(data)
    text = "\n".join(out)
    print(size, "bytes")
    if "--check" in sys.argv:
        same = OUT.read_text() == text
        print("tables are up to date" if same else "tables differ: run tools/unicode/generate_segments.py")
        return 0 if same else 1
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
