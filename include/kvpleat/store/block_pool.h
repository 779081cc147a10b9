// BlockPool: blocks of one size, counted references, cut from slabs; optionally the spill runs that
// belong to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/prefetch.h"
#include "kvpleat/core/status.h"
#include "kvpleat/store/array.h"
#include "kvpleat/store/memory_source.h"
#include "kvpleat/store/spill_store.h"

namespace kvpleat::inline KVPLEAT_ISA {

inline constexpr std::uint32_t kNoBlock = 0xffffffffu;

// A slab is one allocation: a header, one word per block (references, or the next free stretch),
// one spill run per block if the pool spills, then the blocks at a pitch of a multiple of 64.
// Blocks are promised and given back in stretches of `stretch` neighbours, so that the blocks of
// one stream lie in a row: acquire takes a stretch and its first block, extend the next block of a
// stretch that is begun. A stretch is free when all its blocks are, a slab exists while one of its
// stretches is live or reserved, so memory held is a function of what is stored. Blocks come
// zeroed. Threads: reserve, acquire, extend, share, release lock once per call; data() does not
// lock: a block's memory never moves, and the slab table is allocated once.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() {
    for (std::uint32_t i = 0; i < slab_count_; ++i) release_slab(i);
    if (slabs_ != nullptr)
      memory_->release(memory_->context, slabs_, slab_count_ * sizeof(*slabs_));
  }

  // block_bytes > 0; limit: most stretches alive at once; spills: blocks own runs in spill().
  // slab_bytes: of the blocks of a slab, at most, where that holds a stretch; 0: a slab is one
  // stretch. kRange: more than 2^31 blocks.
  Status open(const MemorySource* memory, std::size_t block_bytes, std::uint64_t limit,
              std::size_t slab_bytes, bool spills, std::uint32_t stretch = 1) noexcept {
    if (limit >= 0x80000000u / stretch) return Status::kRange;
    memory_ = memory;
    set_layout(block_bytes, static_cast<std::uint32_t>(limit), slab_bytes, spills, stretch);
    const std::uint32_t slabs = ceil_div(limit_, per_slab_);
    if (slabs == 0) return Status::kOk;
    slabs_ = static_cast<Slab**>(memory->allocate(memory->context, slabs * sizeof(*slabs_)));
    if (slabs_ == nullptr) return Status::kNoMemory;
    slab_count_ = slabs;
    for (std::uint32_t i = 0; i < slab_count_; ++i) slabs_[i] = nullptr;
    return Status::kOk;
  }
  [[nodiscard]] SpillStore& spill() noexcept { return spill_; }
  [[nodiscard]] const SpillStore& spill() const noexcept { return spill_; }

  // Promises n later calls of acquire, a stretch each. kNoMemory, kCapacity: nothing has changed.
  Status reserve(std::uint32_t n) noexcept {
    if (n == 0) return Status::kOk;
    const std::lock_guard lock(mutex_);
    if (limit_ - live_ - reserved_ < n) return Status::kCapacity;
    reserved_ += n;
    while (free_ < reserved_) {
      while (slabs_[missing_] != nullptr) ++missing_;
      if (make_slab(missing_)) continue;
      reserved_ -= n;
      trim();
      return Status::kNoMemory;
    }
    return Status::kOk;
  }
  // Takes back a promise.
  void cancel(std::uint32_t n) noexcept {
    if (n == 0) return;
    const std::lock_guard lock(mutex_);
    reserved_ -= n;
    trim();
  }
  // The first block of a stretch, zeroed, with one reference. Only after reserve.
  [[nodiscard]] std::uint32_t acquire() noexcept {
    std::uint32_t id = kNoBlock;
    {
      const std::lock_guard lock(mutex_);
      KVPLEAT_ASSERT(reserved_ > 0);
      while (slabs_[hint_] == nullptr || slabs_[hint_]->first_free == kNoBlock) ++hint_;
      Slab& slab = *slabs_[hint_];
      const std::uint32_t at = slab.first_free;
      slab.first_free = words(slab)[at];
      if (slab.live++ == 0) --empty_;
      ++live_;
      --free_;
      --reserved_;
      id = hint_ * per_slab_ * stretch_ + at;
      begin(id);
    }
    std::memset(data(id), 0, block_bytes_);
    return id;
  }
  // How many blocks extend can give after block id, which the caller holds: the rest of its
  // stretch, none if the block is shared (another owner may extend it, too).
  [[nodiscard]] std::uint32_t room_after(std::uint32_t id) const noexcept {
    if (stretch_ == 1) return 0;
    const std::lock_guard lock(mutex_);
    if (words(slab_of(id))[at_of(id)] > 1) return 0;
    std::uint32_t room = 0;
    for (std::uint32_t k = id % stretch_ + 1; k < stretch_; ++k, ++room) {
      if (words(slab_of(id))[at_of(id) - id % stretch_ + k] > 0) break;
    }
    return room;
  }
  // The block after id, zeroed, with one reference. Only if room_after(id) > 0.
  [[nodiscard]] std::uint32_t extend(std::uint32_t id) noexcept {
    KVPLEAT_ASSERT(room_after(id) > 0);
    {
      const std::lock_guard lock(mutex_);
      begin(id + 1);
    }
    std::memset(data(id + 1), 0, block_bytes_);
    return id + 1;
  }
  void share(std::uint32_t id) noexcept {
    const std::lock_guard lock(mutex_);
    ++words(slab_of(id))[at_of(id)];
  }
  [[nodiscard]] bool shared(std::uint32_t id) const noexcept {
    const std::lock_guard lock(mutex_);
    return words(slab_of(id))[at_of(id)] > 1;
  }
  void release(std::uint32_t id) noexcept {
    SpillRun dropped;
    {
      const std::lock_guard lock(mutex_);
      Slab& slab = slab_of(id);
      const std::uint32_t at = at_of(id);
      if (--words(slab)[at] > 0) return;
      if (spills_) dropped = runs(slab)[at];
      const std::uint32_t first = at - id % stretch_;
      bool is_free = true;
      for (std::uint32_t k = 0; k < stretch_; ++k) is_free = is_free && words(slab)[first + k] == 0;
      if (is_free) drop(slab, id / (per_slab_ * stretch_), first);
    }
    spill_.release(dropped);
  }

  // Reads nothing of the slab: its header is seldom in a cache when attention reads its blocks.
  [[nodiscard]] std::uint8_t* data(std::uint32_t id) noexcept {
    const std::uint32_t slab = id / (per_slab_ * stretch_);
    return reinterpret_cast<std::uint8_t*>(slabs_[slab]) + blocks_at(capacity_of(slab)) +
           at_of(id) * pitch_;
  }
  [[nodiscard]] const std::uint8_t* data(std::uint32_t id) const noexcept {
    return const_cast<BlockPool*>(this)->data(id);
  }
  // Asks for what data(id) will read.
  void prefetch(std::uint32_t id) const noexcept {
    prefetch_line(slabs_ + id / (per_slab_ * stretch_));
  }
  // Asks for what run(id) will read.
  void prefetch_run(std::uint32_t id) const noexcept { prefetch_line(&run(id)); }
  // The outliers of a sealed block. Only if the pool spills.
  [[nodiscard]] const SpillRun& run(std::uint32_t id) const noexcept {
    return runs(slab_of(id))[at_of(id)];
  }
  void set_run(std::uint32_t id, const SpillRun& run) noexcept {
    runs(slab_of(id))[at_of(id)] = run;
  }
  void drop_run(std::uint32_t id) noexcept {
    spill_.release(run(id));
    set_run(id, {});
  }

  // Stretches with a live block.
  [[nodiscard]] std::uint32_t live() const noexcept { return live_; }
  [[nodiscard]] std::size_t block_bytes() const noexcept { return block_bytes_; }
  [[nodiscard]] std::uint32_t stretch() const noexcept { return stretch_; }
  // Memory held: slabs and the slab table (spill not included).
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t total = slab_count_ * sizeof(*slabs_);
    for (std::uint32_t i = 0; i < slab_count_; ++i) {
      if (slabs_[i] != nullptr) total += slab_size(slabs_[i]->capacity);
    }
    return total;
  }
  // What bytes() will say of a pool with `live` stretches that were never released.
  static std::size_t predict(std::size_t block_bytes, std::uint64_t limit, std::size_t slab_bytes,
                             bool spills, std::uint32_t stretch, std::uint64_t live) noexcept {
    BlockPool pool;
    pool.set_layout(block_bytes, static_cast<std::uint32_t>(limit), slab_bytes, spills, stretch);
    std::size_t total = ceil_div(limit, std::uint64_t{pool.per_slab_}) * sizeof(*pool.slabs_);
    for (std::uint64_t first = 0; first < live; first += pool.per_slab_) {
      total += pool.slab_size(
          static_cast<std::uint32_t>(lower_of<std::uint64_t>(pool.per_slab_, limit - first)));
    }
    return total;
  }

 private:
  struct Slab {
    std::uint32_t live;        // stretches
    std::uint32_t capacity;    // the same
    std::uint32_t first_free;  // first block of one
    std::uint32_t padding;
  };

  void set_layout(std::size_t block_bytes, std::uint32_t limit, std::size_t slab_bytes, bool spills,
                  std::uint32_t stretch) noexcept {
    block_bytes_ = block_bytes;
    pitch_ = round_up(block_bytes, kMemoryAlignment);
    stretch_ = stretch;
    limit_ = limit;
    spills_ = spills;
    per_slab_ = lower_of(static_cast<std::uint32_t>(
                             lower_of<std::size_t>(slab_bytes / (pitch_ * stretch), 0x10000u)),
                         limit_);
    per_slab_ = upper_of(per_slab_, 1u);
  }

  static std::uint32_t* words(Slab& slab) noexcept {
    return reinterpret_cast<std::uint32_t*>(&slab + 1);
  }
  [[nodiscard]] SpillRun* runs(Slab& slab) const noexcept {
    return reinterpret_cast<SpillRun*>(words(slab) + slab.capacity * stretch_);
  }
  Slab& slab_of(std::uint32_t id) const noexcept { return *slabs_[id / (per_slab_ * stretch_)]; }
  [[nodiscard]] std::uint32_t at_of(std::uint32_t id) const noexcept {
    return id % (per_slab_ * stretch_);
  }
  void begin(std::uint32_t id) noexcept {
    words(slab_of(id))[at_of(id)] = 1;
    if (spills_) runs(slab_of(id))[at_of(id)] = {};
  }
  // A stretch without a live block, `first` its first.
  void drop(Slab& slab, std::uint32_t at, std::uint32_t first) noexcept {
    words(slab)[first] = slab.first_free;
    slab.first_free = first;
    --slab.live;
    --live_;
    ++free_;
    hint_ = lower_of(hint_, at);
    if (slab.live > 0) return;
    ++empty_;
    if (free_ - slab.capacity >= reserved_) {
      give_back(at);
    } else if (reserved_ == 0) {
      trim();
    }
  }
  // Stretches in slab i: the last may have fewer.
  [[nodiscard]] std::uint32_t capacity_of(std::uint32_t i) const noexcept {
    return lower_of(per_slab_, limit_ - i * per_slab_);
  }
  [[nodiscard]] std::size_t blocks_at(std::uint32_t capacity) const noexcept {
    return round_up(sizeof(Slab) + std::size_t{capacity} * stretch_ *
                                       (sizeof(std::uint32_t) + (spills_ ? sizeof(SpillRun) : 0)),
                    kMemoryAlignment);
  }
  [[nodiscard]] std::size_t slab_size(std::uint32_t capacity) const noexcept {
    return blocks_at(capacity) + std::size_t{capacity} * stretch_ * pitch_;
  }
  bool make_slab(std::uint32_t i) noexcept {
    const std::uint32_t capacity = capacity_of(i);
    void* memory = memory_->allocate(memory_->context, slab_size(capacity));
    if (memory == nullptr) return false;
    Slab* slab = ::new (memory) Slab{0, capacity, 0, 0};
    const std::uint32_t blocks = capacity * stretch_;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const std::uint32_t next = b + stretch_ < blocks ? b + stretch_ : kNoBlock;
      ::new (static_cast<void*>(words(*slab) + b)) std::uint32_t(b % stretch_ == 0 ? next : 0);
    }
    if (spills_) {
      for (std::uint32_t b = 0; b < blocks; ++b)
        ::new (static_cast<void*>(runs(*slab) + b)) SpillRun();
    }
    slabs_[i] = slab;
    ++empty_;
    free_ += capacity;
    hint_ = lower_of(hint_, i);
    return true;
  }
  void release_slab(std::uint32_t i) noexcept {
    if (slabs_[i] == nullptr) return;
    memory_->release(memory_->context, slabs_[i], slab_size(slabs_[i]->capacity));
    slabs_[i] = nullptr;
  }
  // A slab without a live block.
  void give_back(std::uint32_t i) noexcept {
    free_ -= slabs_[i]->capacity;
    --empty_;
    missing_ = lower_of(missing_, i);
    release_slab(i);
  }
  // Gives back the slabs without a live block that no promise needs, the last first. There are none
  // except after a failed or cancelled reservation, or where two layers were written at once.
  void trim() noexcept {
    for (std::uint32_t i = slab_count_; i-- > 0 && empty_ > 0;) {
      if (slabs_[i] == nullptr || slabs_[i]->live > 0) continue;
      if (free_ >= slabs_[i]->capacity && free_ - slabs_[i]->capacity >= reserved_) give_back(i);
    }
  }

  const MemorySource* memory_ = nullptr;
  Slab** slabs_ = nullptr;
  std::size_t block_bytes_ = 0;
  std::size_t pitch_ = 0;
  std::uint32_t stretch_ = 1;  // blocks that are promised together
  std::uint32_t limit_ = 0;    // in stretches, as all counts below
  std::uint32_t per_slab_ = 1;
  std::uint32_t slab_count_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t free_ = 0;
  std::uint32_t reserved_ = 0;
  std::uint32_t hint_ = 0;     // no slab before it has a free block
  std::uint32_t missing_ = 0;  // no slab before it is missing
  std::uint32_t empty_ = 0;    // slabs without a live block
  bool spills_ = false;
  SpillStore spill_;
  mutable std::mutex mutex_;
};

}  // namespace kvpleat::inline KVPLEAT_ISA
