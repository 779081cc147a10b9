#!/usr/bin/env bash
# The command line of compare: names, keys, exit codes. Usage: compare_cli.sh PROGRAM
set -euo pipefail
program=$1
names="F32 F16 BF16 Int8 Int6 Int5 Int4 Int3 Int2 Int4G32 Int4Channel Int2Channel Kivi4 Kivi2 Int4TopK Oaken CenteredRotated4"
fail() { echo "FAILED: $*"; exit 1; }

[ "$(echo $("$program" --list))" = "$names" ] || fail "--list"

# From another folder: the data is found from the executable.
cd /
"$program" --json --presets Int4,Kivi4 --per_layer > "${TMPDIR:-/tmp}/compare_cli.$$"
python3 - "${TMPDIR:-/tmp}/compare_cli.$$" <<'PYTHON' || fail "--json"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
keys = ("preset bits_per_element key_nmse value_nmse attention_error attention_error_worst attention_kl "
        "append_ns attend_ns attend_ratio_f16").split()
assert len(rows) == 10, len(rows)
for row in rows:
    assert all(key in row for key in keys), row
    assert all(row[key] > 0 for key in keys[1:]), row
assert [row["preset"] for row in rows if "layer" not in row] == ["Int4", "Kivi4"]
PYTHON
rm -f "${TMPDIR:-/tmp}/compare_cli.$$"

# Bad input: one clear line, exit code 2.
refused() {
  local text status=0
  text=$("$program" "$@" 2>&1) || status=$?
  [ "$status" = 2 ] || fail "exit code $status of: $*"
  [ "$(printf '%s\n' "$text" | wc -l)" = 1 ] || fail "more than one line from: $*"
}
refused --presets Nonsense
refused --presets
refused --data /nonexistent
refused --data /
refused --sinks many
refused --sinks -1
refused --residual 4x
refused --ends fp16
refused --unknown

# Options that change the cache change the table.
plain=$("$program" --json --no_timing --presets Int2)
for option in "--sinks 4" "--residual 64" "--ends raw"; do
  [ "$("$program" --json --no_timing --presets Int2 $option)" != "$plain" ] || fail "$option changes nothing"
done
echo "compare: command line ok"
