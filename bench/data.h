// Rows that the benches compress and the queries that attend to them.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/recording.h"

namespace bench {

inline constexpr std::uint32_t kMostQueries = 16;

// kGaussian: white, unit variance. kHeavy: x (1 + 0.3 |x|) of it, whose largest of 10^6 values is
// about 12: what formats with outliers are made for.
enum class Law { kGaussian, kHeavy };

// One layer of keys and values, made on the first call; equal on every machine. Keys carry RoPE
// (halves, base 10000); logits of the queries below have standard deviation about 1 (kGaussian).
const compare::Recording& recording(Law law, std::uint32_t dim, std::uint32_t heads,
                                    std::uint32_t tokens);
// [kMostQueries, dim], white.
const std::vector<float>& queries(std::uint32_t dim);

}  // namespace bench
