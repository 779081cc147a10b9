// MemoryReport: every byte a cache holds, by part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct MemoryReport {
  std::uint64_t values = 0;     // key and value elements stored
  std::size_t codes = 0;        // codes of used slots
  std::size_t side = 0;         // scales, zero points of used slots
  std::size_t outliers = 0;     // inline slots and counts of used slots
  std::size_t shared = 0;       // side data over the heads of a layer, used slots
  std::size_t spill = 0;        // outliers outside blocks
  std::size_t raw = 0;          // sinks and residual at their full width
  std::size_t open_groups = 0;  // rows waiting for their seal
  std::size_t maps = 0;         // token maps, block tables, streams, shape
  std::size_t profile = 0;      // calibrated data and format views
  std::size_t slack = 0;  // unused slots of open blocks, ends of slabs and pages, room in buffers

  [[nodiscard]] constexpr std::size_t total() const noexcept {
    return codes + side + outliers + shared + spill + raw + open_groups + maps + profile + slack;
  }
  // All bytes over all values; 0 for an empty cache.
  [[nodiscard]] constexpr double bits_per_element() const noexcept {
    return values == 0 ? 0.0 : 8.0 * static_cast<double>(total()) / static_cast<double>(values);
  }
  // Against 16 bits per element.
  [[nodiscard]] constexpr double ratio_to_half() const noexcept {
    return values == 0 ? 0.0 : 16.0 / bits_per_element();
  }
  friend constexpr bool operator==(const MemoryReport& a, const MemoryReport& b) = default;
};

// One line of text without a newline, cut to what fits and always terminated:
// "bytes=1234 bits/element=4.530 codes=...".
struct MemoryText {
  char text[320] = {};
  [[nodiscard]] const char* c_str() const noexcept { return text; }
};

namespace report {

// Appends text and numbers to a fixed buffer.
class Line {
 public:
  constexpr explicit Line(MemoryText& out) noexcept : out_(out) {}
  constexpr Line& word(const char* text) noexcept {
    for (; *text != 0; ++text) put(*text);
    return *this;
  }
  constexpr Line& number(std::uint64_t value) noexcept {
    char digits[20] = {};
    int n = 0;
    do digits[n++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0) put(digits[--n]);
    return *this;
  }
  // Three decimals.
  constexpr Line& decimal(double value) noexcept {
    const auto thousandths = static_cast<std::uint64_t>(value * 1000.0 + 0.5);
    number(thousandths / 1000).word(".");
    const auto rest = thousandths % 1000;
    put(static_cast<char>('0' + rest / 100));
    put(static_cast<char>('0' + rest / 10 % 10));
    put(static_cast<char>('0' + rest % 10));
    return *this;
  }

 private:
  constexpr void put(char c) noexcept {
    if (size_ + 1 < sizeof out_.text) out_.text[size_++] = c;
  }
  MemoryText& out_;
  std::size_t size_ = 0;
};

}  // namespace report

constexpr MemoryText to_string(const MemoryReport& memory) noexcept {
  MemoryText out;
  report::Line line(out);
  line.word("bytes=")
      .number(memory.total())
      .word(" bits/element=")
      .decimal(memory.bits_per_element());
  line.word(" codes=").number(memory.codes).word(" side=").number(memory.side);
  line.word(" outliers=").number(memory.outliers).word(" shared=").number(memory.shared);
  line.word(" spill=").number(memory.spill).word(" raw=").number(memory.raw);
  line.word(" open_groups=").number(memory.open_groups).word(" maps=").number(memory.maps);
  line.word(" profile=").number(memory.profile).word(" slack=").number(memory.slack);
  return out;
}

}  // namespace kvpleat::inline KVPLEAT_ISA
