#include "perf/support/workers.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "absl/strings/str_cat.h"

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

// Waits for the child. "" if it finished, else how it ended.
std::string Watch(pid_t child, const Workers& workers) {
  int beats = *workers.beats;
  Clock::time_point last = Clock::now();
  bool stuck = false;
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (stuck) return absl::StrCat("silent for ", workers.stuck_ms / 1000.0, " s");
      if (WIFSIGNALED(status)) return absl::StrCat("signal ", WTERMSIG(status));
      return WEXITSTATUS(status) == 0 ? "" : absl::StrCat("exit ", WEXITSTATUS(status));
    }
    if (beats != *workers.beats) {
      beats = *workers.beats;
      last = Clock::now();
    } else if (!stuck && Clock::now() - last > std::chrono::milliseconds(workers.stuck_ms)) {
      stuck = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

bool RunWorkers(const Workers& workers) {
  for (int previous = -1;;) {
    const int first = workers.first_open();
    if (first < 0) return true;
    std::fflush(nullptr);  // or the child would print it again
    const pid_t child = fork();
    if (child < 0) return workers.died("could not be started"), false;
    if (child == 0) {
      const int status = workers.work(first);
      std::fflush(nullptr);
      _exit(status);  // not exit(): destructors of libraries may crash, too
    }
    std::string how = Watch(child, workers);
    // A child that says it finished but left its first piece open would be started for ever.
    if (how.empty() && workers.first_open() == first) how = "nothing done";
    if (how.empty()) continue;
    if (!workers.died(how)) return false;
    if (how == "nothing done" && previous == first) return false;
    previous = first;
  }
}

namespace internal {

std::shared_ptr<void> SharedMemory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {memory, [bytes](void* p) { munmap(p, bytes); }};
}

}  // namespace internal
}  // namespace weft::perf
