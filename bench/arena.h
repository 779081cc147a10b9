// Arena: memory for one cache, in huge pages where the system has them, and the ranges that were
// handed out, so that the bandwidth kernel reads what the attention kernel reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kvpleat/store/memory_source.h"

namespace bench {

// Cut from chunks that the system gives; what a cache releases is kept for requests of the same
// size: a cache that is emptied and filled again meets no new pages. Lives longer than the caches in
// it. Not for several threads.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  [[nodiscard]] kvpleat::MemorySource source() noexcept;
  // What was handed out, in order, as few ranges as possible.
  [[nodiscard]] const std::vector<std::pair<const std::uint8_t*, std::size_t>>& ranges() const {
    return ranges_;
  }
  // Forgets the ranges so far: of what was allocated before the blocks, tables for instance.
  void forget_ranges() { ranges_.clear(); }

 private:
  static constexpr std::size_t kChunk = std::size_t{32} << 20;
  void* allocate(std::size_t bytes) noexcept;
  void release(void* memory, std::size_t bytes) noexcept;

  std::vector<std::pair<void*, std::size_t>> chunks_;
  std::vector<std::pair<const std::uint8_t*, std::size_t>> ranges_;
  std::map<std::size_t, std::vector<void*>> released_;  // by size
  std::uint8_t* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace bench
