// What the generated tests of this folder share: a composed cache is filled twice, read and
// attended over; everything that comes out is compared with what the policies promise.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvpleat/kvpleat.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace composition {

// A quantizer as a user writes one: the step is a power of two, so decoding is exact.
// Error <= step / 2 <= max|x| / (2^(bits-1) - 1).
template <std::uint32_t kBitCount, std::uint32_t kGroupSize = kWholeHead,
          Axis kGroupAxis = Axis::kChannels>
struct PowerOfTwoQuant {
  using Side = float;
  static constexpr std::uint32_t kBits = kBitCount;
  static constexpr std::uint32_t kGroup = kGroupSize;
  static constexpr Axis kAxis = kGroupAxis;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = 0x1p100f;
  static constexpr std::int32_t kTop = (1 << (kBits - 1)) - 1;
  static constexpr auto kId = Text("quant=power_of_two;bits=") + number_text<kBits>() +
                              ";group=" + number_text<kGroup>() + ";axis=" + kAxisText<kAxis>;
  struct Stat {
    float largest = 0.0f;
  };
  struct Scale {
    float step = 0.0f;
  };
  void observe(float x, Stat& stat) const { stat.largest = upper_of(stat.largest, magnitude(x)); }
  static Stat merge(Stat a, Stat b) { return {upper_of(a.largest, b.largest)}; }
  Scale scale(Stat stat) const {
    float step = 0x1p-100f;
    while (step * static_cast<float>(kTop) < stat.largest) step *= 2.0f;
    return {step};
  }
  std::uint32_t encode(float x, Scale scale) const {
    return static_cast<std::uint32_t>(round_to_signed(x / scale.step, kTop) + kTop);
  }
  float decode(std::uint32_t code, Scale scale) const {
    return static_cast<float>(static_cast<std::int32_t>(code) - kTop) * scale.step;
  }
};

// The transforms by the names of the generator. Values cannot have a transform that depends on the
// position: they are centred plainly.
using None = NoTransform;
using Rotated = RandomHadamard<>;
using Centered = Center;
using CenteredRotated = Chain<PhaseCenter, RandomHadamard<>>;
using Scaled = ChannelScale;
using Plain = PlainHadamard;
using Kronecker = KroneckerHadamard<>;
using Unrotated = Unrotate;  // keys only
using Balanced = Chain<Balance, RandomHadamard<>>;
template <class Transform>
struct ForValues {
  using Type = Transform;
};
template <>
struct ForValues<CenteredRotated> {
  using Type = Chain<Center, RandomHadamard<>>;
};

template <class StorePolicy, class KeyFormat, class ValueFormat>
struct Crossed : CacheTraits<KeyFormat::kDim> {
  using Lanes = LaneList<KV<KeyFormat, ValueFormat>>;
  using Store = StorePolicy;
};
template <std::uint32_t kDim, class KeyTransform, class Split, class Quant, class Codec,
          class StorePolicy>
struct Composed
    : Crossed<StorePolicy, BlockFormat<kDim, KeyTransform, Split, Quant, Codec>,
              BlockFormat<kDim, typename ForValues<KeyTransform>::Type, Split, Quant, Codec>> {
  static_assert(composable<Split, Quant, Codec, StorePolicy>);
};

// What the generator says of a format, for the oracle, which shares no code with the library.
enum class Transform {
  kNone,
  kRotated,
  kCentered,
  kCenteredRotated,
  kScaled,
  kPlain,
  kKronecker,
  kUnrotated,
  kBalanced,
};
enum class Splitter { kNone, kTopK, kRange, kMad, kMadClamp, kBands, kDirection };
enum class MadOver { kRow, kTensor, kChannel };
enum class Family {
  kNothing,
  kAffine,
  kSymmetric,
  kPowerOfTwo,
  kMidRise,
  kZeroPoint,
  kCodebook,
  kNuq,
  kMinifloat,
  kRenewed,
  kSealed,
  kGgml,
  kGroupShift,
};
enum class Stored { kTile, kSlots, kSparse, kHash, kDirection, kSketch, kRuns, kBands, kCoo23 };
enum class Element { kE4m3, kE5m2, kE2m1 };
enum class Scales { kHalf, kPowerOfTwo, kTwoLevels, kHead };
struct Policies {
  std::uint32_t dim = 0;
  Transform transform = Transform::kNone;
  Splitter splitter = Splitter::kNone;
  std::uint32_t outliers = 0;  // most of a token; kRange: 0 is all
  MadOver mad = MadOver::kRow;
  Stored stored = Stored::kTile;
  Family family = Family::kNothing;
  std::uint32_t bits = 4;
  std::uint32_t group_channels = 0;
  std::uint32_t group_tokens = 1;
  double side_ulp = 0x1p-23;  // largest distance of neighbours, relative
  // kCodebook
  ScalePolicy scaling = ScalePolicy::kNorm;
  bool sphere = false;    // levels for rotated vectors of dim channels, else for N(0,1)
  bool log_side = false;  // the scale in steps of 1/16 octave, else binary16
  // kNuq
  bool ranged = true;
  // kMinifloat
  Element element = Element::kE4m3;
  Scales scales = Scales::kHalf;
  bool searches = false;
  // kGgml: one of q4_0, q4_1, q5_0, q5_1, q8_0
  std::uint32_t ggml = 0;
  // Bands
  std::uint32_t outer_bands = 1;
  std::uint32_t inner_bands = 1;
  bool per_head = false;
  OutlierCode band_code = OutlierCode::kSignMagnitude5;
};

inline constexpr std::uint32_t kHeads = 2;
inline constexpr std::uint32_t kTokens = 80;
inline constexpr std::uint32_t kSinks = 3;  // raw, so that a wrong score offset does not cancel
inline constexpr std::uint32_t kGroup = 3;  // query heads per KV head

// Profiles. All numbers are exact in binary16.
inline constexpr float kHeadScale = 0x1p-5f;          // of minifloats: the largest e4m3 is 14
inline constexpr float kDirectionStep = 0.25f;        // coefficients to 31 steps and more
inline constexpr float kOuterEdges[] = {2.5f, 4.0f};  // from inside
inline constexpr float kInnerEdges[] = {0.375f, 0.75f};
inline constexpr float scale_of(std::uint32_t c) {
  return 2.0f + static_cast<float>(c % 5);
}
inline constexpr MadLimits kTensorLimits = {0.25f, 3.0f};
inline constexpr MadLimits channel_limits(std::uint32_t c) {
  return {0.125f * static_cast<float>(c % 3), 2.0f + static_cast<float>(c % 4)};
}
// Denser towards zero, from -1 to 1.
inline float signpost(std::uint32_t bits, std::uint32_t code) {
  const auto top = static_cast<float>((1u << bits) - 1u);
  const float even = (2.0f * static_cast<float>(code) - top) / top;
  return std::nearbyint(even * (0.5f + 0.5f * std::fabs(even)) * 1024.0f) / 1024.0f;
}
// Of length 1.
inline float direction(std::uint32_t dim, std::uint32_t c) {
  const auto raw = [](std::uint32_t i) { return (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + i % 3); };
  double length = 0.0;
  for (std::uint32_t i = 0; i < dim; ++i) length += raw(i) * raw(i);
  return static_cast<float>(raw(c) / std::sqrt(length));
}

// [kTokens, kHeads, dim] keys and values, [kHeads, dim] means, [kHeads, kGroup, dim] queries.
struct Input {
  CacheShape shape;
  std::vector<float> keys, values, key_means, value_means, queries;
};
Input make_input(std::uint32_t dim);

struct Outcome {
  std::vector<float> keys, values;  // [kHeads, kTokens, dim] as read
  std::vector<float> out;           // [kHeads, kGroup, dim]
  std::vector<float> log_sums;      // [kHeads, kGroup]
  MemoryReport memory;
  bool ok = false;
};

// Adds the floats of one policy of one head. means: [kHeads, dim].
template <class Policy>
struct ProfileOf {
  static void append(std::uint32_t, std::uint32_t, const float*, std::vector<float>&) {}
};
struct MeanProfile {
  static void append(std::uint32_t dim, std::uint32_t head, const float* means,
                     std::vector<float>& profile) {
    profile.insert(profile.end(), means + head * dim, means + (head + 1) * dim);
  }
};
template <>
struct ProfileOf<Center> : MeanProfile {};
template <>
struct ProfileOf<PhaseCenter> : MeanProfile {};
struct ScaleProfile {
  static void append(std::uint32_t dim, std::uint32_t, const float*, std::vector<float>& profile) {
    for (std::uint32_t c = 0; c < dim; ++c) profile.push_back(scale_of(c));
  }
};
template <>
struct ProfileOf<ChannelScale> : ScaleProfile {};
template <>
struct ProfileOf<Balance> : ScaleProfile {};
template <class First, class Second>
struct ProfileOf<Chain<First, Second>> {
  static void append(std::uint32_t dim, std::uint32_t head, const float* means,
                     std::vector<float>& profile) {
    ProfileOf<First>::append(dim, head, means, profile);
    ProfileOf<Second>::append(dim, head, means, profile);
  }
};
template <std::uint32_t kOuter, std::uint32_t kInner>
struct ProfileOf<NestedBands<kOuter, kInner>> {
  static void append(std::uint32_t, std::uint32_t, const float*, std::vector<float>& profile) {
    std::vector<float> edges(kInnerEdges, kInnerEdges + kInner);
    edges.insert(edges.end(), kOuterEdges, kOuterEdges + kOuter);
    for (std::size_t i = edges.size(); i-- > 0;) profile.push_back(-edges[i]);
    profile.insert(profile.end(), edges.begin(), edges.end());
  }
};
template <>
struct ProfileOf<ThresholdSplit> : ProfileOf<NestedBands<1, 1>> {};
template <>
struct ProfileOf<MadOfTensor> {
  static void append(std::uint32_t, std::uint32_t, const float*, std::vector<float>& profile) {
    profile.insert(profile.end(), {kTensorLimits.median, kTensorLimits.limit});
  }
};
template <std::uint32_t kDim>
struct ProfileOf<MadOfChannel<kDim>> {
  static void append(std::uint32_t dim, std::uint32_t, const float*, std::vector<float>& profile) {
    for (std::uint32_t c = 0; c < dim; ++c)
      profile.insert(profile.end(), {channel_limits(c).median, channel_limits(c).limit});
  }
};
template <std::uint32_t kCount, class Over>
struct ProfileOf<MadSplit<kCount, Over>> : ProfileOf<Over> {};
template <class Over>
struct ProfileOf<MadClamp<Over>> : ProfileOf<Over> {};
template <std::uint32_t kDim>
struct ProfileOf<DirectionSplit<kDim>> {
  static void append(std::uint32_t dim, std::uint32_t, const float*, std::vector<float>& profile) {
    for (std::uint32_t c = 0; c < dim; ++c) profile.push_back(direction(dim, c));
    profile.push_back(kDirectionStep);
  }
};
template <std::uint32_t kBits, NuqScale kScale, std::uint32_t kGroupSize>
struct ProfileOf<NuqQuant<kBits, kScale, kGroupSize>> {
  static void append(std::uint32_t, std::uint32_t, const float*, std::vector<float>& profile) {
    for (std::uint32_t i = 0; i < 1u << kBits; ++i) profile.push_back(signpost(kBits, i));
  }
};
template <class Number, class Side, std::uint32_t kGroupSize, ScaleSearch kSearch>
requires(MinifloatQuant<Number, Side, kGroupSize, kSearch>::kProfiled)  //
    struct ProfileOf<MinifloatQuant<Number, Side, kGroupSize, kSearch>> {
  static void append(std::uint32_t, std::uint32_t, const float*, std::vector<float>& profile) {
    profile.push_back(kHeadScale);
  }
};

// [kHeads, profile of the transform, the splitter, the quantizer].
template <class F>
struct FormatProfile;
template <std::uint32_t kDim, class Transform, class Split, class Quant, class Codec, Role kRole>
struct FormatProfile<BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>> {
  static std::vector<float> of(const std::vector<float>& means) {
    std::vector<float> profile;
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      ProfileOf<Transform>::append(kDim, h, means.data(), profile);
      ProfileOf<Split>::append(kDim, h, means.data(), profile);
      ProfileOf<Quant>::append(kDim, h, means.data(), profile);
    }
    return profile;
  }
};

template <class Traits>
Outcome run(const Input& input, std::uint32_t step) {
  constexpr std::uint32_t kDim = Traits::kKeyDim;
  using Pair = typename Traits::Lanes::template At<0>;
  Outcome outcome;
  const std::vector<float> keys = FormatProfile<typename Pair::Key>::of(input.key_means);
  const std::vector<float> values = FormatProfile<typename Pair::Value>::of(input.value_means);
  const LaneProfile profile{keys.data(), keys.size(), values.data(), values.size()};
  auto made = KvCache<Traits>::create(input.shape, &profile, 1);
  if (!made) return outcome;
  auto& cache = *made;
  const TokenRows k(input.keys.data(), kTokens, kHeads, kDim);
  const TokenRows v(input.values.data(), kTokens, kHeads, kDim);
  for (std::uint32_t t = 0; t < kTokens; t += step) {
    if (!ok(cache.append(0, k.part(t, step), v.part(t, step)))) return outcome;
  }
  outcome.keys.resize(kHeads * kTokens * kDim);
  outcome.values.resize(kHeads * kTokens * kDim);
  outcome.out.resize(kHeads * kGroup * kDim);
  outcome.log_sums.resize(kHeads * kGroup);
  AttendArguments arguments;
  arguments.group = kGroup;
  arguments.scale = 0.25f;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    const std::size_t rows = static_cast<std::size_t>(h) * kTokens * kDim;
    if (!ok(cache.read(0, h, 0, kTokens, &outcome.keys[rows], &outcome.values[rows])))
      return outcome;
    arguments.queries = &input.queries[h * kGroup * kDim];
    if (!ok(attend(cache, 0, h, arguments, &outcome.out[h * kGroup * kDim],
                   &outcome.log_sums[h * kGroup])))
      return outcome;
  }
  outcome.memory = cache.memory();
  outcome.ok = true;
  return outcome;
}

// Compares what came out with the input, with attend_ref and with itself.
void check(const Policies& keys, const Policies& values, const Input& input, const Outcome& singly,
           const Outcome& at_once);

template <class Traits>
void round_trip(const Policies& keys, const Policies& values) {
  const Input input = make_input(Traits::kKeyDim);
  check(keys, values, input, run<Traits>(input, 1), run<Traits>(input, kTokens));
}
template <class Traits>
void round_trip(const Policies& both) {
  round_trip<Traits>(both, both);
}

}  // namespace composition
}  // namespace kvpleat::inline KVPLEAT_ISA
