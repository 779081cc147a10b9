// TokenMap: which lane holds which token, and at which slot.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/store/array.h"

namespace kvpleat::inline KVPLEAT_ISA {

// index: a token's append ordinal. slot: its place among the tokens of its lane. rank(lane, index)
// is the slot of the first token of `lane` at or after `index`: O(1) from tag planes and a
// directory per 64 tokens: (planes * 8 + lanes * 4) / 64 bytes per token, 2 bits for two lanes, 4
// bits for four. While the tokens form at most two runs (all in one lane, or sinks and the rest)
// there are no planes and nothing is stored.
template <std::uint32_t kLanes>
class TokenMap {
 public:
  static constexpr std::uint32_t kPlanes =
      kLanes <= 2 ? 1 : static_cast<std::uint32_t>(std::bit_width(kLanes - 1));

  TokenMap() = default;
  explicit TokenMap(const MemorySource* memory) noexcept : words_(memory) {}

  // Makes room for n more tokens; tag(i) is the lane of the i-th. False: no memory, nothing
  // changed.
  template <class Tag>
  [[nodiscard]] bool prepare(std::uint32_t n, Tag tag) noexcept {
    if (words_.size() == 0) {
      std::uint32_t runs = size_ == 0 ? 0 : first_run_ < size_ ? 2 : 1;
      std::uint32_t last = runs == 2 ? second_ : first_;
      for (std::uint32_t i = 0; i < n && runs <= 2; ++i) {
        if (runs == 0 || tag(i) != last) ++runs;
        last = tag(i);
      }
      if (runs <= 2) return true;
    }
    const std::uint32_t words = ceil_div(size_ + n, 64u);
    return words <= words_.capacity() || words_.prepare(std::bit_ceil(upper_of(words, 4u)));
  }
  void commit() noexcept { words_.commit(); }
  void cancel() noexcept { words_.cancel(); }

  void push(std::uint32_t lane) noexcept {
    if (words_.size() == 0) {
      const bool second = first_run_ < size_;
      if (size_ == 0) first_ = lane;
      if (!second && lane == first_) {
        ++size_;
        ++first_run_;
        return;
      }
      if (!second) second_ = lane;
      if (lane == second_) {
        ++size_;
        return;
      }
      write_planes();
    }
    append_word(lane);
    ++size_;
  }
  void truncate(std::uint32_t n) noexcept {
    size_ = n;
    first_run_ = lower_of(first_run_, n);
    if (words_.size() > 0) words_.resize_raw(ceil_div(n, 64u));
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t tag(std::uint32_t index) const noexcept {
    if (words_.size() == 0) return index < first_run_ ? first_ : second_;
    std::uint32_t lane = 0;
    for (std::uint32_t p = 0; p < kPlanes; ++p) {
      lane |= static_cast<std::uint32_t>((words_[index / 64].plane[p] >> (index % 64)) & 1u) << p;
    }
    return lane;
  }
  [[nodiscard]] std::uint32_t rank(std::uint32_t lane, std::uint32_t index) const noexcept {
    if (words_.size() == 0) {
      const std::uint32_t first = lower_of(index, first_run_);
      return (lane == first_ ? first : 0) + (lane == second_ ? index - first : 0);
    }
    if (index == 0) return 0;
    const std::uint32_t word = lower_of(index / 64, words_.size() - 1);
    return words_[word].before[lane] + count(words_[word], lane, index - word * 64);
  }
  // Indices of n tokens of a lane from the one at or after `index` on, ascending.
  void positions(std::uint32_t lane, std::uint32_t index, std::uint32_t n,
                 std::int64_t* out) const noexcept {
    if (words_.size() == 0) {  // at most two runs
      const bool in_first = lane == first_ && index < first_run_;
      const std::uint32_t from = in_first ? index : upper_of(index, first_run_);
      for (std::uint32_t i = 0; i < n; ++i) out[i] = std::int64_t{from} + i;
      KVPLEAT_ASSERT(n == 0 || (from + n <= size_ && tag(from + n - 1) == lane));
      return;
    }
    for (std::uint32_t found = 0; found < n;) {
      const std::uint32_t word = index / 64;
      KVPLEAT_ASSERT(word < words_.size());
      std::uint64_t members = among(words_[word], lane) & (~std::uint64_t{0} << (index % 64));
      for (; members != 0 && found < n; members &= members - 1) {
        out[found] = word * 64 + static_cast<std::uint32_t>(std::countr_zero(members));
        KVPLEAT_ASSERT(out[found] < size_);
        ++found;
      }
      index = (word + 1) * 64;
    }
  }
  // Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return words_.bytes(); }

 private:
  struct Word {
    std::uint64_t plane[kPlanes];
    std::uint32_t before[kLanes];  // tokens of each lane in earlier words
  };

  static std::uint32_t count(const Word& word, std::uint32_t lane, std::uint32_t n) noexcept {
    const std::uint64_t earlier = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    return static_cast<std::uint32_t>(std::popcount(among(word, lane) & earlier));
  }
  // Bit i: token i of the word is in the lane. Bits behind the last token mean nothing.
  static std::uint64_t among(const Word& word, std::uint32_t lane) noexcept {
    std::uint64_t members = ~std::uint64_t{0};
    for (std::uint32_t p = 0; p < kPlanes; ++p)
      members &= ((lane >> p) & 1u) ? word.plane[p] : ~word.plane[p];
    return members;
  }
  // Writes the tag of token `size_`.
  void append_word(std::uint32_t lane) noexcept {
    if (size_ % 64 == 0) {
      Word word{};
      if (size_ > 0) {
        const Word& last = words_[words_.size() - 1];
        for (std::uint32_t l = 0; l < kLanes; ++l)
          word.before[l] = last.before[l] + count(last, l, 64);
      }
      words_.push(word);
    }
    Word& word = words_.back();
    const std::uint64_t bit = std::uint64_t{1} << (size_ % 64);
    for (std::uint32_t p = 0; p < kPlanes; ++p) {
      word.plane[p] = ((lane >> p) & 1u) ? word.plane[p] | bit : word.plane[p] & ~bit;
    }
  }
  void write_planes() noexcept {
    const std::uint32_t total = size_;
    const std::uint32_t first = first_run_;
    for (size_ = 0; size_ < total; ++size_) append_word(size_ < first ? first_ : second_);
  }

  Array<Word> words_;
  std::uint32_t size_ = 0;
  std::uint32_t first_run_ =
      0;  // tokens [0, first_run_) are in first_, the others in second_, while there are no planes
  std::uint32_t first_ = 0;
  std::uint32_t second_ = 0;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
