// What the table promises of its problems.
#include "tests/conv/table/problems/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft::conv::table {
namespace {

using testing::ElementsAre;
using testing::Gt;

TEST(TableProblems, ChannelsLieAroundEveryBlock) {
  EXPECT_THAT(ChannelsAround({32, 64}, 1), ElementsAre(1, 31, 32, 33, 63, 64, 65, 129));
  EXPECT_THAT(ChannelsAround({16, 64}, 16), ElementsAre(16, 32, 64, 80, 144));
}

// Of blocks of 64 channels that are read as two of 32: every filter meets every number of channels.
TEST(TableProblems, EveryFilterMeetsEveryNumberOfChannels) {
  ConvFacts facts;
  facts.element_bytes = 1;
  facts.config = gemm::MmaSm75Config({64, 32, 64}, {16, 32, 64});
  facts.source.interleave = 64, facts.output.interleave = 32, facts.output.channel_run = 32;
  facts.source.unit_bytes = facts.source.unit_channels = 32, facts.source.bits = 4;
  ASSERT_THAT(SourceBlocks(facts), ElementsAre(32, 64, 64));
  const std::vector<Problem> problems = ProblemsFor(facts);
  for (const Extents filter : kFilters) {
    for (const std::int64_t c : ChannelsAround({32, 64}, 1)) {
      EXPECT_TRUE(std::any_of(
          problems.begin(), problems.end(),
          [&](const Problem& p) { return p.r == filter.h && p.s == filter.w && p.c == c; }))
          << filter.h << "x" << filter.w << " of " << c;
    }
  }
  for (const Problem& p : problems) EXPECT_THAT((std::array{p.p(), p.q()}), testing::Each(Gt(0)));
}

}  // namespace
}  // namespace weft::conv::table
