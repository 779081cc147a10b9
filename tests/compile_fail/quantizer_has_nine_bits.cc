// expect: kvpleat: a quantizer has 1 to 8 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

struct NineBits {
  using Side = float;
  static constexpr std::uint32_t kBits = 9;
  static constexpr std::uint32_t kGroup = kWholeHead;
  static constexpr Axis kAxis = Axis::kChannels;
  static constexpr bool kExactMerge = true;
  static constexpr float kLargest = 1e30f;
  static constexpr auto kId = Text("quant=half_steps;bits=4");
  struct Stat {
    float largest = 0.0f;
  };
  struct Scale {
    float step;
  };
  void observe(float x, Stat& stat) const { stat.largest = upper_of(stat.largest, magnitude(x)); }
  static Stat merge(Stat a, Stat b) { return {upper_of(a.largest, b.largest)}; }
  Scale scale(Stat stat) const { return {stat.largest / 7.0f}; }
  std::uint32_t encode(float x, Scale s) const {
    return s.step > 0.0f ? static_cast<std::uint32_t>(round_to_signed(x / s.step, 7) + 8) : 8u;
  }
  float decode(std::uint32_t code, Scale s) const {
    return (static_cast<float>(code) - 8.0f) * s.step;
  }
};

static_assert(composable<NoSplit, NineBits, DenseCodec>.refusal == Refusal::kBitsOutOfRange);

using Mine = BlockFormat<64, NoTransform, NoSplit, NineBits, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
