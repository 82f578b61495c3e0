#include <gtest/gtest.h>

#include "perf/support/floor.hpp"
#include "perf/support/layers.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/plan/policy_facts.hpp"

namespace weft::perf {
namespace {

// The tiles of weft_perf that stay in NCxHWx<4>, and their configs.
struct SimtTiles {
  std::vector<conv::ConvFacts> facts;
  std::vector<conv::TileDescription> configs;

  template <class P>
  void Add() {
    if constexpr (std::is_same_v<typename P::SrcLayout, NCxHWx<4>> &&
                  std::is_same_v<typename P::DstLayout, NCxHWx<4>>) {
      facts.push_back(conv::FactsOf<P>());
      configs.push_back(P::config);
    }
  }
  SimtTiles() {
    const auto add = [this]<class P>(int) { Add<P>(); };
    ForEachPolicy(BasicTiles(), add);
    ForEachPolicy(NetworkTiles(), add);
    ForEachPolicy(ReluTiles(), add);
  }
};

conv::Problem Named(const char* name) {
  return ParseLayer(name)->problem;
}

conv::TileDescription Choice(const char* name) {
  const SimtTiles tiles;
  const auto time = [&](const conv::ConvFacts& tile) {
    return conv::Predict(Named(name), tile, conv::GpuFacts{}).microseconds;
  };
  const auto best =
      std::min_element(tiles.facts.begin(), tiles.facts.end(),
                       [&](const auto& a, const auto& b) { return time(a) < time(b); });
  return tiles.configs[best - tiles.facts.begin()];
}

// dp4a on Hopper, per the CUDA C++ Programming Guide's table of instruction throughput: 64 results
// a clock on a multiprocessor, 4 multiply-accumulates each.
double Dp4aMacsPerMicrosecond(int multiprocessors, double clock_mhz) {
  return multiprocessors * 64.0 * 4.0 * clock_mhz;
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

TEST(TileModel, LargeLayersGetLargeTiles) {
  const conv::TileDescription tile = Choice("n64c512h56w56k512r3s1");
  EXPECT_GE(tile.threadblock.m * tile.threadblock.n, 64 * 64);
  EXPECT_GE(tile.thread.m * tile.thread.n, 32);
}

TEST(TileModel, SmallLayersGetSmallTiles) {
  const conv::TileDescription tile = Choice("n1c512h7w7k512r3s1");
  EXPECT_LE(tile.threadblock.m * tile.threadblock.n, 64 * 32);
}

TEST(TileModel, FewOutputChannelsGetANarrowTile) {
  EXPECT_EQ(Choice("n16c64h92w160k32r3s1").threadblock.n, 32);
}

TEST(TileModel, PredictionsAreNotBelowTheFloor) {
  const std::vector<conv::ConvFacts> tiles = SimtTiles().facts;
  const conv::GpuFacts gpu;
  const Ceilings ceilings{gpu.bytes_per_us,
                          Dp4aMacsPerMicrosecond(gpu.limits.sm_count, gpu.clock_mhz)};
  const auto layers = LayerList("anchors");
  for (const Layer& layer : *layers) {
    for (const int batch : {1, 16, 64}) {
      conv::Problem p = layer.problem;
      p.n = batch;
      for (const conv::ConvFacts& tile : tiles) {
        EXPECT_GT(conv::Predict(p, tile, gpu).microseconds, FloorMicroseconds(p, ceilings))
            << LayerName(p, true);
      }
    }
  }
}

// What an epilogue adds is counted: a residual's bytes, and instructions.
TEST(TileModel, KnowsTheEpilogue) {
  const conv::Problem p = Named("n64c64h56w56k256r1s1");
  const auto check = [&]<class P>(P) {
    const conv::ConvFacts relu = conv::FactsOf<P>(), residual = conv::FactsOf<WithResidual<P>>();
    const conv::ConvFacts hswish = conv::FactsOf<WithHSwish<P>>();
    EXPECT_EQ(relu.store.residual_bits, 0);
    EXPECT_EQ(relu.store.activations, 0);
    EXPECT_EQ(residual.store.residual_bits, 8);
    EXPECT_EQ(hswish.store.activations, 1);
    EXPECT_EQ(
        conv::MakeConvPlan(p, residual)->counts.bytes - conv::MakeConvPlan(p, relu)->counts.bytes,
        64.0 * 56 * 56 * 256);
    const auto time = [&](const conv::ConvFacts& facts) {
      return conv::Predict(p, facts, conv::GpuFacts()).microseconds;
    };
    EXPECT_GT(time(hswish), time(relu));
    EXPECT_GT(time(residual), 1.1 * time(relu));
  };
  check(Nc32<128, 64, 64, 64, 32, 4>());
  check(Nc32Wgmma<128, 64, 128, 128, 64, 1, 1, 2>());
  check(Nc4<128, 64, 32, 64, 32, 32, 8, 8>());
}

}  // namespace
}  // namespace weft::perf
