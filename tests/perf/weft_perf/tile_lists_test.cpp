// The lists of what weft_perf measures. That each tile of them is exact is tested in tests/conv/tiles.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf {
namespace {

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

// So that the sweeps measure what Dispatch may choose, and their tuning tables name it: all tiles of the families
// of its layouts, but for simt towards NCxHWx<32> and the narrow accesses of NHWC.
TEST(TileLists, HaveTheTilesOfTheReadyMadeFamiliesWithEveryEpilogue) {
  Names with_relu, with_all;
  ForEachPolicy(BasicTiles(), [&]<class P>(int) { Insert<P>(&with_all); });
  ForEachPolicy(NetworkTiles(), [&]<class P>(int) { Insert<P>(&with_all); });
  ForEachPolicy(ReluTiles(), [&]<class P>(int) { Insert<P>(&with_relu); });
  for (const Names& family : {NamesOf(conv::S8Conv32Family<>()),
                              NamesOf(conv::S8ConvNhwcFamily<>()), NamesOf(conv::S8Conv4Family<>()),
                              NamesOf(conv::S8Conv4Family<epilogues::BiasRelu<>, NCxHWx<32>>())}) {
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

}  // namespace
}  // namespace weft::perf
