// gemm_bench: every tile of families of matrix products against the fastest algorithm that
// cuBLASLt's heuristic offers. perf/README.md says how to run and read it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/compare.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/gemm_bench/peer.hpp"
#include "perf/gemm_bench/policies.hpp"
#include "perf/gemm_bench/products.hpp"
#include "perf/gemm_bench/sizes.hpp"
#include "perf/gemm_bench/tiles.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/json.hpp"
#include "weft/gemm/dispatch.hpp"

ABSL_FLAG(std::vector<std::string>, sizes, {"4096"},
          "products: m, n and k in one number, or <m>x<n>x<k>, or <m>x<n>x<k>x<batch>; such as "
          "4096,8192,10240x4096x4096,128x128x64x960");
ABSL_FLAG(std::vector<std::string>, only, {},
          "measure the tiles whose type, name and layout of A (s8 wgmma_sm90_128x256x128... "
          "row-major A) contain one of these parts, which commas separate");
ABSL_FLAG(std::vector<std::string>, skip, {},
          "leave out lines of gemms.def whose name contains one of these parts, such as HalfSum");
ABSL_FLAG(
    double, near, 0,
    "measure only tiles that the model expects within this factor of the best of the product; "
    "0: all");
ABSL_FLAG(double, stop_after_s, 1e9, "start no further product after so many seconds");
ABSL_FLAG(bool, resume, false,
          "keep what the file --json has of this commit and GPU, and measure the rest");
ABSL_FLAG(std::string, sweep, "",
          "tuning table of gemm::Dispatch that the best tiles are added to, such as "
          "weft_tuning.txt");
ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");
ABSL_FLAG(bool, sm80, true,
          "also time the fastest of cuBLASLt's kernels for sm_80, of all their tiles and stages");
ABSL_FLAG(int, rounds, 15, "samples of each contestant, at most");

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

namespace weft::perf {
namespace {

bool HasPart(const std::string& name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return absl::StrContains(name, part); });
}
bool IsWanted(const std::string& tile) {
  const std::vector<std::string> only = absl::GetFlag(FLAGS_only);
  return only.empty() || HasPart(tile, only);
}

// Buffers of A, B and C, so many sets that a round over them reaches past the L2.
constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
constexpr double kSampleMicroseconds = 4000;
constexpr double kBudgetMicroseconds = 15e6;  // of the samples of one product
constexpr char kMethod[] =
    "random data; buffers rotated past the L2; CUDA graphs; medians of interleaved samples of "
    "every tile and the peers; the peer is the fastest algorithm of cuBLASLt's heuristic, with "
    "TF32 for tf32 only, with fast sums for 8-bit floats (full: without); sm80: the fastest of all "
    "tiles and stages of its algorithms whose kernel's name says sm_80; floor_us is from bytes "
    "alone; where cuBLASLt has no such product it multiplies the same numbers: of "
    "f16_x_s4_over_f16 and its like two matrices of f16, of u8 (below 128) s8, of e5m2 e4m3, of "
    "8-bit "
    "floats in other orders a row-major A and a column-major B";

class Bench {
 public:
  absl::Status Init() {
    WEFT_TRY(machine_.Init(Json::object(), true));
    gpu_ = gemm::GpuFactsOf(machine_.limits(), arch::DeviceName());
    const std::string path = absl::GetFlag(FLAGS_sweep);
    if (path.empty()) return absl::OkStatus();
    absl::StatusOr<gemm::TuningTable> table = gemm::TuningTable::Read(path);
    if (absl::IsNotFound(table.status())) table = gemm::TuningTable();
    WEFT_TRY(table.status());
    table_ = *std::move(table);
    return absl::OkStatus();
  }
  // A line of gemms.def at a size, to be measured.
  template <class... Policies>
  void Plan(gemm::Family<Policies...>, const std::string& family,
            const gemm::GemmProblem& problem) {
    const std::vector<Tile> tiles = TilesOf<Policies...>(problem, IsWanted);
    if (tiles.empty()) return;
    Json row = tiles[0].row;
    row["kernel"] = "none";
    products_.Plan(family, std::move(row));
  }
  // What --json has of an earlier run.
  absl::Status Resume() {
    const absl::StatusOr<std::string> text = ReadFile(absl::GetFlag(FLAGS_json));
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    WEFT_TRY(text.status());
    return products_.Resume(*text, Environment());
  }

  // Whether all is measured and well.
  bool fine() const {
    const std::vector<Json> rows = products_.Rows();
    return std::all_of(rows.begin(), rows.end(), [](const Json& r) { return r["status"] == "ok"; });
  }
  int open() const { return products_.open(); }
  absl::Status WriteRows() const {
    const std::string path = absl::GetFlag(FLAGS_json);
    if (path.empty()) return absl::OkStatus();
    const std::vector<Json> rows = products_.Rows();
    std::vector<double> over_best;  // what the model's choice costs
    for (const Json& row : rows) {
      if (row.contains("model_over_best")) over_best.push_back(row["model_over_best"]);
    }
    Json summary = Json::object();
    if (!over_best.empty()) {
      summary = {
          {"model_over_best", Rounded(GeometricMean(over_best))},
          {"model_over_best_most", Rounded(*std::max_element(over_best.begin(), over_best.end()))}};
    }
    return WriteFile(path, ResultText(Environment(), summary, rows));
  }
  absl::Status WriteTable() const {
    const std::string path = absl::GetFlag(FLAGS_sweep);
    return path.empty() ? absl::OkStatus() : table_.Write(path, "Written by gemm_bench --sweep.");
  }

  // Measures what was planned, unless an earlier run did or there is no time.
  template <class... Policies>
  void Run(gemm::Family<Policies...>, const std::string& family, const gemm::GemmProblem& problem) {
    using P = std::tuple_element_t<0, std::tuple<Policies...>>;
    const std::string layer = LayerName<P>(problem);
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    if (!products_.IsOpen(family, layer) || since.count() > absl::GetFlag(FLAGS_stop_after_s)) {
      return;
    }
    std::vector<Tile> tiles = TilesOf<Policies...>(problem, IsWanted);
    const absl::Status status =
        Measure<gemm::Dispatch<gemm::Family<Policies...>>, P>(problem, &tiles);
    std::vector<Json> rows;
    for (Tile& tile : tiles) {
      Json& row = tile.row;
      if (!tile.fits) continue;
      row["family"] = family;
      const absl::Status& s = tile.status.ok() ? status : tile.status;
      row["status"] = !s.ok()                  ? absl::StrCat("failed: ", s.ToString())
                      : row["mismatches"] != 0 ? "mismatch"
                                               : "ok";
      PrintTile<P>(problem, row);
      rows.push_back(row);
    }
    products_.Put(family, layer, std::move(rows));
    if (absl::Status s = WriteRows(); !s.ok()) {
      std::fprintf(stderr, "gemm_bench: %s\n", std::string(s.message()).c_str());
    }
  }

 private:
  const Stopwatch& watch() const { return machine_.watch(); }

  template <class Op, class P>
  absl::Status Measure(const gemm::GemmProblem& problem, std::vector<Tile>* tiles) {
    using Element = typename P::Element;
    using Sum = typename P::Epilogue::Output;
    const absl::StatusOr<Op> model = Op::Create(problem, gpu_);
    if (!model.ok()) {  // no tile of the family takes it
      for (Tile& tile : *tiles) tile.fits = false;
      return absl::OkStatus();
    }
    LeaveOut(*model, absl::GetFlag(FLAGS_near), tiles);
    const std::int64_t m = problem.m, n = problem.n, k = problem.k, batch = problem.batch;
    const auto bytes = static_cast<std::int64_t>(batch * (m * k * gemm::kOperandBits<P, true> / 8 +
                                                          k * n * gemm::kOperandBits<P, false> / 8 +
                                                          m * n * std::int64_t{sizeof(Sum)}));
    std::vector<Set> sets(std::max<std::int64_t>(2, (kRotationBytes + bytes - 1) / bytes));
    using LoadA = gemm::LoadOf<P, true>;
    using LoadB = gemm::LoadOf<P, false>;
    constexpr bool kKMajorA = gemm::kKMajorA<P>, kKMajorB = gemm::kKMajorB<P>;
    using MatrixA = RandomMatrix<Element, LoadA, kKMajorA>;
    using MatrixB = RandomMatrix<gemm::ElementOfB<Element>, LoadB, kKMajorB>;
    // Of all the batch; what is turned has no other product in it.
    const MatrixA a(batch * (kKMajorA ? m : k), kKMajorA ? k : m, 1);
    const MatrixB b(batch * (kKMajorB ? n : k), kKMajorB ? k : n, 2);
    if (batch > 1 && (MatrixA::kTransposed || MatrixB::kTransposed)) {
      return absl::UnimplementedError("no batches of 8-bit floats in other orders");
    }
    for (Set& set : sets) {
      WEFT_LET(set.a, DeviceBuffer::From(a.values));
      WEFT_LET(set.b, DeviceBuffer::From(b.values));
      if constexpr (MatrixA::kOwnMemory) {
        WEFT_LET(set.a_memory, DeviceBuffer::From(a.memory));
      }
      if constexpr (MatrixB::kOwnMemory) {
        WEFT_LET(set.b_memory, DeviceBuffer::From(b.memory));
      }
      WEFT_LET(set.c, DeviceBuffer::Create(batch * m * n * sizeof(Sum)));
    }
    const int count_sets = static_cast<int>(sets.size());
    WEFT_LET(const Algorithms found,
             SearchAlgorithms<P>(watch(), problem, sets, absl::GetFlag(FLAGS_sm80)));
    for (const Set& set : sets) WEFT_TRY(set.c.Fill(0x7f));
    const Algorithm& exact = found.full.index >= 0 ? found.full : found.best;
    WEFT_TRY(exact.Run(sets[0], watch().stream()));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(watch().stream()), "cudaStreamSynchronize"));
    WEFT_LET(const std::vector<Sum> want, sets[0].c.template Read<Sum>());

    std::vector<Contestant*> contestants;
    for (Tile& tile : *tiles) {
      if (!tile.fits) continue;
      const auto op = Op::CreateAt(problem, tile.index);
      tile.fits = op.ok();
      if (!op.ok()) continue;
      tile.contestant.enqueue = [op = *op, this, &sets](int set) {
        const Set& s = sets[set];
        const DeviceBuffer& own_a = MatrixA::kOwnMemory ? s.a_memory : s.a;
        const DeviceBuffer& own_b = MatrixB::kOwnMemory ? s.b_memory : s.b;
        return op.Run({.a = own_a.template as<typename MatrixA::Memory>(),
                       .b = own_b.template as<typename MatrixB::Memory>(),
                       .c = s.c.template as<Sum>()},
                      watch().stream());
      };
      // With nothing of another's left in the buffer.
      const auto prepare = [&]() -> absl::Status {
        WEFT_TRY(sets[0].c.Fill(0x7f));
        WEFT_TRY(watch().Prepare(tile.contestant, count_sets, kSampleMicroseconds));
        WEFT_LET(const std::vector<Sum> result, sets[0].c.template Read<Sum>());
        CompareSums<P>(result, want, k, &tile.row);
        return absl::OkStatus();
      };
      tile.status = prepare();
      if (tile.status.ok()) contestants.push_back(&tile.contestant);
    }
    if (contestants.empty()) return absl::OkStatus();
    struct Peer {
      const char *name, *ratio;
      const Algorithm& algorithm;
      Contestant contestant = {};
    };
    Peer peers[] = {{"peer", "ratio", found.best},
                    {"sm80", "sm80_ratio", found.sm80},
                    {"full", "full_ratio", found.full}};
    for (Peer& peer : peers) {
      if (peer.algorithm.index < 0) continue;
      peer.contestant.enqueue = [&](int set) {
        return peer.algorithm.Run(sets[set], watch().stream());
      };
      contestants.push_back(&peer.contestant);
      WEFT_TRY(watch().Prepare(peer.contestant, count_sets, kSampleMicroseconds));
    }
    WEFT_TRY(watch().Interleave(contestants, absl::GetFlag(FLAGS_rounds), kBudgetMicroseconds));

    Tile* best = nullptr;
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      Json& row = tile.row;
      row["floor_us"] = Rounded(bytes / machine_.ceilings(false).bytes_per_us);
      const Summary time = Summarize(tile.contestant.samples);
      row["ours_us"] = Rounded(time.median);
      row["ours_p10"] = Rounded(time.p10);
      row["ours_p90"] = Rounded(time.p90);
      for (const Peer& peer : peers) {
        const Algorithm& algorithm = peer.algorithm;
        if (algorithm.index < 0) continue;
        const double us = Quantile(peer.contestant.samples, 0.5);
        row[peer.name] = algorithm.product->Name(algorithm.index);
        row[absl::StrCat(peer.name, "_kernels")] = algorithm.Kernels(sets);
        row[absl::StrCat(peer.name, "_us")] = Rounded(us);
        row[peer.ratio] = Rounded(us / time.median);
      }
      if (row["mismatches"] != 0) continue;
      if (best == nullptr || row["ours_us"] < best->row["ours_us"]) best = &tile;
    }
    return best == nullptr ? absl::OkStatus() : Choose(*model, problem, best, tiles);
  }

  // Marks the best tile and the model's, and puts the best into the tuning table.
  template <class Op>
  absl::Status Choose(const Op& model, const gemm::GemmProblem& problem, Tile* best,
                      std::vector<Tile>* tiles) {
    const double least = best->row["ours_us"];
    for (Tile& tile : *tiles) {
      if (!tile.fits || !tile.status.ok()) continue;
      tile.row["best"] = &tile == best;
      tile.row["model"] = tile.index == model.index();
      tile.row["predicted_us"] = Rounded(model.candidates()[tile.index].prediction.microseconds);
      if (tile.index != model.index()) continue;
      best->row["model_over_best"] = Rounded(tile.row["ours_us"].get<double>() / least);
    }
    return table_.Put(
        {gpu_.name, gpu_.limits.sm_count, Op::FamilyName(), problem, best->row["kernel"], least});
  }

  Json Environment() const {
    Json environment = machine_.environment();
    environment["program"] = "gemm_bench";
    environment["commit"] = absl::GetFlag(FLAGS_commit);
    environment["date"] = Today();
    const double near = absl::GetFlag(FLAGS_near);
    environment["tiles"] =
        near == 0 ? "all"
                  : absl::StrCat("those that the model expects within ", near, " of its choice");
    environment["method"] = kMethod;
    return environment;
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Machine machine_;
  gemm::GpuFacts gpu_;
  gemm::TuningTable table_;
  Products products_;
};

// Calls each(family, its name) for the lines of gemms.def.
template <class Each>
void ForEachFamily(const Each& each) {
#define BASIC(Name) \
  if (!HasPart(#Name, absl::GetFlag(FLAGS_skip))) each(Name(), #Name);
#if WEFT_PERF_ALL_TILES
#define GEMMS BASIC
#else
#define GEMMS(Name)
#endif
#include "perf/gemms.def"
#undef BASIC
#undef GEMMS
}

int Main() {
  Bench bench;
  if (absl::Status s = bench.Init(); !s.ok()) {
    std::fprintf(stderr, "gemm_bench: %s\n", s.ToString().c_str());
    return 3;
  }
  std::vector<gemm::GemmProblem> problems;
  for (const std::string& size : absl::GetFlag(FLAGS_sizes)) {
    const absl::StatusOr<gemm::GemmProblem> problem = ParseSize(size);
    if (!problem.ok()) {
      std::fprintf(stderr, "gemm_bench: %s\n", std::string(problem.status().message()).c_str());
      return 2;
    }
    problems.push_back(*problem);
  }
  for (const gemm::GemmProblem& problem : problems) {
    ForEachFamily([&](auto family, const char* name) { bench.Plan(family, name, problem); });
  }
  if (absl::GetFlag(FLAGS_resume)) {
    if (absl::Status s = bench.Resume(); !s.ok()) {
      std::printf("measuring all: %s\n", std::string(s.message()).c_str());
    }
  }
  std::printf("%d products to measure\n", bench.open());
  for (const gemm::GemmProblem& problem : problems) {
    ForEachFamily([&](auto family, const char* name) { bench.Run(family, name, problem); });
  }
  bool fine = bench.fine();
  if (bench.open() > 0) std::printf("not run, no time was left: %d products\n", bench.open());
  for (const absl::Status& s : {bench.WriteTable(), bench.WriteRows()}) {
    if (s.ok()) continue;
    std::fprintf(stderr, "gemm_bench: %s\n", std::string(s.message()).c_str());
    fine = false;
  }
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("matrix products against cuBLASLt (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
  return weft::perf::Main();
#else
  std::fprintf(stderr, "gemm_bench: built without CUDA or cuBLASLt's header\n");
  return 3;
#endif
}
