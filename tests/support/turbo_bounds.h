// The error law and profiles of sign sketches, for format_laws.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/codec/sign_sketch.h"
#include "kvpleat/core/half.h"
#include "kvpleat/format/block_format.h"
#include "support/any_format.h"

namespace test {

// A residual is at most gamma long, and so is sqrt(pi / 2) times its estimate with an orthonormal
// sketch; with entries up to 1.5 an element of the estimate is at most 1.5 sqrt(pi / 2) gamma.
// Gamma is a binary16.
template <std::uint32_t kDim, class Transform, class Codes, class Sketch, kvpleat::Role kRole>
struct ErrorBound<kvpleat::BlockFormat<kDim, Transform, kvpleat::NoSplit,
                                       kvpleat::SketchQuant<Codes, Sketch, kDim>,
                                       kvpleat::SignSketchCodec, kRole>> {
  using F = kvpleat::BlockFormat<kDim, Transform, kvpleat::NoSplit,
                                 kvpleat::SketchQuant<Codes, Sketch, kDim>,
                                 kvpleat::SignSketchCodec, kRole>;
  static float of(const F&, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const float gamma = kvpleat::to_float(
        kvpleat::load<kvpleat::Half>(data.block.data() + F::Layout::gamma_at(slot)));
    return 2.9f * gamma + 0x1p-24f + 0x1p-22f * std::fabs(row[c]);
  }
};

// A matrix is no mean: restore adds nothing.
template <std::uint32_t kDim, class Transform, class Codes, class Sketch, kvpleat::Role kRole>
struct SampleProfile<kvpleat::BlockFormat<kDim, Transform, kvpleat::NoSplit,
                                          kvpleat::SketchQuant<Codes, Sketch, kDim>,
                                          kvpleat::SignSketchCodec, kRole>> {
  static std::vector<float> make() {
    std::vector<float> profile;
    for (std::uint32_t i = 0; i < Sketch::profile_size(kDim); ++i)
      profile.push_back(static_cast<float>((7 * i + 3) % 13) / 4.0f - 1.5f);
    return profile;
  }
  static std::vector<float> mean(const std::vector<float>&) { return {}; }
};

}  // namespace test
