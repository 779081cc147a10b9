// The score offset of a format as kernels see it.
#pragma once

#include <cstdint>

#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/simd/abi.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace offset_view {

// Of a transform: the one part that has an offset, if it meets the query as it came.
template <class Transform>
struct Of {
  static constexpr bool kKnown = false;
};
template <>
struct Of<Center> {
  static constexpr bool kKnown = true;
  static abi::OffsetView view(const Center& center) { return {0, center.mean, nullptr}; }
};
template <>
struct Of<PhaseCenter> {
  static constexpr bool kKnown = true;
  static abi::OffsetView view(const PhaseCenter& center) { return {0, center.mean, center.phases}; }
};
template <class First, class Second>
struct Of<Chain<First, Second>> {
  static constexpr bool kKnown = Of<First>::kKnown && !Second::kHasOffset;
  static abi::OffsetView view(const Chain<First, Second>& chain) {
    return Of<First>::view(chain.first);
  }
};

}  // namespace offset_view

// Whether kernels add the offset of F. F itself adds others, as the reference does.
template <class F>
inline constexpr bool kHasOffsetView = [] {
  if constexpr (!requires(const F& format) { format.transform; }) {
    return false;
  } else if constexpr (requires(const F& format) { format.apart; }) {  // two formats in one
    return F::kHasOffset && !decltype(F::apart)::kHasOffset && !decltype(F::rest)::kHasOffset &&
           offset_view::Of<decltype(F::transform)>::kKnown;
  } else {
    return F::kHasOffset && offset_view::Of<decltype(F::transform)>::kKnown;
  }
}();

template <class F>
abi::OffsetView offset_view_of(const F& format) requires(kHasOffsetView<F>) {
  abi::OffsetView view = offset_view::Of<decltype(F::transform)>::view(format.transform);
  view.dim = F::kDim;
  return view;
}
// Whether the view is complete: a mean that rotates needs a table, which not every BindContext has.
template <class F>
bool usable(const F&, const abi::OffsetView& view) {
  return !F::kPositional || view.table != nullptr;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
