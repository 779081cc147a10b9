// AnyQuant, AnyDense: quantizers and dense formats without their types, so that cases that run over
// all widths are compiled once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvpleat/core/half.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/symmetric.h"

namespace test {

// The relative part of the error bound: 2^-9 with half side data, 2^-21 with float. bfloat16 has
// three bits less than half: 2^-6.
template <class Side>
constexpr float side_error() {
  if (sizeof(Side) == 4) return 0x1p-21f;
  return std::is_same_v<Side, kvpleat::Half> ? 0x1p-9f : 0x1p-6f;
}

inline float largest(const std::vector<float>& x) {
  float result = 0.0f;
  for (const float v : x) result = std::max(result, std::fabs(v));
  return result;
}
inline bool finite(const std::vector<float>& x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

// One group: what was stored and what it reads as.
struct CodedGroup {
  float step = 0.0f;
  float low = 0.0f;  // 0 for symmetric quantizers
  std::vector<std::uint32_t> codes;
  std::vector<float> back;

  [[nodiscard]] float worst_error(const std::vector<float>& x) const {
    float worst = 0.0f;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(back[i])) return kvpleat::kInfinity;
      worst = std::max(worst, std::fabs(back[i] - x[i]));
    }
    return worst;
  }
};

struct AnyQuant {
  std::string_view id;
  std::uint32_t bits = 0;
  bool symmetric = false;
  float top = 0.0f;
  float side_error = 0.0f;
  float largest_input = 0.0f;
  CodedGroup (*code)(const std::vector<float>& x) = nullptr;

  // Asymmetric (max - min) / (2^b - 1), symmetric max|x| / (2^(b-1) - 1).
  [[nodiscard]] float ideal_step(const std::vector<float>& x) const {
    if (symmetric) return largest(x) / top;
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return (*high - *low) / top;
  }
  // step/2 + max|x| times the relative part.
  [[nodiscard]] float bound(const std::vector<float>& x) const {
    return 0.5f * ideal_step(x) + largest(x) * side_error;
  }
};

template <class Quant>
CodedGroup code_group(const std::vector<float>& x) {
  const Quant quant;
  CodedGroup group;
  typename Quant::Stat stat;
  for (const float v : x) quant.observe(v, stat);
  const auto scale = quant.scale(stat);
  group.step = kvpleat::to_float(scale.step);
  if constexpr (requires { scale.low; }) group.low = kvpleat::to_float(scale.low);
  for (const float v : x) {
    group.codes.push_back(quant.encode(v, scale));
    group.back.push_back(quant.decode(group.codes.back(), scale));
  }
  return group;
}

template <class Quant>
AnyQuant any_quant() {
  return {Quant::kId.view(), Quant::kBits, requires {Quant::kZero;
}
, static_cast<float>(Quant::kTop), side_error<typename Quant::Side>(), Quant::kLargest,
    &code_group<Quant>
};  // namespace test
}

template <class Side>
void add_affine(std::vector<AnyQuant>& quants) {
  [&]<std::uint32_t... kI>(std::integer_sequence<std::uint32_t, kI...>) {
    (quants.push_back(
         any_quant<kvpleat::AffineQuant<kI + 1, 32, kvpleat::Axis::kChannels, Side>>()),
     ...);
  }
  (std::make_integer_sequence<std::uint32_t, 8>());
}
template <class Side>
void add_symmetric(std::vector<AnyQuant>& quants) {
  [&]<std::uint32_t... kI>(std::integer_sequence<std::uint32_t, kI...>) {
    (quants.push_back(
         any_quant<kvpleat::SymmetricQuant<kI + 2, 32, kvpleat::Axis::kChannels, Side>>()),
     ...);
  }
  (std::make_integer_sequence<std::uint32_t, 7>());
}
// Affine 1..8 and symmetric 2..8 bits, with half, bfloat16 and float side data.
inline std::vector<AnyQuant> all_quants() {
  std::vector<AnyQuant> quants;
  add_affine<kvpleat::Half>(quants);
  add_affine<kvpleat::BFloat16>(quants);
  add_affine<float>(quants);
  add_symmetric<kvpleat::Half>(quants);
  add_symmetric<kvpleat::BFloat16>(quants);
  add_symmetric<float>(quants);
  return quants;
}

// Affine or symmetric codes of one block, no transform, no outliers.
struct AnyDense {
  AnyQuant quant;
  std::uint32_t dim = 0;
  std::uint32_t group_channels = 0;
  std::uint32_t block_bytes = 0;
  void (*encode)(const std::vector<float>& rows, std::uint8_t* block) = nullptr;
  void (*decode)(const std::uint8_t* block, std::vector<float>& rows) = nullptr;
  float (*decode_one)(const std::uint8_t* block, std::uint32_t slot, std::uint32_t c) = nullptr;
  std::uint32_t (*code)(const std::uint8_t* block, std::uint32_t slot, std::uint32_t c) = nullptr;
  void (*erase)(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) = nullptr;
};

template <std::uint32_t kDim, class Quant, kvpleat::Role kRole>
AnyDense any_dense() {
  using Layout = kvpleat::DenseLayout<kDim, Quant, kRole>;
  AnyDense dense;
  dense.quant = any_quant<Quant>();
  dense.dim = kDim;
  dense.group_channels = Layout::kGroupChannels;
  dense.block_bytes = Layout::kBytes;
  dense.encode = [](const std::vector<float>& rows, std::uint8_t* block) {
    Layout::encode(Quant{}, kvpleat::Rows{rows.data(), rows.size() / kDim, kDim}, 0, block,
                   [](std::uint32_t, std::uint32_t) { return true; });
  };
  dense.decode = [](const std::uint8_t* block, std::vector<float>& rows) {
    Layout::decode(Quant{}, block, 0, kvpleat::MutableRows{rows.data(), rows.size() / kDim, kDim});
  };
  dense.decode_one = [](const std::uint8_t* block, std::uint32_t slot, std::uint32_t c) {
    return Layout::decode_one(Quant{}, block, slot, c);
  };
  dense.code = &Layout::Tile::get;
  dense.erase = &Layout::erase;
  return dense;
}

}  // namespace test
