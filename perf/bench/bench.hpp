// The driver of the programs that measure: flags, jobs that may fail, result files that a later run goes on from, the fastest
// of several ways to compute the same, and timing different ones side by side.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"
#include "perf/support/results.hpp"
#include "perf/support/rows.hpp"
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

// What a program is called, what it is for, and how it measures: a sentence for its result files.
struct BenchProgram {
  const char* name;
  const char* usage;
  const char* method;
};

// What a job does without, and whom it tells what: as RowRun's `measure`.
struct Measuring {
  const std::set<std::string>& skip;
  const RowRun::About& about;
  const RowRun::Send& send;
};

// A run: the jobs that a program adds, measured one after the other; the files are written after each.
class Bench {
 public:
  using Measure = std::function<absl::StatusOr<std::vector<Json>>(const Measuring&)>;
  using MeasureRow = std::function<absl::Status(Json* row)>;

  explicit Bench(const BenchProgram& program) : program_(program) { how_.isolated = false; }

  // Adds a job that makes several rows, each of which has the fields of `identity`, which are no other job's. If it fails,
  // it has one row, with the fields of `empty`, which says so; if --layers leaves out its "layer", it has none. Returns its
  // number in results().
  int Add(const Json& identity, Measure measure, const Json& empty = Json::object());
  // Adds one of one row. A failure, or "mismatches" that are not 0, is noted in its "status".
  void AddRow(const std::string& layer, MeasureRow measure);
  static Json RowOf(const Json& identity, const MeasureRow& measure);

  // A file of the folder that --json names. Without any, all rows are in the file of that name.
  void AddFile(ResultFile file);
  // Of the file of all rows, where no file was added.
  void SetSummary(Json (*summary)(const std::vector<Json>& rows)) { summary_ = summary; }
  // Of the environment of every file, besides what all have.
  Json& notes() { return notes_; }

  // How jobs are run, before Run: in this process unless it is said otherwise. `receive` gets what jobs send.
  RowRun& how() { return how_; }

  // Measures what no earlier run left in the files, if --resume asks for it, and the GPU's ceilings if they are wanted.
  // Unavailable without a GPU.
  absl::Status Run(bool ceilings = true);
  const Results& results() const { return results_; }
  // What is known of the machine: of the last job that was measured.
  const Json& environment() const { return environment_; }
  // Whether all was measured and is right, and the files are written.
  bool fine() const { return written_ && results_.Fine(); }

  // While a job is measured.
  Machine& machine() const { return *machine_; }
  const Stopwatch& watch() const { return machine_->watch(); }
  cudaStream_t stream() const { return machine_->stream(); }
  // Microseconds for so many bytes at the rate of a large copy.
  double CopyMicroseconds(double bytes) const {
    return bytes / machine_->ceilings(true).bytes_per_us;
  }
  // Clock and throttling while `contestant` runs, into the row and the environment.
  absl::Status ReadClock(const Contestant& contestant, Json* row) const {
    return machine_->ReadClock(contestant, row);
  }

 private:
  Json EnvironmentOf(const ResultFile& file) const;
  void Resume();
  void WriteFiles();
  void Print() const;

  BenchProgram program_;
  struct Job {
    Measure measure;
    Json empty;
  };
  std::vector<Job> jobs_;
  Results results_;
  Json (*summary_)(const std::vector<Json>& rows) = nullptr;
  RowRun how_;
  Json notes_ = Json::object(), environment_ = Json::object();
  Machine* machine_ = nullptr;  // of the process that measures
  bool written_ = true;
};

// main() of such a program: the flags that all have (perf/README.md). `plan` adds jobs and runs them. Returns 0 if the bench is
// fine, 1 if not, 2 if `plan` fails, as for a wrong flag, 3 without a GPU.
int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*plan)(Bench&));

}  // namespace weft::perf
