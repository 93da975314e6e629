#!/usr/bin/env python3
"""Holds the document tables against an independent JSON Schema validator.

    tests/parity/schema.py --build build [--count 2000] [--only WORD]

For the inference-metadata standard and the execution hints, three verdicts on every document:

    published   the schema that the proposal publishes (tests/golden/standard)
    printed     the schema that our tables print
    checked     our checker in C

on all samples, on documents generated from the published schema (every definition is reached), and on
mutations of both, all from one seed. `printed` and `checked` must always agree with the published
schema plus the amendments below. A document on which they differ from the schema as published must
be explained by an amendment, and each amendment must have explained one: a reason that explains
nothing is a mistake in this list.

And the command: its schemas are valid and always the same, what it prints validates under them, and
what it describes validates under the schema that the proposal publishes.
"""

import argparse
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import yaml
from jsonschema import Draft202012Validator

STANDARD = pathlib.Path(__file__).resolve().parents[1] / "golden" / "standard"
SEED = 8184
WIDTHS = {
    "uint": (0, 2**64 - 1),
    "uint64": (0, 2**64 - 1),
    "uint32": (0, 2**32 - 1),
    "uint16": (0, 2**16 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
}
FLOAT_MAX = 3.4028234663852886e38


# ---- amendments -----------------------------------------------------------------------------------


def walk(schema, visit):
    """Every schema below; what `properties` and `$defs` hold are names, not keywords."""
    if isinstance(schema, dict):
        visit(schema)
        for key, value in list(schema.items()):
            named = key in ("properties", "$defs")
            walk(list(value.values()) if named else value, visit)
    elif isinstance(schema, list):
        for value in schema:
            walk(value, visit)


def close(schema):
    """An object that lists its members takes no others."""

    def visit(node):
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)

    walk(schema, visit)


def widths(schema):
    """A number fits the width that it is declared with; the format alone is an annotation."""

    def visit(node):
        low, high = WIDTHS.get(node.get("format"), (None, None))
        if low is not None:
            node["minimum"] = max(low, node.get("minimum", low))
            node["maximum"] = high
        if node.get("format") == "float":
            node["minimum"] = max(-FLOAT_MAX, node.get("minimum", -FLOAT_MAX))
            node["maximum"] = FLOAT_MAX

    walk(schema, visit)
    # An integer that does not fit is still a number.
    scalar = schema.get("$defs", {}).get("ScalarValue")
    if scalar:
        scalar["anyOf"] = [x for x in scalar["anyOf"] if x.get("type") != "integer"]


STATED = {"not": {"type": "null"}}


def null_beside_workflow(schema):
    """model.io beside a workflow: a null is no statement, neither of a model, nor of ports, nor of a workflow."""
    if "pipeline" not in schema["properties"]:
        return
    io = {"type": "object", "required": ["io"], "properties": {"io": STATED}}
    schema["allOf"] = [
        {"not": {"required": ["pipeline", "model"], "properties": {"pipeline": STATED, "model": io}}}
    ]


def null_group(schema):
    """Grouped expert selection needs its three members stated, and null states nothing."""
    router = schema["$defs"].get("MoERouterSpec")
    if router:
        then = router["allOf"][0]["then"]
        then["properties"] = {name: STATED for name in then["required"]}


def one_version(schema):
    """Only the version that the schema describes is read by it."""
    if "schema_version" in schema["properties"]:
        schema["properties"]["schema_version"] = {"enum": ["v1", "1.0", None]}


ELEMENT_TYPES = (
    "float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32 uint64 complex64 complex128 bfloat16 "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz uint4 int4 float4_e2m1 float8_e8m0 uint2 int2 float6_e2m3 "
    "float6_e3m2 fp32 fp64 double fp16 half bf16 fp8_e4m3fn float8_e4m3 fp8_e4m3 fp8_e5m2"
).split()


def element_types(schema):
    """An element type is one that graphs have."""
    for name in ("TensorDType", "DType"):
        if name in schema["$defs"]:
            schema["$defs"][name] = {"enum": ELEMENT_TYPES}


def names(schema):
    """What refers to something, or is referred to, has a name. Texts for people and tokens may be empty."""
    free = {
        "ScalarValue": None, "AdapterProvenance": None, "DecodingVocabulary": {"tokens", "ignored_tokens", "word_delimiter"},
        "PlacementHint": {"reason"}, "MemoryHint": {"reason"}, "SchedulingHint": {"reason"},
    }  # fmt: skip

    def visit(node):
        kind = node.get("type")
        if kind == "string" or isinstance(kind, list) and "string" in kind:
            node["minLength"] = 1
        if isinstance(node.get("additionalProperties"), dict):
            node["propertyNames"] = {"minLength": 1}

    kept = copy.deepcopy(schema)
    walk(schema, visit)
    for name, members in free.items():
        if name not in schema["$defs"]:
            continue
        if members is None:
            schema["$defs"][name] = kept["$defs"][name]
            continue
        for member in members:
            schema["$defs"][name]["properties"][member] = kept["$defs"][name]["properties"][member]
    # The cases of a branch go by values of its predicate.
    for case in cases_of(schema):
        case.pop("propertyNames", None)


def cases_of(schema):
    found = []

    def visit(node):
        cases = node.get("properties", {}).get("cases")
        if isinstance(cases, dict):
            found.append(cases)

    walk(schema, visit)
    return found


AMENDMENTS = {
    "open objects are closed": close,
    "numbers fit their width": widths,
    "null beside a workflow is absence": null_beside_workflow,
    "null is no group member": null_group,
    "other versions are refused": one_version,
    "element types are known ones": element_types,
    "names are not empty": names,
}
NOT_FOR_HINTS = {
    "numbers fit their width",
    "null beside a workflow is absence",
    "null is no group member",
    "other versions are refused",
    "element types are known ones",
}


def plain_integers(schema):
    """The hints state no widths; ours hold them in 64 bits."""

    def visit(node):
        if node.get("type") == "integer":
            node["maximum"] = 2**64 - 1

    walk(schema, visit)


# ---- documents ------------------------------------------------------------------------------------


class Generator:
    """Random documents that a schema accepts. Small on purpose; depth ends at what is required."""

    def __init__(self, schema, rng):
        self.schema, self.rng = schema, rng
        self.seen = set()

    def resolve(self, node):
        while "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[1]
            self.seen.add(name)
            node = self.schema["$defs"][name]
        return node

    def value(self, node, depth=0):
        node = self.resolve(node)
        rng = self.rng
        for union in ("oneOf", "anyOf"):
            if union in node:
                choices = [x for x in node[union] if x != {"type": "null"}] if depth < 11 else node[union][-1:]
                known = [x for x in choices if "not" not in x]
                choice = dict(rng.choice(known if known and rng.random() < 0.8 else choices))
                if "not" in choice:
                    return "extension_" + str(rng.randrange(9))
                return self.value(choice, depth)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return rng.choice([x for x in node["enum"]])
        kind = node.get("type")
        if isinstance(kind, list):
            kind = kind[0]
        if kind == "object":
            return self.object(node, depth)
        if kind == "array":
            count = node.get("minItems", 0) + (rng.randrange(3) if depth < 11 else 0)
            items = [self.value(node["items"], depth + 1) for _ in range(count)]
            return list(dict.fromkeys(items)) if node.get("uniqueItems") else items
        if kind == "integer":
            return node.get("minimum", 0) + rng.randrange(5)
        if kind == "number":
            return rng.choice([0.5, 1, 2.25])
        if kind == "boolean":
            return rng.random() < 0.5
        return rng.choice(["a", "b", "value"]) + str(rng.randrange(4))

    def object(self, node, depth):
        out = {}
        required = node.get("required", [])
        chance = 0.6 if depth < 3 else 0.35 if depth < 11 else 0
        for name, member in node.get("properties", {}).items():
            if name in required or self.rng.random() < chance:
                out[name] = self.value(member, depth + 1)
        extra = node.get("additionalProperties")
        if isinstance(extra, dict) and (depth < 11):
            for i in range(self.rng.randrange(3)):
                out["entry" + str(i)] = self.value(extra, depth + 1)
        if node.get("minProperties", 0) > len(out):
            name = self.rng.choice(list(node["properties"]))
            out[name] = self.value(node["properties"][name], depth + 1)
        return out


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, path + (key,))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, path + (index,))


JUNK = [
    None, True, False, 0, 1, -1, 3, 1.0, 1.5, -0.5, 70000, 2**32, 2**63, 2**64, -(2**31) - 1, 1e39, "", "x",
    "append", "ctc", "v1", "v2", "float32", [], ["a"], ["a", "a"], [1], {}, {"kind": "shared"}, {"a": "b"}, [[]],
]  # fmt: skip
NAMES = ["kind", "io", "axis", "inputs", "extension", "dtype", "name", "x", "default", "$schema", "Kind", ""]


def mutate(document, rng):
    document = copy.deepcopy(document)
    path = rng.choice(list(places(document))[1:] or [()])
    if not path:
        return rng.choice(JUNK)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    key = path[-1]
    how = rng.randrange(6)
    if how == 0:
        del parent[key]
    elif how == 1 and isinstance(parent, dict):
        parent[rng.choice(NAMES) if rng.random() < 0.5 else key + rng.choice("s_x")] = copy.deepcopy(rng.choice(JUNK))
    elif how == 2 and isinstance(parent, dict):
        parent[key[:-1] or "y"] = parent.pop(key)
    elif how == 3 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif how == 4 and isinstance(parent[key], (dict, list)):
        parent[key] = type(parent[key])()
    else:
        parent[key] = copy.deepcopy(rng.choice(JUNK))
    return document


def special(published):
    """Documents that random ones seldom become."""
    if "pipeline" not in published["properties"]:
        return
    workflow = {"workflow": {"components": {}, "manifest": {}, "steps": []}}
    router = {
        "normalize_weights": True, "scaling_factor": 1, "score_function": "softmax",
        "selection_method": "grouped_top_k", "group_count": 1, "groups_per_token": 1, "group_score": "maximum",
    }  # fmt: skip
    moe = {
        "activation": "silu", "expert_intermediate_size": 1, "experts_per_token": 1, "representation": "moe",
        "routed_expert_count": 1, "shared_expert_count": 0, "shared_expert_intermediate_size": 0,
    }  # fmt: skip
    for pipeline in (workflow, None):
        for model in ({}, None, {"io": None}, {"io": {}}, {"io": {"token_input": "ids"}}):
            yield {"pipeline": pipeline, "model": model}
    for name in ("group_count", "groups_per_token", "group_score"):
        for value in (None, "absent"):
            changed = dict(router, **{name: value})
            if value == "absent":
                del changed[name]
            yield {"model": {"mixture_of_experts": dict(moe, router=changed)}}
    for version in ("v1", "1.0", "v2", "1", "", None, 1.0):
        yield {"schema_version": version}


# ---- the comparison -------------------------------------------------------------------------------


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, good, detail=""):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok   ' if good else 'FAIL '} {name}  {detail}".rstrip(), flush=True)


def generate(schema, rng, count):
    """`count` documents, and as many more as it takes to pass through every definition."""
    generator = Generator(schema, rng)
    text = json.dumps(schema)
    # What nothing refers to cannot be reached by any document.
    missing = {x for x in schema.get("$defs", {}) if f'"#/$defs/{x}"' in text}
    documents = []
    for turn in range(20000):
        generator.seen = set()
        document = generator.value(schema)
        if document.get("schema_version"):
            document["schema_version"] = rng.choice(["v1"] * 6 + ["1.0", "v2"])
        if document.get("model") and "pipeline" in document and rng.random() < 0.9:
            document["model"].pop("io", None)
        if turn < count or generator.seen & missing:
            documents.append(document)
            missing -= generator.seen
        elif not missing:
            break
    return documents, missing


def checked(tool, name, documents):
    lines = "\n".join(json.dumps(x) for x in documents) + "\n"
    done = subprocess.run([tool, name], input=lines.encode(), capture_output=True, check=True)
    return done.stdout.decode().splitlines()


def printed_schema(tool, name):
    first, second = (subprocess.run([tool, name, "--schema"], capture_output=True, check=True).stdout for _ in "ab")
    return json.loads(first), first == second


def compare(report, tool, name, published, base, count):
    rng = random.Random(SEED)
    printed, same = printed_schema(tool, name)
    report.check(f"{name}: printed twice alike", same)
    try:
        Draft202012Validator.check_schema(printed)
        report.check(f"{name}: the printed schema is draft 2020-12", True)
    except Exception as error:
        report.check(f"{name}: the printed schema is draft 2020-12", False, str(error)[:200])

    amendments = {k: v for k, v in AMENDMENTS.items() if name != "hints" or k not in NOT_FOR_HINTS}
    if name == "hints":
        amendments["numbers have 64 bits"] = plain_integers
    amended = copy.deepcopy(published)
    single = {}
    for why, change in amendments.items():
        change(amended)
        alone = copy.deepcopy(published)
        change(alone)
        single[why] = Draft202012Validator(alone)
    as_published, as_amended, ours = (Draft202012Validator(x) for x in (published, amended, printed))

    for title, document in base.items():
        report.check(f"{name}: {title} validates under the printed schema", ours.is_valid(document))

    generated, missing = generate(published, rng, max(20, count // 10))
    report.check(f"{name}: generated documents reach every definition", not missing, ", ".join(sorted(missing)))

    documents = list(base.values()) + generated + list(special(published))
    seeds = sorted(documents, key=lambda x: len(json.dumps(x)))
    small = seeds[: max(1, len(seeds) * 3 // 4)]
    documents += [mutate(rng.choice(small if rng.random() < 0.9 else seeds), rng) for _ in range(count)]

    verdicts = checked(tool, name, documents)
    reasons = dict.fromkeys(amendments, 0)
    wrong = []
    refused = 0
    for document, verdict in zip(documents, verdicts, strict=True):
        right = as_amended.is_valid(document)
        refused += not right
        if ours.is_valid(document) != right or (verdict == "ok") != right:
            wrong.append((document, verdict, right, ours.is_valid(document)))
        if as_published.is_valid(document) == right:
            continue
        explained = [why for why, validator in single.items() if validator.is_valid(document) == right]
        if not explained:
            wrong.append((document, verdict, right, "nothing explains the difference"))
        for why in explained:
            reasons[why] += 1
    report.check(
        f"{name}: three verdicts agree on {len(documents)} documents",
        not wrong,
        f"{refused} refused" if not wrong else json.dumps(wrong[0])[:1500],
    )
    for why, times in reasons.items():
        report.check(f"{name}: differs from the published schema: {why}", times > 0, f"{times} times")


# ---- the command ----------------------------------------------------------------------------------

NAMES = ("description", "package", "hints", "plan", "record", "error")
PACKAGES = ("bert_mean_normalize", "bert_dense_chain", "bert_prompt_excluded", "bert_mlm_head")


def command(report, tenon, published):
    def run(*words):
        done = subprocess.run([tenon, *map(str, words)], capture_output=True)
        return done.returncode, done.stdout

    schemas = {}
    for name in NAMES:
        first, second = run("schema", name, "--json"), run("schema", name, "--json")
        report.check(f"command: schema {name} is printed twice alike", first == second and first[0] == 0)
        schemas[name] = json.loads(first[1])
        try:
            Draft202012Validator.check_schema(schemas[name])
            good = True
        except Exception:
            good = False
        report.check(f"command: schema {name} is draft 2020-12", good)

    def validates(what, name, document):
        problems = [x.json_path + " " + x.message[:200] for x in Draft202012Validator(schemas[name]).iter_errors(document)]
        report.check(f"command: {what}", not problems, "; ".join(problems[:3]))

    packages = STANDARD.parent / "packages"
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            path = packages / package
            _, out = run("plan", path, "--task", "embedding.dense", "--json")
            validates(f"plan of {package}", "plan", json.loads(out))
            target = pathlib.Path(folder) / package
            code, out = run("describe", path, "--output", target, "--format", "json", "--provenance", "--json")
            if code:
                report.check(f"command: describe {package}", False, out.decode()[:300])
                continue
            metadata = json.loads((target / "inference_metadata.json").read_text())
            validates(f"description of {package}", "description", metadata)
            report.check(
                f"command: description of {package}, under the published schema",
                Draft202012Validator(published).is_valid(metadata),
            )
            validates(f"content of {package}", "package", json.loads((target / "tenon_package.json").read_text()))
        state = pathlib.Path(folder) / "state"
        golden = STANDARD.parent / "embed" / (PACKAGES[0] + ".json")
        words = ("--task", "embedding.dense", "--golden", golden, "--state-dir", state, "--json")
        _, out = run("qualify", packages / PACKAGES[0], *words)
        record = json.loads(out)
        validates("record of a qualification", "record", record)
        _, out = run("records", "show", record["id"], "--state-dir", state, "--json")
        validates("record from the store", "record", json.loads(out))
        _, out = run("plan", pathlib.Path(folder) / "nowhere", "--json")
        validates("error of a missing package", "error", json.loads(out))
        _, out = run("plan", "--json")
        validates("error of a command line", "error", json.loads(out))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    report = Report()
    doccheck = f"{options.build}/tests/doccheck"
    standard = json.loads((STANDARD / "inference_metadata.schema.json").read_text())
    base = {
        str(path.relative_to(STANDARD)): yaml.safe_load(path.read_text())
        for path in sorted(STANDARD.glob("*/**/*.yaml"))
    }
    if options.only in "description":
        compare(report, doccheck, "description", standard, base, options.count)
    hints = json.loads((STANDARD / "execution_hints.schema.json").read_text())
    if options.only in "hints":
        compare(report, doccheck, "hints", hints, {}, options.count)
    if options.only in "command":
        command(report, f"{options.build}/tenon", standard)
    print(f"{report.passed} passed, {report.failed} failed, 0 skipped")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
