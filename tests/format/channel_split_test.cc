#include "kvpleat/format/channel_split.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

using Small = ChannelSplit<formats::F32<3>, formats::F32<5>>;

BindContext with(const std::vector<float>& profile) {
  BindContext context;
  context.profile = profile.data();
  return context;
}

}  // namespace

TEST_CASE("coded rows are the named channels, then the others, both in order") {
  const std::vector<float> profile = {1.0f, 4.0f, 7.0f};
  const Small format = Small::bind(with(profile));
  const std::vector<float> row = {0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<float> coded(8);
  format.forward(row.data(), 0, coded.data());
  CHECK(coded == std::vector<float>{1, 4, 7, 0, 2, 3, 5, 6});
  std::vector<float> query(8);
  format.prepare_query(row.data(), query.data());
  CHECK(query == coded);
  std::vector<float> back(8);
  format.restore(coded.data(), 1.0f, 0, back.data());
  CHECK(back == row);
}

TEST_CASE("without a profile the first channels go apart, also where a cache has bound zeros") {
  const std::vector<float> row = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<float> zeros(3, 0.0f);
  std::vector<float> coded(8);
  Small::bind(BindContext{}).forward(row.data(), 0, coded.data());
  CHECK(coded == row);
  Small::bind(with(zeros)).forward(row.data(), 0, coded.data());
  CHECK(coded == row);
}

TEST_CASE("a profile names whole channels of the row, ascending") {
  const auto valid = [](std::vector<float> profile) {
    return Small::valid_profile(profile.data());
  };
  CHECK(Small::valid_profile(nullptr));
  CHECK(valid({0, 1, 2}));
  CHECK(valid({0, 5, 7}));
  CHECK(!valid({0, 0, 0}));
  CHECK(!valid({1, 0, 2}));
  CHECK(!valid({0, 1, 1}));
  CHECK(!valid({0, 1, 8}));
  CHECK(!valid({-1, 1, 2}));
  CHECK(!valid({0, 1.5f, 2}));
  CHECK(!valid({0, 1, kInfinity}));
  CHECK(!valid({0, __builtin_nanf(""), 2}));
}

TEST_CASE("parts are asked for their own profiles, in order") {
  using Scaled = BlockFormat<2, ChannelScale, NoSplit, AffineQuant<4>, DenseCodec>;
  using Centered = BlockFormat<2, Center, NoSplit, AffineQuant<4>, DenseCodec>;
  using Both = ChannelSplit<Centered, Scaled, Center>;
  static_assert(Both::kProfileSize == 4 + 2 + 2 + 2);
  // Mean of the whole row, channels, mean of what goes apart, scales of the rest.
  const std::vector<float> profile = {1, 1, 1, 1, 0, 3, 10, 20, 2, 4};
  CHECK(Both::valid_profile(profile.data()));
  CHECK(!Both::valid_profile(nullptr));  // scales must be given
  std::vector<float> bad = profile;
  bad[8] = 0.0f;
  CHECK(!Both::valid_profile(bad.data()));
  bad = profile;
  bad[1] = kInfinity;
  CHECK(!Both::valid_profile(bad.data()));
  const Both format = Both::bind(with(profile));
  const float row[4] = {100, 7, 9, 200};
  float coded[4];
  format.forward(row, 0, coded);
  CHECK(coded[0] == 89.0f);
  CHECK(coded[1] == 179.0f);
  CHECK(coded[2] == 3.0f);
  CHECK(coded[3] == 2.0f);
  float back[4];
  format.restore(coded, 1.0f, 0, back);
  for (int c = 0; c < 4; ++c) CHECK(back[c] == row[c]);
}

TEST_CASE("the block is Apart's, then Rest's, byte by byte") {
  using Split = ChannelSplit<formats::Int6<16>, formats::Int3<32>>;
  static_assert(Split::kBlockBytes ==
                formats::Int6<16>::kBlockBytes + formats::Int3<32>::kBlockBytes);
  const std::vector<float> rows = test::normal(3, 64 * 48);
  const Split format;
  SpillWriter spill;
  EncodeCounters counters;
  std::vector<std::uint8_t> block(Split::kBlockBytes, 0);
  format.encode(Rows{rows.data(), 64, 48}, 0, nullptr, block.data(), spill, counters);
  std::vector<std::uint8_t> wanted(Split::kBlockBytes, 0);
  formats::Int6<16>{}.encode(Rows{rows.data(), 64, 48}, 0, nullptr, wanted.data(), spill, counters);
  formats::Int3<32>{}.encode(Rows{rows.data() + 16, 64, 48}, 0, nullptr,
                             wanted.data() + formats::Int6<16>::kBlockBytes, spill, counters);
  CHECK(block == wanted);
  CHECK(Split::kId.view() ==
        "dim=48;transform=none;split=channels;apart=16;dim=16;transform=none;split=none;"
        "quant=affine;bits=6;group=0;axis=channels;side=f16;codec=dense;role=key;dim=32;"
        "transform=none;split=none;quant=affine;bits=3;group=0;axis=channels;side=f16;codec=dense;"
        "role=key");
  static_assert(Split::kLargest == 65504.0f);
}
