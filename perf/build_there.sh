#!/bin/bash
# build_there.sh TARGET...: builds programs for sm_90a with every tile in build/there, with all processors, on a
# machine with nvcc, CMake and Ninja; the packages that it lacks are those of .carry/debs (perf/carry.sh). What is
# built already is not built again, unless .carry/commit is another. WEFT_BUILD_S seconds (480) are the limit. Without
# targets it unpacks the packages.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/there
packages=$PWD/$build/packages
if [ -f .carry/commit ] && ! cmp -s .carry/commit $build/commit; then
  rm -rf $build
  mkdir -p $build
  cp .carry/commit $build
fi
mkdir -p "$packages"
for deb in .carry/debs/*.deb; do
  name=$(basename "$deb")
  if [ ! -f "$deb" ] || [ -f "$packages/$name" ]; then continue; fi
  dpkg -x "$deb" "$packages"
  touch "$packages/$name"
done
[ $# -gt 0 ] || exit 0

if [ ! -f $build/build.ninja ]; then
  export PATH=$PATH:/usr/local/cuda/bin
  headers=  # cuDNN's, where they are not beside the toolkit's
  [ -f "$(dirname "$(readlink -f "$(command -v nvcc)")")/../include/cudnn.h" ] || headers=$(python3 perf/libraries.py --headers)
  cmake -G Ninja -S . -B $build -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_CUDA_FLAGS=--compress-mode=size -DCMAKE_PREFIX_PATH="$packages/usr" -DCMAKE_INCLUDE_PATH="$headers" \
    -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DWEFT_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90a-real -DWEFT_GPU_TESTS=ON \
    -DWEFT_PERF_ALL_TILES=ON -DWEFT_WERROR=OFF -DWEFT_STRICT_KERNELS=OFF \
    >$build/configure.log 2>&1 || { cat $build/configure.log; exit 1; }
  if grep -E '^WEFT_(CUDNN|CUBLASLT)_INCLUDE:.*NOTFOUND' $build/CMakeCache.txt; then
    echo "build_there.sh: without these headers there is nobody to compare with; configure $build by hand if that is wanted"
    rm $build/build.ninja
    exit 1
  fi
fi
timeout -k 5 "${WEFT_BUILD_S:-480}" ninja -C $build "$@" >$build/build.log 2>&1 || { tail -40 $build/build.log; exit 1; }
echo "build_there.sh: $* after $SECONDS s"
