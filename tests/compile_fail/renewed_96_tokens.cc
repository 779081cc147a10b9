// expect: kvpleat: RenewedScale renews every 64, 128, 192 or 256 tokens
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, NoTransform, NoSplit, RenewedScale<8, 96>, DenseCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
