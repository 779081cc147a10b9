// The laws of the Format concept for the adaptive formats.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "kvpleat/format/adaptive.h"
#include "kvpleat/transform/center.h"
#include "support/format_laws.h"

using namespace kvpleat;
using test::key_and_value;
using test::key_only;

namespace test {

namespace {

// Half the stored step; a symmetric group of one magnitude keeps the nearest half of it.
template <class F>
float half_a_step(const float* row, std::uint32_t slot, std::uint32_t c, const BlockData& data) {
  const float step = to_float(F::Layout::Dense::load_scale(data.block.data(), slot, 0).step);
  const float size = std::fabs(row[c]);
  return std::fmax(step / 2.0f, std::fmax(size * 0x1p-11f, 0x1p-25f)) +
         0x1p-22f * (size + 256.0f * step);
}

}  // namespace

template <std::uint32_t kDim, class Transform, std::uint32_t kBits, std::uint32_t kGroup,
          class Side, Role kRole>
struct ErrorBound<
    BlockFormat<kDim, Transform, NoSplit, MidRiseQuant<kBits, kGroup, Axis::kChannels, Side>,
                DenseCodec, kRole>> {
  template <class F>
  static float of(const F&, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    return half_a_step<F>(row, slot, c, data);
  }
};
template <std::uint32_t kDim, class Transform, std::uint32_t kBits, std::uint32_t kGroup,
          class Side, Role kRole>
struct ErrorBound<
    BlockFormat<kDim, Transform, NoSplit, SymmetricQuant<kBits, kGroup, Axis::kChannels, Side>,
                DenseCodec, kRole>> {
  template <class F>
  static float of(const F&, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    return half_a_step<F>(row, slot, c, data);
  }
};
template <std::uint32_t kDim, class Transform, std::uint32_t kBits, std::uint32_t kGroup,
          class Side, Role kRole>
struct ErrorBound<
    BlockFormat<kDim, Transform, NoSplit, ZeroPointQuant<kBits, kGroup, Axis::kChannels, Side>,
                DenseCodec, kRole>> {
  template <class F>
  static float of(const F&, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    return half_a_step<F>(row, slot, c, data);
  }
};

}  // namespace test

namespace {

template <std::uint32_t kDim>
using Centered2 = formats::AdaptiveBits2<kDim, PhaseCenter>;

}  // namespace

TEST_CASE("laws: Adaptive2") {
  key_and_value<formats::Adaptive2, 1, 64, 72>();
}
TEST_CASE("laws: Adaptive4") {
  key_and_value<formats::Adaptive4, 3, 128>();
}
TEST_CASE("laws: Adaptive8") {
  key_and_value<formats::Adaptive8, 8, 80>();
}
TEST_CASE("laws: 2 bits, keys phase-centred") {
  key_only<Centered2, 40>();
}
