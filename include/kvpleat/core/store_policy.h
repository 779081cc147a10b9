// Store policies: how blocks and outliers are laid out in memory. Compile time, because pools are
// built from them.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

//   kSlabBytes:       memory is taken in slabs of about this many bytes per size class; blocks are
//                     cut from slabs. 0: one allocation per block.
//   kSpillPageBytes:  outliers lie in pages of at least this size. 0: this store keeps none.
template <std::uint32_t kSlab, std::uint32_t kSpillPage>
struct SlabStore {
  static constexpr std::uint32_t kSlabBytes = kSlab;
  static constexpr std::uint32_t kSpillPageBytes = kSpillPage;
};

using DefaultStore = SlabStore<65536, 4096>;
// One allocation per block: what a paged engine with its own block memory wants, and what finds
// overruns under sanitizers.
using UnitStore = SlabStore<0, 4096>;
// For caches whose formats never spill.
using DenseStore = SlabStore<65536, 0>;

}  // namespace kvpleat::inline KVPLEAT_ISA
