// expect: kvpleat: the quantizer does not satisfy Quantizer (Side, Stat, Scale, kBits, kGroup,
// kAxis, kExactMerge, kLargest, kId, observe, merge, scale, encode, decode)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

// No decode.
struct HalfSteps {
  using Side = float;
  static constexpr std::uint32_t kBits = 4;
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
};

static_assert(composable<NoSplit, HalfSteps, DenseCodec>.refusal == Refusal::kNotAQuantizer);

using Mine = BlockFormat<64, NoTransform, NoSplit, HalfSteps, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
