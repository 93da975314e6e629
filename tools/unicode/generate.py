"""Writes src/text/unicode_tables.c from what the pinned `tokenizers` library does.

    python3 tools/unicode/generate.py [--check]

The library mixes several Unicode versions (see `evidence_of_versions` in the golden file), so the
source is not one release of the Unicode database but the per-code-point record of the library's own
behaviour: tests/golden/tokenizer/unicode_classes.json and unicode_images.json, which are made by
tools/golden/unicode_tables.py. tests/unit/text_unicode.c holds the compiled result against the same
record over all code points, mappings by digest. `--check` writes nothing and fails when the
committed files differ.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "tokenizer"
OUT = ROOT / "src" / "text" / "unicode_tables.c"
LIMIT = 0x110000
SHIFT = 7
BLOCK = 1 << SHIFT

# Bit, golden class, value. The order is that of enum tn_uc_flag in unicode.h.
FLAGS = [
    ("TN_UC_WHITE", "strip_space", "space"),
    ("TN_UC_PUNCT", "punctuation", "isolated"),
    ("TN_UC_CLEAN_DROP", "clean_text", "dropped"),
    ("TN_UC_CLEAN_SPACE", "clean_text", "space"),
    ("TN_UC_CHINESE", "chinese", "spaced"),
    ("TN_UC_MARK_NONSPACING", "bert_mark", "dropped"),
    ("TN_UC_MARK", "strip_accents_mark", "dropped"),
    ("TN_UC_WORD", "whitespace", "joined"),
    ("TN_UC_NUMERIC", "digits", "isolated"),
    ("TN_UC_NMT_DROP", "nmt", "dropped"),
    ("TN_UC_NMT_SPACE", "nmt", "space"),
]
# Derived below: NFC of a text without such characters is the text itself.
NFC_ACTIVE = len(FLAGS)
# Probes of the library that must agree, because one flag serves them all.
SAME = [
    [("strip_space", "space"), ("whitespace_split", "removed"), ("whitespace", "removed"),
     ("added_token_space", "space"), ("bert_pre_tokenizer", "removed")],
    [("punctuation", "isolated"), ("bert_pre_tokenizer", "isolated")],
    [("whitespace", "joined"), ("added_token_word", "word")],
]


def points(classes, name, value):
    entry = classes[name]
    if entry["rest"] != value:
        return {c for a, b in entry["ranges"].get(value, []) for c in range(a, b + 1)}
    rest = set(range(LIMIT)) - set(range(0xD800, 0xE000))
    for spans in entry["ranges"].values():
        for a, b in spans:
            rest.difference_update(range(a, b + 1))
    return rest


def two_stage(values):
    """Block numbers per 128 code points, and the distinct blocks one after the other."""
    blocks, numbers, stage = [], {}, []
    for start in range(0, LIMIT, BLOCK):
        block = tuple(values[start:start + BLOCK])
        if block not in numbers:
            numbers[block] = len(blocks)
            blocks.append(block)
        stage.append(numbers[block])
    return stage, [v for block in blocks for v in block]


def rows(kind, name, values, size=None):
    lines, line = [], "   "
    for v in values:
        text = f" {v},"
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    lines.append(line)
    return f"const {kind} {name}[{size or len(values)}] = {{\n" + "\n".join(lines) + "\n};\n"


def small(values):
    return "uint8_t" if max(values) < 256 else "uint16_t"


def main():
    classes_file = json.loads((GOLDEN / "unicode_classes.json").read_text())
    images = json.loads((GOLDEN / "unicode_images.json").read_text())["images"]
    classes = classes_file["classes"]
    for group in SAME:
        sets = [points(classes, *probe) for probe in group]
        assert all(s == sets[0] for s in sets), group

    flags = [0] * LIMIT
    for bit, (_, name, value) in enumerate(FLAGS):
        for c in points(classes, name, value):
            flags[c] |= 1 << bit
    ccc = [0] * LIMIT
    for value, members in classes_file["combining_class"].items():
        for c in members:
            ccc[c] = int(value)

    lower = {c: tuple(to) for c, to in images["lowercase"]["changed"]}
    assert images["lowercase"]["changed"] == images["bert_lowercase"]["changed"]
    nfd = {c: tuple(to) for c, to in images["nfd"]["changed"]}
    # Compatibility forms that are also the canonical ones are left out of the golden file.
    nfkd = {c: tuple(to) for c, to in images["nfkd"]["changed"]}

    pool, places = [0], {}

    def place(sequence):
        if sequence not in places:
            places[sequence] = len(pool)
            pool.append(len(sequence))
            pool.extend(sequence)
        return places[sequence]

    # One record per code point that any mapping changes; 0: none.
    records, record_of = [(0, 0, 0)], [0] * LIMIT
    for c in sorted(set(lower) | set(nfd) | set(nfkd)):
        to = lower.get(c)
        single = (to[0] if len(to) == 1 else 0x80000000 | place(to)) if to else 0
        canonical = place(nfd[c]) if c in nfd else 0
        compatible = place(nfkd[c]) if c in nfkd else canonical
        record_of[c] = len(records)
        records.append((single, canonical, compatible))
    assert len(pool) < 65536 and len(records) < 65536

    # Primary composites: a decomposition of two or more that composition restores. Single steps
    # decompose their first half only, so the pair is (composite of all but the last, last).
    changed_by_nfc = {c for c, _ in images["nfc"]["changed"]}
    composite_of = {to: c for c, to in nfd.items() if len(to) > 1 and c not in changed_by_nfc}
    pairs = []
    for to, c in composite_of.items():
        first = to[0] if len(to) == 2 else composite_of[to[:-1]]
        pairs.append((first, to[-1], c))
    pairs.sort()

    # A mark, a character that composition makes of others or takes in, or one that begins with such a character.
    seconds = {second for _, second, _ in pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    active = seconds | changed_by_nfc | {c for c in range(LIMIT) if ccc[c]}
    active |= {c for c, to in nfd.items() if to[0] in seconds}
    for c in active:
        flags[c] |= 1 << NFC_ACTIVE

    stage_f, data_f = two_stage(flags)
    stage_c, data_c = two_stage(ccc)
    stage_r, data_r = two_stage(record_of)
    out = [
        "/* Made by tools/unicode/generate.py from the recorded behaviour of tokenizers "
        f"{classes_file['certificate']['versions']['tokenizers']}; do not edit. */\n"
        '#include "text/unicode_tables.h"\n',
        rows(small(stage_f), "tn_uc_flag_stage", stage_f),
        rows("uint16_t", "tn_uc_flag_data", data_f),
        rows(small(stage_c), "tn_uc_ccc_stage", stage_c),
        rows("uint8_t", "tn_uc_ccc_data", data_c),
        rows(small(stage_r), "tn_uc_record_stage", stage_r),
        rows("uint16_t", "tn_uc_record_data", data_r),
        rows("struct tn_uc_record", "tn_uc_records", ["{%dU, %d, %d}" % r for r in records]),
        rows("uint32_t", "tn_uc_pool", pool),
        rows("struct tn_uc_pair", "tn_uc_pairs", ["{%d, %d, %d}" % p for p in pairs]),
        f"const uint32_t tn_uc_pair_count = {len(pairs)};\n",
    ]
    header = (
        "/* Made by tools/unicode/generate.py; do not edit. */\n"
        "#ifndef TN_TEXT_UNICODE_TABLES_H\n#define TN_TEXT_UNICODE_TABLES_H\n\n#include <stdint.h>\n\n"
        f"enum {{ TN_UC_SHIFT = {SHIFT} }};\n\n"
        "/* `lower`: 0 none, one code point, or (top bit) an index into the pool. `nfd`, `nfkd`: index or 0. */\n"
        "struct tn_uc_record {\n    uint32_t lower;\n    uint16_t nfd, nfkd;\n};\n"
        "struct tn_uc_pair {\n    uint32_t first, second, composite;\n};\n\n"
        + "".join(f"extern const {kind} {name}[];\n" for kind, name in [
            (small(stage_f), "tn_uc_flag_stage"), ("uint16_t", "tn_uc_flag_data"),
            (small(stage_c), "tn_uc_ccc_stage"), ("uint8_t", "tn_uc_ccc_data"),
            (small(stage_r), "tn_uc_record_stage"), ("uint16_t", "tn_uc_record_data"),
            ("struct tn_uc_record", "tn_uc_records"), ("uint32_t", "tn_uc_pool"),
            ("struct tn_uc_pair", "tn_uc_pairs")])
        + "extern const uint32_t tn_uc_pair_count;\n\n#endif\n")
    text = "\n".join(out)
    if "--check" in sys.argv:
        same = OUT.read_text() == text and OUT.with_suffix(".h").read_text() == header
        print("tables are up to date" if same else "tables differ: run tools/unicode/generate.py")
        return 0 if same else 1
    OUT.write_text(text)
    OUT.with_suffix(".h").write_text(header)
    sizes = {"flags": len(stage_f) + 2 * len(data_f), "ccc": len(stage_c) + len(data_c),
             "records": len(stage_r) + 2 * len(data_r) + 8 * len(records), "pool": 4 * len(pool),
             "pairs": 12 * len(pairs)}
    print(sizes, sum(sizes.values()), "bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
