#!/usr/bin/env bash
# Builds the examples and runs the main one, compare; its arguments are passed on (try --help). The head dimensions
# that compare is built for: KVPLEAT_COMPARE_DIMS, a ;-list.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

need_packages g++ cmake make libeigen3-dev libhwy-dev doctest-dev libbenchmark-dev nlohmann-json3-dev
configure release "-DKVPLEAT_COMPARE_DIMS=${KVPLEAT_COMPARE_DIMS:-64;128}"
cmake --build --preset release -j "$(nproc)" --target compare oaken_profiler \
  01_compress_and_attend 02_own_policy 03_own_format 04_benchmark_codec
exec build/release/examples/compare "$@"
