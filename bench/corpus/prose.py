"""English prose, Markdown and code by a grammar over real words with their real frequencies.

What matters to a WordPiece tokenizer and to an encoder is kept: the share of common, rare and
composed words, numbers, punctuation, capitals and identifiers. Meaning is not.
"""

import bisect
import pathlib

HERE = pathlib.Path(__file__).resolve().parent


class Words:
    """Words drawn by frequency; one in twenty evenly over the list, so that rare ones appear."""

    def __init__(self, path=HERE / "words.txt"):
        self.words, self.sums, total = [], [], 0
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            word, count = line.split()
            total += int(count)
            self.words.append(word)
            self.sums.append(total)
        self.total = total

    def draw(self, rng):
        if rng.chance(5):
            return rng.pick(self.words)
        return self.words[bisect.bisect_right(self.sums, rng.below(self.total))]

    def rare(self, rng):
        return self.words[rng.between(800, len(self.words) - 1)]


class Writer:
    def __init__(self, rng, words=None):
        self.rng = rng
        self.words = words or Words()

    def number(self):
        r = self.rng
        return r.pick([
            lambda: str(r.below(10)),
            lambda: str(r.below(1000)),
            lambda: f"{r.below(100)}.{r.below(100):02d}",
            lambda: f"{r.between(1, 999)},{r.below(1000):03d}",
            lambda: f"{r.below(100)}%",
            lambda: f"${r.below(900)}.{r.below(100):02d}",
            lambda: f"{r.between(1990, 2026)}",
            lambda: f"{r.between(1, 12)}/{r.between(1, 28)}/{r.between(1990, 2026)}",
            lambda: f"v{r.below(9)}.{r.below(20)}.{r.below(30)}",
            lambda: f"0x{r.below(1 << 32):08x}",
        ])()

    def identifier(self):
        r = self.rng
        parts = [self.words.draw(r).replace("'", "") for _ in range(r.between(1, 3))]
        style = r.below(4)
        if style == 0:
            return "_".join(parts)
        if style == 1:
            return parts[0] + "".join(p.title() for p in parts[1:])
        if style == 2:
            return "".join(p.title() for p in parts)
        return "_".join(parts).upper() if r.chance(20) else "-".join(parts)

    def token(self):
        r = self.rng
        roll = r.below(1000)
        if roll < 25:
            return self.number()
        if roll < 45:
            return self.words.rare(r).title()
        if roll < 55:
            return self.words.draw(r).upper()
        if roll < 70:
            return self.words.draw(r) + "-" + self.words.draw(r)
        if roll < 80:
            return f'"{self.words.draw(r)} {self.words.draw(r)}"'
        if roll < 88:
            return f"({self.words.draw(r)} {self.words.draw(r)})"
        return self.words.draw(r)

    def sentence(self, count=None):
        r = self.rng
        count = count or r.between(4, 28)
        out = [self.token() for _ in range(count)]
        for i in range(2, count - 1):
            if r.chance(7):
                out[i] += r.pick([",", ",", ",", ";", ":", " -"])
        text = " ".join(out)
        return text[:1].upper() + text[1:] + r.pick([".", ".", ".", ".", ".", ".", "?", "!", "..."])

    def paragraph(self, sentences):
        return " ".join(self.sentence() for _ in range(sentences))

    def code(self, lines):
        r = self.rng
        out = []
        for _ in range(lines):
            a, b, c = self.identifier(), self.identifier(), self.identifier()
            a, b, c = (x.replace("-", "_") for x in (a, b, c))
            out.append(r.pick([
                lambda: f"def {a}({b}, {c}={r.below(100)}):",
                lambda: f"    return {a}.{b}({c})[{r.below(10)}]",
                lambda: f"    if ({a} != NULL && {b} >= {r.below(4096)}) {{",
                lambda: f"for (int i = 0; i < {a}; i++) {b}[i] += {c}(i, {r.below(10)});",
                lambda: f"const {a} = await {b}.{c}({{ {a}: '{self.words.draw(r)}' }});",
                lambda: f"import {a}.{b} as {c}",
                lambda: f"    # {self.sentence(r.between(3, 9))}",
                lambda: f"#define {a.upper()} (({b}) << {r.below(32)})",
                lambda: f'    fprintf(stderr, "%s: {self.words.draw(r)} %d\\n", {a}, {b});',
                lambda: f"$ {a} --{b}={r.below(1000)} | grep -v {c} > /{a}/{b}.txt",
            ])())
        return "\n".join(out)

    def markdown(self, blocks):
        r = self.rng
        out = []
        for _ in range(blocks):
            out.append(r.pick([
                lambda: "#" * r.between(1, 4) + " " + self.sentence(r.between(2, 6)).rstrip(".?!"),
                lambda: "\n".join(f"{r.pick('-*+')} {self.sentence(r.between(3, 12))}" for _ in range(r.between(2, 5))),
                lambda: f"See [{self.words.draw(r)} {self.words.draw(r)}](https://example.org/{self.identifier()}) "
                        f"and `{self.identifier()}`; **{self.words.draw(r)}** is _{self.words.draw(r)}_.",
                lambda: "```\n" + self.code(r.between(1, 4)) + "\n```",
                lambda: f"| {self.words.draw(r)} | {self.words.draw(r)} |\n|---|---:|\n| {self.identifier()} | {self.number()} |",
                lambda: "> " + self.sentence(),
                lambda: self.paragraph(r.between(1, 3)),
            ])())
        return "\n\n".join(out)
