#include "perf/network/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::perf {
namespace {

using testing::HasSubstr;
using testing::Not;

NetworkRow Measured() {
  NetworkRow row;
  row.batch = 16;
  row.layers = 2;
  row.layer[0].name.Set("conv1");
  row.layer[0].problem.Set("c4h224w224k64r7s2");
  row.layer[0].tile.Set("simt_a");
  row.layer[0].tile_us = 60.0;
  row.layer[0].zeros = 0.5;
  row.layer[1].name.Set("2.0.conv1");
  row.layer[1].plan.Set("eng4 k24=0");
  row.layer[1].plan_us = 8.0;
  row.layer[1].zeros = 0.25;
  row.layer[1].saturated = 0.01;
  row.layer[1].plan_differences = 3;
  row.layer[1].plan_largest = 1;
  row.macs = 1e9;
  row.ours = {500.0, 490.0, 510.0};
  row.model = {550.0, 540.0, 560.0};
  row.cudnn = {400.0, 390.0, 420.0};
  row.ours_rest = {450.0, 440.0, 460.0};
  row.cudnn_rest = {315.0, 310.0, 320.0};
  row.samples = 15;
  row.checked_images = 2;
  row.outputs = 1000;
  row.output_differences = 7;
  row.output_largest = 2;
  row.done = 1;
  return row;
}

TEST(NetworkRow, Status) {
  EXPECT_EQ(NetworkRow().Status(), "failed: not run");
  EXPECT_FALSE(NetworkRow().Good());
  NetworkRow row = Measured();
  EXPECT_EQ(row.Status(), "ok");
  EXPECT_TRUE(row.Good());
  EXPECT_DOUBLE_EQ(row.Ratio(), 0.8);
  row.cudnn = {};
  row.cudnn_note.Set("no library");
  EXPECT_EQ(row.Status(), "ok; cuDNN: no library");
  EXPECT_EQ(row.Ratio(), 0.0);
  row.mismatches = 5;
  EXPECT_EQ(row.Status(), "mismatch: 5 outputs");
  EXPECT_FALSE(row.Good());
  row.failure.Set("no memory");
  EXPECT_EQ(row.Status(), "failed: no memory");
  EXPECT_FALSE(row.Good());
}

TEST(NetworkRow, Json) {
  NetworkResults results;
  results.network = "resnet50";
  results.libraries = {"cuDNN 9"};
  results.rows = {Measured()};
  const std::string json = NetworkJson(results);
  for (const char* field : {"\"network\": \"resnet50\"",
                            "\"batch\": 16",
                            "\"ours_ms\": 0.5",
                            "\"ours_images_per_s\": 32000",
                            "\"cudnn_ms\": 0.4",
                            "\"cudnn_images_per_s\": 40000",
                            "\"ratio\": 0.8",
                            "\"ratio_without_first\": 0.7",
                            "\"model_choice_ms\": 0.55",
                            "\"ours_tops\": 4",
                            "\"mismatches\": 0",
                            "\"status\": \"ok\"",
                            "\"name\": \"conv1\"",
                            "\"kernel\": \"simt_a\"",
                            "\"ours_us\": 60",
                            "\"plan\": \"eng4 k24=0\"",
                            "\"cudnn_us\": 8",
                            "\"zeros\": 0.5",
                            "\"output_differences\": 7",
                            "\"output_largest_difference\": 2",
                            "pooling after conv1 is left out"}) {
    EXPECT_THAT(json, HasSubstr(field));
  }
}

TEST(NetworkRow, JsonLeavesOutWhatWasNotMeasured) {
  NetworkResults results;
  results.rows = {NetworkRow()};
  const std::string json = NetworkJson(results);
  EXPECT_THAT(json, HasSubstr("\"status\": \"failed: not run\""));
  for (const char* field : {"ours_ms", "cudnn_ms", "ratio", "output_differences"}) {
    EXPECT_THAT(json, Not(HasSubstr(field)));
  }
}

TEST(NetworkRow, Tables) {
  const std::string line = NetworkTableLine(Measured());
  EXPECT_THAT(line, HasSubstr("25% to 50% zeros, at most 1.00% saturated"));
  EXPECT_THAT(line, HasSubstr("differs from ours at 7 of 1000 final outputs, by at most 2"));
  EXPECT_THAT(line,
              HasSubstr("without the first layer: ours 0.4500 ms, cuDNN 0.3150 ms, ratio 0.700"));
  EXPECT_THAT(NetworkLayerTable(Measured()), HasSubstr("c4h224w224k64r7s2"));
}

}  // namespace
}  // namespace weft::perf
