#include "profiler/program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compare/clock.h"
#include "compare/recording.h"
#include "kvpleat/attention/attend_ref.h"
#include "kvpleat/calibrate/checks.h"
#include "kvpleat/calibrate/drift.h"
#include "kvpleat/calibrate/ratio_search.h"
#include "profiler/options.h"
#include "profiler/profile.h"
#include "profiler/report.h"
#include "profiler/subject.h"

namespace profiler {
namespace {

using kvpleat::Check;
using kvpleat::Role;
using kvpleat::Status;

// Bad input: exit code 2. The line is printed once, at the end.
struct Failure {
  std::string text;
  explicit operator bool() const { return !text.empty(); }
};

// The shipped recording, found from the executable: build/<preset>/examples/oaken_profiler ->
// examples/data.
std::string default_data() {
  std::error_code failure;
  std::filesystem::path at = std::filesystem::read_symlink("/proc/self/exe", failure);
  for (at = at.parent_path(); !failure && !at.empty(); at = at.parent_path()) {
    const std::filesystem::path data = at / "examples" / "data";
    if (std::filesystem::exists(data / "meta.json")) return data.string();
    if (at == at.root_path()) break;
  }
  return "";
}

Failure append_all(Subject& subject, std::uint32_t layers, std::uint32_t first, std::uint32_t n) {
  for (std::uint32_t l = 0; l < layers; ++l) {
    if (const Status status = subject.append(l, first, n); !ok(status))
      return {"layer " + std::to_string(l) + ": append: " + to_string(status)};
  }
  return {};
}

// ---- --search ----

// Attention in double precision over the original values, all queries: [layers, kv_heads, queries,
// group, dim] like the queries.
std::vector<double> attend_original(const Recording& r) {
  std::vector<double> outputs(r.query.size());
  std::vector<double> weights(r.tokens);
  for (std::uint32_t l = 0; l < r.layers; ++l) {
    for (std::uint32_t h = 0; h < r.kv_heads; ++h) {
      for (std::uint32_t q = 0; q < r.queries; ++q) {
        for (std::uint32_t m = 0; m < r.group(); ++m) {
          const std::size_t at = r.query_row(l, h, q, m);
          kvpleat::attend_ref(
              r.position(q) + 1, r.dim, r.dim, r.query.data() + at, static_cast<double>(r.scale),
              [&](std::uint32_t t) { return r.keys.data() + r.row(l, t, h); },
              [&](std::uint32_t t) { return r.values.data() + r.row(l, t, h); },
              outputs.data() + at, weights.data());
        }
      }
    }
  }
  return outputs;
}
// Mean over layers, heads and queries of |o - o'| / |o|, as compare has it.
Failure attention_error(const Subject& subject, const Recording& r,
                        const std::vector<double>& wanted, double& error) {
  std::vector<kvpleat::IndexRange> limits(r.queries);
  for (std::uint32_t q = 0; q < r.queries; ++q) limits[q] = {0, r.position(q) + 1};
  const std::size_t rows = static_cast<std::size_t>(r.queries) * r.group();
  std::vector<float> out(rows * r.dim);
  double sum = 0.0;
  for (std::uint32_t l = 0; l < r.layers; ++l) {
    for (std::uint32_t h = 0; h < r.kv_heads; ++h) {
      const std::size_t at = r.query_row(l, h, 0, 0);
      const Status status =
          subject.attend(l, h, r.query.data() + at, r.queries, limits.data(), out.data());
      if (!ok(status)) return {std::string("attend: ") + to_string(status)};
      for (std::size_t i = 0; i < rows; ++i) {
        double norm = 0.0;
        double lost = 0.0;
        for (std::uint32_t c = 0; c < r.dim; ++c) {
          const double o = wanted[at + i * r.dim + c];
          const double difference = o - static_cast<double>(out[i * r.dim + c]);
          norm += o * o;
          lost += difference * difference;
        }
        sum += norm > 0.0 ? std::sqrt(lost / norm) : 0.0;
      }
    }
  }
  error = sum / (static_cast<double>(rows) * r.layers * r.kv_heads);
  return {};
}

Failure search(const Options& options, const Recording& recording, Report& report) {
  const Sampling sampling = sampling_of(recording, options.samples);
  report.recording(recording, "thresholds from the first " + std::to_string(sampling.tokens) +
                                  " tokens; errors over the last " +
                                  std::to_string(recording.queries) + " queries per head");
  const std::vector<double> wanted = attend_original(recording);
  Failure failure;
  const auto evaluate = [&](kvpleat::BandShares shares) {
    kvpleat::RatioCost cost;
    Profile profile;
    std::string error;
    if (failure) return cost;
    if (!make_profile(recording, options.samples, shares, options.adapter, profile, nullptr,
                      error)) {
      failure.text = error;
      return cost;
    }
    const auto subject = Subject::create(recording, profile, {}, error);
    if (subject == nullptr) {
      failure.text = error;
      return cost;
    }
    failure = append_all(*subject, recording.layers, 0, recording.tokens);
    if (!failure) failure = attention_error(*subject, recording, wanted, cost.error);
    cost.bits = subject->memory().bits_per_element();
    return cost;
  };
  const auto points = kvpleat::find_optimal_ratio(kvpleat::kDefaultRatios, evaluate);
  if (!failure) report.ratios(points.data(), points.size());
  return failure;
}

// ---- --check ----

constexpr std::size_t kMostFindings = 32;

struct Work {
  const Options& options;
  const Recording& recording;
  const Profile& profile;
  const Subject* subject;  // filled with the whole recording; null if the profile does not fit it
  kvpleat::Findings& findings;
  std::string detail;
};

Failure check_alignment(Work& work) {
  const Recording& r = work.recording;
  check_profile_alignment(work.profile.header, r.layers, r.kv_heads, r.dim, work.findings);
  if (work.subject == nullptr) {
    work.detail = "the profile does not lie over this recording";
    return {};
  }
  const kvpleat::AlignmentReport seen = work.subject->check_alignment(work.findings);
  work.detail = std::to_string(seen.blocks) + " blocks and " + std::to_string(seen.shared) +
                " shared at multiples of 64, " + std::to_string(seen.runs) +
                " spill runs at multiples of 8";
  return {};
}

Failure check_tables(Work& work) {
  const Recording& r = work.recording;
  kvpleat::CacheShape shape = work.subject->shape();
  const std::uint64_t tokens = work.options.tokens == 0 ? r.tokens : work.options.tokens;
  shape.max_tokens = std::max<std::uint64_t>(tokens, r.tokens);
  shape.spill_bytes = work.options.spill_bytes;
  check_table_overflow(shape, r.dim, tokens, work.profile.bands.data(), work.findings);
  const Tables tables = work.subject->tables();
  const auto need = [&](Role side) {
    return spill_need(shape, r.dim, tokens, work.profile.bands.data(), side);
  };
  const kvpleat::SpillNeed keys = need(Role::kKey);
  const kvpleat::SpillNeed values = need(Role::kValue);
  char text[512];
  std::snprintf(
      text, sizeof text,
      "%llu rows of 64 channels: dense %llu bytes, 32 a row; sparse %llu bytes, %u to %u a row, "
      "mean %.1f, in pages of %llu; capacity for %llu tokens: %llu bytes a side, needed %llu for "
      "keys, %llu for values, at worst %llu",
      static_cast<unsigned long long>(tables.rows),
      static_cast<unsigned long long>(tables.dense_bytes),
      static_cast<unsigned long long>(tables.entries), tables.fewest, tables.most,
      static_cast<double>(tables.entries) /
          static_cast<double>(std::max<std::uint64_t>(1, tables.rows)),
      static_cast<unsigned long long>(tables.page_bytes), static_cast<unsigned long long>(tokens),
      static_cast<unsigned long long>(keys.capacity), static_cast<unsigned long long>(keys.needed),
      static_cast<unsigned long long>(values.needed), static_cast<unsigned long long>(keys.worst));
  work.detail = text;
  if (work.options.spill_bytes == 0) return {};

  // With a limit: fill a cache of that capacity and see where it ends.
  std::string error;
  const auto limited = Subject::create(r, work.profile, {0, work.options.spill_bytes}, error);
  if (limited == nullptr) return {error};
  for (std::uint32_t t = 0; t < r.tokens; t += 64) {
    for (std::uint32_t l = 0; l < r.layers; ++l) {
      const Status status = limited->append(l, t, std::min(64u, r.tokens - t));
      if (ok(status)) continue;
      if (status != Status::kOutOfSpill) return {std::string("append: ") + to_string(status)};
      if (limited->tokens(l) != t) return {"a failed append has written something"};
      kvpleat::Finding finding;
      finding.check = Check::kTableOverflow;
      finding.layer = l;
      finding.page = t / 64;
      finding.value = t;
      finding.limit = r.tokens;
      finding.what = "sparse table full: kOutOfSpill, nothing written; tokens held";
      finding.fix = "raise CacheShape::spill_bytes, or set it to 0";
      work.findings.add(finding);
      return {};
    }
  }
  return {};
}

// Layouts, and that a sequence of 65536 tokens reads back.
Failure check_index(Work& work) {
  const Recording& r = work.recording;
  for (const std::uint32_t dim : {64u, 80u, 128u}) {
    const kvpleat::EntryReport report =
        check_index_width({dim, work.options.groups}, work.findings);
    work.detail += "head_dim " + std::to_string(dim) + ": " + std::to_string(report.chunks) +
                   " chunks, the last of " + std::to_string(report.last_chunk) + ", " +
                   std::to_string(report.needed_bits) + " bits; ";
    if (work.findings.count() > 0) break;  // the others have the same
  }
  constexpr std::uint32_t kLong = 65536;
  std::string error;
  Recording one = r.layer(0);
  Profile profile = work.profile;
  profile.header.layers = 1;
  profile.bands.resize(2);
  const auto subject = Subject::create(one, profile, {kLong, 0}, error);
  if (subject == nullptr) return {error};
  if (Failure failure = append_all(*subject, 1, 0, kLong); failure) return failure;
  std::vector<float> first(r.dim);
  std::vector<float> last(r.dim);
  const std::uint32_t token = (kLong - 1) % r.tokens;
  bool same = true;
  for (std::uint32_t h = 0; h < r.kv_heads; ++h) {
    if (!ok(subject->read(0, h, token, 1, first.data(), nullptr)) ||
        !ok(subject->read(0, h, kLong - 1, 1, last.data(), nullptr))) {
      return {"a long cache cannot be read"};
    }
    same = same && first == last;
  }
  work.detail +=
      "the index counts inside a chunk: token 65535 reads like token " + std::to_string(token);
  if (same) return {};
  kvpleat::Finding finding;
  finding.check = Check::kIndexWidth;
  finding.layer = 0;
  finding.page = (kLong - 1) / 64;
  finding.value = kLong;
  finding.limit = r.tokens;
  finding.what = "a long sequence does not read back";
  finding.fix = "this is a defect: report it";
  work.findings.add(finding);
  return {};
}

Failure check_drift(Work& work) {
  const Recording& r = work.recording;
  const kvpleat::Error identity = check_profile(work.profile.header, r.model, work.options.adapter);
  if (!ok(identity.status)) {
    kvpleat::Finding finding;
    finding.check = Check::kThresholdDrift;
    finding.what =
        identity.name() == "adapter" ? "needs_reprofile: adapter" : "needs_reprofile: model";
    finding.fix = "load weights, then adapters; profile; then create the cache";
    work.findings.add(finding);
  }
  // Tokens that a profile of this recording has not seen.
  const std::uint32_t first = sampling_of(r, 1).tokens;
  std::string error;
  const auto subject = Subject::create(r, work.profile, {}, error);
  if (subject == nullptr) return {error};
  std::vector<kvpleat::DriftWindow> windows(static_cast<std::size_t>(r.layers) * 2);
  kvpleat::DriftMonitor monitor(work.profile.bands.data(), windows.data(), r.layers,
                                static_cast<std::uint64_t>(r.kv_heads) * r.dim);
  for (std::uint32_t t = first; t < r.tokens; t += 64) {
    if (Failure failure = append_all(*subject, r.layers, t, std::min(64u, r.tokens - t)); failure)
      return failure;
    subject->observe(monitor);
  }
  check_threshold_drift(monitor, r.layers, work.findings);
  double worst = 1.0;
  for (std::uint32_t l = 0; l < r.layers; ++l) {
    for (const Role side : {Role::kKey, Role::kValue}) {
      const kvpleat::DriftState state = monitor.state(l, side);
      const auto ratio = [&](double a, double b) {
        worst = std::max(worst, a > b ? a / std::max(b, 1e-9) : b / std::max(a, 1e-9));
      };
      ratio(state.outer_share, state.outer_wanted);
      ratio(state.inner_share, state.inner_wanted);
    }
  }
  char text[160];
  std::snprintf(text, sizeof text,
                "tokens %u to %u; the band furthest off is off by %.2f times, 1.50 are allowed",
                first, r.tokens, worst);
  work.detail = text;
  return {};
}

Failure check_heads(Work& work) {
  const Recording& r = work.recording;
  const std::uint32_t rows = std::min(16u, r.queries);
  std::vector<kvpleat::IndexRange> limits(rows);
  for (std::uint32_t q = 0; q < rows; ++q) limits[q] = {0, r.position(r.queries - rows + q) + 1};
  std::vector<float> outputs(static_cast<std::size_t>(rows) * r.group() * r.dim);
  double least = 1e9;
  double largest_error = 0.0;
  double flattest = 0.0;
  for (std::uint32_t l = 0; l < r.layers; ++l) {
    for (std::uint32_t h = 0; h < r.kv_heads; ++h) {
      kvpleat::HeadQueries asked;
      asked.queries = r.query.data() + r.query_row(l, h, r.queries - rows, 0);
      asked.outputs = outputs.data();
      asked.rows = rows;
      asked.group = r.group();
      asked.scale = r.scale;
      asked.limits = limits.data();
      Status status =
          work.subject->attend(l, h, asked.queries, rows, limits.data(), outputs.data());
      kvpleat::HeadHealth health;
      if (ok(status)) status = work.subject->inspect(l, h, asked, health);
      if (!ok(status)) return {std::string("attend: ") + to_string(status)};
      check_dead_head(l, h, health, work.findings);
      least = std::min(least, health.norm_ratio);
      largest_error = std::max(largest_error, health.channel_error);
      flattest = std::max(flattest, health.entropy);
    }
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "%u heads, %u queries each: output norms at least %.3f of the original, error of "
                "the median channel at most %.3f, entropy at most %.3f of flat",
                r.layers * r.kv_heads, rows * r.group(), least, largest_error, flattest);
  work.detail = text;
  return {};
}

//   original: the recording before --scale, which is what happens to a model after it was profiled.
Failure run_checks(const Options& options, const Recording& original, const Recording& recording,
                   Report& report, std::size_t& found) {
  std::string error;
  Profile profile;
  std::string source = options.profile_file;
  if (options.profile_file.empty()) {
    const Sampling sampling = sampling_of(recording, options.samples);
    if (!make_profile(original, options.samples, {}, options.adapter, profile, nullptr, error))
      return {error};
    source = std::to_string(options.samples) + " runs of " + std::to_string(sampling.run_tokens) +
             " of the first " + std::to_string(sampling.tokens) + " tokens";
  } else if (!load_profile(options.profile_file, profile, error)) {
    return {error};
  }
  if (profile.header.key_stage != kvpleat::KeyStage::kPostRope)
    return {source + ": of keys before RoPE; the cache holds rotated keys"};
  const kvpleat::ProfileHeader& header = profile.header;
  const bool fits = header.layers == recording.layers && header.kv_heads == recording.kv_heads &&
                    header.head_dim == recording.dim;
  const bool alignment_only =
      options.checks.size() == 1 && options.checks.front() == Check::kAlignment;
  if (!fits && !alignment_only) {
    return {source + ": a profile of " + std::to_string(header.layers) + " layers, " +
            std::to_string(header.kv_heads) + " heads x " + std::to_string(header.head_dim) +
            " does not fit the recording"};
  }
  report.recording(recording, source);
  std::unique_ptr<Subject> subject;
  if (fits) {
    subject = Subject::create(recording, profile, {}, error);
    if (subject == nullptr) return {error};
    if (Failure failure = append_all(*subject, recording.layers, 0, recording.tokens); failure)
      return failure;
    report.bands(recording, profile, subject.get());
  }
  for (const Check check : options.checks) {
    std::vector<kvpleat::Finding> list(kMostFindings);
    kvpleat::Findings findings(list.data(), list.size());
    Work work{options, recording, profile, subject.get(), findings, ""};
    Failure failure;
    switch (check) {
      case Check::kAlignment:
        failure = check_alignment(work);
        break;
      case Check::kTableOverflow:
        failure = check_tables(work);
        break;
      case Check::kIndexWidth:
        failure = check_index(work);
        break;
      case Check::kThresholdDrift:
        failure = check_drift(work);
        break;
      case Check::kDeadHeads:
        failure = check_heads(work);
        break;
    }
    if (failure) return failure;
    report.check(check, findings, work.detail);
    found += findings.count();
  }
  if (subject != nullptr) report.times(subject->times());
  return {};
}

// ---- --profile ----

Failure profile_recording(const Options& options, const Recording& recording, Report& report) {
  Profile profile;
  std::vector<Stability> stability;
  std::string error;
  if (!make_profile(recording, options.samples, {}, options.adapter, profile, &stability, error))
    return {error};
  const Sampling sampling = sampling_of(recording, options.samples);
  report.recording(recording, std::to_string(options.samples) + " runs");
  report.bands(recording, profile, nullptr);
  report.stability(stability, sampling, recording.tokens);
  if (options.out.empty()) return {};
  if (!save_profile(options.out, profile, error)) return {error};
  report.note("written to " + options.out);
  return {};
}

Failure work(const Options& options, std::size_t& found) {
  Recording recording;
  std::string error;
  const std::string folder = options.data.empty() ? default_data() : options.data;
  if (folder.empty()) return {"no recording found beside the program; pass --data DIR"};
  if (!load_recording(folder, recording, error)) return {error};
  const Recording original = recording;
  for (std::vector<float>* rows : {&recording.keys, &recording.keys_pre, &recording.values}) {
    for (float& x : *rows) x *= options.scale;
  }
  compare::pin_thread();
  Report report(options.json);
  if (options.make_profile) return profile_recording(options, recording, report);
  if (options.search) return search(options, recording, report);
  return run_checks(options, original, recording, report, found);
}

}  // namespace

int run(int argc, char** argv) {
  Options options;
  Failure failure;
  std::size_t found = 0;
  if (parse(argc, argv, options, failure.text)) {
    if (options.help) {
      std::fputs(kUsage, stdout);
      return 0;
    }
    try {
      failure = work(options, found);
    } catch (const std::exception& thrown) {  // of the file system, or for want of memory
      failure.text = thrown.what();
    }
  }
  if (failure) {
    std::fprintf(stderr, "oaken_profiler: %s\n", failure.text.c_str());
    return 2;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "oaken_profiler: the output could not be written\n");
    return 2;
  }
  return found > 0 ? 1 : 0;
}

}  // namespace profiler
