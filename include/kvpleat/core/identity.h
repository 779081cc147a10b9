// Identity: compile-time text "field=value;field=value" that names every policy of a format.
// Files hold it in clear; comparing two of them names the first field that differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvpleat/core/config.h"
#include "kvpleat/core/status.h"

namespace kvpleat::inline KVPLEAT_ISA {

// N characters without a terminator of their own; the array ends in zero.
template <std::size_t N>
struct Text {
  char characters[N + 1] = {};

  constexpr Text() = default;
  constexpr Text(const char (&text)[N + 1]) {
    for (std::size_t i = 0; i != N; ++i) characters[i] = text[i];  // N may be 0: no "<" for nvcc
  }
  constexpr operator std::string_view() const { return {characters, N}; }
  [[nodiscard]] constexpr std::string_view view() const { return {characters, N}; }
  [[nodiscard]] constexpr const char* c_str() const { return characters; }
};
template <std::size_t N>
Text(const char (&)[N]) -> Text<N - 1>;

template <std::size_t A, std::size_t B>
constexpr Text<A + B> operator+(const Text<A>& a, const Text<B>& b) {
  Text<A + B> joined;
  for (std::size_t i = 0; i != A; ++i) joined.characters[i] = a.characters[i];
  for (std::size_t i = 0; i != B; ++i) joined.characters[A + i] = b.characters[i];
  return joined;
}
template <std::size_t A, std::size_t B>
constexpr Text<A + B - 1> operator+(const Text<A>& a, const char (&b)[B]) {
  return a + Text<B - 1>(b);
}

// A decimal number as Text.
template <std::uint64_t Value>
constexpr auto number_text() {
  constexpr std::size_t digits = [] {
    std::size_t count = 1;
    for (std::uint64_t v = Value; v >= 10; v /= 10) ++count;
    return count;
  }();
  Text<digits> text;
  std::uint64_t v = Value;
  for (std::size_t i = digits; i-- > 0; v /= 10)
    text.characters[i] = static_cast<char>('0' + v % 10);
  return text;
}

// 64-bit FNV-1a of a text: a short name for tables and file headers, not a proof of equality.
constexpr std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

// {kOk, ""} when equal, else {kMismatch, name of the first field that differs}.
constexpr Error compare_identity(std::string_view wanted, std::string_view found) {
  const auto next_field = [](std::string_view& text) {
    const std::string_view field = text.substr(0, text.find(';'));
    text.remove_prefix(field.size() < text.size() ? field.size() + 1 : text.size());
    return field;
  };
  while (!wanted.empty() || !found.empty()) {
    const std::string_view a = next_field(wanted);
    const std::string_view b = next_field(found);
    if (a != b) {
      const std::string_view field = a.empty() ? b : a;
      return Error(Status::kMismatch, field.substr(0, field.find('=')));
    }
  }
  return {};
}

}  // namespace kvpleat::inline KVPLEAT_ISA
