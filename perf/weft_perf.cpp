// weft_perf: our int8 convolutions in every layout against cuDNN and cuBLASLt, side by side in one
// run. perf/README.md says how to run and read it.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "perf/peers/anchors.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/layer_rows.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/statistics.hpp"
#include "perf/support/workers.hpp"
#include "perf/weft_perf/bench.hpp"
#include "perf/weft_perf/ours.hpp"

ABSL_FLAG(std::string, list, "anchors", "layer list of perf/layers/");
ABSL_FLAG(std::vector<std::string>, layer, {}, "layers by name, instead of a list");
ABSL_FLAG(std::vector<std::string>, batch, {"1"}, "batches, such as 1,16,64");
ABSL_FLAG(std::vector<std::string>, layout, {"all"}, "our layouts: nc32, nhwc, or all");
ABSL_FLAG(std::vector<std::string>, peer, {"all"}, "peers (see perf/peers/peer.hpp), all or none");
ABSL_FLAG(std::string, filter, "", "only layers whose name contains this");
ABSL_FLAG(std::string, tile, "", "only tiles whose name contains this");
ABSL_FLAG(int, repetitions, 15, "samples of each contestant");
ABSL_FLAG(bool, hot, false, "one set of buffers, which stays in the L2");
ABSL_FLAG(bool, graph, true, "launch by CUDA graphs");
ABSL_FLAG(bool, sweep, false, "print the time of every tile of ours");
ABSL_FLAG(std::string, csv, "", "file for one line for each row");
ABSL_FLAG(std::string, json, "", "folder for one JSON file for each batch");
ABSL_FLAG(std::string, cache, "", "file of choices: read if there, rewritten at the end");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON files");
ABSL_FLAG(int, threads, 1, "threads with which peers compile; 1 again after a crash");
ABSL_FLAG(double, stop_after_s, 500, "start no further row after so many seconds");
ABSL_FLAG(bool, once, false, "run each tile once and compare; no timing (for profilers)");

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRows = 1024;
constexpr int kMostSkips = 16;  // variants of one row that may crash; then the row is given up

// Shared by the worker, which measures, and its parent, which outlives a crash of the worker.
struct Board {
  Environment environment;
  volatile int job = 0;
  volatile int beats = 0;
  Text<200> doing;    // "peer/variant", or a step without a stroke
  Text<240> failure;  // of the whole run
  Text<160> libraries[4];
  struct Entry {
    LayerRow row;
    Text<200> skipped[kMostSkips];
    int skips = 0;
  } entries[kMaxRows];
};

struct Job {
  conv::Problem problem;
  int count = 1;
  std::string name() const { return LayerName(problem); }
};

struct Run {
  std::string list;  // name of the result files
  std::vector<int> batches;
  std::vector<Job> jobs;
  BenchOptions options;
  // "layer n peer" -> variant, from the cache.
  std::map<std::string, std::string> chosen;
  Clock::time_point start = Clock::now();
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

std::string Key(const Job& job, const std::string& peer) {
  return absl::StrCat(job.name(), "\t", job.problem.n, "\t", peer);
}

// Lines "layer <tab> n <tab> peer <tab> variant".
void ReadCache(const std::string& path, Run* run) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.rfind('\t');
    if (end != std::string::npos) run->chosen[line.substr(0, end)] = line.substr(end + 1);
  }
}

absl::StatusOr<std::vector<Layer>> Layers(Run* run) {
  const std::vector<std::string> names = absl::GetFlag(FLAGS_layer);
  if (names.empty()) {
    run->list = absl::GetFlag(FLAGS_list);
    return LayerList(run->list);
  }
  run->list = "layers";
  std::vector<Layer> layers;
  for (const std::string& name : names) {
    absl::StatusOr<Layer> layer = ParseLayer(name);
    if (!layer.ok()) return layer.status();
    layers.push_back(*layer);
  }
  return layers;
}

absl::Status MakeJobs(Run* run) {
  const absl::StatusOr<std::vector<Layer>> layers = Layers(run);
  if (!layers.ok()) return layers.status();
  const std::string filter = absl::GetFlag(FLAGS_filter);
  for (const std::string& text : absl::GetFlag(FLAGS_batch)) {
    int batch = 0;
    if (!absl::SimpleAtoi(text, &batch) || batch < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--batch=", text, " is not a positive number; give such as 1,16,64"));
    }
    run->batches.push_back(batch);
    for (const Layer& layer : *layers) {
      Job job{layer.problem, layer.count};
      if (!layer.has_batch) job.problem.n = batch;
      if (job.name().find(filter) != std::string::npos) run->jobs.push_back(job);
    }
  }
  if (run->jobs.empty() || run->jobs.size() > kMaxRows) {
    return absl::InvalidArgumentError(
        absl::StrCat(run->jobs.size(), " layers and batches; 1 to ", kMaxRows, " are possible"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Run> MakeRun() {
  Run run;
  if (absl::Status s = MakeJobs(&run); !s.ok()) return s;
  BenchOptions& o = run.options;
  o.layouts = absl::GetFlag(FLAGS_layout);
  if (o.layouts == std::vector<std::string>{"all"}) o.layouts = OurLayouts();
  o.peers = absl::GetFlag(FLAGS_peer);
  if (o.peers == std::vector<std::string>{"all"}) o.peers = PeerNames();
  if (o.peers == std::vector<std::string>{"none"}) o.peers.clear();
  for (const std::string& name : o.layouts) {
    if (absl::Status s = CheckLayout(name); !s.ok()) return s;
  }
  for (const std::string& name : o.peers) {
    if (absl::Status s = CheckPeerName(name); !s.ok()) return s;
  }
  if (o.layouts.size() > kMostLayouts || o.peers.size() > kMostPeers) {
    return absl::InvalidArgumentError("--layout or --peer names something twice");
  }
  o.rounds = absl::GetFlag(FLAGS_repetitions);
  o.hot = absl::GetFlag(FLAGS_hot);
  o.graph = absl::GetFlag(FLAGS_graph);
  o.time = !absl::GetFlag(FLAGS_once);
  if (!o.time) o.peers.clear();
  o.only_tile = absl::GetFlag(FLAGS_tile);
  o.build_threads = absl::GetFlag(FLAGS_threads);
  ReadCache(absl::GetFlag(FLAGS_cache), &run);
  return run;
}

void PrintHeader(const Run& run) {
  std::printf("%-22s %3s", "layer", "N");
  for (const std::string& name : run.options.layouts) std::printf(" %8s", name.c_str());
  for (const std::string& name : run.options.peers)
    std::printf(" %8.8s", name.substr(name.find('_') + 1).c_str());
  std::printf(" %6s %7s %6s %6s | %7s %7s | %5s %4s  %s\n", "ratio", "floor", "TOPS", "GB/s",
              "a.cudnn", "a.f16", "clock", "bad", "kernel; peer; status");
}

void PrintRow(const Run& run, const LayerRow& row) {
  std::printf("%-22s %3d", row.layer.chars, row.batch);
  const auto time = [](const Contender& c) {
    const double us = c.time.us > 0 ? c.time.us : c.short_us;
    us > 0 ? std::printf(" %8.2f", us) : std::printf(" %8s", "-");
  };
  for (std::size_t i = 0; i < run.options.layouts.size(); ++i) time(row.ours[i]);
  for (std::size_t i = 0; i < run.options.peers.size(); ++i) time(row.peers[i]);
  const double ours = row.OursUs(), peer = row.PeerUs();
  const Anchor* const anchor = FindAnchor(row.layer.Get(), row.batch);
  std::printf(" %6.2f %7.2f %6.0f %6.0f | %7.1f %7.1f | %5.0f %4lld ", ours > 0 ? peer / ours : 0.0,
              row.floor_us, ours > 0 ? 2e-6 * row.macs / ours : 0.0,
              ours > 0 ? 1e-3 * row.bytes / ours : 0.0, anchor != nullptr ? anchor->cudnn_us : 0.0,
              anchor != nullptr ? anchor->f16_us : 0.0, row.clock_mhz, row.Mismatches());
  for (std::size_t i = 0; i < run.options.layouts.size(); ++i) {
    std::printf("%s%s", i > 0 ? "," : " ", row.ours[i].variant.chars);
  }
  std::printf("; %s; %s (%.1f s, at %.0f)\n",
              row.best_peer >= 0 ? row.peers[row.best_peer].name.chars : "none",
              row.Status().c_str(), row.seconds, run.Seconds());
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
    Board::Entry& entry = board->entries[i];
    if (entry.row.done) continue;
    board->job = i;
    board->beats = board->beats + 1;
    if (run.Seconds() > absl::GetFlag(FLAGS_stop_after_s)) {
      entry.row.failure.Set("not run: --stop_after_s was reached");
      entry.row.done = 1;
      continue;
    }
    BenchOptions options = run.options;
    for (int k = 0; k < entry.skips; ++k) options.skip.insert(entry.skipped[k].Get());
    for (const std::string& peer : options.peers) {
      const auto found = run.chosen.find(Key(run.jobs[i], peer));
      if (found != run.chosen.end()) options.chosen[peer] = found->second;
    }
    const auto about_to = [board](const std::string& what) {
      board->doing.Set(what);
      board->beats = board->beats + 1;
    };
    const bool alive = bench->Measure(run.jobs[i].problem, options, about_to, &entry.row);
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

LayerRow FreshRow(const Job& job) {
  LayerRow row;
  row.layer.Set(job.name());
  row.batch = static_cast<int>(job.problem.n);
  row.count = job.count;
  return row;
}

// Works off every job in children. False if there is no GPU.
bool MeasureAll(const Run& run, Board* board) {
  Workers workers;
  workers.beats = &board->beats;
  workers.first_open = [&run, board] {
    for (int i = 0; i < static_cast<int>(run.jobs.size()); ++i) {
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
    entry.row = FreshRow(run.jobs[board->job]);
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

// The names of our tiles, without a GPU.
std::vector<std::string> TileNames(const std::string& layout) {
  std::vector<std::string> names;
  const std::unique_ptr<Peer> ours = MakeOurs(layout);
  if (ours == nullptr) return names;
  for (const Peer::Variant& v : ours->variants()) names.push_back(v.name);
  return names;
}

void PrintSweep(const Run& run, const Board& board) {
  for (std::size_t l = 0; l < run.options.layouts.size(); ++l) {
    const std::vector<std::string> tiles = TileNames(run.options.layouts[l]);
    std::printf("\n%s, us of every tile (short measurement)\n%-22s %3s",
                run.options.layouts[l].c_str(), "layer", "N");
    for (const std::string& tile : tiles) std::printf(" %9.9s", tile.c_str() + 4);
    std::printf("\n%26s", "");
    for (const std::string& tile : tiles) {
      std::printf(" %9s", tile.size() > 13 ? tile.c_str() + 13 : "");
    }
    std::printf("\n");
    for (std::size_t i = 0; i < run.jobs.size(); ++i) {
      const LayerRow& row = board.entries[i].row;
      std::printf("%-22s %3d", row.layer.chars, row.batch);
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        std::printf(" %8.2f%c", row.ours[l].tile_us[t],
                    static_cast<int>(t) == row.ours[l].best ? '*' : ' ');
      }
      std::printf("\n");
    }
  }
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

LayerResults Results(const Run& run, const Board& board, int batch) {
  LayerResults r;
  r.list = run.list;
  r.batch = batch;
  r.commit = absl::GetFlag(FLAGS_commit);
  r.date = Today();
  r.environment = board.environment;
  r.layouts = run.options.layouts;
  r.peers = run.options.peers;
  for (const std::string& layout : r.layouts) r.tiles.push_back(TileNames(layout));
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) r.libraries.push_back(library.Get());
  }
  r.tensor_tops = kTensorTops;
  r.hot = run.options.hot;
  r.graph = run.options.graph;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    if (board.entries[i].row.batch == batch) r.rows.push_back(board.entries[i].row);
  }
  return r;
}

// False, with a message, if that fails.
bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (file.flush()) return true;
  std::fprintf(stderr, "weft_perf: cannot write %s\n", path.c_str());
  return false;
}

// The peers' choices, for a second run, which then needs to try nothing else.
std::string CacheText(const Run& run, const Board& board) {
  std::map<std::string, std::string> chosen = run.chosen;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    for (const Contender& c : board.entries[i].row.peers) {
      if (c.best >= 0) chosen[Key(run.jobs[i], c.name.Get())] = c.variant.Get();
    }
  }
  std::string text;
  for (const auto& [key, variant] : chosen) absl::StrAppend(&text, key, "\t", variant, "\n");
  return text;
}

// 0 if every row is exact and measured, and every file written.
int Report(const Run& run, const Board& board) {
  bool fine = true;
  std::string csv;
  const std::string folder = absl::GetFlag(FLAGS_json);
  for (const int batch : run.batches) {
    const LayerResults results = Results(run, board, batch);
    const LayerComparison c = CompareRows(results.rows);
    fine = fine && c.failed == 0;
    std::printf(
        "N=%-3d best peer / ours %.3f over %d layers, %d at least as fast; ours / floor %.2f; "
        "model's tile / best tile %.3f; %d failed\n",
        batch, c.geomean, c.rows, c.won, c.over_floor, c.model_over_best, c.failed);
    csv += LayerResultsCsv(results, csv.empty());
    if (!folder.empty()) {
      fine = Write(absl::StrCat(folder, "/", run.list, "-n", batch, ".json"),
                   LayerResultsJson(results)) &&
             fine;
    }
  }
  if (const std::string path = absl::GetFlag(FLAGS_csv); !path.empty()) {
    fine = Write(path, csv) && fine;
  }
  if (const std::string path = absl::GetFlag(FLAGS_cache); !path.empty()) {
    fine = Write(path, CacheText(run, board)) && fine;
  }
  const Environment& e = board.environment;
  std::printf(
      "%s, driver %s, CUDA %s; copy %.2f TB/s; clock %.0f to %.0f MHz, %.0f W, throttle 0x%llx\n",
      e.device.chars, e.driver.chars, e.cuda.chars, e.copy_tb_s, e.first_clock_mhz,
      e.last_clock_mhz, e.watts, e.throttle_reasons);
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) std::printf("%s\n", library.chars);
  }
  return fine ? 0 : 1;
}

int Main() {
  absl::StatusOr<Run> run = MakeRun();
  if (!run.ok()) {
    std::fprintf(stderr, "weft_perf: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  // CUDA must not be touched before fork().
  const std::shared_ptr<Board> board = MakeShared<Board>();
  if (board == nullptr) {
    std::fprintf(stderr, "weft_perf: no shared memory\n");
    return 3;
  }
  for (std::size_t i = 0; i < run->jobs.size(); ++i) board->entries[i].row = FreshRow(run->jobs[i]);
  PrintHeader(*run);
  if (!MeasureAll(*run, board.get())) {
    std::fprintf(stderr, "weft_perf: %s\n", board->failure.chars);
    return 3;
  }
  if (absl::GetFlag(FLAGS_sweep)) PrintSweep(*run, *board);
  return Report(*run, *board);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("int8 convolutions against cuDNN and cuBLASLt (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
  return weft::perf::Main();
}
