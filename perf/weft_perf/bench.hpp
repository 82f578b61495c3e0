// Measures one problem. Only with WEFT_HAVE_CUDA.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/peer.hpp"
#include "perf/support/epilogues.hpp"
#include "perf/support/layer_rows.hpp"
#include "weft/conv/problem.hpp"

namespace weft::perf {

struct BenchOptions {
  std::vector<std::string> layouts, peers;
  bool all_layouts = false;  // nobody asked by name: those that cannot win are left out
  Epilogue epilogue = Epilogue::kBiasRelu;
  std::optional<TensorFormatName> tensors;  // the user's format, if reformats are measured too
  bool dp4a_floor = false;
  int rounds = 15;              // samples of each contestant
  double row_budget_ms = 1200;  // for the interleaved samples of one row
  bool hot = false;             // one buffer set: data stays in the L2
  bool graph = true;
  bool time = true;  // false: each variant of ours runs once, for profilers and checkers
  int build_threads = 1;
  std::string only_tile;  // a part of a tile's name; empty: all
  // Of one problem: variants "peer/variant" that crashed, and the choices of an earlier run.
  std::set<std::string> skip;
  std::map<std::string, std::string> chosen;  // peer -> variant
};

class Bench {
 public:
  // Sets up the GPU and fills `environment`, whose tensor ceiling stays if it is there already.
  // Unavailable if there is no GPU.
  static absl::StatusOr<std::unique_ptr<Bench>> Create(Environment* environment);
  virtual ~Bench() = default;

  // Measures `problem` into `row`; what goes wrong is written there. `about_to` is called before
  // each thing that may crash, with "peer/variant". False if the GPU can no longer be used by this
  // process.
  virtual bool Measure(const conv::Problem& problem, const BenchOptions& options,
                       const std::function<void(const std::string&)>& about_to, LayerRow* row) = 0;
};

}  // namespace weft::perf
