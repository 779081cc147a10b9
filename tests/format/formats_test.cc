// Golden bytes of the named formats; tests/golden/make_goldens.py writes them.
#include "kvpleat/format/formats.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "golden/goldens.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

// Rows 0 .. tokens-1 of the golden input from `slot` on must give exactly these bytes.
template <class F>
void check_golden(const F& format, std::uint32_t slot, std::uint32_t tokens, std::int64_t position,
                  std::span<const golden::ByteAt> expected) {
  std::vector<float> coded(tokens * F::kCoded);
  for (std::uint32_t t = 0; t < tokens; ++t) {
    float row[F::kDim];
    for (std::uint32_t c = 0; c < F::kDim; ++c) row[c] = test::golden_input(t, c);
    format.forward(row, position + t, coded.data() + t * F::kCoded);
  }
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  format.encode(Rows{coded.data(), tokens, F::kCoded}, slot, nullptr, block.data(), spill,
                counters);
  std::vector<std::uint8_t> wanted(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : expected) {
    REQUIRE(at.offset < wanted.size());
    wanted[at.offset] = at.byte;
  }
  CHECK(block == wanted);
}

template <class F>
void check_key(std::span<const golden::ByteAt> expected, std::uint32_t slot = 17,
               std::uint32_t tokens = 3) {
  check_golden(typename F::template As<Role::kKey>{}, slot, tokens, 0, expected);
}
template <class F>
void check_value(std::span<const golden::ByteAt> expected, std::uint32_t slot = 17,
                 std::uint32_t tokens = 3) {
  check_golden(typename F::template As<Role::kValue>{}, slot, tokens, 0, expected);
}

}  // namespace

TEST_CASE("golden bytes: Int8") {
  check_key<formats::Int8<8>>(golden::kInt8Key);
  check_value<formats::Int8<8>>(golden::kInt8Value);
}
TEST_CASE("golden bytes: Int6") {
  check_key<formats::Int6<8>>(golden::kInt6Key);
  check_value<formats::Int6<8>>(golden::kInt6Value);
}
TEST_CASE("golden bytes: Int5") {
  check_key<formats::Int5<8>>(golden::kInt5Key);
  check_value<formats::Int5<8>>(golden::kInt5Value);
}
TEST_CASE("golden bytes: Int4") {
  check_key<formats::Int4<8>>(golden::kInt4Key);
  check_value<formats::Int4<8>>(golden::kInt4Value);
}
TEST_CASE("golden bytes: Int3") {
  check_key<formats::Int3<8>>(golden::kInt3Key);
  check_value<formats::Int3<8>>(golden::kInt3Value);
}
TEST_CASE("golden bytes: Int2") {
  check_key<formats::Int2<8>>(golden::kInt2Key);
  check_value<formats::Int2<8>>(golden::kInt2Value);
}
TEST_CASE("golden bytes: Int4Channel") {
  check_key<formats::Int4Channel<3>>(golden::kInt4ChannelKey, 32, 32);
  check_value<formats::Int4Channel<3>>(golden::kInt4ChannelValue, 32, 32);
}
TEST_CASE("golden bytes: Int4TopK") {
  check_key<formats::Int4TopK<8>>(golden::kInt4TopKKey);
  check_value<formats::Int4TopK<8>>(golden::kInt4TopKValue);
}
TEST_CASE("golden bytes: CenteredRotatedKey") {
  Rope rope;
  rope.layout = RopeLayout::kHalves;
  rope.dims = 8;
  for (std::uint32_t i = 0; i < 4; ++i) rope.turns[i] = golden::kTurns[i];
  BindContext context;
  context.profile = golden::kMean;
  context.rope = &rope;
  const auto format = formats::CenteredRotatedKey<12, 4>::bind(context);
  check_golden(format, 17, 3, 1000, golden::kCenteredRotated4Key);
}
