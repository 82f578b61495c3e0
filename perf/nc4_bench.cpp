// nc4_bench: int8 convolution + scale per channel + bias + ReLU over NCxHWx<4>, every tile of a
// family, against cuDNN's INT8x4 path. perf/README.md says how to run and read it.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/nc4_bench/bench.hpp"
#include "perf/nc4_bench/family.hpp"
#include "perf/support/floor.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/results.hpp"
#include "perf/support/workers.hpp"
#include "weft/conv/tile_model.hpp"

ABSL_FLAG(std::string, list, "anchors", "layer list of perf/layers/");
ABSL_FLAG(std::vector<std::string>, layer, {}, "layers by name, instead of a list");
ABSL_FLAG(std::vector<std::string>, batch, {"1"}, "batches, such as 1,16,64");
ABSL_FLAG(std::string, json, "", "folder for one JSON file for each batch");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON files");
ABSL_FLAG(bool, peer, true, "measure cuDNN too");
ABSL_FLAG(int, rounds, 15, "samples of each contestant");
ABSL_FLAG(std::string, tile, "", "measure this tile alone");
ABSL_FLAG(double, stop_after_s, 300, "start no further layer after so many seconds");
ABSL_FLAG(bool, once, false, "run each tile once and compare; no timing (for profilers)");
ABSL_FLAG(bool, plan, false, "print floors and the model's choices for an H200; needs no GPU");

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRows = 512;

enum Stage : int { kOurs, kPeer };

// Shared by the worker, which measures, and its parent, which outlives a crash of the worker.
struct Board {
  Environment environment;
  volatile int job = 0;
  volatile int stage = kOurs;
  volatile int beats = 0;
  Text<96> detail;    // what the peer is doing
  Text<240> failure;  // of the whole run
  Row rows[kMaxRows];
};

struct Job {
  conv::Problem problem;
  int batch = 0;
};

struct Run {
  std::string list;  // name of the result files
  std::vector<int> batches;
  std::vector<Job> jobs;
  BenchOptions options;
  Clock::time_point start = Clock::now();
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

std::vector<std::string> TileNames() {
  std::vector<std::string> names;
  for (const Tile& tile : Family()) names.push_back(tile.name);
  return names;
}

absl::StatusOr<Run> MakeRun() {
  Run run;
  std::vector<Layer> layers;
  if (const std::vector<std::string> names = absl::GetFlag(FLAGS_layer); !names.empty()) {
    run.list = "layers";
    for (const std::string& name : names) {
      absl::StatusOr<Layer> layer = ParseLayer(name);
      if (!layer.ok()) return layer.status();
      layers.push_back(*layer);
    }
  } else {
    run.list = absl::GetFlag(FLAGS_list);
    absl::StatusOr<std::vector<Layer>> list = LayerList(run.list);
    if (!list.ok()) return list.status();
    layers = *list;
  }
  for (const std::string& text : absl::GetFlag(FLAGS_batch)) {
    int batch = 0;
    if (!absl::SimpleAtoi(text, &batch) || batch < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--batch=", text, " is not a positive number; give such as 1,16,64"));
    }
    run.batches.push_back(batch);
    for (const Layer& layer : layers) {
      Job job{layer.problem, batch};
      job.problem.n = batch;
      run.jobs.push_back(job);
    }
  }
  if (run.jobs.empty() || run.jobs.size() > kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat(run.jobs.size(), " layers and batches; 1 to ", kMaxRows, " are possible"));
  }
  run.options.rounds = absl::GetFlag(FLAGS_rounds);
  run.options.with_peer = absl::GetFlag(FLAGS_peer);
  if (const std::string tile = absl::GetFlag(FLAGS_tile); !tile.empty()) {
    const std::vector<std::string> names = TileNames();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == tile) run.options.only_tile = static_cast<int>(i);
    }
    if (run.options.only_tile < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--tile=", tile, " does not exist; the tiles are ", absl::StrJoin(names, ", ")));
    }
  }
  return run;
}

void PrintHeader() {
  std::printf("%-24s %4s %9s %9s %6s %9s %6s %7s %5s %4s %5s  %s\n", "layer", "N", "ours us",
              "cudnn us", "ratio", "model us", "TOPS", "floor", "clock", "bad", "diff",
              "kernel; status");
}

void PrintRow(const Row& row, double seconds) {
  const double ours = row.ours.us, peer = row.peer.us;
  std::printf("%-24s %4d %9.2f %9.2f %6.2f %9.2f %6.1f %7.2f %5.0f %4lld %5lld  %s; %s (%.0f s)\n",
              row.layer.Get().c_str(), row.batch, ours, peer, ours > 0 ? peer / ours : 0.0,
              row.chosen.us, ours > 0 ? 2e-6 * row.macs / ours : 0.0, row.floor_us, row.clock_mhz,
              row.mismatches, row.peer_differences,
              row.best >= 0 ? Family()[row.best].name.c_str() : "none", row.Status().c_str(),
              seconds);
  std::fflush(stdout);
}

// The exit status of a worker.
enum Ending : int { kFinished = 0, kNoGpu = 10, kGpuLost = 11 };

int Work(const Run& run, Board* board, int first) {
  absl::StatusOr<std::unique_ptr<Bench>> created = Bench::Create(&board->environment);
  if (!created.ok()) {
    board->failure.Set(created.status().ToString());
    return kNoGpu;
  }
  // Never destroyed: the process ends, and cuDNN may crash when it is closed.
  Bench* const bench = created->release();
  for (int i = first; i < static_cast<int>(run.jobs.size()); ++i) {
    Row& row = board->rows[i];
    if (row.done) continue;
    board->job = i;
    board->stage = kOurs;
    board->beats = board->beats + 1;
    if (run.Seconds() > absl::GetFlag(FLAGS_stop_after_s)) {
      row.failure.Set("not run: --stop_after_s was reached");
      row.done = 1;
      continue;
    }
    const auto before_peer = [board](const std::string& what) {
      board->detail.Set(what);
      board->stage = kPeer;
      board->beats = board->beats + 1;
    };
    const bool alive = bench->Measure(run.jobs[i].problem, run.options, before_peer, &row);
    // A GPU fault after cuDNN was called is a cuDNN failure: measure the row again without it.
    if (!alive) return kGpuLost;
    PrintRow(row, run.Seconds());
  }
  return kFinished;
}

// Works off every job in children. False if there is no GPU.
bool MeasureAll(const Run& run, Board* board) {
  const int count = static_cast<int>(run.jobs.size());
  Workers workers;
  workers.beats = &board->beats;
  workers.first_open = [=] {
    for (int i = 0; i < count; ++i) {
      if (!board->rows[i].done) return i;
    }
    return -1;
  };
  workers.work = [&run, board](int first) {
    board->job = first;
    board->stage = kOurs;
    return Work(run, board, first);
  };
  workers.died = [&run, board](const std::string& how) {
    if (!board->failure.empty()) return false;  // no GPU
    // The row starts afresh: without the peer if it was the peer's turn, else it is given up.
    Row& row = board->rows[board->job];
    Row again;
    again.layer = row.layer;
    again.batch = row.batch;
    if (board->stage == kPeer && row.peer_note.empty()) {
      again.peer_note.Set(absl::StrCat("cuDNN failed: ", how, " in ", board->detail.Get()));
    } else {
      again.failure.Set(absl::StrCat("the measuring process ended: ", how,
                                     row.failure.empty() ? "" : "; ", row.failure.Get()));
      again.done = 1;
      PrintRow(again, run.Seconds());
    }
    row = again;
    return true;
  };
  return RunWorkers(workers);
}

// The layers that no GPU is needed for.
int Plan(const Run& run) {
  const conv::GpuFacts h200;
  const Ceilings ceilings{h200.bytes_per_us,
                          Dp4aMacsPerMicrosecond(h200.limits.sm_count, h200.clock_mhz)};
  std::vector<conv::TileFacts> facts;
  for (const Tile& tile : Family()) facts.push_back(tile.facts);
  std::printf("%-24s %4s %9s %9s  %s\n", "layer", "N", "floor us", "model us", "model's choice");
  for (const Job& job : run.jobs) {
    const int tile = conv::ChooseTile(job.problem, facts, h200);
    std::printf("%-24s %4d %9.2f %9.2f  %s\n", LayerName(job.problem).c_str(), job.batch,
                FloorMicroseconds(job.problem, ceilings),
                conv::Predict(job.problem, facts[tile], h200).microseconds,
                Family()[tile].name.c_str());
  }
  return 0;
}

// In this process, no timing: what a profiler or a checker wants.
int Once(const Run& run) {
  Environment environment;
  absl::StatusOr<std::unique_ptr<Bench>> bench = Bench::Create(&environment);
  if (!bench.ok()) {
    std::fprintf(stderr, "nc4_bench: %s\n", bench.status().ToString().c_str());
    return 3;
  }
  long long mismatches = 0;
  for (const Job& job : run.jobs) {
    Row row;
    const absl::Status status = (*bench)->RunOnce(job.problem, run.options, &row);
    std::printf("%-24s %4d %lld mismatches %s\n", LayerName(job.problem).c_str(), job.batch,
                row.mismatches, status.ok() ? "" : status.ToString().c_str());
    mismatches += row.mismatches + (status.ok() ? 0 : 1);
  }
  return mismatches == 0 ? 0 : 1;
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

void PrintComparison(const char* name, const Comparison& c) {
  std::printf(
      "%-8s cudnn/ours geometric mean %.3f, %d of %d layers at least as fast; model's "
      "choice %.3f (%.3f of the best tile's time); %d failed\n",
      name, c.geomean, c.won, c.rows, c.model_geomean, c.model_loss, c.failed);
}

// 0 if every row is exact and measured.
int Report(const Run& run, const Board& board) {
  const Environment& e = board.environment;
  std::vector<Row> all(board.rows, board.rows + run.jobs.size());
  const Comparison everything = Compare(all);
  std::printf(
      "\n%s, driver %s, CUDA %s, cuDNN %s (%s)\ncopy %.2f TB/s, dp4a %.1f TOPS measured; "
      "clock %.0f to %.0f MHz under load (max %.0f), %.0f W, throttle reasons 0x%llx\n",
      e.device.chars, e.driver.chars, e.cuda.chars, e.cudnn.chars, e.cudnn_path.chars, e.copy_tb_s,
      e.dp4a_tops, e.first_clock_mhz, e.last_clock_mhz, e.max_clock_mhz, e.watts,
      e.throttle_reasons);
  const std::string folder = absl::GetFlag(FLAGS_json);
  bool written = true;
  for (const int batch : run.batches) {
    std::vector<Row> rows;
    for (const Row& row : all) {
      if (row.batch == batch) rows.push_back(row);
    }
    PrintComparison(absl::StrCat("N=", batch).c_str(), Compare(rows));
    if (folder.empty()) continue;
    const std::string path = absl::StrCat(folder, "/", run.list, "-nc4-n", batch, ".json");
    std::ofstream file(path);
    file << ResultsJson(run.list, batch, absl::GetFlag(FLAGS_commit), Today(), e, TileNames(), rows,
                        everything);
    if (!file.flush()) {
      std::fprintf(stderr, "nc4_bench: cannot write %s\n", path.c_str());
      written = false;
    }
  }
  PrintComparison("all", everything);
  return everything.failed == 0 && written ? 0 : 1;
}

int Main() {
  absl::StatusOr<Run> run = MakeRun();
  if (!run.ok()) {
    std::fprintf(stderr, "nc4_bench: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  if (absl::GetFlag(FLAGS_plan)) return Plan(*run);
  if (absl::GetFlag(FLAGS_once)) return Once(*run);
  // CUDA must not be touched before fork().
  const std::shared_ptr<Board> board = MakeShared<Board>();
  if (board == nullptr) {
    std::fprintf(stderr, "nc4_bench: no shared memory\n");
    return 3;
  }
  for (std::size_t i = 0; i < run->jobs.size(); ++i) {
    board->rows[i].layer.Set(LayerName(run->jobs[i].problem));
    board->rows[i].batch = run->jobs[i].batch;
  }
  PrintHeader();
  if (!MeasureAll(*run, board.get())) {
    std::fprintf(stderr, "nc4_bench: %s\n", board->failure.chars);
    return 3;
  }
  return Report(*run, *board);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "int8 convolutions over NCxHWx<4> against cuDNN's INT8x4 path (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
  return weft::perf::Main();
}
