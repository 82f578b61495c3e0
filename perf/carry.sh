#!/bin/bash
# carry.sh: builds what runs on another machine with a Hopper GPU, and puts it into carry/, which git
# ignores. The programs hold kernels for sm_90a only and need nothing there but the C library.
#
#     perf/carry.sh                      # the GPU tests, weft_demo, weft_perf, the benches
#     perf/carry.sh weft_perf weft_demo  # only these
#     perf/carry.sh --compile-there deconv_bench    # with nvcc there, carry/build.sh (perf/carry_sources.py)
#     WEFT_CARRY=carry_mine perf/carry.sh weft_perf    # into another folder, for git to ignore too
set -euo pipefail
cd "$(dirname "$0")/.."
out=${WEFT_CARRY:-carry}
build=build/$out
limit_mb=60
there=
if [ "${1:-}" = --compile-there ]; then
  there=1
  shift
fi

# Debian's Abseil comes as shared and as static libraries, but its CMake package names the shared
# ones. A copy of the package that names the others:
package=$build/absl
original=$(dirname "$(find /usr/lib /usr/local/lib -name abslConfig.cmake -print -quit 2>/dev/null)")
if [ -f "$original/abslConfig.cmake" ]; then
  rm -rf "$package"
  mkdir -p "$package"
  cp "$original"/*.cmake "$package"
  prefix=$(cd "$original/../../../.." && pwd)  # <prefix>/lib/<triplet>/cmake/absl
  case $original in */lib/cmake/absl) prefix=$(cd "$original/../../.." && pwd) ;; esac
  sed -i -e "s|\${_IMPORT_PREFIX}|$prefix|g" -e 's/\.so\(\.[0-9.]*\)\?"/.a"/g' \
    -e 's/ SHARED IMPORTED/ STATIC IMPORTED/' -e '/IMPORTED_SONAME/d' "$package"/*.cmake
fi

mkdir -p "$build"
launcher=$(command -v ccache || true)
cmake -G Ninja -S . -B "$build" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_CUDA_COMPILER_LAUNCHER="$launcher" \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG -ffunction-sections -fdata-sections" \
  -DCMAKE_CUDA_FLAGS=--compress-mode=size \
  -DWEFT_PERF_ALL_TILES=ON -DWEFT_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90a-real -Dabsl_DIR="$PWD/$package" \
  -DBoost_USE_STATIC_LIBS=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON \
  -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc -Wl,--gc-sections" >"$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }

if [ $# -gt 0 ]; then
  targets=("$@")
else
  ninja -C "$build" -t targets all >"$build/targets.txt"
  mapfile -t targets < <(grep -oE '^(gpu_[a-z0-9_]+_test|weft_perf|weft_demo|[a-z]+_bench|ladder):' "$build/targets.txt" |
    tr -d : | sort -u)
fi
if [ -n "$there" ]; then
  python3 perf/carry_sources.py "$build" "$out" "${targets[@]}"
  git describe --always --dirty --abbrev=10 >"$out/commit"
  size=$(du -sm "$out" | cut -f1)
  echo "$out: $size MB, commit $(cat "$out/commit"); there: $out/build.sh"
  [ "$size" -le $limit_mb ] || { echo "carry.sh: more than $limit_mb MB; name fewer programs"; exit 1; }
  exit
fi
echo "building ${targets[*]}"
ninja -C "$build" "${targets[@]}"

rm -rf "$out"
mkdir -p "$out/bin"
for target in "${targets[@]}"; do
  for path in $build/bin/$target $build/tests/$target; do
    if [ -f "$path" ]; then cp "$path" $out/bin; fi
  done
  [ -f "$out/bin/$target" ] || { echo "carry.sh: $target was not found after the build"; exit 1; }
done
strip $out/bin/*
git describe --always --dirty --abbrev=10 >$out/commit

foreign=$(for file in "$out"/bin/*; do
  readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libpthread|libdl|librt|ld-linux-x86-64)\.so' | sed "s|^|${file##*/} needs |"
done || true)
if [ -n "$foreign" ]; then
  echo "$foreign"
  echo "carry.sh: the other machine may not have these libraries"
  exit 1
fi
newest=$(objdump -T $out/bin/* | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
size=$(du -sm $out | cut -f1)
echo "$out: ${#targets[@]} programs, $size MB, commit $(cat $out/commit), needs $newest"
[ "$size" -le $limit_mb ] || { echo "carry.sh: more than $limit_mb MB:"; du -m $out/bin/* | sort -rn; exit 1; }
