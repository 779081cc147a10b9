#include "bench/subject.h"

#include <cmath>

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
      recording(law, subject.dim, subject.place.heads, subject.place.tokens);
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
