// The processes and the bookkeeping of weft_perf --network, with a bench that needs no GPU.
#include "perf/network/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace weft::perf {
namespace {

using testing::HasSubstr;
using testing::Not;

// "Measures" what `measure` says.
class FakeBench : public NetworkBench {
 public:
  using Function = std::function<bool(const Network&, const NetworkOptions&, NetworkRow*)>;
  explicit FakeBench(Function measure) : measure_(std::move(measure)) {}
  bool Measure(const Network& network, const NetworkOptions& options, NetworkRow* row) override {
    const bool alive = measure_(network, options, row);
    row->done = 1;
    return alive;
  }

 private:
  Function measure_;
};

MakeNetworkBench Fake(FakeBench::Function measure) {
  return [measure](Environment* environment) -> absl::StatusOr<std::unique_ptr<NetworkBench>> {
    environment->device.Set("none");
    return std::make_unique<FakeBench>(measure);
  };
}

void Fill(const Network& network, NetworkRow* row) {
  row->layers = 2;
  row->layer[0].name.Set(network.layers[0].name);
  row->layer[1].name.Set(network.layers[1].name);
  row->ours = {100.0, 99.0, 101.0};
}

NetworkRun Options(const std::vector<std::string>& batches) {
  NetworkRun run;
  run.network = "resnet50";
  run.batches = batches;
  run.json = testing::TempDir();
  run.commit = "abc";
  return run;
}

std::string Json() {
  std::ifstream file(testing::TempDir() + "/resnet50-network.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(NetworkRun, MeasuresEachBatch) {
  const auto bench = Fake([](const Network& network, const NetworkOptions&, NetworkRow* row) {
    Fill(network, row);
    return true;
  });
  EXPECT_EQ(RunNetwork(Options({"1", "16"}), bench), 0);
  for (const char* text :
       {"\"batch\": 1,", "\"batch\": 16,", "\"ours_images_per_s\": 10000",
        "\"ours_images_per_s\": 160000", "\"device\": \"none\"", "\"commit\": \"abc\""}) {
    EXPECT_THAT(Json(), HasSubstr(text));
  }
}

TEST(NetworkRun, AMismatchFailsTheRun) {
  const auto bench = Fake([](const Network& network, const NetworkOptions&, NetworkRow* row) {
    Fill(network, row);
    row->mismatches = row->batch == 16 ? 3 : 0;
    return true;
  });
  EXPECT_EQ(RunNetwork(Options({"1", "16"}), bench), 1);
  EXPECT_THAT(Json(), HasSubstr("\"status\": \"mismatch: 3 outputs\""));
  EXPECT_EQ(RunNetwork(Options({"1"}), bench), 0);
}

TEST(NetworkRun, APlanThatCrashesIsLeftOutAndItsLayersChoicesAreKept) {
  const auto bench =
      Fake([](const Network& network, const NetworkOptions& options, NetworkRow* row) {
        Fill(network, row);
        if (!options.chosen.contains("conv1")) {
          options.about_to("cudnn/conv1/eng0");
          options.chose(0, "eng0");
        }
        if (!options.skip.contains("cudnn/2.0.conv1/eng1")) {
          options.about_to("cudnn/2.0.conv1/eng1");
          std::abort();
        }
        if (options.chosen.at("conv1") != "eng0") row->failure.Set("the choice was lost");
        return true;
      });
  EXPECT_EQ(RunNetwork(Options({"1"}), bench), 0);
  EXPECT_THAT(Json(), HasSubstr("\"status\": \"ok\""));
}

TEST(NetworkRun, AGpuLostToCudnnIsACrash) {
  const auto bench =
      Fake([](const Network& network, const NetworkOptions& options, NetworkRow* row) {
        Fill(network, row);
        options.about_to("cudnn/conv1/eng1");
        return options.skip.contains("cudnn/conv1/eng1");
      });
  EXPECT_EQ(RunNetwork(Options({"1"}), bench), 0);
}

TEST(NetworkRun, ACrashOfOursFailsTheRow) {
  const auto bench =
      Fake([](const Network& network, const NetworkOptions& options, NetworkRow* row) {
        if (row->batch == 1) {
          options.about_to("our tiles");
          std::abort();
        }
        Fill(network, row);
        return true;
      });
  EXPECT_EQ(RunNetwork(Options({"1", "16"}), bench), 1);
  EXPECT_THAT(Json(), HasSubstr("failed: signal 6 in our tiles"));
  EXPECT_THAT(Json(), HasSubstr("\"ours_images_per_s\": 160000"));  // the others are measured
}

TEST(NetworkRun, EndlessCrashesGiveTheRowUp) {
  const auto bench = Fake([](const Network&, const NetworkOptions& options, NetworkRow*) {
    options.about_to("cudnn/conv1/eng" + std::to_string(options.skip.size()));
    std::abort();
    return true;
  });
  EXPECT_EQ(RunNetwork(Options({"1"}), bench), 1);
  EXPECT_THAT(Json(), HasSubstr("failed: signal 6 in cudnn/conv1/eng32"));
}

TEST(NetworkRun, WithoutAGpuItSaysSo) {
  const MakeNetworkBench none = [](Environment*) -> absl::StatusOr<std::unique_ptr<NetworkBench>> {
    return absl::UnavailableError("no GPU");
  };
  EXPECT_EQ(RunNetwork(Options({"1"}), none), 3);
}

TEST(NetworkRun, RefusesBadOptions) {
  NetworkRun run;
  run.network = "resnet18";
  run.batches = {"1"};
  EXPECT_EQ(RunNetwork(run), 2);
  run.network = "resnet50";
  run.batches = {"1", "0"};
  EXPECT_EQ(RunNetwork(run), 2);
  run.batches = {};
  EXPECT_EQ(RunNetwork(run), 2);
}

}  // namespace
}  // namespace weft::perf
