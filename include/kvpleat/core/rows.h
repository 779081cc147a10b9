// Rows: a view of n float rows of one stream, in coded space unless said otherwise.
#pragma once

#include <cstddef>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

//   data:   [count, stride], row-major; a row's first `dim` floats are its values.
template <class T>
struct BasicRows {
  T* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 0;

  constexpr T* operator[](std::size_t row) const { return data + row * stride; }
  // Rows [first, first + n).
  constexpr BasicRows part(std::size_t first, std::size_t n) const {
    return {data + first * stride, n, stride};
  }
};
using Rows = BasicRows<const float>;
using MutableRows = BasicRows<float>;

}  // namespace kvpleat::inline KVPLEAT_ISA
