"""Builds `precompiled_charsmap` values: SentencePiece's normalizer map, a double array over UTF-8.

The format: u32 length of the trie in bytes, the trie as little-endian u32 units, then the images, each
ended by a NUL. A unit holds a label (low 8 bits), a flag "a value follows" (bit 8) and the offset of
its children (bits 10.., shifted by 8 more when bit 9 is set); a value unit has bit 31 set.
"""

import base64
import struct


class Node:
    """A state; several paths may lead to one, so that a map of all characters stays small."""

    def __init__(self, value=None):
        self.children, self.value, self.base = {}, value, None


def tree(rules):
    """A state for a dict of text to image, and the blob of images."""
    root, blob, places = Node(), bytearray(), {}
    for source, image in rules.items():
        if image not in places:
            places[image] = len(blob)
            blob.extend(image.encode() + b"\0")
        node = root
        for byte in source.encode():
            node = node.children.setdefault(byte, Node())
        node.value = places[image]
    return root, bytes(blob)


def build(root, blob):
    """The map as base64. Children of a state lie at base ^ label; its value at base ^ 0."""
    units = [None] * 256
    units[0] = 0
    order, seen, bases = [root], {id(root)}, set()
    for node in order:
        for child in node.children.values():
            if id(child) not in seen:
                seen.add(id(child))
                order.append(child)

    def place(node):
        labels = sorted(node.children) + ([0] if node.value is not None else [])
        base = 1
        while True:
            spots = [base ^ label for label in labels]
            while len(units) <= max(spots + [base]) + 256:
                units.append(None)
            if base not in bases and all(units[s] is None for s in spots):
                bases.add(base)
                return base, spots
            base += 1

    for node in order:
        if not node.children and node.value is None:
            continue
        node.base, spots = place(node)
        for spot in spots:
            units[spot] = -1

    positions = {id(root): [0]}
    for node in order:
        for label, child in node.children.items():
            positions.setdefault(id(child), []).append(node.base ^ label)
            units[node.base ^ label] = label
        if node.value is not None:
            units[node.base] = 1 << 31 | node.value
    for node in order:
        for position in positions[id(node)]:
            if node.base is not None:
                units[position] |= (node.base ^ position) << 10 | (1 << 8 if node.value is not None else 0)
    packed = b"".join(struct.pack("<I", u if u not in (None, -1) else 0xFF) for u in units)
    return base64.b64encode(struct.pack("<I", len(packed)) + packed + blob).decode()


def any_char(then):
    """States that read one character of any length and go on in `then`; for a map of all characters."""
    chain = [then]
    for _ in range(3):
        node = Node()
        for byte in range(0x80, 0xC0):
            node.children[byte] = chain[-1]
        chain.append(node)
    first = {byte: chain[0] for byte in range(0x01, 0x80)}
    for low, high, length in ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3)):
        first.update({byte: chain[length] for byte in range(low, high + 1)})
    return first


def walk(node, text):
    for byte in text.encode():
        node = node.children.setdefault(byte, Node())
    return node
