#!/usr/bin/env bash
# OC-89: units with different -m flags in one program, linked in each order. Each unit's symbols carry its own
# tag, so the linker has nothing to merge across units.
source "$(dirname "$0")/common.sh" "$@"

if [[ $(uname -m) != x86_64 ]]; then
  echo "skipped: the flags are for x86-64"
  exit 77
fi

for compiler in "${compilers[@]}"; do
  for level in -O0 -O2; do  # -O0 inlines nothing: every function is a symbol that could be merged
    flags=(-std=c++20 "$level" -I "$include" -c)
    "$compiler" "${flags[@]}" -march=x86-64 -DUNIT=baseline "$here/isa_flags_unit.cc" -o baseline.o
    "$compiler" "${flags[@]}" -march=skylake -DUNIT=avx2 "$here/isa_flags_unit.cc" -o avx2.o
    "$compiler" "${flags[@]}" -march=skylake-avx512 -DUNIT=avx512 "$here/isa_flags_unit.cc" -o avx512.o
    "$compiler" "${flags[@]}" -march=x86-64 "$here/isa_flags_main.cc" -o main.o

    for unit in baseline avx2 avx512; do
      nm -C --defined-only "$unit.o" > "$unit.symbols"
      # A mergeable function of ours without a tag would run whichever unit's code the linker kept.
      if awk '$2 == "W"' "$unit.symbols" | grep 'kvpleat::' | grep -v 'kvpleat::isa_'; then
        echo "$unit.o: the functions above carry no tag"
        exit 1
      fi
      { grep -oE 'kvpleat::isa_[a-z0-9_]*' "$unit.symbols" || true; } | sort -u > "$unit.tags"
      if (($(wc -l < "$unit.tags") > 1)); then
        echo "$unit.o holds code of more than one tag:"
        cat "$unit.tags"
        exit 1
      fi
    done
    if [[ -n $(cat ./*.tags | sort | uniq -d) ]]; then
      echo "two units share a tag:"
      cat ./*.tags
      exit 1
    fi

    for order in "baseline avx2 avx512" "baseline avx512 avx2" "avx2 baseline avx512" \
      "avx2 avx512 baseline" "avx512 baseline avx2" "avx512 avx2 baseline"; do
      read -r -a units <<< "$order"
      "$compiler" main.o "${units[@]/%/.o}" -o program
      run_program "$compiler $level, $order"
    done
  done
done
