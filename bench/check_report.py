#!/usr/bin/env python3
"""Runs the report on tiny sizes and checks its lines. Usage: check_report.py REPORT

The report itself compares every kernel with the reference before timing it, and fails if one is wrong.
"""
import json
import math
import subprocess
import sys

KEYS = ["check", "ratio", "target", "minimum", "measured", "unit", "working_set", "target_simd"]
NUMBERS = {"ratio", "target", "minimum", "measured"}


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"report {' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_row(row):
    if list(row) != KEYS:
        return f"keys are {list(row)}"
    for key, value in row.items():
        if key in NUMBERS:
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
                return f"{key} is {value!r}"
        elif not isinstance(value, str) or not value:
            return f"{key} is {value!r}"
    if not row["ratio"] > 0 or not row["measured"] > 0:
        return "nothing was measured"
    if row["minimum"] > row["target"]:
        return "the minimum is above the target"
    return None


def main(program):
    rows = [json.loads(line) for line in run(program, "--quick", "--json").splitlines()]
    names = [row["check"] for row in rows]
    for row in rows:
        if wrong := check_row(row):
            sys.exit(f"report: {row.get('check')}: {wrong}")
    if len(set(names)) != len(names):
        sys.exit("report: two rows of one name")
    listed = run(program, "--list").splitlines()
    if missing := sorted(set(names) - set(listed)):
        sys.exit(f"report: --list lacks {missing}")
    part = "int4_vs_f16_q1"
    chosen = [json.loads(line)["check"] for line in run(program, "--quick", "--json", part).splitlines()]
    if chosen != [name for name in names if part in name]:
        sys.exit(f"report {part}: rows {chosen}")
    if len(rows) < 60:
        sys.exit(f"report: only {len(rows)} rows")
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
