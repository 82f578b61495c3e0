#!/bin/bash
# check_kernels.sh <build folder>: every .cu of ours is compiled for sm_75, sm_80 and sm_90a, with
# warnings and spills as errors; only the measuring program gemm_bench is for Hopper alone. Reads the
# commands that ninja would run; they must have run already.
set -euo pipefail
build=$1
wanted=('cmake/strict_ptxas' 'arch=compute_75,code=[^ ]*sm_75' 'arch=compute_80,code=[^ ]*sm_80'
        'arch=compute_90a,code=[^ ]*sm_90a' '-Werror all-warnings' '-Xptxas=-Werror'
        '-Xptxas=-warn-spills')

count=0
while IFS= read -r command; do
  count=$((count + 1))
  for flag in "${wanted[@]}"; do
    if ! grep -Eq -- "$flag" <<<"$command"; then
      printf 'compiled without %s:\n%s\n' "$flag" "$command"
      exit 1
    fi
  done
  object=$build/$(grep -oE -- '-o [^ ]+' <<<"$command" | tail -1 | cut -c4-)
  [ -f "$object" ] || { echo "$object was not built"; exit 1; }
done < <(ninja -C "$build" -t commands | grep -E ' -x cu ' | grep -E ' -c ' | grep -v '/gemm_bench\.dir/')
[ $count -gt 0 ] || { echo "no CUDA source at all"; exit 1; }
echo "$count CUDA sources compiled for sm_75, sm_80 and sm_90a without a warning or a spill"
