// BlockFormat: transform + splitter + quantizer + codec, as one format.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/refusal.h"
#include "kvpleat/core/role.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/format/composable.h"
#include "kvpleat/format/tile_shape.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/transform/bind.h"
#include "kvpleat/transform/no_transform.h"

namespace kvpleat::inline KVPLEAT_ISA {

// kRole is set by KV<Key, Value>; write formats without it.
// Profile of a head, in this order: the transform's floats, the splitter's, the quantizer's.
template <std::uint32_t kHeadDim, class Transform, class Split, class Quant, class Codec,
          Role kTileRole = Role::kKey>
struct BlockFormat {
  static_assert(kHeadDim >= 1 && kHeadDim <= 576, "kvpleat: head_dim must be 1 to 576");
  static_assert(RefuseComposition<refusal_of<Split, Quant, Codec>()>::kPassed);
  static_assert(!(kTileRole == Role::kValue && Transform::kPositional),
                "kvpleat: values cannot use a transform that depends on the position "
                "(PhaseCenter, Unrotate): use Center");

  static_assert(
      !composition::kMadeForAnother<Split, kHeadDim>,
      "kvpleat: the splitter (DirectionSplit, MadOfChannel) is made for another head_dim");

  using Layout = typename Codec::template Layout<kHeadDim, Split, Quant, kTileRole>;
  template <Role kOther>
  using As = BlockFormat<kHeadDim, Transform, Split, Quant, Codec, kOther>;

  static constexpr Role kRole = kTileRole;
  static constexpr std::uint32_t kDim = kHeadDim;
  static constexpr std::uint32_t kCoded = kHeadDim;
  static constexpr std::uint32_t kBlockTokens = Layout::kBlockTokens;
  static constexpr std::uint32_t kSeal = Layout::kSeal;
  static constexpr std::uint32_t kBlockBytes = Layout::kBlockBytes;
  static constexpr std::uint32_t kSharedBytes = Layout::kSharedBytes;
  static constexpr std::uint32_t kCodeBytes = Layout::kCodeBytes;
  static constexpr std::uint32_t kSideBytes = Layout::kSideBytes;
  static constexpr std::uint32_t kOutlierBytes = Layout::kOutlierBytes;
  static constexpr bool kSpills = Codec::kSpills;
  // Most spill bytes of a token.
  static constexpr std::uint32_t kTokenSpillBytes = [] {
    if constexpr (requires { Layout::kTokenSpillBytes; }) {
      return static_cast<std::uint32_t>(Layout::kTokenSpillBytes);
    } else {
      return kSpills ? kHeadDim : 0u;
    }
  }();
  // Whether the spill is in another order than that of its tokens (ReorderedSpill).
  static constexpr bool kReordersSpill = requires { &Layout::cut_spill; };
  static constexpr bool kPositional = Transform::kPositional;
  static constexpr bool kScoresRestored = scores_restored<Transform>();
  static constexpr bool kHasOffset = Transform::kHasOffset && !kScoresRestored;
  static constexpr std::uint32_t kQuantProfile = [] {
    if constexpr (ProfiledQuantizer<Quant>) {
      return static_cast<std::uint32_t>(Quant::kProfileSize);
    } else {
      return 0u;
    }
  }();
  static constexpr std::uint32_t kProfileSize =
      Transform::profile_size(kHeadDim) + Split::kProfileSize + kQuantProfile;
  static constexpr float kLargest = Layout::kLargest;
  static constexpr auto kId = Text("dim=") + number_text<kHeadDim>() + ";" + Transform::kId + ";" +
                              Split::kId + ";" + Quant::kId + ";" + Codec::kId +
                              ";role=" + kRoleText<kTileRole>;
  // The first token of a block is coded with the block before it; whether rows are refused for what
  // came before them; whether slots are written in order and only the last ones rewritten.
  static constexpr bool kReadsPrevious = [] {
    if constexpr (requires { Layout::Dense::kReadsPrevious; }) {
      return Layout::Dense::kReadsPrevious;
    } else {
      return false;
    }
  }();
  static constexpr bool kRefuses = [] {
    if constexpr (requires { Quant::kRefuses; }) {
      return Quant::kRefuses;
    } else {
      return false;
    }
  }();
  static constexpr bool kAppendOnly = [] {
    if constexpr (requires { Layout::kAppendOnly; }) {
      return Layout::kAppendOnly;
    } else if constexpr (requires { Layout::Dense::kAppendOnly; }) {
      return Layout::Dense::kAppendOnly;
    } else {
      return kSpills;
    }
  }();
  // The canonical tile, for formats whose kernels need nothing but its shape.
  static constexpr bool kHasTile = requires {
    Quant::kLinear;
    typename Layout::Dense;
  }
  &&!Codec::kSpills;
  static constexpr TileShape kTile = [] {
    if constexpr (kHasTile) {
      using Dense = typename Layout::Dense;
      return TileShape{kTileRole,    Quant::kBits,   Dense::kGroupChannels,
                       Dense::kSeal, Dense::kFields, Split::kMaxOutliers};
    } else {
      return TileShape{};
    }
  }();

  struct NoAdmission {};

  [[no_unique_address]] Transform transform{};
  [[no_unique_address]] Split split{};
  [[no_unique_address]] Quant quant{};

  static BlockFormat bind(const BindContext& context) {
    BlockFormat format;
    format.transform = bind_transform<Transform, kHeadDim>(context);
    format.split = Split::bind(split_profile(context.profile));
    if constexpr (ProfiledQuantizer<Quant>)
      format.quant = Quant::bind(quant_profile(context.profile));
    return format;
  }
  // Whether a head's profile (null: none given) can be used. No part takes NaN or infinities, also
  // where it does not look at a number (the direction beside a step of 0).
  static bool valid_profile(const float* profile) {
    if constexpr (kProfileSize > 0) {
      for (std::uint32_t i = 0; profile != nullptr && i < kProfileSize; ++i) {
        if (!is_finite(profile[i])) return false;
      }
    }
    if (!valid_transform<Transform, kHeadDim>(profile)) return false;
    if constexpr (ProfiledQuantizer<Quant>) {
      if (!Quant::valid(quant_profile(profile))) return false;
    }
    return Split::valid(split_profile(profile));
  }

  void forward(const float* row, std::int64_t position, float* coded) const {
    transform.template forward<kDim>(row, position, coded);
  }
  void prepare_query(const float* query, float* coded) const {
    if constexpr (kScoresRestored) {
      for (std::uint32_t c = 0; c < kDim; ++c) coded[c] = query[c];
    } else {
      transform.template prepare_query<kDim>(query, coded);
    }
  }
  // offsets[t] += what q . x loses against q' . x' at positions[t], t < n.
  void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                        float* offsets) const {
    if constexpr (!kScoresRestored)
      transform.template add_score_offset<kDim>(query, positions, n, offsets);
  }
  void restore(const float* coded, float weight, std::int64_t position, float* row) const {
    transform.template restore<kDim>(coded, weight, position, row);
  }
  // A bound of |coded| for rows whose magnitudes are at most input_bound.
  [[nodiscard]] float coded_bound(float input_bound) const {
    return transform.template coded_bound<kDim>(input_bound);
  }
  void encode(Rows rows, std::uint32_t slot, const std::uint8_t* shared, std::uint8_t* block,
              SpillWriter& spill, EncodeCounters& counters) const {
    write(rows, slot, shared, block, spill, counters);
  }
  void encode(Rows rows, std::uint32_t slot, const std::uint8_t* shared, std::uint8_t* block,
              SpillWriter& spill, EncodeCounters& counters, const BlockBytes& previous) const
      requires(kReadsPrevious) {
    write(rows, slot, shared, block, spill, counters, previous);
  }
  // Rows that are refused for what came before them.
  using Admission = typename decltype([] {
    if constexpr (kRefuses) {
      return std::type_identity<typename Layout::Dense::Admission>{};
    } else {
      return std::type_identity<NoAdmission>{};
    }
  }())::type;
  static Admission admission(const std::uint8_t* block, std::uint32_t slot) requires(kRefuses) {
    return Layout::Dense::admission(block, slot);
  }
  bool admit(const float* coded, Admission& state) const requires(kRefuses) {
    if constexpr (RowFilter<Split>) {
      float filtered[kDim];
      EncodeCounters ignored;
      split.filter(coded, kDim, filtered, ignored);
      return Layout::admit(split, quant, filtered, state);
    } else {
      return Layout::admit(split, quant, coded, state);
    }
  }
  void decode(const BlockBytes& bytes, std::uint32_t slot, MutableRows rows) const {
    Layout::decode(split, quant, bytes, slot, rows);
  }
  static void erase(std::uint8_t* block, std::uint32_t slot, std::uint32_t n) {
    Layout::erase(block, slot, n);
  }

  // Side data over all heads of a layer.
  struct NoStat {};
  using Stat = typename decltype([] {
    if constexpr (kSharedBytes > 0) {
      return std::type_identity<typename Layout::Stat>{};
    } else {
      return std::type_identity<NoStat>{};
    }
  }())::type;
  void observe(const float* coded, Stat& stat) const requires(kSharedBytes > 0) {
    Layout::observe(split, quant, coded, stat);
  }
  static Stat merge(const Stat& a, const Stat& b) requires(kSharedBytes > 0) {
    return Layout::merge(a, b);
  }
  static void write_shared(const Stat& stat, std::uint32_t slot,
                           std::uint8_t* shared) requires(kSharedBytes > 0) {
    Layout::write_shared(stat, slot, shared);
  }
  // Outliers outside the block.
  [[nodiscard]] std::uint32_t spill_need(const float* coded) const requires(kSpills) {
    return Layout::spill_need(split, coded);
  }
  static std::uint32_t spill_bytes(const std::uint8_t* block,
                                   std::uint32_t n) requires(kSpills && !kReordersSpill) {
    return Layout::spill_bytes(block, n);
  }
  static std::uint32_t spill_bytes(const BlockBytes& bytes,
                                   std::uint32_t n) requires(kReordersSpill) {
    return Layout::spill_bytes(bytes, n);
  }
  static std::uint32_t cut_spill(std::uint8_t* block, std::uint8_t* spill, std::uint32_t bytes,
                                 std::uint32_t n) requires(kReordersSpill) {
    return Layout::cut_spill(block, spill, bytes, n);
  }

 private:
  // A filter changes rows one seal at a time, just before they are coded.
  template <class... Previous>
  void write(Rows rows, std::uint32_t slot, const std::uint8_t* shared, std::uint8_t* block,
             SpillWriter& spill, EncodeCounters& counters, const Previous&... previous) const {
    if constexpr (RowFilter<Split>) {
      float filtered[static_cast<std::size_t>(kSeal) * kDim];
      for (std::uint32_t t = 0; t < rows.count; t += kSeal) {
        for (std::uint32_t i = 0; i < kSeal; ++i)
          split.filter(rows[t + i], kDim, filtered + static_cast<std::size_t>(i) * kDim, counters);
        Layout::encode(split, quant, Rows{filtered, kSeal, kDim}, slot + t, shared, block, spill,
                       counters, previous...);
      }
    } else {
      Layout::encode(split, quant, rows, slot, shared, block, spill, counters, previous...);
    }
  }
  static const float* split_profile(const float* profile) {
    return profile == nullptr ? nullptr : profile + Transform::profile_size(kHeadDim);
  }
  static const float* quant_profile(const float* profile) {
    return profile == nullptr ? nullptr
                              : profile + Transform::profile_size(kHeadDim) + Split::kProfileSize;
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
