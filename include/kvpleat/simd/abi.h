// The untagged interface of vector kernels: plain structs that describe bytes, and what a kernel is
// asked to do. The same in every translation unit whatever its flags, so that one unit can fill a
// table of kernels for all others.
//
// No member has a default, so that no constructor exists that two units could compile differently:
// write TileView{}.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/bytes.h"
#include "kvpleat/transform/phase_table.h"

namespace kvpleat::abi {

inline constexpr std::uint32_t kMaxQueries = 16;  // of one call

// How exact a kernel computes.
//   kFast:      8-bit queries, 7-bit (codebooks: 8-bit) weights, integer sums, centred exactly
//   kAccurate:  two planes of each: 15-bit queries, 14-bit weights
//   kExact:     float arithmetic on decoded values
enum class Arithmetic : std::uint8_t { kFast, kAccurate, kExact };

// Type of stored scales.
enum class Side : std::uint8_t { kHalf, kBFloat16, kFloat, kLogScale8 };
// Type of raw elements.
enum class Element : std::uint8_t { kFloat, kHalf, kBFloat16 };

// Blocks of codes in a canonical tile (codec/tile.h) with the side data of DenseLayout
// (codec/dense.h). The value of a code is
//   no levels:  (code - zero) * step + low     low: 0 if fields is 1
//     if zero_stored:  (code - low) * step     low: a stored code, not a value
//   levels:     levels[code] * step            in kExact; kFast takes levels8[code] * level_unit
// plus, where there are, the delta of an inline slot (codec/slots.h) and coefficient * direction[c]
// (codec/direction.h).
struct TileView {
  std::uint32_t dim;             // channels of a row
  std::uint32_t padded_dim;      // rounded up to 16
  std::uint32_t bits;            // of a code, 1 to 8
  std::uint32_t block_tokens;    // a multiple of 64
  std::uint32_t group_channels;  // channels that share a scale; 1: groups run along tokens
  std::uint32_t groups;          // of a token; along tokens: dim
  std::uint32_t seal;            // tokens that share a scale; 1: groups run along channels
  std::uint32_t fields;          // stored per group: 0 none (step 1), 1 step, 2 step and low
  Side side;
  float zero;             // the code that stands for low; may lie halfway between two
  bool zero_stored;       // the second field is a code
  std::uint32_t side_at;  // offset of the first scale in a block
  // Codebook of 2^bits levels, or null.
  const float* levels;
  const std::int8_t* levels8;  // nearest(levels / level_unit), |.| <= 127; 64 bytes, repeated
  float level_unit;
  // Inline outliers: slots per token (a multiple of 4), 0: none.
  std::uint32_t slots;
  std::uint32_t slots_at;
  std::uint32_t index_bytes;  // 1 or 2
  // A direction beside the tile, or null: row += coefficient * direction[dim] * direction.
  const float* direction;         // [dim], then its step
  std::uint32_t coefficients_at;  // int8 [block_tokens]
};

// How the scales and codes of a TileView are chosen.
//   kAffine, kSymmetric:  quant/affine.h, quant/symmetric.h
//   the others:           quant/codebook.h, by its policy
enum class Scaling : std::uint8_t {
  kAffine,
  kSymmetric,
  kNorm,
  kMatchedNorm,
  kLeastSquares,
  kUnbiased
};

// A shortcut to the cell of a quotient q among up to 15 thresholds. Of b = nearest(q * scale +
// offset), clamped to 1 .. 31, thresholds below all such q number start[b], and no other than
// thresholds[start[b]] is among them or near them. start[0] is start[1].
struct CellTable {
  float scale;
  float offset;
  std::int32_t start[32];
};

// What turns rows into the bytes of a tile and back, to the byte and to the bit.
struct CodeView {
  TileView tile;
  bool keys;  // whether the tile is one of keys
  Scaling scaling;
  const float* thresholds;  // [2^bits - 1], ascending: between the levels of a codebook
  // The quotient of floats x and s > 0, rounded, is above threshold i exactly if x is above the float
  // at or below edges[i] * s (a product in double).
  const double* edges;     // [2^bits rounded up to 16], filled up with infinities
  const CellTable* cells;  // or null
};

// Rows in coded space -> slots [slot, slot + count) of one block, of which neither slot nor count
// need be a multiple of anything but the seal. rows: finite, within what the format takes.
struct EncodeArguments {
  const float* rows;  // [count, stride]
  std::size_t stride;
  std::uint32_t count;
  std::uint32_t slot;
  std::uint8_t* block;
};
// The way back.
struct DecodeArguments {
  BlockBytes bytes;
  std::uint32_t slot;
  std::uint32_t count;
  float* rows;  // [count, stride]
  std::size_t stride;
};

// Rows through a randomized Hadamard transform (transform/hadamard.h), forward or back; with a scale,
// over it before (Balance, transform/balance.h), and times it on the way back.
struct HadamardArguments {
  const float* rows;  // [count, stride]
  std::size_t stride;
  std::uint32_t count;
  std::uint32_t dim;
  const float* signs;  // [dim], each 1 or -1
  const float* scale;  // [dim], 0 counting as 1; or null
  bool restore;        // signs last, not first
  float* to;           // [count, to_stride], may be rows
  std::size_t to_stride;
};

// Rows over one number per channel, 0 counting as 1 (Balance, transform/balance.h), or times it.
struct BalanceArguments {
  const float* rows;  // [count, stride]
  std::size_t stride;
  std::uint32_t count;
  std::uint32_t dim;
  const float* scale;  // [dim]
  bool restore;        // times
  float* to;           // [count, to_stride], may be rows
  std::size_t to_stride;
};

// Sines and cosines of a RoPE's pairs (Rope::rotation) at consecutive positions.
struct PhaseAngles {
  std::int64_t position;  // of the first
  std::uint32_t count;    // positions
  std::uint32_t stride;   // floats of a position: pairs rounded up to 16
  float* sines;           // [count, stride], 64-byte aligned
  float* cosines;         // the same
};

// Rows less a mean that turns with the position (PhaseCenter, transform/center.h), or plus it.
struct PhaseArguments {
  const float* rows;  // [count, stride]; row t has position `position` + t
  std::size_t stride;
  std::uint32_t count;
  std::uint32_t dim;
  std::int64_t position;
  const float* mean;           // [dim]
  const std::uint64_t* turns;  // [rotated / 2], per token, in 2^-64 turn
  std::uint32_t rotated;       // channels, an even number
  bool halves;                 // pairs (i, i + rotated / 2); else (2i, 2i + 1)
  bool restore;                // plus
  const PhaseAngles* angles;   // of these positions and others, or null
  float* to;                   // [count, to_stride], may be rows
  std::size_t to_stride;
};

// What Oaken's entries in published order are padded to, with zero bytes (codec/coo_entry.h).
enum class SpillPadding : std::uint8_t { kNone, kToken, kChunk };

// Blocks of 64 tokens of Oaken's bands (quant/group_shift.h: three bands, outliers by sign and
// magnitude), in jagged order (codec/jagged.h, K4 and V4 tiles) or as published (codec/fused.h,
// entries of a byte).
struct OakenView {
  std::uint32_t dim;
  std::uint32_t padded_dim;  // rounded up to 16
  std::uint32_t chunks;      // of 64 channels
  bool jagged;
  bool shared_ranges;       // ranges lie in the shared bytes, not in the block
  std::uint32_t ranges_at;  // of token 0, from where they lie; 12 bytes per token
  std::uint32_t counts_at;
  std::uint32_t row_bytes;  // published: of a dense row
  SpillPadding padding;     // published
  // Thresholds that bands are measured from; 0 for a band that is not shifted.
  bool splits;  // the middle is shifted: its codes tell the side
  float outer_low;
  float outer_high;
  float middle_low;
  float middle_high;
};

// What turns rows into Oaken's bytes and back, to the byte and to the bit.
struct BandView {
  OakenView oaken;
  bool keys;
  bool shifts_outer;
  // The splitter's thresholds (split/threshold.h), whatever is shifted.
  float outer_low;
  float inner_low;
  float inner_high;
  float outer_high;
};

// Ranges of one token's bands (outer, middle, inner): infinity and minus infinity where none is in.
struct BandRanges {
  float lowest[3];
  float highest[3];
};
// Rows in coded space -> slots [slot, slot + count) of one block, which come after all others that
// are there. The spill has room; its size grows.
struct BandArguments {
  const float* rows;  // [count, stride]
  std::size_t stride;
  std::uint32_t count;
  std::uint32_t slot;
  const std::uint8_t* shared;
  std::uint8_t* block;
  std::uint8_t* spill;
  std::uint32_t* spill_size;
  std::uint64_t* outer;  // both are counted up
  std::uint64_t* inner;
};

// Rows as they are: [block_tokens][dim] elements.
struct RawView {
  std::uint32_t dim;
  Element element;
};

// Rows that lie open, each `stride` bytes after the one before, aligned to nothing.
struct RawRows {
  const std::uint8_t* data;
  std::uint64_t stride;
  std::uint32_t count;
  std::uint32_t dim;
  Element element;
};

// Blocks of a head may lie anywhere, and the hardware's prefetcher stops at the end of each. So a
// kernel that works on a run asks for the same lines of the run after the next, among its own or
// those of the next call (`ahead`), and asks for them into L2 (_MM_HINT_T1). One block on, memory
// has not answered in time; further on, a core waits for what it cannot use yet. Int4 keys and
// values in blocks of 4.6 KB, one query, ns per token, one core of a Zen 4 server, g++ 12,
// 2026-11-30: 21 without, 7.9 one block ahead, 6.2 two, 6.4 three, 6.7 four. Codes of 2 and 8 bits:
// two as well.
inline constexpr std::uint32_t kRunsAhead = 2;

// Scores of every slot of the runs, in order:
//   scores[j * stride + t] = query j . row t
struct ScoreArguments {
  const BlockRun* runs;
  std::uint32_t run_count;
  const BlockRun* ahead;  // the runs that are read after these, for prefetch only; null: none
  std::uint32_t ahead_count;
  const float* queries;       // [query_count, dim], coded
  const std::uint8_t* work;   // what prepare wrote for these queries, 64-byte aligned
  std::uint32_t query_count;  // 1 to 16
  Arithmetic arithmetic;
  float* scores;
  std::uint32_t stride;
};

// Sums over every slot of the runs, in order:
//   sums[j * dim + c] += sum over t of weights[j * stride + t] * row t [c]
// Weights are >= 0 and finite; those below e^-60 of the largest are 0.
struct AccumulateArguments {
  const BlockRun* runs;
  std::uint32_t run_count;
  const BlockRun* ahead;  // as above
  std::uint32_t ahead_count;
  const float* weights;
  std::uint32_t query_count;
  std::uint32_t stride;
  Arithmetic arithmetic;
  float* sums;
};

// What queries are turned into once, before many calls of score.
struct PrepareArguments {
  const float* queries;  // [query_count, dim], coded
  std::uint32_t query_count;
  Arithmetic arithmetic;
  std::uint8_t* work;  // 64-byte aligned; its size: kWorkBytes of the kernel set
};

// Keys that were coded without their mean: what q . row then lacks (transform/center.h).
struct OffsetView {
  std::uint32_t dim;
  const float* mean;        // [dim], before RoPE
  const PhaseTable* table;  // null: the mean does not rotate
};

//   scores[j * stride + t] += query j . R(positions[t]) mean
struct OffsetArguments {
  const float* queries;  // [query_count, dim], as they came
  std::uint32_t query_count;
  const std::int64_t* positions;  // [count], ascending, no two the same
  std::uint32_t count;
  Arithmetic arithmetic;
  float* scores;
  std::uint32_t stride;
};

}  // namespace kvpleat::abi
