// What the flags ask for, and what is found: shared by the process that measures and its parent.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/support/jobs.hpp"
#include "perf/support/layer_rows.hpp"
#include "perf/weft_perf/bench.hpp"

namespace weft::perf {

struct Run {
  Jobs jobs;
  BenchOptions options;
  Choices choices;      // of an earlier run
  double stop_after_s;  // start no further row then
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  // A peer as `choices` names it.
  std::string ChoiceName(const std::string& peer) const;
};

// From the flags. InvalidArgument or NotFound says which is wrong.
absl::StatusOr<Run> MakeRun();

inline constexpr int kMostRows = 1024;
inline constexpr int kMostSkips = 16;  // variants of one row that may crash; then it is given up

// Plain data in shared memory: the worker writes it, and its parent outlives a crash of the worker.
struct Board {
  Environment environment;
  volatile int job = 0;  // place in run.jobs.problems
  volatile int beats = 0;
  Text<200> doing;    // "peer/variant", or a step without a stroke
  Text<240> failure;  // of the whole run
  Text<160> libraries[4];
  struct Entry {
    LayerRow row;
    Text<200> skipped[kMostSkips];
    int skips = 0;
  } entries[kMostRows];  // of each problem
};

// The rows of one result file.
LayerResults ResultsOf(const Run& run, const Board& board, const Jobs::File& file);

}  // namespace weft::perf
