#include "weft/conv/wgmma_plan.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "weft/conv/copy_limits.hpp"
#include "weft/conv/stacked_taps.hpp"
#include "weft/conv/strip_plan.hpp"

namespace weft::conv {
namespace {

using arch::SwizzleSpan;
using arch::TensorMapSpec;
using gemm::CeilDiv;
using gemm::Int32;
using gemm::WgmmaPlan;

// Measured on an H200 (shared/probes/hopper2, perf/results): bytes a clock that a multiprocessor gets
// from L2, all of them reading, and clocks from the start of a large copy to its end.
constexpr double kFabricBytes = 40.0;
constexpr double kLatency = 3000.0;

// Clocks of the copy engine for one row of the source, a position's channels of a chunk. Rows that
// do not lie side by side are requests of their own to L2; a patch asks for each only once, so that
// none of them is still near.
double RowClocks(std::int64_t bytes, bool nhwc, bool strided, bool patch) {
  if (bytes == 128) return 3.6;
  if (bytes == 64) return strided ? 4.0 : 2.3;
  if (nhwc) return strided ? 6.0 : 2.0;
  return !strided ? 1.15 : patch ? 3.6 : 2.3;
}

// How a slice is made up.
struct Slicing {
  bool patch = false;
  std::int64_t span = 32;        // channels of a chunk
  std::int64_t chunk_taps = 1;   // and how many of the filter's taps
  std::int64_t filter_rows = 0;  // and rows of `span` bytes of the filter
  // Rows behind a slice's that products read, and nobody brings: of a tile that is larger than the product.
  std::int64_t filter_tail = 0, source_tail = 0;
  std::int64_t chunks = 0;  // of k
  std::int64_t slice_chunks = 1;
  std::int64_t copies_h = 1, copies_w = 1;  // of the source, for a chunk
  std::int64_t pixels = 0;                  // of a copy
  std::int64_t pitch_w = 0, pitch_h = 0;    // of the walk
  std::int64_t stages = 0;

  std::int64_t copies() const { return copies_h * copies_w; }
  std::int64_t rows() const { return slice_chunks * copies() * pixels; }  // of a slice
  std::int64_t copy_bytes() const { return pixels * span; }
  std::int64_t chunk_bytes() const { return copies() * copy_bytes(); }
  std::int64_t steps() const { return slice_chunks * chunk_taps * (span / 32); }
  std::int64_t source_bytes() const {
    return RoundUp(slice_chunks * chunk_bytes() + source_tail * span, 1024);
  }
  std::int64_t filter_bytes() const { return (slice_chunks * filter_rows + filter_tail) * span; }
  std::int64_t stage_bytes() const { return source_bytes() + RoundUp(filter_bytes(), 1024); }
};

// The widest chunk of NHWC that wastes least.
std::int64_t SpanOf(std::int64_t c) {
  std::int64_t best = 128;
  for (const std::int64_t span : {64, 32}) {
    if (RoundUp(c, span) < RoundUp(c, best)) best = span;
  }
  return best;
}

// Positions of the walk of one product.
std::int64_t WalkRows(const Problem& p, const gemm::TileFacts& f, const Slicing& s) {
  return (f.depends.image ? 1 : p.n) * s.pitch_w * s.pitch_h;
}

constexpr std::int64_t kMostStages = gemm::MbarRingParams::kMostStages;

// Takes fewer chunks to a slice until two stages fit; false if they never do.
bool FitStages(const gemm::TileFacts& f, std::int64_t steps_wanted, Slicing* s) {
  const std::int64_t chunk_steps = s->chunk_taps * (s->span / 32);
  const std::int64_t share = CeilDiv<std::int64_t>(s->chunks, f.config.split);  // of a block
  s->slice_chunks = std::clamp<std::int64_t>(steps_wanted / chunk_steps, 1, share);
  for (;; --s->slice_chunks) {
    s->stages = std::min(f.stage_bytes / s->stage_bytes(), kMostStages);
    if (s->stages >= 2 && s->steps() <= WgmmaPlan::kMostSteps) return true;
    if (s->slice_chunks == 1) return false;
  }
}

// Channels of a tile that are brought.
std::int64_t BroughtChannels(const Problem& p, const gemm::TileFacts& f) {
  return gemm::BroughtRows(f.channels(), RoundUp(p.k / p.groups, f.filter_interleave));
}

// Positions of a tile that are brought, of a walk of these pitches; the others are s->source_tail.
std::int64_t BroughtPositions(const Problem& p, const gemm::TileFacts& f, Slicing* s) {
  const std::int64_t tile = f.config.threadblock.m;
  const std::int64_t brought = gemm::BroughtRows(tile, WalkRows(p, f, *s));
  s->source_tail = tile - brought;
  return brought;
}

Slicing ByTaps(const Problem& p, const gemm::TileFacts& f) {
  Slicing s;
  const std::int64_t c = p.c / p.groups;
  s.span = f.nhwc ? SpanOf(c) : 32;
  s.filter_rows = BroughtChannels(p, f);
  s.filter_tail = f.channels() - s.filter_rows;
  s.chunks = CeilDiv(c, s.span) * p.r * p.s;
  s.pitch_w = p.q();
  s.pitch_h = p.p();
  s.pixels = BroughtPositions(p, f, &s);
  FitStages(f, f.config.threadblock.k / 32, &s);  // fits: conv/kernels.hpp
  return s;
}

// Positions of the walk from one row of it to the next: the fewest that have all output columns, and
// where the positions behind a row's last, which are the next row's first, are zeros in both.
// extent, taps: of the source and the filter along the row, or along the column of rows.
std::int64_t Pitch(std::int64_t extent, std::int64_t outputs, std::int64_t taps,
                   std::int64_t stride, std::int64_t dilation, std::int64_t pad) {
  const std::int64_t last = outputs - 1 + (taps - 1) * dilation / stride;
  std::int64_t pitch = std::max(outputs, CeilDiv(extent + pad, stride));
  while (pitch <= last && (last - pitch + 1) * stride > pad) ++pitch;
  return pitch;
}

// Copies of the source for its pixels between one position of the walk and the next, as far as taps
// begin there.
std::int64_t CopiesOf(std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
  return dilation % stride == 0 ? 1 : std::min(stride, (taps - 1) * dilation + 1);
}

// One copy with stride 1, four for 3x3 with stride 2. False if the problem has no patch. filter_rows:
// a Slicing's.
bool ByPatch(const Problem& p, const gemm::TileFacts& f, std::int64_t filter_rows, Slicing* s) {
  if (p.r * p.s == 1) return false;
  const std::int64_t c = p.c / p.groups;
  s->patch = true;
  s->pitch_w = Pitch(p.w, p.q(), p.s, p.stride_w, p.dilation_w, p.pad_left);
  s->pitch_h = Pitch(p.h, p.p(), p.r, p.stride_h, p.dilation_h, p.pad_top);
  s->copies_h = CopiesOf(p.r, p.stride_h, p.dilation_h);
  s->copies_w = CopiesOf(p.s, p.stride_w, p.dilation_w);
  const std::int64_t shift =
      (p.r - 1) * p.dilation_h / p.stride_h * s->pitch_w + (p.s - 1) * p.dilation_w / p.stride_w;
  s->pixels = RoundUp(BroughtPositions(p, f, s) + shift, 8);
  if (s->pixels > 1024) return false;
  s->chunk_taps = p.r * p.s;
  s->filter_rows = filter_rows;
  const std::int64_t widest = f.nhwc ? SpanOf(c) : 32;
  for (s->span = widest; s->span >= 32; s->span /= 2) {
    s->chunks = CeilDiv(c, s->span);
    if (FitStages(f, f.config.threadblock.k / 32, s)) return true;
  }
  return false;
}

// Clocks of the copy engine for a slice's rows.
double EngineClocks(const Problem& p, const gemm::TileFacts& f, const Slicing& s) {
  return static_cast<double>(s.rows()) * RowClocks(s.span, f.nhwc, p.stride_w > 1, s.patch);
}

// Clocks of 32 channels and all taps, for one useful position of a tile.
double ClocksOf(const Problem& p, const gemm::TileFacts& f, const Slicing& s) {
  const gemm::TileShape& tile = f.config.threadblock;
  const auto steps = static_cast<double>(s.steps());
  const auto bytes = static_cast<double>(s.rows() * s.span + s.filter_bytes());
  const double products = steps * tile.m * tile.n / 128.0;  // 4096 a clock, 32 to a step
  const double feed = std::max(bytes / kFabricBytes, EngineClocks(p, f, s));
  const double round = (products + feed + kLatency) / static_cast<double>(s.stages);
  const double useful = static_cast<double>(p.p() * p.q()) / double(s.pitch_w * s.pitch_h);
  const double taps = static_cast<double>(p.r * p.s);
  return std::max({products, feed, round}) * taps / steps / (tile.m * useful);
}

void FillSource(const Problem& p, const gemm::TileFacts& f, const Slicing& s, EnginePlan* plan) {
  TensorMapSpec& spec = plan->source_spec;
  spec.kind = TensorMapSpec::Kind::kIm2col;
  spec.rank = 4;
  spec.pixels = static_cast<std::uint16_t>(s.pixels);
  const auto w = static_cast<std::uint32_t>(p.w), h = static_cast<std::uint32_t>(p.h);
  const auto n = static_cast<std::uint32_t>(p.n);
  int first;
  if (f.nhwc) {
    const auto c = static_cast<std::uint64_t>(p.c);
    spec.dim[0] = static_cast<std::uint32_t>(c);
    spec.dim[1] = w, spec.dim[2] = h, spec.dim[3] = n;
    spec.stride[0] = c, spec.stride[1] = c * w, spec.stride[2] = c * w * h;
    spec.channels = static_cast<std::uint16_t>(s.span);
    spec.swizzle = static_cast<SwizzleSpan>(s.span);
    first = 1;
  } else {
    const auto blocks = static_cast<std::uint32_t>(CeilDiv<std::int64_t>(p.c, 32));
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
  // With a patch, copies begin one pixel apart, else a tap.
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
  a.copies = CopiesOfSlices(s.chunks * s.copies(), s.slice_chunks * s.copies());
  a.copy_bytes = Int32(s.copy_bytes());
  a.span = f.nhwc ? Int32(s.span) : 1;
  a.group_channels = Int32(f.nhwc ? p.c / p.groups : CeilDiv<std::int64_t>(p.c / p.groups, 32));
}

void FillFilter(const Problem& p, const gemm::TileFacts& f, const Slicing& s, EnginePlan* plan) {
  const FilterExtents e = p.filter();
  const auto channels = static_cast<std::uint16_t>(BroughtChannels(p, f));
  const auto taps = static_cast<std::uint32_t>(e.r * e.s);
  const auto k = static_cast<std::uint32_t>(RoundUp(e.k, f.filter_interleave));
  TensorMapSpec& spec = plan->filter_spec;
  FilterCopies& b = plan->filter;
  spec.rank = 4;
  spec.dim[3] = 1;  // the bank's count comes with its address
  spec.box[3] = 1;
  b.taps = gemm::FastDivmod(s.patch ? 1 : Int32(p.r * p.s));
  b.slice_steps = Int32(s.steps());
  if (f.nhwc) {
    const auto c = static_cast<std::uint64_t>(e.c);
    spec.dim[0] = static_cast<std::uint32_t>(c), spec.dim[1] = k, spec.dim[2] = taps;
    spec.stride[0] = c * taps, spec.stride[1] = c, spec.stride[2] = c * taps * k;
    spec.box[0] = static_cast<std::uint16_t>(s.span), spec.box[1] = channels;
    spec.box[2] = static_cast<std::uint16_t>(s.chunk_taps);
    spec.swizzle = static_cast<SwizzleSpan>(s.span);
    b.copies = CopiesOfSlices(s.chunks, s.slice_chunks);
    b.span = Int32(s.span);
  } else {
    // Lines of four output channels.
    const auto units = static_cast<std::uint32_t>(CeilDiv<std::int64_t>(e.c, 32)) * taps;
    spec.dim[0] = 128, spec.dim[1] = k / 4, spec.dim[2] = units;
    spec.stride[0] = 128, spec.stride[1] = std::uint64_t{32} * k;
    spec.stride[2] = spec.stride[1] * units;
    spec.box[0] = 128, spec.box[1] = channels / 4;
    spec.box[2] = static_cast<std::uint16_t>(s.steps());
    spec.swizzle = SwizzleSpan::k128;
    b.copies = {.of_slice = 1, .of_last = 1};
  }
  b.copy_bytes = Int32(spec.Bytes());
}

// Where the operands of each step begin; in units of 16 bytes. row_of_tap: of a chunk's filter_rows, the
// first that a tap multiplies.
template <class RowOfTap>
void FillSteps(const Problem& p, const gemm::TileFacts& f, const Slicing& s,
               const RowOfTap& row_of_tap, WgmmaPlan* plan) {
  const auto swizzle = f.nhwc ? static_cast<SwizzleSpan>(s.span) : SwizzleSpan::k32;
  const auto row = static_cast<std::uint32_t>(s.span);
  plan->a = plan->b =
      arch::WgmmaDescriptor(0, {.swizzle = swizzle, .leading = 16, .stride = 8 * row});
  plan->a_group = static_cast<std::uint32_t>(f.config.warp.m) * row / 16;
  plan->b_block = 64 * row / 16;
  const std::int64_t chunk_steps = s.chunk_taps * (s.span / 32);
  plan->steps = Int32(s.steps());
  plan->last_steps =
      Int32((s.chunks - (CeilDiv(s.chunks, s.slice_chunks) - 1) * s.slice_chunks) * chunk_steps);
  for (std::int64_t i = 0; i < s.steps(); ++i) {
    const std::int64_t chunk = i / chunk_steps, tap = i % chunk_steps / (s.span / 32);
    const std::int64_t part = i % (s.span / 32);
    std::int64_t shift = 0;
    if (s.patch) {
      const std::int64_t from = p.mode == Mode::kConvolution ? s.chunk_taps - 1 - tap : tap;
      const std::int64_t h = from / p.s * p.dilation_h, w = from % p.s * p.dilation_w;
      const std::int64_t copy = h % p.stride_h * s.copies_w + w % p.stride_w;
      shift = copy * s.pixels + h / p.stride_h * s.pitch_w + w / p.stride_w;
    }
    plan->step_a[i] =
        static_cast<std::uint32_t>((chunk * s.chunk_bytes() + shift * s.span + part * 32) / 16);
    plan->step_b[i] = static_cast<std::uint32_t>(
        ((chunk * s.filter_rows + row_of_tap(tap)) * s.span + part * 32) / 16);
  }
}

// Filters stay in shared memory if all slices of a tile's columns leave room for a ring of sources
// that is deep enough: a few stages, and the bytes that are under way between L2 and a
// multiprocessor.
void FillRing(const Problem& p, const gemm::TileFacts& f, const Slicing& s, std::int64_t slices,
              gemm::MbarRingParams* ring) {
  constexpr std::int64_t kLeastStages = 3, kLeastBytes = 40 * 1024;
  const std::int64_t filters = s.stage_bytes() - s.source_bytes();
  const std::int64_t left = f.stage_bytes - slices * filters;
  const std::int64_t stages = std::min(left / s.source_bytes(), kMostStages);
  if (f.config.split == 1 && stages >= kLeastStages && left >= kLeastBytes && FilterMayStay(p, f)) {
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
  const double most = kMostClocks / EngineClocks(p, f, s);
  ring->prefetch = std::min(static_cast<std::int32_t>(most), ring->stages);
}

// For the model: what RowClocks says is of an engine by itself. taps_inside: the share of the rows of
// taps brought that exist.
void FillClocks(const Problem& p, const gemm::TileFacts& f, const Slicing& s, double taps_inside,
                EnginePlan* plan) {
  using gemm::CopyClocks;
  const std::int64_t k = p.k / p.groups;
  const std::int64_t n = f.config.stack > 1 ? f.channels() : BroughtChannels(p, f);
  const auto inside = [&](std::int64_t columns) {
    return taps_inside * static_cast<double>(columns) / static_cast<double>(RoundUp(columns, n));
  };
  const auto pixels = static_cast<double>(s.pixels);
  const double rows = static_cast<double>(s.filter_rows * s.slice_chunks) / double(s.steps());
  if (f.nhwc) {
    const double row = CopyClocks::Line(s.span);
    plan->copy_clocks = pixels * row;
    plan->column_clocks = CopyClocks::Columns(rows, inside(k), row);
  } else {  // filters are lines of four channels, of which each is as long as four pixels
    plan->copy_clocks = pixels * (p.stride_w > 1 ? CopyClocks::kStridedBlock : CopyClocks::kBlock);
    plan->column_clocks = CopyClocks::Columns(rows / 4.0, inside(RoundUp(k, std::int64_t{32})),
                                              4.0 * CopyClocks::kBlock);
  }
}

// All but the filter's copies, steps and clocks.
void FillOthers(const Problem& p, const gemm::TileFacts& f, const Slicing& s, EnginePlan* plan) {
  plan->patch = s.patch;
  plan->rows = WalkRows(p, f, s);
  plan->slices = Int32(CeilDiv(s.chunks, s.slice_chunks));
  FillSource(p, f, s, plan);
  FillRing(p, f, s, plan->slices, &plan->ring);
  plan->ring.ShareCopies(plan->source.copies.of_slice, f.row_threads);
}

absl::StatusOr<EnginePlan> MakeStackedPlan(const Problem& p, const gemm::TileFacts& f) {
  absl::StatusOr<StackedTaps> taps = StackTaps(p, f);
  if (!taps.ok()) return taps.status();
  const Problem& pairs = taps->pairs;
  Slicing slicing;
  if (absl::Status s = CheckCopyLimits(pairs); !s.ok()) return NoStack(s.message());
  if (!ByPatch(pairs, f, taps->FilterRows(p, f.channels()), &slicing)) {
    return NoStack("conv: two stages of a patch do not fit in shared memory");
  }
  EnginePlan plan;
  taps->FillFilter(p, f, slicing.span, slicing.chunks, slicing.slice_chunks, &plan);
  FillSteps(
      pairs, f, slicing, [&](std::int64_t tap) { return taps->RowOfTap(p, f.channels(), tap); },
      &plan.plan);
  FillClocks(p, f, slicing, taps->Inside(p), &plan);
  FillOthers(pairs, f, slicing, &plan);
  plan.source.rows.p = Int32(p.p());
  plan.last_first = p.mode == Mode::kCrossCorrelation ? 1 : 0;
  return plan;
}

}  // namespace

absl::StatusOr<EnginePlan> MakeEnginePlan(const Problem& p, const gemm::TileFacts& f) {
  if (f.depends.OnPixel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: prologue ", f.prologue,
                     " depends on the output's position, which the wgmma_sm90 mainloop does not "
                     "take; use an MmaSm80Config"));
  }
  if (!f.nhwc && f.src_interleave == 4) return MakeStripPlan(p, f);
  if (absl::Status s = CheckCopyLimits(p); !s.ok()) return s;
  if (f.config.stack > 1) return MakeStackedPlan(p, f);
  const std::int64_t channels = BroughtChannels(p, f);
  Slicing slicing = ByTaps(p, f), patch;
  patch.filter_tail = slicing.filter_tail;
  if (ByPatch(p, f, p.r * p.s * channels, &patch) &&
      ClocksOf(p, f, patch) < ClocksOf(p, f, slicing)) {
    slicing = patch;
  }
  EnginePlan plan;
  FillFilter(p, f, slicing, &plan);
  FillSteps(
      p, f, slicing, [&](std::int64_t tap) { return tap * channels; }, &plan.plan);
  FillClocks(p, f, slicing, 1.0, &plan);
  FillOthers(p, f, slicing, &plan);
  return plan;
}

gemm::EngineCounts CountsOf(const EnginePlan& e) {
  return {.steps = e.plan.steps,
          .last_steps = e.plan.last_steps,
          .copies = e.source.copies.of_slice,
          .last_copies = e.source.copies.of_last,
          .copy_clocks = e.copy_clocks,
          .column_clocks = e.column_clocks,
          .stages = e.ring.stages,
          .stage_bytes = e.ring.stage_bytes,
          .b_stays = e.ring.b_stays != 0,
          .strips = e.strips};
}

}  // namespace weft::conv
