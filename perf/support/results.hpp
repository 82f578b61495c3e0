// What a run measures and what it has found: jobs, each of which makes one row or several, and the result files that show
// their rows. Files are written as rows come, and a later run can go on from them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "perf/support/json.hpp"

namespace weft::perf {

// A row's line on the screen: what it is of, its times and ratios without their quantiles, and its status.
std::string RowLine(const Json& row);

struct ResultFile {
  std::string name, path;                  // without a path it is not written
  Json environment = Json::object();       // what the program says of all its rows
  std::vector<std::pair<int, Json>> jobs;  // and the fields that their rows have in this file alone
  std::function<Json(const std::vector<Json>& rows)> summary = nullptr;
};

class Results {
 public:
  // Adds a job and returns its number. `identity`: the fields that all its rows have, and those of no other job.
  int Add(const Json& identity);
  void AddFile(ResultFile file) { files_.push_back(std::move(file)); }

  int count() const { return static_cast<int>(identities_.size()); }
  const Json& identity(int job) const { return identities_[job]; }
  const std::vector<ResultFile>& files() const { return files_; }
  // The rows of each job, as an array; null where there are none yet.
  const std::vector<Json>& rows() const { return rows_; }
  void Put(int job, const Json& rows) { rows_[job] = rows; }

  // Takes over the jobs whose rows `text`, what an earlier run left of a file, has: those of which no row failed.
  // InvalidArgument if it is no result file, or if it is of another commit, or of other settings, than `environment`.
  absl::Status TakeOver(const ResultFile& file, const std::string& text, const Json& environment);

  // The rows that a file shows: of jobs that were measured.
  std::vector<Json> RowsOf(const ResultFile& file) const;
  // How many of its jobs there was no time for.
  int NotRun(const ResultFile& file) const;
  // Whether every job was measured, and every row is right.
  bool Fine() const;
  // Whether no job has rows or is to be measured.
  bool Empty() const;

 private:
  bool WasMeasured(int job) const;

  std::vector<Json> identities_, rows_;
  std::vector<ResultFile> files_;
};

}  // namespace weft::perf
