// Stream: the keys or the values of one (layer, KV head) in one lane.
//
// Slots [0, sealed) are coded and final; [sealed, sealed + kept) are coded, left over from a
// truncate inside a seal group; the rest are open rows, floats in coded space, waiting until the
// group is complete. Formats with seal 1 have neither.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvpleat/core/bytes.h"
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/prefetch.h"
#include "kvpleat/core/rows.h"
#include "kvpleat/core/status.h"
#include "kvpleat/simd/codecs.h"
#include "kvpleat/simd/reference.h"
#include "kvpleat/store/array.h"
#include "kvpleat/store/block_pool.h"
#include "kvpleat/store/memory_source.h"

namespace kvpleat::inline KVPLEAT_ISA {

// What a stream works with: the pool of its blocks and, if the format has shared bytes, the blocks
// of its segment.
struct StreamStore {
  BlockPool* blocks = nullptr;
  BlockPool* shared = nullptr;
  const std::uint32_t* shared_ids = nullptr;

  [[nodiscard]] std::uint8_t* shared_data(std::uint32_t block) const noexcept {
    return shared == nullptr ? nullptr : shared->data(shared_ids[block]);
  }
};

template <Format F>
class Stream {
 public:
  static constexpr std::uint32_t kCoded = F::kCoded;
  static constexpr std::uint32_t kBlock = F::kBlockTokens;
  static constexpr std::uint32_t kSeal = F::kSeal;

  explicit Stream(const MemorySource* memory) noexcept
      : memory_(memory), blocks_(memory), spill_(memory), runs_(memory) {}
  Stream(Stream&& other) noexcept
      : memory_(other.memory_),
        blocks_(static_cast<Array<std::uint32_t>&&>(other.blocks_)),
        spill_(static_cast<Array<std::uint8_t>&&>(other.spill_)),
        runs_(static_cast<Array<SpillRun>&&>(other.runs_)),
        open_rows_(other.open_rows_),
        sealed_(other.sealed_),
        kept_(other.kept_),
        open_(other.open_),
        promised_(other.promised_),
        wanted_(other.wanted_),
        stale_(other.stale_) {
    other.open_rows_ = nullptr;
  }
  Stream& operator=(Stream&&) = delete;
  ~Stream() { KVPLEAT_ASSERT(open_rows_ == nullptr && blocks_.size() == 0); }

  [[nodiscard]] std::uint32_t size() const noexcept { return sealed_ + kept_ + open_; }
  [[nodiscard]] std::uint32_t open_rows() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t block_count() const noexcept { return blocks_.size(); }

  // ---- writing: prepare on every stream of the call, then push and finish, or cancel on all of
  // them ----

  // Memory for n more rows. spill_need(i): spill bytes of the i-th of them (only called for
  // spilling formats); of a format that may refuse rows instead: spill_need(admission) asks for the
  // next one (kRange). On failure nothing has changed.
  template <class SpillNeed>
  Status prepare(const StreamStore& store, std::uint32_t n, SpillNeed spill_need) noexcept {
    if (n == 0) return Status::kOk;
    if constexpr (AdmittingFormat<F>) {
      if (!admits(store, n, spill_need)) return Status::kRange;
    }
    const std::uint32_t end = (size() + n) / kSeal * kSeal;  // sealed afterwards
    const std::uint32_t blocks = ceil_div(upper_of(end, sealed_ + kept_), kBlock);
    std::uint32_t fresh = blocks - blocks_.size();
    if (end > sealed_ && sealed_ / kBlock < blocks_.size() &&
        store.blocks->shared(blocks_[sealed_ / kBlock])) {
      ++fresh;  // copy on write
    } else if (fresh > 0 && blocks_.size() > 0) {
      fresh -= lower_of(fresh, store.blocks->room_after(blocks_.back()));
    }
    fresh = ceil_div(fresh, store.blocks->stretch());
    if (const Status status = store.blocks->reserve(fresh); !ok(status)) return status;
    promised_ = fresh;
    wanted_ = blocks;
    Status status = Status::kOk;
    if (blocks > blocks_.capacity() && !blocks_.prepare(std::bit_ceil(upper_of(blocks, 4u)))) {
      status = Status::kNoMemory;
    }
    if constexpr (kSeal > 1) {
      if (ok(status) && open_rows_ == nullptr) {
        open_rows_ = static_cast<float*>(memory_->allocate(memory_->context, kOpenBytes));
        if (open_rows_ == nullptr) status = Status::kNoMemory;
      }
    }
    if constexpr (F::kSpills) {
      if (ok(status)) status = prepare_spill(store, n, spill_need);
    }
    if (!ok(status)) cancel(store);
    return status;
  }
  void cancel(const StreamStore& store) noexcept {
    store.blocks->cancel(promised_);
    promised_ = 0;
    wanted_ = 0;
    blocks_.cancel();
    if constexpr (F::kSpills) {
      for (std::uint32_t i = runs_.size(); i-- > 0;) store.blocks->spill().cancel(runs_[i]);
      release_array(runs_);
      spill_.cancel();
    }
    finish();
  }
  // Rows in coded space, already prepared for. Shared bytes of their slots are written before.
  // Kernels: the set that codes them.
  template <class Kernels = ReferenceKernels>
  void push(const StreamStore& store, const F& format, Rows rows,
            EncodeCounters& counters) noexcept {
    blocks_.commit();
    if constexpr (F::kSpills) spill_.commit();
    take_blocks(store);
    if constexpr (kSeal == 1) {
      for (std::uint32_t done = 0; done < rows.count;) {
        const auto n =
            lower_of(static_cast<std::uint32_t>(rows.count) - done, kBlock - sealed_ % kBlock);
        seal<Kernels>(store, format, rows.part(done, n), counters);
        done += n;
      }
    } else {
      for (std::uint32_t t = 0; t < rows.count; ++t) {
        std::memcpy(open_rows_ + (kept_ + open_) * kCoded, rows[t], kCoded * sizeof(float));
        ++open_;
        if (kept_ + open_ < kSeal) continue;
        if (kept_ > 0) {
          decode_coded<Kernels>(store, format, sealed_, MutableRows{open_rows_, kept_, kCoded});
        }
        kept_ = 0;
        open_ = 0;
        seal<Kernels>(store, format, Rows{open_rows_, kSeal, kCoded}, counters);
      }
    }
  }
  // After the last push of a call.
  void finish() noexcept {
    if constexpr (kSeal > 1) {
      if (open_ == 0 && open_rows_ != nullptr) {
        memory_->release(memory_->context, open_rows_, kOpenBytes);
        open_rows_ = nullptr;
      }
    }
    if constexpr (F::kSpills) {
      if (runs_.capacity() > 0) release_array(runs_);
      next_run_ = 0;
    }
  }

  // Keeps the first n slots, which read as before. Cannot fail.
  void truncate(const StreamStore& store, std::uint32_t n) noexcept {
    if (n >= sealed_ + kept_) {
      open_ = n - sealed_ - kept_;
      finish();
      return;
    }
    open_ = 0;
    const std::uint32_t coded = sealed_ + kept_;
    const bool last_was_open = sealed_ % kBlock != 0;
    const std::uint32_t keep = ceil_div(n, kBlock);
    const std::uint32_t blocks = ceil_div(coded, kBlock);
    kept_ = n % kSeal;
    sealed_ = n - kept_;
    if constexpr (F::kSpills) {  // the last block kept is open (again): its spill returns to the
                                 // buffer, cut; a reordered one whole, to be cut with the block
      if (n % kBlock != 0) {
        const std::uint32_t id = blocks_[keep - 1];
        const bool was_open = keep == blocks && last_was_open;
        const SpillRun run = was_open ? SpillRun{} : store.blocks->run(id);
        std::uint32_t cut = 0;
        if constexpr (ReorderedSpill<F>) {
          cut = was_open ? spill_.size() : run.bytes;
        } else {
          cut = F::spill_bytes(store.blocks->data(id), n % kBlock);
        }
        if (!was_open) {
          if (cut > 0) std::memcpy(spill_.data(), store.blocks->spill().data(run), cut);
          if (!store.blocks->shared(id)) store.blocks->drop_run(id);
        }
        spill_.resize_raw(cut);
      } else {
        spill_.resize_raw(0);
      }
    }
    while (blocks_.size() > keep) {
      store.blocks->release(blocks_.back());
      blocks_.pop();
    }
    // A shared block keeps its bytes and its run: what lies behind the cut is erased before the
    // next write.
    stale_ = n % kBlock != 0 && (stale_ || store.blocks->shared(blocks_[keep - 1]));
    if (n % kBlock != 0 && !stale_) {
      erase_behind(store.blocks->data(blocks_[keep - 1]), n % kBlock,
                   lower_of(kBlock, coded - (keep - 1) * kBlock));
    }
    finish();
  }
  void clear(const StreamStore& store) noexcept {
    truncate(store, 0);
    if constexpr (F::kSpills) spill_.resize_raw(0);
  }

  // ---- reading ----

  // Slots [slot, slot + n) as runs of blocks and, after them, open rows. runs: room for n / 64 + 2.
  // Returns the runs; rows get what is open.
  std::uint32_t pieces(const StreamStore& store, std::uint32_t slot, std::uint32_t n,
                       BlockRun* runs, Rows& rows) const noexcept {
    const std::uint32_t coded = sealed_ + kept_;
    std::uint32_t count = 0;
    const std::uint32_t end = slot + n;
    while (slot < end && slot < coded) {
      const std::uint32_t block = slot / kBlock;
      const std::uint32_t take = lower_of(lower_of(end, coded) - slot, kBlock - slot % kBlock);
      BlockRun& run = runs[count++];
      locate(store, block, run.bytes);
      run.slot = slot % kBlock;
      run.count = take;
      slot += take;
    }
    // Tables are small, but seldom read, so that they lie in memory: what the next call will ask of
    // them is asked for now.
    const std::uint32_t after = slot / kBlock;
    if (count > 0 && after + count < blocks_.size()) {
      store.blocks->prefetch(blocks_[after]);
      store.blocks->prefetch(blocks_[after + count]);
      if constexpr (F::kSpills) {
        store.blocks->prefetch_run(blocks_[after]);
        store.blocks->prefetch_run(blocks_[after + count - 1]);
      }
      prefetch_line(blocks_.data() + lower_of(after + 16, blocks_.size() - 1));
    }
    rows = {};
    if (slot < end) rows = {open_rows_ + (slot - sealed_) * kCoded, end - slot, kCoded};
    return count;
  }
  // Rows of slots [slot, slot + rows.count) in coded space.
  template <class Kernels = ReferenceKernels>
  void decode(const StreamStore& store, const F& format, std::uint32_t slot,
              MutableRows rows) const noexcept {
    const std::uint32_t coded = sealed_ + kept_;
    std::uint32_t done = 0;
    if (slot < coded) {
      done = lower_of(static_cast<std::uint32_t>(rows.count), coded - slot);
      decode_coded<Kernels>(store, format, slot, MutableRows{rows.data, done, rows.stride});
    }
    for (; done < rows.count; ++done) {
      std::memcpy(rows[done], open_rows_ + (slot + done - sealed_) * kCoded,
                  kCoded * sizeof(float));
    }
  }
  [[nodiscard]] BlockBytes block_bytes(const StreamStore& store,
                                       std::uint32_t block) const noexcept {
    BlockBytes bytes;
    locate(store, block, bytes);
    return bytes;
  }

  // Memory held by the stream itself, blocks and sealed spill runs not included.
  [[nodiscard]] std::size_t table_bytes() const noexcept { return blocks_.bytes() + runs_.bytes(); }
  [[nodiscard]] std::size_t open_bytes() const noexcept {
    return open_rows_ == nullptr ? 0 : kOpenBytes;
  }
  // Outliers of the open block, and the buffer they lie in.
  [[nodiscard]] std::size_t open_spill() const noexcept { return spill_.size(); }
  [[nodiscard]] std::size_t open_spill_bytes() const noexcept { return spill_.bytes(); }
  // table_bytes of a stream of n tokens that was never truncated.
  static std::size_t predict_table_bytes(std::uint32_t tokens) noexcept {
    const std::uint32_t blocks = ceil_div(tokens / kSeal * kSeal, kBlock);
    return blocks == 0 ? 0 : std::bit_ceil(upper_of(blocks, 4u)) * sizeof(std::uint32_t);
  }
  static std::size_t predict_open_bytes(std::uint32_t tokens) noexcept {
    return tokens % kSeal == 0 ? 0 : kOpenBytes;
  }

 private:
  // Member by member where it is to lie: a copy of the whole would wait for the stores of its parts
  // (16 ns per block on Zen 4).
  void locate(const StreamStore& store, std::uint32_t block, BlockBytes& bytes) const noexcept {
    // Read before anything is written: what is written might change it, a compiler thinks.
    const std::uint32_t id = blocks_[block];
    const std::uint8_t* at = store.blocks->data(id);
    const std::uint8_t* shared = nullptr;
    const std::uint8_t* spill = nullptr;
    std::uint32_t spill_bytes = 0;
    if constexpr (F::kSharedBytes > 0) shared = store.shared_data(block);
    if constexpr (F::kSpills) {
      if (sealed_ % kBlock != 0 && block == sealed_ / kBlock) {
        spill = spill_.data();
        spill_bytes = spill_.size();
      } else {
        const SpillRun& run = store.blocks->run(id);
        spill = static_cast<const BlockPool*>(store.blocks)->spill().data(run);
        spill_bytes = run.bytes;
      }
    }
    bytes.block = at;
    bytes.shared = shared;
    bytes.spill = spill;
    bytes.spill_bytes = spill_bytes;
  }
  static constexpr std::size_t kOpenBytes =
      static_cast<std::size_t>(kSeal) * kCoded * sizeof(float);

  template <class T>
  static void release_array(Array<T>& array) noexcept {
    const MemorySource* memory = array.memory();
    array.~Array<T>();
    ::new (static_cast<void*>(&array)) Array<T>(memory);
  }
  // Runs for the blocks that this call will complete, and room in the buffer of the open block.
  template <class SpillNeed>
  Status prepare_spill(const StreamStore& store, std::uint32_t n, SpillNeed spill_need) noexcept {
    const std::uint32_t completed = (sealed_ + n) / kBlock - sealed_ / kBlock;
    if (completed > 0 && !runs_.reserve(completed)) return Status::kNoMemory;
    std::uint32_t bytes = spill_.size();
    if constexpr (ReorderedSpill<F>) {  // not cut yet
      if (stale_) bytes = F::spill_bytes(block_bytes(store, sealed_ / kBlock), sealed_ % kBlock);
    }
    std::uint32_t most = bytes;
    for (std::uint32_t i = 0; i < n; ++i) {
      bytes += spill_need(i);
      most = upper_of(most, bytes);
      if ((sealed_ + i + 1) % kBlock != 0) continue;
      SpillRun run;
      if (const Status status = store.blocks->spill().acquire(bytes, run); !ok(status))
        return status;
      runs_.push(run);
      bytes = 0;
    }
    return most <= spill_.capacity() || spill_.prepare(round_up(most, 64u)) ? Status::kOk
                                                                            : Status::kNoMemory;
  }
  // Erases slots [used, end) of the last block and what they have in its spill.
  void erase_behind(std::uint8_t* block, std::uint32_t used, std::uint32_t end) noexcept {
    if constexpr (ReorderedSpill<F>)
      spill_.resize_raw(F::cut_spill(block, spill_.data(), spill_.size(), used));
    F::erase(block, used, end - used);
  }
  // Whether the format takes the next n rows after those that are stored.
  template <class Admit>
  bool admits(const StreamStore& store, std::uint32_t n, Admit& admit) const noexcept {
    const std::uint32_t slot = sealed_ % kBlock;
    const std::uint32_t blocks = ceil_div(sealed_, kBlock);
    typename F::Admission state =
        F::admission(blocks == 0 ? nullptr : store.blocks->data(blocks_[blocks - 1]), slot);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (!admit(state)) return false;
    }
    return true;
  }
  // All blocks of a call at once, before other heads take theirs: they lie in a row.
  void take_blocks(const StreamStore& store) noexcept {
    if (blocks_.size() >= wanted_) return;
    // The last one first, which will be filled up: it may need a copy.
    if (sealed_ / kBlock < blocks_.size()) writable(store, sealed_ / kBlock);
    while (blocks_.size() < wanted_) {
      const bool extends = blocks_.size() > 0 && store.blocks->room_after(blocks_.back()) > 0;
      blocks_.push(extends ? store.blocks->extend(blocks_.back()) : store.blocks->acquire());
      promised_ -= extends ? 0u : 1u;
    }
  }
  std::uint8_t* writable(const StreamStore& store, std::uint32_t block) noexcept {
    if (store.blocks->shared(blocks_[block])) {
      const std::uint32_t copy = store.blocks->acquire();
      --promised_;
      std::memcpy(store.blocks->data(copy), store.blocks->data(blocks_[block]), F::kBlockBytes);
      store.blocks->release(blocks_[block]);
      blocks_[block] = copy;
    }
    if (stale_) {
      erase_behind(store.blocks->data(blocks_[block]), sealed_ + kept_ - block * kBlock, kBlock);
      if constexpr (F::kSpills) store.blocks->drop_run(blocks_[block]);
      stale_ = false;
    }
    return store.blocks->data(blocks_[block]);
  }
  // Encodes rows, a multiple of kSeal that stays in one block, at slot `sealed_`.
  template <class Kernels>
  void seal(const StreamStore& store, const F& format, Rows rows,
            EncodeCounters& counters) noexcept {
    const std::uint32_t block = sealed_ / kBlock;
    std::uint8_t* bytes = writable(store, block);
    SpillWriter spill{spill_.data(), spill_.size(), spill_.capacity()};
    const std::uint8_t* shared = F::kSharedBytes > 0 ? store.shared_data(block) : nullptr;
    if constexpr (ChainedFormat<F>) {
      BlockBytes previous{};
      if (sealed_ % kBlock == 0 && block > 0) previous = block_bytes(store, block - 1);
      format.encode(rows, sealed_ % kBlock, shared, bytes, spill, counters, previous);
    } else {
      Coder<Kernels>::encode(format, rows, sealed_ % kBlock, shared, bytes, spill, counters);
    }
    sealed_ += static_cast<std::uint32_t>(rows.count);
    if constexpr (F::kSpills) {
      spill_.resize_raw(spill.size);
      if (sealed_ % kBlock == 0) {
        const SpillRun run = runs_[next_run_++];
        if (run.bytes > 0) std::memcpy(store.blocks->spill().data(run), spill_.data(), run.bytes);
        store.blocks->set_run(blocks_[block], run);
        spill_.resize_raw(0);
      }
    }
  }
  template <class Kernels>
  void decode_coded(const StreamStore& store, const F& format, std::uint32_t slot,
                    MutableRows rows) const noexcept {
    for (std::uint32_t done = 0; done < rows.count;) {
      const std::uint32_t at = slot + done;
      const auto n = lower_of(static_cast<std::uint32_t>(rows.count) - done, kBlock - at % kBlock);
      Coder<Kernels>::decode(format, block_bytes(store, at / kBlock), at % kBlock,
                             rows.part(done, n));
      done += n;
    }
  }

  const MemorySource* memory_ = nullptr;
  Array<std::uint32_t> blocks_;
  Array<std::uint8_t> spill_;  // of the open block
  Array<SpillRun> runs_;       // prepared for the blocks that the current call completes
  float* open_rows_ = nullptr;
  std::uint32_t sealed_ = 0;
  std::uint32_t kept_ = 0;
  std::uint32_t open_ = 0;
  std::uint32_t promised_ = 0;
  std::uint32_t wanted_ = 0;    // blocks, when the current call is done
  std::uint32_t next_run_ = 0;  // of runs_
  bool stale_ = false;          // the last block (and a reordered spill) holds what lies behind the
                                // last coded slot
};

}  // namespace kvpleat::inline KVPLEAT_ISA
