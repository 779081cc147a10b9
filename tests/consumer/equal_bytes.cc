// Encodes fixed data with every named format and prints four hashes per format: of the block, the
// shared bytes and the spill, and of what they decode to; for usual rows and for hostile ones.
// equal_bytes.sh compares compilers and flags.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "kvpleat/calibrate/kvquant.h"
#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/transform/channel_scale.h"
#include "kvpleat/transform/dense_rotation.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 72;  // no power of two: two Hadamard blocks, short groups, padding
constexpr std::uint32_t kTokens = 64;

std::uint32_t state = 1;
float next() {
  state = 1664525u * state + 1013904223u;
  return static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
}

void fold(std::uint64_t& hash, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3ull;
}

// Coded rows that a format may meet: ties of every code, equal values, subnormal numbers, the
// largest that it takes, one value far above the others.
void hostile_row(std::uint32_t t, float largest, float* row, std::uint32_t n) {
  for (std::uint32_t c = 0; c < n; ++c) {
    const float x = next();
    const float half = static_cast<float>(static_cast<std::int32_t>(c % 31) - 15) * 0.5f;
    switch (t % 8) {
      case 0:
        row[c] = c % 16 == 0 ? 7.0f : half;
        break;
      case 1:
        row[c] = x < 0.0f ? -0.1f : 0.1f;
        break;
      case 2:
        row[c] = x * 0x1p-132f;
        break;
      case 3:
        row[c] = x < 0.0f ? -largest : largest;
        break;
      case 4:
        row[c] = x * largest;
        break;
      case 5:
        row[c] = c == t % n ? 0.75f * largest : x;
        break;
      case 6:
        row[c] = 3e-5f * x;
        break;
      default:
        row[c] = half * 0x1p-9f + 0.1f;
    }
  }
}

struct Hashes {
  std::uint64_t bytes = 0xcbf29ce484222325ull;
  std::uint64_t values = 0xcbf29ce484222325ull;
};

// Of a block of coded rows and of what it reads as.
template <class F>
Hashes hashes(const F& format, const std::vector<float>& coded) {
  constexpr std::uint32_t kRows = F::kBlockTokens;
  std::vector<std::uint8_t> block(F::kBlockBytes, 0);
  std::vector<std::uint8_t> shared(F::kSharedBytes + 1, 0);
  std::vector<std::uint8_t> spill(3 * kRows * kDim, 0);  // the widest entries have three bytes
  SpillWriter writer{spill.data(), 0, static_cast<std::uint32_t>(spill.size())};
  EncodeCounters counters;
  if constexpr (F::kSharedBytes > 0) {
    for (std::uint32_t t = 0; t < kRows; ++t) {
      typename F::Stat stat;
      format.observe(coded.data() + t * F::kCoded, stat);
      F::write_shared(stat, t, shared.data());
    }
  }
  format.encode(Rows{coded.data(), kRows, F::kCoded}, 0, shared.data(), block.data(), writer,
                counters);
  std::vector<float> decoded(kRows * F::kCoded);
  format.decode({block.data(), shared.data(), spill.data(), writer.size}, 0,
                MutableRows{decoded.data(), kRows, F::kCoded});
  Hashes result;
  fold(result.bytes, block.data(), block.size());
  fold(result.bytes, shared.data(), shared.size());
  fold(result.bytes, spill.data(), writer.size);
  fold(result.values, decoded.data(), decoded.size() * sizeof(float));
  return result;
}

// calibrated: the format's profile, or null for any numbers.
template <class F>
void print(const char* name, const float* calibrated = nullptr) {
  // The frequencies are integers: the rotations are part of the promise, pow of libm is not.
  static Rope rope;
  rope.layout = RopeLayout::kHalves;
  rope.dims = 64;
  static std::vector<CosSin> unit_rotations(kRotationSpan * 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    rope.turns[i] = 0x28be60db9391054aull >> (i / 3);
    for (std::uint32_t u = 0; u < kRotationSpan; ++u)
      unit_rotations[u * 32 + i] = rope.rotation(i, u);
  }
  state = 7;
  std::vector<float> profile(F::kProfileSize);
  for (float& x : profile) x = next();
  if constexpr (requires { F{}.split.edge({}); }) {
    constexpr std::uint32_t kCount = decltype(F::split)::kProfileSize;
    for (std::uint32_t i = 0; i < kCount; ++i) {  // ascending, no side the mirror of the other
      const float x = (static_cast<float>(i) - 0.5f * static_cast<float>(kCount) + 0.4375f) * 0.75f;
      profile[F::kProfileSize - kCount + i] = x;
    }
  }
  if constexpr (requires { F::kApart; }) {
    for (std::uint32_t i = 0; i < F::kApart; ++i)
      profile[F::kTransformProfile + i] = static_cast<float>(4 * i + 1);
  }
  const F format =
      F::bind({calibrated != nullptr ? calibrated : profile.data(), &rope, unit_rotations.data()});

  constexpr std::uint32_t kRows = F::kBlockTokens;
  std::vector<float> coded(kRows * F::kCoded);
  for (std::uint32_t t = 0; t < kRows; ++t) {
    float row[F::kDim];
    // Magnitudes from 2^-21 to 2^6, so that scales are of every kind, subnormal halves as well.
    const float size = t % 16 == 15 ? 0x1p-21f : 0x1p6f / static_cast<float>(1u << (t % 9));
    for (float& x : row) x = size * next();
    format.forward(row, 1000 * static_cast<std::int64_t>(t), coded.data() + t * F::kCoded);
  }
  const Hashes plain = hashes(format, coded);
  for (std::uint32_t t = 0; t < kRows; ++t)
    hostile_row(t, F::kLargest, coded.data() + t * F::kCoded, F::kCoded);
  const Hashes hostile = hashes(format, coded);
  std::printf("%-22s %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n", name,
              plain.bytes, plain.values, hostile.bytes, hostile.values);
}

template <class Quant>
using SlotsOf = BlockFormat<kDim, NoTransform, TopKSplit<4>, Quant, SlotCodec>;

template <class F>
void both(const char* name, const float* calibrated = nullptr) {
  print<typename F::template As<Role::kKey>>(name, calibrated);
  print<typename F::template As<Role::kValue>>(name, calibrated);
}

// Products before a sum, in loops that compilers vectorize: one in a few would change if fused.
void print_products() {
  state = 13;
  std::vector<float> a(4096);
  std::vector<float> b(4096);
  std::vector<float> sums(4096);
  for (float& x : a) x = next();
  for (float& x : b) x = next();
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = product(a[i], b[i]) + 0.5f;
  fold(hash, sums.data(), sums.size() * sizeof(float));
  const float factor = next();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = b[i] - product(factor, a[i]);
  fold(hash, sums.data(), sums.size() * sizeof(float));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = product(a[i], 0.3f) + b[i];
  fold(hash, sums.data(), sums.size() * sizeof(float));
  std::printf("%-22s %016" PRIx64 "\n", "products", hash);
}

// Codebooks are solved at compile time, rotations and scales are sums in fixed order.
void print_rotated() {
  std::vector<float> direction(2 * kDim + 1, 0.0f);  // scales of Balance, a direction, its step
  for (std::uint32_t c = 0; c < kDim; ++c) {
    direction[c] = 0.5f + static_cast<float>(c % 7) * 0.3f;
    direction[kDim + c] = c < 64 ? 0.125f : 0.0f;
  }
  direction[2 * kDim] = 0.7f;
  both<formats::TurboQuant<kDim, 4>>("TurboQuant 4");
  both<formats::TurboQuant2_5<kDim>>("TurboQuant2_5");
  print<formats::TurboQuantProd<kDim, 1>>("TurboQuantProd 1");
  print<formats::TurboQuantProd<kDim, 3>>("TurboQuantProd 3");
  both<formats::BalancedValue<kDim, 3>>("BalancedValue 3", direction.data());
  print<formats::CodebookKey<kDim, 1>>("CodebookKey 1");
  print<formats::RotatedBook<kDim, 4, KroneckerHadamard<>, ScalePolicy::kMatchedNorm, float,
                             TopKSplit<4>, SlotCodec>>("RotatedBook, slots");
  print<BlockFormat<kDim, Chain<ChannelScale, DenseRotation>, NoSplit, ZeroPointQuant<3>,
                    DenseCodec>>("DenseRotation");
}

// Calibration too: ranks, k-means and matched moments give the same profile everywhere.
void print_kvquant() {
  state = 11;
  std::vector<float> rows(kTokens * kDim);
  std::vector<float> weights(kTokens * kDim);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = next() * next() * (1.0f + static_cast<float>(i % kDim)) + static_cast<float>(i % 5);
    weights[i] = 1.0f + next() * next();
  }
  const CalibrationRows sample{rows.data(), weights.data(), kTokens, 1, kDim, kDim};
  std::vector<WeightedValue> scratch(rows.size());
  std::vector<float> keys(formats::KvQuantKey<kDim, 4>::kProfileSize);
  std::vector<float> values(formats::KvQuantValue<kDim, 3>::kProfileSize);
  if (!ok(kvquant_key_profile<kDim, 4>(sample, 100000, scratch.data(), keys.data())) ||
      !ok(kvquant_value_profile<kDim, 3>(sample, scratch.data(), values.data()))) {
    std::puts("KVQuant's profiles cannot be made");
    return;
  }
  print<formats::KvQuantKey<kDim, 4>>("KvQuantKey", keys.data());
  print<formats::KvQuantValue<kDim, 3>::As<Role::kValue>>("KvQuantValue", values.data());
  float posts[8];
  if (!ok(fit_signposts(scratch.data(), 1000, 8, posts)) ||
      !ok(match_moments(scratch.data(), 1000, 8, posts)))
    std::puts("no signposts");
  std::uint64_t hash = 0xcbf29ce484222325ull;
  fold(hash, posts, sizeof posts);
  std::printf("%-22s %016" PRIx64 "\n", "matched signposts", hash);
}

}  // namespace

int main() {
  both<formats::F32<kDim>>("F32");
  both<formats::F16<kDim>>("F16");
  both<formats::BF16<kDim>>("BF16");
  both<formats::Int8<kDim>>("Int8");
  both<formats::Int6<kDim>>("Int6");
  both<formats::Int5<kDim>>("Int5");
  both<formats::Int4<kDim>>("Int4");
  both<formats::Int3<kDim>>("Int3");
  both<formats::Int2<kDim>>("Int2");
  both<formats::Int4G32<kDim>>("Int4G32");
  both<formats::Int4Channel<kDim>>("Int4Channel");
  both<formats::Int2Channel<kDim>>("Int2Channel");
  both<formats::Int4TopK<kDim>>("Int4TopK");
  both<formats::Oaken<kDim>>("Oaken");
  print<formats::OakenNoShift<kDim>>("OakenNoShift");
  print<formats::OakenOuterOnly<kDim>>("OakenOuterOnly");
  print<formats::OakenAligned<kDim>>("OakenAligned");
  print<formats::OakenNested<kDim>>("OakenNested");
  print<formats::OakenNested4<kDim>>("OakenNested4");
  both<formats::OakenOffsetBinary<kDim>>("OakenOffsetBinary");
  both<formats::OakenPerHead<kDim>>("OakenPerHead");
  both<formats::OakenJds16<kDim>>("OakenJds16");  // its deltas hold what decoding gives
  both<formats::OakenCoo12<kDim>>("OakenCoo12");
  both<formats::OakenCoo23<kDim>>("OakenCoo23");
  print_products();
  const float head_scale = 0.01f;
  both<formats::Fp8E4m3<kDim>>("Fp8E4m3", &head_scale);
  both<formats::Fp8E5m2Token<kDim>>("Fp8E5m2Token");
  both<formats::Fp8E5m2<kDim>>("Fp8E5m2", &head_scale);
  both<formats::Fp8E4m3Token<kDim>>("Fp8E4m3Token");
  both<formats::Mxfp4<kDim>>("Mxfp4");
  both<formats::Mxfp4Search<kDim>>("Mxfp4Search");
  both<formats::Nvfp4Plain<kDim>>("Nvfp4Plain", &head_scale);
  both<formats::Nvfp4<kDim>>("Nvfp4", &head_scale);
  print<formats::GgmlQ8_0<64>>("GgmlQ8_0");
  print<formats::GgmlQ5_1<64>>("GgmlQ5_1");
  print<formats::GgmlQ5_0<64>>("GgmlQ5_0");
  print<formats::GgmlQ4_1<64>>("GgmlQ4_1");
  print<formats::GgmlQ4_0<64>>("GgmlQ4_0");
  print<formats::GgmlQ4_0Hadamard<64>>("GgmlQ4_0Hadamard");
  print<formats::GgmlIq4Nl<64>>("GgmlIq4Nl");
  both<formats::Dense<kDim, SymmetricQuant<4, 32>>>("symmetric 4");
  both<formats::Dense<kDim, SymmetricQuant<8, 32, Axis::kTokens, BFloat16>>>("symmetric 8 bf16");
  // Slots hold what decoding leaves over, so with float side data decode decides bytes as well.
  both<SlotsOf<AffineQuant<4, 32, Axis::kChannels, float>>>("affine f32, slots");
  both<SlotsOf<SymmetricQuant<4, 32, Axis::kChannels, float>>>("symmetric f32, slots");
  both<formats::Renewed8<kDim>>("Renewed8");
  both<formats::Sealed8<kDim>>("Sealed8");
  both<formats::Sealed8Split<kDim>>("Sealed8Split");
  both<BlockFormat<kDim, NoTransform, NoSplit, RenewedScale<5, 192>, DenseCodec>>(
      "Renewed, 5 bits");
  both<formats::Tiered8<kDim>>("Tiered8");
  both<formats::Tiered8TopK<kDim>>("Tiered8TopK");
  both<BlockFormat<kDim, NoTransform, MadClamp<>, AffineQuant<4>, DenseCodec>>("affine 4, clamped");
  both<formats::HashSparse<kDim>>("HashSparse");
  both<formats::HashSparse2<kDim>>("HashSparse2");
  both<formats::Adaptive2<kDim>>("Adaptive2");
  both<formats::Adaptive4<kDim>>("Adaptive4");
  both<formats::Adaptive8<kDim>>("Adaptive8");
  print<formats::CenteredRotatedKey<kDim, 4>>("CenteredRotatedKey");
  print<formats::RotatedValue<kDim, 4>::As<Role::kValue>>("RotatedValue");
  print_rotated();
  print_kvquant();
}
