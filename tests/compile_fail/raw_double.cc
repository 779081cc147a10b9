// expect: kvpleat: a raw format holds float, Half or BFloat16
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

constexpr auto kBytes = RawFormat<64, double>::kBlockBytes;
