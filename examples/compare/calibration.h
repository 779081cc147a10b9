// Calibration: the profile a format needs, from the first tokens of a recording.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compare/recording.h"
#include "kvpleat/cache/presets.h"
#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/calibrate/channel_stats.h"
#include "kvpleat/calibrate/head_scale.h"
#include "kvpleat/calibrate/kvquant.h"
#include "kvpleat/calibrate/rotated.h"
#include "kvpleat/calibrate/thresholds.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/kvquant.h"
#include "kvpleat/quant/minifloat.h"
#include "kvpleat/split/direction.h"
#include "kvpleat/split/threshold.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"

namespace compare {

// Calibration sees these tokens and no later ones.
inline std::uint32_t calibration_tokens(const Recording& recording) {
  return std::min(512u, recording.tokens / 2);
}

// The rows of one side of a recording.
struct Rows {
  const Recording& recording;
  const std::vector<float>& stored;  // as the cache gets them
  const std::vector<float>& before;  // keys before RoPE; values as they are
  kvpleat::BandShares shares = {};   // of Oaken's bands
};

// The shares of a preset's bands: 4 % outer, 6 % inner unless it says otherwise.
template <class Traits>
inline constexpr kvpleat::BandShares kBandShares = {};
template <std::uint32_t kDim>
inline constexpr kvpleat::BandShares kBandShares<kvpleat::presets::Oaken2_96_2<kDim>> = {20000,
                                                                                         20000};

// Adds one head's floats of a transform's profile.
template <class Transform>
struct TransformProfile {
  static void append(const Rows&, std::uint32_t, std::uint32_t, std::vector<float>&) {}
};
inline void append_mean(const Rows& rows, const std::vector<float>& from, std::uint32_t layer,
                        std::uint32_t head, std::vector<float>& profile) {
  const Recording& r = rows.recording;
  profile.resize(profile.size() + r.dim);
  kvpleat::channel_mean(from.data() + r.row(layer, 0, head), calibration_tokens(r),
                        static_cast<std::size_t>(r.kv_heads) * r.dim, r.dim,
                        profile.data() + profile.size() - r.dim);
}
template <>
struct TransformProfile<kvpleat::Center> {
  static void append(const Rows& rows, std::uint32_t layer, std::uint32_t head,
                     std::vector<float>& profile) {
    append_mean(rows, rows.stored, layer, head, profile);
  }
};
template <>
struct TransformProfile<kvpleat::PhaseCenter> {
  static void append(const Rows& rows, std::uint32_t layer, std::uint32_t head,
                     std::vector<float>& profile) {
    append_mean(rows, rows.before, layer, head, profile);
  }
};
template <class First, class Second>
struct TransformProfile<kvpleat::Chain<First, Second>> {
  static_assert(Second::profile_size(64) == 0,
                "calibration of a later transform would need rows that the first has coded");
  static void append(const Rows& rows, std::uint32_t layer, std::uint32_t head,
                     std::vector<float>& profile) {
    TransformProfile<First>::append(rows, layer, head, profile);
  }
};

// Adds one head's floats of a splitter's profile.
template <class Split>
struct SplitProfile {
  static_assert(Split::kProfileSize == 0, "compare: SplitProfile of this splitter is missing");
  static void append(const Rows&, std::uint32_t, std::uint32_t, std::vector<float>&) {}
};
// Over all heads of the layer, the same for each head.
inline void append_thresholds(const Rows& rows, std::uint32_t layer, std::vector<float>& profile) {
  const Recording& r = rows.recording;
  const auto first = rows.stored.begin() + static_cast<std::ptrdiff_t>(r.row(layer, 0, 0));
  std::vector<float> sample(
      first, first + static_cast<std::ptrdiff_t>(calibration_tokens(r) * r.kv_heads * r.dim));
  float thresholds[4] = {};
  if (!ok(kvpleat::band_thresholds(sample.data(), sample.size(), rows.shares, thresholds))) return;
  profile.insert(profile.end(), thresholds, thresholds + 4);
}
template <>
struct SplitProfile<kvpleat::ThresholdSplit> {
  static void append(const Rows& rows, std::uint32_t layer, std::uint32_t,
                     std::vector<float>& profile) {
    append_thresholds(rows, layer, profile);
  }
};

// Adds one head's floats of a quantizer's profile. Called after the transform's: `profile` ends with
// what the format has so far.
template <class Quant>
struct QuantProfile {
  static_assert(!kvpleat::ProfiledQuantizer<Quant>,
                "compare: QuantProfile of this quantizer is missing");
  static void append(const Rows&, std::uint32_t, std::uint32_t, std::vector<float>&) {}
};

// Scales of heads, from rows as they are stored: for formats without a transform.
template <class Element, class Side, std::uint32_t kGroup, kvpleat::ScaleSearch kSearch>
requires(kvpleat::MinifloatQuant<Element, Side, kGroup, kSearch>::kProfiled)  //
    struct QuantProfile<kvpleat::MinifloatQuant<Element, Side, kGroup, kSearch>> {
  static void append(const Rows& rows, std::uint32_t layer, std::uint32_t head,
                     std::vector<float>& profile) {
    const Recording& r = rows.recording;
    profile.push_back(kvpleat::head_scale<kvpleat::MinifloatQuant<Element, Side, kGroup, kSearch>>(
        rows.stored.data() + r.row(layer, 0, head), calibration_tokens(r),
        static_cast<std::size_t>(r.kv_heads) * r.dim, r.dim));
  }
};

// Profiles of all layers, each made at once for all its heads: fit(rows of the layer, [heads,
// floats]). Empty if one could not be made, which the cache then refuses.
template <class Fit>
std::vector<float> layer_profiles(const Rows& rows, const std::vector<float>& from,
                                  std::size_t floats, Fit fit) {
  const Recording& r = rows.recording;
  std::vector<float> profile(floats * r.kv_heads * r.layers);
  for (std::uint32_t l = 0; l < r.layers; ++l) {
    kvpleat::CalibrationRows layer;
    layer.rows = from.data() + r.row(l, 0, 0);
    layer.tokens = calibration_tokens(r);
    layer.heads = r.kv_heads;
    layer.token_stride = static_cast<std::size_t>(r.kv_heads) * r.dim;
    layer.head_stride = r.dim;
    if (!ok(fit(layer, profile.data() + floats * r.kv_heads * l))) return {};
  }
  return profile;
}

// The profile of a format: [layers, kv_heads, kProfileSize]; empty if it needs none.
template <class F>
struct Profile {
  static std::vector<float> of(const Rows&) { return {}; }
};
template <std::uint32_t kDim, class Transform, class Split, class Quant, class Codec,
          kvpleat::Role kRole>
struct Profile<kvpleat::BlockFormat<kDim, Transform, Split, Quant, Codec, kRole>> {
  static std::vector<float> of(const Rows& rows) {
    std::vector<float> profile;
    for (std::uint32_t l = 0; l < rows.recording.layers; ++l) {
      for (std::uint32_t h = 0; h < rows.recording.kv_heads; ++h) {
        TransformProfile<Transform>::append(rows, l, h, profile);
        SplitProfile<Split>::append(rows, l, h, profile);
        QuantProfile<Quant>::append(rows, l, h, profile);
      }
    }
    return profile;
  }
};

// Balanced rotated formats: everything in one go, since the direction is one of coded rows.
template <std::uint32_t kDim, class Transform, class Quant, class Codec, kvpleat::Role kRole>
struct Profile<
    kvpleat::BlockFormat<kDim, Transform, kvpleat::DirectionSplit<kDim>, Quant, Codec, kRole>> {
  using Format =
      kvpleat::BlockFormat<kDim, Transform, kvpleat::DirectionSplit<kDim>, Quant, Codec, kRole>;
  static std::vector<float> of(const Rows& rows) {
    const Recording& r = rows.recording;
    const std::size_t stride = static_cast<std::size_t>(r.kv_heads) * kDim;
    const std::uint32_t tokens = calibration_tokens(r);
    std::vector<float> coded(static_cast<std::size_t>(tokens) * kDim);
    std::vector<float> profile(static_cast<std::size_t>(r.layers) * r.kv_heads *
                               Format::kProfileSize);
    float* own = profile.data();
    for (std::uint32_t l = 0; l < r.layers; ++l) {
      for (std::uint32_t h = 0; h < r.kv_heads; ++h, own += Format::kProfileSize) {
        kvpleat::balanced_profile<Format>({rows.before.data() + r.row(l, 0, h), tokens, stride},
                                          {rows.stored.data() + r.row(l, 0, h), tokens, stride},
                                          r.rope, coded.data(), own);
      }
    }
    return profile;
  }
};

// KVQuant fits channels and signposts to all heads of a layer at once.
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kCap, kvpleat::Role kRole>
struct Profile<kvpleat::BlockFormat<
    kDim, kvpleat::Chain<kvpleat::Unrotate, kvpleat::formats::ChannelNormal>,
    kvpleat::RangeSplit<kCap>, kvpleat::NuqQuant<kBits, kvpleat::NuqScale::kNone>,
    kvpleat::SparseCodec, kRole>> {
  static std::vector<float> of(const Rows& rows) {
    constexpr std::size_t kFloats = 2 * kDim + (1u << kBits);
    constexpr std::uint32_t kOutliersPpm = 10000;  // 1 %
    return layer_profiles(
        rows, rows.before, kFloats, [](const kvpleat::CalibrationRows& layer, float* profile) {
          std::vector<kvpleat::WeightedValue> scratch(layer.tokens * layer.heads * kDim);
          return kvpleat::kvquant_key_profile<kDim, kBits>(layer, kOutliersPpm, scratch.data(),
                                                           profile);
        });
  }
};
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kOutliers, kvpleat::Role kRole>
struct Profile<kvpleat::BlockFormat<kDim, kvpleat::NoTransform, kvpleat::TopKSplit<kOutliers>,
                                    kvpleat::NuqQuant<kBits, kvpleat::NuqScale::kRange>,
                                    kvpleat::SparseCodec, kRole>> {
  static std::vector<float> of(const Rows& rows) {
    return layer_profiles(
        rows, rows.stored, 1u << kBits, [](const kvpleat::CalibrationRows& layer, float* profile) {
          std::vector<kvpleat::WeightedValue> scratch(layer.tokens * layer.heads * kDim);
          return kvpleat::kvquant_value_profile<kDim, kBits>(layer, scratch.data(), profile);
        });
  }
};

// A split of channels: those of largest RMS go apart.
template <kvpleat::Format Apart, kvpleat::Format Rest>
struct Profile<kvpleat::ChannelSplit<Apart, Rest, kvpleat::NoTransform>> {
  static_assert(Apart::kProfileSize == 0 && Rest::kProfileSize == 0,
                "compare: profiles of the parts of a ChannelSplit are missing");
  static std::vector<float> of(const Rows& rows) {
    const Recording& r = rows.recording;
    std::vector<float> profile;
    std::vector<float> rms(r.dim);
    std::vector<float> channels(Apart::kDim);
    for (std::uint32_t l = 0; l < r.layers; ++l) {
      for (std::uint32_t h = 0; h < r.kv_heads; ++h) {
        kvpleat::channel_rms(rows.stored.data() + r.row(l, 0, h), calibration_tokens(r),
                             static_cast<std::size_t>(r.kv_heads) * r.dim, r.dim, rms.data());
        kvpleat::largest_channels(rms.data(), r.dim, Apart::kDim, channels.data());
        profile.insert(profile.end(), channels.begin(), channels.end());
      }
    }
    return profile;
  }
};

}  // namespace compare
