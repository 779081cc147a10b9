// expect: kvpleat: DenseCodec has no place for outliers: use NoSplit, or SlotCodec
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<4>, AffineQuant<4>, DenseCodec>.refusal ==
              Refusal::kDenseTakesNoOutliers);

using Mine = BlockFormat<64, NoTransform, TopKSplit<4>, AffineQuant<4>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
