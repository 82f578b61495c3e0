#include "perf/support/row.hpp"

#include <gtest/gtest.h>

#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

// Measured with two layouts and two peers; the second of each is the best.
LayerRow Measured() {
  LayerRow row;
  row.problem = ParseLayer("n16c64h56w56k64r3s1")->problem;
  row.bytes = 1e6;
  row.floor_us = 5.0;
  row.ours.resize(2);
  row.peers.resize(2);
  row.ours[0].name = "nc32";
  row.ours[1].name = "nhwc";
  for (int i = 0; i < 2; ++i) {
    Contender& c = row.ours[i];
    c.best = 1;
    c.model = 0;
    c.variant = "b";
    c.tiles = {"a", "b"};
    c.tile_us = {24.0, 12.0};
    c.short_us = 12.0;
    c.time = {{12.0 - 2.0 * i, 9.0, 13.0}, 0.01};
    c.with_reformat = {{12.0 + 6.0 * i, 12.0, 20.0}, 0.0};
  }
  row.peers[0].name = "cudnn_nhwc";
  row.peers[0].time = {{40.0, 40.0, 40.0}, 0.0};
  row.peers[1].name = "cudnn_graph";
  row.peers[1].variant = "engine 1";
  row.peers[1].best = 3;
  row.peers[1].time = {{20.0, 19.0, 21.0}, 0.02};
  row.peers[1].with_reformat = {{30.0, 29.0, 31.0}, 0.0};
  row.peers[1].differences = 2;
  row.peers[1].largest = 1;
  row.tensors = "NCxHWx<32>";
  row.clock = {{"throttle_reasons", "0x4"}};
  return row;
}

TEST(Row, Status) {
  LayerRow row = Measured();
  EXPECT_EQ(row.Status(), "ok");
  row.peers[0].time = row.peers[1].time = {};
  row.peers[0].note = "no library";
  EXPECT_EQ(row.Status(), "ok; no peer: no library");
  row.ours[0].differences = 3;
  EXPECT_EQ(row.Status(), "mismatch");
  EXPECT_EQ(row.ToJson()["mismatches"], 3);
  row.failure = "no memory";
  EXPECT_EQ(row.Status(), "failed: no memory");
  row = Measured();
  for (Contender& c : row.ours) c.time = {};
  row.ours[0].note = "no tile";
  EXPECT_EQ(row.Status(), "failed: no tile");
  row.timed = false;
  row.ours[1].ran = 1;
  row.peers.clear();
  EXPECT_EQ(row.Status(), "ok; no peer");
}

TEST(Row, JsonHasTheFieldsOfTheReports) {
  const Json json = Measured().ToJson();
  const Json want = {{"layer", "c64h56w56k64r3s1"},
                     {"batch", 16},
                     {"kernel", "b"},
                     {"layout", "NHWC"},
                     {"ours_us", 10},
                     {"ours_p10_us", 9},
                     {"peer_us", 20},
                     {"peer", "cudnn_graph: engine 1"},
                     {"ratio", 2},
                     {"floor_us", 5},
                     {"mismatches", 0},
                     {"status", "ok"},
                     {"noise", 0.02},
                     {"tops", 369.938},
                     {"tensors", "NCxHWx<32>"},
                     {"ours_with_reformat", "NCxHWx<32>"},
                     {"ours_with_reformat_us", 12},
                     {"peer_with_reformat", "cudnn_graph"},
                     {"peer_with_reformat_us", 30},
                     {"ratio_with_reformat", 2.5},
                     {"throttle_reasons", "0x4"}};
  for (const auto& [name, value] : want.items()) EXPECT_EQ(json[name], value) << name;
  const Json& layout = json["layouts"]["nhwc"];
  EXPECT_EQ(layout["model"], "a");
  EXPECT_EQ(layout["model_over_best"], 2);
  EXPECT_EQ(layout["tiles_us"], Json({{"a", 24}, {"b", 12}}));
  EXPECT_EQ(json["peers"]["cudnn_graph"]["differences"], 2);
  EXPECT_FALSE(json["peers"]["cudnn_nhwc"].contains("best"));
}

TEST(Row, JsonHasACopyThatWasMeasured) {
  LayerRow row = Measured();
  EXPECT_FALSE(row.ToJson().contains("copy_us"));
  row.copy = {{8.0, 7.0, 9.0}, 0.01};
  row.copy_kernel = "copy of 264 blocks";
  const Json json = row.ToJson();
  EXPECT_EQ(json["copy_us"], 8);
  EXPECT_EQ(json["copy_kernel"], "copy of 264 blocks");
  EXPECT_EQ(json["copy_over_ours"], 0.8);
}

TEST(Row, JsonOfAFailedRow) {
  const Json json = LayerRow().ToJson();
  EXPECT_EQ(json["kernel"], "none");
  EXPECT_EQ(json["status"], "failed: not run");
  for (const char* field : {"ratio", "tensors", "ours_us", "peer_us"}) {
    EXPECT_FALSE(json.contains(field)) << field;
  }
}

TEST(Row, SummaryComparesTheBestOfBothSides) {
  LayerRow lost = Measured(), failed = Measured(), alone = Measured();
  lost.ours[1].time.median = 40.0;
  lost.ours[0].time.median = 40.0;
  failed.failure = "x";
  alone.peers[0].time = alone.peers[1].time = {};
  const Json sum =
      Summarized({Measured().ToJson(), lost.ToJson(), failed.ToJson(), alone.ToJson()});
  EXPECT_EQ(sum["rows_compared"], 2);
  EXPECT_EQ(sum["rows_won"], 1);
  EXPECT_EQ(sum["rows_failed"], 1);
  EXPECT_EQ(sum["geomean_ratio"], 1);  // 2 and 0.5
  EXPECT_EQ(sum["model_over_best"], 2);
  EXPECT_EQ(sum["geomean_ours_over_floor"], 3.1748);  // 2, 8, 2
}

TEST(Row, Layouts) {
  EXPECT_EQ(LayoutText("nc32"), "NCxHWx<32>");
  EXPECT_EQ(LayoutText("nhwc"), "NHWC");
  EXPECT_EQ(LayoutText("nc4_nc32"), "NCxHWx<4> to NCxHWx<32>");
}

// What the table says after a row with these times of the tiles a, b and c.
std::string Best(std::vector<double> tile_us, std::vector<TileInfo> tiles, bool exact = true) {
  LayerRow row = Measured();
  row.ours[0].tiles = {"a", "b", "c"};
  row.ours[0].tile_us = std::move(tile_us);
  row.ours[0].differences = exact ? 0 : 1;
  conv::TuningRecord record;
  record.device = "NVIDIA H200";
  record.sm_count = 132;
  record.operator_name = "op";
  record.problem = row.problem;
  conv::TuningTable table;
  EXPECT_TRUE(PutBest(row.ToJson(), "nc32", tiles, record, &table).ok());
  const conv::TuningRecord* const found = table.Find("NVIDIA H200", 132, "op", row.problem);
  return found == nullptr ? "" : found->policy;
}

TEST(Sweep, TheTableHoldsTheQuickestTileOfTheFamily) {
  const std::vector<TileInfo> tiles = {
      {"a", "policy_a", true}, {"b", "policy_b", true}, {"c", "policy_c", false}};
  EXPECT_EQ(Best({12.0, 11.0, 10.0}, tiles), "policy_b");
  EXPECT_EQ(Best({12.0, 0.0, 10.0}, tiles), "policy_a");  // b did not run
  EXPECT_EQ(Best({0.0, 0.0, 10.0}, tiles), "policy_c");
  EXPECT_EQ(Best({12.0, 11.0, 10.0}, tiles, false), "");
  // Without a family the quickest of all.
  EXPECT_EQ(Best({12.0, 11.0, 10.0}, {{"a", "policy_a"}, {"b", "policy_b"}, {"c", "policy_c"}}),
            "policy_c");
}

}  // namespace
}  // namespace weft::perf
