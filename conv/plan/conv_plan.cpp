#include "weft/conv/plan/conv_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem/patches.hpp"
#include "weft/gemm/check/argument_checks.hpp"

namespace weft::conv {
namespace {

using gemm::Int32;
using gemm::kInt32Max;
using internal::TooLarge;
using internal::Wide;

// The source layouts of blocks, which pad by themselves, as a remedy beside others; empty where no
// mainloop reads the elements in blocks.
std::string BlockedRemedy(const ConvFacts& f, const char* before) {
  if (f.element_bytes > 1) return "";
  const bool pairs = f.source.bits == 4;
  const auto of = [&](const char* layout) {
    return pairs ? absl::StrCat("PairedInt4<", layout, ">") : std::string(layout);
  };
  return absl::StrCat(before, "use SrcLayout ", of("NCxHWx<32>"), " or ", of("NCxHWx<4>"),
                      ", which pad by themselves");
}

// The widths of loads from NHWC that the policy's kind of kernel has, and the narrowest of them.
const char* WidthsOfLoads(const ConvFacts& f) {
  return IsWgmma(f.kind) ? "16 or 8" : "16, 8 or 4";
}
bool HasNarrowestLoads(const ConvFacts& f) {
  return f.config.alignment.src == (IsWgmma(f.kind) ? 8 : 4);
}

// Checks that C, K and the groups fit the layouts and the widths of loads and stores.
absl::Status CheckChannels(const Problem& p, const ConvFacts& f) {
  const gemm::Alignment& alignment = f.config.alignment;
  const int store = 8 * alignment.dst / f.store.element_bits;
  if (f.output.channel_run == 0 && p.k % store != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: k=", p.k, " is not a multiple of ", store, ", the channels of one ", alignment.dst,
        "-byte store to ", f.dst_layout,
        "; pad K, lower config.alignment.dst, or use DstLayout NCxHWx<4>, which pads by itself"));
  }
  if (f.source.nhwc && p.c % f.source.unit_channels != 0 && HasNarrowestLoads(f)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: c=", p.c, " is not a multiple of ", f.source.unit_channels,
        ", the channels of the narrowest load from NHWC; pad C to ",
        RoundUp(p.c, f.source.unit_channels), " with zeros, in src and filter",
        IsWgmma(f.kind) ? ", take a config of mma_sm80" : "", BlockedRemedy(f, ", or ")));
  }
  if (f.source.nhwc && p.c % f.source.unit_channels != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: c=", p.c, " is not a multiple of ", f.source.unit_channels,
                     ", the channels of one ", alignment.src, "-byte load from NHWC; pad C, lower ",
                     "config.alignment.src (", WidthsOfLoads(f), ")", BlockedRemedy(f, ", or ")));
  }
  if (f.IsDepthwise()) return CheckDepthwise(p);
  if (p.groups == 1) return absl::OkStatus();
  if (!f.prologue.depends.group) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: groups=", p.groups, " with the prologue ", f.prologue.name,
        ", whose filter does not depend on the channel group; use ", "prologues::Grouped"));
  }
  const std::int64_t group_c = p.c / p.groups, group_k = p.k / p.groups;
  const int block = f.source.nhwc ? f.source.unit_channels : f.source.interleave;
  if (group_c % block != 0) {
    const bool narrowest = f.source.nhwc ? HasNarrowestLoads(f) : f.source.interleave == 4;
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: c/groups=", group_c, " is not a multiple of ", block,
        f.source.nhwc ? ", the channels of one load from " : ", the interleave of ", f.src_layout,
        "; pad the channels of each group",
        narrowest       ? ""
        : f.source.nhwc ? absl::StrCat(", or lower config.alignment.src (", WidthsOfLoads(f), ")")
        : f.source.bits == 4 ? ", or use SrcLayout PairedInt4<NCxHWx<4>>"
                             : ", or use SrcLayout NCxHWx<4>"));
  }
  // Residuals in blocks of at least 4 channels are loaded in words of 4 channels.
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

// The bytes of source, filters, destination, residual, scales and biases, each of them counted
// once.
double Bytes(const Problem& p, const ConvFacts& f, double filters) {
  const double c = RoundUp(p.c, f.source.interleave);
  const double one = double(p.k / p.groups) * (c / p.groups) * p.r * p.s * f.filter.bits / 8;
  const TensorExtents dst = f.output.pool.Of(p.dst());
  return p.n * c * p.h * p.w * f.source.bits / 8 + filters * one +
         double(p.n) * RoundUp(p.k, f.output.interleave) * dst.h * dst.w *
             (f.store.element_bits + f.store.residual_bits) / 8 +
         8.0 * p.k;
}

// Counts the tiles of a batch of products, each of `rows` rows and `k_tiles` k tiles. k: the
// multiplications for each output, padding of the k tiles included.
absl::Status CountTiles(const Problem& p, const ConvFacts& f, std::int64_t rows,
                        std::int32_t k_tiles, double k, ConvPlan* plan) {
  const gemm::TileShape& tile = f.config.threadblock;
  const std::int64_t columns = p.k / p.groups + (plan->padded_k - p.k);
  PlanCounts& counts = plan->counts;
  counts.batches = plan->batch.Count();
  counts.tiles_m = gemm::CeilDiv(rows, std::int64_t{tile.m});
  counts.tiles_n = gemm::CeilDiv(columns, std::int64_t{f.channels()});
  counts.k_tiles = k_tiles;
  // Blocks are counted as if they were of the smallest tile, so that all tiles of a family take the
  // same problems.
  constexpr std::int64_t kSmallest = 16;
  const Wide blocks = Wide{counts.batches} *
                      gemm::CeilDiv(rows, std::min(kSmallest, std::int64_t{tile.m})) *
                      gemm::CeilDiv(columns, std::min(kSmallest, std::int64_t{f.channels()}));
  if (blocks > kInt32Max) return TooLarge("blocks", blocks, kInt32Max, "split the batch");
  counts.gathers = !IsPointwise(p, f);
  counts.useful = p.macs() / (double(counts.blocks()) * tile.m * tile.n * k);
  counts.columns_inside = double(columns) / std::max(1.0, double(counts.tiles_n) * f.channels());
  counts.bytes = Bytes(p, f, double(counts.batches));
  return absl::OkStatus();
}

// Fill makes the plan of one kind of kernel, and its counts.
absl::Status Fill(const Problem& p, const ConvFacts& f, const absl::StatusOr<DepthwisePlan>& made,
                  ConvPlan* plan) {
  if (!made.ok()) return made.status();
  plan->counts = made->counts;
  plan->counts.bytes = Bytes(p, f, double(p.groups));
  plan->kernel = *made;
  return absl::OkStatus();
}
absl::Status Fill(const Problem& p, const ConvFacts& f, const MultistagePlan& made,
                  ConvPlan* plan) {
  plan->kernel = made;
  const double k = double(made.k_tiles) * f.KTileUnits() * f.source.unit_channels;
  return CountTiles(p, f, made.pixels.rows, made.k_tiles, k, plan);
}
// RingPlanT: the plan of any wgmma_sm90 kernel.
template <class RingPlanT>
absl::Status Fill(const Problem& p, const ConvFacts& f, const absl::StatusOr<RingPlanT>& made,
                  ConvPlan* plan) {
  if (!made.ok()) return made.status();
  plan->kernel = *made;
  if (absl::Status s = CheckRows(f.config.packed_rows * made->rows); !s.ok()) return s;
  plan->counts.wgmma = CountsOf(*made);
  const double steps = (made->k_tiles - 1) * made->plan.steps + made->plan.last_steps;
  return CountTiles(p, f, made->rows, made->k_tiles, 32.0 / f.element_bytes * steps, plan);
}

// Makes the plan of the policy's kind of kernel.
absl::Status FillKernel(const Problem& p, const ConvFacts& f, ConvPlan* plan) {
  if (f.kind == Kind::kDepthwise) return Fill(p, f, MakeDepthwisePlan(p, f), plan);
  if (absl::Status s = CheckIndices(p, f); !s.ok()) return s;
  if (IsWgmma(f.kind) && f.prologue.depends.OnPixel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: prologue ", f.prologue.name,
                     " depends on the output's position, which the wgmma_sm90 mainloop does not "
                     "take; use an MmaSm80Config"));
  }
  switch (f.kind) {
    case Kind::kTma:
      return Fill(p, f, MakeTmaPlan(p, f), plan);
    case Kind::kFirstLayer:
      return Fill(p, f, MakeFirstLayerPlan(p, f), plan);
    case Kind::kGather:
      return Fill(p, f, absl::StatusOr<GatherPlan>(MakeGatherPlan(p, f)), plan);
    default:
      return Fill(p, f, MakeMultistagePlan(p, f), plan);
  }
}

// Checks that the kind of kernel has the policy's MaxPool, and that the convolution's output has a window.
absl::Status CheckPool(const Problem& p, const ConvFacts& f) {
  const PoolFacts& pool = f.output.pool;
  if (!pool.exists()) return absl::OkStatus();
  if (f.kind != Kind::kFirstLayer) {
    return absl::UnimplementedError(
        absl::StrCat("conv: the Epilogue has a MaxPool, which kernels of wgmma_sm90 over NCxHWx<4> "
                     "have, and not this one of ",
                     f.config.name(), " over ", f.src_layout,
                     "; take a tile WgmmaFirst..., or leave the stage out and pool the output"));
  }
  const TensorExtents dst = pool.Of(p.dst());
  if (!p.IsEmpty() && (dst.h < 1 || dst.w < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("conv: the output of ", p.p(), " x ", p.q(),
                                                   " pixels has no window of ", pool.size, " x ",
                                                   pool.size, " pixels with padding ", pool.padding,
                                                   ", as the MaxPool wants; give a larger image"));
  }
  return absl::OkStatus();
}

// How the source reaches shared memory, in words for Describe.
const char* PathOf(const ConvPlan& plan) {
  if (plan.kind() == Kind::kFirstLayer) {
    return plan.pool.exists() ? "sliding windows, pooled" : "sliding windows";
  }
  if (plan.kind() == Kind::kGather) return "gathered by threads";
  if (!plan.counts.gathers) return "pointwise";
  if (plan.kind() != Kind::kTma) return "im2col";
  return std::get<TmaPlan>(plan.kernel).patch ? "a patch for all taps" : "a copy for each tap";
}

// Checks and plans a problem as it stands.
absl::StatusOr<ConvPlan> PlanAsGiven(const Problem& p, const ConvFacts& f) {
  if (absl::Status s = CheckProblem(p, f.largest_product, f.filter.bits); !s.ok()) return s;
  if (absl::Status s = CheckChannels(p, f); !s.ok()) return s;
  if (f.source.converted && IsWgmma(f.kind)) {
    return absl::UnimplementedError(
        "conv: the policy has a SourceFunctor, but TMA, which wgmma_sm90 reads through, "
        "loads the source as it is; take a config of mma_sm80 (kMma...) or simt");
  }
  if (absl::Status s = CheckPool(p, f); !s.ok()) return s;
  if (f.output.image_sums) {
    if (absl::Status s = internal::CheckImageSums(p.p(), p.q()); !s.ok()) return s;
  }
  ConvPlan plan;
  plan.problem = p;
  plan.pool = f.output.pool;
  plan.batch = prologues::BatchOf(f.prologue.depends, p.n, p.p(), p.q(), p.groups);
  if (p.IsEmpty()) return plan;
  plan.padded_k = Int32(RoundUp(p.k, f.output.interleave));
  if (absl::Status s = FillKernel(p, f, &plan); !s.ok()) return s;
  return plan;
}

}  // namespace

bool ReadsPatches(const Problem& p, const ConvFacts& f) {
  // A SourceFunctor is given the channels of the source.
  return f.source.nhwc && !f.IsDepthwise() && !f.source.converted && PatchColumns(p).has_value();
}

absl::StatusOr<ConvPlan> MakeConvPlan(const Problem& p, const ConvFacts& f) {
  if (absl::Status s = CheckProblem(p, f.largest_product, f.filter.bits); !s.ok()) return s;
  if (ReadsPatches(p, f)) {
    absl::StatusOr<ConvPlan> plan = PlanAsGiven(*PatchColumns(p), f);
    if (plan.ok()) {
      plan->problem = p;
      plan->patches = true;
      return plan;
    }
  }
  return PlanAsGiven(p, f);
}

FilterExtents PackedExtents(const Problem& problem, bool depthwise) {
  const FilterExtents of_group = problem.filter();
  if (!depthwise) return of_group;
  return {problem.k, 1, of_group.r, of_group.s};
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

absl::StatusOr<ConvPlan> ConvolutionPlanner::Make(const Problem& problem, const ConvFacts& facts,
                                                  const arch::DeviceLimits* device) {
  if (device != nullptr) {
    if (absl::Status s = gemm::CheckDevice("conv", facts, *device); !s.ok()) return s;
  }
  return MakeConvPlan(problem, facts);
}

std::string ConvolutionPlanner::Describe(const ConvPlan& plan, const ConvFacts& f) {
  const TileDescription& c = f.config;
  if (plan.problem.IsEmpty()) return "nothing to do: dst has no elements";
  if (const auto* depthwise = std::get_if<DepthwisePlan>(&plan.kernel)) {
    return DescribeDepthwise(*depthwise, f);
  }
  const RingPlan* ring = plan.ring();
  const std::string thread =
      c.mainloop == gemm::Mainloop::kSimt
          ? absl::StrFormat("thread %dx%d", c.thread.m, c.thread.n)
          : absl::StrFormat("instruction %dx%dx%d, %d stages", c.instruction.m, c.instruction.n,
                            c.instruction.k, ring != nullptr ? ring->ring.stages : c.stages);
  std::string path = PathOf(plan);
  if (plan.patches) {
    const Problem columns = *PatchColumns(plan.problem);
    absl::StrAppend(&path, ", patches as columns of ", columns.c, " channels");
  }
  const std::string clusters =
      c.cluster_split_k > 1 ? absl::StrFormat("clusters of %d ", c.cluster_split_k) : "";
  const char* packed_rows = c.packed_rows > 1 ? " of two output rows" : "";
  const char* ping_pong = c.ping_pong ? "ping-pong warpgroups, " : "";
  const std::string batches =
      f.prologue.batched
          ? absl::StrFormat("%s, %d batches of ", f.prologue.name, plan.counts.batches)
          : "";
  return absl::StrFormat(
      "%s %dx%dx%d warp %dx%d %s, %s%s, %s%s%d x %d %sblocks of %d threads, "
      "%d bytes shared, %s%s -> %s",
      c.name(), c.threadblock.m, c.threadblock.n, c.threadblock.k, c.warp.m, c.warp.n, thread, path,
      packed_rows, ping_pong, batches, plan.counts.tiles_m, plan.counts.tiles_n, clusters,
      f.threads, f.shared_bytes, f.src_layout, f.filter.bits == 4 ? " by int4" : "", f.dst_layout);
}

}  // namespace weft::conv
