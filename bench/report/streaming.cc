// Where the time of one attend goes; streaming against decoding everything first; how blocks lie.
#include <vector>

#include "bench/machine.h"
#include "bench/report/tables.h"

namespace report {
namespace {

using bench::arena_bytes;
using bench::Place;
using bench::Ratio;
using bench::Step;
using bench::Subject;
using bench::Timed;

bench::Rounds rounds_of(const Report& report, bool warm) {
  bench::Rounds rounds;
  rounds.count = report.options.quick ? 1 : report.options.rounds;
  rounds.sample_ns = report.options.quick ? 0.0 : 2e6;
  rounds.warm = warm;
  return rounds;
}

Row row_of(const char* section, const std::string& check, const char* where) {
  Row row;
  row.section = section;
  row.check = check;
  row.working_set = where;
  row.target_simd = bench::target_of(bench::kBestSet);
  row.unit = "ns/token";
  return row;
}
void set(Row& row, const Ratio& ratio) {
  row.ratio = ratio.value;
  row.low = ratio.low;
  row.high = ratio.high;
}

// Shares of the time of an attend from DRAM: its bytes alone, its kernels alone (what unpacks also
// multiplies), and the rest (softmax, calls), the latter two from L2. Together more than one where
// memory and arithmetic overlap.
void run_split(Report& report, Subjects& subjects, std::uint32_t queries) {
  const std::string suffix = "_q" + std::to_string(queries) + "_dram";
  const std::string names[] = {"split_fetch" + suffix, "split_kernels" + suffix,
                               "split_rest" + suffix};
  bool wanted = false;
  for (const std::string& name : names) wanted = report.wants(name) || wanted;
  if (!wanted) return;
  const bool quick = report.options.quick;
  std::string why;
  Subject* large = subjects.get("Int4G64", Where::kDram, quick, why);
  Subject* warm = subjects.get("Int4G64", Where::kWarm, quick, why);
  if (large == nullptr || warm == nullptr) return report.fail(names[0], why);
  Work work{"Int4G64", Part::kAttend, {}};
  work.step.queries = queries;
  Timed total{runner(large, work), {}};
  Timed fetch{runner(large, {"Int4G64", Part::kMemory, {}}), {}};
  bench::interleave({&total, &fetch}, rounds_of(report, false));
  Timed whole{runner(warm, work), {}};
  work.part = Part::kScore;
  Timed keys{runner(warm, work), {}};
  work.part = Part::kAccumulate;
  Timed values{runner(warm, work), {}};
  bench::interleave({&whole, &keys, &values}, rounds_of(report, true));

  const double tokens = large->place.head_tokens();
  const double few = warm->place.head_tokens();
  const double all = total.time() / tokens;
  const double kernels = (keys.time() + values.time()) / few;
  const double parts[] = {fetch.time() / tokens * (large->bytes() / arena_bytes(*large)), kernels,
                          whole.time() / few - kernels};
  for (int i = 0; i < 3; ++i) {
    Row row =
        row_of("one attend of int4: what its time is made of", names[i], i == 0 ? "DRAM" : "L2");
    row.measured = parts[i];
    row.ratio = row.measured / all;
    if (!report.wants(names[i])) continue;
    if (parts[i] > 0.0) {
      report.add(row);
    } else if (!report.options.quick) {
      report.fail(names[i], "the parts took longer than the whole: the machine is too busy");
    }
  }
}

// One head of 32768 tokens: the compressed bytes are attended as they stream in, or decoded to
// floats first.
void run_first_block(Report& report, Subjects& subjects) {
  const bool first_wanted = report.wants("stream_first_block_32k");
  const bool total_wanted = report.wants("stream_total_32k");
  if (!first_wanted && !total_wanted) return;
  const Place place = report.options.quick ? Place{1, 2, 256, 0} : Place{1, 8, 32768, 0};
  std::string why;
  const Subject* packed = subjects.get("Int4G64", place, why);
  const Subject* floats = subjects.get("F32", place, why);
  if (packed == nullptr || floats == nullptr) return report.fail("stream_total_32k", why);
  Step step;
  step.queries = 4;
  std::uint32_t head = 0;  // another one each time: no head is in a cache
  const auto turn = [&] { return head = (head + 1) % place.heads; };
  std::vector<float> keys(std::size_t{place.tokens} * packed->dim);
  std::vector<float> values(keys.size());
  std::vector<float> out(std::size_t{step.queries} * packed->dim);
  Timed decode{[&] { packed->read(0, turn(), keys.data(), values.data()); }, {}};
  Timed rows{[&] { floats->attend(0, turn(), step, out.data(), nullptr); }, {}};
  Timed fused{[&] { packed->attend(0, turn(), step, out.data(), nullptr); }, {}};
  Timed first{[&] { packed->attend_part(0, turn(), {0, 64}, step); }, {}};
  Timed first_rows{[&] { floats->attend_part(0, turn(), {0, 64}, step); }, {}};
  bench::interleave({&decode, &rows, &fused, &first, &first_rows}, rounds_of(report, true));
  Timed all_decoded;
  Timed first_decoded;
  for (std::size_t i = 0; i < decode.ns.size(); ++i) {
    all_decoded.ns.push_back(decode.ns[i] + rows.ns[i]);
    first_decoded.ns.push_back(decode.ns[i] + first_rows.ns[i]);
  }
  constexpr const char* kSection = "streamed against decoded to floats first (4 queries)";
  if (first_wanted) {
    Row row = row_of(kSection, "stream_first_block_32k", "DRAM");
    set(row, bench::ratio(first_decoded, first));
    row.measured = first.time();
    row.unit = "ns";
    report.add(row);
  }
  if (total_wanted) {
    Row row = row_of(kSection, "stream_total_32k", "DRAM");
    set(row, bench::ratio(all_decoded, fused));
    row.measured = fused.time() / place.tokens;
    report.add(row);
  }
}

// The same tokens appended in bulk (blocks of a head in a row), one by one (blocks of a head lie as
// many blocks apart as there are heads), and one by one into a store that keeps heads together.
void run_scattered(Report& report, Subjects& subjects) {
  const bool quick = report.options.quick;
  Place bulk = quick ? Place{1, 8, 256, 0} : Place{1, 8, 32768, 0};
  if (!quick) bulk.layers = place_of(Where::kDram, 144.0, false).layers * 4096 / bulk.tokens + 1;
  Place single = bulk;
  single.chunk = 1;
  for (const std::uint32_t queries : {1u, 4u}) {
    const std::string suffix = "_q" + std::to_string(queries) + "_32k";
    const std::string scattered_name = "scattered_vs_bulk" + suffix;
    const std::string stretched_name = "head_major_store_vs_bulk" + suffix;
    const bool scattered_wanted = report.wants(scattered_name);
    const bool stretched_wanted = report.wants(stretched_name);
    if (!scattered_wanted && !stretched_wanted) continue;
    std::string why;
    Subject* row_major = subjects.get("Int4G64", bulk, why);
    Subject* scattered = subjects.get("Int4G64", single, why);
    Subject* stretched = subjects.get("Int4G64HeadMajor", single, why);
    if (row_major == nullptr || scattered == nullptr || stretched == nullptr) {
      report.fail(scattered_name, why);
      continue;
    }
    Work work{"Int4G64", Part::kAttend, {}};
    work.step.queries = queries;
    Timed a{runner(row_major, work), {}};
    Timed b{runner(scattered, work), {}};
    Timed c{runner(stretched, work), {}};
    bench::interleave({&a, &b, &c}, rounds_of(report, false));
    constexpr const char* kSection = "how blocks lie: appended one by one against in bulk";
    const double tokens = bulk.head_tokens();
    if (scattered_wanted) {
      Row row = row_of(kSection, scattered_name, "DRAM");
      set(row, bench::ratio(a, b));
      row.measured = b.time() / tokens;
      report.add(row);
    }
    if (stretched_wanted) {
      Row row = row_of(kSection, stretched_name, "DRAM");
      set(row, bench::ratio(a, c));
      row.measured = c.time() / tokens;
      report.add(row);
    }
  }
}

}  // namespace

void run_streaming(Report& report, Subjects& subjects) {
  run_split(report, subjects, 1);
  run_split(report, subjects, 4);
  run_first_block(report, subjects);
  run_scattered(report, subjects);
}

}  // namespace report
