// SpillStore: outliers outside blocks, in runs. A run is contiguous, belongs to one block and dies
// with it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

inline constexpr std::uint32_t kNoPage = 0xffffffffu;

struct SpillRun {
  std::uint32_t page = kNoPage;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// Pages of one size; runs are cut from the open page in order and never straddle pages. A page
// whose runs are all gone is given back. `limit` bounds the bytes of live runs; pages and their
// ends are slack on top of it. Threads: acquire and release lock once per call; data() does not
// lock: pages and the parts of the page table (8, 16, 32 ... pages) never move. A part exists while
// one of its pages does.
class SpillStore {
 public:
  SpillStore() = default;
  SpillStore(const SpillStore&) = delete;
  SpillStore& operator=(const SpillStore&) = delete;
  ~SpillStore() {
    for (std::uint32_t p = 0; p < kParts; ++p) {
      for (std::uint32_t i = 0; parts_[p] != nullptr && i < part_pages(p); ++i)
        release_page(first_page(p) + i);
    }
  }

  // page_bytes: at least the largest run.
  void open(const MemorySource* memory, std::size_t page_bytes, std::uint64_t limit) noexcept {
    memory_ = memory;
    page_bytes_ = page_bytes;
    limit_ = limit;
  }

  // kOutOfSpill: beyond the limit; kNoMemory: no page. Nothing changes then. Zero bytes: an empty
  // run.
  Status acquire(std::uint32_t bytes, SpillRun& run) noexcept {
    run = {};
    if (bytes == 0) return Status::kOk;
    KVPLEAT_ASSERT(bytes <= page_bytes_);
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > limit_) return Status::kOutOfSpill;
    if (open_ == kNoPage || page_bytes_ - page(open_).used < bytes) {
      const std::uint32_t fresh = make_page();
      if (fresh == kNoPage) return Status::kNoMemory;
      page(fresh).before = open_;
      open_ = fresh;
    }
    Page& from = page(open_);
    run = {open_, from.used, bytes};
    from.used = lower_of(round_up(from.used + bytes, 8u), static_cast<std::uint32_t>(page_bytes_));
    ++from.runs;
    used_ += bytes;
    return Status::kOk;
  }
  void release(const SpillRun& run) noexcept {
    if (run.page == kNoPage) return;
    const std::lock_guard lock(mutex_);
    used_ -= run.bytes;
    if (--page(run.page).runs > 0) return;
    release_page(run.page);
    if (open_ == run.page) open_ = kNoPage;
  }

  // Takes back the latest acquire as if it had not been. (With other writers in between: as release.)
  void cancel(const SpillRun& run) noexcept {
    if (run.page == kNoPage) return;
    const std::lock_guard lock(mutex_);
    Page& from = page(run.page);
    used_ -= run.bytes;
    if (from.used ==
        lower_of(round_up(run.offset + run.bytes, 8u), static_cast<std::uint32_t>(page_bytes_))) {
      from.used = run.offset;
    }
    if (--from.runs > 0) return;
    const std::uint32_t before = from.before;
    release_page(run.page);
    if (open_ == run.page) open_ = before != kNoPage && exists(before) ? before : kNoPage;
  }

  [[nodiscard]] std::uint8_t* data(const SpillRun& run) noexcept {
    return run.page == kNoPage ? nullptr : page(run.page).memory + run.offset;
  }
  [[nodiscard]] const std::uint8_t* data(const SpillRun& run) const noexcept {
    return run.page == kNoPage ? nullptr : page(run.page).memory + run.offset;
  }
  // Bytes of live runs.
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  // Memory held: pages and the page table.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t total = 0;
    for (std::uint32_t p = 0; p < kParts; ++p) {
      if (parts_[p] != nullptr) total += part_pages(p) * sizeof(Page) + live_[p] * page_bytes_;
    }
    return total;
  }

 private:
  struct Page {
    std::uint8_t* memory = nullptr;
    std::uint32_t used = 0;
    std::uint32_t runs = 0;
    std::uint32_t before = kNoPage;  // the open page when this one was opened
  };
  static constexpr std::uint32_t kParts = 24;
  static constexpr std::uint32_t part_pages(std::uint32_t part) { return 8u << part; }
  static constexpr std::uint32_t first_page(std::uint32_t part) { return part_pages(part) - 8; }
  static constexpr std::uint32_t part_of(std::uint32_t page) {
    return static_cast<std::uint32_t>(std::bit_width(page / 8 + 1)) - 1;
  }

  [[nodiscard]] Page& page(std::uint32_t id) const noexcept {
    return parts_[part_of(id)][id - first_page(part_of(id))];
  }
  [[nodiscard]] bool exists(std::uint32_t id) const noexcept {
    return parts_[part_of(id)] != nullptr && page(id).memory != nullptr;
  }
  // An empty page in the first free place; kNoPage: no memory, nothing changed.
  std::uint32_t make_page() noexcept {
    std::uint32_t part = 0;
    while (part < kParts && parts_[part] != nullptr && live_[part] == part_pages(part)) ++part;
    if (part == kParts) return kNoPage;
    auto* memory = static_cast<std::uint8_t*>(memory_->allocate(memory_->context, page_bytes_));
    if (memory == nullptr) return kNoPage;
    if (parts_[part] == nullptr) {
      void* table = memory_->allocate(memory_->context, part_pages(part) * sizeof(Page));
      if (table == nullptr) {
        memory_->release(memory_->context, memory, page_bytes_);
        return kNoPage;
      }
      parts_[part] = static_cast<Page*>(table);
      for (std::uint32_t i = 0; i < part_pages(part); ++i)
        ::new (static_cast<void*>(parts_[part] + i)) Page();
    }
    std::uint32_t& at = gap_[part];
    while (parts_[part][at].memory != nullptr) ++at;
    parts_[part][at].memory = memory;
    ++live_[part];
    return first_page(part) + at;
  }
  void release_page(std::uint32_t id) noexcept {
    const std::uint32_t part = part_of(id);
    Page& gone = page(id);
    if (gone.memory == nullptr) return;
    memory_->release(memory_->context, gone.memory, page_bytes_);
    gone = {};
    gap_[part] = lower_of(gap_[part], id - first_page(part));
    if (--live_[part] > 0) return;
    gap_[part] = 0;
    memory_->release(memory_->context, parts_[part], part_pages(part) * sizeof(Page));
    parts_[part] = nullptr;
  }

  const MemorySource* memory_ = nullptr;
  std::size_t page_bytes_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t used_ = 0;
  std::uint32_t open_ = kNoPage;
  std::uint32_t live_[kParts] = {};  // pages of each part
  std::uint32_t gap_[kParts] = {};   // in each part: no page before it is missing
  Page* parts_[kParts] = {};
  std::mutex mutex_;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
