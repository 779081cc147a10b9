// expect: kvpleat: TopKSplit keeps 1 to 64 outliers per token
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<128, NoTransform, TopKSplit<65>, AffineQuant<4>, SlotCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
