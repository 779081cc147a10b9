// expect: kvpleat: SparseCodec spills what a splitter takes apart: use TopKSplit, RangeSplit or
// ThresholdSplit
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<NoSplit, NuqQuant<4>, SparseCodec>.refusal == Refusal::kSparseNeedsSplit);

using Mine = BlockFormat<64, NoTransform, NoSplit, NuqQuant<4>, SparseCodec>;

constexpr std::uint32_t kBytes = Mine::kBlockBytes;
