#!/bin/bash
# once.sh <stamp> <file>... -- <command>...
#
# Runs the command. With WEFT_TESTS_ONCE set, as .ci/run sets it, it is not run again where it has passed in this build
# folder and the command and the files that it is made of are the same as then; a file ...txt is a list of such. When a CUDA toolkit has
# come, a program of g++ alone is only linked with more, and what g++ refuses is the same.
set -euo pipefail
shopt -s inherit_errexit
stamp=$1
shift
files=()
while [ "$1" != -- ]; do
  files+=("$1")
  shift
done
shift
if [ -z "${WEFT_TESTS_ONCE-}" ]; then
  exec "$@"
fi
made_of=$({
  printf '%s\n' "$@"
  for file in "${files[@]}"; do
    case $file in
      *.txt) xargs cat <"$file" ;;
      *) cat "$file" ;;
    esac
  done
} | md5sum)
if [ -f "$stamp" ] && [ "$(head -1 "$stamp")" = "$made_of" ]; then
  echo "passed before, and is made of the same files"
  sed -n 's/^\[  PASSED  \]/passed before:/p' "$stamp"
  exit
fi
rm -f "$stamp"
{ echo "$made_of"; "$@"; } >"$stamp.new" 2>&1 || { sed 1d "$stamp.new"; exit 1; }
mv "$stamp.new" "$stamp"
sed 1d "$stamp"
