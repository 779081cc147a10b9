#!/usr/bin/env python3
"""Writes oaken_goldens.h: the bytes of Oaken's formats, from the formulas of docs/formats.md alone.

Usage: make_oaken_goldens.py            writes it beside itself
       make_oaken_goldens.py --check    fails if what lies there differs

Nothing here calls the library. A float operation is a double operation rounded to binary32 (`f32`): a double holds
the exact sum, difference or product of two floats of these magnitudes, and a quotient rounded twice (53, then 24
bits) is the quotient rounded once.
"""
import math
import pathlib
import struct
import sys

CHUNK = 64


# --- numbers -------------------------------------------------------------------------------------
def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half_value(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def half_below(x):
    """Bits of the largest binary16 that is not above x."""
    bits = struct.unpack("<H", struct.pack("<e", x))[0]
    if half_value(bits) <= x:
        return bits
    if bits in (0x0000, 0x8000):
        return 0x8001
    return bits + 1 if bits & 0x8000 else bits - 1


def half_above(x):
    return half_below(-x) ^ 0x8000


# --- the codec -----------------------------------------------------------------------------------
class Codec:
    """outer, inner: numbers of bands; shift: none, outer or both; outlier: sm5, ob5 or ob4; entry: bits of an entry;
    align: block, token or chunk."""

    def __init__(self, thresholds, outer=1, inner=1, shift="both", outlier="sm5", entry=8, align="block"):
        pairs = len(thresholds) // 2
        assert pairs == outer + inner and list(thresholds) == sorted(thresholds)
        self.low = thresholds[:pairs]  # from outside
        self.high = thresholds[: pairs - 1 : -1]
        self.outer, self.inner = outer, inner
        self.shift, self.outlier, self.entry, self.align = shift, outlier, entry, align

    def band(self, x):
        """(band from outside, whether on the low side)"""
        for k, (low, high) in enumerate(zip(self.low, self.high)):
            if x > high:
                return k, False
            if x < low:
                return k, True
        return len(self.low), x < 0

    def shifts(self, k):
        if k < self.outer:
            return self.shift != "none"
        return k == self.outer and self.shift == "both" and self.inner > 0

    def signs(self, k):
        return k != self.outer and self.outlier == "sm5"

    def divides(self, k):
        return self.shifts(k) and not self.signs(k)

    def top(self, k):
        return 31 if k != self.outer and self.outlier == "ob5" else 15

    def edge(self, k, low):
        return self.low[k] if low else self.high[k]

    def encode(self, x):
        members = []  # band, low side, u
        for v in x:
            k, low = self.band(v)
            members.append((k, low, f32(v - self.edge(k, low)) if self.shifts(k) else v))
        ranges = []
        for k in range(self.outer + 1 + self.inner):
            us = [abs(u) if self.signs(k) else u for b, _, u in members if b == k]
            ranges.append((half_below(min(us)), half_above(max(us))) if us else (0, 0))
        dense, counts, decoded = bytearray((len(x) + 1) // 2), bytearray((len(x) + CHUNK - 1) // CHUNK), []
        lists = [bytearray() for _ in counts]
        for c, (k, low, u) in enumerate(members):
            negative = low if self.shifts(k) else u < 0
            code = self.code(ranges[k], k, abs(u) if self.signs(k) else u, low)
            if self.signs(k):
                code |= 16 * negative
            dense[c // 2] |= (code & 15) << (c % 2 * 4)
            decoded.append(self.value(ranges[k], k, code))
            if k == self.outer:
                continue
            counts[c // CHUNK] += 1
            number = self.inner - 1 - (k - self.outer - 1) if k > self.outer else self.inner + self.outer - 1 - k
            code_bits = 0 if self.outlier == "ob4" else 1
            word = c % CHUNK << (self.entry - 6) | number << code_bits | code >> 4
            assert number < 1 << (self.entry - 6 - code_bits)
            lists[c // CHUNK] += word.to_bytes(self.entry // 8, "little")
        pad = lambda data: data + bytes(-len(data) % 8)
        if self.align == "chunk":
            lists = [pad(data) for data in lists]
        spill = b"".join(lists)
        if self.align == "token":
            spill = pad(spill)
        parameters = b"".join(struct.pack("<HH", *r) for r in ranges)
        return dense, spill, counts, parameters, decoded

    def numbers(self, stored, k):
        low, high = map(half_value, stored)
        width = f32(high - low)
        step, inverse = (f32(width / self.top(k)), f32(self.top(k) / width)) if width > 0 else (0.0, 0.0)
        if low >= 0:
            split = 0
        elif high <= 0:
            split = self.top(k) + 1
        else:
            split = min(max(math.ceil(f32(-low * inverse)), 1), self.top(k))
        return low, step, inverse, split

    def code(self, stored, k, u, low_side):
        low, _, inverse, split = self.numbers(stored, k)
        code = min(max(round(f32(f32(u - low) * inverse)), 0), self.top(k))  # round: half to even
        if self.divides(k):
            code = min(code, split - 1) if low_side else max(code, split)
        return code

    def value(self, stored, k, code):
        low, step, _, split = self.numbers(stored, k)
        if self.signs(k):
            low_side = code > 15
            u = f32(low + f32((code & 15) * step))
            u = -u if low_side else u
        else:
            low_side = code < split
            u = f32(low + f32(code * step))
        return f32(u + self.edge(k, low_side)) if self.shifts(k) else u


# --- the cases -----------------------------------------------------------------------------------
T1 = (-2.0, -0.25, 0.25, 2.0)
T2 = (-4.0, -0.25, 0.25, 4.0)
T3 = (-1.5, 0.5, 1.0, 3.0)
T4 = (0.1875, 0.25, 1.0, 3.0)  # all above zero: an outer value of the low side may be positive
FIVE = (-4.0, -2.0, -0.25, -0.0625, 0.125, 0.25, 2.0, 4.5)
C1 = [-1.125, 1.25, 0.5, -0.5, 0.3125, -0.28125, 2.5, 6.25,
      -3.0, -2.625, 0.0, -0.125, 0.234375, -1.0, 0.75, -0.0625]  # fmt: skip
C4 = [-5.0, 6.75, 2.0625, -2.0625, -0.125, 0.1171875, 0.0, f32(0.05), 1.0, -1.0]
# Every band of FIVE on both sides, values on thresholds, and steps that are no binary fractions.
FIVE_BANDS = [4.5, -4.0, 5.75, -9.25, 2.0, 4.25, -2.75, 0.25, 0.5, -0.3125, 1.875, -1.5,
              -0.25, 0.1875, 0.125, -0.125, 0.09375, -0.046875, 0.0, 7.1875, -6.0, 3.0, -0.0625]  # fmt: skip


def c2():
    x = [((37 * i) % 31 - 15) / 4.0 for i in range(64)]
    x = [1.0 if abs(v) <= 0.25 else v for v in x]
    x[:6] = [4.0, -4.0, 0.25, -0.25, 4.00390625, 0.015625]
    return x


def c3():
    """Inner band off zero, no outlier in the first chunk."""
    x = []
    for i in range(128):
        k = (29 * i) % 15 - 7
        v = k / 4.0 + (1.0 if k > 0 else 0.5)
        x.append(0.25 if 0.5 <= v <= 1.0 else v)
    x[0], x[64], x[70], x[100], x[101], x[127] = 3.0, -2.5, 0.75, 0.5, 1.0, -3.0
    return x


CASES = {
    # Published examples.
    "C1": (C1, Codec(T1)),
    "C2": (c2(), Codec(T2)),
    "C3": (c3(), Codec(T3)),
    "C4": (C4, Codec(T1, outlier="ob5")),
    "C5a": ([0.0] * 64, Codec(T1)),
    "C5b": ([1.0] * 64, Codec(T1)),
    # One policy changed at a time.
    "NoShift": (FIVE_BANDS, Codec(T4, shift="none")),
    "NoShiftOffset": (FIVE_BANDS, Codec(T4, shift="none", outlier="ob5")),
    "OuterOnly": (FIVE_BANDS, Codec(T4, shift="outer")),
    "FourBit": (C1, Codec(T1, outlier="ob4")),
    "Entry16": (C1, Codec(T1, entry=16)),
    "ByToken": (c3(), Codec(T3, align="token")),
    "ByChunk": (c3(), Codec(T3, align="chunk")),
    # Other numbers of bands.
    "Nested": (FIVE_BANDS, Codec(FIVE, 2, 2, entry=16)),
    "Nested4": (FIVE_BANDS, Codec(FIVE, 2, 2, outlier="ob4")),
    "OuterRing": (FIVE_BANDS, Codec(FIVE[:3] + FIVE[5:], 2, 1, entry=16)),
    "InnerRing": (FIVE_BANDS, Codec(FIVE[1:-1], 1, 2, outlier="ob5", entry=16)),
    "NoOuter": (C1, Codec((-0.25, 0.25), 0, 1)),
    "NoInner": (C1, Codec((-2.0, 2.0), 1, 0)),
}


def self_check():
    """What the paper's formulas give by hand."""
    dense, spill, counts, parameters, decoded = CASES["C1"][1].encode(C1)
    assert dense.hex() == "f05968f002801f4b" and spill.hex() == "1a1e2327282d303d" and list(counts) == [8]
    assert parameters.hex() == "0038" "4044" "00bb" "003c" "0000" "8033"
    assert decoded == [-1.125, 1.25, 0.5, -0.5, 0.375, -0.375, 2.5, 6.25,
                       -3.0, -2.5, 0.0, -0.125, 0.234375, -1.0, 0.75, -0.0625]  # fmt: skip
    dense, spill, counts, parameters, _ = CASES["C2"][1].encode(c2())
    assert dense.hex() == "0fff0063b82e96ea52a92d94ca41970c64c83e86eb62a92e95da42a91c74c940"
    assert spill.hex() == "080d1214" and list(counts) == [4] and parameters.hex() == "001c001c80c380430024" "0034"
    dense, spill, counts, parameters, decoded = CASES["C3"][1].encode(c3())
    assert spill.hex() == "03189094ff" and list(counts) == [0, 5] and parameters.hex() == "003c003e00bf00400038003c"
    assert decoded[64] == -2.5 and decoded[127] == -3.0 and abs(decoded[70] - 0.76666665) < 1e-7
    dense, spill, counts, parameters, decoded = CASES["C4"][1].encode(C4)
    assert dense.hex() == "f0bcf0600f" and spill.hex() == "02070a0e1015191d"
    assert parameters.hex() == "00c2c04400ba003a00b0802f"
    assert decoded == [-5.0, 6.75, 2.0, -2.25, -0.125, 0.1171875, 0.0, 0.046875, 1.0, -1.0]
    dense, spill, counts, _, _ = CASES["C5a"][1].encode([0.0] * 64)
    assert not any(dense) and spill == bytes(range(0, 256, 4)) and list(counts) == [64]
    _, spill, _, parameters, decoded = CASES["C5b"][1].encode([1.0] * 64)
    assert not spill and parameters.hex() == "00000000003a003a00000000" and decoded == [1.0] * 64


# --- writing -------------------------------------------------------------------------------------
def listed(head, items):
    lines, line = ["// clang-format off", head], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join(lines + [line, "};", "// clang-format on", ""])


def float_text(v):
    return f"{v!r}f" if f32(float(repr(v))) == v and "e" not in repr(v) else f"{v.hex()}f"


def floats(name, values):
    return listed(f"inline constexpr float {name}[] = {{", map(float_text, values))


def octets(name, data):
    return listed(f"inline constexpr std::uint8_t {name}[] = {{", (f"0x{b:02x}" for b in data))


def text():
    out = ["// Written by make_oaken_goldens.py: do not edit.\n#pragma once\n\n#include <cstdint>\n",
           "namespace golden {\n"]  # fmt: skip
    for name, (x, codec) in CASES.items():
        dense, spill, counts, parameters, decoded = codec.encode(x)
        thresholds = list(codec.low) + list(codec.high)[::-1]
        out += [floats(f"k{name}Thresholds", thresholds), floats(f"k{name}Input", x), octets(f"k{name}Dense", dense)]
        out += [octets(f"k{name}Spill", spill or b"\0"),
                f"inline constexpr std::uint32_t k{name}SpillBytes = {len(spill)};\n"]  # fmt: skip
        out += [octets(f"k{name}Counts", counts), octets(f"k{name}Parameters", parameters)]
        out += [floats(f"k{name}Decoded", decoded)]
    return "\n".join(out) + "\n}  // namespace golden\n"


def main():
    self_check()
    path = pathlib.Path(__file__).resolve().parent / "oaken_goldens.h"
    if "--check" in sys.argv[1:]:
        if path.exists() and path.read_text() == text():
            return 0
        print(f"{path.name} is not what make_oaken_goldens.py writes")
        return 1
    path.write_text(text())
    return 0


sys.exit(main())
