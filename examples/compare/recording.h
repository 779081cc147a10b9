// Recording: keys, values and queries of a real model, as compare uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvpleat/transform/rope.h"

namespace compare {

// A folder holds k_pre.npy [layers, kv_heads, tokens, head_dim] (keys before RoPE), v.npy,
// q_pre.npy [layers, query_heads, n, head_dim] (queries of the last n positions) and meta.json with
// the RoPE (docs/measuring.md). Instead of the _pre files k.npy and q.npy, already rotated, are taken.
struct Recording {
  std::uint32_t layers = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t query_heads = 0;
  std::uint32_t tokens = 0;
  std::uint32_t queries = 0;  // per query head; query i has position tokens - queries + i
  std::uint32_t dim = 0;
  float scale = 0.0f;
  std::string model;
  kvpleat::Rope rope;
  std::string rope_text;        // for people
  std::vector<float> keys;      // [layers, tokens, kv_heads, dim], rotated
  std::vector<float> keys_pre;  // the same before rotation
  std::vector<float> values;    // [layers, tokens, kv_heads, dim]
  std::vector<float> query;     // [layers, kv_heads, queries, group, dim], rotated

  [[nodiscard]] std::uint32_t group() const { return query_heads / kv_heads; }
  [[nodiscard]] std::size_t row(std::uint32_t layer, std::uint32_t token,
                                std::uint32_t head) const {
    return ((static_cast<std::size_t>(layer) * tokens + token) * kv_heads + head) * dim;
  }
  [[nodiscard]] std::size_t query_row(std::uint32_t layer, std::uint32_t head, std::uint32_t q,
                                      std::uint32_t member) const {
    return (((static_cast<std::size_t>(layer) * kv_heads + head) * queries + q) * group() +
            member) *
           dim;
  }
  [[nodiscard]] std::uint32_t position(std::uint32_t q) const { return tokens - queries + q; }
  // One layer of it.
  [[nodiscard]] Recording layer(std::uint32_t index) const;
};

// White Gaussian keys, values and queries of unit variance, the same on every call: what limits of
// rate and distortion are stated for. 2 KV heads, a group of 2, 2048 tokens, RoPE of base 10000.
Recording gaussian_recording(std::uint32_t dim);

// At most the last 64 queries are kept. False: `error` is one line that says what is wrong.
bool load_recording(const std::string& folder, Recording& recording, std::string& error);

}  // namespace compare
