// expect: kvpleat: the splitter (DirectionSplit, MadOfChannel) is made for another head_dim
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine =
    BlockFormat<64, NoTransform, MadSplit<4, MadOfChannel<32>>, SymmetricQuant<4>, SlotCodec>;

constexpr auto kBytes = Mine::kBlockBytes;
