// The host's part of wgmma_sm90 convolutions: what TMA loads, and where in shared memory each step
// of wgmma finds its operands.
//
// TMA loads the source of a tile of positions in one of two ways:
//   taps   It makes one copy for each tap and 32 channels (32 to 128 in NHWC). That works with any
//          stride and dilation and wastes no position, but loads each source pixel R * S times.
//   patch  It makes one copy for all taps of 32 channels; with strides, one for each pixel between
//          two positions. Rows of the im2col traversal are so long that the zeros after a row are
//          also those before the next one, and the same holds for images; with stride 1 a row is W
//          + max(left, right padding) long. Tap (r, s) reads the same copy from position
//          r * dilation / stride * pitch + s * dilation / stride on, so that each source pixel is
//          loaded once; the positions between rows and images are wasted.
//
// Patches of NHWC that lie more than TMA's stride of 8 rows apart are images of one row of patches each
// (conv/problem/patches.hpp).
//
// With config.packed_rows a tile's columns are the channels of two output rows
// (conv/plan/packed_rows.hpp), and the source is loaded by a patch.
//
// Over NCxHWx<4> the source is a sliding-window operand instead
// (conv/plan/first_layer_plan.hpp), and threads load rows that TMA cannot read
// (conv/plan/gather_plan.hpp).
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

// What all plans of wgmma_sm90 kernels have in common: the ring of stages, the steps of a k tile,
// and the extents of one product.
struct RingPlan {
  gemm::MbarRingParams ring;
  gemm::WgmmaPlan plan;
  std::int64_t rows = 0;  // positions of the traversal, of one product
  std::int32_t k_tiles = 0;

  int number() const { return 0; }  // of the kernel, as a policy has one
};

// The plan of a kernel that loads both operands by TMA: its parameters without pointers, and the
// specifications of its tensor maps without their base addresses.
struct TmaPlan : RingPlan {
  arch::TensorMapSpec source_spec, filter_spec;
  SourceCopies source;
  FilterCopies filter;
  // The output pixels of the rows of a product: source.rows, except that packed output rows have twice
  // as many rows, and that the source of patches may be traversed as more images than the output has.
  Im2colPixelMap pixels;
  double copy_clocks = 0.0, column_clocks = 0.0;  // gemm::WgmmaCounts'
  bool patch = false;
  std::int32_t last_first = 0;  // PackedRowsPixelMap's
};

// Whether the filter may stay in shared memory from tile to tile: all tiles share one filter, and
// there are at most 16 columns of tiles, so that each persistent block can have tiles of one column
// only.
inline bool FilterMayStay(const Problem& p, const ConvFacts& f) {
  constexpr std::int64_t kMost = 16;
  return prologues::BatchOf(f.prologue.depends, p.n, p.p(), p.q(), p.groups).Count() == 1 &&
         RoundUp(p.k / p.groups, f.output.interleave) <= kMost * f.channels();
}

// The plan of a checked problem. InvalidArgument where it exceeds the limits of TMA's traversal,
// and, with config.packed_rows, as for PackRows.
absl::StatusOr<TmaPlan> MakeTmaPlan(const Problem& problem, const ConvFacts& facts);

// The parameters of PaddingTransform, which writes a source's zero point (-128 to 255) into its
// padding. With a zero point of 0 there is nothing to write.
inline PaddingParams PaddingOf(const Problem& p, const TmaPlan& plan, std::int32_t zero_point) {
  if (zero_point == 0) return {};
  const Im2colPixelMap& iterator = plan.source.rows;
  const std::int32_t taps = plan.source.taps.divisor(), of_k_tile = plan.source.copies.of_k_tile;
  return {.positions = plan.source_spec.pixels,
          // A k tile begins at a multiple of the greatest common divisor of both.
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

// What the tile model needs of a plan; from a RingPlan only what all of these plans know.
gemm::WgmmaCounts CountsOf(const RingPlan& plan);
gemm::WgmmaCounts CountsOf(const TmaPlan& plan);

}  // namespace weft::conv
