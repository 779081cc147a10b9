// AnyFormat: a format without its type. The laws of the Format concept are compiled once and run
// over this; what is instantiated per format is only what it forwards.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/transform/bind.h"

namespace test {

// A profile of one head that a format can be bound to: a mean for transforms, then the thresholds
// of a splitter that has any. Specialise it for a format that needs other numbers.
template <class F>
struct SampleProfile {
  // By the number of pairs.
  static constexpr float kThresholds[4][4] = {
      {0.9375f}, {0.9375f, 0.0625f}, {0.9375f, 0.75f, 0.0625f}, {0.9375f, 0.75f, 0.125f, 0.03125f}};

  static std::vector<float> make() {
    std::vector<float> profile;
    for (std::uint32_t i = 0; i < F::kProfileSize; ++i)
      profile.push_back(static_cast<float>((7 * i + 3) % 13) / 4.0f - 1.5f);
    if constexpr (requires { F{}.split.edge({}); }) {
      constexpr std::uint32_t kCount = decltype(F::split)::kProfileSize;
      float* thresholds = profile.data() + F::kProfileSize - kCount;
      for (std::uint32_t i = 0; i < kCount / 2; ++i) {  // pairs, from outside
        thresholds[i] = -kThresholds[kCount / 2 - 1][i];
        thresholds[kCount - 1 - i] = kThresholds[kCount / 2 - 1][i] + 0.015625f;
      }
    }
    return profile;
  }
};

// Channels all over the row, the last one among them.
template <class Apart, class Rest, class Transform>
struct SampleProfile<kvpleat::ChannelSplit<Apart, Rest, Transform>> {
  using F = kvpleat::ChannelSplit<Apart, Rest, Transform>;
  static std::vector<float> make() {
    std::vector<float> profile;
    for (std::uint32_t i = 0; i < F::kTransformProfile; ++i)
      profile.push_back(static_cast<float>((7 * i + 3) % 13) / 4.0f - 1.5f);
    for (std::uint32_t i = 1; i <= F::kApart; ++i)
      profile.push_back(static_cast<float>(i * F::kDim / F::kApart - 1));
    for (const float x : SampleProfile<Apart>::make()) profile.push_back(x);
    for (const float x : SampleProfile<Rest>::make()) profile.push_back(x);
    return profile;
  }
  // What restore may add to a row: everything but the channels.
  static std::vector<float> mean(std::vector<float> profile) {
    for (std::uint32_t i = 0; i < F::kApart; ++i) profile[F::kTransformProfile + i] = 0.0f;
    return profile;
  }
};

// What a format is bound to at head_dim `dim`: a rotation of the even part of the head vector and
// its profile.
struct Surroundings {
  kvpleat::Rope rope;
  std::vector<kvpleat::CosSin> unit_rotations;
  std::vector<float> profile;

  Surroundings(std::uint32_t dim, std::vector<float> own_profile)
      : rope(kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, dim / 2 * 2, 10000.0)),
        profile(std::move(own_profile)) {
    for (std::uint32_t u = 0; u < kvpleat::kRotationSpan; ++u) {
      for (std::uint32_t i = 0; i < rope.pairs(); ++i)
        unit_rotations.push_back(rope.rotation(i, static_cast<std::int64_t>(u)));
    }
  }
  [[nodiscard]] kvpleat::BindContext context() const {
    return {profile.data(), &rope, unit_rotations.data()};
  }
};

// Everything that one block of one head consists of.
struct BlockData {
  std::vector<std::uint8_t> block;
  std::vector<std::uint8_t> shared;
  std::vector<std::uint8_t> spill;
  kvpleat::EncodeCounters counters;

  [[nodiscard]] kvpleat::BlockBytes bytes() const {
    return {block.data(), shared.data(), spill.data(), static_cast<std::uint32_t>(spill.size())};
  }
};

class AnyFormat {
 public:
  std::string id;
  std::uint32_t dim = 0;
  std::uint32_t coded = 0;
  std::uint32_t block_tokens = 0;
  std::uint32_t seal = 0;
  std::uint32_t block_bytes = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t parts_bytes = 0;  // codes + sides + outliers
  bool spills = false;
  bool append_only = false;  // slots are written in order, the last ones rewritten
  bool positional = false;
  bool has_offset = false;
  bool scores_restored = false;
  std::vector<float> profile;  // what of it restore may add to a row

  AnyFormat() = default;
  AnyFormat(const AnyFormat&) = delete;
  AnyFormat& operator=(const AnyFormat&) = delete;
  virtual ~AnyFormat() = default;

  virtual void forward(const float* row, std::int64_t position, float* out) const = 0;
  virtual void prepare_query(const float* query, float* out) const = 0;
  virtual void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                                float* offsets) const = 0;
  virtual void restore(const float* row, float weight, std::int64_t position, float* out) const = 0;
  [[nodiscard]] virtual float coded_bound(float input_bound) const = 0;
  // Encodes coded rows: shared bytes first, then the block; grows the spill.
  virtual void encode(kvpleat::Rows rows, std::uint32_t slot, BlockData& data) const = 0;
  virtual void decode(const BlockData& data, std::uint32_t slot,
                      kvpleat::MutableRows rows) const = 0;
  virtual void erase(BlockData& data, std::uint32_t slot, std::uint32_t n) const = 0;
  // Documented error bound of every element, from the stored scales: [rows.count, dim].
  [[nodiscard]] virtual std::vector<float> bounds(kvpleat::Rows rows, std::uint32_t slot,
                                                  const BlockData& data) const = 0;
  // Whether the bits of channels that do not exist are zero.
  [[nodiscard]] virtual bool padding_is_zero(const BlockData& data) const = 0;

  [[nodiscard]] BlockData empty() const {
    return {std::vector<std::uint8_t>(block_bytes, 0),
            std::vector<std::uint8_t>(shared_bytes, 0),
            {},
            {}};
  }
};

namespace detail {

template <class F>
inline constexpr bool kIsRaw = false;
template <std::uint32_t kDim, class Element>
inline constexpr bool kIsRaw<kvpleat::RawFormat<kDim, Element>> = true;

}  // namespace detail

// The documented error bound of channel c of a coded row stored at `slot`. Specialise it for a format
// with another law.
template <class F>
struct ErrorBound {
  // Affine: half the stored step. Slots: half the stored delta scale. Fused: a step in bands that
  // a code divides into sides, half a step elsewhere. Raw: half a unit in the last place.
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const float size = std::fabs(row[c]);
    if constexpr (detail::kIsRaw<F>) {
      // 24, 11 and 8 significant bits; halves are subnormal below 2^-14, in steps of 2^-24.
      constexpr std::uint32_t kRowBytes = F::kRowBytes / F::kDim;
      if (kRowBytes == 4) return 0.0f;
      const bool half = F::kId.view().find("bf16") == std::string_view::npos;
      return half ? std::fmax(size * 0x1p-11f, 0x1p-25f) : size * 0x1p-8f;
    } else if constexpr (F::kSpills) {
      using Quant = decltype(F::quant);
      const kvpleat::BandSide at = format.split.band(row[c]);
      const float step = F::Layout::parameters(data.bytes(), slot).of(at).step;
      // Shift, scale, add and shift back round four times, each within 2^-24 of at most |x| + 2
      // (the thresholds are below 1 and so is what they shift by).
      return (Quant::divides(at.band) ? step : step / 2.0f) + 0x1p-22f * (size + 2.0f);
    } else {
      using Dense = typename F::Layout::Dense;
      const std::uint32_t group = Dense::kAlongTokens ? c : c / Dense::kGroupChannels;
      const auto scale = Dense::load_scale(data.block.data(), slot, group);
      const float step = kvpleat::to_float(scale.step);
      const float low = kvpleat::to_float(scale.low);
      // The subtraction before the code and the addition of decode round once each, values of at
      // most |low| + 2^bits steps.
      const float reach = std::fabs(low) + static_cast<float>(1u << F::kTile.bits) * step + size;
      float error = step / 2.0f;
      // A group of equal values keeps the nearest half: 2^-11 of it, or 2^-25.
      if (step == 0.0f) error = std::fmax(size * 0x1p-11f, 0x1p-25f);
      if constexpr (F::kOutlierBytes > 0) {
        std::uint16_t channels[decltype(F::split)::kMaxOutliers];
        const std::uint32_t count = format.split.split(row, F::kDim, channels);
        for (std::uint32_t i = 0; i < count; ++i) {
          if (channels[i] == c)
            error = kvpleat::to_float(kvpleat::load<kvpleat::Half>(data.block.data() +
                                                                   F::Layout::scale_at(slot))) /
                    2.0f;
        }
      }
      return error + 0x1p-22f * reach;
    }
  }
};

// Each part has its law, on its channels and its part of the block.
template <class Apart, class Rest, class Transform>
struct ErrorBound<kvpleat::ChannelSplit<Apart, Rest, Transform>> {
  using F = kvpleat::ChannelSplit<Apart, Rest, Transform>;
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    if (c < Apart::kCoded) return ErrorBound<Apart>::of(format.apart, row, slot, c, data);
    BlockData rest;
    rest.block.assign(data.block.begin() + Apart::kBlockBytes, data.block.end());
    return ErrorBound<Rest>::of(format.rest, row + Apart::kCoded, slot, c - Apart::kCoded, rest);
  }
};

template <class F>
class TypedFormat final : public AnyFormat {
  static_assert(kvpleat::Format<F>);
  static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= 64);
  static_assert(F::kBlockTokens % 64 == 0 && F::kBlockTokens % F::kSeal == 0);
  static_assert((F::kSharedBytes > 0) == kvpleat::SharedFormat<F>);
  static_assert(F::kSpills == kvpleat::SpillingFormat<F>);

 public:
  TypedFormat() : surroundings_(F::kDim, SampleProfile<F>::make()) {
    id = F::kId.view();
    dim = F::kDim;
    coded = F::kCoded;
    block_tokens = F::kBlockTokens;
    seal = F::kSeal;
    block_bytes = F::kBlockBytes;
    shared_bytes = F::kSharedBytes;
    parts_bytes = F::kCodeBytes + F::kSideBytes + F::kOutlierBytes;
    spills = F::kSpills;
    append_only = F::kSpills;
    if constexpr (requires { F::kAppendOnly; }) append_only = F::kAppendOnly;
    positional = F::kPositional;
    has_offset = F::kHasOffset;
    scores_restored = kvpleat::scores_restored<F>();
    profile = surroundings_.profile;
    if constexpr (requires { SampleProfile<F>::mean(profile); })
      profile = SampleProfile<F>::mean(profile);
    format_ = F::bind(surroundings_.context());
  }

  void forward(const float* row, std::int64_t position, float* out) const override {
    format_.forward(row, position, out);
  }
  void prepare_query(const float* query, float* out) const override {
    format_.prepare_query(query, out);
  }
  void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                        float* offsets) const override {
    format_.add_score_offset(query, positions, n, offsets);
  }
  void restore(const float* row, float weight, std::int64_t position, float* out) const override {
    format_.restore(row, weight, position, out);
  }
  [[nodiscard]] float coded_bound(float input_bound) const override {
    return format_.coded_bound(input_bound);
  }
  void encode(kvpleat::Rows rows, std::uint32_t slot, BlockData& data) const override {
    if constexpr (F::kSharedBytes > 0) {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        typename F::Stat stat;
        format_.observe(rows[t], stat);
        F::write_shared(stat, slot + t, data.shared.data());
      }
    }
    std::uint32_t room = 0;
    if constexpr (F::kSpills) {
      for (std::uint32_t t = 0; t < rows.count; ++t) room += format_.spill_need(rows[t]);
    }
    const auto before = static_cast<std::uint32_t>(data.spill.size());
    data.spill.resize(before + room);
    kvpleat::SpillWriter spill{data.spill.data(), before, before + room};
    format_.encode(rows, slot, data.shared.data(), data.block.data(), spill, data.counters);
    data.spill.resize(spill.size);
  }
  void decode(const BlockData& data, std::uint32_t slot, kvpleat::MutableRows rows) const override {
    format_.decode(data.bytes(), slot, rows);
  }
  void erase(BlockData& data, std::uint32_t slot, std::uint32_t n) const override {
    if constexpr (kvpleat::ReorderedSpill<F>) {
      const std::uint32_t kept = F::spill_bytes(data.bytes(), slot);
      const auto bytes = static_cast<std::uint32_t>(data.spill.size());
      data.spill.resize(F::cut_spill(data.block.data(), data.spill.data(), bytes, slot));
      if (data.spill.size() != kept) data.spill.push_back(0xff);  // it said otherwise
    } else if constexpr (F::kSpills) {
      data.spill.resize(F::spill_bytes(data.block.data(), slot));
    }
    F::erase(data.block.data(), slot, n);
    for (std::uint32_t i = slot * (shared_bytes / block_tokens);
         i < (slot + n) * (shared_bytes / block_tokens); ++i)
      data.shared[i] = 0;
  }

  [[nodiscard]] std::vector<float> bounds(kvpleat::Rows rows, std::uint32_t slot,
                                          const BlockData& data) const override {
    std::vector<float> result;
    for (std::uint32_t t = 0; t < rows.count; ++t) {
      for (std::uint32_t c = 0; c < F::kDim; ++c)
        result.push_back(ErrorBound<F>::of(format_, rows[t], slot + t, c, data));
    }
    return result;
  }
  [[nodiscard]] bool padding_is_zero(const BlockData& data) const override {
    if constexpr (requires { typename F::Layout::Dense; }) {
      using Dense = typename F::Layout::Dense;
      std::uint32_t found = 0;
      for (std::uint32_t t = 0; t < F::kBlockTokens; ++t) {
        for (std::uint32_t c = F::kDim; c < Dense::Tile::kPaddedDim; ++c) {
          found |= Dense::Tile::get(data.block.data(), t, c);
          if constexpr (requires { requires Dense::kAlongTokens; }) {
            // Side data of channels that do not exist.
            for (std::uint32_t f = 0; f < Dense::kFields; ++f) {
              const std::uint32_t at = Dense::scale_at(t, c) + f * Dense::kFieldStride;
              for (std::uint32_t b = 0; b < sizeof(typename Dense::Side); ++b)
                found |= data.block[at + b];
            }
          }
        }
      }
      return found == 0;
    } else if constexpr (kvpleat::ReorderedSpill<F>) {
      using Tile = typename F::Layout::Tile;
      std::uint32_t found = 0;
      for (std::uint32_t t = 0; t < F::kBlockTokens; ++t) {
        for (std::uint32_t c = F::kDim; c < Tile::kPaddedDim; ++c)
          found |= Tile::get(data.block.data(), t, c);
      }
      return found == 0;
    } else if constexpr (F::kSpills && F::kDim % 2 == 1) {
      std::uint32_t found = 0;
      for (std::uint32_t t = 0; t < F::kBlockTokens; ++t)
        found |= data.block[t * F::Layout::kRowBytes + F::kDim / 2] & 0xf0u;
      return found == 0;
    } else {
      return true;
    }
  }

 private:
  Surroundings surroundings_;
  F format_{};
};

}  // namespace test
