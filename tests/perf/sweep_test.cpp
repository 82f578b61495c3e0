#include "perf/support/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

using testing::HasSubstr;

constexpr const char* kOperator = "s8_NHWC_to_s8_NHWC_bias";

// One layout, three tiles: the quickest is not in the family.
LayerResults Swept() {
  LayerResults r;
  r.list = "anchors";
  r.batch = 16;
  r.layouts = {"nhwc"};
  r.environment.device.Set("NVIDIA H200");
  r.environment.multiprocessors = 132;
  r.tiles = {
      {kOperator, {{"a", "policy_a", true}, {"b", "policy_b", true}, {"c", "policy_c", false}}}};
  LayerRow row;
  row.layer.Set("c64h92w160k32r3s1");
  row.batch = 16;
  row.done = 1;
  Contender& c = row.ours[0];
  c.tile_us[0] = 12.0;
  c.tile_us[1] = 11.0;
  c.short_us = c.tile_us[2] = 10.0;
  c.best = 2;
  c.model = 0;
  r.rows = {row};
  return r;
}

const conv::TuningRecord* Found(const conv::TuningTable& table) {
  conv::Problem problem = ParseLayer("c64h92w160k32r3s1")->problem;
  problem.n = 16;
  return table.Find("NVIDIA H200", 132, kOperator, problem);
}

TEST(Sweep, TheTableHoldsTheQuickestTileOfTheFamily) {
  conv::TuningTable table;
  ASSERT_TRUE(PutBest(Swept(), &table).ok());
  EXPECT_EQ(table.size(), 1u);
  const conv::TuningRecord* const record = Found(table);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(record->policy, "policy_b");
  EXPECT_EQ(record->microseconds, 11.0);
  // What is written can be read.
  const auto read = conv::TuningTable::Parse("x", table.Text("comment"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*Found(*read), *record);
}

TEST(Sweep, WithoutAFamilyTheQuickestOfAll) {
  LayerResults swept = Swept();
  for (TileInfo& tile : swept.tiles[0].tiles) tile.in_family = false;
  conv::TuningTable table;
  ASSERT_TRUE(PutBest(swept, &table).ok());
  EXPECT_EQ(Found(table)->policy, "policy_c");
}

TEST(Sweep, WrongRowsAndTilesThatDidNotRunAreLeftOut) {
  LayerResults swept = Swept();
  swept.rows[0].ours[0].tile_us[1] = 0.0;
  conv::TuningTable table;
  ASSERT_TRUE(PutBest(swept, &table).ok());
  EXPECT_EQ(Found(table)->policy, "policy_a");

  swept.rows[0].ours[0].differences = 1;
  conv::TuningTable none;
  ASSERT_TRUE(PutBest(swept, &none).ok());
  EXPECT_EQ(none.size(), 0u);
}

TEST(Sweep, TextMarksTheBestAndTheChoice) {
  const std::string text = SweepText(Swept());
  EXPECT_THAT(text, HasSubstr("NHWC, N = 16"));
  EXPECT_THAT(text, HasSubstr("0 a (ready-made)"));
  EXPECT_THAT(text, HasSubstr("12.00m"));
  EXPECT_THAT(text, HasSubstr("11.00 "));
  EXPECT_THAT(text, HasSubstr("10.00*  1.200"));
}

}  // namespace
}  // namespace weft::perf
