// The tiles of weft_perf on the CPU against the reference: every tile of simt, and the basic ones of all layouts, where each
// epilogue meets each layout.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/harness.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf {
namespace {

template <class P, class Activation = reference::ReluActivation>
void Exact(const conv::Problem& problem, Activation activation = {}) {
  conv::ExpectMatchesReference<P>(problem, activation);
}

template <class P>
void DepthwiseTile() {
  conv::Problem p = conv::SquareProblem(2, 36, 9, 36, 3, 1, 1);
  p.groups = p.c;
  Exact<P>(p);
}

// Neither pixels nor channels fill the last tile; with and without im2col.
template <class P>
void SimtTile() {
  if constexpr (std::is_same_v<typename P::SrcLayout, NCxHWx<4>> &&
                std::is_same_v<typename P::DstLayout, NCxHWx<4>>) {
    if constexpr (conv::CheckedPolicy<P>::kDepthwise) return DepthwiseTile<P>();
    Exact<P>(conv::SquareProblem(2, 12, 9, 36, 3, 1, 1));
    Exact<P>(conv::SquareProblem(2, 140, 7, 20, 1, 0, 1));
  }
}

TEST(TileLists, EverySimtTileIsExact) {
  const auto test = []<class P>(int) { SimtTile<P>(); };
  ForEachPolicy(BasicTiles(), test);
  ForEachPolicy(NetworkTiles(), test);
  ForEachPolicy(ReluTiles(), test);
}

TEST(TileLists, DepthwiseTilesOfWideLayoutsAreExact) {
  DepthwiseTile<Nc32Depthwise<7, 8, 64>>();
  DepthwiseTile<DepthwiseTableTile<NHWC, conv::Depthwise7x32>>();
}

// One after the other, so that the three basic tiles of a layout have an epilogue each.
template <class P, int kIndex>
void BasicTile() {
  const conv::Problem problem = conv::SquareProblem(2, 32, 7, 40, 3, 1, 1);
  if constexpr (kIndex % 3 == 0) {
    Exact<WithResidual<P>>(problem);
  } else if constexpr (kIndex % 3 == 1) {
    Exact<WithNothing<P>>(problem, reference::NoActivation());
  } else {
    Exact<WithHSwish<P>>(problem, reference::HSwishActivation());
  }
}

template <class... Tiles, int... kIndex>
void BasicTilesAreExact(gemm::Family<Tiles...>, std::integer_sequence<int, kIndex...>) {
  (BasicTile<Tiles, kIndex>(), ...);
}

TEST(TileLists, BasicTilesAreExactWithEveryEpilogue) {
  const auto test = []<class... Tiles>(gemm::Family<Tiles...> tiles) {
    BasicTilesAreExact(tiles, std::make_integer_sequence<int, sizeof...(Tiles)>());
  };
  test(BasicTiles());
}

// Operator and policy, as tuning tables name them.
using Names = std::set<std::pair<std::string, std::string>>;
template <class P>
void Insert(Names* names) {
  names->emplace(conv::OperatorName<P>(), conv::PolicyName(P::config));
}
template <class... Policies>
Names NamesOf(conv::Family<Policies...>) {
  Names names;
  (Insert<Policies>(&names), ...);
  return names;
}

// So that the sweeps measure what Dispatch may choose, and their tuning tables name it: all of the families' tiles, but
// for simt towards NCxHWx<32> and the narrow accesses of NHWC.
TEST(TileLists, HaveTheTilesOfTheReadyMadeFamiliesWithEveryEpilogue) {
  Names with_relu, with_all;
  ForEachPolicy(BasicTiles(), [&]<class P>(int) { Insert<P>(&with_all); });
  ForEachPolicy(NetworkTiles(), [&]<class P>(int) { Insert<P>(&with_all); });
  ForEachPolicy(ReluTiles(), [&]<class P>(int) { Insert<P>(&with_relu); });
  for (const Names& family : {NamesOf(conv::S8Conv32Family<>()),
                              NamesOf(conv::S8ConvNhwcFamily<>()), NamesOf(conv::S8Conv4Family<>()),
                              NamesOf(conv::S8Conv4Family<epilogues::BiasRelu<>, NCxHWx<32>>()),
                              NamesOf(conv::S8Conv4Family<epilogues::BiasRelu<>, NHWC>())}) {
    int count = 0;
    for (const auto& [op, policy] : family) {
      EXPECT_EQ(with_relu.count({op, policy}), 0u)
          << op << " " << policy << " is measured with ReLU alone";
      const bool wgmma = policy.rfind("wgmma_sm90", 0) == 0;
      const bool narrow = policy.find("_a16_d8") == std::string::npos;
      if (!wgmma && (op.find("to_s8_NCxHWx<4>") == std::string::npos) && narrow) continue;
      ++count;
      EXPECT_EQ(with_all.count({op, policy}), 1u) << op << " " << policy;
    }
    EXPECT_GT(count, 0);
  }
}

// The first layer of a network.
TEST(TileLists, WgmmaOf4ChannelsToNc32IsExact) {
  Exact<Nc4To32Tile<conv::WgmmaFirst112x64>>(conv::SquareProblem(2, 4, 26, 68, 7, 3, 2));
}

struct NhwcToNc32 : Nhwc<4, 64, 64, 64, 32, 32, 4> {
  using DstLayout = NCxHWx<32>;
};
TEST(TileLists, NhwcOf4ChannelsToNc32IsExact) {
  Exact<NhwcToNc32>(conv::SquareProblem(2, 4, 12, 36, 7, 3, 2));
}

}  // namespace
}  // namespace weft::perf
