// composable: which splitter, quantizer, codec and store go together, and why the others do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/store_policy.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace composition {

// A codec answers for every splitter and quantizer.
template <class T, class Split, class Quant>
concept IsCodec = requires {
  T::kSpills;
  { T::template refusal<Split, Quant>() } -> std::same_as<Refusal>;
};

// A filter's rows are copied, all of a seal at once (renewed steps have none).
template <class Split, class Quant>
inline constexpr bool kFilterOverLongGroups = false;
template <RowFilter Split, Quantizer Quant>
inline constexpr bool kFilterOverLongGroups<Split, Quant> =
    Quant::kAxis == Axis::kTokens&& Quant::kGroup > 64 && !requires {
  requires !Quant::kSealed;
};

// A splitter whose profile is one of channels takes one head_dim only (kMadeFor; 0: any).
template <class Split, std::uint32_t kDim>
inline constexpr bool kMadeForAnother = requires {
  requires Split::kMadeFor != 0 && Split::kMadeFor != kDim;
};

template <class T>
inline constexpr bool kIsText = false;
template <std::size_t N>
inline constexpr bool kIsText<Text<N>> = true;
template <class Policy>
inline constexpr bool kHasTextId = kIsText<std::remove_cvref_t<decltype(Policy::kId)>>;

}  // namespace composition

template <class Split, class Quant, class Codec, class Store = DefaultStore>
constexpr Refusal refusal_of() {
  if constexpr (!OutlierSplitter<Split>) {
    return Refusal::kNotASplitter;
  } else if constexpr (!Quantizer<Quant> && !BandQuantizer<Quant> && !RowQuantizer<Quant>) {
    return Refusal::kNotAQuantizer;
  } else if constexpr (!composition::IsCodec<Codec, Split, Quant>) {
    return Refusal::kNotACodec;
  } else if constexpr (!composition::kHasTextId<Split> || !composition::kHasTextId<Quant>) {
    return Refusal::kIdIsNoText;
  } else if constexpr (composition::kFilterOverLongGroups<Split, Quant>) {
    return Refusal::kFilterNeedsShortGroups;
  } else if constexpr (Codec::template refusal<Split, Quant>() != Refusal::kNone) {
    return Codec::template refusal<Split, Quant>();
  } else {
    return Codec::kSpills && Store::kSpillPageBytes == 0 ? Refusal::kSpillNeedsStore
                                                         : Refusal::kNone;
  }
}

struct Composition {
  Refusal refusal = Refusal::kNone;
  std::string_view reason;
  constexpr explicit operator bool() const { return refusal == Refusal::kNone; }
};

// static_assert(composable<NoSplit, AffineQuant<4>, DenseCodec>);  composable<...>.reason says why
// not
template <class Split, class Quant, class Codec, class Store = DefaultStore>
inline constexpr Composition composable = {refusal_of<Split, Quant, Codec, Store>(),
                                           reason(refusal_of<Split, Quant, Codec, Store>())};

}  // namespace kvpleat::inline KVPLEAT_ISA
