#include "tests/conv/table/problems/problems.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>

#include "weft/conv/plan/conv_plan.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv::table {
namespace {

// Products of one problem: more would take the time that other problems need.
constexpr std::int64_t kMostProducts = 1'000'000;

constexpr std::int64_t kHuge = std::int64_t{1} << 30;
constexpr std::int64_t kFar = std::int64_t{1} << 20;

// Windows that do not overlap: the patches of vision transformers, and such as are nearly that.
std::vector<Problem> Patches() {
  Problem two = SquareProblem(3, 20, 8, 40, 2, 0, 2);
  Problem four = SquareProblem(2, 3, 12, 33, 4, 0, 4);
  Problem fourteen = SquareProblem(1, 4, 28, 24, 14, 0, 14);
  Problem sixteen = SquareProblem(2, 3, 32, 40, 16, 0, 16);
  sixteen.w = 48;
  Problem row = {.n = 2, .h = 3, .w = 15, .c = 7, .k = 17, .r = 1, .s = 5, .stride_w = 5};
  Problem overlapping = {.n = 2, .h = 7, .w = 12, .c = 24, .k = 17, .r = 3, .s = 4, .stride_w = 4};
  overlapping.dilation_h = 2;
  Problem flipped = four;
  flipped.mode = Mode::kConvolution;
  Problem columns_left = four;  // columns behind the last patch
  columns_left.w += 2;
  Problem rows_left = sixteen;
  rows_left.h -= 7, rows_left.r = 8, rows_left.stride_h = 8;
  Problem padded = four;
  padded.pad_left = padded.pad_right = 2;
  // Rows of windows that do not overlap, of columns that do.
  Problem rows = {.n = 2, .h = 27, .w = 6, .c = 16, .k = 12, .r = 9, .s = 3, .pad_left = 2};
  rows.stride_h = 9;
  return {two,     four,         fourteen,  sixteen, row, overlapping,
          flipped, columns_left, rows_left, padded,  rows};
}

// Problems that the lists do not reach. C and K are made to fit each operator.
std::vector<Problem> Corners(const ConvFacts& facts) {
  Problem one;  // of everything
  one.n = one.h = one.w = one.c = one.k = one.r = one.s = 1;
  Problem image = SquareProblem(3, 8, 7, 16, 7, 0, 1);   // as large as its filter
  Problem outside = SquareProblem(1, 4, 3, 5, 2, 4, 1);  // outputs that see no input
  Problem apart = SquareProblem(1, 7, 11, 6, 2, 0, 4);   // strides beyond the filter
  Problem first = SquareProblem(1, 3, 18, 64, 7, 3, 2);
  Problem line = {.n = 2, .h = 1, .w = 50, .c = 8, .k = 12, .r = 1, .s = 9};
  line.pad_left = line.pad_right = 4;
  Problem deep = SquareProblem(1, 300, 4, 9, 3, 1, 1);    // many k tiles
  Problem tables = SquareProblem(1, 70, 8, 33, 4, 2, 1);  // as many taps as a table has
  tables.s = 8, tables.pad_left = 4;
  Problem beyond = SquareProblem(1, 40, 12, 33, 8, 4, 1);  // and more, with rows apart
  beyond.s = 9, beyond.dilation_h = 2, beyond.pad_top = 5;
  beyond.mode = Mode::kConvolution;
  // Dilations of one row or column of taps mean nothing, whatever they are.
  Problem row = {.n = 2, .h = 2, .w = 6, .c = 40, .k = 4, .r = 1, .s = 2, .dilation_h = kHuge};
  Problem column = {.n = 2, .h = 6, .w = 2, .c = 48, .k = 4, .r = 3, .s = 1, .dilation_w = kHuge};
  // The image is a stamp in the middle of its padding; taps are as far apart as that.
  Problem far = {.n = 1, .h = 3, .w = 3, .c = 4, .k = 4, .r = 2, .s = 2};
  far.pad_top = far.pad_bottom = far.dilation_h = far.stride_h = 2000;
  far.pad_left = far.pad_right = far.dilation_w = far.stride_w = 1500;
  // Offsets from tap to tap that fill most of 32 bits in NHWC, and one column of taps with stride 1.
  Problem farther = far;
  farther.pad_top = farther.pad_bottom = farther.dilation_h = farther.stride_h = kFar;
  farther.pad_left = farther.pad_right = farther.dilation_w = farther.stride_w = kFar;
  Problem dense = {.n = 1, .h = 3, .w = 1, .c = 12, .k = 4, .r = 3, .s = 1, .dilation_h = kFar};
  dense.pad_top = kFar + 1, dense.pad_bottom = kFar - 2;
  std::vector<Problem> all = {one, image, outside, apart, first, line, deep, tables, beyond};
  // TMA strides are at most 8, except over NHWC between windows that do not overlap, and its taps are not far apart.
  const bool short_strides = facts.config.mainloop == gemm::Mainloop::kWgmmaSm90;
  for (const Problem& p : Patches()) {
    const bool is_short = std::max(p.stride_h, p.stride_w) <= 8;
    if (facts.config.packed_rows > 1) continue;  // these are for rows that overlap
    if (is_short || facts.source.nhwc || !short_strides) all.push_back(p);
  }
  for (const Problem& p : {row, column, far, farther, dense}) {
    if (short_strides && (p.stride_h > 8 || p.pad_top > 8)) continue;
    for (const Mode mode : kModes) {
      all.push_back(p);
      all.back().mode = mode;
    }
  }
  return all;
}

// Channels of one access, where they need be whole ones: NHWC pads nothing, and no layout a group.
std::int64_t SourceMultiple(const ConvFacts& facts) {
  if (facts.source.nhwc) return facts.config.alignment.src * 8 / facts.source.bits;
  return facts.prologue.depends.group ? facts.source.interleave : 1;
}
std::int64_t DestinationMultiple(const ConvFacts& facts) {
  if (facts.output.channel_run != 0 && !facts.prologue.depends.group) return 1;
  return std::max<std::int64_t>(1, facts.config.alignment.dst * 8 / facts.store.element_bits);
}

// As little of an image as leaves several output pixels, where the problem has too many products.
void Shrink(Problem* p) {
  const auto products = [&] {
    return p->n * p->p() * p->q() * p->k * p->c / p->groups * p->r * p->s;
  };
  if (products() > kMostProducts) p->n = 1;
  for (int i = 0; i < 64 && products() > kMostProducts && p->p() * p->q() > 4; ++i) {
    std::int64_t& extent = p->p() > p->q() ? p->h : p->w;
    if (extent == 1) return;
    --extent;
  }
}

}  // namespace

Problem Fitted(const ConvFacts& facts, Problem p) {
  std::int64_t multiple = SourceMultiple(facts);
  if (ReadsPatches(p, facts) && !facts.prologue.depends.group) multiple /= std::gcd(multiple, p.s);
  p.c = RoundUp(p.c, multiple);
  p.k = RoundUp(p.k, DestinationMultiple(facts));
  if (facts.prologue.depends.group) p.groups = 2, p.c *= 2, p.k *= 2;
  const gemm::TileDescription& config = facts.config;
  if (config.packed_rows > 1) {  // of at most 32 channels, and rows that share taps
    p.k = std::min(p.k, p.groups * 32);
    p.dilation_h = 1;
    p.stride_h = std::min<std::int64_t>(p.stride_h, 3);
    p.r = std::clamp<std::int64_t>(p.r, p.stride_h + 1, 5);
    p.s = std::min<std::int64_t>(p.s, 3);  // a patch of more does not fit twice
  }
  if (facts.kind == Kind::kFirstLayer) {
    p.c = std::min<std::int64_t>(p.c, p.groups * 9);
    p.r = std::min<std::int64_t>(p.r, 7), p.s = std::min(p.s, 49 / p.r);
    if (p.r * p.s > 32) p.stride_h = std::min<std::int64_t>(p.stride_h, 2);
    p.dilation_w = 1;
    if (p.stride_w == 3 || p.stride_w > 4) p.stride_w = 4;
  }
  // Filters within the padded image.
  const auto fit = [](std::int64_t& image, std::int64_t taps, std::int64_t dilation,
                      std::int64_t padding) {
    image = std::max(image, (taps - 1) * dilation + 1 - padding);
  };
  fit(p.h, p.r, p.dilation_h, p.pad_top + p.pad_bottom);
  fit(p.w, p.s, p.dilation_w, p.pad_left + p.pad_right);
  return p;
}

std::vector<std::int64_t> ChannelsAround(const std::vector<std::int64_t>& blocks,
                                         std::int64_t multiple) {
  std::set<std::int64_t> all = {RoundUp(1, multiple)};
  for (const std::int64_t block : blocks) {
    for (const std::int64_t c : {block - 1, block, block + 1}) {
      if (c > 0) all.insert(RoundUp(c, multiple));
    }
  }
  all.insert(RoundUp(2 * *std::max_element(blocks.begin(), blocks.end()) + 1, multiple));
  return {all.begin(), all.end()};
}

std::vector<std::int64_t> SourceBlocks(const ConvFacts& facts) {
  if (facts.kind == Kind::kFirstLayer) return {4, 8};
  std::vector<std::int64_t> blocks = {facts.source.unit_channels};
  if (facts.source.interleave > facts.source.unit_channels)
    blocks.push_back(facts.source.interleave);
  // Of a k tile.
  const std::int64_t tile =
      facts.config.threadblock.k * facts.source.unit_channels / facts.source.unit_bytes;
  blocks.push_back(std::min<std::int64_t>(tile, 128));
  return blocks;
}

std::vector<std::int64_t> DestinationBlocks(const ConvFacts& facts) {
  const gemm::TileDescription& config = facts.config;
  if (config.packed_rows > 1) return {8, 32};
  return {std::max<std::int64_t>(facts.output.interleave, DestinationMultiple(facts)),
          std::min(config.threadblock.n, 64)};
}

std::vector<Problem> ProblemsFor(const ConvFacts& facts, Rows rows) {
  const std::vector<std::int64_t> c = ChannelsAround(SourceBlocks(facts), SourceMultiple(facts));
  const std::vector<std::int64_t> k =
      ChannelsAround(DestinationBlocks(facts), DestinationMultiple(facts));
  std::vector<Problem> all;
  const auto add = [&](const Problem& p) {
    all.push_back(Fitted(facts, p));
    Shrink(&all.back());
  };
  const auto size = [](const auto& list) { return static_cast<int>(std::size(list)); };
  const std::vector<int> sizes = {size(kFilters),  size(c),          size(k),       size(kStrides),
                                  size(kPaddings), size(kDilations), size(kImages), size(kModes)};
  for (const std::vector<int>& row : Combined(sizes, rows)) {
    Problem p;
    p.r = kFilters[row[0]].h, p.s = kFilters[row[0]].w;
    p.c = c[row[1]], p.k = k[row[2]];
    p.stride_h = kStrides[row[3]].h, p.stride_w = kStrides[row[3]].w;
    const Padding& pad = kPaddings[row[4]];
    p.pad_top = pad.top, p.pad_left = pad.left, p.pad_bottom = pad.bottom, p.pad_right = pad.right;
    p.dilation_h = kDilations[row[5]].h, p.dilation_w = kDilations[row[5]].w;
    p.n = kImages[row[6]].n, p.h = kImages[row[6]].h, p.w = kImages[row[6]].w;
    p.mode = kModes[row[7]];
    add(p);
  }
  // 1x1 filters without padding have kernels of their own: all channels, and every stride.
  for (std::size_t i = 0; i < c.size(); ++i) {
    const Extents& stride = kStrides[i % std::size(kStrides)];
    Problem p = {.n = 2, .h = 7, .w = 9, .c = c[i], .k = k[k.size() / 2]};
    p.stride_h = stride.h, p.stride_w = stride.w;
    add(p);
  }
  for (const Problem& p : Corners(facts)) add(p);
  return all;
}

}  // namespace weft::conv::table
