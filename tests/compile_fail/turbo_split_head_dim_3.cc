// expect: kvpleat: TurboQuant2_5 and 3_5 put a quarter of the channels apart: head_dim must be at least 4
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = formats::TurboQuant2_5<3>::kBlockBytes;
