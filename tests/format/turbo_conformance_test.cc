// The laws of the Format concept for TurboQuant's split and prod variants.
#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/format/turbo_prod.h"
#include "kvpleat/format/turbo_split.h"
#include "support/codebook_law.h"
#include "support/format_laws.h"
#include "support/turbo_bounds.h"

using namespace kvpleat;

namespace {

template <std::uint32_t kDim>
using Prod1 = formats::TurboQuantProd<kDim, 1>;
template <std::uint32_t kDim>
using Prod2 = formats::TurboQuantProd<kDim, 2>;
template <std::uint32_t kDim>
using Prod4 = formats::TurboQuantProd<kDim, 4>;
template <std::uint32_t kDim>
using Published3 = formats::TurboQuantProd<kDim, 3, IidSketch>;

}  // namespace

TEST_CASE("laws: TurboQuant2_5") {
  test::key_and_value<formats::TurboQuant2_5, 64, 80>();
}
TEST_CASE("laws: TurboQuant3_5") {
  test::key_and_value<formats::TurboQuant3_5, 128>();
}
TEST_CASE("laws: TurboQuantProd") {
  test::key_and_value<Prod1, 1, 80>();
  test::key_and_value<Prod2, 64>();
  test::key_and_value<Prod4, 40>();
}
TEST_CASE("laws: TurboQuantProd with the published sketch") {
  test::key_and_value<Published3, 24>();
}

TEST_CASE("block sizes are the byte formulas") {
  // Codes, then two norms of 16 bits per token. A 1-bit plane of a key rounds to 32 channels: 16
  // channels of 3 bits take 2 * 16 + 32 bits a token, 48 take 2 * 48 + 64.
  CHECK(formats::TurboQuant2_5<64>::kBlockBytes == 64 * (2 * 16 + 32 + 2 * 48) / 8 + 256);
  CHECK(formats::TurboQuant2_5<64>::As<Role::kValue>::kBlockBytes ==
        64 * (3 * 16 + 2 * 48) / 8 + 256);
  CHECK(formats::TurboQuant3_5<64>::kBlockBytes == 64 * (4 * 16 + 2 * 48 + 64) / 8 + 256);
  CHECK(formats::TurboQuant3_5<64>::As<Role::kValue>::kBlockBytes ==
        64 * (4 * 16 + 3 * 48) / 8 + 256);
  CHECK(formats::TurboQuant2_5<128>::kBlockBytes == 64 * (3 * 32 + 2 * 96) / 8 + 256);
  CHECK(formats::TurboQuant3_5<128>::kBlockBytes == 64 * (4 * 32 + 3 * 96) / 8 + 256);
  CHECK(Prod1<64>::kBlockBytes == 64 * 64 / 8 + 128);
  CHECK(Prod4<128>::kBlockBytes == 64 * 128 * 4 / 8 + 256);
}
