// expect: nodiscard
// flags: -Werror=unused-result
#include <kvpleat/kvpleat.h>

using namespace kvpleat;

using Cache = KvCache<presets::Int4<64>>;

void make() {
  Cache::create({.layers = 1, .kv_heads = 1, .max_tokens = 64});
}
