// expect: kvpleat: SparseCodec spills what a splitter takes apart: use TopKSplit, RangeSplit or
// ThresholdSplit
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, NoTransform, NoSplit, NuqQuant<4>, SparseCodec>;

constexpr std::uint32_t kBytes = Mine::kBlockBytes;
