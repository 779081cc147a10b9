#include "kvpleat/core/tokens.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/generator.h"

using namespace kvpleat;

namespace {

std::vector<float> row(const TokenRows& rows, std::size_t token, std::size_t head) {
  std::vector<float> out(rows.dim);
  rows.read(token, head, out.data());
  return out;
}

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

}  // namespace

TEST_CASE("packed rows") {
  std::vector<float> data(3 * 2 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const TokenRows rows(data.data(), 3, 2, 5);
  CHECK(ok(rows.check()));
  CHECK(row(rows, 2, 1) == std::vector<float>{25, 26, 27, 28, 29});
  CHECK(rows.element_bytes() == 4);
}

TEST_CASE("strides: a fused buffer, head-major order, padded rows, single channels apart") {
  // [T][3 * H * D], K at H*D.
  constexpr std::size_t kH = 3;
  constexpr std::size_t kD = 4;
  std::vector<float> fused(5 * 3 * kH * kD);
  for (std::size_t i = 0; i < fused.size(); ++i) fused[i] = static_cast<float>(i);
  const TokenRows k = TokenRows(fused.data() + kH * kD, 5, kH, kD).strides(3 * kH * kD, kD);
  CHECK(row(k, 2, 1) == std::vector<float>{88, 89, 90, 91});  // 2 * 36 + 12 + 4

  std::vector<float> head_major(kH * 5 * kD);
  for (std::size_t h = 0; h < kH; ++h) {
    for (std::size_t t = 0; t < 5; ++t) {
      for (std::size_t c = 0; c < kD; ++c)
        head_major[(h * 5 + t) * kD + c] = static_cast<float>(t * 36 + 12 + h * 4 + c);
    }
  }
  const TokenRows by_head = TokenRows(head_major.data(), 5, kH, kD).strides(kD, 5 * kD);
  std::vector<float> columns(kD * 5 * kH);  // column major: channel stride 15
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t h = 0; h < kH; ++h) {
      for (std::size_t c = 0; c < kD; ++c)
        columns[c * 15 + t * 3 + h] = static_cast<float>(t * 36 + 12 + h * 4 + c);
    }
  }
  const TokenRows by_channel = TokenRows(columns.data(), 5, kH, kD).strides(3, 1, 15);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t h = 0; h < kH; ++h) {
      CHECK(row(by_head, t, h) == row(k, t, h));
      CHECK(row(by_channel, t, h) == row(k, t, h));
    }
  }
}

TEST_CASE("half and bfloat16 elements are read exactly, at any alignment and channel stride") {
  const std::vector<float> values = test::uniform(6, 2 * 3 * 8);
  std::vector<unsigned char> raw(values.size() * 2 * 2 + 1);
  for (const bool half : {true, false}) {
    std::vector<float> wanted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t bits = half ? to_half(values[i]).bits : to_bfloat16(values[i]).bits;
      std::memcpy(raw.data() + 1 + 4 * i, &bits, 2);  // odd address, every second element
      wanted[i] = half ? to_float(Half{bits}) : to_float(BFloat16{bits});
    }
    const TokenRows rows =
        TokenRows::tagged(raw.data() + 1, half ? ElementType::kHalf : ElementType::kBFloat16, 2, 3,
                          8)
            .strides(48, 16, 2);
    CHECK(rows.element_bytes() == 2);
    for (std::size_t t = 0; t < 2; ++t) {
      for (std::size_t h = 0; h < 3; ++h) {
        const float* from = wanted.data() + (t * 3 + h) * 8;
        CHECK(row(rows, t, h) == std::vector<float>(from, from + 8));
      }
    }
  }
  std::vector<Half> packed(6, to_half(2.5f));
  CHECK(TokenRows(packed.data(), 1, 2, 3).type == ElementType::kHalf);
  CHECK(row(TokenRows(packed.data(), 1, 2, 3), 0, 1) == std::vector<float>(3, 2.5f));
  std::vector<BFloat16> other(6, to_bfloat16(2.5f));
  CHECK(TokenRows(other.data(), 1, 2, 3).type == ElementType::kBFloat16);
}

TEST_CASE("refusals: null data, zero shapes") {
  std::vector<float> data(100);
  CHECK(ok(TokenRows().check()));
  CHECK(ok(TokenRows(static_cast<const float*>(nullptr), 0, 2, 8).check()));
  CHECK(ok(TokenRows(data.data(), 0, 0, 0).check()));
  CHECK(TokenRows(static_cast<const float*>(nullptr), 1, 2, 8).check() == Status::kInvalid);
  CHECK(TokenRows(data.data(), 1, 0, 8).check() == Status::kInvalid);
  CHECK(TokenRows(data.data(), 1, 2, 0).check() == Status::kInvalid);
}

TEST_CASE("refusals: a buffer that is too short, and products that overflow") {
  std::vector<float> data(3 * 2 * 5);
  const auto of = [&](std::size_t n) {
    return TokenRows(std::span<const float>(data.data(), n), 3, 2, 5);
  };
  CHECK(ok(of(30).check()));
  CHECK(of(29).check() == Status::kRange);
  CHECK(of(0).check() == Status::kRange);
  // The last element of strided rows, not their count, decides.
  std::vector<float> wide(2 * 20 + 1 * 7 + 4 * 1 + 1);
  CHECK(ok(TokenRows(std::span<const float>(wide), 3, 2, 5).strides(20, 7).check()));
  wide.pop_back();
  CHECK(TokenRows(std::span<const float>(wide), 3, 2, 5).strides(20, 7).check() == Status::kRange);
  CHECK(TokenRows(std::span<const float>(data), 3, 2, 5).strides(10, 5, 8).check() ==
        Status::kRange);
  // Without an extent only overflow can be seen.
  const TokenRows free(data.data(), 3, 2, 5);
  CHECK(ok(free.strides(1000, 500).check()));
  CHECK(free.strides(kMax / 2 + 1, 0).check() == Status::kRange);
  CHECK(ok(free.strides(0, kMax - 4).check()));  // the last element at kMax: just representable
  CHECK(free.strides(0, kMax - 3).check() == Status::kRange);
  CHECK(free.strides(0, 0, kMax / 2).check() == Status::kRange);
}

TEST_CASE("part: tokens of a view, with what is left of the buffer") {
  std::vector<float> data(6 * 2 * 3);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const TokenRows rows(std::span<const float>(data), 6, 2, 3);
  const TokenRows part = rows.part(2, 3);
  CHECK(part.tokens == 3);
  CHECK(part.extent == 36 - 12);
  CHECK(row(part, 1, 1) == row(rows, 3, 1));
  CHECK(ok(part.check()));
  CHECK(ok(rows.part(2, 4).check()));
  CHECK(rows.part(2, 5).check() == Status::kRange);
  CHECK(rows.part(6, 0).extent == 0);
  CHECK(ok(rows.part(6, 0).check()));
  CHECK(rows.part(7, 1).check() == Status::kRange);
  CHECK(TokenRows(data.data(), 6, 2, 3).part(1, 2).extent == kNoExtent);
  CHECK(TokenRows().part(0, 0).data == nullptr);
  const TokenRows strided = rows.strides(12, 3).part(1, 1);  // two tokens' worth further
  CHECK(row(strided, 0, 0) == row(rows, 2, 0));
}
