// TurboQuantProd: b - 1 bits of Lloyd-Max codes and one bit of a sketch of the residual, for inner
// products without bias. Source: TurboQuant, arXiv:2504.19874, algorithm 2.
//
//   name                          bits per element      D = 64  D = 128   bytes of a block, D = 64
//   TurboQuantProd<D, 1>          1 + 16/D              1.25    1.125      640 = 512 signs + 128
//   TurboQuantProd<D, b>, b > 1   b + 32/D              b + .5  b + .25    512 b + 256
#pragma once

#include <cstdint>

#include "kvpleat/codec/sign_sketch.h"
#include "kvpleat/core/config.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/lloyd_max.h"
#include "kvpleat/quant/no_codes.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/kronecker_hadamard.h"
#include "kvpleat/transform/sketch.h"

namespace kvpleat::inline KVPLEAT_ISA {
namespace formats {

namespace turbo_prod {

// A type of its own, so that no codebook of zero bits is ever asked for.
template <std::uint32_t kDim, std::uint32_t kBits>
struct Codes {
  using Type = CodebookQuant<kBits, SphereBook<kDim>, ScalePolicy::kNorm>;
};
template <std::uint32_t kDim>
struct Codes<kDim, 0> {
  using Type = NoCodes;
};

}  // namespace turbo_prod

// kBits: of both stages together. With rows of length 1, D = 128 and 1 to 4 bits the variance D *
// E[error^2] of an inner product with a vector of length 1 is 0.574 0.206 0.0657 0.0192
// (OrthogonalSketch) or 1.56 0.565 0.181 0.0534 (IidSketch, as published: its profile is a matrix
// per head); CodebookQuant with ScalePolicy::kUnbiased has 0.572 0.132 0.0349 0.0094 at b + 16/D
// bits.
template <std::uint32_t kDim, std::uint32_t kBits, class Sketch = OrthogonalSketch<>>
using TurboQuantProd =
    BlockFormat<kDim, KroneckerHadamard<>, NoSplit,
                SketchQuant<typename turbo_prod::Codes<kDim, kBits - 1>::Type, Sketch, kDim>,
                SignSketchCodec>;

}  // namespace formats
}  // namespace kvpleat::inline KVPLEAT_ISA
