// The laws of the Format concept for formats of two parts.
#include <doctest/doctest.h>

#include <cstdint>

#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/transform/unrotate.h"
#include "support/format_laws.h"

using namespace kvpleat;

namespace {

// A quarter of the channels, at least one, with 6 bits; the others rotated, with 3.
template <std::uint32_t kDim>
inline constexpr std::uint32_t kQuarter = kDim < 8 ? 1 : kDim / 4;
template <std::uint32_t kDim>
using Mixed =
    ChannelSplit<formats::Int6<kQuarter<kDim>>, BlockFormat<kDim - kQuarter<kDim>, RandomHadamard<>,
                                                            NoSplit, AffineQuant<3>, DenseCodec>>;
// Everything that a part may have: a mean, slots, and the whole row phase-centred before.
template <std::uint32_t kDim>
using CenteredKey = ChannelSplit<
    BlockFormat<8, Center, TopKSplit<2>, AffineQuant<4>, SlotCodec>,
    BlockFormat<kDim - 8, Chain<Center, RandomHadamard<>>, NoSplit, AffineQuant<4, 16>, DenseCodec>,
    PhaseCenter>;
template <std::uint32_t kDim>
using AlongTokens = ChannelSplit<formats::Int4Channel<8>, formats::Int2Channel<kDim - 8>, Center>;
// Keys before RoPE: no coded query.
template <std::uint32_t kDim>
using BeforeRope = ChannelSplit<formats::Int6<8>, formats::Int3<kDim - 8>, Unrotate>;
// A part may be split again.
template <std::uint32_t kDim>
using Thrice = ChannelSplit<formats::F16<3>, Mixed<kDim - 3>>;

}  // namespace

TEST_CASE("laws: two parts of unlike formats") {
  test::key_and_value<Mixed, 2, 40, 128>();
}
TEST_CASE("laws: phase-centred whole, centred parts with slots") {
  test::key_only<CenteredKey, 40>();
}
TEST_CASE("laws: before RoPE, scores of restored rows") {
  test::key_only<BeforeRope, 40>();
}
TEST_CASE("laws: groups along tokens in both parts") {
  test::key_and_value<AlongTokens, 24>();
}
TEST_CASE("laws: a part that is split itself") {
  test::key_and_value<Thrice, 43>();
}
