// expect: kvpleat: CodebookQuant takes 1 to 6 bits
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::TurboQuant<64, 7>::kBlockBytes;
