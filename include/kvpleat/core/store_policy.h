// Store policies: how blocks and outliers are laid out in memory. Compile time, because pools are
// built from them.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

//   kSlabBytes:       memory is taken in slabs of blocks of at most this many bytes per size class,
//                     and a header of a few bytes per block. 0: one allocation per stretch.
//   kSpillPageBytes:  outliers lie in pages of at least this size. 0: this store keeps none.
//   kStretchBlocks:   blocks of one head that lie in a row, 1 to 64. A stream takes as many at
//                     once; those it has not filled yet are slack, on average half a stretch.
template <std::uint32_t kSlab, std::uint32_t kSpillPage, std::uint32_t kStretch = 1>
struct SlabStore {
  static_assert(kStretch >= 1 && kStretch <= 64, "kvpleat: a stretch has 1 to 64 blocks");
  static constexpr std::uint32_t kSlabBytes = kSlab;
  static constexpr std::uint32_t kSpillPageBytes = kSpillPage;
  static constexpr std::uint32_t kStretchBlocks = kStretch;
};

using DefaultStore = SlabStore<65536, 4096>;
// One allocation per block: what a paged engine with its own block memory wants, and what finds
// overruns under sanitizers.
using UnitStore = SlabStore<0, 4096>;
// For long contexts that grow token by token in many heads at once: 16 blocks of a head in a row,
// in slabs that fit a huge page (store/huge_pages.h). Blocks of rows that are appended in bulk lie
// in a row anyway.
using HeadMajorStore = SlabStore<(2u << 20) - 65536, 65536, 16>;
// For caches whose formats never spill.
using DenseStore = SlabStore<65536, 0>;

}  // namespace kvpleat::inline KVPLEAT_ISA
