// weft_perf --network.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/network/bench.hpp"

namespace weft::perf {

struct NetworkRun {
  std::string network;               // see NetworkNames()
  std::vector<std::string> batches;  // positive numbers
  int rounds = 15;                   // samples of each contestant
  int threads = 1;                   // on which cuDNN compiles plans
  bool cudnn = true;
  std::string json;  // folder for <network>-network.json; empty: none
  std::string commit = "unknown";
  double stop_after_s = 500.0;  // start no further batch after so many seconds
};

// Measures in child processes, prints a table and writes the file. 0 if every row is exact and
// measured, 1 if one is not, 2 for bad options, 3 without a GPU. Touches CUDA in children only.
int RunNetwork(const NetworkRun& run);

// The same with another bench, made in each child.
using MakeNetworkBench =
    std::function<absl::StatusOr<std::unique_ptr<NetworkBench>>(Environment* environment)>;
int RunNetwork(const NetworkRun& run, const MakeNetworkBench& make_bench);

}  // namespace weft::perf
