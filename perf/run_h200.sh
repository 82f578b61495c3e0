#!/bin/bash
# run_h200.sh [stage]...: everything that needs the GPU, in one run. Runs on the machine with the GPU,
# in the repository's root, with the programs that perf/carry.sh built in carry/ (or its build.sh made there).
# run_h200.sh -- <command> [argument]...: one command, with the same libraries and limit.
#
#   tests      every GPU test, or those of WEFT_TESTS ("gpu_conv_pool_test gpu_gemm_block_test")
#   cudnn      the comparison with cuDNN's results, in full; docs/cudnn_differences.md is made from its log
#   demo       weft_demo --backend=cuda
#   nc4        weft_perf over NCxHWx<4> against cuDNN's INT8x4 path, list `anchors`; anchors-nc4-n*.json
#   perf       weft_perf, all layouts and peers, with the reformats of NCxHWx<32> tensors, on the lists
#              WEFT_LIST (anchors,t4_17,resnet50,small_k,reformat); <list>-n*.json, tuning.txt
#   depthwise  weft_perf on the list `depthwise`; depthwise-n*.json
#   epilogues  weft_perf with residuals and with hard swish, list resnet50; resnet50-{residual,hswish}-n*.json
#   network    weft_perf --network=resnet50, our tensors NCxHWx<32> and NHWC; resnet50[-nhwc]-network.json
#   large      the same over NHWC, without peers, with batches of 32 to 2048; resnet50-nhwc-large.json
#   condconv, deconv, fused, local, block, costs, types, lists, gemm, batch, ladder
#              condconv_bench ... local_bench (local-filter.json), block_bench, epilogue_bench (epilogue-costs.json; its
#              functors of the source, types of outputs and depthwise convolutions alone: epilogue-types.json), list_bench,
#              gemm_bench on products of WEFT_GEMM_SIZES (4096), and on batches WEFT_BATCH_SIZES (gemm-batch.json),
#              examples/ladder; <stage>.json
#   grid       gemm_bench, every type x every order of A and B on the products WEFT_GRID_SIZES (10240x4096x4096, 4096^3,
#              8192^3 and 16 rows or columns), tiles that the model expects within WEFT_GRID_NEAR (2) of its choice;
#              gemm-grid.json. As many products as there is time for, and the same command again does the others: it
#              goes on from the gemm-grid.json of this commit in build/h200, or in perf/results/h200 (WEFT_GRID_KEPT)
#   ab         perf/ab.py: the weft_perf of the folder WEFT_A (another carry/), against this one's, list anchors;
#              ab.json, ab.md; WEFT_AB has more of its flags
#   sanitizer  compute-sanitizer memcheck and racecheck on small problems
#   ncu        Nsight Compute on the kernels that WEFT_NCU names (layer:batch:tile[:layout] ...)
#
# Without arguments: tests cudnn demo nc4 sanitizer. Those of weft_perf take the batches WEFT_BATCH (1,16,64), as many
# rows as there is time for, and of each peer what was best in perf/results/h200 (perf/choices.py; WEFT_CHOICES=none
# tries everything again). WEFT_LIMIT_S (570) is the time for all of it; stages that it leaves no time for are not run.
# Logs and results go to build/h200; $OUT, if set, gets them as one results.tar.gz, written anew after each stage, and
# summary.txt.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
# shellcheck disable=SC2317  # the stages are called by name
carry=${WEFT_CARRY:-carry}
bin=$carry/bin
out=${WEFT_RESULTS:-build/h200}
mkdir -p "$out"
export PATH=$PATH:/usr/local/cuda/bin
limit=${WEFT_LIMIT_S:-570}
commit=$(cat "$carry/commit" 2>/dev/null || echo unknown)
ncu_cases=${WEFT_NCU:-c64h56w56k64r3s1:64:simt_128x64x32_64x32x32_8x8 c256h14w14k1024r1s1:64:simt_128x128x32_64x32x32_8x8}

# The cuDNN and cuBLASLt of PyTorch's wheels, for every program: the system's are older.
mapfile -t wheel < <(python3 - <<'PY' 2>/dev/null
import glob, importlib.metadata, os
import nvidia
found = [path for root in nvidia.__path__ for path in
         glob.glob(os.path.join(root, "cudnn", "lib")) + glob.glob(os.path.join(root, "cu13", "lib"))]
print(":".join(found))
print(".".join(importlib.metadata.version("nvidia-cudnn-cu13").split(".")[:3]))
PY
)
[ -z "${wheel[0]:-}" ] || export LD_LIBRARY_PATH=${wheel[0]}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
echo "cuDNN ${wheel[1]:-of the system}, $commit"

# bounded <seconds> <command>...: no longer than that, nor than is left of all the time.
bounded() {
  local seconds=$1 left=$((limit - SECONDS))
  shift
  [ "$left" -gt 3 ] || { echo "no time left for: $*"; return 124; }
  timeout -k 5 $((seconds < left ? seconds : left)) "$@"
}

if [ "${1:-}" = -- ]; then
  shift
  bounded "$limit" "$@"
  exit
fi
stages=("$@")
[ $# -gt 0 ] || stages=(tests cudnn demo nc4 sanitizer)
if [ "${WEFT_CHOICES:-}" = none ] || ! python3 perf/choices.py --cudnn="${wheel[1]:-}" >"$out/choices"; then
  rm -f "$out/choices"
fi

gpu_state() {
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu \
    --format=csv,noheader
}

tests() {
  local failed=0 test
  # shellcheck disable=SC2086  # WEFT_TESTS is several names
  for test in ${WEFT_TESTS:-$(cd $bin && ls -d gpu_*)}; do
    echo "=== $test"
    bounded 90 "$bin/$test" --gtest_brief=1 || { echo "=== $test FAILED ($?)"; failed=1; }
  done
  return $failed
}

cudnn() {
  bounded 120 $bin/gpu_conv_cudnn_test && ! grep -q SKIPPED "$out/cudnn.log"  # skipped is not passed
}

demo() { bounded 120 $bin/weft_demo --backend=cuda; }

# bench <program> <file> [flag]...: one of those that write one file.
# It starts nothing that the time left would not do for, and writes what it has.
bench() {
  local left=$((limit - 20 - SECONDS))
  bounded 500 "$bin/$1" --json="$out/$2.json" --commit="$commit" --stop_after_s=$((left < 480 ? left : 480)) "${@:3}"
}
condconv() { bench condconv_bench condconv; }
deconv() { bench deconv_bench deconv; }
fused() { bench fused_bench fused; }
local_stage() { bench local_bench local-filter; }
block() { bench block_bench block; }
costs() { bench epilogue_bench epilogue-costs; }
types() { bench epilogue_bench epilogue-types --kinds=source,type,depthwise; }
lists() { bench list_bench lists; }
batch() {
  bench gemm_bench gemm-batch --sizes="${WEFT_BATCH_SIZES:-128x128x128x512,512x512x512x64,64x4096x1024x16}" \
    --only="s8 wgmma,s8 mma,f16 wgmma,f16 mma" --skip=Streamed,ToHalf,HalfSum,ByS8,ByInt4,ByHalf,Bfloat16,RowRow,ColumnRow,ColumnColumn
}
gemm() { bench gemm_bench gemm --sizes="${WEFT_GEMM_SIZES:-4096}"; }
grid() {
  local file=$out/gemm-grid.json kept=${WEFT_GRID_KEPT:-perf/results/h200/gemm-grid.json}
  [ -f "$file" ] || { [ -f "$kept" ] && cp "$kept" "$file"; }
  # What is under way at the end of the time takes up to half a minute more.
  bounded $((limit - 10)) $bin/gemm_bench --json="$file" --commit="$commit" --resume --skip=Streamed --nosm80 \
    --near="${WEFT_GRID_NEAR:-2}" --stop_after_s=$((limit - 60 - SECONDS)) \
    --sizes="${WEFT_GRID_SIZES:-10240x4096x4096,4096,4096x16x4096,16x4096x4096,8192}"
}
ladder() { bench ladder ladder --backend=cuda; }

# weft <arguments>: weft_perf, as many rows as there is time for.
weft() {
  bounded $((limit - 10)) $bin/weft_perf --batch="${WEFT_BATCH:-1,16,64}" --threads="$(nproc)" --json="$out" \
    --commit="$commit" --stop_after_s=$((limit - 30 - SECONDS)) "$@"
  local status=$?
  gpu_state
  return $status
}
nc4() { weft --list=anchors --name=anchors-nc4 --layout=nc4 --peer=cudnn_int8x4; }
perf() {
  weft --list="${WEFT_LIST:-anchors,t4_17,resnet50,small_k,reformat}" --tensors=nc32 --sweep="$out/tuning.txt" \
    --cache="$out/choices"
}
depthwise() { weft --list=depthwise --cache="$out/choices"; }
network() {
  local status=0 tensors
  for tensors in nc32 nhwc; do
    weft --network=resnet50 --tensors=$tensors --cache="$out/choices" || status=$?
  done
  return $status
}
large() {
  mkdir -p "$out/large"
  WEFT_BATCH=${WEFT_BATCH:-32,128,256,512,1024,2048} weft --network=resnet50 --tensors=nhwc --peer=none \
    --tile=wgmma --json="$out/large"
  local status=$?
  mv "$out/large/resnet50-nhwc-network.json" "$out/resnet50-nhwc-large.json" || status=$?
  return $status
}
epilogues() {
  local status=0 epilogue
  for epilogue in residual hswish; do
    weft --list=resnet50 --name=resnet50-$epilogue --epilogue=$epilogue --cache="$out/choices" || status=$?
  done
  return $status
}

ab() {
  # shellcheck disable=SC2086  # WEFT_AB is several flags
  bounded $((limit - 5)) python3 perf/ab.py "${WEFT_A:?the folder of the other programs}/bin/weft_perf" $bin/weft_perf \
    --batch="${WEFT_BATCH:-1,16,64}" --limit_s=$((limit - 40 - SECONDS)) --json="$out/ab.json" \
    --markdown="$out/ab.md" ${WEFT_AB:-}
}

# check <tool> <command>...: compute-sanitizer must find nothing.
check() {
  local tool=$1
  shift
  echo "=== $tool: $*"
  bounded 120 compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 "$@" ||
    { echo "=== $tool FAILED ($?): $*"; return 1; }
}

sanitizer() {
  local failed=0 small tool
  # Every tile of the family, with and without im2col, more than one slice, ragged edges.
  small="--once --layer=c20h9w9k36r3s1,c140h7w7k20r1s1"
  # $small is split on purpose.
  for tool in memcheck racecheck; do
    # shellcheck disable=SC2086
    check $tool $bin/weft_perf $small --layout=nc4 --batch=2 || failed=1
  done
  check memcheck $bin/gpu_conv_problems_test --gtest_brief=1 --gtest_filter='-*Random' || failed=1
  check memcheck $bin/gpu_conv_layouts_test --gtest_brief=1 || failed=1
  check memcheck $bin/gpu_conv_epilogue_test --gtest_brief=1 || failed=1
  # Sums between blocks: racecheck takes minutes for them.
  check memcheck $bin/gpu_conv_wgmma_split_test --gtest_brief=1 || failed=1
  check memcheck $bin/gpu_conv_depthwise_test --gtest_brief=1 --gtest_filter='-*Random' || failed=1
  check racecheck $bin/gpu_conv_problems_test --gtest_brief=1 \
    --gtest_filter='ConvolutionTiles.*:*Dilation:*Pointwise:*ThreeInput*' || failed=1
  check racecheck $bin/gpu_conv_layouts_test --gtest_brief=1 || failed=1
  for tool in memcheck racecheck; do
    check $tool $bin/gpu_conv_mma_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32:*NhwcToNhwc:*SmallK' ||
      failed=1
    check $tool $bin/gpu_conv_mma_sm75_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32*' || failed=1
    check $tool $bin/gpu_conv_nhwc_test --gtest_brief=1 --gtest_filter='*EveryPolicy*:*ToBlocked*' || failed=1
    check $tool $bin/gpu_conv_wgmma_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32:*NhwcToNhwc:*Patches:*Epilogues' ||
      failed=1
    check $tool $bin/gpu_conv_wgmma_first_test --gtest_brief=1 || failed=1
    check $tool $bin/gpu_gemm_wgmma_gemm_test --gtest_brief=1 --gtest_filter='*Int8:*Half' || failed=1
    check $tool $bin/gpu_gemm_gemm_test --gtest_brief=1 --gtest_filter='*Sums' || failed=1
    check $tool $bin/gpu_gemm_gemm_types_test --gtest_brief=1 --gtest_filter='*Async*' || failed=1
  done
  return $failed
}

ncu_stage() {
  local failed=0 case layer batch tile layout
  for case in $ncu_cases; do
    IFS=: read -r layer batch tile layout <<<"$case"
    bounded 90 ncu --clock-control none --kernel-name-base demangled -k 'regex:TileKernel|DepthwiseKernel' -c 1 \
      --section SpeedOfLight --section Occupancy --section LaunchStats --section WarpStateStats \
      --section SchedulerStats --section MemoryWorkloadAnalysis --section InstructionStats \
      --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis_Tables \
      --metrics 'regex:smsp__average_warps_issue_stalled_.*_per_issue_active.ratio,regex:sm__(inst_executed_)?pipe_tensor.*pct_of_peak_sustained_active' \
      $bin/weft_perf --once --layer="$layer" --batch="$batch" --layout="${layout:-nc4}" --tile="$tile" || failed=1
  done
  return $failed
}

# skipped <stage>: how many tests its log says were skipped, which is neither passed nor failed.
skipped() {
  awk '$2 == "SKIPPED" && $5 ~ /^tests?[.]$/ {n += $4} END {print n + 0}' "$out/$1.log"
}

# What is there so far, in few files: a machine may return only so many, or be taken away.
pack() {
  printf '%s\n' "${summary[@]}" >"$out/summary.txt"
  [ -n "${OUT:-}" ] || return 0
  (cd "$out" && find . -maxdepth 1 -type f -newer .started -print0 | tar -czf "$OUT/results.tar.gz" --null -T -)
  cp "$out/summary.txt" "$OUT"
}

known=" tests cudnn demo nc4 perf depthwise epilogues network large condconv deconv fused local block costs types lists batch gemm grid ladder ab sanitizer ncu "
for stage in "${stages[@]}"; do
  [[ $known = *" $stage "* ]] || { echo "run_h200.sh: no stage '$stage'; the stages are$known"; exit 2; }
done
touch -d '1 second ago' "$out/.started"
failures=0
summary=()
for stage in "${stages[@]}"; do
  start=$SECONDS
  if [ $((limit - start)) -lt 10 ]; then
    failures=1
    summary+=("$(printf '%-10s NOT RUN, no time left' "$stage")")
    pack
    continue
  fi
  run=$stage
  case $stage in ncu | local) run=${stage}_stage ;; esac
  printf '\n##### %s\n' "$stage"
  { gpu_state; $run; } >"$out/$stage.log" 2>&1
  status=$?
  [ $status -eq 0 ] || failures=1
  verdict=$([ $status -eq 0 ] && echo ok || echo "FAILED ($status)")
  skips=$(skipped "$stage")
  [ "$skips" -eq 0 ] || verdict="$verdict, $skips tests SKIPPED"
  summary+=("$(printf '%-10s %s  %4d s' "$stage" "$verdict" $((SECONDS - start)))")
  # What is worth seeing at once; the logs have it all.
  case $stage in
    tests | cudnn | sanitizer) grep -E '^===|FAILED|PASSED|SKIPPED|SUMMARY|Error:|hazard' "$out/$stage.log" | tail -40 ;;
    ncu) grep -E 'Kernel|Duration|Throughput|Registers Per|Achieved Occ|Issue Slots|No Eligible|stall' "$out/ncu.log" | cut -c1-120 | head -60 ;;
    ab) tail -15 "$out/ab.log"; sed -n 1,9p "$out/ab.md" ;;
    *) cut -c1-190 "$out/$stage.log" | grep -vE '^$' | tail -110 ;;
  esac
  pack
done
printf '\n##### summary\n'
cat "$out/summary.txt"
exit $failures
