// kvpleat: compressed KV caches, composed from policies, attended over as they lie. This header
// includes everything that needs nothing but the standard library.
#pragma once

// core: the contract, status, numbers
#include "kvpleat/core/concepts.h"
#include "kvpleat/core/config.h"
#include "kvpleat/core/error.h"
#include "kvpleat/core/half.h"
#include "kvpleat/core/identity.h"
#include "kvpleat/core/log_scale.h"
#include "kvpleat/core/minifloat.h"
#include "kvpleat/core/numeric.h"
#include "kvpleat/core/store_policy.h"
#include "kvpleat/core/version.h"

// transform: between rows and coded space
#include "kvpleat/transform/balance.h"
#include "kvpleat/transform/center.h"
#include "kvpleat/transform/chain.h"
#include "kvpleat/transform/channel_scale.h"
#include "kvpleat/transform/dense_rotation.h"
#include "kvpleat/transform/hadamard.h"
#include "kvpleat/transform/kronecker_hadamard.h"
#include "kvpleat/transform/no_transform.h"
#include "kvpleat/transform/plain_hadamard.h"
#include "kvpleat/transform/rope.h"
#include "kvpleat/transform/sketch.h"
#include "kvpleat/transform/unrotate.h"

// split: which elements are outliers
#include "kvpleat/split/direction.h"
#include "kvpleat/split/mad.h"
#include "kvpleat/split/nested_bands.h"
#include "kvpleat/split/no_split.h"
#include "kvpleat/split/range.h"
#include "kvpleat/split/threshold.h"
#include "kvpleat/split/top_k.h"

// quant: from numbers to codes
#include "kvpleat/quant/adaptive.h"
#include "kvpleat/quant/affine.h"
#include "kvpleat/quant/codebook.h"
#include "kvpleat/quant/ggml.h"
#include "kvpleat/quant/group_shift.h"
#include "kvpleat/quant/lloyd_max.h"
#include "kvpleat/quant/mid_rise.h"
#include "kvpleat/quant/minifloat.h"
#include "kvpleat/quant/no_codes.h"
#include "kvpleat/quant/nuq.h"
#include "kvpleat/quant/renewed.h"
#include "kvpleat/quant/symmetric.h"
#include "kvpleat/quant/zero_point.h"

// codec: from codes to bytes
#include "kvpleat/codec/coo.h"
#include "kvpleat/codec/coo_entry.h"
#include "kvpleat/codec/dense.h"
#include "kvpleat/codec/direction.h"
#include "kvpleat/codec/fused.h"
#include "kvpleat/codec/hash_sparse.h"
#include "kvpleat/codec/jagged.h"
#include "kvpleat/codec/kept.h"
#include "kvpleat/codec/oaken_stages.h"
#include "kvpleat/codec/repack.h"
#include "kvpleat/codec/row.h"
#include "kvpleat/codec/sign_sketch.h"
#include "kvpleat/codec/slots.h"
#include "kvpleat/codec/sparse.h"

// format: all of them together
#include "kvpleat/format/adaptive.h"
#include "kvpleat/format/block_format.h"
#include "kvpleat/format/channel_split.h"
#include "kvpleat/format/composable.h"
#include "kvpleat/format/formats.h"
#include "kvpleat/format/ggml.h"
#include "kvpleat/format/kvquant.h"
#include "kvpleat/format/minifloat.h"
#include "kvpleat/format/oaken.h"
#include "kvpleat/format/oaken_resident.h"
#include "kvpleat/format/raw.h"
#include "kvpleat/format/rotated.h"
#include "kvpleat/format/tiered.h"
#include "kvpleat/format/turbo_prod.h"
#include "kvpleat/format/turbo_split.h"

// store: memory
#include "kvpleat/store/memory_source.h"

// allocate: which lane a token goes to
#include "kvpleat/allocate/random_at_budget.h"
#include "kvpleat/allocate/rule.h"
#include "kvpleat/allocate/table.h"

// cache: sequences
#include "kvpleat/cache/kv_cache.h"
#include "kvpleat/cache/lanes.h"
#include "kvpleat/cache/memory_report.h"
#include "kvpleat/cache/presets.h"

// attention: scores and outputs
#include "kvpleat/attention/attend.h"
#include "kvpleat/attention/attend_batch.h"
#include "kvpleat/attention/attend_ref.h"
#include "kvpleat/attention/logit_rule.h"

// calibrate: profiles from data
#include "kvpleat/calibrate/band_profile.h"
#include "kvpleat/calibrate/channel_error.h"
#include "kvpleat/calibrate/channel_mean.h"
#include "kvpleat/calibrate/channel_stats.h"
#include "kvpleat/calibrate/checks.h"
#include "kvpleat/calibrate/dead_heads.h"
#include "kvpleat/calibrate/drift.h"
#include "kvpleat/calibrate/finding.h"
#include "kvpleat/calibrate/gaussian.h"
#include "kvpleat/calibrate/head_scale.h"
#include "kvpleat/calibrate/kvquant.h"
#include "kvpleat/calibrate/mad.h"
#include "kvpleat/calibrate/nested_thresholds.h"
#include "kvpleat/calibrate/nuq.h"
#include "kvpleat/calibrate/phase_mean.h"
#include "kvpleat/calibrate/profile_file.h"
#include "kvpleat/calibrate/ratio_search.h"
#include "kvpleat/calibrate/rotated.h"
#include "kvpleat/calibrate/threshold_profiler.h"
#include "kvpleat/calibrate/thresholds.h"
