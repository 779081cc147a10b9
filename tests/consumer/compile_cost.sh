#!/usr/bin/env bash
# What it costs to include us, in CPU milliseconds of g++ -O2 (best of three with KVPLEAT_LONG set): the umbrella and
# one cache attended by the reference kernels; the same with kernels for the unit's own target (kvpleat/highway.h);
# the same with kernels chosen at run time (kvpleat/dispatch.h); and the unit of kernels, once per program, with
# KVPLEAT_LONG only. Only ten seconds for a unit are an error, since test machines are slow.
source "$(dirname "$0")/common.sh" "$@"

if [[ ${compilers[0]} != g++ ]]; then
  echo "skipped: g++ is not installed"
  exit 77
fi
TIMEFORMAT=%U
# Milliseconds for the unit $1, with the flags behind it.
cost() {
  local best=999999 i seconds
  for i in 1 ${KVPLEAT_LONG:+2 3}; do
    seconds=$({ time g++ -std=c++20 -O2 -I "$include" "${@:2}" -c "$1" -o unit.o; } 2>&1)
    [[ $seconds =~ ^[0-9]+\.[0-9]{3}$ ]] || { echo "$seconds" >&2; return 1; }
    seconds=$((10#${seconds/./}))
    ((seconds < best)) && best=$seconds
  done
  echo "$best"
}
# attended NAME HEADER KERNELS: a unit with one cache and one call of attend.
attended() {
  printf '#include <kvpleat/kvpleat.h>\n%s\n' "$2" > "$1.cc"
  cat >> "$1.cc" << 'END'
using Cache = kvpleat::KvCache<kvpleat::presets::Int4<64>>;
kvpleat::Status run(Cache& cache, const float* row, float* out);
kvpleat::Status run(Cache& cache, const float* row, float* out) {
  if (const auto status = cache.append(0, {row, 1, 1, 64}, {row, 1, 1, 64}); !ok(status)) return status;
END
  printf '  return kvpleat::attend<%s>(cache, 0, 0, {.queries = row}, out);\n}\n' "$3" >> "$1.cc"
}
printf '#include <kvpleat/kvpleat.h>\n' > umbrella.cc
printf '#include <cmath>\n#include <cstring>\n#include <mutex>\n#include <tuple>\n#include <string_view>\n' > std.cc
attended reference '' kvpleat::ReferenceKernels
attended dispatched '#include <kvpleat/dispatch.h>' kvpleat::DispatchedKernels
attended vector '#include <kvpleat/highway.h>' kvpleat::VectorKernels

with_cache=$(cost "$here/project/main.cc")
echo "g++ -O2, ms of CPU: standard headers $(cost std.cc), umbrella $(cost umbrella.cc), umbrella and a program of one cache $with_cache"
echo "one cache appended to and attended: reference $(cost reference.cc), dispatch.h $(cost dispatched.cc)"
if [[ -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  printf '#include "kvpleat/simd/unit.h"\n' > kernels.cc
  echo "highway.h for AVX2: $(cost vector.cc -march=skylake)"
  if [[ -n ${KVPLEAT_LONG:-} ]]; then echo "unit of kernels: $(cost kernels.cc)"; fi
fi
((with_cache < 10000)) || { echo "that is too slow to live with"; exit 1; }
