#include "compare/reference.h"

#include "kvpleat/attention/attend_ref.h"

namespace compare {

Reference attend_original(const Recording& recording) {
  Reference reference;
  reference.outputs.resize(recording.query.size());
  reference.weights.assign(recording.query.size() / recording.dim * recording.tokens, 0.0);
  for (std::uint32_t l = 0; l < recording.layers; ++l) {
    for (std::uint32_t h = 0; h < recording.kv_heads; ++h) {
      for (std::uint32_t q = 0; q < recording.queries; ++q) {
        for (std::uint32_t m = 0; m < recording.group(); ++m) {
          const std::size_t row = recording.query_row(l, h, q, m);
          kvpleat::attend_ref(
              recording.position(q) + 1, recording.dim, recording.dim, recording.query.data() + row,
              static_cast<double>(recording.scale),
              [&](std::uint32_t t) { return recording.keys.data() + recording.row(l, t, h); },
              [&](std::uint32_t t) { return recording.values.data() + recording.row(l, t, h); },
              reference.outputs.data() + row,
              reference.weights.data() + row / recording.dim * recording.tokens);
        }
      }
    }
  }
  return reference;
}

}  // namespace compare
