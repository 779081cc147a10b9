#include <kvpleat/kvpleat.h>

#include <cstdio>

int main() {
  auto made = kvpleat::KvCache<kvpleat::presets::Int4<64>>::create(
      {.layers = 1, .kv_heads = 1, .max_tokens = 16});
  if (!made) return 1;
  float row[64] = {};
  row[0] = 15.0f;
  if (!ok(made->append(0, {row, 1, 1, 64}, {row, 1, 1, 64}))) return 1;
  float out[64];
  if (!ok(attend(*made, 0, 0, {.queries = row}, out))) return 1;
  std::printf("kvpleat %d.%d.%d: %g\n", kvpleat::kVersionMajor, kvpleat::kVersionMinor,
              kvpleat::kVersionPatch, static_cast<double>(out[0]));
  return out[0] == 15.0f ? 0 : 1;
}
