#!/usr/bin/env python3
"""Writes tiered_goldens.h: blocks of the tiered and the adaptive formats, from the formulas of docs/formats.md alone.

  make_tiered_goldens.py          writes it beside itself
  make_tiered_goldens.py --check  fails if what lies there differs (a test)

Tiles, halves and the golden input are those of make_goldens.py. Symmetric steps, mid-rise and zero-point codes, the table
of renewed steps, slots with outliers coded from zero, and the hash table are written out here.
"""
import contextlib
import io
import pathlib
import sys
from math import floor

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_goldens import KEY, VALUE, Block, emit_sparse, f32, half_above, half_value, planes, rows  # noqa: E402

SLOT = 17  # of the first row, where slots stand alone


class LongBlock(Block):
    """A block of 128 tokens."""

    def __init__(self, role, dim, bits):
        super().__init__(role, dim, bits)
        run = self.padded if role == KEY else 128
        self.plane_bytes = [-(-run // (32 // w)) * 64 for w in planes(bits)]
        self.code_bytes = (128 if role == KEY else self.padded) // 16 * sum(self.plane_bytes)


def signed(x, top):
    return min(max(round(x), -top), top)  # Python rounds half to even


def largest(row):
    return max(map(abs, row))


def put_half(block, at, bits):
    if bits:
        block.set_half(at, bits)


def put_fields(block, token, fields):
    """One group per token: [B/16][F][16 tokens] for keys, [F][B tokens] for values."""
    for i, bits in enumerate(fields):
        if block.role == KEY:
            at = block.code_bytes + (token // 16 * len(fields) * 16 + i * 16 + token % 16) * 2
        else:
            at = block.code_bytes + (i * 64 + token) * 2
        put_half(block, at, bits)


# --- widths of the adaptive cache ----------------------------------------------------------------
def adaptive2(row):
    step = half_above(f32(largest(row) / 2))
    return [step], [min(max(floor(f32(x / half_value(step))), -2), 1) + 2 for x in row]


def adaptive4(row):
    step = half_above(f32(largest(row) / 7))
    return [step], [signed(f32(x / half_value(step)), 7) + 8 for x in row]


def adaptive8(row):
    low, high = min(row + [0.0]), max(row + [0.0])
    step = half_above(f32(f32(high - low) / 255))
    s = half_value(step)
    zero = min(max(round(f32(-low / s)), 0), 255)
    return [step, half_above(float(zero))], [min(max(signed(f32(x / s), 255) + zero, 0), 255) for x in row]


def per_token(role, bits, coder, data):
    block = Block(role, len(data[0]), bits)
    for t, row in enumerate(data):
        fields, codes = coder(row)
        for c, code in enumerate(codes):
            block.put(SLOT + t, c, code)
        put_fields(block, SLOT + t, fields)
    return block


# --- renewed steps -------------------------------------------------------------------------------
TOP, ENTRIES = 127, 8


def by_mad(row, most):
    """Channels beyond three median deviations, the farthest ones."""
    middle = (len(row) - 1) // 2
    median = sorted(row)[middle]
    far = [f32(abs(x - median)) for x in row]
    deviation = sorted(far)[middle]
    if deviation == 0 or deviation < largest(row) * 2.0**-14:
        return []
    limit = f32(f32(4.4478) * deviation)
    return sorted(sorted((c for c in range(len(row)) if far[c] > limit), key=lambda c: (-far[c], c))[:most])


def largest_of(row, most):
    return sorted(sorted(range(len(row)), key=lambda c: (-abs(row[c]), c))[:most])


def renewed(role, data, pick, kept=4, before=0.0):
    """A block of 128 tokens; pick(row, kept): outliers of a token (None: no slots). Returns it and what it stores."""
    block, entries, stored = LongBlock(role, len(data[0]), 8), [], 0.0
    slots = (kept + 3) // 4 * 4
    for t, row in enumerate(data):
        apart = pick(row, kept) if pick else []
        dense = [abs(x) for c, x in enumerate(row) if c not in apart]
        m = max(dense, default=0.0)
        step = half_value(entries[-1][1]) if entries else 0.0
        if t == 0:
            entries.append((0, half_above(f32(max(m, before) / TOP))))
        elif m > step * 127.5:
            assert len(entries) < ENTRIES
            entries.append((t, half_above(f32(f32(1.25 * m) / TOP))))
        step = half_value(entries[-1][1])
        for c, x in enumerate(row):
            code = 0 if c in apart else signed(f32(x / step), TOP)
            block.put(t, c, code + 128)
            stored = max(stored, abs(code) * step)
        if not pick:
            continue
        scale = half_above(f32(max((abs(row[c]) for c in apart), default=0.0) / 127))
        unit = block.code_bytes + 3 * ENTRIES + t // 16 * 16 * (2 * slots + 2)
        for i, c in enumerate(apart):
            place = (i // 4 * 16 + t % 16) * 4 + i % 4
            delta = signed(f32(row[c] / half_value(scale)), 127)
            if c:
                block.set(unit + place, c)
            block.set(unit + 16 * slots + place, delta & 255)
        put_half(block, unit + 32 * slots + t % 16 * 2, scale)
    for i, (start, step) in enumerate(entries):
        block.set_half(block.code_bytes + 2 * i, step)
        if start:
            block.set(block.code_bytes + 2 * ENTRIES + i, start)
    return block, stored


# --- the hash table ------------------------------------------------------------------------------
class Bytes:
    def __init__(self):
        self.bytes = {}

    def set(self, offset, byte):
        if byte:
            self.bytes[offset] = self.bytes.get(offset, 0) | byte


def hashed(kept, data):
    dim = len(data[0])
    slots = 1
    while slots < 80 * min(kept, dim):
        slots *= 2
    key_bits = 6 + max(dim - 1, 0).bit_length()
    table, block = [None] * slots, Bytes()
    for t, row in enumerate(data):
        chosen = sorted(sorted(range(dim), key=lambda c: (-abs(row[c]), c))[:kept])
        step = half_above(f32(max(abs(row[c]) for c in chosen) / 7))
        for c in chosen:
            code = signed(f32(row[c] / half_value(step)), 7)
            if code == 0:
                continue
            key = c * 64 + SLOT + t
            at = (key * 0x9E3779B1 & 0xFFFFFFFF) >> 32 - (slots.bit_length() - 1)
            while table[at] is not None:
                at = (at + 1) % slots
            table[at] = (key, code + 8)
        side = 2 * slots + max(key_bits - 12, 0) * slots // 8 + 2 * (SLOT + t)
        block.set(side, step & 255)
        block.set(side + 1, step >> 8)
    for at, entry in enumerate(table):
        if entry is None:
            continue
        key, code = entry
        word = (key & 4095) << 4 | code
        block.set(2 * at, word & 255)
        block.set(2 * at + 1, word >> 8)
        for p in range(max(key_bits - 12, 0)):
            block.set(2 * slots + p * slots // 8 + at // 8, (key >> 12 + p & 1) << at % 8)
    return block


def text():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("// Written by make_tiered_goldens.py: do not edit.\n#pragma once\n\n#include <cstdint>\n")
        print('#include "golden/goldens.h"\n\nnamespace golden {\n')
        for role in (KEY, VALUE):
            name, end = role.capitalize(), f"{role}, rows 0..2 in slots 17..19."
            emit_sparse(f"kAdaptive2{name}", f"Adaptive2<8>, {end}", per_token(role, 2, adaptive2, rows(3, 8)))
            emit_sparse(f"kAdaptive4{name}", f"Adaptive4<8>, {end}", per_token(role, 4, adaptive4, rows(3, 8)))
            emit_sparse(f"kAdaptive8{name}", f"Adaptive8<8>, {end}", per_token(role, 8, adaptive8, rows(3, 8)))
            emit_sparse(f"kTiered8{name}", f"Tiered8<8>, {role}, rows 0..3 in slots 0..3.",
                        renewed(role, rows(4, 8), by_mad)[0])
            emit_sparse(f"kTiered8TopK{name}", f"Tiered8TopK<8>, {role}, rows 0..3 in slots 0..3.",
                        renewed(role, rows(4, 8), largest_of)[0])
        first, stored = renewed(KEY, rows(128, 1), None)
        emit_sparse("kRenewed8First", "Renewed8<1>, key, rows 0..127.", first)
        emit_sparse("kRenewed8Second", "Renewed8<1>, key, rows 128 and 129 in the block behind it.",
                    renewed(KEY, rows(130, 1)[128:], None, before=stored)[0])
        emit_sparse("kHash8", "Hash<8, 3>, rows 0..2 in slots 17..19.", hashed(3, rows(3, 8)))
        emit_sparse("kHash100", "Hash<100, 2>, rows 0..2 in slots 17..19.", hashed(2, rows(3, 100)))
        print("}  // namespace golden")
    return out.getvalue()


def self_check():
    """The published row of the adaptive quantizers."""
    row = list(map(f32, [0.9, -0.35, 0.1, -1.4, 0.02, 0.7, -0.6, 1.05]))
    (step,), codes = adaptive4(row)
    assert half_value(step) == 0.2000732421875 and [c - 8 for c in codes] == [4, -2, 0, -7, 0, 3, -3, 5]
    (step,), codes = adaptive2(row)
    assert half_value(step) == 0.7001953125 and [c - 2 for c in codes] == [1, -1, 0, -2, 0, 0, -1, 1]


def main():
    self_check()
    path = pathlib.Path(__file__).with_name("tiered_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
