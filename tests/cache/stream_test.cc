#include "kvpleat/cache/stream.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kvpleat/format/formats.h"
#include "support/cache_fixture.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 16;

using JaggedKey = formats::OakenJds16<kDim>;
using JaggedValue = JaggedKey::As<Role::kValue>;

// A stream, its pools and what was pushed into it.
template <class F>
struct Bench {
  MemorySource memory;
  BlockPool blocks;
  BlockPool shared;
  std::vector<std::uint32_t> shared_ids;
  F format;
  Stream<F> stream;
  EncodeCounters counters;
  std::vector<float> rows;  // coded rows that may be pushed, [n][kDim]

  explicit Bench(const MemorySource& source, std::uint32_t stretch = 1)
      : memory(source), stream(&memory) {
    static const float thresholds[4] = {-1.5f, -0.125f, 0.125f, 1.5f};
    BindContext context;
    context.profile = F::kProfileSize == 0 ? nullptr : thresholds;
    format = F::bind(context);
    REQUIRE(ok(blocks.open(&memory, F::kBlockBytes, 20, 0, F::kSpills, stretch)));
    blocks.spill().open(&memory, 4096, 1u << 20);
    if constexpr (F::kSharedBytes > 0) {
      REQUIRE(ok(shared.open(&memory, F::kSharedBytes, 20, 0, false)));
    }
    rows = test::normal(3, 700 * kDim);
  }
  ~Bench() {
    stream.clear(store());
    for (const std::uint32_t id : shared_ids) shared.release(id);
  }
  StreamStore store() {
    return {&blocks, F::kSharedBytes > 0 ? &shared : nullptr, shared_ids.data()};
  }
  Status prepare(std::uint32_t from, std::uint32_t n) {
    if constexpr (F::kSharedBytes > 0) {
      while (shared_ids.size() * 64 < stream.size() + n) {
        REQUIRE(ok(shared.reserve(1)));
        shared_ids.push_back(shared.acquire());
      }
    }
    return stream.prepare(store(), n, [&](std::uint32_t i) {
      if constexpr (F::kSpills) return format.spill_need(&rows[(from + i) * kDim]);
      return 0u;
    });
  }
  // Pushes rows [from, from + n).
  void push(std::uint32_t from, std::uint32_t n) {
    REQUIRE(ok(prepare(from, n)));
    if constexpr (F::kSharedBytes > 0) {
      for (std::uint32_t i = 0; i < n; ++i) {
        typename F::Stat stat;
        format.observe(&rows[(from + i) * kDim], stat);
        const std::uint32_t slot = stream.size() + i;
        F::write_shared(stat, slot % 64, shared.data(shared_ids[slot / 64]));
      }
    }
    stream.push(store(), format, Rows{&rows[from * kDim], n, kDim}, counters);
    stream.finish();
  }
  std::vector<float> read(std::uint32_t n) {
    std::vector<float> out(n * kDim);
    stream.decode(store(), format, 0, MutableRows{out.data(), n, kDim});
    return out;
  }
  // Blocks, spill and open rows.
  std::vector<std::uint8_t> bytes() {
    std::vector<std::uint8_t> all;
    const auto put = [&](const void* data, std::size_t n) {
      const auto* first = static_cast<const std::uint8_t*>(data);
      all.insert(all.end(), first, first + n);
    };
    std::vector<BlockRun> runs(stream.size() / 64 + 2);
    Rows open;
    const std::uint32_t n = stream.pieces(store(), 0, stream.size(), runs.data(), open);
    for (std::uint32_t r = 0; r < n; ++r) {
      put(runs[r].bytes.block, F::kBlockBytes);
      if (runs[r].bytes.spill_bytes > 0) put(runs[r].bytes.spill, runs[r].bytes.spill_bytes);
    }
    for (std::size_t t = 0; t < open.count; ++t) put(open[t], kDim * sizeof(float));
    return all;
  }
};

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

template <class F>
void every_cut(std::uint32_t stretch = 1) {
  CAPTURE(F::kId.view());
  CAPTURE(stretch);
  Bench<F> straight(heap_memory());
  straight.push(0, 200);
  const std::vector<std::uint8_t> wanted = straight.bytes();
  for (std::uint32_t n = 0; n <= 200; ++n) {
    CAPTURE(n);
    test::CountingMemory memory;
    {
      Bench<F> bench(memory.source(), stretch);
      bench.push(0, 130);
      bench.push(130, 70);
      const std::vector<float> before = bench.read(n);
      bench.stream.truncate(bench.store(), n);
      REQUIRE(bench.stream.size() == n);
      CHECK(same(bench.read(n), before));
      if (F::kSpills) CHECK(bench.blocks.live() == (n + 64 * stretch - 1) / (64 * stretch));
      bench.push(n, 200 - n);
      if (n % F::kSeal == 0) CHECK(bench.bytes() == wanted);
    }
    CHECK(memory.bytes() == 0);
    CHECK(memory.clean());
  }
}

// Shares the last block by hand, as a fork would, and writes on.
template <class F>
void copy_on_write(std::uint32_t more, std::uint32_t stretch = 1) {
  CAPTURE(F::kId.view());
  CAPTURE(more);
  CAPTURE(stretch);
  for (const std::uint32_t cut : {100u, 99u, 97u, 96u, 70u, 65u, 64u, 40u}) {
    CAPTURE(cut);
    for (const bool owner_leaves : {false, true}) {
      CAPTURE(owner_leaves);
      test::CountingMemory memory;
      {
        Bench<F> bench(memory.source(), stretch);
        bench.push(0, 140);
        BlockRun runs[4];
        Rows open;
        const std::uint32_t n = bench.stream.pieces(bench.store(), 0, 140, runs, open);
        REQUIRE(n >= 2);
        // Another owner of every block. A unit pool: block ids count up from 0.
        std::vector<std::vector<std::uint8_t>> saved;
        std::vector<std::vector<std::uint8_t>> saved_spill;
        for (std::uint32_t b = 0; b < n; ++b) {
          REQUIRE(bench.blocks.data(b) == runs[b].bytes.block);
          bench.blocks.share(b);
          saved.emplace_back(runs[b].bytes.block, runs[b].bytes.block + F::kBlockBytes);
          const bool sealed = F::kSpills && b < 2;  // the open block's spill is the stream's own
          saved_spill.emplace_back();
          if (sealed)
            saved_spill[b].assign(runs[b].bytes.spill,
                                  runs[b].bytes.spill + runs[b].bytes.spill_bytes);
        }
        const std::vector<float> before = bench.read(cut);
        bench.stream.truncate(bench.store(), cut);
        CHECK(same(bench.read(cut), before));
        if (owner_leaves) {
          for (std::uint32_t b = 0; b < n; ++b) bench.blocks.release(b);
        }
        bench.push(300, more);
        if (!owner_leaves) {
          for (std::uint32_t b = 0; b < n; ++b) {
            CHECK(std::memcmp(bench.blocks.data(b), saved[b].data(), F::kBlockBytes) == 0);
            if constexpr (F::kSpills) {
              if (saved_spill[b].empty()) continue;
              const SpillRun& run = bench.blocks.run(b);
              REQUIRE(run.bytes == saved_spill[b].size());
              CHECK(std::memcmp(bench.blocks.spill().data(run), saved_spill[b].data(), run.bytes) ==
                    0);
            }
            bench.blocks.release(b);
          }
        }
        // The writer's own bytes are those of a stream that never shared.
        Bench<F> alone(heap_memory());
        alone.push(0, 140);
        alone.stream.truncate(alone.store(), cut);
        alone.push(300, more);
        CHECK(bench.bytes() == alone.bytes());
        CHECK(bench.blocks.spill().used() == alone.blocks.spill().used());
      }
      CHECK(memory.bytes() == 0);
      CHECK(memory.clean());
    }
  }
}

}  // namespace

TEST_CASE("truncate at every slot keeps bits; a refill gives the bytes of one push") {
  every_cut<formats::Int4<kDim>>();
  every_cut<formats::Int4Channel<kDim>>();
  every_cut<formats::Int4TopK<kDim>>();
  every_cut<formats::Oaken<kDim>>();
  every_cut<formats::OakenCoo12<kDim>>();
  every_cut<JaggedKey>();
  every_cut<JaggedValue>();
  every_cut<formats::F16<kDim>>();
  every_cut<formats::Renewed8<kDim>>();
  every_cut<formats::Tiered8<kDim>>();
  every_cut<formats::HashSparse<kDim>>();
  every_cut<formats::Int4<kDim>>(2);
  every_cut<formats::Int4Channel<kDim>>(3);
  every_cut<formats::Oaken<kDim>>(2);
  every_cut<JaggedValue>(4);
}

TEST_CASE("copy on write: a sharer's block and spill stay, whoever goes first") {
  for (const std::uint32_t more : {33u, 100u}) {  // 33: does not fill the block that was cut
    copy_on_write<formats::Int4<kDim>>(more);
    copy_on_write<formats::Int4Channel<kDim>>(more);
    copy_on_write<formats::Oaken<kDim>>(more);
    copy_on_write<formats::Renewed8<kDim>>(more);
    copy_on_write<formats::HashSparse<kDim>>(more);
    copy_on_write<JaggedKey>(more);
    copy_on_write<JaggedValue>(more);
    for (const std::uint32_t stretch : {2u, 3u, 4u}) {
      copy_on_write<formats::Int4Channel<kDim>>(more, stretch);
      copy_on_write<formats::Oaken<kDim>>(more, stretch);
      copy_on_write<JaggedKey>(more, stretch);
    }
  }
}

namespace {

// A block that another owner holds is cut twice, then failed upon, before the first write.
template <class F>
void shared_and_cut_again() {
  CAPTURE(F::kId.view());
  test::CountingMemory memory;
  {
    Bench<F> bench(memory.source());
    bench.push(0, 140);
    for (std::uint32_t b = 0; b < 3; ++b) bench.blocks.share(b);
    for (const std::uint32_t cut : {135u, 131u, 100u, 90u, 33u}) {
      CAPTURE(cut);
      const std::vector<float> before = bench.read(cut);
      bench.stream.truncate(bench.store(), cut);
      CHECK(same(bench.read(cut), before));
      REQUIRE(ok(bench.prepare(cut, 70)));
      bench.stream.cancel(bench.store());
      CHECK(same(bench.read(cut), before));
    }
    for (std::uint32_t b = 0; b < 3; ++b) bench.blocks.release(b);
    const std::vector<float> before = bench.read(33);
    bench.push(300, 170);
    Bench<F> alone(heap_memory());
    alone.push(0, 33);
    CHECK(same(alone.read(33), before));
    alone.push(300, 170);
    CHECK(bench.bytes() == alone.bytes());
    CHECK(bench.blocks.spill().used() == alone.blocks.spill().used());
  }
  CHECK(memory.bytes() == 0);
  CHECK(memory.clean());
}

}  // namespace

TEST_CASE("a shared block cut again and again is cut once, at the write") {
  shared_and_cut_again<formats::Oaken<kDim>>();
  shared_and_cut_again<JaggedKey>();
  shared_and_cut_again<JaggedValue>();
}

TEST_CASE("cancel gives everything back") {
  test::CountingMemory memory;
  {
    Bench<formats::Oaken<kDim>> bench(memory.source());
    bench.push(0, 70);
    const auto before = bench.bytes();
    while (bench.shared_ids.size() < 10) {
      REQUIRE(ok(bench.shared.reserve(1)));
      bench.shared_ids.push_back(bench.shared.acquire());
    }
    const std::size_t held = memory.bytes();
    REQUIRE(ok(bench.prepare(70, 500)));
    CHECK(memory.bytes() > held);
    bench.stream.cancel(bench.store());
    CHECK(memory.bytes() == held);
    CHECK(bench.bytes() == before);
    for (std::uint64_t n = 1; n <= 20; ++n) {
      memory.fail_at(n);
      const Status status = bench.prepare(70, 500);
      if (ok(status)) bench.stream.cancel(bench.store());
      CHECK((ok(status) || status == Status::kNoMemory));
      CHECK(memory.bytes() == held);
      CHECK(bench.bytes() == before);
    }
    memory.fail_at(0);
  }
  CHECK(memory.bytes() == 0);
}
