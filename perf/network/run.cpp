#include "perf/network/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "perf/network/bench.hpp"
#include "perf/network/network.hpp"
#include "perf/network/rows.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/workers.hpp"

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostBatches = 16;
constexpr int kMostSkips = 32;  // steps of one row that may crash; then the row is given up

// Shared by the worker and its parent, which outlives a crash of the worker.
struct Board {
  Environment environment;
  volatile int job = 0;
  volatile int beats = 0;
  Text<200> doing;
  Text<240> failure;  // of the whole run
  Text<160> libraries[4];
  struct Entry {
    NetworkRow row;
    Text<120> plans[kMostNetworkLayers];  // found before a crash
    Text<200> skipped[kMostSkips];
    int skips = 0;
  } entries[kMostBatches];
};

// The exit status of a worker.
enum Ending : int { kFinished = 0, kNoGpu = 10, kGpuLost = 11 };

struct Job {
  const NetworkRun& run;
  const MakeNetworkBench& make_bench;
  std::vector<Network> networks = {};  // of each batch
  Clock::time_point start = Clock::now();
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

void Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void PrintRow(const Job& job, const NetworkRow& row) {
  Print(NetworkLayerTable(row));
  Print(NetworkTableHeader());
  Print(NetworkTableLine(row));
  Print(absl::StrCat("     ", static_cast<int>(row.seconds), " s, at ",
                     static_cast<int>(job.Seconds()), " s\n"));
}

int Work(const Job& job, Board* board, int first) {
  absl::StatusOr<std::unique_ptr<NetworkBench>> created = job.make_bench(&board->environment);
  if (!created.ok()) {
    board->failure.Set(created.status().ToString());
    return kNoGpu;
  }
  // Never destroyed: the process ends, and cuDNN may crash when it is closed.
  NetworkBench* const bench = created->release();
  for (int i = first; i < static_cast<int>(job.networks.size()); ++i) {
    Board::Entry& entry = board->entries[i];
    if (entry.row.done) continue;
    board->job = i;
    if (job.Seconds() > job.run.stop_after_s) {
      entry.row.failure.Set("not run: --stop_after_s was reached");
      entry.row.done = 1;
      continue;
    }
    const Network& network = job.networks[i];
    NetworkOptions options;
    options.rounds = job.run.rounds;
    options.cudnn = job.run.cudnn;
    options.build_threads = job.run.threads;
    for (int k = 0; k < entry.skips; ++k) options.skip.insert(entry.skipped[k].Get());
    for (std::size_t k = 0; k < network.layers.size(); ++k) {
      if (!entry.plans[k].empty()) options.chosen[network.layers[k].name] = entry.plans[k].Get();
    }
    options.about_to = [board](const std::string& what) {
      board->doing.Set(what);
      board->beats = board->beats + 1;
    };
    options.chose = [&](int layer, const std::string& plan) {
      entry.plans[layer].Set(plan);
      std::printf("  N=%d %-12s ours %8.2f us, cuDNN %8.2f us with %s (at %.0f s)\n",
                  entry.row.batch, entry.row.layer[layer].name.chars,
                  entry.row.layer[layer].tile_us, entry.row.layer[layer].plan_us, plan.c_str(),
                  job.Seconds());
      std::fflush(stdout);
    };
    const bool alive = bench->Measure(network, options, &entry.row);
    const std::vector<std::string> libraries = PeerLibraries();
    for (std::size_t k = 0; k < libraries.size() && k < std::size(board->libraries); ++k) {
      board->libraries[k].Set(libraries[k]);
    }
    // A GPU fault in cuDNN is a crash: measure the row again without what was under way.
    if (!alive && absl::StartsWith(board->doing.Get(), "cudnn/")) entry.row.done = 0;
    if (!alive) return kGpuLost;
    PrintRow(job, entry.row);
  }
  return kFinished;
}

NetworkRow FreshRow(const Network& network) {
  NetworkRow row;
  row.batch = static_cast<int>(network.inputs[0].n);
  return row;
}

// False if there is no GPU.
bool MeasureAll(const Job& job, Board* board) {
  Workers workers;
  workers.beats = &board->beats;
  workers.first_open = [&job, board] {
    for (int i = 0; i < static_cast<int>(job.networks.size()); ++i) {
      if (!board->entries[i].row.done) return i;
    }
    return -1;
  };
  workers.work = [&job, board](int first) {
    board->job = first;
    return Work(job, board, first);
  };
  workers.died = [&job, board](const std::string& how) {
    if (!board->failure.empty()) return false;  // no GPU
    Board::Entry& entry = board->entries[board->job];
    if (entry.row.done) return true;  // the GPU was lost after the row
    const std::string doing = board->doing.Get();
    Print(absl::StrCat("  worker ended: ", how, " in ", doing, "\n"));
    const std::string why = absl::StrCat(how, " in ", doing, "; ", entry.row.failure.Get());
    entry.row = FreshRow(job.networks[board->job]);
    if (absl::StartsWith(doing, "cudnn/") && entry.skips < kMostSkips) {
      entry.skipped[entry.skips++].Set(doing);
    } else {
      entry.row.failure.Set(why);
      entry.row.done = 1;
      PrintRow(job, entry.row);
    }
    return true;
  };
  return RunWorkers(workers);
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

int Report(const Job& job, const Board& board) {
  NetworkResults results;
  results.network = job.run.network;
  results.commit = job.run.commit;
  results.date = Today();
  results.environment = board.environment;
  bool fine = true;
  for (std::size_t i = 0; i < job.networks.size(); ++i) {
    results.rows.push_back(board.entries[i].row);
    fine = fine && results.rows.back().Good();
  }
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) results.libraries.push_back(library.Get());
  }
  Print(absl::StrCat("\n", NetworkMethod(), "\n\n", NetworkTableHeader()));
  for (const NetworkRow& row : results.rows) Print(NetworkTableLine(row));
  const Environment& e = board.environment;
  std::printf("%s, driver %s, CUDA %s; clock %.0f to %.0f MHz, %.0f W, throttle 0x%llx\n",
              e.device.chars, e.driver.chars, e.cuda.chars, e.first_clock_mhz, e.last_clock_mhz,
              e.watts, e.throttle_reasons);
  for (const std::string& library : results.libraries) std::printf("%s\n", library.c_str());
  if (!job.run.json.empty()) {
    const std::string path = absl::StrCat(job.run.json, "/", job.run.network, "-network.json");
    std::ofstream file(path);
    file << NetworkJson(results);
    if (!file.flush()) {
      std::fprintf(stderr, "weft_perf: cannot write %s\n", path.c_str());
      fine = false;
    }
  }
  return fine ? 0 : 1;
}

}  // namespace

int RunNetwork(const NetworkRun& run) {
  return RunNetwork(run, &NetworkBench::Create);
}

int RunNetwork(const NetworkRun& run, const MakeNetworkBench& make_bench) {
  Job job{run, make_bench};
  for (const std::string& text : run.batches) {
    int batch = 0;
    if (!absl::SimpleAtoi(text, &batch) || batch < 1) {
      std::fprintf(stderr, "weft_perf: --batch=%s is not a positive number; give such as 1,16,64\n",
                   text.c_str());
      return 2;
    }
    absl::StatusOr<Network> network = NetworkByName(run.network, batch);
    if (!network.ok()) {
      std::fprintf(stderr, "weft_perf: --network: %s\n",
                   std::string(network.status().message()).c_str());
      return 2;
    }
    job.networks.push_back(*std::move(network));
  }
  if (job.networks.empty() || job.networks.size() > kMostBatches) {
    std::fprintf(stderr, "weft_perf: --batch gives %d batches; 1 to %d are possible\n",
                 static_cast<int>(job.networks.size()), kMostBatches);
    return 2;
  }
  // CUDA must not be touched before fork().
  const std::shared_ptr<Board> board = MakeShared<Board>();
  if (board == nullptr) {
    std::fprintf(stderr, "weft_perf: no shared memory\n");
    return 3;
  }
  for (std::size_t i = 0; i < job.networks.size(); ++i) {
    board->entries[i].row = FreshRow(job.networks[i]);
  }
  if (!MeasureAll(job, board.get())) {
    std::fprintf(stderr, "weft_perf: %s\n", board->failure.chars);
    return 3;
  }
  return Report(job, *board);
}

}  // namespace weft::perf
