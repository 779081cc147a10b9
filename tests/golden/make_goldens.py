#!/usr/bin/env python3
"""Writes goldens.h: the bytes that the tests expect, from the formulas of docs/formats.md alone.

Usage: make_goldens.py > goldens.h

Nothing here calls the library: tiles, scales, slots and rotations are written out a second time.
Every float operation is rounded to binary32 (`f32`): a double holds the exact sum, difference or product of two
floats of these magnitudes, and a quotient rounded twice (53, then 24 bits) is the quotient rounded once.
"""
import math
import struct

KEY, VALUE = "key", "value"


# --- numbers -------------------------------------------------------------------------------------
def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half_bits(x):
    return struct.unpack("<H", struct.pack("<e", x))[0]  # nearest, ties to even


def half_value(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def half_below(x):
    """Bits of the largest binary16 that is not above x."""
    bits = half_bits(x)
    if half_value(bits) <= x:
        return bits
    if bits in (0x0000, 0x8000):
        return 0x8001
    return bits + 1 if bits & 0x8000 else bits - 1


def half_above(x):
    return half_below(-x) ^ 0x8000


def code_of(x, top):
    return min(max(round(x), 0), top)  # Python rounds half to even


def golden_input(token, channel):
    return ((3701 * token + 2311 * channel * channel + 1109 * channel + 5) % 16381 - 8190) / 2048.0


# --- the tile ------------------------------------------------------------------------------------
def planes(bits):
    return [width for width in (8, 4, 2, 1) if bits & width]


class Block:
    """A block of 64 tokens: codes in a tile, then whatever is appended."""

    def __init__(self, role, dim, bits):
        self.role, self.dim, self.bits = role, dim, bits
        self.padded = (dim + 15) // 16 * 16
        run = self.padded if role == KEY else 64
        self.plane_bytes = [-(-run // (32 // w)) * 64 for w in planes(bits)]
        lanes = 64 if role == KEY else self.padded
        self.code_bytes = lanes // 16 * sum(self.plane_bytes)
        self.bytes = {}  # offset: byte

    def put(self, token, channel, code):
        lane, along = (token, channel) if self.role == KEY else (channel, token)
        base = lane // 16 * sum(self.plane_bytes)
        for width, size in zip(planes(self.bits), self.plane_bytes):
            per_byte = 8 // width
            at = base + along // (4 * per_byte) * 64 + lane % 16 * 4 + along % 4
            field = along % (4 * per_byte) // 4
            self.set(at, self.bytes.get(at, 0) | (code & ((1 << width) - 1)) << (field * width))
            code >>= width
            base += size

    def set(self, offset, byte):
        self.bytes[offset] = byte

    def set_half(self, offset, bits):
        self.set(offset, bits & 255)
        self.set(offset + 1, bits >> 8)


def affine(values, bits):
    """(step, low) as binary16 bits, codes, decoded values."""
    top = (1 << bits) - 1
    low = half_below(min(values))
    if min(values) == max(values):
        return 0, half_bits(values[0]), [0] * len(values), [half_value(half_bits(values[0]))] * len(values)
    m = half_value(low)
    step = half_above(f32(f32(max(values) - m) / top))
    s = half_value(step)
    codes = [code_of(f32(f32(x - m) / s), top) if s > 0 else 0 for x in values]
    return step, low, codes, [f32(c * s + m) for c in codes]


def put_scale(block, token, step, low):
    """One group per token."""
    if block.role == KEY:
        at, field = block.code_bytes + (token // 16 * 2 * 16 + token % 16) * 2, 32
    else:
        at, field = block.code_bytes + token * 2, 128
    block.set_half(at, step)
    block.set_half(at + field, low)


def per_token(role, dim, bits, slot, rows):
    block = Block(role, dim, bits)
    for t, row in enumerate(rows):
        step, low, codes, _ = affine(row, bits)
        for c, code in enumerate(codes):
            block.put(slot + t, c, code)
        put_scale(block, slot + t, step, low)
    return block


def per_channel(role, dim, bits, slot, rows):
    """Groups of 32 tokens."""
    block = Block(role, dim, bits)
    for c in range(dim):
        step, low, codes, _ = affine([row[c] for row in rows], bits)
        for t, code in enumerate(codes):
            block.put(slot + t, c, code)
        at = block.code_bytes + (slot // 32 * 2 * block.padded + c) * 2
        block.set_half(at, step)
        block.set_half(at + 2 * block.padded, low)
    return block


def top_k(role, dim, slot, rows):
    """4 bits, 4 slots per token, one-byte indices."""
    block = Block(role, dim, 4)
    for t, row in enumerate(rows):
        outliers = sorted(sorted(range(dim), key=lambda c: (-abs(row[c]), c))[:4])
        step, low, _, _ = affine([row[c] for c in range(dim) if c not in outliers], 4)
        s, m = half_value(step), half_value(low)
        dense = []
        for c, x in enumerate(row):
            code = code_of(f32(f32(x - m) / s), 15)
            block.put(slot + t, c, code)
            dense.append(f32(code * s + m))
        put_scale(block, slot + t, step, low)
        apart = [f32(row[c] - dense[c]) for c in outliers]
        stored = half_above(f32(max(abs(d) for d in apart) / 127))
        scale = half_value(stored)
        unit = block.code_bytes + 64 * 4 + (slot + t) // 16 * 16 * (4 * 2 + 2)
        lane = (slot + t) % 16
        for i, (c, d) in enumerate(zip(outliers, apart)):
            block.set(unit + lane * 4 + i, c)
            block.set(unit + 64 + lane * 4 + i, min(max(round(f32(d / scale)), -127), 127) & 255)
        block.set_half(unit + 128 + lane * 2, stored)
    return block


# --- centred and rotated keys --------------------------------------------------------------------
MASK = (1 << 64) - 1
# Per token and pair, in 2^-64 turn: about 1/(2 pi), 0.1/(2 pi), and two others.
TURNS = [2935890503282001226, 293589050328200122, 0x0123456789abcdef, 0xfedcba9876543210]
MEAN = [((7 * c + 3) % 13 - 6) / 8.0 for c in range(12)]


def cos_sin(phase):
    """The integer polynomials of transform/rope.h, in 2^-32."""
    times = lambda a, b: (a * b) >> 32
    quadrant, x = phase >> 62, (phase >> 30) & 0xFFFFFFFF
    mirrored = x > 1 << 31
    if mirrored:
        x = (1 << 32) - x
    z = times(x, x)
    # sin(x pi/2) / x and cos(x pi/2): (pi/2)^n / n!, rounded to nearest.
    taylor = lambda n: round((math.pi / 2) ** n / math.factorial(n) * 2.0**32)
    s = taylor(9)
    for n in (7, 5, 3, 1):
        s = taylor(n) - times(s, z)
    s = times(s, x)
    c = taylor(10)
    for n in (8, 6, 4, 2, 0):
        c = taylor(n) - times(c, z)
    sine, cosine = (f32(v) * 2.0**-32 for v in ((c, s) if mirrored else (s, c)))
    return [(cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine)][quadrant]


def rotate(row, position):
    """Pairs (i, i + 4) of the first 8 channels."""
    out = list(row)
    for i, turns in enumerate(TURNS):
        c, s = cos_sin(turns * position & MASK)
        x, y = row[i], row[i + 4]
        out[i], out[i + 4] = f32(c * x - s * y), f32(s * x + c * y)
    return out


def random_sign(seed, channel):
    z = ((seed << 32) + channel + 0x9E3779B97F4A7C15) & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return -1.0 if (z ^ z >> 31) & 1 else 1.0


def hadamard(x):
    n, half = len(x), 1
    x = list(x)
    while half < n:
        for i in range(n):
            if i & half == 0:
                x[i], x[i + half] = f32(x[i] + x[i + half]), f32(x[i] - x[i + half])
        half *= 2
    return [f32(v * f32(1 / math.sqrt(n))) for v in x]


def centered_rotated(row, position):
    """dim 12 = 8 + 4."""
    centred = [f32(x - m) for x, m in zip(row, rotate(MEAN, position))]
    signed = [v * random_sign(1, c) for c, v in enumerate(centred)]
    return hadamard(signed[:8]) + hadamard(signed[8:])


# --- writing -------------------------------------------------------------------------------------
def emit_sparse(name, comment, block):
    pairs = [f"{{{at}, 0x{byte:02x}}}" for at, byte in sorted(block.bytes.items()) if byte]
    emit_list(f"inline constexpr ByteAt {name}[] = {{", comment, pairs)


def emit_bytes(name, data):
    emit_list(f"inline constexpr std::uint8_t {name}[] = {{", "", [f"0x{b:02x}" for b in data])


def emit_floats(name, values):
    emit_list(f"inline constexpr float {name}[] = {{", "", [float_text(v) for v in values])


def float_text(v):
    return f"{v!r}f" if f32(float(repr(v))) == v and "e" not in repr(v) else f"{v.hex()}f"


def emit_list(head, comment, items):
    if comment:
        print(f"// {comment}")
    print("// clang-format off")
    print(head)
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            print(line)
            line = "   "
        line += f" {item},"
    print(f"{line}\n}};\n// clang-format on\n")


def rows(tokens, dim):
    return [[golden_input(t, c) for c in range(dim)] for t in range(tokens)]


def main():
    print("// Written by make_goldens.py: do not edit.\n#pragma once\n\n#include <cstdint>\n")
    print("namespace golden {\n")
    print("// A byte of a block; all others are zero.")
    print("struct ByteAt {\n  std::uint32_t offset;\n  std::uint8_t byte;\n};\n")
    for role in (KEY, VALUE):
        suffix = role.capitalize()
        for bits in (8, 6, 5, 4, 3, 2):
            emit_sparse(f"kInt{bits}{suffix}", f"Int{bits}<8>, {role}, rows 0..2 in slots 17..19.",
                        per_token(role, 8, bits, 17, rows(3, 8)))
        emit_sparse(f"kInt4Channel{suffix}", f"Int4Channel<3>, {role}, rows 0..31 in slots 32..63.",
                    per_channel(role, 3, 4, 32, rows(32, 3)))
        emit_sparse(f"kInt4TopK{suffix}", f"Int4TopK<8>, {role}, rows 0..2 in slots 17..19.",
                    top_k(role, 8, 17, rows(3, 8)))
    emit_sparse("kCenteredRotated4Key", "CenteredRotatedKey<12, 4>, rows 0..2 at positions 1000..1002 in slots 17..19.",
                per_token(KEY, 12, 4, 17, [centered_rotated(row, 1000 + t) for t, row in enumerate(rows(3, 12))]))
    emit_list("inline constexpr std::uint64_t kTurns[] = {", "Its rotation: pairs (i, i + 4).", [f"{t}u" for t in TURNS])
    emit_floats("kMean", MEAN)
    print("}  // namespace golden")


if __name__ == "__main__":
    main()
