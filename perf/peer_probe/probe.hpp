// Measures one peer on one layer.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "perf/peers/peer.hpp"
#include "perf/support/run_info.hpp"

namespace weft::perf {

// Plain data, as it lies in memory that processes share.
struct ProbeRow {
  int done = 0;
  int variants = 0, ran = 0;  // offered; with a result that agrees with the reference
  double us = 0.0;            // best of those that do all of the epilogue (one scale or many)
  Text<160> best;
  long long differences = 0;  // of the best
  int largest = 0;
  double partial_us = 0.0;  // best of those that leave something out
  Text<160> partial;
  Text<200> note;
  double seconds = 0.0;
};

class Probe {
 public:
  Probe();
  ~Probe();

  // A line for each variant is added to the file `csv`, if it has a name. Unavailable if there is
  // no GPU.
  absl::Status Init(const std::string& csv);

  // False if the GPU can no longer be used by this process.
  bool Measure(const PeerProblem& problem, const std::string& peer, const PeerOptions& options,
               ProbeRow* row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::perf
