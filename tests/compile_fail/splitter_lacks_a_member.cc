// expect: kvpleat: the splitter does not satisfy OutlierSplitter (kMaxOutliers, kProfileSize, kId,
// bind, valid)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

// Whoever writes a splitter forgets valid() first.
struct FirstChannel {
  static constexpr auto kId = Text("split=first_channel");
  static constexpr std::uint32_t kMaxOutliers = 1;
  static constexpr std::uint32_t kProfileSize = 0;
  static FirstChannel bind(const float*) { return {}; }
  std::uint32_t split(const float*, std::uint32_t, std::uint16_t* channels) const {
    channels[0] = 0;
    return 1;
  }
};

static_assert(composable<FirstChannel, AffineQuant<4>, SlotCodec>.refusal ==
              Refusal::kNotASplitter);

using Mine = BlockFormat<64, NoTransform, FirstChannel, AffineQuant<4>, SlotCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
