#!/usr/bin/env python3
"""Writes minifloat_goldens.h: blocks of FP8, MXFP4 and NVFP4, from the formulas of docs/formats.md alone.

  make_minifloat_goldens.py          writes it beside itself
  make_minifloat_goldens.py --check  fails if what lies there differs (a test)

The tile is that of make_goldens.py. Minifloats are found by search over all values of their bytes; sums of errors are
exact fractions, so no order of summation enters.
"""
import contextlib
import io
import pathlib
import sys
from fractions import Fraction
from math import floor, log2

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_goldens import KEY, VALUE, Block, emit_sparse, f32, half_above, half_value, rows  # noqa: E402

SLOT = 17  # of the first row
HEAD_SCALE = 0.03125 * 1.5


def magnitudes(exponent_bits, mantissa_bits, bias, largest):
    """Values of the bytes 0, 1, ... of positive sign, up to the largest."""
    values = []
    for byte in range(1 << exponent_bits + mantissa_bits):
        e, m = byte >> mantissa_bits, (byte & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
        values.append(m * 2.0 ** (1 - bias) if e == 0 else (1 + m) * 2.0 ** (e - bias))
        if values[-1] == largest:
            return values


E4M3 = magnitudes(4, 3, 7, 448.0)
E5M2 = magnitudes(5, 2, 15, 57344.0)
E2M1 = magnitudes(2, 1, 1, 6.0)


def nearest(values, x):
    """Index of the value nearest to |x|, ties to the even index."""
    return min(range(len(values)), key=lambda k: (abs(Fraction(values[k]) - Fraction(abs(x))), k % 2))


def code(values, x, sign_bit):
    return nearest(values, x) | (sign_bit if x < 0 else 0)


def value(values, byte, sign_bit, step):
    size = values[byte & sign_bit - 1]
    return f32(f32(-size if byte & sign_bit else size) * step)


def store_scale(block, group, groups, token, data):
    """One field per group: [B/16][G][16 tokens] for keys, [G][64 tokens] for values."""
    if block.role == KEY:
        at = (token // 16 * groups + group) * 16 + token % 16
    else:
        at = group * 64 + token
    for i, byte in enumerate(data):
        block.set(block.code_bytes + at * len(data) + i, byte)


def fp8(role, values, tokens, step):
    block = Block(role, 8, 8)
    for t, row in enumerate(tokens):
        for c, x in enumerate(row):
            block.put(SLOT + t, c, code(values, f32(x / step), 128))
    return block


def fp8_token(role, tokens):
    block = Block(role, 8, 8)
    for t, row in enumerate(tokens):
        bits = half_above(f32(max(map(abs, row)) / 448))
        for c, x in enumerate(row):
            block.put(SLOT + t, c, code(E4M3, f32(x / half_value(bits)), 128))
        store_scale(block, 0, 1, SLOT + t, bits.to_bytes(2, "little"))
    return block


def fp4(role, dim, group, tokens, rule_byte, offsets, step_of, top):
    block = Block(role, dim, 4)
    groups = -(-dim // group)
    for t, row in enumerate(tokens):
        for g in range(groups):
            members = row[g * group : (g + 1) * group]
            best = None
            for offset in offsets:
                byte = min(max(rule_byte(members) + offset, 0), top)
                step = step_of(byte)
                codes = [code(E2M1, f32(x / step), 8) if step else 0 for x in members]
                # Errors are floats; their squares and sum are exact.
                lost = sum(Fraction(f32(x - value(E2M1, k, 8, step))) ** 2 for x, k in zip(members, codes))
                if best is None or lost < best[0]:
                    best = lost, byte, codes
            for i, k in enumerate(best[2]):
                block.put(SLOT + t, g * group + i, k)
            store_scale(block, g, groups, SLOT + t, [best[1]])
    return block


def mxfp4(role, tokens, offsets):
    rule = lambda x: max(floor(log2(max(map(abs, x)))) - 2 + 127, 0)
    return fp4(role, 40, 32, tokens, rule, offsets, lambda byte: 2.0 ** (byte - 127), 254)


def nvfp4(role, tokens, offsets, head_scale):
    rule = lambda x: nearest(E4M3, f32(f32(max(map(abs, x)) / 6) / head_scale))
    return fp4(role, 24, 16, tokens, rule, offsets, lambda byte: f32(E4M3[byte] * head_scale), 0x7E)


def text():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("// Written by make_minifloat_goldens.py: do not edit.\n#pragma once\n\n#include <cstdint>\n")
        print('#include "golden/goldens.h"\n\nnamespace golden {\n')
        print(f"inline constexpr float kHeadScale = {HEAD_SCALE}f;\n")
        for role in (KEY, VALUE):
            name, end = role.capitalize(), f"{role}, in slots 17, 18."
            emit_sparse(f"kFp8E4m3{name}", f"Fp8E4m3<8>, kHeadScale, {end}", fp8(role, E4M3, rows(2, 8), HEAD_SCALE))
            emit_sparse(f"kFp8E5m2{name}", f"Fp8E5m2<8>, {end}", fp8(role, E5M2, rows(2, 8), 1.0))
            emit_sparse(f"kFp8E4m3Token{name}", f"Fp8E4m3Token<8>, {end}", fp8_token(role, rows(2, 8)))
            emit_sparse(f"kMxfp4{name}", f"Mxfp4<40>, {end}", mxfp4(role, rows(2, 40), [0]))
            emit_sparse(f"kMxfp4Search{name}", f"Mxfp4Search<40>, {end}", mxfp4(role, rows(2, 40), [0, 1, -1]))
            emit_sparse(f"kNvfp4Plain{name}", f"Nvfp4Plain<24>, {end}", nvfp4(role, rows(2, 24), [0], 1.0))
            emit_sparse(f"kNvfp4{name}", f"Nvfp4<24>, kHeadScale, {end}",
                        nvfp4(role, rows(2, 24), [0, 1, -1, 4, 5], HEAD_SCALE))  # fmt: skip
        print("}  // namespace golden")
    return out.getvalue()


def main():
    path = pathlib.Path(__file__).with_name("minifloat_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
