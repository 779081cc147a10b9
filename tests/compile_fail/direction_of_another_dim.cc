// expect: kvpleat: the splitter (DirectionSplit, MadOfChannel) is made for another head_dim
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = BlockFormat<64, NoTransform, DirectionSplit<128>, SymmetricQuant<4>, DirectionCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
