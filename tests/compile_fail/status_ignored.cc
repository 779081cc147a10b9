// expect: nodiscard
// flags: -Werror=unused-result
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Cache = KvCache<presets::Int4<64>>;

void add(Cache& cache, const float* k) {
  cache.append(0, TokenRows(k, 1, 1, 64), TokenRows(k, 1, 1, 64));
}
