#!/bin/sh
# weft_demo.sh PROGRAM HAVE_PNG: the demo as README's first line runs it, but always on the CPU alone; and how it
# refuses flags.
set -eu
here=$(dirname "$(readlink -f "$0")")
program=$(readlink -f "$1")
have_png=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

"$program" --backend=cpu | tee said.txt
head -1 said.txt | grep -q '^On the CPU\.$'
grep -q '^    struct MyConv {' said.txt
grep -q "^Next:$" said.txt
# Both operators, on the picture and on the layer.
for outputs in 2164800 200704; do
  [ "$have_png" = 1 ] || [ $outputs = 200704 ] || outputs=614400  # rings in place of the picture
  for operator in MyConv MyConvOnHopper; do
    grep -q "^  CPU  $operator  .*s   0 of $outputs outputs differ from the loops; padding [0-9]*%$" said.txt
  done
done
if [ "$have_png" = 1 ]; then
  grep -q "^  before and after: $dir/weft_demo.png$" said.txt
  [ "$(head -c 4 weft_demo.png | tail -c 3)" = PNG ]
else
  [ "$(head -c 2 weft_demo.ppm)" = P6 ]
fi
# Lines on paper: most of the right half is blank, not all of it.
sed -n '/before and after/,/^A layer/p' said.txt | cut -c53-100 | grep -q '[@%#*+=]'

"$here/refuses.sh" "--backend=gpu is unknown; accepted are cpu, cuda" "$program" --backend=gpu
"$here/refuses.sh" "weft_demo [--backend=cpu|cuda]" "$program" picture.png
"$here/refuses.sh" "--backend=cuda: no usable GPU: " env CUDA_VISIBLE_DEVICES= "$program" --backend=cuda
# A missing driver is called that, not one that is too old.
if env CUDA_VISIBLE_DEVICES= "$program" --backend=cuda 2>&1 | grep 'insufficient'; then exit 1; fi
