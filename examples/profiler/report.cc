#include "profiler/report.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "kvpleat/split/threshold.h"

namespace profiler {
namespace {

using kvpleat::Role;

std::string text_of(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text_of(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(size < 0 ? 0 : static_cast<std::size_t>(size), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out + "\"";
}

}  // namespace

void Report::line(const char* kind, const std::string& fields) {
  std::printf("{\"kind\": \"%s\", %s}\n", kind, fields.c_str());
}

void Report::recording(const Recording& recording, const std::string& profile) {
  if (json_) {
    line("recording", text_of("\"model\": %s, \"layers\": %u, \"kv_heads\": %u, \"head_dim\": %u, "
                              "\"tokens\": %u, \"profile\": %s",
                              quoted(recording.model).c_str(), recording.layers, recording.kv_heads,
                              recording.dim, recording.tokens, quoted(profile).c_str()));
    return;
  }
  std::printf("%s: %u layers, %u KV heads x %u, %u tokens; profile: %s\n", recording.model.c_str(),
              recording.layers, recording.kv_heads, recording.dim, recording.tokens,
              profile.c_str());
}

void Report::bands(const Recording& recording, const Profile& profile, const Subject* subject) {
  if (!json_) {
    std::printf("%5s %-5s  %7s = %5s + %5s  %7s  %s %s\n", "layer", "side", "outer %", "low",
                "high", "inner %", subject == nullptr ? "" : "error % outer middle inner ",
                "thresholds: outer low, inner low, inner high, outer high");
  }
  const std::size_t head_size = static_cast<std::size_t>(recording.tokens) * recording.dim;
  std::vector<float> rows[2] = {std::vector<float>(head_size), std::vector<float>(head_size)};
  for (std::uint32_t l = 0; l < recording.layers; ++l) {
    double counts[2][4] = {};  // by side: outer low, outer high, inner, all
    double energy[2][3] = {};  // by side and band
    double lost[2][3] = {};
    for (std::uint32_t h = 0; h < recording.kv_heads; ++h) {
      const bool read = subject != nullptr && ok(subject->read(l, h, 0, recording.tokens,
                                                               rows[0].data(), rows[1].data()));
      for (const std::size_t s : {0u, 1u}) {
        const Role side = s == 0 ? Role::kKey : Role::kValue;
        float t[4];
        for (int i = 0; i < 4; ++i)
          t[i] = to_float(profile.bands[kvpleat::side_index(l, side)].thresholds[i]);
        const kvpleat::ThresholdSplit split = kvpleat::ThresholdSplit::bind(t);
        const std::vector<float>& from = s == 0 ? recording.keys : recording.values;
        for (std::size_t i = 0; i < head_size; ++i) {
          const auto token = static_cast<std::uint32_t>(i / recording.dim);
          const float x = from[recording.row(l, token, h) + i % recording.dim];
          const kvpleat::BandSide at = split.band(x);
          if (at.band == kvpleat::Band::kOuter) counts[s][at.low ? 0 : 1] += 1.0;
          if (at.band == kvpleat::Band::kInner) counts[s][2] += 1.0;
          counts[s][3] += 1.0;
          if (!read) continue;
          const auto band = static_cast<std::size_t>(at.band);
          const double difference = static_cast<double>(x) - static_cast<double>(rows[s][i]);
          energy[s][band] += static_cast<double>(x) * static_cast<double>(x);
          lost[s][band] += difference * difference;
        }
      }
    }
    for (const std::size_t s : {0u, 1u}) {
      const Role side = s == 0 ? Role::kKey : Role::kValue;
      double t[4];
      for (int i = 0; i < 4; ++i)
        t[i] = static_cast<double>(
            to_float(profile.bands[kvpleat::side_index(l, side)].thresholds[i]));
      const auto share = [&](int i) { return counts[s][i] / counts[s][3]; };
      const auto error = [&](kvpleat::Band band) {
        const auto b = static_cast<std::size_t>(band);
        return energy[s][b] > 0.0 ? std::sqrt(lost[s][b] / energy[s][b]) : 0.0;
      };
      const double errors[3] = {error(kvpleat::Band::kOuter), error(kvpleat::Band::kMiddle),
                                error(kvpleat::Band::kInner)};
      if (json_) {
        const std::string with_errors =
            subject == nullptr
                ? ""
                : text_of(", \"errors\": [%.6g, %.6g, %.6g]", errors[0], errors[1], errors[2]);
        line("bands",
             text_of("\"layer\": %u, \"side\": \"%s\", \"outer_low\": %.6g, \"outer_high\": %.6g, "
                     "\"inner\": %.6g, \"thresholds\": [%.9g, %.9g, %.9g, %.9g]%s",
                     l, side_name(side), share(0), share(1), share(2), t[0], t[1], t[2], t[3],
                     with_errors.c_str()));
      } else {
        const std::string with_errors = subject == nullptr
                                            ? ""
                                            : text_of("%13.2f %6.2f %5.2f ", 100.0 * errors[0],
                                                      100.0 * errors[1], 100.0 * errors[2]);
        std::printf("%5u %-5s  %7.2f = %5.2f + %5.2f  %7.2f  %s %9.4f %9.5f %9.5f %9.4f\n", l,
                    side_name(side), 100.0 * (share(0) + share(1)), 100.0 * share(0),
                    100.0 * share(1), 100.0 * share(2), with_errors.c_str(), t[0], t[1], t[2],
                    t[3]);
      }
    }
  }
}

void Report::stability(const std::vector<Stability>& rows, const Sampling& sampling,
                       std::uint32_t tokens) {
  if (!json_) {
    std::printf(
        "thresholds against samples: runs of %u tokens, out of the first %u; off: from those of "
        "all runs,\n"
        "in %% of the distance between the two thresholds; shares: of the %u tokens behind them\n"
        "%7s  %9s %7s  %9s %7s  %7s %7s\n",
        sampling.run_tokens, sampling.tokens, tokens - sampling.tokens, "samples", "outer off",
        "worst", "inner off", "worst", "outer %", "inner %");
  }
  for (const Stability& row : rows) {
    if (json_) {
      line("stability",
           text_of("\"samples\": %u, \"run_tokens\": %u, \"outer_off\": %.6g, "
                   "\"outer_worst\": %.6g, \"inner_off\": %.6g, \"inner_worst\": %.6g, "
                   "\"outer_share\": %.6g, \"inner_share\": %.6g",
                   row.samples, sampling.run_tokens, row.outer_off, row.outer_worst, row.inner_off,
                   row.inner_worst, row.outer_share, row.inner_share));
    } else {
      std::printf("%7u  %9.2f %7.2f  %9.2f %7.2f  %7.2f %7.2f\n", row.samples,
                  100.0 * row.outer_off, 100.0 * row.outer_worst, 100.0 * row.inner_off,
                  100.0 * row.inner_worst, 100.0 * row.outer_share, 100.0 * row.inner_share);
    }
  }
}

void Report::ratios(const kvpleat::RatioPoint* points, std::size_t n) {
  if (!json_) std::printf("%8s %8s %8s %8s  %s\n", "outer %", "inner %", "bits/el", "attn err", "");
  for (std::size_t i = 0; i < n; ++i) {
    const kvpleat::RatioPoint& p = points[i];
    if (json_) {
      line("ratio", text_of("\"outer_ppm\": %u, \"inner_ppm\": %u, \"bits_per_element\": %.6g, "
                            "\"attention_error\": %.6g, \"pareto\": %s",
                            p.shares.outer_ppm, p.shares.inner_ppm, p.cost.bits, p.cost.error,
                            p.pareto ? "true" : "false"));
    } else {
      std::printf("%8.1f %8.1f %8.3f %8.5f  %s\n", p.shares.outer_ppm / 1e4,
                  p.shares.inner_ppm / 1e4, p.cost.bits, p.cost.error, p.pareto ? "pareto" : "");
    }
  }
}

void Report::times(const Times& times) {
  const double sum = times.fetch + times.decode + times.consume;
  if (json_) {
    line("times", text_of("\"fetch_ns\": %.6g, \"decode_ns\": %.6g, \"consume_ns\": %.6g, "
                          "\"attend_ns\": %.6g",
                          times.fetch, times.decode, times.consume, times.attend));
    return;
  }
  std::printf(
      "one decode step, ns per token and KV head: fetch %.1f (%.0f %%), decode %.1f (%.0f %%), "
      "consume %.1f (%.0f %%); attend %.1f\n",
      times.fetch, 100.0 * times.fetch / sum, times.decode, 100.0 * times.decode / sum,
      times.consume, 100.0 * times.consume / sum, times.attend);
}

void Report::note(const std::string& text) {
  if (json_) {
    line("note", "\"text\": " + quoted(text));
  } else {
    std::printf("%s\n", text.c_str());
  }
}

void Report::check(kvpleat::Check check, const kvpleat::Findings& findings,
                   const std::string& detail) {
  if (json_) {
    line("check", text_of("\"check\": \"%s\", \"findings\": %zu, \"detail\": %s", to_string(check),
                          findings.count(), quoted(detail).c_str()));
  } else {
    std::printf("%s: %s (%s)\n", to_string(check),
                findings.count() == 0 ? "ok" : text_of("%zu found", findings.count()).c_str(),
                detail.c_str());
  }
  for (std::size_t i = 0; i < findings.kept(); ++i) {
    const kvpleat::Finding& f = findings[i];
    const auto place = [&](const char* name, std::uint32_t at) {
      if (at == kvpleat::kNowhere) return json_ ? text_of("\"%s\": null, ", name) : std::string();
      return json_ ? text_of("\"%s\": %u, ", name, at) : text_of(" %s %u", name, at);
    };
    const std::string where =
        place("layer", f.layer) + place("head", f.head) + place("page", f.page);
    if (json_) {
      const std::string side = f.both_sides ? "null" : quoted(side_name(f.side));
      line("finding", text_of("\"check\": \"%s\", %s\"side\": %s, \"value\": %.6g, "
                              "\"limit\": %.6g, \"what\": %s, \"fix\": %s",
                              to_string(check), where.c_str(), side.c_str(), f.value, f.limit,
                              quoted(f.what).c_str(), quoted(f.fix).c_str()));
    } else {
      const bool measured = f.value != 0.0 || f.limit != 0.0;
      std::printf("  finding:%s%s%s %s%s; fix: %s\n", where.c_str(), f.both_sides ? "" : " ",
                  f.both_sides ? "" : side_name(f.side), f.what,
                  measured ? text_of(": %.6g against %.6g", f.value, f.limit).c_str() : "", f.fix);
    }
  }
  if (findings.count() > findings.kept())
    note(text_of("  ... and %zu more", findings.count() - findings.kept()));
}

}  // namespace profiler
