// expect: deleted
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Cache = KvCache<presets::Int4<64>>;

Cache twin(const Cache& cache) {
  return cache;
}
