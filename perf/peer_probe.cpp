// peer_probe: every variant of every peer, checked and timed, next to the measured anchors.
//
//     peer_probe --list=anchors --batch=64 --peer=all --csv=variants.csv
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "perf/peer_probe/probe.hpp"
#include "perf/peers/anchors.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/statistics.hpp"
#include "perf/support/workers.hpp"

ABSL_FLAG(std::string, list, "anchors", "layer list of perf/layers/");
ABSL_FLAG(std::vector<std::string>, layer, {}, "layers by name, instead of a list");
ABSL_FLAG(std::vector<std::string>, batch, {"64"}, "batches, such as 1,16,64");
ABSL_FLAG(std::vector<std::string>, peer, {"all"}, "peers, or all");
ABSL_FLAG(bool, relu, true, "with ReLU");
ABSL_FLAG(bool, residual, false, "with a residual");
ABSL_FLAG(double, gamma, 0.5, "factor of the residual");
ABSL_FLAG(bool, every_form, false, "also other graphs that say the same");
ABSL_FLAG(bool, every_knob, false, "also settings that cuDNN's heuristics do not name");
ABSL_FLAG(int, threads, 1, "threads that compile plans; back to 1 for a row whose worker died");
ABSL_FLAG(int, most_variants, 1000, "of each peer, the first so many variants");
ABSL_FLAG(std::string, csv, "", "file to which a line for each variant is added");
ABSL_FLAG(double, stop_after_s, 1000, "start no further row after so many seconds");

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRows = 2048;
constexpr int kMaxSkipped = 16;  // variants of a row; then the row is given up

// Shared by the worker, which measures, and its parent, which outlives a crash of the worker.
struct Board {
  volatile int row = 0;
  volatile int beats = 0;
  Text<160> doing;
  Text<240> failure;  // of the whole run
  Text<160> libraries[4];
  struct Entry {
    ProbeRow row;
    Text<160> skipped[kMaxSkipped];
    int skips = 0;
  } entries[kMaxRows];
};

struct Run {
  std::vector<conv::Problem> problems;
  std::vector<std::string> peers;
  Clock::time_point start = Clock::now();
  int rows() const { return static_cast<int>(problems.size() * peers.size()); }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

absl::StatusOr<Run> MakeRun() {
  Run run;
  std::vector<Layer> layers;
  for (const std::string& name : absl::GetFlag(FLAGS_layer)) {
    absl::StatusOr<Layer> layer = ParseLayer(name);
    if (!layer.ok()) return layer.status();
    layers.push_back(*layer);
  }
  if (layers.empty()) {
    absl::StatusOr<std::vector<Layer>> list = LayerList(absl::GetFlag(FLAGS_list));
    if (!list.ok()) return list.status();
    layers = *list;
  }
  for (const std::string& text : absl::GetFlag(FLAGS_batch)) {
    int batch = 0;
    if (!absl::SimpleAtoi(text, &batch) || batch < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--batch=", text, " is not a positive number; give such as 1,16,64"));
    }
    for (Layer& layer : layers) {
      layer.problem.n = batch;
      run.problems.push_back(layer.problem);
    }
  }
  run.peers = absl::GetFlag(FLAGS_peer);
  if (run.peers == std::vector<std::string>{"all"}) run.peers = PeerNames();
  for (const std::string& name : run.peers) {
    if (absl::Status s = CheckPeerName(name); !s.ok()) return s;
  }
  if (run.rows() > kMaxRows) {
    return absl::InvalidArgumentError(absl::StrCat(run.rows(), " rows; at most ", kMaxRows));
  }
  return run;
}

void PrintRow(const Run& run, int index, const ProbeRow& row) {
  const conv::Problem& p = run.problems[index / run.peers.size()];
  const std::string& peer = run.peers[index % run.peers.size()];
  std::printf("%-24s %4d %-14s %8.2f us  %3d of %3d  diff %lld max %d  %s%s%s (%.1f s, at %.0f)\n",
              LayerName(p).c_str(), static_cast<int>(p.n), peer.c_str(), row.us, row.ran,
              row.variants, row.differences, row.largest, row.best.chars,
              row.note.empty() ? "" : "; ", row.note.chars, row.seconds, run.Seconds());
  if (row.partial_us > 0) {
    std::printf("%-44s %8.2f us  only %s\n", "", row.partial_us, row.partial.chars);
  }
  std::fflush(stdout);
}

enum Ending : int { kFinished = 0, kNoGpu = 10, kGpuLost = 11 };

int Work(const Run& run, Board* board, int first) {
  Probe probe;
  if (absl::Status s = probe.Init(absl::GetFlag(FLAGS_csv)); !s.ok()) {
    board->failure.Set(s.ToString());
    return kNoGpu;
  }
  for (int i = first; i < run.rows(); ++i) {
    Board::Entry& entry = board->entries[i];
    if (entry.row.done) continue;
    board->row = i;
    if (run.Seconds() > absl::GetFlag(FLAGS_stop_after_s)) {
      entry.row.note.Set("not started: no time left");
      entry.row.done = 1;
      continue;
    }
    PeerProblem problem;
    problem.problem = run.problems[i / run.peers.size()];
    problem.relu = absl::GetFlag(FLAGS_relu);
    problem.residual = absl::GetFlag(FLAGS_residual);
    problem.gamma = static_cast<float>(absl::GetFlag(FLAGS_gamma));
    PeerOptions options;
    options.every_form = absl::GetFlag(FLAGS_every_form);
    options.every_knob = absl::GetFlag(FLAGS_every_knob);
    for (int k = 0; k < entry.skips; ++k) options.skip.insert(entry.skipped[k].Get());
    options.most_variants = absl::GetFlag(FLAGS_most_variants);
    options.build_threads = entry.skips > 0 ? 1 : absl::GetFlag(FLAGS_threads);
    options.about_to = [board](const std::string& what) {
      board->doing.Set(what);
      board->beats = board->beats + 1;
    };
    const bool usable =
        probe.Measure(problem, run.peers[i % run.peers.size()], options, &entry.row);
    const std::vector<std::string> libraries = PeerLibraries();
    for (std::size_t k = 0; k < libraries.size() && k < std::size(board->libraries); ++k) {
      board->libraries[k].Set(libraries[k]);
    }
    PrintRow(run, i, entry.row);
    if (!usable) return kGpuLost;
  }
  return kFinished;
}

bool MeasureAll(const Run& run, Board* board) {
  Workers workers;
  workers.beats = &board->beats;
  workers.first_open = [&run, board] {
    for (int i = 0; i < run.rows(); ++i) {
      if (!board->entries[i].row.done) return i;
    }
    return -1;
  };
  workers.work = [&run, board](int first) { return Work(run, board, first); };
  workers.died = [&run, board](const std::string& how) {
    if (!board->failure.empty()) return false;
    Board::Entry& entry = board->entries[board->row];
    if (entry.row.done) return true;  // the GPU was lost after the row
    std::printf("worker died: %s in '%s'\n", how.c_str(), board->doing.chars);
    if (entry.skips == kMaxSkipped) {
      entry.row.note.Set(absl::StrCat("given up: ", how, " in ", board->doing.Get()));
      entry.row.done = 1;
      PrintRow(run, board->row, entry.row);
      return true;
    }
    entry.skipped[entry.skips++] = board->doing;
    return true;
  };
  return RunWorkers(workers);
}

// How the run compares with the anchors, and the best of each peer.
void Report(const Run& run, const Board& board) {
  std::printf("\n%-24s %4s", "layer", "N");
  for (const std::string& peer : run.peers) std::printf(" %13s", peer.c_str());
  std::printf(" %9s %6s %9s %6s\n", "anchor", "ratio", "f16 anch.", "ratio");
  int above = 0, within = 0;
  std::vector<double> ratios;
  for (std::size_t job = 0; job < run.problems.size(); ++job) {
    const conv::Problem& p = run.problems[job];
    std::printf("%-24s %4d", LayerName(p).c_str(), static_cast<int>(p.n));
    double int8 = 0.0, f16 = 0.0;
    for (std::size_t i = 0; i < run.peers.size(); ++i) {
      const double us = board.entries[job * run.peers.size() + i].row.us;
      std::printf(" %13.2f", us);
      if (us <= 0.0) continue;
      if (run.peers[i] == "cudnn_f16") {
        f16 = us;
      } else if (run.peers[i] != "cublaslt" && (int8 == 0.0 || us < int8)) {
        int8 = us;
      }
    }
    const Anchor* const anchor = FindAnchor(LayerName(p), static_cast<int>(p.n));
    if (anchor != nullptr) {
      // Only what this run measured is compared.
      const double ratio = int8 / anchor->cudnn_us;
      std::printf(" %9.1f %6.2f %9.1f %6.2f", anchor->cudnn_us, ratio, anchor->f16_us,
                  anchor->f16_us > 0 ? f16 / anchor->f16_us : 0.0);
      if (int8 > 0) ratios.push_back(ratio);
      if (anchor->cudnn_us > 10.0 && int8 > 0) {
        ++above;
        within += ratio > 0.9 && ratio < 1.1;
      }
    }
    std::printf("\n");
  }
  std::printf(
      "this run / anchor: geometric mean %.3f over %d layers; %d of %d above 10 us are within "
      "10%%\n",
      GeometricMean(ratios), static_cast<int>(ratios.size()), within, above);
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) std::printf("%s\n", library.chars);
  }
}

int Main() {
  const absl::StatusOr<Run> run = MakeRun();
  if (!run.ok()) {
    std::fprintf(stderr, "peer_probe: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  // CUDA must not be touched before fork().
  const std::shared_ptr<Board> board = MakeShared<Board>();
  if (board == nullptr) {
    std::fprintf(stderr, "peer_probe: no shared memory\n");
    return 3;
  }
  if (!MeasureAll(*run, board.get())) {
    std::fprintf(stderr, "peer_probe: %s\n", board->failure.chars);
    return 3;
  }
  Report(*run, *board);
  return 0;
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("cuDNN and cuBLASLt on a list of layers, against measured anchors");
  absl::ParseCommandLine(argc, argv);
  return weft::perf::Main();
}
