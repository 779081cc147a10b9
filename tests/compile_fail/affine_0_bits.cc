// expect: kvpleat: AffineQuant takes 1 to 8 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::Int<64, 0>::kBlockBytes;
