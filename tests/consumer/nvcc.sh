#!/usr/bin/env bash
# OC-92: the device compiler takes the headers and KVPLEAT_HD functions in a kernel, without one warning that
# names our headers, with and without relaxed constexpr. On a machine with a device the program also runs.
source "$(dirname "$0")/common.sh" "$@"

export PATH="$PATH:/usr/local/cuda/bin"  # where the toolkit installs itself
if ! command -v nvcc > /dev/null; then
  echo "skipped: nvcc is not installed"
  exit 77
fi
nvcc --version | tail -n 2 | head -n 1

for flag in "" --expt-relaxed-constexpr; do
  if ! nvcc -std=c++20 -arch=sm_90 -Xcompiler=-Wall,-Wextra ${flag:+"$flag"} -I "$include" \
    "$checkout/cuda/compile_check.cu" -o program > messages 2>&1; then
    cat messages
    exit 1
  fi
  if grep -E 'warning' messages | grep -E 'kvpleat|compile_check'; then
    echo "nvcc $flag: see the warnings above"
    exit 1
  fi
  run_program "nvcc -std=c++20 $flag"
done

# An older standard is refused in our words.
if nvcc -std=c++17 -arch=sm_90 -I "$include" -c "$checkout/cuda/compile_check.cu" -o unit.o > messages 2>&1 ||
  ! grep -E 'error.*kvpleat: C\+\+20 is required' messages; then
  echo "nvcc -std=c++17: must be refused with our sentence:"
  cat messages
  exit 1
fi
