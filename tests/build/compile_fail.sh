#!/bin/bash
# compile_fail.sh <source> <compiler> <flag>...
#
# Runs the compiler on the source and checks what its comments expect:
#   // EXPECT: <regex>      must fail, the first error line must match (grep -E); every such line must,
#                           up to the line's end
#   // MAX_ERRORS: <n>      at most n error lines, so that the sentence is not buried; optional
#   // EXPECT_SUCCESS       must compile: the control that the failures come from what they claim
set -uo pipefail
source=$1
shift

mapfile -t expected < <(sed -nE 's|^// EXPECT: (.*)$|\1|p' "$source")
max_errors=$(sed -nE 's|^// MAX_ERRORS: ([0-9]+)$|\1|p' "$source")
success=$(grep -c '^// EXPECT_SUCCESS$' "$source")
if [ ${#expected[@]} -eq 0 ] && [ "$success" -eq 0 ]; then
  echo "$source says neither '// EXPECT: <regex>' nor '// EXPECT_SUCCESS'"
  exit 1
fi

output=$(LC_ALL=C "$@" "$source" 2>&1)
status=$?
if [ "$success" -ne 0 ]; then
  [ $status -eq 0 ] || { echo "should compile, but:"; echo "$output"; }
  exit $status
fi
if [ $status -eq 0 ]; then
  echo "should not compile, but does"
  exit 1
fi

first=$(grep -m1 -E 'error:|ptxas fatal' <<<"$output")
for regex in "${expected[@]}"; do
  if ! grep -Eq -- "$regex" <<<"$first"; then
    printf 'the first error line is\n  %s\nand does not match\n  %s\nAll of it:\n%s\n' \
      "$first" "$regex" "$output"
    exit 1
  fi
done
# What docs/custom_operators.md says to look for.
if grep -q 'weft: ' <<<"$first" && [ "$(grep -m1 'weft: ' <<<"$output")" != "$first" ]; then
  printf 'the first line with "weft: " is\n  %s\n' "$(grep -m1 'weft: ' <<<"$output")"
  exit 1
fi
errors=$(grep -c 'error:' <<<"$output")
if [ -n "$max_errors" ] && [ "$errors" -gt "$max_errors" ]; then
  printf '%d error lines, more than %d:\n%s\n' "$errors" "$max_errors" "$output"
  exit 1
fi
echo "$first"
