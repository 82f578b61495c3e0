#include <gtest/gtest.h>

#define WEFT_PERF_ALL_TILES 1
#include "perf/support/floor.hpp"
#include "perf/support/layers.hpp"
#include "perf/weft_perf/simt_tiles.hpp"
#include "weft/conv/tile_model.hpp"

namespace weft::perf {
namespace {

using SimtTiles = decltype(std::tuple_cat(FewSimtTiles(), MoreSimtTiles()));

// Of the tiles that stay in NCxHWx<4>.
template <class... Policies>
std::vector<conv::TileFacts> AllFacts(std::tuple<Policies...>*) {
  std::vector<conv::TileFacts> facts;
  const auto add = [&](const conv::TileFacts& tile) {
    if (tile.dst_interleave == 4) facts.push_back(tile);
  };
  (add(conv::FactsOf<Policies>()), ...);
  return facts;
}

conv::Problem Named(const char* name) {
  return ParseLayer(name)->problem;
}

conv::Config Choice(const char* name) {
  const std::vector<conv::TileFacts> tiles = AllFacts(static_cast<SimtTiles*>(nullptr));
  return tiles[conv::ChooseTile(Named(name), tiles, conv::GpuFacts{})].config;
}

TEST(Floor, CountsEachTensorOnce) {
  // 8*4*4 source, 4*8*1*1 filter, 4*4*4 destination, 4 scales and 4 biases.
  const conv::Problem p = Named("c8h4w4k4r1s1");
  EXPECT_EQ(LeastBytes(p), 128 + 32 + 64 + 32);
  // Padding of blocked layouts does not count.
  EXPECT_EQ(LeastBytes(Named("c5h4w4k3r1s1")), 80 + 15 + 48 + 24);
  EXPECT_EQ(LeastBytes(p, true), 128 + 32 + 2 * 64 + 32);
}

TEST(Floor, IsTheLargerOfBytesAndOperations) {
  const conv::Problem p = Named("c8h4w4k4r1s1");  // 512 multiply-accumulates, 256 bytes
  EXPECT_DOUBLE_EQ(FloorMicroseconds(p, {256.0, 512.0 * 4}), 1.0);
  EXPECT_DOUBLE_EQ(FloorMicroseconds(p, {256.0 * 4, 512.0}), 1.0);
  EXPECT_DOUBLE_EQ(FloorMicroseconds(p, {320.0, 512.0 * 4}, true), 1.0);
}

TEST(Floor, Dp4aPeakOfAnH200) {
  // 132 multiprocessors, 64 dp4a a clock, 4 multiply-accumulates: 133.8 TOPS at 1980 MHz.
  EXPECT_NEAR(2e-6 * Dp4aMacsPerMicrosecond(132, 1980.0), 133.8, 0.1);
}

TEST(TileModel, LargeLayersGetLargeTiles) {
  const conv::Config tile = Choice("n64c512h56w56k512r3s1");
  EXPECT_GE(tile.threadblock.m * tile.threadblock.n, 64 * 64);
  EXPECT_GE(tile.thread.m * tile.thread.n, 32);
}

TEST(TileModel, SmallLayersGetSmallTiles) {
  const conv::Config tile = Choice("n1c512h7w7k512r3s1");
  EXPECT_LE(tile.threadblock.m * tile.threadblock.n, 64 * 32);
}

TEST(TileModel, FewOutputChannelsGetANarrowTile) {
  EXPECT_EQ(Choice("n16c64h92w160k32r3s1").threadblock.n, 32);
}

TEST(TileModel, PredictionsAreNotBelowTheFloor) {
  const std::vector<conv::TileFacts> tiles = AllFacts(static_cast<SimtTiles*>(nullptr));
  const conv::GpuFacts gpu;
  const Ceilings ceilings{gpu.bytes_per_us,
                          Dp4aMacsPerMicrosecond(gpu.limits.sm_count, gpu.clock_mhz)};
  const auto layers = LayerList("anchors");
  for (const Layer& layer : *layers) {
    for (const int batch : {1, 16, 64}) {
      conv::Problem p = layer.problem;
      p.n = batch;
      for (const conv::TileFacts& tile : tiles) {
        EXPECT_GT(conv::Predict(p, tile, gpu).microseconds, FloorMicroseconds(p, ceilings))
            << LayerName(p, true) << " tile " << tile.config.threadblock.m << "x"
            << tile.config.threadblock.n;
      }
    }
  }
}

}  // namespace
}  // namespace weft::perf
