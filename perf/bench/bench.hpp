// The driver of the programs that measure an operator (deconv_bench, fused_bench, ...): flags, rows that may fail, the
// result file, the fastest of several ways to compute the same, and timing different ones side by side.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// One way to compute what a row asks for: an operator over one tile, or another library's answer.
struct Way {
  std::string name;
  std::function<absl::Status(int set)> enqueue;
  // Runs it on buffer set 0; how many outputs are wrong. Null: there is nothing to compare with.
  std::function<absl::StatusOr<std::int64_t>()> wrong = nullptr;
  int tile = -1;    // its place in a list of tiles
  double us = 0.0;  // of a short measurement, by Fastest
};

// The place of the fastest of several ways, after a short measurement of each on `sets` buffer sets. Unimplemented if
// there is none; DataLoss, or what went wrong, if one of them fails or is wrong.
absl::StatusOr<int> Fastest(const Stopwatch& watch, int sets, std::vector<Way>* ways);

// The place of the fastest of a library's `count` answers, those that fail left out; attempt(i) says how many microseconds
// answer i takes. Unimplemented, with the last failure, if none runs.
absl::StatusOr<int> FastestAnswer(int count, const std::string& what,
                                  const std::function<absl::StatusOr<double>(int)>& attempt);

// Ways that are timed in turns, each under the name that its fields of a row have.
class Race {
 public:
  Race(const Stopwatch& watch, int sets) : watch_(watch), sets_(sets) {}

  // Adds a way, or the fastest of several. Nothing may be added after Run().
  absl::Status Add(const std::string& what, const Way& way, double sample_us = kSampleMicroseconds);
  absl::Status AddFastest(const std::string& what, std::vector<Way> ways);
  // One that was prepared elsewhere, which must outlive this.
  void Add(const std::string& what, const std::string& name, Contestant* contestant);

  // Samples all of them in turns.
  absl::Status Run(double budget_us = 1e6) const;

  bool Has(const std::string& what) const { return Find(what) != nullptr; }
  const std::string& name(const std::string& what) const { return Find(what)->name; }
  const Contestant& contestant(const std::string& what) const { return *Find(what)->contestant; }
  // The median, or another quantile, of the samples.
  double us(const std::string& what, double quantile = 0.5) const;
  // Whether all ran as CUDA graphs.
  bool graphed() const;
  // "<what>_us" and, if it is asked for, "<what>_p10_us" and "<what>_p90_us".
  void Describe(const std::string& what, Json* row, bool quantiles = false) const;

  static constexpr double kSampleMicroseconds = 2000.0;

 private:
  struct Entry {
    std::string what, name;
    Contestant own;
    Contestant* contestant = nullptr;
  };
  const Entry* Find(const std::string& what) const;

  const Stopwatch& watch_;
  int sets_;
  std::deque<Entry> entries_;  // whose addresses last
};

// What a program is called, what it is for, and how it measures: a sentence for its result file.
struct BenchProgram {
  const char* name;
  const char* usage;
  const char* method;
};

class Bench {
 public:
  explicit Bench(const BenchProgram& program) : program_(program) {}

  // Measures the GPU's ceilings. Unavailable without a GPU.
  absl::Status Init() { return machine_.Init(Json::object(), true); }

  const Machine& machine() const { return machine_; }
  const Stopwatch& watch() const { return machine_.watch(); }
  cudaStream_t stream() const { return machine_.stream(); }
  // Microseconds for so many bytes at the rate of a large copy.
  double CopyMicroseconds(double bytes) const {
    return bytes / machine_.ceilings(true).bytes_per_us;
  }

  // Whether --layers leaves it in.
  static bool Named(const std::string& layer);
  // Whether it does and there is time; if only time is wanting, that is noted.
  bool Wanted(const std::string& layer);

  // Fills a row {"layer": layer, ...} by `measure`, prints it and writes the file, as the next row
  // may end the program; does nothing for layers that are not wanted. A failure, or a row whose
  // "mismatches" are not 0, is noted in its "status" and does not stop the program.
  absl::Status Row(const std::string& layer, const std::function<absl::Status(Json* row)>& measure);
  // The same of a layer that is wanted.
  absl::Status AddRow(const std::string& layer,
                      const std::function<absl::Status(Json* row)>& measure);

  // Clock and throttling while `contestant` runs, into the row and the environment.
  absl::Status ReadClock(const Contestant& contestant, Json* row) {
    return machine_.ReadClock(contestant, row);
  }

  // Of the file's environment, besides what all have.
  Json& notes() { return notes_; }
  // What an earlier run wrote to --json. NotFound if there is nothing.
  absl::StatusOr<std::string> Earlier() const;
  Json Environment() const;
  // Writes these rows in the place of all.
  absl::Status SetRows(const std::vector<Json>& rows, const Json& summary);

  // The file as it stands, if --json asks for one.
  absl::Status Write() const;
  bool failed() const { return failed_; }
  int not_run() const { return not_run_; }  // for want of time

 private:
  BenchProgram program_;
  Machine machine_;
  Json rows_ = Json::array(), notes_ = Json::object(), summary_ = Json::object();
  bool failed_ = false;
  int not_run_ = 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// main() of such a program: --json=FILE, --layers=PART, --commit=HASH, --stop_after_s=SECONDS. Returns 0 if
// `measure` and all rows succeeded and none was left out for want of time, else 1.
int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*measure)(Bench&));

}  // namespace weft::perf
