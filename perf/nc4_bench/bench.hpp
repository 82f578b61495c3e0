// Measures one layer. Only with WEFT_HAVE_CUDA.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/results.hpp"
#include "weft/conv/problem.hpp"

namespace weft::perf {

struct BenchOptions {
  int rounds = 15;              // samples of each contestant
  double row_budget_ms = 1200;  // for the interleaved samples of one row
  bool with_peer = true;
  int only_tile = -1;  // measure this tile alone
};

class Bench {
 public:
  // Sets up the GPU and fills `environment`. Unavailable if there is no GPU.
  static absl::StatusOr<std::unique_ptr<Bench>> Create(Environment* environment);
  virtual ~Bench() = default;

  // Measures `problem` into `row`; what goes wrong is written there as row.failure or
  // row.peer_note. `before_peer` is called before each thing cuDNN does, with its name. False if
  // the GPU can no longer be used by this process.
  virtual bool Measure(const conv::Problem& problem, const BenchOptions& options,
                       const std::function<void(const std::string&)>& before_peer, Row* row) = 0;

  // Runs each tile (or the one of options.only_tile) once and compares: for profilers and checkers.
  virtual absl::Status RunOnce(const conv::Problem& problem, const BenchOptions& options,
                               Row* row) = 0;
};

}  // namespace weft::perf
