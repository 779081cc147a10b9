// code_view: from a format to the numbers that its encoder and decoder need, and which formats they
// serve.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/simd/views.h"
#include "kvpleat/split/no_split.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace code_view_of {

// How a quantizer chooses scales and codes; unknown quantizers have no view.
template <class Quant>
struct Codes {
  static constexpr bool kKnown = false;
};
template <abi::Scaling kHow, bool kBook>
struct KnownCodes {
  static constexpr bool kKnown = true;
  static constexpr bool kHasBook = kBook;
  static constexpr abi::Scaling kScaling = kHow;
};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Codes<AffineQuant<kBits, kGroup, kAxis, Side>> : KnownCodes<abi::Scaling::kAffine, false> {};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Codes<SymmetricQuant<kBits, kGroup, kAxis, Side>>
    : KnownCodes<abi::Scaling::kSymmetric, false> {};
template <std::uint32_t kBits, class Book, ScalePolicy kPolicy, class Side, std::uint32_t kGroup>
struct Codes<CodebookQuant<kBits, Book, kPolicy, Side, kGroup>>
    : KnownCodes<kPolicy == ScalePolicy::kNorm           ? abi::Scaling::kNorm
                 : kPolicy == ScalePolicy::kMatchedNorm  ? abi::Scaling::kMatchedNorm
                 : kPolicy == ScalePolicy::kLeastSquares ? abi::Scaling::kLeastSquares
                                                         : abi::Scaling::kUnbiased,
                 true> {};

// CodeView::edges. A quotient rounds to a float above t if it is above the middle between t and the
// next float, or on it and that one is even. The middle has 25 bits: times a float it is exact in
// double. If on it counts as above, the double below the middle stands for it: less than a member of
// 49 bits by so little that no float is between them.
template <class Quant>
inline constexpr auto kEdges = [] {
  std::array<double, round_up(Quant::kCount, 16u)> edges{};
  for (double& edge : edges) edge = static_cast<double>(kInfinity);
  for (std::uint32_t i = 0; i + 1 < Quant::kCount; ++i) {
    const float threshold = Quant::kThresholds[i] + 0.0f;  // no zero with a sign
    const auto bits = __builtin_bit_cast(std::uint32_t, threshold);
    const bool negative = bits >> 31 != 0;
    const float next = __builtin_bit_cast(float, negative ? bits - 1 : bits + 1);
    const double middle = 0.5 * static_cast<double>(threshold) + 0.5 * static_cast<double>(next);
    const auto wide = __builtin_bit_cast(std::uint64_t, middle);
    const bool odd = bits % 2 != 0;
    edges[i] = odd ? __builtin_bit_cast(double, negative ? wide + 1 : wide - 1) : middle;
  }
  return edges;
}();

// The thresholds of a codebook in 32 stretches of equal length, of which none has two of them, and no
// threshold lies within a thirtieth of a stretch from its ends. scale 0: there is no such division.
template <class Quant>
inline constexpr abi::CellTable kCells = [] {
  abi::CellTable table{};
  constexpr std::uint32_t kCount = Quant::kCount - 1;
  if (kCount > 15) return table;
  const auto& thresholds = Quant::kThresholds;
  const float span = thresholds[kCount - 1] - thresholds[0];
  for (std::uint32_t i = 0; i < 320 && table.scale == 0.0f; ++i) {
    // Longer stretches, and where the first threshold lies in its own.
    const float scale = (28.0f - static_cast<float>(i / 10)) / upper_of(span, 0.5f);
    const float offset = 1.0f + static_cast<float>(i % 10) * 0.1f - 0.45f - thresholds[0] * scale;
    bool apart = true;
    std::int32_t last = -1;
    for (std::uint32_t k = 0; k < kCount; ++k) {
      const float place = thresholds[k] * scale + offset + 0.5f;  // stretch b is [b, b + 1)
      const auto stretch = static_cast<std::int32_t>(place);
      const float within = place - static_cast<float>(stretch);
      apart = apart && stretch > last && within > 0.033f && within < 0.967f;
      last = stretch;
    }
    if (!apart || last > 30) continue;
    table.scale = scale;
    table.offset = offset;
    for (std::uint32_t k = 0; k < kCount; ++k) {
      const auto stretch = static_cast<std::int32_t>(thresholds[k] * scale + offset + 0.5f);
      for (std::int32_t b = stretch + 1; b < 32; ++b) ++table.start[b];
    }
  }
  return table;
}();

template <class F>
constexpr bool decodes() {
  if constexpr (requires { views::Tile<F>::kShape; }) {
    using Quant = std::remove_cvref_t<decltype(F{}.quant)>;
    if constexpr (Codes<Quant>::kKnown) {
      return views::kKnownSide<typename Quant::Side>;
    } else {
      return false;
    }
  } else {
    return false;
  }
}
template <class F>
constexpr bool encodes() {
  if constexpr (decodes<F>()) {
    using Split = std::remove_cvref_t<decltype(F{}.split)>;
    return std::is_same_v<Split, NoSplit> || requires {
      requires Split::kIsDirection;
    };
  } else {
    return false;
  }
}

}  // namespace code_view_of

// Whether decoding, and whether encoding, is done by what a CodeView says. Both give the format's
// own bytes and bits, whatever its groups.
template <class F>
concept DecodesByView = code_view_of::decodes<F>();
template <class F>
concept EncodesByView = code_view_of::encodes<F>();

// What the view points to belongs to the format: to its type, or to the profile that it is bound to.
template <DecodesByView F>
abi::CodeView code_view(const F& format) {
  using Quant = std::remove_cvref_t<decltype(format.quant)>;
  using Codes = code_view_of::Codes<Quant>;
  abi::CodeView view{};
  view.tile = views::Tile<F>::of(format);
  if constexpr (Codes::kHasBook) {
    view.thresholds = Quant::kThresholds.data();
    view.edges = code_view_of::kEdges<Quant>.data();
    if constexpr (code_view_of::kCells<Quant>.scale > 0.0f)
      view.cells = &code_view_of::kCells<Quant>;
  }
  view.keys = F::kRole == Role::kKey;
  view.scaling = Codes::kScaling;
  return view;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
