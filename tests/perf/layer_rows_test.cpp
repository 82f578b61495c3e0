#include "perf/support/layer_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Measured with two layouts and two peers; the second of each is the best.
LayerRow Measured() {
  LayerRow row;
  row.layer.Set("c64h56w56k64r3s1");
  row.batch = 16;
  row.macs = 1e9;
  row.bytes = 1e6;
  row.floor_us = 5.0;
  row.done = 1;
  row.ours[0].name.Set("nc32");
  row.ours[1].name.Set("nhwc");
  for (int i = 0; i < 2; ++i) {
    Contender& c = row.ours[i];
    c.best = 1;
    c.model = 0;
    c.variant.Set("b");
    c.tile_us[0] = 24.0;
    c.short_us = c.tile_us[1] = 12.0;
    c.time = {12.0 - 2.0 * i, 9.0, 13.0, 0.01};
    c.with_reformat = {12.0 + 6.0 * i, 12.0, 20.0};
  }
  row.peers[0].name.Set("cudnn_nhwc");
  row.peers[0].time = {40.0, 40.0, 40.0};
  row.peers[1].name.Set("cudnn_graph");
  row.peers[1].variant.Set("engine 1");
  row.peers[1].best = 3;
  row.peers[1].time = {20.0, 19.0, 21.0, 0.02};
  row.peers[1].with_reformat = {30.0, 29.0, 31.0};
  row.peers[1].differences = 2;
  row.peers[1].largest = 1;
  row.best_ours = row.best_peer = 1;
  row.tensors.Set("NCxHWx<32>");
  row.reformat_ours = 0;
  row.reformat_peer = 1;
  row.throttle_reasons = 4;
  return row;
}

LayerResults Results(const std::vector<LayerRow>& rows) {
  LayerResults r;
  r.list = "anchors";
  r.batch = 16;
  r.layouts = {"nc32", "nhwc"};
  r.peers = {"cudnn_nhwc", "cudnn_graph"};
  r.environment.tensor_tops = 1500.0;
  r.environment.tensor_source.Set("measured: x");
  const LayoutTiles tiles{"operator", {{"a", "policy_a", true}, {"b", "policy_b", false}}};
  r.tiles = {tiles, tiles};
  r.libraries = {"cuDNN 9"};
  r.rows = rows;
  return r;
}

TEST(LayerRows, Status) {
  LayerRow row;
  EXPECT_EQ(row.Status(), "failed: not run");
  row = Measured();
  EXPECT_EQ(row.Status(), "ok");
  row.best_peer = -1;
  row.peers[0].note.Set("no library");
  EXPECT_EQ(row.Status(), "ok; no peer: no library");
  row.ours[0].differences = 3;
  EXPECT_EQ(row.Mismatches(), 3);
  EXPECT_EQ(row.Status(), "mismatch");
  row.failure.Set("no memory");
  EXPECT_EQ(row.Status(), "failed: no memory");
}

TEST(LayerRows, AnotherLibrarysDifferencesAreNoMismatch) {
  EXPECT_EQ(Measured().Mismatches(), 0);
}

TEST(LayerRows, ComparesTheBestOfBothSides) {
  LayerRow lost = Measured();
  lost.ours[1].time.us = 40.0;
  LayerRow failed = Measured();
  failed.failure.Set("x");
  LayerRow alone = Measured();
  alone.best_peer = -1;
  const LayerComparison c = CompareRows({Measured(), lost, failed, alone});
  EXPECT_EQ(c.rows, 2);
  EXPECT_EQ(c.won, 1);
  EXPECT_EQ(c.failed, 1);
  EXPECT_DOUBLE_EQ(c.geomean, 1.0);  // 2 and 0.5
  EXPECT_DOUBLE_EQ(c.model_over_best, 2.0);
  EXPECT_NEAR(c.over_floor, 3.1748, 1e-4);  // 2, 8, 2
}

TEST(LayerRows, JsonHasTheSchemasFields) {
  const std::string json = LayerResultsJson(Results({Measured()}));
  for (const char* field : {"\"layer\": \"c64h56w56k64r3s1\"",
                            "\"batch\": 16",
                            "\"kernel\": \"b\"",
                            "\"layout\": \"NHWC\"",
                            "\"ours_us\": 10",
                            "\"peer_us\": 20",
                            "\"peer\": \"cudnn_graph: engine 1\"",
                            "\"ratio\": 2,",
                            "\"floor_us\": 5,",
                            "\"mismatches\": 0",
                            "\"status\": \"ok\"",
                            "\"tops\": 200",
                            "\"model\": \"a\"",
                            "\"model_over_best\": 2",
                            "\"tiles_us\": {\"a\": 24, \"b\": 12}",
                            "\"noise\": 0.02",
                            "\"tensors\": \"NCxHWx<32>\"",
                            "\"ours_with_reformat\": \"NCxHWx<32>\"",
                            "\"ours_with_reformat_us\": 12",
                            "\"peer_with_reformat\": \"cudnn_graph\"",
                            "\"peer_with_reformat_us\": 30",
                            "\"ratio_with_reformat\": 2.5",
                            "\"throttle_reasons\": \"0x4\"",
                            "\"tensor_tops\": 1500",
                            "\"tensor_tops_source\": \"measured: x\"",
                            "\"epilogue\": \"bias_relu\"",
                            "\"floor_operations\": \"tensor cores\""}) {
    EXPECT_THAT(json, HasSubstr(field));
  }
}

TEST(LayerRows, JsonOfAFailedRow) {
  LayerRow row;
  row.layer.Set("c1");
  const std::string json = LayerResultsJson(Results({row}));
  EXPECT_THAT(json, HasSubstr("\"kernel\": \"none\""));
  EXPECT_THAT(json, testing::Not(HasSubstr("\"ratio\"")));
  EXPECT_THAT(json, testing::Not(HasSubstr("reformat")));
}

TEST(LayerRows, Csv) {
  const std::string csv = LayerResultsCsv(Results({Measured()}), true);
  EXPECT_THAT(csv, StartsWith("layer,batch,layout,kernel,ours_us"));
  EXPECT_THAT(csv, HasSubstr("\nc64h56w56k64r3s1,16,nhwc,b,10.000,9.000,13.000,cudnn_graph,20.000,"
                             "2.0000,5.000,0,\"ok\",0.0200,200.0,100,12.000,30.000,12.000,10.000,"
                             "40.000,20.000\n"));
  EXPECT_EQ(LayerResultsCsv(Results({}), false), "");
}

TEST(LayerRows, Layouts) {
  EXPECT_EQ(LayoutText("nc32"), "NCxHWx<32>");
  EXPECT_EQ(LayoutText("nhwc"), "NHWC");
  EXPECT_EQ(LayoutText("nc4_nc32"), "NCxHWx<4> to NCxHWx<32>");
}

}  // namespace
}  // namespace weft::perf
