// Tail: the newest tokens of a layer as they came: the residual, and tokens whose lane is not
// decided yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

// A ring of tokens. A token is [heads, key_dim] and [heads, value_dim] elements and [tags] lane
// tags.
template <class Element>
class Tail {
 public:
  Tail() = default;
  Tail(const MemorySource* memory, std::uint32_t heads, std::uint32_t key_dim,
       std::uint32_t value_dim, std::uint32_t tags) noexcept
      : memory_(memory), heads_(heads), key_dim_(key_dim), value_dim_(value_dim), tags_(tags) {}
  Tail(Tail&& other) noexcept
      : memory_(other.memory_),
        ring_(std::exchange(other.ring_, nullptr)),
        prepared_(std::exchange(other.prepared_, nullptr)),
        heads_(other.heads_),
        key_dim_(other.key_dim_),
        value_dim_(other.value_dim_),
        tags_(other.tags_),
        start_(other.start_),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        prepared_capacity_(std::exchange(other.prepared_capacity_, 0)) {}
  Tail& operator=(Tail&&) = delete;
  ~Tail() {
    cancel();
    release(ring_, capacity_);
  }

  [[nodiscard]] bool prepare(std::uint32_t capacity) noexcept {
    if (capacity <= capacity_) return true;
    prepared_ =
        static_cast<std::uint8_t*>(memory_->allocate(memory_->context, capacity * token_bytes()));
    if (prepared_ == nullptr) return false;
    prepared_capacity_ = capacity;
    return true;
  }
  void commit() noexcept {
    if (prepared_ == nullptr) return;
    for (std::uint32_t i = 0; i < size_; ++i)
      std::memcpy(prepared_ + i * token_bytes(), token(i), token_bytes());
    release(ring_, capacity_);
    ring_ = std::exchange(prepared_, nullptr);
    capacity_ = std::exchange(prepared_capacity_, 0);
    start_ = 0;
  }
  void cancel() noexcept {
    release(prepared_, prepared_capacity_);
    prepared_ = nullptr;
    prepared_capacity_ = 0;
  }

  // Adds a token; its rows and tags are set afterwards. Needs room.
  void push() noexcept {
    KVPLEAT_ASSERT(size_ < capacity_);
    ++size_;
  }
  void pop_front() noexcept {
    start_ = start_ + 1 == capacity_ ? 0 : start_ + 1;
    --size_;
  }
  void truncate(std::uint32_t size) noexcept { size_ = size; }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint8_t tag(std::uint32_t i, std::uint32_t head) const noexcept {
    return token(i)[rows_bytes() + (tags_ == 1 ? 0 : head)];
  }
  void set_tag(std::uint32_t i, std::uint32_t head, std::uint8_t tag) noexcept {
    token(i)[rows_bytes() + (tags_ == 1 ? 0 : head)] = tag;
  }
  void read_key(std::uint32_t i, std::uint32_t head, float* row) const noexcept {
    read(key_bytes(i, head), key_dim_, row);
  }
  void read_value(std::uint32_t i, std::uint32_t head, float* row) const noexcept {
    read(value_bytes(i, head), value_dim_, row);
  }
  void write_key(std::uint32_t i, std::uint32_t head, const float* row) noexcept {
    write(token(i) + head * key_dim_ * sizeof(Element), key_dim_, row);
  }
  void write_value(std::uint32_t i, std::uint32_t head, const float* row) noexcept {
    write(token(i) + (heads_ * key_dim_ + head * value_dim_) * sizeof(Element), value_dim_, row);
  }
  // Where the rows of a token lie; those of the next token, token_bytes() behind them, as far as
  // contiguous() says.
  [[nodiscard]] const std::uint8_t* key_bytes(std::uint32_t i, std::uint32_t head) const noexcept {
    return token(i) + head * key_dim_ * sizeof(Element);
  }
  [[nodiscard]] const std::uint8_t* value_bytes(std::uint32_t i,
                                                std::uint32_t head) const noexcept {
    return token(i) + (heads_ * key_dim_ + head * value_dim_) * sizeof(Element);
  }
  // How many of n tokens from i on lie one behind the other.
  [[nodiscard]] std::uint32_t contiguous(std::uint32_t i, std::uint32_t n) const noexcept {
    const std::uint32_t at = start_ + i;
    return at >= capacity_ ? n : lower_of(n, capacity_ - at);
  }
  // Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return capacity_ * token_bytes(); }
  [[nodiscard]] std::size_t token_bytes() const noexcept { return rows_bytes() + tags_; }

 private:
  [[nodiscard]] std::size_t rows_bytes() const noexcept {
    return static_cast<std::size_t>(heads_) * (key_dim_ + value_dim_) * sizeof(Element);
  }
  std::uint8_t* token(std::uint32_t i) const noexcept {
    std::uint32_t at = start_ + i;
    if (at >= capacity_) at -= capacity_;
    return ring_ + at * token_bytes();
  }
  static void read(const std::uint8_t* from, std::uint32_t dim, float* row) noexcept {
    for (std::uint32_t c = 0; c < dim; ++c)
      row[c] = to_float(load<Element>(from + c * sizeof(Element)));
  }
  static void write(std::uint8_t* to, std::uint32_t dim, const float* row) noexcept {
    for (std::uint32_t c = 0; c < dim; ++c)
      store(to + c * sizeof(Element), nearest<Element>(row[c]));
  }
  void release(std::uint8_t* ring, std::uint32_t capacity) noexcept {
    if (ring != nullptr) memory_->release(memory_->context, ring, capacity * token_bytes());
  }

  const MemorySource* memory_ = nullptr;
  std::uint8_t* ring_ = nullptr;
  std::uint8_t* prepared_ = nullptr;
  std::uint32_t heads_ = 0;
  std::uint32_t key_dim_ = 0;
  std::uint32_t value_dim_ = 0;
  std::uint32_t tags_ = 1;
  std::uint32_t start_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t prepared_capacity_ = 0;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
