#!/usr/bin/env python3
"""Writes pairs_1_test.cc .. and refused_test.cc: which compositions are tested.

  make_pairs.py          writes them beside itself
  make_pairs.py --check  fails if what lies there differs (a test)

A composition chooses one value per factor. Chosen greedily until every pair of values that some valid
composition has occurs in one, and so does every triple of (splitter, quantizer family, transform) and of
(quantizer family, bits, group). The combinations that must not compose are listed with the refusal that this
script expects by rules of its own.
"""
import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
UNITS = 3

FACTORS = {
    "split": ["NoSplit", "TopKSplit<1>", "TopKSplit<4>", "ThresholdSplit"],
    "codec": ["DenseCodec", "SlotCodec", "FusedCodec"],
    "store": ["DefaultStore", "UnitStore", "DenseStore"],
    "family": ["Affine", "Symmetric", "PowerOfTwo", "GroupShift"],
    "bits": [2, 3, 4, 5, 6, 8],
    "group": ["whole", "channels", "tokens"],
    "side": ["Half", "BFloat16", "float"],
    "transform": ["None", "Rotated", "Centered", "CenteredRotated"],
    "dim": [16, 24, 40],
}
NAMES = list(FACTORS)


def refusal(row):
    """The Refusal of a composition, by the rules of docs and headers, written a second time."""
    split, codec, store, family = row["split"], row["codec"], row["store"], row["family"]
    if codec == "FusedCodec":
        if split != "ThresholdSplit":
            return "kFusedNeedsThresholds"
        if family != "GroupShift":
            return "kFusedNeedsGroupShift"
        return "kSpillNeedsStore" if store == "DenseStore" else "kNone"
    if family == "GroupShift":
        return "kGroupShiftNeedsFused"
    if codec == "DenseCodec":
        return "kNone" if split == "NoSplit" else "kDenseTakesNoOutliers"
    return "kNone" if split.startswith("TopK") else "kSlotsNeedVectorSplit"


def valid_rows():
    for values in itertools.product(*FACTORS.values()):
        row = dict(zip(NAMES, values))
        if refusal(row) != "kNone":
            continue
        if row["family"] == "PowerOfTwo" and row["side"] != "float":
            continue
        if row["family"] == "GroupShift":  # it has neither choice: keep one row of each
            if (row["bits"], row["group"], row["side"]) != (4, "whole", "Half"):
                continue
            row.update(bits=None, group=None, side=None)
        yield row


def covered_by(row):
    """The pairs and triples that a row covers."""
    present = [(name, row[name]) for name in NAMES if row[name] is not None]
    yield from itertools.combinations(present, 2)
    yield tuple((name, row[name]) for name in ("split", "family", "transform"))
    yield tuple((name, row[name]) for name in ("family", "bits", "group"))


def choose():
    rows = list(valid_rows())
    number = {}
    masks = []
    for row in rows:
        mask = 0
        for item in covered_by(row):
            mask |= 1 << number.setdefault(item, len(number))
        masks.append(mask)
    missing = (1 << len(number)) - 1
    chosen = []
    while missing:
        best = max(range(len(rows)), key=lambda i: bin(masks[i] & missing).count("1"))
        missing &= ~masks[best]
        chosen.append(rows[best])
    return chosen


def quantizer(row):
    if row["family"] == "GroupShift":
        return "GroupShiftQuant<>"
    group = {"whole": "kWholeHead, Axis::kChannels", "channels": "32, Axis::kChannels",
             "tokens": "32, Axis::kTokens"}[row["group"]]
    side = "" if row["family"] == "PowerOfTwo" else ", " + row["side"]
    return f'{row["family"]}Quant<{row["bits"]}, {group}{side}>'


def case(number, row):
    group_channels = {"whole": row["dim"], "channels": min(32, row["dim"]), "tokens": 1, None: 0}[row["group"]]
    words = [str(row[n]) for n in ("split", "codec", "store", "transform", "dim")]
    title = f'{number:02d} {" ".join(words)}, {row["family"]}'
    if row["bits"]:
        title += f' {row["bits"]} {row["group"]} {row["side"]}'
    lines = [
        f'TEST_CASE("{title}") {{',
        f'  using Quant = {quantizer(row)};',
        f'  using Mine = Composed<{row["dim"]}, {row["transform"]}, {row["split"]}, Quant, {row["codec"]}, {row["store"]}>;',
        '  composition::Policies policies;',
        f'  policies.dim = {row["dim"]};',
        f'  policies.transform = composition::Transform::k{row["transform"]};',
        f'  policies.family = composition::Family::k{row["family"]};',
    ]
    if row["bits"]:
        lines += [f'  policies.bits = {row["bits"]};',
                  f'  policies.group_channels = {group_channels};']
        if row["group"] == "tokens":
            lines.append('  policies.group_tokens = 32;')
        if row["side"] != "float":
            lines.append(f'  policies.side_ulp = {"0x1p-10" if row["side"] == "Half" else "0x1p-7"};')
    if row["split"].startswith("TopK"):
        lines.append(f'  policies.outliers = {row["split"][-2]};')
    lines += ['  composition::round_trip<Mine>(policies);', '}']
    return lines


HEADER = "// Written by make_pairs.py; do not edit.\n"


def pairs_unit(cases):
    text = HEADER + '#include <doctest/doctest.h>\n\n#include "composition/round_trip.h"\n\nnamespace kvpleat {\nnamespace {\n\n'
    text += "using namespace composition;\n\n"
    text += "\n".join("\n".join(lines) + "\n" for lines in cases)
    return text + "\n}  // namespace\n}  // namespace kvpleat\n"


def refused_unit():
    text = HEADER + '#include <doctest/doctest.h>\n\n#include "composition/round_trip.h"\n\nnamespace kvpleat {\nnamespace {\n\n'
    text += "using composition::PowerOfTwoQuant;\n\n"
    text += """struct Row {
  Composition composed;
  Refusal expected;
};

// Every splitter, quantizer family, codec and store.
constexpr Row kRows[] = {
"""
    quants = {"Affine": "AffineQuant<4>", "Symmetric": "SymmetricQuant<4>",
              "PowerOfTwo": "PowerOfTwoQuant<4>", "GroupShift": "GroupShiftQuant<>"}
    count = refused = 0
    for values in itertools.product(*(FACTORS[n] for n in ("split", "family", "codec", "store"))):
        row = dict(zip(("split", "family", "codec", "store"), values))
        expected = refusal(row)
        count += 1
        refused += expected != "kNone"
        line = f'{{composable<{row["split"]}, {quants[row["family"]]}, {row["codec"]}, {row["store"]}>, Refusal::{expected}}},'
        if len(line) + 4 > 100:
            line = line.replace(", Refusal", ",\n     Refusal")
        text += "    " + line + "\n"
    text += f"""}};
static_assert(std::size(kRows) == {count});

constexpr bool agrees() {{
  for (const Row& row : kRows) {{
    if (row.composed.refusal != row.expected || row.composed.reason.empty()) return false;
    if (static_cast<bool>(row.composed) != (row.expected == Refusal::kNone)) return false;
  }}
  return true;
}}
static_assert(agrees());

TEST_CASE("which policies compose") {{
  int refused = 0;
  for (const Row& row : kRows) refused += !row.composed;
  CHECK(refused == {refused});
}}

}}  // namespace
}}  // namespace kvpleat
"""
    return text.replace("#include <doctest/doctest.h>\n", "#include <doctest/doctest.h>\n\n#include <iterator>\n")


def main():
    chosen = choose()
    files = {}
    for unit in range(UNITS):
        cases = [case(i + 1, row) for i, row in enumerate(chosen) if i % UNITS == unit]
        files[f"pairs_{unit + 1}_test.cc"] = pairs_unit(cases)
    files["refused_test.cc"] = refused_unit()
    stale = [name for name, text in files.items()
             if not (HERE / name).exists() or (HERE / name).read_text() != text]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"{name} is not what make_pairs.py writes")
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(files[name])
    print(f"{len(chosen)} compositions, {len(stale)} files written")
    return 0


sys.exit(main())
