// What the generated tests of this folder share: a composed cache is filled twice, read and
// attended over; everything that comes out is compared with what the policies promise.
#pragma once

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
template <class Transform>
struct ForValues {
  using Type = Transform;
};
template <>
struct ForValues<CenteredRotated> {
  using Type = Chain<Center, RandomHadamard<>>;
};

template <std::uint32_t kDim, class KeyTransform, class Split, class Quant, class Codec,
          class StorePolicy>
struct Composed : CacheTraits<kDim> {
  static_assert(composable<Split, Quant, Codec, StorePolicy>);
  using Lanes =
      LaneList<KV<BlockFormat<kDim, KeyTransform, Split, Quant, Codec>,
                  BlockFormat<kDim, typename ForValues<KeyTransform>::Type, Split, Quant, Codec>>>;
  using Store = StorePolicy;
};

// What the generator says of a composition, for the oracle, which shares no code with the library.
enum class Transform { kNone, kRotated, kCentered, kCenteredRotated };
enum class Family { kAffine, kSymmetric, kPowerOfTwo, kGroupShift };
struct Policies {
  std::uint32_t dim = 0;
  Transform transform = Transform::kNone;
  Family family = Family::kAffine;
  std::uint32_t bits = 4;
  std::uint32_t group_channels = 0;
  std::uint32_t group_tokens = 1;
  double side_ulp = 0x1p-23;  // largest distance of neighbours, relative
  std::uint32_t outliers = 0;
};

inline constexpr std::uint32_t kHeads = 2;
inline constexpr std::uint32_t kTokens = 80;
inline constexpr std::uint32_t kSinks = 3;  // raw, so that a wrong score offset does not cancel
inline constexpr std::uint32_t kGroup = 3;  // query heads per KV head
inline constexpr float kThresholds[4] = {-2.5f, -0.375f, 0.375f, 2.5f};

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

// Profiles [kHeads, transform's floats, splitter's floats] of a format.
template <class F>
std::vector<float> profile_of(const std::vector<float>& means) {
  constexpr std::uint32_t kSplit = F::kProfileSize % F::kDim;
  std::vector<float> profile;
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    if constexpr (F::kProfileSize >= F::kDim)
      profile.insert(profile.end(), means.begin() + h * F::kDim, means.begin() + (h + 1) * F::kDim);
    profile.insert(profile.end(), kThresholds, kThresholds + kSplit);
  }
  return profile;
}

template <class Traits>
Outcome run(const Input& input, std::uint32_t step) {
  constexpr std::uint32_t kDim = Traits::kKeyDim;
  using Pair = typename Traits::Lanes::template At<0>;
  Outcome outcome;
  const std::vector<float> keys = profile_of<typename Pair::Key>(input.key_means);
  const std::vector<float> values = profile_of<typename Pair::Value>(input.value_means);
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
void check(const Policies& policies, const Input& input, const Outcome& singly,
           const Outcome& at_once);

template <class Traits>
void round_trip(const Policies& policies) {
  const Input input = make_input(Traits::kKeyDim);
  check(policies, input, run<Traits>(input, 1), run<Traits>(input, kTokens));
}

}  // namespace composition
}  // namespace kvpleat::inline KVPLEAT_ISA
