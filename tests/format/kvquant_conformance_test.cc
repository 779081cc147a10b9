// The laws of the Format concept for the KVQuant formats and SparseCodec.
#include "kvpleat/format/kvquant.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/format_laws.h"

namespace test {

// Crowded, uneven signposts.
inline std::vector<float> sample_signposts(std::uint32_t count) {
  std::vector<float> posts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const float x = (2.0f * static_cast<float>(i) + 1.0f) / static_cast<float>(count) - 1.0f;
    posts.push_back(kvpleat::to_float(kvpleat::to_half(x * (0.5f + 0.5f * std::fabs(x)))));
  }
  return posts;
}
template <std::uint32_t kDim, class Transform, class Split, std::uint32_t kBits,
          std::uint32_t kGroup, kvpleat::Role kRole>
struct SampleProfile<kvpleat::BlockFormat<
    kDim, Transform, Split, kvpleat::NuqQuant<kBits, kvpleat::NuqScale::kRange, kGroup>,
    kvpleat::SparseCodec, kRole>> {
  static std::vector<float> make() { return sample_signposts(1u << kBits); }
};
// Channels off zero with ranges of 0.75 to 2.25, and the signposts.
template <std::uint32_t kDim, std::uint32_t kBits, std::uint32_t kCap, kvpleat::Role kRole>
struct SampleProfile<kvpleat::BlockFormat<
    kDim, kvpleat::Chain<kvpleat::Unrotate, kvpleat::formats::ChannelNormal>,
    kvpleat::RangeSplit<kCap>, kvpleat::NuqQuant<kBits, kvpleat::NuqScale::kNone>,
    kvpleat::SparseCodec, kRole>> {
  static std::vector<float> make() {
    std::vector<float> profile;
    for (std::uint32_t c = 0; c < kDim; ++c)
      profile.push_back(static_cast<float>((7 * c + 3) % 13) / 8.0f - 0.75f);
    for (std::uint32_t c = 0; c < kDim; ++c)
      profile.push_back(static_cast<float>((5 * c) % 7) / 4.0f + 0.75f);
    const std::vector<float> posts = sample_signposts(1u << kBits);
    profile.insert(profile.end(), posts.begin(), posts.end());
    return profile;
  }
};

// Half the widest gap between neighbouring signposts, or between an end one and +-1.
template <class Quant>
float widest_half_gap(const Quant& quant) {
  const float* posts = quant.signposts;
  float gap = std::fmax(1.0f + posts[0], 1.0f - posts[Quant::kSignposts - 1]);
  for (std::uint32_t i = 1; i < Quant::kSignposts; ++i)
    gap = std::fmax(gap, (posts[i] - posts[i - 1]) * 0.5f);
  return gap;
}

// An outlier: half a unit of binary16. Else the widest half gap, times the range where one is
// stored, and one rounding of offset + range. Where a cap leaves a value outside [-1, 1] dense, how
// far outside it lies comes on top.
template <std::uint32_t kDim, class Transform, class Split, std::uint32_t kBits,
          kvpleat::NuqScale kScale, std::uint32_t kGroup, kvpleat::Role kRole>
struct ErrorBound<
    kvpleat::BlockFormat<kDim, Transform, Split, kvpleat::NuqQuant<kBits, kScale, kGroup>,
                         kvpleat::SparseCodec, kRole>> {
  template <class F>
  static float of(const F& format, const float* row, std::uint32_t slot, std::uint32_t c,
                  const BlockData& data) {
    const float size = std::fabs(row[c]);
    std::uint16_t channels[F::Layout::kMost];
    const std::uint32_t count = format.split.split(row, kDim, channels);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (channels[i] == c) return std::fmax(size * 0x1p-11f, 0x1p-25f);
    }
    const float gap = widest_half_gap(format.quant);
    if constexpr (kScale == kvpleat::NuqScale::kNone) {
      return gap + std::fmax(size - 1.0f, 0.0f) + 0x1p-22f * (1.0f + size);
    } else {
      using Dense = typename F::Layout::Dense;
      const auto scale = Dense::load_scale(data.block.data(), slot, c / Dense::kGroupChannels);
      const float range = kvpleat::to_float(scale.range);
      return gap * range + 0x1p-22f * (range + std::fabs(kvpleat::to_float(scale.offset)));
    }
  }
};

}  // namespace test

using namespace kvpleat;
using test::key_and_value;
using test::key_only;
using test::value_only;

namespace {

template <std::uint32_t kDim>
using Key4 = formats::KvQuantKey<kDim, 4>;
template <std::uint32_t kDim>
using Key3 = formats::KvQuantKey<kDim, 3>;
template <std::uint32_t kDim>
using KeyCapped = formats::KvQuantKey<kDim, 2, 3>;
template <std::uint32_t kDim>
using Value4 = formats::KvQuantValue<kDim, 4>;
template <std::uint32_t kDim>
using Value3 = formats::KvQuantValue<kDim, 3>;
template <std::uint32_t kDim>
using Grouped = BlockFormat<kDim, RandomHadamard<3>, TopKSplit<5>,
                            NuqQuant<5, NuqScale::kRange, 16>, SparseCodec>;

}  // namespace

TEST_CASE("laws: KvQuantKey") {
  key_only<Key4, 1, 40, 64, 576>();
  key_only<Key3, 72>();
  key_only<KeyCapped, 24>();
}
TEST_CASE("laws: KvQuantValue") {
  value_only<Value4, 1, 40, 128, 576>();
  value_only<Value3, 72>();
}
TEST_CASE("laws: rotated, sparse, signposts in groups") {
  key_and_value<Grouped, 40>();
}

TEST_CASE("sizes of KVQuant's formats are the byte formulas") {
  // Codes; offset and range per token of values; a count per token.
  CHECK(Key4<64>::kBlockBytes == 64 * 64 * 4 / 8 + 64);
  CHECK(Key3<128>::kBlockBytes == 64 * 128 * 3 / 8 + 64);
  CHECK(Key4<576>::kBlockBytes == 64 * 576 * 4 / 8 + 2 * 64);  // up to 576 outliers: two bytes
  CHECK(Value4<128>::kBlockBytes == 64 * 128 * 4 / 8 + 64 * 4 + 64);
  CHECK(Value4<576>::kOutlierBytes == 64);  // six outliers
  CHECK(Key4<256>::Layout::kEntryBytes == 3);
  CHECK(Key4<257>::Layout::kEntryBytes == 4);
  CHECK(Key4<64>::kSharedBytes == 0);
  CHECK(Key4<64>::kProfileSize == 2 * 64 + 16);
  CHECK(Value3<64>::kProfileSize == 8);
}

TEST_CASE("the share of outliers among values is 1 % to the nearest, and at least one") {
  CHECK(formats::kvquant_outliers(16) == 1);
  CHECK(formats::kvquant_outliers(64) == 1);
  CHECK(formats::kvquant_outliers(128) == 1);
  CHECK(formats::kvquant_outliers(149) == 1);
  CHECK(formats::kvquant_outliers(150) == 2);
  CHECK(formats::kvquant_outliers(576) == 6);
}

TEST_CASE("the identity of KVQuant's formats names every policy") {
  CHECK(Key4<64>::kId.view() ==
        "dim=64;transform=unrotate;transform=center;transform=channel_scale;split=range;cap=0;"
        "quant=nuq;bits=4;"
        "scale=none;codec=sparse;value=f16;role=key");
  CHECK(Value4<64>::As<Role::kValue>::kId.view() ==
        "dim=64;transform=none;split=top_k;outliers=1;quant=nuq;bits=4;scale=range;group=0;"
        "side=f16;codec=sparse;value=f16;role=value");
}

TEST_CASE("profiles of KVQuant's keys are refused by their numbers") {
  using F = Key4<8>;
  std::vector<float> profile = test::SampleProfile<F>::make();
  CHECK(F::valid_profile(profile.data()));
  CHECK(!F::valid_profile(nullptr));  // ranges cannot be guessed
  for (const float wrong : {0.0f, -1.0f, std::nanf(""), kInfinity}) {
    std::vector<float> other = profile;
    other[8] = wrong;  // the first range
    CHECK(!F::valid_profile(other.data()));
  }
  std::vector<float> other = profile;
  std::swap(other[16], other[17]);  // signposts descend
  CHECK(!F::valid_profile(other.data()));
}
