#!/bin/sh
# picture_filter.sh PROGRAM PICTURE.png HAVE_PNG: the program on files good and bad.
set -eu
here=$(dirname "$(readlink -f "$0")")
program=$(readlink -f "$1")
picture=$(readlink -f "$2")
have_png=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

refuses() { # SENTENCE ARGUMENT...
  sentence=$1
  shift
  "$here/refuses.sh" "$sentence" "$program" --backend=cpu "$@"
}

printf 'P6\n2 2\n255\nabcdefghijkl' >small.ppm
printf 'P6\n2 2\n255\nabc' >short.ppm
printf 'GIF89a' >other.gif
: >empty.ppm

"$program" --backend=cpu --filter=blur small.ppm out.ppm
[ "$(head -c 11 out.ppm)" = "$(head -c 11 small.ppm)" ]
[ "$(wc -c <out.ppm)" = "$(wc -c <small.ppm)" ]

refuses "1 file names given; give two" small.ppm
refuses "3 file names given; give two" small.ppm out.ppm out.ppm
refuses "--filter=blurr is unknown; accepted are blur, sharpen, edges, emboss" \
  --filter=blurr small.ppm out.ppm
refuses "Unknown command line flag 'filtre'" --filtre=blur small.ppm out.ppm
refuses "missing.ppm: cannot be opened (No such file" missing.ppm out.ppm
refuses ".: is a folder; give a file" . out.ppm
refuses "short.ppm: is truncated: 2 x 2 pixels are 12 bytes, 3 follow its header" short.ppm out.ppm
refuses "other.gif: is of no known format; accepted is binary PPM (P6" other.gif out.ppm
refuses "empty.ppm: is empty; accepted is binary PPM (P6" empty.ppm out.ppm
refuses "out.jpg: the output's name must end in .ppm" small.ppm out.jpg
refuses "nowhere/out.ppm: cannot be written (No such file" small.ppm nowhere/out.ppm
"$here/refuses.sh" "--backend=gpu is unknown; accepted are cpu, cuda" \
  "$program" --backend=gpu small.ppm out.ppm
"$here/refuses.sh" "--backend=cuda: no usable GPU: " \
  env CUDA_VISIBLE_DEVICES= "$program" --backend=cuda small.ppm out.ppm

[ "$have_png" = 1 ] || { refuses "is a PNG; accepted is binary PPM (P6" "$picture" out.ppm; exit 0; }

# What goes into a PNG comes out of it.
"$program" --backend=cpu --filter=emboss "$picture" a.ppm
"$program" --backend=cpu --filter=emboss "$picture" a.PNG
"$program" --backend=cpu --filter=sharpen a.ppm from_ppm.ppm
"$program" --backend=cpu --filter=sharpen a.PNG from_png.ppm
cmp from_ppm.ppm from_png.ppm
cp "$picture" no_extension_needed
"$program" --backend=cpu --filter=edges no_extension_needed edges.png

for bytes in 9 20 40 1000 100000; do
  head -c $bytes "$picture" >short.png
  refuses "short.png: is a damaged or truncated PNG (libpng: " short.png out.png
done
refuses "nowhere/out.png: cannot be written" small.ppm nowhere/out.png
