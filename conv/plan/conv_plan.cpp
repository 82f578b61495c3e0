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

// The widths of loads from NHWC that the policy's mainloop has, and the narrowest of them.
const char* WidthsOfLoads(const ConvFacts& f) {
  return f.config.mainloop == gemm::Mainloop::kWgmmaSm90 ? "16 or 8" : "16, 8 or 4";
}
bool HasNarrowestLoads(const ConvFacts& f) {
  return f.config.alignment.src == (f.config.mainloop == gemm::Mainloop::kWgmmaSm90 ? 8 : 4);
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
        f.config.mainloop == gemm::Mainloop::kWgmmaSm90 ? ", take a config of mma_sm80" : "",
        BlockedRemedy(f, ", or ")));
  }
  if (f.source.nhwc && p.c % f.source.unit_channels != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: c=", p.c, " is not a multiple of ", f.source.unit_channels,
                     ", the channels of one ", alignment.src, "-byte load from NHWC; pad C, lower ",
                     "config.alignment.src (", WidthsOfLoads(f), ")", BlockedRemedy(f, ", or ")));
  }
  if (f.depthwise) return CheckDepthwise(p);
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

// Makes the plan of a wgmma_sm90 kernel. The policy says which of three kinds it is.
absl::Status FillRing(const Problem& p, const ConvFacts& f, ConvPlan* plan) {
  if (f.prologue.depends.OnPixel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: prologue ", f.prologue.name,
                     " depends on the output's position, which the wgmma_sm90 mainloop does not "
                     "take; use an MmaSm80Config"));
  }
  if (f.wgmma.first_layer) {
    absl::StatusOr<FirstLayerPlan> first_layer = MakeFirstLayerPlan(p, f);
    if (!first_layer.ok()) return first_layer.status();
    plan->counts.wgmma = CountsOf(*first_layer);
    plan->kernel = *std::move(first_layer);
  } else if (f.wgmma.gathers) {
    const GatherPlan gathers = MakeGatherPlan(p, f);
    plan->counts.wgmma = CountsOf(gathers);
    plan->kernel = gathers;
  } else {
    absl::StatusOr<TmaPlan> tma = MakeTmaPlan(p, f);
    if (!tma.ok()) return tma.status();
    plan->counts.wgmma = CountsOf(*tma);
    plan->kernel = *std::move(tma);
  }
  return CheckRows(f.config.packed_rows * plan->ring()->rows);
}

// The bytes of source, filters, destination, residual, scales and biases, each of them counted
// once.
double Bytes(const Problem& p, const ConvFacts& f, double filters) {
  const double c = RoundUp(p.c, f.source.interleave);
  const double one = double(p.k / p.groups) * (c / p.groups) * p.r * p.s * f.filter.bits / 8;
  return p.n * c * p.h * p.w * f.source.bits / 8 + filters * one +
         double(p.n) * RoundUp(p.k, f.output.interleave) * p.p() * p.q() *
             (f.store.element_bits + f.store.residual_bits) / 8 +
         8.0 * p.k;
}

// Makes the plan of a depthwise kernel.
absl::Status FillDepthwise(const Problem& p, const ConvFacts& f, ConvPlan* plan) {
  absl::StatusOr<DepthwisePlan> depthwise = MakeDepthwisePlan(p, f);
  if (!depthwise.ok()) return depthwise.status();
  plan->counts = depthwise->counts;
  plan->counts.bytes = Bytes(p, f, double(p.groups));
  plan->kernel = *std::move(depthwise);
  return absl::OkStatus();
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

// How the source reaches shared memory, in words for Describe.
const char* PathOf(const ConvPlan& plan) {
  if (std::holds_alternative<FirstLayerPlan>(plan.kernel)) return "sliding windows";
  if (std::holds_alternative<GatherPlan>(plan.kernel)) return "gathered by threads";
  if (!plan.counts.gathers) return "pointwise";
  const auto* tma = std::get_if<TmaPlan>(&plan.kernel);
  return tma == nullptr ? "im2col" : tma->patch ? "a patch for all taps" : "a copy for each tap";
}

// Checks and plans a problem as it stands.
absl::StatusOr<ConvPlan> PlanAsGiven(const Problem& p, const ConvFacts& f) {
  if (absl::Status s = CheckProblem(p, f.largest_product, f.filter.bits); !s.ok()) return s;
  if (absl::Status s = CheckChannels(p, f); !s.ok()) return s;
  const bool wgmma = f.config.mainloop == gemm::Mainloop::kWgmmaSm90;
  if (f.source.converted && wgmma) {
    return absl::UnimplementedError(
        "conv: the policy has a SourceFunctor, but TMA, which wgmma_sm90 reads through, "
        "loads the source as it is; take a config of mma_sm80 (kMma...) or simt");
  }
  if (f.output.image_sums) {
    if (absl::Status s = internal::CheckImageSums(p.p(), p.q()); !s.ok()) return s;
  }
  ConvPlan plan;
  plan.problem = p;
  plan.batch = prologues::BatchOf(f.prologue.depends, p.n, p.p(), p.q(), p.groups);
  if (p.IsEmpty()) return plan;
  plan.padded_k = Int32(RoundUp(p.k, f.output.interleave));
  if (f.depthwise) {
    if (absl::Status s = FillDepthwise(p, f, &plan); !s.ok()) return s;
    return plan;
  }
  if (absl::Status s = CheckIndices(p, f); !s.ok()) return s;
  if (wgmma) {
    if (absl::Status s = FillRing(p, f, &plan); !s.ok()) return s;
    const RingPlan& ring = *plan.ring();
    const double steps = (ring.k_tiles - 1) * ring.plan.steps + ring.plan.last_steps;
    if (absl::Status s =
            CountTiles(p, f, ring.rows, ring.k_tiles, 32.0 / f.element_bytes * steps, &plan);
        !s.ok()) {
      return s;
    }
  } else {
    const MultistagePlan multistage = MakeMultistagePlan(p, f);
    const int of_k_tile = f.KTileUnits() * f.source.unit_channels;
    const double k = double(multistage.k_tiles) * of_k_tile;
    if (absl::Status s = CountTiles(p, f, multistage.pixels.rows, multistage.k_tiles, k, &plan);
        !s.ok()) {
      return s;
    }
    plan.kernel = multistage;
  }
  return plan;
}

}  // namespace

bool ReadsPatches(const Problem& p, const ConvFacts& f) {
  // A SourceFunctor is given the channels of the source.
  return f.source.nhwc && !f.depthwise && !f.source.converted && PatchColumns(p).has_value();
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
