// SpillStore: outliers outside blocks, in runs. A run is contiguous, belongs to one block and dies
// with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/status.h"
#include "kvpleat/store/array.h"
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
// ends are slack on top of it. Thread-safe: layers are written independently.
class SpillStore {
 public:
  SpillStore() = default;
  SpillStore(const SpillStore&) = delete;
  SpillStore& operator=(const SpillStore&) = delete;
  ~SpillStore() {
    for (std::uint32_t i = 0; i < pages_.size(); ++i) release_page(pages_[i]);
  }

  // page_bytes: at least the largest run. False: no memory for the page table.
  [[nodiscard]] bool open(const MemorySource* memory, std::size_t page_bytes,
                          std::uint64_t limit) noexcept {
    memory_ = memory;
    page_bytes_ = page_bytes;
    limit_ = limit;
    ::new (static_cast<void*>(&pages_)) Array<Page>(memory);
    return true;
  }

  // kOutOfSpill: beyond the limit; kNoMemory: no page. Nothing changes then. Zero bytes: an empty
  // run.
  Status acquire(std::uint32_t bytes, SpillRun& run) noexcept {
    run = {};
    if (bytes == 0) return Status::kOk;
    KVPLEAT_ASSERT(bytes <= page_bytes_);
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > limit_) return Status::kOutOfSpill;
    if (open_ == kNoPage || page_bytes_ - pages_[open_].used < bytes) {
      std::uint32_t slot = 0;
      while (slot < pages_.size() && pages_[slot].memory != nullptr) ++slot;
      if (slot == pages_.size() && slot == pages_.capacity() &&
          !pages_.reserve(upper_of(8u, 2 * slot))) {
        return Status::kNoMemory;
      }
      auto* fresh = static_cast<std::uint8_t*>(memory_->allocate(memory_->context, page_bytes_));
      if (fresh == nullptr) return Status::kNoMemory;
      if (slot == pages_.size()) pages_.push();
      pages_[slot] = {fresh, 0, 0};
      open_ = slot;
    }
    Page& page = pages_[open_];
    run = {open_, page.used, bytes};
    page.used = lower_of(round_up(page.used + bytes, 8u), static_cast<std::uint32_t>(page_bytes_));
    ++page.runs;
    used_ += bytes;
    return Status::kOk;
  }
  void release(const SpillRun& run) noexcept {
    if (run.page == kNoPage) return;
    const std::lock_guard lock(mutex_);
    Page& page = pages_[run.page];
    used_ -= run.bytes;
    if (--page.runs > 0) return;
    release_page(page);
    if (open_ == run.page) open_ = kNoPage;
  }

  [[nodiscard]] std::uint8_t* data(const SpillRun& run) noexcept {
    return run.page == kNoPage ? nullptr : page_memory(run.page) + run.offset;
  }
  [[nodiscard]] const std::uint8_t* data(const SpillRun& run) const noexcept {
    return run.page == kNoPage ? nullptr : page_memory(run.page) + run.offset;
  }
  // Bytes of live runs.
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  // Memory held: pages and the page table.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t live = 0;
    for (std::uint32_t i = 0; i < pages_.size(); ++i) live += pages_[i].memory != nullptr;
    return live * page_bytes_ + pages_.bytes();
  }

 private:
  struct Page {
    std::uint8_t* memory = nullptr;
    std::uint32_t used = 0;
    std::uint32_t runs = 0;
  };

  std::uint8_t* page_memory(std::uint32_t page) const noexcept {
    const std::lock_guard lock(mutex_);  // the table may move while another layer is written
    return pages_[page].memory;
  }
  void release_page(Page& page) noexcept {
    if (page.memory != nullptr) memory_->release(memory_->context, page.memory, page_bytes_);
    page = {};
  }

  const MemorySource* memory_ = nullptr;
  std::size_t page_bytes_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t used_ = 0;
  std::uint32_t open_ = kNoPage;
  Array<Page> pages_;
  mutable std::mutex mutex_;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
