#include "tests/conv/table/problems/tile_problems.hpp"

#include <algorithm>
#include <initializer_list>

#include "tests/conv/table/problems/problems.hpp"
#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv::tiles {
namespace {

std::vector<Problem> DepthwiseProblems(const ConvFacts& facts) {
  const std::int64_t rows = facts.config.thread.m / DepthwiseConfig::kColumns;
  const std::int64_t lanes = facts.config.threadblock.n;  // their channels
  const std::int64_t channels[] = {lanes + 1, lanes, lanes - 1, 2 * lanes + 1, 1, lanes - 3, lanes};
  std::vector<Problem> all;
  for (const DepthwiseShape& shape : kDepthwiseShapes) {
    const std::int64_t taps = shape.IsAny() ? 2 : shape.r;
    Problem p = SquareProblem(2, channels[all.size()], 1, 1, taps, taps / 2,
                              shape.IsAny() ? 1 : shape.stride);
    p.h = (rows + 1) * p.stride_h + 1, p.w = 9 * p.stride_w;
    if (all.size() == 1) p.n = 1, p.w = facts.config.threadblock.m / (rows + 1) + 1;
    if (facts.source.nhwc) p.c = RoundUp(p.c, 4);
    p.groups = p.c, p.k = (all.size() == 2 ? 2 : 1) * p.c;
    all.push_back(p);
  }
  return all;
}

}  // namespace

std::vector<Problem> ProblemsFor(const ConvFacts& facts) {
  if (facts.IsDepthwise()) return DepthwiseProblems(facts);
  const std::int64_t m = facts.config.threadblock.m, n = facts.channels();
  const std::int64_t k = facts.KTileUnits() * facts.source.unit_channels;
  Problem one = {.n = 1, .h = 1, .w = 1, .c = 1, .k = 1};
  Problem whole = {.n = 1, .h = 1, .w = m, .c = k, .k = n};
  Problem beyond = {.n = 1, .h = 1, .w = m + 1, .c = k - 1, .k = n + 1};
  Problem below = SquareProblem(1, k / 2 + 1, 7, n - 1, 3, 1, 1);
  below.w = std::max<std::int64_t>(1, (m - 1) / 7);
  const Problem deep = SquareProblem(1, 2 * k + 1, 4, 5, 3, 1, 1);
  Problem apart = {.n = 3, .h = 9, .w = 12, .c = k + 1, .k = 33, .r = 2, .s = 3};
  apart.pad_left = 2, apart.pad_bottom = 1, apart.stride_h = 2, apart.dilation_w = 2;
  apart.mode = Mode::kConvolution;
  std::vector<Problem> all;
  for (const Problem& p : {one, whole, beyond, below, deep, apart}) {
    all.push_back(table::Fitted(facts, p));
  }
  return all;
}

std::vector<FusedProblem> FusedProblemsFor(const gemm::TileDescription& config) {
  const std::int64_t n = config.threadblock.n, warps = n / config.warp.n;
  const std::int64_t c[] = {32 * warps + 1, 33, 31, 5}, k[] = {n + 1, n - 1, n, 1};
  std::vector<FusedProblem> all;
  for (const std::int64_t taps : {3, 5}) {
    for (const std::int64_t stride : {1, 2}) {
      const std::size_t i = all.size();
      // Blocks are 4 patches of 4 pixels by the thread's rows.
      Problem p = SquareProblem(2, c[i], 1, 1, taps, taps / 2, stride);
      p.h = (config.thread.m / DepthwiseConfig::kColumns + 1) * stride, p.w = 17 * stride;
      all.push_back({p, RoundUp(k[i], 8)});
    }
  }
  return all;
}

}  // namespace weft::conv::tiles
