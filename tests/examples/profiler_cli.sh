#!/usr/bin/env bash
# oaken_profiler: profile, tune the model, be told, profile again. Usage: profiler_cli.sh PROGRAM
set -euo pipefail
program=$1
data=$(cd "$(dirname "$0")/../../examples/data" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
# expect CODE ARGUMENTS: runs the program, keeps its output in $folder/out.
expect() {
  local wanted=$1 status=0
  shift
  "$program" "$@" > "$folder/out" 2> "$folder/err" || status=$?
  [ "$status" = "$wanted" ] || { cat "$folder/out" "$folder/err"; fail "exit code $status, not $wanted, of: $*"; }
}
says() { grep -q -- "$1" "$folder/out" || { cat "$folder/out"; fail "nothing says '$1'"; }; }
never() { ! grep -q -- "$1" "$folder/out" || { cat "$folder/out"; fail "something says '$1'"; }; }

# The line of the article, from any folder, with the shipped recording.
cd /
expect 0 --check memory_alignment
says "memory_alignment: ok (384 blocks"
says "fetch .* decode .* consume .* attend"
# Both tails lie in the outer band, and the inner one is around zero.
expect 0 --check all --json
python3 - "$folder/out" <<'PYTHON' || fail "--check all --json"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
kinds = [row["kind"] for row in rows]
checks = [row for row in rows if row["kind"] == "check"]
assert [c["check"] for c in checks] == [
    "memory_alignment", "table_overflow", "index_width", "threshold_drift", "dead_heads"], checks
assert all(c["findings"] == 0 and c["detail"] for c in checks), checks
bands = [row for row in rows if row["kind"] == "bands"]
assert [(o["layer"], o["side"]) for o in bands] == [(l, s) for l in range(4) for s in ("key", "value")]
for o in bands:
    low, inner_low, inner_high, high = o["thresholds"]
    assert low < 0 < high and low < inner_low <= inner_high < high, o
    # 2 % a tail and 6 % inside, on tokens of which half were not profiled.
    assert 0.015 < o["outer_low"] < 0.025 and 0.015 < o["outer_high"] < 0.025, o
    assert 0.05 < o["inner"] < 0.07, o
    # Sixteen steps a side over the outer range, sixteen over the middle one, which holds small values too.
    outer, middle, inner = o["errors"]
    assert 0.005 < outer < 0.06 and outer < middle < 0.2 and 0.005 < inner < 0.06, o
times = [row for row in rows if row["kind"] == "times"]
assert len(times) == 1 and all(times[0][key] > 0 for key in ("fetch_ns", "decode_ns", "consume_ns", "attend_ns"))
assert set(kinds) == {"recording", "bands", "check", "times"}, kinds
PYTHON

# A profile, and how much of it 10, 30 or 100 samples would have given.
expect 0 --profile "$data" --samples 100 --out "$folder/base" --json
python3 - "$folder/out" <<'PYTHON' || fail "the stability table"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
table = [row for row in rows if row["kind"] == "stability"]
assert [row["samples"] for row in table] == [10, 30, 100, 128], table
off = [row["outer_off"] for row in table]
assert off[0] > off[1] > off[2] > off[3] == 0, off
assert off[0] < 0.05 and off[2] < 0.01, off
PYTHON
grep -q "^samples: 100$" "$folder/base" || fail "the profile's samples"
cp "$folder/base" "$folder/again"
expect 0 --profile "$data" --samples 100 --out "$folder/again"
cmp "$folder/base" "$folder/again" || fail "a profile is not the same twice"
expect 0 --check threshold_drift --profile_file "$folder/base"

# A fine-tune that makes everything larger or smaller is found, for the right reason; profiled again
# it passes.
for tuned in "1.6 outer inner" "0.5 inner outer"; do
  read -r scale full other <<< "$tuned"
  expect 1 --check threshold_drift --profile_file "$folder/base" --scale "$scale"
  says "threshold_drift: 8 found"
  says "finding: layer 3 value $full too full: .*profile again: needs_reprofile"
  never "$other too full"
  expect 0 --profile "$data" --scale "$scale" --out "$folder/tuned"
  expect 0 --check threshold_drift --profile_file "$folder/tuned" --scale "$scale"
  says "threshold_drift: ok"
  expect 1 --check threshold_drift --profile_file "$folder/tuned"
done

# Adapters: weights, adapters, profile, cache, in this order.
expect 1 --check threshold_drift --profile_file "$folder/base" --adapter lora
says "needs_reprofile: adapter"
expect 0 --profile "$data" --adapter lora --out "$folder/lora"
expect 0 --check threshold_drift --profile_file "$folder/lora" --adapter lora
expect 1 --check threshold_drift --profile_file "$folder/lora"
says "needs_reprofile: adapter"

# A misaligned profile is named; other checks cannot use it. (The checksum is FNV-1a of what is
# before its line.)
change() {  # change OLD NEW: the base profile with another line, and a checksum that fits
  python3 - "$folder/base" "$folder/changed" "$1" "$2" <<'PYTHON'
import sys
source, target, old, new = sys.argv[1:]
text = open(source).read()
assert old in text
text = text.replace(old, new).rsplit("checksum: ", 1)[0]
value = 0xcbf29ce484222325
for byte in text.encode():
    value = (value ^ byte) * 0x100000001b3 % 2**64
open(target, "w").write(text + "checksum: %016x\n" % value)
PYTHON
}
change "kv_heads: 3" "kv_heads: 2"
expect 1 --check memory_alignment --profile_file "$folder/changed"
says "misaligned profile: kv_heads: 2 against 3"
change "head_dim: 64" "head_dim: 72"
expect 1 --check memory_alignment --profile_file "$folder/changed"
says "misaligned profile: head_dim: 72 against 64"
says "misaligned profile: dense rows are no multiple of 8 bytes: 4 against 8; fix: pad"
expect 2 --check threshold_drift --profile_file "$folder/changed"
change "key_stage: post_rope" "key_stage: pre_rope"
expect 2 --check threshold_drift --profile_file "$folder/changed"

# A full table is named, with layer and page; the requested length is what counts.
expect 1 --check table_overflow --spill_bytes 40000
says "finding: key sparse table full before the requested length"
says "finding: layer 3 page 7 sparse table full: kOutOfSpill, nothing written"
expect 0 --check table_overflow --spill_bytes 100000
expect 1 --check table_overflow --spill_bytes 100000 --tokens 4096
expect 0 --check tables --tokens 65536
says "sparse .* 0 to .* a row"
expect 0 --check index_width
says "head_dim 80: 2 chunks, the last of 16, 8 bits"
says "token 65535 reads like token 1023"
expect 1 --check index_width --groups 5
says "index, group and side do not fit an entry: 9 against 8"

# A head a thousand times smaller than the others of its layer shares their range and dies.
cp "$data"/*.npy "$data/meta.json" "$folder"
python3 - "$folder/v.npy" <<'PYTHON'
import struct, sys
with open(sys.argv[1], "rb") as f:
    file = f.read()
start = 10 + struct.unpack("<H", file[8:10])[0]
layer, head, size = 2, 1, 1024 * 64
first = start + (layer * 3 + head) * size * 2
values = struct.unpack("<%de" % size, file[first:first + 2 * size])
small = struct.pack("<%de" % size, *(v * 0.001 for v in values))
with open(sys.argv[1], "wb") as f:
    f.write(file[:first] + small + file[first + 2 * size:])
PYTHON
expect 1 --check dead_heads --data "$folder"
says "dead_heads: 1 found"
says "finding: layer 2 head 1 dead head: step too coarse.*fix: smaller groups, or a higher tier"

# Nine points; the marked ones and no others are beaten by none.
expect 0 --search --json
python3 - "$folder/out" <<'PYTHON' || fail "--search"
import json, sys
points = [row for row in map(json.loads, open(sys.argv[1])) if row["kind"] == "ratio"]
assert [(p["outer_ppm"], p["inner_ppm"]) for p in points] == [
    (o, i) for o in (20000, 40000, 60000) for i in (40000, 60000, 80000)]
cost = [(p["bits_per_element"], p["attention_error"]) for p in points]
for p, own in zip(points, cost):
    beaten = any(c[0] <= own[0] and c[1] <= own[1] and c != own for c in cost)
    assert p["pareto"] == (not beaten), p
assert any(p["pareto"] for p in points) and len(set(cost)) == 9
# More outliers cost bits and lower the error.
assert cost[0][0] < cost[4][0] < cost[8][0] and cost[0][1] > cost[4][1] > cost[8][1], cost
PYTHON

# Bad input: one clear line, exit code 2.
refused() {
  expect 2 "$@"
  [ "$(wc -l < "$folder/err")" = 1 ] || fail "not one line from: $*"
}
refused
refused --check
refused --check nonsense
refused --check all --search
refused --unknown
refused --check all --data /nonexistent
refused --check all --data ""
refused --check all --scale 0
refused --check all --scale nan
refused --check all --scale 1x
refused --check all --samples -1
refused --check all --samples 1000
refused --check all --tokens 0
refused --check all --out "$folder/x"
refused --search --profile_file "$folder/base"
refused --profile "$data" --samples 100 --out /nonexistent/profile
refused --check all --profile_file /nonexistent
refused --check all --profile_file "$data"
head -c 900 "$folder/base" > "$folder/cut"
refused --check all --profile_file "$folder/cut"
grep -q "layer" "$folder/err" || fail "the field at which a profile is cut"
sed 's/^samples: 100$/samples: 101/' "$folder/base" > "$folder/changed"
refused --check all --profile_file "$folder/changed"
grep -q "checksum" "$folder/err" || fail "a changed profile"
printf 'oaken_profile: 2\n' > "$folder/changed"
refused --check all --profile_file "$folder/changed"
expect 0 --help
echo "oaken_profiler: command line ok"
