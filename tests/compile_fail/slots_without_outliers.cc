// expect: kvpleat: SlotCodec keeps a fixed number of outliers per token: use a splitter with
// split() and at most 64 outliers (TopKSplit)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, AffineQuant<4>, SlotCodec>.refusal ==
              Refusal::kSlotsNeedVectorSplit);

using Mine = BlockFormat<64, NoTransform, NoSplit, AffineQuant<4>, SlotCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
