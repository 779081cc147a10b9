// expect: kvpleat: ZeroPointQuant takes 2 to 8 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Mine = formats::Dense<64, ZeroPointQuant<1>>;

constexpr auto kBytes = Mine::kBlockBytes;
