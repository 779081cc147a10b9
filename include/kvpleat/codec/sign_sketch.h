// SignSketchCodec: codes in a tile, then one sign per channel of a sketch of what they missed.
// TurboQuant's "prod" variant (arXiv:2504.19874, algorithm 2): b - 1 bits of codes and one of
// signs.
//
// The estimate of q . x is linear in q, so it is a decoded row: x~ + gamma * constant * S^T z. No
// score function of its own is needed, and values may be decoded alike.
#pragma once

#include <cmath>
#include <cstdint>

#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/tile.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What SignSketchCodec codes with: the quantizer of the codes (NoCodes: there are none) and the
// sketch of the residual (transform/sketch.h). Profile: the sketch's.
template <Quantizer CodeQuant, class SketchPolicy, std::uint32_t kHeadDim>
struct SketchQuant : CodeQuant {
  static_assert(!ProfiledQuantizer<CodeQuant>,
                "kvpleat: the codes in front of a sketch have no profile of their own");
  using Codes = CodeQuant;
  using Sketch = SketchPolicy;
  static constexpr std::uint32_t kSketchDim = kHeadDim;
  static constexpr std::uint32_t kProfileSize = Sketch::profile_size(kHeadDim);
  static constexpr auto kId = Codes::kId + ";" + Sketch::kId;

  static SketchQuant bind(const float* profile) {
    SketchQuant quant;
    quant.sketch = Sketch::bind(profile);
    return quant;
  }
  static bool valid(const float* profile) { return Sketch::template valid<kHeadDim>(profile); }

  [[no_unique_address]] Sketch sketch{};
};

namespace sign_sketch {

// The codes in front: DenseLayout, or nothing.
template <std::uint32_t kDim, class Quant, Role kRole, bool kHasCodes = (Quant::kBits > 0)>
struct Front : DenseLayout<kDim, Quant, kRole> {};
template <std::uint32_t kDim, class Quant, Role kRole>
struct Front<kDim, Quant, kRole, false> {
  static constexpr std::uint32_t kBlockTokens = 64;
  static constexpr std::uint32_t kSeal = 1;
  static constexpr std::uint32_t kCodeBytes = 0;
  static constexpr std::uint32_t kSideBytes = 0;
  static constexpr std::uint32_t kBytes = 0;
  template <class Kept>
  static void encode(const Quant&, Rows, std::uint32_t, std::uint8_t*, Kept) {}
  static void decode(const Quant&, const std::uint8_t*, std::uint32_t, MutableRows rows) {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      for (std::uint32_t c = 0; c < kDim; ++c) rows[t][c] = 0.0f;
    }
  }
  static void erase(std::uint8_t*, std::uint32_t, std::uint32_t) {}
};

// The smallest whole number not below the root of n.
constexpr float root_above(std::uint32_t n) {
  std::uint32_t root = 1;
  while (root * root < n) ++root;
  return static_cast<float>(root);
}

}  // namespace sign_sketch

// B: tokens of a block. After the codes and their scales (none if the quantizer is NoCodes), which
// are those of DenseCodec:
//   signs  a tile of B x head_dim 1-bit codes: 1 where (S r)_i < 0
//   gamma  [B] binary16, nearest to |r| = sqrt(sum of r^2), sum in double in the order of the
//          numeric law
// r = x - x~ in coded space, x~ decoded from the stored codes and scale: the sketch makes up for
// their rounding, too. Row decoded: x~ + gamma * constant * S^T z, z = +1 or -1, each product and
// sum rounded once. r = 0: gamma 0, signs 0. Inner products have no bias over rotations; their
// variance is the sketch's (transform/sketch.h) with |r|^2 the distortion of the codes. One stored
// scale without bias (ScalePolicy::kUnbiased) has a third to a fifth of it at the same bits: this
// codec is here because it is published.
// Bits per element: those of the codes + 1 + 16 / head_dim, where head_dim is a multiple of 16 (of
// 32 for keys).
struct SignSketchCodec {
  static constexpr auto kId = Text("codec=sign_sketch");
  static constexpr bool kSpills = false;

  template <class Split, class Quant>
  static constexpr Refusal refusal() {
    if constexpr (!requires { typename Quant::Sketch; } || Split::kMaxOutliers > 0) {
      return Refusal::kSketchNeedsSketchQuant;
    } else if constexpr (Quant::kBits == 0) {
      return Refusal::kNone;
    } else {
      return composition::refusal_of_tile<typename Quant::Codes>();
    }
  }

  template <std::uint32_t kDim, class Split, class Quant, Role kRole>
  struct Layout {
    static_assert(Quant::kSketchDim == kDim, "kvpleat: SketchQuant is made for another head_dim");
    using Front = sign_sketch::Front<kDim, typename Quant::Codes, kRole>;
    static constexpr std::uint32_t kBlockTokens = Front::kBlockTokens;
    static constexpr std::uint32_t kSeal = Front::kSeal;
    using Signs = CodeTile<kDim, kBlockTokens, 1, kRole>;
    static constexpr std::uint32_t kSignsAt = Front::kBytes;
    static constexpr std::uint32_t kGammaAt = kSignsAt + Signs::kBytes;
    static constexpr std::uint32_t kCodeBytes = Front::kCodeBytes + Signs::kBytes;
    static constexpr std::uint32_t kSideBytes = Front::kSideBytes + kBlockTokens * 2;
    static constexpr std::uint32_t kOutlierBytes = 0;
    static constexpr std::uint32_t kSharedBytes = 0;
    static constexpr std::uint32_t kBlockBytes = kCodeBytes + kSideBytes;
    // |r| <= |x| + |x~| <= 2 |x| for codes that are nearest levels, and must fit gamma.
    static constexpr float kLargest =
        lower_of<float>(Quant::kLargest, kLargestHalf / (2.0f * sign_sketch::root_above(kDim)));

    static void encode(const Split&, const Quant& quant, Rows rows, std::uint32_t slot,
                       const std::uint8_t*, std::uint8_t* block, SpillWriter&,
                       EncodeCounters& counters) {
      Front::encode(quant, rows, slot, block, [](std::uint32_t, std::uint32_t) { return true; });
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        float residual[kDim];
        float projected[kDim];
        Front::decode(quant, block, slot + t, MutableRows{residual, 1, kDim});
        for (std::uint32_t c = 0; c < kDim; ++c) residual[c] = rows[t][c] - residual[c];
        const double square = ordered_dot(residual, residual, kDim);
        store(block + gamma_at(slot + t), to_half(static_cast<float>(std::sqrt(square))));
        quant.sketch.template project<kDim>(residual, projected);
        for (std::uint32_t c = 0; c < kDim; ++c)
          Signs::put(block + kSignsAt, slot + t, c, projected[c] < 0.0f ? 1u : 0u);
      }
      counters.values += rows.count * kDim;
    }
    static void decode(const Split&, const Quant& quant, const BlockBytes& bytes,
                       std::uint32_t slot, MutableRows rows) {
      Front::decode(quant, bytes.block, slot, rows);
      const float constant = Quant::Sketch::template constant<kDim>();
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        float signs[kDim];
        float direction[kDim];
        for (std::uint32_t c = 0; c < kDim; ++c)
          signs[c] = Signs::get(bytes.block + kSignsAt, slot + t, c) == 0 ? 1.0f : -1.0f;
        quant.sketch.template back<kDim>(signs, direction);
        const float gamma = to_float(load<Half>(bytes.block + gamma_at(slot + t)));
        const float factor = product(gamma, constant);
        for (std::uint32_t c = 0; c < kDim; ++c) rows[t][c] += product(factor, direction[c]);
      }
    }
    static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
      Front::erase(block, slot, n);
      for (std::uint32_t t = slot; t < slot + n; ++t) {
        for (std::uint32_t c = 0; c < kDim; ++c) Signs::put(block + kSignsAt, t, c, 0);
        store(block + gamma_at(t), Half{});
      }
    }
    static constexpr std::uint32_t gamma_at(std::uint32_t slot) { return kGammaAt + slot * 2; }
  };
};

}  // namespace kvpleat::inline KVPLEAT_ISA
