#include "bench/subject.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvpleat/attention/attend_ref.h"

namespace bench {

std::vector<Variant>& variants() {
  static std::vector<Variant> all;
  return all;
}

const Variant* find_variant(const std::string& name, std::uint32_t dim) {
  for (const Variant& variant : variants()) {
    if (variant.name == name && variant.dim == dim) return &variant;
  }
  return nullptr;
}

namespace {

// However large: a measurement holds as many at a time.
constexpr std::size_t kKept = 4;

}  // namespace

Subject* SubjectStore::get(const std::string& variant, std::uint32_t dim, const Place& place,
                           std::string& why) {
  const auto same = [&](const Entry& entry) {
    return entry.variant == variant && entry.subject->dim == dim && !(entry.place < place) &&
           !(place < entry.place);
  };
  auto at = std::find_if(all_.begin(), all_.end(), same);
  if (at != all_.end()) {
    at->used = ++clock_;
    return at->subject.get();
  }
  const Variant* found = find_variant(variant, dim);
  if (found == nullptr) {
    why = "no variant " + variant + " of head_dim " + std::to_string(dim);
    return nullptr;
  }
  for (;;) {
    double held = 0.0;
    auto oldest = all_.end();
    for (auto entry = all_.begin(); entry != all_.end(); ++entry) {
      held += arena_bytes(*entry->subject);
      if (oldest == all_.end() || entry->used < oldest->used) oldest = entry;
    }
    if (held < static_cast<double>(most_bytes_) || all_.size() <= kKept) break;
    all_.erase(oldest);
  }
  std::unique_ptr<Subject> made = found->make(found->name.c_str(), found->law, place, why);
  if (made == nullptr) return nullptr;
  all_.push_back({variant, place, std::move(made), ++clock_});
  return all_.back().subject.get();
}

double arena_bytes(const Subject& subject) {
  double sum = 0.0;
  for (const auto& range : subject.arena.ranges()) sum += static_cast<double>(range.second);
  return sum;
}

double relative_error(const float* a, const float* b, std::size_t n) {
  double norm = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double delta = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
    difference += delta * delta;
  }
  return std::sqrt(difference / norm);
}

double error_to_original(const Subject& subject, Law law, const Step& step) {
  const compare::Recording& rows =
      recording(law, subject.dim, subject.place.heads, distinct_tokens(subject.place));
  const std::uint32_t dim = subject.dim;
  std::vector<float> out(std::size_t{step.queries} * dim);
  if (!subject.attend(0, 0, step, out.data(), nullptr)) return -1.0;
  std::vector<double> weights(subject.place.tokens);
  std::vector<double> exact(dim);
  std::vector<float> wanted(out.size());
  for (std::uint32_t j = 0; j < step.queries; ++j) {
    kvpleat::attend_ref(
        subject.place.tokens, dim, dim, queries(dim).data() + std::size_t{j} * dim,
        static_cast<double>(rows.scale * step.sharpness),
        [&](std::uint32_t t) { return rows.keys.data() + rows.row(0, t % rows.tokens, 0); },
        [&](std::uint32_t t) { return rows.values.data() + rows.row(0, t % rows.tokens, 0); },
        exact.data(), weights.data());
    for (std::uint32_t c = 0; c < dim; ++c)
      wanted[std::size_t{j} * dim + c] = static_cast<float>(exact[c]);
  }
  return relative_error(out.data(), wanted.data(), out.size());
}

double error_between(const Subject& subject, const Step& step, const Step& reference) {
  std::vector<float> got(std::size_t{step.queries} * subject.dim);
  std::vector<float> wanted(got.size());
  if (!subject.attend(0, 0, step, got.data(), nullptr) ||
      !subject.attend(0, 0, reference, wanted.data(), nullptr)) {
    return -1.0;
  }
  return relative_error(got.data(), wanted.data(), got.size());
}

}  // namespace bench
