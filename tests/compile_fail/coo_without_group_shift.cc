// expect: kvpleat: CooCodec keeps outliers of three bands beside dense codes: use ThresholdSplit and
// GroupShiftQuant
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<ThresholdSplit, AffineQuant<4>, CooCodec<12>>.refusal ==
              Refusal::kCooNeedsOaken);

using Mine = BlockFormat<64, NoTransform, ThresholdSplit, AffineQuant<4>, CooCodec<12>>;

constexpr auto kBytes = Mine::kBlockBytes;
