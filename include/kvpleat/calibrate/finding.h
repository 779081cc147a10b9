// Finding: one thing that a check found wrong, where, how much, and what to do about it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/role.h"

namespace kvpleat::inline KVPLEAT_ISA {

enum class Check : std::uint8_t {
  kAlignment,
  kTableOverflow,
  kIndexWidth,
  kThresholdDrift,
  kDeadHeads,
};
inline constexpr int kChecks = 5;

constexpr const char* to_string(Check check) noexcept {
  switch (check) {
    case Check::kAlignment:
      return "memory_alignment";
    case Check::kTableOverflow:
      return "table_overflow";
    case Check::kIndexWidth:
      return "index_width";
    case Check::kThresholdDrift:
      return "threshold_drift";
    case Check::kDeadHeads:
      return "dead_heads";
  }
  return "unknown";
}

inline constexpr std::uint32_t kNowhere = 0xffffffffu;

struct Finding {
  Check check = Check::kAlignment;
  Role side = Role::kKey;
  bool both_sides = true;          // it is not about one side
  std::uint32_t layer = kNowhere;  // kNowhere: it is not about one layer (head, page)
  std::uint32_t head = kNowhere;
  std::uint32_t page = kNowhere;  // ordinal of the block of 64 tokens in the head's stream
  double value = 0.0;             // what was measured
  double limit = 0.0;             // what it should have kept to
  const char* what = "";          // static texts
  const char* fix = "";
};

// Findings in the caller's memory. More than fit are counted and dropped.
class Findings {
 public:
  Findings(Finding* list, std::size_t capacity) noexcept : list_(list), capacity_(capacity) {}

  void add(const Finding& finding) noexcept {
    if (count_ < capacity_) list_[count_] = finding;
    ++count_;
  }
  // All that were added; the first kept() of them are there.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t kept() const noexcept {
    return count_ < capacity_ ? count_ : capacity_;
  }
  [[nodiscard]] const Finding& operator[](std::size_t i) const noexcept { return list_[i]; }

 private:
  Finding* list_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
