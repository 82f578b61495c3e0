// What the table promises of its problems.
#include "tests/conv/table/problems/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace weft::conv::table {
namespace {

using testing::ElementsAre;
using testing::Gt;

TEST(TableProblems, RowsHoldEveryPair) {
  const std::vector<int> sizes = {6, 9, 7, 3, 3, 3, 3, 2};
  const std::vector<std::vector<int>> rows = PairwiseRows(sizes);
  EXPECT_LT(rows.size(), 70u);  // of which two columns alone want 54
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      std::set<std::pair<int, int>> pairs;
      for (const std::vector<int>& row : rows) pairs.insert({row[i], row[j]});
      EXPECT_EQ(pairs.size(), static_cast<std::size_t>(sizes[i] * sizes[j])) << i << " " << j;
    }
  }
}

TEST(TableProblems, FewerRowsHoldEachValueTwice) {
  const std::vector<int> sizes = {6, 9, 7, 3, 3, 3, 3, 2};
  const std::vector<std::vector<int>> rows = EachTwiceRows(sizes);
  EXPECT_EQ(rows.size(), 18u);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int value = 0; value < sizes[i]; ++value) {
      EXPECT_GE(std::count_if(rows.begin(), rows.end(),
                              [&](const std::vector<int>& row) { return row[i] == value; }),
                2)
          << i << " " << value;
    }
  }
  // Of any two lists at least half of the pairs are seen that so many rows can show.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      std::set<std::pair<int, int>> pairs;
      for (const std::vector<int>& row : rows) pairs.insert({row[i], row[j]});
      const std::size_t most = std::min<std::size_t>(rows.size(), sizes[i] * sizes[j]);
      EXPECT_GE(2 * pairs.size(), most) << i << " " << j;
    }
  }
}

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
