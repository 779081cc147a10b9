// Result: a value or an Error, for factories. No exceptions.
#pragma once

#include <new>
#include <utility>

#include "kvpleat/core/config.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

//   auto made = KvCache<Traits>::create(shape);
//   if (!made) return report(made.error());
//   auto& cache = *made;
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T&& value) noexcept : has_(true) {
    ::new (static_cast<void*>(storage_)) T(std::move(value));
  }
  Result(Error error) noexcept : error_(error) {}
  Result(Result&& other) noexcept : error_(other.error_), has_(other.has_) {
    if (has_) ::new (static_cast<void*>(storage_)) T(std::move(*other));
  }
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (has_) get()->~T();
  }

  [[nodiscard]] explicit operator bool() const noexcept { return has_; }
  [[nodiscard]] bool has_value() const noexcept { return has_; }
  // Only when there is a value.
  [[nodiscard]] T& operator*() noexcept {
    KVPLEAT_ASSERT(has_);
    return *get();
  }
  [[nodiscard]] const T& operator*() const noexcept {
    KVPLEAT_ASSERT(has_);
    return *get();
  }
  [[nodiscard]] T* operator->() noexcept { return &**this; }
  [[nodiscard]] const T* operator->() const noexcept { return &**this; }
  // {kOk, ""} when there is a value.
  const Error& error() const noexcept { return error_; }

 private:
  T* get() noexcept { return std::launder(reinterpret_cast<T*>(storage_)); }
  const T* get() const noexcept { return std::launder(reinterpret_cast<const T*>(storage_)); }

  Error error_{};
  bool has_ = false;
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace kvpleat::inline KVPLEAT_ISA
