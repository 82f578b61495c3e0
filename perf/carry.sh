#!/bin/bash
# carry.sh: puts into .carry/, which git ignores, what a machine with a Hopper GPU and without network needs
# besides this checkout to build it (perf/build_there.sh) and to measure it (perf/measure.py):
#
#   .carry/debs    Debian's packages of Abseil, GoogleTest, Boost.Context and nlohmann-json, 12 MB
#   .carry/commit  the last commit that changes what is measured: not documents, results or scripts
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .carry/debs
packages=(libabsl-dev googletest libgtest-dev libgmock-dev nlohmann-json3-dev libboost-context-dev)
# Those that they need in turn, as far as they belong to these libraries.
mapfile -t all < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
  --no-enhances "${packages[@]}" | grep -E '^(libabsl|libg(test|mock)|googletest|nlohmann-json3|libboost-context|libboost[0-9.]+-dev)' |
  sort -u)
(
  cd .carry/debs
  for package in "${all[@]}"; do
    compgen -G "${package}_*.deb" >/dev/null || apt-get download -qq "$package"
  done
)

measured=(conv gemm layouts epilogues prologues network rtc perf cmake CMakeLists.txt tests/reference
          ':!perf/results' ':!*.md' ':!*.md.in' ':!*.py' ':!*.sh')
commit=$(git log -1 --abbrev=10 --format=%h -- "${measured[@]}")
[ -z "$(git status --porcelain -- "${measured[@]}")" ] || commit=$commit-dirty
echo "$commit" >.carry/commit
echo ".carry: ${#all[@]} packages, $(du -sm .carry | cut -f1) MB, commit $commit"
