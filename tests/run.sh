#!/usr/bin/env bash
# Builds and runs every test: g++ release with all tests, then clang++ with the address and undefined-behaviour
# sanitizers on the doctest programs. --long adds the long cases. The last line is "N passed, N failed",
# counted in doctest cases where a test has them; the exit status is non-zero if anything failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/setup.sh

unit=unit not_wanted='^long$'
case ${1:-} in
  '') ;;
  --long)  # a long run holds the short cases too
    unit=long not_wanted='^unit$'
    export KVPLEAT_LONG=1  # consumer tests: every compiler with every flag
    ;;
  *) echo "usage: tests/run.sh [--long]"; exit 2 ;;
esac

passed=0 failed=0
finish() {
  local status=$?
  # A stage that stopped the script, a build for instance, is a failure no test reported.
  if ((status != 0 && failed == 0)); then failed=1; fi
  printf '%d passed, %d failed\n' "$passed" "$failed"
  exit $((failed > 0 ? 1 : 0))
}
trap finish EXIT

stage() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  # In a subshell, so that set -e also holds inside a function.
  set +e
  (set -e; "$@")
  status=$?
  set -e
  printf '== %s: %d s\n' "$name" $((SECONDS - start))
  return "$status"
}

# Reads CTest's log: doctest's own totals where a test printed them, else one for the test.
count() {
  awk '
    /^Output:$/ { cases = 0; good = 0; bad = 0 }
    /^\[doctest\] test cases:/ {
      cases = 1
      for (i = 1; i < NF; ++i) {
        if ($(i + 1) == "passed") good += $i
        if ($(i + 1) == "failed") bad += $i
      }
    }
    /^Test Passed\.$/ { passed += cases ? good : 1; cases = 0 }
    /^Test Failed\.$/ { passed += good; failed += bad ? bad : 1; cases = 0 }
    END { print passed + 0, failed + 0 }
  ' "build/$1/Testing/Temporary/LastTest.log"
}

# run_tests PRESET CTEST_ARGUMENT...
run_tests() {
  local preset=$1 status=0 good bad
  shift
  rm -f "build/$preset/Testing/Temporary/LastTest.log"
  stage "test ($preset)" ctest --preset "$preset" -j "$(nproc)" "$@" || status=$?
  read -r good bad < <(count "$preset")
  if ((status != 0 && bad == 0)); then bad=1; fi  # crashed, timed out or could not start
  passed=$((passed + good)) failed=$((failed + bad))
  echo "== $preset: $good passed, $bad failed"
  # CTest hides what a passing test prints; the open cases shall be seen.
  grep -hE '^\[( ok |fail)\] OC-' "build/$preset/Testing/Temporary/LastTest.log" | sort -u -V -k 3 || true
}

build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" -j "$(nproc)" "$@"
}

dependencies() {
  need_packages g++ cmake make python3 libeigen3-dev libhwy-dev doctest-dev libbenchmark-dev nlohmann-json3-dev clang \
    g++-aarch64-linux-gnu qemu-user-static
  # The sanitizers' library has clang's major version in its name.
  if command -v dpkg > /dev/null; then
    need_packages "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
  fi
}

export CXX=${CXX:-g++}
stage "dependencies" dependencies
# compare for the head_dim of the committed recording: every further one is 200 s of compiling. examples/run.sh asks
# for all again.
stage "configure (release)" configure release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DKVPLEAT_COMPARE_DIMS=64
stage "build (release)" build release
run_tests release -LE "$not_wanted"
stage "configure (asan)" configure asan -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
stage "build (asan)" build asan --target test_programs
run_tests asan -L "^$unit\$"
printf '\n== all stages: %d s\n' "$SECONDS"
