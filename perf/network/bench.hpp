// Measures a network at one batch. Only with WEFT_HAVE_CUDA.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "perf/network/network.hpp"
#include "perf/network/rows.hpp"

namespace weft::perf {

struct NetworkOptions {
  int rounds = 15;          // samples of each contestant
  double budget_ms = 4000;  // for all of them
  bool cudnn = true;
  int build_threads = 1;                      // on which cuDNN compiles
  std::set<std::string> skip;                 // steps that crashed, as about_to was told
  std::map<std::string, std::string> chosen;  // layer -> plan, from before a crash
  // Before anything of cuDNN's that may crash: "cudnn/<layer>/<step>". Other steps have no
  // "cudnn/".
  std::function<void(const std::string&)> about_to = [](const std::string&) {};
  // The plan of a layer was found.
  std::function<void(int layer, const std::string& plan)> chose = [](int, const std::string&) {};
};

class NetworkBench {
 public:
  // Unavailable if there is no GPU.
  static absl::StatusOr<std::unique_ptr<NetworkBench>> Create(Environment* environment);
  virtual ~NetworkBench() = default;

  // What goes wrong is written into `row`. False if the GPU can no longer be used by this process.
  virtual bool Measure(const Network& network, const NetworkOptions& options, NetworkRow* row) = 0;
};

}  // namespace weft::perf
