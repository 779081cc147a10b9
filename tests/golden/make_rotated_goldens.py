#!/usr/bin/env python3
"""Writes rotated_goldens.h: Lloyd-Max levels and bytes of the rotated formats, from the formulas of docs/formats.md.

  make_rotated_goldens.py          writes it beside itself
  make_rotated_goldens.py --check  fails if what lies there differs (a test)

Nothing here calls the library. Levels come from another method than there: Lloyd's alternation, then Newton's method with
a numerical Jacobian, masses of the cells by Gauss-Legendre quadrature. The tile, the rotations and the float arithmetic are those of
make_goldens.py.
"""
import functools
import math
import pathlib
import struct
import sys

from make_goldens import KEY, MEAN, VALUE, Block, f32, golden_input, hadamard, half_bits, half_value, random_sign, rotate


# --- levels --------------------------------------------------------------------------------------
def legendre(n):
    """Nodes and weights of n-point Gauss-Legendre quadrature on [-1, 1]."""
    nodes = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(20):
            p, q = 1.0, 0.0
            for k in range(n):
                p, q = ((2 * k + 1) * x * p - k * q) / (k + 1), p
            slope = n * (x * p - q) / (x * x - 1)
            x -= p / slope
        nodes.append((x, 2 / ((1 - x * x) * slope * slope)))
    return nodes


NODES = legendre(24)


def integral(f, a, b):
    """Four panels of 24 points: exact to rounding for these densities."""
    parts = []
    for k in range(4):
        low, high = a + (b - a) * k / 4, a + (b - a) * (k + 1) / 4
        half = (high - low) / 2
        parts += [half * w * f((low + high) / 2 + half * x) for x, w in NODES]
    return math.fsum(parts)


def levels(dim, bits):
    """Positive levels for unit variance; dim 0: N(0,1). Rounds of Lloyd's alternation, then Newton's method on c - mean(c)
    with a Jacobian by differences of the means (a mean depends on three levels)."""
    if dim:
        end = math.sqrt(dim)
        density = lambda x: max(1 - x * x / dim, 0.0) ** ((dim - 3) / 2)
    else:
        end = 12.0
        density = lambda x: math.exp(-x * x / 2)
    n = 1 << bits >> 1

    def mean(a, b):
        return integral(lambda x: x * density(x), a, b) / integral(density, a, b)

    def residual(c, i):
        low = (c[i - 1] + c[i]) / 2 if i > 0 else 0.0
        high = (c[i] + c[i + 1]) / 2 if i + 1 < n else end
        return c[i] - mean(low, high)

    c = [3.0 * (i + 0.5) / n if n > 1 else 0.8 for i in range(n)]
    for _ in range(60):
        c = [c[i] - residual(c, i) for i in range(n)]
    for _ in range(6):
        wanted = [residual(c, i) for i in range(n)]
        matrix = [[0.0] * n for _ in range(n)]
        for j in range(n):
            moved = list(c)
            moved[j] += 1e-6
            for i in range(max(j - 1, 0), min(j + 2, n)):
                matrix[i][j] = (residual(moved, i) - wanted[i]) / 1e-6
        # Elimination without pivots: the matrix is close to a diagonally dominant one.
        for i in range(n):
            for k in range(i + 1, n):
                factor = matrix[k][i] / matrix[i][i]
                wanted[k] -= factor * wanted[i]
                for j in range(i, n):
                    matrix[k][j] -= factor * matrix[i][j]
        step = [0.0] * n
        for i in reversed(range(n)):
            step[i] = (wanted[i] - sum(matrix[i][j] * step[j] for j in range(i + 1, n))) / matrix[i][i]
        c = [x - d for x, d in zip(c, step)]
    return c


@functools.lru_cache(None)
def book(dim, bits):
    c = [f32(x) for x in levels(dim, bits)]
    return [-x for x in reversed(c)] + c


# --- scales --------------------------------------------------------------------------------------
ROOTS = [2 ** (i / 16) for i in range(16)]
LOG_VALUES = [0.0] + [f32(2.0 ** ((k - 120) / 16)) for k in range(1, 256)]


class HalfSide:
    size = 2
    bits = staticmethod(half_bits)
    value = staticmethod(half_value)


class LogSide:
    size = 1
    value = staticmethod(lambda code: LOG_VALUES[code])
    bits = staticmethod(lambda x: min(range(256), key=lambda k: (abs(LOG_VALUES[k] - x), k)))


def encode_row(row, c, policy, side):
    """(stored bits, codes, decoded)."""
    coding = side.value(side.bits(f32(math.sqrt(math.fsum(x * x for x in row) / len(row)))))
    if coding == 0:
        return 0, [0] * len(row), [0.0] * len(row)
    thresholds = [f32((a + b) / 2) for a, b in zip(c, c[1:])]
    codes = [sum(f32(x / coding) > t for t in thresholds) for x in row]
    xx = math.fsum(x * x for x in row)
    cx = math.fsum(c[k] * x for k, x in zip(codes, row))
    cc = math.fsum(c[k] * c[k] for k in codes)
    exact = {"norm": coding, "matched": math.sqrt(xx / cc), "least_squares": cx / cc, "unbiased": xx / cx}[policy]
    stored = side.bits(f32(exact))
    return stored, codes, [f32(c[k] * side.value(stored)) for k in codes]


def put_side(block, token, size, bits):
    if block.role == KEY:
        at = block.code_bytes + (token // 16 * 16 + token % 16) * size
    else:
        at = block.code_bytes + token * size
    for i in range(size):
        block.set(at + i, bits >> 8 * i & 255)


# --- formats -------------------------------------------------------------------------------------
def rotated(row):
    """dim 16 and 12 = 8 + 4."""
    signed = [v * random_sign(1, c) for c, v in enumerate(row)]
    return hadamard(signed) if len(row) == 16 else hadamard(signed[:8]) + hadamard(signed[8:])


def plain(role, dim, bits, policy, side, slot, rows):
    block, c = Block(role, dim, bits), book(dim if dim >= 16 else 0, bits)
    for t, row in enumerate(rows):
        stored, codes, _ = encode_row(row, c, policy, side)
        for channel, code in enumerate(codes):
            block.put(slot + t, channel, code)
        put_side(block, slot + t, side.size, stored)
    return block


SCALES = [[0.0, 1.25, 0.75, 1.5][c % 4] for c in range(16)]  # 0 counts as 1
DIRECTION = [0.25 * (-1 if c % 3 == 0 else 1) for c in range(16)]  # of length 1
STEP = 0.0625


def balanced(role, bits, policy, slot, rows):
    """dim 16: scales, rotation, direction."""
    block, c = Block(role, 16, bits), book(16, bits)
    for t, row in enumerate(rows):
        x = rotated([f32(v / (s or 1.0)) for v, s in zip(row, SCALES)])

        def coefficient(values):
            return min(max(round(f32(f32(math.fsum(d * v for d, v in zip(DIRECTION, values))) / STEP)), -127), 127)

        first = coefficient(x)
        rest = [f32(v - f32(f32(first * STEP) * d)) for v, d in zip(x, DIRECTION)]
        stored, codes, decoded = encode_row(rest, c, policy, LogSide)
        for channel, code in enumerate(codes):
            block.put(slot + t, channel, code)
        put_side(block, slot + t, 1, stored)
        last = coefficient([f32(v - y) for v, y in zip(x, decoded)])
        block.set(block.code_bytes + 64 + slot + t, last & 255)
    return block


def rows(tokens, dim):
    return [[golden_input(t, c) for c in range(dim)] for t in range(tokens)]


# --- writing -------------------------------------------------------------------------------------
def wrapped(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return lines + [line]


def text():
    lines = ["// Written by make_rotated_goldens.py: do not edit.", "#pragma once", "", "#include <cstdint>", "",
             '#include "golden/goldens.h"', "", "namespace golden {", "", "// clang-format off"]  # fmt: skip

    def emit(kind, name, comment, items):
        lines.extend([f"// {comment}", f"inline constexpr {kind} {name}[] = {{", *wrapped(items), "};"])

    def emit_levels(name, dim, bits):
        words = [struct.unpack("<I", struct.pack("<f", x))[0] for x in book(dim, bits)]
        law = f"sphere of {dim}" if dim else "N(0,1)"
        emit("std::uint32_t", name, f"Levels of {law}, {bits} bits.", [f"0x{w:08x}" for w in words])

    def emit_block(name, comment, block):
        emit("ByteAt", name, comment, [f"{{{at}, 0x{b:02x}}}" for at, b in sorted(block.bytes.items()) if b])

    emit_levels("kGauss4", 0, 4)
    for bits in range(1, 6):
        emit_levels(f"kSphere64_{bits}", 64, bits)
    emit_levels("kSphere80_4", 80, 4)
    emit_levels("kSphere128_4", 128, 4)
    emit("float", "kScales", "Of the balanced formats below: scales; the direction, and its step.",
         [f"{s}f" for s in SCALES])
    emit("float", "kDirection", "", [f"{d}f" for d in DIRECTION + [STEP]])
    where = "rows 0..2 in slots 17..19."
    for role in (KEY, VALUE):
        name = role.capitalize()
        turned = [rotated(row) for row in rows(3, 16)]
        for bits in (4, 3, 2):
            emit_block(f"kTurboQuant{bits}{name}", f"TurboQuant<16, {bits}>, {role}, {where}",
                       plain(role, 16, bits, "norm", HalfSide, 17, turned))
        policy = "unbiased" if role == KEY else "least_squares"
        for bits in (4, 3, 2):
            emit_block(f"kBalanced{bits}{name}", f"Balanced{name}<16, {bits}>, {role}, mean 0, {where}",
                       balanced(role, bits, policy, 17, rows(3, 16)))
    matched = plain(VALUE, 16, 4, "matched", LogSide, 17, [rotated(row) for row in rows(3, 16)])
    emit_block("kMatchedLog4Value", f"RotatedBook<16, 4, ..., kMatchedNorm, LogScale8>, value, {where}", matched)
    centred = [rotated([f32(x - m) for x, m in zip(row, rotate(MEAN, 1000 + t))]) for t, row in enumerate(rows(3, 12))]
    emit_block("kCodebook4Key", "CodebookKey<12, 4> at positions 1000..1002, rotation and mean of CenteredRotatedKey.",
               plain(KEY, 12, 4, "unbiased", HalfSide, 17, centred))
    return "\n".join(lines + ["// clang-format on", "", "}  // namespace golden", ""]).replace("// \n", "")


def main():
    path = pathlib.Path(__file__).with_name("rotated_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
