"""What other people's YAML readers make of small documents, and of all documents of the metadata standard.

    python tools/golden/yaml_documents.py

PyYAML's own parser (the one in Python, not libyaml) with the core schema of YAML 1.2.2, section 10.3.2, in the
place of its YAML 1.1 types. Writes tests/golden/yaml/cases.json (name, text and value of each document) and
tests/golden/yaml/standard.json (value of each document below tests/golden/standard). Integers stay integers and
floats are written with a point or an exponent, so that the two can be told apart. Keys are the text of their scalar.

    node tools/golden/yaml_second.mjs

is a second opinion by the npm package `yaml`, which implements YAML 1.2 and shares no code with PyYAML: it lists the
documents that it reads as something else, and there are none. Texts that the two read differently are no cases here;
what our reader does with them is in tests/unit/base_yaml.c.
"""

import re

import common
import yaml

FOLDER = common.GOLDEN / "yaml"
STANDARD = common.GOLDEN / "standard"
PREFIX = "tag:yaml.org,2002:"


class Core(yaml.SafeLoader):
    """SafeLoader whose plain scalars follow the core schema."""

    yaml_implicit_resolvers = {}


def resolve(name, pattern, first):
    Core.add_implicit_resolver(PREFIX + name, re.compile(f"(?:{pattern})\\Z"), first)


resolve("null", "null|Null|NULL|~|", ["n", "N", "~", ""])
resolve("bool", "true|True|TRUE|false|False|FALSE", list("tTfF"))
resolve("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789"))
resolve("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789"))


def integer(loader, node):
    text = loader.construct_scalar(node)
    return int(text[2:], {"0o": 8, "0x": 16}[text[:2]]) if text[:2] in ("0o", "0x") else int(text)


def mapping(loader, node):
    out = {}
    yield out
    for key, value in node.value:
        out[loader.construct_scalar(key)] = loader.construct_object(value, deep=True)


Core.add_constructor(PREFIX + "int", integer)
Core.add_constructor(PREFIX + "float", lambda loader, node: float(loader.construct_scalar(node)))
Core.add_constructor(PREFIX + "bool", lambda loader, node: loader.construct_scalar(node).lower() == "true")
Core.add_constructor(PREFIX + "map", mapping)

PLAIN = """null Null NULL ~ nULL true True TRUE tRUE false False FALSE yes Yes no No on off On OFF y n
0 -0 +0 7 -7 +7 007 -007 08 1_000 1,000 0o17 0o0 0o8 0o -0o7 0O17 0x1F 0xff 0xG 0x -0x1 0X1F 0b11
9223372036854775807 -9223372036854775808 18446744073709551615 18446744073709551616
1000000000000000019884624838656 0xFFFFFFFFFFFFFFFF 0o1777777777777777777777
1.0 1. .5 -.5 +.5 . -. +. -.e1 1.e3 1e3 1E3 1e+3 1e-3 1e 1e+ 1.5e 1.5.2 .5e2 00.5 010.250 -0.0 0.1 6.02e23
1:30 190:20:30.15 2026-01-01 2026-01-01T00:00:00Z 12e03 1e1_0 +1e3 -1.e-2 + - .a a.b 1a 1.2.3 v1.0 1/2 50% $5
=  <1> inf nan Infinity -inf .info .nanx NaN infinity""".split()

CASES = [
    ("plain scalars", "\n".join(f"- {word}" for word in PLAIN if word not in ("-", "+."))),
    ("empty values", "a:\nb: ~\nc: ''\nd: \"\"\ne:\n- \n-\n- x\n"),
    ("root scalar", "just text"),
    ("root number", "12"),
    ("root quoted", '"12"'),
    ("root null", "---\n"),
    ("root null and end", "---\n...\n"),
    ("document marks", "%YAML 1.2\n---\na: 1\n...\n"),
    ("document mark and content", "--- a\n"),
    ("document mark and block scalar", "--- |\n  a\n  b\n"),
    ("comments", "# first\na: 1 # one\n# between\nb: # of b\n  c: 2\n\n\n# last\n"),
    ("no comment", "a: b#c\nd: 'e # f'\ng: h #i\n"),
    ("tag directives", "%TAG !c! tag:yaml.org,2002:\n---\na: !c!str 1\nb: !c!int '2'\n"),
    ("core tags", "a: !!str 1\nb: !!int \"12\"\nc: !!float 1.5\nd: !!bool 'true'\ne: !!null ''\nf: !!seq [1]\n"
                  "g: !!map {a: 1}\nh: !!str\ni: !!null\nj: !!str true\nk: !!int 0x10\n"),
    ("verbatim tag", "a: !<tag:yaml.org,2002:str> 12\n"),
    ("block sequence", "- a\n- b\n-\n  - c\n  - d\n- - e\n  - f\n"),
    ("sequence not indented", "a:\n- 1\n- 2\nb:\n  - 3\n"),
    ("block mapping", "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\nf: 4\n"),
    ("mapping in sequence", "- a: 1\n  b: 2\n- c: 3\n-\n  d: 4\n  e: 5\n"),
    ("sequence in mapping in sequence", "- a:\n  - b: 1\n    c: 2\n  - d\n- e\n"),
    ("explicit keys", "? a\n: 1\n? b\n: - 2\n  - 3\n? c\n"),
    ("explicit block key", "? |\n  a\n: 1\n? >-\n  b\n  c\n: 2\n"),
    ("flow", "{a: 1, b: [x, y, {c: d}], e: {}, f: [], 'g': \"h\"}"),
    ("flow over lines", "a: [\n  1,\n  2,\n  3,\n]\nb: {\n  c: 1,\n  d: 2,\n}\n"),
    ("flow comments", "[ # open\n 1, # one\n 2 # two\n]"),
    ("flow pairs", "[a: 1, b: 2, {c: 3}]"),
    ("flow empty values", "{a, b: , c: ~}"),
    ("flow json", '{"a":1,"b":[true,false,null],"c":{"d":"e"},"f":-1.5e3}'),
    ("flow adjacent", "{\"a\":b, 'c':d}"),
    ("flow plain with colons", "[http://example.com:80/x, a:b, -x, '?y']"),
    ("flow plain lines", "[a\n b,\n c d\n e]"),
    ("flow explicit", "{? a : 1, ? b}"),
    ("json document", '{\n  "name": "x",\n  "list": [1, 2.5, "three"],\n  "none": null\n}\n'),
    ("json escapes", r'"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac"'),
    ("yaml escapes", r'"\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\P\x41\u0042\U00000043\U0001F600"'),
    ("escaped controls", r'"a\x00b\x1f\x7f\x80"'),
    ("escaped line ends", '"a\\\n   b\\\n\\ c"'),
    ("escaped tab", '"a\\\tb"'),
    ("double quoted lines", '"a\n b\n\n c\n\n\n d "'),
    ("double quoted spaces", '" a \n  b "'),
    ("single quoted", "'it''s \\n \"x\"'"),
    ("single quoted lines", "'a\n b\n\n c'"),
    ("quoted words", "['null', \"true\", '12', '0x1', '.inf', '~', '1e3', '']"),
    ("plain lines", "a: b\n  c\n  d\n\n  e\nf: g\n"),
    ("plain with quotes inside", "a: it's \"so\"\nb: x'y'\n"),
    ("plain with indicators inside", "a: b-c\nd: e?f\ng: h:i\nj: k,l\nm: n[o]\np: q{r}\ns: t&u*v!w|x>y%z@`\n"),
    ("plain that begin with a dash", "- -a\n- -1\n- --- x\n- ?b\n- :c\n"),
    ("literal", "a: |\n  one\n   two\n\n  three\nb: 1\n"),
    ("literal strip", "a: |-\n  one\n  two\n\n\nb: 1\n"),
    ("literal keep", "a: |+\n  one\n\n\nb: 1\n"),
    ("literal keep at end", "a: |+\n  one\n\n\n"),
    ("literal indented", "a: |2\n    two more\n  none\n"),
    ("literal indented strip", "a: |1-\n  x\n y\n"),
    ("literal leading break", "a: |\n\n\n  one\n"),
    ("literal empty", "a: |\nb: >\nc: |+\n\nd: |-\n"),
    ("literal with marks", "a: |\n  # no comment\n  - no item\n  {{ x }}: y\n  --- \n  \"q\" 'r' \\n\n"),
    ("literal tabs", "a: |\n  x\ty\n  \tz\n"),
    ("folded", "a: >\n  one\n  two\n\n  three\n   four\n  five\n"),
    ("folded strip", "a: >-\n  one\n  two\n\n\n\n  three\n\n"),
    ("folded keep", "a: >+\n  one\n  two\n\n\nb: 1\n"),
    ("folded more indented", "a: >\n  one\n\n    two\n    three\n\n  four\n  five\n"),
    ("folded list", "a: >\n  text:\n    - x\n    - y\n  end\n"),
    ("folded spaces at ends", "a: >\n  one  \n  two \n"),
    ("folded in sequence", "- >\n a\n b\n- |\n c\n d\n"),
    ("block scalar with comment", "a: | # of a\n  one\n# after\nb: 1\n"),
    ("anchors", "a: &x 1\nb: *x\nc: &y [1, {d: 2}]\ne: *y\nf: &z\n  g: h\ni: *z\n"),
    ("anchor inside an anchor", "a: &o [&i x, *i]\nb: *o\nc: *i\n"),
    ("anchors of nothing", "a: &x\nb: *x\nc: &y ''\nd: *y\n"),
    ("anchor and tag", "a: &x !!str 1\nb: !!str &y 2\nc: [*x, *y]\n"),
    ("anchor of a key", "&k key: 1\nb: *k\n"),
    ("alias as a key", "a: &k name\nb:\n  *k : 1\n"),
    ("anchor before a block", "a: &x\n  - 1\n  - 2\nb: *x\n"),
    ("anchors nest", "a: &a [1]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: {e: *c}\n"),
    ("anchored block scalar", "a: &x |\n  text\nb: *x\n"),
    ("alias of a multi-byte value", "é: &x [ü, {ß: 中}]\nb: *x\n"),
    ("multi-byte", "ключ: значение\n中文: [日本語, 한국어]\nemoji: 😀 tail\n\"\\u00e9\": é\n"),
    ("byte order mark", "\ufeffa: 1\n"),
    ("byte order mark and comment", "\ufeff# c\na: 1\n"),
    ("carriage returns", "a: 1\r\nb: |\r\n  x\r\n  y\r\nc: [1,\r\n 2]\r\n"),
    ("keys of words", "null: 1\ntrue: 2\nfalse: 3\nyes: 4\n12: 5\n-3: 6\n0: 7\n"),
    ("keys quoted", "'a b': 1\n\"c\\td\": 2\n'': 3\n'<<': 4\n'0x10': 5\n'~': 6\n"),
    ("keys with signs", "a/b: 1\nc~d: 2\n'e:f': 3\ng h: 4\n-i: 5\n$j: 6\n(k): 7\n"),
    ("merge sign as a value", "a: <<\nb: [<<, =]\n"),
    ("deep", "a:\n" + "".join("  " * (i + 1) + f"k{i}:\n" for i in range(40)) + "  " * 41 + "end: 1\n"),
    ("deep flow", "[" * 60 + "1" + "]" * 60),
    ("wide", "{" + ", ".join(f"k{i}: {i}" for i in range(300)) + "}"),
    ("spaces at line ends", "a:   1   \nb: 'x'  \nc:  [ 1 , 2 ]  \n"),
    ("blank lines", "\n\na: 1\n\n\n\nb:\n\n  c: 2\n\n"),
    ("indentation of one", "a:\n b:\n  c: 1\n"),
    ("indentation of many", "a:\n          b: 1\n          c: 2\n"),
    ("strings that look like marks", "- '- a'\n- '# b'\n- 'c: d'\n- '[e]'\n- '{f}'\n- '&g'\n- '*h'\n- '!i'\n- '%j'\n- '@k'\n"),
    ("percent inside", "a: 50%\nb:\n  c: d%e\n"),
    ("long plain", "a: " + " ".join(f"word{i}" for i in range(400)) + "\n"),
    ("long quoted", "a: '" + "x" * 5000 + "'\n"),
    ("numbers that floats lose", "[9007199254740993, 123456789012345678901234567890, 0.30000000000000004, 1e22, 1e23]"),
    ("numbers near the ends", "[1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 1e-400]"),
    ("prompt templates", "prompts:\n  query: 'query: '\n  passage: \"passage: \"\nchat: |-\n  {%- for m in messages %}\n"
                         "  {{- '<|' + m.role + '|>' }}\n  {%- endfor %}\n"),
    ("versions", "a: 1.0\nb: '1.0'\nc: 1.0.0\nd: v1\ne: 1\n"),
    ("special tokens", "- <s>\n- </s>\n- <|im_end|>\n- '[CLS]'\n- <pad>\n"),
    ("paths", "- onnx/model.onnx\n- ./a\n- ../b\n- C:\\x\n- a\\b\n- ~/x\n"),
    ("shapes", "shape: [batch, 'seq + 1', 768, -1]\ndtype: float16\n"),
]


def load(text):
    return yaml.load(text, Loader=Core)


def main():
    assert len({name for name, _ in CASES}) == len(CASES)
    certificate = common.certificate(
        __file__, None, common.digest_json(CASES), ("PyYAML",),
        note="yaml 2.9.1 (npm) reads every document as the same value: tools/golden/yaml_second.mjs")
    cases = [{"name": name, "text": text, "value": load(text)} for name, text in CASES]
    FOLDER.mkdir(parents=True, exist_ok=True)
    common.write_json(FOLDER / "cases.json", {"certificate": certificate, "cases": cases})
    documents = sorted(STANDARD.rglob("*.yaml"))
    certificate = common.certificate(
        __file__, None, common.digest_files(documents, STANDARD), ("PyYAML",),
        note="yaml 2.9.1 (npm) reads every document as the same value: tools/golden/yaml_second.mjs")
    values = {p.relative_to(STANDARD).as_posix(): load(p.read_text(encoding="utf-8")) for p in documents}
    common.write_json(FOLDER / "standard.json", {"certificate": certificate, "documents": values})


if __name__ == "__main__":
    main()
