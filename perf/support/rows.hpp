// Rows of measurements that may crash, made in child processes.
//
// cuDNN is known to crash on some int8 convolutions. What measures it therefore runs in a child,
// which measures row after row and says in lines of JSON, through a pipe, what it is about to do
// and what it found. Where it ends early, another goes on, and leaves out what was under way. (One
// child a row would cost about 2 s a row for CUDA's and cuDNN's start.)
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/support/json.hpp"

namespace weft::perf {

// How the reason begins for which `failed` is called where there was no time to measure.
inline constexpr char kNotRun[] = "not run";

class RowRun {
 public:
  // A child's end of the pipe.
  using Send = std::function<void(const Json& line)>;
  using About = std::function<void(const std::string& what)>;

  int count = 0;
  std::vector<Json> kept;  // results of an earlier run, null where there is none; or empty
  // In a child, before its first row: sets up the GPU. If it fails, the run ends.
  std::function<absl::Status()> start = [] { return absl::OkStatus(); };
  // In a child: measures a row, leaving out the steps `skip`, and tells `about` before anything
  // that may crash. `send` takes what the parent's `receive` is to have at once. `alive` becomes
  // false if the GPU can no longer be used by this process.
  std::function<Json(int row, const std::set<std::string>& skip, const About& about,
                     const Send& send, bool* alive)>
      measure;
  // In the parent: what was sent, and each row when it is there.
  std::function<void(const Json& line)> receive = [](const Json&) {};
  std::function<void(int row, const Json& result)> done = [](int, const Json&) {};
  // Whether a row can do without the step that crashed.
  std::function<bool(const std::string& step)> may_skip = [](const std::string&) { return false; };
  // The result of a row that was given up.
  std::function<Json(int row, const std::string& why)> failed;

  bool isolated = true;       // false: everything in this process, for profilers and checkers
  double stop_after_s = 1e9;  // start no further row after so many seconds: it has failed
  int stuck_ms = 90000;       // a child that is silent for so long is killed
  int most_skips = 32;        // of a row; then it is given up

  double Seconds() const;  // since this object was made

  // Each row's result; Unavailable with what `start` said.
  absl::StatusOr<std::vector<Json>> Run();

 private:
  // Works off the rows that are open. Returns the exit status of a child.
  int Work(const Send& send);
  void Take(const Json& line);
  // One child, until it ends. "" if it finished, else how it ended.
  std::string Child();

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Json> results_;
  std::vector<std::set<std::string>> skips_;
  int row_ = -1;       // under way in the child
  std::string doing_;  // likewise
  absl::Status started_;
};

}  // namespace weft::perf
