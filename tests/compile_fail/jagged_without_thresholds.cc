// expect: kvpleat: JaggedCodec holds FusedCodec's bytes of three bands in another order: use
// ThresholdSplit and GroupShiftQuant
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<4>, GroupShiftQuant<>, JaggedCodec>.refusal ==
              Refusal::kJaggedNeedsOaken);
static_assert(composable<ThresholdSplit, AffineQuant<4>, JaggedCodec>.refusal ==
              Refusal::kJaggedNeedsOaken);

using Mine = BlockFormat<64, NoTransform, TopKSplit<4>, GroupShiftQuant<>, JaggedCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
