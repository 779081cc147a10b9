// TurboQuant2_5, TurboQuant3_5: TurboQuant with a quarter of the channels at one more bit. Source:
// arXiv:2504.19874, section 4.3 (32 of 128 channels; how they are picked is not said there).
//
// What is published does not add up: 32 channels of 3 bits and 96 of 2 are (32 * 3 + 96 * 2) / 128
// = 2.25 bits, not 2.5. Two parts have two norms of 16 bits, not counted there: at D = 128 these
// make it 2.25 + 32/128 = 2.5 after all, at 64 2.75. We keep D / 4 channels and the names.
//
//   name              bits per element             D = 64  D = 128   bytes of a block at D = 64
//   TurboQuant2_5     2 + 1/4 + 32/D               2.75    2.5       1408 = 1152 codes + 256
//   TurboQuant3_5     3 + 1/4 + 32/D               3.75    3.5       1920 = 1664 codes + 256
// Keys of D = 64 take 128 bytes more, 3 and 4 bits: their one-bit plane rounds to 32 channels.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/rotated.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/transform/kronecker_hadamard.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

// Each part is rotated by itself (D - D/4 is no power of two: KroneckerHadamard), has its own norm
// and the codebook of its dimension. Norms as TurboQuant stores them, or another policy.
template <std::uint32_t kDim, std::uint32_t kBits, ScalePolicy kPolicy>
using TurboQuantPart = RotatedBook<kDim, kBits, KroneckerHadamard<>, kPolicy>;
template <std::uint32_t kDim>
struct TurboQuantQuarter {
  static_assert(kDim >= 4,
                "kvpleat: TurboQuant2_5 and 3_5 put a quarter of the channels apart: head_dim must "
                "be at least 4; use TurboQuant");
  static constexpr std::uint32_t kChannels = kDim / 4;
};
template <std::uint32_t kDim, std::uint32_t kBits, ScalePolicy kPolicy = ScalePolicy::kNorm>
using TurboQuantSplit =
    ChannelSplit<TurboQuantPart<TurboQuantQuarter<kDim>::kChannels, kBits + 1, kPolicy>,
                 TurboQuantPart<kDim - TurboQuantQuarter<kDim>::kChannels, kBits, kPolicy>>;

// Profile: the channels of largest RMS (calibrate/channel_stats.h); none: the first D / 4.
template <std::uint32_t kDim>
using TurboQuant2_5 = TurboQuantSplit<kDim, 2>;
template <std::uint32_t kDim>
using TurboQuant3_5 = TurboQuantSplit<kDim, 3>;

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
