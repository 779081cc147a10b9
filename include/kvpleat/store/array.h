// Array: a growing array over a MemorySource whose growth is prepared, then committed or cancelled.
//
// Operations that must leave everything as it was on failure grow all their arrays first (prepare),
// and only when every preparation has succeeded touch contents. cancel gives prepared memory back,
// to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "kvpleat/core/config.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class T>
class Array {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>);

 public:
  Array() = default;
  explicit Array(const MemorySource* memory) noexcept : memory_(memory) {}
  Array(Array&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        prepared_(std::exchange(other.prepared_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        prepared_capacity_(std::exchange(other.prepared_capacity_, 0)) {}
  Array& operator=(Array&&) = delete;
  ~Array() {
    cancel();
    clear();
    release(data_, capacity_);
  }

  // Makes room for `capacity` elements without touching contents. False: no memory, nothing
  // changed.
  [[nodiscard]] bool prepare(std::size_t capacity) noexcept {
    if (capacity <= capacity_ || capacity <= prepared_capacity_) return true;
    if (capacity > 0xffffffffu || capacity > static_cast<std::size_t>(-1) / sizeof(T)) return false;
    T* memory = static_cast<T*>(memory_->allocate(memory_->context, capacity * sizeof(T)));
    if (memory == nullptr) return false;
    cancel();
    prepared_ = memory;
    prepared_capacity_ = static_cast<std::uint32_t>(capacity);
    return true;
  }
  void commit() noexcept {
    if (prepared_ == nullptr) return;
    for (std::uint32_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(prepared_ + i)) T(std::move(data_[i]));
      data_[i].~T();
    }
    release(data_, capacity_);
    data_ = std::exchange(prepared_, nullptr);
    capacity_ = std::exchange(prepared_capacity_, 0);
  }
  void cancel() noexcept {
    release(prepared_, prepared_capacity_);
    prepared_ = nullptr;
    prepared_capacity_ = 0;
  }
  // prepare + commit.
  [[nodiscard]] bool reserve(std::size_t capacity) noexcept {
    if (!prepare(capacity)) return false;
    commit();
    return true;
  }

  // Needs room.
  template <class... Arguments>
  T& push(Arguments&&... arguments) noexcept {
    KVPLEAT_ASSERT(size_ < capacity_);
    return *::new (static_cast<void*>(data_ + size_++)) T(std::forward<Arguments>(arguments)...);
  }
  void pop() noexcept { data_[--size_].~T(); }
  void clear() noexcept {
    while (size_ > 0) pop();
  }
  // For trivial elements: the size only; new elements are whatever the memory holds. Needs room.
  void resize_raw(std::size_t size) noexcept requires std::is_trivially_copyable_v<T> {
    KVPLEAT_ASSERT(size <= capacity_);
    size_ = static_cast<std::uint32_t>(size);
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  // Memory held, prepared memory included.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return (static_cast<std::size_t>(capacity_) + prepared_capacity_) * sizeof(T);
  }
  [[nodiscard]] const MemorySource* memory() const noexcept { return memory_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept {
    KVPLEAT_ASSERT(i < size_);
    return data_[i];
  }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept {
    KVPLEAT_ASSERT(i < size_);
    return data_[i];
  }
  [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }

 private:
  void release(T* memory, std::size_t capacity) noexcept {
    if (memory != nullptr) memory_->release(memory_->context, memory, capacity * sizeof(T));
  }

  const MemorySource* memory_ = nullptr;
  T* data_ = nullptr;
  T* prepared_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t prepared_capacity_ = 0;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
