// OakenView of a format: which formats of Oaken's codes have a vector kernel, and how their bytes
// lie.
#pragma once

#include <cstdint>

#include "kvpleat/codec/coo_entry.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/codec/jagged.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/role.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/split/threshold.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace simd {

// Order of the spill that kernels know, by codec; kNone: another codec.
enum class OakenOrder : std::uint8_t { kNone, kPublished, kJagged };

template <class Codec>
struct OakenCodec {
  static constexpr OakenOrder kOrder = OakenOrder::kNone;
};
template <>
struct OakenCodec<JaggedCodec> {
  static constexpr OakenOrder kOrder = OakenOrder::kJagged;
  static constexpr abi::SpillPadding kPadding = abi::SpillPadding::kNone;
};
template <SpillAlign kAlign>
struct OakenCodec<BasicFusedCodec<CooEntry8, kAlign>> {
  static constexpr OakenOrder kOrder = OakenOrder::kPublished;
  static constexpr abi::SpillPadding kPadding =
      kAlign == SpillAlign::kToken   ? abi::SpillPadding::kToken
      : kAlign == SpillAlign::kChunk ? abi::SpillPadding::kChunk
                                     : abi::SpillPadding::kNone;
};

// Any shift and any scope; three bands by fixed thresholds, outliers by sign and magnitude.
template <class Quant>
inline constexpr bool kOakenQuant = false;
template <ShiftPolicy kShift, ParameterScope kScope>
inline constexpr bool
    kOakenQuant<GroupShiftQuant<kShift, OutlierCode::kSignMagnitude5, kScope, 1, 1>> = true;

template <class F>
inline constexpr bool kHasOakenView = false;
template <std::uint32_t kDim, class Transform, class Quant, class Codec, Role kRole>
inline constexpr bool
    kHasOakenView<BlockFormat<kDim, Transform, ThresholdSplit, Quant, Codec, kRole>> =
        kOakenQuant<Quant>&& OakenCodec<Codec>::kOrder != OakenOrder::kNone;

// The thresholds are copied.
template <std::uint32_t kDim, class Transform, class Quant, class Codec, Role kRole>
abi::OakenView oaken_view(
    const BlockFormat<kDim, Transform, ThresholdSplit, Quant, Codec, kRole>& format) {
  using F = BlockFormat<kDim, Transform, ThresholdSplit, Quant, Codec, kRole>;
  static_assert(kHasOakenView<F> && Quant::kParameterBytes == 12 && F::kBlockTokens == 64);
  abi::OakenView view{};
  view.dim = kDim;
  view.padded_dim = round_up(kDim, 16u);
  view.chunks = ceil_div(kDim, 64u);
  view.jagged = OakenCodec<Codec>::kOrder == OakenOrder::kJagged;
  view.shared_ranges = !Quant::kPerHead;
  view.ranges_at = Quant::kPerHead ? F::kCodeBytes : 0;
  view.counts_at = F::Layout::kCountsAt;
  view.row_bytes = ceil_div(kDim, 2u);
  view.padding = OakenCodec<Codec>::kPadding;
  view.splits = Quant::shifts(Band::kMiddle);
  if (Quant::shifts(Band::kOuter)) {
    view.outer_low = format.split.edge({Band::kOuter, true});
    view.outer_high = format.split.edge({Band::kOuter, false});
  }
  if (view.splits) {
    view.middle_low = format.split.edge({Band::kMiddle, true});
    view.middle_high = format.split.edge({Band::kMiddle, false});
  }
  return view;
}

// Bytes of one prepared query (OakenQueries in jagged-inl.h): 64, and planes of 64 bytes per chunk,
// two as they are, two for lookups and, in published order, two in the order of its nibbles.
constexpr std::uint32_t oaken_query_bytes(const abi::OakenView& view) {
  return 64 + (view.jagged ? 4 : 6) * 64 * view.chunks;
}
template <class F>
inline constexpr std::uint32_t kOakenWorkBytes = 0;
template <std::uint32_t kDim, class Transform, class Quant, class Codec, Role kRole>
inline constexpr std::uint32_t
    kOakenWorkBytes<BlockFormat<kDim, Transform, ThresholdSplit, Quant, Codec, kRole>> =
        abi::kMaxQueries*(64 + (OakenCodec<Codec>::kOrder == OakenOrder::kJagged ? 4 : 6) * 64 *
                                   ceil_div(kDim, 64u));

template <class F>
inline constexpr bool kIsJagged = false;
template <std::uint32_t kDim, class Transform, class Split, class Quant, Role kRole>
inline constexpr bool kIsJagged<BlockFormat<kDim, Transform, Split, Quant, JaggedCodec, kRole>> =
    true;

}  // namespace simd

// Formats that kernels on Oaken's bytes score and sum: tiles of keys as keys, of values as values;
// published rows either way.
template <class F>
concept OakenFormat = simd::kHasOakenView<F>;
template <class F>
concept OakenKeyFormat = OakenFormat<F> &&(!simd::kIsJagged<F> || F::kRole == Role::kKey);
template <class F>
concept OakenValueFormat = OakenFormat<F> &&(!simd::kIsJagged<F> || F::kRole == Role::kValue);

}  // namespace kvpleat::inline KVPLEAT_ISA
