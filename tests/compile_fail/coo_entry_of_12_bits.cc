// expect: kvpleat: a CooEntry has 8 or 16 bits
#include <kvpleat/kvpleat.h>

constexpr auto kBytes = kvpleat::CooEntry<12>::kBytes;
