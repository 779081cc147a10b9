// Reference: double-precision attention over the original keys and values of a recording.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/recording.h"

namespace compare {

struct Reference {
  std::vector<double> outputs;  // as Recording::query: [layers, kv_heads, queries, group, dim]
  std::vector<double> weights;  // [layers, kv_heads, queries, group, tokens]: softmax weights, 0
                                // beyond the query's position
};

Reference attend_original(const Recording& recording);

}  // namespace compare
