#!/usr/bin/env bash
# OC-90: the checkout inside somebody else's build, by add_subdirectory and by FetchContent.
source "$(dirname "$0")/common.sh" "$@"

build_project "$work/subdirectory" add_subdirectory -DKVPLEAT_CHECKOUT="$checkout"
build_project "$work/fetch" fetch -DKVPLEAT_CHECKOUT="$checkout"

# With the unit of kernels: the target exists and its files are found. Compiling it is tested by find_package.sh.
if [[ -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  cmake -S "$here/project" -B "$work/kernels" -DHOW=add_subdirectory -DKVPLEAT_CHECKOUT="$checkout" \
    -DKVPLEAT_KERNELS=ON -DWITH_KERNELS=ON
  cmake --build "$work/kernels" --target help | grep -w kvpleat_kernels
fi
