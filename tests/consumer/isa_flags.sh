#!/usr/bin/env bash
# OC-89: units with different -m flags in one program, all with the same caches, linked in each order. Each
# unit's symbols carry its own tag, so the linker has nothing to merge across units; all store the same bytes;
# and on an emulated CPU without SSE3 the baseline unit runs.
source "$(dirname "$0")/common.sh" "$@"

if [[ $(uname -m) != x86_64 ]]; then
  echo "skipped: the flags are for x86-64"
  exit 77
fi

units=(baseline avx2 avx512)
march=([0]=x86-64 [1]=skylake [2]=skylake-avx512)
# The unit of kernels of the build that runs this, if it has one: then attention goes through its table.
dispatched=() archive=()
if [[ -f ${KVPLEAT_KERNELS:-} ]]; then
  dispatched=(-DDISPATCHED) archive=("$KVPLEAT_KERNELS" -lhwy)
fi
emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64 || true)

# compile COMPILER FLAG...: all objects, two at a time.
compile() {
  local i
  {
    for i in 0 1 2; do
      printf '%s\0' "-march=${march[i]} -DUNIT=${units[i]} ${dispatched[*]} $here/isa_flags_unit.cc -o ${units[i]}.o"
    done
    printf '%s\0' "-march=x86-64 $here/isa_flags_main.cc -o main.o"
  } | xargs -0 -P 2 -I {} bash -c "$* -std=c++20 -I '$include' -c {}"
}

# -O0 inlines nothing: every function is a symbol that could be merged.
while IFS=$'\t' read -r compiler level; do
  compile "$compiler" "$level"

  for unit in "${units[@]}"; do
    nm -C --defined-only "$unit.o" > "$unit.symbols"
    # A mergeable symbol of ours without a tag would run whichever unit's code the linker kept. The plain
    # structs of abi are untagged and have no code at all.
    if awk '$2 ~ /^[WVu]$/' "$unit.symbols" | grep 'kvpleat::' | grep -v 'kvpleat::isa_'; then
      echo "$unit.o: the symbols above carry no tag"
      exit 1
    fi
    # The structs of the table of kernels must not carry one.
    if ! grep -F " $unit(kvpleat::abi::BlockRun const&)" "$unit.symbols" > /dev/null; then
      echo "$unit.o: abi::BlockRun is tagged:"
      grep -F "BlockRun const&)" "$unit.symbols"
      exit 1
    fi
    { grep -oE 'kvpleat::isa_[a-z0-9_]*' "$unit.symbols" || true; } | sort -u > "$unit.tags"
    if (($(wc -l < "$unit.tags") != 1)); then
      echo "$unit.o holds code of another number of tags than one:"
      cat "$unit.tags"
      exit 1
    fi
  done
  if [[ -n $(cat ./*.tags | sort | uniq -d) ]]; then
    echo "two units share a tag:"
    cat ./*.tags
    exit 1
  fi
  # Optimised code shares no function with another unit at all. (Unoptimised code has the standard library's
  # little inline functions out of line; no library can keep those apart.)
  if [[ $level != -O0 ]]; then
    for unit in "${units[@]}"; do awk '$2 == "W"' "$unit.symbols" | cut -d ' ' -f 3- | sort -u; done |
      sort | uniq -d | { grep -vx __clang_call_terminate || true; } > shared_functions  # clang's own
    if [[ -s shared_functions ]]; then
      echo "$compiler $level: the linker merges these functions of units with different flags:"
      cat shared_functions
      exit 1
    fi
  fi

  for order in "baseline avx2 avx512" "baseline avx512 avx2" "avx2 baseline avx512" \
    "avx2 avx512 baseline" "avx512 baseline avx2" "avx512 avx2 baseline"; do
    read -r -a objects <<< "$order"
    "$compiler" main.o "${objects[@]/%/.o}" ${archive[@]+"${archive[@]}"} -o program
    run_program "$compiler $level, $order"
  done
  if [[ -n $emulator && $level != -O0 ]]; then
    # Linked last with the AVX-512 unit first: the order in which a merged function would be the wrong one.
    output=$("$emulator" -cpu qemu64 ./program) || { echo "on qemu64 the baseline fails: $output"; exit 1; }
    echo "$compiler $level, on qemu64: $output"
  fi
done < <(combinations -O2 -O0)
[[ -n $emulator ]] || echo "not emulated: qemu-x86_64-static (package qemu-user-static) is not installed"
