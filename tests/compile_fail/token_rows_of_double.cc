// expect: kvpleat: TokenRows takes float, kvpleat::Half or kvpleat::BFloat16 (raw 16-bit data:
// TokenRows::tagged)
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

TokenRows rows(const double* keys) {
  return TokenRows(keys, 1, 1, 64);
}
