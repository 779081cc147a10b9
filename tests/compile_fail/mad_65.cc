// expect: kvpleat: MadSplit keeps 1 to 64 outliers per token
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, NoTransform, MadSplit<65>, AffineQuant<4>, SlotCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
