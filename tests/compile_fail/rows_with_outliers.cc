// expect: kvpleat: RowCodec has no place for outliers: use NoSplit
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

static_assert(composable<TopKSplit<4>, GgmlQuant<GgmlType::kQ4_0>, RowCodec>.refusal ==
              Refusal::kRowsTakeNoOutliers);

using Mine = BlockFormat<64, NoTransform, TopKSplit<4>, GgmlQuant<GgmlType::kQ4_0>, RowCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
