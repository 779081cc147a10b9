// expect: kvpleat: DirectionCodec keeps one direction of each token apart: use DirectionSplit
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Quant = CodebookQuant<4, SphereBook<64>>;

static_assert(composable<NoSplit, Quant, DirectionCodec>.refusal == Refusal::kDirectionNeedsSplit);

using Mine = BlockFormat<64, NoTransform, NoSplit, Quant, DirectionCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
