#include "weft/conv/plan/wgmma_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/conv/plan/k_tiling.hpp"
#include "weft/conv/plan/packed_rows.hpp"
#include "weft/conv/problem/patches.hpp"

namespace weft::conv {
namespace {

using arch::SwizzleSpan;
using arch::TensorMapSpec;
using gemm::CeilDiv;
using gemm::Int32;
using gemm::WgmmaPlan;

absl::Status Refuse(const char* what, std::int64_t value, const char* limit) {
  return absl::InvalidArgumentError(absl::StrCat(
      "conv: ", what, "=", value, " is more than ", limit,
      " that TMA takes, by which the wgmma_sm90 mainloop loads; use an MmaSm80Config"));
}

constexpr std::int64_t kMostStride = 8;  // of TMA's im2col traversal

// Checks the limits of TMA's im2col traversal. InvalidArgument for strides above 8, for paddings
// above 127, and for filters whose last row or column of taps lies more than 255 pixels behind the
// first, or more than 128 plus the bottom or right padding.
absl::Status CheckCopyLimits(const Problem& p) {
  constexpr std::int64_t kMostPad = 127, kMostReach = 255;
  if (p.stride_h > kMostStride) return Refuse("stride_h", p.stride_h, "the 8");
  if (p.stride_w > kMostStride) return Refuse("stride_w", p.stride_w, "the 8");
  const struct {
    const char* name;
    std::int64_t value;
  } pads[] = {{"pad_top", p.pad_top},
              {"pad_left", p.pad_left},
              {"pad_bottom", p.pad_bottom},
              {"pad_right", p.pad_right}};
  for (const auto& pad : pads) {
    if (pad.value > kMostPad) return Refuse(pad.name, pad.value, "the 127");
  }
  // The last two checks keep the upper corner of the traversal's bounding box at -128 or more.
  const std::int64_t reach_h = (p.r - 1) * p.dilation_h, reach_w = (p.s - 1) * p.dilation_w;
  if (reach_h > kMostReach) return Refuse("(r-1)*dilation_h", reach_h, "the 255");
  if (reach_w > kMostReach) return Refuse("(s-1)*dilation_w", reach_w, "the 255");
  if (p.pad_bottom - reach_h < -128)
    return Refuse("(r-1)*dilation_h-pad_bottom", reach_h - p.pad_bottom, "the 128");
  if (p.pad_right - reach_w < -128)
    return Refuse("(s-1)*dilation_w-pad_right", reach_w - p.pad_right, "the 128");
  return absl::OkStatus();
}

// Chunks of NHWC that are longer than a group's channels also have those of the next group. The
// filter has zeros there, which hide integers, but neither NaN nor infinity.
absl::Status CheckGroupChunks(const Problem& p, const ConvFacts& f) {
  constexpr std::int64_t kChunk = 32;  // bytes; longer ones are chosen where they divide a group
  const std::int64_t c = p.c / p.groups;
  if (!f.FloatSums() || !f.source.nhwc || p.groups == 1 || c * f.element_bytes % kChunk == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("conv: c/groups=", c, " is not a multiple of ", kChunk / f.element_bytes,
                   ", the channels that TMA loads at once, and NaN or infinity of the next group "
                   "would count; pad the channels of each group or use an MmaSm80Config"));
}

// The tensor map's specification of the source, an im2col map, and the copies that a k tile makes
// of it.
void FillSource(const Problem& p, const ConvFacts& f, const KTiling& s, TmaPlan* plan) {
  TensorMapSpec& spec = plan->source_spec;
  spec.kind = TensorMapSpec::Kind::kIm2col;
  spec.rank = 4;
  spec.element_bytes = static_cast<std::uint8_t>(f.element_bytes);
  spec.pixels = static_cast<std::uint16_t>(s.pixels);
  const auto w = static_cast<std::uint32_t>(p.w), h = static_cast<std::uint32_t>(p.h);
  const auto n = static_cast<std::uint32_t>(p.n);
  int first;
  if (f.source.nhwc) {
    const auto pixel = static_cast<std::uint64_t>(p.c * f.element_bytes);
    spec.dim[0] = static_cast<std::uint32_t>(p.c);
    spec.dim[1] = w, spec.dim[2] = h, spec.dim[3] = n;
    spec.stride[0] = pixel, spec.stride[1] = pixel * w, spec.stride[2] = pixel * w * h;
    spec.channels = static_cast<std::uint16_t>(s.channels());
    spec.swizzle = static_cast<SwizzleSpan>(s.row_bytes);
    first = 1;
  } else {
    // Blocks are of 32 bytes, which the policy's check says.
    const auto blocks = static_cast<std::uint32_t>(CeilDiv<std::int64_t>(p.c, f.source.interleave));
    spec.interleave32 = true;
    spec.dim[0] = w, spec.dim[1] = h, spec.dim[2] = blocks, spec.dim[3] = n;
    spec.stride[0] = std::uint64_t{32} * w;
    spec.stride[1] = spec.stride[0] * h;
    spec.stride[2] = spec.stride[1] * blocks;
    spec.channels = 32;
    spec.swizzle = SwizzleSpan::k32;
    first = 0;
  }
  spec.step[first] = static_cast<std::uint16_t>(p.stride_w);
  spec.step[first + 1] = static_cast<std::uint16_t>(p.stride_h);
  spec.lower[0] = static_cast<std::int16_t>(-p.pad_left);
  spec.lower[1] = static_cast<std::int16_t>(-p.pad_top);
  const std::int64_t last_w = s.patch ? (s.pitch_w - 1) * p.stride_w - p.pad_left - (p.w - 1)
                                      : p.pad_right - (p.s - 1) * p.dilation_w;
  const std::int64_t last_h = s.patch ? (s.pitch_h - 1) * p.stride_h - p.pad_top - (p.h - 1)
                                      : p.pad_bottom - (p.r - 1) * p.dilation_h;
  spec.upper[0] = static_cast<std::int16_t>(last_w);
  spec.upper[1] = static_cast<std::int16_t>(last_h);

  SourceCopies& a = plan->source;
  a.rows.rows = Int32(plan->rows);
  a.rows.image_pixels = gemm::FastDivmod(Int32(s.pitch_w * s.pitch_h));
  a.rows.row_pixels = gemm::FastDivmod(Int32(s.pitch_w));
  a.rows.p = Int32(p.p());
  a.rows.q = Int32(p.q());
  a.rows.group_k = Int32(p.k / p.groups);
  a.stride_h = Int32(p.stride_h), a.stride_w = Int32(p.stride_w);
  a.pad_top = Int32(p.pad_top), a.pad_left = Int32(p.pad_left);
  // The copies of a patch begin one pixel apart, those of `taps` one tap apart.
  a.taps_h = Int32(s.patch ? s.copies_h : p.r);
  a.taps_w = Int32(s.patch ? s.copies_w : p.s);
  a.taps = gemm::FastDivmod(a.taps_h * a.taps_w);
  a.taps_of_row = gemm::FastDivmod(a.taps_w);
  a.step_h = s.patch ? 1 : Int32(p.dilation_h);
  a.step_w = s.patch ? 1 : Int32(p.dilation_w);
  if (p.mode == Mode::kConvolution && !s.patch) {
    a.first_h = (a.taps_h - 1) * a.step_h, a.step_h = -a.step_h;
    a.first_w = (a.taps_w - 1) * a.step_w, a.step_w = -a.step_w;
  }
  a.copies = CopiesOfKTiles(s.chunks * s.copies(), s.k_tile_chunks * s.copies());
  a.copy_bytes = Int32(s.copy_bytes());
  a.chunk_step = f.source.nhwc ? Int32(s.channels()) : 1;
  a.group_channels = Int32(
      f.source.nhwc ? p.c / p.groups : CeilDiv<std::int64_t>(p.c / p.groups, f.source.interleave));
}

// The tensor map's specification of the filter, a tiled map, and the copies that a k tile makes of
// it.
void FillFilter(const Problem& p, const ConvFacts& f, const KTiling& s, TmaPlan* plan) {
  const FilterExtents e = p.filter();
  const auto channels = static_cast<std::uint16_t>(LoadedChannels(p, f));
  const auto taps = static_cast<std::uint32_t>(e.r * e.s);
  const auto k = static_cast<std::uint32_t>(RoundUp(e.k, f.filter.interleave));
  TensorMapSpec& spec = plan->filter_spec;
  FilterCopies& b = plan->filter;
  spec.rank = 4;
  spec.dim[3] = 1;  // a run multiplies it by the number of filters in the bank
  spec.box[3] = 1;
  b.taps = gemm::FastDivmod(s.patch ? 1 : Int32(p.r * p.s));
  b.k_tile_steps = Int32(s.steps());
  if (f.source.nhwc) {
    const auto tap = static_cast<std::uint64_t>(e.c * f.element_bytes);  // bytes of its channels
    spec.element_bytes = static_cast<std::uint8_t>(f.element_bytes);
    spec.dim[0] = static_cast<std::uint32_t>(e.c), spec.dim[1] = k, spec.dim[2] = taps;
    spec.stride[0] = tap * taps, spec.stride[1] = tap, spec.stride[2] = tap * taps * k;
    spec.box[0] = static_cast<std::uint16_t>(s.channels()), spec.box[1] = channels;
    spec.box[2] = static_cast<std::uint16_t>(s.chunk_taps);
    spec.swizzle = static_cast<SwizzleSpan>(s.row_bytes);
    b.copies = CopiesOfKTiles(s.chunks, s.k_tile_chunks);
    b.chunk_step = Int32(s.channels());
  } else {
    // A line of 128 bytes has 32 input channels of four output channels, or of eight of int4. Int4
    // lines have no swizzle, since threads read them instead of wgmma.
    const bool int4 = f.filter.bits == 4;
    const std::uint32_t line = int4 ? 8 : 4;
    const auto units = static_cast<std::uint32_t>(CeilDiv<std::int64_t>(e.c, 32)) * taps;
    spec.element_bytes = 1;
    spec.dim[0] = 128, spec.dim[1] = k / line, spec.dim[2] = units;
    spec.stride[0] = 128, spec.stride[1] = std::uint64_t{128 / line} * k;
    spec.stride[2] = spec.stride[1] * units;
    spec.box[0] = 128, spec.box[1] = static_cast<std::uint16_t>(channels / line);
    spec.box[2] = static_cast<std::uint16_t>(s.steps());
    spec.swizzle = int4 ? SwizzleSpan::kNone : SwizzleSpan::k128;
    b.copies = {.of_k_tile = 1, .of_last = 1};
  }
  b.copy_bytes = Int32(spec.Bytes());
}

// Where in a stage the operands of each step begin, in units of 16 bytes. row_of_tap: the first of
// a chunk's filter_rows that a tap multiplies.
template <class RowOfTap>
void FillSteps(const Problem& p, const ConvFacts& f, const KTiling& s, const RowOfTap& row_of_tap,
               WgmmaPlan* plan) {
  const auto swizzle = f.source.nhwc ? static_cast<SwizzleSpan>(s.row_bytes) : SwizzleSpan::k32;
  const auto row = static_cast<std::uint32_t>(s.row_bytes);
  plan->a = plan->b =
      arch::WgmmaDescriptor(0, {.swizzle = swizzle, .leading = 16, .stride = 8 * row});
  plan->SpreadGroups(static_cast<std::uint32_t>(f.config.warp.m) * row / 16);
  const auto filter_row = static_cast<std::uint32_t>(s.filter_row_bytes());
  plan->b_block = 64 * filter_row / 16;
  if (f.filter.bits == 4) plan->b = 0;  // threads read it, so that it needs no descriptor
  const std::int64_t chunk_steps = s.chunk_taps * s.row_steps();
  plan->steps = Int32(s.steps());
  plan->last_steps =
      Int32((s.chunks - (CeilDiv(s.chunks, s.k_tile_chunks) - 1) * s.k_tile_chunks) * chunk_steps);
  for (std::int64_t i = 0; i < s.steps(); ++i) {
    const std::int64_t chunk = i / chunk_steps, tap = i % chunk_steps / s.row_steps();
    const std::int64_t part = i % s.row_steps();
    std::int64_t shift = 0;
    if (s.patch) {
      const std::int64_t from = p.mode == Mode::kConvolution ? s.chunk_taps - 1 - tap : tap;
      const std::int64_t h = from / p.s * p.dilation_h, w = from % p.s * p.dilation_w;
      const std::int64_t copy = h % p.stride_h * s.copies_w + w % p.stride_w;
      shift = copy * s.pixels + h / p.stride_h * s.pitch_w + w / p.stride_w;
    }
    plan->step_a[i] = static_cast<std::uint32_t>(
        (chunk * s.chunk_bytes() + shift * s.row_bytes + part * 32) / 16);
    plan->step_b[i] = static_cast<std::uint32_t>(
        ((chunk * s.filter_rows + row_of_tap(tap)) * filter_row + part * 32) / 16);
  }
}

// The ring of stages. The filter stays in shared memory if all k tiles of a tile's columns leave
// room for a ring of sources that is deep enough: at least 3 stages, and 40 KB, the bytes that are
// under way between the L2 and a multiprocessor.
void FillRing(const Problem& p, const ConvFacts& f, const KTiling& s, std::int64_t k_tiles,
              gemm::MbarRingParams* ring) {
  constexpr std::int64_t kLeastStages = 3, kLeastBytes = 40 * 1024;
  const std::int64_t filters = s.stage_bytes() - s.source_bytes();
  const std::int64_t left = f.wgmma.stage_bytes - k_tiles * filters;
  const std::int64_t stages =
      std::min<std::int64_t>(left / s.source_bytes(), gemm::MbarRingParams::kMostStages);
  if (f.config.cluster_split_k == 1 && stages >= kLeastStages && left >= kLeastBytes &&
      FilterMayStay(p, f)) {
    ring->b_stays = 1;
    ring->stages = Int32(stages);
    ring->stage_bytes = Int32(s.source_bytes());
    ring->b_offset = Int32(stages * s.source_bytes());
    ring->b_stride = Int32(filters);
  } else {
    ring->stages = Int32(s.stages);
    ring->stage_bytes = ring->b_stride = Int32(s.stage_bytes());
    ring->b_offset = Int32(s.source_bytes());
  }
  constexpr double kMostClocks = 900.0;
  const double most = kMostClocks / TmaClocks(p, f, s);
  ring->prefetch = std::min(static_cast<std::int32_t>(most), ring->stages);
}

// The clocks of TMA for the tile model. (RowClocks is for TMA by itself; these are for TMA while
// tensor cores multiply.) taps_inside: the share of the loaded rows of taps that the filter has.
void FillClocks(const Problem& p, const ConvFacts& f, const KTiling& s, double taps_inside,
                TmaPlan* plan) {
  using gemm::CopyClocks;
  const std::int64_t k = p.k / p.groups, n = LoadedChannels(p, f);
  const auto inside = [&](std::int64_t columns) {
    return taps_inside * static_cast<double>(columns) / static_cast<double>(RoundUp(columns, n));
  };
  const auto pixels = static_cast<double>(s.pixels);
  const double rows = static_cast<double>(s.filter_rows * s.k_tile_chunks) / double(s.steps());
  if (f.source.nhwc) {
    const double row = CopyClocks::Line(s.row_bytes);
    plan->copy_clocks = pixels * row;
    plan->column_clocks = CopyClocks::Columns(rows, inside(k), row);
  } else {  // a filter's line has four output channels and is as long as four pixels of the source
    plan->copy_clocks = pixels * (p.stride_w > 1 ? CopyClocks::kStridedBlock : CopyClocks::kBlock);
    plan->column_clocks =
        CopyClocks::Columns(rows / 32.0 * f.filter.bits, inside(RoundUp(k, std::int64_t{32})),
                            4.0 * CopyClocks::kBlock);
  }
}

// Fills in all of a plan but the filter's copies, the steps and the clocks.
void FillOthers(const Problem& p, const ConvFacts& f, const KTiling& s, TmaPlan* plan) {
  plan->patch = s.patch;
  plan->rows = Im2colRows(p, f, s);
  plan->k_tiles = Int32(CeilDiv(s.chunks, s.k_tile_chunks));
  FillSource(p, f, s, plan);
  FillRing(p, f, s, plan->k_tiles, &plan->ring);
  plan->ring.ShareCopies(plan->source.copies.of_k_tile, f.wgmma.row_threads);
}

// The plan for config.packed_rows = 2: that of the convolution whose rows are pairs of p's output
// rows.
absl::StatusOr<TmaPlan> MakePackedRowsPlan(const Problem& p, const ConvFacts& f) {
  absl::StatusOr<PackedRowsTaps> taps = PackRows(p, f);
  if (!taps.ok()) return taps.status();
  const Problem& pairs = taps->pairs;
  KTiling k_tiling;
  if (absl::Status s = CheckCopyLimits(pairs); !s.ok()) {
    return NoPackedRows(absl::StrCat(s.message(), "; said of pairs of output rows"));
  }
  if (!ByPatch(pairs, f, taps->FilterRows(p, f.channels()), &k_tiling)) {
    return NoPackedRows(
        absl::StrCat("conv: h=", p.h, " w=", p.w, " r=", p.r, " s=", p.s, " pad_left=", p.pad_left,
                     " pad_top=", p.pad_top, " stride_h=", p.stride_h, " stride_w=", p.stride_w,
                     " dilation_h=", p.dilation_h, " dilation_w=", p.dilation_w,
                     " need too much: two stages of a patch do not fit in shared memory"));
  }
  TmaPlan plan;
  taps->FillFilter(p, f, k_tiling, &plan);
  FillSteps(
      pairs, f, k_tiling, [&](std::int64_t tap) { return taps->RowOfTap(p, f.channels(), tap); },
      &plan.plan);
  FillClocks(p, f, k_tiling, taps->Inside(p), &plan);
  FillOthers(pairs, f, k_tiling, &plan);
  plan.pixels = plan.source.rows;
  plan.pixels.p = Int32(p.p());
  plan.last_first = p.mode == Mode::kCrossCorrelation ? 1 : 0;
  return plan;
}

// The plan for images of one row of windows each, whose stride in H is more than TMA takes. A row of the
// product is the same output pixel as without that.
std::optional<TmaPlan> MakePatchRowsPlan(const Problem& p, const ConvFacts& f) {
  if (p.stride_h <= kMostStride || !f.source.nhwc || f.prologue.depends.image) return std::nullopt;
  const std::optional<Problem> rows = PatchImages(p);
  if (!rows || !CheckCopyLimits(*rows).ok()) return std::nullopt;
  absl::StatusOr<TmaPlan> plan = MakeTmaPlan(*rows, f);
  if (!plan.ok() || plan->patch) return std::nullopt;
  plan->pixels.image_pixels = gemm::FastDivmod(Int32(p.p() * p.q()));
  plan->pixels.p = Int32(p.p());
  return *std::move(plan);
}

}  // namespace

absl::StatusOr<TmaPlan> MakeTmaPlan(const Problem& p, const ConvFacts& f) {
  if (std::optional<TmaPlan> rows = MakePatchRowsPlan(p, f)) return *std::move(rows);
  if (absl::Status s = CheckCopyLimits(p); !s.ok()) return s;
  if (absl::Status s = CheckGroupChunks(p, f); !s.ok()) return s;
  if (f.config.packed_rows > 1) return MakePackedRowsPlan(p, f);
  const std::int64_t channels = LoadedChannels(p, f);
  KTiling k_tiling = ByTaps(p, f), patch;
  if (ByPatch(p, f, p.r * p.s * channels, &patch) &&
      ClocksOf(p, f, patch) < ClocksOf(p, f, k_tiling)) {
    k_tiling = patch;
  }
  TmaPlan plan;
  FillFilter(p, f, k_tiling, &plan);
  FillSteps(p, f, k_tiling, [&](std::int64_t tap) { return tap * channels; }, &plan.plan);
  FillClocks(p, f, k_tiling, 1.0, &plan);
  FillOthers(p, f, k_tiling, &plan);
  plan.pixels = plan.source.rows;
  return plan;
}

gemm::WgmmaCounts CountsOf(const RingPlan& r) {
  return {.steps = r.plan.steps,
          .last_steps = r.plan.last_steps,
          .stages = r.ring.stages,
          .stage_bytes = r.ring.stage_bytes,
          .b_stays = r.ring.b_stays != 0};
}

gemm::WgmmaCounts CountsOf(const TmaPlan& t) {
  gemm::WgmmaCounts counts = CountsOf(static_cast<const RingPlan&>(t));
  counts.copies = t.source.copies.of_k_tile;
  counts.last_copies = t.source.copies.of_last;
  counts.copy_clocks = t.copy_clocks;
  counts.column_clocks = t.column_clocks;
  return counts;
}

}  // namespace weft::conv
