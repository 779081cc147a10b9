#include "all_forward.h"
//
#include <cmath>
#include <cstdio>

#include "caches.h"

void answer_in_b(consumer::Answer& answer);
kvpleat::Status append_in_b(kvpleat::KvCache<consumer::Mixed>& cache);

int main() {
  consumer::Answer here;
  consumer::Answer there;
  consumer::RunOf<consumer::Mixed>::answer(here);
  answer_in_b(there);
  bool same = here.ok && there.ok && here.bytes == there.bytes && here.tag == there.tag;
  for (std::uint32_t c = 0; c < consumer::kHeads * consumer::kDim; ++c)
    same = same && here.out[c] == there.out[c];

  // A cache of this unit, written to by the other.
  kvpleat::CacheShape shape;
  shape.layers = 1;
  shape.kv_heads = consumer::kHeads;
  shape.max_tokens = consumer::kTokens;
  shape.rope = kvpleat::Rope::standard(kvpleat::RopeLayout::kHalves, consumer::kDim, 10000.0);
  kvpleat::LaneProfile profiles[3];
  const float thresholds[consumer::kHeads * 4] = {-1.0f, -0.25f, 0.25f, 1.0f,
                                                  -1.0f, -0.25f, 0.25f, 1.0f};
  profiles[2] = {thresholds, consumer::kHeads * 4, thresholds, consumer::kHeads * 4};
  auto made = kvpleat::KvCache<consumer::Mixed>::create(shape, profiles, 3);
  same = same && made && ok(append_in_b(*made)) && made->tokens(0) == consumer::kTokens;
  std::puts(same ? "both units agree" : "the units differ");
  return same ? 0 : 1;
}
