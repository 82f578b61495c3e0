#!/bin/bash
# once.sh <list of files> <object> <program>
#
# Runs the program. With WEFT_TESTS_ONCE set, as .ci/run sets it, it is not run again where it has passed in this build
# folder and is made of the same objects as then: its own and the library's, whose names are in the list. A program of
# g++ alone is linked anew when a CUDA toolkit has come, and what it runs is the same.
set -euo pipefail
list=$1 object=$2 program=$3
if [ -z "${WEFT_TESTS_ONCE-}" ]; then
  exec "$program"
fi
passed=$program.passed
made_of=$({ cat "$object"; xargs cat <"$list"; } | md5sum)
if [ -f "$passed" ] && [ "$(head -1 "$passed")" = "$made_of" ]; then
  sed -n 's/^\[  PASSED  \]/passed before, of the same objects:/p' "$passed"
  exit
fi
rm -f "$passed"
{ echo "$made_of"; "$program"; } >"$passed.new" 2>&1 || { cat "$passed.new"; exit 1; }
mv "$passed.new" "$passed"
sed 1d "$passed"
