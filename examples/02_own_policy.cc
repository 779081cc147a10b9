// A quantizer of your own, from the definition to a row in the table of `compare`.
//
// LogQuant keeps a sign and a logarithmic magnitude: the codes are dense near zero, where most
// values are.
#include "compare/registry.h"

struct LogQuant {
  using Side = kvpleat::Half;
  struct Stat {
    float largest = 0.0f;
  };
  struct Scale {
    Side top{};
  };
  static constexpr std::uint32_t kBits = 4, kGroup = 32;
  static constexpr auto kAxis = kvpleat::Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = kvpleat::kLargestHalf;
  static constexpr auto kId = kvpleat::Text("quant=log;bits=4;group=32");

  void observe(float x, Stat& stat) const {
    stat.largest = kvpleat::upper_of(stat.largest, kvpleat::magnitude(x));
  }
  static Stat merge(Stat a, Stat b) { return {kvpleat::upper_of(a.largest, b.largest)}; }
  Scale scale(const Stat& stat) const { return {kvpleat::at_least<Side>(stat.largest)}; }
  std::uint32_t encode(float x,
                       const Scale& scale) const {  // levels top * 2^(-level/2), level 0..7
    std::uint32_t level = 0;
    for (float edge = 0.84f * to_float(scale.top); level < 7 && kvpleat::magnitude(x) < edge;
         edge *= 0.70703125f)
      ++level;
    return level | (x < 0.0f ? 8u : 0u);
  }
  float decode(std::uint32_t code, const Scale& scale) const {
    static constexpr float kLevels[8] = {1.0f,  0.70703125f,   0.5f,   0.353515625f,
                                         0.25f, 0.1767578125f, 0.125f, 0.0f};
    return (code & 8u ? -kLevels[code & 7u] : kLevels[code & 7u]) * to_float(scale.top);
  }
};

// Keys and values of a cache: any format may be on either side.
template <std::uint32_t kDim>
struct LogQuant4 : kvpleat::CacheTraits<kDim> {
  using Format = kvpleat::formats::Dense<kDim, LogQuant>;
  using Lanes = kvpleat::LaneList<kvpleat::KV<Format, Format>>;
};

// One line, and it is a preset like the others.
const bool registered = compare::add_preset<LogQuant4<64>>("LogQuant4") &&
                        compare::add_preset<LogQuant4<128>>("LogQuant4");

int main(int argc, char** argv) {
  return compare::run(argc, argv);
}
