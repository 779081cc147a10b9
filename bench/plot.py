#!/usr/bin/env python3
"""Draws ns per token against context, as SVG, from the JSON of attend_bench.

    attend_bench --benchmark_filter='attend/.*/d128/q1/.*' --benchmark_out=attend.json \\
                 --benchmark_out_format=json
    plot.py attend.json --queries 1 --set cold > docs/attend_q1.svg

Standard library only. One line per variant, in the order of the file; both axes are logarithmic.
"""
import argparse
import json
import math
import sys

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 40, 56
# Told apart without colour vision as well: the palette of Okabe and Ito, and dashes.
COLORS = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31"]
DASHES = ["", "", "", "", "6 3", "6 3", "2 3", "2 3"]


def read_series(data, queries, which, dim, wanted):
    """{variant: [(context, ns)]} of whole attention."""
    series = {}
    for row in data["benchmarks"]:
        parts = row["name"].split("/")
        if len(parts) < 6 or parts[0] != "attend" or row.get("error_occurred"):
            continue
        _, variant, d, q, n, kind = parts[:6]
        if d != f"d{dim}" or q != f"q{queries}" or kind != which:
            continue
        if wanted and variant not in wanted:
            continue
        if row.get("run_type") == "aggregate" and row.get("aggregate_name") != "median":
            continue
        series.setdefault(variant, {})[int(n[1:])] = row["ns/token"]
    return {variant: sorted(points.items()) for variant, points in series.items()}


def ticks(low, high):
    """1, 2, 5 times powers of ten in [low, high]."""
    exponent = math.floor(math.log10(low))
    found = []
    while 10.0**exponent <= high:
        found += [m * 10.0**exponent for m in (1, 2, 5) if low <= m * 10.0**exponent <= high]
        exponent += 1
    return found


def short(tokens):
    return f"{tokens // 1024}k" if tokens >= 1024 else str(tokens)


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{words}</text>'


def draw(series, title, subtitle):
    contexts = sorted({n for points in series.values() for n, _ in points})
    times = [ns for points in series.values() for _, ns in points]
    low, high = min(times) / 1.15, max(times) * 1.15
    span = math.log(contexts[-1] / contexts[0]) or 1.0

    def x_of(n):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(n / contexts[0]) / span

    def y_of(ns):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(ns / low) / math.log(high / low)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(LEFT, 18, title, "start", ' font-size="14" font-weight="bold"'),
        text(LEFT, 33, subtitle, "start", ' fill="#777" font-size="11"'),
    ]
    for ns in ticks(low, high):
        y = y_of(ns)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 8, y + 4, f"{ns:g}", "end"))
    for n in contexts:
        out.append(text(x_of(n), HEIGHT - BOTTOM + 18, short(n)))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, "tokens of context"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(
        text(18, middle, "ns per token and KV head", "middle", f' transform="rotate(-90 18 {middle:.1f})"')
    )
    # Names at the right end of the lines, moved apart where they would overlap.
    ends = sorted((y_of(points[-1][1]), variant) for variant, points in series.items())
    label_y = {}
    last = -math.inf
    for y, variant in ends:
        last = max(y, last + 14)
        label_y[variant] = last
    for i, (variant, points) in enumerate(series.items()):
        color, dash = COLORS[i % len(COLORS)], DASHES[i % len(DASHES)]
        path = "".join(f"{'M' if k == 0 else 'L'}{x_of(n):.1f} {y_of(ns):.1f}" for k, (n, ns) in enumerate(points))
        style = f' stroke-dasharray="{dash}"' if dash else ""
        out.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2"{style}/>')
        out += [f'<circle cx="{x_of(n):.1f}" cy="{y_of(ns):.1f}" r="2.5" fill="{color}"/>' for n, ns in points]
        end = points[-1][1]
        out.append(
            text(WIDTH - RIGHT + 10, label_y[variant] + 4, f"{variant} {end:.3g}", "start", f' fill="{color}"')
        )
    out.append("</svg>")
    return "\n".join(out)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("json", help="what attend_bench wrote")
    arguments.add_argument("--queries", type=int, default=1)
    arguments.add_argument("--dim", type=int, default=128)
    arguments.add_argument("--set", choices=["hot", "cold"], default="cold")
    arguments.add_argument("--variants", default="", help="comma-separated; all without it")
    given = arguments.parse_args()
    with open(given.json) as file:
        data = json.load(file)
    wanted = [name for name in given.variants.split(",") if name]
    series = read_series(data, given.queries, given.set, given.dim, wanted)
    if not series:
        sys.exit(f"plot.py: no attend/*/d{given.dim}/q{given.queries}/*/{given.set} in {given.json}")
    context = data["context"]
    where = "heads from DRAM" if given.set == "cold" else "one head again and again"
    count = "1 query" if given.queries == 1 else f"{given.queries} queries"
    title = f"Attention over compressed caches: {count} per KV head, {where}"
    subtitle = (
        f"{context.get('cpu', '?')}, one core, {context.get('target', '?')}, {context.get('compiler', '?')}, "
        f"{context.get('date', '')[:10]}; head_dim {given.dim}"
    )
    print(draw(series, title, subtitle))


if __name__ == "__main__":
    main()
