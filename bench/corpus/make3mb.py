#!/usr/bin/env python3
"""The tokenizer bench's corpus: 3 MB of English, Markdown and code found on a Debian machine.

    python3 bench/corpus/make3mb.py [OUT.txt]

One text a line, about a third of each kind: licences and manuals, Markdown and reStructuredText
documentation, and Python's own library. Prints the path. What a machine does not have is made up
for by the other kinds and, at the last, by generated text, so the size is always 3 MB; the digest
and the mix go to stderr, because two machines need not have the same files. Comparisons hold
within one machine and one file.
"""

import hashlib
import os
import pathlib
import sys
import sysconfig

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from prng import SplitMix
from prose import Writer

SIZE = 3_000_000
KINDS = {
    "english": [("/usr/share/common-licenses", ("",)), ("/usr/share/doc", (".txt", "README", "copyright"))],
    "markdown": [("/usr/share/doc", (".md", ".rst")), ("/usr/share", (".md", ".rst")), ("/usr/lib", (".md",))],
    "code": [(sysconfig.get_paths()["stdlib"], (".py",)), ("/usr/include", (".h",))],
}


def files(kind):
    for root, endings in KINDS[kind]:
        for folder, folders, names in os.walk(root):
            folders.sort()
            if "site-packages" in folder or "dist-packages" in folder:
                continue
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(endings) and not os.path.islink(path) and os.path.isfile(path):
                    yield path


def paragraphs(path):
    """Blocks of a file, joined to single lines of up to 2,000 characters."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return
    for block in text.replace("\r", "").split("\n\n"):
        line = block.replace("\n", " ").strip()
        for start in range(0, len(line), 2000):
            if len(line) - start > 20:
                yield line[start : start + 2000]


def take(kind, size):
    """Lines of one kind, no line twice, spread over files: at most 40 KB of each."""
    out, used, seen = [], 0, set()
    for path in files(kind):
        share = 0
        for line in paragraphs(path):
            if share > 40_000 or line in seen:
                continue
            cost = len(line.encode()) + 1
            if used + cost > size:
                return out, used
            seen.add(line)
            out.append(line)
            used += cost
            share += cost
    return out, used


def generated(size):
    rng = SplitMix(3)
    writer = Writer(rng)
    out, used = [], 0
    while used < size:
        line = (writer.paragraph(3) if rng.chance(60) else writer.markdown(1) if rng.chance(50) else
                writer.code(4)).replace("\n", " ")
        out.append(line)
        used += len(line.encode()) + 1
    return out, used


def default_path():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(cache) / "tenon" / "bench" / "corpus-3mb.txt"


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default_path()
    lines, mix = [], {}
    for kind in KINDS:
        found, used = take(kind, SIZE // len(KINDS))
        lines += found
        mix[kind] = used
    missing = SIZE - sum(mix.values())
    if missing > 10_000:
        made, mix["generated"] = generated(missing)
        lines += made
    rng = SplitMix(1)
    for i in range(len(lines) - 1, 0, -1):
        j = rng.below(i + 1)
        lines[i], lines[j] = lines[j], lines[i]
    data = ("\n".join(lines) + "\n").encode()
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.with_name(out.name + f".{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(out)
    print(f"{len(data)} bytes, {len(lines)} lines, sha256 {hashlib.sha256(data).hexdigest()[:16]}, {mix}",
          file=sys.stderr)
    print(out)


if __name__ == "__main__":
    main()
