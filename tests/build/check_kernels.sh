#!/bin/bash
# check_kernels.sh <build folder>: every .cu of ours is compiled for those of sm_75, sm_80 and sm_90a that
# cmake/gpu_architectures.txt names, with warnings, spills and local memory as errors. Reads the commands that ninja would
# run; they must have run already.
set -euo pipefail
build=$1
wanted=('cmake/strict_ptxas' '-Werror all-warnings' '-Xptxas=-Werror' '-Xptxas=-warn-spills,-warn-lmem-usage')
mapfile -t lines < <(grep '^[^#]' "$(dirname "$0")/../../cmake/gpu_architectures.txt")

# flags_for <target>: of its architectures.
flags_for() {
  local line pattern named number
  for line in "${lines[@]}"; do
    read -r pattern named <<<"$line"
    if [[ $1 =~ ^($pattern)(_kernels)?$ ]]; then
      for number in $named; do echo "arch=compute_$number,code=[^ ]*sm_$number"; done
      return
    fi
  done
}

count=0
while IFS= read -r command; do
  count=$((count + 1))
  object=$(grep -oE -- '-o [^ ]+' <<<"$command" | tail -1 | cut -c4-)
  target=$(sed -E 's|.*CMakeFiles/([^/]*)\.dir/.*|\1|' <<<"$object")
  mapfile -t flags < <(flags_for "$target")
  [ ${#flags[@]} -gt 0 ] || { echo "no line of gpu_architectures.txt is for $target"; exit 1; }
  for flag in "${wanted[@]}" "${flags[@]}"; do
    if ! grep -Eq -- "$flag" <<<"$command"; then
      printf 'compiled without %s:\n%s\n' "$flag" "$command"
      exit 1
    fi
  done
  [ -f "$build/$object" ] || { echo "$build/$object was not built"; exit 1; }
done < <(ninja -C "$build" -t commands | grep -E ' -x cu ' | grep -E ' -c ')
[ $count -gt 0 ] || { echo "no CUDA source at all"; exit 1; }
echo "$count CUDA sources compiled for their GPUs among sm_75, sm_80 and sm_90a without a warning, a spill or local memory"
