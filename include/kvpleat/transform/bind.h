// BindContext: what a policy may keep a pointer to. The cache owns all of it and outlives the
// policy objects.
//
// The rules a transform keeps, for every row x, query q and position p (x', q': coded):
//   score:    q . x == q' . x' + score_offset(q, p)
//             (kScoresRestored: no q' exists, scores are taken on restored rows: q . restore(x'))
//   restore:  restore(forward(x, p), 1, p) == x within ulps. It is linear in (coded, weight), so a
//             weighted sum of coded rows may be restored with weight = sum of the weights, if the
//             transform is not positional.
// Optional, for a transform that not every profile suits (a matrix, scales):
//   template <std::uint32_t kDim> static bool valid(const float* profile);   null: none was given
#pragma once

#include <cstdint>

#include "kvpleat/core/config.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/transform/phase_table.h"
#include "kvpleat/transform/rope.h"

namespace kvpleat::inline KVPLEAT_ISA {

struct BindContext {
  const float* profile = nullptr;  // this head's profile of the policy: [profile_size] floats
  const Rope* rope = nullptr;      // of the model; dims 0 if there is none
  const CosSin* unit_rotations = nullptr;   // [kRotationSpan, pairs]: by 0..kRotationSpan-1 tokens
  const abi::PhaseTable* phases = nullptr;  // of the rope, for vector kernels; may be null
};
inline constexpr std::uint32_t kRotationSpan = 64;

// A transform made for kDim channels: bind_for<kDim>(context) where the policy has it, else
// bind(context).
template <class Transform, std::uint32_t kDim>
Transform bind_transform(const BindContext& context) {
  if constexpr (requires { Transform::template bind_for<kDim>(context); }) {
    return Transform::template bind_for<kDim>(context);
  } else {
    return Transform::bind(context);
  }
}

// Whether a head's profile (null: none given; else finite) can be used by a transform.
template <class Transform, std::uint32_t kDim>
bool valid_transform(const float* profile) {
  if constexpr (requires { Transform::template valid<kDim>(profile); }) {
    return Transform::template valid<kDim>(profile);
  } else {
    return true;
  }
}

}  // namespace kvpleat::inline KVPLEAT_ISA
