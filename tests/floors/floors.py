#!/usr/bin/env python3
"""Checks who includes whom. Usage: floors.py CHECKOUT

A header includes only lower floors or its own room. The rules are proven first, on a planted tree.
"""
import re
import sys
import tempfile
from pathlib import Path

FLOORS = {
    "core": 1,
    "transform": 2, "split": 2, "quant": 2, "codec": 2,
    "format": 3, "store": 3, "allocate": 3,
    "simd": 4,
    "cache": 5,
    "attention": 6, "calibrate": 6, "plan": 6,
    "cuda": 7,
}  # fmt: skip
UMBRELLA = 99  # headers directly in kvpleat/ may include everything

STD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution expected filesystem
format forward_list fstream functional future generator initializer_list iomanip ios iosfwd iostream istream
iterator latch limits list locale map mdspan memory memory_resource mutex new numbers numeric optional
ostream print queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location
span sstream stack stacktrace stdexcept stdfloat stop_token streambuf string string_view strstream
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
valarray variant vector version
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
OURS = re.compile(r"kvpleat/(?:([a-z_]+)/)?[a-z0-9_]+(?:-inl)?\.h")
INTRINSICS = re.compile(r"([a-z0-9]*intrin|arm_neon|arm_sve)\.h")
PRINTING = re.compile(r"\b(?:f|v|vf)?printf\s*\(|\bputs\s*\(|\bstd::(?:cout|cerr|clog)\b")


def strip_comments(text):
    """Blanks comments, keeps strings and line numbers."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
    def keep(match):
        found = match.group(0)
        return found if found[0] == '"' else "\n" * found.count("\n")
    return token.sub(keep, text)


def check_include(room, name, quote, target, roots):
    """Says what is wrong with one include line, or None."""
    if target.startswith("kvpleat/") or quote == '"':
        match = OURS.fullmatch(target)
        if quote != '"' or not match:
            return f'write our headers as "kvpleat/room/header.h", not {target}'
        if not any((root / target).is_file() for root in roots):
            return f"no such header: {target}"
        other = match.group(1)
        if room is None:
            return None
        if other is None:
            return f"{room}/ includes the umbrella {target}"
        if {room, other} == {"simd", "cuda"}:
            return "simd/ and cuda/ never include each other"
        if other != room and FLOORS.get(other, UMBRELLA) >= FLOORS[room]:
            return f"{room}/ (floor {FLOORS[room]}) includes {other}/ (floor {FLOORS.get(other, '?')})"
        return None
    if target in ("iostream", "cstdio", "stdio.h", "print"):
        return f"no I/O in headers: <{target}>"
    if re.match(r"(eigen3/|Eigen/|unsupported/Eigen)", target):
        if room == "calibrate" or (room, name) == (None, "eigen.h"):
            return None
        return f"Eigen belongs to calibrate/ and kvpleat/eigen.h: <{target}>"
    if target.startswith("hwy/"):
        return None if room == "simd" else f"Highway belongs to simd/: <{target}>"
    if room == "core" and target not in STD:
        return f"core/ includes the standard library only: <{target}>"
    if room is not None and FLOORS[room] <= 3 and INTRINSICS.fullmatch(target):
        return f"floors 1 to 3 do not know that SIMD exists: <{target}>"
    return None


def check(checkout):
    """All violations of a tree as 'file:line: text', and the number of headers seen."""
    roots = [checkout / "include", checkout / "cuda"]
    found, seen = [], 0
    for root in roots:
        for path in sorted((root / "kvpleat").rglob("*.h")):
            seen += 1
            parts = path.relative_to(root / "kvpleat").parts
            room = parts[0] if len(parts) > 1 else None
            place = path.relative_to(checkout)
            if room is not None and (room not in FLOORS or len(parts) > 2):
                found.append(f"{place}:1: no floor is known for {'/'.join(parts[:-1])}/")
                continue
            for number, line in enumerate(strip_comments(path.read_text()).split("\n"), 1):
                include = INCLUDE.match(line)
                if include:
                    problem = check_include(room, parts[-1], include[1], include[2], roots)
                    if problem:
                        found.append(f"{place}:{number}: {problem}")
                elif PRINTING.search(line):
                    found.append(f"{place}:{number}: no I/O in headers: {line.strip()}")
    return found, seen


def self_check():
    """Each rule must find its planted violation, at its line, and nothing else."""
    good = {
        "kvpleat.h": ['#include "kvpleat/cache/a.h"', '#include "kvpleat/attention/a.h"'],
        "core/a.h": ["#include <bit>", "// #include <iostream>", "/* printf( */"],
        "transform/a.h": ['#include "kvpleat/core/a.h"'],
        "eigen.h": ["#include <Eigen/Core>", '#include "kvpleat/attention/a.h"'],
        "quant/a.h": ['#include "kvpleat/core/a.h"', '#include "kvpleat/quant/b.h"'],
        "quant/b.h": [],
        "simd/a-inl.h": ["#include <hwy/highway.h>", "#include <immintrin.h>"],
        "cache/a.h": ['#include "kvpleat/simd/a-inl.h"'],
        "attention/a.h": ['#include "kvpleat/cache/a.h"'],
        "calibrate/a.h": ["#include <Eigen/Dense>"],
    }
    bad = {  # header: (line, words of the report)
        "core/up.h": ('#include "kvpleat/quant/a.h"', "floor 1"),
        "core/posix.h": ("#include <unistd.h>", "standard library only"),
        "core/umbrella.h": ('#include "kvpleat/kvpleat.h"', "umbrella"),
        "quant/side.h": ('#include "kvpleat/split/a.h"', "no such header"),
        "quant/sideways.h": ('#include "kvpleat/transform/a.h"', "floor 2"),
        "quant/vector.h": ("#include <immintrin.h>", "SIMD exists"),
        "quant/hwy.h": ("#include <hwy/highway.h>", "belongs to simd/"),
        "quant/eigen.h": ("#include <Eigen/Core>", "Eigen belongs"),
        "transform/eigen.h": ("#include <eigen3/Eigen/Core>", "Eigen belongs"),
        "other.h": ("#include <Eigen/Core>", "Eigen belongs"),
        "cache/up.h": ('#include "kvpleat/attention/a.h"', "floor 5"),
        "cache/relative.h": ('#include "a.h"', "write our headers"),
        "cache/angle.h": ("#include <kvpleat/core/a.h>", "write our headers"),
        "cache/stream.h": ("#include <iostream>", "no I/O"),
        "cache/print.h": ('  std::printf("x");', "no I/O"),
        "simd/device.h": ('#include "kvpleat/cuda/a.h"', "never include each other"),
        "attic/a.h": ("", "no floor is known"),
    }
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        def write(root, header, lines):
            path = tree / root / "kvpleat" / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(["#pragma once", *lines]) + "\n")
        for header, lines in good.items():
            write("include", header, lines)
        write("cuda", "cuda/a.h", ['#include "kvpleat/attention/a.h"'])
        found, _ = check(tree)
        assert not found, f"a clean tree is reported: {found}"
        for header, (line, _) in bad.items():
            write("include", header, [line])
        write("cuda", "cuda/b.h", ['#include "kvpleat/simd/a-inl.h"'])
        bad_places = {f"include/kvpleat/{header}:{1 if 'attic' in header else 2}": words
                      for header, (_, words) in bad.items()}
        bad_places["cuda/kvpleat/cuda/b.h:2"] = "never include each other"
        found, _ = check(tree)
        for place, words in bad_places.items():
            assert any(f.startswith(place + ":") and words in f for f in found), f"missed: {place} {words}"
        assert len(found) == len(bad_places), f"too much is reported: {found}"


def main():
    self_check()
    found, seen = check(Path(sys.argv[1]).resolve())
    for line in found:
        print(line)
    print(f"floors: {seen} headers, {len(found)} violations")
    if seen == 0:
        print("floors: nothing to check is a failure")
    return 1 if found or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
