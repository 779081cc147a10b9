#include "bench/arena.h"

#include "kvpleat/store/huge_pages.h"

namespace bench {

Arena::~Arena() {
  const kvpleat::MemorySource system = kvpleat::huge_page_memory();
  for (const auto& [memory, bytes] : chunks_) system.release(system.context, memory, bytes);
}

kvpleat::MemorySource Arena::source() noexcept {
  kvpleat::MemorySource source;
  source.context = this;
  source.allocate = [](void* context, std::size_t bytes) noexcept -> void* {
    return static_cast<Arena*>(context)->allocate(bytes);
  };
  source.release = [](void* context, void* memory, std::size_t bytes) noexcept {
    static_cast<Arena*>(context)->release(memory, bytes);
  };
  return source;
}

void* Arena::allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  if (std::vector<void*>& own = released_[rounded]; !own.empty()) {
    void* memory = own.back();
    own.pop_back();
    return memory;
  }
  if (rounded > left_) {
    const kvpleat::MemorySource system = kvpleat::huge_page_memory();
    const std::size_t chunk = rounded > kChunk ? rounded : kChunk;
    void* memory = system.allocate(system.context, chunk);
    if (memory == nullptr) return nullptr;
    chunks_.emplace_back(memory, chunk);
    next_ = static_cast<std::uint8_t*>(memory);
    left_ = chunk;
  }
  std::uint8_t* result = next_;
  next_ += rounded;
  left_ -= rounded;
  if (!ranges_.empty() && ranges_.back().first + ranges_.back().second == result) {
    ranges_.back().second += rounded;
  } else {
    ranges_.emplace_back(result, rounded);
  }
  return result;
}

void Arena::release(void* memory, std::size_t bytes) noexcept {
  released_[(bytes + 63) / 64 * 64].push_back(memory);
}

}  // namespace bench
