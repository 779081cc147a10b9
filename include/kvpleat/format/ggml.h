// Named formats of ggml's block types: rows that can be exchanged with engines byte for byte.
// head_dim must be a multiple of 32.
//
//   name               bits per element   bytes of a block at D = 64   D = 128
//   GgmlQ8_0           8.5                4352 = 64 * 2 * 34           8704
//   GgmlQ5_1           6                  3072 = 64 * 2 * 24           6144
//   GgmlQ5_0           5.5                2816 = 64 * 2 * 22           5632
//   GgmlQ4_1           5                  2560 = 64 * 2 * 20           5120
//   GgmlQ4_0           4.5                2304 = 64 * 2 * 18           4608
//   GgmlQ4_0Hadamard   4.5                2304                         4608
//   GgmlIq4Nl          4.5                2304                         4608
#pragma once

#include <cstdint>

#include "kvpleat/codec/row.h"
#include "kvpleat/core/config.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/ggml.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/no_transform.h"
#include "kvpleat/transform/plain_hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

template <std::uint32_t kDim, GgmlType kType, class Transform = NoTransform>
using Ggml = BlockFormat<kDim, Transform, NoSplit, GgmlQuant<kType>, RowCodec>;

template <std::uint32_t kDim>
using GgmlQ8_0 = Ggml<kDim, GgmlType::kQ8_0>;
template <std::uint32_t kDim>
using GgmlQ5_1 = Ggml<kDim, GgmlType::kQ5_1>;
template <std::uint32_t kDim>
using GgmlQ5_0 = Ggml<kDim, GgmlType::kQ5_0>;
template <std::uint32_t kDim>
using GgmlQ4_1 = Ggml<kDim, GgmlType::kQ4_1>;
template <std::uint32_t kDim>
using GgmlQ4_0 = Ggml<kDim, GgmlType::kQ4_0>;
template <std::uint32_t kDim>
using GgmlIq4Nl = Ggml<kDim, GgmlType::kIq4Nl>;

// q4_0 of rotated rows, as llama.cpp stores its caches where 64 divides head_dim.
template <std::uint32_t kDim>
using GgmlQ4_0Hadamard = Ggml<kDim, GgmlType::kQ4_0, PlainHadamard>;

static_assert(GgmlQ8_0<64>::kBlockBytes == 4352 && GgmlQ5_1<64>::kBlockBytes == 3072 &&
              GgmlQ5_0<64>::kBlockBytes == 2816 && GgmlQ4_1<64>::kBlockBytes == 2560);
static_assert(GgmlQ4_0<64>::kBlockBytes == 2304 && GgmlIq4Nl<64>::kBlockBytes == 2304 &&
              GgmlQ4_0Hadamard<64>::kBlockBytes == 2304 && GgmlQ4_0<128>::kBlockBytes == 4608);

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
