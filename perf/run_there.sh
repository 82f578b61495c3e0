#!/bin/bash
# run_there.sh [stage]...: checks that need the GPU, on the machine with the GPU. Programs that are missing are built
# there first (perf/build_there.sh). Times are perf/measure.py's part.
# run_there.sh -- <command> [argument]...: one command, with the same libraries and limit.
#
#   tests      every GPU test, or those of WEFT_TESTS ("gpu_conv_kernel_pool_test gpu_gemm_block_mma_test")
#   cudnn      the comparison with cuDNN's results, in full; docs/cudnn_differences.md is made from its log
#   demo       weft_demo --backend=cuda
#   sanitizer  compute-sanitizer memcheck and racecheck on small problems
#   ab         perf/ab.py: the weft_perf of the folder WEFT_A against this one's, list anchors; ab.json, ab.md; WEFT_AB has
#              more of its flags
#   ncu        Nsight Compute on the kernels that WEFT_NCU names (layer:batch:tile[:layout] ...)
#
# Without arguments: tests cudnn demo sanitizer. WEFT_LIMIT_S (570) is the time for all of it; stages that it leaves no
# time for are not run. Logs and results go to build/checks; $OUT, if set, gets them as one results.tar.gz, written anew
# after each stage, and summary.txt.
# shellcheck disable=SC2317,SC2086  # the stages are called by name; names have no spaces
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
there=${WEFT_THERE:-build/there}
bin=$there/bin
out=${WEFT_RESULTS:-build/checks}
mkdir -p "$out"
export PATH=$PATH:/usr/local/cuda/bin
limit=${WEFT_LIMIT_S:-570}
ncu_cases=${WEFT_NCU:-c64h56w56k64r3s1:64:simt_128x64x32_64x32x32_8x8 c256h14w14k1024r1s1:64:simt_128x128x32_64x32x32_8x8}

# The cuDNN and cuBLASLt of PyTorch's wheels, for every program: the system's are older.
mapfile -t wheel < <(python3 perf/libraries.py)
export LD_LIBRARY_PATH=${wheel[0]:+${wheel[0]}:}$PWD/$there/packages/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -n "${WEFT_THERE:-}" ] || perf/build_there.sh || exit 2  # forgets programs of other commits
echo "cuDNN ${wheel[1]:-of the system}, $(cat .carry/commit 2>/dev/null || echo unknown commit)"

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
[ $# -gt 0 ] || stages=(tests cudnn demo sanitizer)

gpu_state() {
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu \
    --format=csv,noheader
}

# need <target>...: those of its programs that are missing are built.
need() {
  local target missing=()
  for target in "$@"; do
    [ -x "$bin/$target" ] || [ -x "$there/tests/$target" ] || missing+=("$target")
  done
  [ ${#missing[@]} -eq 0 ] || WEFT_BUILD_S=$((limit - SECONDS)) perf/build_there.sh "${missing[@]}"
}

tests() {
  local failed=0 test all=${WEFT_TESTS:-$(cd tests && find . -name '*_test.cu' | sed -E 's|^./|gpu_|; s|/|_|g; s|[.]cu$||')}
  need $all || return
  for test in $all; do
    echo "=== $test"
    bounded 90 "$there/tests/$test" --gtest_brief=1 || { echo "=== $test FAILED ($?)"; failed=1; }
  done
  return $failed
}

cudnn() {
  need gpu_conv_cudnn_test || return
  bounded 120 "$there/tests/gpu_conv_cudnn_test" && ! grep -q SKIPPED "$out/cudnn.log"  # skipped is not passed
}

demo() { need weft_demo && bounded 120 "$bin/weft_demo" --backend=cuda; }

ab() {
  need weft_perf || return
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
  local failed=0 small tool gpu=$there/tests
  need weft_perf gpu_conv_{epilogue_epilogue,depthwise_depthwise}_test gpu_conv_hopper_wgmma{,_split_k,_first}_test \
    gpu_conv_table_{simt,mma_sm75,mma_sm80,mma_sm80_nhwc,wgmma_sm90}_test \
    gpu_gemm_table_{simt,wgmma_sm90}_test || return
  # Every tile of the family, with and without im2col, more than one k tile, ragged edges.
  small="--once --layer=c20h9w9k36r3s1,c140h7w7k20r1s1"
  for tool in memcheck racecheck; do
    check $tool $bin/weft_perf $small --layout=nc4 --batch=2 || failed=1
  done
  check memcheck $gpu/gpu_conv_table_simt_test --gtest_brief=1 --gtest_filter='*Nc4ToNc4:*AnyK:*Sliced*:*S4' || failed=1
  check memcheck $gpu/gpu_conv_epilogue_epilogue_test --gtest_brief=1 || failed=1
  # Sums between blocks: racecheck takes minutes for them.
  check memcheck $gpu/gpu_conv_hopper_wgmma_split_k_test --gtest_brief=1 || failed=1
  check memcheck $gpu/gpu_conv_depthwise_depthwise_test --gtest_brief=1 --gtest_filter='-*Random' || failed=1
  check racecheck $gpu/gpu_conv_table_simt_test --gtest_brief=1 --gtest_filter='*Nc4ToNc4:*Sliced' || failed=1
  for tool in memcheck racecheck; do
    check $tool $gpu/gpu_conv_table_mma_sm80_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32:*NarrowWarps:*Nc64Centred' ||
      failed=1
    check $tool $gpu/gpu_conv_table_mma_sm75_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32:*Nc64SourceS4' || failed=1
    check $tool $gpu/gpu_conv_table_mma_sm80_nhwc_test --gtest_brief=1 --gtest_filter='*NhwcToNhwc:*ByFour*' || failed=1
    check $tool $gpu/gpu_conv_table_wgmma_sm90_test --gtest_brief=1 --gtest_filter='*Nc32ToNc32:*NhwcToNhwc:*PingPong' ||
      failed=1
    check $tool $gpu/gpu_conv_hopper_wgmma_test --gtest_brief=1 --gtest_filter='*Patches' || failed=1
    check $tool $gpu/gpu_conv_hopper_wgmma_first_test --gtest_brief=1 || failed=1
    check $tool $gpu/gpu_gemm_table_wgmma_sm90_test --gtest_brief=1 --gtest_filter='*.Int8:*.HalfKMajor' || failed=1
    check $tool $gpu/gpu_gemm_table_simt_test --gtest_brief=1 --gtest_filter='*.Dp4aKMajor:*.Async:*.AsyncSliced' || failed=1
  done
  return $failed
}

ncu_stage() {
  local failed=0 case layer batch tile layout
  need weft_perf || return
  for case in $ncu_cases; do
    IFS=: read -r layer batch tile layout <<<"$case"
    bounded 90 ncu --clock-control none --kernel-name-base demangled -k 'regex:Entry<' -c 1 \
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

known=" tests cudnn demo ab sanitizer ncu "
for stage in "${stages[@]}"; do
  [[ $known = *" $stage "* ]] || { echo "run_there.sh: no stage '$stage'; the stages are$known"; exit 2; }
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
  [ "$stage" != ncu ] || run=ncu_stage
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
