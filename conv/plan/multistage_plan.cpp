#include "weft/conv/plan/multistage_plan.hpp"

#include <algorithm>

#include "weft/conv/problem/problem_checks.hpp"

namespace weft::conv {
namespace {

using gemm::Int32;
using gemm::kInt32Max;
using internal::StepH;
using internal::StepW;
using internal::TooLarge;
using internal::Wide;

// The threads that load count the source in units of source.unit_channels channels (SourceParams).
// These are the units of various things.
struct Units {
  std::int64_t of_block = 1;    // a pixel's channel block; 1 in NHWC
  std::int64_t all = 0;         // all channels of a pixel
  std::int64_t of_group = 0;    // the channels of one group of a pixel
  std::int64_t of_product = 0;  // k, all taps of a group
  std::int64_t of_k_tile = 0;   // a k tile
};
Units UnitsOf(const Problem& p, const ConvFacts& f) {
  const std::int64_t x = f.source.unit_channels;
  Units u;
  u.of_block = f.source.nhwc ? 1 : gemm::CeilDiv(std::int64_t{f.source.interleave}, x);
  u.all = gemm::CeilDiv(p.c, x * u.of_block) * u.of_block;
  u.of_group = gemm::CeilDiv(p.c / p.groups, x);
  u.of_product = u.of_group * p.r * p.s;
  u.of_k_tile = f.KTileUnits();
  return u;
}

// The rows of one product: output pixels of each image, or of a block of pixels if the filter
// depends on the pixel; of all images, or of one if the filter depends on the image.
struct Rows {
  std::int64_t height = 0, width = 0, images = 0;
  std::int64_t all() const { return images * height * width; }
};
Rows RowsOf(const Problem& p, const prologues::Depends& d) {
  return {.height = d.OnPixel() ? std::min<std::int64_t>(d.block_h, p.p()) : p.p(),
          .width = d.OnPixel() ? std::min<std::int64_t>(d.block_w, p.q()) : p.q(),
          .images = d.image ? 1 : p.n};
}

// The parameters of the iterator that steps from tap to tap by a table of offsets.
TapParams MakeTaps(const Problem& p, const WindowParams& window) {
  TapParams t;
  static_cast<WindowParams&>(t) = window;
  const std::int64_t filter_taps = p.r * p.s, units = t.pixel_units;
  const std::int64_t taps = filter_taps * units;
  t.taps = Int32(taps);
  for (int tap = 0; tap < taps; ++tap) {
    const auto offset = [&](std::int64_t i) {
      const std::int64_t unit = i / filter_taps, at = i % filter_taps;
      return unit + (at / p.s * t.step_h * p.w + at % p.s * t.step_w) * units;
    };
    const std::int64_t next = tap + 1 < taps ? offset(tap + 1) : p.h * p.w * units;
    t.next_tap[tap] = Int32(next - offset(tap));
  }
  return t;
}

}  // namespace

absl::Status CheckRows(std::int64_t rows) {
  constexpr std::int64_t kMost = kInt32Max - 1024;  // a tile reaches past the last row by less
  if (rows <= kMost) return absl::OkStatus();
  return TooLarge("rows of one product", rows, kMost, "split the batch");
}

bool IsPointwise(const Problem& p, const ConvFacts& f) {
  return !f.one_kernel && p.r * p.s == 1 && p.pad_top == 0 && p.pad_left == 0 &&
         p.pad_bottom == 0 && p.pad_right == 0 && UnitsOf(p, f).of_block == 1;
}

namespace {

// The channels that iterators step past the end of k, at most: the stages that are loaded ahead, and
// one more. All tiles but very long ones, and those over NCxHWx<4>, count the same, so that a problem
// which one tile of a family takes is not refused by another for its indices.
std::int64_t ChannelsPastTheEnd(const ConvFacts& f) {
  constexpr std::int64_t kOfTensorCores = 2048;
  const std::int64_t own =
      (f.config.stages + 1) * std::int64_t{f.KTileUnits()} * f.source.unit_channels;
  const bool few = !f.source.nhwc && f.source.interleave == 4;  // simt, or a first layer
  return few ? own : std::max(own, kOfTensorCores);
}

absl::Status TooFar(Wide reach) {
  return TooLarge("units from the first to the last source value under a filter", reach, kInt32Max,
                  "split the image or its channels");
}

// Iterators over NHWC add 32-bit offsets, in units, to the 64-bit place of a filter's first tap.
// Units are counted as if they were the narrowest, for the reason that ChannelsPastTheEnd has. So many
// rows from kFarOutside, a row of no pixel, are still outside and within 32 bits.
absl::Status CheckNhwcOffsets(const Problem& p, const ConvFacts& f) {
  constexpr std::int64_t kNarrowest = 4, kMostRows = std::int64_t{1} << 30;
  const std::int64_t x = kNarrowest * 8 / f.source.bits;
  const std::int64_t of_group = gemm::CeilDiv(p.c / p.groups, x);
  const std::int64_t taps_behind = gemm::CeilDiv(ChannelsPastTheEnd(f), x) / of_group + 1;
  const Wide rows = Wide{p.r + taps_behind / p.s + 1} * StepH(p);
  if (rows > kMostRows) {
    return TooLarge("rows under a filter", rows, kMostRows, "use a smaller dilation");
  }
  const Wide pixels = rows * p.w + Wide{p.s} * StepW(p) + 1;
  const Wide reach = pixels * gemm::CeilDiv(p.c, x);
  return reach > kInt32Max ? TooFar(reach) : absl::OkStatus();
}

// The same of channel blocks, whose offsets also span the planes of a group's blocks. A step may
// pass twice the taps before it goes back.
absl::Status CheckBlockOffsets(const Problem& p, const ConvFacts& f) {
  const Units u = UnitsOf(p, f);
  const std::int64_t units =
      gemm::CeilDiv(ChannelsPastTheEnd(f), std::int64_t{f.source.unit_channels});
  const std::int64_t behind = gemm::CeilDiv(units, p.r * p.s) + 2;
  const Wide taps = 2 * (Wide{p.r} * StepH(p) * p.w + Wide{p.s} * StepW(p));
  const Wide reach = Wide{u.all + behind} * p.h * p.w + taps * u.of_block;
  return reach > kInt32Max ? TooFar(reach) : absl::OkStatus();
}

// wgmma_sm90's traversals are of images with their padding, too.
absl::Status CheckTraversal(const Problem& p, const ConvFacts& f) {
  const Units u = UnitsOf(p, f);
  const std::int64_t past = (f.config.stages + 1) * u.of_k_tile / (p.r * p.s) + 2;
  const Wide padded_plane = Wide{p.h + p.pad_top + p.pad_bottom + 2 * StepH(p) + 1} *
                            (p.w + p.pad_left + p.pad_right + 2 * StepW(p));
  const Wide reach = f.source.nhwc ? padded_plane * (u.all + past)
                                   : Wide{u.all + past} * p.h * p.w + padded_plane * u.of_block;
  if (reach <= kInt32Max) return absl::OkStatus();
  return TooLarge("channel blocks of one image with its padding", reach, kInt32Max,
                  "split the image or its channels");
}

}  // namespace

absl::Status CheckIndices(const Problem& p, const ConvFacts& f) {
  if (!IsPointwise(p, f)) {
    absl::Status s = f.source.nhwc ? CheckNhwcOffsets(p, f) : CheckBlockOffsets(p, f);
    if (s.ok() && IsWgmma(f.kind)) s = CheckTraversal(p, f);
    if (!s.ok()) return s;
  }
  const std::int64_t plane = p.h * p.w;
  if (plane > kInt32Max) return TooLarge("h*w", plane, kInt32Max, "split the image");
  // In NHWC the place in k is counted in bytes of whichever operand has more, elsewhere in units.
  const std::int64_t units = UnitsOf(p, f).of_product;
  const Wide k_bytes =
      Wide{units} * f.source.unit_channels * std::max(f.source.bits, f.filter.bits) / 8;
  if (f.source.nhwc ? k_bytes > kInt32Max : units > kInt32Max) {
    return TooLarge("bytes of c/groups*r*s", k_bytes, kInt32Max, "split the channels");
  }
  return CheckRows(RowsOf(p, f.prologue.depends).all());
}

PixelMap MakePixelMap(const Problem& p, const ConvFacts& f) {
  const Rows rows = RowsOf(p, f.prologue.depends);
  PixelMap map;
  map.rows = Int32(rows.all());
  map.image_pixels = gemm::FastDivmod(Int32(rows.height * rows.width));
  map.row_pixels = gemm::FastDivmod(Int32(rows.width));
  map.p = Int32(p.p());
  map.q = Int32(p.q());
  map.group_k = Int32(p.k / p.groups);
  return map;
}

Im2colParams MakeIm2col(const Problem& p, const ConvFacts& f) {
  const Units u = UnitsOf(p, f);
  const std::int64_t plane = p.h * p.w;
  Im2colParams a;
  a.rows = MakePixelMap(p, f);
  a.image_units = u.all * plane;
  a.group_units = u.of_group * (f.source.nhwc ? 1 : plane);
  a.units = Int32(u.of_product);
  a.pixel_units = Int32(f.source.nhwc ? u.all : u.of_block);
  a.channel_units = Int32(u.of_group);
  a.w = Int32(p.w);
  a.plane = Int32(plane);
  a.stride_h = Int32(p.stride_h);
  a.stride_w = Int32(p.stride_w);
  internal::SetTaps(p, &a);
  a.taps = gemm::FastDivmod(Int32(p.r * p.s));
  a.tap_columns = gemm::FastDivmod(Int32(p.s));
  a.channels = gemm::FastDivmod(Int32(u.of_group));
  return a;
}

FilterParams MakeFilter(const Problem& p, const ConvFacts& f) {
  const Units u = UnitsOf(p, f);
  const std::int64_t channels = u.of_product * f.source.unit_channels;
  FilterParams b;
  b.units = Int32(u.of_product);
  b.padded_k = Int32(RoundUp(p.k / p.groups, f.filter.interleave));
  // KRSC, whose rows of int4 end with whole blocks.
  b.row_bytes = (f.filter.bits == 4 ? RoundUp(channels, 32) : channels) * f.filter.bits / 8;
  b.filter_bytes = b.padded_k * (f.source.nhwc ? b.row_bytes : channels * f.filter.bits / 8);
  return b;
}

MultistagePlan MakeMultistagePlan(const Problem& p, const ConvFacts& f) {
  const Units u = UnitsOf(p, f);
  MultistagePlan plan;
  plan.pixels = MakePixelMap(p, f);
  plan.filter = MakeFilter(p, f);
  plan.k_tiles = Int32(gemm::CeilDiv(u.of_product, u.of_k_tile));
  const Im2colParams im2col = MakeIm2col(p, f);
  if (IsPointwise(p, f)) {
    plan.source = static_cast<const SourceParams&>(im2col);
  } else if (f.source.has_taps && p.r * p.s * u.of_block <= TapParams::kTableTaps) {
    plan.source = MakeTaps(p, im2col);
  } else {
    plan.source = im2col;
  }
  return plan;
}

}  // namespace weft::conv
