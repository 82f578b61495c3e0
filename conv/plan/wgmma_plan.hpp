// The host's part of wgmma_sm90 convolutions: what TMA loads and where the products of
// each step find it.
//
// Two ways to load the source of a tile of positions:
//   taps   one copy for each tap and 32 channels (or 32 to 128 in NHWC): any stride and dilation, no
//          position is wasted, but each source pixel comes R * S times.
//   patch  one copy for all taps of 32 channels, or with strides one for each pixel between two
//          positions. Rows of the traversal are so long that the zeros before a row are those after the
//          one above it, and likewise with images; with stride 1 that is W + max(left, right
//          padding). Tap (r, s) is the same copy from position r * dilation / stride * pitch + s *
//          dilation / stride on, so that a source pixel comes once; the positions between rows and
//          images are wasted.
//
// With config.packed_rows a tile's columns are channels of two output rows
// (conv/plan/packed_rows.hpp), by a patch only.
//
// Over NCxHWx<4> there are strips instead (conv/plan/sliding_window_plan.hpp), and rows that TMA
// cannot read are loaded by threads (conv/plan/gather_plan.hpp).
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>

#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// What all plans of wgmma_sm90 kernels have: the ring of stages, the steps of a k tile, and the extents
// of one product.
struct RingPlan {
  gemm::MbarRingParams ring;
  gemm::WgmmaPlan plan;
  std::int64_t rows = 0;  // positions
  std::int32_t k_tiles = 0;
};

// Both operands by TMA: the parameters but for pointers, and the tensor maps' specifications but for their
// bases.
struct TmaPlan : RingPlan {
  arch::TensorMapSpec source_spec, filter_spec;
  SourceCopies source;
  FilterCopies filter;
  double copy_clocks = 0.0, column_clocks = 0.0;  // gemm::WgmmaCounts'
  bool patch = false;
  std::int32_t last_first = 0;  // PackedRowsPixelMap's
};

// Whether one filter serves all tiles, and so few columns of tiles that each block can have tiles of
// one of them: the filter may then stay in shared memory.
inline bool FilterMayStay(const Problem& p, const ConvFacts& f) {
  constexpr std::int64_t kMost = 16;
  return prologues::BatchOf(f.prologue.depends, p.n, p.p(), p.q(), p.groups).Count() == 1 &&
         RoundUp(p.k / p.groups, f.output.interleave) <= kMost * f.channels();
}

// For a checked problem. InvalidArgument where TMA's limits do not admit it: strides
// above 8, paddings above 127, taps more than 255 pixels apart; where the source is no multiple of 16
// channels; and as for PackRows.
absl::StatusOr<TmaPlan> MakeTmaPlan(const Problem& problem, const ConvFacts& facts);

// What PaddingTransform writes for a source of this zero point, -128 to 255.
inline PaddingParams PaddingOf(const Problem& p, const TmaPlan& plan, std::int32_t zero_point) {
  if (zero_point == 0) return {};
  const Im2colPixelMap& iterator = plan.source.rows;
  const std::int32_t taps = plan.source.taps.divisor(), of_k_tile = plan.source.copies.of_k_tile;
  return {.positions = plan.source_spec.pixels,
          // K tiles begin at multiples of what both have in common.
          .copies = taps - std::gcd(taps, of_k_tile) + of_k_tile,
          .passes = gemm::FastDivmod(gemm::CeilDiv<std::int32_t>(plan.source_spec.pixels, 32)),
          .stride_h = gemm::FastDivmod(plan.source.stride_h),
          .stride_w = gemm::FastDivmod(plan.source.stride_w),
          .pitch_h = iterator.image_pixels.divisor() / iterator.row_pixels.divisor(),
          .row_log2 = std::countr_zero(
              static_cast<std::uint32_t>(plan.source.copy_bytes / plan.source_spec.pixels)),
          .h = gemm::Int32(p.h),
          .w = gemm::Int32(p.w),
          .word = 0x01010101u * static_cast<std::uint8_t>(zero_point)};
}

// What the model asks of it; of a RingPlan what that knows.
gemm::WgmmaCounts CountsOf(const RingPlan& plan);
gemm::WgmmaCounts CountsOf(const TmaPlan& plan);

}  // namespace weft::conv
