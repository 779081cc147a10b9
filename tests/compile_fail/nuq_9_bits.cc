// expect: kvpleat: NuqQuant takes 1 to 8 bits
#include <kvpleat/kvpleat.h>

constexpr std::uint32_t kBits = kvpleat::NuqQuant<9>::kBits;
