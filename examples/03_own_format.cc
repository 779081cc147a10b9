// A format of your own: policies of the library and a splitter written here, composed, described
// and measured beside the presets.
#include <cstdio>

#include "compare/registry.h"

// Keeps apart what lies beyond three standard deviations of its head vector: at most four, the first
// ones. (Mean and deviation by the fixed order of the numeric law: equal bytes on every machine.)
struct SigmaSplit {
  static constexpr auto kId = kvpleat::Text("split=sigma;limit=3;outliers=4");
  static constexpr std::uint32_t kMaxOutliers = 4;
  static constexpr std::uint32_t kProfileSize = 0;
  static SigmaSplit bind(const float*) { return {}; }
  static bool valid(const float*) { return true; }

  std::uint32_t split(const float* row, std::uint32_t dim, std::uint16_t* channels) const {
    const auto energy = static_cast<float>(kvpleat::ordered_dot(row, row, dim));
    const float limit = 9.0f * (energy / static_cast<float>(dim));
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < dim && count < kMaxOutliers; ++c) {
      if (kvpleat::product(row[c], row[c]) > limit)
        channels[count++] = static_cast<std::uint16_t>(c);
    }
    return count;
  }
};

// Keys: the mean before RoPE removed, outliers in slots, four bits per group of 32. Values: rotated,
// so that they need no slots.
template <std::uint32_t kDim>
struct Sigma4 : kvpleat::CacheTraits<kDim> {
  using Key = kvpleat::BlockFormat<kDim, kvpleat::PhaseCenter, SigmaSplit,
                                   kvpleat::AffineQuant<4, 32>, kvpleat::SlotCodec>;
  using Value = kvpleat::BlockFormat<kDim, kvpleat::RandomHadamard<>, kvpleat::NoSplit,
                                     kvpleat::AffineQuant<4>, kvpleat::DenseCodec>;
  using Lanes = kvpleat::LaneList<kvpleat::KV<Key, Value>>;
};

// What does not compose says why, before anything is compiled.
static_assert(kvpleat::composable<SigmaSplit, kvpleat::AffineQuant<4, 32>, kvpleat::SlotCodec>);
static_assert(!kvpleat::composable<SigmaSplit, kvpleat::AffineQuant<4, 32>, kvpleat::DenseCodec>);

template <class Format>
void describe(const char* side) {
  std::printf("%s: %.*s\n", side, static_cast<int>(Format::kId.view().size()),
              Format::kId.view().data());
  std::printf("  %u bytes per %u tokens: %u codes, %u scales, %u outliers: %.3f bits per element\n",
              Format::kBlockBytes, Format::kBlockTokens, Format::kCodeBytes, Format::kSideBytes,
              Format::kOutlierBytes,
              8.0 * Format::kBlockBytes / (Format::kBlockTokens * Format::kDim));
}

const bool registered =
    compare::add_preset<Sigma4<64>>("Sigma4") && compare::add_preset<Sigma4<128>>("Sigma4");

int main(int argc, char** argv) {
  if (argc > 1) return compare::run(argc, argv);
  describe<Sigma4<64>::Key>("keys");
  describe<Sigma4<64>::Value::As<kvpleat::Role::kValue>>("values");
  char arguments[] = "--presets\0Int4TopK,Sigma4";
  char* own[] = {argv[0], arguments, arguments + sizeof "--presets", nullptr};
  return compare::run(3, own);
}
