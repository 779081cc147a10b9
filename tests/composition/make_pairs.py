#!/usr/bin/env python3
"""Writes pairs_1_test.cc .., crossed_1_test.cc .. and refused_test.cc: which compositions are tested.

  make_pairs.py          writes them beside itself
  make_pairs.py --check  fails if what lies there differs (a test)

A composition chooses one value per factor. Chosen greedily until every pair of values that some valid
composition has occurs in one, and so does every triple of (splitter, quantizer family, transform) and of
(quantizer family, bits, group). That is pairs_*: the plain policies with all their parameters. crossed_*: every
policy of the library against every other, a few parameters each; a cache has keys of one composition and values of
another. The combinations that must not compose are listed with the refusal that this script expects by rules of its
own.
"""
import heapq
import itertools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
UNITS = 3
CROSSED_UNITS = 4

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


# --- Every policy: C++ type, what it is, what the oracle must know of it ---------------------------------------

HALF, BFLOAT16 = "0x1p-10", "0x1p-7"

SPLITS = {  # kind: vector (so many per token), bands (outer, inner), filter, direction, none
    "NoSplit": ("NoSplit", "none", {}),
    "TopK": ("TopKSplit<4>", 4, {"splitter": "kTopK", "outliers": 4}),
    "Range": ("RangeSplit<>", 576, {"splitter": "kRange"}),
    "RangeCapped": ("RangeSplit<4>", 4, {"splitter": "kRange", "outliers": 4}),
    "Mad": ("MadSplit<4>", 4, {"splitter": "kMad", "outliers": 4}),
    "MadTensor": ("MadSplit<3, MadOfTensor>", 3, {"splitter": "kMad", "outliers": 3, "mad": "kTensor"}),
    "MadClamp": ("MadClamp<>", "filter", {"splitter": "kMadClamp"}),
    "MadClampChannel": ("MadClamp<MadOfChannel<DIM>>", "filter", {"splitter": "kMadClamp", "mad": "kChannel"}),
    "Threshold": ("ThresholdSplit", (1, 1), {"splitter": "kBands"}),
    "Bands21": ("NestedBands<2, 1>", (2, 1), {"splitter": "kBands", "outer_bands": 2}),
    "Bands12": ("NestedBands<1, 2>", (1, 2), {"splitter": "kBands", "inner_bands": 2}),
    "Bands10": ("NestedBands<1, 0>", (1, 0), {"splitter": "kBands", "inner_bands": 0}),
    "Direction": ("DirectionSplit<DIM>", "direction", {"splitter": "kDirection"}),
}
SPLIT_FAMILY = {"RangeCapped": "Range", "MadTensor": "Mad", "MadClampChannel": "MadClamp", "Bands21": "Bands",
                "Bands12": "Bands", "Bands10": "Bands"}

# kind: tile (along channels), tokens, long (more than 64 tokens wait), bands (outer, inner, bits of an outlier),
# runs, sketch; symmetric4: what HashSparse takes, but for the sketch behind it.
QUANTS = {
    "Affine": ("AffineQuant<4>", "tile", {"family": "kAffine", "side_ulp": HALF}),
    "AffineTokens": ("AffineQuant<3, 32, Axis::kTokens>", "tokens",
                     {"family": "kAffine", "bits": 3, "group_channels": 1, "group_tokens": 32, "side_ulp": HALF}),
    "Symmetric": ("SymmetricQuant<4>", "tile", {"family": "kSymmetric", "side_ulp": HALF}),
    "PowerOfTwo": ("PowerOfTwoQuant<4>", "tile", {"family": "kPowerOfTwo"}),
    "MidRise": ("MidRiseQuant<4>", "tile", {"family": "kMidRise", "side_ulp": HALF}),
    "MidRise2": ("MidRiseQuant<2, 16, Axis::kChannels, BFloat16>", "tile",
                 {"family": "kMidRise", "bits": 2, "group_channels": 16, "side_ulp": BFLOAT16}),
    "MidRiseTokens": ("MidRiseQuant<5, 32, Axis::kTokens, float>", "tokens",
                      {"family": "kMidRise", "bits": 5, "group_channels": 1, "group_tokens": 32}),
    "ZeroPoint": ("ZeroPointQuant<4>", "tile", {"family": "kZeroPoint", "side_ulp": HALF}),
    "ZeroPoint8": ("ZeroPointQuant<8, 16>", "tile",
                   {"family": "kZeroPoint", "bits": 8, "group_channels": 16, "side_ulp": HALF}),
    "ZeroPointTokens": ("ZeroPointQuant<3, 32, Axis::kTokens, float>", "tokens",
                        {"family": "kZeroPoint", "bits": 3, "group_channels": 1, "group_tokens": 32}),
    "Codebook": ("CodebookQuant<4, GaussianBook>", "tile", {"family": "kCodebook", "scaling": "kLeastSquares"}),
    "CodebookNorm": ("CodebookQuant<2, SphereBook<DIM>, ScalePolicy::kNorm>", "tile",
                     {"family": "kCodebook", "bits": 2, "scaling": "kNorm", "sphere": "true"}),
    "CodebookMatched": ("CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>", "tile",
                        {"family": "kCodebook", "bits": 3, "scaling": "kMatchedNorm"}),
    "CodebookLog": ("CodebookQuant<4, SphereBook<DIM>, ScalePolicy::kUnbiased, LogScale8>", "tile",
                    {"family": "kCodebook", "scaling": "kUnbiased", "sphere": "true", "log_side": "true"}),
    "Nuq": ("NuqQuant<4>", "tile", {"family": "kNuq"}),
    "Nuq3": ("NuqQuant<3, NuqScale::kRange, 16>", "tile", {"family": "kNuq", "bits": 3, "group_channels": 16}),
    "NuqFixed": ("NuqQuant<4, NuqScale::kNone>", "tile", {"family": "kNuq", "ranged": "false"}),
    "Minifloat": ("MinifloatQuant<Fp8E4m3, Half>", "tile", {"family": "kMinifloat"}),
    "MinifloatHead": ("MinifloatQuant<Fp8E4m3, NoSide>", "tile", {"family": "kMinifloat", "scales": "kHead"}),
    "MinifloatE5m2": ("MinifloatQuant<Fp8E5m2, Half>", "tile", {"family": "kMinifloat", "element": "kE5m2"}),
    "MinifloatMx": ("MinifloatQuant<Fp4E2m1, E8m0, 32>", "tile",
                    {"family": "kMinifloat", "element": "kE2m1", "scales": "kPowerOfTwo", "group_channels": 32}),
    "MinifloatNv": ("MinifloatQuant<Fp4E2m1, Fp8E4m3, 16, ScaleSearch::kNeighbours>", "tile",
                    {"family": "kMinifloat", "element": "kE2m1", "scales": "kTwoLevels", "searches": "true",
                     "group_channels": 16}),
    "Renewed": ("RenewedScale<8, 64>", "tokens", {"family": "kRenewed", "bits": 8}),
    "RenewedRefuse": ("RenewedScale<6, 64, RenewOverflow::kRefuse>", "tokens", {"family": "kRenewed", "bits": 6}),
    "Sealed": ("SealedScale<8, 64>", "tokens",
               {"family": "kSealed", "bits": 8, "group_tokens": 64, "side_ulp": HALF}),
    "SealedLong": ("SealedScale<8, 128>", "long", None),  # in no cache here: 80 tokens fill no group
    "GroupShift": ("GroupShiftQuant<>", (1, 1, 5), {"family": "kGroupShift"}),
    "GroupShiftHead": ("GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary5, ParameterScope::kHead>",
                       (1, 1, 5), {"family": "kGroupShift", "band_code": "OutlierCode::kOffsetBinary5", "per_head": "true"}),
    "GroupShift21": ("GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kOffsetBinary4, ParameterScope::kLayer, 2, 1>",
                     (2, 1, 4), {"family": "kGroupShift", "band_code": "OutlierCode::kOffsetBinary4"}),
    "GroupShift12": ("GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kHead, 1, 2>",
                     (1, 2, 5), {"family": "kGroupShift", "per_head": "true"}),
    "GroupShift10": ("GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, OutlierCode::kSignMagnitude5, ParameterScope::kLayer, 1, 0>",
                     (1, 0, 5), {"family": "kGroupShift"}),
    "GgmlQ4_0": ("GgmlQuant<GgmlType::kQ4_0>", "runs", {"family": "kGgml", "ggml": 0}),
    "GgmlQ4_1": ("GgmlQuant<GgmlType::kQ4_1>", "runs", {"family": "kGgml", "ggml": 1}),
    "GgmlQ5_0": ("GgmlQuant<GgmlType::kQ5_0>", "runs", {"family": "kGgml", "ggml": 2}),
    "GgmlQ5_1": ("GgmlQuant<GgmlType::kQ5_1>", "runs", {"family": "kGgml", "ggml": 3}),
    "GgmlQ8_0": ("GgmlQuant<GgmlType::kQ8_0>", "runs", {"family": "kGgml", "ggml": 4}),
    "Sketch": ("SketchQuant<CodebookQuant<3, GaussianBook, ScalePolicy::kMatchedNorm>, OrthogonalSketch<>, DIM>", "sketch",
               {"family": "kCodebook", "bits": 3, "scaling": "kMatchedNorm"}),
    "SketchOnly": ("SketchQuant<NoCodes, OrthogonalSketch<>, DIM>", "sketch", {"family": "kNothing"}),
    "SketchSymmetric": ("SketchQuant<SymmetricQuant<4>, OrthogonalSketch<>, DIM>", "sketch",
                        {"family": "kSymmetric", "side_ulp": HALF}),
}
QUANT_FAMILY = {name: next(f for f in ("Affine", "Symmetric", "PowerOfTwo", "MidRise", "ZeroPoint", "Codebook", "Nuq",
                                       "Minifloat", "Renewed", "Sealed", "GroupShift", "Ggml", "Sketch")
                           if name.startswith(f)) for name in QUANTS}

CODECS = {  # kind, and for bands the numbers it can tell apart by the bits of an outlier
    "DenseCodec": ("DenseCodec", "dense", "kTile"),
    "SlotCodec": ("SlotCodec", "slots", "kSlots"),
    "FusedCodec": ("FusedCodec", {5: 2, 4: 4}, "kBands"),
    "FusedToken": ("BasicFusedCodec<CooEntry8, SpillAlign::kToken>", {5: 2, 4: 4}, "kBands"),
    "FusedWide": ("BasicFusedCodec<CooEntry16, SpillAlign::kChunk>", {5: 512, 4: 1024}, "kBands"),
    "JaggedCodec": ("JaggedCodec", "jagged", "kBands"),
    "Coo12": ("CooCodec<12>", "coo", "kBands"),
    "Coo23": ("CooCodec<23>", "coo", "kCoo23"),
    "SparseCodec": ("SparseCodec", "sparse", "kSparse"),
    "HashSparse": ("HashSparse<>", "hash", "kHash"),
    "RowCodec": ("RowCodec", "rows", "kRuns"),
    "DirectionCodec": ("DirectionCodec", "direction", "kDirection"),
    "SignSketchCodec": ("SignSketchCodec", "sketch", "kSketch"),
}
CODEC_FAMILY = {"FusedToken": "FusedCodec", "FusedWide": "FusedCodec"}
STORES = ["DefaultStore", "UnitStore", "DenseStore"]
TRANSFORMS = {"None": "None", "Rotated": "Rotated", "Centered": "Centered", "CenteredRotated": "CenteredRotated",
              "Scaled": "Scaled", "Plain": "Plain", "Kronecker": "Kronecker", "Unrotated": "Unrotated",
              "Balanced": "Balanced"}
DIMS = [16, 32, 40]


def tile_refusal(kind):
    """What a tile of codes says of a quantizer."""
    return "kSketchNeedsItsCodec" if kind == "sketch" else "kNone"


def codec_refusal(split, quant, codec):
    """The refusal of three policies by their names, by the rules of docs and headers, written a second time."""
    take, made, store = SPLITS[split][1], QUANTS[quant][1], CODECS[codec][1]
    vector = isinstance(take, int) and not isinstance(take, bool)
    bands = isinstance(take, tuple)
    takes_apart = take not in ("none", "filter")
    band_codes = isinstance(made, tuple)
    if take == "filter" and made == "long":
        return "kFilterNeedsShortGroups"
    if isinstance(store, dict):  # the fused family
        if not bands:
            return "kFusedNeedsThresholds"
        if not band_codes:
            return "kFusedNeedsGroupShift"
        if take != made[:2]:
            return "kBandsDiffer"
        return "kNone" if sum(take) <= store[made[2]] else "kEntryTooNarrow"
    if store in ("jagged", "coo"):
        three = bands and band_codes and take == (1, 1) and made[:2] == (1, 1)
        return "kNone" if three else {"jagged": "kJaggedNeedsOaken", "coo": "kCooNeedsOaken"}[store]
    if store == "rows":
        if made != "runs":
            return "kRowsNeedRowQuantizer"
        return "kRowsTakeNoOutliers" if takes_apart else "kNone"
    if store == "sketch":
        return "kNone" if made == "sketch" and not takes_apart else "kSketchNeedsSketchQuant"
    if store == "hash":
        if not (vector and take <= 64):
            return "kHashNeedsVectorSplit"
        if made == "sketch":
            return "kSketchNeedsItsCodec"
        return "kNone" if quant == "Symmetric" else "kHashNeedsSymmetric4"
    if made == "runs":
        return "kRowQuantizerNeedsRows"
    if band_codes:
        return "kGroupShiftNeedsFused"
    if store == "dense":
        return "kDenseTakesNoOutliers" if takes_apart else tile_refusal(made)
    if store == "slots":
        return tile_refusal(made) if vector and take <= 64 else "kSlotsNeedVectorSplit"
    if store == "sparse":
        if not (vector or bands):
            return "kSparseNeedsSplit"
        return "kSparseNeedsTokens" if made in ("tokens", "long") else tile_refusal(made)
    if take != "direction" or made in ("tokens", "long"):
        return "kDirectionNeedsSplit"
    return tile_refusal(made)


def spills(codec):
    return isinstance(CODECS[codec][1], dict) or CODECS[codec][1] in ("jagged", "coo", "sparse")


def full_refusal(split, quant, codec, store):
    expected = codec_refusal(split, quant, codec)
    if expected == "kNone" and spills(codec) and store == "DenseStore":
        return "kSpillNeedsStore"
    return expected


# --- The plain policies -----------------------------------------------------------------------------------------

OLD_NAMES = {"TopKSplit<1>": "TopK", "TopKSplit<4>": "TopK", "ThresholdSplit": "Threshold"}


def refusal(row):
    split = OLD_NAMES.get(row["split"], row["split"])
    return full_refusal(split, row["family"], row["codec"], row["store"])


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
        lines.append('  policies.splitter = composition::Splitter::kTopK;')
        lines.append(f'  policies.outliers = {row["split"][-2]};')
        lines.append('  policies.stored = composition::Stored::kSlots;')
    lines += ['  composition::round_trip<Mine>(policies);', '}']
    return lines


HEADER = "// Written by make_pairs.py; do not edit.\n"


def pairs_unit(cases):
    text = HEADER + '#include <doctest/doctest.h>\n\n#include "composition/round_trip.h"\n\nnamespace kvpleat {\nnamespace {\n\n'
    text += "using namespace composition;\n\n"
    text += "\n".join("\n".join(lines) + "\n" for lines in cases)
    return text + "\n}  // namespace\n}  // namespace kvpleat\n"


# --- Every policy against every other ------------------------------------------------------------------------------

def families(row):
    """A row's policies as pairs must meet: by family."""
    return {"split": SPLIT_FAMILY.get(row["split"], row["split"]), "quant": QUANT_FAMILY[row["quant"]],
            "codec": CODEC_FAMILY.get(row["codec"], row["codec"]), "transform": row["transform"],
            "store": row["store"], "dim": row["dim"]}


def crossed_rows():
    for split, quant, codec in itertools.product(SPLITS, QUANTS, CODECS):
        if codec_refusal(split, quant, codec) != "kNone" or QUANTS[quant][2] is None:
            continue
        for store, transform, dim in itertools.product(STORES, TRANSFORMS, DIMS):
            if store == "DenseStore" and spills(codec):
                continue
            if QUANTS[quant][1] == "runs" and dim != 32:
                continue
            if quant == "NuqFixed" and transform != "Scaled":  # saturates beyond 1
                continue
            yield {"split": split, "quant": quant, "codec": codec, "store": store, "transform": transform, "dim": dim}


def crossed_items(row):
    """Pairs of families; each policy with all its parameters at least once."""
    yield from itertools.combinations(sorted(families(row).items()), 2)
    for name in ("split", "quant", "codec"):
        yield (name, "exactly", row[name])


def credit(chosen):
    """What the plain compositions cover already."""
    for row in chosen:
        name = {"split": OLD_NAMES.get(row["split"], row["split"]), "quant": row["family"], "codec": row["codec"],
                "transform": row["transform"], "store": row["store"], "dim": row["dim"]}
        yield from itertools.combinations(sorted(name.items()), 2)


def choose_crossed(plain):
    """[(key row, value row)]: greedily, the row that covers most, then one for the values beside it."""
    rows = list(crossed_rows())
    number = {}
    masks = []
    for row in rows:
        mask = 0
        for item in crossed_items(row):
            mask |= 1 << number.setdefault(item, len(number))
        masks.append(mask)
    missing = (1 << len(number)) - 1
    for item in credit(plain):
        if item in number:
            missing &= ~(1 << number[item])

    def gain(i):
        return bin(masks[i] & missing).count("1")

    heap = [(-gain(i), i) for i in range(len(rows))]  # gains only fall: a top that is up to date is the best
    heapq.heapify(heap)

    def best(fits):
        """The best row that fits, or None if none covers anything."""
        passed = []
        found = None
        while heap:
            stored, i = heapq.heappop(heap)
            now = gain(i)
            if now == 0:
                continue
            if -stored != now:
                heapq.heappush(heap, (-now, i))
                continue
            passed.append((stored, i))
            if fits(rows[i]):
                found = i
                break
        for item in passed:
            heapq.heappush(heap, item)
        return found

    chosen = []
    while missing:
        pair = []
        first = best(lambda row: True)
        missing &= ~masks[first]
        pair.append(rows[first])
        keys_only = rows[first]["transform"] == "Unrotated"
        second = best(lambda row: row["store"] == pair[0]["store"] and row["dim"] == pair[0]["dim"]
                      and not (row["transform"] == "Unrotated" and keys_only))
        if second is None:
            pair.append(rows[first] if not keys_only else dict(rows[first], transform="Rotated"))
        else:
            missing &= ~masks[second]
            pair.append(rows[second])
        if pair[1]["transform"] == "Unrotated":
            pair.reverse()
        chosen.append(pair)
    return chosen


def format_type(row, role):
    transform = TRANSFORMS[row["transform"]]
    if role == "value" and transform == "CenteredRotated":
        transform = "ForValues<CenteredRotated>::Type"
    dim = str(row["dim"])
    words = (SPLITS[row["split"]][0], QUANTS[row["quant"]][0], CODECS[row["codec"]][0])
    return f"BlockFormat<{dim}, {transform}, " + ", ".join(w.replace("DIM", dim) for w in words) + ">"


ENUMS = {"splitter": "Splitter", "mad": "MadOver", "family": "Family", "element": "Element", "scales": "Scales"}


def policies_of(row, name):
    facts = {"group_channels": row["dim"]}
    if QUANTS[row["quant"]][1] == "runs":
        facts["group_channels"] = 32
    facts.update(QUANTS[row["quant"]][2])
    facts.update(SPLITS[row["split"]][2])
    facts["group_channels"] = min(facts["group_channels"], row["dim"])
    lines = [f"  composition::Policies {name};", f'  {name}.dim = {row["dim"]};',
             f'  {name}.transform = composition::Transform::k{row["transform"]};',
             f'  {name}.stored = composition::Stored::{CODECS[row["codec"]][2]};']
    for field, value in facts.items():
        if field in ENUMS:
            value = f"composition::{ENUMS[field]}::{value}"
        elif field == "scaling":
            value = f"ScalePolicy::{value}"
        lines.append(f"  {name}.{field} = {value};")
    return lines


def crossed_case(number, pair):
    def words(row):
        return " ".join(row[n] for n in ("transform", "split", "quant", "codec"))
    key, value = pair
    lines = [f'TEST_CASE("{number:02d} {key["dim"]} {key["store"]}: {words(key)}; {words(value)}") {{',
             f"  using Keys = {format_type(key, 'key')};",
             f"  using Values = {format_type(value, 'value')};"]
    return lines + policies_of(key, "keys") + policies_of(value, "values") + [
        f'  composition::round_trip<Crossed<{key["store"]}, Keys, Values>>(keys, values);', "}"]


def refused_unit():
    text = HEADER + """#include <doctest/doctest.h>

#include <iterator>

#include "composition/round_trip.h"

namespace kvpleat {
namespace {

using composition::PowerOfTwoQuant;
using enum Refusal;

// What a splitter, a codec and a store say to each quantizer.
template <class Split, class Codec, class Store, class... Quants>
constexpr bool agrees(const Refusal (&expected)[sizeof...(Quants)], int& refused) {
  const Composition found[] = {composable<Split, Quants, Codec, Store>...};
  for (std::size_t i = 0; i < sizeof...(Quants); ++i) {
    if (found[i].refusal != expected[i] || found[i].reason.empty()) return false;
    if (static_cast<bool>(found[i]) != (expected[i] == kNone)) return false;
    refused += expected[i] != kNone ? 1 : 0;
  }
  return true;
}

"""
    # Of a family, each that something is refused for in a way of its own.
    quants = ["Affine", "AffineTokens", "Symmetric", "PowerOfTwo", "MidRise", "ZeroPoint", "Codebook", "Nuq",
              "Minifloat", "MinifloatNv", "Renewed", "Sealed", "SealedLong", "GroupShift", "GroupShift21",
              "GroupShift12", "GroupShift10", "GgmlQ4_0", "Sketch", "SketchOnly", "SketchSymmetric"]
    types = ",\n    ".join(QUANTS[q][0].replace("DIM", "16") for q in quants)
    text += "template <class Split, class Codec, class Store>\n"
    text += f"constexpr bool all(const Refusal (&expected)[{len(quants)}], int& refused) {{\n"
    text += f"  return agrees<Split, Codec, Store,\n    {types}>(expected, refused);\n}}\n\n"
    text += "// Every splitter, codec and store; in each row every quantizer.\n"
    text += "constexpr int count_refused() {\n  int refused = 0;\n  bool good = true;\n"
    refused = count = 0
    for split, codec, store in itertools.product(SPLITS, CODECS, ("DefaultStore", "DenseStore")):
        if store == "DenseStore" and not spills(codec):
            continue  # the store has no say: three of them with a codec that keeps its bytes, below
        expected = [full_refusal(split, q, codec, store) for q in quants]
        count += len(expected)
        refused += sum(e != "kNone" for e in expected)
        text += f'  good &= all<{SPLITS[split][0].replace("DIM", "16")}, {CODECS[codec][0]}, {store}>(\n'
        text += "      {" + ", ".join(expected) + "},\n      refused);\n"
    for store in ("UnitStore", "DenseStore"):
        for split, quant, codec in (("NoSplit", "Affine", "DenseCodec"), ("TopK", "Affine", "SlotCodec")):
            expected = full_refusal(split, quant, codec, store)
            text += f'  good &= composable<{SPLITS[split][0]}, {QUANTS[quant][0]}, {codec}, {store}>.refusal == {expected};\n'
    text += f"""  return good ? refused : -1;
}}
static_assert(count_refused() == {refused});

TEST_CASE("which policies compose") {{
  CHECK(count_refused() == {refused});  // of {count}
}}

}}  // namespace
}}  // namespace kvpleat
"""
    return text


def main():
    chosen = choose()
    files = {}
    for unit in range(UNITS):
        cases = [case(i + 1, row) for i, row in enumerate(chosen) if i % UNITS == unit]
        files[f"pairs_{unit + 1}_test.cc"] = pairs_unit(cases)
    crossed = choose_crossed(chosen)
    for unit in range(CROSSED_UNITS):
        cases = [crossed_case(i + 1, pair) for i, pair in enumerate(crossed) if i % CROSSED_UNITS == unit]
        files[f"crossed_{unit + 1}_test.cc"] = pairs_unit(cases)
    files["refused_test.cc"] = refused_unit()
    stale = [name for name, text in files.items()
             if not (HERE / name).exists() or (HERE / name).read_text() != text]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"{name} is not what make_pairs.py writes")
        return 1 if stale else 0
    for name in stale:
        (HERE / name).write_text(files[name])
    print(f"{len(chosen)} plain compositions, {len(crossed)} crossed ones, {len(stale)} files written")
    return 0


sys.exit(main())
