#!/bin/bash
# compile_fail.sh <source>... -- <compiler> <flag>...
#
# Runs the compiler on the source and checks what its comments expect:
#   // EXPECT: <regex>      must fail, the first error line must match (grep -E); every such line must,
#                           up to the line's end
#   // MAX_ERRORS: <n>      at most n error lines, where the compiler says more than the sentence; 1 unless given
#   // EXPECT_SUCCESS       must compile: the control that the failures come from what they claim
#
# Several sources are one run of the compiler, most of whose time is for the headers that they share. Each is
# included in a namespace of its own, after the headers that any of them includes. What the compiler says belongs to
# the source that it named last: it names one before each error, in the line of the error or in those of its context
# ("required from here"). No such source may say EXPECT_SUCCESS.
set -uo pipefail
sources=()
while [ "$1" != -- ]; do
  sources+=("$1")
  shift
done
shift

# check <source> <status> <output>: prints the first error, or what is wrong.
check() {
  local source=$1 status=$2 output=$3 expected max_errors first regex errors
  mapfile -t expected < <(sed -nE 's|^// EXPECT: (.*)$|\1|p' "$source")
  max_errors=$(sed -nE 's|^// MAX_ERRORS: ([0-9]+)$|\1|p' "$source")
  if grep -q '^// EXPECT_SUCCESS$' "$source"; then
    [ "$status" -eq 0 ] || { echo "should compile, but:"; echo "$output"; }
    return "$status"
  fi
  if [ ${#expected[@]} -eq 0 ]; then
    echo "$source says neither '// EXPECT: <regex>' nor '// EXPECT_SUCCESS'"
    return 1
  fi
  first=$(grep -m1 -E 'error:|ptxas fatal' <<<"$output")
  if [ "$status" -eq 0 ] || [ -z "$first" ]; then
    echo "should not compile, but does"
    return 1
  fi
  for regex in "${expected[@]}"; do
    if ! grep -Eq -- "$regex" <<<"$first"; then
      printf 'the first error line is\n  %s\nand does not match\n  %s\nAll of it:\n%s\n' \
        "$first" "$regex" "$output"
      return 1
    fi
  done
  # What docs/custom_operators.md says to look for.
  if grep -q 'weft: ' <<<"$first" && [ "$(grep -m1 'weft: ' <<<"$output")" != "$first" ]; then
    printf 'the first line with "weft: " is\n  %s\n' "$(grep -m1 'weft: ' <<<"$output")"
    return 1
  fi
  errors=$(grep -c 'error:' <<<"$output")
  if [ "$errors" -gt "${max_errors:-1}" ]; then
    printf '%d error lines, more than %d:\n%s\n' "$errors" "${max_errors:-1}" "$output"
    return 1
  fi
  echo "$first"
}

if [ ${#sources[@]} -eq 1 ]; then
  output=$(LC_ALL=C "$@" "${sources[0]}" 2>&1)
  check "${sources[0]}" $? "$output"
  exit
fi

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
{
  sed -n '/^#include/p' "${sources[@]}" | sort -u
  for source in "${sources[@]}"; do
    printf 'namespace case_%s {\n#include "%s"\n}\n' "$(basename "$source" .cpp)" "$source"
  done
} >"$folder/together.cpp"
LC_ALL=C "$@" "$folder/together.cpp" >"$folder/output" 2>&1
status=$?
awk -v folder="$folder" -v sources="${sources[*]##*/}" '
  BEGIN { split(sources, names, " "); for (i in names) is_source[names[i]] = 1 }
  { rest = $0
    while (match(rest, /[a-z0-9_]+\.cpp/)) {
      if (substr(rest, RSTART, RLENGTH) in is_source) name = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
    }
    print >(folder "/said." name) }' "$folder/output"
wrong=0
for source in "${sources[@]}"; do
  name=$(basename "$source")
  touch "$folder/said.$name"
  said=$(check "$source" $status "$(<"$folder/said.$name")") || { wrong=1; name="FAILED: $name"; }
  printf '%s: %s\n' "$name" "$said"
done
exit $wrong
