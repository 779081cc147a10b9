// The laws of the Format concept for the tiered formats.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/tiered.h"
#include "kvpleat/quant/affine.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;

namespace test {

// A table of steps: half the step in force; the largest rows of sample_rows open an entry each, and
// there are at most three such sizes in a block, so nothing is clipped. In slots: half the scale.
template <std::uint32_t kDim, class Transform, class Split, class Quant, class Codec, Role kRole>
requires TableQuantizer<Quant>
struct ErrorBound<BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>> {
  using F = BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const float size = std::fabs(row[c]);
    float error = to_float(F::Layout::Dense::scale_of(data.block.data(), slot).step) / 2.0f;
    if constexpr (F::kOutlierBytes > 0) {
      std::uint16_t channels[Split::kMaxOutliers];
      const std::uint32_t count = format.split.split(row, kDim, channels);
      if (std::find(channels, channels + count, c) != channels + count)
        error = to_float(load<Half>(data.block.data() + F::Layout::scale_at(slot))) / 2.0f;
    }
    // The quotient and, in slots, difference, product and sum round once each.
    return error + 0x1p-22f * (size + 256.0f * error);
  }
};
// A table of the largest: half a step for them, everything for the others.
template <std::uint32_t kDim, class Transform, class Split, class Quant, std::uint32_t kPerToken,
          Role kRole>
struct ErrorBound<BlockFormat<kDim, Transform, Split, Quant, HashSparse<kPerToken>, kRole>> {
  using F = BlockFormat<kDim, Transform, Split, Quant, HashSparse<kPerToken>, kRole>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    std::uint16_t channels[Split::kMaxOutliers];
    const std::uint32_t count = format.split.split(row, kDim, channels);
    const float size = std::fabs(row[c]);
    if (std::find(channels, channels + count, c) == channels + count) return size;
    const float step = to_float(F::Layout::step(data.block.data(), slot));
    // A group of one magnitude keeps the nearest half: 2^-11 of it, or 2^-25.
    return std::fmax(step / 2.0f, std::fmax(size * 0x1p-11f, 0x1p-25f)) + 0x1p-22f * size;
  }
};
// Median 0.1, limit 1.5, for every channel or for all.
template <std::uint32_t kDim, class Transform, std::uint32_t kCount, class Quant, class Codec,
          Role kRole>
struct SampleProfile<
    BlockFormat<kDim, Transform, MadSplit<kCount, MadOfTensor>, Quant, Codec, kRole>> {
  static std::vector<float> make() { return {0.1f, 1.5f}; }
};
template <std::uint32_t kDim, class Transform, std::uint32_t kCount, class Quant, class Codec,
          Role kRole>
struct SampleProfile<
    BlockFormat<kDim, Transform, MadSplit<kCount, MadOfChannel<kDim>>, Quant, Codec, kRole>> {
  static std::vector<float> make() {
    std::vector<float> profile;
    for (std::uint32_t c = 0; c < kDim; ++c)
      profile.insert(profile.end(), {0.1f, c % 3 == 0 ? 0.0f : 1.5f});
    return profile;
  }
};

}  // namespace test

namespace {

template <std::uint32_t kDim>
using TopKRenewed = formats::RenewedSplit<kDim, TopKSplit<2>>;
template <std::uint32_t kDim>
using TensorMad = formats::RenewedSplit<kDim, MadSplit<4, MadOfTensor>>;
template <std::uint32_t kDim>
using ChannelMad =
    BlockFormat<kDim, NoTransform, MadSplit<4, MadOfChannel<kDim>>, AffineQuant<4>, SlotCodec>;
template <std::uint32_t kDim>
using RowMad = BlockFormat<kDim, NoTransform, MadSplit<6>, AffineQuant<4, 32>, SlotCodec>;
template <std::uint32_t kDim>
using Renewed5 = BlockFormat<kDim, NoTransform, NoSplit, RenewedScale<5, 64>, DenseCodec>;
template <std::uint32_t kDim>
using MadHash = BlockFormat<kDim, NoTransform, MadSplit<8>, SymmetricQuant<4>, HashSparse<4>>;

}  // namespace

TEST_CASE("laws: Renewed8") {
  key_and_value<formats::Renewed8, 1, 40, 64>();
}
TEST_CASE("laws: 5 bits renewed every 64 tokens") {
  key_and_value<Renewed5, 72>();
}
TEST_CASE("laws: Sealed8") {
  key_and_value<formats::Sealed8, 3, 64>();
}
TEST_CASE("laws: Tiered8") {
  key_and_value<formats::Tiered8, 1, 64, 80>();
  key_and_value<formats::Tiered8TopK, 64>();
}
TEST_CASE("laws: Sealed8Split") {
  key_and_value<formats::Sealed8Split, 40>();
}
TEST_CASE("laws: renewed steps and the largest two") {
  key_and_value<TopKRenewed, 40>();
}
TEST_CASE("laws: outliers by a profile") {
  key_and_value<TensorMad, 40>();
  key_and_value<ChannelMad, 40>();
}
TEST_CASE("laws: outliers of the head vector") {
  key_and_value<RowMad, 72>();
}
TEST_CASE("laws: HashSparse") {
  key_and_value<formats::HashSparse, 1, 64, 72, 128>();
}
TEST_CASE("laws: HashSparse2") {
  key_and_value<formats::HashSparse2, 40, 300>();
}
TEST_CASE("laws: a hash table of outliers") {
  key_and_value<MadHash, 64>();
}
