"""Which keys of genai_config.json onnxruntime-genai accepts, found by offering it each name in each object.

    python tools/golden/genai_keys.py        makes tests/golden/genai/keys.json again (some minutes)

The library's reader is strict: it says "Unknown value" for a name that an object does not have and "Expected
a number" for one that it has with another type. The names that are offered stand in the library's own file
near one that is known to be a key, or in its model builder. `keys` maps an object (positions in lists left
out, * for any name) to its keys with the JSON types that were taken ("value": the type was right and the
value was not); `refused` lists names that are known to the library and no key any more, with its reason.
"""

import importlib.resources
import json
import pathlib
import re
import shutil
import tempfile

import common
import onnxruntime_genai as library

WORD = re.compile(rb"[a-z][a-z0-9_]{1,50}")
MARK, NEAR = b"past_present_share_buffer\0", 48 << 10
VALUES = {"object": {}, "array": [], "string": "x", "number": 1, "bool": True}
# Objects that are written out once: further ones of the same kind have the same keys.
SAME = re.compile(r"/(session_options|run_options|shared_initializers)$")
DEEPEST = 7


def candidates():
    root = pathlib.Path(importlib.resources.files(library))
    names = set()
    data = (root / "libonnxruntime-genai.so").read_bytes()
    at = data.index(MARK)
    for piece in data[max(0, at - NEAR) : at + NEAR].split(b"\0"):
        if WORD.fullmatch(piece):
            names.add(piece.decode())
    for file in (root / "models").rglob("*.py"):
        names.update(w.decode() for w in re.findall(rb'"([a-z][a-z0-9_]{1,50})"', file.read_bytes()))
    # Short names are compared as numbers by compiled code and do not stand in it as text.
    names.update("model type search engine decoder encoder vision speech joiner vad mtp draft inputs outputs logits top_k "
                 "top_p layers kind name shape offset length pipeline filename encoded scores enabled config_filename "
                 "adapter_filename output_names_forwarder static_batching threshold".split())
    return sorted(names)


class Asker:
    def __init__(self, folder):
        self.folder = folder

    def complaint(self, path, value):
        """What the reader says of a value at a path; "" when it reads on."""
        for name in reversed(path):
            value = [value] if name == "[]" else {name: value}
        (self.folder / "genai_config.json").write_text(json.dumps(value))
        try:
            library.Config(str(self.folder))
        except Exception as error:
            text = str(error)
            if text.startswith("Error encountered while parsing"):
                return text.split("JSON Error: ", 1)[-1].rsplit(" at line ", 1)[0]
        return ""


def known(asker, path, name):
    """None when the object has no such key; else the types taken and the last complaint."""
    types, said, unknown = [], "", True
    for kind, value in VALUES.items():
        if not path and kind in ("string", "number", "bool"):
            continue  # the root takes any name with a plain value, and reads on
        complaint = asker.complaint([*path, name], value)
        if f'Unknown value "{name}"' in complaint:
            continue
        unknown = False
        if not complaint:
            types.append(kind)
        elif "Expected" not in complaint or not said:
            said = complaint
    return None if unknown else (types, said)


def walk(asker, names, path, shown, keys, refused):
    if len(path) > DEEPEST or shown in keys:
        return
    free = [kind for kind, value in VALUES.items() if path and not asker.complaint([*path, "no such name"], value)]
    if free:
        keys[shown] = {"*": free}
        if "object" in free:
            walk(asker, names, [*path, "stage"], shown + "/*", keys, refused)
        return
    keys[shown] = {}
    for name in names:
        found = known(asker, path, name)
        if not found:
            continue
        if found[0]:
            keys[shown][name] = found[0]
        elif "no longer supported" in found[1]:
            refused[f"{shown}/{name}"] = found[1]
        else:
            keys[shown][name] = ["value"]  # of the right type, and not the one that was offered
    for name, types in list(keys[shown].items()):
        below = f"{shown}/{name}"
        if SAME.search(below) and below.count("/") > 3 or below == "/runtime_profiles":
            continue
        if "object" in types:
            walk(asker, names, [*path, name], below, keys, refused)
        elif "array" in types and not asker.complaint([*path, name, "[]"], {}):
            walk(asker, names, [*path, name, "[]"], below, keys, refused)


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    names, keys, refused = candidates(), {}, {}
    try:
        walk(Asker(folder), names, [], "", keys, refused)
    finally:
        shutil.rmtree(folder)
    common.write_json(
        common.GOLDEN / "genai" / "keys.json",
        {
            **common.certificate(__file__, None, common.digest_json(names), ["onnxruntime-genai"]),
            "keys": {k or "/": v for k, v in keys.items()},
            "refused": refused,
        },
    )


if __name__ == "__main__":
    main()
