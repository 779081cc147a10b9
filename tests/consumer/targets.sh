#!/usr/bin/env bash
# Kernels compiled for one instruction set each, against ReferenceKernels: no -m flags (plain code), AVX2, whatever
# AVX-512 this CPU has, and Arm by a cross compiler and an emulator. Targets with FMA must give the same bits.
source "$(dirname "$0")/common.sh" "$@"

if [[ ! -e ${KVPLEAT_HWY_INCLUDE:-}/hwy/highway.h ]]; then
  echo "skipped: Highway is not installed"
  exit 77
fi
# A folder with Highway alone: the cross compiler must not see the host's other headers.
mkdir highway
ln -s "$KVPLEAT_HWY_INCLUDE/hwy" highway/hwy
common=(-std=c++20 -O1 -I "$include" -I "$checkout/tests" -isystem highway)


# name|target that must run|emulator|compiler and flags
wanted=()
if [[ $(uname -m) == x86_64 ]]; then
  # A short run has the first compiler and the widest vectors: what the CPU offers beside them is in the table of
  # kernels, which the tests of simd run through.
  tried=("${compilers[@]}")
  [[ -n ${KVPLEAT_LONG:-} ]] || tried=("${compilers[0]}")
  for compiler in "${tried[@]}"; do
    [[ -z ${KVPLEAT_LONG:-} ]] || wanted+=("plain_$compiler|plain||$compiler")
    if [[ -z ${KVPLEAT_LONG:-} ]]; then
      :
    elif grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
      wanted+=("avx2_$compiler|avx2||$compiler -march=skylake")
    else
      echo "not run: AVX2, which this CPU has not"
    fi
    if grep -qw avx512_vbmi2 /proc/cpuinfo && grep -qw avx512_vnni /proc/cpuinfo && grep -qw vaes /proc/cpuinfo; then
      wanted+=("avx512_$compiler|avx512vnni||$compiler -march=native")
    else
      echo "not run: AVX-512 with VNNI and VBMI, which this CPU has not"
    fi
  done
fi
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)
if [[ -n $emulator ]] && command -v aarch64-linux-gnu-g++ > /dev/null; then
  cross="aarch64-linux-gnu-g++ -static -Wno-psabi"
  wanted+=("neon_dotprod|neon|$emulator|$cross -march=armv8.2-a+dotprod+crypto")
  [[ -z ${KVPLEAT_LONG:-} ]] || wanted+=("neon|neon|$emulator|$cross -march=armv8-a+crypto")
else
  echo "not run: NEON, without a cross compiler (g++-aarch64-linux-gnu) and an emulator (qemu-user-static)"
fi

if ((${#wanted[@]} == 0)); then
  echo "skipped: no target to run"
  exit 77
fi
for line in "${wanted[@]}"; do
  IFS='|' read -r name target emulator command <<< "$line"
  printf '%s\0' "$command ${common[*]@Q} '$here/targets.cc' -o '$name'"
done | xargs -0 -P 2 -I {} bash -c '{}'

first=
for line in "${wanted[@]}"; do
  IFS='|' read -r name target emulator command <<< "$line"
  $emulator "./$name" > "$name.out" || { echo "$command: failed"; grep 'off by' "$name.out" || head "$name.out"; exit 1; }
  if [[ $(head -n 1 "$name.out") != "$target" ]]; then
    echo "$command: ran $(head -n 1 "$name.out") where $target was expected"
    exit 1
  fi
  if [[ $target != plain ]]; then
    tail -n +2 "$name.out" > digests
    [[ -n $first ]] || { first=$name; cp digests wanted_digests; }
    cmp -s digests wanted_digests || { echo "$name gives other bits than $first:"; diff wanted_digests digests | head; exit 1; }
  fi
  echo "$command: $target"
done
