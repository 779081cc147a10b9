// expect: kvpleat: SymmetricQuant takes 2 to 8 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::Dense<64, SymmetricQuant<1>>::kBlockBytes;
