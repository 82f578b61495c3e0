#include "weft/conv/depthwise/depthwise_plan.hpp"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem/problem_checks.hpp"

namespace weft::conv {
namespace {

using gemm::Int32;
using gemm::kInt32Max;
using internal::TooLarge;
using internal::Wide;

// The kernel that is compiled for the problem's shape; else kernel 0, which takes any shape and
// also reads a flipped filter.
int KernelOf(const Problem& p) {
  const bool dilated = (p.r > 1 && p.dilation_h > 1) || (p.s > 1 && p.dilation_w > 1);
  if (dilated || p.mode == Mode::kConvolution) return 0;
  for (int i = 1; i < kDepthwiseKernels; ++i) {
    const DepthwiseShape& shape = kDepthwiseShapes[i];
    if (p.r == shape.r && p.s == shape.s && p.stride_h == shape.stride &&
        p.stride_w == shape.stride) {
      return i;
    }
  }
  return 0;
}

void SetIterator(const Problem& p, const ConvFacts& f, DepthwiseIteratorParams* iterator) {
  const std::int64_t channels = RoundUp(p.c, f.source.interleave);
  DepthwiseIteratorParams& w = *iterator;
  w.image_bytes = channels * p.h * p.w;
  w.pixel_bytes = Int32(f.source.nhwc ? p.c : f.source.interleave);
  w.row_bytes = p.w * w.pixel_bytes;
  w.block_bytes = p.h * w.row_bytes;
  w.w = Int32(p.w);
  w.q = Int32(p.q());
  w.stride_h = Int32(p.stride_h);
  w.stride_w = Int32(p.stride_w);
  internal::SetTaps(p, iterator);
}

}  // namespace

absl::Status CheckDepthwise(const Problem& p) {
  if (p.groups == p.c) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "conv: groups=", p.groups, " is not c=", p.c,
      ", and the prologue Depthwise has a filter for each channel; set groups to c, or use ",
      p.groups == 1 ? "prologues::SharedFilter" : "prologues::Grouped"));
}

absl::StatusOr<DepthwisePlan> MakeDepthwisePlan(const Problem& p, const ConvFacts& f) {
  constexpr std::int64_t kColumns = DepthwiseConfig::kColumns;
  DepthwisePlan plan;
  plan.kernel = f.one_kernel ? 0 : KernelOf(p);
  const DepthwiseShape& shape = kDepthwiseShapes[plan.kernel];
  const int rows = shape.Rows(Int32(f.config.thread.m / kColumns));
  const Wide reach = Wide{p.p() + rows} * (p.q() + kColumns);
  if (reach > kInt32Max) {
    return TooLarge("pixels of one output image with a thread's more", reach, kInt32Max,
                    "split the image");
  }
  const std::int64_t pixel_bytes = f.source.nhwc ? p.c : f.source.interleave;
  if (pixel_bytes > kInt32Max) return TooLarge("c", p.c, kInt32Max, "split the channels");
  SetIterator(p, f, &plan.iterator);

  const std::int64_t columns = gemm::CeilDiv(p.q(), kColumns);
  const std::int64_t row_tiles = gemm::CeilDiv(p.p(), std::int64_t{rows});
  const std::int64_t words = gemm::CeilDiv(RoundUp(p.k, f.output.interleave), std::int64_t{4});
  const std::int64_t lanes = f.config.threadblock.n / 4;
  const std::int64_t tiles = p.n * columns * row_tiles;  // at most n p q
  gemm::PlanCounts& counts = plan.counts;
  counts.tiles_m = gemm::CeilDiv(tiles, f.threads / lanes);
  counts.tiles_n = gemm::CeilDiv(words, lanes);
  counts.k_tiles = Int32(p.r * gemm::CeilDiv(p.s, std::int64_t{4}));
  plan.work = {.source_rows = Int32((rows - 1) * p.stride_h + p.r),
               .output_rows = rows,
               .packets = counts.k_tiles};
  const Wide blocks = Wide{counts.tiles_m} * counts.tiles_n;
  if (blocks > kInt32Max) {
    return TooLarge("blocks", blocks, kInt32Max, "give config.threads or config.rows more");
  }
  counts.useful = static_cast<double>(p.n * p.p() * p.q()) * p.k /
                  (double(counts.blocks()) * f.threads * rows * kColumns * 4);
  plan.iterator.channel_tiles = gemm::FastDivmod(Int32(counts.tiles_n));
  plan.iterator.columns = gemm::FastDivmod(Int32(columns));
  plan.iterator.row_tiles = gemm::FastDivmod(Int32(row_tiles));
  plan.iterator.multiplier = gemm::FastDivmod(Int32(p.k / p.c));
  plan.iterator.tiles = Int32(tiles);
  plan.rows.p = Int32(p.p());
  plan.rows.q = Int32(p.q());
  return plan;
}

std::string DescribeDepthwise(const DepthwisePlan& plan, const ConvFacts& f) {
  const DepthwiseShape& shape = kDepthwiseShapes[plan.kernel];
  const std::string path =
      shape.IsAny() ? "any filter"
                    : absl::StrFormat("%dx%d filters, stride %d", shape.r, shape.s, shape.stride);
  return absl::StrFormat(
      "%s, thread of %d channels by %dx%d pixels, %s, %d x %d blocks of %d threads, %d channels to "
      "a block, %s -> %s",
      f.config.name(), f.config.thread.n, shape.Rows(f.config.thread.m / DepthwiseConfig::kColumns),
      DepthwiseConfig::kColumns, path, plan.counts.tiles_m, plan.counts.tiles_n, f.threads,
      f.config.threadblock.n, f.src_layout, f.dst_layout);
}

std::int32_t PixelRun(std::int64_t q, const void* dst) {
  const auto together = static_cast<std::uintptr_t>(4 * q) | reinterpret_cast<std::uintptr_t>(dst);
  return together % 16 == 0 ? 4 : together % 8 == 0 ? 2 : 1;
}

}  // namespace weft::conv
