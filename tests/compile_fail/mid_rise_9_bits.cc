// expect: kvpleat: MidRiseQuant takes 1 to 8 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = formats::Dense<64, MidRiseQuant<9>>;

constexpr auto kBytes = Mine::kBlockBytes;
