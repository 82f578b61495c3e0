#include "weft/conv/plan/packed_rows.hpp"

#include "absl/strings/str_cat.h"
#include "weft/conv/plan/k_tiling.hpp"
#include "weft/conv/plan/wgmma_plan.hpp"

namespace weft::conv {

using gemm::CeilDiv;
using gemm::Int32;

absl::Status NoPackedRows(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      why,
      ", where the config.packed_rows of wgmma_sm90 is 2; take a config with packed_rows of 1"));
}

absl::StatusOr<PackedRowsTaps> PackRows(const Problem& p, const ConvFacts& f) {
  if (f.FloatSums()) {
    return NoPackedRows(
        "conv: packed output rows multiply pixels outside of a window by zeros, of which infinite "
        "ones would make NaN");
  }
  const std::int64_t k = p.k / p.groups;
  if (k > f.channels()) {
    return NoPackedRows(absl::StrCat("conv: k/groups=", k, " is more than the ", f.channels(),
                                     " channels of a tile"));
  }
  if (p.stride_h % p.dilation_h != 0) {
    return NoPackedRows(absl::StrCat("conv: stride_h=", p.stride_h,
                                     " is not a multiple of dilation_h=", p.dilation_h,
                                     ", so that two output rows share no row of taps"));
  }
  PackedRowsTaps taps;
  taps.shift = p.stride_h / p.dilation_h;
  if (p.r <= taps.shift) {
    return NoPackedRows(absl::StrCat("conv: r=", p.r, " is not more than stride_h/dilation_h=",
                                     taps.shift, ", so that two output rows share no row of taps"));
  }
  taps.rows = CeilDiv(p.r, taps.shift) + 2;
  taps.pairs = p;
  taps.pairs.r += taps.shift;
  taps.pairs.stride_h *= 2;
  if (p.p() % 2 == 1) taps.pairs.pad_bottom += p.stride_h;  // the last pair's lower row is padding
  return taps;
}

void PackedRowsTaps::FillFilter(const Problem& p, const ConvFacts& f, const KTiling& k_tiling,
                                TmaPlan* plan) const {
  const FilterExtents e = p.filter();
  const auto k = static_cast<std::uint64_t>(RoundUp(e.k, f.filter.interleave));
  const auto r = static_cast<std::uint32_t>(e.r), s = static_cast<std::uint32_t>(e.s);
  const auto channels = static_cast<std::uint16_t>(f.channels());
  arch::TensorMapSpec& spec = plan->filter_spec;
  FilterCopies& b = plan->filter;
  spec.rank = 5;
  spec.dim[2] = r, spec.dim[3] = s;
  spec.step[2] = static_cast<std::uint16_t>(shift);
  spec.box[2] = static_cast<std::uint16_t>((rows - 1) * shift + 1);
  spec.box[3] = static_cast<std::uint16_t>(s);
  spec.box[4] = 1;
  if (f.source.nhwc) {
    const auto tap = static_cast<std::uint64_t>(e.c * f.element_bytes);  // bytes of its channels
    spec.element_bytes = static_cast<std::uint8_t>(f.element_bytes);
    spec.dim[0] = static_cast<std::uint32_t>(e.c), spec.dim[1] = static_cast<std::uint32_t>(k);
    spec.dim[4] = 1;  // a run multiplies it by the number of filters in the bank
    spec.stride[0] = tap * r * s, spec.stride[1] = tap * s, spec.stride[2] = tap;
    spec.stride[3] = spec.stride[0] * k;
    spec.box[0] = static_cast<std::uint16_t>(k_tiling.channels()), spec.box[1] = channels;
    spec.swizzle = static_cast<arch::SwizzleSpan>(k_tiling.row_bytes);
    b.chunk_step = Int32(k_tiling.channels());
  } else {
    // A line of 128 bytes has 32 input channels of four output channels.
    b.blocks = Int32(CeilDiv<std::int64_t>(e.c, 32));
    spec.element_bytes = 1;
    spec.dim[0] = 128, spec.dim[1] = static_cast<std::uint32_t>(k / 4);
    spec.dim[4] = static_cast<std::uint32_t>(b.blocks);  // a run multiplies it, too
    spec.stride[0] = 128, spec.stride[2] = 32 * k;
    spec.stride[1] = spec.stride[2] * s, spec.stride[3] = spec.stride[1] * r;
    spec.box[0] = 128, spec.box[1] = channels / 4;
    spec.swizzle = arch::SwizzleSpan::k128;
    b.chunk_step = 1;
  }
  b.taps = gemm::FastDivmod(Int32(shift));
  b.copies = CopiesOfKTiles(k_tiling.chunks * shift, k_tiling.k_tile_chunks * shift);
  b.first_row = -Int32(shift);
  b.copy_bytes = Int32(spec.Bytes());
}

}  // namespace weft::conv
