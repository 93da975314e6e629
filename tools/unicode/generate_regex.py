"""Writes src/text/unicode_regex.c: what regular expressions of the pinned `tokenizers` library know.

    python3 tools/unicode/generate_regex.py [--check]

The source is tests/golden/tokenizer/unicode_regex.json (tools/golden/unicode_regex.py), the
library's own answers; tests/unit/text_unicode.c holds the compiled tables against it.
"""

import json
import sys

from generate import GOLDEN, LIMIT, ROOT, rows, two_stage

OUT = ROOT / "src" / "text" / "unicode_regex.c"
# Bits beside the category: TN_UC_REGEX_WORD and TN_UC_REGEX_SPACE in src/text/unicode_regex.h.
WORD, SPACE = 0x20, 0x40


def points(ranges):
    return {c for low, high in ranges for c in range(low, high + 1)}


def main():
    golden = json.loads((GOLDEN / "unicode_regex.json").read_text())
    categories, escapes = golden["categories"], golden["escapes"]
    values = [list(categories).index("Cn")] * LIMIT
    for number, ranges in enumerate(categories.values()):
        for c in points(ranges):
            values[c] = number
    for c in points(escapes["word in brackets"]):
        values[c] |= WORD
    for c in points(escapes["space"]):
        values[c] |= SPACE
    assert points(escapes["digit"]) == points(categories["Nd"])
    assert points(escapes["word"]) ^ points(escapes["word in brackets"]) == {0xB2, 0xB3, 0xB9, 0xBC, 0xBD, 0xBE}
    assert golden["folded"] == {"k": [0x212A], "s": [0x17F]}

    stage, data = two_stage(values)
    ranges, scripts = [], []
    for name, spans in golden["scripts"].items():
        scripts.append(f'{{"{name}", {len(ranges)}, {len(spans)}}}')
        ranges += ["{%d, %d}" % tuple(s) for s in spans]
    text = "\n".join([
        "/* Made by tools/unicode/generate_regex.py from the recorded behaviour of tokenizers "
        f"{golden['certificate']['versions']['tokenizers']}; do not edit. */\n"
        '#include "text/unicode_regex.h"\n',
        rows("uint16_t", "tn_uc_regex_stage", stage),
        rows("uint8_t", "tn_uc_regex_data", data),
        "const char *const tn_uc_category_names[TN_UC_CATEGORIES] = {\n    "
        + ", ".join(f'"{k}"' for k in categories) + ",\n};\n",
        rows("uint32_t", "tn_uc_script_ranges", ranges, f"{len(ranges)}][2"),
        rows("struct tn_uc_script", "tn_uc_scripts", scripts),
        f"const size_t tn_uc_script_count = {len(scripts)};\n",
    ])
    print(len(stage) + len(data) + 8 * len(ranges), "bytes")
    if "--check" in sys.argv:
        same = OUT.read_text() == text
        print("tables are up to date" if same else "tables differ: run tools/unicode/generate_regex.py")
        return 0 if same else 1
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
