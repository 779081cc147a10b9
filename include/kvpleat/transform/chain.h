// Chain<First, Second>: First, then Second, as one transform. Chain<PhaseCenter, RandomHadamard<>>
// is our own key transform.
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/transform/bind.h"

namespace kvpleat::inline KVPLEAT_ISA {

template <class First, class Second>
struct Chain {
  static_assert(!Second::kPositional,
                "kvpleat: a transform that depends on the position must come first in a Chain");
  static constexpr auto kId = First::kId + ";" + Second::kId;
  static constexpr bool kPositional = First::kPositional;
  static constexpr bool kHasOffset = First::kHasOffset || Second::kHasOffset;
  static constexpr bool kScoresRestored = requires { requires First::kScoresRestored; };
  static constexpr std::uint32_t profile_size(std::uint32_t dim) {
    return First::profile_size(dim) + Second::profile_size(dim);
  }
  template <std::uint32_t kDim>
  static Chain bind_for(const BindContext& context) {
    Chain chain;
    BindContext rest = context;
    if (context.profile != nullptr) rest.profile = context.profile + First::profile_size(kDim);
    chain.first = bind_transform<First, kDim>(context);
    chain.second = bind_transform<Second, kDim>(rest);
    return chain;
  }
  template <std::uint32_t kDim>
  static bool valid(const float* profile) {
    const float* rest = profile == nullptr ? nullptr : profile + First::profile_size(kDim);
    return valid_transform<First, kDim>(profile) && valid_transform<Second, kDim>(rest);
  }

  [[no_unique_address]] First first;
  [[no_unique_address]] Second second;

  template <std::uint32_t kDim>
  void forward(const float* row, std::int64_t position, float* coded) const {
    float between[kDim];
    first.template forward<kDim>(row, position, between);
    second.template forward<kDim>(between, position, coded);
  }
  template <std::uint32_t kDim>
  void prepare_query(const float* query, float* coded) const {
    float between[kDim];
    first.template prepare_query<kDim>(query, between);
    second.template prepare_query<kDim>(between, coded);
  }
  template <std::uint32_t kDim>
  void add_score_offset(const float* query, const std::int64_t* positions, std::uint32_t n,
                        float* offsets) const {
    first.template add_score_offset<kDim>(query, positions, n, offsets);
    if constexpr (Second::kHasOffset) {
      float between[kDim];
      first.template prepare_query<kDim>(query, between);
      second.template add_score_offset<kDim>(between, positions, n, offsets);
    }
  }
  template <std::uint32_t kDim>
  void restore(const float* coded, float weight, std::int64_t position, float* row) const {
    float between[kDim];
    second.template restore<kDim>(coded, weight, position, between);
    first.template restore<kDim>(between, weight, position, row);
  }
  template <std::uint32_t kDim>
  float coded_bound(float input_bound) const {
    return second.template coded_bound<kDim>(first.template coded_bound<kDim>(input_bound));
  }
};

}  // namespace kvpleat::inline KVPLEAT_ISA
