#!/bin/sh
# weft_demo.sh PROGRAM: the program on a tiny list, and on flags that it must refuse.
set -eu
here=$(dirname "$(readlink -f "$0")")
program=$(readlink -f "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

refuses() { # SENTENCE ARGUMENT...
  sentence=$1
  shift
  "$here/refuses.sh" "$sentence" "$program" --backend=cpu "$@"
}

# Every operator on a ragged layer, one layer with a batch of its own.
tiny=c10h9w9k70r3s2,n2c4h8w8k8r1s1p0
"$program" --backend=cpu --layers=$tiny --csv=table.csv | tee table.txt
grep -q '^On the CPU, [0-9]* threads$' table.txt
grep -q '^8 runs in .* s: every output equals the reference$' table.txt
grep -q '^\* cuDNN was not run: it needs a GPU$' table.txt
grep -q '^c4h8w8k8r1s1  .* cpu .* 0 *-  -$' table.txt
[ "$(wc -l <table.csv)" = 9 ]
grep -q '^c10h9w9k70r3s2,1,NCxHWx<4>,NCxHWx<32>,hswish [0-9x]*,cpu,[0-9.]*,[0-9.]*,0,,,$' table.csv
grep -q '^c4h8w8k8r1s1,2,NCxHWx<4>,NCxHWx<4>,relu [0-9x]*,cpu,[0-9.]*,[0-9.]*,0,,,$' table.csv
grep -q '^c4h8w8k8r1s1,2,NCxHWx<32>,NCxHWx<32>,relu [0-9x]*,cpu,[0-9.]*,[0-9.]*,0,,,$' table.csv
[ "$(grep -c ',NCxHWx<32>,NCxHWx<32>,hswish [0-9x]*,cpu,.*,0,,,$' table.csv)" = 2 ]

"$program" --backend=cpu --layers=$tiny --layout=NC4 --batch=3 --tile=32x32 --check=false --csv=- >rows.csv 2>table.txt
[ "$(grep -c ',3,NCxHWx<4>,.* 32x32x32,cpu,.*,,,,$' rows.csv)" = 4 ]
grep -q 'not compared with the reference$' table.txt

refuses "Unknown command line flag 'layer'" --layer=t4_17
refuses "'t4_17' is not a flag; accepted are --layers, --batch, --backend, --tile, --csv" t4_17
refuses "--layers: there is no list 'vgg'; accepted are anchors, " \
  --layers=vgg
refuses "--layers is empty; accepted are anchors" --layers=
refuses "a layer is [n<N>]c<C>h<H>w<W>k<K>r<R>s<stride>" --layers=c64h56w56k64
refuses "layer 'c4h2w2k4r7s1p0': conv: r=7" --layers=c4h2w2k4r7s1p0
refuses "GB of memory, this machine has" --layers=n900c2048h1000w1000k4r1s1
refuses "--batch=0 is not a number of images; accepted are 1 to 1024" --batch=0
refuses "--batch=many is not a number of images; accepted are 1 to 1024" --batch=many
refuses "--tile=7x7 does not exist; accepted are 64x64x32, 128x128x32, 128x32x32, 32x32x32" --tile=7x7
refuses "--layout=nc8 is unknown; accepted are nc4, nc32, all" --layout=nc8
refuses "--csv=nowhere/a.csv cannot be written (No such file" --csv=nowhere/a.csv
"$here/refuses.sh" "--backend=gpu is unknown; accepted are cpu, cuda" "$program" --backend=gpu
"$here/refuses.sh" "--backend=cuda: no usable GPU: " env CUDA_VISIBLE_DEVICES= "$program" --backend=cuda
