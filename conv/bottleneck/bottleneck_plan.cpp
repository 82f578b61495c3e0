#include "weft/conv/bottleneck/bottleneck_plan.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
namespace {

using arch::SwizzleSpan, arch::TensorMapSpec;
using gemm::CeilDiv, gemm::Int32;

constexpr std::int64_t kMostColumns = BottleneckShape::kMostColumns * BottleneckShape::kColumns;
constexpr std::int64_t kMostInPlace = BottleneckShape::kMostRounds * 128;

absl::Status Wrong(const char* field, std::int64_t value, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("conv: ", field, "=", value, why));
}

absl::Status CheckExtents(const BottleneckProblem& p, const BottleneckFacts& f) {
  constexpr const char* kInstead = "; run its convolutions one after the other";
  if (p.w % 4 != 0) {
    return Wrong("w", p.w,
                 absl::StrCat(" is not a multiple of 4, the pixels of a line of 128 bytes that "
                              "Bottleneck stores",
                              kInstead));
  }
  if (p.w > kMostColumns) {
    return Wrong("w", p.w,
                 absl::StrCat(" is more than ", kMostColumns, ", the columns that Bottleneck takes",
                              kInstead));
  }
  if (p.c % 32 != 0) {
    return Wrong("c", p.c, " is not a multiple of 32, the channels of a block; pad it with zeros");
  }
  if (p.k % 64 != 0) {
    return Wrong("k", p.k,
                 absl::StrCat(" is not a multiple of 64, the channels that Bottleneck multiplies "
                              "at a time",
                              kInstead));
  }
  if (f.InPlace() && p.k != p.c) {
    return Wrong("k", p.k,
                 absl::StrCat(" is not c=", p.c,
                              ", the channels of x, which this policy's Epilogue adds; give the "
                              "policy a Projection"));
  }
  if (f.InPlace() && p.k > kMostInPlace) {
    return Wrong("k", p.k,
                 absl::StrCat(" is more than ", kMostInPlace,
                              ", the channels that Bottleneck adds to x", kInstead));
  }
  return absl::OkStatus();
}

// Where parts of shared memory lie that depend on the problem, without patches.
BottleneckSpace PlaceParts(const BottleneckTiling& t, const BottleneckFacts& f) {
  const BottleneckShape shape = f.Shape();
  std::int32_t end = 0;
  const auto place = [&](std::int32_t bytes) {
    const std::int32_t at = end;
    end = (end + bytes + 1023) / 1024 * 1024;
    return at;
  };
  BottleneckSpace at;
  place(shape.end());
  at.first_filter = place(t.source_blocks * BottleneckShape::kFilterBlock);
  at.third_filter = place(t.chunks * 2 * BottleneckShape::kFilterBlock);
  if (f.projects) {
    at.projection_filter = place(t.chunks * t.source_blocks * BottleneckShape::kFilterBlock);
  }
  const std::int32_t channels = 2 * BottleneckShape::kMiddle + t.chunks * 64 * (f.projects ? 2 : 1);
  at.values = place(channels * BottleneckShape::kValueBytes);
  if (!f.InPlace()) at.outputs = place(f.warpgroups * 2 * 4 * shape.tile_plane_bytes());
  at.patches = end;
  at.patch_bytes = t.source_blocks * shape.plane_bytes();
  return at;
}

absl::Status FillTiling(const BottleneckProblem& p, const BottleneckFacts& f,
                        BottleneckTiling* tiling) {
  const std::int64_t columns = CeilDiv(p.w, std::int64_t{BottleneckShape::kColumns});
  const std::int64_t rows = CeilDiv(p.h, std::int64_t{f.rows});
  const std::int64_t tiles = p.n * rows * columns;
  constexpr std::int64_t kMostBlocks = 64;  // far more than there is room for
  tiling->columns = gemm::FastDivmod(Int32(columns));
  tiling->rows = gemm::FastDivmod(Int32(rows));
  tiling->tiles = Int32(tiles);
  tiling->h = Int32(p.h), tiling->w = Int32(p.w);
  tiling->source_blocks = Int32(std::min(p.c / 32, kMostBlocks));
  tiling->chunks = Int32(std::min(p.k / 64, kMostBlocks));
  tiling->at = PlaceParts(*tiling, f);
  const std::int32_t left = arch::kMaxSharedBytes - tiling->at.patches;
  tiling->patches = std::min(f.patches, left / tiling->at.patch_bytes);
  if (tiling->patches < f.warpgroups) {
    const std::int64_t needed =
        std::int64_t{tiling->at.patches} + std::int64_t{f.warpgroups} * tiling->at.patch_bytes;
    return absl::ResourceExhaustedError(absl::StrCat(
        "conv: the filters of c=", p.c, " and k=", p.k, " channels and ", f.warpgroups,
        " patches of x are at least ", needed, " bytes, more than the ", arch::kMaxSharedBytes,
        " of shared memory that any GPU gives one block; give config fewer rows or warpgroups, or "
        "run the convolutions one after the other"));
  }
  tiling->at.all = tiling->at.patches + tiling->patches * tiling->at.patch_bytes;
  return absl::OkStatus();
}

// Says whose error it is.
absl::Status OfPart(const absl::Status& status, const char* part) {
  return absl::Status(status.code(), absl::StrCat(status.message(), "; said of the ", part));
}

}  // namespace

std::string ProblemName(const BottleneckProblem& p) {
  return absl::StrCat("n", p.n, "c", p.c, "h", p.h, "w", p.w, "k", p.k);
}

Problem PartOf(const BottleneckProblem& p, int part) {
  switch (BottleneckPartName(part)) {
    case BottleneckPartName::kFirst:
      return p.first();
    case BottleneckPartName::kSecond:
      return p.second();
    case BottleneckPartName::kProjection:
      return p.projection();
    case BottleneckPartName::kThird:
      return p.third();
  }
  return {};
}

absl::StatusOr<BottleneckPlan> PlanBottleneck(const BottleneckProblem& p,
                                              const BottleneckFacts& f) {
  constexpr const char* kNames[kBottleneckParts] = {"first convolution", "3x3 convolution",
                                                    "projection", "last convolution"};
  BottleneckPlan plan;
  plan.problem = p;
  double bytes = 0.0;
  for (int i = 0; i < kBottleneckParts; ++i) {
    if (!f.Has(i)) continue;
    const absl::StatusOr<ConvPlan> part = MakeConvPlan(PartOf(p, i), f.part[i]);
    if (!part.ok()) return OfPart(part.status(), kNames[i]);
    bytes += part->counts.bytes;
  }
  if (p.k == 0) return Wrong("k", 0, " is no number of channels; give a multiple of 64");
  if (absl::Status s = CheckExtents(p, f); !s.ok()) return s;
  if (p.IsEmpty()) return plan;
  if (absl::Status s = FillTiling(p, f, &plan.tiling); !s.ok()) return s;

  gemm::PlanCounts& counts = plan.counts;
  counts.tiles_m = plan.tiling.tiles, counts.tiles_n = 1, counts.k_tiles = 1;
  const auto pixels = static_cast<double>(p.n * p.h * p.w);
  counts.useful = pixels / (double(plan.tiling.tiles) * f.Shape().pixels());
  // Tensors between the convolutions are not moved, and x is read once.
  const double middle = 64.0 * pixels;
  counts.bytes = bytes - 4.0 * middle;
  if (f.projects) counts.bytes -= double(p.c) * pixels + 2.0 * double(p.k) * pixels;
  if (f.InPlace()) counts.bytes -= double(p.k) * pixels;
  return plan;
}

absl::StatusOr<BottleneckPlan> BottleneckPlanner::Make(const BottleneckProblem& problem,
                                                       const BottleneckFacts& facts,
                                                       const arch::DeviceLimits* device) {
  absl::StatusOr<BottleneckPlan> plan = PlanBottleneck(problem, facts);
  if (!plan.ok() || device == nullptr) return plan;
  if (absl::Status s = gemm::CheckDevice("conv", LaunchFacts(*plan, facts.tile), *device);
      !s.ok()) {
    return s;
  }
  return plan;
}

std::string BottleneckPlanner::Describe(const BottleneckPlan& plan, const BottleneckFacts& f) {
  const BottleneckProblem& p = plan.problem;
  if (p.IsEmpty()) return "nothing to do: dst has no elements";
  return absl::StrFormat(
      "bottleneck of %d, 64, 64 and %d channels%s, %d tiles of %dx%d pixels, %d warpgroups, %d "
      "patches, %d bytes shared, NCxHWx<32>",
      p.c, p.k,
      f.projects ? " with a projection"
      : f.adds   ? " and x"
                 : "",
      plan.tiling.tiles, f.rows, BottleneckShape::kColumns, f.warpgroups, plan.tiling.patches,
      plan.shared_bytes());
}

// The traversal of a view of x that has the columns of a tile's patch, so that each of its rows is one
// of a patch.
TensorMapSpec SourceSpec(const BottleneckPlan& plan, int rows, int column, const void* base) {
  const BottleneckProblem& p = plan.problem;
  const int columns = BottleneckShape::kColumns;
  const std::int64_t first = std::max(columns * column - 1, 0);
  const std::int64_t width = std::min<std::int64_t>(p.w, columns * (column + 1) + 1) - first;
  const int lower = column == 0 ? -1 : 0;
  TensorMapSpec spec;
  spec.base = static_cast<const unsigned char*>(base) + first * 32;
  spec.kind = TensorMapSpec::Kind::kIm2col;
  spec.rank = 4;
  spec.element_bytes = 1;
  spec.interleave32 = true;
  spec.swizzle = SwizzleSpan::k32;
  spec.dim[0] = static_cast<std::uint32_t>(width), spec.dim[1] = static_cast<std::uint32_t>(p.h);
  spec.dim[2] = static_cast<std::uint32_t>(p.c / 32), spec.dim[3] = static_cast<std::uint32_t>(p.n);
  spec.stride[0] = static_cast<std::uint64_t>(32 * p.w);
  spec.stride[1] = spec.stride[0] * static_cast<std::uint64_t>(p.h);
  spec.stride[2] = spec.stride[1] * static_cast<std::uint64_t>(p.c / 32);
  spec.lower[0] = static_cast<std::int16_t>(lower), spec.lower[1] = -1;
  spec.upper[0] = static_cast<std::int16_t>(BottleneckShape::kPitch + lower - width);
  spec.upper[1] = static_cast<std::int16_t>(rows + 1);
  spec.channels = 32;
  spec.pixels = static_cast<std::uint16_t>(BottleneckShape{rows, 1}.patch_pixels());
  return spec;
}

// 64 output channels by all units of 32 input channels and a tap. In shared memory row 16 w + 8 i + r is
// channel 16 w + 2 r + i: a thread, which has rows r and 8 + r of the product, has adjacent channels.
TensorMapSpec FilterSpec(const Problem& part) {
  const auto k = static_cast<std::uint64_t>(part.k);
  const auto units = static_cast<std::uint32_t>(part.c / 32 * part.r * part.s);
  TensorMapSpec spec;
  spec.rank = 5;
  spec.element_bytes = 1;
  spec.swizzle = SwizzleSpan::k32;
  spec.dim[0] = 32, spec.dim[1] = 8, spec.dim[2] = 2;
  spec.dim[3] = static_cast<std::uint32_t>(k / 16), spec.dim[4] = units;
  spec.stride[0] = 64, spec.stride[1] = 32, spec.stride[2] = 512, spec.stride[3] = 32 * k;
  spec.box[0] = 32, spec.box[1] = 8, spec.box[2] = 2, spec.box[3] = 4;
  spec.box[4] = static_cast<std::uint16_t>(units);
  return spec;
}

// A tile of 64 channels, whose pixels are dense in shared memory.
TensorMapSpec OutputSpec(const BottleneckPlan& plan, int rows) {
  const BottleneckProblem& p = plan.problem;
  const auto line = static_cast<std::uint64_t>(32 * p.w);
  TensorMapSpec spec;
  spec.rank = 4;
  spec.element_bytes = 1;
  spec.swizzle = SwizzleSpan::k128;
  spec.dim[0] = 128, spec.dim[1] = static_cast<std::uint32_t>(p.w / 4);
  spec.dim[2] = static_cast<std::uint32_t>(p.h);
  spec.dim[3] = static_cast<std::uint32_t>(p.n * (p.k / 32));
  spec.stride[0] = 128, spec.stride[1] = line;
  spec.stride[2] = line * static_cast<std::uint64_t>(p.h);
  spec.box[0] = 128, spec.box[1] = 2, spec.box[2] = static_cast<std::uint16_t>(rows);
  spec.box[3] = 2;
  return spec;
}

BottleneckConfig BottleneckTileFor(const BottleneckProblem& p, int multiprocessors) {
  // Clocks of a tile, and of one of its pixels, where each warpgroup of a block has a tile, fitted to times of 56 x 56 pixels.
  // kBottleneck4x1x2 was the quickest for no number of images.
  constexpr double kTile = 160.0, kPixel = 59.4;
  BottleneckConfig best = kBottleneck14x2x3;
  double least = 0.0;
  for (const BottleneckConfig& config : {kBottleneck14x2x3, kBottleneck8x3x4}) {
    const std::int64_t tiles = p.n * CeilDiv(p.h, std::int64_t{config.rows}) *
                               CeilDiv(p.w, std::int64_t{BottleneckConfig::kColumns});
    const std::int64_t at_a_time = std::int64_t{multiprocessors} * config.warpgroups;
    const double clocks =
        double(CeilDiv(tiles, at_a_time)) * config.warpgroups * (kTile + kPixel * config.pixels());
    if (least == 0.0 || clocks < least) best = config, least = clocks;
  }
  return best;
}

}  // namespace weft::conv
