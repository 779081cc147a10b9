#include "kvpleat/quant/adaptive.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

const std::vector<float> kRow = {0.9f, -0.35f, 0.1f, -1.4f, 0.02f, 0.7f, -0.6f, 1.05f};

std::vector<int> codes(const QuantizedVector& q) {
  return {q.codes, q.codes + q.size};
}

}  // namespace

TEST_CASE("golden C8: scales, zero point and codes of one row at every width") {
  const QuantizedVector four = adaptive_quantize(kRow, 4);
  CHECK(ok(four.status));
  CHECK(four.scale == 0.2000732421875f);
  CHECK(four.zero_point == 0);
  CHECK(codes(four) == std::vector<int>{4, -2, 0, -7, 0, 3, -3, 5});

  const QuantizedVector two = adaptive_quantize(kRow, 2);
  CHECK(two.scale == 0.7001953125f);
  CHECK(codes(two) == std::vector<int>{1, -1, 0, -2, 0, 0, -1, 1});

  const QuantizedVector eight = adaptive_quantize(kRow, 8);
  CHECK(eight.scale == doctest::Approx(0.0096078431).epsilon(1e-7));
  CHECK(eight.zero_point == 146);
  CHECK(codes(eight) == std::vector<int>{240, 110, 156, 0, 148, 219, 84, 255});

  const QuantizedVector sixteen = adaptive_quantize(kRow, 16);
  CHECK(sixteen.scale == 1.0f);
  CHECK(sixteen.codes[1] == 0xb59a);  // binary16 of -0.35
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(value_of(sixteen, i) == to_float(to_half(kRow[i])));
}

TEST_CASE("golden C8: tags of 2, 4, 8, 16, 16 and 2 bits") {
  std::vector<std::uint8_t> tags;
  for (const std::uint32_t bits : {2u, 4u, 8u, 16u, 16u, 2u}) tags.push_back(tag_of_bits(bits));
  std::uint8_t bytes[2] = {0xff, 0xff};
  pack_tags(tags.data(), tags.size(), bytes);
  CHECK(bytes[0] == 0xe4);
  CHECK(bytes[1] == 0x03);
  for (std::size_t i = 0; i < tags.size(); ++i) {
    CHECK(packed_tag(bytes, i) == tags[i]);
    CHECK(tag_of_bits(bits_of_tag(tags[i])) == tags[i]);
  }
  CHECK(tag_of_bits(3) == 4);
  CHECK(bits_of_tag(4) == 0);
}

TEST_CASE("adaptive_quantize: error of every width, half a step") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<float> row = test::uniform(seed, 96, 3.0f);
    for (const std::uint32_t bits : {2u, 4u, 8u}) {
      const QuantizedVector q = adaptive_quantize(row, bits);
      REQUIRE(ok(q.status));
      REQUIRE(q.size == 96);
      for (std::uint32_t i = 0; i < 96; ++i)
        CHECK(std::fabs(value_of(q, i) - row[i]) <= 0.5f * q.scale + 0x1p-22f * 3.0f);
    }
  }
}

TEST_CASE("adaptive_quantize refuses what it cannot code") {
  CHECK(adaptive_quantize(kRow, 3).status == Status::kInvalid);
  CHECK(adaptive_quantize(kRow, 0).status == Status::kInvalid);
  CHECK(adaptive_quantize(std::vector<float>(577, 1.0f), 4).status == Status::kInvalid);
  CHECK(ok(adaptive_quantize(std::vector<float>(576, 1.0f), 4).status));
  CHECK(ok(adaptive_quantize({}, 8).status));
  for (const std::uint32_t bits : {2u, 4u, 8u, 16u}) {
    std::vector<float> row = kRow;
    row[3] = std::numeric_limits<float>::quiet_NaN();
    CHECK(adaptive_quantize(row, bits).status == Status::kNonFinite);
    CHECK(codes(adaptive_quantize(row, bits)) == std::vector<int>(8, 0));
    row[3] = -kInfinity;
    CHECK(adaptive_quantize(row, bits).status == Status::kNonFinite);
    row[3] = 1e38f;
    CHECK(adaptive_quantize(row, bits).status == Status::kRange);
  }
}
