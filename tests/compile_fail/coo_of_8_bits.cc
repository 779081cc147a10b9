// expect: kvpleat: CooCodec has entries of 12 bits (codes) or 23 bits (values)
#include <kvpleat/kvpleat.h>

constexpr auto kId = kvpleat::CooCodec<8>::kId;
