// Zero points through wgmma_sm90: stores through shared memory, straight from registers, and of
// windows.
#pragma once

#include <array>

#include "tests/conv/zero_point/zero_point_cases.hpp"

namespace weft::conv {
namespace {

TEST(ZeroPointWgmma, Staged) {
  RunBorders<ZeroWgmma>();
  RunAsymmetric<ZeroWgmma>(25, 1);
}

TEST(ZeroPointWgmma, Sums) {
  RunBorders<ZeroWgmmaSums>();
  RunAsymmetric<ZeroWgmmaSums>(20, 2, 16, 4);
}

// What a k tile's padding is in: a patch with more positions than a warp looks at once, several
// copies of a patch, copies of single taps; rows of 32 to 128 bytes; several tiles of a block.
TEST(ZeroPointWgmma, PaddingOfPatchesAndTaps) {
  const auto run = [](Problem p, std::uint32_t seed) {
    ExpectExact<ZeroWgmmaSums>(p, seed);
    ExpectExact<ZeroWgmmaSplitK>(p, seed + 1);
  };
  Problem wide{.n = 1, .h = 4, .w = 110, .c = 32, .k = 64, .r = 3, .s = 3};
  wide.pad_top = wide.pad_bottom = wide.pad_left = wide.pad_right = 1;
  run(wide, 5);
  Problem strided{.n = 1, .h = 17, .w = 19, .c = 96, .k = 72, .r = 3, .s = 3};
  strided.pad_top = strided.pad_left = 1, strided.pad_bottom = 2;
  strided.stride_h = strided.stride_w = 2;
  run(strided, 7);
  strided.c = 128, strided.dilation_w = 3, strided.mode = Mode::kConvolution;
  run(strided, 9);
  Problem pointwise{.n = 1, .h = 5, .w = 6, .c = 32, .k = 64, .r = 1, .s = 1};
  pointwise.pad_top = 2, pointwise.pad_right = 3;
  run(pointwise, 11);
  // Many taps, of which few have padding.
  Problem far{.n = 1, .h = 21, .w = 19, .c = 32, .k = 64, .r = 13, .s = 14};
  far.pad_top = far.pad_left = far.pad_right = 6;
  far.stride_h = far.stride_w = 8;
  run(far, 17);
  // More padding, and more taps, than the list of a tile has room for (gemm::kTransformList).
  Problem mostly{.n = 2, .h = 9, .w = 9, .c = 64, .k = 64, .r = 5, .s = 5};
  mostly.pad_top = mostly.pad_bottom = mostly.pad_left = mostly.pad_right = 4;
  mostly.stride_h = mostly.stride_w = 2;
  run(mostly, 23);
  Problem large{.n = 1, .h = 24, .w = 24, .c = 32, .k = 64, .r = 26, .s = 25};
  large.pad_top = large.pad_bottom = 2, large.pad_right = 3;
  large.stride_w = 2;
  run(large, 25);
  // Rows of windows that do not overlap are images of their own, here with padding beside them; and patches.
  Problem rows{.n = 2, .h = 27, .w = 6, .c = 16, .k = 12, .r = 9, .s = 3, .pad_left = 2};
  rows.stride_h = 9;
  ExpectExact<ZeroWgmmaSums>(rows, 27);
  ExpectExact<ZeroWgmmaSums>(SquareProblem(2, 3, 48, 12, 16, 0, 16), 28);
  for (const std::int64_t c : {32, 160}) {
    Problem deep{.n = 5, .h = 7, .w = 7, .c = c, .k = 64, .r = 3, .s = 3};
    deep.pad_top = deep.pad_bottom = deep.pad_left = deep.pad_right = 1;
    run(deep, 13);
  }
}

// Tiles of a block one after the other: of the top of an image,
// from its middle, of its end and of two images; that begin where the last one did in a row, or elsewhere.
TEST(ZeroPointWgmma, TilesOfOneListAndOfAnother) {
  Problem p{.n = 3, .h = 33, .w = 16, .c = 32, .k = 64, .r = 3, .s = 3};
  p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 1;
  const auto run = [](const Problem& problem, std::uint32_t seed) {
    ExpectExact<ZeroWgmmaSums>(problem, seed);
    ExpectExact<ZeroWgmma>(problem, seed + 1);
  };
  run(p, 31);
  p.h = 32, p.w = 24;
  run(p, 33);
  p.pad_top = 2, p.pad_bottom = 3, p.dilation_h = 2, p.mode = Mode::kConvolution;
  run(p, 35);
  p.h = 70, p.w = 40, p.stride_h = p.stride_w = 2, p.c = 96;
  run(p, 37);
}

#if !defined(WEFT_CUDA_BACKEND)
// Whoever fills the padding runs when it likes, and so do the copies and the warps that multiply.
TEST(ZeroPointWgmma, Schedules) {
  Problem patch{.n = 2, .h = 7, .w = 9, .c = 96, .k = 64, .r = 3, .s = 3};
  patch.pad_top = patch.pad_bottom = patch.pad_left = patch.pad_right = 1;
  Problem taps = patch;
  taps.stride_h = taps.stride_w = 2;
  for (int i = 0; i < ProblemsHere(16); ++i) {
    RunOptions options;
    options.cpu.schedule = std::array{arch::Schedule::kForward, arch::Schedule::kReverse,
                                      arch::Schedule::kPriority, arch::Schedule::kRandom}[i % 4];
    options.cpu.copies = i % 8 < 4 ? arch::Copies::kDeferred : arch::Copies::kEager;
    options.cpu.seed = static_cast<std::uint64_t>(i + 1);
    ExpectExact<ZeroWgmma>(patch, 19, options);
    ExpectExact<ZeroWgmmaSplitK>(taps, 20, options);
  }
}

#endif

TEST(ZeroPointWgmma, FirstLayer) {
  RunBorders<ZeroWgmmaFirst>(1);
  for (const std::int64_t stride : {1, 2, 4}) {
    ExpectExact<ZeroWgmmaFirst>(SquareProblem(2, 3, 23, 40, 7, 3, stride),
                                static_cast<std::uint32_t>(stride));
  }
}

TEST(ZeroPointWgmma, MaxPool) {
  RunBorders<ZeroPooled>(1);
  for (const std::int64_t stride : {1, 2, 4}) {
    const Problem p = SquareProblem(2, 3, 20 + 23 * stride % 7, 40, 7, 3, stride);
    ExpectExact<ZeroPooled>(p, static_cast<std::uint32_t>(stride));
    ExpectExact<ZeroFilterPooled>(p, static_cast<std::uint32_t>(stride) + 3);
  }
}

// Two output rows side by side.
TEST(ZeroPointWgmma, PackedRows) {
  for (const std::int64_t h : {6, 9}) {
    Problem p{.n = 2, .h = h, .w = 9, .c = 48, .k = 20, .r = 3, .s = 3};
    p.pad_top = p.pad_bottom = p.pad_left = p.pad_right = 1;
    for (const std::int64_t stride : {1, 2}) {
      p.stride_h = stride;
      ExpectExact<ZeroWgmmaPackedRows>(p, 21);
      ExpectExact<ZeroFilterWgmmaPackedRows>(p, 22);
    }
  }
}

TEST(ZeroPointWgmma, OfTheFilterToo) {
  RunBorders<ZeroFilterWgmma>();
  RunAsymmetric<ZeroFilterWgmma>(20, 3, 1, 4);
}

#if !defined(__SANITIZE_ADDRESS__)
// Ping-pong warpgroups, of which a warp writes padding into k tiles, too.
TEST(ZeroPointWgmma, PingPong) {
  RunBorders<ZeroPingPong>();
  RunAsymmetric<ZeroPingPong>(10, 1);
  RunAsymmetric<ZeroFilterPingPong>(12, 1, 1, 4);
}
#endif

}  // namespace
}  // namespace weft::conv
