// expect: kvpleat: NestedBands has 1 to 4 bands besides the middle
#include <kvpleat/kvpleat.h>

constexpr auto kSize = kvpleat::NestedBands<3, 2>::kProfileSize;
