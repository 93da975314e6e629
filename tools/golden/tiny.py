"""The tiny tokenizers of the golden packages: WordPiece vocabularies written out, not trained."""

import string

_WORDS = """the of and to in is that it for was on are with as be at by this have from or one had
not but what all were when we there can an your which their said if do will each about how up out
them then she many some so these would other into has more her two like him see time could no make
people water long little very after words called just where most know query passage""".split()

_SUFFIXES = ["##s", "##ed", "##ing", "##er", "##ly", "##ion"]
_OTHER = ["cafe", "caf\u00e9", "na", "##ive", "\u4e2d", "\u56fd", "\u65e5", "\u672c", "\u8a9e",
          "\u043f", "##\u0440", "##\u0438", "##\u0432", "##\u0435", "##\u0442", "\u00e9", "##\u00e9",
          "\u03b1", "##\u03b2", "\U0001f600"]
_CASED = ["The", "Cafe", "Caf\u00e9", "Hello"] + list("ABCDEFGH") + ["##A", "##F", "##\u00c9"]

BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MPNET_SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]"]


def vocabulary(specials=BERT_SPECIALS, words=None, cased=False, last=()):
    """Token to id, in a fixed order. `words` limits the list of whole words."""
    tokens = list(specials)
    tokens += list(string.ascii_lowercase) + ["##" + c for c in string.ascii_lowercase]
    tokens += list(string.digits) + ["##" + c for c in string.digits]
    tokens += list(".,!?:;'\"()[]%#-_/$<>&*+=@")
    tokens += _WORDS[: len(_WORDS) if words is None else words]
    tokens += ["hello", "world", "query", "passage"] if words is not None else ["hello", "world"]
    tokens += _SUFFIXES + _OTHER
    if cased:
        tokens += _CASED
    tokens += list(last)
    out = {}
    for token in tokens:
        out.setdefault(token, len(out))
    return out


def mpnet_vocabulary(words=None):
    return vocabulary(MPNET_SPECIALS, words=words, last=["<mask>"])
