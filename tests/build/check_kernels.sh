#!/bin/bash
# check_kernels.sh <build folder>: every .cu of ours is compiled for sm_75, sm_80 and sm_90a, with
# warnings and spills as errors; tests of one family of kernels only for the GPUs of that family, and the
# measuring programs for Hopper. Reads the commands that ninja would run; they must have run already.
set -euo pipefail
build=$1
wanted=('cmake/strict_ptxas' 'arch=compute_90a,code=[^ ]*sm_90a' '-Werror all-warnings' '-Xptxas=-Werror'
        '-Xptxas=-warn-spills')
sm_75='arch=compute_75,code=[^ ]*sm_75'
sm_80='arch=compute_80,code=[^ ]*sm_80'

count=0
while IFS= read -r command; do
  count=$((count + 1))
  flags=("${wanted[@]}")
  case $command in
    */weft_perf.dir/* | */local_bench.dir/* | */gemm_bench.dir/* | */condconv_bench.dir/* | */deconv_bench.dir/* | \
      *wgmma*_test.cu* | *hopper*_test.cu* | *depthwise_test.cu* | *activation*_test.cu* | *output_test.cu* | \
      *copy_test.cu* | *zero_point_test.cu*) ;;
    *_mma_test.cu* | *mma_test.cu* | *nhwc_test.cu* | *prologue_epilogue_test.cu* | *ring_gemm_test.cu* | \
      *gemm/gemm_*test.cu* | *cudnn_test.cu* | *condconv_test.cu* | *deconvolution_test.cu*) flags+=("$sm_80") ;;
    *) flags+=("$sm_75" "$sm_80") ;;
  esac
  for flag in "${flags[@]}"; do
    if ! grep -Eq -- "$flag" <<<"$command"; then
      printf 'compiled without %s:\n%s\n' "$flag" "$command"
      exit 1
    fi
  done
  object=$build/$(grep -oE -- '-o [^ ]+' <<<"$command" | tail -1 | cut -c4-)
  [ -f "$object" ] || { echo "$object was not built"; exit 1; }
done < <(ninja -C "$build" -t commands | grep -E ' -x cu ' | grep -E ' -c ')
[ $count -gt 0 ] || { echo "no CUDA source at all"; exit 1; }
echo "$count CUDA sources compiled for their GPUs among sm_75, sm_80 and sm_90a without a warning or a spill"
