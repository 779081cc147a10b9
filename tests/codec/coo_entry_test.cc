#include "kvpleat/codec/coo_entry.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/quant/group_shift.h"

using namespace kvpleat;

namespace {

template <OutlierCode kCode, std::uint32_t kOuter, std::uint32_t kInner>
using Quant =
    GroupShiftQuant<ShiftPolicy::kOuterAndMiddle, kCode, ParameterScope::kLayer, kOuter, kInner>;
constexpr auto kSign5 = OutlierCode::kSignMagnitude5;
constexpr auto kOffset4 = OutlierCode::kOffsetBinary4;

// Every index, band and upper bit comes back, and different ones are different entries.
template <class Entry, class Q>
void round_trip() {
  bool used[65536] = {};
  const auto check = [&](BandSide at) {
    for (std::uint32_t index = 0; index < 64; ++index) {
      for (std::uint32_t code = 5; code < 1u << Q::kOutlierBits; code += 16) {
        const std::uint32_t entry = Entry::template pack<Q>(index, at, code);
        CHECK(entry < 1u << Entry::kBits);
        CHECK(!used[entry]);
        used[entry] = true;
        const auto back = Entry::template unpack<Q>(entry);
        CHECK(back.valid);
        CHECK(back.index == index);
        CHECK(back.upper == (code & 16u));
        CHECK(back.at.band == at.band);
        CHECK(back.at.nested == at.nested);
      }
    }
  };
  for (std::uint8_t k = 0; k < Q::kOuterBands; ++k) check({Band::kOuter, true, k});
  for (std::uint8_t k = 0; k < Q::kInnerBands; ++k) check({Band::kInner, false, k});
  // What is none of them is refused, whatever the byte.
  std::uint32_t known = 0;
  for (std::uint32_t entry = 0; entry < 1u << Entry::kBits; ++entry)
    known += Entry::template unpack<Q>(entry).valid;
  CHECK(known == 64 * (Q::kOuterBands + Q::kInnerBands) << (Q::kOutlierBits - 4));
}

}  // namespace

TEST_CASE("entries: published bits") {
  using Q = GroupShiftQuant<>;
  // Index 6, outer, high side: 000110 1 0. Index 63, inner, negative: 111111 0 1.
  CHECK(CooEntry8::pack<Q>(6, {Band::kOuter, false}, 0) == 0x1a);
  CHECK(CooEntry8::pack<Q>(63, {Band::kInner, true}, 16 + 7) == 0xfd);
  // Sixteen bits: index in 15..10, band from inside in 9..1.
  using Five = Quant<kSign5, 2, 2>;
  CHECK(CooEntry16::pack<Five>(63, {Band::kOuter, true, 0}, 16) == (63u << 10 | 3u << 1 | 1u));
  CHECK(CooEntry16::pack<Five>(0, {Band::kOuter, true, 1}, 0) == 2u << 1);
  CHECK(CooEntry16::pack<Five>(0, {Band::kInner, true, 0}, 0) == 1u << 1);
  CHECK(CooEntry16::pack<Five>(0, {Band::kInner, true, 1}, 0) == 0u);
  std::uint8_t bytes[2] = {};
  SpillWriter spill{bytes, 0, 2};
  CooEntry16::push(0xfc07, spill);
  CHECK(bytes[0] == 0x07);  // little endian
  CHECK(bytes[1] == 0xfc);
  CHECK(CooEntry16::load_at(bytes) == 0xfc07);
}

TEST_CASE("entries: all of them, there and back") {
  round_trip<CooEntry8, Quant<kSign5, 1, 1>>();
  round_trip<CooEntry8, Quant<kSign5, 0, 1>>();
  round_trip<CooEntry8, Quant<kSign5, 1, 0>>();
  round_trip<CooEntry8, Quant<kSign5, 2, 0>>();
  round_trip<CooEntry8, Quant<kOffset4, 2, 2>>();
  round_trip<CooEntry8, Quant<kOffset4, 1, 2>>();
  round_trip<CooEntry16, Quant<kSign5, 2, 2>>();
  round_trip<CooEntry16, Quant<kOffset4, 1, 1>>();
}

TEST_CASE("entries: how many bands fit") {
  static_assert(CooEntry8::bands(5) == 2 && CooEntry8::bands(4) == 4);
  static_assert(CooEntry16::bands(5) == 512 && CooEntry16::bands(4) == 1024);
  // Bytes of a token: chunks of 64, the last short.
  const std::uint8_t counts[3] = {9, 0, 64};
  CHECK(SpillShape<192, CooEntry8, SpillAlign::kBlock>::token_bytes(counts) == 73);
  CHECK(SpillShape<192, CooEntry8, SpillAlign::kToken>::token_bytes(counts) == 80);
  CHECK(SpillShape<192, CooEntry8, SpillAlign::kChunk>::token_bytes(counts) == 16 + 64);
  CHECK(SpillShape<192, CooEntry16, SpillAlign::kToken>::token_bytes(counts) == 152);
  CHECK(SpillShape<192, CooEntry16, SpillAlign::kChunk>::token_bytes(counts) == 24 + 128);
  static_assert(SpillShape<70, CooEntry8, SpillAlign::kBlock>::kMost == 70);
  static_assert(SpillShape<70, CooEntry8, SpillAlign::kToken>::kMost == 72);
  static_assert(SpillShape<70, CooEntry16, SpillAlign::kChunk>::kMost == 128 + 16);
}
