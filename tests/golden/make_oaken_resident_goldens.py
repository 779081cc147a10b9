#!/usr/bin/env python3
"""Writes oaken_resident_goldens.h: Oaken's codes in jagged order and as coordinates, from the formulas of
docs/formats.md alone. Usage: make_oaken_resident_goldens.py [--check]

Codes, sides and parameters of a token come from make_oaken_goldens.py, tiles from make_goldens.py; order, constants and
deltas are written out here.
"""
import math
import pathlib
import struct
import sys

from make_goldens import KEY, VALUE, Block, golden_input, half_bits
from make_oaken_goldens import Codec, f32, half_value

DIM, FIRST, TOKENS = 72, 14, 6  # slots 14 .. 19: two units of keys, a full chunk and a short one
THRESHOLDS = (-3.5, -0.25, 0.125, 3.25)


def row(t):
    x = [golden_input(t, c) for c in range(DIM)]
    x[5] = 3.5 + t / 32.0  # a hot channel: more than four entries in a lane of values
    if t == 2:
        x = [abs(v) for v in x]  # one side only
    if t == 3:  # a middle narrower than the inner band
        x = [v if abs(v) > 3.5 else (1 if c % 2 else -2) * (0.125 + (32 + c) / 4096.0) for c, v in enumerate(x)]
    return x


class Token:
    def __init__(self, x):
        dense, spill, counts, parameters, self.decoded = Codec(THRESHOLDS).encode(x)
        self.x = x
        self.nibbles = [dense[c // 2] >> (c % 2 * 4) & 15 for c in range(DIM)]
        self.counts = list(counts)
        self.outliers = {}  # channel: (outer, low)
        entries = list(spill)
        for k, n in enumerate(counts):
            for _ in range(n):
                entry = entries.pop(0)
                self.outliers[k * 64 + (entry >> 2)] = (entry >> 1 & 1, entry & 1)
        self.halves = [half_value(h) for h in struct.unpack("<6H", parameters)]
        self.constants()

    def constants(self):
        """base, step, unit, wide, zero split times 16, gap: every operation rounded to binary32."""
        outer_low, inner_low, inner_high, outer_high = THRESHOLDS
        o0, o1, m0, m1, i0, i1 = self.halves
        width = f32(m1 - m0)
        step15 = f32(width / 15)
        if m0 >= 0 or m1 <= 0:
            split = 0 if m0 >= 0 else 16
        else:
            split = min(max(math.ceil(f32(-m0 * f32(15 / width))), 1), 15)
        self.step = f32(step15 / 16)
        self.wide, self.gap, self.zero_split, jump = 0.0, 0, 255, 0.0
        self.base = f32(m0 + (inner_high if split == 0 else inner_low))
        if 1 <= split <= 15:
            self.zero_split = 16 * split
            whole = f32(inner_high - inner_low)
            ratio = f32(whole / self.step)
            if round(ratio) <= 15:
                self.gap = round(ratio)
                jump = f32(self.gap * self.step)
                self.base = f32(self.base + f32(whole - jump) / 2)
            else:
                self.wide = jump = whole
        last = f32(self.base + f32(240 * self.step))
        end = lambda low, high: f32(low + f32(15 * f32(f32(high - low) / 15)))
        pairs = []
        for u, dense in ((o0, self.base), (end(o0, o1), last)):
            pairs += [(f32(u + outer_high), dense), (f32(-u + outer_low), dense)]
        for u, dense in ((i0, self.base), (end(i0, i1), last)):
            pairs += [(u, dense), (-u, dense)]
        self.unit = f32(f32(max(abs(f32(v - dense)) for v, dense in pairs) + jump) / 127)

    def dense(self, nibble):
        high = 16 * nibble >= self.zero_split
        value = f32(self.base + f32((16 * nibble + (self.gap if high else 0)) * self.step))
        return f32(value + self.wide) if high else value

    def delta(self, c):
        difference = f32(self.decoded[c] - self.dense(self.nibbles[c]))
        return min(max(round(f32(difference / self.unit)), -127), 127)


def jagged(lanes):
    """Of 16 lists of (entry, delta)."""
    out = []
    for g in range(0, max(map(len, lanes)), 4):
        group = [pair for lane in lanes for pair in lane[g : g + 4]]
        out += [entry for entry, _ in group] + [delta & 255 for _, delta in group]
    return out


def resident(role, tokens):
    """Tile, counts (keys: from slot FIRST on) and spill."""
    block = Block(role, DIM, 4)
    lanes = [[] for _ in range(64 if role == KEY else 80)]
    counts = [0] * (TOKENS * 2 if role == KEY else 80)
    for t, token in enumerate(tokens, FIRST):
        for c in range(DIM):
            block.put(t, c, token.nibbles[c])
        for c, (outer, low) in sorted(token.outliers.items()):
            index, lane = (c % 64, t) if role == KEY else (t, c)
            lanes[lane].append((index | low << 6 | outer << 7, token.delta(c)))
            counts[2 * (t - FIRST) + c // 64 if role == KEY else c] += 1
    tile = [block.bytes.get(at, 0) for at in range(block.code_bytes)]
    spill = []
    for first in range(0, len(lanes), 16):
        spill += jagged(lanes[first : first + 16])
    return tile, counts, spill


def coordinates(bits, tokens):
    spill = []
    for token in tokens:
        stream, used = 0, 0
        for c, (outer, low) in sorted(token.outliers.items()):
            if bits == 12:
                stream |= (c % 64 << 6 | outer << 5 | low << 4 | token.nibbles[c]) << used
                used += 12
            else:
                stream |= (half_bits(token.x[c]) | outer << 17 | c % 64 << 18) << used
                used += 24
        spill += list(stream.to_bytes((used + 7) // 8, "little"))
    return spill


def fingerprint(data):
    """FNV-1a, 64 bits: a block is too long to print."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def listed(head, items):
    lines, line = [head], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return lines + [line, "};"]


def array(name, data):
    return listed(f"inline constexpr std::uint8_t {name}[] = {{", [f"0x{b:02x}" for b in data])


def text():
    tokens = [Token(row(t)) for t in range(TOKENS)]
    assert [t.zero_split == 255 for t in tokens] == [False, False, True, False, False, False]
    assert [t.wide > 0 for t in tokens] == [False, False, False, True, False, False]
    lines = ["// Written by make_oaken_resident_goldens.py: do not edit.", "#pragma once", "", "#include <cstdint>", "",
             "namespace golden {", "", "// clang-format off"]  # fmt: skip
    lines += listed("inline constexpr float kResidentThresholds[] = {", [f"{v}f" for v in THRESHOLDS])
    lines.append(f"// Slots {FIRST} .. {FIRST + TOKENS - 1}, head_dim {DIM}, one head: base, step, unit, wide; then 16 * split, gap.")
    lines += listed("inline constexpr float kResidentConstants[] = {",
                    [f"{v.hex()}f" for t in tokens for v in (t.base, t.step, t.unit, t.wide)])  # fmt: skip
    lines += listed("inline constexpr std::uint32_t kResidentLevels[] = {",
                    [str(v) for t in tokens for v in (t.zero_split, t.gap)])  # fmt: skip
    for role in (KEY, VALUE):
        tile, counts, spill = resident(role, tokens)
        name = f"kJagged{role.capitalize()}"
        lines.append(f"inline constexpr std::uint64_t {name}Tile = 0x{fingerprint(tile):016x}u;  // FNV-1a")
        lines += array(f"{name}Counts", counts) + array(f"{name}Spill", spill)
    for bits in (12, 23):
        lines += array(f"kCoo{bits}Spill", coordinates(bits, tokens))
    return "\n".join(lines + ["// clang-format on", "", "}  // namespace golden", ""])


def main():
    path = pathlib.Path(__file__).with_name("oaken_resident_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
