// Products whose last tiles' slices are divided among all blocks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/gemm/product.hpp"

namespace weft::gemm {

using StreamedSums =
    Streamed<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<std::int32_t>>,
                       WgmmaTile<64, 64, 32, 64, 64, 4>>>;
using StreamedInt8 =
    Streamed<TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor,
                       Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>,
                       WgmmaTile<64, 64, 64, 32, 64, 8>>>;
using StreamedHalf = Streamed<TypedGemm<Half, RowMajor, RowMajor, ColumnMajor, Chain<ToSums<float>>,
                                        WgmmaTile<64, 128, 32, 64, 64, 4>>>;
// Whose operand B is turned, words and bytes.
using StreamedTf32 = Streamed<TypedGemm<Tf32, RowMajor, RowMajor, RowMajor, Chain<ToSums<float>>,
                                        WgmmaTile<64, 64, 32, 64, 64, 4>>>;
using StreamedBytes =
    Streamed<TypedGemm<std::uint8_t, RowMajor, RowMajor, RowMajor, Chain<ToSums<std::int32_t>>,
                       WgmmaTile<64, 64, 128, 64, 64, 4>>>;

namespace {

// Every slice of every tile belongs to one block; parts of a tile follow one another.
TEST(GemmStream, Shares) {
  for (const int blocks : {1, 2, 3, 7, 132}) {
    for (const int tiles : {1, 2, 3, 5, 7, 8, 20, 131, 132, 133, 300}) {
      for (const int slices : {1, 2, 5, 64}) {
        if (tiles * slices < blocks) continue;  // Gemm starts no more
        SCOPED_TRACE(absl::StrCat(tiles, " tiles of ", slices, " slices, ", blocks, " blocks"));
        std::vector<std::vector<std::pair<SliceRange, int>>> parts(tiles);  // and whose they are
        std::vector<int> places;
        int least = 1 << 30, most = 0;
        for (int b = 0; b < blocks; ++b) {
          const StreamShare share(tiles, slices, b, blocks);
          int work = 0;
          for (int i = 0; i < share.Turns(); ++i) {
            const SliceRange range = share.Slices(i);
            ASSERT_LT(range.begin, range.end);
            ASSERT_LT(share.Tile(i), tiles);
            parts[share.Tile(i)].push_back({range, b});
            work += range.end - range.begin;
            if (range.end - range.begin == slices) continue;
            const int divided = share.Divided(i);
            EXPECT_LE(share.FirstBlock(divided), b);
            EXPECT_GE(share.LastBlock(divided), b);
            EXPECT_LT(share.Place(divided, b), 2 * blocks);
            EXPECT_LT(divided, 2 * blocks);
            places.push_back(share.Place(divided, b));
          }
          least = std::min(least, work);
          most = std::max(most, work);
        }
        EXPECT_LE(most - least, 1);
        std::sort(places.begin(), places.end());
        EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
        for (const auto& of_tile : parts) {
          ASSERT_FALSE(of_tile.empty());
          int next = 0;
          for (const auto& [range, block] : of_tile) {
            EXPECT_EQ(range.begin, next);
            next = range.end;
          }
          EXPECT_EQ(next, slices);
        }
      }
    }
  }
}

template <class P>
void ExpectStreamed(const GemmProblem& problem, std::uint32_t seed, bool exact = true) {
  SCOPED_TRACE(absl::StrCat("m", problem.m, " n", problem.n, " k", problem.k, " batch ",
                            problem.batch, " seed ", seed));
  const auto op = Gemm<P>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  const std::vector<std::uint8_t> zeros(op->workspace_size());
  const OperatorMemory<std::uint8_t> workspace(zeros);
  // The second run finds what the first has left.
  using Output = typename P::Epilogue::Output;
  std::vector<Output> first;
  for (int run = 0; run < 2; ++run) {
    const Product<typename P::Element, typename P::Epilogue> product(op->problem(), kOrdersOf<P>,
                                                                     seed, exact, false);
    auto args = product.template Args<typename Gemm<P>::Arguments>();
    args.workspace = workspace.get();
    Launch(*op, args, static_cast<int>(seed) + run);
    if (testing::Test::HasFatalFailure()) return;
    product.ExpectResult();
    const std::vector<Output> result = product.Result();
    if (run == 0) first = result;
    EXPECT_EQ(result, first);  // to the bit, whoever came last
  }
  (void)workspace.Read();
}

template <class P>
void ExpectShapes(std::uint32_t seed) {
  // On the CPU three blocks: less than a tile for each, one and a part, whole ones and parts. On a GPU of
  // 132 multiprocessors the last one has parts beside whole tiles.
  ExpectStreamed<P>({.m = 64, .n = 64, .k = 512}, seed);
  ExpectStreamed<P>({.m = 64, .n = 128, .k = 208}, seed + 1);
  ExpectStreamed<P>({.m = 70, .n = 144, .k = 64}, seed + 2);
  ExpectStreamed<P>({.m = 128, .n = 256, .k = 112, .batch = 2}, seed + 3);
  ExpectStreamed<P>({.m = 192, .n = 64, .k = 16}, seed + 4);
}

TEST(GemmStream, Int8) {
  ExpectShapes<StreamedSums>(100);
  ExpectShapes<StreamedInt8>(200);
  ExpectStreamed<StreamedSums>({.m = 800, .n = 700, .k = 336}, 301);
}
TEST(GemmStream, Half) {
  ExpectShapes<StreamedHalf>(400);
  ExpectStreamed<StreamedHalf>({.m = 100, .n = 200, .k = 1000}, 500, false);
}
TEST(GemmStream, Turned) {
  ExpectShapes<StreamedTf32>(600);
  ExpectShapes<StreamedBytes>(620);
}

TEST(GemmStream, BadInput) {
  using Op = Gemm<StreamedSums>;
  const auto op = Op::Create({.m = 64, .n = 64, .k = 512});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), testing::HasSubstr("1 x 1 tiles divided among blocks of"));
  // 16 blocks of a slice each.
  EXPECT_EQ(op->workspace_size(), 256 + 2 * 16 * 64 * 64 * 4);
  alignas(16) std::int8_t a[16] = {};
  alignas(16) std::int32_t c[16] = {};
  EXPECT_EQ(
      op->Run({.a = a, .b = a, .c = c}, nullptr).message(),
      "gemm: args.workspace is null; give the address of workspace_size() bytes, zeros before "
      "the first run");
}

}  // namespace
}  // namespace weft::gemm
