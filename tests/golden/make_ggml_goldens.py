#!/usr/bin/env python3
"""Writes ggml_goldens.h: runs of 32 values in ggml's block types, from the formulas of docs/formats.md alone.

  make_ggml_goldens.py          writes it beside itself
  make_ggml_goldens.py --check  fails if what lies there differs (a test)

Nothing here calls the library. Every float operation is rounded to binary32 (`f32`): a double holds the exact sum,
difference or product of two floats of these magnitudes, and a quotient rounded twice (53, then 24 bits) is the quotient
rounded once.
"""
import math
import pathlib
import struct
import sys

LEVELS = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half(x):
    return struct.pack("<e", x)  # nearest, ties to even


def extreme(x):
    return max(x, key=abs)  # the first of equals


def inverse(d):
    return f32(1 / d) if d else 0.0


def nibbles(codes):
    return bytes(codes[j] & 15 | (codes[j + 16] & 15) << 4 for j in range(16))


def high_bits(codes):
    return struct.pack("<I", sum(code >> 4 << i for i, code in enumerate(codes)))


def around_zero(x, bits):
    zero = 1 << bits - 1
    d = f32(extreme(x) / -zero)
    codes = [min(int(f32(f32(v * inverse(d)) + zero + 0.5)), 2 * zero - 1) for v in x]
    return half(d), codes


def above_minimum(x, bits):
    top = (1 << bits) - 1
    d = f32(f32(max(x) - min(x)) / top)
    codes = [min(int(f32(f32(f32(v - min(x)) * inverse(d)) + 0.5)), top) for v in x]
    return half(d) + half(min(x)), codes


def q4_0(x):
    scale, codes = around_zero(x, 4)
    return scale + nibbles(codes)


def q5_0(x):
    scale, codes = around_zero(x, 5)
    return scale + high_bits(codes) + nibbles(codes)


def q4_1(x):
    scale, codes = above_minimum(x, 4)
    return scale + nibbles(codes)


def q5_1(x):
    scale, codes = above_minimum(x, 5)
    return scale + high_bits(codes) + nibbles(codes)


def q8_0(x):
    d = f32(abs(extreme(x)) / 127)
    steps = [f32(v * inverse(d)) for v in x]
    return half(d) + struct.pack("<32b", *(int(math.copysign(math.floor(abs(s) + 0.5), s)) for s in steps))


def iq4_nl(x):
    if max(map(abs, x)) < f32(1e-15):
        return bytes(18)
    to_level = inverse(f32(extreme(x) / -127))
    codes = []
    for v in x:
        s = f32(v * to_level)
        codes.append(min(range(16), key=lambda k: (abs(LEVELS[k] - s), -k)))
    along = square = 0.0
    for v, code in zip(x, codes):
        weighted = f32(f32(v * v) * LEVELS[code])
        along = f32(along + f32(weighted * v))
        square = f32(square + f32(weighted * LEVELS[code]))
    return half(f32(along / square)) + nibbles(codes)


def golden_input(token, channel):
    return ((3701 * token + 2311 * channel * channel + 1109 * channel + 5) % 16381 - 8190) / 2048.0


def cases():
    """Rows of 32: two of the common input, one of powers of two (ties, zeros, both signs of the extreme)."""
    rows = [[golden_input(t, c) for c in range(32)] for t in range(2)]
    return rows + [[(-1) ** c * 2.0 ** (c % 7) if c % 5 else 0.0 for c in range(31)] + [-64.0]]


def text():
    lines = ["// Written by make_ggml_goldens.py: do not edit.", "#pragma once", "", "#include <cstdint>", "",
             "namespace golden {", "", "// The third row of the input: powers of two, zeros.",
             "// clang-format off", "inline constexpr float kGgmlPowers[32] = {"]  # fmt: skip
    lines += wrapped([f"{v}f" for v in cases()[2]]) + ["};"]
    for quantize in (q4_0, q4_1, q5_0, q5_1, q8_0, iq4_nl):
        runs = [quantize(row) for row in cases()]
        name = "".join(part.capitalize() for part in quantize.__name__.replace("_0", "-0").replace("_1", "-1").split("_"))
        name = name.replace("-", "_")
        lines.append(f"inline constexpr std::uint8_t kGgml{name}[3][{len(runs[0])}] = {{")
        for run in runs:
            body = wrapped([f"0x{b:02x}" for b in run])
            body[0] = "    {" + body[0].lstrip()
            body[-1] = body[-1].rstrip(",") + "},"
            lines += body
        lines.append("};")
    return "\n".join(lines + ["// clang-format on", "", "}  // namespace golden", ""])


def wrapped(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return lines + [line]


def main():
    path = pathlib.Path(__file__).with_name("ggml_goldens.h")
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != text():
            sys.exit(f"{path.name} is not what this script writes")
    else:
        path.write_text(text())


if __name__ == "__main__":
    main()
