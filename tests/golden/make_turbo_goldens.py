#!/usr/bin/env python3
"""Writes turbo_goldens.h: KroneckerHadamard, TurboQuant's split and prod variants, from the formulas of docs/formats.md.

  make_turbo_goldens.py          writes it beside itself
  make_turbo_goldens.py --check  fails if what lies there differs (a test)

Nothing here calls the library. Levels, scales, tiles and float arithmetic are those of the other scripts.
"""
import math
import pathlib
import struct
import sys

sys.dont_write_bytecode = True  # nothing is left beside the scripts
from make_goldens import KEY, VALUE, Block, f32, golden_input, half_bits, half_value, hadamard, random_sign
from make_rotated_goldens import HalfSide, book, encode_row, put_side, wrapped

SLOT, TOKENS = 17, 3


# --- the rotation --------------------------------------------------------------------------------
def factor(p):
    """Orthonormal, symmetric, of an odd prime order."""
    if p < 7:
        return [[f32((p - 2 if i == j else -2) / p) for j in range(p)] for i in range(p)]
    entry = lambda k: f32((math.cos(2 * math.pi * k / p) + math.sin(2 * math.pi * k / p)) / math.sqrt(p))
    return [[entry(i * j % p) for j in range(p)] for i in range(p)]


def kronecker(row, seed=1, signs=True):
    """Hadamard of runs of 2^k, then a factor per prime of what is left, the smallest first."""
    n = len(row)
    x = [v * random_sign(seed, c) for c, v in enumerate(row)] if signs else list(row)
    run = n & -n
    x = [v for at in range(0, n, run) for v in hadamard(x[at : at + run])]
    rest, stride, p = n // run, run, 3
    while rest > 1:
        if rest % p:
            p += 2
            continue
        m = factor(p)
        for base in range(0, n, p * stride):
            for i in range(base, base + stride):
                values = [x[i + j * stride] for j in range(p)]
                for k in range(p):
                    x[i + k * stride] = f32(math.fsum(a * b for a, b in zip(m[k], values)))
        rest, stride = rest // p, stride * p
    return x


def back(row, seed):
    """The inverse: the same steps, then the signs."""
    return [v * random_sign(seed, c) for c, v in enumerate(kronecker(row, signs=False))]


# --- formats -------------------------------------------------------------------------------------
def part(role, rows, bits):
    """(block, bytes of it): rotated rows in the codebook of their dimension, norms as published."""
    dim = len(rows[0])
    block, c = Block(role, dim, bits), book(dim if dim >= 16 else 0, bits)
    for t, row in enumerate(rows):
        stored, codes, _ = encode_row(kronecker(row), c, "norm", HalfSide)
        for channel, code in enumerate(codes):
            block.put(SLOT + t, channel, code)
        put_side(block, SLOT + t, 2, stored)
    return block, block.code_bytes + 128


SPLIT = 24
CHANNELS = [1, 2, 7, 12, 20, 23]


def split(role, bits):
    """A quarter of the channels with one more bit, then the others."""
    rows = [[golden_input(t, c) for c in range(SPLIT)] for t in range(TOKENS)]
    apart, size = part(role, [[row[c] for c in CHANNELS] for row in rows], bits + 1)
    rest, _ = part(role, [[x for c, x in enumerate(row) if c not in CHANNELS] for row in rows], bits)
    return {**apart.bytes, **{size + at: byte for at, byte in rest.bytes.items()}}


def prod(role, bits, dim=16):
    """bits - 1 of codes, then signs of the residual's sketch and its length."""
    front = Block(role, dim, bits - 1) if bits > 1 else None
    signs = Block(role, dim, 1)
    signs_at = front.code_bytes + 128 if front else 0
    data = {}
    for t in range(TOKENS):
        row = kronecker([golden_input(t, c) for c in range(dim)])
        decoded = [0.0] * dim
        if front:
            stored, codes, decoded = encode_row(row, book(dim, bits - 1), "norm", HalfSide)
            for channel, code in enumerate(codes):
                front.put(SLOT + t, channel, code)
            put_side(front, SLOT + t, 2, stored)
        residual = [f32(x - y) for x, y in zip(row, decoded)]
        gamma = half_bits(f32(math.sqrt(math.fsum(r * r for r in residual))))
        for channel, projected in enumerate(kronecker(residual, seed=2)):
            signs.put(SLOT + t, channel, int(projected < 0))
        at = signs_at + signs.code_bytes + (SLOT + t) * 2
        data[at], data[at + 1] = gamma & 255, gamma >> 8
    data.update(front.bytes if front else {})
    data.update({signs_at + at: byte for at, byte in signs.bytes.items()})
    return data


def prod_row(token, bits, dim=16):
    """The row that is read."""
    row = kronecker([golden_input(token, c) for c in range(dim)])
    decoded = encode_row(row, book(dim, bits - 1), "norm", HalfSide)[2] if bits > 1 else [0.0] * dim
    residual = [f32(x - y) for x, y in zip(row, decoded)]
    gamma = half_value(half_bits(f32(math.sqrt(math.fsum(r * r for r in residual)))))
    signs = [-1.0 if v < 0 else 1.0 for v in kronecker(residual, seed=2)]
    scale = f32(gamma * f32(math.sqrt(math.pi / (2 * dim))))
    return [f32(y + f32(scale * v)) for y, v in zip(decoded, back(signs, 2))]


# --- writing -------------------------------------------------------------------------------------
def word(x):
    return f"0x{struct.unpack('<I', struct.pack('<f', x))[0]:08x}"


def text():
    lines = ["// Written by make_turbo_goldens.py: do not edit.", "#pragma once", "", "#include <cstdint>", "",
             '#include "golden/goldens.h"', "", "namespace golden {", "",
             "// Rows 0..2 in slots 17..19. All other bytes of a block are zero.", "// clang-format off"]  # fmt: skip

    def emit(kind, name, comment, items):
        lines.extend([f"// {comment}", f"inline constexpr {kind} {name}[] = {{", *wrapped(items), "};"])

    for dim in (24, 56, 18):
        emit("std::uint32_t", f"kKronecker{dim}", f"KroneckerHadamard<1> of row 0, {dim} channels, as words.",
             [word(x) for x in kronecker([golden_input(0, c) for c in range(dim)])])
    emit("float", "kSplitChannels", "Channels of the split formats that go apart.", [f"{c}.0f" for c in CHANNELS])
    for role in (KEY, VALUE):
        name = role.capitalize()
        for bits in (2, 3):
            emit("ByteAt", f"kTurboQuant{bits}_5{name}", f"TurboQuant{bits}_5<24>, {role}.",
                 [f"{{{at}, 0x{b:02x}}}" for at, b in sorted(split(role, bits).items()) if b])
        for bits in (1, 3):
            emit("ByteAt", f"kTurboQuantProd{bits}{name}", f"TurboQuantProd<16, {bits}>, {role}.",
                 [f"{{{at}, 0x{b:02x}}}" for at, b in sorted(prod(role, bits).items()) if b])
    for bits in (1, 3):
        emit("std::uint32_t", f"kProdRow{bits}", f"Row 1 of TurboQuantProd<16, {bits}> as it is read, coded, as words.",
             [word(x) for x in prod_row(1, bits)])
    return "\n".join(lines + ["// clang-format on", "", "}  // namespace golden", ""])


def main():
    path = pathlib.Path(__file__).with_name("turbo_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
