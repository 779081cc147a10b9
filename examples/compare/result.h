// Result: what compare measures of one preset. Options: how it is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace compare {

struct Options {
  std::uint32_t sinks = 0;
  std::uint32_t residual = 0;
  bool raw_ends = false;     // first and last layer in the raw lane
  bool inner_layer = false;  // the recording is one layer from between: it is no end
  bool timing = true;
};

struct Result {
  std::string error;  // not empty: nothing else is filled in

  double bits_per_element = 0.0;  // all bytes of memory() over all elements
  double format_bits = 0.0;       // of these, what the formats store; no tables, no slack
  double side_share = 0.0;        // of those bytes: everything that is no code
  double key_nmse = 0.0;          // of the keys as stored, after RoPE
  double value_nmse = 0.0;
  double gap_db = 0.0;                 // 10 log10(4^format_bits * mean of both)
  double attention_error = 0.0;        // mean over heads and queries of |o - o_ref| / |o_ref|
  double attention_error_worst = 0.0;  // largest of them
  double attention_kl = 0.0;           // mean KL(p_ref || p), nats
  double append_ns = 0.0;              // per token and KV head, appended one by one
  double attend_ns = 0.0;         // per cached token and KV head, all queries of the group at once
  double attend_ratio_f16 = 0.0;  // attend time over that of the F16 cache, samples alternating
  std::string path;               // code that ran: fused, decode or reference
  std::string target;             // SIMD target
};

}  // namespace compare
