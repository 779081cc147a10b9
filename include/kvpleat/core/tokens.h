// TokenRows: the caller's keys or values of some tokens, every head, as they lie in the caller's
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "kvpleat/core/config.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class ElementType : std::uint8_t { kFloat, kHalf, kBFloat16 };

template <class T>
inline constexpr bool kNeverTrue = false;

template <class T>
struct ElementTypeOf {
  static_assert(kNeverTrue<T>,
                "kvpleat: TokenRows takes float, kvpleat::Half or kvpleat::BFloat16 (raw 16-bit "
                "data: TokenRows::tagged)");
};
template <>
struct ElementTypeOf<float> {
  static constexpr ElementType value = ElementType::kFloat;
};
template <>
struct ElementTypeOf<Half> {
  static constexpr ElementType value = ElementType::kHalf;
};
template <>
struct ElementTypeOf<BFloat16> {
  static constexpr ElementType value = ElementType::kBFloat16;
};

inline constexpr std::size_t kNoExtent = static_cast<std::size_t>(-1);

// A view of [tokens, heads, dim] elements with free strides, counted in elements: packed rows, a
// fused QKV buffer, head-major order, padded rows, column-major matrices. Owns nothing; needs the
// natural alignment of nothing: elements are read through memcpy.
//   TokenRows(k, tokens, heads, dim)                        packed; k: float, Half or BFloat16
//   TokenRows(k, tokens, heads, dim).strides(3 * h * d, d)  a slice of a fused buffer
//   TokenRows(std::span(buffer), tokens, heads, dim)        never reads past the buffer: refused
struct TokenRows {
  const void* data = nullptr;
  ElementType type = ElementType::kFloat;
  std::size_t tokens = 0;
  std::size_t heads = 0;
  std::size_t dim = 0;
  std::size_t token_stride = 0;
  std::size_t head_stride = 0;
  std::size_t channel_stride = 1;
  std::size_t extent = kNoExtent;  // elements behind data, if known

  constexpr TokenRows() = default;
  template <class T>
  constexpr TokenRows(const T* first, std::size_t token_count, std::size_t head_count,
                      std::size_t head_dim)
      : TokenRows(tagged(first, ElementTypeOf<std::remove_cv_t<T>>::value, token_count, head_count,
                         head_dim)) {}
  template <class T, std::size_t N>
  constexpr TokenRows(std::span<T, N> buffer, std::size_t token_count, std::size_t head_count,
                      std::size_t head_dim)
      : TokenRows(buffer.data(), token_count, head_count, head_dim) {
    extent = buffer.size();
  }

  // Packed rows behind an untyped pointer.
  static constexpr TokenRows tagged(const void* first, ElementType element, std::size_t token_count,
                                    std::size_t head_count, std::size_t head_dim) {
    TokenRows rows;
    rows.data = first;
    rows.type = element;
    rows.tokens = token_count;
    rows.heads = head_count;
    rows.dim = head_dim;
    rows.token_stride = head_count * head_dim;
    rows.head_stride = head_dim;
    return rows;
  }
  // The same elements at other distances.
  [[nodiscard]] constexpr TokenRows strides(std::size_t token, std::size_t head,
                                            std::size_t channel = 1) const {
    TokenRows rows = *this;
    rows.token_stride = token;
    rows.head_stride = head;
    rows.channel_stride = channel;
    return rows;
  }
  // Tokens [first, first + n).
  [[nodiscard]] TokenRows part(std::size_t first, std::size_t n) const {
    TokenRows rows = *this;
    const std::size_t skipped = first * token_stride;
    if (data != nullptr)
      rows.data = static_cast<const unsigned char*>(data) + skipped * element_bytes();
    rows.tokens = n;
    if (extent != kNoExtent) rows.extent = extent - lower(skipped, extent);
    return rows;
  }

  [[nodiscard]] constexpr std::size_t element_bytes() const {
    return type == ElementType::kFloat ? 4 : 2;
  }

  // kInvalid: null data with tokens; kRange: the strides lead beyond `extent`.
  constexpr Status check() const {
    if (tokens == 0) return Status::kOk;
    if (data == nullptr || heads == 0 || dim == 0) return Status::kInvalid;
    std::size_t last = 0;
    if (!add_product(last, tokens - 1, token_stride) ||
        !add_product(last, heads - 1, head_stride) || !add_product(last, dim - 1, channel_stride)) {
      return Status::kRange;
    }
    return extent == kNoExtent || last < extent ? Status::kOk : Status::kRange;
  }

  // One head vector where it lies, or null: other elements than floats, channels apart from each
  // other, or an address that is not one of a float.
  [[nodiscard]] const float* floats(std::size_t token, std::size_t head) const {
    if (type != ElementType::kFloat || channel_stride != 1 ||
        reinterpret_cast<std::uintptr_t>(data) % alignof(float) != 0) {
      return nullptr;
    }
    return static_cast<const float*>(data) + token * token_stride + head * head_stride;
  }
  // Copies one head vector to out[dim], exactly.
  void read(std::size_t token, std::size_t head, float* out) const {
    const auto* first = static_cast<const unsigned char*>(data) +
                        (token * token_stride + head * head_stride) * element_bytes();
    if (type == ElementType::kFloat) {
      if (channel_stride == 1) {
        std::memcpy(out, first, dim * sizeof(float));
      } else {
        for (std::size_t c = 0; c < dim; ++c)
          std::memcpy(out + c, first + c * channel_stride * 4, 4);
      }
      return;
    }
    for (std::size_t c = 0; c < dim; ++c) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, first + c * channel_stride * 2, 2);
      out[c] = type == ElementType::kHalf ? to_float(Half{bits}) : to_float(BFloat16{bits});
    }
  }

 private:
  static constexpr std::size_t lower(std::size_t a, std::size_t b) { return a < b ? a : b; }
  static constexpr bool add_product(std::size_t& sum, std::size_t a, std::size_t b) {
    if (a != 0 && b > (kNoExtent - sum) / a) return false;
    sum += a * b;
    return true;
  }
};

// What a BitAllocator may look at. Fields a caller does not know keep their defaults.
struct TokenInfo {
  std::uint32_t layer = 0;
  std::uint32_t head = 0;
  std::uint32_t position = 0;
  std::uint32_t modality = 0;
  std::uint32_t expert = 0;
  float importance = 0.0f;  // attention mass received
  float entropy = 0.0f;     // nats, of the next-token distribution
  float rarity = 0.0f;      // -ln relative frequency
  float variance = 0.0f;    // of the attention weights
  float confidence = 0.0f;  // largest next-token probability
};

}  // namespace kvpleat::inline KVPLEAT_ISA
