// Runs the C++ compiler of the machine.
#pragma once

#include <string>
#include <vector>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// A folder for files that are needed for a moment; it goes with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // FailedPrecondition, with the folder and the system's reason, if it could not be made.
  const absl::Status& status() const { return status_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  absl::Status status_;
};

// The words of the command that compiles C++: `wanted` if it is not empty, else $CXX, else the first
// of g++ and c++ that is on the PATH. NotFound if there is none.
absl::StatusOr<std::vector<std::string>> FindCompiler(const std::string& wanted);

// What tells a compiler from another one that makes other code: its words, which file the first one is, and
// the environment that it reads.
std::string IdentityOf(const std::vector<std::string>& command);

struct CommandResult {
  int exit_code = 0;
  std::string output;  // stdout and stderr
};

// Runs a command, found on the PATH, and waits for it. No shell reads its words. NotFound if it cannot
// be started.
absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& words);

}  // namespace weft::rtc
