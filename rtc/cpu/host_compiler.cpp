#include "weft/rtc/cpu/host_compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

extern char** environ;

namespace weft::rtc {
namespace {

namespace fs = std::filesystem;

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The file of a program that is on the PATH, or a path; empty if there is none that can be started.
std::string FileOf(const std::string& program) {
  if (program.find('/') != program.npos) {
    return access(program.c_str(), X_OK) == 0 ? program : "";
  }
  const std::string path = FromEnvironment("PATH");
  for (const absl::string_view folder : absl::StrSplit(path, ':')) {
    if (folder.empty()) continue;
    std::string file = absl::StrCat(folder, "/", program);
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = (error ? fs::path("/tmp") : parent) / "weft-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    status_ = absl::FailedPreconditionError(
        absl::StrCat("rtc: no folder can be made in ", parent.string(), ": ", std::strerror(errno),
                     "; set TMPDIR to a folder that can be written"));
  } else {
    path_ = name;
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

absl::StatusOr<std::vector<std::string>> FindCompiler(const std::string& wanted) {
  const std::string given = wanted.empty() ? FromEnvironment("CXX") : wanted;
  std::vector<std::string> words = absl::StrSplit(given, ' ', absl::SkipEmpty());
  if (!words.empty()) {
    if (!FileOf(words[0]).empty()) return words;
    return absl::NotFoundError(absl::StrCat("rtc: the C++ compiler ", wanted.empty() ? "$CXX" : "",
                                            wanted.empty() ? "=" : "", words[0],
                                            " is no program on the PATH; name another one"));
  }
  for (const char* program : {"g++", "c++"}) {
    if (!FileOf(program).empty()) return std::vector<std::string>{program};
  }
  return absl::NotFoundError(
      "rtc: there is no C++ compiler, which makes what runs a string on the CPU; install g++, or "
      "set "
      "CXX to one");
}

std::string IdentityOf(const std::vector<std::string>& command) {
  std::string identity;
  for (const std::string& word : command) {
    absl::StrAppend(&identity, word, "\n");
    // A launcher such as ccache stands in front of the compiler.
    const std::string file = FileOf(word);
    if (file.empty()) continue;
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    const auto time = fs::last_write_time(real, error).time_since_epoch().count();
    absl::StrAppend(&identity, real.string(), "\n", fs::file_size(real, error), "\n", time, "\n");
  }
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"}) {
    absl::StrAppend(&identity, name, "=", FromEnvironment(name), "\n");
  }
  return identity;
}

absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("rtc: no pipe: ", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  // Messages in English, as rtc/text/messages.cpp reads them.
  char english[] = "LC_ALL=C";
  std::vector<char*> environment = {english};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) environment.push_back(*variable);
  }
  environment.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  CommandResult result;
  if (failed == 0) {
    char buffer[4096];
    for (;;) {
      const ssize_t got = read(ends[0], buffer, sizeof buffer);
      if (got > 0) result.output.append(buffer, static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR)) break;
    }
  }
  close(ends[0]);
  if (failed != 0) {
    return absl::NotFoundError(
        absl::StrCat("rtc: ", words[0], " cannot be started: ", std::strerror(failed)));
  }
  int state = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(child, &state, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) {  // a program that ignores SIGCHLD is not told how its children end
    result.exit_code = result.output.empty() ? 0 : 1;
    return result;
  }
  result.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return result;
}

}  // namespace weft::rtc
