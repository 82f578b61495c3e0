#include "perf/support/rows.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"

namespace weft::perf {
namespace {

constexpr int kFinished = 0, kNoGpu = 10, kGpuLost = 11;

void WriteLine(int pipe, const Json& line) {
  const std::string text = Line(line) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(pipe, text.data() + at, text.size() - at);
    if (written <= 0) _exit(12);  // the parent is gone
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace

double RowRun::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

int RowRun::Work(const Send& send) {
  if (const absl::Status s = start(); !s.ok()) {
    send({{"failed_start", s.ToString()}});
    return kNoGpu;
  }
  for (int row = 0; row < count; ++row) {
    if (!results_[row].is_null()) continue;
    send({{"row", row}, {"about", "starting"}});
    bool alive = true;
    if (Seconds() > stop_after_s) {
      send({{"row", row},
            {"alive", true},
            {"result", failed(row, absl::StrCat(kNotRun, ": --stop_after_s was reached"))}});
      continue;
    }
    const auto about = [&](const std::string& what) { send({{"about", what}}); };
    const Json result = measure(row, skips_[row], about, send, &alive);
    // A GPU fault in another library is a crash: the row is measured again without what was under
    // way. In ours it is a result.
    send({{"row", row}, {"alive", alive}, {"result", result}});
    if (!alive) return kGpuLost;
  }
  return kFinished;
}

void RowRun::Take(const Json& line) {
  if (line.contains("failed_start")) {
    started_ = absl::UnavailableError(line["failed_start"].get<std::string>());
  } else if (line.contains("result")) {
    const int row = line["row"];
    if (!line["alive"].get<bool>() && may_skip(doing_)) return;
    results_[row] = line["result"];
    done(row, results_[row]);
  } else if (line.contains("about")) {
    if (line.contains("row")) row_ = line["row"];
    doing_ = line["about"];
  } else {
    receive(line);
  }
}

std::string RowRun::Child() {
  int ends[2];
  std::fflush(nullptr);  // or the child would print it again
  if (pipe(ends) != 0) return "could not be started";
  const pid_t child = fork();
  if (child < 0) return "could not be started";
  if (child == 0) {
    close(ends[0]);
    const int status = Work([&](const Json& line) { WriteLine(ends[1], line); });
    std::fflush(nullptr);
    _exit(status);  // not exit(): destructors of libraries may crash, too
  }
  close(ends[1]);
  std::string text;
  bool stuck = false;
  for (;;) {
    pollfd ready = {ends[0], POLLIN, 0};
    if (const int polled = poll(&ready, 1, stuck_ms); polled == 0) {
      stuck = true;
      kill(child, SIGKILL);
    }
    char buffer[65536];
    const ssize_t got = read(ends[0], buffer, sizeof(buffer));
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = text.find('\n')) != std::string::npos;) {
      const Json line = Json::parse(text.substr(0, end), nullptr, false);
      text.erase(0, end + 1);
      if (line.is_object()) Take(line);
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (stuck) return absl::StrCat("silent for ", stuck_ms / 1000.0, " s");
  if (WIFSIGNALED(status)) return absl::StrCat("signal ", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : absl::StrCat("exit ", WEXITSTATUS(status));
}

absl::StatusOr<std::vector<Json>> RowRun::Run() {
  results_ = kept;
  results_.resize(count);
  skips_.assign(count, {});
  if (!isolated) {
    (void)Work([this](const Json& line) { Take(line); });
    WEFT_TRY(started_);
    for (int row = 0; row < count; ++row) {
      if (results_[row].is_null()) done(row, results_[row] = failed(row, "the GPU was lost"));
    }
    return results_;
  }
  for (;;) {
    int open = 0;
    while (open < count && !results_[open].is_null()) ++open;
    if (open == count) return results_;
    row_ = open;
    doing_ = "starting";
    std::string how = Child();
    WEFT_TRY(started_);
    if (how.empty() && results_[open].is_null()) how = "nothing done";
    if (how.empty() || !results_[row_].is_null()) continue;  // lost after the row
    std::printf("  worker ended: %s in %s\n", how.c_str(), doing_.c_str());
    // The row starts afresh: without what crashed if that can be, else it is given up.
    if (may_skip(doing_) && static_cast<int>(skips_[row_].size()) < most_skips &&
        skips_[row_].insert(doing_).second) {
      continue;
    }
    results_[row_] = failed(row_, absl::StrCat(how, " in ", doing_));
    done(row_, results_[row_]);
  }
}

}  // namespace weft::perf
