#include "perf/weft_perf/measuring.hpp"

#include <cstdio>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "perf/support/layers.hpp"
#include "perf/support/workers.hpp"
#include "perf/weft_perf/table.hpp"

namespace weft::perf {
namespace {

// The exit status of a worker.
enum Ending : int { kFinished = 0, kNoGpu = 10, kGpuLost = 11 };

LayerRow FreshRow(const conv::Problem& problem) {
  LayerRow row;
  row.layer.Set(LayerName(problem));
  row.batch = static_cast<int>(problem.n);
  return row;
}

int Work(const Run& run, Board* board, int first) {
  absl::StatusOr<std::unique_ptr<Bench>> created = Bench::Create(&board->environment);
  if (!created.ok()) {
    board->failure.Set(created.status().ToString());
    return kNoGpu;
  }
  // Never destroyed: the process ends, and cuDNN may crash when it is closed.
  Bench* const bench = created->release();
  for (int i = first; i < static_cast<int>(run.jobs.problems.size()); ++i) {
    const conv::Problem& problem = run.jobs.problems[i];
    Board::Entry& entry = board->entries[i];
    if (entry.row.done) continue;
    board->job = i;
    board->beats = board->beats + 1;
    if (run.Seconds() > run.stop_after_s) {
      entry.row.failure.Set("not run: --stop_after_s was reached");
      entry.row.done = 1;
      continue;
    }
    BenchOptions options = run.options;
    for (int k = 0; k < entry.skips; ++k) options.skip.insert(entry.skipped[k].Get());
    for (const std::string& peer : options.peers) {
      const std::string variant = run.choices.Find(problem, run.ChoiceName(peer));
      if (!variant.empty()) options.chosen[peer] = variant;
    }
    const auto about_to = [board](const std::string& what) {
      board->doing.Set(what);
      board->beats = board->beats + 1;
    };
    const bool alive = bench->Measure(problem, options, about_to, &entry.row);
    const std::vector<std::string> libraries = PeerLibraries();
    for (std::size_t k = 0; k < libraries.size() && k < std::size(board->libraries); ++k) {
      board->libraries[k].Set(libraries[k]);
    }
    // A GPU fault in another library is a crash: measure the row again without what was under way.
    if (!alive && board->doing.Get().find('/') != std::string::npos) entry.row.done = 0;
    if (!alive) return kGpuLost;
    PrintRow(run, entry.row);
  }
  return kFinished;
}

bool IsPeers(const Run& run, const std::string& doing) {
  for (const std::string& peer : run.options.peers) {
    if (doing.rfind(peer + "/", 0) == 0) return true;
  }
  return false;
}

}  // namespace

bool MeasureAll(const Run& run, Board* board) {
  const int count = static_cast<int>(run.jobs.problems.size());
  for (int i = 0; i < count; ++i) board->entries[i].row = FreshRow(run.jobs.problems[i]);
  // Without timing no peer runs, and profilers and checkers want one process.
  if (!run.options.time) {
    (void)Work(run, board, 0);
    return board->failure.empty();
  }
  Workers workers;
  workers.beats = &board->beats;
  workers.first_open = [count, board] {
    for (int i = 0; i < count; ++i) {
      if (!board->entries[i].row.done) return i;
    }
    return -1;
  };
  workers.work = [&run, board](int first) {
    board->job = first;
    return Work(run, board, first);
  };
  workers.died = [&run, board](const std::string& how) {
    if (!board->failure.empty()) return false;  // no GPU
    Board::Entry& entry = board->entries[board->job];
    if (entry.row.done) return true;  // the GPU was lost after the row
    const std::string doing = board->doing.Get();
    std::printf("  worker ended: %s in %s\n", how.c_str(), doing.c_str());
    // The row starts afresh: without what crashed if that was a peer's, else it is given up.
    const std::string why = absl::StrCat(how, " in ", doing, "; ", entry.row.failure.Get());
    entry.row = FreshRow(run.jobs.problems[board->job]);
    if (IsPeers(run, doing) && entry.skips < kMostSkips) {
      entry.skipped[entry.skips++].Set(doing);
    } else {
      entry.row.failure.Set(why);
      entry.row.done = 1;
      PrintRow(run, entry.row);
    }
    return true;
  };
  return RunWorkers(workers);
}

}  // namespace weft::perf
