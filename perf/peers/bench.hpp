// What the programs that measure one operator share (fused_bench, deconv_bench, ...): flags, rows
// that may fail, the result file, and choosing the fastest of several ways.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"

#if WEFT_HAVE_CUDA
#include "perf/peers/machine.hpp"
#endif

namespace weft::perf {

// Calls each.operator()<Tile>() for the tiles of a tuple until one fails.
template <class Tiles, class Each>
absl::Status ForEachTile(const Each& each) {
  absl::Status status;
  [&]<class... Ts>(std::tuple<Ts...>*) {
    const auto next = [&](const absl::Status& s) {
      status = s;
      return s.ok();
    };
    (void)(next(each.template operator()<Ts>()) && ...);
  }(static_cast<Tiles*>(nullptr));
  return status;
}

// What a program is called, what it is for, and how it measures: a sentence for its result file.
struct BenchProgram {
  const char* name;
  const char* usage;
  const char* method;
};

class Bench;

// main() of such a program: --json=FILE, --layers=PART, --commit=HASH, --stop_after_s=SECONDS. Returns 0 if
// `measure` and all rows succeeded and none was left out for want of time, else 1. measure: null where the build has nothing to measure.
int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*measure)(Bench&));

#if WEFT_HAVE_CUDA

// One way to compute what a row asks for, and how long it took, microseconds.
struct Way {
  std::string name;
  std::function<absl::Status(int set)> enqueue;
  double us = 0.0;
};

class Bench {
 public:
  explicit Bench(const BenchProgram& program) : program_(program) {}

  // Measures the GPU's ceilings. Unavailable without a GPU.
  absl::Status Init() { return machine_.Init(Json::object(), true); }

  const Machine& machine() const { return machine_; }
  const Stopwatch& watch() const { return machine_.watch(); }
  cudaStream_t stream() const { return machine_.stream(); }

  // Whether --layers leaves it in, and there is time; if only time is wanting, that is noted.
  bool Wanted(const std::string& layer);

  // Fills a row {"layer": layer, ...} by `measure`, prints it and writes the file, as the next row
  // may end the program; does nothing for layers that are not wanted. A failure, or a row whose
  // "mismatches" are not 0, is noted in its "status" and does not stop the program.
  absl::Status Row(const std::string& layer, const std::function<absl::Status(Json* row)>& measure);
  // The same of a layer that is wanted.
  absl::Status AddRow(const std::string& layer,
                      const std::function<absl::Status(Json* row)>& measure);

  // Times a way for a moment and keeps the faster.
  absl::Status KeepFaster(int sets, Way way, std::optional<Way>* best) const;

  // Clock and throttling while `contestant` runs, into the row and the environment.
  absl::Status ReadClock(const Contestant& contestant, Json* row) {
    return machine_.ReadClock(contestant, row);
  }

  // The file as it stands, if --json asks for one.
  absl::Status Write() const;
  bool failed() const { return failed_; }
  int not_run() const { return not_run_; }  // for want of time

 private:
  BenchProgram program_;
  Machine machine_;
  Json rows_ = Json::array();
  bool failed_ = false;
  int not_run_ = 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
