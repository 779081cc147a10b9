#!/usr/bin/env python3
"""Turns the lines of `report --json` into a Markdown table.

    report --json | table.py            # all rows
    report --json | table.py int4_ oaken

Arguments are parts of names. Rows without a target show "-".
"""
import json
import sys


def number(value):
    return f"{value:.3g}" if value else "-"


def verdict(row):
    if not row["target"]:
        return ""
    if row["ratio"] >= row["target"]:
        return "reached"
    return "accepted" if row["ratio"] >= row["minimum"] else "missed"


def main(wanted):
    print("| check | set | ratio | target | minimum | measured | |")
    print("|---|---|---|---|---|---|---|")
    for line in sys.stdin:
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if wanted and not any(part in row["check"] for part in wanted):
            continue
        print(
            f"| `{row['check']}` | {row['working_set']} | {row['ratio']:.3g} | {number(row['target'])} | "
            f"{number(row['minimum'])} | {row['measured']:.3g} {row['unit']} | {verdict(row)} |"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
