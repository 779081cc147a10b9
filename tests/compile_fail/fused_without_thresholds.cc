// expect: kvpleat: FusedCodec stores the band and side of each outlier: use ThresholdSplit
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<4>, GroupShiftQuant<>, FusedCodec>.refusal ==
              Refusal::kFusedNeedsThresholds);

using Mine = BlockFormat<64, NoTransform, TopKSplit<4>, GroupShiftQuant<>, FusedCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
