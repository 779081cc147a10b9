// RawFormat: rows as they are, in float, Half or BFloat16. The reference of size and speed, and the
// format of sinks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/quant/side_text.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {

// block  [64 tokens][head_dim] Element, little endian, each value rounded to nearest even. Exact
// for float.
template <std::uint32_t kHeadDim, class Element>
struct RawFormat {
  static_assert(kHeadDim >= 1 && kHeadDim <= 576, "kvpleat: head_dim must be 1 to 576");
  static_assert(std::is_same_v<Element, float> || std::is_same_v<Element, Half> ||
                    std::is_same_v<Element, BFloat16>,
                "kvpleat: a raw format holds float, Half or BFloat16");
  template <Role>
  using As = RawFormat;

  static constexpr std::uint32_t kDim = kHeadDim;
  static constexpr std::uint32_t kCoded = kHeadDim;
  static constexpr std::uint32_t kBlockTokens = 64;
  static constexpr std::uint32_t kSeal = 1;
  static constexpr std::uint32_t kRowBytes = kHeadDim * static_cast<std::uint32_t>(sizeof(Element));
  static constexpr std::uint32_t kBlockBytes = kBlockTokens * kRowBytes;
  static constexpr std::uint32_t kSharedBytes = 0;
  static constexpr std::uint32_t kCodeBytes = kBlockBytes;
  static constexpr std::uint32_t kSideBytes = 0;
  static constexpr std::uint32_t kOutlierBytes = 0;
  static constexpr bool kSpills = false;
  static constexpr bool kPositional = false;
  static constexpr bool kHasOffset = false;
  static constexpr bool kHasTile = false;
  static constexpr std::uint32_t kProfileSize = 0;
  static constexpr float kLargest = SideTraits<Element>::kLargest;
  static constexpr auto kId = Text("dim=") + number_text<kHeadDim>() +
                              ";transform=none;split=none;quant=raw;element=" + kSideText<Element>;

  static RawFormat bind(const BindContext&) { return {}; }
  static bool valid_profile(const float*) { return true; }

  void forward(const float* row, std::int64_t position, float* coded) const {
    NoTransform().forward<kDim>(row, position, coded);
  }
  void prepare_query(const float* query, float* coded) const {
    NoTransform().prepare_query<kDim>(query, coded);
  }
  void add_score_offset(const float*, const std::int64_t*, std::uint32_t, float*) const {}
  void restore(const float* coded, float weight, std::int64_t position, float* row) const {
    NoTransform().restore<kDim>(coded, weight, position, row);
  }
  [[nodiscard]] float coded_bound(float input_bound) const { return input_bound; }

  void encode(Rows rows, std::uint32_t slot, const std::uint8_t*, std::uint8_t* block, SpillWriter&,
              EncodeCounters& counters) const {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      std::uint8_t* at = block + (slot + t) * kRowBytes;
      for (std::uint32_t c = 0; c < kDim; ++c)
        store(at + c * sizeof(Element), nearest<Element>(rows[t][c]));
    }
    counters.values += rows.count * kDim;
  }
  void decode(const BlockBytes& bytes, std::uint32_t slot, MutableRows rows) const {
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      const std::uint8_t* at = bytes.block + (slot + t) * kRowBytes;
      for (std::uint32_t c = 0; c < kDim; ++c)
        rows[t][c] = to_float(load<Element>(at + c * sizeof(Element)));
    }
  }
  static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    for (std::uint32_t i = slot * kRowBytes; i < (slot + n) * kRowBytes; ++i) block[i] = 0;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
