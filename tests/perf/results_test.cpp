#include "perf/support/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Row GoodRow(double ours, double peer) {
  Row row;
  row.layer.Set("c64h56w56k64r3s1");
  row.batch = 16;
  row.macs = 1e9;
  row.bytes = 1e6;
  row.best = 1;
  row.model = 0;
  row.tile_us[0] = 12.0;
  row.tile_us[1] = 10.5;
  row.ours = {ours, ours - 0.5, ours + 0.5};
  row.chosen = {ours * 2, ours * 2, ours * 2};
  row.peer = {peer, peer, peer};
  if (peer > 0.0) row.peer_name.Set("cudnn int8x4 implicit_gemm");
  row.done = 1;
  return row;
}

TEST(Results, ComparisonLeavesOutFailedRows) {
  std::vector<Row> rows = {GoodRow(10, 20), GoodRow(10, 5), GoodRow(10, 0)};
  rows.push_back(GoodRow(10, 1000));
  rows.back().mismatches = 3;
  rows.push_back(GoodRow(10, 1000));
  rows.back().failure.Set("cudaMalloc: out of memory");
  const Comparison c = Compare(rows);
  EXPECT_EQ(c.rows, 2);
  EXPECT_EQ(c.won, 1);
  EXPECT_EQ(c.failed, 2);
  EXPECT_NEAR(c.geomean, 1.0, 1e-9);
  EXPECT_NEAR(c.model_geomean, 0.5, 1e-9);
  EXPECT_NEAR(c.model_loss, 2.0, 1e-9);
}

TEST(Results, StatusSaysWhatHappened) {
  EXPECT_EQ(GoodRow(10, 20).Status(), "ok");
  Row row = GoodRow(10, 0);
  row.peer_note.Set("cuDNN failed: signal 11 in x");
  EXPECT_EQ(row.Status(), "ok; no peer: cuDNN failed: signal 11 in x");
  row = GoodRow(10, 20);
  row.mismatches = 1;
  EXPECT_EQ(row.Status(), "mismatch");
  row = Row();
  EXPECT_EQ(row.Status(), "failed: not run");
}

TEST(Results, JsonHasTheFieldsOfTheSchema) {
  const std::vector<Row> rows = {GoodRow(10, 20)};
  Environment environment;
  environment.device.Set("NVIDIA H200");
  const std::string json = ResultsJson("anchors", 16, "abc", "2026-11-21", environment,
                                       {"simt_a", "simt_b"}, rows, Compare(rows));
  EXPECT_THAT(json, HasSubstr("\"environment\": {"));
  EXPECT_THAT(json, HasSubstr("\"device\": \"NVIDIA H200\""));
  EXPECT_THAT(json, HasSubstr("\"geomean_ratio\": 2,"));
  EXPECT_THAT(json,
              HasSubstr("{\"layer\": \"c64h56w56k64r3s1\", \"batch\": 16, "
                        "\"kernel\": \"simt_b\", \"layout\": \"NCxHWx<4>\", \"ours_us\": 10"));
  EXPECT_THAT(json, HasSubstr("\"peer_us\": 20"));
  EXPECT_THAT(json, HasSubstr("\"peer\": \"cudnn int8x4 implicit_gemm\", \"ratio\": 2,"));
  EXPECT_THAT(json, HasSubstr("\"mismatches\": 0, \"status\": \"ok\""));
  EXPECT_THAT(json, HasSubstr("\"tiles_us\": {\"simt_a\": 12, \"simt_b\": 10.5}"));
}

TEST(Results, JsonLeavesOutWhatWasNotMeasured) {
  const std::vector<Row> rows = {GoodRow(10, 0)};
  const std::string json = ResultsJson("anchors", 16, "abc", "2026-11-21", Environment(),
                                       {"simt_a", "simt_b"}, rows, Compare(rows));
  EXPECT_THAT(json, Not(HasSubstr("\"ratio\"")));
  EXPECT_THAT(json, Not(HasSubstr("\"peer_us\"")));
  EXPECT_THAT(json, HasSubstr("\"peer\": \"none\""));
}

}  // namespace
}  // namespace weft::perf
