// Views: what kernels are told of a format (abi.h), and which formats have one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/direction.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/core/axis.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/quant/zero_point.h"
#include "kvpleat/simd/abi.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace views {

// Stored types that kernels read.
template <class Side>
inline constexpr bool kKnownSide = false;
template <class Side>
inline constexpr abi::Side kSide = abi::Side::kHalf;
template <>
inline constexpr bool kKnownSide<Half> = true;
template <>
inline constexpr bool kKnownSide<BFloat16> = true;
template <>
inline constexpr abi::Side kSide<BFloat16> = abi::Side::kBFloat16;
template <>
inline constexpr bool kKnownSide<float> = true;
template <>
inline constexpr abi::Side kSide<float> = abi::Side::kFloat;
template <>
inline constexpr bool kKnownSide<LogScale8> = true;
template <>
inline constexpr abi::Side kSide<LogScale8> = abi::Side::kLogScale8;

// What the codes of a quantizer stand for, as TileView says it. Specialize it for a quantizer of your
// own whose values are (code - kZero) * step + low, or (code - kZero) * step where Scale has one
// field: derive from UniformCode, say kZero if it is not 0. Scale begins with the step. Where decode
// is constexpr, the compiler checks that this is what it does.
template <class Quant>
struct Code {
  static constexpr bool kKnown = false;
};
struct UniformCode {
  static constexpr bool kKnown = true;
  static constexpr bool kLevels = false;
  static constexpr float kZero = 0.0f;
  static constexpr bool kZeroStored = false;
};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Code<AffineQuant<kBits, kGroup, kAxis, Side>> : UniformCode {};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Code<SymmetricQuant<kBits, kGroup, kAxis, Side>> : UniformCode {
  static constexpr float kZero = static_cast<float>(1u << (kBits - 1));
};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Code<MidRiseQuant<kBits, kGroup, kAxis, Side>> : UniformCode {
  static constexpr float kZero = static_cast<float>(1u << (kBits - 1)) - 0.5f;
};
template <std::uint32_t kBits, std::uint32_t kGroup, Axis kAxis, class Side>
struct Code<ZeroPointQuant<kBits, kGroup, kAxis, Side>> : UniformCode {
  static constexpr bool kZeroStored = true;
};
template <std::uint32_t kBits, class Book, ScalePolicy kPolicy, class Side, std::uint32_t kGroup>
struct Code<CodebookQuant<kBits, Book, kPolicy, Side, kGroup>> : UniformCode {
  static constexpr bool kLevels = true;
};

// A codebook in 8 bits. The largest level is 127 units.
template <class Quant>
inline constexpr float kLevelUnit = [] {
  float largest = 0.0f;
  for (const float level : Quant::kLevels) largest = upper_of(largest, magnitude(level));
  return largest / 127.0f;
}();
template <class Quant>
inline constexpr std::array<std::int8_t, 64> kLevels8 = [] {
  std::array<std::int8_t, 64> levels{};
  for (std::uint32_t i = 0; i < 64; ++i) {
    levels[i] = static_cast<std::int8_t>(
        round_to_signed(Quant::kLevels[i % Quant::kLevels.size()] / kLevelUnit<Quant>, 127));
  }
  return levels;
}();

// Channels (of a key) or tokens (of a value) that the lines of all planes of a code share: those of
// a line of the narrowest plane.
constexpr std::uint32_t line_span(std::uint32_t bits) {
  const std::uint32_t narrowest = bits & (~bits + 1u);
  return 32u / narrowest;
}

// Whether groups begin and end where kernels can change the scale.
template <class Dense, Role kRole, std::uint32_t kBits>
inline constexpr bool kFittingGroups = [] {
  constexpr std::uint32_t kSpan = line_span(kBits);
  if (Dense::kAlongTokens) {
    // Keys are 16 tokens wide; values are walked along the tokens.
    return Dense::kSeal % 16 == 0 && (kRole == Role::kKey || Dense::kSeal % kSpan == 0);
  }
  return Dense::kGroups == 1 || Dense::kGroupChannels % (kRole == Role::kKey ? kSpan : 16u) == 0;
}();

// Whether decode gives what Code says, for steps and lows that every stored type has exactly. True
// also where that cannot be computed at compile time.
template <class Quant>
constexpr bool decodes_as_said() {
  using Side = typename Quant::Side;
  using Scale = typename Quant::Scale;
  constexpr std::size_t kFields = std::is_empty_v<Scale> ? 0 : sizeof(Scale) / sizeof(Side);
  if constexpr (!Code<Quant>::kLevels && !Code<Quant>::kZeroStored && kFields >= 1 &&
                kFields <= 2 && kKnownSide<Side> && kSide<Side> != abi::Side::kLogScale8) {
    if constexpr (requires { std::bool_constant<(Quant{}.decode(1u, Scale{}), true)>{}; }) {
      std::array<Side, kFields> fields{};
      fields[0] = nearest<Side>(2.0f);
      if constexpr (kFields == 2) fields[1] = nearest<Side>(0.5f);
      const Scale scale = std::bit_cast<Scale>(fields);
      for (std::uint32_t code = 0; code < (1u << Quant::kBits); ++code) {
        const float said =
            (static_cast<float>(code) - Code<Quant>::kZero) * 2.0f + (kFields == 2 ? 0.5f : 0.0f);
        if (Quant{}.decode(code, scale) != said) return false;
      }
    }
  }
  return true;
}

template <class F>
struct Tile {
  static constexpr bool kKnown = false;
};
template <std::uint32_t kDim, class Transform, class Split, class Quant, class Codec,
          Role kTileRole>
requires(
    Code<Quant>::kKnown &&
    (std::is_same_v<Codec, DenseCodec> || std::is_same_v<Codec, SlotCodec> ||
     std::is_same_v<Codec, DirectionCodec>)) struct Tile<BlockFormat<kDim, Transform, Split, Quant,
                                                                     Codec, kTileRole>> {
  using Format = BlockFormat<kDim, Transform, Split, Quant, Codec, kTileRole>;
  using Dense = typename Format::Layout::Dense;
  using Meaning = Code<Quant>;
  static constexpr Role kRole = kTileRole;
  static_assert(decodes_as_said<Quant>(),
                "kvpleat: views::Code of this quantizer says that a value is (code - kZero) * step "
                "+ low, with the step first in Scale; its decode gives something else");
  static constexpr bool kKnown = kKnownSide<typename Quant::Side> &&
                                 kFittingGroups<Dense, kTileRole, Quant::kBits> &&
                                 (!Meaning::kLevels || Quant::kBits <= 6);

  static constexpr bool kHasDirection = std::is_same_v<Codec, DirectionCodec>;
  // All that the type says.
  static constexpr abi::TileView kShape = [] {
    abi::TileView view{};
    view.dim = kDim;
    view.padded_dim = Dense::Tile::kPaddedDim;
    view.bits = Quant::kBits;
    view.block_tokens = Dense::kBlockTokens;
    view.group_channels = Dense::kGroupChannels;
    view.groups = Dense::kGroups;
    view.seal = Dense::kSeal;
    view.fields = Dense::kFields;
    view.side = kSide<typename Quant::Side>;
    view.zero = Meaning::kZero;
    view.zero_stored = Meaning::kZeroStored;
    view.side_at = Dense::kCodeBytes;
    if constexpr (std::is_same_v<Codec, SlotCodec>) {
      view.slots = Format::Layout::kSlots;
      view.slots_at = Dense::kBytes;
      view.index_bytes = Format::Layout::kIndexBytes;
    }
    if constexpr (std::is_same_v<Codec, DirectionCodec>)
      view.coefficients_at = Format::Layout::kCoefficients;
    return view;
  }();
  static abi::TileView of(const Format& format) {
    abi::TileView view = kShape;
    if constexpr (Meaning::kLevels) {
      view.levels = Quant::kLevels.data();
      view.levels8 = kLevels8<Quant>.data();
      view.level_unit = kLevelUnit<Quant>;
    }
    if constexpr (std::is_same_v<Codec, DirectionCodec>) view.direction = format.split.direction;
    return view;
  }
};

template <class F>
inline constexpr bool kRaw = false;
template <std::uint32_t kDim, class Element>
inline constexpr bool kRaw<RawFormat<kDim, Element>> = true;
template <class F>
inline constexpr abi::RawView kRawView = {};
template <std::uint32_t kDim>
inline constexpr abi::RawView kRawView<RawFormat<kDim, float>> = {kDim, abi::Element::kFloat};
template <std::uint32_t kDim>
inline constexpr abi::RawView kRawView<RawFormat<kDim, Half>> = {kDim, abi::Element::kHalf};
template <std::uint32_t kDim>
inline constexpr abi::RawView kRawView<RawFormat<kDim, BFloat16>> = {kDim, abi::Element::kBFloat16};

}  // namespace views

// Formats whose blocks a TileView describes.
template <class F>
concept TileFormat = views::Tile<F>::kKnown;

// Formats whose blocks are rows as they came.
template <class F>
concept RawRowFormat = views::kRaw<F>;

template <RawRowFormat F>
constexpr abi::RawView raw_view(const F&) {
  return views::kRawView<F>;
}

template <TileFormat F>
abi::TileView tile_view(const F& format) {
  return views::Tile<F>::of(format);
}

}  // namespace kvpleat::inline KVPLEAT_ISA
