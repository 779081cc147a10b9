#include "kvpleat/calibrate/checks.h"

#include <doctest/doctest.h>

#include <new>
#include <set>
#include <string>
#include <vector>

#include "kvpleat/cache/presets.h"
#include "support/generator.h"

using namespace kvpleat;

namespace {

constexpr std::uint32_t kDim = 64;
constexpr std::uint32_t kHeads = 2;
constexpr std::uint32_t kLayers = 2;
using Cache = KvCache<presets::Oaken<kDim>>;

struct List {
  std::vector<Finding> memory = std::vector<Finding>(64);
  Findings findings{memory.data(), memory.size()};
};
CacheShape shape_of(std::uint64_t max_tokens) {
  CacheShape shape;
  shape.layers = kLayers;
  shape.kv_heads = kHeads;
  shape.max_tokens = max_tokens;
  return shape;
}
Result<Cache> make(const CacheShape& shape, const MemorySource& memory = heap_memory()) {
  std::vector<float> thresholds;
  for (std::uint32_t i = 0; i < kLayers * kHeads; ++i)
    thresholds.insert(thresholds.end(), {-1.75f, -0.0625f, 0.0625f, 1.75f});
  const LaneProfile profile{thresholds.data(), thresholds.size(), thresholds.data(),
                            thresholds.size()};
  return Cache::create(shape, &profile, 1, memory);
}
Status append(Cache& cache, std::uint32_t layer, std::size_t tokens) {
  const std::vector<float> rows = test::normal(30, tokens * kHeads * kDim);
  const TokenRows view(rows.data(), tokens, kHeads, kDim);
  return cache.append(layer, view, view);
}

// Gives memory that lies `off` bytes beyond a multiple of 64: allocations of `only` bytes, or all.
struct Misaligned {
  std::size_t off = 0;
  std::size_t only = 0;

  MemorySource source() {
    MemorySource memory;
    memory.context = this;
    memory.allocate = [](void* context, std::size_t bytes) noexcept -> void* {
      const auto& self = *static_cast<Misaligned*>(context);
      auto* all = static_cast<unsigned char*>(
          ::operator new (bytes + 64, std::align_val_t{64}, std::nothrow));
      return all + (self.only == 0 || self.only == bytes ? self.off : 0);
    };
    memory.release = [](void* context, void* place, std::size_t bytes) noexcept {
      const auto& self = *static_cast<Misaligned*>(context);
      auto* all = static_cast<unsigned char*>(place);
      ::operator delete (all - (self.only == 0 || self.only == bytes ? self.off : 0),
                         std::align_val_t{64});
    };
    return memory;
  }
};

ProfileHeader header_of(std::uint32_t layers, std::uint32_t heads, std::uint32_t dim) {
  ProfileHeader header;
  header.layers = layers;
  header.kv_heads = heads;
  header.head_dim = dim;
  return header;
}
std::vector<BandProfile> bands_of(double outer, double inner) {
  BandProfile band;
  band.values = 1000000;
  band.outer = static_cast<std::uint64_t>(outer * 1e6);
  band.inner = static_cast<std::uint64_t>(inner * 1e6);
  return std::vector<BandProfile>(kLayers * 2, band);
}

}  // namespace

TEST_CASE("memory_alignment: a cache in proper memory has no finding; every place is looked at") {
  auto cache = make(shape_of(1024));
  REQUIRE(cache);
  for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(append(*cache, l, 600)));
  List list;
  const AlignmentReport report = check_memory_alignment(*cache, list.findings);
  CHECK(list.findings.count() == 0);
  // 600 tokens: 10 blocks per layer, head and side; every one has shared bytes and outliers.
  CHECK(report.blocks == kLayers * kHeads * 2 * 10);
  CHECK(report.shared == report.blocks);
  CHECK(report.runs == report.blocks);
}

TEST_CASE("memory_alignment: misaligned memory is found, with layer, head, side and page") {
  Misaligned memory{8, 0};
  auto cache = make(shape_of(1024), memory.source());
  REQUIRE(cache);
  REQUIRE(ok(append(*cache, 1, 70)));
  List list;
  check_memory_alignment(*cache, list.findings);
  // Two blocks and two shared blocks for each head and side of layer 1; runs are at multiples of 8.
  REQUIRE(list.findings.count() == kHeads * 2 * 4);
  std::set<std::string> places;
  for (std::size_t i = 0; i < list.findings.kept(); ++i) {
    const Finding& f = list.findings[i];
    CHECK(f.check == Check::kAlignment);
    CHECK(!f.both_sides);
    CHECK(f.layer == 1);
    CHECK(f.page < 2);
    CHECK(f.value == 8.0);
    CHECK(f.limit == 64.0);
    CHECK(std::string(f.fix).find("MemorySource") != std::string::npos);
    places.insert(std::to_string(f.head) + side_name(f.side) + std::to_string(f.page) + f.what);
  }
  CHECK(places.size() == kHeads * 2 * 4);

  // Only the pages of the spill, 4 bytes off.
  Misaligned spill{4, DefaultStore::kSpillPageBytes};
  auto spilled = make(shape_of(1024), spill.source());
  REQUIRE(spilled);
  REQUIRE(ok(append(*spilled, 0, 64)));
  List runs;
  check_memory_alignment(*spilled, runs.findings);
  REQUIRE(runs.findings.count() == kHeads * 2);
  CHECK(std::string(runs.findings[0].what) == "a spill run off its alignment");
  CHECK(runs.findings[0].value == 4.0);
  CHECK(runs.findings[0].limit == 8.0);
}

TEST_CASE("memory_alignment: a misaligned profile is named") {
  List fits;
  check_profile_alignment(header_of(2, 2, 64), 2, 2, 64, fits.findings);
  check_profile_alignment(header_of(2, 2, 80), 2, 2, 80, fits.findings);
  CHECK(fits.findings.count() == 0);
  List list;
  check_profile_alignment(header_of(3, 2, 64), 2, 2, 64, list.findings);
  check_profile_alignment(header_of(2, 1, 64), 2, 2, 64, list.findings);
  check_profile_alignment(header_of(2, 2, 128), 2, 2, 64, list.findings);
  check_profile_alignment(header_of(2, 2, 72), 2, 2, 72, list.findings);
  REQUIRE(list.findings.count() == 4);
  CHECK(std::string(list.findings[0].what) == "misaligned profile: layers");
  CHECK(list.findings[0].value == 3.0);
  CHECK(list.findings[0].limit == 2.0);
  CHECK(std::string(list.findings[1].what) == "misaligned profile: kv_heads");
  CHECK(std::string(list.findings[2].what) == "misaligned profile: head_dim");
  // 72 nibbles are 36 bytes: every second row begins 4 bytes off.
  CHECK(std::string(list.findings[3].what).find("multiple of 8") != std::string::npos);
  CHECK(list.findings[3].value == 4.0);
}

TEST_CASE("table_overflow: the capacity, what is needed, and how many tokens fit") {
  CacheShape shape = shape_of(1000);
  const std::vector<BandProfile> bands = bands_of(0.04, 0.06);
  // 2 layers x 2 heads x 64 elements x 10 % = 25.6 bytes a token.
  const SpillNeed all = spill_need(shape, kDim, 1000, bands.data(), Role::kKey);
  CHECK(all.needed == 25600);
  CHECK(all.worst == 256000);
  CHECK(all.capacity == 256 * 1024);  // 16 blocks of 64
  CHECK(all.tokens == 1000);
  List none;
  check_table_overflow(shape, kDim, 1000, bands.data(), none.findings);
  CHECK(none.findings.count() == 0);

  shape.spill_bytes = 12800;
  CHECK(spill_need(shape, kDim, 1000, bands.data(), Role::kValue).tokens == 500);
  List list;
  check_table_overflow(shape, kDim, 500, bands.data(), list.findings);
  CHECK(list.findings.count() == 0);
  check_table_overflow(shape, kDim, 502, bands.data(), list.findings);
  REQUIRE(list.findings.count() == 2);
  CHECK(list.findings[0].side == Role::kKey);
  CHECK(list.findings[1].side == Role::kValue);
  CHECK(std::string(list.findings[0].what).find("sparse table full") == 0);
  CHECK(list.findings[0].limit == 12800.0);
  check_table_overflow(shape_of(1000), kDim, 1001, bands.data(), list.findings);
  REQUIRE(list.findings.count() == 3);
  CHECK(list.findings[2].value == 1001.0);
  CHECK(std::string(list.findings[2].fix).find("max_tokens") != std::string::npos);
  // No outliers at all: nothing is needed.
  const std::vector<BandProfile> empty = bands_of(0.0, 0.0);
  CHECK(spill_need(shape, kDim, 1000, empty.data(), Role::kKey).needed == 0);
  CHECK(spill_need(shape, kDim, 1000, empty.data(), Role::kKey).tokens == 1000);
}

TEST_CASE("table_overflow: the prediction holds for a cache that is filled") {
  CacheShape shape = shape_of(4096);
  shape.spill_bytes = 20000;
  auto cache = make(shape);
  REQUIRE(cache);
  // The occupancy of the data itself.
  {
    auto free = make(shape_of(4096));
    REQUIRE(free);
    for (std::uint32_t l = 0; l < kLayers; ++l) REQUIRE(ok(append(*free, l, 64)));
    std::vector<BandProfile> bands(kLayers * 2);
    for (std::uint32_t l = 0; l < kLayers; ++l) {
      for (const Role side : {Role::kKey, Role::kValue}) {
        const EncodeCounters& c =
            side == Role::kKey ? free->key_counters(l) : free->value_counters(l);
        bands[side_index(l, side)].values = c.values;
        bands[side_index(l, side)].outer = c.outer;
        bands[side_index(l, side)].inner = c.inner;
      }
    }
    const SpillNeed need = spill_need(shape, kDim, 4096, bands.data(), Role::kKey);
    std::uint64_t written = 0;
    Status status = Status::kOk;
    while (ok(status)) {
      for (std::uint32_t l = 0; l < kLayers && ok(status); ++l) status = append(*cache, l, 64);
      written += ok(status) ? 64u : 0u;
    }
    CHECK(status == Status::kOutOfSpill);
    CHECK(need.tokens < 4096);
    CHECK(written == need.tokens / 64 * 64);
    // Nothing of the call that failed was written.
    CHECK(cache->tokens(1) == written);
    CHECK(cache->memory().spill <= 2 * 20000);
  }
}

TEST_CASE("index_width: 64, 80 and 128 channels fit; five groups and wide chunks do not") {
  struct Case {
    EntryLayout layout;
    std::uint32_t chunks;
    std::uint32_t last;
    std::uint32_t bits;
    std::size_t findings;
  };
  const Case cases[] = {
      {{64, 3}, 1, 64, 8, 0},
      {{80, 3}, 2, 16, 8, 0},
      {{128, 3}, 2, 64, 8, 0},
      {{128, 2}, 2, 64, 7, 0},
      {{128, 4}, 2, 64, 9, 1},
      {{128, 5}, 2, 64, 9, 1},
      {{128, 5, 64, 6, 16}, 2, 64, 9, 0},
      {{128, 3, 128, 6, 8}, 1, 128, 8, 1},
      {{128, 3, 128, 7, 8}, 1, 128, 9, 1},
      {{128, 3, 32, 5, 8}, 4, 32, 7, 0},
      {{512, 3, 256, 8, 16}, 2, 256, 10, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.layout.head_dim);
    CAPTURE(c.layout.groups);
    CAPTURE(c.layout.chunk);
    List list;
    const EntryReport report = check_index_width(c.layout, list.findings);
    CHECK(report.chunks == c.chunks);
    CHECK(report.last_chunk == c.last);
    CHECK(report.needed_bits == c.bits);
    CHECK(list.findings.count() == c.findings);
  }
  List five;
  check_index_width({128, 5}, five.findings);
  CHECK(five.findings[0].value == 9.0);
  CHECK(five.findings[0].limit == 8.0);
  CHECK(std::string(five.findings[0].what) == "index, group and side do not fit an entry");
  List none;
  check_index_width({0, 3}, none.findings);
  check_index_width({64, 1}, none.findings);
  CHECK(none.findings.count() == 2);
}

TEST_CASE("index_width: 65536 tokens work with 6 bits, which count inside a chunk") {
  CacheShape shape = shape_of(65536);
  shape.layers = shape.kv_heads = 1;
  const std::vector<float> thresholds = {-1.75f, -0.0625f, 0.0625f, 1.75f};
  const LaneProfile profile{thresholds.data(), 4, thresholds.data(), 4};
  auto cache = KvCache<presets::Oaken<16>>::create(shape, &profile, 1);
  REQUIRE(cache);
  const std::vector<float> rows = test::normal(77, 64 * 16);
  const TokenRows view(rows.data(), 64, 1, 16);
  for (int i = 0; i < 1024; ++i) REQUIRE(ok(cache->append(0, view, view)));
  std::vector<float> first(64 * 16);
  std::vector<float> last(64 * 16);
  REQUIRE(ok(cache->read(0, 0, 0, 64, first.data(), nullptr)));
  REQUIRE(ok(cache->read(0, 0, 65536 - 64, 64, last.data(), nullptr)));
  CHECK(first == last);
  // An outlier of the last token: within half a step of its band, which is below (4 - 1.75) / 30.
  CHECK(magnitude(last[63 * 16] - rows[63 * 16]) < 0.2f);
}

TEST_CASE("threshold_drift: each side that is off is a finding") {
  const std::vector<BandProfile> bands = bands_of(0.04, 0.06);
  std::vector<DriftWindow> windows(kLayers * 2);
  DriftMonitor monitor(bands.data(), windows.data(), kLayers, 100);
  EncodeCounters fits;
  fits.values = 100000;
  fits.outer = 4000;
  fits.inner = 6000;
  EncodeCounters grown = fits;
  grown.outer = 12000;
  EncodeCounters shrunk = fits;
  shrunk.inner = 12000;
  monitor.observe(0, Role::kKey, fits);
  monitor.observe(0, Role::kValue, grown);
  monitor.observe(1, Role::kKey, shrunk);  // the values of layer 1: nothing seen yet
  List list;
  check_threshold_drift(monitor, kLayers, list.findings);
  REQUIRE(list.findings.count() == 2);
  CHECK(list.findings[0].layer == 0);
  CHECK(list.findings[0].side == Role::kValue);
  CHECK(std::string(list.findings[0].what) == "outer too full");
  CHECK(list.findings[0].value == doctest::Approx(0.12));
  CHECK(list.findings[0].limit == doctest::Approx(0.04));
  CHECK(list.findings[1].layer == 1);
  CHECK(list.findings[1].side == Role::kKey);
  CHECK(std::string(list.findings[1].what) == "inner too full");
  CHECK(std::string(list.findings[1].fix).find("needs_reprofile") != std::string::npos);
}

TEST_CASE("findings beyond the room are counted") {
  Finding two[2];
  Findings findings(two, 2);
  for (int i = 0; i < 5; ++i) {
    Finding f;
    f.layer = static_cast<std::uint32_t>(i);
    findings.add(f);
  }
  CHECK(findings.count() == 5);
  CHECK(findings.kept() == 2);
  CHECK(findings[1].layer == 1);
  std::set<std::string> names;
  for (int i = 0; i < kChecks; ++i) names.insert(to_string(static_cast<Check>(i)));
  CHECK(names.size() == kChecks);
  CHECK(names.count("unknown") == 0);
}
