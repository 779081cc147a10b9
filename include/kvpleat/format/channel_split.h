// ChannelSplit: a few outlier channels go through one format, the others through another.
//
// Keys often have channels that are many times larger than the rest, always the same ones. A format
// of more bits for these and an own scale for each part costs less than wide codes for all.
#pragma once

#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {

namespace channel_split {

// A part keeps everything in its block.
template <class F>
constexpr bool stays_inside() {
  bool inside = !F::kSpills && F::kSharedBytes == 0 && !F::kPositional;
  if constexpr (requires { F::kReadsPrevious; }) inside = inside && !F::kReadsPrevious;
  if constexpr (requires { F::kRefuses; }) inside = inside && !F::kRefuses;
  return inside;
}
template <class F>
constexpr bool append_only() {
  if constexpr (requires { F::kAppendOnly; }) {
    return F::kAppendOnly;
  } else {
    return false;
  }
}

}  // namespace channel_split

// A block: the block of Apart (Apart::kDim channels), then the block of Rest (Rest::kDim). A coded
// row: Apart's, then Rest's. Profile of a head, in this order: the transform's floats, the channels
// that go apart, Apart's profile, Rest's.
//   channels: Apart::kDim floats, whole numbers of [0, kDim), ascending (calibrate/
//   channel_stats.h). Without a profile: the first ones.
// The transform acts on the whole row before it is split; only that one may depend on the position.
// Bits per element: those of the parts, weighted by their channels. The error of an element is that
// of its part.
template <Format Apart, Format Rest, class Transform = NoTransform>
struct ChannelSplit {
  static constexpr std::uint32_t kDim = Apart::kDim + Rest::kDim;
  static_assert(kDim <= 576, "kvpleat: head_dim must be 1 to 576");
  static_assert(channel_split::stays_inside<Apart>() && channel_split::stays_inside<Rest>(),
                "kvpleat: a part of ChannelSplit keeps everything in its block (no spill, no side "
                "data over the heads, nothing of the block before) and no position: give a "
                "PhaseCenter to ChannelSplit itself");
  static_assert(Apart::kBlockTokens == Rest::kBlockTokens && Apart::kSeal == Rest::kSeal,
                "kvpleat: both parts of ChannelSplit must seal the same tokens: use the same group "
                "along tokens, or none, in both");

  template <Role kOther>
  using As = ChannelSplit<typename Apart::template As<kOther>, typename Rest::template As<kOther>,
                          Transform>;

  static constexpr std::uint32_t kApart = Apart::kDim;
  static constexpr std::uint32_t kCoded = Apart::kCoded + Rest::kCoded;
  static constexpr std::uint32_t kBlockTokens = Apart::kBlockTokens;
  static constexpr std::uint32_t kSeal = Apart::kSeal;
  static constexpr std::uint32_t kBlockBytes = Apart::kBlockBytes + Rest::kBlockBytes;
  static constexpr std::uint32_t kSharedBytes = 0;
  static constexpr std::uint32_t kCodeBytes = Apart::kCodeBytes + Rest::kCodeBytes;
  static constexpr std::uint32_t kSideBytes = Apart::kSideBytes + Rest::kSideBytes;
  static constexpr std::uint32_t kOutlierBytes = Apart::kOutlierBytes + Rest::kOutlierBytes;
  static constexpr bool kSpills = false;
  static constexpr bool kAppendOnly =
      channel_split::append_only<Apart>() || channel_split::append_only<Rest>();
  static constexpr bool kPositional = Transform::kPositional;
  // Without a coded query: rows are restored and meet the query as it came.
  static constexpr bool kScoresRestored =
      scores_restored<Transform>() || scores_restored<Apart>() || scores_restored<Rest>();
  static constexpr bool kHasOffset =
      !kScoresRestored && (Transform::kHasOffset || Apart::kHasOffset || Rest::kHasOffset);
  static constexpr bool kHasTile = false;
  static constexpr std::uint32_t kTransformProfile = Transform::profile_size(kDim);
  static constexpr std::uint32_t kProfileSize =
      kTransformProfile + kApart + Apart::kProfileSize + Rest::kProfileSize;
  // The bound of a row covers both parts, so both must take it.
  static constexpr float kLargest = lower_of<float>(Apart::kLargest, Rest::kLargest);
  static constexpr auto kId = Text("dim=") + number_text<kDim>() + ";" + Transform::kId +
                              ";split=channels;apart=" + number_text<kApart>() + ";" + Apart::kId +
                              ";" + Rest::kId;

  [[no_unique_address]] Transform transform{};
  Apart apart{};
  Rest rest{};
  const float* channels = nullptr;  // [kApart] of the profile; null: the first kApart

  static ChannelSplit bind(const BindContext& context) {
    ChannelSplit format;
    format.transform = bind_transform<Transform, kDim>(context);
    BindContext own = context;
    if (context.profile != nullptr) {
      const float* given = context.profile + kTransformProfile;
      if (ascending(given)) format.channels = given;  // a cache binds zeros where none is given
      own.profile = given + kApart;
      format.apart = Apart::bind(own);
      own.profile += Apart::kProfileSize;
      format.rest = Rest::bind(own);
    } else {
      format.apart = Apart::bind(own);
      format.rest = Rest::bind(own);
    }
    return format;
  }
  static bool valid_profile(const float* profile) {
    const float* given = profile == nullptr ? nullptr : profile + kTransformProfile;
    if (profile != nullptr) {
      for (std::uint32_t i = 0; i < kTransformProfile; ++i) {
        if (!is_finite(profile[i])) return false;
      }
      if (!ascending(given)) return false;
    }
    const float* next = given == nullptr ? nullptr : given + kApart;
    return valid_transform<Transform, kDim>(profile) && Apart::valid_profile(next) &&
           Rest::valid_profile(next == nullptr ? nullptr : next + Apart::kProfileSize);
  }

  void forward(const float* row, std::int64_t position, float* coded) const {
    float whole[kDim];
    float parted[kDim];
    transform.template forward<kDim>(row, position, whole);
    part(whole, parted);
    apart.forward(parted, position, coded);
    rest.forward(parted + kApart, position, coded + Apart::kCoded);
  }
  void prepare_query(const float* query, float* coded) const {
    if constexpr (kScoresRestored) {
      for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = query[c];
    } else {
      float parted[kDim];
      part_query(query, parted);
      apart.prepare_query(parted, coded);
      rest.prepare_query(parted + kApart, coded + Apart::kCoded);
    }
  }
  void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                        float* offsets) const {
    if constexpr (kScoresRestored) return;
    transform.template add_score_offset<kDim>(query, positions, n, offsets);
    if constexpr (Apart::kHasOffset || Rest::kHasOffset) {
      float parted[kDim];
      part_query(query, parted);
      apart.add_score_offset(parted, positions, n, offsets);
      rest.add_score_offset(parted + kApart, positions, n, offsets);
    }
  }
  void restore(const float* coded, float weight, std::int64_t position, float* row) const {
    float parted[kDim];
    float whole[kDim];
    apart.restore(coded, weight, position, parted);
    rest.restore(coded + Apart::kCoded, weight, position, parted + kApart);
    std::uint32_t taken = 0;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      const bool out = is_apart(c, taken);
      whole[c] = parted[out ? taken : kApart + c - taken];
      taken += out ? 1u : 0u;
    }
    transform.template restore<kDim>(whole, weight, position, row);
  }
  [[nodiscard]] float coded_bound(float input_bound) const {
    const float bound = transform.template coded_bound<kDim>(input_bound);
    return upper_of(apart.coded_bound(bound), rest.coded_bound(bound));
  }

  void encode(Rows rows, std::uint32_t slot, const std::uint8_t* shared, std::uint8_t* block,
              SpillWriter& spill, EncodeCounters& counters) const {
    if (rows.count == 0) return;  // they may be null
    apart.encode(rows, slot, shared, block, spill, counters);
    rest.encode(Rows{rows.data + Apart::kCoded, rows.count, rows.stride}, slot, shared,
                block + Apart::kBlockBytes, spill, counters);
  }
  void decode(const BlockBytes& bytes, std::uint32_t slot, MutableRows rows) const {
    if (rows.count == 0) return;
    apart.decode(bytes, slot, rows);
    BlockBytes others = bytes;
    others.block += Apart::kBlockBytes;
    rest.decode(others, slot, MutableRows{rows.data + Apart::kCoded, rows.count, rows.stride});
  }
  static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    Apart::erase(block, slot, n);
    Rest::erase(block + Apart::kBlockBytes, slot, n);
  }

 private:
  static bool ascending(const float* given) {
    float least = 0.0f;
    for (std::uint32_t i = 0; i < kApart; ++i) {
      if (!(given[i] >= least && given[i] < static_cast<float>(kDim))) return false;
      if (given[i] != static_cast<float>(static_cast<std::uint32_t>(given[i]))) return false;
      least = given[i] + 1.0f;
    }
    return true;
  }
  // Whether channel c goes apart, `taken` of those below it having gone.
  [[nodiscard]] bool is_apart(std::uint32_t c, std::uint32_t taken) const {
    if (taken == kApart) return false;
    return channels == nullptr || channels[taken] == static_cast<float>(c);
  }
  void part(const float* whole, float* parted) const {
    std::uint32_t taken = 0;
    for (std::uint32_t c = 0; c < kDim; ++c) {
      if (is_apart(c, taken)) {
        parted[taken++] = whole[c];
      } else {
        parted[kApart + c - taken] = whole[c];
      }
    }
  }
  void part_query(const float* query, float* parted) const {
    float whole[kDim];
    transform.template prepare_query<kDim>(query, whole);
    part(whole, parted);
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
