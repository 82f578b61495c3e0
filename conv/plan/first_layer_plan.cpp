#include "weft/conv/plan/first_layer_plan.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/problem/patches.hpp"
#include "weft/conv/problem/problem_checks.hpp"

namespace weft::conv {
namespace {

using gemm::CeilDiv;
using gemm::Int32;
using gemm::WgmmaPlan;

constexpr const char* kInstead = "use a SimtConfig, or NHWC with an MmaSm80Config";

// InvalidArgument: `what` has a value that NCxHWx<4> through wgmma_sm90 does not take.
absl::Status Refuse(const char* what, std::int64_t value, const char* instead) {
  return absl::InvalidArgumentError(
      absl::StrCat("conv: ", what, "=", value, " is not ", instead,
                   " of NCxHWx<4>, as the wgmma_sm90 mainloop reads it; ", kInstead));
}

const char* NameOfC(const Problem& p) {
  return p.groups == 1 ? "c" : "c/groups";
}

// The shape of a window: what 8 output columns of one parity and some output rows need of the
// source. It has `lines` lines for each block of 4 channels.
struct Shape {
  std::int64_t parities = 0;    // 4 / stride_w
  std::int64_t lead = 0;        // taps of zeros that precede the first tap of a row
  std::int64_t row_chunks = 0;  // chunks (4 taps of 4 channels each) of a row of taps
  std::int64_t blocks = 0;      // blocks of 4 channels of a group
  std::int64_t lines = 0, line_bytes = 0, pitch = 0;  // pitch: bytes from a line to the next

  std::int64_t block_bytes() const { return lines * pitch; }
  std::int64_t window_bytes() const { return blocks * block_bytes(); }
};

// Lays out a tile's windows in a stage where TMA loads them, and returns the bytes that they take.
// Each place has lines that hold the windows of all parities, and behind them copies of those
// windows that do not begin at multiples of 16 bytes.
std::int64_t PlaceWindows(const Problem& p, std::int64_t windows, Shape* s,
                          SlidingWindowSource* a) {
  // With a MaxPool places begin that many pixels before a multiple of 4.
  const std::int64_t before = a->rows.pooled.left * p.stride_w;
  const std::int64_t left = p.pad_left + s->lead,
                     place_left = RoundUp<std::int64_t>(left + before, 4) - before;
  // Where the windows of a parity begin in a line, in bytes.
  const auto begin = [&](std::int64_t parity) {
    return 4 * (parity * p.stride_w - left + place_left);
  };
  s->pitch = s->line_bytes + RoundUp<std::int64_t>(begin(s->parities - 1), 16);
  const std::int64_t area = RoundUp(s->window_bytes(), 128);
  a->places = Int32(windows / s->parities);
  a->place_left = Int32(place_left);
  std::int64_t bytes = area;
  for (std::int64_t parity = 0; parity < s->parities; ++parity) {
    std::int64_t start = begin(parity);
    if (start % 16 != 0) {
      a->shift[a->shifts++] = {Int32(start), Int32(bytes)};
      start = bytes;
      bytes += area;
    }
    a->start[parity] = Int32(start);
  }
  a->place_bytes = Int32(bytes);
  for (std::int64_t i = s->parities; i < windows; ++i) {
    a->start[i] = a->start[i - s->parities] + a->place_bytes;
  }
  const std::int32_t copies = a->shifts;
  for (; a->shifts < copies * a->places; ++a->shifts) {
    const SlidingWindowSource::ShiftedWindow& before = a->shift[a->shifts - copies];
    a->shift[a->shifts] = {before.from + a->place_bytes, before.to + a->place_bytes};
  }
  a->place_lines = Int32(s->blocks * s->lines);
  a->shift_lines = SlidingWindowSource::kShiftThreads / Int32(s->line_bytes / 16);
  return a->places * bytes;
}

// Lays them out where threads load them: one window behind the other.
std::int64_t AppendWindows(std::int64_t windows, Shape* s, SlidingWindowSource* a) {
  const SlidingWindowRows rows = a->rows;
  *a = {};
  a->rows = rows;
  s->pitch = s->line_bytes;
  for (std::int64_t i = 0; i < windows; ++i) a->start[i] = Int32(i * s->window_bytes());
  return RoundUp(windows * s->window_bytes(), 128);
}

// The number of leading taps of zeros, 0 to 3, with which windows begin at pixels that allow the
// widest copies (4, 2 or 1 pixels), without a further chunk in a row of taps.
std::int64_t LeadOf(const Problem& p, std::int64_t row_chunks) {
  std::int64_t best = 0;
  const auto width = [&](std::int64_t lead) {
    const std::int64_t first = p.pad_left + lead;
    return first % 4 == 0 ? 4 : first % 2 == 0 ? 2 : 1;
  };
  for (std::int64_t lead = 1; lead + p.s <= 4 * row_chunks && lead < 4; ++lead) {
    if (width(lead) > width(best)) best = lead;
  }
  return best;
}

// Divides images into strips where the output is pooled: the tiles of a strip follow one another, and pooled columns
// are those of one place.
void PlanStrips(const Problem& p, const PoolFacts& pool, const Shape& s,
                const gemm::TileShape& tile, std::int64_t windows, FirstLayerPlan* plan) {
  const std::int64_t rows = tile.m / windows / 8;
  const TensorExtents dst = pool.Of(p.dst());
  SlidingWindowRows& at = plan->source.rows;
  PooledWindows& pooled = at.pooled;
  pooled.rows = Int32(dst.h), pooled.pixels = Int32(dst.w);
  pooled.columns = Int32((8 * s.parities - pool.size) / pool.step + 1);
  // From a place to the next there is a multiple of 4 pixels, since TMA loads at multiples of 16 bytes.
  if (p.stride_w == 1) pooled.columns &= ~1;
  pooled.left = pool.padding;
  // The last row of each window is the second row of a pair of the tile's.
  pooled.above = (pool.size + pool.padding) % 2;
  pooled.skipped = (pooled.above - pool.padding + pool.size - 2) / 2;
  const std::int64_t strips = CeilDiv(dst.w, pooled.columns * (windows / s.parities));
  const std::int64_t tiles = CeilDiv(2 * (dst.h + pooled.skipped), rows);
  plan->rows = p.n * strips * tiles * tile.m;
  if (plan->rows > gemm::kInt32Max) return;  // which is refused
  plan->strip_tiles = Int32(tiles);
  at.image_pixels = gemm::FastDivmod(Int32(strips));
  at.row_pixels = gemm::FastDivmod(Int32(tiles));
}

// A chunk of k: the offset in bytes at which it begins in a window, and its words of the filter.
struct Chunk {
  std::int64_t offset = 0;
  FilterChunk filter;
};

// All chunks of k in the order in which steps multiply them, two to a step.
std::vector<Chunk> ChunksOf(const Problem& p, const Shape& s) {
  const bool flip = p.mode == Mode::kConvolution;
  std::vector<Chunk> chunks;
  for (std::int64_t block = 0; block < s.blocks; ++block) {
    for (std::int64_t r = 0; r < p.r; ++r) {
      for (std::int64_t i = 0; i < s.row_chunks; ++i) {
        Chunk chunk;
        chunk.offset = block * s.block_bytes() + r * p.dilation_h * s.pitch + i * 16;
        const std::int64_t tap = 4 * i - s.lead;  // the chunk's first tap, -3 or more
        const std::int64_t row = (block * p.r + (flip ? p.r - 1 - r : r)) * p.s;
        chunk.filter.first_unit = static_cast<std::int16_t>(row + (flip ? p.s - 1 - tap : tap));
        for (std::int64_t j = 0; j < 4; ++j) {
          if (tap + j >= 0 && tap + j < p.s) chunk.filter.taps |= 1 << j;
        }
        chunks.push_back(chunk);
      }
    }
  }
  if (chunks.size() % 2 != 0) {  // fill the last step: repeat a chunk, with a filter of zeros
    Chunk zeros = chunks[chunks.size() - 2];
    zeros.filter.taps = 0;
    chunks.insert(chunks.end() - 1, zeros);
  }
  return chunks;
}

}  // namespace

absl::StatusOr<FirstLayerPlan> MakeFirstLayerPlan(const Problem& p, const ConvFacts& f) {
  if (p.stride_w != 1 && p.stride_w != 2 && p.stride_w != 4) {
    absl::Status refused =
        Refuse("stride_w", p.stride_w, "1, 2 or 4, the steps from window to window");
    if (p.c > 4 || !PatchColumns(p)) return refused;
    return absl::InvalidArgumentError(
        absl::StrCat(refused.message(),
                     "; a policy over NHWC takes this problem with c=4, as patches: the same bytes "
                     "as one block of NCxHWx<4>"));
  }
  if (p.s > 1 && p.dilation_w != 1) {
    return Refuse("dilation_w", p.dilation_w, "1, the step from tap to tap");
  }
  const gemm::TileShape &tile = f.config.threadblock, &warp = f.config.warp;
  const std::int64_t windows = tile.m / warp.m, rows = warp.m / 8;
  Shape s;
  s.parities = 4 / p.stride_w;
  s.blocks = CeilDiv<std::int64_t>(p.c / p.groups, 4);
  s.row_chunks = CeilDiv<std::int64_t>(p.s, 4);
  if (s.row_chunks * p.r * s.blocks == 1) s.row_chunks = 2;  // a step multiplies two chunks
  s.lead = LeadOf(p, s.row_chunks);
  const std::int64_t chunks = s.row_chunks * p.r * s.blocks;
  const std::int64_t team =
      SlidingWindowSource::Team(Int32(windows));  // threads, one for each piece of a line
  if (chunks > FilterChunks::kMost || (7 + s.row_chunks) * 4 > team) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: ", NameOfC(p), "=", p.c / p.groups, " r=", p.r, " s=", p.s, " are ", chunks,
        " chunks of 4 channels and 4 taps of a row; with NCxHWx<4> the wgmma_sm90 mainloop takes ",
        FilterChunks::kMost, ", and ", team / 4 - 7, " of a row; use NCxHWx<32>, or ", kInstead));
  }
  s.line_bytes = (7 + s.row_chunks) * 16;
  s.lines = (rows - 1) * p.stride_h + (p.r - 1) * (p.r == 1 ? 0 : p.dilation_h) + 1;

  const std::int64_t steps = CeilDiv<std::int64_t>(chunks, 2);
  const std::int64_t filter = steps * tile.n * 32;
  FirstLayerPlan plan;
  plan.filter = MakeFilter(p, f);
  SlidingWindowSource& a = plan.source;
  std::int64_t stage = 0;
  const std::int64_t row_windows = CeilDiv(p.q(), 8 * s.parities) * s.parities;
  const std::int64_t image_windows = row_windows * CeilDiv(p.p(), rows);
  const std::int64_t images = f.prologue.depends.image ? 1 : p.n;
  plan.rows = CeilDiv(images * image_windows, windows) * tile.m;
  if (f.output.pool.exists()) {
    if (windows % s.parities != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("conv: stride_w=", p.stride_w, " makes windows of ", s.parities,
                       " parities, which a MaxPool wants in one tile, and this tile has ", windows,
                       " windows, of config.threadblock.m / config.warp.m; take a tile of ",
                       s.parities, ", such as WgmmaFirst512x64, which has 4"));
    }
    PlanStrips(p, f.output.pool, s, tile, windows, &plan);
  }
  // This check precedes the conversion of all counts to 32 bits, which must not cut anything off.
  constexpr std::int64_t kMostRows = gemm::kInt32Max - 1024;
  if (plan.rows > kMostRows) {
    return internal::TooLarge("rows of one product", plan.rows, kMostRows, "split the batch");
  }
  // TMA takes source rows of a multiple of 16 bytes, and boxes of at most 256 lines and 256 blocks.
  const std::int64_t all_blocks =
      (p.n + windows) * CeilDiv<std::int64_t>(p.c, 4);  // a 32-bit coordinate
  bool by_tma = p.w % 4 == 0 && windows % s.parities == 0 && s.lines <= 256 && s.blocks <= 256 &&
                all_blocks <= std::numeric_limits<std::int32_t>::max();
  if (by_tma) {
    stage = PlaceWindows(p, windows, &s, &a);
    by_tma = filter + 2 * stage <= f.wgmma.stage_bytes;
  }
  if (!by_tma) stage = AppendWindows(windows, &s, &a);
  const std::int64_t stages = (f.wgmma.stage_bytes - filter) / stage;
  if (filter > f.wgmma.stage_bytes || stages < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: ", NameOfC(p), "=", p.c / p.groups, " r=", p.r, " s=", p.s, " stride_h=", p.stride_h,
        " dilation_h=", p.dilation_h, " pad_left=", p.pad_left, " need too much: two stages of ",
        stage, " bytes (", s.lines, " lines of ", s.blocks, " blocks of 4 channels) and ", filter,
        " bytes of filters exceed the ", f.wgmma.stage_bytes,
        " that this config of wgmma_sm90 has for them; make config.warp.m smaller, or use "
        "NCxHWx<32>"));
  }

  plan.k_tiles = 1;
  plan.ring.stages = Int32(std::min<std::int64_t>(stages, gemm::MbarRingParams::kMostStages));
  plan.ring.stage_bytes = Int32(stage);
  plan.ring.b_offset = plan.ring.stages * plan.ring.stage_bytes;
  // A thread block whose tiles all have the same columns loads its filter once.
  plan.ring.b_stays = FilterMayStay(p, f);

  a.rows.rows = Int32(plan.rows);
  a.rows.images = Int32(images);
  if (!f.output.pool.exists()) {
    a.rows.image_pixels = gemm::FastDivmod(Int32(image_windows));
    a.rows.row_pixels = gemm::FastDivmod(Int32(row_windows));
  }
  a.rows.p = Int32(p.p());
  a.rows.q = Int32(p.q());
  a.rows.group_k = Int32(p.k / p.groups);
  a.rows.parity_bits = s.parities == 4 ? 2 : s.parities == 2 ? 1 : 0;
  a.h = Int32(p.h);
  a.w = Int32(p.w);
  a.stride_h = Int32(p.stride_h);
  a.stride_w = Int32(p.stride_w);
  a.pad_top = Int32(p.pad_top);
  a.left = Int32(p.pad_left + s.lead);
  a.blocks = Int32(s.blocks);
  a.by_block = gemm::FastDivmod(a.blocks);
  a.image_blocks = Int32(CeilDiv<std::int64_t>(p.c, 4));
  a.lines = Int32(s.lines);
  a.line_bytes = Int32(s.line_bytes);
  a.line_pitch = Int32(s.pitch);
  if (by_tma) {
    arch::TensorMapSpec& spec = plan.source_spec;
    spec.rank = 3;
    spec.element_bytes = 4;  // the 4 channels of a pixel
    spec.dim[0] = static_cast<std::uint32_t>(p.w), spec.dim[1] = static_cast<std::uint32_t>(p.h);
    spec.dim[2] = static_cast<std::uint32_t>(p.n * a.image_blocks);
    spec.stride[0] = static_cast<std::uint64_t>(4 * p.w);
    spec.stride[1] = spec.stride[0] * spec.dim[1];
    spec.box[0] = static_cast<std::uint16_t>(s.pitch / 4);
    spec.box[1] = static_cast<std::uint16_t>(s.lines);
    spec.box[2] = static_cast<std::uint16_t>(s.blocks);
  }
  a.widest = p.w % 4 == 0 ? 16 : p.w % 2 == 0 ? 8 : 4;
  for (int i = 0; i < 3; ++i) {
    const std::int32_t pieces = a.line_bytes >> (2 + i);
    a.pieces[i] = gemm::FastDivmod(pieces);
    a.together[i] = Int32(team) / pieces;
  }

  const std::vector<Chunk> all = ChunksOf(p, s);
  FilterChunks& b = plan.filter_chunks;
  b.chunks = Int32(static_cast<std::int64_t>(all.size()));
  b.step = p.mode == Mode::kConvolution ? -1 : 1;
  for (std::size_t i = 0; i < all.size(); ++i) b.chunk[i] = all[i].filter;

  WgmmaPlan& w = plan.plan;
  w.a = arch::WgmmaDescriptor(
      0, {.leading = 0, .stride = static_cast<std::uint32_t>(s.pitch * p.stride_h)});
  w.b = arch::WgmmaDescriptor(0, {.leading = 128, .stride = 256});
  for (int i = 0; i < 4; ++i) w.group_rows[i] = static_cast<std::uint32_t>(a.start[i] / 16);
  w.b_block = 64 * 32 / 16;
  w.steps = w.last_steps = Int32(steps);
  for (std::size_t i = 0; i < static_cast<std::size_t>(steps); ++i) {
    const std::int64_t first = all[2 * i].offset, leading = all[2 * i + 1].offset - first;
    w.step_a[i] = static_cast<std::uint32_t>(first / 16 | leading / 16 << 16);
    w.step_b[i] = static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(tile.n * 2);
  }
  return plan;
}

gemm::WgmmaCounts CountsOf(const FirstLayerPlan& s) {
  gemm::WgmmaCounts counts = CountsOf(static_cast<const RingPlan&>(s));
  counts.first_layer = true;
  counts.first_layer_copied = s.source_spec.rank == 0;
  counts.strip_tiles = s.strip_tiles;
  return counts;
}

}  // namespace weft::conv
