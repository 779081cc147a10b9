// Golden bytes of the tiered and the adaptive formats; tests/golden/make_tiered_goldens.py writes
// them.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "golden/tiered_goldens.h"
#include "kvpleat/format/adaptive.h"
#include "kvpleat/format/tiered.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

template <class F>
std::vector<float> golden_rows(std::uint32_t first, std::uint32_t n) {
  std::vector<float> rows;
  for (std::uint32_t t = first; t < first + n; ++t) {
    for (std::uint32_t c = 0; c < F::kDim; ++c) rows.push_back(test::golden_input(t, c));
  }
  return rows;
}
template <class F>
std::vector<std::uint8_t> encoded(std::uint32_t slot, const std::vector<float>& rows) {
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  SpillWriter spill;
  EncodeCounters counters;
  F::bind({}).encode(Rows{rows.data(), rows.size() / F::kDim, F::kDim}, slot, nullptr, block.data(),
                     spill, counters);
  return block;
}
template <class F>
std::vector<std::uint8_t> wanted(std::span<const golden::ByteAt> bytes) {
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  for (const golden::ByteAt& at : bytes) {
    REQUIRE(at.offset < block.size());
    block[at.offset] = at.byte;
  }
  return block;
}
template <class F>
void check(std::span<const golden::ByteAt> key, std::span<const golden::ByteAt> value,
           std::uint32_t slot = 17, std::uint32_t tokens = 3) {
  using Key = typename F::template As<Role::kKey>;
  using Value = typename F::template As<Role::kValue>;
  CHECK(encoded<Key>(slot, golden_rows<F>(0, tokens)) == wanted<Key>(key));
  CHECK(encoded<Value>(slot, golden_rows<F>(0, tokens)) == wanted<Value>(value));
}

}  // namespace

TEST_CASE("golden bytes: Adaptive2, Adaptive4, Adaptive8") {
  check<formats::Adaptive2<8>>(golden::kAdaptive2Key, golden::kAdaptive2Value);
  check<formats::Adaptive4<8>>(golden::kAdaptive4Key, golden::kAdaptive4Value);
  check<formats::Adaptive8<8>>(golden::kAdaptive8Key, golden::kAdaptive8Value);
}

TEST_CASE("golden bytes: Tiered8, Tiered8TopK") {
  check<formats::Tiered8<8>>(golden::kTiered8Key, golden::kTiered8Value, 0, 4);
  check<formats::Tiered8TopK<8>>(golden::kTiered8TopKKey, golden::kTiered8TopKValue, 0, 4);
}

TEST_CASE("golden bytes: Renewed8, a block and the first tokens of the next") {
  using F = formats::Renewed8<1>::As<Role::kKey>;
  const std::vector<std::uint8_t> first = encoded<F>(0, golden_rows<F>(0, 128));
  CHECK(first == wanted<F>(golden::kRenewed8First));
  std::vector<std::uint8_t> second(F::kBlockBytes, 0);
  const std::vector<float> rows = golden_rows<F>(128, 2);
  SpillWriter spill;
  EncodeCounters counters;
  F{}.encode(Rows{rows.data(), 2, 1}, 0, nullptr, second.data(), spill, counters,
             BlockBytes{first.data(), nullptr, nullptr, 0});
  CHECK(second == wanted<F>(golden::kRenewed8Second));
}

TEST_CASE("golden bytes: HashSparse, without and with a plane of key bits") {
  check<formats::Hash<8, 3>>(golden::kHash8, golden::kHash8);
  check<formats::Hash<100, 2>>(golden::kHash100, golden::kHash100);
}
