#include "weft/conv/plan.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::conv {
namespace {

using gemm::Int32;
using gemm::kInt32Max;
using internal::StepH;
using internal::StepW;
using internal::TooLarge;
using internal::Wide;

// Whether C, K and the groups fit the layouts and the widths of loads and stores.
absl::Status CheckChannels(const Problem& p, const ConvFacts& f) {
  const gemm::Alignment& alignment = f.config.alignment;
  const int store = 8 * alignment.dst / f.store.element_bits;
  if (f.output.channel_run == 0 && p.k % store != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: k=", p.k, " is not a multiple of ", store, ", the channels of one ", alignment.dst,
        "-byte store to ", f.dst_layout,
        "; pad K, lower config.alignment.dst, or use DstLayout NCxHWx<4>, which pads by itself"));
  }
  if (f.source.nhwc && p.c % f.source.unit_bytes != 0 && alignment.src == 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: c=", p.c, " is not a multiple of ", f.source.unit_bytes,
                     ", the channels of the narrowest load from NHWC; pad C to ",
                     RoundUp(p.c, f.source.unit_bytes), " with zeros, in src and filter, or ",
                     "use SrcLayout NCxHWx<32> or NCxHWx<4>, which pad by themselves"));
  }
  if (f.source.nhwc && p.c % f.source.unit_bytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: c=", p.c, " is not a multiple of ", f.source.unit_bytes,
                     ", the channels of one ", alignment.src,
                     "-byte load from NHWC; pad C, lower config.alignment.src (16, 8 or 4), "
                     "or use SrcLayout NCxHWx<32> or NCxHWx<4>, which pad by themselves"));
  }
  if (f.depthwise) return CheckDepthwise(p);
  if (p.groups == 1) return absl::OkStatus();
  if (!f.prologue.depends.group) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: groups=", p.groups, " with the prologue ", f.prologue.name,
        ", whose filter does not depend on the channel group; use ", "prologues::Grouped"));
  }
  const std::int64_t group_c = p.c / p.groups, group_k = p.k / p.groups;
  const int block = f.source.nhwc ? f.source.unit_bytes : f.source.interleave;
  if (group_c % block != 0) {
    const std::string remedy =
        f.source.nhwc ? "lower config.alignment.src (16, 8 or 4)" : "use SrcLayout NCxHWx<4>";
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: c/groups=", group_c, " is not a multiple of ", block,
        f.source.nhwc ? ", the channels of one load from " : ", the interleave of ", f.src_layout,
        "; pad the channels of each group", block == 4 ? "" : ", or ", block == 4 ? "" : remedy));
  }
  // Blocked residuals are read by words of 4 channels.
  const bool words = f.output.residual_channel_run >= 4 && store < 4;
  const int multiple = words ? 4 : store;
  if (group_k % multiple != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: k/groups=", group_k, " is not a multiple of ", multiple, ", the channels of one ",
        words ? "load of the residual" : absl::StrCat(alignment.dst, "-byte store to "),
        words ? "" : f.dst_layout, "; pad the output channels of each group",
        words ? "" : ", or choose narrower stores with WithDstAlignment"));
  }
  return absl::OkStatus();
}

void FillTaps(const Problem& p, TapParams* t) {
  const std::int64_t filter_taps = p.r * p.s, units = t->pixel_units;
  const std::int64_t taps = filter_taps * units;
  t->taps = Int32(taps);
  for (int tap = 0; tap < taps; ++tap) {
    const auto offset = [&](std::int64_t i) {
      const std::int64_t unit = i / filter_taps, at = i % filter_taps;
      return unit + (at / p.s * t->step_h * p.w + at % p.s * t->step_w) * units;
    };
    const std::int64_t next = tap + 1 < taps ? offset(tap + 1) : p.h * p.w * units;
    t->next_tap[tap] = Int32(next - offset(tap));
  }
}

// Bytes of source, filters, destination and residual, and of the scales and biases; each moved once.
double Bytes(const Problem& p, const ConvFacts& f, double filters) {
  const double c = RoundUp(p.c, f.source.interleave);
  const double one = double(p.k / p.groups) * (c / p.groups) * p.r * p.s * f.filter.bits / 8;
  return p.n * c * p.h * p.w * f.source.bits / 8 + filters * one +
         double(p.n) * RoundUp(p.k, f.output.interleave) * p.p() * p.q() *
             (f.store.element_bits + f.store.residual_bits) / 8 +
         8.0 * p.k;
}

}  // namespace

absl::StatusOr<Geometry> MakeGeometry(const Problem& p, const ConvFacts& f) {
  if (absl::Status s = CheckProblem(p, f.largest_product, f.filter.bits); !s.ok()) return s;
  if (absl::Status s = CheckChannels(p, f); !s.ok()) return s;
  if (f.source.converted && f.config.mainloop == gemm::Mainloop::kWgmmaSm90) {
    return absl::UnimplementedError(
        "conv: the policy has a SourceFunctor, but the copy engine that wgmma_sm90 reads through "
        "brings the source as it is; take a config of mma_sm80 (kMma...) or simt");
  }
  if (f.output.image_sums) {
    if (absl::Status s = internal::CheckImageSums(p.p(), p.q()); !s.ok()) return s;
  }
  const gemm::TileShape& tile = f.config.threadblock;
  Geometry g;
  g.problem = p;
  g.batch = prologues::BatchOf(f.prologue.depends, p.n, p.p(), p.q(), p.groups);
  if (p.IsEmpty()) return g;
  if (f.depthwise) {
    absl::StatusOr<DepthwisePlan> plan = MakeDepthwisePlan(p, f);
    if (!plan.ok()) return plan.status();
    g.depthwise = *plan;
    g.padded_k = Int32(RoundUp(p.k, f.output.interleave));
    g.counts = plan->counts;
    g.counts.bytes = Bytes(p, f, double(p.groups));
    return g;
  }
  const std::int64_t taps = p.r * p.s, plane = p.h * p.w;
  const std::int64_t x = f.source.unit_channels;
  const std::int64_t block_units =
      f.source.nhwc ? 1 : gemm::CeilDiv(std::int64_t{f.source.interleave}, x);
  const bool pointwise = taps == 1 && p.pad_top == 0 && p.pad_left == 0 && p.pad_bottom == 0 &&
                         p.pad_right == 0 && block_units == 1;
  g.kind = pointwise ? SourceKind::kPointwise
           : f.source.has_taps && taps * block_units <= TapParams::kTableTaps ? SourceKind::kTaps
                                                                              : SourceKind::kIm2col;

  const std::int64_t all_channels = gemm::CeilDiv(p.c, x * block_units) * block_units;
  const std::int64_t channels = gemm::CeilDiv(p.c / p.groups, x);
  const std::int64_t slice_units = tile.k / f.source.unit_bytes;
  const std::int64_t units = channels * taps;
  // An im2col walk indexes within one image, with a tile's overshoot and the padding's reach, and
  // steps a tap or two past the last before it turns to the next row of taps or channel block.
  const std::int64_t overshoot = (f.config.stages + 1) * slice_units / taps + 2;
  const Wide padded_plane = Wide{p.h + p.pad_top + p.pad_bottom + 2 * StepH(p) + 1} *
                            (p.w + p.pad_left + p.pad_right + 2 * StepW(p));
  const Wide reach = f.source.nhwc
                         ? padded_plane * (all_channels + overshoot)
                         : Wide{all_channels + overshoot} * plane + padded_plane * block_units;
  if (!pointwise && reach > kInt32Max) {
    return TooLarge("channel blocks of one image with its padding", reach, kInt32Max,
                    "split the image or its channels");
  }
  if (plane > kInt32Max) return TooLarge("h*w", plane, kInt32Max, "split the image");
  if (units * (f.source.nhwc ? x : 1) > kInt32Max) {
    return TooLarge("c*r*s", units * x, kInt32Max, "split the channels");
  }

  const prologues::Depends& d = f.prologue.depends;
  const std::int64_t row_h = d.OnPixel() ? std::min<std::int64_t>(d.block_h, p.p()) : p.p();
  const std::int64_t row_w = d.OnPixel() ? std::min<std::int64_t>(d.block_w, p.q()) : p.q();
  const std::int64_t rows = (d.image ? 1 : p.n) * row_h * row_w;
  if (rows > kInt32Max - 1024) {
    return TooLarge("rows of one product", rows, kInt32Max - 1024, "split the batch");
  }
  std::int64_t tile_rows = rows;
  if (f.wgmma.stage_bytes > 0) {
    absl::StatusOr<EnginePlan> engine = MakeEnginePlan(p, f);
    if (!engine.ok()) return engine.status();
    g.engine = *engine;
    tile_rows = engine->rows;
    const std::int64_t places = f.config.stack * tile_rows;
    if (places > kInt32Max - 1024) {
      return TooLarge("rows of one product", places, kInt32Max - 1024, "split the batch");
    }
  }
  g.padded_k = Int32(RoundUp(p.k, f.output.interleave));
  const std::int64_t columns = p.k / p.groups + (g.padded_k - p.k);
  PlanCounts& counts = g.counts;
  counts.batches = g.batch.Count();
  counts.tiles_m = gemm::CeilDiv(tile_rows, std::int64_t{tile.m});
  counts.tiles_n = gemm::CeilDiv(columns, std::int64_t{f.channels()});
  counts.slices =
      f.wgmma.stage_bytes > 0 ? g.engine.slices : Int32(gemm::CeilDiv(units, slice_units));
  const Wide blocks = Wide{counts.batches} * counts.tiles_m * counts.tiles_n;
  if (blocks > kInt32Max) {
    return TooLarge("blocks", blocks, kInt32Max, "use a larger threadblock tile");
  }
  const gemm::WgmmaPlan& steps = g.engine.plan;
  const double products = f.wgmma.stage_bytes > 0
                              ? 32.0 * ((counts.slices - 1) * steps.steps + steps.last_steps)
                              : double(counts.slices) * double(slice_units * x);
  counts.gathers = !pointwise;
  if (f.wgmma.stage_bytes > 0) counts.wgmma = CountsOf(g.engine);
  counts.useful = p.macs() / (double(counts.blocks()) * tile.m * tile.n * products);
  counts.columns_inside = double(columns) / std::max(1.0, double(counts.tiles_n) * f.channels());
  counts.bytes = Bytes(p, f, double(counts.batches));

  g.rows.rows = Int32(rows);
  g.rows.image_pixels = gemm::FastDivmod(Int32(row_h * row_w));
  g.rows.row_pixels = gemm::FastDivmod(Int32(row_w));
  g.rows.p = Int32(p.p());
  g.rows.q = Int32(p.q());
  g.rows.group_k = Int32(p.k / p.groups);

  SourceParams& a = g.im2col;
  a.rows = g.rows;
  a.image_units = all_channels * plane;
  a.group_units = channels * (f.source.nhwc ? 1 : plane);
  a.units = Int32(units);
  a.pixel_units = Int32(f.source.nhwc ? all_channels : block_units);
  a.channel_units = Int32(channels);
  a.w = Int32(p.w);
  a.plane = Int32(plane);
  a.stride_h = Int32(p.stride_h);
  a.stride_w = Int32(p.stride_w);
  internal::FillTapWalk(p, &g.im2col);
  g.im2col.taps = gemm::FastDivmod(Int32(taps));
  g.im2col.tap_columns = gemm::FastDivmod(Int32(p.s));
  g.im2col.channels = gemm::FastDivmod(Int32(channels));
  if (g.kind == SourceKind::kTaps) {
    static_cast<WindowParams&>(g.taps) = g.im2col;
    FillTaps(p, &g.taps);
  }

  const std::int64_t filter_k = p.k / p.groups;
  g.filter.units = Int32(units);
  g.filter.padded_k = Int32(RoundUp(filter_k, f.filter.interleave));
  const bool int4 = f.filter.bits == 4;
  g.filter.row_bytes = int4 ? RoundUp(units * x, 32) / 2 : units * x;  // KRSC
  g.filter.filter_bytes =
      g.filter.padded_k * (f.source.nhwc ? g.filter.row_bytes : units * x * f.filter.bits / 8);
  return g;
}

absl::Status CheckFilter(const FilterExtents& e, const FilterExtents& packed, std::int64_t count,
                         std::int64_t filters, const char* prologue, const char* field) {
  if (packed != e) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: args.%s was packed for k=%d c=%d r=%d s=%d, this operator has k=%d c=%d r=%d "
        "s=%d; pack the filter that belongs to the problem",
        field, packed.k, packed.c, packed.r, packed.s, e.k, e.c, e.r, e.s));
  }
  if (filters != 0 && count != filters) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: args.", field, " holds ", count, " filters, the prologue ", prologue,
                     " needs ", filters, " for this problem; give PackFilters that count"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Geometry> ConvolutionPlanner::Make(const Problem& problem, const ConvFacts& facts,
                                                  const arch::DeviceLimits* device) {
  if (device != nullptr) {
    if (absl::Status s = gemm::CheckDevice("conv", facts, *device); !s.ok()) return s;
  }
  return MakeGeometry(problem, facts);
}

std::string ConvolutionPlanner::Describe(const Geometry& g, const ConvFacts& f) {
  const TileDescription& c = f.config;
  if (g.problem.IsEmpty()) return "nothing to do: dst has no elements";
  if (f.depthwise) return DescribeDepthwise(g.depthwise, f);
  const bool engine = f.wgmma.stage_bytes > 0;
  const std::string thread =
      c.mainloop == gemm::Mainloop::kSimt
          ? absl::StrFormat("thread %dx%d", c.thread.m, c.thread.n)
          : absl::StrFormat("instruction %dx%dx%d, %d stages", c.instruction.m, c.instruction.n,
                            c.instruction.k, engine ? g.engine.ring.stages : c.stages);
  const char* path = g.engine.strips                    ? "strips"
                     : f.wgmma.gathers                  ? "gathered by threads"
                     : g.kind == SourceKind::kPointwise ? "pointwise"
                     : !engine                          ? "im2col"
                     : g.engine.patch                   ? "a patch for all taps"
                                                        : "a copy for each tap";
  const std::string clusters = c.split > 1 ? absl::StrFormat("clusters of %d ", c.split) : "";
  const char* stacked = c.stack > 1 ? " of two output rows" : "";
  const char* turns = c.turns > 1 ? "two sets of warpgroups in turn, " : "";
  const std::string batches =
      f.prologue.batched ? absl::StrFormat("%s, %d batches of ", f.prologue.name, g.counts.batches)
                         : "";
  return absl::StrFormat(
      "%s %dx%dx%d warp %dx%d %s, %s%s, %s%s%d x %d %sblocks of %d threads, "
      "%d bytes shared, %s%s -> %s",
      c.name(), c.threadblock.m, c.threadblock.n, c.threadblock.k, c.warp.m, c.warp.n, thread, path,
      stacked, turns, batches, g.counts.tiles_m, g.counts.tiles_n, clusters, f.threads,
      f.shared_bytes, f.src_layout, f.filter.bits == 4 ? " by int4" : "", f.dst_layout);
}

}  // namespace weft::conv
