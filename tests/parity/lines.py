"""Varied texts for the parity checks, the same on every machine and in every Python.

`lines()` gives 10,000 single lines for tokenizer parity; `texts()` gives 300 texts for embedding
parity, with the empty one, blanks, line breaks and inputs far beyond the model's length among
them. `python3 tests/parity/lines.py OUT` writes the lines.
"""

import pathlib
import sys
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "corpus"))
from prng import SplitMix
from prose import Words, Writer

SEED = 1729
LINES = 10_000
TEXTS = 300

# Everyday words and phrases; what counts is the script, not what they say.
SCRIPTS = {
    "cyrillic": "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440 \u043a\u043d\u0438\u0433\u0430 \u0401\u043b\u043a\u0430 \u044d\u0442\u043e\u0442 \u0439\u043e\u0433\u0443\u0440\u0442 \u0407\u0436\u0430\u043a \u0462\u0434\u0430",
    "greek": "\u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03ba\u03cc\u03c3\u03bc\u03b5 \u039f\u0394\u039f\u03a3 \u0386\u03bd\u03b8\u03c1\u03c9\u03c0\u03bf\u03c2 \u1f00\u03c1\u03c7\u1f74 \u03bb\u03cc\u03b3\u03bf\u03c2",
    "han": "\u4f60\u597d\u4e16\u754c \u4eca\u5929\u5929\u6c14\u5f88\u597d \u6a5f\u68b0\u5b78\u7fd2 \u4e2d\u56fd\u4eba\u6c11 \u8b80\u66f8 \u3400\u4e02 \U00020bb7\u91ce\u5bb6",
    "japanese": "\u3053\u3093\u306b\u3061\u306f \u4e16\u754c \u30c7\u30fc\u30bf\u30d9\u30fc\u30b9 \u304c\u3063\u3053\u3046 \u304b\u3099 \uff76\uff9e\uff77\uff9e \u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3067\u3059\u3002",
    "hangul": "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4 \ud55c\uad6d\uc5b4 \ubb38\uc7a5 \uac01\ub0e5 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "arabic": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0643\u062a\u0627\u0628\u064c \u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f \u0667\u0668\u0669 \u061f \u0622\u0623\u0625 \ufefb",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd \u05e1\u05e4\u05e8 \u05d0\u05be\u05d1",
    "devanagari": "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093f\u0924\u093e\u092c \u0958\u0932\u092e \u0967\u0968\u0969 \u0964",
    "bengali": "\u09a8\u09ae\u09b8\u09cd\u0995\u09be\u09b0 \u09ac\u09bf\u09b6\u09cd\u09ac \u09ac\u09be\u0982\u09b2\u09be \u09ac\u0987 \u09dc\u09be",
    "tamil": "\u0bb5\u0ba3\u0b95\u0bcd\u0b95\u0bae\u0bcd \u0b89\u0bb2\u0b95\u0bae\u0bcd \u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0b95\u0bca \u0b94",
    "thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e01\u0e33\u0e25\u0e31\u0e07 \u0e51\u0e52\u0e53",
    "georgian": "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0 \u10db\u10e1\u10dd\u10e4\u10da\u10d8\u10dd \u1c92\u1c90",
    "armenian": "\u0532\u0561\u0580\u0565\u0582 \u0561\u0577\u056d\u0561\u0580\u0570 \u0587 \u055c",
    "ethiopic": "\u1230\u120b\u121d \u12d3\u1208\u121d \u1218\u133d\u1210\u134d \u1361\u1362",
    "tibetan": "\u0f56\u0f7c\u0f51\u0f0b\u0f61\u0f72\u0f42 \u0f42\u0f73 \u0f0d",
    "myanmar": "\u1019\u1004\u103a\u1039\u1002\u101c\u102c\u1015\u102b \u1000\u1019\u1039\u1018\u102c",
    "latin": "\u00fcber stra\u00dfe Stra\u1e9ee na\u00efvet\u00e9 fa\u00e7ade \u0130stanbul \u0131\u015f\u0131k \u0141\u00f3d\u017a \u0160koda Ti\u1ebfng Vi\u1ec7t \u00f8re \u00e6ble \u0153uvre \u00bfqu\u00e9? \u00a1se\u00f1or! \u01c5 \u0149 \ufb01n",
}
EMOJI = ["\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e0062\U000e007f",
         "\u2600", "\U0001fae0", "\u00a9\ufe0f", "\U0001f9d1\u200d\U0001f4bb"]
BLANKS = [" ", "  ", "\t", "\u00a0", "\u2003", "\u2009", "\u3000", "\u1680", "\u202f", "\u205f", "\u000b", "\u000c", "\u0085", "\u2028", "\u2029", "\u001c", "\u001f"]
CONTROLS = ["\x00", "\x01", "\x08", "\x1b", "\x7f", "\x80", "\x9f", "\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060", "\ufeff",
            "\ufffd", "\ue000", "\uffff", "\u0378", "\U000e0001", "\U0010fffd", "\u180e", "\u061c", "\u2066"]
SPECIALS = ["[CLS]", "[SEP]", "[PAD]", "[MASK]", "[UNK]", "[mask]", "[CLS", "[ SEP ]", "<s>", "</s>", "<pad>", "[MASK][MASK]"]
QUOTES = ["\u201c", "\u201d", "\u2018", "\u2019", "\u2014", "\u2013", "\u2026", "\u00ab", "\u00bb", "\u2039", "\u3001", "\u3002", "\u300c", "\u300d", "\uff01", "\uff1f", "\u00b7", "\u2022", "\u2e3a", "\u00a7", "\u00b6", "\u2190", "\u2211", "\u221e",
          "\u20ac", "\u00a3", "\u00a5", "\u20bf", "\u2122", "\u00ae", "\u00b0", "\u00b2", "\u00bd", "\u2153", "\u2167", "\u2460", "\uff11", "\U0001d7d8", "\u0660", "\u06f5"]
BLOCKS = [(0x20, 0x7E), (0xA0, 0x17F), (0x180, 0x24F), (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x52F), (0x530, 0x6FF),
          (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF), (0x1000, 0x139F), (0x13A0, 0x1C8F), (0x1C90, 0x1FFF),
          (0x2000, 0x2BFF), (0x2C00, 0x2FFF), (0x3000, 0x33FF), (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7FF),
          (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x1F000, 0x1FFFF), (0x20000, 0x2FFFF), (0xE0000, 0xE01FF)]


class Mixer:
    def __init__(self, seed):
        self.rng = SplitMix(seed)
        self.writer = Writer(self.rng, Words())
        self.scripts = {name: words.split() for name, words in SCRIPTS.items()}

    def script_phrase(self, name=None):
        r = self.rng
        words = self.scripts[name or r.pick(sorted(self.scripts))]
        return " ".join(r.pick(words) for _ in range(r.between(1, 9)))

    def accented(self):
        """Words with marks put on, composed or decomposed, in lower, title or upper case."""
        r = self.rng
        out = []
        for _ in range(r.between(2, 8)):
            word = self.writer.words.draw(r)
            marked = "".join(c + (chr(r.between(0x300, 0x345)) if r.chance(25) else "") for c in word)
            form = r.pick(["NFC", "NFD", None])
            if form:
                marked = unicodedata.normalize(form, marked)
            out.append(r.pick([str, str.title, str.upper])(marked))
        return " ".join(out)

    def random_points(self):
        r = self.rng
        out = []
        for _ in range(r.between(2, 24)):
            low, high = r.pick(BLOCKS)
            c = r.between(low, high)
            out.append(" " if 0xD800 <= c <= 0xDFFF else chr(c))
            if r.chance(20):
                out.append(" ")
        return "".join(out)

    def sprinkled(self, what, percent):
        r = self.rng
        text = self.writer.sentence(r.between(3, 14))
        return "".join(c + (r.pick(what) if r.chance(percent) else "") for c in text)

    def long_word(self):
        r = self.rng
        base = r.pick(["a", "un", "\u00e9", "e\u0301", "\u4e2d", "x1", "-", "ab_"])
        length = r.between(90, 110)
        word = (base * length)[:length]
        return f"{self.writer.words.draw(r)} {word} {self.writer.words.draw(r)}"

    def mixed(self):
        r = self.rng
        parts = [r.pick([lambda: self.script_phrase(), lambda: self.writer.sentence(r.between(2, 6)),
                         lambda: r.pick(EMOJI), lambda: r.pick(QUOTES), lambda: r.pick(SPECIALS),
                         lambda: self.writer.identifier(), lambda: self.writer.number()])()
                 for _ in range(r.between(2, 6))]
        return r.pick(["", " ", "  "]).join(parts)

    def line(self):
        r = self.rng
        roll = r.below(100)
        if roll < 30:
            return self.writer.sentence()
        if roll < 40:
            return self.writer.code(1)
        if roll < 48:
            return self.writer.markdown(1)
        if roll < 62:
            return self.script_phrase()
        if roll < 72:
            return self.accented()
        if roll < 80:
            return self.random_points()
        if roll < 84:
            return self.sprinkled(BLANKS, 12)
        if roll < 88:
            return self.sprinkled(CONTROLS, 8)
        if roll < 91:
            return self.sprinkled(QUOTES, 10)
        if roll < 93:
            return self.long_word()
        return self.mixed()


def one_line(text):
    return text.replace("\n", " ").replace("\r", " ")


def lines():
    mixer = Mixer(SEED)
    out = ["", " ", "\t", "a", "[CLS]", "\u00e9", "\U0001f600", "hello world"]
    while len(out) < LINES:
        out.append(one_line(mixer.line())[:220])
    return out


def texts():
    mixer = Mixer(SEED + 1)
    writer, r = mixer.writer, mixer.rng
    out = ["", " ", "   ", "\n", "\t \r\n ", "\u3000\u00a0", "\u200b", "\x00", "\x07\x1b", "a", "A", ".", "[MASK]",
           "\U0001f600", "hello world", "Hello, World!", "\u4e2d", "e\u0301", "\ufffd\ufffd", "0"]
    for name in sorted(SCRIPTS):
        out += [mixer.script_phrase(name), " ".join(mixer.script_phrase(name) for _ in range(6))]
    out += [" ".join(EMOJI), "".join(EMOJI) * 3, "".join(CONTROLS), "".join(BLANKS), " ".join(QUOTES),
            "".join(SPECIALS), "word " * 300, "a" * 700, "\u4e2d" * 300, "x" * 100 + " " + "y" * 101, "!?" * 150]
    for count in (8, 9, 10, 11, 12, 13, 14, 15):
        out.append(writer.paragraph(count))
    for count in (40, 45, 50, 60, 80):
        out.append(writer.paragraph(count))
    for count in (2, 4, 8, 16, 32):
        out += [writer.markdown(count), writer.code(count)]
    while len(out) < TEXTS:
        out.append(writer.paragraph(r.between(1, 4)) if r.chance(40) else mixer.line())
    return out[:TEXTS]


def ragged():
    """Texts of about as many tokens as words, from one to more than most position tables hold."""
    words = " ".join(texts()[60:]).split()
    counts = (1, 3, 8, 14, 15, 16, 30, 31, 62, 63, 64, 98, 126, 127, 128, 190, 191, 250, 300, 380, 500, 1000, 2500)
    return [" ".join((words[7 * n:] + words)[:n]) for n in counts]


def main():
    data = "\n".join(lines()) + "\n"
    pathlib.Path(sys.argv[1]).write_bytes(data.encode())


if __name__ == "__main__":
    main()
