#include "weft/conv/plan/k_tiling.hpp"

#include <algorithm>

#include "weft/conv/hopper/tma_operands.hpp"

namespace weft::conv {

using gemm::CeilDiv;
using gemm::MbarRingParams;

namespace {

// Measured on an H200 (shared/probes/hopper2, perf/results): the bytes a clock that a
// multiprocessor gets from the L2 while all of them read, and the clocks from the start of a large
// copy to its end.
constexpr double kFabricBytes = 40.0;
constexpr double kLatency = 3000.0;

// The clocks of TMA for one row of the source, which is `bytes` bytes: a position's channels of a
// chunk. Rows that do not lie side by side are separate requests to the L2. A patch requests each
// row only once, so that no row is still in a nearer cache.
double RowClocks(std::int64_t bytes, bool nhwc, bool strided, bool patch) {
  if (bytes == 128) return 3.6;
  if (bytes == 64) return strided ? 4.0 : 2.3;
  if (nhwc) return strided ? 6.0 : 2.0;
  return !strided ? 1.15 : patch ? 3.6 : 2.3;
}

// KTiling::row_bytes of channels that have `bytes`: 32 in blocks, else the widest of 128, 64 and 32
// that pads them least.
std::int64_t RowBytes(const ConvFacts& f, std::int64_t bytes) {
  if (!f.source.nhwc) return 32;
  std::int64_t best = 128;
  for (const std::int64_t row : {64, 32}) {
    if (RoundUp(bytes, row) < RoundUp(bytes, best)) best = row;
  }
  return best;
}

// Sets k_tile_chunks and stages: a k tile has the chunks of steps_wanted steps, or fewer so that
// two stages fit. False if two stages of one chunk do not.
bool FitStages(const ConvFacts& f, std::int64_t steps_wanted, KTiling* s) {
  const std::int64_t chunk_steps = s->chunk_taps * s->row_steps();
  const std::int64_t share =
      CeilDiv<std::int64_t>(s->chunks, f.config.cluster_split_k);  // chunks of a block
  s->k_tile_chunks = std::clamp<std::int64_t>(steps_wanted / chunk_steps, 1, share);
  for (;; --s->k_tile_chunks) {
    s->stages =
        std::min<std::int64_t>(f.wgmma.stage_bytes / s->stage_bytes(), MbarRingParams::kMostStages);
    if (s->stages >= 2 && s->steps() <= gemm::WgmmaPlan::kMostSteps) return true;
    if (s->k_tile_chunks == 1) return false;
  }
}

// The positions of a tile that are loaded, for a traversal with the pitches of *s. It sets
// s->source_tail to the number of the others.
std::int64_t LoadedPositions(const Problem& p, const ConvFacts& f, KTiling* s) {
  const std::int64_t tile = f.config.threadblock.m;
  const std::int64_t loaded = gemm::LoadedRows(tile, Im2colRows(p, f, *s));
  s->source_tail = tile - loaded;
  return loaded;
}

// The pitch of the traversal: positions from one row to the next, or rows from one image to the
// next. It is the least that has all outputs, and in which the positions behind the end of a row,
// which are also the first ones of the next row, are zeros for both. All arguments are those along
// W, or along H.
std::int64_t Pitch(std::int64_t extent, std::int64_t outputs, std::int64_t taps,
                   std::int64_t stride, std::int64_t dilation, std::int64_t pad) {
  const std::int64_t last = outputs - 1 + (taps - 1) * dilation / stride;
  std::int64_t pitch = std::max(outputs, CeilDiv(extent + pad, stride));
  while (pitch <= last && (last - pitch + 1) * stride > pad) ++pitch;
  return pitch;
}

// The copies of the source that a patch needs along one direction: one for each of the `stride`
// pixels from one position of the traversal to the next at which a tap can begin.
std::int64_t CopiesOf(std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
  return dilation % stride == 0 ? 1 : std::min(stride, (taps - 1) * dilation + 1);
}

}  // namespace

std::int64_t Im2colRows(const Problem& p, const ConvFacts& f, const KTiling& s) {
  return (f.prologue.depends.image ? 1 : p.n) * s.pitch_w * s.pitch_h;
}

std::int64_t LoadedChannels(const Problem& p, const ConvFacts& f) {
  if (f.config.packed_rows > 1) return f.channels();
  return gemm::LoadedRows(f.channels(), RoundUp(p.k / p.groups, f.filter.interleave));
}

KTiling ByTaps(const Problem& p, const ConvFacts& f) {
  KTiling s;
  const std::int64_t c = p.c / p.groups;
  s.element_bytes = f.element_bytes;
  s.row_bytes = RowBytes(f, c * f.element_bytes);
  s.filter_bits = f.filter.bits;
  s.filter_rows = LoadedChannels(p, f);
  s.filter_tail = f.channels() - s.filter_rows;
  s.chunks = CeilDiv(c, s.channels()) * p.r * p.s;
  s.pitch_w = p.q();
  s.pitch_h = p.p();
  s.pixels = LoadedPositions(p, f, &s);
  FitStages(f, f.config.threadblock.k * f.element_bytes / 32,
            &s);  // conv/kernel/kernels.hpp asserts that it fits
  return s;
}

bool ByPatch(const Problem& p, const ConvFacts& f, std::int64_t filter_rows, KTiling* s) {
  if (p.r * p.s == 1) return false;
  const std::int64_t c = p.c / p.groups;
  s->patch = true;
  s->pitch_w = Pitch(p.w, p.q(), p.s, p.stride_w, p.dilation_w, p.pad_left);
  s->pitch_h = Pitch(p.h, p.p(), p.r, p.stride_h, p.dilation_h, p.pad_top);
  s->copies_h = CopiesOf(p.r, p.stride_h, p.dilation_h);
  s->copies_w = CopiesOf(p.s, p.stride_w, p.dilation_w);
  const std::int64_t shift =
      (p.r - 1) * p.dilation_h / p.stride_h * s->pitch_w + (p.s - 1) * p.dilation_w / p.stride_w;
  s->pixels = RoundUp(LoadedPositions(p, f, s) + shift, 8);
  if (s->pixels > 1024) return false;
  s->chunk_taps = p.r * p.s;
  s->filter_rows = filter_rows;
  s->filter_bits = f.filter.bits;
  s->filter_tail = f.channels() - LoadedChannels(p, f);
  s->element_bytes = f.element_bytes;
  for (s->row_bytes = RowBytes(f, c * f.element_bytes); s->row_bytes >= 32; s->row_bytes /= 2) {
    s->chunks = CeilDiv(c, s->channels());
    if (FitStages(f, f.config.threadblock.k * f.element_bytes / 32, s)) return true;
  }
  return false;
}

double TmaClocks(const Problem& p, const ConvFacts& f, const KTiling& s) {
  return static_cast<double>(s.rows()) *
         RowClocks(s.row_bytes, f.source.nhwc, p.stride_w > 1, s.patch);
}

double ClocksOf(const Problem& p, const ConvFacts& f, const KTiling& s) {
  const gemm::TileShape& tile = f.config.threadblock;
  const auto steps = static_cast<double>(s.steps());
  const auto bytes = static_cast<double>(s.rows() * s.row_bytes + s.filter_bytes());
  const double products = steps * tile.m * tile.n / 128.0;  // 4096 a clock, 32 to a step
  const double feed = std::max(bytes / kFabricBytes, TmaClocks(p, f, s));
  const double round = (products + feed + kLatency) / static_cast<double>(s.stages);
  const double useful = static_cast<double>(p.p() * p.q()) / double(s.pitch_w * s.pitch_h);
  const double taps = static_cast<double>(p.r * p.s);
  return std::max({products, feed, round}) * taps / steps / (tile.m * useful);
}

}  // namespace weft::conv
