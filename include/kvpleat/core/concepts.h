// The contract, on one screen. Users write Quantizer, OutlierSplitter, BitAllocator; engines write
// PageAllocator, LogitRule. Format is the seam between caches, kernels and devices.
// docs/policies.md walks through each.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kvpleat/core/axis.h"
#include "kvpleat/core/bytes.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/counters.h"
#include "kvpleat/core/outlier.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/core/tokens.h"

namespace kvpleat::inline KVPLEAT_ISA {

// clang-format off

// Fold (observe, merge), turn into a scale, map (encode, decode). Scale: the values of Side that are stored per group;
// empty: nothing is.
// Codes are computed from the scale as stored. kLargest: the largest |x| it takes; beyond it an append is refused.
// kExactMerge: the order of merges does not matter; if false, only the fixed order of the numeric law is promised.
template <class Q>
concept Quantizer = std::is_trivially_copyable_v<Q> && std::default_initializable<Q> &&
    requires(const Q quant, typename Q::Stat stat, const typename Q::Scale scale, float x, std::uint32_t code) {
  typename Q::Side;
  { Q::kBits } -> std::convertible_to<std::uint32_t>;        // 1 .. 8
  { Q::kGroup } -> std::convertible_to<std::uint32_t>;       // members; kWholeHead: all channels
  { Q::kAxis } -> std::convertible_to<Axis>;
  { Q::kExactMerge } -> std::convertible_to<bool>;
  { Q::kLargest } -> std::convertible_to<float>;
  { Q::kId } -> std::convertible_to<std::string_view>;       // "quant=name;bits=4;..."
  quant.observe(x, stat);
  { Q::merge(stat, stat) } -> std::same_as<typename Q::Stat>;
  { quant.scale(stat) } -> std::same_as<typename Q::Scale>;
  { quant.encode(x, scale) } -> std::convertible_to<std::uint32_t>;
  { quant.decode(code, scale) } -> std::convertible_to<float>;
};

// A quantizer that computes the stored scale after the codes (least squares, unbiased): scale() is then only the coding
// scale.
template <class Q>
concept RefiningQuantizer = Quantizer<Q> &&
    requires(const Q quant, typename Q::Refinement sums, const typename Q::Scale scale, float x, std::uint32_t code) {
  quant.observe_code(x, code, scale, sums);
  { Q::merge_refinement(sums, sums) } -> std::same_as<typename Q::Refinement>;
  { quant.refine(scale, sums) } -> std::same_as<typename Q::Scale>;
};

// A quantizer that tries several scales: the codec stores the candidate whose codes lose least (sum of squared errors in
// the fixed order of the numeric law; ties: the lowest k). candidate(stat, 0) is scale(stat).
template <class Q>
concept SearchingQuantizer = Quantizer<Q> && requires(const Q quant, typename Q::Stat stat, std::uint32_t k) {
  { Q::kCandidates } -> std::convertible_to<std::uint32_t>;
  { quant.candidate(stat, k) } -> std::same_as<typename Q::Scale>;
};

// Optional, for a quantizer with a profile (a fitted codebook, a scale per head): as of a splitter.
//   static constexpr std::uint32_t kProfileSize;   floats per head
//   static Q bind(const float* profile);           null, or zeros from a cache: none was given
//   static bool valid(const float* profile);
// and, if its range ends where the profile says:
//   bool saturates(float x) const;                 |x| lies beyond it; counted, and coded as the largest value
template <class Q>
concept ProfiledQuantizer = requires(const float* profile) {
  { Q::kProfileSize } -> std::convertible_to<std::uint32_t>;
  { Q::bind(profile) } -> std::same_as<Q>;
  { Q::valid(profile) } -> std::same_as<bool>;
};

// Codes every band of a threshold splitter in its own way (ours: GroupShiftQuant); for FusedCodec and its kin.
template <class Q>
concept BandQuantizer = std::is_trivially_copyable_v<Q> && requires {
  typename Q::Stat;
  typename Q::Parameters;
  { Q::kParameterBytes } -> std::convertible_to<std::uint32_t>;  // of a token
  { Q::kPerHead } -> std::convertible_to<bool>;                  // or over all heads of the layer
  { Q::kBits } -> std::convertible_to<std::uint32_t>;            // of a middle value
  { Q::kOutlierBits } -> std::convertible_to<std::uint32_t>;     // of any other
  { Q::kOuterBands } -> std::convertible_to<std::uint32_t>;
  { Q::kInnerBands } -> std::convertible_to<std::uint32_t>;
  { Q::kLargest } -> std::convertible_to<float>;
  { Q::kId } -> std::convertible_to<std::string_view>;
};

// Codes kValues values in a row as one run of kBytes bytes, scales included (ours: GgmlQuant); for RowCodec.
template <class Q>
concept RowQuantizer = std::is_trivially_copyable_v<Q> &&
    requires(const Q quant, const float* values, float* decoded, std::uint8_t* bytes, const std::uint8_t* stored) {
  { Q::kValues } -> std::convertible_to<std::uint32_t>;
  { Q::kBytes } -> std::convertible_to<std::uint32_t>;
  { Q::kLargest } -> std::convertible_to<float>;
  { Q::kId } -> std::convertible_to<std::string_view>;
  quant.encode(values, bytes);
  quant.decode(stored, decoded);
};

// What every splitter says of itself. bind/valid: from kProfileSize floats per head (null if there are none).
template <class S>
concept OutlierSplitter = std::is_trivially_copyable_v<S> && requires(const float* profile) {
  { S::kMaxOutliers } -> std::convertible_to<std::uint32_t>;  // per token and head
  { S::kProfileSize } -> std::convertible_to<std::uint32_t>;
  { S::kId } -> std::convertible_to<std::string_view>;        // "split=name;..."
  { S::bind(profile) } -> std::same_as<S>;
  { S::valid(profile) } -> std::same_as<bool>;
};
// Decides per vector: writes ascending channels, returns how many (ties: lowest channel first).
template <class S>
concept VectorSplitter = OutlierSplitter<S> && requires(const S split, const float* row, std::uint16_t* channels) {
  { split.split(row, std::uint32_t{}, channels) } -> std::same_as<std::uint32_t>;
};
// A vector splitter that counts what it could not decide.
template <class S>
concept CountingSplitter = VectorSplitter<S> && requires(const S split, const float* row, std::uint16_t* channels,
                                                         EncodeCounters& counters) {
  { split.split(row, std::uint32_t{}, channels, counters) } -> std::same_as<std::uint32_t>;
};
// What a vector splitter sets apart in a row, as split() does; counted where the splitter counts.
template <VectorSplitter S>
std::uint32_t split_row(const S& split, const float* row, std::uint32_t dim, std::uint16_t* channels,
                        EncodeCounters& counters) {
  if constexpr (CountingSplitter<S>) {
    return split.split(row, dim, channels, counters);
  } else {
    return split.split(row, dim, channels);
  }
}
// Sets nothing apart but changes rows before they are coded (kMaxOutliers = 0).
template <class S>
concept RowFilter = OutlierSplitter<S> && requires(const S split, const float* row, float* filtered,
                                                   EncodeCounters& counters) {
  split.filter(row, std::uint32_t{}, filtered, counters);
};
// Decides per value.
template <class S>
concept BandSplitter = OutlierSplitter<S> && requires(const S split, float x) {
  { split.band(x) } -> std::same_as<BandSide>;
};

// Decides by thresholds, which GroupShiftQuant shifts by: edge(at) is the one between the outer or middle band `at` and
// what lies inward of it, on its side.
template <class S>
concept ThresholdSplitter = BandSplitter<S> && requires(const S split, BandSide at) {
  { S::kOuterBands } -> std::convertible_to<std::uint32_t>;
  { S::kInnerBands } -> std::convertible_to<std::uint32_t>;
  { split.edge(at) } -> std::convertible_to<float>;
};

// Chooses the lane of a token, O(1). kDeferred: needs features of the finished forward pass, so tokens wait in staging.
template <class A>
concept BitAllocator = requires(A allocator, const TokenInfo info) {
  { A::kDeferred } -> std::convertible_to<bool>;
  { allocator.choose(info) } -> std::convertible_to<std::uint32_t>;
};

// Memory of an engine. allocate: `bytes` bytes at a multiple of 64, or null; release: what allocate gave, same size.
template <class A>
concept PageAllocator = requires(A allocator, void* memory, std::size_t bytes) {
  { allocator.allocate(bytes) } noexcept -> std::same_as<void*>;
  { allocator.release(memory, bytes) } noexcept;
};

// Changes a scaled score before the softmax. kSink: sink(head) is the logit of a key without a value, one per query head.
// Optional: static constexpr bool kPlain = true; logit(x) is x, and is not called.
template <class R>
concept LogitRule = requires(const R rule, float score, std::uint32_t query_head) {
  { R::kSink } -> std::convertible_to<bool>;
  { rule.logit(score) } -> std::convertible_to<float>;
  { rule.sink(query_head) } -> std::convertible_to<float>;
};

// The bytes of one block: kBlockTokens tokens of one stream. The object is a trivially copyable view of the profile.
// Laws, tested for every format: encoding n * kSeal tokens at once or seal by seal gives equal bytes; bytes of a token never
// depend on later tokens beyond its seal; restore(forward(x, p), 1, p) == x within ulps; q . x == q' . x' + offset;
// untouched slots keep their bytes; erase gives zero bytes back. (Where a spill is reordered: what bytes say, not where they
// lie.)
// A format without a coded query (keys before RoPE) says kScoresRestored: its law of scores is q . x == q . restore(x', 1, p),
// and attention restores its rows before it scores them.
template <class F>
concept Format = std::is_trivially_copyable_v<F> && sizeof(F) <= 64 &&
    requires(const F format, const float* in, float* out, std::int64_t position, const std::int64_t* positions,
             Rows rows, MutableRows decoded, std::uint32_t slot, std::uint8_t* block, const std::uint8_t* shared,
             const BlockBytes bytes, SpillWriter spill, EncodeCounters counters) {
  { F::kDim } -> std::convertible_to<std::uint32_t>;          // of a row
  { F::kCoded } -> std::convertible_to<std::uint32_t>;        // of a coded row
  { F::kBlockTokens } -> std::convertible_to<std::uint32_t>;  // a multiple of 64
  { F::kSeal } -> std::convertible_to<std::uint32_t>;         // tokens whose bytes are fixed together
  { F::kBlockBytes } -> std::convertible_to<std::uint32_t>;
  { F::kSharedBytes } -> std::convertible_to<std::uint32_t>;  // per block, over the heads of the layer
  { F::kCodeBytes } -> std::convertible_to<std::uint32_t>;    // of kBlockBytes: codes,
  { F::kSideBytes } -> std::convertible_to<std::uint32_t>;    //   scales and zero points,
  { F::kOutlierBytes } -> std::convertible_to<std::uint32_t>; //   slots and counts
  { F::kSpills } -> std::convertible_to<bool>;
  { F::kPositional } -> std::convertible_to<bool>;            // restore depends on the position
  { F::kHasOffset } -> std::convertible_to<bool>;
  { F::kProfileSize } -> std::convertible_to<std::uint32_t>;  // floats per head
  { F::kLargest } -> std::convertible_to<float>;              // largest coded magnitude
  { F::kId } -> std::convertible_to<std::string_view>;
  format.forward(in, position, out);
  format.prepare_query(in, out);
  format.add_score_offset(in, positions, slot, out);
  format.restore(in, 1.0f, position, out);
  { format.coded_bound(1.0f) } -> std::same_as<float>;
  format.encode(rows, slot, shared, block, spill, counters);
  format.decode(bytes, slot, decoded);
  F::erase(block, slot, slot);
} && F::kBlockTokens % 64 == 0 && F::kBlockTokens % F::kSeal == 0 && (F::kSharedBytes == 0 || F::kSeal == 1);

template <class T>
constexpr bool scores_restored() { return requires { requires T::kScoresRestored; }; }

// Side data that spans the heads of a layer: statistics of all heads are merged before any head is encoded.
template <class F>
concept SharedFormat = Format<F> && (F::kSharedBytes > 0) &&
    requires(const F format, const float* coded, typename F::Stat stat, std::uint32_t slot, std::uint8_t* shared) {
  format.observe(coded, stat);
  { F::merge(stat, stat) } -> std::same_as<typename F::Stat>;
  F::write_shared(stat, slot, shared);
};

// Outliers outside the block, in the order of the tokens. spill_need: of one coded row; spill_bytes: of the first n tokens
// of a block, which are a prefix of its spill.
template <class F>
concept OrderedSpill = requires(const std::uint8_t* block, std::uint32_t n) {
  { F::spill_bytes(block, n) } -> std::same_as<std::uint32_t>;
};
// In another order, so that a later token moves bytes of the spill. cut_spill(block, spill, bytes, n): makes of a block's
// spill (and of what the block says of it) that of its first n tokens, before the others are erased; returns its bytes.
// spill_bytes(block bytes, n): what it would return.
template <class F>
concept ReorderedSpill =
    requires(std::uint8_t* block, std::uint8_t* spill, std::uint32_t n, const BlockBytes bytes) {
  { F::cut_spill(block, spill, n, n) } -> std::same_as<std::uint32_t>;
  { F::spill_bytes(bytes, n) } -> std::same_as<std::uint32_t>;
};
template <class F>
concept SpillingFormat = Format<F> && F::kSpills && (OrderedSpill<F> || ReorderedSpill<F>) &&
    requires(const F format, const float* coded) {
  { format.spill_need(coded) } -> std::same_as<std::uint32_t>;
};

// Codes the first token of a block with what the block before it holds. previous: its bytes; block is null if there is
// none.
template <class F>
concept ChainedFormat = Format<F> && F::kReadsPrevious &&
    requires(const F format, Rows rows, const std::uint8_t* shared, std::uint8_t* block, SpillWriter spill,
             EncodeCounters counters, const BlockBytes previous) {
  format.encode(rows, std::uint32_t{}, shared, block, spill, counters, previous);
};

// May refuse a row (kRange) because of the rows before it; asked before anything is written. admission: the state after
// slots [0, slot) of a block, both null where they do not exist; admit: the next coded row, which changes the state.
template <class F>
concept AdmittingFormat = Format<F> &&
    requires(const F format, const float* coded, const std::uint8_t* block, typename F::Admission state) {
  { F::admission(block, std::uint32_t{}) } -> std::same_as<typename F::Admission>;
  { format.admit(coded, state) } -> std::same_as<bool>;
};

// clang-format on

}  // namespace kvpleat::inline KVPLEAT_ISA
