#!/usr/bin/env python3
"""Writes kvquant_goldens.h: blocks and spill of KVQuant's formats, from the formulas of docs/formats.md alone.

  make_kvquant_goldens.py          writes it beside itself
  make_kvquant_goldens.py --check  fails if what lies there differs (a test)

Nothing here calls the library. Tiles, rotations and numbers are those of make_goldens.py.
"""
import pathlib
import struct
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from make_goldens import KEY, VALUE, TURNS, Block, f32, golden_input, half_above, half_bits, half_value, rotate

DIM, SLOT, TOKENS, POSITION = 12, 17, 3, 1000
OFFSETS = [((7 * c + 3) % 13 - 6) / 8.0 for c in range(DIM)]
RANGES = [((5 * c) % 7) / 4.0 + 0.75 for c in range(DIM)]


def signposts(bits):
    """Crowded at zero; multiples of 4^-bits, so that they are binary16."""
    top = (1 << bits) - 1
    return [(2 * i - top) * abs(2 * i - top) / 4.0**bits for i in range(top + 1)]


def nearest(u, posts):
    return sum(u > (a + b) / 2 for a, b in zip(posts, posts[1:]))


def entry(channel, value):
    return struct.pack("<BH", channel, half_bits(value))


def key(bits):
    """Keys before RoPE: pairs (i, i + 4) of the first 8 channels turn back, then each channel is scaled."""
    posts, block, spill = signposts(bits), Block(KEY, DIM, bits), b""
    for t in range(TOKENS):
        row = rotate([golden_input(t, c) for c in range(DIM)], -(POSITION + t))
        coded = [f32(f32(x - o) / r) for x, o, r in zip(row, OFFSETS, RANGES)]
        outliers = [c for c in range(DIM) if abs(coded[c]) > 1]
        for c, u in enumerate(coded):
            block.put(SLOT + t, c, nearest(u, posts))
        block.set(block.code_bytes + SLOT + t, len(outliers))  # nothing is stored per token but the count
        spill += b"".join(entry(c, coded[c]) for c in outliers)
    return block, spill


def value(bits):
    """Values: the largest magnitude apart (1 % of 12 channels, at least one), offset and range of the others."""
    posts, block, spill = signposts(bits), Block(VALUE, DIM, bits), b""
    for t in range(TOKENS):
        row = [golden_input(t, c) for c in range(DIM)]
        outlier = max(range(DIM), key=lambda c: (abs(row[c]), -c))
        dense = [x for c, x in enumerate(row) if c != outlier]
        offset = half_bits(f32(max(dense) + min(dense)) / 2)
        o = half_value(offset)
        stored = half_above(max(f32(max(dense) - o), f32(o - min(dense))))
        for c, x in enumerate(row):
            block.put(SLOT + t, c, nearest(f32(f32(x - o) / half_value(stored)), posts))
        block.set_half(block.code_bytes + (SLOT + t) * 2, offset)
        block.set_half(block.code_bytes + 128 + (SLOT + t) * 2, stored)
        block.set(block.code_bytes + 256 + SLOT + t, 1)
        spill += entry(outlier, row[outlier])
    return block, spill


def wrapped(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return lines + [line]


def array(head, items):
    return [f"inline constexpr {head}[] = {{"] + wrapped(items) + ["};"]


def text():
    lines = ["// Written by make_kvquant_goldens.py: do not edit.", "#pragma once", "", "#include <cstdint>", "",
             "#include \"golden/goldens.h\"", "", "namespace golden {", "",
             "// Rows 0..2 in slots 17..19; keys at positions 1000..1002. All other bytes of a block are zero.",
             "// clang-format off"]  # fmt: skip
    lines += array("std::uint64_t kNuqTurns", [f"{t}u" for t in TURNS])
    for name, numbers in (("Offsets", OFFSETS), ("Ranges", RANGES),
                          ("Signposts4", signposts(4)), ("Signposts3", signposts(3))):  # fmt: skip
        lines += array(f"float kNuq{name}", [f"{x}f" for x in numbers])
    for role, make in (("Key", key), ("Value", value)):
        for bits in (4, 3):
            block, spill = make(bits)
            lines += array(f"ByteAt kKvQuant{role}{bits}",
                           [f"{{{at}, 0x{byte:02x}}}" for at, byte in sorted(block.bytes.items()) if byte])  # fmt: skip
            lines += array(f"std::uint8_t kKvQuant{role}{bits}Spill", [f"0x{b:02x}" for b in spill])
    return "\n".join(lines + ["// clang-format on", "", "}  // namespace golden", ""])


def main():
    path = pathlib.Path(__file__).with_name("kvquant_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
