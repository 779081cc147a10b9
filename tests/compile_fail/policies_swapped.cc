// expect: kvpleat: the splitter does not satisfy OutlierSplitter (kMaxOutliers, kProfileSize, kId,
// bind, valid)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<AffineQuant<4>, NoSplit, DenseCodec>.refusal == Refusal::kNotASplitter);

using Mine = BlockFormat<64, NoTransform, AffineQuant<4>, NoSplit, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
