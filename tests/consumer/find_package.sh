#!/usr/bin/env bash
# OC-90: find_package from a prefix with a blank in its name; the installed config names no build path.
source "$(dirname "$0")/common.sh" "$@"

prefix="$work/a prefix"
install_library "$prefix"
if grep -rnF -e "$checkout" -e "$work" "$prefix"; then
  echo "the installed files hold an absolute path of this build"
  exit 1
fi
# What the component kernels asks for is in a file of its own, which the config includes for nobody else.
if grep -rnE '^ *find_(package|dependency) *\(' "$prefix"/share/cmake --exclude kvpleatKernels.cmake; then
  echo "the installed config requires a dependency; the headers need none"
  exit 1
fi
# The package must also work after it has been moved: that is how binary packages travel.
mv "$prefix" "$work/another prefix"
build_project "$work/build" find_package -DCMAKE_PREFIX_PATH="$work/another prefix"

# With the unit of kernels, unoptimised: it is the linking that is tested.
if [[ -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  build_project "$work/kernels" find_package -DCMAKE_PREFIX_PATH="$work/another prefix" -DWITH_KERNELS=ON \
    -DCMAKE_BUILD_TYPE=Debug
  "$work/kernels/dispatched"
else
  echo "without kernels: Highway is not installed"
fi
# A component that does not exist.
mkdir "$work/component"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(kvpleat REQUIRED COMPONENTS kernel)\n' \
  > "$work/component/CMakeLists.txt"
if cmake -S "$work/component" -B "$work/component/build" -DCMAKE_PREFIX_PATH="$work/another prefix" 2> "$work/component/log"; then
  echo "an unknown component is accepted"
  exit 1
fi
grep -F 'no component kernel: there is kernels' "$work/component/log"
